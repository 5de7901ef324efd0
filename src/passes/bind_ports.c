// bind-ports: every argument and result of an entry that takes tensors is a tensor in a buffer of
// its own. Scalars become tensors of rank 0, and a result that another op does not make for it
// alone (an argument, a constant, a view, one value returned twice) is copied; so is what a loop
// would change in place and does not own. Numbers that loops carry are tensors of rank 0, too.
//
//   func.func @main(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) { return %x, %s }
//   -> func.func @main(%x: tensor<4xf32>, %0: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
//        %s = tensor.extract %0[];  %y = linalg.copy ins(%x) ...
//        %t = tensor.insert %s into %e[]
//        return %y, %t }
//
// Entries of a language model (ingot.bucket) have ports of their own kind and stay as they are.
// Needs: inlined.  Keeps: canonical.  Exact.
#include "passes/build.h"
#include "passes/dce.h"
#include "passes/entry.h"
#include "passes/pass.h"

static IrValue *extract_scalar(Builder *b, IrValue *tensor) {
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT,
                                                     .num_operands = 1,
                                                     .operands = &tensor,
                                                     .num_results = 1,
                                                     .result_types = &tensor->type->elem,
                                                     .segments = {1, 0}}),
                        0);
}

static IrValue *insert_into(Builder *b, IrValue *scalar, IrValue *tensor) {
    IrValue *operands[] = {scalar, tensor};
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_INSERT,
                                                     .num_operands = 2,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &tensor->type,
                                                     .segments = {1, 1, 0}}),
                        0);
}

static IrValue *insert_scalar(Builder *b, IrValue *scalar) {
    return insert_into(b, scalar, build_empty(b, ir_type_tensor(b->m, 0, NULL, scalar->type)));
}

// A scalar argument becomes a tensor in its place; of its attributes the name stays. The caller
// updates the function's type.
static void bind_arguments(IrModule *m, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    const IrAttr **dicts = ir_func_arg_dicts(m, func);
    for (uint32_t i = 0; i < body->num_args; i++) {
        IrValue *arg = body->args[i];
        if (!ir_type_is_scalar(arg->type)) continue;
        static const char *const kept[] = {"ingot.name", "ingot.count"};
        const IrAttr *old = dicts[i];
        dicts[i] = ir_attr_dict(m, 0, NULL);
        for (size_t k = 0; k < ARRAY_LEN(kept); k++)
            dicts[i] = ir_attr_dict_with(m, dicts[i], kept[k], ir_attr_dict_find(old, kept[k]));
        Builder b = build_before(m, body->first);
        IrValue *tensor = build_empty(&b, ir_type_tensor(m, 0, NULL, arg->type));
        IrValue *scalar = extract_scalar(&b, tensor);
        ir_value_replace_all(arg, scalar);
        arg->type = tensor->type;
        ir_op_set_operand(scalar->def_op, 0, arg);
        ir_op_erase(m, tensor->def_op);
    }
    ir_func_set_arg_dicts(m, func, dicts);
}

// value becomes a tensor of rank 0; who read it reads its element, taken where b stands.
static void become_tensor(Builder *b, IrValue *value) {
    const IrType *scalar = value->type, *tensor = ir_type_tensor(b->m, 0, NULL, scalar);
    IrValue *stand_in = build_empty(b, tensor);
    IrValue *element = extract_scalar(b, stand_in);
    ir_value_replace_all(value, element);
    value->type = tensor;
    ir_op_set_operand(element->def_op, 0, value);
    ir_op_erase(b->m, stand_in->def_op);
}

// Numbers that a loop carries or a branch gives, in tensors: kernels give nothing else.
static void carry_tensors(IrModule *m, IrOp *op) {
    bool is_loop = op->kind == IR_SCF_FOR;
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (!ir_type_is_scalar(op->results[i].type)) continue;
        Builder before = build_before(m, op), after = build_before(m, op->next);
        if (is_loop) ir_op_set_operand(op, 3 + i, insert_scalar(&before, ir_op_operand(op, 3 + i)));
        for (uint32_t r = 0; r < op->num_regions; r++) {
            IrBlock *block = ir_op_block(op, r);
            Builder first = build_before(m, block->first);
            if (is_loop) become_tensor(&first, block->args[1 + i]);
            IrOp *yield = ir_block_terminator(block);
            Builder last = build_before(m, yield);
            IrValue *scalar = ir_op_operand(yield, i);
            ir_op_set_operand(yield, i,
                              is_loop ? insert_into(&last, scalar, block->args[1 + i])
                                      : insert_scalar(&last, scalar));
        }
        become_tensor(&after, &op->results[i]);
    }
}

