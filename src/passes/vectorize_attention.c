// The schedule of causal attention over KV pages, with an online softmax. A tile is one KV head and
// a block of tokens; the query rows of the block (tokens x query heads of the group) are taken
// row_tile at a time, so that each key and value is loaded once for several rows. Keys are visited
// in blocks of `unroll` vectors:
//
//   for block of keys (ascending)
//     s = scale * (q . k), masked beyond the row's position      keys across lanes, d ascending
//     m' = max(m, max s);  c = exp(m - m');  p = exp(s - m')
//     l = l * c + p (per lane);  acc = acc * c + p . V            d across lanes, keys ascending
//   out = acc / sum(l)
//
// With a sliding window the blocks begin with the one that holds the first key the first row sees:
// pages before it are not read. A row may then see nothing of its first blocks, so m starts at the
// least finite number, below which no difference is undefined.
//
// Tokens of a batch are of sequences of their own: the position and the page table of each are read
// from lists, and a tile takes one token.
//
// What a row computes does not depend on its neighbours: a block that is masked for a row
// multiplies its sums by exp(0) = 1 and adds 0. Token blocks are dealt from both ends, as later
// ones see more keys. The scale and the mask are read from the reference body.
#include <float.h>
#include <math.h>
#include <string.h>

#include "passes/fusion.h"
#include "passes/mutate.h"
#include "passes/vectorize.h"

enum { BLOCK_TOKENS = 8, MAX_ROWS = 32, MAX_DEPTH_VECTORS = 4, MAX_UNROLL = 2 };

typedef struct Attention {
    Vectorizer *v;
    IrValue *q, *pages, *keys, *values, *out, *num_valid;
    IrValue *start; // position of the first token; of a batch: positions of all, a memref
    bool is_batch;  // every token is of a sequence of its own
    int64_t tokens; // of a tile, at most
    const IrAttr *scale;
    int64_t heads, group, depth, page_len, num_rows, unroll, block_len;
    int64_t window; // keys a query sees, its own included; 0: all
    IrValue *head;  // KV head of the tile
    IrValue *token[MAX_ROWS], *query_head[MAX_ROWS], *position[MAX_ROWS]; // position as i32
    IrValue *acc, *weights; // scratch [rows, depth], [rows, block_len]
} Attention;

// ---- reading the kernel

static bool is_loop_index(const IrValue *v, int64_t dim) {
    return v->def_op && v->def_op->kind == IR_LINALG_INDEX &&
           ir_op_attr(v->def_op, "dim")->i == dim;
}

// The position of a query: start + number of its token, or in a batch what the list of positions
// holds for it.
static bool is_position(const Attention *a, const IrValue *v) {
    const IrOp *op = v->def_op;
    if (a->is_batch) {
        if (!op || op->kind != IR_ARITH_INDEX_CAST) return false;
        const IrOp *load = ir_op_operand(op, 0)->def_op;
        return load && load->kind == IR_MEMREF_LOAD && ir_op_operand(load, 0) == a->start &&
               is_loop_index(ir_op_operand(load, 1), 2);
    }
    if (!op || op->kind != IR_ARITH_ADDI) return false;
    const IrValue *x = ir_op_operand(op, 0), *y = ir_op_operand(op, 1);
    return (x == a->start && is_loop_index(y, 2)) || (y == a->start && is_loop_index(x, 2));
}

static bool is_compare(const IrOp *op, const char *predicate) {
    return op && op->kind == IR_ARITH_CMPI &&
           str_equal(ir_op_attr(op, "predicate")->str, predicate);
}

static bool is_causal(const Attention *a, const IrOp *op) {
    return is_compare(op, "ule") && is_loop_index(ir_op_operand(op, 0), 3) &&
           is_position(a, ir_op_operand(op, 1));
}

// position < key + window
static bool is_near(const Attention *a, const IrOp *op, int64_t *out_window) {
    if (!is_compare(op, "ult") || !is_position(a, ir_op_operand(op, 0))) return false;
    const IrOp *end = ir_op_operand(op, 1)->def_op;
    return end && end->kind == IR_ARITH_ADDI && is_loop_index(ir_op_operand(end, 0), 3) &&
           ir_value_constant_int(ir_op_operand(end, 1), out_window) && *out_window > 0 &&
           *out_window < INT32_MAX / 2;
}

