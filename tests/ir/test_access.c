// Access patterns: strides, classes and used fractions of documented cases, at both levels. A wrong
// number here would send a reader of `ingot explain` to change the wrong loop.
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ir/access.h"
#include "ir/parse.h"

typedef struct Found {
    IrModule *m;
    IrOpKind kind;
    uint32_t skip; // ops of that kind to pass over
    const IrOp *op;
} Found;

static void find(IrOp *op, void *ctx) {
    Found *found = ctx;
    if (op->kind == found->kind && !found->op && found->skip-- == 0) found->op = op;
}

static void expect_lines(const char *text, IrOpKind kind, uint32_t skip, uint32_t operand,
                         const char *want) {
    DiagSink sink;
    diag_sink_init(&sink);
    Found found = {.kind = kind, .skip = skip};
    if (ir_parse(text, strlen(text), "t", &sink, &found.m) != STATUS_OK) {
        StrBuf why = {0};
        diag_render(&sink, &why);
        fail_msg("%s", why.data);
    }
    ir_walk(found.m->op, find, &found);
    assert_non_null(found.op);
    IrAccess access;
    StrBuf out = {0};
    assert_true(ir_access(found.m, found.op, operand, IR_ACCESS_LINE_BYTES, &access));
    ir_access_print(found.op, operand, &access, &out);
    const char *strides = strstr(out.data, "strides=");
    assert_non_null(strides);
    assert_string_equal(strides, want);
    strbuf_deinit(&out);
    ir_module_destroy(found.m);
    diag_sink_deinit(&sink);
}

#define GENERIC(maps, loops, ins, in_types, out, out_type, args, result)                           \
    "    %r = linalg.generic {indexing_maps = [" maps "], iterator_types = [" loops "]} ins(" ins  \
    " : " in_types ") outs(" out " : " out_type ") {\n    ^bb0(" args                              \
    "):\n      linalg.yield " result "\n    } -> " out_type "\n"

static void test_every_third_element(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%x: tensor<22xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {\n" GENERIC(
            "affine_map<(d0) -> (d0 * 3)>, affine_map<(d0) -> (d0)>", "\"parallel\"", "%x",
            "tensor<22xf32>", "%o", "tensor<8xf32>", "%a: f32, %b: f32",
            "%a : f32") "    return %r : tensor<8xf32>\n}\n";
    expect_lines(text, IR_LINALG_GENERIC, 0, 0, "strides=[3] inner=stride-3 used=33% align=64");
    expect_lines(text, IR_LINALG_GENERIC, 0, 1, "strides=[1] inner=unit used=100% align=64");
}

static void test_rotary_partner_is_reversed(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%x: tensor<8x6x4x2xf32>, %o: tensor<8x6x4x2xf32>) -> tensor<8x6x4x2xf32> "
        "{\n" GENERIC("affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, -d3 + 1)>, "
                      "affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>",
                      "\"parallel\", \"parallel\", \"parallel\", \"parallel\"", "%x",
                      "tensor<8x6x4x2xf32>", "%o", "tensor<8x6x4x2xf32>", "%a: f32, %b: f32",
                      "%a : f32") "    return %r : tensor<8x6x4x2xf32>\n}\n";
    expect_lines(text, IR_LINALG_GENERIC, 0, 0,
                 "strides=[48, 8, 2, -1] inner=reversed used=100% align=4");
}

static void test_grouped_keys_are_unit_in_the_head(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%q: tensor<8x2x3x8xf32>, %k: tensor<16x2x8xf32>, %o: tensor<2x3x8x16xf32>) "
        "-> tensor<2x3x8x16xf32> {\n"
        "    %r = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d0, d1, "
        "d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d4)>, affine_map<(d0, d1, d2, d3, d4) "
        "-> (d0, d1, d2, d3)>] ins(%q, %k : tensor<8x2x3x8xf32>, tensor<16x2x8xf32>) outs(%o : "
        "tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>\n"
        "    return %r : tensor<2x3x8x16xf32>\n}\n";
    expect_lines(text, IR_LINALG_CONTRACT, 0, 1,
                 "strides=[8, 0, 0, 16, 1] inner=unit used=50% align=32");
}

