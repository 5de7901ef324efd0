// `ingot run`: answers a prompt, or holds a conversation. stdout carries answers and nothing else;
// statistics go to stderr, or with --json into one document.
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/conversation.h"
#include "cli/prompt.h"
#include "cli/run_tensors.h"

static Status check_options(Cli *cli) {
    const Args *args = &cli->args;
    if (args_has(args, OPT_LINES) && args->num_positional > 1)
        return usage_error(&cli->sink, DIAG_U0005, "--lines reads standard input by itself");
    for (size_t i = 0; i < args->options[OPT_STOP].num_all; i++)
        if (!*args->options[OPT_STOP].all[i])
            return usage_error(&cli->sink, DIAG_U0004, "--stop cannot be empty");
    return STATUS_OK;
}

static void put_statistics(const Cli *cli, const Model *model, const Answer *answer) {
    if (cli->is_json) {
        StrBuf out = {0};
        JsonWriter json = {.out = &out};
        json_begin_document(&json, "ingot-run");
        answer_put_json(answer, &json);
        json_put_uint(&json, "open_ns", model->open_ns);
        if (model->warm_up_ns) json_put_uint(&json, "warm_up_ns", model->warm_up_ns);
        json_put_uint(&json, "peak_rss_bytes", peak_rss_bytes());
        json_put_uint(&json, "memory_bytes", model->info.memory_bytes);
        json_put_string(&json, "cpu_level", model->info.cpu_level);
        json_put_uint(&json, "threads", model->info.num_threads);
        json_end_object(&json);
        put_document(&out);
    } else if (!cli->is_quiet) {
        char memory[32];
        fprintf(stderr,
                "prompt %" PRIu64 " tokens, %.0f tokens/s; answer %" PRIu64
                " tokens, %.1f tokens/s; first token after %.0f ms; peak memory %s bytes; end: "
                "%s\n",
                answer->num_prompt, answer_prefill_per_s(answer), answer->num_tokens,
                answer_decode_per_s(answer), (double)answer->first_token_ns * 1e-6,
                grouped(peak_rss_bytes(), memory), answer_finish_name(answer));
    }
}

static Status answer_once(Cli *cli, Model *model, Prompt *prompt) {
    Answerer answerer;
    Answer answer = {0};
    TRY(prompt_encode(cli, model, prompt));
    TRY(answerer_init(cli, model, &answerer));
    Status status = answer_prompt(&answerer, prompt->ids, prompt->num_ids, &answer);
    if (answer.text.len && !cli->is_json && isatty(STDOUT_FILENO)) output_puts("\n");
    if (status == STATUS_OK) {
        answer_note_context(cli, model, &answer);
        put_statistics(cli, model, &answer);
    }
    strbuf_deinit(&answer.text);
    answerer_deinit(&answerer);
    return status;
}

Status verb_RUN(Cli *cli) {
    TRY(check_positional(cli, 1, 2, "an artifact"));
    if (run_tensors_is_wanted(cli)) {
        TRY(check_positional(cli, 1, 1, "an artifact"));
        return run_tensors(cli);
    }
    TRY(check_options(cli));
    bool is_conversation = prompt_is_conversation(cli);
    Prompt prompt = {0};
    Model model = {0};
    if (!is_conversation) TRY(prompt_read(cli, &prompt));
    Status status = model_open(cli, cli->args.positional[0], &model);
    if (status == STATUS_OK)
        status =
            is_conversation ? conversation_hold(cli, &model) : answer_once(cli, &model, &prompt);
    prompt_deinit(&prompt);
    model_close(&model);
    return status;
}
