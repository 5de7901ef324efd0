// Evaluates the expressions of templates.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/template_internal.h"

Status render_error(Render *render, const char *fmt, ...) {
    StrBuf message = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&message, fmt, args);
    va_end(args);
    Status status = template_error(render->parsed, render->sink, DIAG_T0023, render->at->line,
                                   render->at->col, "%s", message.data);
    strbuf_deinit(&message);
    return status;
}

Status render_step(Render *render, size_t work) {
    render->num_steps += work;
    bool has_steps = render->num_steps < TEMPLATE_MAX_STEPS;
    if (has_steps && render->arena.used_bytes < TEMPLATE_MAX_MEMORY_BYTES) return STATUS_OK;
    return template_error(render->parsed, render->sink, DIAG_T0022, render->at->line,
                          render->at->col, "rendering takes too much %s",
                          has_steps ? "memory" : "work or writes too much");
}

// ---------------------------------------------------------------- names and attributes

static TemplateValue find_name(const Scope *scope, const char *name) {
    for (; scope; scope = scope->parent)
        for (size_t i = scope->count; i-- > 0;)
            if (scope->variables[i].name == name) return scope->variables[i].value;
    int function = template_find_function(name);
    if (function >= 0) return (TemplateValue){.kind = TEMPLATE_FUNCTION, .function = function};
    return value_undefined(name);
}

static TemplateValue loop_attr(Render *render, TemplateLoop *loop, const char *name) {
    const TemplateList *items = loop->items;
    int64_t index = (int64_t)loop->index, count = (int64_t)items->count;
    if (str_equal(name, "index")) return value_int(index + 1);
    if (str_equal(name, "index0")) return value_int(index);
    if (str_equal(name, "first")) return value_bool(index == 0);
    if (str_equal(name, "last")) return value_bool(index + 1 == count);
    if (str_equal(name, "length")) return value_int(count);
    if (str_equal(name, "revindex")) return value_int(count - index);
    if (str_equal(name, "revindex0")) return value_int(count - index - 1);
    if (str_equal(name, "depth")) return value_int(1); // counts recursive loops, which do not exist
    if (str_equal(name, "depth0")) return value_int(0);
    if (str_equal(name, "previtem"))
        return index ? items->items[index - 1] : value_undefined("loop.previtem");
    if (str_equal(name, "nextitem"))
        return index + 1 < count ? items->items[index + 1] : value_undefined("loop.nextitem");
    return value_undefined(arena_strdup(&render->arena, name));
}

static bool find_method(Render *render, TemplateValue object, const char *name,
                        TemplateValue *out) {
    int index = template_find_method(name);
    if (index < 0 || !template_method_fits(index, object.kind)) return false;
    TemplateMethod *method = ARENA_NEW(&render->arena, TemplateMethod);
    *method = (TemplateMethod){object, index};
    *out = (TemplateValue){.kind = TEMPLATE_METHOD, .method = method};
    return true;
}

// object.name: methods first, then entries.
TemplateValue value_attr(Render *render, TemplateValue object, const char *name) {
    TemplateValue method;
    if (find_method(render, object, name, &method)) return method;
    const TemplateValue *found = NULL;
    if (object.kind == TEMPLATE_DICT || object.kind == TEMPLATE_NAMESPACE)
        found = dict_find_text(object.dict, name);
    if (object.kind == TEMPLATE_LOOP) return loop_attr(render, object.loop, name);
    return found ? *found : value_undefined(arena_strdup(&render->arena, name));
}

static Status want_defined(Render *render, TemplateValue value) {
    if (value.kind != TEMPLATE_UNDEFINED) return STATUS_OK;
    return render_error(render, "\"%s\" is undefined", value.name ? value.name : "this value");
}

// Byte offset of character number `index` of str, which has at least that many.
static size_t char_offset(const TemplateString *str, int64_t index) {
    size_t pos = 0;
    for (; index > 0 && pos < str->len; index--)
        pos += utf8_step(str->text + pos, str->len - pos).num_bytes;
    return pos;
}

