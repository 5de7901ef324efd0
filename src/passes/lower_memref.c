// Memrefs in lower-target: descriptors, views, addresses, scalar accesses, copies.
#include "passes/lower_internal.h"
#include "passes/pass.h"

#include <stdio.h>

uint32_t low_bytes(const IrType *elem) {
    return ir_type_bytes(elem);
}

void low_set_memref(Lowering *lo, const IrValue *old, MemDesc *desc) {
    lo->memrefs[old->index] = desc;
}

Status low_memref(Lowering *lo, const IrOp *user, const IrValue *old, MemDesc **out_desc) {
    if (old->type->kind != IR_TYPE_MEMREF || !lo->memrefs[old->index])
        return low_refuse(lo, user, "its operand is not a buffer with a known address");
    *out_desc = lo->memrefs[old->index];
    return STATUS_OK;
}

static MemDesc *low_desc_new(Lowering *lo, const IrType *elem, uint32_t rank) {
    MemDesc *desc = ARENA_NEW(&lo->arena, MemDesc);
    desc->elem = elem;
    desc->rank = rank;
    desc->sizes = ARENA_ARRAY(&lo->arena, LowIndex, rank + 1);
    desc->strides = ARENA_ARRAY(&lo->arena, LowIndex, rank + 1);
    return desc;
}

// The descriptor of a view of src; the caller sets sizes and strides.
static Status low_desc_of(Lowering *lo, const IrOp *op, const MemDesc *src, MemDesc **out_desc) {
    uint32_t rank = ir_op_result(op, 0)->type->rank;
    if (rank > LOWER_MAX_RANK) return low_refuse(lo, op, "more than %d dimensions", LOWER_MAX_RANK);
    MemDesc *desc = low_desc_new(lo, src->elem, rank);
    desc->base = src->base;
    desc->base_align = src->base_align;
    desc->offset = src->offset;
    *out_desc = desc;
    return STATUS_OK;
}

Status low_memref_whole(Lowering *lo, const IrOp *user, const IrType *type, IrValue *base,
                        MemDesc **out_desc) {
    int64_t strides[LOWER_MAX_RANK], offset;
    if (type->rank > LOWER_MAX_RANK || !ir_type_is_static(type) || !low_type(lo, type->elem))
        return low_refuse(lo, user, "a buffer needs a static shape and a storable element type");
    ir_memref_strides(type, strides, &offset);
    if (offset == IR_DYNAMIC) return low_refuse(lo, user, "a buffer needs a static layout");
    MemDesc *desc = low_desc_new(lo, type->elem, type->rank);
    desc->base = base;
    desc->base_align = LOWER_BUFFER_ALIGN_BYTES;
    desc->offset = low_index_const(offset);
    for (uint32_t d = 0; d < type->rank; d++) {
        if (strides[d] == IR_DYNAMIC) return low_refuse(lo, user, "a buffer needs a static layout");
        desc->sizes[d] = low_index_const(type->shape[d]);
        desc->strides[d] = low_index_const(strides[d]);
    }
    *out_desc = desc;
    return STATUS_OK;
}

// ---------------------------------------------------------------- addresses

static IrValue *low_gep(Lowering *lo, IrValue *base, const IrType *unit, IrValue *index) {
    IrValue *operands[] = {base, index};
    int64_t dynamic = INT32_MIN;
    IrNamedAttr attrs[] = {
        {"elem_type", ir_attr_type(lo->m, unit)},
        {"rawConstantIndices", ir_attr_dense_array(lo->m, lo->i32, 1, &dynamic)},
    };
    IrOpSpec spec = {.kind = IR_LLVM_GETELEMENTPTR,
                     .loc = lo->loc,
                     .num_operands = 2,
                     .operands = operands,
                     .num_results = 1,
                     .result_types = &lo->ptr,
                     .num_attrs = 2,
                     .attrs = attrs,
                     .segments = {1, 1}};
    IrOp *op = ir_op_create(lo->m, &spec);
    ir_block_append(lo->block, op);
    return ir_op_result(op, 0);
}

static uint64_t low_align_of(uint64_t base_align, uint64_t multiple_bytes) {
    uint64_t bits = base_align | multiple_bytes; // the lowest set bit divides both
    return bits & (0 - bits);
}

