// Counts operations and bytes of a vectorised kernel; see kernel_cost.h. How often each loop runs
// is found first; everything else follows from it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/kernel_count.h"
#include "passes/kernel_eval.h"

// Iterations followed one by one per loop, and blocks visited in all.
enum { MAX_FOLLOWED = 512, MAX_BLOCK_VISITS = 1 << 18, MAX_CHAIN_ARGS = 4 };

static int64_t trips_of(const KernelCount *c, const IrOp *loop, int64_t *out_first,
                        int64_t *out_step) {
    int64_t first, end, step;
    if (!eval_value(&c->eval, ir_op_operand(loop, 0), &first) ||
        !eval_value(&c->eval, ir_op_operand(loop, 1), &end) ||
        !eval_value(&c->eval, ir_op_operand(loop, 2), &step) || step <= 0)
        return 1;
    *out_first = first;
    *out_step = step;
    return end > first ? (end - first - 1) / step + 1 : 0;
}

// Does v depend on `on` (within the function, through loads too)?
static bool depends_within(const IrValue *v, const IrValue *on, int *visits) {
    if (v == on) return true;
    if (!v->def_op || ++*visits > 256) return false;
    for (uint32_t i = 0; i < v->def_op->num_operands; i++)
        if (depends_within(ir_op_operand(v->def_op, i), on, visits)) return true;
    return false;
}

bool kernel_value_depends(const IrValue *v, const IrValue *on) {
    int visits = 0;
    return depends_within(v, on, &visits);
}

// Does the control flow inside `block` depend on iv?
static bool steers(const IrBlock *block, const IrValue *iv) {
    FOR_EACH_OP(op, block) {
        uint32_t num = op->kind == IR_SCF_FOR ? 3 : op->kind == IR_SCF_IF ? 1 : 0;
        for (uint32_t i = 0; i < num; i++)
            if (kernel_value_depends(ir_op_operand(op, i), iv)) return true;
        for (uint32_t r = 0; r < op->num_regions; r++)
            if (ir_op_block(op, r) && steers(ir_op_block(op, r), iv)) return true;
    }
    return false;
}

uint32_t kernel_region_place(const KernelCount *c, const IrOp *op, uint32_t region) {
    return c->first_region[kernel_op_place(c, op)] + region;
}

// What steers the loops and branches inside, once the values outside are known.
static void run_steps(KernelCount *c, uint32_t region) {
    for (const IrOp *op = c->first_step[region]; op; op = c->next_step[kernel_op_place(c, op)])
        eval_refresh(&c->eval, op);
}

static void count_times(KernelCount *c, const IrOp *inside, double weight);

static void count_for(KernelCount *c, const IrOp *loop, double weight) {
    int64_t first = 0, step = 1, trips = trips_of(c, loop, &first, &step);
    uint32_t place = kernel_region_place(c, loop, 0);
    c->entries[place] += weight;
    c->times[place] += weight * (double)trips;
    const IrBlock *body = ir_op_block(loop, 0);
    const IrValue *iv = body->args[0];
    if (trips == 0) return;
    uint8_t *steered = &c->steered[kernel_op_place(c, loop)];
    const IrOp *inside = c->first_inside[place];
    if (!*steered) *steered = !inside ? 3 : steers(body, iv) ? 2 : 1;
    if (*steered == 3) return; // nothing inside to run more or less often
    int64_t num =
        *steered == 2 && c->num_visits < MAX_BLOCK_VISITS ? MIN(trips, (int64_t)MAX_FOLLOWED) : 1;
    for (int64_t i = 0; i < num; i++) {
        eval_set(&c->eval, iv, first + i * trips / num * step);
        run_steps(c, place);
        count_times(c, inside, weight * (double)trips / (double)num);
    }
    eval_forget(&c->eval, iv);
}

