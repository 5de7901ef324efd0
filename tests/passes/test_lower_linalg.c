// bufferize and lower-linalg against the interpreter: every kernel of tests/passes/kernels runs as it
// is written, with buffers, and as loops, on the same random inputs.
// Arguments say what they need: ingot.test = value of an index, ingot.test_range = values of integers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/float16.h"
#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/lower_linalg.h"
#include "passes/pass.h"

enum { MAX_ARGS = 24, MAX_ROW_SPLITS = 3 };

static void fail_with(const DiagSink *sink, const char *what) {
    StrBuf text = {0};
    diag_render(sink, &text);
    fail_msg("%s: %s", what, text.data ? text.data : "no diagnostic");
}

static uint64_t random_state;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
static double next_real(void) { return (double)(next_random() >> 11) / (double)(1ull << 52) * 4.0 - 4.0; }

static void put_elem(const IrType *elem, uint8_t *at, int64_t range) {
    float f = (float)next_real();
    uint64_t bits = range > 0 ? next_random() % (uint64_t)range : next_random();
    uint16_t half = f16_from_f32(f);
    switch (elem->kind) {
    case IR_TYPE_F32: memcpy(at, &f, 4); break;
    case IR_TYPE_F16: memcpy(at, &half, 2); break;
    case IR_TYPE_BF16:
        half = bf16_from_f32(f);
        memcpy(at, &half, 2);
        break;
    default: memcpy(at, &bits, ir_type_bytes(elem));
    }
}

// Distinct values where a range is given, so that a page table names no page twice.
static void fill(const IrType *type, uint8_t *data, int64_t range) {
    uint32_t size = ir_type_bytes(type->elem);
    int64_t num = ir_type_num_elems(type);
    for (int64_t i = 0; i < num; i++) put_elem(type->elem, data + i * size, range);
    if (range != num || type->elem->kind != IR_TYPE_INT) return;
    for (int64_t i = 0; i < num; i++) {
        int64_t value = (i * 3 + 1) % num;
        memcpy(data + i * size, &value, size);
    }
}

