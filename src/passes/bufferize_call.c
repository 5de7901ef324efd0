// Signatures and calls in the bufferize pass: what a function takes once its tensors are buffers,
// and how its callers pass it. See bufferize.h for the convention.
#include "passes/bufferize.h"

Status buf_refuse(Bufferizer *bz, const IrOp *op, const char *why) {
    return diag_error(bz->sink, DIAG_P0005, ir_loc_span(op->loc), "bufferize: %s in @%s: %s",
                      ir_op_info(op->kind)->name, ir_symbol_name(bz->sig->func), why);
}

// ---------------------------------------------------------------- signatures

static const BufSignature *signature_of(const Bufferizer *bz, const IrOp *func) {
    for (uint32_t i = 0; i < bz->num_signatures; i++)
        if (bz->signatures[i].func == func) return &bz->signatures[i];
    return NULL;
}

static Status check_static(Bufferizer *bz, const IrOp *func, const IrType *type) {
    if (type->kind != IR_TYPE_TENSOR) return STATUS_OK;
    if (ir_type_is_static(type) && type->rank <= BUF_MAX_RANK) return STATUS_OK;
    return diag_error(bz->sink, DIAG_P0005, ir_loc_span(func->loc),
                      "bufferize: @%s has a tensor of unknown shape in its signature",
                      ir_symbol_name(func));
}

static Status read_tied(Bufferizer *bz, BufSignature *sig, uint32_t arg) {
    const IrAttr *tied = ir_func_arg_attr(sig->func, arg, "ingot.inout");
    sig->tied_result[arg] = -1;
    if (!tied || sig->arg_types[arg]->kind == IR_TYPE_MEMREF) return STATUS_OK; // or done already
    bool fits = tied->kind == IR_ATTR_INT && tied->i >= 0 && tied->i < sig->num_results &&
                sig->arg_types[arg]->kind == IR_TYPE_TENSOR &&
                sig->result_types[tied->i] == sig->arg_types[arg] && sig->tied_arg[tied->i] < 0;
    if (!fits)
        return diag_error(bz->sink, DIAG_P0041, ir_loc_span(sig->func->loc),
                          "@%s: ingot.inout of argument %u names no result of its type",
                          ir_symbol_name(sig->func), arg);
    sig->tied_result[arg] = (int32_t)tied->i;
    sig->tied_arg[tied->i] = (int32_t)arg;
    return STATUS_OK;
}

Status buf_read_signature(Bufferizer *bz, IrOp *func, BufSignature *sig) {
    const IrType *type = ir_func_type(func);
    sig->func = func;
    sig->is_kernel = ir_op_attr(func, "ingot.kernel") != NULL;
    sig->num_args = type->num_inputs;
    sig->num_results = type->num_results;
    sig->arg_types = ARENA_ARRAY(&bz->scratch, const IrType *, type->num_inputs);
    sig->result_types = ARENA_ARRAY(&bz->scratch, const IrType *, type->num_results);
    sig->tied_result = ARENA_ARRAY(&bz->scratch, int32_t, type->num_inputs);
    sig->tied_arg = ARENA_ARRAY(&bz->scratch, int32_t, type->num_results);
    for (uint32_t i = 0; i < type->num_results; i++) {
        sig->result_types[i] = type->results[i];
        sig->tied_arg[i] = -1;
        TRY(check_static(bz, func, type->results[i]));
    }
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        sig->arg_types[i] = type->inputs[i];
        TRY(check_static(bz, func, type->inputs[i]));
        if (sig->is_kernel && ir_type_is_scalar(type->inputs[i]) &&
            type->inputs[i]->kind != IR_TYPE_INDEX)
            return diag_error(bz->sink, DIAG_P0041, ir_loc_span(func->loc),
                              "kernel @%s: argument %u is a scalar but not an index; the kernel "
                              "interface passes buffers and indices only",
                              ir_symbol_name(func), i);
    }
    for (uint32_t i = 0; i < type->num_inputs; i++) TRY(read_tied(bz, sig, i));
    return STATUS_OK;
}

// ---------------------------------------------------------------- calls

