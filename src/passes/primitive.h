// The hardware primitive a kernel wanted and got: read from the loops and vectors it became.
#ifndef INGOT_PASSES_PRIMITIVE_H
#define INGOT_PASSES_PRIMITIVE_H

#include "abi/cpu.h"
#include "ir/ir.h"

// Writes on every kernel of a vectorised module the primitive it got (ingot.primitive) and, if it
// wanted another, why not (ingot.fallback); on every innermost loop that stayed scalar the reason.
void primitive_mark(IrModule *m, CpuLevel level);

// What a kernel of these operand types wants: "vpdpbusd" for bytes, "vdpbf16ps" for bf16, else
// vectors of floats. Static text.
const char *primitive_wanted(const IrOp *kernel);

// Bytes of the intermediates that a vectorised kernel keeps, each worker its own.
uint64_t kernel_scratch_bytes(const IrOp *kernel);

#endif
