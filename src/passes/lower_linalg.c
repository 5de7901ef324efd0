// lower-linalg: the pass and the walk over a kernel's body; see lower_linalg.h.
//
//   func @k(%x: memref<512x576xf32>, %y: ..., %tile_begin: index, %tile_end: index) {
//     %s = memref.alloc() : memref<512xf32>
//     linalg.generic (sum of squares of a row) ins(%x) outs(%s)
//     linalg.generic (scale) ins(%x, %s) outs(%y)
// becomes
//     %s = memref.alloca() : memref<f32>
//     scf.for %r = %tile_begin to %tile_end step %c1 {
//       %acc = scf.for %j = ... iter_args(vector<16xf32>) { vector.load %x[%r, %j] ... }
//       scf.for %j = ... { vector.load %x[%r, %j] ... vector.store %y[%r, %j] }
//
// Needs: buffers with static shapes, the calling convention of bufferize.
// Keeps: everything but the order of float sums (lower_linalg.h).
#include "passes/lower_linalg.h"

#include <stdlib.h>
#include <string.h>

#include "passes/bufferize.h"
#include "passes/mutate.h"
#include "passes/pass.h"

uint64_t kernel_max_stack_bytes(const IrOp *func) {
    const IrAttr *kernel = ir_op_attr(func, "ingot.kernel");
    bool is_init = kernel && kernel->kind == IR_ATTR_STRING && str_equal(kernel->str, "init");
    return is_init ? INIT_MAX_STACK_BYTES : 256 << 10;
}

static Status refuse(LowerLinalg *ll, const IrOp *op, DiagCode code, const char *why) {
    return diag_error(ll->sink, code, ir_loc_span(op->loc), "lower-linalg: %s in @%s: %s",
                      ir_op_info(op->kind)->name, ir_symbol_name(ll->func), why);
}

// ---------------------------------------------------------------- one form for all ops

// memref.copy as a generic of identity maps.
static void copy_to_generic(IrModule *m, IrOp *copy) {
    Builder b = build_before(m, copy), body;
    IrValue *from = ir_op_operand(copy, 0), *to = ir_op_operand(copy, 1);
    uint32_t rank = to->type->rank;
    const IrAffineMap *identity = ir_affine_identity(m, rank);
    const IrAffineMap *maps[] = {identity, identity};
    char iterators[LL_MAX_RANK + 1] = {0};
    memset(iterators, 'p', rank);
    build_generic(&b, 1, &from, 1, &to, maps, iterators, &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    ir_op_erase(m, copy);
}

static void generalize_all(IrModule *m, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        if (op->kind == IR_MEMREF_COPY && ir_op_operand(op, 1)->type->rank <= LL_MAX_LOOPS)
            copy_to_generic(m, op);
        else if (ir_op_info(op->kind)->traits & IR_LINALG)
            ir_linalg_generalize(m, op);
        else
            for (uint32_t r = 0; r < op->num_regions; r++)
                FOR_EACH_BLOCK(inner, &op->regions[r]) generalize_all(m, inner);
    }
}

// ---------------------------------------------------------------- buffers of the kernel

// An allocation becomes a stack buffer at the top of the function, without its rows if it is
// shrunk.
static Status emit_alloc(LowerLinalg *ll, IrOp *op) {
    IrValue *old = ir_op_result(op, 0);
    const IrType *type = old->type;
    if (!ir_type_is_static(type)) return refuse(ll, op, DIAG_P0005, "of unknown size");
    uint32_t skip = ll->is_shrunk[old->index] ? 1 : 0;
    type = ir_type_memref(ll->m, type->rank - skip, type->shape + skip, type->elem);
    IrNamedAttr attrs[2] = {{ir_intern(ll->m, "alignment"), ir_attr_i64(ll->m, 64)}};
    uint32_t num_attrs = 1;
    const IrAttr *boundary = ir_op_attr(op, "ingot.boundary");
    if (boundary) attrs[num_attrs++] = (IrNamedAttr){ir_intern(ll->m, "ingot.boundary"), boundary};
    IrOp *alloca = ll_prologue_op(ll, &(IrOpSpec){.kind = IR_MEMREF_ALLOCA,
                                                  .loc = op->loc,
                                                  .num_results = 1,
                                                  .result_types = &type,
                                                  .num_attrs = num_attrs,
                                                  .attrs = attrs});
    ir_value_map_set(&ll->map, old, ir_op_result(alloca, 0));
    return STATUS_OK;
}

