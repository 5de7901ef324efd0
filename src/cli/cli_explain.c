// `ingot explain CODE`: what a diagnostic means, with a failing and a mended example; without a
// code the list of all codes.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static void put_indented(StrBuf *out, const char *heading, const char *text) {
    if (!*text) return;
    strbuf_printf(out, "\n%s\n", heading);
    while (*text) {
        size_t len = strcspn(text, "\n");
        strbuf_printf(out, "  %.*s\n", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void put_json(JsonWriter *json, const DiagInfo *info) {
    json_put_string(json, "code", info->code);
    json_put_string(json, "title", info->title);
    json_put_string(json, "cause", info->cause);
    json_put_string(json, "bad", info->bad);
    json_put_string(json, "good", info->good);
}

static void explain_all(const Cli *cli) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-explain-all");
        json_begin_array(&json, "codes");
    }
    for (int i = 0; i < NUM_DIAG_CODES; i++) {
        const DiagInfo *info = diag_info((DiagCode)i);
        if (!cli->is_json) {
            strbuf_printf(&out, "%s  %s\n", info->code, info->title);
            continue;
        }
        json_begin_object(&json, NULL);
        put_json(&json, info);
        json_end_object(&json);
    }
    if (cli->is_json) {
        json_end_array(&json);
        json_end_object(&json);
    }
    put_document(&out);
}

Status verb_EXPLAIN(Cli *cli) {
    TRY(check_positional(cli, 0, 1, "a code"));
    if (cli->args.num_positional == 0) {
        explain_all(cli);
        return STATUS_OK;
    }
    char word[32] = {0}; // codes are written in capitals, but may be typed in small letters
    const char *given = cli->args.positional[0];
    for (size_t i = 0; given[i] && i + 1 < sizeof word; i++)
        word[i] = (char)(given[i] >= 'a' && given[i] <= 'z' ? given[i] - 'a' + 'A' : given[i]);
    DiagCode code;
    if (!diag_find(word, &code)) {
        const char *codes[NUM_DIAG_CODES];
        for (int i = 0; i < NUM_DIAG_CODES; i++) codes[i] = diag_info((DiagCode)i)->code;
        Status status = usage_error(&cli->sink, DIAG_U0008, "there is no code %.60s", given);
        const char *nearest = str_nearest(word, codes, NUM_DIAG_CODES);
        if (nearest) diag_write(&cli->sink, "ingot explain %s", nearest);
        return status;
    }
    const DiagInfo *info = diag_info(code);
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-explain");
        put_json(&json, info);
        json_end_object(&json);
    } else {
        strbuf_printf(&out, "%s: %s\n\n%s\n", info->code, info->title, info->cause);
        put_indented(&out, "fails:", info->bad);
        put_indented(&out, "mended:", info->good);
    }
    put_document(&out);
    return STATUS_OK;
}
