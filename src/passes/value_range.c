// Intervals of values; see value_range.h. Every rule is an upper bound of what its op can give;
// where a result may leave its type, it can be anything of that type.
#include "passes/value_range.h"

#include <math.h>

#include "passes/value_range_internal.h"

enum { MAX_VISITS = 2048, MAX_DENSE = 1 << 20, MAX_LOOPS = 16 };

ValueRange value_range_of_type(const IrType *scalar) {
    uint32_t bits = ir_type_bits(scalar);
    int64_t max = bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    return (ValueRange){-max - 1, max};
}

static ValueRange constant(int64_t value) {
    return (ValueRange){value, value};
}

static ValueRange join(ValueRange a, ValueRange b) {
    return (ValueRange){MIN(a.min, b.min), MAX(a.max, b.max)};
}

// The range if every value of it is one of the type, else all of the type.
static ValueRange fit(const IrType *type, ValueRange r) {
    ValueRange all = value_range_of_type(type);
    return r.min >= all.min && r.max <= all.max ? r : all;
}

// All unsigned values of some bits, as signed 64-bit numbers.
static ValueRange unsigned_bits(uint32_t bits) {
    return (ValueRange){0, bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1};
}

// ---------------------------------------------------------------- arithmetic

static ValueRange of_products(const IrType *type, ValueRange a, ValueRange b) {
    const int64_t x[] = {a.min, a.min, a.max, a.max}, y[] = {b.min, b.max, b.min, b.max};
    ValueRange r = {INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        int64_t product;
        if (__builtin_mul_overflow(x[i], y[i], &product)) return value_range_of_type(type);
        r = join(r, constant(product));
    }
    return fit(type, r);
}

static ValueRange of_sum(const IrType *type, ValueRange a, ValueRange b) {
    ValueRange r;
    if (__builtin_add_overflow(a.min, b.min, &r.min) ||
        __builtin_add_overflow(a.max, b.max, &r.max))
        return value_range_of_type(type);
    return fit(type, r);
}

static ValueRange of_difference(const IrType *type, ValueRange a, ValueRange b) {
    ValueRange r;
    if (__builtin_sub_overflow(a.min, b.max, &r.min) ||
        __builtin_sub_overflow(a.max, b.min, &r.max))
        return value_range_of_type(type);
    return fit(type, r);
}

// By divisors of at least 1.
static ValueRange of_quotient(ValueRange a, ValueRange b) {
    return (ValueRange){MIN(a.min / b.min, a.min / b.max), MAX(a.max / b.min, a.max / b.max)};
}

// A remainder has the sign of the dividend and is nearer to 0 than the divisor.
static ValueRange of_remainder(ValueRange a, ValueRange b) {
    if (b.min == INT64_MIN) return (ValueRange){MIN(a.min, 0), MAX(a.max, 0)};
    int64_t most = MAX(MAX(b.max, -b.min), 1) - 1;
    return (ValueRange){a.min >= 0 ? 0 : MAX(a.min, -most), a.max <= 0 ? 0 : MIN(a.max, most)};
}

static ValueRange of_division(IrOpKind kind, const IrType *type, ValueRange a, ValueRange b) {
    bool is_positive = a.min >= 0;
    switch (kind) {
    case IR_ARITH_DIVSI: return b.min > 0 ? of_quotient(a, b) : value_range_of_type(type);
    case IR_ARITH_REMSI: return of_remainder(a, b);
    case IR_ARITH_DIVUI:
        if (b.min > 0 && is_positive) return of_quotient(a, b);
        if (b.min > 1) return (ValueRange){0, (int64_t)(UINT64_MAX / (uint64_t)b.min)};
        return value_range_of_type(type);
    default: // remui; a divisor of 0 is refused
        if (b.min < 0) return is_positive ? (ValueRange){0, a.max} : value_range_of_type(type);
        return (ValueRange){0, is_positive ? MIN(a.max, MAX(b.max, 1) - 1) : MAX(b.max, 1) - 1};
    }
}

static ValueRange of_shift(IrOpKind kind, const IrType *type, ValueRange a, ValueRange b) {
    uint32_t bits = ir_type_bits(type);
    bool is_known = b.min == b.max && b.min >= 0 && b.min < MIN(bits, 63u);
    if (kind == IR_ARITH_SHLI)
        return is_known ? of_products(type, a, constant(INT64_C(1) << b.min))
                        : value_range_of_type(type);
    if (kind == IR_ARITH_SHRSI || a.min >= 0) {
        if (is_known) return (ValueRange){a.min >> b.min, a.max >> b.min};
        return (ValueRange){MIN(a.min, 0), MAX(a.max, 0)};
    }
    if (is_known && b.min > 0) return unsigned_bits(bits - (uint32_t)b.min);
    return value_range_of_type(type);
}