static void count_if(KernelCount *c, const IrOp *op, double weight) {
    int64_t truth;
    bool is_known = eval_value(&c->eval, ir_op_operand(op, 0), &truth);
    for (uint32_t r = 0; r < op->num_regions; r++) {
        double share = !is_known ? 0.5 : (truth != 0) == (r == 0) ? 1 : 0;
        if (ir_op_block(op, r) && share > 0)
            count_times(c, c->first_inside[kernel_region_place(c, op, r)], weight * share);
        c->times[kernel_region_place(c, op, r)] += weight * share;
    }
}

// inside: the first loop or branch of a block.
static void count_times(KernelCount *c, const IrOp *inside, double weight) {
    c->num_visits++;
    for (const IrOp *op = inside; op; op = c->next_beside[kernel_op_place(c, op)]) {
        if (op->kind == IR_SCF_FOR)
            count_for(c, op, weight);
        else if (op->kind == IR_SCF_IF)
            count_if(c, op, weight);
    }
}

// Lists the ops with regions in all blocks inside op.
static void list_control(KernelCount *c, const IrOp *op) {
    for (uint32_t r = 0; r < op->num_regions; r++) {
        const IrOp **link = &c->first_inside[kernel_region_place(c, op, r)];
        if (!ir_op_block(op, r)) continue;
        FOR_EACH_OP(inner, ir_op_block(op, r)) {
            if (!inner->num_regions) continue;
            *link = inner;
            link = &c->next_beside[kernel_op_place(c, inner)];
            list_control(c, inner);
        }
    }
}

static void mark_operands(const KernelCount *c, const IrOp *op, uint32_t num, bool *is_step) {
    for (uint32_t i = 0; i < num; i++) {
        const IrValue *v = ir_op_operand(op, i);
        const IrOp *def = v->def_op;
        if (def && def->num_results == 1 && !def->num_regions && def->kind != IR_ARITH_CONSTANT &&
            ir_type_is_int_or_index(v->type))
            is_step[kernel_op_place(c, def)] = true;
    }
}

// From the end, where users come before their operands.
static void mark_steps(const KernelCount *c, const IrBlock *block, bool *is_step) {
    for (const IrOp *op = block->last; op; op = op->prev) {
        for (uint32_t r = op->num_regions; r-- > 0;)
            if (ir_op_block(op, r)) mark_steps(c, ir_op_block(op, r), is_step);
        uint32_t num = op->kind == IR_SCF_FOR ? 3 : op->kind == IR_SCF_IF ? 1 : 0;
        mark_operands(c, op, is_step[kernel_op_place(c, op)] ? op->num_operands : num, is_step);
    }
}

// In the order of the text: operands come before their users. Returns where the next one goes.
static const IrOp **link_steps(KernelCount *c, const IrBlock *block, const bool *is_step,
                               const IrOp **link) {
    FOR_EACH_OP(op, block) {
        if (is_step[kernel_op_place(c, op)]) {
            *link = op;
            link = &c->next_step[kernel_op_place(c, op)];
        }
        for (uint32_t r = 0; r < op->num_regions; r++) {
            if (!ir_op_block(op, r)) continue;
            if (op->kind == IR_SCF_FOR)
                (void)link_steps(c, ir_op_block(op, r), is_step,
                                 &c->first_step[kernel_region_place(c, op, r)]);
            else
                link = link_steps(c, ir_op_block(op, r), is_step, link);
        }
    }
    return link;
}

static void list_steps(KernelCount *c) {
    const uint32_t top = kernel_region_place(c, c->kernel, 0);
    bool *is_step = base_alloc(c->ops.count, sizeof *is_step);
    mark_steps(c, ir_func_body(c->kernel), is_step);
    (void)link_steps(c, ir_func_body(c->kernel), is_step, &c->first_step[top]);
    free(is_step);
}

uint32_t kernel_block_place(const KernelCount *c, const IrBlock *block) {
    const IrOp *parent = ir_block_parent(block);
    return kernel_region_place(c, parent, block->region != &parent->regions[0]);
}

double kernel_block_times(const KernelCount *c, const IrBlock *block) {
    return c->times[kernel_block_place(c, block)];
}

// ---------------------------------------------------------------- one operation