static void test_weight_layouts_of_a_product(void **state) {
    (void)state;
    const char *by_rows =
        "func.func @f(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>, %o: tensor<4x32xf32>) -> "
        "tensor<4x32xf32> {\n"
        "    %r = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, "
        "affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%x, %w : "
        "tensor<4x64xf32>, tensor<32x64xf32>) outs(%o : tensor<4x32xf32>) -> tensor<4x32xf32>\n"
        "    return %r : tensor<4x32xf32>\n}\n";
    const char *by_columns =
        "func.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>, %o: tensor<4x32xf32>) -> "
        "tensor<4x32xf32> {\n"
        "    %r = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x32xf32>) outs(%o : "
        "tensor<4x32xf32>) -> tensor<4x32xf32>\n"
        "    return %r : tensor<4x32xf32>\n}\n";
    expect_lines(by_rows, IR_LINALG_MATMUL, 0, 1,
                 "strides=[0, 64, 1] inner=unit used=100% align=64");
    expect_lines(by_columns, IR_LINALG_MATMUL, 0, 1,
                 "strides=[0, 1, 32] inner=strided used=6% align=4");
}

// Q8_0 blocks where the file has them: 34 bytes, a scale and 32 codes.
static void test_blocks_in_place(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%c: memref<8x2x32xi8, strided<[68, 34, 1], offset: 2>>, %s: "
        "memref<8x2xf16, strided<[34, 17]>>, %o: memref<4x8xf32>) {\n"
        "    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, "
        "affine_map<(d0, d1, d2, d3) -> (d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"reduction\", \"reduction\"]} ins(%c, %s : "
        "memref<8x2x32xi8, strided<[68, 34, 1], offset: 2>>, memref<8x2xf16, strided<[34, 17]>>) "
        "outs(%o : memref<4x8xf32>) {\n"
        "    ^bb0(%a: i8, %b: f16, %acc: f32):\n      linalg.yield %acc : f32\n    }\n"
        "    return\n}\n";
    expect_lines(text, IR_LINALG_GENERIC, 0, 0,
                 "strides=[0, 68, 34, 1] inner=unit used=94% align=2");
    expect_lines(text, IR_LINALG_GENERIC, 0, 1,
                 "strides=[0, 34, 17, 0] inner=broadcast used=6% align=2");
}

static void test_groups_are_piecewise(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%x: tensor<2xf32>, %o: tensor<6xf32>) -> tensor<6xf32> {\n" GENERIC(
            "affine_map<(d0) -> (d0 floordiv 3)>, affine_map<(d0) -> (d0)>", "\"parallel\"", "%x",
            "tensor<2xf32>", "%o", "tensor<6xf32>", "%a: f32, %b: f32",
            "%a : f32") "    return %r : tensor<6xf32>\n}\n";
    expect_lines(text, IR_LINALG_GENERIC, 0, 0,
                 "strides=[0] inner=piecewise used=100% pieces=3 strides-of-pieces=[0, 1] align=4");
}

static void test_an_index_from_memory_is_a_gather(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%ids: tensor<4xi32>, %t: tensor<100x16xf32>, %o: tensor<4x16xf32>) -> "
        "tensor<4x16xf32> {\n"
        "    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, "
        "affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [\"parallel\", \"parallel\"]} "
        "ins(%ids : tensor<4xi32>) outs(%o : tensor<4x16xf32>) {\n"
        "    ^bb0(%id: i32, %b: f32):\n"
        "      %row = arith.index_cast %id : i32 to index\n"
        "      %k = linalg.index 1 : index\n"
        "      %v = tensor.extract %t[%row, %k] : tensor<100x16xf32>\n"
        "      %w = tensor.extract %t[%k, %row] : tensor<100x16xf32>\n"
        "      %s = arith.addf %v, %w : f32\n"
        "      linalg.yield %s : f32\n    } -> tensor<4x16xf32>\n"
        "    return %r : tensor<4x16xf32>\n}\n";
    expect_lines(text, IR_TENSOR_EXTRACT, 0, 0, "strides=[?, 1] inner=gather used=100% align=4");
    expect_lines(text, IR_TENSOR_EXTRACT, 1, 0, "strides=[?, 16] inner=gather used=6% align=4");
}

