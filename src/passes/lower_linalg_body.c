// The body of one linalg.generic, for one element or for some lanes at once; see lower_linalg.h.
#include <string.h>

#include "base/str.h"
#include "passes/lower_linalg.h"

// ---------------------------------------------------------------- combiners

typedef struct Combiner {
    IrOpKind kind;
    bool is_idempotent; // x op x = x: the start value may enter every lane
} Combiner;

static const Combiner combiners[] = {
    {IR_ARITH_ADDF, false},    {IR_ARITH_MULF, false},   {IR_ARITH_ADDI, false},
    {IR_ARITH_XORI, false},    {IR_MATH_FMA, false},     {IR_ARITH_MAXIMUMF, true},
    {IR_ARITH_MINIMUMF, true}, {IR_ARITH_MAXNUMF, true}, {IR_ARITH_MINNUMF, true},
    {IR_ARITH_MAXSI, true},    {IR_ARITH_MINSI, true},   {IR_ARITH_MAXUI, true},
    {IR_ARITH_MINUI, true},    {IR_ARITH_ANDI, true},    {IR_ARITH_ORI, true},
};

static const Combiner *find_combiner(IrOpKind kind) {
    for (size_t i = 0; i < ARRAY_LEN(combiners); i++)
        if (combiners[i].kind == kind) return &combiners[i];
    return NULL;
}

static const IrBlock *body_of(const LlItem *item) {
    return ir_op_block(item->op, 0);
}
static IrValue *out_arg(const LlItem *item, uint32_t out) {
    return body_of(item)->args[item->op->segments[0] + out];
}
static IrValue *yielded(const LlItem *item, uint32_t out) {
    return ir_op_operand(ir_block_terminator(body_of(item)), out);
}

// The op that folds an element into output `out`, if that is all the body does with the old value.
static const IrOp *match_combiner(const LlItem *item, uint32_t out) {
    const IrValue *acc = out_arg(item, out);
    if (!ir_value_has_one_use(acc)) return NULL;
    const IrOp *op = acc->first_use->owner;
    if (op->block != body_of(item) || !find_combiner(op->kind)) return NULL;
    if (op->kind == IR_MATH_FMA && ir_op_operand(op, 2) != acc) return NULL;
    if (yielded(item, out) != &op->results[0] || !ir_value_has_one_use(&op->results[0]))
        return NULL;
    return op;
}

// ---------------------------------------------------------------- classes

static LlClass class_of(const LowerLinalg *ll, const IrValue *value) {
    return value->index < ll->num_values ? (LlClass)ll->classes[value->index] : LL_UNIFORM;
}

static bool is_unit(LlClass cls) {
    return cls == LL_UNIT || cls == LL_ALIGNED;
}
static bool is_shared(LlClass cls) {
    return cls == LL_UNIFORM || cls == LL_STEP;
}

static void set_class(LowerLinalg *ll, const IrValue *value, LlClass cls) {
    ll->classes[value->index] = (uint8_t)cls;
}

// Element offset of an operand per iteration of a loop; false if that is no constant. *out_first:
// the first dimension whose index depends on it, if that comes before what is there.
static bool operand_step(const IrType *memref, const IrAffineMap *map, uint32_t loop,
                         int64_t *out_step, uint32_t *out_first) {
    int64_t strides[LL_MAX_RANK], offset, coeffs[LL_MAX_LOOPS], constant;
    ir_memref_strides(memref, strides, &offset);
    *out_step = 0;
    for (uint32_t d = 0; d < map->num_results; d++) {
        if (!ir_affine_uses_dim(map->results[d], loop)) continue;
        if (!ir_affine_linear(map->results[d], map->num_dims, coeffs, &constant)) return false;
        if (coeffs[loop] == 0) continue;
        if (strides[d] == IR_DYNAMIC) return false;
        *out_step += coeffs[loop] * strides[d];
        *out_first = MIN(*out_first, d);
    }
    return true;
}

// Are the last two dimensions one run of elements?
static bool can_be_flat(const IrType *memref) {
    int64_t strides[LL_MAX_RANK], offset;
    if (memref->rank < 2) return false;
    ir_memref_strides(memref, strides, &offset);
    uint32_t last = memref->rank - 1;
    return strides[last] == 1 && strides[last - 1] == memref->shape[last];
}

