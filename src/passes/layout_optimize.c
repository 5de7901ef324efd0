// layout-optimize: lays weights out the way the matrix kernels stream them, 16 output rows side by
// side, so that one vector holds the same k of 16 rows and no sum across lanes is ever needed.
//   codes of at most 4 bits  [NT, KB, B/8, 16, 4] bytes: element j and element j + B/2 of a block
//   share a byte other codes              [NT, KB, B/4, 16, 4] bytes block scales, minima     [NT,
//   KB, 16] float weights            [NT, K, 16]
// The relayouts are ops on the weights (hoist-weights moves them to compile time); every reader is
// rewritten to the new layout, element reads of a table included.
//
//   %p = generic ins(%xq, %c : [M, KB, B], [N, KB, B]) {ingot.contract = "dot"}
//   -> %t = generic ins(%c, %c) (relayout);  %p = generic ins(%xq, %t) over (m, tile, row, b, half,
//   q, i)
//
// Where the number of output rows is no multiple of 16, rows of zeros fill the last tile of the
// weight, and the columns they make are left out of a copy of the result.
//
// Convolutions get their weights in tiles (conv.c), and every map between them the layout that is
// predicted to cost least (map_choice.c).
//
// Needs: typed.  Keeps: all.  Exact but for convolutions of more than one block of input channels,
// which are summed block by block (reassoc).
#include <string.h>

#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/dce.h"
#include "passes/map_layout.h"
#include "passes/mutate.h"
#include "passes/pass.h"

enum { TILE_ROWS = 16, MAX_PACKED = 512 };

typedef struct Packed {
    IrValue *from, *to;
    bool is_nibble;
} Packed;

typedef struct Layout {
    IrModule *m;
    IrOp *func;
    Packed packed[MAX_PACKED];
    uint32_t num_packed;
    DiagSink *sink;
} Layout;

static const IrAffineExpr *dim(IrModule *m, uint32_t d) {
    return ir_affine_dim(m, d);
}

// d_a * factor + d_b + offset
static const IrAffineExpr *combine(IrModule *m, uint32_t a, int64_t factor, uint32_t b,
                                   int64_t offset) {
    const IrAffineExpr *e =
        ir_affine_binary(m, IR_AFFINE_MUL, dim(m, a), ir_affine_const(m, factor));
    e = ir_affine_binary(m, IR_AFFINE_ADD, e, dim(m, b));
    return ir_affine_binary(m, IR_AFFINE_ADD, e, ir_affine_const(m, offset));
}

// Right behind the definition of value, so that it dominates every reader.
static Builder builder_after_def(Layout *l, IrValue *value) {
    if (value->def_op) return build_after(l->m, value->def_op);
    IrOp *first = ir_func_body(l->func)->first;
    return build_before(l->m, first);
}

static uint32_t code_max(const IrValue *codes) {
    const IrOp *op = codes->def_op;
    if (op && op->kind == IR_TENSOR_COLLAPSE_SHAPE) op = ir_op_operand(op, 0)->def_op;
    const IrAttr *max = op ? ir_op_attr(op, "ingot.code_max") : NULL;
    return max && max->kind == IR_ATTR_INT ? (uint32_t)max->i : 255;
}

// ---- rows by tiles

// Rows first .. of a tensor as `part`; operands are the source, and for an insertion what it goes
// into.
static IrValue *build_slice(Builder *b, IrOpKind kind, uint32_t num, IrValue *const *operands,
                            int64_t first, const IrType *part, const IrType *result) {
    IrModule *m = b->m;
    const IrType *i64 = ir_type_int(m, 64);
    const int64_t offsets[5] = {first, 0, 0, 0, 0}, strides[5] = {1, 1, 1, 1, 1};
    IrNamedAttr attrs[] = {{"static_offsets", ir_attr_dense_array(m, i64, part->rank, offsets)},
                           {"static_sizes", ir_attr_dense_array(m, i64, part->rank, part->shape)},
                           {"static_strides", ir_attr_dense_array(m, i64, part->rank, strides)}};
    IrOpSpec spec = {.kind = kind,
                     .num_operands = num,
                     .operands = operands,
                     .num_results = 1,
                     .result_types = &result,
                     .num_attrs = 3,
                     .attrs = attrs,
                     .segments = {num}};
    return ir_op_result(build_op_full(b, &spec), 0);
}

