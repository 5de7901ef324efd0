// vector ops without memory. At level 3 a vector of any rank is one-dimensional, its elements in
// row-major order: shape_cast is nothing, and moves between shapes are one shufflevector each.
#include "passes/lower_internal.h"

static int64_t *low_lane_list(Lowering *lo, int64_t n) {
    return ARENA_ARRAY(&lo->arena, int64_t, (size_t)n);
}

static int64_t low_num_elems(const IrType *type) {
    return type->kind == IR_TYPE_VECTOR ? ir_type_num_elems(type) : 1;
}

// Lanes [first, first + n) of a vector; the scalar itself if to is a scalar type.
static IrValue *low_slice(Lowering *lo, IrValue *vector, int64_t first, const IrType *to) {
    int64_t n = low_lanes(to);
    if (n == 0) return low_lane(lo, vector, first);
    if (n == low_lanes(vector->type)) return vector;
    int64_t *lanes = low_lane_list(lo, n);
    for (int64_t i = 0; i < n; i++) lanes[i] = first + i;
    return low_shuffle(lo, vector, NULL, n, lanes);
}

// vector with lanes [first, ...) replaced by part (a scalar or a vector).
static IrValue *low_put_slice(Lowering *lo, IrValue *vector, IrValue *part, int64_t first) {
    int64_t n = low_lanes(vector->type), k = low_lanes(part->type);
    if (k == 0) return low_set_lane(lo, vector, part, first);
    if (k == n) return part;
    int64_t *lanes = low_lane_list(lo, n);
    for (int64_t i = 0; i < n; i++) lanes[i] = i < k ? i : -1;
    IrValue *wide = low_shuffle(lo, part, NULL, n, lanes);
    for (int64_t i = 0; i < n; i++) lanes[i] = i >= first && i < first + k ? n + i - first : i;
    return low_shuffle(lo, vector, wide, n, lanes);
}

// ---------------------------------------------------------------- broadcast, masks

static Status low_broadcast(Lowering *lo, IrOp *op) {
    const IrType *from = ir_op_operand(op, 0)->type, *to = ir_op_result(op, 0)->type;
    IrValue *value = low_value(lo, ir_op_operand(op, 0));
    int64_t n = ir_type_num_elems(to);
    if (!low_type(lo, to)) return low_refuse(lo, op, "its result type has no form at this level");
    if (from->kind != IR_TYPE_VECTOR) return low_set_result(lo, op, low_splat(lo, n, value));
    int64_t *lanes = low_lane_list(lo, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, lane = 0, scale = 1;
        for (uint32_t d = to->rank, s = from->rank; d-- > 0;) {
            int64_t coord = rest % to->shape[d];
            rest /= to->shape[d];
            if (s == 0) continue;
            s--;
            if (from->shape[s] != 1) lane += coord * scale;
            scale *= from->shape[s];
        }
        lanes[i] = lane;
    }
    return low_set_result(lo, op, low_shuffle(lo, value, NULL, n, lanes));
}

// For one dimension of the mask: is the lane's coordinate below the operand?
static IrValue *low_mask_dim(Lowering *lo, const IrType *type, uint32_t d, LowIndex bound) {
    int64_t n = ir_type_num_elems(type), inner = 1, size = type->shape[d];
    for (uint32_t k = d + 1; k < type->rank; k++) inner *= type->shape[k];
    const IrType *vec = low_vec(lo, n, lo->i32);
    int32_t *coords = ARENA_ARRAY(&lo->arena, int32_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) coords[i] = (int32_t)(i / inner % size);
    IrValue *lane = low_const_attr(lo, ir_attr_dense(lo->m, vec, coords, (size_t)n * 4, n == 1));
    IrValue *limit = low_index_value(lo, bound);
    limit = low_2(lo, IR_LLVM_INTR_SMAX, limit, low_const_int(lo, lo->i64, 0));
    limit = low_2(lo, IR_LLVM_INTR_SMIN, limit, low_const_int(lo, lo->i64, size));
    limit = low_1(lo, IR_LLVM_TRUNC, lo->i32, limit);
    return low_cmp(lo, IR_LLVM_ICMP, "slt", lane, low_splat(lo, n, limit));
}

