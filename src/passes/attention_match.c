// Reading attention from the ops it is written with, as canonicalize leaves them; see attention.h.
//
//   %s = product(%q, %k);  %x = generic(%s, %mask)...      scale, masks: any elementwise ops
//   %m = max over keys %x;  %e = exp(%x - %m);  %l = sum over keys %e;  %p = %e / %l
//   %o = sum over keys %p * %v
//
// What is not proven here is not assumed: every op, axis and reader is looked at.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/print.h"
#include "passes/attention.h"

typedef struct Match {
    IrModule *m;
    AttentionMatch *a;
    FusionReason reason;
    const char *detail; // NULL: nothing stands against it
} Match;

static bool block(Match *match, FusionReason reason, const char *detail) {
    match->reason = reason;
    match->detail = detail;
    return false;
}

// ---- small questions

static bool is_structured(const IrOp *op) {
    return op && (ir_op_info(op->kind)->traits & IR_LINALG) && op->num_results == 1 &&
           op->segments[1] == 1 && op->num_operands > 1 &&
           ir_linalg_num_loops(op) <= ATTENTION_MAX_LOOPS;
}

static bool is_elementwise(IrModule *m, const IrOp *op) {
    if (!is_structured(op) || op->kind != IR_LINALG_GENERIC ||
        !ir_affine_is_identity(ir_linalg_map(m, op, op->segments[0])) ||
        !ir_value_is_unused(ir_op_block(op, 0)->args[op->segments[0]]))
        return false;
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (ir_linalg_iterator(op, i) != IR_PARALLEL) return false;
    return true;
}

// Is the value `number` filled everywhere?
static bool is_filled(const IrValue *value, double number) {
    const IrOp *op = value->def_op;
    if (!op || op->kind != IR_LINALG_FILL) return false;
    const IrAttr *c = ir_value_constant(ir_op_operand(op, 0));
    return c && c->kind == IR_ATTR_FLOAT && ir_attr_float_value(c) == number;
}

// Of either sign.
static bool is_zero(const IrValue *value) {
    const IrAttr *c = ir_value_constant(value);
    return c && c->kind == IR_ATTR_FLOAT && ir_attr_float_value(c) == 0.0;
}

// The one dimension a map of plain dimensions in order leaves out; -1: it is no such map.
static int32_t left_out(const IrAffineMap *map) {
    int32_t out = -1;
    uint32_t next = 0, dim;
    if (map->num_results + 1 != map->num_dims) return -1;
    for (uint32_t d = 0; d < map->num_dims; d++) {
        if (next < map->num_results && ir_affine_is_dim(map->results[next], &dim) && dim == d)
            next++;
        else
            out = (int32_t)d;
    }
    return next == map->num_results ? out : -1;
}

// Is op the body's only work, on these two values in this order, or in any if it commutes?
static bool is_body_of(const IrBlock *body, IrOpKind kind, const IrValue *x, const IrValue *y,
                       bool commutes) {
    const IrOp *op = body->first;
    if (op->kind != kind || op->next != body->last ||
        ir_op_operand(body->last, 0) != &op->results[0])
        return false;
    const IrValue *a = ir_op_operand(op, 0), *b = ir_op_operand(op, 1);
    return (a == x && b == y) || (commutes && a == y && b == x);
}

// A reduction of `of` along dimension *out_key with this op, from this start.
static bool reduces(IrModule *m, const IrOp *op, const IrValue *of, IrOpKind kind, double start,
                    int32_t *out_key) {
    if (!is_structured(op) || op->kind != IR_LINALG_GENERIC || op->segments[0] != 1 ||
        ir_op_operand(op, 0) != of || !ir_affine_is_identity(ir_linalg_map(m, op, 0)))
        return false;
    const IrBlock *body = ir_op_block(op, 0);
    *out_key = left_out(ir_linalg_map(m, op, 1));
    return *out_key >= 0 && is_body_of(body, kind, body->args[0], body->args[1], true) &&
           is_filled(ir_op_operand(op, 1), start);
}

