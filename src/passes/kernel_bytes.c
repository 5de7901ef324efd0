// Bytes of a kernel, by the level they come from; see kernel_count.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/kernel_count.h"
#include "passes/vectorize.h"

enum { MAX_LOOPS_AROUND = 16, MAX_STREAMS = 16, MAX_INDICES = 8, MAX_TERMS = 64 };

// Indices as sums: constant, of several accesses the least and the greatest, + per loop around,
// innermost first, so much a step.
typedef struct LinearIndex {
    int64_t first, last;
    int32_t per_loop[MAX_LOOPS_AROUND];
} LinearIndex;

static double value_bytes(const IrType *t) {
    double elems = t->kind == IR_TYPE_VECTOR ? (double)ir_type_num_elems(t) : 1;
    return elems * (double)ir_type_bits(ir_type_elem(t)) / 8;
}

// Loads or stores of one block through one view, whose indices differ by constants.
typedef struct Access {
    const IrBlock *block;
    const IrValue *view, *root;
    double bytes, num; // of one; how many
    uint32_t num_indices;
    LinearIndex indices[MAX_INDICES];
    uint32_t num_loops;
    const IrOp *loops[MAX_LOOPS_AROUND]; // innermost first
    bool moves[MAX_LOOPS_AROUND];        // does the address depend on the loop?
    uint32_t regions[MAX_LOOPS_AROUND];  // of the loops
    uint32_t slots[MAX_LOOPS_AROUND];    // of the view in these
    uint32_t block_slot;                 // of the view in the region of the block
} Access;

typedef struct AccessOp {
    const IrOp *op;
    const IrValue *root;
} AccessOp;

// A view and a region that accesses through it lie in have a slot.
struct Accesses {
    Access *list;
    size_t num, capacity;
    AccessOp *ops; // each for itself
    size_t num_ops, ops_capacity;
    uint32_t num_regions, num_views, num_slots;
    uint32_t *view_of;    // by access
    uint32_t *slots;      // by view and region: 1 + the slot; 0: none
    const Access **first; // by view: an access through it
    const IrOp **loops;   // by region: the loop around an access that it is of; NULL: of none
};

static uint32_t find_loop(const Access *a, const IrValue *iv) {
    uint32_t i = 0;
    while (i < a->num_loops && ir_op_block(a->loops[i], 0)->args[0] != iv) i++;
    return i;
}

static void add_step(LinearIndex *index, uint32_t loop, int64_t scale) {
    int64_t step = index->per_loop[loop] + MAX(MIN(scale, (int64_t)INT32_MAX), -INT32_MAX);
    index->per_loop[loop] = (int32_t)MAX(MIN(step, (int64_t)INT32_MAX), -INT32_MAX);
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
            (void)__builtin_add_overflow(out->first, product, &out->first);
    } else if (loop < a->num_loops) {
        add_step(out, loop, scale);
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
    *out = (Access){.block = op->block,
                    .view = view,
                    .root = vec_root(view),
                    .bytes = value_bytes(type),
                    .num = 1,
                    .num_indices = MIN(view->type->rank, (uint32_t)MAX_INDICES)};
    for (IrOp *at = ir_op_parent(op); at && at->kind != IR_FUNC_FUNC; at = ir_op_parent(at))
        if (at->kind == IR_SCF_FOR && out->num_loops < MAX_LOOPS_AROUND)
            out->loops[out->num_loops++] = at;
    for (uint32_t d = 0; d < out->num_indices; d++) {
        int terms = 0;
        add_term(out, ir_op_operand(op, first_index + d), 1, &terms, &out->indices[d]);
        out->indices[d].last = out->indices[d].first;
    }
    for (uint32_t i = 0; i < out->num_loops; i++) {
        out->moves[i] = kernel_value_depends(view, ir_op_block(out->loops[i], 0)->args[0]);
        for (uint32_t d = 0; d < out->num_indices; d++)
            out->moves[i] |= out->indices[d].per_loop[i] != 0;
    }
    return true;
}

