// Writes one JSON document in order, indented by two blanks. Keys appear in the order of the calls.
#ifndef INGOT_CLI_JSON_WRITER_H
#define INGOT_CLI_JSON_WRITER_H

#include "base/str.h"

enum { JSON_MAX_DEPTH = 16 };

typedef struct JsonWriter {
    StrBuf *out;
    uint32_t depth;
    bool has_items[JSON_MAX_DEPTH];
    bool is_compact; // no line breaks: for lines of a stream
} JsonWriter;

// key is NULL for the document itself and for elements of an array.
// A document is an object that says first which one it is: keys `schema` and `schema_version`. A
// version adds keys at most; what would change the meaning of one is a new schema.
void json_begin_document(JsonWriter *writer, const char *schema);
void json_begin_object(JsonWriter *writer, const char *key);
void json_end_object(JsonWriter *writer);
void json_begin_array(JsonWriter *writer, const char *key);
void json_end_array(JsonWriter *writer);
void json_put_string(JsonWriter *writer, const char *key, const char *value);
void json_put_string_n(JsonWriter *writer, const char *key, const char *value, size_t len);
void json_put_uint(JsonWriter *writer, const char *key, uint64_t value);
void json_put_int(JsonWriter *writer, const char *key, int64_t value);
void json_put_bool(JsonWriter *writer, const char *key, bool value);
void json_put_null(JsonWriter *writer, const char *key);
// Shortest text that reads back as the same double; not finite: null.
void json_put_real(JsonWriter *writer, const char *key, double value);
// text is JSON already.
void json_put_raw(JsonWriter *writer, const char *key, const char *text);

#endif
