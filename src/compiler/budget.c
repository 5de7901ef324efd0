// What a plan over its bound is refused with; see budget.h. The changes proposed are computed from
// the arithmetic of the plan: a change takes at least what the part it shrinks loses, as no other
// part grows with fewer pages, narrower caches or fewer threads.
#include "compiler/budget.h"

#include <inttypes.h>
#include <string.h>

#include "abi/plan_size.h"

// Fewer pages of the KV cache for each of `sequences`: the most of one that fits; 0 if none does.
// Relations may leave fewer pages than that for all of them: then the change saves at least so
// much.
static uint64_t pages_that_fit(const PlanHeader *header, uint64_t excess, uint64_t sequences) {
    uint64_t pages = header->max_pages, page_bytes = header->kv_bytes / header->num_pages;
    uint64_t before = plan_resident_bytes(header->kv_bytes);
    for (; pages > 0; pages--) {
        uint64_t after = plan_resident_bytes(page_bytes * pages * sequences);
        if (after <= before && before - after >= excess) break;
    }
    return pages;
}

static void propose_context(const Recipe *recipe, const PlanHeader *header, uint64_t excess,
                            StrBuf *out) {
    if (header->max_pages == 0) return;
    uint64_t tokens =
        pages_that_fit(header, excess, header->max_sequences) * header->page_len_tokens;
    if (tokens == 0 || tokens < (uint64_t)recipe->seq_len.max) return;
    strbuf_printf(out, "%skv_cache_seq_len: {max: %" PRIu64 "}", out->len ? " | " : "", tokens);
}

// Fewer sequences at once, each as long as before.
static void propose_batch(const Recipe *recipe, const PlanHeader *header, uint64_t excess,
                          StrBuf *out) {
    uint32_t num = header->max_sequences;
    while (num > 0 && pages_that_fit(header, excess, num) < header->max_pages) num--;
    if (num == 0 || num == header->max_sequences) return;
    bool is_below = num < (uint64_t)recipe->batch_size.min;
    strbuf_printf(out, "%sbatch_size: {%smax: %" PRIu32 "}", out->len ? " | " : "",
                  is_below ? "min: 1, " : "", num);
}

static void propose_narrow_cache(const Recipe *recipe, const PlanHeader *header, uint64_t excess,
                                 StrBuf *out) {
    if (header->max_pages == 0 || !str_equal(recipe->kv, "f32")) return;
    uint64_t before = plan_resident_bytes(header->kv_bytes);
    if (before - plan_resident_bytes(header->kv_bytes / 2) < excess) return;
    strbuf_printf(out, "%skv_cache: f16", out->len ? " | " : "");
}

static void propose_threads(const PlanHeader *header, uint64_t excess, StrBuf *out) {
    PlanHeader fewer = *header;
    uint64_t before = plan_space_bytes(header, SPACE_SCRATCH);
    while (fewer.max_threads > 0 && before - plan_space_bytes(&fewer, SPACE_SCRATCH) < excess)
        fewer.max_threads--;
    if (fewer.max_threads == 0) return;
    strbuf_printf(out, "%sthreads: %" PRIu32, out->len ? " | " : "", fewer.max_threads);
}

static DiagSpan span_of_entry(IrModule *m) {
    FOR_EACH_OP(op, ir_module_body(m)) {
        bool is_entry =
            op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "sym_visibility");
        if (is_entry) return ir_loc_span(op->loc);
    }
    return ir_loc_span(m->op->loc);
}

Status budget_check(const Recipe *recipe, IrModule *m, const PlanHeader *header,
                    const CompileReport *report, DiagSink *sink) {
    uint64_t bound = recipe ? (uint64_t)recipe->max_memory_bytes : 0, need = report->total_bytes;
    if (need > PLAN_MAX_SPACE_BYTES) {
        Status status =
            diag_error(sink, DIAG_M0001, span_of_entry(m),
                       "the plan takes %" PRIu64 " bytes, more than any machine has", need);
        (void)status;
        return STATUS_LIMIT;
    }
    if (bound == 0 || need <= bound) return STATUS_OK;
    diag_report(sink, DIAG_ERROR, DIAG_M0001, recipe->spans[RECIPE_MAX_MEMORY],
                "the plan takes %" PRIu64 " bytes, %" PRIu64 " more than the %" PRIu64
                " that max_memory_gb allows",
                need, need - bound, bound);
    StrBuf parts = {0}, changes = {0};
    for (size_t i = 0; i < report->num_parts; i++)
        if (!report->parts[i].is_outside)
            strbuf_printf(&parts, "%s%s %" PRIu64, parts.len ? ", " : "", report->parts[i].name,
                          report->parts[i].bytes);
    diag_evidence(sink, "%s", parts.data);
    propose_threads(header, need - bound, &changes);
    propose_context(recipe, header, need - bound, &changes);
    propose_batch(recipe, header, need - bound, &changes);
    propose_narrow_cache(recipe, header, need - bound, &changes);
    strbuf_printf(&changes, "%smax_memory_gb: \"%" PRIu64 " B\"", changes.len ? " | " : "", need);
    diag_write(sink, "%s", changes.data);
    strbuf_deinit(&parts);
    strbuf_deinit(&changes);
    return STATUS_LIMIT;
}
