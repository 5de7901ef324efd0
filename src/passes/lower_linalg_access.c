// Who touches which buffer under which loop: what decides whether ops may share a loop. See
// lower_linalg.h.
#include <string.h>

#include "passes/bufferize.h"
#include "passes/lower_linalg.h"

bool ll_is_view(const IrOp *op) {
    return op->kind == IR_MEMREF_SUBVIEW || op->kind == IR_MEMREF_EXPAND_SHAPE ||
           op->kind == IR_MEMREF_COLLAPSE_SHAPE || op->kind == IR_MEMREF_CAST ||
           op->kind == IR_MEMREF_REINTERPRET_CAST;
}

// The one dimension of a reassociation group that is not 1; the only one of a group of one; -1 if
// several.
static int32_t only_dim(const int64_t *shape, uint32_t start, uint32_t end) {
    if (end - start == 1) return (int32_t)start;
    int32_t found = -1;
    for (uint32_t d = start; d < end; d++) {
        if (shape[d] == 1) continue;
        if (found >= 0) return -1;
        found = (int32_t)d;
    }
    return found;
}

static void reshape_dims(const IrOp *op, const int32_t *source_dims, int32_t *out_dims) {
    const IrAttr *reassociation = ir_op_attr(op, "reassociation");
    bool expands = op->kind == IR_MEMREF_EXPAND_SHAPE;
    const IrType *wide = expands ? op->results[0].type : ir_op_operand(op, 0)->type;
    uint32_t start = 0;
    for (uint32_t g = 0; g < reassociation->num_elems; g++) {
        uint32_t end = start + (uint32_t)reassociation->elems[g]->num_elems;
        int32_t only = only_dim(wide->shape, start, end);
        if (expands) {
            for (uint32_t d = start; d < end; d++) out_dims[d] = -1;
            if (only >= 0) out_dims[only] = source_dims[g];
        } else {
            out_dims[g] = only >= 0 ? source_dims[only] : -1;
        }
        start = end;
    }
}

// Which dims of the source a subview keeps.
static void subview_kept(const IrOp *op, bool *out_kept) {
    const IrAttr *sizes = ir_op_attr(op, "static_sizes");
    buf_kept_dims(sizes->values, ir_op_operand(op, 0)->type->rank, op->results[0].type, out_kept);
}

static void subview_dims(const IrOp *op, const int32_t *source_dims, int32_t *out_dims) {
    const IrType *source = ir_op_operand(op, 0)->type;
    const IrAttr *offsets = ir_op_attr(op, "static_offsets"),
                 *sizes = ir_op_attr(op, "static_sizes"),
                 *strides = ir_op_attr(op, "static_strides");
    bool kept[LL_MAX_RANK];
    subview_kept(op, kept);
    for (uint32_t d = 0, out = 0; d < source->rank; d++) {
        if (!kept[d]) continue;
        bool is_whole = offsets->values[d] == 0 && sizes->values[d] == source->shape[d] &&
                        strides->values[d] == 1;
        out_dims[out++] = is_whole ? source_dims[d] : -1;
    }
}

// For each dim of the view the root's dim it is, untouched, or -1.
bool ll_view_dims(const IrValue *view, const IrValue **out_root, int32_t *out_root_dims) {
    if (view->type->kind != IR_TYPE_MEMREF || view->type->rank > LL_MAX_RANK) return false;
    const IrOp *op = view->def_op;
    if (!op || !ll_is_view(op)) {
        *out_root = view;
        for (uint32_t d = 0; d < view->type->rank; d++) out_root_dims[d] = (int32_t)d;
        return true;
    }
    int32_t source[LL_MAX_RANK];
    if (!ll_view_dims(ir_op_operand(op, 0), out_root, source)) return false;
    if (op->kind == IR_MEMREF_CAST)
        memcpy(out_root_dims, source, sizeof source);
    else if (op->kind == IR_MEMREF_SUBVIEW)
        subview_dims(op, source, out_root_dims);
    else if (op->kind == IR_MEMREF_REINTERPRET_CAST)
        for (uint32_t d = 0; d < view->type->rank; d++) out_root_dims[d] = -1;
    else
        reshape_dims(op, source, out_root_dims);
    return true;
}

// ---------------------------------------------------------------- accesses

