// Inputs of functions under validation: random numbers that depend on the seed, on what the
// argument stands for and on the place in the tensor, so that the valid rows of a bucket hold what
// the tensor of unknown size held; see validate.h. Block-quantised parameters are random blocks,
// from which both the planes and the decoded weight are made.
#include <stdlib.h>
#include <string.h>

#include "abi/quant.h"
#include "base/float16.h"
#include "ir/parse.h"
#include "passes/decode.h"
#include "passes/validate_internal.h"

enum { MAX_STEPS = 4096, SCALE_PLANE_SALT = 77 };
#define NO_BOUND INT64_MAX

// ---------------------------------------------------------------- random numbers

static uint64_t mix(uint64_t z) { // splitmix64's finaliser
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

uint64_t validate_hash(uint64_t seed, const char *text) {
    uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (; *text; text++) h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return mix(h);
}

static double unit(uint64_t h) { // [-1, 1)
    return (double)(int64_t)(h >> 11) * 0x1p-52 - 1.0;
}

static uint64_t number_bits(const IrType *elem, uint64_t h, int64_t bound) {
    double x = 2.0 * unit(h);
    float narrow = (float)x;
    uint64_t bits = 0;
    switch (elem->kind) {
    case IR_TYPE_F16: return f16_from_f32(narrow);
    case IR_TYPE_BF16: return bf16_from_f32(narrow);
    case IR_TYPE_F32: memcpy(&bits, &narrow, sizeof narrow); return bits;
    case IR_TYPE_F64: memcpy(&bits, &x, sizeof x); return bits;
    default: break;
    }
    if (bound > 0) return h % (uint64_t)bound;
    if (elem->kind == IR_TYPE_INDEX) return h % 4;
    switch (ir_type_bits(elem)) {
    case 1: return h & 1;
    case 8: return (uint64_t)((int64_t)(h % 255) - 127); // codes; -128 is none
    default: return (uint64_t)((int64_t)(h % 2001) - 1000);
    }
}

// ---------------------------------------------------------------- values

void validate_value_init(CallValue *value, const IrType *type) {
    *value = (CallValue){.type = type};
    if (!ir_type_is_shaped(type)) return;
    value->len_bytes = (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
    value->data = aligned_alloc(64, align_up(MAX(value->len_bytes, 1), 64));
    if (!value->data) BUG("out of memory for %llu bytes", (unsigned long long)value->len_bytes);
    memset(value->data, 0, align_up(MAX(value->len_bytes, 1), 64));
}

void validate_value_free(CallValue *value) {
    free(value->data);
    *value = (CallValue){0};
}

static uint64_t step_of(uint64_t h, uint64_t bound) { // coprime to bound
    for (uint64_t step = 1 + h % bound;; step++) {
        uint64_t a = step, b = bound;
        while (b) {
            uint64_t r = a % b;
            a = b;
            b = r;
        }
        if (a == 1) return step;
    }
}

static void store(uint8_t *at, const IrType *elem, uint64_t bits) {
    memcpy(at, &bits, ir_type_bytes(elem));
}

// order: element (i0, i1, ..) of the value is element i[order[0]], .. of what the key stands for;
// NULL: as they come.
static void fill_tensor(CallValue *value, uint64_t h, int64_t bound, const uint32_t *order) {
    const IrType *type = value->type;
    int64_t index[VALIDATE_MAX_RANK] = {0}, num = ir_type_num_elems(type);
    uint32_t bytes = ir_type_bytes(type->elem);
    // Page numbers and the like are different from each other if there are enough.
    bool is_spread = bound > 0 && num <= bound;
    uint64_t step = is_spread ? step_of(h, (uint64_t)bound) : 0;
    for (int64_t i = 0; i < num; i++) {
        uint64_t place = h;
        for (uint32_t d = 0; d < type->rank; d++)
            place =
                mix(place + (uint64_t)index[order ? order[d] : d] * UINT64_C(0x9E3779B97F4A7C15));
        uint64_t bits = is_spread ? (h + step * (uint64_t)i) % (uint64_t)bound
                                  : number_bits(type->elem, place, bound);
        store((uint8_t *)value->data + (uint64_t)i * bytes, type->elem, bits);
        for (uint32_t d = type->rank; d-- > 0 && ++index[d] == type->shape[d];) index[d] = 0;
    }
}

// ---------------------------------------------------------------- parameters

static const ParamInfo *find_param(const Validator *v, const char *name, size_t len) {
    for (size_t i = 0; i < v->num_params; i++)
        if (strlen(v->params[i].name) == len && memcmp(v->params[i].name, name, len) == 0)
            return &v->params[i];
    return NULL;
}

static uint8_t *make_blocks(Validator *v, const ParamInfo *param, const QuantInfo *info,
                            uint64_t *out_num) {
    uint64_t num = (uint64_t)param->rows * ((uint64_t)param->columns / info->block_elems);
    uint8_t *blocks = base_alloc(num, info->block_bytes);
    uint64_t h = validate_hash(v->options.seed, param->name);
    for (uint64_t b = 0; b < num; b++) {
        uint8_t *block = blocks + b * info->block_bytes;
        for (uint32_t i = 0; i < info->block_bytes; i++)
            block[i] = (uint8_t)(mix(h + b * info->block_bytes + i) >> 24);
        for (uint32_t p = 0; p < info->num_planes; p++) {
            const QuantPlane *plane = &info->planes[p];
            if (!str_equal(plane->elem, "f16") || plane->is_packed) continue;
            uint32_t count = 1;
            for (uint32_t d = 0; d < plane->rank; d++) count *= plane->dims[d];
            for (uint32_t i = 0; i < count; i++) { // scales: 1/64 to 1/16
                uint64_t r = mix(h + SCALE_PLANE_SALT + (b * QUANT_MAX_PLANES + p) * 16 + i);
                uint16_t half = f16_from_f32((float)(0.0390625 + 0.0234375 * unit(r)));
                memcpy(block + plane->byte_offset + 2 * i, &half, 2);
            }
        }
    }
    *out_num = num;
    return blocks;
}

static uint64_t plane_bytes(const QuantPlane *plane, uint64_t num_blocks) {
    uint64_t n = num_blocks * plane->elem_bytes;
    for (uint32_t i = 0; i < plane->rank; i++) n *= plane->dims[i];
    return n;
}

// The decoded weight: the format's own decoding op, interpreted.
static bool decode_param(const ParamInfo *param, QuantFormat format, const uint8_t *blocks,
                         uint64_t num_blocks, void *out, uint64_t len_bytes) {
    const QuantInfo *info = quant_info(format);
    StrBuf text = {0};
    lower_quant_decode_text(info, param->rows, param->columns, &text);
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = NULL;
    bool is_good = ir_parse(text.data, text.len, "quant", &sink, &m) == STATUS_OK;
    IrInterpValue args[QUANT_MAX_PLANES] = {0}, result = {0};
    if (is_good) {
        const IrOp *func = ir_module_body(m)->first;
        for (uint32_t p = 0; p < info->num_planes; p++) {
            args[p].type = ir_func_body(func)->args[p]->type;
            args[p].len_bytes = plane_bytes(&info->planes[p], num_blocks);
            args[p].data = base_alloc(args[p].len_bytes + 1, 1);
            quant_split_plane(format, p, blocks, num_blocks, args[p].data);
        }
        is_good = ir_interp_call(m, ir_symbol_name(func), info->num_planes, args, 1, &result, NULL,
                                 &sink) == STATUS_OK;
        is_good = is_good && result.len_bytes == len_bytes;
        if (is_good) memcpy(out, result.data, len_bytes);
        if (result.data) ir_interp_result_deinit(&result);
        for (uint32_t p = 0; p < info->num_planes; p++) free(args[p].data);
        ir_module_destroy(m);
    }
    strbuf_deinit(&text);
    diag_sink_deinit(&sink);
    return is_good;
}

// One parameter, or one plane of it, to out; false if it does not make len_bytes exactly.
static bool fill_one_param(Validator *v, const ParamInfo *param, const char *plane,
                           const IrType *elem, uint8_t *out, uint64_t len_bytes) {
    QuantFormat format;
    if (!param->quant) {
        int64_t shape[2] = {param->rows, param->columns};
        IrType type = {.kind = IR_TYPE_TENSOR, .rank = 2, .shape = shape, .elem = elem};
        CallValue value = {.type = &type, .data = out};
        if (*plane || len_bytes != (uint64_t)(shape[0] * shape[1]) * ir_type_bytes(elem))
            return false;
        fill_tensor(&value, validate_hash(v->options.seed, param->name), 0, NULL);
        return true;
    }
    if (!quant_find(param->quant, &format)) return false;
    const QuantInfo *info = quant_info(format);
    if (param->columns % info->block_elems) return false;
    uint64_t num_blocks;
    uint8_t *blocks = make_blocks(v, param, info, &num_blocks);
    bool is_good = false;
    if (!*plane) is_good = decode_param(param, format, blocks, num_blocks, out, len_bytes);
    for (uint32_t p = 0; *plane && p < info->num_planes; p++) {
        if (!str_equal(info->planes[p].suffix, plane)) continue;
        is_good = plane_bytes(&info->planes[p], num_blocks) == len_bytes;
        if (is_good) quant_split_plane(format, p, blocks, num_blocks, out);
    }
    free(blocks);
    return is_good;
}

// text: `param "a" plane` or `param ["a", "b"] plane`, stacked by rows.
static bool fill_param(Validator *v, const char *text, CallValue *value) {
    const char *end = strrchr(text, ' ') + 1; // the plane, perhaps empty
    const ParamInfo *parts[16];
    uint32_t num = 0;
    int64_t rows = 0;
    for (const char *at = strchr(text, '"'); at && num < ARRAY_LEN(parts);) {
        const char *close = strchr(at + 1, '"');
        if (!close) return false;
        parts[num] = find_param(v, at + 1, (size_t)(close - at - 1));
        if (!parts[num]) return false;
        rows += parts[num++]->rows;
        at = strchr(close + 1, '"');
    }
    const IrType *type = value->type;
    if (num == 0 || type->rank == 0 || type->shape[0] != rows || rows == 0) return false;
    uint64_t row_bytes = value->len_bytes / (uint64_t)rows, at = 0;
    for (uint32_t i = 0; i < num; i++) {
        uint64_t bytes = row_bytes * (uint64_t)parts[i]->rows;
        if (!fill_one_param(v, parts[i], end, type->elem, (uint8_t *)value->data + at, bytes))
            return false;
        at += bytes;
    }
    return true;
}

// ---------------------------------------------------------------- inits

// The init function and its arguments for a parameter described by text.
static const IrOp *find_init(const Snapshot *s, const char *text, const IrAttr **out_args) {
    for (uint32_t c = 0; c < s->num_calls; c++) {
        const Call *call = &s->calls[c];
        if (ir_op_attr(call->func, "sym_visibility")) continue;
        for (uint32_t i = 0; i < call->num_args; i++) {
            const CallArg *arg = &call->args[i];
            const IrAttr *init = ir_func_arg_attr(call->func, i, "ingot.init");
            if (!init || !arg->param || !str_equal(arg->param, text)) continue;
            *out_args = ir_func_arg_attr(call->func, i, "ingot.init_args");
            return ir_symbol_find(s->m, init->str);
        }
    }
    return NULL;
}

static bool fill_init(Validator *v, Snapshot *s, const char *text, CallValue *out) {
    const IrAttr *init_args = NULL;
    const IrOp *func = find_init(s, text, &init_args);
    if (!func || !ir_func_body(func) || !init_args) return false;
    const IrBlock *body = ir_func_body(func);
    CallValue values[16] = {0};
    IrInterpValue args[16] = {0}, result = {0};
    uint32_t num_planes = (uint32_t)init_args->num_elems;
    bool is_level_1 = ir_func_type(func)->num_results == 1;
    if (body->num_args > 16 || num_planes > body->num_args) return false;
    bool is_good = true;
    for (uint32_t i = 0; i < body->num_args; i++) {
        const IrType *type = body->args[i]->type;
        validate_value_init(&values[i], type);
        if (i < num_planes) {
            const IrAttr *param = ir_attr_dict_find(init_args->elems[i], "param");
            const IrAttr *plane = ir_attr_dict_find(init_args->elems[i], "plane");
            const char *plane_text = validate_param_text(&s->arena, param, plane);
            is_good = is_good && fill_param(v, plane_text, &values[i]);
        }
        bool is_last = i + 1 == body->num_args;
        args[i] = (IrInterpValue){.type = type,
                                  .bits = is_last, // tiles 0 to 1
                                  .data = values[i].data,
                                  .len_bytes = values[i].len_bytes};
    }
    DiagSink quiet;
    diag_sink_init(&quiet);
    is_good =
        is_good && ir_interp_call(s->m, ir_symbol_name(func), body->num_args, args, is_level_1,
                                  is_level_1 ? &result : NULL, NULL, &quiet) == STATUS_OK;
    const void *made = is_level_1 ? result.data : values[num_planes].data;
    uint64_t len = is_level_1 ? result.len_bytes : values[num_planes].len_bytes;
    is_good = is_good && len == out->len_bytes;
    if (is_good) memcpy(out->data, made, len);
    if (result.data) ir_interp_result_deinit(&result);
    for (uint32_t i = 0; i < body->num_args; i++) validate_value_free(&values[i]);
    diag_sink_deinit(&quiet);
    return is_good;
}

// ---------------------------------------------------------------- bounds of integers

static int64_t bound_of(const IrModule *m, const IrValue *value, int64_t most, int *steps);

static int64_t largest_of(const IrValue *value, int64_t most) {
    int64_t constant;
    return ir_value_constant_int(value, &constant) ? constant : most - 1;
}

static int64_t slice_bound(const IrModule *m, const IrOp *op, uint32_t operand, int64_t most,
                           int *steps) {
    bool is_insert =
        op->kind == IR_TENSOR_INSERT_SLICE || op->kind == IR_TENSOR_PARALLEL_INSERT_SLICE;
    uint32_t first = 1u + is_insert; // segments: source [, dest], offsets, sizes, strides
    uint32_t start = ir_op_segment_start(op, first);
    if (operand == 0 && !is_insert) return bound_of(m, ir_op_result(op, 0), most, steps);
    const IrAttr *offsets = ir_op_attr(op, "static_offsets"),
                 *sizes = ir_op_attr(op, "static_sizes");
    if (operand < start || operand >= start + op->segments[first] || !offsets || !sizes)
        return NO_BOUND;
    const IrType *type = ir_op_operand(op, is_insert)->type;
    uint32_t at = start;
    for (uint32_t d = 0; d < offsets->num_values && d < type->rank; d++) {
        if (offsets->values[d] != IR_DYNAMIC) continue;
        if (at++ != operand) continue;
        int64_t size = sizes->values[d] == IR_DYNAMIC ? most : sizes->values[d];
        return type->shape[d] == IR_DYNAMIC ? 1 : type->shape[d] - size + 1;
    }
    return NO_BOUND;
}

// value is operand number `operand` of op, which reads an element (first index operand: `first`).
static int64_t element_bound(const IrModule *m, const IrOp *op, uint32_t operand, uint32_t first,
                             int64_t most, int *steps) {
    if (operand + 1 == first)
        return op->num_results ? bound_of(m, ir_op_result(op, 0), most, steps) : NO_BOUND;
    const IrType *type = ir_op_operand(op, first - 1)->type;
    if (operand < first || operand - first >= type->rank) return NO_BOUND;
    int64_t size = type->shape[operand - first];
    return size == IR_DYNAMIC ? 1 : size; // the first element is there whatever the size
}

static int64_t use_bound(const IrModule *m, const IrOperand *use, int64_t most, int *steps) {
    const IrOp *op = use->owner;
    uint32_t number = (uint32_t)(use - op->operands);
    int64_t other, below;
    if (ir_op_info(op->kind)->traits & IR_LINALG && op->num_regions) {
        const IrBlock *body = ir_op_block(op, 0);
        return body && number < body->num_args ? bound_of(m, body->args[number], most, steps)
                                               : NO_BOUND;
    }
    switch (op->kind) {
    case IR_TENSOR_EXTRACT:
    case IR_MEMREF_LOAD: return element_bound(m, op, number, 1, most, steps);
    case IR_MEMREF_STORE: return element_bound(m, op, number, 2, most, steps);
    case IR_TENSOR_INSERT: return element_bound(m, op, number, 2, most, steps);
    case IR_TENSOR_EXTRACT_SLICE:
    case IR_TENSOR_INSERT_SLICE:
    case IR_TENSOR_PARALLEL_INSERT_SLICE:
    case IR_MEMREF_SUBVIEW: return slice_bound(m, op, number, most, steps);
    case IR_ARITH_INDEX_CAST:
    case IR_ARITH_EXTSI:
    case IR_ARITH_EXTUI:
    case IR_ARITH_TRUNCI:
    case IR_TENSOR_EXPAND_SHAPE:
    case IR_TENSOR_COLLAPSE_SHAPE:
    case IR_TENSOR_CAST:
        return number == 0 ? bound_of(m, ir_op_result(op, 0), most, steps) : NO_BOUND;
    case IR_ARITH_ADDI:
        below = bound_of(m, ir_op_result(op, 0), most, steps);
        return below == NO_BOUND ? below : below - largest_of(ir_op_operand(op, 1 - number), most);
    case IR_ARITH_DIVUI:
        below = bound_of(m, ir_op_result(op, 0), most, steps);
        if (number || below == NO_BOUND || !ir_value_constant_int(ir_op_operand(op, 1), &other))
            return NO_BOUND;
        return below * other;
    case IR_ARITH_MULI:
        below = bound_of(m, ir_op_result(op, 0), most, steps);
        if (below == NO_BOUND || !ir_value_constant_int(ir_op_operand(op, 1 - number), &other))
            return NO_BOUND;
        return other > 0 ? (below - 1) / other + 1 : NO_BOUND;
    case IR_SCF_FOR:
        return number < 3 ? NO_BOUND
                          : bound_of(m, ir_op_block(op, 0)->args[number - 2], most, steps);
    case IR_FUNC_CALL: {
        const IrOp *callee = ir_call_callee(m, op);
        if (!callee || !ir_func_body(callee)) return NO_BOUND;
        return bound_of(m, ir_func_body(callee)->args[number], most, steps);
    }
    default: return NO_BOUND;
    }
}

static int64_t bound_of(const IrModule *m, const IrValue *value, int64_t most, int *steps) {
    int64_t least = NO_BOUND;
    if (++*steps > MAX_STEPS) return least;
    FOR_EACH_USE(use, value) {
        int64_t bound = use_bound(m, use, most, steps);
        least = MIN(least, bound);
    }
    return least;
}

int64_t validate_index_bound(const IrModule *m, const IrValue *value, int64_t max_tokens) {
    int steps = 0;
    int64_t bound = bound_of(m, value, max_tokens, &steps);
    return bound == NO_BOUND ? 0 : MAX(bound, 1);
}

// ---------------------------------------------------------------- a call's inputs

static const InputSpec *find_spec(const Validator *v, const char *function, const char *key) {
    for (size_t i = 0; i < v->num_specs; i++)
        if (str_equal(v->specs[i].function, function) && str_equal(v->specs[i].key, key))
            return &v->specs[i];
    return NULL;
}

static const InputSpec *spec_of(Validator *v, const Snapshot *s, const Call *call,
                                const CallArg *arg) {
    const InputSpec *spec = find_spec(v, call->name, arg->key);
    const char *base = call->entry ? call->entry : validate_base_name(v, call->name);
    if (!spec && base != call->name) spec = find_spec(v, base, arg->key);
    if (spec) return spec;
    ARRAY_RESERVE(v->specs, v->num_specs, v->specs_capacity);
    bool is_number = ir_type_is_int_or_index(ir_type_elem(arg->type));
    InputSpec *made = &v->specs[v->num_specs++];
    *made = (InputSpec){.function = arena_strdup(&v->arena, call->name),
                        .key = arena_strdup(&v->arena, arg->key),
                        .param = arg->param ? arena_strdup(&v->arena, arg->param) : NULL};
    if (is_number && !arg->param && !arg->cache)
        made->bound = validate_index_bound(s->m, validate_origin(s->m, call->func, arg->number),
                                           v->buckets[v->num_buckets - 1]);
    return made;
}

static const IrType *sized_type(const Validator *v, Snapshot *s, const CallArg *arg,
                                int64_t tokens) {
    const IrType *type = arg->type;
    if (ir_type_is_static(type)) return type;
    int64_t shape[VALIDATE_MAX_RANK];
    for (uint32_t d = 0; d < type->rank; d++) {
        int64_t size = validate_size_of(v, arg->dims, d);
        shape[d] = type->shape[d] != IR_DYNAMIC ? type->shape[d] : size ? size : tokens;
    }
    return type->kind == IR_TYPE_TENSOR ? ir_type_tensor(s->m, type->rank, shape, type->elem)
                                        : ir_type_memref(s->m, type->rank, shape, type->elem);
}

static uint64_t scalar_bits(const Validator *v, const IrType *type, uint64_t h, int64_t bound,
                            int64_t tokens) {
    bool is_most = tokens == v->tokens[v->num_tokens - 1];
    if (bound > 0 && tokens == 1 && !is_most) return (uint64_t)bound - 1;
    if (bound > 0 && is_most) return 0;
    return number_bits(type, mix(h + (uint64_t)tokens), bound);
}

// Pages lie [page, slot, head, element] at first, as attention reads them later (bind-kv-cache).
static const uint32_t *cache_order(const Snapshot *s, char cache) {
    static const uint32_t keys[] = {0, 3, 1, 2}, values[] = {0, 2, 1, 3};
    return !s->is_laid_out || !cache ? NULL : cache == 'k' ? keys : values;
}

static bool fill_input(Validator *v, Snapshot *s, const Call *call, const CallArg *arg,
                       int64_t tokens, CallValue *value) {
    const InputSpec *spec = spec_of(v, s, call, arg);
    uint64_t h = validate_hash(v->options.seed, spec->key);
    if (!ir_type_is_shaped(arg->type)) {
        value->bits = scalar_bits(v, arg->type, h, spec->bound, tokens);
        return true;
    }
    if (spec->param && str_has_prefix(spec->param, "init "))
        return fill_init(v, s, spec->param, value);
    if (spec->param && fill_param(v, spec->param, value)) return true;
    if (arg->type->rank != 4 && arg->cache) return false;
    if (arg->type->rank == 0) { // a number, for bind-ports
        store(value->data, arg->type->elem,
              scalar_bits(v, arg->type->elem, h, spec->bound, tokens));
        return true;
    }
    fill_tensor(value, h, spec->bound, cache_order(s, arg->cache));
    return true;
}

static void fill_count(const Validator *v, const CallArg *arg, CallValue *value) {
    for (uint32_t i = 0; i < v->sizes.num; i++)
        if (str_equal(v->sizes.names[i], arg->count)) value->bits = (uint64_t)v->sizes.of[i];
    if (value->data) memcpy(value->data, &value->bits, sizeof value->bits);
}

bool validate_inputs(Validator *v, Snapshot *s, const Call *call, int64_t tokens, CallValue *values,
                     const char **out_fault) {
    uint64_t bytes = 0, max = v->options.max_bytes;
    *out_fault = NULL;
    for (uint32_t i = 0; i < call->num_args; i++) {
        const IrType *type = call->args[i].type;
        if (!ir_type_is_shaped(type)) continue;
        if (type->rank > VALIDATE_MAX_RANK || type->kind == IR_TYPE_VECTOR) {
            *out_fault = "an argument of a type that cannot be filled";
            return false;
        }
        type = sized_type(v, s, &call->args[i], tokens);
        uint64_t n = (uint64_t)ir_type_num_elems(type), one = ir_type_bytes(type->elem);
        if (!size_mul(n, one, &one) || !size_add(bytes, one, &bytes) || bytes > max) return false;
    }
    for (uint32_t i = 0; i < call->num_args; i++) {
        const CallArg *arg = &call->args[i];
        bool is_shaped = ir_type_is_shaped(arg->type);
        validate_value_init(&values[i], is_shaped ? sized_type(v, s, arg, tokens) : arg->type);
        switch (arg->role) {
        case ARG_COUNT: fill_count(v, arg, &values[i]); break;
        case ARG_VALID: values[i].bits = (uint64_t)tokens; break;
        case ARG_RESULT:
        case ARG_ARENA: memset(values[i].data, 0xa5, values[i].len_bytes); break;
        case ARG_INPUT:
            if (fill_input(v, s, call, arg, tokens, &values[i])) break;
            *out_fault = "an argument that cannot be filled";
            return false;
        default: break;
        }
    }
    return true;
}
