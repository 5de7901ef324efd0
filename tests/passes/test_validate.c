// The validator of passes (passes/validate.h): the pipeline as it is passes, and each of the faults
// of tests/passes/mutations.def, switched on alone, is found at the pass that has it, and that pass
// named. The passes of this test are built with the faults in them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../chain/tiny_chain.h"
#include "../sanitized.h"
#include "abi/cpu.h"
#include "compiler/validate_native.h"
#include "ir/parse.h"
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

// A module of text whose sizes vary: what reduces over them sees padding, unless it is masked.
static const char sized_text[] =
    "#id = affine_map<(i, j) -> (i, j)>\n"
    "#row = affine_map<(i, j) -> (i)>\n"
    "module attributes {ingot.config = {threads = 2 : i64}} {\n"
    "  func.func @main(%x: tensor<?x6xf32> {ingot.dims = [\"n\", \"\"], ingot.name = \"x\"},\n"
    "      %w: tensor<6x?xf32> {ingot.dims = [\"\", \"k\"], ingot.name = \"w\"},\n"
    "      %s: tensor<?xf32> {ingot.dims = [\"n\"], ingot.name = \"s\"}, %f: f32 {ingot.name = "
    "\"f\"})\n"
    "      -> (tensor<?xf32> {ingot.name = \"r\"}, tensor<?x?xf32> {ingot.name = \"t\"},\n"
    "          f32 {ingot.name = \"u\"})\n"
    "      attributes {ingot.ranges = {k = {at = \"m:1\", max = 5 : i64, min = 1 : i64, step = 5 : "
    "i64},\n"
    "                                  n = {at = \"m:1\", max = 7 : i64, min = 2 : i64, step = 4 : "
    "i64}}} {\n"
    "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
    "    %n = tensor.dim %x, %c0 : tensor<?x6xf32>\n    %k = tensor.dim %w, %c1 : tensor<6x?xf32>\n"
    "    %zero = arith.constant 0.0 : f32\n"
    "    %e = tensor.empty(%n, %k) : tensor<?x?xf32>\n"
    "    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
    "    %p = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x?xf32>) outs(%z : "
    "tensor<?x?xf32>)"
    " -> tensor<?x?xf32>\n"
    "    %t = linalg.softmax dimension(1) ins(%p : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)"
    " -> tensor<?x?xf32>\n"
    "    %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = [\"parallel\","
    " \"reduction\"]} ins(%p : tensor<?x?xf32>) outs(%s : tensor<?xf32>) {\n"
    "    ^bb0(%a: f32, %o: f32):\n      %m = arith.mulf %a, %f : f32\n"
    "      %b = arith.addf %o, %m : f32\n      linalg.yield %b : f32\n    } -> tensor<?xf32>\n"
    "    %q = tensor.extract %r[%c1] : tensor<?xf32>\n"
    "    return %r, %t, %q : tensor<?xf32>, tensor<?x?xf32>, f32\n  }\n}\n";

static IrModule *sized_module(void) {
    DiagSink sink;
    IrModule *m = NULL;
    diag_sink_init(&sink);
    if (ir_parse(sized_text, strlen(sized_text), "sized.mlir", &sink, &m) != STATUS_OK) {
        StrBuf said = {0};
        diag_render(&sink, &said);
        fail_msg("%s", said.data);
    }
    diag_sink_deinit(&sink);
    return m;
}

// The whole pipeline for this machine, every pass validated; takes the module.
static Outcome validate_module(IrModule *m, uint64_t seed) {
    CpuLevel level;
    bool can_run = cpu_host_level(&level);
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
    static char worst[64]; // the name is the validator's
    if (out.report.worst_function) {
        snprintf(worst, sizeof worst, "%s", out.report.worst_function);
        out.report.worst_function = worst;
    }
    validate_destroy(v);
    native_deinit(&native);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
    return out;
}

static Outcome validate_chain(TinyChain *chain, uint64_t seed) {
    return validate_module(ir_module_clone(chain->imported), seed);
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
    TinyChain narrow = make_chain(QUANT_Q4_1, "int8", "f16");
    narrow.precision = ", default: bf16, residual_precision: fp16_sum32";
    expect_clean(narrow, 4);
}

// Every version of an entry is compared with what it was made from, at sizes around its bucket, and
// goes on being compared at them.
static void test_sizes_that_vary(void **state) {
    (void)state;
    Outcome out = validate_module(sized_module(), 1);
    if (out.status != STATUS_OK) fail_msg("%s", out.text);
    assert_int_equal(out.report.num_passes, NUM_PASSES);
    assert_int_equal(out.report.num_skipped[VALIDATE_SKIP_INPUTS], 0);
    // Of split-buckets alone two versions by at least five cases each.
    assert_true(out.report.num_runs >= out.report.num_compared + 2 * 5);
    free(out.text);
}

static bool is_caught_at(const Outcome *out, PassId id, bool *out_by_verifier) {
    // The verifier, which runs before the interpreter, sees overlapping buffers already.
    char by_results[128], by_verifier[128];
    const char *pass = pass_info(id)->name;
    snprintf(by_results, sizeof by_results, "pass %s changes the results of", pass);
    snprintf(by_verifier, sizeof by_verifier, "found by the verifier after pass %s", pass);
    *out_by_verifier = strstr(out->text, by_verifier) != NULL;
    return out->status != STATUS_OK && (strstr(out->text, by_results) || *out_by_verifier);
}

static void test_mutations(void **state) {
    (void)state;
    TinyChain chain = make_chain(QUANT_Q4_1, "int8", "f16");
    chain.precision = ", activation_precision: bf16"; // for DROPPED_TYPE
    tiny_chain_open(&chain);
    const char *one = getenv("INGOT_TEST_MUTATION");
    uint32_t num_missed = 0;
    for (int i = 0; i < NUM_MUTATIONS; i++) {
        if (one ? !str_equal(one, mutations[i].name) : IS_SANITIZED && i % 5) continue;
        mutation_chosen = i;
        Outcome out = validate_chain(&chain, 1);
        bool is_sized = out.status == STATUS_OK; // nothing in a language model
        if (is_sized) {
            free(out.text);
            out = validate_module(sized_module(), 1);
        }
        mutation_chosen = -1;
        bool by_verifier, is_caught = is_caught_at(&out, mutations[i].pass, &by_verifier);
        print_message("%-18s %-17s %s%s\n", mutations[i].name, pass_info(mutations[i].pass)->name,
                      !is_caught    ? "NOT CAUGHT"
                      : by_verifier ? "caught by the verifier"
                                    : "caught",
                      is_sized ? ", in a module of sizes that vary" : "");
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
        cmocka_unit_test(test_sizes_that_vary),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
