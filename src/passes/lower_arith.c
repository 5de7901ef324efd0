// arith ops one to one. f16 and bf16 compute in f32 and round after every op, as the interpreter
// does; bf16 is an i16 at level 3, widened by a shift and rounded by integer arithmetic.
#include "passes/lower_internal.h"
#include "passes/mutate.h"

// ---------------------------------------------------------------- f16, bf16 <-> f32

IrValue *low_to_f32(Lowering *lo, const IrType *elem, IrValue *value) {
    const IrType *f32 = low_like(lo, value->type, lo->f32);
    if (elem->kind == IR_TYPE_F16) return low_1(lo, IR_LLVM_FPEXT, f32, value);
    if (elem->kind != IR_TYPE_BF16) return value;
    const IrType *i32 = low_like(lo, value->type, lo->i32);
    IrValue *wide = low_1(lo, IR_LLVM_ZEXT, i32, value);
    return low_1(lo, IR_LLVM_BITCAST, f32,
                 low_2(lo, IR_LLVM_SHL, wide, low_const_int(lo, i32, 16)));
}

// Round to nearest even: add 0x7fff and the lowest kept bit; a NaN becomes quiet.
static IrValue *low_f32_to_bf16(Lowering *lo, IrValue *value) {
    const IrType *i32 = low_like(lo, value->type, lo->i32),
                 *i16 = low_like(lo, value->type, lo->i16);
    IrValue *bits = low_1(lo, IR_LLVM_BITCAST, i32, value), *sixteen = low_const_int(lo, i32, 16);
    IrValue *high = low_2(lo, IR_LLVM_LSHR, bits, sixteen);
    IrValue *odd = low_2(lo, IR_LLVM_AND, high, low_const_int(lo, i32, 1));
    IrValue *bias = low_2(lo, IR_LLVM_ADD, odd, low_const_int(lo, i32, 0x7fff));
    IrValue *rounded = low_2(lo, IR_LLVM_LSHR, low_2(lo, IR_LLVM_ADD, bits, bias), sixteen);
    IrValue *quiet = low_2(lo, IR_LLVM_OR, high, low_const_int(lo, i32, 0x40));
    IrValue *is_nan = low_cmp(lo, IR_LLVM_FCMP, "uno", value, value);
    return low_1(lo, IR_LLVM_TRUNC, i16, low_select(lo, is_nan, quiet, rounded));
}

IrValue *low_from_f32(Lowering *lo, const IrType *elem, IrValue *value) {
    if (elem->kind == IR_TYPE_F16)
        return low_1(lo, IR_LLVM_FPTRUNC, low_like(lo, value->type, elem), value);
    return elem->kind == IR_TYPE_BF16 ? low_f32_to_bf16(lo, value) : value;
}

// f64 to f32 rounded to odd: towards zero, and the last bit set if that was not exact. Rounded
// again to two bits fewer or less, it gives what one rounding of the f64 would (S. Boldo and G.
// Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd", 2008).
static IrValue *low_f64_to_odd_f32(Lowering *lo, IrValue *value) {
    const IrType *i32 = low_like(lo, value->type, lo->i32),
                 *f32 = low_like(lo, value->type, lo->f32);
    IrValue *near = low_1(lo, IR_LLVM_FPTRUNC, f32, value);
    IrValue *back = low_1(lo, IR_LLVM_FPEXT, value->type, near);
    IrValue *away =
        low_cmp(lo, IR_LLVM_FCMP, "ogt", low_1(lo, IR_LLVM_INTR_FABS, value->type, back),
                low_1(lo, IR_LLVM_INTR_FABS, value->type, value));
    IrValue *inexact = low_cmp(lo, IR_LLVM_FCMP, "one", back, value); // not so for NaN
    IrValue *bits = low_1(lo, IR_LLVM_BITCAST, i32, near);
    bits = low_2(lo, IR_LLVM_SUB, bits, low_1(lo, IR_LLVM_ZEXT, i32, away));
    bits = low_2(lo, IR_LLVM_OR, bits, low_1(lo, IR_LLVM_ZEXT, i32, inexact));
    return low_1(lo, IR_LLVM_BITCAST, f32, bits);
}