// base + elements * bytes of one element.
static IrValue *low_advance(Lowering *lo, IrValue *base, LowIndex elements, uint32_t elem_bytes) {
    if (elements.value)
        base = low_gep(lo, base, ir_type_int(lo->m, elem_bytes * 8), elements.value);
    int64_t bytes = (int64_t)((uint64_t)elements.constant * elem_bytes);
    if (bytes) base = low_gep(lo, base, lo->i8, low_const_int(lo, lo->i64, bytes));
    return base;
}

IrValue *low_address(Lowering *lo, const MemDesc *desc, const LowIndex *indices,
                     int64_t *out_align) {
    LowIndex sum = desc->offset;
    for (uint32_t d = 0; d < desc->rank; d++)
        sum = low_index_add(lo, sum, low_index_mul(lo, indices[d], desc->strides[d]));
    uint32_t bytes = low_bytes(desc->elem);
    uint64_t align = low_align_of(desc->base_align, low_index_multiple(sum) * bytes);
    *out_align = (int64_t)MAX(align, bytes);
    return low_advance(lo, desc->base, sum, bytes);
}

IrValue *low_load(Lowering *lo, const IrType *type, IrValue *ptr, int64_t align) {
    IrNamedAttr attr = {"alignment", ir_attr_i64(lo->m, align)};
    return ir_op_result(low_op(lo, IR_LLVM_LOAD, type, 1, &ptr, 1, &attr), 0);
}

void low_store(Lowering *lo, IrValue *value, IrValue *ptr, int64_t align) {
    IrNamedAttr attr = {"alignment", ir_attr_i64(lo->m, align)};
    low_op(lo, IR_LLVM_STORE, NULL, 2, (IrValue *[]){value, ptr}, 1, &attr);
}

// ---------------------------------------------------------------- views

static Status low_view(Lowering *lo, IrOp *op) {
    MemDesc *src, *dst;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    if (src->rank != 1 || src->offset.value || src->offset.constant)
        return low_refuse(lo, op, "its source must be a whole byte buffer");
    LowIndex shift = low_index(lo, ir_op_operand(op, 1));
    const IrType *type = ir_op_result(op, 0)->type;
    IrValue *base = low_advance(lo, src->base, shift, 1);
    TRY(low_memref_whole(lo, op, type, base, &dst));
    dst->base_align =
        MAX(low_align_of(src->base_align, low_index_multiple(shift)), low_bytes(type->elem));
    low_set_memref(lo, ir_op_result(op, 0), dst);
    return STATUS_OK;
}

// Entry i of a static array that takes operands (from *cursor on) where it is dynamic.
static LowIndex low_mixed(Lowering *lo, const IrOp *op, const char *attr, uint32_t i,
                          uint32_t *cursor) {
    int64_t fixed = ir_op_attr(op, attr)->values[i];
    if (fixed != IR_DYNAMIC) return low_index_const(fixed);
    return low_index(lo, ir_op_operand(op, (*cursor)++));
}

static Status low_subview(Lowering *lo, IrOp *op) {
    MemDesc *src, *dst;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    TRY(low_desc_of(lo, op, src, &dst));
    const IrType *type = ir_op_result(op, 0)->type;
    uint32_t at = ir_op_segment_start(op, 1), size_at = ir_op_segment_start(op, 2);
    uint32_t stride_at = ir_op_segment_start(op, 3), kept = 0;
    const IrAttr *sizes = ir_op_attr(op, "static_sizes");
    for (uint32_t d = 0; d < src->rank; d++) {
        LowIndex offset = low_mixed(lo, op, "static_offsets", d, &at);
        LowIndex size = low_mixed(lo, op, "static_sizes", d, &size_at);
        LowIndex stride = low_mixed(lo, op, "static_strides", d, &stride_at);
        dst->offset = low_index_add(lo, dst->offset, low_index_mul(lo, offset, src->strides[d]));
        // The result's sizes are those of the source less some 1s: each goes to the first that is
        // equal. Which of several unit dimensions goes is of no matter: its index is always 0.
        int64_t fixed = sizes->values[d];
        if (kept == type->rank || type->shape[kept] != fixed) {
            if (fixed != 1) return low_refuse(lo, op, "its result drops a dimension that is not 1");
            continue;
        }
        dst->sizes[kept] = size;
        dst->strides[kept++] = low_index_mul(lo, stride, src->strides[d]);
    }
    if (kept != type->rank)
        return low_refuse(lo, op, "its result has more dimensions than its source");
    low_set_memref(lo, ir_op_result(op, 0), dst);
    return STATUS_OK;
}

