// math ops: exact ones as instructions, the others as inline polynomials in f32 (sin and cos in
// f64). Only add, multiply, fma, divide, compare, select and integer ops are used, so a result
// depends on neither the vector width nor the CPU level. Largest error over the f32
// range in ulp of f32, as tests/codegen/test_math_ulp.c measures it: exp 0.88, tanh 1.32, erf 1.11,
// log 0.82, sin and cos 0.51.
//
// Coefficients: minimax fits (weighted least squares in extended precision, reweighted towards
// equal ripple) of the functions named at them, rounded to f32. Argument reductions as in W. J.
// Cody and W. Waite, "Software Manual for the Elementary Functions", 1980.
#include "passes/lower_internal.h"

typedef struct MathCtx {
    Lowering *lo;
    const IrType *type, *bits; // of the values, scalar or vector, and of integers of the same width
} MathCtx;

static IrValue *mc(const MathCtx *c, double value) {
    return low_const_float(c->lo, c->type, value);
}
static IrValue *mi(const MathCtx *c, int64_t value) {
    return low_const_int(c->lo, c->bits, value);
}
static IrValue *madd(const MathCtx *c, IrValue *a, IrValue *b) {
    return low_2(c->lo, IR_LLVM_FADD, a, b);
}
static IrValue *msub(const MathCtx *c, IrValue *a, IrValue *b) {
    return low_2(c->lo, IR_LLVM_FSUB, a, b);
}
static IrValue *mmul(const MathCtx *c, IrValue *a, IrValue *b) {
    return low_2(c->lo, IR_LLVM_FMUL, a, b);
}
static IrValue *mfma(const MathCtx *c, IrValue *x, IrValue *y, IrValue *z) {
    return low_fma(c->lo, x, y, z);
}
static IrValue *mint(const MathCtx *c, IrOpKind kind, IrValue *a, int64_t b) {
    return low_2(c->lo, kind, a, mi(c, b));
}
static IrValue *mbits(const MathCtx *c, IrValue *a) {
    return low_1(c->lo, IR_LLVM_BITCAST, c->bits, a);
}
static IrValue *mfloat(const MathCtx *c, IrValue *a) {
    return low_1(c->lo, IR_LLVM_BITCAST, c->type, a);
}
static IrValue *mcmp(const MathCtx *c, const char *predicate, IrValue *a, IrValue *b) {
    return low_cmp(c->lo, IR_LLVM_FCMP, predicate, a, b);
}
static IrValue *mselect(const MathCtx *c, IrValue *cond, IrValue *a, IrValue *b) {
    return low_select(c->lo, cond, a, b);
}
static IrValue *mabs(const MathCtx *c, IrValue *a) {
    return low_1(c->lo, IR_LLVM_INTR_FABS, c->type, a);
}

// coeffs[n-1] x^(n-1) + ... + coeffs[0] by Horner's rule.
static IrValue *mpoly(const MathCtx *c, IrValue *x, const double *coeffs, size_t n) {
    IrValue *sum = mc(c, coeffs[n - 1]);
    for (size_t k = n - 1; k-- > 0;) sum = mfma(c, sum, x, mc(c, coeffs[k]));
    return sum;
}

// The sign of `sign` on the magnitude a >= 0.
static IrValue *mcopysign(const MathCtx *c, IrValue *a, IrValue *sign) {
    IrValue *bit = mint(c, IR_LLVM_AND, mbits(c, sign), -2147483647 - 1);
    return mfloat(c, low_2(c->lo, IR_LLVM_OR, mbits(c, a), bit));
}

