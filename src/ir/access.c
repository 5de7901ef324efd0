// The access pattern of an operand; see access.h.
#include "ir/access.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/plan.h"
#include "ir/access_index.h"
#include "ir/print.h"

enum { MAX_RANK = 16, MAX_VIEWS = 32, NUM_BANKS = 32, BANK_BYTES = 4 };

static int64_t times(int64_t a, int64_t b) {
    int64_t out;
    if (a == IR_DYNAMIC || b == IR_DYNAMIC || __builtin_mul_overflow(a, b, &out)) return IR_DYNAMIC;
    return out;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t out;
    if (a == IR_DYNAMIC || b == IR_DYNAMIC || __builtin_add_overflow(a, b, &out)) return IR_DYNAMIC;
    return out;
}

// ---- layout: strides of a value's dimensions, through views of a tensor

static void row_major(const IrType *type, int64_t *strides) {
    int64_t stride = 1;
    for (uint32_t d = type->rank; d-- > 0;) {
        strides[d] = stride;
        stride = times(stride, type->shape[d]);
    }
}

static void strides_of(const IrValue *value, uint32_t depth, int64_t *out);

// Dimensions of size 1 that the result dropped carry no stride.
static void slice_strides(const IrOp *op, uint32_t depth, int64_t *out) {
    const IrType *from = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    const IrAttr *sizes = ir_op_attr(op, "static_sizes"), *by = ir_op_attr(op, "static_strides");
    int64_t source[MAX_RANK];
    strides_of(ir_op_operand(op, 0), depth + 1, source);
    uint32_t drop = from->rank - to->rank, r = 0;
    for (uint32_t d = 0; d < from->rank; d++) {
        bool is_kept = r < to->rank && to->shape[r] == 1;
        if (r == to->rank || (drop > 0 && sizes->values[d] == 1 && !is_kept)) {
            drop--;
            continue;
        }
        out[r++] = times(source[d], by->values[d]);
    }
    if (r != to->rank) row_major(to, out);
}

static void reshape_strides(const IrOp *op, uint32_t depth, int64_t *out) {
    const IrType *from = ir_op_operand(op, 0)->type, *to = op->results[0].type;
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    bool is_expand = op->kind == IR_TENSOR_EXPAND_SHAPE;
    int64_t source[MAX_RANK];
    strides_of(ir_op_operand(op, 0), depth + 1, source);
    for (uint32_t g = 0; g < groups->num_elems; g++) {
        const IrAttr *dims = groups->elems[g];
        if (dims->num_elems == 0) continue;
        uint32_t first = (uint32_t)dims->elems[0]->i, last = first + (uint32_t)dims->num_elems - 1;
        if (is_expand) {
            int64_t stride = source[g];
            for (uint32_t d = last + 1; d-- > first;) {
                out[d] = stride;
                stride = times(stride, to->shape[d]);
            }
            continue;
        }
        // Rows that do not follow one another are copied before they are read as one.
        for (uint32_t d = first; d < last; d++)
            if (from->shape[d] != 1 && source[d] != times(source[d + 1], from->shape[d + 1])) {
                row_major(to, out);
                return;
            }
        out[g] = source[last];
    }
}

static void strides_of(const IrValue *value, uint32_t depth, int64_t *out) {
    const IrType *type = value->type;
    int64_t offset;
    if (type->kind == IR_TYPE_MEMREF) {
        ir_memref_strides(type, out, &offset);
        return;
    }
    const IrOp *op = value->def_op;
    row_major(type, out);
    if (!op || depth == MAX_VIEWS || type->kind != IR_TYPE_TENSOR) return;
    bool is_reshape = op->kind == IR_TENSOR_EXPAND_SHAPE || op->kind == IR_TENSOR_COLLAPSE_SHAPE;
    if (!is_reshape && op->kind != IR_TENSOR_EXTRACT_SLICE) return;
    if (ir_op_operand(op, 0)->type->rank > MAX_RANK) return;
    if (is_reshape)
        reshape_strides(op, depth, out);
    else
        slice_strides(op, depth, out);
}

// ---- alignment

static uint64_t largest_power(uint64_t bytes) {
    return bytes & (~bytes + 1);
}

