// A stream of token bytes as whole UTF-8 characters: bytes are held until their character is
// complete; a sequence that can become none is replaced by one U+FFFD.
#ifndef INGOT_RUNTIME_UTF8_STREAM_H
#define INGOT_RUNTIME_UTF8_STREAM_H

#include "base/str.h"
#include "base/utf8.h"

// Zero-initialise.
typedef struct Utf8Stream {
    char held[UTF8_MAX_CHAR_BYTES];
    uint32_t num_held;
} Utf8Stream;

// Appends to out the characters that bytes completes.
void utf8_stream_push(Utf8Stream *stream, const char *bytes, size_t len, StrBuf *out);
// The end of the text: what is held becomes one U+FFFD. The stream is empty afterwards.
void utf8_stream_finish(Utf8Stream *stream, StrBuf *out);

#endif