static Status tile_count(Bufferizer *bz, Builder *b, IrOp *call, const BufSignature *callee,
                         IrValue **out) {
    const IrAttr *tiles = ir_op_attr(callee->func, "ingot.tiles");
    const IrAttr *which = ir_op_attr(callee->func, "ingot.tiles_arg");
    if (!tiles || tiles->kind != IR_ATTR_MAP || tiles->map->num_results != 1 ||
        tiles->map->num_symbols != 0 || tiles->map->num_dims != (which ? 1u : 0u) ||
        (which && which->kind != IR_ATTR_INT))
        return diag_error(bz->sink, DIAG_P0041, ir_loc_span(call->loc),
                          "kernel @%s does not state its number of tiles as ingot.tiles = "
                          "affine_map<...> of its ingot.tiles_arg",
                          ir_symbol_name(callee->func));
    const IrAffineExpr *expr = tiles->map->results[0];
    if (!which) {
        *out = build_index(b, ir_affine_eval(expr, NULL, NULL));
        return STATUS_OK;
    }
    int64_t scalar = 0, constant;
    IrValue *size = NULL;
    for (uint32_t i = 0; i < callee->num_args; i++) {
        if (!ir_type_is_scalar(callee->arg_types[i])) continue;
        if (scalar++ == which->i) size = buf_mapped(bz, ir_op_operand(call, i));
    }
    if (!size || size->type->kind != IR_TYPE_INDEX)
        return diag_error(bz->sink, DIAG_P0041, ir_loc_span(call->loc),
                          "kernel @%s: ingot.tiles_arg %lld names none of its scalars",
                          ir_symbol_name(callee->func), (long long)which->i);
    if (ir_value_constant_int(size, &constant)) {
        *out = build_index(b, ir_affine_eval(expr, &constant, NULL));
        return STATUS_OK;
    }
    IrNamedAttr attr = {ir_intern(bz->m, "map"), tiles};
    const IrType *index = ir_type_index(bz->m);
    *out = ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_AFFINE_APPLY,
                                                     .num_operands = 1,
                                                     .operands = &size,
                                                     .num_results = 1,
                                                     .result_types = &index,
                                                     .num_attrs = 1,
                                                     .attrs = &attr}),
                        0);
    return STATUS_OK;
}

// The operand as a function takes it: row-major from offset 0.
static IrValue *call_operand(Bufferizer *bz, Builder *b, const IrType *tensor, IrValue *memref) {
    const IrType *type = buf_memref_type(bz->m, tensor);
    if (memref->type == type) return memref;
    if (buf_is_identity(memref->type)) return build_cast(b, IR_MEMREF_CAST, memref, type);
    Buf copy = buf_alloc(bz, tensor, "call");
    buf_copy(b, memref, copy.memref, "call-layout");
    return copy.memref;
}

static Status tie_result(Bufferizer *bz, IrOp *op, const BufSignature *callee, uint32_t result) {
    IrValue *operand = ir_op_operand(op, (uint32_t)callee->tied_arg[result]);
    const Buf *buf = buf_of(bz, operand);
    if (!buf->memref || buf->memref->type->has_layout || buf_conflicts(bz, buf, op, operand, true))
        return diag_error(bz->sink, DIAG_P0042, ir_loc_span(op->loc),
                          "the call of @%s in @%s updates operand %d in place, but that buffer is "
                          "read later, or is an argument that is not tied to a result",
                          ir_symbol_name(callee->func), ir_symbol_name(bz->sig->func),
                          callee->tied_arg[result]);
    Buf out = *buf;
    buf_set(bz, ir_op_result(op, result), &out);
    return STATUS_OK;
}

Status buf_lower_call(Bufferizer *bz, Builder *b, IrOp *op) {
    const BufSignature *callee = signature_of(bz, ir_call_callee(bz->m, op));
    if (!callee) return buf_refuse(bz, op, "calls a function without a body");
    uint32_t num = 0, num_scalar_results = 0;
    IrValue **operands =
        ARENA_ARRAY(&bz->scratch, IrValue *, callee->num_args + callee->num_results + 2);
    const IrType **types = ARENA_ARRAY(&bz->scratch, const IrType *, callee->num_results);
    for (uint32_t i = 0; i < callee->num_args; i++) {
        IrValue *operand = ir_op_operand(op, i);
        if (ir_type_is_scalar(callee->arg_types[i])) continue;
        IrValue *memref = buf_mapped(bz, operand);
        if (!memref) memref = buf_alloc(bz, operand->type, "call").memref; // undefined contents
        bool was_tensor = buf_is_tensor(operand);
        operands[num++] = was_tensor ? call_operand(bz, b, operand->type, memref) : memref;
    }
    for (uint32_t i = 0; i < callee->num_results; i++) {
        if (callee->result_types[i]->kind != IR_TYPE_TENSOR) {
            types[num_scalar_results++] = callee->result_types[i];
        } else if (callee->tied_arg[i] >= 0) {
            TRY(tie_result(bz, op, callee, i));
        } else {
            Buf out;
            buf_choose(bz, b, op, NULL, ir_op_result(op, i), false, true, &out);
            buf_set(bz, ir_op_result(op, i), &out);
            operands[num++] = out.memref;
        }
    }
    for (uint32_t i = 0; i < callee->num_args; i++)
        if (ir_type_is_scalar(callee->arg_types[i]))
            operands[num++] = buf_mapped(bz, ir_op_operand(op, i));
    if (callee->is_kernel) {
        operands[num++] = build_index(b, 0);
        TRY(tile_count(bz, b, op, callee, &operands[num]));
        num++;
    }
    IrOp *call = build_op_full(b, &(IrOpSpec){.kind = IR_FUNC_CALL,
                                              .loc = op->loc,
                                              .num_operands = num,
                                              .operands = operands,
                                              .num_results = num_scalar_results,
                                              .result_types = types,
                                              .num_attrs = op->num_attrs,
                                              .attrs = op->attrs});
    for (uint32_t i = 0, next = 0; i < callee->num_results; i++)
        if (callee->result_types[i]->kind != IR_TYPE_TENSOR)
            ir_value_map_set(&bz->map, ir_op_result(op, i), ir_op_result(call, next++));
    return STATUS_OK;
}
