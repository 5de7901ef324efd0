// scf.forall as loops that run one after another; of expand-tensors.
//
//   %r = scf.forall (%i) in (4) shared_outs(%o = %init) -> (tensor<8xf32>) {
//     %y = ...;  scf.forall.in_parallel { tensor.parallel_insert_slice %y into %o[%i * 2] [2] [1] }
//     }
//   -> %r = scf.for %i = 0 to 4 step 1 iter_args(%o = %init) {
//        %y = ...;  %n = tensor.insert_slice %y into %o[%i * 2] [2] [1];  yield %n }
//
// An iteration sees the shared tensors as they were before the loop. So what it reads of them is
// read of %init, unless it reads only the window that it overwrites and no other iteration has an
// element of that window: then the carried tensor has the same elements there, and the loop can
// work in place.
#include "passes/expand.h"

typedef struct Forall {
    IrModule *m;
    IrOp *op;
    IrBlock *body;
    uint32_t num_loops, num_shared, first_init;
} Forall;

// ---- windows

static bool is_loop_variable(const Forall *f, const IrValue *value, uint32_t loop) {
    return value == f->body->args[loop];
}

// Is the value factor * the loop's variable?
static bool is_multiple(const Forall *f, const IrValue *value, uint32_t loop, int64_t *out_factor) {
    *out_factor = 1;
    if (is_loop_variable(f, value, loop)) return true;
    const IrOp *op = value->def_op;
    if (!op || op->num_operands == 0 || !is_loop_variable(f, ir_op_operand(op, 0), loop))
        return false;
    if (op->kind == IR_ARITH_MULI)
        return ir_value_constant_int(ir_op_operand(op, 1), out_factor) && *out_factor > 0;
    if (op->kind != IR_AFFINE_APPLY || op->num_operands != 1) return false;
    const IrAffineExpr *e = ir_op_attr(op, "map")->map->results[0];
    if (e->kind != IR_AFFINE_MUL || e->rhs->kind != IR_AFFINE_CONST ||
        (e->lhs->kind != IR_AFFINE_DIM && e->lhs->kind != IR_AFFINE_SYMBOL))
        return false;
    *out_factor = e->rhs->value;
    return *out_factor > 0;
}

// Does the window of the insertion move by its own length, or more, with every round of the loop?
static bool moves_with(const Forall *f, const IrOp *insert, uint32_t loop) {
    const IrAttr *offsets = ir_op_attr(insert, "static_offsets");
    const int64_t *sizes = ir_op_attr(insert, "static_sizes")->values;
    const int64_t *strides = ir_op_attr(insert, "static_strides")->values;
    int64_t step = ir_op_attr(f->op, "staticStep")->values[loop], factor, by, last;
    uint32_t at = ir_op_segment_start(insert, 1);
    for (size_t d = 0; step > 0 && d < offsets->num_values; d++) {
        if (offsets->values[d] != IR_DYNAMIC) continue;
        const IrValue *offset = ir_op_operand(insert, at++);
        if (sizes[d] < 0 || strides[d] < 1 || !is_multiple(f, offset, loop, &factor)) continue;
        if (__builtin_mul_overflow(factor, step, &by) ||
            __builtin_mul_overflow(sizes[d] - 1, strides[d], &last))
            continue;
        if (by > last) return true;
    }
    return false;
}

