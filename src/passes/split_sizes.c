// Versions of an entry whose sizes vary, one per bucket, with static shapes; of split-buckets.
//
//   func.func @main(%x: tensor<?x8xf32> {ingot.dims = ["n", ""]}) -> tensor<8xf32>
//       attributes {ingot.ranges = {n = {at = "m.mlir:1", max = 64, min = 1, step = 32}}} {
//     %s = sum of x over its rows
// becomes @main_s32 and
//   func.func @main_s64(%x: tensor<64x8xf32> {...}, %n: index {ingot.count = "n"}) -> tensor<8xf32>
//       attributes {ingot.entry = "main", ...} {
//     %s = sum of (row < %n ? x : -0.0)
//
// Elements at and after %n in a dimension of size n are padding and hold unspecified numbers. No
// valid element depends on them:
//   - a loop of size n that is not reduced writes an element of padding for each of padding;
//   - a reduction leaves its result as it is where the loop is past %n: what it takes in there is
//     what changes nothing (-0.0 for a sum), or the old result is chosen;
//   - the inputs of a contraction are masked as tensors, so that it stays one: -0.0 * 0.0 = -0.0;
//   - softmax over n sees minus infinity there, whose exponential is 0.
// No padding makes a fault: there, an index that is computed is 0 and a divisor is 1.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "passes/build.h"
#include "passes/mutate.h"
#include "passes/sizes.h"

enum { MAX_LOOPS = 64 };

typedef struct Version {
    IrModule *m;
    IrOp *func;
    const SizeRanges *ranges;
    Sizes sizes;
    int64_t bucket[SIZES_MAX_NAMES];
    IrValue *count[SIZES_MAX_NAMES]; // the valid ones, an argument; NULL: not needed so far
} Version;

static bool is_unknown(const IrType *type) {
    return ir_type_is_shaped(type) && !ir_type_is_static(type);
}

static int64_t fixed(const Version *v, Size size) {
    return size.name >= 0 ? v->bucket[size.name] : size.number;
}

static const IrType *fixed_type(const Version *v, const IrValue *value) {
    const IrType *type = value->type;
    int64_t shape[PLAN_MAX_RANK * 2];
    BUG_IF(type->rank > ARRAY_LEN(shape), "rank %u", type->rank);
    for (uint32_t d = 0; d < type->rank; d++)
        shape[d] = type->shape[d] == IR_DYNAMIC ? fixed(v, sizes_of_dim(&v->sizes, value, d))
                                                : type->shape[d];
    return ir_type_tensor(v->m, type->rank, shape, type->elem);
}

static IrValue *count_of(Version *v, int32_t name) {
    if (v->count[name]) return v->count[name];
    uint32_t at = ir_func_body(v->func)->num_args;
    v->count[name] = ir_func_insert_arg(v->m, v->func, at, ir_type_index(v->m));
    ir_func_set_arg_attr(v->m, v->func, at, "ingot.count",
                         ir_attr_string(v->m, v->ranges->of[name].name));
    return v->count[name];
}

// ---- masks

// The names of loops (or dimensions) that a mask is about; -1: not of it.
typedef struct Mask {
    int32_t names[MAX_LOOPS];
    uint32_t num;
} Mask;

static bool mask_is_empty(const Mask *mask) {
    for (uint32_t i = 0; i < mask->num; i++)
        if (mask->names[i] >= 0) return false;
    return true;
}

// Is the iteration at hand valid in all loops of the mask?
static IrValue *build_is_valid(Version *v, Builder *b, const Mask *mask) {
    IrValue *all = NULL;
    for (uint32_t i = 0; i < mask->num; i++) {
        if (mask->names[i] < 0) continue;
        IrValue *count = MUTATED(LOST_MASK) ? build_index(b, v->bucket[mask->names[i]])
                                            : count_of(v, mask->names[i]);
        const char *below = MUTATED(MASK_EDGE) ? "sle" : "slt";
        IrValue *is = build_cmpi(b, below, build_loop_index(b, i), count);
        all = all ? build_binary(b, IR_ARITH_ANDI, all, is) : is;
    }
    return all;
}

