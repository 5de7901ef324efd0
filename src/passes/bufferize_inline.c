// Values of a kernel that would need a buffer as large as a weight are computed where they are
// read: the body of an elementwise producer moves into its readers, through reshapes and slices in
// between.
//
//   %c = generic {(n, b, h, j)} ins(%q) { nibble h of the byte }  -> tensor<48x6x2x16xi8>
//   %d = collapse_shape %c [[0], [1], [2, 3]]
//   %t = generic ins(%d) {map (d0 * 16 + d3, d1, d2 * 4 + d4)} { yield }
// becomes
//   %t = generic ins(%q) {map (d0 * 16 + d3, d1, d2 * 4 + d4)} { nibble 0 of the byte }
//
// Exact: each element is computed by the same ops.
#include <string.h>

#include "passes/bufferize.h"

enum { MAX_LOOPS = 12, MAX_READERS = 4 };

// ---------------------------------------------------------------- index arithmetic

// Simplifies divisions whose result the loop ranges fix.
static const IrAffineExpr *simplify(IrModule *m, const IrAffineExpr *expr, const int64_t *ranges) {
    if (expr->kind == IR_AFFINE_CONST || expr->kind == IR_AFFINE_DIM ||
        expr->kind == IR_AFFINE_SYMBOL)
        return expr;
    const IrAffineExpr *lhs = simplify(m, expr->lhs, ranges), *rhs = simplify(m, expr->rhs, ranges);
    bool divides = expr->kind == IR_AFFINE_MOD || expr->kind == IR_AFFINE_FLOORDIV;
    if (divides && rhs->kind == IR_AFFINE_CONST && rhs->value > 0) {
        int64_t lo, hi, by = rhs->value;
        ir_affine_range(lhs, ranges, &lo, &hi);
        int64_t quotient = lo >= 0 ? lo / by : (lo - by + 1) / by;
        if (hi < (quotient + 1) * by) {
            if (expr->kind == IR_AFFINE_FLOORDIV) return ir_affine_const(m, quotient);
            return ir_affine_binary(m, IR_AFFINE_ADD, lhs, ir_affine_const(m, -quotient * by));
        }
    }
    return ir_affine_binary(m, expr->kind, lhs, rhs);
}

static const IrAffineExpr *scaled(IrModule *m, const IrAffineExpr *expr, int64_t by) {
    return ir_affine_binary(m, IR_AFFINE_MUL, expr, ir_affine_const(m, by));
}

// Indices into the source of a view, from indices into its result.
static void through_collapse(IrModule *m, const IrOp *op, const IrAffineExpr **indices) {
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    const IrType *source = ir_op_operand(op, 0)->type;
    const IrAffineExpr *out[BUF_MAX_RANK];
    uint32_t start = 0;
    for (uint32_t g = 0; g < groups->num_elems; g++) {
        uint32_t end = start + (uint32_t)groups->elems[g]->num_elems;
        int64_t inner = 1;
        for (uint32_t d = end; d-- > start;) {
            out[d] = ir_affine_binary(m, IR_AFFINE_FLOORDIV, indices[g], ir_affine_const(m, inner));
            if (d > start)
                out[d] = ir_affine_binary(m, IR_AFFINE_MOD, out[d],
                                          ir_affine_const(m, source->shape[d]));
            inner *= source->shape[d];
        }
        start = end;
    }
    memcpy(indices, out, source->rank * sizeof *out);
}

static void through_expand(IrModule *m, const IrOp *op, const IrAffineExpr **indices) {
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    const IrType *result = op->results[0].type;
    uint32_t start = 0;
    for (uint32_t g = 0; g < groups->num_elems; g++) {
        uint32_t end = start + (uint32_t)groups->elems[g]->num_elems;
        const IrAffineExpr *sum = ir_affine_const(m, 0);
        int64_t inner = 1;
        for (uint32_t d = end; d-- > start;) {
            sum = ir_affine_binary(m, IR_AFFINE_ADD, scaled(m, indices[d], inner), sum);
            inner *= result->shape[d];
        }
        indices[g] = sum;
        start = end;
    }
}

