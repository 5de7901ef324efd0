// The methods of strings, dicts, lists and loops in templates, as Python's, and the functions.
#include <locale.h>
#include <string.h>
#include <utf8proc.h>

#include "text/template_internal.h"

typedef Status Method(Render *render, TemplateValue self, const Args *args, TemplateValue *out);

// ---------------------------------------------------------------- strings: cutting and joining

static Status strip(Render *render, TemplateValue self, const Args *args, StripSide side,
                    TemplateValue *out) {
    const TemplateString *chars = NULL;
    TRY(args_check(render, args, "strip", 0, 1, NULL));
    TRY(args_string(render, args, 0, NULL, &chars));
    *out = string_strip(render, self.str, chars, side);
    return render_step(render, self.str->len / 16);
}

static Status method_strip(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    return strip(render, self, args, STRIP_BOTH, out);
}
static Status method_lstrip(Render *render, TemplateValue self, const Args *args,
                            TemplateValue *out) {
    return strip(render, self, args, STRIP_LEFT, out);
}
static Status method_rstrip(Render *render, TemplateValue self, const Args *args,
                            TemplateValue *out) {
    return strip(render, self, args, STRIP_RIGHT, out);
}

static Status split(Render *render, TemplateValue self, const Args *args, bool from_right,
                    TemplateValue *out) {
    static const char *const names[] = {"sep", "maxsplit"};
    const TemplateString *separator = NULL;
    int64_t limit = -1;
    TRY(args_check(render, args, "split", 0, 2, names));
    TRY(args_string(render, args, 0, "sep", &separator));
    TRY(args_int(render, args, 1, "maxsplit", &limit));
    TemplateList *list = NULL;
    TRY(string_split(render, self.str, separator, limit, from_right, &list));
    *out = value_list(list);
    return render_step(render, self.str->len / 16);
}

static Status method_split(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    return split(render, self, args, false, out);
}
static Status method_rsplit(Render *render, TemplateValue self, const Args *args,
                            TemplateValue *out) {
    return split(render, self, args, true, out);
}

// Lines end at \n, \r, \r\n and the further separators of Python's splitlines.
static bool is_line_end(uint32_t c) {
    return (c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

static Status method_splitlines(Render *render, TemplateValue self, const Args *args,
                                TemplateValue *out) {
    static const char *const names[] = {"keepends"};
    TRY(args_check(render, args, "splitlines", 0, 1, names));
    TemplateValue keeps_ends = value_bool(false);
    (void)args_find(args, 0, "keepends", &keeps_ends);
    TemplateList *list = list_create(render);
    const TemplateString *str = self.str;
    for (size_t start = 0, pos = 0; start < str->len; start = pos) {
        size_t end = pos;
        Utf8Step step = {0};
        while (end < str->len) {
            step = utf8_step(str->text + end, str->len - end);
            if (is_line_end(step.code_point)) break;
            end += step.num_bytes;
        }
        pos = end < str->len ? end + step.num_bytes : end;
        if (step.code_point == '\r' && pos < str->len && str->text[pos] == '\n') pos++;
        size_t shown = value_is_true(keeps_ends) ? pos : end;
        TRY(list_push(render, list, value_slice_text(&render->arena, str, start, shown - start)));
    }
    *out = value_list(list);
    return render_step(render, str->len / 16);
}

static Status method_join(Render *render, TemplateValue self, const Args *args,
                          TemplateValue *out) {
    TRY(args_check(render, args, "join", 1, 1, NULL));
    TemplateList *list;
    TRY(value_elements(render, args->values[0], &list));
    TextBuilder builder = {0};
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < list->count; i++) {
        if (i) builder_put_string(&builder, self.str, 0, self.str->len);
        if (list->items[i].kind != TEMPLATE_STRING)
            status = render_error(render, "join with %s", value_kind_name(list->items[i]));
        else
            status = value_print(render, list->items[i], &builder);
    }
    if (status == STATUS_OK) *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return status;
}

static Status method_replace(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    static const char *const names[] = {"old", "new", "count"};
    const TemplateString *old = NULL, *new_text = NULL;
    int64_t limit = -1;
    TRY(args_check(render, args, "replace", 2, 3, names));
    TRY(args_string(render, args, 0, "old", &old));
    TRY(args_string(render, args, 1, "new", &new_text));
    TRY(args_int(render, args, 2, "count", &limit));
    if (!old || !new_text) return render_error(render, "replace needs two strings");
    return string_replace(render, self.str, old, new_text, limit, out);
}

// ---------------------------------------------------------------- strings: asking

// Does the text at its beginning (or end) agree with part?
static bool has_affix(const TemplateString *str, const TemplateString *part, bool at_end) {
    if (part->len > str->len) return false;
    return memcmp(str->text + (at_end ? str->len - part->len : 0), part->text, part->len) == 0;
}

static Status ask_affix(Render *render, TemplateValue self, const Args *args, bool at_end,
                        TemplateValue *out) {
    TRY(args_check(render, args, at_end ? "endswith" : "startswith", 1, 1, NULL));
    TemplateValue part = args->values[0];
    TemplateList one = {.items = &part, .count = 1};
    const TemplateList *parts = part.kind == TEMPLATE_TUPLE ? part.list : &one;
    *out = value_bool(false);
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].kind != TEMPLATE_STRING)
            return render_error(render, "the argument is %s, not a string",
                                value_kind_name(parts->items[i]));
        if (has_affix(self.str, parts->items[i].str, at_end)) *out = value_bool(true);
    }
    return STATUS_OK;
}