static ValueRange of_bits(IrOpKind kind, const IrType *type, ValueRange a, ValueRange b) {
    if (kind == IR_ARITH_ANDI) {
        if (a.min < 0 && b.min < 0) return value_range_of_type(type);
        int64_t max = a.min < 0 ? b.max : b.min < 0 ? a.max : MIN(a.max, b.max);
        return (ValueRange){0, max};
    }
    if (a.min < 0 || b.min < 0) return value_range_of_type(type);
    uint32_t bits = 0;
    while (bits < 63 && MAX(a.max, b.max) >> bits) bits++;
    return unsigned_bits(bits);
}

static ValueRange of_choice(IrOpKind kind, const IrType *type, ValueRange a, ValueRange b) {
    switch (kind) {
    case IR_ARITH_MINSI: return (ValueRange){MIN(a.min, b.min), MIN(a.max, b.max)};
    case IR_ARITH_MAXSI: return (ValueRange){MAX(a.min, b.min), MAX(a.max, b.max)};
    case IR_ARITH_MINUI:
        if (a.min >= 0 && b.min >= 0) return (ValueRange){MIN(a.min, b.min), MIN(a.max, b.max)};
        if (a.min < 0 && b.min < 0) return value_range_of_type(type);
        return (ValueRange){0, a.min >= 0 ? a.max : b.max};
    default:
        if (a.min < 0 || b.min < 0) return value_range_of_type(type);
        return (ValueRange){MAX(a.min, b.min), MAX(a.max, b.max)};
    }
}

static ValueRange of_binary(const IrOp *op, ValueRange a, ValueRange b) {
    const IrType *type = op->results[0].type;
    switch (op->kind) {
    case IR_ARITH_ADDI: return of_sum(type, a, b);
    case IR_ARITH_SUBI: return of_difference(type, a, b);
    case IR_ARITH_MULI: return of_products(type, a, b);
    case IR_ARITH_DIVSI:
    case IR_ARITH_DIVUI:
    case IR_ARITH_REMSI:
    case IR_ARITH_REMUI: return of_division(op->kind, type, a, b);
    case IR_ARITH_SHLI:
    case IR_ARITH_SHRSI:
    case IR_ARITH_SHRUI: return of_shift(op->kind, type, a, b);
    case IR_ARITH_ANDI:
    case IR_ARITH_ORI:
    case IR_ARITH_XORI: return of_bits(op->kind, type, a, b);
    case IR_ARITH_MINSI:
    case IR_ARITH_MAXSI:
    case IR_ARITH_MINUI:
    case IR_ARITH_MAXUI: return of_choice(op->kind, type, a, b);
    default: return value_range_of_type(type);
    }
}

// ---------------------------------------------------------------- casts

static ValueRange of_cast(Ranges *r, const IrOp *op) {
    const IrValue *from = ir_op_operand(op, 0);
    const IrType *type = op->results[0].type;
    uint32_t bits = ir_type_bits(from->type);
    ValueRange a = ranges_of(r, from);
    switch (op->kind) {
    case IR_ARITH_EXTUI:
    case IR_ARITH_INDEX_CASTUI:
        if (a.min < 0 && ir_type_bits(type) > bits) a = unsigned_bits(bits);
        return fit(type, a);
    default: return fit(type, a); // extsi, trunci, index_cast
    }
}

static ValueRange of_float_cast(Ranges *r, const IrOp *op) {
    const IrType *type = op->results[0].type;
    ValueRange all = value_range_of_type(type);
    FloatRange f = ranges_of_float(r, ir_op_operand(op, 0));
    // What is outside of the type is refused; the limits of f64 are those of i64 but for the last.
    double least = trunc(f.min), most = trunc(f.max);
    if (!(least > (double)all.min - 1 && most < (double)all.max + (all.max < INT64_MAX)))
        return all;
    return (ValueRange){(int64_t)least, (int64_t)most};
}

// ---------------------------------------------------------------- affine