static bool through_slice(IrModule *m, const IrOp *op, const IrAffineExpr **indices) {
    const IrAttr *offsets = ir_op_attr(op, "static_offsets"),
                 *sizes = ir_op_attr(op, "static_sizes"),
                 *strides = ir_op_attr(op, "static_strides");
    const IrAffineExpr *out[BUF_MAX_RANK];
    bool kept[BUF_MAX_RANK];
    uint32_t rank = ir_op_operand(op, 0)->type->rank, next = 0;
    buf_kept_dims(sizes->values, rank, op->results[0].type, kept);
    for (uint32_t d = 0; d < rank; d++) {
        if (offsets->values[d] == IR_DYNAMIC || strides->values[d] == IR_DYNAMIC) return false;
        const IrAffineExpr *at = ir_affine_const(m, offsets->values[d]);
        out[d] = kept[d] ? ir_affine_binary(m, IR_AFFINE_ADD,
                                            scaled(m, indices[next++], strides->values[d]), at)
                         : at;
    }
    memcpy(indices, out, rank * sizeof *out);
    return true;
}

// ---------------------------------------------------------------- producers

// One elementwise result at its own place, from tensors and scalars.
static bool is_producer(IrModule *m, const IrOp *op) {
    if (op->kind != IR_LINALG_GENERIC || op->num_results != 1 || op->segments[1] != 1) return false;
    uint32_t num_loops = ir_linalg_num_loops(op);
    if (num_loops > MAX_LOOPS || num_loops > BUF_MAX_RANK) return false;
    for (uint32_t i = 0; i < num_loops; i++)
        if (ir_linalg_iterator(op, i) != IR_PARALLEL) return false;
    if (!ir_affine_is_identity(ir_linalg_map(m, op, op->segments[0]))) return false;
    const IrBlock *body = ir_op_block(op, 0);
    if (!ir_value_is_unused(body->args[op->segments[0]])) return false;
    FOR_EACH_OP(inner, body) if (inner->num_regions > 0) return false;
    return true;
}

// The producer behind a value, and the indices into its result in terms of indices into the value.
static IrOp *find_producer(IrModule *m, IrValue *value, const IrAffineExpr **indices) {
    for (;;) {
        IrOp *op = value->def_op;
        if (!op || value->type->kind != IR_TYPE_TENSOR || value->type->rank > BUF_MAX_RANK)
            return NULL;
        switch (op->kind) {
        case IR_TENSOR_COLLAPSE_SHAPE: through_collapse(m, op, indices); break;
        case IR_TENSOR_EXPAND_SHAPE: through_expand(m, op, indices); break;
        case IR_TENSOR_EXTRACT_SLICE:
            if (!through_slice(m, op, indices)) return NULL;
            break;
        default: return is_producer(m, op) ? op : NULL;
        }
        value = ir_op_operand(op, 0);
        if (!ir_type_is_static(value->type) || value->type->rank > BUF_MAX_RANK) return NULL;
    }
}

static bool is_returned(const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *user = use->owner;
        if (user->kind == IR_FUNC_RETURN) return true;
        bool is_view = user->kind == IR_TENSOR_COLLAPSE_SHAPE ||
                       user->kind == IR_TENSOR_EXPAND_SHAPE ||
                       user->kind == IR_TENSOR_EXTRACT_SLICE;
        if (is_view && is_returned(&user->results[0])) return true;
    }
    return false;
}

static uint32_t count_readers(const IrValue *value) {
    uint32_t num = 0;
    FOR_EACH_USE(use, value) {
        const IrOp *user = use->owner;
        bool is_view = user->kind == IR_TENSOR_COLLAPSE_SHAPE ||
                       user->kind == IR_TENSOR_EXPAND_SHAPE ||
                       user->kind == IR_TENSOR_EXTRACT_SLICE;
        num += is_view ? count_readers(&user->results[0]) : 1;
    }
    return num;
}

// ---------------------------------------------------------------- rewriting

