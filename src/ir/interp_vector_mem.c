// Vector access to memory: load, store, masked ones, transfer_read, transfer_write, and the affine
// forms.
#include "ir/interp_decoders.h"

typedef struct VectorAccess {
    InterpElement element; // base and indices
    uint32_t lanes, num_dims;
    int64_t shape[INTERP_MAX_RANK]; // of the vector
    // Dimension of the memref each vector dimension runs along; INTERP_NO_SLOT: a broadcast one.
    uint32_t dim_of[INTERP_MAX_RANK];
    bool must_fit[INTERP_MAX_RANK]; // else lanes out of range are padding
    uint32_t mask,
        other; // places, INTERP_NO_SLOT: none; other: pass-through, or padding (one word)
    bool is_padding, is_poison;
} VectorAccess;

// Byte position of a lane; *out_is_inside false: beyond a dimension that may be left.
static bool lane_at(Interp *in, const InterpInst *inst, const VectorAccess *info,
                    const InterpView *view, const int64_t *base, const int64_t *lane,
                    bool *out_is_inside, int64_t *out_at) {
    int64_t index[INTERP_MAX_RANK];
    uint32_t rank = info->element.rank;
    memcpy(index, base, rank * sizeof *index);
    *out_is_inside = true;
    for (uint32_t v = 0; v < info->num_dims; v++) {
        uint32_t dim = info->dim_of[v];
        if (dim == INTERP_NO_SLOT) continue;
        index[dim] += lane[v];
        bool is_inside = index[dim] >= 0 && index[dim] < view->dims[dim];
        if (is_inside) continue;
        *out_is_inside = false;
        if (info->must_fit[v]) {
            return interp_fault(in, inst->op,
                                "lane index %lld is out of range for dimension %u of size "
                                "%lld",
                                (long long)index[dim], dim, (long long)view->dims[dim]);
        }
    }
    if (!*out_is_inside) return true;
    uint64_t at = (uint64_t)view->offset;
    for (uint32_t r = 0; r < rank; r++) {
        if (index[r] < 0 || index[r] >= view->dims[r]) {
            return interp_fault(in, inst->op,
                                "index %lld is out of range for dimension %u of size %lld",
                                (long long)index[r], r, (long long)view->dims[r]);
        }
        at += (uint64_t)interp_mul(index[r], view->dims[rank + r]);
    }
    *out_at = (int64_t)((uint64_t)view->base_bytes + at * info->element.elem_bytes);
    return true;
}

static bool access_lane(Interp *in, const InterpInst *inst, const VectorAccess *info,
                        const InterpView *view, uint64_t *word, int64_t at, bool is_write) {
    uint32_t len = info->element.elem_bytes;
    if (is_write) {
        if (!interp_check_write(in, inst->op, view->buffer, view->view_id, at, len)) return false;
        interp_store(info->element.mem, view->buffer->data + at, *word);
        return true;
    }
    if (!interp_check_read(in, inst->op, view->buffer, view->view_id, at, len)) return false;
    *word = interp_load(info->element.mem, view->buffer->data + at);
    return true;
}

// The value of a lane that is not read: pass-through, padding.
static bool pad_lane(Interp *in, const InterpInst *inst, const VectorAccess *info,
                     const uint64_t *frame, uint32_t l, bool is_outside, uint64_t *word) {
    if (info->is_poison && is_outside) {
        return interp_fault(in, inst->op, "lane %u is out of range and the padding is poison", l);
    }
    *word = frame[info->is_padding ? info->other : info->other + l];
    return true;
}

static bool run_lanes(Interp *in, const InterpInst *inst, const VectorAccess *info,
                      const InterpView *view, const int64_t *base, uint64_t *frame, bool is_write) {
    int64_t lane[INTERP_MAX_RANK] = {0};
    uint64_t *words = frame + inst->dst;
    for (uint32_t l = 0; l < info->lanes; l++) {
        bool is_on = info->mask == INTERP_NO_SLOT || frame[info->mask + l], is_inside = true;
        int64_t at = 0;
        if (is_on && !lane_at(in, inst, info, view, base, lane, &is_inside, &at)) return false;
        if (is_on && is_inside) {
            if (!access_lane(in, inst, info, view, &words[l], at, is_write)) return false;
        } else if (!is_write && !pad_lane(in, inst, info, frame, l, is_on, &words[l])) {
            return false;
        }
        for (uint32_t v = info->num_dims; v-- > 0;) {
            if (++lane[v] < info->shape[v]) break;
            lane[v] = 0;
        }
    }
    return true;
}

