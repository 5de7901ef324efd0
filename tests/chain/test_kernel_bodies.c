// Every kernel of tiny models, of every weight format: the reference body (the bufferised kernel
// before it is scheduled) in the interpreter against machine code of every CPU level the host runs,
// on the same buffers, with guard bytes around each, for several token counts, with the tiles
// computed at once and cut in 2 and 3.
//
// What may differ, by what the reference body computes (eps = 2^-24, half a unit in the last
// place):
//   no float sum, no exp   nothing. Products with weights are among these: the schedule sums each
//   output over k
//                          in ascending order by fma, as the reference does; integer sums are
//                          exact.
//   exp (gated units)      y = g / (1 + exp(-g)) * u: our exp is within 1.05 ulp, the C library's
//   within 1, and
//                          three roundings follow on either side, each at most half: 5.05 ulp < 11
//                          eps.
//   float sums (norms)     K squares, all positive, in another order: 2 K eps of the sum; rsqrt
//   halves that and
//                          four roundings follow on either side: (K + 8) eps. Codes quantised from
//                          such rows may then differ by 1, block sums of them accordingly.
//   attention              a score of D terms differs by d = 2 D eps (scale sum |q k|); weights are
//   exp of it,
//                          so their ratios by exp(2 d) - 1; sums of n keys add 2 n eps and exp
//                          itself 4 eps: |difference| <= (exp(2 d) - 1 + (2 n + 16) eps) max |v|.
// All levels, and all cuts of the tiles, must give the same bits.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/kernel_abi.h"
#include "base/float16.h"
#include "codegen/codegen.h"
#include "ir/interp.h"
#include "ir/print.h"
#include "tiny_chain.h"

enum { MAX_BUFFERS = 32, MAX_SCALARS = 8, GUARD_BYTES = 256, GUARD = 0xa5, NUM_SEEN = 4096 };
static const double eps = 0x1p-24;

typedef struct Buffer {
    const IrType *type;
    uint8_t *block, *bytes;
    uint64_t len_bytes;
    bool is_result, is_rows; // is_rows: a result whose rows from num_valid on are unspecified
} Buffer;

typedef struct Check {
    TinyChain *chain;
    IrModule *reference;
    IrOp *kernel; // in reference
    const char *kind;
    Buffer buffers[MAX_BUFFERS];
    uint32_t num_buffers, num_scalars;
    int64_t scalars[MAX_SCALARS];
    int64_t bucket, num_valid;
    bool has_exp, has_sum;
    int64_t sum_len;
    uint32_t num_kernels, num_runs; // statistics
} Check;

// ---------------------------------------------------------------- kernels seen before

static uint64_t seen[NUM_SEEN];
static uint32_t num_seen;

// Formats share the kernels that do not touch weights: a body already checked is not checked again.
static bool is_new(const IrModule *m, const IrOp *kernel) {
    StrBuf text = {0};
    ir_print_op(m, kernel, &text);
    const char *from = memchr(text.data, '(', text.len); // behind the name
    uint64_t hash = 1469598103934665603u;
    for (; from && from < text.data + text.len; from++)
        hash = (hash ^ (uint8_t)*from) * 1099511628211u;
    strbuf_deinit(&text);
    for (uint32_t i = 0; i < num_seen; i++)
        if (seen[i] == hash) return false;
    assert_true(num_seen < NUM_SEEN);
    seen[num_seen++] = hash;
    return true;
}

