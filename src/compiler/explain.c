// Records of a compile as JSON; see explain.h.
#include "compiler/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check_table.h"
#include "ir/access.h"
#include "ir/print.h"
#include "passes/fusion.h"
#include "passes/pass.h"
#include "passes/primitive.h"
#include "passes/sizes.h"

// A value between two kernels is written, waited for and read.
static uint64_t stake_ns(const Explain *e, uint64_t bytes, uint64_t num_barriers) {
    return (uint64_t)((double)bytes / e->bytes_per_ns + (double)num_barriers * e->barrier_ns);
}

void explain_init(Explain *e, const Target *target) {
    double share = target_number_or(target, TARGET_REACHED_MEM, 1);
    *e = (Explain){.bytes_per_ns = target_number_or(target, TARGET_MEM_RATE, 1) * share,
                   .barrier_ns = target_number(target, TARGET_BARRIER_NS)};
}

Status explain_init_module(Explain *e, const IrModule *m, DiagSink *sink, Target *out_target) {
    CpuLevel level = (CpuLevel)0;
    DiagSink quiet;
    diag_sink_init(&quiet);
    if (pass_target_read(m, &quiet, &level) != STATUS_OK) level = (CpuLevel)0;
    diag_sink_deinit(&quiet);
    *e = (Explain){0};
    TRY(pass_machine_read(m, level, sink, out_target));
    explain_init(e, out_target);
    return STATUS_OK;
}

// ---- JSON

static void put_text(StrBuf *out, const char *key, const char *value) {
    strbuf_printf(out, "%s\"%s\":", out->len && out->data[out->len - 1] != '{' ? "," : "", key);
    strbuf_put_json_string(out, value, strlen(value));
}

static void put_number(StrBuf *out, const char *key, uint64_t value) {
    strbuf_printf(out, "%s\"%s\":%" PRIu64, out->len && out->data[out->len - 1] != '{' ? "," : "",
                  key, value);
}

static void put_bool(StrBuf *out, const char *key, bool value) {
    strbuf_printf(out, "%s\"%s\":%s", out->len && out->data[out->len - 1] != '{' ? "," : "", key,
                  value ? "true" : "false");
}

static void begin(StrBuf *out) {
    strbuf_puts(out, out->len && out->data[out->len - 1] == '}' ? ",{" : "{");
}

// {"op":"@rows_0:7","name":"linalg.generic","loc":"blk.0.attn_q.weight"}
static void put_op(IrModule *m, StrBuf *out, const char *key, const IrOp *func, const IrOp *op) {
    strbuf_printf(out, ",\"%s\":{", key);
    bool is_whole = op == func;
    put_text(out, "op",
             is_whole ? arena_printf(&m->arena, "@%s", ir_symbol_name(func))
                      : arena_printf(&m->arena, "@%s:%" PRIu32, ir_symbol_name(func),
                                     fusion_op_number(op)));
    const IrAttr *composite = is_whole ? ir_op_attr(op, "ingot.composite") : NULL;
    put_text(out, "name",
             composite && composite->kind == IR_ATTR_STRING ? composite->str
                                                            : ir_op_info(op->kind)->name);
    put_text(out, "loc", fusion_loc_text(m, op->loc));
    strbuf_putc(out, '}');
}

static bool is_func(const IrOp *op) {
    return op->kind == IR_FUNC_FUNC && ir_func_body(op);
}

static const char *class_of(const IrOp *func) {
    const IrAttr *kind = ir_op_attr(func, "ingot.kernel");
    return kind && kind->kind == IR_ATTR_STRING ? kind->str : kind ? "kernel" : NULL;
}

static bool is_init(const IrOp *func) {
    const char *class = class_of(func);
    return class && str_equal(class, "init");
}

// ---- rules

static void put_note(StrBuf *out, const FusionNote *note) {
    begin(out);
    put_bool(out, "applied", note->is_applied);
    put_text(out, "where", note->where);
    put_text(out, "what", note->what);
    if (!note->is_applied) put_text(out, "reason", note->reason);
    if (!note->is_applied || *note->detail) put_text(out, "detail", note->detail);
    strbuf_putc(out, '}');
}

