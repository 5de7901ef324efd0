// bufferize and vectorize against the interpreter: every kernel of tests/passes/kernels runs as
// it is written, with buffers, as loops, and as machine code at every CPU level the host runs, on
// the same random inputs. Arguments say what they need: ingot.test = value of an index,
// ingot.test_range = values of integers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/cpu.h"
#include "abi/kernel_abi.h"
#include "base/float16.h"
#include "codegen/codegen.h"
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
static double next_real(void) {
    return (double)(next_random() >> 11) / (double)(1ull << 52) * 4.0 - 4.0;
}

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
    int64_t num_tiles;           // 0: not a kernel
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
    const IrAttr *tiles = ir_op_attr(func, "ingot.tiles"),
                 *which = ir_op_attr(func, "ingot.tiles_arg");
    if (tiles)
        c->num_tiles =
            ir_affine_eval(tiles->map->results[0], which ? &scalars[which->i] : NULL, NULL);
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

// What reordering a float sum of K terms may change: 2 K eps of the sum of their magnitudes.
// Relative for terms of one sign, absolute where they cancel. Integers quantised from such floats
// may be one step off; with both bounds 0 everything is exact.
typedef struct Bound {
    double relative, absolute;
} Bound;

static const double eps = 1.1920929e-7;
static const Bound exact = {0, 0};

static void compare(const Case *c, const char *name, uint32_t result, const uint8_t *got,
                    Bound bound, const char *what) {
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
        double most = ir_type_is_float(type->elem) ? bound.relative * fabs(x) + bound.absolute
                                                   : (bound.relative > 0 ? 1 : 0);
        if (fabs(x - y) <= most) continue;
        fail_msg("@%s, %s: result %u, element %lld: %.9g, expected %.9g", name, what, result,
                 (long long)i, y, x);
    }
}

// The buffers of one call: tensor inputs, then results that are not tied to one.
typedef struct Buffers {
    uint8_t *data[2 * MAX_ARGS];
    uint64_t len_bytes[2 * MAX_ARGS];
    uint32_t num;
    uint8_t *out[MAX_ARGS]; // of each result, among data
} Buffers;

static void make_buffers(const Case *c, Buffers *b) {
    *b = (Buffers){0};
    for (uint32_t i = 0; i < c->num_inputs; i++) {
        if (!c->data[i]) continue;
        uint64_t len = bytes_of(c->inputs[i]);
        uint8_t *copy = aligned_alloc(64, (len + 63) / 64 * 64);
        memcpy(copy, c->data[i], len);
        if (c->tied[i] >= 0) b->out[c->tied[i]] = copy;
        b->len_bytes[b->num] = len;
        b->data[b->num++] = copy;
    }
    for (uint32_t r = 0; r < c->num_results; r++) {
        if (b->out[r]) continue;
        uint64_t len = bytes_of(c->results[r]);
        b->out[r] = aligned_alloc(64, (len + 63) / 64 * 64);
        memset(b->out[r], 0xEE, len);
        b->len_bytes[b->num] = len;
        b->data[b->num++] = b->out[r];
    }
}

static void free_buffers(Buffers *b) {
    for (uint32_t i = 0; i < b->num; i++) free(b->data[i]);
}

// Calls the function through the convention of bufferize, a kernel's tiles in `splits` parts.
static void interpret(IrModule *m, const char *name, const Case *c, int64_t splits, Buffers *b,
                      const char *stage) {
    IrInterpValue args[3 * MAX_ARGS + 2] = {0};
    uint32_t num = 0, num_range = c->num_tiles > 0 ? 2 : 0;
    const IrType *type = ir_func_type(ir_symbol_find(m, name));
    for (; num < b->num; num++)
        args[num] = (IrInterpValue){
            .type = type->inputs[num], .data = b->data[num], .len_bytes = b->len_bytes[num]};
    for (uint32_t i = 0; i < c->num_inputs; i++)
        if (!c->data[i])
            args[num++] =
                (IrInterpValue){.type = ir_type_index(m), .bits = (uint64_t)c->scalars[i]};
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
}

