// A difference as files: the module before and after, each with a function main that calls the
// function that differs on the inputs it differs for, so that `ingot opt --run` shows both results.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ir/print.h"
#include "passes/build.h"
#include "passes/validate_internal.h"

static IrValue *constant(Builder *b, const IrAttr *value, const IrType *type) {
    const IrNamedAttr attrs[] = {{"value", value}};
    const IrOpSpec spec = {.kind = IR_ARITH_CONSTANT,
                           .loc = b->loc,
                           .num_results = 1,
                           .result_types = &type,
                           .num_attrs = 1,
                           .attrs = attrs};
    return ir_op_result(build_op_full(b, &spec), 0);
}

static const IrAttr *dense_of(IrModule *m, const CallValue *value) {
    const IrType *type = value->type;
    const IrType *tensor = ir_type_tensor(m, type->rank, type->shape, ir_type_elem(type));
    return ir_attr_dense(m, tensor, value->data, value->len_bytes, false);
}

// A buffer that starts with the value: a copy of a constant global.
static IrValue *make_buffer(Builder *b, const CallValue *value, const IrType *type) {
    IrModule *m = b->m;
    IrValue *buffer = build_op(b, IR_MEMREF_ALLOC, 0, NULL, type);
    const char *name = ir_symbol_unique(m, "input");
    const IrNamedAttr attrs[] = {{"sym_name", ir_attr_string(m, name)},
                                 {"sym_visibility", ir_attr_string(m, "private")},
                                 {"type", ir_attr_type(m, type)},
                                 {"initial_value", dense_of(m, value)},
                                 {"constant", ir_attr_unit(m)}};
    const IrOpSpec global = {
        .kind = IR_MEMREF_GLOBAL, .loc = b->loc, .num_attrs = ARRAY_LEN(attrs), .attrs = attrs};
    ir_block_append(ir_module_body(m), ir_op_create(m, &global));
    const IrNamedAttr names[] = {{"name", ir_attr_symbol(m, name)}};
    const IrOpSpec get = {.kind = IR_MEMREF_GET_GLOBAL,
                          .loc = b->loc,
                          .num_results = 1,
                          .result_types = &type,
                          .num_attrs = 1,
                          .attrs = names};
    IrValue *from[] = {ir_op_result(build_op_full(b, &get), 0), buffer};
    build_op(b, IR_MEMREF_COPY, 2, from, NULL);
    return buffer;
}

static IrValue *make_argument(Builder *b, const Call *call, const CallArg *arg,
                              const CallValue *value) {
    IrModule *m = b->m;
    const IrType *type = ir_func_body(call->func)->args[arg->number]->type;
    if (type->kind == IR_TYPE_TENSOR) {
        const IrAttr *dense = dense_of(m, value);
        IrValue *made = constant(b, dense, dense->type);
        return dense->type == type ? made : build_op(b, IR_TENSOR_CAST, 1, &made, type);
    }
    if (type->kind == IR_TYPE_MEMREF) return make_buffer(b, value, type);
    bool is_float = ir_type_is_float(type);
    return constant(b,
                    is_float ? ir_attr_float_bits(m, value->bits, type)
                             : ir_attr_int(m, (int64_t)value->bits, type),
                    type);
}

// Adds main to a copy of the module.
static IrModule *with_main(Validator *v, Snapshot *s, const Call *call, int64_t tokens) {
    CallValue *values = base_alloc(call->num_args + 1, sizeof *values);
    const char *fault;
    bool is_filled = validate_inputs(v, s, call, tokens, values, &fault);
    IrModule *m = ir_module_clone(s->m);
    IrOp *callee = ir_symbol_find(m, call->name);
    Call target = *call;
    target.func = callee;
    IrOp *func = ir_func_create(m, ir_symbol_unique(m, "main"),
                                ir_type_function(m, 0, NULL, 0, NULL), true, callee->loc);
    ir_block_append(ir_module_body(m), func);
    Builder b = build_at_end(m, ir_func_body(func), callee->loc);
    IrValue **args = base_alloc(call->num_args + 1, sizeof *args);
    IrValue *returned[64];
    uint32_t num_returned = 0;
    for (uint32_t i = 0; i < call->num_args && is_filled; i++) {
        if (call->args[i].role == ARG_TILE_END && call->tiles) values[i].bits = 1;
        args[i] = make_argument(&b, &target, &call->args[i], &values[i]);
        bool is_result = call->args[i].result >= 0 && args[i]->type->kind == IR_TYPE_MEMREF;
        if (is_result && num_returned < 64) returned[num_returned++] = args[i];
    }
    const IrType *type = ir_func_type(callee);
    if (is_filled) {
        const IrNamedAttr attrs[] = {{"callee", ir_attr_symbol(m, call->name)}};
        const IrOpSpec spec = {.kind = IR_FUNC_CALL,
                               .loc = callee->loc,
                               .num_operands = call->num_args,
                               .operands = args,
                               .num_results = type->num_results,
                               .result_types = type->results,
                               .num_attrs = 1,
                               .attrs = attrs};
        IrOp *op = build_op_full(&b, &spec);
        for (uint32_t r = 0; r < op->num_results && num_returned < 64; r++)
            returned[num_returned++] = ir_op_result(op, r);
    }
    build_op(&b, IR_FUNC_RETURN, num_returned, returned, NULL);
    ir_func_update_type(m, func);
    for (uint32_t i = 0; i < call->num_args; i++) validate_value_free(&values[i]);
    free(values);
    free(args);
    return m;
}

static Status write_module(const char *path, const IrModule *m, DiagSink *sink) {
    StrBuf text = {0};
    ir_print(m, NULL, &text);
    Status status = file_write(path, NULL, text.data, text.len, sink);
    strbuf_deinit(&text);
    return status;
}

void validate_write_counterexample(Validator *v, Snapshot *before, const Call *a, Snapshot *after,
                                   const Call *b, int64_t tokens, const char *pass,
                                   DiagSink *sink) {
    const char *dir = v->options.dump_dir;
    if (!dir) return;
    for (int side = 0; side < 2; side++) {
        const Call *call = side ? b : a;
        const char *path = arena_printf(&v->arena, "%s/%02u-%s-%s-%s.mlir", dir, v->pass_number,
                                        pass, a->name, side ? "after" : "before");
        IrModule *m = call ? with_main(v, side ? after : before, call, tokens) : NULL;
        Status status = write_module(path, m ? m : after->m, sink); // says so itself if it fails
        if (m) ir_module_destroy(m);
        if (status != STATUS_OK) return;
    }
}
