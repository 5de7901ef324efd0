// The schedule of convolutions, depthwise ones and pooling included. A tile is one row of the
// result for T output channels; columns by vectors of it are accumulated in registers over the
// whole window and all input channels, each input element broadcast from memory. Zeros around the
// input are not stored: rows outside it are left out of the loop over r, columns outside it have no
// multiply-add. Each output is summed over (channel block, r, s, channel) in ascending order,
// whatever the tile or the number of workers.
//
//   for tile in [tile_begin, tile_end)          tile = (g * N + n) * OH + oh, or (n * G + g) * OH +
//                                               oh by image
//     for columns ow .. ow + row_tile           the first and last ones, which may lack inputs, as
//       for vectors of the T channels           code of their own
//         for b, for r inside the input, for s (unrolled), for i by unroll:
//           acc[column][vector] = fma(x[column], w[vector], acc[column][vector])
//         y = epilogue(acc, ...); store
#include <string.h>

#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/vectorize.h"

enum {
    LARGE_GROUP_BYTES = 128 << 10,
    MAX_ACCS = 32,
    MAX_ROWS = 2,
    MAX_COLUMNS = 16,
    MAX_VECTORS = 4,
    MAX_EPILOGUE = 8
};

// What a walk over columns does with the sums.
typedef enum SumPart {
    SUM_ALL,   // starts them, adds all blocks of input channels, ends them, in registers
    SUM_START, // starts those in memory
    SUM_BLOCK, // adds one block to them
    SUM_END    // makes the result of them
} SumPart;

typedef struct Conv {
    Vectorizer *v;
    ConvShape c;
    IrOp *product;
    IrValue *x, *w, *out; // x: what is stored, without zeros around it
    int64_t height, width, pad_h, pad_w;
    double start; // of every sum
    IrOp *epilogue[MAX_EPILOGUE];
    uint32_t num_epilogue;
    // the point being emitted; rows: of the result, side by side
    // What is read next of the weights: the group after g, or the block after this one; NULL if
    // groups are small.
    IrValue *next_g, *next_block;
    IrValue *first_block; // of the input that g reads; NULL: the first
    IrValue *n, *g, *oh[MAX_ROWS], *first_row[MAX_ROWS], *r_begin[MAX_ROWS], *r_end[MAX_ROWS];
    SumPart part;
    IrValue *sums,
        *in_band[MAX_ROWS]; // of a band: [rows, columns, channels]; each row's place there
    IrValue *block;         // of input channels, the one added
    int64_t rows;
    IrValue *ow; // NULL: the column is known
    int64_t first_column, columns, first_vector, vectors;
} Conv;

// Results of the ops of the kernel in registers, by the buffer they would be stored in.
typedef struct Known {
    const IrValue *root;
    IrValue *accs[MAX_ACCS];
} Known;

// ---- reading the kernel

// [n, h, w, c] -> [n, h, w, c / size, size]; [c] -> [c / size, size].
static IrValue *split_channels(Conv *cv, IrValue *memref, int64_t size) {
    IrModule *m = cv->v->m;
    const IrType *from = memref->type;
    int64_t shape[8], strides[8], offset;
    const IrAttr *groups[8], *dims[8];
    uint32_t last = from->rank - 1;
    ir_memref_strides(from, strides, &offset);
    for (uint32_t i = 0; i <= last + 1; i++) dims[i] = ir_attr_i64(m, i);
    for (uint32_t i = 0; i <= last; i++) {
        shape[i] = from->shape[i];
        groups[i] = ir_attr_array(m, i == last ? 2 : 1, &dims[i]);
    }
    shape[last] /= size;
    shape[last + 1] = size;
    strides[last + 1] = 1;
    strides[last] = size;
    const IrType *type = from->has_layout ? ir_type_memref_strided(m, last + 2, shape, from->elem,
                                                                   strides, offset, from->space)
                                          : ir_type_memref(m, last + 2, shape, from->elem);
    return vec_expand_shape(cv->v, memref, type, groups);
}

// The copy that puts the input into the middle of the zeros in `padded`.
static const IrOp *pad_copy(const IrValue *padded, const IrOp **out_view) {
    FOR_EACH_USE(use, padded) {
        const IrOp *view = use->owner;
        if (view->kind != IR_MEMREF_SUBVIEW || view->num_operands != 1) continue;
        FOR_EACH_USE(into, &view->results[0]) {
            if (into->owner->kind != IR_MEMREF_COPY || into != &into->owner->operands[1]) continue;
            *out_view = view;
            return into->owner;
        }
    }
    return NULL;
}