static Status method_startswith(Render *render, TemplateValue self, const Args *args,
                                TemplateValue *out) {
    return ask_affix(render, self, args, false, out);
}
static Status method_endswith(Render *render, TemplateValue self, const Args *args,
                              TemplateValue *out) {
    return ask_affix(render, self, args, true, out);
}

static Status remove_affix(Render *render, TemplateValue self, const Args *args, bool at_end,
                           TemplateValue *out) {
    const TemplateString *part = NULL, *str = self.str;
    TRY(args_check(render, args, "removeprefix or removesuffix", 1, 1, NULL));
    TRY(args_string(render, args, 0, NULL, &part));
    if (!part) return render_error(render, "the argument is none, not a string");
    size_t cut = has_affix(str, part, at_end) ? part->len : 0;
    *out = value_slice_text(&render->arena, str, at_end ? 0 : cut, str->len - cut);
    return STATUS_OK;
}

static Status method_removeprefix(Render *render, TemplateValue self, const Args *args,
                                  TemplateValue *out) {
    return remove_affix(render, self, args, false, out);
}
static Status method_removesuffix(Render *render, TemplateValue self, const Args *args,
                                  TemplateValue *out) {
    return remove_affix(render, self, args, true, out);
}

// Characters before the byte offset.
static int64_t chars_before(const TemplateString *str, size_t offset) {
    return (int64_t)string_num_chars(&(TemplateString){.text = str->text, .len = offset});
}

static Status find(Render *render, TemplateValue self, const Args *args, bool from_right,
                   int64_t *out) {
    const TemplateString *part = NULL;
    TRY(args_check(render, args, "find", 1, 1, NULL));
    TRY(args_string(render, args, 0, NULL, &part));
    if (!part) return render_error(render, "the argument is none, not a string");
    TRY(render_step(render, self.str->len / 16));
    size_t found = string_find(self.str, part, 0);
    if (from_right && found != SIZE_MAX && part->len == 0) found = self.str->len;
    while (from_right && part->len && found != SIZE_MAX) {
        size_t next = string_find(self.str, part, found + 1);
        if (next == SIZE_MAX) break;
        TRY(render_step(render, 1));
        found = next;
    }
    *out = found == SIZE_MAX ? -1 : chars_before(self.str, found);
    return STATUS_OK;
}

static Status method_find(Render *render, TemplateValue self, const Args *args,
                          TemplateValue *out) {
    *out = value_int(0);
    return find(render, self, args, false, &out->i);
}
static Status method_rfind(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    *out = value_int(0);
    return find(render, self, args, true, &out->i);
}

static Status method_index(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    *out = value_int(-1);
    TRY(args_check(render, args, "index", 1, 1, NULL));
    if (self.kind == TEMPLATE_STRING)
        TRY(find(render, self, args, false, &out->i));
    else
        for (size_t i = 0; i < self.list->count && out->i < 0; i++)
            if (value_equal(self.list->items[i], args->values[0], 0)) out->i = (int64_t)i;
    return out->i >= 0 ? STATUS_OK : render_error(render, "index: not found");
}

