// Decoding: places of values, constants, last uses, and the table of what decodes each operation.
#include <stdlib.h>

#include "ir/interp_decoders.h"

// ---------------------------------------------------------------- types

bool interp_is_view(const IrType *type) {
    return type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_MEMREF;
}

// Words a value of the type takes in a frame; 0 = none, UINT64_MAX = too many.
uint64_t interp_type_words(const IrType *type) {
    if (ir_type_is_scalar(type)) return 1;
    if (interp_is_view(type)) {
        return type->rank > INTERP_MAX_RANK ? UINT64_MAX
                                            : INTERP_VIEW_WORDS + 2 * (uint64_t)type->rank;
    }
    if (type->kind != IR_TYPE_VECTOR) return 0;
    int64_t lanes = ir_type_num_elems(type);
    return lanes < 0 || lanes > INTERP_MAX_LANES ? UINT64_MAX : (uint64_t)lanes;
}

uint32_t interp_lanes(const IrType *type) {
    return type->kind == IR_TYPE_VECTOR ? (uint32_t)ir_type_num_elems(type) : 1;
}

InterpMem interp_mem(const IrType *elem) {
    switch (elem->kind) {
    case IR_TYPE_F16: return INTERP_MEM_F16;
    case IR_TYPE_BF16: return INTERP_MEM_BF16;
    case IR_TYPE_F32: return INTERP_MEM_F32;
    case IR_TYPE_INT:
        return elem->width == 1    ? INTERP_MEM_I1
               : elem->width == 4  ? INTERP_MEM_I4
               : elem->width == 8  ? INTERP_MEM_I8
               : elem->width == 16 ? INTERP_MEM_I16
               : elem->width == 32 ? INTERP_MEM_I32
                                   : INTERP_MEM_64;
    default: return INTERP_MEM_64; // f64, index
    }
}

// ---------------------------------------------------------------- places

uint32_t interp_slot_new(InterpDecoder *d, uint64_t num_words) {
    uint32_t slot = (uint32_t)MIN(d->num_words, INTERP_MAX_FRAME_WORDS);
    if (num_words > INTERP_MAX_FRAME_WORDS) num_words = INTERP_MAX_FRAME_WORDS + 1;
    d->num_words += num_words; // more than the maximum is refused when the function is done
    return slot;
}

uint32_t interp_slot(InterpDecoder *d, const IrValue *value) {
    uint32_t *slot = &d->in->slot_of_value[value->index];
    if (*slot == INTERP_NO_SLOT) *slot = interp_slot_new(d, interp_type_words(value->type));
    return *slot;
}

uint32_t interp_result(InterpDecoder *d, const IrOp *op, uint32_t i) {
    return interp_slot(d, &op->results[i]);
}

void interp_alias(InterpDecoder *d, const IrValue *value, uint32_t slot) {
    d->in->slot_of_value[value->index] = slot;
}

InterpInst *interp_emit(InterpDecoder *d, const IrOp *op, InterpRun run) {
    InterpBlock *block = d->block;
    ARRAY_RESERVE(block->insts, block->num_insts, block->capacity);
    InterpInst *inst = &block->insts[block->num_insts++];
    memset(inst, 0, sizeof *inst);
    inst->run = run;
    inst->op = op;
    inst->lanes = 1;
    return inst;
}

void interp_constant(InterpDecoder *d, uint32_t slot, uint32_t num_words, const uint64_t *words) {
    InterpConstant *constant = INTERP_INFO(d, InterpConstant);
    constant->slot = slot;
    constant->num_words = num_words;
    constant->words = words;
    constant->next = d->constants;
    d->constants = constant;
}

// ---------------------------------------------------------------- last uses of tensors

// The ancestor of op that lies in block, NULL if there is none.
static const IrOp *ancestor_in(const IrOp *op, const IrBlock *block) {
    while (op && op->block != block) op = op->block ? ir_block_parent(op->block) : NULL;
    return op;
}

// The latest of last and the users of value in block. A cast to an unranked type gives no value of
// its own: whoever uses it uses the tensor.
static const IrOp *latest_user(const InterpDecoder *d, const IrValue *value, const IrBlock *block,
                               const IrOp *last) {
    FOR_EACH_USE(use, value) {
        const IrOp *user = ancestor_in(use->owner, block);
        const uint32_t *position = d->in->position;
        if (user && (!last || position[user->index] > position[last->index])) last = user;
        if (use->owner->kind == IR_TENSOR_CAST &&
            use->owner->results[0].type->kind == IR_TYPE_UNRANKED_TENSOR) {
            last = latest_user(d, &use->owner->results[0], block, last);
        }
    }
    return last;
}

