// The verifier: files of accepted and refused IR, options, and modules damaged at random.
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "filetest.h"
#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/verify.h"

static Status verify_text(const char *text, const IrVerifyOptions *options, DiagSink *sink) {
    IrModule *m = NULL;
    Status status = ir_parse(text, strlen(text), "test.mlir", sink, &m);
    if (status == STATUS_OK) {
        status = ir_verify(m, options, sink);
        ir_module_destroy(m);
    }
    return status;
}

static void test_files(void **state) {
    (void)state;
    size_t num_files, num_bad = 0, num_chunks = 0;
    FiletestFile *files = filetest_load("verify", &num_files);
    const IrVerifyOptions options = {.allow_test_ops = true};
    for (size_t f = 0; f < num_files; f++) {
        for (size_t c = 0; c < files[f].num_chunks; c++) {
            DiagSink sink;
            diag_sink_init(&sink);
            Status status = verify_text(files[f].chunks[c].text, &options, &sink);
            num_bad += !filetest_check_errors(&files[f].chunks[c], &sink) ||
                       (status == STATUS_OK) != (sink.num_errors == 0);
            num_chunks++;
            diag_sink_deinit(&sink);
        }
    }
    filetest_unload(files, num_files);
    printf("%zu chunks\n", num_chunks);
    assert_int_equal(num_bad, 0);
}

static void expect(const char *text, const IrVerifyOptions *options, const char *code) {
    DiagSink sink;
    diag_sink_init(&sink);
    Status status = verify_text(text, options, &sink);
    if (code) {
        assert_int_equal(status, STATUS_INVALID);
        assert_string_equal(diag_info(sink.diags[0].code)->code, code);
    } else {
        assert_int_equal(status, STATUS_OK);
    }
    diag_sink_deinit(&sink);
}

static void test_levels(void **state) {
    (void)state;
    const char *tensors =
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }";
    const char *alloc = "func.func @f() { %a = memref.alloc() : memref<4xf32>\n return }";
    const char *fill = "func.func @f(%a: memref<4xf32>, %c: f32) {\n"
                       "  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)\n  return }";
    expect(tensors, &(IrVerifyOptions){.level = 1}, NULL);
    expect(tensors, &(IrVerifyOptions){.level = 2}, "I0134");
    expect(alloc, &(IrVerifyOptions){.level = 2}, NULL);
    expect(alloc, &(IrVerifyOptions){.level = 1}, "I0134");
    expect(alloc, &(IrVerifyOptions){.level = 2, .is_planned = true}, "I0134");
    expect(fill, &(IrVerifyOptions){.level = 2}, NULL);
    expect(fill, &(IrVerifyOptions){.level = 3}, "I0134");
}

static void test_driver_only(void **state) {
    (void)state;
    const char *declaration = "func.func private @g(f32)";
    const char *unranked = "func.func @f(%a: memref<4xf32>) {\n"
                           "  %u = memref.cast %a : memref<4xf32> to memref<*xf32>\n  return }";
    expect(declaration, NULL, "I0103");
    expect(declaration, &(IrVerifyOptions){.allow_test_ops = true}, NULL);
    expect(unranked, NULL, "I0104");
    expect(unranked, &(IrVerifyOptions){.allow_test_ops = true}, NULL);
    const char *argument = "func.func @f(%a: tensor<*xf32>) {\n  func.return\n}\n";
    expect(argument, NULL, "I0104");
    expect(argument, &(IrVerifyOptions){.allow_test_ops = true}, NULL);
}

