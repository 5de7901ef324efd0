// `ingot explain` of what only the compiler knows: recipes, IR text, keys. See explain_view.h.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/explain_view.h"
#include "compiler/compile.h"
#include "compiler/explain.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "recipe/recipe.h"

#define MAX_IR_BYTES ((uint64_t)1 << 32)

Status explain_recipe(Cli *cli, const char *path) {
    CompileOptions options = {.recipe_path = path,
                              .model_path = args_text(&cli->args, OPT_MODEL, NULL)};
    CompileReport report;
    Status status = compile_run(&options, &cli->sink, &report);
    if (status == STATUS_OK &&
        !explain_show(cli, report.explain, strlen(report.explain), report.predicted))
        BUG("the record of a compile is no JSON");
    compile_report_deinit(&report);
    return status;
}

// IR text is explained as it stands: its accesses, the edges between its kernels if it has any, its
// buffers, copies and primitives.
Status explain_module(Cli *cli, const char *path) {
    char *text;
    uint64_t len;
    IrModule *m = NULL;
    TRY(file_read(path, MAX_IR_BYTES, &cli->sink, &text, &len));
    char *kept = arena_strndup(&cli->sink.arena, text, len); // diagnostics quote it
    free(text);
    TRY(ir_parse(kept, len, path, &cli->sink, &m));
    IrVerifyOptions verify = {.allow_test_ops = true};
    Status status = ir_verify(m, &verify, &cli->sink);
    Explain e = {0};
    Target machine;
    if (status == STATUS_OK) status = explain_init_module(&e, m, &cli->sink, &machine);
    if (status == STATUS_OK) {
        StrBuf out = {0};
        const IrAttr *target = ir_op_attr(m->op, "ingot.target");
        explain_tensors(m, &e);
        explain_buffers(m, &e);
        explain_kernels(m, target && target->kind == IR_ATTR_STRING ? target->str : "", &e);
        explain_write(&e, &out);
        if (!explain_show(cli, out.data, out.len, NULL)) BUG("the record of a module is no JSON");
        strbuf_deinit(&out);
    }
    explain_deinit(&e);
    ir_module_destroy(m);
    return status;
}

bool explain_key(const Cli *cli, const char *key) {
    static const char *const types[] = {"a whole number",
                                        "a number",
                                        "true or false",
                                        "text",
                                        "a word",
                                        "a size",
                                        "CPU levels",
                                        "a list of relations",
                                        "a list of whole numbers",
                                        "a list of ops",
                                        "a shape"};
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        if (!str_equal(info->path, key)) continue;
        StrBuf out = {0};
        JsonWriter json = {.out = &out};
        const char *fallback = !info->default_text   ? "must be given"
                               : *info->default_text ? info->default_text
                                                     : "derived or absent";
        if (cli->is_json) {
            json_begin_document(&json, "ingot-explain-key");
            json_put_string(&json, "key", info->path);
            json_put_string(&json, "type", types[info->type]);
            json_put_string(&json, "choices", info->choices);
            json_put_string(&json, "default", fallback);
            json_put_string(&json, "doc", info->doc);
            json_put_string(&json, "effect", info->effect);
            json_end_object(&json);
        } else {
            strbuf_printf(&out, "%s: %s\n", info->path, types[info->type]);
            if (info->type == RECIPE_TYPE_INT)
                strbuf_printf(&out, "  from %lld to %lld\n", (long long)info->min,
                              (long long)info->max);
            if (*info->choices) strbuf_printf(&out, "  one of: %s\n", info->choices);
            strbuf_printf(&out, "  default: %s\n\n%s\nEffect: %s.\n", fallback, info->doc,
                          info->effect);
        }
        put_document(&out);
        return true;
    }
    return false;
}