// The tensor with `padding` wherever it is padded in a dimension of the mask.
static IrValue *mask_tensor(Version *v, IrOp *reader, IrValue *tensor, const Mask *mask,
                            double padding) {
    Builder b = build_before(v->m, reader), body;
    const IrType *type = fixed_type(v, tensor);
    const IrAffineMap *identity = ir_affine_identity(v->m, type->rank);
    const IrAffineMap *maps[] = {identity, identity};
    char iterators[MAX_LOOPS + 1] = {0};
    memset(iterators, 'p', type->rank);
    IrValue *out = build_empty(&b, type);
    IrOp *op = build_generic(&b, 1, &tensor, 1, &out, maps, iterators, &body);
    IrValue *valid = build_is_valid(v, &body, mask);
    IrValue *other = ir_type_is_float(type->elem) ? build_float(&body, padding, type->elem)
                                                  : build_int(&body, 0, type->elem);
    IrValue *chosen = build_select(&body, valid, body.block->args[0], other);
    build_yield(&body, IR_LINALG_YIELD, 1, &chosen);
    return ir_op_result(op, 0);
}

// ---- reductions

// What a combining op may take in without changing the other operand; NULL: nothing known.
static IrValue *build_neutral(Builder *b, IrOpKind kind, const IrType *type) {
    uint32_t bits = ir_type_bits(type);
    int64_t least = (int64_t)(UINT64_MAX << (bits - 1));
    switch (kind) {
    case IR_ARITH_ADDF: return build_float(b, -0.0, type);
    case IR_ARITH_MULF: return build_float(b, 1.0, type);
    case IR_ARITH_MAXIMUMF: return build_float(b, -(double)INFINITY, type);
    case IR_ARITH_MINIMUMF: return build_float(b, (double)INFINITY, type);
    case IR_ARITH_ADDI:
    case IR_ARITH_ORI:
    case IR_ARITH_XORI:
    case IR_ARITH_MAXUI: return build_int(b, 0, type);
    case IR_ARITH_MULI: return bits > 1 ? build_int(b, 1, type) : NULL;
    case IR_ARITH_ANDI:
    case IR_ARITH_MINUI: return bits > 1 ? build_int(b, -1, type) : NULL;
    case IR_ARITH_MAXSI: return bits > 1 ? build_int(b, least, type) : NULL;
    case IR_ARITH_MINSI: return bits > 1 ? build_int(b, -(least + 1), type) : NULL;
    default: return NULL;
    }
}

// Keeps result number `out` of a generic as it is where the iteration is not valid.
static void keep_result(Version *v, IrOp *op, uint32_t out, IrValue *valid) {
    IrBlock *body = ir_op_block(op, 0);
    IrOp *yield = ir_block_terminator(body);
    IrValue *value = ir_op_operand(yield, out), *old = body->args[op->segments[0] + out];
    IrOp *last = value->def_op;
    bool combines = last && last->block == body && last->num_operands == 2 &&
                    last->num_results == 1 && ir_value_has_one_use(value);
    for (uint32_t i = 0; combines && i < 2; i++) {
        IrValue *taken = ir_op_operand(last, 1 - i);
        if (ir_op_operand(last, i) != old || taken == old) continue;
        Builder b = build_before(v->m, last);
        IrValue *neutral = build_neutral(&b, last->kind, value->type);
        if (!neutral) break;
        ir_op_set_operand(last, 1 - i, build_select(&b, valid, taken, neutral));
        return;
    }
    Builder b = build_before(v->m, yield);
    ir_op_set_operand(yield, out, build_select(&b, valid, value, old));
}

static void mask_reduction(Version *v, IrOp *op, const Mask *reduced) {
    const IrType *types[PLAN_MAX_RANK];
    uint32_t num = op->num_results;
    BUG_IF(num > ARRAY_LEN(types), "%u results", num);
    for (uint32_t i = 0; i < num; i++) types[i] = fixed_type(v, &op->results[i]);
    op = ir_linalg_generalize(v->m, op);
    for (uint32_t i = 0; i < num; i++) op->results[i].type = types[i];
    Builder b = build_before(v->m, ir_op_block(op, 0)->first);
    IrValue *valid = build_is_valid(v, &b, reduced);
    for (uint32_t i = 0; i < num; i++) keep_result(v, op, i, valid);
}