// ---------------------------------------------------------------- buffers

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void fill(Check *c, Buffer *b, uint32_t *state) {
    const IrType *elem = b->type->elem;
    uint32_t size = ir_type_bytes(elem);
    uint64_t num = b->len_bytes / size;
    bool is_pages = b->type->rank == 1 && elem->kind == IR_TYPE_INT && elem->width == 32 &&
                    b->type->shape[0] == 4;
    for (uint64_t i = 0; i < num; i++) {
        float value = (float)((int32_t)next_random(state) >> 8) * 0x1p-23f; // [-1, 1)
        uint32_t bits = next_random(state);
        uint16_t half = elem->kind == IR_TYPE_F16 ? f16_from_f32(value) : bf16_from_f32(value);
        int32_t word = (int32_t)(bits >> 20); // block sums: 12 bits
        if (is_pages)
            word = (int32_t)(3 - i);
        else if (b->type->rank == 1)
            word = (int32_t)(bits % c->chain->model.vocab);
        if (elem->kind == IR_TYPE_F32)
            memcpy(b->bytes + i * size, &value, size);
        else if (ir_type_is_float(elem))
            memcpy(b->bytes + i * size, &half, size);
        else if (elem->width == 32)
            memcpy(b->bytes + i * size, &word, size);
        else
            memcpy(b->bytes + i * size, &bits, size);
    }
}

static void add_buffer(Check *c, const IrType *type, bool is_result) {
    assert_true(c->num_buffers < MAX_BUFFERS);
    Buffer *b = &c->buffers[c->num_buffers++];
    *b = (Buffer){.type = type, .is_result = is_result};
    b->len_bytes = (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
    b->is_rows = is_result && c->bucket > 1 && type->shape[0] == c->bucket;
    uint64_t room = align_up(b->len_bytes, 64) + 2 * GUARD_BYTES;
    b->block = aligned_alloc(64, room);
    assert_non_null(b->block);
    memset(b->block, GUARD, room);
    b->bytes = b->block + GUARD_BYTES;
}

static void check_guards(const Check *c, const char *who) {
    for (uint32_t i = 0; i < c->num_buffers; i++) {
        const Buffer *b = &c->buffers[i];
        for (uint32_t j = 0; j < GUARD_BYTES; j++)
            if (b->block[j] != GUARD || b->bytes[b->len_bytes + j] != GUARD)
                fail_msg("%s: @%s wrote outside buffer %u", who, ir_symbol_name(c->kernel), i);
    }
}

static uint64_t total_bytes(const Check *c) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < c->num_buffers; i++) total += c->buffers[i].len_bytes;
    return total;
}

static uint8_t *save(const Check *c) {
    uint64_t at = 0;
    uint8_t *saved = base_alloc(total_bytes(c) + 1, 1);
    for (uint32_t i = 0; i < c->num_buffers; at += c->buffers[i++].len_bytes)
        memcpy(saved + at, c->buffers[i].bytes, c->buffers[i].len_bytes);
    return saved;
}

static void restore(Check *c, const uint8_t *saved) {
    for (uint32_t i = 0; i < c->num_buffers; saved += c->buffers[i++].len_bytes)
        memcpy(c->buffers[i].bytes, saved, c->buffers[i].len_bytes);
}

// ---------------------------------------------------------------- reading a kernel

static void classify(Check *c, IrBlock *block) {
    FOR_EACH_OP(op, block) {
        if (op->kind == IR_MATH_EXP) c->has_exp = true;
        bool is_float_sum = false;
        if (op->kind == IR_LINALG_GENERIC && op->num_regions == 1 &&
            !ir_op_attr(op, "ingot.contract")) {
            const IrOp *sum = ir_op_operand(ir_block_terminator(ir_op_block(op, 0)), 0)->def_op;
            uint32_t loops = ir_linalg_num_loops(op);
            int64_t ranges[16];
            ir_linalg_loop_ranges(c->reference, op, ranges);
            for (uint32_t i = 0; i < loops; i++)
                if (ir_linalg_iterator(op, i) == IR_REDUCTION && sum &&
                    sum->kind == IR_ARITH_ADDF) {
                    is_float_sum = true;
                    c->sum_len = MAX(c->sum_len, ranges[i]);
                }
        }
        c->has_sum |= is_float_sum;
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) classify(c, inner);
    }
}

