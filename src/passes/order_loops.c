// order-loops: the loops of every structured op in the order in which they run best. The innermost
// is one along which every operand lies element by element or stands still; parallel loops come
// before the sums, the first of more than one iteration in front, for it is cut into tiles (of a
// vector its row). Loops of a sum keep their order, so that every element is summed as before.
//
//   linalg.matmul [m, n, k]  with B [k, n]   ->   generic [m, k, n]: n innermost, k around it
//
// Needs: canonical.  Keeps: all.  Exact.
#include <stdlib.h>

#include "passes/entry.h"
#include "passes/fusion.h"
#include "passes/order.h"
#include "passes/pass.h"

enum { MAX_LOOPS = 12, MAX_RANK = 16, LONG_SUM = 16 };

typedef struct Loops {
    uint32_t num;
    int64_t ranges[MAX_LOOPS];
    bool is_parallel[MAX_LOOPS];
} Loops;

static bool read_loops(IrModule *m, const IrOp *op, Loops *l) {
    l->num = ir_linalg_num_loops(op);
    if (l->num < 2 || l->num > MAX_LOOPS) return false;
    ir_linalg_loop_ranges(m, op, l->ranges);
    for (uint32_t i = 0; i < l->num; i++) {
        if (l->ranges[i] == IR_DYNAMIC) return false;
        l->is_parallel[i] = ir_linalg_iterator(op, i) == IR_PARALLEL;
    }
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (ir_type_is_shaped(type) && (type->rank > MAX_RANK || !ir_type_is_static(type)))
            return false;
    }
    return true;
}

// Elements between two neighbours of a loop in an operand; false if that is no one number.
static bool stride_of(const IrAffineMap *map, const IrType *type, uint32_t loop, int64_t *out) {
    int64_t stride = 1, coeffs[MAX_LOOPS], constant;
    *out = 0;
    if (!ir_type_is_shaped(type)) return true;
    for (uint32_t r = map->num_results; r-- > 0;) {
        const IrAffineExpr *expr = map->results[r];
        if (ir_affine_linear(expr, map->num_dims, coeffs, &constant))
            *out += coeffs[loop] * stride;
        else if (ir_affine_uses_dim(expr, loop))
            return false;
        stride *= type->shape[r];
    }
    return true;
}

// Along this loop every operand lies element by element or stands still, and one does lie so.
static bool is_even(IrModule *m, const IrOp *op, uint32_t loop) {
    bool any = false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        int64_t stride;
        if (!stride_of(ir_linalg_map(m, op, i), ir_op_operand(op, i)->type, loop, &stride) ||
            stride < 0 || stride > 1)
            return false;
        any = any || stride == 1;
    }
    return any;
}

// Has every sum one iteration, and one parallel loop more? That loop is then the rows.
static bool is_of_numbers(const Loops *l) {
    uint32_t num_long = 0;
    for (uint32_t i = 0; i < l->num; i++) {
        if (!l->is_parallel[i] && l->ranges[i] != 1) return false;
        num_long += l->ranges[i] != 1;
    }
    return num_long == 1;
}

// The innermost loop: the longest even one; the last loop where none is. Of the sums only the last
// may be innermost.
static uint32_t choose_inner(IrModule *m, const IrOp *op, const Loops *l) {
    uint32_t best = l->num - 1, last_sum = l->num;
    int64_t length = 1;
    for (uint32_t i = 0; i < l->num; i++)
        if (!l->is_parallel[i]) last_sum = i;
    for (uint32_t i = l->num; i-- > 0;) {
        bool may_be = l->is_parallel[i] || (i == last_sum && l->ranges[i] >= LONG_SUM);
        if (!may_be || l->ranges[i] <= length || !is_even(m, op, i)) continue;
        best = i;
        length = l->ranges[i];
    }
    bool is_sum = last_sum < l->num && is_of_numbers(l);
    if (length == 1 && !l->is_parallel[best]) is_sum = true;
    return is_sum ? last_sum : best;
}

// A loop of one iteration that drop-unit-loops left in front of a vector: its row, which every op
// on it has.
static bool has_row(const Loops *l) {
    uint32_t num_long = 0;
    for (uint32_t i = 0; i < l->num; i++) num_long += l->is_parallel[i] && l->ranges[i] != 1;
    return l->is_parallel[0] && l->ranges[0] == 1 && num_long < 2;
}

