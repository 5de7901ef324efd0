// hoist-constants: a constant tensor of an entry that is no single repeated number becomes an
// argument that stands for it: it is written into the artifact once and read like a weight.
//
//   %w = arith.constant dense<[...]> : tensor<64x32xf32>
//   -> func.func @main(..., %w: tensor<64x32xf32> {ingot.value = dense<[...]> : tensor<64x32xf32>})
//
// Needs: canonical.  Keeps: all.  Exact.
#include <stdlib.h>

#include "passes/build.h"
#include "passes/entry.h"
#include "passes/pass.h"

static bool is_table(const IrOp *op) {
    const IrAttr *value = op->kind == IR_ARITH_CONSTANT ? ir_op_attr(op, "value") : NULL;
    return value && value->kind == IR_ATTR_DENSE && !value->is_splat &&
           op->results[0].type->kind == IR_TYPE_TENSOR;
}

typedef struct Table {
    const IrAttr *value;
    IrOp *op;
    uint32_t order; // of the first equal one
} Table;

typedef struct Tables {
    Table *items;
    size_t count, capacity;
} Tables;

static void find_tables(Tables *tables, IrBlock *block) {
    FOR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) find_tables(tables, inner);
        if (!is_table(op)) continue;
        ARRAY_RESERVE(tables->items, tables->count, tables->capacity);
        tables->items[tables->count] =
            (Table){.value = ir_op_attr(op, "value"), .op = op, .order = (uint32_t)tables->count};
        tables->count++;
    }
}

// By address, which brings equal constants together, and so is nothing an output depends on.
static int by_value(const void *a, const void *b) {
    const Table *x = a, *y = b;
    uintptr_t at = (uintptr_t)x->value, other = (uintptr_t)y->value;
    if (at != other) return at < other ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_order(const void *a, const void *b) {
    const Table *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

// Each constant's argument is that of the first equal one, in the order of the text.
static void hoist(IrModule *m, IrOp *func, Tables *tables) {
    size_t n = tables->count;
    array_sort(tables->items, n, sizeof *tables->items, by_value);
    for (size_t i = 1; i < n; i++) // later ones take the number of the first
        if (tables->items[i].value == tables->items[i - 1].value)
            tables->items[i].order = tables->items[i - 1].order;
    array_sort(tables->items, n, sizeof *tables->items, by_order);
    const IrType **types = ARENA_ARRAY(&m->arena, const IrType *, n + 1);
    const IrAttr **dicts = ARENA_ARRAY(&m->arena, const IrAttr *, n + 1);
    uint32_t num = 0, first = ir_func_body(func)->num_args;
    for (size_t i = 0; i < n; i++) {
        const Table *t = &tables->items[i];
        if (i > 0 && t->order == t[-1].order) continue;
        IrNamedAttr entry = {"ingot.value", t->value};
        types[num] = t->op->results[0].type;
        dicts[num++] = ir_attr_dict(m, 1, &entry);
    }
    ir_func_append_args(m, func, num, types, dicts);
    for (size_t i = 0, at = 0; i < n; i++) {
        const Table *t = &tables->items[i];
        if (i > 0 && t->order != t[-1].order) at++;
        ir_value_replace_all(ir_op_result(t->op, 0), ir_func_body(func)->args[first + at]);
        ir_op_erase(m, t->op);
    }
}

Status pass_hoist_constants(IrModule *m, DiagSink *sink) {
    (void)sink; // cannot fail
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!entry_takes_tensors(m, func)) continue;
        Tables tables = {0};
        find_tables(&tables, ir_func_body(func));
        if (tables.count) hoist(m, func, &tables);
        free(tables.items);
    }
    return STATUS_OK;
}
