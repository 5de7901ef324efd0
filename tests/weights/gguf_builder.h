// Writes GGUF files in memory, right ones and, through the raw buffers, wrong ones.
#ifndef INGOT_TESTS_GGUF_BUILDER_H
#define INGOT_TESTS_GGUF_BUILDER_H

#include "base/str.h"
#include "weights/gguf.h"

typedef struct GgufBuilder {
    StrBuf entries, tensors, data;
    uint64_t num_entries, num_tensors;
    uint32_t version;   // 0: 3
    uint64_t alignment; // 0: 32; the caller also adds general.alignment
} GgufBuilder;

void gguf_builder_deinit(GgufBuilder *b);
void gguf_builder_bytes(StrBuf *out, const void *bytes, size_t len);
void gguf_builder_put_u32(StrBuf *out, uint32_t value);
void gguf_builder_put_u64(StrBuf *out, uint64_t value);
void gguf_builder_put_string(StrBuf *out, const char *text);

// Starts an entry: key and type; the value follows by way of the put functions on b->entries.
void gguf_builder_entry(GgufBuilder *b, const char *key, GgufType type);
void gguf_builder_u32(GgufBuilder *b, const char *key, uint32_t value);
void gguf_builder_f32(GgufBuilder *b, const char *key, float value);
void gguf_builder_string(GgufBuilder *b, const char *key, const char *value);

// Adds a tensor with pseudo-random data (floats of f32 tensors lie in [-1, 1], f16 scales are
// small); dims[0] is the fastest.
void gguf_builder_tensor(GgufBuilder *b, const char *name, QuantFormat format, uint32_t num_dims,
                         const uint64_t *dims);
// Adds only the description of a tensor.
void gguf_builder_tensor_info(GgufBuilder *b, const char *name, uint32_t type, uint32_t num_dims,
                              const uint64_t *dims, uint64_t offset);
// The whole file.
void gguf_builder_finish(const GgufBuilder *b, StrBuf *out);

// Opens bytes as a file (through an anonymous file of this process).
Status gguf_builder_open(const void *bytes, size_t len, DiagSink *sink, Gguf **out_gguf) MUST_USE;

#endif