// Finds visible ? score * scale : -inf, where a key is visible up to the position of the query, and
// with a window only the last so many.
static bool read_mask(Attention *a) {
    FOR_EACH_OP(op, ir_func_body(a->v->kernel)) {
        const IrBlock *body = op->kind == IR_LINALG_GENERIC ? ir_op_block(op, 0) : NULL;
        const IrOp *select = body ? ir_op_operand(body->last, 0)->def_op : NULL;
        if (!select || select->kind != IR_ARITH_SELECT) continue;
        const IrOp *visible = ir_op_operand(select, 0)->def_op;
        const IrOp *product = ir_op_operand(select, 1)->def_op;
        const IrAttr *hidden = ir_value_constant(ir_op_operand(select, 2));
        bool has_window = visible && visible->kind == IR_ARITH_ANDI;
        if (has_window && !is_near(a, ir_op_operand(visible, 1)->def_op, &a->window)) return false;
        if (has_window) visible = ir_op_operand(visible, 0)->def_op;
        if (!is_causal(a, visible) || !product || product->kind != IR_ARITH_MULF || !hidden ||
            ir_attr_float_value(hidden) != -INFINITY)
            return false;
        a->scale = ir_value_constant(ir_op_operand(product, 1));
        return a->scale != NULL;
    }
    return false;
}

static bool is_batch_kernel(const IrOp *kernel) {
    const IrBlock *body = ir_func_body(kernel);
    return body->num_args > 5 && body->args[5]->type->kind == IR_TYPE_MEMREF;
}

int64_t attention_block_tokens(const IrOp *kernel) {
    return is_batch_kernel(kernel) ? 1 : BLOCK_TOKENS;
}

static Status read_kernel(Attention *a) {
    IrBlock *body = ir_func_body(a->v->kernel);
    if (body->num_args != 9) return vec_refuse(a->v, "attention with these operands");
    a->is_batch = is_batch_kernel(a->v->kernel);
    uint32_t num_memrefs = a->is_batch ? 6 : 5;
    for (uint32_t i = 0; i < body->num_args; i++)
        if (body->args[i]->type->kind != (i < num_memrefs ? IR_TYPE_MEMREF : IR_TYPE_INDEX))
            return vec_refuse(a->v, "attention with operands in this order");
    IrValue **memrefs = body->args + a->is_batch; // behind q, the positions of a batch
    a->q = body->args[0];
    a->start = body->args[a->is_batch ? 1 : 5];
    a->pages = memrefs[1];
    a->keys = memrefs[2];
    a->values = memrefs[3];
    a->out = memrefs[4];
    a->num_valid = body->args[6];
    a->tokens = attention_block_tokens(a->v->kernel);
    const IrType *q = a->q->type, *k = a->keys->type, *value = a->values->type;
    if (q->rank != 4 || k->rank != 4 || value->rank != 4 || a->out->type != q ||
        a->pages->type->rank != (a->is_batch ? 2 : 1) || (a->is_batch && a->start->type->rank != 1))
        return vec_refuse(a->v, "attention over operands of this rank");
    a->heads = q->shape[1];
    a->group = q->shape[2];
    a->depth = q->shape[3];
    a->page_len = value->shape[2];
    if (k->shape[1] != a->heads || k->shape[2] != a->depth || k->shape[3] != a->page_len ||
        value->shape[3] != a->depth)
        return vec_refuse(a->v, "a KV cache of this layout");
    if (!read_mask(a))
        return vec_refuse(a->v, "attention without a scale and a causal or sliding mask");
    int64_t lanes = a->v->s.lanes;
    if (a->depth % lanes != 0 || a->page_len % lanes != 0)
        return vec_refuse(a->v, "a head size or page length that is no multiple of the vector");
    a->unroll = a->page_len % (MAX_UNROLL * lanes) == 0 ? MAX_UNROLL : 1;
    a->block_len = a->unroll * lanes;
    a->num_rows = MIN(a->v->s.row_tile, MIN(q->shape[0], a->tokens) * a->group);
    return STATUS_OK;
}

// ---- small things

static IrValue *vector_constant(Vectorizer *v, const IrType *type, const void *data, size_t len,
                                bool splat) {
    IrNamedAttr attr = {"value", ir_attr_dense(v->m, type, data, len, splat)};
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_ARITH_CONSTANT,
                                                         .num_results = 1,
                                                         .result_types = &type,
                                                         .num_attrs = 1,
                                                         .attrs = &attr}),
                        0);
}

static IrValue *lane_numbers(Vectorizer *v) {
    int32_t numbers[16];
    for (int32_t i = 0; i < 16; i++) numbers[i] = i;
    return vector_constant(v, v->vi32, numbers, (size_t)v->s.lanes * 4, false);
}