// Is the first dimension of a slice dropped from its type?
static bool drops_first_dim(const IrOp *subview) {
    bool kept[LL_MAX_RANK];
    const IrType *source = ir_op_operand(subview, 0)->type;
    buf_kept_dims(ir_op_attr(subview, "static_sizes")->values, source->rank,
                  subview->results[0].type, kept);
    return !kept[0];
}

static IrValue *shrunk_subview(LowerLinalg *ll, const IrOp *op, IrValue *source, bool drops_row) {
    static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
    IrModule *m = ll->m;
    IrOpSpec spec = {.kind = IR_MEMREF_SUBVIEW, .loc = op->loc, .num_results = 1, .num_attrs = 3};
    IrValue *operands[1 + 3 * LL_MAX_RANK] = {source};
    IrNamedAttr attrs[3];
    spec.segments[0] = spec.num_operands = 1;
    uint32_t next = 1;
    for (uint32_t i = 0; i < 3; i++) {
        const IrAttr *old = ir_op_attr(op, names[i]);
        for (uint32_t d = 0; d < old->num_values; d++) {
            if (old->values[d] != IR_DYNAMIC) continue;
            IrValue *operand = ir_value_map_get(&ll->map, ir_op_operand(op, next++));
            if (d == 0) continue;
            operands[spec.num_operands++] = operand;
            spec.segments[i + 1]++;
        }
        attrs[i] = (IrNamedAttr){
            ir_intern(m, names[i]),
            ir_attr_dense_array(m, ir_type_int(m, 64), old->num_values - 1, old->values + 1)};
    }
    const IrType *to = op->results[0].type;
    uint32_t skip = drops_row ? 0 : 1, rank = to->rank - skip, out = 0;
    bool kept[LL_MAX_RANK];
    int64_t strides[LL_MAX_RANK], from_strides[LL_MAX_RANK], offset;
    ir_memref_strides(source->type, from_strides, &offset);
    buf_kept_dims(ir_op_attr(op, "static_sizes")->values, source->type->rank + 1, to, kept);
    for (uint32_t d = 0; d < source->type->rank; d++) {
        int64_t at = attrs[0].attr->values[d], step = attrs[2].attr->values[d];
        if (offset == IR_DYNAMIC || at == IR_DYNAMIC || from_strides[d] == IR_DYNAMIC)
            offset = IR_DYNAMIC;
        else
            offset += at * from_strides[d];
        if (!kept[d + 1]) continue;
        bool is_known = step != IR_DYNAMIC && from_strides[d] != IR_DYNAMIC;
        strides[out++] = is_known ? step * from_strides[d] : IR_DYNAMIC;
    }
    const IrType *type =
        ir_type_memref_strided(m, rank, to->shape + skip, to->elem, strides, offset, to->space);
    spec.operands = operands;
    spec.result_types = &type;
    spec.attrs = attrs;
    return ir_op_result(build_op_full(&ll->b, &spec), 0);
}

static IrValue *shrunk_reshape(LowerLinalg *ll, const IrOp *op, IrValue *source) {
    IrModule *m = ll->m;
    const IrAttr *old = ir_op_attr(op, "reassociation");
    const IrAttr *groups[LL_MAX_RANK], *dims[LL_MAX_RANK];
    for (uint32_t g = 1; g < old->num_elems; g++) { // the first group is the row alone
        for (uint32_t i = 0; i < old->elems[g]->num_elems; i++)
            dims[i] = ir_attr_i64(m, old->elems[g]->elems[i]->i - 1);
        groups[g - 1] = ir_attr_array(m, old->elems[g]->num_elems, dims);
    }
    const IrAttr *reassociation = ir_attr_array(m, old->num_elems - 1, groups);
    const IrType *to = op->results[0].type;
    if (op->kind == IR_MEMREF_COLLAPSE_SHAPE) return buf_collapse(&ll->b, source, reassociation);
    return buf_expand(&ll->b, source, reassociation, to->rank - 1, to->shape + 1);
}

// A view of a buffer that has lost its first dimension. It has lost it too, unless it cuts out one
// row.
static void emit_shrunk_view(LowerLinalg *ll, IrOp *op) {
    IrValue *source = ll_memref(ll, ir_op_operand(op, 0)), *view = source;
    bool drops_row = false;
    if (op->kind == IR_MEMREF_SUBVIEW) {
        drops_row = drops_first_dim(op);
        view = shrunk_subview(ll, op, source, drops_row);
    } else if (op->kind != IR_MEMREF_CAST) {
        view = shrunk_reshape(ll, op, source);
    }
    ll->is_shrunk[op->results[0].index] = !drops_row;
    ir_value_map_set(&ll->map, ir_op_result(op, 0), view);
}

