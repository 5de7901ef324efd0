// What structured linalg ops mean: the loops they run, the map of each operand, and the
// linalg.generic each named one stands for. Loop orders are those of `mlir-opt-22
// --linalg-generalize-named-ops`.
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

// One named op: its loops, "p" parallel or "r" reduction, and for each operand the loops that index
// it; "a+b" is stride * a + dilation * b, with the first stride for the first such entry, and so
// on. A pooling says how it combines elements; contractions add.
typedef struct NamedOp {
    IrOpKind kind;
    const char *loops;
    const char *maps[3];
    IrOpKind combine_floats, combine_ints;
} NamedOp;

#define NWC_POOLING   "0 1+3 2", "3", "0 1 2"
#define NCW_POOLING   "0 1 2+3", "3", "0 1 2"
#define NHWC_POOLING  "0 1+4 2+5 3", "4 5", "0 1 2 3"
#define NCHW_POOLING  "0 1 2+4 3+5", "4 5", "0 1 2 3"
#define NDHWC_POOLING "0 1+5 2+6 3+7 4", "5 6 7", "0 1 2 3 4"
#define TAKING_MAX    IR_ARITH_MAXIMUMF, IR_ARITH_MAXSI
#define TAKING_MIN    IR_ARITH_MINIMUMF, IR_ARITH_MINSI
#define TAKING_SUM    IR_ARITH_ADDF, IR_ARITH_ADDI
static const NamedOp named_ops[] = {
    {IR_LINALG_MATMUL, "ppr", {"0 2", "2 1", "0 1"}},
    {IR_LINALG_BATCH_MATMUL, "pppr", {"0 1 3", "0 3 2", "0 1 2"}},
    {IR_LINALG_MMT4D, "pprppr", {"0 2 3 5", "1 2 4 5", "0 1 3 4"}},
    {IR_LINALG_CONV_1D, "pr", {"0+1", "1", "0"}},
    {IR_LINALG_CONV_2D, "pprr", {"0+2 1+3", "2 3", "0 1"}},
    {IR_LINALG_CONV_3D, "ppprrr", {"0+3 1+4 2+5", "3 4 5", "0 1 2"}},
    {IR_LINALG_CONV_1D_NWC_WCF, "ppprr", {"0 1+3 4", "3 4 2", "0 1 2"}},
    {IR_LINALG_CONV_1D_NCW_FCW, "ppprr", {"0 3 2+4", "1 3 4", "0 1 2"}},
    {IR_LINALG_CONV_2D_NHWC_HWCF, "pppprrr", {"0 1+4 2+5 6", "4 5 6 3", "0 1 2 3"}},
    {IR_LINALG_CONV_2D_NHWC_FHWC, "pppprrr", {"0 1+4 2+5 6", "3 4 5 6", "0 1 2 3"}},
    {IR_LINALG_CONV_2D_NCHW_FCHW, "pppprrr", {"0 4 2+5 3+6", "1 4 5 6", "0 1 2 3"}},
    {IR_LINALG_CONV_2D_NGCHW_FGCHW, "ppppprrr", {"0 1 5 3+6 4+7", "2 1 5 6 7", "0 1 2 3 4"}},
    {IR_LINALG_CONV_2D_NGCHW_GFCHW, "ppppprrr", {"0 1 5 3+6 4+7", "1 2 5 6 7", "0 1 2 3 4"}},
    {IR_LINALG_CONV_2D_NHWGC_GFHWC, "ppppprrr", {"0 1+5 2+6 3 7", "3 4 5 6 7", "0 1 2 3 4"}},
    {IR_LINALG_CONV_3D_NDHWC_DHWCF, "ppppprrrr", {"0 1+5 2+6 3+7 8", "5 6 7 8 4", "0 1 2 3 4"}},
    {IR_LINALG_CONV_3D_NCDHW_FCDHW, "ppppprrrr", {"0 5 2+6 3+7 4+8", "1 5 6 7 8", "0 1 2 3 4"}},
    {IR_LINALG_DEPTHWISE_CONV_1D_NWC_WC, "pppr", {"0 1+3 2", "3 2", "0 1 2"}},
    {IR_LINALG_DEPTHWISE_CONV_1D_NCW_CW, "pppr", {"0 2 1+3", "2 3", "0 2 1"}},
    {IR_LINALG_DEPTHWISE_CONV_1D_NWC_WCM, "ppppr", {"0 1+4 2", "4 2 3", "0 1 2 3"}},
    {IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWC, "pppprr", {"0 1+4 2+5 3", "4 5 3", "0 1 2 3"}},
    {IR_LINALG_DEPTHWISE_CONV_2D_NCHW_CHW, "pppprr", {"0 3 1+4 2+5", "3 4 5", "0 3 1 2"}},
    {IR_LINALG_DEPTHWISE_CONV_2D_NHWC_HWCM, "ppppprr", {"0 1+5 2+6 3", "5 6 3 4", "0 1 2 3 4"}},
    {IR_LINALG_DEPTHWISE_CONV_3D_NDHWC_DHWC,
     "pppprrrp",
     {"0 1+4 2+5 3+6 7", "4 5 6 7", "0 1 2 3 7"}},
    {IR_LINALG_DEPTHWISE_CONV_3D_NCDHW_CDHW,
     "pppprrrp",
     {"0 7 1+4 2+5 3+6", "7 4 5 6", "0 7 1 2 3"}},
    {IR_LINALG_DEPTHWISE_CONV_3D_NDHWC_DHWCM,
     "ppppprrrp",
     {"0 1+5 2+6 3+7 8", "5 6 7 8 4", "0 1 2 3 8 4"}},
    {IR_LINALG_POOLING_NWC_MAX, "pppr", {NWC_POOLING}, TAKING_MAX},
    {IR_LINALG_POOLING_NWC_MIN, "pppr", {NWC_POOLING}, TAKING_MIN},
    {IR_LINALG_POOLING_NWC_SUM, "pppr", {NWC_POOLING}, TAKING_SUM},
    {IR_LINALG_POOLING_NCW_MAX, "pppr", {NCW_POOLING}, TAKING_MAX},
    {IR_LINALG_POOLING_NCW_SUM, "pppr", {NCW_POOLING}, TAKING_SUM},
    {IR_LINALG_POOLING_NHWC_MAX, "pppprr", {NHWC_POOLING}, TAKING_MAX},
    {IR_LINALG_POOLING_NHWC_MIN, "pppprr", {NHWC_POOLING}, TAKING_MIN},
    {IR_LINALG_POOLING_NHWC_SUM, "pppprr", {NHWC_POOLING}, TAKING_SUM},
    {IR_LINALG_POOLING_NCHW_MAX, "pppprr", {NCHW_POOLING}, TAKING_MAX},
    {IR_LINALG_POOLING_NCHW_SUM, "pppprr", {NCHW_POOLING}, TAKING_SUM},
    {IR_LINALG_POOLING_NDHWC_MAX, "ppppprrr", {NDHWC_POOLING}, TAKING_MAX},
    {IR_LINALG_POOLING_NDHWC_MIN, "ppppprrr", {NDHWC_POOLING}, TAKING_MIN},
    {IR_LINALG_POOLING_NDHWC_SUM, "ppppprrr", {NDHWC_POOLING}, TAKING_SUM},
};

