// Structured operations: for every point of the loops, in lexicographic order, read the operands,
// run the body, write the outputs. Named ones run a body built here from the same scalar operations
// as their generic form. Byte positions are carried along incrementally where the maps are linear.
#include <math.h>

#include "base/float16.h"
#include "ir/interp_decoders.h"

typedef struct LinalgOperand {
    uint32_t slot, arg_slot, yield_slot;
    uint32_t rank, elem_bytes;
    InterpMem mem;
    const InterpMap *map;
    bool is_shaped, is_read, is_output;
} LinalgOperand;

typedef struct LinalgOp {
    uint32_t num_loops, num_operands, num_inputs;
    uint32_t loop_slots[INTERP_MAX_LOOPS];
    // Loop i runs over dimension range_dim[i] of operand range_operand[i].
    uint32_t range_operand[INTERP_MAX_LOOPS], range_dim[INTERP_MAX_LOOPS];
    LinalgOperand *operands;
    bool *consumes;    // per operand: an output whose reference is taken over
    uint32_t *results; // slots of the tensor results, NULL on memrefs
    InterpBlock *body;
    // acc + a * b in f32, the inner loop of contractions
    bool is_f32_contraction;
    bool has_nonlinear;
    bool is_weight_product; // ingot.contract = "weights", f32 operand
    bool is_float_product;  // "float"
} LinalgOp;

// One run of the op.
typedef struct LinalgRun {
    Interp *in;
    const IrOp *op;
    const LinalgOp *info;
    uint64_t *frame;
    int64_t ranges[INTERP_MAX_LOOPS];
    InterpView *views[INTERP_MAX_OPERANDS];
    int64_t at[INTERP_MAX_OPERANDS]; // current byte position of each operand
    int64_t step[INTERP_MAX_LOOPS][INTERP_MAX_OPERANDS];
    bool is_tracked[INTERP_MAX_OPERANDS];
} LinalgRun;

// ---------------------------------------------------------------- preparing a run

// Smallest and largest index of one map result over the loops; linear maps only.
static bool check_range(const LinalgRun *run, uint32_t operand, uint32_t r) {
    const InterpMap *map = run->info->operands[operand].map;
    const int64_t *coeffs = map->coeffs + (size_t)r * map->num_inputs;
    __int128 low = map->constants[r], high = low;
    for (uint32_t d = 0; d < run->info->num_loops; d++) {
        __int128 span = (__int128)coeffs[d] * (run->ranges[d] - 1);
        if (span > 0)
            high += span;
        else
            low += span;
    }
    int64_t size = run->views[operand]->dims[r];
    uint32_t dim;
    bool is_dim = ir_affine_is_dim(map->map->results[r], &dim); // then the sizes must be equal
    if (low >= 0 && (is_dim ? high + 1 == size : high < size)) return true;
    return interp_fault(run->in, run->op,
                        "operand %u is indexed from %lld to %lld in dimension %u "
                        "of size %lld",
                        operand, (long long)low, (long long)high, r, (long long)size);
}

static bool prepare_linear(LinalgRun *run, uint32_t o) {
    const LinalgOperand *operand = &run->info->operands[o];
    const InterpView *view = run->views[o];
    uint64_t base = (uint64_t)view->offset;
    for (uint32_t d = 0; d < run->info->num_loops; d++) run->step[d][o] = 0;
    __int128 low = view->offset, high = view->offset;
    for (uint32_t r = 0; r < operand->rank; r++) {
        if (!check_range(run, o, r)) return false;
        int64_t stride = view->dims[operand->rank + r];
        const int64_t *coeffs = operand->map->coeffs + (size_t)r * operand->map->num_inputs;
        base += (uint64_t)interp_mul(operand->map->constants[r], stride);
        for (uint32_t d = 0; d < run->info->num_loops; d++) {
            run->step[d][o] += interp_mul(interp_mul(coeffs[d], stride), operand->elem_bytes);
        }
        __int128 span = (__int128)(view->dims[r] - 1) * stride;
        if (span > 0)
            high += span;
        else
            low += span;
    }
    run->at[o] = (int64_t)((uint64_t)view->base_bytes + base * operand->elem_bytes);
    if (view->buffer->is_freed) {
        return interp_fault(run->in, run->op, "accesses memory that was deallocated");
    }
    low = low * operand->elem_bytes + view->base_bytes;
    high = (high + 1) * operand->elem_bytes + view->base_bytes;
    if (low >= 0 && high <= (__int128)view->buffer->len_bytes) return true;
    return interp_fault(run->in, run->op, "operand %u reaches outside of its buffer of %llu bytes",
                        o, (unsigned long long)view->buffer->len_bytes);
}

