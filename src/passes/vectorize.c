// vectorize: kernels become loops and vectors for the CPU level of the module (ingot.target).
// Matrix products and attention have schedules of their own (vectorize_matmul.c,
// vectorize_attention.c); everything else goes through the general lowering of structured ops
// (lower_linalg.h).
//
// Needs: scheduled.  Keeps: planned.  Exact but for the order of sums each schedule states.
#include "passes/primitive.h"
#include "passes/vectorize.h"

#include <string.h>

#include "passes/lower_linalg.h"
#include "passes/pass.h"

IrValue *vec_root(IrValue *memref) {
    while (memref->def_op) {
        switch (memref->def_op->kind) {
        case IR_MEMREF_SUBVIEW:
        case IR_MEMREF_EXPAND_SHAPE:
        case IR_MEMREF_COLLAPSE_SHAPE:
        case IR_MEMREF_REINTERPRET_CAST:
        case IR_MEMREF_CAST:
        case IR_MEMREF_ASSUME_ALIGNMENT: memref = ir_op_operand(memref->def_op, 0); break;
        default: return memref;
        }
    }
    return memref;
}

const IrType *vec_type(Vectorizer *v, const IrType *elem) {
    return ir_type_vector(v->m, 1, &v->s.lanes, elem);
}

IrValue *vec_splat(Vectorizer *v, IrValue *scalar) {
    return build_splat(&v->b, scalar, vec_type(v, scalar->type));
}

Status vec_refuse(Vectorizer *v, const char *what) {
    return diag_error(v->sink, DIAG_P0005, ir_loc_span(v->kernel->loc),
                      "kernel @%s: no schedule for %s", ir_symbol_name(v->kernel), what);
}

static IrValue *arg_from_end(const Vectorizer *v, uint32_t i) {
    IrBlock *body = ir_func_body(v->kernel);
    return body->args[body->num_args - i];
}
IrValue *vec_tile_begin(const Vectorizer *v) {
    return arg_from_end(v, 2);
}
IrValue *vec_tile_end(const Vectorizer *v) {
    return arg_from_end(v, 1);
}
IrValue *vec_num_valid(const Vectorizer *v) {
    IrBlock *body = ir_func_body(v->kernel);
    BUG_IF(body->num_args < 3, "kernel without a row count");
    return arg_from_end(v, 3);
}

void vec_erase_old(Vectorizer *v, IrOp *last_old) {
    for (IrOp *op = last_old, *prev; op; op = prev) {
        prev = op->prev;
        bool is_read = false; // a view the new ops use
        for (uint32_t i = 0; i < op->num_results; i++)
            is_read |= !ir_value_is_unused(&op->results[i]);
        if (!is_read) ir_op_erase(v->m, op);
    }
}

static IrValue *clone_constant(Vectorizer *v, const IrOp *op) {
    const IrAttr *value = ir_op_attr(op, "value");
    const IrType *elem = op->results[0].type;
    uint64_t bits = value->kind == IR_ATTR_FLOAT ? value->bits : (uint64_t)value->i;
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (8 * i));
    const IrType *type = vec_type(v, elem);
    IrNamedAttr attr = {"value", ir_attr_dense(v->m, type, bytes, ir_type_bytes(elem), true)};
    IrOp *made = build_op_full(&v->b, &(IrOpSpec){.kind = IR_ARITH_CONSTANT,
                                                  .num_results = 1,
                                                  .result_types = &type,
                                                  .num_attrs = 1,
                                                  .attrs = &attr});
    return ir_op_result(made, 0);
}

// The vector of a scalar value of a body, computed on demand; NULL if an op on the way is not
// elementwise.
static IrValue *vector_of(Vectorizer *v, IrValue *scalar, IrValueMap *map) {
    IrValue *known = ir_value_map_get(map, scalar);
    if (known != scalar) return known;
    const IrOp *op = scalar->def_op;
    if (!op) return NULL;
    if (op->kind == IR_ARITH_CONSTANT) {
        known = clone_constant(v, op);
        ir_value_map_set(map, scalar, known);
        return known;
    }
    IrValue *operands[4];
    if (op->num_operands > 4 || op->num_results != 1 ||
        !(ir_op_info(op->kind)->traits & IR_ELEMENTWISE))
        return NULL;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        operands[i] = vector_of(v, ir_op_operand(op, i), map);
        if (!operands[i]) return NULL;
    }
    const IrType *type = vec_type(v, scalar->type);
    IrOp *made =
        build_op_full(&v->b, &(IrOpSpec){.kind = op->kind == IR_MATH_FMA ? IR_VECTOR_FMA : op->kind,
                                         .num_operands = op->num_operands,
                                         .operands = operands,
                                         .num_results = 1,
                                         .result_types = &type,
                                         .num_attrs = op->num_attrs,
                                         .attrs = op->attrs});
    ir_value_map_set(map, scalar, ir_op_result(made, 0));
    return ir_op_result(made, 0);
}

