// drop-unit-loops: a structured op without loops of one iteration, on tensors without the
// dimensions such loops walk. What is left are the loops there is work in, so that a batch of one
// image is cut along its rows.
//
//   %y = generic [1, 32, 64] ins(%x : tensor<1x32x64xf32>)
//   -> %a = collapse_shape %x;  %b = generic [32, 64] ins(%a : tensor<32x64xf32>);  %y =
//   expand_shape %b
//
// Needs: canonical.  Keeps: all.  Exact.
#include "passes/build.h"
#include "passes/dce.h"
#include "passes/entry.h"
#include "passes/pass.h"

enum { MAX_LOOPS = 12, MAX_RANK = 16, MAX_OPERANDS = 24 };

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

static bool read_drop(IrModule *m, const IrOp *op, Drop *d) {
    int64_t ranges[MAX_LOOPS];
    *d = (Drop){.m = m, .num_loops = ir_linalg_num_loops(op)};
    if (d->num_loops > MAX_LOOPS || op->num_operands > MAX_OPERANDS) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (ir_type_is_shaped(type) && (type->rank > MAX_RANK || !ir_type_is_static(type)))
            return false;
    }
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t i = 0; i < d->num_loops; i++)
        d->place[i] = ranges[i] == 1 ? -1 : (int64_t)d->num_kept++;
    return d->num_kept > 0 && d->num_kept < d->num_loops;
}

static void drop_loops(IrModule *m, IrOp *op, const Drop *d) {
    IrValue *operands[MAX_OPERANDS], *old_results[MAX_OPERANDS];
    const IrAttr *maps[MAX_OPERANDS], *iterators[MAX_LOOPS];
    const IrType *types[MAX_OPERANDS];
    bool kept[MAX_OPERANDS][MAX_RANK];
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

static void drop_in_block(IrModule *m, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) drop_in_block(m, inner);
        bool is_linalg = (ir_op_info(op->kind)->traits & IR_LINALG) && op->num_results > 0;
        Drop d;
        if (!is_linalg || op->kind == IR_LINALG_FILL || ir_op_attr(op, "ingot.contract") ||
            ir_op_attr(op, "ingot.epilogue") || !read_drop(m, op, &d))
            continue;
        drop_loops(m, ir_linalg_generalize(m, op), &d);
    }
}

Status pass_drop_unit_loops(IrModule *m, DiagSink *sink) {
    (void)sink; // cannot fail
    FOR_EACH_OP(func, ir_module_body(m))
    if (entry_takes_tensors(m, func)) drop_in_block(m, ir_func_body(func));
    dce_module(m);
    return STATUS_OK;
}
