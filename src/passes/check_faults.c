// check-faults: after it, nothing in a module compiled from text can reach outside of a tensor,
// divide by zero, shift or convert to a value that does not exist, or loop for ever, whatever the
// inputs hold. What intervals of values prove (value_range.h) stays as it is. Else the op gets a
// value with which it cannot fail, and an assertion tells that it would have:
//
//   %x = tensor.extract %t[%i] : tensor<10xf32>
//   ->  %ok = arith.cmpi ult, %i, %c10 : index
//       cf.assert %ok, "index of tensor.extract at ..." {ingot.check = 0}
//       %j = arith.minui %i, %c9 : index
//       %x = tensor.extract %t[%j] : tensor<10xf32>
//
// Machine code records the first assertion that fails; the call then gives no results. The module
// lists all that was looked at: ingot.checks. The executor checks what language models are given,
// so their modules stay as they are.
//
// Needs: canonical. Keeps: all. Exact: equal to the bit for inputs with which nothing fails.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "passes/check_faults.h"
#include "passes/entry.h"
#include "passes/pass.h"

// ---------------------------------------------------------------- accesses by index

// index < size; proven, or asserted and clamped.
static void check_index(Checks *c, IrOp *op, uint32_t operand, int64_t dim, int64_t size) {
    IrValue *index = ir_op_operand(op, operand);
    Fault fault = {.kind = FAULT_INDEX, .numbers = {dim, size}};
    ValueRange r = value_range_at(c->m, index, op);
    if (r.min >= 0 && r.max < size) {
        checks_proven(c, op, &fault, r);
        return;
    }
    Builder b = build_before(c->m, op);
    checks_assert(c, &b, op, &fault, build_cmpi(&b, "ult", index, build_index(&b, size)));
    IrValue *last = build_index(&b, MAX(size, 1) - 1);
    ir_op_set_operand(op, operand, build_binary(&b, IR_ARITH_MINUI, index, last));
}

// An element of a tensor that has none: the assertion always fails, and nothing is read.
static void drop_access(Checks *c, IrOp *op) {
    Builder b = build_before(c->m, op);
    IrValue *value =
        op->kind == IR_TENSOR_INSERT ? ir_op_operand(op, 1) : build_zero(&b, op->results[0].type);
    ir_value_replace_all(ir_op_result(op, 0), value);
    ir_op_erase(c->m, op);
}

static Status check_element(Checks *c, IrOp *op, uint32_t tensor) {
    const IrType *type = ir_op_operand(op, tensor)->type;
    if (!ir_type_is_static(type)) return STATUS_OK; // bufferize refuses it
    for (uint32_t d = 0; d < type->rank; d++) check_index(c, op, tensor + 1 + d, d, type->shape[d]);
    if (ir_type_num_elems(type) == 0) drop_access(c, op);
    return STATUS_OK;
}

// ---------------------------------------------------------------- slices

// One dimension of a slice; an operand number of 0 stands for a constant.
typedef struct SliceDim {
    int64_t dim, of; // number and size of the dimension
    int64_t offset, size, stride;
    uint32_t offset_at, stride_at;
} SliceDim;

static void put_numbers(Fault *fault, FaultKind kind, int64_t a, int64_t b, int64_t c, int64_t d) {
    *fault = (Fault){.kind = kind, .numbers = {a, b, c, d}};
}

// 0 <= offset and offset + (size - 1) * stride < of, for a constant stride of at least 0.
static Status check_offset(Checks *c, IrOp *op, const SliceDim *s) {
    int64_t span, last;
    bool fits = s->stride >= 0 && s->size >= 0 &&
                !__builtin_mul_overflow(MAX(s->size, 1) - 1, s->stride, &span);
    last = fits ? s->of - span - (s->size > 0) : -1; // greatest offset
    if (last < 0)
        return diag_error(c->sink, DIAG_P0005, ir_loc_span(op->loc),
                          "%s: no offset along dimension %lld makes %lld elements by %lld fit %lld",
                          checks_op_name(op), (long long)s->dim, (long long)s->size,
                          (long long)s->stride, (long long)s->of);
    IrValue *offset = ir_op_operand(op, s->offset_at);
    Fault fault;
    put_numbers(&fault, FAULT_SLICE, s->dim, s->size, s->stride, s->of);
    ValueRange r = value_range_at(c->m, offset, op);
    if (r.min >= 0 && r.max <= last) {
        checks_proven(c, op, &fault, r);
        return STATUS_OK;
    }
    Builder b = build_before(c->m, op);
    IrValue *limit = build_index(&b, last);
    checks_assert(c, &b, op, &fault, build_cmpi(&b, "ule", offset, limit));
    ir_op_set_operand(op, s->offset_at, build_binary(&b, IR_ARITH_MINUI, offset, limit));
    return STATUS_OK;
}