// Loop bounds, positions, steps; *out_is_empty if there is no point at all.
static bool prepare(LinalgRun *run, bool *out_is_empty) {
    const LinalgOp *info = run->info;
    *out_is_empty = false;
    for (uint32_t d = 0; d < info->num_loops; d++) {
        run->ranges[d] = run->views[info->range_operand[d]]->dims[info->range_dim[d]];
        if (run->ranges[d] == 0) *out_is_empty = true;
        run->frame[info->loop_slots[d]] = 0;
    }
    if (*out_is_empty) return true;
    for (uint32_t o = 0; o < info->num_operands; o++) {
        const LinalgOperand *operand = &info->operands[o];
        if (!operand->is_shaped) continue;
        run->is_tracked[o] = interp_is_tracked(run->views[o]->buffer) || !operand->map->is_linear;
        if (operand->map->is_linear && !prepare_linear(run, o)) return false;
        if (!operand->map->is_linear) {
            for (uint32_t d = 0; d < info->num_loops; d++) run->step[d][o] = 0;
        }
    }
    return true;
}

// ---------------------------------------------------------------- one point

// The position of an operand with a map that is not linear.
static bool locate(LinalgRun *run, uint32_t o) {
    const LinalgOperand *operand = &run->info->operands[o];
    const InterpView *view = run->views[o];
    int64_t loops[INTERP_MAX_LOOPS];
    for (uint32_t d = 0; d < run->info->num_loops; d++) {
        loops[d] = (int64_t)run->frame[run->info->loop_slots[d]];
    }
    uint64_t at = (uint64_t)view->offset;
    for (uint32_t r = 0; r < operand->rank; r++) {
        int64_t index = interp_map_eval(operand->map, r, loops);
        if (index < 0 || index >= view->dims[r]) {
            return interp_fault(run->in, run->op,
                                "operand %u is indexed at %lld in dimension %u of "
                                "size %lld",
                                o, (long long)index, r, (long long)view->dims[r]);
        }
        at += (uint64_t)interp_mul(index, view->dims[operand->rank + r]);
    }
    run->at[o] = (int64_t)((uint64_t)view->base_bytes + at * operand->elem_bytes);
    return true;
}

static bool run_point(LinalgRun *run) {
    const LinalgOp *info = run->info;
    uint64_t *frame = run->frame;
    for (uint32_t o = 0; o < info->num_operands; o++) {
        const LinalgOperand *operand = &info->operands[o];
        if (!operand->is_shaped) continue;
        if (run->is_tracked[o] && !operand->map->is_linear && !locate(run, o)) return false;
        if (!operand->is_read) continue;
        const InterpView *view = run->views[o];
        if (run->is_tracked[o] && !interp_check_read(run->in, run->op, view->buffer, view->view_id,
                                                     run->at[o], operand->elem_bytes)) {
            return false;
        }
        frame[operand->arg_slot] = interp_load(operand->mem, view->buffer->data + run->at[o]);
    }
    if (!interp_run_block(run->in, info->body, frame)) return false;
    for (uint32_t o = info->num_inputs; o < info->num_operands; o++) {
        const LinalgOperand *operand = &info->operands[o];
        const InterpView *view = run->views[o];
        if (run->is_tracked[o] && !interp_check_write(run->in, run->op, view->buffer, view->view_id,
                                                      run->at[o], operand->elem_bytes)) {
            return false;
        }
        interp_store(operand->mem, view->buffer->data + run->at[o], frame[operand->yield_slot]);
    }
    return true;
}