static IrValue *splat_f32(Vectorizer *v, float value) {
    return vector_constant(v, v->vf32, &value, sizeof value, true);
}

static IrValue *scale_vector(Attention *a) {
    float value = (float)ir_attr_float_value(a->scale);
    if (MUTATED(ATTENTION_SCALE)) value *= 2;
    return splat_f32(a->v, value);
}

static IrValue *to_f32(Vectorizer *v, IrValue *vector) {
    return vector->type->elem->kind == IR_TYPE_F32
               ? vector
               : build_cast(&v->b, IR_ARITH_EXTF, vector, v->vf32);
}

static IrValue *reduce(Vectorizer *v, const char *kind, IrValue *vector) {
    IrNamedAttr attr = {"kind", ir_attr_string(v->m, kind)};
    const IrType *f32 = v->f32;
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_VECTOR_REDUCTION,
                                                         .num_operands = 1,
                                                         .operands = &vector,
                                                         .num_results = 1,
                                                         .result_types = &f32,
                                                         .num_attrs = 1,
                                                         .attrs = &attr}),
                        0);
}

static IrValue *alloca_f32(Vectorizer *v, int64_t rows, int64_t columns, FusionReason why) {
    const int64_t shape[] = {rows, columns};
    return vec_alloca(v, ir_type_memref(v->m, 2, shape, v->f32), why);
}

static IrValue *binary(Attention *a, IrOpKind kind, IrValue *x, IrValue *y) {
    return build_binary(&a->v->b, kind, x, y);
}

static IrValue *index_const(Attention *a, int64_t value) {
    return build_index(&a->v->b, value);
}

// ---- one block of keys

// scores[r][u] += q[r, d] * k[d, keys of vector u]
static void emit_scores(Attention *a, IrValue *page, IrValue *slot,
                        IrValue *scores[MAX_ROWS][MAX_UNROLL]) {
    Vectorizer *v = a->v;
    IrValue *flat[MAX_ROWS * MAX_UNROLL];
    uint32_t n = 0;
    for (int64_t r = 0; r < a->num_rows; r++)
        for (int64_t u = 0; u < a->unroll; u++) flat[n++] = build_zero(&v->b, v->vf32);
    int64_t step = a->depth % 4 == 0 ? 4 : 1;
    Builder outer = v->b, body;
    IrOp *loop = build_for(&outer, build_index(&outer, 0), build_index(&outer, a->depth),
                           build_index(&outer, step), n, flat, &body);
    for (uint32_t i = 0; i < n; i++) flat[i] = body.block->args[1 + i];
    v->b = body;
    for (int64_t s = 0; s < step; s++) {
        IrValue *d = build_add_index(&v->b, body.block->args[0], s), *keys[MAX_UNROLL];
        for (int64_t u = 0; u < a->unroll; u++) {
            IrValue *at[] = {page, a->head, d, build_add_index(&v->b, slot, u * v->s.lanes)};
            keys[u] = to_f32(
                v, build_vector_load(&v->b, vec_type(v, a->keys->type->elem), a->keys, 4, at));
        }
        for (int64_t r = 0; r < a->num_rows; r++) {
            IrValue *at[] = {a->token[r], a->head, a->query_head[r], d};
            IrValue *q = vec_splat(v, build_load(&v->b, a->q, 4, at));
            for (int64_t u = 0; u < a->unroll; u++) {
                IrValue **acc = &flat[r * a->unroll + u];
                *acc = build_fma(&v->b, q, keys[u], *acc);
            }
        }
    }
    build_yield(&v->b, IR_SCF_YIELD, n, flat);
    v->b = outer;
    for (int64_t r = 0; r < a->num_rows; r++)
        for (int64_t u = 0; u < a->unroll; u++)
            scores[r][u] = ir_op_result(loop, (uint32_t)(r * a->unroll + u));
}

