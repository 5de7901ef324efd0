// The memory table; see memory_table.h.
#include "cli/memory_table.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

// Each reason on a row of its own, behind the numbers.
static void put_reasons(StrBuf *out, const char *set_by) {
    for (const char *at = set_by;;) {
        const char *end = strstr(at, ", ");
        strbuf_append(out, at, end ? (size_t)(end - at) : strlen(at));
        strbuf_putc(out, '\n');
        if (!end) return;
        at = end + 2;
        strbuf_printf(out, "%55s", "");
    }
}

static void put_line(StrBuf *out, const char *name, uint64_t bytes) {
    char text[32];
    strbuf_printf(out, "  %-22s %18s %9.3f", name, grouped(bytes, text), (double)bytes / (1 << 30));
}

static uint64_t page_bytes(const MemoryTable *table) {
    return table->kv_bytes / table->num_pages;
}

// Sequences share the pages: n of them can be open at once with so many tokens each.
static uint64_t tokens_each(const MemoryTable *table, uint32_t num_sequences) {
    uint32_t pages = MIN(table->num_pages / num_sequences, table->max_pages);
    return (uint64_t)pages * table->page_len_tokens;
}

enum { MAX_CAPACITY_LINES = 6 }; // powers of two, up to 32 sequences for each planned one
#define FOR_EACH_CAPACITY(n, table)                                                                \
    for (uint32_t n = (table)->max_sequences, i = 0;                                               \
         i < MAX_CAPACITY_LINES && n <= (table)->num_pages; n *= 2, i++)

void memory_table_put_text(const MemoryTable *table, StrBuf *out) {
    char text[32];
    strbuf_printf(out, "\n%-24s %18s %9s  %s\n", "memory", "bytes", "GiB", "set by");
    for (int is_outside = 0; is_outside < 2; is_outside++) {
        for (size_t i = 0; i < table->num_lines; i++) {
            const MemoryLine *line = &table->lines[i];
            if (line->is_outside != is_outside) continue;
            put_line(out, line->name, line->bytes);
            strbuf_puts(out, is_outside ? "  not counted; " : "  ");
            put_reasons(out, line->set_by);
        }
        if (is_outside) break;
        put_line(out, "total", table->total_bytes);
        strbuf_putc(out, '\n');
    }
    if (table->max_pages == 0) return; // no language model
    strbuf_printf(out,
                  "\ncapacity\n  a KV page holds %" PRIu32 " tokens of one sequence in %s bytes",
                  table->page_len_tokens, grouped(page_bytes(table), text));
    strbuf_printf(out,
                  "; there are %s\n  open sequences x tokens:", grouped(table->num_pages, text));
    FOR_EACH_CAPACITY(n, table)
    strbuf_printf(out, "  %" PRIu32 " x %s", n, grouped(tokens_each(table, n), text));
    if (table->max_sequences == 1)
        strbuf_puts(out, "  (one is computed at a time)\n");
    else
        strbuf_printf(out, "  (up to %" PRIu32 " advance at once)\n", table->max_sequences);
}

void memory_table_put_json(const MemoryTable *table, JsonWriter *json) {
    json_begin_object(json, "memory");
    json_put_uint(json, "total_bytes", table->total_bytes);
    for (int is_outside = 0; is_outside < 2; is_outside++) {
        json_begin_array(json, is_outside ? "outside" : "parts");
        for (size_t i = 0; i < table->num_lines; i++) {
            const MemoryLine *line = &table->lines[i];
            if (line->is_outside != is_outside) continue;
            json_begin_object(json, NULL);
            json_put_string(json, "name", line->name);
            json_put_uint(json, "bytes", line->bytes);
            json_put_string(json, "set_by", line->set_by);
            json_end_object(json);
        }
        json_end_array(json);
    }
    json_end_object(json);
    if (table->max_pages == 0) return;
    json_begin_object(json, "capacity");
    json_put_uint(json, "page_tokens", table->page_len_tokens);
    json_put_uint(json, "page_bytes", page_bytes(table));
    json_put_uint(json, "pages", table->num_pages);
    json_put_uint(json, "pages_per_sequence", table->max_pages);
    json_put_uint(json, "computed_at_once", table->max_sequences);
    json_begin_array(json, "sequences");
    FOR_EACH_CAPACITY(n, table) {
        json_begin_object(json, NULL);
        json_put_uint(json, "open", n);
        json_put_uint(json, "tokens_each", tokens_each(table, n));
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}
