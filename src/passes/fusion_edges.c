// Reads all edges of an outlined module, and why those between two kernels are there: every reason
// that holds, from the ops on both sides. See fusion.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/print.h"
#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/entry.h"
#include "passes/fusion.h"
#include "passes/pass.h"

enum { MAX_DEPTH = 8 };

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

static const char *kernel_class(const IrOp *func) {
    const IrAttr *kind = ir_op_attr(func, "ingot.kernel");
    return !kind ? NULL : kind->kind == IR_ATTR_STRING ? kind->str : "";
}

static bool is_kernel(const IrOp *func) {
    const char *class = kernel_class(func);
    return class && !str_equal(class, "init");
}

// Costs nothing of its own: not an end of an edge.
static bool is_free(const IrOp *op) {
    if (fusion_is_view(op) || op->kind == IR_ARITH_CONSTANT || op->kind == IR_TENSOR_EMPTY ||
        op->kind == IR_LINALG_FILL)
        return true;
    return op->num_results == 1 && ir_type_is_scalar(op->results[0].type) && op->num_regions == 0;
}

static uint64_t bytes_of(const IrType *type) {
    if (!ir_type_is_shaped(type) || !ir_type_is_static(type)) return 0;
    return (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
}

uint32_t fusion_op_number(const IrOp *op) {
    uint32_t n = 0;
    while ((op = op->prev)) n++;
    return n;
}

// Along calls, at most MAX_DEPTH of them: what the callers of a function run, it runs.
uint64_t *fusion_func_counts(const IrModule *m) {
    size_t num = (size_t)m->num_ops + 1;
    uint64_t *total = base_alloc(num, sizeof *total);
    uint64_t *level = base_alloc(num, sizeof *level), *next = base_alloc(num, sizeof *next);
    const IrBlock *body = m->op->regions[0].first;
    FOR_EACH_OP(func, body)
    if (!ir_op_attr(func, "sym_visibility")) total[func->index] = level[func->index] = 1;
    bool any = true;
    for (int depth = 0; depth < MAX_DEPTH && any; depth++) {
        any = false;
        FOR_EACH_OP(func, body) next[func->index] = 0;
        FOR_EACH_OP(caller, body) {
            if (!is_func(caller) || kernel_class(caller) || !level[caller->index]) continue;
            FOR_EACH_OP(op, ir_func_body(caller)) {
                const IrOp *func = op->kind == IR_FUNC_CALL ? ir_call_callee(m, op) : NULL;
                if (!func || !ir_op_attr(func, "sym_visibility")) continue;
                next[func->index] += level[caller->index];
                any = true;
            }
        }
        FOR_EACH_OP(func, body) total[func->index] += next[func->index];
        uint64_t *swap = level;
        level = next;
        next = swap;
    }
    free(level);
    free(next);
    return total;
}

const char *fusion_loc_text(IrModule *m, const IrLoc *loc) {
    if (!loc) return "";
    switch (loc->kind) {
    case IR_LOC_NAME: return loc->str;
    case IR_LOC_FILE: { // without its folder: artifacts are the same wherever they are compiled
        const char *slash = strrchr(loc->str, '/');
        return arena_printf(&m->arena, "%s:%" PRIu32, slash ? slash + 1 : loc->str, loc->line);
    }
    default: break;
    }
    const char *best = "";
    for (uint32_t i = 0; i < loc->num_children; i++) { // a name says more than a line
        const char *text = fusion_loc_text(m, loc->children[i]);
        if (!*best || (strchr(best, ':') && *text && !strchr(text, ':'))) best = text;
    }
    return best;
}

// ---- both sides of an edge between kernels

// An op inside a kernel, or a kernel that counts as one op.
typedef struct End {
    const IrOp *func, *op;
    const IrValue *value; // as the op makes or reads it
    bool crosses_call;    // of a function that is no kernel
    const IrOp *copy;     // a kernel of nothing but views that the value passes; NULL: none
    uint64_t copied;      // bytes that such kernels read and write
} End;

static bool counts_as_one(const IrOp *kernel) {
    return ir_op_attr(kernel, "ingot.composite") != NULL;
}

// Where result `number` of a call comes from.
static bool find_producer(const IrModule *m, const IrOp *call, uint32_t number, int depth,
                          End *out) {
    const IrOp *func = ir_call_callee(m, call);
    if (!func || !ir_func_body(func) || depth == MAX_DEPTH) return false;
    const IrOp *ret = ir_block_terminator(ir_func_body(func));
    if (number >= ret->num_operands) return false;
    const IrValue *value = ir_op_operand(ret, number);
    const IrOp *maker = fusion_maker(value);
    if (counts_as_one(func)) {
        *out = (End){.func = func, .op = func, .value = value};
        return true;
    }
    if (!maker) { // a kernel that copies a part of its argument
        while (value->def_op) value = ir_op_operand(value->def_op, 0);
        if (!is_kernel(func) || value->def_block != ir_func_body(func)) return false;
        const IrValue *given = ir_op_operand(call, value->number);
        while (given->def_op && fusion_is_view(given->def_op))
            given = ir_op_operand(given->def_op, 0);
        if (!given->def_op || given->def_op->kind != IR_FUNC_CALL ||
            !find_producer(m, given->def_op, given->number, depth + 1, out))
            return false;
        out->copy = func;
        out->copied += 2 * bytes_of(call->results[number].type);
        return true;
    }
    if (maker->kind == IR_FUNC_CALL) {
        while (value->def_op != maker) value = ir_op_operand(value->def_op, 0);
        if (!find_producer(m, maker, value->number, depth + 1, out)) return false;
        out->crosses_call = true;
        return true;
    }
    *out = (End){.func = func, .op = maker, .value = value};
    return true;
}

typedef struct Ends {
    End items[64];
    uint32_t num;
} Ends;

static void add_end(Ends *ends, End end) {
    for (uint32_t i = 0; i < ends->num; i++)
        if (ends->items[i].op == end.op) return;
    if (ends->num < ARRAY_LEN(ends->items)) ends->items[ends->num++] = end;
}

static const IrOp *top_of(const IrOp *op, const IrOp *func) {
    while (ir_op_parent(op) != func) op = ir_op_parent(op);
    return op;
}

static void find_consumers(const IrModule *m, const IrOp *func, const IrValue *value,
                           bool crosses_call, int depth, Ends *ends) {
    if (depth == MAX_DEPTH) return;
    FOR_EACH_USE(use, value) {
        const IrOp *op = top_of(use->owner, func);
        if (op->kind == IR_FUNC_CALL) {
            const IrOp *callee = ir_call_callee(m, op);
            uint32_t i = (uint32_t)(use - use->owner->operands);
            if (!callee || !ir_func_body(callee)) continue;
            if (counts_as_one(callee))
                add_end(ends, (End){callee, callee, value, crosses_call});
            else
                find_consumers(m, callee, ir_func_body(callee)->args[i],
                               crosses_call || !is_kernel(callee), depth + 1, ends);
        } else if (fusion_is_view(op)) {
            find_consumers(m, func, &op->results[0], crosses_call, depth, ends);
        } else if (op->kind != IR_FUNC_RETURN) {
            add_end(ends, (End){func, op, value, crosses_call});
        }
    }
}

// ---- reasons

typedef struct Judge {
    IrModule *m;
    FusionEdge *edge;
    const IrValue *stored; // the result of the call
} Judge;

static void blame(Judge *j, FusionReason reason, const char *detail) {
    if (j->edge->reasons >> reason & 1) return;
    j->edge->reasons |= 1u << reason;
    j->edge->details[reason] = detail;
}

static bool is_structured(const IrOp *op) {
    return (ir_op_info(op->kind)->traits & IR_LINALG) && op->num_operands > 0 &&
           op->kind != IR_LINALG_SOFTMAX && op->kind != IR_LINALG_PACK &&
           op->kind != IR_LINALG_UNPACK;
}

static void judge_multi_use(Judge *j) {
    const char *names = "";
    uint32_t num = 0;
    const IrValue *todo[32] = {j->stored};
    for (uint32_t n = 1, i = 0; i < n; i++) FOR_EACH_USE(use, todo[i]) {
            if (fusion_is_view(use->owner) && n < ARRAY_LEN(todo))
                todo[n++] = &use->owner->results[0];
            else if (use->owner->kind == IR_FUNC_CALL && ++num <= 4)
                names = arena_printf(&j->m->arena, "%s%s@%s", names, num > 1 ? ", " : "",
                                     ir_symbol_name(ir_call_callee(j->m, use->owner)));
        }
    if (num > 1)
        blame(j, REASON_MULTI_USE,
              arena_printf(&j->m->arena, "%" PRIu32 " calls read it: %s%s", num, names,
                           num > 4 ? ", ..." : ""));
}

static void judge_reduction(Judge *j) {
    const IrOp *op = j->edge->producer;
    int64_t ranges[16], terms = 1, row = 0;
    if (!is_structured(op) || ir_linalg_num_loops(op) > ARRAY_LEN(ranges)) return;
    ir_linalg_loop_ranges(j->m, op, ranges);
    bool any = false;
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++) {
        if (ir_linalg_iterator(op, i) != IR_REDUCTION) continue;
        any = true;
        if (ranges[i] > 0 && terms < INT32_MAX) terms *= ranges[i];
    }
    if (!any) return;
    const IrType *type = op->results[0].type;
    if (type->rank > 0 && type->shape[0] > 0) row = (int64_t)bytes_of(type) / type->shape[0];
    blame(j, REASON_REDUCTION_PRODUCER,
          arena_printf(&j->m->arena,
                       "each element sums %" PRId64 " terms; a consumer that needs a row needs a "
                       "tile of 1 row and all columns, %" PRId64 " bytes",
                       terms, row));
}