static void open_kernel(Check *c, IrOp *kernel) {
    c->kernel = kernel;
    c->kind = ir_op_attr(kernel, "ingot.kernel")->str;
    c->has_exp = c->has_sum = false;
    c->sum_len = 0;
    c->num_buffers = c->num_scalars = 0;
    classify(c, ir_func_body(kernel));
    IrBlock *body = ir_func_body(kernel);
    c->bucket = 1;
    const IrType *first = body->args[0]->type;
    if (!str_equal(c->kind, "init") && first->kind == IR_TYPE_MEMREF &&
        first->shape[0] == c->chain->bucket)
        c->bucket = c->chain->bucket;
    for (uint32_t i = 0; i < body->num_args; i++) {
        const IrType *type = body->args[i]->type;
        bool is_result = ir_func_arg_attr(kernel, i, "ingot.result") ||
                         ir_func_arg_attr(kernel, i, "ingot.inout");
        if (type->kind == IR_TYPE_MEMREF)
            add_buffer(c, type, is_result);
        else
            c->num_scalars++;
    }
    assert_in_range(c->num_scalars, 2, MAX_SCALARS);
    c->num_scalars -= 2; // the tile range
}

static void close_kernel(Check *c) {
    for (uint32_t i = 0; i < c->num_buffers; i++) free(c->buffers[i].block);
    c->num_buffers = 0;
}

static int64_t num_tiles(const Check *c) {
    const IrAttr *tiles = ir_op_attr(c->kernel, "ingot.tiles"),
                 *arg = ir_op_attr(c->kernel, "ingot.tiles_arg");
    if (!tiles) return 1;
    int64_t n = arg ? c->scalars[arg->i] : 0;
    return ir_affine_eval(tiles->map->results[0], &n, NULL);
}

// ---------------------------------------------------------------- running

static void interpret(Check *c) {
    const IrBlock *body = ir_func_body(c->kernel);
    IrInterpValue args[MAX_BUFFERS + MAX_SCALARS];
    uint32_t buffer = 0, scalar = 0;
    for (uint32_t i = 0; i < body->num_args; i++) {
        args[i] = (IrInterpValue){.type = body->args[i]->type};
        if (args[i].type->kind == IR_TYPE_MEMREF) {
            args[i].data = c->buffers[buffer].bytes;
            args[i].len_bytes = c->buffers[buffer++].len_bytes;
        } else {
            int64_t range_end = scalar == c->num_scalars + 1 ? num_tiles(c) : 0;
            args[i].bits = (uint64_t)(scalar < c->num_scalars ? c->scalars[scalar] : range_end);
            scalar++;
        }
    }
    tiny_chain_expect_ok(c->chain,
                         ir_interp_call(c->reference, ir_symbol_name(c->kernel), body->num_args,
                                        args, 0, NULL, NULL, &c->chain->sink));
    check_guards(c, "interpreter");
}

typedef struct Code {
    CodegenImage image;
    void *base;
    int64_t row_tile[256]; // by function of the image
} Code;

static KernelFn find_code(const Check *c, const Code *code) {
    for (size_t i = 0; i < code->image.num_functions; i++) {
        if (!str_equal(code->image.functions[i].name, ir_symbol_name(c->kernel))) continue;
        uint8_t *entry = (uint8_t *)code->base + code->image.functions[i].offset;
        KernelFn kernel;
        memcpy(&kernel, &entry, sizeof kernel);
        return kernel;
    }
    fail_msg("no code of @%s", ir_symbol_name(c->kernel));
    return NULL;
}

static void call(Check *c, KernelFn kernel, int64_t begin, int64_t end, const char *who) {
    void *buffers[MAX_BUFFERS];
    for (uint32_t i = 0; i < c->num_buffers; i++) buffers[i] = c->buffers[i].bytes;
    int64_t fault[KERNEL_FAULT_WORDS] = {0};
    if (begin < end) kernel(buffers, c->scalars, begin, end, fault);
    assert_true(fault[KERNEL_FAULT_CHECK] == 0);
    check_guards(c, who);
}

// ---------------------------------------------------------------- comparison