// Element offset of a lane, relative to lane 0.
static int64_t lane_offset(const LlOperand *operand, uint32_t pack, uint32_t lane) {
    return operand->step * (lane / pack) + operand->inner_step * (lane % pack);
}

static void lane_window(const LlOperand *operand, uint32_t pack, uint32_t lanes, int64_t *out_min,
                        int64_t *out_len) {
    int64_t lo = 0, hi = 0;
    for (uint32_t l = 0; l < lanes; l++) {
        int64_t at = lane_offset(operand, pack, l);
        lo = MIN(lo, at);
        hi = MAX(hi, at);
    }
    *out_min = lo;
    *out_len = hi - lo + 1;
}

static bool classify_operand(LowerLinalg *ll, LlItem *item, uint32_t i) {
    LlOperand *operand = &item->operands[i];
    const IrType *type = ir_op_operand(item->op, i)->type;
    *operand = (LlOperand){.cls = LL_UNIFORM};
    if (type->kind != IR_TYPE_MEMREF) return true;
    const IrAffineMap *map = ir_linalg_map(ll->m, item->op, i);
    uint32_t first = type->rank;
    if (!operand_step(type, map, item->vector_loop, &operand->step, &first)) return false;
    if (item->pack > 1 &&
        !operand_step(type, map, item->vector_loop + 1, &operand->inner_step, &first))
        return false;
    if (operand->step == 0 && operand->inner_step == 0) return true;
    if (type->elem->kind == IR_TYPE_INT && type->elem->width < 8) return false;
    operand->cls = LL_VARYING;
    operand->is_flat = first + 1 < type->rank;
    if (operand->is_flat && (first + 2 < type->rank || !can_be_flat(type))) return false;
    bool is_unit = item->pack > 1 ? operand->step == item->pack && operand->inner_step == 1
                                  : operand->step == 1;
    if (is_unit) {
        int64_t strides[LL_MAX_RANK], offset;
        ir_memref_strides(type, strides, &offset);
        return operand->is_flat || strides[type->rank - 1] == 1;
    }
    operand->is_shuffled = true;
    if (i >= item->op->segments[0]) return false; // no scattered stores
    // The window of any number of lanes must be a power of two, so that it is one register's worth.
    for (uint32_t lanes = item->pack > 1 ? item->pack : 4; lanes <= 16; lanes *= 2) {
        int64_t min, len;
        lane_window(operand, item->pack, lanes, &min, &len);
        if (len > 2 * lanes || (len & (len - 1)) != 0) return false;
    }
    return true;
}

static bool classify_load(LowerLinalg *ll, const LlItem *item, const IrOp *op, LlClass *out) {
    const IrType *type = ir_op_operand(op, 0)->type;
    *out = LL_UNIFORM;
    for (uint32_t i = 1; i < op->num_operands; i++) {
        LlClass cls = class_of(ll, ir_op_operand(op, i));
        if (is_shared(cls)) {
            *out = MAX(*out, cls);
            continue;
        }
        int64_t strides[LL_MAX_RANK], offset;
        ir_memref_strides(type, strides, &offset);
        bool is_row = is_unit(cls) && i + 1 == op->num_operands && strides[type->rank - 1] == 1;
        if (!is_row || item->pack > 1 || (type->elem->kind == IR_TYPE_INT && type->elem->width < 8))
            return false;
        *out = LL_VARYING;
    }
    return true;
}

static bool classify_apply(const LowerLinalg *ll, const IrOp *op, LlClass *out) {
    const IrAffineMap *map = ir_op_attr(op, "map")->map;
    int64_t coeffs[LL_MAX_LOOPS], constant;
    *out = LL_UNIFORM;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        LlClass cls = class_of(ll, ir_op_operand(op, i));
        if (is_shared(cls)) {
            *out = MAX(*out, cls);
            continue;
        }
        if (map->num_symbols > 0 || map->num_dims > LL_MAX_LOOPS) return false;
        if (!ir_affine_uses_dim(map->results[0], i)) continue;
        if (!is_unit(cls) || *out == LL_UNIT ||
            !ir_affine_linear(map->results[0], map->num_dims, coeffs, &constant) || coeffs[i] != 1)
            return false;
        *out = LL_UNIT;
    }
    return true;
}

