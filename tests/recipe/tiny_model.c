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

static void put_layer_vector(Maker *maker, uint32_t layer, const char *rest, uint64_t len) {
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s", layer, rest);
    put_vector(maker, name, len);
}

static void put_extras(Maker *maker, uint32_t layer, uint64_t embd, uint64_t q_dim, uint64_t kv_dim,
                       uint64_t head_dim) {
    const TinyModel *m = maker->model;
    if (m->has_biases) {
        put_layer_vector(maker, layer, "attn_q.bias", q_dim);
        put_layer_vector(maker, layer, "attn_k.bias", kv_dim);
        put_layer_vector(maker, layer, "attn_v.bias", kv_dim);
    }
    if (m->has_head_norms) {
        put_layer_vector(maker, layer, "attn_q_norm.weight", head_dim);
        put_layer_vector(maker, layer, "attn_k_norm.weight", head_dim);
    }
    if (m->has_post_norms) {
        put_layer_vector(maker, layer, "post_attention_norm.weight", embd);
        put_layer_vector(maker, layer, "post_ffw_norm.weight", embd);
    }
}

static void put_layer(Maker *maker, uint32_t layer, uint64_t embd, uint64_t ffn, uint64_t q_dim,
                      uint64_t kv_dim) {
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
        {"attn_q", q_dim, embd, format},  {"attn_k", kv_dim, embd, format},
        {"attn_v", kv_dim, embd, format}, {"attn_output", embd, q_dim, format},
        {"ffn_gate", ffn, embd, format},  {"ffn_up", ffn, embd, format},
        {"ffn_down", embd, ffn, down},
    };
    put_layer_vector(maker, layer, "attn_norm.weight", embd);
    put_layer_vector(maker, layer, "ffn_norm.weight", embd);
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
    uint32_t head_dim = or_else(m->head_dim, embd / heads);
    const char *family = m->family ? m->family : "llama";
    const struct {
        const char *name;
        uint32_t value; // 0: left out
    } numbers[] = {{"block_count", layers},
                   {"context_length", or_else(m->context, 256)},
                   {"embedding_length", embd},
                   {"feed_forward_length", ffn},
                   {"attention.head_count", heads},
                   {"attention.head_count_kv", kv_heads},
                   {"attention.key_length", m->head_dim},
                   {"attention.sliding_window", m->window}};
    char key[96];
    gguf_builder_string(b, "general.architecture", family);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        snprintf(key, sizeof key, "%s.%s", family, numbers[i].name);
        if (numbers[i].value) gguf_builder_u32(b, key, numbers[i].value);
    }
    snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", family);
    gguf_builder_f32(b, key, 1e-5f);
    snprintf(key, sizeof key, "%s.rope.freq_base", family);
    gguf_builder_f32(b, key, 1000.0f);
    put_matrix(&maker, "token_embd.weight", vocab, embd, m->matrix_format);
    put_vector(&maker, "output_norm.weight", embd);
    if (m->is_untied) put_matrix(&maker, "output.weight", vocab, embd, m->matrix_format);
    if (m->has_rope_factors) put_vector(&maker, "rope_freqs.weight", embd / heads / 2);
    uint64_t q_dim = (uint64_t)head_dim * heads, kv_dim = (uint64_t)head_dim * kv_heads;
    for (uint32_t i = 0; i < layers; i++) {
        put_layer(&maker, i, embd, ffn, q_dim, kv_dim);
        put_extras(&maker, i, embd, q_dim, kv_dim, head_dim);
    }
}

void tiny_model_write(const TinyModel *model, StrBuf *out) {
    GgufBuilder b = {0};
    tiny_model_build(model, &b);
    gguf_builder_finish(&b, out);
    gguf_builder_deinit(&b);
}
