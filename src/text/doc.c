// Builds document trees from libyaml's events; see doc.h. JSON is checked by jansson first, then
// read by the same path (JSON is YAML as far as structure goes), which is what gives it positions.
#include "text/doc.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"

typedef struct Builder {
    yaml_parser_t parser;
    yaml_event_t event;
    DiagSink *sink;
    const char *file, *source;
} Builder;

static uint32_t place(size_t zero_based) {
    return zero_based < UINT32_MAX ? (uint32_t)zero_based + 1 : UINT32_MAX;
}

static DiagSpan span_of(const Builder *b, yaml_mark_t start, yaml_mark_t end) {
    bool one_line = end.line == start.line && end.column > start.column;
    return (DiagSpan){.file = b->file,
                      .line = place(start.line),
                      .col = place(start.column),
                      .end_col = one_line ? place(end.column) : 0,
                      .byte_offset = start.index,
                      .source = b->source};
}

static DiagSpan event_span(const Builder *b) {
    return span_of(b, b->event.start_mark, b->event.end_mark);
}

// Bytes that are no text are refused with their offset alone.
static yaml_mark_t mark_at(const Builder *b, size_t offset) {
    yaml_mark_t mark = {.index = offset};
    for (size_t i = 0; i < offset; i++) {
        unsigned char c = (unsigned char)b->source[i];
        if (c == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (c < 0x80 || c >= 0xC0) { // the first byte of a character
            mark.column++;
        }
    }
    return mark;
}

static Status next_event(Builder *b) {
    yaml_event_delete(&b->event);
    if (yaml_parser_parse(&b->parser, &b->event)) return STATUS_OK;
    memset(&b->event, 0, sizeof b->event);
    yaml_mark_t mark = b->parser.problem_mark;
    if (b->parser.error == YAML_READER_ERROR) mark = mark_at(b, b->parser.problem_offset);
    const char *problem = b->parser.problem ? b->parser.problem : "not readable";
    if (b->parser.context)
        return diag_error(b->sink, DIAG_R0001, span_of(b, mark, mark), "%s, %s", b->parser.context,
                          problem);
    return diag_error(b->sink, DIAG_R0001, span_of(b, mark, mark), "%s", problem);
}

static Status refuse_anchor(const Builder *b, const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (anchor)
        return diag_error(b->sink, DIAG_R0003, event_span(b), "an anchor (&%s) is not allowed",
                          anchor);
    if (tag)
        return diag_error(b->sink, DIAG_R0003, event_span(b), "a tag (%s) is not allowed", tag);
    return STATUS_OK;
}

static Status build_node(Builder *b, unsigned depth, DocNode **out);

static Status build_scalar(Builder *b, DocNode *node) {
    TRY(refuse_anchor(b, b->event.data.scalar.anchor, b->event.data.scalar.tag));
    node->kind = DOC_SCALAR;
    node->text_len = b->event.data.scalar.length;
    node->text =
        arena_strndup(&b->sink->arena, (const char *)b->event.data.scalar.value, node->text_len);
    node->is_quoted = b->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return STATUS_OK;
}

static Status build_list(Builder *b, unsigned depth, DocNode *node) {
    TRY(refuse_anchor(b, b->event.data.sequence_start.anchor, b->event.data.sequence_start.tag));
    node->kind = DOC_LIST;
    DocNode **tail = &node->first;
    for (;;) {
        TRY(next_event(b));
        if (b->event.type == YAML_SEQUENCE_END_EVENT) return STATUS_OK;
        TRY(build_node(b, depth + 1, tail));
        tail = &(*tail)->next;
        node->num_children++;
    }
}

static Status build_key(Builder *b, const DocNode *map, const char **out_key, DiagSpan *out_span) {
    if (b->event.type != YAML_SCALAR_EVENT)
        return diag_error(b->sink, DIAG_R0004, event_span(b), "a key must be a word");
    TRY(refuse_anchor(b, b->event.data.scalar.anchor, b->event.data.scalar.tag));
    const char *text = (const char *)b->event.data.scalar.value;
    size_t len = b->event.data.scalar.length;
    if (len == 0 || memchr(text, 0, len))
        return diag_error(b->sink, DIAG_R0004, event_span(b),
                          "a key must not be empty or hold a NUL");
    FOR_EACH_DOC(child, map) {
        if (!str_equal(child->key, text)) continue;
        Status status =
            diag_error(b->sink, DIAG_R0002, event_span(b), "key %s is given twice", text);
        diag_evidence(b->sink, "the first one is in line %u", child->key_span.line);
        return status;
    }
    *out_key = arena_strndup(&b->sink->arena, text, len);
    *out_span = event_span(b);
    return STATUS_OK;
}

enum { MAX_MAP_ENTRIES = 4096 }; // duplicate keys are looked for one by one

static Status build_map(Builder *b, unsigned depth, DocNode *node) {
    TRY(refuse_anchor(b, b->event.data.mapping_start.anchor, b->event.data.mapping_start.tag));
    node->kind = DOC_MAP;
    DocNode **tail = &node->first;
    for (;;) {
        TRY(next_event(b));
        if (b->event.type == YAML_MAPPING_END_EVENT) return STATUS_OK;
        if (node->num_children == MAX_MAP_ENTRIES)
            return diag_error(b->sink, DIAG_R0007, event_span(b),
                              "more than %d keys in one mapping", MAX_MAP_ENTRIES);
        const char *key = NULL;
        DiagSpan key_span = {0};
        TRY(build_key(b, node, &key, &key_span));
        TRY(next_event(b));
        DocNode *child = NULL;
        TRY(build_node(b, depth + 1, &child));
        child->key = key;
        child->key_span = key_span;
        *tail = child;
        tail = &child->next;
        node->num_children++;
    }
}

// Builds the node the current event begins. *out is written only with a whole node.
static Status build_node(Builder *b, unsigned depth, DocNode **out) {
    if (depth >= DOC_MAX_DEPTH)
        return diag_error(b->sink, DIAG_R0007, event_span(b), "nested deeper than %d",
                          DOC_MAX_DEPTH);
    DocNode *node = ARENA_NEW(&b->sink->arena, DocNode);
    node->span = event_span(b);
    node->text = "";
    switch (b->event.type) {
    case YAML_SCALAR_EVENT: TRY(build_scalar(b, node)); break;
    case YAML_SEQUENCE_START_EVENT: TRY(build_list(b, depth, node)); break;
    case YAML_MAPPING_START_EVENT: TRY(build_map(b, depth, node)); break;
    case YAML_ALIAS_EVENT:
        return diag_error(b->sink, DIAG_R0003, event_span(b), "an alias (*%s) is not allowed",
                          b->event.data.alias.anchor);
    default: return diag_error(b->sink, DIAG_R0001, event_span(b), "a value is missing here");
    }
    *out = node;
    return STATUS_OK;
}

static Status build_document(Builder *b, DocNode **out_root) {
    TRY(next_event(b)); // stream start
    TRY(next_event(b));
    if (b->event.type == YAML_STREAM_END_EVENT)
        return diag_error(b->sink, DIAG_R0001, event_span(b), "the document is empty");
    if (b->event.data.document_start.tag_directives.start !=
        b->event.data.document_start.tag_directives.end)
        return diag_error(b->sink, DIAG_R0003, event_span(b), "a tag directive is not allowed");
    TRY(next_event(b));
    TRY(build_node(b, 0, out_root));
    TRY(next_event(b)); // document end
    TRY(next_event(b));
    if (b->event.type != YAML_STREAM_END_EVENT)
        return diag_error(b->sink, DIAG_R0003, event_span(b), "a second document begins here");
    return STATUS_OK;
}

static Status check_json(const char *text, size_t len, const char *file, DiagSink *sink) {
    json_error_t error;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root) {
        json_decref(root);
        return STATUS_OK;
    }
    DiagSpan span = {.file = file,
                     .line = error.line > 0 ? (uint32_t)error.line : 0,
                     .col = error.column > 0 ? (uint32_t)error.column : 0,
                     .source = text};
    DiagCode code = json_error_code(&error) == json_error_duplicate_key ? DIAG_R0002 : DIAG_R0001;
    return diag_error(sink, code, span, "not valid JSON: %s", error.text);
}

