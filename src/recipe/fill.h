// Fills IR text templates of model family files: ${...} and @if lines (data/arch/,
// docs/model_families.md).
#ifndef INGOT_RECIPE_FILL_H
#define INGOT_RECIPE_FILL_H

#include "recipe/model.h"

// What one template sees.
typedef struct FillEnv {
    const Model *model;
    int64_t layer;            // its layer tensors are visible; -1: those outside the layers
    ExprScope scope;          // names of this template, in front of the model's or a layer's
    const char *texts[16][2]; // name, text: ${name}
    size_t num_texts;
} FillEnv;

// Starts an environment: numbers are the model's or one layer's; names IS_F32_x and HAS_x of every
// visible tensor x are defined.
void fill_env_init(FillEnv *env, const Model *model, int64_t layer, const ExprScope *numbers);
void fill_env_text(FillEnv *env, const char *name, const char *text);

// The argument list of a function for the tensors called as in `names`, with their types and
// attributes:
// "%wq: tensor<64x64xf32> {ingot.quant = "q4_0"}, ...".
Status fill_put_args(const FillEnv *env, const DocNode *names, StrBuf *out) MUST_USE;
// Appends "tensor<64x64xf32>".
void fill_put_tensor_type(const GgufTensor *tensor, StrBuf *out);
// Appends text of the template node, filled in. Errors: R0013 at the node, F0016 for broken
// numbers.
Status fill_template(const FillEnv *env, const DocNode *node, StrBuf *out) MUST_USE;

#endif
