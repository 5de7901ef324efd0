// Vector accesses to memory, and machine intrinsics. A vector of rank n is read row by row along
// its last dimension; parts outside the buffer or masked off are left alone.
#include "passes/lower_internal.h"

typedef struct Access {
    IrOp *op;
    const MemDesc *desc;
    const IrType *vector;             // the level-2 type
    LowIndex indices[LOWER_MAX_RANK]; // of the first element
    IrValue *mask;                    // lowered, all lanes; NULL: none
    bool in_bounds[LOWER_MAX_RANK];   // per vector dimension
} Access;

static Status low_access_init(Lowering *lo, IrOp *op, const IrValue *memref, const IrType *vector,
                              uint32_t first_index, Access *out_access) {
    MemDesc *desc;
    TRY(low_memref(lo, op, memref, &desc));
    const IrType *elem = low_type(lo, desc->elem);
    if (vector->kind != IR_TYPE_VECTOR || vector->rank > desc->rank || !low_type(lo, vector))
        return low_refuse(lo, op, "the vector does not fit the buffer's shape");
    if (vector->elem != desc->elem || !elem || elem == lo->i1)
        return low_refuse(lo, op, "vectors of this element type cannot be in memory");
    const IrAttr *map = ir_op_attr(op, "map");
    *out_access = (Access){.op = op, .desc = desc, .vector = vector};
    for (uint32_t d = 0; d < desc->rank; d++) {
        out_access->indices[d] = map ? low_affine(lo, map->map, d, op, first_index)
                                     : low_index(lo, ir_op_operand(op, first_index + d));
    }
    for (uint32_t d = 0; d < vector->rank; d++) out_access->in_bounds[d] = true;
    if (vector->rank) {
        LowIndex inner = desc->strides[desc->rank - 1];
        if (inner.value || inner.constant != 1)
            return low_refuse(lo, op, "the buffer's last dimension must have stride 1");
    }
    return STATUS_OK;
}

static int64_t low_row_lanes(const Access *a) {
    return a->vector->rank ? a->vector->shape[a->vector->rank - 1] : 1;
}

static int64_t low_num_rows(const Access *a) {
    return ir_type_num_elems(a->vector) / low_row_lanes(a);
}

static IrValue *low_and(Lowering *lo, IrValue *a, IrValue *b) {
    return a ? low_2(lo, IR_LLVM_AND, a, b) : b;
}

// Indices of row r, and in out_inside whether it lies in the buffer (NULL: known to).
static void low_row_start(Lowering *lo, const Access *a, int64_t r, LowIndex *out_at,
                          IrValue **out_inside) {
    uint32_t rank = a->desc->rank, lead = rank - a->vector->rank;
    for (uint32_t d = 0; d < rank; d++) out_at[d] = a->indices[d];
    *out_inside = NULL;
    for (uint32_t v = a->vector->rank; v-- > 0;) {
        bool is_row = v + 1 < a->vector->rank;
        if (is_row) {
            out_at[lead + v] =
                low_index_add(lo, out_at[lead + v], low_index_const(r % a->vector->shape[v]));
            r /= a->vector->shape[v];
        }
        if (is_row && !a->in_bounds[v]) {
            IrValue *at = low_index_value(lo, out_at[lead + v]);
            IrValue *size = low_index_value(lo, a->desc->sizes[lead + v]);
            *out_inside = low_and(lo, *out_inside, low_cmp(lo, IR_LLVM_ICMP, "ult", at, size));
        }
    }
}

// Mask of row r: its part of the given mask, the row inside, the lanes inside; NULL: all lanes.
static IrValue *low_row_mask(Lowering *lo, const Access *a, int64_t r, IrValue *inside) {
    int64_t n = low_row_lanes(a);
    IrValue *mask = NULL;
    if (a->mask && low_num_rows(a) == 1) mask = a->mask;
    if (a->mask && !mask) {
        int64_t *lanes = ARENA_ARRAY(&lo->arena, int64_t, (size_t)n);
        for (int64_t i = 0; i < n; i++) lanes[i] = r * n + i;
        mask = low_shuffle(lo, a->mask, NULL, n, lanes);
    }
    if (inside) mask = low_and(lo, mask, low_splat(lo, n, inside));
    if (a->vector->rank && !a->in_bounds[a->vector->rank - 1]) {
        uint32_t last = a->desc->rank - 1;
        LowIndex left = low_index_sub(lo, a->desc->sizes[last], a->indices[last]);
        const IrType *i32s = low_vec(lo, n, lo->i32);
        int32_t *steps = ARENA_ARRAY(&lo->arena, int32_t, (size_t)n);
        for (int64_t i = 0; i < n; i++) steps[i] = (int32_t)i;
        IrValue *step =
            low_const_attr(lo, ir_attr_dense(lo->m, i32s, steps, (size_t)n * 4, n == 1));
        IrValue *count =
            low_2(lo, IR_LLVM_INTR_SMAX, low_index_value(lo, left), low_const_int(lo, lo->i64, 0));
        count = low_2(lo, IR_LLVM_INTR_SMIN, count, low_const_int(lo, lo->i64, n));
        count = low_1(lo, IR_LLVM_TRUNC, lo->i32, count);
        mask = low_and(lo, mask, low_cmp(lo, IR_LLVM_ICMP, "slt", step, low_splat(lo, n, count)));
    }
    return mask;
}

