// A recipe or module as a side of `ingot diff`: planned as `ingot compile --dry-run` does.
#include "cli/compiler_verbs.h"
#include "cli/diff.h"

// The dry run knows the code of its first level only; an artifact's kernels say it by level.
static void name_levels(json_t *doc) {
    const json_t *level = json_array_get(json_object_get(doc, "cpu_levels"), 0);
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(doc, "kernels"), i, kernel) {
        json_t *bytes = json_incref(json_object_get(kernel, "code_bytes")), *by_level;
        by_level = json_object();
        if (level && json_integer_value(bytes) > 0)
            json_object_set(by_level, json_string_value(level), bytes);
        json_object_set_new(kernel, "code_bytes", by_level);
        json_decref(bytes);
    }
}

Status diff_open_recipe(Cli *cli, const char *path, DiffSide *out_side) {
    const CompileOptions options = {.recipe_path = path,
                                    .target = args_text(&cli->args, OPT_TARGET, NULL),
                                    .model_path = args_text(&cli->args, OPT_MODEL, NULL),
                                    .is_dry_run = true,
                                    .build = build_json(),
                                    .hashes_model = true};
    CompileReport report;
    Status status = compile_run(&options, &cli->sink, &report);
    if (status == STATUS_OK) {
        StrBuf text = {0};
        compile_put_json(&report, false, &text);
        json_t *doc = json_loadb(text.data, text.len, 0, NULL);
        json_t *manifest = json_loads(report.manifest, 0, NULL);
        if (!doc || !manifest) BUG("the record of a compile is no JSON");
        json_object_set_new(doc, "manifest", manifest);
        name_levels(doc);
        diff_label(doc);
        *out_side = (DiffSide){.path = path, .doc = doc};
        strbuf_deinit(&text);
    }
    compile_report_deinit(&report);
    return status;
}
