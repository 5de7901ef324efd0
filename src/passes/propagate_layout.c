// propagate-layout: maps in blocks of channels (map_layout.h) go through what lies between
// convolutions: elementwise ops, padding and crops, pools, whole blocks of concatenations, resizes.
// Relayouts that meet cancel; one that a transposition feeds, or that feeds one, becomes part of
// it. Those that are left stand at the edges: what a network takes and gives channels-last.
//
//   %a = relayout(%y : [n, c/16, h, w, 16]);  %r = generic(%a : [n, h, w, c]);  %b = relayout(%r)
//   %z = conv(%b)
//   -> %r = generic(%y : [n, c/16, h, w, 16]);  %z = conv(%r)
//
// In a structured op the loop over channels becomes one over blocks and one inside; every other
// operand that it walks is seen with that dimension split.
//
// Needs: laid-out.  Keeps: all.  Exact.
#include <string.h>

#include "passes/conv.h"
#include "passes/dce.h"
#include "passes/outline.h"
#include "passes/pass.h"

enum { MAX_LOOPS = 9, MAX_RANK = 9 };

typedef struct Blocks {
    IrModule *m;
    IrOp *func;
    MapSet set;
    IrValueMap blocked; // of channels-last maps
} Blocks;

static IrValue *known(Blocks *p, IrValue *map) {
    IrValue *is = ir_value_map_get(&p->blocked, map);
    return is == map ? NULL : is;
}

static IrValue *filled_like(Builder *b, const IrOp *free, const IrType *type) {
    IrValue *empty = build_empty(b, type);
    if (free->kind == IR_TENSOR_EMPTY) return empty;
    return build_fill(b, ir_op_operand(free, 0), empty);
}

// The map in blocks; b: before what reads it.
static IrValue *blocked_of(Blocks *p, Builder *b, IrValue *map) {
    IrValue *is = known(p, map);
    if (is) return is;
    if (map_is_free(map)) return filled_like(b, map->def_op, map_blocked_type(p->m, map->type));
    Builder at = map->def_op ? build_after(p->m, map->def_op)
                             : build_before(p->m, ir_func_body(p->func)->first);
    is = map_to_blocked(&at, map);
    ir_value_map_set(&p->blocked, map, is);
    return is;
}

// Readers that know no blocks read a copy.
static void give(Blocks *p, IrOp *op, IrValue *blocked) {
    Builder b = build_before(p->m, op);
    IrValue *last = map_to_last(&b, blocked);
    ir_value_map_set(&p->blocked, last, blocked);
    ir_value_replace_all(ir_op_result(op, 0), last);
    ir_op_erase(p->m, op);
}

// ---- structured ops

typedef struct Split {
    Blocks *p;
    MapOp r;
    uint32_t num, block, lane; // loops afterwards; those over blocks and inside
    uint32_t place[MAX_LOOPS]; // of the old loops
} Split;

static Split split_loops(Blocks *p, const IrOp *op, const MapOp *r) {
    Split s = {.p = p, .r = *r, .num = ir_linalg_num_loops(op) + 1};
    // Blocks of a parallel loop go outside, behind that over images; those of a sum stay, so that
    // it is summed in the same order.
    bool is_outside = ir_linalg_iterator(op, r->channel) == IR_PARALLEL && r->channel > 0;
    s.block = is_outside ? 1 : r->channel;
    for (uint32_t i = 0; i + 1 < s.num; i++) s.place[i] = i < s.block ? i : i + 1;
    s.lane = s.place[r->channel];
    return s;
}

// value with its dimension `at` in blocks.
static IrValue *split_dim(Builder *b, IrValue *value, uint32_t at) {
    const IrType *t = value->type;
    uint32_t groups[MAX_RANK];
    int64_t shape[MAX_RANK];
    for (uint32_t i = 0; i < t->rank; i++) {
        groups[i] = i == at ? 2 : 1;
        shape[i > at ? i + 1 : i] = t->shape[i];
    }
    shape[at] = t->shape[at] / MAP_BLOCK;
    shape[at + 1] = MAP_BLOCK;
    const IrType *type = ir_type_tensor(b->m, t->rank + 1, shape, t->elem);
    if (map_is_free(value)) return filled_like(b, value->def_op, type);
    return build_expand(b, value, type, t->rank, groups);
}

