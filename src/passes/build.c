// Op creation shorthands; see build.h.
#include "passes/build.h"

#include <stdarg.h>
#include <string.h>

Builder build_before(IrModule *m, IrOp *op) {
    return (Builder){.m = m, .block = op->block, .before = op, .loc = op->loc};
}

Builder build_after(IrModule *m, IrOp *op) {
    return (Builder){.m = m, .block = op->block, .before = op->next, .loc = op->loc};
}

Builder build_at_end(IrModule *m, IrBlock *block, const IrLoc *loc) {
    return (Builder){.m = m, .block = block, .loc = loc};
}

IrOp *build_op_full(Builder *b, const IrOpSpec *spec) {
    IrOpSpec with_loc = *spec;
    if (!with_loc.loc) with_loc.loc = b->loc;
    IrOp *op = ir_op_create(b->m, &with_loc);
    if (b->before)
        ir_op_insert_before(op, b->before);
    else
        ir_block_append(b->block, op);
    return op;
}

IrValue *build_op(Builder *b, IrOpKind kind, uint32_t num_operands, IrValue *const *operands,
                  const IrType *result_type) {
    IrOp *op = build_op_full(b, &(IrOpSpec){.kind = kind,
                                            .num_operands = num_operands,
                                            .operands = operands,
                                            .num_results = result_type ? 1 : 0,
                                            .result_types = &result_type});
    return result_type ? ir_op_result(op, 0) : NULL;
}

static IrOp *op_with_attrs(Builder *b, IrOpKind kind, uint32_t num_operands,
                           IrValue *const *operands, const IrType *result_type, uint32_t num_attrs,
                           const IrNamedAttr *attrs) {
    return build_op_full(b, &(IrOpSpec){.kind = kind,
                                        .num_operands = num_operands,
                                        .operands = operands,
                                        .num_results = result_type ? 1 : 0,
                                        .result_types = &result_type,
                                        .num_attrs = num_attrs,
                                        .attrs = attrs});
}

IrValue *build_binary(Builder *b, IrOpKind kind, IrValue *lhs, IrValue *rhs) {
    return build_op(b, kind, 2, (IrValue *[]){lhs, rhs}, lhs->type);
}

IrValue *build_unary(Builder *b, IrOpKind kind, IrValue *operand) {
    return build_op(b, kind, 1, &operand, operand->type);
}

IrValue *build_cast(Builder *b, IrOpKind kind, IrValue *operand, const IrType *type) {
    return build_op(b, kind, 1, &operand, type);
}

static const IrType *bool_like(IrModule *m, const IrType *type) {
    const IrType *i1 = ir_type_int(m, 1);
    return type->kind == IR_TYPE_VECTOR ? ir_type_vector(m, type->rank, type->shape, i1) : i1;
}

IrValue *build_cmpi(Builder *b, const char *predicate, IrValue *lhs, IrValue *rhs) {
    IrNamedAttr attr = {"predicate", ir_attr_string(b->m, predicate)};
    IrValue *operands[] = {lhs, rhs};
    return ir_op_result(
        op_with_attrs(b, IR_ARITH_CMPI, 2, operands, bool_like(b->m, lhs->type), 1, &attr), 0);
}

IrValue *build_cmpf(Builder *b, const char *predicate, IrValue *lhs, IrValue *rhs) {
    IrNamedAttr attr = {"predicate", ir_attr_string(b->m, predicate)};
    IrValue *operands[] = {lhs, rhs};
    return ir_op_result(
        op_with_attrs(b, IR_ARITH_CMPF, 2, operands, bool_like(b->m, lhs->type), 1, &attr), 0);
}

IrValue *build_select(Builder *b, IrValue *cond, IrValue *yes, IrValue *no) {
    return build_op(b, IR_ARITH_SELECT, 3, (IrValue *[]){cond, yes, no}, yes->type);
}

IrValue *build_fma(Builder *b, IrValue *x, IrValue *y, IrValue *acc) {
    IrOpKind kind = acc->type->kind == IR_TYPE_VECTOR ? IR_VECTOR_FMA : IR_MATH_FMA;
    return build_op(b, kind, 3, (IrValue *[]){x, y, acc}, acc->type);
}

static IrValue *constant(Builder *b, const IrAttr *value, const IrType *type) {
    IrNamedAttr attr = {"value", value};
    return ir_op_result(op_with_attrs(b, IR_ARITH_CONSTANT, 0, NULL, type, 1, &attr), 0);
}

IrValue *build_int(Builder *b, int64_t value, const IrType *type) {
    return constant(b, ir_attr_int(b->m, value, type), type);
}

IrValue *build_index(Builder *b, int64_t value) {
    return build_int(b, value, ir_type_index(b->m));
}

IrValue *build_loop_index(Builder *b, uint32_t loop) {
    IrNamedAttr dim = {"dim", ir_attr_i64(b->m, loop)};
    const IrType *index = ir_type_index(b->m);
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_INDEX,
                                                     .num_results = 1,
                                                     .result_types = &index,
                                                     .num_attrs = 1,
                                                     .attrs = &dim}),
                        0);
}

