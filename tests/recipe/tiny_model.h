// A small random model of a known family, as a GGUF in memory.
#ifndef INGOT_TESTS_TINY_MODEL_H
#define INGOT_TESTS_TINY_MODEL_H

#include "../weights/gguf_builder.h"

typedef struct TinyModel {
    const char *family; // NULL: the first; what its layers have beside the usual:
    bool has_biases, has_head_norms, has_post_norms;
    uint32_t window, head_dim; // 0: none; embd / num_heads
    uint32_t num_layers, embd, ffn, num_heads, num_kv_heads, vocab, context; // 0: a default
    QuantFormat matrix_format;                                               // of the matrices
    QuantFormat second_down_format; // of layer 1's ffn_down; QUANT_F32: as the others
    bool is_untied;
    bool has_rope_factors;
    const char *skip_tensor;      // left out
    const char *transpose_tensor; // written with its dimensions swapped
} TinyModel;

void tiny_model_build(const TinyModel *model, GgufBuilder *b);
// build and finish.
void tiny_model_write(const TinyModel *model, StrBuf *out);

#endif