static const IrType *with_first_size(IrModule *m, const IrType *type, int64_t size) {
    int64_t shape[5];
    memcpy(shape, type->shape, type->rank * sizeof *shape);
    shape[0] = size;
    return ir_type_tensor(m, type->rank, shape, type->elem);
}

static IrValue *take_rows(Builder *b, IrValue *from, int64_t first, int64_t num) {
    const IrType *part = with_first_size(b->m, from->type, num);
    return build_slice(b, IR_TENSOR_EXTRACT_SLICE, 1, &from, first, part, part);
}

static IrValue *put_rows(Builder *b, IrValue *part, IrValue *into, int64_t first) {
    IrValue *operands[] = {part, into};
    return build_slice(b, IR_TENSOR_INSERT_SLICE, 2, operands, first, part->type, into->type);
}

static IrValue *copy_of(Builder *b, IrValue *value) {
    uint32_t rank = value->type->rank;
    const IrAffineMap *maps[] = {ir_affine_identity(b->m, rank), ir_affine_identity(b->m, rank)};
    const char *const iterators[] = {"", "p", "pp", "ppp"};
    IrValue *out = build_empty(b, value->type);
    Builder body;
    IrOp *copy = build_generic(b, 1, &value, 1, &out, maps, iterators[rank], &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return ir_op_result(copy, 0);
}

static IrValue *tile_codes(Builder *b, IrValue *codes, bool is_nibble) {
    IrModule *m = b->m;
    Builder body;
    const int64_t *s = codes->type->shape;
    const int64_t shape[] = {s[0] / TILE_ROWS, s[1], is_nibble ? s[2] / 8 : s[2] / 4, TILE_ROWS, 4};
    const IrType *i8 = codes->type->elem;
    IrValue *out = build_empty(b, ir_type_tensor(m, 5, shape, i8));
    const IrAffineMap *maps[3];
    for (int half = 0; half < 2; half++) {
        int64_t first = (MUTATED(NIBBLE_HALVES) ? 1 - half : half) * s[2] / 2;
        const IrAffineExpr *results[] = {combine(m, 0, TILE_ROWS, 3, 0), dim(m, 1),
                                         combine(m, 2, 4, 4, first)};
        maps[half] = ir_affine_map(m, 5, 0, 3, results);
    }
    maps[is_nibble ? 2 : 1] = ir_affine_identity(m, 5);
    IrValue *ins[] = {codes, codes};
    IrOp *op = build_generic(b, is_nibble ? 2 : 1, ins, 1, &out, maps, "ppppp", &body);
    IrValue *byte = body.block->args[0];
    if (is_nibble) {
        IrValue *high =
            build_binary(&body, IR_ARITH_SHLI, body.block->args[1], build_int(&body, 4, i8));
        byte = build_binary(&body, IR_ARITH_ORI, byte, high);
    }
    build_yield(&body, IR_LINALG_YIELD, 1, &byte);
    return ir_op_result(op, 0);
}

// [N, X] -> [NT, X, 16]
static IrValue *tile_rows(Builder *b, IrValue *rows) {
    IrModule *m = b->m;
    Builder body;
    const int64_t shape[] = {rows->type->shape[0] / TILE_ROWS, rows->type->shape[1], TILE_ROWS};
    IrValue *out = build_empty(b, ir_type_tensor(m, 3, shape, rows->type->elem));
    const IrAffineExpr *results[] = {combine(m, 0, TILE_ROWS, 2, 0), dim(m, 1)};
    if (MUTATED(TILE_BROADCAST)) results[0] = combine(m, 0, TILE_ROWS - 1, 0, 0);
    const IrAffineMap *maps[] = {ir_affine_map(m, 3, 0, 2, results), ir_affine_identity(m, 3)};
    IrOp *op = build_generic(b, 1, &rows, 1, &out, maps, "ppp", &body);
    build_yield(&body, IR_LINALG_YIELD, 1, &body.block->args[0]);
    return ir_op_result(op, 0);
}

static IrValue *tile_some(Builder *b, IrValue *v, bool is_nibble) {
    return v->type->rank == 3 ? tile_codes(b, v, is_nibble) : tile_rows(b, v);
}

// [N, ...] by tiles. The rows of the last tile that are not there are 0; the others are not copied
// for that.
static IrValue *tile_all(Layout *l, IrValue *from, bool is_nibble) {
    Builder b = builder_after_def(l, from);
    int64_t rows = from->type->shape[0], rest = rows % TILE_ROWS, whole = rows - rest;
    if (rest == 0) return tile_some(&b, from, is_nibble);
    IrValue *last = build_filled(&b, with_first_size(l->m, from->type, TILE_ROWS), 0.0);
    last = put_rows(&b, copy_of(&b, take_rows(&b, from, whole, rest)), last, 0);
    last = tile_some(&b, last, is_nibble);
    if (whole == 0) return last;
    IrValue *tiles = tile_some(&b, take_rows(&b, from, 0, whole), is_nibble);
    int64_t num_whole = whole / TILE_ROWS;
    IrValue *all = build_empty(&b, with_first_size(l->m, tiles->type, num_whole + 1));
    return put_rows(&b, last, put_rows(&b, tiles, all, 0), num_whole);
}

static Packed *packed_of(Layout *l, IrValue *from) {
    for (uint32_t i = 0; i < l->num_packed; i++)
        if (l->packed[i].from == from) return &l->packed[i];
    BUG_IF(l->num_packed == MAX_PACKED, "too many weights in one function");
    bool is_codes = from->type->rank == 3;
    bool is_nibble = is_codes && code_max(from) <= 15 && from->type->shape[2] % 8 == 0;
    Packed *p = &l->packed[l->num_packed++];
    *p = (Packed){.from = from, .is_nibble = is_nibble};
    p->to = tile_all(l, from, is_nibble);
    return p;
}

// ---- contractions

// Replaces op by a generic with other operands, maps and loops but the same body; code_arg (or -1)
// is the argument that becomes a nibble chosen by loop half_loop.
typedef struct Rewrite {
    uint32_t num_ins;
    IrValue *ins[6];
    IrValue *out;
    const IrAffineMap *maps[7];
    const char *iterators;
    int code_arg;
    uint32_t half_loop;
} Rewrite;

static IrValue *nibble(Builder *body, IrValue *byte, IrValue *half) {
    const IrType *i8 = byte->type;
    IrValue *low = build_binary(body, IR_ARITH_ANDI, byte, build_int(body, 15, i8));
    IrValue *high = build_binary(body, IR_ARITH_SHRUI, byte, build_int(body, 4, i8));
    return build_select(body, build_cmpi(body, "eq", half, build_index(body, 0)), low, high);
}

static IrValue *rewrite(Layout *l, IrOp *op, const Rewrite *r) {
    IrModule *m = l->m;
    Builder b = build_before(m, op), body;
    IrOp *made = build_generic(&b, r->num_ins, r->ins, 1, &r->out, r->maps, r->iterators, &body);
    ir_op_set_attr(m, made, "ingot.contract", ir_op_attr(op, "ingot.contract"));
    IrBlock *old = ir_op_block(op, 0);
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i < old->num_args; i++) {
        IrValue *arg = body.block->args[i];
        if ((int)i == r->code_arg)
            arg = nibble(&body, arg, build_loop_index(&body, (uint32_t)r->half_loop));
        ir_value_map_set(&map, old->args[i], arg);
    }
    FOR_EACH_OP(inner, old) ir_block_append(body.block, ir_op_clone(m, inner, &map));
    ir_value_map_deinit(&map);
    return ir_op_result(made, 0);
}

