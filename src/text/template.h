// Chat templates: the part of Jinja that the templates in model files use, with the settings of
// Hugging Face transformers (trim_blocks, lstrip_blocks, loop controls, its tojson, values that
// cannot be changed). docs: jinja.palletsprojects.com/en/3.1.x/templates; the list of what exists
// is template.def. Everything else is refused when the template is parsed, with its place.
//
// Every byte of a string knows whether it came from the template or from the user's messages,
// through all operations; so does the output. Only template text may become control tokens.
#ifndef INGOT_TEXT_TEMPLATE_H
#define INGOT_TEXT_TEMPLATE_H

#include <time.h>

#include "base/diag.h"

enum {
    TEMPLATE_MAX_BYTES = 1 << 20, // of the template
    TEMPLATE_MAX_DEPTH = 200,     // nesting of the template; calls within calls: 5 times that
    TEMPLATE_MAX_STEPS = 5 * 1000 * 1000, // operations of one rendering
    TEMPLATE_MAX_OUTPUT_BYTES = 16 << 20,
    TEMPLATE_MAX_MEMORY_BYTES = 256 << 20, // of values made while rendering
};

typedef struct Template Template;

// Parses text. name stands for the file in messages. Errors: T0020 (syntax), T0021 (feature), T0022
// (limit), STATUS_INVALID.
Status template_parse(const char *text, size_t len, const char *name, DiagSink *sink,
                      Template **out_template) MUST_USE;
void template_destroy(Template *parsed); // NULL is fine

// ---------------------------------------------------------------- values

typedef enum TemplateKind {
    TEMPLATE_UNDEFINED,
    TEMPLATE_NONE,
    TEMPLATE_BOOL,
    TEMPLATE_INT,
    TEMPLATE_FLOAT,
    TEMPLATE_STRING,
    TEMPLATE_LIST,
    TEMPLATE_TUPLE,
    TEMPLATE_DICT,
    TEMPLATE_NAMESPACE, // made by the template, as all below
    TEMPLATE_LOOP,
    TEMPLATE_MACRO,
    TEMPLATE_METHOD,
    TEMPLATE_FUNCTION,
} TemplateKind;

typedef struct TemplateString TemplateString;
typedef struct TemplateList TemplateList; // of TEMPLATE_LIST and TEMPLATE_TUPLE
typedef struct TemplateDict TemplateDict; // of TEMPLATE_DICT and TEMPLATE_NAMESPACE

typedef struct TemplateValue {
    TemplateKind kind;
    union {
        bool b;
        int64_t i;
        double f;
        const TemplateString *str;
        TemplateList *list;
        TemplateDict *dict;
        const char *name; // of what is undefined, for messages; may be NULL
        struct TemplateLoop *loop;
        const struct TemplateMacro *macro;
        const struct TemplateMethod *method;
        int function; // number in template.def
    };
} TemplateValue;

// What is passed to a template lives in the caller's arena until rendering is over. The text is
// copied; is_user marks text that must not become control tokens.
TemplateValue template_string(Arena *arena, const char *text, size_t len, bool is_user);
TemplateValue template_list(Arena *arena);
void template_list_add(Arena *arena, TemplateValue list, TemplateValue item);
TemplateValue template_dict(Arena *arena);
void template_dict_set(Arena *arena, TemplateValue dict, TemplateValue key, TemplateValue value);

// ---------------------------------------------------------------- rendering

typedef struct TemplatePiece {
    size_t offset, len; // in text
    bool is_user;
} TemplatePiece;

// Pieces in order, covering text; neighbours differ in is_user. Zero-initialise.
typedef struct TemplateOutput {
    StrBuf text;
    TemplatePiece *pieces;
    size_t num_pieces, capacity;
} TemplateOutput;
void template_output_deinit(TemplateOutput *output);

// variables: a TEMPLATE_DICT of the names the template may use. now: what strftime_now tells, NULL
// if the template may not ask. Errors: T0022 (limit), T0023 (impossible operation), T0024 (the
// template's own raise_exception), STATUS_INVALID; output is then unchanged.
Status template_render(const Template *parsed, TemplateValue variables, const struct tm *now,
                       DiagSink *sink, TemplateOutput *output) MUST_USE;

#endif
