// A model ready to answer, through the public run-time library (include/ingot.h): an artifact
// opened and one conversation. Errors of the library become diagnostics.
#ifndef INGOT_CLI_LOADED_MODEL_H
#define INGOT_CLI_LOADED_MODEL_H

#include "cli/cli.h"
#include "ingot.h"

typedef struct Model {
    const char *path;
    IngotModel *handle;
    IngotSession *session; // NULL: the artifact takes tensors
    IngotModelInfo info;
    uint64_t open_ns;    // how long opening took
    uint64_t warm_up_ns; // 0: not asked for
} Model;

// Opens with --threads and --cpu of the command line, and warms up with --warm-up; the second one
// also what takes tensors instead of tokens.
Status model_open(Cli *cli, const char *path, Model *out_model) MUST_USE;
Status model_open_any(Cli *cli, const char *path, Model *out_model) MUST_USE;
void model_close(Model *model);
// Runs every version once.
Status model_warm_up(Cli *cli, Model *model) MUST_USE;

// ingot_prefill and ingot_decode on the model's session.
Status model_prefill(Cli *cli, Model *model, const int32_t *ids, size_t num_ids) MUST_USE;
Status model_decode(Cli *cli, Model *model, int32_t id) MUST_USE;

// Turns what a call of the library returned into our status, and its error into diagnostics. Frees
// the error.
Status take_error(Cli *cli, IngotStatus status, IngotError *error) MUST_USE;

// The likeliest token of the current logits; the lowest id of equals.
int32_t model_argmax(const Model *model);

// Natural logarithm of the sum of exp(logits): log p of a token is its logit less this.
double logits_log_sum(const float *logits, uint32_t vocab_size);

#endif
