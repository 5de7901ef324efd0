// Reads and lays out the convolutions of conv.h.
#include "passes/conv.h"

#include <string.h>

#include "passes/contraction.h"
#include "passes/map_layout.h"
#include "passes/outline.h"

enum { NUM_LOOPS = 9, L_N = 0, L_OH, L_OW, L_G, L_T, L_B, L_R, L_S, L_I, L_V };

const IrAffineExpr *conv_index(IrModule *m, uint32_t outer, int64_t stride, uint32_t inner,
                               int64_t dilation) {
    const IrAffineExpr *x =
        ir_affine_binary(m, IR_AFFINE_MUL, ir_affine_dim(m, outer), ir_affine_const(m, stride));
    const IrAffineExpr *y =
        ir_affine_binary(m, IR_AFFINE_MUL, ir_affine_dim(m, inner), ir_affine_const(m, dilation));
    return ir_affine_binary(m, IR_AFFINE_ADD, x, y);
}

const IrAffineExpr *conv_part_index(IrModule *m, uint32_t result, int64_t results, int64_t inputs,
                                    uint32_t input) {
    const IrAffineExpr *part = ir_affine_binary(m, IR_AFFINE_FLOORDIV, ir_affine_dim(m, result),
                                                ir_affine_const(m, results));
    part = ir_affine_binary(m, IR_AFFINE_MUL, part, ir_affine_const(m, inputs));
    return ir_affine_binary(m, IR_AFFINE_ADD, part, ir_affine_dim(m, input));
}

static bool is_single_dim(const IrAffineExpr *expr, uint32_t dim) {
    uint32_t is;
    return ir_affine_is_dim(expr, &is) && is == dim;
}

bool conv_read_window(const IrAffineExpr *expr, uint32_t num_loops, uint32_t outer, uint32_t inner,
                      int64_t *out_stride, int64_t *out_dilation) {
    int64_t coeffs[CONV_MAX_LOOPS], constant;
    if (!ir_affine_linear(expr, num_loops, coeffs, &constant) || constant != 0) return false;
    for (uint32_t d = 0; d < num_loops; d++)
        if (d != outer && d != inner && coeffs[d] != 0) return false;
    *out_stride = coeffs[outer];
    *out_dilation = coeffs[inner];
    return *out_stride > 0 && *out_dilation > 0;
}

enum { MOST_CHANNELS = 32 }; // side by side

static int64_t choose_tile(int64_t channels, int64_t most);

// Loops n, oh, ow, c, r, s of channels-last maps; n, b, oh, ow, i, r, s of maps in blocks.
static bool read_window_op(IrModule *m, const IrOp *op, ConvShape *out_shape) {
    uint32_t num = ir_linalg_num_loops(op), h = num == 7 ? 2 : 1, c_dim = h + 2, r = h + 3;
    if ((num != 6 && num != 7) || op->segments[0] != 2) return false;
    const IrAffineMap *x = ir_linalg_map(m, op, 0), *w = ir_linalg_map(m, op, 1);
    ConvShape c = {.is_window = true, .blocks = 1, .block = 1, .parts = 1};
    c.is_blocked = c.is_out_blocked = num == 7;
    bool is_plain = w == build_dims_map(m, num, 2, r, r + 1);
    bool by_channel = w == (c.is_blocked ? build_dims_map(m, 7, 4, 5u, 6u, 1u, 4u)
                                         : build_dims_map(m, 6, 3, 4u, 5u, 3u));
    const IrAffineMap *out = c.is_blocked ? build_dims_map(m, 7, 5, 0u, 1u, 2u, 3u, 4u)
                                          : build_dims_map(m, 6, 4, 0u, 1u, 2u, 3u);
    if (x->num_results != h + 3 || !is_single_dim(x->results[0], 0) ||
        (c.is_blocked && !is_single_dim(x->results[1], 1)) ||
        !is_single_dim(x->results[h + 2], c_dim) ||
        !conv_read_window(x->results[h], num, h, r, &c.stride_h, &c.dilation_h) ||
        !conv_read_window(x->results[h + 1], num, h + 1, r + 1, &c.stride_w, &c.dilation_w) ||
        (!is_plain && !by_channel) || ir_linalg_map(m, op, 2) != out)
        return false;
    const int64_t *ws = ir_op_operand(op, 1)->type->shape, *os = ir_op_operand(op, 2)->type->shape;
    c.r = ws[0], c.s = ws[1], c.n = os[0], c.oh = os[h], c.ow = os[h + 1];
    c.tile = c.is_blocked ? os[4] : choose_tile(os[3], MOST_CHANNELS);
    c.groups = c.is_blocked ? os[1] : os[3] / c.tile;
    *out_shape = c;
    return c.is_blocked ? c.tile == MAP_BLOCK : os[3] % c.tile == 0;
}

