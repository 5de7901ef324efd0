// Diagnostics: what is said to the user. A Diag has a code of the catalogue (diags/*.def), a place,
// a message, and if known the evidence and what to write instead. A DiagSink collects them in
// order; it is rendered once, sorted by place, at most ten.
#ifndef INGOT_BASE_DIAG_H
#define INGOT_BASE_DIAG_H

#include "base/arena.h"
#include "base/str.h"

// One enumerator per line of the catalogue, DIAG_<code>. Codes are never re-used or renumbered.
typedef enum DiagCode {
#define DIAG(code, title, cause, bad, good) DIAG_##code,
#include "base/diags/all.def"
#undef DIAG
    NUM_DIAG_CODES
} DiagCode;

typedef struct DiagInfo {
    const char *code, *title, *cause;
    const char *bad,
        *good; // a failing and a mended example; bad is "" where none can be shown, good why
} DiagInfo;

const DiagInfo *diag_info(DiagCode code);
// Finds a code by its text ("R0003"); false if there is none.
bool diag_find(const char *text, DiagCode *out_code);

typedef enum DiagSeverity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagSeverity;

// A place in a text or binary file. line and col count from 1, 0 = unknown. For binary files line
// is 0 and byte_offset the place. end_col is one past the marked text, 0 = one character. source is
// the whole text of the file if it can be quoted, else NULL (borrowed until rendered).
typedef struct DiagSpan {
    const char *file;
    uint32_t line, col, end_col;
    uint64_t byte_offset;
    const char *source;
} DiagSpan;

typedef struct Diag {
    DiagCode code;
    DiagSeverity severity;
    DiagSpan span;
    const char *message;
    const char *label;    // text under the caret, NULL if none
    const char *evidence; // where the contrary knowledge comes from, NULL if none
    const char *write;    // what to write instead, NULL if none
    const char *fix;      // text safe to put in place of what span marks, NULL if none
} Diag;

typedef struct DiagSink {
    Arena arena;
    Diag *diags;
    size_t num_diags, capacity, num_errors;
} DiagSink;

void diag_sink_init(DiagSink *sink);
void diag_sink_deinit(DiagSink *sink);

// Adds a diagnostic and returns it, so that evidence and remedy can be attached with diag_set.
// The file name and message are copied; span.source is borrowed.
Diag *diag_report(DiagSink *sink, DiagSeverity severity, DiagCode code, DiagSpan span,
                  const char *fmt, ...) PRINTF_LIKE(5, 6);
// Same, severity error; returns STATUS_INVALID for use in `return diag_error(...)`.
Status diag_error(DiagSink *sink, DiagCode code, DiagSpan span, const char *fmt, ...)
    PRINTF_LIKE(4, 5) MUST_USE;
// Attaches text to the most recent diagnostic.
void diag_evidence(DiagSink *sink, const char *fmt, ...) PRINTF_LIKE(2, 3);
void diag_write(DiagSink *sink, const char *fmt, ...) PRINTF_LIKE(2, 3);
void diag_label(DiagSink *sink, const char *fmt, ...) PRINTF_LIKE(2, 3);
// What `ingot verify --fix` writes in place of the marked text: only where there is one right text
// and the recipe means the same with it.
void diag_fix(DiagSink *sink, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Appends the text form: `file:line:col: error[R0214]: text`, quoted line, evidence, remedy.
void diag_render(const DiagSink *sink, StrBuf *out);
// Appends one JSON object per diagnostic, one per line.
void diag_render_json(const DiagSink *sink, StrBuf *out);

#endif
