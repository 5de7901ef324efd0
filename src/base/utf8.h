// UTF-8, one character at a time: the strict form of Unicode 15, table 3-7 (no overlong forms, no
// surrogates, nothing above U+10FFFF).
#ifndef INGOT_BASE_UTF8_H
#define INGOT_BASE_UTF8_H

#include "base/base.h"

enum { UTF8_MAX_CHAR_BYTES = 4 };
#define UTF8_REPLACEMENT "\xEF\xBF\xBD" // U+FFFD

typedef enum Utf8Kind {
    UTF8_CHAR,    // a whole character
    UTF8_INVALID, // bytes that can begin no character; num_bytes is the longest such part, at least
                  // 1
    UTF8_PARTIAL, // a correct beginning, cut off by the end of the bytes
} Utf8Kind;

typedef struct Utf8Step {
    Utf8Kind kind;
    uint32_t num_bytes;
    uint32_t code_point; // of UTF8_CHAR, else U+FFFD
} Utf8Step;

// Looks at the beginning of bytes; len is at least 1.
static inline Utf8Step utf8_step(const char *bytes, size_t len) {
    const unsigned char *s = (const unsigned char *)bytes;
    unsigned char c = s[0];
    if (c < 0x80) return (Utf8Step){UTF8_CHAR, 1, c};
    uint32_t num_bytes = c >= 0xC2 && c < 0xE0   ? 2
                         : c >= 0xE0 && c < 0xF0 ? 3
                         : c >= 0xF0 && c < 0xF5 ? 4
                                                 : 0;
    if (num_bytes == 0) return (Utf8Step){UTF8_INVALID, 1, 0xFFFD};
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    uint32_t code_point = c & (0xFFu >> (num_bytes + 1));
    for (uint32_t i = 1; i < num_bytes; i++) {
        if (i >= len) return (Utf8Step){UTF8_PARTIAL, i, 0xFFFD};
        if (s[i] < low || s[i] > high) return (Utf8Step){UTF8_INVALID, i, 0xFFFD};
        code_point = code_point << 6 | (s[i] & 0x3Fu);
        low = 0x80, high = 0xBF;
    }
    return (Utf8Step){UTF8_CHAR, num_bytes, code_point};
}

// Writes a code point (below 0x110000, no surrogate) and returns the number of bytes.
static inline uint32_t utf8_encode(uint32_t code_point, char out[UTF8_MAX_CHAR_BYTES]) {
    unsigned char *s = (unsigned char *)out;
    if (code_point < 0x80) {
        s[0] = (unsigned char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        s[0] = (unsigned char)(0xC0 | code_point >> 6);
        s[1] = (unsigned char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point < 0x10000) {
        s[0] = (unsigned char)(0xE0 | code_point >> 12);
        s[1] = (unsigned char)(0x80 | (code_point >> 6 & 0x3F));
        s[2] = (unsigned char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    s[0] = (unsigned char)(0xF0 | code_point >> 18);
    s[1] = (unsigned char)(0x80 | (code_point >> 12 & 0x3F));
    s[2] = (unsigned char)(0x80 | (code_point >> 6 & 0x3F));
    s[3] = (unsigned char)(0x80 | (code_point & 0x3F));
    return 4;
}

// The Unicode property White_Space (unchanged since Unicode 6.3).
static inline bool utf8_is_space(uint32_t c) {
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

#endif
