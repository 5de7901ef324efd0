// What an artifact's plan and the record of its compile say without running anything; see doctor.h.
#include <stdlib.h>
#include <string.h>

#include "abi/cgroup.h"
#include "cli/doctor.h"
#include "target/host.h"

enum {
    MAX_PADDING = 8,  // times the work; above, a bucket between is worth its bytes
    MAX_BUCKETS = 31, // of one size of a recipe, beside that of one token (RECIPE_MAX_BUCKETS)
    MAX_STEP = 64,    // what is proposed where a finer one is allowed
};

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

// ---------------------------------------------------------------- the processor

static void check_level(Doctor *d, const Artifact *artifact) {
    StrBuf refused = {0};
    uint32_t num_refused = 0, num_levels = (uint32_t)artifact->plan->levels.count;
    for (uint32_t i = 0; i < num_levels; i++) {
        const PlanLevel *level = &artifact->levels[i];
        const char *name = artifact_string(artifact, level->name);
        uint32_t missing = level->required_features & ~d->host_features;
        if (!missing) continue;
        strbuf_printf(&refused, "%s%s", num_refused++ ? ", " : "", name);
        const char *sep = " (lacks ";
        for (int f = 0; f < NUM_CPU_FEATURES; f++) {
            if (!(missing >> f & 1)) continue;
            strbuf_printf(&refused, "%s%s", sep, cpu_feature_name((CpuFeature)f));
            sep = ", ";
        }
        strbuf_putc(&refused, ')');
    }
    // The loader's own choice, by the loader's own function.
    DiagSink quiet;
    diag_sink_init(&quiet);
    uint32_t picked = 0;
    bool runs = artifact_pick_level(artifact, NULL, d->host_features, &quiet, &picked) == STATUS_OK;
    diag_sink_deinit(&quiet);
    const char *taken = runs ? artifact_string(artifact, artifact->levels[picked].name) : "none";
    doctor_find(d, SYMPTOM_CPU_LEVEL,
                !runs         ? FINDING_FAIL
                : num_refused ? FINDING_WARN
                              : FINDING_PASS,
                num_refused, "levels refused", "features each level's code needs, against CPUID",
                "%s: of %u levels %u refused%s%s; %s is used", d->host_name, num_levels,
                num_refused, num_refused ? ": " : "", num_refused ? refused.data : "", taken);
    if (runs && num_refused)
        doctor_change(d, SYMPTOM_CPU_LEVEL, "nothing: the lesser level %s is there and is used",
                      taken);
    strbuf_deinit(&refused);
}

// ---------------------------------------------------------------- memory

void doctor_find_memory(Doctor *d, uint64_t total_bytes, const char *most, const char *set_by,
                        uint64_t most_bytes) {
    HostInfo host;
    host_info_get(&host);
    uint64_t left = MIN(cgroup_memory_left_bytes(""), host.memory_bytes);
    char a[32], b[32], c[32];
    doctor_find(d, SYMPTOM_TOO_LARGE, total_bytes > left ? FINDING_FAIL : FINDING_PASS,
                (double)total_bytes, "bytes",
                "memory table of the plan, against what this process may take",
                "%s bytes are taken, %s are there; the most are %s, %s bytes, set by %s",
                grouped(total_bytes, a), grouped(left, b), most, grouped(most_bytes, c), set_by);
}

static void check_memory(Doctor *d, const Artifact *artifact) {
    const PlanMemoryPart *most = NULL;
    for (uint64_t i = 0; i < artifact->plan->memory.count; i++) {
        const PlanMemoryPart *part = &artifact->memory[i];
        if (!part->is_outside && (!most || part->bytes > most->bytes)) most = part;
    }
    if (most)
        doctor_find_memory(d, artifact_memory(artifact).total_bytes,
                           artifact_string(artifact, most->name),
                           artifact_string(artifact, most->set_by), most->bytes);
}

// ---------------------------------------------------------------- sizes

void doctor_find_buckets(Doctor *d, const uint32_t *buckets, size_t num) {
    double worst = 1;
    uint32_t at = 0, before = 0;
    for (size_t i = 0; i < num; i++) {
        uint32_t least = i ? buckets[i - 1] + 1 : 1;
        if ((double)buckets[i] / least <= worst) continue;
        worst = (double)buckets[i] / least;
        at = buckets[i];
        before = least;
    }
    if (!num) return;
    // As many buckets as there can be: the first of them is the finest that can be had.
    uint32_t finest = (buckets[num - 1] + MAX_BUCKETS - 1) / MAX_BUCKETS;
    bool can_be_better = worst > (double)MAX_PADDING && worst > finest;
    StrBuf text = {0};
    strbuf_printf(&text, "%zu buckets", num);
    if (worst > 1)
        strbuf_printf(&text, "; %u tokens are computed as %u, %.3g times the work", before, at,
                      worst);
    doctor_find(d, SYMPTOM_BUCKETS, can_be_better ? FINDING_WARN : FINDING_PASS, worst,
                "times the work", "buckets of the plan: bucket / (the one before + 1)", "%s",
                text.data);
    strbuf_deinit(&text);
    if (can_be_better)
        doctor_change(d, SYMPTOM_BUCKETS, "input_constraints: {seq_len: {max: %u, step: %u}}",
                      buckets[num - 1], MAX(finest, MIN((at + 7) / 8, (uint32_t)MAX_STEP)));
}

