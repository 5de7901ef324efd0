// Kernels that buckets have of one another: equal but for how many rows their arguments have.
#ifndef INGOT_PASSES_KERNEL_ALIKE_H
#define INGOT_PASSES_KERNEL_ALIKE_H

#include "ir/ir.h"

// Would a be b with rows_b for rows_a in the first sizes of its types and reshapes, and is nothing
// else different? Numbers that are computed with must be equal.
bool kernel_is_alike(const IrOp *a, int64_t rows_a, const IrOp *b, int64_t rows_b);

#endif
