// Symbols and functions: finding, naming, changing signatures.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/intern.h"

const char *ir_symbol_name(const IrOp *op) {
    const IrAttr *name = ir_op_attr(op, "sym_name");
    return name && name->kind == IR_ATTR_STRING ? name->str : NULL;
}

static bool is_named(const IrOp *op, const char *interned) {
    const IrAttr *name = ir_op_attr(op, "sym_name");
    return name && name->kind == IR_ATTR_STRING && name->str == interned &&
           ir_op_info(op->kind)->traits & IR_SYMBOL;
}

static bool is_known(const IrModule *m, const InternedString *known) {
    const IrOp *op = known->symbol;
    return op && op->block && op->block == m->op->regions[0].first && is_named(op, known->bytes);
}

// Modules have thousands of functions, and finding one is what passes do most: a name remembers the
// symbol that was found under it.
IrOp *ir_symbol_find(const IrModule *m, const char *name) {
    const char *wanted = ir_interned(m, name);
    if (!wanted) return NULL;
    InternedString *known = ir_interned_header(wanted);
    if (is_known(m, known)) return known->symbol;
    FOR_EACH_OP(op, m->op->regions[0].first)
    if (is_named(op, wanted)) return known->symbol = op;
    return NULL;
}

void ir_symbol_note_name(IrModule *m, IrOp *op, const IrAttr *old, const IrAttr *name) {
    if (old) m->interner->num_symbols_gone++;
    if (!name || name->kind != IR_ATTR_STRING) return;
    InternedString *known = ir_interned_header(name->str);
    if (!is_known(m, known)) known->symbol = op;
}

const char *ir_symbol_unique(IrModule *m, const char *base) {
    const char *interned = ir_intern(m, base);
    if (!ir_symbol_find(m, base)) return interned;
    InternedString *known = ir_interned_header(interned);
    uint32_t gone = m->interner->num_symbols_gone;
    for (uint32_t n = known->as_of == gone ? known->next_free : 0;; n++) {
        const char *name = arena_printf(&m->arena, "%s_%u", base, n);
        if (ir_symbol_find(m, name)) continue;
        known->next_free = n;
        known->as_of = gone;
        return ir_intern(m, name);
    }
}

const IrType *ir_func_type(const IrOp *func) {
    const IrAttr *type = ir_op_attr(func, "function_type");
    BUG_IF(!type || type->kind != IR_ATTR_TYPE, "function without a type");
    return type->type;
}

IrOp *ir_func_create(IrModule *m, const char *name, const IrType *function_type, bool is_public,
                     const IrLoc *loc) {
    IrNamedAttr attrs[] = {{"function_type", ir_attr_type(m, function_type)},
                           {"sym_name", ir_attr_string(m, name)},
                           {"sym_visibility", ir_attr_string(m, "private")}};
    IrOp *func = ir_op_create(m, &(IrOpSpec){.kind = IR_FUNC_FUNC,
                                             .loc = loc,
                                             .num_attrs = is_public ? 2 : 3,
                                             .attrs = attrs,
                                             .num_regions = 1});
    IrBlock *entry = ir_region_add_block(m, &func->regions[0]);
    for (uint32_t i = 0; i < function_type->num_inputs; i++)
        ir_block_add_arg(m, entry, function_type->inputs[i]);
    return func;
}

IrBlock *ir_func_body(const IrOp *func) {
    return func->regions[0].first;
}

static void set_type(IrModule *m, IrOp *func, uint32_t num_inputs, const IrType *const *inputs,
                     uint32_t num_results, const IrType *const *results) {
    const IrType *type = func->kind == IR_LLVM_FUNC
                             ? ir_type_llvm_function(m, num_results ? results[0] : ir_type_void(m),
                                                     num_inputs, inputs)
                             : ir_type_function(m, num_inputs, inputs, num_results, results);
    ir_op_set_attr(m, func, "function_type", ir_attr_type(m, type));
}

static const IrOp *find_return(const IrOp *func) {
    FOR_EACH_BLOCK(block, &func->regions[0]) {
        const IrOp *last = block->last;
        if (last && (last->kind == IR_FUNC_RETURN || last->kind == IR_LLVM_RETURN)) return last;
    }
    return NULL;
}