// Enters a tensor value of `block` at its last user there; owner is its definition if it has no
// use.
static void note_last_use(InterpDecoder *d, const IrValue *value, const IrBlock *block,
                          const IrOp *owner) {
    if (value->type->kind != IR_TYPE_TENSOR) return;
    Interp *in = d->in;
    const IrOp *last = latest_user(d, value, block, owner);
    if (!last) return; // an unused block argument of an empty block
    in->release_next[value->index] = in->release_head[last->index];
    in->release_head[last->index] = value->index + 1;
}

static void note_last_uses(InterpDecoder *d, const IrBlock *block) {
    uint32_t position = 0;
    FOR_EACH_OP(op, block) {
        d->in->position[op->index] = position++;
        d->in->release_head[op->index] = 0;
    }
    for (uint32_t i = 0; i < block->num_args; i++)
        note_last_use(d, block->args[i], block, block->first);
    FOR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->num_results; i++) note_last_use(d, &op->results[i], block, op);
    }
}

bool interp_consumes(const InterpDecoder *d, const IrOp *op, uint32_t i) {
    const IrValue *value = ir_op_operand(op, i);
    if (value->type->kind != IR_TYPE_TENSOR) return false;
    const IrBlock *home = value->def_op ? value->def_op->block : value->def_block;
    if (home != op->block) return false;
    bool is_last = false;
    for (uint32_t v = d->in->release_head[op->index]; v && !is_last;
         v = d->in->release_next[v - 1]) {
        is_last = v - 1 == value->index;
    }
    if (!is_last) return false;
    FOR_EACH_USE(use, value) {
        bool is_elsewhere = use->owner != op && ancestor_in(use->owner, home) == op;
        bool is_other = use->owner == op && use != &op->operands[i];
        if (is_elsewhere || is_other) return false;
    }
    return true;
}

static bool run_release(Interp *in, const InterpInst *inst, uint64_t *frame) {
    interp_release(in, frame, inst->dst);
    return true;
}

static void emit_releases(InterpDecoder *d, const IrOp *op) {
    for (uint32_t v = d->in->release_head[op->index]; v; v = d->in->release_next[v - 1]) {
        uint32_t slot = d->in->slot_of_value[v - 1];
        if (slot != INTERP_NO_SLOT) interp_emit(d, op, run_release)->dst = slot;
    }
}

// ---------------------------------------------------------------- moves

InterpMove interp_move_of(InterpDecoder *d, const IrOp *op, uint32_t operand) {
    const IrValue *value = ir_op_operand(op, operand);
    InterpMove move = {.from = interp_slot(d, value)};
    move.num_words = (uint32_t)interp_type_words(value->type);
    move.is_tensor = value->type->kind == IR_TYPE_TENSOR;
    move.is_consumed = interp_consumes(d, op, operand);
    return move;
}

static void decode_yields(InterpDecoder *d, const IrOp *op) {
    InterpBlock *block = d->block;
    block->yields = INTERP_ARRAY(d, InterpMove, op->num_operands + 1);
    block->num_yields = op->num_operands;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        block->yields[i] = interp_move_of(d, op, i);
    }
    // What the terminator is the last user of and does not take over (it uses it twice) is shared
    // by the moves and released with them.
    uint32_t num_left = 0;
    for (uint32_t v = d->in->release_head[op->index]; v; v = d->in->release_next[v - 1]) num_left++;
    block->leftovers = INTERP_ARRAY(d, uint32_t, num_left + 1);
    for (uint32_t v = d->in->release_head[op->index]; v; v = d->in->release_next[v - 1]) {
        uint32_t slot = d->in->slot_of_value[v - 1];
        if (slot != INTERP_NO_SLOT) block->leftovers[block->num_leftovers++] = slot;
    }
}

// ---------------------------------------------------------------- constants

