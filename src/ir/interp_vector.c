// Vector arithmetic and movement. A vector's lanes are consecutive words of the frame in row-major
// order, so what only moves lanes is a table of places, and what only renames them costs nothing.
#include "ir/interp_decoders.h"
#include "ir/intrinsics.h"

// ---------------------------------------------------------------- moving lanes

// Result lane l is the word at place table[l].
static bool run_gather(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const uint32_t *table = inst->info;
    for (uint32_t l = 0; l < inst->lanes; l++) frame[inst->dst + l] = frame[table[l]];
    return true;
}

static uint32_t *emit_gather(InterpDecoder *d, const IrOp *op, uint32_t result) {
    uint32_t lanes = interp_lanes(op->results[result].type);
    uint32_t *table = INTERP_ARRAY(d, uint32_t, lanes + 1);
    InterpInst *inst = interp_emit(d, op, run_gather);
    inst->info = table;
    inst->lanes = lanes;
    inst->dst = interp_result(d, op, result);
    return table;
}

static int64_t dim_or_one(const IrType *type, int64_t i) {
    return i < 0 || type->kind != IR_TYPE_VECTOR ? 1 : type->shape[i];
}

// Trailing dimensions match; a source dimension of size 1 is stretched.
static bool decode_broadcast(InterpDecoder *d, const IrOp *op) {
    const IrType *src = ir_op_operand(op, 0)->type, *dst = op->results[0].type;
    uint32_t slot = interp_slot(d, ir_op_operand(op, 0)), lanes = interp_lanes(dst);
    uint32_t *table = emit_gather(d, op, 0);
    int64_t src_rank = src->kind == IR_TYPE_VECTOR ? src->rank : 0;
    for (uint32_t l = 0; l < lanes; l++) {
        int64_t rest = l, at = 0, stride = 1;
        for (int64_t i = (int64_t)dst->rank - 1, s = src_rank - 1; i >= 0; i--, s--) {
            int64_t index = rest % dst->shape[i], size = dim_or_one(src, s);
            rest /= dst->shape[i];
            if (size != 1) at += index * stride;
            stride *= size;
        }
        table[l] = slot + (uint32_t)at;
    }
    return true;
}

static bool decode_from_elements(InterpDecoder *d, const IrOp *op) {
    uint32_t *table = emit_gather(d, op, 0);
    if (interp_lanes(op->results[0].type) != op->num_operands) {
        return interp_refuse(d->in, op, "has another number of elements than lanes");
    }
    for (uint32_t i = 0; i < op->num_operands; i++) table[i] = interp_slot(d, ir_op_operand(op, i));
    return true;
}

static bool decode_to_elements(InterpDecoder *d, const IrOp *op) {
    uint32_t slot = interp_slot(d, ir_op_operand(op, 0));
    if (interp_lanes(ir_op_operand(op, 0)->type) != op->num_results) {
        return interp_refuse(d->in, op, "has another number of results than lanes");
    }
    for (uint32_t i = 0; i < op->num_results; i++) interp_alias(d, &op->results[i], slot + i);
    return true;
}

static bool decode_shape_cast(InterpDecoder *d, const IrOp *op) {
    if (interp_lanes(ir_op_operand(op, 0)->type) != interp_lanes(op->results[0].type)) {
        return interp_refuse(d->in, op, "changes the number of lanes");
    }
    interp_alias(d, &op->results[0], interp_slot(d, ir_op_operand(op, 0)));
    return true;
}

// Rows of the outermost dimension of two vectors; -1 gives an undefined row.
static bool decode_shuffle(InterpDecoder *d, const IrOp *op) {
    const IrAttr *mask = ir_op_attr(op, "mask");
    const IrType *a = ir_op_operand(op, 0)->type, *b = ir_op_operand(op, 1)->type;
    int64_t rows_a = a->rank ? a->shape[0] : 1, rows_b = b->rank ? b->shape[0] : 1;
    uint32_t row = rows_a ? interp_lanes(a) / (uint32_t)rows_a : 0;
    uint32_t undefined = interp_slot_new(d, 1);
    uint64_t *word = INTERP_INFO(d, uint64_t);
    *word = UINT64_MAX;
    interp_constant(d, undefined, 1, word);
    uint32_t slots[2] = {interp_slot(d, ir_op_operand(op, 0)),
                         interp_slot(d, ir_op_operand(op, 1))};
    if (!mask || mask->kind != IR_ATTR_DENSE_ARRAY ||
        mask->num_values * row != interp_lanes(op->results[0].type)) {
        return interp_refuse(d->in, op, "has a mask that does not fit its result");
    }
    uint32_t *table = emit_gather(d, op, 0);
    for (size_t i = 0; i < mask->num_values; i++) {
        int64_t from = mask->values[i];
        if (from >= rows_a + rows_b)
            return interp_refuse(d->in, op, "has a mask index out of range");
        for (uint32_t l = 0; l < row; l++) {
            uint32_t at = from < 0        ? undefined
                          : from < rows_a ? slots[0] + (uint32_t)from * row + l
                                          : slots[1] + (uint32_t)(from - rows_a) * row + l;
            table[i * row + l] = at;
        }
    }
    return true;
}

