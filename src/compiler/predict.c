// Runs the cost model over entries; see predict.h.
#include "compiler/predict.h"

#include <string.h>

typedef struct Predictor {
    IrModule *m;
    const Target *target;
    const PassConfig *config;
    Arena *arena;
    KernelUses uses[NUM_PREDICT_POSITIONS];
    bool is_counted; // vectors are; else structured ops are estimated
    double one, all; // units that work: a thread is a core, anything else has them all at once
} Predictor;

static const KernelUse *same_use(const KernelUses *uses, size_t i, const KernelUse *use) {
    // Both positions have the same calls in the same order, but calls that differ in their scalars
    // only may have been counted apart.
    if (i < uses->num_uses && uses->uses[i].entry == use->entry &&
        str_equal(uses->uses[i].kernel, use->kernel))
        return &uses->uses[i];
    return kernel_uses_find(uses, use->kernel);
}

static void predict_kernel(const Predictor *p, size_t i, PredictKernel *out) {
    const KernelUse *use = &p->uses[PREDICT_EMPTY].uses[i];
    *out =
        (PredictKernel){.name = arena_strdup(p->arena, use->kernel), .num_calls = use->num_calls};
    const IrOp *kernel = ir_symbol_find(p->m, use->kernel);
    KernelCount *count =
        p->is_counted ? kernel_count_create(p->m, kernel, p->target) : NULL;
    for (int at = 0; at < NUM_PREDICT_POSITIONS; at++) {
        CostWork work;
        const KernelUse *here = same_use(&p->uses[at], i, use);
        if (count)
            kernel_count_call(count, kernel, here ? here : use, &p->uses[at], &work);
        else
            kernel_work_estimate(p->m, kernel, here ? here : use, &p->uses[at], p->target, &work);
        Cost one = cost_predict(p->target, &work, p->one);
        out->one_ns[at] = one.ns;
        out->all_ns[at] = cost_predict(p->target, &work, p->all).ns;
        if (at != PREDICT_EMPTY) continue;
        out->work = work;
        out->bound = one.bound;
    }
    if (count) kernel_count_destroy(count);
}

static void predict_entry(const Predictor *p, const IrOp *entry, uint32_t num_barriers,
                          PredictEntry *out) {
    const KernelUses *uses = &p->uses[PREDICT_EMPTY];
    size_t num = 0;
    for (size_t i = 0; i < uses->num_uses; i++) num += uses->uses[i].entry == entry;
    out->kernels = ARENA_ARRAY(p->arena, PredictKernel, MAX(num, (size_t)1));
    for (size_t i = 0; i < uses->num_uses; i++) {
        if (uses->uses[i].entry != entry) continue;
        PredictKernel *k = &out->kernels[out->num_kernels++];
        predict_kernel(p, i, k);
        for (int at = 0; at < NUM_PREDICT_POSITIONS; at++) {
            out->one_ns[at] += k->num_calls * k->one_ns[at];
            out->all_ns[at] += k->num_calls * k->all_ns[at];
        }
    }
    if (p->config->threads > 1)
        for (int at = 0; at < NUM_PREDICT_POSITIONS; at++)
            out->all_ns[at] += num_barriers * p->target->numbers[TARGET_BARRIER_NS];
}

// The function of an entry. Versions of one name follow each other in the module as in the plan.
static const IrOp *entry_function(IrModule *m, const PlanBuild *build, uint64_t e) {
    const PlanEntry *entry = &build->tables.entries[e];
    if (entry->bucket_tokens > 0) return ir_symbol_find(m, build->strings.data + entry->name);
    FOR_EACH_OP(op, ir_module_body(m)) {
        bool is_entry =
            op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "sym_visibility");
        if (is_entry && e-- == 0) return op;
    }
    return NULL;
}