// Do both inputs of a contraction run along every loop of the mask?
static bool both_have(IrModule *m, const IrOp *op, const Mask *reduced) {
    if (!(ir_op_info(op->kind)->traits & IR_CONTRACTION) || op->segments[0] != 2) return false;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t l = 0; l < reduced->num; l++) {
            bool has = reduced->names[l] < 0;
            const IrAffineMap *map = ir_linalg_map(m, op, i);
            uint32_t dim;
            for (uint32_t r = 0; r < map->num_results && !has; r++)
                has = ir_affine_is_dim(map->results[r], &dim) && dim == l;
            if (!has) return false;
        }
    return true;
}

static void mask_contraction(Version *v, IrOp *op, const Mask *reduced) {
    static const double paddings[] = {-0.0, 0.0};
    for (uint32_t i = 0; i < 2; i++) {
        const IrAffineMap *map = ir_linalg_map(v->m, op, i);
        Mask dims = {.num = map->num_results};
        for (uint32_t r = 0; r < map->num_results; r++) {
            uint32_t loop;
            dims.names[r] = ir_affine_is_dim(map->results[r], &loop) ? reduced->names[loop] : -1;
        }
        ir_op_set_operand(op, i, mask_tensor(v, op, ir_op_operand(op, i), &dims, paddings[i]));
    }
}

// ---- faults of padding

// Is the index the loop itself, and the dimension at least as long?
static bool is_in_range(const Version *v, const Mask *loops, const IrOp *extract, uint32_t dim) {
    const IrOp *def = ir_op_operand(extract, 1 + dim)->def_op;
    int64_t number;
    if (ir_value_constant_int(ir_op_operand(extract, 1 + dim), &number)) return true;
    if (!def || def->kind != IR_LINALG_INDEX) return false;
    int32_t name = loops->names[ir_op_attr(def, "dim")->i];
    const IrValue *tensor = ir_op_operand(extract, 0);
    return name < 0 || fixed(v, sizes_of_dim(&v->sizes, tensor, dim)) >= v->bucket[name];
}

static IrValue *valid_in(Version *v, IrOp *op, const Mask *loops, IrValue **made) {
    if (*made) return *made;
    Builder b = build_before(v->m, ir_op_block(op, 0)->first);
    return *made = build_is_valid(v, &b, loops);
}

static void guard_operand(Version *v, IrOp *op, uint32_t i, IrValue *valid, int64_t harmless) {
    IrValue *operand = ir_op_operand(op, i);
    Builder b = build_before(v->m, op);
    IrValue *other =
        harmless ? build_int(&b, harmless, operand->type) : build_zero(&b, operand->type);
    ir_op_set_operand(op, i, build_select(&b, valid, operand, other));
}

// An operand that padding must not give to the op, and what to give it instead.
static bool can_fail(const IrOp *op, uint32_t *out_operand, int64_t *out_harmless) {
    *out_operand = 1;
    *out_harmless = 0;
    switch (op->kind) {
    case IR_ARITH_DIVSI:
    case IR_ARITH_DIVUI:
    case IR_ARITH_REMSI:
    case IR_ARITH_REMUI: *out_harmless = 1; return true;
    case IR_ARITH_SHLI:
    case IR_ARITH_SHRSI:
    case IR_ARITH_SHRUI: return true;
    case IR_ARITH_FPTOSI:
    case IR_ARITH_FPTOUI: *out_operand = 0; return true;
    case IR_CF_ASSERT:
        *out_operand = 0;
        *out_harmless = 1;
        return true;
    case IR_SCF_FOR:
        *out_operand = 2;
        *out_harmless = 1;
        return true;
    default: return false;
    }
}

static void guard_block(Version *v, IrOp *op, IrBlock *block, const Mask *loops, IrValue **valid) {
    FOR_EACH_OP(inner, block) {
        for (uint32_t r = 0; r < inner->num_regions; r++)
            FOR_EACH_BLOCK(nested, &inner->regions[r]) guard_block(v, op, nested, loops, valid);
        uint32_t at;
        int64_t harmless;
        if (can_fail(inner, &at, &harmless) && !ir_value_constant(ir_op_operand(inner, at)))
            guard_operand(v, inner, at, valid_in(v, op, loops, valid), harmless);
        for (uint32_t i = 1; inner->kind == IR_TENSOR_EXTRACT && i < inner->num_operands; i++)
            if (!is_in_range(v, loops, inner, i - 1))
                guard_operand(v, inner, i, valid_in(v, op, loops, valid), 0);
    }
}

// What is known of an op before others are rewritten: then sizes are numbers and have no names.
typedef struct Guard {
    IrOp *op;
    Mask loops, reduced; // of softmax: dimensions, in `reduced`
} Guard;

