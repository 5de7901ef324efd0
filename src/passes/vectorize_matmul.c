// The schedule of matrix products with weights. A tile is 16 columns of the result (16 rows of the
// weight), taken as 16 / lanes vectors; row_tile rows of the left operand times col_tile tiles are
// accumulated in registers over the whole of K, then the epilogue runs on them and they are stored.
// Lane l of a vector is output row l of the tile, so no sum crosses lanes: each output is summed
// over k in ascending order (blocks in ascending order; inside a block of integer codes the order
// does not matter), whatever the number of rows, tiles or workers.
//
//   for tiles t .. t + col_tile in [tile_begin, tile_end)       (what is left over: one by one)
//     for rows m .. m + row_tile       (the last group is moved back to end at the last row)
//       for each operand of the epilogue that is a product, for each vector of the tiles
//         for block b, for each tile: load codes; acc = zero point; acc += dot4(code, x) ...;
//           sum = scale body(acc, ...)
//       y = epilogue(sums, other operands); store
#include <string.h>

#include "passes/contraction.h"
#include "passes/mutate.h"
#include "passes/vectorize.h"

enum { TILE = 16, MAX_SUMS = SCHEDULE_MAX_SUMS, MAX_OPERANDS = 8, MAX_EPILOGUES = 8 };

typedef enum Form { FORM_I8, FORM_WEIGHTS, FORM_FLOAT } Form;

typedef struct Matmul {
    Vectorizer *v;
    Form form;
    IrOp *product, *scale;          // scale only with FORM_I8
    IrOp *epilogues[MAX_EPILOGUES]; // each reads the one before, the first the product
    uint32_t num_epilogues;
    IrValue *x, *codes;                          // arguments
    IrValue *x_flat;                             // x as [M, K]
    int64_t x_offset;                            // first column of x the product reads
    IrValue *codes_flat;                         // [NT, KB, Q, 64], or [NT, K, 16]
    bool is_nibble, saturates;                   // saturates: codes above 7 bits
    int64_t rows, blocks, block_len, num_groups; // of 4 codes: Q
    IrValue *out, *product_root; // where results go; where the reference body keeps the product
    IrValue *out_flat;           // out as [M, N]
    // the point being emitted
    IrValue *tile;       // tile of the weight
    int64_t lane_offset; // first row of the vector in the tile
    IrValue *row[MAX_SUMS];
    int64_t num_rows;  // row_tile
    int64_t num_tiles; // taken at once
} Matmul;

// ---- reading the kernel

static IrOp *find_form(IrOp *kernel, const char *form) {
    FOR_EACH_OP(op, ir_func_body(kernel))
    if (contraction_is(op, form)) return op;
    return NULL;
}

static bool find_epilogues(Matmul *mm, const IrOp *last) {
    for (IrOp *op = last->next; op; op = op->next) {
        if (op->kind != IR_LINALG_GENERIC) continue;
        if (mm->num_epilogues == MAX_EPILOGUES) return false;
        mm->epilogues[mm->num_epilogues++] = op;
    }
    return true;
}

// Where an op of the epilogue writes.
static IrValue *epilogue_out(const IrOp *op) {
    return vec_root(ir_op_operand(op, ir_op_segment_start(op, 1)));
}

// The body of a "dot" is the one the schedule computes: sum += int(x) * unsigned(code [nibble]).
static bool is_plain_dot(const IrOp *dot, bool *out_nibble) {
    const IrBlock *body = ir_op_block(dot, 0);
    const IrOp *add = ir_op_operand(ir_block_terminator(body), 0)->def_op;
    if (!add || add->kind != IR_ARITH_ADDI || ir_op_operand(add, 0) != body->args[2]) return false;
    const IrOp *mul = ir_op_operand(add, 1)->def_op;
    if (!mul || mul->kind != IR_ARITH_MULI) return false;
    const IrOp *x = ir_op_operand(mul, 0)->def_op, *code = ir_op_operand(mul, 1)->def_op;
    if (!x || x->kind != IR_ARITH_EXTSI || ir_op_operand(x, 0) != body->args[0]) return false;
    if (!code || code->kind != IR_ARITH_EXTUI) return false;
    *out_nibble = ir_op_operand(code, 0) != body->args[1];
    return true;
}

// A nibble of argument 1 chosen by the half: select(half == 0, byte & 15, byte >> 4).
static bool is_plain_nibble(const IrValue *code, const IrValue *byte) {
    const IrOp *select = code->def_op;
    if (!select || select->kind != IR_ARITH_SELECT) return false;
    const IrOp *low = ir_op_operand(select, 1)->def_op, *high = ir_op_operand(select, 2)->def_op;
    int64_t mask, shift;
    return low && high && low->kind == IR_ARITH_ANDI && high->kind == IR_ARITH_SHRUI &&
           ir_op_operand(low, 0) == byte && ir_op_operand(high, 0) == byte &&
           ir_value_constant_int(ir_op_operand(low, 1), &mask) && mask == 15 &&
           ir_value_constant_int(ir_op_operand(high, 1), &shift) && shift == 4;
}