static void put_rule(IrModule *m, const FusionEdges *edges, FusionPattern pattern, Explain *e) {
    FusionRule rule = fusion_rule(m, pattern);
    uint64_t applied = 0, apart = 0;
    StrBuf places = {0};
    for (size_t i = 0; i < fusion_num_notes(m); i++) {
        FusionNote note = fusion_note_get(m, i);
        if (note.pattern != pattern) continue;
        note.is_applied ? applied++ : apart++;
        put_note(&places, &note);
    }
    for (size_t i = 0; i < edges->num_items; i++) {
        const FusionEdge *edge = &edges->items[i];
        if (edge->pattern != pattern) continue;
        edge->is_applied ? applied++ : apart++;
        FusionReason reason = fusion_edge_reason(edge);
        FusionNote note = {.is_applied = edge->is_applied,
                           .where = ir_symbol_name(edge->func),
                           .what = arena_printf(&m->arena, "@%s -> @%s",
                                                ir_symbol_name(edge->producer_func),
                                                ir_symbol_name(edge->consumer_func)),
                           .reason = fusion_reason_name(reason),
                           .detail = edge->is_applied ? "" : edge->details[reason]};
        put_note(&places, &note);
    }
    begin(&e->rules);
    put_text(&e->rules, "pattern", fusion_pattern_name(pattern));
    put_text(&e->rules, "mode", fusion_mode_name(rule.mode));
    put_text(&e->rules, "recipe", rule.at ? rule.at : "");
    put_text(&e->rules, "outcome",
             apart     ? (applied ? "applied in part" : "not applied")
             : applied ? "applied"
                       : "no candidate");
    put_number(&e->rules, "num_applied", applied);
    put_number(&e->rules, "num_apart", apart);
    strbuf_printf(&e->rules, ",\"places\":[%s]}", places.data ? places.data : "");
    strbuf_deinit(&places);
}

// ---- layouts

// A record of a pass as it stands; beside bytes stands what moving them takes.
static void put_record(StrBuf *out, const IrAttr *record, const Explain *e) {
    strbuf_putc(out, '{');
    for (size_t i = 0; i < record->num_entries; i++) {
        const char *key = record->entries[i].name;
        const IrAttr *value = record->entries[i].attr;
        if (value->kind == IR_ATTR_STRING) {
            put_text(out, key, value->str);
        } else if (value->kind == IR_ATTR_INT) {
            put_number(out, key, (uint64_t)value->i);
            if (str_equal(key, "bytes"))
                put_number(out, "predicted_ns", stake_ns(e, (uint64_t)value->i, value->i > 0));
        } else if (value->kind == IR_ATTR_DICT) {
            strbuf_printf(out, "%s\"%s\":", i ? "," : "", key);
            put_record(out, value, e);
        } else if (value->kind == IR_ATTR_ARRAY) {
            strbuf_printf(out, "%s\"%s\":[", i ? "," : "", key);
            for (size_t k = 0; k < value->num_elems; k++) {
                if (value->elems[k]->kind != IR_ATTR_DICT) continue;
                if (k) strbuf_putc(out, ',');
                put_record(out, value->elems[k], e);
            }
            strbuf_putc(out, ']');
        }
    }
    strbuf_putc(out, '}');
}

static void put_layouts(const IrModule *m, Explain *e) {
    const IrAttr *notes = ir_op_attr(m->op, "ingot.layouts");
    for (size_t i = 0; notes && notes->kind == IR_ATTR_ARRAY && i < notes->num_elems; i++) {
        if (notes->elems[i]->kind != IR_ATTR_DICT) continue;
        if (e->layouts.len) strbuf_putc(&e->layouts, ',');
        put_record(&e->layouts, notes->elems[i], e);
    }
}

// ---- edges

