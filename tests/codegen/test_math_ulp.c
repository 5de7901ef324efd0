// The polynomials behind math.exp, tanh, erf, log, sin and cos against the long double C library
// over the whole f32 range (every INGOT_ULP_STRIDE-th bit pattern, 997 unless set), over as many
// samples of f64 as an eighth of that, and their special values; and f64 rounded to 16 bits next to
// every number of 16 bits and every middle between two of them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/float16.h"
#include "kernel_case.h"

enum { NUM_LANES = 4096 };

typedef long double (*Reference)(long double);

typedef struct MathFunction {
    const char *name;
    Reference reference;
    double max_ulp;   // asserted
    double max_input; // magnitude up to which the bound is claimed
    double dense;     // f64: magnitude up to which samples are taken evenly
} MathFunction;

static const char text[] =
    "// tiles: 0 256\n"
    "func.func @k(%%x: memref<4096x%1$s>, %%o: memref<4096x%1$s>, %%begin: index, %%end: index) "
    "attributes {ingot.kernel} {\n"
    "  %%c1 = arith.constant 1 : index\n"
    "  %%c16 = arith.constant 16 : index\n"
    "  scf.for %%t = %%begin to %%end step %%c1 {\n"
    "    %%j = arith.muli %%t, %%c16 : index\n"
    "    %%a = vector.load %%x[%%j] : memref<4096x%1$s>, vector<16x%1$s>\n"
    "    %%r = math.%2$s %%a : vector<16x%1$s>\n"
    "    vector.store %%r, %%o[%%j] : memref<4096x%1$s>, vector<16x%1$s>\n"
    "  }\n"
    "  return\n"
    "}\n";

static void init_function(KernelCase *c, const char *name, const char *type) {
    char source[2048];
    int len = snprintf(source, sizeof source, text, type, name);
    kernel_case_init(c, source, (size_t)len, "math", 1);
}

static double ulp_error(double got, long double want, int digits, int least_exponent) {
    double near = digits == 24 ? (double)(float)want : (double)want;
    if (isinf(near) || isnan(near))
        return got == near || (isnan(got) && isnan(near)) ? 0 : INFINITY;
    int exponent;
    (void)frexpl(want, &exponent);
    exponent = exponent - digits < least_exponent ? least_exponent : exponent - digits;
    return (double)(fabsl((long double)got - want) / ldexpl(1.0L, exponent));
}

static uint64_t stride(void) {
    const char *wish = getenv("INGOT_ULP_STRIDE");
    uint64_t n = wish ? strtoull(wish, NULL, 10) : 997;
    assert_true(n > 0);
    return n;
}

typedef struct Worst {
    double error, at;
} Worst;

static void note_error(Worst *worst, double error, double at) {
    if (!(error <= worst->error)) *worst = (Worst){error, at};
}

static void check_worst(const MathFunction *f, const char *type, CpuLevel level, Worst worst) {
    print_message("math.%s of %s at %s: at most %.3f ulp (at %.17g)\n", f->name, type,
                  cpu_level_info(level)->name, worst.error, worst.at);
    if (!(worst.error <= f->max_ulp)) fail_msg("more than %.2f ulp", f->max_ulp);
}

static void measure(KernelCase *c, const MathFunction *f, CpuLevel level) {
    uint64_t step = stride();
    float *in = (float *)(void *)c->buffers[0].bytes, *out = (float *)(void *)c->buffers[1].bytes;
    CaseCode code;
    kernel_case_compile(c, level, &code);
    Worst worst = {0};
    for (uint64_t bits = 0; bits < 1ull << 32;) {
        uint32_t n = 0;
        for (; n < NUM_LANES && bits < 1ull << 32; bits += step) {
            float x = f32_from_bits((uint32_t)bits);
            if (fabsf(x) <= (float)f->max_input) in[n++] = x;
        }
        kernel_case_call(c, &code);
        for (uint32_t i = 0; i < n; i++)
            note_error(&worst, ulp_error((double)out[i], f->reference(in[i]), 24, -149),
                       (double)in[i]);
    }
    kernel_case_free_code(&code);
    check_worst(f, "f32", level, worst);
}