static bool is_same_window(const IrOp *read, const IrOp *insert) {
    static const char *const parts[] = {"static_offsets", "static_sizes", "static_strides"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (ir_op_attr(read, parts[i]) != ir_op_attr(insert, parts[i])) return false;
    uint32_t num = read->num_operands - 1;
    if (insert->num_operands - 2 != num) return false;
    for (uint32_t i = 0; i < num; i++)
        if (ir_op_operand(read, 1 + i) != ir_op_operand(insert, 2 + i)) return false;
    return true;
}

static bool is_insertion(const IrOperand *use) {
    return use->owner->kind == IR_TENSOR_PARALLEL_INSERT_SLICE && use == &use->owner->operands[1];
}

// Does an iteration read of the shared tensor only what it alone overwrites?
static bool reads_own_window(const Forall *f, const IrValue *shared) {
    const IrOp *insert = NULL;
    FOR_EACH_USE(use, shared) {
        if (!is_insertion(use)) continue;
        if (insert) return false;
        insert = use->owner;
    }
    if (!insert) return false;
    FOR_EACH_USE(use, shared) {
        if (use->owner == insert) continue;
        if (use->owner->kind != IR_TENSOR_EXTRACT_SLICE || !is_same_window(use->owner, insert))
            return false;
    }
    for (uint32_t i = 0; i < f->num_loops; i++)
        if (!moves_with(f, insert, i)) return false;
    return true;
}

// Reads of shared tensors that are not of the iteration's own window are reads of the first values.
static void read_first_values(const Forall *f) {
    for (uint32_t i = 0; i < f->num_shared; i++) {
        IrValue *shared = f->body->args[f->num_loops + i];
        IrValue *init = ir_op_operand(f->op, f->first_init + i);
        if (reads_own_window(f, shared)) continue;
        for (IrOperand *use = shared->first_use, *next; use; use = next) {
            next = use->next_use;
            if (!is_insertion(use))
                ir_op_set_operand(use->owner, (uint32_t)(use - use->owner->operands), init);
        }
    }
}

// ---- loops

static IrValue *bound(Builder *b, const IrOp *op, const char *attr, uint32_t segment, uint32_t i) {
    const int64_t *values = ir_op_attr(op, attr)->values;
    uint32_t at = ir_op_segment_start(op, segment);
    if (values[i] != IR_DYNAMIC) return build_index(b, values[i]);
    for (uint32_t k = 0; k < i; k++) at += values[k] == IR_DYNAMIC;
    return ir_op_operand(op, at);
}

static IrValue *insert_slice(Builder *b, const IrOp *from, IrValue *into) {
    IrValue **operands = ARENA_ARRAY(&b->m->arena, IrValue *, from->num_operands);
    for (uint32_t i = 0; i < from->num_operands; i++) operands[i] = ir_op_operand(from, i);
    operands[1] = into;
    IrOpSpec spec = {.kind = IR_TENSOR_INSERT_SLICE,
                     .loc = from->loc,
                     .num_operands = from->num_operands,
                     .operands = operands,
                     .num_results = 1,
                     .result_types = &into->type,
                     .num_attrs = from->num_attrs,
                     .attrs = from->attrs,
                     .segments = {2, from->segments[1], from->segments[2], from->segments[3]}};
    IrOp *insert = build_op_full(b, &spec);
    ir_op_set_attr(b->m, insert, "ingot.written",
                   ir_attr_string(b->m, ir_op_info(from->kind)->name));
    return ir_op_result(insert, 0);
}

// The body goes where b stands, with the carried tensors for the shared ones; *carried becomes what
// the iteration leaves.
static void move_body(Forall *f, Builder *b, IrValue *const *variables, IrValue **carried) {
    IrOp *end = ir_block_terminator(f->body);
    for (uint32_t i = 0; i < f->num_loops; i++)
        ir_value_replace_all(f->body->args[i], variables[i]);
    FOR_EACH_OP_SAFE(op, f->body) {
        if (op == end) continue;
        ir_op_unlink(op);
        if (b->before)
            ir_op_insert_before(op, b->before);
        else
            ir_block_append(b->block, op);
    }
    const IrBlock *inserts = end->num_regions ? end->regions[0].first : NULL;
    IrValue **first = ARENA_ARRAY(&f->m->arena, IrValue *, f->num_shared);
    for (uint32_t i = 0; i < f->num_shared; i++) first[i] = carried[i];
    for (const IrOp *op = inserts ? inserts->first : NULL; op; op = op->next) {
        if (op->kind != IR_TENSOR_PARALLEL_INSERT_SLICE) continue;
        uint32_t shared = ir_op_operand(op, 1)->number - f->num_loops;
        carried[shared] = insert_slice(b, op, carried[shared]);
    }
    for (uint32_t i = 0; i < f->num_shared; i++) {
        IrValue *shared = f->body->args[f->num_loops + i];
        ir_value_replace_all(shared, first[i]);
    }
}

void expand_forall(IrModule *m, IrOp *op) {
    Forall f = {.m = m,
                .op = op,
                .body = ir_op_block(op, 0),
                .num_loops = (uint32_t)ir_op_attr(op, "staticUpperBound")->num_values,
                .num_shared = op->num_results,
                .first_init = ir_op_segment_start(op, 3)};
    read_first_values(&f);
    uint32_t n = f.num_loops, depth = 0;
    IrValue **lower = ARENA_ARRAY(&m->arena, IrValue *, n),
            **upper = ARENA_ARRAY(&m->arena, IrValue *, n),
            **step = ARENA_ARRAY(&m->arena, IrValue *, n),
            **at = ARENA_ARRAY(&m->arena, IrValue *, n),
            **carried = ARENA_ARRAY(&m->arena, IrValue *, f.num_shared);
    IrOp **loops = ARENA_ARRAY(&m->arena, IrOp *, n);
    Builder b = build_before(m, op);
    for (uint32_t i = 0; i < n; i++) {
        lower[i] = bound(&b, op, "staticLowerBound", 0, i);
        upper[i] = bound(&b, op, "staticUpperBound", 1, i);
        step[i] = bound(&b, op, "staticStep", 2, i);
    }
    for (uint32_t i = 0; i < f.num_shared; i++) carried[i] = ir_op_operand(op, f.first_init + i);
    for (; depth < n; depth++) {
        Builder inner;
        loops[depth] =
            build_for(&b, lower[depth], upper[depth], step[depth], f.num_shared, carried, &inner);
        const IrBlock *block = ir_op_block(loops[depth], 0);
        at[depth] = block->args[0];
        for (uint32_t i = 0; i < f.num_shared; i++) carried[i] = block->args[1 + i];
        b = inner;
    }
    move_body(&f, &b, at, carried);
    while (depth > 0) {
        build_yield(&b, IR_SCF_YIELD, f.num_shared, carried);
        const IrOp *loop = loops[--depth];
        for (uint32_t i = 0; i < f.num_shared; i++) carried[i] = ir_op_result(loop, i);
        if (depth > 0) b = build_at_end(m, ir_op_block(loops[depth - 1], 0), op->loc);
    }
    for (uint32_t i = 0; i < f.num_shared; i++)
        ir_value_replace_all(ir_op_result(op, i), carried[i]);
    ir_op_erase(m, op);
}
