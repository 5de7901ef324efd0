// Innermost loops: items that share them, some lanes at a time; reductions in vector accumulators.
// See lower_linalg.h for the order of sums.
#include <string.h>

#include "passes/lower_linalg.h"

enum { MAX_LANES = 16, MAX_STRAIGHT = 4, MAX_UNROLL = 4, MAX_UNROLLED_OPS = 48 };

// ---------------------------------------------------------------- accumulators

static bool is_idempotent(IrOpKind kind) {
    switch (kind) {
    case IR_ARITH_MAXIMUMF:
    case IR_ARITH_MINIMUMF:
    case IR_ARITH_MAXNUMF:
    case IR_ARITH_MINNUMF:
    case IR_ARITH_MAXSI:
    case IR_ARITH_MINSI:
    case IR_ARITH_MAXUI:
    case IR_ARITH_MINUI:
    case IR_ARITH_ANDI:
    case IR_ARITH_ORI: return true;
    default: return false;
    }
}

// How partial results of a combiner are joined.
static IrOpKind joining_op(const LlItem *item, uint32_t out) {
    if (item->folds_bits[out]) return IR_ARITH_MAXUI;
    IrOpKind kind = item->combiner[out]->kind;
    return kind == IR_MATH_FMA ? IR_ARITH_ADDF : kind;
}

// What changes nothing when joined: -0 for sums, so that a sum of -0 stays -0.
static IrValue *neutral(LowerLinalg *ll, IrOpKind kind, const IrType *type) {
    if (kind == IR_ARITH_ADDF) return ll_constant(ll, ir_attr_float(ll->m, -0.0, type), type);
    if (kind == IR_ARITH_MULF) return ll_constant(ll, ir_attr_float(ll->m, 1.0, type), type);
    return ll_constant(ll, ir_attr_int(ll->m, 0, type), type);
}

static IrValue *extract_lane(LowerLinalg *ll, IrValue *vector, int64_t lane) {
    IrModule *m = ll->m;
    IrNamedAttr attr = {ir_intern(m, "static_position"),
                        ir_attr_dense_array(m, ir_type_int(m, 64), 1, &lane)};
    IrOp *op = build_op_full(&ll->b, &(IrOpSpec){.kind = IR_VECTOR_EXTRACT,
                                                 .num_operands = 1,
                                                 .operands = &vector,
                                                 .num_results = 1,
                                                 .result_types = &vector->type->elem,
                                                 .num_attrs = 1,
                                                 .attrs = &attr,
                                                 .segments = {1}});
    return ir_op_result(op, 0);
}

// Joins the lanes by halves: lane i with lane i + n/2.
static IrValue *join_lanes(LowerLinalg *ll, IrOpKind kind, IrValue *vector) {
    for (uint32_t lanes = (uint32_t)vector->type->shape[0] / 2; lanes > 1; lanes /= 2) {
        int64_t low[MAX_LANES], high[MAX_LANES];
        for (uint32_t l = 0; l < lanes; l++) {
            low[l] = l;
            high[l] = lanes + l;
        }
        vector = build_binary(&ll->b, kind, ll_shuffle(ll, vector, lanes, low),
                              ll_shuffle(ll, vector, lanes, high));
    }
    return build_binary(&ll->b, kind, extract_lane(ll, vector, 0), extract_lane(ll, vector, 1));
}

typedef struct Inner {
    LlItem **items;
    uint32_t num_items;
    uint32_t lanes, pack, unroll;
} Inner;

static uint32_t num_outs(const LlItem *item) {
    return item->op->segments[1];
}

// Is output `out` of the item folded over the loop?
static bool folds(const LlItem *item, uint32_t out) {
    return item->start[out] != NULL;
}

