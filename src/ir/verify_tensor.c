// Checks of tensor operations, and the slices and reshapes that memref shares: V2, V11, static
// bounds.
#include "ir/verify_internal.h"

static uint32_t num_dynamic(const IrType *type) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < type->rank; i++) n += type->shape[i] == IR_DYNAMIC;
    return n;
}

bool verify_tensor_empty(Verifier *v, const IrOp *op) {
    uint32_t want = num_dynamic(op->results[0].type);
    if (op->num_operands != want) {
        FAIL_TYPE("incorrect number of dynamic sizes, has %u, expected %u", op->num_operands, want);
    }
    return true;
}

bool verify_dim(Verifier *v, const IrOp *op) {
    int64_t index;
    uint32_t rank = verify_operand_type(op, 0)->rank;
    if (verify_constant(op, 1, &index) && (index < 0 || index >= (int64_t)rank)) {
        return verify_fail(v, DIAG_I0122, op, "asks for dimension %lld of rank %u",
                           (long long)index, rank);
    }
    return true;
}

// Strides and offsets may differ where one side is dynamic.
static bool layouts_fit(const IrType *a, const IrType *b) {
    int64_t a_strides[VERIFY_MAX_RANK], b_strides[VERIFY_MAX_RANK], a_offset, b_offset;
    if (a->rank > VERIFY_MAX_RANK) return false;
    ir_memref_strides(a, a_strides, &a_offset);
    ir_memref_strides(b, b_strides, &b_offset);
    bool fits = verify_sizes_fit(a_offset, b_offset);
    for (uint32_t i = 0; i < a->rank; i++) {
        fits = fits && (verify_sizes_fit(a_strides[i], b_strides[i]) || a->shape[i] == 1);
    }
    return fits;
}

// tensor.cast, memref.cast
bool verify_shaped_cast(Verifier *v, const IrOp *op) {
    const IrType *from = verify_operand_type(op, 0), *to = op->results[0].type;
    IrTypeKind kind = op->kind == IR_TENSOR_CAST ? IR_TYPE_TENSOR : IR_TYPE_MEMREF;
    IrTypeKind unranked =
        op->kind == IR_TENSOR_CAST ? IR_TYPE_UNRANKED_TENSOR : IR_TYPE_UNRANKED_MEMREF;
    bool fits = from->kind == kind && from->elem == to->elem;
    if (fits && to->kind == unranked) return true;
    fits = fits && to->kind == kind && from->rank == to->rank;
    for (uint32_t i = 0; fits && i < from->rank; i++)
        fits = verify_sizes_fit(from->shape[i], to->shape[i]);
    if (fits && kind == IR_TYPE_MEMREF) fits = from->space == to->space && layouts_fit(from, to);
    if (!fits) {
        FAIL_TYPE("operand type '%s' and result type '%s' are cast incompatible",
                  verify_type(v, from), verify_type(v, to));
    }
    return true;
}

bool verify_out_of_range(Verifier *v, const IrOp *op, int64_t index, int64_t width, uint32_t dim,
                         int64_t size) {
    if (width == 1) {
        return verify_fail(v, DIAG_I0122, op,
                           "index %lld is out of range for dimension %u of size %lld",
                           (long long)index, dim, (long long)size);
    }
    return verify_fail(v, DIAG_I0122, op,
                       "accesses %lld elements from index %lld of dimension %u, whose size "
                       "is %lld",
                       (long long)width, (long long)index, dim, (long long)size);
}

// V2: constant indices of base's leading dimensions; a vector takes its shape of the innermost
// ones.
bool verify_indices(Verifier *v, const IrOp *op, uint32_t base, uint32_t first, uint32_t num,
                    const IrType *vector) {
    const IrType *type = verify_operand_type(op, base);
    if (num != type->rank) {
        FAIL_TYPE("incorrect number of indices for load, expected %u but got %u", type->rank, num);
    }
    uint32_t vector_rank = vector && vector->kind == IR_TYPE_VECTOR ? vector->rank : 0;
    if (vector_rank > type->rank) FAIL_TYPE("has a vector of higher rank than its memref");
    for (uint32_t i = 0; i < num; i++) {
        int64_t size = type->shape[i], index = 0, width = 1;
        if (i >= type->rank - vector_rank) width = vector->shape[i - (type->rank - vector_rank)];
        bool is_constant = verify_constant(op, first + i, &index);
        if (size == IR_DYNAMIC && (!is_constant || index >= 0)) continue;
        if (!is_constant) index = 0; // the least it can be
        if (index >= 0 && width <= size && index <= size - width) continue;
        if (!is_constant && width == 1) continue;
        return verify_out_of_range(v, op, index, width, i, size);
    }
    return true;
}

