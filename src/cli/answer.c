// Generates an answer; see answer.h.
#include "cli/answer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *const finish_names[] = {"end_token", "stop_text", "length", "context_full",
                                           "interrupted"};

// ---------------------------------------------------------------- Ctrl-C

static volatile sig_atomic_t is_interrupted;
static struct sigaction former;

static void on_interrupt(int number) {
    (void)number;
    is_interrupted = 1;
    sigaction(SIGINT, &former, NULL);
}

void answer_catch_interrupt(bool is_catching) {
    is_interrupted = 0;
    if (is_catching)
        sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt}, &former);
    else
        sigaction(SIGINT, &former, NULL);
}

// ---------------------------------------------------------------- the answerer

Status answerer_init(Cli *cli, Model *model, Answerer *out_answerer) {
    const Args *args = &cli->args;
    const OptionValue *stops = &args->options[OPT_STOP];
    Answerer answerer = {
        .cli = cli, .model = model, .stop = {.stops = stops->all, .num_stops = stops->num_all}};
    IngotSampling sampling = {
        .temperature = args_real(args, OPT_TEMPERATURE, 0.7),
        .top_k = (int32_t)args_count(args, OPT_TOP_K, 40),
        .top_p = args_real(args, OPT_TOP_P, 0.95),
        .min_p = args_real(args, OPT_MIN_P, 0.05),
        .seed = args_count(args, OPT_SEED, 1),
    };
    IngotError *error = NULL;
    IngotStatus status = ingot_sampler_create(
        model->handle, args_has(args, OPT_GREEDY) ? NULL : &sampling, &answerer.sampler, &error);
    TRY(take_error(cli, status, error));
    answerer.text = ingot_text_create(model->handle);
    *out_answerer = answerer;
    return STATUS_OK;
}

void answerer_deinit(Answerer *answerer) {
    ingot_text_destroy(answerer->text);
    ingot_sampler_destroy(answerer->sampler);
    stop_text_deinit(&answerer->stop);
    free(answerer->held);
    *answerer = (Answerer){0};
}

static void hold(Answerer *a, int32_t id) {
    ARRAY_RESERVE(a->held, a->num_held, a->capacity);
    a->held[a->num_held++] = id;
}

// ---------------------------------------------------------------- text

static void show(const Answerer *a, Answer *answer, const StrBuf *piece) {
    if (piece->len == 0) return;
    strbuf_append(&answer->text, piece->data, piece->len);
    if (a->cli->is_json) return;
    output_write(piece->data, piece->len);
    output_flush();
}

// True: a stop text has come.
static bool take_text(Answerer *a, Answer *answer, const char *text) {
    StrBuf piece = {0};
    bool is_stopped = stop_text_push(&a->stop, text, strlen(text), &piece);
    show(a, answer, &piece);
    strbuf_deinit(&piece);
    return is_stopped;
}

static void finish_text(Answerer *a, Answer *answer) {
    StrBuf piece = {0};
    const char *rest = ingot_text_finish(a->text); // the stream starts anew in any case
    if (answer->finish != FINISH_STOP_TEXT && !take_text(a, answer, rest))
        stop_text_finish(&a->stop, &piece);
    show(a, answer, &piece);
    strbuf_deinit(&piece);
}

// ---------------------------------------------------------------- tokens

// In pieces, so that Ctrl-C need not wait for the end of a long prompt. What does not fit is
// refused in one go, before anything is computed.
static Status read_prompt(Answerer *a, const int32_t *ids, size_t num_ids) {
    size_t chunk = a->model->info.chunk_tokens;
    if (a->num_held + num_ids > a->model->info.context_tokens) chunk = num_ids;
    for (size_t at = 0; at < num_ids && !is_interrupted; at += chunk) {
        size_t count = MIN(chunk, num_ids - at);
        TRY(model_prefill(a->cli, a->model, ids + at, count));
        for (size_t i = 0; i < count; i++) hold(a, ids[at + i]);
    }
    return STATUS_OK;
}