// Is it read at the place of a result, or by its channels, the last of `dims` dimensions?
static bool is_at_place(IrModule *m, const IrOp *op, uint32_t i, int64_t channels) {
    const IrAffineMap *map = ir_linalg_map(m, op, i);
    int64_t ranges[16], num = 1;
    bool has_last = false;
    if (ir_affine_is_identity(map)) return true;
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t r = 0; r < map->num_results; r++) {
        uint32_t dim;
        if (!ir_affine_is_dim(map->results[r], &dim)) return false;
        has_last |= dim + 1 == ir_linalg_num_loops(op);
        num = num * ranges[dim] <= channels ? num * ranges[dim] : 0;
    }
    return has_last && num == channels;
}

// What elementwise ops behind a convolution need for its kernel to run them on its sums: it passes
// on every element, so that neither the sum nor a row is in the way. False: not such a pair.
static bool judge_epilogue(Judge *j, const IrValue *read) {
    IrModule *m = j->m;
    const IrOp *op = j->edge->consumer, *conv = j->edge->producer;
    ConvShape c;
    bool is_conv = contraction_is(conv, "conv") || contraction_is(conv, "window");
    if (!is_conv || !conv_read(m, conv, &c) || !is_structured(op) || op->num_results != 1 ||
        ir_linalg_num_loops(op) > 16)
        return false;
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (ir_linalg_iterator(op, i) == IR_REDUCTION) return false;
    const IrValue *todo[32] = {j->stored};
    for (uint32_t n = 1, i = 0; i < n; i++) FOR_EACH_USE(use, todo[i]) {
            if (fusion_is_view(use->owner) && n < ARRAY_LEN(todo))
                todo[n++] = &use->owner->results[0];
            else if (use->owner->kind == IR_FUNC_RETURN)
                blame(j, REASON_MULTI_USE,
                      arena_printf(&m->arena,
                                   "@%s returns it too; a convolution's kernel gives one result",
                                   ir_symbol_name(ir_op_parent(use->owner))));
        }
    for (uint32_t i = 0; i < op->segments[0]; i++)
        if (ir_op_operand(op, i) != read && !is_at_place(m, op, i, c.groups * c.tile))
            blame(j, REASON_MAP,
                  arena_printf(&m->arena,
                               "operand %" PRIu32 " is read through %s; behind a convolution of "
                               "%" PRId64 " channels operands are read at the place of its result "
                               "or by these channels, its last dimension",
                               i, ir_affine_map_text(&m->arena, ir_linalg_map(m, op, i)),
                               c.groups * c.tile));
    return true;
}

