// hoist-weights: what depends on weights alone is computed once, at compile time. The ops behind
// each such value move to an init function; the value becomes an argument whose attributes say how
// to make it.
//
//   func.func @layer(%q: tensor<64x18x16xi8>, ...) { %t = generic ins(%q) (relayout); ... uses %t }
//   -> func.func private @init_0(%q) -> tensor<4x18x4x16x4xi8> attributes {ingot.kernel = "init"}
//      func.func @layer(..., %t: tensor<4x18x4x16x4xi8>) { ... }
//      func.func @forward_s1(..., %t0 {ingot.init = @init_0, ingot.init_args = [{param = "p", plane
//      = "q"}]})
//
// Needs: laid-out.  Keeps: all.  Exact.
#include <stdlib.h>

#include "passes/build.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

typedef struct Hoist {
    IrModule *m;
    DiagSink *sink;
    bool *is_weight; // by dense value index: depends on weights alone
    uint32_t num_values;
    uint32_t num_inits;
} Hoist;

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}
static bool is_public(const IrOp *func) {
    return !ir_op_attr(func, "sym_visibility");
}

static bool known_weight(const Hoist *h, const IrValue *v) {
    return v->index < h->num_values && h->is_weight[v->index];
}

// The calls of a function, found once for all of its arguments.
typedef struct Calls {
    IrOp **items;
    size_t num, capacity;
} Calls;

static Calls find_calls(IrModule *m, const IrOp *func) {
    Calls calls = {0};
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(op, ir_func_body(caller)) {
            if (!ir_is_call_of(op, func)) continue;
            ARRAY_RESERVE(calls.items, calls.num, calls.capacity);
            calls.items[calls.num++] = op;
        }
    }
    return calls;
}

// Does every call pass weights for argument arg? False if there is none.
static bool arg_is_weight(const Hoist *h, const Calls *calls, uint32_t arg) {
    for (size_t i = 0; i < calls->num; i++)
        if (!known_weight(h, ir_op_operand(calls->items[i], arg))) return false;
    return calls->num > 0;
}

static void mark_args(Hoist *h) {
    for (int round = 0; round < 2; round++) // entries, then the layers they call
        FOR_EACH_OP(func, ir_module_body(h->m)) {
            if (!is_func(func) || is_public(func) != (round == 0)) continue;
            IrBlock *body = ir_func_body(func);
            Calls calls = {0};
            if (round == 1) calls = find_calls(h->m, func);
            for (uint32_t i = 0; i < body->num_args; i++)
                h->is_weight[body->args[i]->index] =
                    round == 0 ? ir_func_arg_attr(func, i, "ingot.param") != NULL
                               : arg_is_weight(h, &calls, i);
            free(calls.items);
        }
}

static bool reads_outside(const IrOp *op, const IrOp *root, const Hoist *h) {
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) {
        for (uint32_t i = 0; i < inner->num_operands; i++) {
            const IrValue *v = ir_op_operand(inner, i);
            const IrOp *at = v->def_op ? v->def_op : ir_block_parent(v->def_block);
            while (at && at != root) at = ir_op_parent(at);
            bool is_inside = at == root;
            bool is_constant = v->def_op && v->def_op->kind == IR_ARITH_CONSTANT;
            if (!is_inside && !is_constant && !known_weight(h, v)) return true;
        }
        if (reads_outside(inner, root, h)) return true;
    }
    return false;
}

// A top-level op whose result depends on weights (or nothing) alone.
static bool is_free_op(const Hoist *h, const IrOp *op, bool *out_has_weight) {
    if (op->num_results != 1 || op->kind == IR_FUNC_CALL || !dce_is_removable(op)) return false;
    *out_has_weight = false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *v = ir_op_operand(op, i);
        if (known_weight(h, v)) {
            *out_has_weight = true;
            continue;
        }
        const IrOp *def = v->def_op;
        bool is_neutral =
            def && (def->kind == IR_ARITH_CONSTANT || def->kind == IR_TENSOR_EMPTY ||
                    (def->kind == IR_LINALG_FILL && ir_value_constant(ir_op_operand(def, 0))));
        if (!is_neutral) return false;
    }
    return !reads_outside(op, op, h);
}

typedef struct Slice {
    IrOp *ops[64]; // in reverse order of discovery
    uint32_t num_ops;
    IrValue *args[8];
    uint32_t num_args;
} Slice;

