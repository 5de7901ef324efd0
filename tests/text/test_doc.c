// YAML and JSON documents: structure, places, typed access, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/doc.h"

static DiagSink sink;

static int setup(void **state) {
    (void)state;
    diag_sink_init(&sink);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    diag_sink_deinit(&sink);
    return 0;
}

static const DocNode *parse(const char *text, DocFormat format) {
    const DocNode *root = NULL;
    assert_int_equal(doc_parse(text, strlen(text), "f", format, &sink, &root), STATUS_OK);
    assert_non_null(root);
    return root;
}

static void refuse(const char *text, DocFormat format, DiagCode code, uint32_t line, uint32_t col) {
    const DocNode *root = NULL;
    size_t before = sink.num_errors;
    assert_int_equal(doc_parse(text, strlen(text), "f", format, &sink, &root), STATUS_INVALID);
    assert_null(root);
    assert_int_equal(sink.num_errors, before + 1);
    const Diag *diag = &sink.diags[sink.num_diags - 1];
    assert_string_equal(diag_info(diag->code)->code, diag_info(code)->code);
    if (line) assert_int_equal(diag->span.line, line);
    if (col) assert_int_equal(diag->span.col, col);
}

static void check_tree(const DocNode *root, bool is_json) {
    assert_int_equal(root->kind, DOC_MAP);
    assert_int_equal(root->num_children, 2);
    const DocNode *list = doc_find(root, "list"), *a = doc_find(root, "a");
    assert_int_equal(a->kind, DOC_SCALAR);
    assert_string_equal(a->text, "x y");
    assert_int_equal(a->is_quoted, is_json);
    assert_int_equal(list->kind, DOC_LIST);
    assert_int_equal(list->num_children, 2);
    assert_string_equal(list->first->text, "1");
    assert_string_equal(doc_find(list->first->next, "k")->text, "v");
    assert_null(doc_find(root, "absent"));
    assert_null(doc_find(a, "absent"));
}

static void test_structure(void **state) {
    (void)state;
    const DocNode *root = parse("a: x y\nlist:\n  - 1\n  - {k: v}\n", DOC_YAML);
    check_tree(root, false);
    const DocNode *v = doc_find(doc_find(root, "list")->first->next, "k");
    assert_int_equal(v->span.line, 4);
    assert_int_equal(v->span.col, 9);
    assert_int_equal(v->span.end_col, 10);
    assert_int_equal(v->key_span.col, 6);
    root = parse("{\"a\":\"x y\",\n\"list\":[1,{\"k\":\"v\"}]}", DOC_JSON);
    check_tree(root, true);
    assert_int_equal(doc_find(root, "list")->span.line, 2);
    assert_string_equal(parse("\"\\u00e4\\n\\\"\"", DOC_JSON)->text, "\xc3\xa4\n\"");
    assert_string_equal(parse("a: |\n  one\n  two\n", DOC_YAML)->first->text, "one\ntwo\n");
}

static void test_refused(void **state) {
    (void)state;
    refuse("", DOC_YAML, DIAG_R0001, 0, 0);
    refuse("a: [1\nb: 2", DOC_YAML, DIAG_R0001, 2, 0);
    refuse("a: 1\na: 2\n", DOC_YAML, DIAG_R0002, 2, 1);
    refuse("{\"a\":1,\"a\":2}", DOC_JSON, DIAG_R0002, 1, 0);
    refuse("a: &x 1\n", DOC_YAML, DIAG_R0003, 1, 4);
    refuse("a: *x\n", DOC_YAML, DIAG_R0003, 1, 4);
    refuse("a: !!int 1\n", DOC_YAML, DIAG_R0003, 1, 4);
    refuse("a: 1\n---\nb: 1\n", DOC_YAML, DIAG_R0003, 2, 1);
    refuse("? [a]\n: 1\n", DOC_YAML, DIAG_R0004, 1, 3);
    refuse("\"\": 1\n", DOC_YAML, DIAG_R0004, 1, 1);
    refuse("\"a\\0b\": 1\n", DOC_YAML, DIAG_R0004, 1, 1);
    refuse("a: \xff\n", DOC_YAML, DIAG_R0001, 0, 0);
    refuse("{a: 1}", DOC_JSON, DIAG_R0001, 1, 0); // YAML, but not JSON
    refuse("{\"a\": 1,}", DOC_JSON, DIAG_R0001, 1, 0);
    refuse("[NaN]", DOC_JSON, DIAG_R0001, 1, 0);
}