// Does the consumer read the value through a slice of it?
static const IrOp *slice_before(const IrValue *value) {
    for (const IrOp *op = value->def_op; op && fusion_is_view(op);
         op = ir_op_operand(op, 0)->def_op)
        if (op->kind == IR_TENSOR_EXTRACT_SLICE) return op;
    return NULL;
}

static void judge_map(Judge *j, const IrValue *read) {
    IrModule *m = j->m;
    const IrOp *op = j->edge->consumer;
    if (!is_structured(op)) return;
    int64_t ranges[16], again = 1;
    uint32_t num = ir_linalg_num_loops(op), dim;
    if (num > ARRAY_LEN(ranges)) return;
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (ir_op_operand(op, i) != read) continue;
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        for (uint32_t d = 0; d < num; d++) {
            bool is_used = false;
            for (uint32_t r = 0; r < map->num_results; r++)
                is_used |= ir_affine_uses_dim(map->results[r], d);
            if (!is_used && ranges[d] > 0 && again < INT32_MAX) again *= ranges[d];
        }
        bool is_plain = true;
        for (uint32_t r = 0; r < map->num_results; r++)
            is_plain &= ir_affine_is_dim(map->results[r], &dim);
        if (!is_plain)
            blame(j, REASON_MAP,
                  arena_printf(&m->arena, "operand %" PRIu32 " is read through %s", i,
                               ir_affine_map_text(&m->arena, map)));
        else if (again > 1)
            blame(j, REASON_MAP,
                  arena_printf(&m->arena,
                               "operand %" PRIu32 " is read %" PRId64 " times, through %s", i,
                               again, ir_affine_map_text(&m->arena, map)));
        const IrAffineMap *written = ir_linalg_map(m, op, op->segments[0]);
        if (map != written && ir_affine_is_permutation(map) && ir_affine_is_permutation(written))
            blame(j, REASON_MAP,
                  arena_printf(&m->arena, "operand %" PRIu32 " is read through %s, not as written",
                               i, ir_affine_map_text(&m->arena, map)));
    }
    const IrOp *slice = slice_before(read);
    if (!slice) return;
    const IrType *from = ir_op_operand(slice, 0)->type, *to = slice->results[0].type;
    for (uint32_t d = 0; d < MIN(from->rank, to->rank); d++)
        if (from->shape[d] != to->shape[d])
            blame(j, REASON_MAP,
                  arena_printf(&m->arena,
                               "shape mismatch: the consumer reads %" PRId64 " of %" PRId64
                               " in dimension %" PRIu32,
                               to->shape[d], from->shape[d], d));
}

