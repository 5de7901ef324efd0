// Attributes: interned values attached to ops by name.
#include <stdlib.h>
#include <string.h>

#include "base/float16.h"
#include "ir/intern.h"

static uint64_t attr_hash(const IrAttr *a) {
    uint64_t hash = hash_ptr(hash_mix(3, a->kind), a->type);
    switch (a->kind) {
    case IR_ATTR_INT:
    case IR_ATTR_BOOL: return hash_mix(hash, (uint64_t)a->i);
    case IR_ATTR_FLOAT: return hash_mix(hash, a->bits);
    case IR_ATTR_STRING:
    case IR_ATTR_SYMBOL:
    case IR_ATTR_OPAQUE_ENUM: return hash_bytes(hash, a->str, a->str_len);
    case IR_ATTR_ARRAY: return hash_ptrs(hash, a->num_elems, (const void *const *)a->elems);
    case IR_ATTR_DICT:
        for (size_t i = 0; i < a->num_entries; i++)
            hash = hash_ptr(hash_ptr(hash, a->entries[i].name), a->entries[i].attr);
        return hash;
    case IR_ATTR_MAP: return hash_ptr(hash, a->map);
    case IR_ATTR_DENSE: return hash_mix(hash_bytes(hash, a->data, a->len_bytes), a->is_splat);
    case IR_ATTR_DENSE_ARRAY: return hash_bytes(hash, a->values, a->num_values * sizeof *a->values);
    case IR_ATTR_TYPE:
    case IR_ATTR_UNIT: return hash;
    }
    BUG("attribute kind %d", (int)a->kind);
}

static bool same_bytes(const void *a, size_t a_len, const void *b, size_t b_len) {
    return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

static bool attr_equal(const void *object, const void *key) {
    const IrAttr *a = object, *b = key;
    if (a->kind != b->kind || a->type != b->type) return false;
    switch (a->kind) {
    case IR_ATTR_INT:
    case IR_ATTR_BOOL: return a->i == b->i;
    case IR_ATTR_FLOAT: return a->bits == b->bits;
    case IR_ATTR_STRING:
    case IR_ATTR_SYMBOL:
    case IR_ATTR_OPAQUE_ENUM: return same_bytes(a->str, a->str_len, b->str, b->str_len);
    case IR_ATTR_ARRAY:
        return a->num_elems == b->num_elems &&
               same_ptrs(a->num_elems, (const void *const *)a->elems,
                         (const void *const *)b->elems);
    case IR_ATTR_DICT:
        if (a->num_entries != b->num_entries) return false;
        for (size_t i = 0; i < a->num_entries; i++) {
            if (a->entries[i].name != b->entries[i].name ||
                a->entries[i].attr != b->entries[i].attr)
                return false;
        }
        return true;
    case IR_ATTR_MAP: return a->map == b->map;
    case IR_ATTR_DENSE:
        return a->is_splat == b->is_splat &&
               same_bytes(a->data, a->len_bytes, b->data, b->len_bytes);
    case IR_ATTR_DENSE_ARRAY:
        return same_bytes(a->values, a->num_values * sizeof *a->values, b->values,
                          b->num_values * sizeof *b->values);
    case IR_ATTR_TYPE:
    case IR_ATTR_UNIT: return true;
    }
    BUG("attribute kind %d", (int)a->kind);
}

static void own_contents(IrModule *m, IrAttr *a) {
    Arena *arena = &m->arena;
    switch (a->kind) {
    case IR_ATTR_STRING:
    case IR_ATTR_SYMBOL:
    case IR_ATTR_OPAQUE_ENUM: a->str = ir_intern_n(m, a->str, a->str_len); break;
    case IR_ATTR_ARRAY:
        a->elems = arena_memdup(arena, a->elems, a->num_elems, sizeof *a->elems);
        break;
    case IR_ATTR_DICT:
        a->entries = arena_memdup(arena, a->entries, a->num_entries, sizeof *a->entries);
        break;
    case IR_ATTR_DENSE: a->data = arena_memdup(arena, a->data, a->len_bytes, 1); break;
    case IR_ATTR_DENSE_ARRAY:
        a->values = arena_memdup(arena, a->values, a->num_values, sizeof *a->values);
        break;
    default: break;
    }
}

static const IrAttr *attr_intern(IrModule *m, const IrAttr *key) {
    uint64_t hash = attr_hash(key);
    const IrAttr *found = intern_find(&m->interner->attrs, hash, attr_equal, key);
    if (found) return found;
    IrAttr *a = arena_memdup(&m->arena, key, 1, sizeof *key);
    own_contents(m, a);
    intern_add(&m->interner->attrs, hash, a);
    return a;
}

static int64_t sign_extend(int64_t value, const IrType *type) {
    if (type->kind != IR_TYPE_INT || type->width >= 64) return value;
    uint32_t shift = 64 - type->width;
    return (int64_t)((uint64_t)value << shift) >> shift;
}

const IrAttr *ir_attr_int(IrModule *m, int64_t value, const IrType *type) {
    if (type->kind == IR_TYPE_INT && type->width == 1) return ir_attr_bool(m, value & 1);
    return attr_intern(m,
                       &(IrAttr){.kind = IR_ATTR_INT, .type = type, .i = sign_extend(value, type)});
}

const IrAttr *ir_attr_i64(IrModule *m, int64_t value) {
    return ir_attr_int(m, value, ir_type_int(m, 64));
}

const IrAttr *ir_attr_index(IrModule *m, int64_t value) {
    return ir_attr_int(m, value, ir_type_index(m));
}

const IrAttr *ir_attr_bool(IrModule *m, bool value) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_BOOL, .type = ir_type_int(m, 1), .i = value});
}

