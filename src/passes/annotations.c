// Checks the annotations of a module before passes rely on them: a dump may have been edited.
#include <string.h>

#include "passes/contraction.h"
#include "passes/pass.h"

#define K(kind) (1u << IR_ATTR_##kind)
#define AUTHOR  (1u << 31)

typedef struct Annotation {
    const char *name;
    uint32_t kinds;
} Annotation;

static const Annotation annotations[] = {
#define ANNOTATION(name, kinds, meaning) {name, kinds},
#include "passes/annotations.def"
#undef ANNOTATION
};

typedef struct Check {
    DiagSink *sink;
    Status status;
    bool is_author; // what passes write is refused too
} Check;

static void refuse_unknown(Check *check, const char *name, const IrLoc *loc) {
    const char *names[ARRAY_LEN(annotations)];
    for (size_t i = 0; i < ARRAY_LEN(annotations); i++) names[i] = annotations[i].name;
    const char *nearest = str_nearest(name, names, ARRAY_LEN(names));
    check->status =
        diag_error(check->sink, DIAG_P0011, ir_loc_span(loc), "there is no annotation '%s'", name);
    if (nearest) diag_write(check->sink, "%s", nearest);
}

static void check_attr(Check *check, const char *name, const IrAttr *attr, const IrLoc *loc) {
    if (!str_has_prefix(name, "ingot.") || check->status != STATUS_OK) return;
    for (size_t i = 0; i < ARRAY_LEN(annotations); i++) {
        if (!str_equal(annotations[i].name, name)) continue;
        if (!(annotations[i].kinds >> attr->kind & 1))
            check->status = diag_error(check->sink, DIAG_P0011, ir_loc_span(loc),
                                       "annotation %s has a value of another kind", name);
        else if (check->is_author && !(annotations[i].kinds & AUTHOR))
            check->status = diag_error(check->sink, DIAG_P0011, ir_loc_span(loc),
                                       "annotation %s is made by the compiler alone", name);
        return;
    }
    refuse_unknown(check, name, loc);
}

static bool is_text(const IrAttr *attr) {
    return attr && attr->kind == IR_ATTR_STRING;
}

// A parameter: its name, or the names of several.
static bool is_param(const IrAttr *attr) {
    if (!attr || is_text(attr)) return attr != NULL;
    if (attr->kind != IR_ATTR_ARRAY || attr->num_elems == 0) return false;
    for (size_t i = 0; i < attr->num_elems; i++)
        if (!is_text(attr->elems[i])) return false;
    return true;
}

static bool is_init_args(const IrAttr *attr) {
    for (size_t i = 0; i < attr->num_elems; i++) {
        const IrAttr *arg = attr->elems[i];
        if (arg->kind != IR_ATTR_DICT || !is_param(ir_attr_dict_find(arg, "param"))) return false;
        const IrAttr *plane = ir_attr_dict_find(arg, "plane");
        if (plane && !is_text(plane)) return false;
    }
    return true;
}

static void check_argument(Check *check, const IrOp *func, uint32_t arg) {
    const IrAttr *param = ir_func_arg_attr(func, arg, "ingot.param");
    const IrAttr *init = ir_func_arg_attr(func, arg, "ingot.init");
    const IrAttr *init_args = ir_func_arg_attr(func, arg, "ingot.init_args");
    const IrType *type = ir_func_body(func)->args[arg]->type;
    bool is_weight = param || init;
    bool fits = (!param || is_param(param)) && (!init_args || is_init_args(init_args)) &&
                (init == NULL) == (init_args == NULL) &&
                (!is_weight || (ir_type_is_shaped(type) && ir_type_is_static(type)));
    if (!fits && check->status == STATUS_OK)
        check->status = diag_error(check->sink, DIAG_P0011, ir_loc_span(func->loc),
                                   "argument %u of @%s: its annotations name no parameter", arg,
                                   ir_symbol_name(func));
}

static void check_op(IrOp *op, void *ctx) {
    Check *check = ctx;
    for (uint32_t i = 0; i < op->num_attrs; i++)
        check_attr(check, op->attrs[i].name, op->attrs[i].attr, op->loc);
    const IrAttr *form = ir_op_attr(op, "ingot.contract");
    if (form && check->status == STATUS_OK && !contraction_fits(op))
        check->status = diag_error(check->sink, DIAG_P0011, ir_loc_span(op->loc),
                                   "this op is no contraction of the form ingot.contract names");
    if (op->kind != IR_FUNC_FUNC) return;
    const IrAttr *lists[] = {ir_op_attr(op, "arg_attrs"), ir_op_attr(op, "res_attrs")};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (size_t i = 0; lists[l] && i < lists[l]->num_elems; i++)
            for (size_t k = 0; k < lists[l]->elems[i]->num_entries; k++)
                check_attr(check, lists[l]->elems[i]->entries[k].name,
                           lists[l]->elems[i]->entries[k].attr, op->loc);
    IrBlock *body = ir_func_body(op);
    for (uint32_t i = 0; body && i < body->num_args && check->status == STATUS_OK; i++)
        check_argument(check, op, i);
}

Status pass_annotations_check(IrModule *m, DiagSink *sink) {
    Check check = {.sink = sink};
    ir_walk(m->op, check_op, &check);
    return check.status;
}

Status pass_annotations_check_author(IrModule *m, DiagSink *sink) {
    Check check = {.sink = sink, .is_author = true};
    ir_walk(m->op, check_op, &check);
    return check.status;
}
