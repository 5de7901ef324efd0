// split-buckets: one entry function per bucket, with the token dimension fixed to the bucket's size
// and the number of valid tokens as a new last argument %n. Every function on the way is cloned and
// gets %n too. Sizes of tensors become the bucket; everywhere else the token count is %n.
//
//   func.func @forward(%ids: tensor<?xi32>, ...)
//   -> func.func @forward_s1(%ids: tensor<1xi32>, ..., %n: index) attributes {ingot.bucket = 1 :
//   i64}
//      func.func @forward_s512(%ids: tensor<512xi32>, ..., %n: index) attributes {ingot.bucket =
//      512}
//
// An entry of batches (ingot.batch) is cloned for each number of sequences, and %n counts those.
// Entries of a module compiled from text take tensors whose sizes have names: split_sizes.c.
// Rows at and after %n hold unspecified numbers: no result of a valid row depends on them.
// Needs: refined.  Keeps: packed.  Exact for the valid rows.
#include <stdlib.h>
#include <string.h>

#include "passes/build.h"
#include "passes/mutate.h"
#include "passes/entry.h"
#include "passes/pass.h"
#include "passes/sizes.h"

typedef struct Split {
    IrModule *m;
    int64_t bucket;
    bool is_batch;
    IrOp **from, **to; // functions cloned so far for this bucket
    uint32_t num_funcs;
} Split;

static bool is_dynamic(const IrType *type) {
    return ir_type_is_shaped(type) && !ir_type_is_static(type);
}

static const IrType *fix_type(Split *s, const IrType *type) {
    if (!is_dynamic(type)) return type;
    int64_t shape[16];
    for (uint32_t i = 0; i < type->rank; i++)
        shape[i] = type->shape[i] == IR_DYNAMIC ? s->bucket : type->shape[i];
    return ir_type_tensor(s->m, type->rank, shape, type->elem);
}

// Turns dynamic entries of a static_* array that belong to sizes into the bucket, dropping the
// operand.
static void fix_sizes(Split *s, IrOp *op, const char *attr_name, uint32_t segment) {
    const IrAttr *attr = ir_op_attr(op, attr_name);
    if (!attr) return;
    int64_t values[16];
    BUG_IF(attr->num_values > ARRAY_LEN(values), "rank too large");
    for (size_t i = 0; i < attr->num_values; i++)
        values[i] = attr->values[i] == IR_DYNAMIC ? s->bucket : attr->values[i];
    while (op->segments[segment] > 0) ir_op_remove_operand(op, ir_op_segment_start(op, segment));
    ir_op_set_attr(s->m, op, attr_name,
                   ir_attr_dense_array(s->m, attr->type, attr->num_values, values));
}

static void fix_op(Split *s, IrOp *op, IrValue *n) {
    bool was_dynamic = false;
    for (uint32_t i = 0; i < op->num_results; i++) {
        was_dynamic |= is_dynamic(op->results[i].type);
        op->results[i].type = fix_type(s, op->results[i].type);
    }
    switch (op->kind) {
    case IR_TENSOR_EMPTY:
        while (op->num_operands > 0) ir_op_remove_operand(op, 0);
        break;
    case IR_TENSOR_EXTRACT_SLICE:
        if (was_dynamic) fix_sizes(s, op, "static_sizes", 2);
        break;
    case IR_TENSOR_INSERT_SLICE: fix_sizes(s, op, "static_sizes", 2); break;
    case IR_TENSOR_EXPAND_SHAPE:
        if (was_dynamic) fix_sizes(s, op, "static_output_shape", 1);
        break;
    default: break;
    }
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r]) {
            for (uint32_t i = 0; i < block->num_args; i++)
                block->args[i]->type = fix_type(s, block->args[i]->type);
            FOR_EACH_OP_SAFE(inner, block) fix_op(s, inner, n);
        }
}

// The token counts: tensor.dim of an unknown size is %n. Runs before the types are fixed.
static void fix_dims(Split *s, IrBlock *block, IrValue *n) {
    IrModule *m = s->m;
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) fix_dims(s, inner, n);
        int64_t dim;
        if (op->kind != IR_TENSOR_DIM || !ir_value_constant_int(ir_op_operand(op, 1), &dim))
            continue;
        const IrType *type = ir_op_operand(op, 0)->type;
        if (dim < 0 || dim >= type->rank || type->shape[dim] != IR_DYNAMIC) continue;
        Builder b = build_before(m, op);
        IrValue *count = MUTATED(LOST_MASK) ? build_index(&b, s->bucket) : n;
        ir_value_replace_all(ir_op_result(op, 0), count);
        ir_op_erase(m, op);
    }
}

