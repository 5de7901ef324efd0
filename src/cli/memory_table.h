// The memory table and the capacity behind it, as `compile --dry-run` and `inspect` show them: the
// same lines in both, in text and in JSON.
#ifndef INGOT_CLI_MEMORY_TABLE_H
#define INGOT_CLI_MEMORY_TABLE_H

#include "abi/plan_size.h"
#include "cli/json_writer.h"

typedef struct MemoryLine {
    const char *name, *set_by;
    uint64_t bytes;
    bool is_outside; // listed, not counted
} MemoryLine;

typedef struct MemoryTable {
    MemoryLine lines[PLAN_MAX_MEMORY_LINES];
    size_t num_lines;
    uint64_t total_bytes;                // of the lines inside
    uint64_t kv_bytes;                   // of all pages, before rounding to pages of the system
    uint32_t page_len_tokens, max_pages; // max_pages: of a sequence
    uint32_t num_pages, max_sequences;   // num_pages: of all; max_sequences: computed at once
} MemoryTable;

void memory_table_put_text(const MemoryTable *table, StrBuf *out);
// "memory": {"total_bytes", "parts": [], "outside": []}, "capacity": {...}
void memory_table_put_json(const MemoryTable *table, JsonWriter *json);

#endif
