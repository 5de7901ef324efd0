// One run of a function under validation: inputs, the interpreter or machine code, and the results
// in a form that compares: valid rows only, caches in their first layout; see validate.h.
#include <stdlib.h>
#include <string.h>

#include "passes/validate_internal.h"

typedef struct Run {
    Validator *v;
    Snapshot *s;
    const Call *call;
    const IrModule *native; // level 3; NULL: interpret
    int64_t tokens;
    CallValue *values; // by argument
    IrInterpValue *args, *results;
    uint32_t num_returned;
    RunResults *out;
} Run;

static void fail(Run *run, RunStatus status, const char *fault) {
    run->out->status = status;
    run->out->fault = fault ? arena_strdup(&run->v->arena, fault) : NULL;
}

// ---------------------------------------------------------------- tiles

static int64_t num_tiles(const Run *run) {
    const Call *call = run->call;
    if (!call->tiles) return 1;
    int64_t inputs[1] = {0};
    int32_t seen = -1;
    for (uint32_t i = 0; i < call->num_args && call->tiles_arg >= 0; i++) {
        const CallArg *arg = &call->args[i];
        if (arg->type->kind != IR_TYPE_INDEX || arg->role == ARG_TILE_BEGIN ||
            arg->role == ARG_TILE_END)
            continue;
        if (++seen == call->tiles_arg) inputs[0] = (int64_t)run->values[i].bits;
    }
    return ir_affine_eval(call->tiles->results[0], inputs, NULL);
}

static bool call_native(Run *run, int64_t begin, int64_t end) {
    void *buffers[64];
    int64_t scalars[64];
    uint32_t num_buffers = 0, num_scalars = 0;
    for (uint32_t i = 0; i < run->call->num_args; i++) {
        const CallArg *arg = &run->call->args[i];
        if (num_buffers == 64 || num_scalars == 64) return false;
        if (ir_type_is_shaped(arg->type))
            buffers[num_buffers++] = run->values[i].data;
        else if (arg->role != ARG_TILE_BEGIN && arg->role != ARG_TILE_END)
            scalars[num_scalars++] = (int64_t)run->values[i].bits;
    }
    const ValidateOptions *o = &run->v->options;
    return o->native &&
           o->native(o->native_ctx, run->native, run->call->name, buffers, scalars, begin, end);
}

static bool call_range(Run *run, int64_t begin, int64_t end, const Noise *noise) {
    const Call *call = run->call;
    if (run->native) {
        if (call_native(run, begin, end)) return true;
        fail(run, RUN_NO_NATIVE, NULL);
        return false;
    }
    for (uint32_t i = 0; i < call->num_args; i++) {
        if (call->args[i].role == ARG_TILE_BEGIN) run->args[i].bits = (uint64_t)begin;
        if (call->args[i].role == ARG_TILE_END) run->args[i].bits = (uint64_t)end;
    }
    IrInterpEvents events = {0};
    IrInterpOptions options = {.max_ops = run->v->options.max_ops};
    if (noise) {
        options.noise = noise->roundings;
        options.operand_noise = noise->operands;
        options.rounds_operands = noise->rounds_operands;
        options.noise_seed = noise->seed;
    } else if (run->v->has_narrow_types) {
        options.events = &events;
    }
    DiagSink sink;
    diag_sink_init(&sink);
    Status status = ir_interp_call(run->s->m, call->name, call->num_args, run->args,
                                   run->num_returned, run->results, &options, &sink);
    run->out->has_overflow |= events.op != NULL;
    if (status != STATUS_OK) {
        bool is_long = sink.num_diags && sink.diags[0].code == DIAG_I0303;
        fail(run, is_long ? RUN_TOO_MANY_OPS : RUN_FAULT,
             sink.num_diags ? sink.diags[0].message : "no result");
    }
    diag_sink_deinit(&sink);
    return status == STATUS_OK;
}

// Kernels that obey their range run in two parts, as two workers would run them.
static bool call_all(Run *run, const Noise *noise) {
    if (!run->call->is_kernel) return call_range(run, 0, 1, noise);
    int64_t tiles = num_tiles(run), half = (tiles + 1) / 2;
    bool is_split = (run->s->is_vectorized || run->native) && tiles > 1;
    if (!is_split) return call_range(run, 0, MAX(tiles, 1), noise);
    return call_range(run, half, tiles, noise) && call_range(run, 0, half, noise);
}

// ---------------------------------------------------------------- results

