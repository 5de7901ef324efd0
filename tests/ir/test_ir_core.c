// The IR's structures: use lists, operand segments, copies, symbols, signatures, affine arithmetic,
// and the generic form of named linalg ops (held against mlir-opt's).
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#include "filetest.h"
#include "ir/parse.h"
#include "ir/print.h"

static IrModule *parse(const char *text) {
    DiagSink sink;
    IrModule *m = NULL;
    diag_sink_init(&sink);
    assert_int_equal(ir_parse(text, strlen(text), "t", &sink, &m), STATUS_OK);
    diag_sink_deinit(&sink);
    return m;
}

static void expect_text(const IrModule *m, const char *text) {
    StrBuf out = {0};
    ir_print(m, NULL, &out);
    assert_string_equal(out.data, text);
    strbuf_deinit(&out);
}

static uint32_t count_uses(const IrValue *value) {
    uint32_t n = 0;
    FOR_EACH_USE(use, value) {
        assert_ptr_equal(use->value, value);
        assert_ptr_equal(*use->prev_use, use);
        n++;
    }
    return n;
}

static void test_use_lists(void **state) {
    (void)state;
    IrModule *m = ir_module_create();
    const IrType *f32 = ir_type_f32(m);
    IrOp *func = ir_func_create(
        m, "f", ir_type_function(m, 2, (const IrType *[]){f32, f32}, 0, NULL), true, NULL);
    ir_block_append(ir_module_body(m), func);
    IrBlock *body = ir_func_body(func);
    IrValue *x = body->args[0], *y = body->args[1];
    IrOp *add = ir_op_create(m, &(IrOpSpec){.kind = IR_ARITH_ADDF,
                                            .num_operands = 2,
                                            .operands = (IrValue *[]){x, x},
                                            .num_results = 1,
                                            .result_types = &f32});
    IrOp *ret = ir_op_create(m, &(IrOpSpec){.kind = IR_FUNC_RETURN});
    ir_block_append(body, ret);
    ir_op_insert_before(add, ret);
    assert_int_equal(count_uses(x), 2);
    ir_op_set_operand(add, 1, y);
    assert_true(ir_value_has_one_use(x) && ir_value_has_one_use(y));
    for (uint32_t i = 0; i < 40; i++)
        ir_op_add_operand(m, ret, 0, i % 2 ? x : ir_op_result(add, 0));
    assert_int_equal(count_uses(x), 21);
    ir_op_remove_operand(ret, 0);
    assert_int_equal(count_uses(ir_op_result(add, 0)), 19);
    assert_int_equal(ret->segments[0], 39);
    ir_value_replace_all(x, y);
    assert_true(ir_value_is_unused(x));
    assert_int_equal(count_uses(y), 22);
    ir_value_replace_all(ir_op_result(add, 0), y);
    ir_op_erase(m, add);
    assert_ptr_equal(body->first, ret);
    assert_int_equal(count_uses(y), 39);
    ir_func_update_type(m, func);
    assert_int_equal(ir_func_type(func)->num_results, 39);
    ir_module_destroy(m);
}

static void test_segments(void **state) {
    (void)state;
    IrModule *m = parse("func.func @f(%a: memref<4xf32>, %i: index, %x: f32) {\n"
                        "  memref.store %x, %a[%i] : memref<4xf32>\n  return\n}\n");
    IrBlock *body = ir_func_body(ir_symbol_find(m, "f"));
    IrOp *store = body->first;
    assert_int_equal(ir_op_segment_start(store, 2), 2);
    ir_op_add_operand(m, store, 1, body->args[0]);
    ir_op_add_operand(m, store, 0, body->args[2]);
    assert_int_equal(store->segments[0], 2);
    assert_int_equal(store->segments[1], 2);
    assert_ptr_equal(ir_op_operand(store, 4), body->args[1]);
    ir_op_remove_operand(store, 0);
    ir_op_remove_operand(store, 2);
    assert_int_equal(store->segments[0] + store->segments[1] + store->segments[2], 3);
    expect_text(m, "module {\n"
                   "  func.func @f(%arg0: memref<4xf32>, %arg1: index, %arg2: f32) {\n"
                   "    memref.store %arg2, %arg0[%arg1] : memref<4xf32>\n"
                   "    return\n  }\n}\n");
    ir_module_destroy(m);
}

