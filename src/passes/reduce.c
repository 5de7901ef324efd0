// The edits and the loop around them; see reduce.h. Each kind of edit is a function that makes the
// index-th simplification of its kind and says whether there was one. What it leaves may be
// invalid: the verifier decides.
#include "passes/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/build.h"
#include "passes/dce.h"

typedef bool (*Edit)(IrModule **m, uint32_t index);

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

static bool is_called(const IrModule *m, const IrOp *func) {
    FOR_EACH_OP(caller, ir_op_block(m->op, 0)) {
        if (!is_func(caller)) continue;
        FOR_EACH_OP(op, ir_func_body(caller))
        if (ir_is_call_of(op, func)) return true;
    }
    return false;
}

// ---------------------------------------------------------------- finding

typedef struct Finder {
    uint32_t left;
    bool top_level_only;
    IrOp *found;
} Finder;

static void visit_op(IrOp *op, void *ctx) {
    Finder *f = ctx;
    const IrOp *parent = ir_op_parent(op);
    if (f->found || op->num_results == 0 || !parent) return;
    if (f->top_level_only && parent->kind != IR_FUNC_FUNC) return;
    if (f->left-- == 0) f->found = op;
}

// From the end, so that a cut frees as much as it can.
static uint32_t count_ops(IrModule *m, bool top_level_only) {
    Finder f = {.left = UINT32_MAX, .top_level_only = top_level_only};
    ir_walk(m->op, visit_op, &f);
    return UINT32_MAX - f.left;
}

static IrOp *nth_op(IrModule *m, uint32_t index, bool top_level_only) {
    uint32_t num = count_ops(m, top_level_only);
    if (index >= num) return NULL;
    Finder f = {.left = num - 1 - index, .top_level_only = top_level_only};
    ir_walk(m->op, visit_op, &f);
    return f.found;
}

static void count_all(IrOp *op, void *ctx) {
    (void)op;
    ++*(uint32_t *)ctx;
}

static uint32_t num_ops(const IrModule *m) {
    uint32_t n = 0;
    ir_walk(m->op, count_all, &n);
    return n;
}

// ---------------------------------------------------------------- edits

static bool drop_function(IrModule **m, uint32_t index) {
    FOR_EACH_OP(op, ir_module_body(*m)) {
        if (op->kind != IR_FUNC_FUNC || is_called(*m, op) || index-- > 0) continue;
        ir_op_erase(*m, op);
        return true;
    }
    return false;
}

// Of one function and what it calls: all that is kept.
static bool keep_only(IrModule **m, uint32_t index) {
    IrOp *kept = NULL;
    FOR_EACH_OP(op, ir_module_body(*m))
    if (is_func(op) && index-- == 0) kept = op;
    if (!kept) return false;
    ir_op_set_attr(*m, kept, "sym_visibility", NULL);
    // dce drops private functions that nothing calls: the others become such, callers first.
    FOR_EACH_OP(op, ir_module_body(*m))
    if (op != kept && is_func(op))
        ir_op_set_attr(*m, op, "sym_visibility", ir_attr_string(*m, "private"));
    return true;
}

// What an op computes is returned, instead of what was.
static bool return_early(IrModule **m, uint32_t index) {
    IrOp *op = nth_op(*m, index, true);
    if (!op) return false;
    IrOp *func = ir_op_parent(op);
    IrOp *end = ir_block_terminator(ir_func_body(func));
    bool is_returned = end->num_operands == op->num_results;
    for (uint32_t r = 0; is_returned && r < op->num_results; r++)
        is_returned = ir_op_operand(end, r) == ir_op_result(op, r);
    if (is_called(*m, func) || end->kind != IR_FUNC_RETURN || is_returned) return true;
    while (end->num_operands > 0) ir_op_remove_operand(end, end->num_operands - 1);
    for (uint32_t r = 0; r < op->num_results; r++)
        ir_op_add_operand(*m, end, 0, ir_op_result(op, r));
    ir_op_set_attr(*m, func, "res_attrs", NULL);
    ir_func_update_type(*m, func);
    return true;
}