// The parts of a convolution in groups, by its input's channels.
static bool read_parts(IrModule *m, const IrOp *op, const IrAffineExpr *block, ConvShape *c) {
    const int64_t *xs = ir_op_operand(op, 0)->type->shape, *ws = ir_op_operand(op, 1)->type->shape;
    int64_t all = xs[c->is_blocked ? 1 : 3];
    c->parts = ws[1] > 0 ? all / ws[1] : 0;
    return c->parts > 1 && all == c->parts * ws[1] && ws[0] % c->parts == 0 &&
           block == conv_part_index(m, L_G, ws[0] / c->parts, ws[1], L_B);
}

// The result and the weights of a laid-out convolution.
static bool read_result(IrModule *m, const IrOp *op, ConvShape *c) {
    const IrAffineMap *w = ir_linalg_map(m, op, 1), *out = ir_linalg_map(m, op, 2);
    uint32_t num = ir_linalg_num_loops(op), h;
    const int64_t *ws = ir_op_operand(op, 1)->type->shape, *os = ir_op_operand(op, 2)->type->shape;
    c->groups = ws[0], c->blocks = ws[1], c->r = ws[2], c->s = ws[3], c->block = ws[4];
    if (num == L_V + 1) {
        if (w != build_dims_map(m, num, 7, L_G, L_B, L_R, L_S, L_I, L_V, L_T) ||
            out != build_dims_map(m, num, 6, L_N, L_G, L_V, L_OH, L_OW, L_T) || ws[6] != MAP_BLOCK)
            return false;
        h = 3;
        c->tile = ws[5] * ws[6];
    } else {
        if (num != NUM_LOOPS || w != build_dims_map(m, num, 6, L_G, L_B, L_R, L_S, L_I, L_T))
            return false;
        c->tile = ws[5];
        bool is_last = out == build_dims_map(m, num, 5, L_N, L_OH, L_OW, L_G, L_T);
        bool is_block =
            out == build_dims_map(m, num, 5, L_N, L_G, L_OH, L_OW, L_T) && c->tile == MAP_BLOCK;
        if (!is_last && !is_block) return false;
        h = is_last ? 1 : 2;
    }
    c->is_out_blocked = h > 1;
    c->n = os[0], c->oh = os[h], c->ow = os[h + 1];
    return true;
}

bool conv_read(IrModule *m, const IrOp *op, ConvShape *out_shape) {
    if (contraction_is(op, "window")) return read_window_op(m, op, out_shape);
    if (!contraction_is(op, "conv") || op->segments[0] != 2) return false;
    ConvShape c = {.parts = 1};
    uint32_t num = ir_linalg_num_loops(op);
    const IrAffineMap *x = ir_linalg_map(m, op, 0);
    if (ir_op_operand(op, 1)->type->rank < 6 || !read_result(m, op, &c) || x->num_results != 5 ||
        !is_single_dim(x->results[0], L_N) || !is_single_dim(x->results[4], L_I))
        return false;
    // A window's rows move with oh, which a block of channels never does.
    c.is_blocked = !ir_affine_uses_dim(x->results[1], L_OH);
    uint32_t h = c.is_blocked ? 2 : 1;
    const IrAffineExpr *block = x->results[c.is_blocked ? 1 : 3];
    if (!is_single_dim(block, L_B) && !read_parts(m, op, block, &c)) return false;
    if (!conv_read_window(x->results[h], num, L_OH, L_R, &c.stride_h, &c.dilation_h) ||
        !conv_read_window(x->results[h + 1], num, L_OW, L_S, &c.stride_w, &c.dilation_w))
        return false;
    *out_shape = c;
    return true;
}

int64_t conv_tile_rows(const ConvShape *c) {
    enum { FEW_COLUMNS = 8 };
    return !c->is_window && c->ow <= FEW_COLUMNS && c->oh > 1 ? 2 : 1;
}

