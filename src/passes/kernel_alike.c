// Compares two functions side by side; see kernel_alike.h.
#include "passes/kernel_alike.h"

typedef struct Sides {
    int64_t rows_a, rows_b;
    IrValueMap values; // of a: those of b
} Sides;

// The first size of a type, or of a list of sizes, is what it is, or the rows, or several times the
// rows; the others, which may be multiples of the rows by chance, are what they are.
static bool is_same_size(const Sides *s, size_t dim, int64_t a, int64_t b) {
    int64_t scaled;
    return a == b || (dim == 0 && a > 0 && a % s->rows_a == 0 &&
                      !__builtin_mul_overflow(a / s->rows_a, s->rows_b, &scaled) && scaled == b);
}

// Strides are those between the rows and inside of them.
static bool is_same_layout(const IrType *a, const IrType *b) {
    if (a->has_layout != b->has_layout || (a->has_layout && a->offset != b->offset)) return false;
    for (uint32_t d = 0; a->has_layout && d < a->rank; d++)
        if (a->strides[d] != b->strides[d]) return false;
    return true;
}

static bool is_same_type(const Sides *s, const IrType *a, const IrType *b) {
    if (a == b) return true;
    bool is_shaped = a->kind == IR_TYPE_MEMREF && b->kind == IR_TYPE_MEMREF && a->rank == b->rank &&
                     a->elem == b->elem && a->space == b->space && is_same_layout(a, b);
    for (uint32_t d = 0; is_shaped && d < a->rank; d++)
        is_shaped = is_same_size(s, d, a->shape[d], b->shape[d]);
    return is_shaped;
}

static bool is_same_attr(const Sides *s, const IrAttr *a, const IrAttr *b) {
    if (a == b) return true;
    bool is_list = a && b && a->kind == IR_ATTR_DENSE_ARRAY && b->kind == IR_ATTR_DENSE_ARRAY &&
                   a->type == b->type && a->num_values == b->num_values;
    for (size_t i = 0; is_list && i < a->num_values; i++)
        is_list = is_same_size(s, i, a->values[i], b->values[i]);
    return is_list;
}

static bool is_same_block(Sides *s, const IrBlock *a, const IrBlock *b);

static bool is_same_op(Sides *s, IrOp *a, IrOp *b) {
    if (a->kind != b->kind || a->num_operands != b->num_operands ||
        a->num_results != b->num_results || a->num_attrs != b->num_attrs ||
        a->num_regions != b->num_regions)
        return false;
    for (uint32_t i = 0; i < IR_MAX_SEGMENTS; i++)
        if (a->segments[i] != b->segments[i]) return false;
    for (uint32_t i = 0; i < a->num_attrs; i++)
        if (a->attrs[i].name != b->attrs[i].name ||
            !is_same_attr(s, a->attrs[i].attr, b->attrs[i].attr))
            return false;
    for (uint32_t i = 0; i < a->num_operands; i++)
        if (ir_value_map_get(&s->values, ir_op_operand(a, i)) != ir_op_operand(b, i)) return false;
    for (uint32_t i = 0; i < a->num_results; i++) {
        if (!is_same_type(s, a->results[i].type, b->results[i].type)) return false;
        ir_value_map_set(&s->values, ir_op_result(a, i), ir_op_result(b, i));
    }
    for (uint32_t r = 0; r < a->num_regions; r++) {
        const IrBlock *x = a->regions[r].first, *y = b->regions[r].first;
        for (; x && y; x = x->next, y = y->next)
            if (!is_same_block(s, x, y)) return false;
        if (x || y) return false;
    }
    return true;
}

static bool is_same_block(Sides *s, const IrBlock *a, const IrBlock *b) {
    if (a->num_args != b->num_args) return false;
    for (uint32_t i = 0; i < a->num_args; i++) {
        if (!is_same_type(s, a->args[i]->type, b->args[i]->type)) return false;
        ir_value_map_set(&s->values, a->args[i], b->args[i]);
    }
    IrOp *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next)
        if (!is_same_op(s, x, y)) return false;
    return !x && !y;
}

bool kernel_is_alike(const IrOp *a, int64_t rows_a, const IrOp *b, int64_t rows_b) {
    if (!ir_func_body(a) || !ir_func_body(b) || rows_a < 1 || rows_b < 1) return false;
    Sides s = {.rows_a = rows_a, .rows_b = rows_b};
    ir_value_map_init(&s.values);
    bool is_alike = is_same_block(&s, ir_func_body(a), ir_func_body(b));
    ir_value_map_deinit(&s.values);
    return is_alike;
}
