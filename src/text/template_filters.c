// The filters of templates: `value | name(arguments)`. As in Jinja 3.1.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/template_internal.h"

// ---------------------------------------------------------------- strings

static Status filter_string(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    TRY(args_check(render, args, "string", 0, 0, NULL));
    const TemplateString *str = NULL;
    TRY(value_to_string(render, value, &str));
    *out = value_slice_text(&render->arena, str, 0, str->len);
    return STATUS_OK;
}

static Status filter_safe(Render *render, TemplateValue value, const Args *args,
                          TemplateValue *out) {
    TRY(filter_string(render, value, args, out));
    *out = value_with_safety(&render->arena, *out, true);
    return STATUS_OK;
}

static Status change_case(Render *render, TemplateValue value, const Args *args, CaseChange change,
                          TemplateValue *out) {
    const TemplateString *str = NULL;
    TRY(args_check(render, args, "this filter", 0, 0, NULL));
    TRY(value_to_string(render, value, &str));
    *out = string_change_case(render, str, change);
    return render_step(render, str->len / 16);
}

static Status filter_upper(Render *render, TemplateValue value, const Args *args,
                           TemplateValue *out) {
    return change_case(render, value, args, CASE_UPPER, out);
}
static Status filter_lower(Render *render, TemplateValue value, const Args *args,
                           TemplateValue *out) {
    return change_case(render, value, args, CASE_LOWER, out);
}
static Status filter_capitalize(Render *render, TemplateValue value, const Args *args,
                                TemplateValue *out) {
    return change_case(render, value, args, CASE_CAPITALIZE, out);
}

// Words begin after blanks and any of -([{< ; not after other signs, unlike Python's title.
static Status filter_title(Render *render, TemplateValue value, const Args *args,
                           TemplateValue *out) {
    const TemplateString *str = NULL;
    TRY(args_check(render, args, "title", 0, 0, NULL));
    TRY(value_to_string(render, value, &str));
    TextBuilder builder = {0};
    for (size_t pos = 0; pos < str->len;) {
        size_t end = pos;
        bool is_border = true;
        for (bool is_first = true; end < str->len; is_first = false) {
            Utf8Step step = utf8_step(str->text + end, str->len - end);
            bool is_sign =
                char_is_space(step.code_point) || (step.code_point && step.code_point < 0x80 &&
                                                   strchr("-([{<", (int)step.code_point));
            if (is_first)
                is_border = is_sign;
            else if (is_sign != is_border)
                break;
            end += step.num_bytes;
        }
        const TemplateString *word = value_slice_text(&render->arena, str, pos, end - pos).str;
        if (!is_border) word = string_change_case(render, word, CASE_CAPITALIZE).str;
        builder_put_string(&builder, word, 0, word->len);
        pos = end;
    }
    *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return render_step(render, str->len / 16);
}

static Status filter_trim(Render *render, TemplateValue value, const Args *args,
                          TemplateValue *out) {
    static const char *const names[] = {"chars"};
    const TemplateString *str = NULL, *chars = NULL;
    TRY(args_check(render, args, "trim", 0, 1, names));
    TRY(args_string(render, args, 0, "chars", &chars));
    TRY(value_to_string(render, value, &str));
    *out = string_strip(render, str, chars, STRIP_BOTH);
    return render_step(render, str->len / 16);
}

static Status filter_replace(Render *render, TemplateValue value, const Args *args,
                             TemplateValue *out) {
    static const char *const names[] = {"old", "new", "count"};
    const TemplateString *str = NULL, *old = NULL, *new_text = NULL;
    TRY(args_check(render, args, "replace", 2, 3, names));
    TemplateValue from = value_undefined(NULL), to = value_undefined(NULL), count = value_none();
    (void)args_find(args, 0, "old", &from);
    (void)args_find(args, 1, "new", &to);
    int64_t limit = -1;
    if (args_find(args, 2, "count", &count) && count.kind != TEMPLATE_NONE &&
        !value_is_integer(count, &limit))
        return render_error(render, "count is %s", value_kind_name(count));
    TRY(value_to_string(render, value, &str));
    TRY(value_to_string(render, from, &old));
    TRY(value_to_string(render, to, &new_text));
    return string_replace(render, str, old, new_text, limit, out);
}

