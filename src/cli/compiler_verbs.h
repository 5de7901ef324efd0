// What the verbs of the compiler program share.
#ifndef INGOT_CLI_COMPILER_VERBS_H
#define INGOT_CLI_COMPILER_VERBS_H

#include "cli/cli.h"

void list_passes(const Cli *cli);
void list_dialects(const Cli *cli);

#endif