// Made for whoever reads it first: there is nothing in it that another reader could miss.
static bool is_fresh(const IrValue *value) {
    const IrOp *def = value->def_op;
    return def && (def->kind == IR_TENSOR_EMPTY || def->kind == IR_LINALG_FILL);
}

static bool fills_own_buffer(const IrOp *op) {
    bool is_linalg = (ir_op_info(op->kind)->traits & IR_LINALG) && op->kind != IR_LINALG_FILL;
    return is_linalg || op->kind == IR_LINALG_SOFTMAX || op->kind == IR_TENSOR_INSERT ||
           op->kind == IR_TENSOR_INSERT_SLICE || op->kind == IR_SCF_FOR || op->kind == IR_SCF_IF;
}

// A loop changes the tensors that it carries in place: what is not its own is copied first.
static void own_carried(IrModule *m, IrBlock *body) {
    FOR_EACH_OP(op, body) {
        for (uint32_t i = 3; op->kind == IR_SCF_FOR && i < op->num_operands; i++) {
            IrValue *value = ir_op_operand(op, i);
            bool is_own =
                value->def_op && ir_value_has_one_use(value) && fills_own_buffer(value->def_op);
            if (value->type->kind != IR_TYPE_TENSOR || is_own || is_fresh(value)) continue;
            Builder b = build_before(m, op);
            ir_op_set_operand(op, i, build_copy(&b, value));
        }
    }
}

// Is the value made by an op that fills a buffer of its own, and returned once? What a loop leaves
// lies where its first value lay.
static bool has_own_buffer(const IrOp *ret, uint32_t i) {
    const IrValue *value = ir_op_operand(ret, i);
    const IrOp *def = value->def_op;
    for (uint32_t k = 0; k < i; k++)
        if (ir_op_operand(ret, k) == value) return false;
    if (!def) return false;
    if (def->kind == IR_SCF_FOR) return is_fresh(ir_op_operand(def, 3 + value->number));
    return fills_own_buffer(def);
}

static Status bind_results(IrModule *m, IrOp *func, DiagSink *sink) {
    IrOp *ret = ir_block_terminator(ir_func_body(func));
    for (uint32_t i = 0; i < ret->num_operands; i++) {
        IrValue *value = ir_op_operand(ret, i);
        if (value->def_op && value->def_op->kind == IR_TENSOR_EMPTY)
            return diag_error(sink, DIAG_P0005, ir_loc_span(value->def_op->loc),
                              "@%s: result %u comes straight from tensor.empty: its contents are "
                              "undefined",
                              ir_symbol_name(func), i);
        Builder b = build_before(m, ret);
        if (ir_type_is_scalar(value->type))
            ir_op_set_operand(ret, i, insert_scalar(&b, value));
        else if (value->type->kind == IR_TYPE_TENSOR && !has_own_buffer(ret, i))
            ir_op_set_operand(ret, i, build_copy(&b, value));
    }
    return STATUS_OK;
}

// Vectors are of level 2: what schedules make of tensors.
static Status refuse_vectors(const IrOp *func, DiagSink *sink) {
    const IrType *type = ir_func_type(func);
    const IrOp *ret = ir_block_terminator(ir_func_body(func));
    for (uint32_t i = 0; i < type->num_inputs + type->num_results; i++) {
        bool is_input = i < type->num_inputs;
        uint32_t number = is_input ? i : i - type->num_inputs;
        if ((is_input ? type->inputs : type->results)[number]->kind != IR_TYPE_VECTOR) continue;
        const IrOp *maker = is_input ? NULL : ir_op_operand(ret, number)->def_op;
        Status status = diag_error(sink, DIAG_P0005, ir_loc_span((maker ? maker : func)->loc),
                                   "@%s: %s %u is a vector", ir_symbol_name(func),
                                   is_input ? "argument" : "result", number);
        diag_evidence(sink, "modules that are compiled work on tensors and numbers");
        diag_write(sink, "a tensor, with its arithmetic in linalg.generic");
        return status;
    }
    return STATUS_OK;
}

Status pass_bind_ports(IrModule *m, DiagSink *sink) {
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!entry_takes_tensors(m, func)) continue;
        TRY(refuse_vectors(func, sink));
        bind_arguments(m, func);
        FOR_EACH_OP(op, ir_func_body(func))
        if (op->kind == IR_SCF_FOR || op->kind == IR_SCF_IF) carry_tensors(m, op);
        own_carried(m, ir_func_body(func));
        TRY(bind_results(m, func, sink));
        ir_func_update_type(m, func);
    }
    return STATUS_OK;
}
