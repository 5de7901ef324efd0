// Sizes of what a plan occupies when it runs; see plan_size.h.
#include "abi/plan_size.h"

#include "abi/kernel_abi.h"

uint64_t plan_resident_bytes(uint64_t bytes) {
    bool is_huge = bytes >= PLAN_HUGE_FROM_BYTES;
    return align_up(bytes, is_huge ? (uint64_t)ARTIFACT_HUGE_PAGE_BYTES : ARTIFACT_PAGE_BYTES);
}

// Workers' scratches lie on pages of their own: no cache line or page is shared by two of them.
uint64_t plan_scratch_stride_bytes(const PlanHeader *plan) {
    return align_up(plan->scratch_bytes, ARTIFACT_PAGE_BYTES);
}

uint64_t plan_space_bytes(const PlanHeader *plan, PlanSpace space) {
    switch (space) {
    case SPACE_WEIGHTS: return plan_resident_bytes(plan->weights_bytes);
    case SPACE_ARENA: return plan_resident_bytes(plan->arena_bytes);
    case SPACE_KV: return plan_resident_bytes(plan->kv_bytes);
    case SPACE_SCRATCH:
        return plan_resident_bytes(plan_scratch_stride_bytes(plan) * plan->max_threads);
    case SPACE_TOKENS: return plan_resident_bytes(plan->io_bytes);
    case SPACE_STARTS:
    case SPACE_PAGES:
    case SPACE_LOGITS:
    case SPACE_PORTS: return 0;
    case NUM_PLAN_SPACES: break;
    }
    BUG("space %d does not exist", (int)space);
}

PlanIoLayout plan_io_layout(const PlanHeader *plan, uint32_t largest_bucket) {
    const uint64_t align = PLAN_BUFFER_ALIGN_BYTES;
    uint64_t num = plan->max_sequences;
    PlanIoLayout io = {0};
    io.tokens_bytes = MAX(largest_bucket, num) * sizeof(int32_t);
    io.starts_offset = align_up(io.tokens_offset + io.tokens_bytes, align);
    io.starts_bytes = num > 1 ? num * sizeof(int32_t) : 0;
    io.pages_offset = align_up(io.starts_offset + io.starts_bytes, align);
    io.pages_bytes = num * plan->max_pages * sizeof(int32_t);
    io.logits_offset = align_up(io.pages_offset + io.pages_bytes, align);
    io.logits_bytes = num * plan->vocab_size * sizeof(float);
    io.ports_offset = align_up(io.logits_offset + io.logits_bytes, align);
    io.ports_bytes = plan->ports_bytes;
    io.io_bytes = align_up(io.ports_offset + io.ports_bytes, align);
    return io;
}

uint64_t plan_executor_bytes(const PlanHeader *plan) {
    uint64_t per_worker = align_up(plan->buffers.count * sizeof(void *), PLAN_BUFFER_ALIGN_BYTES);
    uint64_t scalars = align_up(plan->scalars.count * (sizeof(int64_t) + sizeof(uint32_t)),
                                PLAN_BUFFER_ALIGN_BYTES);
    return (per_worker + KERNEL_FAULT_WORDS * sizeof(int64_t)) * plan->max_threads + scalars +
           plan->steps.count * PLAN_BOUND_STEP_BYTES;
}

uint64_t plan_runtime_bytes(const PlanHeader *plan) {
    uint64_t num = plan->max_sequences;
    uint64_t page_numbers = num * plan->max_pages + plan->num_pages;
    return plan_executor_bytes(plan) + num * plan->vocab_size * PLAN_SAMPLER_TOKEN_BYTES +
           page_numbers * sizeof(int32_t) + PLAN_RUNTIME_FIXED_BYTES;
}

static bool stays_mapped(uint32_t kind) {
    return kind == SECTION_STRINGS || kind == SECTION_TOKENIZER || kind == SECTION_TEMPLATE ||
           kind == SECTION_PLAN || kind == SECTION_SIZES || kind == SECTION_RELATIONS;
}

PlanMemory plan_memory(const PlanHeader *plan, const SectionEntry *sections,
                       uint32_t num_sections) {
    PlanMemory memory = {
        .weights_bytes = plan_space_bytes(plan, SPACE_WEIGHTS),
        .kv_bytes = plan_space_bytes(plan, SPACE_KV),
        .arena_bytes = plan_space_bytes(plan, SPACE_ARENA),
        .scratch_bytes = plan_space_bytes(plan, SPACE_SCRATCH),
        .io_bytes = plan_space_bytes(plan, SPACE_TOKENS),
        .runtime_bytes = plan_resident_bytes(plan->runtime_bytes),
        .reserve_bytes = plan->reserve_bytes,
    };
    for (uint32_t i = 0; i < num_sections; i++) {
        uint64_t bytes = align_up(sections[i].len_bytes, ARTIFACT_PAGE_BYTES);
        if (sections[i].kind == SECTION_CODE) memory.code_bytes = MAX(memory.code_bytes, bytes);
        if (stays_mapped(sections[i].kind)) memory.tables_bytes += bytes;
    }
    for (unsigned i = 0; i < PLAN_NUM_PARTS; i++) {
        uint64_t bytes;
        (void)plan_memory_part(&memory, i, &bytes);
        memory.total_bytes += bytes;
    }
    return memory;
}

const char *plan_memory_part(const PlanMemory *memory, unsigned i, uint64_t *out_bytes) {
    const struct {
        const char *name;
        uint64_t bytes;
    } parts[PLAN_NUM_PARTS] = {
        {"weights", memory->weights_bytes}, {"kv pages", memory->kv_bytes},
        {"arena", memory->arena_bytes},     {"scratch", memory->scratch_bytes},
        {"io", memory->io_bytes},           {"code", memory->code_bytes},
        {"tables", memory->tables_bytes},   {"run time", memory->runtime_bytes},
        {"reserve", memory->reserve_bytes},
    };
    BUG_IF(i >= PLAN_NUM_PARTS, "memory part %u does not exist", i);
    *out_bytes = parts[i].bytes;
    return parts[i].name;
}