// Ops that have effects stay without readers: calls, stores, loops over memory.
static void visit_erasable(IrOp *op, void *ctx) {
    Finder *f = ctx;
    bool is_end = !op->next || ir_op_info(op->kind)->traits & (IR_TERMINATOR | IR_SYMBOL);
    if (f->found || !op->block || is_end) return;
    for (uint32_t r = 0; r < op->num_results; r++)
        if (!ir_value_is_unused(ir_op_result(op, r))) return;
    if (f->left-- == 0) f->found = op;
}

static bool erase_unread(IrModule **m, uint32_t index) {
    Finder f = {.left = index};
    ir_walk((*m)->op, visit_erasable, &f);
    if (f.found) ir_op_erase(*m, f.found);
    return f.found != NULL;
}

static bool drop_result(IrModule **m, uint32_t index) {
    FOR_EACH_OP(func, ir_module_body(*m)) {
        if (!is_func(func) || is_called(*m, func)) continue;
        IrOp *end = ir_block_terminator(ir_func_body(func));
        if (end->num_operands < 2) continue;
        if (index >= end->num_operands) {
            index -= end->num_operands;
            continue;
        }
        ir_op_remove_operand(end, index);
        ir_op_set_attr(*m, func, "res_attrs", NULL);
        ir_func_update_type(*m, func);
        return true;
    }
    return false;
}

static bool drop_argument(IrModule **m, uint32_t index) {
    FOR_EACH_OP(func, ir_module_body(*m)) {
        if (!is_func(func) || is_called(*m, func)) continue;
        IrBlock *body = ir_func_body(func);
        for (uint32_t i = 0; i < body->num_args; i++) {
            if (!ir_value_is_unused(body->args[i]) || index-- > 0) continue;
            ir_func_remove_arg(*m, func, i);
            return true;
        }
    }
    return false;
}

static void erase_if_unread(IrModule *m, IrOp *op) {
    for (uint32_t r = 0; r < op->num_results; r++)
        if (!ir_value_is_unused(ir_op_result(op, r))) return;
    ir_op_erase(m, op);
}

// The results of an op become arguments of its function: what computes them is gone.
static bool cut_at_op(IrModule **m, uint32_t index) {
    IrOp *op = nth_op(*m, index, true);
    if (!op) return false;
    IrOp *func = ir_op_parent(op);
    bool is_free = op->kind == IR_ARITH_CONSTANT || op->kind == IR_TENSOR_EMPTY;
    if (!is_free && !is_called(*m, func)) {
        for (uint32_t r = 0; r < op->num_results; r++) {
            IrValue *result = ir_op_result(op, r);
            if (ir_value_is_unused(result)) continue;
            IrValue *arg = ir_func_insert_arg(*m, func, ir_func_body(func)->num_args, result->type);
            ir_value_replace_all(result, arg);
        }
        ir_func_update_type(*m, func);
        erase_if_unread(*m, op);
    }
    return true;
}

static bool replace_by_operand(IrModule **m, uint32_t index) {
    uint32_t seen = 0;
    for (uint32_t i = 0;; i++) {
        IrOp *op = nth_op(*m, i, false);
        if (!op) return false;
        for (uint32_t k = 0; op->num_results == 1 && k < op->num_operands; k++) {
            IrValue *operand = ir_op_operand(op, k);
            if (operand->type != op->results[0].type || seen++ != index) continue;
            ir_value_replace_all(ir_op_result(op, 0), operand);
            erase_if_unread(*m, op);
            return true;
        }
    }
}

