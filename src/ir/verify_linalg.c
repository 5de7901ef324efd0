// Checks of structured operations: maps, ranges, bodies; V5, V6, V7, V12, V13.
#include <stdlib.h>

#include "ir/verify_internal.h"

static bool is_pool(IrOpKind kind) {
    return (ir_op_info(kind)->traits & IR_POOLING) != 0;
}

// ---------------------------------------------------------------- operands and results

static bool check_operands(Verifier *v, const IrOp *op) {
    uint32_t num_inputs = op->segments[0], num_outputs = op->segments[1], num_tensors = 0;
    if (!num_outputs || op->num_operands > VERIFY_MAX_LOOPS * 2) {
        FAIL_TYPE("expected at least one output, and at most %d operands", VERIFY_MAX_LOOPS * 2);
    }
    IrTypeKind kind = verify_operand_type(op, num_inputs)->kind;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = verify_operand_type(op, i);
        bool is_shaped = type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_MEMREF;
        if (is_shaped && type->kind != kind)
            FAIL_TYPE("expected to have pure tensor or buffer semantics");
        if (!is_shaped && i >= num_inputs)
            FAIL_TYPE("output operand #%u must be a tensor or memref", i);
        if (is_shaped && type->rank > VERIFY_MAX_RANK)
            FAIL_TYPE("operand #%u has too many dimensions", i);
    }
    num_tensors = kind == IR_TYPE_TENSOR ? num_outputs : 0;
    if (op->num_results != num_tensors) {
        FAIL_TYPE("expected the number of tensor results (%u) to be equal to the number of output "
                  "tensors "
                  "(%u)",
                  op->num_results, num_tensors);
    }
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (op->results[i].type == verify_operand_type(op, num_inputs + i)) continue;
        FAIL_TYPE(
            "expected type of operand #%u ('%s') to match type of corresponding result ('%s')",
            num_inputs + i, verify_type(v, verify_operand_type(op, num_inputs + i)),
            verify_type(v, op->results[i].type));
    }
    return true;
}

// Named ops have fixed numbers of operands and ranks.
static bool check_count(Verifier *v, const IrOp *op, uint32_t num_inputs, uint32_t num_outputs) {
    if (op->segments[0] == num_inputs && op->segments[1] == num_outputs) return true;
    FAIL_TYPE("expects %u inputs and %u outputs, but has %u and %u", num_inputs, num_outputs,
              op->segments[0], op->segments[1]);
}

static bool check_window_attr(Verifier *v, const IrOp *op, const char *name) {
    const IrAttr *attr = ir_op_attr(op, name);
    if (!attr) return true;
    int64_t num = ir_linalg_num_windows(op->kind);
    bool fits = attr->kind == IR_ATTR_DENSE && attr->type->elem->kind == IR_TYPE_INT &&
                attr->type->elem->width == 64 && attr->type->rank == 1 &&
                attr->type->shape[0] == num;
    for (int64_t i = 0; fits && i < num; i++) {
        int64_t value = (int64_t)ir_attr_dense_elem(attr, i);
        fits = value > 0 && value <= INT32_MAX;
    }
    if (!fits)
        FAIL_ATTR("attribute '%s' must be 64-bit integers from 1 to 2^31 - 1, %lld of them", name,
                  (long long)num);
    return true;
}

static bool check_dims_list(Verifier *v, const IrOp *op, const char *name, uint32_t rank) {
    const IrAttr *attr = verify_attr(op, name, IR_ATTR_DENSE_ARRAY);
    if (!attr || attr->num_values > rank) FAIL_ATTR("requires attribute '%s' of dimensions", name);
    for (size_t i = 0; i < attr->num_values; i++) {
        if (attr->values[i] < 0 || attr->values[i] >= (int64_t)rank) {
            FAIL_ATTR("%s out of range: %lld of rank %u", name, (long long)attr->values[i], rank);
        }
        for (size_t j = 0; j < i; j++) {
            if (attr->values[j] == attr->values[i])
                FAIL_ATTR("%s contains %lld twice", name, (long long)attr->values[i]);
        }
    }
    return true;
}

// ---------------------------------------------------------------- maps given as attributes