IrValue *vec_clone_body(Vectorizer *v, IrBlock *body, IrValueMap *map) {
    return vector_of(v, ir_op_operand(ir_block_terminator(body), 0), map);
}

IrValue *vec_expand_shape(Vectorizer *v, IrValue *memref, const IrType *type,
                          const IrAttr *const *groups) {
    IrNamedAttr attrs[] = {{"reassociation", ir_attr_array(v->m, memref->type->rank, groups)},
                           {"static_output_shape", ir_attr_dense_array(v->m, ir_type_int(v->m, 64),
                                                                       type->rank, type->shape)}};
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_MEMREF_EXPAND_SHAPE,
                                                         .num_operands = 1,
                                                         .operands = &memref,
                                                         .num_results = 1,
                                                         .result_types = &type,
                                                         .num_attrs = 2,
                                                         .attrs = attrs,
                                                         .segments = {1}}),
                        0);
}

IrValue *vec_alloca(Vectorizer *v, const IrType *type, FusionReason why) {
    const IrAttr *reason = ir_attr_string(v->m, fusion_reason_name(why));
    IrNamedAttr attrs[] = {{"alignment", ir_attr_i64(v->m, 64)}, {"ingot.boundary", reason}};
    return ir_op_result(build_op_full(&v->b, &(IrOpSpec){.kind = IR_MEMREF_ALLOCA,
                                                         .num_results = 1,
                                                         .result_types = &type,
                                                         .num_attrs = 2,
                                                         .attrs = attrs}),
                        0);
}

// ---- schedules

void schedule_write(IrModule *m, IrOp *kernel, const Schedule *s) {
    const struct {
        const char *name;
        int64_t value, absent; // what is meant where there is no such entry
    } numbers[] = {{"lanes", s->lanes, 0},       {"row_tile", s->row_tile, 0},
                   {"col_tile", s->col_tile, 1}, {"unroll", s->unroll, 1},
                   {"by_image", s->by_image, 0}, {"band", s->band, 0}};
    IrNamedAttr entries[ARRAY_LEN(numbers)];
    uint32_t num = 0;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i].value > numbers[i].absent)
            entries[num++] =
                (IrNamedAttr){ir_intern(m, numbers[i].name), ir_attr_i64(m, numbers[i].value)};
    ir_op_set_attr(m, kernel, "ingot.schedule", ir_attr_dict(m, num, entries));
}

// An entry of the dictionary in [1, max]; `absent` if there is none; 0 if it is no such number.
static int64_t read_entry(const IrAttr *dict, const char *name, int64_t max, int64_t absent) {
    const IrAttr *entry = ir_attr_dict_find(dict, name);
    if (!entry) return absent;
    return entry->kind == IR_ATTR_INT && entry->i >= 1 && entry->i <= max ? entry->i : 0;
}

bool schedule_is_valid(const Schedule *s) {
    return (s->lanes == 8 || s->lanes == 16) && s->row_tile > 0 && s->col_tile > 0 &&
           s->unroll > 0 && s->row_tile * s->col_tile <= SCHEDULE_MAX_SUMS;
}

bool schedule_from(const IrAttr *dict, Schedule *out_s) {
    Schedule s = {.lanes = read_entry(dict, "lanes", 16, 0),
                  .row_tile = read_entry(dict, "row_tile", SCHEDULE_MAX_SUMS, 0),
                  .col_tile = read_entry(dict, "col_tile", SCHEDULE_MAX_SUMS, 1),
                  .unroll = read_entry(dict, "unroll", 16, 1)};
    const IrAttr *by_image = ir_attr_dict_find(dict, "by_image");
    const IrAttr *band = ir_attr_dict_find(dict, "band");
    if (by_image) s.by_image = read_entry(dict, "by_image", 1, 0);
    if (band) s.band = read_entry(dict, "band", SCHEDULE_MAX_BAND, 0);
    *out_s = s;
    return schedule_is_valid(&s) && (!by_image || s.by_image) && (!band || s.band);
}

