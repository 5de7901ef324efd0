// raise-patterns: recognises matrix products with weights. A product with a decoded weight becomes
// one contraction over the codes, block scales and block minima the decoding body was found to
// consist of; an element read from a decoded table reads the codes instead, so that the table is
// never decoded whole.
//
//   %w = dequantise(%q, %d); %y = linalg.matmul ins(%x, %w)
//   -> %c = codes(%q) [N, KB, B];  %s = scales(%d) [N, KB]
//      %y = generic ins(%x, %c, %s) {ingot.contract = "weights"}: fma(x, float(code - 8) * scale,
//      acc)
//
// Attention of modules that are compiled from text may get another form: raise_attention.c.
// A decoding body of another shape stays, and its weight is decoded at compile time.
// Needs: canonical, explicit-quant.  Keeps: all.  Exact but for fma (reassoc).
#include "passes/attention.h"
#include "passes/contraction.h"
#include "passes/dce.h"
#include "passes/decode.h"
#include "passes/entry.h"
#include "passes/fusion.h"
#include "passes/mutate.h"
#include "passes/pass.h"

// Is op a product x[m, k] * w[n, k] -> [m, n] over static shapes?
static bool is_weight_product(IrModule *m, const IrOp *op) {
    if (op->kind != IR_LINALG_MATMUL || op->num_results != 1) return false;
    const uint32_t want[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    for (uint32_t i = 0; i < 3; i++)
        if (ir_linalg_map(m, op, i) != ir_affine_select(m, 3, 2, want[i])) return false;
    return ir_op_operand(op, 0)->type->kind == IR_TYPE_TENSOR &&
           ir_type_is_static(op->results[0].type) && op->results[0].type->elem->kind == IR_TYPE_F32;
}

// Does a rule insist on one kernel for the product and what reads it, which a product over tiled
// weights cannot be? As a sum over rows it passes whole rows on, to any number of readers, and
// needs no tiled copy of a weight that is known only when the module runs.
static bool stays_rows(IrModule *m, const IrOp *func, const IrOp *op) {
    enum { TILE_ROWS = 16 };
    const IrValue *w = ir_op_operand(op, 1), *result = &op->results[0];
    bool is_tiled_early = ir_func_arg_attr(func, w->number, "ingot.param") != NULL;
    bool is_whole = result->type->shape[1] % TILE_ROWS == 0 && ir_value_has_one_use(result);
    FOR_EACH_USE(use, result) {
        FusionPattern pattern = fusion_pattern_of(m, op, use->owner);
        if (pattern == NUM_FUSION_PATTERNS) continue;
        FusionRule rule = fusion_rule(m, pattern);
        if (rule.mode != FUSION_REQUIRE) continue;
        if (pattern == FUSION_MATMUL_SOFTMAX) return true;
        if (module_is_text(m) && (!is_whole || (rule.is_atomic && !is_tiled_early))) return true;
    }
    return false;
}

static bool is_func_arg(const IrValue *value, const IrOp *func) {
    return value->def_block == ir_func_body(func);
}

static void replace_op(IrModule *m, IrOp *op, IrValue *by) {
    const IrAttr *class = ir_op_attr(op, "ingot.op_class");
    if (class) ir_op_set_attr(m, by->def_op, "ingot.op_class", class);
    ir_value_replace_all(ir_op_result(op, 0), by);
    ir_op_erase(m, op);
}

// tensor.extract of element [i, k] of a decoded table, inside a body.
static void raise_extract(IrModule *m, IrOp *extract, const DecodedPlanes *planes) {
    Builder b = build_before(m, extract);
    IrValue *row = ir_op_operand(extract, 1), *k = ir_op_operand(extract, 2);
    IrValue *block_len = build_index(&b, planes->codes->type->shape[2]);
    IrValue *block = build_binary(&b, IR_ARITH_DIVUI, k, block_len);
    IrValue *at = build_binary(&b, IR_ARITH_REMUI, k, block_len);
    IrValue *code_operands[] = {planes->codes, row, block, at};
    IrOp *code = build_op_full(&b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT,
                                               .num_operands = 4,
                                               .operands = code_operands,
                                               .num_results = 1,
                                               .result_types = &planes->codes->type->elem,
                                               .segments = {1, 3}});
    IrValue *parts[2] = {planes->scales, planes->mins};
    IrValue *values[2] = {NULL, NULL};
    for (int i = 0; i < 2 && parts[i]; i++) {
        IrValue *operands[] = {parts[i], row, block};
        values[i] =
            ir_op_result(build_op_full(&b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT,
                                                       .num_operands = 3,
                                                       .operands = operands,
                                                       .num_results = 1,
                                                       .result_types = &parts[i]->type->elem,
                                                       .segments = {1, 2}}),
                         0);
    }
    replace_op(m, extract,
               contraction_decode(&b, ir_op_result(code, 0), planes->zero, values[0], values[1]));
}

// All uses of a decoded weight (the collapsed result of its decoding op).
static void raise_weight(IrModule *m, IrOp *generic) {
    IrBlock *body = ir_op_block(generic, 0);
    Decode decode;
    if (!decode_read(m, generic, ir_op_operand(ir_block_terminator(body), 0), &decode)) return;
    IrValue *weight = ir_op_result(generic, 0);
    if (ir_value_has_one_use(weight) && weight->first_use->owner->kind == IR_TENSOR_COLLAPSE_SHAPE)
        weight = ir_op_result(weight->first_use->owner, 0);
    if (weight->type->rank != 2) return;
    DecodedPlanes planes = decode_split(m, &decode);
    FOR_EACH_USE_SAFE(use, weight) {
        IrOp *op = use->owner;
        if (op->kind == IR_TENSOR_EXTRACT)
            raise_extract(m, op, &planes);
        else if (is_weight_product(m, op) && use == &op->operands[1] &&
                 ir_op_operand(op, 0) != weight) {
            Builder b = build_before(m, op);
            ContractionWeights w = {.x = ir_op_operand(op, 0),
                                    .codes = planes.codes,
                                    .scales = planes.scales,
                                    .mins = planes.mins,
                                    .zero = planes.zero + MUTATED(RAISE_ZERO)};
            replace_op(m, op, contraction_build_weights(&b, &w));
        }
    }
}

Status pass_raise_patterns(IrModule *m, DiagSink *sink) {
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (!body || ir_op_attr(func, "ingot.composite")) continue;
        if (module_is_text(m)) TRY(raise_attention(m, func, sink));
        FOR_EACH_OP_SAFE(op, body)
        if (op->kind == IR_LINALG_GENERIC && ir_op_attr(op, "ingot.dequant")) raise_weight(m, op);
        FOR_EACH_OP_SAFE(op, body) {
            if (!is_weight_product(m, op) || !is_func_arg(ir_op_operand(op, 1), func) ||
                stays_rows(m, func, op))
                continue;
            Builder b = build_before(m, op);
            replace_op(m, op,
                       contraction_build_float(&b, ir_op_operand(op, 0), ir_op_operand(op, 1)));
        }
    }
    dce_module(m);
    return STATUS_OK;
}
