// Machines of the hardware table on the command line.
#ifndef INGOT_CLI_TARGET_LIST_H
#define INGOT_CLI_TARGET_LIST_H

#include "cli/cli.h"
#include "target/target.h"

Status list_targets(Cli *cli) MUST_USE;                    // one a line
void explain_target(const Cli *cli, const Target *target); // all numbers with their sources

#endif
