// Interning inside one module: equal strings, types, attributes, locations and affine objects are
// one object. Private to the core of src/ir.
#ifndef INGOT_IR_INTERN_H
#define INGOT_IR_INTERN_H

#include "ir/ir.h"

typedef bool (*InternEqual)(const void *object, const void *key);

typedef struct InternSlot {
    uint64_t hash;
    const void *object; // NULL = free
} InternSlot;

typedef struct InternTable {
    InternSlot *slots;
    size_t count, capacity; // capacity is a power of two
} InternTable;

typedef struct IrInterner {
    InternTable strings, types, attrs, locs, exprs, maps;
    uint32_t num_symbols_gone; // how often a symbol was erased or renamed
} IrInterner;

// What is known of a string as a symbol's name. Hints alone: whoever reads them checks them.
typedef struct InternedString {
    size_t len;
    IrOp *symbol;       // last found under this name
    uint32_t next_free; // smallest N whose NAME_N may be free, as long as no symbol goes
    uint32_t as_of;     // num_symbols_gone then
    char bytes[];
} InternedString;

// The object equal to key, or NULL.
const void *intern_find(const InternTable *table, uint64_t hash, InternEqual equal,
                        const void *key);
void intern_add(InternTable *table, uint64_t hash, const void *object);
void intern_table_deinit(InternTable *table);

static inline uint64_t hash_mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u; // 2^64 / golden ratio, Knuth 6.4
    return hash ^ hash >> 32;
}
static inline uint64_t hash_ptr(uint64_t hash, const void *ptr) {
    return hash_mix(hash, (uint64_t)(uintptr_t)ptr);
}
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len);
uint64_t hash_ptrs(uint64_t hash, size_t n, const void *const *ptrs);

// Same arrays of interned pointers.
bool same_ptrs(size_t n, const void *const *a, const void *const *b);

// A string of len bytes (may hold NULs), interned and NUL-terminated.
const char *ir_intern_n(IrModule *m, const char *bytes, size_t len);
// The same string if the module has it, else NULL; changes nothing.
const char *ir_interned(const IrModule *m, const char *str);
InternedString *ir_interned_header(const char *interned);
// The attribute sym_name of op changes.
void ir_symbol_note_name(IrModule *m, IrOp *op, const IrAttr *old, const IrAttr *name);

// A fused location exactly as given: neither flattened nor shortened.
const IrLoc *ir_loc_fused_exact(IrModule *m, const char *metadata, uint32_t n,
                                const IrLoc *const *locs);

// Objects of another module, brought into m. Used by ir_module_clone.
const IrType *ir_type_import(IrModule *m, const IrType *type);
const IrAttr *ir_attr_import(IrModule *m, const IrAttr *attr);
const IrLoc *ir_loc_import(IrModule *m, const IrLoc *loc);
const IrAffineMap *ir_affine_import(IrModule *m, const IrAffineMap *map);

#endif