static bool decode_interleave(InterpDecoder *d, const IrOp *op) {
    uint32_t a = interp_slot(d, ir_op_operand(op, 0)), b = interp_slot(d, ir_op_operand(op, 1));
    uint32_t lanes = interp_lanes(op->results[0].type), *table = emit_gather(d, op, 0);
    for (uint32_t l = 0; l < lanes; l++) table[l] = (l & 1 ? b : a) + l / 2;
    return true;
}

static bool decode_deinterleave(InterpDecoder *d, const IrOp *op) {
    uint32_t slot = interp_slot(d, ir_op_operand(op, 0));
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t lanes = interp_lanes(op->results[r].type), *table = emit_gather(d, op, r);
        for (uint32_t l = 0; l < lanes; l++) table[l] = slot + 2 * l + r;
    }
    return true;
}

static bool decode_step(InterpDecoder *d, const IrOp *op) {
    uint32_t lanes = interp_lanes(op->results[0].type);
    uint64_t *words = INTERP_ARRAY(d, uint64_t, lanes + 1);
    for (uint32_t l = 0; l < lanes; l++) words[l] = l;
    interp_constant(d, interp_result(d, op, 0), lanes, words);
    return true;
}

// ---------------------------------------------------------------- extract, insert

typedef struct Position {
    InterpMixed at;
    int64_t sizes[INTERP_MAX_RANK], strides[INTERP_MAX_RANK]; // of the dimensions that are indexed
    uint32_t lanes;                                           // of what is extracted or inserted
    bool is_static;
} Position;

static bool position_new(InterpDecoder *d, const IrOp *op, const IrType *vector, uint32_t first,
                         Position *out) {
    if (vector->kind != IR_TYPE_VECTOR || vector->rank > INTERP_MAX_RANK ||
        !interp_mixed_new(d, op, "static_position", first, op->num_operands - first, &out->at) ||
        out->at.count > vector->rank) {
        return interp_refuse(d->in, op, "has a position that does not fit its vector");
    }
    out->lanes = interp_lanes(vector);
    out->is_static = true;
    for (uint32_t i = 0; i < out->at.count; i++) {
        out->sizes[i] = vector->shape[i];
        out->lanes = vector->shape[i] ? out->lanes / (uint32_t)vector->shape[i] : 0;
        out->strides[i] = out->lanes;
        out->is_static = out->is_static && out->at.slots[i] == INTERP_NO_SLOT;
    }
    return true;
}

static bool position_get(Interp *in, const IrOp *op, const Position *info, const uint64_t *frame,
                         uint32_t *out_lane) {
    int64_t at[INTERP_MAX_RANK], lane = 0;
    interp_mixed_get(&info->at, frame, at);
    for (uint32_t i = 0; i < info->at.count; i++) {
        if (at[i] < 0 || at[i] >= info->sizes[i]) {
            return interp_fault(in, op, "position %lld is out of range for size %lld",
                                (long long)at[i], (long long)info->sizes[i]);
        }
        lane += at[i] * info->strides[i];
    }
    *out_lane = (uint32_t)lane;
    return true;
}

static bool run_extract(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Position *info = inst->info;
    uint32_t lane;
    if (!position_get(in, inst->op, info, frame, &lane)) return false;
    memcpy(frame + inst->dst, frame + inst->src[0] + lane, info->lanes * sizeof *frame);
    return true;
}