static uint64_t bytes_of(const IrType *type) {
    return (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
}

typedef struct Case {
    const IrType *inputs[MAX_ARGS], *results[MAX_ARGS];
    uint32_t num_inputs, num_results;
    uint8_t *data[MAX_ARGS];     // of tensor inputs
    int64_t scalars[MAX_ARGS];   // of index inputs
    int32_t tied[MAX_ARGS];      // result tied to the input, or -1
    uint8_t *expected[MAX_ARGS]; // of the results
    double magnitude;  // of the terms of sums that may be reordered
    int64_t num_tiles; // 0: not a kernel
    int64_t rows;                // leading size tiles stand for, 0 if tiles are not rows
} Case;

static void make_case(IrModule *m, const IrOp *func, Case *c) {
    const IrType *type = ir_func_type(func);
    memset(c, 0, sizeof *c);
    c->num_inputs = type->num_inputs;
    c->num_results = type->num_results;
    assert_true(c->num_inputs <= MAX_ARGS && c->num_results <= MAX_ARGS);
    random_state = 0x9e3779b97f4a7c15ull;
    IrInterpValue args[MAX_ARGS], results[MAX_ARGS] = {0};
    int64_t scalars[MAX_ARGS];
    uint32_t num_scalars = 0;
    for (uint32_t i = 0; i < c->num_inputs; i++) {
        const IrAttr *value = ir_func_arg_attr(func, i, "ingot.test");
        const IrAttr *range = ir_func_arg_attr(func, i, "ingot.test_range");
        const IrAttr *tied = ir_func_arg_attr(func, i, "ingot.inout");
        c->inputs[i] = type->inputs[i];
        c->tied[i] = tied ? (int32_t)tied->i : -1;
        args[i] = (IrInterpValue){.type = type->inputs[i]};
        if (ir_type_is_scalar(type->inputs[i])) {
            assert_non_null(value);
            c->scalars[i] = scalars[num_scalars++] = value->i;
            args[i].bits = (uint64_t)value->i;
            continue;
        }
        args[i].len_bytes = bytes_of(type->inputs[i]);
        c->data[i] = malloc(args[i].len_bytes);
        fill(type->inputs[i], c->data[i], range ? range->i : 0);
        args[i].data = malloc(args[i].len_bytes);
        memcpy(args[i].data, c->data[i], args[i].len_bytes);
    }
    DiagSink sink;
    diag_sink_init(&sink);
    if (ir_interp_call(m, ir_symbol_name(func), c->num_inputs, args, c->num_results, results, NULL,
                       &sink) != STATUS_OK)
        fail_with(&sink, ir_symbol_name(func));
    for (uint32_t i = 0; i < c->num_results; i++) {
        c->results[i] = type->results[i];
        c->expected[i] = malloc(results[i].len_bytes);
        memcpy(c->expected[i], results[i].data, results[i].len_bytes);
        ir_interp_result_deinit(&results[i]);
    }
    for (uint32_t i = 0; i < c->num_inputs; i++)
        if (c->data[i]) free(args[i].data);
    const IrAttr *tiles = ir_op_attr(func, "ingot.tiles"), *which = ir_op_attr(func, "ingot.tiles_arg");
    if (tiles)
        c->num_tiles = ir_affine_eval(tiles->map->results[0], which ? &scalars[which->i] : NULL, NULL);
    c->rows = which ? c->num_tiles : 0;
    diag_sink_deinit(&sink);
}

static void free_case(Case *c) {
    for (uint32_t i = 0; i < c->num_inputs; i++) free(c->data[i]);
    for (uint32_t i = 0; i < c->num_results; i++) free(c->expected[i]);
}

static double elem_at(const IrType *elem, const uint8_t *at) {
    float f;
    uint16_t half;
    int64_t bits = 0;
    memcpy(&half, at, 2 <= ir_type_bytes(elem) ? 2 : 1);
    switch (elem->kind) {
    case IR_TYPE_F32: memcpy(&f, at, 4); return f;
    case IR_TYPE_F16: return f16_to_f32(half);
    case IR_TYPE_BF16: return bf16_to_f32(half);
    default: memcpy(&bits, at, ir_type_bytes(elem)); return (double)bits;
    }
}

// Floats that went through a reordered sum of at most 576 terms of one sign may differ by 2 K eps; codes
// quantised from them by one step. Everything else is exact.
static void compare(const Case *c, const char *name, uint32_t result, const uint8_t *got,
                    bool is_exact, const char *what) {
    const IrType *type = c->results[result];
    uint32_t size = ir_type_bytes(type->elem);
    int64_t num = ir_type_num_elems(type);
    if (c->rows > 0 && type->rank > 0) num = num / type->shape[0] * MIN(c->rows, type->shape[0]);
    for (uint32_t i = 0; i < c->num_inputs; i++)
        if (c->tied[i] == (int32_t)result) num = ir_type_num_elems(type);
    for (int64_t i = 0; i < num; i++) {
        const uint8_t *a = c->expected[result] + i * size, *b = got + i * size;
        if (memcmp(a, b, size) == 0) continue;
        double x = elem_at(type->elem, a), y = elem_at(type->elem, b);
        double bound = ir_type_is_float(type->elem) ? 2 * 576 * 1.1920929e-7 * (fabs(x) + c->magnitude) : 1;
        if (!is_exact && fabs(x - y) <= bound) continue;
        fail_msg("@%s, %s: result %u, element %lld: %.9g, expected %.9g", name, what, result,
                 (long long)i, y, x);
    }
}

// Calls the kernel through the convention of bufferize, its tiles in `splits` parts.
static void run_buffers(IrModule *m, const char *name, const Case *c, int64_t splits, bool is_exact,
                        const char *stage) {
    IrInterpValue args[2 * MAX_ARGS + 2] = {0};
    uint8_t *out[MAX_ARGS];
    uint32_t num = 0;
    const IrType *type = ir_func_type(ir_symbol_find(m, name));
    for (uint32_t i = 0; i < c->num_inputs; i++) {
        if (!c->data[i]) continue;
        uint64_t len = bytes_of(c->inputs[i]);
        uint8_t *copy = malloc(len);
        memcpy(copy, c->data[i], len);
        if (c->tied[i] >= 0) out[c->tied[i]] = copy;
        args[num] = (IrInterpValue){.type = type->inputs[num], .data = copy, .len_bytes = len};
        num++;
    }
    for (uint32_t r = 0; r < c->num_results; r++) {
        bool is_tied = false;
        for (uint32_t i = 0; i < c->num_inputs; i++) is_tied |= c->tied[i] == (int32_t)r;
        if (is_tied) continue;
        uint64_t len = bytes_of(c->results[r]);
        out[r] = malloc(len);
        memset(out[r], 0xEE, len);
        args[num] = (IrInterpValue){.type = type->inputs[num], .data = out[r], .len_bytes = len};
        num++;
    }
    uint32_t num_buffers = num;
    for (uint32_t i = 0; i < c->num_inputs; i++)
        if (!c->data[i])
            args[num++] = (IrInterpValue){.type = ir_type_index(m), .bits = (uint64_t)c->scalars[i]};
    uint32_t num_range = c->num_tiles > 0 ? 2 : 0;
    assert_int_equal(num + num_range, type->num_inputs);
    for (int64_t s = 0; s < (num_range ? splits : 1); s++) {
        args[num] = (IrInterpValue){.type = ir_type_index(m),
                                    .bits = (uint64_t)(c->num_tiles * s / splits)};
        args[num + 1] = (IrInterpValue){.type = ir_type_index(m),
                                        .bits = (uint64_t)(c->num_tiles * (s + 1) / splits)};
        DiagSink sink;
        diag_sink_init(&sink);
        if (ir_interp_call(m, name, num + num_range, args, 0, NULL, NULL, &sink) != STATUS_OK) {
            StrBuf text = {0};
            ir_print(m, NULL, &text);
            fprintf(stderr, "%s", text.data);
            fail_with(&sink, stage);
        }
        diag_sink_deinit(&sink);
    }
    for (uint32_t r = 0; r < c->num_results; r++) compare(c, name, r, out[r], is_exact, stage);
    for (uint32_t i = 0; i < num_buffers; i++) free(args[i].data);
}

static void verify(IrModule *m, const char *stage) {
    DiagSink sink;
    diag_sink_init(&sink);
    IrVerifyOptions options = {.level = 2};
    if (ir_verify(m, &options, &sink) != STATUS_OK) {
        StrBuf text = {0};
        ir_print(m, NULL, &text);
        fprintf(stderr, "%s", text.data);
        fail_with(&sink, stage);
    }
    diag_sink_deinit(&sink);
}

static void dump(IrModule *m, const char *file, const char *stage) {
    const char *dir = getenv("INGOT_TEST_DUMP_DIR");
    if (!dir) return;
    StrBuf text = {0};
    ir_print(m, NULL, &text);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s.mlir", dir, file, stage);
    FILE *out = fopen(path, "w");
    if (out) {
        fwrite(text.data, 1, text.len, out);
        fclose(out);
    }
    strbuf_deinit(&text);
}

static IrModule *load(const char *name, DiagSink *sink) {
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/passes/kernels/%s.mlir", getenv("INGOT_SOURCE_DIR"), name);
    FILE *in = fopen(path, "rb");
    if (!in) fail_msg("%s cannot be read", path);
    static char text[1 << 20];
    size_t len = fread(text, 1, sizeof text, in);
    fclose(in);
    IrModule *m = NULL;
    if (ir_parse(text, len, name, sink, &m) != STATUS_OK) fail_with(sink, name);
    return m;
}

static void check_file(const char *name, bool is_exact) {
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = load(name, &sink);
    static Case cases[32];
    const char *names[32];
    uint32_t num = 0;
    FOR_EACH_OP(op, ir_module_body(m)) {
        bool is_called = str_equal(name, "calls") && ir_op_attr(op, "sym_visibility");
        if (op->kind != IR_FUNC_FUNC || is_called) continue;
        names[num] = ir_symbol_name(op);
        make_case(m, op, &cases[num++]);
    }
    assert_true(num > 0);
    if (pass_bufferize(m, &sink) != STATUS_OK) fail_with(&sink, name);
    dump(m, name, "bufferized");
    verify(m, "after bufferize");
    for (uint32_t i = 0; i < num; i++) run_buffers(m, names[i], &cases[i], 1, true, "bufferized");
    if (pass_lower_linalg(m, &sink) != STATUS_OK) fail_with(&sink, name);
    dump(m, name, "lowered");
    verify(m, "after lower-linalg");
    for (uint32_t i = 0; i < num; i++)
        for (int64_t splits = 1; splits <= MAX_ROW_SPLITS; splits++)
            run_buffers(m, names[i], &cases[i], splits, is_exact, "lowered");
    for (uint32_t i = 0; i < num; i++) free_case(&cases[i]);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

static void test_norm_quantise(void **state) { (void)state; check_file("norm_quantise", false); }
static void test_rope_append(void **state) { (void)state; check_file("rope_append", true); }
static void test_embed(void **state) { (void)state; check_file("embed", true); }
static void test_silu(void **state) { (void)state; check_file("silu", true); }
static void test_repack(void **state) { (void)state; check_file("repack", true); }

static void test_repack_decode(void **state) { (void)state; check_file("repack_decode", true); }
static void test_embed_flat(void **state) { (void)state; check_file("embed_flat", true); }
static void test_conflicts(void **state) { (void)state; check_file("conflicts", false); }
static void test_calls(void **state) { (void)state; check_file("calls", true); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm_quantise), cmocka_unit_test(test_rope_append),
        cmocka_unit_test(test_embed),         cmocka_unit_test(test_silu),
        cmocka_unit_test(test_repack),        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_embed_flat),    cmocka_unit_test(test_repack_decode),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