const IrAttr *ir_attr_float(IrModule *m, double value, const IrType *type) {
    uint64_t bits;
    switch (type->kind) {
    case IR_TYPE_F16: bits = f16_from_f64(value); break;
    case IR_TYPE_BF16: bits = bf16_from_f64(value); break;
    case IR_TYPE_F32: bits = f32_to_bits((float)value); break;
    case IR_TYPE_F64: bits = f64_to_bits(value); break;
    default: BUG("type kind %d is not a float", (int)type->kind);
    }
    return ir_attr_float_bits(m, bits, type);
}

const IrAttr *ir_attr_float_bits(IrModule *m, uint64_t bits, const IrType *type) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_FLOAT, .type = type, .bits = bits});
}

const IrAttr *ir_attr_string(IrModule *m, const char *str) {
    return ir_attr_string_n(m, str, strlen(str));
}

const IrAttr *ir_attr_string_n(IrModule *m, const char *bytes, size_t len) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_STRING, .str = bytes, .str_len = len});
}

const IrAttr *ir_attr_type(IrModule *m, const IrType *type) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_TYPE, .type = type});
}

const IrAttr *ir_attr_array(IrModule *m, size_t n, const IrAttr *const *elems) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_ARRAY, .elems = elems, .num_elems = n});
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const IrNamedAttr *)a)->name, ((const IrNamedAttr *)b)->name);
}

const IrAttr *ir_attr_dict(IrModule *m, size_t n, const IrNamedAttr *entries) {
    IrNamedAttr *sorted = ARENA_ARRAY(&m->arena, IrNamedAttr, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (IrNamedAttr){ir_intern(m, entries[i].name), entries[i].attr};
    array_sort(sorted, n, sizeof *sorted, compare_names);
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_DICT, .entries = sorted, .num_entries = n});
}

const IrAttr *ir_attr_unit(IrModule *m) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_UNIT});
}

const IrAttr *ir_attr_symbol(IrModule *m, const char *name) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_SYMBOL, .str = name, .str_len = strlen(name)});
}

const IrAttr *ir_attr_map(IrModule *m, const IrAffineMap *map) {
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_MAP, .map = map});
}

const IrAttr *ir_attr_dense(IrModule *m, const IrType *type, const void *data, size_t len_bytes,
                            bool is_splat) {
    size_t elem_bytes = ir_type_bytes(type->elem);
    int64_t num_elems = ir_type_num_elems(type);
    BUG_IF(num_elems < 0 || len_bytes != elem_bytes * (is_splat ? 1 : (uint64_t)num_elems),
           "dense constant of %zu bytes does not fit its type", len_bytes);
    const uint8_t *bytes = data;
    // One value for all is a splat however it was written: equal constants are one object.
    if (!is_splat && num_elems > 0 &&
        (num_elems == 1 || memcmp(bytes, bytes + elem_bytes, len_bytes - elem_bytes) == 0)) {
        is_splat = true;
        len_bytes = elem_bytes;
    }
    return attr_intern(m, &(IrAttr){.kind = IR_ATTR_DENSE,
                                    .type = type,
                                    .data = bytes,
                                    .len_bytes = len_bytes,
                                    .is_splat = is_splat});
}