// ---------------------------------------------------------------- minimum, maximum

// The number if one operand is NaN; of two zeros the one maximumf (minimumf) would give. LLVM's
// maxnum leaves the zero open, so: a > b ? a : b; where b is NaN, a; where they are equal, the
// common bits.
static IrValue *low_maxnum(Lowering *lo, bool is_max, IrValue *a, IrValue *b) {
    const IrType *elem = ir_type_int(lo->m, ir_type_bits(ir_type_elem(a->type)));
    const IrType *bits = low_like(lo, a->type, elem);
    IrValue *wins = low_cmp(lo, IR_LLVM_FCMP, is_max ? "ogt" : "olt", a, b);
    IrValue *r = low_select(lo, wins, a, b);
    r = low_select(lo, low_cmp(lo, IR_LLVM_FCMP, "uno", b, b), a, r);
    IrValue *a_bits = low_1(lo, IR_LLVM_BITCAST, bits, a),
            *b_bits = low_1(lo, IR_LLVM_BITCAST, bits, b);
    IrValue *common = low_2(lo, is_max ? IR_LLVM_AND : IR_LLVM_OR, a_bits, b_bits);
    common = low_1(lo, IR_LLVM_BITCAST, a->type, common);
    return low_select(lo, low_cmp(lo, IR_LLVM_FCMP, "oeq", a, b), common, r);
}

// maximumf of vectors: NaN if any is, -0 < +0. a > b ? a : b is one instruction; where the operands
// are equal or unordered, all bits of either (a NaN stays one), for the maximum with the common
// sign. That is three instructions where LLVM's own expansion takes six.
static IrValue *low_maximum(Lowering *lo, bool is_max, IrValue *a, IrValue *b) {
    const IrType *elem = ir_type_int(lo->m, ir_type_bits(ir_type_elem(a->type)));
    const IrType *bits = low_like(lo, a->type, elem);
    IrValue *wins = low_cmp(lo, IR_LLVM_FCMP, is_max ? "ogt" : "olt", a, b);
    IrValue *r = low_select(lo, wins, a, b);
    IrValue *a_bits = low_1(lo, IR_LLVM_BITCAST, bits, a);
    IrValue *b_bits = low_1(lo, IR_LLVM_BITCAST, bits, b);
    IrValue *either = low_2(lo, IR_LLVM_OR, a_bits, b_bits);
    if (is_max) {
        IrValue *both = low_2(lo, IR_LLVM_AND, a_bits, b_bits);
        int64_t magnitude = elem->width == 64 ? INT64_MAX : INT32_MAX;
        both = low_2(lo, IR_LLVM_OR, both, low_const_int(lo, bits, magnitude));
        either = low_2(lo, IR_LLVM_AND, either, both);
    }
    either = low_1(lo, IR_LLVM_BITCAST, a->type, either);
    return low_select(lo, low_cmp(lo, IR_LLVM_FCMP, "ueq", a, b), either, r);
}

IrValue *low_max_min(Lowering *lo, IrOpKind kind, IrValue *a, IrValue *b) {
    bool is_vector = low_lanes(a->type) > 0;
    switch (kind) {
    case IR_ARITH_MAXIMUMF:
        return is_vector ? low_maximum(lo, true, a, b) : low_2(lo, IR_LLVM_INTR_MAXIMUM, a, b);
    case IR_ARITH_MINIMUMF:
        return is_vector ? low_maximum(lo, false, a, b) : low_2(lo, IR_LLVM_INTR_MINIMUM, a, b);
    case IR_ARITH_MAXNUMF: return low_maxnum(lo, true, a, b);
    case IR_ARITH_MINNUMF: return low_maxnum(lo, false, a, b);
    default: BUG("%s is no minimum or maximum", ir_op_info(kind)->name);
    }
}

