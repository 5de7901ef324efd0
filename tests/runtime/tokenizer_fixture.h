// A tokenizer for tests: from a GGUF file, or from metadata written into a temporary one.
#ifndef INGOT_TESTS_TOKENIZER_FIXTURE_H
#define INGOT_TESTS_TOKENIZER_FIXTURE_H

#include "runtime/tokenizer.h"
#include "weights/tokenizer_import.h"

typedef struct TokenizerFixture {
    DiagSink sink;
    Gguf *gguf;
    StrBuf blob;
    Tokenizer *tokenizer;
} TokenizerFixture;

// STATUS_OK, or the status of the step that refused; the diagnostics are in sink.
Status fixture_open(TokenizerFixture *fixture, const char *path);
void fixture_close(TokenizerFixture *fixture);
void fixture_print_diags(const TokenizerFixture *fixture);

// Writes a GGUF file with metadata only: begin, any number of put calls, end.
typedef struct GgufMaker {
    StrBuf bytes;
    uint64_t num_entries;
} GgufMaker;
void maker_begin(GgufMaker *maker);
void maker_put_string(GgufMaker *maker, const char *key, const char *value);
void maker_put_u32(GgufMaker *maker, const char *key, uint32_t value);
void maker_put_bool(GgufMaker *maker, const char *key, bool value);
void maker_put_strings(GgufMaker *maker, const char *key, const char *const *values, size_t count);
void maker_put_i32s(GgufMaker *maker, const char *key, const int32_t *values, size_t count);
void maker_put_f32s(GgufMaker *maker, const char *key, const float *values, size_t count);
// Writes the file and returns its path, which the caller unlinks and frees.
char *maker_end(GgufMaker *maker);

#endif
