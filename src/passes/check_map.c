// Affine maps that divide by a value: arithmetic with a check of the divisor; of check-faults.
//
//   %q = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%n, %d]
//   ->  %ok = arith.cmpi sgt, %d, %c0;  cf.assert %ok, "..." {ingot.check = 0}
//       %e = arith.maxsi %d, %c1;  %t = arith.divsi %n, %e;  ...
//
// Maps that divide by positive constants cannot fail and stay.
#include "passes/check_faults.h"

typedef struct MapCheck {
    Checks *c;
    Builder b;
    IrOp *op;
    const IrAffineMap *map;
} MapCheck;

static bool is_division(const IrAffineExpr *e) {
    return e->kind == IR_AFFINE_MOD || e->kind == IR_AFFINE_FLOORDIV ||
           e->kind == IR_AFFINE_CEILDIV;
}

static bool divides_by_values(const IrAffineExpr *e) {
    if (e->kind <= IR_AFFINE_SYMBOL) return false;
    return (is_division(e) && (e->rhs->kind != IR_AFFINE_CONST || e->rhs->value <= 0)) ||
           divides_by_values(e->lhs) || divides_by_values(e->rhs);
}

static IrValue *check_divisor(MapCheck *k, IrValue *divisor) {
    Fault fault = {.kind = FAULT_DIVISOR};
    ValueRange r = value_range_at(k->c->m, divisor, k->op);
    if (r.min > 0) {
        checks_proven(k->c, k->op, &fault, r);
        return divisor;
    }
    IrValue *zero = build_index(&k->b, 0);
    checks_assert(k->c, &k->b, k->op, &fault, build_cmpi(&k->b, "sgt", divisor, zero));
    return build_binary(&k->b, IR_ARITH_MAXSI, divisor, build_index(&k->b, 1));
}

// Quotients round towards minus or plus infinity, remainders are not negative; arith cuts off.
static IrValue *build_division(MapCheck *k, IrAffineKind kind, IrValue *a, IrValue *d) {
    Builder *b = &k->b;
    IrValue *rest = build_binary(b, IR_ARITH_REMSI, a, d), *zero = build_index(b, 0);
    IrValue *one = build_index(b, 1);
    IrValue *is_below = build_cmpi(b, "slt", rest, zero);
    if (kind == IR_AFFINE_MOD)
        return build_select(b, is_below, build_binary(b, IR_ARITH_ADDI, rest, d), rest);
    IrValue *quotient = build_binary(b, IR_ARITH_DIVSI, a, d);
    if (kind == IR_AFFINE_FLOORDIV)
        return build_select(b, is_below, build_binary(b, IR_ARITH_SUBI, quotient, one), quotient);
    IrValue *is_above = build_cmpi(b, "sgt", rest, zero);
    return build_select(b, is_above, build_binary(b, IR_ARITH_ADDI, quotient, one), quotient);
}

static IrValue *build_expr(MapCheck *k, const IrAffineExpr *e) {
    uint32_t at = (uint32_t)e->value;
    switch (e->kind) {
    case IR_AFFINE_CONST: return build_index(&k->b, e->value);
    case IR_AFFINE_DIM: return ir_op_operand(k->op, at);
    case IR_AFFINE_SYMBOL: return ir_op_operand(k->op, k->map->num_dims + at);
    default: break;
    }
    IrValue *lhs = build_expr(k, e->lhs), *rhs = build_expr(k, e->rhs);
    if (e->kind == IR_AFFINE_ADD) return build_binary(&k->b, IR_ARITH_ADDI, lhs, rhs);
    if (e->kind == IR_AFFINE_MUL) return build_binary(&k->b, IR_ARITH_MULI, lhs, rhs);
    return build_division(k, e->kind, lhs, check_divisor(k, rhs));
}

void check_map(Checks *c, IrOp *op) {
    MapCheck k = {.c = c, .b = build_before(c->m, op), .op = op};
    k.map = ir_op_attr(op, "map")->map;
    bool divides = false;
    for (uint32_t i = 0; i < k.map->num_results; i++)
        divides |= divides_by_values(k.map->results[i]);
    if (!divides) return;
    IrOpKind choose = op->kind == IR_AFFINE_MAX ? IR_ARITH_MAXSI : IR_ARITH_MINSI;
    IrValue *best = build_expr(&k, k.map->results[0]);
    for (uint32_t i = 1; i < k.map->num_results; i++)
        best = build_binary(&k.b, choose, best, build_expr(&k, k.map->results[i]));
    ir_value_replace_all(ir_op_result(op, 0), best);
    ir_op_erase(c->m, op);
}
