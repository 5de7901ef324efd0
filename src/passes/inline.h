// Calls replaced by the body of what they call.
#ifndef INGOT_PASSES_INLINE_H
#define INGOT_PASSES_INLINE_H

#include "ir/ir.h"

// The call goes; the callee, a function of the module with a body, stays.
void inline_call(IrModule *m, IrOp *call, const IrOp *callee);

#endif
