// Part of raise-convolutions: networks whose maps are [n, c, h, w] become channels-last. A
// convolution is computed on the transposed map; padding, crops, concatenations and elementwise ops
// that read what it gives are carried over, so that the transpositions between them have no reader
// and only those at the edges of the network are left.
//
//   %y = conv_nchw(%x, %w);  %z = generic(%y)      [n, c, h, w]
//   -> %a = transpose(%x);  %b = conv_nhwc(%a, transpose(%w));  %c = generic(%b);  %z =
//   transpose(%c)
#include <string.h>

#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/raise_conv.h"

typedef struct ChannelsLast {
    IrModule *m;
    IrValue **last; // by index of an [n, c, h, w] value: the same as [n, h, w, c]
    uint32_t num;
    const IrAffineMap *identity, *to_last, *to_first; // of a transposition's source
} ChannelsLast;

static const IrType *last_type(ChannelsLast *cl, const IrType *t) {
    const int64_t shape[] = {t->shape[0], t->shape[2], t->shape[3], t->shape[1]};
    return ir_type_tensor(cl->m, 4, shape, t->elem);
}

static const uint32_t last_dims[] = {0, 2, 3, 1}, first_dims[] = {0, 3, 1, 2};

// Does op transpose [n, h, w, c] to [n, c, h, w] (or back)?
static bool is_transposition(ChannelsLast *cl, const IrOp *op, const IrAffineMap *source) {
    if (!op || op->num_results != 1 || op->num_operands != 2 || op->results[0].type->rank != 4)
        return false;
    if (op->kind == IR_LINALG_GENERIC) {
        const IrBlock *body = ir_op_block(op, 0);
        if (ir_op_operand(ir_block_terminator(body), 0) != body->args[0]) return false;
    } else if (op->kind != IR_LINALG_TRANSPOSE)
        return false;
    return ir_linalg_map(cl->m, op, 0) == source && ir_linalg_map(cl->m, op, 1) == cl->identity;
}

static bool is_known(const ChannelsLast *cl, const IrValue *value) {
    return value->index < cl->num && cl->last[value->index];
}

static IrValue *slice_last(ChannelsLast *cl, Builder *b, const IrOp *op);

static bool is_static_slice(const IrOp *op, uint32_t num_operands) {
    return op->num_operands == num_operands && op->results[0].type->rank == 4 &&
           ir_op_operand(op, 0)->type->rank == 4;
}

// Padding around one value that nobody else reads; it goes around the transposed one.
static bool is_padding(const IrValue *value) {
    const IrOp *op = value->def_op;
    if (!op || op->kind != IR_TENSOR_INSERT_SLICE || !ir_value_has_one_use(value)) return false;
    const IrOp *into = ir_op_operand(op, 1)->def_op, *source = ir_op_operand(op, 0)->def_op;
    return op->num_operands == 2 && ir_op_operand(op, 0)->type->rank == 4 && into &&
           into->kind == IR_LINALG_FILL && (!source || source->kind != IR_TENSOR_INSERT_SLICE);
}

static IrValue *last_of(ChannelsLast *cl, Builder *b, IrValue *value) {
    if (is_known(cl, value)) return cl->last[value->index];
    IrValue *last;
    if (is_padding(value))
        last = slice_last(cl, b, value->def_op);
    else if (is_transposition(cl, value->def_op, cl->to_first))
        last = ir_op_operand(value->def_op, 0);
    else
        last = raise_reordered(b, value, last_dims);
    if (value->index < cl->num) cl->last[value->index] = last;
    return last;
}

// What a channels-last value is as [n, c, h, w].
static IrValue *first_of(ChannelsLast *cl, Builder *b, IrValue *last) {
    IrValue *first = raise_reordered(b, last, first_dims);
    if (first->index >= cl->num) { // grows with the ops made
        uint32_t num = first->index * 2;
        IrValue **table = ARENA_ARRAY(&cl->m->arena, IrValue *, num);
        memcpy(table, cl->last, cl->num * sizeof *table);
        cl->last = table;
        cl->num = num;
    }
    cl->last[first->index] = last;
    return first;
}

// The old result is what the new one gives when transposed back.
static void give(ChannelsLast *cl, IrOp *op, IrValue *last) {
    IrValue *old = ir_op_result(op, 0);
    Builder b = build_before(cl->m, op);
    ir_value_replace_all(old, first_of(cl, &b, last));
    ir_op_erase(cl->m, op);
}

