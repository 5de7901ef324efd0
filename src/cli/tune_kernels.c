// Measures schedules; see tune_kernels.h. The n-th artifact has the n-th predicted candidate of
// every kernel, pinned by a lock of its own; all artifacts run in turn, several times, so that a
// machine that slows down slows all of them, and the least time of each kernel counts.
#include "cli/tune_kernels.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/step_times.h"
#include "compiler/compile.h"
#include "compiler/tuning_lock.h"
#include "runtime/api.h"

enum { MAX_VARIANTS = 32, DEFAULT_VARIANTS = 6, DEFAULT_ROUNDS = 5 };

typedef struct Variant {
    char artifact[TEMP_FOLDER_CHARS + 32], lock[TEMP_FOLDER_CHARS + 32];
    uint64_t *best_ns; // by step
} Variant;

typedef struct Tuner {
    Cli *cli;
    CompileOptions options; // for every variant, but for the lock and the artifact
    char folder[TEMP_FOLDER_CHARS];
    Arena arena;
    TuningKernel *kernels;
    size_t num_kernels;
    Variant variants[MAX_VARIANTS];
    size_t num_variants; // that have files
    uint64_t depth;
} Tuner;

// ---- folder

static void remove_folder(Tuner *t) {
    for (size_t i = 0; i < t->num_variants; i++) {
        unlink(t->variants[i].artifact);
        unlink(t->variants[i].lock);
    }
    if (*t->folder) rmdir(t->folder);
}

// ---- candidates

static int64_t entry_of(const json_t *candidate, const char *name, int64_t absent) {
    const json_t *value = json_object_get(candidate, name);
    return json_is_integer(value) ? MAX(json_integer_value(value), absent) : absent;
}

static void add_kernel(Tuner *t, const char *level, const json_t *item, size_t max_candidates) {
    const char *name = json_string_value(json_object_get(item, "kernel"));
    const char *key = json_string_value(json_object_get(item, "key"));
    const json_t *list = json_object_get(item, "candidates");
    if (!name || !key) return;
    TuningKernel *kernel = &t->kernels[t->num_kernels++];
    *kernel = (TuningKernel){.name = arena_strdup(&t->arena, name),
                             .key = arena_strdup(&t->arena, key),
                             .level = level,
                             .num_candidates = MIN(json_array_size(list), max_candidates)};
    kernel->candidates = ARENA_ARRAY(&t->arena, TuningCandidate, kernel->num_candidates);
    for (size_t i = 0; i < kernel->num_candidates; i++) {
        const json_t *c = json_array_get(list, i);
        kernel->candidates[i] = (TuningCandidate){.s = {.lanes = entry_of(c, "lanes", 1),
                                                        .row_tile = entry_of(c, "row_tile", 1),
                                                        .col_tile = entry_of(c, "col_tile", 1),
                                                        .unroll = entry_of(c, "unroll", 1),
                                                        .band = entry_of(c, "band", 0)},
                                                  .measured_ns = 1};
    }
}

// The best of the recipe's levels that this machine runs.
static Status choose_level(Tuner *t, const CompileReport *report, size_t *out_index) {
    uint32_t features = cpu_host_features();
    bool is_found = false;
    for (size_t i = 0; i < report->num_levels; i++) {
        if (!cpu_level_runs(features, cpu_level_info(report->levels[i]))) continue;
        if (is_found && report->levels[i] < report->levels[*out_index]) continue;
        *out_index = i;
        is_found = true;
    }
    if (is_found) return STATUS_OK;
    Status status =
        diag_error(&t->cli->sink, DIAG_X0007, (DiagSpan){.file = t->options.recipe_path},
                   "this processor runs none of the recipe's CPU levels");
    (void)status;
    return STATUS_ENVIRONMENT;
}

static Status read_candidates(Tuner *t, const CompileReport *report, size_t max_candidates) {
    size_t index = 0;
    TRY(choose_level(t, report, &index));
    t->options.levels = 1u << report->levels[index];
    json_t *levels = json_loads(report->predicted, 0, NULL);
    const json_t *list = json_object_get(json_array_get(levels, index), "schedules");
    t->kernels = ARENA_ARRAY(&t->arena, TuningKernel, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++)
        add_kernel(t, cpu_level_info(report->levels[index])->name, json_array_get(list, i),
                   max_candidates);
    json_decref(levels);
    return STATUS_OK;
}