static void put_reasons(StrBuf *out, IrModule *m, const FusionEdge *edge) {
    strbuf_puts(out, ",\"reasons\":[");
    bool is_first = true;
    for (int i = 0; i < NUM_FUSION_REASONS; i++) {
        if (!(edge->reasons >> i & 1)) continue;
        FusionReason reason = (FusionReason)i;
        strbuf_puts(out, is_first ? "{" : ",{");
        is_first = false;
        put_text(out, "reason", fusion_reason_name(reason));
        put_text(out, "meaning", fusion_reason_meaning(reason));
        put_text(out, "detail", edge->details[i]);
        put_text(out, "write", fusion_edge_remedy(m, edge, reason));
        strbuf_putc(out, '}');
    }
    strbuf_putc(out, ']');
}

static void put_edge(IrModule *m, const FusionEdge *edge, Explain *e) {
    StrBuf *out = &e->edges;
    const char *at = edge->pattern < NUM_FUSION_PATTERNS ? fusion_rule(m, edge->pattern).at : NULL;
    begin(out);
    put_number(out, "id", e->num_edges++);
    put_text(out, "func", ir_symbol_name(edge->func));
    put_op(m, out, "producer", edge->producer_func, edge->producer);
    put_op(m, out, "consumer", edge->consumer_func, edge->consumer);
    put_text(out, "pattern", fusion_pattern_name(edge->pattern));
    put_text(out, "recipe", at ? at : "");
    put_bool(out, "applied", edge->is_applied);
    put_text(out, "reason", fusion_reason_name(fusion_edge_reason(edge)));
    put_reasons(out, m, edge);
    put_number(out, "bytes", edge->moved);
    put_number(out, "predicted_ns", stake_ns(e, edge->moved, 1));
    put_number(out, "count", edge->count);
    strbuf_putc(out, '}');
    e->num_applied += edge->is_applied;
    if (!edge->is_applied) e->stake_bytes += edge->moved * edge->count;
}

// ---- access

typedef struct AccessWalk {
    IrModule *m;
    Explain *e;
    const IrOp *func;
} AccessWalk;

static void put_numbers(StrBuf *out, const char *key, const int64_t *values, uint32_t n) {
    strbuf_printf(out, ",\"%s\":[", key);
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_putc(out, ',');
        if (values[i] == IR_DYNAMIC)
            strbuf_puts(out, "null");
        else
            strbuf_printf(out, "%" PRId64, values[i]);
    }
    strbuf_putc(out, ']');
}

static const IrOp *top_of(const IrOp *op, const IrOp *func) {
    while (ir_op_parent(op) != func) op = ir_op_parent(op);
    return op;
}

// What would make a strided operand one that is walked element by element.
static const char *access_remedy(IrModule *m, const IrAccess *a) {
    if (!a->is_flagged || (a->inner != IR_ACCESS_STRIDED && a->inner != IR_ACCESS_STRIDE_K))
        return "";
    for (uint32_t loop = a->num_loops; loop-- > 0;)
        if (a->strides[loop] == 1 && a->trips[loop] != 1)
            return arena_printf(&m->arena,
                                "interchange: with loop d%" PRIu32 " innermost the "
                                "stride is 1",
                                loop);
    return "transpose or pack it: no loop walks it element by element";
}

static void put_access(AccessWalk *w, const IrOp *op, uint32_t operand, const IrAccess *access) {
    StrBuf *out = &w->e->access, map = {0};
    char class[32];
    ir_print_affine_map(access->map, &map);
    begin(out);
    put_text(out, "func", ir_symbol_name(w->func));
    put_op(w->m, out, "at", w->func, top_of(op, w->func));
    put_text(out, "name", ir_op_info(op->kind)->name);
    put_number(out, "operand", operand);
    put_bool(out, "writes", access->is_write);
    put_text(out, "map", map.data);
    put_numbers(out, "trips", access->trips, access->num_loops);
    put_numbers(out, "strides", access->strides, access->num_loops);
    put_text(out, "inner", ir_access_class_name(access, class));
    put_number(out, "used_percent", access->used_percent);
    put_number(out, "align_bytes", access->align_bytes);
    if (access->inner == IR_ACCESS_PIECEWISE) {
        put_numbers(out, "pieces", access->piece_strides, 2);
        put_number(out, "piece_len", (uint64_t)access->piece_len);
    }
    put_bool(out, "flagged", access->is_flagged);
    put_text(out, "write", access_remedy(w->m, access));
    strbuf_putc(out, '}');
    strbuf_deinit(&map);
    w->e->num_access++;
    w->e->num_flagged += access->is_flagged;
}