static IrOp *clone_func(Split *s, IrOp *func);

static void fix_calls(Split *s, IrBlock *block, IrValue *n) {
    FOR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) fix_calls(s, inner, n);
        if (op->kind != IR_FUNC_CALL) continue;
        IrOp *callee = ir_call_callee(s->m, op);
        if (!callee || !ir_func_body(callee)) continue;
        IrOp *clone = clone_func(s, callee);
        ir_op_set_attr(s->m, op, "callee", ir_attr_symbol(s->m, ir_symbol_name(clone)));
        ir_op_add_operand(s->m, op, 0, n);
    }
}

static IrOp *clone_func(Split *s, IrOp *func) {
    for (uint32_t i = 0; i < s->num_funcs; i++)
        if (s->from[i] == func) return s->to[i];
    IrModule *m = s->m;
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *clone = ir_op_clone(m, func, &map);
    ir_value_map_deinit(&map);
    const char *name = arena_printf(&m->arena, "%s_%c%lld", ir_symbol_name(func),
                                    s->is_batch ? 'b' : 's', (long long)s->bucket);
    ir_op_set_attr(m, clone, "sym_name", ir_attr_string(m, ir_symbol_unique(m, name)));
    ir_op_insert_before(clone, func);
    s->from[s->num_funcs] = func;
    s->to[s->num_funcs++] = clone;
    IrBlock *body = ir_func_body(clone);
    ir_func_edit_begin(clone);
    IrValue *n = ir_func_insert_arg(m, clone, body->num_args, ir_type_index(m));
    fix_dims(s, body, n);
    fix_calls(s, body, n);
    for (uint32_t i = 0; i < body->num_args; i++) {
        body->args[i]->type = fix_type(s, body->args[i]->type);
        ir_func_set_arg_attr(m, clone, i, "ingot.range", NULL);
    }
    FOR_EACH_OP_SAFE(op, body) fix_op(s, op, n);
    // A cast between equal types says nothing any more.
    FOR_EACH_OP_SAFE(op, body)
    if (op->kind == IR_TENSOR_CAST && ir_op_operand(op, 0)->type == op->results[0].type) {
        ir_value_replace_all(ir_op_result(op, 0), ir_op_operand(op, 0));
        ir_op_erase(m, op);
    }
    ir_func_edit_end(m, clone);
    return clone;
}

static Status split_entries(IrModule *m, DiagSink *sink) {
    FOR_EACH_OP_SAFE(func, ir_module_body(m))
    if (entry_takes_tensors(m, func) && sizes_are_unknown(func)) TRY(split_sizes(m, func, sink));
    return STATUS_OK;
}

static void split_for(IrModule *m, Split *s, IrOp *const *funcs, uint32_t num_funcs) {
    s->from = ARENA_ARRAY(&m->arena, IrOp *, num_funcs);
    s->to = ARENA_ARRAY(&m->arena, IrOp *, num_funcs);
    for (uint32_t i = 0; i < num_funcs; i++) {
        if (ir_op_attr(funcs[i], "sym_visibility") || entry_is_batch(funcs[i]) != s->is_batch)
            continue;
        IrOp *entry = clone_func(s, funcs[i]);
        ir_op_set_attr(m, entry, "ingot.bucket", ir_attr_i64(m, s->bucket));
    }
}

Status pass_split_buckets(IrModule *m, DiagSink *sink) {
    PassConfig config;
    TRY(pass_config_read(m, sink, &config));
    if (config.num_buckets == 0) return split_entries(m, sink);
    uint32_t num_originals = 0, num_ops = 0;
    FOR_EACH_OP(op, ir_module_body(m)) num_ops++;
    IrOp **originals = ARENA_ARRAY(&m->arena, IrOp *, num_ops);
    bool has_entry = false; // one without a bucket
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (func->kind != IR_FUNC_FUNC || !ir_func_body(func)) continue;
        has_entry |= !ir_op_attr(func, "sym_visibility") && !ir_op_attr(func, "ingot.bucket");
        originals[num_originals++] = func;
    }
    if (!has_entry) return STATUS_OK;
    for (uint32_t b = 0; b < config.num_buckets; b++)
        split_for(m, &(Split){.m = m, .bucket = config.buckets[b]}, originals, num_originals);
    for (uint32_t b = 0; b < config.num_batches; b++)
        split_for(m, &(Split){.m = m, .bucket = config.batches[b], .is_batch = true}, originals,
                  num_originals);
    // Callers first: an original is erased once nothing names it.
    for (uint32_t i = num_originals; i-- > 0;) ir_op_erase(m, originals[i]);
    return STATUS_OK;
}
