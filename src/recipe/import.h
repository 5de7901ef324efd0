// A model file and a recipe become one level-1 module (docs/model_families.md says how), and the
// data of its parameters can be asked for by name.
#ifndef INGOT_RECIPE_IMPORT_H
#define INGOT_RECIPE_IMPORT_H

#include "abi/quant.h"
#include "ir/ir.h"
#include "recipe/recipe.h"
#include "weights/gguf.h"

// Expands the family's description. The module:
//   attributes ingot.version, ingot.level, ingot.config (what the recipe asks of the passes),
//     ingot.tables (parameters that are computed: rope.cos, rope.sin);
//   public @forward(ids: tensor<?xi32>, start: index, pages: tensor<PAGESxi32>, for every layer its
//   K and V
//     cache {ingot.kv, ingot.layer}, then the weights {ingot.param, ingot.quant}) ->
//     (logits: tensor<1xVOCABxf32>, the updated caches in the order of the arguments);
//   private functions: one layer function per combination of weight formats, and what it calls.
// start + number of ids must not exceed the context. Errors: F...., R0013; the module is verified.
Status import_model(const Recipe *recipe, Gguf *gguf, DiagSink *sink,
                    IrModule **out_module) MUST_USE;

// The module attribute ingot.config as import_model writes it: what the recipe asks of the passes.
void import_put_config(const Recipe *recipe, StrBuf *out);

// Data of the parameter named by ingot.param. Weights: the bytes in the file, blocks of `format`,
// borrowed from gguf. Computed tables: f32 of dims[1] x dims[0], owned, freed by
// import_param_deinit.
typedef struct ImportParam {
    QuantFormat format;
    uint64_t dims[4]; // dims[0] is the fastest
    uint32_t num_dims;
    const void *data;
    uint64_t len_bytes;
    bool is_owned;
} ImportParam;

// Works on any module that kept ingot.tables, so also on one read back from text. F0018: no such
// parameter; F0022: a table that cannot be computed.
Status import_param_data(const IrModule *m, const Gguf *gguf, const char *name, DiagSink *sink,
                         ImportParam *out_param) MUST_USE;
void import_param_deinit(ImportParam *param);

#endif
