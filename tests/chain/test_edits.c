// The machine code is made from the IR that is printed: a constant changed in the text of a dump
// changes the answers, by as much as the interpreter says of the changed module; a dump that is not
// changed gives the same artifact, byte for byte, wherever it was taken.
//
// Bound between machine code and interpreter: test_levels.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/plan.h"
#include "chain_run.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/vectorize.h"

enum { NUM_IDS = 16, MAX_VOCAB = 512 };
static const int32_t ids[NUM_IDS] = {5, 17, 39, 0, 21, 5, 12, 200, 271, 90, 91, 92, 1, 2, 3, 77};
static const char level_name[] = "x86-64-v3";

typedef struct Answer {
    float prefill[MAX_VOCAB], decode[MAX_VOCAB];
} Answer;

// The module with every `from` in its text replaced by `to`.
static IrModule *edit(TinyChain *chain, const IrModule *m, const char *from, const char *to) {
    StrBuf text = {0}, edited = {0};
    ir_print(m, NULL, &text);
    uint32_t count = 0;
    const char *at = text.data;
    for (const char *hit; (hit = strstr(at, from)); at = hit + strlen(from), count++) {
        strbuf_append(&edited, at, (size_t)(hit - at));
        strbuf_append(&edited, to, strlen(to));
    }
    strbuf_append(&edited, at, strlen(at));
    if (count == 0) fail_msg("the module has no `%s`", from);
    char *kept = arena_strndup(&chain->sink.arena, edited.data, edited.len);
    size_t len = edited.len;
    strbuf_deinit(&text);
    strbuf_deinit(&edited);
    IrModule *out;
    tiny_chain_expect_ok(chain, ir_parse(kept, len, "edited.mlir", &chain->sink, &out));
    tiny_chain_expect_ok(chain, ir_verify(out, NULL, &chain->sink));
    return out;
}

static void interpret(TinyChain *chain, IrModule *m, Answer *out) {
    ChainRun run;
    chain_run_open(&run, chain, m);
    chain_run_feed(&run, NUM_IDS, ids, NUM_IDS, out->prefill);
    chain_run_feed(&run, 1, ids, 1, out->decode);
    chain_run_close(&run);
}

static void execute(TinyChain *chain, const IrModule *m, Answer *out) {
    ChainFolder folder;
    ChainArtifact artifact;
    chain_folder_open(&folder, chain);
    chain_folder_resume(&folder, m);
    chain_artifact_open(&artifact, &folder, 1, level_name);
    chain_artifact_feed(&artifact, ids, NUM_IDS, out->prefill);
    chain_artifact_feed(&artifact, ids, 1, out->decode);
    chain_artifact_close(&artifact);
    chain_folder_close(&folder);
}

static double distance(const TinyChain *chain, const Answer *a, const Answer *b) {
    double prefill = chain_distance(chain, a->prefill, b->prefill);
    double decode = chain_distance(chain, a->decode, b->decode);
    return prefill > decode ? prefill : decode;
}

// Edits the module as it stands before `at`, and compares machine code with the interpreter, and
// both with the unedited module.
static void check_edit(TinyChain *chain, PassId at, const char *from, const char *to) {
    bool is_level_2 = at > PASS_loop_schedule;
    IrModule *m = tiny_chain_module(chain, at, is_level_2 ? level_name : NULL);
    IrModule *edited = edit(chain, m, from, to);
    static Answer before, after, machine;
    double bound = 2 * 10 * (double)chain->model.ffn * 0x1p-24;
    execute(chain, edited, &machine);
    if (chain->activations && !is_level_2) { // the rounding to int8 comes later, see test_levels.c
        tiny_chain_set_target(m, level_name);
        tiny_chain_set_target(edited, level_name);
        tiny_chain_advance(chain, m, PASS_lower_target);
        tiny_chain_advance(chain, edited, PASS_lower_target);
    }
    interpret(chain, m, &before);
    interpret(chain, edited, &after);
    double change = distance(chain, &after, &before), error = distance(chain, &machine, &after);
    print_message("`%s` -> `%s`: changes %.3g, machine code is %.2g off\n", from, to, change,
                  error);
    if (!(change > 8 * bound)) fail_msg("the edit changes the answers by %g only", change);
    if (!(error <= bound)) fail_msg("machine code is %g off, bound %g", error, bound);
    ir_module_destroy(m);
    ir_module_destroy(edited);
}

static void open_model(TinyChain *chain) {
    TinyModel shape = {.num_layers = 1,
                       .num_heads = 4,
                       .num_kv_heads = 2,
                       .embd = 64,
                       .ffn = 96,
                       .matrix_format = chain->model.matrix_format};
    chain->model = shape;
    chain->context = 64;
    tiny_chain_open(chain);
}

static void test_zero_point_at_level_1(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_0}};
    open_model(&chain);
    check_edit(&chain, PASS_inline_functions, "arith.constant 8 : i8", "arith.constant 7 : i8");
    tiny_chain_close(&chain);
}

static void test_zero_point_at_level_1_int8(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_0}, .activations = "int8"};
    open_model(&chain);
    check_edit(&chain, PASS_inline_functions, "arith.constant 8 : i8", "arith.constant 7 : i8");
    tiny_chain_close(&chain);
}