// Weights, or zeros where the call has no such key.
static bool is_guard(IrModule *m, const IrOp *op) {
    if (!is_elementwise(m, op) || op->segments[0] != 1 ||
        !ir_affine_is_identity(ir_linalg_map(m, op, 0)))
        return false;
    const IrBlock *body = ir_op_block(op, 0);
    const IrOp *choice = ir_op_operand(body->last, 0)->def_op;
    return choice && choice->block == body && choice->kind == IR_ARITH_SELECT &&
           ir_op_operand(choice, 1) == body->args[0] && is_zero(ir_op_operand(choice, 2));
}

static uint32_t num_readers(const IrValue *value) {
    uint32_t n = 0;
    FOR_EACH_USE(use, value) n++;
    return n;
}

// ---- the softmax

// exp(x - m) with m one number per row of x.
static bool is_exponential(IrModule *m, const IrOp *op, IrValue **out_x, IrValue **out_max,
                           int32_t *out_key) {
    if (!is_elementwise(m, op) || op->segments[0] != 2 ||
        !ir_affine_is_identity(ir_linalg_map(m, op, 0)))
        return false;
    const IrBlock *body = ir_op_block(op, 0);
    const IrOp *sub = body->first, *exp = sub->next;
    *out_key = left_out(ir_linalg_map(m, op, 1));
    *out_x = ir_op_operand(op, 0);
    *out_max = ir_op_operand(op, 1);
    return *out_key >= 0 && sub->kind == IR_ARITH_SUBF && exp && exp->kind == IR_MATH_EXP &&
           exp->next == body->last && ir_op_operand(sub, 0) == body->args[0] &&
           ir_op_operand(sub, 1) == body->args[1] && ir_op_operand(exp, 0) == &sub->results[0] &&
           ir_op_operand(body->last, 0) == &exp->results[0];
}

// exp(...) / ...: what a softmax ends with, however its rows are bounded.
static bool is_quotient_of_exponentials(IrModule *m, const IrOp *op) {
    if (!is_elementwise(m, op) || op->segments[0] != 2 || !ir_op_operand(op, 1)->def_op ||
        !is_elementwise(m, ir_op_operand(op, 0)->def_op))
        return false;
    const IrBlock *body = ir_op_block(op, 0), *of = ir_op_block(ir_op_operand(op, 0)->def_op, 0);
    const IrOp *last = ir_op_operand(of->last, 0)->def_op;
    return is_body_of(body, IR_ARITH_DIVF, body->args[0], body->args[1], false) && last &&
           last->block == of && last->kind == IR_MATH_EXP;
}

// The quotient that ends a softmax: *out_x is what it is of, *out_key the axis.
static bool is_softmax(IrModule *m, const IrOp *op, IrValue **out_x, int32_t *out_key) {
    if (!is_elementwise(m, op) || op->segments[0] != 2 ||
        !ir_affine_is_identity(ir_linalg_map(m, op, 0)))
        return false;
    const IrBlock *body = ir_op_block(op, 0);
    IrValue *exps = ir_op_operand(op, 0), *total = ir_op_operand(op, 1), *max;
    int32_t key_of_sum, key_of_max;
    return is_body_of(body, IR_ARITH_DIVF, body->args[0], body->args[1], false) &&
           is_exponential(m, exps->def_op, out_x, &max, out_key) &&
           left_out(ir_linalg_map(m, op, 1)) == *out_key &&
           reduces(m, total->def_op, exps, IR_ARITH_ADDF, 0.0, &key_of_sum) &&
           key_of_sum == *out_key &&
           (reduces(m, max->def_op, *out_x, IR_ARITH_MAXNUMF, -INFINITY, &key_of_max) ||
            reduces(m, max->def_op, *out_x, IR_ARITH_MAXIMUMF, -INFINITY, &key_of_max)) &&
           key_of_max == *out_key && num_readers(exps) == 2 && num_readers(total) == 1 &&
           num_readers(max) == 1;
}

// ---- products

static bool is_widened(const IrValue *value, const IrValue *arg) {
    const IrOp *op = value->def_op;
    return value == arg || (op && op->kind == IR_ARITH_EXTF && ir_op_operand(op, 0) == arg);
}

// What is chosen where a guard holds, and `otherwise` if it does not. Guards keep what is behind
// the size of a call out of a sum: they are read again on each block, whatever they ask.
static const IrOp *guarded(const IrBlock *body, const IrOp *op, const IrValue *otherwise) {
    if (!op || op->block != body || op->kind != IR_ARITH_SELECT) return op;
    const IrValue *other = ir_op_operand(op, 2);
    return (otherwise ? other == otherwise : is_zero(other)) ? ir_op_operand(op, 1)->def_op : op;
}