static void mask_scores(Attention *a, IrValue *first_key, IrValue *scores[MAX_ROWS][MAX_UNROLL]) {
    Vectorizer *v = a->v;
    IrValue *scale = scale_vector(a), *hidden = splat_f32(v, -INFINITY);
    IrValue *lanes = lane_numbers(v), *key[MAX_UNROLL], *past[MAX_UNROLL] = {0};
    for (int64_t u = 0; u < a->unroll; u++) {
        IrValue *base = build_add_index(&v->b, first_key, u * v->s.lanes);
        base = build_cast(&v->b, IR_ARITH_INDEX_CAST, base, v->i32);
        key[u] = binary(a, IR_ARITH_ADDI, vec_splat(v, base), lanes);
        if (!a->window) continue;
        IrValue *window = vec_splat(v, build_int(&v->b, a->window, v->i32));
        past[u] = binary(a, IR_ARITH_ADDI, key[u], window);
    }
    for (int64_t r = 0; r < a->num_rows; r++) {
        IrValue *position = vec_splat(v, a->position[r]);
        for (int64_t u = 0; u < a->unroll; u++) {
            IrValue *visible = build_cmpi(&v->b, "ule", key[u], position);
            if (a->window) {
                IrValue *near = build_cmpi(&v->b, "ult", position, past[u]);
                visible = binary(a, IR_ARITH_ANDI, visible, near);
            }
            IrValue *scaled = binary(a, IR_ARITH_MULF, scores[r][u], scale);
            scores[r][u] =
                MUTATED(LOST_CAUSAL_MASK) ? scaled : build_select(&v->b, visible, scaled, hidden);
        }
    }
}

// Updates the running maximum and sum of row r and stores its weights; returns the correction
// factor.
static IrValue *emit_softmax(Attention *a, int64_t r, IrValue **scores, IrValue **max,
                             IrValue **sum) {
    Vectorizer *v = a->v;
    IrValue *top = scores[0];
    for (int64_t u = 1; u < a->unroll; u++) top = binary(a, IR_ARITH_MAXIMUMF, top, scores[u]);
    IrValue *new_max = binary(a, IR_ARITH_MAXIMUMF, *max, reduce(v, "maximumf", top));
    IrValue *correction = build_unary(&v->b, IR_MATH_EXP, binary(a, IR_ARITH_SUBF, *max, new_max));
    IrValue *shift = vec_splat(v, new_max);
    *sum = binary(a, IR_ARITH_MULF, *sum, vec_splat(v, correction));
    for (int64_t u = 0; u < a->unroll; u++) {
        IrValue *p = build_unary(&v->b, IR_MATH_EXP, binary(a, IR_ARITH_SUBF, scores[u], shift));
        *sum = binary(a, IR_ARITH_ADDF, *sum, p);
        IrValue *at[] = {index_const(a, r), index_const(a, u * v->s.lanes)};
        build_vector_store(&v->b, p, a->weights, 2, at);
    }
    *max = new_max;
    return correction;
}

// acc[r, d..] = acc * correction + sum over keys of weight * value, for num vectors of d from
// depth.
static void emit_values(Attention *a, IrValue *page, IrValue *slot, IrValue **corrections,
                        int64_t depth, int64_t num) {
    Vectorizer *v = a->v;
    IrValue *acc[MAX_ROWS * MAX_DEPTH_VECTORS];
    uint32_t n = 0;
    for (int64_t r = 0; r < a->num_rows; r++)
        for (int64_t i = 0; i < num; i++) {
            IrValue *at[] = {index_const(a, r), index_const(a, depth + i * v->s.lanes)};
            IrValue *old = build_vector_load(&v->b, v->vf32, a->acc, 2, at);
            acc[n++] = binary(a, IR_ARITH_MULF, old, vec_splat(v, corrections[r]));
        }
    Builder outer = v->b, body;
    IrOp *loop = build_for(&outer, build_index(&outer, 0), build_index(&outer, a->block_len),
                           build_index(&outer, 1), n, acc, &body);
    for (uint32_t i = 0; i < n; i++) acc[i] = body.block->args[1 + i];
    v->b = body;
    IrValue *j = body.block->args[0], *values[MAX_DEPTH_VECTORS];
    IrValue *row = build_binary(&v->b, IR_ARITH_ADDI, slot, j);
    for (int64_t i = 0; i < num; i++) {
        IrValue *at[] = {page, a->head, row, index_const(a, depth + i * v->s.lanes)};
        values[i] = to_f32(
            v, build_vector_load(&v->b, vec_type(v, a->values->type->elem), a->values, 4, at));
    }
    for (int64_t r = 0; r < a->num_rows; r++) {
        IrValue *at[] = {index_const(a, r), j};
        IrValue *p = vec_splat(v, build_load(&v->b, a->weights, 2, at));
        for (int64_t i = 0; i < num; i++) {
            IrValue **sum = &acc[r * num + i];
            *sum = build_fma(&v->b, p, values[i], *sum);
        }
    }
    build_yield(&v->b, IR_SCF_YIELD, n, acc);
    v->b = outer;
    for (int64_t r = 0; r < a->num_rows; r++)
        for (int64_t i = 0; i < num; i++) {
            IrValue *at[] = {index_const(a, r), index_const(a, depth + i * v->s.lanes)};
            build_vector_store(&v->b, ir_op_result(loop, (uint32_t)(r * num + i)), a->acc, 2, at);
        }
}

