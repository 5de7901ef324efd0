// loop-schedule: chooses, for every matrix product, convolution and attention kernel, the vector
// width and how many rows are held in registers. Each candidate is carried out on a copy of the
// kernel (the very code that vectorize makes of it), counted, and its time on the machine
// (ingot.machine) predicted; the quickest is chosen. All that were weighed stay on the kernel, the
// chosen one first. The choice is an attribute that vectorize reads: change it in a dump, and the
// code changes. A schedule measured for this very kernel (ingot.tuning) is taken instead, if
// vectorize can do it.
//
//   func.func private @matmul_0(...) attributes {ingot.kernel = "matmul"}
//   -> ... attributes {ingot.kernel = "matmul", ingot.schedule = {lanes = 16, row_tile = 12},
//        ingot.candidates = [{clocks = 1200000, lanes = 16, row_tile = 12, ...}, ...]}
//
// Needs: bufferized.  Keeps: all.  Exact: nothing is computed.
#include <stdlib.h>

#include "passes/kernel_alike.h"
#include "passes/kernel_cost.h"
#include "passes/pass.h"
#include "passes/tuning.h"

// Attention sums over lanes, so its vectors are 16 wide at every level (two registers where those
// have 8): all levels give the same bits.
enum { ATTENTION_LANES = 16, MAX_CANDIDATES = 32, MOST_ROWS = 24 };

// A candidate carried out on a copy of the kernel; no copy: there is no such schedule.
typedef struct CarriedOut {
    Schedule s;
    IrOp *copy; // in scratch
    KernelCount *count;
} CarriedOut;

// Kernels that are alike but for their rows, and what was carried out of the first for all: its
// code has the same blocks, run as often as the valid rows of the call say.
typedef struct Known {
    const IrOp *kernel; // of scratch
    const char *kind;
    int64_t rows;
    CarriedOut done[MAX_CANDIDATES];
    size_t num_done;
} Known;

typedef struct Candidate {
    Schedule s;
    CostWork work;
    Cost cost;
    int64_t measured_ns; // 0: only predicted
} Candidate;

typedef struct Scheduler {
    IrModule *m, *scratch;
    CpuLevel level;
    Target target;
    KernelUses uses;
    double units;
    Candidate candidates[MAX_CANDIDATES];
    size_t num_candidates;
    Known *known;
    size_t num_known, known_capacity;
} Scheduler;

static void add_candidate(Scheduler *sch, int64_t lanes, int64_t row_tile, int64_t col_tile) {
    if (sch->num_candidates < MAX_CANDIDATES)
        sch->candidates[sch->num_candidates++] =
            (Candidate){.s = {.lanes = lanes, .row_tile = row_tile, .col_tile = col_tile}};
}

// Row tiles worth weighing, up to MOST_ROWS: every small one, then steps; whether they fit the
// registers is for the cost model to say.
static void list_tiles(Scheduler *sch, int64_t lanes, int64_t max_rows) {
    static const int64_t tiles[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, MOST_ROWS};
    for (size_t i = 0; i < ARRAY_LEN(tiles); i++)
        if (tiles[i] <= max_rows) add_candidate(sch, lanes, tiles[i], 1);
}

// A single row is limited by how fast its weights are read, and a core may read several streams
// faster than one.
static void list_streams(Scheduler *sch, int64_t lanes) {
    for (int64_t streams = 1; streams <= 8; streams *= 2) add_candidate(sch, lanes, 1, streams);
}

static void list_candidates(Scheduler *sch, const IrOp *kernel, const char *kind) {
    const IrType *first = ir_func_body(kernel)->args[0]->type;
    bool is_shaped = first->kind == IR_TYPE_MEMREF && first->rank > 0;
    int64_t rows = is_shaped ? first->shape[0] : 1;
    int64_t widest = (int64_t)sch->target.numbers[TARGET_VECTOR_BYTES] / 4;
    sch->num_candidates = 0;
    if (str_equal(kind, "conv")) {
        Schedule list[MAX_CANDIDATES];
        size_t num = schedule_list_conv(sch->m, kernel, &sch->target, list, MAX_CANDIDATES);
        for (size_t i = 0; i < num; i++) sch->candidates[i] = (Candidate){.s = list[i]};
        sch->num_candidates = num;
        return;
    }
    if (str_equal(kind, "attention")) {
        bool is_whole = is_shaped && first->shape[first->rank - 1] % ATTENTION_LANES == 0;
        int64_t group = is_shaped && first->rank == 4 ? first->shape[2] : 1;
        list_tiles(sch, is_whole ? ATTENTION_LANES : ATTENTION_LANES / 2,
                   MIN(rows, attention_block_tokens(kernel)) * group);
        return;
    }
    int64_t lanes = widest >= 16 ? 16 : 8; // weights lie by sixteens: half a register is never more
    if (rows == 1)
        list_streams(sch, lanes);
    else
        list_tiles(sch, lanes, rows);
}

