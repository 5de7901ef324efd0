// Reads JSON lists; see json_list.h.
#include "cli/json_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_LIST_BYTES ((uint64_t)1 << 31)

Status json_list_error(const char *path, uint32_t line, DiagSink *sink, const char *fmt, ...) {
    StrBuf text = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    Status status = diag_error(sink, DIAG_U0009, (DiagSpan){.file = path, .line = line, .col = 1},
                               "%s", text.data);
    strbuf_deinit(&text);
    return status;
}

static Status syntax_error(const char *path, uint32_t line, const json_error_t *error,
                           DiagSink *sink) {
    DiagSpan span = {
        .file = path, .line = line, .col = error->column > 0 ? (uint32_t)error->column : 1};
    return diag_error(sink, DIAG_U0009, span, "not JSON: %s", error->text);
}

Status json_list_load(const char *path, DiagSink *sink, json_t **out_root) {
    char *text;
    uint64_t len;
    TRY(file_read(path, MAX_LIST_BYTES, sink, &text, &len));
    json_error_t error;
    json_t *root = json_loadb(text, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!root) return syntax_error(path, error.line > 0 ? (uint32_t)error.line : 1, &error, sink);
    *out_root = root;
    return STATUS_OK;
}

Status json_lines_open(const char *path, DiagSink *sink, JsonLines *out_lines) {
    *out_lines = (JsonLines){.path = path};
    return file_read(path, MAX_LIST_BYTES, sink, &out_lines->text, &out_lines->len);
}

Status json_lines_next(JsonLines *lines, DiagSink *sink, json_t **out_object) {
    *out_object = NULL;
    while (lines->at < lines->len) {
        const char *start = lines->text + lines->at;
        const char *end = memchr(start, '\n', lines->len - lines->at);
        size_t len = end ? (size_t)(end - start) : lines->len - lines->at;
        lines->at += len + (end != NULL);
        lines->line++;
        if (strspn(start, " \t\r") >= len) continue;
        json_error_t error;
        json_t *object = json_loadb(start, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
        if (!object) return syntax_error(lines->path, lines->line, &error, sink);
        if (!json_is_object(object)) {
            json_decref(object);
            return json_list_error(lines->path, lines->line, sink, "a JSON object is expected");
        }
        *out_object = object;
        return STATUS_OK;
    }
    return STATUS_OK;
}

void json_lines_close(JsonLines *lines) {
    free(lines->text);
    *lines = (JsonLines){0};
}

bool json_list_ids(const json_t *array, int32_t **out_ids, size_t *out_count) {
    if (!json_is_array(array)) return false;
    size_t count = json_array_size(array);
    int32_t *ids = base_alloc(count, sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        const json_t *element = json_array_get(array, i);
        json_int_t value = json_integer_value(element);
        if (!json_is_integer(element) || value < 0 || value > INT32_MAX) {
            free(ids);
            return false;
        }
        ids[i] = (int32_t)value;
    }
    *out_ids = ids;
    *out_count = count;
    return true;
}
