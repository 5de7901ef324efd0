// Shared by the files of raise-convolutions.
#ifndef INGOT_PASSES_RAISE_CONV_H
#define INGOT_PASSES_RAISE_CONV_H

#include "passes/build.h"

// Is it a convolution of f32 tensors of known sizes, onto zeros?
bool raise_takes(const IrOp *op);
// Is it a depthwise one, or a pooling, that a kernel takes? channels: of its result.
bool raise_takes_window(const IrOp *op, int64_t channels);

// ---- raise_groups.c

typedef struct GroupedConv {
    IrValue *x, *w; // [n, h, w, groups * c], [r, s, c, groups * f]
    int64_t groups, strides[2], dilations[2];
} GroupedConv;

// Is there a kernel for groups of so many channels?
bool raise_takes_groups(int64_t groups, int64_t inputs, int64_t results);
// The convolution, or the depthwise one, onto zeros; type: [n, oh, ow, groups * f].
IrValue *raise_grouped(Builder *b, const GroupedConv *c, const IrType *type);
// A value of five dimensions with dimensions first and first + 1 as one.
IrValue *raise_joined(Builder *b, IrValue *value, uint32_t first);
// Weights as [r, s, c, g * f]; dims: of w that hold r, s, c, g, f.
IrValue *raise_group_weights(Builder *b, IrValue *w, const uint32_t *dims);
// Puts value in the place of the result of op, which has dimension `first` in two, and erases op.
void raise_give_groups(Builder *b, IrOp *op, IrValue *value, uint32_t first);
// Strides and dilations of a named op over two directions.
void raise_read_window(const IrOp *op, GroupedConv *out);
// A channels-last convolution in groups, or depthwise with several results per channel, raised: the
// op it became; NULL if it is none.
IrOp *raise_groups(IrModule *m, IrOp *op);

// ---- raise_named.c

// Replaces a named op along one direction, or with weights in another order.
void raise_named(IrModule *m, IrOp *op);
// op under another name, on other operands; the attributes are its own.
IrOp *raise_name(Builder *b, const IrOp *op, IrOpKind kind, IrValue *const *operands);
// Dimension i of the result is dimension dims[i] of value.
IrValue *raise_reordered(Builder *b, IrValue *value, const uint32_t *dims);

// raise_nchw.c: maps of [n, c, h, w] around convolutions become [n, h, w, c].
void raise_channels_last(IrModule *m, IrBlock *body);

#endif
