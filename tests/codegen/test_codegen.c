// Code generation as a whole: same bytes for any number of threads, text that stock MLIR accepts,
// refusals with their codes, and damaged objects.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen_internal.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernel_case.h"
#include "passes/pass.h"

// ---------------------------------------------------------------- helpers

static IrModule *parse_or_fail(const char *text) {
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = NULL;
    expect_ok(ir_parse(text, strlen(text), "test", &sink, &m), &sink);
    diag_sink_deinit(&sink);
    return m;
}

static void expect_code(const DiagSink *sink, Status status, const char *code, const char *part) {
    assert_int_equal(status, STATUS_INVALID);
    assert_true(sink->num_diags > 0);
    assert_string_equal(diag_info(sink->diags[0].code)->code, code);
    if (!strstr(sink->diags[0].message, part))
        fail_msg("\"%s\" does not say \"%s\"", sink->diags[0].message, part);
}

static void expect_lower_refused(const char *text, const char *code, const char *part) {
    IrModule *m = parse_or_fail(text);
    DiagSink sink;
    diag_sink_init(&sink);
    Status status = pass_lower_target(m, &sink);
    expect_code(&sink, status, code, part);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
}

static void expect_compile_refused(IrModule *m, CpuLevel level, const char *code,
                                   const char *part) {
    DiagSink sink;
    diag_sink_init(&sink);
    CodegenImage image;
    Status status = codegen_compile(m, level, 2, &sink, &image);
    expect_code(&sink, status, code, part);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
}

#define KERNEL(name, params, body)                                                                 \
    "func.func @" name "(" params "%begin: index, %end: index) attributes {ingot.kernel} {\n" body \
    "  return\n}\n"

static const char several[] =
    "memref.global \"private\" constant @t : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>\n" KERNEL(
        "a", "%x: memref<4xf32>, ",
        "  %t = memref.get_global @t : memref<4xf32>\n  %v = memref.load %t[%begin] : "
        "memref<4xf32>\n"
        "  memref.store %v, %x[%begin] : memref<4xf32>\n")
        KERNEL("b", "%x: memref<16xf32>, ",
               "  %c0 = arith.constant 0 : index\n  %v = vector.load %x[%c0] : memref<16xf32>, "
               "vector<16xf32>\n"
               "  %e = math.exp %v : vector<16xf32>\n  vector.store %e, %x[%c0] : memref<16xf32>, "
               "vector<16xf32>\n") KERNEL("c", "%x: memref<16xf32>, ",
                                          "  %c0 = arith.constant 0 : index\n  %v = vector.load "
                                          "%x[%c0] : memref<16xf32>, vector<16xf32>\n"
                                          "  %e = math.tanh %v : vector<16xf32>\n  vector.store "
                                          "%e, %x[%c0] : memref<16xf32>, vector<16xf32>\n")
            KERNEL("d", "%x: memref<16xf32>, ",
                   "") "func.func @entry(%x: memref<4xf32>, %y: memref<16xf32>) {\n"
                       "  %c0 = arith.constant 0 : index\n"
                       "  func.call @a(%x, %c0, %c0) : (memref<4xf32>, index, index) -> ()\n"
                       "  return\n}\n";

// ---------------------------------------------------------------- tests

static void test_bytes_do_not_depend_on_threads(void **state) {
    (void)state;
    IrModule *m = parse_or_fail(several);
    DiagSink sink;
    diag_sink_init(&sink);
    expect_ok(pass_lower_target(m, &sink), &sink);
    for (int level = 0; level < NUM_CPU_LEVELS; level++) {
        CodegenImage images[3];
        for (uint32_t i = 0; i < 3; i++)
            expect_ok(codegen_compile(m, (CpuLevel)level, i + 1, &sink, &images[i]), &sink);
        assert_int_equal(images[0].num_functions, 4);
        assert_string_equal(images[0].functions[1].name, "b");
        for (uint32_t i = 1; i < 3; i++) {
            assert_int_equal(images[0].len_bytes, images[i].len_bytes);
            assert_memory_equal(images[0].bytes, images[i].bytes, images[0].len_bytes);
        }
        for (uint32_t i = 0; i < 4; i++) assert_int_equal(images[0].functions[i].offset % 64, 0);
        for (uint32_t i = 0; i < 3; i++) codegen_image_deinit(&images[i]);
    }
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
}

