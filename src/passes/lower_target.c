// lower-target: kernels of level 2 become functions of the llvm dialect with the kernel ABI.
//
//   func.func @k(%x: memref<64xf32>, %n: index, %begin: index, %end: index)
//       attributes {ingot.kernel} { ... }
//   ->
//   llvm.func @k(%buffers: !llvm.ptr, %scalars: !llvm.ptr, %begin: i64, %end: i64) {
//     %x = llvm.load %buffers[0]; %n = llvm.load %scalars[0]; ...
//   }
//
// Memrefs become base pointers and address arithmetic (lower_memref.c, lower_index.c), structured
// control flow becomes blocks (lower_flow.c), vectors become one-dimensional (lower_vector.c,
// lower_transfer.c), math functions become polynomials (lower_math.c); bf16 values are i16.
//
// Needs: kernels without linalg, alloc and calls. Keeps: nothing of level 2. Exact: everything but
// math.exp, log, tanh, erf, sin and cos, which are within the error lower_math.c states.
#include "abi/kernel_abi.h"
#include "passes/lower_internal.h"
#include "passes/pass.h"

#include <stdlib.h>

// ---------------------------------------------------------------- the ABI

static IrValue *low_abi_load(Lowering *lo, IrValue *array, int64_t number, const IrType *type) {
    MemDesc desc = {.base = array, .base_align = 8, .elem = lo->i64, .rank = 1};
    LowIndex stride = low_index_const(1), index = low_index_const(number);
    desc.strides = &stride;
    int64_t align;
    IrValue *address = low_address(lo, &desc, &index, &align);
    return low_load(lo, type, address, align);
}

static Status low_bind_args(Lowering *lo, const IrOp *func) {
    const IrBlock *body = ir_func_body(func);
    uint32_t num_indices = 0, seen = 0;
    int64_t num_buffers = 0, num_scalars = 0;
    for (uint32_t i = 0; i < body->num_args; i++)
        num_indices += body->args[i]->type->kind == IR_TYPE_INDEX;
    if (num_indices < 2) {
        return diag_error(lo->sink, DIAG_B0002, ir_loc_span(func->loc),
                          "kernel @%s lacks the two index parameters of its tile range",
                          ir_symbol_name(func));
    }
    for (uint32_t i = 0; i < body->num_args; i++) {
        IrValue *arg = body->args[i];
        if (arg->type->kind == IR_TYPE_MEMREF) {
            IrValue *base = low_abi_load(lo, lo->entry->args[0], num_buffers++, lo->ptr);
            MemDesc *desc;
            TRY(low_memref_whole(lo, func, arg->type, base, &desc));
            low_set_memref(lo, arg, desc);
        } else if (arg->type->kind == IR_TYPE_INDEX) {
            bool is_range = ++seen > num_indices - 2;
            IrValue *value = is_range
                                 ? lo->entry->args[2 + seen - (num_indices - 1)]
                                 : low_abi_load(lo, lo->entry->args[1], num_scalars++, lo->i64);
            low_set_index(lo, arg, low_index_of(value, 1));
        } else {
            return diag_error(lo->sink, DIAG_B0002, ir_loc_span(func->loc),
                              "parameter %u of kernel @%s is neither a buffer nor an index", i,
                              ir_symbol_name(func));
        }
    }
    return STATUS_OK;
}

static void note_check(IrOp *op, void *ctx) {
    bool *has_checks = ctx;
    *has_checks |= op->kind == IR_CF_ASSERT && ir_op_attr(op, "ingot.check");
}

// Only a kernel with checks takes the record that they write to.
static IrOp *low_make_func(Lowering *lo, IrOp *func) {
    IrModule *m = lo->m;
    const IrType *inputs[] = {lo->ptr, lo->ptr, lo->i64, lo->i64, lo->ptr};
    bool has_checks = false;
    ir_walk(func, note_check, &has_checks);
    const uint32_t num_inputs = KERNEL_NUM_PARAMS + has_checks;
    const IrType *type = ir_type_llvm_function(m, ir_type_void(m), num_inputs, inputs);
    IrNamedAttr attrs[] = {{"sym_name", ir_attr_string(m, ir_symbol_name(func))},
                           {"function_type", ir_attr_type(m, type)}};
    IrOpSpec spec = {
        .kind = IR_LLVM_FUNC, .loc = func->loc, .num_attrs = 2, .attrs = attrs, .num_regions = 1};
    IrOp *made = ir_op_create(m, &spec);
    lo->region = &made->regions[0];
    lo->entry = lo->block = ir_region_add_block(m, lo->region);
    for (uint32_t i = 0; i < num_inputs; i++) ir_block_add_arg(m, lo->entry, inputs[i]);
    return made;
}

static Status low_kernel(Lowering *lo, IrOp *func) {
    IrBlock *body = ir_func_body(func);
    if (!body || body != func->regions[0].last || !body->last ||
        body->last->kind != IR_FUNC_RETURN || body->last->num_operands) {
        return diag_error(lo->sink, DIAG_B0002, ir_loc_span(func->loc),
                          "kernel @%s needs one block and returns nothing", ir_symbol_name(func));
    }
    lo->loc = func->loc;
    IrOp *made = low_make_func(lo, func);
    ir_op_insert_after(made, func);
    low_const_int(lo, lo->i64, 1); // heads the entry block: what constants and allocas come after
    TRY(low_bind_args(lo, func));
    TRY(low_block(lo, body));
    lo->loc = body->last->loc;
    low_op(lo, IR_LLVM_RETURN, NULL, 0, NULL, 0, NULL);
    return STATUS_OK;
}

static Status low_run_kernel(IrModule *m, IrOp *func, DiagSink *sink) {
    Lowering lo = {.m = m,
                   .sink = sink,
                   .i1 = ir_type_int(m, 1),
                   .i8 = ir_type_int(m, 8),
                   .i16 = ir_type_int(m, 16),
                   .i32 = ir_type_int(m, 32),
                   .i64 = ir_type_int(m, 64),
                   .f32 = ir_type_f32(m),
                   .f64 = ir_type_float(m, IR_TYPE_F64),
                   .ptr = ir_type_ptr(m)};
    arena_init(&lo.arena);
    lo.values = ARENA_ARRAY(&lo.arena, IrValue *, m->num_values);
    lo.indices = ARENA_ARRAY(&lo.arena, LowIndex, m->num_values);
    lo.memrefs = ARENA_ARRAY(&lo.arena, MemDesc *, m->num_values);
    Status status = low_kernel(&lo, func);
    arena_deinit(&lo.arena);
    free(lo.consts);
    return status;
}

// ---------------------------------------------------------------- the pass

static bool low_stays(const IrOp *op) {
    return op->kind == IR_LLVM_FUNC || op->kind == IR_LLVM_MLIR_GLOBAL;
}

Status pass_lower_target(IrModule *m, DiagSink *sink) {
    IrBlock *body = ir_module_body(m);
    FOR_EACH_OP_SAFE(op, body) {
        if (op->kind != IR_FUNC_FUNC || !ir_op_attr(op, "ingot.kernel")) continue;
        TRY(low_run_kernel(m, op, sink));
        ir_op_erase(m, op);
    }
    FOR_EACH_OP_SAFE(op, body) {
        if (!low_stays(op)) ir_op_erase(m, op);
    }
    return STATUS_OK;
}