static double num_vectors(const KernelCount *c, const IrType *t) {
    if (t->kind != IR_TYPE_VECTOR) return 1;
    double bytes = (double)ir_type_num_elems(t) * (double)ir_type_bits(t->elem) / 8;
    return ceil(bytes / target_number_or(c->target, TARGET_VECTOR_BYTES, 16));
}

// Comes from memory at the size of one element: an instruction can broadcast it on its way.
static bool is_loaded_scalar(const IrValue *v) {
    const IrOp *op = v->def_op;
    while (op && (op->kind == IR_VECTOR_EXTRACT || op->kind == IR_VECTOR_BITCAST ||
                  op->kind == IR_ARITH_BITCAST))
        op = ir_op_operand(op, 0)->def_op;
    return op && (op->kind == IR_MEMREF_LOAD ||
                  (op->kind == IR_VECTOR_LOAD && ir_type_num_elems(op->results[0].type) <= 4));
}

static void count_cast(const KernelCount *c, const IrOp *op, double *ops) {
    const IrType *from = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    bool is_float = ir_type_is_float(ir_type_elem(from)) || ir_type_is_float(ir_type_elem(to));
    if (to->kind != IR_TYPE_VECTOR && !is_float) {
        ops[COST_SCALAR] += to->kind != IR_TYPE_INDEX && from->kind != IR_TYPE_INDEX;
        return;
    }
    double n = MAX(num_vectors(c, from), num_vectors(c, to));
    ops[COST_VECTOR] += op->kind == IR_ARITH_EXTF || op->kind == IR_ARITH_TRUNCF ? 2 * n : n;
}

// Where no operation takes it from memory so, it has a register. A multiply-add that alone uses it
// leaves its sum there: a copy of one of them, or a spill, unless the sum is carried out of the
// loop. (Convolutions on a Zen 3, turns of two: tiles of 12 and 14 rows of one vector take 9.7 and
// 9.9 clocks instead of 6 and 7, of 4 and 6 rows of two vectors 4.1 and 6.4 instead of 4 and 6.)
static void count_broadcast(const KernelCount *c, const IrOp *op, double *ops) {
    if (c->target->numbers[TARGET_ISSUE_BROADCAST] <= 0) return;
    ops[COST_BROADCAST] += 1;
    if (!ir_value_has_one_use(&op->results[0])) return;
    const IrOp *user = op->results[0].first_use->owner;
    if (user->kind != IR_VECTOR_FMA || !ir_value_has_one_use(&user->results[0])) return;
    const IrOp *next = user->results[0].first_use->owner;
    ops[COST_VECTOR] += next->block == op->block && next != op->block->last;
}

static void count_vector_op(const KernelCount *c, const IrOp *op, double *ops) {
    const IrValue *source = op->num_operands ? ir_op_operand(op, 0) : NULL;
    switch (op->kind) {
    case IR_VECTOR_BROADCAST:
        if (!is_loaded_scalar(source) && !ir_value_constant(source))
            ops[COST_VECTOR] += num_vectors(c, op->results[0].type);
        else if (is_loaded_scalar(source))
            count_broadcast(c, op, ops);
        return;
    case IR_VECTOR_EXTRACT: ops[COST_VECTOR] += !is_loaded_scalar(&op->results[0]); return;
    case IR_VECTOR_REDUCTION: // by halves: a shuffle and an operation each
        ops[COST_VECTOR] += 2 * log2((double)ir_type_num_elems(source->type));
        return;
    case IR_VECTOR_INSERT:
    case IR_VECTOR_SHUFFLE:
    case IR_VECTOR_INTERLEAVE:
    case IR_VECTOR_FROM_ELEMENTS: ops[COST_VECTOR] += num_vectors(c, op->results[0].type); return;
    default: return; // bitcasts and the like are no instructions
    }
}

