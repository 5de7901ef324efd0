// Groups of ops that become kernels, in modules compiled from text: a run of structured ops that
// work row by row is one kernel, whose intermediates shrink to a row; everything else is a kernel
// of its own. Rows are the leading loop; each is a tile of work.
//
//   %m = reduce(max) %x;  %e = generic(exp) %x, %m;  %s = reduce(sum) %e;  %y = generic(div) %e, %s
//   -> %y = func.call @whole(%x)     one kernel, a row at a time
#include <string.h>

#include "abi/plan.h"
#include "passes/contraction.h"
#include "passes/fusion.h"
#include "passes/outline.h"
#include "passes/pass.h"

enum {
    MAX_LOOPS = 12,
    MAX_COPY_BYTES = 16 << 10, // a filled tensor that every reader makes for itself
};

// ---- what costs nothing

static int64_t type_bytes(const IrType *t) {
    return ir_type_num_elems(t) * ir_type_bytes(t->elem);
}

// Is every reader an op that overwrites or accumulates onto the value?
static bool is_only_start(const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        uint32_t i = (uint32_t)(use - op->operands);
        bool is_out = (ir_op_info(op->kind)->traits & IR_LINALG) && i >= op->segments[0];
        bool is_dest = op->kind == IR_TENSOR_INSERT_SLICE && i == 1;
        if (!is_out && !is_dest) return false;
    }
    return true;
}

// Does a reshape read the slice? It may then be no view of the source.
static bool is_reshaped(const IrValue *slice) {
    FOR_EACH_USE(use, slice) {
        const IrOp *op = use->owner;
        if (op->kind == IR_TENSOR_COLLAPSE_SHAPE) return true;
        if (outline_is_view(op) && is_reshaped(&op->results[0])) return true;
    }
    return false;
}

bool outline_text_is_free(const IrOp *op) {
    const IrOpInfo *info = ir_op_info(op->kind);
    switch (op->kind) {
    case IR_TENSOR_EMPTY:
    case IR_TENSOR_COLLAPSE_SHAPE:
    case IR_TENSOR_EXPAND_SHAPE: return true;
    case IR_TENSOR_EXTRACT_SLICE: return !is_reshaped(&op->results[0]);
    case IR_LINALG_FILL:
        if (!ir_value_constant(ir_op_operand(op, 0))) return false;
        break;
    default:
        if (op->num_results != 1 || !(info->traits & IR_PURE) || op->num_regions > 0) return false;
        if (ir_type_is_scalar(op->results[0].type)) return true;
        if (op->kind != IR_ARITH_CONSTANT) return false;
    }
    const IrValue *value = &op->results[0]; // a fill or a constant tensor
    return is_only_start(value) || type_bytes(value->type) <= MAX_COPY_BYTES;
}

// ---- rows

static bool is_linalg(const IrOp *op) {
    return (ir_op_info(op->kind)->traits & IR_LINALG) != 0;
}

// Is the dimension the loop 0, and nothing but it?
static bool is_row_dim(const IrAffineMap *map) {
    uint32_t dim;
    return map->num_results > 0 && ir_affine_is_dim(map->results[0], &dim) && dim == 0;
}

// The number of rows of a structured op: the range of loop 0, if that is parallel. -1 if it does
// not work row by row.
static int64_t rows_of(IrModule *m, const IrOp *op) {
    if (!is_linalg(op) || op->num_results == 0) return -1;
    uint32_t num_loops = ir_linalg_num_loops(op);
    if (num_loops == 0 || num_loops > MAX_LOOPS || ir_linalg_iterator(op, 0) != IR_PARALLEL)
        return -1;
    int64_t ranges[MAX_LOOPS];
    ir_linalg_loop_ranges(m, op, ranges);
    return ranges[0] == IR_DYNAMIC ? -1 : ranges[0];
}

// Does the view leave the rows of its source alone? A reshape does that leaves their number: what
// is joined to them has one element.
static bool keeps_rows(const IrOp *view) {
    const IrType *from = ir_op_operand(view, 0)->type, *to = view->results[0].type;
    if (from->rank == 0 || to->rank == 0 || from->shape[0] != to->shape[0]) return false;
    return view->kind != IR_TENSOR_EXTRACT_SLICE ||
           (ir_op_attr(view, "static_offsets")->values[0] == 0 &&
            ir_op_attr(view, "static_sizes")->values[0] == from->shape[0] &&
            ir_op_attr(view, "static_strides")->values[0] == 1);
}