static IrOp *code_extension(const IrOp *product) {
    FOR_EACH_OP(op, ir_op_block(product, 0))
    if (op->kind == IR_ARITH_EXTUI) return op;
    return NULL;
}

static Status read_codes(Matmul *mm) {
    const IrType *codes = ir_op_operand(mm->product, 1)->type; // [NT, KB, Q, 16, 4]
    IrOp *extension = code_extension(mm->product);
    if (!extension || codes->rank != 5 || codes->shape[3] != TILE || codes->shape[4] != 4)
        return vec_refuse(mm->v, "weights of this layout");
    IrValue *byte = ir_op_block(mm->product, 0)->args[1];
    mm->is_nibble = ir_op_operand(extension, 0) != byte;
    if (mm->is_nibble && !is_plain_nibble(ir_op_operand(extension, 0), byte))
        return vec_refuse(mm->v, "codes that are neither bytes nor nibbles");
    bool dot_nibble = false;
    if (mm->form == FORM_I8 && !is_plain_dot(mm->product, &dot_nibble))
        return vec_refuse(mm->v, "an integer product of this form");
    mm->blocks = codes->shape[1];
    mm->num_groups = codes->shape[2];
    mm->block_len = mm->num_groups * 4 * (mm->is_nibble ? 2 : 1);
    mm->saturates = !mm->is_nibble;
    return STATUS_OK;
}

// x may be some columns of an argument: where they begin in its rows. False for another slice.
static bool read_x(Matmul *mm) {
    IrValue *at = ir_op_operand(mm->product, 0);
    if (at->type->kind != IR_TYPE_MEMREF || at->type->rank < 2) return false;
    mm->rows = at->type->shape[0];
    mm->x_offset = 0;
    for (; at->def_op; at = ir_op_operand(at->def_op, 0)) {
        const IrOp *op = at->def_op;
        if (op->kind == IR_MEMREF_EXPAND_SHAPE || op->kind == IR_MEMREF_COLLAPSE_SHAPE) continue;
        if (op->kind != IR_MEMREF_SUBVIEW) return false;
        const IrType *whole = ir_op_operand(op, 0)->type;
        const IrAttr *offsets = ir_op_attr(op, "static_offsets");
        const IrAttr *sizes = ir_op_attr(op, "static_sizes");
        const IrAttr *strides = ir_op_attr(op, "static_strides");
        if (whole->rank < 2 || at->type->rank != whole->rank || whole->shape[0] != mm->rows)
            return false;
        int64_t inner = 1; // elements of one step of dimension 1
        for (uint32_t d = 0; d < whole->rank; d++) {
            bool is_all = offsets->values[d] == 0 && sizes->values[d] == whole->shape[d];
            if (strides->values[d] != 1 || (d != 1 && !is_all)) return false;
            if (d > 1) inner *= whole->shape[d];
        }
        if (offsets->values[1] == IR_DYNAMIC) return false;
        mm->x_offset += offsets->values[1] * inner;
    }
    mm->x = at;
    return true;
}

// Does the way from value to its argument lead through a slice? Then the argument is not the value.
static bool is_slice(const IrValue *value) {
    for (; value->def_op && value->def_op->num_operands; value = ir_op_operand(value->def_op, 0))
        if (value->def_op->kind == IR_MEMREF_SUBVIEW) return true;
    return false;
}

// The operands of a contraction but x: whole arguments.
static bool has_sliced_operand(const IrOp *op, uint32_t first) {
    for (uint32_t i = first; op && i < op->num_operands; i++)
        if (ir_op_operand(op, i)->type->kind == IR_TYPE_MEMREF && is_slice(ir_op_operand(op, i)))
            return true;
    return false;
}

static Status read_kernel(Matmul *mm) {
    IrOp *kernel = mm->v->kernel;
    mm->form = FORM_I8;
    mm->product = find_form(kernel, "dot");
    mm->scale = find_form(kernel, "scale");
    if (!mm->product) {
        mm->form = FORM_WEIGHTS;
        mm->product = find_form(kernel, "weights");
    }
    if (!mm->product) {
        mm->form = FORM_FLOAT;
        mm->product = find_form(kernel, "float");
    }
    if (!mm->product || (mm->form == FORM_I8) != (mm->scale != NULL))
        return vec_refuse(mm->v, "a kernel without a contraction");
    if (!read_x(mm) || has_sliced_operand(mm->product, 1) || has_sliced_operand(mm->scale, 0))
        return vec_refuse(mm->v, "a contraction of slices like these");
    mm->codes = vec_root(ir_op_operand(mm->product, 1));
    IrOp *last = mm->scale ? mm->scale : mm->product;
    mm->product_root = vec_root(ir_op_operand(last, ir_op_segment_start(last, 1)));
    if (!find_epilogues(mm, last)) return vec_refuse(mm->v, "an epilogue of this many ops");
    mm->out = mm->product_root;
    if (mm->num_epilogues) mm->out = epilogue_out(mm->epilogues[mm->num_epilogues - 1]);
    if (mm->out->def_op || mm->x->def_op || mm->codes->def_op)
        return vec_refuse(mm->v, "a contraction whose operands are computed in the kernel");
    if (mm->out->type->kind != IR_TYPE_MEMREF || mm->out->type->has_layout ||
        mm->x->type->kind != IR_TYPE_MEMREF || mm->x->type->has_layout)
        return vec_refuse(mm->v, "operands of these types");
    mm->num_rows = mm->v->s.row_tile;
    if (mm->num_rows > mm->rows || mm->num_rows * mm->v->s.col_tile > MAX_SUMS)
        return vec_refuse(mm->v, "a result of this shape");
    if (mm->form != FORM_FLOAT) return read_codes(mm);
    mm->blocks = ir_op_operand(mm->product, 1)->type->shape[1];
    return STATUS_OK;
}

