// The two measures of `ingot eval`.
#ifndef INGOT_CLI_EVAL_H
#define INGOT_CLI_EVAL_H

#include "cli/loaded_model.h"

// Answers a list of prompts, writes the answers, compares them with a reference (eval_prompts.c).
Status eval_prompts(Cli *cli, Model *model) MUST_USE;
// Perplexity of a text (eval_text.c).
Status eval_text(Cli *cli, Model *model) MUST_USE;

#endif