typedef struct Guards {
    Version *v;
    Guard *of;
    size_t num, capacity;
} Guards;

static void note_guard(IrOp *op, void *ctx) {
    Guards *guards = ctx;
    Version *v = guards->v;
    Guard guard = {.op = op};
    if (op->kind == IR_LINALG_SOFTMAX) {
        const IrValue *input = ir_op_operand(op, 0);
        guard.loops.num = guard.reduced.num = input->type->rank;
        for (uint32_t d = 0; d < input->type->rank; d++) {
            guard.loops.names[d] = sizes_of_dim(&v->sizes, input, d).name;
            bool is_reduced = (int64_t)d == ir_op_attr(op, "dimension")->i;
            guard.reduced.names[d] = is_reduced ? guard.loops.names[d] : -1;
        }
    } else if (ir_op_info(op->kind)->traits & IR_LINALG) {
        guard.loops.num = guard.reduced.num = ir_linalg_num_loops(op);
        for (uint32_t i = 0; i < guard.loops.num; i++) {
            guard.loops.names[i] = sizes_of_loop(v->m, &v->sizes, op, i).name;
            bool is_reduced = ir_linalg_iterator(op, i) == IR_REDUCTION;
            guard.reduced.names[i] = is_reduced ? guard.loops.names[i] : -1;
        }
    }
    if (mask_is_empty(&guard.loops)) return;
    ARRAY_RESERVE(guards->of, guards->num, guards->capacity);
    guards->of[guards->num++] = guard;
}

static void apply_guard(Version *v, const Guard *guard) {
    IrOp *op = guard->op;
    IrValue *valid = NULL;
    if (op->num_regions) guard_block(v, op, ir_op_block(op, 0), &guard->loops, &valid);
    if (mask_is_empty(&guard->reduced)) return;
    if (op->kind == IR_LINALG_SOFTMAX)
        ir_op_set_operand(
            op, 0, mask_tensor(v, op, ir_op_operand(op, 0), &guard->reduced, -(double)INFINITY));
    else if (both_have(v->m, op, &guard->reduced))
        mask_contraction(v, op, &guard->reduced);
    else
        mask_reduction(v, op, &guard->reduced);
}

static bool op_is_slice(const IrOp *op) {
    return op->kind == IR_TENSOR_EXTRACT_SLICE || op->kind == IR_TENSOR_INSERT_SLICE ||
           op->kind == IR_TENSOR_PARALLEL_INSERT_SLICE;
}

// ---- indices between the valid elements and the bucket's end

// Is it a loop over the same size?
static bool stays_valid(Version *v, const IrOp *op, const IrValue *index, int32_t name) {
    const IrOp *def = index->def_op, *around = op;
    if (!def || def->kind != IR_LINALG_INDEX) return false;
    while (around && around->kind != IR_LINALG_GENERIC) around = ir_op_parent(around);
    if (!around) return false;
    uint32_t loop = (uint32_t)ir_op_attr(def, "dim")->i;
    return sizes_of_loop(v->m, &v->sizes, around, loop).name == name;
}

// Padding is no element of the call: what reaches it is refused like what reaches beyond.
static void assert_below(Version *v, Builder *b, IrValue *index, int32_t name, const char *what,
                         uint32_t dim) {
    IrValue *ok = build_cmpi(b, "slt", index, count_of(v, name));
    const char *text = arena_printf(&v->m->arena, "%s dimension %u must be below its size %s", what,
                                    dim, v->ranges->of[name].name);
    IrNamedAttr msg = {ir_intern(v->m, "msg"), ir_attr_string(v->m, text)};
    build_op_full(b, &(IrOpSpec){.kind = IR_CF_ASSERT,
                                 .num_operands = 1,
                                 .operands = &ok,
                                 .num_attrs = 1,
                                 .attrs = &msg});
}

