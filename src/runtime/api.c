// The public interface: errors, models, sessions; see include/ingot.h. Text and sampling are in
// api_text.c.
#include "runtime/api.h"

#include <stdlib.h>

#include "runtime/tensor_call.h"
#include "runtime/warm_up.h"

_Static_assert((int)INGOT_USAGE == STATUS_USAGE && (int)INGOT_INVALID == STATUS_INVALID &&
                   (int)INGOT_LIMIT == STATUS_LIMIT && (int)INGOT_IO == STATUS_IO &&
                   (int)INGOT_ENVIRONMENT == STATUS_ENVIRONMENT,
               "the public status codes are the internal ones");

const char *ingot_version(void) {
    return "0.1.0";
}

IngotStatus api_finish(Status status, DiagSink *sink, IngotError **out_error) {
    if (status == STATUS_OK || !out_error) {
        diag_sink_deinit(sink);
    } else {
        IngotError *error = base_alloc(1, sizeof *error);
        error->sink = *sink;
        diag_render(&error->sink, &error->text);
        // What was quoted may end before the error does.
        for (size_t i = 0; i < error->sink.num_diags; i++) error->sink.diags[i].span.source = NULL;
        *out_error = error;
    }
    return (IngotStatus)status;
}

// The first error of a failed call; NULL if there is none.
static const Diag *first_error(const IngotError *error) {
    for (size_t i = 0; error && i < error->sink.num_diags; i++)
        if (error->sink.diags[i].severity == DIAG_ERROR) return &error->sink.diags[i];
    return NULL;
}

const char *ingot_error_code(const IngotError *error) {
    const Diag *diag = first_error(error);
    return diag ? diag_info(diag->code)->code : "";
}

const char *ingot_error_message(const IngotError *error) {
    const Diag *diag = first_error(error);
    return diag ? diag->message : "";
}

const char *ingot_error_text(const IngotError *error) {
    return error && error->text.data ? error->text.data : "";
}

void ingot_error_free(IngotError *error) {
    if (!error) return;
    strbuf_deinit(&error->text);
    diag_sink_deinit(&error->sink);
    free(error);
}

static Status open_tokenizer(IngotModel *model, DiagSink *sink) {
    const uint8_t *data;
    const SectionEntry *section =
        artifact_find_section(&model->artifact, SECTION_TOKENIZER, 0, &data);
    if (!section) return STATUS_OK;
    TRY(tokenizer_open(data, section->len_bytes, sink, &model->tokenizer));
    if (tokenizer_vocab_size(model->tokenizer) > model->artifact.plan->vocab_size)
        return diag_error(sink, DIAG_X0005,
                          (DiagSpan){.file = model->artifact.path, .byte_offset = section->offset},
                          "the tokenizer has more tokens than the model");
    return STATUS_OK;
}

static Status open_model(IngotModel *model, const char *path, const IngotOptions *options,
                         DiagSink *sink) {
    ExecutorOptions executor_options = {0};
    if (options) {
        executor_options.num_threads = options->num_threads;
        executor_options.cpu_level = options->cpu_level;
    }
    TRY(artifact_open(path, sink, &model->artifact));
    TRY(open_tokenizer(model, sink));
    return executor_open(&model->artifact, &executor_options, sink, &model->executor);
}

IngotStatus ingot_model_open(const char *path, const IngotOptions *options, IngotModel **out_model,
                             IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    IngotModel *model = base_alloc(1, sizeof *model);
    model->artifact.fd = -1;
    Status status = open_model(model, path, options, &sink);
    if (status == STATUS_OK)
        *out_model = model;
    else
        ingot_model_close(model);
    return api_finish(status, &sink, out_error);
}

void ingot_model_close(IngotModel *model) {
    if (!model) return;
    executor_close(model->executor);
    tokenizer_close(model->tokenizer);
    artifact_close(&model->artifact);
    free(model);
}

IngotModelInfo ingot_model_info(const IngotModel *model) {
    const PlanHeader *plan = model->artifact.plan;
    const uint8_t *data;
    return (IngotModelInfo){
        .name = artifact_string(&model->artifact, plan->model_name),
        .cpu_level = executor_level_name(model->executor),
        .num_threads = executor_num_threads(model->executor),
        .max_threads = plan->max_threads,
        .vocab_size = plan->vocab_size,
        .context_tokens = plan->context_len_tokens,
        .page_tokens = plan->page_len_tokens,
        .chunk_tokens = artifact_largest_bucket(&model->artifact),
        .max_sequences = plan->max_sequences,
        .has_tokenizer = model->tokenizer != NULL,
        .has_chat_template =
            artifact_find_section(&model->artifact, SECTION_TEMPLATE, 0, &data) != NULL,
        .memory_bytes = executor_memory(model->executor).total_bytes,
    };
}

uint32_t ingot_model_num_memory_parts(const IngotModel *model) {
    return (uint32_t)model->artifact.plan->memory.count;
}

IngotMemoryPart ingot_model_memory_part(const IngotModel *model, uint32_t i) {
    if (i >= ingot_model_num_memory_parts(model))
        return (IngotMemoryPart){.name = "", .set_by = ""};
    const PlanMemoryPart *part = &model->artifact.memory[i];
    return (IngotMemoryPart){.name = artifact_string(&model->artifact, part->name),
                             .set_by = artifact_string(&model->artifact, part->set_by),
                             .bytes = part->bytes,
                             .is_outside = part->is_outside != 0};
}

IngotStatus ingot_model_warm_up(IngotModel *model, IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    return api_finish(warm_up(model->executor, &sink), &sink, out_error);
}

// ---- tensors

