// Loops, branches, calls. Parallel loops run in the order the options ask for.
#include <stdlib.h>

#include "ir/interp_decoders.h"

// ---------------------------------------------------------------- scf.for, affine.for

typedef struct ForLoop {
    InterpBlock *body;
    const InterpMove *inits;
    const uint32_t *results;
    uint32_t num_carried;
    // affine.for: bounds are maps of operands, the step is fixed
    const InterpMap *lower, *upper;
    const uint32_t *lower_slots, *upper_slots;
    int64_t step;
    bool is_unsigned;
} ForLoop;

// Iteration arguments become the results.
static void finish_for(const ForLoop *loop, uint64_t *frame) {
    for (uint32_t i = 0; i < loop->num_carried; i++) {
        InterpMove move = loop->inits[i];
        move.from = loop->body->args[1 + i];
        move.is_consumed = true;
        interp_move(&move, frame, frame + loop->results[i]);
    }
}

static bool run_loop(Interp *in, const InterpInst *inst, const ForLoop *loop, uint64_t *frame,
                     int64_t lower, int64_t upper, int64_t step) {
    if (step <= 0)
        return interp_fault_of(in, inst->op, FAULT_STEP, step, (InterpNumbers){{0}}, "");
    for (uint32_t i = 0; i < loop->num_carried; i++) {
        interp_move(&loop->inits[i], frame, frame + loop->body->args[1 + i]);
    }
    bool is_unsigned = loop->is_unsigned;
    while (is_unsigned ? (uint64_t)lower < (uint64_t)upper : lower < upper) {
        frame[loop->body->args[0]] = (uint64_t)lower;
        if (!interp_run_block(in, loop->body, frame)) return false;
        interp_yield(in, loop->body, frame, frame, loop->body->args + 1);
        if (__builtin_add_overflow(lower, step, &lower)) break;
    }
    finish_for(loop, frame);
    return true;
}

static bool run_for(Interp *in, const InterpInst *inst, uint64_t *frame) {
    return run_loop(in, inst, inst->info, frame, (int64_t)frame[inst->src[0]],
                    (int64_t)frame[inst->src[1]], (int64_t)frame[inst->src[2]]);
}

static int64_t bound(const InterpMap *map, const uint32_t *slots, const uint64_t *frame,
                     bool is_lower) {
    int64_t inputs[INTERP_MAX_OPERANDS];
    for (uint32_t i = 0; i < map->num_inputs; i++) inputs[i] = (int64_t)frame[slots[i]];
    int64_t best = interp_map_eval(map, 0, inputs);
    for (uint32_t r = 1; r < map->map->num_results; r++) {
        int64_t value = interp_map_eval(map, r, inputs);
        best = is_lower ? MAX(best, value) : MIN(best, value);
    }
    return best;
}

static bool run_affine_for(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const ForLoop *loop = inst->info;
    return run_loop(in, inst, loop, frame, bound(loop->lower, loop->lower_slots, frame, true),
                    bound(loop->upper, loop->upper_slots, frame, false), loop->step);
}

static bool decode_for_body(InterpDecoder *d, const IrOp *op, uint32_t first_init, ForLoop *loop) {
    loop->num_carried = op->num_results;
    InterpMove *inits = INTERP_ARRAY(d, InterpMove, op->num_results + 1);
    uint32_t *results = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    const IrBlock *block = op->num_regions ? ir_op_block(op, 0) : NULL;
    if (!block || block->num_args != op->num_results + 1 ||
        op->num_operands - first_init != op->num_results) {
        return interp_refuse(d->in, op, "has a region that does not fit its results");
    }
    for (uint32_t i = 0; i < op->num_results; i++) {
        inits[i] = interp_move_of(d, op, first_init + i);
        results[i] = interp_result(d, op, i);
    }
    loop->inits = inits;
    loop->results = results;
    loop->body = interp_decode_block(d, block);
    if (!loop->body) return false;
    return loop->body->num_yields == op->num_results ||
           interp_refuse(d->in, op, "has a yield that does not fit its results");
}

bool interp_decode_for(InterpDecoder *d, const IrOp *op) {
    ForLoop *loop = INTERP_INFO(d, ForLoop);
    if (op->num_operands < 3 || !decode_for_body(d, op, 3, loop)) {
        return op->num_operands >= 3 ? false : interp_refuse(d->in, op, "lacks its bounds");
    }
    loop->is_unsigned = ir_op_attr(op, "unsignedCmp") != NULL;
    InterpInst *inst = interp_emit(d, op, run_for);
    for (uint32_t i = 0; i < 3; i++) inst->src[i] = interp_slot(d, ir_op_operand(op, i));
    inst->info = loop;
    return true;
}

