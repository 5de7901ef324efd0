// Integer arithmetic, comparison, selection and casts, lane by lane. Words hold integers
// sign-extended, which keeps unsigned order too: two words of one width compare as unsigned like
// their values.
#include <math.h>

#include "ir/interp_decoders.h"

#define LANES(inst) for (uint32_t l = 0; l < (inst)->lanes; l++)

// ---------------------------------------------------------------- integers

#define INT_BINARY(name, expr)                                                                     \
    static bool run_##name(Interp *in, const InterpInst *inst, uint64_t *frame) {                  \
        (void)in;                                                                                  \
        const uint64_t *a_ = frame + inst->src[0], *b_ = frame + inst->src[1];                     \
        uint64_t *r_ = frame + inst->dst;                                                          \
        uint32_t w = inst->width;                                                                  \
        LANES(inst) {                                                                              \
            uint64_t a = a_[l], b = b_[l];                                                         \
            r_[l] = (uint64_t)interp_sext((expr), w);                                              \
        }                                                                                          \
        return true;                                                                               \
    }
INT_BINARY(addi, a + b)
INT_BINARY(subi, a - b)
INT_BINARY(muli, a *b)
INT_BINARY(andi, a &b)
INT_BINARY(ori, a | b)
INT_BINARY(xori, a ^ b)
INT_BINARY(minsi, (int64_t)a < (int64_t)b ? a : b)
INT_BINARY(maxsi, (int64_t)a > (int64_t)b ? a : b)
INT_BINARY(minui, a < b ? a : b)
INT_BINARY(maxui, a > b ? a : b)

// Division: fault is set to a text where the quotient does not exist.
#define INT_DIVISION(name, is_signed, expr)                                                        \
    static bool run_##name(Interp *in, const InterpInst *inst, uint64_t *frame) {                  \
        const uint64_t *a_ = frame + inst->src[0], *b_ = frame + inst->src[1];                     \
        uint64_t *r_ = frame + inst->dst;                                                          \
        uint32_t w = inst->width;                                                                  \
        LANES(inst) {                                                                              \
            uint64_t a = interp_zext(a_[l], w), b = interp_zext(b_[l], w);                         \
            int64_t sa = (int64_t)a_[l], sb = (int64_t)b_[l];                                      \
            if (!b) return interp_fault_of(in, inst->op, FAULT_ZERO, 0, (InterpNumbers){{0}}, ""); \
            if ((is_signed) && sb == -1 && sa == interp_sext(UINT64_C(1) << (w - 1), w)) {         \
                return interp_fault_of(in, inst->op, FAULT_OVERFLOW, sa, (InterpNumbers){{sa}},    \
                                       "");                                                        \
            }                                                                                      \
            (void)a, (void)sa;                                                                     \
            r_[l] = (uint64_t)interp_sext((uint64_t)(expr), w);                                    \
        }                                                                                          \
        return true;                                                                               \
    }
INT_DIVISION(divsi, true, sa / sb)
INT_DIVISION(remsi, true, sa % sb)
INT_DIVISION(divui, false, a / b)
INT_DIVISION(remui, false, a % b)

#define INT_SHIFT(name, expr)                                                                      \
    static bool run_##name(Interp *in, const InterpInst *inst, uint64_t *frame) {                  \
        const uint64_t *a_ = frame + inst->src[0], *b_ = frame + inst->src[1];                     \
        uint64_t *r_ = frame + inst->dst;                                                          \
        uint32_t w = inst->width;                                                                  \
        LANES(inst) {                                                                              \
            uint64_t a = a_[l], b = interp_zext(b_[l], w);                                         \
            if (b >= w) {                                                                          \
                return interp_fault_of(in, inst->op, FAULT_SHIFT, (int64_t)b,                      \
                                       (InterpNumbers){{w}}, "");                                  \
            }                                                                                      \
            r_[l] = (uint64_t)interp_sext((uint64_t)(expr), w);                                    \
        }                                                                                          \
        return true;                                                                               \
    }
INT_SHIFT(shli, a << b)
INT_SHIFT(shrsi, (int64_t)a >> b)
INT_SHIFT(shrui, interp_zext(a, w) >> b)