static Status low_reinterpret(Lowering *lo, IrOp *op) {
    MemDesc *src, *dst;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    TRY(low_desc_of(lo, op, src, &dst));
    const IrType *type = ir_op_result(op, 0)->type;
    uint32_t at = ir_op_segment_start(op, 1), size_at = ir_op_segment_start(op, 2);
    uint32_t stride_at = ir_op_segment_start(op, 3);
    dst->offset = low_mixed(lo, op, "static_offsets", 0, &at);
    for (uint32_t d = 0; d < type->rank; d++) {
        dst->sizes[d] = low_mixed(lo, op, "static_sizes", d, &size_at);
        dst->strides[d] = low_mixed(lo, op, "static_strides", d, &stride_at);
    }
    low_set_memref(lo, ir_op_result(op, 0), dst);
    return STATUS_OK;
}

// expand_shape: the sizes of the result are static or operands; strides follow from the group's
// last.
static Status low_expand_shape(Lowering *lo, IrOp *op) {
    MemDesc *src, *dst;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    TRY(low_desc_of(lo, op, src, &dst));
    const IrType *type = ir_op_result(op, 0)->type;
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    uint32_t cursor = 1;
    for (uint32_t d = 0; d < type->rank; d++)
        dst->sizes[d] = low_mixed(lo, op, "static_output_shape", d, &cursor);
    for (uint32_t g = 0; g < groups->num_elems; g++) {
        const IrAttr *group = groups->elems[g];
        LowIndex stride = src->strides[g];
        for (size_t k = group->num_elems; k-- > 0;) {
            uint32_t d = (uint32_t)group->elems[k]->i;
            dst->strides[d] = stride;
            stride = low_index_mul(lo, stride, dst->sizes[d]);
        }
    }
    if (groups->num_elems == 0) // from rank 0: every size is 1
        for (uint32_t d = 0; d < type->rank; d++) dst->strides[d] = low_index_const(1);
    low_set_memref(lo, ir_op_result(op, 0), dst);
    return STATUS_OK;
}

// collapse_shape: the verifier has checked that each group is contiguous; the stride is that of its
// last dimension that is not 1.
static Status low_collapse_shape(Lowering *lo, IrOp *op) {
    MemDesc *src, *dst;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    TRY(low_desc_of(lo, op, src, &dst));
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    for (uint32_t g = 0; g < groups->num_elems; g++) {
        const IrAttr *group = groups->elems[g];
        dst->sizes[g] = low_index_const(1);
        dst->strides[g] = low_index_const(1);
        bool has_stride = false;
        for (size_t k = group->num_elems; k-- > 0;) {
            uint32_t d = (uint32_t)group->elems[k]->i;
            bool is_unit = !src->sizes[d].value && src->sizes[d].constant == 1;
            if (!has_stride && (!is_unit || k == 0)) {
                dst->strides[g] = src->strides[d];
                has_stride = true;
            }
            dst->sizes[g] = low_index_mul(lo, dst->sizes[g], src->sizes[d]);
        }
    }
    low_set_memref(lo, ir_op_result(op, 0), dst);
    return STATUS_OK;
}

// cast and assume_alignment keep the address; a cast to static sizes teaches us nothing we need.
static Status low_same_memref(Lowering *lo, IrOp *op) {
    MemDesc *src;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    if (op->kind == IR_MEMREF_CAST && ir_op_result(op, 0)->type->kind != IR_TYPE_MEMREF)
        return low_refuse(lo, op, "unranked buffers exist only in front of a print call");
    MemDesc *dst = ARENA_NEW(&lo->arena, MemDesc);
    *dst = *src;
    if (op->kind == IR_MEMREF_ASSUME_ALIGNMENT) {
        // A promise about the address of element 0; the base has it too if the offset is 0.
        uint64_t align = (uint64_t)ir_op_attr(op, "alignment")->i;
        bool is_whole = !src->offset.value && src->offset.constant == 0;
        if (is_whole && align > dst->base_align && (align & (align - 1)) == 0)
            dst->base_align = align;
        if (op->num_results == 0) {
            low_set_memref(lo, ir_op_operand(op, 0), dst);
            return STATUS_OK;
        }
    }
    low_set_memref(lo, ir_op_result(op, 0), dst);
    return STATUS_OK;
}

