// The reference interpreter: entry, frames, blocks, and the values that come in and go out.
//
// The module must have passed ir_verify. What the verifier cannot know is checked while running:
// every index and byte range, division, shifts, conversions, undefined data, and what arena views
// overlap.
#include "ir/interp.h"

#include <stdlib.h>

#include "ir/interp_internal.h"

static bool report(Interp *in, DiagCode code, const IrOp *op, const char *fmt, va_list args) {
    StrBuf text = {0};
    strbuf_vprintf(&text, fmt, args);
    diag_report(in->sink, DIAG_ERROR, code, ir_loc_span(op->loc), "'%s' op %s",
                ir_op_info(op->kind)->name, text.data ? text.data : "");
    strbuf_deinit(&text);
    return false;
}

#define DEFINE_REPORT(name, code)                                                                  \
    bool name(Interp *in, const IrOp *op, const char *fmt, ...) {                                  \
        va_list args;                                                                              \
        va_start(args, fmt);                                                                       \
        bool result = report(in, code, op, fmt, args);                                             \
        va_end(args);                                                                              \
        return result;                                                                             \
    }
DEFINE_REPORT(interp_fault, DIAG_I0301)
DEFINE_REPORT(interp_refuse, DIAG_I0302)

bool interp_fault_of(Interp *in, const IrOp *op, FaultKind kind, int64_t value,
                     InterpNumbers numbers, const char *text) {
    StrBuf message = {0};
    fault_put(&message, kind, ir_op_info(op->kind)->name, value, numbers.of, text);
    diag_report(in->sink, DIAG_ERROR, DIAG_I0301, ir_loc_span(op->loc), "%s", message.data);
    strbuf_deinit(&message);
    return false;
}

bool interp_limit(Interp *in, const IrOp *op, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    bool result = report(in, DIAG_I0303, op, fmt, args);
    va_end(args);
    in->is_over_limit = true;
    return result;
}

// ---------------------------------------------------------------- running

bool interp_count(Interp *in, const IrOp *op, uint64_t n) {
    if (n <= in->max_ops - in->num_ops) {
        in->num_ops += n;
        return true;
    }
    return interp_limit(in, op, "exceeds the limit of %llu steps", (unsigned long long)in->max_ops);
}

bool interp_run_block(Interp *in, const InterpBlock *block, uint64_t *frame) {
    const InterpInst *inst = block->insts, *end = inst + block->num_insts;
    if (!interp_count(in, block->op ? block->op : in->entry, block->num_steps)) return false;
    for (; inst < end; inst++) {
        if (!inst->run(in, inst, frame)) return false;
    }
    return true;
}

void interp_release(Interp *in, uint64_t *frame, uint32_t slot) {
    InterpView *view = interp_view(frame, slot);
    interp_buffer_unref(in, view->buffer);
    view->buffer = NULL;
}

void interp_move(const InterpMove *move, uint64_t *frame, uint64_t *to) {
    memcpy(to, frame + move->from, move->num_words * sizeof *to);
    if (!move->is_tensor) return;
    InterpView *view = interp_view(frame, move->from);
    if (move->is_consumed)
        view->buffer = NULL;
    else
        view->buffer->refs++;
}

void interp_yield(Interp *in, const InterpBlock *block, uint64_t *frame, uint64_t *to_frame,
                  const uint32_t *to) {
    uint64_t *scratch = frame + block->scratch;
    for (uint32_t i = 0; i < block->num_yields; i++) {
        interp_move(&block->yields[i], frame, scratch);
        scratch += block->yields[i].num_words;
    }
    for (uint32_t i = 0; i < block->num_leftovers; i++)
        interp_release(in, frame, block->leftovers[i]);
    scratch = frame + block->scratch;
    for (uint32_t i = 0; i < block->num_yields; i++) {
        memcpy(to_frame + to[i], scratch, block->yields[i].num_words * sizeof *scratch);
        scratch += block->yields[i].num_words;
    }
}

