// `ingot run` of artifacts that are called with tensors.
#ifndef INGOT_CLI_RUN_TENSORS_H
#define INGOT_CLI_RUN_TENSORS_H

#include "cli/cli.h"

// Does the command line speak of tensors?
bool run_tensors_is_wanted(const Cli *cli);
Status run_tensors(Cli *cli) MUST_USE;

#endif
