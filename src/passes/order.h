// The order in which the loops of a structured op run; see order_loops.c.
#ifndef INGOT_PASSES_ORDER_H
#define INGOT_PASSES_ORDER_H

#include "ir/ir.h"

// Is a sum the first loop with more than one iteration? There are no rows then to cut into tiles.
bool order_begins_with_sum(IrModule *m, const IrOp *op);

#endif