InterpRun interp_int_op(IrOpKind kind) {
    static const InterpRun runs[NUM_IR_OP_KINDS] = {
        [IR_ARITH_ADDI] = run_addi,   [IR_ARITH_SUBI] = run_subi,   [IR_ARITH_MULI] = run_muli,
        [IR_ARITH_DIVSI] = run_divsi, [IR_ARITH_DIVUI] = run_divui, [IR_ARITH_REMSI] = run_remsi,
        [IR_ARITH_REMUI] = run_remui, [IR_ARITH_ANDI] = run_andi,   [IR_ARITH_ORI] = run_ori,
        [IR_ARITH_XORI] = run_xori,   [IR_ARITH_SHLI] = run_shli,   [IR_ARITH_SHRSI] = run_shrsi,
        [IR_ARITH_SHRUI] = run_shrui, [IR_ARITH_MINSI] = run_minsi, [IR_ARITH_MAXSI] = run_maxsi,
        [IR_ARITH_MINUI] = run_minui, [IR_ARITH_MAXUI] = run_maxui,
    };
    return runs[kind];
}

// ---------------------------------------------------------------- comparison and selection

// A predicate is the set of relations in which it holds. Integers: the signed relation in bits 0 to
// 2, the unsigned one in bits 3 to 5. Floats: bits 0 to 3, bit 3 = unordered.
enum { REL_LT = 1, REL_EQ = 2, REL_GT = 4, REL_UNORDERED = 8 };

typedef struct Predicate {
    const char *name;
    uint32_t set;
} Predicate;

static const Predicate int_predicates[] = {
    {"eq", REL_EQ},       {"ne", REL_LT | REL_GT},
    {"slt", REL_LT},      {"sle", REL_LT | REL_EQ},
    {"sgt", REL_GT},      {"sge", REL_GT | REL_EQ},
    {"ult", REL_LT << 3}, {"ule", (REL_LT | REL_EQ) << 3},
    {"ugt", REL_GT << 3}, {"uge", (REL_GT | REL_EQ) << 3},
};
static const Predicate float_predicates[] = {
    {"false", 0},
    {"oeq", REL_EQ},
    {"ogt", REL_GT},
    {"oge", REL_GT | REL_EQ},
    {"olt", REL_LT},
    {"ole", REL_LT | REL_EQ},
    {"one", REL_LT | REL_GT},
    {"ord", REL_LT | REL_EQ | REL_GT},
    {"ueq", REL_EQ | REL_UNORDERED},
    {"ugt", REL_GT | REL_UNORDERED},
    {"uge", REL_GT | REL_EQ | REL_UNORDERED},
    {"ult", REL_LT | REL_UNORDERED},
    {"ule", REL_LT | REL_EQ | REL_UNORDERED},
    {"une", REL_LT | REL_GT | REL_UNORDERED},
    {"uno", REL_UNORDERED},
    {"true", REL_LT | REL_EQ | REL_GT | REL_UNORDERED},
};

static const Predicate *predicate_find(const Predicate *table, size_t len, const IrOp *op) {
    const IrAttr *attr = ir_op_attr(op, "predicate");
    if (!attr || attr->kind != IR_ATTR_STRING) return NULL;
    for (size_t i = 0; i < len; i++) {
        if (str_equal(table[i].name, attr->str)) return &table[i];
    }
    return NULL;
}

static bool run_cmpi(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Predicate *predicate = inst->info;
    const uint64_t *a = frame + inst->src[0], *b = frame + inst->src[1];
    uint64_t *r = frame + inst->dst;
    LANES(inst) {
        int64_t sa = (int64_t)a[l], sb = (int64_t)b[l];
        uint32_t rel = sa < sb ? REL_LT : sa > sb ? REL_GT : REL_EQ;
        uint32_t unsigned_rel = a[l] < b[l] ? REL_LT : a[l] > b[l] ? REL_GT : REL_EQ;
        r[l] = predicate->set & (rel | unsigned_rel << 3) ? UINT64_MAX : 0;
    }
    return true;
}

static double word_as_double(IrTypeKind type, uint64_t word) {
    switch (type) {
    case IR_TYPE_F16: return (double)f16_to_f32((uint16_t)word);
    case IR_TYPE_BF16: return (double)bf16_to_f32((uint16_t)word);
    case IR_TYPE_F32: return (double)f32_from_bits((uint32_t)word);
    default: return f64_from_bits(word);
    }
}

static bool run_cmpf(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Predicate *predicate = inst->info;
    IrTypeKind type = (IrTypeKind)inst->width;
    const uint64_t *a = frame + inst->src[0], *b = frame + inst->src[1];
    uint64_t *r = frame + inst->dst;
    LANES(inst) {
        double x = word_as_double(type, a[l]), y = word_as_double(type, b[l]);
        uint32_t rel = x < y ? REL_LT : x > y ? REL_GT : x == y ? REL_EQ : REL_UNORDERED;
        r[l] = predicate->set & rel ? UINT64_MAX : 0;
    }
    return true;
}