// Can the view be made of its source without the first dimension?
static bool keeps_first_dim(const IrOp *view) {
    const IrType *from = ir_op_operand(view, 0)->type, *to = view->results[0].type;
    if (from->rank == 0 || to->rank == 0) return false;
    if (view->kind == IR_MEMREF_CAST) return true;
    if (view->kind == IR_MEMREF_REINTERPRET_CAST) return false;
    if (view->kind == IR_MEMREF_SUBVIEW)
        return ir_op_attr(view, "static_offsets")->values[0] == 0 &&
               ir_op_attr(view, "static_strides")->values[0] == 1 && from->shape[0] == to->shape[0];
    return ir_op_attr(view, "reassociation")->elems[0]->num_elems == 1;
}

// A slice of one row, chosen at run time: of the row at hand if the accesses through it are pinned.
static bool cuts_row(const IrOp *view) {
    return view->kind == IR_MEMREF_SUBVIEW &&
           ir_op_attr(view, "static_offsets")->values[0] == IR_DYNAMIC &&
           ir_op_attr(view, "static_sizes")->values[0] == 1;
}

static bool views_keep_first_dim(const IrValue *memref) {
    FOR_EACH_USE(use, memref) {
        const IrOp *user = use->owner;
        if (!ll_is_view(user)) continue;
        if (cuts_row(user) && drops_first_dim(user)) continue;
        if (!keeps_first_dim(user) && !cuts_row(user)) return false;
        if (!views_keep_first_dim(&user->results[0])) return false;
    }
    return true;
}

static bool is_row_item(const LlItem *item, int64_t rows) {
    return item->is_loop ||
           (item->num_loops > 0 && item->is_parallel[0] && item->ranges[0] == rows);
}

static bool is_pinned_to_row(const LlAccess *access) {
    for (uint32_t i = 0; i < access->num_pins; i++)
        if (access->pins[i].loop == 0 && access->pins[i].dim == 0 &&
            access->pins[i].space == access->root)
            return true;
    return false;
}

// Which allocations need one row only: every access is to the row at hand.
static void shrink_rows(LowerLinalg *ll, const LlItem *items, uint32_t num_items, int64_t rows) {
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < num_items; i++)
            for (uint32_t a = 0; a < items[i].num_accesses; a++) {
                const LlAccess *access = &items[i].accesses[a];
                const IrOp *alloc = access->root->def_op;
                if (!alloc || access->root->type->rank == 0) continue;
                if (pass == 0) ll->is_shrunk[access->root->index] = true;
                bool stays = !is_row_item(&items[i], rows) || !is_pinned_to_row(access) ||
                             !views_keep_first_dim(access->root);
                if (pass == 1 && stays) ll->is_shrunk[access->root->index] = false;
            }
}

// ---------------------------------------------------------------- blocks

static IrValue *mapped(LowerLinalg *ll, IrValue *value) {
    return ir_value_map_get(&ll->map, value);
}

static void append_clone(LowerLinalg *ll, const IrOp *op) {
    ir_block_append(ll->b.block, ir_op_clone(ll->m, op, &ll->map));
}

Status ll_flush(LowerLinalg *ll) {
    uint32_t num = ll->num_pending;
    if (num == 0) return STATUS_OK;
    LlItem *items = arena_memdup(&ll->scratch, ll->pending, num, sizeof *items);
    LlItem **list = ARENA_ARRAY(&ll->scratch, LlItem *, num);
    for (uint32_t i = 0; i < num; i++) list[i] = &items[i];
    ll->num_pending = 0;
    return ll_emit_items(ll, list, num);
}

static bool pending_writes(const LowerLinalg *ll, const IrValue *root) {
    for (uint32_t i = 0; i < ll->num_pending; i++)
        for (uint32_t a = 0; a < ll->pending[i].num_accesses; a++)
            if (ll->pending[i].accesses[a].writes && ll->pending[i].accesses[a].root == root)
                return true;
    return false;
}

static void kill_written(LowerLinalg *ll, const IrBlock *block) {
    FOR_EACH_OP(op, block) {
        bool is_linalg = ir_op_info(op->kind)->traits & IR_LINALG;
        if (op->kind == IR_MEMREF_STORE) ll_kill(ll, ll_root(ir_op_operand(op, 1)));
        for (uint32_t i = op->segments[0]; is_linalg && i < op->num_operands; i++)
            ll_kill(ll, ll_root(ir_op_operand(op, i)));
        for (uint32_t r = 0; r < op->num_regions; r++)
            for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                kill_written(ll, inner);
    }
}