typedef struct Collector {
    LowerLinalg *ll;
    LlItem *item;
    uint32_t capacity;
    const IrValue *row_iv; // of a loop item
    bool failed;
} Collector;

static LlAccess *add_access(Collector *c, const IrValue *memref, bool writes) {
    LlItem *item = c->item;
    if (item->num_accesses == c->capacity) {
        uint32_t capacity = c->capacity ? c->capacity * 2 : 8;
        LlAccess *grown = ARENA_ARRAY(&c->ll->scratch, LlAccess, capacity);
        if (item->num_accesses) memcpy(grown, item->accesses, item->num_accesses * sizeof *grown);
        item->accesses = grown;
        c->capacity = capacity;
    }
    LlAccess *access = &item->accesses[item->num_accesses++];
    *access = (LlAccess){.root = ll_root(memref), .writes = writes};
    return access;
}

static void add_pin(LlAccess *access, const IrValue *space, uint32_t dim, uint32_t loop) {
    if (access->num_pins < ARRAY_LEN(access->pins))
        access->pins[access->num_pins++] = (LlPin){space, dim, loop};
}

// Dimension dim of the view is indexed by exactly the loop.
static void pin_view_dim(LlAccess *access, const IrValue *view, uint32_t dim, uint32_t loop) {
    const IrValue *root;
    int32_t dims[LL_MAX_RANK];
    add_pin(access, view, dim, loop);
    if (ll_view_dims(view, &root, dims) && root != view && dims[dim] >= 0)
        add_pin(access, root, (uint32_t)dims[dim], loop);
}

// A view cut out at the row variable: its sources are indexed by the row.
static void pin_row_views(Collector *c, LlAccess *access, const IrValue *view) {
    for (; view->def_op && ll_is_view(view->def_op); view = ir_op_operand(view->def_op, 0)) {
        const IrOp *op = view->def_op;
        if (op->kind != IR_MEMREF_SUBVIEW) continue;
        const IrAttr *offsets = ir_op_attr(op, "static_offsets"),
                     *sizes = ir_op_attr(op, "static_sizes");
        uint32_t next = 1;
        for (uint32_t d = 0; d < offsets->num_values; d++) {
            if (offsets->values[d] != IR_DYNAMIC) continue;
            if (ir_op_operand(op, next++) == c->row_iv && sizes->values[d] == 1)
                pin_view_dim(access, ir_op_operand(op, 0), d, 0);
        }
    }
}

// A load or store by indices inside a body: indices that are a loop's own are pins.
static void add_indexed(Collector *c, const IrOp *op, uint32_t memref_at, bool writes,
                        bool is_direct) {
    const IrValue *memref = ir_op_operand(op, memref_at);
    LlAccess *access = add_access(c, memref, writes);
    if (c->row_iv) pin_row_views(c, access, memref);
    for (uint32_t i = memref_at + 1; i < op->num_operands && is_direct; i++) {
        const IrValue *index = ir_op_operand(op, i);
        uint32_t dim = i - memref_at - 1;
        if (c->row_iv && index == c->row_iv) pin_view_dim(access, memref, dim, 0);
        if (!c->row_iv && index->def_op && index->def_op->kind == IR_LINALG_INDEX)
            pin_view_dim(access, memref, dim, (uint32_t)ir_op_attr(index->def_op, "dim")->i);
    }
}

static void collect_generic(Collector *c, const IrOp *op);

// What the tables of this pass hold; more comes only from IR written by hand.
static bool fits_tables(const IrOp *op) {
    if (op->num_operands > LL_MAX_OPERANDS) return false;
    if (op->kind == IR_AFFINE_APPLY && op->num_operands > LL_MAX_LOOPS) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (type->kind == IR_TYPE_TENSOR) return false;
        if (type->kind == IR_TYPE_MEMREF && type->rank > LL_MAX_RANK) return false;
        bool is_out = op->kind == IR_LINALG_GENERIC && i >= op->segments[0];
        if (is_out && type->kind != IR_TYPE_MEMREF) return false;
    }
    if (op->kind != IR_LINALG_GENERIC) return true;
    return ir_linalg_num_loops(op) <= LL_MAX_LOOPS && op->segments[1] <= LL_MAX_OUTS;
}