static Status read_input(Conv *cv) {
    IrValue *x = ir_op_operand(cv->product, 0), *root = vec_root(x);
    if (root->def_op) {
        const IrOp *view = NULL, *copy = pad_copy(root, &view);
        if (!copy) return vec_refuse(cv->v, "a convolution of what the kernel computes");
        const int64_t *at = ir_op_attr(view, "static_offsets")->values;
        cv->pad_h = at[cv->c.is_blocked ? 2 : 1];
        cv->pad_w = at[cv->c.is_blocked ? 3 : 2];
        x = ir_op_operand(copy, 0);
    }
    if (x->type->rank != 5) {
        if (x->type->rank != 4 || cv->c.is_blocked)
            return vec_refuse(cv->v, "an input of this shape");
        x = split_channels(cv, x, cv->c.is_window ? cv->c.tile : cv->c.block);
    }
    uint32_t rows = cv->c.is_blocked ? 2 : 1;
    cv->height = x->type->shape[rows];
    cv->width = x->type->shape[rows + 1];
    cv->x = x;
    cv->w = ir_op_operand(cv->product, 1);
    if (cv->c.is_window && cv->w->type->rank == 3) cv->w = split_channels(cv, cv->w, cv->c.tile);
    return STATUS_OK;
}

// The constant that the result's buffer is filled with before the sums.
static Status read_start(Conv *cv) {
    const IrValue *root = vec_root(ir_op_operand(cv->product, 2));
    const IrAttr *value = NULL;
    FOR_EACH_OP(op, ir_func_body(cv->v->kernel)) {
        if (op == cv->product) break;
        if (op->kind == IR_LINALG_FILL && vec_root(ir_op_operand(op, 1)) == root)
            value = ir_value_constant(ir_op_operand(op, 0));
    }
    if (!value || value->kind != IR_ATTR_FLOAT)
        return vec_refuse(cv->v, "sums that do not start from a constant");
    cv->start = ir_attr_float_value(value);
    return STATUS_OK;
}

static Status read_kernel(Conv *cv) {
    Vectorizer *v = cv->v;
    IrOp *last_old = ir_func_body(v->kernel)->last->prev;
    FOR_EACH_OP(op, ir_func_body(v->kernel))
    if (contraction_is(op, "conv") || contraction_is(op, "window")) cv->product = op;
    if (!cv->product || !conv_read(v->m, cv->product, &cv->c))
        return vec_refuse(v, "a convolution of this layout");
    const IrValue *result = ir_op_operand(cv->product, 2);
    for (IrOp *op = cv->product->next; op; op = op->next) {
        bool is_generic = op->kind == IR_LINALG_GENERIC;
        if (is_generic && cv->num_epilogue == MAX_EPILOGUE)
            return vec_refuse(v, "this many ops after a convolution");
        if (is_generic) {
            cv->epilogue[cv->num_epilogue++] = op;
            result = ir_op_operand(op, op->segments[0]);
        } else if (op->kind == IR_MEMREF_COPY || op->num_regions)
            return vec_refuse(v, "such an op after a convolution");
        if (op == last_old) break;
    }
    cv->out = vec_root((IrValue *)result);
    if (cv->out->def_op) return vec_refuse(v, "a result that is no argument");
    if (v->s.col_tile < 1 || v->s.col_tile > MAX_VECTORS || v->s.row_tile > MAX_COLUMNS ||
        conv_tile_rows(&cv->c) * v->s.col_tile * v->s.row_tile > MAX_ACCS ||
        cv->c.tile % (v->s.lanes * v->s.col_tile) || cv->c.block % v->s.unroll ||
        (v->s.band > 0 && cv->c.is_window))
        return vec_refuse(v, "the numbers in ingot.schedule");
    return read_start(cv);
}

// ---- addresses

static int64_t acc_of(const Conv *cv, int64_t row, int64_t column, int64_t vector) {
    return (row * cv->columns + column) * cv->vectors + vector;
}

static int64_t num_accs(const Conv *cv) {
    return cv->rows * cv->columns * cv->vectors;
}

// Column of the input that window position s of a result column reads, if it is inside.
static bool is_inside(const Conv *cv, int64_t column, int64_t s) {
    if (cv->ow) return true;
    int64_t at = (cv->first_column + column) * cv->c.stride_w - cv->pad_w + s * cv->c.dilation_w;
    return at >= 0 && at < cv->width;
}

static IrValue *input_column(Conv *cv, int64_t column, int64_t s) {
    const ConvShape *c = &cv->c;
    int64_t offset = column * c->stride_w - cv->pad_w + s * c->dilation_w;
    if (!cv->ow) return build_index(&cv->v->b, cv->first_column * c->stride_w + offset);
    return build_add_index(&cv->v->b, build_mul_index(&cv->v->b, cv->ow, c->stride_w), offset);
}

static IrValue *result_column(Conv *cv, int64_t column) {
    if (!cv->ow) return build_index(&cv->v->b, cv->first_column + column);
    return build_add_index(&cv->v->b, cv->ow, column);
}