static Status item_at(Render *render, TemplateValue object, int64_t index, TemplateValue *out) {
    bool is_string = object.kind == TEMPLATE_STRING;
    int64_t count = is_string ? (int64_t)string_num_chars(object.str) : (int64_t)object.list->count;
    if (index < 0) index += count;
    *out = value_undefined("an item outside of the list");
    if (index < 0 || index >= count) return STATUS_OK;
    if (!is_string) {
        *out = object.list->items[index];
        return STATUS_OK;
    }
    size_t start = char_offset(object.str, index), len = char_offset(object.str, index + 1) - start;
    *out = value_slice_text(&render->arena, object.str, start, len);
    return render_step(render, object.str->len / 16);
}

// object[key]: entries first, then methods.
Status value_item(Render *render, TemplateValue object, TemplateValue key, TemplateValue *out) {
    int64_t index;
    TRY(want_defined(render, object));
    if (object.kind == TEMPLATE_DICT) {
        const TemplateValue *found = dict_find(object.dict, key);
        TRY(render_step(render, object.dict->count / 16));
        if (found) {
            *out = *found;
            return STATUS_OK;
        }
    }
    if ((value_is_list(object) || object.kind == TEMPLATE_STRING) && value_is_integer(key, &index))
        return item_at(render, object, index, out);
    if (key.kind != TEMPLATE_STRING) {
        *out = value_undefined("an item");
        return STATUS_OK;
    }
    char *name = arena_alloc(&render->arena, key.str->len + 1, 1);
    if (key.str->len) memcpy(name, key.str->text, key.str->len);
    *out = value_attr(render, object, name);
    return STATUS_OK;
}

// ---------------------------------------------------------------- slices

typedef struct Slice {
    int64_t start, stop, step;
} Slice;

// One bound as Python adjusts it: negative counts from the end, outside means the border.
static int64_t clamp_bound(int64_t bound, int64_t count, int64_t step) {
    if (bound < 0) bound += count;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? count - 1 : count;
    return bound < low ? low : bound > high ? high : bound;
}

static Status eval_bound(Render *render, Scope *scope, const Node *node, int64_t *out,
                         bool *out_given) {
    TemplateValue value = value_none();
    if (node) TRY(template_eval(render, scope, node, &value));
    *out_given = value.kind != TEMPLATE_NONE;
    if (!*out_given || value_is_integer(value, out)) return STATUS_OK;
    return render_error(render, "a bound of a slice is %s", value_kind_name(value));
}

static Status eval_slice(Render *render, Scope *scope, const Node *node, int64_t count,
                         Slice *out) {
    bool has_start, has_stop, has_step;
    *out = (Slice){.step = 1};
    TRY(eval_bound(render, scope, node->b, &out->start, &has_start));
    TRY(eval_bound(render, scope, node->c, &out->stop, &has_stop));
    TRY(eval_bound(render, scope, node->d, &out->step, &has_step));
    if (out->step == 0) return render_error(render, "the step of a slice is 0");
    if (out->step < -count - 1) out->step = -count - 1; // beyond every item: the same, no overflow
    if (out->step > count + 1) out->step = count + 1;
    bool is_down = out->step < 0;
    out->start = has_start ? clamp_bound(out->start, count, out->step) : is_down ? count - 1 : 0;
    out->stop = has_stop ? clamp_bound(out->stop, count, out->step) : is_down ? -1 : count;
    return STATUS_OK;
}

static bool slice_has(const Slice *slice, int64_t i) {
    return slice->step > 0 ? i < slice->stop : i > slice->stop;
}

static Status slice_value(Render *render, Scope *scope, const Node *node, TemplateValue object,
                          TemplateValue *out) {
    Slice slice;
    TemplateList *items = NULL, *picked = list_create(render);
    if (object.kind != TEMPLATE_STRING && !value_is_list(object)) {
        *out = value_undefined("a slice");
        return want_defined(render, object);
    }
    TRY(value_elements(render, object, &items));
    TRY(eval_slice(render, scope, node, (int64_t)items->count, &slice));
    for (int64_t i = slice.start; slice_has(&slice, i); i += slice.step)
        TRY(list_push(render, picked, items->items[i]));
    *out = (TemplateValue){.kind = object.kind, .list = picked};
    if (object.kind != TEMPLATE_STRING) return STATUS_OK;
    TextBuilder builder = {0};
    for (size_t i = 0; i < picked->count; i++)
        builder_put_string(&builder, picked->items[i].str, 0, picked->items[i].str->len);
    *out = value_with_safety(&render->arena, builder_take(&render->arena, &builder),
                             object.str->is_safe);
    builder_deinit(&builder);
    return STATUS_OK;
}