static ValueRange of_expr(Ranges *r, const IrAffineExpr *e, const IrOp *op, uint32_t num_dims) {
    const IrType *index = op->results[0].type;
    switch (e->kind) {
    case IR_AFFINE_CONST: return constant(e->value);
    case IR_AFFINE_DIM: return ranges_of(r, ir_op_operand(op, (uint32_t)e->value));
    case IR_AFFINE_SYMBOL: return ranges_of(r, ir_op_operand(op, num_dims + (uint32_t)e->value));
    default: break;
    }
    ValueRange a = of_expr(r, e->lhs, op, num_dims), b = of_expr(r, e->rhs, op, num_dims);
    if (e->kind == IR_AFFINE_ADD) return of_sum(index, a, b);
    if (e->kind == IR_AFFINE_MUL) return of_products(index, a, b);
    if (b.min != b.max || b.min <= 0) return value_range_of_type(index);
    int64_t d = b.min;
    if (e->kind == IR_AFFINE_MOD) return a.min >= 0 && a.max < d ? a : (ValueRange){0, d - 1};
    int64_t up = e->kind == IR_AFFINE_CEILDIV;
    return (ValueRange){a.min / d - (!up && a.min % d < 0) + (up && a.min % d > 0),
                        a.max / d - (!up && a.max % d < 0) + (up && a.max % d > 0)};
}

static ValueRange of_map(Ranges *r, const IrOp *op) {
    const IrAffineMap *map = ir_op_attr(op, "map")->map;
    ValueRange all = of_expr(r, map->results[0], op, map->num_dims);
    for (uint32_t i = 1; i < map->num_results; i++) {
        ValueRange next = of_expr(r, map->results[i], op, map->num_dims);
        all = op->kind == IR_AFFINE_MIN
                  ? (ValueRange){MIN(all.min, next.min), MIN(all.max, next.max)}
                  : (ValueRange){MAX(all.min, next.min), MAX(all.max, next.max)};
    }
    return all;
}

// ---------------------------------------------------------------- conditions

static const char *opposite(const char *predicate) {
    static const char *const pairs[][2] = {
        {"eq", "ne"}, {"slt", "sge"}, {"sle", "sgt"}, {"ult", "uge"}, {"ule", "ugt"}};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (str_equal(pairs[i][0], predicate)) return pairs[i][1];
        if (str_equal(pairs[i][1], predicate)) return pairs[i][0];
    }
    return "";
}

static const char *swapped(const char *predicate) {
    static const char *const pairs[][2] = {
        {"slt", "sgt"}, {"sle", "sge"}, {"ult", "ugt"}, {"ule", "uge"}};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (str_equal(pairs[i][0], predicate)) return pairs[i][1];
        if (str_equal(pairs[i][1], predicate)) return pairs[i][0];
    }
    return predicate;
}

static int64_t below(int64_t limit) {
    return limit == INT64_MIN ? limit : limit - 1;
}
static int64_t above(int64_t limit) {
    return limit == INT64_MAX ? limit : limit + 1;
}

// What is left of a where `a predicate b` holds. Of code that never runs nothing is said.
static ValueRange hold(ValueRange a, const char *predicate, ValueRange b) {
    ValueRange old = a;
    bool is_unsigned = predicate[0] == 'u';
    const char *relation = predicate + 1;
    if (str_equal(predicate, "eq")) {
        a = (ValueRange){MAX(a.min, b.min), MIN(a.max, b.max)};
    } else if (str_equal(predicate, "ne")) {
        if (b.min == b.max && a.min == b.min) a.min = above(a.min);
        if (b.min == b.max && a.max == b.max) a.max = below(a.max);
    } else if (relation[0] == 'l') { // a below an unsigned number that is no negative one is none
        if (is_unsigned && b.min < 0) return a;
        a.max = MIN(a.max, str_equal(relation, "lt") ? below(b.max) : b.max);
        if (is_unsigned) a.min = MAX(a.min, 0);
    } else {
        if (is_unsigned && (a.min < 0 || b.min < 0)) return a;
        a.min = MAX(a.min, str_equal(relation, "gt") ? above(b.min) : b.min);
    }
    return a.min <= a.max ? a : old;
}