static bool decode_bound(InterpDecoder *d, const IrOp *op, const char *name, uint32_t segment,
                         const InterpMap **out_map, const uint32_t **out_slots) {
    const IrAttr *attr = ir_op_attr(op, name);
    if (!attr || attr->kind != IR_ATTR_MAP || !attr->map->num_results ||
        attr->map->num_dims + attr->map->num_symbols != op->segments[segment] ||
        op->segments[segment] > INTERP_MAX_OPERANDS) {
        return interp_refuse(d->in, op, "has a bound that does not fit its operands");
    }
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, op->segments[segment] + 1);
    uint32_t first = ir_op_segment_start(op, segment);
    for (uint32_t i = 0; i < op->segments[segment]; i++) {
        slots[i] = interp_slot(d, ir_op_operand(op, first + i));
    }
    *out_map = interp_map_new(d, attr->map);
    *out_slots = slots;
    return true;
}

bool interp_decode_affine_for(InterpDecoder *d, const IrOp *op) {
    ForLoop *loop = INTERP_INFO(d, ForLoop);
    if (!decode_bound(d, op, "lowerBoundMap", 0, &loop->lower, &loop->lower_slots) ||
        !decode_bound(d, op, "upperBoundMap", 1, &loop->upper, &loop->upper_slots) ||
        !decode_for_body(d, op, ir_op_segment_start(op, 2), loop)) {
        return false;
    }
    loop->step = interp_attr_int(op, "step", 1);
    interp_emit(d, op, run_affine_for)->info = loop;
    return true;
}

// ---------------------------------------------------------------- scf.if, cf.assert

typedef struct If {
    InterpBlock *branches[2]; // taken when true, when false (NULL: nothing to do)
    const uint32_t *results;
} If;

static bool run_if(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const If *info = inst->info;
    const InterpBlock *block = info->branches[frame[inst->src[0]] ? 0 : 1];
    if (!block) return true;
    if (!interp_run_block(in, block, frame)) return false;
    interp_yield(in, block, frame, frame, info->results);
    return true;
}

bool interp_decode_if(InterpDecoder *d, const IrOp *op) {
    If *info = INTERP_INFO(d, If);
    uint32_t *results = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) results[i] = interp_result(d, op, i);
    info->results = results;
    for (uint32_t r = 0; r < 2; r++) {
        const IrBlock *block = r < op->num_regions ? ir_op_block(op, r) : NULL;
        if (block && !(info->branches[r] = interp_decode_block(d, block))) return false;
        uint32_t num_yields = info->branches[r] ? info->branches[r]->num_yields : 0;
        if (num_yields != op->num_results) {
            return interp_refuse(d->in, op, "has a branch that does not fit its results");
        }
    }
    InterpInst *inst = interp_emit(d, op, run_if);
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->info = info;
    return true;
}

static bool run_assert(Interp *in, const InterpInst *inst, uint64_t *frame) {
    if (frame[inst->src[0]]) return true;
    const IrAttr *text = ir_op_attr(inst->op, "msg");
    return interp_fault_of(in, inst->op, FAULT_ASSERT, 0, (InterpNumbers){{0}},
                           text && text->kind == IR_ATTR_STRING ? text->str : "");
}

bool interp_decode_assert(InterpDecoder *d, const IrOp *op) {
    interp_emit(d, op, run_assert)->src[0] = interp_slot(d, ir_op_operand(op, 0));
    return true;
}

// ---------------------------------------------------------------- parallel loops

typedef struct InterpForall {
    InterpBlock *body;
    uint32_t num_loops;
    InterpMixed lower, upper, step; // scf; affine.parallel: the maps
    const InterpMap *lower_map, *upper_map;
    const uint32_t *lower_slots, *upper_slots;
    const int64_t *steps;
    // Shared tensors of scf.forall: what the body sees, what it inserts into; results.
    const IrOp *op;
    const InterpMove *inits;
    const uint32_t *current, *results;
    uint32_t num_shared;
    // Reductions of scf.parallel: values and the regions that combine two.
    InterpBlock **reductions;
    const uint32_t *reduced;
} InterpForall;