// A third each: bit patterns; even steps where the function does something; what is next to
// multiples of pi / 2 of all sizes, where sin or cos is close to 0. `part` in [0, 1).
static double sample_f64(const MathFunction *f, uint64_t number, double part) {
    const long double half_pi = 1.57079632679489661923132169163975144L;
    switch (number % 3) {
    case 0: return f64_from_bits((uint64_t)(part * 0x1p64) | (number & 2047));
    case 1: return (2 * part - 1) * f->dense;
    default: return (double)(floorl(exp2l(part * 47.0L)) * half_pi);
    }
}

// The two f64 below 2^48 that are closest to multiples of pi / 2 (2^-60.5 and 2^-59).
static const double hard[] = {0x1.6c6cbc45dc8dep+5, 0x1.b951f1572eba5p+23};

static void measure_f64(KernelCase *c, const MathFunction *f, CpuLevel level) {
    uint64_t num = (1ull << 32) / stride() / 8;
    double *in = (double *)(void *)c->buffers[0].bytes;
    double *out = (double *)(void *)c->buffers[1].bytes;
    CaseCode code;
    kernel_case_compile(c, level, &code);
    Worst worst = {0};
    for (uint64_t at = 0; at < num;) {
        uint32_t n = 0;
        for (size_t i = 0; i < ARRAY_LEN(hard) && at == 0; i++) in[n++] = hard[i];
        for (; n < NUM_LANES && at < num; at++) {
            double x = sample_f64(f, at, (double)at / (double)num);
            if (fabs(x) <= f->max_input) in[n++] = x;
        }
        kernel_case_call(c, &code);
        for (uint32_t i = 0; i < n; i++)
            note_error(&worst, ulp_error(out[i], f->reference(in[i]), 53, -1074), in[i]);
    }
    kernel_case_free_code(&code);
    check_worst(f, "f64", level, worst);
}

static void test_ulp(void **state) {
    const MathFunction *f = *state;
    bool is_f64 = f->dense > 0;
    CpuLevel level;
    assert_true(cpu_host_level(&level)); // all levels give the same bits: test_kernels
    KernelCase c;
    init_function(&c, f->name, is_f64 ? "f64" : "f32");
    (is_f64 ? measure_f64 : measure)(&c, f, level);
    kernel_case_deinit(&c);
}

typedef struct Special {
    const char *name;
    float in, out;
} Special;

static void test_special_values(void **state) {
    (void)state;
    static const Special specials[] = {
        {"exp", -INFINITY, 0},
        {"exp", INFINITY, INFINITY},
        {"exp", 1e30f, INFINITY},
        {"exp", -1e30f, 0},
        {"exp", 0, 1},
        {"exp", -0.0f, 1},
        {"exp", NAN, NAN},
        {"exp", 88.8f, INFINITY},
        {"exp", -104.5f, 0},
        {"exp", -103.9f, 0x1p-149f},
        {"tanh", INFINITY, 1},
        {"tanh", -INFINITY, -1},
        {"tanh", 0, 0},
        {"tanh", -0.0f, -0.0f},
        {"tanh", NAN, NAN},
        {"tanh", 1e-40f, 1e-40f},
        {"erf", INFINITY, 1},
        {"erf", -INFINITY, -1},
        {"erf", NAN, NAN},
        {"erf", 0, 0},
        {"erf", -0.0f, -0.0f},
        {"log", 0, -INFINITY},
        {"log", -0.0f, -INFINITY},
        {"log", 1, 0},
        {"log", -1, NAN},
        {"log", INFINITY, INFINITY},
        {"log", NAN, NAN},
        {"sin", 0, 0},
        {"sin", -0.0f, -0.0f},
        {"sin", INFINITY, NAN},
        {"sin", NAN, NAN},
        {"cos", 0, 1},
        {"cos", INFINITY, NAN},
        {"sin", 2e9f, NAN},
    };
    CpuLevel level;
    assert_true(cpu_host_level(&level));
    for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
        const Special *s = &specials[i];
        KernelCase c;
        init_function(&c, s->name, "f32");
        float *in = (float *)(void *)c.buffers[0].bytes, *out = (float *)(void *)c.buffers[1].bytes;
        in[7] = s->in;
        kernel_case_run(&c, level);
        bool equal = isnan(s->out) ? isnan(out[7]) : f32_to_bits(out[7]) == f32_to_bits(s->out);
        if (!equal)
            fail_msg("%s(%g) = %g, expected %g", s->name, (double)s->in, (double)out[7],
                     (double)s->out);
        kernel_case_deinit(&c);
    }
}

