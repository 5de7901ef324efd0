// Whole numbers of a function: what index arithmetic gives once some values are known. Part of
// kernel_cost.h.
#ifndef INGOT_PASSES_KERNEL_EVAL_H
#define INGOT_PASSES_KERNEL_EVAL_H

#include "passes/kernel_cost.h"

typedef struct Eval {
    int64_t *values; // by value number, from `first` on
    bool *is_set;
    uint32_t first, len;
} Eval;

// For the values whose numbers are first to first + num_values - 1; others are not known.
void eval_init(Eval *eval, uint32_t first, uint32_t num_values);
void eval_deinit(Eval *eval);
void eval_set(Eval *eval, const IrValue *v, int64_t value);
void eval_forget(Eval *eval, const IrValue *v);
// False if the value depends on one that is not known, or on memory.
bool eval_value(const Eval *eval, const IrValue *v, int64_t *out);

#endif
