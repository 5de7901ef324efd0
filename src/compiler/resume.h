// What a dump was made of: marks on the module, so that it goes on with the same model and recipe
// only.
#ifndef INGOT_COMPILER_RESUME_H
#define INGOT_COMPILER_RESUME_H

#include "ir/ir.h"
#include "recipe/recipe.h"
#include "weights/gguf.h"

// Adds the marks to ingot.config of an imported module.
void resume_mark(IrModule *m, const Recipe *recipe, const Gguf *gguf);
// Is a module read from dump_path of this model (else P0012) and this recipe (else P0013)? A module
// without marks, written by hand, is of any.
Status resume_check(const IrModule *m, const char *dump_path, const Recipe *recipe,
                    const Gguf *gguf, DiagSink *sink) MUST_USE;

#endif
