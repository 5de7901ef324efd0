// linalg.pack and linalg.unpack: packed[outer tiles, permuted; inner tiles] and the plain tensor
// hold the same elements; what a packed tensor has beyond them is padding.
#include "ir/interp_decoders.h"

typedef struct Packing {
    uint32_t rank, num_tiles; // of the plain tensor; the packed one has rank + num_tiles dimensions
    const int64_t *positions, *permutation; // permutation: NULL if it is the identity
    InterpMixed tiles;
    uint32_t elem_bytes, padding; // padding: a place, INTERP_NO_SLOT if there is none
    InterpMem mem;
    bool is_pack;
} Packing;

// The plain coordinate of a packed one.
static void plain_index(const Packing *info, const int64_t *tiles, const int64_t *packed,
                        int64_t *out) {
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t dim = info->permutation ? info->permutation[d] : (int64_t)d;
        out[dim] = packed[d];
    }
    for (uint32_t t = 0; t < info->num_tiles; t++) {
        int64_t *at = &out[info->positions[t]];
        *at = *at * tiles[t] + packed[info->rank + t];
    }
}

// One element of the packed tensor, number `n`, whose plain coordinate is `index`.
static bool move_element(Interp *in, const InterpInst *inst, const uint64_t *frame, int64_t n,
                         const int64_t *index, const InterpView *plain, const InterpView *packed) {
    const Packing *info = inst->info;
    int64_t at = 0, bytes = info->elem_bytes;
    bool is_inside = true;
    for (uint32_t d = 0; d < info->rank; d++) {
        is_inside = is_inside && index[d] < plain->dims[d];
        at += index[d] * plain->dims[info->rank + d];
    }
    if (is_inside && info->is_pack) {
        return interp_copy_bytes(in, inst->op, packed->buffer, 0, n * bytes, plain->buffer,
                                 at * bytes, bytes);
    } else if (is_inside) {
        return interp_copy_bytes(in, inst->op, plain->buffer, 0, at * bytes, packed->buffer,
                                 n * bytes, bytes);
    } else if (info->is_pack && info->padding == INTERP_NO_SLOT) {
        return interp_fault(in, inst->op, "has no padding for a tile that is not full");
    } else if (info->is_pack) {
        interp_store(info->mem, packed->buffer->data + n * bytes, frame[info->padding]);
    }
    return true;
}

static bool run_packing(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Packing *info = inst->info;
    InterpView *src = interp_view(frame, inst->src[0]), *dst = interp_view(frame, inst->dst);
    const InterpView *init = interp_view(frame, inst->src[1]);
    uint32_t packed_rank = info->rank + info->num_tiles;
    uint32_t dst_rank = info->is_pack ? packed_rank : info->rank;
    int64_t tiles[INTERP_MAX_RANK], packed[INTERP_MAX_RANK] = {0}, index[INTERP_MAX_RANK];
    int64_t total;
    memcpy(dst->dims, init->dims, dst_rank * sizeof *dst->dims);
    // A pack writes all of it; an unpack might not, if the tiles do not cover the plain tensor.
    if (!interp_tensor_new(in, inst->op, dst, dst_rank, info->elem_bytes, info->is_pack))
        return false;
    const InterpView *plain = info->is_pack ? src : dst, *whole = info->is_pack ? dst : src;
    interp_mixed_get(&info->tiles, frame, tiles);
    for (uint32_t t = 0; t < info->num_tiles; t++) {
        if (tiles[t] <= 0 || tiles[t] != whole->dims[info->rank + t]) {
            return interp_fault(in, inst->op, "has the tile %lld where its type has %lld",
                                (long long)tiles[t], (long long)whole->dims[info->rank + t]);
        }
    }
    if (!interp_shape_bytes(whole->dims, packed_rank, 1, &total)) return false;
    if (!interp_count(in, inst->op, (uint64_t)total)) return false;
    for (int64_t n = 0; n < total; n++) {
        plain_index(info, tiles, packed, index);
        if (!move_element(in, inst, frame, n, index, plain, whole)) return false;
        for (uint32_t i = packed_rank; i-- > 0;) {
            if (++packed[i] < whole->dims[i]) break;
            packed[i] = 0;
        }
    }
    return true;
}

bool interp_decode_pack(InterpDecoder *d, const IrOp *op) {
    const IrAttr *permutation = ir_op_attr(op, "outer_dims_perm");
    const IrAttr *positions = ir_op_attr(op, "inner_dims_pos");
    bool is_pack = op->kind == IR_LINALG_PACK;
    const IrType *src = ir_op_operand(op, 0)->type, *dst = ir_op_operand(op, 1)->type;
    const IrType *plain = is_pack ? src : dst, *packed = is_pack ? dst : src;
    uint32_t segment = is_pack ? 3 : 2;
    Packing *info = INTERP_INFO(d, Packing);
    if (!interp_mixed_new(d, op, "static_inner_tiles", ir_op_segment_start(op, segment),
                          op->segments[segment], &info->tiles)) {
        return false;
    }
    if (!positions || positions->kind != IR_ATTR_DENSE_ARRAY || packed->rank > INTERP_MAX_RANK ||
        positions->num_values != info->tiles.count ||
        packed->rank != plain->rank + info->tiles.count) {
        return interp_refuse(d->in, op, "has tiles that do not fit its types");
    }
    info->rank = plain->rank;
    info->num_tiles = info->tiles.count;
    info->positions = positions->values;
    if (permutation && permutation->num_values) info->permutation = permutation->values;
    info->elem_bytes = ir_type_bytes(src->elem);
    info->mem = interp_mem(src->elem);
    info->padding = INTERP_NO_SLOT;
    if (is_pack && op->segments[2]) {
        info->padding = interp_slot(d, ir_op_operand(op, ir_op_segment_start(op, 2)));
    }
    info->is_pack = is_pack;
    InterpInst *inst = interp_emit(d, op, run_packing);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->dst = interp_result(d, op, 0);
    return true;
}