static double number(const Buffer *b, const uint8_t *bytes, uint64_t i) {
    const IrType *elem = b->type->elem;
    float f;
    uint16_t half;
    int32_t word;
    switch (ir_type_bytes(elem)) {
    case 1: return elem->kind == IR_TYPE_INT ? (double)(int8_t)bytes[i] : 0;
    case 2:
        memcpy(&half, bytes + 2 * i, 2);
        f = elem->kind == IR_TYPE_F16 ? f16_to_f32(half) : bf16_to_f32(half);
        return (double)f;
    default:
        memcpy(&f, bytes + 4 * i, 4);
        memcpy(&word, bytes + 4 * i, 4);
        return elem->kind == IR_TYPE_F32 ? (double)f : (double)word;
    }
}

static uint64_t compared_bytes(const Check *c, const Buffer *b) {
    return b->is_rows ? b->len_bytes / (uint64_t)c->bucket * (uint64_t)c->num_valid : b->len_bytes;
}

static void expect_same_bits(const Check *c, const uint8_t *expected, const char *what) {
    for (uint32_t i = 0; i < c->num_buffers; expected += c->buffers[i++].len_bytes) {
        const Buffer *b = &c->buffers[i];
        uint64_t len = compared_bytes(c, b);
        for (uint64_t j = 0; j < len; j++)
            if (b->bytes[j] != expected[j])
                fail_msg("%s: @%s (%s), %lld tokens: buffer %u differs at byte %llu", what,
                         ir_symbol_name(c->kernel), c->kind, (long long)c->num_valid, i,
                         (unsigned long long)j);
    }
}

static double largest(const Buffer *b) {
    double max = 0;
    for (uint64_t i = 0; i < b->len_bytes / ir_type_bytes(b->type->elem); i++)
        max = fmax(max, fabs(number(b, b->bytes, i)));
    return max;
}

static double attention_bound(const Check *c) {
    const int64_t *q = c->buffers[0].type->shape;
    double depth = (double)q[3], keys = (double)c->chain->context;
    double score = largest(&c->buffers[0]) * largest(&c->buffers[2]) * depth / sqrt(depth);
    return (expm1(2 * 2 * depth * eps * score) + (2 * keys + 16) * eps) * largest(&c->buffers[3]);
}

// Rows quantised from sums: codes [M, KB, B] may move by 1; what the same kernel says of whole
// blocks, [M, KB], follows from them.
static const Buffer *codes_of(const Check *c, const Buffer *b, uint64_t *out_offset) {
    uint64_t offset = 0;
    for (uint32_t i = 0; i < c->num_buffers; offset += c->buffers[i++].len_bytes) {
        const Buffer *other = &c->buffers[i];
        if (!other->is_result || other->type->rank != 3 || other->type->elem->kind != IR_TYPE_INT ||
            b->type->rank != 2)
            continue;
        if (other->type->shape[0] != b->type->shape[0] ||
            other->type->shape[1] != b->type->shape[1])
            continue;
        *out_offset = offset;
        return other;
    }
    return NULL;
}

static double sum_difference(const Buffer *codes, const uint8_t *expected, uint64_t block) {
    double difference = 0;
    uint64_t len = (uint64_t)codes->type->shape[2];
    for (uint64_t i = block * len; i < (block + 1) * len; i++)
        difference += fabs(number(codes, codes->bytes, i) - number(codes, expected, i));
    return difference;
}

static double allowed(const Check *c, const Buffer *b, const uint8_t *all_expected, uint64_t i,
                      double want) {
    enum { LARGEST_ZERO_POINT = 128 };
    if (str_equal(c->kind, "attention")) return attention_bound(c);
    if (c->has_exp && !c->has_sum) return 11 * eps * fabs(want);
    if (!c->has_sum) return 0;
    uint64_t offset = 0;
    const Buffer *codes = codes_of(c, b, &offset);
    double relative = ((double)c->sum_len + 8) * eps * fabs(want);
    if (b->type->elem->kind == IR_TYPE_INT && b->type->elem->width == 8) return 1;
    if (!codes) return b->type->elem->kind == IR_TYPE_INT ? 0 : relative;
    double moved = sum_difference(codes, all_expected + offset, i);
    if (b->type->elem->kind == IR_TYPE_INT) return moved * (double)LARGEST_ZERO_POINT;
    return 2 * relative + moved * fabs(want); // a scale, or a scale times the block's sum
}