static bool check_given_maps(Verifier *v, const IrOp *op) {
    const IrAttr *maps = verify_attr(op, "indexing_maps", IR_ATTR_ARRAY);
    if (!maps || maps->num_elems != op->num_operands) {
        FAIL_ATTR(
            "expected the number of indexing_map (%zu) to be equal to the number of input/output "
            "operands (%u)",
            maps ? maps->num_elems : 0, op->num_operands);
    }
    uint32_t num_loops = 0;
    for (size_t i = 0; i < maps->num_elems; i++) {
        if (maps->elems[i]->kind != IR_ATTR_MAP) FAIL_ATTR("indexing_map #%zu is no affine map", i);
        const IrAffineMap *map = maps->elems[i]->map;
        if (i == 0) num_loops = map->num_dims;
        if (num_loops > VERIFY_MAX_LOOPS) FAIL_ATTR("has more than %d loops", VERIFY_MAX_LOOPS);
        if (map->num_symbols) FAIL_ATTR("unexpected symbols in indexing_map #%zu", i);
        if (map->num_dims != num_loops) {
            FAIL_ATTR("expected indexing_map #%zu to have %u dim(s) to match the number of loops",
                      i, num_loops);
        }
    }
    return true;
}

static bool check_iterators(Verifier *v, const IrOp *op, uint32_t num_loops) {
    const IrAttr *types = verify_attr(op, "iterator_types", IR_ATTR_ARRAY);
    if (!types || types->num_elems != num_loops) {
        FAIL_ATTR("expected %u iterator types to match the number of loops, found %zu", num_loops,
                  types ? types->num_elems : 0);
    }
    for (size_t i = 0; i < types->num_elems; i++) {
        const IrAttr *type = types->elems[i];
        if (type->kind != IR_ATTR_STRING ||
            (!str_equal(type->str, "parallel") && !str_equal(type->str, "reduction"))) {
            FAIL_ATTR("iterator type #%zu is neither parallel nor reduction", i);
        }
    }
    return true;
}

// matmul and batch_matmul with maps: only some of the dimensions that operand has by default, each
// once.
static bool check_matmul_maps(Verifier *v, const IrOp *op) {
    bool is_batch = op->kind == IR_LINALG_BATCH_MATMUL;
    uint32_t m = is_batch, num_loops = 3 + m;
    const IrAttr *maps = ir_op_attr(op, "indexing_maps");
    // Bits of the loops each operand may use: (b) m k, (b) k n, (b) m n.
    uint32_t batch = is_batch ? 1 : 0, bit_m = 1u << m, bit_n = 2u << m, bit_k = 4u << m;
    uint32_t allowed[3] = {batch | bit_m | bit_k, batch | bit_k | bit_n, batch | bit_m | bit_n};
    for (uint32_t i = 0; i < 3; i++) {
        const IrAffineMap *map = maps->elems[i]->map;
        uint32_t seen = 0, dim;
        if (map->num_dims != num_loops)
            FAIL_ATTR("expected %u loops, found %u", num_loops, map->num_dims);
        for (uint32_t r = 0; r < map->num_results; r++) {
            if (!ir_affine_is_dim(map->results[r], &dim) || !(allowed[i] & 1u << dim)) {
                FAIL_ATTR(
                    "Unexpected result dim expression (outside the set of default result dims).");
            }
            if (seen & 1u << dim) FAIL_ATTR("indexing_map #%u uses a dimension twice", i);
            seen |= 1u << dim;
        }
        if (i == 2 && seen != allowed[2])
            FAIL_ATTR("Invalid Map for result: it must use every dimension");
    }
    return true;
}

static bool check_contract_maps(Verifier *v, const IrOp *op) {
    const IrAttr *maps = ir_op_attr(op, "indexing_maps");
    for (uint32_t i = 0; i < 3; i++) {
        if (!ir_affine_is_projected_permutation(maps->elems[i]->map)) {
            FAIL_ATTR("provided affine_map is not a projected permutation");
        }
    }
    for (uint32_t d = 0; d < maps->elems[0]->map->num_dims; d++) {
        uint32_t uses[3] = {0};
        for (uint32_t i = 0; i < 3; i++) {
            const IrAffineMap *map = maps->elems[i]->map;
            for (uint32_t r = 0; r < map->num_results; r++)
                uses[i] |= ir_affine_uses_dim(map->results[r], d);
        }
        if (uses[0] + uses[1] + uses[2] < 2) {
            FAIL_ATTR("iteration space dim at index %u is neither a contracting dim nor of "
                      "parallel iteration "
                      "type",
                      d);
        }
    }
    return true;
}

