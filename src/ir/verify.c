// The verifier: for every op its structure (regions, dominance), its place (level, V14), the rules
// of the tables, and what only code can say. Upstream's rules for the subset with messages close to
// its own, and the stricter rules V1 to V15 of docs/ir.md.
#include "ir/verify.h"

#include <stdarg.h>
#include <stdlib.h>

#include "ir/print.h"
#include "ir/verify_internal.h"

bool verify_fail(Verifier *v, DiagCode code, const IrOp *op, const char *fmt, ...) {
    StrBuf text = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    diag_report(v->sink, DIAG_ERROR, code, ir_loc_span(op->loc), "'%s' op %s",
                ir_op_info(op->kind)->name, text.data ? text.data : "");
    strbuf_deinit(&text);
    v->num_faults++;
    return false;
}

static const char *keep_text(Verifier *v, StrBuf *text) {
    const char *kept = arena_strndup(&v->arena, text->data ? text->data : "", text->len);
    strbuf_deinit(text);
    return kept;
}

const char *verify_type(Verifier *v, const IrType *type) {
    StrBuf text = {0};
    ir_print_type(type, &text);
    return keep_text(v, &text);
}

const char *verify_map(Verifier *v, const IrAffineMap *map) {
    StrBuf text = {0};
    ir_print_affine_map(map, &text);
    return keep_text(v, &text);
}

const IrAttr *verify_attr(const IrOp *op, const char *name, IrAttrKind kind) {
    const IrAttr *attr = ir_op_attr(op, name);
    return attr && attr->kind == kind ? attr : NULL;
}

bool verify_sizes_fit(int64_t a, int64_t b) {
    return a == b || a == IR_DYNAMIC || b == IR_DYNAMIC;
}

bool verify_same_shape(const IrType *a, const IrType *b) {
    if (!ir_type_is_shaped(a) || !ir_type_is_shaped(b)) {
        return ir_type_is_shaped(a) == ir_type_is_shaped(b);
    }
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) return false;
    }
    return true;
}

// ---------------------------------------------------------------- V14: levels and annotations

// Level 1 has tensors, those behind it have memrefs.
static bool type_is_of_other_level(const IrType *type, uint32_t level) {
    bool is_memref = type->kind == IR_TYPE_MEMREF || type->kind == IR_TYPE_UNRANKED_MEMREF;
    bool is_tensor = type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_UNRANKED_TENSOR;
    if (level == 1 ? is_memref : is_tensor) return true;
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        if (type_is_of_other_level(type->inputs[i], level)) return true;
    }
    for (uint32_t i = 0; i < type->num_results; i++) {
        if (type_is_of_other_level(type->results[i], level)) return true;
    }
    return false;
}

static bool attr_is_builtin(const IrAttr *attr) {
    if (attr->kind == IR_ATTR_OPAQUE_ENUM) return false;
    for (size_t i = 0; attr->kind == IR_ATTR_ARRAY && i < attr->num_elems; i++) {
        if (!attr_is_builtin(attr->elems[i])) return false;
    }
    for (size_t i = 0; attr->kind == IR_ATTR_DICT && i < attr->num_entries; i++) {
        if (!attr_is_builtin(attr->entries[i].attr)) return false;
    }
    return true;
}

static bool check_annotations(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        if (str_has_prefix(op->attrs[i].name, "ingot.") && !attr_is_builtin(op->attrs[i].attr)) {
            return verify_fail(v, DIAG_I0134, op,
                               "has the annotation '%s' whose value is not builtin",
                               op->attrs[i].name);
        }
    }
    return true;
}

static bool check_ranked(Verifier *v, const IrOp *op, const IrType *type) {
    if (type->kind != IR_TYPE_UNRANKED_TENSOR && type->kind != IR_TYPE_UNRANKED_MEMREF) return true;
    bool is_good = verify_fail(v, DIAG_I0104, op,
                               "has the unranked type '%s', which only a test driver may use",
                               verify_type(v, type));
    diag_write(v->sink, "a type with its sizes: tensor<?x...> where one is unknown");
    return is_good;
}

static bool check_unranked(Verifier *v, const IrOp *op) {
    if (v->options.allow_test_ops) return true;
    for (uint32_t i = 0; i < op->num_results; i++)
        if (!check_ranked(v, op, op->results[i].type)) return false;
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++)
        if (!check_ranked(v, op, block->args[i]->type)) return false;
    return true;
}

static bool check_level(Verifier *v, const IrOp *op) {
    uint32_t level = v->options.level;
    if (v->options.is_planned && op->kind == IR_MEMREF_ALLOC) {
        return verify_fail(v, DIAG_I0134, op, "allocates after the memory plan");
    }
    if (!level) return true;
    if (!(ir_op_info(op->kind)->levels & 1u << level)) {
        return verify_fail(v, DIAG_I0134, op, "does not exist at level %u", level);
    }
    const char *what = level == 1 ? "memref" : "tensor";
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (type_is_of_other_level(op->results[i].type, level)) {
            return verify_fail(v, DIAG_I0134, op, "has the %s type '%s' at level %u", what,
                               verify_type(v, op->results[i].type), level);
        }
    }
    const IrAttr *type = verify_attr(op, "function_type", IR_ATTR_TYPE);
    if (type && type_is_of_other_level(type->type, level)) {
        return verify_fail(v, DIAG_I0134, op, "has a %s in its type at level %u", what, level);
    }
    return true;
}

// ---------------------------------------------------------------- walk

static void verify_op(Verifier *v, const IrOp *op) {
    VerifyCheck check = verify_check_of(op->kind);
    bool is_good = verify_dominance(v, op) && check_level(v, op) && check_annotations(v, op) &&
                   check_unranked(v, op) && verify_rules(v, op) && verify_regions(v, op);
    if (is_good && check) is_good = check(v, op);
    for (uint32_t r = 0; r < op->num_regions; r++) {
        verify_number_region(v, &op->regions[r]);
        FOR_EACH_BLOCK(block, &op->regions[r]) {
            FOR_EACH_OP(inner, block) verify_op(v, inner);
        }
    }
    // Follows chains of ops, so only where all of them are sound.
    if (!v->num_faults && op->kind == IR_FUNC_FUNC) (void)verify_arena_overlap(v, op);
}

Status ir_verify(IrModule *m, const IrVerifyOptions *options, DiagSink *sink) {
    Verifier v = {.m = m, .sink = sink};
    if (options) v.options = *options;
    arena_init(&v.arena);
    v.position = ARENA_ARRAY(&v.arena, uint32_t, m->num_ops + 1);
    v.block_number = ARENA_ARRAY(&v.arena, uint32_t, m->num_ops + 1);
    verify_op(&v, m->op);
    free(v.dominators);
    arena_deinit(&v.arena);
    return v.num_faults ? STATUS_INVALID : STATUS_OK;
}