// Carries the candidate out on a copy and counts it.
static CarriedOut carry_out(Scheduler *sch, const IrOp *kernel, const Schedule *s) {
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *copy = ir_op_clone(sch->scratch, kernel, &map);
    ir_value_map_deinit(&map);
    ir_block_append(ir_module_body(sch->scratch), copy);
    schedule_write(sch->scratch, copy, s);
    DiagSink quiet;
    diag_sink_init(&quiet);
    bool is_done = vectorize_kernel(sch->scratch, copy, sch->level, &quiet) == STATUS_OK;
    diag_sink_deinit(&quiet);
    if (is_done)
        return (CarriedOut){*s, copy, kernel_count_create(sch->scratch, copy, &sch->target)};
    ir_op_erase(sch->scratch, copy);
    return (CarriedOut){.s = *s};
}

static void drop(Scheduler *sch, const CarriedOut *done) {
    if (!done->copy) return;
    kernel_count_destroy(done->count);
    ir_op_erase(sch->scratch, done->copy);
}

// The rows of a kernel that does as many as a call says to be valid; 0: of any other.
static int64_t free_rows(const IrOp *kernel, const char *kind) {
    const IrBlock *body = ir_func_body(kernel);
    const IrType *first = body->num_args > 3 ? body->args[0]->type : NULL;
    bool is_free = first && first->kind == IR_TYPE_MEMREF && first->rank > 0 &&
                   !str_equal(kind, "conv") &&
                   body->args[body->num_args - 3]->type->kind == IR_TYPE_INDEX;
    return is_free ? MAX(first->shape[0], (int64_t)0) : 0;
}

// Is the code the same for all kernels with more rows than the tile has? A tile of attention may
// have the heads of several rows.
static bool is_shared(const char *kind, int64_t rows, const Schedule *s) {
    return rows > (str_equal(kind, "attention") ? (int64_t)MOST_ROWS : s->row_tile);
}

// The known kernel that is alike; else this one becomes known.
static Known *know(Scheduler *sch, const IrOp *kernel, const char *kind, int64_t rows) {
    for (size_t i = 0; i < sch->num_known; i++) {
        Known *known = &sch->known[i];
        if (str_equal(known->kind, kind) &&
            kernel_is_alike(known->kernel, known->rows, kernel, rows))
            return known;
    }
    ARRAY_RESERVE(sch->known, sch->num_known, sch->known_capacity);
    Known *known = &sch->known[sch->num_known++];
    *known = (Known){.kernel = kernel, .kind = kind, .rows = rows};
    return known;
}

static const CarriedOut *carry_out_once(Scheduler *sch, Known *known, const IrOp *kernel,
                                        const Schedule *s) {
    for (size_t i = 0; i < known->num_done; i++) {
        const Schedule *of = &known->done[i].s;
        if (of->lanes == s->lanes && of->row_tile == s->row_tile && of->col_tile == s->col_tile)
            return &known->done[i];
    }
    if (known->num_done == MAX_CANDIDATES) return NULL;
    CarriedOut *done = &known->done[known->num_done++];
    *done = carry_out(sch, kernel, s);
    return done;
}

// Predicts the candidates that can be carried out: how many.
static size_t weigh(Scheduler *sch, const IrOp *kernel, const char *kind, const KernelUse *use) {
    int64_t rows = free_rows(kernel, kind);
    Known *known = NULL;
    size_t num = 0;
    for (size_t i = 0; i < sch->num_candidates; i++) {
        const Schedule s = sch->candidates[i].s;
        const CarriedOut *done = NULL;
        if (is_shared(kind, rows, &s)) {
            if (!known) known = know(sch, kernel, kind, rows);
            done = carry_out_once(sch, known, kernel, &s);
        }
        CarriedOut own = {0};
        if (!done) own = carry_out(sch, kernel, &s);
        const CarriedOut *at = done ? done : &own;
        if (at->copy) {
            Candidate *c = &sch->candidates[num++];
            *c = (Candidate){.s = s};
            kernel_count_call(at->count, kernel, use, &sch->uses, &c->work);
            c->cost = cost_predict(&sch->target, &c->work, sch->units);
        }
        drop(sch, &own);
    }
    return num;
}