static void begin(Predictor *p, Prediction *out) {
    bool is_cpu = p->target->kind == TARGET_CPU;
    double units = target_number_or(p->target, TARGET_UNITS, 1);
    p->one = is_cpu ? 1 : units;
    p->all = is_cpu ? p->config->threads : units;
    *out = (Prediction){.target = arena_strdup(p->arena, p->target->name),
                        .level = p->target->has_cpu_level
                                     ? cpu_level_info(p->target->cpu_level)->name
                                     : NULL,
                        .threads = p->config->threads,
                        .m = p->m};
    int64_t context = p->config->page_len_tokens * p->config->max_pages;
    kernel_uses_collect(p->m, 0, &p->uses[PREDICT_EMPTY]);
    // The last call that fits: what it reads is bounded by the context whatever its bucket.
    kernel_uses_collect(p->m, MAX(context - 1, 0), &p->uses[PREDICT_FULL]);
}

static void end(Predictor *p) {
    for (int at = 0; at < NUM_PREDICT_POSITIONS; at++) kernel_uses_deinit(&p->uses[at]);
}

void predict_module(IrModule *m, const Target *target, const PassConfig *config,
                    const PlanBuild *build, Arena *arena, Prediction *out) {
    const PlanTables *plan = &build->tables;
    Predictor p = {.m = m,
                   .target = target,
                   .config = config,
                   .arena = arena,
                   .is_counted = target->has_cpu_level};
    begin(&p, out);
    out->entries = ARENA_ARRAY(arena, PredictEntry, MAX(plan->num_entries, (uint64_t)1));
    for (uint64_t e = 0; e < plan->num_entries; e++) {
        const PlanEntry *entry = &plan->entries[e];
        PredictEntry *into = &out->entries[out->num_entries++];
        *into = (PredictEntry){.name = arena_strdup(arena, build->strings.data + entry->name),
                               .bucket_tokens = entry->bucket_tokens,
                               .is_batch = entry->is_batch};
        uint32_t barriers = 0;
        for (uint32_t s = 0; s < entry->num_steps; s++)
            barriers += plan->steps[entry->first_step + s].needs_barrier;
        const IrOp *func = entry_function(m, build, e);
        if (func) predict_entry(&p, func, barriers, into);
    }
    end(&p);
}

bool predict_buffers(IrModule *m, const Target *target, const PassConfig *config, bool is_counted,
                     Arena *arena, Prediction *out) {
    uint32_t num_uses = 0;
    if (!kernel_uses_bounded(m)) return false;
    Predictor p = {
        .m = m, .target = target, .config = config, .arena = arena, .is_counted = is_counted};
    begin(&p, out);
    const KernelUses *uses = &p.uses[PREDICT_EMPTY];
    out->entries = ARENA_ARRAY(arena, PredictEntry, uses->num_uses + 1);
    for (size_t i = 0; i < uses->num_uses; i++) {
        const IrOp *entry = uses->uses[i].entry;
        num_uses += uses->uses[i].num_calls;
        if (i + 1 < uses->num_uses && uses->uses[i + 1].entry == entry) continue;
        PredictEntry *into = &out->entries[out->num_entries++];
        *into = (PredictEntry){.name = arena_strdup(arena, ir_symbol_name(entry))};
        predict_entry(&p, entry, num_uses, into);
        num_uses = 0;
    }
    end(&p);
    return true;
}

// ---------------------------------------------------------------- JSON

static void put_times(StrBuf *out, const char *key, const double *ns) {
    strbuf_printf(out, "\"%s\":[%.0f,%.0f]", key, ns[PREDICT_EMPTY], ns[PREDICT_FULL]);
}

