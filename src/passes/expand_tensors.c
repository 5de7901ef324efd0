// expand-tensors: tensor.pad becomes a fill and the insertion of what it pads; scf.forall becomes
// loops that run one after another (expand_forall.c), linalg.pack and unpack what they move
// (expand_pack.c), a choice between whole tensors an scf.if.
//
//   %p = tensor.pad %x low[1, 1] high[1, 1] { yield %c } : tensor<4x4xf32> to tensor<6x6xf32>
//   -> %f = linalg.fill ins(%c) outs(%e);  %p = tensor.insert_slice %x into %f[1, 1] [4, 4] [1, 1]
//
// A padding that depends on the place is computed by a generic. Needs: nothing.  Keeps: all. Exact.
#include <string.h>

#include "passes/expand.h"
#include "passes/pass.h"

enum { MAX_RANK = 12 };

// Does the region yield one value from outside it?
static IrValue *outside_padding(const IrOp *pad) {
    const IrBlock *body = ir_op_block(pad, 0);
    IrValue *value = ir_op_operand(ir_block_terminator(body), 0);
    const IrBlock *home = value->def_op ? value->def_op->block : value->def_block;
    return home == body ? NULL : value;
}

// The constant that the region makes and yields, made again in front of the op.
static IrValue *inside_constant(Builder *b, const IrOp *pad) {
    const IrValue *value = ir_op_operand(ir_block_terminator(ir_op_block(pad, 0)), 0);
    if (!ir_value_constant(value)) return NULL;
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *copy = ir_op_clone(b->m, value->def_op, &map);
    ir_value_map_deinit(&map);
    ir_op_insert_before(copy, b->before);
    return ir_op_result(copy, 0);
}

// The padding at every place, by the region's own ops.
static IrValue *build_by_place(Builder *b, const IrOp *pad, const IrType *type) {
    IrModule *m = b->m;
    char iterators[MAX_RANK + 1] = {0};
    memset(iterators, 'p', type->rank);
    const IrAffineMap *identity = ir_affine_identity(m, type->rank);
    IrValue *out = build_empty(b, type);
    Builder body;
    IrOp *generic = build_generic(b, 0, NULL, 1, &out, &identity, iterators, &body);
    IrValueMap map;
    ir_value_map_init(&map);
    const IrBlock *from = ir_op_block(pad, 0);
    for (uint32_t i = 0; i < from->num_args; i++)
        ir_value_map_set(&map, from->args[i], build_loop_index(&body, i));
    FOR_EACH_OP(op, from) {
        if (op->kind == IR_TENSOR_YIELD) {
            IrValue *value = ir_value_map_get(&map, ir_op_operand(op, 0));
            build_yield(&body, IR_LINALG_YIELD, 1, &value);
        } else {
            ir_block_append(body.block, ir_op_clone(m, op, &map));
        }
    }
    ir_value_map_deinit(&map);
    return ir_op_result(generic, 0);
}

static IrValue *insert_at(Builder *b, IrOp *pad, IrValue *into) {
    IrModule *m = b->m;
    IrValue *source = ir_op_operand(pad, 0), *operands[2 + MAX_RANK] = {source, into};
    uint32_t rank = source->type->rank, num_low = pad->segments[1];
    int64_t ones[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) ones[i] = 1;
    for (uint32_t i = 0; i < num_low; i++) operands[2 + i] = ir_op_operand(pad, 1 + i);
    const IrType *i64 = ir_type_int(m, 64);
    IrNamedAttr attrs[] = {
        {"static_offsets",
         ir_attr_dense_array(m, i64, rank, ir_op_attr(pad, "static_low")->values)},
        {"static_sizes", ir_attr_dense_array(m, i64, rank, source->type->shape)},
        {"static_strides", ir_attr_dense_array(m, i64, rank, ones)},
    };
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_INSERT_SLICE,
                                                     .num_operands = 2 + num_low,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &into->type,
                                                     .num_attrs = 3,
                                                     .attrs = attrs,
                                                     .segments = {2, num_low, 0, 0}}),
                        0);
}