static IrValue *low_float_binary(Lowering *lo, IrOpKind kind, IrValue *a, IrValue *b) {
    switch (kind) {
    case IR_ARITH_ADDF: return low_2(lo, IR_LLVM_FADD, a, b);
    case IR_ARITH_SUBF:
        return MUTATED(SUB_ORDER) ? low_2(lo, IR_LLVM_FSUB, b, a) : low_2(lo, IR_LLVM_FSUB, a, b);
    case IR_ARITH_MULF: return low_2(lo, IR_LLVM_FMUL, a, b);
    case IR_ARITH_DIVF: return low_2(lo, IR_LLVM_FDIV, a, b);
    default: return low_max_min(lo, kind, a, b);
    }
}

static Status low_float_op(Lowering *lo, IrOp *op) {
    const IrType *elem = ir_type_elem(ir_op_result(op, 0)->type);
    IrValue *a = low_to_f32(lo, elem, low_value(lo, ir_op_operand(op, 0)));
    IrValue *r;
    if (op->kind == IR_ARITH_NEGF)
        r = low_1(lo, IR_LLVM_FNEG, a->type, a);
    else
        r = low_float_binary(lo, op->kind, a,
                             low_to_f32(lo, elem, low_value(lo, ir_op_operand(op, 1))));
    return low_set_result(lo, op, low_from_f32(lo, elem, r));
}

// ---------------------------------------------------------------- integers

static bool low_int_kind(IrOpKind kind, IrOpKind *out_kind) {
    switch (kind) {
    case IR_ARITH_ADDI: *out_kind = IR_LLVM_ADD; return true;
    case IR_ARITH_SUBI: *out_kind = IR_LLVM_SUB; return true;
    case IR_ARITH_MULI: *out_kind = IR_LLVM_MUL; return true;
    case IR_ARITH_DIVSI: *out_kind = IR_LLVM_SDIV; return true;
    case IR_ARITH_DIVUI: *out_kind = IR_LLVM_UDIV; return true;
    case IR_ARITH_REMSI: *out_kind = IR_LLVM_SREM; return true;
    case IR_ARITH_REMUI: *out_kind = IR_LLVM_UREM; return true;
    case IR_ARITH_ANDI: *out_kind = IR_LLVM_AND; return true;
    case IR_ARITH_ORI: *out_kind = IR_LLVM_OR; return true;
    case IR_ARITH_XORI: *out_kind = IR_LLVM_XOR; return true;
    case IR_ARITH_SHLI: *out_kind = IR_LLVM_SHL; return true;
    case IR_ARITH_SHRSI: *out_kind = IR_LLVM_ASHR; return true;
    case IR_ARITH_SHRUI: *out_kind = IR_LLVM_LSHR; return true;
    case IR_ARITH_MINSI: *out_kind = IR_LLVM_INTR_SMIN; return true;
    case IR_ARITH_MAXSI: *out_kind = IR_LLVM_INTR_SMAX; return true;
    case IR_ARITH_MINUI: *out_kind = IR_LLVM_INTR_UMIN; return true;
    case IR_ARITH_MAXUI: *out_kind = IR_LLVM_INTR_UMAX; return true;
    default: return false;
    }
}

static Status low_int_op(Lowering *lo, IrOp *op, IrOpKind kind) {
    if (low_index_arith(lo, op)) return STATUS_OK;
    IrValue *a = low_value(lo, ir_op_operand(op, 0)), *b = low_value(lo, ir_op_operand(op, 1));
    return low_set_result(lo, op, low_2(lo, kind, a, b));
}

// ---------------------------------------------------------------- constants

