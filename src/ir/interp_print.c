// The test driver's print calls (@printMemrefF32 and its like), in the text of mlir-runner's
// utility library; only the address is always 0.
#include "ir/interp_decoders.h"

typedef struct Print {
    uint32_t rank, elem_bytes;
    InterpMem mem;
    IrTypeKind type;
    bool is_index;
} Print;

static void print_element(const Print *info, uint64_t word, StrBuf *out) {
    if (info->type == IR_TYPE_F32)
        strbuf_printf(out, "%g", (double)f32_from_bits((uint32_t)word));
    else if (info->type == IR_TYPE_F64)
        strbuf_printf(out, "%g", f64_from_bits(word));
    else if (info->is_index)
        strbuf_printf(out, "%llu", (unsigned long long)word);
    else
        strbuf_printf(out, "%lld", (long long)word);
}

// Elements of dimension `dim` and inner ones; rows after the first are indented by their depth.
static bool print_dimension(Interp *in, const InterpInst *inst, const InterpView *view,
                            uint32_t dim, int64_t at) {
    const Print *info = inst->info;
    StrBuf *out = in->options->print_output;
    if (dim == info->rank) {
        int64_t byte = view->base_bytes + at * info->elem_bytes;
        if (!interp_count(in, inst->op, 1)) return false;
        if (out->len > in->max_bytes) return interp_limit(in, inst->op, "prints too much");
        if (!interp_check_read(in, inst->op, view->buffer, view->view_id, byte, info->elem_bytes)) {
            return false;
        }
        print_element(info, interp_load(info->mem, view->buffer->data + byte), out);
        return true;
    }
    strbuf_putc(out, '[');
    for (int64_t i = 0; i < view->dims[dim]; i++) {
        if (i && dim + 1 == info->rank)
            strbuf_printf(out, ",%*s", (int)info->rank + 1, "");
        else if (i)
            strbuf_printf(out, ", \n%*s", (int)dim + 1, "");
        if (!print_dimension(in, inst, view, dim + 1, at + i * view->dims[info->rank + dim])) {
            return false;
        }
    }
    strbuf_putc(out, ']');
    return true;
}

static void print_list(const int64_t *values, uint32_t count, StrBuf *out) {
    for (uint32_t i = 0; i < count; i++) {
        strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)values[i]);
    }
}

static bool run_print(Interp *in, const InterpInst *inst, uint64_t *frame) {
    const Print *info = inst->info;
    const InterpView *view = interp_view(frame, inst->src[0]);
    StrBuf *out = in->options->print_output;
    strbuf_printf(out, "Unranked Memref base@ = 0x0 rank = %u offset = %lld sizes = [", info->rank,
                  (long long)view->offset);
    print_list(view->dims, info->rank, out);
    strbuf_puts(out, "] strides = [");
    print_list(view->dims + info->rank, info->rank, out);
    strbuf_puts(out, "] data = \n");
    if (!info->rank) strbuf_putc(out, '[');
    if (!print_dimension(in, inst, view, 0, view->offset)) return false;
    strbuf_puts(out, info->rank ? "\n" : "]\n");
    return true;
}

bool interp_decode_print(InterpDecoder *d, const IrOp *op, bool *out_found) {
    static const struct {
        const char *name;
        IrTypeKind type;
        uint32_t width;
    } calls[] = {
        {"printMemrefF32", IR_TYPE_F32, 0},    {"printMemrefF64", IR_TYPE_F64, 0},
        {"printMemrefI32", IR_TYPE_INT, 32},   {"printMemrefI64", IR_TYPE_INT, 64},
        {"printMemrefInd", IR_TYPE_INDEX, 64},
    };
    const IrAttr *callee = ir_op_attr(op, "callee");
    const char *name = callee && callee->kind == IR_ATTR_SYMBOL ? callee->str : "";
    size_t i = 0;
    while (i < ARRAY_LEN(calls) && !str_equal(calls[i].name, name)) i++;
    const IrOp *target = i < ARRAY_LEN(calls) ? ir_call_callee(d->in->module, op) : NULL;
    *out_found = target && target->kind == IR_FUNC_FUNC && !ir_func_body(target);
    if (!*out_found) return true;
    if (!d->in->options->print_output)
        return interp_refuse(d->in, op, "prints, which is not allowed here");
    const IrValue *value = op->num_operands == 1 ? ir_op_operand(op, 0) : NULL;
    const IrOp *cast = value ? value->def_op : NULL;
    if (!cast || (cast->kind != IR_MEMREF_CAST && cast->kind != IR_TENSOR_CAST)) {
        return interp_refuse(d->in, op, "prints what is no cast to an unranked type");
    }
    const IrType *type = ir_op_operand(cast, 0)->type;
    if (!interp_is_view(type) || type->elem->kind != calls[i].type ||
        (calls[i].type == IR_TYPE_INT && type->elem->width != calls[i].width)) {
        return interp_refuse(d->in, op, "prints elements of another type than its name says");
    }
    Print *info = INTERP_INFO(d, Print);
    info->rank = type->rank;
    info->elem_bytes = ir_type_bytes(type->elem);
    info->mem = interp_mem(type->elem);
    info->type = type->elem->kind;
    info->is_index = type->elem->kind == IR_TYPE_INDEX;
    InterpInst *inst = interp_emit(d, op, run_print);
    inst->info = info;
    inst->src[0] = interp_slot(d, ir_op_operand(cast, 0));
    return true;
}
