// Part of raise-convolutions: named convolutions and poolings as the ones that the rest of the pass
// knows. Along one direction they are those over maps of height 1; weights in another order are
// brought into the one that kernels read.
//
//   %y = linalg.conv_1d_nwc_wcf ins(%x, %w)             %x: [n, w, c], %w: [s, c, f]
//   -> %a = tensor.expand_shape %x                      [n, 1, w, c]
//      %b = tensor.expand_shape %w                      [1, s, c, f]
//      %c = linalg.conv_2d_nhwc_hwcf ins(%a, %b)
//      %y = tensor.collapse_shape %c
#include <string.h>

#include "passes/raise_conv.h"

enum { MAX_WIDENED = 5 }; // dimensions: several results per channel have the most

IrValue *raise_reordered(Builder *b, IrValue *value, const uint32_t *dims) {
    IrModule *m = b->m;
    const IrType *type = value->type;
    int64_t shape[8];
    const IrAffineExpr *source[8];
    BUG_IF(type->rank > ARRAY_LEN(shape), "%u dimensions to reorder", type->rank);
    for (uint32_t i = 0; i < type->rank; i++) {
        shape[i] = type->shape[dims[i]];
        source[dims[i]] = ir_affine_dim(m, i);
    }
    IrValue *out = build_empty(b, ir_type_tensor(m, type->rank, shape, type->elem));
    const IrAffineMap *maps[] = {ir_affine_map(m, type->rank, 0, type->rank, source),
                                 ir_affine_identity(m, type->rank)};
    static const char all_parallel[] = "pppppppp";
    Builder body;
    IrOp *op = build_generic(b, 1, &value, 1, &out, maps,
                             all_parallel + ARRAY_LEN(shape) - type->rank, &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return ir_op_result(op, 0);
}

void raise_read_window(const IrOp *op, GroupedConv *out) {
    static const char *const names[] = {"strides", "dilations"};
    int64_t *const numbers[] = {out->strides, out->dilations};
    for (uint32_t n = 0; n < 2; n++) {
        const IrAttr *attr = ir_op_attr(op, names[n]);
        for (uint32_t i = 0; i < 2; i++)
            numbers[n][i] = attr ? (int64_t)ir_attr_dense_elem(attr, i) : 1;
    }
}

IrOp *raise_name(Builder *b, const IrOp *op, IrOpKind kind, IrValue *const *operands) {
    return build_op_full(b, &(IrOpSpec){.kind = kind,
                                        .num_operands = 3,
                                        .operands = operands,
                                        .num_results = 1,
                                        .result_types = &operands[2]->type,
                                        .num_attrs = op->num_attrs,
                                        .attrs = op->attrs,
                                        .segments = {2, 1}});
}

// ---- one direction

// at: the dimension of x, w and the result before which the one of size 1 goes.
static const struct {
    IrOpKind kind, as;
    uint32_t at[3];
} one_direction[] = {
    {IR_LINALG_CONV_1D_NWC_WCF, IR_LINALG_CONV_2D_NHWC_HWCF, {1, 0, 1}},
    {IR_LINALG_CONV_1D_NCW_FCW, IR_LINALG_CONV_2D_NCHW_FCHW, {2, 2, 2}},
    {IR_LINALG_DEPTHWISE_CONV_1D_NWC_WC, IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWC, {1, 0, 1}},
    {IR_LINALG_DEPTHWISE_CONV_1D_NCW_CW, IR_LINALG_DEPTHWISE_CONV_2D_NCHW_CHW, {2, 1, 2}},
    {IR_LINALG_DEPTHWISE_CONV_1D_NWC_WCM, IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWCM, {1, 0, 1}},
    {IR_LINALG_POOLING_NWC_MAX, IR_LINALG_POOLING_NHWC_MAX, {1, 0, 1}},
    {IR_LINALG_POOLING_NWC_MIN, IR_LINALG_POOLING_NHWC_MIN, {1, 0, 1}},
    {IR_LINALG_POOLING_NWC_SUM, IR_LINALG_POOLING_NHWC_SUM, {1, 0, 1}},
    {IR_LINALG_POOLING_NCW_MAX, IR_LINALG_POOLING_NCHW_MAX, {2, 0, 2}},
    {IR_LINALG_POOLING_NCW_SUM, IR_LINALG_POOLING_NCHW_SUM, {2, 0, 2}},
};

static const IrAttr *with_number(IrModule *m, const IrAttr *list, uint32_t at, int64_t number) {
    int64_t values[8];
    for (uint32_t i = 0; i <= list->num_values; i++)
        values[i] = i == at ? number : list->values[i - (i > at)];
    return ir_attr_dense_array(m, ir_type_int(m, 64), list->num_values + 1, values);
}

static IrValue *widened(Builder *b, IrValue *value, uint32_t at);

// Padding that nobody else reads goes around the wide map, where kernels have it as bounds.
static IrValue *widened_padding(Builder *b, const IrOp *op, const IrType *type, uint32_t at) {
    IrValue *operands[] = {widened(b, ir_op_operand(op, 0), at),
                           widened(b, ir_op_operand(op, 1), at)};
    static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
    IrNamedAttr attrs[3];
    for (uint32_t i = 0; i < 3; i++)
        attrs[i] = (IrNamedAttr){names[i],
                                 with_number(b->m, ir_op_attr(op, names[i]), at, i == 0 ? 0 : 1)};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_INSERT_SLICE,
                                                     .num_operands = 2,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &type,
                                                     .num_attrs = 3,
                                                     .attrs = attrs,
                                                     .segments = {2}}),
                        0);
}