// What a pass may get wrong and no text can say.
static void test_built_modules(void **state) {
    (void)state;
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = ir_module_create();
    const IrType *f32 = ir_type_f32(m);
    IrOp *func = ir_func_create(m, "f", ir_type_function(m, 1, &f32, 1, &f32), true, NULL);
    ir_block_append(ir_module_body(m), func);
    IrBlock *body = ir_func_body(func);
    assert_int_equal(ir_verify(m, NULL, &sink), STATUS_INVALID); // no return
    IrValue *arg = body->args[0], *both[2] = {arg, arg};
    IrOp *add = ir_op_create(m, &(IrOpSpec){.kind = IR_ARITH_ADDF,
                                            .num_operands = 2,
                                            .operands = both,
                                            .num_results = 1,
                                            .result_types = &f32});
    IrValue *sum = ir_op_result(add, 0);
    IrOp *ret =
        ir_op_create(m, &(IrOpSpec){.kind = IR_FUNC_RETURN, .num_operands = 1, .operands = &sum});
    ir_block_append(body, ret);
    ir_op_insert_before(add, ret);
    assert_int_equal(ir_verify(m, NULL, &sink), STATUS_OK);
    ir_op_set_operand(add, 0, sum); // uses its own result
    assert_int_equal(ir_verify(m, NULL, &sink), STATUS_INVALID);
    assert_int_equal(sink.diags[sink.num_diags - 1].code, DIAG_I0102);
    ir_op_set_operand(add, 0, arg);
    ir_op_unlink(ret);
    ir_op_insert_before(ret, add); // the return stands before the addition
    assert_int_equal(ir_verify(m, NULL, &sink), STATUS_INVALID);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Gives a result or block argument another type.
static void damage_type(IrModule *m, IrOp *op, uint64_t *random) {
    const IrType *f32 = ir_type_f32(m), *i8 = ir_type_int(m, 8), *i32 = ir_type_int(m, 32);
    const IrType *types[] = {
        f32,
        ir_type_float(m, IR_TYPE_BF16),
        i32,
        ir_type_int(m, 1),
        ir_type_index(m),
        ir_type_vector(m, 1, (int64_t[]){4}, i32),
        ir_type_vector(m, 2, (int64_t[]){2, 4}, f32),
        ir_type_tensor(m, 2, (int64_t[]){IR_DYNAMIC, 2}, f32),
        ir_type_tensor(m, 1, (int64_t[]){4}, i32),
        ir_type_tensor(m, 0, NULL, f32),
        ir_type_memref(m, 1, (int64_t[]){4}, i32),
        ir_type_memref(m, 1, (int64_t[]){IR_DYNAMIC}, i8),
        ir_type_memref_strided(m, 2, (int64_t[]){2, 2}, i32, (int64_t[]){IR_DYNAMIC, 3}, 4, NULL),
        ir_type_unranked(m, IR_TYPE_UNRANKED_TENSOR, f32),
        ir_type_ptr(m)};
    const IrType *type = types[next_random(random) % ARRAY_LEN(types)];
    IrBlock *block = op->num_regions ? op->regions[0].first : NULL;
    if (op->num_results)
        op->results[next_random(random) % op->num_results].type = type;
    else if (block && block->num_args)
        block->args[0]->type = type;
}

// Damages attributes, operands and types of valid modules; any verdict is right, a crash is not.
static void damage(IrModule *m, IrOp *op, uint64_t *random) {
    static const char *const names[] = {
        "static_offsets",  "static_sizes",   "reassociation", "dimensions",    "permutation",
        "indexing_maps",   "iterator_types", "dimension",     "kind",          "map",
        "static_position", "in_bounds",      "callee",        "function_type", "value",
        "strides",         "predicate",      "step"};
    const IrAttr *values[] = {
        NULL,
        ir_attr_i64(m, -1),
        ir_attr_string(m, "x"),
        ir_attr_array(m, 0, NULL),
        ir_attr_dense_array(m, ir_type_int(m, 64), 0, NULL),
        ir_attr_dense_array(m, ir_type_int(m, 64), 2, (int64_t[]){IR_DYNAMIC, 1 << 30}),
        ir_attr_map(m, ir_affine_identity(m, 3)),
        ir_attr_type(m, ir_type_f32(m)),
        ir_attr_unit(m)};
    uint64_t what = next_random(random) % 5;
    if (what == 4) {
        damage_type(m, op, random);
        return;
    }
    if (what == 0 && op->num_operands > 1) {
        uint32_t a = (uint32_t)(next_random(random) % op->num_operands);
        uint32_t b = (uint32_t)(next_random(random) % op->num_operands);
        ir_op_set_operand(op, a, ir_op_operand(op, b));
    } else if (what == 1 && op->num_operands) {
        ir_op_remove_operand(op, (uint32_t)(next_random(random) % op->num_operands));
    } else if (what == 2 && op->num_attrs) {
        const char *name = op->attrs[next_random(random) % op->num_attrs].name;
        ir_op_set_attr(m, op, name, values[next_random(random) % ARRAY_LEN(values)]);
    } else {
        const char *name = names[next_random(random) % ARRAY_LEN(names)];
        if (ir_op_attr_is_inherent(op->kind, name)) {
            ir_op_set_attr(m, op, name, values[next_random(random) % ARRAY_LEN(values)]);
        }
    }
}

typedef struct Pick {
    IrOp *op;
    uint64_t skip;
} Pick;

static void pick_op(IrOp *op, void *ctx) {
    Pick *pick = ctx;
    if (!pick->skip--) pick->op = op;
}

// What the verifier lets through must not harm the interpreter, whatever comes out.
static void execute(IrModule *m, DiagSink *sink) {
    StrBuf out = {0};
    const IrInterpOptions options = {.print_output = &out, .max_ops = 100000, .max_bytes = 1 << 26};
    Status status = ir_interp_call(m, "main", 0, NULL, 0, NULL, &options, sink);
    assert_true(status == STATUS_OK || sink->num_errors > 0);
    strbuf_deinit(&out);
}

static void test_damaged_modules(void **state) {
    (void)state;
    size_t num_files, num_refused = 0, num_runs = 0;
    FiletestFile *files = filetest_load("interp", &num_files);
    const IrVerifyOptions options = {.allow_test_ops = true};
    uint64_t random = 88172645463325252u;
    for (size_t f = 0; f < num_files; f++) {
        for (size_t c = 0; c < 40 * files[f].num_chunks; c++) {
            const FiletestChunk *chunk = &files[f].chunks[c % files[f].num_chunks];
            IrModule *m = NULL;
            DiagSink sink;
            diag_sink_init(&sink);
            assert_int_equal(ir_parse(chunk->text, chunk->len, "x", &sink, &m), STATUS_OK);
            for (uint32_t i = 0; i < 3; i++) {
                Pick pick = {.skip = next_random(&random) % m->num_ops};
                ir_walk(m->op, pick_op, &pick);
                if (pick.op && pick.op != m->op) damage(m, pick.op, &random);
            }
            bool is_refused = ir_verify(m, &options, &sink) != STATUS_OK;
            num_refused += is_refused;
            num_runs++;
            if (!is_refused) execute(m, &sink);
            ir_module_destroy(m);
            diag_sink_deinit(&sink);
        }
    }
    filetest_unload(files, num_files);
    printf("%zu of %zu damaged modules refused\n", num_refused, num_runs);
    assert_true(num_refused > num_runs / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),           cmocka_unit_test(test_levels),
        cmocka_unit_test(test_driver_only),     cmocka_unit_test(test_built_modules),
        cmocka_unit_test(test_damaged_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