static bool classify_op(LowerLinalg *ll, const LlItem *item, const IrOp *op, LlClass *out) {
    *out = LL_UNIFORM;
    if (op->num_regions > 0) return false;
    switch (op->kind) {
    case IR_ARITH_CONSTANT: return true;
    case IR_LINALG_INDEX: {
        uint32_t loop = (uint32_t)ir_op_attr(op, "dim")->i;
        if (loop == item->vector_loop)
            *out = item->pack > 1 ? LL_VARYING : LL_ALIGNED;
        else if (item->pack > 1 && loop == item->vector_loop + 1)
            *out = LL_VARYING;
        return true;
    }
    case IR_MEMREF_LOAD: return classify_load(ll, item, op, out);
    case IR_AFFINE_APPLY: return classify_apply(ll, op, out);
    case IR_CF_ASSERT: return class_of(ll, ir_op_operand(op, 0)) != LL_ACC;
    default: break;
    }
    if (!(ir_op_info(op->kind)->traits & IR_ELEMENTWISE) || op->num_results != 1) return false;
    uint32_t num_unit = 0, num_varying = 0;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        LlClass cls = class_of(ll, ir_op_operand(op, i));
        if (cls == LL_ACC) return false;
        num_unit += is_unit(cls);
        num_varying += cls == LL_VARYING;
        if (cls == LL_STEP) *out = LL_STEP;
    }
    if (num_unit + num_varying == 0) return true;
    int64_t divisor;
    bool divides = op->kind == IR_ARITH_DIVUI || op->kind == IR_ARITH_REMUI;
    if (divides && class_of(ll, ir_op_operand(op, 0)) == LL_ALIGNED &&
        ir_value_constant_int(ir_op_operand(op, 1), &divisor) && divisor > 0 && divisor % 16 == 0) {
        *out = op->kind == IR_ARITH_DIVUI ? LL_STEP : LL_ALIGNED;
        return true;
    }
    bool keeps_unit = op->kind == IR_ARITH_ADDI ||
                      (op->kind == IR_ARITH_SUBI && is_unit(class_of(ll, ir_op_operand(op, 0))));
    *out = num_unit == 1 && num_varying == 0 && keeps_unit ? LL_UNIT : LL_VARYING;
    return true;
}

static bool classify_body(LowerLinalg *ll, LlItem *item) {
    const IrOp *op = item->op;
    const IrBlock *body = body_of(item);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (!classify_operand(ll, item, i)) return false;
        set_class(ll, body->args[i], item->operands[i].cls);
    }
    bool reduces = !item->is_parallel[item->vector_loop];
    for (uint32_t i = 0; i < op->segments[1]; i++) {
        bool is_fixed = item->operands[op->segments[0] + i].cls == LL_UNIFORM;
        if (is_fixed != reduces) return false;
        if (!reduces) continue;
        if (!item->combiner[i]) return false;
        set_class(ll, out_arg(item, i), LL_ACC);
    }
    FOR_EACH_OP(inner, body) {
        if (inner == ir_block_terminator(body)) break;
        LlClass cls;
        bool combines = false;
        for (uint32_t i = 0; i < op->segments[1] && reduces; i++)
            combines |= item->combiner[i] == inner;
        if (combines)
            cls = LL_ACC;
        else if (!classify_op(ll, item, inner, &cls))
            return false;
        for (uint32_t r = 0; r < inner->num_results; r++) set_class(ll, &inner->results[r], cls);
    }
    return true;
}

bool ll_classify(LowerLinalg *ll, LlItem *item, uint32_t vector_loop, uint32_t pack) {
    item->vector_loop = vector_loop;
    item->pack = pack;
    bool reduces = vector_loop < item->num_loops && !item->is_parallel[vector_loop];
    for (uint32_t i = 0; i < item->op->segments[1]; i++)
        item->combiner[i] = reduces ? match_combiner(item, i) : NULL;
    item->is_vector = vector_loop < item->num_loops && classify_body(ll, item);
    return item->is_vector;
}

