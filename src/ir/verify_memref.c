// Checks of memref operations: layouts, V2, V3, V4, V8, and where a memref lies (V6).
#include <stdlib.h>

#include "ir/verify_internal.h"

static uint32_t num_dynamic(const IrType *type) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < type->rank; i++) n += type->shape[i] == IR_DYNAMIC;
    return n;
}

// Bytes of a static row-major memref; -1 if unknown or too large.
static int64_t memref_bytes(const IrType *type) {
    int64_t total = ir_type_bytes(type->elem);
    if (type->has_layout) return -1;
    for (uint32_t i = 0; i < type->rank; i++) {
        if (type->shape[i] == IR_DYNAMIC) return -1;
        if (__builtin_mul_overflow(total, type->shape[i], &total)) return -1;
    }
    return total;
}

static bool is_power_of_two(const IrAttr *attr) {
    return attr && attr->kind == IR_ATTR_INT && attr->i > 0 && !(attr->i & (attr->i - 1));
}

// memref.alloc, memref.alloca
bool verify_alloc(Verifier *v, const IrOp *op) {
    const IrType *type = op->results[0].type;
    const IrAttr *alignment = ir_op_attr(op, "alignment");
    if (op->num_operands != num_dynamic(type)) {
        FAIL_TYPE("dimension operand count does not equal memref dynamic dimension count");
    }
    if (alignment && !is_power_of_two(alignment)) FAIL_ATTR("alignment must be a power of two");
    if (type->has_layout) FAIL_TYPE("allocates with a strided layout");
    return true;
}

bool verify_assume_alignment(Verifier *v, const IrOp *op) {
    if (!is_power_of_two(ir_op_attr(op, "alignment"))) FAIL_ATTR("alignment must be power of 2");
    if (op->num_results && op->results[0].type != verify_operand_type(op, 0)) {
        FAIL_TYPE("result type must be the type of the operand");
    }
    return true;
}

// ---------------------------------------------------------------- views

// The alignment the plan promises for an arena that is viewed, 1 if there is none.
static int64_t plan_alignment(const IrOp *view) {
    const IrOp *promise = ir_op_operand(view, 0)->def_op;
    if (!promise || promise->kind != IR_MEMREF_ASSUME_ALIGNMENT) return 1;
    const IrValue *arena = promise->num_operands ? ir_op_operand(promise, 0) : NULL;
    const IrOp *func = arena && !arena->def_op ? ir_block_parent(arena->def_block) : NULL;
    const IrAttr *alignment = verify_attr(promise, "alignment", IR_ATTR_INT);
    bool is_arena = func && func->kind == IR_FUNC_FUNC && alignment && alignment->i > 0 &&
                    ir_func_arg_attr(func, arena->number, "ingot.arena");
    return is_arena ? alignment->i : 1;
}

// V3
bool verify_view(Verifier *v, const IrOp *op) {
    const IrType *src = verify_operand_type(op, 0), *dst = op->results[0].type;
    if (src->rank != 1 || src->elem->kind != IR_TYPE_INT || src->elem->width != 8) {
        FAIL_TYPE("operand #0 must be 1D memref of 8-bit signless integer values, but got '%s'",
                  verify_type(v, src));
    }
    if (src->has_layout)
        FAIL_TYPE("unsupported map for base memref type '%s'", verify_type(v, src));
    if (dst->has_layout)
        FAIL_TYPE("unsupported map for result memref type '%s'", verify_type(v, dst));
    if (src->space != dst->space) FAIL_TYPE("different memory spaces specified for base and view");
    if (op->segments[2] != num_dynamic(dst))
        FAIL_TYPE("incorrect number of size operands for type");
    if (dst->elem->kind == IR_TYPE_INT && dst->elem->width == 4) {
        FAIL_TYPE("views bytes as 4-bit integers");
    }
    int64_t offset, bytes = memref_bytes(dst), end;
    uint32_t elem_bytes = ir_type_bytes(dst->elem);
    if (!verify_constant(op, ir_op_segment_start(op, 1), &offset)) return true;
    if (offset < 0 || offset % elem_bytes) {
        return verify_fail(v, DIAG_I0123, op,
                           "has the byte offset %lld, which is no multiple of its "
                           "element's %u bytes",
                           (long long)offset, elem_bytes);
    }
    if (offset % plan_alignment(op)) {
        return verify_fail(
            v, DIAG_I0123, op,
            "has the byte offset %lld, which is no multiple of the arena's alignment "
            "of %lld",
            (long long)offset, (long long)plan_alignment(op));
    }
    if (bytes < 0 || src->shape[0] == IR_DYNAMIC) return true;
    if (__builtin_add_overflow(offset, bytes, &end) || end > src->shape[0]) {
        return verify_fail(v, DIAG_I0123, op, "views bytes %lld to %lld of %lld", (long long)offset,
                           (long long)(end - 1), (long long)src->shape[0]);
    }
    return true;
}

