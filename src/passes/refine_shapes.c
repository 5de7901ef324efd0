// refine-shapes: the only unknown size is the number of tokens of a call, and it lies between 1 and
// the largest bucket. Every entry argument of unknown size is given that range.
//
//   func.func @forward(%ids: tensor<?xi32>)
//   -> func.func @forward(%ids: tensor<?xi32> {ingot.range = [1, 512]})
//
// In a module compiled from text the sizes of an entry have names with ranges (sizes.h). Its calls
// are replaced by what they call, and every size in it is proven to be one of them.
//
// Needs: bound.  Keeps: all.  Exact: nothing is computed.
#include "passes/entry.h"
#include "passes/pass.h"
#include "passes/sizes.h"

typedef struct Check {
    DiagSink *sink;
    Status status;
} Check;

static uint32_t num_dynamic(const IrType *type) {
    uint32_t n = 0;
    if (!ir_type_is_shaped(type)) return 0;
    for (uint32_t i = 0; i < type->rank; i++) n += type->shape[i] == IR_DYNAMIC;
    return n;
}

static void check_type(Check *check, const IrType *type, const IrLoc *loc) {
    if (check->status != STATUS_OK || num_dynamic(type) <= 1) return;
    check->status = diag_error(check->sink, DIAG_P0004, ir_loc_span(loc),
                               "a tensor with %u unknown sizes", num_dynamic(type));
    diag_evidence(check->sink, "only the token count of a call may be unknown");
    diag_write(check->sink, "the sizes as numbers, or one '?' for the tokens");
}

static void check_op(IrOp *op, void *ctx) {
    for (uint32_t i = 0; i < op->num_results; i++) check_type(ctx, op->results[i].type, op->loc);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++) check_type(ctx, block->args[i]->type, op->loc);
}

static bool has_named_sizes(const IrModule *m, const IrOp *func) {
    return entry_takes_tensors(m, func) && sizes_are_unknown(func);
}

static Status prove_entry(IrModule *m, IrOp *func, DiagSink *sink) {
    SizeRanges ranges;
    Sizes sizes;
    TRY(size_ranges_read(func, sink, &ranges));
    Status status = sizes_prove(m, func, &ranges, sink, &sizes);
    sizes_deinit(&sizes);
    return status;
}

static Status prove_entries(IrModule *m, DiagSink *sink) {
    bool any = false;
    FOR_EACH_OP(func, ir_module_body(m)) any |= has_named_sizes(m, func);
    if (any) TRY(pass_inline_functions(m, sink));
    FOR_EACH_OP(func, ir_module_body(m)) {
        Check check = {sink, STATUS_OK};
        if (has_named_sizes(m, func))
            TRY(prove_entry(m, func, sink));
        else
            ir_walk(func, check_op, &check);
        TRY(check.status);
    }
    return STATUS_OK;
}

Status pass_refine_shapes(IrModule *m, DiagSink *sink) {
    PassConfig config;
    TRY(pass_config_read(m, sink, &config));
    if (config.num_buckets == 0) return prove_entries(m, sink);
    Check check = {sink, STATUS_OK};
    ir_walk(m->op, check_op, &check);
    TRY(check.status);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (func->kind != IR_FUNC_FUNC || ir_op_attr(func, "sym_visibility")) continue;
        IrBlock *body = ir_func_body(func);
        if (!body) continue;
        bool is_batch = entry_is_batch(func) && config.num_batches > 0;
        int64_t most = is_batch ? config.batches[config.num_batches - 1]
                                : config.buckets[config.num_buckets - 1];
        const IrAttr *range[] = {ir_attr_i64(m, 1), ir_attr_i64(m, most)};
        ir_func_edit_begin(func);
        for (uint32_t i = 0; i < body->num_args; i++)
            if (num_dynamic(body->args[i]->type))
                ir_func_set_arg_attr(m, func, i, "ingot.range", ir_attr_array(m, 2, range));
        ir_func_edit_end(m, func);
    }
    return STATUS_OK;
}