static void test_attributes(void **state) {
    (void)state;
    IrModule *m = ir_module_create();
    assert_ptr_equal(ir_attr_i64(m, 3), ir_attr_int(m, 3, ir_type_int(m, 64)));
    assert_ptr_equal(ir_attr_int(m, 255, ir_type_int(m, 8)), ir_attr_int(m, -1, ir_type_int(m, 8)));
    assert_ptr_equal(ir_attr_int(m, 1, ir_type_int(m, 1)), ir_attr_bool(m, true));
    const IrNamedAttr ab[] = {{"a", ir_attr_unit(m)}, {"b", ir_attr_i64(m, 1)}};
    const IrNamedAttr ba[] = {{"b", ir_attr_i64(m, 1)}, {"a", ir_attr_unit(m)}};
    assert_ptr_equal(ir_attr_dict(m, 2, ab), ir_attr_dict(m, 2, ba));
    const int64_t size = 4;
    const float same[] = {2, 2, 2, 2}, one = 2;
    const IrType *type = ir_type_tensor(m, 1, &size, ir_type_f32(m));
    const IrAttr *splat = ir_attr_dense(m, type, &one, sizeof one, true);
    assert_ptr_equal(ir_attr_dense(m, type, same, sizeof same, false), splat);
    assert_int_equal(ir_attr_dense_elem(splat, 3), 0x40000000);
    IrOp *op = m->op;
    static const char *const names[] = {"ingot.z", "ingot.a", "ingot.m", "ingot.b", "ingot.y"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) ir_op_set_attr(m, op, names[i], ir_attr_unit(m));
    ir_op_set_attr(m, op, "ingot.m", NULL);
    expect_text(m, "module attributes {ingot.a, ingot.b, ingot.y, ingot.z} {\n}\n");
    ir_module_destroy(m);
}

static void test_symbols(void **state) {
    (void)state;
    IrModule *m =
        parse("func.func private @f()\nfunc.func private @f_0()\nfunc.func private @f_2()\n"
              "func.func @g(%a: f32, %b: i64 {ingot.param = \"b\"}, %c: f16) {\n"
              "  return\n}\n");
    assert_string_equal(ir_symbol_unique(m, "f"), "f_1");
    assert_string_equal(ir_symbol_unique(m, "h"), "h");
    IrOp *g = ir_symbol_find(m, "g");
    assert_non_null(ir_func_arg_attr(g, 1, "ingot.param"));
    ir_func_remove_arg(m, g, 0);
    ir_func_insert_arg(m, g, 1, ir_type_index(m));
    ir_func_set_arg_attr(m, g, 1, "ingot.arena", ir_attr_unit(m));
    StrBuf out = {0};
    ir_print_op(m, g, &out);
    assert_string_equal(out.data, "func.func @g(%arg0: i64 {ingot.param = \"b\"}, "
                                  "%arg1: index {ingot.arena}, %arg2: f16) {\n  return\n}");
    strbuf_deinit(&out);
    ir_func_set_arg_attr(m, g, 0, "ingot.param", NULL);
    ir_func_set_arg_attr(m, g, 1, "ingot.arena", NULL);
    assert_null(ir_op_attr(g, "arg_attrs"));
    ir_module_destroy(m);
}