void ir_func_update_type(IrModule *m, IrOp *func) {
    const IrBlock *entry = ir_func_body(func);
    if (!entry || func->edit) return; // the end of the edit does it
    const IrType **inputs = ARENA_ARRAY(&m->arena, const IrType *, entry->num_args + 1);
    for (uint32_t i = 0; i < entry->num_args; i++) inputs[i] = entry->args[i]->type;
    const IrOp *ret = find_return(func);
    if (!ret) {
        const IrType *old = ir_func_type(func);
        set_type(m, func, entry->num_args, inputs, old->num_results, old->results);
        return;
    }
    const IrType **results = ARENA_ARRAY(&m->arena, const IrType *, ret->num_operands + 1);
    for (uint32_t i = 0; i < ret->num_operands; i++) results[i] = ret->operands[i].value->type;
    set_type(m, func, entry->num_args, inputs, ret->num_operands, results);
}

// ---------------------------------------------------------------- argument attributes

struct IrFuncEdit {
    const IrAttr **dicts; // of all arguments; NULL: empty
    uint32_t num, capacity;
};

const IrAttr *ir_func_arg_attr(const IrOp *func, uint32_t arg, const char *name) {
    if (func->edit) {
        const IrAttr *dict = arg < func->edit->num ? func->edit->dicts[arg] : NULL;
        return dict ? ir_attr_dict_find(dict, name) : NULL;
    }
    const IrAttr *list = ir_op_attr(func, "arg_attrs");
    if (!list || list->kind != IR_ATTR_ARRAY || arg >= list->num_elems) return NULL;
    return ir_attr_dict_find(list->elems[arg], name);
}

// Stores one dictionary per argument; none at all if every one is empty.
static void set_arg_dicts(IrModule *m, IrOp *func, uint32_t n, const IrAttr *const *dicts) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) any |= dicts[i]->num_entries > 0;
    ir_op_set_attr(m, func, "arg_attrs", any ? ir_attr_array(m, n, dicts) : NULL);
}

// The dictionaries of n arguments, the missing ones empty; room for one more.
static const IrAttr **get_arg_dicts(IrModule *m, const IrOp *func, uint32_t n) {
    const IrAttr **dicts = ARENA_ARRAY(&m->arena, const IrAttr *, n + 1);
    const IrAttr *list = ir_op_attr(func, "arg_attrs");
    for (uint32_t i = 0; i < n; i++)
        dicts[i] = list && i < list->num_elems ? list->elems[i] : ir_attr_dict(m, 0, NULL);
    return dicts;
}

void ir_func_edit_begin(IrOp *func) {
    BUG_IF(func->edit, "@%s is being edited", ir_symbol_name(func));
    const IrAttr *list = ir_op_attr(func, "arg_attrs");
    struct IrFuncEdit *edit = base_alloc(1, sizeof *edit);
    edit->num = ir_func_body(func)->num_args;
    edit->capacity = edit->num + 1;
    edit->dicts = base_alloc(edit->capacity, sizeof *edit->dicts);
    for (uint32_t i = 0; list && i < edit->num; i++) edit->dicts[i] = list->elems[i];
    func->edit = edit;
}

void ir_func_edit_end(IrModule *m, IrOp *func) {
    struct IrFuncEdit *edit = func->edit;
    func->edit = NULL;
    ir_func_update_type(m, func);
    BUG_IF(edit->num != ir_func_body(func)->num_args, "arguments of @%s went astray",
           ir_symbol_name(func));
    for (uint32_t i = 0; i < edit->num; i++)
        if (!edit->dicts[i]) edit->dicts[i] = ir_attr_dict(m, 0, NULL);
    set_arg_dicts(m, func, edit->num, edit->dicts);
    free(edit->dicts);
    free(edit);
}

void ir_funcs_edit_begin(IrModule *m) {
    FOR_EACH_OP(func, ir_module_body(m))
    if (func->kind == IR_FUNC_FUNC && ir_func_body(func)) ir_func_edit_begin(func);
}

void ir_funcs_edit_end(IrModule *m) {
    FOR_EACH_OP(func, ir_module_body(m))
    if (func->edit) ir_func_edit_end(m, func);
}

static void edit_insert(struct IrFuncEdit *edit, uint32_t at) {
    ARRAY_RESERVE(edit->dicts, edit->num, edit->capacity);
    memmove(edit->dicts + at + 1, edit->dicts + at, (edit->num - at) * sizeof *edit->dicts);
    edit->dicts[at] = NULL;
    edit->num++;
}

static void edit_remove(struct IrFuncEdit *edit, uint32_t at) {
    edit->num--;
    memmove(edit->dicts + at, edit->dicts + at + 1, (edit->num - at) * sizeof *edit->dicts);
}

