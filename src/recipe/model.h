// A model file seen through its family's description (data/arch/NAME.yaml): the numbers the
// templates use, and which tensor plays which part, all checked.
#ifndef INGOT_RECIPE_MODEL_H
#define INGOT_RECIPE_MODEL_H

#include "recipe/expr.h"
#include "recipe/recipe.h"
#include "text/doc.h"
#include "weights/gguf.h"

typedef struct ModelTensor {
    const char *as;           // what templates call it
    const GgufTensor *tensor; // NULL: optional and absent
} ModelTensor;

typedef struct ModelLayer {
    ExprScope scope; // LAYER, and the family's numbers of this layer
    size_t kind;     // layers of equal numbers are of one kind
} ModelLayer;

typedef struct Model {
    const Recipe *recipe;
    Gguf *gguf;
    DiagSink *sink;
    Arena *arena;          // the sink's: what diagnostics quote lives as long as they do
    const char *arch_name; // general.architecture
    const DocNode *arch;
    const char *file_name; // of the model, without folder; for messages
    ExprScope scope;       // the recipe's and the model's numbers
    ModelTensor *tensors;  // those outside the layers
    size_t num_tensors;
    ModelTensor *layer_tensors; // [layer * num_layer_tensors + i]
    size_t num_layer_tensors;
    int64_t num_layers;
    ModelLayer *layers;
    int64_t *kind_layers; // [kind] its first layer
    size_t num_kinds;
    bool *is_tensor_used; // by tensor number of the file
    DiagSpan outline;     // the line that says which model this is, where there is no file
} Model;

// Fills *model. The model borrows recipe, gguf and sink. Of an outline the numbers are the recipe's
// dims, and its tensors are added. Errors: F0014 to F0020, R0009, R0011 to R0013.
Status model_init(Model *model, const Recipe *recipe, Gguf *gguf, DiagSink *sink) MUST_USE;

// The tensor playing the part, of layer `layer` (-1: outside the layers); NULL if there is none.
const GgufTensor *model_find_tensor(const Model *model, const char *as, int64_t layer);
// Element type of a tensor in the IR: block formats mean f32.
const char *model_tensor_elem(const GgufTensor *tensor);
// A child that must be there; R0013 if it is not.
Status model_child(const Model *model, const DocNode *node, const char *key, DocKind kind,
                   const DocNode **out) MUST_USE;

#endif