static ValueRange under(Ranges *r, const IrValue *value, ValueRange range, const IrValue *cond,
                        bool is_true, uint32_t depth) {
    const IrOp *op = cond->def_op;
    if (!op || depth > 8) return range;
    bool both = (op->kind == IR_ARITH_ANDI && is_true) || (op->kind == IR_ARITH_ORI && !is_true);
    if (both) {
        range = under(r, value, range, ir_op_operand(op, 0), is_true, depth + 1);
        return under(r, value, range, ir_op_operand(op, 1), is_true, depth + 1);
    }
    if (op->kind != IR_ARITH_CMPI) return range;
    const char *predicate = ir_op_attr(op, "predicate")->str;
    if (!is_true) predicate = opposite(predicate);
    if (!*predicate) return range;
    if (ir_op_operand(op, 0) == value)
        return hold(range, predicate, ranges_of(r, ir_op_operand(op, 1)));
    if (ir_op_operand(op, 1) == value)
        return hold(range, swapped(predicate), ranges_of(r, ir_op_operand(op, 0)));
    return range;
}

static ValueRange of_select(Ranges *r, const IrOp *op) {
    const IrValue *cond = ir_op_operand(op, 0), *a = ir_op_operand(op, 1),
                  *b = ir_op_operand(op, 2);
    if (cond->type->kind != IR_TYPE_INT) return value_range_of_type(op->results[0].type);
    return join(under(r, a, ranges_of(r, a), cond, true, 0),
                under(r, b, ranges_of(r, b), cond, false, 0));
}

// ---------------------------------------------------------------- elements of tensors

static ValueRange of_dense(const IrAttr *dense) {
    const IrType *elem = dense->type->elem;
    int64_t num = dense->is_splat ? 1 : ir_type_num_elems(dense->type);
    if (!ir_type_is_int_or_index(elem) || num < 1 || num > MAX_DENSE)
        return value_range_of_type(elem);
    ValueRange all = constant((int64_t)ir_attr_dense_elem(dense, 0));
    for (int64_t i = 1; i < num; i++)
        all = join(all, constant((int64_t)ir_attr_dense_elem(dense, i)));
    return all;
}

// What a structured op yields, if every element of its result is yielded.
static ValueRange of_yield(Ranges *r, const IrValue *tensor) {
    const IrOp *op = tensor->def_op;
    int64_t loops[MAX_LOOPS];
    ValueRange all = value_range_of_type(tensor->type->elem);
    if (ir_linalg_num_loops(op) > MAX_LOOPS) return all;
    ir_linalg_loop_ranges(r->m, op, loops);
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (loops[i] < 1) return all;
    if (!ir_affine_is_projected_permutation(
            ir_linalg_map(r->m, op, op->segments[0] + tensor->number)))
        return all;
    return ranges_of(r, ir_op_operand(ir_block_terminator(ir_op_block(op, 0)), tensor->number));
}

static ValueRange of_elements(Ranges *r, const IrValue *tensor) {
    const IrOp *op = tensor->def_op;
    const IrType *elem = ir_type_elem(tensor->type);
    if (--r->visits < 0) return value_range_of_type(elem);
    if (!op) {
        const IrOp *func = ir_block_parent(tensor->def_block);
        const IrAttr *value = func->kind == IR_FUNC_FUNC
                                  ? ir_func_arg_attr(func, tensor->number, "ingot.value")
                                  : NULL;
        return value && value->kind == IR_ATTR_DENSE ? of_dense(value) : value_range_of_type(elem);
    }
    switch (op->kind) {
    case IR_ARITH_CONSTANT: return of_dense(ir_op_attr(op, "value"));
    case IR_TENSOR_COLLAPSE_SHAPE:
    case IR_TENSOR_EXPAND_SHAPE:
    case IR_TENSOR_EXTRACT_SLICE:
    case IR_TENSOR_CAST:
    case IR_LINALG_TRANSPOSE: return of_elements(r, ir_op_operand(op, 0));
    case IR_TENSOR_INSERT:
    case IR_TENSOR_INSERT_SLICE:
        return join(op->kind == IR_TENSOR_INSERT ? ranges_of(r, ir_op_operand(op, 0))
                                                 : of_elements(r, ir_op_operand(op, 0)),
                    of_elements(r, ir_op_operand(op, 1)));
    case IR_LINALG_FILL: return ranges_of(r, ir_op_operand(op, 0));
    case IR_LINALG_GENERIC: return of_yield(r, tensor);
    default: return value_range_of_type(elem);
    }
}

// ---------------------------------------------------------------- values

static ValueRange of_loop(Ranges *r, const IrOp *loop) {
    ValueRange lo = ranges_of(r, ir_op_operand(loop, 0)), hi = ranges_of(r, ir_op_operand(loop, 1));
    int64_t last = MAX(lo.min, below(hi.max)), step, span;
    bool is_exact = lo.min == lo.max && ir_value_constant_int(ir_op_operand(loop, 2), &step) &&
                    step > 0 && !__builtin_sub_overflow(last, lo.min, &span);
    return (ValueRange){lo.min, is_exact ? last - span % step : last};
}