// The number of the n-th iteration in the wanted order.
typedef struct Order {
    uint64_t count;
    uint32_t kind;
    uint64_t *shuffle; // NULL unless a random order
} Order;

static bool order_init(Interp *in, const IrOp *op, uint64_t count, Order *out) {
    *out = (Order){.count = count, .kind = in->options->parallel_order};
    if (out->kind < 2) return true;
    uint64_t len_bytes;
    if (!size_mul(count, sizeof *out->shuffle, &len_bytes)) len_bytes = UINT64_MAX;
    if (!interp_count(in, op, count) || !interp_reserve(in, op, len_bytes)) return false;
    out->shuffle = base_alloc(count + 1, sizeof *out->shuffle);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t other = interp_random(in, i + 1);
        out->shuffle[i] = out->shuffle[other];
        out->shuffle[other] = i;
    }
    return true;
}

static uint64_t order_at(const Order *order, uint64_t n) {
    if (order->shuffle) return order->shuffle[n];
    return order->kind ? order->count - 1 - n : n;
}

static void loop_bounds(const InterpForall *info, const uint64_t *frame, int64_t *lower,
                        int64_t *upper, int64_t *step) {
    if (!info->lower_map) {
        interp_mixed_get(&info->lower, frame, lower);
        interp_mixed_get(&info->upper, frame, upper);
        interp_mixed_get(&info->step, frame, step);
        return;
    }
    int64_t inputs[INTERP_MAX_OPERANDS];
    for (uint32_t side = 0; side < 2; side++) {
        const InterpMap *map = side ? info->upper_map : info->lower_map;
        const uint32_t *slots = side ? info->upper_slots : info->lower_slots;
        for (uint32_t i = 0; i < map->num_inputs; i++) inputs[i] = (int64_t)frame[slots[i]];
        for (uint32_t i = 0; i < info->num_loops; i++) {
            (side ? upper : lower)[i] = interp_map_eval(map, i, inputs);
        }
    }
    memcpy(step, info->steps, info->num_loops * sizeof *step);
}

// Combines what the iteration reduced into the running values: args are (running, new).
static bool combine(Interp *in, const InterpForall *info, uint64_t *frame) {
    for (uint32_t i = 0; i < info->num_shared; i++) {
        InterpBlock *block = info->reductions[i];
        frame[block->args[0]] = frame[info->results[i]];
        frame[block->args[1]] = frame[info->reduced[i]];
        if (!interp_run_block(in, block, frame)) return false;
        frame[info->results[i]] = frame[block->yields[0].from];
    }
    return true;
}

static bool run_iterations(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpForall *info = inst->info;
    int64_t lower[INTERP_MAX_LOOPS], upper[INTERP_MAX_LOOPS], step[INTERP_MAX_LOOPS];
    uint64_t counts[INTERP_MAX_LOOPS], total = 1;
    loop_bounds(info, frame, lower, upper, step);
    for (uint32_t i = 0; i < info->num_loops; i++) {
        if (step[i] <= 0)
            return interp_fault(in, inst->op, "has the step %lld", (long long)step[i]);
        uint64_t span = upper[i] > lower[i] ? (uint64_t)upper[i] - (uint64_t)lower[i] : 0;
        counts[i] = span ? (span - 1) / (uint64_t)step[i] + 1 : 0;
        if (!size_mul(total, counts[i], &total)) {
            return interp_limit(in, inst->op, "has more than 2^64 iterations");
        }
    }
    Order order;
    if (!order_init(in, inst->op, total, &order)) return false;
    bool is_good = true;
    for (uint64_t n = 0; is_good && n < total; n++) {
        uint64_t at = order_at(&order, n);
        for (uint32_t i = info->num_loops; i-- > 0;) {
            frame[info->body->args[i]] = (uint64_t)lower[i] + at % counts[i] * (uint64_t)step[i];
            at /= counts[i];
        }
        // Each iteration sees the shared tensors as they were before the loop.
        for (uint32_t i = 0; !info->reductions && i < info->num_shared; i++) {
            InterpMove share = info->inits[i];
            share.from = info->current[i];
            interp_move(&share, frame, frame + info->body->args[info->num_loops + i]);
        }
        is_good = interp_run_block(in, info->body, frame) &&
                  (!info->reductions || combine(in, info, frame));
    }
    if (order.shuffle) in->live_bytes -= total * sizeof *order.shuffle;
    free(order.shuffle);
    return is_good;
}