static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    if (a == IR_DYNAMIC || b == IR_DYNAMIC) return a == 0 || b == 0 ? 0 : IR_DYNAMIC;
    return __builtin_mul_overflow(a, b, &product) ? IR_DYNAMIC : product;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    if (a == IR_DYNAMIC || b == IR_DYNAMIC) return IR_DYNAMIC;
    return __builtin_add_overflow(a, b, &sum) ? IR_DYNAMIC : sum;
}

bool verify_subview(Verifier *v, const IrOp *op) {
    const IrType *src = verify_operand_type(op, 0), *dst = op->results[0].type;
    int64_t strides[VERIFY_MAX_RANK], want[VERIFY_MAX_RANK], have[VERIFY_MAX_RANK], offset,
        have_offset;
    bool keep[VERIFY_MAX_RANK];
    if (!verify_slice_numbers(v, op, src)) return false;
    const int64_t *offsets = ir_op_attr(op, "static_offsets")->values;
    const int64_t *sizes = ir_op_attr(op, "static_sizes")->values;
    const int64_t *steps = ir_op_attr(op, "static_strides")->values;
    if (src->elem != dst->elem || src->space != dst->space || dst->rank > src->rank) {
        FAIL_TYPE("expected result element type to be '%s' in the source's memory space",
                  verify_type(v, src->elem));
    }
    ir_memref_strides(src, strides, &offset);
    ir_memref_strides(dst, have, &have_offset);
    for (uint32_t i = 0; i < src->rank; i++) {
        offset = plus(offset, times(offsets[i], strides[i]));
        want[i] = times(steps[i], strides[i]);
    }
    bool fits = verify_reduces_rank(sizes, src->rank, dst, keep) && offset == have_offset;
    for (uint32_t i = 0, at = 0; fits && i < src->rank; i++) {
        if (keep[i]) fits = want[i] == have[at++];
    }
    // Of several dimensions of size 1 others may have been dropped than the first that fit: then
    // the strides of those that stay are found in order.
    if (!fits && offset == have_offset && dst->rank < src->rank) {
        uint32_t at = 0;
        for (uint32_t i = 0; i < src->rank; i++) {
            if (at < dst->rank && sizes[i] == dst->shape[at] && want[i] == have[at])
                at++;
            else if (sizes[i] != 1)
                break;
        }
        fits = at == dst->rank;
    }
    if (fits) return true;
    const IrType *type =
        ir_type_memref_strided(v->m, src->rank, sizes, src->elem, want, offset, src->space);
    FAIL_TYPE("expected result type to be '%s' or a rank-reduced version, but it is '%s'",
              verify_type(v, type), verify_type(v, dst));
}

// V4
static bool check_reach(Verifier *v, const IrOp *op, int64_t offset, uint32_t rank,
                        const int64_t *sizes, const int64_t *strides) {
    const IrType *src = verify_operand_type(op, 0);
    if (v->num_faults) return true; // what the source is made of may be unsound
    VerifyExtent extent = verify_extent(ir_op_operand(op, 0));
    // The offset counts from the base of the source's buffer.
    int64_t base = extent.begin, have = memref_bytes(src);
    if (src->has_layout || have < 0) {
        if (!extent.root || extent.root == ir_op_operand(op, 0)) return true;
        have = memref_bytes(extent.root->type);
        if (have < 0 || base < 0) return true;
        have -= base;
    }
    __int128 last = offset, least = offset;
    if (offset == IR_DYNAMIC) return true;
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] == IR_DYNAMIC || strides[i] == IR_DYNAMIC || sizes[i] == 0) return true;
        __int128 span = (__int128)(sizes[i] - 1) * strides[i];
        if (span > 0)
            last += span;
        else
            least += span;
    }
    uint32_t bytes = ir_type_bytes(src->elem);
    if (least >= 0 && (last + 1) * bytes <= have) return true;
    return verify_fail(v, DIAG_I0124, op, "reaches from element %lld to %lld of a buffer of %lld",
                       (long long)least, (long long)last, (long long)(have / bytes));
}