static bool decode_extract(InterpDecoder *d, const IrOp *op) {
    Position *info = INTERP_INFO(d, Position);
    if (!position_new(d, op, ir_op_operand(op, 0)->type, 1, info)) return false;
    if (info->lanes != interp_lanes(op->results[0].type)) {
        return interp_refuse(d->in, op, "has a result that does not fit its position");
    }
    uint32_t slot = interp_slot(d, ir_op_operand(op, 0)), lane;
    if (info->is_static) {
        if (!position_get(d->in, op, info, NULL, &lane)) return false;
        interp_alias(d, &op->results[0], slot + lane);
        return true;
    }
    InterpInst *inst = interp_emit(d, op, run_extract);
    inst->info = info;
    inst->src[0] = slot;
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_insert(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Position *info = inst->info;
    uint32_t lane;
    if (!position_get(in, inst->op, info, frame, &lane)) return false;
    memcpy(frame + inst->dst, frame + inst->src[1], inst->lanes * sizeof *frame);
    memcpy(frame + inst->dst + lane, frame + inst->src[0], info->lanes * sizeof *frame);
    return true;
}

static bool decode_insert(InterpDecoder *d, const IrOp *op) {
    Position *info = INTERP_INFO(d, Position);
    const IrType *vector = op->results[0].type;
    if (!position_new(d, op, vector, 2, info)) return false;
    if (info->lanes != interp_lanes(ir_op_operand(op, 0)->type)) {
        return interp_refuse(d->in, op, "has a value that does not fit its position");
    }
    InterpInst *inst = interp_emit(d, op, run_insert);
    inst->info = info;
    inst->lanes = interp_lanes(vector);
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- bitcast, masks

typedef struct VectorBitcast {
    InterpMem from, to;
    uint32_t from_lanes, from_bytes, to_bytes;
} VectorBitcast;

// Lanes as bytes, little-endian, and back.
static bool run_bitcast(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const VectorBitcast *info = inst->info;
    uint8_t *bytes = (uint8_t *)(frame + inst->src[1]); // a place of its own
    for (uint32_t l = 0; l < info->from_lanes; l++) {
        interp_store(info->from, bytes + l * info->from_bytes, frame[inst->src[0] + l]);
    }
    for (uint32_t l = 0; l < inst->lanes; l++) {
        frame[inst->dst + l] = interp_load(info->to, bytes + l * info->to_bytes);
    }
    return true;
}

static bool decode_bitcast(InterpDecoder *d, const IrOp *op) {
    const IrType *from = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    VectorBitcast *info = INTERP_INFO(d, VectorBitcast);
    info->from = interp_mem(from->elem);
    info->to = interp_mem(to->elem);
    info->from_lanes = interp_lanes(from);
    info->from_bytes = ir_type_bytes(from->elem);
    info->to_bytes = ir_type_bytes(to->elem);
    uint64_t len = (uint64_t)info->from_lanes * info->from_bytes;
    if (MIN(ir_type_bits(from->elem), ir_type_bits(to->elem)) < 8 ||
        len != (uint64_t)interp_lanes(to) * info->to_bytes) {
        return interp_refuse(d->in, op, "reinterprets parts of bytes, or changes the size");
    }
    InterpInst *inst = interp_emit(d, op, run_bitcast);
    inst->info = info;
    inst->lanes = interp_lanes(to);
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot_new(d, len / 8 + 1);
    inst->dst = interp_result(d, op, 0);
    return true;
}

static bool run_create_mask(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const uint32_t *slots = inst->info;
    const IrType *type = inst->op->results[0].type;
    for (uint32_t l = 0; l < inst->lanes; l++) {
        int64_t rest = l;
        bool is_on = true;
        for (uint32_t i = type->rank; i-- > 0;) {
            is_on = is_on && rest % type->shape[i] < (int64_t)frame[slots[i]];
            rest /= type->shape[i];
        }
        frame[inst->dst + l] = is_on ? UINT64_MAX : 0;
    }
    return true;
}

static bool decode_create_mask(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type;
    if (op->num_operands != type->rank) return interp_refuse(d->in, op, "lacks an operand");
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, op->num_operands + 1);
    for (uint32_t i = 0; i < op->num_operands; i++) slots[i] = interp_slot(d, ir_op_operand(op, i));
    InterpInst *inst = interp_emit(d, op, run_create_mask);
    inst->info = slots;
    inst->lanes = interp_lanes(type);
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- reduction, contract

// Left to right, the accumulator first.
static bool run_reduction(Interp *in, const InterpInst *inst, uint64_t *frame) {
    InterpInst step = *(const InterpInst *)inst->info;
    uint32_t l = 0;
    frame[step.dst] =
        inst->src[1] == INTERP_NO_SLOT ? frame[inst->src[0] + l++] : frame[inst->src[1]];
    for (; l < inst->lanes; l++) {
        step.src[1] = inst->src[0] + l;
        if (!step.run(in, &step, frame)) return false;
    }
    return true;
}

static bool decode_reduction(InterpDecoder *d, const IrOp *op) {
    const IrAttr *kind = ir_op_attr(op, "kind");
    const IrType *vector = ir_op_operand(op, 0)->type, *elem = ir_type_elem(vector);
    InterpInst *step = INTERP_INFO(d, InterpInst);
    step->run = kind && kind->kind == IR_ATTR_STRING ? interp_combine_op(kind->str, elem) : NULL;
    if (!step->run || vector->kind != IR_TYPE_VECTOR || !interp_lanes(vector)) {
        return interp_refuse(d->in, op, "has no known kind for its elements");
    }
    step->op = op;
    step->lanes = 1;
    step->width = ir_type_bits(elem);
    step->dst = step->src[0] = interp_result(d, op, 0);
    InterpInst *inst = interp_emit(d, op, run_reduction);
    inst->info = step;
    inst->lanes = interp_lanes(vector);
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = op->num_operands > 1 ? interp_slot(d, ir_op_operand(op, 1)) : INTERP_NO_SLOT;
    return true;
}

typedef struct Contract {
    uint32_t num_loops;
    int64_t ranges[INTERP_MAX_LOOPS];
    int64_t steps[INTERP_MAX_LOOPS][3]; // lanes of lhs, rhs, accumulator
    InterpInst multiply, combine;
    InterpInst casts[2]; // run is NULL where the element has the accumulator's type
} Contract;

// For every point in lexicographic order: acc = combine(acc, lhs * rhs), two roundings.
static bool run_contract(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Contract *info = inst->info;
    int64_t index[INTERP_MAX_LOOPS] = {0}, at[3] = {0};
    memcpy(frame + inst->dst, frame + inst->src[2], inst->lanes * sizeof *frame);
    InterpInst multiply = info->multiply, combine = info->combine;
    for (uint32_t i = 0; i < info->num_loops; i++) {
        if (!info->ranges[i]) return true;
    }
    for (;;) {
        if (!interp_count(in, inst->op, 1)) return false;
        for (uint32_t side = 0; side < 2; side++) {
            multiply.src[side] = inst->src[side] + (uint32_t)at[side];
            if (!info->casts[side].run) continue;
            InterpInst cast = info->casts[side];
            cast.src[0] = multiply.src[side];
            if (!cast.run(in, &cast, frame)) return false;
            multiply.src[side] = cast.dst;
        }
        combine.dst = combine.src[0] = inst->dst + (uint32_t)at[2];
        if (!multiply.run(in, &multiply, frame) || !combine.run(in, &combine, frame)) return false;
        uint32_t i = info->num_loops;
        for (; i-- > 0;) {
            for (uint32_t o = 0; o < 3; o++) at[o] += info->steps[i][o];
            if (++index[i] < info->ranges[i]) break;
            for (uint32_t o = 0; o < 3; o++) at[o] -= info->steps[i][o] * info->ranges[i];
            index[i] = 0;
        }
        if (i == UINT32_MAX) return true;
    }
}

static bool contract_loops(InterpDecoder *d, const IrOp *op, const IrAttr *maps, Contract *info) {
    info->num_loops = maps->elems[0]->map->num_dims;
    for (uint32_t i = 0; i < info->num_loops; i++) info->ranges[i] = -1;
    for (uint32_t o = 0; o < 3; o++) {
        const IrType *type = ir_op_operand(op, o)->type;
        const IrAffineMap *map = maps->elems[o]->map;
        uint32_t rank = type->kind == IR_TYPE_VECTOR ? type->rank : 0, dim;
        if (map->num_results != rank || map->num_dims != info->num_loops) {
            return interp_refuse(d->in, op, "operand %u does not fit its map", o);
        }
        int64_t stride = 1;
        for (uint32_t r = rank; r-- > 0; stride *= type->shape[r]) {
            if (!ir_affine_is_dim(map->results[r], &dim) ||
                (info->ranges[dim] >= 0 && info->ranges[dim] != type->shape[r])) {
                return interp_refuse(d->in, op, "operand %u does not fit its map", o);
            }
            info->ranges[dim] = type->shape[r];
            info->steps[dim][o] = stride;
        }
    }
    for (uint32_t i = 0; i < info->num_loops; i++) {
        if (info->ranges[i] < 0) return interp_refuse(d->in, op, "has a loop without a range");
    }
    return true;
}

static bool decode_contract(InterpDecoder *d, const IrOp *op) {
    const IrAttr *maps = ir_op_attr(op, "indexing_maps"), *kind = ir_op_attr(op, "kind");
    if (!maps || maps->kind != IR_ATTR_ARRAY || maps->num_elems != 3 || op->num_operands != 3 ||
        maps->elems[0]->kind != IR_ATTR_MAP || maps->elems[1]->kind != IR_ATTR_MAP ||
        maps->elems[2]->kind != IR_ATTR_MAP || maps->elems[0]->map->num_dims > INTERP_MAX_LOOPS) {
        return interp_refuse(d->in, op, "has no three maps");
    }
    Contract *info = INTERP_INFO(d, Contract);
    const IrType *acc = ir_type_elem(op->results[0].type);
    if (!contract_loops(d, op, maps, info)) return false;
    uint32_t product = interp_slot_new(d, 1);
    info->multiply = (InterpInst){.run = interp_combine_op("mul", acc),
                                  .op = op,
                                  .lanes = 1,
                                  .width = ir_type_bits(acc),
                                  .dst = product};
    const char *keyword = kind && kind->kind == IR_ATTR_STRING ? kind->str : "add";
    info->combine = (InterpInst){.run = interp_combine_op(keyword, acc),
                                 .op = op,
                                 .lanes = 1,
                                 .width = ir_type_bits(acc),
                                 .src = {0, product}};
    if (!info->combine.run) return interp_refuse(d->in, op, "has no known kind for its elements");
    for (uint32_t side = 0; side < 2; side++) {
        const IrType *elem = ir_type_elem(ir_op_operand(op, side)->type);
        if (elem == acc) continue;
        uint32_t to = interp_slot_new(d, 1);
        interp_emit_cast(d, op, elem, acc, false, to, to);
        info->casts[side] = d->block->insts[--d->block->num_insts];
    }
    InterpInst *inst = interp_emit(d, op, run_contract);
    for (uint32_t o = 0; o < 3; o++) inst->src[o] = interp_slot(d, ir_op_operand(op, o));
    inst->lanes = interp_lanes(op->results[0].type);
    inst->info = info;
    inst->dst = interp_result(d, op, 0);
    return true;
}

bool interp_decode_vector(InterpDecoder *d, const IrOp *op) {
    static const InterpDecode decoders[NUM_IR_OP_KINDS] = {
        [IR_VECTOR_BROADCAST] = decode_broadcast,
        [IR_VECTOR_REDUCTION] = decode_reduction,
        [IR_VECTOR_CONTRACT] = decode_contract,
        [IR_VECTOR_EXTRACT] = decode_extract,
        [IR_VECTOR_INSERT] = decode_insert,
        [IR_VECTOR_SHAPE_CAST] = decode_shape_cast,
        [IR_VECTOR_FROM_ELEMENTS] = decode_from_elements,
        [IR_VECTOR_TO_ELEMENTS] = decode_to_elements,
        [IR_VECTOR_BITCAST] = decode_bitcast,
        [IR_VECTOR_SHUFFLE] = decode_shuffle,
        [IR_VECTOR_INTERLEAVE] = decode_interleave,
        [IR_VECTOR_DEINTERLEAVE] = decode_deinterleave,
        [IR_VECTOR_STEP] = decode_step,
        [IR_VECTOR_CREATE_MASK] = decode_create_mask,
    };
    return decoders[op->kind](d, op);
}

// ---------------------------------------------------------------- llvm.call_intrinsic

static bool run_intrinsic(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const IrIntrinsic *intrinsic = inst->info;
    intrinsic->run(frame + inst->dst, inst->lanes, frame + inst->src[0], frame + inst->src[1],
                   frame + inst->src[2]);
    return true;
}

bool interp_decode_call_intrinsic(InterpDecoder *d, const IrOp *op) {
    const IrAttr *name = ir_op_attr(op, "intrin");
    const IrIntrinsic *intrinsic =
        name && name->kind == IR_ATTR_STRING ? ir_intrinsic_find(name->str) : NULL;
    if (!intrinsic || op->num_results != 1 ||
        op->num_operands != ir_intrinsic_num_operands(intrinsic)) {
        return interp_refuse(d->in, op, "names no intrinsic of the table");
    }
    bool fits = ir_intrinsic_type_matches(intrinsic->result, op->results[0].type);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        fits =
            fits && ir_intrinsic_type_matches(intrinsic->operands[i], ir_op_operand(op, i)->type);
    }
    if (!fits) return interp_refuse(d->in, op, "has other types than the intrinsic");
    InterpInst *inst = interp_emit(d, op, run_intrinsic);
    inst->info = intrinsic;
    inst->lanes = interp_lanes(op->results[0].type);
    for (uint32_t i = 0; i < op->num_operands; i++)
        inst->src[i] = interp_slot(d, ir_op_operand(op, i));
    inst->dst = interp_result(d, op, 0);
    return true;
}