// ---- dot4: acc[l] += sum over i < 4 of code[4l + i] * x[i]

static IrValue *intrinsic(Vectorizer *v, const char *name, uint32_t n, IrValue *const *operands,
                          const IrType *type) {
    IrNamedAttr attr = {"intrin", ir_attr_string(v->m, name)};
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_LLVM_CALL_INTRINSIC,
                                                         .num_operands = n,
                                                         .operands = operands,
                                                         .num_results = 1,
                                                         .result_types = &type,
                                                         .num_attrs = 1,
                                                         .attrs = &attr}),
                        0);
}

static IrValue *splat_const(Vectorizer *v, int64_t value, const IrType *vector) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
    IrNamedAttr attr = {"value",
                        ir_attr_dense(v->m, vector, bytes, ir_type_bytes(vector->elem), true)};
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_ARITH_CONSTANT,
                                                         .num_results = 1,
                                                         .result_types = &vector,
                                                         .num_attrs = 1,
                                                         .attrs = &attr}),
                        0);
}

static const IrType *int_vector(Vectorizer *v, int64_t lanes, uint32_t width) {
    return ir_type_vector(v->m, 1, &lanes, ir_type_int(v->m, width));
}

static IrValue *cast_vector(Vectorizer *v, IrValue *value, const IrType *type) {
    return build_cast(&v->b, IR_VECTOR_BITCAST, value, type);
}

static IrValue *multiply_add_pairs(Vectorizer *v, IrValue *a16, IrValue *b16) {
    bool is_wide = v->s.lanes == 16;
    IrValue *operands[] = {a16, b16};
    return intrinsic(v, is_wide ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd", 2,
                     operands, v->vi32);
}

// codes: bytes; x: one i32 (4 signed bytes) in every lane, as bytes.
static IrValue *dot4(Matmul *mm, IrValue *acc, IrValue *codes, IrValue *x) {
    Vectorizer *v = mm->v;
    bool is_wide = v->s.lanes == 16;
    if (v->features & (CPU_HAS_AVX512VNNI | CPU_HAS_AVXVNNI)) {
        IrValue *operands[] = {acc, codes, x};
        return intrinsic(v,
                         is_wide ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512.vpdpbusd.256",
                         3, operands, v->vi32);
    }
    const IrType *i16 = int_vector(v, v->s.lanes * 2, 16);
    IrValue *sum;
    if (!mm->saturates) { // codes of 4 bits: a pair of products is at most 2 * 15 * 128
        IrValue *operands[] = {codes, x};
        IrValue *pairs =
            intrinsic(v, is_wide ? "llvm.x86.avx512.pmaddubs.w.512" : "llvm.x86.avx2.pmadd.ub.sw",
                      2, operands, i16);
        sum = multiply_add_pairs(v, pairs, splat_const(v, 1, i16));
    } else { // even and odd bytes as 16-bit numbers
        IrValue *c = cast_vector(v, codes, i16), *w = cast_vector(v, x, i16);
        IrValue *eight = splat_const(v, 8, i16);
        IrValue *even =
            multiply_add_pairs(v, build_binary(&v->b, IR_ARITH_ANDI, c, splat_const(v, 255, i16)),
                               build_binary(&v->b, IR_ARITH_SHRSI,
                                            build_binary(&v->b, IR_ARITH_SHLI, w, eight), eight));
        IrValue *odd = multiply_add_pairs(v, build_binary(&v->b, IR_ARITH_SHRUI, c, eight),
                                          build_binary(&v->b, IR_ARITH_SHRSI, w, eight));
        sum = build_binary(&v->b, IR_ARITH_ADDI, even, odd);
    }
    return build_binary(&v->b, IR_ARITH_ADDI, acc, sum);
}

// ---- loads

static IrValue *load_scalar(Matmul *mm, IrValue *memref, uint32_t n, IrValue *const *indices) {
    return build_load(&mm->v->b, memref, n, indices);
}

// Element j of a block, as index into K.
static IrValue *k_index(Matmul *mm, IrValue *block, int64_t j) {
    Builder *b = &mm->v->b;
    return build_add_index(b, build_mul_index(b, block, mm->block_len), j);
}

