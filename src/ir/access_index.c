// Turns index arithmetic into affine expressions of the loops around an op; see access_index.h.
#include "ir/access_index.h"

enum { MAX_DEPTH = 32 };

static bool add_loop(AccessLoops *out, const IrValue *iv, const IrOp *structured, uint32_t dim,
                     int64_t trip, int64_t step) {
    if (out->num == IR_ACCESS_MAX_LOOPS) return false;
    out->loops[out->num].iv = iv;
    out->loops[out->num].structured = structured;
    out->loops[out->num].dim = dim;
    out->loops[out->num].trip = trip;
    out->loops[out->num++].step = step;
    return true;
}

static int64_t trips_of(bool is_known, int64_t lo, int64_t hi, int64_t step) {
    if (!is_known || step <= 0) return IR_DYNAMIC;
    if (hi <= lo) return 0;
    uint64_t len = (uint64_t)hi - (uint64_t)lo;
    return (int64_t)((len - 1) / (uint64_t)step + 1);
}

static bool constant_bound(const IrOp *op, const char *name, uint32_t at, int64_t *out) {
    const IrAttr *map = ir_op_attr(op, name);
    if (!map || map->kind != IR_ATTR_MAP || at >= map->map->num_results ||
        map->map->results[at]->kind != IR_AFFINE_CONST)
        return false;
    *out = map->map->results[at]->value;
    return true;
}

static bool add_scf_for(AccessLoops *out, const IrOp *op) {
    int64_t lo = 0, hi = 0, step = 1;
    bool has_step = ir_value_constant_int(ir_op_operand(op, 2), &step);
    bool is_known = ir_value_constant_int(ir_op_operand(op, 0), &lo) &&
                    ir_value_constant_int(ir_op_operand(op, 1), &hi) && has_step;
    return add_loop(out, ir_op_block(op, 0)->args[0], NULL, 0, trips_of(is_known, lo, hi, step),
                    has_step ? step : IR_DYNAMIC);
}

static bool add_scf_parallel(AccessLoops *out, const IrOp *op) {
    uint32_t num = op->segments[0];
    for (uint32_t i = 0; i < num; i++) {
        int64_t lo = 0, hi = 0, step = 1;
        bool has_step = ir_value_constant_int(ir_op_operand(op, 2 * num + i), &step);
        bool is_known = ir_value_constant_int(ir_op_operand(op, i), &lo) &&
                        ir_value_constant_int(ir_op_operand(op, num + i), &hi) && has_step;
        if (!add_loop(out, ir_op_block(op, 0)->args[i], NULL, 0, trips_of(is_known, lo, hi, step),
                      has_step ? step : IR_DYNAMIC))
            return false;
    }
    return true;
}

static bool add_affine_for(AccessLoops *out, const IrOp *op) {
    int64_t lo = 0, hi = 0;
    const IrAttr *by = ir_op_attr(op, "step");
    int64_t step = by && by->kind == IR_ATTR_INT ? by->i : 1;
    bool is_known =
        constant_bound(op, "lowerBoundMap", 0, &lo) && constant_bound(op, "upperBoundMap", 0, &hi);
    return add_loop(out, ir_op_block(op, 0)->args[0], NULL, 0, trips_of(is_known, lo, hi, step),
                    step);
}

static bool add_affine_parallel(AccessLoops *out, const IrOp *op) {
    const IrBlock *body = ir_op_block(op, 0);
    const IrAttr *steps = ir_op_attr(op, "steps");
    for (uint32_t i = 0; i < body->num_args; i++) {
        int64_t lo = 0, hi = 0, step = 1;
        if (steps && steps->kind == IR_ATTR_ARRAY && i < steps->num_elems &&
            steps->elems[i]->kind == IR_ATTR_INT)
            step = steps->elems[i]->i;
        bool is_known = constant_bound(op, "lowerBoundsMap", i, &lo) &&
                        constant_bound(op, "upperBoundsMap", i, &hi);
        if (!add_loop(out, body->args[i], NULL, 0, trips_of(is_known, lo, hi, step), step))
            return false;
    }
    return true;
}

static bool add_structured(AccessLoops *out, const IrOp *op) {
    int64_t ranges[IR_ACCESS_MAX_LOOPS];
    uint32_t num = ir_linalg_num_loops(op);
    if (num > IR_ACCESS_MAX_LOOPS) return false;
    ir_linalg_loop_ranges(out->m, op, ranges);
    for (uint32_t i = 0; i < num; i++)
        if (!add_loop(out, NULL, op, i, ranges[i], 1)) return false;
    return true;
}