// tensor.extract, tensor.insert
bool verify_tensor_access(Verifier *v, const IrOp *op) {
    bool is_insert = op->kind == IR_TENSOR_INSERT;
    uint32_t base = is_insert ? 1 : 0;
    const IrType *value = is_insert ? verify_operand_type(op, 0) : op->results[0].type;
    const IrType *type = verify_operand_type(op, base);
    if (value != type->elem) {
        FAIL_TYPE("element type '%s' does not match '%s'", verify_type(v, value),
                  verify_type(v, type));
    }
    return verify_indices(v, op, base, base + 1, op->num_operands - base - 1, NULL);
}

// ---------------------------------------------------------------- slices

static bool check_numbers(Verifier *v, const IrOp *op, const char *name, const char *what,
                          uint32_t segment, uint32_t rank) {
    const IrAttr *attr = verify_attr(op, name, IR_ATTR_DENSE_ARRAY);
    if (!attr || attr->num_values != rank) {
        FAIL_ATTR("expected %u %s values, got %zu", rank, what, attr ? attr->num_values : 0);
    }
    uint32_t dynamic = 0;
    for (uint32_t i = 0; i < rank; i++) dynamic += attr->values[i] == IR_DYNAMIC;
    if (dynamic != op->segments[segment]) {
        FAIL_TYPE("expected %u dynamic %s values, got %u", dynamic, what, op->segments[segment]);
    }
    return true;
}

// Offsets, sizes and strides fit the sliced type, and stay inside of it where all is static.
bool verify_slice_numbers(Verifier *v, const IrOp *op, const IrType *type) {
    if (type->rank > VERIFY_MAX_RANK) FAIL_TYPE("has more than %d dimensions", VERIFY_MAX_RANK);
    if (!check_numbers(v, op, "static_offsets", "offset", 1, type->rank) ||
        !check_numbers(v, op, "static_sizes", "size", 2, type->rank) ||
        !check_numbers(v, op, "static_strides", "stride", 3, type->rank)) {
        return false;
    }
    const int64_t *offsets = ir_op_attr(op, "static_offsets")->values;
    const int64_t *sizes = ir_op_attr(op, "static_sizes")->values;
    const int64_t *strides = ir_op_attr(op, "static_strides")->values;
    for (uint32_t i = 0; i < type->rank; i++) {
        int64_t last, dim = type->shape[i];
        if (sizes[i] != IR_DYNAMIC && sizes[i] < 0)
            FAIL_ATTR("expected size %u to be non-negative", i);
        if (offsets[i] == IR_DYNAMIC || dim == IR_DYNAMIC) continue;
        bool is_empty = sizes[i] == 0 && offsets[i] == dim; // allowed at the end
        if (offsets[i] < 0 || (offsets[i] >= dim && !is_empty)) {
            FAIL_ATTR("offset %u is out-of-bounds: %lld >= %lld", i, (long long)offsets[i],
                      (long long)dim);
        }
        if (sizes[i] == IR_DYNAMIC || strides[i] == IR_DYNAMIC || sizes[i] == 0) continue;
        bool overflows = __builtin_mul_overflow(sizes[i] - 1, strides[i], &last) ||
                         __builtin_add_overflow(last, offsets[i], &last);
        if (overflows) last = strides[i] < 0 ? INT64_MIN : INT64_MAX;
        if (overflows || last >= dim || last < 0) {
            FAIL_ATTR("slice along dimension %u runs out-of-bounds: %lld >= %lld", i,
                      (long long)last, (long long)dim);
        }
    }
    return true;
}

