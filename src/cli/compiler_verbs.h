// What the verbs of the compiler program share.
#ifndef INGOT_CLI_COMPILER_VERBS_H
#define INGOT_CLI_COMPILER_VERBS_H

#include "cli/cli.h"

// --list-passes and --list-dialects, if one is given.
Status put_lists(Cli *cli, bool *out_is_done) MUST_USE;
// IR text on stdout; with --json inside a document of that schema.
void put_ir(const Cli *cli, const char *schema, const StrBuf *text);

#endif