static const NamedOp *find_named(IrOpKind kind) {
    for (size_t i = 0; i < ARRAY_LEN(named_ops); i++)
        if (named_ops[i].kind == kind) return &named_ops[i];
    return NULL;
}

uint32_t ir_linalg_named_rank(IrOpKind kind, uint32_t operand) {
    const NamedOp *named = find_named(kind);
    if (!named || operand >= ARRAY_LEN(named->maps)) return 0;
    uint32_t rank = 1;
    for (const char *at = named->maps[operand]; *at; at++) rank += *at == ' ';
    return rank;
}

uint32_t ir_linalg_num_windows(IrOpKind kind) {
    const NamedOp *named = find_named(kind);
    uint32_t num = 0;
    for (const char *at = named ? named->maps[0] : ""; *at; at++) num += *at == '+';
    return num;
}

IrOpKind ir_linalg_combiner(const IrOp *op) {
    uint32_t traits = ir_op_info(op->kind)->traits;
    bool is_float = ir_type_is_float(ir_op_operand(op, op->num_operands - 1)->type->elem);
    if (traits & IR_CONTRACTION) return is_float ? IR_ARITH_ADDF : IR_ARITH_ADDI;
    if (!(traits & IR_POOLING)) return NUM_IR_OP_KINDS;
    const NamedOp *named = find_named(op->kind);
    BUG_IF(!named, "%s is a pooling without a row", ir_op_info(op->kind)->name);
    return is_float ? named->combine_floats : named->combine_ints;
}

