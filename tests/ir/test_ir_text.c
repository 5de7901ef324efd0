// The IR as text: what is read prints the same, reads back the same and copies the same; stock MLIR
// takes our text for the same IR, and we take all its ways of printing it for ours. Refused text is
// refused at its place. Floats print as MLIR's do.
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

#include "filetest.h"
#include "ir/float_text.h"
#include "ir/parse.h"
#include "ir/print.h"

// Prints what text says; ends the test if it is refused.
static void print_text(const char *text, size_t len, const char *what, StrBuf *out) {
    DiagSink sink;
    IrModule *m = NULL;
    diag_sink_init(&sink);
    if (ir_parse(text, len, what, &sink, &m) != STATUS_OK) {
        StrBuf message = {0};
        diag_render(&sink, &message);
        fprintf(stderr, "%s\n%.*s\n", message.data, (int)len, text);
        strbuf_deinit(&message);
        fail();
    }
    ir_print(m, NULL, out);
    IrModule *copy = ir_module_clone(m);
    ir_module_destroy(m);
    StrBuf copied = {0};
    ir_print(copy, NULL, &copied);
    assert_string_equal(out->data, copied.data);
    ir_module_destroy(copy);
    strbuf_deinit(&copied);
    diag_sink_deinit(&sink);
}

static void test_read_and_print(void **state) {
    (void)state;
    size_t num_files, num_bad = 0, num_chunks = 0;
    FiletestFile *files = filetest_load("text", &num_files);
    for (size_t f = 0; f < num_files; f++) {
        for (size_t c = 0; c < files[f].num_chunks; c++) {
            const FiletestChunk *chunk = &files[f].chunks[c];
            DiagSink sink;
            IrModule *m = NULL;
            diag_sink_init(&sink);
            Status status = ir_parse(chunk->text, chunk->len, "chunk", &sink, &m);
            num_bad += !filetest_check_errors(chunk, &sink);
            num_chunks++;
            if (status == STATUS_OK) {
                StrBuf once = {0}, twice = {0};
                print_text(chunk->text, chunk->len, chunk->name, &once);
                print_text(once.data, once.len, chunk->name, &twice);
                assert_string_equal(once.data, twice.data);
                strbuf_deinit(&once);
                strbuf_deinit(&twice);
            }
            ir_module_destroy(m);
            diag_sink_deinit(&sink);
        }
    }
    filetest_unload(files, num_files);
    printf("%zu chunks\n", num_chunks);
    assert_int_equal(num_bad, 0);
}

// What is proposed for a name that no op has: the op it extends, cuts short, misspells or looks for
// in the wrong dialect; never another op because few letters differ.
static void test_unknown_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *proposed;
    } cases[] = {
        {"arith.adf", "arith.addf"},
        {"linalg.conv_1d_nwc_wfc", "linalg.conv_1d_nwc_wcf"},
        {"linalg.pooling_nchw_max_unsigned", "linalg.pooling_nchw_max"},
        {"linalg.pooling_ndhwc_min_unsigned", "linalg.pooling_ndhwc_min"},
        {"linalg.matmul_unsigned", "linalg.matmul"},
        {"linalg.grouped_batch_matmul", "linalg.batch_matmul"},
        {"linalg.batch_blocked_matmul", "linalg.batch_matmul"},
        {"linalg.conv_2d_nhwc", "linalg.conv_2d_nhwc_hwcf"},
        {"linalg.conv_nchw_fchw", "linalg.conv_2d_nchw_fchw"},
        {"memref.reinterpret", "memref.reinterpret_cast"},
        {"arith.exp", "math.exp"},
        {"math.maximumf", "arith.maximumf"},
        {"addf", "arith.addf"},
        {"arith.maxf", NULL},
        {"tensor.rank", NULL},
        {"tensor.maskedload", NULL}, // vectors are of another level
        {"linalg.", NULL},
        // Ops of MLIR that mean something else than the op they extend.
        {"linalg.pooling_nhwc_max_unsigned", "linalg.generic with arith.maxui"},
        {"linalg.conv_2d_nhwc_hwcf_q", "linalg.generic"},
        {"linalg.batch_matvec", "linalg.contract"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[200];
        int len = snprintf(text, sizeof text, "func.func @f() {\n  \"%s\"() : () -> ()\n}\n",
                           cases[i].name);
        DiagSink sink;
        IrModule *m = NULL;
        diag_sink_init(&sink);
        assert_int_equal(ir_parse(text, (size_t)len, "text", &sink, &m), STATUS_INVALID);
        const char *proposed = sink.diags[0].write;
        if (cases[i].proposed)
            assert_string_equal(proposed, cases[i].proposed);
        else
            assert_true(str_has_prefix(proposed, "an operation that "));
        ir_module_destroy(m);
        diag_sink_deinit(&sink);
    }
}

