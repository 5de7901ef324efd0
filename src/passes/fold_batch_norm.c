// fold-batch-norm: what a convolution's result is scaled by, channel by channel, goes into its
// weights, and one addition per channel is left.
//
//   %c = conv(%x, %w);  %y = generic ins(%c, %gamma, %beta, %mean, %var):
//                            (c - mean) * rsqrt(var + eps) * gamma + beta
//   -> %s, %b = generic ins(%gamma, %beta, %mean, %var): s = rsqrt(var + eps) * gamma, b = beta -
//   ...
//      %w' = generic ins(%w, %s): w * s;   %c = conv(%x, %w');   %y = generic ins(%c, %b): c + b
//
// Proven on the body, not assumed from names: every op on the way from the result to what is
// yielded is a sum, a difference, a product or a quotient by something that is the same for all
// places of a channel; all else is read by the channel of the result alone, and is a weight. The
// new ops on weights are moved to compile time by hoist-weights. A norm behind a convolution that
// is not folded is noted with the reason, for the rule conv_relu_bn. Needs: canonical.  Keeps: all.
// Exact but for the place of the product (reassoc).
#include <string.h>

#include "ir/print.h"
#include "passes/contraction.h"
#include "passes/dce.h"
#include "passes/fusion.h"
#include "passes/pass.h"

enum { MAX_OPERANDS = 8, MAX_VISITS = 1 << 12, MAX_DEPTH = 32 };

// value = scale * result + shift; NULL: 0; scale ONE: 1.
typedef struct Affine {
    IrValue *scale, *shift;
} Affine;

typedef struct Fold {
    IrModule *m;
    IrBlock *body;   // of the generic that scales
    IrValue *result; // its argument that is the convolution's result
    Builder b;       // the new body, per channel
    IrValueMap map;  // of what does not depend on the result
    IrValue *one;    // stands for a scale of 1
    uint32_t visits; // bodies that take longer are not folded
} Fold;

static bool depends(Fold *f, const IrValue *value) {
    if (value == f->result || ++f->visits > MAX_VISITS) return true;
    if (!value->def_op || value->def_op->block != f->body) return false;
    for (uint32_t i = 0; i < value->def_op->num_operands; i++)
        if (depends(f, ir_op_operand(value->def_op, i))) return true;
    return false;
}

static IrValue *copy_value(Fold *f, IrValue *value) {
    IrValue *known = ir_value_map_get(&f->map, value);
    if (known != value || !value->def_op) return known;
    if (value->def_op->block == f->body)
        for (uint32_t i = 0; i < value->def_op->num_operands; i++)
            copy_value(f, ir_op_operand(value->def_op, i));
    else if (!ir_value_constant(value))
        return value;
    ir_block_append(f->b.block, ir_op_clone(f->m, value->def_op, &f->map));
    return ir_value_map_get(&f->map, value);
}

static IrValue *number(Fold *f, IrValue *value) {
    return value == f->one ? build_float(&f->b, 1.0, f->result->type) : value;
}

static IrValue *combine(Fold *f, IrOpKind kind, IrValue *a, IrValue *b) {
    if (kind == IR_ARITH_ADDF && (!a || !b)) return a ? a : b;
    if (kind == IR_ARITH_SUBF && !a && !b) return NULL;
    if (kind == IR_ARITH_SUBF && !b) return a;
    if (kind == IR_ARITH_SUBF && !a) return build_unary(&f->b, IR_ARITH_NEGF, number(f, b));
    if ((kind == IR_ARITH_MULF || kind == IR_ARITH_DIVF) && !a) return NULL;
    if (kind == IR_ARITH_MULF && a == f->one) return b;
    a = number(f, a);
    return build_binary(&f->b, kind, a, number(f, b));
}