// Operand i and its map afterwards; *out_at: the dimension that was split, or the rank.
static IrValue *split_operand(Split *s, Builder *b, const IrOp *op, uint32_t i,
                              const IrAttr **out_map, uint32_t *out_at) {
    IrModule *m = b->m;
    IrValue *value = ir_op_operand(op, i);
    const IrAffineMap *map = ir_linalg_map(m, op, i);
    const IrAffineExpr *dims[MAX_LOOPS], *results[MAX_RANK + 1];
    bool is_map = s->r.members >> i & 1;
    uint32_t num = 0, at = map->num_results;
    for (uint32_t k = 0; k + 1 < s->num; k++) dims[k] = ir_affine_dim(m, s->place[k]);
    for (uint32_t k = 0; k < map->num_results; k++) {
        bool is_channel = ir_affine_uses_dim(map->results[k], s->r.channel);
        if (is_channel) at = k;
        if (is_map && k == 1) results[num++] = ir_affine_dim(m, s->block);
        if (is_channel && !is_map) results[num++] = ir_affine_dim(m, s->block);
        results[num++] = is_channel ? ir_affine_dim(m, s->lane)
                                    : ir_affine_replace(m, map->results[k], dims, NULL);
    }
    *out_map = ir_attr_map(m, ir_affine_map(m, s->num, 0, num, results));
    *out_at = at;
    if (is_map) return blocked_of(s->p, b, value);
    return at < map->num_results ? split_dim(b, value, at) : value;
}

// tensor.extract %map[n, .., c] -> %blocked[n, block, .., lane]
static void split_extract(Split *s, IrOp *op, IrValue *blocked) {
    Builder b = build_before(s->p->m, op);
    IrValue *operands[MAX_RANK + 2] = {blocked, ir_op_operand(op, 1),
                                       build_loop_index(&b, s->block)};
    uint32_t num = 3;
    for (uint32_t i = 2; i + 1 < op->num_operands; i++) operands[num++] = ir_op_operand(op, i);
    operands[num++] = build_loop_index(&b, s->lane);
    IrOp *made = build_op_full(&b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT,
                                               .num_operands = num,
                                               .operands = operands,
                                               .num_results = 1,
                                               .result_types = &op->results[0].type,
                                               .segments = {1, num - 1}});
    ir_value_replace_all(ir_op_result(op, 0), ir_op_result(made, 0));
    ir_op_erase(s->p->m, op);
}

static void split_index(Split *s, IrOp *op) {
    IrModule *m = s->p->m;
    uint32_t loop = (uint32_t)ir_op_attr(op, "dim")->i;
    if (loop != s->r.channel) {
        ir_op_set_attr(m, op, "dim", ir_attr_i64(m, s->place[loop]));
        return;
    }
    Builder b = build_before(m, op);
    IrValue *at = build_mul_index(&b, build_loop_index(&b, s->block), MAP_BLOCK);
    at = build_binary(&b, IR_ARITH_ADDI, at, build_loop_index(&b, s->lane));
    ir_value_replace_all(ir_op_result(op, 0), at);
    ir_op_erase(m, op);
}

static void split_body(Split *s, IrBlock *body, IrValue *const *inside) {
    FOR_EACH_OP_SAFE(op, body) {
        if (op->kind == IR_LINALG_INDEX) split_index(s, op);
        if (op->kind != IR_TENSOR_EXTRACT) continue;
        for (uint32_t i = 0; i < s->r.num_inside; i++) {
            if (ir_op_operand(op, 0) != s->r.inside[i]) continue;
            split_extract(s, op, inside[i]);
            break;
        }
    }
}

static void move_body(IrOp *from, IrOp *to) {
    to->regions[0].first = from->regions[0].first;
    to->regions[0].last = from->regions[0].last;
    FOR_EACH_BLOCK(block, &to->regions[0]) block->region = &to->regions[0];
    from->regions[0].first = from->regions[0].last = NULL;
}

