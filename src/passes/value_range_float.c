// Intervals of floats, as far as limits that somebody wrote: minima, maxima, constants, and what
// keeps the order. See value_range.h.
#include <math.h>

#include "passes/value_range_internal.h"

static FloatRange anything(void) {
    return (FloatRange){-INFINITY, INFINITY, true};
}

static FloatRange of_limits(const IrOp *op, FloatRange a, FloatRange b) {
    bool is_max = op->kind == IR_ARITH_MAXIMUMF || op->kind == IR_ARITH_MAXNUMF;
    bool spreads = op->kind == IR_ARITH_MAXIMUMF || op->kind == IR_ARITH_MINIMUMF;
    FloatRange r = {is_max ? fmax(a.min, b.min) : fmin(a.min, b.min),
                    is_max ? fmax(a.max, b.max) : fmin(a.max, b.max),
                    spreads ? a.may_be_nan || b.may_be_nan : a.may_be_nan && b.may_be_nan};
    if (spreads) return r;
    // Where one is no number, the result is the other.
    if (a.may_be_nan) r = (FloatRange){fmin(r.min, b.min), fmax(r.max, b.max), r.may_be_nan};
    if (b.may_be_nan) r = (FloatRange){fmin(r.min, a.min), fmax(r.max, a.max), r.may_be_nan};
    return r;
}

static FloatRange of_unary(const IrOp *op, FloatRange a) {
    switch (op->kind) {
    case IR_ARITH_NEGF: return (FloatRange){-a.max, -a.min, a.may_be_nan};
    case IR_MATH_ABSF:
        return (FloatRange){a.min > 0   ? a.min
                            : a.max < 0 ? -a.max
                                        : 0,
                            fmax(fabs(a.min), fabs(a.max)), a.may_be_nan};
    case IR_MATH_FLOOR: return (FloatRange){floor(a.min), floor(a.max), a.may_be_nan};
    case IR_MATH_CEIL: return (FloatRange){ceil(a.min), ceil(a.max), a.may_be_nan};
    case IR_MATH_ROUNDEVEN: // to nearest, which leaves no whole number
        return (FloatRange){floor(a.min), ceil(a.max), a.may_be_nan};
    case IR_ARITH_EXTF: return a;
    default: return anything();
    }
}

// A whole number becomes one of the float's numbers beside it: 2^-7 of it away at most (bf16).
// Those beyond f16 become infinite.
static FloatRange of_integer(Ranges *r, const IrOp *op) {
    const IrValue *from = ir_op_operand(op, 0);
    ValueRange a = ranges_of(r, from);
    if (op->kind == IR_ARITH_UITOFP && a.min < 0)
        a = (ValueRange){0, ir_type_bits(from->type) < 63
                                ? (INT64_C(1) << ir_type_bits(from->type)) - 1
                                : INT64_MAX};
    double min = (double)a.min, max = (double)a.max;
    bool is_exact = fmax(fabs(min), fabs(max)) <= 256; // in every float type
    if (op->kind == IR_ARITH_UITOFP && a.max == INT64_MAX) max *= 2;
    double slack = is_exact ? 0 : fmax(fabs(min), fabs(max)) / 128;
    if (fmax(fabs(min), fabs(max)) > 32768) // f16
        return (FloatRange){min < 0 ? -INFINITY : 0, INFINITY, false};
    return (FloatRange){min - slack, max + slack, false};
}

static FloatRange of_op(Ranges *r, const IrValue *value) {
    const IrOp *op = value->def_op;
    FloatRange a, b;
    switch (op->kind) {
    case IR_ARITH_CONSTANT: {
        const IrAttr *attr = ir_op_attr(op, "value");
        if (attr->kind != IR_ATTR_FLOAT) return anything();
        double x = ir_attr_float_value(attr);
        return isnan(x) ? anything() : (FloatRange){x, x, false};
    }
    case IR_ARITH_MAXIMUMF:
    case IR_ARITH_MINIMUMF:
    case IR_ARITH_MAXNUMF:
    case IR_ARITH_MINNUMF:
        a = ranges_of_float(r, ir_op_operand(op, 0));
        b = ranges_of_float(r, ir_op_operand(op, 1));
        return of_limits(op, a, b);
    case IR_ARITH_SELECT:
        a = ranges_of_float(r, ir_op_operand(op, 1));
        b = ranges_of_float(r, ir_op_operand(op, 2));
        return (FloatRange){fmin(a.min, b.min), fmax(a.max, b.max), a.may_be_nan || b.may_be_nan};
    case IR_ARITH_SITOFP:
    case IR_ARITH_UITOFP: return of_integer(r, op);
    case IR_MATH_TANH: return (FloatRange){-1.1, 1.1, true};
    default:
        return op->num_operands == 1 ? of_unary(op, ranges_of_float(r, ir_op_operand(op, 0)))
                                     : anything();
    }
}

FloatRange ranges_of_float(Ranges *r, const IrValue *value) {
    if (!ir_type_is_float(value->type) || !value->def_op || --r->visits < 0) return anything();
    return of_op(r, value);
}
