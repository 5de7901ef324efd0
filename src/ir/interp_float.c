// Float arithmetic, lane by lane. f32 and f64 are the machine's; an operation on f16 or bf16 is one
// f32 operation between exact conversions and one rounding to nearest even. Transcendental
// functions are the C library's. Built without contraction and fast-math.
#include <math.h>

#include "ir/interp_internal.h"

#define LANES(inst) for (uint32_t l = 0; l < (inst)->lanes; l++)

#define WORD_TO_F16(w)  f16_to_f32((uint16_t)(w))
#define WORD_TO_BF16(w) bf16_to_f32((uint16_t)(w))
#define WORD_TO_F32(w)  f32_from_bits((uint32_t)(w))
#define WORD_TO_F64(w)  f64_from_bits(w)
#define F16_TO_WORD(x)  f16_from_f32(x)
#define BF16_TO_WORD(x) bf16_from_f32(x)
#define F32_TO_WORD(x)  f32_to_bits(x)
#define F64_TO_WORD(x)  f64_to_bits(x)

// Half a unit in the last place of a result near 1.
#define ROUNDING_F16  0x1p-11
#define ROUNDING_BF16 0x1p-9
#define ROUNDING_F32  0x1p-24
#define ROUNDING_F64  0x1p-53

// How far a result may be moved where roundings are being probed (IrInterpOptions.noise).
static double noise_factor(Interp *in, double rounding) {
    double unit = (double)(int64_t)(interp_random(in, UINT64_C(1) << 53)) * 0x1p-52 - 1.0;
    return 1.0 + in->options->noise * rounding * unit;
}
#define NOISE_YES(TYPE, T, r)                                                                      \
    if (in->options->noise > 0) r = (T)((double)r * noise_factor(in, ROUNDING_##TYPE))
#define NOISE_NO(TYPE, T, r)

void interp_note_event(Interp *in, const IrOp *op, bool is_nan) {
    IrInterpEvents *events = in->options->events;
    events->count++;
    if (events->op) return;
    events->op = op;
    events->num_calls = 0;
    events->is_nan = is_nan;
    for (const InterpCall *call = in->call; call; call = call->caller)
        if (call->op && events->num_calls < IR_INTERP_MAX_PATH)
            events->calls[events->num_calls++] = call->op;
}

// Not a number, of operands whose classes are given.
#define NOTE_EVENT(in, inst, r, all_finite, any_nan)                                               \
    if ((in)->options->events && !isfinite(r) && (isnan(r) ? !(any_nan) : (all_finite)))           \
    interp_note_event(in, (inst)->op, isnan(r))
#define FINITE1(TYPE) isfinite(WORD_TO_##TYPE(a_[l]))
#define FINITE2(TYPE) (FINITE1(TYPE) && isfinite(WORD_TO_##TYPE(b_[l])))
#define FINITE3(TYPE) (FINITE2(TYPE) && isfinite(WORD_TO_##TYPE(c_[l])))
#define NAN1(TYPE)    isnan(WORD_TO_##TYPE(a_[l]))
#define NAN2(TYPE)    (NAN1(TYPE) || isnan(WORD_TO_##TYPE(b_[l])))
#define NAN3(TYPE)    (NAN2(TYPE) || isnan(WORD_TO_##TYPE(c_[l])))

// One handler `run_NAME_TYPE` that computes fn(a, b, c) of the operands it has; NOISE is YES for an
// operation that rounds.
#define FLOAT_HANDLER(name, TYPE, T, NUM, fn, NOISE)                                               \
    static bool run_##name##_##TYPE(Interp *in, const InterpInst *inst, uint64_t *frame) {         \
        (void)in;                                                                                  \
        const uint64_t *a_ = frame + inst->src[0], *b_ = frame + inst->src[1];                     \
        const uint64_t *c_ = frame + inst->src[2];                                                 \
        uint64_t *r_ = frame + inst->dst;                                                          \
        (void)b_, (void)c_;                                                                        \
        LANES(inst) {                                                                              \
            T r = fn(ARGS##NUM(TYPE));                                                             \
            NOISE_##NOISE(TYPE, T, r);                                                             \
            uint64_t word = TYPE##_TO_WORD(r);                                                     \
            NOTE_EVENT(in, inst, WORD_TO_##TYPE(word), FINITE##NUM(TYPE), NAN##NUM(TYPE));         \
            r_[l] = word;                                                                          \
        }                                                                                          \
        return true;                                                                               \
    }
#define ARGS1(TYPE) WORD_TO_##TYPE(a_[l])
#define ARGS2(TYPE) WORD_TO_##TYPE(a_[l]), WORD_TO_##TYPE(b_[l])
#define ARGS3(TYPE) WORD_TO_##TYPE(a_[l]), WORD_TO_##TYPE(b_[l]), WORD_TO_##TYPE(c_[l])

// fn32 and fn64 are functions or macros of the operands.
#define FLOAT_OP(name, NUM, fn32, fn64, NOISE)                                                     \
    FLOAT_HANDLER(name, F16, float, NUM, fn32, NOISE)                                              \
    FLOAT_HANDLER(name, BF16, float, NUM, fn32, NOISE)                                             \
    FLOAT_HANDLER(name, F32, float, NUM, fn32, NOISE)                                              \
    FLOAT_HANDLER(name, F64, double, NUM, fn64, NOISE)

// NaN if any is NaN, -0 < +0.
#define DEFINE_MIN_MAX(suffix, T)                                                                  \
    static T add_##suffix(T a, T b) {                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    static T sub_##suffix(T a, T b) {                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    static T mul_##suffix(T a, T b) {                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    static T div_##suffix(T a, T b) {                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    static T pick_##suffix(T a, T b, bool want_larger) {                                           \
        if (a == b) return (__builtin_signbit(a) != 0) == want_larger ? b : a;                     \
        return (a > b) == want_larger ? a : b;                                                     \
    }                                                                                              \
    static T maximum_##suffix(T a, T b) {                                                          \
        return a != a || b != b ? a + b : pick_##suffix(a, b, true);                               \
    }                                                                                              \
    static T minimum_##suffix(T a, T b) {                                                          \
        return a != a || b != b ? a + b : pick_##suffix(a, b, false);                              \
    }                                                                                              \
    static T maxnum_##suffix(T a, T b) {                                                           \
        return a != a ? b : b != b ? a : pick_##suffix(a, b, true);                                \
    }                                                                                              \
    static T minnum_##suffix(T a, T b) {                                                           \
        return a != a ? b : b != b ? a : pick_##suffix(a, b, false);                               \
    }