// The element or vector `lane` of a block of the input at this place.
static IrValue *load_input(Conv *cv, const IrType *vector, IrValue *row, IrValue *column,
                           IrValue *block, IrValue *lane) {
    Builder *b = &cv->v->b;
    IrValue *last[] = {cv->n, row, column, block, lane},
            *blocks[] = {cv->n, block, row, column, lane};
    IrValue *const *at = cv->c.is_blocked ? blocks : last;
    return vector ? build_vector_load(b, vector, cv->x, 5, at) : build_load(b, cv->x, 5, at);
}

enum { MAX_INDICES = 7 };

// The indices of vector k of group g, its channels being the last dimension of that group or, of a
// map in blocks and of weights for one, the last two; returns how many.
static uint32_t add_channel_indices(Conv *cv, bool has_blocks, int64_t k, IrValue **at,
                                    uint32_t n) {
    Builder *b = &cv->v->b;
    int64_t lane = (cv->first_vector + k) * cv->v->s.lanes;
    if (has_blocks) at[n++] = build_index(b, lane / MAP_BLOCK);
    at[n++] = build_index(b, has_blocks ? lane % MAP_BLOCK : lane);
    return n;
}

// The block of the result that vector k of group g belongs to.
static IrValue *result_block(Conv *cv, int64_t k) {
    Builder *b = &cv->v->b;
    int64_t lane = (cv->first_vector + k) * cv->v->s.lanes;
    return build_add_index(b, build_mul_index(b, cv->g, cv->c.tile / MAP_BLOCK), lane / MAP_BLOCK);
}

// The indices of vector k in the result, or in a map like it or by its channels; returns how many.
static uint32_t result_indices(Conv *cv, const IrType *type, int64_t row, int64_t column, int64_t k,
                               IrValue **at) {
    Builder *b = &cv->v->b;
    bool is_map = type->rank > 2, has_groups = type->rank == 6;
    uint32_t n = 0;
    if (is_map) at[n++] = cv->n;
    if (!cv->c.is_out_blocked) {
        if (is_map) at[n++] = cv->oh[row];
        if (is_map) at[n++] = result_column(cv, column);
        at[n++] = cv->g;
        return add_channel_indices(cv, false, k, at, n);
    }
    int64_t lane = (cv->first_vector + k) * cv->v->s.lanes;
    at[n++] = has_groups ? cv->g : result_block(cv, k);
    if (has_groups) at[n++] = build_index(b, lane / MAP_BLOCK);
    if (is_map) at[n++] = cv->oh[row];
    if (is_map) at[n++] = result_column(cv, column);
    at[n++] = build_index(b, lane % MAP_BLOCK);
    return n;
}

// ---- sums

// One position of a window for every column: body(x, w, acc) lane by lane.
static Status add_window(Conv *cv, int64_t s, IrValue *r, IrValue *row, IrValue **accs) {
    Vectorizer *v = cv->v;
    IrBlock *body = ir_op_block(cv->product, 0);
    IrValue *at_s = build_index(&v->b, s);
    for (int64_t k = 0; k < cv->vectors; k++) {
        IrValue *lane = build_index(&v->b, (cv->first_vector + k) * v->s.lanes), *weight = NULL;
        IrValue *at_w[] = {r, at_s, cv->g, lane};
        if (!ir_value_is_unused(body->args[1]))
            weight = cv->w->type->rank == 4 ? build_vector_load(&v->b, v->vf32, cv->w, 4, at_w)
                                            : vec_splat(v, build_load(&v->b, cv->w, 2, at_w));
        for (int64_t column = 0; column < cv->columns; column++) {
            if (!is_inside(cv, column, s)) continue;
            IrValue *x = load_input(cv, v->vf32, row, input_column(cv, column, s), cv->g, lane);
            IrValue **acc = &accs[acc_of(cv, 0, column, k)];
            IrValueMap map;
            ir_value_map_init(&map);
            ir_value_map_set(&map, body->args[0], x);
            if (weight) ir_value_map_set(&map, body->args[1], weight);
            ir_value_map_set(&map, body->args[2], *acc);
            *acc = vec_clone_body(v, body, &map);
            ir_value_map_deinit(&map);
            if (!*acc) return vec_refuse(v, "a window whose body is not elementwise");
        }
    }
    return STATUS_OK;
}

// What a round of the loops sums: rows first_row .. end_row of the tile at these indices.
typedef struct Place {
    IrValue *b, *r, *input_row[MAX_ROWS]; // b: of the weights
    IrValue *input_block;
    int64_t first_row, end_row;
} Place;

