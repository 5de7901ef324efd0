// Relations between the sizes of a recipe: reading, and what they leave of its ranges.
#ifndef INGOT_RECIPE_RECIPE_RELATION_H
#define INGOT_RECIPE_RECIPE_RELATION_H

#include "recipe/recipe.h"
#include "text/doc.h"

// A list of texts; R0015 with the place of the one that is no relation.
Status recipe_read_relations(const DocNode *node, const char *what, Arena *arena, DiagSink *sink,
                             RecipeRelations *out) MUST_USE;
// Of a language model: names no size of it (R0015), or leaves no call that reaches a maximum of
// input_constraints (R0011), each size taken alone with the others at their least.
Status recipe_check_relations(const Recipe *recipe, DiagSink *sink) MUST_USE;
// KV pages that every batch can have whose sequences keep to the relations: b sequences, each as
// long as it may be beside b - 1 others.
int64_t recipe_count_pages(const Recipe *recipe);

#endif
