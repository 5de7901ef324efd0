// Writes JSON; see json_writer.h.
#include "cli/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void new_line(JsonWriter *writer) {
    if (writer->is_compact) return;
    strbuf_putc(writer->out, '\n');
    for (uint32_t i = 0; i < writer->depth; i++) strbuf_puts(writer->out, "  ");
}

static void item(JsonWriter *writer, const char *key) {
    if (writer->depth) {
        if (writer->has_items[writer->depth - 1]) strbuf_putc(writer->out, ',');
        writer->has_items[writer->depth - 1] = true;
        new_line(writer);
    }
    if (!key) return;
    strbuf_put_json_string(writer->out, key, strlen(key));
    strbuf_puts(writer->out, writer->is_compact ? ":" : ": ");
}

static void begin(JsonWriter *writer, const char *key, char bracket) {
    item(writer, key);
    strbuf_putc(writer->out, bracket);
    BUG_IF(writer->depth == JSON_MAX_DEPTH, "JSON nested deeper than %d", JSON_MAX_DEPTH);
    writer->has_items[writer->depth++] = false;
}

static void end(JsonWriter *writer, char bracket) {
    bool had_items = writer->has_items[--writer->depth];
    if (had_items) new_line(writer);
    strbuf_putc(writer->out, bracket);
    if (writer->depth == 0) strbuf_putc(writer->out, '\n');
}

void json_begin_object(JsonWriter *writer, const char *key) {
    begin(writer, key, '{');
}
void json_begin_document(JsonWriter *writer, const char *schema) {
    json_begin_object(writer, NULL);
    json_put_string(writer, "schema", schema);
    json_put_uint(writer, "schema_version", 1);
}

void json_end_object(JsonWriter *writer) {
    end(writer, '}');
}
void json_begin_array(JsonWriter *writer, const char *key) {
    begin(writer, key, '[');
}
void json_end_array(JsonWriter *writer) {
    end(writer, ']');
}

void json_put_string_n(JsonWriter *writer, const char *key, const char *value, size_t len) {
    item(writer, key);
    strbuf_put_json_string(writer->out, value, len);
}

void json_put_string(JsonWriter *writer, const char *key, const char *value) {
    json_put_string_n(writer, key, value, strlen(value));
}

void json_put_uint(JsonWriter *writer, const char *key, uint64_t value) {
    item(writer, key);
    strbuf_printf(writer->out, "%" PRIu64, value);
}

void json_put_int(JsonWriter *writer, const char *key, int64_t value) {
    item(writer, key);
    strbuf_printf(writer->out, "%" PRId64, value);
}

void json_put_bool(JsonWriter *writer, const char *key, bool value) {
    item(writer, key);
    strbuf_puts(writer->out, value ? "true" : "false");
}

void json_put_null(JsonWriter *writer, const char *key) {
    item(writer, key);
    strbuf_puts(writer->out, "null");
}

void json_put_real(JsonWriter *writer, const char *key, double value) {
    if (!isfinite(value)) {
        json_put_null(writer, key);
        return;
    }
    item(writer, key);
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    strbuf_puts(writer->out, text);
}

void json_put_raw(JsonWriter *writer, const char *key, const char *text) {
    item(writer, key);
    strbuf_puts(writer->out, text);
}
