// How the functions of a module are called: what each argument stands for; see validate.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/print.h"
#include "passes/entry.h"
#include "passes/validate_internal.h"

enum { MAX_STATE_STEPS = 1024 };

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}
static bool is_public(const IrOp *func) {
    return !ir_op_attr(func, "sym_visibility");
}

// The first call of func in the module and the function it stands in; NULL if nothing calls it.
static const IrOp *first_call(const IrModule *m, const IrOp *func, const IrOp **out_caller) {
    const char *name = ir_symbol_name(func);
    FOR_EACH_OP(caller, ir_op_block(m->op, 0)) {
        if (!is_func(caller) || caller == func) continue;
        FOR_EACH_OP(op, ir_func_body(caller)) {
            const IrAttr *callee = op->kind == IR_FUNC_CALL ? ir_op_attr(op, "callee") : NULL;
            if (!callee || !str_equal(callee->str, name)) continue;
            *out_caller = caller;
            return op;
        }
    }
    return NULL;
}

// The public function whose calls lead to func.
static const IrOp *root_of(const IrModule *m, const IrOp *func) {
    for (int depth = 0; depth < 64; depth++) {
        const IrOp *caller;
        if (is_public(func) || !first_call(m, func, &caller)) return func;
        func = caller;
    }
    return func;
}

// Follows an argument through the first calls to the public function whose argument it is.
// False if it is something computed on the way.
static bool trace_arg(const IrModule *m, const IrOp **func, uint32_t *arg) {
    for (int depth = 0; depth < 64; depth++) {
        const IrOp *caller;
        const IrOp *call = is_public(*func) ? NULL : first_call(m, *func, &caller);
        if (!call) return true;
        const IrValue *value = ir_op_operand(call, *arg);
        if (value->def_block != ir_func_body(caller)) return false;
        *func = caller;
        *arg = value->number;
    }
    return false;
}

const IrValue *validate_origin(const IrModule *m, const IrOp *func, uint32_t arg) {
    const IrOp *origin = func;
    uint32_t at = arg;
    if (!trace_arg(m, &origin, &at)) return ir_func_body(func)->args[arg];
    return ir_func_body(origin)->args[at];
}

// Is argument number arg the count of valid tokens of an entry of a bucket?
static bool is_valid_count(const IrOp *func, uint32_t arg) {
    if (!is_public(func) || !ir_op_attr(func, "ingot.bucket")) return false;
    const IrBlock *body = ir_func_body(func);
    if (body->args[arg]->type->kind != IR_TYPE_INDEX) return false;
    for (uint32_t i = arg + 1; i < body->num_args; i++)
        if (body->args[i]->type->kind == IR_TYPE_INDEX) return false;
    return true;
}

static const char *attr_text(Arena *arena, const IrAttr *attr) {
    StrBuf text = {0};
    ir_print_attr(attr, &text);
    const char *copy = arena_strdup(arena, text.data ? text.data : "");
    strbuf_deinit(&text);
    return copy;
}

const char *validate_param_text(Arena *arena, const IrAttr *param, const IrAttr *plane) {
    return arena_printf(arena, "param %s %s", attr_text(arena, param), plane ? plane->str : "");
}

// The parameter, plane or init an argument of a public function is, as text; NULL if it is none.
// Inits go by what they are made of, their shape and their order (scales and minima are made of the
// same planes): functions that make them are renamed.
static const char *param_text(Arena *arena, const IrOp *func, uint32_t arg) {
    const IrAttr *init_args = ir_func_arg_attr(func, arg, "ingot.init_args");
    const IrType *type = ir_func_body(func)->args[arg]->type;
    if (init_args) {
        const char *text = arena_printf(arena, "init %s", attr_text(arena, init_args));
        for (uint32_t d = 0; d < type->rank; d++)
            text = arena_printf(arena, "%s %lld", text, (long long)type->shape[d]);
        uint32_t order = 0;
        for (uint32_t i = 0; i < arg; i++)
            order += ir_func_arg_attr(func, i, "ingot.init_args") == init_args &&
                     ir_func_body(func)->args[i]->type == type;
        return arena_printf(arena, "%s #%u", text, order);
    }
    const IrAttr *param = ir_func_arg_attr(func, arg, "ingot.param");
    const IrAttr *plane = ir_func_arg_attr(func, arg, "ingot.plane");
    return param ? validate_param_text(arena, param, plane) : NULL;
}