Status doc_parse(const char *text, size_t len, const char *file, DocFormat format, DiagSink *sink,
                 const DocNode **out_root) {
    const char *name = arena_strdup(&sink->arena, file);
    if (len > DOC_MAX_BYTES)
        return diag_error(sink, DIAG_R0007, (DiagSpan){.file = name}, "larger than %d bytes",
                          DOC_MAX_BYTES);
    const char *source = arena_strndup(&sink->arena, text, len);
    if (format == DOC_JSON) TRY(check_json(source, len, name, sink));
    Builder b = {.sink = sink, .file = name, .source = source};
    if (!yaml_parser_initialize(&b.parser)) BUG("libyaml could not start");
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)source, len);
    DocNode *root = NULL;
    Status status = build_document(&b, &root);
    yaml_event_delete(&b.event);
    yaml_parser_delete(&b.parser);
    if (status == STATUS_OK) *out_root = root;
    return status;
}

Status doc_load(const char *path, DiagSink *sink, const DocNode **out_root) {
    char *text = NULL;
    uint64_t len = 0;
    TRY(file_read(path, DOC_MAX_BYTES, sink, &text, &len));
    DocFormat format = str_has_suffix(path, ".json") ? DOC_JSON : DOC_YAML;
    Status status = doc_parse(text, len, path, format, sink, out_root);
    free(text);
    return status;
}

