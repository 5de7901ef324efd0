// inline-functions: a call of a function that makes no calls itself and is not a composite is
// replaced by the function's body. What remains are entry functions and, in a language model,
// layers (they call composites) and composites.
//
//   %0 = func.call @rmsnorm(%x, %w)   ->   the ops of @rmsnorm on %x and %w
//
// Needs: nothing.  Keeps: bucketed, explicit-quant.  Exact.
#include "passes/build.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

static void count_calls(IrOp *op, void *ctx) {
    *(uint32_t *)ctx += op->kind == IR_FUNC_CALL;
}

static bool is_inlinable(const IrOp *func, bool has_composites) {
    IrBlock *body = func ? ir_func_body(func) : NULL;
    if (!body || func->kind != IR_FUNC_FUNC || ir_op_attr(func, "ingot.kernel") ||
        (has_composites && ir_op_attr(func, "ingot.composite")))
        return false;
    uint32_t num_calls = 0;
    FOR_EACH_OP(op, body) ir_walk(op, count_calls, &num_calls);
    return num_calls == 0;
}

typedef struct Relocate {
    IrModule *m;
    const IrLoc *caller;
} Relocate;

static void relocate(IrOp *op, void *ctx) {
    Relocate *r = ctx;
    op->loc = ir_loc_callsite(r->m, op->loc, r->caller);
}

static void inline_call(IrModule *m, IrOp *call, const IrOp *callee) {
    IrValueMap map;
    ir_value_map_init(&map);
    IrBlock *body = ir_func_body(callee);
    for (uint32_t i = 0; i < body->num_args; i++) {
        uint32_t from = i;
        if (MUTATED(INLINE_ORDER) && i + 1 < body->num_args &&
            body->args[i]->type == body->args[i + 1]->type)
            from = i + 1;
        ir_value_map_set(&map, body->args[i], ir_op_operand(call, from));
    }
    Relocate ctx = {m, call->loc};
    FOR_EACH_OP(op, body) {
        if (op->kind == IR_FUNC_RETURN) {
            for (uint32_t i = 0; i < op->num_operands; i++)
                ir_value_replace_all(ir_op_result(call, i),
                                     ir_value_map_get(&map, ir_op_operand(op, i)));
            break;
        }
        IrOp *clone = ir_op_clone(m, op, &map);
        ir_op_insert_before(clone, call);
        ir_walk(clone, relocate, &ctx);
    }
    ir_value_map_deinit(&map);
    ir_op_erase(m, call);
}

static bool inline_in_block(IrModule *m, IrBlock *block, bool has_composites) {
    bool any = false;
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) any |= inline_in_block(m, inner, has_composites);
        if (op->kind != IR_FUNC_CALL) continue;
        IrOp *callee = ir_call_callee(m, op);
        if (!is_inlinable(callee, has_composites)) continue;
        inline_call(m, op, callee);
        any = true;
    }
    return any;
}

Status pass_inline_functions(IrModule *m, DiagSink *sink) {
    (void)sink; // cannot fail, and ends: a recursive function makes calls, so it is never inlined
    // Only a language model has kernels for composites; a module from text has settings without it.
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    bool has_composites =
        !config || config->kind != IR_ATTR_DICT || ir_attr_dict_find(config, "buckets");
    bool any;
    do {
        any = false;
        FOR_EACH_OP(func, ir_module_body(m)) {
            IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
            if (body) any |= inline_in_block(m, body, has_composites);
        }
        dce_module(m);
    } while (any);
    return STATUS_OK;
}
