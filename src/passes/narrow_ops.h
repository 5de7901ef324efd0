// Part of assign-precision: the ops of a class in the types the recipe asks for; see narrow_ops.c.
#ifndef INGOT_PASSES_NARROW_OPS_H
#define INGOT_PASSES_NARROW_OPS_H

#include "abi/op_precision.h"
#include "ir/ir.h"

// All ops of func; takes the attribute ingot.op_class away, which only a function keeps whose
// attention is no longer what an attention kernel computes.
void narrow_ops(IrModule *m, IrOp *func, const OpPrecision precisions[NUM_OP_CLASSES]);

#endif