// Every line but the first (or all) with blanks before it; blank lines stay empty unless asked.
static Status filter_indent(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    static const char *const names[] = {"width", "first", "blank"};
    TRY(args_check(render, args, "indent", 0, 3, names));
    TemplateValue width = value_int(4), first = value_bool(false), blank = value_bool(false);
    (void)args_find(args, 0, "width", &width);
    (void)args_find(args, 1, "first", &first);
    (void)args_find(args, 2, "blank", &blank);
    const TemplateString *str = NULL, *spaces = NULL;
    int64_t count;
    if (width.kind == TEMPLATE_STRING) {
        spaces = width.str;
    } else if (value_is_integer(width, &count) && count <= 1000) {
        char text[1000];
        memset(text, ' ', sizeof text);
        spaces = template_string(&render->arena, text, (size_t)MAX(count, 0), false).str;
    } else {
        return render_error(render, "width is %s", value_kind_name(width));
    }
    TRY(value_to_string(render, value, &str));
    TextBuilder builder = {0};
    for (size_t pos = 0, line = 0; pos <= str->len; line++) {
        const char *end = pos < str->len ? memchr(str->text + pos, '\n', str->len - pos) : NULL;
        size_t len = end ? (size_t)(end - str->text) - pos : str->len - pos;
        bool is_indented = line ? len || value_is_true(blank) : value_is_true(first);
        if (is_indented) builder_put_string(&builder, spaces, 0, spaces->len);
        builder_put_string(&builder, str, pos, len);
        if (end) builder_put_string(&builder, str, pos + len, 1);
        pos += len + 1;
    }
    *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return render_step(render, out->str->len / 16);
}

// ---------------------------------------------------------------- numbers

static Status filter_abs(Render *render, TemplateValue value, const Args *args,
                         TemplateValue *out) {
    int64_t i;
    TRY(args_check(render, args, "abs", 0, 0, NULL));
    if (value_is_integer(value, &i) && i != INT64_MIN)
        *out = value_int(i < 0 ? -i : i);
    else if (value.kind == TEMPLATE_FLOAT)
        *out = value_float(fabs(value.f));
    else
        return render_error(render, "abs of %s", value_kind_name(value));
    return STATUS_OK;
}

// Text as a whole number or decimal, blanks around it allowed; false if it is none.
static bool read_number(Render *render, const TemplateString *str, int base, int64_t *out_int,
                        double *out_float, bool *out_is_int) {
    const TemplateString *text = string_strip(render, str, NULL, STRIP_BOTH).str;
    if (text->len == 0 || text->len > 64) return false;
    char copy[65], *end;
    memcpy(copy, text->text, text->len);
    copy[text->len] = '\0';
    if (char_is_space((uint8_t)copy[0]) || strlen(copy) != text->len) return false;
    intmax_t i = strtoimax(copy, &end, base);
    *out_is_int = *end == '\0' && i > INTMAX_MIN && i < INTMAX_MAX;
    *out_int = i;
    if (strpbrk(copy, "xXpP")) return *out_is_int;
    *out_float = strtod(copy, &end);
    return *out_is_int || *end == '\0';
}

