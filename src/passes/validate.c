// The comparison of a module's functions before and after a pass; see validate.h.
#include "passes/entry.h"
#include "passes/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/float16.h"
#include "ir/print.h"
#include "passes/validate_internal.h"

// Where roundings are moved by NOISE_ROUNDINGS in each of NUM_NOISE_RUNS, results spread further
// than an evaluation with other roundings differs; the factor leaves room for what few runs miss.
// Where a recipe narrows operands, the first run narrows them as it asks, the others at random.
// A difference outside is looked at again with more runs: a rounding to an integer may fall the
// other way once in thousands.
enum { NUM_NOISE_RUNS = 4, NUM_MORE_RUNS = 24 };
#define SPREAD_FACTOR   4.0
#define NOISE_ROUNDINGS 8.0
#define ROUNDING_F32    0x1p-24

static const char *const skip_reasons[NUM_VALIDATE_SKIPS] = {
    [VALIDATE_SKIP_OPS] = "too many operations",
    [VALIDATE_SKIP_BYTES] = "inputs too large",
    [VALIDATE_SKIP_RANGE] = "inputs beyond the range of a type the recipe asks for",
    [VALIDATE_SKIP_NEW] = "new, compared in its callers",
    [VALIDATE_SKIP_INPUTS] = "no valid inputs",
    [VALIDATE_SKIP_NATIVE] = "code for another processor",
};
const char *validate_skip_reason(ValidateSkip skip) {
    return skip_reasons[skip];
}

Validator *validate_create(const ValidateOptions *options) {
    Validator *v = base_alloc(1, sizeof *v);
    arena_init(&v->arena);
    v->options = *options;
    if (!v->options.max_ops) v->options.max_ops = VALIDATE_MAX_OPS;
    if (!v->options.max_bytes) v->options.max_bytes = VALIDATE_MAX_BYTES;
    return v;
}

void validate_destroy(Validator *v) {
    if (!v) return;
    snapshot_free(&v->before);
    arena_deinit(&v->arena);
    free(v->specs);
    free(v->params);
    free(v);
}

ValidateReport validate_report(const Validator *v) {
    return v->report;
}

void validate_report_text(const ValidateReport *r, StrBuf *out) {
    strbuf_printf(out, "verify-each: %u passes, %u functions compared in %u runs, %u unchanged",
                  r->num_passes, r->num_compared, r->num_runs, r->num_unchanged);
    for (int i = 0; i < NUM_VALIDATE_SKIPS; i++)
        if (r->num_skipped[i])
            strbuf_printf(out, ", %u skipped: %s", r->num_skipped[i], skip_reasons[i]);
    if (r->worst_pass)
        strbuf_printf(out, "; worst difference %.2g of its bound (%s, @%s)", r->worst,
                      r->worst_pass, r->worst_function);
    else
        strbuf_puts(out, "; all results equal to the bit");
    strbuf_printf(out, "; verification took %.3f s of CPU, the passes %.3f s",
                  (double)r->verify_ns * 1e-9, (double)r->passes_ns * 1e-9);
    if (r->passes_ns)
        strbuf_printf(out, ": %.1f times as much", (double)r->verify_ns / (double)r->passes_ns);
    strbuf_putc(out, '\n');
}

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void validate_pass_ended(Validator *v) {
    if (v->pass_began_ns) v->report.passes_ns += cpu_ns() - v->pass_began_ns;
    v->pass_began_ns = 0;
}

// ---------------------------------------------------------------- elements

static double element(const CallValue *value, uint64_t i) {
    const IrType *type = ir_type_elem(value->type);
    uint64_t bits = value->bits;
    if (value->data) {
        bits = 0;
        memcpy(&bits, (uint8_t *)value->data + i * ir_type_bytes(type), ir_type_bytes(type));
    }
    float narrow;
    double wide;
    switch (type->kind) {
    case IR_TYPE_F16: return (double)f16_to_f32((uint16_t)bits);
    case IR_TYPE_BF16: return (double)bf16_to_f32((uint16_t)bits);
    case IR_TYPE_F32: memcpy(&narrow, &bits, sizeof narrow); return (double)narrow;
    case IR_TYPE_F64: memcpy(&wide, &bits, sizeof wide); return wide;
    default: {
        uint32_t shift = 64 - MIN(ir_type_bits(type), 64u);
        return (double)((int64_t)(bits << shift) >> shift);
    }
    }
}

