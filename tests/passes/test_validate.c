// The validator of passes (passes/validate.h): the pipeline as it is passes, and each of the faults
// of passes/mutations.def, switched on alone, is found at the pass that has it, and that pass
// named. The passes of this test are built with the faults in them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../chain/tiny_chain.h"
#include "abi/cpu.h"
#include "compiler/validate_native.h"
#include "passes/mutate.h"
#include "passes/validate.h"

int mutation_chosen = -1;

static const struct {
    const char *name, *what;
    PassId pass;
} mutations[NUM_MUTATIONS] = {
#define MUTATION(id, pass, what) {#id, what, PASS_##pass},
#include "passes/mutations.def"
#undef MUTATION
};

typedef struct Outcome {
    Status status;
    char *text; // of the diagnostics
    ValidateReport report;
} Outcome;

// The whole pipeline for this machine, every pass validated.
static Outcome validate_chain(TinyChain *chain, uint64_t seed) {
    CpuLevel level;
    bool can_run = cpu_host_level(&level);
    IrModule *m = ir_module_clone(chain->imported);
    tiny_chain_set_target(m, can_run ? cpu_level_info(level)->name : "x86-64-v3");
    PassId ids[NUM_PASSES];
    for (int i = 0; i < NUM_PASSES; i++) ids[i] = (PassId)i;
    NativeCode native = {.num_threads = 1};
    ValidateOptions options = {.seed = seed, .native = native_call, .native_ctx = &native};
    Validator *v = validate_create(&options);
    DiagSink sink;
    diag_sink_init(&sink);
    PassPipeline pipeline = {
        .ids = ids, .num_ids = NUM_PASSES, .hook = validate_hook, .hook_ctx = v};
    Outcome out = {.status = pass_pipeline_run(m, &pipeline, &sink)};
    StrBuf text = {0};
    diag_render(&sink, &text);
    out.text = strbuf_take(&text);
    out.report = validate_report(v);
    if (out.report.worst_function) // the validator's
        out.report.worst_function = arena_strdup(&chain->sink.arena, out.report.worst_function);
    validate_destroy(v);
    native_deinit(&native);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
    return out;
}

static TinyChain make_chain(QuantFormat format, const char *activations, const char *kv) {
    return (TinyChain){.model = {.matrix_format = format,
                                 .num_layers = 2,
                                 .num_heads = 2,
                                 .num_kv_heads = 1,
                                 .embd = 32,
                                 .ffn = 64,
                                 .vocab = 48},
                       .activations = activations,
                       .kv = kv,
                       .bucket = 8,
                       .context = 32};
}

static void expect_clean(TinyChain chain, uint64_t seed) {
    mutation_chosen = -1;
    tiny_chain_open(&chain);
    Outcome out = validate_chain(&chain, seed);
    if (out.status != STATUS_OK) fail_msg("%s", out.text);
    StrBuf text = {0};
    validate_report_text(&out.report, &text);
    print_message("%s", text.data);
    strbuf_deinit(&text);
    assert_int_equal(out.report.num_passes, NUM_PASSES);
    assert_true(out.report.num_compared > 60);
    // Everything of a model this small is within the bounds.
    assert_int_equal(out.report.num_skipped[VALIDATE_SKIP_OPS], 0);
    assert_int_equal(out.report.num_skipped[VALIDATE_SKIP_BYTES], 0);
    assert_int_equal(out.report.num_skipped[VALIDATE_SKIP_INPUTS], 0);
    free(out.text);
    tiny_chain_close(&chain);
}

static void test_pipeline_is_clean(void **state) {
    (void)state;
    expect_clean(make_chain(QUANT_F32, "f32", "f32"), 1);
    expect_clean(make_chain(QUANT_Q4_1, "int8", "f16"), 2);
    expect_clean(make_chain(QUANT_Q8_0, "bf16", "f16"), 3);
}

static void test_mutations(void **state) {
    (void)state;
    TinyChain chain = make_chain(QUANT_Q4_1, "int8", "f16");
    tiny_chain_open(&chain);
    const char *one = getenv("INGOT_TEST_MUTATION");
    uint32_t num_missed = 0;
    for (int i = 0; i < NUM_MUTATIONS; i++) {
        if (one && !str_equal(one, mutations[i].name)) continue;
        mutation_chosen = i;
        Outcome out = validate_chain(&chain, 1);
        mutation_chosen = -1;
        const char *pass = pass_info(mutations[i].pass)->name;
        // The verifier, which runs before the interpreter, sees overlapping buffers already.
        char by_results[128], by_verifier[128];
        snprintf(by_results, sizeof by_results, "pass %s changes the results of", pass);
        snprintf(by_verifier, sizeof by_verifier, "found by the verifier after pass %s", pass);
        bool is_caught = out.status != STATUS_OK &&
                         (strstr(out.text, by_results) || strstr(out.text, by_verifier));
        print_message("%-18s %-17s %s\n", mutations[i].name, pass,
                      !is_caught                      ? "NOT CAUGHT"
                      : strstr(out.text, by_verifier) ? "caught by the verifier"
                                                      : "caught");
        if (!is_caught) print_error("%s: %s\n%s\n", mutations[i].name, mutations[i].what, out.text);
        num_missed += !is_caught;
        free(out.text);
    }
    tiny_chain_close(&chain);
    if (num_missed) fail_msg("%u faults are not found", num_missed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipeline_is_clean),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