static void expect_near(const Check *c, const uint8_t *expected, const char *who) {
    const uint8_t *at = expected;
    bool is_exact = !c->has_sum && !c->has_exp && !str_equal(c->kind, "attention");
    if (is_exact) {
        expect_same_bits(c, expected, who);
        return;
    }
    for (uint32_t k = 0; k < c->num_buffers; at += c->buffers[k++].len_bytes) {
        const Buffer *b = &c->buffers[k];
        uint64_t num = compared_bytes(c, b) / ir_type_bytes(b->type->elem);
        if (!b->is_result) {
            assert_memory_equal(b->bytes, at, b->len_bytes);
            continue;
        }
        for (uint64_t i = 0; i < num; i++) {
            double got = number(b, b->bytes, i), want = number(b, at, i);
            double bound = got == want ? 0 : allowed(c, b, expected, i, want);
            if (!(fabs(got - want) <= bound))
                fail_msg("%s: @%s (%s), %lld tokens: buffer %u element %llu is %.9g, the "
                         "interpreter says %.9g, "
                         "bound %.3g",
                         who, ir_symbol_name(c->kernel), c->kind, (long long)c->num_valid, k,
                         (unsigned long long)i, got, want, bound);
        }
    }
}

// ---------------------------------------------------------------- one kernel

// Tiles at once, then in 2 and 3 parts, last part first.
static void check_cuts(Check *c, KernelFn kernel, const uint8_t *start, const char *who) {
    int64_t tiles = num_tiles(c);
    uint8_t *whole = save(c);
    for (int64_t parts = 2; parts <= 3; parts++) {
        restore(c, start);
        int64_t first = tiles / 3 | 1,
                second = parts == 3 ? MIN(first + (tiles - first) / 2 + 1, tiles) : tiles;
        if (first > tiles) first = tiles;
        if (second < first) second = first;
        if (parts == 3) call(c, kernel, second, tiles, who);
        call(c, kernel, first, parts == 3 ? second : tiles, who);
        call(c, kernel, 0, first, who);
        expect_same_bits(c, whole, "tiles in parts");
    }
    free(whole);
}

static void check_levels(Check *c, const Code *codes, const CpuLevel *levels, uint32_t num_levels,
                         const uint8_t *start, const uint8_t *expected) {
    uint8_t *first = NULL;
    for (uint32_t l = 0; l < num_levels; l++) {
        const char *who = cpu_level_info(levels[l])->name;
        KernelFn kernel = find_code(c, &codes[l]);
        restore(c, start);
        call(c, kernel, 0, num_tiles(c), who);
        expect_near(c, expected, who);
        if (first)
            expect_same_bits(c, first, "levels differ");
        else
            first = save(c);
        check_cuts(c, kernel, start, who);
        c->num_runs++;
    }
    free(first);
}

static void set_scalars(Check *c, int64_t num_valid, int64_t position) {
    c->num_valid = num_valid;
    for (uint32_t s = 0; s < c->num_scalars; s++) c->scalars[s] = position;
    if (c->num_scalars > 0) c->scalars[c->num_scalars - 1] = num_valid;
}

// Around the rows that loop-schedule keeps in registers, 5 or 12, and around attention's 8 tokens.
static void run_counts(Check *c, const Code *codes, const CpuLevel *levels, uint32_t num_levels) {
    static const int64_t product_counts[] = {1, 4, 5, 6, 11, 12, 13}, other_counts[] = {1, 7, 8, 9};
    static const int64_t positions[] = {0, 13, 31}; // of the first token: page borders lie behind
    bool is_product = str_equal(c->kind, "matmul");
    const int64_t *counts = is_product ? product_counts : other_counts;
    uint32_t num_counts = is_product ? ARRAY_LEN(product_counts) : ARRAY_LEN(other_counts);
    if (c->bucket == 1) num_counts = 1;
    uint8_t *start = NULL, *expected = NULL;
    for (uint32_t i = 0; i < num_counts + (c->bucket > 1); i++) {
        if (!start ||
            !is_product) { // a reference product computes all rows, however many are asked for
            uint32_t seed = 77u + i;
            free(start);
            free(expected);
            set_scalars(c, is_product || i == num_counts ? c->bucket : counts[i], positions[i % 3]);
            for (uint32_t b = 0; b < c->num_buffers; b++) fill(c, &c->buffers[b], &seed);
            start = save(c);
            interpret(c);
            expected = save(c);
            if (memcmp(start, expected, total_bytes(c)) == 0)
                fail_msg("@%s changes nothing", ir_symbol_name(c->kernel));
        }
        set_scalars(c, i == num_counts ? c->bucket : counts[i], positions[i % 3]);
        check_levels(c, codes, levels, num_levels, start, expected);
    }
    free(start);
    free(expected);
}

