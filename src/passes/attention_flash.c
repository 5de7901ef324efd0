// Attention with an online softmax, as IR: no more than a block of scores is there at any time.
//
//   for tile (heads x blocks of rows), each on its own                 {ingot.attention = "flash"}
//     m = least number, l = 0, acc = 0                                 per row of the block
//     for block of keys, ascending, carrying m, l, acc
//       x = scores of the block with all elementwise ops behind them
//       m' = max(m, max x);  c = exp(m - m');  p = exp(x - m')
//       l = l * c + sum p;   acc = acc * c + p * values of the block
//     rows of the result = acc / l
//
// m begins at the least finite number, below which no difference is undefined: a row that sees
// nothing in its first blocks adds exp(-inf) = 0 and loses nothing later. A row that sees nothing
// at all ends with 0 / 0, a NaN, as a softmax over nothing but -inf does.
#include <float.h>
#include <math.h>
#include <string.h>

#include "passes/attention.h"

enum { MAX_RANK = 16 };

typedef struct Flash {
    IrModule *m;
    const AttentionMatch *a;
    Builder b;
    IrValue *at[ATTENTION_MAX_RANK]; // index of each dimension of the scores; of rows and keys: the
                                     // first
    int64_t len[ATTENTION_MAX_RANK]; // of a block; 0: the dimension stands still
    const IrType *f32;
    bool is_row_first; // in a block of scores
} Flash;

// The running state of a block of rows.
typedef struct Running {
    IrValue *max, *sum, *acc;
} Running;

// ---- indices

static IrValue *index_of(Builder *b, const IrAffineExpr *expr, IrValue *const *loops) {
    static const IrOpKind ops[] = {[IR_AFFINE_ADD] = IR_ARITH_ADDI,
                                   [IR_AFFINE_MUL] = IR_ARITH_MULI,
                                   [IR_AFFINE_MOD] = IR_ARITH_REMUI,
                                   [IR_AFFINE_FLOORDIV] = IR_ARITH_DIVUI};
    if (expr->kind == IR_AFFINE_CONST) return build_index(b, expr->value);
    if (expr->kind == IR_AFFINE_DIM) return loops[expr->value];
    IrValue *lhs = index_of(b, expr->lhs, loops), *rhs = index_of(b, expr->rhs, loops);
    return build_binary(b, ops[expr->kind], lhs, rhs);
}

// ---- slices

// Where one operand's block lies: offsets per dimension (an operand if not a constant), sizes.
typedef struct Block {
    uint32_t rank, num_dynamic, num_kept;
    int64_t offsets[MAX_RANK], sizes[MAX_RANK], kept[MAX_RANK];
    IrValue *dynamic[MAX_RANK];
    const IrAffineExpr *exprs[MAX_RANK]; // of the kept dimensions, in the loops that are left
} Block;

// Loops of an op while a block is computed: those that stand still have an index, the others a new
// number and where they begin (NULL: at 0).
typedef struct Loops {
    uint32_t num, num_left;
    bool stands[ATTENTION_MAX_LOOPS];
    uint32_t number[ATTENTION_MAX_LOOPS];
    IrValue *at[ATTENTION_MAX_LOOPS];
    int64_t len[ATTENTION_MAX_LOOPS];
} Loops;

static Loops loops_of(const Flash *f, IrOp *op) {
    Loops l = {.num = ir_linalg_num_loops(op)};
    int32_t dims[ATTENTION_MAX_LOOPS];
    int64_t ranges[ATTENTION_MAX_LOOPS];
    attention_loop_dims(f->m, f->a, op, dims);
    ir_linalg_loop_ranges(f->m, op, ranges);
    for (uint32_t i = 0; i < l.num; i++) {
        l.stands[i] = dims[i] >= 0 && f->len[dims[i]] == 0;
        l.at[i] = dims[i] >= 0 ? f->at[dims[i]] : NULL;
        l.len[i] = dims[i] >= 0 ? f->len[dims[i]] : ranges[i];
        if (!l.stands[i]) l.number[i] = l.num_left++;
    }
    return l;
}