const IrAttr *ir_attr_dense_array(IrModule *m, const IrType *elem, size_t n,
                                  const int64_t *values) {
    return attr_intern(
        m, &(IrAttr){.kind = IR_ATTR_DENSE_ARRAY, .type = elem, .values = values, .num_values = n});
}

const IrAttr *ir_attr_opaque_enum(IrModule *m, const char *text) {
    return attr_intern(
        m, &(IrAttr){.kind = IR_ATTR_OPAQUE_ENUM, .str = text, .str_len = strlen(text)});
}

double ir_attr_float_value(const IrAttr *float_attr) {
    uint64_t bits = float_attr->bits;
    switch (float_attr->type->kind) {
    case IR_TYPE_F16: return (double)f16_to_f32((uint16_t)bits);
    case IR_TYPE_BF16: return (double)bf16_to_f32((uint16_t)bits);
    case IR_TYPE_F32: return (double)f32_from_bits((uint32_t)bits);
    case IR_TYPE_F64: return f64_from_bits(bits);
    default: BUG("attribute is not a float");
    }
}

uint64_t ir_attr_dense_elem(const IrAttr *dense, int64_t i) {
    const IrType *elem = dense->type->elem;
    size_t bytes = ir_type_bytes(elem);
    size_t at = dense->is_splat ? 0 : (size_t)i * bytes;
    BUG_IF(i < 0 || at + bytes > dense->len_bytes, "dense element %lld out of range", (long long)i);
    uint64_t bits = 0;
    memcpy(&bits, dense->data + at, bytes);
    if (elem->kind == IR_TYPE_INT && elem->width < 64)
        bits = (uint64_t)sign_extend((int64_t)bits, elem);
    return bits;
}

const IrAttr *ir_attr_dict_with(IrModule *m, const IrAttr *dict, const char *name,
                                const IrAttr *attr) {
    IrNamedAttr *entries = ARENA_ARRAY(&m->arena, IrNamedAttr, dict->num_entries + 1);
    size_t n = 0;
    for (size_t i = 0; i < dict->num_entries; i++)
        if (!str_equal(dict->entries[i].name, name)) entries[n++] = dict->entries[i];
    if (attr) entries[n++] = (IrNamedAttr){name, attr};
    return ir_attr_dict(m, n, entries);
}

const IrAttr *ir_attr_dict_find(const IrAttr *dict, const char *name) {
    if (!dict || dict->kind != IR_ATTR_DICT) return NULL;
    for (size_t i = 0; i < dict->num_entries; i++) {
        const char *entry = dict->entries[i].name;
        if (entry == name || str_equal(entry, name)) return dict->entries[i].attr;
    }
    return NULL;
}

static void import_dict(IrModule *m, IrAttr *key) {
    IrNamedAttr *entries = ARENA_ARRAY(&m->arena, IrNamedAttr, key->num_entries);
    for (size_t i = 0; i < key->num_entries; i++) {
        entries[i].name = ir_intern(m, key->entries[i].name);
        entries[i].attr = ir_attr_import(m, key->entries[i].attr);
    }
    key->entries = entries;
}

const IrAttr *ir_attr_import(IrModule *m, const IrAttr *attr) {
    if (!attr) return NULL;
    IrAttr key = *attr;
    key.type = ir_type_import(m, attr->type);
    if (key.kind == IR_ATTR_DICT) import_dict(m, &key);
    if (key.kind == IR_ATTR_MAP) key.map = ir_affine_import(m, attr->map);
    if (key.kind == IR_ATTR_ARRAY) {
        const IrAttr **elems = ARENA_ARRAY(&m->arena, const IrAttr *, key.num_elems);
        for (size_t i = 0; i < key.num_elems; i++) elems[i] = ir_attr_import(m, attr->elems[i]);
        key.elems = elems;
    }
    return attr_intern(m, &key);
}