static bool replace_by_constant(IrModule **m, uint32_t index) {
    IrOp *op = nth_op(*m, index, false);
    if (!op) return false;
    Builder b = build_before(*m, op);
    for (uint32_t r = 0; r < op->num_results && op->kind != IR_ARITH_CONSTANT; r++) {
        IrValue *result = ir_op_result(op, r);
        const IrType *type = result->type;
        bool is_tensor = type->kind == IR_TYPE_TENSOR && ir_type_is_static(type);
        if (ir_type_is_scalar(type))
            ir_value_replace_all(result, build_zero(&b, type));
        else if (is_tensor && op->kind != IR_LINALG_FILL && op->kind != IR_TENSOR_EMPTY &&
                 !ir_value_is_unused(result))
            ir_value_replace_all(result, build_filled(&b, type, 0.0));
    }
    erase_if_unread(*m, op);
    return true;
}

static bool drop_attribute(IrModule **m, uint32_t index) {
    IrOp *ops[2] = {(*m)->op, NULL};
    for (IrOp *op = ops[0]; op; op = op == ops[0] ? ir_module_body(*m)->first : op->next) {
        for (uint32_t i = 0; i < op->num_attrs; i++) {
            const char *name = op->attrs[i].name;
            bool is_ours = str_has_prefix(name, "ingot.") || str_equal(name, "arg_attrs") ||
                           str_equal(name, "res_attrs");
            if (!is_ours || index-- > 0) continue;
            ir_op_set_attr(*m, op, name, NULL);
            return true;
        }
    }
    return false;
}

static void make_splat(IrOp *op, void *ctx) {
    struct {
        IrModule *m;
        uint32_t left;
        bool is_done;
    } *c = ctx;
    const IrAttr *value = op->kind == IR_ARITH_CONSTANT ? ir_op_attr(op, "value") : NULL;
    if (c->is_done || !value || value->kind != IR_ATTR_DENSE || value->is_splat) return;
    if (c->left-- > 0) return;
    uint32_t bytes = ir_type_bytes(value->type->elem);
    ir_op_set_attr(c->m, op, "value", ir_attr_dense(c->m, value->type, value->data, bytes, true));
    c->is_done = true;
}

static bool simplify_constant(IrModule **m, uint32_t index) {
    struct {
        IrModule *m;
        uint32_t left;
        bool is_done;
    } c = {*m, index, false};
    ir_walk((*m)->op, make_splat, &c);
    return c.is_done;
}

// ---- sizes: a number is replaced everywhere in the text, so that types and attributes agree

enum { MAX_SIZES = 256 };

