// Holds a module against what the recipe asks of it; see demands.h.
#include "compiler/demands.h"

#include "passes/primitive.h"

// ---- ops

typedef struct Seen {
    const RecipeOps *ops;
    const IrOp *first[RECIPE_MAX_LIST];
    uint32_t count[RECIPE_MAX_LIST];
} Seen;

static void look_at(IrOp *op, void *ctx) {
    Seen *seen = ctx;
    for (uint32_t i = 0; i < seen->ops->num; i++) {
        if (op->kind != seen->ops->of[i]) continue;
        if (!seen->count[i]++) seen->first[i] = op;
    }
}

Status demands_check_ops(const IrModule *m, const Recipe *recipe, DiagSink *sink) {
    Seen seen = {.ops = &recipe->unsupported_ops};
    Status status = STATUS_OK;
    if (seen.ops->num) ir_walk(m->op, look_at, &seen);
    for (uint32_t i = 0; i < seen.ops->num; i++) {
        if (!seen.count[i]) continue;
        const char *name = ir_op_info(seen.ops->of[i])->name;
        DiagSpan place = ir_loc_span(seen.first[i]->loc);
        const IrOp *func = seen.first[i];
        while (ir_op_parent(func) && ir_op_parent(func) != m->op) func = ir_op_parent(func);
        status = diag_error(sink, DIAG_P0063, seen.ops->spans[i],
                            "%s has %u of the op %s, which the recipe says %s does not support",
                            recipe->model_name, seen.count[i], name,
                            recipe_target_name(&recipe->target));
        diag_evidence(sink, "the first is in @%s, %s:%u", ir_symbol_name(func),
                      place.file ? place.file : "", place.line);
        diag_write(sink, "unsupported_ops without %s, or a model without it", name);
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_NO;
}

// ---- kernels

static const char *text_of(const IrOp *op, const char *name) {
    const IrAttr *attr = ir_op_attr(op, name);
    return attr && attr->kind == IR_ATTR_STRING ? attr->str : "";
}

Status demands_check_kernels(const IrModule *m, CpuLevel level, const Recipe *recipe,
                             DiagSink *sink) {
    if (!str_equal(recipe->fallback, "forbid")) return STATUS_OK;
    Status status = STATUS_OK;
    FOR_EACH_OP(func, ir_op_block(m->op, 0)) {
        const char *why = func->kind == IR_FUNC_FUNC ? text_of(func, "ingot.fallback") : "";
        if (!*why || str_equal(text_of(func, "ingot.kernel"), "init")) continue; // runs here, once
        status = diag_error(sink, DIAG_P0064, recipe->spans[RECIPE_FALLBACK],
                            "@%s (%s) wants %s and has %s at the level %s", ir_symbol_name(func),
                            text_of(func, "ingot.kernel"), primitive_wanted(func),
                            text_of(func, "ingot.primitive"), cpu_level_info(level)->name);
        diag_evidence(sink, "%s", why);
        diag_write(sink, "fallback: allow%s",
                   str_equal(why, "target-lacks") ? ", or targets of levels that have it" : "");
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_NO;
}

Status demands_check_planned(const Recipe *recipe, DiagSink *sink) {
    if (!str_equal(recipe->fallback, "forbid")) return STATUS_OK;
    Status status =
        diag_error(sink, DIAG_R0012, recipe->spans[RECIPE_FALLBACK],
                   "fallback: forbid cannot be held for %s", recipe_target_name(&recipe->target));
    diag_evidence(sink, "no backend makes its code: what kernels become is not known");
    diag_write(sink, "fallback: allow, or a target with a CPU level");
    return status;
}
