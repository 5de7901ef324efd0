// Chooses a token; see sampler.h. Every filter keeps a beginning of the order "more likely first",
// so one threshold says it all. The threshold is found by radix selection over the logits' bits:
// three linear passes, no sorting, the same result everywhere.
#include "runtime/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEMPERATURE 100.0

enum { NUM_ROUNDS = 3, MAX_BUCKETS = 1 << 11 }; // 11 + 11 + 10 bits of a logit
static const struct { unsigned shift, bits; } ROUNDS[NUM_ROUNDS] = {{21, 11}, {10, 11}, {0, 10}};

struct Sampler {
    SamplerParams params;
    uint32_t vocab_size;
    uint64_t random[4];
    double *weights; // exp((logit - best) / temperature) per token; 0 where filtered out
    uint32_t counts[MAX_BUCKETS];
    double masses[MAX_BUCKETS];
};

// What is kept: keys above `key`, and the first `num_ties` tokens with exactly that key.
typedef struct Threshold {
    uint32_t key, num_ties;
} Threshold;

// ---------------------------------------------------------------- random numbers

static uint64_t split_mix(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t rotate_left(uint64_t x, unsigned bits) {
    return x << bits | x >> (64 - bits);
}

// A fraction in [0, 1).
static double next_fraction(uint64_t state[4]) {
    uint64_t result = rotate_left(state[1] * 5, 7) * 9, shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return (double)(result >> 11) * 0x1p-53;
}

// ---------------------------------------------------------------- creating

SamplerParams sampler_default_params(void) {
    return (SamplerParams){.temperature = 1, .top_p = 1};
}

// Written so that a NaN is outside of every range.
static Status check_params(const SamplerParams *params, DiagSink *sink) {
    DiagSpan span = {0};
    if (!(params->temperature >= 0 && params->temperature <= MAX_TEMPERATURE))
        return diag_error(sink, DIAG_X0101, span, "temperature %g is not between 0 and %g",
                          params->temperature, MAX_TEMPERATURE);
    if (!(params->top_k >= 0))
        return diag_error(sink, DIAG_X0101, span, "top-k %d is below 0 (0 is off)", params->top_k);
    if (!(params->top_p > 0 && params->top_p <= 1))
        return diag_error(sink, DIAG_X0101, span, "top-p %g is not above 0 and at most 1",
                          params->top_p);
    if (!(params->min_p >= 0 && params->min_p <= 1))
        return diag_error(sink, DIAG_X0101, span, "min-p %g is not between 0 and 1", params->min_p);
    return STATUS_OK;
}

uint64_t sampler_size_bytes(uint32_t vocab_size) {
    return sizeof(Sampler) + (uint64_t)vocab_size * sizeof(double);
}

Status sampler_create(const SamplerParams *params, uint32_t vocab_size, DiagSink *sink,
                      Sampler **out_sampler) {
    TRY(check_params(params, sink));
    BUG_IF(vocab_size == 0, "a vocabulary without tokens");
    Sampler *sampler = base_alloc(1, sizeof *sampler);
    sampler->params = *params;
    sampler->vocab_size = vocab_size;
    sampler->weights = base_alloc(vocab_size, sizeof *sampler->weights);
    uint64_t seed = params->seed;
    for (size_t i = 0; i < ARRAY_LEN(sampler->random); i++) sampler->random[i] = split_mix(&seed);
    *out_sampler = sampler;
    return STATUS_OK;
}

void sampler_destroy(Sampler *sampler) {
    if (!sampler) return;
    free(sampler->weights);
    free(sampler);
}

// ---------------------------------------------------------------- selection

// Ascending order of floats as ascending order of integers; -0 is 0.
static uint32_t key_of(float logit) {
    uint32_t bits;
    logit += 0.0f;
    memcpy(&bits, &logit, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// The bucket in which the limit is reached, best first; adds up what lies before it. If the limit
// is not reached (masses added up in another order round differently) it is the last one in use.
static uint32_t find_bucket(const Sampler *sampler, uint32_t num_buckets, uint32_t max_count,
                            double max_mass, uint32_t *count, double *mass) {
    uint32_t found = 0, found_count = 0;
    double found_mass = 0;
    for (uint32_t b = num_buckets; b-- > 0;) {
        if (!sampler->counts[b]) continue;
        *count += found_count;
        *mass += found_mass;
        found = b;
        found_count = sampler->counts[b];
        found_mass = sampler->masses[b];
        if (*count + found_count >= max_count || *mass + found_mass >= max_mass) break;
    }
    return found;
}

// The shortest beginning of the order with at least max_count tokens or at least max_mass of
// weight.
static Threshold select_best(Sampler *sampler, const float *logits, uint32_t max_count,
                             double max_mass) {
    uint32_t prefix = 0, count = 0;
    double mass = 0;
    for (size_t round = 0; round < NUM_ROUNDS; round++) {
        unsigned shift = ROUNDS[round].shift, bits = ROUNDS[round].bits;
        memset(sampler->counts, 0, sizeof sampler->counts);
        memset(sampler->masses, 0, sizeof sampler->masses);
        for (uint32_t i = 0; i < sampler->vocab_size; i++) {
            uint32_t key = key_of(logits[i]);
            if (sampler->weights[i] == 0 || (uint64_t)key >> (shift + bits) != prefix) continue;
            uint32_t bucket = key >> shift & ((1u << bits) - 1);
            sampler->counts[bucket]++;
            sampler->masses[bucket] += sampler->weights[i];
        }
        prefix =
            prefix << bits | find_bucket(sampler, 1u << bits, max_count, max_mass, &count, &mass);
    }
    // Tokens with one key have one weight.
    uint32_t num_equal = sampler->counts[prefix & 1023], ties = 0;
    double weight = num_equal ? sampler->masses[prefix & 1023] / num_equal : 0;
    while (ties < num_equal && count + ties < max_count && mass + ties * weight < max_mass) ties++;
    return (Threshold){prefix, ties};
}

// Drops what lies behind the threshold; returns the weight that is left.
static double keep(Sampler *sampler, const float *logits, Threshold threshold) {
    double total = 0;
    uint32_t num_ties = 0;
    for (uint32_t i = 0; i < sampler->vocab_size; i++) {
        uint32_t key = key_of(logits[i]);
        bool is_kept =
            key > threshold.key || (key == threshold.key && num_ties++ < threshold.num_ties);
        if (!is_kept) sampler->weights[i] = 0;
        total += sampler->weights[i];
    }
    return total;
}

static double weigh(Sampler *sampler, const float *logits, float best) {
    double total = 0;
    for (uint32_t i = 0; i < sampler->vocab_size; i++) {
        sampler->weights[i] = exp(((double)logits[i] - (double)best) / sampler->params.temperature);
        total += sampler->weights[i];
    }
    return total;
}

static double keep_min_p(Sampler *sampler) {
    double total = 0;
    for (uint32_t i = 0; i < sampler->vocab_size; i++) {
        // The best token has weight 1.
        if (sampler->weights[i] < sampler->params.min_p) sampler->weights[i] = 0;
        total += sampler->weights[i];
    }
    return total;
}

static int32_t draw(Sampler *sampler, double total) {
    double rest = next_fraction(sampler->random) * total;
    int32_t last = 0;
    for (uint32_t i = 0; i < sampler->vocab_size; i++) {
        if (sampler->weights[i] == 0) continue;
        last = (int32_t)i;
        rest -= sampler->weights[i];
        if (rest < 0) break;
    }
    return last;
}

// ---------------------------------------------------------------- the next token

static Status find_best(const Sampler *sampler, const float *logits, DiagSink *sink,
                        int32_t *out_best) {
    int32_t best = 0;
    for (uint32_t i = 0; i < sampler->vocab_size; i++) {
        if (!(logits[i] <= INFINITY) || logits[i] == INFINITY)
            return diag_error(sink, DIAG_X0102, (DiagSpan){0}, "the logit of token %u is %g", i,
                              (double)logits[i]);
        if (logits[i] > logits[best]) best = (int32_t)i;
    }
    if (logits[best] == -INFINITY)
        return diag_error(sink, DIAG_X0102, (DiagSpan){0}, "the logits exclude every token");
    *out_best = best;
    return STATUS_OK;
}

Status sampler_next(Sampler *sampler, const float *logits, DiagSink *sink, int32_t *out_id) {
    const SamplerParams *params = &sampler->params;
    int32_t best = 0;
    TRY(find_best(sampler, logits, sink, &best));
    if (params->is_greedy || params->temperature == 0) {
        *out_id = best;
        return STATUS_OK;
    }
    double total = weigh(sampler, logits, logits[best]);
    if (params->top_k > 0 && (uint32_t)params->top_k < sampler->vocab_size)
        total =
            keep(sampler, logits, select_best(sampler, logits, (uint32_t)params->top_k, INFINITY));
    if (params->top_p < 1)
        total =
            keep(sampler, logits, select_best(sampler, logits, UINT32_MAX, params->top_p * total));
    if (params->min_p > 0) total = keep_min_p(sampler);
    *out_id = draw(sampler, total);
    return STATUS_OK;
}