static Status low_create_mask(Lowering *lo, IrOp *op) {
    const IrType *type = ir_op_result(op, 0)->type;
    if (!low_type(lo, type) || type->rank == 0)
        return low_refuse(lo, op, "its type has no form at this level");
    IrValue *mask = NULL;
    for (uint32_t d = 0; d < type->rank; d++) {
        IrValue *part = low_mask_dim(lo, type, d, low_index(lo, ir_op_operand(op, d)));
        mask = mask ? low_2(lo, IR_LLVM_AND, mask, part) : part;
    }
    return low_set_result(lo, op, mask);
}

static Status low_step(Lowering *lo, IrOp *op) {
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    if (!type) return low_refuse(lo, op, "its type has no form at this level");
    int64_t n = low_lanes(type);
    int64_t *values = low_lane_list(lo, n);
    for (int64_t i = 0; i < n; i++) values[i] = i;
    const IrAttr *attr = ir_attr_dense(lo->m, type, values, (size_t)n * 8, n == 1);
    return low_set_result(lo, op, low_const_attr(lo, attr));
}

// ---------------------------------------------------------------- reductions

typedef struct Reduction {
    const char *kind;
    IrOpKind int_op;   // of two scalars; the same name serves floats where is_float
    IrOpKind reduce;   // the intrinsic on integers
    IrOpKind float_op; // arith op on floats
} Reduction;

static const Reduction reductions[] = {
    {"add", IR_LLVM_ADD, IR_LLVM_INTR_VECTOR_REDUCE_ADD, IR_ARITH_ADDF},
    {"mul", IR_LLVM_MUL, IR_LLVM_INTR_VECTOR_REDUCE_MUL, IR_ARITH_MULF},
    {"and", IR_LLVM_AND, IR_LLVM_INTR_VECTOR_REDUCE_AND, NUM_IR_OP_KINDS},
    {"or", IR_LLVM_OR, IR_LLVM_INTR_VECTOR_REDUCE_OR, NUM_IR_OP_KINDS},
    {"xor", IR_LLVM_XOR, IR_LLVM_INTR_VECTOR_REDUCE_XOR, NUM_IR_OP_KINDS},
    {"minsi", IR_LLVM_INTR_SMIN, IR_LLVM_INTR_VECTOR_REDUCE_SMIN, NUM_IR_OP_KINDS},
    {"maxsi", IR_LLVM_INTR_SMAX, IR_LLVM_INTR_VECTOR_REDUCE_SMAX, NUM_IR_OP_KINDS},
    {"minui", IR_LLVM_INTR_UMIN, IR_LLVM_INTR_VECTOR_REDUCE_UMIN, NUM_IR_OP_KINDS},
    {"maxui", IR_LLVM_INTR_UMAX, IR_LLVM_INTR_VECTOR_REDUCE_UMAX, NUM_IR_OP_KINDS},
    {"maximumf", NUM_IR_OP_KINDS, NUM_IR_OP_KINDS, IR_ARITH_MAXIMUMF},
    {"minimumf", NUM_IR_OP_KINDS, NUM_IR_OP_KINDS, IR_ARITH_MINIMUMF},
    {"maxnumf", NUM_IR_OP_KINDS, NUM_IR_OP_KINDS, IR_ARITH_MAXNUMF},
    {"minnumf", NUM_IR_OP_KINDS, NUM_IR_OP_KINDS, IR_ARITH_MINNUMF},
};

