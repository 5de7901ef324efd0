// outline-kernels: groups the ops of every entry and layer function into kernels and makes each
// group a function of its own, called where the group was.
//   matmul     a contraction and the elementwise ops that alone read its result (outline_matmul.c)
//   conv       a convolution or pooling with what pads and follows it (outline_conv.c)
//   rows       a run of ops that work row by row (norms, quantisation, rotary positions, cache
//   writes) attention  a composite, kept whole
// Constants, empty tensors, reshapes, slices and index arithmetic cost nothing and are copied into
// every group that reads them.
//
//   %s = generic(%x); %y = generic(%x, %s, %w)  ->  %y = func.call @rows_0(%x, %w, %n)
//
// A kernel states its number of tiles, the unit of parallel work: ingot.tiles, a map of its index
// argument number ingot.tiles_arg. A result that updates an argument in place is marked on it:
// ingot.inout. Needs: canonical, hoisted, kv-bound.  Keeps: all but canonical.  Exact.
#include <stdlib.h>
#include <string.h>

#include "passes/contraction.h"
#include "passes/dce.h"
#include "passes/entry.h"
#include "passes/fusion.h"
#include "passes/inline.h"
#include "passes/mutate.h"
#include "passes/outline.h"
#include "passes/pass.h"

enum { ATTENTION_ROWS = 8, MAX_INPUTS = 48 };

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

// ---- which ops are free

bool outline_is_view(const IrOp *op) {
    return op->kind == IR_TENSOR_COLLAPSE_SHAPE || op->kind == IR_TENSOR_EXPAND_SHAPE ||
           op->kind == IR_TENSOR_EXTRACT_SLICE;
}

bool outline_is_free(const Outline *o, const IrOp *op) {
    if (o->is_text) return outline_text_is_free(op);
    if (outline_is_view(op) || op->kind == IR_ARITH_CONSTANT || op->kind == IR_TENSOR_EMPTY)
        return true;
    if (op->kind == IR_LINALG_FILL) return ir_value_constant(ir_op_operand(op, 0)) != NULL;
    const IrOpInfo *info = ir_op_info(op->kind);
    return op->num_results == 1 && (info->traits & IR_PURE) &&
           ir_type_is_scalar(op->results[0].type) && op->num_regions == 0;
}

int32_t outline_group_of(const Outline *o, const IrOp *op) {
    return op->index < o->num_op_slots ? o->group_of[op->index] : -1;
}

// The op of the function's own block that holds op.
static IrOp *top_op(const Outline *o, IrOp *op) {
    while (op->block != ir_func_body(o->func)) op = ir_op_parent(op);
    return op;
}

Group *outline_new_group(Outline *o, const char *kind, int64_t rows) {
    ARRAY_RESERVE(o->groups, o->num_groups, o->groups_capacity);
    Group *g = &o->groups[o->num_groups++];
    *g = (Group){.kind = kind, .rows = rows};
    return g;
}

bool outline_add_op(Outline *o, Group *g, IrOp *op) {
    if (g->num_ops == OUTLINE_MAX_GROUP_OPS) return false;
    g->ops[g->num_ops++] = op;
    o->group_of[op->index] = (int32_t)(g - o->groups);
    return true;
}

// ---- readers

// Is every reader of value, through views, the one op `reader`?
bool outline_read_only_by(const IrValue *value, const IrOp *reader) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        if (op == reader) continue;
        if (!outline_is_view(op) || !outline_read_only_by(&op->results[0], reader)) return false;
    }
    return true;
}

IrOp *outline_first_reader(const IrValue *value) {
    for (IrOperand *use = value->first_use; use; use = use->next_use) {
        if (!outline_is_view(use->owner)) return use->owner;
        IrOp *inner = outline_first_reader(&use->owner->results[0]);
        if (inner) return inner;
    }
    return NULL;
}

bool outline_comes_before(const IrOp *op, const IrOp *other) {
    while (op && op != other) op = op->next;
    return op == other;
}

// ---- grouping

static int64_t leading_size(const IrOp *op) {
    for (uint32_t i = 0; i < op->num_results; i++)
        if (op->kind != IR_SCF_FOR && ir_type_is_shaped(op->results[i].type) &&
            op->results[i].type->rank > 0)
            return op->results[i].type->shape[0];
    return -1; // a loop over the rows takes the group's
}