// ---------------------------------------------------------------- arithmetic

static void put_escaped(TextBuilder *builder, const TemplateString *str) {
    static const char from[] = "&<>'\"";
    static const char *const to[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    for (size_t i = 0; i < str->len; i++) {
        const char *found = memchr(from, str->text[i], sizeof from - 1);
        if (!found)
            builder_put_string(builder, str, i, 1);
        else
            builder_put(builder, to[found - from], strlen(to[found - from]),
                        str->marks ? str->marks[i] : 0);
    }
}

// Beside a safe string another one is escaped.
static Status add_strings(Render *render, const TemplateString *a, const TemplateString *b,
                          TemplateValue *out) {
    TextBuilder builder = {0};
    bool is_safe = a->is_safe || b->is_safe;
    if (is_safe && !a->is_safe)
        put_escaped(&builder, a);
    else
        builder_put_string(&builder, a, 0, a->len);
    if (is_safe && !b->is_safe)
        put_escaped(&builder, b);
    else
        builder_put_string(&builder, b, 0, b->len);
    *out = value_with_safety(&render->arena, builder_take(&render->arena, &builder), is_safe);
    builder_deinit(&builder);
    return render_step(render, out->str->len > TEMPLATE_MAX_OUTPUT_BYTES ? TEMPLATE_MAX_STEPS : 1);
}

static Status add_lists(Render *render, TemplateValue a, TemplateValue b, TemplateValue *out) {
    TemplateList *list = list_create(render);
    for (size_t i = 0; i < a.list->count; i++) TRY(list_push(render, list, a.list->items[i]));
    for (size_t i = 0; i < b.list->count; i++) TRY(list_push(render, list, b.list->items[i]));
    *out = (TemplateValue){.kind = a.kind, .list = list};
    return STATUS_OK;
}

// A string or list `count` times.
static Status repeat(Render *render, TemplateValue value, int64_t count, TemplateValue *out) {
    TemplateList *list = list_create(render);
    TextBuilder builder = {0};
    Status status = STATUS_OK;
    for (int64_t n = 0; status == STATUS_OK && n < count; n++) {
        if (value.kind == TEMPLATE_STRING) {
            builder_put_string(&builder, value.str, 0, value.str->len);
            bool is_over = builder.text.len > TEMPLATE_MAX_OUTPUT_BYTES;
            status = render_step(render, is_over ? TEMPLATE_MAX_STEPS : 1);
            continue;
        }
        status = render_step(render, 1);
        for (size_t i = 0; status == STATUS_OK && i < value.list->count; i++)
            status = list_push(render, list, value.list->items[i]);
    }
    if (status == STATUS_OK)
        *out = value.kind == TEMPLATE_STRING ? builder_take(&render->arena, &builder)
                                             : (TemplateValue){.kind = value.kind, .list = list};
    if (status == STATUS_OK && value.kind == TEMPLATE_STRING)
        *out = value_with_safety(&render->arena, *out, value.str->is_safe);
    builder_deinit(&builder);
    return status;
}

static bool power(int64_t base, int64_t exponent, int64_t *out) {
    *out = 1;
    if (base == 0 || base == 1 || base == -1) {
        *out = exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base;
        return true;
    }
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(*out, base, out)) return false;
    return true;
}

