// Rules all passes obey: run again on its own output a pass changes nothing, or is refused by the
// facts it declares; an order that breaks a declaration is refused, naming both passes; every
// setting of a recipe shows in the IR.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../chain/tiny_chain.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "passes/kernel_alike.h"

static char *text_of(IrModule *m) { // without the record of what has run
    const IrAttr *record = ir_op_attr(m->op, "ingot.passes");
    ir_op_set_attr(m, m->op, "ingot.passes", NULL);
    StrBuf text = {0};
    ir_print(m, NULL, &text);
    if (record) ir_op_set_attr(m, m->op, "ingot.passes", record);
    return text.data;
}

static void open_model(TinyChain *chain) {
    chain->model.num_layers = 2;
    if (!chain->model.num_heads) chain->model.num_heads = 4;
    if (!chain->model.num_kv_heads) chain->model.num_kv_heads = 2;
    chain->model.embd = 64;
    chain->model.ffn = 96;
    tiny_chain_open(chain);
}

// ---- run again

static void report_difference(const char *pass, const char *before, const char *after) {
    size_t i = 0;
    while (before[i] && before[i] == after[i]) i++;
    size_t line = i;
    while (line > 0 && before[line - 1] != '\n') line--;
    print_error("%s changes its own output:\n%.200s\n%.200s\n", pass, before + line, after + line);
}

static void check_twice(TinyChain *chain) {
    open_model(chain);
    uint32_t num_same = 0, num_refused = 0, num_changed = 0;
    IrModule *m = tiny_chain_module(chain, (PassId)0, "x86-64-v3");
    for (int i = 0; i < NUM_PASSES; i++) {
        PassId id = (PassId)i;
        tiny_chain_advance(chain, m, (PassId)(i + 1));
        char *before = text_of(m);
        IrModule *again = ir_module_clone(m);
        DiagSink sink;
        diag_sink_init(&sink);
        Status status = pass_pipeline_run(again, &(PassPipeline){.ids = &id, .num_ids = 1}, &sink);
        if (status == STATUS_OK) {
            char *after = text_of(again);
            if (!str_equal(before, after)) report_difference(pass_info(id)->name, before, after);
            num_same += str_equal(before, after);
            num_changed += !str_equal(before, after);
            free(after);
        } else {
            bool is_refused = sink.num_diags == 1 && sink.diags[0].code == DIAG_P0001;
            if (!is_refused)
                print_error("%s, run again: %s\n", pass_info(id)->name, sink.diags[0].message);
            num_refused += is_refused;
            num_changed += !is_refused;
        }
        diag_sink_deinit(&sink);
        ir_module_destroy(again);
        free(before);
    }
    print_message("%u change nothing, %u are refused\n", num_same, num_refused);
    ir_module_destroy(m);
    tiny_chain_close(chain);
    if (num_changed) fail_msg("%u passes do", num_changed);
}

static void test_twice(void **state) {
    (void)state;
    check_twice(&(TinyChain){.model = {.matrix_format = QUANT_F32}});
    check_twice(
        &(TinyChain){.model = {.matrix_format = QUANT_Q4_1}, .activations = "int8", .kv = "f16"});
    check_twice(&(TinyChain){.model = {.matrix_format = QUANT_Q5_0}, .activations = "bf16"});
}

// ---- orders

static void expect_refused(TinyChain *chain, const PassId *ids, size_t num, const char *pass,
                           const char *other) {
    IrModule *m = ir_module_clone(chain->imported);
    DiagSink sink;
    diag_sink_init(&sink);
    Status status = pass_pipeline_run(m, &(PassPipeline){.ids = ids, .num_ids = num}, &sink);
    assert_int_equal(status, STATUS_INVALID);
    StrBuf text = {0};
    diag_render(&sink, &text);
    assert_int_equal(sink.diags[0].code, DIAG_P0001);
    if (!strstr(text.data, pass) || !strstr(text.data, other))
        fail_msg("%s and %s are not both named: %s", pass, other, text.data);
    strbuf_deinit(&text);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
}

// Every pass that needs something, without what comes before it: the first of its facts nothing
// establishes.
static void test_missing_facts(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_F32}};
    open_model(&chain);
    uint32_t num = 0;
    for (int i = 0; i < NUM_PASSES; i++) {
        const PassInfo *info = pass_info((PassId)i);
        if (!info->needs) continue;
        uint32_t fact = 0;
        while (!(info->needs >> fact & 1)) fact++;
        int maker = 0;
        while (!(pass_info((PassId)maker)->establishes >> fact & 1)) maker++;
        PassId id = (PassId)i;
        expect_refused(&chain, &id, 1, info->name, pass_info((PassId)maker)->name);
        num++;
    }
    assert_true(num > 10);
    tiny_chain_close(&chain);
}