// Takes b into a if their indices differ by constants only.
static bool merge(Access *a, const Access *b) {
    if (a->view != b->view || a->block != b->block || a->bytes != b->bytes) return false;
    for (uint32_t d = 0; d < a->num_indices; d++)
        if (memcmp(a->indices[d].per_loop, b->indices[d].per_loop, sizeof a->indices[d].per_loop))
            return false;
    for (uint32_t d = 0; d < a->num_indices; d++) {
        a->indices[d].first = MIN(a->indices[d].first, b->indices[d].first);
        a->indices[d].last = MAX(a->indices[d].last, b->indices[d].last);
    }
    a->num += b->num;
    return true;
}

static void add_access(Accesses *all, const Access *a) {
    enum { MAX_BACK = 16 };
    for (size_t back = 1; back <= MIN(all->num, (size_t)MAX_BACK); back++)
        if (merge(&all->list[all->num - back], a)) return;
    ARRAY_RESERVE(all->list, all->num, all->capacity);
    all->list[all->num++] = *a;
}

static void collect(const IrBlock *block, Accesses *all) {
    FOR_EACH_OP(op, block) {
        Access a;
        if (read_access(op, &a)) {
            ARRAY_RESERVE(all->ops, all->num_ops, all->ops_capacity);
            all->ops[all->num_ops++] = (AccessOp){op, a.root};
            add_access(all, &a);
        }
        for (uint32_t r = 0; r < op->num_regions; r++)
            if (ir_op_block(op, r)) collect(ir_op_block(op, r), all);
    }
}

static double root_bytes(const KernelCount *c, const IrValue *root) {
    const IrType *t = root->def_op ? root->type : ir_func_body(c->called)->args[root->number]->type;
    if (t->kind != IR_TYPE_MEMREF || !ir_type_is_static(t)) return INFINITY;
    return (double)ir_type_num_elems(t) * ir_type_bytes(t->elem);
}

// Counters of a loop, from the first; what is not known starts at 0, by steps of 1.
typedef struct Steps {
    double first, way, trips; // way: from the first to the last
} Steps;

// What accesses touch: the smallest box around them.
typedef struct Box {
    double sum; // of their bytes: what lies in the box twice counts twice
    double first[MAX_INDICES], last[MAX_INDICES];
} Box;

// What a call touches through the views: by slot of a loop, in one run of its body and in all of
// them; by slot of any region, directly in it, each access for itself; and by view.
typedef struct Touched {
    Steps *steps; // by region
    Box *body, *loop, *whole;
    double *direct;
    double *volumes; // by region of a loop: of its body, all views; of the kernel
} Touched;

static void grow(Box *box, const Box *by, uint32_t num_indices) {
    if (box->sum == 0) {
        *box = *by;
        return;
    }
    box->sum += by->sum;
    for (uint32_t d = 0; d < num_indices; d++) {
        box->first[d] = MIN(box->first[d], by->first[d]);
        box->last[d] = MAX(box->last[d], by->last[d]);
    }
}

// All that one access touches in `loop`, from what it does in one run of the body.
static void repeat(const Access *a, uint32_t loop, const Steps *steps, double most, Box *box) {
    if (!a->moves[loop]) return;
    box->sum = MIN(box->sum * steps->trips, most);
    for (uint32_t d = 0; d < a->num_indices; d++) {
        double by = (double)a->indices[d].per_loop[loop];
        if (by == 0) continue;
        box->first[d] += by * steps->first + MIN(by * steps->way, 0);
        box->last[d] += by * steps->first + MAX(by * steps->way, 0);
    }
}

static double box_bytes(const KernelCount *c, const Box *box, const Access *of) {
    double bytes = (double)ir_type_bits(of->view->type->elem) / 8;
    if (box->sum == 0) return 0;
    for (uint32_t d = 0; d < of->num_indices; d++) bytes *= box->last[d] - box->first[d] + 1;
    return MIN(MIN(box->sum, bytes), root_bytes(c, of->root));
}

static void touch(const KernelCount *c, const Access *a, Box *whole, Touched *t) {
    double most = root_bytes(c, a->root), elem = (double)ir_type_bits(a->view->type->elem) / 8;
    Box box = {.sum = MIN(a->num * a->bytes, most)};
    for (uint32_t d = 0; d < a->num_indices; d++) {
        box.first[d] = (double)a->indices[d].first;
        box.last[d] = (double)a->indices[d].last;
    }
    if (a->num_indices) box.last[a->num_indices - 1] += MAX(a->bytes / elem, 1) - 1;
    for (uint32_t i = 0; i < a->num_loops; i++) {
        grow(&t->body[a->slots[i]], &box, a->num_indices);
        repeat(a, i, &t->steps[a->regions[i]], most, &box);
        grow(&t->loop[a->slots[i]], &box, a->num_indices);
    }
    grow(whole, &box, a->num_indices);
    t->direct[a->block_slot] += a->num * a->bytes;
}

