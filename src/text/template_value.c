// Values of templates: making, comparing, printing them as Python does.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "text/template_internal.h"

enum { MAX_VALUE_DEPTH = 64 };

// ---------------------------------------------------------------- making

static TemplateValue string_value(Arena *arena, TemplateString str) {
    return (TemplateValue){.kind = TEMPLATE_STRING,
                           .str = arena_memdup(arena, &str, 1, sizeof str)};
}

TemplateValue template_string(Arena *arena, const char *text, size_t len, bool is_user) {
    TemplateString str = {.len = len};
    char *copy = arena_alloc(arena, len + 1, 1);
    if (len) memcpy(copy, text, len);
    str.text = copy;
    if (is_user) {
        uint8_t *marks = arena_alloc(arena, len + 1, 1);
        memset(marks, 1, len);
        str.marks = marks;
    }
    return string_value(arena, str);
}

TemplateValue value_text(Arena *arena, const char *text) {
    return template_string(arena, text, strlen(text), false);
}

TemplateValue value_slice_text(Arena *arena, const TemplateString *str, size_t start, size_t len) {
    TemplateString slice = *str;
    slice.text += start;
    slice.len = len;
    if (slice.marks) slice.marks += start;
    return string_value(arena, slice);
}

TemplateValue value_with_safety(Arena *arena, TemplateValue string, bool is_safe) {
    TemplateString str = *string.str;
    str.is_safe = is_safe;
    return string_value(arena, str);
}

TemplateValue template_list(Arena *arena) {
    return (TemplateValue){.kind = TEMPLATE_LIST, .list = ARENA_NEW(arena, TemplateList)};
}

void template_list_add(Arena *arena, TemplateValue list, TemplateValue item) {
    TemplateList *l = list.list;
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 4;
        TemplateValue *items = ARENA_ARRAY(arena, TemplateValue, l->capacity);
        if (l->count) memcpy(items, l->items, l->count * sizeof *items);
        l->items = items;
    }
    l->items[l->count++] = item;
}

TemplateValue template_dict(Arena *arena) {
    return (TemplateValue){.kind = TEMPLATE_DICT, .dict = ARENA_NEW(arena, TemplateDict)};
}

void template_dict_set(Arena *arena, TemplateValue dict, TemplateValue key, TemplateValue value) {
    TemplateDict *d = dict.dict;
    for (size_t i = 0; i < d->count; i++) {
        if (!value_equal(d->entries[i].key, key, 0)) continue;
        d->entries[i].value = value;
        return;
    }
    if (d->count == d->capacity) {
        d->capacity = d->capacity ? d->capacity * 2 : 4;
        TemplateEntry *entries = ARENA_ARRAY(arena, TemplateEntry, d->capacity);
        if (d->count) memcpy(entries, d->entries, d->count * sizeof *entries);
        d->entries = entries;
    }
    d->entries[d->count++] = (TemplateEntry){key, value};
}

TemplateList *list_create(Render *render) {
    return ARENA_NEW(&render->arena, TemplateList);
}

Status list_push(Render *render, TemplateList *list, TemplateValue item) {
    template_list_add(&render->arena, value_list(list), item);
    return render_step(render, 1);
}

void template_output_deinit(TemplateOutput *output) {
    strbuf_deinit(&output->text);
    free(output->pieces);
    *output = (TemplateOutput){0};
}

// ---------------------------------------------------------------- asking

bool value_is_list(TemplateValue value) {
    return value.kind == TEMPLATE_LIST || value.kind == TEMPLATE_TUPLE;
}

bool value_is_true(TemplateValue value) {
    switch (value.kind) {
    case TEMPLATE_UNDEFINED:
    case TEMPLATE_NONE: return false;
    case TEMPLATE_BOOL: return value.b;
    case TEMPLATE_INT: return value.i != 0;
    case TEMPLATE_FLOAT: return value.f != 0;
    case TEMPLATE_STRING: return value.str->len != 0;
    case TEMPLATE_LIST:
    case TEMPLATE_TUPLE: return value.list->count != 0;
    case TEMPLATE_DICT: return value.dict->count != 0;
    case TEMPLATE_NAMESPACE:
    case TEMPLATE_LOOP:
    case TEMPLATE_MACRO:
    case TEMPLATE_METHOD:
    case TEMPLATE_FUNCTION: return true;
    }
    return false;
}

