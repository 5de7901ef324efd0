// The filter tojson as Hugging Face transformers defines it: json.dumps(value, ensure_ascii=False,
// indent=None, separators=None, sort_keys=False) of Python.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/template_internal.h"

enum { MAX_JSON_DEPTH = 64 };

typedef struct JsonWriter {
    Render *render;
    TextBuilder builder;
    bool is_ascii, sorts_keys, has_indent;
    const TemplateString *item_separator, *key_separator, *indent;
} JsonWriter;

static void put(JsonWriter *writer, const char *text) {
    builder_put(&writer->builder, text, strlen(text), 0);
}

static void put_newline(JsonWriter *writer, size_t depth) {
    if (!writer->has_indent) return;
    put(writer, "\n");
    for (size_t i = 0; i < depth; i++)
        builder_put_string(&writer->builder, writer->indent, 0, writer->indent->len);
}

// The escape of a character, "" if it is written as it is.
static void json_escape(const JsonWriter *writer, uint32_t c, char *out, size_t size) {
    static const char FROM[] = "\"\\\n\r\t\f\b", TO[] = "\"\\nrtfb";
    const char *simple = c && c < 0x80 ? strchr(FROM, (int)c) : NULL;
    out[0] = '\0';
    if (simple)
        snprintf(out, size, "\\%c", TO[simple - FROM]);
    else if (c < 0x20 || (writer->is_ascii && c >= 0x80 && c < 0x10000))
        snprintf(out, size, "\\u%04x", c);
    else if (writer->is_ascii && c >= 0x10000)
        snprintf(out, size, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
                 0xDC00 + ((c - 0x10000) & 0x3FF));
}

static Status put_string(JsonWriter *writer, const TemplateString *str) {
    put(writer, "\"");
    for (size_t pos = 0; pos < str->len;) {
        Utf8Step step = utf8_step(str->text + pos, str->len - pos);
        char escape[16];
        json_escape(writer, step.code_point, escape, sizeof escape);
        if (escape[0])
            builder_put(&writer->builder, escape, strlen(escape), str->marks ? str->marks[pos] : 0);
        else
            builder_put_string(&writer->builder, str, pos, step.num_bytes);
        pos += step.num_bytes;
    }
    put(writer, "\"");
    return render_step(writer->render, str->len / 16);
}

static Status put_json(JsonWriter *writer, TemplateValue value, size_t depth);

static Status put_list(JsonWriter *writer, const TemplateList *list, size_t depth) {
    if (!list->count) {
        put(writer, "[]");
        return STATUS_OK;
    }
    put(writer, "[");
    for (size_t i = 0; i < list->count; i++) {
        if (i)
            builder_put_string(&writer->builder, writer->item_separator, 0,
                               writer->item_separator->len);
        put_newline(writer, depth + 1);
        TRY(put_json(writer, list->items[i], depth + 1));
    }
    put_newline(writer, depth);
    put(writer, "]");
    return STATUS_OK;
}

// A key as text: numbers, booleans and null become strings.
static Status put_key(JsonWriter *writer, TemplateValue key) {
    StrBuf text = {0};
    switch (key.kind) {
    case TEMPLATE_STRING: return put_string(writer, key.str);
    case TEMPLATE_NONE: strbuf_puts(&text, "\"null\""); break;
    case TEMPLATE_BOOL: strbuf_puts(&text, key.b ? "\"true\"" : "\"false\""); break;
    case TEMPLATE_INT: strbuf_printf(&text, "\"%lld\"", (long long)key.i); break;
    default:
        return render_error(writer->render, "%s cannot be a key in JSON", value_kind_name(key));
    }
    put(writer, text.data);
    strbuf_deinit(&text);
    return STATUS_OK;
}

static int compare_keys(const void *a, const void *b) {
    int order = 0;
    (void)value_order(((const TemplateEntry *)a)->key, ((const TemplateEntry *)b)->key, &order);
    return order;
}

static Status put_dict(JsonWriter *writer, const TemplateDict *dict, size_t depth) {
    if (!dict->count) {
        put(writer, "{}");
        return STATUS_OK;
    }
    const TemplateEntry *entries = dict->entries;
    if (writer->sorts_keys) {
        for (size_t i = 0; i < dict->count; i++)
            if (entries[i].key.kind != entries[0].key.kind)
                return render_error(writer->render, "keys of different kinds cannot be sorted");
        TemplateEntry *sorted =
            arena_memdup(&writer->render->arena, entries, dict->count, sizeof *entries);
        array_sort(sorted, dict->count, sizeof *sorted, compare_keys);
        entries = sorted;
    }
    put(writer, "{");
    for (size_t i = 0; i < dict->count; i++) {
        if (i)
            builder_put_string(&writer->builder, writer->item_separator, 0,
                               writer->item_separator->len);
        put_newline(writer, depth + 1);
        TRY(put_key(writer, entries[i].key));
        builder_put_string(&writer->builder, writer->key_separator, 0, writer->key_separator->len);
        TRY(put_json(writer, entries[i].value, depth + 1));
    }
    put_newline(writer, depth);
    put(writer, "}");
    return STATUS_OK;
}

