// Dead code elimination: an op without effect whose results have no user is erased, last first, so
// that one sweep suffices.
//
//   %0 = tensor.empty() : tensor<4xf32>      // unused
//   %1 = arith.addi %a, %b : index           // unused
//   return                              ->   return
//
// Needs: nothing.  Keeps: every fact.  Exact.
#include "passes/dce.h"

#include <stdlib.h>
#include <string.h>

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
    return is_linalg && op->num_results > 0;
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

typedef struct Names {
    const char **items;
    size_t count, capacity;
} Names;

static void note_attr(const IrAttr *attr, Names *names) {
    if (attr->kind == IR_ATTR_SYMBOL) {
        ARRAY_RESERVE(names->items, names->count, names->capacity);
        names->items[names->count++] = attr->str;
    } else if (attr->kind == IR_ATTR_ARRAY) {
        for (size_t i = 0; i < attr->num_elems; i++) note_attr(attr->elems[i], names);
    } else if (attr->kind == IR_ATTR_DICT) {
        for (size_t i = 0; i < attr->num_entries; i++) note_attr(attr->entries[i].attr, names);
    }
}

static void note_symbols(IrOp *op, void *ctx) {
    for (uint32_t i = 0; i < op->num_attrs; i++) note_attr(op->attrs[i].attr, ctx);
}

static bool is_private_func(const IrOp *op) {
    const IrAttr *visibility = ir_op_attr(op, "sym_visibility");
    return op->kind == IR_FUNC_FUNC && visibility && str_equal(visibility->str, "private");
}

// Erases private functions nobody names; true if any went.
static bool sweep_functions(IrModule *m) {
    Names names = {0};
    ir_walk(m->op, note_symbols, &names);
    bool any = false;
    FOR_EACH_OP_SAFE(op, ir_module_body(m)) {
        if (!is_private_func(op)) continue;
        bool is_named = false;
        for (size_t i = 0; i < names.count && !is_named; i++)
            is_named = str_equal(names.items[i], ir_symbol_name(op));
        if (is_named) continue;
        ir_op_erase(m, op);
        any = true;
    }
    free(names.items);
    return any;
}

void dce_module(IrModule *m) {
    do {
        FOR_EACH_OP(op, ir_module_body(m))
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(block, &op->regions[r]) sweep(m, block);
    } while (sweep_functions(m));
}
