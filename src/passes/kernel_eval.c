// Evaluates index arithmetic; see kernel_eval.h.
#include "passes/kernel_eval.h"

#include <stdlib.h>

// Values visited at most: text from outside may share operands so that a walk would never end.
enum { MAX_VISITS = 512, MAX_MAP_OPERANDS = 8 };

void places_init(Places *places, uint32_t first, uint32_t last) {
    *places = (Places){.first = first, .num_pages = (last - first) / PLACES_PAGE + 1};
    places->pages = base_alloc(places->num_pages, sizeof *places->pages);
}

void places_deinit(Places *places) {
    for (uint32_t i = 0; i < places->num_pages; i++) free(places->pages[i]);
    free(places->pages);
    *places = (Places){0};
}

void places_add(Places *places, uint32_t number) {
    uint32_t at = number - places->first;
    uint32_t **page = &places->pages[at / PLACES_PAGE];
    if (!*page) *page = base_alloc(PLACES_PAGE, sizeof **page);
    (*page)[at % PLACES_PAGE] = ++places->count;
}

void eval_init(Eval *eval, const Places *places, uint32_t num_values) {
    eval->places = places;
    eval->len = num_values;
    eval->values = base_alloc(num_values, sizeof *eval->values);
    eval->is_set = base_alloc(num_values, sizeof *eval->is_set);
}

static uint32_t place_of(const Eval *eval, const IrValue *v) {
    return eval->places ? places_find(eval->places, v->index) : v->index;
}

void eval_deinit(Eval *eval) {
    free(eval->values);
    free(eval->is_set);
    *eval = (Eval){0};
}

void eval_set(Eval *eval, const IrValue *v, int64_t value) {
    uint32_t i = place_of(eval, v);
    if (i >= eval->len) return;
    eval->values[i] = value;
    eval->is_set[i] = true;
}

void eval_forget(Eval *eval, const IrValue *v) {
    uint32_t i = place_of(eval, v);
    if (i < eval->len) eval->is_set[i] = false;
}

static bool is_set_at(const Eval *e, const IrValue *v, int64_t *out) {
    uint32_t i = place_of(e, v);
    if (i >= e->len || !e->is_set[i]) return false;
    *out = e->values[i];
    return true;
}

static bool compare(const char *predicate, int64_t a, int64_t b, bool *out) {
    static const char names[][4] = {"eq",  "ne",  "ult", "slt", "ule",
                                    "sle", "ugt", "sgt", "uge", "sge"};
    const bool truths[] = {a == b, a != b, a<b, a<b, a <= b, a <= b, a> b, a> b, a >= b, a >= b};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(names[i], predicate)) {
            *out = truths[i];
            return true;
        }
    return false;
}

static bool binary(IrOpKind kind, int64_t a, int64_t b, int64_t *out) {
    switch (kind) {
    case IR_ARITH_ADDI: return !__builtin_add_overflow(a, b, out);
    case IR_ARITH_SUBI: return !__builtin_sub_overflow(a, b, out);
    case IR_ARITH_MULI: return !__builtin_mul_overflow(a, b, out);
    case IR_ARITH_DIVUI:
    case IR_ARITH_DIVSI: *out = b > 0 ? a / b : 0; return b > 0 && a >= 0;
    case IR_ARITH_REMUI:
    case IR_ARITH_REMSI: *out = b > 0 ? a % b : 0; return b > 0 && a >= 0;
    case IR_ARITH_MINUI:
    case IR_ARITH_MINSI: *out = MIN(a, b); return true;
    case IR_ARITH_MAXUI:
    case IR_ARITH_MAXSI: *out = MAX(a, b); return true;
    default: return false;
    }
}

static bool eval_at(const Eval *e, const IrValue *v, int64_t *out, int *visits);

// The map's results: one, or the least or greatest of them.
static bool eval_map(const Eval *e, const IrOp *op, int64_t *out, int *visits) {
    const IrAffineMap *map = ir_op_attr(op, "map")->map;
    int64_t operands[MAX_MAP_OPERANDS];
    if (op->num_operands > MAX_MAP_OPERANDS) return false;
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (!eval_at(e, ir_op_operand(op, i), &operands[i], visits)) return false;
    for (uint32_t i = 0; i < map->num_results; i++) {
        int64_t value = ir_affine_eval(map->results[i], operands, operands + map->num_dims);
        bool is_better = op->kind == IR_AFFINE_MIN ? value < *out : value > *out;
        if (i == 0 || is_better) *out = value;
    }
    return map->num_results > 0;
}

static bool eval_op(const Eval *e, const IrOp *op, int64_t *out, int *visits) {
    int64_t a, b;
    bool truth;
    switch (op->kind) {
    case IR_ARITH_CONSTANT: return ir_value_constant_int(&op->results[0], out);
    case IR_ARITH_INDEX_CAST:
    case IR_ARITH_INDEX_CASTUI: return eval_at(e, ir_op_operand(op, 0), out, visits);
    case IR_ARITH_CMPI:
        if (!eval_at(e, ir_op_operand(op, 0), &a, visits) ||
            !eval_at(e, ir_op_operand(op, 1), &b, visits) ||
            !compare(ir_op_attr(op, "predicate")->str, a, b, &truth))
            return false;
        *out = truth;
        return true;
    case IR_ARITH_SELECT:
        return eval_at(e, ir_op_operand(op, 0), &a, visits) &&
               eval_at(e, ir_op_operand(op, a ? 1 : 2), out, visits);
    case IR_MEMREF_LOAD: // of a buffer whose elements all have one known value
        return is_set_at(e, ir_op_operand(op, 0), out);
    case IR_AFFINE_APPLY:
    case IR_AFFINE_MIN:
    case IR_AFFINE_MAX: return eval_map(e, op, out, visits);
    default:
        return op->num_operands == 2 && eval_at(e, ir_op_operand(op, 0), &a, visits) &&
               eval_at(e, ir_op_operand(op, 1), &b, visits) && binary(op->kind, a, b, out);
    }
}

static bool eval_at(const Eval *e, const IrValue *v, int64_t *out, int *visits) {
    if (is_set_at(e, v, out)) return true;
    return ++*visits < MAX_VISITS && v->def_op && ir_type_is_int_or_index(v->type) &&
           eval_op(e, v->def_op, out, visits);
}

bool eval_value(const Eval *eval, const IrValue *v, int64_t *out) {
    int visits = 0;
    return eval_at(eval, v, out, &visits);
}

void eval_refresh(Eval *eval, const IrOp *op) {
    int64_t value;
    int visits = 0;
    if (eval_op(eval, op, &value, &visits))
        eval_set(eval, &op->results[0], value);
    else
        eval_forget(eval, &op->results[0]);
}