static bool run_select(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const uint64_t *a = frame + inst->src[1], *b = frame + inst->src[2];
    uint64_t *r = frame + inst->dst;
    if (inst->width) { // one condition for all lanes
        memmove(r, frame[inst->src[0]] ? a : b, inst->lanes * sizeof *r);
        return true;
    }
    const uint64_t *condition = frame + inst->src[0];
    LANES(inst) r[l] = condition[l] ? a[l] : b[l];
    return true;
}

// arith.select of whole tensors: the chosen one is shared.
static bool run_select_tensor(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    uint32_t src = frame[inst->src[0]] ? inst->src[1] : inst->src[2];
    memcpy(frame + inst->dst, frame + src, inst->lanes * sizeof *frame);
    interp_view(frame, inst->dst)->buffer->refs++;
    return true;
}

bool interp_decode_select(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type;
    InterpInst *inst = interp_emit(d, op, run_select);
    for (uint32_t i = 0; i < 3; i++) inst->src[i] = interp_slot(d, ir_op_operand(op, i));
    inst->lanes = (uint32_t)interp_type_words(type);
    inst->width = ir_op_operand(op, 0)->type->kind != IR_TYPE_VECTOR;
    if (type->kind == IR_TYPE_TENSOR) inst->run = run_select_tensor;
    inst->dst = interp_result(d, op, 0);
    return true;
}

bool interp_decode_cmp(InterpDecoder *d, const IrOp *op) {
    bool is_int = op->kind == IR_ARITH_CMPI;
    const Predicate *predicate =
        is_int ? predicate_find(int_predicates, ARRAY_LEN(int_predicates), op)
               : predicate_find(float_predicates, ARRAY_LEN(float_predicates), op);
    if (!predicate) return interp_refuse(d->in, op, "has no known predicate");
    InterpInst *inst = interp_emit(d, op, is_int ? run_cmpi : run_cmpf);
    const IrType *type = ir_op_operand(op, 0)->type;
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->src[1] = interp_slot(d, ir_op_operand(op, 1));
    inst->lanes = interp_lanes(type);
    inst->width = (uint32_t)ir_type_elem(type)->kind;
    inst->info = predicate;
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- casts

typedef struct Cast {
    IrTypeKind from, to;
    uint32_t from_width, to_width; // of integers
} Cast;

bool interp_run_copy(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    memmove(frame + inst->dst, frame + inst->src[0], inst->lanes * sizeof *frame);
    return true;
}

static uint64_t float_word(IrTypeKind type, double value) {
    switch (type) {
    case IR_TYPE_F16: return f16_from_f64(value);
    case IR_TYPE_BF16: return bf16_from_f64(value);
    case IR_TYPE_F32: return f32_to_bits((float)value);
    default: return f64_to_bits(value);
    }
}

static bool run_float_cast(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Cast *cast = inst->info;
    const uint64_t *a = frame + inst->src[0];
    uint64_t *r = frame + inst->dst;
    LANES(inst) r[l] = float_word(cast->to, word_as_double(cast->from, a[l]));
    return true;
}

#define FLOAT_CAST(name, expr)                                                                     \
    static bool run_##name(Interp *in, const InterpInst *inst, uint64_t *frame) {                  \
        (void)in;                                                                                  \
        const uint64_t *a_ = frame + inst->src[0];                                                 \
        uint64_t *r_ = frame + inst->dst;                                                          \
        LANES(inst) {                                                                              \
            uint64_t a = a_[l];                                                                    \
            r_[l] = (expr);                                                                        \
        }                                                                                          \
        return true;                                                                               \
    }
FLOAT_CAST(f16_to_f32, f32_to_bits(f16_to_f32((uint16_t)a)))
FLOAT_CAST(bf16_to_f32, f32_to_bits(bf16_to_f32((uint16_t)a)))

// Finite numbers that the narrower type has no room for.
static void note_narrowing(Interp *in, const InterpInst *inst, double from, double to) {
    if (in->options->events && isinf(to) && isfinite(from)) interp_note_event(in, inst->op, false);
}
#define FLOAT_NARROW(name)                                                                         \
    static bool run_f32_to_##name(Interp *in, const InterpInst *inst, uint64_t *frame) {           \
        const uint64_t *a = frame + inst->src[0];                                                  \
        uint64_t *r = frame + inst->dst;                                                           \
        LANES(inst) {                                                                              \
            float from = f32_from_bits((uint32_t)a[l]);                                            \
            r[l] = name##_from_f32(from);                                                          \
            note_narrowing(in, inst, (double)from, (double)name##_to_f32((uint16_t)r[l]));         \
        }                                                                                          \
        return true;                                                                               \
    }
