// Shows the record of a compile: a summary, or the part the options ask for.
#ifndef INGOT_CLI_EXPLAIN_VIEW_H
#define INGOT_CLI_EXPLAIN_VIEW_H

#include "cli/cli.h"

// json: the object "ingot-explain-compile". Prints it filtered: as it is with --json, else as text.
// predicted: what the cost model said of each level, for its schedules; NULL: none was chosen.
// False if json is no such object.
bool explain_show(const Cli *cli, const char *json, size_t len_bytes, const char *predicted);
// The same of the record inside an artifact's manifest.
bool explain_show_manifest(const Cli *cli, const char *json, size_t len_bytes);

// A recipe, or the word of one; in the program with the compiler.
Status explain_recipe(Cli *cli, const char *path) MUST_USE;
Status explain_module(Cli *cli, const char *path) MUST_USE; // IR text
// Describes the recipe's key of this name; false if there is none.
bool explain_key(const Cli *cli, const char *key);

#endif