// x [n, g, c, h, w], w [f, g, c, r, s] or [g, f, c, r, s], result [n, g, f, oh, ow].
static void convert_groups(ChannelsLast *cl, IrOp *op) {
    bool has_groups_first = op->kind == IR_LINALG_CONV_2D_NGCHW_GFCHW;
    const uint32_t g = has_groups_first ? 0 : 1, dims[] = {3, 4, 2, g, 1 - g};
    const int64_t *ws = ir_op_operand(op, 1)->type->shape, *os = op->results[0].type->shape;
    if (!raise_takes(op) || !raise_takes_groups(ws[g], ws[2], ws[1 - g])) return;
    Builder b = build_before(cl->m, op);
    GroupedConv c = {.groups = ws[g]};
    raise_read_window(op, &c);
    c.x = last_of(cl, &b, raise_joined(&b, ir_op_operand(op, 0), 1));
    c.w = raise_group_weights(&b, ir_op_operand(op, 1), dims);
    const int64_t first[] = {os[0], os[1] * os[2], os[3], os[4]};
    const IrType *type = ir_type_tensor(cl->m, 4, first, op->results[0].type->elem);
    IrValue *y = raise_grouped(&b, &c, last_type(cl, type));
    raise_give_groups(&b, op, first_of(cl, &b, y), 1);
}

// ---- elementwise

static bool is_elementwise(ChannelsLast *cl, const IrOp *op) {
    if (op->kind != IR_LINALG_GENERIC || op->num_results != 1 || ir_linalg_num_loops(op) != 4 ||
        op->results[0].type->rank != 4 || !ir_type_is_static(op->results[0].type))
        return false;
    bool any = false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrAffineMap *map = ir_linalg_map(cl->m, op, i);
        bool by_channel = i < op->segments[0] && map == build_dims_map(cl->m, 4, 1, 1u);
        if (map != cl->identity && !by_channel) return false;
        any |= is_known(cl, ir_op_operand(op, i));
    }
    FOR_EACH_OP(inner, ir_op_block(op, 0))
    if (inner->kind == IR_LINALG_INDEX || inner->kind == IR_TENSOR_EXTRACT) return false;
    return any;
}

static void convert_elementwise(ChannelsLast *cl, IrOp *op) {
    Builder b = build_before(cl->m, op), body;
    IrValue *ins[16], *out = NULL;
    const IrAffineMap *maps[17];
    uint32_t num = op->segments[0];
    if (num > 16) return;
    for (uint32_t i = 0; i < num; i++) {
        IrValue *value = ir_op_operand(op, i);
        bool is_map = value->type->rank == 4;
        ins[i] = is_map ? last_of(cl, &b, value) : value;
        maps[i] = is_map ? cl->identity : build_dims_map(cl->m, 4, 1, 3u);
    }
    IrBlock *old = ir_op_block(op, 0);
    bool reads = !ir_value_is_unused(old->args[num]);
    out = reads ? last_of(cl, &b, ir_op_operand(op, num))
                : build_empty(&b, last_type(cl, op->results[0].type));
    maps[num] = cl->identity;
    IrOp *made = build_generic(&b, num, ins, 1, &out, maps, "pppp", &body);
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i <= num; i++) ir_value_map_set(&map, old->args[i], body.block->args[i]);
    FOR_EACH_OP(inner, old) ir_block_append(body.block, ir_op_clone(cl->m, inner, &map));
    ir_value_map_deinit(&map);
    give(cl, op, ir_op_result(made, 0));
}

// ---- slices: crops, padding, concatenation

static const IrAttr *last_array(ChannelsLast *cl, const IrAttr *array) {
    const int64_t *v = array->values, order[] = {v[0], v[2], v[3], v[1]};
    return ir_attr_dense_array(cl->m, ir_type_int(cl->m, 64), 4, order);
}

// A part of a concatenation, which alone reads it, that was left as it is because what it inserts
// comes from no convolution. What it is inserted into has undefined elements, which no op may read.
static bool is_part(const ChannelsLast *cl, const IrValue *dest) {
    const IrOp *def = dest->def_op;
    return def && !is_known(cl, dest) && def->kind == IR_TENSOR_INSERT_SLICE &&
           is_static_slice(def, 2) && ir_value_has_one_use(dest);
}

// What a slice is inserted into: filled or empty tensors are made again.
static IrValue *last_start(ChannelsLast *cl, Builder *b, IrValue *dest) {
    const IrOp *def = dest->def_op;
    if (is_known(cl, dest) || !def) return last_of(cl, b, dest);
    if (def->kind == IR_TENSOR_EMPTY) return build_empty(b, last_type(cl, dest->type));
    if (def->kind != IR_LINALG_FILL) return last_of(cl, b, dest);
    return build_fill(b, ir_op_operand(def, 0), build_empty(b, last_type(cl, dest->type)));
}

// dest: of an insertion, channels-last.
static IrValue *slice_of(ChannelsLast *cl, Builder *b, const IrOp *op, IrValue *dest) {
    bool is_insert = op->kind == IR_TENSOR_INSERT_SLICE;
    IrValue *operands[2] = {last_of(cl, b, ir_op_operand(op, 0)), dest};
    IrNamedAttr attrs[3];
    static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
    for (uint32_t i = 0; i < 3; i++)
        attrs[i] = (IrNamedAttr){names[i], last_array(cl, ir_op_attr(op, names[i]))};
    const IrType *type = last_type(cl, op->results[0].type);
    IrOp *made = build_op_full(b, &(IrOpSpec){.kind = op->kind,
                                              .num_operands = is_insert ? 2 : 1,
                                              .operands = operands,
                                              .num_results = 1,
                                              .result_types = &type,
                                              .num_attrs = 3,
                                              .attrs = attrs,
                                              .segments = {is_insert ? 2 : 1}});
    return ir_op_result(made, 0);
}

