// One answer of `ingot run`: from a prompt's tokens to the end of the text, shown piece by piece as
// it comes and never a part of a character.
#ifndef INGOT_CLI_ANSWER_H
#define INGOT_CLI_ANSWER_H

#include "cli/loaded_model.h"
#include "cli/stop_text.h"

typedef enum Finish {
    FINISH_END_TOKEN,
    FINISH_STOP_TEXT,
    FINISH_LENGTH,
    FINISH_CONTEXT,
    FINISH_INTERRUPTED,
} Finish;

typedef struct Answer {
    StrBuf text;                     // all of it
    uint64_t num_prompt, num_reused; // tokens of the prompt; those that were in the session
    uint64_t num_tokens;             // generated
    uint64_t prefill_ns, first_token_ns, decode_ns;
    Finish finish;
} Answer;

// Answers prompts in turn, on one session and with one sampler.
typedef struct Answerer {
    Cli *cli;
    Model *model;
    IngotSampler *sampler;
    IngotText *text;
    StopText stop;
    int32_t *held; // tokens in the session
    size_t num_held, capacity;
} Answerer;

// By the options of the command line.
Status answerer_init(Cli *cli, Model *model, Answerer *out_answerer) MUST_USE;
void answerer_deinit(Answerer *answerer);

// What the session holds of the prompt already is not computed again. *answer is freed by
// strbuf_deinit of its text, and may be used again.
Status answer_prompt(Answerer *answerer, const int32_t *ids, size_t num_ids,
                     Answer *answer) MUST_USE;
const char *answer_finish_name(const Answer *answer);
// The numbers of an answer as keys of the object that is open.
void answer_put_json(const Answer *answer, JsonWriter *json);
double answer_prefill_per_s(const Answer *answer);
double answer_decode_per_s(const Answer *answer);
// Says that the context is full, if that is how it ended.
void answer_note_context(Cli *cli, const Model *model, const Answer *answer);

// While catching, Ctrl-C stops the answer (FINISH_INTERRUPTED) instead of the program; a second one
// ends the program.
void answer_catch_interrupt(bool is_catching);

#endif
