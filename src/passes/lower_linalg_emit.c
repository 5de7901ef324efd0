// Values, addresses, loads and stores of the lower-linalg pass; see lower_linalg.h.
#include <string.h>

#include "passes/bufferize.h"
#include "passes/lower_linalg.h"

IrOp *ll_prologue_op(LowerLinalg *ll, const IrOpSpec *spec) {
    IrOpSpec with_loc = *spec;
    if (!with_loc.loc) with_loc.loc = ll->b.loc;
    IrOp *op = ir_op_create(ll->m, &with_loc);
    if (ll->prologue)
        ir_op_insert_after(op, ll->prologue);
    else if (ll->body->first)
        ir_op_insert_before(op, ll->body->first);
    else
        ir_block_append(ll->body, op);
    ll->prologue = op;
    return op;
}

IrValue *ll_constant(LowerLinalg *ll, const IrAttr *attr, const IrType *type) {
    for (uint32_t i = 0; i < ll->num_constants; i++)
        if (ll->constants[i].attr == attr && ll->constants[i].value->type == type)
            return ll->constants[i].value;
    IrNamedAttr named = {ir_intern(ll->m, "value"), attr};
    IrOp *op = ll_prologue_op(ll, &(IrOpSpec){.kind = IR_ARITH_CONSTANT,
                                              .num_results = 1,
                                              .result_types = &type,
                                              .num_attrs = 1,
                                              .attrs = &named});
    ARRAY_RESERVE(ll->constants, ll->num_constants, ll->constants_capacity);
    ll->constants[ll->num_constants++] = (LlConstant){attr, ir_op_result(op, 0)};
    return ir_op_result(op, 0);
}

IrValue *ll_index(LowerLinalg *ll, int64_t value) {
    return ll_constant(ll, ir_attr_index(ll->m, value), ir_type_index(ll->m));
}

const IrType *ll_type(LowerLinalg *ll, const IrType *elem, uint32_t lanes) {
    int64_t shape = lanes;
    return lanes == 1 ? elem : ir_type_vector(ll->m, 1, &shape, elem);
}

static LlKnown *add_known(LowerLinalg *ll) {
    ARRAY_RESERVE(ll->known, ll->num_known, ll->known_capacity);
    LlKnown *known = &ll->known[ll->num_known++];
    *known = (LlKnown){0};
    return known;
}

static LlKnown *find_known(LowerLinalg *ll, const IrValue *memref, const IrAffineMap *map,
                           uint32_t lanes, uint32_t num_indices, IrValue *const *indices) {
    for (uint32_t i = ll->num_known; i-- > 0;) {
        LlKnown *known = &ll->known[i];
        if (known->is_dead || known->memref != memref || known->map != map ||
            known->lanes != lanes || known->num_indices != num_indices)
            continue;
        if (num_indices == 0 || memcmp(known->indices, indices, num_indices * sizeof *indices) == 0)
            return known;
    }
    return NULL;
}

IrValue *ll_apply(LowerLinalg *ll, const IrAffineExpr *expr, IrValue *const *dims,
                  uint32_t num_dims) {
    IrModule *m = ll->m;
    const IrAffineExpr *replaced[LL_MAX_LOOPS];
    IrValue *operands[LL_MAX_LOOPS];
    uint32_t num = 0;
    for (uint32_t d = 0; d < num_dims; d++) {
        int64_t constant;
        if (!dims[d] || !ir_affine_uses_dim(expr, d))
            replaced[d] = ir_affine_const(m, 0);
        else if (ir_value_constant_int(dims[d], &constant))
            replaced[d] = ir_affine_const(m, constant);
        else {
            replaced[d] = ir_affine_dim(m, num);
            operands[num++] = dims[d];
        }
    }
    expr = ir_affine_replace(m, expr, replaced, NULL);
    if (expr->kind == IR_AFFINE_CONST) return ll_index(ll, expr->value);
    uint32_t dim;
    if (ir_affine_is_dim(expr, &dim)) return operands[dim];
    const IrAffineMap *map = ir_affine_map(m, num, 0, 1, &expr);
    LlKnown *known = find_known(ll, NULL, map, 1, num, operands);
    if (known) return known->value;
    IrNamedAttr attr = {ir_intern(m, "map"), ir_attr_map(m, map)};
    const IrType *index = ir_type_index(m);
    IrOp *op = build_op_full(&ll->b, &(IrOpSpec){.kind = IR_AFFINE_APPLY,
                                                 .num_operands = num,
                                                 .operands = operands,
                                                 .num_results = 1,
                                                 .result_types = &index,
                                                 .num_attrs = 1,
                                                 .attrs = &attr});
    known = add_known(ll);
    known->map = map;
    known->lanes = 1;
    known->num_indices = num;
    memcpy(known->indices, operands, num * sizeof *operands);
    known->value = ir_op_result(op, 0);
    return known->value;
}