static Status method_count(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    *out = value_int(0);
    TRY(args_check(render, args, "count", 1, 1, NULL));
    if (self.kind != TEMPLATE_STRING) {
        for (size_t i = 0; i < self.list->count; i++)
            out->i += value_equal(self.list->items[i], args->values[0], 0);
        return render_step(render, self.list->count);
    }
    const TemplateString *part = NULL;
    TRY(args_string(render, args, 0, NULL, &part));
    if (!part) return render_error(render, "the argument is none, not a string");
    if (!part->len) *out = value_int((int64_t)string_num_chars(self.str) + 1);
    for (size_t pos = 0; part->len && (pos = string_find(self.str, part, pos)) != SIZE_MAX;
         pos += part->len)
        out->i++;
    return render_step(render, self.str->len / 16);
}

typedef enum CharClass { CLASS_ALPHA, CLASS_DIGIT, CLASS_ALNUM, CLASS_SPACE } CharClass;

static bool char_is(uint32_t c, CharClass wanted) {
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    bool is_alpha = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    bool is_digit = category == UTF8PROC_CATEGORY_ND;
    switch (wanted) {
    case CLASS_ALPHA: return is_alpha;
    case CLASS_DIGIT: return is_digit;
    case CLASS_ALNUM: return is_alpha || is_digit;
    case CLASS_SPACE: return char_is_space(c);
    }
    return false;
}

static Status ask_chars(Render *render, TemplateValue self, const Args *args, CharClass wanted,
                        TemplateValue *out) {
    TRY(args_check(render, args, "this method", 0, 0, NULL));
    bool is_all = self.str->len > 0;
    for (size_t pos = 0; is_all && pos < self.str->len;) {
        Utf8Step step = utf8_step(self.str->text + pos, self.str->len - pos);
        is_all = char_is(step.code_point, wanted);
        pos += step.num_bytes;
    }
    *out = value_bool(is_all);
    return render_step(render, self.str->len / 16);
}

static Status method_isalpha(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    return ask_chars(render, self, args, CLASS_ALPHA, out);
}
static Status method_isdigit(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    return ask_chars(render, self, args, CLASS_DIGIT, out);
}
static Status method_isalnum(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    return ask_chars(render, self, args, CLASS_ALNUM, out);
}
static Status method_isspace(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    return ask_chars(render, self, args, CLASS_SPACE, out);
}

// At least one letter with case, and none of the other case.
static Status ask_case(Render *render, TemplateValue self, const Args *args,
                       utf8proc_category_t wanted, TemplateValue *out) {
    TRY(args_check(render, args, "this method", 0, 0, NULL));
    bool has_wanted = false, has_other = false;
    for (size_t pos = 0; pos < self.str->len;) {
        Utf8Step step = utf8_step(self.str->text + pos, self.str->len - pos);
        utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)step.code_point);
        has_wanted |= category == wanted;
        has_other |= category != wanted && category >= UTF8PROC_CATEGORY_LU &&
                     category <= UTF8PROC_CATEGORY_LT;
        pos += step.num_bytes;
    }
    *out = value_bool(has_wanted && !has_other);
    return render_step(render, self.str->len / 16);
}

static Status method_isupper(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    return ask_case(render, self, args, UTF8PROC_CATEGORY_LU, out);
}
static Status method_islower(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    return ask_case(render, self, args, UTF8PROC_CATEGORY_LL, out);
}

static Status change_case(Render *render, TemplateValue self, const Args *args, CaseChange change,
                          TemplateValue *out) {
    TRY(args_check(render, args, "this method", 0, 0, NULL));
    *out = string_change_case(render, self.str, change);
    return render_step(render, self.str->len / 16);
}

static Status method_upper(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    return change_case(render, self, args, CASE_UPPER, out);
}
static Status method_lower(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    return change_case(render, self, args, CASE_LOWER, out);
}
static Status method_capitalize(Render *render, TemplateValue self, const Args *args,
                                TemplateValue *out) {
    return change_case(render, self, args, CASE_CAPITALIZE, out);
}
static Status method_title(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    return change_case(render, self, args, CASE_TITLE, out);
}

// ---------------------------------------------------------------- strings: format

