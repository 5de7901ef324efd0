// drop-unit-loops: a structured op without loops of one iteration, on tensors without the
// dimensions such loops walk. What is left are the loops there is work in, so that a batch of one
// image is cut along its rows.
//
//   %y = generic [1, 32, 64] ins(%x : tensor<1x32x64xf32>)
//   -> %a = collapse_shape %x;  %b = generic [32, 64] ins(%a : tensor<32x64xf32>);  %y =
//   expand_shape %b
//
// Around sums that leave no rows to cut, and around matrix products, a vector stays a matrix of one
// row: ops on it then join as they do for many rows. Fusion rules tell a bias, which has fewer
// dimensions than what it is added to, from a residual: where that is no longer to be seen it is
// said, ingot.bias.
//
//   %m = reduce(max) [1, 1, 70]  ->  %a = collapse_shape %x;  %m = reduce(max) [1, 70] %a
//
// Needs: canonical.  Keeps: all.  Exact.
#include <stdlib.h>

#include "passes/build.h"
#include "passes/dce.h"
#include "passes/entry.h"
#include "passes/fusion.h"
#include "passes/order.h"
#include "passes/pass.h"

enum { MAX_LOOPS = 12, MAX_RANK = 16, MAX_OPERANDS = 24 };

// Ops that keep a row of one.
typedef struct Rows {
    IrModule *m;
    uint32_t num_slots;
    bool *has_row; // by op index
    const IrOp **todo;
    size_t num_todo, capacity;
} Rows;

static bool is_loop_nest(const IrOp *op) {
    return (ir_op_info(op->kind)->traits & IR_LINALG) && op->num_results > 0 &&
           op->kind != IR_LINALG_FILL && !ir_op_attr(op, "ingot.epilogue");
}

// The last of the loops of one iteration in front, all parallel; -1: none.
static int32_t row_loop(IrModule *m, const IrOp *op) {
    int64_t ranges[MAX_LOOPS];
    uint32_t num = ir_linalg_num_loops(op), i = 0;
    if (num > MAX_LOOPS) return -1;
    ir_linalg_loop_ranges(m, op, ranges);
    while (i < num && ranges[i] == 1 && ir_linalg_iterator(op, i) == IR_PARALLEL) i++;
    return (int32_t)i - 1;
}

// One row of numbers, few enough for a worker to keep.
static bool is_vector(const IrType *type) {
    uint32_t num_long = 0;
    if (!ir_type_is_static(type)) return false;
    for (uint32_t r = 0; r < type->rank; r++) num_long += type->shape[r] != 1;
    return num_long < 2 &&
           ir_type_num_elems(type) * ir_type_bytes(type->elem) <= FUSION_MAX_ROW_BYTES;
}

static void keep_row(Rows *rows, const IrOp *op) {
    if (op->index >= rows->num_slots || rows->has_row[op->index]) return;
    rows->has_row[op->index] = true;
    ARRAY_RESERVE(rows->todo, rows->num_todo, rows->capacity);
    rows->todo[rows->num_todo++] = op;
}

// Of ops beside one that keeps its row: those on a vector keep theirs.
static bool may_keep_row(const Rows *rows, const IrOp *op) {
    return is_loop_nest(op) && !ir_op_attr(op, "ingot.contract") &&
           is_vector(op->results[0].type) && row_loop(rows->m, op) >= 0;
}

// Has it sums of more than one term?
static bool adds_up(IrModule *m, const IrOp *op) {
    int64_t ranges[MAX_LOOPS];
    uint32_t num = ir_linalg_num_loops(op);
    if (num > MAX_LOOPS) return ir_linalg_has_reduction(op);
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t i = 0; i < num; i++)
        if (ranges[i] != 1 && ir_linalg_iterator(op, i) != IR_PARALLEL) return true;
    return false;
}

static void keep_readers(Rows *rows, const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        if (fusion_is_view(op))
            keep_readers(rows, &op->results[0]);
        else if (may_keep_row(rows, op) && !adds_up(rows->m, op))
            keep_row(rows, op);
    }
}

static void find_rows(Rows *rows, const IrBlock *block) {
    FOR_EACH_OP(op, block) {
        if (!is_loop_nest(op)) continue;
        if (ir_op_attr(op, "ingot.contract"))
            keep_readers(rows, &op->results[0]);
        else if (row_loop(rows->m, op) >= 0 && order_begins_with_sum(rows->m, op))
            keep_row(rows, op);
    }
    while (rows->num_todo > 0) {
        const IrOp *op = rows->todo[--rows->num_todo];
        for (uint32_t i = 0; i < op->num_operands; i++) {
            const IrOp *maker = fusion_maker(ir_op_operand(op, i));
            if (maker && maker->block == op->block && may_keep_row(rows, maker))
                keep_row(rows, maker);
        }
        keep_readers(rows, &op->results[0]);
    }
}