static bool collect(Slice *s, IrValue *v) {
    if (!v->def_op) {
        for (uint32_t i = 0; i < s->num_args; i++)
            if (s->args[i] == v) return true;
        if (s->num_args == ARRAY_LEN(s->args)) return false;
        s->args[s->num_args++] = v;
        return true;
    }
    for (uint32_t i = 0; i < s->num_ops; i++)
        if (s->ops[i] == v->def_op) return true;
    IrOp *op = v->def_op;
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (!collect(s, ir_op_operand(op, i))) return false;
    // Constants captured by the region come along.
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block)
    for (uint32_t i = 0; i < inner->num_operands; i++) {
        IrValue *captured = ir_op_operand(inner, i);
        if (captured->def_op && captured->def_op->block == op->block && !collect(s, captured))
            return false;
    }
    if (s->num_ops == ARRAY_LEN(s->ops)) return false;
    s->ops[s->num_ops++] = op;
    return true;
}

static IrOp *build_init(Hoist *h, const Slice *s, IrValue *root) {
    IrModule *m = h->m;
    const IrType *inputs[8];
    for (uint32_t i = 0; i < s->num_args; i++) inputs[i] = s->args[i]->type;
    const IrType *type = ir_type_function(m, s->num_args, inputs, 1, &root->type);
    const char *name = ir_symbol_unique(m, arena_printf(&m->arena, "init_%u", h->num_inits++));
    IrOp *func = ir_func_create(m, name, type, false, root->def_op->loc);
    ir_op_set_attr(m, func, "ingot.kernel", ir_attr_string(m, "init"));
    ir_block_append(ir_module_body(m), func);
    IrBlock *body = ir_func_body(func);
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i < s->num_args; i++) ir_value_map_set(&map, s->args[i], body->args[i]);
    for (uint32_t i = 0; i < s->num_ops; i++)
        ir_block_append(body, ir_op_clone(m, s->ops[i], &map));
    Builder b = build_at_end(m, body, root->def_op->loc);
    IrValue *result = ir_value_map_get(&map, root);
    build_op(&b, IR_FUNC_RETURN, 1, &result, NULL);
    ir_value_map_deinit(&map);
    return func;
}

// {param = ..., plane = ...} of a weight argument of an entry.
static const IrAttr *source_of(IrModule *m, const IrOp *entry, const IrValue *arg) {
    IrNamedAttr entries[2];
    uint32_t n = 0;
    entries[n++] =
        (IrNamedAttr){ir_intern(m, "param"), ir_func_arg_attr(entry, arg->number, "ingot.param")};
    const IrAttr *plane = ir_func_arg_attr(entry, arg->number, "ingot.plane");
    if (plane) entries[n++] = (IrNamedAttr){ir_intern(m, "plane"), plane};
    return ir_attr_dict(m, n, entries);
}

// The entry's argument that holds init(sources), made if there is none yet. Those before `first`
// are older than init.
static IrValue *entry_arg(Hoist *h, IrOp *entry, const IrOp *init, const IrAttr *sources,
                          const IrType *type, uint32_t first) {
    IrModule *m = h->m;
    const IrAttr *symbol = ir_attr_symbol(m, ir_symbol_name(init));
    IrBlock *body = ir_func_body(entry);
    for (uint32_t i = first; i < body->num_args; i++)
        if (ir_func_arg_attr(entry, i, "ingot.init") == symbol &&
            (MUTATED(HOIST_SOURCE) || ir_func_arg_attr(entry, i, "ingot.init_args") == sources))
            return body->args[i];
    uint32_t at = body->num_args;
    IrValue *arg = ir_func_insert_arg(m, entry, at, type);
    ir_func_set_arg_attr(m, entry, at, "ingot.init", symbol);
    ir_func_set_arg_attr(m, entry, at, "ingot.init_args", sources);
    return arg;
}