static bool decode_constant(InterpDecoder *d, const IrOp *op) {
    const IrAttr *value = ir_op_attr(op, "value");
    const IrType *type = op->results[0].type;
    uint64_t num_words = interp_type_words(type);
    if (!value || !num_words || num_words == UINT64_MAX || type->kind == IR_TYPE_MEMREF) {
        return interp_refuse(d->in, op, "has a value that is not executable");
    }
    uint64_t *words = INTERP_ARRAY(d, uint64_t, num_words);
    if (value->kind == IR_ATTR_INT) {
        words[0] = (uint64_t)interp_sext((uint64_t)value->i, ir_type_bits(type));
    } else if (value->kind == IR_ATTR_BOOL) {
        words[0] = value->i ? UINT64_MAX : 0;
    } else if (value->kind == IR_ATTR_FLOAT) {
        words[0] = value->bits;
    } else if (value->kind == IR_ATTR_DENSE && type->kind == IR_TYPE_VECTOR) {
        for (uint64_t i = 0; i < num_words; i++) words[i] = ir_attr_dense_elem(value, (int64_t)i);
        if (ir_type_is_int_or_index(type->elem)) {
            uint32_t width = ir_type_bits(type->elem);
            for (uint64_t i = 0; i < num_words; i++)
                words[i] = (uint64_t)interp_sext(words[i], width);
        }
    } else if (value->kind == IR_ATTR_DENSE && type->kind == IR_TYPE_TENSOR) {
        InterpView *view = (InterpView *)(void *)words;
        memcpy(view->dims, type->shape, type->rank * sizeof *view->dims);
        if (!interp_tensor_new(d->in, op, view, type->rank, ir_type_bytes(type->elem), true)) {
            return false;
        }
        interp_dense_store(value, type, view->buffer->data); // the reference stays with the image
    } else {
        return interp_refuse(d->in, op, "has a value that is not executable");
    }
    interp_constant(d, interp_result(d, op, 0), (uint32_t)num_words, words);
    return true;
}

// A tensor constant is shared with every use: its release must not drop the image's reference, so
// the frame takes one more where the constant stands.
static bool run_tensor_constant(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const uint64_t *words = inst->info;
    memcpy(frame + inst->dst, words, inst->lanes * sizeof *words);
    interp_view(frame, inst->dst)->buffer->refs++;
    return true;
}

static bool decode_arith_constant(InterpDecoder *d, const IrOp *op) {
    if (!decode_constant(d, op)) return false;
    if (op->results[0].type->kind != IR_TYPE_TENSOR) return true;
    InterpInst *inst = interp_emit(d, op, run_tensor_constant);
    inst->info = d->constants->words;
    inst->lanes = d->constants->num_words;
    inst->dst = interp_result(d, op, 0);
    d->constants = d->constants->next;
    return true;
}

// An undefined value: all ones, a NaN in every float format.
static bool decode_poison(InterpDecoder *d, const IrOp *op) {
    uint64_t num_words = interp_type_words(op->results[0].type);
    const IrType *elem = ir_type_elem(op->results[0].type);
    if (!num_words || num_words == UINT64_MAX || interp_is_view(op->results[0].type)) {
        return interp_refuse(d->in, op, "has a type without values");
    }
    uint64_t *words = INTERP_ARRAY(d, uint64_t, num_words);
    uint64_t word =
        ir_type_is_float(elem) ? interp_zext(UINT64_MAX, ir_type_bits(elem)) : UINT64_MAX;
    for (uint64_t i = 0; i < num_words; i++) words[i] = word;
    interp_constant(d, interp_result(d, op, 0), (uint32_t)num_words, words);
    return true;
}

static bool decode_nothing(InterpDecoder *d, const IrOp *op) {
    (void)d, (void)op;
    return true;
}

// ---------------------------------------------------------------- the table