IrValue *build_float(Builder *b, double value, const IrType *type) {
    return constant(b, ir_attr_float(b->m, value, type), type);
}

IrValue *build_splat(Builder *b, IrValue *scalar, const IrType *vector_type) {
    return build_op(b, IR_VECTOR_BROADCAST, 1, &scalar, vector_type);
}

IrValue *build_zero(Builder *b, const IrType *type) {
    const IrType *elem = ir_type_elem(type);
    const uint8_t zeros[8] = {0};
    if (type->kind == IR_TYPE_VECTOR)
        return constant(b, ir_attr_dense(b->m, type, zeros, ir_type_bytes(elem), true), type);
    return ir_type_is_float(elem) ? build_float(b, 0.0, type) : build_int(b, 0, type);
}

IrValue *build_empty(Builder *b, const IrType *tensor) {
    return build_op(b, IR_TENSOR_EMPTY, 0, NULL, tensor);
}

IrValue *build_fill(Builder *b, IrValue *scalar, IrValue *out) {
    IrValue *operands[] = {scalar, out};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_FILL,
                                                     .num_operands = 2,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &out->type,
                                                     .segments = {1, 1}}),
                        0);
}

IrValue *build_filled(Builder *b, const IrType *tensor, double value) {
    const IrType *elem = tensor->elem;
    IrValue *scalar =
        ir_type_is_float(elem) ? build_float(b, value, elem) : build_int(b, (int64_t)value, elem);
    return build_fill(b, scalar, build_empty(b, tensor));
}

IrValue *build_copy(Builder *b, IrValue *tensor) {
    IrValue *operands[] = {tensor, build_empty(b, tensor->type)};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_COPY,
                                                     .num_operands = 2,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &tensor->type,
                                                     .segments = {1, 1}}),
                        0);
}

enum { MAX_LOOPS = 12, MAX_OPERANDS = 24 };

IrOp *build_generic(Builder *b, uint32_t num_ins, IrValue *const *ins, uint32_t num_outs,
                    IrValue *const *outs, const IrAffineMap *const *maps, const char *iterators,
                    Builder *out_body) {
    IrModule *m = b->m;
    uint32_t num = num_ins + num_outs, num_loops = (uint32_t)strlen(iterators);
    BUG_IF(num > MAX_OPERANDS || num_loops > MAX_LOOPS, "generic too large");
    IrValue *operands[MAX_OPERANDS];
    const IrAttr *map_attrs[MAX_OPERANDS], *iterator_attrs[MAX_LOOPS];
    const IrType *result_types[MAX_OPERANDS];
    for (uint32_t i = 0; i < num; i++) {
        operands[i] = i < num_ins ? ins[i] : outs[i - num_ins];
        map_attrs[i] = ir_attr_map(m, maps[i]);
    }
    for (uint32_t i = 0; i < num_loops; i++)
        iterator_attrs[i] = ir_attr_string(m, iterators[i] == 'p' ? "parallel" : "reduction");
    for (uint32_t i = 0; i < num_outs; i++) result_types[i] = outs[i]->type;
    bool is_tensor = num_outs > 0 && outs[0]->type->kind == IR_TYPE_TENSOR;
    IrNamedAttr attrs[] = {
        {"indexing_maps", ir_attr_array(m, num, map_attrs)},
        {"iterator_types", ir_attr_array(m, num_loops, iterator_attrs)},
    };
    IrOp *op = build_op_full(b, &(IrOpSpec){.kind = IR_LINALG_GENERIC,
                                            .num_operands = num,
                                            .operands = operands,
                                            .num_results = is_tensor ? num_outs : 0,
                                            .result_types = result_types,
                                            .num_attrs = 2,
                                            .attrs = attrs,
                                            .num_regions = 1,
                                            .segments = {num_ins, num_outs}});
    IrBlock *body = ir_region_add_block(m, &op->regions[0]);
    for (uint32_t i = 0; i < num; i++) ir_block_add_arg(m, body, ir_type_elem(operands[i]->type));
    *out_body = build_at_end(m, body, b->loc);
    return op;
}

void build_yield(Builder *body, IrOpKind yield_kind, uint32_t num_values, IrValue *const *values) {
    build_op(body, yield_kind, num_values, values, NULL);
}

static const IrAttr *reassociation(IrModule *m, uint32_t num_groups, const uint32_t *groups) {
    const IrAttr *group_attrs[16], *dims[16];
    int64_t dim = 0;
    for (uint32_t g = 0; g < num_groups; g++) {
        for (uint32_t i = 0; i < groups[g]; i++) dims[i] = ir_attr_i64(m, dim++);
        group_attrs[g] = ir_attr_array(m, groups[g], dims);
    }
    return ir_attr_array(m, num_groups, group_attrs);
}

