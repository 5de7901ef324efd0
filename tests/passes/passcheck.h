// Random level-1 modules for the whole pipeline: an entry over a number of tokens, often with a
// layer called twice, made of elementwise ops, reductions over rows, norms, softmax, products with
// plain and quantised weights, attention over a paged cache, convolutions and pooling with padding
// and what follows them, reshapes, slices, pads, concatenations, permutations and gathers.
#ifndef INGOT_TESTS_PASSCHECK_H
#define INGOT_TESTS_PASSCHECK_H

#include "base/str.h"

// The module of a seed, always the same one.
void passcheck_module(uint64_t seed, StrBuf *out);

enum { PASSCHECK_PAGES = 2, PASSCHECK_PAGE_LEN = 16 };

// Attention of heads * group queries over keys and values of `heads` heads in a paged cache.
typedef struct PassCheckAttention {
    int64_t heads, group, dim, window; // window 0: all keys before the query
    const char *cache_elem;            // "f32" or "f16"
    const char *scale;
} PassCheckAttention;

// The functions @kv_append and @attention.
void passcheck_attention(const PassCheckAttention *a, StrBuf *out);

#endif