static void put_float(JsonWriter *writer, double f) {
    StrBuf text = {0};
    if (isnan(f))
        strbuf_puts(&text, "NaN");
    else if (isinf(f))
        strbuf_puts(&text, f > 0 ? "Infinity" : "-Infinity");
    else
        float_repr(f, &text);
    put(writer, text.data);
    strbuf_deinit(&text);
}

static Status put_json(JsonWriter *writer, TemplateValue value, size_t depth) {
    if (depth > MAX_JSON_DEPTH) return render_error(writer->render, "a value is nested too deeply");
    bool is_over = writer->builder.text.len > TEMPLATE_MAX_OUTPUT_BYTES;
    TRY(render_step(writer->render, is_over ? TEMPLATE_MAX_STEPS : 1));
    char number[32];
    switch (value.kind) {
    case TEMPLATE_NONE: put(writer, "null"); return STATUS_OK;
    case TEMPLATE_BOOL: put(writer, value.b ? "true" : "false"); return STATUS_OK;
    case TEMPLATE_INT:
        snprintf(number, sizeof number, "%lld", (long long)value.i);
        put(writer, number);
        return STATUS_OK;
    case TEMPLATE_FLOAT: put_float(writer, value.f); return STATUS_OK;
    case TEMPLATE_STRING: return put_string(writer, value.str);
    case TEMPLATE_LIST:
    case TEMPLATE_TUPLE: return put_list(writer, value.list, depth);
    case TEMPLATE_DICT: return put_dict(writer, value.dict, depth);
    default:
        return render_error(writer->render, "%s cannot be written as JSON", value_kind_name(value));
    }
}

// indent: a number of spaces or the text itself.
static Status read_indent(JsonWriter *writer, const Args *args) {
    TemplateValue indent = value_none();
    int64_t count;
    if (!args_find(args, 1, "indent", &indent) || indent.kind == TEMPLATE_NONE) return STATUS_OK;
    writer->has_indent = true;
    if (indent.kind == TEMPLATE_STRING) {
        writer->indent = indent.str;
        return STATUS_OK;
    }
    if (!value_is_integer(indent, &count) || count > 100)
        return render_error(writer->render, "indent is %s", value_kind_name(indent));
    char spaces[101];
    memset(spaces, ' ', sizeof spaces);
    writer->indent =
        template_string(&writer->render->arena, spaces, (size_t)MAX(count, 0), false).str;
    return STATUS_OK;
}

static Status read_separators(JsonWriter *writer, const Args *args) {
    TemplateValue pair = value_none();
    Arena *arena = &writer->render->arena;
    writer->item_separator = value_text(arena, writer->has_indent ? "," : ", ").str;
    writer->key_separator = value_text(arena, ": ").str;
    if (!args_find(args, 2, "separators", &pair) || pair.kind == TEMPLATE_NONE) return STATUS_OK;
    if (!value_is_list(pair) || pair.list->count != 2 ||
        pair.list->items[0].kind != TEMPLATE_STRING || pair.list->items[1].kind != TEMPLATE_STRING)
        return render_error(writer->render, "separators must be two strings");
    writer->item_separator = pair.list->items[0].str;
    writer->key_separator = pair.list->items[1].str;
    return STATUS_OK;
}

Status value_to_json(Render *render, TemplateValue value, const Args *args, TemplateValue *out) {
    static const char *const names[] = {"ensure_ascii", "indent", "separators", "sort_keys"};
    TRY(args_check(render, args, "tojson", 0, ARRAY_LEN(names), names));
    JsonWriter writer = {.render = render};
    TemplateValue flag = value_bool(false);
    if (args_find(args, 0, "ensure_ascii", &flag)) writer.is_ascii = value_is_true(flag);
    flag = value_bool(false);
    if (args_find(args, 3, "sort_keys", &flag)) writer.sorts_keys = value_is_true(flag);
    TRY(read_indent(&writer, args));
    TRY(read_separators(&writer, args));
    Status status = put_json(&writer, value, 0);
    if (status == STATUS_OK) *out = builder_take(&render->arena, &writer.builder);
    builder_deinit(&writer.builder);
    return status;
}
