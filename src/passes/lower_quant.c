// lower-quant: a weight in a block format becomes the planes its blocks consist of, and the op that
// decodes them. The decoding op comes from the format table (abi/quant.h), the one place that
// states it.
//
//   func @f(%w: tensor<64x32xf32> {ingot.param = "p", ingot.quant = "q8_0"})
//   -> func @f(%q: tensor<64x1x32xi8> {ingot.param = "p", ingot.plane = "q"},
//              %d: tensor<64x1xf16> {ingot.param = "p", ingot.plane = "d"})
//      %w = collapse_shape (linalg.generic ins(%q, %d) attrs = {ingot.dequant = "q8_0"} ...)
//
// Needs: bucketed.  Keeps: packed.  Exact: the decoding op is the meaning of the format.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/quant.h"
#include "ir/parse.h"
#include "passes/build.h"
#include "passes/dce.h"
#include "passes/decode.h"
#include "passes/mutate.h"
#include "passes/pass.h"

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

// A callee's argument has the format of what its callers pass.
static Status propagate_call(IrModule *m, IrOp *func, IrOp *call, DiagSink *sink,
                             bool *out_changed) {
    IrOp *callee = ir_call_callee(m, call);
    if (!callee || !is_func(callee)) return STATUS_OK;
    for (uint32_t i = 0; i < call->num_operands; i++) {
        const IrValue *value = ir_op_operand(call, i);
        if (value->def_block != ir_func_body(func)) continue;
        const IrAttr *quant = ir_func_arg_attr(func, value->number, "ingot.quant");
        const IrAttr *known = ir_func_arg_attr(callee, i, "ingot.quant");
        if (!quant || quant == known) continue;
        if (known) {
            Status status = diag_error(sink, DIAG_P0005, ir_loc_span(call->loc),
                                       "argument %u of @%s is called with formats %s and %s", i,
                                       ir_symbol_name(callee), known->str, quant->str);
            diag_write(sink, "one function per combination of weight formats");
            return status;
        }
        ir_func_set_arg_attr(m, callee, i, "ingot.quant", quant);
        *out_changed = true;
    }
    return STATUS_OK;
}

static Status propagate_formats(IrModule *m, DiagSink *sink) {
    bool changed;
    do {
        changed = false;
        FOR_EACH_OP(func, ir_module_body(m)) {
            if (!is_func(func)) continue;
            FOR_EACH_OP(op, ir_func_body(func))
            if (op->kind == IR_FUNC_CALL) TRY(propagate_call(m, func, op, sink, &changed));
        }
    } while (changed);
    return STATUS_OK;
}

// The decode text with ${N}, ${KB}, ${K} replaced.
static void fill_template(const char *text, int64_t rows, int64_t blocks, int64_t elems,
                          StrBuf *out) {
    while (*text) {
        const char *dollar = strstr(text, "${");
        const char *close = dollar ? strchr(dollar, '}') : NULL;
        if (!close) {
            strbuf_puts(out, text);
            return;
        }
        strbuf_append(out, text, (size_t)(dollar - text));
        size_t len = (size_t)(close - dollar - 2);
        int64_t value = len == 2 ? blocks : dollar[2] == 'N' ? rows : elems;
        strbuf_printf(out, "%lld", (long long)value);
        text = close + 1;
    }
}

void lower_quant_decode_text(const QuantInfo *info, int64_t rows, int64_t elems, StrBuf *out) {
    fill_template(quant_decode_ir(info), rows, elems / info->block_elems, elems, out);
}

// Decoding functions of the pass: the weights of all layers have a few shapes and formats.
typedef struct Decoder {
    const QuantInfo *info;
    const IrType *weight;
    IrOp *func; // unlinked
} Decoder;

typedef struct Decoders {
    Decoder *list;
    size_t num, capacity;
} Decoders;

// The decoding function of a format for a weight of this shape, parsed into m (unlinked).
static Status parse_decoder(IrModule *m, const QuantInfo *info, const IrType *weight,
                            DiagSink *sink, IrOp **out_func) {
    StrBuf text = {0};
    int64_t rows = weight->shape[0], elems = weight->shape[1];
    lower_quant_decode_text(info, rows, elems, &text);
    char *copy = arena_strndup(&m->arena, text.data, text.len);
    size_t len = text.len;
    strbuf_deinit(&text);
    IrModule *decode = NULL;
    TRY(ir_parse(copy, len, arena_printf(&m->arena, "quant/%s.mlir", info->name), sink, &decode));
    *out_func = build_import_func(m, ir_module_body(decode)->first);
    ir_module_destroy(decode);
    return STATUS_OK;
}

static Status find_decoder(IrModule *m, Decoders *d, const QuantInfo *info, const IrType *weight,
                           DiagSink *sink, IrOp **out_func) {
    for (size_t i = 0; i < d->num; i++) {
        if (d->list[i].info != info || d->list[i].weight != weight) continue;
        *out_func = d->list[i].func;
        return STATUS_OK;
    }
    TRY(parse_decoder(m, info, weight, sink, out_func));
    ARRAY_RESERVE(d->list, d->num, d->capacity);
    d->list[d->num++] = (Decoder){info, weight, *out_func};
    return STATUS_OK;
}

