// `ingot tune --probe`: measures this machine into a target file, which `ingot compile
// --target-file` takes as an input.
#include <stdio.h>

#include "base/file.h"
#include "cli/cli.h"
#include "target/probe.h"

Status verb_TUNE(Cli *cli) {
    const Args *args = &cli->args;
    TRY(check_positional(cli, 0, 0, "no file"));
    if (!args_has(args, OPT_PROBE))
        return usage_error(&cli->sink, DIAG_U0005,
                           "`ingot tune` needs --probe: say what to measure");
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