// The innermost loop of a contraction with an f32 accumulator, no tracking: out = out + a * b.
static void run_f32_row(LinalgRun *run, int64_t count) {
    const LinalgOperand *a = &run->info->operands[0], *b = &run->info->operands[1];
    uint32_t inner = run->info->num_loops - 1;
    const uint8_t *pa = run->views[0]->buffer->data + run->at[0];
    const uint8_t *pb = run->views[1]->buffer->data + run->at[1];
    uint8_t *pc = run->views[2]->buffer->data + run->at[2];
    for (int64_t i = 0; i < count; i++) {
        uint64_t wa = interp_load(a->mem, pa), wb = interp_load(b->mem, pb);
        float x = a->mem == INTERP_MEM_F32   ? f32_from_bits((uint32_t)wa)
                  : a->mem == INTERP_MEM_F16 ? f16_to_f32((uint16_t)wa)
                                             : bf16_to_f32((uint16_t)wa);
        float y = b->mem == INTERP_MEM_F32   ? f32_from_bits((uint32_t)wb)
                  : b->mem == INTERP_MEM_F16 ? f16_to_f32((uint16_t)wb)
                                             : bf16_to_f32((uint16_t)wb);
        float sum;
        memcpy(&sum, pc, sizeof sum);
        float product = x * y;
        float old = sum;
        sum = old + product;
        memcpy(pc, &sum, sizeof sum);
        bool is_event = isinf(sum) ? isfinite(x) && isfinite(y) && isfinite(old)
                                   : isnan(sum) && !isnan(x) && !isnan(y) && !isnan(old);
        if (is_event && run->in->options->events) interp_note_event(run->in, run->op, isnan(sum));
        pa += run->step[inner][0];
        pb += run->step[inner][1];
        pc += run->step[inner][2];
    }
}

// Moves to the next point, loops below `loop` at their end; false when all are done.
static bool advance(LinalgRun *run, uint32_t loop) {
    const LinalgOp *info = run->info;
    while (loop-- > 0) {
        uint64_t *value = &run->frame[info->loop_slots[loop]];
        const int64_t *step = run->step[loop];
        if ((int64_t)++ * value < run->ranges[loop]) {
            for (uint32_t o = 0; o < info->num_operands; o++) run->at[o] += step[o];
            return true;
        }
        *value = 0;
        for (uint32_t o = 0; o < info->num_operands; o++) {
            run->at[o] -= interp_mul(step[o], run->ranges[loop] - 1);
        }
    }
    return false;
}

static bool run_loops(LinalgRun *run) {
    const LinalgOp *info = run->info;
    bool is_fast = info->is_f32_contraction && info->num_loops && !(run->in->options->noise > 0);
    for (uint32_t o = 0; o < info->num_operands; o++) is_fast = is_fast && !run->is_tracked[o];
    if (!is_fast) {
        do {
            if (!run_point(run)) return false;
        } while (advance(run, info->num_loops));
        return true;
    }
    uint32_t outer = info->num_loops - 1;
    do {
        uint64_t count = (uint64_t)run->ranges[outer];
        if (!interp_count(run->in, run->op, MIN(count, UINT64_MAX / 4) * 4)) return false;
        run_f32_row(run, run->ranges[outer]);
    } while (advance(run, outer));
    return true;
}

// ---------------------------------------------------------------- outputs

// Tensor outputs become the results: the reference is taken over or shared, then made sole.
static bool take_outputs(LinalgRun *run) {
    const LinalgOp *info = run->info;
    for (uint32_t o = info->num_inputs; info->results && o < info->num_operands; o++) {
        const LinalgOperand *operand = &info->operands[o];
        InterpView *old = interp_view(run->frame, operand->slot);
        InterpView *result = interp_view(run->frame, info->results[o - info->num_inputs]);
        memcpy(result, old, offsetof(InterpView, dims) + 2 * operand->rank * sizeof *old->dims);
        if (info->consumes[o])
            old->buffer = NULL;
        else
            result->buffer->refs++;
        if (!interp_buffer_own(run->in, run->op, &result->buffer)) return false;
        run->views[o] = result;
    }
    return true;
}