DEFINE_MIN_MAX(f32, float)
DEFINE_MIN_MAX(f64, double)

// Two roundings: that of the root and that of the quotient, each to the element type.
static float rsqrt_f16(float a) {
    return 1.0f / f16_to_f32(f16_from_f32(sqrtf(a)));
}
static float rsqrt_bf16(float a) {
    return 1.0f / bf16_to_f32(bf16_from_f32(sqrtf(a)));
}
static float rsqrt_f32(float a) {
    return 1.0f / sqrtf(a);
}
static double rsqrt_f64(double a) {
    return 1.0 / sqrt(a);
}

FLOAT_OP(addf, 2, add_f32, add_f64, YES)
FLOAT_OP(subf, 2, sub_f32, sub_f64, YES)
FLOAT_OP(mulf, 2, mul_f32, mul_f64, YES)
FLOAT_OP(divf, 2, div_f32, div_f64, YES)
FLOAT_OP(maximumf, 2, maximum_f32, maximum_f64, NO)
FLOAT_OP(minimumf, 2, minimum_f32, minimum_f64, NO)
FLOAT_OP(maxnumf, 2, maxnum_f32, maxnum_f64, NO)
FLOAT_OP(minnumf, 2, minnum_f32, minnum_f64, NO)
FLOAT_OP(negf, 1, -, -, NO)
FLOAT_OP(exp, 1, expf, exp, YES)
FLOAT_OP(log, 1, logf, log, YES)
FLOAT_OP(sqrt, 1, sqrtf, sqrt, YES)
FLOAT_HANDLER(rsqrt, F16, float, 1, rsqrt_f16, YES)
FLOAT_HANDLER(rsqrt, BF16, float, 1, rsqrt_bf16, YES)
FLOAT_HANDLER(rsqrt, F32, float, 1, rsqrt_f32, YES)
FLOAT_HANDLER(rsqrt, F64, double, 1, rsqrt_f64, YES)
FLOAT_OP(tanh, 1, tanhf, tanh, YES)
FLOAT_OP(erf, 1, erff, erf, YES)
FLOAT_OP(sin, 1, sinf, sin, YES)
FLOAT_OP(cos, 1, cosf, cos, YES)
FLOAT_OP(absf, 1, fabsf, fabs, NO)
FLOAT_OP(floor, 1, floorf, floor, NO)
FLOAT_OP(ceil, 1, ceilf, ceil, NO)
FLOAT_OP(roundeven, 1, __builtin_rintf, __builtin_rint, NO) // nearest even is the default mode
FLOAT_HANDLER(fma, F32, float, 3, fmaf, YES)
FLOAT_HANDLER(fma, F64, double, 3, fma, YES)

#define ROW(kind, name)                                                                            \
    [kind] = {[IR_TYPE_F16] = run_##name##_F16,                                                    \
              [IR_TYPE_BF16] = run_##name##_BF16,                                                  \
              [IR_TYPE_F32] = run_##name##_F32,                                                    \
              [IR_TYPE_F64] = run_##name##_F64}

InterpRun interp_float_op(IrOpKind kind, IrTypeKind type) {
    static const InterpRun runs[NUM_IR_OP_KINDS][IR_TYPE_F64 + 1] = {
        ROW(IR_ARITH_ADDF, addf),
        ROW(IR_ARITH_SUBF, subf),
        ROW(IR_ARITH_MULF, mulf),
        ROW(IR_ARITH_DIVF, divf),
        ROW(IR_ARITH_NEGF, negf),
        ROW(IR_ARITH_MAXIMUMF, maximumf),
        ROW(IR_ARITH_MINIMUMF, minimumf),
        ROW(IR_ARITH_MAXNUMF, maxnumf),
        ROW(IR_ARITH_MINNUMF, minnumf),
        ROW(IR_MATH_EXP, exp),
        ROW(IR_MATH_LOG, log),
        ROW(IR_MATH_SQRT, sqrt),
        ROW(IR_MATH_RSQRT, rsqrt),
        ROW(IR_MATH_TANH, tanh),
        ROW(IR_MATH_ERF, erf),
        ROW(IR_MATH_SIN, sin),
        ROW(IR_MATH_COS, cos),
        ROW(IR_MATH_ABSF, absf),
        ROW(IR_MATH_FLOOR, floor),
        ROW(IR_MATH_CEIL, ceil),
        ROW(IR_MATH_ROUNDEVEN, roundeven),
        [IR_MATH_FMA] = {[IR_TYPE_F32] = run_fma_F32, [IR_TYPE_F64] = run_fma_F64},
        [IR_VECTOR_FMA] = {[IR_TYPE_F32] = run_fma_F32, [IR_TYPE_F64] = run_fma_F64},
    };
    return type <= IR_TYPE_F64 ? runs[kind][type] : NULL;
}