// A reshape that keeps the rows lines up with any split by rows.
static void judge_views(Judge *j, const IrValue *read) {
    const IrType *from = j->edge->producer->num_results ? j->stored->type : NULL;
    const IrType *to = read->type;
    bool both = from && ir_type_is_shaped(from) && ir_type_is_shaped(to);
    if (both && from->rank > 0 && to->rank > 0 && from->shape[0] != to->shape[0] &&
        !(j->edge->reasons >> REASON_MAP & 1))
        blame(j, REASON_RESHAPE,
              arena_printf(&j->m->arena, "%" PRId64 " rows become %" PRId64, from->shape[0],
                           to->shape[0]));
    if (j->edge->consumer->kind == IR_TENSOR_PAD)
        blame(j, REASON_PAD, "the consumer puts a border around it");
}

static void judge_dtype(Judge *j) {
    const IrOp *op = j->edge->producer;
    if (op->num_regions == 0 || !is_structured(op)) return;
    const IrOp *yield = ir_block_terminator(ir_op_block(op, 0));
    for (uint32_t i = 0; i < yield->num_operands; i++) {
        const IrOp *last = ir_op_operand(yield, i)->def_op;
        while (last && (last->kind == IR_ARITH_TRUNCI || last->kind == IR_ARITH_FPTOSI ||
                        last->kind == IR_ARITH_TRUNCF)) {
            bool is_rounding = last->kind != IR_ARITH_TRUNCI;
            if (is_rounding && op->results[i].type->elem == j->stored->type->elem) {
                StrBuf text = {0};
                ir_print_type(op->results[i].type->elem, &text);
                blame(j, REASON_DTYPE,
                      arena_printf(&j->m->arena, "%s rounds it to %s", ir_op_info(last->kind)->name,
                                   text.data));
                strbuf_deinit(&text);
            }
            last = ir_op_operand(last, 0)->def_op;
        }
    }
}

