// Types: interned structures and the questions asked of them.
#include <string.h>

#include "ir/intern.h"

static uint64_t type_hash(const IrType *t) {
    uint64_t hash = hash_mix(2, (uint64_t)t->kind << 32 | t->width);
    hash = hash_mix(hash, (uint64_t)t->rank << 1 | t->has_layout);
    if (t->rank) hash = hash_bytes(hash, t->shape, t->rank * sizeof *t->shape);
    hash = hash_ptr(hash, t->elem);
    if (t->has_layout) {
        hash = hash_bytes(hash, t->strides, t->rank * sizeof *t->strides);
        hash = hash_mix(hash, (uint64_t)t->offset);
    }
    hash = hash_ptr(hash, t->space);
    hash = hash_ptrs(hash, t->num_inputs, (const void *const *)t->inputs);
    return hash_ptrs(hash, t->num_results, (const void *const *)t->results);
}

static bool same_numbers(uint32_t n, const int64_t *a, const int64_t *b) {
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static bool type_equal(const void *object, const void *key) {
    const IrType *a = object, *b = key;
    return a->kind == b->kind && a->width == b->width && a->rank == b->rank && a->elem == b->elem &&
           a->has_layout == b->has_layout && a->space == b->space &&
           a->num_inputs == b->num_inputs && a->num_results == b->num_results &&
           same_numbers(a->rank, a->shape, b->shape) &&
           (!a->has_layout ||
            (a->offset == b->offset && same_numbers(a->rank, a->strides, b->strides))) &&
           same_ptrs(a->num_inputs, (const void *const *)a->inputs,
                     (const void *const *)b->inputs) &&
           same_ptrs(a->num_results, (const void *const *)a->results,
                     (const void *const *)b->results);
}

static const IrType *type_intern(IrModule *m, const IrType *key) {
    uint64_t hash = type_hash(key);
    const IrType *found = intern_find(&m->interner->types, hash, type_equal, key);
    if (found) return found;
    IrType *t = arena_memdup(&m->arena, key, 1, sizeof *key);
    if (t->rank) t->shape = arena_memdup(&m->arena, t->shape, t->rank, sizeof *t->shape);
    if (t->has_layout)
        t->strides = arena_memdup(&m->arena, t->strides, t->rank, sizeof *t->strides);
    if (t->num_inputs)
        t->inputs = arena_memdup(&m->arena, t->inputs, t->num_inputs, sizeof *t->inputs);
    if (t->num_results)
        t->results = arena_memdup(&m->arena, t->results, t->num_results, sizeof *t->results);
    intern_add(&m->interner->types, hash, t);
    return t;
}

const IrType *ir_type_int(IrModule *m, uint32_t width) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_INT, .width = width});
}

const IrType *ir_type_index(IrModule *m) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_INDEX});
}

const IrType *ir_type_float(IrModule *m, IrTypeKind kind) {
    BUG_IF(kind < IR_TYPE_F16 || kind > IR_TYPE_F64, "type kind %d is not a float", (int)kind);
    return type_intern(m, &(IrType){.kind = kind});
}

const IrType *ir_type_f32(IrModule *m) {
    return ir_type_float(m, IR_TYPE_F32);
}

static const IrType *shaped(IrModule *m, IrTypeKind kind, uint32_t rank, const int64_t *shape,
                            const IrType *elem) {
    return type_intern(m, &(IrType){.kind = kind, .rank = rank, .shape = shape, .elem = elem});
}

const IrType *ir_type_tensor(IrModule *m, uint32_t rank, const int64_t *shape, const IrType *elem) {
    return shaped(m, IR_TYPE_TENSOR, rank, shape, elem);
}

const IrType *ir_type_vector(IrModule *m, uint32_t rank, const int64_t *shape, const IrType *elem) {
    return shaped(m, IR_TYPE_VECTOR, rank, shape, elem);
}

const IrType *ir_type_memref(IrModule *m, uint32_t rank, const int64_t *shape, const IrType *elem) {
    return shaped(m, IR_TYPE_MEMREF, rank, shape, elem);
}

const IrType *ir_type_memref_strided(IrModule *m, uint32_t rank, const int64_t *shape,
                                     const IrType *elem, const int64_t *strides, int64_t offset,
                                     const IrAttr *space) {
    IrType key = {
        .kind = IR_TYPE_MEMREF, .rank = rank, .shape = shape, .elem = elem, .space = space};
    if (strides) {
        key.has_layout = true;
        key.strides = strides;
        key.offset = offset;
    }
    return type_intern(m, &key);
}

