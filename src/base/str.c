// Growable text and spelling distance; see str.h.
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_deinit(StrBuf *buf) {
    free(buf->data);
    *buf = (StrBuf){0};
}

void strbuf_clear(StrBuf *buf) {
    buf->len = 0;
    if (buf->data) buf->data[0] = '\0';
}

static void reserve(StrBuf *buf, size_t extra) {
    uint64_t need;
    BUG_IF(!size_add(buf->len, extra, &need) || !size_add(need, 1, &need), "text too long");
    if (need <= buf->capacity) return;
    size_t capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < need) capacity *= 2;
    buf->data = base_realloc(buf->data, capacity, 1);
    buf->capacity = capacity;
}

void strbuf_append(StrBuf *buf, const char *bytes, size_t len) {
    reserve(buf, len);
    if (len) memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void strbuf_puts(StrBuf *buf, const char *str) {
    strbuf_append(buf, str, strlen(str));
}
void strbuf_putc(StrBuf *buf, char c) {
    strbuf_append(buf, &c, 1);
}

void strbuf_vprintf(StrBuf *buf, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    BUG_IF(len < 0, "bad format %s", fmt);
    reserve(buf, (size_t)len);
    vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, again);
    va_end(again);
    buf->len += (size_t)len;
}

void strbuf_printf(StrBuf *buf, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(buf, fmt, args);
    va_end(args);
}

// Length of the valid UTF-8 character at the start of bytes, 0 if there is none.
static size_t utf8_char_len(const unsigned char *s, size_t len) {
    unsigned char c = s[0];
    size_t n = c < 0x80                ? 1
               : c >= 0xC2 && c < 0xE0 ? 2
               : c >= 0xE0 && c < 0xF0 ? 3
               : c >= 0xF0 && c < 0xF5 ? 4
                                       : 0;
    if (n == 0 || n > len) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] >= 0xA0) || (c == 0xF0 && s[1] < 0x90) ||
        (c == 0xF4 && s[1] >= 0x90))
        return 0;
    return n;
}

void strbuf_put_json_string(StrBuf *buf, const char *bytes, size_t len) {
    const unsigned char *s = (const unsigned char *)bytes;
    strbuf_putc(buf, '"');
    for (size_t i = 0; i < len;) {
        unsigned char c = s[i];
        size_t n = utf8_char_len(s + i, len - i);
        if (n == 0) {
            strbuf_puts(buf, "\\ufffd");
            n = 1;
        } else if (c == '"' || c == '\\') {
            strbuf_printf(buf, "\\%c", c);
        } else if (c == '\n') {
            strbuf_puts(buf, "\\n");
        } else if (c < 0x20 || c == 0x7F) {
            strbuf_printf(buf, "\\u%04x", c);
        } else {
            strbuf_append(buf, bytes + i, n);
        }
        i += n;
    }
    strbuf_putc(buf, '"');
}

// Of the C1 controls too, which UTF-8 writes as 0xC2 and the control.
void strbuf_escape_controls(StrBuf *buf, size_t from) {
    StrBuf out = {0};
    bool any = false;
    for (size_t i = from; i < buf->len; i++) {
        unsigned char c = (unsigned char)buf->data[i];
        unsigned char next = i + 1 < buf->len ? (unsigned char)buf->data[i + 1] : 0;
        bool is_c1 = c == 0xC2 && next >= 0x80 && next < 0xA0;
        if (is_c1 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
            strbuf_printf(&out, "\\u00%02x", is_c1 ? next : c);
            i += is_c1;
            any = true;
        } else {
            strbuf_putc(&out, (char)c);
        }
    }
    if (any) {
        buf->len = from;
        strbuf_append(buf, out.data, out.len);
    }
    strbuf_deinit(&out);
}

char *strbuf_take(StrBuf *buf) {
    reserve(buf, 0);
    buf->data[buf->len] = '\0';
    char *text = buf->data;
    *buf = (StrBuf){0};
    return text;
}

bool str_has_prefix(const char *str, const char *prefix) {
    return strncmp(str, prefix, strlen(prefix)) == 0;
}

bool str_has_suffix(const char *str, const char *suffix) {
    size_t len = strlen(str), tail = strlen(suffix);
    return len >= tail && memcmp(str + len - tail, suffix, tail) == 0;
}

unsigned str_distance(const char *a, const char *b) {
    enum { LIMIT = 64 };
    size_t m = MIN(strlen(a), (size_t)LIMIT), n = MIN(strlen(b), (size_t)LIMIT);
    unsigned rows[3][LIMIT + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *cur = rows[i % 3], *prev = rows[(i - 1) % 3], *prev2 = rows[(i + 1) % 3];
        cur[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned cost = a[i - 1] == b[j - 1] ? 0 : 1;
            unsigned best = MIN(prev[j] + 1, cur[j - 1] + 1);
            best = MIN(best, prev[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, prev2[j - 2] + 1);
            cur[j] = best;
        }
    }
    return rows[m % 3][n];
}

const char *str_nearest(const char *word, const char *const *candidates, size_t num_candidates) {
    const char *nearest = NULL;
    unsigned best = (unsigned)MAX(strlen(word) / 3, (size_t)1) + 1;
    for (size_t i = 0; i < num_candidates; i++) {
        unsigned distance = str_distance(word, candidates[i]);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