static Status low_constant(Lowering *lo, IrOp *op) {
    const IrAttr *value = ir_op_attr(op, "value");
    const IrType *old = ir_op_result(op, 0)->type, *type = low_type(lo, old);
    if (!type) return low_refuse(lo, op, "its type has no form at this level");
    if (old->kind == IR_TYPE_INDEX) return STATUS_OK; // low_index reads the attribute
    switch (value->kind) {
    case IR_ATTR_BOOL: return low_set_result(lo, op, low_const_int(lo, type, value->i));
    case IR_ATTR_INT: return low_set_result(lo, op, low_const_int(lo, type, value->i));
    case IR_ATTR_FLOAT:
        if (old->kind == IR_TYPE_BF16)
            return low_set_result(lo, op, low_const_int(lo, type, (int16_t)value->bits));
        return low_set_result(lo, op, low_const_attr(lo, value));
    case IR_ATTR_DENSE: {
        const IrAttr *flat =
            ir_attr_dense(lo->m, type, value->data, value->len_bytes, value->is_splat);
        return low_set_result(lo, op, low_const_attr(lo, flat));
    }
    default: return low_refuse(lo, op, "its value is no number");
    }
}

// ---------------------------------------------------------------- casts

static Status low_cast_to(Lowering *lo, IrOp *op, IrOpKind kind) {
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    if (!type) return low_refuse(lo, op, "its type has no form at this level");
    IrValue *a = low_value(lo, ir_op_operand(op, 0));
    return low_set_result(lo, op, a->type == type ? a : low_1(lo, kind, type, a));
}

static Status low_extf(Lowering *lo, IrOp *op) {
    const IrOp *maker = ir_op_operand(op, 0)->def_op;
    if (MUTATED(DROPPED_TYPE) && maker && maker->kind == IR_ARITH_TRUNCF &&
        ir_op_operand(maker, 0)->type == op->results[0].type)
        return low_set_result(lo, op, low_value(lo, ir_op_operand(maker, 0)));
    const IrType *from = ir_type_elem(ir_op_operand(op, 0)->type);
    const IrType *to = low_type(lo, ir_op_result(op, 0)->type);
    IrValue *wide = low_to_f32(lo, from, low_value(lo, ir_op_operand(op, 0)));
    if (wide->type != to) wide = low_1(lo, IR_LLVM_FPEXT, to, wide);
    return low_set_result(lo, op, wide);
}

static Status low_truncf(Lowering *lo, IrOp *op) {
    const IrType *from = ir_type_elem(ir_op_operand(op, 0)->type);
    const IrType *to = ir_type_elem(ir_op_result(op, 0)->type);
    const IrAttr *mode = ir_op_attr(op, "roundingmode");
    if (mode && !str_equal(mode->str, "to_nearest_even"))
        return low_refuse(lo, op, "it rounds otherwise than to nearest even");
    if (from->kind == IR_TYPE_F64 && to->kind == IR_TYPE_F32)
        return low_cast_to(lo, op, IR_LLVM_FPTRUNC);
    IrValue *value = low_value(lo, ir_op_operand(op, 0));
    if (from->kind == IR_TYPE_F64) value = low_f64_to_odd_f32(lo, value);
    return low_set_result(lo, op, low_from_f32(lo, to, value));
}

// Through f32, as every op on 16-bit floats. Only integers of more than 24 bits that become bf16
// are rounded twice; what f32 rounds is beyond f16's range.
static Status low_int_to_float(Lowering *lo, IrOp *op, IrOpKind kind) {
    const IrType *to = ir_type_elem(ir_op_result(op, 0)->type);
    if (!low_is_small_float(to)) return low_cast_to(lo, op, kind);
    IrValue *a = low_value(lo, ir_op_operand(op, 0));
    IrValue *wide = low_1(lo, kind, low_like(lo, a->type, lo->f32), a);
    return low_set_result(lo, op, low_from_f32(lo, to, wide));
}

static Status low_float_to_int(Lowering *lo, IrOp *op, IrOpKind kind) {
    const IrType *from = ir_type_elem(ir_op_operand(op, 0)->type);
    IrValue *a = low_to_f32(lo, from, low_value(lo, ir_op_operand(op, 0)));
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    if (!type) return low_refuse(lo, op, "its type has no form at this level");
    return low_set_result(lo, op, low_1(lo, kind, type, a));
}

