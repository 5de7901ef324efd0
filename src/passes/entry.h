// What kind of entry a function is: one of a language model, split into buckets of tokens, or one
// that takes and gives tensors.
#ifndef INGOT_PASSES_ENTRY_H
#define INGOT_PASSES_ENTRY_H

#include "ir/ir.h"

static inline bool is_public_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "sym_visibility");
}

// Was the module compiled from text? Its settings are those of the machine alone.
static inline bool module_is_text(const IrModule *m) {
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    return config && config->kind == IR_ATTR_DICT && !ir_attr_dict_find(config, "buckets");
}

// An entry of a language model: does it take one token each of several sequences?
static inline bool entry_is_batch(const IrOp *op) {
    return ir_op_attr(op, "ingot.batch") != NULL;
}

static inline bool entry_takes_tensors(const IrModule *m, const IrOp *op) {
    return module_is_text(m) && is_public_func(op);
}

#endif
