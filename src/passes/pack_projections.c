// pack-projections: products of one input with several weights become one product with the weights
// stacked, and slices of its result: one stream of weights, one kernel, the input quantised once.
//
//   %q = linalg.matmul ins(%x, %wq) outs(%z0);  %k = linalg.matmul ins(%x, %wk) outs(%z1)
//   -> %y = linalg.matmul ins(%x, %w) outs(%z);  %q = extract_slice %y[0, 0];  %k = extract_slice
//   %y[0, NQ] and the entry's argument %w {ingot.param = ["blk.0.attn_q.weight",
//   "blk.0.attn_k.weight"]}
// in the functions that entries call, and in entries.
//
// Two rules: mlp_gate_up if the results meet in one elementwise op, else qkv_proj; each can be
// switched off. Weights of different format or with other readers stay apart. Needs: refined.
// Keeps: all.  Exact.
#include "passes/build.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/fusion.h"
#include "passes/pass.h"

enum { MAX_GROUP = 8 };

typedef struct Group {
    IrOp *ops[MAX_GROUP]; // linalg.matmul, in order
    uint32_t num_ops;
} Group;

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

static bool is_fill_zero(const IrValue *v) {
    const IrOp *op = v->def_op;
    if (!op || op->kind != IR_LINALG_FILL) return false;
    const IrAttr *c = ir_value_constant(ir_op_operand(op, 0));
    return c && c->kind == IR_ATTR_FLOAT && c->bits == 0;
}

// The size operand of a dynamic accumulator: fill(empty(%n)).
static IrValue *row_count(const IrOp *matmul) {
    const IrOp *fill = ir_op_operand(matmul, 2)->def_op;
    const IrOp *empty = ir_op_operand(fill, 1)->def_op;
    return empty && empty->kind == IR_TENSOR_EMPTY && empty->num_operands == 1
               ? ir_op_operand(empty, 0)
               : NULL;
}

// A product with an argument of func as weight, read nowhere else.
static bool is_candidate(IrModule *m, const IrOp *func, const IrOp *op) {
    if (op->kind != IR_LINALG_MATMUL || op->num_results != 1 || !is_fill_zero(ir_op_operand(op, 2)))
        return false;
    const IrValue *w = ir_op_operand(op, 1);
    const uint32_t rows[] = {1, 2};
    return w->def_block == ir_func_body(func) && ir_value_has_one_use(w) &&
           ir_linalg_map(m, op, 1) == ir_affine_select(m, 3, 2, rows) &&
           ir_type_is_static(w->type) && (ir_type_is_static(op->results[0].type) || row_count(op));
}

static bool is_entry(const IrOp *func) {
    return !ir_op_attr(func, "sym_visibility");
}

// Are all weights parameters of the entry, of one format?
static bool are_parameters(const IrOp *func, const Group *g) {
    const IrAttr *format = NULL;
    for (uint32_t i = 0; i < g->num_ops; i++) {
        uint32_t number = ir_op_operand(g->ops[i], 1)->number;
        const IrAttr *param = ir_func_arg_attr(func, number, "ingot.param");
        const IrAttr *quant = ir_func_arg_attr(func, number, "ingot.quant");
        if (!param || param->kind != IR_ATTR_STRING || (i > 0 && quant != format)) return false;
        format = quant;
    }
    return true;
}

// Every call passes its own entry argument with a parameter name, read by this call alone; the
// formats and element types are the same at each call for all weights of the group.
static bool callers_allow(IrModule *m, const IrOp *func, const Group *g) {
    bool any = false;
    if (is_entry(func)) return are_parameters(func, g);
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(call, ir_func_body(caller)) {
            if (!ir_is_call_of(call, func)) continue;
            any = true;
            const IrAttr *format = NULL;
            for (uint32_t i = 0; i < g->num_ops; i++) {
                const IrValue *w = ir_op_operand(call, ir_op_operand(g->ops[i], 1)->number);
                if (w->def_block != ir_func_body(caller) || !ir_value_has_one_use(w)) return false;
                const IrAttr *param = ir_func_arg_attr(caller, w->number, "ingot.param");
                const IrAttr *quant = ir_func_arg_attr(caller, w->number, "ingot.quant");
                if (!param || param->kind != IR_ATTR_STRING || (i > 0 && quant != format))
                    return false;
                format = quant;
            }
        }
    }
    return any;
}