static uint32_t align_with(uint32_t align, int64_t elems, uint32_t elem_bytes) {
    int64_t bytes = times(elems, elem_bytes);
    if (bytes == 0) return align;
    uint64_t power = bytes == IR_DYNAMIC ? elem_bytes : largest_power((uint64_t)bytes);
    return (uint32_t)MIN((uint64_t)align, power);
}

// Buffers and arguments begin where the memory planner lets them: at a multiple of its alignment.
static uint32_t base_align(const IrValue *value, uint32_t depth) {
    const IrType *type = value->type;
    const IrOp *op = value->def_op;
    uint32_t elem_bytes = ir_type_bytes(type->elem), align = PLAN_BUFFER_ALIGN_BYTES;
    int64_t strides[MAX_RANK], offset = 0, constant;
    if (type->kind == IR_TYPE_MEMREF && type->rank <= MAX_RANK)
        ir_memref_strides(type, strides, &offset);
    if (!op || depth == MAX_VIEWS) return align_with(align, offset, elem_bytes);
    switch (op->kind) {
    case IR_MEMREF_ALLOC:
    case IR_MEMREF_ALLOCA: {
        const IrAttr *given = ir_op_attr(op, "alignment");
        return given && given->kind == IR_ATTR_INT && given->i > 0
                   ? (uint32_t)MIN(largest_power((uint64_t)given->i), align)
                   : elem_bytes;
    }
    case IR_MEMREF_VIEW:
        align = base_align(ir_op_operand(op, 0), depth + 1);
        if (!ir_value_constant_int(ir_op_operand(op, 1), &constant)) return elem_bytes;
        return align_with(align, constant, 1);
    case IR_MEMREF_SUBVIEW:
    case IR_MEMREF_REINTERPRET_CAST:
        return align_with(base_align(ir_op_operand(op, 0), depth + 1), offset, elem_bytes);
    case IR_TENSOR_EXTRACT_SLICE: {
        align = base_align(ir_op_operand(op, 0), depth + 1);
        const IrAttr *offsets = ir_op_attr(op, "static_offsets");
        if (ir_op_operand(op, 0)->type->rank > MAX_RANK) return elem_bytes;
        strides_of(ir_op_operand(op, 0), depth + 1, strides);
        for (size_t d = 0; d < offsets->num_values; d++)
            align = align_with(align, times(strides[d], offsets->values[d]), elem_bytes);
        return align;
    }
    case IR_MEMREF_CAST:
    case IR_MEMREF_EXPAND_SHAPE:
    case IR_MEMREF_COLLAPSE_SHAPE:
    case IR_MEMREF_ASSUME_ALIGNMENT:
    case IR_TENSOR_EXPAND_SHAPE:
    case IR_TENSOR_COLLAPSE_SHAPE: return base_align(ir_op_operand(op, 0), depth + 1);
    default: return align_with(align, offset, elem_bytes);
    }
}

// ---- strides of loops

// Steps of loop `loop` after which expr repeats or jumps: the least over its divisions; 0: none.
static int64_t piece_of(const IrAffineExpr *expr, uint32_t loop, uint32_t num_loops) {
    if (!expr->lhs) return 0;
    int64_t piece = piece_of(expr->lhs, loop, num_loops), coeffs[IR_ACCESS_MAX_LOOPS], constant;
    int64_t other = piece_of(expr->rhs, loop, num_loops);
    if (other && (!piece || other < piece)) piece = other;
    bool divides = expr->kind == IR_AFFINE_MOD || expr->kind == IR_AFFINE_FLOORDIV ||
                   expr->kind == IR_AFFINE_CEILDIV;
    if (!divides || expr->rhs->kind != IR_AFFINE_CONST || expr->rhs->value <= 1 ||
        !ir_affine_uses_dim(expr->lhs, loop))
        return piece;
    int64_t by = 1;
    if (ir_affine_linear(expr->lhs, num_loops, coeffs, &constant) && coeffs[loop])
        by = coeffs[loop] < 0 ? -coeffs[loop] : coeffs[loop];
    int64_t own = MAX(expr->rhs->value / by, 1);
    return !piece || own < piece ? own : piece;
}