static IrValue *zero_out(Builder *b, uint32_t rank, const int64_t *shape, const IrType *elem) {
    return build_filled(b, ir_type_tensor(b->m, rank, shape, elem), 0.0);
}

// x [M, KB, B] as [M, KB, (2,) Q, 4].
static IrValue *split_x(Builder *b, IrValue *x, bool is_nibble) {
    const int64_t *s = x->type->shape;
    const int64_t with_half[] = {s[0], s[1], 2, s[2] / 8, 4}, plain[] = {s[0], s[1], s[2] / 4, 4};
    const uint32_t groups[] = {1, 1, is_nibble ? 3 : 2};
    const IrType *type =
        ir_type_tensor(b->m, is_nibble ? 5 : 4, is_nibble ? with_half : plain, x->type->elem);
    return build_expand(b, x, type, 3, groups);
}

// [M, NT, 16] -> [M, N], type. Columns of rows that were added are left out of a copy, so that what
// comes after need not know of them.
static IrValue *join_rows(Builder *b, IrValue *tiled, const IrType *type) {
    const uint32_t groups[] = {1, 2};
    IrValue *joined = build_collapse(b, tiled, 2, groups);
    if (joined->type == type) return joined;
    return copy_of(b, build_slice(b, IR_TENSOR_EXTRACT_SLICE, 1, &joined, 0, type, type));
}