// e^x. x = n ln 2 + r; e^r by a polynomial on [-ln2/2, ln2/2]; the scale 2^n in two steps: 2^(n/2)
// is added to the exponent, the rest multiplied, so that overflow and subnormal results come out of
// that multiplication. NaN stays NaN. What rounds to 0 (masked scores are e^-inf) is selected, not
// computed: a product that underflows costs more than a hundred cycles.
static IrValue *math_exp(const MathCtx *c, IrValue *x) {
    static const double p[] = {1.0,
                               1.0,
                               4.999999404e-01,
                               1.666652113e-01,
                               4.166838899e-02,
                               8.368745446e-03,
                               1.381453825e-03};
    const double magic = 12582912.0; // 1.5 * 2^23: adding it rounds to an integer in the low bits
    IrValue *zero = mc(c, 0.0), *vanishes = mcmp(c, "olt", x, mc(c, -103.972077)); // -150 ln 2
    x = mselect(c, vanishes, zero, x);
    x = mselect(c, mcmp(c, "ogt", x, mc(c, 89.0)), mc(c, 89.0), x);
    IrValue *shifted = mfma(c, x, mc(c, 1.44269504088896341), mc(c, magic));
    IrValue *n = msub(c, shifted, mc(c, magic));
    IrValue *r = mfma(c, n, mc(c, -0.693359375), x);
    r = mfma(c, n, mc(c, 2.12194440054690583e-4), r);
    IrValue *e = mpoly(c, r, p, ARRAY_LEN(p));
    // The bits of `shifted` are 0x4b400000 + n; the 0x4b4 leaves at the top when shifted by 23.
    IrValue *bits = mbits(c, shifted), *half = mint(c, IR_LLVM_LSHR, bits, 1);
    IrValue *rest = mint(c, IR_LLVM_SHL, low_2(c->lo, IR_LLVM_SUB, bits, half), 23);
    IrValue *scaled = low_2(c->lo, IR_LLVM_ADD, mbits(c, e), mint(c, IR_LLVM_SHL, half, 23));
    IrValue *scale = mfloat(c, mint(c, IR_LLVM_ADD, rest, 0x3f800000));
    return mselect(c, vanishes, zero, mmul(c, mfloat(c, scaled), scale));
}

// tanh x. Below 0.65: x + x^3 P(x^2); above: 1 - 2 / (e^2x + 1).
static IrValue *math_tanh(const MathCtx *c, IrValue *x) {
    static const double p[] = {-3.333332837e-01, 1.333315223e-01,  -5.393994227e-02,
                               2.166340128e-02,  -8.085621521e-03, 2.059577033e-03};
    IrValue *t = mabs(c, x), *s = mmul(c, x, x);
    IrValue *small = mfma(c, mmul(c, s, mpoly(c, s, p, ARRAY_LEN(p))), t, t);
    IrValue *e = math_exp(c, madd(c, t, t));
    IrValue *q = low_2(c->lo, IR_LLVM_FDIV, mc(c, 2.0), madd(c, e, mc(c, 1.0)));
    IrValue *large = msub(c, mc(c, 1.0), q);
    return mcopysign(c, mselect(c, mcmp(c, "olt", t, mc(c, 0.65)), small, large), x);
}

// erf x. Below 1: x + x P(x^2); above: 1 - e^-Q(|x|), Q fitted to -log(erfc) on [1, 4].
static IrValue *math_erf(const MathCtx *c, IrValue *x) {
    static const double p[] = {1.283791661e-01, -3.761262596e-01, 1.128358543e-01, -2.685381100e-02,
                               5.188327748e-03, -8.010192541e-04, 7.853857824e-05};
    static const double q[] = {3.205638786e-04,  1.127171636e+00, 6.380121708e-01, 1.032182649e-01,
                               -2.188967541e-02, 2.960122656e-03, -1.876056776e-04};
    IrValue *t = mabs(c, x), *s = mmul(c, x, x);
    IrValue *small = mfma(c, mpoly(c, s, p, ARRAY_LEN(p)), t, t);
    IrValue *u = mselect(c, mcmp(c, "ogt", t, mc(c, 4.0)), mc(c, 4.0), t);
    IrValue *arg = low_1(c->lo, IR_LLVM_FNEG, c->type, mpoly(c, u, q, ARRAY_LEN(q)));
    IrValue *large = msub(c, mc(c, 1.0), math_exp(c, arg));
    return mcopysign(c, mselect(c, mcmp(c, "olt", t, mc(c, 1.0)), small, large), x);
}