// Python's: the quotient is rounded down, the rest has the sign of the divisor.
static bool integer_op(Operator op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case OP_ADD: return !__builtin_add_overflow(a, b, out);
    case OP_SUB: return !__builtin_sub_overflow(a, b, out);
    case OP_MUL: return !__builtin_mul_overflow(a, b, out);
    case OP_FLOORDIV:
        if (a == INT64_MIN && b == -1) return false;
        *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
        return true;
    case OP_MOD:
        if (b == -1) {
            *out = 0;
            return true;
        }
        *out = a % b;
        if (*out && (*out < 0) != (b < 0)) *out += b;
        return true;
    case OP_POW: return power(a, b, out);
    default: return false;
    }
}

static double float_op(Operator op, double a, double b) {
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_FLOORDIV: return floor(a / b);
    case OP_MOD: {
        double rest = fmod(a, b);
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case OP_POW: return pow(a, b);
    default: return NAN;
    }
}

static Status eval_arithmetic(Render *render, Operator op, TemplateValue a, TemplateValue b,
                              TemplateValue *out) {
    int64_t i, k, whole;
    double x, y;
    TRY(want_defined(render, a));
    TRY(want_defined(render, b));
    if (op == OP_ADD && a.kind == TEMPLATE_STRING && b.kind == TEMPLATE_STRING)
        return add_strings(render, a.str, b.str, out);
    if (op == OP_ADD && value_is_list(a) && a.kind == b.kind) return add_lists(render, a, b, out);
    bool a_repeats = a.kind == TEMPLATE_STRING || value_is_list(a);
    bool b_repeats = b.kind == TEMPLATE_STRING || value_is_list(b);
    if (op == OP_MUL && a_repeats && value_is_integer(b, &k)) return repeat(render, a, k, out);
    if (op == OP_MUL && b_repeats && value_is_integer(a, &i)) return repeat(render, b, i, out);
    if (!value_is_number(a, &x) || !value_is_number(b, &y))
        return render_error(render, "this operation is not possible with %s and %s",
                            value_kind_name(a), value_kind_name(b));
    if ((op == OP_DIV || op == OP_FLOORDIV || op == OP_MOD) && y == 0)
        return render_error(render, "division by zero");
    bool is_whole = value_is_integer(a, &i) && value_is_integer(b, &k) && op != OP_DIV &&
                    !(op == OP_POW && y < 0);
    if (is_whole && !integer_op(op, i, k, &whole))
        return render_error(render, "the result does not fit in 64 bits");
    *out = is_whole ? value_int(whole) : value_float(float_op(op, x, y));
    return STATUS_OK;
}

// ---------------------------------------------------------------- comparisons

static Status contains(Render *render, TemplateValue item, TemplateValue in, bool *out) {
    if (in.kind == TEMPLATE_STRING) {
        if (item.kind != TEMPLATE_STRING)
            return render_error(render, "%s cannot be in a string", value_kind_name(item));
        *out = string_find(in.str, item.str, 0) != SIZE_MAX;
        return render_step(render, in.str->len / 16);
    }
    if (in.kind == TEMPLATE_DICT) {
        *out = dict_find(in.dict, item) != NULL;
        return render_step(render, in.dict->count / 16);
    }
    if (!value_is_list(in) && in.kind != TEMPLATE_UNDEFINED)
        return render_error(render, "%s cannot contain anything", value_kind_name(in));
    *out = false;
    for (size_t i = 0; value_is_list(in) && i < in.list->count && !*out; i++)
        *out = value_equal(in.list->items[i], item, 0);
    return value_is_list(in) ? render_step(render, in.list->count / 16) : STATUS_OK;
}

Status value_compare(Render *render, Operator op, TemplateValue a, TemplateValue b, bool *out) {
    int order;
    if (a.kind == TEMPLATE_STRING) TRY(render_step(render, a.str->len / 64));
    switch (op) {
    case OP_EQ: *out = value_equal(a, b, 0); return STATUS_OK;
    case OP_NE: *out = !value_equal(a, b, 0); return STATUS_OK;
    case OP_IN: return contains(render, a, b, out);
    case OP_NOT_IN:
        TRY(contains(render, a, b, out));
        *out = !*out;
        return STATUS_OK;
    default: break;
    }
    TRY(want_defined(render, a));
    TRY(want_defined(render, b));
    if (!value_order(a, b, &order))
        return render_error(render, "%s and %s cannot be compared", value_kind_name(a),
                            value_kind_name(b));
    *out = op == OP_LT   ? order == -1
           : op == OP_LE ? order == -1 || order == 0
           : op == OP_GT ? order == 1
                         : order == 1 || order == 0;
    return STATUS_OK;
}