uint64_t interp_random(Interp *in, uint64_t below) {
    // splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators")
    uint64_t z = in->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % below;
}

// ---------------------------------------------------------------- frames

InterpFunc *interp_func_of(Interp *in, const IrOp *op) {
    if (!in->func_of_op[op->index]) {
        InterpFunc *func = ARENA_NEW(&in->arena, InterpFunc);
        func->op = op;
        in->func_of_op[op->index] = func;
    }
    return in->func_of_op[op->index];
}

uint64_t *interp_frame_new(Interp *in, const IrOp *op, const InterpFunc *func) {
    uint64_t len_bytes = ((uint64_t)func->num_words + 1) * sizeof(uint64_t);
    if (!interp_count(in, op, func->num_words / 8) || !interp_reserve(in, op, len_bytes))
        return NULL;
    uint64_t *frame = base_alloc((size_t)func->num_words + 1, sizeof *frame);
    memcpy(frame, func->image, func->num_words * sizeof *frame);
    InterpCall *call = base_alloc(1, sizeof *call);
    call->caller = in->call;
    in->call = call;
    in->depth++;
    return frame;
}

void interp_frame_free(Interp *in, const InterpFunc *func, uint64_t *frame) {
    InterpCall *call = in->call;
    for (InterpBuffer *b = call->allocas; b; b = b->next_alloca) interp_buffer_free(in, b);
    in->call = call->caller;
    in->depth--;
    in->live_bytes -= ((uint64_t)func->num_words + 1) * sizeof(uint64_t);
    free(call);
    free(frame);
}

// ---------------------------------------------------------------- arguments and results

// The sizes of an argument: those of its own type if that is static, which the parameter must
// admit.
static bool bind_view(Interp *in, const IrOp *func, uint32_t i, const IrInterpValue *arg,
                      const IrType *type, uint64_t *frame, uint32_t slot) {
    const IrType *given = arg->type ? arg->type : type;
    InterpView *view = interp_view(frame, slot);
    if (given->kind != type->kind || given->rank != type->rank || given->elem != type->elem ||
        !ir_type_is_static(given)) {
        return interp_fault(in, func, "argument %u has a type that is dynamic or does not fit", i);
    }
    int64_t len;
    if (given->rank) memcpy(view->dims, given->shape, given->rank * sizeof *view->dims);
    if (!interp_shape_bytes(view->dims, type->rank, ir_type_bytes(type->elem), &len) ||
        arg->len_bytes != (uint64_t)len || (!arg->data && len)) {
        return interp_fault(in, func, "argument %u has %llu bytes, its type needs %lld", i,
                            (unsigned long long)arg->len_bytes, (long long)len);
    }
    view->base_bytes = 0;
    view->offset = 0;
    view->view_id = 0;
    interp_view_set_strides(view, type->rank);
    view->buffer = interp_buffer_borrow(in, arg->data, (uint64_t)len);
    if (!interp_check_sizes(in, func, type->shape, view->dims, type->rank)) return false;
    if (type->kind == IR_TYPE_TENSOR) return true;
    int64_t strides[INTERP_MAX_RANK], offset;
    ir_memref_strides(type, strides, &offset);
    bool is_good = offset == 0 || offset == IR_DYNAMIC;
    for (uint32_t r = 0; r < type->rank; r++) {
        is_good = is_good && (strides[r] == IR_DYNAMIC || view->dims[r] == 1 ||
                              strides[r] == view->dims[type->rank + r]);
    }
    if (!is_good)
        return interp_refuse(in, func, "argument %u has a layout that is not row-major", i);
    if (!ir_func_arg_attr(func, i, "ingot.arena")) return true;
    return interp_buffer_make_arena(in, func, view->buffer);
}

// Lanes are words of the frame, packed outside.
static bool bind_vector(Interp *in, const IrOp *func, uint32_t i, const IrInterpValue *arg,
                        const IrType *type, uint64_t *words) {
    uint32_t lanes = interp_lanes(type), bytes = ir_type_bytes(type->elem);
    if (arg->type != type || arg->len_bytes != (uint64_t)lanes * bytes || !arg->data)
        return interp_fault(in, func, "argument %u does not fit its type", i);
    for (uint32_t l = 0; l < lanes; l++)
        words[l] = interp_load(interp_mem(type->elem), (const uint8_t *)arg->data + l * bytes);
    return true;
}

