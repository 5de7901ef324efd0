// Takes a decoding body apart; see decode.h.
#include "passes/decode.h"

#include <string.h>

// ---- integer ranges

static uint32_t all_bits_below(uint32_t v) {
    uint32_t mask = 0;
    while (mask < v) mask = mask << 1 | 1;
    return mask;
}

// UINT32_MAX stands for that and everything above.
static uint32_t type_max(const IrType *t) {
    return t->kind == IR_TYPE_INT && t->width < 32 ? (1u << t->width) - 1 : UINT32_MAX;
}

uint32_t decode_unsigned_max(const IrValue *value) {
    const IrType *type = value->type;
    uint32_t limit = type_max(type);
    const IrOp *op = value->def_op;
    int64_t k;
    bool is_wide = type->kind != IR_TYPE_INT || type->width > 32;
    if (ir_value_constant_int(value, &k)) {
        if (is_wide && (k < 0 || k > UINT32_MAX)) return UINT32_MAX;
        return (uint32_t)k & limit;
    }
    if (!op || type->kind != IR_TYPE_INT) return limit;
    switch (op->kind) {
    case IR_ARITH_ANDI:
        return MIN(decode_unsigned_max(ir_op_operand(op, 0)),
                   decode_unsigned_max(ir_op_operand(op, 1)));
    case IR_ARITH_ORI:
        return all_bits_below(decode_unsigned_max(ir_op_operand(op, 0)) |
                              decode_unsigned_max(ir_op_operand(op, 1)));
    case IR_ARITH_SHRUI: {
        uint32_t max = decode_unsigned_max(ir_op_operand(op, 0));
        if (is_wide && max == UINT32_MAX) return limit;
        return ir_value_constant_int(ir_op_operand(op, 1), &k) && k >= 0 && k < 32 ? max >> k : max;
    }
    case IR_ARITH_SHLI: {
        uint64_t max = decode_unsigned_max(ir_op_operand(op, 0));
        if (!ir_value_constant_int(ir_op_operand(op, 1), &k) || k < 0 || k > 31) return limit;
        return (max << k) > limit ? limit : (uint32_t)(max << k);
    }
    case IR_ARITH_SELECT:
        return MAX(decode_unsigned_max(ir_op_operand(op, 1)),
                   decode_unsigned_max(ir_op_operand(op, 2)));
    case IR_ARITH_EXTUI: return decode_unsigned_max(ir_op_operand(op, 0));
    case IR_ARITH_TRUNCI: return MIN(limit, decode_unsigned_max(ir_op_operand(op, 0)));
    default: return limit;
    }
}

// ---- dependence

static bool depends_on(const IrValue *value, const IrOp *op) {
    if (!value->def_op) return false;
    if (value->def_op == op) return true;
    for (uint32_t i = 0; i < value->def_op->num_operands; i++)
        if (depends_on(ir_op_operand(value->def_op, i), op)) return true;
    return false;
}

// ---- which loops an expression reads

static uint32_t loops_read(IrModule *m, const IrOp *generic, const IrValue *value) {
    uint32_t mask = 0;
    if (!value->def_op) {
        if (value->def_block != ir_op_block(generic, 0)) return 0;
        const IrAffineMap *map = ir_linalg_map(m, generic, value->number);
        for (uint32_t d = 0; d < map->num_dims; d++)
            for (uint32_t r = 0; r < map->num_results; r++)
                if (ir_affine_uses_dim(map->results[r], d)) mask |= 1u << d;
        return mask;
    }
    if (value->def_op->kind == IR_LINALG_INDEX) return 1u << ir_op_attr(value->def_op, "dim")->i;
    for (uint32_t i = 0; i < value->def_op->num_operands; i++)
        mask |= loops_read(m, generic, ir_op_operand(value->def_op, i));
    return mask;
}