static uint64_t num_elements(const CallValue *value) {
    return value->data ? value->len_bytes / ir_type_bytes(value->type->elem) : 1;
}

static uint64_t row_len(const CallValue *value) {
    const IrType *type = value->type;
    return value->data && type->rank ? (uint64_t)MAX(type->shape[type->rank - 1], 1) : 1;
}

static bool same_shape(const CallValue *a, const CallValue *b) {
    const IrType *x = a->type, *y = b->type;
    if (!x || !y || !a->data != !b->data) return false;
    if (!a->data) return x->kind == y->kind;
    if (x->rank != y->rank || x->elem->kind != y->elem->kind || a->len_bytes != b->len_bytes)
        return false;
    return memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0;
}

static bool same_bits(const CallValue *a, const CallValue *b) {
    return a->data ? memcmp(a->data, b->data, a->len_bytes) == 0 : a->bits == b->bits;
}

// ---------------------------------------------------------------- bounds

// Per result the largest change of each element over some runs with noise.
typedef struct Spread {
    double *of[64];
    uint32_t num;
} Spread;

static void spread_free(Spread *spread) {
    for (uint32_t r = 0; r < spread->num; r++) free(spread->of[r]);
    spread->num = 0;
}

static void spread_add(Spread *spread, const RunResults *base, const RunResults *moved) {
    for (uint32_t r = 0; r < base->num_values && r < ARRAY_LEN(spread->of); r++) {
        uint64_t n = num_elements(&base->values[r]);
        if (r == spread->num) spread->of[spread->num++] = base_alloc(n + 1, sizeof(double));
        if (num_elements(&moved->values[r]) != n) continue;
        for (uint64_t i = 0; i < n; i++) {
            double d = fabs(element(&moved->values[r], i) - element(&base->values[r], i));
            if (d > spread->of[r][i]) spread->of[r][i] = d; // NaN is none
        }
    }
}

typedef struct Pair {
    Validator *v;
    Snapshot *before;
    Snapshot *after;
    const Call *a, *b;
    const IrModule *native;
    const PassInfo *pass;
    int64_t tokens;
    PassCompare compare;
    RunResults base, got;
} Pair;

static void add_runs(Pair *p, Spread *spread, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; i++) {
        Noise noise = {.roundings = NOISE_ROUNDINGS, .seed = i + 1};
        if (p->compare == COMPARE_PRECISION) {
            noise.operands = p->v->activations;
            noise.roundings *= fmax(1.0, p->v->op_rounding / ROUNDING_F32);
        }
        noise.rounds_operands = i == 0;
        RunResults moved;
        validate_run(p->v, p->before, p->a, NULL, p->tokens, &noise, &moved);
        if (moved.status == RUN_OK) spread_add(spread, &p->base, &moved);
        validate_results_free(&moved);
    }
}

// The largest difference as a part of its bound: SPREAD_FACTOR times the largest spread in the
// element's row. Infinite where a number is none on one side only.
static double worst_ratio(const Pair *p, const Spread *spread, uint32_t *out_result,
                          uint64_t *out_at) {
    double worst = 0;
    for (uint32_t r = 0; r < p->base.num_values && r < spread->num; r++) {
        const CallValue *x = &p->base.values[r], *y = &p->got.values[r];
        uint64_t n = num_elements(x), row = row_len(x);
        double bound = 0;
        for (uint64_t i = 0; i < n; i++) {
            if (i % row == 0) {
                bound = 0;
                for (uint64_t k = i; k < i + row && k < n; k++)
                    bound = fmax(bound, spread->of[r][k]);
                bound *= SPREAD_FACTOR;
            }
            double a = element(x, i), b = element(y, i), ratio = 0;
            if (isnan(a) != isnan(b) || (isinf(a) || isinf(b) ? a != b && !isnan(a) : false))
                ratio = INFINITY;
            else if (a != b && !isnan(a))
                ratio = fabs(a - b) / bound; // infinite for a bound of 0
            if (ratio <= worst) continue;
            worst = ratio;
            *out_result = r;
            *out_at = i;
        }
    }
    return worst;
}