IrValue *ll_splat(LowerLinalg *ll, IrValue *scalar, uint32_t lanes) {
    if (lanes == 1) return scalar;
    IrModule *m = ll->m;
    const IrType *type = ll_type(ll, scalar->type, lanes);
    const IrAttr *attr = ir_value_constant(scalar);
    if (!attr) return build_splat(&ll->b, scalar, type);
    uint64_t bits = attr->kind == IR_ATTR_FLOAT ? attr->bits : (uint64_t)attr->i;
    if (ir_type_bits(scalar->type) == 1) bits &= 1;
    uint8_t bytes[8]; // little-endian, as DENSE holds them
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
    return ll_constant(ll, ir_attr_dense(m, type, bytes, ir_type_bytes(scalar->type), true), type);
}

IrValue *ll_index_vector(LowerLinalg *ll, IrValue *base, uint32_t lanes, uint32_t pack,
                         bool inner) {
    IrModule *m = ll->m;
    const IrType *type = ll_type(ll, ir_type_index(m), lanes);
    if (lanes == 1) return base;
    if (pack == 1) {
        IrValue *step = build_op(&ll->b, IR_VECTOR_STEP, 0, NULL, type);
        return build_binary(&ll->b, IR_ARITH_ADDI, ll_splat(ll, base, lanes), step);
    }
    uint8_t bytes[64 * 8] = {0};
    for (uint32_t l = 0; l < lanes; l++) bytes[8 * l] = (uint8_t)(inner ? l % pack : l / pack);
    IrValue *pattern = ll_constant(ll, ir_attr_dense(m, type, bytes, 8 * lanes, false), type);
    if (inner) return pattern;
    return build_binary(&ll->b, IR_ARITH_ADDI, ll_splat(ll, base, lanes), pattern);
}

IrValue *ll_shuffle(LowerLinalg *ll, IrValue *vector, uint32_t lanes, const int64_t *mask) {
    IrModule *m = ll->m;
    const IrType *type = ll_type(ll, vector->type->elem, lanes);
    IrNamedAttr attr = {ir_intern(m, "mask"),
                        ir_attr_dense_array(m, ir_type_int(m, 64), lanes, mask)};
    return ir_op_result(build_op_full(&ll->b, &(IrOpSpec){.kind = IR_VECTOR_SHUFFLE,
                                                          .num_operands = 2,
                                                          .operands = (IrValue *[]){vector, vector},
                                                          .num_results = 1,
                                                          .result_types = &type,
                                                          .num_attrs = 1,
                                                          .attrs = &attr}),
                        0);
}

// ---------------------------------------------------------------- memory

const IrValue *ll_root(const IrValue *memref) {
    while (memref->def_op && ll_is_view(memref->def_op)) memref = ir_op_operand(memref->def_op, 0);
    return memref;
}

IrValue *ll_memref(LowerLinalg *ll, IrValue *old_view) {
    return ir_value_map_get(&ll->map, old_view);
}

static uint32_t skipped_dims(const LowerLinalg *ll, const IrValue *old_view) {
    return ll->is_shrunk[old_view->index] ? 1 : 0;
}

static IrValue *known_load(LowerLinalg *ll, const IrValue *root, IrValue *memref, uint32_t rank,
                           IrValue *const *indices, uint32_t lanes) {
    LlKnown *known = find_known(ll, memref, NULL, lanes, rank, indices);
    if (known) return known->value;
    IrValue *value = lanes == 1 ? build_load(&ll->b, memref, rank, indices)
                                : build_vector_load(&ll->b, ll_type(ll, memref->type->elem, lanes),
                                                    memref, rank, indices);
    known = add_known(ll);
    *known = (LlKnown){
        .root = root, .memref = memref, .num_indices = rank, .lanes = lanes, .value = value};
    if (rank) memcpy(known->indices, indices, rank * sizeof *indices);
    return value;
}