// The kernels that have a choice, and their candidates as predicted: a dry run.
static Status list_candidates(Tuner *t, size_t max_candidates) {
    CompileOptions options = t->options;
    CompileReport report;
    options.is_dry_run = true;
    Status status = compile_run(&options, &t->cli->sink, &report);
    if (status == STATUS_OK) status = read_candidates(t, &report, max_candidates);
    compile_report_deinit(&report);
    return status;
}

// ---- artifacts

static Status write_lock(Tuner *t, const char *path, const TuningKernel *kernels) {
    StrBuf text = {0};
    tuning_lock_put(kernels, t->num_kernels, &text);
    Status status = file_write(path, NULL, text.data, text.len, &t->cli->sink);
    strbuf_deinit(&text);
    return status;
}

// Every kernel with its n-th candidate, or its first where there are fewer.
static Status compile_variant(Tuner *t, size_t n) {
    Variant *v = &t->variants[n];
    TuningKernel *pinned = ARENA_ARRAY(&t->arena, TuningKernel, t->num_kernels + 1);
    for (size_t k = 0; k < t->num_kernels; k++) {
        pinned[k] = t->kernels[k];
        pinned[k].candidates += n < pinned[k].num_candidates ? n : 0;
        pinned[k].num_candidates = 1;
    }
    snprintf(v->artifact, sizeof v->artifact, "%s/%zu.ingot", t->folder, n);
    snprintf(v->lock, sizeof v->lock, "%s/%zu.yaml", t->folder, n);
    t->num_variants = n + 1;
    TRY(write_lock(t, v->lock, pinned));
    CompileOptions options = t->options;
    options.out_path = v->artifact;
    options.tuning_path = v->lock;
    CompileReport report;
    Status status = compile_run(&options, &t->cli->sink, &report);
    compile_report_deinit(&report);
    return status;
}

// ---- times

static Status measure_variant(Tuner *t, Variant *v) {
    Model model;
    TRY(model_open_any(t->cli, v->artifact, &model));
    if (!v->best_ns) v->best_ns = step_times_create(&model);
    Status status = step_times_measure(t->cli, &model, t->depth, v->best_ns);
    model_close(&model);
    return status;
}

// Of all steps that run the kernel, one call of every bucket.
static double kernel_ns(const Artifact *artifact, const Variant *v, const char *name) {
    double ns = 0;
    for (uint64_t s = 0; s < artifact->plan->steps.count; s++) {
        const PlanKernel *kernel = &artifact->kernels[artifact->steps[s].kernel];
        if (v->best_ns[s] != UINT64_MAX && str_equal(artifact_string(artifact, kernel->name), name))
            ns += (double)v->best_ns[s];
    }
    return ns;
}

static int by_time(const void *a, const void *b) {
    const TuningCandidate *x = a, *y = b;
    return x->measured_ns < y->measured_ns ? -1 : x->measured_ns > y->measured_ns;
}

// Steps have the same numbers in all variants: schedules change the insides of kernels only.
static Status take_times(Tuner *t) {
    Model model;
    TRY(model_open_any(t->cli, t->variants[0].artifact, &model));
    for (size_t k = 0; k < t->num_kernels; k++) {
        TuningKernel *kernel = &t->kernels[k];
        for (size_t i = 0; i < kernel->num_candidates; i++)
            kernel->candidates[i].measured_ns =
                kernel_ns(&model.handle->artifact, &t->variants[i], kernel->name);
    }
    model_close(&model);
    return STATUS_OK;
}

static Status measure_all(Tuner *t, uint64_t rounds) {
    uint64_t done = 0, total = rounds * t->num_variants;
    Status status = STATUS_OK;
    progress_begin("measure");
    for (uint64_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < t->num_variants && status == STATUS_OK; i++) {
            status = measure_variant(t, &t->variants[i]);
            progress_update(++done, total, "runs");
        }
    progress_end();
    return status;
}

// ---- the report

static void put_report(const Tuner *t, const double *predicted_ns, StrBuf *out) {
    double before = 0, after = 0;
    strbuf_puts(out, "| kernel | candidates | predicted best, ms | measured best, ms | schedule |\n"
                     "|---|---:|---:|---:|---|\n");
    for (size_t k = 0; k < t->num_kernels; k++) {
        const TuningKernel *kernel = &t->kernels[k];
        const TuningCandidate *best = &kernel->candidates[0];
        before += predicted_ns[k];
        after += best->measured_ns;
        strbuf_printf(
            out, "| %s | %zu | %.3f | %.3f | lanes %lld, row_tile %lld, col_tile %lld |\n",
            kernel->name, kernel->num_candidates, predicted_ns[k] * 1e-6, best->measured_ns * 1e-6,
            (long long)best->s.lanes, (long long)best->s.row_tile, (long long)best->s.col_tile);
    }
    strbuf_printf(out,
                  "\nall of these: %.3f ms with the predicted schedules, %.3f ms with the "
                  "measured ones\n",
                  before * 1e-6, after * 1e-6);
}