// ---------------------------------------------------------------- one pair of runs

static Status report_difference(Pair *p, DiagSink *sink, const char *what) {
    Status status = diag_error(sink, DIAG_P0050, ir_loc_span(p->b ? p->b->func->loc : NULL),
                               "pass %s changes the results of @%s", p->pass->name, p->a->name);
    (void)status;
    diag_evidence(sink, "%lld tokens, seed %llu, results declared to be within \"%s\": %s",
                  (long long)p->tokens, (unsigned long long)p->v->options.seed,
                  pass_compare_name(p->compare), what);
    if (p->v->options.dump_dir)
        diag_write(sink, "ingot opt --run on the modules %s/%02u-%s-%s-*.mlir",
                   p->v->options.dump_dir, p->v->pass_number, p->pass->name, p->a->name);
    else
        diag_write(sink, "--dump-dir=DIR, for the modules before and after with these inputs");
    validate_write_counterexample(p->v, p->before, p->a, p->after, p->b, p->tokens, p->pass->name,
                                  sink);
    return STATUS_FAULT;
}

static Status report_element(Pair *p, DiagSink *sink, uint32_t result, uint64_t at, double ratio) {
    char what[256];
    snprintf(what, sizeof what,
             "result %u, element %llu: %.9g before, %.9g after, %.3g of the bound", result,
             (unsigned long long)at, element(&p->base.values[result], at),
             element(&p->got.values[result], at), ratio);
    return report_difference(p, sink, what);
}

static Status compare_within(Pair *p, DiagSink *sink) {
    Spread spread = {0};
    uint32_t result = 0;
    uint64_t at = 0;
    add_runs(p, &spread, 0, NUM_NOISE_RUNS);
    double ratio = worst_ratio(p, &spread, &result, &at);
    if (!(ratio <= 1)) {
        add_runs(p, &spread, NUM_NOISE_RUNS, NUM_MORE_RUNS);
        ratio = worst_ratio(p, &spread, &result, &at);
    }
    spread_free(&spread);
    ValidateReport *report = &p->v->report;
    if (ratio > report->worst) {
        report->worst = ratio;
        report->worst_pass = p->pass->name;
        report->worst_function = arena_strdup(&p->v->arena, p->a->name);
    }
    return ratio <= 1 ? STATUS_OK : report_element(p, sink, result, at, ratio);
}

static Status compare_results(Pair *p, DiagSink *sink) {
    if (p->base.num_values != p->got.num_values)
        return report_difference(p, sink, "another number of results");
    bool is_same = true;
    for (uint32_t r = 0; r < p->base.num_values; r++) {
        const CallValue *x = &p->base.values[r], *y = &p->got.values[r];
        if (!same_shape(x, y)) return report_difference(p, sink, "a result of another shape");
        is_same &= same_bits(x, y);
    }
    if (is_same) return STATUS_OK;
    if (p->compare != COMPARE_BITS) return compare_within(p, sink);
    for (uint32_t r = 0; r < p->base.num_values; r++) {
        const CallValue *x = &p->base.values[r], *y = &p->got.values[r];
        uint32_t bytes = ir_type_bytes(ir_type_elem(x->type));
        if (same_bits(x, y)) continue;
        uint64_t i = 0;
        while (x->data &&
               memcmp((uint8_t *)x->data + i * bytes, (uint8_t *)y->data + i * bytes, bytes) == 0)
            i++;
        return report_element(p, sink, r, i, INFINITY);
    }
    return STATUS_OK;
}

typedef enum PairOutcome { PAIR_COMPARED, PAIR_SKIPPED } PairOutcome;