// Has every element been written? Then tracking can end.
static void settle_outputs(LinalgRun *run) {
    const LinalgOp *info = run->info;
    for (uint32_t o = info->num_inputs; info->results && o < info->num_operands; o++) {
        const LinalgOperand *operand = &info->operands[o];
        InterpBuffer *buffer = run->views[o]->buffer;
        if (buffer->defined && ir_affine_is_projected_permutation(operand->map->map)) {
            interp_buffer_set_defined(buffer);
        }
    }
}

// One block of an operand, moved by as much as storing it in the narrow type would, or stored and
// read back.
static void move_block(Interp *in, float *x, int64_t len) {
    bool is_int8 = str_equal(in->options->operand_noise, "int8");
    float largest = 0;
    for (int64_t i = 0; i < len; i++) largest = fmaxf(largest, fabsf(x[i]));
    float step = largest / 127.0f;
    for (int64_t i = 0; i < len; i++) {
        if (!in->options->rounds_operands) {
            float unit = (float)interp_random(in, 1 << 24) * 0x1p-23f - 1.0f;
            x[i] += unit * (is_int8 ? 0.5f * step : fabsf(x[i]) * 0x1p-8f);
        } else if (!is_int8) {
            x[i] = bf16_to_f32(bf16_from_f32(x[i]));
        } else if (step > 0 && isfinite(step)) {
            x[i] = step * rintf(x[i] / step);
        }
    }
}

// A copy of the first operand, dense f32 [rows, blocks, block] or [rows, columns], whose elements
// are moved (IrInterpOptions.operand_noise). False: no room.
static bool move_operand(LinalgRun *run, InterpView *copy) {
    Interp *in = run->in;
    const LinalgOperand *operand = &run->info->operands[0];
    const InterpView *view = run->views[0];
    uint32_t rank = operand->rank;
    memcpy(copy->dims, view->dims, 2 * rank * sizeof *copy->dims);
    if (!interp_tensor_new(in, run->op, copy, rank, operand->elem_bytes, true) ||
        !interp_view_copy(in, run->op, view, copy, rank, operand->elem_bytes))
        return false;
    int64_t block = rank ? copy->dims[rank - 1] : 1;
    float *data = (float *)(void *)copy->buffer->data;
    for (uint64_t at = 0; block > 0 && at < copy->buffer->len_bytes / 4; at += (uint64_t)block)
        move_block(in, data + at, block);
    run->views[0] = copy;
    return true;
}

static bool run_loops_of(LinalgRun *run) {
    bool is_empty;
    if (!prepare(run, &is_empty)) return false;
    if (is_empty) return true;
    if (!run_loops(run)) return false;
    settle_outputs(run);
    return true;
}

static bool is_number(InterpMem mem, uint64_t word) {
    switch (mem) {
    case INTERP_MEM_F16: return isfinite(f16_to_f32((uint16_t)word));
    case INTERP_MEM_BF16: return isfinite(bf16_to_f32((uint16_t)word));
    case INTERP_MEM_F32: return isfinite(f32_from_bits((uint32_t)word));
    default: return true;
    }
}

// What was noted in the op just run is dropped where it left nothing behind in the results.
static bool settle_events(const LinalgRun *run, bool was_empty, bool is_good) {
    IrInterpEvents *events = run->in->options->events;
    const LinalgOp *info = run->info;
    if (!events || !was_empty || !events->op || !is_good) return is_good;
    for (uint32_t o = info->num_inputs; o < info->num_operands; o++) {
        const LinalgOperand *operand = &info->operands[o];
        const InterpBuffer *buffer = run->views[o]->buffer;
        for (uint64_t at = 0; at < buffer->len_bytes; at += operand->elem_bytes)
            if (!is_number(operand->mem, interp_load(operand->mem, buffer->data + at)))
                return is_good;
    }
    events->op = NULL;
    return is_good;
}