static void test_every_function_runs_from_one_image(void **state) {
    (void)state;
    CpuLevel level;
    assert_true(cpu_host_level(&level));
    IrModule *m = parse_or_fail(several);
    DiagSink sink;
    diag_sink_init(&sink);
    CodegenImage image;
    void *base;
    expect_ok(pass_lower_target(m, &sink), &sink);
    expect_ok(codegen_compile(m, level, 2, &sink, &image), &sink);
    expect_ok(codegen_image_map(&image, &sink, &base), &sink);
    _Alignas(64) float x[4] = {0};
    void *buffers[] = {x};
    void (*kernel)(void *const *, const int64_t *, int64_t, int64_t);
    uint8_t *entry = (uint8_t *)base + image.functions[0].offset;
    memcpy(&kernel, &entry, sizeof kernel);
    kernel(buffers, NULL, 2, 3); // the constant table of @a
    assert_true(x[2] == 3.0f && x[0] == 0);
    codegen_image_unmap(base, image.len_bytes);
    codegen_image_deinit(&image);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
}

static void test_stock_mlir_accepts_level_3(void **state) {
    (void)state;
    IrModule *m = parse_or_fail(several), *lowered = kernel_case_lower(m);
    StrBuf text = {0};
    ir_print(lowered, NULL, &text);
    if (!stock_mlir_accepts(&text)) skip();
    IrModule *again = parse_or_fail(text.data);
    StrBuf second = {0};
    ir_print(again, NULL, &second);
    assert_string_equal(text.data, second.data);
    strbuf_deinit(&text);
    strbuf_deinit(&second);
    ir_module_destroy(again);
    ir_module_destroy(lowered);
    ir_module_destroy(m);
}

static void test_lowering_refuses(void **state) {
    (void)state;
    expect_lower_refused(KERNEL("k", "%x: memref<4xf32>, ",
                                "  %c = arith.constant 0.0 : f32\n"
                                "  linalg.fill ins(%c : f32) outs(%x : memref<4xf32>)\n"),
                         "B0001", "linalg.fill");
    expect_lower_refused(KERNEL("k", "%x: memref<?xf32>, ", ""), "B0001", "static shape");
    expect_lower_refused(KERNEL("k", "%x: f32, ", ""), "B0002", "neither a buffer nor an index");
    expect_lower_refused("func.func @k(%x: memref<4xf32>, %i: index) attributes {ingot.kernel} {\n"
                         "  return\n}\n",
                         "B0002", "tile range");
    expect_lower_refused(
        KERNEL("k", "%x: memref<4xf16>, ",
               "  %v = memref.load %x[%begin] : memref<4xf16>\n"
               "  %e = math.fma %v, %v, %v : f16\n  memref.store %e, %x[%begin] : memref<4xf16>\n"),
        "B0001", "math.fma");
    expect_lower_refused(KERNEL("k", "", "  %a = memref.alloca() : memref<1000000xf32>\n"), "B0001",
                         "stack");
}

static const char dot[] = KERNEL(
    "k", "%x: memref<16xi32>, %a: memref<64xi8>, ",
    "  %c0 = arith.constant 0 : index\n"
    "  %s = vector.load %x[%c0] : memref<16xi32>, vector<16xi32>\n"
    "  %v = vector.load %a[%c0] : memref<64xi8>, vector<64xi8>\n"
    "  %r = llvm.call_intrinsic \"llvm.x86.avx512.vpdpbusd.512\"(%s, %v, %v) : (vector<16xi32>, "
    "vector<64xi8>, vector<64xi8>) -> vector<16xi32>\n"
    "  vector.store %r, %x[%c0] : memref<16xi32>, vector<16xi32>\n");

