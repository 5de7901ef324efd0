// The public interface to text and sampling; see include/ingot.h.
#include <stdlib.h>

#include "runtime/api.h"
#include "runtime/chat.h"
#include "runtime/sampler.h"
#include "runtime/utf8_stream.h"

_Static_assert((int)INGOT_TOKENIZE_SPECIAL == TOKENIZE_PARSE_SPECIAL &&
                   (int)INGOT_TOKENIZE_BOS == TOKENIZE_ADD_BOS,
               "the public flags are the internal ones");

struct IngotText {
    const IngotModel *model;
    Utf8Stream stream;
    StrBuf out;
};

struct IngotSampler {
    Sampler *sampler;
};

static Status need_tokenizer(const IngotModel *model, DiagSink *sink) {
    if (model->tokenizer) return STATUS_OK;
    return diag_error(sink, DIAG_X0017, (DiagSpan){.file = model->artifact.path},
                      "the artifact has no tokenizer");
}

static Status encode(const IngotModel *model, const char *text, size_t len, uint32_t flags,
                     DiagSink *sink, TokenIds *ids) {
    TRY(need_tokenizer(model, sink));
    if (flags & ~(uint32_t)(TOKENIZE_PARSE_SPECIAL | TOKENIZE_ADD_BOS))
        return diag_error(sink, DIAG_X0016, (DiagSpan){0}, "unknown flags 0x%x", flags);
    return tokenizer_encode(model->tokenizer, text, len, flags, sink, ids);
}

// Hands ids to the caller, or frees them after a failure. An empty list is a pointer all the same.
static void hand_over(Status status, TokenIds *ids, int32_t **out_ids, size_t *out_num_ids) {
    if (status != STATUS_OK) {
        token_ids_deinit(ids);
        return;
    }
    *out_num_ids = ids->count;
    *out_ids = ids->ids ? ids->ids : base_alloc(1, sizeof **out_ids);
}

IngotStatus ingot_tokenize(const IngotModel *model, const char *text, size_t len, uint32_t flags,
                           int32_t **out_ids, size_t *out_num_ids, IngotError **out_error) {
    DiagSink sink;
    TokenIds ids = {0};
    diag_sink_init(&sink);
    Status status = encode(model, text, len, flags, &sink, &ids);
    hand_over(status, &ids, out_ids, out_num_ids);
    return api_finish(status, &sink, out_error);
}

void ingot_ids_free(int32_t *ids) {
    free(ids);
}

static Status render(const IngotModel *model, const Template *parsed, const IngotMessage *messages,
                     size_t num_messages, const struct tm *now, DiagSink *sink, TokenIds *ids) {
    ChatMessage *copies = base_alloc(num_messages, sizeof *copies);
    for (size_t i = 0; i < num_messages; i++)
        copies[i] = (ChatMessage){.role = messages[i].role,
                                  .content = messages[i].content,
                                  .content_len = messages[i].content_len};
    TemplateOutput output = {0};
    Status status = chat_render(parsed, model->tokenizer, copies, num_messages,
                                (ChatOptions){.now = now}, sink, &output);
    if (status == STATUS_OK) status = chat_encode(model->tokenizer, &output, sink, ids);
    template_output_deinit(&output);
    free(copies);
    return status;
}

static Status parse_template(const IngotModel *model, DiagSink *sink, Template **out_template) {
    TRY(need_tokenizer(model, sink));
    const uint8_t *data;
    const SectionEntry *section =
        artifact_find_section(&model->artifact, SECTION_TEMPLATE, 0, &data);
    if (!section)
        return diag_error(sink, DIAG_X0017, (DiagSpan){.file = model->artifact.path},
                          "the artifact has no chat template");
    return template_parse((const char *)data, section->len_bytes, "chat template", sink,
                          out_template);
}

IngotStatus ingot_chat_prompt(const IngotModel *model, const IngotMessage *messages,
                              size_t num_messages, const struct tm *now, int32_t **out_ids,
                              size_t *out_num_ids, IngotError **out_error) {
    DiagSink sink;
    Template *parsed = NULL;
    TokenIds ids = {0};
    diag_sink_init(&sink);
    Status status = parse_template(model, &sink, &parsed);
    if (status == STATUS_OK)
        status = render(model, parsed, messages, num_messages, now, &sink, &ids);
    hand_over(status, &ids, out_ids, out_num_ids);
    IngotStatus result = api_finish(status, &sink, out_error);
    template_destroy(parsed); // after the diagnostics that quote it are rendered
    return result;
}

bool ingot_adds_bos(const IngotModel *model) {
    return model->tokenizer && tokenizer_adds_bos(model->tokenizer);
}

bool ingot_token_is_end(const IngotModel *model, int32_t id) {
    return model->tokenizer && tokenizer_is_end(model->tokenizer, id);
}

bool ingot_token_bytes(const IngotModel *model, int32_t id, const char **out_bytes,
                       size_t *out_len) {
    return model->tokenizer && tokenizer_decode_token(model->tokenizer, id, out_bytes, out_len);
}

IngotText *ingot_text_create(const IngotModel *model) {
    IngotText *text = base_alloc(1, sizeof *text);
    text->model = model;
    return text;
}

void ingot_text_destroy(IngotText *text) {
    if (!text) return;
    strbuf_deinit(&text->out);
    free(text);
}

const char *ingot_text_push(IngotText *text, int32_t id) {
    const char *bytes;
    size_t len;
    strbuf_clear(&text->out);
    if (ingot_token_bytes(text->model, id, &bytes, &len))
        utf8_stream_push(&text->stream, bytes, len, &text->out);
    return text->out.data ? text->out.data : "";
}

const char *ingot_text_finish(IngotText *text) {
    strbuf_clear(&text->out);
    utf8_stream_finish(&text->stream, &text->out);
    return text->out.data ? text->out.data : "";
}

IngotStatus ingot_sampler_create(const IngotModel *model, const IngotSampling *sampling,
                                 IngotSampler **out_sampler, IngotError **out_error) {
    SamplerParams params = sampler_default_params();
    params.is_greedy = !sampling;
    if (sampling) {
        params.temperature = sampling->temperature;
        params.top_k = sampling->top_k;
        params.top_p = sampling->top_p;
        params.min_p = sampling->min_p;
        params.seed = sampling->seed;
    }
    DiagSink sink;
    Sampler *sampler = NULL;
    diag_sink_init(&sink);
    Status status = sampler_create(&params, model->artifact.plan->vocab_size, &sink, &sampler);
    if (status == STATUS_OK) {
        *out_sampler = base_alloc(1, sizeof **out_sampler);
        (*out_sampler)->sampler = sampler;
    }
    return api_finish(status, &sink, out_error);
}

void ingot_sampler_destroy(IngotSampler *sampler) {
    if (!sampler) return;
    sampler_destroy(sampler->sampler);
    free(sampler);
}

IngotStatus ingot_sample(IngotSampler *sampler, const IngotSession *session, int32_t *out_id,
                         IngotError **out_error) {
    DiagSink sink;
    diag_sink_init(&sink);
    const float *logits = session_logits(session->session);
    Status status = logits ? sampler_next(sampler->sampler, logits, &sink, out_id)
                           : diag_error(&sink, DIAG_X0016, (DiagSpan){0},
                                        "there is nothing to sample before the first prefill");
    return api_finish(status, &sink, out_error);
}