// ---------------------------------------------------------------- a model

static void compile_level(TinyChain *chain, const IrModule *kernels, CpuLevel level, Code *out) {
    IrModule *m = ir_module_clone(kernels);
    tiny_chain_set_target(m, cpu_level_info(level)->name);
    tiny_chain_advance(chain, m, NUM_PASSES);
    tiny_chain_expect_ok(chain, codegen_compile(m, level, 1, &chain->sink, &out->image));
    tiny_chain_expect_ok(chain, codegen_image_map(&out->image, &chain->sink, &out->base));
    ir_module_destroy(m);
}

// The new kernels alone; nothing calls them any more, so they are public.
static IrModule *keep_kernels(TinyChain *chain) {
    IrModule *m = tiny_chain_module(chain, PASS_loop_schedule, NULL);
    FOR_EACH_OP_SAFE(op, ir_module_body(m)) {
        if (op->kind != IR_FUNC_FUNC) continue;
        if (!ir_op_attr(op, "ingot.kernel") || !is_new(m, op))
            ir_op_erase(m, op);
        else
            ir_op_set_attr(m, op, "sym_visibility", NULL);
    }
    return m;
}

static void check_model(TinyChain *chain) {
    if (!chain->bucket) chain->bucket = 16;
    chain->context = 64;
    if (!chain->model.num_layers) chain->model.num_layers = 1;
    tiny_chain_open(chain);
    Check c = {.chain = chain, .reference = keep_kernels(chain)};
    CpuLevel levels[NUM_CPU_LEVELS];
    Code codes[NUM_CPU_LEVELS];
    uint32_t num_levels = 0;
    for (int i = 0; i < NUM_CPU_LEVELS; i++)
        if (cpu_level_runs(cpu_host_features(), cpu_level_info((CpuLevel)i)))
            levels[num_levels++] = (CpuLevel)i;
    if (num_levels == 0) skip();
    for (uint32_t i = 0; i < num_levels; i++)
        compile_level(chain, c.reference, levels[i], &codes[i]);
    FOR_EACH_OP(op, ir_module_body(c.reference)) {
        if (op->kind != IR_FUNC_FUNC) continue;
        open_kernel(&c, op);
        run_counts(&c, codes, levels, num_levels);
        c.num_kernels++;
        close_kernel(&c);
    }
    print_message("%u new kernels, %u levels, %u runs\n", c.num_kernels, num_levels, c.num_runs);
    for (uint32_t i = 0; i < num_levels; i++) {
        codegen_image_unmap(codes[i].base, codes[i].image.len_bytes);
        codegen_image_deinit(&codes[i].image);
    }
    ir_module_destroy(c.reference);
    tiny_chain_close(chain);
}

#define MODEL_TEST(name, ...)                                                                      \
    static void test_##name(void **state) {                                                        \
        (void)state;                                                                               \
        check_model(&(TinyChain){__VA_ARGS__});                                                    \
    }
#define SMALL_BUT_KV .num_heads = 4, .embd = 64, .ffn = 96
#define SMALL        SMALL_BUT_KV, .num_kv_heads = 2
#define WIDE         .num_heads = 4, .num_kv_heads = 2, .embd = 256, .ffn = 512