static bool run_forall(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpForall *info = inst->info;
    for (uint32_t i = 0; i < info->num_shared; i++) {
        InterpMove move = info->inits[i];
        move.is_consumed = false;
        interp_move(&move, frame, frame + info->current[i]);
        interp_move(&move, frame, frame + info->results[i]);
        // The results are written while the iterations read the originals.
        if (!interp_buffer_own(in, inst->op, &interp_view(frame, info->results[i])->buffer))
            return false;
    }
    if (!run_iterations(in, inst, frame)) return false;
    for (uint32_t i = 0; i < info->num_shared; i++) interp_release(in, frame, info->current[i]);
    return true;
}

static bool decode_parallel_body(InterpDecoder *d, const IrOp *op, InterpForall *info) {
    const InterpForall *outer = d->forall;
    d->forall = info;
    info->body =
        op->num_regions && ir_op_block(op, 0) ? interp_decode_block(d, ir_op_block(op, 0)) : NULL;
    d->forall = outer;
    return info->body != NULL;
}

bool interp_decode_forall(InterpDecoder *d, const IrOp *op) {
    InterpForall *info = INTERP_INFO(d, InterpForall);
    uint32_t at[IR_MAX_SEGMENTS];
    for (uint32_t s = 0; s < IR_MAX_SEGMENTS; s++) at[s] = ir_op_segment_start(op, s);
    info->op = op;
    info->num_shared = op->num_results;
    if (!interp_mixed_new(d, op, "staticLowerBound", at[0], op->segments[0], &info->lower) ||
        !interp_mixed_new(d, op, "staticUpperBound", at[1], op->segments[1], &info->upper) ||
        !interp_mixed_new(d, op, "staticStep", at[2], op->segments[2], &info->step)) {
        return false;
    }
    info->num_loops = info->lower.count;
    const IrBlock *block = op->num_regions ? ir_op_block(op, 0) : NULL;
    if (info->upper.count != info->num_loops || info->step.count != info->num_loops ||
        op->segments[3] != op->num_results || !block ||
        block->num_args != info->num_loops + op->num_results) {
        return interp_refuse(d->in, op, "has bounds or a region that do not fit");
    }
    InterpMove *inits = INTERP_ARRAY(d, InterpMove, op->num_results + 1);
    uint32_t *results = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    uint32_t *current = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) {
        inits[i] = interp_move_of(d, op, at[3] + i);
        inits[i].is_consumed = false;
        results[i] = interp_result(d, op, i);
        current[i] = interp_slot_new(d, inits[i].num_words);
    }
    info->inits = inits;
    info->results = results;
    info->current = current;
    if (!decode_parallel_body(d, op, info)) return false;
    interp_emit(d, op, run_forall)->info = info;
    return true;
}

static bool operands_of_segment(InterpDecoder *d, const IrOp *op, uint32_t segment, uint32_t count,
                                InterpMixed *out) {
    int64_t *values = INTERP_ARRAY(d, int64_t, count + 1);
    uint32_t *slots = INTERP_ARRAY(d, uint32_t, count + 1);
    if (op->segments[segment] != count)
        return interp_refuse(d->in, op, "has bounds that do not fit");
    uint32_t first = ir_op_segment_start(op, segment);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = IR_DYNAMIC;
        slots[i] = interp_slot(d, ir_op_operand(op, first + i));
    }
    *out = (InterpMixed){.count = count, .values = values, .slots = slots};
    return true;
}

static bool run_parallel(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const InterpForall *info = inst->info;
    for (uint32_t i = 0; i < info->num_shared; i++) {
        interp_move(&info->inits[i], frame, frame + info->results[i]);
    }
    return run_iterations(in, inst, frame);
}

