// Several sequences on one model that generate together, for measuring batches.
#ifndef INGOT_CLI_SEQUENCES_H
#define INGOT_CLI_SEQUENCES_H

#include "cli/loaded_model.h"

typedef struct Sequences {
    Model *model; // borrowed
    IngotSession **sessions;
    int32_t *ids; // of a step, one for each
    uint32_t num;
} Sequences;

// Opens num sequences, each with the first `depth` of ids read. The model's own session is emptied:
// all share its pages. To be closed also after a failure.
Status sequences_open(Cli *cli, Model *model, uint32_t num, const int32_t *ids, uint64_t depth,
                      Sequences *out) MUST_USE;
// Appends the token to every sequence, all in one call.
Status sequences_decode(Cli *cli, Sequences *sequences, int32_t id) MUST_USE;
void sequences_close(Sequences *sequences);

#endif
