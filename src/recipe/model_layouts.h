// What a recipe says of inputs, caches and weights, held against the model.
#ifndef INGOT_RECIPE_MODEL_LAYOUTS_H
#define INGOT_RECIPE_MODEL_LAYOUTS_H

#include "recipe/model.h"

// Names are those under `layouts` of the family's description. Refused, with tensor, dimension,
// value and what is allowed: an unknown name (R0010), another type or size (R0011), a -1 that no
// constraint of that dimension bounds (R0016), a format in which nothing is given (R0012).
Status model_check_layouts(const Model *model) MUST_USE;

#endif
