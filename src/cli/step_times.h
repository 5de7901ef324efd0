// How long each step of an artifact's plan takes, by the executor's own clock.
#ifndef INGOT_CLI_STEP_TIMES_H
#define INGOT_CLI_STEP_TIMES_H

#include "abi/plan.h"
#include "cli/loaded_model.h"

// Does a call of the bucket behind `depth` tokens fit the context?
bool step_times_fits(const Model *model, const PlanEntry *entry, uint64_t depth);

// Nanoseconds by step of the plan, none measured (UINT64_MAX); the caller frees them.
uint64_t *step_times_create(const Model *model);

// Calls every bucket that fits the context behind `depth` tokens once, or every entry that takes
// tensors, and lowers best_ns to what its steps took. Steps of buckets that do not fit stay as they
// are.
Status step_times_measure(Cli *cli, Model *model, uint64_t depth, uint64_t *best_ns) MUST_USE;

#endif