static void test_destroyed_fact(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_0}};
    open_model(&chain);
    static const PassId ids[] = {PASS_bind_recipe,      PASS_refine_shapes, PASS_split_buckets,
                                 PASS_inline_functions, PASS_canonicalize,  PASS_lower_quant,
                                 PASS_raise_patterns};
    expect_refused(&chain, ids, ARRAY_LEN(ids), "raise-patterns", "lower-quant");
    static const PassId early[] = {PASS_bind_recipe, PASS_split_buckets};
    expect_refused(&chain, early, ARRAY_LEN(early), "split-buckets", "refine-shapes");
    tiny_chain_close(&chain);
}

// Any list of passes runs or is refused in words: an order that breaks a declaration names the pass
// and the one that undoes or would establish what it needs.
static void test_any_order(void **state) {
    (void)state;
    enum { NUM_LISTS = 150, MAX_LEN = 8 };
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_0}, .activations = "int8"};
    open_model(&chain);
    uint32_t seed = 1, num_refused = 0, num_ran = 0;
    for (uint32_t list = 0; list < NUM_LISTS; list++) {
        PassId ids[MAX_LEN];
        size_t num = 1 + list % MAX_LEN;
        for (size_t i = 0; i < num; i++) { // mostly forwards, with repetitions and leaps
            seed = seed * 1664525u + 1013904223u;
            uint32_t r = seed >> 16;
            ids[i] = (PassId)(r % 3 == 0 || i == 0 ? r / 3 % (i ? NUM_PASSES : 3)
                                                   : MIN((uint32_t)ids[i - 1] + 1, NUM_PASSES - 1));
        }
        IrModule *m = ir_module_clone(chain.imported);
        DiagSink sink;
        diag_sink_init(&sink);
        Status status = pass_pipeline_run(m, &(PassPipeline){.ids = ids, .num_ids = num}, &sink);
        num_ran += status == STATUS_OK;
        if (status != STATUS_OK) {
            assert_true(sink.num_diags > 0);
            const Diag *diag = &sink.diags[0];
            bool is_order = diag->code == DIAG_P0001;
            num_refused += is_order;
            uint32_t num_named = 0;
            StrBuf text = {0};
            diag_render(&sink, &text);
            for (int i = 0; i < NUM_PASSES; i++)
                num_named += strstr(text.data, pass_info((PassId)i)->name) != NULL;
            if (is_order && num_named < 2) fail_msg("two passes are not named: %s", text.data);
            if (is_order && !diag->evidence) fail_msg("no reason: %s", text.data);
            strbuf_deinit(&text);
        }
        diag_sink_deinit(&sink);
        ir_module_destroy(m);
    }
    print_message("%u lists run, %u are refused for their order\n", num_ran, num_refused);
    assert_true(num_refused > 20 && num_ran > 20);
    tiny_chain_close(&chain);
}

// ---- settings

static char *text_after(TinyChain *chain, PassId end) {
    open_model(chain);
    IrModule *m = tiny_chain_module(chain, end, "x86-64-v3");
    char *text = text_of(m);
    ir_module_destroy(m);
    tiny_chain_close(chain);
    return text;
}

// One of the two has `what`, the other has not.
static void expect_only_in(TinyChain with, TinyChain without, PassId end, const char *what) {
    char *there = text_after(&with, end), *not_there = text_after(&without, end);
    if (!strstr(there, what)) fail_msg("no `%s`", what);
    if (strstr(not_there, what)) fail_msg("`%s` is there too", what);
    free(there);
    free(not_there);
}

#define Q4 .model = {.matrix_format = QUANT_Q4_0}

