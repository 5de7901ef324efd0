// See tiny_model.h.
#include "tiny_model.h"

#include <stdio.h>
#include <string.h>

typedef struct Maker {
    const TinyModel *model;
    GgufBuilder *b;
} Maker;

static bool is_named(const char *name, const char *other) {
    return other && str_equal(name, other);
}

static void put_matrix(Maker *maker, const char *name, uint64_t rows, uint64_t cols,
                       QuantFormat format) {
    const uint64_t dims[] = {cols, rows}, swapped[] = {rows, cols};
    if (is_named(name, maker->model->skip_tensor)) return;
    bool is_swapped = is_named(name, maker->model->transpose_tensor);
    gguf_builder_tensor(maker->b, name, format, 2, is_swapped ? swapped : dims);
}

static void put_vector(Maker *maker, const char *name, uint64_t len) {
    if (!is_named(name, maker->model->skip_tensor))
        gguf_builder_tensor(maker->b, name, QUANT_F32, 1, &len);
}

static void put_layer(Maker *maker, uint32_t layer, uint64_t embd, uint64_t ffn, uint64_t kv_dim) {
    const TinyModel *m = maker->model;
    QuantFormat format = m->matrix_format;
    QuantFormat down =
        layer == 1 && m->second_down_format != QUANT_F32 ? m->second_down_format : format;
    char name[64];
    const struct {
        const char *name;
        uint64_t rows, cols;
        QuantFormat format;
    } matrices[] = {
        {"attn_q", embd, embd, format},   {"attn_k", kv_dim, embd, format},
        {"attn_v", kv_dim, embd, format}, {"attn_output", embd, embd, format},
        {"ffn_gate", ffn, embd, format},  {"ffn_up", ffn, embd, format},
        {"ffn_down", embd, ffn, down},
    };
    snprintf(name, sizeof name, "blk.%u.attn_norm.weight", layer);
    put_vector(maker, name, embd);
    snprintf(name, sizeof name, "blk.%u.ffn_norm.weight", layer);
    put_vector(maker, name, embd);
    for (size_t i = 0; i < ARRAY_LEN(matrices); i++) {
        snprintf(name, sizeof name, "blk.%u.%s.weight", layer, matrices[i].name);
        put_matrix(maker, name, matrices[i].rows, matrices[i].cols, matrices[i].format);
    }
}

static uint32_t or_else(uint32_t value, uint32_t otherwise) {
    return value ? value : otherwise;
}

void tiny_model_build(const TinyModel *m, GgufBuilder *b) {
    Maker maker = {m, b};
    uint32_t layers = or_else(m->num_layers, 2), embd = or_else(m->embd, 32);
    uint32_t ffn = or_else(m->ffn, 64), heads = or_else(m->num_heads, 4);
    uint32_t kv_heads = or_else(m->num_kv_heads, 2), vocab = or_else(m->vocab, 40);
    gguf_builder_string(b, "general.architecture", "llama");
    gguf_builder_u32(b, "llama.block_count", layers);
    gguf_builder_u32(b, "llama.context_length", or_else(m->context, 256));
    gguf_builder_u32(b, "llama.embedding_length", embd);
    gguf_builder_u32(b, "llama.feed_forward_length", ffn);
    gguf_builder_u32(b, "llama.attention.head_count", heads);
    gguf_builder_u32(b, "llama.attention.head_count_kv", kv_heads);
    gguf_builder_f32(b, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    gguf_builder_f32(b, "llama.rope.freq_base", 1000.0f);
    put_matrix(&maker, "token_embd.weight", vocab, embd, m->matrix_format);
    put_vector(&maker, "output_norm.weight", embd);
    if (m->is_untied) put_matrix(&maker, "output.weight", vocab, embd, m->matrix_format);
    if (m->has_rope_factors) put_vector(&maker, "rope_freqs.weight", embd / heads / 2);
    for (uint32_t i = 0; i < layers; i++)
        put_layer(&maker, i, embd, ffn, (uint64_t)embd / heads * kv_heads);
}

void tiny_model_write(const TinyModel *model, StrBuf *out) {
    GgufBuilder b = {0};
    tiny_model_build(model, &b);
    gguf_builder_finish(&b, out);
    gguf_builder_deinit(&b);
}