bool interp_decode_parallel(InterpDecoder *d, const IrOp *op) {
    InterpForall *info = INTERP_INFO(d, InterpForall);
    info->op = op;
    info->num_loops = op->segments[0];
    info->num_shared = op->num_results;
    if (info->num_loops > INTERP_MAX_LOOPS || op->segments[3] != op->num_results) {
        return interp_refuse(d->in, op, "has too many loops, or initial values that do not fit");
    }
    if (!operands_of_segment(d, op, 0, info->num_loops, &info->lower) ||
        !operands_of_segment(d, op, 1, info->num_loops, &info->upper) ||
        !operands_of_segment(d, op, 2, info->num_loops, &info->step)) {
        return false;
    }
    InterpMove *inits = INTERP_ARRAY(d, InterpMove, op->num_results + 1);
    uint32_t *results = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) {
        inits[i] = interp_move_of(d, op, ir_op_segment_start(op, 3) + i);
        results[i] = interp_result(d, op, i);
        if (inits[i].num_words != 1) return interp_refuse(d->in, op, "reduces what is no scalar");
    }
    info->inits = inits;
    info->results = results;
    info->reductions = INTERP_ARRAY(d, InterpBlock *, op->num_results + 1);
    info->reduced = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    if (!decode_parallel_body(d, op, info)) return false;
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (!info->reductions[i]) return interp_refuse(d->in, op, "lacks a reduction for a result");
    }
    interp_emit(d, op, run_parallel)->info = info;
    return true;
}

static bool end_forall(InterpDecoder *d, const IrOp *op, const InterpForall *forall) {
    const IrBlock *block = op->num_regions ? ir_op_block(op, 0) : NULL;
    if (!block) return true;
    FOR_EACH_OP(insert, block) {
        if (insert->kind != IR_TENSOR_PARALLEL_INSERT_SLICE) {
            return interp_refuse(d->in, insert, "cannot stand in scf.forall.in_parallel");
        }
        const IrValue *target = ir_op_operand(insert, 1);
        uint32_t shared = target->number - forall->num_loops;
        if (target->def_op || ir_block_parent(target->def_block) != forall->op ||
            target->number < forall->num_loops || shared >= forall->num_shared) {
            return interp_refuse(d->in, insert, "inserts into a tensor that is not shared");
        }
        if (!interp_decode_parallel_insert(d, insert, forall->results[shared])) return false;
    }
    return true;
}

static bool end_parallel(InterpDecoder *d, const IrOp *op, const InterpForall *forall) {
    if (op->num_operands != forall->num_shared || op->num_regions != op->num_operands) {
        return interp_refuse(d->in, op, "does not fit the results of its loop");
    }
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrBlock *block = ir_op_block(op, i);
        if (!block || block->num_args != 2) return interp_refuse(d->in, op, "has a bad region");
        ((uint32_t *)(uintptr_t)forall->reduced)[i] = interp_slot(d, ir_op_operand(op, i));
        forall->reductions[i] = interp_decode_block(d, block);
        if (!forall->reductions[i]) return false;
        if (forall->reductions[i]->num_yields != 1)
            return interp_refuse(d->in, op, "has a bad region");
    }
    return true;
}

bool interp_decode_parallel_end(InterpDecoder *d, const IrOp *op) {
    const InterpForall *forall = d->forall;
    bool is_forall = op->kind == IR_SCF_FORALL_IN_PARALLEL;
    IrOpKind want = is_forall ? IR_SCF_FORALL : IR_SCF_PARALLEL;
    if (!forall || forall->op != ir_op_parent(op) || forall->op->kind != want) {
        return interp_refuse(d->in, op, "does not end a parallel loop");
    }
    return is_forall ? end_forall(d, op, forall) : end_parallel(d, op, forall);
}

static bool is_one_per_loop(const IrAttr *groups, uint32_t num_loops) {
    if (!groups || groups->kind != IR_ATTR_DENSE || ir_type_num_elems(groups->type) != num_loops) {
        return !groups;
    }
    for (uint32_t i = 0; i < num_loops; i++) {
        if (ir_attr_dense_elem(groups, i) != 1) return false;
    }
    return true;
}

bool interp_decode_affine_parallel(InterpDecoder *d, const IrOp *op) {
    InterpForall *info = INTERP_INFO(d, InterpForall);
    const IrBlock *block = op->num_regions ? ir_op_block(op, 0) : NULL;
    const IrAttr *steps = ir_op_attr(op, "steps");
    if (!decode_bound(d, op, "lowerBoundsMap", 0, &info->lower_map, &info->lower_slots) ||
        !decode_bound(d, op, "upperBoundsMap", 1, &info->upper_map, &info->upper_slots)) {
        return false;
    }
    info->op = op;
    info->num_loops = info->lower_map->map->num_results;
    if (op->num_results || !block || block->num_args != info->num_loops ||
        info->num_loops > INTERP_MAX_LOOPS ||
        info->upper_map->map->num_results != info->num_loops || !steps ||
        steps->kind != IR_ATTR_ARRAY || steps->num_elems != info->num_loops ||
        !is_one_per_loop(ir_op_attr(op, "lowerBoundsGroups"), info->num_loops) ||
        !is_one_per_loop(ir_op_attr(op, "upperBoundsGroups"), info->num_loops)) {
        return interp_refuse(d->in, op, "has reductions, or bounds of several expressions");
    }
    int64_t *values = INTERP_ARRAY(d, int64_t, info->num_loops + 1);
    for (uint32_t i = 0; i < info->num_loops; i++) values[i] = steps->elems[i]->i;
    info->steps = values;
    if (!decode_parallel_body(d, op, info)) return false;
    interp_emit(d, op, run_iterations)->info = info;
    return true;
}