static uint32_t find_sizes(const char *text, uint64_t sizes[MAX_SIZES]) {
    uint32_t num = 0;
    for (const char *at = text; *at; at++) {
        bool is_start = *at >= '1' && *at <= '9' && (at == text || strchr("<x[ ,", at[-1]));
        if (!is_start) continue;
        char *end;
        uint64_t size = strtoull(at, &end, 10);
        bool is_size = *end == 'x' && size > 1;
        at = end - 1;
        uint32_t i = 0;
        while (i < num && sizes[i] != size) i++;
        if (is_size && i == num && num < MAX_SIZES) sizes[num++] = size;
    }
    return num;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static void replace_number(const char *text, uint64_t from, uint64_t to, StrBuf *out) {
    for (const char *at = text; *at;) {
        bool is_inner = at > text && (is_digit(at[-1]) || at[-1] == '.' || at[-1] == 'f' ||
                                      at[-1] == 'i' || at[-1] == '%' || at[-1] == 'd');
        if (!is_digit(*at) || is_inner) {
            strbuf_putc(out, *at++);
            continue;
        }
        char *end;
        uint64_t number = strtoull(at, &end, 10);
        if (number == from && *end != '.')
            strbuf_printf(out, "%llu", (unsigned long long)to);
        else
            strbuf_append(out, at, (size_t)(end - at));
        at = end;
    }
}

static bool shrink_size(IrModule **m, uint32_t index) {
    StrBuf text = {0}, smaller = {0};
    uint64_t sizes[MAX_SIZES];
    ir_print(*m, NULL, &text);
    uint32_t num = find_sizes(text.data, sizes);
    bool is_there = index < 2 * num;
    if (is_there) {
        uint64_t size = sizes[index / 2], to = index % 2 ? size / 2 : 1;
        DiagSink quiet;
        diag_sink_init(&quiet);
        IrModule *made = NULL;
        replace_number(text.data, size, to, &smaller);
        if (to != size &&
            ir_parse(smaller.data, smaller.len, "reduced", &quiet, &made) == STATUS_OK) {
            ir_module_destroy(*m);
            *m = made;
        }
        diag_sink_deinit(&quiet);
    }
    strbuf_deinit(&text);
    strbuf_deinit(&smaller);
    return is_there;
}

// ---------------------------------------------------------------- the loop

static const Edit edits[] = {keep_only,     drop_function,  return_early,       drop_result,
                             erase_unread,  cut_at_op,      replace_by_operand, replace_by_constant,
                             drop_argument, drop_attribute, simplify_constant,  shrink_size};

static bool is_valid(IrModule *m) {
    DiagSink quiet;
    diag_sink_init(&quiet);
    const IrVerifyOptions options = {.allow_test_ops = true};
    bool is_good = ir_verify(m, &options, &quiet) == STATUS_OK;
    diag_sink_deinit(&quiet);
    return is_good;
}

static char *text_of(const IrModule *m) {
    StrBuf text = {0};
    ir_print(m, NULL, &text);
    return text.data;
}

static void count_work(IrOp *op, void *ctx) {
    bool is_free = op->kind == IR_ARITH_CONSTANT || op->kind == IR_TENSOR_EMPTY ||
                   op->kind == IR_LINALG_FILL || op->kind == IR_FUNC_RETURN;
    *(uint32_t *)ctx += !is_free;
}

// Fewer ops that compute, else shorter, else smaller numbers: every edit that is kept goes down, so
// that there is an end.
static bool is_simpler(const IrModule *a, const char *a_text, const IrModule *b,
                       const char *b_text) {
    uint32_t x = 0, y = 0;
    ir_walk(a->op, count_work, &x);
    ir_walk(b->op, count_work, &y);
    if (x != y) return x < y;
    size_t m = strlen(a_text), n = strlen(b_text);
    return m != n ? m < n : strcmp(a_text, b_text) < 0;
}

// Tries one edit on a copy; true if there was one. *current becomes the copy if it is kept.
static bool try_edit(IrModule **current, Edit edit, uint32_t index, ReduceTest test, void *ctx,
                     ReduceReport *report, bool *out_is_kept) {
    IrModule *copy = ir_module_clone(*current);
    *out_is_kept = false;
    bool is_there = edit(&copy, index);
    if (is_there) {
        dce_module(copy);
        char *before = text_of(*current), *after = text_of(copy);
        if (is_simpler(copy, after, *current, before) && is_valid(copy)) {
            report->num_tried++;
            *out_is_kept = test(copy, ctx);
        }
        free(before);
        free(after);
    }
    if (*out_is_kept) {
        report->num_kept++;
        ir_module_destroy(*current);
        *current = copy;
    } else {
        ir_module_destroy(copy);
    }
    return is_there;
}

IrModule *reduce_module(const IrModule *m, ReduceTest test, ReduceProgress progress, void *ctx,
                        uint32_t max_tests, ReduceReport *out_report) {
    IrModule *current = ir_module_clone(m);
    *out_report = (ReduceReport){.ops_before = num_ops(m)};
    bool any = true;
    while (any) {
        any = false;
        for (size_t e = 0; e < ARRAY_LEN(edits); e++) {
            for (uint32_t index = 0; out_report->num_tried < max_tests;) {
                bool is_kept;
                if (!try_edit(&current, edits[e], index, test, ctx, out_report, &is_kept)) break;
                any |= is_kept;
                if (is_kept && progress)
                    progress(current, out_report->num_tried, out_report->num_kept, ctx);
                index += !is_kept;
            }
        }
    }
    out_report->ops_after = num_ops(current);
    return current;
}