static void emit_yield(LowerLinalg *ll, const IrBlock *block) {
    const IrOp *yield = ir_block_terminator(block);
    IrValue *values[LL_MAX_OPERANDS];
    for (uint32_t i = 0; i < yield->num_operands; i++)
        values[i] = mapped(ll, ir_op_operand(yield, i));
    build_yield(&ll->b, IR_SCF_YIELD, yield->num_operands, values);
}

static Status emit_for(LowerLinalg *ll, IrOp *op) {
    if (op->num_results > LL_MAX_OPERANDS) return refuse(ll, op, DIAG_P0005, "carries too much");
    if (ir_op_attr(op, "unsignedCmp"))
        return refuse(ll, op, DIAG_P0005, "counts in unsigned numbers");
    IrValue *operands[3 + LL_MAX_OPERANDS];
    for (uint32_t i = 0; i < op->num_operands; i++) operands[i] = mapped(ll, ir_op_operand(op, i));
    IrBlock *from = ir_op_block(op, 0);
    kill_written(ll, from);
    Builder inner, outer = ll->b;
    IrOp *loop = build_for(&ll->b, operands[0], operands[1], operands[2], op->num_results,
                           operands + 3, &inner);
    for (uint32_t i = 0; i < from->num_args; i++)
        ir_value_map_set(&ll->map, from->args[i], ir_op_block(loop, 0)->args[i]);
    ll->b = inner;
    uint32_t mark = ll_enter(ll);
    TRY(ll_emit_block(ll, from));
    emit_yield(ll, from);
    ll_leave(ll, mark);
    ll->b = outer;
    for (uint32_t i = 0; i < op->num_results; i++)
        ir_value_map_set(&ll->map, ir_op_result(op, i), ir_op_result(loop, i));
    return STATUS_OK;
}

static Status emit_if(LowerLinalg *ll, IrOp *op) {
    if (op->num_results > LL_MAX_OPERANDS) return refuse(ll, op, DIAG_P0005, "has many results");
    const IrType *types[LL_MAX_OPERANDS];
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = op->results[i].type;
    IrValue *cond = mapped(ll, ir_op_operand(op, 0));
    IrOp *branch = build_op_full(&ll->b, &(IrOpSpec){.kind = IR_SCF_IF,
                                                     .num_operands = 1,
                                                     .operands = &cond,
                                                     .num_results = op->num_results,
                                                     .result_types = types,
                                                     .num_regions = op->num_regions,
                                                     .segments = {1}});
    Builder outer = ll->b;
    for (uint32_t r = 0; r < op->num_regions; r++) {
        if (!op->regions[r].first) continue;
        ll->b = build_at_end(ll->m, ir_region_add_block(ll->m, &branch->regions[r]), op->loc);
        uint32_t mark = ll_enter(ll);
        TRY(ll_emit_block(ll, op->regions[r].first));
        emit_yield(ll, op->regions[r].first);
        ll_leave(ll, mark);
        kill_written(ll, op->regions[r].first);
    }
    ll->b = outer;
    for (uint32_t i = 0; i < op->num_results; i++)
        ir_value_map_set(&ll->map, ir_op_result(op, i), ir_op_result(branch, i));
    return STATUS_OK;
}

static Status collect(LowerLinalg *ll, IrOp *op) {
    ARRAY_RESERVE(ll->pending, ll->num_pending, ll->pending_capacity);
    TRY(ll_make_item(ll, op, &ll->pending[ll->num_pending]));
    ll->num_pending++;
    return STATUS_OK;
}

static void emit_view(LowerLinalg *ll, IrOp *op) {
    if (ll->is_shrunk[ir_op_operand(op, 0)->index])
        emit_shrunk_view(ll, op);
    else
        append_clone(ll, op);
}

