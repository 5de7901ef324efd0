// Reads and encodes the prompt; see prompt.h.
#include "cli/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define MAX_PROMPT_BYTES ((uint64_t)1 << 30)

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
    if (has_text + has_file + has_stdin != 1)
        return usage_error(
            &cli->sink, DIAG_U0005,
            "`ingot run` needs one prompt: -p TEXT, -f FILE, or - for standard input");
    if (args_has(args, OPT_SYSTEM) && !args_has(args, OPT_CHAT))
        return usage_error(&cli->sink, DIAG_U0005, "--system needs --chat");
    if (has_text) {
        const char *text = args_text(args, OPT_PROMPT, "");
        out_prompt->len = strlen(text);
        out_prompt->text = strdup(text);
        BUG_IF(!out_prompt->text, "out of memory");
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

Status prompt_encode(Cli *cli, const Model *model, Prompt *prompt) {
    uint32_t flags = ingot_adds_bos(model->handle) ? INGOT_TOKENIZE_BOS : 0;
    IngotError *error = NULL;
    IngotStatus encoded = ingot_tokenize(model->handle, prompt->text, prompt->len, flags,
                                         &prompt->ids, &prompt->num_ids, &error);
    TRY(take_error(cli, encoded, error));
    if (args_has(&cli->args, OPT_SHOW_PROMPT)) show_prompt(model, prompt);
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
