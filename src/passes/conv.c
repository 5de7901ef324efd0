// Reads and lays out the convolutions of conv.h.
#include "passes/conv.h"

#include <string.h>

#include "passes/contraction.h"
#include "passes/layout_note.h"
#include "passes/outline.h"

enum { NUM_LOOPS = 9, L_N = 0, L_OH, L_OW, L_G, L_T, L_B, L_R, L_S, L_I };

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

// expr = stride * dim outer + dilation * dim inner, of a window's six loops.
static bool read_plain_window(const IrAffineExpr *expr, uint32_t outer, uint32_t inner,
                              int64_t *out_stride, int64_t *out_dilation) {
    int64_t coeffs[6], constant;
    if (!ir_affine_linear(expr, 6, coeffs, &constant) || constant != 0) return false;
    for (uint32_t d = 0; d < 6; d++)
        if (d != outer && d != inner && coeffs[d] != 0) return false;
    *out_stride = coeffs[outer];
    *out_dilation = coeffs[inner];
    return *out_stride > 0 && *out_dilation > 0;
}

static int64_t choose_tile(int64_t channels);

static bool read_window_op(IrModule *m, const IrOp *op, ConvShape *out_shape) {
    if (ir_linalg_num_loops(op) != 6 || op->segments[0] != 2) return false;
    const IrAffineMap *x = ir_linalg_map(m, op, 0), *w = ir_linalg_map(m, op, 1);
    ConvShape c = {.is_window = true, .blocks = 1, .block = 1, .parts = 1};
    if (x->num_results != 4 || !is_single_dim(x->results[0], 0) ||
        !is_single_dim(x->results[3], 3) ||
        !read_plain_window(x->results[1], 1, 4, &c.stride_h, &c.dilation_h) ||
        !read_plain_window(x->results[2], 2, 5, &c.stride_w, &c.dilation_w) ||
        (w != build_dims_map(m, 6, 3, 4u, 5u, 3u) && w != build_dims_map(m, 6, 2, 4u, 5u)) ||
        ir_linalg_map(m, op, 2) != build_dims_map(m, 6, 4, 0u, 1u, 2u, 3u))
        return false;
    const int64_t *ws = ir_op_operand(op, 1)->type->shape, *os = ir_op_operand(op, 2)->type->shape;
    c.r = ws[0], c.s = ws[1], c.n = os[0], c.oh = os[1], c.ow = os[2];
    c.tile = choose_tile(os[3]);
    c.groups = os[3] / c.tile;
    *out_shape = c;
    return os[3] % c.tile == 0;
}

// The parts of a convolution in groups, by its input's channels.
static bool read_parts(IrModule *m, const IrOp *op, const IrAffineExpr *block, ConvShape *c) {
    const int64_t *xs = ir_op_operand(op, 0)->type->shape, *ws = ir_op_operand(op, 1)->type->shape;
    c->parts = ws[1] > 0 ? xs[3] / ws[1] : 0;
    return c->parts > 1 && xs[3] == c->parts * ws[1] && ws[0] % c->parts == 0 &&
           block == conv_part_index(m, L_G, ws[0] / c->parts, ws[1], L_B);
}

bool conv_read(IrModule *m, const IrOp *op, ConvShape *out_shape) {
    if (contraction_is(op, "window")) return read_window_op(m, op, out_shape);
    if (!contraction_is(op, "conv") || ir_linalg_num_loops(op) != NUM_LOOPS) return false;
    const IrAffineMap *x = ir_linalg_map(m, op, 0);
    const IrAffineMap *w = build_dims_map(m, NUM_LOOPS, 6, L_G, L_B, L_R, L_S, L_I, L_T);
    const IrAffineMap *out = build_dims_map(m, NUM_LOOPS, 5, L_N, L_OH, L_OW, L_G, L_T);
    if (x->num_results != 5 || ir_linalg_map(m, op, 1) != w || ir_linalg_map(m, op, 2) != out ||
        !is_single_dim(x->results[0], L_N) || !is_single_dim(x->results[4], L_I))
        return false;
    ConvShape c = {.is_blocked = is_single_dim(x->results[1], L_B), .parts = 1};
    uint32_t h = c.is_blocked ? 2 : 1;
    if (!c.is_blocked && !is_single_dim(x->results[3], L_B) &&
        !read_parts(m, op, x->results[3], &c))
        return false;
    if (!conv_read_window(x->results[h], NUM_LOOPS, L_OH, L_R, &c.stride_h, &c.dilation_h) ||
        !conv_read_window(x->results[h + 1], NUM_LOOPS, L_OW, L_S, &c.stride_w, &c.dilation_w))
        return false;
    const int64_t *ws = ir_op_operand(op, 1)->type->shape, *os = ir_op_operand(op, 2)->type->shape;
    c.groups = ws[0], c.blocks = ws[1], c.r = ws[2], c.s = ws[3], c.block = ws[4], c.tile = ws[5];
    c.n = os[0], c.oh = os[1], c.ow = os[2];
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
    if (!fill || fill->kind != IR_LINALG_FILL || source->rank != 4 || type->rank != 4) return false;
    const IrAttr *around = ir_value_constant(ir_op_operand(fill, 0)), *start = conv_start(conv);
    const int64_t *at = ir_op_attr(op, "static_offsets")->values,
                  *step = ir_op_attr(op, "static_strides")->values;
    for (uint32_t i = 0; i < 4; i++) {
        bool is_window = i == 1 || i == 2;
        if (at[i] < 0 || step[i] != 1 || (!is_window && source->shape[i] != type->shape[i]))
            return false;
    }
    // Sums and products take 0, a maximum takes what it starts from.
    return around && around->kind == IR_ATTR_FLOAT && start && start->bits == around->bits;
}

