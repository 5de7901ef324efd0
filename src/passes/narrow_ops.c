// Part of assign-precision: ops in 16-bit types, class by class (op_class.def, precision.def). A
// type is a conversion in the text: what is computed in fp16 is f32 arithmetic with every operand
// and every result rounded to f16, which gives the bits of f16 arithmetic (a double rounding is
// harmless where the wider type has at least 2 p + 2 bits: S. Figueroa, "When is double rounding
// innocuous?", SIGNUM Newsletter 30(3), 1995). No pass folds extf(truncf(x)), as that is not x.
//
//   %y = generic ins(%x) {ingot.op_class = "activation"}: yield exp(x) * x
//   -> %n = generic ins(%x) -> tensor<..xf16>: a = extf(truncf x); b = extf(truncf exp(a));
//           c = extf(truncf b * a); yield truncf c
//      its readers get the f16 tensor and widen each element
//
// A sum is kept in its type: an accumulator of f16 is a tensor of f16. Products with weights sum
// in f32 always; their class says how what they read and what they give is stored.
#include "passes/narrow_ops.h"

#include "passes/build.h"
#include "passes/contraction.h"

typedef struct Types {
    const IrType *storage, *compute, *accumulate; // f32: not rounded
} Types;

static const IrType *type_of(IrModule *m, Dtype dtype) {
    if (dtype == DTYPE_F16) return ir_type_float(m, IR_TYPE_F16);
    if (dtype == DTYPE_BF16) return ir_type_float(m, IR_TYPE_BF16);
    return ir_type_f32(m);
}

static bool is_f32(const IrType *type) {
    return type->kind == IR_TYPE_F32;
}

static const IrType *with_elem(IrModule *m, const IrType *tensor, const IrType *elem) {
    return ir_type_tensor(m, tensor->rank, tensor->shape, elem);
}

// ---- conversions

static IrValue *rounded(Builder *b, IrValue *value, const IrType *type) {
    if (is_f32(type)) return value;
    return build_cast(b, IR_ARITH_EXTF, build_cast(b, IR_ARITH_TRUNCF, value, type),
                      ir_type_f32(b->m));
}

// All uses of value but those by ops up to and including `last` of the block `body`.
static void replace_behind(IrValue *value, IrValue *by, const IrBlock *body, const IrOp *first) {
    FOR_EACH_USE_SAFE(use, value) {
        bool is_new = false;
        for (const IrOp *op = body->first; op && op != first; op = op->next)
            is_new |= op == use->owner;
        if (!is_new) ir_op_set_operand(use->owner, (uint32_t)(use - use->owner->operands), by);
    }
}

// Every element of a tensor in another type.
static IrValue *converted(Builder *b, IrValue *tensor, const IrType *elem) {
    const IrType *type = with_elem(b->m, tensor->type, elem);
    const IrAffineMap *identity = ir_affine_identity(b->m, type->rank);
    const IrAffineMap *maps[] = {identity, identity};
    IrValue *out = build_empty(b, type);
    char iterators[17] = {0};
    for (uint32_t i = 0; i < type->rank; i++) iterators[i] = 'p';
    Builder body;
    IrOp *op = build_generic(b, 1, &tensor, 1, &out, maps, iterators, &body);
    IrOpKind cast = is_f32(elem) ? IR_ARITH_EXTF : IR_ARITH_TRUNCF;
    IrValue *value = build_cast(&body, cast, body.block->args[0], elem);
    build_yield(&body, IR_LINALG_YIELD, 1, &value);
    return ir_op_result(op, 0);
}

static bool can_widen(const IrOp *reader, const IrOperand *use) {
    return reader->kind == IR_LINALG_GENERIC && !ir_op_attr(reader, "ingot.contract") &&
           use < reader->operands + reader->segments[0];
}

// The readers of a result that has become narrow: each widens what it reads, or reads a tensor that
// was widened for it.
static void widen_readers(IrModule *m, IrOp *op, uint32_t result) {
    IrValue *narrow = ir_op_result(op, result), *wide = NULL;
    const IrType *f32 = ir_type_f32(m);
    IrOperand *readers[256];
    uint32_t num = 0;
    FOR_EACH_USE(use, narrow) {
        BUG_IF(num == ARRAY_LEN(readers), "too many readers of one value");
        readers[num++] = use;
    }
    for (uint32_t i = 0; i < num; i++) {
        IrOp *reader = readers[i]->owner;
        uint32_t at = (uint32_t)(readers[i] - reader->operands);
        if (!can_widen(reader, readers[i])) {
            Builder after = build_after(m, op);
            if (!wide) wide = converted(&after, narrow, f32);
            ir_op_set_operand(reader, at, wide);
            continue;
        }
        IrBlock *body = ir_op_block(reader, 0);
        IrOp *first = body->first;
        Builder inner = {.m = m, .block = body, .before = first, .loc = reader->loc};
        body->args[at]->type = narrow->type->elem;
        replace_behind(body->args[at], build_cast(&inner, IR_ARITH_EXTF, body->args[at], f32), body,
                       first);
    }
}