// 4 bytes of x at element j of a block, in every lane.
static IrValue *load_x4(Matmul *mm, IrValue *row, IrValue *block, int64_t j) {
    Vectorizer *v = mm->v;
    IrValue *indices[] = {row, k_index(mm, block, mm->x_offset + j)};
    IrValue *bytes = build_vector_load(&v->b, int_vector(v, 4, 8), mm->x_flat, 2, indices);
    const int64_t one = 1, position = 0;
    IrValue *word = cast_vector(v, bytes, ir_type_vector(v->m, 1, &one, v->i32));
    IrNamedAttr attr = {"static_position",
                        ir_attr_dense_array(v->m, ir_type_int(v->m, 64), 1, &position)};
    const IrType *i32 = v->i32;
    IrValue *scalar = ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_VECTOR_EXTRACT,
                                                                    .num_operands = 1,
                                                                    .operands = &word,
                                                                    .num_results = 1,
                                                                    .result_types = &i32,
                                                                    .num_attrs = 1,
                                                                    .attrs = &attr,
                                                                    .segments = {1, 0}}),
                                   0);
    return cast_vector(v, vec_splat(v, scalar), int_vector(v, v->s.lanes * 4, 8));
}

// Joins the last dimensions so that `rank` are left: codes [NT, KB, Q, 16, 4] -> [NT, KB, Q, 64],
// results [M, NT, 16] -> [M, N].
static IrValue *join_last_dims(Vectorizer *v, IrValue *memref, uint32_t rank) {
    const IrType *t = memref->type;
    int64_t shape[8];
    const IrAttr *dims[8], *groups[8];
    if (t->rank <= rank) return memref;
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = ir_attr_i64(v->m, i);
    for (uint32_t i = 0; i < rank; i++) {
        bool is_last = i + 1 == rank;
        shape[i] = t->shape[i];
        for (uint32_t j = i + 1; is_last && j < t->rank; j++) shape[i] *= t->shape[j];
        groups[i] = ir_attr_array(v->m, is_last ? t->rank - i : 1, &dims[i]);
    }
    const IrType *type = ir_type_memref(v->m, rank, shape, t->elem);
    IrNamedAttr attr = {"reassociation", ir_attr_array(v->m, rank, groups)};
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_MEMREF_COLLAPSE_SHAPE,
                                                         .num_operands = 1,
                                                         .operands = &memref,
                                                         .num_results = 1,
                                                         .result_types = &type,
                                                         .num_attrs = 1,
                                                         .attrs = &attr}),
                        0);
}

// An argument in the shape of the operand that it is behind reshapes: dimensions of one element are
// not in an argument.
static IrValue *in_operand_shape(Vectorizer *v, IrValue *operand) {
    IrValue *root = vec_root(operand);
    const IrType *t = operand->type;
    if (root->type->kind != IR_TYPE_MEMREF || t->kind != IR_TYPE_MEMREF || t->rank > 8 ||
        (root->type->rank == t->rank &&
         memcmp(root->type->shape, t->shape, t->rank * sizeof *t->shape) == 0))
        return root;
    const IrAttr *dims[8];
    for (uint32_t i = 0; i < t->rank; i++) dims[i] = ir_attr_i64(v->m, i);
    const IrAttr *group = ir_attr_array(v->m, t->rank, dims);
    IrValue *line = join_last_dims(v, root, 1);
    return vec_expand_shape(v, line, ir_type_memref(v->m, t->rank, t->shape, t->elem), &group);
}

static IrValue *load_codes(Matmul *mm, IrValue *block, int64_t group) {
    Vectorizer *v = mm->v;
    IrValue *indices[] = {mm->tile, block, build_index(&v->b, group),
                          build_index(&v->b, mm->lane_offset * 4)};
    return build_vector_load(&v->b, int_vector(v, v->s.lanes * 4, 8), mm->codes_flat, 4, indices);
}

// A vector of a [NT, K, 16] argument at [tile, k].
static IrValue *load_weight_vector(Matmul *mm, IrValue *memref, IrValue *k) {
    Vectorizer *v = mm->v;
    IrValue *indices[] = {mm->tile, k, build_index(&v->b, mm->lane_offset)};
    return build_vector_load(&v->b, vec_type(v, memref->type->elem), memref, 3, indices);
}

static IrValue *shift_right(Vectorizer *v, IrValue *vector, int64_t by) {
    return by == 0 ? vector
                   : build_binary(&v->b, IR_ARITH_SHRUI, vector, splat_const(v, by, vector->type));
}

// High nibbles of bytes: shifted as 16-bit numbers, then masked.
static IrValue *high_nibbles(Vectorizer *v, IrValue *bytes) {
    IrValue *wide = cast_vector(v, bytes, int_vector(v, v->s.lanes * 2, 16));
    IrValue *shifted = cast_vector(v, shift_right(v, wide, 4), bytes->type);
    return build_binary(&v->b, IR_ARITH_ANDI, shifted, splat_const(v, 15, bytes->type));
}

// ---- one block of each form; sums[i] is updated

