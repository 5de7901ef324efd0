// The interpreter's tensor operations. Tensors are dense, so a slice is a copy and a reshape
// shares.
#include "ir/interp_decoders.h"

// ---------------------------------------------------------------- numbers that are static or
// operands

bool interp_mixed_new(InterpDecoder *d, const IrOp *op, const char *name, uint32_t first_operand,
                      uint32_t num_operands, InterpMixed *out) {
    const IrAttr *attr = ir_op_attr(op, name);
    if (!attr || attr->kind != IR_ATTR_DENSE_ARRAY || attr->num_values > INTERP_MAX_RANK) {
        return interp_refuse(d->in, op, "has no usable attribute %s", name);
    }
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, attr->num_values + 1);
    uint32_t used = 0;
    for (size_t i = 0; i < attr->num_values; i++) {
        slots[i] = INTERP_NO_SLOT;
        if (attr->values[i] != IR_DYNAMIC) continue;
        if (used == num_operands) return interp_refuse(d->in, op, "lacks an operand for %s", name);
        slots[i] = interp_slot(d, ir_op_operand(op, first_operand + used++));
    }
    out->count = (uint32_t)attr->num_values;
    out->values = attr->values;
    out->slots = slots;
    return true;
}

void interp_mixed_get(const InterpMixed *mixed, const uint64_t *frame, int64_t *out) {
    for (uint32_t i = 0; i < mixed->count; i++) {
        bool is_static = mixed->slots[i] == INTERP_NO_SLOT;
        out[i] = is_static ? mixed->values[i] : (int64_t)frame[mixed->slots[i]];
    }
}

// Sizes of a type, the dynamic ones from consecutive operands.
bool interp_mixed_of_type(InterpDecoder *d, const IrOp *op, const IrType *type,
                          uint32_t first_operand, uint32_t num_operands, InterpMixed *out) {
    if (type->rank > INTERP_MAX_RANK) return interp_refuse(d->in, op, "has too many dimensions");
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, type->rank + 1);
    uint32_t used = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        slots[i] = INTERP_NO_SLOT;
        if (type->shape[i] != IR_DYNAMIC) continue;
        if (used == num_operands) return interp_refuse(d->in, op, "lacks an operand for a size");
        slots[i] = interp_slot(d, ir_op_operand(op, first_operand + used++));
    }
    out->count = type->rank;
    out->values = type->shape;
    out->slots = slots;
    return true;
}

// ---------------------------------------------------------------- sharing and slices

// Makes dst a view of src's buffer: takes src's reference over, or adds one.
static void tensor_share(InterpView *dst, InterpView *src, bool is_consumed) {
    dst->buffer = src->buffer;
    dst->base_bytes = 0;
    dst->offset = 0;
    dst->view_id = 0;
    if (is_consumed)
        src->buffer = NULL;
    else
        dst->buffer->refs++;
}

bool interp_copy_nd(Interp *in, const IrOp *op, InterpBuffer *dst, uint64_t dst_view,
                    int64_t dst_at, const int64_t *dst_strides, const InterpBuffer *src,
                    int64_t src_at, const int64_t *src_strides, const int64_t *sizes, uint32_t rank,
                    uint32_t elem_bytes) {
    int64_t count; // strides may be 0: far more elements than bytes are there
    if (!interp_shape_bytes(sizes, rank, 1, &count)) count = INT64_MAX;
    if (!count) return true;
    if (!interp_count(in, op, (uint64_t)count)) return false;
    // Innermost dimensions that are contiguous on both sides are one run.
    int64_t run = elem_bytes;
    while (rank && dst_strides[rank - 1] * (int64_t)elem_bytes == run &&
           src_strides[rank - 1] * (int64_t)elem_bytes == run) {
        run *= sizes[--rank];
    }
    int64_t index[INTERP_MAX_RANK] = {0};
    for (;;) {
        if (!interp_copy_bytes(in, op, dst, dst_view, dst_at, src, src_at, run)) return false;
        uint32_t i = rank;
        for (; i-- > 0;) {
            dst_at += dst_strides[i] * elem_bytes;
            src_at += src_strides[i] * elem_bytes;
            if (++index[i] < sizes[i]) break;
            dst_at -= dst_strides[i] * elem_bytes * sizes[i];
            src_at -= src_strides[i] * elem_bytes * sizes[i];
            index[i] = 0;
        }
        if (i == UINT32_MAX) return true;
    }
}