static void run_buffers(IrModule *m, const char *name, const Case *c, int64_t splits, Bound bound,
                        const char *stage) {
    Buffers b;
    make_buffers(c, &b);
    interpret(m, name, c, splits, &b, stage);
    for (uint32_t r = 0; r < c->num_results; r++) compare(c, name, r, b.out[r], bound, stage);
    free_buffers(&b);
}

// ---------------------------------------------------------------- machine code

// All functions but one go; they are lowered one at a time.
static IrModule *only(const IrModule *m, const char *name) {
    IrModule *alone = ir_module_clone(m);
    IrOp *op = ir_module_body(alone)->last;
    while (op) {
        IrOp *prev = op->prev;
        if (!str_equal(ir_symbol_name(op), name)) ir_op_erase(alone, op);
        op = prev;
    }
    return alone;
}

static void call_code(const CodegenImage *image, const Case *c, Buffers *b) {
    DiagSink sink;
    diag_sink_init(&sink);
    void *base;
    if (codegen_image_map(image, &sink, &base) != STATUS_OK) fail_with(&sink, "map");
    void *data[2 * MAX_ARGS];
    for (uint32_t i = 0; i < b->num; i++) data[i] = b->data[i];
    int64_t scalars[MAX_ARGS];
    uint32_t num_scalars = 0;
    for (uint32_t i = 0; i < c->num_inputs; i++)
        if (!c->data[i]) scalars[num_scalars++] = c->scalars[i];
    uint8_t *entry = (uint8_t *)base + image->functions[0].offset;
    KernelFn kernel;
    memcpy(&kernel, &entry, sizeof kernel);
    int64_t fault[KERNEL_FAULT_WORDS] = {0};
    kernel(data, scalars, 0, c->num_tiles, fault);
    codegen_image_unmap(base, image->len_bytes);
    diag_sink_deinit(&sink);
}

static Bound exp_bound(const IrType *type) {
    return (Bound){type->elem->kind == IR_TYPE_F16 ? 0x1p-10 : 8 * eps, 0};
}

// Compiled, a kernel computes what the interpreter makes of the same loops, bit for bit; but exp is
// within 2 ulp of the library's: 8 eps after a sum, a division and a product, one f16 ulp after a
// rounding.
static void check_compiled(IrModule *m, const char *name, const Case *c, bool has_exp) {
    Buffers expected;
    make_buffers(c, &expected);
    interpret(m, name, c, 1, &expected, "lowered");
    for (int level = 0; level < NUM_CPU_LEVELS; level++) {
        const CpuLevelInfo *info = cpu_level_info((CpuLevel)level);
        if (!cpu_level_runs(cpu_host_features(), info)) continue;
        DiagSink sink;
        diag_sink_init(&sink);
        IrModule *lowered = only(m, name);
        CodegenImage image;
        if (pass_lower_target(lowered, &sink) != STATUS_OK) fail_with(&sink, name);
        if (codegen_compile(lowered, (CpuLevel)level, 1, &sink, &image) != STATUS_OK)
            fail_with(&sink, name);
        Buffers got;
        make_buffers(c, &got);
        call_code(&image, c, &got);
        for (uint32_t i = 0; i < got.num; i++) {
            if (memcmp(got.data[i], expected.data[i], got.len_bytes[i]) == 0) continue;
            if (!has_exp) fail_msg("@%s at %s: buffer %u differs", name, info->name, i);
        }
        for (uint32_t r = 0; r < c->num_results && has_exp; r++)
            compare(c, name, r, got.out[r], exp_bound(c->results[r]), info->name);
        free_buffers(&got);
        codegen_image_deinit(&image);
        ir_module_destroy(lowered);
        diag_sink_deinit(&sink);
    }
    free_buffers(&expected);
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
    snprintf(path, sizeof path, "%s/tests/passes/kernels/%s.mlir", getenv("INGOT_SOURCE_DIR"),
             name);
    FILE *in = fopen(path, "rb");
    if (!in) fail_msg("%s cannot be read", path);
    static char text[1 << 20];
    size_t len = fread(text, 1, sizeof text, in);
    fclose(in);
    IrModule *m = NULL;
    if (ir_parse(text, len, name, sink, &m) != STATUS_OK) fail_with(sink, name);
    return m;
}