static void test_loops_and_vectors(void **state) {
    (void)state;
    const char *text = "func.func @f(%x: memref<64x48xf32>, %n: index) -> f32 {\n"
                       "    %c0 = arith.constant 0 : index\n    %c8 = arith.constant 8 : index\n"
                       "    %c48 = arith.constant 48 : index\n    %c3 = arith.constant 3 : index\n"
                       "    %z = arith.constant 0.000000e+00 : f32\n"
                       "    scf.for %i = %c0 to %n step %c3 {\n"
                       "      scf.for %j = %c0 to %c48 step %c8 {\n"
                       "        %v = vector.load %x[%i, %j] : memref<64x48xf32>, vector<8xf32>\n"
                       "        %q = arith.remui %j, %c3 : index\n"
                       "        %s = memref.load %x[%j, %i] : memref<64x48xf32>\n"
                       "        memref.store %s, %x[%i, %q] : memref<64x48xf32>\n"
                       "      }\n    }\n    return %z : f32\n}\n";
    expect_lines(text, IR_VECTOR_LOAD, 0, 0, "strides=[144, 8] inner=unit used=100% align=32");
    expect_lines(text, IR_MEMREF_LOAD, 0, 0, "strides=[3, 384] inner=strided used=6% align=4");
    expect_lines(text, IR_MEMREF_STORE, 0, 1,
                 "strides=[144, 2] inner=piecewise used=50% pieces=1 strides-of-pieces=[0, 2] "
                 "align=4");
}

static void test_columns_of_shared_memory_meet(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%x: memref<32x32xf32, #gpu.address_space<workgroup>>) {\n"
        "    affine.for %i = 0 to 32 {\n"
        "      %v = affine.load %x[%i, 0] : memref<32x32xf32, #gpu.address_space<workgroup>>\n"
        "      affine.store %v, %x[0, %i] : memref<32x32xf32, #gpu.address_space<workgroup>>\n"
        "    }\n    return\n}\n";
    expect_lines(text, IR_AFFINE_LOAD, 0, 0,
                 "strides=[32] inner=strided used=6% align=64 banks=32");
    expect_lines(text, IR_AFFINE_STORE, 0, 1, "strides=[1] inner=unit used=100% align=64");
}

// A slice of a wider matrix keeps the rows' distance of that matrix.
static void test_slices_keep_the_layout(void **state) {
    (void)state;
    const char *text =
        "func.func @f(%x: tensor<8x96xf32>, %o: tensor<8x4x8xf32>) -> tensor<8x4x8xf32> {\n"
        "    %s = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x96xf32> to "
        "tensor<8x32xf32>\n"
        "    %e = tensor.expand_shape %s [[0], [1, 2]] output_shape [8, 4, 8] : tensor<8x32xf32> "
        "into tensor<8x4x8xf32>\n" GENERIC(
            "affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, "
            "d2)>",
            "\"parallel\", \"parallel\", \"parallel\"", "%e", "tensor<8x4x8xf32>", "%o",
            "tensor<8x4x8xf32>", "%a: f32, %b: f32",
            "%a : f32") "    return %r : tensor<8x4x8xf32>\n}\n";
    expect_lines(text, IR_LINALG_GENERIC, 0, 0, "strides=[96, 8, 1] inner=unit used=100% align=32");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_third_element),
        cmocka_unit_test(test_rotary_partner_is_reversed),
        cmocka_unit_test(test_grouped_keys_are_unit_in_the_head),
        cmocka_unit_test(test_weight_layouts_of_a_product),
        cmocka_unit_test(test_blocks_in_place),
        cmocka_unit_test(test_groups_are_piecewise),
        cmocka_unit_test(test_an_index_from_memory_is_a_gather),
        cmocka_unit_test(test_loops_and_vectors),
        cmocka_unit_test(test_columns_of_shared_memory_meet),
        cmocka_unit_test(test_slices_keep_the_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