typedef struct Drop {
    IrModule *m;
    uint32_t num_loops, num_kept;
    int64_t place[MAX_LOOPS]; // of a kept loop among the kept; -1: dropped
} Drop;

// The dimensions of an operand that stay: all but those of size 1 that no kept loop walks.
static uint32_t kept_dims(const Drop *d, const IrAffineMap *map, const IrType *type, bool *kept) {
    uint32_t num = 0;
    for (uint32_t r = 0; r < map->num_results; r++) {
        kept[r] = type->shape[r] != 1;
        for (uint32_t i = 0; i < d->num_loops; i++)
            kept[r] = kept[r] || (d->place[i] >= 0 && ir_affine_uses_dim(map->results[r], i));
        num += kept[r];
    }
    return num;
}

// Groups of a reshape that joins every dropped dimension to a kept one.
static void make_groups(const bool *kept, uint32_t rank, uint32_t *groups) {
    uint32_t n = 0, leading = 0;
    for (uint32_t r = 0; r < rank; r++) {
        if (kept[r]) {
            groups[n++] = 1 + leading;
            leading = 0;
        } else if (n) {
            groups[n - 1]++;
        } else {
            leading++;
        }
    }
}

static const IrType *smaller_type(IrModule *m, const IrType *type, const bool *kept) {
    int64_t shape[MAX_RANK];
    uint32_t n = 0;
    for (uint32_t r = 0; r < type->rank; r++)
        if (kept[r]) shape[n++] = type->shape[r];
    return ir_type_tensor(m, n, shape, type->elem);
}

// The value without the dropped dimensions; what was expanded from such a value is that value.
static IrValue *shrink(Builder *b, IrValue *value, const bool *kept, uint32_t num_kept) {
    const IrType *type = smaller_type(b->m, value->type, kept);
    const IrOp *def = value->def_op;
    if (type == value->type) return value;
    if (def && def->kind == IR_TENSOR_EXPAND_SHAPE && ir_op_operand(def, 0)->type == type)
        return ir_op_operand(def, 0);
    if (def && def->kind == IR_TENSOR_EMPTY) return build_empty(b, type);
    if (def && def->kind == IR_LINALG_FILL)
        return build_fill(b, ir_op_operand(def, 0), build_empty(b, type));
    uint32_t groups[MAX_RANK];
    make_groups(kept, value->type->rank, groups);
    return build_collapse(b, value, num_kept, groups);
}

static const IrAffineMap *shrink_map(const Drop *d, const IrAffineMap *map, const bool *kept) {
    const IrAffineExpr *dims[MAX_LOOPS], *results[MAX_RANK];
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->num_loops; i++)
        dims[i] =
            d->place[i] < 0 ? ir_affine_const(d->m, 0) : ir_affine_dim(d->m, (uint32_t)d->place[i]);
    for (uint32_t r = 0; r < map->num_results; r++)
        if (kept[r]) results[n++] = ir_affine_replace(d->m, map->results[r], dims, NULL);
    return ir_affine_map(d->m, d->num_kept, 0, n, results);
}

static void renumber_indices(const Drop *d, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) renumber_indices(d, inner);
        if (op->kind != IR_LINALG_INDEX) continue;
        int64_t place = d->place[ir_op_attr(op, "dim")->i];
        if (place >= 0) {
            ir_op_set_attr(d->m, op, "dim", ir_attr_i64(d->m, place));
            continue;
        }
        Builder b = build_before(d->m, op);
        ir_value_replace_all(ir_op_result(op, 0), build_index(&b, 0));
        ir_op_erase(d->m, op);
    }
}

static bool read_drop(const Rows *rows, const IrOp *op, Drop *d) {
    IrModule *m = rows->m;
    int64_t ranges[MAX_LOOPS];
    *d = (Drop){.m = m, .num_loops = ir_linalg_num_loops(op)};
    if (d->num_loops > MAX_LOOPS || op->num_operands > MAX_OPERANDS) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (ir_type_is_shaped(type) && (type->rank > MAX_RANK || !ir_type_is_static(type)))
            return false;
    }
    ir_linalg_loop_ranges(m, op, ranges);
    bool has_row = op->index < rows->num_slots && rows->has_row[op->index];
    int32_t row = has_row ? row_loop(m, op) : -1;
    for (uint32_t i = 0; i < d->num_loops; i++)
        d->place[i] = ranges[i] == 1 && (int32_t)i != row ? -1 : (int64_t)d->num_kept++;
    return d->num_kept > 0 && d->num_kept < d->num_loops;
}

