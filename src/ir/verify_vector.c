// Checks of vector operations: shapes, V2 for vector access.
#include "ir/verify_internal.h"

// vector.load, vector.store, vector.maskedload, vector.maskedstore
bool verify_vector_access(Verifier *v, const IrOp *op) {
    bool is_masked = op->kind == IR_VECTOR_MASKEDLOAD || op->kind == IR_VECTOR_MASKEDSTORE;
    uint32_t base = op->kind == IR_VECTOR_STORE ? 1 : 0, last = op->num_operands - 1;
    const IrType *vector = op->num_results               ? op->results[0].type
                           : op->kind == IR_VECTOR_STORE ? verify_operand_type(op, 0)
                                                         : verify_operand_type(op, last);
    const IrType *memref = verify_operand_type(op, base);
    if (vector->elem != memref->elem) {
        FAIL_TYPE("base and result element types should match: '%s' and '%s'",
                  verify_type(v, memref), verify_type(v, vector));
    }
    if (memref->rank) {
        int64_t strides[VERIFY_MAX_RANK], offset;
        if (memref->rank > VERIFY_MAX_RANK) FAIL_TYPE("has too many dimensions");
        ir_memref_strides(memref, strides, &offset);
        if (strides[memref->rank - 1] != 1 && memref->shape[memref->rank - 1] != 1) {
            FAIL_TYPE("most minor memref dim must have unit stride");
        }
    }
    uint32_t num_indices = op->num_operands - base - 1 - (is_masked ? 2 : 0);
    if (!is_masked) return verify_indices(v, op, base, base + 1, num_indices, vector);
    const IrType *mask = verify_operand_type(op, last - 1);
    if (vector->rank != 1) FAIL_TYPE("masked access is for vectors of rank 1");
    if (!verify_same_shape(mask, vector)) FAIL_TYPE("expected vector dim to match mask dim");
    if (verify_operand_type(op, last) != vector)
        FAIL_TYPE("expected pass_thru of same type as result type");
    return verify_indices(v, op, base, base + 1, num_indices, NULL);
}

// vector.transfer_read {source, indices, padding, mask}, vector.transfer_write {value, destination,
// indices, mask}
bool verify_transfer(Verifier *v, const IrOp *op) {
    bool is_write = op->kind == IR_VECTOR_TRANSFER_WRITE;
    uint32_t base = is_write ? 1 : 0, num_indices = op->segments[is_write ? 2 : 1];
    const IrType *memref = verify_operand_type(op, base);
    const IrType *vector = is_write ? verify_operand_type(op, 0) : op->results[0].type;
    const IrAttr *map = ir_op_attr(op, "permutation_map");
    const IrAttr *in_bounds = verify_attr(op, "in_bounds", IR_ATTR_ARRAY);
    if (vector->elem != memref->elem) FAIL_TYPE("source and vector must have one element type");
    if (num_indices != memref->rank) FAIL_TYPE("requires %u indices", memref->rank);
    if (map && map->kind != IR_ATTR_MAP) FAIL_ATTR("requires a permutation_map");
    if (map && (map->map->num_dims != memref->rank || map->map->num_symbols ||
                map->map->num_results != vector->rank)) {
        FAIL_ATTR("requires a permutation_map with input dims of the same rank as the source type "
                  "and as many "
                  "results as the vector has dimensions");
    }
    if (!map && vector->rank > memref->rank)
        FAIL_TYPE("has a vector of higher rank than its memref");
    for (uint32_t i = 0, seen = 0, dim; map && i < vector->rank; i++) {
        const IrAffineExpr *expr = map->map->results[i];
        bool is_dim = ir_affine_is_dim(expr, &dim) && dim < VERIFY_MAX_RANK;
        bool is_zero = expr->kind == IR_AFFINE_CONST && expr->value == 0 && !is_write;
        if ((!is_dim && !is_zero) || (is_dim && seen & 1u << dim)) {
            FAIL_ATTR("requires a projected permutation_map (at most one dim or the zero constant "
                      "can appear "
                      "in each result)");
        }
        if (is_dim) seen |= 1u << dim;
    }
    if (ir_op_attr(op, "in_bounds") && (!in_bounds || in_bounds->num_elems != vector->rank)) {
        FAIL_ATTR("expects the in_bounds attr of same rank as the vector");
    }
    for (uint32_t i = 0; in_bounds && i < vector->rank; i++) {
        if (in_bounds->elems[i]->kind != IR_ATTR_BOOL) FAIL_ATTR("expects in_bounds of booleans");
    }
    if (!is_write && verify_operand_type(op, ir_op_segment_start(op, 2)) != memref->elem) {
        FAIL_TYPE("requires formal padding and source of the same elemental type");
    }
    if (op->segments[3]) {
        const IrType *mask = verify_operand_type(op, ir_op_segment_start(op, 3));
        uint32_t num_dims = map ? 0 : vector->rank; // broadcast ones have no mask
        for (uint32_t i = 0, dim; map && i < vector->rank; i++)
            num_dims += ir_affine_is_dim(map->map->results[i], &dim);
        if (mask->elem->kind != IR_TYPE_INT || mask->elem->width != 1 || mask->rank != num_dims) {
            FAIL_TYPE("expects mask type of i1 and rank %u, but got '%s'", num_dims,
                      verify_type(v, mask));
        }
    }
    return true;
}

