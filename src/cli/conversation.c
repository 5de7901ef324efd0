// Holds a conversation; see conversation.h. Every turn renders the model's template over the whole
// history; what the session holds of it already is not computed again.
#include "cli/conversation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/prompt.h"

typedef struct Conversation {
    Cli *cli;
    Model *model;
    Answerer answerer;
    Answer answer;
    Prompt prompt;
    IngotMessage *messages; // contents are owned
    size_t num_messages, capacity;
    uint64_t num_answers, num_read, num_reused, num_generated;
    bool is_terminal;
} Conversation;

static void add_message(Conversation *c, const char *role, const char *content, size_t len) {
    char *copy = base_alloc(len + 1, 1);
    memcpy(copy, content, len);
    ARRAY_RESERVE(c->messages, c->num_messages, c->capacity);
    c->messages[c->num_messages++] =
        (IngotMessage){.role = role, .content = copy, .content_len = len};
}

static void put_answer(Conversation *c) {
    if (c->cli->is_json) {
        StrBuf out = {0};
        JsonWriter json = {.out = &out, .is_compact = true};
        json_begin_object(&json, NULL);
        answer_put_json(&c->answer, &json);
        json_end_object(&json);
        put_document(&out);
    } else {
        output_puts("\n"); // the text itself has been shown
    }
    output_flush();
}

static Status take_turn(Conversation *c, const char *line, size_t len) {
    Answer *answer = &c->answer;
    add_message(c, "user", line, len);
    TRY(prompt_encode_chat(c->cli, c->model, c->messages, c->num_messages, &c->prompt));
    if (c->is_terminal) answer_catch_interrupt(true);
    Status status = answer_prompt(&c->answerer, c->prompt.ids, c->prompt.num_ids, answer);
    if (c->is_terminal) answer_catch_interrupt(false);
    TRY(status);
    put_answer(c);
    add_message(c, "assistant", answer->text.data ? answer->text.data : "", answer->text.len);
    c->num_answers++;
    c->num_read += answer->num_prompt - answer->num_reused;
    c->num_reused += answer->num_reused;
    c->num_generated += answer->num_tokens;
    return STATUS_OK;
}

// False at the end of the input. Empty lines are passed over.
static bool read_line(const Conversation *c, char **line, size_t *capacity, size_t *out_len) {
    for (;;) {
        if (c->is_terminal) fputs("> ", stderr);
        ssize_t len = getline(line, capacity, stdin);
        if (len < 0) {
            if (c->is_terminal) fputs("\n", stderr);
            return false;
        }
        while (len > 0 && strchr("\r\n", (*line)[len - 1])) len--;
        *out_len = (size_t)len;
        if (len > 0) return true;
    }
}

static Status take_turns(Conversation *c) {
    char *line = NULL;
    size_t capacity = 0, len;
    Status status = STATUS_OK;
    while (status == STATUS_OK && !output_has_failed() && c->answer.finish != FINISH_CONTEXT &&
           read_line(c, &line, &capacity, &len))
        status = take_turn(c, line, len);
    free(line);
    if (status == STATUS_LIMIT)
        diag_write(&c->cli->sink, "a new conversation, or a larger kv_cache_seq_len in the recipe");
    return status;
}

static void begin(Conversation *c) {
    const char *system = args_text(&c->cli->args, OPT_SYSTEM, NULL);
    if (system) add_message(c, "system", system, strlen(system));
    if (!c->cli->is_json) return;
    StrBuf out = {0};
    JsonWriter json = {.out = &out, .is_compact = true};
    json_begin_document(&json, "ingot-run-lines");
    json_end_object(&json);
    put_document(&out);
}

Status conversation_hold(Cli *cli, Model *model) {
    Conversation c = {
        .cli = cli, .model = model, .is_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO)};
    TRY(answerer_init(cli, model, &c.answerer));
    begin(&c);
    Status status = take_turns(&c);
    if (status == STATUS_OK) {
        char memory[32];
        answer_note_context(cli, model, &c.answer);
        if (!cli->is_json && !cli->is_quiet)
            fprintf(stderr,
                    "%" PRIu64 " answers: %" PRIu64 " prompt tokens read, %" PRIu64
                    " reused, %" PRIu64 " generated; peak memory %s bytes\n",
                    c.num_answers, c.num_read, c.num_reused, c.num_generated,
                    grouped(peak_rss_bytes(), memory));
    }
    for (size_t i = 0; i < c.num_messages; i++) free((char *)c.messages[i].content);
    free(c.messages);
    prompt_deinit(&c.prompt);
    strbuf_deinit(&c.answer.text);
    answerer_deinit(&c.answerer);
    return status;
}
