// The memory planner's log; see plan_log.h.
#include "compiler/plan_log.h"

#include <stdlib.h>

typedef struct Log {
    const IrModule *m;
    CompileReport *report;
    const char **kernels; // of the entry's steps
    uint32_t *step;       // by op index
    uint32_t num_steps;
    size_t capacity, first; // first buffer of the entry
} Log;

static void extend(const Log *log, CompileBuffer *buffer, const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        if (op->kind == IR_FUNC_CALL) {
            buffer->first_step = MIN(buffer->first_step, log->step[op->index]);
            buffer->last_step = MAX(buffer->last_step, log->step[op->index]);
        }
        for (uint32_t i = 0; i < op->num_results; i++)
            if (op->results[i].type->kind == IR_TYPE_MEMREF) extend(log, buffer, &op->results[i]);
    }
}

static bool overlap(const CompileBuffer *a, const CompileBuffer *b) {
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static void find_shared(Log *log) {
    CompileReport *report = log->report;
    uint32_t *shares = base_alloc(report->num_buffers - log->first + 1, sizeof *shares);
    for (size_t i = log->first; i < report->num_buffers; i++) {
        CompileBuffer *buffer = &report->buffers[i];
        for (size_t k = log->first; k < report->num_buffers; k++)
            if (k != i && overlap(buffer, &report->buffers[k]))
                shares[buffer->num_shares++] = (uint32_t)(k - log->first);
        buffer->shares = arena_memdup(&report->arena, shares, buffer->num_shares, sizeof *shares);
    }
    free(shares);
}

static void log_entry(Log *log, const IrOp *entry, const IrValue *arena) {
    CompileReport *report = log->report;
    log->first = report->num_buffers;
    log->num_steps = 0;
    const char *name = arena_strdup(&report->arena, ir_symbol_name(entry));
    FOR_EACH_OP(op, ir_func_body(entry)) {
        if (op->kind != IR_FUNC_CALL) continue;
        const IrAttr *callee = ir_op_attr(op, "callee");
        log->kernels[log->num_steps] = arena_strdup(&report->arena, callee->str);
        log->step[op->index] = log->num_steps++;
    }
    FOR_EACH_OP(op, ir_func_body(entry)) {
        int64_t offset;
        if (op->kind != IR_MEMREF_VIEW || ir_op_operand(op, 0) != arena ||
            !ir_value_constant_int(ir_op_operand(op, 1), &offset))
            continue;
        const IrType *type = op->results[0].type;
        CompileBuffer buffer = {.entry = name,
                                .offset = (uint64_t)offset,
                                .bytes =
                                    (uint64_t)(ir_type_num_elems(type) * ir_type_bytes(type->elem)),
                                .first_step = UINT32_MAX};
        extend(log, &buffer, &op->results[0]);
        if (buffer.first_step == UINT32_MAX) continue; // nothing reads or writes it
        buffer.first_kernel = log->kernels[buffer.first_step];
        buffer.last_kernel = log->kernels[buffer.last_step];
        ARRAY_RESERVE(report->buffers, report->num_buffers, log->capacity);
        report->buffers[report->num_buffers++] = buffer;
    }
    find_shared(log);
}

void plan_log_fill(const IrModule *m, CompileReport *report) {
    Log log = {.m = m, .report = report};
    log.kernels = base_alloc(m->num_ops, sizeof *log.kernels);
    log.step = base_alloc(m->num_ops, sizeof *log.step);
    FOR_EACH_OP(func, ir_op_block(m->op, 0)) {
        if (func->kind != IR_FUNC_FUNC || !ir_func_body(func)) continue;
        for (uint32_t i = 0; i < ir_func_body(func)->num_args; i++)
            if (ir_func_arg_attr(func, i, "ingot.arena"))
                log_entry(&log, func, ir_func_body(func)->args[i]);
    }
    CompileBuffer *kept =
        arena_memdup(&report->arena, report->buffers, report->num_buffers, sizeof *report->buffers);
    free(report->buffers);
    report->buffers = kept;
    free(log.kernels);
    free(log.step);
}