// What was measured first, then by prediction.
static int by_clocks(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    if (!x->measured_ns != !y->measured_ns) return x->measured_ns ? -1 : 1;
    if (x->cost.clocks != y->cost.clocks) return x->cost.clocks < y->cost.clocks ? -1 : 1;
    if (x->s.lanes != y->s.lanes) return x->s.lanes > y->s.lanes ? -1 : 1;
    if (x->s.band != y->s.band) return x->s.band < y->s.band ? -1 : 1;
    if (x->s.row_tile != y->s.row_tile) return x->s.row_tile < y->s.row_tile ? -1 : 1;
    return x->s.col_tile < y->s.col_tile ? -1 : x->s.col_tile > y->s.col_tile;
}

static int64_t whole(double value) {
    return (int64_t)MIN(value, 9e18);
}

// Of the tuning lock; STATUS_OK if it says nothing of this kernel.
static Status take_measured(Scheduler *sch, const IrOp *func, const char *key, size_t num,
                            DiagSink *sink) {
    TuningEntry entry;
    if (!tuning_find(sch->m, key, sch->level, &entry)) return STATUS_OK;
    const Schedule *s = &entry.schedule;
    for (size_t i = 0; i < num; i++) {
        Candidate *c = &sch->candidates[i];
        if (c->s.lanes != s->lanes || c->s.row_tile != s->row_tile ||
            c->s.col_tile != s->col_tile || MAX(c->s.unroll, 1) != s->unroll ||
            c->s.band != s->band)
            continue;
        c->measured_ns = MAX(entry.measured_ns, 1);
        return STATUS_OK;
    }
    Status status = diag_error(sink, DIAG_P0070, ir_loc_span(func->loc),
                               "the tuning lock gives %s a schedule that is none of its "
                               "candidates: lanes %lld, row_tile %lld, col_tile %lld, unroll %lld, "
                               "band %lld",
                               ir_symbol_name(func), (long long)s->lanes, (long long)s->row_tile,
                               (long long)s->col_tile, (long long)s->unroll, (long long)s->band);
    diag_evidence(sink, "key %s, level %s, %zu candidates", key, cpu_level_info(sch->level)->name,
                  num);
    diag_write(sink, "ingot tune, which measures the candidates of this build");
    return status;
}

static double far_bytes(const Candidate *c) {
    double bytes = 0;
    for (int i = COST_L2; i < NUM_COST_LEVELS; i++) bytes += c->work.bytes[i];
    return bytes;
}

// What the model cannot tell apart is decided by the bytes that have to come from further away,
// where they differ by a fifth: the first of the sorted candidates becomes the frugal one among its
// equals.
static void settle_ties(Candidate *sorted, size_t num) {
    if (sorted[0].measured_ns) return;
    static const double same = 1.002; // the last digits of a prediction mean nothing
    size_t best = 0;
    for (size_t i = 1; i < num && sorted[i].cost.clocks <= sorted[0].cost.clocks * same; i++)
        if (far_bytes(&sorted[i]) < 0.8 * far_bytes(&sorted[best])) best = i;
    Candidate chosen = sorted[best];
    for (size_t i = best; i > 0; i--) sorted[i] = sorted[i - 1];
    sorted[0] = chosen;
}

static const IrAttr *describe(IrModule *m, const Target *t, const Candidate *c) {
    IrNamedAttr entries[] = {
        {ir_intern(m, "bound"), ir_attr_string(m, c->cost.bound)},
        {ir_intern(m, "bytes"), ir_attr_i64(m, whole(far_bytes(c)))},
        {ir_intern(m, "clocks"), ir_attr_i64(m, whole(c->cost.clocks))},
        {ir_intern(m, "col_tile"), ir_attr_i64(m, c->s.col_tile)},
        {ir_intern(m, "fits"),
         ir_attr_string(m, cost_level_name(cost_fit(t, c->work.working_bytes, 1)))},
        {ir_intern(m, "lanes"), ir_attr_i64(m, c->s.lanes)},
        {ir_intern(m, "registers"), ir_attr_i64(m, (int64_t)c->work.live_vectors)},
        {ir_intern(m, "row_tile"), ir_attr_i64(m, c->s.row_tile)},
        {ir_intern(m, "unroll"), ir_attr_i64(m, MAX(c->s.unroll, (int64_t)1))},
        {NULL},
        {NULL},
        {NULL},
    };
    size_t num = ARRAY_LEN(entries) - 3; // and what not every candidate has
    const IrNamedAttr by_image = {ir_intern(m, "by_image"), ir_attr_i64(m, c->s.by_image)};
    const IrNamedAttr measured = {ir_intern(m, "measured_ns"), ir_attr_i64(m, c->measured_ns)};
    const IrNamedAttr band = {ir_intern(m, "band"), ir_attr_i64(m, c->s.band)};
    if (c->s.band) entries[num++] = band;
    if (c->s.by_image) entries[num++] = by_image;
    if (c->measured_ns) entries[num++] = measured;
    return ir_attr_dict(m, (uint32_t)num, entries);
}