static void walk_access(IrOp *op, void *ctx) {
    AccessWalk *w = ctx;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        IrAccess access;
        if (op->kind == IR_LINALG_FILL) continue;
        if (ir_access(w->m, op, i, IR_ACCESS_LINE_BYTES, &access)) put_access(w, op, i, &access);
    }
}

// ---- versions of entries whose sizes vary

static void put_version(const IrOp *func, Explain *e) {
    SizeRanges ranges;
    DiagSink quiet;
    diag_sink_init(&quiet);
    bool is_read = size_ranges_read(func, &quiet, &ranges) == STATUS_OK;
    diag_sink_deinit(&quiet);
    const IrAttr *entry = ir_op_attr(func, "ingot.entry");
    if (!is_read || !entry || entry->kind != IR_ATTR_STRING || !ranges.num) return;
    double mean = 1, least_share = 1;
    begin(&e->versions);
    put_text(&e->versions, "entry", entry->str);
    put_text(&e->versions, "func", ir_symbol_name(func));
    strbuf_puts(&e->versions, ",\"sizes\":[");
    for (uint32_t i = 0; i < ranges.num; i++) {
        const SizeRange *range = &ranges.of[i];
        int64_t bucket = MAX(size_bucket_of(func, range->name), 1);
        int64_t least = bucket_range_least(&range->is, bucket);
        mean *= (double)(least + bucket) / 2 / (double)bucket;
        least_share *= (double)least / (double)bucket;
        strbuf_puts(&e->versions, i ? ",{" : "{");
        put_text(&e->versions, "name", range->name);
        put_number(&e->versions, "least", (uint64_t)least);
        put_number(&e->versions, "bucket", (uint64_t)bucket);
        put_text(&e->versions, "set_by", range->at);
        strbuf_putc(&e->versions, '}');
    }
    strbuf_putc(&e->versions, ']');
    put_number(&e->versions, "padding_mean_percent", (uint64_t)((1 - mean) * 100 + 0.5));
    put_number(&e->versions, "padding_most_percent", (uint64_t)((1 - least_share) * 100 + 0.5));
    strbuf_putc(&e->versions, '}');
}

void explain_tensors(IrModule *m, Explain *e) {
    FusionEdges edges;
    FOR_EACH_OP(func, ir_module_body(m))
    if (is_func(func)) put_version(func, e);
    fusion_edges_collect(m, &edges);
    for (size_t i = 0; i < edges.num_items; i++) put_edge(m, &edges.items[i], e);
    for (int i = 0; i < NUM_FUSION_PATTERNS; i++) put_rule(m, &edges, (FusionPattern)i, e);
    fusion_edges_deinit(&edges);
    put_layouts(m, e);
    check_table_put_json(m, &e->checks, &e->num_checked);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func) || is_init(func)) continue;
        AccessWalk walk = {m, e, func};
        FOR_EACH_OP(op, ir_func_body(func)) ir_walk(op, walk_access, &walk);
    }
}

// ---- buffers and copies

static uint64_t bytes_of(const IrType *type) {
    return ir_type_is_static(type) ? (uint64_t)ir_type_num_elems(type) * ir_type_bytes(type->elem)
                                   : 0;
}

typedef struct BufferWalk {
    IrModule *m;
    Explain *e;
    const IrOp *func;
    uint64_t count;
    uint32_t *place; // of each op in its function, by number
    uint32_t num_places;
} BufferWalk;

static void walk_places(IrOp *op, void *ctx) {
    BufferWalk *w = ctx;
    w->place[op->index] = w->num_places++;
}

static const char *type_text(IrModule *m, const IrType *type) {
    StrBuf text = {0};
    ir_print_type(type, &text);
    const char *kept = arena_strdup(&m->arena, text.data);
    strbuf_deinit(&text);
    return kept;
}

static const char *reason_text(const IrOp *op, const char *name) {
    const IrAttr *reason = ir_op_attr(op, name);
    return reason && reason->kind == IR_ATTR_STRING ? reason->str : "";
}

