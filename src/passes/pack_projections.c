// pack-projections: products of one input with several weights become one product with the weights
// stacked, and slices of its result: one stream of weights, one kernel, the input quantised once.
//
//   %q = linalg.matmul ins(%x, %wq) outs(%z0);  %k = linalg.matmul ins(%x, %wk) outs(%z1)
//   -> %y = linalg.matmul ins(%x, %w) outs(%z);  %q = extract_slice %y[0, 0];  %k = extract_slice
//   %y[0, NQ] and the entry's argument %w {ingot.param = ["blk.0.attn_q.weight",
//   "blk.0.attn_k.weight"]}
// in the functions that entries call, and in entries. Numbers added to the columns of each product
// (biases) become one row of them, added once to the product, and the slices are of that sum.
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

// Arguments of a function that become one, stacked along their first dimension.
typedef struct Stack {
    IrValue *args[MAX_GROUP];
    uint32_t num;
} Stack;

static Stack weights_of(const Group *g) {
    Stack s = {.num = g->num_ops};
    for (uint32_t i = 0; i < g->num_ops; i++) s.args[i] = ir_op_operand(g->ops[i], 1);
    return s;
}

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

// Are all of them parameters of the entry, of one format?
static bool are_parameters(const IrOp *func, const Stack *s) {
    const IrAttr *format = NULL;
    for (uint32_t i = 0; i < s->num; i++) {
        uint32_t number = s->args[i]->number;
        const IrAttr *param = ir_func_arg_attr(func, number, "ingot.param");
        const IrAttr *quant = ir_func_arg_attr(func, number, "ingot.quant");
        if (!param || param->kind != IR_ATTR_STRING || (i > 0 && quant != format)) return false;
        format = quant;
    }
    return true;
}