static IrValue *slice_last(ChannelsLast *cl, Builder *b, const IrOp *op) {
    if (op->kind != IR_TENSOR_INSERT_SLICE) return slice_of(cl, b, op, NULL);
    IrValue *start = ir_op_operand(op, 1);
    uint32_t num = 0;
    for (; is_part(cl, start); start = ir_op_operand(start->def_op, 1)) num++;
    const IrOp **parts = ARENA_ARRAY(&cl->m->arena, const IrOp *, num + 1);
    const IrOp *part = op;
    for (uint32_t i = num + 1; i-- > 0; part = ir_op_operand(part, 1)->def_op) parts[i] = part;
    IrValue *last = last_start(cl, b, start);
    for (uint32_t i = 0; i <= num; i++) last = slice_of(cl, b, parts[i], last);
    return last;
}

static void convert_slice(ChannelsLast *cl, IrOp *op) {
    Builder b = build_before(cl->m, op);
    give(cl, op, slice_last(cl, &b, op));
}

// ---- named ops

// The channels-last op of a channels-first one; where the dimensions of its weights come from. The
// window of a pooling stays as it is.
static const struct Twin {
    IrOpKind first, last;
    uint32_t weights[4];
} twins[] = {
    {IR_LINALG_CONV_2D_NCHW_FCHW, IR_LINALG_CONV_2D_NHWC_HWCF, {2, 3, 1, 0}},
    {IR_LINALG_DEPTHWISE_CONV_2D_NCHW_CHW, IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWC, {1, 2, 0}},
    {IR_LINALG_POOLING_NCHW_MAX, IR_LINALG_POOLING_NHWC_MAX, {0}},
    {IR_LINALG_POOLING_NCHW_SUM, IR_LINALG_POOLING_NHWC_SUM, {0}},
};

static const struct Twin *twin_of(IrOpKind kind) {
    for (uint32_t i = 0; i < ARRAY_LEN(twins); i++)
        if (twins[i].first == kind) return &twins[i];
    return NULL;
}

static void convert_named(ChannelsLast *cl, IrOp *op, const struct Twin *twin) {
    bool is_conv = op->kind == IR_LINALG_CONV_2D_NCHW_FCHW;
    if (is_conv ? !raise_takes(op) : !raise_takes_window(op, op->results[0].type->shape[1])) return;
    Builder b = build_before(cl->m, op);
    IrValue *operands[] = {last_of(cl, &b, ir_op_operand(op, 0)), ir_op_operand(op, 1),
                           last_start(cl, &b, ir_op_operand(op, 2))};
    if (operands[1]->type->rank > 2) operands[1] = raise_reordered(&b, operands[1], twin->weights);
    give(cl, op, ir_op_result(raise_name(&b, op, twin->last, operands), 0));
}

static bool is_in_groups(IrOpKind kind) {
    return kind == IR_LINALG_CONV_2D_NGCHW_FGCHW || kind == IR_LINALG_CONV_2D_NGCHW_GFCHW;
}

static void convert_op(ChannelsLast *cl, IrOp *op) {
    const struct Twin *twin = twin_of(op->kind);
    if (twin)
        convert_named(cl, op, twin);
    else if (is_in_groups(op->kind))
        convert_groups(cl, op);
    else if (is_elementwise(cl, op))
        convert_elementwise(cl, op);
    else if (op->kind == IR_TENSOR_EXTRACT_SLICE && is_static_slice(op, 1)) {
        if (is_known(cl, ir_op_operand(op, 0))) convert_slice(cl, op);
    } else if (op->kind == IR_TENSOR_INSERT_SLICE && is_static_slice(op, 2)) {
        if (is_known(cl, ir_op_operand(op, 0)) || is_known(cl, ir_op_operand(op, 1)))
            convert_slice(cl, op);
    } else if (is_transposition(cl, op, cl->to_last) && is_known(cl, ir_op_operand(op, 0))) {
        ir_value_replace_all(ir_op_result(op, 0), cl->last[ir_op_operand(op, 0)->index]);
        ir_op_erase(cl->m, op);
    }
}

void raise_channels_last(IrModule *m, IrBlock *body) {
    ChannelsLast cl = {.m = m, .num = m->num_values};
    bool any = false;
    FOR_EACH_OP(op, body)
    any |= twin_of(op->kind) || is_in_groups(op->kind);
    if (!any) return;
    cl.last = ARENA_ARRAY(&m->arena, IrValue *, cl.num);
    cl.identity = ir_affine_identity(m, 4);
    cl.to_last = build_dims_map(m, 4, 4, 0u, 3u, 1u, 2u);
    cl.to_first = build_dims_map(m, 4, 4, 0u, 2u, 3u, 1u);
    FOR_EACH_OP_SAFE(op, body) convert_op(&cl, op);
}