Status low_view_op(Lowering *lo, IrOp *op) {
    switch (op->kind) {
    case IR_MEMREF_VIEW: return low_view(lo, op);
    case IR_MEMREF_SUBVIEW: return low_subview(lo, op);
    case IR_MEMREF_REINTERPRET_CAST: return low_reinterpret(lo, op);
    case IR_MEMREF_EXPAND_SHAPE: return low_expand_shape(lo, op);
    case IR_MEMREF_COLLAPSE_SHAPE: return low_collapse_shape(lo, op);
    default: return low_same_memref(lo, op);
    }
}

// ---------------------------------------------------------------- accesses

static Status low_element_address(Lowering *lo, IrOp *op, const IrValue *memref, uint32_t first,
                                  const MemDesc **out_desc, IrValue **out_ptr, int64_t *out_align) {
    MemDesc *desc;
    TRY(low_memref(lo, op, memref, &desc));
    LowIndex indices[LOWER_MAX_RANK];
    const IrAttr *map = ir_op_attr(op, "map");
    for (uint32_t d = 0; d < desc->rank; d++) {
        indices[d] = map ? low_affine(lo, map->map, d, op, first)
                         : low_index(lo, ir_op_operand(op, first + d));
    }
    *out_ptr = low_address(lo, desc, indices, out_align);
    *out_desc = desc;
    return STATUS_OK;
}

static Status low_element_load(Lowering *lo, IrOp *op) {
    const MemDesc *desc;
    IrValue *ptr;
    int64_t align;
    TRY(low_element_address(lo, op, ir_op_operand(op, 0), 1, &desc, &ptr, &align));
    const IrType *type = low_type(lo, desc->elem);
    if (type == lo->i1) { // one byte in memory, 0 or 1
        IrValue *byte = low_load(lo, lo->i8, ptr, align);
        return low_set_result(lo, op, low_1(lo, IR_LLVM_TRUNC, type, byte));
    }
    return low_set_result(lo, op, low_load(lo, type, ptr, align));
}

static Status low_element_store(Lowering *lo, IrOp *op) {
    const MemDesc *desc;
    IrValue *ptr;
    int64_t align;
    TRY(low_element_address(lo, op, ir_op_operand(op, 1), 2, &desc, &ptr, &align));
    IrValue *value = low_value(lo, ir_op_operand(op, 0));
    if (value->type == lo->i1) value = low_1(lo, IR_LLVM_ZEXT, lo->i8, value);
    low_store(lo, value, ptr, align);
    return STATUS_OK;
}

static Status low_prefetch(Lowering *lo, IrOp *op) {
    const MemDesc *desc;
    IrValue *ptr;
    int64_t align;
    TRY(low_element_address(lo, op, ir_op_operand(op, 0), 1, &desc, &ptr, &align));
    const IrAttr *is_write = ir_op_attr(op, "isWrite"), *hint = ir_op_attr(op, "localityHint");
    const IrAttr *is_data = ir_op_attr(op, "isDataCache");
    IrNamedAttr attrs[] = {
        {"rw", ir_attr_int(lo->m, is_write && is_write->i ? 1 : 0, lo->i32)},
        {"hint", ir_attr_int(lo->m, hint ? hint->i : 3, lo->i32)},
        {"cache", ir_attr_int(lo->m, !is_data || is_data->i ? 1 : 0, lo->i32)},
    };
    low_op(lo, IR_LLVM_INTR_PREFETCH, NULL, 1, &ptr, 3, attrs);
    return STATUS_OK;
}

static const IrOp *low_kernel(const IrOp *op) {
    while (op->kind != IR_FUNC_FUNC) op = ir_op_parent(op);
    return op;
}

static Status low_alloca(Lowering *lo, IrOp *op) {
    const IrType *type = ir_op_result(op, 0)->type;
    uint64_t bytes = 0, most = kernel_max_stack_bytes(low_kernel(op));
    bool fits =
        ir_type_is_static(type) && ir_type_num_elems(type) >= 0 &&
        size_mul((uint64_t)ir_type_num_elems(type), low_bytes(type->elem), &bytes) &&
        size_add(lo->stack_bytes, align_up(bytes, LOWER_BUFFER_ALIGN_BYTES), &lo->stack_bytes) &&
        lo->stack_bytes <= most;
    if (!fits)
        return low_refuse(lo, op, "a kernel may keep at most %llu KiB of static size on its stack",
                          (unsigned long long)most >> 10);
    IrValue *one = low_const_int(lo, lo->i64, 1);
    IrNamedAttr attrs[] = {
        {"elem_type", ir_attr_type(lo->m, ir_type_array(lo->m, (int64_t)bytes, lo->i8))},
        {"alignment", ir_attr_i64(lo->m, LOWER_BUFFER_ALIGN_BYTES)},
    };
    IrOpSpec spec = {.kind = IR_LLVM_ALLOCA,
                     .loc = lo->loc,
                     .num_operands = 1,
                     .operands = &one,
                     .num_results = 1,
                     .result_types = &lo->ptr,
                     .num_attrs = 2,
                     .attrs = attrs};
    IrOp *alloca_op = ir_op_create(lo->m, &spec);
    ir_op_insert_after(alloca_op,
                       lo->last_const); // in the entry block: allocated once, not per loop
    lo->last_const = alloca_op;
    MemDesc *desc;
    TRY(low_memref_whole(lo, op, type, ir_op_result(alloca_op, 0), &desc));
    low_set_memref(lo, ir_op_result(op, 0), desc);
    return STATUS_OK;
}