// Every call passes its own entry argument with a parameter name, read by this call alone; the
// formats and element types are the same at each call for all that is stacked.
static bool callers_allow(IrModule *m, const IrOp *func, const Stack *s) {
    bool any = false;
    if (is_entry(func)) return are_parameters(func, s);
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(call, ir_func_body(caller)) {
            if (!ir_is_call_of(call, func)) continue;
            any = true;
            Stack passed = {.num = s->num};
            for (uint32_t i = 0; i < s->num; i++) {
                passed.args[i] = ir_op_operand(call, s->args[i]->number);
                if (passed.args[i]->def_block != ir_func_body(caller) ||
                    !ir_value_has_one_use(passed.args[i]))
                    return false;
            }
            if (!are_parameters(caller, &passed)) return false;
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

static const IrType *with_rows(IrModule *m, const IrType *type, int64_t rows) {
    const int64_t shape[] = {rows, type->rank > 1 ? type->shape[1] : 1};
    return ir_type_tensor(m, type->rank, shape, type->elem);
}

// The parameters `s` of an entry as one, in the place of the first.
static IrValue *stack_entry(IrModule *m, IrOp *func, const Stack *s, int64_t rows) {
    const IrAttr *names[MAX_GROUP], *quant = NULL;
    for (uint32_t i = 0; i < s->num; i++) {
        names[i] = ir_func_arg_attr(func, s->args[i]->number, "ingot.param");
        quant = ir_func_arg_attr(func, s->args[i]->number, "ingot.quant");
    }
    uint32_t at = s->args[0]->number;
    IrValue *packed = ir_func_insert_arg(m, func, at, with_rows(m, s->args[0]->type, rows));
    ir_func_set_arg_attr(m, func, at, "ingot.param", ir_attr_array(m, s->num, names));
    if (quant) ir_func_set_arg_attr(m, func, at, "ingot.quant", quant);
    return packed;
}

// One argument of func that holds all of `s`; its callers pass one parameter for it.
static IrValue *stack_args(IrModule *m, IrOp *func, const Stack *s) {
    int64_t rows = 0;
    for (uint32_t i = 0; i < s->num; i++) rows += s->args[i]->type->shape[0];
    if (is_entry(func)) return stack_entry(m, func, s, rows);
    FOR_EACH_OP(caller, ir_module_body(m)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(call, ir_func_body(caller)) {
            if (!ir_is_call_of(call, func)) continue;
            Stack passed = {.num = s->num};
            for (uint32_t i = 0; i < s->num; i++)
                passed.args[i] = ir_op_operand(call, s->args[i]->number);
            ir_op_add_operand(m, call, 0, stack_entry(m, caller, &passed, rows));
        }
    }
    return ir_func_insert_arg(m, func, ir_func_body(func)->num_args,
                              with_rows(m, s->args[0]->type, rows));
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

// ---- biases

// x + bias, or bias + x, with one bias per column; the generic that alone reads the product.
static IrOp *bias_of(IrModule *m, const IrOp *func, const IrOp *product) {
    const IrValue *x = &product->results[0];
    IrOp *op = ir_value_has_one_use(x) ? x->first_use->owner : NULL;
    if (!op || op->kind != IR_LINALG_GENERIC || op->segments[0] != 2 || op->num_results != 1 ||
        op->block != product->block || ir_op_operand(op, 0) != x || op->results[0].type != x->type)
        return NULL;
    const IrValue *bias = ir_op_operand(op, 1);
    const IrOp *start = ir_op_operand(op, 2)->def_op;
    const uint32_t columns = 1;
    bool is_read_so = ir_affine_is_identity(ir_linalg_map(m, op, 0)) &&
                      ir_affine_is_identity(ir_linalg_map(m, op, 2)) &&
                      ir_linalg_map(m, op, 1) == ir_affine_select(m, 2, 1, &columns);
    if (!is_read_so || bias->def_block != ir_func_body(func) || !ir_value_has_one_use(bias) ||
        !ir_type_is_shaped(bias->type) || !start || start->kind != IR_TENSOR_EMPTY)
        return NULL;
    const IrBlock *body = ir_op_block(op, 0);
    const IrOp *sum = body->first;
    bool is_sum =
        sum->kind == IR_ARITH_ADDF && sum->next == body->last &&
        ir_op_operand(body->last, 0) == &sum->results[0] &&
        ((ir_op_operand(sum, 0) == body->args[0] && ir_op_operand(sum, 1) == body->args[1]) ||
         (ir_op_operand(sum, 0) == body->args[1] && ir_op_operand(sum, 1) == body->args[0]));
    return is_sum ? op : NULL;
}

// The biases of all products, where each has one and they can be one parameter.
static bool find_biases(IrModule *m, const IrOp *func, const Group *g, Group *out_sums,
                        Stack *out_biases) {
    *out_sums = (Group){.num_ops = g->num_ops};
    *out_biases = (Stack){.num = g->num_ops};
    for (uint32_t i = 0; i < g->num_ops; i++) {
        out_sums->ops[i] = bias_of(m, func, g->ops[i]);
        if (!out_sums->ops[i]) return false;
        out_biases->args[i] = ir_op_operand(out_sums->ops[i], 1);
    }
    return callers_allow(m, func, out_biases);
}

// A copy of op in front of `before`, over `operands`, with a result of another type.
static IrOp *clone_wider(IrModule *m, IrOp *op, IrOp *before, const IrLoc *loc,
                         IrValue *const *operands, const IrType *type) {
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *copy = ir_op_clone(m, op, &map);
    ir_value_map_deinit(&map);
    copy->loc = loc;
    ir_op_insert_before(copy, before);
    for (uint32_t i = 0; i < copy->num_operands; i++) ir_op_set_operand(copy, i, operands[i]);
    copy->results[0].type = type;
    return copy;
}

static const IrLoc *joint_loc(IrModule *m, const Group *g) {
    const IrLoc *locs[MAX_GROUP];
    for (uint32_t i = 0; i < g->num_ops; i++) locs[i] = g->ops[i]->loc;
    return ir_loc_fused(m, "pack-projections", g->num_ops, locs);
}

// Slices of `all` in the place of what `ops` give, which go, and what they read of `s` with them.
static void slice_instead(IrModule *m, IrOp *func, Builder *b, IrValue *all, IrValue *n,
                          const Group *ops, const Stack *s) {
    int64_t offset = 0;
    for (uint32_t i = 0; i < ops->num_ops; i++) {
        IrOp *op = ops->ops[i];
        IrValue *slice = slice_columns(b, all, n, offset, op->results[0].type);
        offset += MUTATED(PACK_OFFSET) ? 0 : s->args[i]->type->shape[0];
        ir_value_replace_all(ir_op_result(op, 0), slice);
    }
    for (uint32_t i = 0; i < ops->num_ops; i++) {
        ir_op_erase(m, ops->ops[i]);
        drop_arg(m, func, s->args[i]);
    }
}

static void pack_group(IrModule *m, IrOp *func, const Group *g) {
    IrOp *first = g->ops[0];
    Group sums;
    Stack weights = weights_of(g), biases;
    bool has_biases = find_biases(m, func, g, &sums, &biases);
    IrValue *packed = stack_args(m, func, &weights);
    Builder b = build_before(m, first);
    b.loc = joint_loc(m, g);
    IrValue *n = row_count(first);
    const int64_t out_shape[] = {first->results[0].type->shape[0], packed->type->shape[0]};
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
    IrValue *factors[] = {ir_op_operand(first, 0), packed, ir_op_result(fill, 0)};
    IrValue *all = ir_op_result(clone_wider(m, first, first, b.loc, factors, out_type), 0);
    if (has_biases) {
        IrValue *onto = build_op(&b, IR_TENSOR_EMPTY, n ? 1 : 0, &n, out_type);
        IrValue *terms[] = {all, stack_args(m, func, &biases), onto};
        all = ir_op_result(clone_wider(m, sums.ops[0], first, joint_loc(m, &sums), terms, out_type),
                           0);
        slice_instead(m, func, &b, all, n, &sums, &biases);
        for (uint32_t i = 0; i < g->num_ops; i++) {
            ir_op_erase(m, g->ops[i]);
            drop_arg(m, func, weights.args[i]);
        }
        return;
    }
    slice_instead(m, func, &b, all, n, g, &weights);
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
    Group sums;
    Stack biases;
    bool has_biases = is_packed && find_biases(m, func, g, &sums, &biases);
    FusionNote n = {.pattern = pattern,
                    .is_applied = is_packed,
                    .where = ir_symbol_name(func),
                    .what = names_of(m, g)};
    if (has_biases) n.what = arena_printf(&m->arena, "%s, with %s", n.what, names_of(m, &sums));
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
            Stack weights = weights_of(&g);
            const Group *seen = g.num_ops > 1 ? &g : &siblings;
            bool meet = meet_in_one_op(seen);
            FusionPattern pattern = meet ? FUSION_MLP_GATE_UP : FUSION_QKV_PROJ;
            bool is_wanted = (meet ? config.pack_gate_up : config.pack_qkv) &&
                             fusion_rule(m, pattern).mode != FUSION_FORBID;
            bool is_packed = is_wanted && g.num_ops > 1 && callers_allow(m, func, &weights);
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