// ---------------------------------------------------------------- access

const DocNode *doc_find(const DocNode *node, const char *key) {
    if (node->kind != DOC_MAP) return NULL;
    FOR_EACH_DOC(child, node)
    if (str_equal(child->key, key)) return child;
    return NULL;
}

bool doc_is_null(const DocNode *node) {
    return node->kind == DOC_SCALAR && !node->is_quoted &&
           (node->text_len == 0 || str_equal(node->text, "null") || str_equal(node->text, "~"));
}

static const char *kind_name(DocKind kind) {
    return kind == DOC_SCALAR ? "a single value" : kind == DOC_LIST ? "a list" : "a mapping";
}

Status doc_want_kind(const DocNode *node, const char *what, DocKind kind, DiagSink *sink) {
    if (node->kind == kind) return STATUS_OK;
    return diag_error(sink, DIAG_R0004, node->span, "%s must be %s, not %s", what, kind_name(kind),
                      kind_name(node->kind));
}

static size_t skip_digits(const char *text, size_t i) {
    while (text[i] >= '0' && text[i] <= '9') i++;
    return i;
}

static Status wrong_scalar(const DocNode *node, const char *what, const char *want,
                           DiagSink *sink) {
    if (doc_is_null(node))
        return diag_error(sink, DIAG_R0004, node->span, "%s has no value, %s is wanted", what,
                          want);
    Status status =
        diag_error(sink, DIAG_R0004, node->span, "%s must be %s, not %s%.40s%s", what, want,
                   node->is_quoted ? "the string \"" : "", node->text, node->is_quoted ? "\"" : "");
    size_t digits = skip_digits(node->text, 0);
    if (node->is_quoted && digits && digits == node->text_len && digits < 20) {
        diag_write(sink, "%s", node->text);
        diag_fix(sink, "%s", node->text);
    }
    return status;
}

// A number followed by letters, or with separators: the user meant a unit. Says so.
static Status refuse_unit(const DocNode *node, const char *what, DiagSink *sink) {
    size_t digits = skip_digits(node->text, node->text[0] == '-' || node->text[0] == '+');
    char unit = digits ? node->text[digits] : 0;
    int shown = (int)MIN(digits, (size_t)20);
    Status status = diag_error(sink, DIAG_R0006, node->span, "%s must be a plain number, not %.40s",
                               what, node->text);
    if ((unit == 'k' || unit == 'K') && node->text[digits + 1] == 0)
        diag_write(sink, "%.*s000 or %.*s * 1024, whichever is meant", shown, node->text, shown,
                   node->text);
    return status;
}