bool outline_is_kept_apart(const Outline *o, const Group *open, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrOp *maker = fusion_maker(ir_op_operand(op, i));
        if (!maker || maker->block != ir_func_body(o->func)) continue;
        if (outline_group_of(o, maker) == (int32_t)(open - o->groups) &&
            fusion_forbids(o->m, maker, op))
            return true;
    }
    for (uint32_t i = 0; i < open->num_ops; i++)
        if (fusion_parts(o->m, open->ops[i], op)) return true;
    return false;
}

static bool assign_groups(Outline *o) {
    Group *open = NULL;
    FOR_EACH_OP(op, ir_func_body(o->func)) {
        if (op->kind == IR_FUNC_CALL || op->kind == IR_FUNC_RETURN) {
            open = NULL;
            continue;
        }
        if (outline_is_free(o, op)) continue;
        if (outline_group_of(o, op) >= 0) { // of a matmul: what comes after may read its result
            open = NULL;
            continue;
        }
        if (outline_is_conv_pad(op)) continue; // with its convolution
        if (outline_is_conv(op)) {
            open = NULL;
            if (!outline_start_conv(o, op)) return false;
            if (outline_group_of(o, op) >= 0) continue;
        }
        if (contraction_is(op, "dot") || contraction_is(op, "weights") ||
            contraction_is(op, "float")) {
            open = NULL;
            if (!outline_start_matmul(o, op)) return false;
            continue;
        }
        int64_t rows = leading_size(op);
        if (open && rows >= 0 && open->rows >= 0 && rows != open->rows) open = NULL;
        if (open && outline_is_kept_apart(o, open, op)) open = NULL;
        if (!open || open->num_ops == OUTLINE_MAX_GROUP_OPS)
            open = outline_new_group(o, "rows", rows);
        if (open->rows < 0) open->rows = rows;
        if (!outline_add_op(o, open, op)) return false;
        open = &o->groups[o->num_groups - 1];
    }
    // A loop over the rows on its own: as many as the bucket has.
    for (uint32_t i = 0; i < o->num_groups; i++)
        if (o->groups[i].rows < 0) o->groups[i].rows = o->bucket;
    return true;
}

// ---- a kernel from a group

typedef struct Kernel {
    Outline *o;
    Group *g;
    int32_t number;
    IrValue *inputs[MAX_INPUTS]; // tensors, then index values
    uint32_t num_tensors, num_inputs;
    IrValue *outputs[MAX_INPUTS];
    uint32_t num_outputs;
    IrValueMap map;
    Builder body;
} Kernel;

// Did this walk come by the op before? Values that are read twice would be walked 2^n times.
static bool is_walked(Outline *o, const IrOp *op) {
    if (op->index >= o->num_op_slots) return false;
    bool is_seen = o->seen[op->index] == o->num_walks;
    o->seen[op->index] = o->num_walks;
    return is_seen;
}

static bool note_input(Kernel *k, IrValue *v, bool want_tensor) {
    if (ir_type_is_shaped(v->type) != want_tensor) return true;
    for (uint32_t i = 0; i < k->num_inputs; i++)
        if (k->inputs[i] == v) return true;
    if (k->num_inputs == MAX_INPUTS) return false;
    k->inputs[k->num_inputs++] = v;
    return true;
}

// Walks what the group reads: free ops are looked through, everything else outside the group is an
// input.
static bool note_inputs_of(Kernel *k, IrOp *op, bool want_tensor) {
    Outline *o = k->o;
    if (is_walked(o, op)) return true;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        IrValue *v = ir_op_operand(op, i);
        if (!v->def_op) {
            if (v->def_block == ir_func_body(o->func) && !note_input(k, v, want_tensor))
                return false;
            continue;
        }
        if (v->def_op->block != ir_func_body(o->func)) continue; // inside a region of the group
        if (outline_group_of(o, v->def_op) == k->number) continue;
        if (outline_is_free(o, v->def_op)) {
            if (!note_inputs_of(k, v->def_op, want_tensor)) return false;
        } else if (!note_input(k, v, want_tensor))
            return false;
    }
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block)
    if (!note_inputs_of(k, inner, want_tensor)) return false;
    return true;
}

// Is value read by something outside the group (through free ops)?
static bool is_read_outside(const Kernel *k, const IrValue *value) {
    FOR_EACH_USE(use, value) {
        IrOp *top = top_op(k->o, use->owner);
        if (outline_group_of(k->o, top) == k->number) continue;
        if (!outline_is_free(k->o, top)) return true;
        if (is_walked(k->o, top)) continue;
        for (uint32_t i = 0; i < top->num_results; i++)
            if (is_read_outside(k, &top->results[i])) return true;
    }
    return false;
}