// order[new] = old.
static void choose_order(IrModule *m, const IrOp *op, const Loops *l, uint32_t *order) {
    uint32_t inner = choose_inner(m, op, l), n = 0, first = l->num;
    for (uint32_t i = 0; i < l->num && first == l->num; i++)
        if (l->is_parallel[i] && i != inner && (l->ranges[i] > 1 || has_row(l))) first = i;
    if (first < l->num) order[n++] = first;
    for (uint32_t i = 0; i < l->num; i++)
        if (l->is_parallel[i] && i != inner && i != first) order[n++] = i;
    for (uint32_t i = 0; i < l->num; i++)
        if (!l->is_parallel[i] && i != inner) order[n++] = i;
    order[n] = inner;
}

typedef struct Renumber {
    IrModule *m;
    const uint32_t *place; // place[old] = new
} Renumber;

static void renumber_index(IrOp *op, void *ctx) {
    const Renumber *r = ctx;
    if (op->kind != IR_LINALG_INDEX) return;
    int64_t old = ir_op_attr(op, "dim")->i;
    ir_op_set_attr(r->m, op, "dim", ir_attr_i64(r->m, r->place[old]));
}

static void reorder(IrModule *m, IrOp *op, const Loops *l, const uint32_t *order) {
    const IrAffineExpr *dims[MAX_LOOPS], *results[MAX_RANK];
    const IrAttr *iterators[MAX_LOOPS];
    uint32_t place[MAX_LOOPS];
    for (uint32_t i = 0; i < l->num; i++) {
        place[order[i]] = i;
        iterators[i] = ir_attr_string(m, l->is_parallel[order[i]] ? "parallel" : "reduction");
    }
    for (uint32_t i = 0; i < l->num; i++) dims[i] = ir_affine_dim(m, place[i]);
    const IrAttr **maps = ARENA_ARRAY(&m->arena, const IrAttr *, op->num_operands);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        for (uint32_t r = 0; r < map->num_results; r++)
            results[r] = ir_affine_replace(m, map->results[r], dims, NULL);
        maps[i] = ir_attr_map(m, ir_affine_map(m, l->num, 0, map->num_results, results));
    }
    ir_op_set_attr(m, op, "indexing_maps", ir_attr_array(m, op->num_operands, maps));
    ir_op_set_attr(m, op, "iterator_types", ir_attr_array(m, l->num, iterators));
    Renumber renumber = {m, place};
    FOR_EACH_OP(inner, ir_op_block(op, 0)) ir_walk(inner, renumber_index, &renumber);
}

bool order_begins_with_sum(IrModule *m, const IrOp *op) {
    Loops loops;
    uint32_t order[MAX_LOOPS], i = 0;
    if (!read_loops(m, op, &loops)) return false;
    choose_order(m, op, &loops, order);
    while (i < loops.num && loops.ranges[order[i]] == 1) i++;
    return i < loops.num && !loops.is_parallel[order[i]];
}

static void order_op(IrModule *m, IrOp *op) {
    bool is_linalg = (ir_op_info(op->kind)->traits & IR_LINALG) && op->num_results > 0;
    if (!is_linalg || op->kind == IR_LINALG_FILL || ir_op_attr(op, "ingot.contract") ||
        ir_op_attr(op, "ingot.epilogue"))
        return;
    Loops loops;
    uint32_t order[MAX_LOOPS];
    bool is_same = true;
    if (!read_loops(m, op, &loops)) return;
    choose_order(m, op, &loops, order);
    for (uint32_t i = 0; i < loops.num; i++) is_same = is_same && order[i] == i;
    if (!is_same) reorder(m, ir_linalg_generalize(m, op), &loops, order);
}

static void order_block(IrModule *m, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) order_block(m, inner);
        order_op(m, op);
    }
}

Status pass_order_loops(IrModule *m, DiagSink *sink) {
    (void)sink; // cannot fail
    FOR_EACH_OP(func, ir_module_body(m))
    if (entry_takes_tensors(m, func) || fusion_keeps_scores(m, func))
        order_block(m, ir_func_body(func));
    return STATUS_OK;
}