static void carry_generic(Blocks *p, IrOp *op, const MapOp *r) {
    IrModule *m = p->m;
    op = ir_linalg_generalize(m, op);
    Split s = split_loops(p, op, r);
    Builder b = build_before(m, op);
    IrValue *operands[MAP_MAX_OPERANDS], *inside[MAP_MAX_INSIDE];
    const IrAttr *maps[MAP_MAX_OPERANDS], *iterators[MAX_LOOPS + 1];
    uint32_t at = 0, out = op->num_operands - 1;
    for (uint32_t i = 0; i < op->num_operands; i++)
        operands[i] = split_operand(&s, &b, op, i, &maps[i], &at);
    for (uint32_t i = 0; i < r->num_inside; i++) inside[i] = blocked_of(p, &b, r->inside[i]);
    for (uint32_t i = 0; i + 1 < s.num; i++)
        iterators[s.place[i]] =
            ir_attr_string(m, ir_linalg_iterator(op, i) == IR_PARALLEL ? "parallel" : "reduction");
    iterators[s.block] = iterators[s.lane];
    IrNamedAttr attrs[] = {{"indexing_maps", ir_attr_array(m, op->num_operands, maps)},
                           {"iterator_types", ir_attr_array(m, s.num, iterators)}};
    IrOp *made = build_op_full(&b, &(IrOpSpec){.kind = IR_LINALG_GENERIC,
                                               .num_operands = op->num_operands,
                                               .operands = operands,
                                               .num_results = 1,
                                               .result_types = &operands[out]->type,
                                               .num_attrs = 2,
                                               .attrs = attrs,
                                               .num_regions = 1,
                                               .segments = {op->segments[0], op->segments[1]}});
    for (uint32_t i = 0; i < op->num_attrs; i++)
        if (!ir_op_attr(made, op->attrs[i].name))
            ir_op_set_attr(m, made, op->attrs[i].name, op->attrs[i].attr);
    move_body(op, made);
    split_body(&s, ir_op_block(made, 0), inside);
    IrValue *result = ir_op_result(made, 0);
    if (r->has_result) {
        give(p, op, result);
        return;
    }
    const IrType *old = op->results[0].type;
    if (result->type != old) { // the dimension that was split
        uint32_t groups[MAX_RANK];
        for (uint32_t i = 0; i < old->rank; i++) groups[i] = i == at ? 2 : 1;
        result = build_collapse(&b, result, old->rank, groups);
    }
    ir_value_replace_all(ir_op_result(op, 0), result);
    ir_op_erase(m, op);
}

// ---- slices and reshapes

static const IrAttr *blocked_numbers(IrModule *m, const IrAttr *numbers, int64_t last, int64_t by) {
    int64_t out[MAX_RANK];
    uint32_t rank = (uint32_t)numbers->num_values;
    out[0] = numbers->values[0];
    out[1] = by > 1 ? numbers->values[rank - 1] / by : 1;
    for (uint32_t i = 1; i + 1 < rank; i++) out[i + 1] = numbers->values[i];
    out[rank] = last;
    return ir_attr_dense_array(m, ir_type_int(m, 64), rank + 1, out);
}

static void carry_slice(Blocks *p, IrOp *op) {
    IrModule *m = p->m;
    Builder b = build_before(m, op);
    IrValue *operands[2];
    for (uint32_t i = 0; i < op->num_operands; i++)
        operands[i] = blocked_of(p, &b, ir_op_operand(op, i));
    const IrType *type = map_blocked_type(m, op->results[0].type);
    IrNamedAttr attrs[] = {
        {"static_offsets", blocked_numbers(m, ir_op_attr(op, "static_offsets"), 0, MAP_BLOCK)},
        {"static_sizes", blocked_numbers(m, ir_op_attr(op, "static_sizes"), MAP_BLOCK, MAP_BLOCK)},
        {"static_strides", blocked_numbers(m, ir_op_attr(op, "static_strides"), 1, 1)}};
    IrOp *made = build_op_full(&b, &(IrOpSpec){.kind = op->kind,
                                               .num_operands = op->num_operands,
                                               .operands = operands,
                                               .num_results = 1,
                                               .result_types = &type,
                                               .num_attrs = 3,
                                               .attrs = attrs,
                                               .segments = {op->segments[0], op->segments[1]}});
    give(p, op, ir_op_result(made, 0));
}