static IrValue *low_reduce_step(Lowering *lo, IrOpKind kind, const IrType *elem, IrValue *a,
                                IrValue *b) {
    a = low_to_f32(lo, elem, a);
    b = low_to_f32(lo, elem, b);
    IrValue *r = kind == IR_ARITH_ADDF   ? low_2(lo, IR_LLVM_FADD, a, b)
                 : kind == IR_ARITH_MULF ? low_2(lo, IR_LLVM_FMUL, a, b)
                                         : low_max_min(lo, kind, a, b);
    return low_from_f32(lo, elem, r);
}

// Minimum or maximum of all lanes by halves: its value does not depend on the order.
static IrValue *low_reduce_halves(Lowering *lo, IrOpKind kind, const IrType *elem,
                                  IrValue *vector) {
    for (int64_t n = low_lanes(vector->type) / 2; n > 0; n /= 2) {
        const IrType *half = low_vec(lo, n > 1 ? n : 0, vector->type->elem);
        vector = low_reduce_step(lo, kind, elem, low_slice(lo, vector, 0, half),
                                 low_slice(lo, vector, n, half));
    }
    return vector;
}

// Sums and products of floats: lane by lane in ascending order, from the accumulator if there is
// one. A pass that wants a tree writes it with shuffles.
static Status low_reduction(Lowering *lo, IrOp *op) {
    const IrType *type = ir_op_operand(op, 0)->type;
    const char *kind = ir_op_attr(op, "kind")->str;
    const Reduction *rule = NULL;
    for (size_t i = 0; i < ARRAY_LEN(reductions); i++) {
        if (str_equal(reductions[i].kind, kind)) rule = &reductions[i];
    }
    bool is_float = ir_type_is_float(type->elem);
    if (!rule || (is_float ? rule->float_op : rule->int_op) == NUM_IR_OP_KINDS)
        return low_refuse(lo, op, "no reduction \"%s\" of this element type", kind);
    IrValue *vector = low_value(lo, ir_op_operand(op, 0));
    IrValue *acc = op->num_operands > 1 ? low_value(lo, ir_op_operand(op, 1)) : NULL;
    if (!is_float) {
        IrValue *r = low_1(lo, rule->reduce, vector->type->elem, vector);
        return low_set_result(lo, op, acc ? low_2(lo, rule->int_op, acc, r) : r);
    }
    int64_t n = low_lanes(vector->type);
    bool is_ordered = rule->float_op == IR_ARITH_ADDF || rule->float_op == IR_ARITH_MULF;
    if (!is_ordered && n > 1 && (n & (n - 1)) == 0) {
        IrValue *r = low_reduce_halves(lo, rule->float_op, type->elem, vector);
        return low_set_result(lo, op,
                              acc ? low_reduce_step(lo, rule->float_op, type->elem, acc, r) : r);
    }
    for (int64_t i = 0; i < n; i++) {
        IrValue *lane = low_lane(lo, vector, i);
        acc = acc ? low_reduce_step(lo, rule->float_op, type->elem, acc, lane) : lane;
    }
    return low_set_result(lo, op, acc);
}

// ---------------------------------------------------------------- extract, insert

// First flat lane of a static position; false if the position is dynamic or outside.
static bool low_position(const IrOp *op, const IrType *vector, int64_t *out_lane) {
    const IrAttr *position = ir_op_attr(op, "static_position");
    int64_t lane = 0;
    for (uint32_t d = 0; d < vector->rank; d++) {
        int64_t at = d < position->num_values ? position->values[d] : 0;
        if (at < 0 || at >= vector->shape[d]) return false; // IR_DYNAMIC too
        lane = lane * vector->shape[d] + at;
    }
    *out_lane = lane;
    return true;
}

// The only dynamic position served: one operand into a 1-D vector.
static IrValue *low_dynamic_position(Lowering *lo, const IrOp *op, const IrType *vector,
                                     uint32_t operand) {
    if (vector->rank != 1 || op->num_operands != operand + 1) return NULL;
    return low_value(lo, ir_op_operand(op, operand));
}

