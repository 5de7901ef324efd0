// Index arithmetic of lower-target. An index is value + constant: constants are carried along and
// end in the displacement of an address, and a known divisor of the value proves alignment.
#include "passes/lower_internal.h"

static uint64_t low_gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static uint64_t low_magnitude(int64_t v) {
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}
static int64_t low_wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static int64_t low_wrap_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

LowIndex low_index_const(int64_t value) {
    return (LowIndex){NULL, value, 0};
}
LowIndex low_index_of(IrValue *value, uint64_t multiple) {
    return (LowIndex){value, 0, multiple};
}
uint64_t low_index_multiple(LowIndex index) {
    return low_gcd(index.multiple, low_magnitude(index.constant));
}

LowIndex low_index(Lowering *lo, const IrValue *old) {
    const IrAttr *constant = ir_value_constant(old);
    if (constant && constant->kind == IR_ATTR_INT) return low_index_const(constant->i);
    return lo->indices[old->index];
}

void low_set_index(Lowering *lo, const IrValue *old, LowIndex index) {
    lo->indices[old->index] = index;
}

IrValue *low_index_value(Lowering *lo, LowIndex index) {
    if (!index.value) return low_const_int(lo, lo->i64, index.constant);
    if (!index.constant) return index.value;
    return low_2(lo, IR_LLVM_ADD, index.value, low_const_int(lo, lo->i64, index.constant));
}

LowIndex low_index_add(Lowering *lo, LowIndex a, LowIndex b) {
    LowIndex sum = {a.value ? a.value : b.value, low_wrap_add(a.constant, b.constant),
                    low_gcd(a.multiple, b.multiple)};
    if (a.value && b.value) sum.value = low_2(lo, IR_LLVM_ADD, a.value, b.value);
    return sum;
}

LowIndex low_index_sub(Lowering *lo, LowIndex a, LowIndex b) {
    int64_t constant = (int64_t)((uint64_t)a.constant - (uint64_t)b.constant);
    if (!b.value) return (LowIndex){a.value, constant, a.multiple};
    IrValue *value = a.value ? a.value : low_const_int(lo, lo->i64, 0);
    return (LowIndex){low_2(lo, IR_LLVM_SUB, value, b.value), constant,
                      low_gcd(a.multiple, b.multiple)};
}

LowIndex low_index_mul(Lowering *lo, LowIndex a, LowIndex b) {
    if (a.value && b.value) {
        IrValue *product = low_2(lo, IR_LLVM_MUL, low_index_value(lo, a), low_index_value(lo, b));
        uint64_t multiple;
        if (!size_mul(low_index_multiple(a), low_index_multiple(b), &multiple)) multiple = 1;
        return low_index_of(product, multiple);
    }
    if (!a.value) {
        LowIndex t = a;
        a = b;
        b = t;
    }
    int64_t factor = b.constant; // b is a constant
    LowIndex out = {a.value, low_wrap_mul(a.constant, factor), 0};
    if (!a.value || factor == 0) return low_index_const(out.constant);
    if (!size_mul(a.multiple, low_magnitude(factor), &out.multiple)) out.multiple = 1;
    if (factor != 1)
        out.value = low_2(lo, IR_LLVM_MUL, a.value, low_const_int(lo, lo->i64, factor));
    return out;
}

bool low_index_arith(Lowering *lo, IrOp *op) {
    const IrValue *result = ir_op_result(op, 0);
    if (result->type->kind != IR_TYPE_INDEX) return false;
    if (op->kind != IR_ARITH_ADDI && op->kind != IR_ARITH_SUBI && op->kind != IR_ARITH_MULI)
        return false;
    LowIndex a = low_index(lo, ir_op_operand(op, 0)), b = low_index(lo, ir_op_operand(op, 1));
    LowIndex r = op->kind == IR_ARITH_ADDI   ? low_index_add(lo, a, b)
                 : op->kind == IR_ARITH_SUBI ? low_index_sub(lo, a, b)
                                             : low_index_mul(lo, a, b);
    low_set_index(lo, result, r);
    return true;
}

// ---------------------------------------------------------------- affine maps

// Division and remainder by a positive constant, rounding towards minus infinity.
static IrValue *low_floor_div(Lowering *lo, IrValue *a, int64_t divisor) {
    if ((divisor & (divisor - 1)) == 0) {
        int64_t shift = __builtin_ctzll((uint64_t)divisor);
        return low_2(lo, IR_LLVM_ASHR, a, low_const_int(lo, lo->i64, shift));
    }
    IrValue *zero = low_const_int(lo, lo->i64, 0), *ones = low_const_int(lo, lo->i64, -1);
    IrValue *is_neg = low_cmp(lo, IR_LLVM_ICMP, "slt", a, zero);
    IrValue *flip = low_select(lo, is_neg, ones, zero); // -1 - a == a ^ -1
    IrValue *q = low_2(lo, IR_LLVM_SDIV, low_2(lo, IR_LLVM_XOR, a, flip),
                       low_const_int(lo, lo->i64, divisor));
    return low_2(lo, IR_LLVM_XOR, q, flip);
}

