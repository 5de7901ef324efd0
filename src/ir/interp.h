// The reference interpreter for levels 1 and 2: it defines what IR means (docs/ir.md, "Execution").
// The module must have passed ir_verify.
#ifndef INGOT_IR_INTERP_H
#define INGOT_IR_INTERP_H

#include "ir/ir.h"

// An argument or result: a scalar in bits (integers sign-extended, floats in their own format), or
// the row-major packed bytes of a tensor or memref. A memref argument is written in place.
typedef struct IrInterpValue {
    const IrType *type;
    uint64_t bits;
    void *data; // borrowed for arguments; results: owned, freed by ir_interp_result_deinit
    uint64_t len_bytes;
} IrInterpValue;

// Numbers that became none: results that are infinite though every operand is finite, or NaN though
// none is. What they spread to is not counted, and a constant -inf of a mask is none of them.
// `op` is that of the first in a structured op one of whose results is no number afterwards: the
// exponential of a gate may overflow on the way to a zero.
enum { IR_INTERP_MAX_PATH = 8 };
typedef struct IrInterpEvents {
    uint64_t count;                        // of all
    const IrOp *op;                        // NULL: none
    const IrOp *calls[IR_INTERP_MAX_PATH]; // under way then, the innermost first
    uint32_t num_calls;
    bool is_nan;
} IrInterpEvents;

typedef struct IrInterpOptions {
    // Stops a runaway program: executed operations, each vector lane and each element moved
    // counting as one. 0 = no limit.
    uint64_t max_ops;
    uint64_t max_bytes;      // bound on live data, trackers, frames and results, 0 = 4 GiB
    StrBuf *print_output;    // what the test driver's print calls write; NULL = refuse them
    uint32_t parallel_order; // of scf.parallel/forall: 0 program, 1 reverse, else seed of a shuffle
    // Probing: every float result that was rounded is moved by up to `noise` roundings, at random,
    // so that a few runs show how far rounding carries (stochastic arithmetic; Vignes, "A
    // stochastic arithmetic for reliable scientific computation", 1993). Operands of products with
    // weights (ingot.contract = "weights") move as far as storing them as operand_noise says would
    // do: NULL, "int8" (a 254th of the largest of a block) or "bf16". With rounds_operands they are
    // stored and read back, not moved at random: a block's roundings may add up, which random ones
    // do not.
    double noise;
    uint64_t noise_seed;
    const char *operand_noise;
    bool rounds_operands;
    IrInterpEvents *events; // counted here; NULL: not looked for
} IrInterpOptions;

// Calls function `entry`. results has room for the function's results. Faults of the program (index
// out of range, undefined data read, division by zero, ...) are diagnostics with the op's location:
// STATUS_INVALID, or STATUS_LIMIT (I0303) where a bound of the options was reached.
Status ir_interp_call(IrModule *m, const char *entry, size_t num_args, const IrInterpValue *args,
                      size_t num_results, IrInterpValue *out_results,
                      const IrInterpOptions *options, DiagSink *sink) MUST_USE;
void ir_interp_result_deinit(IrInterpValue *result);

#endif
