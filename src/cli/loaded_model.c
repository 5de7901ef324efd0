// Opens an artifact for answering; see loaded_model.h.
#include "cli/loaded_model.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/api.h"

Status take_error(Cli *cli, IngotStatus status, IngotError *error) {
    if (status == INGOT_OK) return STATUS_OK;
    for (size_t i = 0; i < error->sink.num_diags; i++) {
        const Diag *diag = &error->sink.diags[i];
        diag_report(&cli->sink, diag->severity, diag->code, diag->span, "%s", diag->message);
        if (diag->evidence) diag_evidence(&cli->sink, "%s", diag->evidence);
        if (diag->write) diag_write(&cli->sink, "%s", diag->write);
    }
    ingot_error_free(error);
    return (Status)status; // the same numbers
}

static Status open_handle(Cli *cli, const char *path, Model *out_model) {
    uint64_t begin = clock_ns();
    *out_model = (Model){.path = path};
    IngotOptions options = {.cpu_level = args_text(&cli->args, OPT_CPU, NULL)};
    TRY(get_threads(cli, &options.num_threads));
    // Without a wish the artifact's own limit counts too.
    if (!args_has(&cli->args, OPT_THREADS) && !getenv("INGOT_THREADS")) options.num_threads = 0;
    IngotError *error = NULL;
    IngotStatus opened = ingot_model_open(path, &options, &out_model->handle, &error);
    TRY(take_error(cli, opened, error));
    out_model->info = ingot_model_info(out_model->handle);
    out_model->open_ns = clock_ns() - begin;
    if (!args_has(&cli->args, OPT_WARM_UP)) return STATUS_OK;
    Status status = model_warm_up(cli, out_model);
    if (status != STATUS_OK) model_close(out_model);
    return status;
}

Status model_warm_up(Cli *cli, Model *model) {
    IngotError *error = NULL;
    uint64_t begin = clock_ns();
    IngotStatus status = ingot_model_warm_up(model->handle, &error);
    model->warm_up_ns = clock_ns() - begin;
    return take_error(cli, status, error);
}

static Status open_session(Cli *cli, Model *model) {
    IngotError *error = NULL;
    uint64_t begin = clock_ns();
    IngotStatus opened = ingot_session_create(model->handle, &model->session, &error);
    model->open_ns += clock_ns() - begin;
    if (opened != INGOT_OK) model_close(model);
    return take_error(cli, opened, error);
}

Status model_open(Cli *cli, const char *path, Model *out_model) {
    TRY(open_handle(cli, path, out_model));
    return open_session(cli, out_model);
}

Status model_open_any(Cli *cli, const char *path, Model *out_model) {
    TRY(open_handle(cli, path, out_model));
    bool has_entries = ingot_model_num_entries(out_model->handle) > 0;
    return has_entries ? STATUS_OK : open_session(cli, out_model);
}

void model_close(Model *model) {
    ingot_session_destroy(model->session);
    ingot_model_close(model->handle);
    *model = (Model){0};
}

Status model_prefill(Cli *cli, Model *model, const int32_t *ids, size_t num_ids) {
    IngotError *error = NULL;
    IngotStatus status = ingot_prefill(model->session, ids, num_ids, &error);
    return take_error(cli, status, error);
}

Status model_decode(Cli *cli, Model *model, int32_t id) {
    IngotError *error = NULL;
    IngotStatus status = ingot_decode(model->session, id, &error);
    return take_error(cli, status, error);
}

int32_t model_argmax(const Model *model) {
    const float *logits = ingot_logits(model->session);
    int32_t best = 0;
    for (uint32_t i = 1; i < model->info.vocab_size; i++)
        if (logits[i] > logits[best]) best = (int32_t)i;
    return best;
}

double logits_log_sum(const float *logits, uint32_t vocab_size) {
    double max = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < vocab_size; i++) max = fmax(max, (double)logits[i]);
    for (uint32_t i = 0; i < vocab_size; i++) sum += exp((double)logits[i] - max);
    return max + log(sum);
}
