// What ops do with maps, and relayouts; see map_layout.h.
#include "passes/map_layout.h"

#include <string.h>

#include "passes/contraction.h"

enum { MAX_RANK = 8 };

bool map_can_be_blocked(const IrValue *value) {
    const IrType *t = value->type;
    return t->kind == IR_TYPE_TENSOR && t->elem->kind == IR_TYPE_F32 && t->rank >= 3 &&
           t->rank <= MAX_RANK && ir_type_is_static(t) && t->shape[t->rank - 1] > 0 &&
           t->shape[t->rank - 1] % MAP_BLOCK == 0;
}

const IrType *map_blocked_type(IrModule *m, const IrType *last) {
    int64_t shape[MAX_RANK + 1];
    uint32_t rank = last->rank;
    shape[0] = last->shape[0];
    shape[1] = last->shape[rank - 1] / MAP_BLOCK;
    for (uint32_t i = 1; i + 1 < rank; i++) shape[i + 1] = last->shape[i];
    shape[rank] = MAP_BLOCK;
    return ir_type_tensor(m, rank + 1, shape, last->elem);
}

bool map_is_free(const IrValue *value) {
    const IrOp *def = value->def_op;
    return def && (def->kind == IR_LINALG_FILL || def->kind == IR_TENSOR_EMPTY);
}

// ---- structured ops

// The loops of the first and the last dimension of a map.
static bool read_ends(const IrAffineMap *map, uint32_t *n, uint32_t *c) {
    uint32_t rank = map->num_results;
    return rank >= 3 && ir_affine_is_dim(map->results[0], n) &&
           ir_affine_is_dim(map->results[rank - 1], c) && *n != *c;
}

// The only dimension of an operand that loop c walks, plainly; rank: none; false: it does
// otherwise.
static bool place_of(const IrAffineMap *map, uint32_t c, uint32_t *out_place) {
    uint32_t dim;
    *out_place = map->num_results;
    for (uint32_t r = 0; r < map->num_results; r++) {
        if (!ir_affine_uses_dim(map->results[r], c)) continue;
        if (!ir_affine_is_dim(map->results[r], &dim) || *out_place != map->num_results)
            return false;
        *out_place = r;
    }
    return true;
}

static bool is_loop_index(const IrValue *value, const IrBlock *body, uint32_t loop) {
    const IrOp *op = value->def_op;
    return op && op->kind == IR_LINALG_INDEX && op->block == body &&
           ir_op_attr(op, "dim")->i == loop;
}

// A map that a body reads at the place of its own loops over images and channels.
static bool is_read_inside(const IrOp *inner, uint32_t n, uint32_t c) {
    const IrValue *map = ir_op_operand(inner, 0);
    return inner->kind == IR_TENSOR_EXTRACT && map_can_be_blocked(map) &&
           is_loop_index(ir_op_operand(inner, 1), inner->block, n) &&
           is_loop_index(ir_op_operand(inner, inner->num_operands - 1), inner->block, c);
}

static bool read_ends_inside(const IrBlock *body, const IrValue *map, uint32_t *n, uint32_t *c) {
    FOR_EACH_OP(op, body) {
        if (op->kind != IR_TENSOR_EXTRACT || ir_op_operand(op, 0) != map) continue;
        const IrOp *first = ir_op_operand(op, 1)->def_op,
                   *last = ir_op_operand(op, op->num_operands - 1)->def_op;
        if (!first || !last || first->kind != IR_LINALG_INDEX || last->kind != IR_LINALG_INDEX)
            return false;
        *n = (uint32_t)ir_op_attr(first, "dim")->i;
        *c = (uint32_t)ir_op_attr(last, "dim")->i;
        return *n != *c;
    }
    return false;
}

static bool find_ends(IrModule *m, const IrOp *op, const IrValue *map, uint32_t *n, uint32_t *c) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        bool is_it = ir_op_operand(op, i) == map ||
                     (i >= op->segments[0] && ir_op_result((IrOp *)op, 0) == map);
        if (is_it) return read_ends(ir_linalg_map(m, op, i), n, c);
    }
    return op->num_regions > 0 && read_ends_inside(ir_op_block(op, 0), map, n, c);
}

static bool read_body(const IrOp *op, uint32_t n, uint32_t c, MapOp *r) {
    if (op->num_regions == 0 || op->kind != IR_LINALG_GENERIC) return true; // a named op
    FOR_EACH_OP(inner, ir_op_block(op, 0)) {
        if (inner->num_regions > 0) return false;
        if (inner->kind != IR_TENSOR_EXTRACT || !is_read_inside(inner, n, c)) continue;
        if (r->num_inside == MAP_MAX_INSIDE) return false;
        r->inside[r->num_inside++] = ir_op_operand(inner, 0);
    }
    return true;
}