// The block whose first key is `first_key`; state: maxima, then sums, updated.
static void emit_block(Attention *a, IrValue *first_key, IrValue **state) {
    Vectorizer *v = a->v;
    IrValue *page_len = index_const(a, a->page_len);
    IrValue *logical[] = {a->token[0], binary(a, IR_ARITH_DIVUI, first_key, page_len)};
    IrValue *slot = binary(a, IR_ARITH_REMUI, first_key, page_len);
    IrValue *page = build_load(&v->b, a->pages, a->is_batch ? 2 : 1, logical + !a->is_batch);
    page = build_cast(&v->b, IR_ARITH_INDEX_CAST, page, v->index);
    IrValue *scores[MAX_ROWS][MAX_UNROLL], *corrections[MAX_ROWS];
    emit_scores(a, page, slot, scores);
    mask_scores(a, first_key, scores);
    for (int64_t r = 0; r < a->num_rows; r++)
        corrections[r] = emit_softmax(a, r, scores[r], &state[r], &state[a->num_rows + r]);
    int64_t vectors = a->depth / v->s.lanes;
    for (int64_t i = 0; i < vectors; i += MAX_DEPTH_VECTORS)
        emit_values(a, page, slot, corrections, i * v->s.lanes,
                    MIN(vectors - i, (int64_t)MAX_DEPTH_VECTORS));
}

// ---- one group of query rows

static void clear_scratch(Attention *a) {
    Vectorizer *v = a->v;
    IrValue *zero = build_zero(&v->b, v->vf32);
    for (int64_t r = 0; r < a->num_rows; r++)
        for (int64_t d = 0; d < a->depth; d += v->s.lanes) {
            IrValue *at[] = {index_const(a, r), index_const(a, d)};
            build_vector_store(&v->b, zero, a->acc, 2, at);
        }
}

static void store_rows(Attention *a, IrValue **state) {
    Vectorizer *v = a->v;
    for (int64_t r = 0; r < a->num_rows; r++) {
        IrValue *sum = vec_splat(v, reduce(v, "add", state[a->num_rows + r]));
        for (int64_t d = 0; d < a->depth; d += v->s.lanes) {
            IrValue *from[] = {index_const(a, r), index_const(a, d)};
            IrValue *to[] = {a->token[r], a->head, a->query_head[r], index_const(a, d)};
            IrValue *value = build_vector_load(&v->b, v->vf32, a->acc, 2, from);
            build_vector_store(&v->b, binary(a, IR_ARITH_DIVF, value, sum), a->out, 4, to);
        }
    }
}

static IrValue *position_of(Attention *a, IrValue *token) {
    Builder *b = &a->v->b;
    if (!a->is_batch) return binary(a, IR_ARITH_ADDI, a->start, token);
    return build_cast(b, IR_ARITH_INDEX_CAST, build_load(b, a->start, 1, &token), a->v->index);
}

// The first key of the first block row 0 sees.
static IrValue *first_block(Attention *a) {
    if (!a->window) return index_const(a, 0);
    IrValue *window = index_const(a, a->window), *block_len = index_const(a, a->block_len);
    IrValue *end = build_add_index(&a->v->b, position_of(a, a->token[0]), 1);
    IrValue *first = binary(a, IR_ARITH_SUBI, binary(a, IR_ARITH_MAXUI, end, window), window);
    return binary(a, IR_ARITH_MULI, binary(a, IR_ARITH_DIVUI, first, block_len), block_len);
}