// Was the value made by the group? *out_keeps: through views that keep its rows.
static bool comes_from(const Outline *o, const IrValue *value, int32_t group, bool *out_keeps) {
    *out_keeps = true;
    for (const IrOp *def = value->def_op; def; def = value->def_op) {
        if (outline_group_of(o, def) == group) return true;
        if (!outline_is_view(def)) return false;
        *out_keeps = *out_keeps && keeps_rows(def);
        value = ir_op_operand(def, 0);
    }
    return false;
}

// Does a scalar depend on an element of what the group makes?
static bool scalar_reads_group(const Outline *o, const IrValue *value, int32_t group,
                               uint32_t depth) {
    const IrOp *def = value->def_op;
    if (!def) return false;
    bool keeps;
    if (!ir_type_is_scalar(value->type)) return comes_from(o, value, group, &keeps);
    if (depth > 32) return true;
    for (uint32_t i = 0; i < def->num_operands; i++)
        if (scalar_reads_group(o, ir_op_operand(def, i), group, depth + 1)) return true;
    return false;
}

// Does a region of op use what the group makes, other than through the op's own operands?
static bool region_reads_group(const Outline *o, const IrOp *op, int32_t group) {
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) {
        for (uint32_t i = 0; i < inner->num_operands; i++)
            if (scalar_reads_group(o, ir_op_operand(inner, i), group, 0)) return true;
        if (region_reads_group(o, inner, group)) return true;
    }
    return false;
}

// Has every result one row per iteration of loop 0, in its first dimension?
static bool writes_rows(const Outline *o, const IrOp *op) {
    for (uint32_t i = op->segments[0]; i < op->num_operands; i++)
        if (!is_row_dim(ir_linalg_map(o->m, op, i))) return false;
    return true;
}

// One element is all of a single row, in whatever shape.
static bool is_number(const IrType *type) {
    return ir_type_is_static(type) && ir_type_num_elems(type) == 1;
}

// May op join the group? It has as many rows, and reads of a row of the group only the row at hand.
static bool joins(const Outline *o, const IrOp *op, const Group *g, int64_t rows) {
    int32_t group = (int32_t)(g - o->groups);
    if (rows < 1 || rows != g->rows || g->num_ops == OUTLINE_MAX_GROUP_OPS || !writes_rows(o, op) ||
        !writes_rows(o, g->ops[g->num_ops - 1]))
        return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        bool keeps;
        if (ir_type_is_scalar(value->type)) {
            if (scalar_reads_group(o, value, group, 0)) return false;
        } else if (comes_from(o, value, group, &keeps)) {
            bool is_at_hand = keeps && is_row_dim(ir_linalg_map(o->m, op, i));
            if (!is_at_hand && !(rows == 1 && is_number(value->type))) return false;
        }
    }
    return !region_reads_group(o, op, group);
}

// ---- what a kernel keeps of a row

typedef struct Kept {
    const Outline *o;
    int32_t group;
    const IrOp *joining; // about to become part of the group; NULL: none
} Kept;

static bool is_inside(const Kept *k, const IrOp *op) {
    return op == k->joining || outline_group_of(k->o, op) == k->group;
}

// Is the value read once, at its own place, in a loop that the op which makes it can share? It is
// then never stored.
static bool stays_in_register(const Kept *k, const IrOp *maker, const IrValue *value) {
    if (!ir_value_has_one_use(value) || ir_linalg_has_reduction(maker)) return false;
    const IrOp *reader = value->first_use->owner;
    uint32_t i = (uint32_t)(value->first_use - reader->operands);
    return is_linalg(reader) && i < reader->segments[0] && !ir_linalg_has_reduction(reader) &&
           ir_affine_is_identity(ir_linalg_map(k->o->m, reader, i));
}

// A value with a reader outside is a result of the kernel, with a buffer of its own.
static bool has_outer_reader(const Kept *k, const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        if (outline_is_view(op) ? has_outer_reader(k, &op->results[0]) : !is_inside(k, op))
            return true;
    }
    return false;
}

static int64_t kept_of(const Kept *k, const IrOp *op) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrValue *value = &op->results[i];
        int64_t row = type_bytes(value->type) / MAX(value->type->shape[0], 1);
        bool is_number = row <= ir_type_bytes(value->type->elem);
        if (!is_number && !has_outer_reader(k, value) && !stays_in_register(k, op, value))
            bytes += (int64_t)align_up((uint64_t)row, PLAN_BUFFER_ALIGN_BYTES);
    }
    return bytes;
}