static char cache_of(const IrOp *func, uint32_t arg, int64_t *out_layer) {
    const IrAttr *kv = ir_func_arg_attr(func, arg, "ingot.kv");
    const IrAttr *layer = ir_func_arg_attr(func, arg, "ingot.layer");
    *out_layer = layer && layer->kind == IR_ATTR_INT ? layer->i : 0;
    return kv && kv->kind == IR_ATTR_STRING ? kv->str[0] : 0;
}

// ---- results

// The argument of func that a value is a later state of: through insertions, loops and calls.
// -1: none, or too far to look. steps counts all that are made: calls may lead to one function in
// more ways than anyone could walk.
static int32_t state_of_arg(const IrModule *m, const IrOp *func, const IrValue *value, int *steps) {
    while ((*steps)++ < MAX_STATE_STEPS) {
        if (value->def_block == ir_func_body(func)) return (int32_t)value->number;
        const IrOp *op = value->def_op;
        if (!op) {
            const IrOp *loop = ir_block_parent(value->def_block);
            if (loop->kind != IR_SCF_FOR || value->number == 0) return -1;
            value = ir_op_operand(loop, 3 + value->number - 1);
            continue;
        }
        if (op->kind == IR_SCF_FOR) {
            value = ir_op_operand(op, 3 + value->number);
        } else if (op->kind == IR_TENSOR_INSERT_SLICE) {
            value = ir_op_operand(op, 1);
        } else if (op->kind == IR_FUNC_CALL) {
            const IrOp *callee = ir_call_callee(m, op);
            if (!callee || !is_func(callee)) return -1;
            const IrOp *end = ir_block_terminator(ir_func_body(callee));
            if (value->number >= end->num_operands) return -1;
            int32_t arg = state_of_arg(m, callee, ir_op_operand(end, value->number), steps);
            if (arg < 0) return -1;
            value = ir_op_operand(op, (uint32_t)arg);
        } else {
            return -1;
        }
    }
    return -1;
}

// The cache that argument number arg of func is or comes from; 0: none.
static char traced_cache(const IrModule *m, const IrOp *func, uint32_t arg, int64_t *out_layer) {
    for (int depth = 0; depth < 64; depth++) {
        const IrOp *caller;
        const IrOp *call = is_public(func) ? NULL : first_call(m, func, &caller);
        if (!call) return cache_of(func, arg, out_layer);
        int steps = 0;
        int32_t from = state_of_arg(m, caller, ir_op_operand(call, arg), &steps);
        if (from < 0) return 0;
        func = caller;
        arg = (uint32_t)from;
    }
    return 0;
}

static char result_cache(const Call *call, const IrModule *m, uint32_t number) {
    for (uint32_t i = 0; i < call->num_args; i++)
        if (call->args[i].role == ARG_INPUT && call->args[i].result == (int32_t)number)
            return call->args[i].cache;
    const IrOp *end = ir_block_terminator(ir_func_body(call->func));
    if (number >= end->num_operands) return 0;
    int steps = 0;
    int32_t arg = state_of_arg(m, call->func, ir_op_operand(end, number), &steps);
    return arg < 0 ? 0 : call->args[arg].cache;
}

const char *validate_base_name(Validator *v, const char *name) {
    size_t len = strlen(name);
    for (uint32_t i = 0; i < v->num_buckets + v->num_batches; i++) {
        bool is_batch = i >= v->num_buckets;
        int64_t bucket = is_batch ? v->batches[i - v->num_buckets] : v->buckets[i];
        char suffix[32];
        snprintf(suffix, sizeof suffix, "_%c%lld", is_batch ? 'b' : 's', (long long)bucket);
        if (str_has_suffix(name, suffix))
            return arena_strndup(&v->arena, name, len - strlen(suffix));
    }
    return name;
}