// A stride known at run time only: between -offset / (size - 1) and (of - 1 - offset) / (size - 1).
static Status check_stride(Checks *c, IrOp *op, SliceDim *s) {
    SliceDim one = *s;
    one.size = s->size > 0;
    one.stride = 1;
    if (s->offset_at) TRY(check_offset(c, op, &one));
    if (s->size < 2) return STATUS_OK;
    Builder b = build_before(c->m, op);
    IrValue *stride = ir_op_operand(op, s->stride_at);
    IrValue *offset = s->offset_at ? ir_op_operand(op, s->offset_at) : build_index(&b, s->offset);
    IrValue *gaps = build_index(&b, s->size - 1);
    IrValue *room = build_binary(&b, IR_ARITH_SUBI, build_index(&b, s->of - 1), offset);
    IrValue *most = build_binary(&b, IR_ARITH_DIVUI, room, gaps);
    IrValue *least = build_binary(&b, IR_ARITH_SUBI, build_index(&b, 0),
                                  build_binary(&b, IR_ARITH_DIVUI, offset, gaps));
    Fault fault;
    put_numbers(&fault, FAULT_STRIDE, s->dim, s->of, s->size, 0);
    checks_assert(c, &b, op, &fault, build_cmpi(&b, "sle", stride, most));
    checks_assert(c, &b, op, &fault, build_cmpi(&b, "sge", stride, least));
    stride = build_binary(&b, IR_ARITH_MINSI, stride, most);
    ir_op_set_operand(op, s->stride_at, build_binary(&b, IR_ARITH_MAXSI, stride, least));
    return STATUS_OK;
}