static bool read_generic(IrModule *m, const IrOp *op, const IrValue *map, MapOp *r) {
    uint32_t n, c, place, dim;
    const IrAttr *form = ir_op_attr(op, "ingot.contract");
    if (!(ir_op_info(op->kind)->traits & IR_LINALG) || op->kind == IR_LINALG_FILL ||
        op->num_results != 1 || op->num_operands > MAP_MAX_OPERANDS ||
        ir_linalg_num_loops(op) >= MAX_RANK || (form && !contraction_is(op, "window")) ||
        !find_ends(m, op, map, &n, &c))
        return false;
    r->kind = MAP_OP_GENERIC;
    r->channel = c;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        const IrAffineMap *at = ir_linalg_map(m, op, i);
        if (at->num_results > MAX_RANK || !place_of(at, c, &place)) return false;
        if (place < at->num_results &&
            (!ir_type_is_static(value->type) || value->type->shape[place] % MAP_BLOCK != 0 ||
             value->type->rank >= MAX_RANK))
            return false;
        bool is_member = map_can_be_blocked(value) && place + 1 == at->num_results &&
                         ir_affine_is_dim(at->results[0], &dim) && dim == n;
        if (is_member && i >= op->segments[0]) r->has_result = true;
        if (is_member) r->members |= 1u << i;
    }
    return read_body(op, n, c, r);
}

// ---- slices and reshapes

static bool read_slice(IrModule *m, const IrOp *op, MapOp *r) {
    bool is_insert = op->kind == IR_TENSOR_INSERT_SLICE;
    if ((!is_insert && op->kind != IR_TENSOR_EXTRACT_SLICE) ||
        op->num_operands != (is_insert ? 2 : 1))
        return false;
    const IrType *source = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    if (source->rank != to->rank || !ir_type_is_static(source) || !ir_type_is_static(to))
        return false;
    uint32_t last = to->rank - 1;
    int64_t at = ir_op_attr(op, "static_offsets")->values[last];
    int64_t size = ir_op_attr(op, "static_sizes")->values[last];
    if (at % MAP_BLOCK || size % MAP_BLOCK || ir_op_attr(op, "static_strides")->values[last] != 1) {
        r->why = arena_printf(
            &m->arena, "%lld channels are %s at channel %lld, which is inside a block of %d",
            (long long)size, is_insert ? "put" : "taken", (long long)at, MAP_BLOCK);
        if (at % MAP_BLOCK == 0)
            r->why = arena_printf(&m->arena, "%lld channels of it are no whole blocks of %d",
                                  (long long)size, MAP_BLOCK);
        return false;
    }
    r->kind = MAP_OP_SLICE;
    r->members = is_insert ? 3 : 1;
    r->has_result = true;
    return true;
}

// Joins or splits dimensions between the first and the last; or [n, 1, 1, c] is read as [n, c].
static bool read_reshape(const IrOp *op, MapOp *r) {
    bool is_collapse = op->kind == IR_TENSOR_COLLAPSE_SHAPE;
    if (!is_collapse && op->kind != IR_TENSOR_EXPAND_SHAPE) return false;
    const IrType *from = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    if (!ir_type_is_static(from) || !ir_type_is_static(to)) return false;
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    size_t num = groups->num_elems;
    bool keeps_ends = num >= 3 && groups->elems[0]->num_elems == 1 &&
                      groups->elems[num - 1]->num_elems == 1 &&
                      MAX(from->rank, to->rank) < MAX_RANK;
    bool flattens = is_collapse && to->rank == 2 && from->shape[0] == to->shape[0] &&
                    from->shape[from->rank - 1] == to->shape[1];
    if (!keeps_ends && !flattens) return false;
    r->kind = MAP_OP_RESHAPE;
    r->members = 1;
    r->has_result = keeps_ends;
    return true;
}

// Can all members be in blocks, and is map one of them?
static bool fits(const MapOp *r, const IrOp *op, const IrValue *map) {
    bool has = r->has_result && map->def_op == op;
    if (r->has_result && !map_can_be_blocked(&op->results[0])) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (!(r->members >> i & 1)) continue;
        if (!map_can_be_blocked(ir_op_operand(op, i))) return false;
        has |= ir_op_operand(op, i) == map;
    }
    for (uint32_t i = 0; i < r->num_inside; i++) has |= r->inside[i] == map;
    return has;
}

MapOp map_op_read(IrModule *m, IrOp *op, const IrValue *map) {
    MapOp r = {.kind = MAP_OP_NONE};
    if (!map_can_be_blocked(map) || ir_op_attr(op, "ingot.relayout")) return r;
    if (!read_slice(m, op, &r) && !read_reshape(op, &r)) {
        const char *why = r.why;
        r = (MapOp){.kind = MAP_OP_NONE};
        if (!read_generic(m, op, map, &r)) return (MapOp){.kind = MAP_OP_NONE, .why = why};
    }
    return fits(&r, op, map) ? r : (MapOp){.kind = MAP_OP_NONE};
}

// ---- sets

void map_set_init(IrModule *m, IrOp *func, MapSet *out_set) {
    uint32_t num = m->num_values;
    *out_set = (MapSet){.m = m, .body = ir_func_body(func), .num = num};
    out_set->is_map = ARENA_ARRAY(&m->arena, bool, num);
    out_set->parent = ARENA_ARRAY(&m->arena, uint32_t, num);
    out_set->todo = ARENA_ARRAY(&m->arena, const IrValue *, num);
    for (uint32_t i = 0; i < num; i++) out_set->parent[i] = i;
}