// Do the two accesses of one buffer certainly touch different elements?
static bool are_disjoint(const LlKnown *known, const IrValue *memref, uint32_t rank,
                         IrValue *const *indices, uint32_t lanes) {
    if (known->memref != memref || known->num_indices != rank) return false;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t a, b;
        if (!ir_value_constant_int(known->indices[d], &a) || !ir_value_constant_int(indices[d], &b))
            continue;
        bool is_last = d + 1 == rank;
        int64_t len_a = is_last ? known->lanes : 1, len_b = is_last ? lanes : 1;
        if (a + len_a <= b || b + len_b <= a) return true;
    }
    return false;
}

static void known_store(LowerLinalg *ll, IrValue *value, const IrValue *root, IrValue *memref,
                        uint32_t rank, IrValue *const *indices, uint32_t lanes) {
    if (lanes == 1)
        build_store(&ll->b, value, memref, rank, indices);
    else
        build_vector_store(&ll->b, value, memref, rank, indices);
    for (uint32_t i = 0; i < ll->num_known; i++)
        if (ll->known[i].root == root && !are_disjoint(&ll->known[i], memref, rank, indices, lanes))
            ll->known[i].is_dead = true;
    LlKnown *known = add_known(ll);
    *known = (LlKnown){
        .root = root, .memref = memref, .num_indices = rank, .lanes = lanes, .value = value};
    if (rank) memcpy(known->indices, indices, rank * sizeof *indices);
}

IrValue *ll_load(LowerLinalg *ll, IrValue *old_view, IrValue *const *indices, uint32_t lanes) {
    const IrValue *root = ll_root(old_view);
    uint32_t skip = skipped_dims(ll, old_view);
    return known_load(ll, root, ll_memref(ll, old_view), old_view->type->rank - skip,
                      indices + skip, lanes);
}

void ll_store(LowerLinalg *ll, IrValue *value, IrValue *old_view, IrValue *const *indices,
              uint32_t lanes) {
    const IrValue *root = ll_root(old_view);
    uint32_t skip = skipped_dims(ll, old_view);
    known_store(ll, value, root, ll_memref(ll, old_view), old_view->type->rank - skip,
                indices + skip, lanes);
}

// The new buffer with its last two dimensions as one. Cached like a load, under no index.
static IrValue *flat_view(LowerLinalg *ll, IrValue *memref) {
    IrModule *m = ll->m;
    LlKnown *known = find_known(ll, memref, NULL, UINT32_MAX, 0, NULL);
    if (known) return known->value;
    uint32_t num_groups = memref->type->rank - 1;
    const IrAttr *groups[LL_MAX_RANK];
    for (uint32_t g = 0; g < num_groups; g++) {
        const IrAttr *dims[] = {ir_attr_i64(m, g), ir_attr_i64(m, g + 1)};
        groups[g] = ir_attr_array(m, g + 1 == num_groups ? 2 : 1, dims);
    }
    IrValue *flat = buf_collapse(&ll->b, memref, ir_attr_array(m, num_groups, groups));
    known = add_known(ll);
    *known = (LlKnown){.memref = memref, .lanes = UINT32_MAX, .value = flat};
    return flat;
}

IrValue *ll_load_flat(LowerLinalg *ll, IrValue *old_view, IrValue *const *indices, uint32_t lanes) {
    uint32_t skip = skipped_dims(ll, old_view);
    return known_load(ll, ll_root(old_view), flat_view(ll, ll_memref(ll, old_view)),
                      old_view->type->rank - skip - 1, indices + skip, lanes);
}

void ll_store_flat(LowerLinalg *ll, IrValue *value, IrValue *old_view, IrValue *const *indices,
                   uint32_t lanes) {
    uint32_t skip = skipped_dims(ll, old_view);
    known_store(ll, value, ll_root(old_view), flat_view(ll, ll_memref(ll, old_view)),
                old_view->type->rank - skip - 1, indices + skip, lanes);
}

void ll_kill(LowerLinalg *ll, const IrValue *root) {
    for (uint32_t i = 0; i < ll->num_known; i++)
        if (ll->known[i].root == root) ll->known[i].is_dead = true;
}

uint32_t ll_enter(LowerLinalg *ll) {
    return ll->num_known;
}
void ll_leave(LowerLinalg *ll, uint32_t mark) {
    ll->num_known = mark;
}

IrOp *ll_open_loop(LowerLinalg *ll, IrValue *lo, IrValue *hi, int64_t step, uint32_t num_iters,
                   IrValue *const *iters, Builder *out_outer) {
    Builder inner;
    IrOp *loop = build_for(&ll->b, lo, hi, ll_index(ll, step), num_iters, iters, &inner);
    *out_outer = ll->b;
    inner.loc = ll->b.loc;
    ll->b = inner;
    return loop;
}