static Status run_pair(Pair *p, DiagSink *sink, PairOutcome *out_outcome, ValidateSkip *out_skip) {
    *out_outcome = PAIR_SKIPPED;
    Status status = STATUS_OK;
    validate_run(p->v, p->before, p->a, NULL, p->tokens, NULL, &p->base);
    if (p->base.status == RUN_OK)
        validate_run(p->v, p->native ? p->before : p->after, p->native ? p->a : p->b, p->native,
                     p->tokens, NULL, &p->got);
    RunStatus worse = p->base.status != RUN_OK ? p->base.status : p->got.status;
    switch (worse) {
    case RUN_OK:
        // What the recipe made too narrow for these inputs is not wrong, nor that of two numbers
        // near the end of a type one leaves it.
        if (p->compare == COMPARE_PRECISION && p->got.has_overflow) {
            *out_skip = VALIDATE_SKIP_RANGE;
            break;
        }
        *out_outcome = PAIR_COMPARED;
        p->v->report.num_runs++;
        status = compare_results(p, sink);
        break;
    case RUN_TOO_MANY_OPS: *out_skip = VALIDATE_SKIP_OPS; break;
    case RUN_TOO_MANY_BYTES: *out_skip = VALIDATE_SKIP_BYTES; break;
    case RUN_NO_NATIVE: *out_skip = VALIDATE_SKIP_NATIVE; break;
    case RUN_FAULT:
        *out_skip = VALIDATE_SKIP_INPUTS;
        if (p->base.status == RUN_OK) status = report_difference(p, sink, p->got.fault);
        break;
    }
    validate_results_free(&p->base);
    validate_results_free(&p->got);
    return status;
}

// ---------------------------------------------------------------- functions

// Do both take the same values? Parameters may be split, stacked and laid out.
static bool arguments_match(const Call *a, const Call *b) {
    for (uint32_t i = 0; i < b->num_args; i++) {
        const CallArg *arg = &b->args[i];
        if (arg->role != ARG_INPUT || arg->param || str_has_prefix(arg->key, "cache ")) continue;
        bool is_there = false;
        for (uint32_t j = 0; j < a->num_args; j++)
            is_there |= a->args[j].role == ARG_INPUT && str_equal(a->args[j].key, arg->key);
        if (!is_there) return false;
    }
    return true;
}

static bool same_type(const IrType *x, const IrType *y) {
    if (x->kind != y->kind || x->rank != y->rank) return false;
    if (!ir_type_is_shaped(x)) return ir_type_bits(x) == ir_type_bits(y);
    return (x->rank == 0 || memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0) &&
           same_type(x->elem, y->elem);
}

// The argument of a that has the place of argument number `at` of b, tensors and scalars counted
// apart; NULL: none of its type and role.
static const CallArg *counterpart(const Call *a, const Call *b, uint32_t at) {
    bool is_shaped = ir_type_is_shaped(b->args[at].type);
    uint32_t place = 0;
    for (uint32_t i = 0; i < at; i++) place += ir_type_is_shaped(b->args[i].type) == is_shaped;
    for (uint32_t i = 0; i < a->num_args; i++) {
        const CallArg *arg = &a->args[i];
        if (ir_type_is_shaped(arg->type) != is_shaped || place-- > 0) continue;
        return arg->role == b->args[at].role && same_type(arg->type, b->args[at].type) ? arg : NULL;
    }
    return NULL;
}

// A function that became a kernel names its arguments otherwise and passes numbers last: where
// nothing else about them changed, they are what they were.
static bool adopt_arguments(const Call *a, Call *b) {
    if (a->num_args != b->num_args) return false;
    for (uint32_t i = 0; i < b->num_args; i++)
        if (!counterpart(a, b, i)) return false;
    for (uint32_t i = 0; i < b->num_args; i++) {
        const CallArg *from = counterpart(a, b, i);
        b->args[i].key = from->key;
        b->args[i].param = from->param;
        b->args[i].cache = from->cache;
    }
    return true;
}