static void rewrite_codes_op(Layout *l, IrOp *op, bool is_dot) {
    IrModule *m = l->m;
    Builder b = build_before(m, op);
    IrValue *x = ir_op_operand(op, 0);
    Packed codes = *packed_of(l, ir_op_operand(op, 1));
    int64_t kb = x->type->shape[1];
    const int64_t shape[] = {x->type->shape[0], codes.to->type->shape[0], TILE_ROWS, kb};
    // loops: 0 m, 1 tile, 2 row, 3 block, [4 half,] q, i
    uint32_t q = codes.is_nibble ? 5 : 4, n = q + 2;
    Rewrite r = {.num_ins = op->segments[0], .code_arg = codes.is_nibble ? 1 : -1, .half_loop = 4};
    r.ins[0] = split_x(&b, x, codes.is_nibble);
    r.ins[1] = codes.to;
    r.maps[0] = codes.is_nibble ? build_dims_map(m, n, 5, 0u, 3u, 4u, 5u, 6u)
                                : build_dims_map(m, n, 4, 0u, 3u, 4u, 5u);
    r.maps[1] = build_dims_map(m, n, 5, 1u, 3u, q, 2u, q + 1);
    for (uint32_t i = 2; i < r.num_ins; i++) {
        r.ins[i] = packed_of(l, ir_op_operand(op, i))->to;
        r.maps[i] = build_dims_map(m, n, 3, 1u, 3u, 2u);
    }
    r.out = zero_out(&b, is_dot ? 4 : 3, shape, op->results[0].type->elem);
    r.maps[r.num_ins] =
        is_dot ? build_dims_map(m, n, 4, 0u, 1u, 2u, 3u) : build_dims_map(m, n, 3, 0u, 1u, 2u);
    r.iterators = is_dot ? (codes.is_nibble ? "pppprrr" : "pppprr")
                         : (codes.is_nibble ? "ppprrrr" : "ppprrr");
    IrValue *result = rewrite(l, op, &r);
    if (is_dot) { // its reader, the scale op, is rewritten next and takes the tiled form
        BUG_IF(l->num_packed == MAX_PACKED, "too many weights in one function");
        l->packed[l->num_packed++] = (Packed){.from = ir_op_result(op, 0), .to = result};
        return;
    }
    IrValue *old = ir_op_result(op, 0);
    ir_value_replace_all(old, join_rows(&b, result, old->type));
    ir_op_erase(m, op);
}