// Asks for the weights of the next channel group, in a band of the next block, at the place where
// this one's are read: they are in the second-level cache when the last row of this group is done.
// Where groups are large the first row would otherwise wait for memory: 600 KB while it computes
// for 25 microseconds.
static void prefetch_next(Conv *cv, IrValue *const *indices) {
    enum { LINE_FLOATS = 16 };
    IrModule *m = cv->v->m;
    int64_t lanes = cv->v->s.lanes;
    IrNamedAttr attrs[] = {{"isWrite", ir_attr_bool(m, false)},
                           {"localityHint", ir_attr_int(m, 2, ir_type_int(m, 32))},
                           {"isDataCache", ir_attr_bool(m, true)}};
    for (int64_t k = 0; k < cv->vectors; k += MAX(LINE_FLOATS / lanes, 1)) {
        IrValue *operands[2 + MAX_INDICES] = {cv->w, cv->next_g};
        for (uint32_t i = 1; i < 5; i++) operands[1 + i] = indices[i];
        if (cv->next_block) operands[2] = cv->next_block;
        uint32_t num = add_channel_indices(cv, cv->w->type->rank == 7, k, operands + 1, 5);
        build_op_full(&cv->v->b, &(IrOpSpec){.kind = IR_MEMREF_PREFETCH,
                                             .num_operands = 1 + num,
                                             .operands = operands,
                                             .num_attrs = 3,
                                             .attrs = attrs,
                                             .segments = {1, num}});
    }
}

static void add_channel(Conv *cv, const Place *at, int64_t s, IrValue *i, IrValue **accs) {
    Vectorizer *v = cv->v;
    IrValue *weights[MAX_VECTORS], *at_s = build_index(&v->b, s);
    for (int64_t k = 0; k < cv->vectors; k++) {
        IrValue *indices[MAX_INDICES] = {cv->g, at->b, at->r, at_s, i};
        uint32_t num = add_channel_indices(cv, cv->w->type->rank == 7, k, indices, 5);
        weights[k] = build_vector_load(&v->b, v->vf32, cv->w, num, indices);
        if (k == 0 && cv->next_g) prefetch_next(cv, indices);
    }
    for (int64_t row = at->first_row; row < at->end_row; row++)
        for (int64_t column = 0; column < cv->columns; column++) {
            if (!is_inside(cv, column, s)) continue;
            IrValue *x = vec_splat(v, load_input(cv, NULL, at->input_row[row],
                                                 input_column(cv, column, s), at->input_block, i));
            for (int64_t k = 0; k < cv->vectors; k++) {
                IrValue **acc = &accs[acc_of(cv, row, column, k)];
                *acc = build_fma(&v->b, x, weights[k], *acc);
            }
        }
}

static bool any_inside(const Conv *cv, int64_t s) {
    for (int64_t column = 0; column < cv->columns; column++)
        if (is_inside(cv, column, s)) return true;
    return false;
}

// A loop that carries the sums; accs are those inside until leave_loop puts the results there.
typedef struct SumLoop {
    Builder outer;
    IrOp *op;
    IrValue *iv;
} SumLoop;

static void enter_loop(Conv *cv, SumLoop *loop, IrValue *lo, IrValue *hi, int64_t step,
                       IrValue **accs) {
    Vectorizer *v = cv->v;
    uint32_t num = (uint32_t)num_accs(cv);
    Builder body;
    IrValue *by = build_index(&v->b, step);
    loop->op = build_for(&v->b, lo, hi, by, num, accs, &body);
    loop->outer = v->b;
    v->b = body;
    loop->iv = body.block->args[0];
    for (uint32_t a = 0; a < num; a++) accs[a] = body.block->args[1 + a];
}

static void leave_loop(Conv *cv, SumLoop *loop, IrValue **accs) {
    uint32_t num = (uint32_t)num_accs(cv);
    build_yield(&cv->v->b, IR_SCF_YIELD, num, accs);
    cv->v->b = loop->outer;
    for (uint32_t a = 0; a < num; a++) accs[a] = ir_op_result(loop->op, a);
}

static IrValue *input_row(Conv *cv, int64_t row, IrValue *r) {
    Builder *b = &cv->v->b;
    return build_binary(b, IR_ARITH_ADDI, cv->first_row[row],
                        build_mul_index(b, r, cv->c.dilation_h));
}

static Status emit_window(Conv *cv, IrValue **accs) {
    SumLoop loop;
    enter_loop(cv, &loop, cv->r_begin[0], cv->r_end[0], 1, accs);
    IrValue *row = input_row(cv, 0, loop.iv);
    for (int64_t s = 0; s < cv->c.s; s++) TRY(add_window(cv, s, loop.iv, row, accs));
    leave_loop(cv, &loop, accs);
    return STATUS_OK;
}