bool verify_reinterpret_cast(Verifier *v, const IrOp *op) {
    const IrType *src = verify_operand_type(op, 0), *dst = op->results[0].type;
    const IrAttr *offsets = verify_attr(op, "static_offsets", IR_ATTR_DENSE_ARRAY);
    const IrAttr *sizes = verify_attr(op, "static_sizes", IR_ATTR_DENSE_ARRAY);
    const IrAttr *strides = verify_attr(op, "static_strides", IR_ATTR_DENSE_ARRAY);
    int64_t have[VERIFY_MAX_RANK], have_offset;
    if (src->elem != dst->elem)
        FAIL_TYPE("different element types specified for source and result");
    if (src->space != dst->space)
        FAIL_TYPE("different memory spaces specified for source and result");
    if (!offsets || !sizes || !strides || offsets->num_values != 1 ||
        sizes->num_values != dst->rank || strides->num_values != dst->rank ||
        dst->rank > VERIFY_MAX_RANK) {
        FAIL_ATTR("expected one offset and %u sizes and strides", dst->rank);
    }
    const IrAttr *all[3] = {offsets, sizes, strides};
    for (uint32_t s = 0; s < 3; s++) {
        uint32_t dynamic = 0;
        for (size_t i = 0; i < all[s]->num_values; i++) dynamic += all[s]->values[i] == IR_DYNAMIC;
        if (dynamic != op->segments[s + 1])
            FAIL_TYPE("has operands that do not fit its dynamic numbers");
    }
    ir_memref_strides(dst, have, &have_offset);
    if (!verify_sizes_fit(have_offset, offsets->values[0])) {
        FAIL_TYPE("expected result type with offset = %lld instead of %lld",
                  (long long)offsets->values[0], (long long)have_offset);
    }
    for (uint32_t i = 0; i < dst->rank; i++) {
        if (!verify_sizes_fit(dst->shape[i], sizes->values[i])) {
            FAIL_TYPE("expected result type with size = %lld instead of %lld in dim = %u",
                      (long long)sizes->values[i], (long long)dst->shape[i], i);
        }
        if (!verify_sizes_fit(have[i], strides->values[i])) {
            FAIL_TYPE("expected result type with stride = %lld instead of %lld in dim = %u",
                      (long long)strides->values[i], (long long)have[i], i);
        }
    }
    return check_reach(v, op, offsets->values[0], dst->rank, sizes->values, strides->values);
}

// ---------------------------------------------------------------- access

// memref.load, memref.store, memref.prefetch
bool verify_memref_access(Verifier *v, const IrOp *op) {
    uint32_t base = op->kind == IR_MEMREF_STORE ? 1 : 0;
    const IrType *memref = verify_operand_type(op, base);
    const IrType *value = op->kind == IR_MEMREF_STORE  ? verify_operand_type(op, 0)
                          : op->kind == IR_MEMREF_LOAD ? op->results[0].type
                                                       : memref->elem;
    if (value != memref->elem) {
        FAIL_TYPE("value type '%s' does not match the element type of '%s'", verify_type(v, value),
                  verify_type(v, memref));
    }
    return verify_indices(v, op, base, base + 1, op->num_operands - base - 1, NULL);
}

bool verify_memref_copy(Verifier *v, const IrOp *op) {
    const IrType *src = verify_operand_type(op, 0), *dst = verify_operand_type(op, 1);
    bool fits = src->elem == dst->elem && src->rank == dst->rank;
    for (uint32_t i = 0; fits && i < src->rank; i++)
        fits = verify_sizes_fit(src->shape[i], dst->shape[i]);
    if (!fits) {
        FAIL_TYPE("requires the same shape and element type for all operands: '%s' and '%s'",
                  verify_type(v, src), verify_type(v, dst));
    }
    return true;
}