// The part of a result that is specified, caches as [page, slot, head, element].
static void canonical(const Run *run, uint32_t number, const IrType *type, const uint8_t *data,
                      CallValue *out) {
    const CallResult *result = &run->call->results[number];
    static const uint32_t keys[] = {0, 3, 1, 2}, values[] = {0, 2, 1, 3},
                          same[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t *order = same; // dimension d of the value is dimension order[d] of the result
    if (run->s->is_laid_out && type->rank == 4 && result->cache == 'k') order = keys;
    if (run->s->is_laid_out && type->rank == 4 && result->cache == 'v') order = values;
    int64_t shape[VALIDATE_MAX_RANK], strides[VALIDATE_MAX_RANK], stride = 1;
    for (uint32_t d = type->rank; d-- > 0;) {
        strides[d] = stride;
        stride *= type->shape[d];
    }
    int64_t num = 1, from[VALIDATE_MAX_RANK];
    for (uint32_t d = 0; d < type->rank; d++) {
        uint32_t at = 0;
        while (order[at] != d) at++;
        shape[at] = type->shape[d];
        from[at] = strides[d];
    }
    for (uint32_t d = 0; d < type->rank; d++) {
        if (result->row_dims >> d & 1) shape[d] = MIN(shape[d], run->tokens);
        int64_t size = validate_size_of(run->v, result->dims, d);
        if (size) shape[d] = MIN(shape[d], size);
        num *= shape[d];
    }
    uint32_t bytes = ir_type_bytes(type->elem);
    int64_t index[VALIDATE_MAX_RANK] = {0};
    *out = (CallValue){.type = ir_type_tensor(run->s->m, type->rank, shape, type->elem),
                       .len_bytes = (uint64_t)num * bytes};
    out->data = base_alloc((size_t)num * bytes + 1, 1);
    for (int64_t i = 0; i < num; i++) {
        int64_t at = 0;
        for (uint32_t d = 0; d < type->rank; d++) at += index[d] * from[d];
        memcpy((uint8_t *)out->data + i * bytes, data + at * bytes, bytes);
        for (uint32_t d = type->rank; d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
    }
}

// A number, or a tensor of rank 0, which bind-ports makes of it.
static bool take_number(const IrType *type, uint64_t bits, const void *data, CallValue *out) {
    const IrType *elem = ir_type_elem(type);
    uint32_t width = ir_type_is_scalar(elem) ? ir_type_bits(elem) : 64;
    if (ir_type_is_shaped(type) && type->rank > 0) return false;
    if (ir_type_is_shaped(type)) memcpy(&bits, data, ir_type_bytes(elem));
    *out =
        (CallValue){.type = elem, .bits = width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits};
    return true;
}

static void collect(Run *run) {
    const Call *call = run->call;
    RunResults *out = run->out;
    out->num_values = call->num_results;
    out->values = base_alloc(call->num_results + 1, sizeof *out->values);
    for (uint32_t r = 0; r < call->num_results; r++) {
        if (r < run->num_returned) {
            const IrInterpValue *value = &run->results[r];
            if (!take_number(value->type, value->bits, value->data, &out->values[r]))
                canonical(run, r, value->type, value->data, &out->values[r]);
            continue;
        }
        for (uint32_t i = 0; i < call->num_args; i++)
            if (call->args[i].result == (int32_t)r && call->args[i].role != ARG_ARENA &&
                !out->values[r].type &&
                !take_number(run->values[i].type, 0, run->values[i].data, &out->values[r]))
                canonical(run, r, run->values[i].type, run->values[i].data, &out->values[r]);
    }
}

// Only results, values updated in place and the arena may be written.
static bool inputs_kept(const Run *run, void *const *copies) {
    for (uint32_t i = 0; i < run->call->num_args; i++)
        if (copies[i] && memcmp(copies[i], run->values[i].data, run->values[i].len_bytes) != 0)
            return false;
    return true;
}

static void **copy_inputs(const Run *run) {
    void **copies = base_alloc(run->call->num_args + 1, sizeof *copies);
    for (uint32_t i = 0; i < run->call->num_args; i++) {
        const CallArg *arg = &run->call->args[i];
        bool is_kept =
            arg->role == ARG_INPUT && arg->result < 0 && arg->type->kind == IR_TYPE_MEMREF;
        if (!is_kept) continue;
        copies[i] = base_alloc(run->values[i].len_bytes + 1, 1);
        memcpy(copies[i], run->values[i].data, run->values[i].len_bytes);
    }
    return copies;
}

static void run_filled(Run *run, const Noise *noise) {
    const Call *call = run->call;
    void **copies = copy_inputs(run);
    for (uint32_t i = 0; i < call->num_args; i++)
        run->args[i] = (IrInterpValue){.type = run->values[i].type,
                                       .bits = run->values[i].bits,
                                       .data = run->values[i].data,
                                       .len_bytes = run->values[i].len_bytes};
    if (call_all(run, noise)) {
        collect(run);
        if (!inputs_kept(run, copies)) fail(run, RUN_FAULT, "writes an argument that is read only");
    }
    for (uint32_t i = 0; i < call->num_args; i++) free(copies[i]);
    free(copies);
    for (uint32_t r = 0; r < run->num_returned; r++) ir_interp_result_deinit(&run->results[r]);
}

void validate_run(Validator *v, Snapshot *s, const Call *call, const IrModule *native,
                  int64_t tokens, const Noise *noise, RunResults *out) {
    *out = (RunResults){0};
    Run run = {.v = v, .s = s, .call = call, .native = native, .tokens = tokens, .out = out};
    run.num_returned = ir_func_type(call->func)->num_results;
    run.values = base_alloc(call->num_args + 1, sizeof *run.values);
    run.args = base_alloc(call->num_args + 1, sizeof *run.args);
    run.results = base_alloc(run.num_returned + 1, sizeof *run.results);
    const char *fault;
    if (validate_inputs(v, s, call, tokens, run.values, &fault))
        run_filled(&run, noise);
    else
        fail(&run, fault ? RUN_FAULT : RUN_TOO_MANY_BYTES, fault);
    for (uint32_t i = 0; i < call->num_args; i++) validate_value_free(&run.values[i]);
    free(run.values);
    free(run.args);
    free(run.results);
}

void validate_results_free(RunResults *results) {
    for (uint32_t i = 0; i < results->num_values; i++) free(results->values[i].data);
    free(results->values);
    *results = (RunResults){0};
}
