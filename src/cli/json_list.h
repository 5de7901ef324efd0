// Lists that verbs read: JSON documents and files of one JSON object per line (jansson).
#ifndef INGOT_CLI_JSON_LIST_H
#define INGOT_CLI_JSON_LIST_H

#include <jansson.h>

#include "base/diag.h"

// Reads a whole JSON document; the caller owns a reference. Failure: U0009 with line and column,
// STATUS_INVALID; U0002, STATUS_IO.
Status json_list_load(const char *path, DiagSink *sink, json_t **out_root) MUST_USE;

// The lines of a file, one JSON object each; empty lines are skipped.
typedef struct JsonLines {
    const char *path;
    char *text;
    uint64_t len, at;
    uint32_t line; // of the object returned last
} JsonLines;

Status json_lines_open(const char *path, DiagSink *sink, JsonLines *out_lines) MUST_USE;
// *out_object is NULL at the end; the caller owns a reference.
Status json_lines_next(JsonLines *lines, DiagSink *sink, json_t **out_object) MUST_USE;
void json_lines_close(JsonLines *lines);

// Reports U0009 at a line (0: the file as a whole).
Status json_list_error(const char *path, uint32_t line, DiagSink *sink, const char *fmt, ...)
    PRINTF_LIKE(4, 5) MUST_USE;

// An array of token ids. *out_ids is freed by the caller, also when empty. False: not such an
// array.
bool json_list_ids(const json_t *array, int32_t **out_ids, size_t *out_count);

#endif