bool value_is_integer(TemplateValue value, int64_t *out) {
    if (value.kind != TEMPLATE_INT && value.kind != TEMPLATE_BOOL) return false;
    *out = value.kind == TEMPLATE_BOOL ? value.b : value.i;
    return true;
}

bool value_is_number(TemplateValue value, double *out) {
    int64_t i;
    if (value_is_integer(value, &i))
        *out = (double)i;
    else if (value.kind == TEMPLATE_FLOAT)
        *out = value.f;
    else
        return false;
    return true;
}

const char *value_kind_name(TemplateValue value) {
    static const char *const names[] = {
        "undefined", "none",   "a boolean",   "an integer", "a float", "a string", "a list",
        "a tuple",   "a dict", "a namespace", "a loop",     "a macro", "a method", "a function"};
    return names[value.kind];
}

bool string_is(const TemplateString *str, const char *text) {
    return str->len == strlen(text) && memcmp(str->text, text, str->len) == 0;
}

const TemplateValue *dict_find(const TemplateDict *dict, TemplateValue key) {
    for (size_t i = 0; i < dict->count; i++)
        if (value_equal(dict->entries[i].key, key, 0)) return &dict->entries[i].value;
    return NULL;
}

const TemplateValue *dict_find_text(const TemplateDict *dict, const char *key) {
    for (size_t i = 0; i < dict->count; i++)
        if (dict->entries[i].key.kind == TEMPLATE_STRING &&
            string_is(dict->entries[i].key.str, key))
            return &dict->entries[i].value;
    return NULL;
}

static bool lists_equal(const TemplateList *a, const TemplateList *b, size_t depth) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!value_equal(a->items[i], b->items[i], depth + 1)) return false;
    return true;
}

static bool dicts_equal(const TemplateDict *a, const TemplateDict *b, size_t depth) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        const TemplateValue *other = dict_find(b, a->entries[i].key);
        if (!other || !value_equal(a->entries[i].value, *other, depth + 1)) return false;
    }
    return true;
}

// Values nested deeper than any message has count as different.
bool value_equal(TemplateValue a, TemplateValue b, size_t depth) {
    int64_t i, k;
    double x, y;
    if (depth > MAX_VALUE_DEPTH) return false;
    if (value_is_integer(a, &i) && value_is_integer(b, &k)) return i == k;
    if (value_is_number(a, &x) && value_is_number(b, &y)) return x == y;
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case TEMPLATE_UNDEFINED:
    case TEMPLATE_NONE: return true;
    case TEMPLATE_STRING:
        return a.str->len == b.str->len && memcmp(a.str->text, b.str->text, a.str->len) == 0;
    case TEMPLATE_LIST:
    case TEMPLATE_TUPLE: return lists_equal(a.list, b.list, depth);
    case TEMPLATE_DICT: return dicts_equal(a.dict, b.dict, depth);
    case TEMPLATE_NAMESPACE: return a.dict == b.dict;
    case TEMPLATE_LOOP: return a.loop == b.loop;
    case TEMPLATE_MACRO: return a.macro == b.macro;
    case TEMPLATE_METHOD: return a.method == b.method;
    case TEMPLATE_FUNCTION: return a.function == b.function;
    default: return false;
    }
}

// -1, 0, 1. UTF-8 bytes sort as code points do.
static int order_bytes(const TemplateString *a, const TemplateString *b) {
    int order = memcmp(a->text, b->text, MIN(a->len, b->len));
    if (order) return order < 0 ? -1 : 1;
    return a->len < b->len ? -1 : a->len > b->len;
}

static bool order_lists(const TemplateList *a, const TemplateList *b, int *out_order) {
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (!value_equal(a->items[i], b->items[i], 0))
            return !value_is_list(a->items[i]) && value_order(a->items[i], b->items[i], out_order);
    *out_order = a->count < b->count ? -1 : a->count > b->count;
    return true;
}

bool value_order(TemplateValue a, TemplateValue b, int *out_order) {
    int64_t i, k;
    double x, y;
    if (value_is_integer(a, &i) && value_is_integer(b, &k)) {
        *out_order = i < k ? -1 : i > k;
        return true;
    }
    if (value_is_number(a, &x) && value_is_number(b, &y)) {
        *out_order = x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; // 2: with a NaN nothing holds
        return true;
    }
    if (a.kind != b.kind) return false;
    if (value_is_list(a)) return order_lists(a.list, b.list, out_order);
    if (a.kind != TEMPLATE_STRING) return false;
    *out_order = order_bytes(a.str, b.str);
    return true;
}

