// Builds and reads the contractions of contraction.h.
#include "passes/contraction.h"

bool contraction_is(const IrOp *op, const char *form) {
    const IrAttr *attr = op->kind == IR_LINALG_GENERIC ? ir_op_attr(op, "ingot.contract") : NULL;
    return attr && attr->kind == IR_ATTR_STRING && str_equal(attr->str, form);
}

typedef struct Form {
    const char *name;
    uint32_t min_ins, max_ins;
    uint32_t ranks[4][2]; // of the first two operands, as raised and as laid out (0: any)
} Form;

bool contraction_fits(const IrOp *op) {
    static const Form forms[] = {
        {"weights", 3, 4, {{3, 3}, {0, 5}}},
        {"float", 2, 2, {{2, 2}, {0, 3}}},
        {"dot", 2, 2, {{3, 3}, {0, 5}}},
        {"scale", 3, 6, {{3, 2}, {4, 2}}},
        {"conv", 2, 2, {{4, 4}, {5, 6}, {5, 7}}},
        {"window", 2, 2, {{4, 3}, {4, 2}, {5, 4}, {5, 2}}},
    };
    const IrAttr *attr = ir_op_attr(op, "ingot.contract");
    if (op->kind != IR_LINALG_GENERIC || op->segments[1] != 1 || op->num_results > 1) return false;
    if (op->num_results == 1 && ir_value_is_unused(&op->results[0])) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (type->kind == IR_TYPE_VECTOR || !ir_type_is_shaped(type) || !ir_type_is_static(type) ||
            type->rank < 2)
            return false;
    }
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        const Form *form = &forms[f];
        if (!str_equal(form->name, attr->str)) continue;
        if (op->segments[0] < form->min_ins || op->segments[0] > form->max_ins) return false;
        uint32_t first = ir_op_operand(op, 0)->type->rank,
                 second = ir_op_operand(op, 1)->type->rank;
        for (size_t k = 0; k < ARRAY_LEN(form->ranks) && form->ranks[k][1] > 0; k++)
            if ((form->ranks[k][0] == 0 || first == form->ranks[k][0]) &&
                second == form->ranks[k][1])
                return true;
        return false;
    }
    return false;
}

void contraction_mark(IrModule *m, IrOp *op, const char *form) {
    ir_op_set_attr(m, op, "ingot.contract", ir_attr_string(m, form));
}

IrValue *contraction_to_f32(Builder *body, IrValue *value) {
    if (ir_type_elem(value->type)->kind == IR_TYPE_F32) return value;
    return build_cast(body, IR_ARITH_EXTF, value, ir_type_f32(body->m));
}

IrValue *contraction_decode(Builder *body, IrValue *code, int64_t zero, IrValue *scale,
                            IrValue *min) {
    const IrType *i32 = ir_type_int(body->m, 32);
    IrValue *wide = build_cast(body, IR_ARITH_EXTUI, code, i32);
    if (zero != 0) wide = build_binary(body, IR_ARITH_ADDI, wide, build_int(body, zero, i32));
    IrValue *number = build_cast(body, IR_ARITH_SITOFP, wide, ir_type_f32(body->m));
    IrValue *w = build_binary(body, IR_ARITH_MULF, number, contraction_to_f32(body, scale));
    return min ? build_binary(body, IR_ARITH_ADDF, w, contraction_to_f32(body, min)) : w;
}

int64_t contraction_zero(const IrOp *op) {
    FOR_EACH_OP(inner, ir_op_block(op, 0)) {
        int64_t zero;
        if (inner->kind == IR_ARITH_ADDI && ir_value_constant_int(ir_op_operand(inner, 1), &zero))
            return zero;
    }
    return 0;
}

IrValue *contraction_build_weights(Builder *b, const ContractionWeights *w) {
    IrModule *m = b->m;
    const int64_t *shape = w->codes->type->shape; // N, KB, B
    int64_t rows = w->x->type->shape[0];
    const int64_t x_shape[] = {rows, shape[1], shape[2]}, out_shape[] = {rows, shape[0]};
    const uint32_t groups[] = {1, 2};
    IrValue *x = build_expand(b, w->x, ir_type_tensor(m, 3, x_shape, w->x->type->elem), 2, groups);
    IrValue *out = build_filled(b, ir_type_tensor(m, 2, out_shape, ir_type_f32(m)), 0.0);
    const IrAffineMap *per_block = build_dims_map(m, 4, 2, 1u, 2u);
    const IrAffineMap *to_out = build_dims_map(m, 4, 2, 0u, 1u);
    const IrAffineMap *maps[] = {build_dims_map(m, 4, 3, 0u, 2u, 3u),
                                 build_dims_map(m, 4, 3, 1u, 2u, 3u), per_block,
                                 w->mins ? per_block : to_out, to_out};
    IrValue *ins[] = {x, w->codes, w->scales, w->mins};
    uint32_t num_ins = w->mins ? 4 : 3;
    Builder body;
    IrOp *op = build_generic(b, num_ins, ins, 1, &out, maps, "pprr", &body);
    contraction_mark(m, op, "weights");
    IrValue **args = body.block->args;
    IrValue *decoded =
        contraction_decode(&body, args[1], w->zero, args[2], w->mins ? args[3] : NULL);
    IrValue *sum = build_fma(&body, contraction_to_f32(&body, args[0]), decoded, args[num_ins]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    return ir_op_result(op, 0);
}

IrValue *contraction_build_float(Builder *b, IrValue *x, IrValue *w) {
    IrModule *m = b->m;
    const int64_t out_shape[] = {x->type->shape[0], w->type->shape[0]};
    IrValue *out = build_filled(b, ir_type_tensor(m, 2, out_shape, ir_type_f32(m)), 0.0);
    const IrAffineMap *maps[] = {build_dims_map(m, 3, 2, 0u, 2u), build_dims_map(m, 3, 2, 1u, 2u),
                                 build_dims_map(m, 3, 2, 0u, 1u)};
    IrValue *ins[] = {x, w};
    Builder body;
    IrOp *op = build_generic(b, 2, ins, 1, &out, maps, "ppr", &body);
    contraction_mark(m, op, "float");
    IrValue *lhs = contraction_to_f32(&body, body.block->args[0]);
    IrValue *rhs = contraction_to_f32(&body, body.block->args[1]);
    IrValue *sum = build_fma(&body, lhs, rhs, body.block->args[2]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    return ir_op_result(op, 0);
}
