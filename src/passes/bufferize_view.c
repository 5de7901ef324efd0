// Views and copies of buffers for the bufferize pass; see bufferize.h.
#include "passes/bufferize.h"

#include <string.h>

#include "passes/mutate.h"

const IrType *buf_memref_type(IrModule *m, const IrType *tensor) {
    return ir_type_memref(m, tensor->rank, tensor->shape, tensor->elem);
}

// Row-major from offset 0, whether or not the type spells it out.
bool buf_is_identity(const IrType *memref) {
    if (!memref->has_layout) return true;
    int64_t strides[BUF_MAX_RANK], offset, expected = 1;
    ir_memref_strides(memref, strides, &offset);
    if (offset != 0) return false;
    for (uint32_t d = memref->rank; d-- > 0;) {
        if (strides[d] != expected) return false;
        expected *= memref->shape[d];
    }
    return true;
}

static IrValue *reshape(Builder *b, IrOpKind kind, IrValue *memref, const IrAttr *reassociation,
                        const IrType *type) {
    IrModule *m = b->m;
    IrNamedAttr attrs[2] = {{ir_intern(m, "reassociation"), reassociation}};
    uint32_t num_attrs = 1;
    if (kind == IR_MEMREF_EXPAND_SHAPE)
        attrs[num_attrs++] =
            (IrNamedAttr){ir_intern(m, "static_output_shape"),
                          ir_attr_dense_array(m, ir_type_int(m, 64), type->rank, type->shape)};
    IrOp *op = build_op_full(b, &(IrOpSpec){.kind = kind,
                                            .num_operands = 1,
                                            .operands = &memref,
                                            .num_results = 1,
                                            .result_types = &type,
                                            .num_attrs = num_attrs,
                                            .attrs = attrs,
                                            .segments = {1}});
    return ir_op_result(op, 0);
}

IrValue *buf_expand(Builder *b, IrValue *memref, const IrAttr *reassociation, uint32_t rank,
                    const int64_t *shape) {
    const IrType *from = memref->type, *to;
    if (!from->has_layout) {
        to = ir_type_memref(b->m, rank, shape, from->elem);
    } else {
        int64_t strides[BUF_MAX_RANK], offset, new_strides[BUF_MAX_RANK];
        ir_memref_strides(from, strides, &offset);
        uint32_t end = 0;
        for (size_t g = 0; g < reassociation->num_elems; g++) {
            uint32_t start = end;
            end += (uint32_t)reassociation->elems[g]->num_elems;
            int64_t stride = strides[g];
            for (uint32_t d = end; d-- > start;) {
                new_strides[d] = stride;
                if (stride != IR_DYNAMIC) stride *= shape[d];
            }
        }
        to =
            ir_type_memref_strided(b->m, rank, shape, from->elem, new_strides, offset, from->space);
    }
    return reshape(b, IR_MEMREF_EXPAND_SHAPE, memref, reassociation, to);
}

IrValue *buf_collapse(Builder *b, IrValue *memref, const IrAttr *reassociation) {
    const IrType *from = memref->type;
    uint32_t rank = (uint32_t)reassociation->num_elems;
    int64_t strides[BUF_MAX_RANK], offset, shape[BUF_MAX_RANK], new_strides[BUF_MAX_RANK];
    ir_memref_strides(from, strides, &offset);
    uint32_t dim = 0;
    for (uint32_t g = 0; g < rank; g++) {
        uint32_t end = dim + (uint32_t)reassociation->elems[g]->num_elems;
        shape[g] = 1;
        new_strides[g] = strides[dim]; // of a group of nothing but ones, as MLIR infers it
        int64_t expected = IR_DYNAMIC; // stride of the next dim outwards
        for (uint32_t d = end; d-- > dim;) {
            shape[g] *= from->shape[d];
            if (from->shape[d] == 1) continue;
            if (expected == IR_DYNAMIC)
                new_strides[g] = strides[d];
            else if (strides[d] != expected)
                return NULL;
            if (strides[d] == IR_DYNAMIC) return NULL;
            expected = strides[d] * from->shape[d];
        }
        dim = end;
    }
    const IrType *to = from->has_layout ? ir_type_memref_strided(b->m, rank, shape, from->elem,
                                                                 new_strides, offset, from->space)
                                        : ir_type_memref(b->m, rank, shape, from->elem);
    return reshape(b, IR_MEMREF_COLLAPSE_SHAPE, memref, reassociation, to);
}

void buf_kept_dims(const int64_t *sizes, uint32_t rank, const IrType *to, bool *out_kept) {
    uint32_t t = 0;
    for (uint32_t d = 0; d < rank; d++) {
        out_kept[d] = t < to->rank && sizes[d] == to->shape[t];
        if (out_kept[d]) t++;
    }
}

