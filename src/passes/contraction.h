// The contractions the pipeline knows, from raise-patterns to vectorize: linalg.generic with the
// attribute ingot.contract naming its form. Everything else about it is read from its operands and
// body.
#ifndef INGOT_PASSES_CONTRACTION_H
#define INGOT_PASSES_CONTRACTION_H

#include "passes/build.h"

// ingot.contract = ...
//   "weights"  out[m, n] += x[m, b, j] * (float(code[n, b, j] + zero) * scale[n, b] [+ min[n, b]])
//              ins(x, codes, scales[, mins])
//   "float"    out[m, n] += x[m, k] * w[n, k]                                      ins(x, w)
//   "dot"      p[m, n, b] += xq[m, b, j] * code[n, b, j]  in i32                   ins(xq, codes)
//   "scale"    out[m, n] += float(p[m, n, b] [+ zs[m, b]]) * xs[m, b] * scale[n, b] [+ xf[m, b] *
//   min[n, b]]
//              ins(p, xs, scales[, zs][, xf, mins]); zs is i32 per row, xf f32 per row
//   "conv"     a convolution, see conv.h                                                ins(x, w)
//   "window"   a depthwise convolution or pooling, see conv.h                           ins(x, w)
// layout-optimize turns n into (tile, row) and j into what the packed codes need; see
// layout_optimize.c.
bool contraction_is(const IrOp *op, const char *form);
// Has an op with ingot.contract the operands, ranks and body its form promises? Forms are read
// without further checks afterwards.
bool contraction_fits(const IrOp *op);
void contraction_mark(IrModule *m, IrOp *op, const char *form);

// Weights as planes: codes [N, KB, B], scales and mins [N, KB].
typedef struct ContractionWeights {
    IrValue *x, *codes, *scales, *mins; // mins NULL without
    int64_t zero;
} ContractionWeights;

// Builds "weights" or "float" before b's insertion point; x is [M, K]; the result is [M, N] f32.
IrValue *contraction_build_weights(Builder *b, const ContractionWeights *w);
IrValue *contraction_build_float(Builder *b, IrValue *x, IrValue *w);

// float(code + zero) * scale [+ min] in a body; code, scale and min of any storage type.
IrValue *contraction_decode(Builder *body, IrValue *code, int64_t zero, IrValue *scale,
                            IrValue *min);
// The zero point in the body of a "weights" op: the constant added to its extended code.
int64_t contraction_zero(const IrOp *op);
// x as f32: extf if narrower.
IrValue *contraction_to_f32(Builder *body, IrValue *value);

#endif