static Status filter_int(Render *render, TemplateValue value, const Args *args,
                         TemplateValue *out) {
    static const char *const names[] = {"default", "base"};
    TRY(args_check(render, args, "int", 0, 2, names));
    int64_t base = 10, i;
    double f = 0;
    *out = value_int(0);
    (void)args_find(args, 0, "default", out);
    TRY(args_int(render, args, 1, "base", &base));
    if (base < 2 || base > 36) return render_error(render, "base is not between 2 and 36");
    if (value.kind == TEMPLATE_UNDEFINED) return render_error(render, "int of undefined");
    bool is_int = value_is_integer(value, &i);
    bool is_number = is_int || value.kind == TEMPLATE_FLOAT;
    if (value.kind == TEMPLATE_FLOAT) f = value.f;
    if (value.kind == TEMPLATE_STRING)
        is_number = read_number(render, value.str, (int)base, &i, &f, &is_int);
    if (!is_number) return STATUS_OK;
    if (is_int)
        *out = value_int(i);
    else if (fabs(f) < 9.2e18)
        *out = value_int((int64_t)f);
    return STATUS_OK;
}

static Status filter_float(Render *render, TemplateValue value, const Args *args,
                           TemplateValue *out) {
    static const char *const names[] = {"default"};
    TRY(args_check(render, args, "float", 0, 1, names));
    double f;
    int64_t i;
    bool is_int;
    *out = value_float(0);
    (void)args_find(args, 0, "default", out);
    if (value.kind == TEMPLATE_UNDEFINED) return render_error(render, "float of undefined");
    if (value_is_number(value, &f))
        *out = value_float(f);
    else if (value.kind == TEMPLATE_STRING && read_number(render, value.str, 10, &i, &f, &is_int))
        *out = value_float(f);
    return STATUS_OK;
}

// ---------------------------------------------------------------- any value

static Status filter_default(Render *render, TemplateValue value, const Args *args,
                             TemplateValue *out) {
    static const char *const names[] = {"default_value", "boolean"};
    TRY(args_check(render, args, "default", 0, 2, names));
    TemplateValue other = value_text(&render->arena, ""), is_for_false = value_bool(false);
    (void)args_find(args, 0, "default_value", &other);
    (void)args_find(args, 1, "boolean", &is_for_false);
    bool is_missing =
        value.kind == TEMPLATE_UNDEFINED || (value_is_true(is_for_false) && !value_is_true(value));
    *out = is_missing ? other : value;
    return STATUS_OK;
}

static Status filter_length(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    TRY(args_check(render, args, "length", 0, 0, NULL));
    switch (value.kind) {
    case TEMPLATE_UNDEFINED: *out = value_int(0); return STATUS_OK;
    case TEMPLATE_STRING:
        *out = value_int((int64_t)string_num_chars(value.str));
        return render_step(render, value.str->len / 64);
    case TEMPLATE_LIST:
    case TEMPLATE_TUPLE: *out = value_int((int64_t)value.list->count); return STATUS_OK;
    case TEMPLATE_DICT: *out = value_int((int64_t)value.dict->count); return STATUS_OK;
    default: return render_error(render, "%s has no length", value_kind_name(value));
    }
}

static Status filter_tojson(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    return value_to_json(render, value, args, out);
}

// ---------------------------------------------------------------- lists

static Status filter_list(Render *render, TemplateValue value, const Args *args,
                          TemplateValue *out) {
    TRY(args_check(render, args, "list", 0, 0, NULL));
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    *out = value_list(list);
    return STATUS_OK;
}

static Status filter_first(Render *render, TemplateValue value, const Args *args,
                           TemplateValue *out) {
    TRY(args_check(render, args, "first", 0, 0, NULL));
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    *out = list->count ? list->items[0] : value_undefined("first item of nothing");
    return STATUS_OK;
}

static Status filter_last(Render *render, TemplateValue value, const Args *args,
                          TemplateValue *out) {
    TRY(args_check(render, args, "last", 0, 0, NULL));
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    *out = list->count ? list->items[list->count - 1] : value_undefined("last item of nothing");
    return STATUS_OK;
}

static Status filter_reverse(Render *render, TemplateValue value, const Args *args,
                             TemplateValue *out) {
    TRY(args_check(render, args, "reverse", 0, 0, NULL));
    TemplateList *list, *reversed = list_create(render);
    TRY(value_elements(render, value, &list));
    for (size_t i = list->count; i-- > 0;) TRY(list_push(render, reversed, list->items[i]));
    *out = value_list(reversed);
    if (value.kind != TEMPLATE_STRING) return STATUS_OK;
    TextBuilder builder = {0};
    for (size_t i = 0; i < reversed->count; i++)
        builder_put_string(&builder, reversed->items[i].str, 0, reversed->items[i].str->len);
    *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return STATUS_OK;
}