static void clone_op(Kernel *k, IrOp *op);

// Copies the free ops behind the operands of op (regions included) that are not there yet.
static void clone_free_operands(Kernel *k, IrOp *op) {
    Outline *o = k->o;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        IrValue *v = ir_op_operand(op, i);
        if (!v->def_op || v->def_op->block != ir_func_body(o->func) ||
            !outline_is_free(o, v->def_op))
            continue;
        if (ir_value_map_get(&k->map, v) == v) clone_op(k, v->def_op);
    }
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) clone_free_operands(k, inner);
}

static void clone_op(Kernel *k, IrOp *op) {
    clone_free_operands(k, op);
    k->o->num_copies++;
    ir_block_append(k->body.block, ir_op_clone(k->o->m, op, &k->map));
}

// A result that a loop made by updating an input nobody else reads stays in that input's place.
static void mark_in_place(Kernel *k, IrOp *kernel) {
    for (uint32_t r = 0; r < k->num_outputs; r++) {
        const IrOp *loop = k->outputs[r]->def_op;
        if (loop->kind != IR_SCF_FOR) continue;
        IrValue *init = ir_op_operand(loop, 3 + k->outputs[r]->number);
        if (!ir_value_has_one_use(init)) continue;
        for (uint32_t i = 0; i < k->num_tensors; i++)
            if (k->inputs[i] == init)
                ir_func_set_arg_attr(k->o->m, kernel, i, "ingot.inout", ir_attr_i64(k->o->m, r));
    }
}

static void state_tiles(Kernel *k, IrOp *kernel) {
    Outline *o = k->o;
    IrModule *m = o->m;
    const IrAffineExpr *count = ir_affine_const(m, k->g->tiles);
    uint32_t num_dims = 0;
    if (!o->is_text && str_equal(k->g->kind, "rows")) {
        count = ir_affine_const(m, k->g->rows);
        if (k->g->rows == o->bucket && o->bucket > 1) {
            count = ir_affine_dim(m, 0);
            num_dims = 1;
            for (uint32_t i = k->num_tensors; i < k->num_inputs; i++)
                if (k->inputs[i] == o->n)
                    ir_op_set_attr(m, kernel, "ingot.tiles_arg",
                                   ir_attr_i64(m, i - k->num_tensors));
        }
    }
    ir_op_set_attr(m, kernel, "ingot.tiles",
                   ir_attr_map(m, ir_affine_map(m, num_dims, 0, 1, &count)));
}

// Erases the free ops behind value; the kernel has its own copies.
static void erase_free_users(const Outline *o, IrValue *value) {
    while (value->first_use) {
        IrOp *op = value->first_use->owner;
        BUG_IF(!outline_is_free(o, op), "%s still reads a result of an outlined group",
               ir_op_info(op->kind)->name);
        for (uint32_t i = 0; i < op->num_results; i++) erase_free_users(o, &op->results[i]);
        ir_op_erase(o->m, op);
    }
}

// Free ops that read value but stand before its definition move behind it, in order.
static void sink_free_users(const Outline *o, IrValue *value, IrOp **anchor) {
    FOR_EACH_USE(use, value) {
        IrOp *op = use->owner;
        if (!outline_is_free(o, op) || !outline_comes_before(op, *anchor)) continue;
        ir_op_unlink(op);
        ir_op_insert_after(op, *anchor);
        *anchor = op;
        for (uint32_t i = 0; i < op->num_results; i++) sink_free_users(o, &op->results[i], anchor);
    }
}

// Every kernel has its own copy of the free ops it reads: many kernels that read a long chain of
// them would be a large program.
static Status check_growth(const Outline *o, const Group *g) {
    if (o->num_copies <= PASS_MAX_OPS && o->num_kernels < PASS_MAX_KERNELS) return STATUS_OK;
    Status status;
    if (o->num_kernels == PASS_MAX_KERNELS) {
        status = diag_error(o->sink, DIAG_P0014, ir_loc_span(g->ops[0]->loc),
                            "the module needs more than %d kernels", PASS_MAX_KERNELS);
        diag_evidence(o->sink, "the bound is reached in @%s", ir_symbol_name(o->func));
        diag_write(o->sink, "a loop (scf.for) around what is repeated, or several modules");
    } else {
        status =
            diag_error(o->sink, DIAG_P0014, ir_loc_span(g->ops[0]->loc),
                       "kernels of the module would hold more than %d operations", PASS_MAX_OPS);
        diag_evidence(o->sink,
                      "scalar arithmetic is copied into every kernel that reads it; %u "
                      "kernels are made, the last of @%s",
                      o->num_kernels, ir_symbol_name(o->func));
        diag_write(o->sink, "less arithmetic between scalars, or a result of it in a tensor");
    }
    (void)status;
    return STATUS_LIMIT;
}