// First and last call or op that names the buffer, by its function's order; inside a kernel those
// that store and load it.
static void put_ends(BufferWalk *w, StrBuf *out, const IrOp *alloc) {
    const char *first = "", *last = "";
    uint32_t first_at = UINT32_MAX, last_at = 0;
    const IrValue *todo[32] = {&alloc->results[0]};
    for (uint32_t n = 1, i = 0; i < n; i++) FOR_EACH_USE(use, todo[i]) {
            const IrOp *op = class_of(w->func) ? use->owner : top_of(use->owner, w->func);
            if (use->owner->num_results && use->owner->results[0].type->kind == IR_TYPE_MEMREF) {
                if (n < ARRAY_LEN(todo)) todo[n++] = &use->owner->results[0];
                continue;
            }
            const IrOp *callee = op->kind == IR_FUNC_CALL ? ir_call_callee(w->m, op) : NULL;
            const char *name = callee ? arena_printf(&w->m->arena, "@%s", ir_symbol_name(callee))
                                      : ir_op_info(op->kind)->name;
            uint32_t at = w->place[op->index];
            if (at < first_at) {
                first_at = at;
                first = name;
            }
            if (at >= last_at) {
                last_at = at;
                last = name;
            }
        }
    put_text(out, "producer", first);
    put_text(out, "consumer", last);
}

static void begin_buffer(BufferWalk *w, StrBuf *out, const IrType *type) {
    begin(out);
    put_text(out, "func", ir_symbol_name(w->func));
    put_bool(out, "in_kernel", class_of(w->func) != NULL);
    put_text(out, "type", type_text(w->m, type));
    put_number(out, "bytes", bytes_of(type));
}

static void walk_allocs(IrOp *op, void *ctx) {
    BufferWalk *w = ctx;
    if (op->kind != IR_MEMREF_ALLOC && op->kind != IR_MEMREF_ALLOCA) return;
    begin_buffer(w, &w->e->buffers, op->results[0].type);
    put_text(&w->e->buffers, "reason", reason_text(op, "ingot.boundary"));
    put_ends(w, &w->e->buffers, op);
    put_number(&w->e->buffers, "count", w->count);
    strbuf_putc(&w->e->buffers, '}');
    if (class_of(w->func)) return;
    w->e->num_buffers += w->count;
    w->e->buffer_bytes += bytes_of(op->results[0].type) * w->count;
}

static void walk_copies(IrOp *op, void *ctx) {
    BufferWalk *w = ctx;
    if (op->kind != IR_MEMREF_COPY) return;
    const IrType *type = ir_op_operand(op, 0)->type;
    begin_buffer(w, &w->e->copies, type);
    put_text(&w->e->copies, "reason", reason_text(op, "ingot.copy"));
    put_number(&w->e->copies, "count", w->count);
    strbuf_putc(&w->e->copies, '}');
    w->e->num_copies += w->count;
    w->e->copy_bytes += bytes_of(type) * w->count;
}

// Buffers between kernels are those of functions that are none.
static void put_buffers(IrModule *m, bool in_kernels, Explain *e) {
    uint64_t *counts = fusion_func_counts(m);
    BufferWalk walk = {.m = m, .e = e, .place = base_alloc(m->num_ops, sizeof *walk.place)};
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func) || is_init(func)) continue;
        walk.func = func;
        walk.count = counts[func->index];
        walk.num_places = 0;
        if ((class_of(func) != NULL) == in_kernels) {
            FOR_EACH_OP(op, ir_func_body(func)) ir_walk(op, walk_places, &walk);
            FOR_EACH_OP(op, ir_func_body(func)) ir_walk(op, walk_allocs, &walk);
        }
        if (in_kernels) continue;
        FOR_EACH_OP(op, ir_func_body(func)) ir_walk(op, walk_copies, &walk);
        e->num_functions += class_of(func) != NULL;
        e->num_calls += class_of(func) ? walk.count : 0;
    }
    free(walk.place);
    free(counts);
}

void explain_buffers(IrModule *m, Explain *e) {
    put_buffers(m, false, e);
}

