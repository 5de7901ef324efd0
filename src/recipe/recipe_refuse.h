// Keys whose values no target can have so far, and those that say one thing in two ways.
#ifndef INGOT_RECIPE_RECIPE_REFUSE_H
#define INGOT_RECIPE_RECIPE_REFUSE_H

#include "recipe/recipe.h"

// R0012 for each of them, by the name of the target, with why and what to write instead; R0011 for
// enable_custom_rope without a base.
Status recipe_refuse_unmade(const Recipe *recipe, DiagSink *sink) MUST_USE;
// enable_async_execution and enable_sync_all are contraries: each follows from the other; R0011.
Status recipe_derive_sync(Recipe *recipe, DiagSink *sink) MUST_USE;
// Rules of fusion: which of two comes first (fuse_order: R0011, R0012 where it would decide
// nothing), and what an attention then is.
Status recipe_derive_rules(Recipe *recipe, DiagSink *sink) MUST_USE;

#endif
