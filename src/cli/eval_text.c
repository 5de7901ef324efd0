// Perplexity: exp of the mean negative log-probability of each token of a text given those before
// it. The text is cut into windows of --window tokens, each read from an empty context (behind the
// begin token if the model's prompts have one); the first token of a window without a begin token
// is not scored.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/eval.h"

#define MAX_TEXT_BYTES ((uint64_t)1 << 31)
enum { DEFAULT_WINDOW = 512 };

typedef struct Score {
    double sum; // of negative log-probabilities
    uint64_t num_tokens;
} Score;

typedef struct Window {
    const int32_t *next; // the token after each that is read
    uint32_t vocab_size;
    Score *score;
} Window;

static void score_token(void *context, size_t index, const float *logits) {
    const Window *window = context;
    Score *score = window->score;
    score->sum += logits_log_sum(logits, window->vocab_size) - (double)logits[window->next[index]];
    score->num_tokens++;
}

static Status read_scored(Cli *cli, Model *model, const int32_t *ids, size_t count,
                          Window *window) {
    IngotError *error = NULL;
    IngotStatus status =
        ingot_prefill_each(model->session, ids, count, score_token, window, &error);
    return take_error(cli, status, error);
}

// bos: the token in front of every window, -1 for none.
static Status score_window(Cli *cli, Model *model, int32_t bos, const int32_t *ids, size_t count,
                           Score *score) {
    Window window = {ids, model->info.vocab_size, score};
    ingot_session_reset(model->session);
    if (bos >= 0) TRY(read_scored(cli, model, &bos, 1, &window));
    window.next = ids + 1;
    return count > 1 ? read_scored(cli, model, ids, count - 1, &window) : STATUS_OK;
}

static void put_score(const Cli *cli, const Score *score, uint64_t window) {
    double mean = score->sum / (double)score->num_tokens;
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    if (cli->is_json) {
        json_begin_document(&json, "ingot-eval-text");
        json_put_real(&json, "perplexity", exp(mean));
        json_put_real(&json, "mean_negative_log_probability", mean);
        json_put_uint(&json, "scored_tokens", score->num_tokens);
        json_put_uint(&json, "window_tokens", window);
        json_end_object(&json);
    } else {
        strbuf_printf(&out, "perplexity %.4f over %" PRIu64 " tokens in windows of %" PRIu64 "\n",
                      exp(mean), score->num_tokens, window);
    }
    put_document(&out);
}

static Status score_text(Cli *cli, Model *model, int32_t bos, const int32_t *ids, size_t num_ids,
                         uint64_t window) {
    Score score = {0};
    progress_begin("perplexity");
    Status status = STATUS_OK;
    for (size_t at = 0; at < num_ids && status == STATUS_OK; at += window) {
        size_t count = MIN(window, num_ids - at);
        status = score_window(cli, model, bos, ids + at, count, &score);
        progress_update(at + count, num_ids, "tokens");
    }
    progress_end();
    TRY(status);
    if (score.num_tokens == 0)
        return diag_error(&cli->sink, DIAG_U0009,
                          (DiagSpan){.file = args_text(&cli->args, OPT_TEXT_FILE, "")},
                          "the text is too short to be scored: %zu tokens", num_ids);
    put_score(cli, &score, window);
    return STATUS_OK;
}

static Status tokenize(Cli *cli, const Model *model, const char *text, size_t len, uint32_t flags,
                       int32_t **out_ids, size_t *out_num_ids) {
    IngotError *error = NULL;
    IngotStatus status =
        ingot_tokenize(model->handle, text, len, flags, out_ids, out_num_ids, &error);
    return take_error(cli, status, error);
}

// The begin token, if prompts of this model start with one; else -1.
static Status find_bos(Cli *cli, const Model *model, int32_t *out_bos) {
    int32_t *ids = NULL;
    size_t num_ids = 0;
    *out_bos = -1;
    if (!ingot_adds_bos(model->handle)) return STATUS_OK;
    TRY(tokenize(cli, model, "", 0, INGOT_TOKENIZE_BOS, &ids, &num_ids));
    if (num_ids) *out_bos = ids[0];
    ingot_ids_free(ids);
    return STATUS_OK;
}

Status eval_text(Cli *cli, Model *model) {
    uint64_t context = model->info.context_tokens;
    uint64_t window =
        args_count(&cli->args, OPT_WINDOW, MIN(context - 1, (uint64_t)DEFAULT_WINDOW));
    if (window >= context) // a begin token takes a place too
        return usage_error(&cli->sink, DIAG_U0004,
                           "--window %" PRIu64 " does not fit the context of %" PRIu64 " tokens",
                           window, context);
    int32_t bos, *ids = NULL;
    size_t num_ids = 0;
    TRY(find_bos(cli, model, &bos));
    char *text;
    uint64_t len;
    const char *path = args_text(&cli->args, OPT_TEXT_FILE, "");
    TRY(file_read(path, MAX_TEXT_BYTES, &cli->sink, &text, &len));
    Status status = tokenize(cli, model, text, len, 0, &ids, &num_ids);
    free(text);
    if (status == STATUS_OK) status = score_text(cli, model, bos, ids, num_ids, window);
    ingot_ids_free(ids);
    return status;
}
