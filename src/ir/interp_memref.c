// The interpreter's memref operations: allocation, views of buffers, loads and stores.
#include "ir/interp_decoders.h"

// ---------------------------------------------------------------- elements

const InterpElement *interp_element_new(InterpDecoder *d, const IrOp *op, uint32_t base,
                                        uint32_t first_index, uint32_t num_indices) {
    const IrType *type = ir_op_operand(op, base)->type;
    const IrAttr *map = ir_op_attr(op, "map");
    if (!interp_is_view(type) || type->rank > INTERP_MAX_RANK ||
        num_indices > INTERP_MAX_OPERANDS) {
        (void)interp_refuse(d->in, op, "has an operand of too high a rank");
        return NULL;
    }
    InterpElement *info = INTERP_INFO(d, InterpElement);
    info->rank = type->rank;
    info->elem_bytes = ir_type_bytes(type->elem);
    info->mem = interp_mem(type->elem);
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, num_indices + 1);
    for (uint32_t i = 0; i < num_indices; i++) {
        slots[i] = interp_slot(d, ir_op_operand(op, first_index + i));
    }
    info->slots = slots;
    if (map && map->kind == IR_ATTR_MAP) info->map = interp_map_new(d, map->map);
    uint32_t have = info->map ? map->map->num_results : num_indices;
    if (have != type->rank || (info->map && info->map->num_inputs != num_indices)) {
        (void)interp_refuse(d->in, op, "has %u indices for rank %u", have, type->rank);
        return NULL;
    }
    return info;
}

void interp_element_indices(const InterpElement *info, const uint64_t *frame, int64_t *out) {
    if (!info->map) {
        for (uint32_t i = 0; i < info->rank; i++) out[i] = (int64_t)frame[info->slots[i]];
        return;
    }
    int64_t inputs[INTERP_MAX_OPERANDS];
    for (uint32_t i = 0; i < info->map->num_inputs; i++) inputs[i] = (int64_t)frame[info->slots[i]];
    for (uint32_t i = 0; i < info->rank; i++) out[i] = interp_map_eval(info->map, i, inputs);
}

bool interp_element_at(Interp *in, const IrOp *op, const InterpElement *info,
                       const InterpView *view, const uint64_t *frame, int64_t *out_at) {
    int64_t index[INTERP_MAX_RANK];
    interp_element_indices(info, frame, index);
    uint64_t at = (uint64_t)view->offset;
    for (uint32_t i = 0; i < info->rank; i++) {
        if (index[i] < 0 || index[i] >= view->dims[i]) {
            return interp_fault_of(in, op, FAULT_INDEX, index[i],
                                   (InterpNumbers){{i, view->dims[i]}}, "");
        }
        at += (uint64_t)index[i] * (uint64_t)view->dims[info->rank + i];
    }
    *out_at = (int64_t)((uint64_t)view->base_bytes + at * info->elem_bytes);
    return true;
}

static bool run_load(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpElement *info = inst->info;
    const InterpView *view = interp_view(frame, inst->src[0]);
    int64_t at;
    if (!interp_element_at(in, inst->op, info, view, frame, &at) ||
        !interp_check_read(in, inst->op, view->buffer, view->view_id, at, info->elem_bytes)) {
        return false;
    }
    frame[inst->dst] = interp_load(info->mem, view->buffer->data + at);
    return true;
}