// False if value is not affine in the result.
static bool split(Fold *f, IrValue *value, Affine *out) {
    if (++f->visits > MAX_VISITS) return false;
    if (value == f->result) {
        *out = (Affine){.scale = f->one};
        return true;
    }
    if (!depends(f, value)) {
        *out = (Affine){.shift = copy_value(f, value)};
        return true;
    }
    const IrOp *op = value->def_op;
    Affine a, b = {0};
    if (op->num_operands < 1 || op->num_operands > 2 || !split(f, ir_op_operand(op, 0), &a) ||
        (op->num_operands == 2 && !split(f, ir_op_operand(op, 1), &b)))
        return false;
    switch (op->kind) {
    case IR_ARITH_ADDF:
    case IR_ARITH_SUBF:
        *out = (Affine){combine(f, op->kind, a.scale, b.scale),
                        combine(f, op->kind, a.shift, b.shift)};
        return true;
    case IR_ARITH_MULF:
        if (a.scale && b.scale) return false;
        if (b.scale) {
            Affine swap = a;
            a = b;
            b = swap;
        }
        break;
    case IR_ARITH_DIVF:
        if (b.scale) return false;
        break;
    default: return false;
    }
    if (!b.shift) return false;
    *out = (Affine){combine(f, op->kind, a.scale, b.shift), combine(f, op->kind, a.shift, b.shift)};
    return true;
}

// Does a region of op read only its own values and constants?
static bool is_closed(const IrOp *op) {
    if (op->num_regions == 0) return true;
    const IrBlock *body = ir_op_block(op, 0);
    FOR_EACH_OP(inner, body) {
        if (inner->num_regions > 0) return false;
        for (uint32_t i = 0; i < inner->num_operands; i++) {
            const IrValue *v = ir_op_operand(inner, i);
            bool is_own = v->def_op ? v->def_op->block == body : v->def_block == body;
            if (!is_own && !ir_value_constant(v)) return false;
        }
    }
    return true;
}

// Is value a weight: an argument that is one, a constant, or such in another order or shape?
static bool is_weight(const IrOp *func, const IrValue *value, uint32_t depth) {
    const IrOp *def = value->def_op;
    if (depth == MAX_DEPTH) return false;
    if (def) {
        bool is_form = def->kind == IR_LINALG_GENERIC || def->kind == IR_LINALG_TRANSPOSE ||
                       def->kind == IR_LINALG_FILL || def->kind == IR_TENSOR_EXPAND_SHAPE ||
                       def->kind == IR_TENSOR_COLLAPSE_SHAPE ||
                       def->kind == IR_TENSOR_EXTRACT_SLICE;
        if (!is_form) return ir_value_constant(value) || def->kind == IR_TENSOR_EMPTY;
        for (uint32_t i = 0; i < def->num_operands; i++)
            if (!is_weight(func, ir_op_operand(def, i), depth + 1)) return false;
        return is_closed(def);
    }
    return value->def_block == ir_func_body(func) &&
           (ir_func_arg_attr(func, value->number, "ingot.param") ||
            ir_func_arg_attr(func, value->number, "ingot.value"));
}

// The elementwise op that reads the convolution's result first.
static IrOp *first_reader(const IrOp *conv, uint32_t *out_operand) {
    const IrOperand *use = conv->results[0].first_use;
    IrOp *op = use ? use->owner : NULL;
    if (!op || op->kind != IR_LINALG_GENERIC || op->num_results != 1 || op->block != conv->block ||
        op->results[0].type != conv->results[0].type || ir_linalg_num_loops(op) != 4)
        return NULL;
    *out_operand = (uint32_t)(use - op->operands);
    return *out_operand < op->segments[0] ? op : NULL;
}

// What an operand read otherwise than once per channel is read by.
static const char *other_axis(IrModule *m, const IrAffineMap *map, const IrType *type) {
    uint32_t dim;
    if (map->num_results == 1 && ir_affine_is_dim(map->results[0], &dim))
        return arena_printf(&m->arena,
                            "it has a value for each place of dimension %u, not of 3, the channels",
                            dim);
    StrBuf text = {0};
    ir_print_type(type, &text);
    const char *why =
        arena_printf(&m->arena, "a %s is no vector with a value for each channel", text.data);
    strbuf_deinit(&text);
    return why;
}