const IrType *ir_type_unranked(IrModule *m, IrTypeKind kind, const IrType *elem) {
    BUG_IF(kind != IR_TYPE_UNRANKED_TENSOR && kind != IR_TYPE_UNRANKED_MEMREF,
           "type kind %d is not unranked", (int)kind);
    return type_intern(m, &(IrType){.kind = kind, .elem = elem});
}

const IrType *ir_type_function(IrModule *m, uint32_t num_inputs, const IrType *const *inputs,
                               uint32_t num_results, const IrType *const *results) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_FUNCTION,
                                    .num_inputs = num_inputs,
                                    .inputs = inputs,
                                    .num_results = num_results,
                                    .results = results});
}

const IrType *ir_type_ptr(IrModule *m) {
    return ir_type_ptr_in(m, 0);
}

const IrType *ir_type_ptr_in(IrModule *m, uint32_t address_space) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_PTR, .width = address_space});
}

const IrType *ir_type_void(IrModule *m) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_VOID});
}

const IrType *ir_type_none(IrModule *m) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_NONE});
}

const IrType *ir_type_llvm_function(IrModule *m, const IrType *result, uint32_t num_inputs,
                                    const IrType *const *inputs) {
    return type_intern(m, &(IrType){.kind = IR_TYPE_LLVM_FUNCTION,
                                    .num_inputs = num_inputs,
                                    .inputs = inputs,
                                    .num_results = 1,
                                    .results = &result});
}

const IrType *ir_type_struct(IrModule *m, uint32_t num_elems, const IrType *const *elems) {
    return type_intern(m,
                       &(IrType){.kind = IR_TYPE_STRUCT, .num_inputs = num_elems, .inputs = elems});
}

const IrType *ir_type_array(IrModule *m, int64_t count, const IrType *elem) {
    return shaped(m, IR_TYPE_ARRAY, 1, &count, elem);
}

uint32_t ir_type_bits(const IrType *t) {
    switch (t->kind) {
    case IR_TYPE_INT: return t->width;
    case IR_TYPE_F16:
    case IR_TYPE_BF16: return 16;
    case IR_TYPE_F32: return 32;
    case IR_TYPE_INDEX:
    case IR_TYPE_PTR:
    case IR_TYPE_F64: return 64;
    default: BUG("type kind %d has no bit width", (int)t->kind);
    }
}

uint32_t ir_type_bytes(const IrType *scalar) {
    return (ir_type_bits(scalar) + 7) / 8;
}

int64_t ir_type_num_elems(const IrType *t) {
    int64_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->shape[i] == IR_DYNAMIC) return IR_DYNAMIC;
        BUG_IF(__builtin_mul_overflow(count, t->shape[i], &count), "number of elements overflows");
    }
    return count;
}

bool ir_type_is_static(const IrType *t) {
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->shape[i] == IR_DYNAMIC) return false;
    }
    return t->kind != IR_TYPE_UNRANKED_TENSOR && t->kind != IR_TYPE_UNRANKED_MEMREF;
}

void ir_memref_strides(const IrType *memref, int64_t *out_strides, int64_t *out_offset) {
    if (memref->has_layout) {
        if (memref->rank) memcpy(out_strides, memref->strides, memref->rank * sizeof *out_strides);
        *out_offset = memref->offset;
        return;
    }
    int64_t stride = 1;
    for (uint32_t i = memref->rank; i-- > 0;) {
        out_strides[i] = stride;
        int64_t size = memref->shape[i];
        if (stride == IR_DYNAMIC || size == IR_DYNAMIC)
            stride = IR_DYNAMIC;
        else
            BUG_IF(__builtin_mul_overflow(stride, size, &stride), "memref stride overflows");
    }
    *out_offset = 0;
}

static const IrType *const *import_list(IrModule *m, uint32_t n, const IrType *const *types) {
    const IrType **copy = ARENA_ARRAY(&m->arena, const IrType *, n);
    for (uint32_t i = 0; i < n; i++) copy[i] = ir_type_import(m, types[i]);
    return copy;
}

const IrType *ir_type_import(IrModule *m, const IrType *type) {
    if (!type) return NULL;
    IrType key = *type;
    key.elem = ir_type_import(m, type->elem);
    key.space = ir_attr_import(m, type->space);
    if (key.num_inputs) key.inputs = import_list(m, key.num_inputs, type->inputs);
    if (key.num_results) key.results = import_list(m, key.num_results, type->results);
    return type_intern(m, &key);
}
