// Groups of outline-kernels around matrix products: the chain of elementwise ops that alone reads
// the result runs on it while it is in registers. An op belongs to the chain if the kernel's
// schedule (vectorize_matmul.c) can compute it there; this file is what decides, so that the
// schedule need not refuse.
//
//   %p = product(%x, %w);  %b = generic(%p, %bias);  %r = generic(%b, %residual)
//   -> %r = func.call @matmul(%x, %w, %bias, %residual)
#include "passes/contraction.h"
#include "passes/fusion.h"
#include "passes/outline.h"

enum { TILE_COLUMNS = 16, MAX_INPUTS = 7, MAX_OP_INPUTS = 4 };

static bool is_reshape(const IrOp *op) {
    return op->kind == IR_TENSOR_COLLAPSE_SHAPE || op->kind == IR_TENSOR_EXPAND_SHAPE;
}

// Is what is read of `last` whole rows? Of the product itself it may be columns that begin with a
// tile.
static bool reads_tiles(const IrValue *read, const IrOp *product) {
    bool is_product = ir_op_attr(product, "ingot.contract") != NULL;
    int64_t columns = 0, rows = product->results[0].type->shape[0];
    for (const IrOp *view = read->def_op; view != product; view = ir_op_operand(view, 0)->def_op) {
        if (is_reshape(view)) continue;
        const IrType *from = ir_op_operand(view, 0)->type;
        const IrAttr *offsets = ir_op_attr(view, "static_offsets"),
                     *strides = ir_op_attr(view, "static_strides");
        bool is_columns = is_product && view->num_operands == 1 && from->rank == 2 &&
                          view->results[0].type->rank == 2 && offsets->values[0] == 0 &&
                          from->shape[0] == rows && view->results[0].type->shape[0] == rows &&
                          strides->values[0] == 1 && strides->values[1] == 1;
        if (!is_columns) return false;
        columns += offsets->values[1];
    }
    return columns % TILE_COLUMNS == 0;
}

// Does value come from product, through views?
static bool is_of(const IrValue *value, const IrOp *product) {
    const IrOp *def = value->def_op;
    while (def && def != product && outline_is_view(def)) def = ir_op_operand(def, 0)->def_op;
    return def == product;
}

// All of an argument of the kernel, in any shape: nothing that the kernel makes for itself.
static bool is_whole_input(const Outline *o, const IrValue *value) {
    const IrOp *def = value->def_op;
    while (def && is_reshape(def)) def = ir_op_operand(def, 0)->def_op;
    return !def || !outline_is_free(o, def);
}

// Read at its own place, or one number for each column or each row.
static bool is_operand(const Outline *o, const IrOp *op, uint32_t i, const IrOp *last) {
    const IrValue *value = ir_op_operand(op, i);
    const IrAffineMap *map = ir_linalg_map(o->m, op, i);
    if (!ir_type_is_shaped(value->type) || value->type->elem->kind == IR_TYPE_INDEX) return false;
    if (is_of(value, last)) return ir_affine_is_identity(map) && reads_tiles(value, last);
    bool is_line = map == build_dims_map(o->m, 2, 1, 0u) || map == build_dims_map(o->m, 2, 1, 1u);
    return (is_line || ir_affine_is_identity(map)) && is_whole_input(o, value);
}

// Is the body a tree of elementwise ops over what op reads and constants?
static bool is_computable(const IrOp *op) {
    const IrBlock *body = ir_op_block(op, 0);
    FOR_EACH_OP(inner, body) {
        const IrOpInfo *info = ir_op_info(inner->kind);
        bool is_known = (info->traits & IR_ELEMENTWISE) && inner->num_operands <= MAX_OP_INPUTS;
        if (!is_known && !(info->traits & IR_TERMINATOR) && inner->kind != IR_ARITH_CONSTANT)
            return false;
        for (uint32_t i = 0; i < inner->num_operands; i++) {
            const IrValue *v = ir_op_operand(inner, i);
            bool is_own = v->def_op ? v->def_op->block == body : v->def_block == body;
            if (!is_own && !ir_value_constant(v)) return false;
        }
    }
    return ir_value_is_unused(body->args[op->segments[0]]); // what the result held before
}

// An elementwise generic over [M, N] that can run on sums of tiles.
static bool is_epilogue(const Outline *o, const IrOp *op, const IrOp *last) {
    if (op->kind != IR_LINALG_GENERIC || op->num_results != 1 ||
        op->block != ir_func_body(o->func) || op->results[0].type->rank != 2 ||
        op->results[0].type->shape[0] != last->results[0].type->shape[0] || op->segments[1] != 1 ||
        op->segments[0] > MAX_INPUTS || contraction_is(op, "scale") ||
        ir_op_attr(op, "ingot.contract") || !ir_type_is_static(op->results[0].type) ||
        !ir_affine_is_identity(ir_linalg_map(o->m, op, op->segments[0])))
        return false;
    for (uint32_t i = 0; i < op->segments[0]; i++)
        if (!is_operand(o, op, i, last)) return false;
    return is_computable(op) && op->results[0].type->shape[1] % TILE_COLUMNS == 0;
}

// Is all that reader needs beside the product there before the contraction starts? (Another product
// that is not yet computed is not.)
static bool is_ready(const Outline *o, const IrOp *reader, const IrOp *start, const IrOp *product) {
    for (uint32_t i = 0; i < reader->num_operands; i++) {
        const IrOp *def = ir_op_operand(reader, i)->def_op;
        while (def && outline_is_view(def)) def = ir_op_operand(def, 0)->def_op;
        if (!def || def == product || outline_is_free(o, def)) continue;
        if (def->block != ir_func_body(o->func) || !outline_comes_before(def, start)) return false;
    }
    return outline_group_of(o, reader) < 0;
}

// The op that can follow `last` in the kernel; NULL: none.
static IrOp *follower(const Outline *o, const IrOp *start, const IrOp *last) {
    IrOp *reader = outline_first_reader(&last->results[0]);
    bool follows = reader && is_epilogue(o, reader, last) &&
                   outline_read_only_by(&last->results[0], reader) &&
                   is_ready(o, reader, start, last) && !fusion_forbids(o->m, last, reader);
    return follows ? reader : NULL;
}

bool outline_start_matmul(Outline *o, IrOp *op) {
    Group *g = outline_new_group(o, "matmul", op->results[0].type->shape[0]);
    if (!outline_add_op(o, g, op)) return false;
    IrOp *last = op;
    if (contraction_is(op, "dot")) {
        last = op->results[0].first_use->owner;
        if (!outline_add_op(o, g, last)) return false;
    }
    g->tiles = last->results[0].type->shape[1]; // of [M, NT, 16]
    for (uint32_t n = 0; n < OUTLINE_MAX_EPILOGUES; n++) {
        last = follower(o, op, last);
        if (!last) break;
        if (!outline_add_op(o, g, last)) return false;
        g->tiles = last->results[0].type->shape[1] / TILE_COLUMNS;
    }
    return true;
}