static bool collect(AccessLoops *out, const IrOp *op) {
    const IrOp *parent = ir_op_parent(op);
    if (!parent || (ir_op_info(parent->kind)->traits & IR_ISOLATED)) return true;
    if (!collect(out, parent)) return false;
    switch (parent->kind) {
    case IR_SCF_FOR: return add_scf_for(out, parent);
    case IR_SCF_PARALLEL: return add_scf_parallel(out, parent);
    case IR_AFFINE_FOR: return add_affine_for(out, parent);
    case IR_AFFINE_PARALLEL: return add_affine_parallel(out, parent);
    default: break;
    }
    bool is_structured = (ir_op_info(parent->kind)->traits & IR_LINALG) && parent->num_operands > 0;
    return !is_structured || add_structured(out, parent);
}

bool access_loops_collect(IrModule *m, const IrOp *op, AccessLoops *out_loops) {
    *out_loops = (AccessLoops){.m = m};
    return collect(out_loops, op);
}

// ---- expressions

static AccessIndex invariant(AccessLoops *l) {
    return (AccessIndex){.expr = ir_affine_symbol(l->m, l->num_symbols++)};
}

static AccessIndex unknown(AccessLoops *l) {
    AccessIndex index = invariant(l);
    index.is_unknown = true;
    return index;
}

static AccessIndex combine(AccessLoops *l, IrAffineKind kind, AccessIndex a, AccessIndex b) {
    bool is_affine = kind == IR_AFFINE_ADD || b.expr->kind == IR_AFFINE_CONST;
    bool divides = kind == IR_AFFINE_MOD || kind == IR_AFFINE_FLOORDIV || kind == IR_AFFINE_CEILDIV;
    if (kind == IR_AFFINE_MUL && !is_affine && a.expr->kind == IR_AFFINE_CONST)
        return combine(l, kind, b, a);
    bool fits = is_affine && (!divides || b.expr->value > 0);
    AccessIndex out = {.gather_loops = a.gather_loops | b.gather_loops,
                       .is_gather = a.is_gather || b.is_gather,
                       .is_unknown = a.is_unknown || b.is_unknown};
    if (fits) {
        out.expr = ir_affine_binary(l->m, kind, a.expr, b.expr);
    } else {
        bool varies = !ir_affine_is_symbolic(a.expr) || !ir_affine_is_symbolic(b.expr);
        out.expr = invariant(l).expr;
        out.is_unknown |= varies;
    }
    return out;
}

// The loops that the value depends on, through whatever: bits.
static uint32_t depends_on(const AccessLoops *l, const IrValue *value, uint32_t depth) {
    for (uint32_t i = 0; i < l->num; i++)
        if (l->loops[i].iv == value) return 1u << i;
    const IrOp *op = value->def_op;
    if (!op || depth == MAX_DEPTH) return 0;
    if (op->kind == IR_LINALG_INDEX) {
        const IrAttr *dim = ir_op_attr(op, "dim");
        for (uint32_t i = 0; dim && i < l->num; i++)
            if (l->loops[i].structured == ir_op_parent(op) && l->loops[i].dim == dim->i)
                return 1u << i;
    }
    uint32_t bits = 0;
    for (uint32_t i = 0; i < op->num_operands; i++)
        bits |= depends_on(l, ir_op_operand(op, i), depth + 1);
    return bits;
}

static bool reads_memory(const IrOp *op) {
    return op->kind == IR_TENSOR_EXTRACT || op->kind == IR_MEMREF_LOAD ||
           op->kind == IR_AFFINE_LOAD;
}

static AccessIndex loop_index(AccessLoops *l, uint32_t i) {
    if (l->loops[i].step == IR_DYNAMIC) return unknown(l);
    const IrAffineExpr *d = ir_affine_dim(l->m, i);
    return (AccessIndex){
        .expr = ir_affine_binary(l->m, IR_AFFINE_MUL, d, ir_affine_const(l->m, l->loops[i].step))};
}

