// merge-equal: what is computed twice is computed once. Two ops of a block that do the same on the
// same operands become one; so a weight that two products and a table read is decoded once.
//
//   %a = linalg.generic ins(%x) outs(%e0) { exp }
//   %b = linalg.generic ins(%x) outs(%e1) { exp }    ->   %a = ...
//   use(%a, %b)                                           use(%a, %a)
//
// An output that is only written to does not count: it says no more than its type.
// Needs: canonical.  Keeps: all.  Exact.
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

// Maps values of the second op's regions to those of the first they stand for.
typedef IrValueMap Pairs;

// Is the fill's destination, or a generic's output whose old value its body does not read, empty?
static bool is_only_written(const IrOp *op, uint32_t i) {
    if (!(ir_op_info(op->kind)->traits & IR_LINALG) || i < op->segments[0]) return false;
    const IrOp *init = ir_op_operand(op, i)->def_op;
    if (!init || init->kind != IR_TENSOR_EMPTY) return false;
    return op->kind == IR_LINALG_FILL ||
           (op->kind == IR_LINALG_GENERIC && ir_value_is_unused(ir_op_block(op, 0)->args[i]));
}

static bool is_equal(Pairs *p, IrOp *x, IrOp *y);

// Constants and filled tensors are made anew wherever they are needed; they are not merged.
static bool is_made_anew(const IrValue *value) {
    return value->def_op &&
           (value->def_op->kind == IR_ARITH_CONSTANT || value->def_op->kind == IR_LINALG_FILL);
}

static bool is_pair(Pairs *p, IrValue *x, IrValue *y) {
    if (ir_value_map_get(p, y) == x) return true;
    return is_made_anew(x) && is_made_anew(y) && is_equal(p, x->def_op, y->def_op);
}

static bool is_equal_block(Pairs *p, const IrBlock *x, const IrBlock *y) {
    if (x->num_args != y->num_args) return false;
    for (uint32_t i = 0; i < x->num_args; i++) {
        if (x->args[i]->type != y->args[i]->type) return false;
        ir_value_map_set(p, y->args[i], x->args[i]);
    }
    IrOp *a = x->first, *b = y->first;
    for (; a && b; a = a->next, b = b->next) {
        if (!is_equal(p, a, b)) return false;
        for (uint32_t r = 0; r < a->num_results; r++)
            ir_value_map_set(p, ir_op_result(b, r), ir_op_result(a, r));
    }
    return !a && !b;
}

static bool is_equal(Pairs *p, IrOp *x, IrOp *y) {
    if (x->kind != y->kind || x->num_operands != y->num_operands ||
        x->num_results != y->num_results || x->num_attrs != y->num_attrs ||
        x->num_regions != y->num_regions)
        return false;
    for (uint32_t s = 0; s < IR_MAX_SEGMENTS; s++)
        if (x->segments[s] != y->segments[s]) return false;
    for (uint32_t i = 0; i < x->num_attrs; i++)
        if (x->attrs[i].name != y->attrs[i].name ||
            (x->attrs[i].attr != y->attrs[i].attr && !MUTATED(MERGE_ATTRIBUTES)))
            return false;
    for (uint32_t i = 0; i < x->num_results; i++)
        if (x->results[i].type != y->results[i].type) return false;
    for (uint32_t i = 0; i < x->num_operands; i++) {
        bool is_same = is_pair(p, ir_op_operand(x, i), ir_op_operand(y, i)) ||
                       (is_only_written(x, i) && is_only_written(y, i) &&
                        is_equal(p, ir_op_operand(x, i)->def_op, ir_op_operand(y, i)->def_op));
        if (!is_same) return false;
    }
    for (uint32_t r = 0; r < x->num_regions; r++) {
        const IrBlock *a = x->regions[r].first, *b = y->regions[r].first;
        for (; a && b; a = a->next, b = b->next)
            if (!is_equal_block(p, a, b)) return false;
        if (a || b) return false;
    }
    return true;
}

static bool may_merge(const IrOp *op) {
    return op->num_operands > 0 && op->num_results > 0 && op->kind != IR_TENSOR_EMPTY &&
           op->kind != IR_LINALG_FILL && dce_is_removable(op);
}

// Ops after op that equal it read its first operand too; those before it have taken it in already.
static void merge_into(IrModule *m, IrOp *op) {
    IrValue *first = ir_op_operand(op, 0);
    for (IrOperand *use = first->first_use, *next; use; use = next) {
        IrOp *other = use->owner;
        next = use->next_use;
        while (next && next->owner == other) next = next->next_use; // it may go
        if (other == op || other->block != op->block || use != &other->operands[0]) continue;
        Pairs pairs;
        ir_value_map_init(&pairs);
        bool equal = is_equal(&pairs, op, other);
        ir_value_map_deinit(&pairs);
        if (!equal) continue;
        for (uint32_t r = 0; r < op->num_results; r++)
            ir_value_replace_all(ir_op_result(other, r), ir_op_result(op, r));
        ir_op_erase(m, other);
    }
}

Status pass_merge_equal(IrModule *m, DiagSink *sink) {
    (void)sink; // nothing to refuse
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body || ir_op_attr(func, "ingot.composite")) continue;
        FOR_EACH_OP(op, body)
        if (may_merge(op)) merge_into(m, op);
    }
    dce_module(m);
    return STATUS_OK;
}