// ---- layout

// Output channels side by side: two vectors of 16 share every broadcast of an input element, which
// halves the loads; fewer where the channels do not divide.
static int64_t choose_tile(int64_t channels) {
    return channels % 32 == 0 ? 32 : channels % 16 == 0 ? 16 : channels % 8 == 0 ? 8 : 16;
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

static void raised_window(IrModule *m, const IrOp *op, ConvShape *c) {
    const IrAffineMap *map = ir_linalg_map(m, op, 0); // loops n, oh, ow, k, r, s, c
    int64_t coeffs[7], constant;
    bool fits = ir_affine_linear(map->results[1], 7, coeffs, &constant);
    c->stride_h = coeffs[1], c->dilation_h = coeffs[4];
    fits &= ir_affine_linear(map->results[2], 7, coeffs, &constant);
    c->stride_w = coeffs[2], c->dilation_w = coeffs[5];
    BUG_IF(!fits, "a raised convolution has windows");
}

static void lay_out(IrModule *m, const IrOp *func, IrOp *op) {
    Builder b = build_before(m, op), body;
    IrValue *x = ir_op_operand(op, 0), *w = ir_op_operand(op, 1), *old = ir_op_result(op, 0);
    const int64_t *xs = x->type->shape, *os = old->type->shape;
    ConvShape c = {0};
    raised_window(m, op, &c);
    int64_t inputs = w->type->shape[2], parts = xs[3] / inputs;
    int64_t block = choose_block(inputs), tile = choose_tile(os[3] / parts);
    int64_t channels = (os[3] + tile - 1) / tile * tile;
    layout_note_conv(m, func, op, tile, block);
    if (channels != os[3]) w = fill_tile(&b, w, channels);
    w = pack_weights(&b, w, block, tile);
    const int64_t x_shape[] = {xs[0], xs[1], xs[2], xs[3] / block, block};
    const uint32_t split_last[] = {1, 1, 1, 2};
    x = build_expand(&b, x, ir_type_tensor(m, 5, x_shape, x->type->elem), 4, split_last);
    const IrAffineExpr *x_map[] = {
        ir_affine_dim(m, L_N), conv_index(m, L_OH, c.stride_h, L_R, c.dilation_h),
        conv_index(m, L_OW, c.stride_w, L_S, c.dilation_w),
        parts == 1 ? ir_affine_dim(m, L_B)
                   : conv_part_index(m, L_G, os[3] / parts / tile, inputs / block, L_B),
        ir_affine_dim(m, L_I)};
    const int64_t out_shape[] = {os[0], os[1], os[2], channels / tile, tile};
    IrValue *out = build_filled(&b, ir_type_tensor(m, 5, out_shape, old->type->elem), 0.0);
    const IrAffineMap *maps[] = {ir_affine_map(m, NUM_LOOPS, 0, 5, x_map),
                                 build_dims_map(m, NUM_LOOPS, 6, L_G, L_B, L_R, L_S, L_I, L_T),
                                 build_dims_map(m, NUM_LOOPS, 5, L_N, L_OH, L_OW, L_G, L_T)};
    IrValue *ins[] = {x, w};
    IrOp *made = build_generic(&b, 2, ins, 1, &out, maps, "ppppprrrr", &body);
    contraction_mark(m, made, "conv");
    IrValue **args = body.block->args, *sum = build_fma(&body, args[0], args[1], args[2]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    IrValue *joined = build_collapse(&b, ir_op_result(made, 0), 4, split_last);
    if (joined->type != old->type) joined = first_channels(&b, joined, old->type);
    ir_value_replace_all(old, joined);
    ir_op_erase(m, op);
}

void conv_layout(IrModule *m, IrOp *func) {
    FOR_EACH_OP_SAFE(op, ir_func_body(func))
    if (contraction_is(op, "conv") && ir_linalg_num_loops(op) != NUM_LOOPS) lay_out(m, func, op);
    FOR_EACH_OP(op, ir_func_body(func))
    if (outline_is_conv(op)) outline_mark_epilogues(m, op);
}