// Offsets that are known at run time only; refine-shapes has looked at the others. A slice that is
// beyond the bucket too is found by its own check.
static void bound_slice(Version *v, IrOp *op) {
    bool is_insert = op->kind != IR_TENSOR_EXTRACT_SLICE;
    const IrValue *whole = ir_op_operand(op, is_insert ? 1 : 0);
    const IrAttr *offsets = ir_op_attr(op, "static_offsets");
    const IrAttr *sizes = ir_op_attr(op, "static_sizes");
    const IrAttr *strides = ir_op_attr(op, "static_strides");
    uint32_t next = ir_op_segment_start(op, 1);
    for (uint32_t d = 0; d < whole->type->rank; d++) {
        if (offsets->values[d] != IR_DYNAMIC) continue;
        IrValue *offset = ir_op_operand(op, next++);
        int32_t name = sizes_of_dim(&v->sizes, whole, d).name;
        int64_t size = sizes->values[d], stride = strides->values[d];
        if (name < 0 || size < 1) continue;
        Builder b = build_before(v->m, op);
        int64_t span = (size - 1) * MAX(stride, 0);
        assert_below(v, &b, span ? build_add_index(&b, offset, span) : offset, name,
                     "the end of the slice along", d);
    }
}

static void bound_indices(IrOp *op, void *ctx) {
    Version *v = ctx;
    if (op->kind == IR_TENSOR_EXTRACT_SLICE || op->kind == IR_TENSOR_INSERT_SLICE)
        bound_slice(v, op);
    uint32_t at = op->kind == IR_TENSOR_INSERT;
    if (!at && op->kind != IR_TENSOR_EXTRACT) return;
    const IrValue *tensor = ir_op_operand(op, at);
    for (uint32_t d = 0; d < tensor->type->rank; d++) {
        int32_t name = sizes_of_dim(&v->sizes, tensor, d).name;
        IrValue *index = ir_op_operand(op, at + 1 + d);
        if (name < 0 || stays_valid(v, op, index, name)) continue;
        Builder b = build_before(v->m, op);
        assert_below(v, &b, index, name, "the index along", d);
    }
}

static void guard_ops(Version *v) {
    Guards guards = {.v = v};
    ir_walk(v->func, bound_indices, v);
    ir_walk(v->func, note_guard, &guards);
    for (size_t i = 0; i < guards.num; i++) apply_guard(v, &guards.of[i]);
    free(guards.of);
}

// ---- static shapes

// tensor.dim of what has a name is the count of the valid ones.
static void replace_dim(Version *v, IrOp *op) {
    Size size = sizes_of_index(&v->sizes, &op->results[0]);
    if (size.name < 0 && size.number < 0) return; // of a tensor whose size is written
    Builder b = build_before(v->m, op);
    ir_value_replace_all(ir_op_result(op, 0),
                         size.name >= 0 ? count_of(v, size.name) : build_index(&b, size.number));
    ir_op_erase(v->m, op);
}

static void replace_dims(Version *v, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) replace_dims(v, inner);
        if (op->kind == IR_TENSOR_DIM) replace_dim(v, op);
    }
}

// Operands that give sizes become numbers.
static void fix_sizes(Version *v, IrOp *op, const char *attr_name, uint32_t segment,
                      const int64_t *sizes) {
    const IrAttr *attr = ir_op_attr(op, attr_name);
    while (op->segments[segment] > 0) ir_op_remove_operand(op, ir_op_segment_start(op, segment));
    ir_op_set_attr(v->m, op, attr_name,
                   ir_attr_dense_array(v->m, attr->type, attr->num_values, sizes));
}

static void fix_slice(Version *v, IrOp *op) {
    const IrAttr *attr = ir_op_attr(op, "static_sizes");
    int64_t sizes[PLAN_MAX_RANK];
    bool is_fixed = false;
    uint32_t next = ir_op_segment_start(op, 2);
    for (uint32_t d = 0; d < attr->num_values; d++) {
        sizes[d] = attr->values[d];
        if (sizes[d] != IR_DYNAMIC) continue;
        sizes[d] = fixed(v, sizes_of_index(&v->sizes, ir_op_operand(op, next++)));
        is_fixed = true;
    }
    if (is_fixed) fix_sizes(v, op, "static_sizes", 2, sizes);
}

// Sizes are read off index operands, so this comes before tensor.dim is replaced.
static void fix_operands(Version *v, IrBlock *block) {
    FOR_EACH_OP(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) fix_operands(v, inner);
        if (op_is_slice(op)) fix_slice(v, op);
        if (op->kind == IR_TENSOR_EMPTY)
            while (op->num_operands > 0) ir_op_remove_operand(op, 0);
        if (op->kind == IR_TENSOR_EXPAND_SHAPE && is_unknown(op->results[0].type))
            fix_sizes(v, op, "static_output_shape", 1, fixed_type(v, &op->results[0])->shape);
    }
}