// ---- a generic

// Ops whose result is not among their operands' numbers.
static bool is_rounding(IrOpKind kind) {
    switch (kind) {
    case IR_ARITH_ADDF:
    case IR_ARITH_SUBF:
    case IR_ARITH_MULF:
    case IR_ARITH_DIVF:
    case IR_ARITH_SITOFP:
    case IR_ARITH_UITOFP:
    case IR_ARITH_CONSTANT:
    case IR_TENSOR_EXTRACT:
    case IR_ARITH_EXTF:
    case IR_MATH_EXP:
    case IR_MATH_LOG:
    case IR_MATH_SQRT:
    case IR_MATH_RSQRT:
    case IR_MATH_TANH:
    case IR_MATH_ERF:
    case IR_MATH_SIN:
    case IR_MATH_COS:
    case IR_MATH_FMA: return true;
    default: return false;
    }
}

static bool reads_accumulator(const IrOp *op, const IrBlock *body, uint32_t num_ins) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        if (value->def_op && value->def_op->kind == IR_ARITH_EXTF)
            value = ir_op_operand(value->def_op, 0);
        for (uint32_t o = num_ins; o < body->num_args; o++)
            if (value == body->args[o]) return true;
    }
    return false;
}

// Numbers from outside the body: constants, for the most part.
static void round_captured(IrModule *m, IrOp *op, IrOp *first, const Types *types) {
    IrBlock *body = ir_op_block(op, 0);
    for (IrOp *inner = first; inner; inner = inner->next)
        for (uint32_t i = 0; i < inner->num_operands; i++) {
            IrValue *value = ir_op_operand(inner, i);
            bool is_inside =
                value->def_op ? value->def_op->block == body : value->def_block == body;
            if (is_inside || value->type->kind != IR_TYPE_F32) continue;
            Builder before = build_before(m, inner);
            ir_op_set_operand(inner, i, rounded(&before, value, types->compute));
        }
}

static void round_body(IrModule *m, IrOp *op, const Types *types) {
    IrBlock *body = ir_op_block(op, 0);
    IrOp *first = body->first, *next;
    uint32_t num_ins = op->segments[0];
    Builder start = {.m = m, .block = body, .before = first, .loc = op->loc};
    round_captured(m, op, first, types);
    for (IrOp *inner = first; inner; inner = next) {
        next = inner->next;
        if (inner->num_results != 1 || !is_f32(inner->results[0].type) || !is_rounding(inner->kind))
            continue;
        bool sums = reads_accumulator(inner, body, num_ins);
        const IrType *to = sums ? types->accumulate : types->compute;
        if (inner->kind == IR_ARITH_EXTF) {
            const IrType *from = ir_op_operand(inner, 0)->type;
            const IrOp *maker = ir_op_operand(inner, 0)->def_op;
            if (from == to || (maker && maker->kind == IR_ARITH_TRUNCF)) continue;
        }
        Builder after = build_after(m, inner);
        IrValue *value = rounded(&after, &inner->results[0], to);
        if (value != &inner->results[0])
            replace_behind(&inner->results[0], value, body, value->def_op->next);
    }
    start.before = body->first;
    for (uint32_t i = 0; i < num_ins; i++) {
        IrValue *arg = body->args[i];
        IrOp *was_first = start.before = body->first;
        if (!is_f32(arg->type) || ir_value_is_unused(arg)) continue;
        IrValue *value = rounded(&start, arg, types->compute);
        if (value != arg) replace_behind(arg, value, body, was_first);
    }
}

// What a reduction starts from, in the type of its sums.
static IrValue *narrow_start(IrModule *m, IrOp *op, IrValue *start, const IrType *elem) {
    const IrOp *fill = start->def_op;
    const IrAttr *number =
        fill && fill->kind == IR_LINALG_FILL ? ir_value_constant(ir_op_operand(fill, 0)) : NULL;
    Builder before = build_before(m, op);
    if (!number) return converted(&before, start, elem);
    return build_filled(&before, with_elem(m, start->type, elem), ir_attr_float_value(number));
}

static void narrow_result(IrModule *m, IrOp *op, uint32_t result, const Types *types) {
    IrBlock *body = ir_op_block(op, 0);
    uint32_t out = op->segments[0] + result;
    IrValue *arg = body->args[out];
    if (!is_f32(arg->type)) return;
    bool is_sum = !ir_value_is_unused(arg);
    const IrType *elem = is_sum ? types->accumulate : types->storage;
    if (is_f32(elem)) return;
    IrValue *onto = ir_op_operand(op, out);
    Builder before = build_before(m, op);
    IrValue *start = is_sum ? narrow_start(m, op, onto, elem)
                            : build_empty(&before, with_elem(m, onto->type, elem));
    ir_op_set_operand(op, out, start);
    arg->type = elem;
    if (is_sum) {
        IrOp *first = body->first;
        Builder inner = {.m = m, .block = body, .before = first, .loc = op->loc};
        replace_behind(arg, build_cast(&inner, IR_ARITH_EXTF, arg, ir_type_f32(m)), body, first);
    }
    IrOp *yield = body->last;
    Builder end = build_before(m, yield);
    IrValue *given = ir_op_operand(yield, result);
    ir_op_set_operand(yield, result, build_cast(&end, IR_ARITH_TRUNCF, given, elem));
    op->results[result].type = with_elem(m, op->results[result].type, elem);
    widen_readers(m, op, result);
}

