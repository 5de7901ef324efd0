// One model, evaluated four ways on the same tokens: the level-1 module (entries per bucket,
// quantised weights as planes) in the interpreter; the planned level-2 module in the interpreter,
// with the arena and all weights prepared by its own init functions; the same after vectorize; and
// the artifact through the executor.
//
// Bound: any two of them differ by the order of sums alone. A logit is the end of a chain of about
// 10 products per layer, each a sum of at most K terms with an error of K eps of its absolute sum
// (eps = 2^-24), on either side: 2 * 10 * layers * K * eps of the largest logit.
//
// With int8 activations another order of a norm's sum may round an activation to the neighbouring
// one of 255 codes, which moves it by 1/127 of the largest in its block. So that bound holds
// between machine code and the vectorised module, whose sums have the same order; the reference
// bodies must agree within what the recipe's rounding may cost at all: a divergence of 1e-2.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chain_run.h"

enum { NUM_STEPS = 5, NUM_FULL = 2, MAX_VOCAB = 512 };
static const int32_t ids[] = {5, 17, 39, 0,  21, 5, 12, 200, 258, 90, 91, 92,
                              1, 2,  3,  77, 8,  9, 10, 64,  31,  7,  25};
// Prefill of a whole bucket and a step of generation; then a part of a bucket across a page border,
// another step, one token by the large entry.
static const struct {
    uint32_t from, n, bucket;
} steps[NUM_STEPS] = {{0, 16, 16}, {16, 1, 1}, {17, 4, 16}, {21, 1, 1}, {22, 1, 16}};

typedef float Logits[NUM_STEPS][MAX_VOCAB];

static void interpret(TinyChain *chain, PassId end, int num_steps, Logits out) {
    bool is_level_2 = end > PASS_loop_schedule;
    IrModule *m = tiny_chain_module(chain, end, is_level_2 ? "x86-64-v3" : NULL);
    ChainRun run;
    chain_run_open(&run, chain, m);
    for (int i = 0; i < num_steps; i++)
        chain_run_feed(&run, steps[i].bucket, ids + steps[i].from, steps[i].n, out[i]);
    chain_run_close(&run);
    ir_module_destroy(m);
}

static void execute(TinyChain *chain, Logits out) {
    ChainFolder folder;
    ChainArtifact artifact;
    chain_folder_open(&folder, chain);
    chain_folder_compile(&folder, NULL);
    chain_artifact_open(&artifact, &folder, 2, NULL);
    for (int i = 0; i < NUM_STEPS; i++)
        chain_artifact_feed(&artifact, ids + steps[i].from, steps[i].n, out[i]);
    chain_artifact_close(&artifact);
    chain_folder_close(&folder);
}

static double compare(TinyChain *chain, Logits a, Logits b, int num_steps, double bound,
                      const char *what) {
    double worst = 0;
    for (int i = 0; i < num_steps; i++) {
        double distance = chain_distance(chain, a[i], b[i]);
        if (!(distance <= bound))
            fail_msg("%s, step %d: %g of the largest logit, bound %g", what, i, distance, bound);
        worst = distance > worst ? distance : worst;
    }
    return worst;
}

static double divergence(const TinyChain *chain, const float *p, const float *q) {
    double top[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, result = 0;
    for (uint32_t i = 0; i < chain->model.vocab; i++) {
        top[0] = fmax(top[0], (double)p[i]);
        top[1] = fmax(top[1], (double)q[i]);
    }
    for (uint32_t i = 0; i < chain->model.vocab; i++) {
        sum[0] += exp((double)p[i] - top[0]);
        sum[1] += exp((double)q[i] - top[1]);
    }
    for (uint32_t i = 0; i < chain->model.vocab; i++) {
        double log_p = (double)p[i] - top[0] - log(sum[0]),
               log_q = (double)q[i] - top[1] - log(sum[1]);
        result += exp(log_p) * (log_p - log_q);
    }
    return result;
}

static double compare_roundings(TinyChain *chain, Logits a, Logits b) {
    double worst = 0;
    for (int i = 0; i < NUM_STEPS; i++) worst = fmax(worst, divergence(chain, b[i], a[i]));
    if (!(worst <= 1e-2)) fail_msg("machine code and level 2: a divergence of %g", worst);
    return worst;
}

static void check_model(TinyChain *chain) {
    if (!chain->model.num_layers) chain->model.num_layers = 2;
    chain->context = 64;
    tiny_chain_open(chain);
    static Logits level_1, level_2, vectors, machine;
    double bound = 2 * 10 * chain->model.num_layers * (double)chain->model.ffn * 0x1p-24;
    interpret(chain, PASS_vectorize, NUM_STEPS, level_2);
    // Scheduled rows beyond the valid ones read what nothing wrote: only whole buckets here.
    interpret(chain, PASS_lower_target, NUM_FULL, vectors);
    execute(chain, machine);
    double first = compare(chain, machine, vectors, NUM_FULL, bound, "machine code and vectors");
    if (chain->activations) {
        double second = compare_roundings(chain, machine, level_2);
        print_message("worst: %.2g of %.2g; divergence %.2g\n", first, bound, second);
    } else {
        interpret(chain, PASS_inline_functions, NUM_STEPS, level_1);
        double second =
            compare(chain, machine, level_2, NUM_STEPS, bound, "machine code and level 2");
        double third = compare(chain, level_2, level_1, NUM_STEPS, bound, "level 2 and level 1");
        print_message("worst: %.2g %.2g %.2g of %.2g\n", first, second, third, bound);
    }
    tiny_chain_close(chain);
}

#define MODEL_TEST(name, ...)                                                                      \
    static void test_##name(void **state) {                                                        \
        (void)state;                                                                               \
        check_model(&(TinyChain){__VA_ARGS__});                                                    \
    }