// ---------------------------------------------------------------- what each op needs before its
// maps can be asked

static bool check_ranks(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < 3; i++) {
        const IrType *type = verify_operand_type(op, i);
        uint32_t rank = ir_type_is_shaped(type) ? type->rank : 0;
        uint32_t want = ir_linalg_named_rank(op->kind, i);
        if (rank != want) {
            FAIL_TYPE(
                "expected operand rank (%u) to match the result rank of indexing_map #%u (%u)",
                rank, i, want);
        }
    }
    return true;
}

static bool prepare_contraction(Verifier *v, const IrOp *op) {
    if (!check_count(v, op, 2, 1)) return false;
    bool has_maps = ir_op_attr(op, "indexing_maps") != NULL;
    const IrAttr *cast = ir_op_attr(op, "cast");
    if (cast && (cast->kind != IR_ATTR_STRING || !syntax_enum_known(op->kind, "cast", cast->str))) {
        FAIL_ATTR("has an unknown attribute 'cast'");
    }
    switch (op->kind) {
    case IR_LINALG_MATMUL:
    case IR_LINALG_BATCH_MATMUL:
        if (has_maps) return check_given_maps(v, op) && check_matmul_maps(v, op);
        return check_ranks(v, op);
    case IR_LINALG_CONTRACT: return check_given_maps(v, op) && check_contract_maps(v, op);
    default: return check_ranks(v, op);
    }
}

static bool check_transpose(Verifier *v, const IrOp *op) {
    const IrType *in = verify_operand_type(op, 0), *out = verify_operand_type(op, 1);
    if (!check_count(v, op, 1, 1)) return false;
    if (in->rank != out->rank)
        FAIL_TYPE("input rank %u does not match init rank %u", in->rank, out->rank);
    if (!check_dims_list(v, op, "permutation", in->rank)) return false;
    const IrAttr *permutation = ir_op_attr(op, "permutation");
    if (permutation->num_values != in->rank) {
        FAIL_ATTR("size of permutation %zu does not match the argument rank %u",
                  permutation->num_values, in->rank);
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        if (verify_sizes_fit(out->shape[i], in->shape[permutation->values[i]])) continue;
        FAIL_TYPE("dim(result, %u) = %lld doesn't match dim(input, permutation[%u]) = %lld", i,
                  (long long)out->shape[i], i, (long long)in->shape[permutation->values[i]]);
    }
    return true;
}

static bool list_has(const IrAttr *list, int64_t value) {
    for (size_t i = 0; i < list->num_values; i++) {
        if (list->values[i] == value) return true;
    }
    return false;
}

static bool check_broadcast(Verifier *v, const IrOp *op) {
    const IrType *in = verify_operand_type(op, 0), *out = verify_operand_type(op, 1);
    if (!check_count(v, op, 1, 1) || !check_dims_list(v, op, "dimensions", out->rank)) return false;
    const IrAttr *dims = ir_op_attr(op, "dimensions");
    if (in->rank + dims->num_values != out->rank) {
        FAIL_TYPE(
            "input rank plus added dimensions does not match init rank. input rank: %u, dimensions "
            "size: %zu, init rank: %u",
            in->rank, dims->num_values, out->rank);
    }
    for (uint32_t i = 0, at = 0; i < out->rank; i++) {
        if (list_has(dims, i)) continue;
        if (!verify_sizes_fit(in->shape[at++], out->shape[i])) {
            FAIL_TYPE("input dim %u should match init dim %u. input: %lld, init: %lld", at - 1, i,
                      (long long)in->shape[at - 1], (long long)out->shape[i]);
        }
    }
    return true;
}

static void append_shape(StrBuf *text, const int64_t *sizes, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] == IR_DYNAMIC)
            strbuf_puts(text, i ? ", ?" : "?");
        else
            strbuf_printf(text, "%s%lld", i ? ", " : "", (long long)sizes[i]);
    }
}

