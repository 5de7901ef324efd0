// The interpreter: files of IR with the text they print or the faults they end in; the same files
// through MLIR's own lowering and runner; and the C interface.
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/float16.h"
#include "filetest.h"
#include "ir/interp.h"
#include "ir/intrinsics.h"
#include "ir/parse.h"
#include "ir/verify.h"

static IrModule *load(const char *text, DiagSink *sink) {
    IrModule *m = NULL;
    const IrVerifyOptions options = {.allow_test_ops = true};
    if (ir_parse(text, strlen(text), "test.mlir", sink, &m) != STATUS_OK) return NULL;
    if (ir_verify(m, &options, sink) == STATUS_OK) return m;
    ir_module_destroy(m);
    return NULL;
}

// Runs @main; the text it printed in *out.
static Status run_main(const char *text, uint32_t parallel_order, StrBuf *out, DiagSink *sink) {
    IrModule *m = load(text, sink);
    if (!m) return STATUS_INVALID;
    const IrInterpOptions options = {.print_output = out, .parallel_order = parallel_order};
    Status status = ir_interp_call(m, "main", 0, NULL, 0, NULL, &options, sink);
    ir_module_destroy(m);
    return status;
}

static bool check_chunk(const FiletestChunk *chunk, uint32_t parallel_order) {
    DiagSink sink;
    StrBuf out = {0};
    diag_sink_init(&sink);
    Status status = run_main(chunk->text, parallel_order, &out, &sink);
    bool is_good = filetest_check_errors(chunk, &sink) && (status == STATUS_OK) == !sink.num_errors;
    bool is_fixed = !filetest_expects_errors(chunk) && !strstr(chunk->text, "// any-output");
    if (is_good && is_fixed) {
        is_good = filetest_check_output(chunk, out.data ? out.data : "");
    }
    strbuf_deinit(&out);
    diag_sink_deinit(&sink);
    return is_good;
}

static void test_files(void **state) {
    (void)state;
    size_t num_files, num_bad = 0, num_chunks = 0;
    FiletestFile *files = filetest_load("interp", &num_files);
    for (size_t f = 0; f < num_files; f++) {
        for (size_t c = 0; c < files[f].num_chunks; c++, num_chunks++) {
            for (uint32_t order = 0; order < 4; order++) {
                num_bad += !check_chunk(&files[f].chunks[c], order);
            }
        }
    }
    filetest_unload(files, num_files);
    printf("%zu chunks\n", num_chunks);
    assert_int_equal(num_bad, 0);
}

// ---------------------------------------------------------------- MLIR's own runner as the oracle

static bool has_program(const char *name) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s > /dev/null 2>&1", name);
    return system(command) == 0;
}

// Lowers with stock passes and runs; the address of a memref is made 0.
static void oracle_command(const char *path, char *out, size_t len) {
    snprintf(out, len,
             "L=$(llvm-config-22 --libdir); D=--buffer-deallocation-pipeline; "
             "grep -q memref.alloc %s && D=; "
             "mlir-opt-22 %s --one-shot-bufferize='bufferize-function-boundaries "
             "function-boundary-type-conversion=identity-layout-map' $D --convert-linalg-to-loops "
             "--convert-bufferization-to-memref --lower-affine --convert-vector-to-scf "
             "--lower-affine --convert-scf-to-cf --expand-strided-metadata --lower-affine "
             "--convert-vector-to-llvm --convert-math-to-llvm --convert-math-to-libm "
             "--convert-arith-to-llvm --convert-index-to-llvm --convert-ub-to-llvm "
             "--finalize-memref-to-llvm --convert-cf-to-llvm --convert-func-to-llvm "
             "--reconcile-unrealized-casts | mlir-runner-22 -e main --entry-point-result=void "
             "--shared-libs=$L/libmlir_runner_utils.so.22.1,$L/libmlir_c_runner_utils.so.22.1,"
             "$L/libmlir_float16_utils.so.22.1 | sed 's/base@ = 0x[0-9a-f]*/base@ = 0x0/'",
             path, path);
}

// What the interpreter prints must be what the runner prints.
static bool check_oracle(const FiletestChunk *chunk) {
    char path[] = "/tmp/ingot-interp-XXXXXX", command[4096], part[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, chunk->text, chunk->len), (ssize_t)chunk->len);
    close(fd);
    oracle_command(path, command, sizeof command);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    StrBuf want = {0}, have = {0};
    strbuf_puts(&want, "");
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) strbuf_append(&want, part, n);
    pclose(pipe);
    unlink(path);
    DiagSink sink;
    diag_sink_init(&sink);
    bool is_good = run_main(chunk->text, 0, &have, &sink) == STATUS_OK && have.data &&
                   str_equal(want.data, have.data);
    if (!is_good) {
        fprintf(stderr, "%s:%u: the runner prints\n%s\nthe interpreter prints\n%s\n", chunk->file,
                chunk->line, want.data, have.data ? have.data : "");
    }
    strbuf_deinit(&want);
    strbuf_deinit(&have);
    diag_sink_deinit(&sink);
    return is_good;
}