static void carry_reshape(Blocks *p, IrOp *op, const MapOp *r) {
    IrModule *m = p->m;
    Builder b = build_before(m, op);
    IrValue *from = blocked_of(p, &b, ir_op_operand(op, 0));
    const IrAttr *old = ir_op_attr(op, "reassociation");
    uint32_t groups[MAX_RANK + 1] = {1, 1}, num = (uint32_t)old->num_elems;
    if (!r->has_result) { // [n, c/16, 1, 1, 16] is [n, c]
        groups[1] = from->type->rank - 1;
        ir_value_replace_all(ir_op_result(op, 0), build_collapse(&b, from, 2, groups));
        ir_op_erase(m, op);
        return;
    }
    for (uint32_t i = 1; i < num; i++) groups[i + 1] = (uint32_t)old->elems[i]->num_elems;
    const IrType *type = map_blocked_type(m, op->results[0].type);
    give(p, op,
         op->kind == IR_TENSOR_COLLAPSE_SHAPE ? build_collapse(&b, from, num + 1, groups)
                                              : build_expand(&b, from, type, num + 1, groups));
}

// ---- the function

// How op handles a map that is to be in blocks.
static MapOp read_op(Blocks *p, IrOp *op) {
    MapOp r = {.kind = MAP_OP_NONE};
    for (uint32_t i = 0; i < op->num_operands && r.kind == MAP_OP_NONE; i++)
        if (map_set_has(&p->set, ir_op_operand(op, i)) || known(p, ir_op_operand(op, i)))
            r = map_op_read(p->m, op, ir_op_operand(op, i));
    if (r.kind == MAP_OP_NONE && op->num_results == 1 && map_set_has(&p->set, &op->results[0]))
        r = map_op_read(p->m, op, &op->results[0]);
    if (r.kind != MAP_OP_NONE || op->kind != IR_LINALG_GENERIC) return r;
    FOR_EACH_OP(inner, ir_op_block(op, 0))
    if (inner->kind == IR_TENSOR_EXTRACT && r.kind == MAP_OP_NONE &&
        known(p, ir_op_operand(inner, 0)))
        r = map_op_read(p->m, op, ir_op_operand(inner, 0));
    return r;
}

static void carry(Blocks *p, IrOp *op) {
    IrValue *source = map_relayout_source(op, true), *blocked = map_relayout_source(op, false);
    if (blocked) {
        ir_value_map_set(&p->blocked, ir_op_result(op, 0), blocked);
    } else if (source && known(p, source)) {
        ir_value_replace_all(ir_op_result(op, 0), known(p, source));
    } else if (source) {
        ir_value_map_set(&p->blocked, source, ir_op_result(op, 0));
    } else {
        MapOp r = read_op(p, op);
        if (r.kind == MAP_OP_GENERIC) carry_generic(p, op, &r);
        if (r.kind == MAP_OP_SLICE) carry_slice(p, op);
        if (r.kind == MAP_OP_RESHAPE) carry_reshape(p, op, &r);
    }
}

// The channels-last side of a relayout; NULL: op is none.
static IrValue *relayout_map(IrOp *op) {
    IrValue *map = map_relayout_source(op, true);
    return !map && map_relayout_source(op, false) ? ir_op_result(op, 0) : map;
}

static void propagate(IrModule *m, IrOp *func) {
    Blocks p = {.m = m, .func = func};
    bool any = false;
    FOR_EACH_OP(op, ir_func_body(func)) any = any || relayout_map(op);
    if (!any) return;
    map_set_init(m, func, &p.set);
    FOR_EACH_OP(op, ir_func_body(func))
    if (relayout_map(op)) map_set_add(&p.set, relayout_map(op));
    ir_value_map_init(&p.blocked);
    FOR_EACH_OP_SAFE(op, ir_func_body(func)) carry(&p, op);
    ir_value_map_deinit(&p.blocked);
}

Status pass_propagate_layout(IrModule *m, DiagSink *sink) {
    (void)sink; // what knows no blocks reads a copy
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body || ir_op_attr(func, "ingot.composite")) continue;
        propagate(m, func);
    }
    dce_module(m);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (func->kind != IR_FUNC_FUNC || !ir_func_body(func)) continue;
        FOR_EACH_OP(op, ir_func_body(func))
        if (outline_is_conv(op)) outline_mark_epilogues(m, op);
    }
    return STATUS_OK;
}