static void check_buckets(Doctor *d, const Artifact *artifact) {
    uint32_t *buckets =
        base_alloc(MAX(artifact->plan->entries.count, (uint64_t)1), sizeof *buckets);
    size_t num = 0;
    for (uint64_t e = 0; e < artifact->plan->entries.count; e++) {
        const PlanEntry *entry = &artifact->entries[e];
        if (entry->bucket_tokens && !entry->is_batch) buckets[num++] = entry->bucket_tokens;
    }
    doctor_find_buckets(d, buckets, num);
    free(buckets);
}

// ---------------------------------------------------------------- kernels

static void check_fallbacks(Doctor *d, const json_t *record) {
    const json_t *kernels = json_object_get(record, "kernels");
    size_t num = json_array_size(kernels), fallbacks = 0;
    const json_t *first = NULL;
    for (size_t i = 0; i < num; i++) {
        const json_t *kernel = json_array_get(kernels, i);
        bool is_one = *text_of(kernel, "fallback") ||
                      json_array_size(json_object_get(kernel, "scalar_loops")) > 0;
        fallbacks += is_one;
        if (is_one && !first) first = kernel;
    }
    if (!kernels) return;
    const char *why = first ? text_of(first, "fallback") : "";
    if (first && !*why)
        why = json_string_value(
            json_array_get(json_object_get(first, "scalar_loops"), 0)); // not all of its loops
    doctor_find(d, SYMPTOM_FALLBACK, fallbacks ? FINDING_WARN : FINDING_PASS, (double)fallbacks,
                "kernels", "record of the compile; nothing is ever interpreted",
                first
                    ? "%zu of %zu kernels have scalar loops or fell back: @%s wanted %s, got %s: %s"
                    : "%zu of %zu kernels have scalar loops or fell back",
                fallbacks, num, text_of(first, "name"), text_of(first, "wanted"),
                text_of(first, "got"), why ? why : "");
}

static void check_cache(Doctor *d, const json_t *record) {
    const json_t *access = json_object_get(record, "access");
    size_t num = json_array_size(access), flagged = 0;
    const json_t *worst = NULL;
    for (size_t i = 0; i < num; i++) {
        const json_t *operand = json_array_get(access, i);
        if (!json_is_true(json_object_get(operand, "flagged"))) continue;
        flagged++;
        if (!worst || number_of(operand, "used_percent") < number_of(worst, "used_percent"))
            worst = operand;
    }
    if (!access) return;
    double used = worst ? number_of(worst, "used_percent") : 100;
    const json_t *at = json_object_get(worst, "at");
    doctor_find(d, SYMPTOM_CACHE, flagged ? FINDING_WARN : FINDING_PASS, used,
                "percent of the bytes fetched",
                "strides of every operand against lines of 64 bytes, from the IR",
                worst ? "%zu of %zu operands use part of the lines they fetch; the worst uses %.0f "
                        "percent: operand %.0f of %s in @%s"
                      : "%zu of %zu operands use part of the lines they fetch",
                flagged, num, used, number_of(worst, "operand"), text_of(at, "op"),
                text_of(worst, "func"));
    const char *write = text_of(worst, "write");
    if (*write) doctor_change(d, SYMPTOM_CACHE, "%s", write);
}

// ---------------------------------------------------------------- lines of the recipe

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

// The line of the first key that the symptom is about.
static void find_lines(Doctor *d, const json_t *manifest) {
    const json_t *settings = json_object_get(manifest, "settings");
    for (int i = 0; i < NUM_SYMPTOMS; i++) {
        const char *key = symptom_info((SymptomId)i)->key;
        for (size_t s = 0; *key && s < json_array_size(settings); s++) {
            const json_t *setting = json_array_get(settings, s);
            const char *at = text_of(setting, "at");
            if (d->findings[i].recipe || !*at || !begins(text_of(setting, "key"), key)) continue;
            d->findings[i].recipe =
                arena_printf(&d->cli->sink.arena, "%s: %s: %s", at, text_of(setting, "key"),
                             text_of(setting, "value"));
        }
    }
}

void doctor_check_plan(Doctor *d, const Artifact *artifact, const json_t *manifest) {
    find_lines(d, manifest);
    check_level(d, artifact);
    check_memory(d, artifact);
    check_buckets(d, artifact);
    const json_t *record = json_object_get(manifest, "explain");
    check_fallbacks(d, record);
    check_cache(d, record);
}

Status doctor_check_artifact(Doctor *d, const char *path) {
    Artifact artifact;
    TRY(artifact_open(path, &d->cli->sink, &artifact));
    const uint8_t *text = NULL;
    const SectionEntry *section = artifact_find_section(&artifact, SECTION_MANIFEST, 0, &text);
    json_t *manifest = section ? json_loadb((const char *)text, section->len_bytes, 0, NULL) : NULL;
    doctor_check_plan(d, &artifact, manifest);
    json_decref(manifest);
    artifact_close(&artifact);
    if (d->findings[SYMPTOM_CPU_LEVEL].state == FINDING_FAIL ||
        d->findings[SYMPTOM_TOO_LARGE].state == FINDING_FAIL)
        return STATUS_OK; // it cannot be run here
    return doctor_check_runs(d, path);
}