// tensor: number of the operand that is cut.
static Status check_slice(Checks *c, IrOp *op, uint32_t tensor) {
    const IrType *type = ir_op_operand(op, tensor)->type;
    const int64_t *offsets = ir_op_attr(op, "static_offsets")->values,
                  *sizes = ir_op_attr(op, "static_sizes")->values,
                  *strides = ir_op_attr(op, "static_strides")->values;
    uint32_t offset_at = ir_op_segment_start(op, 1), stride_at = ir_op_segment_start(op, 3);
    for (uint32_t d = 0; d < type->rank; d++) {
        SliceDim s = {d, type->shape[d], offsets[d], sizes[d], strides[d], 0, 0};
        if (s.offset == IR_DYNAMIC) s.offset_at = offset_at++;
        if (s.stride == IR_DYNAMIC) s.stride_at = stride_at++;
        if (!s.offset_at && !s.stride_at) continue;               // the verifier has looked at it
        if (s.size == IR_DYNAMIC || s.of == IR_DYNAMIC) continue; // bufferize refuses it
        TRY(s.stride_at ? check_stride(c, op, &s) : check_offset(c, op, &s));
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- numbers

// The divisor is not 0, and not -1 where the dividend is the least number.
static void check_division(Checks *c, IrOp *op, bool is_signed) {
    IrValue *a = ir_op_operand(op, 0), *d = ir_op_operand(op, 1);
    ValueRange all = value_range_of_type(a->type);
    ValueRange ra = value_range_at(c->m, a, op), rd = value_range_at(c->m, d, op);
    Fault zero = {.kind = FAULT_ZERO}, overflow = {.kind = FAULT_OVERFLOW, .numbers = {all.min}};
    bool has_zero = rd.min <= 0 && rd.max >= 0;
    bool overflows = is_signed && ra.min == all.min && rd.min <= -1 && rd.max >= -1;
    if (!has_zero) checks_proven(c, op, &zero, rd);
    if (is_signed && !overflows) checks_proven(c, op, &overflow, ra);
    if (!has_zero && !overflows) return;
    Builder b = build_before(c->m, op);
    IrValue *ok = NULL;
    if (has_zero) {
        ok = build_cmpi(&b, "ne", d, build_zero(&b, d->type));
        checks_assert(c, &b, op, &zero, ok);
    }
    if (overflows) {
        IrValue *small = build_cmpi(&b, "ne", a, build_int(&b, all.min, a->type));
        IrValue *other = build_cmpi(&b, "ne", d, build_int(&b, -1, d->type));
        IrValue *fine = build_binary(&b, IR_ARITH_ORI, small, other);
        checks_assert(c, &b, op, &overflow, fine);
        ok = ok ? build_binary(&b, IR_ARITH_ANDI, ok, fine) : fine;
    }
    ir_op_set_operand(op, 1, build_select(&b, ok, d, build_int(&b, 1, d->type)));
    bool has_no_one = overflows && ir_type_bits(d->type) == 1; // i1: the 1 is a -1
    if (has_no_one) ir_op_set_operand(op, 0, build_select(&b, ok, a, build_zero(&b, a->type)));
}

static void check_shift(Checks *c, IrOp *op) {
    IrValue *by = ir_op_operand(op, 1);
    int64_t bits = ir_type_bits(by->type);
    Fault fault = {.kind = FAULT_SHIFT, .numbers = {bits}};
    ValueRange r = value_range_at(c->m, by, op);
    if (r.min >= 0 && r.max < bits) {
        checks_proven(c, op, &fault, r);
        return;
    }
    Builder b = build_before(c->m, op);
    bool is_one = bits == 1; // its only amount is 0, and 1 is no number of the type
    IrValue *most = build_int(&b, is_one ? 0 : bits - 1, by->type);
    checks_assert(c, &b, op, &fault, build_cmpi(&b, "ule", by, most));
    ir_op_set_operand(op, 1, build_binary(&b, IR_ARITH_MINUI, by, most));
}

// Whole numbers that a float type holds without gaps: up to 2^digits.
static uint32_t digits_of(const IrType *type) {
    switch (type->kind) {
    case IR_TYPE_F16: return 11;
    case IR_TYPE_BF16: return 8;
    case IR_TYPE_F32: return 24;
    default: return 53;
    }
}

static int64_t whole_part(double x) {
    return x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

// The value, cut to a whole number, is one of the integer type.
static void check_conversion(Checks *c, IrOp *op, bool is_signed) {
    IrValue *value = ir_op_operand(op, 0);
    uint32_t bits = ir_type_bits(op->results[0].type);
    double limit = ldexp(1.0, (int)(is_signed ? bits - 1 : bits)), least = is_signed ? -limit : 0;
    Fault fault = {.kind = FAULT_CONVERT, .numbers = {bits}};
    FloatRange r = value_range_float(c->m, value);
    if (!r.may_be_nan && r.min > least - 1 && r.max < limit) {
        checks_proven(c, op, &fault, (ValueRange){whole_part(r.min), whole_part(r.max)});
        return;
    }
    Builder b = build_before(c->m, op);
    // Where the type has no number between the least and the one below, the least is the limit.
    bool is_exact = !is_signed || bits <= digits_of(value->type);
    IrValue *low = build_float(&b, is_exact ? least - 1 : least, value->type);
    IrValue *high = build_float(&b, limit, value->type); // infinite for f16 and wide integers
    IrValue *above = build_cmpf(&b, is_exact ? "ogt" : "oge", value, low);
    IrValue *below = build_cmpf(&b, "olt", value, high);
    checks_assert(c, &b, op, &fault, above);
    checks_assert(c, &b, op, &fault, below);
    IrValue *ok = build_binary(&b, IR_ARITH_ANDI, above, below);
    ir_op_set_operand(op, 0, build_select(&b, ok, value, build_zero(&b, value->type)));
}

// ---------------------------------------------------------------- loops

// A step of at least 1, and no overflow behind the last round, which is at most that of end - 1.
static void check_loop(Checks *c, IrOp *op) {
    IrValue *end = ir_op_operand(op, 1), *step = ir_op_operand(op, 2);
    if (step->type->kind != IR_TYPE_INDEX) return; // lower-target refuses it
    Fault by = {.kind = FAULT_STEP}, bound = {.kind = FAULT_BOUND};
    ValueRange rs = value_range_at(c->m, step, op), re = value_range_at(c->m, end, op);
    int64_t last;
    bool has_room = !__builtin_add_overflow(re.max, MAX(rs.max, 1) - 1, &last);
    if (rs.min > 0) checks_proven(c, op, &by, rs);
    if (has_room) checks_proven(c, op, &bound, re);
    if (rs.min > 0 && has_room) return;
    Builder b = build_before(c->m, op);
    if (rs.min <= 0) {
        checks_assert(c, &b, op, &by, build_cmpi(&b, "sgt", step, build_index(&b, 0)));
        step = build_binary(&b, IR_ARITH_MAXSI, step, build_index(&b, 1));
        ir_op_set_operand(op, 2, step);
    }
    if (has_room) return;
    IrValue *more = build_binary(&b, IR_ARITH_SUBI, step, build_index(&b, 1));
    IrValue *most = build_binary(&b, IR_ARITH_SUBI, build_index(&b, INT64_MAX), more);
    checks_assert(c, &b, op, &bound, build_cmpi(&b, "sle", end, most));
    ir_op_set_operand(op, 1, build_binary(&b, IR_ARITH_MINSI, end, most));
}

// ---------------------------------------------------------------- ops

static void check_assertion(Checks *c, IrOp *op) {
    int64_t known;
    const IrAttr *text = ir_op_attr(op, "msg");
    Fault fault = {.kind = FAULT_ASSERT,
                   .text = text && text->kind == IR_ATTR_STRING ? text->str : ""};
    if (ir_value_constant_int(ir_op_operand(op, 0), &known) && known)
        checks_proven(c, op, &fault, (ValueRange){known, known});
    else
        checks_mark(c, op, op, &fault);
}

// What else can fail does so for sizes that are not known, which bufferize refuses.
static Status check_other(Checks *c, const IrOp *op) {
    bool depends_on_sizes = op->kind == IR_TENSOR_DIM || op->kind == IR_TENSOR_CAST ||
                            op->kind == IR_TENSOR_EXPAND_SHAPE ||
                            op->kind == IR_TENSOR_COLLAPSE_SHAPE || op->kind == IR_TENSOR_PAD;
    if (!(ir_op_info(op->kind)->traits & IR_CAN_TRAP) || depends_on_sizes) return STATUS_OK;
    return diag_error(c->sink, DIAG_P0005, ir_loc_span(op->loc),
                      "%s can fail while it runs, and nothing checks it",
                      ir_op_info(op->kind)->name);
}

static bool has_vector(const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (ir_op_operand(op, i)->type->kind == IR_TYPE_VECTOR) return true;
    return op->num_results > 0 && op->results[0].type->kind == IR_TYPE_VECTOR;
}

static Status check_op(Checks *c, IrOp *op) {
    if (has_vector(op)) {
        Status status = diag_error(c->sink, DIAG_P0005, ir_loc_span(op->loc), "%s of vectors",
                                   ir_op_info(op->kind)->name);
        diag_evidence(c->sink, "modules that are compiled work on tensors and numbers");
        diag_write(c->sink, "a tensor, with its arithmetic in linalg.generic");
        return status;
    }
    switch (op->kind) {
    case IR_TENSOR_EXTRACT: return check_element(c, op, 0);
    case IR_TENSOR_INSERT: return check_element(c, op, 1);
    case IR_TENSOR_EXTRACT_SLICE: return check_slice(c, op, 0);
    case IR_TENSOR_INSERT_SLICE: return check_slice(c, op, 1);
    case IR_ARITH_DIVSI:
    case IR_ARITH_REMSI: check_division(c, op, true); return STATUS_OK;
    case IR_ARITH_DIVUI:
    case IR_ARITH_REMUI: check_division(c, op, false); return STATUS_OK;
    case IR_ARITH_SHLI:
    case IR_ARITH_SHRSI:
    case IR_ARITH_SHRUI: check_shift(c, op); return STATUS_OK;
    case IR_ARITH_FPTOSI:
    case IR_ARITH_FPTOUI: check_conversion(c, op, op->kind == IR_ARITH_FPTOSI); return STATUS_OK;
    case IR_SCF_FOR: check_loop(c, op); return STATUS_OK;
    case IR_CF_ASSERT: check_assertion(c, op); return STATUS_OK;
    case IR_AFFINE_APPLY:
    case IR_AFFINE_MIN:
    case IR_AFFINE_MAX: check_map(c, op); return STATUS_OK;
    default: return check_other(c, op);
    }
}

// ---------------------------------------------------------------- the pass

typedef struct Ops {
    IrOp **items;
    size_t num, capacity;
} Ops;

static void note_op(IrOp *op, void *ctx) {
    Ops *ops = ctx;
    ARRAY_RESERVE(ops->items, ops->num, ops->capacity);
    ops->items[ops->num++] = op;
}

Status pass_check_faults(IrModule *m, DiagSink *sink) {
    if (!module_is_text(m) || ir_op_attr(m->op, "ingot.checks")) return STATUS_OK;
    Checks c = {.m = m, .sink = sink};
    Ops ops = {0};
    ir_walk(m->op, note_op, &ops);
    Status status = STATUS_OK;
    for (size_t i = 0; i < ops.num && status == STATUS_OK; i++) status = check_op(&c, ops.items[i]);
    checks_finish(&c);
    free(ops.items);
    return status;
}