// One replacement field of str.format between its braces: empty, a number or a name.
static Status put_field(Render *render, const TemplateString *str, size_t start, size_t end,
                        const Args *args, size_t *next, TextBuilder *builder) {
    TemplateValue value;
    char name[64] = "";
    size_t len = end - start, index = SIZE_MAX;
    if (len < sizeof name) memcpy(name, str->text + start, len);
    bool is_number = len > 0 && len < 4 && strspn(name, "0123456789") == len;
    if (len == 0) index = (*next)++;
    if (is_number) index = 0;
    for (const char *p = name; is_number && *p; p++) index = index * 10 + (size_t)(*p - '0');
    if (strpbrk(name, ":!.[") || len >= sizeof name)
        return render_error(render,
                            "format: only plain fields such as {} {0} {name} are supported");
    if (!args_find(args, index, name, &value) || (index != SIZE_MAX && index >= args->count))
        return render_error(render, "format: no argument for {%s}", name);
    return value_print(render, value, builder);
}

static Status put_format(Render *render, const TemplateString *str, const Args *args,
                         TextBuilder *builder) {
    size_t next = 0;
    for (size_t pos = 0; pos < str->len; pos++) {
        char c = str->text[pos];
        bool is_double = pos + 1 < str->len && str->text[pos + 1] == c;
        if ((c != '{' && c != '}') || is_double) {
            builder_put_string(builder, str, pos, 1);
            if (c == '{' || c == '}') pos++;
            continue;
        }
        const char *end = c == '{' ? memchr(str->text + pos, '}', str->len - pos) : NULL;
        if (!end) return render_error(render, "format: a brace stands alone");
        size_t end_pos = (size_t)(end - str->text);
        TRY(put_field(render, str, pos + 1, end_pos, args, &next, builder));
        pos = end_pos;
    }
    return render_step(render, str->len / 16);
}

static Status method_format(Render *render, TemplateValue self, const Args *args,
                            TemplateValue *out) {
    TextBuilder builder = {0};
    Status status = put_format(render, self.str, args, &builder);
    if (status == STATUS_OK) *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return status;
}

// ---------------------------------------------------------------- dicts, lists, loops

static Status method_get(Render *render, TemplateValue self, const Args *args, TemplateValue *out) {
    TRY(args_check(render, args, "get", 1, 2, NULL));
    const TemplateValue *found = dict_find(self.dict, args->values[0]);
    *out = found ? *found : args->count > 1 ? args->values[1] : value_none();
    return render_step(render, self.dict->count / 16);
}

static Status method_items(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    return template_apply_filter(render, template_find_filter("items"), self, args, out);
}

static Status method_keys(Render *render, TemplateValue self, const Args *args,
                          TemplateValue *out) {
    return template_apply_filter(render, template_find_filter("list"), self, args, out);
}

static Status method_values(Render *render, TemplateValue self, const Args *args,
                            TemplateValue *out) {
    TRY(args_check(render, args, "values", 0, 0, NULL));
    TemplateList *list = list_create(render);
    for (size_t i = 0; i < self.dict->count; i++)
        TRY(list_push(render, list, self.dict->entries[i].value));
    *out = value_list(list);
    return STATUS_OK;
}

// Values never change, so a copy is the value itself.
static Status method_copy(Render *render, TemplateValue self, const Args *args,
                          TemplateValue *out) {
    *out = self;
    return args_check(render, args, "copy", 0, 0, NULL);
}

static Status method_cycle(Render *render, TemplateValue self, const Args *args,
                           TemplateValue *out) {
    if (!args->count) return render_error(render, "cycle needs at least one value");
    *out = args->values[self.loop->index % args->count];
    return STATUS_OK;
}

static Status method_changed(Render *render, TemplateValue self, const Args *args,
                             TemplateValue *out) {
    TRY(args_check(render, args, "changed", 1, 1, NULL));
    TemplateLoop *loop = self.loop;
    *out = value_bool(!loop->has_changed || !value_equal(loop->changed, args->values[0], 0));
    loop->changed = args->values[0];
    loop->has_changed = true;
    return STATUS_OK;
}

static Method *const METHODS[] = {
#define TEMPLATE_METHOD(name, kinds, function) function,
#include "text/template.def"
#undef TEMPLATE_METHOD
};

Status template_apply_method(Render *render, const TemplateMethod *method, const Args *args,
                             TemplateValue *out) {
    TemplateValue result = value_none();
    static const char *const escaping[] = {"replace", "join", "format"};
    for (size_t i = 0; i < ARRAY_LEN(escaping); i++)
        if (method->self.kind == TEMPLATE_STRING && method->self.str->is_safe &&
            method->index == template_find_method(escaping[i]))
            return render_error(render, "the method \"%s\" of a safe string is not supported",
                                escaping[i]);
    TRY(METHODS[method->index](render, method->self, args, &result));
    *out = result;
    return STATUS_OK;
}