static bool take_vector(Interp *in, const IrOp *func, const IrType *type, const uint64_t *words,
                        IrInterpValue *out) {
    uint32_t lanes = interp_lanes(type), bytes = ir_type_bytes(type->elem);
    uint64_t len = (uint64_t)lanes * bytes;
    if (!interp_reserve(in, func, len)) return false; // until the call ends
    *out = (IrInterpValue){.type = type, .len_bytes = len, .data = base_alloc(len + 1, 1)};
    for (uint32_t l = 0; l < lanes; l++)
        interp_store(interp_mem(type->elem), (uint8_t *)out->data + l * bytes, words[l]);
    return true;
}

static bool bind_args(Interp *in, const InterpFunc *func, size_t num_args,
                      const IrInterpValue *args, uint64_t *frame) {
    const IrBlock *block = ir_func_body(func->op);
    if (num_args != block->num_args) {
        return interp_fault(in, func->op, "takes %u arguments, %zu were given", block->num_args,
                            num_args);
    }
    for (uint32_t i = 0; i < block->num_args; i++) {
        const IrType *type = block->args[i]->type;
        uint32_t slot = func->body->args[i];
        if (interp_is_view(type)) {
            if (!bind_view(in, func->op, i, &args[i], type, frame, slot)) return false;
        } else if (type->kind == IR_TYPE_VECTOR) {
            if (!bind_vector(in, func->op, i, &args[i], type, frame + slot)) return false;
        } else if (ir_type_is_float(type)) {
            frame[slot] = interp_zext(args[i].bits, ir_type_bits(type));
        } else if (ir_type_is_scalar(type)) {
            frame[slot] = (uint64_t)interp_sext(args[i].bits, ir_type_bits(type));
        } else {
            return interp_refuse(in, func->op,
                                 "argument %u is no number, tensor, memref or vector",
                                 i);
        }
    }
    return true;
}

// A dense copy of a view; reading it counts as a use, so all of it must be defined.
static bool take_view(Interp *in, const IrOp *func, const InterpView *view, const IrType *type,
                      IrInterpValue *out) {
    uint32_t elem_bytes = ir_type_bytes(type->elem);
    int64_t len;
    uint64_t words[INTERP_VIEW_WORDS + 2 * INTERP_MAX_RANK];
    InterpView *copy = interp_view(words, 0);
    if (!interp_shape_bytes(view->dims, type->rank, elem_bytes, &len)) return false;
    memcpy(copy->dims, view->dims, type->rank * sizeof *copy->dims);
    if (!interp_tensor_new(in, func, copy, type->rank, elem_bytes, true) ||
        !interp_view_copy(in, func, view, copy, type->rank, elem_bytes) ||
        !interp_check_read(in, func, copy->buffer, 0, 0, len)) {
        return false;
    }
    out->type = ir_type_is_static(type) ? type
                : type->kind == IR_TYPE_TENSOR
                    ? ir_type_tensor(in->module, type->rank, copy->dims, type->elem)
                    : ir_type_memref(in->module, type->rank, copy->dims, type->elem);
    if (!interp_reserve(in, func, (uint64_t)len)) return false; // until the call ends
    out->len_bytes = (uint64_t)len;
    out->data = base_alloc((size_t)len + 1, 1);
    memcpy(out->data, copy->buffer->data, (size_t)len);
    interp_buffer_unref(in, copy->buffer);
    return true;
}

