// hoist-constants: a constant tensor of an entry that is no single repeated number becomes an
// argument that stands for it: it is written into the artifact once and read like a weight.
//
//   %w = arith.constant dense<[...]> : tensor<64x32xf32>
//   -> func.func @main(..., %w: tensor<64x32xf32> {ingot.value = dense<[...]> : tensor<64x32xf32>})
//
// Needs: canonical.  Keeps: all.  Exact.
#include "passes/build.h"
#include "passes/entry.h"
#include "passes/pass.h"

static bool is_table(const IrOp *op) {
    const IrAttr *value = op->kind == IR_ARITH_CONSTANT ? ir_op_attr(op, "value") : NULL;
    return value && value->kind == IR_ATTR_DENSE && !value->is_splat &&
           op->results[0].type->kind == IR_TYPE_TENSOR;
}

// The argument that stands for the constant; equal constants share one.
static IrValue *argument_of(IrModule *m, IrOp *func, const IrAttr *value, const IrType *type) {
    IrBlock *body = ir_func_body(func);
    for (uint32_t i = 0; i < body->num_args; i++)
        if (ir_func_arg_attr(func, i, "ingot.value") == value) return body->args[i];
    uint32_t at = body->num_args;
    IrValue *arg = ir_func_insert_arg(m, func, at, type);
    ir_func_set_arg_attr(m, func, at, "ingot.value", value);
    return arg;
}

static void hoist_in_block(IrModule *m, IrOp *func, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) hoist_in_block(m, func, inner);
        if (!is_table(op)) continue;
        IrValue *arg = argument_of(m, func, ir_op_attr(op, "value"), op->results[0].type);
        ir_value_replace_all(ir_op_result(op, 0), arg);
        ir_op_erase(m, op);
    }
}

Status pass_hoist_constants(IrModule *m, DiagSink *sink) {
    (void)sink; // cannot fail
    FOR_EACH_OP(func, ir_module_body(m))
    if (entry_takes_tensors(m, func)) hoist_in_block(m, func, ir_func_body(func));
    return STATUS_OK;
}
