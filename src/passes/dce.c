// Dead code elimination: an op without effect whose results have no user is erased, last first, so
// that one sweep suffices. A cf.assert is an effect, also of the op it stands in.
//
//   %0 = tensor.empty() : tensor<4xf32>      // unused
//   %1 = arith.addi %a, %b : index           // unused
//   return                              ->   return
//
// Needs: nothing.  Keeps: every fact.  Exact.
#include "passes/dce.h"

#include <stdlib.h>

static bool has_effects_inside(const IrOp *op) {
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block)
    if (!(ir_op_info(inner->kind)->traits & IR_TERMINATOR) && !dce_is_removable(inner)) return true;
    return false;
}

bool dce_is_removable(const IrOp *op) {
    const IrOpInfo *info = ir_op_info(op->kind);
    if (info->traits & IR_TERMINATOR) return false;
    if (op->kind == IR_SCF_FOR || op->kind == IR_SCF_IF || op->kind == IR_TENSOR_PAD)
        return !has_effects_inside(op);
    if (info->traits & IR_PURE) return true;
    bool is_linalg = (info->traits & IR_LINALG) || op->kind == IR_LINALG_SOFTMAX;
    return is_linalg && op->num_results > 0 && !has_effects_inside(op);
}

static bool is_unused(const IrOp *op) {
    for (uint32_t i = 0; i < op->num_results; i++)
        if (!ir_value_is_unused(&op->results[i])) return false;
    return true;
}

static void sweep(IrModule *m, IrBlock *block) {
    for (IrOp *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        if (dce_is_removable(op) && is_unused(op)) {
            ir_op_erase(m, op);
            continue;
        }
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) sweep(m, inner);
    }
}

bool dce_is_private(const IrOp *op) {
    const IrAttr *visibility = ir_op_attr(op, "sym_visibility");
    return op->kind == IR_FUNC_FUNC && visibility && str_equal(visibility->str, "private");
}

typedef struct Reach {
    const IrModule *m;
    bool *is_kept; // by op index
    IrOp **todo;
    size_t count, capacity;
} Reach;

static void keep(Reach *reach, IrOp *func) {
    if (!func || reach->is_kept[func->index]) return;
    reach->is_kept[func->index] = true;
    ARRAY_RESERVE(reach->todo, reach->count, reach->capacity);
    reach->todo[reach->count++] = func;
}

static void keep_named(Reach *reach, const IrAttr *attr) {
    if (attr->kind == IR_ATTR_SYMBOL) {
        keep(reach, ir_symbol_find(reach->m, attr->str));
    } else if (attr->kind == IR_ATTR_ARRAY) {
        for (size_t i = 0; i < attr->num_elems; i++) keep_named(reach, attr->elems[i]);
    } else if (attr->kind == IR_ATTR_DICT) {
        for (size_t i = 0; i < attr->num_entries; i++) keep_named(reach, attr->entries[i].attr);
    }
}

static void keep_symbols(IrOp *op, void *ctx) {
    for (uint32_t i = 0; i < op->num_attrs; i++) keep_named(ctx, op->attrs[i].attr);
}

// Erases private functions that nothing which stays names.
static void sweep_functions(IrModule *m) {
    Reach reach = {.m = m, .is_kept = base_alloc((size_t)m->num_ops + 1, sizeof(bool))};
    for (uint32_t i = 0; i < m->op->num_attrs; i++) keep_named(&reach, m->op->attrs[i].attr);
    FOR_EACH_OP(op, ir_module_body(m))
    if (!dce_is_private(op)) keep(&reach, op);
    while (reach.count) ir_walk(reach.todo[--reach.count], keep_symbols, &reach);
    FOR_EACH_OP_SAFE(op, ir_module_body(m))
    if (!reach.is_kept[op->index]) ir_op_erase(m, op);
    free(reach.todo);
    free(reach.is_kept);
}

void dce_module(IrModule *m) {
    FOR_EACH_OP(op, ir_module_body(m))
    for (uint32_t r = 0; r < op->num_regions; r++)
        FOR_EACH_BLOCK(block, &op->regions[r]) sweep(m, block);
    sweep_functions(m);
}