static Status low_extract(Lowering *lo, IrOp *op) {
    const IrType *type = ir_op_operand(op, 0)->type, *to = low_type(lo, ir_op_result(op, 0)->type);
    IrValue *vector = low_value(lo, ir_op_operand(op, 0));
    int64_t lane;
    if (!to) return low_refuse(lo, op, "its result type has no form at this level");
    if (low_position(op, type, &lane))
        return low_set_result(lo, op, low_slice(lo, vector, lane, to));
    IrValue *at = low_dynamic_position(lo, op, type, 1);
    if (!at) return low_refuse(lo, op, "a run-time position needs a one-dimensional vector");
    IrOp *made = low_op(lo, IR_LLVM_EXTRACTELEMENT, vector->type->elem, 2,
                        (IrValue *[]){vector, at}, 0, NULL);
    return low_set_result(lo, op, ir_op_result(made, 0));
}

static Status low_insert(Lowering *lo, IrOp *op) {
    const IrType *type = ir_op_result(op, 0)->type;
    IrValue *part = low_value(lo, ir_op_operand(op, 0));
    IrValue *vector = low_value(lo, ir_op_operand(op, 1));
    int64_t lane;
    if (low_position(op, type, &lane))
        return low_set_result(lo, op, low_put_slice(lo, vector, part, lane));
    IrValue *at = low_dynamic_position(lo, op, type, 2);
    if (!at) return low_refuse(lo, op, "a run-time position needs a one-dimensional vector");
    IrOp *made = low_op(lo, IR_LLVM_INSERTELEMENT, vector->type, 3, (IrValue *[]){vector, part, at},
                        0, NULL);
    return low_set_result(lo, op, ir_op_result(made, 0));
}

static Status low_from_elements(Lowering *lo, IrOp *op) {
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    if (!type) return low_refuse(lo, op, "its type has no form at this level");
    bool is_splat = true;
    for (uint32_t i = 1; i < op->num_operands; i++)
        is_splat = is_splat && ir_op_operand(op, i) == ir_op_operand(op, 0);
    if (is_splat)
        return low_set_result(lo, op,
                              low_splat(lo, low_lanes(type), low_value(lo, ir_op_operand(op, 0))));
    IrValue *vector = low_poison(lo, type);
    for (uint32_t i = 0; i < op->num_operands; i++)
        vector = low_set_lane(lo, vector, low_value(lo, ir_op_operand(op, i)), i);
    return low_set_result(lo, op, vector);
}

static Status low_to_elements(Lowering *lo, IrOp *op) {
    IrValue *vector = low_value(lo, ir_op_operand(op, 0));
    for (uint32_t i = 0; i < op->num_results; i++)
        low_set_value(lo, ir_op_result(op, i), low_lane(lo, vector, i));
    return STATUS_OK;
}

// ---------------------------------------------------------------- shuffles

// The mask picks slices along the first dimension of the two operands laid end to end.
static Status low_shuffle_op(Lowering *lo, IrOp *op) {
    const IrAttr *mask = ir_op_attr(op, "mask");
    const IrType *t1 = ir_op_operand(op, 0)->type, *t2 = ir_op_operand(op, 1)->type;
    const IrType *to = low_type(lo, ir_op_result(op, 0)->type);
    if (!to) return low_refuse(lo, op, "its result type has no form at this level");
    IrValue *a = low_value(lo, ir_op_operand(op, 0)), *b = low_value(lo, ir_op_operand(op, 1));
    int64_t n1 = low_num_elems(t1), n2 = low_num_elems(t2), wide = MAX(n1, n2);
    int64_t rows1 = t1->rank ? t1->shape[0] : 1, inner = n1 / rows1;
    IrValue **shorter = n1 < n2 ? &a : &b; // shufflevector wants equal types
    if (n1 != n2) {
        int64_t *pad = low_lane_list(lo, wide);
        for (int64_t i = 0; i < wide; i++) pad[i] = i < MIN(n1, n2) ? i : -1;
        *shorter = low_shuffle(lo, *shorter, NULL, wide, pad);
    }
    int64_t *lanes = low_lane_list(lo, low_lanes(to));
    for (size_t r = 0; r < mask->num_values; r++) {
        for (int64_t k = 0; k < inner; k++) {
            int64_t row = mask->values[r], lane = row * inner + k;
            if (row >= rows1) lane = wide + (row - rows1) * inner + k;
            lanes[(int64_t)r * inner + k] = row < 0 ? -1 : lane;
        }
    }
    return low_set_result(lo, op, low_shuffle(lo, a, b, low_lanes(to), lanes));
}