static void drop_loops(IrModule *m, IrOp *op, const Drop *d) {
    IrValue *operands[MAX_OPERANDS], *old_results[MAX_OPERANDS];
    const IrAttr *maps[MAX_OPERANDS], *iterators[MAX_LOOPS];
    const IrType *types[MAX_OPERANDS];
    bool kept[MAX_OPERANDS][MAX_RANK], adds_bias = fusion_adds_bias(op);
    uint32_t num_kept[MAX_OPERANDS], first_out = op->segments[0];
    Builder b = build_before(m, op);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        IrValue *value = ir_op_operand(op, i);
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        bool is_tensor = ir_type_is_shaped(value->type);
        num_kept[i] = is_tensor ? kept_dims(d, map, value->type, kept[i]) : 0;
        operands[i] = is_tensor ? shrink(&b, value, kept[i], num_kept[i]) : value;
        maps[i] = ir_attr_map(m, shrink_map(d, map, kept[i]));
        types[i] = operands[i]->type;
    }
    for (uint32_t i = 0; i < d->num_loops; i++)
        if (d->place[i] >= 0)
            iterators[d->place[i]] = ir_attr_string(
                m, ir_linalg_iterator(op, i) == IR_PARALLEL ? "parallel" : "reduction");
    IrNamedAttr attrs[] = {{"indexing_maps", ir_attr_array(m, op->num_operands, maps)},
                           {"iterator_types", ir_attr_array(m, d->num_kept, iterators)}};
    IrOp *made = build_op_full(&b, &(IrOpSpec){.kind = IR_LINALG_GENERIC,
                                               .num_operands = op->num_operands,
                                               .operands = operands,
                                               .num_results = op->num_results,
                                               .result_types = types + first_out,
                                               .num_attrs = 2,
                                               .attrs = attrs,
                                               .num_regions = 1,
                                               .segments = {first_out, op->segments[1]}});
    for (uint32_t i = 0; i < op->num_attrs; i++)
        if (!ir_op_attr(made, op->attrs[i].name))
            ir_op_set_attr(m, made, op->attrs[i].name, op->attrs[i].attr);
    made->regions[0].first = op->regions[0].first;
    made->regions[0].last = op->regions[0].last;
    FOR_EACH_BLOCK(block, &made->regions[0]) block->region = &made->regions[0];
    op->regions[0].first = op->regions[0].last = NULL;
    if (adds_bias && !fusion_adds_bias(made))
        ir_op_set_attr(m, made, "ingot.bias", ir_attr_unit(m));
    renumber_indices(d, ir_op_block(made, 0));
    for (uint32_t r = 0; r < op->num_results; r++) {
        uint32_t groups[MAX_RANK], i = first_out + r;
        old_results[r] = ir_op_result(made, r);
        const IrType *type = op->results[r].type;
        make_groups(kept[i], type->rank, groups);
        if (old_results[r]->type != type)
            old_results[r] = build_expand(&b, old_results[r], type, num_kept[i], groups);
        ir_value_replace_all(ir_op_result(op, r), old_results[r]);
    }
    ir_op_erase(m, op);
}

static void drop_in_block(const Rows *rows, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) drop_in_block(rows, inner);
        Drop d;
        if (!is_loop_nest(op) || ir_op_attr(op, "ingot.contract") || !read_drop(rows, op, &d))
            continue;
        drop_loops(rows->m, ir_linalg_generalize(rows->m, op), &d);
    }
}

Status pass_drop_unit_loops(IrModule *m, DiagSink *sink) {
    (void)sink; // cannot fail
    Rows rows = {.m = m, .num_slots = m->num_ops};
    rows.has_row = base_alloc(MAX(rows.num_slots, 1), sizeof *rows.has_row);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!entry_takes_tensors(m, func)) continue;
        find_rows(&rows, ir_func_body(func));
        drop_in_block(&rows, ir_func_body(func));
    }
    free(rows.has_row);
    free(rows.todo);
    dce_module(m);
    return STATUS_OK;
}