static Block block_of(Flash *f, const Loops *l, const IrAffineMap *map, const IrType *type) {
    Block block = {.rank = type->rank};
    for (uint32_t r = 0; r < type->rank; r++) {
        uint32_t dim;
        bool is_loop = ir_affine_is_dim(map->results[r], &dim) && !l->stands[dim];
        IrValue *at = is_loop ? l->at[dim] : index_of(&f->b, map->results[r], l->at);
        int64_t constant = 0;
        block.sizes[r] = is_loop ? l->len[dim] : 1;
        if (at && !ir_value_constant_int(at, &constant)) {
            constant = IR_DYNAMIC;
            block.dynamic[block.num_dynamic++] = at;
        }
        block.offsets[r] = constant;
        if (!is_loop) continue;
        block.exprs[block.num_kept] = ir_affine_dim(f->m, l->number[dim]);
        block.kept[block.num_kept++] = block.sizes[r];
    }
    return block;
}

static uint32_t slice_attrs(IrModule *m, const Block *block, IrNamedAttr *attrs) {
    int64_t strides[MAX_RANK];
    for (uint32_t r = 0; r < block->rank; r++) strides[r] = 1;
    const IrType *i64 = ir_type_int(m, 64);
    attrs[0] = (IrNamedAttr){ir_intern(m, "static_offsets"),
                             ir_attr_dense_array(m, i64, block->rank, block->offsets)};
    attrs[1] = (IrNamedAttr){ir_intern(m, "static_sizes"),
                             ir_attr_dense_array(m, i64, block->rank, block->sizes)};
    attrs[2] = (IrNamedAttr){ir_intern(m, "static_strides"),
                             ir_attr_dense_array(m, i64, block->rank, strides)};
    return 3;
}

static IrValue *extract_block(Flash *f, IrValue *from, const Block *block) {
    IrValue *operands[1 + MAX_RANK] = {from};
    memcpy(operands + 1, block->dynamic, block->num_dynamic * sizeof *operands);
    IrNamedAttr attrs[3];
    uint32_t num_attrs = slice_attrs(f->m, block, attrs);
    const IrType *type = ir_type_tensor(f->m, block->num_kept, block->kept, from->type->elem);
    return ir_op_result(build_op_full(&f->b, &(IrOpSpec){.kind = IR_TENSOR_EXTRACT_SLICE,
                                                         .num_operands = 1 + block->num_dynamic,
                                                         .operands = operands,
                                                         .num_results = 1,
                                                         .result_types = &type,
                                                         .num_attrs = num_attrs,
                                                         .attrs = attrs,
                                                         .segments = {1, block->num_dynamic}}),
                        0);
}

static IrValue *insert_block(Flash *f, IrValue *from, IrValue *into, const Block *block) {
    IrValue *operands[2 + MAX_RANK] = {from, into};
    memcpy(operands + 2, block->dynamic, block->num_dynamic * sizeof *operands);
    IrNamedAttr attrs[3];
    uint32_t num_attrs = slice_attrs(f->m, block, attrs);
    return ir_op_result(build_op_full(&f->b, &(IrOpSpec){.kind = IR_TENSOR_INSERT_SLICE,
                                                         .num_operands = 2 + block->num_dynamic,
                                                         .operands = operands,
                                                         .num_results = 1,
                                                         .result_types = &into->type,
                                                         .num_attrs = num_attrs,
                                                         .attrs = attrs,
                                                         .segments = {2, block->num_dynamic}}),
                        0);
}

// ---- one op on a block

static void clone_body(Flash *f, const Loops *l, const IrBlock *from, Builder *body) {
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i < from->num_args; i++)
        ir_value_map_set(&map, from->args[i], body->block->args[i]);
    FOR_EACH_OP(op, from) {
        if (op == from->last) break;
        body->loc = op->loc;
        if (op->kind != IR_LINALG_INDEX) {
            ir_block_append(body->block, ir_op_clone(f->m, op, &map));
            continue;
        }
        uint32_t loop = (uint32_t)ir_op_attr(op, "dim")->i;
        IrValue *index = l->at[loop];
        if (!l->stands[loop]) {
            index = build_loop_index(body, l->number[loop]);
            if (l->at[loop]) index = build_binary(body, IR_ARITH_ADDI, index, l->at[loop]);
        }
        ir_value_map_set(&map, op->results, index);
    }
    IrValue *result = ir_value_map_get(&map, ir_op_operand(from->last, 0));
    build_yield(body, IR_LINALG_YIELD, 1, &result);
    ir_value_map_deinit(&map);
}

