// The schedule of a convolution: how many columns of the result and how many vectors of channels
// are held in registers. A candidate's cost is counted per input channel and window position, over
// one row of the result, in tenths of a cycle: two multiply-adds, or two loads, start per cycle,
// and a multiply-add takes four cycles. Columns that are left over form a narrower tile of their
// own.
//
//   56 columns, 2 vectors of 16 lanes, 32 registers: 14 columns x 2 vectors, four tiles of 14
//   cycles.
#include "passes/conv.h"
#include "passes/vectorize.h"

enum { MAX_OPTIONS = 64, SHOWN_OPTIONS = 4, LATENCY = 40, LOOP_OVERHEAD = 10 };

typedef struct Option {
    Schedule s;
    int64_t cycles; // tenths
} Option;

static int64_t tile_cost(const ConvShape *c, int64_t columns, int64_t vectors, int64_t unroll) {
    int64_t points = columns * conv_tile_rows(c);
    int64_t multiplies = points * vectors * 5, loads = (points + vectors) * 5;
    if (c->is_window) loads = (columns + 1) * vectors * 5;
    return MAX(MAX(multiplies, loads), LATENCY) + LOOP_OVERHEAD / unroll;
}

// Rounds of about 28 multiply-adds: enough to hide the loop, little code.
static int64_t choose_unroll(int64_t block, int64_t per_channel) {
    int64_t unroll = 1;
    for (int64_t u = 2; u <= block && u * per_channel <= 28; u++)
        if (block % u == 0) unroll = u;
    return unroll;
}

static Option make_option(const ConvShape *c, int64_t lanes, int64_t columns, int64_t vectors) {
    int64_t rows = conv_tile_rows(c), rest = c->ow % columns;
    int64_t unroll = choose_unroll(c->block, rows * columns * vectors);
    int64_t row = c->ow / columns * tile_cost(c, columns, vectors, unroll);
    if (rest) row += tile_cost(c, rest, vectors, unroll);
    return (Option){{.lanes = lanes, .row_tile = columns, .col_tile = vectors, .unroll = unroll},
                    row * (c->tile / lanes / vectors)};
}

static void record(IrModule *m, IrOp *kernel, const Option *options, uint32_t num) {
    const IrAttr *shown[SHOWN_OPTIONS];
    for (uint32_t i = 0; i < num; i++) {
        IrNamedAttr entries[] = {{ir_intern(m, "cycles_x10"), ir_attr_i64(m, options[i].cycles)},
                                 {ir_intern(m, "lanes"), ir_attr_i64(m, options[i].s.lanes)},
                                 {ir_intern(m, "row_tile"), ir_attr_i64(m, options[i].s.row_tile)},
                                 {ir_intern(m, "col_tile"), ir_attr_i64(m, options[i].s.col_tile)}};
        shown[i] = ir_attr_dict(m, ARRAY_LEN(entries), entries);
    }
    ir_op_set_attr(m, kernel, "ingot.schedule_options", ir_attr_array(m, num, shown));
}

void schedule_conv(IrModule *m, IrOp *kernel, bool is_wide) {
    ConvShape c = {0};
    FOR_EACH_OP(op, ir_func_body(kernel))
    if (conv_read(m, op, &c)) break;
    if (c.tile == 0) return; // vectorize refuses it
    int64_t lanes = is_wide && c.tile % 16 == 0 ? 16 : 8, registers = is_wide ? 32 : 16;
    Option options[MAX_OPTIONS];
    uint32_t num = 0;
    for (int64_t vectors = c.tile / lanes; vectors >= 1; vectors--) {
        if (c.tile / lanes % vectors) continue;
        for (int64_t columns = MIN(c.ow, 16); columns >= 1 && num < MAX_OPTIONS; columns--)
            if ((columns * conv_tile_rows(&c) + 1) * vectors + 1 <= registers)
                options[num++] = make_option(&c, lanes, columns, vectors);
    }
    for (uint32_t i = 1; i < num; i++) // few: insertion keeps equals in order, larger tiles first
        for (uint32_t k = i; k > 0 && options[k].cycles < options[k - 1].cycles; k--) {
            Option swap = options[k];
            options[k] = options[k - 1];
            options[k - 1] = swap;
        }
    schedule_write(m, kernel, &options[0].s);
    record(m, kernel, options, MIN(num, SHOWN_OPTIONS));
}