static bool take_results(Interp *in, const InterpFunc *func, size_t num_results, uint64_t *frame,
                         IrInterpValue *out_results) {
    const IrType *type = ir_func_type(func->op);
    if (num_results != type->num_results || num_results != func->body->num_yields) {
        return interp_fault(in, func->op, "has %u results, %zu were asked for", type->num_results,
                            num_results);
    }
    for (uint32_t i = 0; i < type->num_results; i++) {
        const IrType *result = type->results[i];
        uint32_t slot = func->body->yields[i].from;
        if (interp_is_view(result)) {
            if (!take_view(in, func->op, interp_view(frame, slot), result, &out_results[i])) {
                return false;
            }
        } else if (result->kind == IR_TYPE_VECTOR) {
            if (!take_vector(in, func->op, result, frame + slot, &out_results[i])) return false;
        } else if (ir_type_is_scalar(result)) {
            out_results[i] = (IrInterpValue){.type = result, .bits = frame[slot]};
        } else {
            return interp_refuse(in, func->op, "result %u is no number, tensor, memref or vector",
                                 i);
        }
    }
    return true;
}

// ---------------------------------------------------------------- entry

static void interp_init(Interp *in, IrModule *m, const IrInterpOptions *options, DiagSink *sink) {
    arena_init(&in->arena);
    in->module = m;
    in->options = options;
    in->sink = sink;
    in->max_bytes = options->max_bytes ? options->max_bytes : UINT64_C(4) << 30;
    in->max_ops = options->max_ops ? options->max_ops : UINT64_MAX;
    in->random = options->parallel_order + options->noise_seed;
    in->func_of_op = ARENA_ARRAY(&in->arena, InterpFunc *, m->num_ops + 1);
    in->globals = ARENA_ARRAY(&in->arena, InterpBuffer *, m->num_ops + 1);
    in->position = ARENA_ARRAY(&in->arena, uint32_t, m->num_ops + 1);
    in->release_head = ARENA_ARRAY(&in->arena, uint32_t, m->num_ops + 1);
    in->release_next = ARENA_ARRAY(&in->arena, uint32_t, m->num_values + 1);
    in->slot_of_value = ARENA_ARRAY(&in->arena, uint32_t, m->num_values + 1);
    for (uint32_t i = 0; i < m->num_values; i++) in->slot_of_value[i] = INTERP_NO_SLOT;
}

static bool call_entry(Interp *in, const IrOp *entry, size_t num_args, const IrInterpValue *args,
                       size_t num_results, IrInterpValue *out_results) {
    InterpFunc *func = interp_func_of(in, entry);
    in->entry = entry;
    if (!interp_decode_func(in, func)) return false;
    uint64_t *frame = interp_frame_new(in, entry, func);
    if (!frame) return false;
    bool is_good = bind_args(in, func, num_args, args, frame) &&
                   interp_run_block(in, func->body, frame) &&
                   take_results(in, func, num_results, frame, out_results);
    interp_frame_free(in, func, frame);
    return is_good;
}

Status ir_interp_call(IrModule *m, const char *entry, size_t num_args, const IrInterpValue *args,
                      size_t num_results, IrInterpValue *out_results,
                      const IrInterpOptions *options, DiagSink *sink) {
    const IrOp *op = ir_symbol_find(m, entry);
    if (!op || op->kind != IR_FUNC_FUNC || !ir_func_body(op)) {
        return diag_error(sink, DIAG_I0304, (DiagSpan){0},
                          "the module has no function '%s' with a body", entry);
    }
    const IrInterpOptions defaults = {0};
    Interp in = {0};
    interp_init(&in, m, options ? options : &defaults, sink);
    for (size_t i = 0; i < num_results; i++) out_results[i] = (IrInterpValue){0};
    bool is_good = call_entry(&in, op, num_args, args, num_results, out_results);
    if (!is_good) {
        for (size_t i = 0; i < num_results; i++) ir_interp_result_deinit(&out_results[i]);
    }
    interp_buffers_deinit(&in);
    arena_deinit(&in.arena);
    return is_good ? STATUS_OK : in.is_over_limit ? STATUS_LIMIT : STATUS_INVALID;
}

void ir_interp_result_deinit(IrInterpValue *result) {
    free(result->data);
    *result = (IrInterpValue){0};
}
