// canonicalize: one normal form, so that later passes match few shapes.
//   - a contraction accumulates from zero; what it accumulated onto is added after it
//   - linalg.softmax is its four stages
//   - a reshape of a reshape back to the same type, and a slice of the whole, are gone
//   - arithmetic on constant indices is folded
//   - nothing dead
//
//   %h = linalg.matmul ins(%a, %w) outs(%x)   ->   %z = fill 0; %y = linalg.matmul ins(%a, %w)
//   outs(%z)
//                                                  %h = generic { addf } ins(%x, %y)
//
// Needs: inlined.  Keeps: all.  Exact but for the place of the addition (reassoc).
#include <math.h>

#include "passes/build.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

// ---- accumulate from zero

static bool is_zero_fill(const IrValue *value) {
    const IrOp *def = value->def_op;
    if (!def || def->kind != IR_LINALG_FILL) return false;
    const IrAttr *constant = ir_value_constant(ir_op_operand(def, 0));
    if (!constant) return false;
    return constant->kind == IR_ATTR_FLOAT ? constant->bits == 0 : constant->i == 0;
}

static void split_accumulation(IrModule *m, IrOp *op) {
    uint32_t out = ir_op_segment_start(op, 1);
    IrValue *onto = ir_op_operand(op, out);
    const IrType *type = onto->type;
    if (op->num_results != 1 || is_zero_fill(onto) || !ir_type_is_static(type) ||
        !ir_type_is_float(type->elem))
        return;
    Builder before = build_before(m, op);
    ir_op_set_operand(op, out, build_filled(&before, type, 0.0));
    Builder after = build_after(m, op);
    IrValue *result = ir_op_result(op, 0);
    IrValue *empty = build_empty(&after, type);
    const IrAffineMap *identity = ir_affine_identity(m, type->rank);
    const IrAffineMap *maps[] = {identity, identity, identity};
    IrValue *ins[] = {onto, result};
    Builder body;
    char iterators[16] = {0};
    for (uint32_t i = 0; i < type->rank; i++) iterators[i] = 'p';
    IrOp *add = build_generic(&after, 2, ins, 1, &empty, maps, iterators, &body);
    IrValue *sum = build_binary(&body, IR_ARITH_ADDF, body.block->args[0], body.block->args[1]);
    const IrAttr *class = ir_op_attr(op, "ingot.op_class"); // of the sum, not of the product
    if (class) ir_op_set_attr(m, add, "ingot.op_class", class);
    if (class) ir_op_set_attr(m, op, "ingot.op_class", NULL);
    if (MUTATED(LOST_RESIDUAL)) sum = body.block->args[1];
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    FOR_EACH_USE_SAFE(use, result)
    if (use->owner != add)
        ir_op_set_operand(use->owner, (uint32_t)(use - use->owner->operands), ir_op_result(add, 0));
}

// ---- softmax

// generic over all dims of `like`; `reduced` is the dim missing in operands marked in reduced_mask.
static IrOp *stage(Builder *b, uint32_t num_ins, IrValue *const *ins, IrValue *out, uint32_t rank,
                   uint32_t reduced, uint32_t reduced_mask, bool is_reduction, Builder *body) {
    uint32_t dims[16], n = 0;
    for (uint32_t i = 0; i < rank; i++)
        if (i != reduced) dims[n++] = i;
    const IrAffineMap *full = ir_affine_identity(b->m, rank);
    const IrAffineMap *partial = ir_affine_select(b->m, rank, n, dims);
    const IrAffineMap *maps[4];
    for (uint32_t i = 0; i <= num_ins; i++) maps[i] = reduced_mask >> i & 1 ? partial : full;
    char iterators[17] = {0};
    for (uint32_t i = 0; i < rank; i++) iterators[i] = is_reduction && i == reduced ? 'r' : 'p';
    return build_generic(b, num_ins, ins, 1, &out, maps, iterators, body);
}

