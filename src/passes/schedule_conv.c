// The schedules worth weighing for a convolution: how many columns of the result and how many
// vectors of channels are held in registers. Loop-schedule predicts each from the loops it makes.
// Of the column counts that cut a row into equally many tiles only the smallest is listed: it
// leaves the most even tiles. The order of the tiles follows from what the second-level cache
// holds: groups of channels outside read the weights once and, if the images do not fit, these
// once per group; images outside read these once and, if the weights do not fit, these per image.
//
//   56 columns, 32 channels, vectors of 16, 32 registers: 14, 12, 10, 8, ... columns x 2 vectors,
//   then x 1
#include "passes/conv.h"
#include "passes/vectorize.h"

enum { MAX_COLUMNS = 16, MANY_SUMS = 8 };

// Rounds of about 28 multiply-adds: enough to hide the loop, little code.
static int64_t choose_unroll(int64_t block, int64_t per_channel) {
    int64_t unroll = 1;
    for (int64_t u = 2; u <= block && u * per_channel <= 28; u++)
        if (block % u == 0) unroll = u;
    return unroll;
}

// Bytes of what the windows cover of one image.
static double image_bytes(const ConvShape *c) {
    double rows = (double)((c->oh - 1) * c->stride_h + (c->r - 1) * c->dilation_h + 1);
    double columns = (double)((c->ow - 1) * c->stride_w + (c->s - 1) * c->dilation_w + 1);
    return rows * columns * (double)(c->parts * c->blocks * c->block) * 4;
}

// Does the order by images take fewer bytes from beyond the second-level cache? Half of that is for
// what is read once, on its way through. The groups of a window read channels of their own: nothing
// is read twice.
static bool is_better_by_image(const ConvShape *c, const Target *target) {
    if (c->is_window || c->n == 1) return false;
    double room = target_number_or(target, TARGET_L2_BYTES, 1 << 20) / 2;
    double readers = (double)(c->groups / c->parts), n = (double)c->n, image = image_bytes(c);
    double weights =
        (double)(c->groups * c->tile * c->blocks * c->block) * (double)(c->r * c->s) * 4;
    double by_group = weights + n * image * (n * image > room ? readers : 1);
    double by_image = n * image * (image > room ? readers : 1) + weights * (weights > room ? n : 1);
    return by_image < by_group;
}

// Tiles of a band, the same number in all bands of an image but for the last: as many as the first
// cache holds the sums and one block of input channels of, beside one block of the weights. 0:
// fewer than two, or there is but one block.
static int64_t choose_band(const ConvShape *c, const Target *target) {
    int64_t rows = conv_tile_rows(c), tiles = (c->oh + rows - 1) / rows, most = 1;
    if (c->is_window || c->blocks < 2) return 0;
    double room = target_number_or(target, TARGET_L1_BYTES, 32 << 10) / 4; // floats
    double weights = (double)(c->r * c->s * c->block) * (double)c->tile;
    double width = (double)((c->ow - 1) * c->stride_w + (c->s - 1) * c->dilation_w + 1);
    for (; most < MIN(tiles, (int64_t)SCHEDULE_MAX_BAND); most++) {
        int64_t result = (most + 1) * rows;
        double input = (double)((result - 1) * c->stride_h + (c->r - 1) * c->dilation_h + 1);
        double sums = (double)result * (double)(c->ow * c->tile);
        if (weights + sums + input * width * (double)c->block > room) break;
    }
    if (most < 2) return 0;
    int64_t bands = (tiles + most - 1) / most;
    return (tiles + bands - 1) / bands;
}

size_t schedule_list_conv(IrModule *m, const IrOp *kernel, const Target *target, Schedule *out,
                          size_t max) {
    ConvShape c = {0};
    FOR_EACH_OP(op, ir_func_body(kernel))
    if (conv_read(m, op, &c)) break;
    if (c.tile == 0) return 0; // vectorize refuses it
    int64_t registers = (int64_t)target_number_or(target, TARGET_REGISTERS, 16);
    bool is_wide = target->numbers[TARGET_VECTOR_BYTES] >= 64;
    int64_t lanes = is_wide && c.tile % 16 == 0 ? 16 : 8, rows = conv_tile_rows(&c);
    int64_t by_image = is_better_by_image(&c, target);
    bool keeps_ones = target->numbers[TARGET_ISSUE_BROADCAST] > 0; // in registers
    const int64_t band = choose_band(&c, target);
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
            // An input that one sum takes gives it its register, but in the last step of a turn:
            // many sums would wander through all registers, so they take one step a turn.
            int64_t sums = rows * even * vectors;
            bool once = keeps_ones && vectors == 1 && sums >= MANY_SUMS;
            out[num++] = (Schedule){.lanes = lanes,
                                    .row_tile = even,
                                    .col_tile = vectors,
                                    .unroll = once ? 1 : choose_unroll(c.block, sums),
                                    .by_image = by_image};
            if (band == 0 || sums < MANY_SUMS || num == max) continue;
            out[num] = out[num - 1];
            out[num++].band = band;
        }
    }
    return num;
}