static void judge_rest(Judge *j, uint32_t result) {
    const FusionEdge *e = j->edge;
    IrModule *m = j->m;
    if (e->producer->kind == IR_SCF_FOR || e->consumer->kind == IR_SCF_FOR)
        blame(j, REASON_LOOP_CARRIED, "a loop over the rows carries it");
    if (!counts_as_one(e->producer_func)) {
        const IrBlock *body = ir_func_body(e->producer_func);
        for (uint32_t i = 0; i < body->num_args; i++) {
            const IrAttr *inout = ir_func_arg_attr(e->producer_func, i, "ingot.inout");
            if (inout && inout->kind == IR_ATTR_INT && inout->i == result)
                blame(j, REASON_IN_PLACE,
                      arena_printf(&m->arena, "@%s updates argument %" PRIu32 " in place",
                                   ir_symbol_name(e->producer_func), i));
        }
    }
    bool is_whole = counts_as_one(e->consumer_func) || counts_as_one(e->producer_func);
    if (is_whole)
        blame(j, REASON_LIBRARY,
              arena_printf(&m->arena, "@%s is generated as a whole",
                           ir_symbol_name(counts_as_one(e->consumer_func) ? e->consumer_func
                                                                          : e->producer_func)));
    uint64_t whole = bytes_of(j->stored->type);
    if (is_whole && whole > FUSION_MAX_SCRATCH_BYTES)
        blame(j, REASON_CAPACITY,
              arena_printf(&m->arena, "%" PRIu64 " bytes at once, a kernel's scratch is %d", whole,
                           FUSION_MAX_SCRATCH_BYTES));
    if (e->pattern < NUM_FUSION_PATTERNS && fusion_rule(m, e->pattern).mode == FUSION_FORBID)
        blame(j, REASON_USER,
              arena_printf(&m->arena, "rule %s at %s", fusion_pattern_name(e->pattern),
                           fusion_rule(m, e->pattern).at));
}

// Of a module of IR text: a kernel that has as many tiles as the value has rows.
static bool works_on_rows(const IrOp *kernel, const IrType *value) {
    const IrAttr *tiles = ir_op_attr(kernel, "ingot.tiles");
    const char *class = kernel_class(kernel);
    if (!class || !str_equal(class, "whole") || !tiles || tiles->kind != IR_ATTR_MAP) return false;
    const IrAffineExpr *count = tiles->map->results[0];
    return value->rank > 0 && value->shape[0] > 1 && count->kind == IR_AFFINE_CONST &&
           count->value == value->shape[0];
}

// Could both kernels be one that passes a row on? Sums, repeated reads and roundings then matter
// not.
static bool passes_rows(const Judge *j, const IrValue *read) {
    const FusionEdge *e = j->edge;
    if (!module_is_text(j->m) || !is_structured(e->consumer) ||
        !works_on_rows(e->producer_func, j->stored->type) ||
        !works_on_rows(e->consumer_func, j->stored->type))
        return false;
    for (uint32_t i = 0; i < e->consumer->num_operands; i++) {
        if (ir_op_operand(e->consumer, i) != read) continue;
        const IrAffineMap *map = ir_linalg_map(j->m, e->consumer, i);
        uint32_t dim;
        if (map->num_results == 0 || !ir_affine_is_dim(map->results[0], &dim) || dim != 0)
            return false;
    }
    return true;
}

static void judge_rows(Judge *j) {
    const IrAttr *need = ir_op_attr(j->edge->consumer_func, "ingot.capacity");
    const IrAttr *config = ir_op_attr(j->m->op, "ingot.config");
    const IrAttr *bound = ir_attr_dict_find(config, "max_scratch");
    if (!need || need->kind != IR_ATTR_INT) return;
    const char *limit = bound && bound->kind == IR_ATTR_INT
                            ? arena_printf(&j->m->arena, "the recipe allows %" PRId64, bound->i)
                            : "without a bound in the recipe 65536 are allowed";
    blame(j, REASON_CAPACITY,
          arena_printf(&j->m->arena, "one kernel would keep %" PRId64 " bytes per worker, %s",
                       need->i, limit));
}

// The last dimension of what a part is taken of, along it alone.
static int64_t columns_of(const IrType *all, const IrType *part) {
    int64_t columns = part->rank ? part->shape[part->rank - 1] : 1;
    int64_t rows = columns ? ir_type_num_elems(part) / columns : 1;
    return ir_type_num_elems(all) / MAX(rows, 1);
}

