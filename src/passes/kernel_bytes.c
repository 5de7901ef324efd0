// Bytes of a kernel, by the level they come from; see kernel_count.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/kernel_count.h"
#include "passes/vectorize.h"

enum { MAX_LOOPS_AROUND = 16, MAX_STREAMS = 16, MAX_INDICES = 8, MAX_TERMS = 64 };

// An index as a sum: constant + per loop around the access, innermost first, so much a step.
typedef struct LinearIndex {
    int64_t constant;
    int64_t per_loop[MAX_LOOPS_AROUND];
} LinearIndex;

static double value_bytes(const IrType *t) {
    double elems = t->kind == IR_TYPE_VECTOR ? (double)ir_type_num_elems(t) : 1;
    return elems * (double)ir_type_bits(ir_type_elem(t)) / 8;
}

struct Access {
    const IrOp *op;
    const IrValue *view, *root;
    double bytes; // of one run
    uint32_t num_indices;
    LinearIndex indices[MAX_INDICES];
    uint32_t num_loops;
    const IrOp *loops[MAX_LOOPS_AROUND]; // innermost first
    bool moves[MAX_LOOPS_AROUND];        // does the address depend on the loop?
    // of the call at hand: bytes touched in one run of what lies inside the first i loops
    double touched[MAX_LOOPS_AROUND + 1];
};

static uint32_t find_loop(const Access *a, const IrValue *iv) {
    uint32_t i = 0;
    while (i < a->num_loops && ir_op_block(a->loops[i], 0)->args[0] != iv) i++;
    return i;
}

