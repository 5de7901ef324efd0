// Holds a plan to the recipe's max_memory_gb.
#ifndef INGOT_COMPILER_BUDGET_H
#define INGOT_COMPILER_BUDGET_H

#include "abi/plan.h"
#include "compiler/compile.h"
#include "recipe/recipe.h"

// report has the parts and the total of the plan that header is of. M0001, STATUS_LIMIT if they are
// over the bound: with every part, and the single changes of the recipe that would fit. Without a
// bound at the first entry of the module, if they are more than any machine has.
Status budget_check(const Recipe *recipe, IrModule *m, const PlanHeader *header,
                    const CompileReport *report, DiagSink *sink) MUST_USE;

#endif