// Ops without a line here are decoded as their kind is, see decoder_of.
static const InterpDecode decoders[NUM_IR_OP_KINDS] = {
    [IR_FUNC_CALL] = interp_decode_call,
    [IR_ARITH_CONSTANT] = decode_arith_constant,
    [IR_ARITH_CMPF] = interp_decode_cmp,
    [IR_ARITH_CMPI] = interp_decode_cmp,
    [IR_ARITH_SELECT] = interp_decode_select,
    [IR_ARITH_EXTF] = interp_decode_cast,
    [IR_ARITH_TRUNCF] = interp_decode_cast,
    [IR_ARITH_SITOFP] = interp_decode_cast,
    [IR_ARITH_UITOFP] = interp_decode_cast,
    [IR_ARITH_FPTOSI] = interp_decode_cast,
    [IR_ARITH_FPTOUI] = interp_decode_cast,
    [IR_ARITH_EXTSI] = interp_decode_cast,
    [IR_ARITH_EXTUI] = interp_decode_cast,
    [IR_ARITH_TRUNCI] = interp_decode_cast,
    [IR_ARITH_BITCAST] = interp_decode_cast,
    [IR_ARITH_INDEX_CAST] = interp_decode_cast,
    [IR_ARITH_INDEX_CASTUI] = interp_decode_cast,
    [IR_TENSOR_EMPTY] = interp_decode_tensor_empty,
    [IR_TENSOR_DIM] = interp_decode_dim,
    [IR_TENSOR_CAST] = interp_decode_tensor_cast,
    [IR_TENSOR_EXTRACT] = interp_decode_extract,
    [IR_TENSOR_INSERT] = interp_decode_insert,
    [IR_TENSOR_EXTRACT_SLICE] = interp_decode_extract_slice,
    [IR_TENSOR_INSERT_SLICE] = interp_decode_insert_slice,
    [IR_TENSOR_EXPAND_SHAPE] = interp_decode_tensor_reshape,
    [IR_TENSOR_COLLAPSE_SHAPE] = interp_decode_tensor_reshape,
    [IR_TENSOR_PAD] = interp_decode_pad,
    [IR_LINALG_INDEX] = interp_decode_linalg_index,
    [IR_LINALG_SOFTMAX] = interp_decode_softmax,
    [IR_LINALG_PACK] = interp_decode_pack,
    [IR_LINALG_UNPACK] = interp_decode_pack,
    [IR_SCF_FOR] = interp_decode_for,
    [IR_SCF_IF] = interp_decode_if,
    [IR_SCF_FORALL] = interp_decode_forall,
    [IR_SCF_PARALLEL] = interp_decode_parallel,
    [IR_AFFINE_APPLY] = interp_decode_affine_apply,
    [IR_AFFINE_MIN] = interp_decode_affine_apply,
    [IR_AFFINE_MAX] = interp_decode_affine_apply,
    [IR_AFFINE_FOR] = interp_decode_affine_for,
    [IR_AFFINE_PARALLEL] = interp_decode_affine_parallel,
    [IR_AFFINE_LOAD] = interp_decode_load,
    [IR_AFFINE_STORE] = interp_decode_store,
    [IR_AFFINE_VECTOR_LOAD] = interp_decode_vector_load,
    [IR_AFFINE_VECTOR_STORE] = interp_decode_vector_store,
    [IR_MEMREF_ALLOC] = interp_decode_alloc,
    [IR_MEMREF_ALLOCA] = interp_decode_alloc,
    [IR_MEMREF_DEALLOC] = interp_decode_dealloc,
    [IR_MEMREF_VIEW] = interp_decode_view,
    [IR_MEMREF_SUBVIEW] = interp_decode_subview,
    [IR_MEMREF_REINTERPRET_CAST] = interp_decode_reinterpret_cast,
    [IR_MEMREF_CAST] = interp_decode_memref_cast,
    [IR_MEMREF_ASSUME_ALIGNMENT] = interp_decode_memref_cast,
    [IR_MEMREF_EXPAND_SHAPE] = interp_decode_memref_reshape,
    [IR_MEMREF_COLLAPSE_SHAPE] = interp_decode_memref_reshape,
    [IR_MEMREF_LOAD] = interp_decode_load,
    [IR_MEMREF_STORE] = interp_decode_store,
    [IR_MEMREF_COPY] = interp_decode_memref_copy,
    [IR_MEMREF_DIM] = interp_decode_dim,
    [IR_MEMREF_GET_GLOBAL] = interp_decode_get_global,
    [IR_MEMREF_PREFETCH] = decode_nothing,
    [IR_VECTOR_LOAD] = interp_decode_vector_load,
    [IR_VECTOR_STORE] = interp_decode_vector_store,
    [IR_VECTOR_MASKEDLOAD] = interp_decode_vector_load,
    [IR_VECTOR_MASKEDSTORE] = interp_decode_vector_store,
    [IR_VECTOR_TRANSFER_READ] = interp_decode_transfer,
    [IR_VECTOR_TRANSFER_WRITE] = interp_decode_transfer,
    [IR_VECTOR_CREATE_MASK] = interp_decode_vector,
    [IR_VECTOR_BROADCAST] = interp_decode_vector,
    [IR_VECTOR_REDUCTION] = interp_decode_vector,
    [IR_VECTOR_CONTRACT] = interp_decode_vector,
    [IR_VECTOR_EXTRACT] = interp_decode_vector,
    [IR_VECTOR_INSERT] = interp_decode_vector,
    [IR_VECTOR_SHAPE_CAST] = interp_decode_vector,
    [IR_VECTOR_FROM_ELEMENTS] = interp_decode_vector,
    [IR_VECTOR_TO_ELEMENTS] = interp_decode_vector,
    [IR_VECTOR_BITCAST] = interp_decode_vector,
    [IR_VECTOR_SHUFFLE] = interp_decode_vector,
    [IR_VECTOR_INTERLEAVE] = interp_decode_vector,
    [IR_VECTOR_DEINTERLEAVE] = interp_decode_vector,
    [IR_VECTOR_STEP] = interp_decode_vector,
    [IR_UB_POISON] = decode_poison,
    [IR_CF_ASSERT] = interp_decode_assert,
    [IR_BUFFERIZATION_TO_TENSOR] = interp_decode_to_tensor,
    [IR_BUFFERIZATION_TO_BUFFER] = interp_decode_to_buffer,
    [IR_LLVM_CALL_INTRINSIC] = interp_decode_call_intrinsic,
};

