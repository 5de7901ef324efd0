// Translation validation: the interpreter runs the functions of a module before and after every
// pass on equal inputs, and their results must compare as the pass declares (compare.def).
//
// A function afterwards is compared with the one of the same name before, or after split-buckets
// with the one it was cloned from. Arguments are matched by what they stand for: a parameter or its
// plane, a cache, the valid-token count, else their position; parameters of an entry reach the
// arguments of functions through the calls. Inputs are random, from the seed alone. Numbers of
// tokens: the least, the last of a bucket, the first of the next, one off any step, the most. A
// module of named sizes has the same of each size: a version is compared with the entry it was made
// from, at the sizes it serves, and what is padding in its results is left out.
#ifndef INGOT_PASSES_VALIDATE_H
#define INGOT_PASSES_VALIDATE_H

#include "passes/pass.h"

// Runs one function of a level-3 module as machine code; false: not possible on this machine.
typedef bool (*ValidateNative)(void *ctx, const IrModule *m, const char *function,
                               void *const *buffers, const int64_t *scalars, int64_t tile_begin,
                               int64_t tile_end);

typedef struct ValidateOptions {
    uint64_t max_ops;   // executed by one run of one function; 0: VALIDATE_MAX_OPS
    uint64_t max_bytes; // of the inputs of one function; 0: VALIDATE_MAX_BYTES
    uint64_t seed;
    const char *dump_dir; // where a counterexample goes, NULL: nowhere
    ValidateNative native;
    void *native_ctx;
} ValidateOptions;

// A run within these takes the interpreter under a second or two.
#define VALIDATE_MAX_OPS   UINT64_C(60000000)
#define VALIDATE_MAX_BYTES (UINT64_C(96) << 20)

typedef enum ValidateSkip {
    VALIDATE_SKIP_OPS,    // more operations than the bound
    VALIDATE_SKIP_BYTES,  // larger inputs than the bound
    VALIDATE_SKIP_RANGE,  // too large for a type the recipe asks for
    VALIDATE_SKIP_NEW,    // made by the pass: its callers are compared
    VALIDATE_SKIP_INPUTS, // no valid inputs were found, or arguments that have no counterpart
    VALIDATE_SKIP_NATIVE, // machine code for another processor
    NUM_VALIDATE_SKIPS
} ValidateSkip;
const char *validate_skip_reason(ValidateSkip skip);

typedef struct ValidateReport {
    uint32_t num_passes;
    uint32_t num_compared;  // functions after a pass that differ from before and were run
    uint32_t num_runs;      // pairs of runs: a compared function with one number of tokens
    uint32_t num_unchanged; // functions a pass left as they were
    uint32_t num_skipped[NUM_VALIDATE_SKIPS];
    double worst; // largest difference as a part of its bound; 0: all results equal to the bit
    const char *worst_pass, *worst_function; // NULL if worst is 0
    // CPU time of all threads: of running and comparing functions, and of the passes themselves,
    // each with the check of its module that any compile makes.
    uint64_t verify_ns, passes_ns;
} ValidateReport;

typedef struct Validator Validator;
Validator *validate_create(const ValidateOptions *options);
void validate_destroy(Validator *v);
// A PassHook; ctx is the Validator. A difference is P0050, naming pass and function.
Status validate_hook(const IrModule *m, PassId id, bool is_before, void *ctx, DiagSink *sink);
// The pass has ended: what comes before the hook after it is not its time.
void validate_pass_ended(Validator *v);
ValidateReport validate_report(const Validator *v);
// "verify-each: 19 passes, 120 functions compared, ...", and what that took
void validate_report_text(const ValidateReport *report, StrBuf *out);

#endif
