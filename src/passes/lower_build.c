// The builder of lower-target: level-3 types, constants, single ops, values of the kernel so far.
#include "passes/lower_internal.h"

Status low_refuse(Lowering *lo, const IrOp *op, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    StrBuf text = {0};
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    Status status = diag_error(lo->sink, DIAG_B0001, ir_loc_span(op->loc),
                               "%s cannot be lowered to machine code: %s",
                               ir_op_info(op->kind)->name, text.data ? text.data : "");
    strbuf_deinit(&text);
    return status;
}

// ---------------------------------------------------------------- types

static const IrType *low_scalar_type(Lowering *lo, const IrType *type) {
    switch (type->kind) {
    case IR_TYPE_INT: return type->width == 4 ? NULL : type;
    case IR_TYPE_INDEX: return lo->i64;
    case IR_TYPE_BF16: return lo->i16;
    case IR_TYPE_F16:
    case IR_TYPE_F32:
    case IR_TYPE_F64:
    case IR_TYPE_PTR: return type;
    default: return NULL;
    }
}

const IrType *low_type(Lowering *lo, const IrType *type) {
    if (type->kind != IR_TYPE_VECTOR) return low_scalar_type(lo, type);
    const IrType *elem = low_scalar_type(lo, type->elem);
    int64_t lanes = ir_type_num_elems(type);
    if (!elem || lanes <= 0 || lanes > LOWER_MAX_LANES) return NULL;
    return low_vec(lo, lanes, elem);
}

int64_t low_lanes(const IrType *lowered) {
    return lowered->kind == IR_TYPE_VECTOR ? lowered->shape[0] : 0;
}

const IrType *low_vec(Lowering *lo, int64_t lanes, const IrType *elem) {
    return lanes ? ir_type_vector(lo->m, 1, &lanes, elem) : elem;
}

const IrType *low_like(Lowering *lo, const IrType *shape_of, const IrType *elem) {
    return low_vec(lo, low_lanes(shape_of), elem);
}

// ---------------------------------------------------------------- ops

IrOp *low_op(Lowering *lo, IrOpKind kind, const IrType *result, uint32_t num_operands,
             IrValue *const *operands, uint32_t num_attrs, const IrNamedAttr *attrs) {
    IrOpSpec spec = {.kind = kind,
                     .loc = lo->loc,
                     .num_operands = num_operands,
                     .operands = operands,
                     .num_results = result ? 1 : 0,
                     .result_types = &result,
                     .num_attrs = num_attrs,
                     .attrs = attrs};
    IrOp *op = ir_op_create(lo->m, &spec);
    ir_block_append(lo->block, op);
    return op;
}

static IrValue *low_value_op(Lowering *lo, IrOpKind kind, const IrType *result,
                             uint32_t num_operands, IrValue *const *operands) {
    return ir_op_result(low_op(lo, kind, result, num_operands, operands, 0, NULL), 0);
}

IrValue *low_1(Lowering *lo, IrOpKind kind, const IrType *result, IrValue *a) {
    return low_value_op(lo, kind, result, 1, &a);
}

IrValue *low_2(Lowering *lo, IrOpKind kind, IrValue *a, IrValue *b) {
    return low_value_op(lo, kind, a->type, 2, (IrValue *[]){a, b});
}

IrValue *low_fma(Lowering *lo, IrValue *a, IrValue *b, IrValue *c) {
    return low_value_op(lo, IR_LLVM_INTR_FMA, a->type, 3, (IrValue *[]){a, b, c});
}

IrValue *low_cmp(Lowering *lo, IrOpKind kind, const char *predicate, IrValue *a, IrValue *b) {
    IrNamedAttr attr = {"predicate", ir_attr_string(lo->m, predicate)};
    IrValue *operands[] = {a, b};
    return ir_op_result(low_op(lo, kind, low_like(lo, a->type, lo->i1), 2, operands, 1, &attr), 0);
}

IrValue *low_select(Lowering *lo, IrValue *cond, IrValue *a, IrValue *b) {
    return low_value_op(lo, IR_LLVM_SELECT, a->type, 3, (IrValue *[]){cond, a, b});
}

// Constants are kept once per kernel, at the head of the entry block.
IrValue *low_const_attr(Lowering *lo, const IrAttr *attr) {
    for (size_t i = 0; i < lo->num_consts; i++) {
        if (lo->consts[i].attr == attr) return lo->consts[i].value;
    }
    IrNamedAttr named = {"value", attr};
    IrOpSpec spec = {.kind = IR_LLVM_MLIR_CONSTANT,
                     .loc = lo->loc,
                     .num_results = 1,
                     .result_types = &attr->type,
                     .num_attrs = 1,
                     .attrs = &named};
    IrOp *op = ir_op_create(lo->m, &spec);
    if (lo->last_const)
        ir_op_insert_after(op, lo->last_const);
    else if (lo->entry->first)
        ir_op_insert_before(op, lo->entry->first);
    else
        ir_block_append(lo->entry, op);
    lo->last_const = op;
    ARRAY_RESERVE(lo->consts, lo->num_consts, lo->consts_capacity);
    lo->consts[lo->num_consts++] = (LowConst){attr, ir_op_result(op, 0)};
    return ir_op_result(op, 0);
}

