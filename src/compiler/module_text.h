// IR text in place of a recipe, or held by one: a level-1 module whose public functions become the
// entries of an artifact.
#ifndef INGOT_COMPILER_MODULE_TEXT_H
#define INGOT_COMPILER_MODULE_TEXT_H

#include "ir/ir.h"
#include "recipe/recipe.h"
#include "weights/gguf.h"

// What was read of a file; valid as long as the sink.
typedef struct ModuleSource {
    const char *text;
    size_t len;
} ModuleSource;

// Is the file IR text, by its name?
bool module_text_is(const char *path);
Status module_text_read(const char *path, DiagSink *sink, ModuleSource *out_source) MUST_USE;
// Reads and verifies the module; arguments and results of public functions get their names
// (ingot.name: the name in the text, else argN and resultN).
Status module_text_load(const char *path, DiagSink *sink, ModuleSource *out_source,
                        IrModule **out_module) MUST_USE;
// The same of a recipe's subgraph; the module carries the recipe's settings and fusion rules. The
// source is empty where the text stands in the recipe.
Status module_text_of_recipe(const Recipe *recipe, DiagSink *sink, ModuleSource *out_source,
                             IrModule **out_module) MUST_USE;

// What callers call argument or result i of a function.
const char *module_text_argument_name(IrModule *m, const IrOp *func, uint32_t i);
const char *module_text_result_name(IrModule *m, const IrOp *func, uint32_t i);

// Is every argument with ingot.param a tensor of the file, of the same type and shape? parameters
// is NULL where no file was named.
Status module_text_check_parameters(IrModule *m, const Gguf *parameters, DiagSink *sink) MUST_USE;

#endif
