// `ingot tune RECIPE`: measures the schedules of a recipe's kernels where they run, in the whole
// model, and writes the quickest into a tuning lock.
#ifndef INGOT_CLI_TUNE_KERNELS_H
#define INGOT_CLI_TUNE_KERNELS_H

#include "cli/compiler_verbs.h"

Status tune_kernels(Cli *cli, const char *recipe, const char *lock_path) MUST_USE;

#endif