// op on the block at hand: `of` is read in the place of its operand number `of_at` (NULL: none),
// onto `onto` (NULL: onto zeros if it sums up, else onto nothing).
static IrValue *on_block(Flash *f, IrOp *op, uint32_t of_at, IrValue *of, IrValue *onto) {
    IrModule *m = f->m;
    f->b.loc = op->loc;
    Loops l = loops_of(f, op);
    IrValue *operands[MAX_RANK];
    const IrAffineMap *maps[MAX_RANK];
    char iterators[ATTENTION_MAX_LOOPS + 1] = {0};
    uint32_t num_ins = op->segments[0];
    bool sums = false;
    for (uint32_t i = 0; i < l.num; i++) {
        if (l.stands[i]) continue;
        bool is_sum = ir_linalg_iterator(op, i) == IR_REDUCTION;
        iterators[l.number[i]] = is_sum ? 'r' : 'p';
        sums |= is_sum;
    }
    for (uint32_t i = 0; i <= num_ins; i++) {
        IrValue *value = ir_op_operand(op, i);
        Block block = {0};
        if (ir_type_is_shaped(value->type))
            block = block_of(f, &l, ir_linalg_map(m, op, i), value->type);
        maps[i] = ir_affine_map(m, l.num_left, 0, block.num_kept, block.exprs);
        if (i == num_ins) {
            const IrType *type = ir_type_tensor(m, block.num_kept, block.kept, f->f32);
            if (!onto) onto = sums ? build_filled(&f->b, type, 0.0) : build_empty(&f->b, type);
            operands[i] = onto;
        } else if (of && i == of_at) {
            operands[i] = of;
        } else {
            operands[i] = ir_type_is_shaped(value->type) ? extract_block(f, value, &block) : value;
        }
    }
    Builder body;
    IrOp *made =
        build_generic(&f->b, num_ins, operands, 1, &operands[num_ins], maps, iterators, &body);
    clone_body(f, &l, ir_op_block(op, 0), &body);
    return ir_op_result(made, 0);
}

// ---- the online softmax

static const IrAffineMap *row_map(const Flash *f) {
    return build_dims_map(f->m, 2, 1, f->is_row_first ? 0u : 1u);
}

static IrValue *row_maxima(Flash *f, IrValue *x, const IrType *rows) {
    IrValue *onto = build_filled(&f->b, rows, -INFINITY);
    const IrAffineMap *maps[] = {ir_affine_identity(f->m, 2), row_map(f)};
    Builder body;
    IrOp *op = build_generic(&f->b, 1, &x, 1, &onto, maps, f->is_row_first ? "pr" : "rp", &body);
    IrValue **args = body.block->args;
    IrValue *most = build_binary(&body, IR_ARITH_MAXIMUMF, args[0], args[1]);
    build_yield(&body, IR_LINALG_YIELD, 1, &most);
    return ir_op_result(op, 0);
}

// m' = max(m, x) in the place of m, and exp(m - m') from one op: the old m is not needed after it.
static IrValue *new_maxima(Flash *f, IrValue *x, IrValue **max) {
    const IrAffineMap *rows = ir_affine_identity(f->m, 1), *maps[] = {rows, rows, rows};
    IrValue *onto[] = {*max, build_empty(&f->b, x->type)};
    Builder body;
    IrOp *op = build_generic(&f->b, 1, &x, 2, onto, maps, "p", &body);
    IrValue **args = body.block->args;
    IrValue *results[2] = {build_binary(&body, IR_ARITH_MAXIMUMF, args[0], args[1])};
    IrValue *change = build_binary(&body, IR_ARITH_SUBF, args[1], results[0]);
    results[1] = build_unary(&body, IR_MATH_EXP, change);
    build_yield(&body, IR_LINALG_YIELD, 2, results);
    *max = ir_op_result(op, 0);
    return ir_op_result(op, 1);
}