static Status outline_group(Outline *o, Group *g, int32_t number) {
    IrModule *m = o->m;
    TRY(check_growth(o, g));
    o->num_kernels++;
    Kernel *k = arena_alloc(&m->arena, 1, sizeof *k);
    *k = (Kernel){.o = o, .g = g, .number = number};
    bool fits = true;
    o->num_walks++;
    for (uint32_t i = 0; i < g->num_ops && fits; i++) fits = note_inputs_of(k, g->ops[i], true);
    k->num_tensors = k->num_inputs;
    o->num_walks++;
    for (uint32_t i = 0; i < g->num_ops && fits; i++) fits = note_inputs_of(k, g->ops[i], false);
    // Rows at and after %n need no work.
    if (fits && !o->is_text && o->bucket > 1 && g->rows == o->bucket && o->n)
        fits = note_input(k, o->n, false);
    const IrType *inputs[MAX_INPUTS], *results[MAX_INPUTS];
    const IrLoc *locs[OUTLINE_MAX_GROUP_OPS];
    for (uint32_t i = 0; i < g->num_ops && fits; i++) {
        locs[i] = g->ops[i]->loc;
        for (uint32_t r = 0; r < g->ops[i]->num_results && fits; r++) {
            o->num_walks++;
            if (!is_read_outside(k, &g->ops[i]->results[r])) continue;
            fits = k->num_outputs < MAX_INPUTS;
            if (fits) k->outputs[k->num_outputs++] = &g->ops[i]->results[r];
        }
    }
    if (!fits)
        return diag_error(o->sink, DIAG_P0005, ir_loc_span(g->ops[0]->loc),
                          "a kernel with more than %d inputs or results", MAX_INPUTS);
    for (uint32_t i = 0; i < k->num_inputs; i++) inputs[i] = k->inputs[i]->type;
    for (uint32_t i = 0; i < k->num_outputs; i++) results[i] = k->outputs[i]->type;
    const IrLoc *loc = ir_loc_fused(m, "outline-kernels", g->num_ops, locs);
    const IrType *type = ir_type_function(m, k->num_inputs, inputs, k->num_outputs, results);
    IrOp *kernel = ir_func_create(m, ir_symbol_unique(m, g->kind), type, false, loc);
    ir_block_append(ir_module_body(m), kernel);
    ir_op_set_attr(m, kernel, "ingot.kernel", ir_attr_string(m, g->kind));
    k->body = build_at_end(m, ir_func_body(kernel), loc);
    ir_value_map_init(&k->map);
    for (uint32_t i = 0; i < k->num_inputs; i++)
        ir_value_map_set(&k->map, k->inputs[i], ir_func_body(kernel)->args[i]);
    for (uint32_t i = 0; i < g->num_ops; i++) clone_op(k, g->ops[i]);
    IrValue *returned[MAX_INPUTS];
    for (uint32_t i = 0; i < k->num_outputs; i++)
        returned[i] = ir_value_map_get(&k->map, k->outputs[i]);
    build_op(&k->body, IR_FUNC_RETURN, k->num_outputs, returned, NULL);
    ir_value_map_deinit(&k->map);
    mark_in_place(k, kernel);
    state_tiles(k, kernel);
    if (g->composite) ir_op_set_attr(m, kernel, "ingot.composite", ir_attr_string(m, g->composite));
    if (g->split_bytes) ir_op_set_attr(m, kernel, "ingot.capacity", ir_attr_i64(m, g->split_bytes));

    Builder b = build_before(m, g->ops[g->num_ops - 1]);
    IrNamedAttr callee = {"callee", ir_attr_symbol(m, ir_symbol_name(kernel))};
    IrOp *call = build_op_full(&b, &(IrOpSpec){.kind = IR_FUNC_CALL,
                                               .loc = loc,
                                               .num_operands = k->num_inputs,
                                               .operands = k->inputs,
                                               .num_results = k->num_outputs,
                                               .result_types = results,
                                               .num_attrs = 1,
                                               .attrs = &callee});
    for (uint32_t i = 1; MUTATED(OUTLINE_ORDER) && i < k->num_inputs; i++) {
        if (inputs[i] != inputs[i - 1]) continue;
        ir_op_set_operand(call, i - 1, k->inputs[i]);
        ir_op_set_operand(call, i, k->inputs[i - 1]);
    }
    for (uint32_t i = 0; i < k->num_outputs; i++)
        ir_value_replace_all(k->outputs[i], ir_op_result(call, i));
    IrOp *anchor = call;
    for (uint32_t i = 0; i < k->num_outputs; i++)
        sink_free_users(o, ir_op_result(call, i), &anchor);
    for (uint32_t i = g->num_ops; i-- > 0;) {
        for (uint32_t r = 0; r < g->ops[i]->num_results; r++)
            erase_free_users(o, &g->ops[i]->results[r]);
        ir_op_erase(m, g->ops[i]);
    }
    return STATUS_OK;
}

