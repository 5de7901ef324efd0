// Values of recipe keys that are lists.
#ifndef INGOT_RECIPE_RECIPE_LIST_H
#define INGOT_RECIPE_RECIPE_LIST_H

#include "recipe/recipe.h"
#include "text/doc.h"

// Whole numbers within the bounds of the key, none twice (R0011); ascending afterwards.
Status recipe_read_ints(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink,
                        RecipeInts *out) MUST_USE;
// Names of ops of the IR; R0010 with the nearest if there is none of that name.
Status recipe_read_ops(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink,
                       RecipeOps *out) MUST_USE;
// Sizes of a tensor: whole numbers from -1 on, and words.
Status recipe_read_shape(const DocNode *node, const RecipeKeyInfo *info, Arena *arena,
                         DiagSink *sink, RecipeShape *out) MUST_USE;

#endif