IrValue *buf_subview(Bufferizer *bz, Builder *b, IrValue *base, const IrOp *slice,
                     const IrType *tensor) {
    IrModule *m = b->m;
    bool is_insert = slice->kind == IR_TENSOR_INSERT_SLICE;
    const IrAttr *offsets = ir_op_attr(slice, "static_offsets");
    const IrAttr *sizes = ir_op_attr(slice, "static_sizes");
    const IrAttr *strides = ir_op_attr(slice, "static_strides");
    uint32_t rank = base->type->rank, num = 0;
    IrValue *operands[1 + 3 * BUF_MAX_RANK];
    operands[num++] = base;
    uint32_t first = is_insert ? 2 : 1;
    for (uint32_t i = first; i < slice->num_operands; i++)
        operands[num++] = ir_value_map_get(&bz->map, ir_op_operand(slice, i));
    int64_t from_strides[BUF_MAX_RANK], offset, shape[BUF_MAX_RANK], out_strides[BUF_MAX_RANK];
    ir_memref_strides(base->type, from_strides, &offset);
    bool kept[BUF_MAX_RANK];
    buf_kept_dims(sizes->values, rank, tensor, kept);
    uint32_t out_rank = 0;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t at = offsets->values[d], step = strides->values[d];
        if (offset == IR_DYNAMIC || at == IR_DYNAMIC || from_strides[d] == IR_DYNAMIC)
            offset = IR_DYNAMIC;
        else
            offset += at * from_strides[d];
        if (!kept[d]) continue;
        shape[out_rank] = sizes->values[d];
        out_strides[out_rank++] = step == IR_DYNAMIC || from_strides[d] == IR_DYNAMIC
                                      ? IR_DYNAMIC
                                      : step * from_strides[d];
    }
    const IrType *type = ir_type_memref_strided(m, out_rank, shape, tensor->elem, out_strides,
                                                offset, base->type->space);
    IrNamedAttr attrs[] = {{ir_intern(m, "static_offsets"), offsets},
                           {ir_intern(m, "static_sizes"), sizes},
                           {ir_intern(m, "static_strides"), strides}};
    uint32_t shift = is_insert ? 1 : 0;
    IrOpSpec spec = {.kind = IR_MEMREF_SUBVIEW,
                     .num_operands = num,
                     .operands = operands,
                     .num_results = 1,
                     .result_types = &type,
                     .num_attrs = 3,
                     .attrs = attrs,
                     .segments = {slice->segments[0] - shift, slice->segments[1],
                                  slice->segments[2], slice->segments[3]}};
    return ir_op_result(build_op_full(b, &spec), 0);
}

void buf_copy(Builder *b, IrValue *from, IrValue *to, const char *reason) {
    if (MUTATED(MISSING_COPY)) return;
    IrNamedAttr attr = {ir_intern(b->m, "ingot.copy"), ir_attr_string(b->m, reason)};
    build_op_full(b, &(IrOpSpec){.kind = IR_MEMREF_COPY,
                                 .num_operands = 2,
                                 .operands = (IrValue *[]){from, to},
                                 .num_attrs = 1,
                                 .attrs = &attr});
}

static bool has_reduction(const IrOp *op) {
    return (ir_op_info(op->kind)->traits & IR_LINALG) && ir_linalg_has_reduction(op);
}

// What hold-fusion found out about the result of a call; NULL if it has not run.
static const char *reason_on_call(const IrValue *tensor) {
    const IrAttr *reasons = ir_op_attr(tensor->def_op, "ingot.boundary");
    if (!reasons || reasons->kind != IR_ATTR_ARRAY || tensor->number >= reasons->num_elems ||
        reasons->elems[tensor->number]->kind != IR_ATTR_STRING)
        return NULL;
    return reasons->elems[tensor->number]->str;
}

// Why a value between two ops is stored: the first reason that applies (docs/ir.md, fusion
// boundaries).
const char *buf_boundary_reason(const IrValue *tensor) {
    uint32_t num_users = 0;
    const IrOp *user = NULL, *maker = tensor->def_op;
    if (maker && maker->kind == IR_FUNC_CALL) {
        const char *known = reason_on_call(tensor);
        return known ? known : "call";
    }
    FOR_EACH_USE(use, tensor) {
        if (use->owner != user) num_users++;
        user = use->owner;
        if (user->kind == IR_FUNC_CALL) return "call";
    }
    if (maker && maker->kind == IR_SCF_FOR) return "loop-carried";
    if (num_users > 1) return "multi-use";
    if (maker && has_reduction(maker)) return "reduction-producer";
    if (user && (user->kind == IR_TENSOR_EXPAND_SHAPE || user->kind == IR_TENSOR_COLLAPSE_SHAPE))
        return "reshape";
    if (user && user->kind == IR_SCF_YIELD) return "loop-carried";
    return "map";
}

void buf_fill(Builder *b, IrValue *scalar, IrValue *memref) {
    build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_FILL,
                                 .num_operands = 2,
                                 .operands = (IrValue *[]){scalar, memref},
                                 .segments = {1, 1}});
}