FLOAT_NARROW(f16)
FLOAT_NARROW(bf16)

FLOAT_CAST(si_to_f32, f32_to_bits((float)(int64_t)a))

// To f16 and bf16 through f32, as every operation on them.
static bool run_int_to_float(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Cast *cast = inst->info;
    const uint64_t *a = frame + inst->src[0];
    uint64_t *r = frame + inst->dst;
    bool is_unsigned = inst->width;
    LANES(inst) {
        uint64_t u = interp_zext(a[l], cast->from_width);
        if (cast->to == IR_TYPE_F64) {
            r[l] = f64_to_bits(is_unsigned ? (double)u : (double)(int64_t)a[l]);
        } else {
            float value = is_unsigned ? (float)u : (float)(int64_t)a[l];
            r[l] = float_word(cast->to, (double)value);
        }
    }
    return true;
}

static bool run_float_to_int(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Cast *cast = inst->info;
    const uint64_t *a = frame + inst->src[0];
    uint64_t *r = frame + inst->dst;
    bool is_unsigned = inst->width;
    double limit = __builtin_ldexp(1.0, (int)cast->to_width - !is_unsigned);
    double least = is_unsigned ? 0.0 : -limit;
    LANES(inst) {
        double value = __builtin_trunc(word_as_double(cast->from, a[l]));
        if (!(value >= least && value < limit)) {
            int64_t bits = (int64_t)f64_to_bits(word_as_double(cast->from, a[l]));
            return interp_fault_of(in, inst->op, FAULT_CONVERT, bits,
                                   (InterpNumbers){{cast->to_width}}, "");
        }
        uint64_t whole = is_unsigned ? (uint64_t)value : (uint64_t)(int64_t)value;
        r[l] = (uint64_t)interp_sext(whole, cast->to_width);
    }
    return true;
}

static bool run_trunci(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Cast *cast = inst->info;
    LANES(inst) {
        frame[inst->dst + l] = (uint64_t)interp_sext(frame[inst->src[0] + l], cast->to_width);
    }
    return true;
}

static bool run_extui(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Cast *cast = inst->info;
    LANES(inst) {
        uint64_t value = interp_zext(frame[inst->src[0] + l], cast->from_width);
        frame[inst->dst + l] = (uint64_t)interp_sext(value, cast->to_width);
    }
    return true;
}

// Equal widths: integer words are sign-extended, float words zero-extended.
static bool run_bitcast(Interp *in, const InterpInst *inst, uint64_t *frame) {
    (void)in;
    const Cast *cast = inst->info;
    bool to_int = cast->to == IR_TYPE_INT || cast->to == IR_TYPE_INDEX;
    LANES(inst) {
        uint64_t word = frame[inst->src[0] + l];
        frame[inst->dst + l] = to_int ? (uint64_t)interp_sext(word, cast->to_width)
                                      : interp_zext(word, cast->to_width);
    }
    return true;
}

static InterpRun float_cast(IrTypeKind from, IrTypeKind to) {
    if (from == to) return interp_run_copy;
    if (from == IR_TYPE_F16 && to == IR_TYPE_F32) return run_f16_to_f32;
    if (from == IR_TYPE_BF16 && to == IR_TYPE_F32) return run_bf16_to_f32;
    if (from == IR_TYPE_F32 && to == IR_TYPE_F16) return run_f32_to_f16;
    if (from == IR_TYPE_F32 && to == IR_TYPE_BF16) return run_f32_to_bf16;
    return run_float_cast;
}

InterpRun interp_cast_op(const IrType *from, const IrType *to, bool is_unsigned) {
    if (ir_type_is_float(from)) {
        return ir_type_is_float(to) ? float_cast(from->kind, to->kind) : run_float_to_int;
    }
    if (ir_type_is_float(to)) {
        return to->kind == IR_TYPE_F32 && !is_unsigned ? run_si_to_f32 : run_int_to_float;
    }
    uint32_t from_bits = ir_type_bits(from), to_bits = ir_type_bits(to);
    if (to_bits < from_bits) return run_trunci;
    return is_unsigned && to_bits > from_bits ? run_extui : interp_run_copy;
}