static void test_settings(void **state) {
    (void)state;
    const TinyChain plain = {Q4}, int8 = {Q4, .activations = "int8"},
                    bf16 = {Q4, .activations = "bf16"};
    expect_only_in(int8, plain, PASS_bind_kv_cache, "ingot.contract = \"dot\"");
    expect_only_in(plain, int8, PASS_bind_kv_cache, "ingot.contract = \"weights\"");
    expect_only_in(bf16, plain, PASS_bind_kv_cache, "arith.truncf");
    const TinyChain f16 = {Q4, .kv = "f16"};
    expect_only_in(f16, plain, PASS_bind_kv_cache, "tensor<4x16x2x16xf16>");
    expect_only_in(plain, f16, PASS_bind_kv_cache, "tensor<4x16x2x16xf32> {ingot.kv = \"k\"");

    const TinyChain apart = {Q4, .more = "input_layouts: {qkv_packed: false}\n"};
    static const char qkv[] =
        "ingot.param = [\"blk.0.attn_q.weight\", \"blk.0.attn_k.weight\", \"blk.0.attn_v.weight\"]";
    expect_only_in(plain, apart, PASS_split_buckets, qkv);
    const TinyChain no_rule = {Q4,
                               .more = "fusion_rules:\n  - {pattern: qkv_proj, enabled: false}\n"};
    expect_only_in(plain, no_rule, PASS_split_buckets, qkv);
    const TinyChain two = {Q4,
                           .more = "fusion_rules:\n  - {pattern: mlp_gate_up, enabled: false}\n"};
    static const char gate_up[] =
        "ingot.param = [\"blk.0.ffn_gate.weight\", \"blk.0.ffn_up.weight\"]";
    expect_only_in(plain, two, PASS_split_buckets, gate_up);

    const TinyChain larger = {Q4, .bucket = 24};
    expect_only_in(larger, plain, PASS_lower_quant, "@forward_s24(");
    expect_only_in(plain, larger, PASS_lower_quant, "@forward_s16(");
    const TinyChain longer = {Q4, .context = 128};
    expect_only_in(longer, plain, PASS_bind_kv_cache, "tensor<8x16x2x16xf32>");
    expect_only_in(longer, plain, PASS_bind_kv_cache, "max_pages = 8");
}
#undef Q4

static void test_levels(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_0}, .activations = "int8"};
    open_model(&chain);
    static const struct {
        const char *level, *primitive;
    } rows[] = {{"x86-64-v3", "llvm.x86.avx2.pmadd.ub.sw"},
                {"v3-vnni", "llvm.x86.avx512.vpdpbusd.256"},
                {"x86-64-v4", "llvm.x86.avx512.pmaddubs.w.512"},
                {"v4-vnni", "llvm.x86.avx512.vpdpbusd.512"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        IrModule *m = tiny_chain_module(&chain, PASS_lower_target, rows[i].level);
        char *text = text_of(m);
        for (size_t j = 0; j < ARRAY_LEN(rows); j++)
            if ((strstr(text, rows[j].primitive) != NULL) != (i == j))
                fail_msg("%s and %s", rows[i].level, rows[j].primitive);
        free(text);
        ir_module_destroy(m);
    }
    tiny_chain_close(&chain);
}

// ---- kernels that share what their candidates cost

#define ROWS_KERNEL(name, rows, width)                                                             \
    "func.func private @" name "(%x: memref<" rows "x" width "xf32>, %y: memref<" rows "x" width   \
    "xf32>) {\n"                                                                                   \
    "  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,"                             \
    " affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}\n"             \
    "    ins(%x : memref<" rows "x" width "xf32>) outs(%y : memref<" rows "x" width "xf32>) {\n"   \
    "  ^bb0(%a: f32, %o: f32):\n    linalg.yield %a : f32\n  }\n  return\n}\n"

// A kernel of 128 rows is alike to one of 8; a width is never taken for rows, though it be as many
// times the rows as that of the other kernel.
static void test_alike(void **state) {
    (void)state;
    static const char text[] = ROWS_KERNEL("a", "8", "32") ROWS_KERNEL("b", "128", "32")
        ROWS_KERNEL("c", "128", "512") ROWS_KERNEL("d", "256", "32");
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = NULL;
    assert_int_equal(ir_parse(text, sizeof text - 1, "alike", &sink, &m), STATUS_OK);
    const IrOp *a = ir_symbol_find(m, "a");
    assert_true(kernel_is_alike(a, 8, ir_symbol_find(m, "b"), 128));
    assert_true(kernel_is_alike(a, 8, ir_symbol_find(m, "d"), 256));
    assert_false(kernel_is_alike(a, 8, ir_symbol_find(m, "d"), 128)); // twice its rows
    assert_false(kernel_is_alike(a, 8, ir_symbol_find(m, "c"), 128));
    assert_false(kernel_is_alike(ir_symbol_find(m, "b"), 128, ir_symbol_find(m, "c"), 128));
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twice),          cmocka_unit_test(test_missing_facts),
        cmocka_unit_test(test_destroyed_fact), cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_settings),       cmocka_unit_test(test_levels),
        cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