bool verify_reduction(Verifier *v, const IrOp *op) {
    const IrType *vector = verify_operand_type(op, 0);
    const IrAttr *kind = verify_attr(op, "kind", IR_ATTR_STRING);
    if (!kind || !syntax_enum_known(op->kind, "kind", kind->str))
        FAIL_ATTR("requires a known attribute 'kind'");
    if (vector->rank > 1) FAIL_TYPE("unsupported reduction rank: %u", vector->rank);
    if (vector->elem != op->results[0].type)
        FAIL_TYPE("result must have the vector's element type");
    bool is_float = ir_type_is_float(vector->elem);
    bool is_for_floats = str_has_suffix(kind->str, "f"),
         is_for_both = str_equal(kind->str, "add") || str_equal(kind->str, "mul");
    if (!is_for_both && is_float != is_for_floats) {
        FAIL_TYPE("unsupported reduction type '%s' for kind '%s'", verify_type(v, vector->elem),
                  kind->str);
    }
    return true;
}

bool verify_contract(Verifier *v, const IrOp *op) {
    const IrAttr *maps = verify_attr(op, "indexing_maps", IR_ATTR_ARRAY);
    const IrAttr *iterators = verify_attr(op, "iterator_types", IR_ATTR_ARRAY);
    const IrAttr *kind = verify_attr(op, "kind", IR_ATTR_STRING);
    int64_t ranges[VERIFY_MAX_LOOPS];
    if (!kind || !syntax_enum_known(op->kind, "kind", kind->str)) {
        FAIL_ATTR("expected 'kind' attribute of type CombiningKind");
    }
    if (!maps || maps->num_elems != 3 || !iterators) {
        FAIL_ATTR("expected an indexing map for each vector operand");
    }
    if (iterators->num_elems > VERIFY_MAX_LOOPS)
        FAIL_ATTR("has more than %d loops", VERIFY_MAX_LOOPS);
    for (size_t i = 0; i < iterators->num_elems; i++) ranges[i] = -1;
    for (uint32_t o = 0; o < 3; o++) {
        const IrType *type = verify_operand_type(op, o);
        uint32_t rank = type->kind == IR_TYPE_VECTOR ? type->rank : 0, dim;
        const IrAffineMap *map = maps->elems[o]->kind == IR_ATTR_MAP ? maps->elems[o]->map : NULL;
        if (!map || map->num_symbols || map->num_dims != iterators->num_elems ||
            map->num_results != rank) {
            FAIL_ATTR("expected indexing map %u to have %zu inputs and %u results", o,
                      iterators->num_elems, rank);
        }
        for (uint32_t r = 0; r < rank; r++) {
            if (!ir_affine_is_dim(map->results[r], &dim)) {
                FAIL_ATTR("expected indexing map %u to be a projected permutation of its inputs",
                          o);
            }
            if (ranges[dim] >= 0 && ranges[dim] != type->shape[r]) {
                FAIL_TYPE("invalid contracting dimension map: loop %u has sizes %lld and %lld", dim,
                          (long long)ranges[dim], (long long)type->shape[r]);
            }
            ranges[dim] = type->shape[r];
        }
    }
    for (size_t i = 0; i < iterators->num_elems; i++) {
        const IrAttr *type = iterators->elems[i];
        if (type->kind != IR_ATTR_STRING ||
            !syntax_enum_known(op->kind, "iterator_types", type->str)) {
            FAIL_ATTR("has an unknown iterator type");
        }
        if (ranges[i] < 0) FAIL_ATTR("has the loop %zu that no operand has", i);
    }
    if (op->results[0].type != verify_operand_type(op, 2))
        FAIL_TYPE("result must have the accumulator's type");
    return true;
}

