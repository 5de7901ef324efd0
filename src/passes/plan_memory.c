// memory-planner: every buffer of an entry gets its place in one arena. Calls of layers are inlined
// first, so that an entry is a straight list of kernel calls; a buffer lives from the first to the
// last op that names it or a view of it; larger buffers are placed first, each at the lowest offset
// that is free for its life.
//
//   %a = memref.alloc() : memref<512x576xf32>
//   -> func.func @forward_s512(..., %arena: memref<Bxi8> {ingot.arena})
//      %a = memref.view %arena[%offset][] : memref<Bxi8> to memref<512x576xf32>
//
// Needs: scheduled.  Keeps: all.  Exact.
#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "passes/build.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

typedef struct Buffer {
    IrOp *alloc;
    uint64_t len_bytes, offset;
    uint32_t first, last; // positions of ops, inclusive
    uint32_t order;       // of appearance, breaks ties
} Buffer;

typedef struct MemoryPlan {
    IrModule *m;
    DiagSink *sink;
    Buffer *buffers;
    size_t num_buffers, capacity;
    uint32_t *position; // by op index
    uint64_t arena_bytes;
} MemoryPlan;

static bool is_plain(const IrOp *func) {
    return func && func->kind == IR_FUNC_FUNC && ir_func_body(func) &&
           !ir_op_attr(func, "ingot.kernel");
}

// ---- flattening

static void inline_plain_call(IrModule *m, IrOp *call, const IrOp *callee) {
    IrValueMap map;
    ir_value_map_init(&map);
    IrBlock *body = ir_func_body(callee);
    for (uint32_t i = 0; i < body->num_args; i++)
        ir_value_map_set(&map, body->args[i], ir_op_operand(call, i));
    FOR_EACH_OP(op, body) {
        if (op->kind == IR_FUNC_RETURN) break;
        IrOp *copy = ir_op_clone(m, op, &map);
        copy->loc = ir_loc_callsite(m, op->loc, call->loc);
        ir_op_insert_before(copy, call);
    }
    ir_value_map_deinit(&map);
    ir_op_erase(m, call);
}

static Status flatten(IrModule *m, IrOp *entry, DiagSink *sink) {
    FOR_EACH_OP_SAFE(op, ir_func_body(entry)) {
        if (op->kind != IR_FUNC_CALL) continue;
        IrOp *callee = ir_call_callee(m, op);
        if (!is_plain(callee)) continue;
        FOR_EACH_OP(inner, ir_func_body(callee))
        if (inner->kind == IR_FUNC_CALL && is_plain(ir_call_callee(m, inner)))
            return diag_error(sink, DIAG_P0005, ir_loc_span(inner->loc),
                              "@%s calls a function that is not a kernel", ir_symbol_name(callee));
        if (op->num_results != 0)
            return diag_error(sink, DIAG_P0005, ir_loc_span(op->loc),
                              "a call that returns a value");
        inline_plain_call(m, op, callee);
    }
    return STATUS_OK;
}

// ---- lifetimes

static void extend(MemoryPlan *p, Buffer *buffer, const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        buffer->first = MIN(buffer->first, p->position[op->index]);
        buffer->last = MAX(buffer->last, p->position[op->index]);
        for (uint32_t i = 0; i < op->num_results; i++)
            if (op->results[i].type->kind == IR_TYPE_MEMREF) extend(p, buffer, &op->results[i]);
    }
}

static Status collect(MemoryPlan *p, IrOp *entry) {
    uint32_t position = 0;
    FOR_EACH_OP(op, ir_func_body(entry)) p->position[op->index] = position++;
    FOR_EACH_OP(op, ir_func_body(entry)) {
        if (op->kind != IR_MEMREF_ALLOC) continue;
        const IrType *type = op->results[0].type;
        if (!ir_type_is_static(type) || type->has_layout)
            return diag_error(p->sink, DIAG_P0005, ir_loc_span(op->loc),
                              "a buffer of unknown size");
        ARRAY_RESERVE(p->buffers, p->num_buffers, p->capacity);
        Buffer *b = &p->buffers[p->num_buffers];
        uint64_t bytes = (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem);
        *b = (Buffer){.alloc = op,
                      .first = UINT32_MAX,
                      .order = (uint32_t)p->num_buffers,
                      .len_bytes = align_up(MAX(bytes, 1), PLAN_BUFFER_ALIGN_BYTES)};
        p->num_buffers++;
        extend(p, b, &op->results[0]);
    }
    return STATUS_OK;
}