static bool run_structured(Interp *in, const InterpInst *inst, uint64_t *frame) {
    LinalgRun run = {.in = in, .op = inst->op, .info = inst->info, .frame = frame};
    for (uint32_t o = 0; o < run.info->num_operands; o++) {
        const LinalgOperand *operand = &run.info->operands[o];
        if (operand->is_shaped) run.views[o] = interp_view(frame, operand->slot);
    }
    if (!take_outputs(&run)) return false;
    const char *noise = in->options->operand_noise;
    bool was_empty = in->options->events && !in->options->events->op;
    bool is_moved = noise && (run.info->is_weight_product ||
                              (run.info->is_float_product && str_equal(noise, "bf16")));
    if (!is_moved) return settle_events(&run, was_empty, run_loops_of(&run));
    uint64_t words[INTERP_VIEW_WORDS + 2 * INTERP_MAX_RANK] = {0};
    InterpView *moved = interp_view(words, 0);
    bool is_good = move_operand(&run, moved) && run_loops_of(&run);
    if (moved->buffer) interp_buffer_unref(in, moved->buffer);
    return is_good;
}

// ---------------------------------------------------------------- bodies of named ops

// The operand as a value of the accumulator's type: its place.
static uint32_t emit_operand(InterpDecoder *d, const IrOp *op, LinalgOperand *operand, uint32_t o,
                             const IrType *acc_type) {
    const IrType *type = ir_type_elem(ir_op_operand(op, o)->type);
    const IrAttr *cast = ir_op_attr(op, "cast");
    bool is_unsigned =
        cast && cast->kind == IR_ATTR_STRING && str_equal(cast->str, "cast_unsigned");
    operand->is_read = true;
    if (type == acc_type) return operand->arg_slot;
    uint32_t to = interp_slot_new(d, 1);
    interp_emit_cast(d, op, type, acc_type, is_unsigned, operand->arg_slot, to);
    return to;
}

static uint32_t emit_combine(InterpDecoder *d, const IrOp *op, IrOpKind kind, const IrType *type,
                             uint32_t a, uint32_t b) {
    bool is_float = ir_type_is_float(type);
    InterpInst *inst =
        interp_emit(d, op, is_float ? interp_float_op(kind, type->kind) : interp_int_op(kind));
    inst->width = ir_type_bits(type);
    inst->src[0] = a;
    inst->src[1] = b;
    inst->dst = interp_slot_new(d, 1);
    return inst->dst;
}

static bool is_narrow_float(const LinalgOperand *operand) {
    return operand->is_shaped &&
           (operand->mem == INTERP_MEM_F32 || operand->mem == INTERP_MEM_F16 ||
            operand->mem == INTERP_MEM_BF16);
}

// The body of a named op in a new block; its value's place becomes the output's yield slot.
static void build_named_body(InterpDecoder *d, const IrOp *op, LinalgOp *info) {
    InterpBlock *block = INTERP_INFO(d, InterpBlock), *outer = d->block;
    LinalgOperand *operands = info->operands, *out = &operands[info->num_operands - 1];
    const IrType *acc_type = ir_op_operand(op, info->num_operands - 1)->type->elem;
    bool is_contraction = ir_op_info(op->kind)->traits & IR_CONTRACTION;
    IrOpKind combiner = ir_linalg_combiner(op);
    d->block = block;
    uint32_t value = emit_operand(d, op, &operands[0], 0, acc_type);
    if (is_contraction) {
        uint32_t other = emit_operand(d, op, &operands[1], 1, acc_type);
        IrOpKind product = ir_type_is_float(acc_type) ? IR_ARITH_MULF : IR_ARITH_MULI;
        value = emit_combine(d, op, product, acc_type, value, other);
    }
    out->is_read = combiner != NUM_IR_OP_KINDS;
    if (out->is_read) value = emit_combine(d, op, combiner, acc_type, out->arg_slot, value);
    out->yield_slot = value;
    d->block = outer;
    interp_block_seal(d, block);
    info->body = block;
    info->is_f32_contraction = is_contraction && acc_type->kind == IR_TYPE_F32 &&
                               is_narrow_float(&operands[0]) && is_narrow_float(&operands[1]);
}