// ---------------------------------------------------------------- operands

static void operand_indices(LowerLinalg *ll, const LlItem *item, uint32_t i, IrValue **out) {
    const IrAffineMap *map = ir_linalg_map(ll->m, item->op, i);
    for (uint32_t d = 0; d < map->num_results; d++)
        out[d] = ll_apply(ll, map->results[d], item->ivs, item->num_loops);
}

// Indices of lane 0 plus shift, with the last two dimensions as one if the operand is flat.
static void lane_indices(LowerLinalg *ll, const LlItem *item, uint32_t i, int64_t shift,
                         IrValue **out) {
    IrModule *m = ll->m;
    const IrType *type = ir_op_operand(item->op, i)->type;
    const IrAffineMap *map = ir_linalg_map(m, item->op, i);
    uint32_t last = type->rank - 1, end = item->operands[i].is_flat ? last - 1 : last;
    const IrAffineExpr *at = map->results[last];
    if (item->operands[i].is_flat)
        at = ir_affine_binary(m, IR_AFFINE_ADD,
                              ir_affine_binary(m, IR_AFFINE_MUL, map->results[last - 1],
                                               ir_affine_const(m, type->shape[last])),
                              at);
    at = ir_affine_binary(m, IR_AFFINE_ADD, at, ir_affine_const(m, shift));
    for (uint32_t d = 0; d < end; d++)
        out[d] = ll_apply(ll, map->results[d], item->ivs, item->num_loops);
    out[end] = ll_apply(ll, at, item->ivs, item->num_loops);
}

static IrValue *load_lanes(LowerLinalg *ll, const LlItem *item, uint32_t i, int64_t shift,
                           uint32_t lanes) {
    IrValue *old = ir_op_operand(item->op, i), *indices[LL_MAX_RANK];
    lane_indices(ll, item, i, shift, indices);
    if (item->operands[i].is_flat) return ll_load_flat(ll, old, indices, lanes);
    return ll_load(ll, old, indices, lanes);
}

static IrValue *load_operand(LowerLinalg *ll, LlItem *item, uint32_t i, uint32_t lanes) {
    const LlOperand *operand = &item->operands[i];
    if (lanes == 1) {
        IrValue *indices[LL_MAX_RANK];
        operand_indices(ll, item, i, indices);
        return ll_load(ll, ir_op_operand(item->op, i), indices, 1);
    }
    if (!operand->is_shuffled) return load_lanes(ll, item, i, 0, lanes);
    int64_t min, len, mask[64];
    lane_window(operand, item->pack, lanes, &min, &len);
    for (uint32_t l = 0; l < lanes; l++) mask[l] = lane_offset(operand, item->pack, l) - min;
    IrValue *window = load_lanes(ll, item, i, min, (uint32_t)len);
    if (len == 1) return ll_splat(ll, window, lanes);
    return ll_shuffle(ll, window, lanes, mask);
}

static void store_operand(LowerLinalg *ll, LlItem *item, uint32_t out, IrValue *value,
                          uint32_t lanes) {
    uint32_t i = item->op->segments[0] + out;
    IrValue *old = ir_op_operand(item->op, i), *indices[LL_MAX_RANK];
    if (item->is_vector && item->operands[i].is_flat && lanes > 1) {
        lane_indices(ll, item, i, 0, indices);
        ll_store_flat(ll, value, old, indices, lanes);
        return;
    }
    operand_indices(ll, item, i, indices);
    ll_store(ll, value, old, indices, lanes);
}

// ---------------------------------------------------------------- ops of the body

static IrValue *scalar_of(LowerLinalg *ll, IrValue *old) {
    return ir_value_map_get(&ll->map, old);
}

// The value in every lane.
static IrValue *lanes_of(LowerLinalg *ll, const LlItem *item, IrValue *old, uint32_t lanes) {
    IrValue *value = scalar_of(ll, old);
    if (lanes == 1) return value;
    switch (class_of(ll, old)) {
    case LL_UNIFORM:
        if (lanes == ll->splat_lanes) {
            IrValue *splat = ir_value_map_get(&ll->splats, old);
            if (splat != old) return splat;
        }
        return ll_splat(ll, value, lanes);
    case LL_STEP: return ll_splat(ll, value, lanes);
    case LL_UNIT:
    case LL_ALIGNED: return ll_index_vector(ll, value, lanes, item->pack, false);
    default: return value;
    }
}

