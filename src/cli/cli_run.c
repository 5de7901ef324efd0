// `ingot run`: answers a prompt. stdout carries the answer and nothing else, piece by piece as it
// comes and never a part of a character; statistics go to stderr, or with --json into one document.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/loaded_model.h"
#include "cli/prompt.h"
#include "cli/stop_text.h"

typedef enum Finish { FINISH_END_TOKEN, FINISH_STOP_TEXT, FINISH_LENGTH, FINISH_CONTEXT } Finish;
static const char *const finish_names[] = {"end_token", "stop_text", "length", "context_full"};

typedef struct Answer {
    StrBuf text; // all of it, for the document
    StopText stop;
    uint64_t num_tokens;
    uint64_t prefill_ns, first_token_ns, decode_ns;
    Finish finish;
} Answer;

static Status check_options(Cli *cli) {
    const Args *args = &cli->args;
    for (size_t i = 0; i < args->options[OPT_STOP].num_all; i++)
        if (!*args->options[OPT_STOP].all[i])
            return usage_error(&cli->sink, DIAG_U0004, "--stop cannot be empty");
    return STATUS_OK;
}

static Status make_sampler(Cli *cli, const Model *model, IngotSampler **out_sampler) {
    const Args *args = &cli->args;
    IngotSampling sampling = {
        .temperature = args_real(args, OPT_TEMPERATURE, 0.7),
        .top_k = (int32_t)args_count(args, OPT_TOP_K, 40),
        .top_p = args_real(args, OPT_TOP_P, 0.95),
        .min_p = args_real(args, OPT_MIN_P, 0.05),
        .seed = args_count(args, OPT_SEED, 1),
    };
    IngotError *error = NULL;
    IngotStatus status = ingot_sampler_create(
        model->handle, args_has(args, OPT_GREEDY) ? NULL : &sampling, out_sampler, &error);
    return take_error(cli, status, error);
}

static void show(const Cli *cli, Answer *answer, const StrBuf *piece) {
    if (piece->len == 0) return;
    strbuf_append(&answer->text, piece->data, piece->len);
    if (cli->is_json) return;
    output_write(piece->data, piece->len);
    output_flush();
}

// True: a stop text has come.
static bool take_text(const Cli *cli, Answer *answer, const char *text) {
    StrBuf piece = {0};
    bool is_stopped = stop_text_push(&answer->stop, text, strlen(text), &piece);
    show(cli, answer, &piece);
    strbuf_deinit(&piece);
    return is_stopped;
}

static void finish_text(const Cli *cli, Answer *answer, IngotText *text) {
    StrBuf piece = {0};
    if (answer->finish != FINISH_STOP_TEXT && !take_text(cli, answer, ingot_text_finish(text)))
        stop_text_finish(&answer->stop, &piece);
    show(cli, answer, &piece);
    strbuf_deinit(&piece);
}

// From the logits after the prompt to the end of the answer.
static Status generate(Cli *cli, Model *model, IngotSampler *sampler, IngotText *text,
                       uint64_t begin_ns, Answer *answer) {
    uint64_t max_tokens = args_count(&cli->args, OPT_NUM_TOKENS, UINT64_MAX);
    uint64_t first_ns = clock_ns();
    for (answer->finish = FINISH_LENGTH; answer->num_tokens < max_tokens;) {
        int32_t id;
        IngotError *error = NULL;
        IngotStatus sampled = ingot_sample(sampler, model->session, &id, &error);
        TRY(take_error(cli, sampled, error));
        if (answer->num_tokens == 0) answer->first_token_ns = clock_ns() - begin_ns;
        bool is_end = ingot_token_is_end(model->handle, id);
        if (is_end && !args_has(&cli->args, OPT_IGNORE_EOS)) {
            answer->finish = FINISH_END_TOKEN;
            break;
        }
        answer->num_tokens++;
        if (take_text(cli, answer, is_end ? "" : ingot_text_push(text, id))) {
            answer->finish = FINISH_STOP_TEXT;
            break;
        }
        if (answer->num_tokens == max_tokens || output_has_failed()) break;
        if (ingot_session_num_tokens(model->session) == model->info.context_tokens) {
            answer->finish = FINISH_CONTEXT;
            break;
        }
        TRY(model_decode(cli, model, id));
    }
    answer->decode_ns = clock_ns() - first_ns;
    finish_text(cli, answer, text);
    return STATUS_OK;
}

