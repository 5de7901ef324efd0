// hold-fusion: what became of every fusion. Each value that stays between two kernels gets the
// reason on the call that makes it, for bufferize to put on its buffer; each rule is held to what
// happened: a required one that was not applied everywhere is an error, and so is a forbidden one
// that was.
//
//   %1 = func.call @matmul(%0)          ->  %1 = func.call @matmul(%0) {ingot.boundary =
//   ["reduction-producer"]}
//
// Needs: deduped.  Keeps: all.  Exact: nothing is computed.
#include <stdlib.h>
#include <string.h>

#include "passes/entry.h"
#include "passes/fusion.h"
#include "passes/pass.h"

static bool is_plain(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "ingot.kernel");
}

// ---- reasons on calls

// The edges that the results of a call begin share its kernel as their producer.
static FusionReason reason_of_edges(const IrModule *m, const FusionEdges *edges, const IrOp *func,
                                    const IrOp *call, uint32_t result) {
    const IrOp *kernel = ir_call_callee(m, call);
    FusionReason first = NUM_FUSION_REASONS;
    const IrOp *ret =
        kernel && ir_func_body(kernel) ? ir_block_terminator(ir_func_body(kernel)) : NULL;
    const IrOp *maker =
        ret && result < ret->num_operands ? fusion_maker(ir_op_operand(ret, result)) : NULL;
    for (size_t i = 0; i < edges->num_items; i++) {
        const FusionEdge *e = &edges->items[i];
        if (e->func != func || e->is_applied) continue;
        bool is_mine =
            e->producer == maker || e->producer == kernel || (e->copy && e->copy == kernel);
        if (!is_mine && maker && maker->kind == IR_FUNC_CALL)
            is_mine = e->reasons >> REASON_CALL & 1;
        if (is_mine) first = MIN(first, fusion_edge_reason(e));
    }
    return first;
}

// A kernel that gives its arguments, or parts of them, as they are.
static bool is_copy(const IrOp *kernel) {
    const IrOp *ret = ir_block_terminator(ir_func_body(kernel));
    for (uint32_t i = 0; i < ret->num_operands; i++)
        if (fusion_maker(ir_op_operand(ret, i))) return false;
    return true;
}

// Why a value is stored. Where a copy reads it, no edge ends: it has the reason of what the copy
// makes. Of what begins no edge either, an input that is copied, the copy itself is the reason.
static FusionReason reason_of(const IrModule *m, const FusionEdges *edges, const IrOp *func,
                              const IrOp *call, uint32_t result, int depth) {
    enum { MAX_COPIES = 8 };
    FusionReason first = reason_of_edges(m, edges, func, call, result);
    if (first < NUM_FUSION_REASONS || depth == MAX_COPIES) return first;
    const IrValue *todo[32] = {&call->results[result]};
    bool is_read = false, is_result = false;
    for (uint32_t n = 1, i = 0; i < n; i++) FOR_EACH_USE(use, todo[i]) {
            const IrOp *op = use->owner;
            if (fusion_is_view(op) && n < ARRAY_LEN(todo)) todo[n++] = &op->results[0];
            is_result |= op->kind == IR_FUNC_RETURN;
            if (op->kind != IR_FUNC_CALL) continue;
            is_read = true;
            const IrOp *callee = ir_call_callee(m, op);
            if (!callee || !ir_func_body(callee) || !is_copy(callee)) continue;
            for (uint32_t r = 0; r < op->num_results; r++)
                first = MIN(first, reason_of(m, edges, func, op, r, depth + 1));
        }
    if (first < NUM_FUSION_REASONS) return first;
    return is_read && !is_result ? REASON_MAP : NUM_FUSION_REASONS;
}

static void mark_calls(IrModule *m, const FusionEdges *edges) {
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_plain(func)) continue;
        FOR_EACH_OP(call, ir_func_body(func)) {
            if (call->kind != IR_FUNC_CALL || call->num_results == 0) continue;
            const IrAttr **names = ARENA_ARRAY(&m->arena, const IrAttr *, call->num_results);
            for (uint32_t r = 0; r < call->num_results; r++) {
                FusionReason reason = reason_of(m, edges, func, call, r, 0);
                bool is_apart = reason < NUM_FUSION_REASONS;
                names[r] = ir_attr_string(m, is_apart ? fusion_reason_name(reason) : "result");
            }
            ir_op_set_attr(m, call, "ingot.boundary", ir_attr_array(m, call->num_results, names));
        }
    }
}

// ---- rules

static DiagSpan rule_span(IrModule *m, const char *at) {
    DiagSpan span = {.file = at};
    const char *colon = strrchr(at, ':');
    if (!colon) return span;
    span.file = arena_strndup(&m->arena, at, (size_t)(colon - at));
    span.line = (uint32_t)strtoul(colon + 1, NULL, 10);
    return span;
}