// Is reduced the shape `sizes` without some dimensions of size 1? keep[i] tells which stay.
bool verify_reduces_rank(const int64_t *sizes, uint32_t rank, const IrType *reduced, bool *keep) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < rank; i++) {
        keep[i] = at < reduced->rank && sizes[i] == reduced->shape[at];
        if (keep[i])
            at++;
        else if (sizes[i] != 1)
            return false;
    }
    return at == reduced->rank;
}

static bool check_sliced_type(Verifier *v, const IrOp *op, const IrType *whole,
                              const IrType *slice) {
    bool keep[VERIFY_MAX_RANK];
    const IrAttr *sizes = ir_op_attr(op, "static_sizes");
    if (whole->elem == slice->elem &&
        verify_reduces_rank(sizes->values, whole->rank, slice, keep)) {
        return true;
    }
    const IrType *want = ir_type_tensor(v->m, whole->rank, sizes->values, whole->elem);
    FAIL_TYPE("expected type to be '%s' or a rank-reduced version. (size mismatch) It is '%s'",
              verify_type(v, want), verify_type(v, slice));
}

bool verify_extract_slice(Verifier *v, const IrOp *op) {
    const IrType *type = verify_operand_type(op, 0);
    return verify_slice_numbers(v, op, type) && check_sliced_type(v, op, type, op->results[0].type);
}

// tensor.insert_slice, tensor.parallel_insert_slice
bool verify_insert_slice(Verifier *v, const IrOp *op) {
    const IrType *type = verify_operand_type(op, 1);
    if (op->num_results && op->results[0].type != type)
        FAIL_TYPE("result and destination types differ");
    if (!verify_slice_numbers(v, op, type) ||
        !check_sliced_type(v, op, type, verify_operand_type(op, 0))) {
        return false;
    }
    if (op->kind != IR_TENSOR_PARALLEL_INSERT_SLICE) return true;
    const IrOp *parent = ir_op_parent(op);
    if (!parent || parent->kind != IR_SCF_FORALL_IN_PARALLEL) {
        FAIL_REGION("expects parent op 'scf.forall.in_parallel'");
    }
    const IrValue *target = ir_op_operand(op, 1);
    if (target->def_op || ir_block_parent(target->def_block) != ir_op_parent(parent)) {
        FAIL_TYPE("may only insert into an output block argument");
    }
    return true;
}

// ---------------------------------------------------------------- reshapes

static size_t group_len(const IrAttr *group) {
    return group->kind == IR_ATTR_ARRAY         ? group->num_elems
           : group->kind == IR_ATTR_DENSE_ARRAY ? group->num_values
                                                : 0;
}

static int64_t group_dim(const IrAttr *group, size_t i) {
    if (group->kind == IR_ATTR_DENSE_ARRAY) return group->values[i];
    return group->elems[i]->kind == IR_ATTR_INT ? group->elems[i]->i : -1;
}

// Group g of a reassociation starts at expanded dimension *next: its dimensions follow one another,
// and their product is the collapsed size. *next moves behind it.
static bool check_group(Verifier *v, const IrOp *op, const IrType *expanded, uint32_t g,
                        int64_t collapsed_size, uint32_t *next) {
    const IrAttr *group = ir_op_attr(op, "reassociation")->elems[g];
    size_t len = group_len(group);
    int64_t product = 1;
    uint32_t dynamic = 0;
    if (!len) FAIL_ATTR("reassociation indices must not be empty");
    for (size_t i = 0; i < len; i++, (*next)++) {
        if (*next >= expanded->rank || group_dim(group, i) != (int64_t)*next) {
            FAIL_ATTR("expected reassociation map #%u to be valid and contiguous", g);
        }
        int64_t size = expanded->shape[*next];
        if (size == IR_DYNAMIC) dynamic++;
        if (size != IR_DYNAMIC && __builtin_mul_overflow(product, size, &product)) {
            FAIL_TYPE("has more than 2^63 elements");
        }
    }
    if (dynamic > 1) { // V11
        return verify_fail(
            v, DIAG_I0131, op,
            "has %u dynamic sizes in reassociation group %u; at most one can be told "
            "apart",
            dynamic, g);
    }
    if (dynamic && collapsed_size != IR_DYNAMIC) {
        FAIL_TYPE("expected dimension %u of collapsed type to be dynamic since one or more of the "
                  "corresponding dimensions in the expanded type is dynamic",
                  g);
    }
    if (!dynamic && collapsed_size != product) {
        FAIL_TYPE("expected dimension %u of collapsed type to be static value of %lld", g,
                  (long long)product);
    }
    return true;
}

