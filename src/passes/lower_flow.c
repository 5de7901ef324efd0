// Structured control flow to blocks. Loops are rotated: the test stands at the end, with one guard
// in front of the loop where it may run no round at all.
//
//   scf.for %i = %lb to %ub step %s iter_args(%a = %x) { ... yield %n }
//   ->   guard: cond_br lb < ub, ^body(lb, x), ^exit(x)
//   ^body(i, a): ...; i' = i + s; cond_br i' < ub, ^body(i', n), ^exit(n)
//   ^exit(r):
#include "abi/kernel_abi.h"
#include "passes/lower_internal.h"

enum { MAX_REGION_DEPTH = 64 };

// ---------------------------------------------------------------- loops

static uint64_t low_gcd_of(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

Status low_loop_begin(Lowering *lo, LowIndex lb, LowIndex ub, LowIndex step, uint32_t num_iter,
                      IrValue *const *init, LowLoop *out_loop) {
    LowLoop loop = {.before = lo->block};
    loop.lb = low_index_value(lo, lb);
    loop.ub = low_index_value(lo, ub);
    loop.step = low_index_value(lo, step);
    loop.runs_once_at_least = !lb.value && !ub.value && lb.constant < ub.constant;
    if (!loop.runs_once_at_least) loop.guard = low_cmp(lo, IR_LLVM_ICMP, "slt", loop.lb, loop.ub);
    loop.body = low_add_block(lo);
    loop.iv = ir_block_add_arg(lo->m, loop.body, lo->i64);
    for (uint32_t i = 0; i < num_iter; i++) ir_block_add_arg(lo->m, loop.body, init[i]->type);
    lo->block = loop.body;
    *out_loop = loop;
    return STATUS_OK;
}

void low_loop_end(Lowering *lo, const LowLoop *loop, uint32_t num_iter, IrValue *const *init,
                  IrValue *const *next, IrValue **out_results) {
    IrValue **again = ARENA_ARRAY(&lo->arena, IrValue *, num_iter + 1);
    IrValue **first = ARENA_ARRAY(&lo->arena, IrValue *, num_iter + 1);
    again[0] = low_2(lo, IR_LLVM_ADD, loop->iv, loop->step);
    first[0] = loop->lb;
    for (uint32_t i = 0; i < num_iter; i++) {
        again[i + 1] = next[i];
        first[i + 1] = init[i];
    }
    IrValue *more = low_cmp(lo, IR_LLVM_ICMP, "slt", again[0], loop->ub);
    IrBlock *latch = lo->block, *exit = low_add_block(lo);
    for (uint32_t i = 0; i < num_iter; i++)
        out_results[i] = ir_block_add_arg(lo->m, exit, init[i]->type);
    low_cond_br(lo, latch, more, loop->body, num_iter + 1, again, exit, num_iter, again + 1);
    if (loop->guard)
        low_cond_br(lo, loop->before, loop->guard, loop->body, num_iter + 1, first, exit, num_iter,
                    first + 1);
    else
        low_br(lo, loop->before, loop->body, num_iter + 1, first);
    lo->block = exit;
}

static Status low_carried_type(Lowering *lo, const IrOp *op, const IrValue *value) {
    if (low_type(lo, value->type)) return STATUS_OK;
    return low_refuse(lo, op, "it carries a value that is neither a scalar nor a vector");
}

static Status low_loop_op(Lowering *lo, IrOp *op, LowIndex lb, LowIndex ub, LowIndex step,
                          uint32_t first_init) {
    IrBlock *body = ir_op_block(op, 0);
    uint32_t n = op->num_results;
    IrValue **init = ARENA_ARRAY(&lo->arena, IrValue *, n + 1);
    IrValue **next = ARENA_ARRAY(&lo->arena, IrValue *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        TRY(low_carried_type(lo, op, ir_op_result(op, i)));
        init[i] = low_value(lo, ir_op_operand(op, first_init + i));
    }
    LowLoop loop;
    const IrLoc *loc = lo->loc;
    TRY(low_loop_begin(lo, lb, ub, step, n, init, &loop));
    uint64_t multiple = low_gcd_of(low_index_multiple(lb), low_index_multiple(step));
    low_set_index(lo, body->args[0], low_index_of(loop.iv, multiple ? multiple : 1));
    for (uint32_t i = 0; i < n; i++) low_set_value(lo, body->args[i + 1], loop.body->args[i + 1]);
    TRY(low_block(lo, body));
    lo->loc = loc;
    for (uint32_t i = 0; i < n; i++)
        next[i] = low_value(lo, ir_op_operand(ir_block_terminator(body), i));
    IrValue **results = ARENA_ARRAY(&lo->arena, IrValue *, n + 1);
    low_loop_end(lo, &loop, n, init, next, results);
    for (uint32_t i = 0; i < n; i++) low_set_value(lo, ir_op_result(op, i), results[i]);
    return STATUS_OK;
}

Status low_for(Lowering *lo, IrOp *op) {
    if (op->kind == IR_AFFINE_FOR) {
        const IrAffineMap *lb = ir_op_attr(op, "lowerBoundMap")->map;
        const IrAffineMap *ub = ir_op_attr(op, "upperBoundMap")->map;
        uint32_t ub_first = ir_op_segment_start(op, 1);
        return low_loop_op(lo, op, low_affine_bound(lo, lb, op, 0, true),
                           low_affine_bound(lo, ub, op, ub_first, false),
                           low_index_const(ir_op_attr(op, "step")->i), ir_op_segment_start(op, 2));
    }
    if (ir_op_operand(op, 0)->type->kind != IR_TYPE_INDEX || ir_op_attr(op, "unsignedCmp"))
        return low_refuse(lo, op, "its bounds must be of type index, compared as signed");
    LowIndex step = low_index(lo, ir_op_operand(op, 2));
    if (!step.value && step.constant <= 0) return low_refuse(lo, op, "its step must be positive");
    return low_loop_op(lo, op, low_index(lo, ir_op_operand(op, 0)),
                       low_index(lo, ir_op_operand(op, 1)), step, 3);
}

// ---------------------------------------------------------------- if

// Lowers one branch from a fresh block; what it yields is left in out_yields.
static Status low_branch(Lowering *lo, IrOp *op, uint32_t region, IrBlock **out_first,
                         IrBlock **out_last, IrValue **out_yields) {
    IrBlock *old = ir_op_block(op, region);
    *out_first = lo->block = low_add_block(lo);
    TRY(low_block(lo, old));
    for (uint32_t i = 0; i < op->num_results; i++)
        out_yields[i] = low_value(lo, ir_op_operand(ir_block_terminator(old), i));
    *out_last = lo->block;
    return STATUS_OK;
}

Status low_if(Lowering *lo, IrOp *op) {
    uint32_t n = op->num_results;
    const IrLoc *loc = lo->loc;
    IrValue *cond = low_value(lo, ir_op_operand(op, 0));
    IrValue **yes = ARENA_ARRAY(&lo->arena, IrValue *, n + 1);
    IrValue **no = ARENA_ARRAY(&lo->arena, IrValue *, n + 1);
    for (uint32_t i = 0; i < n; i++) TRY(low_carried_type(lo, op, ir_op_result(op, i)));
    IrBlock *before = lo->block, *yes_first, *yes_last, *no_first = NULL, *no_last = NULL;
    TRY(low_branch(lo, op, 0, &yes_first, &yes_last, yes));
    bool has_else = op->num_regions > 1 && op->regions[1].first;
    if (has_else) TRY(low_branch(lo, op, 1, &no_first, &no_last, no));
    lo->loc = loc;
    IrBlock *join = low_add_block(lo);
    for (uint32_t i = 0; i < n; i++) {
        IrValue *arg = ir_block_add_arg(lo->m, join, yes[i]->type);
        low_set_value(lo, ir_op_result(op, i), arg);
    }
    low_cond_br(lo, before, cond, yes_first, 0, NULL, has_else ? no_first : join, 0, NULL);
    low_br(lo, yes_last, join, n, yes);
    if (has_else) low_br(lo, no_last, join, n, no);
    lo->block = join;
    return STATUS_OK;
}

// ---------------------------------------------------------------- dispatch

// ---------------------------------------------------------------- checks

// The value at fault as i64: the first operand of the comparison that failed; floats as f64.
static IrValue *low_fault_word(Lowering *lo, const IrOp *compare, IrValue *value) {
    const IrType *elem = ir_type_elem(ir_op_operand(compare, 0)->type);
    if (ir_type_is_float(elem)) {
        value = low_to_f32(lo, elem, value);
        if (value->type != lo->f64) value = low_1(lo, IR_LLVM_FPEXT, lo->f64, value);
        return low_1(lo, IR_LLVM_BITCAST, lo->i64, value);
    }
    bool is_unsigned = ir_op_attr(compare, "predicate")->str[0] == 'u';
    if (value->type == lo->i64) return value;
    return low_1(lo, is_unsigned ? IR_LLVM_ZEXT : IR_LLVM_SEXT, lo->i64, value);
}

// Of the lanes that failed the first one's.
static IrValue *low_first_lane(Lowering *lo, IrValue *ok, IrValue *values) {
    int64_t n = low_lanes(values->type);
    IrValue *value = low_lane(lo, values, n - 1);
    for (int64_t i = n - 1; i-- > 0;)
        value = low_select(lo, low_lane(lo, ok, i), value, low_lane(lo, values, i));
    return value;
}

static IrValue *low_fault_value(Lowering *lo, const IrValue *cond) {
    const IrOp *op = cond->def_op;
    const IrValue *lanes = op && op->kind == IR_VECTOR_REDUCTION ? ir_op_operand(op, 0) : NULL;
    if (lanes) op = lanes->def_op;
    if (!op || (op->kind != IR_ARITH_CMPI && op->kind != IR_ARITH_CMPF))
        return low_const_int(lo, lo->i64, 0);
    IrValue *value = low_value(lo, ir_op_operand(op, 0));
    if (lanes) value = low_first_lane(lo, low_value(lo, lanes), value);
    return low_fault_word(lo, op, value);
}

static IrValue *low_fault_address(Lowering *lo, int64_t word, int64_t *out_align) {
    LowIndex stride = low_index_const(1), index = low_index_const(word);
    MemDesc record = {.base = lo->entry->args[KERNEL_NUM_PARAMS],
                      .base_align = 8,
                      .elem = lo->i64,
                      .rank = 1,
                      .strides = &stride};
    return low_address(lo, &record, &index, out_align);
}

// A check that fails leaves its number and the value in the worker's record, unless a kernel before
// has, and ends the kernel. Assertions without a number live in the interpreter alone.
static Status low_assert(Lowering *lo, IrOp *op) {
    const IrAttr *check = ir_op_attr(op, "ingot.check");
    if (!check) return STATUS_OK;
    const IrValue *cond = ir_op_operand(op, 0);
    IrValue *ok = low_value(lo, cond);
    IrBlock *before = lo->block, *failed = low_add_block(lo), *after = low_add_block(lo);
    low_cond_br(lo, before, ok, after, 0, NULL, failed, 0, NULL);
    lo->block = failed;
    const struct {
        int64_t word;
        IrValue *value;
    } parts[] = {{KERNEL_FAULT_CHECK, low_const_int(lo, lo->i64, check->i + 1)},
                 {KERNEL_FAULT_VALUE, low_fault_value(lo, cond)}};
    IrValue *is_first = NULL;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int64_t align;
        IrValue *address = low_fault_address(lo, parts[i].word, &align);
        IrValue *old = low_load(lo, lo->i64, address, align);
        if (!is_first)
            is_first = low_cmp(lo, IR_LLVM_ICMP, "eq", old, low_const_int(lo, lo->i64, 0));
        low_store(lo, low_select(lo, is_first, parts[i].value, old), address, align);
    }
    low_op(lo, IR_LLVM_RETURN, NULL, 0, NULL, 0, NULL);
    lo->block = after;
    return STATUS_OK;
}

