// `ingot explain`: of a diagnostic code what it means, with a failing and a mended example (without
// a code the list of all); of a machine its numbers and their sources; of a key of the recipe what
// it does; of a file what a compile decided.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain_view.h"
#include "cli/inspect.h"
#include "cli/recipe_schema.h"
#include "cli/target_list.h"
#include "runtime/artifact.h"

static void put_indented(StrBuf *out, const char *heading, const char *text) {
    if (!*text) return;
    strbuf_printf(out, "\n%s\n", heading);
    while (*text) {
        size_t len = strcspn(text, "\n");
        strbuf_printf(out, "  %.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void put_json(JsonWriter *json, const DiagInfo *info) {
    json_put_string(json, "code", info->code);
    json_put_string(json, "title", info->title);
    json_put_string(json, "cause", info->cause);
    bool is_shown = *info->bad;
    json_put_string(json, "bad", info->bad);
    json_put_string(json, "good", is_shown ? info->good : "");
    json_put_string(json, "no_example", is_shown ? "" : info->good);
}

static void explain_all(const Cli *cli) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-explain-all");
        json_begin_array(&json, "codes");
    }
    for (int i = 0; i < NUM_DIAG_CODES; i++) {
        const DiagInfo *info = diag_info((DiagCode)i);
        if (!cli->is_json) {
            strbuf_printf(&out, "%s  %s\n", info->code, info->title);
            continue;
        }
        json_begin_object(&json, NULL);
        put_json(&json, info);
        json_end_object(&json);
    }
    if (cli->is_json) {
        json_end_array(&json);
        json_end_object(&json);
    }
    put_document(&out);
}

static void explain_code(const Cli *cli, DiagCode code) {
    const DiagInfo *info = diag_info(code);
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-explain");
        put_json(&json, info);
        json_end_object(&json);
    } else {
        strbuf_printf(&out, "%s: %s\n\n%s\n", info->code, info->title, info->cause);
        put_indented(&out, "fails:", info->bad);
        put_indented(&out, *info->bad ? "mended:" : "no example:", info->good);
    }
    put_document(&out);
}

// ---- files

// What the compiler wrote down in the artifact.
static Status explain_artifact(Cli *cli, const char *path) {
    Artifact artifact;
    TRY(artifact_open(path, &cli->sink, &artifact));
    const uint8_t *text = NULL;
    const SectionEntry *section = artifact_find_section(&artifact, SECTION_MANIFEST, 0, &text);
    Status status = STATUS_OK;
    if (!section || !explain_show_manifest(cli, (const char *)text, section->len_bytes)) {
        status = STATUS_NO;
        diag_report(&cli->sink, DIAG_ERROR, DIAG_U0008, (DiagSpan){.file = path},
                    "the artifact holds no record of its compile");
        diag_evidence(&cli->sink, "a compile that went on from a dump records what came after it");
    }
    artifact_close(&artifact);
    return status;
}

static Status explain_file(Cli *cli, const char *path) {
    FileKind kind;
    TRY(file_kind(path, &cli->sink, &kind));
    if (kind == FILE_KIND_ARTIFACT || str_has_suffix(path, ".ingot"))
        return explain_artifact(cli, path);
#ifdef INGOT_HAS_COMPILER
    return str_has_suffix(path, ".mlir") ? explain_module(cli, path) : explain_recipe(cli, path);
#else
    return hand_over(cli, &cli->sink);
#endif
}

static Status unknown_word(Cli *cli, const char *given, const char *word) {
    const char *codes[NUM_DIAG_CODES];
    for (int i = 0; i < NUM_DIAG_CODES; i++) codes[i] = diag_info((DiagCode)i)->code;
    Status status =
        usage_error(&cli->sink, DIAG_U0008, "there is no code, key, target or file %.60s", given);
    const char *nearest = str_nearest(word, codes, NUM_DIAG_CODES);
    if (nearest) diag_write(&cli->sink, "ingot explain %s", nearest);
    return status;
}

// Keys are known to the compiler alone.
static Status explain_schema(Cli *cli) {
    TRY(check_positional(cli, 0, 0, "nothing beside --schema"));
#ifdef INGOT_HAS_COMPILER
    StrBuf text = {0};
    recipe_schema_put(&text);
    put_document(&text);
    return STATUS_OK;
#else
    return hand_over(cli, &cli->sink);
#endif
}

Status verb_EXPLAIN(Cli *cli) {
    if (args_has(&cli->args, OPT_SCHEMA)) return explain_schema(cli);
    TRY(check_positional(cli, 0, 1, "a code, a key, a target or a file"));
    if (cli->args.num_positional == 0) {
        explain_all(cli);
        return STATUS_OK;
    }
    char word[32] = {0}; // codes are written in capitals, but may be typed in small letters
    const char *given = cli->args.positional[0];
    for (size_t i = 0; given[i] && i + 1 < sizeof word; i++)
        word[i] = (char)(given[i] >= 'a' && given[i] <= 'z' ? given[i] - 'a' + 'A' : given[i]);
    DiagCode code;
    if (diag_find(word, &code)) {
        explain_code(cli, code);
        return STATUS_OK;
    }
    TargetTable table;
    TRY(target_table_load(&cli->sink, &table));
    const Target *target = target_find(&table, given);
    if (target) {
        explain_target(cli, target);
        return STATUS_OK;
    }
    if (access(given, F_OK) == 0) return explain_file(cli, given);
    bool is_path = strchr(given, '/') || str_has_suffix(given, ".ingot") ||
                   str_has_suffix(given, ".yaml") || str_has_suffix(given, ".mlir") ||
                   str_has_suffix(given, ".json");
    if (is_path) return explain_file(cli, given); // says what is wrong with it
#ifdef INGOT_HAS_COMPILER
    if (explain_key(cli, given)) return STATUS_OK;
#else
    // Keys are known to the compiler alone; they are words in small letters.
    DiagSink quiet;
    diag_sink_init(&quiet);
    bool may_be_key = given[0] >= 'a' && given[0] <= 'z';
    Status handed = may_be_key ? hand_over(cli, &quiet) : STATUS_OK;
    (void)handed;
    diag_sink_deinit(&quiet);
#endif
    return unknown_word(cli, given, word);
}
