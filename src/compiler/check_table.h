// What a module checks while it runs (ingot.checks, passes/check_faults.h): as a table of the plan,
// as a refusal, as a record for `ingot explain`.
#ifndef INGOT_COMPILER_CHECK_TABLE_H
#define INGOT_COMPILER_CHECK_TABLE_H

#include "compiler/plan_build.h"

// Fills the plan's checks. P0011 if the list or an assertion's number is none that passes make.
Status check_table_build(IrModule *m, PlanBuild *build, DiagSink *sink) MUST_USE;
// What a function found that makes weights at compile time. record: KERNEL_FAULT_WORDS.
Status check_table_refuse(const IrModule *m, const int64_t *record, DiagSink *sink) MUST_USE;
// Appends an object per entry; counts those that are checked.
void check_table_put_json(const IrModule *m, StrBuf *out, uint64_t *num_checked);

#endif