MODEL_TEST(f32, .model = {SMALL, .matrix_format = QUANT_F32})
MODEL_TEST(f16_f16_kv, .model = {SMALL, .matrix_format = QUANT_F16, .is_untied = true}, .kv = "f16")
MODEL_TEST(bf16, .model = {SMALL, .matrix_format = QUANT_BF16}, .activations = "bf16")
MODEL_TEST(q8_0, .model = {SMALL, .matrix_format = QUANT_Q8_0})
MODEL_TEST(q8_0_int8, .model = {SMALL, .matrix_format = QUANT_Q8_0}, .activations = "int8",
           .kv = "f16")
MODEL_TEST(q4_0, .model = {SMALL, .matrix_format = QUANT_Q4_0})
MODEL_TEST(q4_0_int8, .model = {SMALL, .matrix_format = QUANT_Q4_0}, .activations = "int8")
MODEL_TEST(q4_0_bf16, .model = {SMALL, .matrix_format = QUANT_Q4_0}, .activations = "bf16")
MODEL_TEST(q4_1, .model = {SMALL, .matrix_format = QUANT_Q4_1})
MODEL_TEST(q4_1_int8, .model = {SMALL, .matrix_format = QUANT_Q4_1}, .activations = "int8")
MODEL_TEST(q5_0, .model = {SMALL, .matrix_format = QUANT_Q5_0})
MODEL_TEST(q5_0_int8, .model = {SMALL, .matrix_format = QUANT_Q5_0}, .activations = "int8")
MODEL_TEST(q5_1, .model = {SMALL, .matrix_format = QUANT_Q5_1})
MODEL_TEST(q5_1_int8, .model = {SMALL, .matrix_format = QUANT_Q5_1}, .activations = "int8")
MODEL_TEST(q4_k_int8, .model = {WIDE, .matrix_format = QUANT_Q4_K}, .activations = "int8")
MODEL_TEST(q5_k_int8, .model = {WIDE, .matrix_format = QUANT_Q5_K}, .activations = "int8")
MODEL_TEST(q6_k_int8, .model = {WIDE, .matrix_format = QUANT_Q6_K}, .activations = "int8")
MODEL_TEST(iq4_nl, .model = {SMALL, .matrix_format = QUANT_IQ4_NL})
MODEL_TEST(iq4_nl_int8, .model = {SMALL, .matrix_format = QUANT_IQ4_NL}, .activations = "int8")
// Rows that do not fill the last tile of 16.
MODEL_TEST(odd_rows,
           .model = {.num_heads = 4, .embd = 64, .ffn = 88, .num_kv_heads = 2, .vocab = 277})
MODEL_TEST(odd_vocabulary_int8, .model = {SMALL, .vocab = 285, .matrix_format = QUANT_Q4_1},
           .activations = "int8")
MODEL_TEST(one_kv_head, .model = {SMALL_BUT_KV, .matrix_format = QUANT_F32, .num_kv_heads = 1})
MODEL_TEST(all_kv_heads_halves,
           .model = {SMALL_BUT_KV, .matrix_format = QUANT_F32, .num_kv_heads = 4},
           .is_halves = true, .bucket = 32)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),
        cmocka_unit_test(test_f16_f16_kv),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_q8_0),
        cmocka_unit_test(test_q8_0_int8),
        cmocka_unit_test(test_q4_0),
        cmocka_unit_test(test_q4_0_int8),
        cmocka_unit_test(test_q4_0_bf16),
        cmocka_unit_test(test_q4_1),
        cmocka_unit_test(test_q4_1_int8),
        cmocka_unit_test(test_q5_0),
        cmocka_unit_test(test_q5_0_int8),
        cmocka_unit_test(test_q5_1),
        cmocka_unit_test(test_q5_1_int8),
        cmocka_unit_test(test_q4_k_int8),
        cmocka_unit_test(test_q5_k_int8),
        cmocka_unit_test(test_q6_k_int8),
        cmocka_unit_test(test_iq4_nl),
        cmocka_unit_test(test_iq4_nl_int8),
        cmocka_unit_test(test_one_kv_head),
        cmocka_unit_test(test_all_kv_heads_halves),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_odd_vocabulary_int8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