static void count_elementwise(const KernelCount *c, const IrOp *op, double *ops) {
    const IrType *t = op->results[0].type;
    double n = num_vectors(
        c, op->kind == IR_ARITH_CMPF || op->kind == IR_ARITH_CMPI ? ir_op_operand(op, 0)->type : t);
    if (ir_op_info(op->kind)->traits & IR_CAST) {
        count_cast(c, op, ops);
        return;
    }
    switch (op->kind) {
    case IR_ARITH_DIVF:
    case IR_MATH_SQRT: ops[COST_DIVIDE] += n; return;
    case IR_MATH_RSQRT: ops[COST_DIVIDE] += 2 * n; return;
    case IR_MATH_EXP:
    case IR_MATH_LOG:
    case IR_MATH_TANH:
    case IR_MATH_ERF:
    case IR_MATH_SIN:
    case IR_MATH_COS:
        ops[COST_FLOAT] += n * target_number_or(c->target, TARGET_COST_EXP, 16);
        return;
    case IR_ARITH_SELECT: ops[t->kind == IR_TYPE_VECTOR ? COST_VECTOR : COST_SCALAR] += n; return;
    default: break;
    }
    if (ir_type_is_float(ir_type_elem(t)) || op->kind == IR_ARITH_CMPF)
        ops[COST_FLOAT] += n;
    else if (t->kind == IR_TYPE_VECTOR)
        ops[COST_VECTOR] += n;
    else // index arithmetic becomes addresses
        ops[COST_SCALAR] += t->kind != IR_TYPE_INDEX;
}

static void count_op(const KernelCount *c, const IrOp *op, double *ops) {
    const IrType *stored;
    switch (op->kind) {
    case IR_ARITH_CONSTANT: return;
    case IR_VECTOR_FMA: ops[COST_FLOAT] += num_vectors(c, op->results[0].type); return;
    case IR_LLVM_CALL_INTRINSIC:
        ops[strstr(ir_op_attr(op, "intrin")->str, "vpdp") ? COST_DOT : COST_VECTOR] +=
            num_vectors(c, op->results[0].type);
        return;
    case IR_MEMREF_LOAD:
    case IR_VECTOR_LOAD:
    case IR_VECTOR_MASKEDLOAD:
    case IR_VECTOR_TRANSFER_READ: ops[COST_LOAD] += num_vectors(c, op->results[0].type); return;
    case IR_MEMREF_STORE:
    case IR_VECTOR_STORE:
    case IR_VECTOR_TRANSFER_WRITE:
        ops[COST_STORE] += num_vectors(c, ir_op_operand(op, 0)->type);
        return;
    case IR_VECTOR_MASKEDSTORE: ops[COST_STORE] += 1; return;
    case IR_MEMREF_COPY: // element by element
        stored = ir_op_operand(op, 0)->type;
        ops[COST_LOAD] += ir_type_is_static(stored) ? (double)ir_type_num_elems(stored) : 1;
        ops[COST_STORE] += ir_type_is_static(stored) ? (double)ir_type_num_elems(stored) : 1;
        return;
    default: break;
    }
    if (op->num_results == 1 && ir_op_info(op->kind)->traits & IR_ELEMENTWISE)
        count_elementwise(c, op, ops);
    else if (str_has_prefix(ir_op_info(op->kind)->name, "vector."))
        count_vector_op(c, op, ops);
}

// ---------------------------------------------------------------- one block

static double latency_of(const KernelCount *c, const IrOp *op) {
    double ops[NUM_COST_OPS] = {0};
    count_op(c, op, ops);
    if (ops[COST_DOT] > 0) return c->target->numbers[TARGET_LATENCY_DOT];
    if (ops[COST_FLOAT] > 0)
        return c->target->numbers[TARGET_LATENCY_FMA] * ceil(ops[COST_FLOAT] / 4);
    return ops[COST_VECTOR] > 0;
}

