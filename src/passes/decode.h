// Reading a decoding body: which integer code, which zero point, which block scale and minimum a
// weight is made of. The shape it knows is  w = float(code [- zero]) * A [+ B]  with A, B free of
// the code; what has another shape is left alone by its users.
#ifndef INGOT_PASSES_DECODE_H
#define INGOT_PASSES_DECODE_H

#include "abi/quant.h"
#include "passes/build.h"

typedef struct Decode {
    IrOp *generic;            // the op read
    IrValue *value;           // the decoded number in its body
    IrOp *convert;            // the one integer-to-float conversion
    IrValue *code;            // i8 value in the body, before the zero point
    int64_t zero;             // added to the code
    bool is_signed;           // code is to be read as signed (then zero is 0)
    uint32_t code_max;        // largest unsigned code, 255 for signed ones
    bool has_min;             // B is not zero
    uint32_t num_block_loops; // leading loops that A and B depend on
} Decode;

// Reads `value` inside the body of `generic`; false if it has another shape.
bool decode_read(IrModule *m, IrOp *generic, IrValue *value, Decode *out);

// New ops, before generic, that compute from the same operands: the codes as unsigned bytes
// [N, KB, B] (signed ones shifted by 128; *out_zero is the zero point to add), the scales [N, KB]
// and the minima [N, KB] (NULL without) in f32, or f16 where the format stores just that number.
typedef struct DecodedPlanes {
    IrValue *codes, *scales, *mins;
    int64_t zero;
    uint32_t code_max;
} DecodedPlanes;
DecodedPlanes decode_split(IrModule *m, const Decode *decode);

// The text of the function that decodes a weight [rows, elems] of a block format from its planes.
void lower_quant_decode_text(const QuantInfo *info, int64_t rows, int64_t elems, StrBuf *out);

// Largest unsigned value of an integer expression of at most 32 bits.
uint32_t decode_unsigned_max(const IrValue *value);

#endif
