// assign-precision: gives the activations of every contraction with weights the type the recipe
// asks for.
//   int8: each row of x is quantised in blocks as long as the weight's (x ~ xs * xq, xs = amax /
//   127), the
//         products of codes are summed in i32, exactly, and scaled once per block
//   bf16: x is rounded to bf16
//   f32:  nothing changes
// and every op of a class the recipe says so of its storage, compute and accumulate type:
// narrow_ops.c.
//
//   %y = generic ins(%x, %c, %s) {ingot.contract = "weights"}
//   -> %xq, %xs = quantise(%x)
//      %p = generic ins(%xq, %c) outs(i32) {ingot.contract = "dot"}
//      %y = generic ins(%p, %xs, %s) {ingot.contract = "scale"}
//
// A row's block with an element that is no number, or infinite, has no scale: codes of such
// elements are 0, and the scale, NaN or infinite, makes every sum with the block NaN.
//
// The zero point moves out of the sum of products: sum x (c + z) = sum x c + z sum x, exact in
// integers. Needs: raised.  Keeps: all.  Changes results as the recipe says.
#include <stdlib.h>

#include "passes/contraction.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/narrow_ops.h"
#include "passes/pass.h"

typedef struct Quantised {
    IrValue *x;          // [M, KB, B] f32
    IrValue *xq;         // [M, KB, B] i8
    IrValue *xs;         // [M, KB] f32
    IrValue *sum;        // [M, KB] i32: sum of xq
    IrValue *scaled_sum; // [M, KB] f32: xs * sum, NULL until asked for
    int64_t zeros[4];    // zero points asked for so far
    IrValue *zero_sums[4];
    uint32_t num_zeros;
} Quantised;

typedef struct Quantisations {
    Quantised items[64];
    uint32_t count;
} Quantisations;

static IrValue *rowwise(Builder *b, uint32_t num_ins, IrValue *const *ins, const IrType *out_type,
                        Builder *body) {
    IrValue *out = build_empty(b, out_type);
    const IrAffineMap *maps[4];
    for (uint32_t i = 0; i <= num_ins; i++) maps[i] = ir_affine_identity(b->m, 2);
    return ir_op_result(build_generic(b, num_ins, ins, 1, &out, maps, "pp", body), 0);
}

static IrValue *reduce_block(Builder *b, IrValue *in, const IrType *out_type, Builder *body) {
    IrValue *out = build_filled(b, out_type, 0.0);
    const IrAffineMap *maps[] = {ir_affine_identity(b->m, 3), build_dims_map(b->m, 3, 2, 0u, 1u)};
    return ir_op_result(build_generic(b, 1, &in, 1, &out, maps, "ppr", body), 0);
}

static void yield1(Builder *body, IrValue *value) {
    build_yield(body, IR_LINALG_YIELD, 1, &value);
}

// xs = amax / 127; xq = round(x / xs) as x * (127 / amax), 0 where amax vanishes.
static void build_quantise(Builder *b, Quantised *q) {
    IrModule *m = b->m;
    const int64_t *shape = q->x->type->shape;
    const IrType *f32 = ir_type_f32(m), *i8 = ir_type_int(m, 8), *i32 = ir_type_int(m, 32);
    const IrType *per_block = ir_type_tensor(m, 2, shape, f32);
    Builder body;
    IrValue *amax = reduce_block(b, q->x, per_block, &body);
    IrValue *magnitude = build_unary(&body, IR_MATH_ABSF, body.block->args[0]);
    yield1(&body, build_binary(&body, IR_ARITH_MAXIMUMF, magnitude, body.block->args[1]));

    q->xs = rowwise(b, 1, &amax, per_block, &body);
    IrValue *largest = build_float(&body, MUTATED(QUANTISE_SCALE) ? 64.0 : 127.0, f32);
    yield1(&body, build_binary(&body, IR_ARITH_DIVF, body.block->args[0], largest));

    IrValue *inverse = rowwise(b, 1, &amax, per_block, &body);
    IrValue *zero = build_float(&body, 0.0, f32);
    // Below 2^-120 the ratio would overflow: such a block counts as zero.
    IrValue *cmp_operands[] = {body.block->args[0], build_float(&body, 0x1p-120, f32)};
    IrNamedAttr predicate = {"predicate", ir_attr_string(m, "ogt")};
    const IrType *i1 = ir_type_int(m, 1);
    IrOp *is_large = build_op_full(&body, &(IrOpSpec){.kind = IR_ARITH_CMPF,
                                                      .num_operands = 2,
                                                      .operands = cmp_operands,
                                                      .num_results = 1,
                                                      .result_types = &i1,
                                                      .num_attrs = 1,
                                                      .attrs = &predicate});
    IrValue *ratio =
        build_binary(&body, IR_ARITH_DIVF, build_float(&body, 127.0, f32), body.block->args[0]);
    yield1(&body, build_select(&body, ir_op_result(is_large, 0), ratio, zero));

    IrValue *out = build_empty(b, ir_type_tensor(m, 3, shape, i8));
    const IrAffineMap *maps[] = {ir_affine_identity(m, 3), build_dims_map(m, 3, 2, 0u, 1u),
                                 ir_affine_identity(m, 3)};
    IrValue *ins[] = {q->x, inverse};
    IrOp *round = build_generic(b, 2, ins, 1, &out, maps, "ppp", &body);
    IrValue *v = build_binary(&body, IR_ARITH_MULF, body.block->args[0], body.block->args[1]);
    v = build_unary(&body, IR_MATH_ROUNDEVEN, v);
    zero = build_float(&body, 0.0, f32);
    v = build_select(&body, build_cmpf(&body, "ord", v, v), v, zero); // NaN has no code
    yield1(&body, build_cast(&body, IR_ARITH_FPTOSI, v, i8));
    q->xq = ir_op_result(round, 0);

    q->sum = reduce_block(b, q->xq, ir_type_tensor(m, 2, shape, i32), &body);
    v = build_cast(&body, IR_ARITH_EXTSI, body.block->args[0], i32);
    yield1(&body, build_binary(&body, IR_ARITH_ADDI, body.block->args[1], v));
}