// Why op is not folded into the weights of conv, whose result is operand number `own` of it; NULL:
// everything but the form of its body is proven.
static const char *obstacle(IrModule *m, const IrOp *func, const IrOp *conv, const IrOp *op,
                            uint32_t own) {
    const IrAffineMap *by_channel = build_dims_map(m, 4, 1, 3u);
    if (!ir_value_has_one_use(&conv->results[0]))
        return "the result of the convolution has other readers, which need it unscaled";
    if (!ir_value_is_unused(ir_op_block(op, 0)->args[op->segments[0]]))
        return "the norm adds to what its result held before";
    if (op->segments[0] > MAX_OPERANDS) return "it reads too many tensors";
    if (!is_weight(func, ir_op_operand(conv, 1), 0))
        return "the convolution's weights are no parameter, as an argument with ingot.param is";
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        const IrType *type = ir_op_operand(op, i)->type;
        bool is_own = i == own || i == op->segments[0];
        if (is_own && !ir_affine_is_identity(map))
            return "the result of the convolution is not read at its own place";
        if (!is_own && map != by_channel)
            return arena_printf(&m->arena, "operand %u: %s", i, other_axis(m, map, type));
        if (!is_own && !is_weight(func, ir_op_operand(op, i), 0))
            return arena_printf(
                &m->arena,
                "operand %u is no parameter, as an argument with ingot.param is: it is known "
                "only when the network runs",
                i);
        if (type->elem->kind != IR_TYPE_F32)
            return arena_printf(&m->arena, "operand %u is not f32", i);
    }
    return NULL;
}

// Does op divide by a root, as norms do?
static bool is_norm(const IrOp *op) {
    bool has_root = false, divides = false;
    FOR_EACH_OP(inner, ir_op_block(op, 0)) {
        if (inner->kind == IR_MATH_RSQRT) return true;
        has_root |= inner->kind == IR_MATH_SQRT;
        divides |= inner->kind == IR_ARITH_DIVF;
    }
    return has_root && divides;
}

static void note(IrModule *m, const IrOp *func, const IrOp *conv, const IrOp *norm,
                 FusionReason reason, const char *detail) {
    FusionNote n = {.pattern = FUSION_CONV_RELU_BN,
                    .is_applied = !detail,
                    .where = ir_symbol_name(func),
                    .what =
                        arena_printf(&m->arena, "the convolution (%s) and the norm (%s)",
                                     fusion_loc_text(m, conv->loc), fusion_loc_text(m, norm->loc)),
                    .reason = detail ? fusion_reason_name(reason) : "",
                    .detail = detail ? detail : ""};
    fusion_note_add(m, &n);
}

// w * scale, along the last dimension of w.
static IrValue *scaled_weights(Builder *b, IrValue *w, IrValue *scale) {
    uint32_t rank = w->type->rank;
    const IrAffineMap *identity = ir_affine_identity(b->m, rank);
    const IrAffineMap *maps[] = {identity, build_dims_map(b->m, rank, 1, rank - 1), identity};
    IrValue *ins[] = {w, scale}, *out = build_empty(b, w->type);
    Builder body;
    IrOp *op = build_generic(b, 2, ins, 1, &out, maps, rank == 4 ? "pppp" : "ppp", &body);
    IrValue *product = build_binary(&body, IR_ARITH_MULF, body.block->args[0], body.block->args[1]);
    build_yield(&body, IR_LINALG_YIELD, 1, &product);
    return ir_op_result(op, 0);
}