static void test_constants_at_level_2(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_F32}};
    open_model(&chain);
    check_edit(&chain, PASS_vectorize, "arith.constant 9.99999974E-6 : f32",
               "arith.constant 1.000000e+00 : f32");
    check_edit(&chain, PASS_vectorize, "arith.constant 2.500000e-01 : f32",
               "arith.constant 5.000000e-01 : f32");
    check_edit(&chain, PASS_lower_target, "dense<2.500000e-01>", "dense<5.000000e-01>");
    tiny_chain_close(&chain);
}

// The schedule of a matrix product with one row, or with the most rows in registers.
static Schedule schedule_of(IrModule *m, bool is_single_row) {
    Schedule best = {.row_tile = 1}, s;
    FOR_EACH_OP(op, ir_module_body(m)) {
        const IrAttr *kind = ir_op_attr(op, "ingot.kernel");
        if (!kind || !str_equal(kind->str, "matmul") || !schedule_read(op, &s)) continue;
        if (is_single_row ? s.row_tile == 1 : s.row_tile > best.row_tile) best = s;
    }
    assert_int_equal(best.row_tile == 1, is_single_row);
    assert_true(best.lanes > 0);
    return best;
}

static void put_schedule(char *out, size_t len, const Schedule *s) {
    char columns[32] = "";
    if (s->col_tile > 1)
        snprintf(columns, sizeof columns, "col_tile = %d : i64, ", (int)s->col_tile);
    snprintf(out, len, "ingot.schedule = {%slanes = %d : i64, row_tile = %d : i64}", columns,
             (int)s->lanes, (int)s->row_tile);
}

// Another number of rows in registers, or of weight streams, is other code with the same answers.
static void check_schedule_edit(TinyChain *chain, bool is_single_row) {
    IrModule *m = tiny_chain_module(chain, PASS_plan_memory, level_name);
    char from[128], to[128];
    Schedule s = schedule_of(m, is_single_row);
    put_schedule(from, sizeof from, &s);
    if (is_single_row)
        s.col_tile++;
    else
        s.row_tile--;
    put_schedule(to, sizeof to, &s);
    IrModule *edited = edit(chain, m, from, to);
    static Answer before, after;
    execute(chain, m, &before);
    execute(chain, edited, &after);
    assert_memory_equal(&before, &after, sizeof before);
    ChainFolder one, two;
    chain_folder_open(&one, chain);
    chain_folder_open(&two, chain);
    chain_folder_resume(&one, m);
    chain_folder_resume(&two, edited);
    size_t len, other_len;
    char *bytes = chain_read_file(one.artifact, &len),
         *other = chain_read_file(two.artifact, &other_len);
    assert_false(len == other_len && memcmp(bytes, other, len) == 0);
    free(bytes);
    free(other);
    chain_folder_close(&one);
    chain_folder_close(&two);
    ir_module_destroy(m);
    ir_module_destroy(edited);
}

static void test_schedule(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_0}, .activations = "int8"};
    open_model(&chain);
    check_schedule_edit(&chain, false);
    check_schedule_edit(&chain, true);
    tiny_chain_close(&chain);
}

// The same sections, the manifest left out.
static bool is_same_program(const char *a, const char *b) {
    ArtifactHeader x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if (x.num_sections != y.num_sections) return false;
    for (uint32_t i = 0; i < x.num_sections; i++) {
        SectionEntry s, t;
        memcpy(&s, a + x.sections_offset + i * sizeof s, sizeof s);
        memcpy(&t, b + y.sections_offset + i * sizeof t, sizeof t);
        if (s.kind != t.kind || s.tag != t.tag) return false;
        if (s.kind == SECTION_MANIFEST) continue;
        if (s.len_bytes != t.len_bytes || s.checksum != t.checksum) return false;
    }
    return true;
}

// Resumed after any pass, the same program comes out; up to the pass that reads the fusion record
// off the module, the same record too, and so the same file.
static void test_every_dump_goes_on(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_1}, .activations = "int8", .kv = "f16"};
    open_model(&chain);
    ChainFolder folder;
    chain_folder_open(&folder, &chain);
    CpuLevel level;
    assert_true(cpu_level_find(level_name, &level));
    CompileOptions options = {.levels = 1u << level, .dump_after = "all", .dump_dir = folder.path};
    chain_folder_compile(&folder, &options);
    size_t len;
    char *whole = chain_read_file(folder.artifact, &len);
    uint32_t num_dumps = 0;
    for (int i = 0; i < PASS_lower_target; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%02d-%s.mlir", folder.path, i + 1,
                 pass_info((PassId)i)->name);
        chain_folder_compile(&folder,
                             &(CompileOptions){.levels = 1u << level, .resume_from = path});
        size_t other_len;
        char *other = chain_read_file(folder.artifact, &other_len);
        bool is_same = i <= PASS_hold_fusion ? len == other_len && memcmp(whole, other, len) == 0
                                             : is_same_program(whole, other);
        if (!is_same)
            fail_msg("resumed after %s, the artifact differs", pass_info((PassId)i)->name);
        free(other);
        num_dumps++;
    }
    print_message("%u dumps\n", num_dumps);
    free(whole);
    chain_folder_close(&folder);
    tiny_chain_close(&chain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_point_at_level_1),
        cmocka_unit_test(test_zero_point_at_level_1_int8),
        cmocka_unit_test(test_constants_at_level_2),
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_every_dump_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