// a < b < c: every operand is evaluated once, until a comparison fails.
static Status eval_compare(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue left, right;
    bool holds = true;
    TRY(template_eval(render, scope, node->a, &left));
    for (const Node *link = node->list; link && holds; link = link->next) {
        TRY(template_eval(render, scope, link->a, &right));
        render->at = node;
        TRY(value_compare(render, (Operator)link->op, left, right, &holds));
        left = right;
    }
    *out = value_bool(holds);
    return STATUS_OK;
}

// ---------------------------------------------------------------- the rest

static Status eval_items(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateList *list = list_create(render);
    for (const Node *item = node->list; item; item = item->next) {
        TemplateValue value;
        TRY(template_eval(render, scope, item, &value));
        TRY(list_push(render, list, value));
    }
    *out = (TemplateValue){.kind = node->kind == NODE_TUPLE ? TEMPLATE_TUPLE : TEMPLATE_LIST,
                           .list = list};
    return STATUS_OK;
}

static Status eval_dict(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue dict = template_dict(&render->arena);
    for (const Node *item = node->list; item; item = item->next->next) {
        TemplateValue key, value;
        TRY(template_eval(render, scope, item, &key));
        if (key.kind == TEMPLATE_LIST || key.kind == TEMPLATE_DICT)
            return render_error(render, "%s cannot be a key", value_kind_name(key));
        TRY(template_eval(render, scope, item->next, &value));
        TRY(render_step(render, 1 + dict.dict->count / 4));
        template_dict_set(&render->arena, dict, key, value);
    }
    *out = dict;
    return STATUS_OK;
}

static Status eval_concat(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TextBuilder builder = {0};
    Status status = STATUS_OK;
    for (const Node *item = node->list; status == STATUS_OK && item; item = item->next) {
        TemplateValue value;
        status = template_eval(render, scope, item, &value);
        if (status == STATUS_OK) status = value_print(render, value, &builder);
    }
    if (status == STATUS_OK) *out = builder_take(&render->arena, &builder);
    builder_deinit(&builder);
    return status;
}

static Status eval_sign(Render *render, const Node *node, TemplateValue value, TemplateValue *out) {
    int64_t i;
    TRY(want_defined(render, value));
    if (value_is_integer(value, &i) && i != INT64_MIN)
        *out = value_int(node->kind == NODE_NEGATE ? -i : i);
    else if (value.kind == TEMPLATE_FLOAT)
        *out = value_float(node->kind == NODE_NEGATE ? -value.f : value.f);
    else
        return render_error(render, "a sign before %s", value_kind_name(value));
    return STATUS_OK;
}

Status eval_args(Render *render, Scope *scope, const Node *list, Args *out) {
    size_t count = 0;
    for (const Node *arg = list; arg; arg = arg->next) count++;
    *out = (Args){ARENA_ARRAY(&render->arena, TemplateValue, count),
                  ARENA_ARRAY(&render->arena, const char *, count), 0};
    for (const Node *arg = list; arg; arg = arg->next) {
        out->names[out->count] = arg->keyword;
        TRY(template_eval(render, scope, arg, &out->values[out->count++]));
    }
    return STATUS_OK;
}

Status template_call(Render *render, TemplateValue callee, const Args *args, TemplateValue *out) {
    switch (callee.kind) {
    case TEMPLATE_MACRO: return template_call_macro(render, callee.macro, args, out);
    case TEMPLATE_METHOD: return template_apply_method(render, callee.method, args, out);
    case TEMPLATE_FUNCTION: return template_apply_function(render, callee.function, args, out);
    case TEMPLATE_UNDEFINED: return want_defined(render, callee);
    default: return render_error(render, "%s cannot be called", value_kind_name(callee));
    }
}