// Sums over window rows [lo, hi), which lie in the input for the tile's rows first .. end.
static void emit_window_rows(Conv *cv, IrValue *block, IrValue *lo, IrValue *hi, int64_t first,
                             int64_t end, IrValue **accs) {
    Vectorizer *v = cv->v;
    SumLoop rows, channels;
    enter_loop(cv, &rows, lo, hi, 1, accs);
    Place at = {.b = block, .r = rows.iv, .first_row = first, .end_row = end, .input_block = block};
    if (cv->first_block)
        at.input_block = build_binary(&v->b, IR_ARITH_ADDI, cv->first_block, block);
    for (int64_t row = first; row < end; row++) at.input_row[row] = input_row(cv, row, rows.iv);
    for (int64_t s = 0; s < cv->c.s; s++) {
        if (!any_inside(cv, s)) continue;
        enter_loop(cv, &channels, build_index(&v->b, 0), build_index(&v->b, cv->c.block),
                   v->s.unroll, accs);
        for (int64_t u = 0; u < v->s.unroll; u++)
            add_channel(cv, &at, s, build_add_index(&v->b, channels.iv, u), accs);
        leave_loop(cv, &channels, accs);
    }
    leave_loop(cv, &rows, accs);
}

// Sums over one block of input channels. The later row's window enters the input first and leaves
// it first.
static void emit_block(Conv *cv, IrValue *block, IrValue **accs) {
    Vectorizer *v = cv->v;
    IrValue **lo = cv->r_begin, **hi = cv->r_end;
    if (cv->rows == 1) {
        emit_window_rows(cv, block, lo[0], hi[0], 0, 1, accs);
        return;
    }
    IrValue *both_begin = lo[0], *both_end = hi[1];
    IrValue *ahead_end = build_binary(&v->b, IR_ARITH_MINSI, both_begin, both_end);
    IrValue *behind_begin = build_binary(&v->b, IR_ARITH_MAXSI, both_begin, both_end);
    emit_window_rows(cv, block, lo[1], ahead_end, 1, 2, accs);
    emit_window_rows(cv, block, both_begin, both_end, 0, 2, accs);
    emit_window_rows(cv, block, behind_begin, hi[0], 0, 1, accs);
}

static void start_sums(Conv *cv, IrValue **accs) {
    Vectorizer *v = cv->v;
    IrValue *start = vec_splat(v, build_float(&v->b, cv->start, v->f32));
    for (int64_t a = 0; a < num_accs(cv); a++) accs[a] = start;
}

static Status emit_sums(Conv *cv, IrValue **accs) {
    Vectorizer *v = cv->v;
    if (cv->c.is_window) return emit_window(cv, accs);
    SumLoop blocks;
    enter_loop(cv, &blocks, build_index(&v->b, 0), build_index(&v->b, cv->c.blocks), 1, accs);
    emit_block(cv, blocks.iv, accs);
    leave_loop(cv, &blocks, accs);
    return STATUS_OK;
}

// The sums of the tile in a band's memory: read into accs, or written from there.
static void move_sums(Conv *cv, bool is_read, IrValue **accs) {
    Vectorizer *v = cv->v;
    for (int64_t row = 0; row < cv->rows; row++)
        for (int64_t column = 0; column < cv->columns; column++)
            for (int64_t k = 0; k < cv->vectors; k++) {
                IrValue *lane = build_index(&v->b, (cv->first_vector + k) * v->s.lanes);
                IrValue *at[] = {cv->in_band[row], result_column(cv, column), lane};
                IrValue **acc = &accs[acc_of(cv, row, column, k)];
                if (is_read)
                    *acc = build_vector_load(&v->b, v->vf32, cv->sums, 3, at);
                else
                    build_vector_store(&v->b, *acc, cv->sums, 3, at);
            }
}

// ---- what follows the sum

static const Known *find_known(const Known *known, uint32_t num, const IrValue *root) {
    for (uint32_t i = num; i-- > 0;)
        if (known[i].root == root) return &known[i];
    return NULL;
}

static IrValue *load_operand(Conv *cv, IrValue *operand, int64_t row, int64_t column, int64_t k) {
    Vectorizer *v = cv->v;
    IrValue *at[MAX_INDICES];
    if (!cv->c.is_out_blocked) operand = split_channels(cv, operand, cv->c.tile);
    uint32_t num = result_indices(cv, operand->type, row, column, k, at);
    return build_vector_load(&v->b, vec_type(v, operand->type->elem), operand, num, at);
}

// The vector at one point of an op of the epilogue; NULL if its body is not elementwise.
static IrValue *follow(Conv *cv, const IrOp *op, const Known *known, uint32_t num_known,
                       int64_t row, int64_t column, int64_t k) {
    IrBlock *body = ir_op_block(op, 0);
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (ir_value_is_unused(body->args[i])) continue;
        IrValue *operand = ir_op_operand(op, i);
        const Known *is = find_known(known, num_known, vec_root(operand));
        ir_value_map_set(&map, body->args[i],
                         is ? is->accs[acc_of(cv, row, column, k)]
                            : load_operand(cv, operand, row, column, k));
    }
    IrValue *value = vec_clone_body(cv->v, body, &map);
    ir_value_map_deinit(&map);
    return value;
}

