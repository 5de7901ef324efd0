// The manifest of an artifact: which inputs it was made of, with what, for what. JSON text without
// clocks, paths or host names: equal inputs, equal text.
#ifndef INGOT_COMPILER_MANIFEST_H
#define INGOT_COMPILER_MANIFEST_H

#include "passes/pass.h"
#include "weights/gguf.h"

typedef struct ManifestInputs {
    const char *model_name;
    const char *text; // of the recipe, or of the module, as it was read
    size_t text_len;
    const char *subgraph_path; // of IR text the recipe names; NULL: none
    const char *subgraph_text; // likewise
    size_t subgraph_len;
    const char *explain; // the object of explain.h
    const Gguf *gguf;    // NULL without
    const PassConfig *config;
    const CpuLevel *levels;
    uint32_t num_levels;
    uint64_t num_kernels;
    const char *target_file, *tuning_path; // NULL: none
    const char *build;                     // JSON: the program that compiles; NULL: not said
    const StrBuf *predicted, *settings;    // JSON
    bool hashes_model;                     // false: the model's hash is left out (dry run)
} ManifestInputs;

// Appends the SHA-256 as a JSON string.
void manifest_put_sha256(const uint8_t *bytes, uint64_t len, StrBuf *out);

Status manifest_build(const ManifestInputs *inputs, DiagSink *sink, StrBuf *out_text) MUST_USE;

#endif