// ---------------------------------------------------------------- text under construction

void builder_put(TextBuilder *builder, const char *text, size_t len, uint8_t mark) {
    static const char marks[2][64] = {{0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    strbuf_append(&builder->text, text, len);
    for (size_t left = len; left;) {
        size_t part = MIN(left, sizeof marks[0]);
        strbuf_append(&builder->marks, marks[mark], part);
        left -= part;
    }
}

void builder_put_string(TextBuilder *builder, const TemplateString *str, size_t start, size_t len) {
    if (!str->marks) {
        builder_put(builder, str->text + start, len, 0);
        return;
    }
    strbuf_append(&builder->text, str->text + start, len);
    strbuf_append(&builder->marks, (const char *)str->marks + start, len);
}

TemplateValue builder_take(Arena *arena, TextBuilder *builder) {
    size_t len = builder->text.len;
    TemplateString str = {.len = len,
                          .text = len ? arena_memdup(arena, builder->text.data, len, 1) : ""};
    if (len && memchr(builder->marks.data, 1, len))
        str.marks = arena_memdup(arena, builder->marks.data, len, 1);
    strbuf_clear(&builder->text);
    strbuf_clear(&builder->marks);
    return string_value(arena, str);
}

void builder_deinit(TextBuilder *builder) {
    strbuf_deinit(&builder->text);
    strbuf_deinit(&builder->marks);
}

static void put_text(TextBuilder *builder, const char *text) {
    builder_put(builder, text, strlen(text), 0);
}

// ---------------------------------------------------------------- printing

// Python's repr: the shortest digits that read back as the same number.
void float_repr(double f, StrBuf *out) {
    if (isnan(f) || isinf(f)) {
        strbuf_puts(out, isnan(f) ? "nan" : f > 0 ? "inf" : "-inf");
        return;
    }
    char digits[40];
    int precision = 1;
    do {
        snprintf(digits, sizeof digits, "%.*e", precision - 1, f);
    } while (strtod(digits, NULL) != f && ++precision <= 17);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < -4 || exponent >= 16) {
        size_t mantissa_len = (size_t)(strchr(digits, 'e') - digits);
        strbuf_append(out, digits, mantissa_len);
        strbuf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    strbuf_printf(out, "%.*f", MAX(precision - 1 - exponent, 1), f);
}

static bool is_printable(uint32_t code_point) {
    if (code_point == ' ') return true;
    switch (utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
    }
}

// One character inside of the quotes of repr.
static void put_repr_char(TextBuilder *builder, const TemplateString *str, size_t pos,
                          Utf8Step step, char quote) {
    uint8_t mark = str->marks ? str->marks[pos] : 0;
    char escape[16] = "";
    uint32_t c = step.code_point;
    if (c == (uint32_t)quote || c == '\\')
        snprintf(escape, sizeof escape, "\\%c", (char)c);
    else if (c == '\n')
        snprintf(escape, sizeof escape, "\\n");
    else if (c == '\r')
        snprintf(escape, sizeof escape, "\\r");
    else if (c == '\t')
        snprintf(escape, sizeof escape, "\\t");
    else if (!is_printable(c))
        snprintf(escape, sizeof escape,
                 c < 0x100     ? "\\x%02x"
                 : c < 0x10000 ? "\\u%04x"
                               : "\\U%08x",
                 c);
    if (escape[0])
        builder_put(builder, escape, strlen(escape), mark);
    else
        builder_put(builder, str->text + pos, step.num_bytes, mark);
}

static void put_repr(TextBuilder *builder, const TemplateString *str) {
    bool has_single = str->len && memchr(str->text, '\'', str->len);
    bool has_double = str->len && memchr(str->text, '"', str->len);
    char quote = has_single && !has_double ? '"' : '\'';
    builder_put(builder, &quote, 1, 0);
    for (size_t pos = 0; pos < str->len;) {
        Utf8Step step = utf8_step(str->text + pos, str->len - pos);
        put_repr_char(builder, str, pos, step, quote);
        pos += step.num_bytes;
    }
    builder_put(builder, &quote, 1, 0);
}

static Status put_value(Render *render, TemplateValue value, TextBuilder *builder, bool is_repr,
                        size_t depth);

static Status put_list(Render *render, TemplateValue value, TextBuilder *builder, size_t depth) {
    bool is_tuple = value.kind == TEMPLATE_TUPLE;
    put_text(builder, is_tuple ? "(" : "[");
    for (size_t i = 0; i < value.list->count; i++) {
        if (i) put_text(builder, ", ");
        TRY(put_value(render, value.list->items[i], builder, true, depth + 1));
    }
    if (is_tuple && value.list->count == 1) put_text(builder, ",");
    put_text(builder, is_tuple ? ")" : "]");
    return STATUS_OK;
}

static Status put_dict(Render *render, const TemplateDict *dict, TextBuilder *builder,
                       size_t depth) {
    put_text(builder, "{");
    for (size_t i = 0; i < dict->count; i++) {
        if (i) put_text(builder, ", ");
        TRY(put_value(render, dict->entries[i].key, builder, true, depth + 1));
        put_text(builder, ": ");
        TRY(put_value(render, dict->entries[i].value, builder, true, depth + 1));
    }
    put_text(builder, "}");
    return STATUS_OK;
}

static Status put_value(Render *render, TemplateValue value, TextBuilder *builder, bool is_repr,
                        size_t depth) {
    if (depth > MAX_VALUE_DEPTH)
        return render_error(render, "a value is nested too deeply to print");
    TRY(render_step(render,
                    builder->text.len > TEMPLATE_MAX_OUTPUT_BYTES ? TEMPLATE_MAX_STEPS : 1));
    StrBuf text = {0};
    switch (value.kind) {
    case TEMPLATE_UNDEFINED: put_text(builder, is_repr ? "Undefined" : ""); break;
    case TEMPLATE_NONE: put_text(builder, "None"); break;
    case TEMPLATE_BOOL: put_text(builder, value.b ? "True" : "False"); break;
    case TEMPLATE_INT: strbuf_printf(&text, "%lld", (long long)value.i); break;
    case TEMPLATE_FLOAT: float_repr(value.f, &text); break;
    case TEMPLATE_STRING:
        TRY(render_step(render, value.str->len / 16));
        if (is_repr)
            put_repr(builder, value.str);
        else
            builder_put_string(builder, value.str, 0, value.str->len);
        break;
    case TEMPLATE_LIST:
    case TEMPLATE_TUPLE: return put_list(render, value, builder, depth);
    case TEMPLATE_DICT: return put_dict(render, value.dict, builder, depth);
    case TEMPLATE_NAMESPACE:
    case TEMPLATE_LOOP:
    case TEMPLATE_MACRO:
    case TEMPLATE_METHOD:
    case TEMPLATE_FUNCTION:
        return render_error(render, "%s cannot be printed", value_kind_name(value));
    }
    if (text.len) put_text(builder, text.data);
    strbuf_deinit(&text);
    return STATUS_OK;
}

Status value_print(Render *render, TemplateValue value, TextBuilder *builder) {
    return put_value(render, value, builder, false, 0);
}

Status value_to_string(Render *render, TemplateValue value, const TemplateString **out) {
    if (value.kind == TEMPLATE_STRING) {
        *out = value.str;
        return STATUS_OK;
    }
    TextBuilder builder = {0};
    Status status = value_print(render, value, &builder);
    if (status == STATUS_OK) *out = builder_take(&render->arena, &builder).str;
    builder_deinit(&builder);
    return status;
}

Status value_elements(Render *render, TemplateValue value, TemplateList **out) {
    TemplateList *list = list_create(render);
    switch (value.kind) {
    case TEMPLATE_UNDEFINED: break;
    case TEMPLATE_LIST:
    case TEMPLATE_TUPLE: *out = value.list; return STATUS_OK;
    case TEMPLATE_DICT:
        for (size_t i = 0; i < value.dict->count; i++)
            TRY(list_push(render, list, value.dict->entries[i].key));
        break;
    case TEMPLATE_STRING:
        for (size_t pos = 0; pos < value.str->len;) {
            size_t len = utf8_step(value.str->text + pos, value.str->len - pos).num_bytes;
            TRY(list_push(render, list, value_slice_text(&render->arena, value.str, pos, len)));
            pos += len;
        }
        break;
    default: return render_error(render, "%s has no elements to loop over", value_kind_name(value));
    }
    *out = list;
    return STATUS_OK;
}