// Which dimensions of a result count tokens: those of unknown size when it was first seen; of a
// kernel, the first if it is as large as the bucket.
static uint32_t row_dims(Validator *v, const Call *call, uint32_t result) {
    const IrType *type = call->results[result].type;
    if (!type || type->kind == IR_TYPE_VECTOR || !ir_type_is_shaped(type)) return 0;
    uint32_t dims = 0;
    for (uint32_t d = 0; d < type->rank; d++) dims |= (uint32_t)(type->shape[d] == IR_DYNAMIC) << d;
    if (result >= 8) return dims;
    const char *base = validate_base_name(v, call->name);
    for (uint32_t i = 0; i < v->num_row_names; i++)
        if (str_equal(v->row_names[i], base)) return v->row_dims[i][result];
    bool is_first = call->has_valid && type->rank > 0 && type->shape[0] == call->bucket;
    return dims ? dims : is_first;
}

static void remember_rows(Validator *v, const Call *call) {
    if (call->bucket || v->num_row_names == ARRAY_LEN(v->row_names)) return;
    for (uint32_t i = 0; i < v->num_row_names; i++)
        if (str_equal(v->row_names[i], call->name)) return;
    uint32_t at = v->num_row_names++;
    v->row_names[at] = arena_strdup(&v->arena, call->name);
    for (uint32_t r = 0; r < call->num_results && r < 8; r++)
        v->row_dims[at][r] = call->results[r].row_dims;
}

// ---- arguments

int64_t validate_size_of(const Validator *v, const IrAttr *dims, uint32_t dim) {
    if (!dims || dims->kind != IR_ATTR_ARRAY || dim >= dims->num_elems ||
        dims->elems[dim]->kind != IR_ATTR_STRING)
        return 0;
    for (uint32_t i = 0; i < v->sizes.num; i++)
        if (str_equal(v->sizes.names[i], dims->elems[dim]->str)) return v->sizes.of[i];
    return 0;
}

// What an argument of a function is called through all passes. Unused ones go, and the places of
// the others change; so what a private function is given from its entry goes by its place there,
// where arguments stay. Kernels' arguments keep their places.
static const char *place_key(Snapshot *s, const Call *call, uint32_t i, char class,
                             uint32_t *next) {
    const IrOp *func = call->func;
    uint32_t at = i, place = 0;
    const IrAttr *name = is_public(func) ? ir_func_arg_attr(func, i, "ingot.name") : NULL;
    if (name && name->kind == IR_ATTR_STRING) return arena_printf(&s->arena, "name %s", name->str);
    bool is_given = !is_public(func) && !ir_op_attr(func, "ingot.kernel") &&
                    trace_arg(s->m, &func, &at) && is_public(func);
    if (!is_given) return arena_printf(&s->arena, "%c%u", class, (*next)++);
    for (uint32_t k = 0; k < at; k++) {
        bool is_scalar = ir_type_is_scalar(ir_func_body(func)->args[k]->type);
        if (is_scalar ? class == 's' : class == 't' && !param_text(&s->arena, func, k)) place++;
    }
    return arena_printf(&s->arena, "entry's %c%u", class, place);
}

// Does the argument hold the count of valid elements of a named size? As a number, or as a tensor
// of rank 0.
static bool is_traced_count(Snapshot *s, Call *call, uint32_t i) {
    CallArg *arg = &call->args[i];
    const IrOp *func = call->func;
    uint32_t at = i;
    const IrAttr *count =
        trace_arg(s->m, &func, &at) ? ir_func_arg_attr(func, at, "ingot.count") : NULL;
    if (!count || count->kind != IR_ATTR_STRING || ir_type_elem(arg->type)->kind != IR_TYPE_INDEX ||
        (ir_type_is_shaped(arg->type) && arg->type->rank > 0))
        return false;
    arg->role = ARG_COUNT;
    arg->count = count->str;
    call->has_valid = true;
    return true;
}