int64_t conv_num_tiles(const ConvShape *c) {
    int64_t rows = conv_tile_rows(c);
    return c->groups * c->n * ((c->oh + rows - 1) / rows);
}

const IrAttr *conv_start(const IrOp *op) {
    const IrOp *fill = ir_op_operand(op, op->segments[0])->def_op;
    if (!fill || fill->kind != IR_LINALG_FILL) return NULL;
    const IrAttr *value = ir_value_constant(ir_op_operand(fill, 0));
    return value && value->kind == IR_ATTR_FLOAT ? value : NULL;
}

bool conv_is_neutral_pad(const IrOp *op, const IrOp *conv) {
    if (op->kind != IR_TENSOR_INSERT_SLICE || op->num_operands != 2) return false;
    const IrType *source = ir_op_operand(op, 0)->type, *type = ir_op_operand(op, 1)->type;
    const IrOp *fill = ir_op_operand(op, 1)->def_op;
    if (!fill || fill->kind != IR_LINALG_FILL || (type->rank != 4 && type->rank != 5)) return false;
    if (source->rank != type->rank) return false;
    const IrAttr *around = ir_value_constant(ir_op_operand(fill, 0)), *start = conv_start(conv);
    const int64_t *at = ir_op_attr(op, "static_offsets")->values,
                  *step = ir_op_attr(op, "static_strides")->values;
    uint32_t rows = type->rank - 3; // [n, h, w, c] or [n, b, h, w, i]
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_window = i == rows || i == rows + 1;
        if (at[i] < 0 || step[i] != 1 || (!is_window && source->shape[i] != type->shape[i]))
            return false;
    }
    // Sums and products take 0, a maximum takes what it starts from.
    return around && around->kind == IR_ATTR_FLOAT && start && start->bits == around->bits;
}

// ---- layout

// Output channels side by side, fewer than `most` where the channels do not divide.
static int64_t choose_tile(int64_t channels, int64_t most) {
    return channels % most == 0 ? most : channels % 16 == 0 ? 16 : channels % 8 == 0 ? 8 : 16;
}

// How many at most: vectors side by side share every broadcast of an input element, and the more
// there are, the fewer times the input is read. Code that holds only some of them in registers
// reads a part of every line of the weights, though, and all these lines again for the rest: where
// the first cache does not hold them, a tile is as wide as two vectors, at least a line.
static int64_t most_channels(const ConvShape *c, const Target *target) {
    const double most = (double)MOST_CHANNELS;
    double bytes = (double)(c->blocks * c->block) * (double)(c->r * c->s) * most * 4;
    double two = 2 * target_number_or(target, TARGET_VECTOR_BYTES, 32) / 4;
    double first_cache = target_number_or(target, TARGET_L1_BYTES, 32 << 10);
    return two >= most || bytes <= first_cache ? MOST_CHANNELS : MAP_BLOCK;
}

// Input channels summed before the window moves on: a cache line of them.
static int64_t choose_block(int64_t channels) {
    for (int64_t block = MIN(channels, 16); block > 1; block--)
        if (channels % block == 0) return block;
    return 1;
}

// w [R, S, C, K] -> [K/T, C/I, R, S, I, T]
static IrValue *pack_weights(Builder *b, IrValue *w, int64_t block, int64_t tile) {
    IrModule *m = b->m;
    const int64_t *s = w->type->shape;
    const int64_t shape[] = {s[3] / tile, s[2] / block, s[0], s[1], block, tile};
    IrValue *out = build_empty(b, ir_type_tensor(m, 6, shape, w->type->elem));
    const IrAffineExpr *results[] = {ir_affine_dim(m, 2), ir_affine_dim(m, 3),
                                     conv_index(m, 1, block, 4, 1), conv_index(m, 0, tile, 5, 1)};
    const IrAffineMap *maps[] = {ir_affine_map(m, 6, 0, 4, results), ir_affine_identity(m, 6)};
    Builder body;
    IrOp *op = build_generic(b, 1, &w, 1, &out, maps, "pppppp", &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return ir_op_result(op, 0);
}

// Output channels that fill no tile: zeros after the last weight.
static IrValue *fill_tile(Builder *b, IrValue *w, int64_t channels) {
    IrModule *m = b->m;
    const IrType *i64 = ir_type_int(m, 64);
    int64_t shape[4], zeros[4] = {0}, ones[4] = {1, 1, 1, 1};
    memcpy(shape, w->type->shape, sizeof shape);
    shape[3] = channels;
    IrValue *all = build_filled(b, ir_type_tensor(m, 4, shape, w->type->elem), 0.0);
    IrNamedAttr attrs[] = {{"static_offsets", ir_attr_dense_array(m, i64, 4, zeros)},
                           {"static_sizes", ir_attr_dense_array(m, i64, 4, w->type->shape)},
                           {"static_strides", ir_attr_dense_array(m, i64, 4, ones)}};
    IrValue *operands[] = {w, all};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_INSERT_SLICE,
                                                     .num_operands = 2,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &all->type,
                                                     .num_attrs = 3,
                                                     .attrs = attrs,
                                                     .segments = {2}}),
                        0);
}

