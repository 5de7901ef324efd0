// Collects and renders diagnostics; see diag.h.
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 10, MAX_QUOTED_COLUMNS = 160 };

static const DiagInfo catalogue[NUM_DIAG_CODES] = {
#define DIAG(code, title, cause, bad, good) {#code, title, cause, bad, good},
#include "base/diags/all.def"
#undef DIAG
};

const DiagInfo *diag_info(DiagCode code) {
    return &catalogue[code];
}

bool diag_find(const char *text, DiagCode *out_code) {
    for (int i = 0; i < NUM_DIAG_CODES; i++) {
        if (!str_equal(catalogue[i].code, text)) continue;
        *out_code = (DiagCode)i;
        return true;
    }
    return false;
}

void diag_sink_init(DiagSink *sink) {
    *sink = (DiagSink){0};
    arena_init(&sink->arena);
}

void diag_sink_deinit(DiagSink *sink) {
    free(sink->diags);
    arena_deinit(&sink->arena);
    *sink = (DiagSink){0};
}

static char *format(DiagSink *sink, const char *fmt, va_list args) {
    StrBuf buf = {0};
    strbuf_vprintf(&buf, fmt, args);
    char *copy = arena_strndup(&sink->arena, buf.data, buf.len);
    strbuf_deinit(&buf);
    return copy;
}

static Diag *report(DiagSink *sink, DiagSeverity severity, DiagCode code, DiagSpan span,
                    const char *fmt, va_list args) {
    ARRAY_RESERVE(sink->diags, sink->num_diags, sink->capacity);
    Diag *diag = &sink->diags[sink->num_diags++];
    *diag = (Diag){.code = code, .severity = severity, .span = span};
    if (span.file) diag->span.file = arena_strdup(&sink->arena, span.file);
    diag->message = format(sink, fmt, args);
    if (severity == DIAG_ERROR) sink->num_errors++;
    return diag;
}

Diag *diag_report(DiagSink *sink, DiagSeverity severity, DiagCode code, DiagSpan span,
                  const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    Diag *diag = report(sink, severity, code, span, fmt, args);
    va_end(args);
    return diag;
}

Status diag_error(DiagSink *sink, DiagCode code, DiagSpan span, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    report(sink, DIAG_ERROR, code, span, fmt, args);
    va_end(args);
    return STATUS_INVALID;
}

static Diag *last(DiagSink *sink) {
    BUG_IF(sink->num_diags == 0, "no diagnostic to attach to");
    return &sink->diags[sink->num_diags - 1];
}

#define DEFINE_ATTACH(name, field)                                                                 \
    void name(DiagSink *sink, const char *fmt, ...) {                                              \
        va_list args;                                                                              \
        va_start(args, fmt);                                                                       \
        last(sink)->field = format(sink, fmt, args);                                               \
        va_end(args);                                                                              \
    }
DEFINE_ATTACH(diag_evidence, evidence)
DEFINE_ATTACH(diag_write, write)
DEFINE_ATTACH(diag_label, label)
DEFINE_ATTACH(diag_fix, fix)

static int compare_place(const void *a, const void *b) {
    const Diag *x = *(const Diag *const *)a, *y = *(const Diag *const *)b;
    int order = strcmp(x->span.file ? x->span.file : "", y->span.file ? y->span.file : "");
    if (order) return order;
    if (x->span.line != y->span.line) return x->span.line < y->span.line ? -1 : 1;
    if (x->span.col != y->span.col) return x->span.col < y->span.col ? -1 : 1;
    if (x->span.byte_offset != y->span.byte_offset)
        return x->span.byte_offset < y->span.byte_offset ? -1 : 1;
    return x < y ? -1 : x > y;
}

static const Diag **sorted(const DiagSink *sink) {
    const Diag **order = base_alloc(sink->num_diags, sizeof *order);
    for (size_t i = 0; i < sink->num_diags; i++) order[i] = &sink->diags[i];
    array_sort(order, sink->num_diags, sizeof *order, compare_place);
    return order;
}