// From the logits after the prompt to the end of the answer.
static Status generate(Answerer *a, uint64_t begin_ns, Answer *answer) {
    Cli *cli = a->cli;
    Model *model = a->model;
    uint64_t max_tokens = args_count(&cli->args, OPT_NUM_TOKENS, UINT64_MAX);
    for (answer->finish = FINISH_LENGTH; answer->num_tokens < max_tokens;) {
        if (is_interrupted) {
            answer->finish = FINISH_INTERRUPTED;
            break;
        }
        int32_t id;
        IngotError *error = NULL;
        IngotStatus sampled = ingot_sample(a->sampler, model->session, &id, &error);
        TRY(take_error(cli, sampled, error));
        if (answer->num_tokens == 0) answer->first_token_ns = clock_ns() - begin_ns;
        bool is_end = ingot_token_is_end(model->handle, id);
        if (is_end && !args_has(&cli->args, OPT_IGNORE_EOS)) {
            answer->finish = FINISH_END_TOKEN;
            break;
        }
        answer->num_tokens++;
        if (take_text(a, answer, is_end ? "" : ingot_text_push(a->text, id))) {
            answer->finish = FINISH_STOP_TEXT;
            break;
        }
        if (answer->num_tokens == max_tokens || output_has_failed()) break;
        if (ingot_session_num_tokens(model->session) == model->info.context_tokens) {
            answer->finish = FINISH_CONTEXT;
            break;
        }
        TRY(model_decode(cli, model, id));
        hold(a, id);
    }
    return STATUS_OK;
}

Status answer_prompt(Answerer *a, const int32_t *ids, size_t num_ids, Answer *answer) {
    StrBuf text = answer->text;
    strbuf_clear(&text);
    size_t same = 0; // at least the last token is computed: the logits behind it are needed
    while (same < a->num_held && same + 1 < num_ids && a->held[same] == ids[same]) same++;
    *answer = (Answer){.text = text, .num_prompt = num_ids, .num_reused = same};
    ingot_session_truncate(a->model->session, (uint32_t)same);
    a->num_held = same;
    uint64_t begin = clock_ns();
    TRY(read_prompt(a, ids + same, num_ids - same));
    uint64_t first = clock_ns();
    answer->prefill_ns = first - begin;
    if (is_interrupted)
        answer->finish = FINISH_INTERRUPTED;
    else
        TRY(generate(a, begin, answer));
    answer->decode_ns = clock_ns() - first;
    finish_text(a, answer);
    return STATUS_OK;
}

// ---------------------------------------------------------------- numbers

const char *answer_finish_name(const Answer *answer) {
    return finish_names[answer->finish];
}

static double per_second(uint64_t count, uint64_t ns) {
    return ns ? (double)count * 1e9 / (double)ns : 0;
}

double answer_prefill_per_s(const Answer *answer) {
    return per_second(answer->num_prompt - answer->num_reused, answer->prefill_ns);
}

// The first token comes with the prompt's logits; each further one is a step.
double answer_decode_per_s(const Answer *answer) {
    return per_second(answer->num_tokens ? answer->num_tokens - 1 : 0, answer->decode_ns);
}

void answer_put_json(const Answer *answer, JsonWriter *json) {
    json_put_string_n(json, "text", answer->text.data ? answer->text.data : "", answer->text.len);
    json_put_string(json, "finish_reason", answer_finish_name(answer));
    json_put_uint(json, "prompt_tokens", answer->num_prompt);
    json_put_uint(json, "reused_tokens", answer->num_reused);
    json_put_uint(json, "generated_tokens", answer->num_tokens);
    json_put_real(json, "prefill_tokens_per_s", answer_prefill_per_s(answer));
    json_put_real(json, "decode_tokens_per_s", answer_decode_per_s(answer));
    json_put_uint(json, "first_token_ns", answer->first_token_ns);
}

void answer_note_context(Cli *cli, const Model *model, const Answer *answer) {
    if (answer->finish == FINISH_CONTEXT)
        diag_report(&cli->sink, DIAG_NOTE, DIAG_X0011, (DiagSpan){.file = model->path},
                    "the context of %u tokens is full: the answer ends here",
                    model->info.context_tokens);
}
