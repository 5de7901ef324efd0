// Checks of arith and math: constants, comparisons, casts, V10.
#include "ir/verify_internal.h"

bool verify_arith_constant(Verifier *v, const IrOp *op) {
    const IrAttr *value = ir_op_attr(op, "value");
    const IrType *type = op->results[0].type;
    if (!value) FAIL_ATTR("requires attribute 'value'");
    bool is_scalar = value->kind == IR_ATTR_INT || value->kind == IR_ATTR_FLOAT;
    bool is_bool = value->kind == IR_ATTR_BOOL && type->kind == IR_TYPE_INT && type->width == 1;
    if (!is_scalar && !is_bool && value->kind != IR_ATTR_DENSE) {
        FAIL_ATTR("value must be an integer, float, or elements attribute");
    }
    if (!is_bool && value->type != type) {
        FAIL_TYPE("failed to verify that all of {value, result} have same type: '%s' vs '%s'",
                  value->type ? verify_type(v, value->type) : "none", verify_type(v, type));
    }
    bool fits = value->kind == IR_ATTR_DENSE
                    ? ir_type_is_static(type) && type->kind != IR_TYPE_MEMREF
                : value->kind == IR_ATTR_FLOAT ? ir_type_is_float(type)
                                               : ir_type_is_int_or_index(type);
    if (!fits) FAIL_TYPE("has a value of another kind than its type '%s'", verify_type(v, type));
    return true;
}

bool verify_cmp(Verifier *v, const IrOp *op) {
    const IrType *type = verify_operand_type(op, 0), *result = op->results[0].type;
    const IrAttr *predicate = verify_attr(op, "predicate", IR_ATTR_STRING);
    if (!predicate || !syntax_enum_known(op->kind, "predicate", predicate->str)) {
        FAIL_ATTR("requires a known attribute 'predicate'");
    }
    if (!verify_same_shape(type, result)) {
        FAIL_TYPE(
            "failed to verify that result type has i1 element type and same shape as operands");
    }
    return true;
}

bool verify_select(Verifier *v, const IrOp *op) {
    const IrType *condition = verify_operand_type(op, 0), *type = op->results[0].type;
    if (condition->kind != IR_TYPE_VECTOR) return true;
    if (type->kind != IR_TYPE_VECTOR || !verify_same_shape(condition, type)) {
        FAIL_TYPE(
            "expected condition type to have the same shape as the result type, expected '%s', but "
            "got '%s'",
            verify_type(v, type), verify_type(v, condition));
    }
    return true;
}

bool verify_cast(Verifier *v, const IrOp *op) {
    const IrType *from = verify_operand_type(op, 0), *to = op->results[0].type;
    const IrType *a = ir_type_elem(from), *b = ir_type_elem(to);
    uint32_t from_bits = ir_type_bits(a), to_bits = ir_type_bits(b);
    bool fits = verify_same_shape(from, to);
    switch (op->kind) {
    case IR_ARITH_EXTF:
    case IR_ARITH_EXTSI:
    case IR_ARITH_EXTUI: fits = fits && from_bits < to_bits; break;
    case IR_ARITH_TRUNCF:
    case IR_ARITH_TRUNCI: fits = fits && from_bits > to_bits; break;
    case IR_ARITH_BITCAST:
        fits = fits && from_bits == to_bits && a->kind != IR_TYPE_INDEX && b->kind != IR_TYPE_INDEX;
        break;
    case IR_ARITH_INDEX_CAST:
    case IR_ARITH_INDEX_CASTUI:
        fits = fits && (a->kind == IR_TYPE_INDEX) != (b->kind == IR_TYPE_INDEX);
        break;
    default: break; // between integers and floats: any widths
    }
    if (!fits) {
        FAIL_TYPE("operand type '%s' and result type '%s' are cast incompatible",
                  verify_type(v, from), verify_type(v, to));
    }
    return true;
}

// V10
bool verify_shift(Verifier *v, const IrOp *op) {
    uint32_t width = ir_type_bits(ir_type_elem(op->results[0].type));
    const IrAttr *amount = ir_value_constant(ir_op_operand(op, 1));
    if (!amount) return true;
    int64_t num = amount->kind == IR_ATTR_DENSE ? ir_type_num_elems(amount->type) : 1;
    if (amount->kind == IR_ATTR_DENSE && amount->is_splat) num = MIN(num, 1);
    for (int64_t i = 0; i < num; i++) {
        uint64_t value =
            amount->kind == IR_ATTR_DENSE ? ir_attr_dense_elem(amount, i) : (uint64_t)amount->i;
        if (width < 64) value &= (UINT64_C(1) << width) - 1;
        if (value < width) continue;
        return verify_fail(v, DIAG_I0130, op, "shifts a value of %u bits by %llu", width,
                           (unsigned long long)value);
    }
    return true;
}

bool verify_fma(Verifier *v, const IrOp *op) {
    IrTypeKind kind = ir_type_elem(op->results[0].type)->kind;
    if (kind != IR_TYPE_F32 && kind != IR_TYPE_F64) {
        FAIL_TYPE("exists for f32 and f64 only, not for '%s'", verify_type(v, op->results[0].type));
    }
    return true;
}

bool verify_poison(Verifier *v, const IrOp *op) {
    const IrAttr *value = ir_op_attr(op, "value");
    if (value && value->kind != IR_ATTR_OPAQUE_ENUM) FAIL_ATTR("has a value other than #ub.poison");
    return true;
}