static bool is_long_known(Validator *v, const Call *call, uint32_t level, bool add) {
    const char *key = arena_printf(&v->arena, "%u %s", level, call->name);
    for (uint32_t i = 0; i < v->num_long; i++)
        if (str_equal(v->long_names[i], key)) return true;
    if (add && v->num_long < ARRAY_LEN(v->long_names)) v->long_names[v->num_long++] = key;
    return false;
}

// ---------------------------------------------------------------- the shape matrix

typedef struct Cases {
    int64_t tokens[VALIDATE_MAX_CASES];
    SizeCase sizes[VALIDATE_MAX_CASES];
    uint32_t num;
} Cases;

// Every number of tokens both can be run with.
static void list_tokens(const Pair *p, const Call *b, bool counts, Cases *out) {
    const Validator *v = p->v;
    int64_t below = 0; // the bucket before b's
    bool is_batch = entry_is_batch(b->root);
    const int64_t *buckets = is_batch ? v->batches : v->buckets;
    for (uint32_t i = 0; i < (is_batch ? v->num_batches : v->num_buckets); i++)
        if (buckets[i] < b->bucket) below = buckets[i];
    for (uint32_t i = 0; i < (counts ? v->num_tokens : 1); i++) {
        int64_t tokens = counts ? v->tokens[i] : v->tokens[v->num_tokens - 1];
        bool fits = !counts || !b->bucket || (tokens <= b->bucket && tokens > below);
        if (fits) out->tokens[out->num++] = tokens;
    }
}

// Sizes that a function is run with: of a version the least, one off the bucket, and the bucket;
// of what serves all sizes the least, around the first bucket, and the most.
static uint32_t list_sizes(const BucketRange *range, int64_t bucket, int64_t *out) {
    int64_t first = bucket ? bucket : bucket_range_above(range, range->min);
    const int64_t all[] = {bucket ? bucket_range_least(range, bucket) : range->min,
                           first - 1,
                           first,
                           first + 1,
                           range->max - 1,
                           range->max};
    int64_t least = all[0], most = bucket ? bucket : range->max;
    bool is_fixed = bucket && range->rejects_off_step;
    uint32_t num = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        bool fits = all[i] >= least && all[i] <= most && (!is_fixed || all[i] == bucket);
        if (fits && (num == 0 || all[i] > out[num - 1])) out[num++] = all[i];
    }
    return num;
}

// The sizes of a case become smaller, one after the other, until they keep to the relations.
static void keep_to_relations(const SizeRanges *ranges, const IrOp *root, SizeCase *c) {
    for (uint32_t i = 0; i < ranges->num && !size_ranges_hold(ranges, c->of); i++) {
        const BucketRange *range = &ranges->of[i].is;
        int64_t bucket = size_bucket_of(root, ranges->of[i].name);
        int64_t least =
            bucket_range_least(range, bucket > 0 ? bucket : bucket_range_above(range, 1));
        while (c->of[i] > least && !size_ranges_hold(ranges, c->of)) c->of[i]--;
    }
}

// All named sizes go from the least to the most together, and once each is the least or the most
// alone: what mixes them up is seen.
static void list_size_cases(const SizeRanges *ranges, const IrOp *root, bool counts, Cases *out) {
    int64_t sizes[SIZES_MAX_NAMES][6];
    uint32_t num[SIZES_MAX_NAMES], most = 0;
    for (uint32_t i = 0; i < ranges->num; i++) {
        num[i] = list_sizes(&ranges->of[i].is, MAX(size_bucket_of(root, ranges->of[i].name), 0),
                            sizes[i]);
        most = MAX(most, num[i]);
    }
    uint32_t num_mixed = counts && ranges->num > 1 ? 2 : 0, first = counts ? 0 : most - 1;
    for (uint32_t k = first; k < most + num_mixed && out->num < VALIDATE_MAX_CASES; k++) {
        SizeCase *c = &out->sizes[out->num];
        out->tokens[out->num++] = 1;
        for (uint32_t i = 0; i < ranges->num; i++) {
            uint32_t last = num[i] - 1, at = MIN(k, last);
            if (k >= most) at = (i + k) % 2 ? last : 0;
            c->names[i] = ranges->of[i].name;
            c->of[i] = sizes[i][at];
        }
        c->num = ranges->num;
        if (counts) keep_to_relations(ranges, root, c);
    }
}

