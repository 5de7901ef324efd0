// Part of raise-convolutions: convolutions in groups, each of which reads its own part of the
// channels.
//
//   %y = generic [n, oh, ow, g, f, r, s, c] ins(%x : [n, h, w, g, c], %w : [r, s, c, g, f] in any
//        order), a sum of products
//   -> %y = generic [n, oh, ow, k, r, s, c] ins(%x : [n, h, w, g * c], %w : [r, s, c, g * f])
//        {ingot.contract = "conv"}, which reads channel (k floordiv F) * C + c
//
// Groups of one channel each are a depthwise convolution. Groups whose results fill no vector stay
// as they are.
#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/raise_conv.h"

enum { LANES = 8, NUM_LOOPS = 8, L_N = 0, L_OH, L_OW, L_G, L_F, L_R, L_S, L_C };

static const IrAttr *pair_attr(IrModule *m, const int64_t *values) {
    const int64_t two = 2;
    return ir_attr_dense(m, ir_type_tensor(m, 1, &two, ir_type_int(m, 64)), values,
                         2 * sizeof *values, false);
}

static IrValue *depthwise(Builder *b, const GroupedConv *c, IrValue *start) {
    const uint32_t groups[] = {1, 1, 2};
    IrValue *operands[] = {c->x, build_collapse(b, c->w, 3, groups), start};
    IrNamedAttr attrs[] = {{"strides", pair_attr(b->m, c->strides)},
                           {"dilations", pair_attr(b->m, c->dilations)}};
    IrOp *op = build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWC,
                                            .num_operands = 3,
                                            .operands = operands,
                                            .num_results = 1,
                                            .result_types = &start->type,
                                            .num_attrs = 2,
                                            .attrs = attrs,
                                            .segments = {2, 1}});
    return ir_op_result(op, 0);
}

bool raise_takes_groups(int64_t groups, int64_t inputs, int64_t results) {
    bool is_depthwise = inputs == 1 && results == 1 && groups % LANES == 0;
    return groups > 1 && (is_depthwise || results % LANES == 0);
}