static IrValue *exponentials(Flash *f, IrValue *x, IrValue *max) {
    const IrAffineMap *all = ir_affine_identity(f->m, 2), *maps[] = {all, row_map(f), all};
    IrValue *ins[] = {x, max}, *onto = build_empty(&f->b, x->type);
    Builder body;
    IrOp *op = build_generic(&f->b, 2, ins, 1, &onto, maps, "pp", &body);
    IrValue **args = body.block->args;
    IrValue *e =
        build_unary(&body, IR_MATH_EXP, build_binary(&body, IR_ARITH_SUBF, args[0], args[1]));
    build_yield(&body, IR_LINALG_YIELD, 1, &e);
    return ir_op_result(op, 0);
}

// What is summed up so far, rescaled or divided row by row, in its place. place: of the rows among
// its dimensions.
static IrValue *by_rows(Flash *f, IrValue *value, uint32_t place, IrOpKind kind, IrValue *rows) {
    uint32_t rank = value->type->rank;
    const IrAffineMap *maps[] = {ir_affine_select(f->m, rank, 1, &place),
                                 ir_affine_identity(f->m, rank)};
    char iterators[MAX_RANK + 1] = {0};
    memset(iterators, 'p', rank);
    Builder body;
    IrOp *op = build_generic(&f->b, 1, &rows, 1, &value, maps, iterators, &body);
    IrValue *result = build_binary(&body, kind, body.block->args[1], body.block->args[0]);
    build_yield(&body, IR_LINALG_YIELD, 1, &result);
    return ir_op_result(op, 0);
}

static IrValue *row_sums(Flash *f, IrValue *p, IrValue *onto) {
    const IrAffineMap *maps[] = {ir_affine_identity(f->m, 2), row_map(f)};
    Builder body;
    IrOp *op = build_generic(&f->b, 1, &p, 1, &onto, maps, f->is_row_first ? "pr" : "rp", &body);
    IrValue *sum = build_binary(&body, IR_ARITH_ADDF, body.block->args[1], body.block->args[0]);
    build_yield(&body, IR_LINALG_YIELD, 1, &sum);
    return ir_op_result(op, 0);
}

// Where the rows lie among the dimensions of a block of the result.
static uint32_t row_place(const Flash *f) {
    int32_t dims[ATTENTION_MAX_LOOPS];
    const IrAffineMap *map = ir_linalg_map(f->m, f->a->sum, 2);
    uint32_t place = 0, dim;
    attention_loop_dims(f->m, f->a, f->a->sum, dims);
    for (uint32_t r = 0; r < map->num_results; r++) {
        if (!ir_affine_is_dim(map->results[r], &dim)) continue;
        if (dims[dim] == (int32_t)f->a->row) return place;
        place += dims[dim] < 0;
    }
    BUG("the rows of an attention are not in its result");
}

// The keys from at on, len of them.
static void take_keys(Flash *f, IrValue *at, int64_t len, Running *run) {
    const AttentionMatch *a = f->a;
    f->at[a->key] = at;
    f->len[a->key] = len;
    IrValue *x = on_block(f, a->scores, 0, NULL, NULL);
    for (uint32_t i = 0; i < a->num_chain; i++) {
        const IrOp *before = i ? a->chain[i - 1] : a->scores;
        uint32_t at_operand = 0;
        while (ir_op_operand(a->chain[i], at_operand) != &before->results[0]) at_operand++;
        x = on_block(f, a->chain[i], at_operand, x, NULL);
    }
    f->b.loc = a->sum->loc;
    IrValue *most = row_maxima(f, x, run->max->type);
    IrValue *change = new_maxima(f, most, &run->max);
    IrValue *p = exponentials(f, x, run->max);
    run->sum = row_sums(f, p, by_rows(f, run->sum, 0, IR_ARITH_MULF, change));
    run->acc = by_rows(f, run->acc, row_place(f), IR_ARITH_MULF, change);
    if (a->guard) p = on_block(f, a->guard, 0, p, NULL);
    run->acc = on_block(f, a->sum, a->weights_at, p, run->acc);
}