static void scale_block(Matmul *mm, IrValue *block, IrValue **dots, IrValue **sums,
                        bool zero_is_in) {
    Vectorizer *v = mm->v;
    IrOp *scale = mm->scale;
    IrBlock *body = ir_op_block(scale, 0);
    uint32_t num_ins = scale->segments[0];
    IrValue *shared[MAX_OPERANDS] = {0};
    for (uint32_t i = 1; i < num_ins; i++) {
        IrValue *arg = in_operand_shape(v, ir_op_operand(scale, i));
        if (arg->type->rank == 3) shared[i] = load_weight_vector(mm, arg, block);
    }
    for (int64_t r = 0; r < mm->num_rows; r++) {
        IrValueMap map;
        ir_value_map_init(&map);
        const IrOp *zero_add = NULL;
        FOR_EACH_OP(op, body)
        if (op->kind == IR_ARITH_ADDI && ir_op_operand(op, 0) == body->args[0]) zero_add = op;
        ir_value_map_set(&map, zero_is_in && zero_add ? &zero_add->results[0] : body->args[0],
                         dots[r]);
        for (uint32_t i = 1; i < num_ins; i++) {
            IrValue *arg = in_operand_shape(v, ir_op_operand(scale, i));
            if (zero_is_in && zero_add && ir_op_operand(zero_add, 1) == body->args[i]) continue;
            IrValue *indices[] = {mm->row[r], block};
            IrValue *value = shared[i] ? shared[i] : vec_splat(v, load_scalar(mm, arg, 2, indices));
            ir_value_map_set(&map, body->args[i], value);
        }
        ir_value_map_set(&map, body->args[num_ins], sums[r]);
        sums[r] = vec_clone_body(v, body, &map);
        ir_value_map_deinit(&map);
    }
}

// The argument that the scale body adds to the dot product, if any: the accumulator starts from it.
static IrValue *zero_point_arg(const Matmul *mm) {
    IrBlock *body = ir_op_block(mm->scale, 0);
    FOR_EACH_OP(op, body)
    if (op->kind == IR_ARITH_ADDI && ir_op_operand(op, 0) == body->args[0] &&
        !ir_op_operand(op, 1)->def_op)
        return in_operand_shape(mm->v, ir_op_operand(mm->scale, ir_op_operand(op, 1)->number));
    return NULL;
}

static void block_i8(Matmul *mm, IrValue *block, IrValue **sums) {
    Vectorizer *v = mm->v;
    IrValue *dots[MAX_SUMS], *second[MAX_SUMS];
    IrValue *zero_arg = zero_point_arg(mm);
    bool two_chains = mm->num_rows == 1; // one row alone would wait for its own sum
    for (int64_t r = 0; r < mm->num_rows; r++) {
        IrValue *indices[] = {mm->row[r], block};
        dots[r] = zero_arg ? vec_splat(v, load_scalar(mm, zero_arg, 2, indices))
                           : build_zero(&v->b, v->vi32);
        if (two_chains) second[r] = build_zero(&v->b, v->vi32);
    }
    for (int64_t q = 0; q < mm->num_groups; q++) {
        IrValue *bytes = load_codes(mm, block, q);
        IrValue *low = bytes;
        if (mm->is_nibble)
            low = build_binary(&v->b, IR_ARITH_ANDI, bytes, splat_const(v, 15, bytes->type));
        for (int64_t r = 0; r < mm->num_rows; r++) {
            IrValue **acc = two_chains && !mm->is_nibble && q % 2 ? &second[r] : &dots[r];
            *acc = dot4(mm, *acc, low, load_x4(mm, mm->row[r], block, 4 * q));
        }
        if (!mm->is_nibble) continue;
        IrValue *high = high_nibbles(v, bytes);
        for (int64_t r = 0; r < mm->num_rows; r++) {
            IrValue **acc = two_chains ? &second[r] : &dots[r];
            *acc = dot4(mm, *acc, high, load_x4(mm, mm->row[r], block, mm->block_len / 2 + 4 * q));
        }
    }
    if (two_chains) dots[0] = build_binary(&v->b, IR_ARITH_ADDI, dots[0], second[0]);
    scale_block(mm, block, dots, sums, zero_arg != NULL);
}

// sums[r] = body(x[row, k], weight, sums[r]) for one k. The weight's vector, the second factor of
// the fma in the body, is the same for all rows: it is computed for the first and reused.
static void fma_step(Matmul *mm, IrValue *code, IrValue *const *shared, IrValue *k,
                     IrValue **sums) {
    Vectorizer *v = mm->v;
    IrBlock *body = ir_op_block(mm->product, 0);
    uint32_t num_ins = mm->product->segments[0];
    const IrOp *fma = ir_op_operand(ir_block_terminator(body), 0)->def_op;
    IrValue *weight = NULL, *column = build_add_index(&v->b, k, mm->x_offset);
    for (int64_t r = 0; r < mm->num_rows; r++) {
        IrValue *indices[] = {mm->row[r], column};
        IrValueMap map;
        ir_value_map_init(&map);
        ir_value_map_set(&map, body->args[0],
                         vec_splat(v, load_scalar(mm, mm->x_flat, 2, indices)));
        if (code) ir_value_map_set(&map, ir_op_result(code_extension(mm->product), 0), code);
        for (uint32_t i = 1; i < num_ins; i++)
            if (shared[i]) ir_value_map_set(&map, body->args[i], shared[i]);
        if (weight) ir_value_map_set(&map, ir_op_operand(fma, 1), weight);
        ir_value_map_set(&map, body->args[num_ins], sums[r]);
        sums[r] = vec_clone_body(v, body, &map);
        bool is_fma = fma && fma->kind == IR_MATH_FMA;
        weight = is_fma ? ir_value_map_get(&map, ir_op_operand(fma, 1)) : NULL;
        if (weight && weight->type->kind != IR_TYPE_VECTOR) weight = NULL;
        ir_value_map_deinit(&map);
    }
}

