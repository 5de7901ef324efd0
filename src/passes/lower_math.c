// math ops: exact ones as instructions, the others as inline polynomials in the type of their
// operand (sin and cos of f32 in f64). Only add, multiply, fma, divide, compare, select and integer
// ops are used, so a result depends on neither the vector width nor the CPU level. Largest error in
// ulp as tests/codegen/test_math_ulp.c measures it, over all of f32: exp 0.88, tanh 1.32, erf 1.11,
// log 0.82, sin and cos 0.51; over 21 million samples of f64: exp 0.92, tanh 1.30, erf 1.11, log
// 0.82, sin 0.79, cos 0.83.
//
// Coefficients: minimax fits (f32: weighted least squares in extended precision, reweighted towards
// equal ripple; f64: Remez exchange with 50 digits) of the functions named at them, weighted for
// the relative error of the result, rounded to their type. Argument reductions as in W. J. Cody and
// W. Waite, "Software Manual for the Elementary Functions", 1980.
#include "passes/lower_internal.h"

typedef struct Poly {
    const double *coeffs; // of x^0, x^1, ...
    size_t num_coeffs;
} Poly;
#define POLY(...)                                                                                  \
    { (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double) }

// What differs between f32 and f64.
typedef struct MathForm {
    int64_t mantissa_bits, one, root_half, sign; // bit patterns of 1, sqrt(1/2) and -0
    double magic; // 1.5 * 2^mantissa_bits: adding it rounds to an integer in the low bits
    double min_normal, to_normal;  // the smallest normal number, 2^mantissa_bits
    double ln2_high, ln2_low;      // multiples of ln2_high by exponents are exact
    double exp_vanishes, exp_ends; // below: e^x is 0; above: it is infinite
    double erf_ends;               // beyond: 1 after rounding
    Poly exp, tanh, erf_small, erf_large, log, sin, cos; // sin and cos are computed in f64
} MathForm;

typedef struct MathCtx {
    Lowering *lo;
    const IrType *type, *bits; // of the values, scalar or vector, and of integers of the same width
    const MathForm *form;
} MathCtx;

static const MathForm form_f32 = {
    .mantissa_bits = 23,
    .one = 0x3f800000,
    .root_half = 0x3f3504f3,
    .sign = -2147483647 - 1,
    .magic = 12582912.0,
    .min_normal = 0x1p-126,
    .to_normal = 0x1p23,
    .ln2_high = 0.693359375,
    .ln2_low = -2.12194440054690583e-4,
    .exp_vanishes = -103.972077, // -150 ln 2
    .exp_ends = 89.0,
    .erf_ends = 4.0,
    .exp = POLY(1.0, 1.0, 4.999999404e-01, 1.666652113e-01, 4.166838899e-02, 8.368745446e-03,
                1.381453825e-03),
    .tanh = POLY(-3.333332837e-01, 1.333315223e-01, -5.393994227e-02, 2.166340128e-02,
                 -8.085621521e-03, 2.059577033e-03),
    .erf_small = POLY(1.283791661e-01, -3.761262596e-01, 1.128358543e-01, -2.685381100e-02,
                      5.188327748e-03, -8.010192541e-04, 7.853857824e-05),
    .erf_large = POLY(3.205638786e-04, 1.127171636e+00, 6.380121708e-01, 1.032182649e-01,
                      -2.188967541e-02, 2.960122656e-03, -1.876056776e-04),
    .log =
        POLY(3.333331347e-01, -2.500000894e-01, 2.000211924e-01, -1.666799635e-01, 1.421955079e-01,
             -1.240559146e-01, 1.188817471e-01, -1.167564094e-01, 6.746600568e-02),
    .sin = POLY(-1.66666666416063786e-01, 8.33332938352950546e-03, -1.98393340695133776e-04,
                2.71830412151502557e-06),
    .cos = POLY(4.16666666194551380e-02, -1.38888834969672472e-03, 2.47994593355163842e-05,
                -2.72056865321237853e-07),
};