// Before lanes of this width: every lane neutral, or the start value where that does no harm.
static void open_accs(LowerLinalg *ll, LlItem *item, uint32_t lanes) {
    for (uint32_t o = 0; o < num_outs(item); o++) {
        item->acc[o] = NULL;
        if (!folds(item, o)) continue;
        if (lanes == 1) {
            item->acc[o] = item->start[o];
            continue;
        }
        IrOpKind kind = joining_op(item, o);
        IrValue *init =
            is_idempotent(kind) ? item->start[o] : neutral(ll, kind, item->start[o]->type);
        item->acc[o] = ll_splat(ll, init, lanes);
    }
}

// After them: one scalar again, the start of what follows.
static void close_accs(LowerLinalg *ll, LlItem *item, uint32_t lanes) {
    for (uint32_t o = 0; o < num_outs(item); o++) {
        if (!folds(item, o)) continue;
        if (lanes == 1) {
            item->start[o] = item->acc[o];
        } else {
            IrOpKind kind = joining_op(item, o);
            IrValue *joined = join_lanes(ll, kind, item->acc[o]);
            item->start[o] =
                is_idempotent(kind) ? joined : build_binary(&ll->b, kind, item->start[o], joined);
        }
        item->acc[o] = NULL;
    }
}

static const IrType *bits_type(LowerLinalg *ll, const IrType *scalar) {
    return ir_type_int(ll->m, ir_type_bits(scalar));
}

// The maximum of magnitudes from a start that is none itself: their bit patterns are ordered like
// them, a NaN above all, and integers have one instruction for it.
static void fold_bits(LowerLinalg *ll, LlItem *item, uint32_t out) {
    const IrOp *combiner = item->combiner[out];
    const IrAttr *start = item->start[out] ? ir_value_constant(item->start[out]) : NULL;
    item->folds_bits[out] = false;
    if (!item->is_vector || !combiner || combiner->kind != IR_ARITH_MAXIMUMF || !start) return;
    const IrValue *acc = ir_op_block(item->op, 0)->args[item->op->segments[0] + out];
    const IrValue *value = ir_op_operand(combiner, ir_op_operand(combiner, 0) == acc ? 1 : 0);
    const IrType *type = item->start[out]->type;
    bool is_magnitude = value->def_op && value->def_op->kind == IR_MATH_ABSF;
    if (!is_magnitude || start->bits >> (ir_type_bits(type) - 1) != 0) return;
    item->folds_bits[out] = true;
    const IrType *bits = bits_type(ll, type);
    item->start[out] = ll_constant(ll, ir_attr_int(ll->m, (int64_t)start->bits, bits), bits);
}

static void load_starts(LowerLinalg *ll, LlItem *item) {
    bool reduces = item->vector_loop < item->num_loops && !item->is_parallel[item->vector_loop];
    for (uint32_t o = 0; o < num_outs(item); o++) {
        item->start[o] = item->acc[o] = NULL;
        item->folds_bits[o] = false;
        if (!reduces) continue;
        uint32_t i = item->op->segments[0] + o;
        const IrAffineMap *map = ir_linalg_map(ll->m, item->op, i);
        bool is_fixed = true;
        for (uint32_t d = 0; d < map->num_results; d++)
            is_fixed &= !ir_affine_uses_dim(map->results[d], item->vector_loop);
        if (!is_fixed || ir_value_is_unused(ir_op_block(item->op, 0)->args[i])) continue;
        IrValue *indices[LL_MAX_RANK];
        for (uint32_t d = 0; d < map->num_results; d++)
            indices[d] = ll_apply(ll, map->results[d], item->ivs, item->num_loops);
        item->start[o] = ll_load(ll, ir_op_operand(item->op, i), indices, 1);
        fold_bits(ll, item, o);
    }
}

static void store_results(LowerLinalg *ll, LlItem *item) {
    for (uint32_t o = 0; o < num_outs(item); o++) {
        if (!folds(item, o)) continue;
        uint32_t i = item->op->segments[0] + o;
        const IrAffineMap *map = ir_linalg_map(ll->m, item->op, i);
        IrValue *indices[LL_MAX_RANK];
        for (uint32_t d = 0; d < map->num_results; d++)
            indices[d] = ll_apply(ll, map->results[d], item->ivs, item->num_loops);
        IrValue *result = item->start[o];
        if (item->folds_bits[o])
            result = build_cast(&ll->b, IR_ARITH_BITCAST, result,
                                ir_op_operand(item->op, i)->type->elem);
        ll_store(ll, result, ir_op_operand(item->op, i), indices, 1);
        item->start[o] = NULL;
    }
}