// old + a * b or fma(a, b, old) over two inputs, each as it is or widened; sum or product guarded.
static bool is_sum_of_products(const IrOp *op) {
    const IrBlock *body = ir_op_block(op, 0);
    if (op->segments[0] != 2) return false;
    IrValue *const *args = body->args;
    const IrOp *sum = guarded(body, ir_op_operand(body->last, 0)->def_op, args[2]);
    const IrOp *product = sum;
    if (!sum || sum->block != body) return false;
    if (sum->kind == IR_ARITH_ADDF) {
        uint32_t old = ir_op_operand(sum, 0) == args[2] ? 0 : 1;
        product = guarded(body, ir_op_operand(sum, 1 - old)->def_op, NULL);
        if (ir_op_operand(sum, old) != args[2] || !product || product->kind != IR_ARITH_MULF)
            return false;
    } else if (sum->kind != IR_MATH_FMA || ir_op_operand(sum, 2) != args[2]) {
        return false;
    }
    const IrValue *x = ir_op_operand(product, 0), *y = ir_op_operand(product, 1);
    return (is_widened(x, args[0]) && is_widened(y, args[1])) ||
           (is_widened(x, args[1]) && is_widened(y, args[0]));
}

// A sum of products from zero, into distinct dimensions.
static bool is_product(IrModule *m, IrOp *op) {
    if (!is_structured(op) || op->segments[0] != 2) return false;
    if (op->kind != IR_LINALG_MATMUL && op->kind != IR_LINALG_BATCH_MATMUL &&
        op->kind != IR_LINALG_CONTRACT && op->kind != IR_LINALG_GENERIC)
        return false;
    const IrAffineMap *map = ir_linalg_map(m, op, 2);
    bool has_sum = false;
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++) {
        bool is_sum = ir_linalg_iterator(op, i) == IR_REDUCTION;
        for (uint32_t r = 0; is_sum && r < map->num_results; r++)
            if (ir_affine_uses_dim(map->results[r], i)) return false;
        has_sum |= is_sum;
    }
    return has_sum && ir_affine_is_projected_permutation(map) &&
           is_filled(ir_op_operand(op, 2), 0.0) &&
           (op->kind != IR_LINALG_GENERIC || is_sum_of_products(op));
}

// ---- the whole

// From what the softmax reads back to the product, through elementwise ops that read it in place.
static bool find_scores(Match *match, IrValue *x, uint32_t depth) {
    AttentionMatch *a = match->a;
    IrOp *op = x->def_op;
    if (is_product(match->m, op)) {
        a->scores = op;
        a->num_chain = depth;
        return true;
    }
    if (!op || depth == ATTENTION_MAX_CHAIN || !is_elementwise(match->m, op)) return false;
    for (uint32_t i = 0; i < op->segments[0]; i++) {
        IrValue *value = ir_op_operand(op, i);
        if (!ir_type_is_shaped(value->type) ||
            !ir_affine_is_identity(ir_linalg_map(match->m, op, i)) ||
            !find_scores(match, value, depth + 1))
            continue;
        a->chain[a->num_chain - 1 - depth] = op;
        return true;
    }
    return false;
}

void attention_loop_dims(IrModule *m, const AttentionMatch *a, const IrOp *op, int32_t *out_dims) {
    uint32_t at = op == a->scores ? 2 : op == a->sum ? a->weights_at : op->segments[0], dim;
    const IrAffineMap *map = ir_linalg_map(m, op, at);
    for (uint32_t i = 0; i < map->num_dims; i++) out_dims[i] = -1;
    for (uint32_t r = 0; r < map->num_results; r++)
        if (ir_affine_is_dim(map->results[r], &dim)) out_dims[dim] = (int32_t)r;
}