static const IrAttr *explicit_map(const IrOp *op, uint32_t operand) {
    const IrAttr *maps = ir_op_attr(op, "indexing_maps");
    if (!maps || maps->kind != IR_ATTR_ARRAY || operand >= maps->num_elems) return NULL;
    return maps->elems[operand]->kind == IR_ATTR_MAP ? maps->elems[operand] : NULL;
}

// Element i of strides or dilations; 1 where the attribute is absent.
static int64_t window_attr(const IrOp *op, const char *name, uint32_t i) {
    const IrAttr *attr = ir_op_attr(op, name);
    if (!attr || attr->kind != IR_ATTR_DENSE || (int64_t)i >= ir_type_num_elems(attr->type))
        return 1;
    return (int64_t)ir_attr_dense_elem(attr, i);
}

static const IrAffineMap *map_from_text(IrModule *m, const IrOp *op, const char *loops,
                                        const char *text) {
    const IrAffineExpr *results[8];
    uint32_t num_results = 0, num_windows = 0;
    for (const char *at = text; *at; at++) {
        if (*at == ' ') continue;
        const IrAffineExpr *expr = ir_affine_dim(m, (uint32_t)(*at - '0'));
        if (at[1] == '+') {
            int64_t stride = window_attr(op, "strides", num_windows);
            int64_t dilation = window_attr(op, "dilations", num_windows++);
            const IrAffineExpr *inner = ir_affine_dim(m, (uint32_t)(at[2] - '0'));
            expr = ir_affine_binary(m, IR_AFFINE_MUL, expr, ir_affine_const(m, stride));
            inner = ir_affine_binary(m, IR_AFFINE_MUL, inner, ir_affine_const(m, dilation));
            expr = ir_affine_binary(m, IR_AFFINE_ADD, expr, inner);
            at += 2;
        }
        results[num_results++] = expr;
    }
    return ir_affine_map(m, (uint32_t)strlen(loops), 0, num_results, results);
}

static bool list_contains(const IrAttr *list, int64_t value) {
    for (size_t i = 0; i < list->num_values; i++)
        if (list->values[i] == value) return true;
    return false;
}

static const IrAttr *number_list(const IrOp *op, const char *name) {
    const IrAttr *list = ir_op_attr(op, name);
    BUG_IF(!list || list->kind != IR_ATTR_DENSE_ARRAY, "%s without %s", ir_op_info(op->kind)->name,
           name);
    return list;
}

