// The tests of templates: `value is name(arguments)`. As in Jinja 3.1.
#include <string.h>

#include "text/template_internal.h"

static Status take_none(Render *render, const Args *args) {
    return args_check(render, args, "this test", 0, 0, NULL);
}

static Status take_one(Render *render, const Args *args, TemplateValue *out) {
    TRY(args_check(render, args, "this test", 1, 1, NULL));
    *out = args->values[0];
    return STATUS_OK;
}

// Tests of the kind alone.
#define KIND_TEST(name, condition)                                                                 \
    static Status test_##name(Render *render, TemplateValue value, const Args *args, bool *out) {  \
        *out = (condition);                                                                        \
        return take_none(render, args);                                                            \
    }
KIND_TEST(defined, value.kind != TEMPLATE_UNDEFINED)
KIND_TEST(undefined, value.kind == TEMPLATE_UNDEFINED)
KIND_TEST(none, value.kind == TEMPLATE_NONE)
KIND_TEST(boolean, value.kind == TEMPLATE_BOOL)
KIND_TEST(true, value.kind == TEMPLATE_BOOL && value.b)
KIND_TEST(false, value.kind == TEMPLATE_BOOL && !value.b)
KIND_TEST(integer, value.kind == TEMPLATE_INT)
KIND_TEST(float, value.kind == TEMPLATE_FLOAT)
KIND_TEST(number,
          value.kind == TEMPLATE_INT || value.kind == TEMPLATE_FLOAT || value.kind == TEMPLATE_BOOL)
KIND_TEST(string, value.kind == TEMPLATE_STRING)
KIND_TEST(mapping, value.kind == TEMPLATE_DICT)
KIND_TEST(sequence, value.kind == TEMPLATE_STRING || value_is_list(value) ||
                        value.kind == TEMPLATE_DICT || value.kind == TEMPLATE_UNDEFINED)
KIND_TEST(iterable, value.kind == TEMPLATE_STRING || value_is_list(value) ||
                        value.kind == TEMPLATE_DICT || value.kind == TEMPLATE_UNDEFINED ||
                        value.kind == TEMPLATE_LOOP)
KIND_TEST(callable, value.kind == TEMPLATE_MACRO || value.kind == TEMPLATE_METHOD ||
                        value.kind == TEMPLATE_FUNCTION || value.kind == TEMPLATE_UNDEFINED)
#undef KIND_TEST

// Comparisons with the argument.
#define COMPARE_TEST(name, op)                                                                     \
    static Status test_##name(Render *render, TemplateValue value, const Args *args, bool *out) {  \
        TemplateValue other = value_none();                                                        \
        TRY(take_one(render, args, &other));                                                       \
        return value_compare(render, op, value, other, out);                                       \
    }
COMPARE_TEST(eq, OP_EQ)
COMPARE_TEST(ne, OP_NE)
COMPARE_TEST(lt, OP_LT)
COMPARE_TEST(le, OP_LE)
COMPARE_TEST(gt, OP_GT)
COMPARE_TEST(ge, OP_GE)
COMPARE_TEST(in, OP_IN)
#undef COMPARE_TEST

static Status take_integer(Render *render, TemplateValue value, int64_t *out) {
    if (value_is_integer(value, out)) return STATUS_OK;
    return render_error(render, "%s is not an integer", value_kind_name(value));
}

static Status test_odd(Render *render, TemplateValue value, const Args *args, bool *out) {
    int64_t i = 0;
    TRY(take_none(render, args));
    TRY(take_integer(render, value, &i));
    *out = i % 2 != 0;
    return STATUS_OK;
}

static Status test_even(Render *render, TemplateValue value, const Args *args, bool *out) {
    TRY(test_odd(render, value, args, out));
    *out = !*out;
    return STATUS_OK;
}

static Status test_divisibleby(Render *render, TemplateValue value, const Args *args, bool *out) {
    TemplateValue other = value_none();
    int64_t i = 0, k = 0;
    TRY(take_one(render, args, &other));
    TRY(take_integer(render, value, &i));
    TRY(take_integer(render, other, &k));
    if (k == 0) return render_error(render, "division by zero");
    *out = k == -1 || i % k == 0;
    return STATUS_OK;
}

// Is the text what `method` (isupper, islower) says?
static Status ask_method(Render *render, TemplateValue value, const char *method, bool *out) {
    const TemplateString *str = NULL;
    TRY(value_to_string(render, value, &str));
    TemplateMethod call = {.self = value_slice_text(&render->arena, str, 0, str->len),
                           .index = template_find_method(method)};
    TemplateValue answer = value_none();
    TRY(template_apply_method(render, &call, &(Args){0}, &answer));
    *out = value_is_true(answer);
    return STATUS_OK;
}

static Status test_upper(Render *render, TemplateValue value, const Args *args, bool *out) {
    TRY(take_none(render, args));
    return ask_method(render, value, "isupper", out);
}

static Status test_lower(Render *render, TemplateValue value, const Args *args, bool *out) {
    TRY(take_none(render, args));
    return ask_method(render, value, "islower", out);
}

static TemplateTest *const TESTS[] = {
#define TEMPLATE_TEST(name, function) function,
#include "text/template.def"
#undef TEMPLATE_TEST
};

Status template_apply_test(Render *render, int test, TemplateValue value, const Args *args,
                           bool *out) {
    return TESTS[test](render, value, args, out);
}
