// Running a whole tiny model: a module of any level through the interpreter, and an artifact
// through the executor, both fed with tokens step by step.
#ifndef INGOT_TESTS_CHAIN_RUN_H
#define INGOT_TESTS_CHAIN_RUN_H

#include "compiler/compile.h"
#include "runtime/session.h"
#include "tiny_chain.h"

enum { CHAIN_MAX_ARGS = 128, CHAIN_MAX_CACHES = 16 };

// A module, from after lower-quant (level 1) to before lower-target (level 2).
typedef struct ChainRun {
    TinyChain *chain;
    IrModule *m;
    uint8_t *caches[CHAIN_MAX_CACHES]; // in the order of the entry's arguments
    uint64_t cache_bytes[CHAIN_MAX_CACHES];
    uint32_t num_tokens;
    uint32_t num_lost_pages; // entries at the start of the page table that name no page
} ChainRun;

void chain_run_open(ChainRun *run, TinyChain *chain, IrModule *m); // m is borrowed
void chain_run_close(ChainRun *run);
// Appends n ids, by the entry of this bucket; logits of the last one.
void chain_run_feed(ChainRun *run, uint32_t bucket, const int32_t *ids, uint32_t n, float *logits);

// A folder with the model and the recipe as files, for compile_run.
typedef struct ChainFolder {
    TinyChain *chain;
    char path[64], recipe[96], model[96], artifact[96], dump[128];
} ChainFolder;

void chain_folder_open(ChainFolder *folder, TinyChain *chain);
void chain_folder_close(ChainFolder *folder); // with everything in it
// Compiles to folder->artifact; options may be NULL. The paths are filled in.
void chain_folder_compile(ChainFolder *folder, const CompileOptions *options);
// Writes a module's text to folder->dump and compiles from there.
void chain_folder_resume(ChainFolder *folder, const IrModule *m);
char *chain_read_file(const char *path, size_t *out_len);

// An artifact, open.
typedef struct ChainArtifact {
    TinyChain *chain;
    Artifact artifact;
    Executor *executor;
    Session *session;
} ChainArtifact;

void chain_artifact_open(ChainArtifact *a, ChainFolder *folder, uint32_t num_threads,
                         const char *level);
void chain_artifact_close(ChainArtifact *a);
void chain_artifact_feed(ChainArtifact *a, const int32_t *ids, uint32_t n, float *logits);

// Largest |a - b| over the vocabulary, as a share of the largest |b|.
double chain_distance(const TinyChain *chain, const float *a, const float *b);

#endif