// log x. x = m 2^e, m in [sqrt(1/2), sqrt(2)); f = m - 1; log m = f - f^2 / 2 + f^3 P(f).
static IrValue *math_log(const MathCtx *c, IrValue *x) {
    static const double p[] = {3.333331347e-01,  -2.500000894e-01, 2.000211924e-01,
                               -1.666799635e-01, 1.421955079e-01,  -1.240559146e-01,
                               1.188817471e-01,  -1.167564094e-01, 6.746600568e-02};
    IrValue *tiny = mcmp(c, "olt", x, mc(c, 0x1p-126));
    IrValue *normal = mselect(c, tiny, mmul(c, x, mc(c, 0x1p23)), x);
    IrValue *shifted = mint(c, IR_LLVM_SUB, mbits(c, normal), 0x3f3504f3); // sqrt(1/2)
    IrValue *exponent = mint(c, IR_LLVM_ASHR, shifted, 23);
    exponent = low_2(c->lo, IR_LLVM_SUB, exponent, mselect(c, tiny, mi(c, 23), mi(c, 0)));
    IrValue *mantissa = mint(c, IR_LLVM_ADD, mint(c, IR_LLVM_AND, shifted, 0x7fffff), 0x3f3504f3);
    IrValue *f = msub(c, mfloat(c, mantissa), mc(c, 1.0));
    IrValue *e = low_1(c->lo, IR_LLVM_SITOFP, c->type, exponent);
    IrValue *s = mmul(c, f, f);
    IrValue *y = mmul(c, mmul(c, f, s), mpoly(c, f, p, ARRAY_LEN(p)));
    y = mfma(c, e, mc(c, -2.12194440054690583e-4), y);
    y = mfma(c, s, mc(c, -0.5), y);
    y = mfma(c, e, mc(c, 0.693359375), madd(c, f, y));
    y = mselect(c, mcmp(c, "oeq", x, mc(c, 0.0)), mc(c, -__builtin_inf()), y);
    y = mselect(c, mcmp(c, "olt", x, mc(c, 0.0)), mc(c, __builtin_nan("")), y);
    // +inf and NaN are their own logarithms.
    return mselect(c, mcmp(c, "ult", x, mc(c, __builtin_inf())),
                   mselect(c, mcmp(c, "uno", x, x), x, y), x);
}

// sin x and cos x for |x| <= 2^30 (beyond: NaN), in f64: n = round(2 x / pi), r = x - n pi / 2 with
// pi / 2 in two parts; sin r or cos r by the last bit of n, the sign by the one above it.
static IrValue *math_sin_cos(const MathCtx *c32, IrValue *x32, int64_t quarter) {
    static const double ps[] = {-1.66666666416063786e-01, 8.33332938352950546e-03,
                                -1.98393340695133776e-04, 2.71830412151502557e-06};
    static const double pc[] = {4.16666666194551380e-02, -1.38888834969672472e-03,
                                2.47994593355163842e-05, -2.72056865321237853e-07};
    Lowering *lo = c32->lo;
    MathCtx ctx = {lo, low_like(lo, c32->type, lo->f64), low_like(lo, c32->type, lo->i64)},
            *c = &ctx;
    const double magic = 6755399441055744.0; // 1.5 * 2^52
    IrValue *x = low_1(lo, IR_LLVM_FPEXT, c->type, x32);
    IrValue *shifted = mfma(c, x, mc(c, 0.636619772367581343), mc(c, magic));
    IrValue *n = msub(c, shifted, mc(c, magic));
    IrValue *r = mfma(c, n, mc(c, -1.57079632679489656), x);
    r = mfma(c, n, mc(c, -6.12323399573676604e-17), r);
    IrValue *s = mmul(c, r, r);
    IrValue *sine = mfma(c, mmul(c, s, mpoly(c, s, ps, ARRAY_LEN(ps))), r, r);
    IrValue *cosine = mfma(c, s, mc(c, -0.5), mc(c, 1.0));
    cosine = mfma(c, mmul(c, s, s), mpoly(c, s, pc, ARRAY_LEN(pc)), cosine);
    IrValue *k = mint(c, IR_LLVM_ADD, mbits(c, shifted), quarter);
    IrValue *odd = mint(c, IR_LLVM_AND, k, 1);
    IrValue *is_odd = low_cmp(lo, IR_LLVM_ICMP, "ne", odd, mi(c, 0));
    IrValue *value = mselect(c, is_odd, cosine, sine);
    IrValue *sign = mint(c, IR_LLVM_SHL, mint(c, IR_LLVM_AND, k, 2), 62);
    value = mfloat(c, low_2(lo, IR_LLVM_XOR, mbits(c, value), sign));
    IrValue *result = low_1(lo, IR_LLVM_FPTRUNC, c32->type, value);
    if (quarter == 0) // keep the sign of zero
        result = mselect(c32, mcmp(c32, "oeq", x32, mc(c32, 0.0)), x32, result);
    IrValue *in_range = mcmp(c32, "ole", mabs(c32, x32), mc(c32, 0x1p30));
    return mselect(c32, in_range, result, mc(c32, __builtin_nan("")));
}