static void test_bounds(void **state) {
    (void)state;
    char deep[200];
    for (size_t depth = DOC_MAX_DEPTH - 1; depth < DOC_MAX_DEPTH + 2; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        deep[2 * depth] = 0;
        if (depth <= DOC_MAX_DEPTH)
            (void)parse(deep, DOC_YAML);
        else
            refuse(deep, DOC_YAML, DIAG_R0007, 0, 0);
    }
    char *large = malloc(DOC_MAX_BYTES + 2);
    assert_non_null(large);
    memset(large, ' ', DOC_MAX_BYTES + 1);
    large[0] = '1';
    large[DOC_MAX_BYTES + 1] = 0;
    refuse(large, DOC_YAML, DIAG_R0007, 0, 0);
    free(large);
}

typedef struct Number {
    const char *text;
    bool is_valid;
    DiagCode code;
    int64_t value;
} Number;

static void test_ints(void **state) {
    (void)state;
    static const Number numbers[] = {
        {"5", true, 0, 5},
        {"-7", true, 0, -7},
        {"0", true, 0, 0},
        {"100", true, 0, 100},
        {"101", false, DIAG_R0005, 0},
        {"99999999999999999999", false, DIAG_R0005, 0},
        {"-99999999999999999999", false, DIAG_R0005, 0},
        {"4k", false, DIAG_R0006, 0},
        {"1_0", false, DIAG_R0006, 0},
        {"0x10", false, DIAG_R0006, 0},
        {"8.0", true, 0, 8},
        {"-8.00", true, 0, -8},
        {"1e2", true, 0, 100},
        {"1.5e1", true, 0, 15},
        {"1e3", false, DIAG_R0005, 0},
        {"1e999", false, DIAG_R0005, 0},
        {"9.5", false, DIAG_R0004, 0},
        {"1e-1", false, DIAG_R0004, 0},
        {"010.0", false, DIAG_R0004, 0},
        {"1e", false, DIAG_R0006, 0},
        {"8.0k", false, DIAG_R0006, 0},
        {"010", false, DIAG_R0004, 0},
        {"1.5", false, DIAG_R0004, 0},
        {"\"5\"", false, DIAG_R0004, 0},
        {"five", false, DIAG_R0004, 0},
        {"", false, DIAG_R0004, 0},
        {"~", false, DIAG_R0004, 0},
        {"[5]", false, DIAG_R0004, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        int64_t value = 1234;
        const char *text = arena_printf(&sink.arena, "a: %s", numbers[i].text);
        const DocNode *node = parse(text, DOC_YAML)->first;
        Status status = doc_get_int(node, "a", -100, 100, &sink, &value);
        assert_int_equal(status == STATUS_OK, numbers[i].is_valid);
        if (numbers[i].is_valid) {
            assert_int_equal(value, numbers[i].value);
            continue;
        }
        assert_int_equal(value, 1234); // untouched
        assert_string_equal(diag_info(sink.diags[sink.num_diags - 1].code)->code,
                            diag_info(numbers[i].code)->code);
    }
}

static void test_other_types(void **state) {
    (void)state;
    const DocNode *root =
        parse("{t: true, f: false, y: yes, q: 'true', n: null, x: 1.5e-3, u: 1.5s, s: text, e: ''}",
              DOC_YAML);
    bool truth = false;
    double number = 0;
    const char *text = NULL;
    assert_int_equal(doc_get_bool(doc_find(root, "t"), "t", &sink, &truth), STATUS_OK);
    assert_true(truth);
    assert_int_equal(doc_get_bool(doc_find(root, "f"), "f", &sink, &truth), STATUS_OK);
    assert_false(truth);
    assert_int_equal(doc_get_bool(doc_find(root, "y"), "y", &sink, &truth), STATUS_INVALID);
    assert_int_equal(doc_get_bool(doc_find(root, "q"), "q", &sink, &truth), STATUS_INVALID);
    assert_true(doc_is_null(doc_find(root, "n")));
    assert_false(doc_is_null(doc_find(root, "e")));
    assert_int_equal(doc_get_float(doc_find(root, "x"), "x", &sink, &number), STATUS_OK);
    assert_true(number == 1.5e-3);
    assert_int_equal(doc_get_float(doc_find(root, "u"), "u", &sink, &number), STATUS_INVALID);
    assert_int_equal(doc_get_string(doc_find(root, "s"), "s", &sink, &text), STATUS_OK);
    assert_string_equal(text, "text");
    assert_int_equal(doc_get_string(doc_find(root, "e"), "e", &sink, &text), STATUS_INVALID);
    assert_int_equal(doc_get_string(doc_find(root, "n"), "n", &sink, &text), STATUS_INVALID);
    assert_int_equal(doc_want_kind(root, "root", DOC_LIST, &sink), STATUS_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_structure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ints, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_types, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