static void fix_value(Version *v, IrValue *value) {
    if (is_unknown(value->type)) value->type = fixed_type(v, value);
}

static void fix_types(IrOp *op, void *ctx) {
    for (uint32_t i = 0; i < op->num_results; i++) fix_value(ctx, &op->results[i]);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++) fix_value(ctx, block->args[i]);
}

// A cast between equal types says nothing any more.
static void drop_casts(IrModule *m, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) drop_casts(m, inner);
        if (op->kind != IR_TENSOR_CAST || ir_op_operand(op, 0)->type != op->results[0].type)
            continue;
        ir_value_replace_all(ir_op_result(op, 0), ir_op_operand(op, 0));
        ir_op_erase(m, op);
    }
}

// ---- the entry

// Which dimensions of the results vary.
static void name_results(Version *v) {
    IrModule *m = v->m;
    const IrOp *ret = ir_block_terminator(ir_func_body(v->func));
    const IrAttr *old = ir_op_attr(v->func, "res_attrs");
    const IrAttr **dicts = ARENA_ARRAY(&m->arena, const IrAttr *, ret->num_operands);
    for (uint32_t i = 0; i < ret->num_operands; i++) {
        const IrValue *value = ir_op_operand(ret, i);
        dicts[i] = old ? old->elems[i] : ir_attr_dict(m, 0, NULL);
        if (!is_unknown(value->type)) continue;
        const IrAttr *names[PLAN_MAX_RANK * 2];
        for (uint32_t d = 0; d < value->type->rank; d++) {
            Size size = sizes_of_dim(&v->sizes, value, d);
            names[d] = ir_attr_string(m, size.name >= 0 ? v->ranges->of[size.name].name : "");
        }
        size_t num = dicts[i]->num_entries;
        IrNamedAttr *entries = ARENA_ARRAY(&m->arena, IrNamedAttr, num + 1);
        for (size_t e = 0; e < num; e++) entries[e] = dicts[i]->entries[e];
        entries[num] =
            (IrNamedAttr){ir_intern(m, "ingot.dims"), ir_attr_array(m, value->type->rank, names)};
        dicts[i] = ir_attr_dict(m, num + 1, entries);
    }
    if (ret->num_operands)
        ir_op_set_attr(m, v->func, "res_attrs", ir_attr_array(m, ret->num_operands, dicts));
}

static void name_version(Version *v, const char *entry) {
    IrModule *m = v->m;
    const char *name = entry;
    for (uint32_t i = 0; i < v->ranges->num; i++)
        name = arena_printf(&m->arena, "%s_s%lld", name, (long long)v->bucket[i]);
    ir_op_set_attr(m, v->func, "sym_name", ir_attr_string(m, ir_symbol_unique(m, name)));
    ir_op_set_attr(m, v->func, "ingot.entry", ir_attr_string(m, entry));
}

static Status make_version(Version *v, IrOp *func, DiagSink *sink) {
    IrModule *m = v->m;
    IrValueMap map;
    ir_value_map_init(&map);
    v->func = ir_op_clone(m, func, &map);
    ir_value_map_deinit(&map);
    ir_op_insert_before(v->func, func);
    name_version(v, ir_symbol_name(func));
    Status status = sizes_prove(m, v->func, v->ranges, sink, &v->sizes);
    IrBlock *body = ir_func_body(v->func);
    if (status == STATUS_OK) {
        name_results(v);
        guard_ops(v);
        fix_operands(v, body);
        replace_dims(v, body);
        ir_walk(v->func, fix_types, v);
        drop_casts(m, body);
        ir_func_update_type(m, v->func);
    }
    sizes_deinit(&v->sizes);
    return status;
}

Status split_sizes(IrModule *m, IrOp *func, DiagSink *sink) {
    SizeRanges ranges;
    TRY(size_ranges_read(func, sink, &ranges));
    SizeVersions versions;
    BUG_IF(!size_ranges_versions(&ranges, &versions), "more versions than were read");
    for (uint32_t i = 0; i < versions.num; i++) {
        Version v = {.m = m, .ranges = &ranges};
        memcpy(v.bucket, versions.of[i], sizeof v.bucket);
        TRY(make_version(&v, func, sink));
    }
    ir_op_erase(m, func);
    return STATUS_OK;
}