// An argument of a structured op's body is an element read from memory.
static AccessIndex argument_index(AccessLoops *l, const IrValue *value) {
    const IrOp *parent = ir_block_parent(value->def_block);
    if (!parent || !(ir_op_info(parent->kind)->traits & IR_LINALG)) return invariant(l);
    AccessIndex index = invariant(l);
    index.is_gather = true;
    const IrAffineMap *map = ir_linalg_map(l->m, parent, value->number);
    for (uint32_t i = 0; i < l->num; i++) {
        if (l->loops[i].structured != parent) continue;
        for (uint32_t r = 0; r < map->num_results; r++)
            if (ir_affine_uses_dim(map->results[r], l->loops[i].dim)) index.gather_loops |= 1u << i;
    }
    return index;
}

AccessIndex access_apply(AccessLoops *l, const IrAffineMap *map, uint32_t result, const IrOp *op,
                         uint32_t first_operand, uint32_t depth) {
    const IrAffineExpr *exprs[2 * IR_ACCESS_MAX_LOOPS];
    uint32_t num = map->num_dims + map->num_symbols;
    if (num > ARRAY_LEN(exprs) || first_operand + num > op->num_operands) return unknown(l);
    AccessIndex out = {0};
    for (uint32_t i = 0; i < num; i++) {
        AccessIndex part = access_index(l, ir_op_operand(op, first_operand + i), depth + 1);
        exprs[i] = part.expr;
        bool is_used = i >= map->num_dims || ir_affine_uses_dim(map->results[result], i);
        if (!is_used) continue;
        out.gather_loops |= part.gather_loops;
        out.is_gather |= part.is_gather;
        out.is_unknown |= part.is_unknown;
    }
    out.expr = ir_affine_replace(l->m, map->results[result], exprs, exprs + map->num_dims);
    return out;
}

AccessIndex access_index(AccessLoops *l, const IrValue *value, uint32_t depth) {
    int64_t constant;
    for (uint32_t i = 0; i < l->num; i++)
        if (l->loops[i].iv == value) return loop_index(l, i);
    if (ir_value_constant_int(value, &constant))
        return (AccessIndex){.expr = ir_affine_const(l->m, constant)};
    const IrOp *op = value->def_op;
    if (!op) return argument_index(l, value);
    uint32_t varies = depends_on(l, value, 0);
    if (depth == MAX_DEPTH) return varies ? unknown(l) : invariant(l);
    if (reads_memory(op)) {
        AccessIndex index = invariant(l);
        index.gather_loops = varies;
        index.is_gather = true;
        return index;
    }
    static const struct {
        IrOpKind op;
        IrAffineKind kind;
    } binaries[] = {
        {IR_ARITH_ADDI, IR_AFFINE_ADD},       {IR_ARITH_MULI, IR_AFFINE_MUL},
        {IR_ARITH_DIVUI, IR_AFFINE_FLOORDIV}, {IR_ARITH_REMUI, IR_AFFINE_MOD},
        {IR_ARITH_DIVSI, IR_AFFINE_FLOORDIV}, {IR_ARITH_REMSI, IR_AFFINE_MOD},
    };
    for (size_t i = 0; i < ARRAY_LEN(binaries); i++)
        if (op->kind == binaries[i].op)
            return combine(l, binaries[i].kind, access_index(l, ir_op_operand(op, 0), depth + 1),
                           access_index(l, ir_op_operand(op, 1), depth + 1));
    switch (op->kind) {
    case IR_ARITH_SUBI: {
        AccessIndex minus = {.expr = ir_affine_const(l->m, -1)};
        AccessIndex right = access_index(l, ir_op_operand(op, 1), depth + 1);
        return combine(l, IR_AFFINE_ADD, access_index(l, ir_op_operand(op, 0), depth + 1),
                       combine(l, IR_AFFINE_MUL, right, minus));
    }
    case IR_ARITH_INDEX_CAST:
    case IR_ARITH_INDEX_CASTUI:
    case IR_ARITH_EXTSI:
    case IR_ARITH_EXTUI: return access_index(l, ir_op_operand(op, 0), depth + 1);
    case IR_AFFINE_APPLY: return access_apply(l, ir_op_attr(op, "map")->map, 0, op, 0, depth);
    case IR_LINALG_INDEX:
        for (uint32_t i = 0; i < l->num; i++)
            if (varies >> i & 1) return loop_index(l, i);
        break;
    default: break;
    }
    return varies ? unknown(l) : invariant(l);
}
