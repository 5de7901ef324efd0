// Affine maps in the interpreter: coefficient tables where a map is linear, tree evaluation
// elsewhere; and affine.apply, affine.min, affine.max.
#include "ir/interp_decoders.h"

// Adds scale * expr to coeffs and constant; false if expr is not linear or a number overflows.
static bool linear_add(const IrAffineExpr *expr, uint32_t num_dims, int64_t scale, int64_t *coeffs,
                       int64_t *constant) {
    int64_t product;
    switch (expr->kind) {
    case IR_AFFINE_CONST:
        return !__builtin_mul_overflow(scale, expr->value, &product) &&
               !__builtin_add_overflow(*constant, product, constant);
    case IR_AFFINE_DIM:
        return !__builtin_add_overflow(coeffs[expr->value], scale, &coeffs[expr->value]);
    case IR_AFFINE_SYMBOL:
        coeffs += num_dims;
        return !__builtin_add_overflow(coeffs[expr->value], scale, &coeffs[expr->value]);
    case IR_AFFINE_ADD:
        return linear_add(expr->lhs, num_dims, scale, coeffs, constant) &&
               linear_add(expr->rhs, num_dims, scale, coeffs, constant);
    case IR_AFFINE_MUL:
        if (expr->rhs->kind == IR_AFFINE_CONST) {
            return !__builtin_mul_overflow(scale, expr->rhs->value, &product) &&
                   linear_add(expr->lhs, num_dims, product, coeffs, constant);
        }
        return expr->lhs->kind == IR_AFFINE_CONST &&
               !__builtin_mul_overflow(scale, expr->lhs->value, &product) &&
               linear_add(expr->rhs, num_dims, product, coeffs, constant);
    case IR_AFFINE_MOD:
    case IR_AFFINE_FLOORDIV:
    case IR_AFFINE_CEILDIV: return false;
    }
    return false;
}

const InterpMap *interp_map_new(InterpDecoder *d, const IrAffineMap *map) {
    InterpMap *out = INTERP_INFO(d, InterpMap);
    out->map = map;
    out->num_inputs = map->num_dims + map->num_symbols;
    int64_t *coeffs = INTERP_ARRAY(d, int64_t, (size_t)map->num_results * out->num_inputs + 1);
    int64_t *constants = INTERP_ARRAY(d, int64_t, (size_t)map->num_results + 1);
    out->coeffs = coeffs;
    out->constants = constants;
    out->is_linear = true;
    for (uint32_t r = 0; r < map->num_results; r++) {
        out->is_linear = out->is_linear && linear_add(map->results[r], map->num_dims, 1,
                                                      coeffs + r * out->num_inputs, &constants[r]);
    }
    return out;
}

int64_t interp_map_eval(const InterpMap *map, uint32_t result, const int64_t *inputs) {
    if (!map->is_linear) {
        return ir_affine_eval(map->map->results[result], inputs, inputs + map->map->num_dims);
    }
    const int64_t *coeffs = map->coeffs + (size_t)result * map->num_inputs;
    uint64_t sum = (uint64_t)map->constants[result]; // wraps
    for (uint32_t i = 0; i < map->num_inputs; i++) sum += (uint64_t)coeffs[i] * (uint64_t)inputs[i];
    return (int64_t)sum;
}

typedef struct AffineApply {
    const InterpMap *map;
    const uint32_t *slots;
    int sign; // of affine.max: +1, affine.min: -1, affine.apply: 0
} AffineApply;

// Finds a divisor that is not positive, for which MLIR defines no result.
static bool has_bad_divisor(const IrAffineExpr *e, const int64_t *dims, const int64_t *symbols,
                            int64_t *out_divisor) {
    if (e->kind <= IR_AFFINE_SYMBOL) return false;
    bool divides = e->kind != IR_AFFINE_ADD && e->kind != IR_AFFINE_MUL;
    if (divides && (*out_divisor = ir_affine_eval(e->rhs, dims, symbols)) < 1) return true;
    return has_bad_divisor(e->lhs, dims, symbols, out_divisor) ||
           has_bad_divisor(e->rhs, dims, symbols, out_divisor);
}

static bool run_affine_apply(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const AffineApply *apply = inst->info;
    int64_t inputs[INTERP_MAX_OPERANDS];
    for (uint32_t i = 0; i < apply->map->num_inputs; i++) {
        inputs[i] = (int64_t)frame[apply->slots[i]];
    }
    const IrAffineMap *map = apply->map->map;
    int64_t divisor;
    for (uint32_t r = 0; !apply->map->is_linear && r < map->num_results; r++)
        if (has_bad_divisor(map->results[r], inputs, inputs + map->num_dims, &divisor))
            return interp_fault_of(in, inst->op, FAULT_DIVISOR, divisor, (InterpNumbers){{0}}, "");
    int64_t best = interp_map_eval(apply->map, 0, inputs);
    for (uint32_t r = 1; r < map->num_results; r++) {
        int64_t value = interp_map_eval(apply->map, r, inputs);
        best = apply->sign > 0 ? MAX(best, value) : MIN(best, value);
    }
    frame[inst->dst] = (uint64_t)best;
    return true;
}

bool interp_decode_affine_apply(InterpDecoder *d, const IrOp *op) {
    const IrAttr *attr = ir_op_attr(op, "map");
    if (!attr || attr->kind != IR_ATTR_MAP || !attr->map->num_results ||
        attr->map->num_dims + attr->map->num_symbols != op->num_operands ||
        op->num_operands > INTERP_MAX_OPERANDS) {
        return interp_refuse(d->in, op, "has a map that does not fit its operands");
    }
    AffineApply *apply = INTERP_INFO(d, AffineApply);
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, op->num_operands + 1);
    for (uint32_t i = 0; i < op->num_operands; i++) slots[i] = interp_slot(d, ir_op_operand(op, i));
    apply->map = interp_map_new(d, attr->map);
    apply->slots = slots;
    apply->sign = op->kind == IR_AFFINE_MAX ? 1 : op->kind == IR_AFFINE_MIN ? -1 : 0;
    InterpInst *inst = interp_emit(d, op, run_affine_apply);
    inst->info = apply;
    inst->dst = interp_result(d, op, 0);
    return true;
}