// ---------------------------------------------------------------- loops

static void emit_at(LowerLinalg *ll, const Inner *inner, IrValue *base, uint32_t lanes) {
    for (uint32_t i = 0; i < inner->num_items; i++) ll_emit_lanes(ll, inner->items[i], base, lanes);
}

// As many accumulators as the loop is unrolled, so that sums do not wait for each other.
enum { MAX_ACCS = 32 };
typedef struct Accs {
    IrValue *values[MAX_UNROLL][MAX_ACCS];
    uint32_t num; // of one copy
} Accs;

static void gather_accs(const Inner *inner, Accs *accs, uint32_t copy) {
    uint32_t num = 0;
    for (uint32_t i = 0; i < inner->num_items; i++)
        for (uint32_t o = 0; o < num_outs(inner->items[i]); o++)
            if (folds(inner->items[i], o)) accs->values[copy][num++] = inner->items[i]->acc[o];
    accs->num = num;
}

static void scatter_accs(const Inner *inner, const Accs *accs, uint32_t copy) {
    uint32_t num = 0;
    for (uint32_t i = 0; i < inner->num_items; i++)
        for (uint32_t o = 0; o < num_outs(inner->items[i]); o++)
            if (folds(inner->items[i], o)) inner->items[i]->acc[o] = accs->values[copy][num++];
}

static void join_copies(LowerLinalg *ll, const Inner *inner, Accs *accs, uint32_t copies) {
    for (uint32_t width = copies / 2; width > 0; width /= 2)
        for (uint32_t c = 0; c < width; c++) {
            uint32_t num = 0;
            for (uint32_t i = 0; i < inner->num_items; i++)
                for (uint32_t o = 0; o < num_outs(inner->items[i]); o++) {
                    if (!folds(inner->items[i], o)) continue;
                    accs->values[c][num] =
                        build_binary(&ll->b, joining_op(inner->items[i], o), accs->values[c][num],
                                     accs->values[c + width][num]);
                    num++;
                }
        }
    scatter_accs(inner, accs, 0);
}

// trips * unroll steps of `step` iterations from 0.
static void emit_loop(LowerLinalg *ll, const Inner *inner, int64_t trips, int64_t step) {
    Accs accs = {0};
    uint32_t copies = inner->unroll;
    for (uint32_t c = 0; c < copies; c++) gather_accs(inner, &accs, c);
    IrValue *iters[MAX_UNROLL * MAX_ACCS];
    bool splits = inner->lanes > 1; // scalar folds keep their one order
    uint32_t num_copies = splits ? copies : 1, num_iters = 0;
    for (uint32_t c = 0; c < num_copies; c++)
        for (uint32_t a = 0; a < accs.num; a++) iters[num_iters++] = accs.values[c][a];
    for (uint32_t i = 0; i < inner->num_items; i++) ll_kill_outputs(ll, inner->items[i]);
    Builder outer;
    IrOp *loop = ll_open_loop(ll, ll_index(ll, 0), ll_index(ll, trips * copies * step),
                              copies * step, num_iters, iters, &outer);
    uint32_t mark = ll_enter(ll);
    IrBlock *body = ir_op_block(loop, 0);
    for (uint32_t c = 0; c < num_copies; c++)
        for (uint32_t a = 0; a < accs.num; a++)
            accs.values[c][a] = body->args[1 + c * accs.num + a];
    for (uint32_t c = 0; c < copies; c++) {
        if (splits || c == 0) scatter_accs(inner, &accs, splits ? c : 0);
        const IrAffineExpr *at = ir_affine_binary(ll->m, IR_AFFINE_ADD, ir_affine_dim(ll->m, 0),
                                                  ir_affine_const(ll->m, c * step));
        emit_at(ll, inner, ll_apply(ll, at, &body->args[0], 1), inner->lanes);
        gather_accs(inner, &accs, splits ? c : 0);
    }
    num_iters = 0;
    for (uint32_t c = 0; c < num_copies; c++)
        for (uint32_t a = 0; a < accs.num; a++) iters[num_iters++] = accs.values[c][a];
    build_yield(&ll->b, IR_SCF_YIELD, num_iters, iters);
    ll_leave(ll, mark);
    ll->b = outer;
    for (uint32_t c = 0; c < num_copies; c++)
        for (uint32_t a = 0; a < accs.num; a++)
            accs.values[c][a] = ir_op_result(loop, c * accs.num + a);
    if (accs.num > 0) join_copies(ll, inner, &accs, num_copies);
}