// Locations survive, and what is printed with them reads back.
static void test_locations(void **state) {
    (void)state;
    static const char text[] = "module {\n"
                               "  func.func @f() {\n"
                               "    return loc(fused<\"fuse-ops\">[\"a\"(\"m.gguf\":1:2), \"b\"])\n"
                               "  } loc(callsite(\"f\" at \"x.yaml\":3:4))\n"
                               "} loc(unknown)\n";
    DiagSink sink;
    IrModule *m = NULL;
    StrBuf out = {0};
    diag_sink_init(&sink);
    assert_int_equal(ir_parse(text, strlen(text), "t", &sink, &m), STATUS_OK);
    ir_print(m, &(IrPrintOptions){.print_locs = true}, &out);
    assert_string_equal(out.data, text);
    const IrOp *func = ir_symbol_find(m, "f");
    DiagSpan span = ir_loc_span(func->loc);
    assert_string_equal(span.file, "x.yaml");
    assert_int_equal(span.line, 3);
    strbuf_deinit(&out);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
}

// Nesting and sizes beyond the bounds are refused, not followed.
static void expect_refused(const StrBuf *text) {
    DiagSink sink;
    IrModule *m = NULL;
    diag_sink_init(&sink);
    assert_int_equal(ir_parse(text->data, text->len, "t", &sink, &m), STATUS_INVALID);
    assert_string_equal(diag_info(sink.diags[0].code)->code, "I0011");
    assert_null(m);
    diag_sink_deinit(&sink);
}

static void test_bounds(void **state) {
    (void)state;
    StrBuf text = {0};
    for (int i = 0; i < 100000; i++) strbuf_puts(&text, "module { ");
    expect_refused(&text);
    strbuf_clear(&text);
    strbuf_puts(&text, "func.func private @f() attributes {ingot.a = ");
    for (int i = 0; i < 100000; i++) strbuf_putc(&text, '[');
    expect_refused(&text);
    strbuf_clear(&text);
    strbuf_puts(&text, "func.func private @f() attributes {ingot.a = affine_map<(d0) -> (");
    for (int i = 0; i < 100000; i++) strbuf_puts(&text, "d0 + ");
    expect_refused(&text);
    // Aliases that double at each step would stand for 2^64 numbers.
    strbuf_clear(&text);
    strbuf_puts(&text, "#a0 = [1, 2]\n");
    for (int i = 1; i < 64; i++) strbuf_printf(&text, "#a%d = [#a%d, #a%d]\n", i, i - 1, i - 1);
    expect_refused(&text);
    strbuf_deinit(&text);
}

static void expect_float(IrTypeKind kind, uint64_t bits, const char *text) {
    StrBuf out = {0};
    float_text(kind, bits, &out);
    assert_string_equal(out.data, text);
    strbuf_deinit(&out);
}

static void test_floats(void **state) {
    (void)state;
    expect_float(IR_TYPE_F32, 0x3F800000, "1.000000e+00");
    expect_float(IR_TYPE_F32, 0x80000000, "-0.000000e+00");
    expect_float(IR_TYPE_F32, 0x3727C5AC, "9.99999974E-6");
    expect_float(IR_TYPE_F32, 0x3EB504F3, "0.353553385");
    expect_float(IR_TYPE_F32, 0x4996B43C, "1234567.5");
    expect_float(IR_TYPE_F32, 0x7F800000, "0x7F800000");
    expect_float(IR_TYPE_F32, 0x7FC00001, "0x7FC00001");
    expect_float(IR_TYPE_F32, 0x4B800001, "0x4B800001"); // 16777218: no point, so the bits
    expect_float(IR_TYPE_F32, 0x00000001, "1.401300e-45");
    expect_float(IR_TYPE_F16, 0x7BFF, "6.550400e+04");
    expect_float(IR_TYPE_F16, 0x0001, "5.960460e-08");
    expect_float(IR_TYPE_BF16, 0x7F7F, "3.389530e+38");
    expect_float(IR_TYPE_F64, 0x3FB999999999999A, "1.000000e-01");
    expect_float(IR_TYPE_F64, 0x3FD5555555555555, "0.33333333333333331");
}

// ---------------------------------------------------------------- stock MLIR

static bool has_program(const char *name) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s > /dev/null", name);
    FILE *pipe = popen(command, "r");
    return pipe && pclose(pipe) == 0;
}

// What a command prints when text is its standard input; ends the test if it fails.
static void run_on(const char *command, const StrBuf *text, StrBuf *out) {
    char path[] = "/tmp/ingot-text-XXXXXX", line[512], part[4096];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text->data, text->len), (ssize_t)text->len);
    close(fd);
    snprintf(line, sizeof line, "%s %s", command, path);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    strbuf_puts(out, "");
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) strbuf_append(out, part, n);
    if (pclose(pipe) != 0) fail_msg("%s failed", line);
    unlink(path);
}