static Status refuse(IrModule *m, const FusionRule *rule, FusionPattern pattern,
                     const char *between, const char *reason, const char *detail, DiagSink *sink) {
    diag_report(sink, DIAG_ERROR, DIAG_P0061, rule_span(m, rule->at), "rule %s is required, but %s",
                fusion_pattern_name(pattern), between);
    diag_evidence(sink, "%s%s%s", reason, *detail ? ": " : "", detail);
    return STATUS_NO;
}

// Is it the first edge into its kernel?
static bool is_first(const FusionEdges *edges, size_t i) {
    const FusionEdge *e = &edges->items[i];
    for (size_t k = i; k > 0; k--)
        if (edges->items[k - 1].consumer_func == e->consumer_func &&
            edges->items[k - 1].func == e->func && !edges->items[k - 1].is_applied)
            return false;
    return true;
}

// What is enough for all that stands apart for want of room in one entry: kernels that may be
// joined grow by one another, so that the bound of a single edge would be followed by the next
// one's.
static int64_t enough_room(const FusionEdges *edges) {
    const IrOp *func = NULL;
    int64_t room = 0, most = 0;
    for (size_t i = 0; i < edges->num_items; i++) {
        const FusionEdge *e = &edges->items[i];
        const IrAttr *need = ir_op_attr(e->consumer_func, "ingot.capacity");
        if (e->func != func) room = 0;
        func = e->func;
        if (e->is_applied || !need || need->kind != IR_ATTR_INT || !is_first(edges, i)) continue;
        room = MIN(room + MIN(need->i, (int64_t)FUSION_MAX_SCRATCH_BYTES),
                   (int64_t)FUSION_MAX_SCRATCH_BYTES);
        most = MAX(most, room);
    }
    return most;
}

// The bound that would have allowed it, where the bound is what is in the way.
static void write_remedy(const FusionEdges *edges, const FusionEdge *edge, FusionReason reason,
                         DiagSink *sink) {
    const IrAttr *need = ir_op_attr(edge->consumer_func, "ingot.capacity");
    bool is_bound = reason == REASON_CAPACITY && need && need->kind == IR_ATTR_INT &&
                    need->i <= FUSION_MAX_SCRATCH_BYTES;
    if (is_bound)
        diag_write(sink, "memory_optimization: {max_scratch_bytes: %lld}",
                   (long long)enough_room(edges));
    else
        diag_write(sink, "mode: allow");
}

// All that keeps them apart, the reason that counts first.
static const char *reasons_text(IrModule *m, const FusionEdge *edge) {
    FusionReason first = fusion_edge_reason(edge);
    const char *text = edge->details[first];
    for (int i = 0; i < NUM_FUSION_REASONS; i++)
        if (i != (int)first && (edge->reasons >> i & 1))
            text = arena_printf(&m->arena, "%s; %s: %s", text, fusion_reason_name((FusionReason)i),
                                edge->details[i]);
    return text;
}

static const char *op_text(IrModule *m, const IrOp *op) {
    const char *loc = fusion_loc_text(m, op->loc);
    return arena_printf(&m->arena, "%s%s%s%s", ir_op_info(op->kind)->name, *loc ? " (" : "", loc,
                        *loc ? ")" : "");
}

// A forbidden pair in one kernel: a pass did not ask the rule, or cannot part them.
static Status hold_apart(IrModule *m, const FusionEdges *edges, FusionPattern pattern,
                         const FusionRule *rule, DiagSink *sink) {
    for (size_t i = 0; i < edges->num_items; i++) {
        const FusionEdge *e = &edges->items[i];
        if (e->pattern != pattern || !e->is_applied) continue;
        diag_report(sink, DIAG_ERROR, DIAG_P0061, rule_span(m, rule->at),
                    "rule %s is forbidden, but %s and %s are one kernel, @%s",
                    fusion_pattern_name(pattern), op_text(m, e->producer), op_text(m, e->consumer),
                    ir_symbol_name(e->func));
        diag_write(sink, "mode: allow");
        return STATUS_NO;
    }
    return STATUS_OK;
}

// Is the value a result of the function too, through views?
static bool is_returned(const IrValue *value) {
    FOR_EACH_USE(use, value) {
        const IrOp *op = use->owner;
        if (op->kind == IR_FUNC_RETURN) return true;
        if (fusion_is_view(op) && is_returned(&op->results[0])) return true;
    }
    return false;
}