// What the interpreter gives, that is the C library, to the bit.
static void test_special_values_f64(void **state) {
    (void)state;
    static const double specials[] = {
        0.0,
        -0.0,
        INFINITY,
        -INFINITY,
        NAN,
        1.0,
        0x1p-1074,
        -0x1p-1074,
        0x1p-1030,
        -0x1p-1030,
        0x1.fffffffffffffp1023,
        -0x1.fffffffffffffp1023,
        709.8,
        -745.2,
        -745.1,
        1e300,
        -1e300,
    };
    static const char *const names[] = {"exp", "tanh", "erf", "log", "sin", "cos"};
    CpuLevel level;
    assert_true(cpu_host_level(&level));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        KernelCase c;
        init_function(&c, names[i], "f64");
        double *out = (double *)(void *)c.buffers[1].bytes;
        memset(c.buffers[0].bytes, 0, c.buffers[0].len_bytes);
        memcpy(c.buffers[0].bytes, specials, sizeof specials);
        kernel_case_interpret(&c);
        double wanted[ARRAY_LEN(specials)];
        memcpy(wanted, out, sizeof wanted);
        kernel_case_run(&c, level);
        for (size_t k = 0; k < ARRAY_LEN(specials); k++) {
            // sin and cos end at 2^48; logarithms of numbers other than 1 and 0 are no special
            // values.
            bool is_sin = i >= 4, is_log = i == 3;
            double want = is_sin && fabs(specials[k]) > 0x1p48 ? NAN : wanted[k];
            bool is_close = is_log && fabs(out[k] - want) <= 0x1p-52 * fabs(want);
            if (!(isnan(want) ? isnan(out[k]) : f64_to_bits(out[k]) == f64_to_bits(want)) &&
                !is_close && fabs(specials[k]) != 1.0)
                fail_msg("%s(%g) = %.17g, interpreted %.17g", names[i], specials[k], out[k], want);
        }
        kernel_case_deinit(&c);
    }
}

// Whatever its sign and payload: no function works on the bits of a NaN alone.
static void check_nans(const char *name, bool is_f64, CpuLevel level) {
    KernelCase c;
    init_function(&c, name, is_f64 ? "f64" : "f32");
    uint64_t num = c.buffers[0].len_bytes / (is_f64 ? 8 : 4);
    for (uint64_t i = 0; i < num; i++) {
        uint64_t payload = i ? (i + 1) * UINT64_C(0x9e3779b97f4a7c15) : UINT64_MAX;
        double wide = f64_from_bits(payload | UINT64_C(0x7ff0000000000001));
        float narrow = f32_from_bits((uint32_t)(payload >> 32) | 0x7f800001u);
        memcpy(c.buffers[0].bytes + i * (is_f64 ? 8 : 4),
               is_f64 ? (const void *)&wide : (const void *)&narrow, is_f64 ? 8 : 4);
    }
    kernel_case_run(&c, level);
    for (uint64_t i = 0; i < num; i++) {
        const uint8_t *at = c.buffers[1].bytes + i * (is_f64 ? 8 : 4);
        double wide = 0;
        float narrow = 0;
        memcpy(&wide, at, is_f64 ? sizeof wide : 0);
        memcpy(&narrow, at, is_f64 ? 0 : sizeof narrow);
        if (!isnan(is_f64 ? wide : (double)narrow))
            fail_msg("%s of NaN number %u is a number", name, (unsigned)i);
    }
    kernel_case_deinit(&c);
}