// An index expression over the reader's loops as a value in its body.
static IrValue *index_value(Builder *b, const IrAffineExpr *expr, uint32_t num_loops) {
    IrModule *m = b->m;
    uint32_t dim;
    if (expr->kind == IR_AFFINE_CONST) return build_index(b, expr->value);
    if (ir_affine_is_dim(expr, &dim)) return build_loop_index(b, dim);
    IrValue *operands[MAX_LOOPS];
    const IrAffineExpr *renumbered[MAX_LOOPS];
    uint32_t num = 0;
    for (uint32_t d = 0; d < num_loops; d++) {
        renumbered[d] = ir_affine_dim(m, num);
        if (ir_affine_uses_dim(expr, d)) operands[num++] = build_loop_index(b, d);
    }
    expr = ir_affine_replace(m, expr, renumbered, NULL);
    const IrType *index = ir_type_index(m);
    IrNamedAttr attr = {ir_intern(m, "map"), ir_attr_map(m, ir_affine_map(m, num, 0, 1, &expr))};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_AFFINE_APPLY,
                                                     .num_operands = num,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &index,
                                                     .num_attrs = 1,
                                                     .attrs = &attr}),
                        0);
}

// Copies the producer's body in front of the reader's; returns what it yields.
static IrValue *inline_body(Builder *b, IrOp *producer, IrValueMap *map,
                            const IrAffineExpr *const *indices, uint32_t num_loops) {
    IrBlock *from = ir_op_block(producer, 0);
    FOR_EACH_OP(op, from) {
        if (op == ir_block_terminator(from)) break;
        if (op->kind == IR_LINALG_INDEX) {
            const IrAffineExpr *expr = indices[ir_op_attr(op, "dim")->i];
            ir_value_map_set(map, ir_op_result(op, 0), index_value(b, expr, num_loops));
        } else {
            ir_block_append(b->block, ir_op_clone(b->m, op, map));
        }
    }
    return ir_value_map_get(map, ir_op_operand(ir_block_terminator(from), 0));
}

// The reader with operand `at` replaced by the producer's inputs.
static IrOp *merge(IrModule *m, IrOp *reader, uint32_t at, IrOp *producer,
                   const IrAffineExpr *const *indices, const int64_t *ranges) {
    uint32_t num_loops = ir_linalg_num_loops(reader), num_ins = 0;
    uint32_t num_reader = reader->num_operands, num_producer = producer->segments[0];
    IrValue **operands = ARENA_ARRAY(&m->arena, IrValue *, num_reader + num_producer);
    const IrAttr **maps = ARENA_ARRAY(&m->arena, const IrAttr *, num_reader + num_producer);
    for (uint32_t i = 0; i < reader->segments[0]; i++) {
        if (i == at) continue;
        operands[num_ins] = ir_op_operand(reader, i);
        maps[num_ins++] = ir_attr_map(m, ir_linalg_map(m, reader, i));
    }
    for (uint32_t i = 0; i < num_producer; i++) {
        const IrAffineMap *map = ir_linalg_map(m, producer, i);
        const IrAffineExpr *results[BUF_MAX_RANK];
        for (uint32_t r = 0; r < map->num_results; r++)
            results[r] = simplify(m, ir_affine_replace(m, map->results[r], indices, NULL), ranges);
        operands[num_ins] = ir_op_operand(producer, i);
        maps[num_ins++] = ir_attr_map(m, ir_affine_map(m, num_loops, 0, map->num_results, results));
    }
    uint32_t num = num_ins;
    const IrType **types = ARENA_ARRAY(&m->arena, const IrType *, reader->num_results);
    for (uint32_t i = reader->segments[0]; i < num_reader; i++) {
        operands[num] = ir_op_operand(reader, i);
        maps[num++] = ir_attr_map(m, ir_linalg_map(m, reader, i));
    }
    for (uint32_t i = 0; i < reader->num_results; i++) types[i] = reader->results[i].type;
    const IrLoc *locs[] = {reader->loc, producer->loc};
    IrOp *merged = ir_op_create(m, &(IrOpSpec){.kind = IR_LINALG_GENERIC,
                                               .loc = ir_loc_fused(m, "bufferize", 2, locs),
                                               .num_operands = num,
                                               .operands = operands,
                                               .num_results = reader->num_results,
                                               .result_types = types,
                                               .num_attrs = reader->num_attrs,
                                               .attrs = reader->attrs,
                                               .num_regions = 1,
                                               .segments = {num_ins, reader->segments[1]}});
    ir_op_set_attr(m, merged, "indexing_maps", ir_attr_array(m, num, maps));
    ir_op_insert_before(merged, reader);

    IrBlock *body = ir_region_add_block(m, &merged->regions[0]), *old = ir_op_block(reader, 0);
    for (uint32_t i = 0; i < num; i++) ir_block_add_arg(m, body, ir_type_elem(operands[i]->type));
    IrValueMap map;
    ir_value_map_init(&map);
    uint32_t next = 0;
    for (uint32_t i = 0; i < reader->segments[0]; i++)
        if (i != at) ir_value_map_set(&map, old->args[i], body->args[next++]);
    for (uint32_t i = 0; i < num_producer; i++)
        ir_value_map_set(&map, ir_op_block(producer, 0)->args[i], body->args[next++]);
    for (uint32_t i = reader->segments[0]; i < num_reader; i++)
        ir_value_map_set(&map, old->args[i], body->args[next++]);
    Builder b = build_at_end(m, body, producer->loc);
    ir_value_map_set(&map, old->args[at], inline_body(&b, producer, &map, indices, num_loops));
    FOR_EACH_OP(op, old) ir_block_append(body, ir_op_clone(m, op, &map));
    ir_value_map_deinit(&map);
    for (uint32_t i = 0; i < reader->num_results; i++)
        ir_value_replace_all(&reader->results[i], &merged->results[i]);
    ir_op_erase(m, reader);
    return merged;
}