// Adds scale * v to the index. What is no sum of loop counters moves by one where it moves at all.
static void add_term(const Access *a, const IrValue *v, int64_t scale, int *terms,
                     LinearIndex *out) {
    int64_t value, product;
    const IrOp *op = v->def_op;
    uint32_t loop = find_loop(a, v);
    bool is_factor = op && op->kind == IR_ARITH_MULI && ++*terms < MAX_TERMS;
    if (ir_value_constant_int(v, &value)) {
        if (!__builtin_mul_overflow(scale, value, &product))
            (void)__builtin_add_overflow(out->constant, product, &out->constant);
    } else if (loop < a->num_loops) {
        (void)__builtin_add_overflow(out->per_loop[loop], scale, &out->per_loop[loop]);
    } else if (op && (op->kind == IR_ARITH_ADDI || op->kind == IR_ARITH_SUBI) &&
               ++*terms < MAX_TERMS) {
        add_term(a, ir_op_operand(op, 0), scale, terms, out);
        add_term(a, ir_op_operand(op, 1), op->kind == IR_ARITH_SUBI ? -scale : scale, terms, out);
    } else if (is_factor && ir_value_constant_int(ir_op_operand(op, 1), &value) &&
               !__builtin_mul_overflow(scale, value, &product)) {
        add_term(a, ir_op_operand(op, 0), product, terms, out);
    } else {
        for (uint32_t i = 0; i < a->num_loops; i++)
            if (out->per_loop[i] == 0)
                out->per_loop[i] = kernel_value_depends(v, ir_op_block(a->loops[i], 0)->args[0]);
    }
}

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
    IrValue *view = ir_op_operand(op, memref);
    *out = (Access){.op = op, .view = view, .root = vec_root(view), .bytes = value_bytes(type)};
    for (IrOp *at = ir_op_parent(op); at && at->kind != IR_FUNC_FUNC; at = ir_op_parent(at)) {
        if (at->kind != IR_SCF_FOR || out->num_loops == MAX_LOOPS_AROUND) continue;
        bool moves = kernel_value_depends(ir_op_operand(op, memref), ir_op_block(at, 0)->args[0]);
        for (uint32_t i = first_index; i < op->num_operands && !moves; i++)
            moves = kernel_value_depends(ir_op_operand(op, i), ir_op_block(at, 0)->args[0]);
        out->loops[out->num_loops] = at;
        out->moves[out->num_loops++] = moves;
    }
    out->num_indices = MIN(view->type->rank, (uint32_t)MAX_INDICES);
    for (uint32_t d = 0; d < out->num_indices; d++) {
        int terms = 0;
        add_term(out, ir_op_operand(op, first_index + d), 1, &terms, &out->indices[d]);
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

// What the accesses through one view touch in a run of a loop's body: the smallest box around it.
typedef struct Box {
    double sum; // of their bytes: what lies in the box twice counts twice
    double first[MAX_INDICES], last[MAX_INDICES];
} Box;

// Grows by what `a` touches inside its first `num` loops, the first access of the view or not.
static void grow(const KernelCount *c, const Access *a, uint32_t num, Box *box) {
    bool is_first = box->sum == 0;
    box->sum += a->touched[num];
    for (uint32_t d = 0; d < a->num_indices; d++) {
        const LinearIndex *index = &a->indices[d];
        double first = (double)index->constant, last = first;
        for (uint32_t l = 0; l < num; l++) {
            if (index->per_loop[l] == 0) continue;
            int64_t start = 0, step = 1;
            (void)eval_value(&c->eval, ir_op_operand(a->loops[l], 0), &start);
            (void)eval_value(&c->eval, ir_op_operand(a->loops[l], 2), &step);
            double by = (double)index->per_loop[l];
            double way = by * (double)step * (MAX(trips(c, a->loops[l]), 1) - 1);
            first += by * (double)start + MIN(way, 0);
            last += by * (double)start + MAX(way, 0);
        }
        bool is_last = d + 1 == a->num_indices;
        double width = a->bytes * 8 / (double)ir_type_bits(a->view->type->elem);
        if (is_last) last += MAX(width, 1) - 1;
        box->first[d] = is_first ? first : MIN(box->first[d], first);
        box->last[d] = is_first ? last : MAX(box->last[d], last);
    }
}

static double box_bytes(const KernelCount *c, const Box *box, const Access *of) {
    double bytes = (double)ir_type_bits(of->view->type->elem) / 8;
    if (box->sum == 0) return 0;
    for (uint32_t d = 0; d < of->num_indices; d++) bytes *= box->last[d] - box->first[d] + 1;
    return MIN(MIN(box->sum, bytes), root_bytes(c, of->root));
}

// What the accesses through one view touch: by region of a loop, in one run of its body and in all
// of them; in the kernel; and directly in a region, each access for itself.
typedef struct Touched {
    const Access *first; // through the view
    Box *body, *loop, whole;
    double *direct;
} Touched;

static void touch(const KernelCount *c, const Access *of, Touched *out) {
    const Accesses *all = &c->accesses;
    out->first = of;
    out->whole = (Box){0};
    memset(out->body, 0, c->num_regions * sizeof *out->body);
    memset(out->loop, 0, c->num_regions * sizeof *out->loop);
    memset(out->direct, 0, c->num_regions * sizeof *out->direct);
    for (const Access *a = of; a < all->list + all->num; a++) {
        if (a->view != of->view || kernel_block_times(c, a->op->block) <= 0) continue;
        for (uint32_t i = 0; i < a->num_loops; i++) {
            uint32_t region = kernel_region_place(c, a->loops[i], 0);
            grow(c, a, i, &out->body[region]);
            grow(c, a, i + 1, &out->loop[region]);
        }
        grow(c, a, a->num_loops, &out->whole);
        out->direct[kernel_block_place(c, a->op->block)] += a->bytes;
    }
}

static bool is_first_of_view(const Accesses *all, size_t index) {
    for (size_t k = 0; k < index; k++)
        if (all->list[k].view == all->list[index].view) return false;
    return true;
}

// Bytes of the view that one run of a region fetches from beyond a cache. Where all that a run of a
// loop's body touches fits, nothing is fetched twice, by the body or by the loop; else everything
// inside fetches for itself.
static double fetched(const KernelCount *c, const Touched *t, const double *volumes,
                      CostLevel cache, uint32_t region) {
    double bytes = t->direct[region], runs = c->times[region];
    for (const IrOp *op = c->first_inside[region]; op; op = c->next_beside[kernel_op_place(c, op)])
        for (uint32_t r = 0; r < op->num_regions; r++) {
            uint32_t inner = kernel_region_place(c, op, r);
            if (c->times[inner] <= 0) continue;
            bool fits = op->kind == IR_SCF_FOR && cost_fit(c->target, volumes[inner], 1) <= cache;
            bytes += fits ? box_bytes(c, &t->loop[inner], t->first) * c->entries[inner] / runs
                          : fetched(c, t, volumes, cache, inner) * c->times[inner] / runs;
        }
    return bytes;
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

// What the view brings, by the level it comes from: `home` for what is read for the first time.
static void add_bytes(const KernelCount *c, const Touched *t, const double *volumes,
                      CostLevel home) {
    const uint32_t top = kernel_region_place(c, c->kernel, 0);
    const double whole = box_bytes(c, &t->whole, t->first);
    double nearer = INFINITY; // fetched from beyond the cache before
    for (int cache = COST_L1; cache < COST_MEMORY; cache++) {
        bool fits = cost_fit(c->target, volumes[top], 1) <= (CostLevel)cache;
        double bytes = fits ? whole : MAX(fetched(c, t, volumes, (CostLevel)cache, top), whole);
        if ((int)home <= cache) bytes -= whole;
        bytes = MIN(bytes, nearer);
        if (cache > COST_L1) c->work->bytes[cache] += nearer - bytes;
        nearer = bytes;
    }
    c->work->bytes[COST_MEMORY] += nearer;
}

// What the innermost loop that uses an access's bytes again touches; 0: none does.
static double reused_volume(const KernelCount *c, const Access *a, const double *volumes) {
    for (uint32_t i = 0; i < a->num_loops; i++) {
        uint32_t place = kernel_region_place(c, a->loops[i], 0);
        if (!a->moves[i] && c->times[place] > c->entries[place]) return volumes[place];
    }
    return 0;
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
    const uint32_t num = c->num_regions, top = kernel_region_place(c, c->kernel, 0);
    Touched t = {.body = base_alloc(num, sizeof *t.body),
                 .loop = base_alloc(num, sizeof *t.loop),
                 .direct = base_alloc(num, sizeof *t.direct)};
    double *volumes = base_alloc(num, sizeof *volumes);
    for (size_t k = 0; k < all.num; k++) {
        const Access *a = &all.list[k];
        c->work->bytes[COST_L1] += kernel_block_times(c, a->op->block) * a->bytes;
        if (!is_first_of_view(&all, k)) continue;
        touch(c, a, &t);
        for (uint32_t r = 0; r < num; r++) volumes[r] += box_bytes(c, &t.body[r], a);
        volumes[top] += box_bytes(c, &t.whole, a);
    }
    for (size_t k = 0; k < all.num; k++) {
        if (!is_first_of_view(&all, k)) continue;
        touch(c, &all.list[k], &t);
        double whole = box_bytes(c, &t.whole, &all.list[k]);
        add_bytes(c, &t, volumes, home_of(c, use, uses, all.list[k].root, whole));
    }
    for (size_t k = 0; k < all.num && c->work->working_bytes == 0; k++)
        c->work->working_bytes = reused_volume(c, &all.list[k], volumes);
    free(t.body);
    free(t.loop);
    free(t.direct);
    free(volumes);
}
