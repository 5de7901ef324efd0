// The loops around the innermost ones: which items share a loop, what is unrolled. See
// lower_linalg.h.
#include <string.h>

#include "passes/lower_linalg.h"

enum { MAX_RUN = 16, MAX_FOLDING = 4, MAX_UNROLLED_TRIPS = 4, MIN_INNER = 16 };

static bool is_leaf(const LlItem *item) {
    return item->bound == item->num_loops;
}
static bool is_last_loop(const LlItem *item) {
    return item->bound + 1 == item->num_loops;
}

static bool is_last_fold(const LlItem *item) {
    return is_last_loop(item) && !item->is_parallel[item->bound];
}

static bool has_empty_loop(const LlItem *item) {
    for (uint32_t i = 0; i < item->num_loops; i++)
        if (item->ranges[i] == 0) return true;
    return false;
}

static int64_t inner_iterations(const LlItem *item) {
    int64_t num = 1;
    for (uint32_t i = item->bound + 1; i < item->num_loops; i++) num *= item->ranges[i];
    return num;
}

static bool depends_on_any(LlItem *const *run, uint32_t num, const LlItem *item) {
    for (uint32_t i = 0; i < num; i++)
        if (ll_depend(run[i], item)) return true;
    return false;
}

// A start value or a move: loses nothing without vectors.
static bool is_cheap(const LlItem *item) {
    const IrBlock *body = ir_op_block(item->op, 0);
    return body->first == body->last;
}

// An item with no loop inside gives up its vectors if it shares this loop with one that has: worth
// it where they exchange values and the other does much more per iteration. Not where it folds over
// the loop, each time waiting for what it stored the last time.
static bool may_mix(LlItem *const *run, uint32_t num, const LlItem *item) {
    uint32_t num_last = is_last_loop(item), num_folds = is_last_fold(item);
    for (uint32_t i = 0; i < num; i++) {
        num_last += is_last_loop(run[i]);
        num_folds += is_last_fold(run[i]);
    }
    if (num_last == 0 || num_last == num + 1) return true;
    if (num_folds) return false;
    for (uint32_t i = 0; i < num; i++)
        if (!is_last_loop(run[i]) && inner_iterations(run[i]) < MIN_INNER) return false;
    if (!is_last_loop(item) && inner_iterations(item) < MIN_INNER) return false;
    return depends_on_any(run, num, item) || (is_last_loop(item) && is_cheap(item));
}

static bool can_join(LlItem *const *run, uint32_t num, const LlItem *item) {
    if (num == MAX_RUN || item->is_loop) return false;
    for (uint32_t i = 0; i < num; i++)
        if (run[i]->is_loop || !ll_share_loop(run[i], item)) return false;
    return may_mix(run, num, item);
}

// ---------------------------------------------------------------- innermost loops

static bool fits_beside(LowerLinalg *ll, const LlItem *first, LlItem *item, uint32_t num_folding) {
    bool is_vector = ll_classify(ll, item, item->bound, 1);
    bool folding = !item->is_parallel[item->bound];
    return is_vector == first->is_vector && (!folding || num_folding < MAX_FOLDING);
}

// All items are at their last loop and may share it: those that vectorise alike do.
static void emit_last_loops(LowerLinalg *ll, LlItem **items, uint32_t num) {
    for (uint32_t i = 0, end; i < num; i = end) {
        ll_classify(ll, items[i], items[i]->bound, 1);
        uint32_t num_folding = !items[i]->is_parallel[items[i]->bound];
        for (end = i + 1; end < num; end++) {
            if (!fits_beside(ll, items[i], items[end], num_folding)) break;
            num_folding += !items[end]->is_parallel[items[end]->bound];
        }
        ll_emit_inner(ll, items + i, end - i);
    }
}

// Two innermost parallel loops, the inner one short: they share the lanes, if the item alone allows
// it.
static bool try_packed(LowerLinalg *ll, LlItem *item) {
    if (item->is_loop || item->bound + 2 != item->num_loops) return false;
    int64_t pack = item->ranges[item->bound + 1];
    if (pack != 2 && pack != 4 && pack != 8) return false;
    if (!item->is_parallel[item->bound] || !item->is_parallel[item->bound + 1]) return false;
    if (!ll_classify(ll, item, item->bound, (uint32_t)pack)) return false;
    ll_emit_inner(ll, &item, 1);
    return true;
}

// ---------------------------------------------------------------- outer loops

static Status emit_bound(LowerLinalg *ll, LlItem **run, uint32_t num, IrValue *iv) {
    for (uint32_t i = 0; i < num; i++) run[i]->ivs[run[i]->bound++] = iv;
    Status status = ll_emit_items(ll, run, num);
    for (uint32_t i = 0; i < num; i++) run[i]->bound--;
    return status;
}

static Status emit_run(LowerLinalg *ll, LlItem **run, uint32_t num) {
    bool all_last = true;
    for (uint32_t i = 0; i < num; i++) all_last &= is_last_loop(run[i]);
    if (all_last) {
        emit_last_loops(ll, run, num);
        return STATUS_OK;
    }
    if (num == 1 && try_packed(ll, run[0])) return STATUS_OK;
    int64_t trips = run[0]->ranges[run[0]->bound];
    ll->b.loc = run[0]->op->loc;
    if (trips <= MAX_UNROLLED_TRIPS) {
        for (int64_t t = 0; t < trips; t++) TRY(emit_bound(ll, run, num, ll_index(ll, t)));
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < num; i++) ll_kill_outputs(ll, run[i]);
    Builder outer;
    IrOp *loop = ll_open_loop(ll, ll_index(ll, 0), ll_index(ll, trips), 1, 0, NULL, &outer);
    uint32_t mark = ll_enter(ll);
    TRY(emit_bound(ll, run, num, ir_op_block(loop, 0)->args[0]));
    build_yield(&ll->b, IR_SCF_YIELD, 0, NULL);
    ll_leave(ll, mark);
    ll->b = outer;
    return STATUS_OK;
}

static Status emit_leaf(LowerLinalg *ll, LlItem *item) {
    if (!item->is_loop) {
        ll_classify(ll, item, item->num_loops, 1);
        ll_emit_inner(ll, &item, 1);
        return STATUS_OK;
    }
    // The body of a loop over rows, for the row at hand.
    IrBlock *body = ir_op_block(item->op, 0);
    ir_value_map_set(&ll->map, body->args[0], item->ivs[0]);
    return ll_emit_block(ll, body);
}

Status ll_emit_items(LowerLinalg *ll, LlItem **items, uint32_t num_items) {
    uint32_t i = 0;
    while (i < num_items) {
        if (has_empty_loop(items[i])) {
            i++;
            continue;
        }
        if (is_leaf(items[i])) {
            TRY(emit_leaf(ll, items[i++]));
            continue;
        }
        LlItem *run[MAX_RUN];
        uint32_t num = 0;
        run[num++] = items[i++];
        for (; i < num_items; i++) {
            LlItem *item = items[i];
            if (has_empty_loop(item)) break;
            if (is_leaf(item)) { // goes first if nothing before it matters to it
                if (item->is_loop || depends_on_any(run, num, item)) break;
                TRY(emit_leaf(ll, item));
            } else if (can_join(run, num, item)) {
                run[num++] = item;
            } else {
                break;
            }
        }
        TRY(emit_run(ll, run, num));
    }
    return STATUS_OK;
}
