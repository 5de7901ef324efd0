// linalg.pack and linalg.unpack as the moves that they are; of expand-tensors.
//
//   %r = linalg.pack %x padding_value(%c) inner_dims_pos = [1] inner_tiles = [4] into %d
//            : tensor<3x6xf32> -> tensor<3x2x4xf32>
//   -> %p = %x inserted into a tensor<3x8xf32> of %c
//      %e = tensor.expand_shape %p [[0], [1, 2]] : tensor<3x2x4xf32>
//      %r = linalg.transpose ins(%e) outs(%d) permutation = [...]
//
// and back: linalg.unpack transposes, collapses, and cuts off the padding.
#include <string.h>

#include "abi/plan.h"
#include "passes/expand.h"

enum { MAX_RANK = PLAN_MAX_RANK };

// How a tensor of `rank` dimensions and its tiles lie: expanded, each tiled dimension is followed
// by its tile; packed, all tiles come last.
typedef struct Tiling {
    IrModule *m;
    uint32_t rank, num_tiles;
    int64_t tile[MAX_RANK];        // of a dimension of the tensor; 0: it is not tiled
    uint32_t groups[MAX_RANK];     // dimensions of the expanded tensor per dimension of the tensor
    int64_t to_expanded[MAX_RANK]; // of a dimension of the packed tensor
    int64_t expanded[MAX_RANK], padded[MAX_RANK];
} Tiling;

static bool read_tiling(IrModule *m, const IrOp *op, const IrType *packed, const IrType *plain,
                        Tiling *out) {
    const IrAttr *tiles = ir_op_attr(op, "static_inner_tiles");
    const IrAttr *places = ir_op_attr(op, "inner_dims_pos"),
                 *perm = ir_op_attr(op, "outer_dims_perm");
    uint32_t rank = plain->rank, num = (uint32_t)tiles->num_values, first[MAX_RANK], next = 0;
    if (rank + num > MAX_RANK || packed->rank != rank + num || !ir_type_is_static(packed) ||
        !ir_type_is_static(plain))
        return false;
    *out = (Tiling){.m = m, .rank = rank, .num_tiles = num};
    for (uint32_t i = 0; i < num; i++) {
        if (tiles->values[i] == IR_DYNAMIC) return false;
        out->tile[places->values[i]] = tiles->values[i];
    }
    for (uint32_t d = 0; d < rank; d++) {
        first[d] = next;
        out->groups[d] = out->tile[d] ? 2 : 1;
        next += out->groups[d];
    }
    for (uint32_t i = 0; i < rank; i++)
        out->to_expanded[i] = first[perm && perm->num_values ? perm->values[i] : (int64_t)i];
    for (uint32_t i = 0; i < num; i++) out->to_expanded[rank + i] = first[places->values[i]] + 1;
    for (uint32_t i = 0; i < packed->rank; i++)
        out->expanded[out->to_expanded[i]] = packed->shape[i];
    for (uint32_t d = 0; d < rank; d++)
        out->padded[d] = out->expanded[first[d]] * (out->tile[d] ? out->tile[d] : 1);
    return true;
}

static IrValue *build_transpose(Builder *b, IrValue *from, IrValue *into, const int64_t *perm) {
    const IrType *i64 = ir_type_int(b->m, 64);
    IrValue *operands[] = {from, into};
    IrNamedAttr attr = {ir_intern(b->m, "permutation"),
                        ir_attr_dense_array(b->m, i64, into->type->rank, perm)};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_TRANSPOSE,
                                                     .num_operands = 2,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &into->type,
                                                     .num_attrs = 1,
                                                     .attrs = &attr,
                                                     .segments = {1, 1}}),
                        0);
}

// A slice at the origin: cut out of `whole`, or `part` inserted into it.
static IrValue *build_corner(Builder *b, IrValue *whole, IrValue *part, const IrType *type) {
    const IrType *i64 = ir_type_int(b->m, 64);
    int64_t zeros[MAX_RANK] = {0}, ones[MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) ones[i] = 1;
    IrValue *operands[] = {part ? part : whole, whole};
    IrNamedAttr attrs[] = {
        {"static_offsets", ir_attr_dense_array(b->m, i64, type->rank, zeros)},
        {"static_sizes", ir_attr_dense_array(b->m, i64, type->rank, type->shape)},
        {"static_strides", ir_attr_dense_array(b->m, i64, type->rank, ones)},
    };
    uint32_t num = part ? 2 : 1;
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = part ? IR_TENSOR_INSERT_SLICE
                                                                  : IR_TENSOR_EXTRACT_SLICE,
                                                     .num_operands = num,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = part ? &whole->type : &type,
                                                     .num_attrs = 3,
                                                     .attrs = attrs,
                                                     .segments = {num, 0, 0, 0}}),
                        0);
}

static bool same_shape(const IrType *type, const int64_t *shape) {
    return type->rank == 0 || memcmp(type->shape, shape, type->rank * sizeof *shape) == 0;
}

static IrValue *pack(Builder *b, const IrOp *op, const Tiling *t) {
    IrValue *plain = ir_op_operand(op, 0), *into = ir_op_operand(op, 1);
    const IrType *elem = plain->type->elem;
    if (!same_shape(plain->type, t->padded)) {
        IrValue *fill = build_fill(b, ir_op_operand(op, 2),
                                   build_empty(b, ir_type_tensor(b->m, t->rank, t->padded, elem)));
        plain = build_corner(b, fill, plain, plain->type);
    }
    const IrType *expanded = ir_type_tensor(b->m, t->rank + t->num_tiles, t->expanded, elem);
    return build_transpose(b, build_expand(b, plain, expanded, t->rank, t->groups), into,
                           t->to_expanded);
}

static IrValue *unpack(Builder *b, const IrOp *op, const Tiling *t) {
    const IrType *plain = op->results[0].type;
    uint32_t rank = t->rank + t->num_tiles;
    int64_t back[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) back[t->to_expanded[i]] = i;
    IrValue *into = build_empty(b, ir_type_tensor(b->m, rank, t->expanded, plain->elem));
    IrValue *moved = build_transpose(b, ir_op_operand(op, 0), into, back);
    IrValue *padded = build_collapse(b, moved, t->rank, t->groups);
    return same_shape(plain, t->padded) ? padded : build_corner(b, padded, NULL, plain);
}

Status expand_pack(IrModule *m, IrOp *op, DiagSink *sink) {
    bool is_pack = op->kind == IR_LINALG_PACK;
    const IrType *from = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    Tiling t;
    if (!read_tiling(m, op, is_pack ? to : from, is_pack ? from : to, &t))
        return diag_error(sink, DIAG_P0005, ir_loc_span(op->loc),
                          "%s with sizes that are not known, or of more than %d dimensions",
                          ir_op_info(op->kind)->name, MAX_RANK);
    if (is_pack && !op->segments[2] && !same_shape(from, t.padded))
        return diag_error(sink, DIAG_P0005, ir_loc_span(op->loc),
                          "linalg.pack has no padding_value for tiles that are not full");
    Builder b = build_before(m, op);
    IrValue *result = is_pack ? pack(&b, op, &t) : unpack(&b, op, &t);
    ir_value_replace_all(ir_op_result(op, 0), result);
    ir_op_erase(m, op);
    return STATUS_OK;
}