// Of an atomic rule nothing is stored: neither the value in between, nor copies of a weight for it.
static Status hold_atomic(IrModule *m, const FusionEdge *e, const FusionRule *rule,
                          DiagSink *sink) {
    if (!rule->is_atomic || e->producer == e->consumer) return STATUS_OK;
    for (uint32_t r = 0; r < e->producer->num_results; r++) {
        if (!is_returned(&e->producer->results[r])) continue;
        Status status =
            refuse(m, rule, e->pattern,
                   arena_printf(&m->arena, "what %s makes is stored: @%s returns it",
                                op_text(m, e->producer), ir_symbol_name(e->func)),
                   fusion_reason_name(REASON_MULTI_USE), "another reader needs all of it", sink);
        diag_write(sink, "mode: require");
        return status;
    }
    return STATUS_OK;
}

// One kernel for the softmax and the weighted sum is an attention if it makes the scores too.
static Status hold_scores(IrModule *m, const FusionEdges *edges, const FusionEdge *e,
                          const FusionRule *rule, DiagSink *sink) {
    if (e->pattern != FUSION_ATTN_SOFTMAX || e->producer == e->consumer ||
        fusion_scores_of(e->producer))
        return STATUS_OK;
    FusionReason reason = NUM_FUSION_REASONS;
    const char *detail = "";
    for (size_t i = 0; i < edges->num_items; i++) {
        const FusionEdge *other = &edges->items[i];
        if (other->is_applied || other->consumer_func != e->func) continue;
        reason = fusion_edge_reason(other);
        detail = other->details[reason];
        break;
    }
    Status status =
        refuse(m, rule, e->pattern,
               arena_printf(&m->arena, "@%s reads its scores, it does not make them",
                            ir_symbol_name(e->func)),
               reason < NUM_FUSION_REASONS ? fusion_reason_name(reason) : "argument", detail, sink);
    diag_write(sink, "mode: allow");
    return status;
}

// Is it the form of attention that stores its scores which is asked for?
static bool may_be_stored(const IrModule *m, FusionPattern pattern, const FusionRule *rule) {
    return pattern == FUSION_ATTN_SOFTMAX && rule->flash == FUSION_FLASH_NO && !module_is_text(m);
}

static Status hold_rule(IrModule *m, const FusionEdges *edges, FusionPattern pattern,
                        DiagSink *sink) {
    FusionRule rule = fusion_rule(m, pattern);
    uint64_t num_applied = 0;
    if (rule.mode == FUSION_FORBID) return hold_apart(m, edges, pattern, &rule, sink);
    if (rule.mode != FUSION_REQUIRE) return STATUS_OK;
    for (size_t i = 0; i < fusion_num_notes(m); i++) {
        FusionNote note = fusion_note_get(m, i);
        if (note.pattern != pattern) continue;
        // Of an attention of text a note tells the form; that it is one kernel its edges show.
        bool is_form = pattern == FUSION_ATTN_SOFTMAX && module_is_text(m);
        num_applied += note.is_applied && !is_form;
        if (note.is_applied) continue;
        // A norm in the convolution's kernel that is not in its weights is still a norm.
        const char *are = pattern == FUSION_CONV_RELU_BN ? "are not folded into one" : "stay apart";
        Status status = refuse(m, &rule, pattern,
                               arena_printf(&m->arena, "@%s: %s %s", note.where, note.what, are),
                               note.reason, note.detail, sink);
        diag_write(sink, "mode: allow");
        return status;
    }
    for (size_t i = 0; i < edges->num_items; i++) {
        const FusionEdge *e = &edges->items[i];
        if (e->pattern != pattern) continue;
        num_applied += e->is_applied;
        if (e->is_applied) {
            TRY(hold_scores(m, edges, e, &rule, sink));
            TRY(hold_atomic(m, e, &rule, sink));
            continue;
        }
        if (may_be_stored(m, pattern, &rule)) continue;
        FusionReason reason = fusion_edge_reason(e);
        Status status =
            refuse(m, &rule, pattern,
                   arena_printf(&m->arena, "%s in @%s and %s in @%s stay apart",
                                op_text(m, e->producer), ir_symbol_name(e->producer_func),
                                op_text(m, fusion_uncopied_reader(m, e->consumer)),
                                ir_symbol_name(e->consumer_func)),
                   fusion_reason_name(reason), reasons_text(m, e), sink);
        write_remedy(edges, e, reason, sink);
        return status;
    }
    if (num_applied) return STATUS_OK;
    Status status = refuse(m, &rule, pattern, "nothing in the model is an instance of it",
                           "no candidate", "", sink);
    diag_write(sink, "mode: allow");
    return status;
}

Status pass_hold_fusion(IrModule *m, DiagSink *sink) {
    FusionEdges edges;
    fusion_edges_collect(m, &edges);
    mark_calls(m, &edges);
    Status status = STATUS_OK;
    for (int i = 0; i < NUM_FUSION_PATTERNS; i++) {
        Status one = hold_rule(m, &edges, (FusionPattern)i, sink);
        if (status == STATUS_OK) status = one;
    }
    fusion_edges_deinit(&edges);
    return status;
}