static void describe_shaped(Snapshot *s, Call *call, uint32_t i, uint32_t *next) {
    CallArg *arg = &call->args[i];
    const IrAttr *result = ir_func_arg_attr(call->func, i, "ingot.result");
    const IrAttr *inout = ir_func_arg_attr(call->func, i, "ingot.inout");
    if (result && arg->type->kind == IR_TYPE_MEMREF) {
        arg->role = ARG_RESULT;
        arg->result = (int32_t)result->i;
        return;
    }
    if (ir_func_arg_attr(call->func, i, "ingot.arena")) {
        arg->role = ARG_ARENA;
        return;
    }
    if (inout) arg->result = (int32_t)inout->i;
    const IrOp *func = call->func;
    uint32_t at = i;
    int64_t layer;
    bool is_kernel = ir_op_attr(call->func, "ingot.kernel");
    if (is_traced_count(s, call, i)) return;
    if (trace_arg(s->m, &func, &at)) arg->param = param_text(&s->arena, func, at);
    if (!is_kernel) arg->cache = traced_cache(s->m, call->func, i, &layer);
    // A kernel's arguments keep their places; elsewhere parameters come, go and change theirs.
    if (arg->param && !is_kernel)
        arg->key = arg->param;
    else if (arg->cache)
        arg->key = arena_printf(&s->arena, "cache %c %lld", arg->cache, (long long)layer);
    else
        arg->key = place_key(s, call, i, 't', next);
}

static void describe_scalar(Snapshot *s, Call *call, uint32_t i, uint32_t *next) {
    CallArg *arg = &call->args[i];
    const IrOp *func = call->func;
    uint32_t at = i;
    if (trace_arg(s->m, &func, &at) && is_valid_count(func, at)) {
        arg->role = ARG_VALID;
        call->has_valid = true;
    } else if (!is_traced_count(s, call, i)) {
        arg->key = place_key(s, call, i, 's', next);
    }
}