static IrValue *low_masked_load(Lowering *lo, IrValue *ptr, IrValue *mask, IrValue *fill,
                                int64_t align) {
    IrNamedAttr attr = {"alignment", ir_attr_int(lo->m, align, lo->i32)};
    IrValue *operands[] = {ptr, mask, fill};
    return ir_op_result(low_op(lo, IR_LLVM_INTR_MASKED_LOAD, fill->type, 3, operands, 1, &attr), 0);
}

static void low_masked_store(Lowering *lo, IrValue *value, IrValue *ptr, IrValue *mask,
                             int64_t align) {
    IrNamedAttr attr = {"alignment", ir_attr_int(lo->m, align, lo->i32)};
    IrValue *operands[] = {value, ptr, mask};
    low_op(lo, IR_LLVM_INTR_MASKED_STORE, NULL, 3, operands, 1, &attr);
}

static IrValue *low_row_of(Lowering *lo, const Access *a, IrValue *all, int64_t r) {
    int64_t n = low_row_lanes(a);
    if (low_num_rows(a) == 1) return all;
    int64_t *lanes = ARENA_ARRAY(&lo->arena, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) lanes[i] = r * n + i;
    return low_shuffle(lo, all, NULL, n, lanes);
}

// All rows as one vector: lanes of the parts in order.
static IrValue *low_join_rows(Lowering *lo, IrValue **rows, int64_t num_rows, int64_t n) {
    int64_t *lanes = ARENA_ARRAY(&lo->arena, int64_t, (size_t)(num_rows * n));
    IrValue *all = rows[0];
    for (int64_t r = 1; r < num_rows; r++) {
        int64_t have = r * n;
        for (int64_t i = 0; i < have; i++) lanes[i] = i < n ? i : -1;
        IrValue *wide = r == 1 ? rows[r] : low_shuffle(lo, rows[r], NULL, have, lanes);
        for (int64_t i = 0; i < have + n; i++) lanes[i] = i < have ? i : have + (i - have);
        all = low_shuffle(lo, all, wide, have + n, lanes);
    }
    return all;
}

// fill: what lanes outside or masked off get (a whole vector); NULL if there are none.
static IrValue *low_read(Lowering *lo, const Access *a, IrValue *fill) {
    int64_t n = low_row_lanes(a), num_rows = low_num_rows(a);
    const IrType *row_type = low_vec(lo, n, low_type(lo, a->vector->elem));
    IrValue **rows = ARENA_ARRAY(&lo->arena, IrValue *, (size_t)num_rows);
    for (int64_t r = 0; r < num_rows; r++) {
        LowIndex at[LOWER_MAX_RANK];
        IrValue *inside;
        int64_t align;
        low_row_start(lo, a, r, at, &inside);
        IrValue *mask = low_row_mask(lo, a, r, inside);
        IrValue *ptr = low_address(lo, a->desc, at, &align);
        rows[r] = mask ? low_masked_load(lo, ptr, mask, low_row_of(lo, a, fill, r), align)
                       : low_load(lo, row_type, ptr, align);
    }
    return low_join_rows(lo, rows, num_rows, n);
}

static void low_write(Lowering *lo, const Access *a, IrValue *value) {
    for (int64_t r = 0; r < low_num_rows(a); r++) {
        LowIndex at[LOWER_MAX_RANK];
        IrValue *inside;
        int64_t align;
        low_row_start(lo, a, r, at, &inside);
        IrValue *mask = low_row_mask(lo, a, r, inside);
        IrValue *ptr = low_address(lo, a->desc, at, &align);
        IrValue *row = low_row_of(lo, a, value, r);
        if (mask)
            low_masked_store(lo, row, ptr, mask, align);
        else
            low_store(lo, row, ptr, align);
    }
}

// ---------------------------------------------------------------- the ops

static Status low_plain(Lowering *lo, IrOp *op) {
    bool is_load = op->kind == IR_VECTOR_LOAD || op->kind == IR_AFFINE_VECTOR_LOAD;
    const IrValue *memref = ir_op_operand(op, is_load ? 0 : 1);
    const IrType *type = is_load ? ir_op_result(op, 0)->type : ir_op_operand(op, 0)->type;
    Access a;
    TRY(low_access_init(lo, op, memref, type, is_load ? 1 : 2, &a));
    if (is_load) return low_set_result(lo, op, low_read(lo, &a, NULL));
    low_write(lo, &a, low_value(lo, ir_op_operand(op, 0)));
    return STATUS_OK;
}