static IrValue *clone_with(LowerLinalg *ll, const IrOp *op, IrValue *const *operands,
                           const IrType *type) {
    IrOpSpec spec = {.kind = op->kind,
                     .loc = op->loc,
                     .num_operands = op->num_operands,
                     .operands = operands,
                     .num_results = 1,
                     .result_types = &type,
                     .num_attrs = op->num_attrs,
                     .attrs = op->attrs};
    memcpy(spec.segments, op->segments, sizeof spec.segments);
    return ir_op_result(build_op_full(&ll->b, &spec), 0);
}

static bool compare_ints(const char *predicate, int64_t a, int64_t b, bool *out) {
    if (str_equal(predicate, "eq"))
        *out = a == b;
    else if (str_equal(predicate, "ne"))
        *out = a != b;
    else if (str_equal(predicate, "slt"))
        *out = a < b;
    else if (str_equal(predicate, "sle"))
        *out = a <= b;
    else if (str_equal(predicate, "sgt"))
        *out = a > b;
    else if (str_equal(predicate, "sge"))
        *out = a >= b;
    else
        return false;
    return true;
}

// What unrolling made constant: a comparison of two constants, a choice by one. NULL if it is
// neither.
static IrValue *fold(LowerLinalg *ll, const IrOp *op, IrValue *const *operands) {
    int64_t a, b;
    bool is_true;
    if (op->kind == IR_ARITH_SELECT && ir_value_constant_int(operands[0], &a))
        return operands[a ? 1 : 2];
    if (op->kind != IR_ARITH_CMPI || !ir_value_constant_int(operands[0], &a) ||
        !ir_value_constant_int(operands[1], &b) ||
        !compare_ints(ir_op_attr(op, "predicate")->str, a, b, &is_true))
        return NULL;
    return ll_constant(ll, ir_attr_bool(ll->m, is_true), ir_type_int(ll->m, 1));
}

// All lanes must hold; the record of a check that fails names the first that does not.
static void emit_assert(LowerLinalg *ll, const LlItem *item, const IrOp *op, uint32_t lanes) {
    IrModule *m = ll->m;
    IrValue *old = ir_op_operand(op, 0), *ok = scalar_of(ll, old);
    if (lanes > 1 && !is_shared(class_of(ll, old))) {
        const IrType *i1 = ir_type_int(m, 1);
        IrNamedAttr kind = {ir_intern(m, "kind"), ir_attr_string(m, "and")};
        ok = lanes_of(ll, item, old, lanes);
        ok = ir_op_result(build_op_full(&ll->b, &(IrOpSpec){.kind = IR_VECTOR_REDUCTION,
                                                            .num_operands = 1,
                                                            .operands = &ok,
                                                            .num_results = 1,
                                                            .result_types = &i1,
                                                            .num_attrs = 1,
                                                            .attrs = &kind}),
                          0);
    }
    const IrLoc *loc = ll->b.loc;
    ll->b.loc = op->loc;
    build_op_full(&ll->b, &(IrOpSpec){.kind = IR_CF_ASSERT,
                                      .loc = op->loc,
                                      .num_operands = 1,
                                      .operands = &ok,
                                      .num_attrs = op->num_attrs,
                                      .attrs = op->attrs});
    ll->b.loc = loc;
}

// An op none of whose operands differs between lanes, or an index op on the base of a UNIT.
static void emit_scalar_op(LowerLinalg *ll, const LlItem *item, const IrOp *op) {
    IrValue *operands[LL_MAX_OPERANDS];
    BUG_IF(op->num_operands > LL_MAX_OPERANDS, "op with %u operands", op->num_operands);
    for (uint32_t i = 0; i < op->num_operands; i++)
        operands[i] = scalar_of(ll, ir_op_operand(op, i));
    IrValue *value;
    switch (op->kind) {
    case IR_ARITH_CONSTANT:
        value = ll_constant(ll, ir_op_attr(op, "value"), op->results[0].type);
        break;
    case IR_LINALG_INDEX: value = item->ivs[ir_op_attr(op, "dim")->i]; break;
    case IR_MEMREF_LOAD: value = ll_load(ll, ir_op_operand(op, 0), operands + 1, 1); break;
    case IR_AFFINE_APPLY:
        value =
            ir_op_attr(op, "map")->map->num_symbols == 0
                ? ll_apply(ll, ir_op_attr(op, "map")->map->results[0], operands, op->num_operands)
                : clone_with(ll, op, operands, op->results[0].type);
        break;
    default:
        value = fold(ll, op, operands);
        if (!value) value = clone_with(ll, op, operands, op->results[0].type);
    }
    ir_value_map_set(&ll->map, &op->results[0], value);
}

