// YAML and JSON documents as one kind of tree, every node with its place in the text. Scalars stay
// text; typed access checks the spelling (no units, no yes/no, no octal) and reports what is wrong.
// Refused: duplicate keys, anchors, aliases, tags, several documents, deep or large input.
#ifndef INGOT_TEXT_DOC_H
#define INGOT_TEXT_DOC_H

#include "base/diag.h"

typedef enum DocKind { DOC_SCALAR, DOC_LIST, DOC_MAP } DocKind;
typedef enum DocFormat { DOC_YAML, DOC_JSON } DocFormat;

typedef struct DocNode {
    DocKind kind;
    DiagSpan span;   // of the value
    const char *key; // of an entry of a map, else NULL
    DiagSpan key_span;
    const char *text; // scalar: NUL-terminated, escapes resolved; else ""
    size_t text_len;
    bool is_quoted;               // scalar: a string whatever it looks like
    struct DocNode *first, *next; // children in order; sibling
    size_t num_children;
} DocNode;

enum { DOC_MAX_BYTES = 1 << 20, DOC_MAX_DEPTH = 32 };

// Nodes live in the sink's arena, and so does the copy of the text that spans quote: a document and
// everything taken from it is valid as long as the sink. Errors: codes R0001 to R0007,
// STATUS_INVALID.
Status doc_parse(const char *text, size_t len, const char *file, DocFormat format, DiagSink *sink,
                 const DocNode **out_root) MUST_USE;
// Reads a file; named *.json it must be strict JSON. Unreadable: U0002, STATUS_IO.
Status doc_load(const char *path, DiagSink *sink, const DocNode **out_root) MUST_USE;

// Entry of a map, NULL if there is none (or node is no map).
const DocNode *doc_find(const DocNode *node, const char *key);
bool doc_is_null(const DocNode *node); // a plain null, ~ or nothing

// Typed access. what names the value in the message ("precision.activations").
Status doc_get_int(const DocNode *node, const char *what, int64_t min, int64_t max, DiagSink *sink,
                   int64_t *out) MUST_USE;
Status doc_get_float(const DocNode *node, const char *what, DiagSink *sink, double *out) MUST_USE;
Status doc_get_bool(const DocNode *node, const char *what, DiagSink *sink, bool *out) MUST_USE;
// A string that is not empty and holds no NUL.
Status doc_get_string(const DocNode *node, const char *what, DiagSink *sink,
                      const char **out) MUST_USE;
Status doc_want_kind(const DocNode *node, const char *what, DocKind kind, DiagSink *sink) MUST_USE;

#define FOR_EACH_DOC(child, node)                                                                  \
    for (const DocNode *child = (node)->first; child; child = child->next)

#endif
