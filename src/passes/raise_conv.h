// Shared by the files of raise-convolutions.
#ifndef INGOT_PASSES_RAISE_CONV_H
#define INGOT_PASSES_RAISE_CONV_H

#include "passes/build.h"

// Is it a convolution of f32 tensors of known sizes, onto zeros?
bool raise_takes(const IrOp *op);
// raise_nchw.c: maps of [n, c, h, w] around convolutions become [n, h, w, c].
void raise_channels_last(IrModule *m, IrBlock *body);

#endif