static void describe(Validator *v, Snapshot *s, const IrOp *func, Call *call) {
    const IrBlock *body = ir_func_body(func);
    const IrType *type = ir_func_type(func);
    *call = (Call){.func = func,
                   .name = ir_symbol_name(func),
                   .num_args = body->num_args,
                   .num_results = type->num_results,
                   .tiles_arg = -1};
    call->args = ARENA_ARRAY(&s->arena, CallArg, body->num_args + 1);
    call->root = root_of(s->m, func);
    const IrAttr *entry = is_public(func) ? ir_op_attr(func, "ingot.entry") : NULL;
    call->entry = entry && entry->kind == IR_ATTR_STRING ? entry->str : NULL;
    const IrAttr *bucket = ir_op_attr(call->root, "ingot.bucket");
    call->bucket = bucket ? bucket->i : 0;
    bool is_level_2 = false;
    uint32_t num_index = 0, next_shaped = 0, next_scalar = 0;
    for (uint32_t i = 0; i < body->num_args; i++) {
        is_level_2 |= body->args[i]->type->kind == IR_TYPE_MEMREF;
        num_index += body->args[i]->type->kind == IR_TYPE_INDEX;
    }
    call->is_kernel = is_level_2 && ir_op_attr(func, "ingot.kernel") && num_index >= 2;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < body->num_args; i++) {
        CallArg *arg = &call->args[i];
        *arg = (CallArg){.type = body->args[i]->type, .result = -1, .number = i};
        const IrOp *from = func;
        uint32_t at = i;
        if (trace_arg(s->m, &from, &at)) arg->dims = ir_func_arg_attr(from, at, "ingot.dims");
        bool is_index = arg->type->kind == IR_TYPE_INDEX;
        seen += is_index;
        if (is_index && call->is_kernel && seen > num_index - 2)
            arg->role = seen == num_index ? ARG_TILE_END : ARG_TILE_BEGIN;
        else if (ir_type_is_scalar(arg->type))
            describe_scalar(s, call, i, &next_scalar);
        else
            describe_shaped(s, call, i, &next_shaped);
        if (ir_type_is_shaped(arg->type)) call->is_dynamic |= !ir_type_is_static(arg->type);
        if (arg->result >= 0) call->num_results = MAX(call->num_results, (uint32_t)arg->result + 1);
    }
    const IrAttr *tiles = ir_op_attr(func, "ingot.tiles");
    const IrAttr *tiles_arg = ir_op_attr(func, "ingot.tiles_arg");
    if (tiles && tiles->kind == IR_ATTR_MAP) call->tiles = tiles->map;
    if (tiles_arg && tiles_arg->kind == IR_ATTR_INT) call->tiles_arg = (int32_t)tiles_arg->i;
    call->results = ARENA_ARRAY(&s->arena, CallResult, call->num_results + 1);
    const IrAttr *res_attrs = ir_op_attr(func, "res_attrs");
    bool has_names = ir_op_attr(call->root, "ingot.ranges") != NULL;
    for (uint32_t r = 0; r < call->num_results; r++) {
        call->results[r].type = r < type->num_results ? type->results[r] : NULL;
        if (res_attrs && r < res_attrs->num_elems)
            call->results[r].dims = ir_attr_dict_find(res_attrs->elems[r], "ingot.dims");
        for (uint32_t i = 0; i < call->num_args; i++)
            if (call->args[i].result == (int32_t)r && !call->results[r].type) {
                call->results[r].type = call->args[i].type;
                call->results[r].dims = is_public(func) ? call->args[i].dims : NULL;
            }
        call->results[r].cache = result_cache(call, s->m, r);
        call->results[r].row_dims = call->results[r].cache || has_names ? 0 : row_dims(v, call, r);
    }
    if (call->is_dynamic && !has_names) remember_rows(v, call);
}

// ---- the module

static void remember_params(Validator *v, Snapshot *s) {
    for (uint32_t c = 0; c < s->num_calls; c++) {
        const Call *call = &s->calls[c];
        if (!is_public(call->func)) continue;
        for (uint32_t i = 0; i < call->num_args; i++) {
            const IrAttr *param = ir_func_arg_attr(call->func, i, "ingot.param");
            const IrAttr *quant = ir_func_arg_attr(call->func, i, "ingot.quant");
            const IrType *type = call->args[i].type;
            if (!param || param->kind != IR_ATTR_STRING || !ir_type_is_static(type) ||
                type->rank == 0 || ir_func_arg_attr(call->func, i, "ingot.plane"))
                continue;
            bool is_known = false;
            for (size_t p = 0; p < v->num_params; p++)
                is_known |= str_equal(v->params[p].name, param->str);
            if (is_known) continue;
            ARRAY_RESERVE(v->params, v->num_params, v->params_capacity);
            v->params[v->num_params++] =
                (ParamInfo){.name = arena_strdup(&v->arena, param->str),
                            .quant = quant ? arena_strdup(&v->arena, quant->str) : NULL,
                            .rows = type->shape[0],
                            .columns = ir_type_num_elems(type) / MAX(type->shape[0], 1)};
        }
    }
}

static void add_tokens(Validator *v, int64_t n) {
    if (n < 1 || v->num_tokens == VALIDATE_MAX_CASES) return;
    uint32_t at = 0;
    while (at < v->num_tokens && v->tokens[at] < n) at++;
    if (at < v->num_tokens && v->tokens[at] == n) return;
    memmove(v->tokens + at + 1, v->tokens + at, (v->num_tokens - at) * sizeof *v->tokens);
    v->tokens[at] = n;
    v->num_tokens++;
}

