// Sampling against a reference that sorts: the kept set, the frequencies, ties, bad input.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sampler.h"

enum { VOCAB = 500, NUM_DRAWS = 10000 };

static uint64_t random_state = 88172645463325252u;
static double next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static const float *sorted_logits;
static int compare(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (sorted_logits[i] != sorted_logits[k]) return sorted_logits[i] > sorted_logits[k] ? -1 : 1;
    return i < k ? -1 : i > k;
}

// Probabilities after all filters, by sorting.
static void reference(const SamplerParams *params, const float *logits, double *probs) {
    uint32_t order[VOCAB];
    double weights[VOCAB], total = 0;
    for (uint32_t i = 0; i < VOCAB; i++) order[i] = i;
    sorted_logits = logits;
    qsort(order, VOCAB, sizeof *order, compare);
    size_t count = params->top_k ? (size_t)MIN(params->top_k, VOCAB) : VOCAB;
    for (size_t i = 0; i < count; i++) {
        weights[i] =
            exp(((double)logits[order[i]] - (double)logits[order[0]]) / params->temperature);
        total += weights[i];
    }
    double mass = 0;
    size_t kept = 0;
    while (kept < count && mass < params->top_p * total) mass += weights[kept++];
    if (params->top_p == 1) kept = count;
    while (kept > 1 && weights[kept - 1] < params->min_p) kept--;
    double sum = 0;
    for (size_t i = 0; i < kept; i++) sum += weights[i];
    memset(probs, 0, VOCAB * sizeof *probs);
    for (size_t i = 0; i < kept; i++) probs[order[i]] = weights[i] / sum;
}

static void check_frequencies(SamplerParams params, const float *logits) {
    DiagSink sink;
    diag_sink_init(&sink);
    double probs[VOCAB];
    reference(&params, logits, probs);
    Sampler *sampler;
    assert_int_equal(sampler_create(&params, VOCAB, &sink, &sampler), STATUS_OK);
    uint32_t counts[VOCAB] = {0};
    for (size_t i = 0; i < NUM_DRAWS; i++) {
        int32_t id = -1;
        assert_int_equal(sampler_next(sampler, logits, &sink, &id), STATUS_OK);
        assert_in_range(id, 0, VOCAB - 1);
        counts[id]++;
    }
    for (size_t i = 0; i < VOCAB; i++) {
        double wanted = probs[i] * (double)NUM_DRAWS, sigma = sqrt(wanted * (1 - probs[i]));
        if (probs[i] == 0) assert_int_equal(counts[i], 0);
        // 6 sigma and 3 draws: one false alarm in about 10^7 comparisons.
        assert_true(fabs(counts[i] - wanted) <= 6 * sigma + 3);
    }
    sampler_destroy(sampler);
    diag_sink_deinit(&sink);
}

