// What a report says of the plan: its kernels, entries and sizes, and the KV cache.
#ifndef INGOT_COMPILER_REPORT_FILL_H
#define INGOT_COMPILER_REPORT_FILL_H

#include "compiler/compile.h"
#include "compiler/plan_build.h"

// The report's levels and the times of its entries are already there.
void report_fill(const PlanBuild *plan, CompileReport *report);

#endif