static const char *severity_name(DiagSeverity severity) {
    return severity == DIAG_ERROR ? "error" : severity == DIAG_WARNING ? "warning" : "note";
}

static void quote_line(const Diag *diag, StrBuf *out) {
    const char *line = diag->span.source;
    for (uint32_t n = 1; n < diag->span.line && line; n++) {
        line = strchr(line, '\n');
        if (line) line++;
    }
    if (!line) return;
    size_t len = MIN(strcspn(line, "\r\n"), (size_t)MAX_QUOTED_COLUMNS);
    strbuf_printf(out, "%5u | %.*s\n      | ", diag->span.line, (int)len, line);
    uint32_t col = MAX(diag->span.col, 1u);
    if (col > len + 1) {
        strbuf_putc(out, '\n');
        return;
    }
    for (uint32_t i = 1; i < col; i++) strbuf_putc(out, line[i - 1] == '\t' ? '\t' : ' ');
    strbuf_putc(out, '^');
    for (uint32_t i = col + 1; i < diag->span.end_col && i <= len; i++) strbuf_putc(out, '~');
    if (diag->label) strbuf_printf(out, " %s", diag->label);
    strbuf_putc(out, '\n');
}

static void render_place(const Diag *diag, StrBuf *out) {
    if (diag->span.file)
        strbuf_printf(out, "%s:", diag->span.file);
    else
        strbuf_puts(out, "ingot:");
    if (diag->span.line)
        strbuf_printf(out, "%u:%u:", diag->span.line, MAX(diag->span.col, 1u));
    else if (diag->span.byte_offset)
        strbuf_printf(out, "byte %llu:", (unsigned long long)diag->span.byte_offset);
}

void diag_render(const DiagSink *sink, StrBuf *out) {
    const Diag **order = sorted(sink);
    size_t shown = 0, begin = out->len;
    for (size_t i = 0; i < sink->num_diags && shown < MAX_SHOWN; i++, shown++) {
        const Diag *diag = order[i];
        render_place(diag, out);
        strbuf_printf(out, " %s[%s]: %s\n", severity_name(diag->severity),
                      catalogue[diag->code].code, diag->message);
        if (diag->span.source && diag->span.line) quote_line(diag, out);
        if (diag->evidence) strbuf_printf(out, "  evidence: %s\n", diag->evidence);
        if (diag->write)
            strbuf_printf(out, "  write:    %s%s\n", diag->write,
                          diag->fix ? "  [safe to apply]" : "");
        if (diag->severity == DIAG_ERROR)
            strbuf_printf(out, "  more:     ingot explain %s\n", catalogue[diag->code].code);
    }
    if (sink->num_diags > shown)
        strbuf_printf(out, "ingot: %zu more not shown\n", sink->num_diags - shown);
    strbuf_escape_controls(out, begin);
    free(order);
}

static void json_field(StrBuf *out, const char *key, const char *value) {
    if (!value) return;
    strbuf_printf(out, ",\"%s\":", key);
    strbuf_put_json_string(out, value, strlen(value));
}

void diag_render_json(const DiagSink *sink, StrBuf *out) {
    const Diag **order = sorted(sink);
    for (size_t i = 0; i < sink->num_diags; i++) {
        const Diag *diag = order[i];
        strbuf_printf(out, "{\"code\":\"%s\",\"severity\":\"%s\"", catalogue[diag->code].code,
                      severity_name(diag->severity));
        json_field(out, "message", diag->message);
        json_field(out, "file", diag->span.file);
        if (diag->span.line)
            strbuf_printf(out, ",\"line\":%u,\"column\":%u", diag->span.line,
                          MAX(diag->span.col, 1u));
        if (diag->span.byte_offset)
            strbuf_printf(out, ",\"byte_offset\":%llu", (unsigned long long)diag->span.byte_offset);
        json_field(out, "evidence", diag->evidence);
        json_field(out, "write", diag->write);
        json_field(out, "fix", diag->fix);
        strbuf_puts(out, "}\n");
    }
    free(order);
}
