// Bytes of a kernel, by the level they come from; see kernel_count.h.
#include <math.h>
#include <stdlib.h>

#include "passes/kernel_count.h"
#include "passes/vectorize.h"

enum { MAX_LOOPS_AROUND = 16, MAX_STREAMS = 16 };

static double value_bytes(const IrType *t) {
    double elems = t->kind == IR_TYPE_VECTOR ? (double)ir_type_num_elems(t) : 1;
    return elems * (double)ir_type_bits(ir_type_elem(t)) / 8;
}

struct Access {
    const IrOp *op;
    const IrValue *root;
    double bytes; // of one run
    uint32_t num_loops;
    const IrOp *loops[MAX_LOOPS_AROUND]; // innermost first
    bool moves[MAX_LOOPS_AROUND];        // does the address depend on the loop?
    // of the call at hand: bytes touched in one run of what lies inside the first i loops
    double touched[MAX_LOOPS_AROUND + 1];
};

static bool read_access(const IrOp *op, Access *out) {
    uint32_t memref, first_index;
    const IrType *type;
    switch (op->kind) {
    case IR_MEMREF_LOAD:
    case IR_VECTOR_LOAD:
    case IR_VECTOR_MASKEDLOAD:
    case IR_VECTOR_TRANSFER_READ:
        memref = 0;
        first_index = 1;
        type = op->results[0].type;
        break;
    case IR_MEMREF_STORE:
    case IR_VECTOR_STORE:
    case IR_VECTOR_TRANSFER_WRITE:
        memref = 1;
        first_index = 2;
        type = ir_op_operand(op, 0)->type;
        break;
    default: return false;
    }
    *out =
        (Access){.op = op, .root = vec_root(ir_op_operand(op, memref)), .bytes = value_bytes(type)};
    for (IrOp *at = ir_op_parent(op); at && at->kind != IR_FUNC_FUNC; at = ir_op_parent(at)) {
        if (at->kind != IR_SCF_FOR || out->num_loops == MAX_LOOPS_AROUND) continue;
        bool moves = kernel_value_depends(ir_op_operand(op, memref), ir_op_block(at, 0)->args[0]);
        for (uint32_t i = first_index; i < op->num_operands && !moves; i++)
            moves = kernel_value_depends(ir_op_operand(op, i), ir_op_block(at, 0)->args[0]);
        out->loops[out->num_loops] = at;
        out->moves[out->num_loops++] = moves;
    }
    return true;
}

static void collect(const IrBlock *block, Accesses *all) {
    FOR_EACH_OP(op, block) {
        Access a;
        if (read_access(op, &a)) {
            ARRAY_RESERVE(all->list, all->num, all->capacity);
            all->list[all->num++] = a;
        }
        for (uint32_t r = 0; r < op->num_regions; r++)
            if (ir_op_block(op, r)) collect(ir_op_block(op, r), all);
    }
}

static double trips(const KernelCount *c, const IrOp *loop) {
    uint32_t place = kernel_region_place(c, loop, 0);
    return c->entries[place] > 0 ? c->times[place] / c->entries[place] : 0;
}

static double root_bytes(const KernelCount *c, const IrValue *root) {
    const IrType *t = root->def_op ? root->type : ir_func_body(c->called)->args[root->number]->type;
    if (t->kind != IR_TYPE_MEMREF || !ir_type_is_static(t)) return INFINITY;
    return (double)ir_type_num_elems(t) * ir_type_bytes(t->elem);
}

static void find_touched(const KernelCount *c, Access *a) {
    const double most = root_bytes(c, a->root);
    double bytes = a->bytes;
    for (uint32_t i = 0; i <= a->num_loops; i++) {
        a->touched[i] = MIN(bytes, most);
        if (i < a->num_loops && a->moves[i]) bytes *= trips(c, a->loops[i]);
    }
}

// What one run of each loop touches, by its region.
static double *add_volumes(const KernelCount *c) {
    const Accesses *all = &c->accesses;
    double *volumes = base_alloc(c->num_regions, sizeof *volumes);
    for (size_t k = 0; k < all->num; k++)
        for (uint32_t i = 0; i < all->list[k].num_loops; i++)
            volumes[kernel_region_place(c, all->list[k].loops[i], 0)] += all->list[k].touched[i];
    return volumes;
}

static CostLevel home_of(const KernelCount *c, const KernelUse *use, const KernelUses *uses,
                         const IrValue *root, double bytes) {
    if (root->def_op) return COST_L1; // scratch of the kernel
    bool is_streamed = root->number < KERNEL_MAX_ARGS && use->streamed >> root->number & 1;
    return cost_fit(c->target, is_streamed ? MAX(uses->streamed_bytes, bytes) : 2 * bytes, 1);
}

// Do the accesses follow each other in one stream: the same buffer, and indices that differ by
// constants only?
static bool is_same_stream(const Access *a, const Access *b) {
    if (a->root != b->root || a->op->num_operands != b->op->num_operands) return false;
    for (uint32_t i = 0; i < a->op->num_operands; i++) {
        const IrValue *x = ir_op_operand(a->op, i), *y = ir_op_operand(b->op, i);
        if (x != y && !(ir_value_constant(x) && ir_value_constant(y))) return false;
    }
    return true;
}

// Streams in which the kernel reads one far buffer, at most.
static double count_streams(const Accesses *all, const KernelUse *use) {
    uint32_t most = 0;
    for (size_t k = 0; k < all->num; k++) {
        const IrValue *root = all->list[k].root;
        if (root->def_op || root->number >= KERNEL_MAX_ARGS || !(use->streamed >> root->number & 1))
            continue;
        uint32_t num = 0;
        for (size_t i = 0; i < all->num && num < MAX_STREAMS; i++) {
            if (all->list[i].root != root || all->list[i].op->block != all->list[k].op->block)
                continue;
            bool is_seen = false;
            for (size_t j = 0; j < i && !is_seen; j++)
                is_seen = is_same_stream(&all->list[i], &all->list[j]);
            num += !is_seen;
        }
        most = MAX(most, num);
        if (k > 0 && most == MAX_STREAMS) break;
    }
    return most;
}

void kernel_list_accesses(KernelCount *c) {
    collect(ir_func_body(c->kernel), &c->accesses);
}

void kernel_count_bytes(KernelCount *c, const KernelUse *use, const KernelUses *uses) {
    const Accesses all = c->accesses;
    if (c->streamed != use->streamed || c->streams == 0) c->streams = count_streams(&all, use);
    c->streamed = use->streamed;
    c->work->streams = c->streams;
    for (size_t k = 0; k < all.num; k++) find_touched(c, &all.list[k]);
    double *volumes = add_volumes(c);
    for (size_t k = 0; k < all.num; k++) {
        const Access *a = &all.list[k];
        double runs = kernel_block_times(c, a->op->block);
        if (runs <= 0) continue;
        c->work->bytes[COST_L1] += runs * a->bytes;
        for (uint32_t i = 0; i < a->num_loops; i++) {
            uint32_t place = kernel_region_place(c, a->loops[i], 0);
            double again = c->times[place] - c->entries[place];
            if (a->moves[i] || again <= 0) continue;
            CostLevel from = cost_fit(c->target, volumes[place], 1);
            if (from != COST_L1) c->work->bytes[from] += again * a->touched[i];
            if (c->work->working_bytes == 0) c->work->working_bytes = volumes[place];
        }
        double bytes = a->touched[a->num_loops];
        CostLevel home = home_of(c, use, uses, a->root, bytes);
        if (home != COST_L1) c->work->bytes[home] += bytes;
    }
    free(volumes);
}