// A copy between the two: behind a product or a convolution it leaves out what fills its last tile.
static void judge_copy(Judge *j, const End *from) {
    const IrType *all = from->value->type, *part = j->stored->type;
    const IrAttr *tiled = ir_op_attr(j->edge->producer, "ingot.contract");
    int64_t wanted = part->rank ? part->shape[part->rank - 1] : 1;
    const char *text = arena_printf(&j->m->arena, "@%s copies a part of it in between",
                                    ir_symbol_name(from->copy));
    bool is_conv = contraction_is(from->op, "conv") || contraction_is(from->op, "window");
    if (tiled && ir_type_is_static(all) && ir_type_is_static(part))
        text = arena_printf(
            &j->m->arena, "%s: %" PRId64 " of %" PRId64 " %s; %" PRId64 " fill no tiles", text,
            wanted, columns_of(all, part), is_conv ? "channels" : "columns", wanted);
    blame(j, REASON_MAP, text);
}

static void judge(IrModule *m, FusionEdge *e, const IrValue *stored, const End *from,
                  const End *to) {
    Judge j = {.m = m, .edge = e, .stored = stored};
    const IrOp *call = stored->def_op;
    if (from->copy) judge_copy(&j, from);
    if (from->crosses_call || to->crosses_call)
        blame(&j, REASON_CALL,
              arena_printf(&m->arena, "through @%s", ir_symbol_name(ir_call_callee(m, call))));
    if (passes_rows(&j, to->value)) {
        judge_rows(&j);
    } else {
        judge_multi_use(&j);
        bool is_epilogue = judge_epilogue(&j, to->value);
        if (!is_epilogue) judge_reduction(&j);
        judge_map(&j, to->value);
        if (!is_epilogue) judge_views(&j, to->value);
        judge_dtype(&j);
    }
    judge_rest(&j, stored->number);
    if (e->reasons == 0)
        blame(&j, REASON_MAP,
              arena_printf(&m->arena, "@%s and @%s split their work differently",
                           ir_symbol_name(e->producer_func), ir_symbol_name(e->consumer_func)));
}

// ---- collecting

static FusionEdge *add_edge(FusionEdges *edges, const FusionEdge *edge) {
    for (size_t i = edges->num_items; i-- > 0;) {
        FusionEdge *known = &edges->items[i];
        if (known->func != edge->func) break;
        if (known->producer == edge->producer && known->consumer == edge->consumer &&
            known->copy == edge->copy) {
            known->count += edge->count;
            return NULL;
        }
    }
    ARRAY_RESERVE(edges->items, edges->num_items, edges->capacity);
    edges->items[edges->num_items] = *edge;
    return &edges->items[edges->num_items++];
}

typedef struct Inside {
    IrModule *m;
    FusionEdges *edges;
    const IrOp *kernel, *consumer;
    uint64_t count;
} Inside;

static void join_operands(IrOp *op, void *ctx) {
    Inside *in = ctx;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        const IrOp *maker = fusion_maker(value);
        if (!maker || maker == in->consumer || ir_op_parent(maker) != in->kernel || is_free(maker))
            continue;
        FusionEdge edge = {.func = in->kernel,
                           .producer_func = in->kernel,
                           .consumer_func = in->kernel,
                           .producer = maker,
                           .consumer = in->consumer,
                           .pattern = fusion_pattern_of(in->m, maker, in->consumer),
                           .is_applied = true,
                           .moved = 2 * bytes_of(maker->results[0].type),
                           .count = in->count};
        add_edge(in->edges, &edge);
    }
}

static void collect_inside(IrModule *m, const IrOp *kernel, uint64_t count, FusionEdges *edges) {
    Inside in = {.m = m, .edges = edges, .kernel = kernel, .count = count};
    if (counts_as_one(kernel)) {
        FusionEdge whole = {.func = kernel,
                            .producer_func = kernel,
                            .consumer_func = kernel,
                            .producer = kernel,
                            .consumer = kernel,
                            .pattern = FUSION_ATTN_SOFTMAX,
                            .is_applied = true,
                            .count = in.count};
        add_edge(edges, &whole);
        return;
    }
    FOR_EACH_OP(op, ir_func_body(kernel)) {
        if (is_free(op) || op->kind == IR_FUNC_RETURN) continue;
        in.consumer = op;
        ir_walk(op, join_operands, &in);
    }
}

