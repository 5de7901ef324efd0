// Values of recipe keys that are lists.
#ifndef INGOT_RECIPE_RECIPE_LIST_H
#define INGOT_RECIPE_RECIPE_LIST_H

#include "recipe/recipe.h"
#include "text/doc.h"

// Whole numbers within the bounds of the key, none twice (R0011); ascending afterwards.
Status recipe_read_ints(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink,
                        RecipeInts *out) MUST_USE;
// Do the hot sizes of what is called so lie in its range? R0011 at span if one does not.
Status recipe_check_hot(const RecipeRange *range, const char *name, DiagSpan span,
                        DiagSink *sink) MUST_USE;
// What is said of a size of a subgraph, at span, agrees with itself (R0011). spans: of its keys.
Status recipe_check_size(const RecipeSize *size, DiagSpan span, const DiagSpan *spans,
                         DiagSink *sink) MUST_USE;
// Names of ops of the IR; R0010 with the nearest if there is none of that name.
Status recipe_read_ops(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink,
                       RecipeOps *out) MUST_USE;
// Sizes of a tensor: whole numbers from -1 on, and words.
Status recipe_read_shape(const DocNode *node, const RecipeKeyInfo *info, Arena *arena,
                         DiagSink *sink, RecipeShape *out) MUST_USE;

#endif