// A block used before it stands in the text, and a value that is defined further down.
static void test_clone_with_blocks(void **state) {
    (void)state;
    static const char text[] = "module {\n"
                               "  llvm.func @f(%arg0: i1, %arg1: i64) -> i64 {\n"
                               "    llvm.br ^bb2\n"
                               "  ^bb1:\n"
                               "    llvm.return %0 : i64\n"
                               "  ^bb2:\n"
                               "    %0 = llvm.add %arg1, %arg1 : i64\n"
                               "    llvm.cond_br %arg0, ^bb1, ^bb3(%0 : i64)\n"
                               "  ^bb3(%arg2: i64):\n"
                               "    llvm.return %arg2 : i64\n"
                               "  }\n"
                               "}\n";
    IrModule *m = parse("llvm.func @f(%arg0: i1, %arg1: i64) -> i64 {\n"
                        "  llvm.br ^b\n^a:\n  llvm.return %0 : i64\n^b:\n"
                        "  %0 = llvm.add %arg1, %arg1 : i64\n"
                        "  llvm.cond_br %arg0, ^a, ^c(%0 : i64)\n^c(%x: i64):\n"
                        "  llvm.return %x : i64\n}\n");
    expect_text(m, text);
    IrModule *copy = ir_module_clone(m);
    IrOp *f = ir_symbol_find(m, "f");
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *twin = ir_op_clone(m, f, &map);
    ir_value_map_deinit(&map);
    ir_op_erase(m, f);
    ir_block_append(ir_module_body(m), twin);
    expect_text(m, text);
    ir_module_destroy(m);
    expect_text(copy, text);
    ir_module_destroy(copy);
}

// ---------------------------------------------------------------- affine

enum { NUM_DIMS = 3, MAX_BUILT = 40 };

typedef struct Built {
    const IrAffineExpr *expr;
    int64_t values[8]; // at eight points, computed without any simplification
} Built;

static int64_t points[8][NUM_DIMS];

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && a < 0);
}

static Built combine(IrModule *m, const Built *a, const Built *b, int choice, int64_t constant) {
    static const IrAffineKind kinds[] = {IR_AFFINE_ADD, IR_AFFINE_MUL, IR_AFFINE_MOD,
                                         IR_AFFINE_FLOORDIV, IR_AFFINE_CEILDIV};
    Built built;
    IrAffineKind kind = kinds[choice];
    const IrAffineExpr *rhs = kind == IR_AFFINE_ADD ? b->expr : ir_affine_const(m, constant);
    built.expr = ir_affine_binary(m, kind, a->expr, rhs);
    for (int i = 0; i < 8; i++) {
        int64_t x = a->values[i], y = kind == IR_AFFINE_ADD ? b->values[i] : constant;
        if (kind == IR_AFFINE_ADD)
            built.values[i] = x + y;
        else if (kind == IR_AFFINE_MUL)
            built.values[i] = x * y;
        else if (kind == IR_AFFINE_MOD)
            built.values[i] = x - floor_div(x, y) * y;
        else if (kind == IR_AFFINE_FLOORDIV)
            built.values[i] = floor_div(x, y);
        else
            built.values[i] = -floor_div(-x, y);
    }
    return built;
}

static void test_affine(void **state) {
    (void)state;
    const int64_t ranges[NUM_DIMS] = {8, 5, 16};
    srand(1);
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < NUM_DIMS; d++) points[i][d] = rand() % (int)ranges[d];
    for (int round = 0; round < 500; round++) {
        IrModule *m = ir_module_create();
        Built built[MAX_BUILT];
        for (uint32_t d = 0; d < NUM_DIMS; d++) {
            built[d].expr = ir_affine_dim(m, d);
            for (int i = 0; i < 8; i++) built[d].values[i] = points[i][d];
        }
        for (int n = NUM_DIMS; n < MAX_BUILT; n++) {
            int choice = rand() % 5;
            int64_t constant = choice == 1 ? rand() % 9 - 4 : 1 + rand() % 8;
            built[n] = combine(m, &built[rand() % n], &built[rand() % n], choice, constant);
            int64_t min, max, coeffs[NUM_DIMS], offset;
            ir_affine_range(built[n].expr, ranges, &min, &max);
            bool is_linear = ir_affine_linear(built[n].expr, NUM_DIMS, coeffs, &offset);
            for (int i = 0; i < 8; i++) {
                int64_t value = built[n].values[i];
                if (value > 1000000 || value < -1000000) continue;
                assert_int_equal(ir_affine_eval(built[n].expr, points[i], NULL), value);
                assert_true(min <= value && value <= max);
                if (!is_linear) continue;
                int64_t sum = offset;
                for (int d = 0; d < NUM_DIMS; d++) sum += coeffs[d] * points[i][d];
                assert_int_equal(sum, value);
            }
        }
        ir_module_destroy(m);
    }
}

