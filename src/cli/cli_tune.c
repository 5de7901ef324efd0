// `ingot tune`: measurements that a compile takes as an input. --probe: this machine, into a target
// file. A recipe: the schedules of its kernels, into a tuning lock.
#include <stdio.h>

#include "base/file.h"
#include "cli/tune_kernels.h"
#include "target/probe.h"

static Status probe(Cli *cli) {
    const Args *args = &cli->args;
    TRY(check_positional(cli, 0, 0, "no file"));
    ProbeOptions options = {.num_threads = (uint32_t)args_count(args, OPT_THREADS, 0)};
    Target target;
    progress_begin("probe");
    Status status = probe_host(&options, &cli->sink, &target);
    progress_clear();
    if (status != STATUS_OK) return status;
    StrBuf text = {0};
    target_write(&target, &text);
    const char *path = args_text(args, OPT_OUTPUT, NULL);
    if (!path) {
        put_document(&text);
        return STATUS_OK;
    }
    status = file_write(path, NULL, text.data, text.len, &cli->sink);
    strbuf_deinit(&text);
    return status;
}

Status verb_TUNE(Cli *cli) {
    if (args_has(&cli->args, OPT_PROBE)) return probe(cli);
    TRY(check_positional(cli, 1, 1, "a recipe, or --probe"));
    const char *path = args_text(&cli->args, OPT_OUTPUT, NULL);
    if (!path)
        return usage_error(&cli->sink, DIAG_U0005,
                           "`ingot tune RECIPE` needs -o LOCK.yaml to be written");
    return tune_kernels(cli, cli->args.positional[0], path);
}