static Status emit_block_op(LowerLinalg *ll, IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (type->kind == IR_TYPE_TENSOR) return refuse(ll, op, DIAG_P0005, "works on tensors");
        if (type->kind == IR_TYPE_MEMREF && type->rank > LL_MAX_RANK)
            return refuse(ll, op, DIAG_P0005, "has more than 16 dimensions");
    }
    switch (op->kind) {
    case IR_LINALG_GENERIC: return collect(ll, op);
    case IR_MEMREF_ALLOC:
    case IR_MEMREF_ALLOCA: return emit_alloc(ll, op);
    case IR_ARITH_CONSTANT:
        ir_value_map_set(&ll->map, ir_op_result(op, 0),
                         ll_constant(ll, ir_op_attr(op, "value"), op->results[0].type));
        return STATUS_OK;
    case IR_MEMREF_LOAD: {
        IrValue *root = (IrValue *)ll_root(ir_op_operand(op, 0)), *indices[LL_MAX_RANK];
        if (pending_writes(ll, root)) TRY(ll_flush(ll));
        for (uint32_t i = 1; i < op->num_operands; i++)
            indices[i - 1] = mapped(ll, ir_op_operand(op, i));
        ir_value_map_set(&ll->map, ir_op_result(op, 0),
                         ll_load(ll, ir_op_operand(op, 0), indices, 1));
        return STATUS_OK;
    }
    case IR_MEMREF_STORE: {
        IrValue *indices[LL_MAX_RANK];
        TRY(ll_flush(ll));
        for (uint32_t i = 2; i < op->num_operands; i++)
            indices[i - 2] = mapped(ll, ir_op_operand(op, i));
        ll_store(ll, mapped(ll, ir_op_operand(op, 0)), ir_op_operand(op, 1), indices, 1);
        return STATUS_OK;
    }
    case IR_SCF_FOR: TRY(ll_flush(ll)); return emit_for(ll, op);
    case IR_SCF_IF: TRY(ll_flush(ll)); return emit_if(ll, op);
    default: break;
    }
    if (ll_is_view(op)) {
        emit_view(ll, op);
        return STATUS_OK;
    }
    bool is_pure = ir_op_info(op->kind)->traits & IR_PURE;
    if ((!is_pure && op->kind != IR_CF_ASSERT) || op->num_regions > 0)
        return refuse(ll, op, DIAG_P0005, "no lowering inside a kernel");
    append_clone(ll, op);
    return STATUS_OK;
}

Status ll_emit_block(LowerLinalg *ll, IrBlock *block) {
    FOR_EACH_OP(op, block) {
        if (op->kind == IR_SCF_YIELD) break;
        ll->b.loc = op->loc;
        TRY(emit_block_op(ll, op));
    }
    return ll_flush(ll);
}

// ---------------------------------------------------------------- kernels

// A kernel's body, taken out of the function.
typedef struct OldBody {
    IrOp **ops;
    uint32_t num;
} OldBody;

// How many rows the outputs have, IR_DYNAMIC if that is not one number.
static int64_t count_rows(const LlItem *items, uint32_t num) {
    int64_t rows = IR_DYNAMIC;
    for (uint32_t i = 0; i < num; i++) {
        if (items[i].is_loop) continue;
        for (uint32_t a = 0; a < items[i].num_accesses; a++) {
            const LlAccess *access = &items[i].accesses[a];
            if (!access->writes || access->root->def_op || access->root->type->rank == 0) continue;
            if (items[i].num_loops == 0) return IR_DYNAMIC;
            if (rows != IR_DYNAMIC && rows != items[i].ranges[0]) return IR_DYNAMIC;
            rows = items[i].ranges[0];
        }
    }
    if (rows != IR_DYNAMIC) return rows;
    for (uint32_t i = 0; i < num; i++)
        if (!items[i].is_loop && items[i].num_loops > 0) return items[i].ranges[0];
    return num > 0 ? 0 : IR_DYNAMIC; // nothing but loops over rows
}

// A loop over rows: from 0 by 1.
static bool is_row_loop(const IrOp *op) {
    int64_t lo, step;
    return op->num_results == 0 && ir_op_operand(op, 0)->type->kind == IR_TYPE_INDEX &&
           ir_value_constant_int(ir_op_operand(op, 0), &lo) && lo == 0 &&
           ir_value_constant_int(ir_op_operand(op, 2), &step) && step == 1;
}

// Sorts the items into those done once by every worker, before, and those done row by row. False:
// the op in *out_culprit stands against it.
static bool split_rows(LlItem *items, uint32_t num, int64_t rows, LlItem **out_before,
                       uint32_t *out_num_before, LlItem **out_rows, uint32_t *out_num_rows,
                       const IrOp **out_culprit) {
    *out_num_before = *out_num_rows = 0;
    for (uint32_t i = 0; i < num; i++) {
        *out_culprit = items[i].op;
        if (is_row_item(&items[i], rows)) {
            for (uint32_t j = 0; j < *out_num_rows; j++)
                if (!ll_share_loop(out_rows[j], &items[i])) return false;
            out_rows[(*out_num_rows)++] = &items[i];
            continue;
        }
        for (uint32_t j = 0; j < *out_num_rows; j++)
            if (ll_depend(out_rows[j], &items[i])) return false;
        for (uint32_t a = 0; a < items[i].num_accesses; a++)
            if (items[i].accesses[a].writes && !items[i].accesses[a].root->def_op) return false;
        out_before[(*out_num_before)++] = &items[i];
    }
    return *out_num_rows > 0;
}