static void block_weights(Matmul *mm, IrValue *block, IrValue **sums) {
    Vectorizer *v = mm->v;
    IrValue *shared[MAX_OPERANDS] = {0};
    for (uint32_t i = 2; i < mm->product->segments[0]; i++)
        shared[i] =
            load_weight_vector(mm, in_operand_shape(v, ir_op_operand(mm->product, i)), block);
    int64_t halves = mm->is_nibble ? 2 : 1, bits = mm->is_nibble ? 4 : 8;
    for (int64_t half = 0; half < halves; half++)
        for (int64_t q = 0; q < mm->num_groups; q++) {
            IrValue *words = cast_vector(v, load_codes(mm, block, q), v->vi32);
            for (int64_t i = 0; i < 4; i++) {
                IrValue *code = shift_right(v, words, 8 * i + 4 * half);
                code = build_binary(&v->b, IR_ARITH_ANDI, code,
                                    splat_const(v, (1 << bits) - 1, v->vi32));
                fma_step(mm, code, shared, k_index(mm, block, half * mm->block_len / 2 + 4 * q + i),
                         sums);
            }
        }
}

static void step_float(Matmul *mm, IrValue *k, IrValue **sums) {
    IrValue *shared[MAX_OPERANDS] = {0};
    shared[1] = load_weight_vector(mm, mm->codes, k);
    fma_step(mm, NULL, shared, k, sums);
}

// ---- loops

static void emit_block(Matmul *mm, IrValue *block, IrValue **sums) {
    if (mm->form == FORM_I8)
        block_i8(mm, block, sums);
    else if (mm->form == FORM_WEIGHTS)
        block_weights(mm, block, sums);
    else
        step_float(mm, block, sums);
}

// Sums over K for one vector of num_tiles tiles of the weight, from `first` on: those of the first
// tile's rows, then those of the second's ...
static void emit_sums(Matmul *mm, IrValue *first, IrValue **sums) {
    Vectorizer *v = mm->v;
    uint32_t num_sums = (uint32_t)(mm->num_tiles * mm->num_rows);
    IrValue *tiles[MAX_SUMS], *inner[MAX_SUMS];
    for (int64_t t = 0; t < mm->num_tiles; t++) tiles[t] = build_add_index(&v->b, first, t);
    for (uint32_t i = 0; i < num_sums; i++) sums[i] = build_zero(&v->b, v->vf32);
    Builder outer = v->b, body;
    IrValue *zero = build_index(&outer, 0),
            *end = build_index(&outer, mm->blocks - MUTATED(LAST_BLOCK)),
            *one = build_index(&outer, 1);
    IrOp *loop = build_for(&outer, zero, end, one, num_sums, sums, &body);
    for (uint32_t i = 0; i < num_sums; i++) inner[i] = body.block->args[1 + i];
    v->b = body;
    for (int64_t t = 0; t < mm->num_tiles; t++) {
        mm->tile = tiles[t];
        emit_block(mm, body.block->args[0], inner + t * mm->num_rows);
    }
    build_yield(&v->b, IR_SCF_YIELD, num_sums, inner);
    v->b = outer;
    for (uint32_t i = 0; i < num_sums; i++) sums[i] = ir_op_result(loop, i);
}

// Columns between the start of the product and what an epilogue operand reads of it.
static bool product_offset(const Matmul *mm, IrValue *operand, int64_t *out_columns) {
    *out_columns = 0;
    while (operand != mm->product_root) {
        const IrOp *op = operand->def_op;
        if (!op) return false;
        if (op->kind == IR_MEMREF_SUBVIEW) {
            const IrAttr *offsets = ir_op_attr(op, "static_offsets");
            if (op->num_operands != 1 || offsets->num_values != 2 || offsets->values[0] != 0)
                return false;
            *out_columns += offsets->values[1];
        } else if (op->kind != IR_MEMREF_COLLAPSE_SHAPE && op->kind != IR_MEMREF_EXPAND_SHAPE)
            return false;
        operand = ir_op_operand(op, 0);
    }
    return *out_columns % TILE == 0;
}

