// Writes into a recipe what its diagnostics say is safe to write, for `ingot verify --fix`.
#ifndef INGOT_CLI_RECIPE_FIX_H
#define INGOT_CLI_RECIPE_FIX_H

#include "base/diag.h"

// A line that was changed. Texts live in the sink's arena.
typedef struct RecipeFix {
    uint32_t line;
    const char *before, *after; // the whole line
} RecipeFix;

typedef struct RecipeFixes {
    RecipeFix *items;
    size_t num_items, capacity;
} RecipeFixes;

// Reads the recipe, mends what has a fix, and goes on until nothing has; then the file is replaced,
// if anything changed. What is left to say of the recipe is not said here. Failures: of reading and
// writing the file (U0002, U0003).
Status recipe_fix(const char *path, DiagSink *sink, RecipeFixes *out_fixes) MUST_USE;
void recipe_fixes_deinit(RecipeFixes *fixes);

#endif
