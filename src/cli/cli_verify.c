// `ingot verify`: the recipe, then the model against the recipe, for every target, over all buckets
// up to the plan and its memory; an answer without an artifact. Exit 3: the recipe or the file is
// invalid by itself; 1: the model breaks the recipe; 4: the plan is over the recipe's bound.
// A fault of a recipe that was read well is the model's where there is a model.
#include <string.h>

#include "cli/build_info.h"
#include "cli/compiler_verbs.h"
#include "cli/recipe_fix.h"
#include "compiler/compile.h"
#include "compiler/module_text.h"
#include "recipe/recipe.h"
#include "weights/gguf.h"

typedef struct VerifiedTarget {
    const char *name; // NULL: this machine
    uint64_t total_bytes;
    size_t num_versions;
} VerifiedTarget;

typedef struct Verified {
    const char *path;
    bool counts_code; // the bound is on all bytes, so that code is made to be counted
    bool has_model;
    VerifiedTarget targets[RECIPE_MAX_TARGETS];
    uint32_t num_targets;
    RecipeFixes fixes; // what --fix wrote
} Verified;

static void list_targets(Cli *cli, const Recipe *recipe, Verified *v) {
    v->num_targets = recipe->num_targets;
    for (uint32_t i = 0; i < recipe->num_targets; i++)
        v->targets[i].name =
            arena_strdup(&cli->sink.arena, recipe_target_name(&recipe->targets[i]));
}

// The text of a subgraph, by itself.
static Status read_subgraph(const Recipe *recipe, DiagSink *sink) {
    IrModule *m = NULL;
    if (!recipe_is_subgraph(recipe)) return STATUS_OK;
    ModuleSource source;
    TRY(module_text_of_recipe(recipe, sink, &source, &m));
    ir_module_destroy(m);
    return STATUS_OK;
}

// What is wrong with the recipe or the file by itself is found first.
static Status read_inputs(Cli *cli, Verified *v) {
    const char *wanted = args_text(&cli->args, OPT_TARGET, NULL);
    v->targets[0].name = wanted;
    v->num_targets = 1;
    if (module_text_is(v->path)) return STATUS_OK;
    Recipe *recipe = NULL;
    Gguf *gguf = NULL;
    TRY(recipe_load(v->path, &cli->sink, &recipe));
    v->counts_code = recipe->max_memory_bytes > 0;
    if (!wanted) list_targets(cli, recipe, v);
    Status status = wanted ? recipe_select_target(recipe, wanted, &cli->sink) : STATUS_OK;
    if (status == STATUS_OK) status = read_subgraph(recipe, &cli->sink);
    const char *model = args_text(&cli->args, OPT_MODEL, recipe->model_path);
    if (status == STATUS_OK && model) status = gguf_open(model, &cli->sink, &gguf);
    v->has_model = gguf != NULL;
    if (gguf) gguf_close(gguf);
    recipe_destroy(recipe);
    return status;
}

static Status check_target(Cli *cli, Verified *v, VerifiedTarget *target) {
    const CompileOptions options = {.recipe_path = v->path,
                                    .model_path = args_text(&cli->args, OPT_MODEL, NULL),
                                    .target = target->name,
                                    .is_dry_run = true,
                                    .is_check = !v->counts_code};
    CompileReport report;
    Status status = compile_run(&options, &cli->sink, &report);
    target->total_bytes = report.total_bytes;
    target->num_versions = report.num_entries;
    compile_report_deinit(&report);
    return status == STATUS_INVALID && v->has_model ? STATUS_NO : status;
}

static bool is_same(const Diag *a, const Diag *b) {
    return a->code == b->code && a->span.line == b->span.line && a->span.col == b->span.col &&
           str_equal(a->message, b->message);
}

// The recipe is read once for each target, and says the same about itself every time.
static void drop_repeated(DiagSink *sink) {
    size_t kept = 0;
    for (size_t i = 0; i < sink->num_diags; i++) {
        bool is_new = true;
        for (size_t k = 0; k < kept; k++)
            is_new = is_new && !is_same(&sink->diags[k], &sink->diags[i]);
        if (is_new) sink->diags[kept++] = sink->diags[i];
    }
    sink->num_diags = kept;
}

// ---------------------------------------------------------------- what is printed