static IrValue *math_rsqrt(const MathCtx *c, IrValue *x) {
    IrValue *root = low_1(c->lo, IR_LLVM_INTR_SQRT, c->type, x);
    return low_2(c->lo, IR_LLVM_FDIV, mc(c, 1.0), root);
}

static IrValue *math_polynomial(const MathCtx *c, IrOpKind kind, IrValue *x) {
    switch (kind) {
    case IR_MATH_EXP: return math_exp(c, x);
    case IR_MATH_LOG: return math_log(c, x);
    case IR_MATH_TANH: return math_tanh(c, x);
    case IR_MATH_ERF: return math_erf(c, x);
    case IR_MATH_SIN: return math_sin_cos(c, x, 0);
    case IR_MATH_COS: return math_sin_cos(c, x, 1);
    default: return NULL;
    }
}

static IrValue *math_exact(const MathCtx *c, IrOpKind kind, IrValue *x) {
    switch (kind) {
    case IR_MATH_SQRT: return low_1(c->lo, IR_LLVM_INTR_SQRT, c->type, x);
    case IR_MATH_RSQRT: return math_rsqrt(c, x);
    case IR_MATH_ABSF: return mabs(c, x);
    case IR_MATH_FLOOR: return low_1(c->lo, IR_LLVM_INTR_FLOOR, c->type, x);
    case IR_MATH_CEIL: return low_1(c->lo, IR_LLVM_INTR_CEIL, c->type, x);
    case IR_MATH_ROUNDEVEN: return low_1(c->lo, IR_LLVM_INTR_ROUNDEVEN, c->type, x);
    default: return NULL;
    }
}

Status low_math(Lowering *lo, IrOp *op) {
    const IrType *elem = ir_type_elem(ir_op_result(op, 0)->type);
    if (op->kind == IR_MATH_FMA) {
        if (low_is_small_float(elem)) return low_refuse(lo, op, "16-bit floats have no fma");
        IrValue *a = low_value(lo, ir_op_operand(op, 0)), *b = low_value(lo, ir_op_operand(op, 1));
        return low_set_result(lo, op, low_fma(lo, a, b, low_value(lo, ir_op_operand(op, 2))));
    }
    IrValue *x = low_to_f32(lo, elem, low_value(lo, ir_op_operand(op, 0)));
    const IrType *bits = ir_type_int(lo->m, elem->kind == IR_TYPE_F64 ? 64 : 32);
    MathCtx c = {lo, x->type, low_like(lo, x->type, bits)};
    IrValue *y = math_exact(&c, op->kind, x);
    if (!y && elem->kind == IR_TYPE_F64)
        return low_refuse(lo, op, "it exists for 16 and 32 bits only");
    if (!y) y = math_polynomial(&c, op->kind, x);
    if (!y) return low_refuse(lo, op, "no rule for it");
    return low_set_result(lo, op, low_from_f32(lo, elem, y));
}