// ---- composites

static void make_attention_kernel(IrModule *m, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    const IrType *q = body->args[0]->type; // [S, KVH, G, D]
    uint32_t n_arg = 0, num_index = 0;
    for (uint32_t i = 0; i < body->num_args; i++)
        if (body->args[i]->type->kind == IR_TYPE_INDEX) n_arg = num_index++;
    ir_op_set_attr(m, func, "ingot.kernel", ir_attr_string(m, "attention"));
    bool is_batch = num_index == 1; // no position of a first token, each has its own
    const IrAffineExpr *blocks = is_batch
                                     ? ir_affine_dim(m, 0)
                                     : ir_affine_binary(m, IR_AFFINE_CEILDIV, ir_affine_dim(m, 0),
                                                        ir_affine_const(m, ATTENTION_ROWS));
    const IrAffineExpr *tiles =
        ir_affine_binary(m, IR_AFFINE_MUL, blocks, ir_affine_const(m, q->shape[1]));
    ir_op_set_attr(m, func, "ingot.tiles", ir_attr_map(m, ir_affine_map(m, 1, 0, 1, &tiles)));
    ir_op_set_attr(m, func, "ingot.tiles_arg", ir_attr_i64(m, n_arg));
}

// Index arguments behind the tensors, in the function and at its calls.
static void order_arguments(IrModule *m, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    uint32_t num = body->num_args;
    for (uint32_t i = 0, moved = 0; moved < num; moved++) {
        IrValue *arg = body->args[i];
        if (arg->type->kind != IR_TYPE_INDEX) {
            i++;
            continue;
        }
        IrValue *copy = ir_func_insert_arg(m, func, body->num_args, arg->type);
        ir_value_replace_all(arg, copy);
        ir_func_remove_arg(m, func, i);
        FOR_EACH_OP(caller, ir_module_body(m)) {
            if (!is_func(caller)) continue;
            FOR_EACH_OP(call, ir_func_body(caller)) {
                if (!ir_is_call_of(call, func)) continue;
                IrValue *passed = ir_op_operand(call, i);
                ir_op_remove_operand(call, i);
                ir_op_add_operand(m, call, 0, passed);
            }
        }
    }
}

// ---- in-place results of layers and entries

static void mark_plain_in_place(IrModule *m, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    const IrOp *ret = ir_block_terminator(body);
    for (uint32_t r = 0; r < ret->num_operands; r++) {
        IrValue *v = ir_op_operand(ret, r);
        while (v->def_op && v->def_op->kind == IR_FUNC_CALL) {
            IrOp *callee = ir_call_callee(m, v->def_op);
            IrValue *tied = NULL;
            for (uint32_t i = 0; callee && i < ir_func_body(callee)->num_args; i++) {
                const IrAttr *inout = ir_func_arg_attr(callee, i, "ingot.inout");
                if (inout && inout->i == v->number) tied = ir_op_operand(v->def_op, i);
            }
            if (!tied) break;
            v = tied;
        }
        if (v->def_block == body)
            ir_func_set_arg_attr(m, func, v->number, "ingot.inout", ir_attr_i64(m, r));
    }
}