// One op of the epilogue on every vector; the results are those of a new Known.
static Status emit_epilogue(Conv *cv, const IrOp *op, Known *known, uint32_t *num_known) {
    Known result = {.root = vec_root(ir_op_operand(op, op->segments[0]))};
    for (int64_t row = 0; row < cv->rows; row++)
        for (int64_t column = 0; column < cv->columns; column++)
            for (int64_t k = 0; k < cv->vectors; k++) {
                IrValue *value = follow(cv, op, known, *num_known, row, column, k);
                if (!value) return vec_refuse(cv->v, "an epilogue that is not elementwise");
                result.accs[acc_of(cv, row, column, k)] = value;
            }
    known[(*num_known)++] = result;
    return STATUS_OK;
}

static void store(Conv *cv, const Known *known) {
    Vectorizer *v = cv->v;
    IrValue *out = cv->out, *at[MAX_INDICES];
    if (out->type->rank == 4) out = split_channels(cv, out, cv->c.tile);
    for (int64_t row = 0; row < cv->rows; row++)
        for (int64_t column = 0; column < cv->columns; column++)
            for (int64_t k = 0; k < cv->vectors; k++) {
                uint32_t num = result_indices(cv, out->type, row, column, k, at);
                build_vector_store(&v->b, known->accs[acc_of(cv, row, column, k)], out, num, at);
            }
}

static Status emit_columns(Conv *cv) {
    Vectorizer *v = cv->v;
    for (int64_t k = 0; k < cv->c.tile / v->s.lanes; k += cv->vectors) {
        Known known[MAX_EPILOGUE + 1];
        uint32_t num = 1;
        cv->first_vector = k;
        known[0].root = vec_root(ir_op_operand(cv->product, 2));
        IrValue **accs = known[0].accs;
        if (cv->part == SUM_ALL || cv->part == SUM_START)
            start_sums(cv, accs);
        else
            move_sums(cv, true, accs);
        if (cv->part == SUM_ALL) TRY(emit_sums(cv, accs));
        if (cv->part == SUM_BLOCK) emit_block(cv, cv->block, accs);
        if (cv->part == SUM_START || cv->part == SUM_BLOCK) {
            move_sums(cv, false, accs);
            continue;
        }
        for (uint32_t i = 0; i < cv->num_epilogue; i++)
            TRY(emit_epilogue(cv, cv->epilogue[i], known, &num));
        store(cv, &known[num - 1]);
    }
    return STATUS_OK;
}

// ---- one row

// Does some window of these columns reach outside the input?
static bool is_edge(const Conv *cv, int64_t first, int64_t columns) {
    int64_t low = first * cv->c.stride_w - cv->pad_w;
    int64_t high =
        (first + columns - 1) * cv->c.stride_w - cv->pad_w + (cv->c.s - 1) * cv->c.dilation_w;
    return low < 0 || high >= cv->width;
}

static Status emit_row(Conv *cv) {
    Vectorizer *v = cv->v;
    int64_t full = v->s.row_tile, width = cv->c.ow;
    for (int64_t first = 0; first < width;) {
        int64_t end = first; // of whole tiles without an edge
        while (end + full <= width && !is_edge(cv, end, full)) end += full;
        cv->ow = NULL;
        cv->columns = MIN(full, width - first);
        if (end - first > full) {
            Builder outer = v->b, body;
            build_for(&outer, build_index(&outer, first), build_index(&outer, end),
                      build_index(&outer, full), 0, NULL, &body);
            v->b = body;
            cv->ow = body.block->args[0];
            TRY(emit_columns(cv));
            build_yield(&v->b, IR_SCF_YIELD, 0, NULL);
            v->b = outer;
            first = end;
        } else {
            cv->first_column = first;
            TRY(emit_columns(cv));
            first += cv->columns;
        }
    }
    return STATUS_OK;
}

// r from the first to behind the last row of the window that lies in the input.
static void emit_row_bounds(Conv *cv, int64_t row) {
    Builder *b = &cv->v->b;
    const ConvShape *c = &cv->c;
    IrValue *first = build_mul_index(b, cv->oh[row], c->stride_h), *zero = build_index(b, 0);
    first = cv->first_row[row] = build_add_index(b, first, -cv->pad_h);
    cv->r_begin[row] = zero;
    cv->r_end[row] = build_index(b, c->r);
    if (cv->pad_h > 0) {
        IrValue *above = build_binary(b, IR_ARITH_SUBI, build_index(b, c->dilation_h - 1), first);
        above = build_binary(b, IR_ARITH_MAXSI, above, zero);
        cv->r_begin[row] = c->dilation_h == 1 ? above
                                              : build_binary(b, IR_ARITH_DIVUI, above,
                                                             build_index(b, c->dilation_h));
    }
    if ((c->oh - 1) * c->stride_h - cv->pad_h + (c->r - 1) * c->dilation_h < cv->height) return;
    IrValue *inside =
        build_binary(b, IR_ARITH_SUBI, build_index(b, cv->height + c->dilation_h - 1), first);
    inside = build_binary(b, IR_ARITH_MAXSI, inside, zero);
    if (c->dilation_h > 1)
        inside = build_binary(b, IR_ARITH_DIVUI, inside, build_index(b, c->dilation_h));
    cv->r_end[row] = build_binary(b, IR_ARITH_MINSI, inside, cv->r_end[row]);
}