static IrValue *shifted(Builder *b, IrValue *value, IrValue *shift) {
    const IrAffineMap *identity = ir_affine_identity(b->m, 4);
    const IrAffineMap *maps[] = {identity, build_dims_map(b->m, 4, 1, 3u), identity};
    IrValue *ins[] = {value, shift}, *out = build_empty(b, value->type);
    Builder body;
    IrOp *op = build_generic(b, 2, ins, 1, &out, maps, "pppp", &body);
    IrValue *sum = build_binary(&body, IR_ARITH_ADDF, body.block->args[0], body.block->args[1]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    return ir_op_result(op, 0);
}

// The scale or the shift of every channel, before the convolution; NULL if the body is not affine
// or scales by nothing.
static IrValue *part_of(IrModule *m, IrOp *conv, IrOp *generic, uint32_t operand, bool want_scale) {
    Builder b = build_before(m, conv);
    const IrType *type = conv->results[0].type;
    IrValue *ins[MAX_OPERANDS],
        *out = build_empty(&b, ir_type_tensor(m, 1, &type->shape[3], type->elem));
    const IrAffineMap *maps[MAX_OPERANDS + 1];
    uint32_t num = 0;
    for (uint32_t i = 0; i < generic->segments[0]; i++)
        if (i != operand) ins[num++] = ir_op_operand(generic, i);
    for (uint32_t i = 0; i <= num; i++) maps[i] = ir_affine_identity(m, 1);
    Fold f = {.m = m, .body = ir_op_block(generic, 0)};
    f.result = f.one = f.body->args[operand]; // no new op has this value
    IrOp *made = build_generic(&b, num, ins, 1, &out, maps, "p", &f.b);
    ir_value_map_init(&f.map);
    for (uint32_t i = 0, next = 0; i < generic->segments[0]; i++)
        if (i != operand) ir_value_map_set(&f.map, f.body->args[i], f.b.block->args[next++]);
    Affine affine;
    bool fits = split(&f, ir_op_operand(ir_block_terminator(f.body), 0), &affine) && affine.scale &&
                affine.scale != f.one;
    ir_value_map_deinit(&f.map);
    IrValue *value = !fits ? NULL : want_scale ? affine.scale : affine.shift;
    if (!value) value = build_float(&f.b, 0.0, type->elem);
    build_yield(&f.b, IR_LINALG_YIELD, 1, &value);
    if (fits) return ir_op_result(made, 0);
    ir_op_erase(m, made);
    return NULL;
}

static void fold(IrModule *m, const IrOp *func, IrOp *conv) {
    uint32_t operand;
    IrOp *generic = first_reader(conv, &operand);
    if (!generic) return;
    const char *why = obstacle(m, func, conv, generic, operand);
    bool is_forbidden = fusion_forbids(m, conv, generic), norm = is_norm(generic);
    IrValue *scale = why || is_forbidden ? NULL : part_of(m, conv, generic, operand, true);
    if (!scale) {
        if (!why) why = "its body is no scale and shift of the convolution's result";
        // A forbidden pair is noted where it stays apart.
        if (norm && !is_forbidden) note(m, func, conv, generic, REASON_MAP, why);
        return;
    }
    if (norm) note(m, func, conv, generic, NUM_FUSION_REASONS, NULL);
    IrValue *shift = part_of(m, conv, generic, operand, false);
    Builder before = build_before(m, conv), after = build_before(m, generic);
    ir_op_set_operand(conv, 1, scaled_weights(&before, ir_op_operand(conv, 1), scale));
    ir_value_replace_all(ir_op_result(generic, 0), shifted(&after, ir_op_result(conv, 0), shift));
    ir_op_erase(m, generic);
}

Status pass_fold_batch_norm(IrModule *m, DiagSink *sink) {
    (void)sink; // what is not proven stays as it is
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body || ir_op_attr(func, "ingot.composite")) continue;
        FOR_EACH_OP_SAFE(op, body) {
            bool is_depthwise =
                contraction_is(op, "window") && ir_op_operand(op, 1)->type->rank == 3;
            bool is_conv = contraction_is(op, "conv") && ir_op_operand(op, 1)->type->rank == 4;
            if (is_conv || is_depthwise) fold(m, func, op);
        }
    }
    dce_module(m);
    return STATUS_OK;
}