uint32_t ingot_model_num_entries(const IngotModel *model) {
    const PlanHeader *plan = model->artifact.plan;
    return plan->vocab_size ? 0 : (uint32_t)plan->entries.count;
}

const char *ingot_entry_name(const IngotModel *model, uint32_t entry) {
    if (entry >= ingot_model_num_entries(model)) return "";
    return artifact_string(&model->artifact, model->artifact.entries[entry].name);
}

static uint32_t num_ports(const IngotModel *model, uint32_t entry, PlanPortKind kind) {
    if (entry >= ingot_model_num_entries(model)) return 0;
    return entry_num_ports(&model->artifact.entries[entry], &model->artifact, kind);
}

static IngotTensor port_tensor(const IngotModel *model, uint32_t entry, PlanPortKind kind,
                               uint32_t i) {
    if (i >= num_ports(model, entry, kind)) return (IngotTensor){.name = "", .type = ""};
    const PlanEntry *e = &model->artifact.entries[entry];
    return tensor_of_port(&model->artifact, entry_port(e, &model->artifact, kind, i));
}

uint32_t ingot_entry_num_arguments(const IngotModel *model, uint32_t entry) {
    return num_ports(model, entry, PORT_ARGUMENT);
}

uint32_t ingot_entry_num_results(const IngotModel *model, uint32_t entry) {
    return num_ports(model, entry, PORT_RESULT);
}

IngotTensor ingot_entry_argument(const IngotModel *model, uint32_t entry, uint32_t i) {
    IngotTensor tensor = port_tensor(model, entry, PORT_ARGUMENT, i);
    if (!*tensor.name) return tensor;
    const PlanEntry *e = &model->artifact.entries[entry];
    tensor.data = executor_io(model->executor).ports +
                  entry_port(e, &model->artifact, PORT_ARGUMENT, i)->offset;
    return tensor;
}

IngotTensor ingot_entry_result(const IngotModel *model, uint32_t entry, uint32_t i) {
    return port_tensor(model, entry, PORT_RESULT, i);
}

IngotStatus ingot_call(IngotModel *model, const char *entry, const IngotTensor *arguments,
                       size_t num_arguments, IngotTensor *out_results, size_t num_results,
                       IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    Status status = tensor_call(model->executor, entry, arguments, num_arguments, out_results,
                                num_results, &sink);
    return api_finish(status, &sink, out_error);
}

// ---- sessions

IngotStatus ingot_session_create(IngotModel *model, IngotSession **out_session,
                                 IngotError **out_error) {
    if (model->artifact.plan->vocab_size == 0) {
        DiagSink sink;
        diag_sink_init(&sink);
        Status status = diag_error(&sink, DIAG_X0018, (DiagSpan){.file = model->artifact.path},
                                   "this artifact takes tensors, not tokens");
        diag_write(&sink, "ingot run %s --input NAME=FILE.npy", model->artifact.path);
        return api_finish(status, &sink, out_error);
    }
    IngotSession *session = base_alloc(1, sizeof *session);
    session->model = model;
    session->session = session_create(model->executor);
    *out_session = session;
    return INGOT_OK;
}

void ingot_session_destroy(IngotSession *session) {
    if (!session) return;
    session_destroy(session->session);
    free(session);
}

void ingot_session_reset(IngotSession *session) {
    session_reset(session->session);
}

void ingot_session_truncate(IngotSession *session, uint32_t num_tokens) {
    session_truncate(session->session, num_tokens);
}

IngotStatus ingot_prefill(IngotSession *session, const int32_t *ids, size_t num_ids,
                          IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    return api_finish(session_prefill(session->session, ids, num_ids, &sink), &sink, out_error);
}

typedef struct EachLogits {
    IngotLogitsFn each;
    void *context;
} EachLogits;

static void pass_logits(void *context, uint64_t index, const float *logits) {
    const EachLogits *to = context;
    to->each(to->context, (size_t)index, logits);
}

IngotStatus ingot_prefill_each(IngotSession *session, const int32_t *ids, size_t num_ids,
                               IngotLogitsFn each, void *context, IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    EachLogits to = {each, context};
    Status status = session_prefill_each(session->session, ids, num_ids, pass_logits, &to, &sink);
    return api_finish(status, &sink, out_error);
}

IngotStatus ingot_decode(IngotSession *session, int32_t id, IngotError **out_error) {
    return ingot_prefill(session, &id, 1, out_error);
}

IngotStatus ingot_decode_batch(IngotSession *const *sessions, const int32_t *ids, size_t num,
                               IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    Session **inner = base_alloc(MAX(num, (size_t)1), sizeof *inner);
    Status status = STATUS_OK;
    for (size_t i = 0; i < num; i++) {
        inner[i] = sessions[i]->session;
        if (sessions[i]->model != sessions[0]->model && status == STATUS_OK)
            status = diag_error(&sink, DIAG_X0022, (DiagSpan){0},
                                "sequences 0 and %zu are of two models", i);
    }
    uint32_t num_sessions = (uint32_t)MIN(num, (size_t)UINT32_MAX);
    if (status == STATUS_OK) status = session_decode_batch(inner, ids, num_sessions, &sink);
    free(inner);
    return api_finish(status, &sink, out_error);
}

const float *ingot_logits(const IngotSession *session) {
    return session_logits(session->session);
}

uint32_t ingot_session_num_tokens(const IngotSession *session) {
    return session_num_tokens(session->session);
}

IngotStatus ingot_session_set_chunk(IngotSession *session, uint32_t chunk_tokens,
                                    IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    Status status = session_set_chunk(session->session, chunk_tokens, &sink);
    return api_finish(status, &sink, out_error);
}