// The conversion of the code: the only one on the way to value that varies with the innermost loop.
static IrOp *find_convert(IrModule *m, const IrOp *generic, const IrValue *value) {
    uint32_t innermost = 1u << (ir_linalg_num_loops(generic) - 1);
    IrOp *found = NULL;
    FOR_EACH_OP(op, ir_op_block(generic, 0)) {
        if (op->kind != IR_ARITH_SITOFP && op->kind != IR_ARITH_UITOFP) continue;
        if (!depends_on(value, op) || !(loops_read(m, generic, ir_op_operand(op, 0)) & innermost))
            continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

// ---- w = code * A + B

// Splits a value on the way from the conversion to the decoded number into the operand that holds
// the code and the other one; false if it is not mulf, addf or subf with the code on a linear side.
static bool split_step(const IrValue *value, const IrOp *convert, IrValue **out_with,
                       IrValue **out_other) {
    const IrOp *op = value->def_op;
    if (!op ||
        (op->kind != IR_ARITH_MULF && op->kind != IR_ARITH_ADDF && op->kind != IR_ARITH_SUBF))
        return false;
    IrValue *a = ir_op_operand(op, 0), *b = ir_op_operand(op, 1);
    bool in_a = depends_on(a, convert), in_b = depends_on(b, convert);
    if (in_a == in_b || (op->kind == IR_ARITH_SUBF && in_b)) return false;
    *out_with = in_a ? a : b;
    *out_other = in_a ? b : a;
    return true;
}

static void read_code(Decode *d) {
    IrValue *code = ir_op_operand(d->convert, 0);
    const IrOp *def = code->def_op;
    int64_t k;
    d->zero = 0;
    if (def && def->kind == IR_ARITH_SUBI && ir_value_constant_int(ir_op_operand(def, 1), &k)) {
        code = ir_op_operand(def, 0);
        d->zero = -k;
    } else if (def && def->kind == IR_ARITH_ADDI &&
               ir_value_constant_int(ir_op_operand(def, 1), &k)) {
        code = ir_op_operand(def, 0);
        d->zero = k;
    }
    d->code = code;
    d->code_max = decode_unsigned_max(code);
    bool is_signed_convert = d->convert->kind == IR_ARITH_SITOFP;
    d->is_signed = is_signed_convert && d->code_max > 127;
}

bool decode_read(IrModule *m, IrOp *generic, IrValue *value, Decode *out) {
    enum { MAX_LOOPS = 12, MAX_PLANES = 8 };
    if (ir_linalg_num_loops(generic) == 0 || ir_linalg_num_loops(generic) > MAX_LOOPS ||
        generic->segments[0] > MAX_PLANES || generic->segments[1] != 1 || generic->num_results != 1)
        return false;
    Decode d = {.generic = generic, .value = value};
    d.convert = find_convert(m, generic, value);
    if (!d.convert) return false;
    read_code(&d);
    const IrType *code_type = d.code->type;
    if (code_type->kind != IR_TYPE_INT || d.code_max > 255 || (d.is_signed && d.zero != 0))
        return false;
    uint32_t loops = 0;
    bool has_scale = false;
    for (IrValue *at = value, *with, *other; at->def_op != d.convert; at = with) {
        if (!split_step(at, d.convert, &with, &other)) return false;
        loops |= loops_read(m, generic, other);
        if (at->def_op->kind == IR_ARITH_MULF)
            has_scale = true;
        else
            d.has_min = true;
    }
    if (!has_scale) return false;
    while (loops >> d.num_block_loops) d.num_block_loops++;
    if (d.num_block_loops == 0 || d.num_block_loops >= ir_linalg_num_loops(generic)) return false;
    *out = d;
    return true;
}

// ---- emission

// Copies the ops that compute value into body; block arguments go through map.
static IrValue *clone_value(Builder *body, IrValue *value, IrValueMap *map) {
    IrValue *known = ir_value_map_get(map, value);
    if (known != value || !value->def_op) return known;
    for (uint32_t i = 0; i < value->def_op->num_operands; i++)
        clone_value(body, ir_op_operand(value->def_op, i), map);
    IrOp *copy = ir_op_clone(body->m, value->def_op, map);
    ir_block_append(body->block, copy);
    return ir_value_map_get(map, value);
}

// A (the factor) of value; NULL stands for 1.
static IrValue *emit_scale(Builder *body, const Decode *d, IrValue *value, IrValueMap *map) {
    IrValue *with, *other;
    if (value->def_op == d->convert) return NULL;
    BUG_IF(!split_step(value, d->convert, &with, &other), "decode_read accepted another shape");
    IrValue *inner = emit_scale(body, d, with, map);
    if (value->def_op->kind != IR_ARITH_MULF) return inner;
    IrValue *factor = clone_value(body, other, map);
    return inner ? build_binary(body, IR_ARITH_MULF, inner, factor) : factor;
}

// B (the part without the code) of value; NULL stands for 0.
static IrValue *emit_min(Builder *body, const Decode *d, IrValue *value, IrValueMap *map) {
    IrValue *with, *other;
    if (value->def_op == d->convert) return NULL;
    BUG_IF(!split_step(value, d->convert, &with, &other), "decode_read accepted another shape");
    IrValue *inner = emit_min(body, d, with, map);
    if (value->def_op->kind == IR_ARITH_MULF && !inner) return NULL;
    IrValue *part = clone_value(body, other, map);
    if (value->def_op->kind == IR_ARITH_MULF) return build_binary(body, IR_ARITH_MULF, inner, part);
    if (value->def_op->kind == IR_ARITH_SUBF)
        return inner ? build_binary(body, IR_ARITH_SUBF, inner, part)
                     : build_unary(body, IR_ARITH_NEGF, part);
    return inner ? build_binary(body, IR_ARITH_ADDF, inner, part) : part;
}

static void note_args(const IrOp *generic, const IrValue *value, uint32_t *mask) {
    if (!value->def_op) {
        if (value->def_block == ir_op_block(generic, 0)) *mask |= 1u << value->number;
        return;
    }
    for (uint32_t i = 0; i < value->def_op->num_operands; i++)
        note_args(generic, ir_op_operand(value->def_op, i), mask);
}

typedef IrValue *(*EmitPart)(Builder *body, const Decode *d, IrValue *value, IrValueMap *map);

// A generic over the first num_loops loops of d->generic that computes a part of it, as elem. The
// result has one dim per loop.
static IrValue *emit_part(Builder *b, const Decode *d, uint32_t num_loops, uint32_t arg_mask,
                          EmitPart emit, const IrType *elem, const IrAttr *code_max) {
    IrModule *m = b->m;
    IrOp *g = d->generic;
    int64_t ranges[16];
    ir_linalg_loop_ranges(m, g, ranges);
    IrValue *ins[8];
    const IrAffineMap *maps[9];
    IrValue *old_args[8];
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->segments[0]; i++) {
        if (!(arg_mask >> i & 1)) continue;
        BUG_IF(n == 8, "too many planes");
        const IrAffineMap *map = ir_linalg_map(m, g, i);
        ins[n] = ir_op_operand(g, i);
        maps[n] = ir_affine_map(m, num_loops, 0, map->num_results, map->results);
        old_args[n++] = ir_op_block(g, 0)->args[i];
    }
    maps[n] = ir_affine_identity(m, num_loops);
    IrValue *out = build_empty(b, ir_type_tensor(m, num_loops, ranges, elem));
    char iterators[17] = {0};
    memset(iterators, 'p', num_loops);
    Builder body;
    IrOp *op = build_generic(b, n, ins, 1, &out, maps, iterators, &body);
    if (code_max) ir_op_set_attr(m, op, "ingot.code_max", code_max);
    IrValueMap map;
    ir_value_map_init(&map);
    for (uint32_t i = 0; i < n; i++) ir_value_map_set(&map, old_args[i], body.block->args[i]);
    IrValue *result = emit(&body, d, d->value, &map);
    ir_value_map_deinit(&map);
    build_yield(&body, IR_LINALG_YIELD, 1, &result);
    return ir_op_result(op, 0);
}

static IrValue *emit_code(Builder *body, const Decode *d, IrValue *value, IrValueMap *map) {
    (void)value;
    const IrType *i8 = ir_type_int(body->m, 8);
    IrValue *code = clone_value(body, d->code, map);
    if (code->type->width > 8) code = build_cast(body, IR_ARITH_TRUNCI, code, i8);
    if (d->is_signed) code = build_binary(body, IR_ARITH_XORI, code, build_int(body, -128, i8));
    return code;
}

// [N, block loops...] -> [N, KB]; [N, loops...] -> [N, KB, B].
static IrValue *flatten(Builder *b, IrValue *v, uint32_t num_block_loops, bool has_inner) {
    uint32_t rank = v->type->rank;
    uint32_t groups[3] = {1, num_block_loops - 1, rank - num_block_loops};
    if (num_block_loops == 2 && (!has_inner || rank == 3)) return v;
    return build_collapse(b, v, has_inner ? 3 : 2, groups);
}

// The operand behind `value` if it is one f16 operand read block by block, so that it can stay as
// it is stored; else NULL.
static IrValue *stored_f16(IrModule *m, const Decode *d, const IrValue *value) {
    const IrOp *ext = value->def_op;
    if (!ext || ext->kind != IR_ARITH_EXTF) return NULL;
    const IrValue *arg = ir_op_operand(ext, 0);
    if (arg->def_op || arg->def_block != ir_op_block(d->generic, 0) ||
        arg->type->kind != IR_TYPE_F16)
        return NULL;
    const IrAffineMap *map = ir_linalg_map(m, d->generic, arg->number);
    if (map->num_results != d->num_block_loops) return NULL;
    for (uint32_t r = 0; r < map->num_results; r++) {
        uint32_t dim;
        if (!ir_affine_is_dim(map->results[r], &dim) || dim != r) return NULL;
    }
    return ir_op_operand(d->generic, arg->number);
}

// Scale and minimum as stored, for  float(code) * extf(scale) [+ extf(min)].
static void find_stored(IrModule *m, const Decode *d, IrValue **out_scales, IrValue **out_mins) {
    IrValue *with = d->value, *other;
    *out_scales = *out_mins = NULL;
    if (d->has_min) {
        if (with->def_op->kind != IR_ARITH_ADDF || !split_step(with, d->convert, &with, &other))
            return;
        *out_mins = stored_f16(m, d, other);
    }
    if (with->def_op->kind == IR_ARITH_MULF && split_step(with, d->convert, &with, &other) &&
        with->def_op == d->convert)
        *out_scales = stored_f16(m, d, other);
}

static uint32_t part_args(const Decode *d, bool is_code) {
    uint32_t mask = 0;
    if (is_code) {
        note_args(d->generic, d->code, &mask);
        return mask;
    }
    for (IrValue *at = d->value, *with, *other; at->def_op != d->convert; at = with) {
        BUG_IF(!split_step(at, d->convert, &with, &other), "decode_read accepted another shape");
        note_args(d->generic, other, &mask);
    }
    return mask;
}

DecodedPlanes decode_split(IrModule *m, const Decode *d) {
    Builder b = build_before(m, d->generic);
    DecodedPlanes planes = {.zero = d->is_signed ? -128 : d->zero,
                            .code_max = d->is_signed ? 255 : d->code_max};
    const IrType *i8 = ir_type_int(m, 8), *f32 = ir_type_f32(m);
    uint32_t blocks = d->num_block_loops;
    IrValue *codes = emit_part(&b, d, ir_linalg_num_loops(d->generic), part_args(d, true),
                               emit_code, i8, ir_attr_i64(m, planes.code_max));
    planes.codes = flatten(&b, codes, blocks, true);
    uint32_t args = part_args(d, false);
    IrValue *scales, *mins;
    find_stored(m, d, &scales, &mins);
    if (!scales) scales = emit_part(&b, d, blocks, args, emit_scale, f32, NULL);
    planes.scales = flatten(&b, scales, blocks, false);
    if (d->has_min) {
        if (!mins) mins = emit_part(&b, d, blocks, args, emit_min, f32, NULL);
        planes.mins = flatten(&b, mins, blocks, false);
    }
    return planes;
}
