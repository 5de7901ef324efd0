// Groups of outline-kernels around convolutions and pools: what pads the input becomes bounds of
// the kernel's loops, and the chain of elementwise ops that alone reads the result runs on
// registers.
//
//   %p = insert_slice %x into zeros;  %c = conv(%p, %w);  %b = generic(%c, %bias);  %r =
//   generic(%b)
//   -> %r = func.call @conv(%x, %w, %bias)
#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/fusion.h"
#include "passes/outline.h"

enum { MAX_CONV_OPS = 8 };

bool outline_is_conv(const IrOp *op) {
    return contraction_is(op, "conv") || contraction_is(op, "window");
}

static IrOp *pad_of(const IrOp *conv) {
    IrOp *def = ir_op_operand(conv, 0)->def_op;
    while (def && outline_is_view(def)) def = ir_op_operand(def, 0)->def_op;
    return def && conv_is_neutral_pad(def, conv) && outline_read_only_by(&def->results[0], conv)
               ? def
               : NULL;
}

// Something neutral around the input of one convolution: bounds of its kernel.
bool outline_is_conv_pad(const IrOp *op) {
    if (op->kind != IR_TENSOR_INSERT_SLICE) return false;
    const IrOp *reader = outline_first_reader(&op->results[0]);
    return reader && outline_is_conv(reader) && pad_of(reader) == op;
}

// Elementwise over [n, h, w, k] or [n, b, h, w, i], every operand read at its own place or by its
// channel.
static bool is_epilogue(IrModule *m, const IrOp *op, const IrType *type) {
    uint32_t rank = type->rank;
    if (op->kind != IR_LINALG_GENERIC || op->num_results != 1 || op->results[0].type != type ||
        ir_linalg_num_loops(op) != rank || ir_op_attr(op, "ingot.relayout"))
        return false;
    const IrAffineMap *by_channel =
        rank == 4 ? build_dims_map(m, 4, 1, 3u) : build_dims_map(m, 5, 2, 1u, 4u);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        bool is_channel = i < op->segments[0] && map == by_channel;
        if (!is_channel && !ir_affine_is_identity(map)) return false;
    }
    FOR_EACH_OP(inner, ir_op_block(op, 0))
    if (!(ir_op_info(inner->kind)->traits & (IR_ELEMENTWISE | IR_TERMINATOR)) &&
        inner->kind != IR_ARITH_CONSTANT)
        return false;
    return true;
}

static IrOp *follower(IrModule *m, const IrOp *last, const IrType *type) {
    IrOp *reader = outline_first_reader(&last->results[0]);
    bool follows = reader && reader->block == last->block && is_epilogue(m, reader, type) &&
                   outline_read_only_by(&last->results[0], reader);
    return follows ? reader : NULL;
}

// The result as [n, h, w, k], or in blocks.
static const IrType *joined_type(IrModule *m, const IrOp *conv, const ConvShape *c) {
    int64_t channels = c->groups * c->tile;
    const int64_t last[] = {c->n, c->oh, c->ow, channels},
                  blocks[] = {c->n, channels / MAP_BLOCK, c->oh, c->ow, MAP_BLOCK};
    const IrType *elem = conv->results[0].type->elem;
    return c->is_out_blocked ? ir_type_tensor(m, 5, blocks, elem)
                             : ir_type_tensor(m, 4, last, elem);
}

void outline_mark_epilogues(IrModule *m, IrOp *conv) {
    ConvShape c;
    if (!conv_read(m, conv, &c)) return;
    const IrType *type = joined_type(m, conv, &c);
    for (IrOp *op = follower(m, conv, type); op; op = follower(m, op, type))
        ir_op_set_attr(m, op, "ingot.epilogue", ir_attr_unit(m));
}

// The convolution, its padding, and the chain of elementwise ops that alone reads its result. What
// else these read may be made after the convolution: the kernel runs where its last op stands.
bool outline_start_conv(Outline *o, IrOp *op) {
    ConvShape c;
    if (!conv_read(o->m, op, &c)) return true; // of a shape without a kernel: left to the others
    Group *g = outline_new_group(o, "conv", c.n);
    g->tiles = conv_num_tiles(&c);
    IrOp *pad = pad_of(op);
    if ((pad && !outline_add_op(o, g, pad)) || !outline_add_op(o, g, op)) return false;
    const IrType *type = joined_type(o->m, op, &c);
    const IrOp *last = op;
    while (g->num_ops < MAX_CONV_OPS) {
        IrOp *next = follower(o->m, last, type);
        if (!next || outline_group_of(o, next) >= 0 || fusion_forbids(o->m, last, next)) break;
        if (!outline_add_op(o, g, next)) return false;
        last = next;
    }
    return true;
}
