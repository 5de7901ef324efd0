// The two measures of `ingot eval`.
#ifndef INGOT_CLI_EVAL_H
#define INGOT_CLI_EVAL_H

#include "cli/loaded_model.h"

// The files read, which -o must not overwrite, ended by NULL.
void eval_inputs(const Cli *cli, const char *out_inputs[4]);
// Answers a list of prompts, writes the answers, compares them with a reference (eval_prompts.c).
Status eval_prompts(Cli *cli, Model *model) MUST_USE;
// Perplexity of a text (eval_text.c).
Status eval_text(Cli *cli, Model *model) MUST_USE;

#endif