static void collect_block(Collector *c, const IrBlock *block, bool is_direct) {
    FOR_EACH_OP(op, block) {
        if (!fits_tables(op)) {
            c->failed = true;
            return;
        }
        switch (op->kind) {
        case IR_MEMREF_LOAD: add_indexed(c, op, 0, false, is_direct); break;
        case IR_MEMREF_STORE: add_indexed(c, op, 1, true, is_direct); break;
        case IR_LINALG_GENERIC: collect_generic(c, op); break;
        default:
            for (uint32_t i = 0; i < op->num_operands && !ll_is_view(op); i++)
                if (ir_op_operand(op, i)->type->kind == IR_TYPE_MEMREF) c->failed = true;
            for (uint32_t r = 0; r < op->num_regions; r++)
                for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                    collect_block(c, inner, is_direct && c->row_iv);
        }
    }
}

static void collect_generic(Collector *c, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *memref = ir_op_operand(op, i);
        if (memref->type->kind != IR_TYPE_MEMREF) continue;
        LlAccess *access = add_access(c, memref, i >= op->segments[0]);
        if (c->row_iv) {
            pin_row_views(c, access, memref);
            continue;
        }
        const IrAffineMap *map = ir_linalg_map(c->ll->m, op, i);
        uint32_t loop;
        for (uint32_t d = 0; d < map->num_results; d++)
            if (ir_affine_is_dim(map->results[d], &loop)) pin_view_dim(access, memref, d, loop);
    }
    collect_block(c, ir_op_block(op, 0), true);
}

Status ll_make_item(LowerLinalg *ll, IrOp *op, LlItem *out_item) {
    *out_item = (LlItem){.op = op, .is_loop = op->kind == IR_SCF_FOR};
    Collector c = {.ll = ll, .item = out_item};
    if (out_item->is_loop) {
        out_item->num_loops = 1;
        out_item->ranges[0] = IR_DYNAMIC;
        out_item->is_parallel[0] = true;
        c.row_iv = ir_op_block(op, 0)->args[0];
        collect_block(&c, ir_op_block(op, 0), true);
    } else {
        out_item->num_loops = ir_linalg_num_loops(op);
        if (!fits_tables(op))
            c.failed = true;
        else {
            ir_linalg_loop_ranges(ll->m, op, out_item->ranges);
            for (uint32_t i = 0; i < out_item->num_loops; i++) {
                out_item->is_parallel[i] = ir_linalg_iterator(op, i) == IR_PARALLEL;
                c.failed |= out_item->ranges[i] == IR_DYNAMIC;
            }
            collect_generic(&c, op);
        }
    }
    if (!c.failed) return STATUS_OK;
    return diag_error(
        ll->sink, DIAG_P0005, ir_loc_span(op->loc),
        "lower-linalg: %s in @%s has too many loops or operands, unknown sizes, or uses "
        "a buffer in a way that has no lowering",
        ir_op_info(op->kind)->name, ir_symbol_name(ll->func));
}

// ---------------------------------------------------------------- dependences

bool ll_depend(const LlItem *a, const LlItem *b) {
    for (uint32_t i = 0; i < a->num_accesses; i++)
        for (uint32_t j = 0; j < b->num_accesses; j++)
            if (a->accesses[i].root == b->accesses[j].root &&
                (a->accesses[i].writes || b->accesses[j].writes))
                return true;
    return false;
}

static bool have_common_pin(const LlAccess *a, const LlAccess *b, uint32_t loop_a,
                            uint32_t loop_b) {
    for (uint32_t i = 0; i < a->num_pins; i++) {
        if (a->pins[i].loop != loop_a) continue;
        for (uint32_t j = 0; j < b->num_pins; j++)
            if (b->pins[j].loop == loop_b && a->pins[i].space == b->pins[j].space &&
                a->pins[i].dim == b->pins[j].dim)
                return true;
    }
    return false;
}

bool ll_share_loop(const LlItem *a, const LlItem *b) {
    uint32_t loop_a = a->bound, loop_b = b->bound;
    if (a->ranges[loop_a] != b->ranges[loop_b] && !a->is_loop && !b->is_loop) return false;
    for (uint32_t i = 0; i < a->num_accesses; i++)
        for (uint32_t j = 0; j < b->num_accesses; j++) {
            const LlAccess *x = &a->accesses[i], *y = &b->accesses[j];
            if (x->root != y->root || (!x->writes && !y->writes)) continue;
            if (!have_common_pin(x, y, loop_a, loop_b)) return false;
        }
    return true;
}