// scf.if around a row of a loop that may end before the last tile.
static Status emit_guarded(LowerLinalg *ll, LlItem *item, IrValue *row, int64_t rows) {
    int64_t constant;
    IrValue *limit = mapped(ll, ir_op_operand(item->op, 1));
    bool is_full = ir_value_constant_int(limit, &constant) && rows > 0 && constant >= rows;
    item->ivs[0] = row;
    item->bound = 1;
    if (is_full) return ll_emit_items(ll, &item, 1);
    Builder outer = ll->b;
    IrValue *cond = build_cmpi(&ll->b, "slt", row, limit);
    IrOp *branch = build_op_full(&ll->b, &(IrOpSpec){.kind = IR_SCF_IF,
                                                     .num_operands = 1,
                                                     .operands = &cond,
                                                     .num_regions = 2,
                                                     .segments = {1}});
    ll->b = build_at_end(ll->m, ir_region_add_block(ll->m, &branch->regions[0]), ll->b.loc);
    uint32_t mark = ll_enter(ll);
    TRY(ll_emit_items(ll, &item, 1));
    build_yield(&ll->b, IR_SCF_YIELD, 0, NULL);
    ll_leave(ll, mark);
    ll_kill_outputs(ll, item);
    ll->b = outer;
    return STATUS_OK;
}

static Status emit_rows(LowerLinalg *ll, LlItem **items, uint32_t num, int64_t rows) {
    for (uint32_t i = 0; i < num; i++) ll_kill_outputs(ll, items[i]);
    Builder outer;
    IrOp *loop =
        ll_open_loop(ll, ll->tile_begin, ll->tile_end, MUTATED(ROW_STEP) ? 2 : 1, 0, NULL, &outer);
    uint32_t mark = ll_enter(ll);
    IrValue *row = ir_op_block(loop, 0)->args[0];
    for (uint32_t i = 0; i < num;) {
        if (items[i]->is_loop) {
            TRY(emit_guarded(ll, items[i++], row, rows));
            continue;
        }
        uint32_t end = i;
        for (; end < num && !items[end]->is_loop; end++) {
            items[end]->ivs[0] = row;
            items[end]->bound = 1;
        }
        TRY(ll_emit_items(ll, items + i, end - i));
        i = end;
    }
    build_yield(&ll->b, IR_SCF_YIELD, 0, NULL);
    ll_leave(ll, mark);
    ll->b = outer;
    return STATUS_OK;
}

static Status emit_row_kernel(LowerLinalg *ll, const OldBody *old, LlItem **before,
                              uint32_t num_before, LlItem **rows, uint32_t num_rows,
                              int64_t num_of_rows) {
    for (uint32_t i = 0; i < old->num; i++) {
        IrOp *op = old->ops[i];
        if (op->kind == IR_LINALG_GENERIC || op->kind == IR_SCF_FOR || op->kind == IR_FUNC_RETURN)
            continue;
        ll->b.loc = op->loc;
        TRY(emit_block_op(ll, op));
    }
    TRY(ll_emit_items(ll, before, num_before));
    return emit_rows(ll, rows, num_rows, num_of_rows);
}

// All work in tile 0.
static Status emit_whole_kernel(LowerLinalg *ll, const OldBody *old) {
    IrValue *zero = ll_index(ll, 0);
    IrValue *cond =
        build_binary(&ll->b, IR_ARITH_ANDI, build_cmpi(&ll->b, "eq", ll->tile_begin, zero),
                     build_cmpi(&ll->b, "sgt", ll->tile_end, zero));
    IrOp *branch = build_op_full(&ll->b, &(IrOpSpec){.kind = IR_SCF_IF,
                                                     .num_operands = 1,
                                                     .operands = &cond,
                                                     .num_regions = 2,
                                                     .segments = {1}});
    Builder outer = ll->b;
    ll->b = build_at_end(ll->m, ir_region_add_block(ll->m, &branch->regions[0]), ll->func->loc);
    for (uint32_t i = 0; i < old->num; i++) {
        if (old->ops[i]->kind == IR_FUNC_RETURN) continue;
        ll->b.loc = old->ops[i]->loc;
        TRY(emit_block_op(ll, old->ops[i]));
    }
    TRY(ll_flush(ll));
    build_yield(&ll->b, IR_SCF_YIELD, 0, NULL);
    ll->b = outer;
    return STATUS_OK;
}