static Status low_dim(Lowering *lo, IrOp *op) {
    MemDesc *desc;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &desc));
    LowIndex d = low_index(lo, ir_op_operand(op, 1));
    if (d.value || d.constant < 0 || d.constant >= (int64_t)desc->rank)
        return low_refuse(lo, op, "the dimension must be a constant inside the rank");
    low_set_index(lo, ir_op_result(op, 0), desc->sizes[d.constant]);
    return STATUS_OK;
}

// A constant global becomes a private llvm.mlir.global of bytes in the same order.
static Status low_get_global(Lowering *lo, IrOp *op) {
    const IrAttr *name = ir_op_attr(op, "name");
    IrOp *global = ir_symbol_find(lo->m, name->str);
    const IrAttr *value =
        global && global->kind == IR_MEMREF_GLOBAL ? ir_op_attr(global, "initial_value") : NULL;
    bool is_constant = value && value->kind == IR_ATTR_DENSE && ir_op_attr(global, "constant");
    const IrType *type = ir_op_result(op, 0)->type;
    const IrType *elem = low_type(lo, type->elem);
    if (!is_constant || !ir_type_is_static(type) || type->has_layout || !elem || elem == lo->i1)
        return low_refuse(lo, op, "@%s is not a constant global with a value", name->str);
    IrOp *made = NULL;
    FOR_EACH_OP(other, ir_module_body(lo->m)) {
        if (other->kind != IR_LLVM_MLIR_GLOBAL) continue;
        const IrAttr *from = ir_op_attr(other, "ingot.from");
        if (from && str_equal(from->str, name->str)) made = other;
    }
    int64_t count = ir_type_num_elems(type);
    if (!made) {
        const IrType *tensor = ir_type_tensor(lo->m, 1, &count, elem);
        char symbol[256];
        snprintf(symbol, sizeof symbol, "%.200s_data", name->str);
        IrNamedAttr attrs[] = {
            {"sym_name", ir_attr_string(lo->m, ir_symbol_unique(lo->m, symbol))},
            {"global_type", ir_attr_type(lo->m, ir_type_array(lo->m, count, elem))},
            {"linkage", ir_attr_string(lo->m, "private")},
            {"constant", ir_attr_unit(lo->m)},
            {"value", ir_attr_dense(lo->m, tensor, value->data, value->len_bytes, value->is_splat)},
            {"alignment", ir_attr_i64(lo->m, LOWER_BUFFER_ALIGN_BYTES)},
            {"addr_space", ir_attr_int(lo->m, 0, lo->i32)},
            {"ingot.from", ir_attr_string(lo->m, name->str)},
        };
        IrOpSpec spec = {.kind = IR_LLVM_MLIR_GLOBAL,
                         .loc = global->loc,
                         .num_attrs = 8,
                         .attrs = attrs,
                         .num_regions = 1};
        made = ir_op_create(lo->m, &spec);
        ir_op_insert_before(made, ir_module_body(lo->m)->first);
    }
    IrNamedAttr attr = {"global_name", ir_attr_symbol(lo->m, ir_op_attr(made, "sym_name")->str)};
    IrOp *address = low_op(lo, IR_LLVM_MLIR_ADDRESSOF, lo->ptr, 0, NULL, 1, &attr);
    MemDesc *desc;
    TRY(low_memref_whole(lo, op, type, ir_op_result(address, 0), &desc));
    low_set_memref(lo, ir_op_result(op, 0), desc);
    return STATUS_OK;
}

// ---------------------------------------------------------------- copy