// The longest way from a value carried into the loop to the one carried out of it. Rows of a tile
// are alike, so the first few tell.
static double chain_of(KernelCount *c, const IrOp *loop) {
    const IrBlock *body = ir_op_block(loop, 0);
    const IrOp *yield = ir_block_terminator(body);
    double longest = 0, *way = c->way;
    for (uint32_t i = 1; i < body->num_args && i <= MAX_CHAIN_ARGS; i++) {
        const IrValue *end = ir_op_operand(yield, i - 1);
        way[kernel_value_place(c, body->args[i])] = 1e-9; // reached
        FOR_EACH_OP(op, body) {
            double most = 0;
            for (uint32_t k = 0; k < op->num_operands; k++)
                most = MAX(most, way[kernel_value_place(c, ir_op_operand(op, k))]);
            if (most > 0 && op->num_results == 1)
                way[kernel_value_place(c, &op->results[0])] = most + latency_of(c, op);
        }
        longest = MAX(longest, way[kernel_value_place(c, end)]);
        way[kernel_value_place(c, body->args[i])] = 0;
        FOR_EACH_OP(op, body)
        if (op->num_results == 1) way[kernel_value_place(c, &op->results[0])] = 0;
    }
    return longest;
}

// One run of the block itself.
static void profile_block(KernelCount *c, const IrOp *parent, const IrBlock *block, CostBlock *b) {
    kernel_find_equal(c, block);
    FOR_EACH_OP(op, block)
    if (op->num_results != 1 || !c->leader[kernel_value_place(c, &op->results[0])])
        count_op(c, op, b->ops);
    if (parent->kind != IR_SCF_FOR) return;
    b->ops[COST_SCALAR] += 2; // count and compare
    if (c->first_inside[kernel_region_place(c, parent, 0)]) return;
    b->chain_clocks = chain_of(c, parent);
    kernel_count_registers(c, block, b);
}

static void count_block(KernelCount *c, const IrOp *parent, uint32_t region) {
    const IrBlock *block = ir_op_block(parent, region);
    BlockProfile *known = &c->blocks[kernel_region_place(c, parent, region)];
    if (!known->is_known) profile_block(c, parent, block, &known->cost);
    known->is_known = true;
    for (const IrOp *op = c->first_inside[kernel_region_place(c, parent, region)]; op;
         op = c->next_beside[kernel_op_place(c, op)])
        for (uint32_t r = 0; r < op->num_regions; r++)
            if (ir_op_block(op, r)) count_block(c, op, r);
    CostBlock b = known->cost;
    b.times = kernel_block_times(c, block);
    if (b.times <= 0) return;
    for (int i = 0; i < NUM_COST_OPS; i++) c->work->ops[i] += b.times * b.ops[i];
    c->work->live_vectors = MAX(c->work->live_vectors, b.live_vectors);
    c->work->compute_clocks += cost_block_clocks(c->target, &b);
}

// A convolution is a product of matrices that share their elements.
static CostClass class_of(const IrOp *kernel) {
    const IrAttr *kind = ir_op_attr(kernel, "ingot.kernel");
    if (kind && kind->kind == IR_ATTR_STRING && str_equal(kind->str, "conv")) return COST_MATMUL;
    for (int class = 0; class < NUM_COST_CLASSES; class ++)
        if (kind && kind->kind == IR_ATTR_STRING &&
            str_equal(kind->str, cost_class_name((CostClass) class)))
            return (CostClass) class;
    return COST_ROWS;
}

typedef struct Numbers {
    uint32_t min_op, max_op, min_value, max_value;
} Numbers;

static void widen(Numbers *n, const IrOp *op) {
    n->min_op = MIN(n->min_op, op->index);
    n->max_op = MAX(n->max_op, op->index);
    for (uint32_t i = 0; i < op->num_results; i++) {
        n->min_value = MIN(n->min_value, op->results[i].index);
        n->max_value = MAX(n->max_value, op->results[i].index);
    }
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r]) {
            for (uint32_t i = 0; i < block->num_args; i++) {
                n->min_value = MIN(n->min_value, block->args[i]->index);
                n->max_value = MAX(n->max_value, block->args[i]->index);
            }
            FOR_EACH_OP(inner, block) widen(n, inner);
        }
}

static void add_places(KernelCount *c, const IrOp *op) {
    places_add(&c->ops, op->index);
    c->num_regions += op->num_regions;
    for (uint32_t i = 0; i < op->num_results; i++) places_add(&c->values, op->results[i].index);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r]) {
            for (uint32_t i = 0; i < block->num_args; i++)
                places_add(&c->values, block->args[i]->index);
            FOR_EACH_OP(inner, block) add_places(c, inner);
        }
}