// Is a tile one row, by what the kernel says of its tiles?
static bool tiles_are_rows(const IrOp *func, int64_t rows) {
    const IrAttr *tiles = ir_op_attr(func, "ingot.tiles");
    if (!tiles || tiles->kind != IR_ATTR_MAP || tiles->map->num_results != 1) return false;
    const IrAffineExpr *expr = tiles->map->results[0];
    if (expr->kind == IR_AFFINE_CONST) return expr->value == rows;
    return expr->kind == IR_AFFINE_DIM;
}

static bool has_row_loop_only(const OldBody *old, const IrOp **out_culprit) {
    for (uint32_t i = 0; i < old->num; i++) {
        const IrOp *op = old->ops[i];
        bool bad = (op->kind == IR_SCF_FOR && !is_row_loop(op)) || op->kind == IR_SCF_IF ||
                   op->kind == IR_MEMREF_STORE;
        if (!bad) continue;
        *out_culprit = op;
        return false;
    }
    return true;
}

// Scalars read before the loop must not be written by the kernel.
static bool loads_are_inputs(const OldBody *old, const LlItem *items, uint32_t num,
                             const IrOp **out_culprit) {
    for (uint32_t i = 0; i < old->num; i++) {
        if (old->ops[i]->kind != IR_MEMREF_LOAD) continue;
        const IrValue *root = ll_root(ir_op_operand(old->ops[i], 0));
        *out_culprit = old->ops[i];
        for (uint32_t k = 0; k < num; k++)
            for (uint32_t a = 0; a < items[k].num_accesses; a++)
                if (items[k].accesses[a].root == root && items[k].accesses[a].writes) return false;
    }
    return true;
}

static Status lower_body(LowerLinalg *ll, const OldBody *old, bool must_be_rows) {
    uint32_t num = 0, num_before, num_rows;
    LlItem *items = ARENA_ARRAY(&ll->scratch, LlItem, old->num);
    LlItem **before = ARENA_ARRAY(&ll->scratch, LlItem *, old->num);
    LlItem **rows = ARENA_ARRAY(&ll->scratch, LlItem *, old->num);
    const IrOp *culprit = ll->func;
    bool splits = has_row_loop_only(old, &culprit);
    for (uint32_t i = 0; i < old->num && splits; i++)
        if (old->ops[i]->kind == IR_LINALG_GENERIC || old->ops[i]->kind == IR_SCF_FOR)
            TRY(ll_make_item(ll, old->ops[i], &items[num++]));
    splits = splits && loads_are_inputs(old, items, num, &culprit);
    int64_t num_of_rows = count_rows(items, num);
    splits = splits &&
             split_rows(items, num, num_of_rows, before, &num_before, rows, &num_rows, &culprit);
    if (splits && (must_be_rows || tiles_are_rows(ll->func, num_of_rows))) {
        shrink_rows(ll, items, num, num_of_rows);
        return emit_row_kernel(ll, old, before, num_before, rows, num_rows, num_of_rows);
    }
    if (!must_be_rows) return emit_whole_kernel(ll, old);
    return refuse(ll, culprit, DIAG_P0043, "it does not work on one row at a time");
}

// Buffers that are stored to but never read, and views nobody uses.
static bool is_dead_buffer(const IrValue *memref) {
    FOR_EACH_USE(use, memref) {
        const IrOp *user = use->owner;
        bool is_target = (user->kind == IR_MEMREF_STORE || user->kind == IR_VECTOR_STORE) &&
                         ir_op_operand(user, 1) == memref && ir_op_operand(user, 0) != memref;
        if (is_target || (ll_is_view(user) && is_dead_buffer(&user->results[0]))) continue;
        return false;
    }
    return true;
}

static void erase_dead_buffer(IrModule *m, IrValue *memref) {
    while (memref->first_use) {
        IrOp *user = memref->first_use->owner;
        if (ll_is_view(user))
            erase_dead_buffer(m, ir_op_result(user, 0));
        else
            ir_op_erase(m, user);
    }
    ir_op_erase(m, memref->def_op);
}

static void erase_unused(IrModule *m, IrBlock *block) {
    for (IrOp *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) erase_unused(m, inner);
        bool removable = (ir_op_info(op->kind)->traits & IR_PURE) || op->kind == IR_MEMREF_LOAD ||
                         op->kind == IR_VECTOR_LOAD;
        bool is_used = op->num_results == 0;
        for (uint32_t i = 0; i < op->num_results; i++) is_used |= op->results[i].first_use != NULL;
        if (removable && !is_used) ir_op_erase(m, op);
    }
}

static void clean_up(IrModule *m, IrBlock *body) {
    erase_unused(m, body);
    FOR_EACH_OP_SAFE(op, body) {
        if (op->kind != IR_MEMREF_ALLOCA || !is_dead_buffer(&op->results[0])) continue;
        // Uses may include the next op; start over from the front.
        erase_dead_buffer(m, ir_op_result(op, 0));
        op_next = body->first;
    }
    erase_unused(m, body);
}

