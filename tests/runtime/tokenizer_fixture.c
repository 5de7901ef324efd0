// See tokenizer_fixture.h.
#include "tokenizer_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Status fixture_open(TokenizerFixture *fixture, const char *path) {
    *fixture = (TokenizerFixture){0};
    diag_sink_init(&fixture->sink);
    TRY(gguf_open(path, &fixture->sink, &fixture->gguf));
    TRY(tokenizer_import(fixture->gguf, &fixture->sink, &fixture->blob));
    return tokenizer_open(fixture->blob.data, fixture->blob.len, &fixture->sink,
                          &fixture->tokenizer);
}

void fixture_close(TokenizerFixture *fixture) {
    tokenizer_close(fixture->tokenizer);
    if (fixture->gguf) gguf_close(fixture->gguf);
    strbuf_deinit(&fixture->blob);
    diag_sink_deinit(&fixture->sink);
}

void fixture_print_diags(const TokenizerFixture *fixture) {
    StrBuf text = {0};
    diag_render(&fixture->sink, &text);
    if (text.len) fprintf(stderr, "%s", text.data);
    strbuf_deinit(&text);
}

static void put(GgufMaker *maker, const void *bytes, size_t len) {
    strbuf_append(&maker->bytes, bytes, len);
}

static void put_text(GgufMaker *maker, const char *text) {
    uint64_t len = strlen(text);
    put(maker, &len, sizeof len);
    put(maker, text, len);
}

static void put_key(GgufMaker *maker, const char *key, uint32_t type) {
    put_text(maker, key);
    put(maker, &type, sizeof type);
    maker->num_entries++;
}

static void put_array(GgufMaker *maker, const char *key, uint32_t elem_type, uint64_t count) {
    put_key(maker, key, GGUF_ARRAY);
    put(maker, &elem_type, sizeof elem_type);
    put(maker, &count, sizeof count);
}

void maker_begin(GgufMaker *maker) {
    *maker = (GgufMaker){0};
    uint32_t version = 3;
    uint64_t zero = 0;
    put(maker, "GGUF", 4);
    put(maker, &version, sizeof version);
    put(maker, &zero, sizeof zero); // tensors
    put(maker, &zero, sizeof zero); // entries, set by maker_end
}

void maker_put_string(GgufMaker *maker, const char *key, const char *value) {
    put_key(maker, key, GGUF_STRING);
    put_text(maker, value);
}

void maker_put_u32(GgufMaker *maker, const char *key, uint32_t value) {
    put_key(maker, key, GGUF_U32);
    put(maker, &value, sizeof value);
}

void maker_put_bool(GgufMaker *maker, const char *key, bool value) {
    put_key(maker, key, GGUF_BOOL);
    put(maker, &(uint8_t){value}, 1);
}

void maker_put_strings(GgufMaker *maker, const char *key, const char *const *values, size_t count) {
    put_array(maker, key, GGUF_STRING, count);
    for (size_t i = 0; i < count; i++) put_text(maker, values[i]);
}

void maker_put_i32s(GgufMaker *maker, const char *key, const int32_t *values, size_t count) {
    put_array(maker, key, GGUF_I32, count);
    put(maker, values, count * sizeof *values);
}

void maker_put_f32s(GgufMaker *maker, const char *key, const float *values, size_t count) {
    put_array(maker, key, GGUF_F32, count);
    put(maker, values, count * sizeof *values);
}

char *maker_end(GgufMaker *maker) {
    memcpy(maker->bytes.data + 16, &maker->num_entries, sizeof maker->num_entries);
    char path[] = "/tmp/ingot_vocab_XXXXXX";
    int fd = mkstemp(path);
    BUG_IF(fd < 0, "cannot make a temporary file");
    BUG_IF(write(fd, maker->bytes.data, maker->bytes.len) != (ssize_t)maker->bytes.len,
           "cannot write the temporary file");
    close(fd);
    strbuf_deinit(&maker->bytes);
    return strdup(path);
}