static void narrow_generic(IrModule *m, IrOp *op, const Types *types) {
    round_body(m, op, types);
    for (uint32_t r = 0; r < op->num_results; r++) narrow_result(m, op, r, types);
}

// ---- a product with weights

// Is op, as converted() makes them, the conversion from one type to another and nothing more?
static bool is_conversion(const IrOp *op, const IrType *from, const IrType *to) {
    if (!op || op->kind != IR_LINALG_GENERIC || op->num_results != 1 || op->segments[0] != 1)
        return false;
    const IrBlock *body = ir_op_block(op, 0);
    const IrOp *first = body->first;
    return (first->kind == IR_ARITH_TRUNCF || first->kind == IR_ARITH_EXTF) &&
           first->next == body->last && ir_op_operand(op, 0)->type->elem == from &&
           op->results[0].type->elem == to;
}

// Ops at the place of a value's definition: those that round it, once for all its readers.
static IrValue *stored_as(IrModule *m, IrValue *value, const IrType *elem, IrBlock *body) {
    IrOp *def = value->def_op;
    const IrType *f32 = ir_type_f32(m);
    if (is_conversion(def, elem, f32)) return value;
    FOR_EACH_USE(use, value) { // rounded for another product already
        if (use->owner->block != body || !is_conversion(use->owner, f32, elem)) continue;
        FOR_EACH_USE(widened, &use->owner->results[0])
        if (widened->owner->block == body && is_conversion(widened->owner, elem, f32))
            return &widened->owner->results[0];
    }
    Builder b = def ? build_after(m, def) : build_before(m, body->first);
    IrValue *narrow = converted(&b, value, elem);
    return converted(&b, narrow, f32);
}

// x [M, K], or behind its reshape into blocks.
static void narrow_product(IrModule *m, IrOp *op, const IrType *elem) {
    if (is_f32(elem)) return;
    IrValue *x = ir_op_operand(op, 0), *source = x, *result = ir_op_result(op, 0);
    if (!is_f32(x->type->elem) || !is_f32(result->type->elem)) return;
    bool is_cut = x->def_op && x->def_op->kind == IR_TENSOR_EXPAND_SHAPE;
    if (is_cut) source = ir_op_operand(x->def_op, 0);
    IrValue *stored = stored_as(m, source, elem, op->block);
    if (is_cut) {
        static const uint32_t groups[] = {1, 2};
        Builder before = build_before(m, op);
        stored = build_expand(&before, stored, x->type, 2, groups);
    }
    ir_op_set_operand(op, 0, stored);
    Builder after = build_after(m, op);
    IrValue *narrow = converted(&after, result, elem);
    IrValue *wide = converted(&after, narrow, ir_type_f32(m));
    FOR_EACH_USE_SAFE(use, result)
    if (use->owner != narrow->def_op)
        ir_op_set_operand(use->owner, (uint32_t)(use - use->owner->operands), wide);
}

// ---- a function

void narrow_ops(IrModule *m, IrOp *func, const OpPrecision precisions[NUM_OP_CLASSES]) {
    bool is_changed = false;
    FOR_EACH_OP_SAFE(op, ir_func_body(func)) {
        const IrAttr *attr = ir_op_attr(op, "ingot.op_class");
        bool is_product = contraction_is(op, "weights") || contraction_is(op, "float");
        OpClass class = OP_CLASS_MATMUL;
        bool has_class = attr && attr->kind == IR_ATTR_STRING && op_class_find(attr->str, &class);
        if (attr) ir_op_set_attr(m, op, "ingot.op_class", NULL);
        if ((!has_class && !is_product) || op->kind != IR_LINALG_GENERIC) continue;
        if (is_product != op_class_info(class)->is_product) continue;
        const OpPrecisionInfo *info = op_precision_info(precisions[class]);
        Types types = {type_of(m, info->storage), type_of(m, info->compute),
                       type_of(m, info->accumulate)};
        if (precisions[class] == PRECISION_FP32) continue;
        is_changed = true;
        if (is_product)
            narrow_product(m, op, types.storage);
        else
            narrow_generic(m, op, &types);
    }
    if (is_changed && ir_op_attr(func, "ingot.composite"))
        ir_op_set_attr(m, func, "ingot.op_class", ir_attr_string(m, "softmax"));
}
