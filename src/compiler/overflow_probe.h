// Where a language model's numbers stop being numbers: its level-1 module, in the types the recipe
// asks for, is interpreted token by token on the model's own weights, and the first op that makes
// an infinity or a NaN of finite operands is named, with the precisions that cure it.
#ifndef INGOT_COMPILER_OVERFLOW_PROBE_H
#define INGOT_COMPILER_OVERFLOW_PROBE_H

#include "abi/op_precision.h"
#include "base/diag.h"

typedef struct ProbeOptions {
    const char *recipe_path;
    const char *model_path; // overrides the recipe's; NULL: the recipe's
    const int32_t *ids;     // what is fed, one after another; each below the vocabulary's size
    uint32_t num_ids;       // at most the context
    uint64_t max_bytes;     // of the weights as the interpreter keeps them; more: STATUS_LIMIT
    void (*progress)(uint64_t done, uint64_t total, void *ctx); // tokens of a run; may be NULL
    void *progress_ctx;
} ProbeOptions;

// Texts are owned by the arena given.
typedef struct ProbePlace {
    bool is_found;
    bool is_nan;          // else infinite
    uint32_t token;       // of ids, from 0
    int64_t layer;        // -1: before or behind the layers
    const char *op;       // its kind, and that of the structured op around it
    const char *function; // of the level-1 module, as `ingot compile --emit-ir` prints it
    const char *weights;  // the parameter that is nearest in front of it, NULL: none
} ProbePlace;

typedef struct ProbeReport {
    ProbePlace first;
    // Keys of `precision`, with the words that keep all tokens finite: "activation_precision:
    // fp32". NULL: none was found, and `first` is what the recipe as it is gives.
    const char *cure;
    const char *bad_param; // a parameter with a value that is infinite or no number, NULL: none
    uint32_t num_runs;
} ProbeReport;

// Runs the recipe as it is; then, as long as an op overflows, with the class of that op in fp32, or
// the caches in f32; then drops of these what is not needed. Errors: those of reading and
// importing; STATUS_LIMIT without a diagnostic for a model that is too large.
Status probe_run(const ProbeOptions *options, DiagSink *sink, Arena *arena,
                 ProbeReport *out_report) MUST_USE;

#endif