static bool check_reduce(Verifier *v, const IrOp *op) {
    uint32_t num = op->segments[0];
    if (!num || op->segments[1] != num) return check_count(v, op, MAX(num, 1), MAX(num, 1));
    const IrType *in = verify_operand_type(op, 0);
    if (!ir_type_is_shaped(in)) FAIL_TYPE("operand #0 must be a tensor or memref");
    if (!check_dims_list(v, op, "dimensions", in->rank)) return false;
    const IrAttr *dims = ir_op_attr(op, "dimensions");
    for (size_t i = 1; i < dims->num_values; i++) {
        if (dims->values[i] < dims->values[i - 1])
            FAIL_ATTR("reduction dimensions are not in increasing order");
    }
    int64_t left[VERIFY_MAX_RANK];
    uint32_t num_left = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (!list_has(dims, i)) left[num_left++] = in->shape[i];
    }
    for (uint32_t i = 0; i < num; i++) {
        const IrType *other = verify_operand_type(op, i), *out = verify_operand_type(op, num + i);
        if (!verify_same_shape(in, other)) FAIL_TYPE("expects all inputs to have the same shapes");
        bool fits = out->rank == num_left;
        for (uint32_t d = 0; fits && d < num_left; d++)
            fits = verify_sizes_fit(out->shape[d], left[d]);
        if (fits) continue;
        StrBuf text = {0};
        strbuf_puts(&text, "init dimensions [");
        append_shape(&text, out->shape, out->rank);
        strbuf_puts(&text, "] doesn't match input dimensions after reduction [");
        append_shape(&text, left, num_left);
        (void)verify_fail(v, DIAG_I0104, op, "%s]", text.data);
        strbuf_deinit(&text);
        return false;
    }
    return true;
}

static bool check_fill_or_copy(Verifier *v, const IrOp *op) {
    if (!check_count(v, op, 1, 1)) return false;
    const IrType *in = verify_operand_type(op, 0), *out = verify_operand_type(op, 1);
    if (op->kind == IR_LINALG_FILL) {
        if (in != out->elem) {
            FAIL_TYPE("expected fill value type ('%s') to match output element type ('%s')",
                      verify_type(v, in), verify_type(v, out->elem));
        }
        return true;
    }
    bool fits = ir_type_is_shaped(in) && in->rank == out->rank;
    for (uint32_t i = 0; fits && i < in->rank; i++)
        fits = verify_sizes_fit(in->shape[i], out->shape[i]);
    if (!fits) FAIL_TYPE("expects the input to have the shape of the output");
    return true;
}

// After this the maps, loops and iterators of the op can be asked for.
static bool prepare_maps(Verifier *v, const IrOp *op) {
    switch (op->kind) {
    case IR_LINALG_GENERIC:
        return check_given_maps(v, op) &&
               check_iterators(v, op, ir_op_attr(op, "indexing_maps")->elems[0]->map->num_dims);
    case IR_LINALG_FILL:
    case IR_LINALG_COPY: return check_fill_or_copy(v, op);
    case IR_LINALG_REDUCE: return check_reduce(v, op);
    case IR_LINALG_TRANSPOSE: return check_transpose(v, op);
    case IR_LINALG_BROADCAST: return check_broadcast(v, op);
    default: break;
    }
    if (!check_window_attr(v, op, "strides") || !check_window_attr(v, op, "dilations"))
        return false;
    if (is_pool(op->kind)) return check_count(v, op, 2, 1) && check_ranks(v, op);
    return prepare_contraction(v, op);
}

// ---------------------------------------------------------------- ranges

typedef struct Loops {
    uint32_t num;
    int64_t ranges[VERIFY_MAX_LOOPS]; // IR_DYNAMIC: not static
    bool is_known[VERIFY_MAX_LOOPS];  // some operand dimension gives the range
} Loops;

static bool find_loops(Verifier *v, const IrOp *op, Loops *loops) {
    *loops = (Loops){.num = ir_linalg_num_loops(op)};
    if (loops->num > VERIFY_MAX_LOOPS) FAIL_ATTR("has more than %d loops", VERIFY_MAX_LOOPS);
    for (uint32_t i = 0; i < loops->num; i++) loops->ranges[i] = IR_DYNAMIC;
    for (uint32_t o = 0; o < op->num_operands; o++) {
        const IrType *type = verify_operand_type(op, o);
        const IrAffineMap *map = ir_linalg_map(v->m, op, o);
        uint32_t rank = ir_type_is_shaped(type) ? type->rank : 0, dim;
        if (rank != map->num_results) {
            FAIL_TYPE(
                "expected operand rank (%u) to match the result rank of indexing_map #%u (%u)",
                rank, o, map->num_results);
        }
        for (uint32_t r = 0; r < rank; r++) {
            if (!ir_affine_is_dim(map->results[r], &dim)) continue;
            loops->is_known[dim] = true;
            if (loops->ranges[dim] == IR_DYNAMIC) loops->ranges[dim] = type->shape[r];
        }
    }
    return true;
}

