// Random level-1 modules for the whole pipeline: an entry over a number of tokens, often with a
// layer called twice, made of elementwise ops, reductions over rows, norms, softmax, products with
// plain and quantised weights, reshapes, slices, concatenations, permutations, gathers and a head.
#ifndef INGOT_TESTS_PASSCHECK_H
#define INGOT_TESTS_PASSCHECK_H

#include "base/str.h"

// The module of a seed, always the same one.
void passcheck_module(uint64_t seed, StrBuf *out);

#endif