// What is still there after values that stay in registers have lost their buffers.
static Status check_stack(LowerLinalg *ll, const IrBlock *body) {
    uint64_t bytes = 0, most = kernel_max_stack_bytes(ll->func);
    FOR_EACH_OP(op, body) {
        if (op->kind != IR_MEMREF_ALLOCA) continue;
        const IrType *type = op->results[0].type;
        uint64_t more;
        if (size_mul((uint64_t)ir_type_num_elems(type), ir_type_bytes(type->elem), &more) &&
            size_add(bytes, more, &bytes) && bytes <= most)
            continue;
        const char *why = arena_printf(&ll->m->arena, "the kernel's intermediates exceed %llu KiB",
                                       (unsigned long long)most >> 10);
        Status status = refuse(ll, op, DIAG_P0044, why);
        diag_write(ll->sink, "split the kernel here, or make it one that works row by row");
        return status;
    }
    return STATUS_OK;
}

static Status lower_kernel(LowerLinalg *ll, IrOp *func, bool must_be_rows) {
    IrModule *m = ll->m;
    IrBlock *body = ir_func_body(func);
    if (body->num_args < 2 || body->args[body->num_args - 1]->type->kind != IR_TYPE_INDEX ||
        body->args[body->num_args - 2]->type->kind != IR_TYPE_INDEX)
        return diag_error(ll->sink, DIAG_P0041, ir_loc_span(func->loc),
                          "kernel @%s does not end with its tile range", ir_symbol_name(func));
    generalize_all(m, body);
    OldBody old = {0};
    FOR_EACH_OP(op, body) old.num++;
    old.ops = ARENA_ARRAY(&ll->scratch, IrOp *, old.num);
    old.num = 0;
    FOR_EACH_OP_SAFE(op, body) {
        old.ops[old.num++] = op;
        ir_op_unlink(op);
    }
    ll->func = func;
    ll->body = body;
    ll->b = build_at_end(m, body, func->loc);
    ll->prologue = NULL;
    ll->num_values = m->num_values;
    ll->classes = base_alloc(ll->num_values, 1);
    ll->is_shrunk = base_alloc(ll->num_values, sizeof(bool));
    ll->num_known = ll->num_constants = ll->num_pending = 0;
    ll->tile_begin = body->args[body->num_args - 2];
    ll->tile_end = body->args[body->num_args - 1];
    ir_value_map_init(&ll->map);
    ir_value_map_init(&ll->splats);
    Status status = lower_body(ll, &old, must_be_rows);
    if (status == STATUS_OK) build_op(&ll->b, IR_FUNC_RETURN, 0, NULL, NULL);
    for (uint32_t i = old.num; i-- > 0;) ir_op_erase(m, old.ops[i]);
    if (status == STATUS_OK) clean_up(m, body);
    if (status == STATUS_OK) status = check_stack(ll, body);
    ir_value_map_deinit(&ll->map);
    ir_value_map_deinit(&ll->splats);
    free(ll->classes);
    free(ll->is_shrunk);
    return status;
}

static bool has_linalg(const IrBlock *block) {
    FOR_EACH_OP(op, block) {
        if ((ir_op_info(op->kind)->traits & IR_LINALG) || op->kind == IR_MEMREF_COPY) return true;
        for (uint32_t r = 0; r < op->num_regions; r++)
            for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                if (has_linalg(inner)) return true;
    }
    return false;
}

Status pass_lower_linalg(IrModule *m, DiagSink *sink) {
    LowerLinalg ll = {.m = m, .sink = sink};
    Status status = STATUS_OK;
    FOR_EACH_OP(op, ir_module_body(m)) {
        const IrAttr *kernel = ir_op_attr(op, "ingot.kernel");
        if (op->kind != IR_FUNC_FUNC || !ir_func_body(op) || !kernel ||
            kernel->kind != IR_ATTR_STRING)
            continue;
        bool is_rows = str_equal(kernel->str, "rows");
        if (!is_rows && !str_equal(kernel->str, "whole") && !str_equal(kernel->str, "init"))
            continue;
        if (!has_linalg(ir_func_body(op))) continue; // lowered already
        arena_init(&ll.scratch);
        status = lower_kernel(&ll, op, is_rows);
        arena_deinit(&ll.scratch);
        if (status != STATUS_OK) break;
    }
    free(ll.known);
    free(ll.constants);
    free(ll.pending);
    return status;
}