static Status low_ub_poison(Lowering *lo, IrOp *op) {
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    if (!type) return low_refuse(lo, op, "its type has no form at this level");
    low_set_value(lo, ir_op_result(op, 0), low_poison(lo, type));
    return STATUS_OK;
}

// The rule of every op that may stand in a kernel.
static LowerFn low_rule(const IrOp *op) {
    switch (op->kind) {
    case IR_SCF_FOR:
    case IR_AFFINE_FOR: return low_for;
    case IR_SCF_IF: return low_if;
    case IR_AFFINE_APPLY: return low_affine_apply;
    case IR_AFFINE_MIN:
    case IR_AFFINE_MAX: return low_affine_minmax;
    case IR_CF_ASSERT: return low_assert;
    case IR_UB_POISON: return low_ub_poison;
    case IR_LLVM_CALL_INTRINSIC: return low_intrinsic;
    case IR_MEMREF_VIEW:
    case IR_MEMREF_SUBVIEW:
    case IR_MEMREF_REINTERPRET_CAST:
    case IR_MEMREF_CAST:
    case IR_MEMREF_EXPAND_SHAPE:
    case IR_MEMREF_COLLAPSE_SHAPE:
    case IR_MEMREF_ASSUME_ALIGNMENT: return low_view_op;
    case IR_MEMREF_LOAD:
    case IR_MEMREF_STORE:
    case IR_MEMREF_PREFETCH:
    case IR_MEMREF_ALLOCA:
    case IR_MEMREF_DIM:
    case IR_MEMREF_GET_GLOBAL:
    case IR_MEMREF_COPY:
    case IR_AFFINE_LOAD:
    case IR_AFFINE_STORE: return low_memref_op;
    case IR_AFFINE_VECTOR_LOAD:
    case IR_AFFINE_VECTOR_STORE:
    case IR_VECTOR_LOAD:
    case IR_VECTOR_STORE:
    case IR_VECTOR_TRANSFER_READ:
    case IR_VECTOR_TRANSFER_WRITE:
    case IR_VECTOR_MASKEDLOAD:
    case IR_VECTOR_MASKEDSTORE: return low_vector_access;
    default: break;
    }
    if (op->kind >= IR_ARITH_CONSTANT && op->kind <= IR_ARITH_INDEX_CASTUI) return low_arith;
    if (op->kind >= IR_MATH_EXP && op->kind <= IR_MATH_FMA) return low_math;
    if (op->kind >= IR_VECTOR_CREATE_MASK && op->kind <= IR_VECTOR_STEP) return low_vector;
    return NULL;
}

Status low_block(Lowering *lo, IrBlock *block) {
    if (++lo->depth > MAX_REGION_DEPTH) {
        return diag_error(lo->sink, DIAG_B0001, ir_loc_span(lo->loc),
                          "loops and branches nested more than %d deep", MAX_REGION_DEPTH);
    }
    for (IrOp *op = block->first; op && op != block->last; op = op->next) {
        LowerFn rule = low_rule(op);
        lo->loc = op->loc;
        if (!rule) return low_refuse(lo, op, "an earlier pass must have removed it");
        TRY(rule(lo, op));
    }
    lo->depth--;
    return STATUS_OK;
}