static Status emit_rows(Conv *cv, IrValue *first, int64_t rows) {
    cv->rows = rows;
    for (int64_t row = 0; row < rows; row++) {
        cv->oh[row] = build_add_index(&cv->v->b, first, row);
        emit_row_bounds(cv, row);
    }
    return emit_row(cv);
}

// The rows of a tile: all, or those that are left at the end of an image.
static Status emit_tile(Conv *cv, IrValue *first) {
    Vectorizer *v = cv->v;
    int64_t rows = conv_tile_rows(&cv->c), rest = cv->c.oh % rows;
    if (rest == 0) return emit_rows(cv, first, rows);
    IrValue *is_whole = build_cmpi(&v->b, "slt", first, build_index(&v->b, cv->c.oh - rest));
    IrOp *branch = build_op_full(&v->b, &(IrOpSpec){.kind = IR_SCF_IF,
                                                    .num_operands = 1,
                                                    .operands = &is_whole,
                                                    .num_regions = 2,
                                                    .segments = {1}});
    Builder outer = v->b;
    for (uint32_t r = 0; r < 2; r++) {
        v->b = build_at_end(v->m, ir_region_add_block(v->m, &branch->regions[r]), branch->loc);
        TRY(emit_rows(cv, first, r == 0 ? rows : rest));
        build_yield(&v->b, IR_SCF_YIELD, 0, NULL);
    }
    v->b = outer;
    return STATUS_OK;
}

// ---- what is read next

static bool fetches_ahead(const Conv *cv) {
    const ConvShape *c = &cv->c;
    int64_t group_bytes = c->blocks * c->r * c->s * c->block * c->tile * 4;
    return c->groups > 1 && group_bytes >= LARGE_GROUP_BYTES && !cv->v->s.by_image;
}

static void find_next_group(Conv *cv, IrValue *g) {
    Builder *b = &cv->v->b;
    cv->next_g = build_binary(b, IR_ARITH_MINUI, g, build_index(b, cv->c.groups - 1));
}

// The block after cv->block, of the next group if this was the last one.
static void find_next_block(Conv *cv) {
    Builder *b = &cv->v->b;
    IrValue *next = build_add_index(b, cv->block, 1), *num = build_index(b, cv->c.blocks);
    cv->next_block = build_binary(b, IR_ARITH_REMUI, next, num);
    IrValue *is_last = build_binary(b, IR_ARITH_DIVUI, next, num); // 1 or 0
    find_next_group(cv, build_binary(b, IR_ARITH_ADDI, cv->g, is_last));
}

// ---- bands

// The tiles [begin, end) of a plane, at most s.band at a time: block after block of input channels
// is added to sums in memory, so that its weights come from the first cache but for the first tile.
//
//   for first in [begin, end) by band
//     sums = start
//     for b: for tile in the band: sums[tile] += block b
//     for tile in the band: y = epilogue(sums[tile], ...); store
typedef struct Band {
    IrValue *begin, *end; // tiles
    int64_t tile_rows;
} Band;

// A loop over the tiles of a band; returns the tile's first row in the result.
static IrValue *enter_tiles(Conv *cv, const Band *band, Builder *out_outer) {
    Builder *b = &cv->v->b, body;
    *out_outer = *b;
    build_for(out_outer, band->begin, band->end, build_index(b, 1), 0, NULL, &body);
    *b = body;
    IrValue *tile = body.block->args[0];
    IrValue *before = build_binary(b, IR_ARITH_SUBI, tile, band->begin);
    for (int64_t row = 0; row < band->tile_rows; row++)
        cv->in_band[row] = build_add_index(b, build_mul_index(b, before, band->tile_rows), row);
    return build_mul_index(b, tile, band->tile_rows);
}

static void leave(Conv *cv, const Builder *outer) {
    build_yield(&cv->v->b, IR_SCF_YIELD, 0, NULL);
    cv->v->b = *outer;
}

static Status emit_part(Conv *cv, const Band *band, SumPart part) {
    Builder outer;
    cv->part = part;
    TRY(emit_tile(cv, enter_tiles(cv, band, &outer)));
    leave(cv, &outer);
    return STATUS_OK;
}