bool verify_global(Verifier *v, const IrOp *op) {
    const IrAttr *type = verify_attr(op, "type", IR_ATTR_TYPE),
                 *value = ir_op_attr(op, "initial_value");
    const IrAttr *alignment = ir_op_attr(op, "alignment");
    if (!type || type->type->kind != IR_TYPE_MEMREF || !ir_type_is_static(type->type) ||
        type->type->has_layout) {
        FAIL_TYPE("type should be static shaped memref");
    }
    if (alignment && !is_power_of_two(alignment))
        FAIL_ATTR("alignment attribute value is not a power of 2");
    if (!value || value->kind == IR_ATTR_UNIT) return true;
    if (value->kind != IR_ATTR_DENSE)
        FAIL_ATTR("initial value should be a unit or elements attribute");
    if (value->type->elem != type->type->elem || !verify_same_shape(value->type, type->type)) {
        FAIL_TYPE("initial value expected to be of the shape and element type of '%s', but was of "
                  "type '%s'",
                  verify_type(v, type->type), verify_type(v, value->type));
    }
    return true;
}

bool verify_get_global(Verifier *v, const IrOp *op) {
    const IrAttr *name = verify_attr(op, "name", IR_ATTR_SYMBOL);
    const IrOp *global = name ? ir_symbol_find(v->m, name->str) : NULL;
    const IrAttr *type = global ? verify_attr(global, "type", IR_ATTR_TYPE) : NULL;
    if (!type || global->kind != IR_MEMREF_GLOBAL) {
        return verify_fail(v, DIAG_I0103, op, "'%s' does not reference a valid global memref",
                           name ? name->str : "");
    }
    if (type->type != op->results[0].type) {
        FAIL_TYPE("result type '%s' does not match type '%s' of the global memref @%s",
                  verify_type(v, op->results[0].type), verify_type(v, type->type), name->str);
    }
    return true;
}

// bufferization.to_tensor, bufferization.to_buffer
bool verify_bridge(Verifier *v, const IrOp *op) {
    const IrType *from = verify_operand_type(op, 0), *to = op->results[0].type;
    if (from->elem != to->elem || !verify_same_shape(from, to)) {
        FAIL_TYPE("operand '%s' and result '%s' must have one shape and element type",
                  verify_type(v, from), verify_type(v, to));
    }
    return true;
}

// ---------------------------------------------------------------- where a memref lies

static bool keeps_extent(const IrOp *op) {
    return op->kind == IR_MEMREF_CAST || op->kind == IR_MEMREF_ASSUME_ALIGNMENT ||
           op->kind == IR_MEMREF_EXPAND_SHAPE || op->kind == IR_MEMREF_COLLAPSE_SHAPE;
}

VerifyExtent verify_extent(const IrValue *memref) {
    VerifyExtent extent = {.root = memref, .begin = 0, .end = memref_bytes(memref->type)};
    while (extent.root->def_op) {
        const IrOp *op = extent.root->def_op;
        int64_t offset;
        if (keeps_extent(op)) {
            extent.root = ir_op_operand(op, 0);
            if (extent.end < 0) extent.end = memref_bytes(extent.root->type);
        } else if (op->kind == IR_MEMREF_VIEW) {
            bool is_known = verify_constant(op, ir_op_segment_start(op, 1), &offset) &&
                            offset >= 0 && extent.begin >= 0 && extent.end >= 0;
            extent.root = ir_op_operand(op, 0);
            if (!is_known || __builtin_add_overflow(extent.begin, offset, &extent.begin) ||
                __builtin_add_overflow(extent.end, offset, &extent.end)) {
                extent.begin = extent.end = -1;
            }
        } else if (op->kind == IR_MEMREF_SUBVIEW || op->kind == IR_MEMREF_REINTERPRET_CAST) {
            extent.root = ir_op_operand(op, 0);
            extent.begin = extent.end = -1;
        } else {
            break;
        }
    }
    return extent;
}

// ---------------------------------------------------------------- V8: live arena views