static uint32_t count_body_ops(const Inner *inner) {
    uint32_t num = 0;
    for (uint32_t i = 0; i < inner->num_items; i++)
        FOR_EACH_OP(op, ir_op_block(inner->items[i]->op, 0)) {
            bool is_long = op->kind == IR_MATH_EXP || op->kind == IR_MATH_TANH ||
                           op->kind == IR_MATH_ERF || op->kind == IR_MATH_SIN ||
                           op->kind == IR_MATH_COS || op->kind == IR_MATH_LOG ||
                           op->num_regions > 0;
            num += is_long ? MAX_UNROLLED_OPS : 1;
        }
    return num;
}

// Steps of the vector loop with `lanes` lanes, starting at *at; advances it.
static void emit_steps(LowerLinalg *ll, Inner *inner, uint32_t lanes, int64_t *at, int64_t range) {
    int64_t step = MAX(1u, lanes / inner->pack), num = (range - *at) / step;
    if (num == 0) return;
    for (uint32_t i = 0; i < inner->num_items; i++) open_accs(ll, inner->items[i], lanes);
    if (num > MAX_STRAIGHT && *at == 0) {
        inner->lanes = lanes;
        inner->unroll = MAX_UNROLL;
        while (inner->unroll > 1 && (num % inner->unroll != 0 ||
                                     inner->unroll * count_body_ops(inner) > MAX_UNROLLED_OPS))
            inner->unroll /= 2;
        emit_loop(ll, inner, num / inner->unroll, step);
    } else {
        for (int64_t n = 0; n < num; n++) emit_at(ll, inner, ll_index(ll, *at + n * step), lanes);
    }
    *at += num * step;
    for (uint32_t i = 0; i < inner->num_items; i++) close_accs(ll, inner->items[i], lanes);
}

void ll_emit_inner(LowerLinalg *ll, LlItem **items, uint32_t num_items) {
    const LlItem *first = items[0];
    Inner inner = {.items = items, .num_items = num_items, .pack = first->pack};
    int64_t range = first->vector_loop < first->num_loops ? first->ranges[first->vector_loop] : 1;
    uint32_t lanes = first->is_vector ? MAX_LANES : 1;
    while (lanes > 1 && lanes / first->pack > range) lanes /= 2;
    if (lanes < 4 && first->pack == 1) lanes = 1;
    ll->splat_lanes = lanes;
    for (uint32_t i = 0; i < num_items; i++) {
        load_starts(ll, items[i]);
        ll_emit_uniform(ll, items[i], lanes);
    }
    int64_t at = 0;
    for (; lanes > 1 && lanes >= first->pack && (lanes >= 4 || first->pack > 1); lanes /= 2)
        emit_steps(ll, &inner, lanes, &at, range);
    if (first->pack == 1) emit_steps(ll, &inner, 1, &at, range);
    BUG_IF(at != range, "%lld of %lld iterations emitted", (long long)at, (long long)range);
    for (uint32_t i = 0; i < num_items; i++) store_results(ll, items[i]);
}