// ---------------------------------------------------------------- decoding

static bool decode_operands(InterpDecoder *d, const IrOp *op, LinalgOp *info) {
    for (uint32_t o = 0; o < op->num_operands; o++) {
        LinalgOperand *operand = &info->operands[o];
        const IrType *type = ir_op_operand(op, o)->type;
        const IrAffineMap *map = ir_linalg_map(d->in->module, op, o);
        operand->slot = interp_slot(d, ir_op_operand(op, o));
        operand->yield_slot = INTERP_NO_SLOT;
        operand->is_shaped = interp_is_view(type);
        operand->is_output = o >= info->num_inputs;
        if (!operand->is_shaped) {
            if (!ir_type_is_scalar(type) || operand->is_output) {
                return interp_refuse(d->in, op, "operand %u has a type it cannot have", o);
            }
            operand->arg_slot = operand->slot;
            continue;
        }
        if (type->rank > INTERP_MAX_RANK || map->num_results != type->rank ||
            map->num_dims != info->num_loops || map->num_symbols) {
            return interp_refuse(d->in, op, "operand %u does not fit its map", o);
        }
        operand->rank = type->rank;
        operand->elem_bytes = ir_type_bytes(type->elem);
        operand->mem = interp_mem(type->elem);
        operand->map = interp_map_new(d, map);
        operand->arg_slot = interp_slot_new(d, 1);
        for (uint32_t r = 0; r < map->num_results; r++) {
            uint32_t dim;
            if (!ir_affine_is_dim(map->results[r], &dim)) continue;
            if (info->range_operand[dim] != INTERP_NO_SLOT) continue;
            info->range_operand[dim] = o;
            info->range_dim[dim] = r;
        }
    }
    return true;
}

// The region of a generic or reduce: block arguments lie in the operands' argument slots.
static bool decode_region(InterpDecoder *d, const IrOp *op, LinalgOp *info) {
    const IrBlock *block = ir_op_block(op, 0);
    if (!block || block->num_args != op->num_operands) {
        return interp_refuse(d->in, op, "has a region that does not fit its operands");
    }
    for (uint32_t o = 0; o < op->num_operands; o++) {
        interp_alias(d, block->args[o], info->operands[o].arg_slot);
        info->operands[o].is_read = !ir_value_is_unused(block->args[o]);
    }
    const uint32_t *outer_slots = d->loop_slots;
    uint32_t outer_loops = d->num_loops;
    d->loop_slots = info->loop_slots;
    d->num_loops = info->num_loops;
    info->body = interp_decode_block(d, block);
    d->loop_slots = outer_slots;
    d->num_loops = outer_loops;
    if (!info->body) return false;
    if (info->body->num_yields != op->num_operands - info->num_inputs) {
        return interp_refuse(d->in, op, "yields %u values for %u outputs", info->body->num_yields,
                             op->num_operands - info->num_inputs);
    }
    for (uint32_t y = 0; y < info->body->num_yields; y++) {
        info->operands[info->num_inputs + y].yield_slot = info->body->yields[y].from;
    }
    return true;
}

static LinalgOp *linalg_new(InterpDecoder *d, const IrOp *op) {
    LinalgOp *info = INTERP_INFO(d, LinalgOp);
    info->num_operands = op->num_operands;
    info->num_inputs = op->segments[0];
    info->num_loops = op->num_operands ? ir_linalg_num_loops(op) : 0;
    if (!op->num_operands || op->num_operands > INTERP_MAX_OPERANDS ||
        info->num_loops > INTERP_MAX_LOOPS) {
        (void)interp_refuse(d->in, op, "has more than %d loops or %d operands", INTERP_MAX_LOOPS,
                            INTERP_MAX_OPERANDS);
        return NULL;
    }
    info->operands = INTERP_ARRAY(d, LinalgOperand, op->num_operands);
    info->consumes = INTERP_ARRAY(d, bool, op->num_operands);
    for (uint32_t i = 0; i < info->num_loops; i++) {
        info->loop_slots[i] = interp_slot_new(d, 1);
        info->range_operand[i] = INTERP_NO_SLOT;
    }
    return info;
}

