// What a recipe asks of the module and of the code: ops that must not be there, kernels that must
// have what they want.
#ifndef INGOT_COMPILER_DEMANDS_H
#define INGOT_COMPILER_DEMANDS_H

#include "abi/cpu.h"
#include "ir/ir.h"
#include "recipe/recipe.h"

// unsupported_ops: P0063 with the place of the first op of each kind, STATUS_NO.
Status demands_check_ops(const IrModule *m, const Recipe *recipe, DiagSink *sink) MUST_USE;
// fallback: forbid: P0064 for each kernel of a planned module that did not get the hardware
// primitive it wants, STATUS_NO.
Status demands_check_kernels(const IrModule *m, CpuLevel level, const Recipe *recipe,
                             DiagSink *sink) MUST_USE;
// Of a machine no code is made for: R0012 where that cannot be told.
Status demands_check_planned(const Recipe *recipe, DiagSink *sink) MUST_USE;

#endif
