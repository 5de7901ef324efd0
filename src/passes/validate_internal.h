// What the files of the validator share: how a function is called, its inputs, its results.
#ifndef INGOT_PASSES_VALIDATE_INTERNAL_H
#define INGOT_PASSES_VALIDATE_INTERNAL_H

#include "ir/interp.h"
#include "passes/sizes.h"
#include "passes/validate.h"

enum { VALIDATE_MAX_CASES = 16, VALIDATE_MAX_RANK = 8 };

// What an argument stands for.
typedef enum ArgRole {
    ARG_INPUT,  // tensor, memref or scalar with a key
    ARG_VALID,  // the number of valid tokens
    ARG_COUNT,  // the valid elements of a dimension whose size has a name
    ARG_RESULT, // a buffer for result `result`
    ARG_ARENA,
    ARG_TILE_BEGIN,
    ARG_TILE_END,
} ArgRole;

typedef struct CallArg {
    ArgRole role;
    const IrType *type;
    const char *key;    // of inputs: equal before and after a pass for what is the same value
    int32_t result;     // of ARG_RESULT, and of an input updated in place; else -1
    char cache;         // 'k', 'v': a KV cache, else 0
    const char *param;  // of parameters, planes and inits: text that says which; else NULL
    uint32_t number;    // in the signature
    const IrAttr *dims; // names of its dimensions; NULL: none
    const char *count;  // of ARG_COUNT: the name
} CallArg;

typedef struct CallResult {
    char cache;         // as above
    uint32_t row_dims;  // bits: dimensions that count tokens
    const IrAttr *dims; // names of its dimensions; NULL: none
    const IrType *type;
} CallResult;

typedef struct Call {
    const IrOp *func;
    const char *name;
    const char *entry; // what a version of an entry was made from; NULL: it is none
    const IrOp *root;  // the public function whose calls lead to it
    CallArg *args;
    CallResult *results;
    uint32_t num_args, num_results;
    bool has_valid;  // takes the number of valid tokens
    bool is_dynamic; // sizes count the tokens
    bool is_kernel;  // level 2: called with a range of tiles
    int64_t bucket;  // tokens of the entry that calls it; 0: none
    const IrAffineMap *tiles;
    int32_t tiles_arg; // number among the scalars, -1 without
} Call;

// How an input is filled, fixed when the function is first met.
typedef struct InputSpec {
    const char *function, *key;
    const char *param; // see CallArg
    int64_t bound;     // integers lie below it; 0: any
} InputSpec;

// A parameter of the model as an entry takes it.
typedef struct ParamInfo {
    const char *name;  // one parameter
    const char *quant; // NULL: plain
    int64_t rows, columns;
} ParamInfo;

typedef struct CallValue {
    const IrType *type; // static; NULL: there is none
    uint64_t bits;      // of a scalar
    void *data;         // aligned to 64
    uint64_t len_bytes;
} CallValue;

typedef enum RunStatus {
    RUN_OK,
    RUN_FAULT,
    RUN_TOO_MANY_OPS,
    RUN_TOO_MANY_BYTES,
    RUN_NO_NATIVE
} RunStatus;

typedef struct RunResults {
    RunStatus status;
    const char *fault; // text of RUN_FAULT
    CallValue *values; // canonical: valid rows only, caches in their first layout
    uint32_t num_values;
    bool has_overflow; // a number became none, which is not asked in runs with noise
} RunResults;

// The values of the named sizes in a run.
typedef struct SizeCase {
    const char *names[SIZES_MAX_NAMES];
    int64_t of[SIZES_MAX_NAMES];
    uint32_t num;
} SizeCase;

// A module with what is known of its calls.
typedef struct Snapshot {
    IrModule *m;
    Arena arena;
    Call *calls;
    uint32_t num_calls;
    bool is_laid_out;   // caches are laid out for attention
    bool is_vectorized; // kernels obey their range of tiles
} Snapshot;

struct Validator {
    ValidateOptions options;
    Arena arena;
    Snapshot before;
    bool has_before;
    InputSpec *specs;
    size_t num_specs, specs_capacity;
    ParamInfo *params;
    size_t num_params, params_capacity;
    int64_t tokens[VALIDATE_MAX_CASES]; // numbers of tokens to try, ascending
    uint32_t num_tokens;
    int64_t buckets[32];
    uint32_t num_buckets;
    int64_t batches[32]; // numbers of sequences of the entries of batches
    uint32_t num_batches;
    const char *activations; // of the recipe
    double op_rounding;      // the coarsest an op class is computed with; 0: none is but in f32
    bool has_narrow_types;   // of those or of caches: a number may leave their range
    SizeCase sizes;          // of the run at hand
    char *row_names[256];    // functions with sizes that count tokens, and which of each result
    uint32_t row_dims[256][8];
    uint32_t num_row_names;
    const char *long_names[512]; // "level name" of functions known to run too long
    uint32_t num_long;
    ValidateReport report;
    uint64_t pass_began_ns; // CPU time when the pass at hand began; 0: none runs
    uint32_t pass_number;
};

// ---- validate_call.c
void snapshot_take(Validator *v, const IrModule *m, Snapshot *out);
void snapshot_free(Snapshot *s);
const Call *snapshot_find(const Snapshot *s, const char *name);
// Text of a parameter or one of its planes: `param "name" plane`.
const char *validate_param_text(Arena *arena, const IrAttr *param, const IrAttr *plane);
// The argument of the public function that argument number arg of func comes from, or its own.
const IrValue *validate_origin(const IrModule *m, const IrOp *func, uint32_t arg);
// The size of a dimension whose name dims gives; 0: it has none.
int64_t validate_size_of(const Validator *v, const IrAttr *dims, uint32_t dim);
// The function a bucket's clone was made from: "layer_s8" gives "layer".
const char *validate_base_name(Validator *v, const char *name);

// ---- validate_input.c
uint64_t validate_hash(uint64_t seed, const char *text);
// Fills every input of a call for `tokens` valid tokens; false: too large. values are zeroed first.
bool validate_inputs(Validator *v, Snapshot *s, const Call *call, int64_t tokens, CallValue *values,
                     const char **out_fault);
void validate_value_init(CallValue *value, const IrType *type);
void validate_value_free(CallValue *value);
int64_t validate_index_bound(const IrModule *m, const IrValue *value, int64_t max_tokens);

// ---- validate_run.c
typedef struct Noise {
    double roundings; // 0: none
    const char *operands;
    bool rounds_operands;
    uint64_t seed;
} Noise;
// native: level 3, run as machine code; NULL: the interpreter. noise may be NULL.
void validate_run(Validator *v, Snapshot *s, const Call *call, const IrModule *native,
                  int64_t tokens, const Noise *noise, RunResults *out);
void validate_results_free(RunResults *results);
// Writes modules and inputs of a difference into the dump folder.
void validate_write_counterexample(Validator *v, Snapshot *before, const Call *a, Snapshot *after,
                                   const Call *b, int64_t tokens, const char *pass, DiagSink *sink);

#endif