static void find_steps(const KernelCount *c, Steps *out) {
    for (uint32_t r = 0; r < c->num_regions; r++) {
        if (!c->accesses->loops[r] || c->entries[r] <= 0) continue;
        int64_t first = 0, step = 1;
        (void)eval_value(&c->eval, ir_op_operand(c->accesses->loops[r], 0), &first);
        (void)eval_value(&c->eval, ir_op_operand(c->accesses->loops[r], 2), &step);
        double trips = c->times[r] / c->entries[r];
        out[r] = (Steps){(double)first, (double)step * (MAX(trips, 1) - 1), trips};
    }
}

static void find_touched(const KernelCount *c, Touched *t) {
    const Accesses *all = c->accesses;
    find_steps(c, t->steps);
    for (size_t k = 0; k < all->num; k++) {
        const Access *a = &all->list[k];
        double runs = kernel_block_times(c, a->block);
        c->work->bytes[COST_L1] += runs * a->num * a->bytes;
        if (runs > 0) touch(c, a, &t->whole[all->view_of[k]], t);
    }
    for (uint32_t v = 0; v < all->num_views; v++)
        for (uint32_t r = 0; r < c->num_regions; r++) {
            uint32_t slot = all->slots[v * c->num_regions + r];
            if (slot && all->loops[r])
                t->volumes[r] += box_bytes(c, &t->body[slot - 1], all->first[v]);
        }
    for (uint32_t v = 0; v < all->num_views; v++)
        t->volumes[kernel_region_place(c, c->kernel, 0)] +=
            box_bytes(c, &t->whole[v], all->first[v]);
}