bool interp_decode_structured(InterpDecoder *d, const IrOp *op) {
    LinalgOp *info = linalg_new(d, op);
    if (!info || !decode_operands(d, op, info)) return false;
    for (uint32_t i = 0; i < info->num_loops; i++) {
        if (info->range_operand[i] == INTERP_NO_SLOT) {
            return interp_refuse(d->in, op,
                                 "has a loop that no operand dimension gives the range of");
        }
    }
    bool has_region = op->kind == IR_LINALG_GENERIC || op->kind == IR_LINALG_REDUCE;
    if (!has_region)
        build_named_body(d, op, info);
    else if (!decode_region(d, op, info))
        return false;
    const IrAttr *contract = ir_op_attr(op, "ingot.contract");
    bool is_product =
        contract && contract->kind == IR_ATTR_STRING && info->operands[0].mem == INTERP_MEM_F32;
    info->is_weight_product = is_product && str_equal(contract->str, "weights");
    info->is_float_product = is_product && str_equal(contract->str, "float");
    if (op->num_results) {
        info->results = INTERP_ARRAY(d, uint32_t, op->num_results);
        for (uint32_t i = 0; i < op->num_results; i++) info->results[i] = interp_result(d, op, i);
        for (uint32_t o = info->num_inputs; o < op->num_operands; o++) {
            info->consumes[o] = interp_consumes(d, op, o);
        }
    }
    interp_emit(d, op, run_structured)->info = info;
    return true;
}

bool interp_decode_linalg_index(InterpDecoder *d, const IrOp *op) {
    int64_t dim = interp_attr_int(op, "dim", -1);
    if (dim < 0 || dim >= (int64_t)d->num_loops) {
        return interp_refuse(d->in, op, "has no loop %lld around it", (long long)dim);
    }
    interp_alias(d, &op->results[0], d->loop_slots[dim]);
    return true;
}

// ---------------------------------------------------------------- softmax

typedef struct Softmax {
    uint32_t rank, dimension, elem_bytes;
    InterpMem mem;
    bool is_consumed;
    // Each step is one operation of the element type, on these places.
    InterpBlock *max, *shift, *sum, *divide;
    uint32_t x, max_slot, sum_slot;
} Softmax;

static uint64_t nan_word(IrTypeKind type) {
    switch (type) {
    case IR_TYPE_F16: return 0x7E00;
    case IR_TYPE_BF16: return 0x7FC0;
    case IR_TYPE_F32: return 0x7FC00000;
    default: return UINT64_C(0x7FF8000000000000);
    }
}

// One row as upstream expands it: max by maxnumf from NaN, subtract, exp, ascending sum, divide.
static bool softmax_row(Interp *in, const Softmax *info, IrTypeKind type, const uint8_t *src,
                        uint8_t *dst, int64_t count, int64_t stride, uint64_t *frame) {
    frame[info->max_slot] = nan_word(type);
    for (int64_t i = 0; i < count; i++) {
        frame[info->x] = interp_load(info->mem, src + i * stride);
        if (!interp_run_block(in, info->max, frame)) return false;
    }
    frame[info->sum_slot] = 0;
    for (int64_t i = 0; i < count; i++) {
        frame[info->x] = interp_load(info->mem, src + i * stride);
        if (!interp_run_block(in, info->shift, frame)) return false;
        interp_store(info->mem, dst + i * stride, frame[info->x]);
    }
    for (int64_t i = 0; i < count; i++) {
        frame[info->x] = interp_load(info->mem, dst + i * stride);
        if (!interp_run_block(in, info->sum, frame)) return false;
    }
    for (int64_t i = 0; i < count; i++) {
        frame[info->x] = interp_load(info->mem, dst + i * stride);
        if (!interp_run_block(in, info->divide, frame)) return false;
        interp_store(info->mem, dst + i * stride, frame[info->x]);
    }
    return true;
}