static bool check_invertible(Verifier *v, const IrOp *op, const Loops *loops) {
    for (uint32_t i = 0; i < loops->num; i++) {
        if (loops->is_known[i]) continue;
        StrBuf text = {0};
        uint32_t num = 0;
        for (uint32_t o = 0; o < op->num_operands; o++)
            num += ir_linalg_map(v->m, op, o)->num_results;
        const IrAffineExpr **all = ARENA_ARRAY(&v->arena, const IrAffineExpr *, num + 1);
        num = 0;
        for (uint32_t o = 0; o < op->num_operands; o++) {
            const IrAffineMap *map = ir_linalg_map(v->m, op, o);
            for (uint32_t r = 0; r < map->num_results; r++) all[num++] = map->results[r];
        }
        strbuf_puts(&text, verify_map(v, ir_affine_map(v->m, loops->num, 0, num, all)));
        (void)verify_fail(v, DIAG_I0105, op, "invalid indexing maps are non-invertible: (%s)",
                          text.data);
        strbuf_deinit(&text);
        return false;
    }
    return true;
}

// Is every dimension the expression uses of static range? Ranges of the others are taken as 1.
static bool static_ranges(const IrAffineExpr *expr, const Loops *loops, int64_t *ranges) {
    bool is_static = true;
    for (uint32_t d = 0; d < loops->num; d++) {
        bool is_used = ir_affine_uses_dim(expr, d);
        ranges[d] = loops->ranges[d];
        if (is_used && loops->ranges[d] == IR_DYNAMIC) is_static = false;
        if (!is_used || loops->ranges[d] == IR_DYNAMIC) ranges[d] = 1;
    }
    return is_static;
}

static bool check_range(Verifier *v, const IrOp *op, const Loops *loops, uint32_t o, uint32_t r) {
    const IrType *type = verify_operand_type(op, o);
    const IrAffineExpr *expr = ir_linalg_map(v->m, op, o)->results[r];
    int64_t ranges[VERIFY_MAX_LOOPS], low, high, size = type->shape[r];
    uint32_t dim;
    if (size == IR_DYNAMIC || !static_ranges(expr, loops, ranges)) return true;
    if (ir_affine_is_dim(expr, &dim)) {
        if (size == loops->ranges[dim]) return true;
        FAIL_TYPE("inferred input/output operand #%u has shape's dimension #%u to be %lld, but "
                  "found %lld",
                  o, r, (long long)loops->ranges[dim], (long long)size);
    }
    for (uint32_t d = 0; d < loops->num; d++) {
        if (ranges[d] == 0) return true; // no iteration at all
    }
    ir_affine_range(expr, ranges, &low, &high);
    if (low < 0)
        FAIL_TYPE("unexpected result less than 0 at expression #%u in indexing_map #%u", r, o);
    if (high >= size) {
        int64_t needed = high < INT64_MAX ? high + 1 : high; // ranges end there
        FAIL_TYPE("inferred input/output operand #%u has shape's dimension #%u to be greater than "
                  "or equal "
                  "to %lld, but found %lld",
                  o, r, (long long)needed, (long long)size);
    }
    if (ir_linalg_num_windows(op->kind) && high + 1 != size) { // V13
        return verify_fail(v, DIAG_I0133, op,
                           "has an input of size %lld in dimension %u where exactly %lld "
                           "is needed",
                           (long long)size, r, (long long)high + 1);
    }
    return true;
}

