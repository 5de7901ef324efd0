// Calls of what takes tensors, on arguments made up here, for measuring.
#ifndef INGOT_CLI_BENCH_TENSORS_H
#define INGOT_CLI_BENCH_TENSORS_H

#include "cli/loaded_model.h"

typedef struct TensorCall {
    const char *entry;
    IngotTensor *arguments; // whose data are the model's own
    uint32_t num;
} TensorCall;

// Writes the arguments of an entry where a call reads them: floats in [-0.5, 0.5), other numbers 0.
TensorCall tensor_call_prepare(const Model *model, uint32_t entry);
Status tensor_call_run(Cli *cli, Model *model, const TensorCall *call) MUST_USE;
void tensor_call_deinit(TensorCall *call);

// `ingot bench` of an artifact that takes tensors: the time of a call of every entry, and of its
// kernels against what was predicted.
Status bench_tensors(Cli *cli, Model *model, uint64_t num_runs) MUST_USE;

#endif