static void test_nan_stays_nan(void **state) {
    (void)state;
    static const char *const names[] = {"exp", "tanh", "erf", "log", "sin", "cos"};
    CpuLevel level;
    assert_true(cpu_host_level(&level));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (int is_f64 = 0; is_f64 < 2; is_f64++) check_nans(names[i], is_f64, level);
}

static const char rounding[] =
    "// tiles: 0 256\n"
    "func.func @k(%x: memref<4096xf64>, %h: memref<4096xf16>, %b: memref<4096xbf16>, "
    "%begin: index, %end: index) attributes {ingot.kernel} {\n"
    "  %c1 = arith.constant 1 : index\n"
    "  %c16 = arith.constant 16 : index\n"
    "  scf.for %t = %begin to %end step %c1 {\n"
    "    %j = arith.muli %t, %c16 : index\n"
    "    %v = vector.load %x[%j] : memref<4096xf64>, vector<16xf64>\n"
    "    %vh = arith.truncf %v : vector<16xf64> to vector<16xf16>\n"
    "    vector.store %vh, %h[%j] : memref<4096xf16>, vector<16xf16>\n"
    "    %vb = arith.truncf %v : vector<16xf64> to vector<16xbf16>\n"
    "    vector.store %vb, %b[%j] : memref<4096xbf16>, vector<16xbf16>\n"
    "  }\n"
    "  return\n"
    "}\n";

// Numbers that a rounding to f32 before the one to 16 bits gets wrong: next to a middle, by less
// than f32 can tell; and what is next to them, above f32's range, below it, NaN.
static uint32_t near_16_bits(uint32_t bits, bool is_bf16, double *out) {
    static const double extremes[] = {NAN,   INFINITY, -INFINITY, 0.0,      -0.0,    1e300,
                                      -1e39, 1e-300,   -1e-45,    0x1p-149, 0x1p-150};
    double a = is_bf16 ? (double)bf16_to_f32((uint16_t)bits) : (double)f16_to_f32((uint16_t)bits);
    uint16_t up = (uint16_t)(bits + 1);
    double b = is_bf16 ? (double)bf16_to_f32(up) : (double)f16_to_f32(up);
    double middle =
        isinf(b) && isfinite(a) ? a * (is_bf16 ? 1 + 0x1p-9 : 1 + 0x1p-12) : (a + b) / 2;
    double around[] = {a, middle, extremes[bits % ARRAY_LEN(extremes)]};
    uint32_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(around); i++) {
        out[n++] = around[i];
        out[n++] = nextafter(around[i], INFINITY);
        out[n++] = nextafter(around[i], -INFINITY);
        out[n++] = around[i] * (1 + 0x1p-26);
        out[n++] = around[i] * (1 - 0x1p-26);
    }
    return n;
}

// The magnitude of a 16-bit number; infinity counts as the number that would be next.
static double magnitude_16(uint32_t bits, bool is_bf16) {
    if (bits == (is_bf16 ? 0x7f80u : 0x7c00u)) return is_bf16 ? 0x1p128 : 0x1p16;
    return (double)(is_bf16 ? bf16_to_f32((uint16_t)bits) : f16_to_f32((uint16_t)bits));
}

