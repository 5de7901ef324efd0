// Reports buckets; see bucket_use.h.
#include "cli/bucket_use.h"

#include <inttypes.h>

#include "cli/cli.h"

// Mean of the calls an entry serves.
static double middle(const CompileEntry *e) {
    return ((double)e->least + (double)e->bucket_tokens) / 2;
}

void bucket_use_put_json(const CompileEntry *e, JsonWriter *json) {
    json_put_uint(json, "arena_bytes", e->arena_bytes);
    json_put_uint(json, "code_bytes", e->code_bytes);
    json_put_uint(json, "own_code_bytes", e->own_code_bytes);
    if (!e->bucket_tokens) return;
    json_put_uint(json, "least", e->least);
    json_begin_object(json, "padding");
    json_put_real(json, "mean", 1 - middle(e) / e->bucket_tokens);
    json_put_real(json, "most", 1 - (double)e->least / e->bucket_tokens);
    json_put_real(json, "mean_in_largest", 1 - middle(e) / e->largest);
    json_end_object(json);
}

void bucket_use_put_text(const CompileEntry *e, StrBuf *out) {
    char arena[32];
    strbuf_printf(out, "; arena %s", grouped(e->arena_bytes, arena));
    if (e->bucket_tokens && e->least < e->bucket_tokens)
        strbuf_printf(out, "; padding %.0f %% on average, %.0f %% at most",
                      (1 - middle(e) / e->bucket_tokens) * 100,
                      (1 - (double)e->least / e->bucket_tokens) * 100);
}

typedef struct Total {
    uint32_t variants, largest;
    double calls, used, used_in_largest; // sums over all lengths
} Total;

static Total total_of(const CompileReport *report, bool is_batch) {
    Total total = {0};
    for (size_t i = 0; i < report->num_entries; i++) {
        const CompileEntry *e = &report->entries[i];
        if (!e->bucket_tokens || e->is_batch != is_batch) continue;
        double calls = (double)e->bucket_tokens - e->least + 1;
        total.variants++;
        total.largest = e->largest;
        total.calls += calls;
        total.used += calls * middle(e) / e->bucket_tokens;
        total.used_in_largest += calls * middle(e) / e->largest;
    }
    return total;
}

void bucket_use_put_total_json(const CompileReport *report, JsonWriter *json) {
    json_begin_array(json, "buckets");
    for (int is_batch = 0; is_batch < 2; is_batch++) {
        Total total = total_of(report, is_batch != 0);
        if (!total.variants) continue;
        json_begin_object(json, NULL);
        json_put_string(json, "of", is_batch ? "sequences" : "tokens");
        json_put_uint(json, "variants", total.variants);
        json_put_uint(json, "largest", total.largest);
        json_put_real(json, "utilisation", total.used / total.calls);
        json_put_real(json, "utilisation_of_largest_alone", total.used_in_largest / total.calls);
        json_end_object(json);
    }
    json_end_array(json);
}

void bucket_use_put_total_text(const CompileReport *report, StrBuf *out) {
    for (int is_batch = 0; is_batch < 2; is_batch++) {
        Total total = total_of(report, is_batch != 0);
        if (total.variants)
            strbuf_printf(out,
                          "  %u variant%s for up to %u %s: %.0f %% of their rows are used, %.0f %% "
                          "with the largest alone\n",
                          total.variants, total.variants == 1 ? "" : "s", total.largest,
                          is_batch ? "sequences" : "tokens", total.used / total.calls * 100,
                          total.used_in_largest / total.calls * 100);
    }
}