// The common case: one dimension, contiguous, all lanes in range: one check for all.
static bool is_plain_row(const VectorAccess *info, const InterpView *view, const int64_t *base) {
    uint32_t rank = info->element.rank;
    if (info->num_dims != 1 || info->mask != INTERP_NO_SLOT || info->dim_of[0] != rank - 1)
        return false;
    for (uint32_t r = 0; r + 1 < rank; r++) {
        if (base[r] < 0 || base[r] >= view->dims[r]) return false;
    }
    return base[rank - 1] >= 0 && base[rank - 1] <= view->dims[rank - 1] - (int64_t)info->lanes &&
           view->dims[2 * rank - 1] == 1;
}

static bool run_access(Interp *in, const InterpInst *inst, uint64_t *frame, bool is_write) {
    const VectorAccess *info = inst->info;
    const InterpView *view = interp_view(frame, inst->src[0]);
    int64_t base[INTERP_MAX_RANK];
    interp_element_indices(&info->element, frame, base);
    if (!is_plain_row(info, view, base)) {
        return run_lanes(in, inst, info, view, base, frame, is_write);
    }
    uint32_t rank = info->element.rank, elem_bytes = info->element.elem_bytes;
    uint64_t at = (uint64_t)view->offset;
    for (uint32_t r = 0; r < rank; r++) at += (uint64_t)interp_mul(base[r], view->dims[rank + r]);
    int64_t byte = (int64_t)((uint64_t)view->base_bytes + at * elem_bytes);
    int64_t len = (int64_t)info->lanes * elem_bytes;
    uint64_t *words = frame + inst->dst;
    if (!(is_write ? interp_check_write(in, inst->op, view->buffer, view->view_id, byte, len)
                   : interp_check_read(in, inst->op, view->buffer, view->view_id, byte, len))) {
        return false;
    }
    uint8_t *p = view->buffer->data + byte;
    for (uint32_t l = 0; l < info->lanes; l++, p += elem_bytes) {
        if (is_write)
            interp_store(info->element.mem, p, words[l]);
        else
            words[l] = interp_load(info->element.mem, p);
    }
    return true;
}

static bool run_read(Interp *in, const InterpInst *inst, uint64_t *frame) {
    return run_access(in, inst, frame, false);
}
static bool run_write(Interp *in, const InterpInst *inst, uint64_t *frame) {
    return run_access(in, inst, frame, true);
}

// vector dimensions run along the innermost dimensions of the memref.
static VectorAccess *access_new(InterpDecoder *d, const IrOp *op, uint32_t base,
                                uint32_t first_index, uint32_t num_indices, const IrType *vector) {
    const IrType *memref = ir_op_operand(op, base)->type;
    const InterpElement *element = interp_element_new(d, op, base, first_index, num_indices);
    if (!element) return NULL;
    if (memref->kind != IR_TYPE_MEMREF || vector->kind != IR_TYPE_VECTOR ||
        vector->rank > INTERP_MAX_RANK || vector->elem != memref->elem) {
        (void)interp_refuse(d->in, op, "needs a memref and a vector of its elements");
        return NULL;
    }
    VectorAccess *info = INTERP_INFO(d, VectorAccess);
    info->element = *element;
    info->lanes = interp_lanes(vector);
    info->num_dims = vector->rank;
    info->mask = info->other = INTERP_NO_SLOT;
    for (uint32_t v = 0; v < vector->rank; v++) {
        info->shape[v] = vector->shape[v];
        info->dim_of[v] = memref->rank - vector->rank + v;
        info->must_fit[v] = true;
    }
    return info;
}

static bool fits_rank(InterpDecoder *d, const IrOp *op, const VectorAccess *info) {
    return info->num_dims <= info->element.rank ||
           interp_refuse(d->in, op, "has a vector of higher rank than its memref");
}