// The first channels of [n, oh, ow, k], as a tensor of their own.
static IrValue *first_channels(Builder *b, IrValue *from, const IrType *type) {
    IrModule *m = b->m;
    IrValue *out = build_empty(b, type);
    const IrType *i64 = ir_type_int(m, 64);
    const int64_t zeros[4] = {0}, ones[4] = {1, 1, 1, 1};
    IrNamedAttr attrs[] = {{"static_offsets", ir_attr_dense_array(m, i64, 4, zeros)},
                           {"static_sizes", ir_attr_dense_array(m, i64, 4, type->shape)},
                           {"static_strides", ir_attr_dense_array(m, i64, 4, ones)}};
    IrValue *part = ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT_SLICE,
                                                              .num_operands = 1,
                                                              .operands = &from,
                                                              .num_results = 1,
                                                              .result_types = &type,
                                                              .num_attrs = 3,
                                                              .attrs = attrs,
                                                              .segments = {1}}),
                                 0);
    const IrAffineMap *maps[] = {ir_affine_identity(m, 4), ir_affine_identity(m, 4)};
    Builder body;
    IrOp *copy = build_generic(b, 1, &part, 1, &out, maps, "pppp", &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return ir_op_result(copy, 0);
}

void conv_read_raised(IrModule *m, const IrOp *op, const Target *target, ConvShape *out_shape) {
    const IrAffineMap *map = ir_linalg_map(m, op, 0); // loops n, oh, ow, k, r, s, c
    const int64_t *xs = ir_op_operand(op, 0)->type->shape, *ws = ir_op_operand(op, 1)->type->shape;
    const int64_t *os = op->results[0].type->shape;
    int64_t coeffs[7], constant;
    ConvShape c = {.n = os[0], .oh = os[1], .ow = os[2], .r = ws[0], .s = ws[1]};
    bool fits = ir_affine_linear(map->results[1], 7, coeffs, &constant);
    c.stride_h = coeffs[1], c.dilation_h = coeffs[4];
    fits &= ir_affine_linear(map->results[2], 7, coeffs, &constant);
    c.stride_w = coeffs[2], c.dilation_w = coeffs[5];
    BUG_IF(!fits, "a raised convolution has windows");
    c.parts = xs[3] / ws[2];
    c.block = choose_block(ws[2]);
    c.blocks = ws[2] / c.block;
    c.tile = choose_tile(os[3] / c.parts, most_channels(&c, target));
    c.groups = (os[3] + c.tile - 1) / c.tile;
    *out_shape = c;
}

// The input as the loops read it, and how they index it.
static IrValue *lay_out_input(Builder *b, IrValue *x, const ConvShape *c, uint32_t num_loops,
                              const IrAffineMap **out_map) {
    IrModule *m = b->m;
    const int64_t *s = x->type->shape;
    const IrAffineExpr *block = c->parts == 1
                                    ? ir_affine_dim(m, L_B)
                                    : conv_part_index(m, L_G, c->groups / c->parts, c->blocks, L_B);
    const IrAffineExpr *results[5] = {ir_affine_dim(m, L_N)};
    uint32_t h = c->is_blocked ? 2 : 1;
    results[c->is_blocked ? 1 : 3] = block;
    results[h] = conv_index(m, L_OH, c->stride_h, L_R, c->dilation_h);
    results[h + 1] = conv_index(m, L_OW, c->stride_w, L_S, c->dilation_w);
    results[4] = ir_affine_dim(m, L_I);
    *out_map = ir_affine_map(m, num_loops, 0, 5, results);
    if (c->is_blocked) return map_to_blocked(b, x);
    const int64_t shape[] = {s[0], s[1], s[2], s[3] / c->block, c->block};
    const uint32_t split_last[] = {1, 1, 1, 2};
    return build_expand(b, x, ir_type_tensor(m, 5, shape, x->type->elem), 4, split_last);
}