// Rows first_row .. + num_rows of the block of tokens from first_token; rows past the last are
// taken twice.
static void emit_rows(Attention *a, IrValue *first_token, IrValue *first_row,
                      IrValue *num_block_rows) {
    Vectorizer *v = a->v;
    IrValue *last_row = binary(a, IR_ARITH_SUBI, num_block_rows, index_const(a, 1));
    IrValue *group = index_const(a, a->group), *last_position = NULL;
    for (int64_t r = 0; r < a->num_rows; r++) {
        IrValue *row = binary(a, IR_ARITH_MINUI, build_add_index(&v->b, first_row, r), last_row);
        a->query_head[r] = binary(a, IR_ARITH_REMUI, row, group);
        a->token[r] = binary(a, IR_ARITH_ADDI, first_token, binary(a, IR_ARITH_DIVUI, row, group));
        last_position = position_of(a, a->token[r]);
        a->position[r] = build_cast(&v->b, IR_ARITH_INDEX_CAST, last_position, v->i32);
    }
    clear_scratch(a);
    IrValue *state[2 * MAX_ROWS];
    uint32_t n = (uint32_t)(2 * a->num_rows);
    for (int64_t r = 0; r < a->num_rows; r++) {
        state[r] = build_float(&v->b, a->window ? -(double)FLT_MAX : -INFINITY, v->f32);
        state[a->num_rows + r] = build_zero(&v->b, v->vf32);
    }
    IrValue *begin = first_block(a);
    Builder outer = v->b, body;
    IrValue *end = build_add_index(&outer, last_position, 1);
    IrOp *loop = build_for(&outer, begin, end, build_index(&outer, a->block_len), n, state, &body);
    for (uint32_t i = 0; i < n; i++) state[i] = body.block->args[1 + i];
    v->b = body;
    emit_block(a, body.block->args[0], state);
    build_yield(&v->b, IR_SCF_YIELD, n, state);
    v->b = outer;
    for (uint32_t i = 0; i < n; i++) state[i] = ir_op_result(loop, i);
    store_rows(a, state);
}

// Tile t: KV head t mod heads; token block number t / heads, those of one sequence dealt from both
// ends.
static IrValue *first_token_of(Attention *a, IrValue *tile) {
    IrValue *number = binary(a, IR_ARITH_DIVUI, tile, index_const(a, a->heads));
    if (a->is_batch) return number;
    IrValue *two = index_const(a, 2), *zero = index_const(a, 0), *one = index_const(a, 1);
    IrValue *half = binary(a, IR_ARITH_DIVUI, number, two);
    IrValue *rounded = build_add_index(&a->v->b, a->num_valid, a->tokens - 1);
    IrValue *blocks = binary(a, IR_ARITH_DIVUI, rounded, index_const(a, a->tokens));
    IrValue *from_end = binary(a, IR_ARITH_SUBI, binary(a, IR_ARITH_SUBI, blocks, one), half);
    IrValue *is_even = build_cmpi(&a->v->b, "eq", binary(a, IR_ARITH_REMUI, number, two), zero);
    IrValue *block = build_select(&a->v->b, is_even, half, from_end);
    return binary(a, IR_ARITH_MULI, block, index_const(a, a->tokens));
}

Status vectorize_attention(Vectorizer *v) {
    Attention a = {.v = v};
    TRY(read_kernel(&a));
    IrBlock *body = ir_func_body(v->kernel);
    IrOp *last_old = body->last;
    v->b = build_at_end(v->m, body, v->kernel->loc);
    a.acc = alloca_f32(v, a.num_rows, a.depth, REASON_LOOP_CARRIED);
    a.weights = alloca_f32(v, a.num_rows, a.block_len, REASON_MAP); // other lanes read them
    Builder outer = v->b, tiles, rows;
    build_for(&outer, vec_tile_begin(v), vec_tile_end(v), build_index(&outer, 1), 0, NULL, &tiles);
    v->b = tiles;
    IrValue *tile = tiles.block->args[0];
    a.head = binary(&a, IR_ARITH_REMUI, tile, index_const(&a, a.heads));
    IrValue *first_token = first_token_of(&a, tile);
    IrValue *left = binary(&a, IR_ARITH_SUBI, a.num_valid, first_token);
    IrValue *tokens = binary(&a, IR_ARITH_MINUI, left, index_const(&a, a.tokens));
    IrValue *num_block_rows = binary(&a, IR_ARITH_MULI, tokens, index_const(&a, a.group));
    tiles = v->b;
    build_for(&tiles, build_index(&tiles, 0), num_block_rows, build_index(&tiles, a.num_rows), 0,
              NULL, &rows);
    v->b = rows;
    emit_rows(&a, first_token, rows.block->args[0], num_block_rows);
    build_yield(&v->b, IR_SCF_YIELD, 0, NULL);
    build_yield(&tiles, IR_SCF_YIELD, 0, NULL);
    build_op(&outer, IR_FUNC_RETURN, 0, NULL, NULL);
    for (IrOp *op = last_old, *prev; op; op = prev) {
        prev = op->prev;
        ir_op_erase(v->m, op);
    }
    return STATUS_OK;
}