// ---------------------------------------------------------------- moving lanes

static int64_t lanes(const IrType *type) {
    return type->kind == IR_TYPE_VECTOR ? ir_type_num_elems(type) : 1;
}

static bool check_broadcast(Verifier *v, const IrOp *op) {
    const IrType *from = verify_operand_type(op, 0), *to = op->results[0].type;
    bool fits = ir_type_elem(from) == to->elem;
    uint32_t rank = from->kind == IR_TYPE_VECTOR ? from->rank : 0;
    if (rank > to->rank) FAIL_TYPE("source rank higher than destination rank");
    for (uint32_t i = 0; fits && i < rank; i++) {
        int64_t have = from->shape[rank - 1 - i], want = to->shape[to->rank - 1 - i];
        fits = have == want || have == 1;
    }
    if (!fits) {
        FAIL_TYPE("dimension mismatch: '%s' cannot be broadcast to '%s'", verify_type(v, from),
                  verify_type(v, to));
    }
    return true;
}

// vector.extract {vector, positions}, vector.insert {value, destination, positions}
static bool check_position(Verifier *v, const IrOp *op) {
    bool is_insert = op->kind == IR_VECTOR_INSERT;
    const IrType *vector = verify_operand_type(op, is_insert ? 1 : 0);
    const IrType *part = is_insert ? verify_operand_type(op, 0) : op->results[0].type;
    const IrAttr *position = verify_attr(op, "static_position", IR_ATTR_DENSE_ARRAY);
    uint32_t dynamic = 0, rank = part->kind == IR_TYPE_VECTOR ? part->rank : 0;
    if (!position || position->num_values > vector->rank) {
        FAIL_ATTR("expected position attribute of rank no greater than vector rank");
    }
    for (size_t i = 0; i < position->num_values; i++) {
        int64_t at = position->values[i];
        if (at == IR_DYNAMIC)
            dynamic++;
        else if (at < 0 || at >= vector->shape[i]) {
            return verify_fail(v, DIAG_I0122, op,
                               "expected position attribute #%zu to be a non-negative "
                               "integer smaller than the corresponding vector dimension",
                               i + 1);
        }
    }
    if (dynamic != op->segments[is_insert ? 2 : 1])
        FAIL_TYPE("has operands that do not fit its position");
    bool fits = ir_type_elem(part) == vector->elem && rank + position->num_values == vector->rank;
    for (uint32_t i = 0; fits && i < rank; i++) {
        fits = part->shape[i] == vector->shape[position->num_values + i];
    }
    if (!fits) {
        FAIL_TYPE("has '%s' at a position of '%s' that holds another type", verify_type(v, part),
                  verify_type(v, vector));
    }
    return true;
}

static bool check_shuffle(Verifier *v, const IrOp *op) {
    const IrAttr *mask = verify_attr(op, "mask", IR_ATTR_DENSE_ARRAY);
    const IrType *a = verify_operand_type(op, 0), *b = verify_operand_type(op, 1);
    const IrType *result = op->results[0].type;
    bool fits = a->rank && a->rank == b->rank && result->rank == a->rank && a->elem == b->elem &&
                result->elem == a->elem && mask && mask->num_values == (size_t)result->shape[0];
    for (uint32_t i = 1; fits && i < a->rank; i++) {
        fits = a->shape[i] == b->shape[i] && result->shape[i] == a->shape[i];
    }
    if (!fits) FAIL_TYPE("dimension mismatch between operands, mask and result");
    for (size_t i = 0; i < mask->num_values; i++) {
        if (mask->values[i] < -1 || mask->values[i] >= a->shape[0] + b->shape[0]) {
            FAIL_ATTR("mask index #%zu out of range", i + 1);
        }
    }
    return true;
}