// x [M, K] behind the reshape [M, KB, B]; what another op makes is itself.
static IrValue *source_of(IrValue *x) {
    return x->def_op && x->def_op->kind == IR_TENSOR_EXPAND_SHAPE ? ir_op_operand(x->def_op, 0) : x;
}

// The source, with the block length: what identifies a quantisation.
static Quantised *find_quantised(Quantisations *all, IrValue *x) {
    const IrValue *source = source_of(x);
    for (uint32_t i = 0; i < all->count; i++) {
        Quantised *q = &all->items[i];
        if (source_of(q->x) == source && q->x->type == x->type) return q;
    }
    return NULL;
}

static IrValue *zero_sum(Builder *b, Quantised *q, int64_t zero) {
    for (uint32_t i = 0; i < q->num_zeros; i++)
        if (q->zeros[i] == zero) return q->zero_sums[i];
    Builder body;
    IrValue *result = rowwise(b, 1, &q->sum, q->sum->type, &body);
    IrValue *constant = build_int(&body, zero, ir_type_int(b->m, 32));
    yield1(&body, build_binary(&body, IR_ARITH_MULI, body.block->args[0], constant));
    if (q->num_zeros < ARRAY_LEN(q->zeros)) {
        q->zeros[q->num_zeros] = zero;
        q->zero_sums[q->num_zeros++] = result;
    }
    return result;
}

static IrValue *scaled_sum(Builder *b, Quantised *q) {
    if (q->scaled_sum) return q->scaled_sum;
    Builder body;
    IrValue *ins[] = {q->sum, q->xs};
    q->scaled_sum = rowwise(b, 2, ins, q->xs->type, &body);
    IrValue *sum = build_cast(&body, IR_ARITH_SITOFP, body.block->args[0], ir_type_f32(b->m));
    yield1(&body, build_binary(&body, IR_ARITH_MULF, sum, body.block->args[1]));
    return q->scaled_sum;
}

static IrValue *build_dot(Builder *b, IrValue *xq, IrValue *codes) {
    IrModule *m = b->m;
    const IrType *i32 = ir_type_int(m, 32);
    const int64_t *c = codes->type->shape;
    const int64_t shape[] = {xq->type->shape[0], c[0], c[1]};
    IrValue *out = build_filled(b, ir_type_tensor(m, 3, shape, i32), 0.0);
    const IrAffineMap *maps[] = {build_dims_map(m, 4, 3, 0u, 2u, 3u),
                                 build_dims_map(m, 4, 3, 1u, 2u, 3u),
                                 build_dims_map(m, 4, 3, 0u, 1u, 2u)};
    IrValue *ins[] = {xq, codes};
    Builder body;
    IrOp *op = build_generic(b, 2, ins, 1, &out, maps, "pppr", &body);
    contraction_mark(m, op, "dot");
    IrValue *x = build_cast(&body, IR_ARITH_EXTSI, body.block->args[0], i32);
    IrValue *code = build_cast(&body, IR_ARITH_EXTUI, body.block->args[1], i32);
    IrValue *product = build_binary(&body, IR_ARITH_MULI, x, code);
    yield1(&body, build_binary(&body, IR_ARITH_ADDI, body.block->args[2], product));
    return ir_op_result(op, 0);
}