static LowIndex low_affine_div(Lowering *lo, IrAffineKind kind, LowIndex a, int64_t divisor) {
    uint64_t unsigned_divisor = (uint64_t)divisor;
    if (!a.value) {
        IrAffineExpr lhs = {IR_AFFINE_CONST, a.constant, NULL, NULL};
        IrAffineExpr rhs = {IR_AFFINE_CONST, divisor, NULL, NULL};
        IrAffineExpr expr = {kind, 0, &lhs, &rhs};
        return low_index_const(ir_affine_eval(&expr, NULL, NULL));
    }
    if (kind == IR_AFFINE_CEILDIV) { // ceil(a / d) == floor((a + d - 1) / d)
        a.constant = low_wrap_add(a.constant, divisor - 1);
        kind = IR_AFFINE_FLOORDIV;
    }
    // (k * d * x + c) / d == k * x + c / d
    uint64_t rest = a.multiple % unsigned_divisor;
    IrValue *value = rest ? low_index_value(lo, a) : NULL;
    if (kind == IR_AFFINE_FLOORDIV) {
        if (rest) return low_index_of(low_floor_div(lo, value, divisor), 1);
        int64_t c = a.constant / divisor - (a.constant % divisor < 0);
        return (LowIndex){low_floor_div(lo, a.value, divisor), c, a.multiple / unsigned_divisor};
    }
    if (!rest)
        return low_index_const(a.constant % divisor + (a.constant % divisor < 0 ? divisor : 0));
    if ((divisor & (divisor - 1)) == 0)
        return low_index_of(low_2(lo, IR_LLVM_AND, value, low_const_int(lo, lo->i64, divisor - 1)),
                            1);
    IrValue *q = low_floor_div(lo, value, divisor);
    IrValue *back = low_2(lo, IR_LLVM_MUL, q, low_const_int(lo, lo->i64, divisor));
    return low_index_of(low_2(lo, IR_LLVM_SUB, value, back), 1);
}

static LowIndex low_affine_expr(Lowering *lo, const IrAffineExpr *expr, uint32_t num_dims,
                                const IrOp *op, uint32_t first) {
    switch (expr->kind) {
    case IR_AFFINE_CONST: return low_index_const(expr->value);
    case IR_AFFINE_DIM: return low_index(lo, ir_op_operand(op, first + (uint32_t)expr->value));
    case IR_AFFINE_SYMBOL:
        return low_index(lo, ir_op_operand(op, first + num_dims + (uint32_t)expr->value));
    default: break;
    }
    LowIndex a = low_affine_expr(lo, expr->lhs, num_dims, op, first);
    LowIndex b = low_affine_expr(lo, expr->rhs, num_dims, op, first);
    if (expr->kind == IR_AFFINE_ADD) return low_index_add(lo, a, b);
    if (expr->kind == IR_AFFINE_MUL) return low_index_mul(lo, a, b);
    BUG_IF(b.value || b.constant <= 0,
           "affine division by something else than a positive constant");
    return low_affine_div(lo, expr->kind, a, b.constant);
}

LowIndex low_affine(Lowering *lo, const IrAffineMap *map, uint32_t r, const IrOp *op,
                    uint32_t first) {
    return low_affine_expr(lo, map->results[r], map->num_dims, op, first);
}

Status low_affine_apply(Lowering *lo, IrOp *op) {
    low_set_index(lo, ir_op_result(op, 0), low_affine(lo, ir_op_attr(op, "map")->map, 0, op, 0));
    return STATUS_OK;
}

LowIndex low_affine_bound(Lowering *lo, const IrAffineMap *map, const IrOp *op, uint32_t first,
                          bool is_max) {
    LowIndex best = low_affine(lo, map, 0, op, first);
    for (uint32_t r = 1; r < map->num_results; r++) {
        LowIndex next = low_affine(lo, map, r, op, first);
        if (!best.value && !next.value) {
            bool take = is_max ? next.constant > best.constant : next.constant < best.constant;
            if (take) best = next;
            continue;
        }
        uint64_t multiple = low_gcd(low_index_multiple(best), low_index_multiple(next));
        IrValue *value = low_2(lo, is_max ? IR_LLVM_INTR_SMAX : IR_LLVM_INTR_SMIN,
                               low_index_value(lo, best), low_index_value(lo, next));
        best = low_index_of(value, multiple);
    }
    return best;
}

Status low_affine_minmax(Lowering *lo, IrOp *op) {
    const IrAffineMap *map = ir_op_attr(op, "map")->map;
    low_set_index(lo, ir_op_result(op, 0),
                  low_affine_bound(lo, map, op, 0, op->kind == IR_AFFINE_MAX));
    return STATUS_OK;
}