// value.attr.attr, as the argument `attribute` of several filters; a number is an index.
static Status get_attribute(Render *render, TemplateValue value, TemplateValue attribute,
                            TemplateValue *out) {
    *out = value;
    if (attribute.kind != TEMPLATE_STRING) return value_item(render, value, attribute, out);
    const TemplateString *path = attribute.str;
    for (size_t start = 0; start <= path->len;) {
        const char *dot = memchr(path->text + start, '.', path->len - start);
        size_t end = dot ? (size_t)(dot - path->text) : path->len;
        TemplateValue key = value_slice_text(&render->arena, path, start, end - start);
        int64_t index = 0;
        size_t pos = start;
        for (; pos < end && pos < start + 9 && path->text[pos] >= '0' && path->text[pos] <= '9';
             pos++)
            index = index * 10 + (path->text[pos] - '0');
        if (end > start && pos == end) key = value_int(index);
        TRY(value_item(render, *out, key, out));
        start = end + 1;
    }
    return STATUS_OK;
}

static Status join_items(Render *render, const TemplateList *list, const TemplateString *separator,
                         const TemplateValue *attribute, TextBuilder *builder) {
    for (size_t i = 0; i < list->count; i++) {
        if (i) builder_put_string(builder, separator, 0, separator->len);
        TemplateValue item = list->items[i];
        if (attribute) TRY(get_attribute(render, item, *attribute, &item));
        TRY(value_print(render, item, builder));
    }
    return STATUS_OK;
}

static Status filter_join(Render *render, TemplateValue value, const Args *args,
                          TemplateValue *out) {
    static const char *const names[] = {"d", "attribute"};
    TRY(args_check(render, args, "join", 0, 2, names));
    TemplateValue separator = value_text(&render->arena, ""), attribute;
    (void)args_find(args, 0, "d", &separator);
    bool has_attribute = args_find(args, 1, "attribute", &attribute);
    const TemplateString *text = NULL;
    TRY(value_to_string(render, separator, &text));
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    TextBuilder builder = {0};
    Status status = join_items(render, list, text, has_attribute ? &attribute : NULL, &builder);
    if (status == STATUS_OK) *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return status;
}