// ---- placement

static int larger_first(const void *x, const void *y) {
    const Buffer *a = x, *b = y;
    if (a->len_bytes != b->len_bytes) return a->len_bytes > b->len_bytes ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool live_together(const Buffer *a, const Buffer *b) {
    if (MUTATED(SHORT_LIFE)) return a->first < b->last && b->first < a->last;
    return a->first <= b->last && b->first <= a->last;
}

// Lowest offset at which buffer i meets no placed buffer that is live with it.
static uint64_t lowest_free(const Buffer *buffers, size_t i) {
    uint64_t offset = 0;
    bool moved;
    do {
        moved = false;
        for (size_t j = 0; j < i; j++) {
            const Buffer *b = &buffers[j];
            bool meets =
                offset < b->offset + b->len_bytes && b->offset < offset + buffers[i].len_bytes;
            if (!meets || !live_together(&buffers[i], b)) continue;
            offset = b->offset + b->len_bytes;
            moved = true;
        }
    } while (moved);
    return offset;
}

static void place(MemoryPlan *p) {
    array_sort(p->buffers, p->num_buffers, sizeof *p->buffers, larger_first);
    for (size_t i = 0; i < p->num_buffers; i++) {
        p->buffers[i].offset = lowest_free(p->buffers, i);
        p->arena_bytes = MAX(p->arena_bytes, p->buffers[i].offset + p->buffers[i].len_bytes);
    }
}

static void rewrite(MemoryPlan *p, IrOp *entry) {
    IrModule *m = p->m;
    const int64_t shape[] = {(int64_t)MAX(p->arena_bytes, PLAN_BUFFER_ALIGN_BYTES)};
    const IrType *arena_type = ir_type_memref(m, 1, shape, ir_type_int(m, 8));
    uint32_t at = ir_func_body(entry)->num_args;
    IrValue *arena = ir_func_insert_arg(m, entry, at, arena_type);
    ir_func_set_arg_attr(m, entry, at, "ingot.arena", ir_attr_unit(m));
    for (size_t i = 0; i < p->num_buffers; i++) {
        IrOp *alloc = p->buffers[i].alloc;
        Builder b = build_before(m, alloc);
        uint64_t offset = p->buffers[i].offset;
        if (MUTATED(ARENA_OFFSET) && offset > 0) offset -= PLAN_BUFFER_ALIGN_BYTES;
        IrValue *operands[] = {arena, build_index(&b, (int64_t)offset)};
        const IrType *type = alloc->results[0].type;
        const IrAttr *boundary = ir_op_attr(alloc, "ingot.boundary");
        IrOp *view = build_op_full(&b, &(IrOpSpec){.kind = IR_MEMREF_VIEW,
                                                   .num_operands = 2,
                                                   .operands = operands,
                                                   .num_results = 1,
                                                   .result_types = &type,
                                                   .segments = {1, 1, 0}});
        if (boundary) ir_op_set_attr(m, view, "ingot.boundary", boundary);
        ir_value_replace_all(ir_op_result(alloc, 0), ir_op_result(view, 0));
        ir_op_erase(m, alloc);
    }
}

static bool has_arena(const IrOp *entry) {
    for (uint32_t i = 0; i < ir_func_type(entry)->num_inputs; i++)
        if (ir_func_arg_attr(entry, i, "ingot.arena")) return true;
    return false;
}

static Status plan_entry(IrModule *m, IrOp *entry, DiagSink *sink) {
    if (has_arena(entry)) return STATUS_OK;
    TRY(flatten(m, entry, sink));
    MemoryPlan p = {.m = m, .sink = sink};
    p.position = base_alloc(m->num_ops, sizeof *p.position);
    Status status = collect(&p, entry);
    if (status == STATUS_OK) {
        place(&p);
        rewrite(&p, entry);
    }
    free(p.position);
    free(p.buffers);
    return status;
}

Status pass_plan_memory(IrModule *m, DiagSink *sink) {
    FOR_EACH_OP(func, ir_module_body(m))
    if (is_plain(func) && !ir_op_attr(func, "sym_visibility")) TRY(plan_entry(m, func, sink));
    dce_module(m);
    return STATUS_OK;
}