static void put_report_json(const Tuner *t, const double *predicted_ns, StrBuf *out) {
    JsonWriter json = {.out = out};
    json_begin_document(&json, "ingot-tune");
    json_begin_array(&json, "kernels");
    for (size_t k = 0; k < t->num_kernels; k++) {
        const TuningKernel *kernel = &t->kernels[k];
        json_begin_object(&json, NULL);
        json_put_string(&json, "kernel", kernel->name);
        json_put_string(&json, "key", kernel->key);
        json_put_string(&json, "level", kernel->level);
        json_put_real(&json, "predicted_best_ns", predicted_ns[k]);
        json_begin_array(&json, "candidates");
        for (size_t i = 0; i < kernel->num_candidates; i++) {
            const TuningCandidate *c = &kernel->candidates[i];
            json_begin_object(&json, NULL);
            json_put_uint(&json, "lanes", (uint64_t)c->s.lanes);
            json_put_uint(&json, "row_tile", (uint64_t)c->s.row_tile);
            json_put_uint(&json, "col_tile", (uint64_t)c->s.col_tile);
            json_put_uint(&json, "unroll", (uint64_t)c->s.unroll);
            if (c->s.band) json_put_uint(&json, "band", (uint64_t)c->s.band);
            json_put_real(&json, "measured_ns", c->measured_ns);
            json_end_object(&json);
        }
        json_end_array(&json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

static Status write_results(Tuner *t, const char *lock_path) {
    double *predicted_ns = ARENA_ARRAY(&t->arena, double, t->num_kernels + 1);
    for (size_t k = 0; k < t->num_kernels; k++) {
        TuningKernel *kernel = &t->kernels[k];
        predicted_ns[k] = kernel->candidates[0].measured_ns;
        array_sort(kernel->candidates, kernel->num_candidates, sizeof *kernel->candidates, by_time);
    }
    TRY(write_lock(t, lock_path, t->kernels));
    StrBuf out = {0};
    (t->cli->is_json ? put_report_json : put_report)(t, predicted_ns, &out);
    put_document(&out);
    return STATUS_OK;
}

// ---- the verb's part

static Status tune(Tuner *t, const char *lock_path) {
    const Args *args = &t->cli->args;
    const char *const inputs[] = {t->options.recipe_path, t->options.model_path, NULL};
    TRY(file_check_output(lock_path, inputs, &t->cli->sink));
    TRY(list_candidates(t, args_count(args, OPT_CANDIDATES, DEFAULT_VARIANTS)));
    TRY(make_temp_folder(t->cli, "tune", t->folder));
    size_t num_variants = 1;
    for (size_t k = 0; k < t->num_kernels; k++)
        num_variants = MAX(num_variants, t->kernels[k].num_candidates);
    progress_begin("compile");
    for (size_t i = 0; i < num_variants; i++) {
        TRY(compile_variant(t, i));
        progress_update(i + 1, num_variants, "artifacts");
    }
    progress_end();
    TRY(measure_all(t, args_count(args, OPT_RUNS, DEFAULT_ROUNDS)));
    TRY(take_times(t));
    return write_results(t, lock_path);
}

Status tune_kernels(Cli *cli, const char *recipe, const char *lock_path) {
    Tuner *t = base_alloc(1, sizeof *t);
    *t = (Tuner){.cli = cli, .depth = args_count(&cli->args, OPT_DEPTH, 0)};
    arena_init(&t->arena);
    t->options = (CompileOptions){
        .recipe_path = recipe,
        .model_path = args_text(&cli->args, OPT_MODEL, NULL),
        .threads = (uint32_t)args_count(&cli->args, OPT_THREADS, 0),
    };
    Status status = tune(t, lock_path);
    progress_clear();
    for (size_t i = 0; i < t->num_variants; i++) free(t->variants[i].best_ns);
    remove_folder(t);
    arena_deinit(&t->arena);
    free(t);
    return status;
}
