// The arithmetic of memory that the compiler's planner and the executor share: how many resident
// bytes each space of a plan takes, exactly as executor_open maps them. Pure functions of the plan;
// sizes up to PLAN_MAX_SPACE_BYTES each never overflow.
#ifndef INGOT_ABI_PLAN_SIZE_H
#define INGOT_ABI_PLAN_SIZE_H

#include "abi/plan.h"
#include "base/base.h"

#define PLAN_MAX_SPACE_BYTES ((uint64_t)1 << 46) // larger spaces are refused as nonsense

enum {
    PLAN_HUGE_FROM_BYTES = 4 << 20,       // spaces from this size on lie in 2 MiB pages
    PLAN_BOUND_STEP_BYTES = 64,           // the executor's own record of a step
    PLAN_SAMPLER_TOKEN_BYTES = 8,         // a sampler's weight per token of the vocabulary
    PLAN_RUNTIME_FIXED_BYTES = 128 << 10, // sampler's tables, tokenizer's and session's objects
    PLAN_NUM_PARTS = 9,                   // lines of PlanMemory
    PLAN_MAX_MEMORY_LINES = 16,           // of the table, those outside included
};

// Resident bytes of a mapping that holds `bytes`: a multiple of the page size it gets.
uint64_t plan_resident_bytes(uint64_t bytes);
// Resident bytes of one space; SPACE_SCRATCH: of all max_threads workers together. SPACE_TOKENS,
// SPACE_STARTS, SPACE_PAGES, SPACE_LOGITS and SPACE_PORTS share one mapping of io_bytes, counted at
// the first.
uint64_t plan_space_bytes(const PlanHeader *plan, PlanSpace space);
// Distance between two workers' scratch.
uint64_t plan_scratch_stride_bytes(const PlanHeader *plan);

// Places in the input/output mapping, each aligned to PLAN_BUFFER_ALIGN_BYTES.
typedef struct PlanIoLayout {
    uint64_t tokens_offset, tokens_bytes; // i32[largest_bucket], or of the largest batch
    uint64_t starts_offset, starts_bytes; // i32[max_sequences]; none without batches
    uint64_t pages_offset, pages_bytes;   // i32[max_sequences, max_pages]
    uint64_t logits_offset, logits_bytes; // f32[max_sequences, vocab_size]
    uint64_t ports_offset, ports_bytes;
    uint64_t io_bytes; // what PlanHeader.io_bytes has to be
} PlanIoLayout;
PlanIoLayout plan_io_layout(const PlanHeader *plan, uint32_t largest_bucket);

// Bytes of the executor's bindings (a pointer per worker and buffer, scalars, steps), not rounded.
// The counts of the header's tables buffers, scalars and steps must be set.
uint64_t plan_executor_bytes(const PlanHeader *plan);
// What PlanHeader.runtime_bytes is set to: the bindings, a sampler and a session's page table for
// each sequence, the list of free pages, and a fixed allowance for the small objects around them.
uint64_t plan_runtime_bytes(const PlanHeader *plan);

// Resident memory by part, in this order; total_bytes is their sum.
typedef struct PlanMemory {
    uint64_t weights_bytes, kv_bytes, arena_bytes, scratch_bytes, io_bytes;
    uint64_t code_bytes;   // code section of one level, the largest
    uint64_t tables_bytes; // sections that stay mapped: strings, tokenizer, template, plan, sizes,
                           // relations
    uint64_t runtime_bytes;
    uint64_t reserve_bytes;
    uint64_t total_bytes;
} PlanMemory;
// sections: kinds and lengths are read, nothing else; the lengths must be final.
PlanMemory plan_memory(const PlanHeader *plan, const SectionEntry *sections, uint32_t num_sections);
// Part i of PLAN_NUM_PARTS: its name ("weights", "kv pages", ...) and bytes.
const char *plan_memory_part(const PlanMemory *memory, unsigned i, uint64_t *out_bytes);

#endif