// The result of the loops as a channels-last map of this type.
static IrValue *give_result(Builder *b, IrValue *made, const ConvShape *c, const IrType *type) {
    const uint32_t split_last[] = {1, 1, 1, 2}, join_blocks[] = {1, 2, 1, 1, 1};
    if (c->is_out_blocked) {
        if (made->type->rank == 6) made = build_collapse(b, made, 5, join_blocks);
        return map_to_last(b, made);
    }
    IrValue *joined = build_collapse(b, made, 4, split_last);
    return joined->type == type ? joined : first_channels(b, joined, type);
}

static void lay_out(IrModule *m, IrOp *op, const MapLayouts *layouts, const Target *target) {
    Builder b = build_before(m, op), body;
    IrValue *w = ir_op_operand(op, 1), *old = ir_op_result(op, 0);
    const IrType *elem = old->type->elem;
    ConvShape c;
    conv_read_raised(m, op, target, &c);
    c.is_blocked = map_is_blocked(layouts, ir_op_operand(op, 0));
    c.is_out_blocked = map_is_blocked(layouts, old);
    int64_t channels = c.groups * c.tile, v = c.tile / MAP_BLOCK;
    if (channels != old->type->shape[3]) w = fill_tile(&b, w, channels);
    w = pack_weights(&b, w, c.block, c.tile);
    bool has_v = c.is_out_blocked && v > 1;
    uint32_t num = has_v ? L_V + 1 : NUM_LOOPS;
    const IrAffineMap *maps[3];
    IrValue *ins[2] = {lay_out_input(&b, ir_op_operand(op, 0), &c, num, &maps[0]), w}, *out;
    if (has_v) {
        const int64_t *s = w->type->shape, split[] = {s[0], s[1], s[2], s[3], s[4], v, MAP_BLOCK};
        const uint32_t split_last[] = {1, 1, 1, 1, 1, 2};
        const int64_t shape[] = {c.n, c.groups, v, c.oh, c.ow, MAP_BLOCK};
        ins[1] = build_expand(&b, w, ir_type_tensor(m, 7, split, elem), 6, split_last);
        out = build_filled(&b, ir_type_tensor(m, 6, shape, elem), 0.0);
        maps[1] = build_dims_map(m, num, 7, L_G, L_B, L_R, L_S, L_I, L_V, L_T);
        maps[2] = build_dims_map(m, num, 6, L_N, L_G, L_V, L_OH, L_OW, L_T);
    } else {
        const int64_t blocks[] = {c.n, c.groups, c.oh, c.ow, c.tile};
        const int64_t last[] = {c.n, c.oh, c.ow, c.groups, c.tile};
        out = build_filled(&b, ir_type_tensor(m, 5, c.is_out_blocked ? blocks : last, elem), 0.0);
        maps[1] = build_dims_map(m, num, 6, L_G, L_B, L_R, L_S, L_I, L_T);
        maps[2] = c.is_out_blocked ? build_dims_map(m, num, 5, L_N, L_G, L_OH, L_OW, L_T)
                                   : build_dims_map(m, num, 5, L_N, L_OH, L_OW, L_G, L_T);
    }
    IrOp *made =
        build_generic(&b, 2, ins, 1, &out, maps, has_v ? "ppppprrrrp" : "ppppprrrr", &body);
    contraction_mark(m, made, "conv");
    IrValue **args = body.block->args, *sum = build_fma(&body, args[0], args[1], args[2]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    ir_value_replace_all(old, give_result(&b, ir_op_result(made, 0), &c, old->type));
    ir_op_erase(m, op);
}

bool conv_is_raised(const IrOp *op) {
    return contraction_is(op, "conv") && ir_op_operand(op, 1)->type->rank == 4;
}

void conv_layout(IrModule *m, IrOp *func, const MapLayouts *layouts, const Target *target) {
    FOR_EACH_OP_SAFE(op, ir_func_body(func))
    if (conv_is_raised(op)) lay_out(m, op, layouts, target);
    FOR_EACH_OP(op, ir_func_body(func))
    if (outline_is_conv(op)) outline_mark_epilogues(m, op);
}
