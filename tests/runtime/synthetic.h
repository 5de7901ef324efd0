// A synthetic artifact for tests of the run time: a small integer "language model" whose kernels
// are functions of the test program itself, copied as bytes. Its logits depend on every token,
// position, page and scratch value, and are known exactly from a plain reference.
#ifndef INGOT_TESTS_RUNTIME_SYNTHETIC_H
#define INGOT_TESTS_RUNTIME_SYNTHETIC_H

#include "abi/artifact_write.h"

enum {
    SYNTHETIC_WIDTH = 16,
    SYNTHETIC_LAYERS = 3,
    SYNTHETIC_VOCAB = 301,
    SYNTHETIC_PAGE_TOKENS = 4,
    SYNTHETIC_PAGES = 24,
    SYNTHETIC_CONTEXT = SYNTHETIC_PAGE_TOKENS * SYNTHETIC_PAGES,
    SYNTHETIC_MIDDLE_BUCKET = 8,
    SYNTHETIC_LARGEST_BUCKET = 32, // buckets 1, 8, 32
    SYNTHETIC_MAX_THREADS = 5,
};

typedef struct SyntheticOptions {
    uint64_t extra_weight_bytes, extra_arena_bytes, extra_kv_bytes; // unused room, for memory tests
    const char *tokenizer; // bytes of the section, NULL: none
    uint64_t tokenizer_bytes;
    const char *chat_template;   // NULL: none
    uint32_t kernel_abi_version; // 0: the right one
} SyntheticOptions;

// Writes the artifact; ends the test program when that fails.
void synthetic_write(const char *path, const SyntheticOptions *options);

// The logits after the last of the ids.
void synthetic_reference(const int32_t *ids, uint32_t num_ids, float *out_logits);

// A fresh name in the temporary folder; the caller frees it. The file is not created.
char *synthetic_path(const char *name);

#endif
