// linalg named op -> linalg.generic, with the body MLIR gives it:
//
//   %r = linalg.matmul ins(%a, %b : tensor<8x64xf16>, tensor<64x32xf16>) outs(%z :
//   tensor<8x32xf32>)
// becomes
//   %r = linalg.generic {indexing_maps = [...], iterator_types = [...]} ins(%a, %b : ...) outs(%z :
//   ...) { ^bb0(%x: f16, %y: f16, %acc: f32):
//     %0 = arith.extf %x : f16 to f32
//     %1 = arith.extf %y : f16 to f32
//     %2 = arith.mulf %0, %1 : f32
//     %3 = arith.addf %acc, %2 : f32
//     linalg.yield %3 : f32
//   }
#include <string.h>

#include "ir/ir.h"

typedef struct BodyBuilder {
    IrModule *m;
    IrBlock *block;
    const IrLoc *loc;
} BodyBuilder;

static IrValue *emit(BodyBuilder *b, IrOpKind kind, const IrType *type, uint32_t n,
                     IrValue *const *operands) {
    IrOp *op = ir_op_create(b->m, &(IrOpSpec){.kind = kind,
                                              .loc = b->loc,
                                              .num_operands = n,
                                              .operands = operands,
                                              .num_results = type ? 1 : 0,
                                              .result_types = &type});
    ir_block_append(b->block, op);
    return type ? ir_op_result(op, 0) : NULL;
}

static IrValue *emit_binary(BodyBuilder *b, IrOpKind kind, IrValue *lhs, IrValue *rhs) {
    IrValue *operands[] = {lhs, rhs};
    return emit(b, kind, lhs->type, 2, operands);
}

static IrValue *cast_float(BodyBuilder *b, IrValue *value, const IrType *to) {
    uint32_t from_bits = ir_type_bits(value->type), to_bits = ir_type_bits(to);
    if (from_bits == to_bits) { // f16 and bf16: exact to f32, then one rounding
        value = emit(b, IR_ARITH_EXTF, ir_type_f32(b->m), 1, &value);
        from_bits = 32;
    }
    return emit(b, from_bits < to_bits ? IR_ARITH_EXTF : IR_ARITH_TRUNCF, to, 1, &value);
}

static IrValue *cast(BodyBuilder *b, IrValue *value, const IrType *to, bool is_unsigned) {
    const IrType *from = value->type;
    if (from == to) return value;
    IrOpKind kind;
    if (ir_type_is_float(from) && ir_type_is_float(to)) return cast_float(b, value, to);
    if (ir_type_is_float(to))
        kind = is_unsigned ? IR_ARITH_UITOFP : IR_ARITH_SITOFP;
    else if (ir_type_is_float(from))
        kind = is_unsigned ? IR_ARITH_FPTOUI : IR_ARITH_FPTOSI;
    else if (from->kind == IR_TYPE_INDEX || to->kind == IR_TYPE_INDEX)
        kind = is_unsigned ? IR_ARITH_INDEX_CASTUI : IR_ARITH_INDEX_CAST;
    else if (from->width > to->width)
        kind = IR_ARITH_TRUNCI;
    else
        kind = is_unsigned ? IR_ARITH_EXTUI : IR_ARITH_EXTSI;
    return emit(b, kind, to, 1, &value);
}

static bool casts_unsigned(const IrOp *op) {
    const IrAttr *attr = ir_op_attr(op, "cast");
    return attr && attr->kind == IR_ATTR_STRING && str_equal(attr->str, "cast_unsigned");
}