static Status low_interleave(Lowering *lo, IrOp *op) {
    IrValue *a = low_value(lo, ir_op_operand(op, 0)), *b = low_value(lo, ir_op_operand(op, 1));
    int64_t n = low_lanes(a->type), *lanes = low_lane_list(lo, 2 * n);
    for (int64_t i = 0; i < n; i++) {
        lanes[2 * i] = i;
        lanes[2 * i + 1] = n + i;
    }
    return low_set_result(lo, op, low_shuffle(lo, a, b, 2 * n, lanes));
}

static Status low_deinterleave(Lowering *lo, IrOp *op) {
    IrValue *a = low_value(lo, ir_op_operand(op, 0));
    int64_t n = low_lanes(a->type) / 2;
    for (int64_t odd = 0; odd < 2; odd++) {
        int64_t *lanes = low_lane_list(lo, n);
        for (int64_t i = 0; i < n; i++) lanes[i] = 2 * i + odd;
        IrValue *half = low_shuffle(lo, a, NULL, n, lanes);
        low_set_value(lo, ir_op_result(op, (uint32_t)odd), half);
    }
    return STATUS_OK;
}

static Status low_bitcast(Lowering *lo, IrOp *op) {
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    IrValue *a = low_value(lo, ir_op_operand(op, 0));
    if (!type || type->elem == lo->i1 || a->type->elem == lo->i1)
        return low_refuse(lo, op, "its types have no form at this level");
    return low_set_result(lo, op, a->type == type ? a : low_1(lo, IR_LLVM_BITCAST, type, a));
}

static Status low_vector_fma(Lowering *lo, IrOp *op) {
    if (low_is_small_float(ir_type_elem(ir_op_result(op, 0)->type)))
        return low_refuse(lo, op, "16-bit floats have no fma");
    IrValue *a = low_value(lo, ir_op_operand(op, 0)), *b = low_value(lo, ir_op_operand(op, 1));
    return low_set_result(lo, op, low_fma(lo, a, b, low_value(lo, ir_op_operand(op, 2))));
}

Status low_vector(Lowering *lo, IrOp *op) {
    switch (op->kind) {
    case IR_VECTOR_CREATE_MASK: return low_create_mask(lo, op);
    case IR_VECTOR_BROADCAST: return low_broadcast(lo, op);
    case IR_VECTOR_FMA: return low_vector_fma(lo, op);
    case IR_VECTOR_REDUCTION: return low_reduction(lo, op);
    case IR_VECTOR_EXTRACT: return low_extract(lo, op);
    case IR_VECTOR_INSERT: return low_insert(lo, op);
    case IR_VECTOR_SHAPE_CAST: return low_set_result(lo, op, low_value(lo, ir_op_operand(op, 0)));
    case IR_VECTOR_FROM_ELEMENTS: return low_from_elements(lo, op);
    case IR_VECTOR_TO_ELEMENTS: return low_to_elements(lo, op);
    case IR_VECTOR_BITCAST: return low_bitcast(lo, op);
    case IR_VECTOR_SHUFFLE: return low_shuffle_op(lo, op);
    case IR_VECTOR_INTERLEAVE: return low_interleave(lo, op);
    case IR_VECTOR_DEINTERLEAVE: return low_deinterleave(lo, op);
    case IR_VECTOR_STEP: return low_step(lo, op);
    case IR_VECTOR_CONTRACT: return low_contract(lo, op);
    default: return low_refuse(lo, op, "no rule for it");
    }
}
