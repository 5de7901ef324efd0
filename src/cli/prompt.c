// Reads and encodes the prompt; see prompt.h.
#include "cli/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

#define MAX_PROMPT_BYTES ((uint64_t)1 << 30)

static bool has_prompt(const Args *args) {
    return args_has(args, OPT_PROMPT) || args_has(args, OPT_PROMPT_FILE) ||
           args->num_positional > 1;
}

bool prompt_is_conversation(const Cli *cli) {
    const Args *args = &cli->args;
    if (args_has(args, OPT_LINES)) return args->num_positional == 1;
    return args_has(args, OPT_CHAT) && !has_prompt(args) && isatty(STDIN_FILENO);
}

Status prompt_read(Cli *cli, Prompt *out_prompt) {
    const Args *args = &cli->args;
    bool has_text = args_has(args, OPT_PROMPT), has_file = args_has(args, OPT_PROMPT_FILE);
    bool has_stdin = args->num_positional > 1;
    if (has_stdin && !str_equal(args->positional[1], "-")) {
        Status status = usage_error(&cli->sink, DIAG_U0005,
                                    "`ingot run` cannot use the argument %s", args->positional[1]);
        diag_write(&cli->sink, "-p '%s'", args->positional[1]);
        return status;
    }
    if (has_text + has_file + has_stdin != 1) {
        Status status =
            usage_error(&cli->sink, DIAG_U0005,
                        "`ingot run` needs one prompt: -p TEXT, -f FILE, or - for standard "
                        "input; --chat holds a "
                        "conversation on a terminal, with --lines also without one");
        diag_evidence(&cli->sink, "an artifact compiled from a module takes tensors instead: "
                                  "--input NAME=FILE.npy --output NAME=FILE.npy; one that "
                                  "takes and gives nothing runs with --entry NAME");
        return status;
    }
    if (has_text) {
        const char *text = args_text(args, OPT_PROMPT, "");
        out_prompt->len = strlen(text);
        out_prompt->text = strdup(text);
        if (!out_prompt->text) base_out_of_memory(out_prompt->len + 1, 1);
        return STATUS_OK;
    }
    const char *path = has_file ? args_text(args, OPT_PROMPT_FILE, "") : "-";
    return file_read(path, MAX_PROMPT_BYTES, &cli->sink, &out_prompt->text, &out_prompt->len);
}

static void show_prompt(const Model *model, const Prompt *prompt) {
    StrBuf out = {0};
    for (size_t i = 0; i < prompt->num_ids; i++) {
        const char *bytes = "";
        size_t len = 0;
        ingot_token_bytes(model->handle, prompt->ids[i], &bytes, &len);
        strbuf_printf(&out, "%d ", prompt->ids[i]);
        strbuf_put_json_string(&out, bytes, len);
        strbuf_putc(&out, '\n');
    }
    fwrite(out.data ? out.data : "", 1, out.len, stderr);
    strbuf_deinit(&out);
}

// --date=YYYY-MM-DD, else today: what a template that writes the date writes.
static Status find_date(Cli *cli, struct tm *out_date) {
    const char *given = args_text(&cli->args, OPT_DATE, NULL);
    if (!given) {
        time_t now = time(NULL);
        localtime_r(&now, out_date);
        return STATUS_OK;
    }
    struct tm date = {0};
    const char *end = strptime(given, "%Y-%m-%d", &date);
    if (!end || *end)
        return usage_error(&cli->sink, DIAG_U0004, "--date cannot be %s: YYYY-MM-DD is expected",
                           given);
    date.tm_isdst = -1;
    mktime(&date); // fills in the day of the week
    *out_date = date;
    return STATUS_OK;
}

Status prompt_encode_chat(Cli *cli, const Model *model, const IngotMessage *messages,
                          size_t num_messages, Prompt *prompt) {
    struct tm date;
    TRY(find_date(cli, &date));
    ingot_ids_free(prompt->ids);
    prompt->ids = NULL;
    IngotError *error = NULL;
    IngotStatus status = ingot_chat_prompt(model->handle, messages, num_messages, &date,
                                           &prompt->ids, &prompt->num_ids, &error);
    TRY(take_error(cli, status, error));
    if (args_has(&cli->args, OPT_SHOW_PROMPT)) show_prompt(model, prompt);
    return STATUS_OK;
}

static Status encode_chat(Cli *cli, const Model *model, Prompt *prompt) {
    const char *system = args_text(&cli->args, OPT_SYSTEM, NULL);
    IngotMessage messages[2];
    size_t num_messages = 0;
    if (system)
        messages[num_messages++] =
            (IngotMessage){.role = "system", .content = system, .content_len = strlen(system)};
    messages[num_messages++] =
        (IngotMessage){.role = "user", .content = prompt->text, .content_len = prompt->len};
    return prompt_encode_chat(cli, model, messages, num_messages, prompt);
}

static Status encode_text(Cli *cli, const Model *model, Prompt *prompt) {
    uint32_t flags = ingot_adds_bos(model->handle) ? INGOT_TOKENIZE_BOS : 0;
    IngotError *error = NULL;
    IngotStatus status = ingot_tokenize(model->handle, prompt->text, prompt->len, flags,
                                        &prompt->ids, &prompt->num_ids, &error);
    return take_error(cli, status, error);
}

Status prompt_encode(Cli *cli, const Model *model, Prompt *prompt) {
    bool is_chat = args_has(&cli->args, OPT_CHAT);
    if (is_chat)
        TRY(encode_chat(cli, model, prompt));
    else
        TRY(encode_text(cli, model, prompt));
    if (!is_chat && args_has(&cli->args, OPT_SHOW_PROMPT)) show_prompt(model, prompt);
    if (prompt->num_ids == 0)
        return usage_error(&cli->sink, DIAG_U0004,
                           "the prompt is empty: there is nothing to go on from");
    return STATUS_OK;
}

void prompt_deinit(Prompt *prompt) {
    free(prompt->text);
    ingot_ids_free(prompt->ids);
    *prompt = (Prompt){0};
}