// ---------------------------------------------------------------- functions

static Status put_named(Render *render, const Args *args, size_t first, TemplateDict *dict) {
    for (size_t i = first; i < args->count; i++) {
        if (!args->names[i]) return render_error(render, "this function takes named arguments");
        template_dict_set(&render->arena, (TemplateValue){.kind = TEMPLATE_DICT, .dict = dict},
                          value_text(&render->arena, args->names[i]), args->values[i]);
    }
    return STATUS_OK;
}

// dict(...) and namespace(...): the entries of a dict, then named arguments.
static Status make_dict(Render *render, const Args *args, TemplateKind kind, TemplateValue *out) {
    *out = template_dict(&render->arena);
    bool has_source = args->count && !args->names[0];
    if (has_source && args->values[0].kind != TEMPLATE_DICT)
        return render_error(render, "the argument is %s, not a dict",
                            value_kind_name(args->values[0]));
    for (size_t i = 0; has_source && i < args->values[0].dict->count; i++) {
        TemplateEntry entry = args->values[0].dict->entries[i];
        template_dict_set(&render->arena, *out, entry.key, entry.value);
        TRY(render_step(render, 1 + i / 4));
    }
    TRY(put_named(render, args, has_source ? 1 : 0, out->dict));
    out->kind = kind;
    return STATUS_OK;
}

static Status function_dict(Render *render, const Args *args, TemplateValue *out) {
    return make_dict(render, args, TEMPLATE_DICT, out);
}
static Status function_namespace(Render *render, const Args *args, TemplateValue *out) {
    return make_dict(render, args, TEMPLATE_NAMESPACE, out);
}

static Status function_range(Render *render, const Args *args, TemplateValue *out) {
    int64_t start = 0, stop = 0, step = 1;
    TRY(args_check(render, args, "range", 1, 3, NULL));
    TRY(args_int(render, args, args->count > 1 ? 1 : 0, NULL, &stop));
    if (args->count > 1) TRY(args_int(render, args, 0, NULL, &start));
    TRY(args_int(render, args, 2, NULL, &step));
    if (step == 0) return render_error(render, "the step of range is 0");
    TemplateList *list = list_create(render);
    for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
        TRY(list_push(render, list, value_int(i)));
        if (__builtin_add_overflow(i, step, &i)) break;
    }
    *out = value_list(list);
    return STATUS_OK;
}

static Status function_raise_exception(Render *render, const Args *args, TemplateValue *out) {
    const TemplateString *message = NULL;
    *out = value_none();
    TRY(args_check(render, args, "raise_exception", 1, 1, NULL));
    TRY(value_to_string(render, args->values[0], &message));
    return template_error(render->parsed, render->sink, DIAG_T0024, render->at->line,
                          render->at->col, "%.*s", (int)MIN(message->len, (size_t)1000),
                          message->text);
}

static Status function_strftime_now(Render *render, const Args *args, TemplateValue *out) {
    const TemplateString *format = NULL;
    TRY(args_check(render, args, "strftime_now", 1, 1, NULL));
    TRY(args_string(render, args, 0, NULL, &format));
    if (!format) return render_error(render, "strftime_now needs a format");
    if (!render->now)
        return render_error(render, "the template asks for the date, which is not given");
    char copy[128], text[512];
    if (format->len >= sizeof copy)
        return render_error(render, "the format of the date is too long");
    memcpy(copy, format->text, format->len);
    copy[format->len] = '\0';
    // English names whatever the user's locale is: prompts must not depend on it.
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    BUG_IF(!plain, "there is no C locale");
    size_t len = strftime_l(text, sizeof text, copy, render->now, plain);
    freelocale(plain);
    *out = template_string(&render->arena, text, len, format->marks != NULL);
    return STATUS_OK;
}

static Status (*const FUNCTIONS[])(Render *render, const Args *args, TemplateValue *out) = {
#define TEMPLATE_FUNCTION(name, function) function,
#include "text/template.def"
#undef TEMPLATE_FUNCTION
};

Status template_apply_function(Render *render, int function, const Args *args, TemplateValue *out) {
    return FUNCTIONS[function](render, args, out);
}