static void find_places(KernelCount *c) {
    Numbers n = {UINT32_MAX, 0, UINT32_MAX, 0};
    widen(&n, c->kernel);
    places_init(&c->ops, n.min_op, n.max_op);
    places_init(&c->values, MIN(n.min_value, n.max_value), n.max_value);
    add_places(c, c->kernel);
}

static void number_regions(KernelCount *c, const IrOp *op) {
    c->first_region[kernel_op_place(c, op)] = c->num_regions;
    c->num_regions += op->num_regions;
    int64_t value;
    if (op->kind == IR_ARITH_CONSTANT && ir_type_is_int_or_index(op->results[0].type) &&
        ir_value_constant_int(&op->results[0], &value))
        eval_set(&c->eval, &op->results[0], value);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) number_regions(c, inner);
}

KernelCount *kernel_count_create(IrModule *m, const IrOp *kernel, const Target *target) {
    KernelCount *c = base_alloc(1, sizeof *c);
    *c = (KernelCount){.m = m, .kernel = kernel, .target = target};
    find_places(c);
    const uint32_t num_ops = c->ops.count, num_values = c->values.count;
    c->first_region = base_alloc(num_ops, sizeof *c->first_region);
    c->first_inside = base_alloc(c->num_regions, sizeof *c->first_inside);
    c->next_beside = base_alloc(num_ops, sizeof *c->next_beside);
    c->first_step = base_alloc(c->num_regions, sizeof *c->first_step);
    c->next_step = base_alloc(num_ops, sizeof *c->next_step);
    c->blocks = base_alloc(c->num_regions, sizeof *c->blocks);
    c->times = base_alloc(c->num_regions, sizeof *c->times);
    c->entries = base_alloc(c->num_regions, sizeof *c->entries);
    eval_init(&c->eval, &c->values, num_values);
    c->num_regions = 0;
    number_regions(c, kernel);
    c->steered = base_alloc(num_ops, 1);
    c->way = base_alloc(num_values, sizeof *c->way);
    c->leader = base_alloc(num_values, sizeof *c->leader);
    list_control(c, kernel);
    list_steps(c);
    c->accesses = kernel_accesses_create(c);
    return c;
}

void kernel_count_destroy(KernelCount *c) {
    free(c->first_region);
    free(c->times);
    free(c->entries);
    eval_deinit(&c->eval);
    free(c->first_inside);
    free(c->next_beside);
    free(c->first_step);
    free(c->next_step);
    free(c->blocks);
    free(c->steered);
    free(c->way);
    free(c->leader);
    kernel_accesses_destroy(c->accesses);
    places_deinit(&c->ops);
    places_deinit(&c->values);
    free(c);
}

void kernel_count_call(KernelCount *c, const IrOp *called, const KernelUse *use,
                       const KernelUses *uses, CostWork *out_work) {
    *out_work = (CostWork){.class = class_of(called)};
    c->called = called;
    c->work = out_work;
    c->num_visits = 0;
    for (uint32_t i = 0; i < c->num_regions; i++) c->times[i] = c->entries[i] = 0;
    IrBlock *body = ir_func_body(c->kernel);
    for (uint32_t i = 0; i < body->num_args && i < KERNEL_MAX_ARGS; i++) {
        if (use->scalars[i] != INT64_MIN)
            eval_set(&c->eval, body->args[i], use->scalars[i]);
        else
            eval_forget(&c->eval, body->args[i]);
    }
    const uint32_t top = kernel_region_place(c, c->kernel, 0);
    c->times[top] = c->entries[top] = 1;
    run_steps(c, top);
    count_times(c, c->first_inside[top], 1);
    count_block(c, c->kernel, 0);
    kernel_count_bytes(c, use, uses);
    int64_t tiles;
    if (body->num_args && eval_value(&c->eval, body->args[body->num_args - 1], &tiles))
        out_work->max_units = (double)MAX(tiles, 1);
}
