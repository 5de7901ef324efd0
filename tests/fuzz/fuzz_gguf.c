// Opens arbitrary bytes as a model file, reads everything an inspection would, and asks for the
// model.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recipe/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

extern volatile uint64_t checksum;
volatile uint64_t checksum; // keeps the reads from being optimised away

static uint64_t walk_value(const GgufValue *value) {
    uint64_t sum = 0;
    if (value->type == GGUF_STRING)
        for (uint64_t i = 0; i < value->str.len; i++) sum += (uint8_t)value->str.data[i];
    if (value->type != GGUF_ARRAY) return sum;
    for (uint64_t i = 0; i < value->array.count; i++) {
        if (value->array.strings)
            sum += value->array.strings[i].len;
        else
            sum += gguf_array_float(value, i) > 0;
    }
    return sum;
}

static uint64_t walk(const Gguf *gguf) {
    uint64_t sum = gguf_version(gguf);
    for (size_t i = 0; i < gguf_num_entries(gguf); i++) {
        const GgufEntry *entry = gguf_entry(gguf, i);
        if (gguf_find(gguf, entry->key) != &entry->value) abort();
        sum += walk_value(&entry->value);
    }
    for (size_t i = 0; i < gguf_num_tensors(gguf); i++) {
        const GgufTensor *tensor = gguf_tensor(gguf, i);
        if (gguf_find_tensor(gguf, tensor->name) != tensor) abort();
        for (uint64_t k = 0; k < tensor->len_bytes; k += 61) sum += tensor->data[k];
    }
    return sum;
}

// Small, so that what the model says decides whether it fits.
static const char recipe_text[] =
    "version: 1\nmodel_name: fuzz\n"
    "input_constraints: {seq_len: {max: 4}, kv_cache_seq_len: {max: 32}}\n"
    "memory_optimization: {kv_cache_page_size: 16}\n";

static void import(Gguf *gguf, DiagSink *sink) {
    Recipe *recipe = NULL;
    IrModule *module = NULL;
    if (recipe_parse(recipe_text, sizeof recipe_text - 1, "fuzz.yaml", sink, &recipe) != STATUS_OK)
        abort();
    if (import_model(recipe, gguf, sink, &module) == STATUS_OK) {
        ImportParam cos;
        if (import_param_data(module, gguf, "rope.cos", sink, &cos) == STATUS_OK)
            import_param_deinit(&cos);
        ir_module_destroy(module);
    } else if (sink->num_errors == 0) {
        abort();
    }
    recipe_destroy(recipe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    static int fd = -1;
    if (fd < 0) fd = memfd_create("gguf", 0);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, len, 0) != (ssize_t)len) abort();
    DiagSink sink;
    StrBuf path = {0}, text = {0};
    Gguf *gguf = NULL;
    diag_sink_init(&sink);
    strbuf_printf(&path, "/proc/self/fd/%d", fd);
    if (gguf_open(path.data, &sink, &gguf) == STATUS_OK) {
        checksum = walk(gguf);
        import(gguf, &sink);
        gguf_close(gguf);
    } else if (sink.num_errors == 0) {
        abort();
    }
    diag_render(&sink, &text);
    strbuf_deinit(&text);
    strbuf_deinit(&path);
    diag_sink_deinit(&sink);
    return 0;
}
