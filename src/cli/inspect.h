// The two kinds of file that `ingot inspect` reads.
#ifndef INGOT_CLI_INSPECT_H
#define INGOT_CLI_INSPECT_H

#include "cli/cli.h"
#include "runtime/artifact.h"
#include "weights/gguf.h"

Status inspect_gguf(Cli *cli, const char *path) MUST_USE;
Status inspect_artifact(Cli *cli, const char *path) MUST_USE;

// The document "ingot-inspect-artifact".
void inspect_put_json(const Artifact *artifact, bool is_verified, StrBuf *out);

// What the compiler would use of a model file. Keys are marked in the file (gguf_is_used).
typedef struct GgufUse {
    bool is_known;                      // false: refused before everything was looked at
    const bool *is_tensor_used;         // by tensor number
    const char *refusal_code, *refusal; // why it cannot be compiled, NULL if it can
} GgufUse;
// Imports the file with the smallest of recipes. Everything lives in the sink. (inspect_use.c, of
// the compiler program)
void inspect_use(Gguf *gguf, DiagSink *sink, GgufUse *out_use);

// What a file is by its first bytes.
typedef enum FileKind { FILE_KIND_UNKNOWN, FILE_KIND_GGUF, FILE_KIND_ARTIFACT } FileKind;
// Failure: U0002, STATUS_IO. A file of fewer than 8 bytes is unknown.
Status file_kind(const char *path, DiagSink *sink, FileKind *out_kind) MUST_USE;

#endif
