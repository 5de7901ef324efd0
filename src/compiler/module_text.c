// Reads modules that are compiled as they are; see module_text.h.
#include "compiler/module_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/module_ranges.h"
#include "compiler/pipeline.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pass.h"

bool module_text_is(const char *path) {
    static const char ending[] = ".mlir";
    size_t len = strlen(path);
    return len > sizeof ending - 1 && str_equal(path + len - (sizeof ending - 1), ending);
}

static bool is_entry(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "sym_visibility");
}

static const char *name_of(IrModule *m, const IrAttr *name, const char *kind, uint32_t i) {
    if (name && name->kind == IR_ATTR_STRING) return name->str;
    return arena_printf(&m->arena, "%s%u", kind, i);
}

const char *module_text_argument_name(IrModule *m, const IrOp *func, uint32_t i) {
    return name_of(m, ir_func_arg_attr(func, i, "ingot.name"), "arg", i);
}

const char *module_text_result_name(IrModule *m, const IrOp *func, uint32_t i) {
    const IrAttr *dicts = ir_op_attr(func, "res_attrs");
    return name_of(m, dicts ? ir_attr_dict_find(dicts->elems[i], "ingot.name") : NULL, "result", i);
}

static Status check_name(const IrOp *func, const IrAttr *name, DiagSink *sink) {
    if (name->kind == IR_ATTR_STRING && *name->str) return STATUS_OK;
    Status status =
        diag_error(sink, DIAG_P0011, ir_loc_span(func->loc),
                   "@%s: ingot.name of an argument or result is no name", ir_symbol_name(func));
    diag_write(sink, "ingot.name = \"x\"");
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Sorts the names.
static Status check_distinct(const IrOp *func, const char **names, uint32_t num, const char *kind,
                             DiagSink *sink) {
    array_sort(names, num, sizeof *names, by_name);
    for (uint32_t i = 1; i < num; i++)
        if (str_equal(names[i], names[i - 1]))
            return diag_error(sink, DIAG_P0011, ir_loc_span(func->loc), "@%s: two %s are called %s",
                              ir_symbol_name(func), kind, names[i]);
    return STATUS_OK;
}

static Status name_arguments(IrModule *m, IrOp *func, DiagSink *sink) {
    uint32_t num = ir_func_body(func)->num_args;
    const IrAttr **dicts = ir_func_arg_dicts(m, func);
    const char **names = ARENA_ARRAY(&m->arena, const char *, num + 1);
    for (uint32_t i = 0; i < num; i++) {
        const IrAttr *name = ir_attr_dict_find(dicts[i], "ingot.name");
        if (name) TRY(check_name(func, name, sink));
        names[i] = name_of(m, name, "arg", i);
        dicts[i] = ir_attr_dict_with(m, dicts[i], "ingot.name", ir_attr_string(m, names[i]));
    }
    ir_func_set_arg_dicts(m, func, dicts);
    return check_distinct(func, names, num, "arguments", sink);
}

static Status name_results(IrModule *m, IrOp *func, DiagSink *sink) {
    uint32_t num = ir_func_type(func)->num_results;
    const IrAttr *old = ir_op_attr(func, "res_attrs");
    const IrAttr **dicts = ARENA_ARRAY(&m->arena, const IrAttr *, num + 1);
    const char **names = ARENA_ARRAY(&m->arena, const char *, num + 1);
    for (uint32_t i = 0; i < num; i++) {
        dicts[i] = old ? old->elems[i] : ir_attr_dict(m, 0, NULL);
        const IrAttr *name = ir_attr_dict_find(dicts[i], "ingot.name");
        if (name) TRY(check_name(func, name, sink));
        names[i] = name_of(m, name, "result", i);
        dicts[i] = ir_attr_dict_with(m, dicts[i], "ingot.name", ir_attr_string(m, names[i]));
    }
    if (num) ir_op_set_attr(m, func, "res_attrs", ir_attr_array(m, num, dicts));
    return check_distinct(func, names, num, "results", sink);
}

static Status prepare(IrModule *m, const char *path, const Recipe *recipe, DiagSink *sink) {
    IrVerifyOptions level_1 = {.level = 1};
    TRY(ir_verify(m, &level_1, sink));
    if (ir_op_attr(m->op, "ingot.config")) {
        DiagSpan span = ir_loc_span(m->op->loc); // a dump's own is unknown
        if (!span.file) span.file = path;
        Status status =
            diag_error(sink, DIAG_P0008, span, "the module is a dump of a compile, not its source");
        diag_write(sink, "--resume-from=%s, with the recipe or module it was made of", path);
        return status;
    }
    TRY(pass_annotations_check_author(m, sink));
    uint32_t num_entries = 0;
    FOR_EACH_OP(op, ir_module_body(m)) {
        if (!is_entry(op)) continue;
        TRY(name_arguments(m, op, sink));
        TRY(module_ranges_bind(m, op, recipe, sink));
        TRY(name_results(m, op, sink));
        num_entries++;
    }
    if (num_entries) return recipe ? module_ranges_check_recipe(m, recipe, sink) : STATUS_OK;
    Status status = diag_error(sink, DIAG_P0007, (DiagSpan){.file = path},
                               "the module has no public function with a body");
    diag_write(sink, "func.func @main(...) { ... }");
    return status;
}

// text and path must stay valid as long as the sink: locations and diagnostics quote them.
static Status parse(const char *text, size_t len, const char *path, const Recipe *recipe,
                    DiagSink *sink, IrModule **out_module) {
    IrModule *m;
    IrParseOptions options = {.keeps_argument_names = true};
    TRY(ir_parse_with(text, len, path, &options, sink, &m));
    Status status = prepare(m, path, recipe, sink);
    if (status == STATUS_OK)
        *out_module = m;
    else
        ir_module_destroy(m);
    return status;
}

Status module_text_read(const char *path, DiagSink *sink, ModuleSource *out_source) {
    enum { MAX_TEXT_BYTES = 256 << 20 };
    char *text;
    uint64_t len;
    TRY(file_read(path, MAX_TEXT_BYTES, sink, &text, &len));
    *out_source = (ModuleSource){arena_strndup(&sink->arena, text, len), len};
    free(text);
    return STATUS_OK;
}

static Status load(const char *path, const Recipe *recipe, DiagSink *sink, ModuleSource *out_source,
                   IrModule **out_module) {
    TRY(module_text_read(path, sink, out_source));
    return parse(out_source->text, out_source->len, path, recipe, sink, out_module);
}

Status module_text_load(const char *path, DiagSink *sink, ModuleSource *out_source,
                        IrModule **out_module) {
    return load(path, NULL, sink, out_source, out_module);
}

// ---- of a recipe

// A block of lines in YAML keeps its lines: empty ones before it make the places those of the
// recipe. In JSON the text stands on one line, and its places are those within the text.
static Status parse_inline(const Recipe *recipe, DiagSink *sink, IrModule **out_module) {
    StrBuf text = {0};
    const char *path = RECIPE_NEUTRAL_NAME;
    if (str_has_suffix(recipe->path, ".json"))
        path = RECIPE_NEUTRAL_NAME ":subgraph.text";
    else
        for (uint32_t i = 0; i < recipe->spans[RECIPE_SUBGRAPH_TEXT].line; i++)
            strbuf_putc(&text, '\n');
    strbuf_puts(&text, recipe->subgraph_text);
    const char *kept = arena_strndup(&sink->arena, text.data, text.len);
    size_t len = text.len;
    strbuf_deinit(&text);
    Status status = parse(kept, len, path, recipe, sink, out_module);
    recipe_name_places(recipe->path, sink);
    return status;
}

// Rules with their lines: equal recipes, equal modules.
static void set_rules(IrModule *m, const Recipe *recipe) {
    const IrAttr *rules[RECIPE_MAX_RULES];
    for (uint32_t i = 0; i < recipe->num_rules; i++) {
        const RecipeRule *rule = &recipe->rules[i];
        const char *at = arena_printf(&m->arena, RECIPE_NEUTRAL_NAME ":%u", rule->span.line);
        IrNamedAttr entries[5] = {{ir_intern(m, "at"), ir_attr_string(m, at)},
                                  {ir_intern(m, "mode"), ir_attr_string(m, rule->mode)},
                                  {ir_intern(m, "pattern"), ir_attr_string(m, rule->pattern)}};
        uint32_t n = 3;
        if (rule->is_atomic)
            entries[n++] = (IrNamedAttr){ir_intern(m, "atomic"), ir_attr_bool(m, true)};
        if (rule->says_flash)
            entries[n++] = (IrNamedAttr){ir_intern(m, "flash"), ir_attr_bool(m, rule->is_flash)};
        rules[i] = ir_attr_dict(m, n, entries);
    }
    if (recipe->num_rules)
        ir_op_set_attr(m, m->op, "ingot.rules", ir_attr_array(m, recipe->num_rules, rules));
}

Status module_text_of_recipe(const Recipe *recipe, DiagSink *sink, ModuleSource *out_source,
                             IrModule **out_module) {
    IrModule *m = NULL;
    *out_source = (ModuleSource){0};
    TRY(recipe->subgraph_path ? load(recipe->subgraph_path, recipe, sink, out_source, &m)
                              : parse_inline(recipe, sink, &m));
    set_rules(m, recipe);
    pipeline_set_config(m, "threads", recipe->target.threads);
    if (recipe->is_sync) pipeline_set_config(m, "sync", 1);
    if (recipe->max_scratch_bytes) pipeline_set_config(m, "max_scratch", recipe->max_scratch_bytes);
    *out_module = m;
    return STATUS_OK;
}

// ---- parameters

static bool has_type(const GgufTensor *tensor, const IrType *type) {
    static const struct {
        QuantFormat format;
        IrTypeKind kind;
    } stored[] = {{QUANT_F32, IR_TYPE_F32}, {QUANT_F16, IR_TYPE_F16}, {QUANT_BF16, IR_TYPE_BF16}};
    bool fits = false;
    for (size_t i = 0; i < ARRAY_LEN(stored); i++)
        fits |= tensor->format == stored[i].format && type->elem->kind == stored[i].kind;
    if (!fits || tensor->num_dims != type->rank) return false;
    for (uint32_t i = 0; i < type->rank; i++) // the file's first dimension is the fastest
        if (tensor->dims[i] != (uint64_t)type->shape[type->rank - 1 - i]) return false;
    return true;
}

static Status check_parameter(const IrOp *func, const IrAttr *param, const IrType *type,
                              const Gguf *parameters, DiagSink *sink) {
    DiagSpan span = ir_loc_span(func->loc);
    if (param->kind != IR_ATTR_STRING || type->kind != IR_TYPE_TENSOR || !ir_type_is_static(type))
        return diag_error(sink, DIAG_P0011, span,
                          "@%s: a parameter has one name and is a tensor of known size",
                          ir_symbol_name(func));
    if (!parameters) {
        Status status = diag_error(sink, DIAG_P0009, span, "@%s: parameter %s needs a file",
                                   ir_symbol_name(func), param->str);
        diag_write(sink, "--model FILE.gguf");
        return status;
    }
    const GgufTensor *tensor = gguf_find_tensor(parameters, param->str);
    if (!tensor)
        return diag_error(sink, DIAG_F0018, span, "%s has no tensor %s", gguf_path(parameters),
                          param->str);
    if (has_type(tensor, type)) return STATUS_OK;
    StrBuf text = {0};
    ir_print_type(type, &text);
    Status status = diag_error(sink, DIAG_F0018, span, "tensor %s of %s is no %s", param->str,
                               gguf_path(parameters), text.data);
    diag_evidence(sink, "stored as %s, %u dimensions, the fastest of %llu elements",
                  quant_info(tensor->format)->name, tensor->num_dims,
                  (unsigned long long)tensor->dims[0]);
    strbuf_deinit(&text);
    return status;
}

Status module_text_check_parameters(IrModule *m, const Gguf *parameters, DiagSink *sink) {
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_entry(func)) continue;
        IrBlock *body = ir_func_body(func);
        for (uint32_t i = 0; i < body->num_args; i++) {
            const IrAttr *param = ir_func_arg_attr(func, i, "ingot.param");
            if (param) TRY(check_parameter(func, param, body->args[i]->type, parameters, sink));
        }
    }
    return STATUS_OK;
}
