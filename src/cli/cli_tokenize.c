// `ingot tokenize`: the ids of a text on one line, or a comparison with a list of known ones.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/json_list.h"
#include "cli/vocabulary.h"

#define MAX_TEXT_BYTES ((uint64_t)1 << 31)
enum { CONTEXT_TOKENS = 4 };

static uint32_t flags_of(const Cli *cli) {
    return (args_has(&cli->args, OPT_SPECIAL) ? TOKENIZE_PARSE_SPECIAL : 0u) |
           (args_has(&cli->args, OPT_BOS) ? TOKENIZE_ADD_BOS : 0u);
}

static Status tokenize_text(Cli *cli, const Vocabulary *vocabulary, const char *text, size_t len) {
    TokenIds ids = {0};
    Status status =
        tokenizer_encode(vocabulary->tokenizer, text, len, flags_of(cli), &cli->sink, &ids);
    if (status == STATUS_OK) {
        StrBuf out = {0};
        JsonWriter json = {.out = &out};
        if (cli->is_json) {
            json_begin_document(&json, "ingot-tokenize");
            json_begin_array(&json, "ids");
        }
        for (size_t i = 0; i < ids.count; i++) {
            if (cli->is_json)
                json_put_int(&json, NULL, ids.ids[i]);
            else
                strbuf_printf(&out, "%s%d", i ? " " : "", ids.ids[i]);
        }
        if (cli->is_json) {
            json_end_array(&json);
            json_end_object(&json);
        } else {
            strbuf_putc(&out, '\n');
        }
        put_document(&out);
    }
    token_ids_deinit(&ids);
    return status;
}

// ---------------------------------------------------------------- against a list

typedef struct Difference {
    uint32_t line; // 0: none so far
    size_t index;  // first token that differs
    StrBuf text, expected, ours;
} Difference;

// "345:'Hello' 11:','" from a little before the difference on.
static void put_context(StrBuf *out, const Tokenizer *tokenizer, const int32_t *ids, size_t count,
                        size_t index) {
    size_t from = index > CONTEXT_TOKENS ? index - CONTEXT_TOKENS : 0;
    if (from) strbuf_puts(out, "... ");
    for (size_t i = from; i < count && i < index + CONTEXT_TOKENS; i++) {
        const char *bytes = "";
        size_t len = 0;
        bool is_known = tokenizer_decode_token(tokenizer, ids[i], &bytes, &len);
        strbuf_printf(out, "%s%d:", i > from ? " " : "", ids[i]);
        if (is_known)
            strbuf_put_json_string(out, bytes, len);
        else
            strbuf_puts(out, "(no such token)");
    }
    if (index + CONTEXT_TOKENS < count) strbuf_puts(out, " ...");
    if (index >= count) strbuf_puts(out, count ? " (end)" : "(nothing)");
}

static void note_difference(Difference *difference, uint32_t line, const Tokenizer *tokenizer,
                            const char *text, size_t len, const TokenIds *ours,
                            const int32_t *expected, size_t num_expected) {
    size_t i = 0;
    while (i < ours->count && i < num_expected && ours->ids[i] == expected[i]) i++;
    difference->line = line;
    difference->index = i;
    strbuf_put_json_string(&difference->text, text, len);
    put_context(&difference->expected, tokenizer, expected, num_expected, i);
    put_context(&difference->ours, tokenizer, ours->ids, ours->count, i);
}

