// Removal of ops without effect and without users; used at the end of passes that rewrite.
#ifndef INGOT_PASSES_DCE_H
#define INGOT_PASSES_DCE_H

#include "ir/ir.h"

// Has op no effect but its results? (Pure ops, linalg on tensors, scf.for and scf.if that hold only
// such.)
bool dce_is_removable(const IrOp *op);
// Is op a function that only what names it needs?
bool dce_is_private(const IrOp *op);
// Erases dead ops in every function, and private functions that nothing calls or names.
void dce_module(IrModule *m);

#endif