// Bytes of a view that one run of a region fetches from beyond a cache. Where all that a run of a
// loop's body touches fits, nothing is fetched twice, by the body or by the loop; else everything
// inside fetches for itself.
static double fetched(const KernelCount *c, const Touched *t, uint32_t view, CostLevel cache,
                      uint32_t region) {
    const uint32_t *slots = &c->accesses->slots[view * c->num_regions];
    double bytes = slots[region] ? t->direct[slots[region] - 1] : 0, runs = c->times[region];
    for (const IrOp *op = c->first_inside[region]; op; op = c->next_beside[kernel_op_place(c, op)])
        for (uint32_t r = 0; r < op->num_regions; r++) {
            uint32_t inner = kernel_region_place(c, op, r);
            if (c->times[inner] <= 0) continue;
            bool fits =
                op->kind == IR_SCF_FOR && cost_fit(c->target, t->volumes[inner], 1) <= cache;
            if (!fits)
                bytes += fetched(c, t, view, cache, inner) * c->times[inner] / runs;
            else if (slots[inner])
                bytes += box_bytes(c, &t->loop[slots[inner] - 1], c->accesses->first[view]) *
                         c->entries[inner] / runs;
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
static bool is_same_stream(const AccessOp *a, const AccessOp *b) {
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
    for (size_t k = 0; k < all->num_ops; k++) {
        const IrValue *root = all->ops[k].root;
        if (root->def_op || root->number >= KERNEL_MAX_ARGS || !(use->streamed >> root->number & 1))
            continue;
        uint32_t num = 0;
        for (size_t i = 0; i < all->num_ops && num < MAX_STREAMS; i++) {
            if (all->ops[i].root != root || all->ops[i].op->block != all->ops[k].op->block)
                continue;
            bool is_seen = false;
            for (size_t j = 0; j < i && !is_seen; j++)
                is_seen = is_same_stream(&all->ops[i], &all->ops[j]);
            num += !is_seen;
        }
        most = MAX(most, num);
        if (k > 0 && most == MAX_STREAMS) break;
    }
    return most;
}

// What a view brings, by the level it comes from: from home what is read for the first time.
static void add_bytes(const KernelCount *c, const Touched *t, uint32_t view, const KernelUse *use,
                      const KernelUses *uses) {
    const uint32_t top = kernel_region_place(c, c->kernel, 0);
    const Access *of = c->accesses->first[view];
    const double whole = box_bytes(c, &t->whole[view], of);
    const CostLevel home = home_of(c, use, uses, of->root, whole);
    double nearer = INFINITY; // fetched from beyond the cache before
    for (int cache = COST_L1; cache < COST_MEMORY; cache++) {
        bool fits = cost_fit(c->target, t->volumes[top], 1) <= (CostLevel)cache;
        double bytes = fits ? whole : MAX(fetched(c, t, view, (CostLevel)cache, top), whole);
        if ((int)home <= cache) bytes -= whole;
        bytes = MIN(bytes, nearer);
        if (cache > COST_L1) c->work->bytes[cache] += nearer - bytes;
        nearer = bytes;
    }
    c->work->bytes[COST_MEMORY] += nearer;
}

// What the innermost loop that uses an access's bytes again touches; 0: none does.
static double reused_volume(const KernelCount *c, const Access *a, const double *volumes) {
    for (uint32_t i = 0; i < a->num_loops; i++)
        if (!a->moves[i] && c->times[a->regions[i]] > c->entries[a->regions[i]])
            return volumes[a->regions[i]];
    return 0;
}

static uint32_t take_slot(Accesses *all, uint32_t view, uint32_t region) {
    uint32_t *slot = &all->slots[view * all->num_regions + region];
    if (*slot == 0) *slot = ++all->num_slots;
    return *slot - 1;
}

Accesses *kernel_accesses_create(const KernelCount *c) {
    Accesses *all = base_alloc(1, sizeof *all);
    collect(ir_func_body(c->kernel), all);
    all->num_regions = c->num_regions;
    all->view_of = base_alloc(all->num, sizeof *all->view_of);
    all->first = base_alloc(all->num, sizeof *all->first);
    for (size_t k = 0; k < all->num; k++) {
        uint32_t view = 0;
        while (view < all->num_views && all->first[view]->view != all->list[k].view) view++;
        if (view == all->num_views) all->first[all->num_views++] = &all->list[k];
        all->view_of[k] = view;
    }
    all->slots = base_alloc((size_t)all->num_views * c->num_regions, sizeof *all->slots);
    all->loops = base_alloc(c->num_regions, sizeof *all->loops);
    for (size_t k = 0; k < all->num; k++) {
        Access *a = &all->list[k];
        for (uint32_t i = 0; i < a->num_loops; i++) {
            a->regions[i] = kernel_region_place(c, a->loops[i], 0);
            a->slots[i] = take_slot(all, all->view_of[k], a->regions[i]);
            all->loops[a->regions[i]] = a->loops[i];
        }
        a->block_slot = take_slot(all, all->view_of[k], kernel_block_place(c, a->block));
    }
    return all;
}

void kernel_accesses_destroy(Accesses *all) {
    free(all->list);
    free(all->ops);
    free(all->view_of);
    free(all->slots);
    free(all->first);
    free(all->loops);
    free(all);
}

void kernel_count_bytes(KernelCount *c, const KernelUse *use, const KernelUses *uses) {
    const Accesses *all = c->accesses;
    if (c->streamed != use->streamed || c->streams == 0) c->streams = count_streams(all, use);
    c->streamed = use->streamed;
    c->work->streams = c->streams;
    Touched t = {.steps = base_alloc(c->num_regions, sizeof *t.steps),
                 .body = base_alloc(all->num_slots, sizeof *t.body),
                 .loop = base_alloc(all->num_slots, sizeof *t.loop),
                 .direct = base_alloc(all->num_slots, sizeof *t.direct),
                 .whole = base_alloc(all->num_views, sizeof *t.whole),
                 .volumes = base_alloc(c->num_regions, sizeof *t.volumes)};
    find_touched(c, &t);
    for (uint32_t view = 0; view < all->num_views; view++) add_bytes(c, &t, view, use, uses);
    for (size_t k = 0; k < all->num && c->work->working_bytes == 0; k++)
        c->work->working_bytes = reused_volume(c, &all->list[k], t.volumes);
    free(t.steps);
    free(t.body);
    free(t.loop);
    free(t.direct);
    free(t.whole);
    free(t.volumes);
}