static Status eval_call(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue callee;
    Args args;
    TRY(template_eval(render, scope, node->a, &callee));
    TRY(eval_args(render, scope, node->list, &args));
    render->at = node;
    return template_call(render, callee, &args, out);
}

static Status eval_filter(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue value;
    Args args;
    TRY(template_eval(render, scope, node->a, &value));
    TRY(eval_args(render, scope, node->list, &args));
    render->at = node;
    return template_apply_filter(render, node->op, value, &args, out);
}

static Status eval_test(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue value;
    Args args;
    bool answer = false;
    TRY(template_eval(render, scope, node->a, &value));
    TRY(eval_args(render, scope, node->list, &args));
    render->at = node;
    TRY(template_apply_test(render, node->op, value, &args, &answer));
    *out = value_bool(answer);
    return STATUS_OK;
}

static Status eval_logic(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TRY(template_eval(render, scope, node->a, out));
    if (node->kind == NODE_NOT)
        *out = value_bool(!value_is_true(*out));
    else if (value_is_true(*out) == (node->kind == NODE_AND))
        return template_eval(render, scope, node->b, out);
    return STATUS_OK;
}

static Status eval_choice(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue condition;
    TRY(template_eval(render, scope, node->b, &condition));
    *out = value_undefined("the missing else of an inline if");
    const Node *chosen = value_is_true(condition) ? node->a : node->c;
    return chosen ? template_eval(render, scope, chosen, out) : STATUS_OK;
}

static Status eval_access(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue object, key;
    TRY(template_eval(render, scope, node->a, &object));
    render->at = node;
    TRY(want_defined(render, object));
    if (node->kind == NODE_ATTR) {
        *out = value_attr(render, object, node->name);
        return STATUS_OK;
    }
    if (node->b->kind == NODE_SLICE) return slice_value(render, scope, node->b, object, out);
    TRY(template_eval(render, scope, node->b, &key));
    render->at = node;
    return value_item(render, object, key, out);
}

static Status eval_node(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    TemplateValue a, b;
    switch (node->kind) {
    case NODE_CONST: *out = node->value; return STATUS_OK;
    case NODE_NAME: *out = find_name(scope, node->name); return STATUS_OK;
    case NODE_LIST:
    case NODE_TUPLE: return eval_items(render, scope, node, out);
    case NODE_DICT: return eval_dict(render, scope, node, out);
    case NODE_NEGATE:
    case NODE_PLUS:
        TRY(template_eval(render, scope, node->a, &a));
        return eval_sign(render, node, a, out);
    case NODE_NOT:
    case NODE_AND:
    case NODE_OR: return eval_logic(render, scope, node, out);
    case NODE_BINARY:
        TRY(template_eval(render, scope, node->a, &a));
        TRY(template_eval(render, scope, node->b, &b));
        render->at = node;
        return eval_arithmetic(render, (Operator)node->op, a, b, out);
    case NODE_COMPARE: return eval_compare(render, scope, node, out);
    case NODE_CONCAT: return eval_concat(render, scope, node, out);
    case NODE_CHOICE: return eval_choice(render, scope, node, out);
    case NODE_ATTR:
    case NODE_ITEM: return eval_access(render, scope, node, out);
    case NODE_CALL: return eval_call(render, scope, node, out);
    case NODE_FILTER: return eval_filter(render, scope, node, out);
    case NODE_TEST: return eval_test(render, scope, node, out);
    default: BUG("node %d is no expression", (int)node->kind);
    }
}

Status template_eval(Render *render, Scope *scope, const Node *node, TemplateValue *out) {
    const Node *outer = render->at;
    render->at = node;
    TRY(render_step(render, 1));
    if (++render->depth > 5 * TEMPLATE_MAX_DEPTH)
        return template_error(render->parsed, render->sink, DIAG_T0022, node->line, node->col,
                              "macros call each other more than %d deep", 5 * TEMPLATE_MAX_DEPTH);
    TRY(eval_node(render, scope, node, out));
    render->depth--;
    render->at = outer;
    return STATUS_OK;
}
