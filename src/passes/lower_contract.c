// vector.contract of kind add: for every point of the reduction loops, in order, the lanes of both
// operands are moved to the result's shape by one shuffle each, multiplied, and added: two
// roundings a step, as the interpreter does it. A pass that wants a machine instruction writes
// llvm.call_intrinsic.
#include "passes/lower_internal.h"

enum { MAX_LOOPS = 8, MAX_POINTS = 1024 };

typedef struct Contract {
    uint32_t num_loops;
    int64_t ranges[MAX_LOOPS];
    int64_t strides[3][MAX_LOOPS]; // lanes of lhs, rhs, accumulator per loop
    bool is_reduction[MAX_LOOPS];
} Contract;

static Status contract_init(Lowering *lo, const IrOp *op, Contract *out) {
    const IrAttr *maps = ir_op_attr(op, "indexing_maps"), *kind = ir_op_attr(op, "kind");
    if (kind && kind->kind == IR_ATTR_STRING && !str_equal(kind->str, "add"))
        return low_refuse(lo, op, "only sums of products are known");
    *out = (Contract){.num_loops = maps->elems[0]->map->num_dims};
    if (out->num_loops > MAX_LOOPS) return low_refuse(lo, op, "more than %d loops", MAX_LOOPS);
    for (uint32_t i = 0; i < out->num_loops; i++) out->is_reduction[i] = true;
    for (uint32_t o = 0; o < 3; o++) {
        const IrType *type = ir_op_operand(op, o)->type;
        const IrAffineMap *map = maps->elems[o]->map;
        int64_t stride = 1;
        for (uint32_t r = map->num_results, dim; r-- > 0; stride *= type->shape[r]) {
            if (!ir_affine_is_dim(map->results[r], &dim))
                return low_refuse(lo, op, "its maps must be projected permutations");
            out->ranges[dim] = type->shape[r];
            out->strides[o][dim] = stride;
            if (o == 2) out->is_reduction[dim] = false;
        }
    }
    return STATUS_OK;
}

// The operand's lanes in the order of the result, at one point of the reduction loops.
static IrValue *contract_lanes(Lowering *lo, const Contract *c, uint32_t side, IrValue *value,
                               int64_t num_lanes, const int64_t *point) {
    if (!low_lanes(value->type)) return low_splat(lo, num_lanes, value);
    int64_t *lanes = ARENA_ARRAY(&lo->arena, int64_t, (size_t)MAX(num_lanes, 1));
    for (int64_t i = 0; i < MAX(num_lanes, 1); i++) {
        for (uint32_t l = 0; l < c->num_loops; l++) {
            int64_t at = c->is_reduction[l] ? point[l] : i / c->strides[2][l] % c->ranges[l];
            lanes[i] += at * c->strides[side][l];
        }
    }
    return num_lanes ? low_shuffle(lo, value, NULL, num_lanes, lanes)
                     : low_lane(lo, value, lanes[0]);
}

static bool next_point(const Contract *c, int64_t *point) {
    for (uint32_t l = c->num_loops; l-- > 0;) {
        if (!c->is_reduction[l]) continue;
        if (++point[l] < c->ranges[l]) return true;
        point[l] = 0;
    }
    return false;
}

Status low_contract(Lowering *lo, IrOp *op) {
    Contract c;
    TRY(contract_init(lo, op, &c));
    const IrType *elem = ir_type_elem(ir_op_result(op, 0)->type);
    const IrType *type = low_type(lo, ir_op_result(op, 0)->type);
    for (uint32_t o = 0; o < 2; o++) {
        if (ir_type_elem(ir_op_operand(op, o)->type) != elem)
            return low_refuse(lo, op, "widen its operands to the accumulator's type first");
    }
    int64_t num_points = 1;
    for (uint32_t l = 0; l < c.num_loops; l++) num_points *= c.is_reduction[l] ? c.ranges[l] : 1;
    if (!type || low_is_small_float(elem) || num_points > MAX_POINTS)
        return low_refuse(lo, op, "its shape or element type is too much to unroll");
    IrValue *acc = low_value(lo, ir_op_operand(op, 2));
    bool is_float = ir_type_is_float(elem);
    int64_t point[MAX_LOOPS] = {0};
    do {
        IrValue *a =
            contract_lanes(lo, &c, 0, low_value(lo, ir_op_operand(op, 0)), low_lanes(type), point);
        IrValue *b =
            contract_lanes(lo, &c, 1, low_value(lo, ir_op_operand(op, 1)), low_lanes(type), point);
        IrValue *product = low_2(lo, is_float ? IR_LLVM_FMUL : IR_LLVM_MUL, a, b);
        acc = low_2(lo, is_float ? IR_LLVM_FADD : IR_LLVM_ADD, acc, product);
    } while (next_point(&c, point));
    return low_set_result(lo, op, acc);
}
