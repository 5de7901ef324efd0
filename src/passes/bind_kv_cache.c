// bind-kv-cache: lays the pages of the KV cache out the way the attention kernel reads them. Keys:
// 16 neighbouring slots side by side for each element of the head, so that one vector holds one
// element of 16 keys; values: the elements of a head side by side.
//
//   K [page, slot, head, d] -> [page, head, d, slot];  V [page, slot, head, d] -> [page, head,
//   slot, d]
//
// An entry whose caches are laid out says so (ingot.kv_layout).
// Every reader and writer is rewritten; a cache may be read by tensor.extract, written by
// tensor.insert_slice and passed through scf.for, calls and returns. Needs: inlined.  Keeps: all.
// Exact.
#include <stdlib.h>

#include "passes/build.h"
#include "passes/mutate.h"
#include "passes/pass.h"

static const uint32_t key_order[] = {0, 2, 3, 1},
                      value_order[] = {0, 2, 1, 3}; // new dim i was order[i]

typedef struct Call {
    IrOp *op;
    const char *callee; // interned
} Call;

typedef struct Bind {
    IrModule *m;
    DiagSink *sink;
    Status status;
    bool *done;  // by value index: a callee shared by layers is visited once
    Call *calls; // of the whole module
    size_t num_calls, calls_capacity;
} Bind;

static void bind_value(Bind *bind, IrValue *v, const uint32_t *order);

static void permute_static(Bind *bind, IrOp *op, const char *name, const uint32_t *order) {
    const IrAttr *old = ir_op_attr(op, name);
    int64_t values[4];
    for (int i = 0; i < 4; i++) values[i] = old->values[order[i]];
    ir_op_set_attr(bind->m, op, name, ir_attr_dense_array(bind->m, old->type, 4, values));
}

// Dynamic operands of a segment, re-ordered like the static array they fill in.
static void permute_dynamic(IrOp *op, const IrAttr *old, uint32_t segment, const uint32_t *order) {
    IrValue *by_dim[4] = {0};
    uint32_t start = ir_op_segment_start(op, segment), n = 0;
    for (int i = 0; i < 4; i++)
        if (old->values[i] == IR_DYNAMIC) by_dim[i] = ir_op_operand(op, start + n++);
    for (uint32_t i = 0, at = start; i < 4; i++)
        if (by_dim[order[i]]) ir_op_set_operand(op, at++, by_dim[order[i]]);
}

static void bind_insert_slice(Bind *bind, IrOp *op, const uint32_t *order) {
    static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
    const IrAttr *sizes = ir_op_attr(op, "static_sizes");
    bool drops_slot =
        ir_op_operand(op, 0)->type->rank == 2 && sizes->values[0] == 1 && sizes->values[1] == 1;
    if (!drops_slot) {
        bind->status = diag_error(bind->sink, DIAG_P0005, ir_loc_span(op->loc),
                                  "a KV cache is written by more than one slot at once");
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        permute_dynamic(op, ir_op_attr(op, names[i]), i + 1, order);
        permute_static(bind, op, names[i], order);
    }
    bind_value(bind, ir_op_result(op, 0), order);
}

static void list_calls(Bind *bind) {
    FOR_EACH_OP(caller, ir_module_body(bind->m)) {
        IrBlock *body = caller->kind == IR_FUNC_FUNC ? ir_func_body(caller) : NULL;
        if (!body) continue;
        FOR_EACH_OP(op, body) {
            const IrAttr *callee = op->kind == IR_FUNC_CALL ? ir_op_attr(op, "callee") : NULL;
            if (!callee || callee->kind != IR_ATTR_SYMBOL) continue;
            ARRAY_RESERVE(bind->calls, bind->num_calls, bind->calls_capacity);
            bind->calls[bind->num_calls++] = (Call){op, callee->str};
        }
    }
}

static void bind_return(Bind *bind, const IrOp *func, uint32_t result, const uint32_t *order) {
    const char *name = ir_symbol_name(func);
    for (size_t i = 0; i < bind->num_calls; i++)
        if (bind->calls[i].callee == name)
            bind_value(bind, ir_op_result(bind->calls[i].op, result), order);
}

static void bind_use(Bind *bind, IrOp *op, uint32_t operand, const uint32_t *order) {
    switch (op->kind) {
    case IR_TENSOR_EXTRACT: {
        IrValue *indices[4];
        for (uint32_t i = 0; i < 4; i++) indices[i] = ir_op_operand(op, 1 + order[i]);
        if (MUTATED(CACHE_AXES)) indices[2] = ir_op_operand(op, 1 + order[3]);
        for (uint32_t i = 0; i < 4; i++) ir_op_set_operand(op, 1 + i, indices[i]);
        return;
    }
    case IR_TENSOR_INSERT_SLICE:
        if (operand == 1) bind_insert_slice(bind, op, order);
        return;
    case IR_SCF_FOR:
        bind_value(bind, ir_op_block(op, 0)->args[operand - 2], order);
        bind_value(bind, ir_op_result(op, operand - 3), order);
        return;
    case IR_SCF_YIELD: return;
    case IR_FUNC_CALL: {
        IrOp *callee = ir_call_callee(bind->m, op);
        if (callee && ir_func_body(callee))
            bind_value(bind, ir_func_body(callee)->args[operand], order);
        return;
    }
    case IR_FUNC_RETURN: bind_return(bind, ir_op_parent(op), operand, order); return;
    default:
        bind->status = diag_error(bind->sink, DIAG_P0005, ir_loc_span(op->loc),
                                  "a KV cache is read by %s", ir_op_info(op->kind)->name);
    }
}

static void bind_value(Bind *bind, IrValue *v, const uint32_t *order) {
    if (bind->done[v->index]) return;
    bind->done[v->index] = true;
    const IrType *old = v->type;
    int64_t shape[4];
    for (int i = 0; i < 4; i++) shape[i] = old->shape[order[i]];
    v->type = ir_type_tensor(bind->m, 4, shape, old->elem);
    FOR_EACH_USE_SAFE(use, v)
    if (bind->status == STATUS_OK)
        bind_use(bind, use->owner, (uint32_t)(use - use->owner->operands), order);
}

static Status bind_entries(Bind *bind) {
    IrModule *m = bind->m;
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body || ir_op_attr(func, "sym_visibility") || ir_op_attr(func, "ingot.kv_layout"))
            continue;
        bool has_cache = false;
        for (uint32_t i = 0; i < body->num_args; i++) {
            const IrAttr *kv = ir_func_arg_attr(func, i, "ingot.kv");
            if (!kv) continue;
            if (body->args[i]->type->rank != 4)
                return diag_error(bind->sink, DIAG_P0005, ir_loc_span(func->loc),
                                  "a KV cache of rank %u", body->args[i]->type->rank);
            bind_value(bind, body->args[i], str_equal(kv->str, "k") ? key_order : value_order);
            TRY(bind->status);
            has_cache = true;
        }
        if (has_cache) ir_op_set_attr(m, func, "ingot.kv_layout", ir_attr_string(m, "by head"));
    }
    return STATUS_OK;
}

Status pass_bind_kv_cache(IrModule *m, DiagSink *sink) {
    Bind bind = {.m = m, .sink = sink, .done = ARENA_ARRAY(&m->arena, bool, m->num_values)};
    list_calls(&bind);
    Status status = bind_entries(&bind);
    free(bind.calls);
    TRY(status);
    FOR_EACH_OP(func, ir_module_body(m))
    if (func->kind == IR_FUNC_FUNC && ir_func_body(func)) ir_func_update_type(m, func);
    return STATUS_OK;
}
