// The polynomials behind math.exp, tanh, erf, log, sin and cos against the long double C library
// over the whole f32 range (every INGOT_ULP_STRIDE-th bit pattern, 997 unless set), and their
// special values.
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
    double max_ulp;  // asserted
    float max_input; // magnitude up to which the bound is claimed
} MathFunction;

static const char text[] =
    "// tiles: 0 256\n"
    "func.func @k(%%x: memref<4096xf32>, %%o: memref<4096xf32>, %%begin: index, %%end: index) "
    "attributes {ingot.kernel} {\n"
    "  %%c1 = arith.constant 1 : index\n"
    "  %%c16 = arith.constant 16 : index\n"
    "  scf.for %%t = %%begin to %%end step %%c1 {\n"
    "    %%j = arith.muli %%t, %%c16 : index\n"
    "    %%a = vector.load %%x[%%j] : memref<4096xf32>, vector<16xf32>\n"
    "    %%r = math.%s %%a : vector<16xf32>\n"
    "    vector.store %%r, %%o[%%j] : memref<4096xf32>, vector<16xf32>\n"
    "  }\n"
    "  return\n"
    "}\n";

static void init_function(KernelCase *c, const char *name) {
    char source[2048];
    int len = snprintf(source, sizeof source, text, name);
    kernel_case_init(c, source, (size_t)len, "math", 1);
}

static double ulp_error(float got, long double want) {
    float near = (float)want;
    if (isinf(near) || isnan(near))
        return got == near || (isnan(got) && isnan(near)) ? 0 : INFINITY;
    int exponent;
    (void)frexpl(want, &exponent);
    long double ulp = ldexpl(1.0L, exponent - 24 < -149 ? -149 : exponent - 24);
    return (double)(fabsl((long double)got - want) / ulp);
}

static void measure(KernelCase *c, const MathFunction *f, CpuLevel level) {
    const char *wish = getenv("INGOT_ULP_STRIDE");
    uint64_t stride = wish ? strtoull(wish, NULL, 10) : 997;
    assert_true(stride > 0);
    float *in = (float *)(void *)c->buffers[0].bytes, *out = (float *)(void *)c->buffers[1].bytes;
    CaseCode code;
    kernel_case_compile(c, level, &code);
    double worst = 0;
    float worst_at = 0;
    for (uint64_t bits = 0; bits < 1ull << 32;) {
        uint32_t n = 0;
        for (; n < NUM_LANES && bits < 1ull << 32; bits += stride) {
            float x = f32_from_bits((uint32_t)bits);
            if (fabsf(x) <= f->max_input) in[n++] = x;
        }
        kernel_case_call(c, &code);
        for (uint32_t i = 0; i < n; i++) {
            double error = ulp_error(out[i], f->reference(in[i]));
            if (error > worst) {
                worst = error;
                worst_at = in[i];
            }
        }
    }
    kernel_case_free_code(&code);
    print_message("math.%s at %s: at most %.3f ulp (at %.9g)\n", f->name,
                  cpu_level_info(level)->name, worst, (double)worst_at);
    if (worst > f->max_ulp) fail_msg("more than %.2f ulp", f->max_ulp);
}

static void test_ulp(void **state) {
    const MathFunction *f = *state;
    CpuLevel level;
    assert_true(cpu_host_level(&level)); // all levels give the same bits: test_kernels
    KernelCase c;
    init_function(&c, f->name);
    measure(&c, f, level);
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
        init_function(&c, s->name);
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

int main(void) {
    static MathFunction functions[] = {
        {"exp", expl, 1.05, INFINITY}, {"tanh", tanhl, 1.5, INFINITY},
        {"erf", erfl, 1.25, INFINITY}, {"log", logl, 0.9, INFINITY},
        {"sin", sinl, 0.51, 0x1p30f},  {"cos", cosl, 0.51, 0x1p30f},
    };
    struct CMUnitTest tests[ARRAY_LEN(functions) + 1] = {{0}};
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        tests[i] = (struct CMUnitTest){
            .name = functions[i].name, .test_func = test_ulp, .initial_state = &functions[i]};
    tests[ARRAY_LEN(functions)] = (struct CMUnitTest)cmocka_unit_test(test_special_values);
    return _cmocka_run_group_tests("math", tests, ARRAY_LEN(tests), NULL, NULL);
}