#define SMALL .num_heads = 4, .embd = 64, .ffn = 96

MODEL_TEST(f32, .model = {SMALL, .num_kv_heads = 2, .matrix_format = QUANT_F32})
MODEL_TEST(f16_one_kv_head, .model = {SMALL, .num_kv_heads = 1, .matrix_format = QUANT_F16})
MODEL_TEST(bf16_untied,
           .model = {SMALL, .num_kv_heads = 4, .matrix_format = QUANT_BF16, .is_untied = true})
MODEL_TEST(q4_0_halves, .model = {SMALL, .num_kv_heads = 2, .matrix_format = QUANT_Q4_0},
           .is_halves = true)
// Rows that do not fill the last tile of 16: the vocabulary, and a gated unit.
MODEL_TEST(odd_rows,
           .model = {.num_heads = 4, .embd = 64, .ffn = 88, .num_kv_heads = 2, .vocab = 277})
MODEL_TEST(odd_vocabulary_int8,
           .model = {SMALL, .num_kv_heads = 2, .vocab = 259, .is_untied = true,
                     .matrix_format = QUANT_Q5_1},
           .activations = "int8")
MODEL_TEST(odd_vocabulary_nibbles,
           .model = {SMALL, .num_kv_heads = 2, .vocab = 285, .matrix_format = QUANT_Q4_1})
MODEL_TEST(q5_1, .model = {SMALL, .num_kv_heads = 1, .matrix_format = QUANT_Q5_1})
MODEL_TEST(q8_0_int8, .model = {SMALL, .num_kv_heads = 2, .matrix_format = QUANT_Q8_0},
           .activations = "int8")
MODEL_TEST(q4_0_int8, .model = {SMALL, .num_kv_heads = 1, .matrix_format = QUANT_Q4_0},
           .activations = "int8", .kv = "f16")

// Families: biases; norms of heads, whose size is their own; both, norms behind, a window.
MODEL_TEST(biases, .model = {SMALL, .family = "qwen2", .has_biases = true, .num_kv_heads = 2,
                             .matrix_format = QUANT_Q8_0})
MODEL_TEST(biases_int8,
           .model = {SMALL, .family = "qwen2", .has_biases = true, .num_kv_heads = 2,
                     .matrix_format = QUANT_Q4_0},
           .activations = "int8", .kv = "f16")
MODEL_TEST(head_norms, .model = {SMALL, .family = "qwen3", .has_head_norms = true, .head_dim = 32,
                                 .num_kv_heads = 2, .matrix_format = QUANT_Q4_1})
#define WINDOWED                                                                                   \
    .family = "gemma3", .has_head_norms = true, .has_post_norms = true, .window = 7,               \
    .num_kv_heads = 1, .head_dim = 32
MODEL_TEST(window, .model = {SMALL, WINDOWED, .num_layers = 7})
MODEL_TEST(window_int8, .model = {SMALL, WINDOWED, .matrix_format = QUANT_Q8_0},
           .activations = "int8")

// Pages that lie before the window of every query are not read: their numbers may be nonsense.
static void test_window_bounds_reads(void **state) {
    (void)state;
    TinyChain chain = {.model = {SMALL, WINDOWED, .num_layers = 2}}; // all layers have the window
    tiny_chain_open(&chain);
    static float logits[2][MAX_VOCAB];
    IrModule *m = tiny_chain_module(&chain, PASS_lower_target, "x86-64-v3");
    for (uint32_t i = 0; i < 2; i++) {
        ChainRun run;
        chain_run_open(&run, &chain, m);
        chain_run_feed(&run, 16, ids, 16, logits[i]);
        for (uint32_t at = 16; at < 22; at++) chain_run_feed(&run, 1, ids + at, 1, logits[i]);
        run.num_lost_pages = i; // position 22 sees 16 to 22, the second page
        chain_run_feed(&run, 1, ids + 22, 1, logits[i]);
        chain_run_close(&run);
    }
    assert_memory_equal(logits[0], logits[1], chain.model.vocab * sizeof(float));
    ir_module_destroy(m);
    tiny_chain_close(&chain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_f16_one_kv_head),
        cmocka_unit_test(test_bf16_untied),
        cmocka_unit_test(test_q4_0_halves),
        cmocka_unit_test(test_q5_1),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_odd_vocabulary_int8),
        cmocka_unit_test(test_odd_vocabulary_nibbles),
        cmocka_unit_test(test_q8_0_int8),
        cmocka_unit_test(test_q4_0_int8),
        cmocka_unit_test(test_biases),
        cmocka_unit_test(test_biases_int8),
        cmocka_unit_test(test_head_norms),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_window_int8),
        cmocka_unit_test(test_window_bounds_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
