// `ingot diff A B`: what differs between two artifacts, two recipes, or one of each. Exit 0:
// nothing, 1: something.
#include <stdlib.h>

#include "cli/diff.h"
#include "cli/inspect.h"

static Status is_artifact(Cli *cli, const char *path, bool *out_is) {
    FileKind kind;
    TRY(file_kind(path, &cli->sink, &kind));
    *out_is = kind == FILE_KIND_ARTIFACT || str_has_suffix(path, ".ingot");
    return STATUS_OK;
}

static Status open_recipe(Cli *cli, const char *path, DiffSide *out_side) {
#ifdef INGOT_HAS_COMPILER
    return diff_open_recipe(cli, path, out_side);
#else
    (void)path, (void)out_side;
    return hand_over(cli, &cli->sink);
#endif
}

static Status refuse_options(Cli *cli) {
    const OptionId options[] = {OPT_MODEL, OPT_TARGET};
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (args_has(&cli->args, options[i]))
            return usage_error(&cli->sink, DIAG_U0005,
                               "--%s is for recipes: an artifact is compared as it is",
                               option_info(options[i])->name);
    return STATUS_OK;
}

static void put_outcome(const Cli *cli, const json_t *diff) {
    StrBuf out = {0};
    if (cli->is_json) {
        char *text = json_dumps(diff, JSON_INDENT(2));
        if (!text) BUG("the comparison is no JSON");
        strbuf_puts(&out, text);
        strbuf_putc(&out, '\n');
        free(text);
    } else
        diff_put_text(diff, args_has(&cli->args, OPT_ALL), &out);
    put_document(&out);
}

Status verb_DIFF(Cli *cli) {
    TRY(check_positional(cli, 2, 2, "two artifacts or recipes"));
    DiffSide sides[2] = {0};
    Artifact artifacts[2];
    bool is_open[2] = {false, false};
    for (int i = 0; i < 2; i++)
        TRY(is_artifact(cli, cli->args.positional[i], &sides[i].is_artifact));
    if (sides[0].is_artifact && sides[1].is_artifact) TRY(refuse_options(cli));
    Status status = STATUS_OK;
    // Artifacts first: what is wrong with one shows before anything is planned.
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2 && status == STATUS_OK; i++) {
            const char *path = cli->args.positional[i];
            if (sides[i].is_artifact != (pass == 0)) continue;
            status = pass == 0 ? diff_open_artifact(cli, path, &artifacts[i], &sides[i])
                               : open_recipe(cli, path, &sides[i]);
            is_open[i] = pass == 0 && status == STATUS_OK;
        }
    if (status == STATUS_OK && is_open[0] && is_open[1])
        status = diff_add_bytes(cli, &artifacts[0], &artifacts[1], &sides[0], &sides[1]);
    if (status == STATUS_OK) {
        json_t *diff = diff_compare(&sides[0], &sides[1], args_has(&cli->args, OPT_ALL));
        put_outcome(cli, diff);
        if (!json_is_true(json_object_get(diff, "equal"))) status = STATUS_NO;
        json_decref(diff);
    }
    for (int i = 0; i < 2; i++) {
        json_decref(sides[i].doc);
        if (is_open[i]) artifact_close(&artifacts[i]);
    }
    return status;
}
