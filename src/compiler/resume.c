// Marks of what a dump was made of; see resume.h.
#include "compiler/resume.h"

#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "base/file.h"
#include "compiler/pipeline.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "recipe/import.h"

static int64_t outline_fingerprint(const Gguf *gguf) {
    StrBuf text = {0};
    for (size_t i = 0; i < gguf_num_tensors(gguf); i++) {
        const GgufTensor *t = gguf_tensor(gguf, i);
        strbuf_printf(&text, "%s %s %" PRIu64 " %" PRIu64 "\n", t->name,
                      quant_info(t->format)->name, t->dims[0], t->dims[1]);
    }
    int64_t fingerprint = (int64_t)XXH3_64bits(text.data, text.len);
    strbuf_deinit(&text);
    return fingerprint;
}

// Identifies a model file by what stands in front of its weights: metadata, tensor names, formats,
// shapes.
static int64_t model_fingerprint(const Gguf *gguf) {
    if (gguf_is_outline(gguf)) return outline_fingerprint(gguf);
    uint64_t len = gguf_len_bytes(gguf);
    for (size_t i = 0; i < gguf_num_tensors(gguf); i++)
        len = MIN(len, gguf_tensor(gguf, i)->file_offset);
    return (int64_t)XXH3_64bits(gguf_bytes(gguf), len);
}

// Identifies a recipe by the settings it leaves on a module: other comments or names are no other
// recipe.
static int64_t recipe_fingerprint(const Recipe *recipe) {
    StrBuf text = {0};
    import_put_config(recipe, &text);
    int64_t fingerprint = (int64_t)XXH3_64bits(text.data, text.len);
    strbuf_deinit(&text);
    return fingerprint;
}

void resume_mark(IrModule *m, const Recipe *recipe, const Gguf *gguf) {
    pipeline_set_config(m, "model", model_fingerprint(gguf));
    pipeline_set_config(m, "recipe", recipe_fingerprint(recipe));
}

// False: the module carries the mark of another one.
static bool has_mark(const IrAttr *config, const char *key, int64_t fingerprint) {
    const IrAttr *mark = ir_attr_dict_find(config, key);
    return !mark || (mark->kind == IR_ATTR_INT && mark->i == fingerprint);
}

// Names the settings in which the dump and the recipe differ.
static void put_differences(const IrAttr *config, const Recipe *recipe, DiagSink *sink) {
    StrBuf text = {0}, ours = {0}, theirs = {0};
    strbuf_puts(&text, "module attributes {");
    import_put_config(recipe, &text);
    strbuf_puts(&text, "} {}");
    DiagSink quiet;
    IrModule *m = NULL;
    diag_sink_init(&quiet);
    BUG_IF(ir_parse(text.data, text.len, "settings", &quiet, &m) != STATUS_OK, "settings: %s",
           text.data);
    const IrAttr *asked = ir_op_attr(m->op, "ingot.config");
    for (size_t i = 0; i < asked->num_entries; i++) {
        const char *name = asked->entries[i].name;
        const IrAttr *found = ir_attr_dict_find(config, name);
        strbuf_clear(&ours);
        strbuf_clear(&theirs);
        ir_print_attr(asked->entries[i].attr, &ours);
        if (found) ir_print_attr(found, &theirs);
        if (found && str_equal(ours.data, theirs.data)) continue;
        diag_evidence(sink, "%s: %s in the dump, %s in %s", name, found ? theirs.data : "absent",
                      ours.data, recipe->path);
    }
    ir_module_destroy(m);
    diag_sink_deinit(&quiet);
    strbuf_deinit(&text);
    strbuf_deinit(&ours);
    strbuf_deinit(&theirs);
}

// Where the module with the marks stands in the dump; its own location is that of the model.
static DiagSpan place_of_marks(const char *dump_path) {
    DiagSpan span = {.file = dump_path};
    DiagSink quiet;
    FileMap map;
    diag_sink_init(&quiet);
    if (file_map_open(dump_path, &quiet, &map) == STATUS_OK) {
        static const char word[] = "module ";
        const char *at = (const char *)map.data, *end = at + map.len_bytes;
        for (span.line = 1, span.col = 1; at; span.line++) {
            if ((size_t)(end - at) > sizeof word && memcmp(at, word, sizeof word - 1) == 0) break;
            at = memchr(at, '\n', (size_t)(end - at));
            if (at) at++;
        }
        if (!at) span.line = span.col = 0;
        file_map_close(&map);
    }
    diag_sink_deinit(&quiet);
    return span;
}

Status resume_check(const IrModule *m, const char *dump_path, const Recipe *recipe,
                    const Gguf *gguf, DiagSink *sink) {
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    if (config->kind != IR_ATTR_DICT) return STATUS_OK; // refused where it is read
    bool is_text = !ir_attr_dict_find(config, "buckets");
    if (is_text != (recipe == NULL))
        return diag_error(sink, DIAG_P0012, place_of_marks(dump_path),
                          is_text ? "the dump was made of a module, not of a recipe"
                                  : "the dump was made of a recipe, not of a module");
    if (is_text) return STATUS_OK;
    if (!has_mark(config, "model", model_fingerprint(gguf))) {
        Status status =
            diag_error(sink, DIAG_P0012, place_of_marks(dump_path),
                       "the dump was made of another model file than %s", gguf_path(gguf));
        diag_write(sink, "--model with the file the dump was made of");
        return status;
    }
    if (!has_mark(config, "recipe", recipe_fingerprint(recipe))) {
        Status status = diag_error(sink, DIAG_P0013, place_of_marks(dump_path),
                                   "the dump was made with another recipe than %s", recipe->path);
        put_differences(config, recipe, sink);
        diag_write(sink, "the recipe the dump was made with, or compile without --resume-from");
        return status;
    }
    return STATUS_OK;
}