static InterpInst *emit_cast(InterpDecoder *d, const IrOp *op, InterpRun run, const IrType *from,
                             const IrType *to, bool is_unsigned) {
    Cast *cast = INTERP_INFO(d, Cast);
    cast->from = from->kind;
    cast->to = to->kind;
    cast->from_width = ir_type_bits(from);
    cast->to_width = ir_type_bits(to);
    InterpInst *inst = interp_emit(d, op, run);
    inst->info = cast;
    inst->width = is_unsigned;
    return inst;
}

bool interp_emit_cast(InterpDecoder *d, const IrOp *op, const IrType *from, const IrType *to,
                      bool is_unsigned, uint32_t src, uint32_t dst) {
    InterpInst *inst =
        emit_cast(d, op, interp_cast_op(from, to, is_unsigned), from, to, is_unsigned);
    inst->src[0] = src;
    inst->dst = dst;
    inst->lanes = 1;
    return true;
}

bool interp_decode_cast(InterpDecoder *d, const IrOp *op) {
    const IrType *type = ir_op_operand(op, 0)->type;
    const IrType *from = ir_type_elem(type), *to = ir_type_elem(op->results[0].type);
    if (type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_MEMREF) {
        return interp_refuse(d->in, op, "works on scalars and vectors only");
    }
    bool is_unsigned = op->kind == IR_ARITH_UITOFP || op->kind == IR_ARITH_FPTOUI ||
                       op->kind == IR_ARITH_EXTUI || op->kind == IR_ARITH_INDEX_CASTUI;
    InterpRun run =
        op->kind == IR_ARITH_BITCAST ? run_bitcast : interp_cast_op(from, to, is_unsigned);
    InterpInst *inst = emit_cast(d, op, run, from, to, is_unsigned);
    inst->src[0] = interp_slot(d, ir_op_operand(op, 0));
    inst->lanes = interp_lanes(type);
    inst->dst = interp_result(d, op, 0);
    return true;
}

// Every other operation of arith and math: one handler for integers, one for each float type.
bool interp_decode_elementwise(InterpDecoder *d, const IrOp *op) {
    const IrType *type = op->results[0].type, *elem = ir_type_elem(type);
    if (type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_MEMREF) {
        return interp_refuse(d->in, op, "works on scalars and vectors only");
    }
    InterpRun run =
        ir_type_is_float(elem) ? interp_float_op(op->kind, elem->kind) : interp_int_op(op->kind);
    if (!run) return interp_refuse(d->in, op, "has no meaning for its type");
    InterpInst *inst = interp_emit(d, op, run);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        inst->src[i] = interp_slot(d, ir_op_operand(op, i));
    }
    inst->lanes = interp_lanes(type);
    inst->width = ir_type_bits(elem);
    inst->dst = interp_result(d, op, 0);
    return true;
}

// ---------------------------------------------------------------- reductions by keyword

InterpRun interp_combine_op(const char *kind, const IrType *elem) {
    static const struct {
        const char *name;
        IrOpKind int_kind, float_kind; // NUM_IR_OP_KINDS: none
    } kinds[] = {
        {"add", IR_ARITH_ADDI, IR_ARITH_ADDF},
        {"mul", IR_ARITH_MULI, IR_ARITH_MULF},
        {"minui", IR_ARITH_MINUI, NUM_IR_OP_KINDS},
        {"minsi", IR_ARITH_MINSI, NUM_IR_OP_KINDS},
        {"maxui", IR_ARITH_MAXUI, NUM_IR_OP_KINDS},
        {"maxsi", IR_ARITH_MAXSI, NUM_IR_OP_KINDS},
        {"minnumf", NUM_IR_OP_KINDS, IR_ARITH_MINNUMF},
        {"maxnumf", NUM_IR_OP_KINDS, IR_ARITH_MAXNUMF},
        {"minimumf", NUM_IR_OP_KINDS, IR_ARITH_MINIMUMF},
        {"maximumf", NUM_IR_OP_KINDS, IR_ARITH_MAXIMUMF},
        {"and", IR_ARITH_ANDI, NUM_IR_OP_KINDS},
        {"or", IR_ARITH_ORI, NUM_IR_OP_KINDS},
        {"xor", IR_ARITH_XORI, NUM_IR_OP_KINDS},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_equal(kinds[i].name, kind)) continue;
        bool is_float = ir_type_is_float(elem);
        IrOpKind op = is_float ? kinds[i].float_kind : kinds[i].int_kind;
        if (op == NUM_IR_OP_KINDS) return NULL;
        return is_float ? interp_float_op(op, elem->kind) : interp_int_op(op);
    }
    return NULL;
}