// vector.load, vector.maskedload, affine.vector_load
bool interp_decode_vector_load(InterpDecoder *d, const IrOp *op) {
    bool is_masked = op->kind == IR_VECTOR_MASKEDLOAD;
    uint32_t num_indices = op->num_operands - 1 - (is_masked ? 2 : 0);
    VectorAccess *info = access_new(d, op, 0, 1, num_indices, op->results[0].type);
    if (!info || !fits_rank(d, op, info)) return false;
    if (is_masked) {
        info->mask = interp_slot(d, ir_op_operand(op, op->num_operands - 2));
        info->other = interp_slot(d, ir_op_operand(op, op->num_operands - 1));
    }
    InterpInst *inst = interp_emit(d, op, run_read);
    inst->info = info;
    inst->lanes = info->lanes;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->dst = interp_result(d, op, 0);
    return true;
}

// vector.store, affine.vector_store: value first. vector.maskedstore: base first, mask and value
// last.
bool interp_decode_vector_store(InterpDecoder *d, const IrOp *op) {
    bool is_masked = op->kind == IR_VECTOR_MASKEDSTORE;
    uint32_t base = is_masked ? 0 : 1, value = is_masked ? op->num_operands - 1 : 0;
    uint32_t num_indices = op->num_operands - (is_masked ? 3 : 2);
    VectorAccess *info =
        access_new(d, op, base, base + 1, num_indices, ir_op_operand(op, value)->type);
    if (!info || !fits_rank(d, op, info)) return false;
    if (is_masked) info->mask = interp_slot(d, ir_op_operand(op, op->num_operands - 2));
    InterpInst *inst = interp_emit(d, op, run_write);
    inst->info = info;
    inst->lanes = info->lanes;
    inst->src[0] = interp_slot(d, ir_op_operand(op, base));
    inst->dst = interp_slot(d, ir_op_operand(op, value));
    return true;
}

// Where each vector dimension of a transfer runs, from its permutation map.
static bool transfer_dims(InterpDecoder *d, const IrOp *op, VectorAccess *info) {
    const IrAttr *map = ir_op_attr(op, "permutation_map");
    const IrAttr *in_bounds = ir_op_attr(op, "in_bounds");
    if (!map && !fits_rank(d, op, info)) return false;
    if (map && (map->kind != IR_ATTR_MAP || map->map->num_results != info->num_dims ||
                map->map->num_dims != info->element.rank)) {
        return interp_refuse(d->in, op, "has a permutation map that does not fit");
    }
    for (uint32_t v = 0; v < info->num_dims; v++) {
        uint32_t dim;
        if (map && ir_affine_is_dim(map->map->results[v], &dim))
            info->dim_of[v] = dim;
        else if (map)
            info->dim_of[v] = INTERP_NO_SLOT;
        info->must_fit[v] = in_bounds && in_bounds->kind == IR_ATTR_ARRAY &&
                            v < in_bounds->num_elems && in_bounds->elems[v]->i;
    }
    return true;
}

bool interp_decode_transfer(InterpDecoder *d, const IrOp *op) {
    bool is_write = op->kind == IR_VECTOR_TRANSFER_WRITE;
    uint32_t base = is_write ? 1 : 0;
    const IrType *vector = is_write ? ir_op_operand(op, 0)->type : op->results[0].type;
    uint32_t num_indices = op->segments[is_write ? 2 : 1];
    VectorAccess *info = access_new(d, op, base, base + 1, num_indices, vector);
    if (!info || !transfer_dims(d, op, info)) return false;
    uint32_t mask_segment = 3;
    if (!is_write) {
        const IrValue *padding = ir_op_operand(op, ir_op_segment_start(op, 2));
        info->other = interp_slot(d, padding);
        info->is_padding = true;
        info->is_poison = padding->def_op && padding->def_op->kind == IR_UB_POISON;
    }
    if (op->segments[mask_segment]) {
        const IrValue *mask = ir_op_operand(op, ir_op_segment_start(op, mask_segment));
        const IrAttr *map = ir_op_attr(op, "permutation_map");
        bool is_minor = true;
        for (uint32_t v = 0; v < info->num_dims; v++) {
            is_minor = is_minor && info->dim_of[v] == info->element.rank - info->num_dims + v;
        }
        if (map && !is_minor) return interp_refuse(d->in, op, "has a mask and a permutation");
        info->mask = interp_slot(d, mask);
    }
    InterpInst *inst = interp_emit(d, op, is_write ? run_write : run_read);
    inst->info = info;
    inst->lanes = info->lanes;
    inst->src[0] = interp_slot(d, ir_op_operand(op, base));
    inst->dst = is_write ? interp_slot(d, ir_op_operand(op, 0)) : interp_result(d, op, 0);
    return true;
}
