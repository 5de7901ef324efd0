// A GGUF file as `ingot inspect` shows it: every key, and tensors summed up by format or one by
// one.
#include <inttypes.h>
#include <string.h>

#include "cli/inspect.h"
#include "weights/gguf.h"

// Longer arrays and texts are shown by their length.
enum { MAX_SHOWN_ELEMENTS = 16, MAX_SHOWN_BYTES = 100 };

static const char *const type_names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "bool", "string", "array", "u64", "i64", "f64"};

static bool is_float(GgufType type) {
    return type == GGUF_F32 || type == GGUF_F64;
}
static bool is_signed(GgufType type) {
    return type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64;
}

static void put_array_element_json(JsonWriter *json, const GgufValue *value, uint64_t i) {
    GgufType type = value->array.elem_type;
    if (type == GGUF_STRING)
        json_put_string_n(json, NULL, value->array.strings[i].data, value->array.strings[i].len);
    else if (is_float(type))
        json_put_real(json, NULL, gguf_array_float(value, i));
    else if (type == GGUF_BOOL)
        json_put_bool(json, NULL, gguf_array_int(value, i) != 0);
    else if (type == GGUF_U64)
        json_put_uint(json, NULL, (uint64_t)gguf_array_int(value, i));
    else
        json_put_int(json, NULL, gguf_array_int(value, i));
}

static void put_value_json(JsonWriter *json, const char *key, const GgufValue *value) {
    if (value->type == GGUF_STRING) {
        json_put_string_n(json, key, value->str.data, value->str.len);
    } else if (value->type == GGUF_BOOL) {
        json_put_bool(json, key, value->u != 0);
    } else if (is_float(value->type)) {
        json_put_real(json, key, value->f);
    } else if (is_signed(value->type)) {
        json_put_int(json, key, value->i);
    } else if (value->type != GGUF_ARRAY) {
        json_put_uint(json, key, value->u);
    } else if (value->array.count > MAX_SHOWN_ELEMENTS) {
        json_begin_object(json, key);
        json_put_string(json, "array_of", type_names[value->array.elem_type]);
        json_put_uint(json, "count", value->array.count);
        json_end_object(json);
    } else {
        json_begin_array(json, key);
        for (uint64_t i = 0; i < value->array.count; i++) put_array_element_json(json, value, i);
        json_end_array(json);
    }
}

static void put_text(StrBuf *out, GgufString str) {
    uint64_t len = MIN(str.len, (uint64_t)MAX_SHOWN_BYTES);
    strbuf_put_json_string(out, str.data, len);
    if (len < str.len) strbuf_printf(out, "... (%" PRIu64 " bytes)", str.len);
}

static void put_value(StrBuf *out, const GgufValue *value) {
    if (value->type == GGUF_STRING) {
        put_text(out, value->str);
    } else if (value->type == GGUF_ARRAY && value->array.count > MAX_SHOWN_ELEMENTS) {
        strbuf_printf(out, "%" PRIu64 " elements", value->array.count);
    } else {
        JsonWriter json = {.out = out, .is_compact = true};
        json.depth = 1; // no line break behind the value
        put_value_json(&json, NULL, value);
    }
}

static void put_dims(StrBuf *out, const GgufTensor *tensor) {
    // Rows first, as tensors are written elsewhere.
    for (uint32_t d = tensor->num_dims; d-- > 0;)
        strbuf_printf(out, "%" PRIu64 "%s", tensor->dims[d], d ? " x " : "");
}

static void put_formats(StrBuf *out, const Gguf *gguf) {
    uint64_t counts[NUM_QUANT_FORMATS] = {0}, bytes[NUM_QUANT_FORMATS] = {0};
    for (size_t i = 0; i < gguf_num_tensors(gguf); i++) {
        const GgufTensor *tensor = gguf_tensor(gguf, i);
        counts[tensor->format]++;
        bytes[tensor->format] += tensor->len_bytes;
    }
    char text[32];
    for (int f = 0; f < NUM_QUANT_FORMATS; f++)
        if (counts[f])
            strbuf_printf(out, "  %-6s %5" PRIu64 " tensors %18s bytes\n",
                          quant_info((QuantFormat)f)->name, counts[f], grouped(bytes[f], text));
}