// A product over tiled weights that a rule, if it insists, makes a sum over rows instead: as
// raise-patterns has it, for a softmax, columns that fill no tile, and several readers.
static bool offers_rows(IrModule *m, const FusionEdge *e, const IrValue *stored, const Ends *to,
                        const IrType *read) {
    bool is_product = e->pattern == FUSION_MATMUL_BIAS || e->pattern == FUSION_MATMUL_ACTIVATION ||
                      e->pattern == FUSION_MATMUL_RESIDUAL || e->pattern == FUSION_MATMUL_SCALE ||
                      e->pattern == FUSION_MATMUL_SOFTMAX;
    bool is_known = module_is_text(m) && is_product && contraction_is(e->producer, "float");
    if (!is_known || fusion_rule(m, e->pattern).mode != FUSION_ALLOW) return false;
    bool is_matrix = read->rank > 0 && read->rank <= 2 &&
                     read->shape[0] == e->producer->results[0].type->shape[0];
    bool is_cropped = fusion_uncopied_reader(m, e->consumer) != e->consumer;
    bool is_shared = to->num > 1;
    FOR_EACH_USE(use, stored) is_shared |= use->owner->kind == IR_FUNC_RETURN;
    return is_matrix && (is_cropped || is_shared || e->pattern == FUSION_MATMUL_SOFTMAX);
}

static void collect_value(IrModule *m, const IrOp *func, const IrValue *value, uint64_t count,
                          FusionEdges *edges) {
    End from;
    Ends *to = base_alloc(1, sizeof *to);
    if (find_producer(m, value->def_op, value->number, 0, &from)) {
        from.crosses_call |= !is_kernel(ir_call_callee(m, value->def_op));
        find_consumers(m, func, value, false, 0, to);
        for (uint32_t i = 0; i < to->num; i++) {
            to->items[i].crosses_call |= from.crosses_call;
            uint64_t read = MIN(bytes_of(value->type), bytes_of(to->items[i].value->type));
            uint64_t written = from.copy ? bytes_of(from.value->type) : read;
            FusionEdge edge = {.func = func,
                               .producer_func = from.func,
                               .consumer_func = to->items[i].func,
                               .producer = from.op,
                               .consumer = to->items[i].op,
                               .copy = from.copy,
                               .pattern = fusion_pattern_of(m, from.op, to->items[i].op),
                               .moved = written + from.copied + read,
                               .count = count};
            edge.offers_rows = offers_rows(m, &edge, value, to, to->items[i].value->type);
            FusionEdge *added = add_edge(edges, &edge);
            if (added) judge(m, added, value, &from, &to->items[i]);
        }
    }
    free(to);
}

void fusion_edges_collect(IrModule *m, FusionEdges *out_edges) {
    *out_edges = (FusionEdges){0};
    uint64_t *counts = fusion_func_counts(m);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func)) continue;
        uint64_t count = counts[func->index];
        if (is_kernel(func)) collect_inside(m, func, count, out_edges);
        if (kernel_class(func)) continue;
        FOR_EACH_OP(call, ir_func_body(func)) {
            if (call->kind != IR_FUNC_CALL) continue;
            for (uint32_t r = 0; r < call->num_results; r++)
                if (call->results[r].type->kind == IR_TYPE_TENSOR)
                    collect_value(m, func, &call->results[r], count, out_edges);
        }
    }
    free(counts);
}

void fusion_edges_deinit(FusionEdges *edges) {
    free(edges->items);
    *edges = (FusionEdges){0};
}

FusionReason fusion_edge_reason(const FusionEdge *edge) {
    for (int i = 0; i < NUM_FUSION_REASONS; i++)
        if (edge->reasons >> i & 1) return (FusionReason)i;
    return NUM_FUSION_REASONS;
}

const char *fusion_edge_remedy(IrModule *m, const FusionEdge *edge, FusionReason reason) {
    if (reason == REASON_USER && edge->pattern < NUM_FUSION_PATTERNS)
        return arena_printf(&m->arena, "{pattern: %s, mode: allow}",
                            fusion_pattern_name(edge->pattern));
    bool is_of_tiles = reason == REASON_MULTI_USE || reason == REASON_REDUCTION_PRODUCER ||
                       reason == REASON_MAP || reason == REASON_RESHAPE;
    if (is_of_tiles && edge->offers_rows)
        return arena_printf(&m->arena,
                            "{pattern: %s, mode: require}: the product is then a sum over rows, "
                            "without tiles",
                            fusion_pattern_name(edge->pattern));
    return fusion_reason_remedy(reason);
}