// memref.load, affine.load
bool interp_decode_load(InterpDecoder *d, const IrOp *op) {
    const InterpElement *info = interp_element_new(d, op, 0, 1, op->num_operands - 1);
    if (!info) return false;
    InterpInst *inst = interp_emit(d, op, run_load);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_store(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpElement *info = inst->info;
    const InterpView *view = interp_view(frame, inst->src[1]);
    int64_t at;
    if (!interp_element_at(in, inst->op, info, view, frame, &at) ||
        !interp_check_write(in, inst->op, view->buffer, view->view_id, at, info->elem_bytes)) {
        return false;
    }
    interp_store(info->mem, view->buffer->data + at, frame[inst->src[0]]);
    return true;
}

// memref.store, affine.store
bool interp_decode_store(InterpDecoder *d, const IrOp *op) {
    const InterpElement *info = interp_element_new(d, op, 1, 2, op->num_operands - 2);
    if (!info) return false;
    InterpInst *inst = interp_emit(d, op, run_store);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    return true;
}

// ---------------------------------------------------------------- allocation

typedef struct MemrefShape {
    InterpMixed sizes, offsets, strides;
    InterpSlice slice;
    uint32_t rank, src_rank, elem_bytes;
    const int64_t *static_sizes, *static_strides;
    int64_t static_offset;
    const uint32_t *group_of;
    uint32_t view_id;
    bool is_alloca;
} MemrefShape;

static MemrefShape *shape_new(InterpDecoder *d, const IrOp *op, const IrType *type) {
    if (type->kind != IR_TYPE_MEMREF || type->rank > INTERP_MAX_RANK) {
        (void)interp_refuse(d->in, op, "has too many dimensions");
        return NULL;
    }
    MemrefShape *info = INTERP_INFO(d, MemrefShape);
    int64_t *strides = INTERP_ARRAY(d, int64_t, type->rank + 1);
    info->rank = type->rank;
    info->elem_bytes = ir_type_bytes(type->elem);
    info->static_sizes = type->shape;
    ir_memref_strides(type, strides, &info->static_offset);
    info->static_strides = strides;
    return info;
}

static bool run_alloc(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    InterpView *view = interp_view(frame, inst->dst);
    interp_mixed_get(&info->sizes, frame, view->dims);
    if (!interp_tensor_new(in, inst->op, view, info->rank, info->elem_bytes, false)) return false;
    if (info->is_alloca) {
        view->buffer->next_alloca = in->call->allocas;
        in->call->allocas = view->buffer;
    }
    return true;
}

bool interp_decode_alloc(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type;
    MemrefShape *info = shape_new(d, op, type);
    if (!info || !interp_mixed_of_type(d, op, type, 0, op->num_operands, &info->sizes))
        return false;
    if (type->has_layout) return interp_refuse(d->in, op, "allocates with a strided layout");
    info->is_alloca = op->kind == IR_MEMREF_ALLOCA;
    InterpInst *inst = interp_emit(d, op, run_alloc);
    inst->info = info;
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_dealloc(Interp *in, const InterpInst *inst, uint64_t *frame) {
    InterpBuffer *buffer = interp_view(frame, inst->src[0])->buffer;
    if (buffer->is_freed) return interp_fault(in, inst->op, "deallocates twice");
    if (buffer->is_borrowed) return interp_fault(in, inst->op, "deallocates an argument's memory");
    interp_buffer_free(in, buffer);
    return true;
}

bool interp_decode_dealloc(InterpDecoder *d, const IrOp *op) {
    interp_emit(d, op, run_dealloc)->src[0] = interp_slot(d, ir_op_operand(op, 0));
    return true;
}

// ---------------------------------------------------------------- views

// Does a view with these sizes and strides fit the static part of its type?
static bool check_layout(Interp *in, const IrOp *op, const MemrefShape *info,
                         const InterpView *view) {
    if (!interp_check_sizes(in, op, info->static_sizes, view->dims, info->rank)) return false;
    bool is_good = info->static_offset == IR_DYNAMIC || info->static_offset == view->offset;
    for (uint32_t i = 0; i < info->rank; i++) {
        is_good = is_good && (info->static_strides[i] == IR_DYNAMIC || view->dims[i] == 1 ||
                              info->static_strides[i] == view->dims[info->rank + i]);
    }
    return is_good ||
           interp_fault(in, op, "has other strides or another offset than its type says");
}

static bool run_view(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    int64_t at = (int64_t)frame[inst->src[1]], len;
    interp_mixed_get(&info->sizes, frame, dst->dims);
    if (!interp_shape_bytes(dst->dims, info->rank, info->elem_bytes, &len) || at < 0 ||
        len > src->dims[0] || at > src->dims[0] - len) {
        return interp_fault(in, inst->op, "views byte %lld and on of %lld bytes", (long long)at,
                            (long long)src->dims[0]);
    }
    dst->buffer = src->buffer;
    dst->base_bytes = src->base_bytes + src->offset + at;
    dst->offset = 0;
    if (dst->base_bytes % info->elem_bytes) {
        return interp_fault(in, inst->op,
                            "views byte %lld, not a multiple of its element's %u bytes",
                            (long long)at, info->elem_bytes);
    }
    dst->view_id = src->view_id || !src->buffer->writer ? src->view_id : info->view_id;
    interp_view_set_strides(dst, info->rank);
    return true;
}

bool interp_decode_view(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type;
    MemrefShape *info = shape_new(d, op, type);
    if (!info || !interp_mixed_of_type(d, op, type, ir_op_segment_start(op, 2), op->segments[2],
                                       &info->sizes)) {
        return false;
    }
    info->view_id = ++d->in->next_view_id;
    InterpInst *inst = interp_emit(d, op, run_view);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, ir_op_segment_start(op, 1)));
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_subview(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    InterpSliceValues at;
    if (!interp_slice_get(in, inst->op, &info->slice, frame, src->dims, &at)) return false;
    dst->buffer = src->buffer;
    dst->base_bytes = src->base_bytes;
    dst->offset = src->offset;
    dst->view_id = src->view_id;
    for (uint32_t i = 0, kept = 0; i < info->src_rank; i++) {
        int64_t stride = src->dims[info->src_rank + i];
        dst->offset += interp_mul(at.offsets[i], stride);
        if (!info->slice.keep[i]) continue;
        dst->dims[kept] = at.sizes[i];
        dst->dims[info->rank + kept++] = interp_mul(at.strides[i], stride);
    }
    return check_layout(in, inst->op, info, dst);
}

bool interp_decode_subview(InterpDecoder *d, const IrOp *op) {
    const IrType *src = ir_op_operand(op, 0)->type, *type = op->results[0].type;
    MemrefShape *info = shape_new(d, op, type);
    if (!info || !interp_slice_new(d, op, &info->slice)) return false;
    if (info->slice.sizes.count != src->rank || type->rank > src->rank) {
        return interp_refuse(d->in, op, "has offsets that do not fit its source");
    }
    info->src_rank = src->rank;
    interp_slice_keep(d, type, &info->slice);
    InterpInst *inst = interp_emit(d, op, run_subview);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_reinterpret_cast(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    dst->buffer = src->buffer;
    dst->base_bytes = src->base_bytes;
    dst->view_id = src->view_id;
    interp_mixed_get(&info->offsets, frame, &dst->offset);
    interp_mixed_get(&info->sizes, frame, dst->dims);
    interp_mixed_get(&info->strides, frame, dst->dims + info->rank);
    // Every element must lie in the buffer.
    __int128 low = dst->offset, high = dst->offset;
    bool is_empty = false;
    for (uint32_t i = 0; i < info->rank; i++) {
        __int128 span = (__int128)(dst->dims[i] - 1) * dst->dims[info->rank + i];
        is_empty = is_empty || dst->dims[i] == 0;
        if (dst->dims[i] < 0) return interp_fault(in, inst->op, "has a negative size");
        if (span > 0)
            high += span;
        else
            low += span;
    }
    low = low * info->elem_bytes + dst->base_bytes;
    high = (high + 1) * info->elem_bytes + dst->base_bytes;
    if (!is_empty && (low < 0 || high > (__int128)dst->buffer->len_bytes)) {
        return interp_fault(in, inst->op, "reaches outside of the buffer of %llu bytes",
                            (unsigned long long)dst->buffer->len_bytes);
    }
    return check_layout(in, inst->op, info, dst);
}

bool interp_decode_reinterpret_cast(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type;
    MemrefShape *info = shape_new(d, op, type);
    if (!info ||
        !interp_mixed_new(d, op, "static_offsets", ir_op_segment_start(op, 1), op->segments[1],
                          &info->offsets) ||
        !interp_mixed_new(d, op, "static_sizes", ir_op_segment_start(op, 2), op->segments[2],
                          &info->sizes) ||
        !interp_mixed_new(d, op, "static_strides", ir_op_segment_start(op, 3), op->segments[3],
                          &info->strides)) {
        return false;
    }
    if (info->offsets.count != 1 || info->sizes.count != type->rank ||
        info->strides.count != type->rank) {
        return interp_refuse(d->in, op, "has sizes that do not fit its type");
    }
    InterpInst *inst = interp_emit(d, op, run_reinterpret_cast);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_memref_cast(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    memcpy(frame + inst->dst, frame + inst->src[0], inst->lanes * sizeof *frame);
    return check_layout(in, inst->op, info, interp_view(frame, inst->dst));
}

// memref.cast, memref.assume_alignment
bool interp_decode_memref_cast(InterpDecoder *d, const IrOp *op) {
    if (!op->num_results || op->results[0].type->kind == IR_TYPE_UNRANKED_MEMREF) return true;
    const IrType *type = op->results[0].type;
    MemrefShape *info = shape_new(d, op, type);
    if (!info) return false;
    if (ir_op_operand(op, 0)->type->rank != type->rank) {
        return interp_refuse(d->in, op, "changes the rank");
    }
    InterpInst *inst = interp_emit(d, op, run_memref_cast);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->lanes = (uint32_t)interp_type_words(type);
    inst->dst = interp_result(d, op, 0);
    return true;
}

// Strides of a collapsed group: that of its innermost dimension of more than one element, or the
// outermost one's; the others must continue it.
static bool run_memref_collapse(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    const int64_t *strides = src->dims + info->src_rank;
    memcpy(dst, src, offsetof(InterpView, dims));
    if (!interp_collapsed_sizes(in, inst->op, src->dims, info->src_rank, info->group_of, dst->dims,
                                info->rank)) {
        return false;
    }
    for (uint32_t g = 0; g < info->rank; g++) dst->dims[info->rank + g] = 1;
    int64_t next = 0; // what the next outer stride must be
    bool has_stride = false;
    for (uint32_t i = info->src_rank; info->rank && i-- > 0;) {
        uint32_t group = info->group_of[i];
        bool is_innermost = i + 1 == info->src_rank || info->group_of[i + 1] != group;
        bool is_outermost = i == 0 || info->group_of[i - 1] != group;
        if (is_innermost) has_stride = false;
        if (!has_stride && (is_outermost || src->dims[i] != 1)) {
            dst->dims[info->rank + group] = next = strides[i];
            has_stride = true;
        } else if (src->dims[i] != 1 && strides[i] != next) {
            return interp_fault(in, inst->op, "collapses dimensions that are not contiguous");
        }
        if (has_stride) next = interp_mul(next, src->dims[i]);
    }
    return check_layout(in, inst->op, info, dst);
}

static bool run_memref_expand(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    int64_t products[INTERP_MAX_RANK];
    memcpy(dst, src, offsetof(InterpView, dims));
    interp_mixed_get(&info->sizes, frame, dst->dims);
    if (!interp_collapsed_sizes(in, inst->op, dst->dims, info->rank, info->group_of, products,
                                info->src_rank) ||
        !interp_check_sizes(in, inst->op, products, src->dims, info->src_rank)) {
        return false;
    }
    int64_t stride = 1;
    for (uint32_t i = info->rank; i-- > 0;) {
        bool is_innermost = i + 1 == info->rank || info->group_of[i + 1] != info->group_of[i];
        if (is_innermost && info->src_rank) stride = src->dims[info->src_rank + info->group_of[i]];
        dst->dims[info->rank + i] = stride;
        stride = interp_mul(stride, dst->dims[i]);
    }
    return check_layout(in, inst->op, info, dst);
}

bool interp_decode_memref_reshape(InterpDecoder *d, const IrOp *op) {
    const IrType *src = ir_op_operand(op, 0)->type, *type = op->results[0].type;
    bool is_expand = op->kind == IR_MEMREF_EXPAND_SHAPE;
    MemrefShape *info = shape_new(d, op, type);
    if (!info) return false;
    info->src_rank = src->rank;
    info->group_of = is_expand ? interp_groups(d, op, type->rank, src->rank)
                               : interp_groups(d, op, src->rank, type->rank);
    if (!info->group_of) return false;
    if (is_expand &&
        (!interp_mixed_new(d, op, "static_output_shape", 1, op->num_operands - 1, &info->sizes) ||
         info->sizes.count != type->rank)) {
        return interp_refuse(d->in, op, "has no usable output shape");
    }
    InterpInst *inst = interp_emit(d, op, is_expand ? run_memref_expand : run_memref_collapse);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- whole buffers

// Positions of the first and behind the last byte of a view; a fault if they leave the buffer.
static bool view_extent(Interp *in, const IrOp *op, const InterpView *view, uint32_t rank,
                        uint32_t elem_bytes) {
    int64_t low = view->offset, high = view->offset;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t span = (view->dims[i] - 1) * view->dims[rank + i];
        if (view->dims[i] == 0) return true;
        if (span > 0)
            high += span;
        else
            low += span;
    }
    low = view->base_bytes + low * elem_bytes;
    high = view->base_bytes + (high + 1) * elem_bytes;
    if (view->buffer->is_freed) return interp_fault(in, op, "accesses memory that was deallocated");
    if (low >= 0 && (uint64_t)high <= view->buffer->len_bytes) return true;
    return interp_fault(in, op, "accesses bytes %lld to %lld of a buffer of %llu bytes",
                        (long long)low, (long long)high - 1,
                        (unsigned long long)view->buffer->len_bytes);
}

bool interp_view_copy(Interp *in, const IrOp *op, const InterpView *src, const InterpView *dst,
                      uint32_t rank, uint32_t elem_bytes) {
    if (!interp_check_sizes(in, op, dst->dims, src->dims, rank) ||
        !view_extent(in, op, src, rank, elem_bytes) ||
        !view_extent(in, op, dst, rank, elem_bytes)) {
        return false;
    }
    return interp_copy_nd(in, op, dst->buffer, dst->view_id,
                          dst->base_bytes + dst->offset * elem_bytes, dst->dims + rank, src->buffer,
                          src->base_bytes + src->offset * elem_bytes, src->dims + rank, src->dims,
                          rank, elem_bytes);
}

static bool run_memref_copy(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    return interp_view_copy(in, inst->op, interp_view(frame, inst->src[0]),
                            interp_view(frame, inst->src[1]), info->rank, info->elem_bytes);
}

bool interp_decode_memref_copy(InterpDecoder *d, const IrOp *op) {
    MemrefShape *info = shape_new(d, op, ir_op_operand(op, 0)->type);
    if (!info) return false;
    InterpInst *inst = interp_emit(d, op, run_memref_copy);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    return true;
}

// The buffer of a memref.global is made at its first use.
static bool global_buffer(Interp *in, const IrOp *at, const IrOp *global, const IrType *type,
                          InterpBuffer **out) {
    if (!in->globals[global->index]) {
        int64_t len;
        if (!interp_shape_bytes(type->shape, type->rank, ir_type_bytes(type->elem), &len)) {
            return interp_refuse(in, global, "has a dynamic or too large type");
        }
        const IrAttr *value = ir_op_attr(global, "initial_value");
        bool has_value = value && value->kind == IR_ATTR_DENSE;
        if (!value) return interp_refuse(in, at, "reads a global of another module");
        InterpBuffer *buffer = interp_buffer_new(in, at, (uint64_t)len, has_value);
        if (!buffer) return false;
        if (has_value) interp_dense_store(value, type, buffer->data);
        in->globals[global->index] = buffer;
    }
    *out = in->globals[global->index];
    return true;
}

static bool run_get_global(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const IrType *type = inst->op->results[0].type;
    InterpView *view = interp_view(frame, inst->dst);
    memset(view, 0, offsetof(InterpView, dims));
    memcpy(view->dims, type->shape, type->rank * sizeof *view->dims);
    interp_view_set_strides(view, type->rank);
    return global_buffer(in, inst->op, inst->info, type, &view->buffer);
}

bool interp_decode_get_global(InterpDecoder *d, const IrOp *op) {
    const IrAttr *name = ir_op_attr(op, "name");
    const IrOp *global =
        name && name->kind == IR_ATTR_SYMBOL ? ir_symbol_find(d->in->module, name->str) : NULL;
    if (!global || global->kind != IR_MEMREF_GLOBAL)
        return interp_refuse(d->in, op, "has no global");
    if (!shape_new(d, op, op->results[0].type)) return false;
    InterpInst *inst = interp_emit(d, op, run_get_global);
    inst->info = global;
    inst->dst = interp_result(d, op, 0);
    return true;
}

// A tensor is a dense copy of the buffer and the other way round.
static bool run_bridge(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const MemrefShape *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    memcpy(dst->dims, src->dims, info->rank * sizeof *dst->dims);
    return interp_tensor_new(in, inst->op, dst, info->rank, info->elem_bytes, true) &&
           interp_view_copy(in, inst->op, src, dst, info->rank, info->elem_bytes);
}

static bool decode_bridge(InterpDecoder *d, const IrOp *op, const IrType *memref) {
    MemrefShape *info = shape_new(d, op, memref);
    if (!info) return false;
    InterpInst *inst = interp_emit(d, op, run_bridge);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

bool interp_decode_to_tensor(InterpDecoder *d, const IrOp *op) {
    return decode_bridge(d, op, ir_op_operand(op, 0)->type);
}
bool interp_decode_to_buffer(InterpDecoder *d, const IrOp *op) {
    return decode_bridge(d, op, op->results[0].type);
}