// ---------------------------------------------------------------- calls

typedef struct Call {
    InterpFunc *func;
    const InterpMove *args;
    const uint32_t *results;
    const bool *is_arena; // per argument: becomes an arena here, its bytes undefined
} Call;

static bool run_call(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Call *call = inst->info;
    InterpFunc *func = call->func;
    if (!func->is_decoded && !interp_decode_func(in, func)) return false;
    if (in->depth >= INTERP_MAX_CALLS) {
        return interp_fault(in, inst->op, "is nested more than %d calls deep", INTERP_MAX_CALLS);
    }
    uint64_t *inner = interp_frame_new(in, inst->op, func);
    if (!inner) return false;
    in->call->op = inst->op;
    bool is_good = true;
    for (uint32_t i = 0; i < func->body->num_args; i++) {
        interp_move(&call->args[i], frame, inner + func->body->args[i]);
        if (is_good && call->is_arena[i]) {
            InterpView *view = interp_view(inner, func->body->args[i]);
            is_good = interp_buffer_make_arena(in, inst->op, view->buffer);
            view->view_id = 0;
        }
    }
    is_good = is_good && interp_run_block(in, func->body, inner);
    if (is_good) interp_yield(in, func->body, inner, frame, call->results);
    interp_frame_free(in, func, inner);
    return is_good;
}

static bool is_arena_arg(const IrOp *func, uint32_t arg) {
    return ir_func_arg_attr(func, arg, "ingot.arena") != NULL;
}

// An arena passed on by the function that got it keeps its contents.
static bool passes_own_arena(const IrOp *op, uint32_t operand) {
    const IrValue *value = ir_op_operand(op, operand);
    while (value->def_op && (value->def_op->kind == IR_MEMREF_ASSUME_ALIGNMENT ||
                             value->def_op->kind == IR_MEMREF_CAST)) {
        value = ir_op_operand(value->def_op, 0);
    }
    if (value->def_op) return false;
    const IrOp *parent = ir_block_parent(value->def_block);
    return parent && parent->kind == IR_FUNC_FUNC && is_arena_arg(parent, value->number);
}

bool interp_decode_call(InterpDecoder *d, const IrOp *op) {
    bool is_print;
    if (!interp_decode_print(d, op, &is_print)) return false;
    if (is_print) return true;
    const IrOp *callee = ir_call_callee(d->in->module, op);
    const IrBlock *body = callee && callee->kind == IR_FUNC_FUNC ? ir_func_body(callee) : NULL;
    if (!body) return interp_refuse(d->in, op, "calls a function without a body");
    if (body->num_args != op->num_operands ||
        ir_func_type(callee)->num_results != op->num_results) {
        return interp_refuse(d->in, op, "does not fit the function it calls");
    }
    Call *call = INTERP_INFO(d, Call);
    InterpMove *args = INTERP_ARRAY(d, InterpMove, op->num_operands + 1);
    bool *is_arena = INTERP_ARRAY(d, bool, op->num_operands + 1);
    uint32_t *results = INTERP_ARRAY(d, uint32_t, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        args[i] = interp_move_of(d, op, i);
        is_arena[i] = body->args[i]->type->kind == IR_TYPE_MEMREF && is_arena_arg(callee, i) &&
                      !passes_own_arena(op, i);
    }
    for (uint32_t i = 0; i < op->num_results; i++) results[i] = interp_result(d, op, i);
    call->func = interp_func_of(d->in, callee);
    call->args = args;
    call->is_arena = is_arena;
    call->results = results;
    interp_emit(d, op, run_call)->info = call;
    return true;
}
