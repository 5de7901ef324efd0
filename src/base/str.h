// Growable text, and small string helpers.
#ifndef INGOT_BASE_STR_H
#define INGOT_BASE_STR_H

#include <stdarg.h>

#include "base/base.h"

// A growable byte string; always NUL-terminated once it has been written to. The bytes may
// contain NULs. Zero-initialise, then use; strbuf_deinit frees.
typedef struct StrBuf {
    char *data;
    size_t len, capacity;
} StrBuf;

void strbuf_deinit(StrBuf *buf);
void strbuf_clear(StrBuf *buf);
void strbuf_append(StrBuf *buf, const char *bytes, size_t len);
void strbuf_puts(StrBuf *buf, const char *str);
void strbuf_putc(StrBuf *buf, char c);
void strbuf_printf(StrBuf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vprintf(StrBuf *buf, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
// Appends a JSON string literal (quotes included) of the given bytes; invalid UTF-8 becomes U+FFFD.
void strbuf_put_json_string(StrBuf *buf, const char *bytes, size_t len);
// Makes control characters from `from` on harmless for a terminal: all but tab and new line become
// \u00XX, as in a JSON string.
void strbuf_escape_controls(StrBuf *buf, size_t from);
// Hands the text to the caller, who frees it with free(); the buffer is empty afterwards.
char *strbuf_take(StrBuf *buf) MUST_USE;

static inline bool str_equal(const char *a, const char *b) {
    return a[0] == b[0] && __builtin_strcmp(a, b) == 0; // most names differ at once
}
bool str_has_prefix(const char *str, const char *prefix);
bool str_has_suffix(const char *str, const char *suffix);

// Damerau-Levenshtein distance of two short strings (at most 64 bytes count).
unsigned str_distance(const char *a, const char *b);
// The candidate nearest to word if it is near enough to be a likely misspelling (distance at most
// a third of the word's length, at least 1), else NULL. Ties go to the first.
const char *str_nearest(const char *word, const char *const *candidates, size_t num_candidates);

#endif
