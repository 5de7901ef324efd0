// What layout-optimize decided about the maps of convolutions, kept on the module (ingot.layouts)
// for `ingot explain`: per convolution the layout, what it costs in bytes copied between layouts,
// and the same for those that were not chosen.
#ifndef INGOT_PASSES_LAYOUT_NOTE_H
#define INGOT_PASSES_LAYOUT_NOTE_H

#include "ir/ir.h"

// Notes a raised convolution of func that will be laid out in tiles of `tile` output and blocks of
// `block` input channels.
void layout_note_conv(IrModule *m, const IrOp *func, const IrOp *conv, int64_t tile, int64_t block);

#endif
