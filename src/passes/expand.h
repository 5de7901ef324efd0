// Ops that expand-tensors writes with others; one file each.
#ifndef INGOT_PASSES_EXPAND_H
#define INGOT_PASSES_EXPAND_H

#include "base/diag.h"
#include "passes/build.h"

// scf.forall on tensors as nested scf.for; the op is erased.
void expand_forall(IrModule *m, IrOp *op);
// linalg.pack or linalg.unpack as reshape, transposition and slice; the op is erased.
Status expand_pack(IrModule *m, IrOp *op, DiagSink *sink) MUST_USE;

#endif
