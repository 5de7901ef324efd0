// Which kernels entries call, with which scalars; see kernel_cost.h.
#include <stdlib.h>
#include <string.h>

#include "passes/entry.h"
#include "passes/kernel_eval.h"

// How far calls are followed: a language model of 1000 layers and ten versions has less.
enum { MAX_CALLS = 1 << 18, MAX_CALL_DEPTH = 64 };

typedef struct Walk {
    IrModule *m;
    KernelUses *uses;
    Eval eval;
    uint8_t *streamed; // by value number of block arguments: weights and caches
} Walk;

static IrValue *root_of(IrValue *memref) {
    while (memref->def_op && memref->def_op->num_operands > 0 &&
           (ir_op_info(memref->def_op->kind)->traits & IR_PURE))
        memref = ir_op_operand(memref->def_op, 0);
    return memref;
}

static bool is_streamed(const Walk *w, IrValue *buffer) {
    const IrValue *root = root_of(buffer);
    return !root->def_op && w->streamed[root->index];
}

static void add_use(Walk *w, const IrOp *entry, const IrOp *kernel, const IrOp *call) {
    KernelUse use = {.entry = entry, .kernel = ir_symbol_name(kernel), .num_calls = 1};
    for (uint32_t i = 0; i < call->num_operands && i < KERNEL_MAX_ARGS; i++) {
        IrValue *v = ir_op_operand(call, i);
        use.scalars[i] = INT64_MIN;
        if (v->type->kind == IR_TYPE_MEMREF) use.streamed |= (uint64_t)is_streamed(w, v) << i;
        if (!eval_value(&w->eval, v, &use.scalars[i])) use.scalars[i] = INT64_MIN;
    }
    KernelUses *uses = w->uses;
    for (size_t i = 0; i < uses->num_uses; i++) {
        KernelUse *seen = &uses->uses[i];
        if (seen->entry != entry || !str_equal(seen->kernel, use.kernel) ||
            memcmp(seen->scalars, use.scalars, call->num_operands * sizeof *use.scalars) != 0)
            continue;
        seen->num_calls++;
        return;
    }
    ARRAY_RESERVE(uses->uses, uses->num_uses, uses->capacity);
    uses->uses[uses->num_uses++] = use;
}

static void walk_function(Walk *w, const IrOp *entry, const IrOp *func) {
    FOR_EACH_OP(op, ir_func_body(func)) {
        if (op->kind != IR_FUNC_CALL) continue;
        const IrOp *callee = ir_call_callee(w->m, op);
        if (!callee || !ir_func_body(callee) || op->num_operands > KERNEL_MAX_ARGS) continue;
        if (ir_op_attr(callee, "ingot.kernel")) {
            add_use(w, entry, callee, op);
            continue;
        }
        IrBlock *body = ir_func_body(callee);
        for (uint32_t i = 0; i < body->num_args; i++) {
            IrValue *v = ir_op_operand(op, i);
            int64_t value;
            if (v->type->kind == IR_TYPE_MEMREF)
                w->streamed[body->args[i]->index] = is_streamed(w, v);
            if (eval_value(&w->eval, v, &value)) eval_set(&w->eval, body->args[i], value);
        }
        walk_function(w, entry, callee);
    }
}

static bool is_entry(const IrModule *m, const IrOp *op) {
    return is_public_func(op) && (ir_op_attr(op, "ingot.bucket") || entry_takes_tensors(m, op));
}

static void walk_entry(Walk *w, const IrOp *entry, int64_t start) {
    IrBlock *body = ir_func_body(entry);
    double bytes = 0;
    const IrAttr *bucket = ir_op_attr(entry, "ingot.bucket"); // none: it takes tensors alone
    bool is_batch = entry_is_batch(entry), has_start = is_batch;
    for (uint32_t i = 0; i < body->num_args; i++) {
        IrValue *arg = body->args[i];
        // Behind the tokens of a batch stand their positions.
        if (is_batch && i == 1) eval_set(&w->eval, arg, start);
        if (bucket && arg->type->kind == IR_TYPE_INDEX) {
            eval_set(&w->eval, arg, has_start ? bucket->i : start);
            has_start = true;
            continue;
        }
        bool is_weight = ir_func_arg_attr(entry, i, "ingot.param") ||
                         ir_func_arg_attr(entry, i, "ingot.init") ||
                         ir_func_arg_attr(entry, i, "ingot.value");
        bool is_cache = ir_func_arg_attr(entry, i, "ingot.kv");
        w->streamed[arg->index] = is_weight || is_cache;
        if (is_weight && arg->type->kind == IR_TYPE_MEMREF)
            bytes += (double)ir_type_num_elems(arg->type) * ir_type_bytes(arg->type->elem);
    }
    w->uses->streamed_bytes = MAX(w->uses->streamed_bytes, bytes);
    walk_function(w, entry, entry);
}

// Calls from func down; over MAX_CALLS it does not matter by how many.
static void count_calls(const IrModule *m, const IrOp *func, uint32_t depth, uint32_t *num) {
    if (ir_op_attr(func, "ingot.kernel")) return;
    FOR_EACH_OP(op, ir_func_body(func)) {
        const IrOp *callee = op->kind == IR_FUNC_CALL ? ir_call_callee(m, op) : NULL;
        if (!callee || !ir_func_body(callee)) continue;
        *num += depth < MAX_CALL_DEPTH ? 1 : MAX_CALLS + 1;
        if (*num > MAX_CALLS) return;
        count_calls(m, callee, depth + 1, num);
    }
}

bool kernel_uses_bounded(const IrModule *m) {
    uint32_t num = 0;
    for (const IrOp *op = ir_op_block(m->op, 0)->first; op && num <= MAX_CALLS; op = op->next)
        if (is_public_func(op)) count_calls(m, op, 0, &num);
    return num <= MAX_CALLS;
}

void kernel_uses_collect(IrModule *m, int64_t start, KernelUses *out_uses) {
    *out_uses = (KernelUses){0};
    Walk w = {.m = m, .uses = out_uses};
    eval_init(&w.eval, NULL, m->num_values);
    w.streamed = base_alloc(MAX(m->num_values, 1u), 1);
    FOR_EACH_OP(op, ir_module_body(m)) if (is_entry(m, op)) walk_entry(&w, op, start);
    eval_deinit(&w.eval);
    free(w.streamed);
}

void kernel_uses_deinit(KernelUses *uses) {
    free(uses->uses);
    *uses = (KernelUses){0};
}

const KernelUse *kernel_uses_find(const KernelUses *uses, const char *kernel) {
    for (size_t i = 0; i < uses->num_uses; i++)
        if (str_equal(uses->uses[i].kernel, kernel)) return &uses->uses[i];
    return NULL;
}