static Status schedule_kernel(Scheduler *sch, IrOp *func, const char *kind, DiagSink *sink) {
    IrOp *kernel = ir_symbol_find(sch->scratch, ir_symbol_name(func));
    const KernelUse *use = kernel_uses_find(&sch->uses, ir_symbol_name(func));
    KernelUse unknown = {0}; // called by no entry: every loop counts as one turn
    for (int i = 0; i < KERNEL_MAX_ARGS; i++) unknown.scalars[i] = INT64_MIN;
    list_candidates(sch, func, kind);
    size_t num = kernel ? weigh(sch, kernel, kind, use ? use : &unknown) : 0;
    if (sch->num_candidates == 0) return STATUS_OK; // vectorize says why
    if (num == 0) {
        schedule_write(sch->m, func, &sch->candidates[0].s);
        return STATUS_OK;
    }
    char key[TUNING_KEY_CHARS + 1];
    tuning_key(sch->m, func, key);
    TRY(take_measured(sch, func, key, num, sink));
    array_sort(sch->candidates, num, sizeof *sch->candidates, by_clocks);
    settle_ties(sch->candidates, num);
    schedule_write(sch->m, func, &sch->candidates[0].s);
    const IrAttr *records[MAX_CANDIDATES];
    for (size_t i = 0; i < num; i++)
        records[i] = describe(sch->m, &sch->target, &sch->candidates[i]);
    ir_op_set_attr(sch->m, func, "ingot.candidates", ir_attr_array(sch->m, num, records));
    ir_op_set_attr(sch->m, func, "ingot.key", ir_attr_string(sch->m, key));
    return STATUS_OK;
}

static Status refuse_calls(DiagSink *sink) {
    Status status = diag_error(sink, DIAG_P0014, (DiagSpan){0},
                               "loop-schedule: the module's functions call each other too often");
    diag_write(sink, "inline-functions before it");
    return status;
}

Status pass_loop_schedule(IrModule *m, DiagSink *sink) {
    // A machine that no code is made for has no schedule to choose.
    if (!ir_op_attr(m->op, "ingot.target") && ir_op_attr(m->op, "ingot.machine")) return STATUS_OK;
    if (!kernel_uses_bounded(m)) return refuse_calls(sink);
    Scheduler *sch = base_alloc(1, sizeof *sch);
    *sch = (Scheduler){.m = m};
    Status status = pass_target_read(m, sink, &sch->level);
    if (status == STATUS_OK) status = pass_machine_read(m, sch->level, sink, &sch->target);
    PassConfig config = {.threads = 1};
    if (status == STATUS_OK && ir_op_attr(m->op, "ingot.config"))
        status = pass_config_read(m, sink, &config);
    if (status == STATUS_OK) {
        sch->scratch = ir_module_clone(m);
        sch->units = config.threads;
        // Half of the context behind: what decoding meets on average.
        kernel_uses_collect(sch->scratch, config.page_len_tokens * config.max_pages / 2,
                            &sch->uses);
        FOR_EACH_OP(func, ir_module_body(m)) {
            const IrAttr *kind =
                func->kind == IR_FUNC_FUNC ? ir_op_attr(func, "ingot.kernel") : NULL;
            bool is_wanted = kind && kind->kind == IR_ATTR_STRING &&
                             (str_equal(kind->str, "matmul") || str_equal(kind->str, "conv") ||
                              str_equal(kind->str, "attention"));
            if (is_wanted && !ir_op_attr(func, "ingot.schedule") && status == STATUS_OK)
                status = schedule_kernel(sch, func, kind->str, sink);
        }
        for (size_t i = 0; i < sch->num_known; i++)
            for (size_t k = 0; k < sch->known[i].num_done; k++) drop(sch, &sch->known[i].done[k]);
        free(sch->known);
        kernel_uses_deinit(&sch->uses);
        ir_module_destroy(sch->scratch);
    }
    free(sch);
    return status;
}
