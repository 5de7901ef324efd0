// The memory planner's log, read off the module it planned: where every buffer of an entry lies in
// the arena, from which step to which it lives, and with which others it shares its bytes.
#ifndef INGOT_COMPILER_PLAN_LOG_H
#define INGOT_COMPILER_PLAN_LOG_H

#include "compiler/compile.h"

// Fills report->buffers, of all entries one after another.
void plan_log_fill(const IrModule *m, CompileReport *report);

#endif
