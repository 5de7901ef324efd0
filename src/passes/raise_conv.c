// raise-convolutions: every convolution that has a kernel is one contraction over channels-last
// maps, its product and sum one fma. Those in groups are raised in raise_groups.c, channels-first
// maps in raise_nchw.c, those along one direction in raise_named.c.
//
//   %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w) outs(%zero)
//   -> %y = generic ins(%x, %w) outs(%zero) {ingot.contract = "conv"}: fma(x, w, acc)
//
// A convolution of other types, of nothing, or onto something else than zero stays as it is and
// takes the general lowering. Needs: canonical.  Keeps: all.  Exact but for fma (reassoc).
#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/dce.h"
#include "passes/pass.h"
#include "passes/raise_conv.h"

static bool is_f32_tensors(const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (type->kind != IR_TYPE_TENSOR || !ir_type_is_static(type) ||
            type->elem->kind != IR_TYPE_F32 || ir_type_num_elems(type) == 0)
            return false;
    }
    return op->num_results == 1;
}

// The op as a contraction, its body a sum of products by fma, or the one it has.
static void raise(IrModule *m, IrOp *op, const char *form, bool is_product) {
    Builder b = build_before(m, op), body;
    if (!is_product) { // the window's values are undefined and unread: any will do
        ir_op_set_operand(op, 1, build_filled(&b, ir_op_operand(op, 1)->type, 0.0));
        contraction_mark(m, ir_linalg_generalize(m, op), form);
        return;
    }
    IrValue *ins[] = {ir_op_operand(op, 0), ir_op_operand(op, 1)}, *out = ir_op_operand(op, 2);
    const IrAffineMap *maps[] = {ir_linalg_map(m, op, 0), ir_linalg_map(m, op, 1),
                                 ir_linalg_map(m, op, 2)};
    char iterators[16] = {0};
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        iterators[i] = ir_linalg_iterator(op, i) == IR_PARALLEL ? 'p' : 'r';
    IrOp *made = build_generic(&b, 2, ins, 1, &out, maps, iterators, &body);
    contraction_mark(m, made, form);
    IrValue **args = body.block->args, *sum = build_fma(&body, args[0], args[1], args[2]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    ir_value_replace_all(ir_op_result(op, 0), ir_op_result(made, 0));
    ir_op_erase(m, op);
}

// Padding that several convolutions read is made for each: it costs nothing as bounds of a loop.
static void split_padding(IrModule *m, IrOp *op) {
    IrOp *padding = ir_op_operand(op, 0)->def_op;
    if (!padding || ir_value_has_one_use(&padding->results[0]) || !conv_is_neutral_pad(padding, op))
        return;
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *copy = ir_op_clone(m, padding, &map);
    ir_value_map_deinit(&map);
    ir_op_insert_before(copy, op);
    ir_op_set_operand(op, 0, ir_op_result(copy, 0));
}

bool raise_takes(const IrOp *op) {
    const IrAttr *start = is_f32_tensors(op) ? conv_start(op) : NULL;
    return start && start->bits == 0;
}

bool raise_takes_window(const IrOp *op, int64_t channels) {
    bool is_pooling = ir_op_info(op->kind)->traits & IR_POOLING;
    const IrAttr *start = is_f32_tensors(op) ? conv_start(op) : NULL;
    return start && (is_pooling || start->bits == 0) && channels % 8 == 0;
}

static void raise_op(IrModule *m, IrOp *op) {
    bool is_conv = op->kind == IR_LINALG_CONV_2D_NHWC_HWCF;
    if (is_conv ? !raise_takes(op) : !raise_takes_window(op, op->results[0].type->shape[3])) return;
    split_padding(m, op);
    raise(m, op, is_conv ? "conv" : "window", !(ir_op_info(op->kind)->traits & IR_POOLING));
}

// What raise_op reads: channels-last maps of two directions.
static bool is_raisable(IrOpKind kind) {
    return kind == IR_LINALG_CONV_2D_NHWC_HWCF || kind == IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWC ||
           kind == IR_LINALG_POOLING_NHWC_MAX || kind == IR_LINALG_POOLING_NHWC_MIN ||
           kind == IR_LINALG_POOLING_NHWC_SUM;
}

Status pass_raise_convolutions(IrModule *m, DiagSink *sink) {
    (void)sink; // what is not recognised stays as it is
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body || ir_op_attr(func, "ingot.composite")) continue;
        FOR_EACH_OP_SAFE(op, body) raise_named(m, op);
        raise_channels_last(m, body);
        FOR_EACH_OP_SAFE(each, body) {
            IrOp *grouped = raise_groups(m, each), *op = grouped ? grouped : each;
            if (is_raisable(op->kind))
                raise_op(m, op);
            else if (contraction_is(op, "conv"))
                split_padding(m, op);
        }
    }
    dce_module(m);
    return STATUS_OK;
}