static void rewrite_scale(Layout *l, IrOp *op) {
    IrModule *m = l->m;
    Builder b = build_before(m, op);
    IrValue *p = packed_of(l, ir_op_operand(op, 0))->to;
    const IrAffineMap *per_weight = build_dims_map(m, 3, 2, 1u, 2u);
    Rewrite r = {.num_ins = op->segments[0], .code_arg = -1, .iterators = "pppr"};
    r.ins[0] = p;
    r.maps[0] = ir_affine_identity(m, 4);
    for (uint32_t i = 1; i < r.num_ins; i++) {
        bool is_weight = ir_linalg_map(m, op, i) == per_weight;
        r.ins[i] = is_weight ? packed_of(l, ir_op_operand(op, i))->to : ir_op_operand(op, i);
        r.maps[i] =
            is_weight ? build_dims_map(m, 4, 3, 1u, 3u, 2u) : build_dims_map(m, 4, 2, 0u, 3u);
    }
    r.out = zero_out(&b, 3, p->type->shape, op->results[0].type->elem);
    r.maps[r.num_ins] = build_dims_map(m, 4, 3, 0u, 1u, 2u);
    IrValue *old = ir_op_result(op, 0);
    ir_value_replace_all(old, join_rows(&b, rewrite(l, op, &r), old->type));
    IrOp *dot = ir_op_operand(op, 0)->def_op;
    ir_op_erase(m, op);
    ir_op_erase(m, dot);
}

static void rewrite_float(Layout *l, IrOp *op) {
    IrModule *m = l->m;
    Builder b = build_before(m, op);
    IrValue *x = ir_op_operand(op, 0), *w = packed_of(l, ir_op_operand(op, 1))->to;
    const int64_t shape[] = {x->type->shape[0], w->type->shape[0], TILE_ROWS};
    Rewrite r = {.num_ins = 2,
                 .ins = {x, w},
                 .out = zero_out(&b, 3, shape, ir_type_f32(m)),
                 .maps = {build_dims_map(m, 4, 2, 0u, 3u), build_dims_map(m, 4, 3, 1u, 3u, 2u),
                          build_dims_map(m, 4, 3, 0u, 1u, 2u)},
                 .iterators = "pppr",
                 .code_arg = -1};
    IrValue *old = ir_op_result(op, 0);
    ir_value_replace_all(old, join_rows(&b, rewrite(l, op, &r), old->type));
    ir_op_erase(m, op);
}

static bool weights_fit(Layout *l, const IrOp *op, IrValue *weight) {
    if (weight->type->rank != 3 || weight->type->shape[2] % 4 == 0) return true;
    Status status = diag_error(l->sink, DIAG_P0005, ir_loc_span(op->loc),
                               "a weight in blocks of %lld: the kernels take multiples of 4",
                               (long long)weight->type->shape[2]);
    (void)status;
    return false;
}

// ---- element reads

static IrValue *index_op(Builder *b, IrOpKind kind, IrValue *v, int64_t by) {
    return build_binary(b, kind, v, build_index(b, by));
}

static IrValue *extract_at(Builder *b, IrValue *tensor, uint32_t n, IrValue *const *indices) {
    IrValue *operands[8] = {tensor};
    for (uint32_t i = 0; i < n; i++) operands[i + 1] = indices[i];
    return ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT,
                                                     .num_operands = n + 1,
                                                     .operands = operands,
                                                     .num_results = 1,
                                                     .result_types = &tensor->type->elem,
                                                     .segments = {1, n}}),
                        0);
}