bool interp_slice_new(InterpDecoder *d, const IrOp *op, InterpSlice *slice) {
    uint32_t at[IR_MAX_SEGMENTS];
    for (uint32_t s = 0; s < IR_MAX_SEGMENTS; s++) at[s] = ir_op_segment_start(op, s);
    return interp_mixed_new(d, op, "static_offsets", at[1], op->segments[1], &slice->offsets) &&
           interp_mixed_new(d, op, "static_sizes", at[2], op->segments[2], &slice->sizes) &&
           interp_mixed_new(d, op, "static_strides", at[3], op->segments[3], &slice->strides);
}

bool interp_slice_get(Interp *in, const IrOp *op, const InterpSlice *slice, const uint64_t *frame,
                      const int64_t *dims, InterpSliceValues *out) {
    interp_mixed_get(&slice->offsets, frame, out->offsets);
    interp_mixed_get(&slice->sizes, frame, out->sizes);
    interp_mixed_get(&slice->strides, frame, out->strides);
    for (uint32_t i = 0; i < slice->sizes.count; i++) {
        int64_t last = 0;
        bool is_bad = out->offsets[i] < 0 || out->sizes[i] < 0 ||
                      out->offsets[i] > dims[i] - (out->sizes[i] > 0);
        if (!is_bad && out->sizes[i]) {
            is_bad = __builtin_mul_overflow(out->sizes[i] - 1, out->strides[i], &last) ||
                     __builtin_add_overflow(last, out->offsets[i], &last) || last < 0 ||
                     last >= dims[i];
        }
        if (is_bad) {
            return interp_fault_of(in, op, FAULT_SLICE, out->offsets[i],
                                   (InterpNumbers){{i, out->sizes[i], out->strides[i], dims[i]}},
                                   "");
        }
    }
    return true;
}

void interp_slice_keep(InterpDecoder *d, const IrType *reduced, InterpSlice *slice) {
    uint8_t *keep = INTERP_ARRAY(d, uint8_t, slice->sizes.count + 1);
    uint32_t at = 0, to_drop = slice->sizes.count - MIN(reduced->rank, slice->sizes.count);
    for (uint32_t i = 0; i < slice->sizes.count; i++) {
        bool fits = at < reduced->rank && (slice->sizes.values[i] == reduced->shape[at]);
        if (!fits && to_drop && slice->sizes.values[i] == 1) {
            to_drop--;
            continue;
        }
        keep[i] = 1;
        at++;
    }
    slice->keep = keep;
    slice->kept_rank = reduced->rank;
}

typedef struct TensorSlice {
    InterpSlice slice;
    uint32_t rank, elem_bytes;
    bool is_consumed; // insertion: the destination's reference is taken over
} TensorSlice;

static bool run_extract_slice(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorSlice *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    InterpSliceValues at;
    if (!interp_slice_get(in, inst->op, &info->slice, frame, src->dims, &at)) return false;
    int64_t src_at = 0, strides[INTERP_MAX_RANK], dense[INTERP_MAX_RANK];
    int64_t stride = 1;
    for (uint32_t i = info->rank, kept = info->slice.kept_rank; i-- > 0;) {
        int64_t src_stride = src->dims[info->rank + i];
        src_at += at.offsets[i] * src_stride * info->elem_bytes;
        strides[i] = at.strides[i] * src_stride;
        dense[i] = stride;
        stride *= at.sizes[i];
        if (info->slice.keep[i]) dst->dims[--kept] = at.sizes[i];
    }
    if (!interp_tensor_new(in, inst->op, dst, info->slice.kept_rank, info->elem_bytes, true)) {
        return false;
    }
    return interp_copy_nd(in, inst->op, dst->buffer, 0, 0, dense, src->buffer, src_at, strides,
                          at.sizes, info->rank, info->elem_bytes);
}

