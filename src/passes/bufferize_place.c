// Which memory a tensor value gets in the bufferize pass: in place of the value it replaces where
// nothing reads that one later, else straight into the place it has to end up in, else a new
// buffer.
#include "passes/bufferize.h"

#include <string.h>

Buf *buf_of(const Bufferizer *bz, const IrValue *tensor) {
    BUG_IF(tensor->index >= bz->num_bufs, "a new value is no tensor");
    return &bz->bufs[tensor->index];
}

void buf_set(Bufferizer *bz, const IrValue *tensor, const Buf *buf) {
    Buf *slot = buf_of(bz, tensor);
    *slot = *buf;
    slot->is_set = true;
    slot->next_in_root = NULL;
    if (buf->root == BUF_NO_ROOT) return;
    slot->next_in_root = bz->roots[buf->root].first;
    bz->roots[buf->root].first = tensor;
}

int32_t buf_new_root(Bufferizer *bz, bool is_writable, const IrType *memref) {
    ARRAY_RESERVE(bz->roots, bz->num_roots, bz->roots_capacity);
    bz->roots[bz->num_roots] = (BufRoot){.is_writable = is_writable, .type = memref};
    return (int32_t)bz->num_roots++;
}

BufWindow buf_whole(const IrType *memref) {
    BufWindow window = {.is_known = true, .rank = memref->rank};
    for (uint32_t d = 0; d < memref->rank; d++) window.hi[d] = memref->shape[d];
    return window;
}

BufWindow buf_slice_window(const Bufferizer *bz, const Buf *base, const IrOp *slice) {
    BufWindow window = base->window;
    if (base->root == BUF_NO_ROOT) return (BufWindow){0};
    const IrType *root = bz->roots[base->root].type;
    const IrAttr *offsets = ir_op_attr(slice, "static_offsets");
    const IrAttr *sizes = ir_op_attr(slice, "static_sizes");
    const IrAttr *strides = ir_op_attr(slice, "static_strides");
    // Only slices of a whole root are followed; of a smaller window the bound of the window is
    // kept.
    if (!window.is_known || base->memref->type->rank != root->rank) return window;
    for (uint32_t d = 0; d < root->rank; d++) {
        if (base->memref->type->shape[d] != root->shape[d]) return window;
        if (offsets->values[d] == IR_DYNAMIC || sizes->values[d] == IR_DYNAMIC ||
            strides->values[d] != 1)
            continue;
        window.lo[d] = offsets->values[d];
        window.hi[d] = offsets->values[d] + sizes->values[d];
    }
    return window;
}

static bool windows_disjoint(const BufWindow *a, const BufWindow *b) {
    if (!a->is_known || !b->is_known || a->rank != b->rank) return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->hi[d] <= b->lo[d] || b->hi[d] <= a->lo[d]) return true;
    return false;
}

static bool op_encloses(const IrOp *outer, const IrOp *inner) {
    for (const IrOp *op = inner; op; op = ir_op_parent(op))
        if (op == outer) return true;
    return false;
}

static bool defined_inside(const IrValue *value, const IrOp *loop) {
    if (value->def_op) return value->def_op != loop && op_encloses(loop, value->def_op);
    return op_encloses(loop, ir_block_parent(value->def_block));
}

// May user run after op, with value still meaning what it meant before op?
static bool runs_after(const Bufferizer *bz, const IrOp *user, const IrOp *op,
                       const IrValue *value) {
    if (bz->order[user->index] > bz->order[op->index]) return true;
    for (const IrOp *loop = ir_op_parent(op); loop; loop = ir_op_parent(loop))
        if (loop->kind == IR_SCF_FOR && user != loop && op_encloses(loop, user) &&
            !defined_inside(value, loop))
            return true;
    return false;
}

static bool op_in_loop_outside_value(const IrOp *op, const IrValue *value) {
    for (const IrOp *loop = ir_op_parent(op); loop; loop = ir_op_parent(loop))
        if (loop->kind == IR_SCF_FOR && !defined_inside(value, loop)) return true;
    return false;
}

// An input of op itself in the memory that op writes: harmless only where every point reads exactly
// what it then overwrites.
static bool input_survives(const Bufferizer *bz, const IrOp *op, const IrValue *input) {
    if (!(ir_op_info(op->kind)->traits & IR_LINALG)) return false;
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (ir_linalg_iterator(op, i) != IR_PARALLEL) return false;
    const IrAffineMap *out_map = NULL;
    for (uint32_t i = op->segments[0]; i < op->num_operands; i++) {
        const IrAffineMap *map = ir_linalg_map(bz->m, op, i);
        if (out_map && map != out_map) return false;
        out_map = map;
    }
    for (uint32_t i = 0; i < op->segments[0]; i++)
        if (ir_op_operand(op, i) == input && ir_linalg_map(bz->m, op, i) != out_map) return false;
    return true;
}