static bool is_padding(const IrValue *value) {
    const IrOp *op = value->def_op;
    if (!op || op->kind != IR_TENSOR_INSERT_SLICE || op->num_operands != 2) return false;
    const IrOp *into = ir_op_operand(op, 1)->def_op;
    return ir_op_operand(op, 0)->type->rank == value->type->rank && into &&
           into->kind == IR_LINALG_FILL && ir_value_has_one_use(value);
}

static IrValue *widened(Builder *b, IrValue *value, uint32_t at) {
    const IrType *from = value->type;
    int64_t shape[MAX_WIDENED];
    uint32_t groups[MAX_WIDENED - 1] = {1, 1, 1, 1};
    for (uint32_t i = 0; i <= from->rank; i++) shape[i] = i == at ? 1 : from->shape[i - (i > at)];
    groups[at] = 2;
    const IrType *type = ir_type_tensor(b->m, from->rank + 1, shape, from->elem);
    if (is_padding(value)) return widened_padding(b, value->def_op, type, at);
    if (!value->def_op || value->def_op->kind != IR_LINALG_FILL)
        return build_expand(b, value, type, from->rank, groups);
    return build_fill(b, ir_op_operand(value->def_op, 0), build_empty(b, type));
}

static const IrAttr *pair_attr(IrModule *m, const IrAttr *one) {
    const int64_t two = 2, values[] = {1, one ? (int64_t)ir_attr_dense_elem(one, 0) : 1};
    return ir_attr_dense(m, ir_type_tensor(m, 1, &two, ir_type_int(m, 64)), values, sizeof values,
                         false);
}

static bool is_static_tensors(const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (type->kind != IR_TYPE_TENSOR || !ir_type_is_static(type)) return false;
    }
    return op->num_results == 1;
}

static void widen(IrModule *m, IrOp *op, IrOpKind as, const uint32_t *at) {
    Builder b = build_before(m, op);
    IrValue *operands[3], *old = ir_op_result(op, 0);
    for (uint32_t i = 0; i < 3; i++) operands[i] = widened(&b, ir_op_operand(op, i), at[i]);
    IrOp *made = raise_name(&b, op, as, operands);
    ir_op_set_attr(m, made, "strides", pair_attr(m, ir_op_attr(op, "strides")));
    ir_op_set_attr(m, made, "dilations", pair_attr(m, ir_op_attr(op, "dilations")));
    uint32_t groups[MAX_WIDENED - 1] = {1, 1, 1, 1};
    groups[at[2]] = 2;
    ir_value_replace_all(old, build_collapse(&b, ir_op_result(made, 0), old->type->rank, groups));
    ir_op_erase(m, op);
}

void raise_named(IrModule *m, IrOp *op) {
    for (uint32_t i = 0; i < ARRAY_LEN(one_direction); i++)
        if (op->kind == one_direction[i].kind && is_static_tensors(op)) {
            widen(m, op, one_direction[i].as, one_direction[i].at);
            return;
        }
    if (op->kind != IR_LINALG_CONV_2D_NHWC_FHWC || !raise_takes(op)) return;
    static const uint32_t to_hwcf[] = {1, 2, 3, 0};
    Builder b = build_before(m, op);
    IrValue *operands[] = {ir_op_operand(op, 0), raise_reordered(&b, ir_op_operand(op, 1), to_hwcf),
                           ir_op_operand(op, 2)};
    IrOp *made = raise_name(&b, op, IR_LINALG_CONV_2D_NHWC_HWCF, operands);
    ir_value_replace_all(ir_op_result(op, 0), ir_op_result(made, 0));
    ir_op_erase(m, op);
}