// Uses of the argument as a number: the decoded weight takes its place at the start of the body.
static void decode_in_body(IrModule *m, IrOp *func, IrValue *weight, IrOp *decode,
                           IrValue *const *planes, uint32_t num_planes) {
    IrBlock *body = ir_func_body(func);
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i < num_planes; i++) {
        uint32_t from = MUTATED(SWAPPED_PLANES) && num_planes == 3 && i > 0 ? 3 - i : i;
        ir_value_map_set(&map, ir_func_body(decode)->args[i], planes[from]);
    }
    IrOp *before = body->first;
    FOR_EACH_OP(op, ir_func_body(decode)) {
        if (op->kind == IR_FUNC_RETURN) {
            ir_value_replace_all(weight, ir_value_map_get(&map, ir_op_operand(op, 0)));
            break;
        }
        ir_op_insert_before(ir_op_clone(m, op, &map), before);
    }
    ir_value_map_deinit(&map);
}

static void split_call_operands(IrModule *m, IrValue *weight, IrValue *const *planes,
                                uint32_t num_planes) {
    FOR_EACH_USE_SAFE(use, weight) {
        IrOp *call = use->owner;
        if (call->kind != IR_FUNC_CALL) continue;
        // The callee's signature is split at the same place, so operands keep their order.
        IrValue *operands[1024];
        uint32_t n = 0;
        for (uint32_t i = 0; i < call->num_operands; i++) {
            if (ir_op_operand(call, i) != weight)
                operands[n++] = ir_op_operand(call, i);
            else
                for (uint32_t p = 0; p < num_planes; p++) operands[n++] = planes[p];
            BUG_IF(n + QUANT_MAX_PLANES > ARRAY_LEN(operands), "too many call operands");
        }
        while (call->num_operands > 0) ir_op_remove_operand(call, call->num_operands - 1);
        for (uint32_t i = 0; i < n; i++) ir_op_add_operand(m, call, 0, operands[i]);
        split_call_operands(m, weight, planes, num_planes); // the use list has changed
        return;
    }
}

static Status lower_arg(IrModule *m, Decoders *decoders, IrOp *func, uint32_t arg, DiagSink *sink) {
    IrValue *weight = ir_func_body(func)->args[arg];
    const IrAttr *quant = ir_func_arg_attr(func, arg, "ingot.quant");
    const IrAttr *param = ir_func_arg_attr(func, arg, "ingot.param");
    QuantFormat format;
    const IrType *type = weight->type;
    if (!quant_find(quant->str, &format) || !quant_is_block(quant_info(format)) ||
        type->kind != IR_TYPE_TENSOR || type->rank != 2 || !ir_type_is_static(type) ||
        type->shape[1] % quant_info(format)->block_elems != 0)
        return diag_error(sink, DIAG_P0005, ir_loc_span(func->loc),
                          "argument %u of @%s: format '%s' on this type", arg, ir_symbol_name(func),
                          quant->str);
    const QuantInfo *info = quant_info(format);
    IrOp *decode = NULL;
    TRY(find_decoder(m, decoders, info, type, sink, &decode));
    IrValue *planes[QUANT_MAX_PLANES];
    for (uint32_t p = 0; p < info->num_planes; p++) {
        uint32_t at = arg + 1 + p;
        planes[p] = ir_func_insert_arg(m, func, at, ir_func_body(decode)->args[p]->type);
        ir_func_set_arg_attr(m, func, at, "ingot.plane", ir_attr_string(m, info->planes[p].suffix));
        if (param) ir_func_set_arg_attr(m, func, at, "ingot.param", param);
    }
    split_call_operands(m, weight, planes, info->num_planes);
    if (!ir_value_is_unused(weight))
        decode_in_body(m, func, weight, decode, planes, info->num_planes);
    ir_func_remove_arg(m, func, arg);
    return STATUS_OK;
}

static Status lower_args(IrModule *m, Decoders *decoders, DiagSink *sink) {
    TRY(propagate_formats(m, sink));
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func)) continue;
        for (uint32_t i = ir_func_body(func)->num_args; i-- > 0;)
            if (ir_func_arg_attr(func, i, "ingot.quant"))
                TRY(lower_arg(m, decoders, func, i, sink));
    }
    return STATUS_OK;
}

Status pass_lower_quant(IrModule *m, DiagSink *sink) {
    Decoders decoders = {0};
    ir_funcs_edit_begin(m);
    Status status = lower_args(m, &decoders, sink);
    ir_funcs_edit_end(m);
    for (size_t i = 0; i < decoders.num; i++) ir_op_erase(m, decoders.list[i].func);
    free(decoders.list);
    dce_module(m);
    return status;
}