bool verify_reassociation(Verifier *v, const IrOp *op, const IrType *expanded,
                          const IrType *collapsed) {
    const IrAttr *groups = verify_attr(op, "reassociation", IR_ATTR_ARRAY);
    uint32_t next = 0;
    if (!groups || groups->num_elems != collapsed->rank) {
        FAIL_ATTR("expected collapsed rank (%u) to equal the number of reassociation maps (%zu)",
                  collapsed->rank, groups ? groups->num_elems : 0);
    }
    for (uint32_t g = 0; g < collapsed->rank; g++) {
        if (!check_group(v, op, expanded, g, collapsed->shape[g], &next)) return false;
    }
    if (next != expanded->rank && collapsed->rank) {
        FAIL_ATTR("expected expanded rank (%u) to equal the number of reassociated dimensions (%u)",
                  expanded->rank, next);
    }
    for (uint32_t i = 0; !collapsed->rank && i < expanded->rank; i++) {
        if (expanded->shape[i] != 1) FAIL_TYPE("collapses to rank 0, but dimension %u is not 1", i);
    }
    return true;
}

static int64_t known_product(int64_t stride, int64_t size) {
    int64_t product;
    bool is_unknown = stride == IR_DYNAMIC || size == IR_DYNAMIC;
    return is_unknown || __builtin_mul_overflow(stride, size, &product) ? IR_DYNAMIC : product;
}

// The stride of dimensions [start, end) collapsed to one: that of the last dimension that has more
// than one element, as the stride of a dimension of one says nothing; of the first if all have
// one. False if the others do not continue it.
static bool collapsed_stride(const IrType *type, const int64_t *strides, uint32_t start,
                             uint32_t end, int64_t *out_stride) {
    uint32_t last = end - 1;
    while (last > start && type->shape[last] == 1) last--;
    // a size known only at run time may be 1
    bool is_unsure = last > start && type->shape[last] == IR_DYNAMIC;
    *out_stride = is_unsure ? IR_DYNAMIC : strides[last];
    int64_t want = *out_stride;
    for (uint32_t i = last; i > start; i--) {
        want = known_product(want, type->shape[i]);
        if (type->shape[i - 1] == 1 || want == IR_DYNAMIC || strides[i - 1] == IR_DYNAMIC) continue;
        if (strides[i - 1] != want) return false;
    }
    return true;
}

static bool are_expanded_strides(const IrType *type, const int64_t *strides, uint32_t start,
                                 uint32_t end, int64_t stride) {
    for (uint32_t i = end; i-- > start;) {
        if (strides[i] != stride) return false;
        stride = known_product(stride, type->shape[i]);
    }
    return true;
}

// Expanding or collapsing a strided memref keeps its offset, and the source's strides decide the
// result's. A row-major one stays row-major.
static bool check_memref_layout(Verifier *v, const IrOp *op, const IrType *expanded,
                                const IrType *collapsed, bool is_expand) {
    int64_t inner[VERIFY_MAX_RANK], outer[VERIFY_MAX_RANK], inner_offset, outer_offset, stride;
    if (expanded->rank > VERIFY_MAX_RANK || collapsed->rank > VERIFY_MAX_RANK) {
        FAIL_TYPE("has more than %d dimensions", VERIFY_MAX_RANK);
    }
    ir_memref_strides(expanded, inner, &inner_offset);
    ir_memref_strides(collapsed, outer, &outer_offset);
    bool fits = inner_offset == outer_offset && expanded->space == collapsed->space;
    bool is_row_major = !expanded->has_layout && !collapsed->has_layout;
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    uint32_t start = 0;
    for (uint32_t g = 0; fits && !is_row_major && g < collapsed->rank; g++) {
        uint32_t end = start + (uint32_t)group_len(groups->elems[g]);
        fits = is_expand
                   ? are_expanded_strides(expanded, inner, start, end, outer[g])
                   : collapsed_stride(expanded, inner, start, end, &stride) && stride == outer[g];
        start = end;
    }
    if (!fits) {
        FAIL_TYPE("has a result layout that does not follow from its source: '%s' and '%s'",
                  verify_type(v, expanded), verify_type(v, collapsed));
    }
    return true;
}

