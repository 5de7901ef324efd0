// From a recipe and a model file to an artifact: the straight-line story of the compiler.
#ifndef INGOT_COMPILER_COMPILE_H
#define INGOT_COMPILER_COMPILE_H

#include "abi/cpu.h"
#include "abi/plan.h"
#include "base/diag.h"
#include "compiler/pass_cost.h"
#include "ir/ir.h"
#include "passes/validate.h"

typedef enum CompilePhase {
    COMPILE_IMPORT,  // recipe and model read, level-1 module made
    COMPILE_PASSES,  // the pass pipeline, to machine code of every level
    COMPILE_WEIGHTS, // weights packed and written
    NUM_COMPILE_PHASES
} CompilePhase;

// done of total units (passes, bytes); is_finished once per phase.
typedef void (*CompileProgress)(CompilePhase phase, uint64_t done, uint64_t total, bool is_finished,
                                void *ctx);

typedef struct CompileOptions {
    const char *recipe_path;
    const char *model_path;  // overrides the recipe's; NULL: the recipe's
    const char *out_path;    // NULL: nothing is written
    bool is_dry_run;         // out_path is checked, and nothing written
    bool is_check;           // of a dry run: no code is made, its bytes stay unknown
    const char *target;      // one of the recipe's; `host` for IR text; NULL: the only one
    const char *target_file; // a description of the machine, instead of the table's; NULL: none
    const char *tuning_path; // a tuning lock (tuning_lock.h); NULL: the cost model chooses
    const char *build; // JSON object: the program that compiles; NULL: the manifest leaves it out
    bool hashes_model; // in a dry run too
    uint32_t levels;   // bits 1 << CpuLevel; 0: those of the recipe, of this machine without one
    uint32_t threads;  // workers of the artifact; 0: the recipe's maximum. More: STATUS_LIMIT
    uint32_t compile_threads; // 0: what the process may use
    // Dumps, files NN-pass.mlir in dump_dir: a pass name or "all"; NULL: none.
    const char *dump_before, *dump_after, *dump_dir;
    const char
        *disabled; // passes left out, names with commas; NULL: none. P0062 if others need them
    const char *resume_from; // go on with this module instead of importing
    // Print the module to out_ir once it has this level (1: as imported, 2: planned, 3: lowered)
    // and stop; 0: no.
    uint32_t emit_ir_level;
    StrBuf *out_ir;
    // Run every function before and after every pass and compare (passes/validate.h); native and
    // dump_dir are filled in. NULL: no.
    const ValidateOptions *validate;
    CompileProgress progress; // may be NULL
    void *progress_ctx;
} CompileOptions;

typedef struct CompileKernel {
    const char *name, *kind;
    uint64_t code_bytes;    // of the first level
    uint64_t code_ns;       // that its code of all levels took; part of COMPILE_PASSES
    uint64_t scratch_bytes; // of its intermediates, each worker its own
} CompileKernel;

typedef struct CompilePart {
    const char *name, *set_by;
    uint64_t bytes;
    bool is_outside;
} CompilePart;

// A size of an entry that varies, in one of its versions.
typedef struct CompileSize {
    const char *name, *set_by;
    int64_t bucket;
    BucketRange range;
} CompileSize;

typedef struct CompileEntry {
    const char *name;
    const CompileSize *sizes;
    uint32_t num_sizes;
    uint32_t bucket_tokens, num_steps, num_barriers;
    bool is_batch;           // bucket_tokens is a number of sequences, one token each
    uint32_t least, largest; // smallest call it serves; the largest bucket there is, of its kind
    uint64_t arena_bytes;    // that its steps use
    uint64_t code_bytes, own_code_bytes; // of its kernels; of those that no other entry calls
    uint64_t own_code_ns;                // code_ns of those
    double one_ns[2], all_ns[2]; // predicted: at an empty and a full context, 1 and all threads
} CompileEntry;

// A buffer of an entry in the arena.
typedef struct CompileBuffer {
    const char *entry;
    uint64_t offset, bytes;
    uint32_t first_step, last_step; // that name it, both included
    const char *first_kernel, *last_kernel;
    const uint32_t *shares; // numbers, within the entry, of the buffers that have bytes in common
    uint32_t num_shares;
} CompileBuffer;

// What was decided; everything is owned by arena.
typedef struct CompileReport {
    Arena arena;
    const char *model_name;
    CompileKernel *kernels;
    size_t num_kernels;
    CompilePart *parts; // memory by part; those inside add up to total_bytes
    size_t num_parts;
    uint64_t total_bytes;
    uint64_t kv_bytes;                                             // of all pages
    uint32_t page_len_tokens, max_pages, num_pages, max_sequences; // as PlanHeader has them
    CompileEntry *entries;
    size_t num_entries;
    CompileBuffer *buffers; // by entry
    size_t num_buffers;
    CpuLevel levels[NUM_CPU_LEVELS];
    size_t num_levels;
    const char *target;    // name of the machine the times are predicted for
    const char *predicted; // JSON: an array, one object per level
    uint32_t threads, context_len_tokens;
    const char *explain;     // the object of explain.h
    const char *manifest;    // JSON (manifest.h)
    DisabledCost cost;       // of disabled passes, on the machine of `target`
    uint32_t num_pinned;     // kernels of all levels whose schedule the lock gave
    uint64_t artifact_bytes; // 0 in a dry run
    uint64_t phase_ns[NUM_COMPILE_PHASES];
    bool is_validated;
    ValidateReport validation;
} CompileReport;

// Compiles. Errors leave nothing under out_path. report: initialised by the call, freed by
// compile_report_deinit in either case; filled on success only.
Status compile_run(const CompileOptions *options, DiagSink *sink,
                   CompileReport *out_report) MUST_USE;
void compile_report_deinit(CompileReport *report);

#endif