// Two halves of the last dimension; everything else is equal.
static bool check_halves(Verifier *v, const IrOp *op, const IrType *half, const IrType *whole) {
    bool fits = half->rank && half->rank == whole->rank && half->elem == whole->elem &&
                whole->shape[whole->rank - 1] == 2 * half->shape[half->rank - 1];
    for (uint32_t i = 0; fits && i + 1 < half->rank; i++) fits = half->shape[i] == whole->shape[i];
    if (!fits) FAIL_TYPE("'%s' is not two of '%s'", verify_type(v, whole), verify_type(v, half));
    return true;
}

static bool check_bitcast(Verifier *v, const IrOp *op) {
    const IrType *from = verify_operand_type(op, 0), *to = op->results[0].type;
    bool fits = from->rank == to->rank && from->elem->kind != IR_TYPE_INDEX &&
                to->elem->kind != IR_TYPE_INDEX;
    for (uint32_t i = 0; fits && i + 1 < from->rank; i++) fits = from->shape[i] == to->shape[i];
    fits = fits && (!from->rank || from->shape[from->rank - 1] * ir_type_bits(from->elem) ==
                                       to->shape[to->rank - 1] * ir_type_bits(to->elem));
    if (!fits) FAIL_TYPE("source/result bitwidth of the minor 1-D vectors must be equal");
    return true;
}

bool verify_vector_move(Verifier *v, const IrOp *op) {
    const IrType *result = op->num_results ? op->results[0].type : NULL;
    const IrType *first = op->num_operands ? verify_operand_type(op, 0) : NULL;
    switch (op->kind) {
    case IR_VECTOR_BROADCAST: return check_broadcast(v, op);
    case IR_VECTOR_EXTRACT:
    case IR_VECTOR_INSERT: return check_position(v, op);
    case IR_VECTOR_SHUFFLE: return check_shuffle(v, op);
    case IR_VECTOR_BITCAST: return check_bitcast(v, op);
    case IR_VECTOR_SHAPE_CAST:
        if (first->elem == result->elem && lanes(first) == lanes(result)) return true;
        FAIL_TYPE("source/result number of elements must match");
    case IR_VECTOR_INTERLEAVE:
        return verify_operand_type(op, 1) == first
                   ? check_halves(v, op, first, result)
                   : verify_fail(v, DIAG_I0104, op, "requires operands of one type");
    case IR_VECTOR_DEINTERLEAVE:
        return op->results[1].type == result
                   ? check_halves(v, op, result, first)
                   : verify_fail(v, DIAG_I0104, op, "requires results of one type");
    case IR_VECTOR_STEP:
        if (result->rank == 1 && result->elem->kind == IR_TYPE_INDEX) return true;
        FAIL_TYPE("result #0 must be vector of index type values of rank 1");
    case IR_VECTOR_CREATE_MASK:
        if (op->num_operands != result->rank)
            FAIL_TYPE("must specify an operand for each result vector dimension");
        if (result->elem->kind == IR_TYPE_INT && result->elem->width == 1) return true;
        FAIL_TYPE("result #0 must be vector of 1-bit signless integer values");
    case IR_VECTOR_FROM_ELEMENTS:
        if ((int64_t)op->num_operands != lanes(result))
            FAIL_TYPE("needs one operand for each lane");
        for (uint32_t i = 0; i < op->num_operands; i++) {
            if (verify_operand_type(op, i) != result->elem)
                FAIL_TYPE("has an operand of another element type");
        }
        return true;
    case IR_VECTOR_TO_ELEMENTS:
        if ((int64_t)op->num_results != lanes(first)) FAIL_TYPE("needs one result for each lane");
        for (uint32_t i = 0; i < op->num_results; i++) {
            if (op->results[i].type != first->elem)
                FAIL_TYPE("has a result of another element type");
        }
        return true;
    default: BUG("no check for '%s'", ir_op_info(op->kind)->name);
    }
}
