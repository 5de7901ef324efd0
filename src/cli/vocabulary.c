// Opens the tokenizer of an artifact or a GGUF file; see vocabulary.h.
#include "cli/vocabulary.h"

#include "cli/inspect.h"
#include "weights/tokenizer_import.h"

static Status open_gguf(const char *path, DiagSink *sink, Vocabulary *vocabulary) {
    Gguf *gguf;
    TRY(gguf_open(path, sink, &gguf));
    Status status = tokenizer_import(gguf, sink, &vocabulary->blob);
    gguf_close(gguf);
    TRY(status);
    return tokenizer_open(vocabulary->blob.data, vocabulary->blob.len, sink,
                          &vocabulary->tokenizer);
}

static Status open_artifact(const char *path, DiagSink *sink, Vocabulary *vocabulary) {
    TRY(artifact_open(path, sink, &vocabulary->artifact));
    vocabulary->has_artifact = true;
    const uint8_t *blob;
    const SectionEntry *section =
        artifact_find_section(&vocabulary->artifact, SECTION_TOKENIZER, 0, &blob);
    if (!section)
        return diag_error(sink, DIAG_T0007, (DiagSpan){.file = path},
                          "the artifact was compiled without a tokenizer");
    return tokenizer_open(blob, section->len_bytes, sink, &vocabulary->tokenizer);
}

Status vocabulary_open(const char *path, DiagSink *sink, Vocabulary *out_vocabulary) {
    *out_vocabulary = (Vocabulary){0};
    FileKind kind;
    TRY(file_kind(path, sink, &kind));
    bool is_gguf =
        kind == FILE_KIND_GGUF || (kind == FILE_KIND_UNKNOWN && str_has_suffix(path, ".gguf"));
    Status status =
        is_gguf ? open_gguf(path, sink, out_vocabulary) : open_artifact(path, sink, out_vocabulary);
    if (status != STATUS_OK) vocabulary_close(out_vocabulary);
    return status;
}

void vocabulary_close(Vocabulary *vocabulary) {
    tokenizer_close(vocabulary->tokenizer);
    if (vocabulary->has_artifact) artifact_close(&vocabulary->artifact);
    strbuf_deinit(&vocabulary->blob);
    *vocabulary = (Vocabulary){0};
}