static Status filter_items(Render *render, TemplateValue value, const Args *args,
                           TemplateValue *out) {
    TRY(args_check(render, args, "items", 0, 0, NULL));
    TemplateList *list = list_create(render);
    *out = value_list(list);
    if (value.kind == TEMPLATE_UNDEFINED) return STATUS_OK;
    if (value.kind != TEMPLATE_DICT)
        return render_error(render, "items of %s", value_kind_name(value));
    for (size_t i = 0; i < value.dict->count; i++) {
        TemplateList *pair = list_create(render);
        TRY(list_push(render, pair, value.dict->entries[i].key));
        TRY(list_push(render, pair, value.dict->entries[i].value));
        TRY(list_push(render, list, (TemplateValue){.kind = TEMPLATE_TUPLE, .list = pair}));
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- order

// What is compared for one item: an attribute of it, lower case unless case counts.
static Status sort_key(Render *render, TemplateValue item, const TemplateValue *attribute,
                       bool is_case_sensitive, TemplateValue *out) {
    *out = item;
    if (attribute) TRY(get_attribute(render, item, *attribute, out));
    if (out->kind == TEMPLATE_STRING && !is_case_sensitive)
        *out = string_change_case(render, out->str, CASE_LOWER);
    return STATUS_OK;
}

typedef struct SortItem {
    TemplateValue key, item;
} SortItem;

// Stable merge sort; fails where two keys cannot be compared.
static Status merge_sort(Render *render, SortItem *items, SortItem *scratch, size_t count,
                         bool is_reversed) {
    if (count < 2) return STATUS_OK;
    size_t half = count / 2, left = 0, right = half;
    TRY(merge_sort(render, items, scratch, half, is_reversed));
    TRY(merge_sort(render, items + half, scratch, count - half, is_reversed));
    TRY(render_step(render, count));
    for (size_t i = 0; i < count; i++) {
        int order = 0;
        bool has_both = left < half && right < count;
        if (has_both && !value_order(items[left].key, items[right].key, &order))
            return render_error(render, "%s and %s cannot be sorted",
                                value_kind_name(items[left].key),
                                value_kind_name(items[right].key));
        bool takes_right = has_both ? (is_reversed ? order < 0 : order == 1) : left == half;
        scratch[i] = items[takes_right ? right++ : left++];
    }
    memcpy(items, scratch, count * sizeof *items);
    return STATUS_OK;
}

static Status sort_items(Render *render, const TemplateList *list, const TemplateValue *attribute,
                         bool is_case_sensitive, bool is_reversed, TemplateValue *out) {
    TemplateList *sorted = list_create(render);
    SortItem *items = ARENA_ARRAY(&render->arena, SortItem, list->count * 2);
    for (size_t i = 0; i < list->count; i++) {
        items[i].item = list->items[i];
        TRY(sort_key(render, list->items[i], attribute, is_case_sensitive, &items[i].key));
        TRY(render_step(render, 1));
    }
    TRY(merge_sort(render, items, items + list->count, list->count, is_reversed));
    for (size_t i = 0; i < list->count; i++) TRY(list_push(render, sorted, items[i].item));
    *out = value_list(sorted);
    return STATUS_OK;
}

static Status filter_sort(Render *render, TemplateValue value, const Args *args,
                          TemplateValue *out) {
    static const char *const names[] = {"reverse", "case_sensitive", "attribute"};
    TRY(args_check(render, args, "sort", 0, 3, names));
    TemplateValue is_reversed = value_bool(false), is_sensitive = value_bool(false), attribute;
    (void)args_find(args, 0, "reverse", &is_reversed);
    (void)args_find(args, 1, "case_sensitive", &is_sensitive);
    bool has_attribute = args_find(args, 2, "attribute", &attribute);
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    return sort_items(render, list, has_attribute ? &attribute : NULL, value_is_true(is_sensitive),
                      value_is_true(is_reversed), out);
}

static Status filter_dictsort(Render *render, TemplateValue value, const Args *args,
                              TemplateValue *out) {
    static const char *const names[] = {"case_sensitive", "by", "reverse"};
    TRY(args_check(render, args, "dictsort", 0, 3, names));
    TemplateValue is_sensitive = value_bool(false), is_reversed = value_bool(false), pairs;
    const TemplateString *by = value_text(&render->arena, "key").str;
    (void)args_find(args, 0, "case_sensitive", &is_sensitive);
    TRY(args_string(render, args, 1, "by", &by));
    (void)args_find(args, 2, "reverse", &is_reversed);
    if (!string_is(by, "key") && !string_is(by, "value"))
        return render_error(render, "by is neither \"key\" nor \"value\"");
    if (value.kind != TEMPLATE_DICT)
        return render_error(render, "dictsort of %s", value_kind_name(value));
    TRY(filter_items(render, value, &(Args){0}, &pairs));
    TemplateValue index = value_int(string_is(by, "value"));
    return sort_items(render, pairs.list, &index, value_is_true(is_sensitive),
                      value_is_true(is_reversed), out);
}

static Status filter_unique(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    static const char *const names[] = {"case_sensitive", "attribute"};
    TRY(args_check(render, args, "unique", 0, 2, names));
    TemplateValue is_sensitive = value_bool(false), attribute;
    (void)args_find(args, 0, "case_sensitive", &is_sensitive);
    bool has_attribute = args_find(args, 1, "attribute", &attribute);
    TemplateList *list, *kept = list_create(render), *keys = list_create(render);
    TRY(value_elements(render, value, &list));
    for (size_t i = 0; i < list->count; i++) {
        TemplateValue key;
        TRY(sort_key(render, list->items[i], has_attribute ? &attribute : NULL,
                     value_is_true(is_sensitive), &key));
        size_t k = 0;
        while (k < keys->count && !value_equal(keys->items[k], key, 0)) k++;
        TRY(render_step(render, k));
        if (k < keys->count) continue;
        TRY(list_push(render, keys, key));
        TRY(list_push(render, kept, list->items[i]));
    }
    *out = value_list(kept);
    return STATUS_OK;
}

// The smallest (sign -1) or largest (sign 1) item.
static Status pick_extreme(Render *render, TemplateValue value, const Args *args, int sign,
                           TemplateValue *out) {
    static const char *const names[] = {"case_sensitive", "attribute"};
    TRY(args_check(render, args, "min or max", 0, 2, names));
    TemplateValue is_sensitive = value_bool(false), attribute, best_key = value_none();
    (void)args_find(args, 0, "case_sensitive", &is_sensitive);
    bool has_attribute = args_find(args, 1, "attribute", &attribute);
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    *out = value_undefined("item of nothing");
    for (size_t i = 0; i < list->count; i++) {
        TemplateValue key;
        int order = 0;
        TRY(sort_key(render, list->items[i], has_attribute ? &attribute : NULL,
                     value_is_true(is_sensitive), &key));
        if (i && !value_order(key, best_key, &order))
            return render_error(render, "%s and %s cannot be compared", value_kind_name(key),
                                value_kind_name(best_key));
        if (i && order != sign) continue;
        best_key = key;
        *out = list->items[i];
    }
    return render_step(render, list->count);
}

static Status filter_min(Render *render, TemplateValue value, const Args *args,
                         TemplateValue *out) {
    return pick_extreme(render, value, args, -1, out);
}
static Status filter_max(Render *render, TemplateValue value, const Args *args,
                         TemplateValue *out) {
    return pick_extreme(render, value, args, 1, out);
}

static Status filter_sum(Render *render, TemplateValue value, const Args *args,
                         TemplateValue *out) {
    static const char *const names[] = {"attribute", "start"};
    TRY(args_check(render, args, "sum", 0, 2, names));
    TemplateValue attribute = value_none(), start = value_int(0);
    bool has_attribute =
        args_find(args, 0, "attribute", &attribute) && attribute.kind != TEMPLATE_NONE;
    (void)args_find(args, 1, "start", &start);
    TemplateList *list;
    TRY(value_elements(render, value, &list));
    int64_t whole = 0;
    double total = 0;
    bool is_whole = value_is_integer(start, &whole);
    if (!value_is_number(start, &total))
        return render_error(render, "start is %s", value_kind_name(start));
    for (size_t i = 0; i < list->count; i++) {
        TemplateValue item = list->items[i];
        int64_t term = 0;
        double number;
        if (has_attribute) TRY(get_attribute(render, item, attribute, &item));
        if (!value_is_number(item, &number))
            return render_error(render, "sum with %s", value_kind_name(item));
        total += number;
        is_whole = is_whole && value_is_integer(item, &term);
        if (is_whole && __builtin_add_overflow(whole, term, &whole))
            return render_error(render, "the sum does not fit in 64 bits");
    }
    *out = is_whole ? value_int(whole) : value_float(total);
    return render_step(render, list->count);
}

// ---------------------------------------------------------------- map, select, reject

// The filter or test whose name is argument `index`.
static Status find_by_name(Render *render, const Args *args, size_t index, const char *what,
                           int (*find)(const char *name), int *out) {
    const TemplateString *str = NULL;
    TRY(args_string(render, args, index, NULL, &str));
    char name[32] = "";
    if (str && str->len < sizeof name) memcpy(name, str->text, str->len);
    *out = find(name);
    if (*out >= 0) return STATUS_OK;
    return render_error(render, "there is no %s \"%.*s\"", what, str ? (int)MIN(str->len, 40u) : 0,
                        str ? str->text : "");
}

static Args args_from(const Args *args, size_t first) {
    if (first > args->count) first = args->count;
    return (Args){args->values + first, args->names + first, args->count - first};
}

// The elements of a list that may be missing: nothing, none and false count as empty.
static Status elements_or_none(Render *render, TemplateValue value, TemplateList **out) {
    return value_elements(render, value_is_true(value) ? value : value_undefined(NULL), out);
}

static Status filter_map(Render *render, TemplateValue value, const Args *args,
                         TemplateValue *out) {
    TemplateList *list, *mapped = list_create(render);
    TemplateValue attribute, other;
    bool has_attribute = args_find(args, SIZE_MAX, "attribute", &attribute);
    bool has_other = args_find(args, SIZE_MAX, "default", &other);
    int filter = -1;
    if (!has_attribute) TRY(find_by_name(render, args, 0, "filter", template_find_filter, &filter));
    TRY(elements_or_none(render, value, &list));
    Args rest = args_from(args, 1);
    for (size_t i = 0; i < list->count; i++) {
        TemplateValue item;
        if (has_attribute)
            TRY(get_attribute(render, list->items[i], attribute, &item));
        else
            TRY(template_apply_filter(render, filter, list->items[i], &rest, &item));
        if (has_attribute && has_other && item.kind == TEMPLATE_UNDEFINED) item = other;
        TRY(list_push(render, mapped, item));
    }
    *out = value_list(mapped);
    return STATUS_OK;
}

// The items for which a test gives `wanted`; is_by_attribute: the test of an attribute, whose name
// is the first argument. Without a test the truth of the item (or attribute) counts.
static Status pick_items(Render *render, TemplateValue value, const Args *args,
                         bool is_by_attribute, bool wanted, TemplateValue *out) {
    TemplateList *list, *picked = list_create(render);
    TemplateValue attribute = value_none();
    size_t test_index = is_by_attribute ? 1 : 0;
    if (is_by_attribute && !args_find(args, 0, "attr", &attribute))
        return render_error(render, "the name of an attribute is missing");
    int test = -1;
    if (args->count > test_index)
        TRY(find_by_name(render, args, test_index, "test", template_find_test, &test));
    TRY(elements_or_none(render, value, &list));
    Args rest = args_from(args, test_index + 1);
    for (size_t i = 0; i < list->count; i++) {
        TemplateValue item = list->items[i];
        if (is_by_attribute) TRY(get_attribute(render, item, attribute, &item));
        bool is_picked = value_is_true(item);
        if (test >= 0) TRY(template_apply_test(render, test, item, &rest, &is_picked));
        if (is_picked == wanted) TRY(list_push(render, picked, list->items[i]));
    }
    *out = value_list(picked);
    return render_step(render, list->count);
}

static Status filter_select(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    return pick_items(render, value, args, false, true, out);
}
static Status filter_reject(Render *render, TemplateValue value, const Args *args,
                            TemplateValue *out) {
    return pick_items(render, value, args, false, false, out);
}
static Status filter_selectattr(Render *render, TemplateValue value, const Args *args,
                                TemplateValue *out) {
    return pick_items(render, value, args, true, true, out);
}
static Status filter_rejectattr(Render *render, TemplateValue value, const Args *args,
                                TemplateValue *out) {
    return pick_items(render, value, args, true, false, out);
}

// ---------------------------------------------------------------- the table

static TemplateFilter *const FILTERS[] = {
#define TEMPLATE_FILTER(name, function) function,
#include "text/template.def"
#undef TEMPLATE_FILTER
};

Status template_apply_filter(Render *render, int filter, TemplateValue value, const Args *args,
                             TemplateValue *out) {
    // A result may be the same object as the argument.
    TemplateValue result = value_none();
    TRY(FILTERS[filter](render, value, args, &result));
    *out = result;
    return STATUS_OK;
}