static void test_oracle(void **state) {
    (void)state;
    if (!has_program("mlir-opt-22") || !has_program("mlir-runner-22")) {
        printf("SKIPPED: mlir-opt-22 and mlir-runner-22 are not installed\n");
        skip();
    }
    size_t num_files, num_bad = 0, num_chunks = 0;
    FiletestFile *files = filetest_load("interp", &num_files);
    for (size_t f = 0; f < num_files; f++) {
        for (size_t c = 0; c < files[f].num_chunks; c++) {
            const char *text = files[f].chunks[c].text;
            if (filetest_expects_errors(&files[f].chunks[c]) || strstr(text, "// no-oracle: "))
                continue;
            num_bad += !check_oracle(&files[f].chunks[c]);
            num_chunks++;
        }
    }
    filetest_unload(files, num_files);
    printf("%zu chunks equal to mlir-runner-22\n", num_chunks - num_bad);
    assert_int_equal(num_bad, 0);
}

// ---------------------------------------------------------------- the C interface

static void test_tensor_arguments(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%a: tensor<?x2xf32>, %s: f32, %n: i8) -> (tensor<?x2xf32>, f32, i8) {\n"
        "  %c0 = arith.constant 0 : index\n"
        "  %b = tensor.insert %s into %a[%c0, %c0] : tensor<?x2xf32>\n"
        "  %m = arith.addi %n, %n : i8\n"
        "  return %b, %s, %m : tensor<?x2xf32>, f32, i8\n}";
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = load(text, &sink);
    assert_non_null(m);
    float data[6] = {1, 2, 3, 4, 5, 6};
    const IrType *type = ir_type_tensor(m, 2, (int64_t[]){3, 2}, ir_type_f32(m));
    IrInterpValue args[3] = {{.type = type, .data = data, .len_bytes = sizeof data},
                             {.type = ir_type_f32(m), .bits = f32_to_bits(9.0f)},
                             {.type = ir_type_int(m, 8), .bits = 100}};
    IrInterpValue results[3];
    assert_int_equal(ir_interp_call(m, "f", 3, args, 3, results, NULL, &sink), STATUS_OK);
    assert_true(data[0] == 1.0f); // the argument is not written
    assert_int_equal(results[0].len_bytes, sizeof data);
    assert_true(((float *)results[0].data)[0] == 9.0f && ((float *)results[0].data)[5] == 6.0f);
    assert_int_equal(results[0].type->shape[0], 3);
    assert_true(f32_from_bits((uint32_t)results[1].bits) == 9.0f);
    assert_int_equal((int64_t)results[2].bits, -56); // wrapped, sign-extended
    for (size_t i = 0; i < 3; i++) ir_interp_result_deinit(&results[i]);
    // Wrong sizes, numbers and names are diagnostics.
    args[0].len_bytes = 8;
    assert_int_equal(ir_interp_call(m, "f", 3, args, 3, results, NULL, &sink), STATUS_INVALID);
    assert_int_equal(ir_interp_call(m, "f", 2, args, 3, results, NULL, &sink), STATUS_INVALID);
    assert_int_equal(ir_interp_call(m, "g", 0, NULL, 0, NULL, NULL, &sink), STATUS_INVALID);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

static void test_memref_arguments(void **state) {
    (void)state;
    const char *text = "func.func @f(%m: memref<4xi32>, %arena: memref<64xi8> {ingot.arena}) {\n"
                       "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
                       "  %v = memref.view %arena[%c0][] : memref<64xi8> to memref<4xi32>\n"
                       "  %x = memref.load %m[%c1] : memref<4xi32>\n"
                       "  memref.store %x, %v[%c0] : memref<4xi32>\n"
                       "  %y = memref.load %v[%c0] : memref<4xi32>\n"
                       "  memref.store %y, %m[%c0] : memref<4xi32>\n  return\n}";
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = load(text, &sink);
    assert_non_null(m);
    int32_t data[4] = {1, 2, 3, 4};
    uint8_t arena[64] = {0};
    IrInterpValue args[2] = {{.type = ir_type_memref(m, 1, (int64_t[]){4}, ir_type_int(m, 32)),
                              .data = data,
                              .len_bytes = 16},
                             {.type = ir_type_memref(m, 1, (int64_t[]){64}, ir_type_int(m, 8)),
                              .data = arena,
                              .len_bytes = 64}};
    assert_int_equal(ir_interp_call(m, "f", 2, args, 0, NULL, NULL, &sink), STATUS_OK);
    assert_int_equal(data[0], 2); // written in place
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

static DiagCode fault_of(const char *text, const IrInterpOptions *options) {
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = load(text, &sink);
    assert_non_null(m);
    Status status = ir_interp_call(m, "main", 0, NULL, 0, NULL, options, &sink);
    DiagCode code = sink.diags[0].code;
    assert_int_equal(status, code == DIAG_I0303 ? STATUS_LIMIT : STATUS_INVALID);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
    return code;
}

static void test_limits(void **state) {
    (void)state;
    const char *loop =
        "func.func @main() {\n  %c0 = arith.constant 0 : index\n"
        "  %c1 = arith.constant 1 : index\n  %n = arith.constant 1000000000000 : index\n"
        "  scf.for %i = %c0 to %n step %c1 {\n    %x = arith.addi %i, %i : index\n  }\n"
        "  return\n}";
    const char *big =
        "func.func @main() {\n  %e = tensor.empty() : tensor<1048576xf32>\n  return\n}";
    const char *huge = "func.func @main() {\n  %n = arith.constant 4611686018427387904 : index\n"
                       "  %e = tensor.empty(%n) : tensor<?x64xf32>\n  return\n}";
    const char *print = "func.func private @printMemrefF32(memref<*xf32>)\nfunc.func @main() {\n"
                        "  %m = memref.alloc() : memref<4xf32>\n"
                        "  %u = memref.cast %m : memref<4xf32> to memref<*xf32>\n"
                        "  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()\n  return\n}";
    assert_int_equal(fault_of(loop, &(IrInterpOptions){.max_ops = 100000}), DIAG_I0303);
    assert_int_equal(fault_of(big, &(IrInterpOptions){.max_bytes = 1 << 20}), DIAG_I0303);
    assert_int_equal(fault_of(huge, NULL), DIAG_I0301);
    assert_int_equal(fault_of(print, NULL), DIAG_I0302);
}

// A loop whose iterations depend on each other shows it in another order.
static void test_parallel_order(void **state) {
    (void)state;
    const char *text = "func.func private @printMemrefI32(memref<*xi32>)\nfunc.func @main() {\n"
                       "  %z = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
                       "  %m = memref.alloc() : memref<5xi32>\n"
                       "  linalg.fill ins(%z : i32) outs(%m : memref<5xi32>)\n"
                       "  affine.parallel (%i) = (0) to (4) {\n"
                       "    %a = affine.load %m[%i] : memref<5xi32>\n"
                       "    %b = arith.addi %a, %one : i32\n"
                       "    affine.store %b, %m[%i + 1] : memref<5xi32>\n  }\n"
                       "  %u = memref.cast %m : memref<5xi32> to memref<*xi32>\n"
                       "  func.call @printMemrefI32(%u) : (memref<*xi32>) -> ()\n  return\n}";
    const char *want[] = {"[0,  1,  2,  3,  4]", "[0,  1,  1,  1,  1]"};
    for (uint32_t order = 0; order < 2; order++) {
        DiagSink sink;
        StrBuf out = {0};
        diag_sink_init(&sink);
        assert_int_equal(run_main(text, order, &out, &sink), STATUS_OK);
        assert_non_null(strstr(out.data, want[order]));
        strbuf_deinit(&out);
        diag_sink_deinit(&sink);
    }
}

static void test_float16(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float value = f16_to_f32((uint16_t)bits), wide = bf16_to_f32((uint16_t)bits);
        if (value == value)
            assert_int_equal(f16_from_f32(value), bits);
        else
            assert_true((f16_from_f32(value) & 0x7E00) == 0x7E00);
        if (wide == wide) assert_int_equal(bf16_from_f32(wide), bits);
        if (value == value) assert_int_equal(f16_from_f64((double)value), bits);
    }
    // One rounding where two would go wrong: just above a tie of f16 that f32 cannot tell from it.
    assert_int_equal(f16_from_f64(1.0 + 0x1p-11 + 0x1p-40), 0x3C01);
    assert_int_equal(f16_from_f32((float)(1.0 + 0x1p-11 + 0x1p-40)), 0x3C00);
    assert_int_equal(f16_from_f64(65519.999), 0x7BFF);
    assert_int_equal(f16_from_f64(1e300), 0x7C00);
    assert_int_equal(bf16_from_f64(-1e300), 0xFF80);
}

// ---------------------------------------------------------------- intrinsics against the machine

#if defined(__x86_64__)
#include <immintrin.h>

static void widen8(const int8_t *from, uint64_t *to) {
    for (int i = 0; i < 64; i++) to[i] = (uint64_t)(int64_t)from[i];
}

// words: the lanes of the machine's result, sign-extended.
__attribute__((target("avx512f,avx512bw,avx512vnni,gfni,avx512vbmi"))) static void
machine_512(const int8_t *a, const int8_t *b, const char *name, int32_t *out32, int16_t *out16,
            int8_t *out8) {
    __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    if (strstr(name, "vpdpbusd")) {
        _mm512_storeu_si512(out32, _mm512_dpbusd_epi32(_mm512_loadu_si512(out32), x, y));
    } else if (strstr(name, "vpdpwssd")) {
        _mm512_storeu_si512(out32, _mm512_dpwssd_epi32(_mm512_loadu_si512(out32), x, y));
    } else if (strstr(name, "pmaddubs")) {
        _mm512_storeu_si512(out16, _mm512_maddubs_epi16(x, y));
    } else if (strstr(name, "pmaddw")) {
        _mm512_storeu_si512(out32, _mm512_madd_epi16(x, y));
    } else if (strstr(name, "gf2p8")) {
        _mm512_storeu_si512(out8, _mm512_gf2p8affine_epi64_epi8(x, y, 0x5A));
    } else if (strstr(name, "permvar")) {
        _mm512_storeu_si512(out8, _mm512_permutexvar_epi8(y, x));
    } else {
        _mm512_storeu_si512(out8, _mm512_shuffle_epi8(x, y));
    }
}

static void compare_intrinsic(const IrIntrinsic *intrinsic, uint64_t *random) {
    int8_t a[64], b[64], out8[64] = {0};
    int32_t out32[16];
    int16_t out16[32], a16[32], b16[32];
    uint64_t wa[64], wb[64], acc[16], got[64], immediate = 0x5A;
    for (int i = 0; i < 64; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        a[i] = (int8_t)(*random >> 56);
        b[i] = i % 7 ? (int8_t)(*random >> 40) : -128;
    }
    for (int i = 0; i < 16; i++) {
        out32[i] = (int32_t)(i * 0x1234567);
        acc[i] = (uint64_t)(int64_t)out32[i];
    }
    bool is_words = intrinsic->operands[1].width == 16;
    machine_512(a, b, intrinsic->name, out32, out16, out8);
    widen8(a, wa);
    widen8(b, wb);
    memcpy(a16, a, 64);
    memcpy(b16, b, 64);
    for (int i = 0; is_words && i < 32; i++) {
        wa[i] = (uint64_t)(int64_t)a16[i];
        wb[i] = (uint64_t)(int64_t)b16[i];
    }
    if (ir_intrinsic_num_operands(intrinsic) == 3 && intrinsic->operands[0].width == 32) {
        intrinsic->run(got, intrinsic->result.lanes, acc, wa, wb);
    } else {
        intrinsic->run(got, intrinsic->result.lanes, wa, wb, &immediate);
    }
    for (uint32_t i = 0; i < intrinsic->result.lanes; i++) {
        int64_t want = intrinsic->result.width == 32   ? out32[i]
                       : intrinsic->result.width == 16 ? out16[i]
                                                       : out8[i];
        assert_int_equal((int64_t)got[i], want);
    }
}

static void test_intrinsics(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("gfni") ||
        !__builtin_cpu_supports("avx512vbmi")) {
        printf("SKIPPED: the CPU lacks AVX-512 VNNI, VBMI or GFNI\n");
        skip();
    }
    size_t num_compared = 0;
    uint64_t random = 1;
    for (size_t i = 0; i < ir_intrinsic_count(); i++) {
        const IrIntrinsic *intrinsic = ir_intrinsic_at(i);
        if (!strstr(intrinsic->name, "512") ||
            intrinsic->operands[1].lanes * intrinsic->operands[1].width != 512) {
            continue; // the narrow forms share the meaning of the wide ones
        }
        for (int n = 0; n < 100; n++) compare_intrinsic(intrinsic, &random);
        num_compared++;
    }
    printf("%zu intrinsics equal to the machine\n", num_compared);
    assert_true(num_compared >= 7);
}
#else
static void test_intrinsics(void **state) {
    (void)state;
    printf("SKIPPED: no x86-64 machine\n");
    skip();
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_tensor_arguments),
        cmocka_unit_test(test_memref_arguments),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_parallel_order),
        cmocka_unit_test(test_float16),
        cmocka_unit_test(test_intrinsics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