static bool meet_in_one_op(const Group *g) {
    const IrOp *meet = NULL;
    for (uint32_t i = 0; i < g->num_ops; i++) {
        const IrValue *result = ir_op_result(g->ops[i], 0);
        if (!ir_value_has_one_use(result) || result->first_use->owner->kind != IR_LINALG_GENERIC)
            return false;
        if (meet && result->first_use->owner != meet) return false;
        meet = result->first_use->owner;
    }
    return true;
}

static const IrType *with_rows(IrModule *m, const IrType *weight, int64_t rows) {
    const int64_t shape[] = {rows, weight->shape[1]};
    return ir_type_tensor(m, 2, shape, weight->elem);
}

static void pack_callers(IrModule *m, IrOp *func, const Group *g, int64_t rows) {
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(call, ir_func_body(caller)) {
            if (!ir_is_call_of(call, func)) continue;
            const IrAttr *names[MAX_GROUP], *quant = NULL;
            IrValue *first = NULL;
            for (uint32_t i = 0; i < g->num_ops; i++) {
                IrValue *w = ir_op_operand(call, ir_op_operand(g->ops[i], 1)->number);
                names[i] = ir_func_arg_attr(caller, w->number, "ingot.param");
                quant = ir_func_arg_attr(caller, w->number, "ingot.quant");
                if (i == 0) first = w;
            }
            uint32_t at = first->number;
            IrValue *packed = ir_func_insert_arg(m, caller, at, with_rows(m, first->type, rows));
            ir_func_set_arg_attr(m, caller, at, "ingot.param", ir_attr_array(m, g->num_ops, names));
            if (quant) ir_func_set_arg_attr(m, caller, at, "ingot.quant", quant);
            ir_op_add_operand(m, call, 0, packed);
        }
    }
}

// The weights of an entry as one parameter, in the place of the first.
static IrValue *pack_entry(IrModule *m, IrOp *func, const Group *g, int64_t rows) {
    const IrAttr *names[MAX_GROUP], *quant = NULL;
    const IrValue *first = ir_op_operand(g->ops[0], 1);
    for (uint32_t i = 0; i < g->num_ops; i++) {
        const IrValue *w = ir_op_operand(g->ops[i], 1);
        names[i] = ir_func_arg_attr(func, w->number, "ingot.param");
        quant = ir_func_arg_attr(func, w->number, "ingot.quant");
    }
    uint32_t at = first->number;
    IrValue *packed = ir_func_insert_arg(m, func, at, with_rows(m, first->type, rows));
    ir_func_set_arg_attr(m, func, at, "ingot.param", ir_attr_array(m, g->num_ops, names));
    if (quant) ir_func_set_arg_attr(m, func, at, "ingot.quant", quant);
    return packed;
}

static void drop_arg(IrModule *m, IrOp *func, IrValue *arg) {
    uint32_t number = arg->number;
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(call, ir_func_body(caller)) {
            if (!ir_is_call_of(call, func)) continue;
            IrValue *passed = ir_op_operand(call, number);
            ir_op_remove_operand(call, number);
            if (ir_value_is_unused(passed)) ir_func_remove_arg(m, caller, passed->number);
        }
    }
    ir_func_remove_arg(m, func, number);
}

static IrValue *slice_columns(Builder *b, IrValue *from, IrValue *n, int64_t offset,
                              const IrType *type) {
    IrModule *m = b->m;
    const IrType *i64 = ir_type_int(m, 64);
    const int64_t offsets[] = {0, offset}, strides[] = {1, 1};
    IrNamedAttr attrs[] = {{"static_offsets", ir_attr_dense_array(m, i64, 2, offsets)},
                           {"static_sizes", ir_attr_dense_array(m, i64, 2, type->shape)},
                           {"static_strides", ir_attr_dense_array(m, i64, 2, strides)}};
    IrValue *operands[] = {from, n};
    uint32_t num_sizes = n && type->shape[0] == IR_DYNAMIC ? 1 : 0;
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT_SLICE,
                                                     .num_operands = 1 + num_sizes,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &type,
                                                     .num_attrs = 3,
                                                     .attrs = attrs,
                                                     .segments = {1, 0, num_sizes, 0}}),
                        0);
}