// Elements between point 0 and point `at` of a loop, the other loops standing still.
static int64_t distance(const AccessLoops *l, const IrAffineMap *map, const int64_t *layout,
                        uint32_t loop, int64_t at) {
    int64_t dims[IR_ACCESS_MAX_LOOPS] = {0}, total = 0;
    int64_t *symbols = base_alloc(l->num_symbols + 1, sizeof *symbols);
    for (uint32_t r = 0; r < map->num_results && total != IR_DYNAMIC; r++) {
        dims[loop] = at;
        int64_t to = ir_affine_eval(map->results[r], dims, symbols);
        dims[loop] = 0;
        int64_t from = ir_affine_eval(map->results[r], dims, symbols), steps;
        if (__builtin_sub_overflow(to, from, &steps)) steps = IR_DYNAMIC;
        if (steps) total = plus(total, times(steps, layout[r]));
    }
    free(symbols);
    return total;
}

static IrAccessClass class_of(int64_t stride) {
    if (stride == IR_DYNAMIC) return IR_ACCESS_UNKNOWN;
    if (stride == 0) return IR_ACCESS_BROADCAST;
    if (stride == 1) return IR_ACCESS_UNIT;
    if (stride == -1) return IR_ACCESS_REVERSED;
    return stride >= -16 && stride <= 16 ? IR_ACCESS_STRIDE_K : IR_ACCESS_STRIDED;
}

static int64_t magnitude(int64_t v) {
    return v < 0 && v != IR_DYNAMIC ? -v : v;
}

// Runs of neighbouring elements, from the innermost loop outwards, until the first gap: of the
// lines a run touches, or of the gap if that is smaller, the run is what is used.
static uint32_t used_percent(const IrAccess *a, uint32_t elem_bytes, uint32_t line_bytes) {
    int64_t run = MAX(a->vector_len, 1), gap = IR_DYNAMIC;
    for (uint32_t i = a->num_loops; i-- > 0;) {
        int64_t stride = magnitude(a->strides[i]);
        if (stride == 0 || a->trips[i] == 1) continue;
        if (stride == IR_DYNAMIC) break;
        if (stride > run) {
            gap = stride;
            break;
        }
        run = plus(run, times(stride, a->trips[i] == IR_DYNAMIC ? IR_DYNAMIC : a->trips[i] - 1));
        if (run == IR_DYNAMIC) return 100;
    }
    double used = (double)run * elem_bytes;
    double lines = (double)(((uint64_t)used + line_bytes - 1) / line_bytes * line_bytes);
    double fetched = gap == IR_DYNAMIC ? lines : MIN((double)gap * elem_bytes, lines);
    bool is_whole = gap == IR_DYNAMIC && a->inner != IR_ACCESS_GATHER;
    if (is_whole || fetched <= used) return 100;
    return (uint32_t)(100 * used / fetched + 0.5);
}

static uint32_t greatest_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (uint32_t)a;
}

static bool is_workgroup(const IrType *type) {
    const IrAttr *space = type->kind == IR_TYPE_MEMREF ? type->space : NULL;
    return space && space->kind == IR_ATTR_OPAQUE_ENUM && space->str &&
           str_equal(space->str, "#gpu.address_space<workgroup>");
}

typedef struct Indices {
    AccessIndex of[MAX_RANK];
    uint32_t rank;
} Indices;

static void classify_inner(IrAccess *a, const AccessLoops *l, const int64_t *layout,
                           const Indices *indices) {
    uint32_t inner = a->num_loops - 1;
    uint32_t gather = 0;
    bool any_gather = false, unknown = false;
    for (uint32_t r = 0; r < indices->rank; r++) {
        gather |= indices->of[r].gather_loops;
        any_gather |= indices->of[r].is_gather;
        unknown |= indices->of[r].is_unknown;
    }
    for (uint32_t i = 0; i < a->num_loops; i++)
        if (gather >> i & 1) a->strides[i] = IR_DYNAMIC;
    int64_t piece = 0;
    for (uint32_t r = 0; r < indices->rank && a->num_loops; r++) {
        int64_t own = piece_of(indices->of[r].expr, inner, a->num_loops);
        if (own && (!piece || own < piece)) piece = own;
    }
    a->inner_stride = a->num_loops ? a->strides[inner] : 0;
    a->inner = class_of(a->inner_stride);
    if (piece > 1 || (piece == 1 && a->inner != IR_ACCESS_UNIT)) {
        a->inner = IR_ACCESS_PIECEWISE;
        a->piece_len = piece;
        a->piece_strides[0] = piece > 1 ? a->inner_stride : 0;
        a->piece_strides[1] = distance(l, a->map, layout, inner, piece);
    }
    if (a->vector_len > 1) {
        a->inner_stride = layout[indices->rank - 1];
        a->inner = class_of(a->inner_stride);
    }
    bool is_unit = a->inner == IR_ACCESS_UNIT || a->inner == IR_ACCESS_BROADCAST;
    if (unknown) a->inner = IR_ACCESS_UNKNOWN;
    if (any_gather) a->inner = IR_ACCESS_GATHER;
    a->is_flagged = !(is_unit || a->inner == IR_ACCESS_REVERSED) || unknown;
}