// All of an argument, which may have any shape, as [rows, N]; NULL if it has no such form.
static IrValue *as_matrix(Vectorizer *v, IrValue *memref, int64_t rows) {
    const IrType *t = memref->type;
    if (t->rank < 1 || t->rank > 8 || rows < 1 || ir_type_num_elems(t) % rows) return NULL;
    if (t->rank > 1 && t->shape[0] == rows) return join_last_dims(v, memref, 2);
    const int64_t shape[] = {rows, ir_type_num_elems(t) / rows};
    const IrAttr *dims[] = {ir_attr_i64(v->m, 0), ir_attr_i64(v->m, 1)};
    const IrAttr *group = ir_attr_array(v->m, 2, dims);
    const IrType *type = ir_type_memref(v->m, 2, shape, t->elem);
    return vec_expand_shape(v, join_last_dims(v, memref, 1), type, &group);
}

// The argument behind reshapes of all of it, in the operand's shape or as a line; NULL if the
// operand is a part of one.
static IrValue *whole_argument(Vectorizer *v, IrValue *operand) {
    const IrType *t = operand->type;
    while (operand->def_op) {
        if (operand->def_op->kind != IR_MEMREF_COLLAPSE_SHAPE &&
            operand->def_op->kind != IR_MEMREF_EXPAND_SHAPE)
            return NULL;
        operand = ir_op_operand(operand->def_op, 0);
    }
    if (t->rank == 1) return join_last_dims(v, operand, 1);
    return t->rank < 1 ? NULL : as_matrix(v, operand, t->shape[0]);
}

// The epilogue's operands that are products, by operand: their sums. Without an epilogue the
// product is operand 0.
typedef struct Products {
    bool is_product[MAX_OPERANDS];
    IrValue *sums[MAX_OPERANDS][MAX_SUMS];
} Products;

static Status emit_products(Matmul *mm, IrValue *tile, uint32_t num_ins, Products *out) {
    Vectorizer *v = mm->v;
    for (uint32_t i = 0; i < num_ins; i++) {
        IrValue *operand =
            mm->num_epilogues ? ir_op_operand(mm->epilogues[0], i) : mm->product_root;
        out->is_product[i] = vec_root(operand) == mm->product_root;
        if (!out->is_product[i]) continue;
        int64_t offset;
        if (!product_offset(mm, operand, &offset))
            return vec_refuse(v, "a slice of the product like this");
        emit_sums(mm, build_add_index(&v->b, tile, offset / TILE), out->sums[i]);
    }
    return STATUS_OK;
}

// What op reads there beside the product: a vector of its columns, or a number for each of them.
static IrValue *load_operand(Matmul *mm, const IrOp *op, uint32_t i, IrValue *const *at) {
    Vectorizer *v = mm->v;
    const IrAffineMap *map = ir_linalg_map(v->m, op, i);
    IrValue *from = whole_argument(v, ir_op_operand(op, i));
    uint32_t dim = 0;
    if (!from) return NULL;
    if (from->type->rank == 2)
        return build_vector_load(&v->b, vec_type(v, from->type->elem), from, 2, at);
    if (map->num_results != 1 || !ir_affine_is_dim(map->results[0], &dim)) return NULL;
    IrValue *place = at[dim];
    if (dim == 0) return vec_splat(v, load_scalar(mm, from, 1, &place));
    return build_vector_load(&v->b, vec_type(v, from->type->elem), from, 1, &place);
}

// One op of the epilogue at sum number i; *value is the result of the one before.
static Status emit_op(Matmul *mm, uint32_t number, const Products *products, int64_t i,
                      IrValue *const *at, IrValue **value) {
    Vectorizer *v = mm->v;
    const IrOp *op = mm->epilogues[number];
    const IrValue *before = number ? epilogue_out(mm->epilogues[number - 1]) : NULL;
    IrBlock *body = ir_op_block(op, 0);
    IrValueMap map;
    Status status = STATUS_OK;
    ir_value_map_init(&map);
    for (uint32_t k = 0; k < op->segments[0] && status == STATUS_OK; k++) {
        IrValue *operand = ir_op_operand(op, k), *read;
        if (number == 0 && products->is_product[k])
            read = products->sums[k][i];
        else if (before && vec_root(operand) == before)
            read = *value;
        else
            read = load_operand(mm, op, k, at);
        if (read)
            ir_value_map_set(&map, body->args[k], read);
        else
            status = vec_refuse(v, "an epilogue operand that is a slice");
    }
    if (status == STATUS_OK) {
        *value = vec_clone_body(v, body, &map);
        if (!*value) status = vec_refuse(v, "an epilogue that is not elementwise");
    }
    ir_value_map_deinit(&map);
    return status;
}

// The result for sum number i, whose place is `at`.
static Status emit_epilogue(Matmul *mm, const Products *products, int64_t i, IrValue *const *at,
                            IrValue **out_result) {
    *out_result = products->sums[0][i];
    if (MUTATED(LOST_EPILOGUE) && products->is_product[0]) return STATUS_OK;
    for (uint32_t e = 0; e < mm->num_epilogues; e++)
        TRY(emit_op(mm, e, products, i, at, out_result));
    return STATUS_OK;
}

