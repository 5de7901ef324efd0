// The schedules worth weighing for a convolution: how many columns of the result and how many
// vectors of channels are held in registers. Loop-schedule predicts each from the loops it makes.
// Of the column counts that cut a row into equally many tiles only the smallest is listed: it
// leaves the most even tiles.
//
//   56 columns, 32 channels, vectors of 16, 32 registers: 14, 12, 10, 8, ... columns x 2 vectors,
//   then x 1
#include "passes/conv.h"
#include "passes/vectorize.h"

enum { MAX_COLUMNS = 16 };

// Rounds of about 28 multiply-adds: enough to hide the loop, little code.
static int64_t choose_unroll(int64_t block, int64_t per_channel) {
    int64_t unroll = 1;
    for (int64_t u = 2; u <= block && u * per_channel <= 28; u++)
        if (block % u == 0) unroll = u;
    return unroll;
}

size_t schedule_list_conv(IrModule *m, const IrOp *kernel, int64_t widest, int64_t registers,
                          Schedule *out, size_t max) {
    ConvShape c = {0};
    FOR_EACH_OP(op, ir_func_body(kernel))
    if (conv_read(m, op, &c)) break;
    if (c.tile == 0) return 0; // vectorize refuses it
    int64_t lanes = widest >= 16 && c.tile % 16 == 0 ? 16 : 8, rows = conv_tile_rows(&c);
    size_t num = 0;
    for (int64_t vectors = c.tile / lanes; vectors >= 1; vectors--) {
        if (c.tile / lanes % vectors) continue;
        int64_t last = 0;
        for (int64_t columns = MIN(c.ow, (int64_t)MAX_COLUMNS); columns >= 1; columns--) {
            int64_t tiles = (c.ow + columns - 1) / columns, even = (c.ow + tiles - 1) / tiles;
            // The sums, one input and the weights; a sum that has no register costs too much.
            bool fits = (even * rows + 1) * vectors + 1 <= registers &&
                        even * rows * vectors <= SCHEDULE_MAX_SUMS;
            if (even == last || !fits || num == max) continue;
            last = even;
            out[num++] = (Schedule){.lanes = lanes,
                                    .row_tile = even,
                                    .col_tile = vectors,
                                    .unroll = choose_unroll(c.block, rows * even * vectors)};
        }
    }
    return num;
}