// One producer into one operand of the reader; NULL if there is none to take.
static IrOp *take_producer(IrModule *m, IrOp *reader) {
    uint32_t num_loops = ir_linalg_num_loops(reader);
    if (num_loops > MAX_LOOPS) return NULL;
    int64_t ranges[MAX_LOOPS];
    ir_linalg_loop_ranges(m, reader, ranges);
    for (uint32_t d = 0; d < num_loops; d++)
        if (ranges[d] == IR_DYNAMIC || ranges[d] == 0) return NULL;
    for (uint32_t i = 0; i < reader->segments[0]; i++) {
        IrValue *value = ir_op_operand(reader, i);
        if (value->type->kind != IR_TYPE_TENSOR || value->type->rank > BUF_MAX_RANK) continue;
        const IrAffineMap *map = ir_linalg_map(m, reader, i);
        const IrAffineExpr *indices[BUF_MAX_RANK];
        for (uint32_t r = 0; r < map->num_results; r++) indices[r] = map->results[r];
        IrOp *producer = find_producer(m, value, indices);
        if (!producer || producer->block != reader->block) continue;
        IrValue *result = ir_op_result(producer, 0);
        if (is_returned(result) || count_readers(result) > MAX_READERS ||
            reader->num_operands + producer->num_operands > BUF_MAX_OPERANDS / 2)
            continue;
        for (uint32_t d = 0; d < result->type->rank; d++)
            indices[d] = simplify(m, indices[d], ranges);
        return merge(m, reader, i, producer, indices, ranges);
    }
    return NULL;
}

static void erase_dead(IrModule *m, IrBlock *block) {
    for (IrOp *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        bool is_pure =
            (ir_op_info(op->kind)->traits & (IR_PURE | IR_LINALG)) && op->num_results > 0;
        for (uint32_t i = 0; i < op->num_results; i++) is_pure &= !op->results[i].first_use;
        if (is_pure) ir_op_erase(m, op);
    }
}

void buf_inline_producers(IrModule *m, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    for (IrOp *op = body->first; op; op = op->next) {
        if (op->kind != IR_LINALG_GENERIC) continue;
        for (IrOp *merged = op; merged; merged = take_producer(m, op)) op = merged;
    }
    erase_dead(m, body);
}