static void emit_vector_op(LowerLinalg *ll, const LlItem *item, const IrOp *op, uint32_t lanes) {
    IrValue *operands[LL_MAX_OPERANDS], *value;
    if (op->kind == IR_LINALG_INDEX) {
        uint32_t loop = (uint32_t)ir_op_attr(op, "dim")->i;
        value = ll_index_vector(ll, item->ivs[loop], lanes, item->pack, loop != item->vector_loop);
    } else if (op->kind == IR_MEMREF_LOAD) {
        for (uint32_t i = 1; i < op->num_operands; i++)
            operands[i - 1] = scalar_of(ll, ir_op_operand(op, i));
        value = ll_load(ll, ir_op_operand(op, 0), operands, lanes);
    } else {
        // A choice the unrolling has decided takes one side.
        int64_t cond;
        if (op->kind == IR_ARITH_SELECT &&
            ir_value_constant_int(scalar_of(ll, ir_op_operand(op, 0)), &cond)) {
            value = lanes_of(ll, item, ir_op_operand(op, cond ? 1 : 2), lanes);
            ir_value_map_set(&ll->map, &op->results[0], value);
            return;
        }
        for (uint32_t i = 0; i < op->num_operands; i++)
            operands[i] = lanes_of(ll, item, ir_op_operand(op, i), lanes);
        value = clone_with(ll, op, operands, ll_type(ll, op->results[0].type, lanes));
    }
    ir_value_map_set(&ll->map, &op->results[0], value);
}

static void emit_combiner(LowerLinalg *ll, LlItem *item, uint32_t out, uint32_t lanes) {
    const IrOp *op = item->combiner[out];
    const IrValue *acc = out_arg(item, out);
    IrValue *operands[3];
    if (item->folds_bits[out]) {
        uint32_t at = ir_op_operand(op, 0) == acc ? 1 : 0;
        IrValue *value = lanes_of(ll, item, ir_op_operand(op, at), lanes);
        value = build_cast(&ll->b, IR_ARITH_BITCAST, value, item->acc[out]->type);
        item->acc[out] = build_binary(&ll->b, IR_ARITH_MAXUI, item->acc[out], value);
        return;
    }
    for (uint32_t i = 0; i < op->num_operands; i++)
        operands[i] = ir_op_operand(op, i) == acc ? item->acc[out]
                                                  : lanes_of(ll, item, ir_op_operand(op, i), lanes);
    item->acc[out] = clone_with(ll, op, operands, item->acc[out]->type);
}

void ll_emit_uniform(LowerLinalg *ll, LlItem *item, uint32_t lanes) {
    const IrOp *op = item->op;
    const IrBlock *body = body_of(item);
    ll->b.loc = op->loc;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (ir_op_operand(op, i)->type->kind != IR_TYPE_MEMREF)
            ir_value_map_set(&ll->map, body->args[i], scalar_of(ll, ir_op_operand(op, i)));
        else if (item->is_vector && class_of(ll, body->args[i]) == LL_UNIFORM &&
                 !ir_value_is_unused(body->args[i]))
            ir_value_map_set(&ll->map, body->args[i], load_operand(ll, item, i, 1));
    }
    if (!item->is_vector) return;
    FOR_EACH_OP(inner, body) {
        if (inner->num_results == 1 && class_of(ll, &inner->results[0]) == LL_UNIFORM)
            emit_scalar_op(ll, item, inner);
        if (inner->kind == IR_CF_ASSERT && class_of(ll, ir_op_operand(inner, 0)) == LL_UNIFORM)
            emit_assert(ll, item, inner, 1);
    }
    if (lanes == 1) return;
    // What the lanes share is spread out once, before the loop.
    FOR_EACH_OP(inner, body) {
        if (inner->kind == IR_CF_ASSERT) continue;
        bool is_vector_op = inner == ir_block_terminator(body) ||
                            class_of(ll, &inner->results[0]) == LL_VARYING ||
                            class_of(ll, &inner->results[0]) == LL_ACC;
        if (!is_vector_op || inner->kind == IR_MEMREF_LOAD) continue;
        for (uint32_t i = 0; i < inner->num_operands; i++) {
            IrValue *old = ir_op_operand(inner, i);
            if (class_of(ll, old) == LL_UNIFORM)
                ir_value_map_set(&ll->splats, old, ll_splat(ll, scalar_of(ll, old), lanes));
        }
    }
}

