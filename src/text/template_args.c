// Arguments of filters, tests, methods and functions, and the tables of their names.
#include <string.h>

#include "text/template_internal.h"

// ---------------------------------------------------------------- arguments

Status args_check(Render *render, const Args *args, const char *what, size_t min, size_t max,
                  const char *const *names) {
    size_t num_positional = 0;
    while (num_positional < args->count && !args->names[num_positional]) num_positional++;
    if (num_positional > max || args->count < min)
        return render_error(render, "%s takes %zu to %zu arguments, not %zu", what, min, max,
                            args->count);
    for (size_t i = num_positional; i < args->count; i++) {
        size_t k = 0;
        while (k < max && !(names && str_equal(names[k], args->names[i]))) k++;
        if (k == max)
            return render_error(render, "%s has no argument \"%s\"", what, args->names[i]);
        if (k < num_positional)
            return render_error(render, "argument \"%s\" of %s is given twice", names[k], what);
    }
    return STATUS_OK;
}

bool args_find(const Args *args, size_t index, const char *name, TemplateValue *out) {
    for (size_t i = 0; i < args->count; i++) {
        bool is_it = args->names[i] ? name && str_equal(args->names[i], name) : i == index;
        if (!is_it) continue;
        *out = args->values[i];
        return true;
    }
    return false;
}

Status args_string(Render *render, const Args *args, size_t index, const char *name,
                   const TemplateString **out) {
    TemplateValue value;
    if (!args_find(args, index, name, &value) || value.kind == TEMPLATE_NONE) return STATUS_OK;
    if (value.kind != TEMPLATE_STRING)
        return render_error(render, "argument %zu is %s, not a string", index + 1,
                            value_kind_name(value));
    *out = value.str;
    return STATUS_OK;
}

Status args_int(Render *render, const Args *args, size_t index, const char *name, int64_t *out) {
    TemplateValue value;
    if (!args_find(args, index, name, &value)) return STATUS_OK;
    if (!value_is_integer(value, out))
        return render_error(render, "argument %zu is %s, not an integer", index + 1,
                            value_kind_name(value));
    return STATUS_OK;
}

// ---------------------------------------------------------------- names

static const char *const FILTERS[] = {
#define TEMPLATE_FILTER(name, function) name,
#include "text/template.def"
#undef TEMPLATE_FILTER
};
static const char *const TESTS[] = {
#define TEMPLATE_TEST(name, function) name,
#include "text/template.def"
#undef TEMPLATE_TEST
};
static const char *const METHODS[] = {
#define TEMPLATE_METHOD(name, kinds, function) name,
#include "text/template.def"
#undef TEMPLATE_METHOD
};
static const char *const METHOD_KINDS[] = {
#define TEMPLATE_METHOD(name, kinds, function) kinds,
#include "text/template.def"
#undef TEMPLATE_METHOD
};
static const char *const FUNCTIONS[] = {
#define TEMPLATE_FUNCTION(name, function) name,
#include "text/template.def"
#undef TEMPLATE_FUNCTION
};
static const char *const CHANGERS[] = {
#define TEMPLATE_CHANGER(name) name,
#include "text/template.def"
#undef TEMPLATE_CHANGER
};

static int find_name(const char *name, const char *const *names, size_t num_names) {
    for (size_t i = 0; i < num_names; i++)
        if (str_equal(name, names[i])) return (int)i;
    return -1;
}

int template_find_filter(const char *name) {
    return find_name(name, FILTERS, ARRAY_LEN(FILTERS));
}
int template_find_test(const char *name) {
    return find_name(name, TESTS, ARRAY_LEN(TESTS));
}
int template_find_method(const char *name) {
    return find_name(name, METHODS, ARRAY_LEN(METHODS));
}

int template_find_function(const char *name) {
    return find_name(name, FUNCTIONS, ARRAY_LEN(FUNCTIONS));
}

bool template_is_changer(const char *name) {
    return find_name(name, CHANGERS, ARRAY_LEN(CHANGERS)) >= 0;
}

const char *template_nearest_filter(const char *name) {
    return str_nearest(name, FILTERS, ARRAY_LEN(FILTERS));
}
const char *template_nearest_test(const char *name) {
    return str_nearest(name, TESTS, ARRAY_LEN(TESTS));
}
const char *template_nearest_method(const char *name) {
    return str_nearest(name, METHODS, ARRAY_LEN(METHODS));
}

bool template_method_fits(int method, TemplateKind kind) {
    char letter = kind == TEMPLATE_STRING                           ? 'S'
                  : kind == TEMPLATE_DICT                           ? 'D'
                  : kind == TEMPLATE_LOOP                           ? 'O'
                  : kind == TEMPLATE_LIST || kind == TEMPLATE_TUPLE ? 'L'
                                                                    : '?';
    return strchr(METHOD_KINDS[method], letter) != NULL;
}