static void expand_softmax(IrModule *m, IrOp *op) {
    const IrType *type = op->results[0].type;
    uint32_t dim = (uint32_t)ir_op_attr(op, "dimension")->i, rank = type->rank;
    if (!ir_type_is_static(type)) return;
    int64_t shape[16];
    uint32_t n = 0;
    for (uint32_t i = 0; i < rank; i++)
        if (i != dim) shape[n++] = type->shape[i];
    const IrType *row = ir_type_tensor(m, n, shape, type->elem);
    Builder b = build_before(m, op), body;
    IrValue *x = ir_op_operand(op, 0);

    IrValue *start = build_filled(&b, row, -(double)INFINITY);
    IrOp *max = stage(&b, 1, &x, start, rank, dim, 2, true, &body);
    IrValue *r = build_binary(&body, IR_ARITH_MAXNUMF, body.block->args[0], body.block->args[1]);
    build_yield(&body, IR_LINALG_YIELD, 1, &r);

    IrValue *ins[] = {x, ir_op_result(max, 0)};
    IrOp *exp = stage(&b, 2, ins, build_empty(&b, type), rank, dim, 2, false, &body);
    r = build_binary(&body, IR_ARITH_SUBF, body.block->args[0], body.block->args[1]);
    r = build_unary(&body, IR_MATH_EXP, r);
    build_yield(&body, IR_LINALG_YIELD, 1, &r);

    IrValue *e = ir_op_result(exp, 0);
    IrValue *none = build_filled(&b, row, MUTATED(SOFTMAX_START) ? 1.0 : 0.0);
    IrOp *sum = stage(&b, 1, &e, none, rank, dim, 2, true, &body);
    r = build_binary(&body, IR_ARITH_ADDF, body.block->args[0], body.block->args[1]);
    build_yield(&body, IR_LINALG_YIELD, 1, &r);

    IrValue *div_ins[] = {e, ir_op_result(sum, 0)};
    IrOp *div = stage(&b, 2, div_ins, build_empty(&b, type), rank, dim, 2, false, &body);
    r = build_binary(&body, IR_ARITH_DIVF, body.block->args[0], body.block->args[1]);
    build_yield(&body, IR_LINALG_YIELD, 1, &r);
    IrOp *stages[] = {max, exp, sum, div};
    const IrAttr *class = ir_op_attr(op, "ingot.op_class");
    for (size_t i = 0; class && i < ARRAY_LEN(stages); i++)
        ir_op_set_attr(m, stages[i], "ingot.op_class", class);
    ir_value_replace_all(ir_op_result(op, 0), ir_op_result(div, 0));
    ir_op_erase(m, op);
}

// ---- reshapes and slices

static IrValue *folded_reshape(const IrOp *op) {
    IrValue *source = ir_op_operand(op, 0);
    const IrOp *def = source->def_op;
    bool is_inverse =
        def && ((op->kind == IR_TENSOR_COLLAPSE_SHAPE && def->kind == IR_TENSOR_EXPAND_SHAPE) ||
                (op->kind == IR_TENSOR_EXPAND_SHAPE && def->kind == IR_TENSOR_COLLAPSE_SHAPE));
    if (is_inverse && ir_op_operand(def, 0)->type == op->results[0].type)
        return ir_op_operand(def, 0);
    return NULL;
}

static bool all_zero(const IrAttr *array) {
    for (size_t i = 0; i < array->num_values; i++)
        if (array->values[i] != 0) return false;
    return true;
}

static IrValue *folded_slice(const IrOp *op) {
    IrValue *source = ir_op_operand(op, 0);
    if (op->num_operands != 1 || source->type != op->results[0].type) return NULL;
    return all_zero(ir_op_attr(op, "static_offsets")) ? source : NULL;
}

// ---- index arithmetic

static bool fold_index(IrOp *op, int64_t *out) {
    int64_t a, b;
    if (op->num_operands != 2 || op->num_results != 1 ||
        op->results[0].type->kind != IR_TYPE_INDEX ||
        !ir_value_constant_int(ir_op_operand(op, 0), &a) ||
        !ir_value_constant_int(ir_op_operand(op, 1), &b))
        return false;
    switch (op->kind) {
    case IR_ARITH_ADDI: return !__builtin_add_overflow(a, b, out);
    case IR_ARITH_SUBI: return !__builtin_sub_overflow(a, b, out);
    case IR_ARITH_MULI: return !__builtin_mul_overflow(a, b, out);
    case IR_ARITH_DIVUI: return a >= 0 && b > 0 && (*out = a / b, true);
    case IR_ARITH_REMUI: return a >= 0 && b > 0 && (*out = a % b, true);
    default: return false;
    }
}

static void canonicalize_op(IrModule *m, IrOp *op) {
    IrValue *same = NULL;
    int64_t value;
    if (ir_op_info(op->kind)->traits & IR_CONTRACTION)
        split_accumulation(m, op);
    else if (op->kind == IR_LINALG_SOFTMAX)
        expand_softmax(m, op);
    else if (op->kind == IR_TENSOR_COLLAPSE_SHAPE || op->kind == IR_TENSOR_EXPAND_SHAPE)
        same = folded_reshape(op);
    else if (op->kind == IR_TENSOR_EXTRACT_SLICE)
        same = folded_slice(op);
    else if (fold_index(op, &value)) {
        Builder b = build_before(m, op);
        same = build_index(&b, value);
    }
    if (!same) return;
    ir_value_replace_all(ir_op_result(op, 0), same);
    ir_op_erase(m, op);
}

static void canonicalize_block(IrModule *m, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) canonicalize_block(m, inner);
        canonicalize_op(m, op);
    }
}

Status pass_canonicalize(IrModule *m, DiagSink *sink) {
    (void)sink; // every rule is optional
    FOR_EACH_OP(func, ir_module_body(m))
    for (uint32_t r = 0; r < func->num_regions; r++)
        FOR_EACH_BLOCK(block, &func->regions[r]) canonicalize_block(m, block);
    dce_module(m);
    return STATUS_OK;
}