static IrValue *low_const_bits(Lowering *lo, const IrType *type, uint64_t bits) {
    const IrType *elem = ir_type_elem(type);
    if (type != elem) {
        uint8_t bytes[8];
        for (uint32_t i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
        return low_const_attr(lo, ir_attr_dense(lo->m, type, bytes, ir_type_bytes(elem), true));
    }
    if (ir_type_is_float(elem)) return low_const_attr(lo, ir_attr_float_bits(lo->m, bits, elem));
    return low_const_attr(lo, ir_attr_int(lo->m, (int64_t)bits, elem));
}

IrValue *low_const_int(Lowering *lo, const IrType *type, int64_t value) {
    const IrType *elem = ir_type_elem(type);
    if (type != elem && elem->width == 1) value = value & 1; // one byte per lane, 0 or 1
    return low_const_bits(lo, type, (uint64_t)value);
}

IrValue *low_const_float(Lowering *lo, const IrType *type, double value) {
    return low_const_bits(lo, type, ir_attr_float(lo->m, value, ir_type_elem(type))->bits);
}

IrValue *low_poison(Lowering *lo, const IrType *type) {
    return low_value_op(lo, IR_LLVM_MLIR_POISON, type, 0, NULL);
}

IrValue *low_shuffle(Lowering *lo, IrValue *a, IrValue *b, int64_t n, const int64_t *lanes) {
    IrValue *operands[] = {a, b ? b : low_poison(lo, a->type)};
    IrNamedAttr attr = {"mask", ir_attr_dense_array(lo->m, lo->i32, (size_t)n, lanes)};
    const IrType *type = low_vec(lo, n, a->type->elem);
    return ir_op_result(low_op(lo, IR_LLVM_SHUFFLEVECTOR, type, 2, operands, 1, &attr), 0);
}

IrValue *low_lane(Lowering *lo, IrValue *vector, int64_t lane) {
    IrValue *operands[] = {vector, low_const_int(lo, lo->i64, lane)};
    return low_value_op(lo, IR_LLVM_EXTRACTELEMENT, vector->type->elem, 2, operands);
}

IrValue *low_set_lane(Lowering *lo, IrValue *vector, IrValue *scalar, int64_t lane) {
    IrValue *operands[] = {vector, scalar, low_const_int(lo, lo->i64, lane)};
    return low_value_op(lo, IR_LLVM_INSERTELEMENT, vector->type, 3, operands);
}

IrValue *low_splat(Lowering *lo, int64_t lanes, IrValue *scalar) {
    if (lanes == 0) return scalar;
    const IrType *type = low_vec(lo, lanes, scalar->type);
    IrValue *one = low_set_lane(lo, low_poison(lo, type), scalar, 0);
    if (lanes == 1) return one;
    int64_t *zeros = ARENA_ARRAY(&lo->arena, int64_t, (size_t)lanes);
    return low_shuffle(lo, one, NULL, lanes, zeros);
}

// ---------------------------------------------------------------- values of the kernel

IrValue *low_value(Lowering *lo, const IrValue *old) {
    if (old->type->kind == IR_TYPE_INDEX) return low_index_value(lo, low_index(lo, old));
    IrValue *value = lo->values[old->index];
    BUG_IF(!value, "a value is used before it is lowered");
    return value;
}

void low_set_value(Lowering *lo, const IrValue *old, IrValue *value) {
    if (old->type->kind == IR_TYPE_INDEX)
        low_set_index(lo, old, low_index_of(value, 1));
    else
        lo->values[old->index] = value;
}

Status low_set_result(Lowering *lo, const IrOp *op, IrValue *value) {
    const IrValue *old = ir_op_result(op, 0);
    if (low_type(lo, old->type) != value->type)
        return low_refuse(lo, op, "its result type has no form at this level");
    low_set_value(lo, old, value);
    return STATUS_OK;
}

// ---------------------------------------------------------------- blocks

IrBlock *low_add_block(Lowering *lo) {
    return ir_region_add_block(lo->m, lo->region);
}

void low_br(Lowering *lo, IrBlock *from, IrBlock *to, uint32_t num_args, IrValue *const *args) {
    IrOpSpec spec = {.kind = IR_LLVM_BR,
                     .loc = lo->loc,
                     .num_operands = num_args,
                     .operands = args,
                     .segments = {num_args}};
    IrOp *op = ir_op_create(lo->m, &spec);
    op->successors[0] = to;
    op->num_successors = 1;
    ir_block_append(from, op);
}

void low_cond_br(Lowering *lo, IrBlock *from, IrValue *cond, IrBlock *yes, uint32_t num_yes,
                 IrValue *const *yes_args, IrBlock *no, uint32_t num_no, IrValue *const *no_args) {
    uint32_t n = 1 + num_yes + num_no;
    IrValue **operands = ARENA_ARRAY(&lo->arena, IrValue *, n);
    operands[0] = cond;
    for (uint32_t i = 0; i < num_yes; i++) operands[1 + i] = yes_args[i];
    for (uint32_t i = 0; i < num_no; i++) operands[1 + num_yes + i] = no_args[i];
    IrOpSpec spec = {.kind = IR_LLVM_COND_BR,
                     .loc = lo->loc,
                     .num_operands = n,
                     .operands = operands,
                     .segments = {1, num_yes, num_no}};
    IrOp *op = ir_op_create(lo->m, &spec);
    op->successors[0] = yes;
    op->successors[1] = no;
    op->num_successors = 2;
    ir_block_append(from, op);
}