// What one worker keeps while it works on a row of the group with op.
static int64_t kept_bytes(const Outline *o, const Group *g, const IrOp *op) {
    Kept k = {o, (int32_t)(g - o->groups), op};
    int64_t bytes = kept_of(&k, op);
    for (uint32_t i = 0; i < g->num_ops; i++) bytes += kept_of(&k, g->ops[i]);
    return bytes;
}

// ---- groups

static Status refuse_call(const Outline *o, const IrOp *call) {
    Status status = diag_error(o->sink, DIAG_P0005, ir_loc_span(call->loc),
                               "@%s: a call that cannot be replaced by the body of what it calls",
                               ir_symbol_name(o->func));
    diag_evidence(o->sink, "@%s calls itself, directly or through others",
                  ir_op_attr(call, "callee")->str);
    return status;
}

static Status check_results(const Outline *o, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrType *type = op->results[i].type;
        if (type->kind == IR_TYPE_TENSOR && ir_type_is_static(type)) continue;
        return diag_error(o->sink, DIAG_P0005, ir_loc_span(op->loc), "@%s: %s gives %s",
                          ir_symbol_name(o->func), ir_op_info(op->kind)->name,
                          type->kind == IR_TYPE_TENSOR ? "a tensor of unknown size"
                                                       : "something other than tensors");
    }
    return STATUS_OK;
}

// Appends op to the open group, or to a new one. Returns the group that the next op may join.
static Group *add_to_rows(Outline *o, Group *open, IrOp *op, int64_t max_bytes) {
    int64_t rows = rows_of(o->m, op), split_bytes = 0;
    bool fits = open && joins(o, op, open, rows) && !outline_is_kept_apart(o, open, op);
    if (fits) {
        int64_t bytes = kept_bytes(o, open, op);
        fits = bytes <= max_bytes;
        split_bytes = fits ? 0 : bytes;
    }
    if (!fits) {
        open = outline_new_group(o, "whole", rows);
        open->tiles = MAX(rows, 1);
        open->split_bytes = split_bytes;
    }
    bool is_added = outline_add_op(o, open, op);
    BUG_IF(!is_added, "a group of one op is full");
    return rows < 0 ? NULL : open;
}

// Assertions that follow each other are one kernel.
static void add_assertion(Outline *o, IrOp *op) {
    Group *g = o->num_groups ? &o->groups[o->num_groups - 1] : NULL;
    bool follows = g && g->ops[0]->kind == IR_CF_ASSERT;
    if (follows && outline_add_op(o, g, op)) return;
    g = outline_new_group(o, "whole", -1);
    g->tiles = 1;
    bool is_added = outline_add_op(o, g, op);
    BUG_IF(!is_added, "a group of one op is full");
}

// An attention with an online softmax: its tiles are the iterations of its loop.
static bool add_attention(Outline *o, IrOp *op) {
    int64_t tiles;
    if (op->kind != IR_SCF_FOR || !ir_op_attr(op, "ingot.attention") ||
        !ir_value_constant_int(ir_op_operand(op, 1), &tiles))
        return false;
    Group *g = outline_new_group(o, "rows", tiles);
    g->tiles = tiles;
    g->composite = "attention";
    bool is_added = outline_add_op(o, g, op);
    BUG_IF(!is_added, "a group of one op is full");
    return true;
}

Status outline_text_groups(Outline *o) {
    Group *open = NULL;
    PassConfig config;
    TRY(pass_config_read(o->m, o->sink, &config));
    int64_t max_bytes = config.max_scratch_bytes ? config.max_scratch_bytes : FUSION_MAX_ROW_BYTES;
    FOR_EACH_OP(op, ir_func_body(o->func)) {
        if (op->kind == IR_FUNC_RETURN || outline_is_free(o, op)) continue;
        if (op->kind == IR_FUNC_CALL) return refuse_call(o, op);
        if (op->kind == IR_CF_ASSERT) {
            add_assertion(o, op);
            open = NULL;
            continue;
        }
        if (outline_is_conv_pad(op)) continue; // with its convolution
        if (outline_group_of(o, op) < 0 && outline_is_conv(op) && !outline_start_conv(o, op))
            BUG("a group of few ops is full");
        if (contraction_is(op, "float") && !outline_start_matmul(o, op))
            BUG("a group of few ops is full");
        if (outline_group_of(o, op) >= 0) { // what comes after may read its result
            open = NULL;
            continue;
        }
        TRY(check_results(o, op));
        if (add_attention(o, op)) {
            open = NULL;
            continue;
        }
        open = add_to_rows(o, open, op, max_bytes);
    }
    return STATUS_OK;
}
