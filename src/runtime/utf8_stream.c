// Holds bytes back until they are whole characters; see utf8_stream.h.
#include "runtime/utf8_stream.h"

#include <string.h>

// Appends the characters at the beginning of bytes; returns how many bytes that were. What is left
// is the beginning of one character.
static size_t put_whole(const char *bytes, size_t len, StrBuf *out) {
    size_t pos = 0;
    while (pos < len) {
        Utf8Step step = utf8_step(bytes + pos, len - pos);
        if (step.kind == UTF8_PARTIAL) break;
        if (step.kind == UTF8_CHAR)
            strbuf_append(out, bytes + pos, step.num_bytes);
        else
            strbuf_puts(out, UTF8_REPLACEMENT);
        pos += step.num_bytes;
    }
    return pos;
}

void utf8_stream_push(Utf8Stream *stream, const char *bytes, size_t len, StrBuf *out) {
    // Byte by byte until the held character is decided.
    while (stream->num_held && len) {
        stream->held[stream->num_held++] = *bytes++;
        len--;
        size_t done = put_whole(stream->held, stream->num_held, out);
        stream->num_held -= (uint32_t)done;
        memmove(stream->held, stream->held + done, stream->num_held);
    }
    size_t done = put_whole(bytes, len, out);
    memcpy(stream->held + stream->num_held, bytes + done, len - done);
    stream->num_held += (uint32_t)(len - done);
}

void utf8_stream_finish(Utf8Stream *stream, StrBuf *out) {
    if (stream->num_held) strbuf_puts(out, UTF8_REPLACEMENT);
    stream->num_held = 0;
}