static void test_frequencies(void **state) {
    (void)state;
    float logits[VOCAB];
    for (size_t i = 0; i < VOCAB; i++) logits[i] = (float)(8 * next_random() - 4);
    for (size_t i = 0; i < VOCAB; i += 7) logits[i] = 1.5f; // ties
    for (size_t i = 3; i < VOCAB; i += 50) logits[i] = -INFINITY;
    logits[17] = 6;
    static const struct {
        double temperature;
        int32_t top_k;
        double top_p, min_p;
    } cases[] = {{1, 0, 1, 0},
                 {0.5, 0, 1, 0},
                 {2, 40, 1, 0},
                 {1, 1, 1, 0},
                 {1, 0, 0.9, 0},
                 {1, 0, 0.3, 0},
                 {1, 0, 1e-9, 0},
                 {1, 0, 1, 0.1},
                 {0.8, 40, 0.95, 0.05},
                 {3, 100, 0.5, 0.01},
                 {1, VOCAB + 5, 0.999999, 0},
                 {1, 0, 1, 1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_frequencies((SamplerParams){.temperature = cases[i].temperature,
                                          .top_k = cases[i].top_k,
                                          .top_p = cases[i].top_p,
                                          .min_p = cases[i].min_p,
                                          .seed = i},
                          logits);
}

// All equal: top-k keeps the lowest ids.
static void test_ties_by_id(void **state) {
    (void)state;
    float logits[VOCAB] = {0};
    logits[9] = -0.0f;
    SamplerParams params = sampler_default_params();
    params.top_k = 10;
    check_frequencies(params, logits);
    params.is_greedy = true;
    DiagSink sink;
    diag_sink_init(&sink);
    Sampler *sampler;
    int32_t id = -1;
    assert_int_equal(sampler_create(&params, VOCAB, &sink, &sampler), STATUS_OK);
    assert_int_equal(sampler_next(sampler, logits, &sink, &id), STATUS_OK);
    assert_int_equal(id, 0);
    logits[100] = logits[200] = 1;
    assert_int_equal(sampler_next(sampler, logits, &sink, &id), STATUS_OK);
    assert_int_equal(id, 100);
    sampler_destroy(sampler);
    diag_sink_deinit(&sink);
}

static void test_same_seed_same_tokens(void **state) {
    (void)state;
    float logits[VOCAB];
    for (size_t i = 0; i < VOCAB; i++) logits[i] = (float)(4 * next_random());
    SamplerParams params = sampler_default_params();
    DiagSink sink;
    diag_sink_init(&sink);
    Sampler *samplers[3];
    for (uint64_t i = 0; i < 3; i++) {
        params.seed = i / 2; // 0 0 1
        assert_int_equal(sampler_create(&params, VOCAB, &sink, &samplers[i]), STATUS_OK);
    }
    size_t num_other = 0;
    for (size_t i = 0; i < 200; i++) {
        int32_t ids[3] = {0};
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(sampler_next(samplers[k], logits, &sink, &ids[k]), STATUS_OK);
        assert_int_equal(ids[0], ids[1]);
        num_other += ids[0] != ids[2];
    }
    assert_true(num_other > 100);
    for (size_t k = 0; k < 3; k++) sampler_destroy(samplers[k]);
    diag_sink_deinit(&sink);
}

static void test_bad_logits(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY};
    DiagSink sink;
    diag_sink_init(&sink);
    for (int greedy = 0; greedy < 2; greedy++) {
        SamplerParams params = sampler_default_params();
        params.is_greedy = greedy;
        Sampler *sampler;
        int32_t id = 7;
        assert_int_equal(sampler_create(&params, VOCAB, &sink, &sampler), STATUS_OK);
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            float logits[VOCAB] = {0};
            logits[VOCAB - 1] = bad[i];
            assert_int_equal(sampler_next(sampler, logits, &sink, &id), STATUS_INVALID);
            logits[VOCAB - 1] = 0;
            logits[0] = bad[i];
            assert_int_equal(sampler_next(sampler, logits, &sink, &id), STATUS_INVALID);
        }
        float never[VOCAB];
        for (size_t i = 0; i < VOCAB; i++) never[i] = -INFINITY;
        assert_int_equal(sampler_next(sampler, never, &sink, &id), STATUS_INVALID);
        assert_int_equal(id, 7);
        assert_int_equal(sink.diags[0].code, DIAG_X0102);
        never[5] = -1e30f;
        assert_int_equal(sampler_next(sampler, never, &sink, &id), STATUS_OK);
        assert_int_equal(id, 5);
        sampler_destroy(sampler);
    }
    diag_sink_deinit(&sink);
}

static void test_bad_params(void **state) {
    (void)state;
    static const SamplerParams bad[] = {{.temperature = NAN, .top_p = 1},
                                        {.temperature = -1, .top_p = 1},
                                        {.temperature = INFINITY, .top_p = 1},
                                        {.temperature = 1, .top_p = NAN},
                                        {.temperature = 1, .top_p = 0},
                                        {.temperature = 1, .top_p = 1.01},
                                        {.temperature = 1, .top_p = 1, .min_p = NAN},
                                        {.temperature = 1, .top_p = 1, .min_p = 2},
                                        {.temperature = 1, .top_p = 1, .min_p = -1},
                                        {.temperature = 1, .top_p = 1, .top_k = -1}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        DiagSink sink;
        diag_sink_init(&sink);
        Sampler *sampler = NULL;
        assert_int_equal(sampler_create(&bad[i], VOCAB, &sink, &sampler), STATUS_INVALID);
        assert_null(sampler);
        assert_int_equal(sink.diags[0].code, DIAG_X0101);
        diag_sink_deinit(&sink);
    }
}

// The first numbers of xoshiro256** seeded by SplitMix64 with 0, as its authors' C code gives them.
static void test_known_draws(void **state) {
    (void)state;
    SamplerParams params = sampler_default_params();
    DiagSink sink;
    diag_sink_init(&sink);
    Sampler *sampler;
    enum { NUM = 1 << 16 };
    float *logits = base_alloc(NUM, sizeof *logits); // uniform: token = floor(fraction * 2^16)
    assert_int_equal(sampler_create(&params, NUM, &sink, &sampler), STATUS_OK);
    static const uint64_t first[] = {0x99EC5F36CB75F2B4u, 0xBF6E1F784956452Au, 0x1A5F849D4933E6E0u};
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        int32_t id = -1;
        assert_int_equal(sampler_next(sampler, logits, &sink, &id), STATUS_OK);
        assert_int_equal(id, (int32_t)(first[i] >> 48));
    }
    free(logits);
    sampler_destroy(sampler);
    diag_sink_deinit(&sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_ties_by_id),
        cmocka_unit_test(test_same_seed_same_tokens),
        cmocka_unit_test(test_bad_logits),
        cmocka_unit_test(test_bad_params),
        cmocka_unit_test(test_known_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