// out[i] = in[permutation[i]]: dimension permutation[i] of the input runs with loop i.
static const IrAffineMap *transposed(IrModule *m, const IrAttr *permutation) {
    uint32_t rank = (uint32_t)permutation->num_values;
    uint32_t *dims = ARENA_ARRAY(&m->arena, uint32_t, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
        if (permutation->values[i] >= 0 && permutation->values[i] < rank)
            dims[permutation->values[i]] = i;
    return ir_affine_select(m, rank, rank, dims);
}

// The loops not in list, in order.
static const IrAffineMap *all_loops_but(IrModule *m, uint32_t num_loops, const IrAttr *list) {
    uint32_t *dims = ARENA_ARRAY(&m->arena, uint32_t, num_loops + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < num_loops; i++)
        if (!list_contains(list, i)) dims[n++] = i;
    return ir_affine_select(m, num_loops, n, dims);
}

const IrAffineMap *ir_linalg_map(IrModule *m, const IrOp *op, uint32_t operand) {
    const IrAttr *given = explicit_map(op, operand);
    if (given) return given->map;
    const NamedOp *named = find_named(op->kind);
    if (named) {
        BUG_IF(operand >= 3, "%s has no operand %u", ir_op_info(op->kind)->name, operand);
        return map_from_text(m, op, named->loops, named->maps[operand]);
    }
    uint32_t num_loops = ir_linalg_num_loops(op);
    bool is_input = operand < op->segments[0];
    switch (op->kind) {
    case IR_LINALG_FILL:
        if (is_input) return ir_affine_map(m, num_loops, 0, 0, NULL);
        return ir_affine_identity(m, num_loops);
    case IR_LINALG_COPY: return ir_affine_identity(m, num_loops);
    case IR_LINALG_TRANSPOSE:
        if (is_input) return transposed(m, number_list(op, "permutation"));
        return ir_affine_identity(m, num_loops);
    case IR_LINALG_BROADCAST:
        if (is_input) return all_loops_but(m, num_loops, number_list(op, "dimensions"));
        return ir_affine_identity(m, num_loops);
    case IR_LINALG_REDUCE:
        if (is_input) return ir_affine_identity(m, num_loops);
        return all_loops_but(m, num_loops, number_list(op, "dimensions"));
    default: BUG("%s has no map for operand %u", ir_op_info(op->kind)->name, operand);
    }
}

static bool map_is_text(const IrAffineMap *map, const char *loops, const char *text) {
    uint32_t i = 0;
    for (const char *at = text; *at; at++) {
        if (*at == ' ') continue;
        if (i == map->num_results || map->results[i]->kind != IR_AFFINE_DIM ||
            map->results[i]->value != *at - '0')
            return false;
        i++;
    }
    return i == map->num_results && map->num_dims == strlen(loops) && !map->num_symbols;
}

bool ir_linalg_has_default_maps(const IrOp *op) {
    const NamedOp *named = find_named(op->kind);
    const IrAttr *maps = ir_op_attr(op, "indexing_maps");
    if (!named || !maps || maps->kind != IR_ATTR_ARRAY || maps->num_elems != ARRAY_LEN(named->maps))
        return false;
    for (size_t i = 0; i < maps->num_elems; i++)
        if (maps->elems[i]->kind != IR_ATTR_MAP ||
            !map_is_text(maps->elems[i]->map, named->loops, named->maps[i]))
            return false;
    return true;
}

uint32_t ir_linalg_num_loops(const IrOp *op) {
    const IrAttr *map = explicit_map(op, 0);
    if (map) return map->map->num_dims;
    const NamedOp *named = find_named(op->kind);
    if (named) return (uint32_t)strlen(named->loops);
    BUG_IF(op->num_operands == 0, "%s without operands", ir_op_info(op->kind)->name);
    // Copy-like ops loop over their output, reductions over their input.
    uint32_t from = op->kind == IR_LINALG_REDUCE ? 0 : op->num_operands - 1;
    return op->operands[from].value->type->rank;
}

static bool output_uses_loop(const IrOp *op, uint32_t loop) {
    const IrAttr *map = explicit_map(op, op->num_operands - 1);
    BUG_IF(!map, "%s without indexing maps", ir_op_info(op->kind)->name);
    for (uint32_t i = 0; i < map->map->num_results; i++)
        if (ir_affine_uses_dim(map->map->results[i], loop)) return true;
    return false;
}

IrIterator ir_linalg_iterator(const IrOp *op, uint32_t loop) {
    const IrAttr *types = ir_op_attr(op, "iterator_types");
    if (types && types->kind == IR_ATTR_ARRAY) {
        BUG_IF(loop >= types->num_elems, "loop %u of %zu", loop, types->num_elems);
        const IrAttr *type = types->elems[loop];
        return type->kind == IR_ATTR_STRING && str_equal(type->str, "parallel") ? IR_PARALLEL
                                                                                : IR_REDUCTION;
    }
    const NamedOp *named = find_named(op->kind);
    if (named) {
        BUG_IF(loop >= strlen(named->loops), "%s has no loop %u", ir_op_info(op->kind)->name, loop);
        return named->loops[loop] == 'p' ? IR_PARALLEL : IR_REDUCTION;
    }
    if (op->kind == IR_LINALG_CONTRACT)
        return output_uses_loop(op, loop) ? IR_PARALLEL : IR_REDUCTION;
    if (op->kind == IR_LINALG_REDUCE)
        return list_contains(number_list(op, "dimensions"), loop) ? IR_REDUCTION : IR_PARALLEL;
    return IR_PARALLEL;
}

bool ir_linalg_has_reduction(const IrOp *op) {
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (ir_linalg_iterator(op, i) != IR_PARALLEL) return true;
    return false;
}

void ir_linalg_loop_ranges(IrModule *m, const IrOp *op, int64_t *out_ranges) {
    uint32_t num_loops = ir_linalg_num_loops(op);
    bool *known = base_alloc(num_loops + 1, sizeof *known);
    for (uint32_t i = 0; i < num_loops; i++) out_ranges[i] = IR_DYNAMIC;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = op->operands[i].value->type;
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        uint32_t dim;
        for (uint32_t r = 0; r < map->num_results && r < type->rank; r++) {
            if (!ir_affine_is_dim(map->results[r], &dim) || dim >= num_loops || known[dim])
                continue;
            out_ranges[dim] = type->shape[r];
            known[dim] = type->shape[r] != IR_DYNAMIC;
        }
    }
    free(known);
}