bool schedule_read(const IrOp *kernel, Schedule *out_s) {
    const IrAttr *dict = ir_op_attr(kernel, "ingot.schedule");
    return dict && dict->kind == IR_ATTR_DICT && schedule_from(dict, out_s);
}

Status vectorize_kernel(IrModule *m, IrOp *kernel, CpuLevel level, DiagSink *sink) {
    const char *kind = ir_op_attr(kernel, "ingot.kernel")->str;
    Vectorizer v = {.m = m,
                    .sink = sink,
                    .level = level,
                    .kernel = kernel,
                    .features = cpu_level_info(level)->required};
    bool is_conv = str_equal(kind, "conv");
    bool is_read = schedule_read(kernel, &v.s), only_conv = v.s.by_image || v.s.band;
    if (!is_read || (!is_conv && (v.s.unroll > 1 || only_conv)))
        return vec_refuse(&v, "the numbers in ingot.schedule");
    v.f32 = ir_type_f32(m);
    v.i32 = ir_type_int(m, 32);
    v.i8 = ir_type_int(m, 8);
    v.index = ir_type_index(m);
    v.vf32 = vec_type(&v, v.f32);
    v.vi32 = vec_type(&v, v.i32);
    if (is_conv)
        TRY(vectorize_conv(&v));
    else
        TRY(str_equal(kind, "matmul") ? vectorize_matmul(&v) : vectorize_attention(&v));
    ir_op_set_attr(m, kernel, "ingot.schedule", NULL);
    ir_op_set_attr(
        m, kernel, "ingot.primitive",
        ir_attr_string(m, arena_printf(&m->arena, "vector<%lldxf32>", (long long)v.s.lanes)));
    return STATUS_OK;
}

// The bound that the recipe sets on what a kernel keeps.
static Status check_scratch(IrModule *m, DiagSink *sink) {
    PassConfig config = {0};
    if (ir_op_attr(m->op, "ingot.config")) TRY(pass_config_read(m, sink, &config));
    if (!config.max_scratch_bytes) return STATUS_OK;
    FOR_EACH_OP(func, ir_module_body(m)) {
        const IrAttr *kind = func->kind == IR_FUNC_FUNC ? ir_op_attr(func, "ingot.kernel") : NULL;
        if (!kind || (kind->kind == IR_ATTR_STRING && str_equal(kind->str, "init"))) continue;
        uint64_t bytes = kernel_scratch_bytes(func);
        if (bytes <= (uint64_t)config.max_scratch_bytes) continue;
        diag_report(sink, DIAG_ERROR, DIAG_P0044, ir_loc_span(func->loc),
                    "kernel @%s keeps %llu bytes of intermediates per worker, the recipe allows "
                    "%lld",
                    ir_symbol_name(func), (unsigned long long)bytes,
                    (long long)config.max_scratch_bytes);
        diag_write(sink, "memory_optimization: {max_scratch_bytes: %llu}",
                   (unsigned long long)bytes);
        return STATUS_LIMIT;
    }
    return STATUS_OK;
}

Status pass_vectorize(IrModule *m, DiagSink *sink) {
    CpuLevel level;
    TRY(pass_target_read(m, sink, &level));
    FOR_EACH_OP(func, ir_module_body(m)) {
        const IrAttr *kind = func->kind == IR_FUNC_FUNC ? ir_op_attr(func, "ingot.kernel") : NULL;
        bool is_done =
            kind && ir_op_attr(func, "ingot.primitive") && !ir_op_attr(func, "ingot.schedule");
        if (is_done) continue;
        if (kind && (str_equal(kind->str, "matmul") || str_equal(kind->str, "attention") ||
                     str_equal(kind->str, "conv")))
            TRY(vectorize_kernel(m, func, level, sink));
    }
    TRY(pass_lower_linalg(m, sink));
    primitive_mark(m, level);
    return check_scratch(m, sink);
}