// Query heads that share a key head are as many for each. (Quotients are of numbers that are not
// negative.)
static bool divides(Match *match, const IrAffineExpr *expr, const int64_t *ranges) {
    if (expr->kind == IR_AFFINE_CONST || expr->kind == IR_AFFINE_DIM) return true;
    uint32_t dim;
    int64_t least = 0, most;
    if (expr->kind == IR_AFFINE_FLOORDIV || expr->kind == IR_AFFINE_MOD)
        ir_affine_range(expr->lhs, ranges, &least, &most);
    if (least < 0 || expr->kind == IR_AFFINE_CEILDIV || expr->kind == IR_AFFINE_SYMBOL)
        return block(match, REASON_MAP, "an index is rounded up, or divides a negative number");
    bool is_group = expr->kind == IR_AFFINE_FLOORDIV && ir_affine_is_dim(expr->lhs, &dim) &&
                    expr->rhs->kind == IR_AFFINE_CONST && expr->rhs->value > 0;
    if (is_group && ranges[dim] % expr->rhs->value != 0)
        return block(match, REASON_MAP,
                     arena_printf(&match->m->arena,
                                  "%" PRId64 " heads of queries in groups of %" PRId64
                                  " leave a rest",
                                  ranges[dim], expr->rhs->value));
    return divides(match, expr->lhs, ranges) && divides(match, expr->rhs, ranges);
}

// Can every operand of op be cut into blocks of rows and keys? Each of its dimensions is then one
// loop, or given by loops that stand still inside of a block.
static bool is_cut(Match *match, const IrOp *op) {
    IrModule *m = match->m;
    const AttentionMatch *a = match->a;
    int32_t dims[ATTENTION_MAX_LOOPS];
    int64_t ranges[ATTENTION_MAX_LOOPS];
    attention_loop_dims(m, a, op, dims);
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        if (!ir_type_is_shaped(type)) continue;
        if (!ir_type_is_static(type))
            return block(match, REASON_MAP, "an operand has a size that is not known");
        for (uint32_t r = 0; r < map->num_results; r++) {
            uint32_t dim;
            if (ir_affine_is_dim(map->results[r], &dim)) continue;
            for (uint32_t l = 0; l < map->num_dims; l++) {
                bool stands =
                    dims[l] >= 0 && dims[l] != (int32_t)a->row && dims[l] != (int32_t)a->key;
                if (!stands && ir_affine_uses_dim(map->results[r], l))
                    return block(match, REASON_MAP,
                                 arena_printf(&m->arena, "operand %" PRIu32 " is read at %s", i,
                                              ir_affine_map_text(&m->arena, map)));
            }
            if (!divides(match, map->results[r], ranges)) return false;
        }
    }
    return true;
}

// The rows: the largest dimension of the scores, other than the keys, that the keys do not depend
// on.
static bool find_rows(Match *match) {
    IrModule *m = match->m;
    AttentionMatch *a = match->a;
    int32_t dims[ATTENTION_MAX_LOOPS];
    attention_loop_dims(m, a, a->scores, dims);
    const IrAffineMap *maps[] = {ir_linalg_map(m, a->scores, 0), ir_linalg_map(m, a->scores, 1)};
    bool has_keys[2] = {false, false}, found = false;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t r = 0; r < maps[i]->num_results; r++)
            for (uint32_t l = 0; l < maps[i]->num_dims; l++)
                has_keys[i] |=
                    dims[l] == (int32_t)a->key && ir_affine_uses_dim(maps[i]->results[r], l);
    if (has_keys[0] == has_keys[1])
        return block(match, REASON_MAP, "both factors of the scores, or none, depend on the key");
    const IrAffineMap *keys = maps[has_keys[0] ? 0 : 1];
    for (uint32_t l = 0; l < keys->num_dims; l++) {
        bool is_read = false;
        for (uint32_t r = 0; r < keys->num_results; r++)
            is_read |= ir_affine_uses_dim(keys->results[r], l);
        if (is_read || dims[l] < 0 || (found && a->shape[dims[l]] < a->shape[a->row])) continue;
        found = true;
        a->row = (uint32_t)dims[l];
    }
    return found || block(match, REASON_MAP, "there is one query for each set of keys");
}