static InterpDecode decoder_of(IrOpKind kind) {
    const IrOpInfo *info = ir_op_info(kind);
    if (decoders[kind]) return decoders[kind];
    if (info->traits & IR_LINALG) return interp_decode_structured;
    bool is_executable = info->levels & (1u << 1 | 1u << 2);
    return is_executable && info->traits & IR_ELEMENTWISE ? interp_decode_elementwise : NULL;
}

// ---------------------------------------------------------------- blocks and functions

static bool decode_ops(InterpDecoder *d, const IrBlock *block) {
    FOR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->num_results; i++) {
            if (interp_type_words(op->results[i].type) == UINT64_MAX) {
                return interp_refuse(d->in, op,
                                     "has a result of too high a rank or too many lanes");
            }
        }
        if (ir_op_info(op->kind)->traits & IR_TERMINATOR) {
            if (op->kind == IR_SCF_FORALL_IN_PARALLEL || op->kind == IR_SCF_REDUCE) {
                if (!interp_decode_parallel_end(d, op)) return false;
                emit_releases(d, op);
            } else {
                decode_yields(d, op);
            }
            continue;
        }
        InterpDecode decode = decoder_of(op->kind);
        if (!decode) {
            return interp_refuse(d->in, op,
                                 "cannot be executed: the interpreter covers levels 1 and 2");
        }
        if (!decode(d, op)) return false;
        if (d->num_words > INTERP_MAX_FRAME_WORDS) {
            return interp_limit(d->in, op, "brings the values of its function over %d words",
                                INTERP_MAX_FRAME_WORDS);
        }
        emit_releases(d, op);
    }
    return true;
}

void interp_block_seal(InterpDecoder *d, InterpBlock *block) {
    InterpInst *insts = ARENA_ARRAY(&d->in->arena, InterpInst, block->num_insts + 1);
    if (block->num_insts) memcpy(insts, block->insts, block->num_insts * sizeof *insts);
    free(block->insts);
    block->insts = insts;
    uint64_t num_words = 0;
    for (uint32_t i = 0; i < block->num_yields; i++) num_words += block->yields[i].num_words;
    block->num_steps = 1 + num_words;
    for (uint32_t i = 0; i < block->num_insts; i++) block->num_steps += MAX(insts[i].lanes, 1u);
    if (num_words) block->scratch = interp_slot_new(d, num_words);
}

InterpBlock *interp_decode_block(InterpDecoder *d, const IrBlock *block) {
    InterpBlock *out = INTERP_INFO(d, InterpBlock), *outer = d->block;
    note_last_uses(d, block);
    out->op = block->first ? block->first : d->func->op;
    out->args = INTERP_ARRAY(d, uint32_t, block->num_args + 1);
    out->num_args = block->num_args;
    for (uint32_t i = 0; i < block->num_args; i++) out->args[i] = interp_slot(d, block->args[i]);
    d->block = out;
    bool is_good = decode_ops(d, block);
    d->block = outer;
    interp_block_seal(d, out);
    return is_good ? out : NULL;
}

bool interp_decode_func(Interp *in, InterpFunc *func) {
    InterpDecoder d = {.in = in, .func = func};
    func->body = interp_decode_block(&d, ir_func_body(func->op));
    if (!func->body) return false;
    func->num_words = (uint32_t)d.num_words;
    func->image = ARENA_ARRAY(&in->arena, uint64_t, d.num_words + 1);
    for (const InterpConstant *c = d.constants; c; c = c->next) {
        memcpy(func->image + c->slot, c->words, c->num_words * sizeof *c->words);
    }
    func->is_decoded = true;
    return true;
}