// Whether no 16-bit number is closer to x than `got`, and of two equally close ones it is the even.
// The middle between neighbours is exact in f64.
static bool is_nearest(double x, uint16_t got, bool is_bf16) {
    uint32_t infinite = is_bf16 ? 0x7f80 : 0x7c00, bits = got & 0x7fff;
    if (isnan(x)) return bits > infinite;
    if (bits > infinite || (got >> 15 != 0) != (signbit(x) != 0)) return false;
    double at = magnitude_16(bits, is_bf16);
    double low = bits ? (magnitude_16(bits - 1, is_bf16) + at) / 2 : 0;
    double high = bits < infinite ? (at + magnitude_16(bits + 1, is_bf16)) / 2 : INFINITY;
    x = fabs(x);
    return bits & 1 ? low < x && x < high : low <= x && x <= high;
}

static void check_rounded(const KernelCase *c, const double *in, uint32_t num) {
    const uint16_t *h = (const uint16_t *)(const void *)c->buffers[1].bytes;
    const uint16_t *b = (const uint16_t *)(const void *)c->buffers[2].bytes;
    for (uint32_t i = 0; i < num; i++) {
        if (!is_nearest(in[i], h[i], false)) fail_msg("%a: f16 %x", in[i], h[i]);
        if (!is_nearest(in[i], b[i], true)) fail_msg("%a: bf16 %x", in[i], b[i]);
        if (isnan(in[i])) continue;
        assert_int_equal(f16_from_f64(in[i]), h[i]); // the interpreter
        assert_int_equal(bf16_from_f64(in[i]), b[i]);
    }
}

static void test_rounding_of_f64(void **state) {
    (void)state;
    enum { NUM_NEAR = 15 };
    CpuLevel level;
    assert_true(cpu_host_level(&level));
    KernelCase c;
    CaseCode code;
    kernel_case_init(&c, rounding, sizeof rounding - 1, "rounding", 1);
    kernel_case_compile(&c, level, &code);
    double *in = (double *)(void *)c.buffers[0].bytes;
    for (uint32_t bits = 0; bits < 2 << 16;) {
        uint32_t n = 0;
        for (; n + NUM_NEAR <= NUM_LANES && bits < 2 << 16; bits++)
            n += near_16_bits(bits & 0xffff, bits >> 16, in + n);
        kernel_case_call(&c, &code);
        check_rounded(&c, in, n);
    }
    kernel_case_free_code(&code);
    kernel_case_deinit(&c);
}

int main(void) {
    static MathFunction functions[] = {
        {"exp", expl, 1.05, INFINITY, 0},   {"tanh", tanhl, 1.5, INFINITY, 0},
        {"erf", erfl, 1.25, INFINITY, 0},   {"log", logl, 0.9, INFINITY, 0},
        {"sin", sinl, 0.51, 0x1p30, 0},     {"cos", cosl, 0.51, 0x1p30, 0},
        {"exp", expl, 1.05, INFINITY, 745}, {"tanh", tanhl, 1.5, INFINITY, 4},
        {"erf", erfl, 1.25, INFINITY, 6},   {"log", logl, 0.9, INFINITY, 3},
        {"sin", sinl, 0.9, 0x1p48, 7},      {"cos", cosl, 0.9, 0x1p48, 7},
    };
    struct CMUnitTest tests[ARRAY_LEN(functions) + 4] = {{0}};
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        tests[i] = (struct CMUnitTest){
            .name = functions[i].name, .test_func = test_ulp, .initial_state = &functions[i]};
    tests[ARRAY_LEN(functions)] = (struct CMUnitTest)cmocka_unit_test(test_special_values);
    tests[ARRAY_LEN(functions) + 1] = (struct CMUnitTest)cmocka_unit_test(test_special_values_f64);
    tests[ARRAY_LEN(functions) + 2] = (struct CMUnitTest)cmocka_unit_test(test_rounding_of_f64);
    tests[ARRAY_LEN(functions) + 3] = (struct CMUnitTest)cmocka_unit_test(test_nan_stays_nan);
    return _cmocka_run_group_tests("math", tests, ARRAY_LEN(tests), NULL, NULL);
}