static void list_cases(const Pair *p, const Call *b, Cases *out) {
    bool counts = p->a->is_dynamic || b->is_dynamic || p->a->has_valid || b->has_valid;
    SizeRanges ranges;
    DiagSink quiet;
    diag_sink_init(&quiet);
    *out = (Cases){0};
    bool has_names = ir_op_attr(b->root, "ingot.ranges") &&
                     size_ranges_read(b->root, &quiet, &ranges) == STATUS_OK && ranges.num > 0;
    diag_sink_deinit(&quiet);
    if (has_names)
        list_size_cases(&ranges, b->root, counts, out);
    else
        list_tokens(p, b, counts, out);
}

static Status compare_function(Pair *p, DiagSink *sink) {
    Validator *v = p->v;
    const Call *b = p->native ? p->a : p->b;
    uint32_t num_compared = 0;
    ValidateSkip skip = VALIDATE_SKIP_INPUTS;
    if (is_long_known(v, p->a, p->pass->level, false)) {
        v->report.num_skipped[VALIDATE_SKIP_OPS]++;
        return STATUS_OK;
    }
    Cases cases;
    list_cases(p, b, &cases);
    for (uint32_t i = 0; i < cases.num; i++) {
        p->tokens = cases.tokens[i];
        v->sizes = cases.sizes[i];
        PairOutcome outcome;
        TRY(run_pair(p, sink, &outcome, &skip));
        num_compared += outcome == PAIR_COMPARED;
        if (outcome == PAIR_SKIPPED && skip == VALIDATE_SKIP_OPS) {
            if (!num_compared) (void)is_long_known(v, p->a, p->pass->level, true);
            break;
        }
    }
    if (num_compared)
        v->report.num_compared++;
    else
        v->report.num_skipped[skip]++;
    return STATUS_OK;
}

// ---------------------------------------------------------------- what a pass has left alone

// A function by its name: has its text changed, or that of one it calls?
typedef struct Twin {
    const char *name;
    const IrOp *func;
    bool is_changed;
} Twin;

typedef struct Twins {
    const IrModule *before, *after;
    Twin *of; // in the order of the names' addresses
    size_t num;
    bool calls_changed; // of the function that is walked
} Twins;

static int compare_twins(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const Twin *)a)->name, y = (uintptr_t)((const Twin *)b)->name;
    return (x > y) - (x < y);
}

