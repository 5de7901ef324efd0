// What sets a part of the memory table: the lines of the recipe, the options in their place, the
// model file. Text such as "llama.yaml:14 input_constraints.seq_len.max, llama.gguf"; a key that
// the recipe leaves out is "default KEY: VALUE".
#ifndef INGOT_COMPILER_SET_BY_H
#define INGOT_COMPILER_SET_BY_H

#include "recipe/recipe.h"

typedef struct SetByInputs {
    const Recipe *recipe; // NULL: a module of IR text, named by recipe_path
    bool is_text;         // IR text, its own or the recipe's subgraph: no language model
    const char *recipe_path, *model_path; // named without their folders: artifacts are the same
                                          // wherever they are compiled
    bool has_threads_option, has_cpu_option;
} SetByInputs;

// part: a name of plan_memory_part, or SET_BY_PROCESS.
void set_by_put(const SetByInputs *in, const char *part, StrBuf *out);
#define SET_BY_PROCESS "process"

#endif