static Status emit_vector(Matmul *mm, IrValue *tile, int64_t lane_offset) {
    Vectorizer *v = mm->v;
    Products products;
    uint32_t num_ins = mm->num_epilogues ? mm->epilogues[0]->segments[0] : 1;
    if (num_ins >= MAX_OPERANDS) return vec_refuse(v, "an epilogue with this many operands");
    mm->lane_offset = lane_offset;
    TRY(emit_products(mm, tile, num_ins, &products));
    for (int64_t t = 0; t < mm->num_tiles; t++) {
        IrValue *column = build_mul_index(&v->b, build_add_index(&v->b, tile, t), TILE);
        column = build_add_index(&v->b, column, lane_offset);
        for (int64_t r = 0; r < mm->num_rows; r++) {
            IrValue *result, *at[] = {mm->row[r], column};
            TRY(emit_epilogue(mm, &products, t * mm->num_rows + r, at, &result));
            if (!result) return vec_refuse(v, "a contraction body that is not elementwise");
            build_vector_store(&v->b, result, mm->out_flat, 2, at);
        }
    }
    return STATUS_OK;
}

static Status emit_rows(Matmul *mm, IrValue *tile) {
    for (int64_t offset = 0; offset < TILE; offset += mm->v->s.lanes)
        TRY(emit_vector(mm, tile, offset));
    return STATUS_OK;
}

// The valid rows: an argument of the kernel, or all.
static IrValue *row_count(Matmul *mm, Builder *b) {
    const IrBlock *body = ir_func_body(mm->v->kernel);
    bool is_given = body->num_args > 2 && body->args[body->num_args - 3]->type == mm->v->index;
    return is_given ? vec_num_valid(mm->v) : build_index(b, mm->rows);
}

// The loop over tiles [begin, end), num_tiles at once.
static Status emit_tiles(Matmul *mm, Builder *outer, IrValue *begin, IrValue *end,
                         int64_t num_tiles) {
    Vectorizer *v = mm->v;
    Builder tiles, rows;
    mm->num_tiles = num_tiles;
    build_for(outer, begin, end, build_index(outer, num_tiles), 0, NULL, &tiles);
    IrValue *tile = tiles.block->args[0];
    v->b = tiles;
    if (mm->rows == mm->num_rows) {
        for (int64_t r = 0; r < mm->num_rows; r++) mm->row[r] = build_index(&v->b, r);
        TRY(emit_rows(mm, tile));
        build_yield(&v->b, IR_SCF_YIELD, 0, NULL);
        return STATUS_OK;
    }
    IrValue *zero = build_index(&tiles, 0), *step = build_index(&tiles, mm->num_rows);
    build_for(&tiles, zero, row_count(mm, &tiles), step, 0, NULL, &rows);
    v->b = rows;
    IrValue *last = build_index(&v->b, mm->rows - mm->num_rows);
    IrValue *first = build_binary(&v->b, IR_ARITH_MINUI, rows.block->args[0], last);
    for (int64_t r = 0; r < mm->num_rows; r++) mm->row[r] = build_add_index(&v->b, first, r);
    TRY(emit_rows(mm, tile));
    build_yield(&v->b, IR_SCF_YIELD, 0, NULL);
    build_yield(&tiles, IR_SCF_YIELD, 0, NULL);
    return STATUS_OK;
}

Status vectorize_matmul(Vectorizer *v) {
    Matmul mm = {.v = v};
    TRY(read_kernel(&mm));
    IrBlock *body = ir_func_body(v->kernel);
    IrOp *last_old = body->last;
    v->b = build_at_end(v->m, body, v->kernel->loc);
    mm.codes = in_operand_shape(v, ir_op_operand(mm.product, 1));
    if (mm.form != FORM_FLOAT) mm.codes_flat = join_last_dims(v, mm.codes, 4);
    mm.out_flat = as_matrix(v, mm.out, mm.rows);
    mm.x_flat = as_matrix(v, mm.x, mm.rows);
    if (!mm.out_flat || !mm.x_flat) return vec_refuse(v, "operands of these shapes");
    Builder outer = v->b;
    IrValue *begin = vec_tile_begin(v), *end = vec_tile_end(v), *middle = begin;
    if (MUTATED(TILE_START)) middle = begin = build_add_index(&outer, begin, 1);
    if (v->s.col_tile > 1) {
        IrValue *step = build_index(&outer, v->s.col_tile);
        IrValue *count = build_binary(&outer, IR_ARITH_SUBI, end, begin);
        IrValue *whole = build_binary(&outer, IR_ARITH_SUBI, count,
                                      build_binary(&outer, IR_ARITH_REMUI, count, step));
        middle = build_binary(&outer, IR_ARITH_ADDI, begin, whole);
        TRY(emit_tiles(&mm, &outer, begin, middle, v->s.col_tile));
    }
    TRY(emit_tiles(&mm, &outer, middle, end, 1));
    build_op(&outer, IR_FUNC_RETURN, 0, NULL, NULL);
    vec_erase_old(v, last_old);
    return STATUS_OK;
}
