// Locations: interned; where an op came from, through every pass.
#include <stdlib.h>

#include "ir/intern.h"

static uint64_t loc_hash(const IrLoc *loc) {
    uint64_t hash = hash_ptr(hash_mix(4, loc->kind), loc->str);
    hash = hash_mix(hash, (uint64_t)loc->line << 32 | loc->col);
    return hash_ptrs(hash, loc->num_children, (const void *const *)loc->children);
}

static bool loc_equal(const void *object, const void *key) {
    const IrLoc *a = object, *b = key;
    return a->kind == b->kind && a->str == b->str && a->line == b->line && a->col == b->col &&
           a->num_children == b->num_children &&
           same_ptrs(a->num_children, (const void *const *)a->children,
                     (const void *const *)b->children);
}

static const IrLoc *loc_intern(IrModule *m, const IrLoc *key) {
    uint64_t hash = loc_hash(key);
    const IrLoc *found = intern_find(&m->interner->locs, hash, loc_equal, key);
    if (found) return found;
    IrLoc *loc = arena_memdup(&m->arena, key, 1, sizeof *key);
    if (loc->num_children)
        loc->children =
            arena_memdup(&m->arena, loc->children, loc->num_children, sizeof *loc->children);
    intern_add(&m->interner->locs, hash, loc);
    return loc;
}

const IrLoc *ir_loc_unknown(IrModule *m) {
    return loc_intern(m, &(IrLoc){.kind = IR_LOC_UNKNOWN});
}

const IrLoc *ir_loc_file(IrModule *m, const char *file, uint32_t line, uint32_t col) {
    return loc_intern(
        m, &(IrLoc){.kind = IR_LOC_FILE, .str = ir_intern(m, file), .line = line, .col = col});
}

const IrLoc *ir_loc_name(IrModule *m, const char *name, const IrLoc *child_or_null) {
    IrLoc key = {.kind = IR_LOC_NAME, .str = ir_intern(m, name)};
    if (child_or_null && child_or_null->kind != IR_LOC_UNKNOWN) {
        key.children = &child_or_null;
        key.num_children = 1;
    }
    return loc_intern(m, &key);
}

typedef struct LocList {
    const IrLoc **items;
    uint32_t count, capacity;
} LocList;

static void add_unique(LocList *list, const char *pass, const IrLoc *loc) {
    if (!loc || loc->kind == IR_LOC_UNKNOWN) return;
    if (loc->kind == IR_LOC_FUSED && (!loc->str || loc->str == pass)) {
        for (uint32_t i = 0; i < loc->num_children; i++) add_unique(list, pass, loc->children[i]);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i] == loc) return;
    }
    ARRAY_RESERVE(list->items, list->count, list->capacity);
    list->items[list->count++] = loc;
}

const IrLoc *ir_loc_fused(IrModule *m, const char *pass_or_null, size_t n,
                          const IrLoc *const *locs) {
    const char *pass = pass_or_null ? ir_intern(m, pass_or_null) : NULL;
    LocList list = {0};
    for (size_t i = 0; i < n; i++) add_unique(&list, pass, locs[i]);
    const IrLoc *fused;
    if (list.count == 0)
        fused = ir_loc_unknown(m);
    else if (list.count == 1)
        fused = list.items[0];
    else
        fused = loc_intern(m, &(IrLoc){.kind = IR_LOC_FUSED,
                                       .str = pass,
                                       .children = list.items,
                                       .num_children = list.count});
    free(list.items);
    return fused;
}

const IrLoc *ir_loc_fused_exact(IrModule *m, const char *metadata, uint32_t n,
                                const IrLoc *const *locs) {
    return loc_intern(m, &(IrLoc){.kind = IR_LOC_FUSED,
                                  .str = metadata ? ir_intern(m, metadata) : NULL,
                                  .children = locs,
                                  .num_children = n});
}

const IrLoc *ir_loc_callsite(IrModule *m, const IrLoc *callee, const IrLoc *caller) {
    const IrLoc *children[] = {callee, caller};
    return loc_intern(m,
                      &(IrLoc){.kind = IR_LOC_CALLSITE, .children = children, .num_children = 2});
}

DiagSpan ir_loc_span(const IrLoc *loc) {
    if (!loc) return (DiagSpan){0};
    if (loc->kind == IR_LOC_FILE)
        return (DiagSpan){.file = loc->str, .line = loc->line, .col = loc->col};
    for (uint32_t i = 0; i < loc->num_children; i++) {
        DiagSpan span = ir_loc_span(loc->children[i]);
        if (span.file) return span;
    }
    return (DiagSpan){0};
}

const IrLoc *ir_loc_import(IrModule *m, const IrLoc *loc) {
    if (!loc) return NULL;
    IrLoc key = *loc;
    if (key.str) key.str = ir_intern(m, key.str);
    const IrLoc **children = ARENA_ARRAY(&m->arena, const IrLoc *, MAX(key.num_children, 1u));
    for (uint32_t i = 0; i < key.num_children; i++)
        children[i] = ir_loc_import(m, loc->children[i]);
    key.children = children;
    return loc_intern(m, &key);
}
