// dedupe: functions that are equal but for their name become one. Layers of equal shape, and
// kernels that buckets have in common, are compiled once.
//
//   @kernel_3 and @kernel_17 with the same body   ->   every call names @kernel_3
//
// Needs: outlined.  Keeps: all.  Exact.
#include <stdlib.h>
#include <string.h>

#include "ir/print.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

typedef struct Entry {
    IrOp *func;
    uint64_t outline; // of equal functions the same; within this process alone
    char *text;
    size_t len;
} Entry;

typedef struct Rename {
    const char *from;
    const IrAttr *to;
} Rename;

typedef struct Renames {
    IrModule *m;
    Rename *items; // sorted by from
    size_t count, capacity;
} Renames;

static int by_name(const void *a, const void *b) {
    return strcmp(((const Rename *)a)->from, ((const Rename *)b)->from);
}

// The attribute instead of one that names a function which goes; itself for any other.
static const IrAttr *renamed(const Renames *r, const IrAttr *attr) {
    if (!attr || attr->kind != IR_ATTR_SYMBOL) return attr;
    for (size_t low = 0, high = r->count; low < high;) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(attr->str, r->items[mid].from);
        if (order == 0) return r->items[mid].to;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return attr;
}

static void rename_symbols(IrOp *op, void *ctx) {
    Renames *r = ctx;
    for (uint32_t i = 0; i < op->num_attrs; i++) op->attrs[i].attr = renamed(r, op->attrs[i].attr);
    if (op->kind != IR_FUNC_FUNC) return;
    IrBlock *body = ir_func_body(op);
    for (uint32_t i = 0; body && i < body->num_args; i++) {
        const IrAttr *init = ir_func_arg_attr(op, i, "ingot.init"), *to = renamed(r, init);
        if (to != init && !MUTATED(DEDUPE_NAMES))
            ir_func_set_arg_attr(r->m, op, i, "ingot.init", to);
    }
}

static void mix(uint64_t *hash, uint64_t word) {
    *hash = (*hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 32;
}

// Everything of an op but which values it takes and what it is called: types and attributes are
// interned.
static void outline_op(IrOp *op, void *ctx) {
    uint64_t *hash = ctx;
    mix(hash, (uint64_t)op->kind << 32 | op->num_operands);
    mix(hash, (uint64_t)op->num_results << 32 | op->num_attrs);
    for (uint32_t i = 0; i < op->num_attrs; i++)
        if (!str_equal(op->attrs[i].name, "sym_name")) mix(hash, (uintptr_t)op->attrs[i].attr);
    for (uint32_t i = 0; i < op->num_results; i++) mix(hash, (uintptr_t)op->results[i].type);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++) mix(hash, (uintptr_t)block->args[i]->type);
}

// The function's text with its name blanked: equal texts, equal functions.
static void put_text(IrModule *m, Entry *entry) {
    const IrAttr *name = ir_op_attr(entry->func, "sym_name");
    ir_op_set_attr(m, entry->func, "sym_name", ir_attr_string(m, "x"));
    StrBuf text = {0};
    ir_print_op(m, entry->func, &text);
    ir_op_set_attr(m, entry->func, "sym_name", name);
    entry->len = text.len;
    entry->text = strbuf_take(&text);
}

static int by_outline(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->outline > y->outline) - (x->outline < y->outline);
}

static int by_text(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    size_t len = MIN(x->len, y->len);
    int order = memcmp(x->text, y->text, len);
    if (order) return order;
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    return strcmp(ir_symbol_name(x->func), ir_symbol_name(y->func));
}

// Functions of one outline: of those that are equal the first by name stays.
static void merge_alike(Renames *r, Entry *entries, size_t count) {
    for (size_t i = 0; i < count; i++) put_text(r->m, &entries[i]);
    array_sort(entries, count, sizeof *entries, by_text);
    for (size_t i = 1, keep = 0; i < count; i++) {
        if (entries[i].len != entries[keep].len ||
            memcmp(entries[i].text, entries[keep].text, entries[i].len) != 0) {
            keep = i;
            continue;
        }
        ARRAY_RESERVE(r->items, r->count, r->capacity);
        r->items[r->count++] = (Rename){ir_symbol_name(entries[i].func),
                                        ir_attr_symbol(r->m, ir_symbol_name(entries[keep].func))};
        ir_op_erase(r->m, entries[i].func);
    }
    for (size_t i = 0; i < count; i++) free(entries[i].text);
}

static bool merge_once(IrModule *m) {
    Entry *entries = NULL;
    size_t count = 0, capacity = 0;
    Renames r = {.m = m};
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (func->kind != IR_FUNC_FUNC || !ir_func_body(func) ||
            !ir_op_attr(func, "sym_visibility"))
            continue;
        ARRAY_RESERVE(entries, count, capacity);
        Entry *entry = &entries[count++];
        *entry = (Entry){.func = func};
        ir_walk(func, outline_op, &entry->outline);
    }
    array_sort(entries, count, sizeof *entries, by_outline);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && entries[end].outline == entries[begin].outline;) end++;
        if (end - begin > 1) merge_alike(&r, &entries[begin], end - begin);
    }
    array_sort(r.items, r.count, sizeof *r.items, by_name);
    if (r.count) {
        ir_funcs_edit_begin(m);
        ir_walk(m->op, rename_symbols, &r);
        ir_funcs_edit_end(m);
    }
    free(entries);
    free(r.items);
    return r.count > 0;
}

Status pass_dedupe(IrModule *m, DiagSink *sink) {
    (void)sink; // nothing to refuse
    while (merge_once(m)) {
    }
    dce_module(m);
    return STATUS_OK;
}