static double per_second(uint64_t count, uint64_t ns) {
    return ns ? (double)count * 1e9 / (double)ns : 0;
}

static void put_statistics(const Cli *cli, const Model *model, const Prompt *prompt,
                           const Answer *answer) {
    // The first token comes with the prompt's logits; each further one is a step.
    uint64_t steps = answer->num_tokens ? answer->num_tokens - 1 : 0;
    double prefill = per_second(prompt->num_ids, answer->prefill_ns);
    double decode = per_second(steps, answer->decode_ns);
    if (cli->is_json) {
        StrBuf out = {0};
        JsonWriter json = {.out = &out};
        json_begin_document(&json, "ingot-run");
        json_put_string_n(&json, "text", answer->text.data ? answer->text.data : "",
                          answer->text.len);
        json_put_string(&json, "finish_reason", finish_names[answer->finish]);
        json_put_uint(&json, "prompt_tokens", prompt->num_ids);
        json_put_uint(&json, "generated_tokens", answer->num_tokens);
        json_put_real(&json, "prefill_tokens_per_s", prefill);
        json_put_real(&json, "decode_tokens_per_s", decode);
        json_put_uint(&json, "first_token_ns", answer->first_token_ns);
        json_put_uint(&json, "open_ns", model->open_ns);
        json_put_uint(&json, "peak_rss_bytes", peak_rss_bytes());
        json_put_string(&json, "cpu_level", model->info.cpu_level);
        json_put_uint(&json, "threads", model->info.num_threads);
        json_end_object(&json);
        put_document(&out);
    } else if (!cli->is_quiet) {
        char memory[32];
        fprintf(stderr,
                "prompt %zu tokens, %.0f tokens/s; answer %" PRIu64 " tokens, %.1f tokens/s; first "
                "token after %.0f ms; peak memory %s bytes; end: %s\n",
                prompt->num_ids, prefill, answer->num_tokens, decode,
                (double)answer->first_token_ns * 1e-6, grouped(peak_rss_bytes(), memory),
                finish_names[answer->finish]);
    }
}

static Status answer_prompt(Cli *cli, Model *model, const Prompt *prompt, Answer *answer) {
    IngotSampler *sampler;
    TRY(make_sampler(cli, model, &sampler));
    IngotText *text = ingot_text_create(model->handle);
    uint64_t begin = clock_ns();
    Status status = model_prefill(cli, model, prompt->ids, prompt->num_ids);
    answer->prefill_ns = clock_ns() - begin;
    if (status == STATUS_OK) status = generate(cli, model, sampler, text, begin, answer);
    ingot_text_destroy(text);
    ingot_sampler_destroy(sampler);
    return status;
}

Status verb_RUN(Cli *cli) {
    TRY(check_positional(cli, 1, 2, "an artifact"));
    TRY(check_options(cli));
    Prompt prompt = {0};
    Model model = {0};
    Answer answer = {0};
    const OptionValue *stops = &cli->args.options[OPT_STOP];
    answer.stop = (StopText){.stops = stops->all, .num_stops = stops->num_all};
    TRY(prompt_read(cli, &prompt));
    Status status = model_open(cli, cli->args.positional[0], &model);
    if (status != STATUS_OK) goto done;
    status = prompt_encode(cli, &model, &prompt);
    if (status == STATUS_OK) status = answer_prompt(cli, &model, &prompt, &answer);
    if (answer.text.len && !cli->is_json && isatty(STDOUT_FILENO)) output_puts("\n");
    if (status != STATUS_OK) goto done;
    if (answer.finish == FINISH_CONTEXT)
        diag_report(&cli->sink, DIAG_NOTE, DIAG_X0011, (DiagSpan){.file = model.path},
                    "the context of %u tokens is full: the answer ends here",
                    model.info.context_tokens);
    put_statistics(cli, &model, &prompt, &answer);
done:
    stop_text_deinit(&answer.stop);
    strbuf_deinit(&answer.text);
    prompt_deinit(&prompt);
    model_close(&model);
    return status;
}