// Amounts known at run time only must give the size that the type says.
static void assert_sizes(Builder *b, IrOp *pad) {
    IrModule *m = b->m;
    const int64_t *low = ir_op_attr(pad, "static_low")->values,
                  *high = ir_op_attr(pad, "static_high")->values;
    const IrType *from = ir_op_operand(pad, 0)->type, *to = pad->results[0].type;
    uint32_t low_at = ir_op_segment_start(pad, 1), high_at = ir_op_segment_start(pad, 2);
    for (uint32_t d = 0; d < to->rank; d++) {
        if (low[d] != IR_DYNAMIC && high[d] != IR_DYNAMIC) continue;
        IrValue *front =
            low[d] == IR_DYNAMIC ? ir_op_operand(pad, low_at++) : build_index(b, low[d]);
        IrValue *back =
            high[d] == IR_DYNAMIC ? ir_op_operand(pad, high_at++) : build_index(b, high[d]);
        IrValue *sum = build_binary(b, IR_ARITH_ADDI, front, back);
        IrValue *ok = build_cmpi(b, "eq", sum, build_index(b, to->shape[d] - from->shape[d]));
        const char *text =
            arena_printf(&m->arena, "tensor.pad makes dimension %u the size of its type", d);
        IrNamedAttr msg = {ir_intern(m, "msg"), ir_attr_string(m, text)};
        build_op_full(b, &(IrOpSpec){.kind = IR_CF_ASSERT,
                                     .loc = pad->loc,
                                     .num_operands = 1,
                                     .operands = &ok,
                                     .num_attrs = 1,
                                     .attrs = &msg});
    }
}

static Status expand_pad(IrModule *m, IrOp *pad, DiagSink *sink) {
    const IrType *type = pad->results[0].type;
    if (!ir_type_is_static(type) || !ir_type_is_static(ir_op_operand(pad, 0)->type) ||
        type->rank > MAX_RANK)
        return diag_error(sink, DIAG_P0005, ir_loc_span(pad->loc),
                          "tensor.pad to a size that is not known, or of more than %d dimensions",
                          MAX_RANK);
    Builder b = build_before(m, pad);
    assert_sizes(&b, pad);
    IrValue *scalar = outside_padding(pad);
    if (!scalar) scalar = inside_constant(&b, pad);
    IrValue *padding =
        scalar ? build_fill(&b, scalar, build_empty(&b, type)) : build_by_place(&b, pad, type);
    ir_value_replace_all(ir_op_result(pad, 0), insert_at(&b, pad, padding));
    ir_op_erase(m, pad);
    return STATUS_OK;
}

// A choice between whole tensors is a branch.
static void expand_select(IrModule *m, IrOp *op) {
    Builder b = build_before(m, op);
    IrValue *cond = ir_op_operand(op, 0);
    IrOp *branch = build_op_full(&b, &(IrOpSpec){.kind = IR_SCF_IF,
                                                 .num_operands = 1,
                                                 .operands = &cond,
                                                 .num_results = 1,
                                                 .result_types = &op->results[0].type,
                                                 .num_regions = 2,
                                                 .segments = {1}});
    for (uint32_t r = 0; r < 2; r++) {
        Builder inner = build_at_end(m, ir_region_add_block(m, &branch->regions[r]), op->loc);
        IrValue *value = ir_op_operand(op, 1 + r);
        build_yield(&inner, IR_SCF_YIELD, 1, &value);
    }
    ir_value_replace_all(ir_op_result(op, 0), ir_op_result(branch, 0));
    ir_op_erase(m, op);
}

static Status expand_block(IrModule *m, IrBlock *block, DiagSink *sink) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) TRY(expand_block(m, inner, sink));
        if (op->kind == IR_TENSOR_PAD) TRY(expand_pad(m, op, sink));
        if (op->kind == IR_SCF_FORALL) expand_forall(m, op);
        if (op->kind == IR_LINALG_PACK || op->kind == IR_LINALG_UNPACK)
            TRY(expand_pack(m, op, sink));
        if (op->kind == IR_ARITH_SELECT && op->results[0].type->kind == IR_TYPE_TENSOR)
            expand_select(m, op);
    }
    return STATUS_OK;
}

Status pass_expand_tensors(IrModule *m, DiagSink *sink) {
    FOR_EACH_OP(func, ir_module_body(m))
    if (func->kind == IR_FUNC_FUNC && ir_func_body(func))
        TRY(expand_block(m, ir_func_body(func), sink));
    return STATUS_OK;
}