static const char split[] = "// -----";

// Prints every chunk of a text, chunks kept apart as they were.
static void print_chunks(const StrBuf *text, StrBuf *out) {
    for (const char *at = text->data, *next; at; at = next) {
        const char *end = strstr(at, split);
        size_t len = end ? (size_t)(end - at) : strlen(at);
        next = end ? strchr(end, '\n') : NULL;
        if (strspn(at, " \n") >= len) continue;
        StrBuf printed = {0};
        print_text(at, len, "chunk", &printed);
        strbuf_printf(out, "%s\n%s", out->len ? split : "", printed.data);
        strbuf_deinit(&printed);
    }
}

#define MLIR_OPT "mlir-opt-22 --split-input-file "

static void check_against_mlir(const StrBuf *original) {
    static const char *const forms[] = {
        MLIR_OPT, MLIR_OPT "--mlir-print-op-generic", MLIR_OPT "--mlir-print-debuginfo",
        MLIR_OPT "--mlir-print-op-generic --mlir-print-local-scope"};
    StrBuf ours = {0}, generic = {0}, generic_of_ours = {0};
    print_chunks(original, &ours);
    run_on(forms[3], original, &generic);
    run_on(MLIR_OPT "--verify-each --mlir-print-op-generic --mlir-print-local-scope", &ours,
           &generic_of_ours);
    assert_string_equal(generic.data, generic_of_ours.data);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        StrBuf theirs = {0}, read = {0};
        run_on(forms[i], original, &theirs);
        print_chunks(&theirs, &read);
        assert_string_equal(ours.data, read.data);
        strbuf_deinit(&theirs);
        strbuf_deinit(&read);
    }
    strbuf_deinit(&ours);
    strbuf_deinit(&generic);
    strbuf_deinit(&generic_of_ours);
}

static void test_oracle(void **state) {
    (void)state;
    if (!has_program("mlir-opt-22")) {
        printf("SKIPPED: mlir-opt-22 is not installed\n");
        skip();
    }
    size_t num_files, num_chunks = 0;
    FiletestFile *files = filetest_load("text", &num_files);
    for (size_t f = 0; f < num_files; f++) {
        StrBuf accepted = {0};
        for (size_t c = 0; c < files[f].num_chunks; c++) {
            const FiletestChunk *chunk = &files[f].chunks[c];
            if (filetest_expects_errors(chunk)) continue;
            if (accepted.len) strbuf_printf(&accepted, "%s\n", split);
            strbuf_append(&accepted, chunk->text, chunk->len);
            num_chunks++;
        }
        if (accepted.len) check_against_mlir(&accepted);
        strbuf_deinit(&accepted);
    }
    filetest_unload(files, num_files);
    printf("%zu chunks equal to mlir-opt-22 in four forms\n", num_chunks);
}

// Random bit patterns of every type, printed by both.
static void test_float_oracle(void **state) {
    (void)state;
    if (!has_program("mlir-opt-22")) {
        printf("SKIPPED: mlir-opt-22 is not installed\n");
        skip();
    }
    enum { NUM_VALUES = 4000 };
    static const char *const names[] = {"f16", "bf16", "f32", "f64"};
    StrBuf text = {0}, ours = {0}, theirs = {0};
    uint64_t random = 88172645463325252u; // xorshift64, Marsaglia 2003
    strbuf_puts(&text, "module {\n  func.func @f() {\n");
    for (int i = 0; i < NUM_VALUES; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int type = i % 4;
        uint64_t bits = type < 2 ? random & 0xFFFF : type == 2 ? random & 0xFFFFFFFF : random;
        strbuf_printf(&text, "    %%%d = arith.constant 0x%llX : %s\n", i, (unsigned long long)bits,
                      names[type]);
    }
    strbuf_puts(&text, "    return\n  }\n}\n");
    print_text(text.data, text.len, "floats", &ours);
    run_on("mlir-opt-22 --mlir-print-op-generic", &text, &theirs);
    StrBuf read = {0};
    print_text(theirs.data, theirs.len, "floats of mlir-opt", &read);
    assert_string_equal(ours.data, read.data);
    strbuf_clear(&theirs);
    // Every literal of ours stands in MLIR's text too.
    run_on("mlir-opt-22", &ours, &theirs);
    const char *a = ours.data, *b = theirs.data;
    for (int i = 0; i < NUM_VALUES; i++) {
        a = strstr(a, "constant ");
        b = strstr(b, "constant ");
        assert_true(a && b);
        size_t len = strcspn(a, "\n");
        assert_int_equal(len, strcspn(b, "\n"));
        assert_memory_equal(a, b, len);
        a += len;
        b += len;
    }
    strbuf_deinit(&text);
    strbuf_deinit(&ours);
    strbuf_deinit(&theirs);
    strbuf_deinit(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_print), cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_locations),      cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_floats),         cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_float_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