// Says of an attention in plain form what it stores: the largest tensor there is.
static void note_plain(IrModule *m, const IrOp *func) {
    FusionRule rule = fusion_rule(m, FUSION_ATTN_SOFTMAX);
    bool is_forbidden = rule.mode == FUSION_FORBID;
    int64_t bytes = 0;
    FOR_EACH_OP(op, ir_func_body(func))
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrType *type = op->results[i].type;
        if (ir_type_is_shaped(type) && ir_type_is_static(type))
            bytes = MAX(bytes, ir_type_num_elems(type) * ir_type_bytes(type->elem));
    }
    const char *why =
        arena_printf(&m->arena, "rule %s at %s", fusion_pattern_name(FUSION_ATTN_SOFTMAX), rule.at);
    FusionNote note = {.pattern = FUSION_ATTN_SOFTMAX,
                       .is_applied = !is_forbidden,
                       .where = ir_symbol_name(func),
                       .what = "whole rows of scores"};
    if (is_forbidden) note.reason = fusion_reason_name(REASON_USER);
    note.detail = is_forbidden ? why
                               : arena_printf(&m->arena, "%lld bytes of scores are stored: %s",
                                              (long long)bytes, why);
    fusion_note_add(m, &note);
}

static Status outline_function(Outline *o, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    o->func = func;
    o->n = NULL;
    // Of rows of scores none of the sizes counts tokens: as in a module of IR text.
    o->is_text = module_is_text(o->m) || fusion_keeps_scores(o->m, func);
    o->num_groups = 0;
    for (uint32_t i = 0; i < body->num_args; i++)
        if (body->args[i]->type->kind == IR_TYPE_INDEX) o->n = body->args[i];
    const IrType *first = body->num_args ? body->args[0]->type : NULL;
    o->bucket = first && first->kind == IR_TYPE_TENSOR && first->rank > 0 ? first->shape[0] : 1;
    Status status = STATUS_OK;
    if (o->is_text)
        status = outline_text_groups(o);
    else if (!assign_groups(o))
        status = diag_error(o->sink, DIAG_P0005, ir_loc_span(func->loc),
                            "a kernel of more than %d ops", OUTLINE_MAX_GROUP_OPS);
    for (uint32_t i = 0; i < o->num_groups && status == STATUS_OK; i++)
        status = outline_group(o, &o->groups[i], (int32_t)i);
    return status;
}

// Op indices are the module's, so that one table serves all functions.
static Status outline_functions(IrModule *m, IrOp *const *funcs, uint32_t num, DiagSink *sink) {
    Outline o = {.m = m, .sink = sink, .num_op_slots = m->num_ops};
    o.group_of = base_alloc((size_t)m->num_ops + 1, sizeof *o.group_of);
    o.seen = base_alloc((size_t)m->num_ops + 1, sizeof *o.seen);
    for (uint32_t i = 0; i < m->num_ops; i++) o.group_of[i] = -1;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < num && status == STATUS_OK; i++)
        status = outline_function(&o, funcs[i]);
    free(o.groups);
    free(o.group_of);
    free(o.seen);
    return status;
}

// The kernels of an attention in plain form are called by the layers themselves.
static void inline_everywhere(IrModule *m, IrOp *func) {
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP_SAFE(call, ir_func_body(caller))
        if (ir_is_call_of(call, func)) inline_call(m, call, func);
    }
    ir_op_set_attr(m, func, "ingot.composite", NULL);
}

Status pass_outline_kernels(IrModule *m, DiagSink *sink) {
    uint32_t num_plain = 0, num_funcs = 0;
    FOR_EACH_OP(func, ir_module_body(m)) num_funcs++;
    IrOp **plain = ARENA_ARRAY(&m->arena, IrOp *, num_funcs);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func) || ir_op_attr(func, "ingot.kernel")) continue;
        if (ir_op_attr(func, "ingot.composite") && !module_is_text(m) &&
            !fusion_keeps_scores(m, func)) {
            order_arguments(m, func);
            make_attention_kernel(m, func);
        } else {
            if (fusion_keeps_scores(m, func)) note_plain(m, func);
            plain[num_plain++] = func;
        }
    }
    TRY(outline_functions(m, plain, num_plain, sink));
    uint32_t num_left = 0;
    for (uint32_t i = 0; i < num_plain; i++) {
        if (fusion_keeps_scores(m, plain[i]))
            inline_everywhere(m, plain[i]);
        else
            plain[num_left++] = plain[i];
    }
    num_plain = num_left;
    dce_module(m);
    if (module_is_text(m)) return STATUS_OK; // results have buffers of their own
    ir_funcs_edit_begin(m);
    for (int round = 0; round < 2; round++) // layers, then the entries that call them
        for (uint32_t i = 0; i < num_plain; i++)
            if ((ir_op_attr(plain[i], "sym_visibility") == NULL) == (round == 1))
                mark_plain_in_place(m, plain[i]);
    ir_funcs_edit_end(m);
    return STATUS_OK;
}