IrValue *raise_grouped(Builder *b, const GroupedConv *c, const IrType *type) {
    IrModule *m = b->m;
    int64_t inputs = c->w->type->shape[2], results = type->shape[3] / c->groups;
    IrValue *start = build_filled(b, type, 0.0), *ins[] = {c->x, c->w};
    if (inputs == 1 && results == 1) return depthwise(b, c, start);
    const IrAffineExpr *x[] = {ir_affine_dim(m, 0),
                               conv_index(m, 1, c->strides[0], 4, c->dilations[0]),
                               conv_index(m, 2, c->strides[1], 5, c->dilations[1]),
                               conv_part_index(m, 3, results, inputs, 6)};
    const IrAffineMap *maps[] = {ir_affine_map(m, 7, 0, 4, x),
                                 build_dims_map(m, 7, 4, 4u, 5u, 6u, 3u),
                                 build_dims_map(m, 7, 4, 0u, 1u, 2u, 3u)};
    Builder body;
    IrOp *op = build_generic(b, 2, ins, 1, &start, maps, "pppprrr", &body);
    contraction_mark(m, op, "conv");
    IrValue **args = body.block->args, *sum = build_fma(&body, args[0], args[1], args[2]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    return ir_op_result(op, 0);
}

// ---- reading a generic

// Yields acc + a * b, or fma(a, b, acc), and computes nothing else.
static bool is_sum_of_products(const IrBlock *body) {
    if (body->num_args != 3) return false;
    const IrOp *yield = ir_block_terminator(body), *sum = ir_op_operand(yield, 0)->def_op;
    IrValue **args = body->args;
    if (!sum || sum->block != body) return false;
    if (sum->kind == IR_MATH_FMA)
        return ir_op_operand(sum, 2) == args[2] &&
               ((ir_op_operand(sum, 0) == args[0] && ir_op_operand(sum, 1) == args[1]) ||
                (ir_op_operand(sum, 0) == args[1] && ir_op_operand(sum, 1) == args[0]));
    if (sum->kind != IR_ARITH_ADDF) return false;
    uint32_t at = ir_op_operand(sum, 0) == args[2] ? 1 : 0;
    const IrOp *product = ir_op_operand(sum, at)->def_op;
    if (ir_op_operand(sum, 1 - at) != args[2] || !product || product->kind != IR_ARITH_MULF)
        return false;
    return (ir_op_operand(product, 0) == args[0] && ir_op_operand(product, 1) == args[1]) ||
           (ir_op_operand(product, 0) == args[1] && ir_op_operand(product, 1) == args[0]);
}

// Where the weights hold loops r, s, c, g, f: dimension of each; false if they hold others.
static bool read_weights(const IrAffineMap *map, uint32_t *out_dims) {
    static const uint32_t loops[] = {L_R, L_S, L_C, L_G, L_F};
    if (map->num_results != 5) return false;
    for (uint32_t i = 0; i < 5; i++) {
        bool found = false;
        for (uint32_t r = 0; r < 5 && !found; r++) {
            uint32_t dim;
            found = ir_affine_is_dim(map->results[r], &dim) && dim == loops[i];
            if (found) out_dims[i] = r;
        }
        if (!found) return false;
    }
    return true;
}

static bool is_dim(const IrAffineExpr *expr, uint32_t dim) {
    uint32_t is;
    return ir_affine_is_dim(expr, &is) && is == dim;
}

static bool read_generic(IrModule *m, const IrOp *op, GroupedConv *c, uint32_t *out_dims) {
    if (op->segments[0] != 2 || op->segments[1] != 1 || ir_linalg_num_loops(op) != NUM_LOOPS ||
        !raise_takes(op) ||
        (op->kind == IR_LINALG_GENERIC && !is_sum_of_products(ir_op_block(op, 0))))
        return false;
    const IrAffineMap *x = ir_linalg_map(m, op, 0);
    if (x->num_results != 5 || !is_dim(x->results[0], L_N) || !is_dim(x->results[3], L_G) ||
        !is_dim(x->results[4], L_C) ||
        !conv_read_window(x->results[1], NUM_LOOPS, L_OH, L_R, &c->strides[0], &c->dilations[0]) ||
        !conv_read_window(x->results[2], NUM_LOOPS, L_OW, L_S, &c->strides[1], &c->dilations[1]) ||
        !read_weights(ir_linalg_map(m, op, 1), out_dims) ||
        ir_linalg_map(m, op, 2) != build_dims_map(m, NUM_LOOPS, 5, 0u, 1u, 2u, 3u, 4u))
        return false;
    const int64_t *xs = ir_op_operand(op, 0)->type->shape, *os = op->results[0].type->shape;
    c->groups = os[3];
    return raise_takes_groups(c->groups, xs[4], os[4]);
}

// [.., g, c] as [.., g * c]: what it was expanded from, or joined.
static IrValue *joined(Builder *b, IrValue *value, const uint32_t *groups) {
    const IrOp *def = value->def_op;
    IrValue *made = build_collapse(b, value, 4, groups);
    if (!def || def->kind != IR_TENSOR_EXPAND_SHAPE || ir_op_operand(def, 0)->type != made->type)
        return made;
    ir_op_erase(b->m, made->def_op);
    return ir_op_operand(def, 0);
}

IrValue *raise_joined(Builder *b, IrValue *value, uint32_t first) {
    uint32_t groups[] = {1, 1, 1, 1};
    groups[first] = 2;
    return joined(b, value, groups);
}

IrValue *raise_group_weights(Builder *b, IrValue *w, const uint32_t *dims) {
    IrModule *m = b->m;
    int64_t shape[5];
    const IrAffineExpr *source[5];
    bool is_ordered = true;
    for (uint32_t i = 0; i < 5; i++) {
        shape[i] = w->type->shape[dims[i]];
        source[dims[i]] = ir_affine_dim(m, i);
        is_ordered &= dims[i] == i;
    }
    if (is_ordered) return raise_joined(b, w, 3);
    IrValue *out = build_empty(b, ir_type_tensor(m, 5, shape, w->type->elem));
    const IrAffineMap *maps[] = {ir_affine_map(m, 5, 0, 5, source), ir_affine_identity(m, 5)};
    Builder body;
    IrOp *op = build_generic(b, 1, &w, 1, &out, maps, "ppppp", &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return raise_joined(b, ir_op_result(op, 0), 3);
}

void raise_give_groups(Builder *b, IrOp *op, IrValue *value, uint32_t first) {
    IrValue *old = ir_op_result(op, 0);
    uint32_t groups[] = {1, 1, 1, 1};
    groups[first] = 2;
    FOR_EACH_USE(use, old) {
        IrOp *reader = use->owner; // left to be removed: a walk may stand on it
        if (reader->kind == IR_TENSOR_COLLAPSE_SHAPE && reader->results[0].type == value->type)
            ir_value_replace_all(&reader->results[0], value);
    }
    ir_value_replace_all(old, build_expand(b, value, old->type, 4, groups));
    ir_op_erase(b->m, op);
}

// [n, h, w, c] with each channel `times` times, side by side.
static IrValue *repeated(Builder *b, IrValue *x, int64_t times) {
    const int64_t *s = x->type->shape, shape[] = {s[0], s[1], s[2], s[3], times};
    IrValue *out = build_empty(b, ir_type_tensor(b->m, 5, shape, x->type->elem));
    const IrAffineMap *maps[] = {build_dims_map(b->m, 5, 4, 0u, 1u, 2u, 3u),
                                 ir_affine_identity(b->m, 5)};
    Builder body;
    IrOp *op = build_generic(b, 1, &x, 1, &out, maps, "ppppp", &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return raise_joined(b, ir_op_result(op, 0), 3);
}

// x [n, h, w, c], w [r, s, c, k], result [n, oh, ow, c, k]: groups of one channel with k results
// each, or, where those fill no vector, a depthwise convolution of every channel k times.
static IrOp *raise_multiplied(IrModule *m, IrOp *op) {
    const int64_t *ws = ir_op_operand(op, 1)->type->shape, *os = op->results[0].type->shape;
    if (!raise_takes(op)) return NULL;
    int64_t groups = ws[2], times = ws[3], all = groups * times;
    bool is_grouped = raise_takes_groups(groups, 1, times);
    if (!is_grouped && all % LANES) return NULL;
    Builder b = build_before(m, op);
    const uint32_t join[] = {1, 1, 2};
    const int64_t weights[] = {ws[0], ws[1], 1, all}, shape[] = {os[0], os[1], os[2], all};
    const IrType *elem = op->results[0].type->elem;
    IrValue *x = ir_op_operand(op, 0), *w = build_collapse(&b, ir_op_operand(op, 1), 3, join);
    GroupedConv c = {.x = is_grouped || times == 1 ? x : repeated(&b, x, times),
                     .w = build_expand(&b, w, ir_type_tensor(m, 4, weights, elem), 3, join),
                     .groups = is_grouped ? groups : all};
    raise_read_window(op, &c);
    IrValue *y = raise_grouped(&b, &c, ir_type_tensor(m, 4, shape, elem));
    raise_give_groups(&b, op, y, 3);
    return y->def_op;
}

IrOp *raise_groups(IrModule *m, IrOp *op) {
    GroupedConv c;
    uint32_t dims[5];
    if (op->kind == IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWCM) return raise_multiplied(m, op);
    bool is_other = op->kind != IR_LINALG_GENERIC && op->kind != IR_LINALG_CONV_2D_NHWGC_GFHWC;
    if (is_other || ir_op_attr(op, "ingot.contract") || !read_generic(m, op, &c, dims)) return NULL;
    Builder b = build_before(m, op);
    c.x = raise_joined(&b, ir_op_operand(op, 0), 3);
    c.w = raise_group_weights(&b, ir_op_operand(op, 1), dims);
    const int64_t *os = op->results[0].type->shape, shape[] = {os[0], os[1], os[2], os[3] * os[4]};
    IrValue *y = raise_grouped(&b, &c, ir_type_tensor(m, 4, shape, op->results[0].type->elem));
    raise_give_groups(&b, op, y, 3);
    return y->def_op;
}