// Loops and vectors for one CPU level, and machine code of all levels from them.
static void check_lowered(const IrModule *buffers, const char *name, Bound bound, const Case *cases,
                          const char *const *names, uint32_t num, CpuLevel level) {
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = ir_module_clone(buffers);
    ir_op_set_attr(m, m->op, "ingot.target", ir_attr_string(m, cpu_level_info(level)->name));
    if (pass_loop_schedule(m, &sink) != STATUS_OK) fail_with(&sink, name);
    if (pass_vectorize(m, &sink) != STATUS_OK) fail_with(&sink, name);
    dump(m, name, "lowered");
    verify(m, "after vectorize");
    for (uint32_t i = 0; i < num; i++)
        for (int64_t splits = 1; splits <= MAX_ROW_SPLITS; splits++)
            run_buffers(m, names[i], &cases[i], splits, bound, "lowered");
    for (uint32_t i = 0; i < num; i++)
        if (cases[i].num_tiles > 0) check_compiled(m, names[i], &cases[i], str_equal(name, "silu"));
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

static void check_file(const char *name, Bound bound) {
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
    for (uint32_t i = 0; i < num; i++) run_buffers(m, names[i], &cases[i], 1, exact, "bufferized");
    check_lowered(m, name, bound, cases, names, num, CPU_LEVEL_V3);
    if (str_equal(name, "conv")) check_lowered(m, name, bound, cases, names, num, CPU_LEVEL_V4);
    for (uint32_t i = 0; i < num; i++) free_case(&cases[i]);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

// The schedule sums in the order of the op's loops, and padding adds nothing.
static void test_conv(void **state) {
    (void)state;
    check_file("conv", exact);
}
static void test_norm_quantise(void **state) {
    (void)state;
    check_file("norm_quantise", (Bound){2 * 576 * eps, 0});
}
static void test_rope_append(void **state) {
    (void)state;
    check_file("rope_append", exact);
}
static void test_embed(void **state) {
    (void)state;
    check_file("embed", exact);
}
static void test_silu(void **state) {
    (void)state;
    check_file("silu", exact);
}
static void test_repack(void **state) {
    (void)state;
    check_file("repack", exact);
}

static void test_repack_decode(void **state) {
    (void)state;
    check_file("repack_decode", exact);
}
static void test_embed_flat(void **state) {
    (void)state;
    check_file("embed_flat", exact);
}
static void test_casts(void **state) {
    (void)state;
    check_file("casts", exact);
}
// Products of 20 terms below 16 each.
static void test_conflicts(void **state) {
    (void)state;
    check_file("conflicts", (Bound){0, 2 * 20 * eps * 20 * 16});
}
static void test_calls(void **state) {
    (void)state;
    check_file("calls", exact);
}

// ---------------------------------------------------------------- what is refused

typedef struct Refusal {
    DiagCode code;
    const char *text;
} Refusal;

#define ROWS "attributes {ingot.kernel = \"rows\", ingot.tiles = affine_map<() -> (4)>} {\n"
#define WHOLE "attributes {ingot.kernel = \"whole\", ingot.tiles = affine_map<() -> (1)>} {\n"
#define MAP(results) "affine_map<(d0, d1) -> (" results ")>"
#define NEGATE(from, to, map)                                                                      \
    to " = linalg.generic {indexing_maps = [" map                                                  \
       ", " MAP("d0, d1") "], "                                                                    \
                          "iterator_types = [\"parallel\", \"parallel\"]} ins(" from               \
                          " : tensor<4x8xf32>) "                                                   \
                          "outs(%e : tensor<4x8xf32>) {\n^bb0(%i: f32, %o: f32):\n%n = "           \
                          "arith.negf %i : f32\n"                                                  \
                          "linalg.yield %n : f32\n} -> tensor<4x8xf32>\n"

static const Refusal refusals[] = {
    // A kernel of rows that turns the rows round.
    {DIAG_P0043, "func.func private @k(%x: tensor<4x8xf32>) -> tensor<4x8xf32> " ROWS
                 "%e = tensor.empty() : tensor<4x8xf32>\n" NEGATE("%x", "%a", MAP("d0, d1"))
                     NEGATE("%a", "%b", MAP("-d0 + 3, d1")) "return %b : tensor<4x8xf32>\n}"},
    // An intermediate of 4 MiB.
    {DIAG_P0044, "func.func private @k(%x: tensor<1024x1024xf32>) -> tensor<1024xf32> " WHOLE
                 "%z = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<1024x1024xf32>\n"
                 "%a = linalg.transpose ins(%x : tensor<1024x1024xf32>) outs(%e : "
                 "tensor<1024x1024xf32>) permutation = [1, 0]\n"
                 "%f = tensor.empty() : tensor<1024xf32>\n"
                 "%g = linalg.fill ins(%z : f32) outs(%f : tensor<1024xf32>) -> tensor<1024xf32>\n"
                 "%b = linalg.reduce { arith.addf } ins(%a : tensor<1024x1024xf32>) outs(%g : "
                 "tensor<1024xf32>) dimensions = [1]\nreturn %b : tensor<1024xf32>\n}"},
    // Tied to a result of another type; a scalar the kernel interface has no place for.
    {DIAG_P0041, "func.func private @k(%x: tensor<4xf32> {ingot.inout = 0 : i64}, "
                 "%y: tensor<8xf32>) -> tensor<8xf32> " WHOLE "return %y : tensor<8xf32>\n}"},
    {DIAG_P0041, "func.func private @k(%x: tensor<4xf32>, %y: f32) -> tensor<4xf32> " WHOLE
                 "return %x : tensor<4xf32>\n}"},
    // A kernel called without a number of tiles.
    {DIAG_P0041, "func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes "
                 "{ingot.kernel = \"rows\"} {\nreturn %x : tensor<4xf32>\n}\n"
                 "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                 "%a = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
                 "return %a : tensor<4xf32>\n}"},
    // A call that would change its caller's argument, which nothing allows.
    {DIAG_P0042,
     "func.func private @k(%x: tensor<4xf32> {ingot.inout = 0 : i64}) -> tensor<4xf32> " WHOLE
     "return %x : tensor<4xf32>\n}\n"
     "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
     "%a = func.call @k(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
     "return %a : tensor<4xf32>\n}"},
    {DIAG_P0005, "func.func private @k(%x: tensor<?xf32>) -> tensor<?xf32> " WHOLE
                 "return %x : tensor<?xf32>\n}"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        DiagSink sink;
        diag_sink_init(&sink);
        IrModule *m = NULL;
        if (ir_parse(refusals[i].text, strlen(refusals[i].text), "refused", &sink, &m) != STATUS_OK)
            fail_with(&sink, refusals[i].text);
        Status status = pass_bufferize(m, &sink);
        if (status == STATUS_OK) status = pass_lower_linalg(m, &sink);
        if (status != STATUS_INVALID || sink.num_diags != 1 ||
            sink.diags[0].code != refusals[i].code)
            fail_with(&sink, refusals[i].text);
        assert_true(sink.diags[0].span.line > 0);
        ir_module_destroy(m);
        diag_sink_deinit(&sink);
    }
}

// A pass run on what it made changes nothing.
static void test_run_twice(void **state) {
    (void)state;
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = load("rope_append", &sink);
    for (int pass = 0; pass < 2; pass++) {
        StrBuf once = {0}, twice = {0};
        Status (*run)(IrModule *, DiagSink *) = pass == 0 ? pass_bufferize : pass_lower_linalg;
        if (run(m, &sink) != STATUS_OK) fail_with(&sink, "once");
        ir_print(m, NULL, &once);
        if (run(m, &sink) != STATUS_OK) fail_with(&sink, "twice");
        ir_print(m, NULL, &twice);
        assert_string_equal(once.data, twice.data);
        strbuf_deinit(&once);
        strbuf_deinit(&twice);
    }
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),          cmocka_unit_test(test_norm_quantise),
        cmocka_unit_test(test_rope_append),   cmocka_unit_test(test_embed),
        cmocka_unit_test(test_silu),          cmocka_unit_test(test_repack),
        cmocka_unit_test(test_conflicts),     cmocka_unit_test(test_embed_flat),
        cmocka_unit_test(test_repack_decode), cmocka_unit_test(test_calls),
        cmocka_unit_test(test_casts),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_run_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