static bool looks_like_number(const DocNode *node) {
    const char *t = node->text;
    size_t start = t[0] == '-' || t[0] == '+';
    return !node->is_quoted && t[start] >= '0' && t[start] <= '9';
}

// Where a number ends that may have a fraction and an exponent.
static size_t skip_number(const char *t) {
    size_t i = skip_digits(t, t[0] == '-' || t[0] == '+');
    if (t[i] == '.') i = skip_digits(t, i + 1);
    if (t[i] == 'e' || t[i] == 'E') {
        size_t exponent = i + 1 + (t[i + 1] == '-' || t[i + 1] == '+');
        if (skip_digits(t, exponent) > exponent) i = skip_digits(t, exponent);
    }
    return i;
}

static Status out_of_range(const DocNode *node, const char *what, int64_t min, int64_t max,
                           DiagSink *sink) {
    if (min == max)
        return diag_error(sink, DIAG_R0005, node->span, "%s must be %" PRId64 ", not %.40s", what,
                          min, node->text);
    return diag_error(sink, DIAG_R0005, node->span,
                      "%s must be from %" PRId64 " to %" PRId64 ", not %.40s", what, min, max,
                      node->text);
}

// 8.0 and 8e0 are the whole number 8, as in JSON Schema.
Status doc_get_int(const DocNode *node, const char *what, int64_t min, int64_t max, DiagSink *sink,
                   int64_t *out) {
    TRY(doc_want_kind(node, what, DOC_SCALAR, sink));
    if (!looks_like_number(node)) return wrong_scalar(node, what, "a whole number", sink);
    const char *t = node->text;
    size_t start = t[0] == '-' || t[0] == '+', end = skip_digits(t, start);
    bool is_float = end != node->text_len;
    if (skip_number(t) != node->text_len) return refuse_unit(node, what, sink);
    if (t[start] == '0' && end > start + 1)
        return diag_error(sink, DIAG_R0004, node->span, "%s: a number must not begin with 0", what);
    double real = is_float ? strtod(t, NULL) : 0;
    if (is_float && real != nearbyint(real))
        return wrong_scalar(node, what, "a whole number", sink);
    errno = 0;
    // Not every whole number from 2^53 on can be written as a float.
    bool is_huge = is_float && (real < -0x1p53 || real > 0x1p53);
    long long value = is_huge ? 0 : is_float ? (long long)real : strtoll(t, NULL, 10);
    if (is_huge || errno == ERANGE || value < min || value > max)
        return out_of_range(node, what, min, max, sink);
    *out = value;
    return STATUS_OK;
}

Status doc_get_float(const DocNode *node, const char *what, DiagSink *sink, double *out) {
    TRY(doc_want_kind(node, what, DOC_SCALAR, sink));
    if (!looks_like_number(node)) return wrong_scalar(node, what, "a number", sink);
    if (skip_number(node->text) != node->text_len) return refuse_unit(node, what, sink);
    *out = strtod(node->text, NULL);
    return STATUS_OK;
}

Status doc_get_bool(const DocNode *node, const char *what, DiagSink *sink, bool *out) {
    TRY(doc_want_kind(node, what, DOC_SCALAR, sink));
    if (!node->is_quoted && (str_equal(node->text, "true") || str_equal(node->text, "false"))) {
        *out = node->text[0] == 't';
        return STATUS_OK;
    }
    return wrong_scalar(node, what, "true or false", sink);
}

Status doc_get_string(const DocNode *node, const char *what, DiagSink *sink, const char **out) {
    TRY(doc_want_kind(node, what, DOC_SCALAR, sink));
    if (doc_is_null(node) || node->text_len == 0 || memchr(node->text, 0, node->text_len))
        return wrong_scalar(node, what, "a text that is not empty", sink);
    *out = node->text;
    return STATUS_OK;
}