static bool finish(IrModule *m, AccessLoops *l, const Indices *indices, uint32_t line_bytes,
                   IrAccess *a) {
    const IrType *type = a->memory->type;
    const IrAffineExpr *exprs[MAX_RANK];
    int64_t layout[MAX_RANK];
    for (uint32_t r = 0; r < indices->rank; r++) exprs[r] = indices->of[r].expr;
    a->map = ir_affine_map(m, l->num, l->num_symbols, indices->rank, exprs);
    a->num_loops = l->num;
    strides_of(a->memory, 0, layout);
    uint32_t elem_bytes = ir_type_bytes(type->elem);
    a->align_bytes = base_align(a->memory, 0);
    for (uint32_t i = 0; i < l->num; i++) {
        a->trips[i] = l->loops[i].trip;
        a->strides[i] = distance(l, a->map, layout, i, 1);
    }
    classify_inner(a, l, layout, indices);
    for (uint32_t i = 0; i + (a->vector_len == 1) < l->num; i++)
        if (a->trips[i] != 1)
            a->align_bytes = align_with(a->align_bytes, a->strides[i], elem_bytes);
    for (uint32_t r = 0; r < indices->rank; r++) {
        int64_t coeffs[IR_ACCESS_MAX_LOOPS], constant;
        if (!ir_affine_linear(exprs[r], l->num, coeffs, &constant)) constant = IR_DYNAMIC;
        a->align_bytes = align_with(a->align_bytes, times(constant, layout[r]), elem_bytes);
    }
    a->align_bytes = MAX(a->align_bytes, elem_bytes);
    a->used_percent = used_percent(a, elem_bytes, line_bytes);
    a->bank_conflict = 1;
    if (is_workgroup(type) && a->inner_stride != IR_DYNAMIC && a->inner_stride)
        a->bank_conflict = greatest_divisor(
            (uint64_t)magnitude(a->inner_stride) * elem_bytes / BANK_BYTES, NUM_BANKS);
    a->is_flagged |= a->bank_conflict > 1;
    return true;
}

// ---- ops

// Where an op keeps its memory operand, its indices and the map over them.
typedef struct AccessOp {
    IrOpKind kind;
    uint32_t memory;
    bool is_write, is_affine;
} AccessOp;

static const AccessOp access_ops[] = {
    {IR_TENSOR_EXTRACT, 0, false, false},       {IR_MEMREF_LOAD, 0, false, false},
    {IR_MEMREF_STORE, 1, true, false},          {IR_AFFINE_LOAD, 0, false, true},
    {IR_AFFINE_STORE, 1, true, true},           {IR_AFFINE_VECTOR_LOAD, 0, false, true},
    {IR_AFFINE_VECTOR_STORE, 1, true, true},    {IR_VECTOR_LOAD, 0, false, false},
    {IR_VECTOR_STORE, 1, true, false},          {IR_VECTOR_TRANSFER_READ, 0, false, false},
    {IR_VECTOR_TRANSFER_WRITE, 1, true, false},
};

static const IrType *vector_of(const IrOp *op, const AccessOp *info) {
    const IrType *type = info->is_write ? ir_op_operand(op, 0)->type : op->results[0].type;
    return type->kind == IR_TYPE_VECTOR ? type : NULL;
}