static void pack_group(IrModule *m, IrOp *func, const Group *g) {
    IrOp *first = g->ops[0];
    const IrLoc *locs[MAX_GROUP];
    int64_t rows = 0;
    for (uint32_t i = 0; i < g->num_ops; i++) {
        rows += ir_op_operand(g->ops[i], 1)->type->shape[0];
        locs[i] = g->ops[i]->loc;
    }
    const IrType *weight = with_rows(m, ir_op_operand(first, 1)->type, rows);
    IrValue *packed;
    if (is_entry(func)) {
        packed = pack_entry(m, func, g, rows);
    } else {
        pack_callers(m, func, g, rows);
        packed = ir_func_insert_arg(m, func, ir_func_body(func)->num_args, weight);
    }
    Builder b = build_before(m, first);
    b.loc = ir_loc_fused(m, "pack-projections", g->num_ops, locs);
    IrValue *n = row_count(first);
    const int64_t out_shape[] = {first->results[0].type->shape[0], rows};
    const IrType *out_type = ir_type_tensor(m, 2, out_shape, first->results[0].type->elem);
    IrValue *empty = build_op(&b, IR_TENSOR_EMPTY, n ? 1 : 0, &n, out_type);
    IrValue *fill_operands[] = {build_float(&b, 0.0, out_type->elem), empty};
    IrOp *fill = build_op_full(&b, &(IrOpSpec){.kind = IR_LINALG_FILL,
                                               .num_operands = 2,
                                               .operands = fill_operands,
                                               .num_results = 1,
                                               .result_types = &out_type,
                                               .num_regions = 0,
                                               .segments = {1, 1}});
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *product = ir_op_clone(m, first, &map);
    ir_value_map_deinit(&map);
    product->loc = b.loc;
    ir_op_insert_before(product, first);
    ir_op_set_operand(product, 1, packed);
    ir_op_set_operand(product, 2, ir_op_result(fill, 0));
    product->results[0].type = out_type;
    int64_t offset = 0;
    for (uint32_t i = 0; i < g->num_ops; i++) {
        IrOp *op = g->ops[i];
        IrValue *w = ir_op_operand(op, 1);
        IrValue *slice =
            slice_columns(&b, ir_op_result(product, 0), n, offset, op->results[0].type);
        offset += MUTATED(PACK_OFFSET) ? 0 : w->type->shape[0];
        ir_value_replace_all(ir_op_result(op, 0), slice);
    }
    for (uint32_t i = 0; i < g->num_ops; i++) {
        IrValue *w = ir_op_operand(g->ops[i], 1);
        ir_op_erase(m, g->ops[i]);
        drop_arg(m, func, w);
    }
}

// The candidates that share the input of `first`.
static Group find_group(IrModule *m, IrOp *func, IrOp *first) {
    Group g = {.ops = {first}, .num_ops = 1};
    for (IrOp *op = first->next; op && g.num_ops < MAX_GROUP; op = op->next)
        if (is_candidate(m, func, op) && ir_op_operand(op, 0) == ir_op_operand(first, 0) &&
            ir_op_operand(op, 1)->type->elem == ir_op_operand(first, 1)->type->elem &&
            ir_op_operand(op, 1)->type->shape[1] == ir_op_operand(first, 1)->type->shape[1])
            g.ops[g.num_ops++] = op;
    return g;
}

// Is op the first product of its input?
static bool is_first_reader(const IrOp *op) {
    for (const IrOp *other = op->prev; other; other = other->prev)
        if (other->kind == IR_LINALG_MATMUL && ir_op_operand(other, 0) == ir_op_operand(op, 0))
            return false;
    return true;
}

// ---- what became of it, for the rules

static const char *names_of(IrModule *m, const Group *g) {
    const char *text = "";
    for (uint32_t i = 0; i < g->num_ops; i++)
        text = arena_printf(&m->arena, "%s%s%s", text, i ? " + " : "",
                            fusion_loc_text(m, g->ops[i]->loc));
    return text;
}

// All products of one input with arguments of the function, packable or not.
static Group find_siblings(const IrOp *func, IrOp *first) {
    Group g = {.ops = {first}, .num_ops = 1};
    for (IrOp *op = first->next; op && g.num_ops < MAX_GROUP; op = op->next)
        if (op->kind == IR_LINALG_MATMUL && ir_op_operand(op, 0) == ir_op_operand(first, 0) &&
            ir_op_operand(op, 1)->def_block == ir_func_body(func))
            g.ops[g.num_ops++] = op;
    return g;
}

static const char *format_at(const IrOp *caller, const IrOp *call, const IrOp *product) {
    const IrValue *w = ir_op_operand(call, ir_op_operand(product, 1)->number);
    const IrAttr *quant = w->def_op || w->def_block != ir_func_body(caller)
                              ? NULL
                              : ir_func_arg_attr(caller, w->number, "ingot.quant");
    return quant && quant->kind == IR_ATTR_STRING ? quant->str : "plain numbers";
}

