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
                                                 .range = *size};
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
    }
    r->context_len_tokens = t->header.context_len_tokens;
    r->kv_bytes = t->header.kv_bytes;
    r->page_len_tokens = t->header.page_len_tokens;
    r->max_pages = t->header.max_pages;
    r->num_pages = t->header.num_pages;
    r->max_sequences = t->header.max_sequences;
}