static void to_int8(IrModule *m, IrOp *op, Quantisations *all) {
    Builder b = build_before(m, op);
    IrValue *x = ir_op_operand(op, 0);
    bool has_mins = op->segments[0] == 4;
    int64_t zero = contraction_zero(op);
    Quantised *q = find_quantised(all, x);
    if (!q) {
        BUG_IF(all->count == ARRAY_LEN(all->items), "too many contractions in one function");
        q = &all->items[all->count++];
        *q = (Quantised){.x = x};
        build_quantise(&b, q);
    }
    IrValue *zero_sums = zero != 0 ? zero_sum(&b, q, zero) : NULL;
    IrValue *scaled = has_mins ? scaled_sum(&b, q) : NULL;
    IrValue *ins[6] = {build_dot(&b, q->xq, ir_op_operand(op, 1)), q->xs, ir_op_operand(op, 2)};
    const IrAffineMap *per_row = build_dims_map(m, 3, 2, 0u, 2u);
    const IrAffineMap *per_weight = build_dims_map(m, 3, 2, 1u, 2u);
    const IrAffineMap *maps[7] = {ir_affine_identity(m, 3), per_row, per_weight};
    uint32_t n = 3, zero_at = 0, min_at = 0;
    if (zero != 0) {
        zero_at = n;
        maps[n] = per_row;
        ins[n++] = zero_sums;
    }
    if (has_mins) {
        min_at = n;
        maps[n] = per_row;
        ins[n++] = scaled;
        maps[n] = per_weight;
        ins[n++] = ir_op_operand(op, 3);
    }
    maps[n] = build_dims_map(m, 3, 2, 0u, 1u);
    IrValue *out = ir_op_operand(op, ir_op_segment_start(op, 1));
    Builder body;
    IrOp *scale = build_generic(&b, n, ins, 1, &out, maps, "ppr", &body);
    contraction_mark(m, scale, "scale");
    IrValue **args = body.block->args;
    IrValue *p = zero_at ? build_binary(&body, IR_ARITH_ADDI, args[0], args[zero_at]) : args[0];
    IrValue *v = build_cast(&body, IR_ARITH_SITOFP, p, ir_type_f32(m));
    v = build_binary(&body, IR_ARITH_MULF, v, args[1]);
    v = build_fma(&body, v, contraction_to_f32(&body, args[2]), args[n]);
    if (min_at) v = build_fma(&body, args[min_at], contraction_to_f32(&body, args[min_at + 1]), v);
    yield1(&body, v);
    ir_value_replace_all(ir_op_result(op, 0), ir_op_result(scale, 0));
    ir_op_erase(m, op);
}

// x is rounded once per distinct input, so that contractions that share it share the rounding.
static void to_bf16(IrModule *m, IrOp *op, Quantisations *all) {
    IrValue *x = ir_op_operand(op, 0);
    if (x->type->elem->kind != IR_TYPE_F32) return;
    Quantised *q = find_quantised(all, x);
    const IrType *type =
        ir_type_tensor(m, x->type->rank, x->type->shape, ir_type_float(m, IR_TYPE_BF16));
    Builder b = build_before(m, op), body;
    if (!q) {
        BUG_IF(all->count == ARRAY_LEN(all->items), "too many contractions in one function");
        q = &all->items[all->count++];
        IrValue *out = build_empty(&b, type);
        const IrAffineMap *identity = ir_affine_identity(m, type->rank);
        const IrAffineMap *maps[] = {identity, identity};
        IrOp *round =
            build_generic(&b, 1, &x, 1, &out, maps, type->rank == 3 ? "ppp" : "pp", &body);
        yield1(&body, build_cast(&body, IR_ARITH_TRUNCF, body.block->args[0], type->elem));
        *q = (Quantised){.x = x, .xq = ir_op_result(round, 0)};
    }
    ir_op_set_operand(op, 0, q->xq);
    IrBlock *block = ir_op_block(op, 0);
    IrValue *arg = block->args[0];
    arg->type = type->elem;
    Builder inner = {.m = m, .block = block, .before = block->first, .loc = op->loc};
    IrValue *wide = build_cast(&inner, IR_ARITH_EXTF, arg, ir_type_f32(m));
    FOR_EACH_USE_SAFE(use, arg)
    if (use->owner != wide->def_op)
        ir_op_set_operand(use->owner, (uint32_t)(use - use->owner->operands), wide);
}

Status pass_assign_precision(IrModule *m, DiagSink *sink) {
    PassConfig config;
    TRY(pass_config_read(m, sink, &config));
    bool is_int8 = str_equal(config.activations, "int8"),
         is_bf16 = str_equal(config.activations, "bf16");
    Quantisations *all = base_alloc(1, sizeof *all);
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body) continue;
        all->count = 0;
        narrow_ops(m, func, config.op_precisions);
        FOR_EACH_OP_SAFE(op, body) {
            bool is_weights = contraction_is(op, "weights");
            if (is_int8 && is_weights) to_int8(m, op, all);
            if (is_bf16 && (is_weights || contraction_is(op, "float"))) to_bf16(m, op, all);
        }
    }
    free(all);
    dce_module(m);
    return STATUS_OK;
}
