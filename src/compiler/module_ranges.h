// Named sizes of a module compiled from text: ingot.dims on arguments, and ranges from ingot.ranges
// on the function or from a recipe.
#ifndef INGOT_COMPILER_MODULE_RANGES_H
#define INGOT_COMPILER_MODULE_RANGES_H

#include "ir/ir.h"
#include "recipe/recipe.h"

// Gives every unknown size of an entry's arguments its name and range, and puts them on the module
// in full, with the place that states each. A size without a name of its own is called
// "ARGUMENT.DIMENSION". recipe may be NULL. P0004: nothing bounds a size; P0011: dims or ranges are
// malformed; P0016: too many versions; R0011, R0012: the recipe names another size, or bounds one
// that the module bounds.
Status module_ranges_bind(IrModule *m, IrOp *func, const Recipe *recipe, DiagSink *sink) MUST_USE;
// Is every size that the recipe bounds one of the module?
Status module_ranges_check_recipe(IrModule *m, const Recipe *recipe, DiagSink *sink) MUST_USE;

#endif