static ValueRange of_argument(Ranges *r, const IrValue *value) {
    const IrOp *op = ir_block_parent(value->def_block);
    if (op->kind == IR_SCF_FOR && value->number == 0 && !ir_op_attr(op, "unsignedCmp"))
        return of_loop(r, op);
    if (op->kind != IR_LINALG_GENERIC || value->number >= op->segments[0])
        return value_range_of_type(value->type);
    const IrValue *from = ir_op_operand(op, value->number);
    return ir_type_is_shaped(from->type) ? of_elements(r, from) : ranges_of(r, from);
}

static ValueRange of_loop_index(Ranges *r, const IrOp *op) {
    const IrOp *generic = ir_op_parent(op);
    while (generic && generic->kind != IR_LINALG_GENERIC) generic = ir_op_parent(generic);
    int64_t loops[MAX_LOOPS], dim = ir_op_attr(op, "dim")->i;
    if (!generic || ir_linalg_num_loops(generic) > MAX_LOOPS) return (ValueRange){0, INT64_MAX};
    ir_linalg_loop_ranges(r->m, generic, loops);
    return (ValueRange){0, loops[dim] > 0 ? loops[dim] - 1 : INT64_MAX};
}

static ValueRange of_dim(const IrOp *op) {
    int64_t dim;
    const IrType *type = ir_op_operand(op, 0)->type;
    bool is_known = ir_value_constant_int(ir_op_operand(op, 1), &dim) && dim >= 0 &&
                    dim < (int64_t)type->rank && type->shape[dim] != IR_DYNAMIC;
    return is_known ? constant(type->shape[dim]) : (ValueRange){0, INT64_MAX};
}

static ValueRange of_op(Ranges *r, const IrValue *value) {
    const IrOp *op = value->def_op;
    int64_t known;
    switch (op->kind) {
    case IR_ARITH_CONSTANT:
        return ir_value_constant_int(value, &known) ? constant(known)
                                                    : value_range_of_type(value->type);
    case IR_LINALG_INDEX: return of_loop_index(r, op);
    case IR_TENSOR_DIM: return of_dim(op);
    case IR_TENSOR_EXTRACT: return of_elements(r, ir_op_operand(op, 0));
    case IR_ARITH_SELECT: return of_select(r, op);
    case IR_ARITH_EXTSI:
    case IR_ARITH_EXTUI:
    case IR_ARITH_TRUNCI:
    case IR_ARITH_INDEX_CAST:
    case IR_ARITH_INDEX_CASTUI: return of_cast(r, op);
    case IR_ARITH_FPTOSI:
    case IR_ARITH_FPTOUI: return of_float_cast(r, op);
    case IR_AFFINE_APPLY:
    case IR_AFFINE_MIN:
    case IR_AFFINE_MAX: return of_map(r, op);
    default: break;
    }
    bool is_binary = op->num_operands == 2 && (ir_op_info(op->kind)->traits & IR_SAME_TYPE);
    if (!is_binary) return value_range_of_type(value->type);
    ValueRange a = ranges_of(r, ir_op_operand(op, 0)), b = ranges_of(r, ir_op_operand(op, 1));
    return of_binary(op, a, b);
}

ValueRange ranges_of(Ranges *r, const IrValue *value) {
    if (!ir_type_is_int_or_index(value->type)) return (ValueRange){INT64_MIN, INT64_MAX};
    if (--r->visits < 0) return value_range_of_type(value->type);
    return value->def_op ? of_op(r, value) : of_argument(r, value);
}

ValueRange value_range_at(IrModule *m, const IrValue *value, const IrOp *user) {
    Ranges r = {.m = m, .visits = MAX_VISITS};
    ValueRange range = ranges_of(&r, value);
    for (const IrOp *op = user, *parent; (parent = ir_op_parent(op)); op = parent) {
        if (parent->kind != IR_SCF_IF) continue;
        bool is_true = op->block->region == &parent->regions[0];
        range = under(&r, value, range, ir_op_operand(parent, 0), is_true, 0);
    }
    return range;
}

FloatRange value_range_float(IrModule *m, const IrValue *value) {
    Ranges r = {.m = m, .visits = MAX_VISITS};
    return ranges_of_float(&r, value);
}
