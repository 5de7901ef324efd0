// Floating-point constants as MLIR 22 prints them.
#ifndef INGOT_IR_FLOAT_TEXT_H
#define INGOT_IR_FLOAT_TEXT_H

#include "base/str.h"
#include "ir/ir.h"

// Appends the text of a bit pattern of type kind (f16, bf16, f32, f64): six significant digits if
// they read back as the same bits, else as many as the type needs, else (inf, NaN, long whole
// numbers) 0x and the bits.
void float_text(IrTypeKind kind, uint64_t bits, StrBuf *out);

#endif