// ---------------------------------------------------------------- element by element

static void emit_elements(LowerLinalg *ll, LlItem *item) {
    const IrOp *op = item->op;
    const IrBlock *body = body_of(item);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (ir_op_operand(op, i)->type->kind != IR_TYPE_MEMREF) continue;
        uint32_t out = i - op->segments[0];
        IrValue *value = NULL;
        if (i >= op->segments[0] && item->acc[out])
            value = item->acc[out];
        else if (!ir_value_is_unused(body->args[i])) {
            IrValue *indices[LL_MAX_RANK];
            operand_indices(ll, item, i, indices);
            value = ll_load(ll, ir_op_operand(op, i), indices, 1);
        }
        if (value) ir_value_map_set(&ll->map, body->args[i], value);
    }
    FOR_EACH_OP(inner, body) {
        if (inner == ir_block_terminator(body)) break;
        if (inner->num_regions == 0 && inner->num_results == 1) {
            emit_scalar_op(ll, item, inner);
            continue;
        }
        ir_block_append(ll->b.block, ir_op_clone(ll->m, inner, &ll->map));
    }
    for (uint32_t out = 0; out < op->segments[1]; out++) {
        IrValue *value = scalar_of(ll, yielded(item, out));
        if (item->acc[out])
            item->acc[out] = value;
        else
            store_operand(ll, item, out, value, 1);
    }
}

void ll_emit_lanes(LowerLinalg *ll, LlItem *item, IrValue *base, uint32_t lanes) {
    const IrOp *op = item->op;
    const IrBlock *body = body_of(item);
    ll->b.loc = op->loc;
    if (item->vector_loop < item->num_loops) item->ivs[item->vector_loop] = base;
    if (!item->is_vector) {
        emit_elements(ll, item);
        return;
    }
    if (item->pack > 1) item->ivs[item->vector_loop + 1] = ll_index(ll, 0);
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (item->operands[i].cls == LL_VARYING && !ir_value_is_unused(body->args[i]))
            ir_value_map_set(&ll->map, body->args[i], load_operand(ll, item, i, lanes));
    FOR_EACH_OP(inner, body) {
        if (inner == ir_block_terminator(body)) break;
        if (inner->kind == IR_CF_ASSERT) {
            if (class_of(ll, ir_op_operand(inner, 0)) != LL_UNIFORM)
                emit_assert(ll, item, inner, lanes);
            continue;
        }
        LlClass cls = class_of(ll, &inner->results[0]);
        if (is_unit(cls) || cls == LL_STEP)
            emit_scalar_op(ll, item, inner);
        else if (cls == LL_VARYING)
            emit_vector_op(ll, item, inner, lanes);
        for (uint32_t out = 0; out < op->segments[1] && cls == LL_ACC; out++)
            if (item->combiner[out] == inner) emit_combiner(ll, item, out, lanes);
    }
    for (uint32_t out = 0; out < op->segments[1]; out++)
        if (!item->acc[out])
            store_operand(ll, item, out, lanes_of(ll, item, yielded(item, out), lanes), lanes);
}

void ll_kill_outputs(LowerLinalg *ll, const LlItem *item) {
    for (uint32_t i = 0; i < item->num_accesses; i++)
        if (item->accesses[i].writes) ll_kill(ll, item->accesses[i].root);
}