static void test_affine_maps(void **state) {
    (void)state;
    IrModule *m = ir_module_create();
    const IrAffineMap *swap = ir_affine_select(m, 2, 2, (const uint32_t[]){1, 0});
    assert_ptr_equal(ir_affine_compose(m, swap, swap), ir_affine_identity(m, 2));
    assert_true(ir_affine_is_permutation(swap) && !ir_affine_is_identity(swap));
    const IrAffineMap *row = ir_affine_select(m, 3, 1, (const uint32_t[]){2});
    assert_true(ir_affine_is_projected_permutation(row) && !ir_affine_is_permutation(row));
    ir_module_destroy(m);
}

// ---------------------------------------------------------------- linalg

static void generalize_all(IrModule *m) {
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (func->kind != IR_FUNC_FUNC || !ir_func_body(func)) continue;
        FOR_EACH_OP_SAFE(op, ir_func_body(func)) {
            if (!(ir_op_info(op->kind)->traits & IR_LINALG)) continue;
            uint32_t num_loops = ir_linalg_num_loops(op);
            int64_t ranges[16], again[16];
            ir_linalg_loop_ranges(m, op, ranges);
            IrOp *generic = ir_linalg_generalize(m, op);
            assert_int_equal(ir_linalg_num_loops(generic), num_loops);
            ir_linalg_loop_ranges(m, generic, again);
            for (uint32_t i = 0; i < num_loops; i++) {
                assert_int_equal(ranges[i], again[i]);
                assert_true(ranges[i] > 0);
            }
        }
    }
}

static void run(const char *command, const char *text, StrBuf *out) {
    char path[] = "/tmp/ingot-core-XXXXXX", line[256], part[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    snprintf(line, sizeof line, "%s %s", command, path);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) strbuf_append(out, part, n);
    if (pclose(pipe) != 0) fail_msg("%s failed", line);
    unlink(path);
}

static void test_generalize(void **state) {
    (void)state;
    FILE *found = popen("command -v mlir-opt-22 > /dev/null", "r");
    if (!found || pclose(found) != 0) {
        printf("SKIPPED: mlir-opt-22 is not installed\n");
        skip();
    }
    size_t num_files;
    FiletestFile *files = filetest_load("generalize", &num_files);
    for (size_t c = 0; c < files[0].num_chunks; c++) {
        const char *text = files[0].chunks[c].text;
        IrModule *m = parse(text);
        generalize_all(m);
        StrBuf printed = {0}, ours = {0}, theirs = {0}, read = {0};
        ir_print(m, NULL, &printed);
        run("mlir-opt-22", printed.data, &ours);
        run("mlir-opt-22 --linalg-generalize-named-ops", text, &theirs);
        assert_string_equal(ours.data, theirs.data);
        strbuf_deinit(&printed);
        strbuf_deinit(&ours);
        strbuf_deinit(&theirs);
        strbuf_deinit(&read);
        ir_module_destroy(m);
    }
    filetest_unload(files, num_files);
}

static void test_table(void **state) {
    (void)state;
    for (int k = 0; k < NUM_IR_OP_KINDS; k++) {
        const char *name = ir_op_info((IrOpKind)k)->name;
        IrOpKind kind;
        assert_true(ir_op_find(name, strlen(name), &kind));
        assert_int_equal((int)kind, k);
        assert_true(ir_dialect_known(name, strcspn(name, ".")));
        assert_true(ir_op_info((IrOpKind)k)->levels != 0);
    }
    IrOpKind kind;
    assert_false(ir_op_find("arith.add", 9, &kind));
    assert_false(ir_op_find("arith.addf\0x", 12, &kind));
    assert_false(ir_dialect_known("arit", 4));
    assert_true(ir_op_attr_is_inherent(IR_MEMREF_ALLOC, "alignment"));
    assert_false(ir_op_attr_is_inherent(IR_MEMREF_ALLOC, "align"));
    assert_false(ir_op_attr_is_inherent(IR_MEMREF_ALLOC, ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use_lists),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_clone_with_blocks),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_affine_maps),
        cmocka_unit_test(test_generalize),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
