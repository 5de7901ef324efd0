// See report_fill.h.
#include "compiler/report_fill.h"

// The bucket of a size in the arguments of an entry; 0: no argument has it.
static int64_t bucket_of(const PlanTables *t, const PlanEntry *entry, uint32_t name) {
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &t->ports[entry->first_port + i];
        for (uint32_t d = 0; port->kind == PORT_ARGUMENT && d < port->rank; d++)
            if (port->dim_names[d] == name) return port->dims[d];
    }
    return 0;
}

static void put_sizes(const PlanBuild *plan, const PlanEntry *entry, Arena *arena,
                      CompileEntry *into) {
    CompileSize *sizes = ARENA_ARRAY(arena, CompileSize, PLAN_MAX_SIZES);
    into->sizes = sizes;
    for (size_t i = 0; i < plan->num_sizes; i++) {
        const PlanSize *size = &plan->sizes[i];
        int64_t bucket = bucket_of(&plan->tables, entry, size->name);
        if (size->entry != entry->name || !bucket || into->num_sizes == PLAN_MAX_SIZES) continue;
        const char *strings = plan->strings.data;
        sizes[into->num_sizes++] = (CompileSize){.name = arena_strdup(arena, strings + size->name),
                                                 .set_by = arena_strdup(arena, strings + size->at),
                                                 .bucket = bucket,
                                                 .range = size->range};
    }
}

static bool calls(const PlanTables *t, const PlanEntry *entry, uint32_t kernel) {
    for (uint32_t s = 0; s < entry->num_steps; s++)
        if (t->steps[entry->first_step + s].kernel == kernel) return true;
    return false;
}

static void put_bytes(const PlanBuild *plan, const PlanEntry *entry, bool has_code,
                      CompileEntry *into) {
    const PlanTables *t = &plan->tables;
    for (uint32_t s = 0; s < entry->num_steps; s++) {
        const PlanStep *step = &t->steps[entry->first_step + s];
        for (uint32_t b = 0; b < t->kernels[step->kernel].num_buffers; b++) {
            const PlanBuffer *buffer = &t->buffers[step->first_buffer + b];
            if (buffer->space == SPACE_ARENA)
                into->arena_bytes = MAX(into->arena_bytes, buffer->offset + buffer->len_bytes);
        }
    }
    for (uint32_t k = 0; has_code && k < t->num_kernels; k++) {
        if (!calls(t, entry, k)) continue;
        bool is_shared = false;
        for (uint64_t e = 0; e < t->num_entries && !is_shared; e++)
            is_shared = &t->entries[e] != entry && calls(t, &t->entries[e], k);
        uint64_t bytes = t->kernel_code[k].len_bytes; // of the first level
        into->code_bytes += bytes;
        into->own_code_bytes += is_shared ? 0 : bytes;
        into->own_code_ns += is_shared ? 0 : plan->kernel_ns[k];
    }
}

// Entries of a kind follow each other, the smallest bucket first. A single sequence needs no batch.
static void put_range(const PlanTables *t, uint64_t e, CompileEntry *into) {
    const PlanEntry *entry = &t->entries[e];
    if (!entry->bucket_tokens) return;
    into->least = entry->is_batch ? 2 : 1;
    for (uint64_t i = 0; i < t->num_entries; i++) {
        if (t->entries[i].is_batch != entry->is_batch) continue;
        if (i < e) into->least = t->entries[i].bucket_tokens + 1;
        into->largest = MAX(into->largest, t->entries[i].bucket_tokens);
    }
}

void report_fill(const PlanBuild *plan, CompileReport *r) {
    const PlanTables *t = &plan->tables;
    r->kernels = ARENA_ARRAY(&r->arena, CompileKernel, t->num_kernels);
    for (uint64_t k = 0; k < t->num_kernels; k++)
        r->kernels[r->num_kernels++] =
            (CompileKernel){.name = arena_strdup(&r->arena, plan->kernel_names[k]),
                            .kind = arena_strdup(&r->arena, plan->kernel_kinds[k]),
                            .scratch_bytes = plan->kernel_scratch_bytes[k],
                            .code_ns = plan->kernel_ns[k],
                            .code_bytes = r->num_levels ? t->kernel_code[k].len_bytes : 0};
    for (uint64_t e = 0; e < t->num_entries; e++) {
        const PlanEntry *entry = &t->entries[e];
        uint32_t barriers = 0;
        for (uint32_t s = 0; s < entry->num_steps; s++)
            barriers += t->steps[entry->first_step + s].needs_barrier;
        CompileEntry *into = &r->entries[r->num_entries++];
        into->name = arena_strdup(&r->arena, plan->strings.data + entry->name);
        into->bucket_tokens = entry->bucket_tokens;
        into->is_batch = entry->is_batch;
        into->num_steps = entry->num_steps;
        into->num_barriers = barriers;
        put_sizes(plan, entry, &r->arena, into);
        put_bytes(plan, entry, r->num_levels > 0, into);
        put_range(t, e, into);
    }
    r->context_len_tokens = t->header.context_len_tokens;
    r->kv_bytes = t->header.kv_bytes;
    r->page_len_tokens = t->header.page_len_tokens;
    r->max_pages = t->header.max_pages;
    r->num_pages = t->header.num_pages;
    r->max_sequences = t->header.max_sequences;
}