// expand_shape and collapse_shape of tensor and memref
bool verify_reshape(Verifier *v, const IrOp *op) {
    bool is_expand = op->kind == IR_TENSOR_EXPAND_SHAPE || op->kind == IR_MEMREF_EXPAND_SHAPE;
    const IrType *src = verify_operand_type(op, 0), *dst = op->results[0].type;
    const IrType *expanded = is_expand ? dst : src, *collapsed = is_expand ? src : dst;
    if (src->elem != dst->elem) FAIL_TYPE("changes the element type");
    if (collapsed->rank > expanded->rank) {
        FAIL_TYPE("expected the type '%s' to have a higher rank than '%s'",
                  verify_type(v, expanded), verify_type(v, collapsed));
    }
    if (is_expand) {
        const IrAttr *shape = verify_attr(op, "static_output_shape", IR_ATTR_DENSE_ARRAY);
        if (!shape || shape->num_values != dst->rank || num_dynamic(dst) != op->num_operands - 1) {
            FAIL_ATTR("expected number of static shape dims to be equal to the output rank (%u)",
                      dst->rank);
        }
        for (uint32_t i = 0; i < dst->rank; i++) {
            if (shape->values[i] != dst->shape[i]) {
                FAIL_ATTR("static output shape does not match its result type in dimension %u", i);
            }
        }
    }
    if (!verify_reassociation(v, op, expanded, collapsed)) return false;
    return src->kind != IR_TYPE_MEMREF ||
           check_memref_layout(v, op, expanded, collapsed, is_expand);
}

// ---------------------------------------------------------------- pad

bool verify_pad(Verifier *v, const IrOp *op) {
    const IrType *src = verify_operand_type(op, 0), *dst = op->results[0].type;
    const IrBlock *block = ir_op_block(op, 0);
    if (src->elem != dst->elem || src->rank != dst->rank) {
        FAIL_TYPE("specified type '%s' does not match the source '%s'", verify_type(v, dst),
                  verify_type(v, src));
    }
    if (!check_numbers(v, op, "static_low", "low padding", 1, src->rank) ||
        !check_numbers(v, op, "static_high", "high padding", 2, src->rank)) {
        return false;
    }
    const int64_t *low = ir_op_attr(op, "static_low")->values;
    const int64_t *high = ir_op_attr(op, "static_high")->values;
    for (uint32_t i = 0; i < src->rank; i++) {
        int64_t sum;
        if ((low[i] != IR_DYNAMIC && low[i] < 0) || (high[i] != IR_DYNAMIC && high[i] < 0)) {
            FAIL_ATTR("has a negative padding in dimension %u", i);
        }
        if (low[i] == IR_DYNAMIC || high[i] == IR_DYNAMIC || src->shape[i] == IR_DYNAMIC) continue;
        bool overflows = __builtin_add_overflow(low[i], high[i], &sum) ||
                         __builtin_add_overflow(sum, src->shape[i], &sum);
        if (overflows) sum = INT64_MAX;
        if (overflows || !verify_sizes_fit(dst->shape[i], sum)) {
            FAIL_TYPE("specified type '%s' does not match the inferred size %lld of dimension %u",
                      verify_type(v, dst), (long long)sum, i);
        }
    }
    if (block->num_args != src->rank) {
        FAIL_REGION("expected the block to have %u arguments", src->rank);
    }
    for (uint32_t i = 0; i < block->num_args; i++) {
        if (block->args[i]->type->kind != IR_TYPE_INDEX)
            FAIL_TYPE("expected block argument %u to be an index", i);
    }
    return verify_yields(v, op, 0, 1, &dst->elem, "element type");
}