static Status compare_line(Cli *cli, const Vocabulary *vocabulary, const JsonLines *lines,
                           const json_t *object, Difference *difference, bool *out_equal) {
    const char *key = args_has(&cli->args, OPT_SPECIAL) ? "ids_special" : "ids";
    const json_t *text = json_object_get(object, "text");
    int32_t *expected;
    size_t num_expected;
    if (!json_is_string(text))
        return json_list_error(lines->path, lines->line, &cli->sink, "`text` is missing");
    if (!json_list_ids(json_object_get(object, key), &expected, &num_expected))
        return json_list_error(lines->path, lines->line, &cli->sink,
                               "`%s` is not a list of token ids", key);
    TokenIds ids = {0};
    const char *bytes = json_string_value(text);
    size_t len = json_string_length(text);
    Status status =
        tokenizer_encode(vocabulary->tokenizer, bytes, len, flags_of(cli), &cli->sink, &ids);
    if (status == STATUS_OK) {
        *out_equal =
            ids.count == num_expected &&
            (ids.count == 0 || memcmp(ids.ids, expected, ids.count * sizeof *expected) == 0);
        if (!*out_equal && !difference->line)
            note_difference(difference, lines->line, vocabulary->tokenizer, bytes, len, &ids,
                            expected, num_expected);
    }
    token_ids_deinit(&ids);
    free(expected);
    return status;
}

static void put_comparison(const Cli *cli, const char *path, size_t num_equal, size_t total,
                           const Difference *difference) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-tokenize-against");
        json_put_uint(&json, "equal", num_equal);
        json_put_uint(&json, "total", total);
        if (difference->line) {
            json_begin_object(&json, "first_difference");
            json_put_uint(&json, "line", difference->line);
            json_put_uint(&json, "index", difference->index);
            json_put_string(&json, "expected", difference->expected.data);
            json_put_string(&json, "ours", difference->ours.data);
            json_end_object(&json);
        }
        json_end_object(&json);
    } else {
        strbuf_printf(&out, "%zu of %zu equal\n", num_equal, total);
        if (difference->line)
            strbuf_printf(&out,
                          "%s:%u: first difference at token %zu of %s\n  expected %s\n"
                          "  ours     %s\n",
                          path, difference->line, difference->index, difference->text.data,
                          difference->expected.data, difference->ours.data);
    }
    put_document(&out);
}

static Status tokenize_list(Cli *cli, const Vocabulary *vocabulary, const char *path) {
    JsonLines lines;
    TRY(json_lines_open(path, &cli->sink, &lines));
    Difference difference = {0};
    size_t num_equal = 0, total = 0;
    Status status = STATUS_OK;
    while (status == STATUS_OK) {
        json_t *object;
        status = json_lines_next(&lines, &cli->sink, &object);
        if (status != STATUS_OK || !object) break;
        bool is_equal = false;
        status = compare_line(cli, vocabulary, &lines, object, &difference, &is_equal);
        num_equal += is_equal;
        total++;
        json_decref(object);
    }
    json_lines_close(&lines);
    if (status == STATUS_OK) {
        put_comparison(cli, path, num_equal, total, &difference);
        if (num_equal != total) status = STATUS_NO;
    }
    strbuf_deinit(&difference.text);
    strbuf_deinit(&difference.expected);
    strbuf_deinit(&difference.ours);
    return status;
}

// ---------------------------------------------------------------- the verb

Status verb_TOKENIZE(Cli *cli) {
    TRY(check_positional(cli, 1, 2, "a file"));
    const Args *args = &cli->args;
    const char *list = args_text(args, OPT_AGAINST, NULL);
    if (list && args->num_positional > 1)
        return usage_error(&cli->sink, DIAG_U0005, "a text and --against exclude each other");
    Vocabulary vocabulary;
    TRY(vocabulary_open(args->positional[0], &cli->sink, &vocabulary));
    Status status;
    if (list) {
        status = tokenize_list(cli, &vocabulary, list);
    } else if (args->num_positional > 1 && !str_equal(args->positional[1], "-")) {
        const char *text = args->positional[1];
        status = tokenize_text(cli, &vocabulary, text, strlen(text));
    } else {
        char *text;
        uint64_t len;
        status = file_read("-", MAX_TEXT_BYTES, &cli->sink, &text, &len);
        if (status == STATUS_OK) {
            status = tokenize_text(cli, &vocabulary, text, len);
            free(text);
        }
    }
    vocabulary_close(&vocabulary);
    return status;
}
