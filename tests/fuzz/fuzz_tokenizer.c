// Import of a tokenizer from GGUF metadata, opening of its tables, encoding and decoding.
// Input: one byte of flags, two bytes of text length, the text, then a GGUF file or (flag 1)
// tables.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/tokenizer.h"
#include "runtime/utf8_stream.h"
#include "weights/tokenizer_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

// Every token exists; plain text gives no control token (unknown characters may give "unknown").
static void check_token(const Tokenizer *tokenizer, int32_t id, bool is_plain, StrBuf *out,
                        Utf8Stream *stream) {
    const char *bytes;
    size_t len;
    BUG_IF(!tokenizer_decode_token(tokenizer, id, &bytes, &len), "token %d does not exist", id);
    BUG_IF(is_plain && id != tokenizer_unknown(tokenizer) && tokenizer_is_control(tokenizer, id),
           "plain text gave control token %d", id);
    utf8_stream_push(stream, bytes, len, out);
    (void)tokenizer_is_end(tokenizer, id);
}

// Encodes the text as template and user text, prints the tokens again.
static void use(const Tokenizer *tokenizer, const char *text, size_t len, DiagSink *sink) {
    for (uint32_t flags = 0; flags < 4; flags++) {
        TokenIds ids = {0};
        StrBuf out = {0};
        Utf8Stream stream = {0};
        TextPiece pieces[] = {{text, len / 2, flags & TOKENIZE_PARSE_SPECIAL},
                              {text + len / 2, len - len / 2, false}};
        Status status = tokenizer_encode_pieces(tokenizer, pieces, 2, flags, sink, &ids);
        BUG_IF(status != STATUS_OK && ids.count, "a failed call left tokens");
        size_t first_plain = flags & TOKENIZE_ADD_BOS ? 1 : 0;
        for (size_t i = 0; i < ids.count; i++)
            check_token(tokenizer, ids.ids[i],
                        !(flags & TOKENIZE_PARSE_SPECIAL) && i >= first_plain, &out, &stream);
        utf8_stream_finish(&stream, &out);
        strbuf_deinit(&out);
        token_ids_deinit(&ids);
    }
    (void)tokenizer_find(tokenizer, text, len);
}

static void import(const uint8_t *data, size_t len, DiagSink *sink, StrBuf *blob) {
    int fd = memfd_create("gguf", 0);
    Gguf *gguf = NULL;
    StrBuf path = {0};
    strbuf_printf(&path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, data, len) == (ssize_t)len &&
        gguf_open(path.data, sink, &gguf) == STATUS_OK) {
        if (tokenizer_import(gguf, sink, blob) != STATUS_OK)
            BUG_IF(blob->len, "a failed import left tables");
        gguf_close(gguf);
    }
    strbuf_deinit(&path);
    if (fd >= 0) close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    if (len < 3) return 0;
    size_t text_len = MIN((size_t)(data[1] | data[2] << 8), len - 3);
    const char *text = (const char *)data + 3;
    const uint8_t *rest = data + 3 + text_len;
    size_t rest_len = len - 3 - text_len;
    bool has_tables = data[0] & 1;
    DiagSink sink;
    diag_sink_init(&sink);
    StrBuf blob = {0};
    if (has_tables)
        strbuf_append(&blob, (const char *)rest, rest_len);
    else
        import(rest, rest_len, &sink, &blob);
    Tokenizer *tokenizer = NULL;
    if (blob.len && tokenizer_open(blob.data, blob.len, &sink, &tokenizer) == STATUS_OK) {
        // Tables made up by hand may put control tokens into merges; those of an import may not.
        if (!has_tables) use(tokenizer, text, text_len, &sink);
        TokenIds ids = {0};
        (void)!tokenizer_encode(tokenizer, text, text_len, TOKENIZE_PARSE_SPECIAL, &sink, &ids);
        token_ids_deinit(&ids);
        tokenizer_close(tokenizer);
    } else {
        BUG_IF(blob.len && !has_tables, "imported tables do not open");
    }
    strbuf_deinit(&blob);
    diag_sink_deinit(&sink);
    return 0;
}