// Does reading `value` at op itself stand against op writing the place?
static bool own_use_conflicts(const Bufferizer *bz, const IrOp *op, const IrValue *value,
                              const IrValue *consumed) {
    bool is_linalg = ir_op_info(op->kind)->traits & IR_LINALG;
    uint32_t num_replaced = 0, num_read = 0;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (ir_op_operand(op, i) != value) continue;
        bool is_out = is_linalg ? i >= op->segments[0] : value == consumed;
        if (is_out)
            num_replaced++;
        else
            num_read++;
    }
    if (num_replaced > 1 || (num_replaced == 1 && value != consumed)) return true;
    return num_read > 0 && !input_survives(bz, op, value);
}

bool buf_conflicts(const Bufferizer *bz, const Buf *place, const IrOp *op, const IrValue *consumed,
                   bool writes_all) {
    const BufRoot *root = &bz->roots[place->root];
    if (!root->is_writable) return true;
    if (consumed && op_in_loop_outside_value(op, consumed)) return true;
    for (const IrValue *value = root->first; value; value = buf_of(bz, value)->next_in_root) {
        const Buf *buf = buf_of(bz, value);
        if (windows_disjoint(&buf->window, &place->window)) continue;
        FOR_EACH_USE(use, value) {
            const IrOp *user = use->owner;
            uint32_t i = (uint32_t)(use - user->operands);
            // The slice the place lies in is about to be replaced by what is written there.
            if (place->placed_for && user == place->placed_for && i == 1) continue;
            if (user == op) {
                bool is_in_its_slot = !writes_all && op->kind == IR_TENSOR_INSERT_SLICE && i == 0 &&
                                      buf->placed_for == op && buf->placed_base == place->memref;
                if (!is_in_its_slot && own_use_conflicts(bz, op, value, consumed)) return true;
            } else if (runs_after(bz, user, op, value)) {
                return true;
            }
        }
    }
    return false;
}

Buf buf_alloc(Bufferizer *bz, const IrType *tensor, const char *reason) {
    IrModule *m = bz->m;
    const IrType *type = buf_memref_type(m, tensor);
    Builder b = build_before(m, bz->alloc_before);
    IrNamedAttr attrs[] = {{ir_intern(m, "alignment"), ir_attr_i64(m, 64)},
                           {ir_intern(m, "ingot.boundary"), ir_attr_string(m, reason)}};
    IrOp *op = build_op_full(&b, &(IrOpSpec){.kind = IR_MEMREF_ALLOC,
                                             .num_results = 1,
                                             .result_types = &type,
                                             .num_attrs = 2,
                                             .attrs = attrs});
    return (Buf){.is_set = true,
                 .memref = ir_op_result(op, 0),
                 .root = buf_new_root(bz, true, type),
                 .is_all = true,
                 .window = buf_whole(type)};
}

// Are all scalars of a slice op known before op `at`?
static bool slice_operands_visible(const Bufferizer *bz, const IrOp *slice, const IrOp *at) {
    for (uint32_t i = slice->kind == IR_TENSOR_INSERT_SLICE ? 2 : 1; i < slice->num_operands; i++) {
        const IrValue *value = ir_op_operand(slice, i);
        const IrBlock *block = value->def_op ? value->def_op->block : value->def_block;
        if (!op_encloses(ir_block_parent(block), at)) return false;
        if (value->def_op && bz->order[value->def_op->index] > bz->order[at->index]) return false;
    }
    return true;
}

enum { MAX_CHAIN = 32 };

static bool find_dest(Bufferizer *bz, Builder *b, const IrValue *value, const IrOp *at, int depth,
                      Buf *out);

static bool dest_through_reshape(Bufferizer *bz, Builder *b, const IrOp *user, const IrOp *at,
                                 int depth, Buf *out) {
    Buf place;
    if (!find_dest(bz, b, ir_op_result(user, 0), at, depth, &place)) return false;
    const IrAttr *reassociation = ir_op_attr(user, "reassociation");
    const IrType *from = ir_op_operand(user, 0)->type;
    place.memref = user->kind == IR_TENSOR_EXPAND_SHAPE
                       ? buf_collapse(b, place.memref, reassociation)
                       : buf_expand(b, place.memref, reassociation, from->rank, from->shape);
    if (!place.memref) return false;
    *out = place;
    return true;
}

// Will the value an insert_slice replaces be undefined but for what other inserts put there?
static bool starts_empty(const IrOp *insert) {
    const IrOp *maker = ir_op_operand(insert, 1)->def_op;
    while (maker && maker->kind == IR_TENSOR_INSERT_SLICE) maker = ir_op_operand(maker, 1)->def_op;
    return maker && maker->kind == IR_TENSOR_EMPTY;
}