static bool run_softmax(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Softmax *info = inst->info;
    const InterpView *src = interp_view(frame, inst->src[0]);
    InterpView *init = interp_view(frame, inst->src[1]), *dst = interp_view(frame, inst->dst);
    int64_t inner = 1, outer = 1, count = src->dims[info->dimension];
    if (!interp_check_sizes(in, inst->op, init->dims, src->dims, info->rank)) return false;
    for (uint32_t i = 0; i < info->rank; i++) {
        if (i < info->dimension) outer *= src->dims[i];
        if (i > info->dimension) inner *= src->dims[i];
    }
    if (src->buffer->len_bytes &&
        !interp_check_read(in, inst->op, src->buffer, 0, 0, (int64_t)src->buffer->len_bytes)) {
        return false;
    }
    memcpy(dst->dims, src->dims, info->rank * sizeof *dst->dims);
    if (!interp_tensor_new(in, inst->op, dst, info->rank, info->elem_bytes, true)) return false;
    if (!dst->buffer->len_bytes) return true; // of the sizes, only one need be 0
    int64_t stride = inner * info->elem_bytes;
    IrTypeKind type = inst->op->results[0].type->elem->kind;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < inner; i++) {
            int64_t at = (o * count * inner + i) * info->elem_bytes;
            if (!softmax_row(in, info, type, src->buffer->data + at, dst->buffer->data + at, count,
                             stride, frame)) {
                return false;
            }
        }
    }
    return true;
}

// A block of one or two operations: to = second(first(a, b)).
static InterpBlock *step_block(InterpDecoder *d, const IrOp *op, IrTypeKind type, IrOpKind first,
                               IrOpKind second, uint32_t a, uint32_t b, uint32_t to) {
    InterpBlock *block = INTERP_INFO(d, InterpBlock), *outer = d->block;
    d->block = block;
    InterpInst *inst = interp_emit(d, op, interp_float_op(first, type));
    inst->src[0] = a;
    inst->src[1] = b;
    inst->dst = to;
    if (second != NUM_IR_OP_KINDS) {
        inst = interp_emit(d, op, interp_float_op(second, type));
        inst->src[0] = inst->dst = to;
    }
    d->block = outer;
    interp_block_seal(d, block);
    return block;
}

bool interp_decode_softmax(InterpDecoder *d, const IrOp *op) {
    const IrType *type = ir_op_operand(op, 0)->type;
    int64_t dimension = interp_attr_int(op, "dimension", -1);
    if (op->num_operands != 2 || !op->num_results || type->kind != IR_TYPE_TENSOR ||
        dimension < 0 || dimension >= type->rank || !ir_type_is_float(type->elem)) {
        return interp_refuse(d->in, op, "needs float tensors and a dimension of them");
    }
    Softmax *info = INTERP_INFO(d, Softmax);
    IrTypeKind kind = type->elem->kind;
    info->rank = type->rank;
    info->dimension = (uint32_t)dimension;
    info->elem_bytes = ir_type_bytes(type->elem);
    info->mem = interp_mem(type->elem);
    info->x = interp_slot_new(d, 1);
    info->max_slot = interp_slot_new(d, 1);
    info->sum_slot = interp_slot_new(d, 1);
    info->max = step_block(d, op, kind, IR_ARITH_MAXNUMF, NUM_IR_OP_KINDS, info->x, info->max_slot,
                           info->max_slot);
    info->shift =
        step_block(d, op, kind, IR_ARITH_SUBF, IR_MATH_EXP, info->x, info->max_slot, info->x);
    info->sum = step_block(d, op, kind, IR_ARITH_ADDF, NUM_IR_OP_KINDS, info->x, info->sum_slot,
                           info->sum_slot);
    info->divide =
        step_block(d, op, kind, IR_ARITH_DIVF, NUM_IR_OP_KINDS, info->x, info->sum_slot, info->x);
    InterpInst *inst = interp_emit(d, op, run_softmax);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->dst = interp_result(d, op, 0);
    return true;
}
