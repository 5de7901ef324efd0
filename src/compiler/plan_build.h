// From the planned level-2 module to the tables of an artifact's plan: every call of an entry is a
// step.
#ifndef INGOT_COMPILER_PLAN_BUILD_H
#define INGOT_COMPILER_PLAN_BUILD_H

#include "abi/artifact_write.h"
#include "compiler/weights_image.h"
#include "ir/ir.h"
#include "passes/pass.h"
#include "recipe/recipe.h"

typedef struct PlanBuild {
    Arena arena;
    StrBuf strings;            // SECTION_STRINGS
    PlanTables tables;         // levels and kernel_code are filled by the caller
    const char **kernel_names; // by kernel number; symbols of the module
    const char **kernel_kinds;
    PlanSize *sizes; // SECTION_SIZES
    size_t num_sizes;
    PlanRelation *relations; // SECTION_RELATIONS
    size_t num_relations;
    uint64_t *kernel_scratch_bytes; // what a worker keeps of its intermediates
    uint64_t *kernel_ns; // its code of all levels took; filled by the caller, never written
} PlanBuild;

// Strings are shared: equal texts have one offset.
uint32_t plan_build_string(PlanBuild *build, const char *text);
// Fills kernels, entries, steps, buffers, scalars and the sizes of the header that follow from the
// module.
Status plan_build(IrModule *m, const WeightsImage *image, const PassConfig *config, DiagSink *sink,
                  PlanBuild *out_build) MUST_USE;
// What the recipe says of the sizes of a call: relations, and of a language model the ranges that
// it holds calls against.
void plan_build_guards(PlanBuild *build, const Recipe *recipe);
void plan_build_deinit(PlanBuild *build);

#endif