static void test_intrinsics_need_their_level(void **state) {
    (void)state;
    IrModule *m = parse_or_fail(dot);
    expect_compile_refused(kernel_case_lower(m), CPU_LEVEL_V4, "B0005", "vpdpbusd");
    expect_compile_refused(kernel_case_lower(m), CPU_LEVEL_V3_VNNI, "B0005", "vpdpbusd");
    IrModule *misspelt = kernel_case_lower(m);
    IrOp *func = ir_symbol_find(misspelt, "k");
    FOR_EACH_OP(op, func->regions[0].first) {
        if (op->kind == IR_LLVM_CALL_INTRINSIC)
            ir_op_set_attr(misspelt, op, "intrin",
                           ir_attr_string(misspelt, "llvm.x86.avx512.vpdpbusb.512"));
    }
    expect_compile_refused(misspelt, CPU_LEVEL_V4_VNNI, "B0004", "vpdpbusb");
    ir_module_destroy(m);
}

static void test_library_calls_are_refused(void **state) {
    (void)state;
    IrModule *m = parse_or_fail("llvm.func @k(%b: !llvm.ptr, %s: !llvm.ptr, %i: i64, %j: i64) {\n"
                                "  %v = llvm.load %b : !llvm.ptr -> f64\n"
                                "  %h = llvm.fptrunc %v : f64 to f16\n"
                                "  llvm.store %h, %b : f16, !llvm.ptr\n"
                                "  llvm.return\n}\n");
    expect_compile_refused(m, CPU_LEVEL_V3, "B0006", "__truncdfhf2");
}

// An object of two functions and a constant, as LLVM makes it.
static LLVMMemoryBufferRef make_object(void) {
    IrModule *m = parse_or_fail(several);
    DiagSink sink;
    diag_sink_init(&sink);
    CodegenImage image;
    expect_ok(pass_lower_target(m, &sink), &sink);
    expect_ok(codegen_compile(m, CPU_LEVEL_V3, 1, &sink, &image), &sink); // initialises LLVM
    codegen_image_deinit(&image);
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module;
    expect_ok(codegen_translate(m, ir_symbol_find(m, "b"), CPU_LEVEL_V3, ctx, &sink, &module),
              &sink);
    LLVMTargetRef target;
    char *message = NULL;
    assert_int_equal(LLVMGetTargetFromTriple("x86_64-unknown-linux-gnu", &target, &message), 0);
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, "x86_64-unknown-linux-gnu", "x86-64-v3", "",
                                LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
    LLVMMemoryBufferRef object;
    assert_int_equal(
        LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object), 0);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
    LLVMContextDispose(ctx);
    diag_sink_deinit(&sink);
    ir_module_destroy(m);
    return object;
}

// Linking must end with an image or a diagnostic, whatever the bytes.
static bool link_bytes(const uint8_t *bytes, uint64_t len) {
    DiagSink sink;
    diag_sink_init(&sink);
    CodegenBlob blob = {0};
    Status status = codegen_object_link(bytes, len, "b", &sink, &blob);
    assert_true((status == STATUS_OK) == (sink.num_diags == 0));
    free(blob.bytes);
    diag_sink_deinit(&sink);
    return status == STATUS_OK;
}

static void test_damaged_objects(void **state) {
    (void)state;
    LLVMMemoryBufferRef object = make_object();
    uint64_t len = LLVMGetBufferSize(object);
    const uint8_t *whole = (const uint8_t *)LLVMGetBufferStart(object);
    assert_true(link_bytes(whole, len));
    for (uint64_t cut = 0; cut < len; cut += 7) {
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, whole, cut);
        assert_false(link_bytes(copy, cut)); // the section table is the last part
        free(copy);
    }
    uint32_t random = 1;
    uint8_t *copy = malloc(len);
    for (uint32_t i = 0; i < 20000; i++) {
        memcpy(copy, whole, len);
        for (uint32_t k = 0; k < 1 + i % 3; k++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % len] ^= (uint8_t)(1u << (random >> 5 & 7));
        }
        (void)link_bytes(copy, len);
    }
    free(copy);
    LLVMDisposeMemoryBuffer(object);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_do_not_depend_on_threads),
        cmocka_unit_test(test_every_function_runs_from_one_image),
        cmocka_unit_test(test_stock_mlir_accepts_level_3),
        cmocka_unit_test(test_lowering_refuses),
        cmocka_unit_test(test_intrinsics_need_their_level),
        cmocka_unit_test(test_library_calls_are_refused),
        cmocka_unit_test(test_damaged_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