// A path as a relative or absolute reference: what no URI may hold is written as %XX. Behind two
// slashes a reader would look for the name of a host.
static void put_uri(JsonWriter *json, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-._~/";
    StrBuf uri = {0};
    while (path[0] == '/' && path[1] == '/') path++;
    for (const char *c = path; *c; c++) {
        if (strchr(plain, *c))
            strbuf_putc(&uri, *c);
        else
            strbuf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*c);
    }
    json_put_string(json, "uri", uri.len ? uri.data : "");
    strbuf_deinit(&uri);
}

static void put_sarif_text(JsonWriter *json, const char *key, const char *text) {
    json_begin_object(json, key);
    json_put_string(json, "text", text);
    json_end_object(json);
}

// In a message a brace that is written twice stands for itself, one for an argument (3.11.5).
static void put_sarif_message(JsonWriter *json, const char *key, const char *text) {
    StrBuf doubled = {0};
    for (const char *c = text; *c; c++) {
        if (*c == '{' || *c == '}') strbuf_putc(&doubled, *c);
        strbuf_putc(&doubled, *c);
    }
    put_sarif_text(json, key, doubled.len ? doubled.data : "");
    strbuf_deinit(&doubled);
}

static void put_sarif_rules(JsonWriter *json, const DiagSink *sink) {
    json_begin_array(json, "rules");
    for (size_t i = 0; i < sink->num_diags; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && sink->diags[k].code != sink->diags[i].code;
        if (!is_new) continue;
        const DiagInfo *info = diag_info(sink->diags[i].code);
        json_begin_object(json, NULL);
        json_put_string(json, "id", info->code);
        put_sarif_message(json, "shortDescription", info->title);
        put_sarif_message(json, "fullDescription", info->cause);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_sarif_file(JsonWriter *json, const DiagSpan *span) {
    json_begin_object(json, "artifactLocation");
    put_uri(json, span->file);
    json_end_object(json);
}

static void put_sarif_region(JsonWriter *json, const char *key, const DiagSpan *span) {
    json_begin_object(json, key);
    if (span->line) {
        json_put_uint(json, "startLine", span->line);
        json_put_uint(json, "startColumn", MAX(span->col, 1u));
        if (span->end_col > span->col) json_put_uint(json, "endColumn", span->end_col);
    } else {
        json_put_uint(json, "byteOffset", span->byte_offset);
    }
    json_end_object(json);
}

static void put_sarif_place(JsonWriter *json, const DiagSpan *span) {
    json_begin_array(json, "locations");
    if (span->file && span->file[0]) {
        json_begin_object(json, NULL);
        json_begin_object(json, "physicalLocation");
        put_sarif_file(json, span);
        put_sarif_region(json, "region", span);
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
}

// What --fix would write.
static void put_sarif_fix(JsonWriter *json, const Diag *diag) {
    const DiagSpan *span = &diag->span;
    bool is_plain = diag->fix && span->file && !str_equal(span->file, "-") &&
                    !str_has_suffix(span->file, ".json"); // no quotes lost
    if (!is_plain || span->end_col <= span->col) return;
    json_begin_array(json, "fixes");
    json_begin_object(json, NULL);
    json_begin_array(json, "artifactChanges");
    json_begin_object(json, NULL);
    put_sarif_file(json, &diag->span);
    json_begin_array(json, "replacements");
    json_begin_object(json, NULL);
    put_sarif_region(json, "deletedRegion", &diag->span);
    put_sarif_text(json, "insertedContent", diag->fix);
    json_end_object(json);
    json_end_array(json);
    json_end_object(json);
    json_end_array(json);
    json_end_object(json);
    json_end_array(json);
}

static void put_sarif_result(JsonWriter *json, const Diag *diag) {
    static const char *const levels[] = {
        [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_NOTE] = "note"};
    StrBuf text = {0};
    strbuf_puts(&text, diag->message);
    if (diag->evidence) strbuf_printf(&text, "; %s", diag->evidence);
    if (diag->write) strbuf_printf(&text, "; write: %s", diag->write);
    json_begin_object(json, NULL);
    json_put_string(json, "ruleId", diag_info(diag->code)->code);
    json_put_string(json, "level", levels[diag->severity]);
    put_sarif_message(json, "message", text.data);
    put_sarif_place(json, &diag->span);
    put_sarif_fix(json, diag);
    json_end_object(json);
    strbuf_deinit(&text);
}

static void put_sarif(const DiagSink *sink, Status status, StrBuf *out) {
    JsonWriter json = {.out = out};
    json_begin_object(&json, NULL);
    json_put_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_put_string(&json, "version", "2.1.0");
    json_begin_array(&json, "runs");
    json_begin_object(&json, NULL);
    json_begin_object(&json, "tool");
    json_begin_object(&json, "driver");
    json_put_string(&json, "name", "ingot");
    json_put_string(&json, "version", INGOT_VERSION);
    put_sarif_rules(&json, sink);
    json_end_object(&json);
    json_end_object(&json);
    json_begin_array(&json, "invocations");
    json_begin_object(&json, NULL);
    json_put_bool(&json, "executionSuccessful", status <= STATUS_LIMIT);
    json_put_int(&json, "exitCode", status);
    json_end_object(&json);
    json_end_array(&json);
    json_put_string(&json, "columnKind", "unicodeCodePoints");
    json_begin_array(&json, "results");
    for (size_t i = 0; i < sink->num_diags; i++) put_sarif_result(&json, &sink->diags[i]);
    json_end_array(&json);
    json_end_object(&json);
    json_end_array(&json);
    json_end_object(&json);
}

static const char *name_of(const VerifiedTarget *target) {
    return target->name ? target->name : "this machine";
}

static void put_json(const Verified *v, Status status, StrBuf *out) {
    JsonWriter json = {.out = out};
    json_begin_document(&json, "ingot-verify");
    json_put_bool(&json, "holds", status == STATUS_OK);
    json_put_bool(&json, "counts_code", v->counts_code);
    json_begin_array(&json, "targets");
    for (uint32_t i = 0; status == STATUS_OK && i < v->num_targets; i++) {
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", name_of(&v->targets[i]));
        json_put_uint(&json, "total_bytes", v->targets[i].total_bytes);
        json_put_uint(&json, "num_versions", v->targets[i].num_versions);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_begin_array(&json, "fixes");
    for (size_t i = 0; i < v->fixes.num_items; i++) {
        json_begin_object(&json, NULL);
        json_put_uint(&json, "line", v->fixes.items[i].line);
        json_put_string(&json, "before", v->fixes.items[i].before);
        json_put_string(&json, "after", v->fixes.items[i].after);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

// What was written, as a patch.
static void put_fixes(const Verified *v, StrBuf *out) {
    if (v->fixes.num_items) strbuf_printf(out, "--- %s\n+++ %s\n", v->path, v->path);
    for (size_t i = 0; i < v->fixes.num_items; i++) {
        const RecipeFix *fix = &v->fixes.items[i];
        strbuf_printf(out, "@@ -%u +%u @@\n-%s\n+%s\n", fix->line, fix->line, fix->before,
                      fix->after);
    }
}

static void put_text(const Verified *v, StrBuf *out) {
    for (uint32_t i = 0; i < v->num_targets; i++) {
        char bytes[32];
        strbuf_printf(out, "%s holds for %s: %s bytes%s, %zu version%s\n", v->path,
                      name_of(&v->targets[i]), grouped(v->targets[i].total_bytes, bytes),
                      v->counts_code ? "" : " beside the code", v->targets[i].num_versions,
                      v->targets[i].num_versions == 1 ? "" : "s");
    }
}

static Status fix_recipe(Cli *cli, Verified *v) {
    if (module_text_is(v->path) || str_equal(v->path, "-"))
        return usage_error(&cli->sink, DIAG_U0005, "--fix writes into a recipe that is a file");
    return recipe_fix(v->path, &cli->sink, &v->fixes);
}

Status verb_VERIFY(Cli *cli) {
    Verified v = {.path = args_text(&cli->args, OPT_RECIPE, NULL)};
    TRY(check_positional(cli, v.path ? 0 : 1, v.path ? 0 : 1, "a recipe"));
    if (!v.path) v.path = cli->args.positional[0];
    Status status = args_has(&cli->args, OPT_FIX) ? fix_recipe(cli, &v) : STATUS_OK;
    if (status == STATUS_OK) status = read_inputs(cli, &v);
    for (uint32_t i = 0; i < v.num_targets && status == STATUS_OK; i++)
        status = check_target(cli, &v, &v.targets[i]);
    drop_repeated(&cli->sink);
    StrBuf out = {0};
    if (args_has(&cli->args, OPT_SARIF))
        put_sarif(&cli->sink, status, &out);
    else if (cli->is_json)
        put_json(&v, status, &out);
    else
        put_fixes(&v, &out);
    bool is_text = !args_has(&cli->args, OPT_SARIF) && !cli->is_json;
    if (is_text && status == STATUS_OK) put_text(&v, &out);
    if (out.len) put_document(&out);
    strbuf_deinit(&out);
    recipe_fixes_deinit(&v.fixes);
    return status;
}