static Twin *find_twin(const Twins *t, const char *name) {
    Twin key = {.name = name};
    size_t first = 0, end = t->num;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = compare_twins(&key, &t->of[middle]);
        if (order == 0) return &t->of[middle];
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

static bool has_other_text(const Twins *t, const IrOp *func) {
    const IrOp *old = ir_symbol_find(t->before, ir_symbol_name(func));
    if (!old) return true;
    StrBuf a = {0}, b = {0};
    ir_print_op(t->before, old, &a);
    ir_print_op(t->after, func, &b);
    bool is_other = a.len != b.len || memcmp(a.data, b.data, a.len) != 0;
    strbuf_deinit(&a);
    strbuf_deinit(&b);
    return is_other;
}

static void visit_call(IrOp *op, void *ctx) {
    Twins *t = ctx;
    const IrOp *callee = op->kind == IR_FUNC_CALL ? ir_call_callee(t->after, op) : NULL;
    const Twin *twin = callee ? find_twin(t, ir_symbol_name(callee)) : NULL;
    t->calls_changed = t->calls_changed || (twin && twin->is_changed);
}

// Each function is printed once; a change then goes from callees to callers.
static void find_twins(Twins *t, const IrModule *before, IrModule *after) {
    *t = (Twins){.before = before, .after = after};
    FOR_EACH_OP(op, ir_module_body(after)) t->num += op->kind == IR_FUNC_FUNC;
    t->of = base_alloc(t->num + 1, sizeof *t->of);
    size_t n = 0;
    FOR_EACH_OP(op, ir_module_body(after)) {
        if (op->kind == IR_FUNC_FUNC)
            t->of[n++] = (Twin){ir_symbol_name(op), op, has_other_text(t, op)};
    }
    array_sort(t->of, t->num, sizeof *t->of, compare_twins);
    for (bool is_news = true; is_news;) {
        is_news = false;
        for (size_t i = 0; i < t->num; i++) {
            Twin *twin = &t->of[i];
            if (twin->is_changed) continue;
            t->calls_changed = false;
            ir_walk((IrOp *)twin->func, visit_call, t);
            twin->is_changed = t->calls_changed;
            is_news = is_news || twin->is_changed;
        }
    }
}

static bool is_unchanged(const Twins *t, const Pair *p) {
    const Twin *twin = find_twin(t, ir_symbol_name(p->b->func));
    return twin && !twin->is_changed && str_equal(ir_symbol_name(p->a->func), twin->name);
}

static Status compare_modules(Validator *v, Snapshot *after, const PassInfo *pass,
                              PassCompare compare, DiagSink *sink) {
    Twins twins;
    Status status = STATUS_OK;
    find_twins(&twins, v->before.m, after->m);
    for (uint32_t i = 0; status == STATUS_OK && i < after->num_calls; i++) {
        Call *b = &after->calls[i];
        const Call *a = snapshot_find(&v->before, b->name);
        if (!a && b->entry) a = snapshot_find(&v->before, b->entry);
        if (!a) a = snapshot_find(&v->before, validate_base_name(v, b->name));
        if (!a) {
            v->report.num_skipped[VALIDATE_SKIP_NEW]++;
            continue;
        }
        Pair pair = {.v = v,
                     .before = &v->before,
                     .after = after,
                     .a = a,
                     .b = b,
                     .pass = pass,
                     .compare = compare};
        if (is_unchanged(&twins, &pair))
            v->report.num_unchanged++;
        else if (!arguments_match(a, b) && !adopt_arguments(a, b))
            v->report.num_skipped[VALIDATE_SKIP_INPUTS]++;
        else
            status = compare_function(&pair, sink);
    }
    free(twins.of);
    return status;
}

// Functions that have become machine code.
static Status compare_native(Validator *v, Snapshot *after, const IrModule *m, const PassInfo *pass,
                             PassCompare compare, DiagSink *sink) {
    for (uint32_t i = 0; i < v->before.num_calls; i++) {
        const Call *a = &v->before.calls[i];
        const IrOp *lowered = ir_symbol_find(m, a->name);
        if (!a->is_kernel || !lowered || lowered->kind != IR_LLVM_FUNC) continue;
        Pair pair = {.v = v,
                     .before = &v->before,
                     .after = after,
                     .a = a,
                     .native = m,
                     .pass = pass,
                     .compare = compare};
        TRY(compare_function(&pair, sink));
    }
    return STATUS_OK;
}

static Status compare_after(Validator *v, const IrModule *m, const PassInfo *pass, DiagSink *sink) {
    Snapshot after;
    snapshot_take(v, m, &after);
    PassCompare compare = pass->results;
    if (compare == COMPARE_PRECISION && str_equal(v->activations, "f32") && v->op_rounding == 0)
        compare = COMPARE_BITS;
    v->report.num_passes++;
    v->pass_number++;
    Status status = compare_modules(v, &after, pass, compare, sink);
    if (status == STATUS_OK) status = compare_native(v, &after, m, pass, compare, sink);
    snapshot_free(&after);
    return status;
}

Status validate_hook(const IrModule *m, PassId id, bool is_before, void *ctx, DiagSink *sink) {
    Validator *v = ctx;
    Status status = STATUS_OK;
    validate_pass_ended(v);
    uint64_t began = cpu_ns();
    if (is_before) {
        snapshot_free(&v->before);
        snapshot_take(v, m, &v->before);
    } else {
        status = compare_after(v, m, pass_info(id), sink);
    }
    uint64_t now = cpu_ns();
    v->report.verify_ns += now - began;
    if (is_before) v->pass_began_ns = now;
    return status;
}