bool interp_decode_extract_slice(InterpDecoder *d, const IrOp *op) {
    TensorSlice *info = INTERP_INFO(d, TensorSlice);
    const IrType *type = ir_op_operand(op, 0)->type, *result = op->results[0].type;
    if (!interp_slice_new(d, op, &info->slice)) return false;
    info->rank = type->rank;
    info->elem_bytes = ir_type_bytes(type->elem);
    if (info->slice.sizes.count != type->rank || result->rank > type->rank) {
        return interp_refuse(d->in, op, "has offsets that do not fit its source");
    }
    interp_slice_keep(d, result, &info->slice);
    InterpInst *inst = interp_emit(d, op, run_extract_slice);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

// Copies src into the window of dst; dst has a sole owner.
static bool insert_slice(Interp *in, const InterpInst *inst, const TensorSlice *info,
                         uint64_t *frame, const InterpView *src, InterpView *dst) {
    InterpSliceValues at;
    if (!interp_slice_get(in, inst->op, &info->slice, frame, dst->dims, &at)) return false;
    int64_t dst_at = 0, strides[INTERP_MAX_RANK], dense[INTERP_MAX_RANK];
    int64_t stride = 1;
    for (uint32_t i = info->rank, kept = info->slice.kept_rank; i-- > 0;) {
        int64_t dst_stride = dst->dims[info->rank + i];
        dst_at += at.offsets[i] * dst_stride * info->elem_bytes;
        strides[i] = at.strides[i] * dst_stride;
        dense[i] = stride;
        stride *= at.sizes[i];
        if (info->slice.keep[i] && src->dims[--kept] != at.sizes[i]) {
            return interp_fault(in, inst->op, "inserts size %lld where the window has %lld",
                                (long long)src->dims[kept], (long long)at.sizes[i]);
        }
    }
    return interp_copy_nd(in, inst->op, dst->buffer, 0, dst_at, strides, src->buffer, 0, dense,
                          at.sizes, info->rank, info->elem_bytes);
}

static bool run_insert_slice(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorSlice *info = inst->info;
    InterpView *old = interp_view(frame, inst->src[1]), *dst = interp_view(frame, inst->dst);
    memcpy(dst->dims, old->dims, 2 * info->rank * sizeof *dst->dims);
    tensor_share(dst, old, info->is_consumed);
    return interp_buffer_own(in, inst->op, &dst->buffer) &&
           insert_slice(in, inst, info, frame, interp_view(frame, inst->src[0]), dst);
}

// The destination is the forall's own copy of the shared tensor.
static bool run_parallel_insert_slice(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorSlice *info = inst->info;
    InterpView *dst = interp_view(frame, inst->dst);
    return interp_buffer_own(in, inst->op, &dst->buffer) &&
           insert_slice(in, inst, info, frame, interp_view(frame, inst->src[0]), dst);
}

static InterpInst *decode_insert(InterpDecoder *d, const IrOp *op, InterpRun run) {
    TensorSlice *info = INTERP_INFO(d, TensorSlice);
    const IrType *src = ir_op_operand(op, 0)->type, *dst = ir_op_operand(op, 1)->type;
    if (!interp_slice_new(d, op, &info->slice)) return NULL;
    info->rank = dst->rank;
    info->elem_bytes = ir_type_bytes(dst->elem);
    if (info->slice.sizes.count != dst->rank || src->rank > dst->rank) {
        (void)interp_refuse(d->in, op, "has offsets that do not fit its destination");
        return NULL;
    }
    interp_slice_keep(d, src, &info->slice);
    info->is_consumed = interp_consumes(d, op, 1);
    InterpInst *inst = interp_emit(d, op, run);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    return inst;
}

bool interp_decode_insert_slice(InterpDecoder *d, const IrOp *op) {
    InterpInst *inst = decode_insert(d, op, run_insert_slice);
    if (!inst) return false;
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->dst = interp_result(d, op, 0);
    return true;
}

bool interp_decode_parallel_insert(InterpDecoder *d, const IrOp *op, uint32_t dst) {
    InterpInst *inst = decode_insert(d, op, run_parallel_insert_slice);
    if (inst) inst->dst = dst;
    return inst != NULL;
}

// ---------------------------------------------------------------- empty, dim, cast, reshape

typedef struct TensorShape {
    InterpMixed sizes;
    uint32_t rank, src_rank, elem_bytes;
    const int64_t *static_sizes; // cast: what the result's type promises
    const uint32_t *group_of;    // collapse: result dimension of each source dimension
    bool is_consumed;
} TensorShape;

static bool run_empty(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorShape *info = inst->info;
    InterpView *dst = interp_view(frame, inst->dst);
    interp_mixed_get(&info->sizes, frame, dst->dims);
    return interp_tensor_new(in, inst->op, dst, info->rank, info->elem_bytes, false);
}

bool interp_decode_tensor_empty(InterpDecoder *d, const IrOp *op) {
    TensorShape *info = INTERP_INFO(d, TensorShape);
    const IrType *type = op->results[0].type;
    if (!interp_mixed_of_type(d, op, type, 0, op->num_operands, &info->sizes)) return false;
    info->rank = type->rank;
    info->elem_bytes = ir_type_bytes(type->elem);
    InterpInst *inst = interp_emit(d, op, run_empty);
    inst->info = info;
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_dim(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpView *view = interp_view(frame, inst->src[0]);
    uint64_t index = frame[inst->src[1]];
    if (index >= inst->width) {
        return interp_fault(in, inst->op, "asks for dimension %lld of %u", (long long)index,
                            inst->width);
    }
    frame[inst->dst] = (uint64_t)view->dims[index];
    return true;
}

bool interp_decode_dim(InterpDecoder *d, const IrOp *op) {
    const IrType *type = ir_op_operand(op, 0)->type;
    if (!interp_is_view(type)) return interp_refuse(d->in, op, "needs a ranked operand");
    InterpInst *inst = interp_emit(d, op, run_dim);
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->width = type->rank;
    inst->dst = interp_result(d, op, 0);
    return true;
}

bool interp_check_sizes(Interp *in, const IrOp *op, const int64_t *want, const int64_t *have,
                        uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++) {
        if (want[i] == IR_DYNAMIC || want[i] == have[i]) continue;
        return interp_fault(in, op, "dimension %u has size %lld, its type says %lld", i,
                            (long long)have[i], (long long)want[i]);
    }
    return true;
}

static bool run_tensor_cast(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorShape *info = inst->info;
    InterpView *src = interp_view(frame, inst->src[0]), *dst = interp_view(frame, inst->dst);
    if (!interp_check_sizes(in, inst->op, info->static_sizes, src->dims, info->rank)) return false;
    memcpy(dst->dims, src->dims, 2 * info->rank * sizeof *dst->dims);
    tensor_share(dst, src, info->is_consumed);
    return true;
}

bool interp_decode_tensor_cast(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type;
    // To an unranked type: only in front of a print call, which takes the operand of the cast.
    if (type->kind == IR_TYPE_UNRANKED_TENSOR) return true;
    if (ir_op_operand(op, 0)->type->rank != type->rank) {
        return interp_refuse(d->in, op, "changes the rank");
    }
    TensorShape *info = INTERP_INFO(d, TensorShape);
    info->rank = type->rank;
    info->static_sizes = type->shape;
    info->is_consumed = interp_consumes(d, op, 0);
    InterpInst *inst = interp_emit(d, op, run_tensor_cast);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

const uint32_t *interp_groups(InterpDecoder *d, const IrOp *op, uint32_t expanded_rank,
                              uint32_t collapsed_rank) {
    const IrAttr *attr = ir_op_attr(op, "reassociation");
    uint32_t *group_of = INTERP_ARRAY(d, uint32_t, expanded_rank + 1);
    uint32_t next = 0;
    bool is_good = attr && attr->kind == IR_ATTR_ARRAY && attr->num_elems == collapsed_rank;
    for (uint32_t g = 0; is_good && g < collapsed_rank; g++) {
        const IrAttr *group = attr->elems[g];
        size_t num = group->kind == IR_ATTR_ARRAY         ? group->num_elems
                     : group->kind == IR_ATTR_DENSE_ARRAY ? group->num_values
                                                          : 0;
        for (size_t i = 0; is_good && i < num; i++, next++) {
            int64_t dim = group->kind == IR_ATTR_ARRAY ? group->elems[i]->i : group->values[i];
            is_good = next < expanded_rank && dim == (int64_t)next;
            if (is_good) group_of[next] = g;
        }
    }
    if (is_good && (next == expanded_rank || !collapsed_rank)) return group_of;
    (void)interp_refuse(d->in, op, "has a reassociation that does not fit its types");
    return NULL;
}

bool interp_collapsed_sizes(Interp *in, const IrOp *op, const int64_t *sizes, uint32_t rank,
                            const uint32_t *group_of, int64_t *out, uint32_t out_rank) {
    for (uint32_t g = 0; g < out_rank; g++) out[g] = 1;
    for (uint32_t i = 0; out_rank && i < rank; i++) {
        if (__builtin_mul_overflow(out[group_of[i]], sizes[i], &out[group_of[i]])) {
            return interp_fault(in, op, "has more than 2^63 elements");
        }
    }
    return true;
}

static bool run_collapse(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorShape *info = inst->info;
    InterpView *src = interp_view(frame, inst->src[0]), *dst = interp_view(frame, inst->dst);
    if (!interp_collapsed_sizes(in, inst->op, src->dims, info->src_rank, info->group_of, dst->dims,
                                info->rank)) {
        return false;
    }
    interp_view_set_strides(dst, info->rank);
    tensor_share(dst, src, info->is_consumed);
    return true;
}

static bool run_expand(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorShape *info = inst->info;
    InterpView *src = interp_view(frame, inst->src[0]), *dst = interp_view(frame, inst->dst);
    int64_t products[INTERP_MAX_RANK];
    interp_mixed_get(&info->sizes, frame, dst->dims);
    if (!interp_collapsed_sizes(in, inst->op, dst->dims, info->rank, info->group_of, products,
                                info->src_rank) ||
        !interp_check_sizes(in, inst->op, products, src->dims, info->src_rank)) {
        return false;
    }
    interp_view_set_strides(dst, info->rank);
    tensor_share(dst, src, info->is_consumed);
    return true;
}

bool interp_decode_tensor_reshape(InterpDecoder *d, const IrOp *op) {
    const IrType *src = ir_op_operand(op, 0)->type, *dst = op->results[0].type;
    bool is_expand = op->kind == IR_TENSOR_EXPAND_SHAPE;
    if (MAX(src->rank, dst->rank) > INTERP_MAX_RANK) {
        return interp_refuse(d->in, op, "has too many dimensions");
    }
    TensorShape *info = INTERP_INFO(d, TensorShape);
    info->rank = dst->rank;
    info->src_rank = src->rank;
    info->group_of = is_expand ? interp_groups(d, op, dst->rank, src->rank)
                               : interp_groups(d, op, src->rank, dst->rank);
    if (!info->group_of) return false;
    if (is_expand &&
        (!interp_mixed_new(d, op, "static_output_shape", 1, op->num_operands - 1, &info->sizes) ||
         info->sizes.count != dst->rank)) {
        return interp_refuse(d->in, op, "has no usable output shape");
    }
    info->is_consumed = interp_consumes(d, op, 0);
    InterpInst *inst = interp_emit(d, op, is_expand ? run_expand : run_collapse);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- elements

static bool run_extract(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpElement *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    int64_t at;
    if (!interp_element_at(in, inst->op, info, src, frame, &at) ||
        !interp_check_read(in, inst->op, src->buffer, src->view_id, at, info->elem_bytes)) {
        return false;
    }
    frame[inst->dst] = interp_load(info->mem, src->buffer->data + at);
    return true;
}

bool interp_decode_extract(InterpDecoder *d, const IrOp *op) {
    const InterpElement *info = interp_element_new(d, op, 0, 1, op->num_operands - 1);
    if (!info) return false;
    InterpInst *inst = interp_emit(d, op, run_extract);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_insert(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpElement *info = inst->info;
    InterpView *old = interp_view(frame, inst->src[1]), *dst = interp_view(frame, inst->dst);
    int64_t at;
    if (!interp_element_at(in, inst->op, info, old, frame, &at)) return false;
    memcpy(dst->dims, old->dims, 2 * info->rank * sizeof *dst->dims);
    tensor_share(dst, old, inst->width);
    if (!interp_buffer_own(in, inst->op, &dst->buffer) ||
        !interp_check_write(in, inst->op, dst->buffer, 0, at, info->elem_bytes)) {
        return false;
    }
    interp_store(info->mem, dst->buffer->data + at, frame[inst->src[0]]);
    return true;
}

bool interp_decode_insert(InterpDecoder *d, const IrOp *op) {
    const InterpElement *info = interp_element_new(d, op, 1, 2, op->num_operands - 2);
    if (!info) return false;
    InterpInst *inst = interp_emit(d, op, run_insert);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->width = interp_consumes(d, op, 1);
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- pad

typedef struct TensorPad {
    InterpMixed low, high;
    InterpBlock *body;
    const int64_t *static_sizes;
    uint32_t rank, elem_bytes;
    InterpMem mem;
} TensorPad;

// Runs the region at every padded position of dst; the window [low, low + src size) is skipped.
static bool fill_padding(Interp *in, const InterpInst *inst, uint64_t *frame, const int64_t *low,
                         const InterpView *src, InterpView *dst) {
    const TensorPad *info = inst->info;
    int64_t index[INTERP_MAX_RANK] = {0};
    int64_t total;
    if (!interp_shape_bytes(dst->dims, info->rank, 1, &total)) return false;
    if (!interp_count(in, inst->op, (uint64_t)total)) return false;
    for (int64_t n = 0; n < total; n++) {
        bool is_inside = true;
        for (uint32_t i = 0; i < info->rank; i++) {
            is_inside = is_inside && index[i] >= low[i] && index[i] < low[i] + src->dims[i];
        }
        if (!is_inside) {
            for (uint32_t i = 0; i < info->rank; i++)
                frame[info->body->args[i]] = (uint64_t)index[i];
            if (!interp_run_block(in, info->body, frame)) return false;
            interp_store(info->mem, dst->buffer->data + n * info->elem_bytes,
                         frame[info->body->yields[0].from]);
        }
        for (uint32_t i = info->rank; i-- > 0;) {
            if (++index[i] < dst->dims[i]) break;
            index[i] = 0;
        }
    }
    return true;
}

static bool run_pad(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const TensorPad *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *dst = interp_view(frame, inst->dst);
    int64_t low[INTERP_MAX_RANK], high[INTERP_MAX_RANK], at = 0;
    interp_mixed_get(&info->low, frame, low);
    interp_mixed_get(&info->high, frame, high);
    for (uint32_t i = 0; i < info->rank; i++) {
        int64_t size;
        if (low[i] < 0 || high[i] < 0 || __builtin_add_overflow(src->dims[i], low[i], &size) ||
            __builtin_add_overflow(size, high[i], &size)) {
            return interp_fault(in, inst->op, "pads dimension %u by %lld and %lld", i,
                                (long long)low[i], (long long)high[i]);
        }
        dst->dims[i] = size;
    }
    if (!interp_check_sizes(in, inst->op, info->static_sizes, dst->dims, info->rank) ||
        !interp_tensor_new(in, inst->op, dst, info->rank, info->elem_bytes, true)) {
        return false;
    }
    for (uint32_t i = 0; i < info->rank; i++) at += low[i] * dst->dims[info->rank + i];
    return interp_copy_nd(in, inst->op, dst->buffer, 0, at * info->elem_bytes,
                          dst->dims + info->rank, src->buffer, 0, src->dims + info->rank, src->dims,
                          info->rank, info->elem_bytes) &&
           fill_padding(in, inst, frame, low, src, dst);
}

bool interp_decode_pad(InterpDecoder *d, const IrOp *op) {
    TensorPad *info = INTERP_INFO(d, TensorPad);
    const IrType *type = op->results[0].type;
    if (!interp_mixed_new(d, op, "static_low", ir_op_segment_start(op, 1), op->segments[1],
                          &info->low) ||
        !interp_mixed_new(d, op, "static_high", ir_op_segment_start(op, 2), op->segments[2],
                          &info->high)) {
        return false;
    }
    InterpInst *inst = interp_emit(d, op, run_pad);
    size_t at = d->block->num_insts - 1;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->info = info;
    info->rank = type->rank;
    info->static_sizes = type->shape;
    info->elem_bytes = ir_type_bytes(type->elem);
    info->mem = interp_mem(type->elem);
    info->body =
        op->num_regions && ir_op_block(op, 0) ? interp_decode_block(d, ir_op_block(op, 0)) : NULL;
    if (!info->body || info->body->num_args != type->rank || info->body->num_yields != 1 ||
        info->low.count != type->rank || info->high.count != type->rank) {
        return interp_refuse(d->in, op, "has a region or padding that does not fit its type");
    }
    uint32_t dst = interp_result(d, op, 0);
    d->block->insts[at].dst = dst;
    return true;
}