uint32_t map_set_root(MapSet *set, const IrValue *map) {
    uint32_t v = map->index, *parent = set->parent;
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

bool map_set_has(const MapSet *set, const IrValue *value) {
    return value->index < set->num && set->is_map[value->index];
}

static void mark(MapSet *set, const IrValue *map, const IrValue *with) {
    if (map_is_free(map)) return;
    uint32_t a = map_set_root(set, map), b = map_set_root(set, with);
    set->parent[MAX(a, b)] = MIN(a, b);
    if (set->is_map[map->index]) return;
    set->is_map[map->index] = true;
    set->todo[set->num_todo++] = map;
}

static void spread_by(MapSet *set, IrOp *op, const IrValue *map) {
    while (op && op->block != set->body) op = ir_op_parent(op);
    if (!op) return;
    MapOp r = map_op_read(set->m, op, map);
    if (r.kind == MAP_OP_NONE) return;
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (r.members >> i & 1) mark(set, ir_op_operand(op, i), map);
    for (uint32_t i = 0; i < r.num_inside; i++) mark(set, r.inside[i], map);
    if (r.has_result) mark(set, ir_op_result(op, 0), map);
}

void map_set_add(MapSet *set, const IrValue *map) {
    mark(set, map, map);
    while (set->num_todo > 0) {
        const IrValue *next = set->todo[--set->num_todo];
        if (!map_can_be_blocked(next)) continue;
        if (next->def_op) spread_by(set, next->def_op, next);
        FOR_EACH_USE(use, next) spread_by(set, use->owner, next);
    }
}

// ---- relayouts

static IrValue *permute(Builder *b, IrValue *from, const IrType *type, const uint32_t *source,
                        const char *to) {
    static const char iterators[] = "ppppppppp";
    IrModule *m = b->m;
    uint32_t rank = type->rank;
    IrValue *out = build_empty(b, type);
    const IrAffineMap *maps[] = {ir_affine_select(m, rank, rank, source),
                                 ir_affine_identity(m, rank)};
    Builder body;
    IrOp *op = build_generic(b, 1, &from, 1, &out, maps, iterators + MAX_RANK + 1 - rank, &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    ir_op_set_attr(m, op, "ingot.relayout", ir_attr_string(m, to));
    return ir_op_result(op, 0);
}

static void split_groups(uint32_t rank, uint32_t *groups) {
    for (uint32_t i = 0; i < rank; i++) groups[i] = 1;
    groups[rank - 1] = 2;
}

IrValue *map_to_blocked(Builder *b, IrValue *last) {
    const IrType *t = last->type;
    uint32_t rank = t->rank, groups[MAX_RANK], source[MAX_RANK + 1];
    int64_t shape[MAX_RANK + 1];
    memcpy(shape, t->shape, rank * sizeof *shape);
    shape[rank - 1] /= MAP_BLOCK;
    shape[rank] = MAP_BLOCK;
    split_groups(rank, groups);
    for (uint32_t i = 0; i <= rank; i++) source[i] = i == 0 || i == rank ? i : i + 1;
    source[rank - 1] = 1; // the loop over blocks
    IrValue *split =
        build_expand(b, last, ir_type_tensor(b->m, rank + 1, shape, t->elem), rank, groups);
    return permute(b, split, map_blocked_type(b->m, t), source, "blocked");
}

IrValue *map_to_last(Builder *b, IrValue *blocked) {
    const IrType *t = blocked->type;
    uint32_t rank = t->rank - 1, groups[MAX_RANK], source[MAX_RANK + 1];
    int64_t shape[MAX_RANK + 1];
    for (uint32_t i = 0; i <= rank; i++) {
        source[i] = i == 0 || i == rank ? i : i - 1;
        shape[i] = t->shape[i == 0 || i == rank ? i : i + 1];
    }
    source[1] = rank - 1;
    shape[rank - 1] = t->shape[1];
    split_groups(rank, groups);
    IrValue *last = permute(b, blocked, ir_type_tensor(b->m, rank + 1, shape, t->elem), source,
                            "channels-last");
    return build_collapse(b, last, rank, groups);
}

static bool is_permutation(const IrOp *op, const char *to) {
    const IrAttr *name = op->kind == IR_LINALG_GENERIC ? ir_op_attr(op, "ingot.relayout") : NULL;
    return name && str_equal(name->str, to) && op->num_results == 1 && op->segments[0] == 1 &&
           op->results[0].type->rank > 3;
}

IrValue *map_relayout_source(const IrOp *op, bool to_blocked) {
    if (to_blocked) {
        const IrOp *split = is_permutation(op, "blocked") ? ir_op_operand(op, 0)->def_op : NULL;
        return split && split->kind == IR_TENSOR_EXPAND_SHAPE ? ir_op_operand(split, 0) : NULL;
    }
    const IrOp *def = op->kind == IR_TENSOR_COLLAPSE_SHAPE ? ir_op_operand(op, 0)->def_op : NULL;
    return def && is_permutation(def, "channels-last") ? ir_op_operand(def, 0) : NULL;
}