typedef struct ArenaView {
    const IrOp *op;
    int64_t begin, end;   // bytes of the arena
    uint32_t first, last; // places of its first and last user in the function's block
    const IrOp *first_op, *last_op;
} ArenaView;

static const IrOp *place_in(const IrOp *op, const IrBlock *block) {
    while (op && op->block != block) op = op->block ? ir_block_parent(op->block) : NULL;
    return op;
}

static void add_user(const Verifier *v, const IrOp *user, const IrBlock *block, ArenaView *view) {
    const IrOp *at = place_in(user, block);
    if (!at) return;
    uint32_t place = v->position[at->index];
    if (!view->first_op || place < view->first) {
        view->first = place;
        view->first_op = at;
    }
    if (!view->last_op || place > view->last) {
        view->last = place;
        view->last_op = at;
    }
}

// Users of a view, those of its casts and sub-views included.
static void add_users(const Verifier *v, const IrValue *value, const IrBlock *block,
                      ArenaView *view) {
    const IrValue **todo = NULL;
    size_t num = 0, capacity = 0;
    ARRAY_RESERVE(todo, num, capacity);
    todo[num++] = value;
    while (num) {
        const IrValue *next = todo[--num];
        FOR_EACH_USE(use, next) {
            const IrOp *user = use->owner;
            bool is_derived = keeps_extent(user) || user->kind == IR_MEMREF_VIEW ||
                              user->kind == IR_MEMREF_SUBVIEW ||
                              user->kind == IR_MEMREF_REINTERPRET_CAST;
            if (!is_derived || !user->num_results) {
                add_user(v, user, block, view);
                continue;
            }
            ARRAY_RESERVE(todo, num, capacity);
            todo[num++] = &user->results[0];
        }
    }
    free(todo);
}

static bool is_arena(const IrOp *func, const IrValue *value) {
    return !value->def_op && value->def_block == ir_func_body(func) &&
           ir_func_arg_attr(func, value->number, "ingot.arena");
}

// Both live at once: their intervals share more than one op, or one op that is no region around
// both (what is inside a loop is not ordered here; the interpreter watches it byte by byte).
static bool are_live_together(const ArenaView *a, const ArenaView *b) {
    uint32_t begin = MAX(a->first, b->first), end = MIN(a->last, b->last);
    if (!a->first_op || !b->first_op || begin > end) return false;
    const IrOp *shared = a->first == begin ? a->first_op : b->first_op;
    return begin < end || !shared->num_regions;
}

static bool check_overlap(Verifier *v, const ArenaView *views, size_t num) {
    for (size_t i = 0; i < num; i++) {
        for (size_t j = 0; j < i; j++) {
            const ArenaView *a = &views[j], *b = &views[i];
            if (a->begin >= b->end || b->begin >= a->end) continue;
            if (!are_live_together(a, b)) continue;
            DiagSpan other = ir_loc_span(a->op->loc);
            return verify_fail(v, DIAG_I0128, b->op,
                               "views arena bytes %lld to %lld, which overlap bytes "
                               "%lld to %lld of the view of line %u while both are live",
                               (long long)b->begin, (long long)b->end - 1, (long long)a->begin,
                               (long long)a->end - 1, other.line);
        }
    }
    return true;
}

bool verify_arena_overlap(Verifier *v, const IrOp *func) {
    const IrBlock *block = ir_func_body(func);
    if (!block) return true;
    ArenaView *views = NULL;
    size_t num = 0, capacity = 0;
    verify_number_region(v, &func->regions[0]);
    FOR_EACH_OP(op, block) {
        if (op->kind != IR_MEMREF_VIEW) continue;
        VerifyExtent extent = verify_extent(&op->results[0]);
        const IrValue *source = ir_op_operand(op, 0);
        while (source->def_op && keeps_extent(source->def_op))
            source = ir_op_operand(source->def_op, 0);
        // A view of a view belongs to the outer one.
        if (extent.begin < 0 || source != extent.root || !is_arena(func, extent.root)) continue;
        ARRAY_RESERVE(views, num, capacity);
        views[num] = (ArenaView){.op = op, .begin = extent.begin, .end = extent.end};
        add_users(v, &op->results[0], block, &views[num++]);
    }
    bool is_good = check_overlap(v, views, num);
    free(views);
    return is_good;
}
