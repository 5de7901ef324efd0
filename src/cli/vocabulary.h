// The tokenizer of a model, from an artifact or straight from a GGUF file.
#ifndef INGOT_CLI_VOCABULARY_H
#define INGOT_CLI_VOCABULARY_H

#include "runtime/artifact.h"
#include "runtime/tokenizer.h"

typedef struct Vocabulary {
    Tokenizer *tokenizer;
    bool has_artifact;
    Artifact artifact; // keeps the tables mapped
    StrBuf blob;       // the tables made from a GGUF file
} Vocabulary;

Status vocabulary_open(const char *path, DiagSink *sink, Vocabulary *out_vocabulary) MUST_USE;
void vocabulary_close(Vocabulary *vocabulary);

#endif