static Status low_index_cast(Lowering *lo, IrOp *op) {
    const IrType *from = ir_type_elem(ir_op_operand(op, 0)->type);
    const IrType *to = ir_type_elem(ir_op_result(op, 0)->type);
    if (ir_type_bits(from) > ir_type_bits(to)) return low_cast_to(lo, op, IR_LLVM_TRUNC);
    return low_cast_to(lo, op, op->kind == IR_ARITH_INDEX_CAST ? IR_LLVM_SEXT : IR_LLVM_ZEXT);
}

// ---------------------------------------------------------------- compare, select

static Status low_compare(Lowering *lo, IrOp *op) {
    const char *predicate = ir_op_attr(op, "predicate")->str;
    const IrType *elem = ir_type_elem(ir_op_operand(op, 0)->type);
    IrValue *a = low_value(lo, ir_op_operand(op, 0)), *b = low_value(lo, ir_op_operand(op, 1));
    if (op->kind == IR_ARITH_CMPI)
        return low_set_result(lo, op, low_cmp(lo, IR_LLVM_ICMP, predicate, a, b));
    if (str_equal(predicate, "true") || str_equal(predicate, "false")) {
        const IrType *type = low_like(lo, a->type, lo->i1);
        return low_set_result(lo, op, low_const_int(lo, type, predicate[0] == 't'));
    }
    a = low_to_f32(lo, elem, a);
    b = low_to_f32(lo, elem, b);
    return low_set_result(lo, op, low_cmp(lo, IR_LLVM_FCMP, predicate, a, b));
}

static Status low_select_op(Lowering *lo, IrOp *op) {
    const IrType *type = ir_op_result(op, 0)->type;
    if (type->kind == IR_TYPE_MEMREF)
        return low_refuse(lo, op, "a buffer cannot be chosen at run time");
    IrValue *cond = low_value(lo, ir_op_operand(op, 0));
    IrValue *a = low_value(lo, ir_op_operand(op, 1)), *b = low_value(lo, ir_op_operand(op, 2));
    return low_set_result(lo, op, low_select(lo, cond, a, b));
}

Status low_arith(Lowering *lo, IrOp *op) {
    IrOpKind kind;
    if (low_int_kind(op->kind, &kind)) return low_int_op(lo, op, kind);
    switch (op->kind) {
    case IR_ARITH_CONSTANT: return low_constant(lo, op);
    case IR_ARITH_ADDF:
    case IR_ARITH_SUBF:
    case IR_ARITH_MULF:
    case IR_ARITH_DIVF:
    case IR_ARITH_NEGF:
    case IR_ARITH_MAXIMUMF:
    case IR_ARITH_MINIMUMF:
    case IR_ARITH_MAXNUMF:
    case IR_ARITH_MINNUMF: return low_float_op(lo, op);
    case IR_ARITH_CMPF:
    case IR_ARITH_CMPI: return low_compare(lo, op);
    case IR_ARITH_SELECT: return low_select_op(lo, op);
    case IR_ARITH_EXTF: return low_extf(lo, op);
    case IR_ARITH_TRUNCF: return low_truncf(lo, op);
    case IR_ARITH_SITOFP: return low_int_to_float(lo, op, IR_LLVM_SITOFP);
    case IR_ARITH_UITOFP: return low_int_to_float(lo, op, IR_LLVM_UITOFP);
    case IR_ARITH_FPTOSI: return low_float_to_int(lo, op, IR_LLVM_FPTOSI);
    case IR_ARITH_FPTOUI: return low_float_to_int(lo, op, IR_LLVM_FPTOUI);
    case IR_ARITH_EXTSI: return low_cast_to(lo, op, IR_LLVM_SEXT);
    case IR_ARITH_EXTUI: return low_cast_to(lo, op, IR_LLVM_ZEXT);
    case IR_ARITH_TRUNCI: return low_cast_to(lo, op, IR_LLVM_TRUNC);
    case IR_ARITH_BITCAST: return low_cast_to(lo, op, IR_LLVM_BITCAST);
    case IR_ARITH_INDEX_CAST:
    case IR_ARITH_INDEX_CASTUI: return low_index_cast(lo, op);
    default: return low_refuse(lo, op, "no rule for it");
    }
}