IrValue *build_collapse(Builder *b, IrValue *tensor, uint32_t num_groups, const uint32_t *groups) {
    int64_t shape[16];
    uint32_t dim = 0;
    for (uint32_t g = 0; g < num_groups; g++) {
        shape[g] = 1;
        for (uint32_t i = 0; i < groups[g]; i++) shape[g] *= tensor->type->shape[dim++];
    }
    const IrType *type = ir_type_tensor(b->m, num_groups, shape, tensor->type->elem);
    IrNamedAttr attr = {"reassociation", reassociation(b->m, num_groups, groups)};
    return ir_op_result(op_with_attrs(b, IR_TENSOR_COLLAPSE_SHAPE, 1, &tensor, type, 1, &attr), 0);
}

IrValue *build_expand(Builder *b, IrValue *tensor, const IrType *to, uint32_t num_groups,
                      const uint32_t *groups) {
    IrNamedAttr attrs[] = {
        {"reassociation", reassociation(b->m, num_groups, groups)},
        {"static_output_shape",
         ir_attr_dense_array(b->m, ir_type_int(b->m, 64), to->rank, to->shape)},
    };
    return ir_op_result(op_with_attrs(b, IR_TENSOR_EXPAND_SHAPE, 1, &tensor, to, 2, attrs), 0);
}

IrOp *build_for(Builder *b, IrValue *lo, IrValue *hi, IrValue *step, uint32_t num_iters,
                IrValue *const *iters, Builder *out_body) {
    IrValue *operands[3 + 96] = {lo, hi, step};
    const IrType *types[96];
    BUG_IF(num_iters > ARRAY_LEN(types), "too many carried values");
    for (uint32_t i = 0; i < num_iters; i++) {
        operands[3 + i] = iters[i];
        types[i] = iters[i]->type;
    }
    IrOp *op = build_op_full(b, &(IrOpSpec){.kind = IR_SCF_FOR,
                                            .num_operands = 3 + num_iters,
                                            .operands = operands,
                                            .num_results = num_iters,
                                            .result_types = types,
                                            .num_regions = 1,
                                            .segments = {3, num_iters}});
    IrBlock *body = ir_region_add_block(b->m, &op->regions[0]);
    ir_block_add_arg(b->m, body, lo->type);
    for (uint32_t i = 0; i < num_iters; i++) ir_block_add_arg(b->m, body, types[i]);
    *out_body = build_at_end(b->m, body, b->loc);
    return op;
}

static IrOp *access(Builder *b, IrOpKind kind, IrValue *value, IrValue *memref, uint32_t rank,
                    IrValue *const *indices, const IrType *result_type) {
    IrValue *operands[18];
    uint32_t num = 0;
    if (value) operands[num++] = value;
    operands[num++] = memref;
    for (uint32_t i = 0; i < rank; i++) operands[num++] = indices[i];
    IrOpSpec spec = {.kind = kind,
                     .num_operands = num,
                     .operands = operands,
                     .num_results = result_type ? 1 : 0,
                     .result_types = &result_type};
    uint32_t s = 0;
    if (value) spec.segments[s++] = 1;
    spec.segments[s++] = 1;
    spec.segments[s] = rank;
    return build_op_full(b, &spec);
}

IrValue *build_load(Builder *b, IrValue *memref, uint32_t rank, IrValue *const *indices) {
    return ir_op_result(access(b, IR_MEMREF_LOAD, NULL, memref, rank, indices, memref->type->elem),
                        0);
}

void build_store(Builder *b, IrValue *value, IrValue *memref, uint32_t rank,
                 IrValue *const *indices) {
    access(b, IR_MEMREF_STORE, value, memref, rank, indices, NULL);
}

IrValue *build_vector_load(Builder *b, const IrType *vector, IrValue *memref, uint32_t rank,
                           IrValue *const *indices) {
    return ir_op_result(access(b, IR_VECTOR_LOAD, NULL, memref, rank, indices, vector), 0);
}

void build_vector_store(Builder *b, IrValue *value, IrValue *memref, uint32_t rank,
                        IrValue *const *indices) {
    access(b, IR_VECTOR_STORE, value, memref, rank, indices, NULL);
}

IrValue *build_add_index(Builder *b, IrValue *base, int64_t offset) {
    int64_t known;
    if (offset == 0) return base;
    if (ir_value_constant_int(base, &known)) return build_index(b, known + offset);
    return build_binary(b, IR_ARITH_ADDI, base, build_index(b, offset));
}

IrValue *build_mul_index(Builder *b, IrValue *base, int64_t factor) {
    int64_t known;
    if (factor == 1) return base;
    if (ir_value_constant_int(base, &known)) return build_index(b, known * factor);
    return build_binary(b, IR_ARITH_MULI, base, build_index(b, factor));
}

const IrAffineMap *build_dims_map(IrModule *m, uint32_t num_dims, uint32_t num_results, ...) {
    uint32_t dims[16];
    va_list args;
    va_start(args, num_results);
    for (uint32_t i = 0; i < num_results; i++) dims[i] = va_arg(args, unsigned);
    va_end(args);
    return ir_affine_select(m, num_dims, num_results, dims);
}
