// Faults to be switched on one at a time, in a build of the passes for the test of the validator
// (tests/passes/mutations.def). In every other build MUTATED is false and nothing of them remains.
#ifndef INGOT_PASSES_MUTATE_H
#define INGOT_PASSES_MUTATE_H

#ifdef INGOT_MUTATIONS
#include "passes/pass.h"

typedef enum MutationId {
#define MUTATION(id, pass, what) MUTATION_##id,
#include "passes/mutations.def"
#undef MUTATION
    NUM_MUTATIONS
} MutationId;

extern int mutation_chosen; // a MutationId; -1: none. Defined by the test.
#define MUTATED(id) (mutation_chosen == MUTATION_##id)
#else
#define MUTATED(id) false
#endif

#endif