static const MathForm form_f64 = {
    .mantissa_bits = 52,
    .one = 0x3ff0000000000000,
    .root_half = 0x3fe6a09e667f3bcd,
    .sign = INT64_MIN,
    .magic = 6755399441055744.0,
    .min_normal = 0x1p-1022,
    .to_normal = 0x1p52,
    .ln2_high = 0x1.62e42fefa3800p-1, // 42 bits
    .ln2_low = 5.49792301870837116e-14,
    .exp_vanishes = -7.45133219101941222e+02, // -1075 ln 2
    .exp_ends = 710.0,
    .erf_ends = 5.93,
    .exp = POLY(1.0, 1.0, 5.00000000000001110e-01, 1.66666666666664076e-01, 4.16666666665303081e-02,
                8.33333333349664009e-03, 1.38888889436146793e-03, 1.98412695022878195e-04,
                2.48014930951010244e-05, 2.75575897842282953e-06, 2.76302552032914376e-07,
                2.49991102438118426e-08),
    .tanh = POLY(-3.33333333333332871e-01, 1.33333333333254395e-01, -5.39682539637904718e-02,
                 2.18694884092816913e-02, -8.86323341067327478e-03, 3.59210541728824558e-03,
                 -1.45567257130056749e-03, 5.89231500899243914e-04, -2.36413564497855864e-04,
                 9.05316484894109786e-05, -2.91773348548072077e-05, 5.60882133881073810e-06),
    .erf_small = POLY(1.28379167095512559e-01, -3.76126389031835207e-01, 1.12837916709442002e-01,
                      -2.68661706431134149e-02, 5.22397760613084201e-03, -8.54832592976624431e-04,
                      1.20552935869369502e-04, -1.49247124395348144e-05, 1.64471326997866215e-06,
                      -1.62063187529692083e-07, 1.37109887041905227e-08, -7.77946297176159706e-10),
    .erf_large = POLY(1.79656281588806130e-07, 1.12837732890201914e+00, 6.36628490614208564e-01,
                      1.02747247191613308e-01, -1.90781449758401847e-02, -2.80504758782974871e-04,
                      1.76901910179615889e-03, -6.41189086779716784e-04, 4.48339708740335210e-05,
                      7.03601780772704154e-05, -4.50344751100126820e-05, 1.65129036584588194e-05,
                      -4.32675267169259488e-06, 8.50511925100388233e-07, -1.25694824325168072e-07,
                      1.36254994210319207e-08, -1.02560173124414655e-09, 4.79553197359220867e-11,
                      -1.04950075132846453e-12),
    .log = POLY(6.66666666666673402e-01, 3.99999999994173627e-01, 2.85714287418245005e-01,
                2.22221986266550070e-01, 1.81835617818584649e-01, 1.53141098012937876e-01,
                1.47954118499141390e-01),
    .sin = POLY(-1.66666666666666158e-01, 8.33333333331806245e-03, -1.98412698263186608e-04,
                2.75573124823265030e-06, -2.50505692394089213e-08, 1.58858955696052742e-10),
    .cos = POLY(4.16666666666665603e-02, -1.38888888888672466e-03, 2.48015872852389694e-05,
                -2.75573131416703683e-07, 2.08755608082735400e-09, -1.13513460761134019e-11),
};

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
static IrValue *mneg(const MathCtx *c, IrValue *a) {
    return low_1(c->lo, IR_LLVM_FNEG, c->type, a);
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

// By Horner's rule.
static IrValue *mpoly(const MathCtx *c, IrValue *x, const Poly *p) {
    IrValue *sum = mc(c, p->coeffs[p->num_coeffs - 1]);
    for (size_t k = p->num_coeffs - 1; k-- > 0;) sum = mfma(c, sum, x, mc(c, p->coeffs[k]));
    return sum;
}

// 2^k for the k in the low bits of `exponent`.
static IrValue *mpower(const MathCtx *c, IrValue *exponent) {
    IrValue *field = mint(c, IR_LLVM_SHL, exponent, c->form->mantissa_bits);
    return mfloat(c, mint(c, IR_LLVM_ADD, field, c->form->one));
}

// The sign of `sign` on the magnitude a >= 0.
static IrValue *mcopysign(const MathCtx *c, IrValue *a, IrValue *sign) {
    IrValue *bit = mint(c, IR_LLVM_AND, mbits(c, sign), c->form->sign);
    return mfloat(c, low_2(c->lo, IR_LLVM_OR, mbits(c, a), bit));
}

// e^x. x = n ln 2 + r; e^r by a polynomial on [-ln2/2, ln2/2]; the scale 2^n in two factors, so
// that overflow and subnormal results come out of the last multiplication. NaN stays NaN, as it
// would not where n is added to the exponent in its bits. What rounds to 0 (masked scores are
// e^-inf) is selected, not computed: a product that underflows costs more than a hundred cycles.
static IrValue *math_exp(const MathCtx *c, IrValue *x) {
    const MathForm *form = c->form;
    IrValue *zero = mc(c, 0.0), *vanishes = mcmp(c, "olt", x, mc(c, form->exp_vanishes));
    x = mselect(c, vanishes, zero, x);
    x = mselect(c, mcmp(c, "ogt", x, mc(c, form->exp_ends)), mc(c, form->exp_ends), x);
    IrValue *shifted = mfma(c, x, mc(c, 1.44269504088896341), mc(c, form->magic));
    IrValue *n = msub(c, shifted, mc(c, form->magic));
    IrValue *r = mfma(c, n, mc(c, -form->ln2_high), x);
    r = mfma(c, n, mc(c, -form->ln2_low), r);
    IrValue *e = mpoly(c, r, &form->exp);
    // The bits of `shifted` are those of the magic number + n; the former leave at the top when
    // shifted by the mantissa's width (0x4b400000 and 0x4338000000000000: all others are 0).
    IrValue *bits = mbits(c, shifted), *half = mint(c, IR_LLVM_LSHR, bits, 1);
    IrValue *rest = low_2(c->lo, IR_LLVM_SUB, bits, half);
    IrValue *scaled = mmul(c, e, mpower(c, half));
    return mselect(c, vanishes, zero, mmul(c, scaled, mpower(c, rest)));
}

// tanh x. Below 0.65: x + x^3 P(x^2); above: 1 - 2 / (e^2x + 1).
static IrValue *math_tanh(const MathCtx *c, IrValue *x) {
    IrValue *t = mabs(c, x), *s = mmul(c, x, x);
    IrValue *small = mfma(c, mmul(c, s, mpoly(c, s, &c->form->tanh)), t, t);
    IrValue *e = math_exp(c, madd(c, t, t));
    IrValue *q = low_2(c->lo, IR_LLVM_FDIV, mc(c, 2.0), madd(c, e, mc(c, 1.0)));
    IrValue *large = msub(c, mc(c, 1.0), q);
    return mcopysign(c, mselect(c, mcmp(c, "olt", t, mc(c, 0.65)), small, large), x);
}

// erf x. Below 1: x + x P(x^2); above: 1 - e^-Q(|x|), Q fitted to -log(erfc) from 1 to where
// erf x rounds to 1.
static IrValue *math_erf(const MathCtx *c, IrValue *x) {
    IrValue *t = mabs(c, x), *s = mmul(c, x, x);
    IrValue *small = mfma(c, mpoly(c, s, &c->form->erf_small), t, t);
    double end = c->form->erf_ends;
    IrValue *u = mselect(c, mcmp(c, "ogt", t, mc(c, end)), mc(c, end), t);
    IrValue *arg = mneg(c, mpoly(c, u, &c->form->erf_large));
    IrValue *large = msub(c, mc(c, 1.0), math_exp(c, arg));
    return mcopysign(c, mselect(c, mcmp(c, "olt", t, mc(c, 1.0)), small, large), x);
}

// log m + e ln 2, m = 1 + f. f32: log m = f - f^2 / 2 + f^3 P(f).
static IrValue *log_sum_f32(const MathCtx *c, IrValue *f, IrValue *e) {
    IrValue *s = mmul(c, f, f);
    IrValue *y = mmul(c, mmul(c, f, s), mpoly(c, f, &c->form->log));
    y = mfma(c, e, mc(c, c->form->ln2_low), y);
    y = mfma(c, s, mc(c, -0.5), y);
    return mfma(c, e, mc(c, c->form->ln2_high), madd(c, f, y));
}

// f64: log m = 2 atanh s with s = f / (2 + f) converges faster; it is 2 s + s z P(z), z = s^2, and
// 2 s = f - h + s h with h = f^2 / 2, where f is exact.
static IrValue *log_sum_f64(const MathCtx *c, IrValue *f, IrValue *e) {
    IrValue *s = low_2(c->lo, IR_LLVM_FDIV, f, madd(c, f, mc(c, 2.0)));
    IrValue *z = mmul(c, s, s), *h = mmul(c, mmul(c, f, f), mc(c, 0.5));
    IrValue *sum = mfma(c, z, mpoly(c, z, &c->form->log), h);
    IrValue *y = mfma(c, s, sum, mmul(c, e, mc(c, c->form->ln2_low)));
    y = msub(c, f, msub(c, h, y));
    return mfma(c, e, mc(c, c->form->ln2_high), y);
}

// log x. x = m 2^e, m in [sqrt(1/2), sqrt(2)).
static IrValue *math_log(const MathCtx *c, IrValue *x) {
    const MathForm *form = c->form;
    int64_t width = form->mantissa_bits;
    IrValue *tiny = mcmp(c, "olt", x, mc(c, form->min_normal));
    IrValue *normal = mselect(c, tiny, mmul(c, x, mc(c, form->to_normal)), x);
    IrValue *shifted = mint(c, IR_LLVM_SUB, mbits(c, normal), form->root_half);
    IrValue *exponent = mint(c, IR_LLVM_ASHR, shifted, width);
    exponent = low_2(c->lo, IR_LLVM_SUB, exponent, mselect(c, tiny, mi(c, width), mi(c, 0)));
    int64_t mask = ((int64_t)1 << width) - 1;
    IrValue *mantissa = mint(c, IR_LLVM_ADD, mint(c, IR_LLVM_AND, shifted, mask), form->root_half);
    IrValue *f = msub(c, mfloat(c, mantissa), mc(c, 1.0));
    bool is_f64 = form == &form_f64;
    if (is_f64) // few CPUs convert vectors of i64
        exponent = low_1(c->lo, IR_LLVM_TRUNC, low_like(c->lo, c->type, c->lo->i32), exponent);
    IrValue *e = low_1(c->lo, IR_LLVM_SITOFP, c->type, exponent);
    IrValue *y = is_f64 ? log_sum_f64(c, f, e) : log_sum_f32(c, f, e);
    y = mselect(c, mcmp(c, "oeq", x, mc(c, 0.0)), mc(c, -__builtin_inf()), y);
    y = mselect(c, mcmp(c, "olt", x, mc(c, 0.0)), mc(c, __builtin_nan("")), y);
    // +inf and NaN are their own logarithms.
    return mselect(c, mcmp(c, "ult", x, mc(c, __builtin_inf())),
                   mselect(c, mcmp(c, "uno", x, x), x, y), x);
}

// sin x (quarter 0) or cos x (quarter 1) of x = n pi / 2 + r from sin r and cos r: one of the two
// by the last bit of n + quarter, the sign by the one above it. n is in the low bits of `shifted`.
static IrValue *by_quarter(const MathCtx *c, IrValue *shifted, int64_t quarter, IrValue *sine,
                           IrValue *cosine) {
    IrValue *k = mint(c, IR_LLVM_ADD, mbits(c, shifted), quarter);
    IrValue *odd = mint(c, IR_LLVM_AND, k, 1);
    IrValue *is_odd = low_cmp(c->lo, IR_LLVM_ICMP, "ne", odd, mi(c, 0));
    IrValue *value = mselect(c, is_odd, cosine, sine);
    IrValue *sign = mint(c, IR_LLVM_SHL, mint(c, IR_LLVM_AND, k, 2), 62);
    return mfloat(c, low_2(c->lo, IR_LLVM_XOR, mbits(c, value), sign));
}

// NaN where |x| is above `limit`; sin keeps the sign of zero.
static IrValue *sin_cos_special(const MathCtx *c, IrValue *x, int64_t quarter, double limit,
                                IrValue *result) {
    if (quarter == 0) result = mselect(c, mcmp(c, "oeq", x, mc(c, 0.0)), x, result);
    IrValue *in_range = mcmp(c, "ole", mabs(c, x), mc(c, limit));
    return mselect(c, in_range, result, mc(c, __builtin_nan("")));
}

// Of f32, |x| <= 2^30 (beyond: NaN), in f64: n = round(2 x / pi), r = x - n pi / 2 with pi / 2 in
// two parts.
static IrValue *sin_cos_f32(const MathCtx *c32, IrValue *x32, int64_t quarter) {
    Lowering *lo = c32->lo;
    MathCtx ctx = {lo, low_like(lo, c32->type, lo->f64), low_like(lo, c32->type, lo->i64),
                   &form_f64},
            *c = &ctx;
    IrValue *x = low_1(lo, IR_LLVM_FPEXT, c->type, x32);
    IrValue *shifted = mfma(c, x, mc(c, 0.636619772367581343), mc(c, c->form->magic));
    IrValue *n = msub(c, shifted, mc(c, c->form->magic));
    IrValue *r = mfma(c, n, mc(c, -1.57079632679489656), x);
    r = mfma(c, n, mc(c, -6.12323399573676604e-17), r);
    IrValue *s = mmul(c, r, r);
    IrValue *sine = mfma(c, mmul(c, s, mpoly(c, s, &c32->form->sin)), r, r);
    IrValue *cosine = mfma(c, s, mc(c, -0.5), mc(c, 1.0));
    cosine = mfma(c, mmul(c, s, s), mpoly(c, s, &c32->form->cos), cosine);
    IrValue *value = by_quarter(c, shifted, quarter, sine, cosine);
    IrValue *result = low_1(lo, IR_LLVM_FPTRUNC, c32->type, value);
    return sin_cos_special(c32, x32, quarter, 0x1p30, result);
}

// r = x - n pi / 2 as an unevaluated sum of two numbers; pi / 2 = p1 + p2 + p3 of 53 bits each, and
// 5.6e-50. x - n p1 is exact by one fma: a multiple of 2^-53 below 1, as n (pi / 2 - p1) < 0.02 for
// |x| <= 2^48 (and n is 0 where x is less than 1/2). The error of its difference from n p2 = w + v
// is found as D. E. Knuth does ("The Art of Computer Programming" 2, 4.2.2, theorem B). By
// continued fractions of pi / 2 no such x has an |r| below 2^-60.5, where p3 leaves an error of
// 2^-55 of r.
static IrValue *reduce_f64(const MathCtx *c, IrValue *x, IrValue *n, IrValue **out_rest) {
    static const double p1 = 1.57079632679489656, p2 = 6.12323399573676604e-17,
                        p3 = -1.49738490485916983e-33;
    IrValue *a = mfma(c, n, mc(c, -p1), x);
    IrValue *w = mmul(c, n, mc(c, -p2)), *v = mfma(c, n, mc(c, -p2), mneg(c, w));
    IrValue *high = madd(c, a, w), *b = msub(c, high, a);
    IrValue *low = madd(c, msub(c, a, msub(c, high, b)), msub(c, w, b));
    low = mfma(c, n, mc(c, -p3), madd(c, low, v));
    IrValue *r = madd(c, high, low);
    *out_rest = msub(c, low, msub(c, r, high));
    return r;
}

// Of f64, |x| <= 2^48 (beyond: NaN). n = round(2 x / pi) may be off by 0.02 there, so the fits of
// sin and cos reach to |r| = 0.81. The rest of r enters by its first derivative.
static IrValue *sin_cos_f64(const MathCtx *c, IrValue *x, int64_t quarter) {
    IrValue *shifted = mfma(c, x, mc(c, 0.636619772367581343), mc(c, c->form->magic));
    IrValue *n = msub(c, shifted, mc(c, c->form->magic)), *rest;
    IrValue *r = reduce_f64(c, x, n, &rest);
    IrValue *s = mmul(c, r, r), *h = mmul(c, s, mc(c, 0.5)), *one = mc(c, 1.0);
    IrValue *w = msub(c, one, h); // cos r so far, and what its rounding lost is (1 - w) - h
    IrValue *sine = mmul(c, mmul(c, s, mpoly(c, s, &c->form->sin)), r);
    sine = madd(c, r, mfma(c, rest, w, sine));
    IrValue *cosine = mmul(c, mmul(c, s, s), mpoly(c, s, &c->form->cos));
    cosine = madd(c, msub(c, msub(c, one, w), h), mfma(c, rest, mneg(c, r), cosine));
    cosine = madd(c, w, cosine);
    IrValue *result = by_quarter(c, shifted, quarter, sine, cosine);
    return sin_cos_special(c, x, quarter, 0x1p48, result);
}

static IrValue *math_sin_cos(const MathCtx *c, IrValue *x, int64_t quarter) {
    return c->form == &form_f64 ? sin_cos_f64(c, x, quarter) : sin_cos_f32(c, x, quarter);
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
    bool is_f64 = elem->kind == IR_TYPE_F64;
    const IrType *bits = ir_type_int(lo->m, is_f64 ? 64 : 32);
    MathCtx c = {lo, x->type, low_like(lo, x->type, bits), is_f64 ? &form_f64 : &form_f32};
    IrValue *y = math_exact(&c, op->kind, x);
    if (!y) y = math_polynomial(&c, op->kind, x);
    if (!y) return low_refuse(lo, op, "no rule for it");
    return low_set_result(lo, op, low_from_f32(lo, elem, y));
}