static Status hoist_root(Hoist *h, IrOp *func, const Calls *calls, IrValue *root) {
    IrModule *m = h->m;
    Slice *s = arena_alloc(&m->arena, 1, sizeof *s);
    if (!collect(s, root))
        return diag_error(h->sink, DIAG_P0005, ir_loc_span(root->def_op->loc),
                          "a weight is computed by more ops than one init function may hold");
    IrOp *init = build_init(h, s, root);
    const IrAttr *sources[8];
    IrValue *by;
    if (is_public(func)) {
        for (uint32_t i = 0; i < s->num_args; i++) sources[i] = source_of(m, func, s->args[i]);
        by = entry_arg(h, func, init, ir_attr_array(m, s->num_args, sources), root->type,
                       ir_func_body(func)->num_args);
    } else {
        by = ir_func_insert_arg(m, func, ir_func_body(func)->num_args, root->type);
        uint32_t first = 0;
        for (size_t k = 0; k < calls->num; k++) {
            IrOp *call = calls->items[k], *caller = ir_op_parent(call);
            if (!is_public(caller))
                return diag_error(h->sink, DIAG_P0005, ir_loc_span(call->loc),
                                  "@%s is called by a function that is not an entry",
                                  ir_symbol_name(func));
            if (k == 0 || caller != ir_op_parent(calls->items[k - 1]))
                first = ir_func_body(caller)->num_args;
            for (uint32_t i = 0; i < s->num_args; i++)
                sources[i] = source_of(m, caller, ir_op_operand(call, s->args[i]->number));
            IrValue *arg = entry_arg(h, caller, init, ir_attr_array(m, s->num_args, sources),
                                     root->type, first);
            ir_op_add_operand(m, call, 0, arg);
        }
    }
    ir_value_replace_all(root, by);
    return STATUS_OK;
}

static Status hoist_function(Hoist *h, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    IrValue *roots[256];
    uint32_t num_roots = 0;
    FOR_EACH_OP(op, body) {
        bool has_weight;
        if (is_free_op(h, op, &has_weight) && has_weight) h->is_weight[op->results[0].index] = true;
    }
    FOR_EACH_OP(op, body) {
        if (op->num_results != 1 || !known_weight(h, &op->results[0])) continue;
        bool is_root = false;
        FOR_EACH_USE(use, &op->results[0]) {
            IrOp *top = use->owner;
            while (top->block != body) top = ir_op_parent(top);
            is_root |= top->num_results != 1 || !known_weight(h, &top->results[0]);
        }
        if (!is_root) continue;
        if (num_roots == ARRAY_LEN(roots))
            return diag_error(h->sink, DIAG_P0005, ir_loc_span(func->loc),
                              "too many weights in @%s", ir_symbol_name(func));
        roots[num_roots++] = &op->results[0];
    }
    Calls calls = {0};
    if (num_roots > 0 && !is_public(func)) calls = find_calls(h->m, func);
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < num_roots && status == STATUS_OK; i++)
        status = hoist_root(h, func, &calls, roots[i]);
    free(calls.items);
    return status;
}

// Arguments nobody reads go, with the operands of the calls that fill them. Token ids, positions,
// pages, caches and %n stay: an entry's signature is its contract.
static void drop_unused_weights(IrModule *m, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    Calls calls = {0};
    bool has_calls = false;
    for (uint32_t i = body->num_args; i-- > 0;) {
        if (!ir_value_is_unused(body->args[i])) continue;
        if (is_public(func) && !ir_func_arg_attr(func, i, "ingot.param")) continue;
        if (!has_calls) calls = find_calls(m, func);
        has_calls = true;
        for (size_t k = 0; k < calls.num; k++) ir_op_remove_operand(calls.items[k], i);
        ir_func_remove_arg(m, func, i);
    }
    free(calls.items);
}

Status pass_hoist_weights(IrModule *m, DiagSink *sink) {
    Hoist h = {.m = m, .sink = sink, .num_values = m->num_values};
    h.is_weight = base_alloc(h.num_values, sizeof(bool));
    mark_args(&h);
    Status status = STATUS_OK;
    ir_funcs_edit_begin(m);
    IrOp *last = ir_module_body(m)->last; // init functions come after it
    for (IrOp *func = ir_module_body(m)->first; func && status == STATUS_OK; func = func->next) {
        if (is_func(func) && !ir_op_attr(func, "ingot.composite"))
            status = hoist_function(&h, func);
        if (func == last) break;
    }
    free(h.is_weight);
    ir_funcs_edit_end(m);
    TRY(status);
    dce_module(m);
    ir_funcs_edit_begin(m);
    for (int round = 0; round < 2; round++) // layers, then the entries that call them
        FOR_EACH_OP(func, ir_module_body(m))
    if (is_func(func) && is_public(func) == (round == 1) && !ir_op_attr(func, "ingot.kernel") &&
        !ir_op_attr(func, "ingot.composite"))
        drop_unused_weights(m, func);
    ir_funcs_edit_end(m);
    return STATUS_OK;
}