void explain_scratch(IrModule *m, Explain *e) {
    put_buffers(m, true, e);
}

// ---- kernels

typedef struct Scalar {
    StrBuf *out;
    uint32_t num;
} Scalar;

static void put_scalar_loop(IrOp *op, void *ctx) {
    Scalar *s = ctx;
    const char *why = reason_text(op, "ingot.fallback");
    if (op->kind == IR_FUNC_FUNC || !*why) return;
    strbuf_printf(s->out, "%s\"%s\"", s->num++ ? "," : "", why);
}

void explain_kernels(IrModule *m, const char *level, Explain *e) {
    e->level = level;
    explain_scratch(m, e);
    FOR_EACH_OP(func, ir_module_body(m)) {
        if (!is_func(func) || !class_of(func) || is_init(func)) continue;
        const char *why = reason_text(func, "ingot.fallback");
        StrBuf *out = &e->kernels;
        begin(out);
        put_text(out, "name", ir_symbol_name(func));
        put_text(out, "kind", class_of(func));
        put_text(out, "wanted", primitive_wanted(func));
        put_text(out, "got", reason_text(func, "ingot.primitive"));
        put_text(out, "fallback", why);
        put_number(out, "scratch_bytes", kernel_scratch_bytes(func));
        strbuf_puts(out, ",\"scalar_loops\":[");
        Scalar scalar = {.out = out};
        FOR_EACH_OP(op, ir_func_body(func)) ir_walk(op, put_scalar_loop, &scalar);
        strbuf_puts(out, "]}");
        e->num_kernels++;
        e->num_fallbacks += *why != 0;
    }
}

// ---- the whole

static void put_array(StrBuf *out, const char *key, const StrBuf *elements) {
    strbuf_printf(out, ",\"%s\":[", key);
    strbuf_append(out, elements->data ? elements->data : "", elements->len);
    strbuf_putc(out, ']');
}

void explain_write(const Explain *e, StrBuf *out) {
    strbuf_puts(out, "{\"schema\":\"ingot-explain-compile\",\"schema_version\":1,\"summary\":{");
    put_text(out, "cpu_level", e->level ? e->level : "");
    put_number(out, "num_kernels", e->num_kernels);
    put_number(out, "num_fallbacks", e->num_fallbacks);
    put_number(out, "num_edges", e->num_edges);
    put_number(out, "num_applied", e->num_applied);
    put_number(out, "stake_bytes", e->stake_bytes);
    put_number(out, "num_buffers", e->num_buffers);
    put_number(out, "buffer_bytes", e->buffer_bytes);
    put_number(out, "num_copies", e->num_copies);
    put_number(out, "copy_bytes", e->copy_bytes);
    put_number(out, "num_operands", e->num_access);
    put_number(out, "num_flagged", e->num_flagged);
    put_number(out, "num_checked", e->num_checked);
    strbuf_putc(out, '}');
    if (e->versions.len) put_array(out, "versions", &e->versions);
    put_array(out, "rules", &e->rules);
    put_array(out, "layouts", &e->layouts);
    put_array(out, "checks", &e->checks);
    put_array(out, "edges", &e->edges);
    put_array(out, "access", &e->access);
    put_array(out, "buffers", &e->buffers);
    put_array(out, "copies", &e->copies);
    put_array(out, "kernels", &e->kernels);
    strbuf_putc(out, '}');
}

ExplainCost explain_cost(const Explain *e) {
    return (ExplainCost){.num_kernels = e->num_functions,
                         .num_calls = e->num_calls,
                         .num_buffers = e->num_buffers,
                         .buffer_bytes = e->buffer_bytes,
                         .num_copies = e->num_copies,
                         .copy_bytes = e->copy_bytes,
                         .moved_bytes = e->stake_bytes + 2 * e->copy_bytes};
}

void explain_deinit(Explain *e) {
    StrBuf *parts[] = {&e->versions, &e->rules,   &e->layouts, &e->checks, &e->edges,
                       &e->access,   &e->buffers, &e->copies,  &e->kernels};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) strbuf_deinit(parts[i]);
}
