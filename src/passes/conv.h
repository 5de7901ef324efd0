// Convolutions as contractions (contraction.h), from raise-convolutions to vectorize:
//   ingot.contract = "conv"
//     raised    out[n, oh, ow, k] += x[n, oh*sh + r*dh, ow*sw + s*dw, c] * w[r, s, c, k]
//               in groups of F channels: x[.., (k floordiv F) * C + c]
//     laid out  out[n, oh, ow, g, t] += x[n, oh*sh + r*dh, ow*sw + s*dw, b, i] * w[g, b, r, s, i,
//     t]
//               k = g * T + t, c = b * I + i; in P parts, each of which reads its own channels:
//               x[.., (g floordiv (G / P)) * B + b, i]
//               a map in blocks of channels (map_layout.h) is read as x[n, b, h, w, i] and written
//               as out[n, g, oh, ow, t], or, where T is V blocks, as out[n, g, v, oh, ow, t] with
//               w[g, b, r, s, i, v, t]
//   ingot.contract = "window"   (depthwise convolutions, pooling)
//     out[n, oh, ow, c] = body(x[n, oh*sh + r*dh, ow*sw + s*dw, c], w[r, s, c] or w[r, s], out)
//     in blocks: out[n, b, oh, ow, i], x[n, b, h, w, i], w[r, s, b, i] or w[r, s]
// loops in the order n, oh, ow, k, r, s, c; n, oh, ow, g, t, b, r, s, i (, v); n, oh, ow, c, r, s;
// and n, b, oh, ow, i, r, s.
#ifndef INGOT_PASSES_CONV_H
#define INGOT_PASSES_CONV_H

#include "passes/map_layout.h"

// What a laid-out convolution or a window is; sizes are those of the loops. A window has no sum
// over channels: blocks and block are 1, its channels are groups * tile.
typedef struct ConvShape {
    int64_t n, oh, ow, groups, tile; // of the result
    int64_t blocks, r, s, block;     // of the reduction
    int64_t parts;                   // of the channels: the groups of the model
    int64_t stride_h, stride_w, dilation_h, dilation_w;
    bool is_blocked, is_out_blocked; // x is [n, b, h, w, i]; the result in such blocks
    bool is_window;
} ConvShape;

// Reads a laid-out "conv" or a "window", before or after bufferize; false if its maps are not those
// above.
bool conv_read(IrModule *m, const IrOp *op, ConvShape *out_shape);

// Index expressions: stride * dim outer + dilation * dim inner; and of parts of `inputs` channels
// that give `results` each: (dim result floordiv results) * inputs + dim input.
const IrAffineExpr *conv_index(IrModule *m, uint32_t outer, int64_t stride, uint32_t inner,
                               int64_t dilation);
const IrAffineExpr *conv_part_index(IrModule *m, uint32_t result, int64_t results, int64_t inputs,
                                    uint32_t input);

enum { CONV_MAX_LOOPS = 10 };

// Is expr = stride * loop outer + dilation * loop inner, both positive, and nothing else?
bool conv_read_window(const IrAffineExpr *expr, uint32_t num_loops, uint32_t outer, uint32_t inner,
                      int64_t *out_stride, int64_t *out_dilation);

// Rows of the result that a tile of the kernel covers, the last tile of an image perhaps fewer: two
// where one alone would leave registers empty and read every weight for few columns.
int64_t conv_tile_rows(const ConvShape *c);
// Tiles of the whole kernel: channel groups, images, rows.
int64_t conv_num_tiles(const ConvShape *c);

// Is op a "conv" that is not laid out?
bool conv_is_raised(const IrOp *op);
// layout-optimize's part for the "conv" ops of a function, in the layouts chosen for their maps.
void conv_layout(IrModule *m, IrOp *func, const MapLayouts *layouts, const Target *target);

// The numbers of a convolution in the form raise-convolutions leaves it in.
void conv_read_raised(IrModule *m, const IrOp *op, const Target *target, ConvShape *out_shape);

// Is padding [n, h, w, c], or [n, b, h, w, i], with something around it (tensor.insert_slice into a
// filled tensor, the outer dimensions whole) that makes no difference to conv, which reads it?
bool conv_is_neutral_pad(const IrOp *padding, const IrOp *conv);
// The constant the result of a contraction starts from; NULL if it does not.
const IrAttr *conv_start(const IrOp *op);

#endif