static Status low_masked(Lowering *lo, IrOp *op) {
    bool is_load = op->kind == IR_VECTOR_MASKEDLOAD;
    uint32_t mask_at = op->num_operands - 2, value_at = op->num_operands - 1;
    Access a;
    TRY(low_access_init(lo, op, ir_op_operand(op, 0), ir_op_operand(op, value_at)->type, 1, &a));
    a.mask = low_value(lo, ir_op_operand(op, mask_at));
    IrValue *value = low_value(lo, ir_op_operand(op, value_at));
    if (is_load) return low_set_result(lo, op, low_read(lo, &a, value));
    low_write(lo, &a, value);
    return STATUS_OK;
}

// Only the map that drops leading dimensions; others are a shuffle an earlier pass writes.
static Status low_transfer_map(Lowering *lo, const IrOp *op, Access *a) {
    const IrAttr *map = ir_op_attr(op, "permutation_map"), *bounds = ir_op_attr(op, "in_bounds");
    uint32_t lead = a->desc->rank - a->vector->rank, dim;
    for (uint32_t v = 0; v < a->vector->rank; v++) {
        bool is_minor = !map || (ir_affine_is_dim(map->map->results[v], &dim) && dim == lead + v);
        if (!is_minor) return low_refuse(lo, op, "its map must be the minor identity");
        a->in_bounds[v] = bounds && v < bounds->num_elems && bounds->elems[v]->i;
        // A constant position inside a static buffer needs no test.
        LowIndex at = a->indices[lead + v], size = a->desc->sizes[lead + v];
        if (!at.value && !size.value && at.constant >= 0 &&
            at.constant <= size.constant - a->vector->shape[v])
            a->in_bounds[v] = true;
    }
    return STATUS_OK;
}

static Status low_transfer(Lowering *lo, IrOp *op) {
    bool is_read = op->kind == IR_VECTOR_TRANSFER_READ;
    const IrValue *memref = ir_op_operand(op, is_read ? 0 : 1);
    const IrType *type = is_read ? ir_op_result(op, 0)->type : ir_op_operand(op, 0)->type;
    Access a;
    TRY(low_access_init(lo, op, memref, type, is_read ? 1 : 2, &a));
    TRY(low_transfer_map(lo, op, &a));
    uint32_t mask_at = 2 + a.desc->rank; // after padding, or after the indices of a write
    if (op->num_operands > mask_at) a.mask = low_value(lo, ir_op_operand(op, mask_at));
    if (!is_read) {
        low_write(lo, &a, low_value(lo, ir_op_operand(op, 0)));
        return STATUS_OK;
    }
    IrValue *padding = low_value(lo, ir_op_operand(op, 1 + a.desc->rank));
    IrValue *fill = low_splat(lo, ir_type_num_elems(type), padding);
    return low_set_result(lo, op, low_read(lo, &a, fill));
}

Status low_vector_access(Lowering *lo, IrOp *op) {
    switch (op->kind) {
    case IR_VECTOR_MASKEDLOAD:
    case IR_VECTOR_MASKEDSTORE: return low_masked(lo, op);
    case IR_VECTOR_TRANSFER_READ:
    case IR_VECTOR_TRANSFER_WRITE: return low_transfer(lo, op);
    default: return low_plain(lo, op);
    }
}

// ---------------------------------------------------------------- intrinsics

// An intrinsic takes and gives the types it was written with; bf16, an i16 here, is cast around it.
static const IrType *low_intrinsic_type(Lowering *lo, const IrType *old, const IrType *type) {
    return ir_type_elem(old)->kind == IR_TYPE_BF16 ? low_like(lo, type, ir_type_elem(old)) : type;
}

Status low_intrinsic(Lowering *lo, IrOp *op) {
    if (op->num_results > 1) return low_refuse(lo, op, "it has more than one result");
    IrValue **operands = ARENA_ARRAY(&lo->arena, IrValue *, op->num_operands + 1);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *old = ir_op_operand(op, i)->type;
        IrValue *value = low_value(lo, ir_op_operand(op, i));
        const IrType *type = low_intrinsic_type(lo, old, value->type);
        operands[i] = type == value->type ? value : low_1(lo, IR_LLVM_BITCAST, type, value);
    }
    IrNamedAttr attr = {"intrin", ir_op_attr(op, "intrin")};
    if (op->num_results == 0) {
        low_op(lo, IR_LLVM_CALL_INTRINSIC, NULL, op->num_operands, operands, 1, &attr);
        return STATUS_OK;
    }
    const IrType *old = ir_op_result(op, 0)->type, *type = low_type(lo, old);
    if (!type) return low_refuse(lo, op, "its result type has no form at this level");
    const IrType *raw = low_intrinsic_type(lo, old, type);
    IrOp *made = low_op(lo, IR_LLVM_CALL_INTRINSIC, raw, op->num_operands, operands, 1, &attr);
    IrValue *result = ir_op_result(made, 0);
    if (raw != type) result = low_1(lo, IR_LLVM_BITCAST, type, result);
    return low_set_result(lo, op, result);
}