// Why these products cannot become one.
static FusionReason why_apart(IrModule *m, const IrOp *func, const Group *g, const char **out) {
    *out = "";
    for (uint32_t i = 0; i < g->num_ops; i++) {
        const IrOp *op = g->ops[i];
        const IrValue *w = ir_op_operand(op, 1);
        const uint32_t rows[] = {1, 2};
        if (!ir_value_has_one_use(w)) {
            *out = "one of the weights has another reader";
            return REASON_MULTI_USE;
        }
        if (ir_linalg_map(m, op, 1) != ir_affine_select(m, 3, 2, rows)) {
            *out = "a weight is read as [k, n]: only as [n, k] can weights be stacked";
            return REASON_MAP;
        }
        if (!is_fill_zero(ir_op_operand(op, 2))) {
            *out = "one of the products is added to something that is not zero";
            return REASON_MAP;
        }
        if (is_entry(func) && !ir_func_arg_attr(func, w->number, "ingot.param")) {
            *out = arena_printf(&m->arena,
                                "argument %u is known only when the module runs: weights are "
                                "stacked if they are parameters (ingot.param)",
                                w->number);
            return REASON_CALL;
        }
    }
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(call, ir_func_body(caller)) {
            if (!ir_is_call_of(call, func)) continue;
            const char *first = format_at(caller, call, g->ops[0]);
            for (uint32_t i = 1; i < g->num_ops; i++) {
                const char *other = format_at(caller, call, g->ops[i]);
                if (str_equal(first, other)) continue;
                *out =
                    arena_printf(&m->arena, "the weights are stored as %s and as %s", first, other);
                return REASON_DTYPE;
            }
        }
    }
    *out = "a caller passes a weight that is no parameter of its own, or one read elsewhere";
    return REASON_CALL;
}

// What is left over beside a packed product has been spoken of before.
static bool any_packed(const Group *g) {
    for (uint32_t i = 0; i < g->num_ops; i++) {
        const IrLoc *loc = g->ops[i]->loc;
        if (loc->kind == IR_LOC_FUSED && loc->str && str_equal(loc->str, "pack-projections"))
            return true;
    }
    return false;
}

static void note(IrModule *m, const IrOp *func, const Group *g, bool is_packed, bool is_wanted) {
    FusionPattern pattern = meet_in_one_op(g) ? FUSION_MLP_GATE_UP : FUSION_QKV_PROJ;
    FusionNote n = {.pattern = pattern,
                    .is_applied = is_packed,
                    .where = ir_symbol_name(func),
                    .what = names_of(m, g)};
    if (!is_wanted) {
        const char *at = fusion_rule(m, pattern).at;
        n.reason = fusion_reason_name(REASON_USER);
        n.detail = arena_printf(&m->arena, "rule %s at %s", fusion_pattern_name(pattern),
                                at ? at : "input_layouts.qkv_packed");
    } else if (!is_packed) {
        n.reason = fusion_reason_name(why_apart(m, func, g, &n.detail));
    }
    fusion_note_add(m, &n);
}

Status pass_pack_projections(IrModule *m, DiagSink *sink) {
    PassConfig config;
    TRY(pass_config_read(m, sink, &config));
    ir_funcs_edit_begin(m);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func)) continue;
        for (IrOp *op = ir_func_body(func)->first, *next; op; op = next) {
            next = op->next;
            if (op->kind != IR_LINALG_MATMUL) continue;
            Group siblings = find_siblings(func, op), g = {.num_ops = 0};
            bool is_first = is_first_reader(op) && siblings.num_ops > 1 && !any_packed(&siblings);
            if (is_candidate(m, func, op)) g = find_group(m, func, op);
            const Group *seen = g.num_ops > 1 ? &g : &siblings;
            bool meet = meet_in_one_op(seen);
            FusionPattern pattern = meet ? FUSION_MLP_GATE_UP : FUSION_QKV_PROJ;
            bool is_wanted = (meet ? config.pack_gate_up : config.pack_qkv) &&
                             fusion_rule(m, pattern).mode != FUSION_FORBID;
            bool is_packed = is_wanted && g.num_ops > 1 && callers_allow(m, func, &g);
            if (is_first && !(is_packed && g.num_ops == siblings.num_ops))
                note(m, func, &siblings, false, is_wanted);
            if (!is_packed) continue;
            note(m, func, &g, true, true);
            pack_group(m, func, &g);
            next = ir_func_body(func)->first; // start over: ops behind `op` are gone
        }
    }
    ir_funcs_edit_end(m);
    dce_module(m);
    return STATUS_OK;
}