static void rewrite_extract(Layout *l, IrOp *op) {
    Packed p = *packed_of(l, ir_op_operand(op, 0));
    Builder b = build_before(l->m, op);
    IrValue *n = ir_op_operand(op, 1), *k = ir_op_operand(op, 2), *result;
    IrValue *tile = index_op(&b, IR_ARITH_DIVUI, n, TILE_ROWS);
    IrValue *row = index_op(&b, IR_ARITH_REMUI, n, TILE_ROWS);
    if (p.from->type->rank == 3) {
        IrValue *j = ir_op_operand(op, 3), *half = NULL;
        if (p.is_nibble) {
            half = index_op(&b, IR_ARITH_DIVUI, j, p.from->type->shape[2] / 2);
            j = index_op(&b, IR_ARITH_REMUI, j, p.from->type->shape[2] / 2);
        }
        IrValue *at[] = {tile, k, index_op(&b, IR_ARITH_DIVUI, j, 4), row,
                         index_op(&b, IR_ARITH_REMUI, j, 4)};
        result = extract_at(&b, p.to, 5, at);
        if (half) result = nibble(&b, result, half);
    } else {
        IrValue *at[] = {tile, k, row};
        result = extract_at(&b, p.to, 3, at);
    }
    ir_value_replace_all(ir_op_result(op, 0), result);
    ir_op_erase(l->m, op);
}

static bool is_packed(const Layout *l, const IrValue *value) {
    for (uint32_t i = 0; i < l->num_packed; i++)
        if (l->packed[i].from == value) return true;
    return false;
}

static void rewrite_extracts(Layout *l, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) rewrite_extracts(l, inner);
        if (op->kind != IR_TENSOR_EXTRACT) continue;
        IrValue *from = ir_op_operand(op, 0);
        bool is_code_table = from->type->rank == 3 && from->def_op && code_max(from) <= 15;
        bool fits =
            from->type->rank >= 2 && from->type->rank <= 3 && from->type->shape[0] % TILE_ROWS == 0;
        if (is_packed(l, from) || (is_code_table && fits)) rewrite_extract(l, op);
    }
}

// Its result has a dimension for the rows of a tile.
static bool is_tiled(const IrOp *op) {
    return op->results[0].type->rank == (contraction_is(op, "dot") ? 4 : 3);
}

static Status layout_function(Layout *l) {
    IrBlock *body = ir_func_body(l->func);
    FOR_EACH_OP_SAFE(op, body) {
        bool is_dot = contraction_is(op, "dot"), is_weights = contraction_is(op, "weights");
        bool is_float = contraction_is(op, "float");
        bool is_scale = contraction_is(op, "scale");
        if (!is_dot && !is_weights && !is_float && !is_scale) continue;
        if (is_tiled(op)) continue;
        if (!is_scale && !weights_fit(l, op, ir_op_operand(op, 1))) return STATUS_INVALID;
        if (is_dot || is_weights)
            rewrite_codes_op(l, op, is_dot);
        else if (is_float)
            rewrite_float(l, op);
        else if (contraction_is(op, "scale"))
            rewrite_scale(l, op);
    }
    rewrite_extracts(l, body);
    return STATUS_OK;
}

// Of the machine that is named, or the least of the CPU level.
static Status read_machine(IrModule *m, DiagSink *sink, Target *out_target) {
    CpuLevel level = (CpuLevel)0;
    if (ir_op_attr(m->op, "ingot.target")) TRY(pass_target_read(m, sink, &level));
    return pass_machine_read(m, level, sink, out_target);
}

Status pass_layout_optimize(IrModule *m, DiagSink *sink) {
    Target target = {0};
    TRY(read_machine(m, sink, &target));
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (func->kind != IR_FUNC_FUNC || !ir_func_body(func) ||
            ir_op_attr(func, "ingot.composite"))
            continue;
        Layout *l = arena_alloc(&m->arena, 1, sizeof *l);
        *l = (Layout){.m = m, .func = func, .sink = sink};
        TRY(layout_function(l));
        MapLayouts maps;
        TRY(map_layouts_choose(m, func, &target, sink, &maps));
        conv_layout(m, func, &maps, &target);
    }
    dce_module(m);
    return STATUS_OK;
}
