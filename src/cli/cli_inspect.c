// `ingot inspect FILE`: what a file holds.
#include <string.h>

#include "abi/plan.h"
#include "base/file.h"
#include "cli/inspect.h"

Status file_kind(const char *path, DiagSink *sink, FileKind *out_kind) {
    FileMap map;
    TRY(file_map_open(path, sink, &map));
    *out_kind = FILE_KIND_UNKNOWN;
    if (map.len_bytes >= 8) {
        if (memcmp(map.data, "GGUF", 4) == 0) *out_kind = FILE_KIND_GGUF;
        if (memcmp(map.data, ARTIFACT_MAGIC, 8) == 0) *out_kind = FILE_KIND_ARTIFACT;
    }
    file_map_close(&map);
    return STATUS_OK;
}

Status verb_INSPECT(Cli *cli) {
    TRY(check_positional(cli, 1, 1, "a file"));
    const char *path = cli->args.positional[0];
    FileKind kind;
    TRY(file_kind(path, &cli->sink, &kind));
    // What is neither is left to the reader its name speaks of, which says what is wrong with it.
    bool is_gguf =
        kind == FILE_KIND_GGUF || (kind == FILE_KIND_UNKNOWN && str_has_suffix(path, ".gguf"));
    if (is_gguf && args_has(&cli->args, OPT_VERIFY))
        return usage_error(&cli->sink, DIAG_U0005,
                           "--verify is for artifacts: a GGUF file holds no checksum");
    return is_gguf ? inspect_gguf(cli, path) : inspect_artifact(cli, path);
}