void ir_func_set_arg_attr(IrModule *m, IrOp *func, uint32_t arg, const char *name,
                          const IrAttr *attr) {
    if (func->edit) {
        BUG_IF(arg >= func->edit->num, "function argument %u of %u", arg, func->edit->num);
        const IrAttr **dict = &func->edit->dicts[arg];
        if (attr || *dict)
            *dict = ir_attr_dict_with(m, *dict ? *dict : ir_attr_dict(m, 0, NULL), name, attr);
        return;
    }
    uint32_t num_args = ir_func_type(func)->num_inputs;
    BUG_IF(arg >= num_args, "function argument %u of %u", arg, num_args);
    const IrAttr **dicts = get_arg_dicts(m, func, num_args);
    dicts[arg] = ir_attr_dict_with(m, dicts[arg], name, attr);
    set_arg_dicts(m, func, num_args, dicts);
}

void ir_func_set_arg_dicts(IrModule *m, IrOp *func, const IrAttr *const *dicts) {
    set_arg_dicts(m, func, ir_func_type(func)->num_inputs, dicts);
}

const IrAttr **ir_func_arg_dicts(IrModule *m, const IrOp *func) {
    return get_arg_dicts(m, func, ir_func_type(func)->num_inputs);
}

void ir_func_append_args(IrModule *m, IrOp *func, uint32_t n, const IrType *const *types,
                         const IrAttr *const *dicts) {
    const IrType *type = ir_func_type(func);
    uint32_t num = type->num_inputs;
    const IrType **inputs = ARENA_ARRAY(&m->arena, const IrType *, num + n + 1);
    const IrAttr **all = ARENA_ARRAY(&m->arena, const IrAttr *, num + n + 1);
    const IrAttr **old = ir_func_arg_dicts(m, func);
    for (uint32_t i = 0; i < num + n; i++) {
        inputs[i] = i < num ? type->inputs[i] : types[i - num];
        all[i] = i < num ? old[i] : dicts[i - num];
    }
    for (uint32_t i = 0; i < n; i++) ir_block_add_arg(m, ir_func_body(func), types[i]);
    set_type(m, func, num + n, inputs, type->num_results, type->results);
    set_arg_dicts(m, func, num + n, all);
}

void ir_func_remove_arg(IrModule *m, IrOp *func, uint32_t arg) {
    if (func->edit) {
        ir_block_remove_arg(ir_func_body(func), arg);
        edit_remove(func->edit, arg);
        return;
    }
    const IrType *type = ir_func_type(func);
    BUG_IF(arg >= type->num_inputs, "function argument %u of %u", arg, type->num_inputs);
    const IrAttr **dicts = get_arg_dicts(m, func, type->num_inputs);
    const IrType **inputs = arena_memdup(&m->arena, type->inputs, type->num_inputs, sizeof *inputs);
    for (uint32_t i = arg + 1; i < type->num_inputs; i++) {
        inputs[i - 1] = inputs[i];
        dicts[i - 1] = dicts[i];
    }
    set_arg_dicts(m, func, type->num_inputs - 1, dicts);
    set_type(m, func, type->num_inputs - 1, inputs, type->num_results, type->results);
    if (ir_func_body(func)) ir_block_remove_arg(ir_func_body(func), arg);
}

IrValue *ir_func_insert_arg(IrModule *m, IrOp *func, uint32_t at, const IrType *arg_type) {
    if (func->edit) {
        IrValue *arg = ir_block_insert_arg(m, ir_func_body(func), at, arg_type);
        edit_insert(func->edit, at);
        return arg;
    }
    const IrType *type = ir_func_type(func);
    uint32_t n = type->num_inputs;
    BUG_IF(at > n || !ir_func_body(func), "function argument %u of %u", at, n);
    const IrAttr **dicts = get_arg_dicts(m, func, n);
    const IrType **inputs = ARENA_ARRAY(&m->arena, const IrType *, n + 1);
    for (uint32_t i = n; i > at; i--) {
        inputs[i] = type->inputs[i - 1];
        dicts[i] = dicts[i - 1];
    }
    for (uint32_t i = 0; i < at; i++) inputs[i] = type->inputs[i];
    inputs[at] = arg_type;
    dicts[at] = ir_attr_dict(m, 0, NULL);
    set_arg_dicts(m, func, n + 1, dicts);
    set_type(m, func, n + 1, inputs, type->num_results, type->results);
    return ir_block_insert_arg(m, ir_func_body(func), at, arg_type);
}

IrOp *ir_call_callee(const IrModule *m, const IrOp *call) {
    const IrAttr *callee = ir_op_attr(call, "callee");
    return callee && callee->kind == IR_ATTR_SYMBOL ? ir_symbol_find(m, callee->str) : NULL;
}

bool ir_is_call_of(const IrOp *op, const IrOp *func) {
    if (op->kind != IR_FUNC_CALL) return false;
    const IrAttr *callee = ir_op_attr(op, "callee");
    return callee && callee->kind == IR_ATTR_SYMBOL && callee->str == ir_symbol_name(func);
}