// Copies a run of elements, contiguous on both sides, of static length.
static void low_copy_run(Lowering *lo, const MemDesc *src, const MemDesc *dst, const LowIndex *at,
                         int64_t num_elems) {
    int64_t src_align, dst_align, done = 0, bytes = num_elems * low_bytes(src->elem);
    IrValue *from = low_address(lo, src, at, &src_align),
            *to = low_address(lo, dst, at, &dst_align);
    int64_t num_chunks = bytes / LOWER_BUFFER_ALIGN_BYTES;
    const IrType *chunk = low_vec(lo, LOWER_BUFFER_ALIGN_BYTES, lo->i8);
    LowLoop loop;
    if (num_chunks > 4) {
        Status status = low_loop_begin(lo, low_index_const(0),
                                       low_index_const(num_chunks * LOWER_BUFFER_ALIGN_BYTES),
                                       low_index_const(LOWER_BUFFER_ALIGN_BYTES), 0, NULL, &loop);
        BUG_IF(status != STATUS_OK, "a static loop is always possible");
        IrValue *a = low_gep(lo, from, lo->i8, loop.iv), *b = low_gep(lo, to, lo->i8, loop.iv);
        low_store(lo, low_load(lo, chunk, a, src_align), b, dst_align);
        low_loop_end(lo, &loop, 0, NULL, NULL, NULL);
        done = num_chunks * LOWER_BUFFER_ALIGN_BYTES;
    }
    for (int64_t width = LOWER_BUFFER_ALIGN_BYTES; width > 0; width /= 2) {
        const IrType *type = low_vec(lo, width > 1 ? width : 0, lo->i8);
        for (; bytes - done >= width; done += width) {
            IrValue *a = low_advance(lo, from, low_index_const(done), 1);
            IrValue *b = low_advance(lo, to, low_index_const(done), 1);
            low_store(lo, low_load(lo, type, a, 1), b, 1);
        }
    }
}

static Status low_copy_dims(Lowering *lo, IrOp *op, const MemDesc *src, const MemDesc *dst,
                            uint32_t dim, LowIndex *at) {
    int64_t run = 1; // elements of the dims from `dim` on, if they are contiguous on both sides
    for (uint32_t d = src->rank; d-- > dim && run;) {
        LowIndex size = src->sizes[d], a = src->strides[d], b = dst->strides[d];
        bool is_dense = !size.value && !a.value && !b.value &&
                        ((a.constant == run && b.constant == run) || size.constant == 1);
        run = is_dense ? run * size.constant : 0;
    }
    if (run) {
        for (uint32_t d = dim; d < src->rank; d++) at[d] = low_index_const(0);
        low_copy_run(lo, src, dst, at, run);
        return STATUS_OK;
    }
    if (dim == src->rank) return STATUS_OK; // an empty copy
    LowLoop loop;
    TRY(low_loop_begin(lo, low_index_const(0), src->sizes[dim], low_index_const(1), 0, NULL,
                       &loop));
    at[dim] = low_index_of(loop.iv, 1);
    TRY(low_copy_dims(lo, op, src, dst, dim + 1, at));
    low_loop_end(lo, &loop, 0, NULL, NULL, NULL);
    return STATUS_OK;
}

static Status low_copy(Lowering *lo, IrOp *op) {
    MemDesc *src, *dst;
    TRY(low_memref(lo, op, ir_op_operand(op, 0), &src));
    TRY(low_memref(lo, op, ir_op_operand(op, 1), &dst));
    if (ir_type_num_elems(ir_op_operand(op, 0)->type) == 0) return STATUS_OK;
    LowIndex at[LOWER_MAX_RANK];
    return low_copy_dims(lo, op, src, dst, 0, at);
}

Status low_memref_op(Lowering *lo, IrOp *op) {
    switch (op->kind) {
    case IR_MEMREF_LOAD:
    case IR_AFFINE_LOAD: return low_element_load(lo, op);
    case IR_MEMREF_STORE:
    case IR_AFFINE_STORE: return low_element_store(lo, op);
    case IR_MEMREF_PREFETCH: return low_prefetch(lo, op);
    case IR_MEMREF_ALLOCA: return low_alloca(lo, op);
    case IR_MEMREF_DIM: return low_dim(lo, op);
    case IR_MEMREF_GET_GLOBAL: return low_get_global(lo, op);
    case IR_MEMREF_COPY: return low_copy(lo, op);
    default: return low_refuse(lo, op, "no rule for it");
    }
}