static bool dest_in_slice(Bufferizer *bz, Builder *b, const IrOp *insert, const IrOp *at, int depth,
                          Buf *out) {
    if (!slice_operands_visible(bz, insert, at)) return false;
    const Buf *dest = buf_of(bz, ir_op_operand(insert, 1));
    Buf base = *dest;
    if (!base.memref &&
        (!starts_empty(insert) || !find_dest(bz, b, ir_op_result(insert, 0), at, depth, &base)))
        return false;
    if (!bz->roots[base.root].is_writable) return false;
    out->window = buf_slice_window(bz, &base, insert);
    out->memref = buf_subview(bz, b, base.memref, insert, ir_op_operand(insert, 0)->type);
    out->root = base.root;
    out->placed_for = insert;
    out->placed_base = base.memref;
    return true;
}

// The place a use of value gives it, if any.
static bool dest_of_use(Bufferizer *bz, Builder *b, const IrOperand *use, const IrOp *at, int depth,
                        Buf *out) {
    const IrOp *user = use->owner;
    uint32_t i = (uint32_t)(use - user->operands);
    if (user->kind == IR_FUNC_RETURN) {
        *out = bz->result_dest[i];
        return out->memref != NULL;
    }
    const IrBlock *block = use->value->def_op ? use->value->def_op->block : use->value->def_block;
    if (user->block != block) return false;
    switch (user->kind) {
    case IR_TENSOR_EXPAND_SHAPE:
    case IR_TENSOR_COLLAPSE_SHAPE: return dest_through_reshape(bz, b, user, at, depth, out);
    case IR_TENSOR_INSERT_SLICE:
        if (i == 0) return dest_in_slice(bz, b, user, at, depth, out);
        return i == 1 && find_dest(bz, b, ir_op_result(user, 0), at, depth, out);
    case IR_TENSOR_INSERT: return i == 1 && find_dest(bz, b, ir_op_result(user, 0), at, depth, out);
    case IR_SCF_FOR: return i >= 3 && find_dest(bz, b, ir_op_result(user, i - 3), at, depth, out);
    case IR_SCF_YIELD: {
        const IrOp *parent = ir_op_parent(user);
        const IrValue *target = parent->kind == IR_SCF_FOR ? ir_op_block(parent, 0)->args[1 + i]
                                                           : ir_op_result(parent, i);
        if (!buf_of(bz, target)->memref) return false;
        *out = *buf_of(bz, target);
        return true;
    }
    default: break;
    }
    if (!(ir_op_info(user->kind)->traits & IR_LINALG) || i < user->segments[0]) return false;
    return find_dest(bz, b, ir_op_result(user, i - user->segments[0]), at, depth, out);
}

static bool find_dest(Bufferizer *bz, Builder *b, const IrValue *value, const IrOp *at, int depth,
                      Buf *out) {
    if (depth == MAX_CHAIN) return false;
    FOR_EACH_USE(use, value) {
        Buf place = {0};
        if (dest_of_use(bz, b, use, at, depth + 1, &place)) {
            *out = place;
            return true;
        }
    }
    return false;
}

bool buf_find_dest(Bufferizer *bz, Builder *b, const IrValue *value, const IrOp *at,
                   Buf *out_place) {
    return find_dest(bz, b, value, at, 0, out_place);
}

static bool usable(const Bufferizer *bz, const Buf *place, const IrOp *op, const IrValue *consumed,
                   const IrType *tensor, bool needs_identity, bool writes_all) {
    if (place->memref->type->rank != tensor->rank) return false;
    for (uint32_t d = 0; d < tensor->rank; d++)
        if (place->memref->type->shape[d] != tensor->shape[d]) return false;
    if (needs_identity && place->memref->type->has_layout) return false;
    Buf written = *place;
    if (!writes_all && op->kind == IR_TENSOR_INSERT_SLICE)
        written.window = buf_slice_window(bz, place, op);
    return !buf_conflicts(bz, &written, op, consumed, writes_all);
}

void buf_choose(Bufferizer *bz, Builder *b, const IrOp *op, const IrValue *init,
                const IrValue *result, bool reads_init, bool needs_identity, Buf *out) {
    const Buf *from = init ? buf_of(bz, init) : NULL;
    bool has_init = from && from->memref, is_copied = reads_init && has_init;
    bool may_reuse =
        has_init && usable(bz, from, op, init, result->type, needs_identity, !reads_init);
    Buf place;
    if (reads_init && may_reuse) {
        *out = *from;
    } else if (buf_find_dest(bz, b, result, op, &place) &&
               usable(bz, &place, op, NULL, result->type, needs_identity, is_copied)) {
        *out = place;
    } else if (may_reuse) {
        *out = *from;
    } else {
        *out = buf_alloc(bz, result->type, buf_boundary_reason(result));
    }
    if (!is_copied || out->memref == from->memref) return;
    bool is_writable = bz->roots[from->root].is_writable;
    buf_copy(b, from->memref, out->memref, is_writable ? "read-after-write" : "read-only-argument");
}