static void put_as_text(const Cli *cli, const Gguf *gguf, const char *path, const GgufUse *use) {
    StrBuf out = {0};
    char text[32];
    static const char *const notes[] = {"", "  (not used)"};
    strbuf_printf(&out, "%s: GGUF version %u, %s bytes\n", path, gguf_version(gguf),
                  grouped(gguf_len_bytes(gguf), text));
    strbuf_printf(&out, "\nmetadata (%zu keys)\n", gguf_num_entries(gguf));
    for (size_t i = 0; i < gguf_num_entries(gguf); i++) {
        const GgufEntry *entry = gguf_entry(gguf, i);
        strbuf_printf(&out, "  %-44s ", entry->key);
        strbuf_printf(&out, "%-7s", type_names[entry->value.type]);
        put_value(&out, &entry->value);
        strbuf_printf(&out, "%s\n", notes[use->is_known && !gguf_is_used(gguf, i)]);
    }
    strbuf_printf(&out, "\ntensors (%zu)\n", gguf_num_tensors(gguf));
    bool has_unused = false;
    for (size_t i = 0; use->is_known && i < gguf_num_tensors(gguf); i++)
        has_unused |= !use->is_tensor_used[i];
    if (args_has(&cli->args, OPT_ALL) || has_unused) {
        for (size_t i = 0; i < gguf_num_tensors(gguf); i++) {
            const GgufTensor *tensor = gguf_tensor(gguf, i);
            strbuf_printf(&out, "  %-40s %-6s %14s bytes  ", tensor->name,
                          quant_info(tensor->format)->name, grouped(tensor->len_bytes, text));
            put_dims(&out, tensor);
            strbuf_printf(&out, "%s\n", notes[use->is_known && !use->is_tensor_used[i]]);
        }
    } else {
        put_formats(&out, gguf);
    }
    if (use->is_known)
        strbuf_puts(&out, "\n(not used): nothing that is compiled or tokenized depends on it\n");
    if (use->refusal)
        strbuf_printf(&out, "\ncannot be compiled: %s: %s\n", use->refusal_code, use->refusal);
    put_document(&out);
}

static void put_use_json(JsonWriter *json, const Gguf *gguf, const GgufUse *use) {
    if (use->refusal) {
        json_begin_object(json, "cannot_be_compiled");
        json_put_string(json, "code", use->refusal_code);
        json_put_string(json, "message", use->refusal);
        json_end_object(json);
    }
    if (!use->is_known) return;
    json_begin_array(json, "unused_keys");
    for (size_t i = 0; i < gguf_num_entries(gguf); i++)
        if (!gguf_is_used(gguf, i)) json_put_string(json, NULL, gguf_entry(gguf, i)->key);
    json_end_array(json);
    json_begin_array(json, "unused_tensors");
    for (size_t i = 0; i < gguf_num_tensors(gguf); i++)
        if (!use->is_tensor_used[i]) json_put_string(json, NULL, gguf_tensor(gguf, i)->name);
    json_end_array(json);
}

static void put_as_json(const Gguf *gguf, const GgufUse *use) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_document(&json, "ingot-inspect-gguf");
    json_put_uint(&json, "gguf_version", gguf_version(gguf));
    json_put_uint(&json, "file_bytes", gguf_len_bytes(gguf));
    json_begin_object(&json, "metadata");
    for (size_t i = 0; i < gguf_num_entries(gguf); i++)
        put_value_json(&json, gguf_entry(gguf, i)->key, &gguf_entry(gguf, i)->value);
    json_end_object(&json);
    json_begin_array(&json, "tensors");
    for (size_t i = 0; i < gguf_num_tensors(gguf); i++) {
        const GgufTensor *tensor = gguf_tensor(gguf, i);
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", tensor->name);
        json_put_string(&json, "format", quant_info(tensor->format)->name);
        json_begin_array(&json, "shape");
        for (uint32_t d = tensor->num_dims; d-- > 0;) json_put_uint(&json, NULL, tensor->dims[d]);
        json_end_array(&json);
        json_put_uint(&json, "bytes", tensor->len_bytes);
        json_put_uint(&json, "file_offset", tensor->file_offset);
        json_end_object(&json);
    }
    json_end_array(&json);
    put_use_json(&json, gguf, use);
    json_end_object(&json);
    put_document(&out);
}

Status inspect_gguf(Cli *cli, const char *path) {
    Gguf *gguf;
    DiagSink quiet;
    diag_sink_init(&quiet);
    GgufUse use = {0};
#ifdef INGOT_HAS_COMPILER
    TRY(gguf_open(path, &cli->sink, &gguf));
    inspect_use(gguf, &quiet, &use);
#else
    // What is used is known to the compiler alone; without it the file is shown all the same.
    Status handed = hand_over(cli, &quiet);
    (void)handed;
    TRY(gguf_open(path, &cli->sink, &gguf));
#endif
    if (cli->is_json)
        put_as_json(gguf, &use);
    else
        put_as_text(cli, gguf, path, &use);
    gguf_close(gguf);
    diag_sink_deinit(&quiet);
    return STATUS_OK;
}
