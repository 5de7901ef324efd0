// Chooses the next token from logits.
//
// The order of the steps: logits / temperature, then the top_k most likely, of these the smallest
// set of the most likely whose probability reaches top_p, of these the ones at least min_p times as
// likely as the best, then one draw. Equal logits are ordered by token id, lowest first.
// Random numbers: xoshiro256** (Blackman, Vigna 2018) seeded by SplitMix64; one number per draw,
// its upper 53 bits as a fraction. Same seed, same logits: same tokens, on every machine with the
// same libm.
#ifndef INGOT_RUNTIME_SAMPLER_H
#define INGOT_RUNTIME_SAMPLER_H

#include "base/diag.h"

typedef struct SamplerParams {
    bool is_greedy;     // the most likely token; the rest is ignored
    double temperature; // 0 (= greedy) to 100
    int32_t top_k;      // 0: off
    double top_p;       // above 0, at most 1; 1: off
    double min_p;       // 0 to 1; 0: off
    uint64_t seed;
} SamplerParams;

// temperature 1, everything else off, seed 0.
SamplerParams sampler_default_params(void);

typedef struct Sampler Sampler;

// All memory that sampling needs is taken here. Failure: X0101 naming the parameter,
// STATUS_INVALID.
Status sampler_create(const SamplerParams *params, uint32_t vocab_size, DiagSink *sink,
                      Sampler **out_sampler) MUST_USE;
void sampler_destroy(Sampler *sampler); // NULL is fine
// Bytes that sampler_create takes.
uint64_t sampler_size_bytes(uint32_t vocab_size);

// -inf means "never". A NaN, a +inf or nothing but -inf: X0102, STATUS_INVALID. Allocates nothing
// except for that diagnostic.
Status sampler_next(Sampler *sampler, const float *logits, DiagSink *sink,
                    int32_t *out_id) MUST_USE;

#endif
