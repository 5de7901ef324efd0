// The two kinds of file that `ingot inspect` reads.
#ifndef INGOT_CLI_INSPECT_H
#define INGOT_CLI_INSPECT_H

#include "cli/cli.h"

Status inspect_gguf(Cli *cli, const char *path) MUST_USE;
Status inspect_artifact(Cli *cli, const char *path) MUST_USE;

// What a file is by its first bytes.
typedef enum FileKind { FILE_KIND_UNKNOWN, FILE_KIND_GGUF, FILE_KIND_ARTIFACT } FileKind;
// Failure: U0002, STATUS_IO. A file of fewer than 8 bytes is unknown.
Status file_kind(const char *path, DiagSink *sink, FileKind *out_kind) MUST_USE;

#endif
