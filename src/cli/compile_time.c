// Reports the time of a compile; see compile_time.h.
#include "cli/compile_time.h"

typedef struct SharedTime {
    uint64_t import_ns, passes_ns, kernels_ns, weights_ns;
} SharedTime;

static SharedTime shared_of(const CompileReport *report) {
    uint64_t own = 0, code = 0;
    for (size_t i = 0; i < report->num_entries; i++) own += report->entries[i].own_code_ns;
    for (size_t i = 0; i < report->num_kernels; i++) code += report->kernels[i].code_ns;
    return (SharedTime){.import_ns = report->phase_ns[COMPILE_IMPORT],
                        .passes_ns = report->phase_ns[COMPILE_PASSES] - code,
                        .kernels_ns = code - own,
                        .weights_ns = report->phase_ns[COMPILE_WEIGHTS]};
}

static void put_named(JsonWriter *json, const char *name, uint64_t ns) {
    json_begin_object(json, NULL);
    json_put_string(json, "name", name);
    json_put_uint(json, "code", ns);
    json_end_object(json);
}

void compile_time_put_json(const CompileReport *report, JsonWriter *json) {
    SharedTime shared = shared_of(report);
    json_begin_object(json, "compile_ns");
    json_begin_array(json, "entries");
    for (size_t i = 0; i < report->num_entries; i++)
        put_named(json, report->entries[i].name, report->entries[i].own_code_ns);
    json_end_array(json);
    json_begin_object(json, "shared");
    json_put_uint(json, "import", shared.import_ns);
    json_put_uint(json, "passes", shared.passes_ns);
    json_put_uint(json, "kernels", shared.kernels_ns);
    json_put_uint(json, "weights", shared.weights_ns);
    json_end_object(json);
    json_begin_array(json, "kernels");
    for (size_t i = 0; i < report->num_kernels; i++)
        put_named(json, report->kernels[i].name, report->kernels[i].code_ns);
    json_end_array(json);
    json_end_object(json);
}

static double seconds(uint64_t ns) {
    return (double)ns * 1e-9;
}

// Versions of an entry have its name: their sizes tell them apart.
static void put_entry(const CompileEntry *entry, StrBuf *out) {
    StrBuf label = {0};
    strbuf_puts(&label, entry->name);
    for (uint32_t i = 0; i < entry->num_sizes; i++)
        strbuf_printf(&label, ", %s to %lld", entry->sizes[i].name,
                      (long long)entry->sizes[i].bucket);
    strbuf_printf(out, "  %-30s %.2f s, code of its own kernels\n", label.data,
                  seconds(entry->own_code_ns));
    strbuf_deinit(&label);
}

void compile_time_put_text(const CompileReport *report, StrBuf *out) {
    SharedTime shared = shared_of(report);
    uint64_t all = 0;
    for (int i = 0; i < NUM_COMPILE_PHASES; i++) all += report->phase_ns[i];
    strbuf_printf(out, "compile time %.2f s\n", seconds(all));
    for (size_t i = 0; i < report->num_entries; i++) put_entry(&report->entries[i], out);
    strbuf_printf(
        out,
        "  %-30s %.2f s: import %.2f, passes and plan %.2f, kernels of several %.2f, "
        "weights %.2f\n",
        "all entries",
        seconds(shared.import_ns + shared.passes_ns + shared.kernels_ns + shared.weights_ns),
        seconds(shared.import_ns), seconds(shared.passes_ns), seconds(shared.kernels_ns),
        seconds(shared.weights_ns));
}