// The value the body yields.
static IrValue *build_body(BodyBuilder *b, const IrOp *op) {
    IrValue *in = b->block->args[0], *acc = b->block->args[b->block->num_args - 1];
    bool is_unsigned = casts_unsigned(op), is_float = ir_type_is_float(acc->type);
    IrValue *x = cast(b, in, acc->type, is_unsigned);
    IrOpKind combiner = ir_linalg_combiner(op);
    if (combiner == NUM_IR_OP_KINDS) return x; // fill, copy, transpose, broadcast
    if (ir_op_info(op->kind)->traits & IR_POOLING) return emit_binary(b, combiner, acc, x);
    IrValue *y = cast(b, b->block->args[1], acc->type, is_unsigned);
    IrValue *product = emit_binary(b, is_float ? IR_ARITH_MULF : IR_ARITH_MULI, x, y);
    return emit_binary(b, combiner, acc, product);
}

static void add_loops(IrModule *m, const IrOp *op, IrOp *generic) {
    const IrAttr **maps = ARENA_ARRAY(&m->arena, const IrAttr *, op->num_operands);
    for (uint32_t i = 0; i < op->num_operands; i++)
        maps[i] = ir_attr_map(m, ir_linalg_map(m, op, i));
    uint32_t num_loops = ir_linalg_num_loops(op);
    const IrAttr **types = ARENA_ARRAY(&m->arena, const IrAttr *, num_loops + 1);
    for (uint32_t i = 0; i < num_loops; i++)
        types[i] =
            ir_attr_string(m, ir_linalg_iterator(op, i) == IR_PARALLEL ? "parallel" : "reduction");
    ir_op_set_attr(m, generic, "indexing_maps", ir_attr_array(m, op->num_operands, maps));
    ir_op_set_attr(m, generic, "iterator_types", ir_attr_array(m, num_loops, types));
}

static IrOp *create_generic(IrModule *m, const IrOp *op) {
    IrValue **operands = ARENA_ARRAY(&m->arena, IrValue *, op->num_operands);
    for (uint32_t i = 0; i < op->num_operands; i++) operands[i] = op->operands[i].value;
    const IrType **types = ARENA_ARRAY(&m->arena, const IrType *, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = op->results[i].type;
    IrOpSpec spec = {.kind = IR_LINALG_GENERIC,
                     .loc = op->loc,
                     .num_operands = op->num_operands,
                     .operands = operands,
                     .num_results = op->num_results,
                     .result_types = types,
                     .num_regions = 1};
    memcpy(spec.segments, op->segments, sizeof spec.segments);
    IrOp *generic = ir_op_create(m, &spec);
    for (uint32_t i = 0; i < op->num_attrs; i++)
        if (!ir_op_attr_is_inherent(op->kind, op->attrs[i].name))
            ir_op_set_attr(m, generic, op->attrs[i].name, op->attrs[i].attr);
    return generic;
}

IrOp *ir_linalg_generalize(IrModule *m, IrOp *op) {
    if (op->kind == IR_LINALG_GENERIC) return op;
    BUG_IF(!(ir_op_info(op->kind)->traits & IR_LINALG), "%s is not structured",
           ir_op_info(op->kind)->name);
    IrOp *generic = create_generic(m, op);
    add_loops(m, op, generic);
    if (op->kind == IR_LINALG_REDUCE) { // its region becomes the generic's
        generic->regions[0].first = op->regions[0].first;
        generic->regions[0].last = op->regions[0].last;
        FOR_EACH_BLOCK(block, &generic->regions[0]) block->region = &generic->regions[0];
        op->regions[0].first = op->regions[0].last = NULL;
    } else {
        IrBlock *block = ir_region_add_block(m, &generic->regions[0]);
        for (uint32_t i = 0; i < op->num_operands; i++)
            ir_block_add_arg(m, block, ir_type_elem(op->operands[i].value->type));
        BodyBuilder builder = {m, block, op->loc};
        IrValue *yielded = build_body(&builder, op);
        emit(&builder, IR_LINALG_YIELD, NULL, 1, &yielded);
    }
    ir_op_insert_before(generic, op);
    for (uint32_t i = 0; i < op->num_results; i++)
        ir_value_replace_all(&op->results[i], &generic->results[i]);
    ir_op_erase(m, op);
    return generic;
}