static bool access_of_indices(IrModule *m, const IrOp *op, const AccessOp *info,
                              uint32_t line_bytes, IrAccess *a) {
    AccessLoops loops;
    Indices indices = {.rank = a->memory->type->rank};
    if (!access_loops_collect(m, op, &loops)) return false;
    for (uint32_t r = 0; r < indices.rank; r++) {
        if (info->is_affine)
            indices.of[r] =
                access_apply(&loops, ir_op_attr(op, "map")->map, r, op, info->memory + 1, 0);
        else
            indices.of[r] = access_index(&loops, ir_op_operand(op, info->memory + 1 + r), 0);
    }
    const IrType *vector = vector_of(op, info);
    if (vector && vector->rank > 0) a->vector_len = MAX(vector->shape[vector->rank - 1], 1);
    a->is_write = info->is_write;
    return finish(m, &loops, &indices, line_bytes, a);
}

static bool access_of_structured(IrModule *m, const IrOp *op, uint32_t operand, uint32_t line_bytes,
                                 IrAccess *a) {
    const IrAffineMap *map = ir_linalg_map(m, op, operand);
    Indices indices = {.rank = a->memory->type->rank};
    AccessLoops loops = {.m = m, .num = ir_linalg_num_loops(op), .num_symbols = map->num_symbols};
    int64_t ranges[IR_ACCESS_MAX_LOOPS];
    if (loops.num > IR_ACCESS_MAX_LOOPS || map->num_results != indices.rank) return false;
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t i = 0; i < loops.num; i++) {
        loops.loops[i].trip = ranges[i];
        loops.loops[i].step = 1;
    }
    for (uint32_t r = 0; r < indices.rank; r++) indices.of[r].expr = map->results[r];
    a->is_write = operand >= op->segments[0];
    return finish(m, &loops, &indices, line_bytes, a);
}

bool ir_access(IrModule *m, const IrOp *op, uint32_t operand, uint32_t line_bytes,
               IrAccess *out_access) {
    const IrValue *memory = ir_op_operand(op, operand);
    IrAccess a = {.memory = memory, .vector_len = 1};
    bool is_memory = memory->type->kind == IR_TYPE_TENSOR || memory->type->kind == IR_TYPE_MEMREF;
    bool found = false;
    if (!is_memory || memory->type->rank > MAX_RANK) return false;
    for (size_t i = 0; i < ARRAY_LEN(access_ops) && !found; i++)
        found = access_ops[i].kind == op->kind && access_ops[i].memory == operand &&
                access_of_indices(m, op, &access_ops[i], line_bytes, &a);
    bool is_structured = (ir_op_info(op->kind)->traits & IR_LINALG) &&
                         op->kind != IR_LINALG_SOFTMAX && op->kind != IR_LINALG_PACK &&
                         op->kind != IR_LINALG_UNPACK;
    if (!found && is_structured) found = access_of_structured(m, op, operand, line_bytes, &a);
    if (found) *out_access = a;
    return found;
}

// ---- text

const char *ir_access_class_name(const IrAccess *access, char out[32]) {
    static const char *const names[] = {"unit",    "broadcast", "reversed", "stride",
                                        "strided", "piecewise", "gather",   "unknown"};
    if (access->inner == IR_ACCESS_STRIDE_K)
        snprintf(out, 32, "stride-%" PRId64, magnitude(access->inner_stride));
    else
        snprintf(out, 32, "%s", names[access->inner]);
    return out;
}

void ir_access_print(const IrOp *op, uint32_t operand, const IrAccess *access, StrBuf *out) {
    char name[32];
    strbuf_printf(out, "access op=\"%s\" operand=%" PRIu32 " map=affine_map<",
                  ir_op_info(op->kind)->name, operand);
    ir_print_affine_map(access->map, out);
    strbuf_puts(out, "> strides=[");
    for (uint32_t i = 0; i < access->num_loops; i++) {
        if (i) strbuf_puts(out, ", ");
        if (access->strides[i] == IR_DYNAMIC)
            strbuf_putc(out, '?');
        else
            strbuf_printf(out, "%" PRId64, access->strides[i]);
    }
    strbuf_printf(out, "] inner=%s used=%" PRIu32 "%%", ir_access_class_name(access, name),
                  access->used_percent);
    if (access->inner == IR_ACCESS_PIECEWISE)
        strbuf_printf(out, " pieces=%" PRId64 " strides-of-pieces=[%" PRId64 ", %" PRId64 "]",
                      access->piece_len, access->piece_strides[0], access->piece_strides[1]);
    strbuf_printf(out, " align=%" PRIu32, access->align_bytes);
    if (access->bank_conflict > 1) strbuf_printf(out, " banks=%" PRIu32, access->bank_conflict);
}