// Half a unit in the last place near 1 of the coarsest type an op class has.
static double coarsest_rounding(const PassConfig *config) {
    double coarsest = 0;
    for (int i = 0; i < NUM_OP_CLASSES; i++) {
        const OpPrecisionInfo *info = op_precision_info(config->op_precisions[i]);
        if (info->storage == DTYPE_F16) coarsest = MAX(coarsest, 0x1p-11);
        if (info->storage == DTYPE_BF16) coarsest = MAX(coarsest, 0x1p-9);
    }
    return coarsest;
}

// The shape matrix: least, last of each bucket, first of the next, off any step, most.
static void choose_tokens(Validator *v, const IrModule *m) {
    PassConfig config;
    DiagSink quiet;
    diag_sink_init(&quiet);
    if (pass_config_read(m, &quiet, &config) == STATUS_OK) {
        memcpy(v->buckets, config.buckets, sizeof v->buckets);
        v->num_buckets = config.num_buckets;
        memcpy(v->batches, config.batches, sizeof v->batches);
        v->num_batches = config.num_batches;
        v->activations = arena_strdup(&v->arena, config.activations);
        v->op_rounding = coarsest_rounding(&config);
        v->has_narrow_types = v->op_rounding > 0 || str_equal(config.kv, "f16");
    } else {
        v->buckets[0] = 1;
        v->buckets[1] = 8;
        v->num_buckets = 2;
        v->activations = "f32";
    }
    diag_sink_deinit(&quiet);
    if (v->num_buckets == 0) // a module of IR text: its sizes are fixed
        v->buckets[v->num_buckets++] = 1;
    int64_t most = v->buckets[v->num_buckets - 1];
    add_tokens(v, 1);
    for (uint32_t i = 0; i < v->num_buckets; i++) {
        add_tokens(v, v->buckets[i]);
        if (i + 1 < v->num_buckets) add_tokens(v, v->buckets[i] + 1);
    }
    for (uint32_t i = 0; i < v->num_batches; i++) add_tokens(v, v->batches[i]);
    add_tokens(v, most > 4 ? most - 3 : most);
}

// Vectorised kernels read whole tiles of rows; those behind the valid ones are unspecified and may
// never have been written. The interpreter would refuse that in an arena, so it is none to it.
static void untrack_arena(Snapshot *s) {
    for (uint32_t c = 0; c < s->num_calls; c++) {
        const Call *call = &s->calls[c];
        for (uint32_t i = 0; i < call->num_args; i++)
            if (call->args[i].role == ARG_ARENA)
                ir_func_set_arg_attr(s->m, ir_symbol_find(s->m, call->name), i, "ingot.arena",
                                     NULL);
    }
}

void snapshot_take(Validator *v, const IrModule *m, Snapshot *out) {
    *out = (Snapshot){.m = ir_module_clone(m)};
    arena_init(&out->arena);
    if (!v->num_tokens) choose_tokens(v, m);
    out->is_vectorized = pass_facts(m) >> FACT_VECTORIZED & 1;
    uint32_t num = 0;
    FOR_EACH_OP(op, ir_module_body(out->m)) num += is_func(op);
    out->calls = ARENA_ARRAY(&out->arena, Call, num + 1);
    FOR_EACH_OP(op, ir_module_body(out->m)) {
        if (!is_func(op)) continue;
        out->is_laid_out |= ir_op_attr(op, "ingot.kv_layout") != NULL;
        describe(v, out, op, &out->calls[out->num_calls++]);
    }
    remember_params(v, out);
    if (out->is_vectorized) untrack_arena(out);
}

void snapshot_free(Snapshot *s) {
    if (!s->m) return;
    ir_module_destroy(s->m);
    arena_deinit(&s->arena);
    *s = (Snapshot){0};
}

const Call *snapshot_find(const Snapshot *s, const char *name) {
    for (uint32_t i = 0; i < s->num_calls; i++)
        if (str_equal(s->calls[i].name, name)) return &s->calls[i];
    return NULL;
}