static bool check_ranges(Verifier *v, const IrOp *op, const Loops *loops) {
    for (uint32_t o = 0; o < op->num_operands; o++) {
        const IrType *type = verify_operand_type(op, o);
        for (uint32_t r = 0; ir_type_is_shaped(type) && r < type->rank; r++) {
            if (!check_range(v, op, loops, o, r)) return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------- bodies

static bool check_body(Verifier *v, const IrOp *op) {
    const IrBlock *block = ir_op_block(op, 0);
    if (block->num_args != op->num_operands) {
        FAIL_REGION("expected as many non-induction variable region arguments as the number of "
                    "input/output "
                    "operands (%u), found %u",
                    op->num_operands, block->num_args);
    }
    for (uint32_t i = 0; i < block->num_args; i++) {
        const IrType *want = ir_type_elem(verify_operand_type(op, i));
        if (block->args[i]->type == want) continue;
        FAIL_TYPE("expected type of bb argument #%u ('%s') to match element or self type of the "
                  "corresponding "
                  "operand ('%s')",
                  i, verify_type(v, block->args[i]->type), verify_type(v, want));
    }
    const IrOp *yield = ir_block_terminator(block);
    if (yield->num_operands != op->segments[1]) {
        return verify_fail(v, DIAG_I0104, yield,
                           "expected number of yield values (%u) to match the number of "
                           "inits / outs operands of the enclosing LinalgOp (%u)",
                           yield->num_operands, op->segments[1]);
    }
    for (uint32_t i = 0; i < yield->num_operands; i++) {
        const IrType *want = verify_operand_type(op, op->segments[0] + i)->elem;
        if (verify_operand_type(yield, i) == want) continue;
        return verify_fail(v, DIAG_I0104, yield,
                           "type of yield operand %u ('%s') doesn't match the element "
                           "type of the enclosing %s op ('%s')",
                           i + 1, verify_type(v, verify_operand_type(yield, i)),
                           ir_op_info(op->kind)->name, verify_type(v, want));
    }
    return true;
}

static bool has_body(IrOpKind kind) {
    return kind == IR_LINALG_GENERIC || kind == IR_LINALG_REDUCE;
}

// Does the op read what output i held before?
static bool reads_output(const IrOp *op, uint32_t i) {
    if (has_body(op->kind)) {
        const IrBlock *block = ir_op_block(op, 0);
        return !ir_value_is_unused(block->args[op->segments[0] + i]);
    }
    return is_pool(op->kind) || (ir_op_info(op->kind)->traits & IR_CONTRACTION);
}

// V5
static bool check_defined(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->segments[1]; i++) {
        const IrOp *def = ir_op_operand(op, op->segments[0] + i)->def_op;
        if (!def || def->kind != IR_TENSOR_EMPTY || !reads_output(op, i)) continue;
        return verify_fail(v, DIAG_I0125, op,
                           "accumulates into output %u, which comes straight from "
                           "tensor.empty: its contents are undefined",
                           i);
    }
    for (uint32_t i = 0; i < op->segments[0] && !is_pool(op->kind); i++) {
        const IrOp *def = ir_op_operand(op, i)->def_op;
        bool is_read = !has_body(op->kind) || !ir_value_is_unused(ir_op_block(op, 0)->args[i]);
        if (!def || def->kind != IR_TENSOR_EMPTY || !is_read) continue;
        return verify_fail(v, DIAG_I0125, op,
                           "reads input %u, which comes straight from tensor.empty: its "
                           "contents are undefined",
                           i);
    }
    return true;
}

static bool is_elementwise(const IrOp *op, const Loops *loops) {
    for (uint32_t i = 0; i < loops->num; i++) {
        if (ir_linalg_iterator(op, i) != IR_PARALLEL) return false;
    }
    return true;
}

// V6
static bool check_aliases(Verifier *v, const IrOp *op, const Loops *loops) {
    if (op->num_results || v->num_faults) return true; // the ops behind the operands must be sound
    for (uint32_t o = op->segments[0]; o < op->num_operands; o++) {
        VerifyExtent out = verify_extent(ir_op_operand(op, o));
        for (uint32_t i = 0; i < o; i++) {
            if (!ir_type_is_shaped(verify_operand_type(op, i))) continue;
            if (is_pool(op->kind) && i == 1) continue; // the window is a shape only
            VerifyExtent in = verify_extent(ir_op_operand(op, i));
            bool is_same = ir_op_operand(op, i) == ir_op_operand(op, o);
            bool overlaps = in.root == out.root && in.begin >= 0 && out.begin >= 0 && in.end >= 0 &&
                            out.end >= 0 && in.begin < out.end && out.begin < in.end;
            if (!is_same && !overlaps) continue;
            bool may = in.begin == out.begin && in.end == out.end && is_elementwise(op, loops) &&
                       i < op->segments[0] &&
                       ir_linalg_map(v->m, op, i) == ir_linalg_map(v->m, op, o);
            if (may) continue;
            return verify_fail(v, DIAG_I0126, op,
                               "operand #%u and output #%u share memory; that is allowed "
                               "only elementwise with equal maps",
                               i, o);
        }
    }
    return true;
}

// V7
static bool check_races(Verifier *v, const IrOp *op, const Loops *loops) {
    for (uint32_t d = 0; d < loops->num; d++) {
        if (ir_linalg_iterator(op, d) != IR_PARALLEL || loops->ranges[d] == 1) continue;
        for (uint32_t o = op->segments[0]; o < op->num_operands; o++) {
            const IrAffineMap *map = ir_linalg_map(v->m, op, o);
            bool is_used = false;
            for (uint32_t r = 0; r < map->num_results; r++) {
                is_used = is_used || ir_affine_uses_dim(map->results[r], d);
            }
            if (is_used) continue;
            return verify_fail(v, DIAG_I0127, op,
                               "parallel loop %u does not occur in the map of output #%u: "
                               "iterations would race",
                               d, o);
        }
    }
    return true;
}

// V12
static bool check_accumulator(Verifier *v, const IrOp *op) {
    if (!(ir_op_info(op->kind)->traits & IR_CONTRACTION)) return true;
    const IrType *acc = verify_operand_type(op, 2)->elem;
    const IrAttr *tolerance = ir_op_attr(op, "ingot.tol");
    bool is_f64 = false, is_float = false;
    for (uint32_t i = 0; i < 2; i++) {
        const IrType *elem = ir_type_elem(verify_operand_type(op, i));
        is_f64 = is_f64 || elem->kind == IR_TYPE_F64;
        is_float = is_float || ir_type_is_float(elem);
    }
    bool is_half = acc->kind == IR_TYPE_F16 || acc->kind == IR_TYPE_BF16;
    if (is_half && tolerance && tolerance->kind == IR_ATTR_STRING &&
        str_equal(tolerance->str, "f16acc")) {
        return true;
    }
    bool fits = ir_type_is_float(acc) ? !is_half && (!is_f64 || acc->kind == IR_TYPE_F64)
                                      : !is_float && acc->kind == IR_TYPE_INT && acc->width >= 32;
    if (fits) return true;
    return verify_fail(v, DIAG_I0132, op,
                       "accumulates in '%s'; contractions accumulate in f32 (f64, i32), "
                       "rounded by one cast afterwards",
                       verify_type(v, acc));
}

bool verify_structured(Verifier *v, const IrOp *op) {
    Loops loops;
    return check_operands(v, op) && prepare_maps(v, op) && find_loops(v, op, &loops) &&
           check_invertible(v, op, &loops) && check_ranges(v, op, &loops) &&
           (!has_body(op->kind) || check_body(v, op)) && check_accumulator(v, op) &&
           check_defined(v, op) && check_races(v, op, &loops) && check_aliases(v, op, &loops);
}

// ---------------------------------------------------------------- the others

bool verify_linalg_index(Verifier *v, const IrOp *op) {
    const IrAttr *dim = verify_attr(op, "dim", IR_ATTR_INT);
    const IrOp *parent = ir_op_parent(op);
    const IrAttr *maps = parent ? verify_attr(parent, "indexing_maps", IR_ATTR_ARRAY) : NULL;
    if (!parent || parent->kind != IR_LINALG_GENERIC || !maps || !maps->num_elems ||
        maps->elems[0]->kind != IR_ATTR_MAP) {
        FAIL_REGION("expected parent op with LinalgOp interface");
    }
    uint32_t num_loops = maps->elems[0]->map->num_dims;
    if (!dim || dim->i < 0 || dim->i >= (int64_t)num_loops) {
        FAIL_ATTR("expected dim (%lld) to be lower than the number of loops (%u) of the enclosing "
                  "LinalgOp.",
                  dim ? (long long)dim->i : -1, num_loops);
    }
    return true;
}

bool verify_softmax(Verifier *v, const IrOp *op) {
    const IrType *in = verify_operand_type(op, 0), *out = verify_operand_type(op, 1);
    const IrAttr *dimension = verify_attr(op, "dimension", IR_ATTR_INT);
    if (in->elem != out->elem) {
        FAIL_TYPE("failed to verify that input and output have same element type");
    }
    bool fits = in->rank == out->rank && op->results[0].type == out && ir_type_is_float(in->elem);
    for (uint32_t i = 0; fits && i < in->rank; i++)
        fits = verify_sizes_fit(in->shape[i], out->shape[i]);
    if (!fits) FAIL_TYPE("incompatible output shape, or no floats");
    if (!dimension || dimension->i < 0 || dimension->i >= (int64_t)in->rank) {
        FAIL_ATTR("incorrect dimension specified");
    }
    return true;
}

typedef struct Packing {
    const IrType *plain, *packed;
    const IrAttr *tiles, *positions, *permutation; // permutation: NULL if it is the identity
    bool has_padding, is_pack;
} Packing;

static bool check_packing(Verifier *v, const IrOp *op, const Packing *p) {
    uint32_t rank = p->plain->rank, dynamic = 0;
    if (rank > VERIFY_MAX_RANK || !check_dims_list(v, op, "inner_dims_pos", rank)) return false;
    if (!p->tiles || p->tiles->num_values != p->positions->num_values ||
        p->packed->rank != rank + p->tiles->num_values) {
        FAIL_TYPE("packed rank != (unpacked rank + num tiling factors)");
    }
    if (p->permutation && !check_dims_list(v, op, "outer_dims_perm", rank)) return false;
    if (p->permutation && p->permutation->num_values != rank) {
        FAIL_ATTR("has an outer_dims_perm that is no permutation of %u dimensions", rank);
    }
    for (size_t i = 0; i < p->tiles->num_values; i++) {
        int64_t tile = p->tiles->values[i];
        dynamic += tile == IR_DYNAMIC;
        if (tile != IR_DYNAMIC && tile <= 0) FAIL_ATTR("invalid zero tile factor");
        if (!verify_sizes_fit(p->packed->shape[rank + i], tile)) {
            FAIL_TYPE("inner tile sizes do not match the packed type");
        }
    }
    if (dynamic == op->segments[p->is_pack ? 3 : 2]) return true;
    FAIL_TYPE("has operands that do not fit its dynamic tiles");
}

// Outer dimension d of the packed type holds dimension permutation[d], divided by its tile.
static bool check_outer_dim(Verifier *v, const IrOp *op, const Packing *p, uint32_t d) {
    int64_t from = p->permutation ? p->permutation->values[d] : (int64_t)d;
    int64_t size = p->plain->shape[from], tile = 1;
    for (size_t i = 0; i < p->tiles->num_values; i++) {
        if (p->positions->values[i] == from) tile = p->tiles->values[i];
    }
    if (size == IR_DYNAMIC || tile == IR_DYNAMIC) return true;
    if (size % tile && p->is_pack && !p->has_padding) {
        FAIL_TYPE("invalid tile factor or output size provided. Only full tiles are supported when "
                  "padding_value is not set");
    }
    if (verify_sizes_fit(p->packed->shape[d], size / tile + (size % tile != 0))) return true;
    FAIL_TYPE("the shape of output does not hold the packed data in dimension %u", d);
}

// linalg.pack, linalg.unpack: the packed shape is the outer tiles, permuted, then the inner tiles.
bool verify_pack(Verifier *v, const IrOp *op) {
    bool is_pack = op->kind == IR_LINALG_PACK;
    const IrType *from = verify_operand_type(op, 0), *to = verify_operand_type(op, 1);
    Packing packing = {
        .plain = is_pack ? from : to,
        .packed = is_pack ? to : from,
        .tiles = verify_attr(op, "static_inner_tiles", IR_ATTR_DENSE_ARRAY),
        .positions = verify_attr(op, "inner_dims_pos", IR_ATTR_DENSE_ARRAY),
        .permutation = verify_attr(op, "outer_dims_perm", IR_ATTR_DENSE_ARRAY),
        .has_padding = is_pack && op->segments[2],
        .is_pack = is_pack,
    };
    if (packing.permutation && !packing.permutation->num_values) packing.permutation = NULL;
    if (op->results[0].type != to || from->elem != to->elem) {
        FAIL_TYPE("result and destination types differ");
    }
    if (packing.has_padding && verify_operand_type(op, ir_op_segment_start(op, 2)) != from->elem) {
        FAIL_TYPE("expected padding_value to have the element type of the source");
    }
    if (!check_packing(v, op, &packing)) return false;
    for (uint32_t d = 0; d < packing.plain->rank; d++) {
        if (!check_outer_dim(v, op, &packing, d)) return false;
    }
    return true;
}