static void take_all_keys(Flash *f, int64_t len, Running *run) {
    const AttentionMatch *a = f->a;
    int64_t num = a->shape[a->key] / len, rest = a->shape[a->key] % len;
    if (num == 1) {
        take_keys(f, build_index(&f->b, 0), len, run);
    } else {
        IrValue *state[] = {run->max, run->sum, run->acc}, *one = build_index(&f->b, 1);
        Builder outer = f->b, body;
        IrOp *loop = build_for(&outer, build_index(&outer, 0), build_index(&outer, num), one, 3,
                               state, &body);
        f->b = body;
        IrValue **args = body.block->args;
        Running inner = {args[1], args[2], args[3]};
        take_keys(f, build_mul_index(&f->b, args[0], len), len, &inner);
        IrValue *next[] = {inner.max, inner.sum, inner.acc};
        build_yield(&f->b, IR_SCF_YIELD, 3, next);
        f->b = outer;
        *run = (Running){ir_op_result(loop, 0), ir_op_result(loop, 1), ir_op_result(loop, 2)};
    }
    if (rest) take_keys(f, build_index(&f->b, num * len), rest, run);
}

// The tile's place in every dimension but the keys; blocks of rows are neighbours.
static void place_tile(Flash *f, IrValue *tile, int64_t rows) {
    const AttentionMatch *a = f->a;
    int64_t num_blocks = a->shape[a->row] / rows;
    IrValue *left = tile;
    for (uint32_t i = 0; i <= a->rank; i++) {
        uint32_t d = i == 0 ? a->row : a->rank - i;
        if ((i > 0 && d == a->row) || d == a->key) continue;
        int64_t size = i == 0 ? num_blocks : a->shape[d];
        IrValue *by = build_index(&f->b, size);
        f->at[d] =
            size == 1 ? build_index(&f->b, 0) : build_binary(&f->b, IR_ARITH_REMUI, left, by);
        if (size > 1) left = build_binary(&f->b, IR_ARITH_DIVUI, left, by);
        f->len[d] = i == 0 ? rows : 0;
    }
    f->at[a->row] = build_mul_index(&f->b, f->at[a->row], rows);
}

void attention_make_flash(IrModule *m, const AttentionMatch *match, int64_t rows, int64_t keys) {
    AttentionMatch a = *match;
    a.scores = ir_linalg_generalize(m, a.scores);
    a.sum = ir_linalg_generalize(m, a.sum);
    Flash f = {.m = m, .a = &a, .b = build_before(m, a.sum), .f32 = ir_type_f32(m)};
    f.is_row_first = a.row < a.key;
    const IrType *type = a.sum->results[0].type, *row_type = ir_type_tensor(m, 1, &rows, f.f32);
    int64_t num_tiles = a.shape[a.row] / rows;
    for (uint32_t d = 0; d < a.rank; d++)
        if (d != a.row && d != a.key) num_tiles *= a.shape[d];
    IrValue *onto = build_empty(&f.b, type), *one = build_index(&f.b, 1);
    Builder outer = f.b, body;
    IrOp *loop = build_for(&outer, build_index(&outer, 0), build_index(&outer, num_tiles), one, 1,
                           &onto, &body);
    f.b = body;
    place_tile(&f, body.block->args[0], rows);
    Loops l = loops_of(&f, a.sum);
    Block block = block_of(&f, &l, ir_linalg_map(m, a.sum, 2), type);
    const IrType *acc = ir_type_tensor(m, block.num_kept, block.kept, f.f32);
    Running run = {build_filled(&f.b, row_type, -(double)FLT_MAX),
                   build_filled(&f.b, row_type, 0.0), build_filled(&f.b, acc, 0.0)};
    take_all_keys(&f, keys, &run);
    IrValue *result = by_rows(&f, run.acc, row_place(&f), IR_ARITH_DIVF, run.sum);
    result = insert_block(&f, result, body.block->args[1], &block);
    build_yield(&f.b, IR_SCF_YIELD, 1, &result);
    ir_op_set_attr(m, loop, "ingot.attention", ir_attr_string(m, "flash"));
    ir_value_replace_all(&a.sum->results[0], ir_op_result(loop, 0));
}
