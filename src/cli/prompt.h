// The prompt of `ingot run`: where its text comes from and which tokens it is.
#ifndef INGOT_CLI_PROMPT_H
#define INGOT_CLI_PROMPT_H

#include "cli/loaded_model.h"

typedef struct Prompt {
    char *text;
    uint64_t len;
    int32_t *ids; // after prompt_encode
    size_t num_ids;
} Prompt;

// True if lines of standard input are to be answered in turn: --lines, or --chat on a terminal
// without a prompt.
bool prompt_is_conversation(const Cli *cli);
// Reads -p, -f or standard input (the argument -); exactly one of them must be given.
Status prompt_read(Cli *cli, Prompt *out_prompt) MUST_USE;
// Makes the tokens: plain text, or with --chat the model's template around it.
Status prompt_encode(Cli *cli, const Model *model, Prompt *prompt) MUST_USE;
// The tokens of a conversation and of the beginning of the next answer. Frees the former ones.
Status prompt_encode_chat(Cli *cli, const Model *model, const IngotMessage *messages,
                          size_t num_messages, Prompt *prompt) MUST_USE;
void prompt_deinit(Prompt *prompt);

#endif