// The weighted sum adds up over the keys and nothing else.
static bool check_sum(Match *match) {
    IrModule *m = match->m;
    AttentionMatch *a = match->a;
    int32_t dims[ATTENTION_MAX_LOOPS];
    const IrAffineMap *weights = ir_linalg_map(m, a->sum, a->weights_at);
    if (!ir_affine_is_projected_permutation(weights))
        return block(match, REASON_MAP,
                     arena_printf(&m->arena, "the weights are read at %s",
                                  ir_affine_map_text(&m->arena, weights)));
    attention_loop_dims(m, a, a->sum, dims);
    for (uint32_t l = 0; l < weights->num_dims; l++) {
        bool is_sum = ir_linalg_iterator(a->sum, l) == IR_REDUCTION;
        if (is_sum == (dims[l] == (int32_t)a->key)) continue;
        return block(match, REASON_MAP,
                     arena_printf(&m->arena,
                                  "the softmax runs along dimension %" PRIu32
                                  " of the scores, the weighted sum along %s",
                                  a->key,
                                  dims[l] < 0 ? "none of them"
                                              : arena_printf(&m->arena, "%" PRId32, dims[l])));
    }
    return true;
}

static bool check_readers(Match *match, const IrValue *weights) {
    const AttentionMatch *a = match->a;
    bool is_alone =
        ir_value_has_one_use(weights) && (!a->guard || ir_value_has_one_use(&a->guard->results[0]));
    for (uint32_t i = 0; i <= a->num_chain; i++) {
        const IrOp *op = i ? a->chain[i - 1] : a->scores;
        is_alone &= num_readers(&op->results[0]) == (i == a->num_chain ? 2 : 1);
    }
    return is_alone || block(match, REASON_MULTI_USE,
                             "scores or weights have another reader, which needs all of them");
}

static bool check_types(Match *match) {
    const AttentionMatch *a = match->a;
    bool is_f32 = a->sum->results[0].type->elem->kind == IR_TYPE_F32;
    for (uint32_t i = 0; i <= a->num_chain; i++) {
        const IrOp *op = i ? a->chain[i - 1] : a->scores;
        is_f32 &= op->results[0].type->elem->kind == IR_TYPE_F32;
    }
    return is_f32 || block(match, REASON_DTYPE, "scores and sums are kept as f32 in this form");
}

static bool check_all(Match *match, const IrValue *weights) {
    AttentionMatch *a = match->a;
    const IrType *type = weights->type;
    if (!ir_type_is_static(type) || type->rank > ATTENTION_MAX_RANK || ir_type_num_elems(type) == 0)
        return block(match, REASON_MAP, "the scores have no fixed size");
    a->rank = type->rank;
    memcpy(a->shape, type->shape, type->rank * sizeof *type->shape);
    if (!check_readers(match, weights) || !check_types(match) || !check_sum(match) ||
        !find_rows(match))
        return false;
    for (uint32_t i = 0; i < a->num_chain; i++)
        if (!is_cut(match, a->chain[i])) return false;
    if (a->guard && !is_cut(match, a->guard)) return false;
    return is_cut(match, a->scores) && is_cut(match, a->sum);
}

AttentionFound attention_match(IrModule *m, IrOp *sum, AttentionMatch *out,
                               FusionReason *out_reason, const char **out_detail) {
    *out = (AttentionMatch){.sum = sum};
    if (!is_product(m, sum)) return ATTENTION_NONE;
    Match match = {.m = m, .a = out};
    AttentionFound found = ATTENTION_NONE;
    for (uint32_t i = 0; i < 2; i++) {
        IrValue *weights = ir_op_operand(sum, i), *x = NULL;
        int32_t key;
        out->guard = weights->def_op && is_guard(m, weights->def_op) ? weights->def_op : NULL;
        if (out->guard) weights = ir_op_operand(out->guard, 0);
        if (!weights->def_op || !is_quotient_of_exponentials(m, weights->def_op)) continue;
        out->weights_at = i;
        if (!is_softmax(m, weights->def_op, &x, &key)) {
            *out_reason = REASON_MAP;
            *out_detail = "the weights are no linalg.softmax, and their maxima and sums are not of "
                          "whole rows: a size that varies bounds them";
            found = ATTENTION_BLOCKED;
            continue;
        }
        out->key = (uint32_t)key;
        bool fits =
            find_scores(&match, x, 0)
                ? check_all(&match, weights)
                : block(&match, REASON_MAP, "the scores are no product that this function makes");
        *out_reason = match.reason;
        *out_detail = match.detail;
        return fits ? ATTENTION_FOUND : ATTENTION_BLOCKED;
    }
    return found;
}