static void put_kernel(StrBuf *out, const PredictKernel *k) {
    strbuf_puts(out, "{\"name\":");
    strbuf_put_json_string(out, k->name, strlen(k->name));
    strbuf_printf(out, ",\"class\":\"%s\",\"calls\":%u,\"bound\":\"%s\",",
                  cost_class_name(k->work.class), k->num_calls, k->bound);
    put_times(out, "one_thread_ns", k->one_ns);
    strbuf_putc(out, ',');
    put_times(out, "all_threads_ns", k->all_ns);
    strbuf_puts(out, ",\"ops\":{");
    for (int i = 0; i < NUM_COST_OPS; i++)
        strbuf_printf(out, "%s\"%s\":%.0f", i ? "," : "", cost_op_name((CostOp)i), k->work.ops[i]);
    strbuf_puts(out, "},\"bytes\":{");
    for (int i = 0; i < NUM_COST_LEVELS; i++)
        strbuf_printf(out, "%s\"%s\":%.0f", i ? "," : "", cost_level_name((CostLevel)i),
                      k->work.bytes[i]);
    strbuf_printf(out, "},\"registers\":%.0f}", k->work.live_vectors);
}

static void put_value(StrBuf *out, const IrNamedAttr *entry) {
    strbuf_put_json_string(out, entry->name, strlen(entry->name));
    strbuf_putc(out, ':');
    if (entry->attr->kind == IR_ATTR_INT)
        strbuf_printf(out, "%lld", (long long)entry->attr->i);
    else if (entry->attr->kind == IR_ATTR_STRING)
        strbuf_put_json_string(out, entry->attr->str, entry->attr->str_len);
    else
        strbuf_puts(out, "null");
}

// Kernels with ingot.candidates: name, and the candidates, the chosen one first.
static void put_schedules(StrBuf *out, const IrModule *m) {
    bool is_first = true;
    for (const IrOp *op = ir_op_block(m->op, 0)->first; op; op = op->next) {
        const IrAttr *list = ir_op_attr(op, "ingot.candidates");
        if (!list) continue;
        strbuf_puts(out, is_first ? "{\"kernel\":" : ",{\"kernel\":");
        strbuf_put_json_string(out, ir_symbol_name(op), strlen(ir_symbol_name(op)));
        const IrAttr *key = ir_op_attr(op, "ingot.key");
        if (key) {
            strbuf_puts(out, ",\"key\":");
            strbuf_put_json_string(out, key->str, key->str_len);
        }
        strbuf_puts(out, ",\"candidates\":[");
        is_first = false;
        for (size_t i = 0; i < list->num_elems; i++) {
            const IrAttr *dict = list->elems[i];
            strbuf_puts(out, i ? ",{" : "{");
            for (size_t k = 0; dict->kind == IR_ATTR_DICT && k < dict->num_entries; k++) {
                if (k) strbuf_putc(out, ',');
                put_value(out, &dict->entries[k]);
            }
            strbuf_putc(out, '}');
        }
        strbuf_puts(out, "]}");
    }
}

void predict_put_json(const Prediction *p, StrBuf *out) {
    strbuf_puts(out, "{\"target\":");
    strbuf_put_json_string(out, p->target, strlen(p->target));
    if (p->level) strbuf_printf(out, ",\"level\":\"%s\"", p->level);
    strbuf_printf(out, ",\"threads\":%u,\"entries\":[", p->threads);
    for (size_t e = 0; e < p->num_entries; e++) {
        const PredictEntry *entry = &p->entries[e];
        strbuf_printf(out, "%s{\"bucket_tokens\":%u,", e ? "," : "", entry->bucket_tokens);
        if (entry->is_batch) strbuf_printf(out, "\"sequences\":%u,", entry->bucket_tokens);
        put_times(out, "one_thread_ns", entry->one_ns);
        strbuf_putc(out, ',');
        put_times(out, "all_threads_ns", entry->all_ns);
        strbuf_puts(out, ",\"kernels\":[");
        for (size_t k = 0; k < entry->num_kernels; k++) {
            if (k) strbuf_putc(out, ',');
            put_kernel(out, &entry->kernels[k]);
        }
        strbuf_puts(out, "]}");
    }
    strbuf_puts(out, "],\"schedules\":[");
    put_schedules(out, p->m);
    strbuf_puts(out, "]}");
}