static Status emit_bands(Conv *cv, IrValue *begin, IrValue *end) {
    Vectorizer *v = cv->v;
    Builder outer = v->b, body, blocks;
    IrValue *step = build_index(&outer, v->s.band);
    build_for(&outer, begin, end, step, 0, NULL, &body);
    v->b = body;
    Band band = {.begin = body.block->args[0], .tile_rows = conv_tile_rows(&cv->c)};
    IrValue *whole = build_add_index(&v->b, band.begin, v->s.band);
    band.end = build_binary(&v->b, IR_ARITH_MINSI, whole, end);
    TRY(emit_part(cv, &band, SUM_START));
    Builder inside = v->b;
    build_for(&inside, build_index(&v->b, 0), build_index(&v->b, cv->c.blocks),
              build_index(&v->b, 1), 0, NULL, &blocks);
    v->b = blocks;
    cv->block = blocks.block->args[0];
    if (fetches_ahead(cv)) find_next_block(cv);
    TRY(emit_part(cv, &band, SUM_BLOCK));
    leave(cv, &inside);
    TRY(emit_part(cv, &band, SUM_END));
    leave(cv, &outer);
    return STATUS_OK;
}

// ---- the kernel

// Image and channel group of a plane, the rows of one image for one group.
static void read_plane(Conv *cv, IrValue *plane) {
    Builder *b = &cv->v->b;
    const ConvShape *c = &cv->c;
    bool by_image = cv->v->s.by_image;
    IrValue *num = build_index(b, by_image ? c->groups : c->n);
    IrValue *inside = build_binary(b, IR_ARITH_REMUI, plane, num);
    IrValue *outside = build_binary(b, IR_ARITH_DIVUI, plane, num);
    cv->n = by_image ? outside : inside;
    cv->g = by_image ? inside : outside;
    if (c->parts > 1) {
        IrValue *in_part = build_index(b, c->groups / c->parts);
        IrValue *part = build_binary(b, IR_ARITH_DIVUI, cv->g, in_part);
        cv->first_block = build_mul_index(b, part, c->blocks);
    }
}

static Status emit_tiles(Conv *cv, IrValue *in_image) {
    Vectorizer *v = cv->v;
    const ConvShape *c = &cv->c;
    Builder outer = v->b, tiles;
    build_for(&outer, vec_tile_begin(v), vec_tile_end(v), build_index(&v->b, 1), 0, NULL, &tiles);
    v->b = tiles;
    IrValue *tile = tiles.block->args[0];
    read_plane(cv, build_binary(&v->b, IR_ARITH_DIVUI, tile, in_image));
    if (fetches_ahead(cv)) find_next_group(cv, build_add_index(&v->b, cv->g, 1));
    IrValue *number = build_binary(&v->b, IR_ARITH_REMUI, tile, in_image);
    TRY(emit_tile(cv, build_mul_index(&v->b, number, conv_tile_rows(c))));
    leave(cv, &outer);
    return STATUS_OK;
}

// The planes that [begin, end) has tiles of, and of each these tiles in bands.
static Status emit_planes(Conv *cv, IrValue *in_image) {
    Vectorizer *v = cv->v;
    IrValue *begin = vec_tile_begin(v), *end = vec_tile_end(v);
    const int64_t shape[] = {v->s.band * conv_tile_rows(&cv->c), cv->c.ow, cv->c.tile};
    cv->sums = vec_alloca(v, ir_type_memref(v->m, 3, shape, v->f32), REASON_LOOP_CARRIED);
    Builder outer = v->b, planes;
    IrValue *first = build_binary(&outer, IR_ARITH_DIVUI, begin, in_image);
    IrValue *past = build_binary(&outer, IR_ARITH_ADDI, end, in_image);
    IrValue *last =
        build_binary(&outer, IR_ARITH_DIVUI, build_add_index(&outer, past, -1), in_image);
    build_for(&outer, first, last, build_index(&outer, 1), 0, NULL, &planes);
    Builder *b = &v->b;
    *b = planes;
    IrValue *plane = planes.block->args[0], *zero = build_index(b, 0);
    IrValue *before = build_binary(b, IR_ARITH_MULI, plane, in_image);
    read_plane(cv, plane);
    IrValue *from =
        build_binary(b, IR_ARITH_MAXSI, build_binary(b, IR_ARITH_SUBI, begin, before), zero);
    IrValue *to =
        build_binary(b, IR_ARITH_MINSI, build_binary(b, IR_ARITH_SUBI, end, before), in_image);
    TRY(emit_bands(cv, from, to));
    leave(cv, &outer);
    return STATUS_OK;
}

Status vectorize_conv(Vectorizer *v) {
    Conv cv = {.v = v, .vectors = v->s.col_tile};
    IrBlock *body = ir_func_body(v->kernel);
    IrOp *last_old = body->last;
    TRY(read_kernel(&cv));
    v->b = build_at_end(v->m, body, v->kernel->loc);
    TRY(read_input(&cv));
    int64_t rows = conv_tile_rows(&cv.c);
    IrValue *in_image = build_index(&v->b, (cv.c.oh + rows - 1) / rows);
    TRY(v->s.band ? emit_planes(&cv, in_image) : emit_tiles(&cv, in_image));
    build_op(&v->b, IR_FUNC_RETURN, 0, NULL, NULL);
    vec_erase_old(v, last_old);
    return STATUS_OK;
}
