// Runs buckets with the profiler on; see bench_predicted.h.
#include "cli/bench_predicted.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/step_times.h"
#include "runtime/api.h"

enum { ROUNDS = 5 };

typedef struct Bench {
    Cli *cli;
    Model *model;
    const Artifact *artifact;
    PredictedRows *rows;
    uint64_t depth;
    uint64_t *best_ns; // by step, the least of the rounds
    bool is_single;    // one thread
} Bench;

static double number_at(const json_t *list, size_t i) {
    return json_number_value(json_array_get(list, i));
}

// The prediction at a position between an empty and a full context.
static double at_depth(const Bench *b, const json_t *object) {
    const json_t *ns = json_object_get(object, b->is_single ? "one_thread_ns" : "all_threads_ns");
    uint32_t context = b->model->info.context_tokens; // 0: tensors, and no position
    double share = context ? (double)b->depth / context : 0;
    return number_at(ns, 0) * (1 - share) + number_at(ns, 1) * share;
}

static void add_row(Bench *b, const PredictedRow *row) {
    ARRAY_RESERVE(b->rows->rows, b->rows->num_rows, b->rows->capacity);
    b->rows->rows[b->rows->num_rows++] = *row;
}

static void compare_bucket(Bench *b, const PlanEntry *entry, const json_t *predicted) {
    const char *entry_name =
        arena_strdup(&b->rows->arena, artifact_string(b->artifact, entry->name));
    PredictedRow total = {
        .bucket_tokens = entry->bucket_tokens, .entry = entry_name, .kernel = "", .class = ""};
    size_t first = b->rows->num_rows;
    add_row(b, &total);
    const json_t *kernels = json_object_get(predicted, "kernels");
    for (size_t k = 0; k < json_array_size(kernels); k++) {
        const json_t *kernel = json_array_get(kernels, k);
        const char *name = json_string_value(json_object_get(kernel, "name"));
        const char *class = json_string_value(json_object_get(kernel, "class"));
        if (!name || !class) continue;
        PredictedRow row = {.bucket_tokens = entry->bucket_tokens,
                            .entry = entry_name,
                            .kernel = arena_strdup(&b->rows->arena, name),
                            .class = arena_strdup(&b->rows->arena, class)};
        row.predicted_ns =
            at_depth(b, kernel) * json_number_value(json_object_get(kernel, "calls"));
        for (uint32_t s = 0; s < entry->num_steps; s++) {
            const PlanStep *step = &b->artifact->steps[entry->first_step + s];
            const PlanKernel *of = &b->artifact->kernels[step->kernel];
            if (str_equal(artifact_string(b->artifact, of->name), name))
                row.measured_ns += (double)b->best_ns[entry->first_step + s];
        }
        total.measured_ns += row.measured_ns;
        total.predicted_ns += row.predicted_ns;
        add_row(b, &row);
    }
    b->rows->rows[first] = total;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_error(const PredictedRows *rows) {
    double *errors = base_alloc(MAX(rows->num_rows, (size_t)1), sizeof *errors), median = 0;
    size_t n = 0;
    for (size_t i = 0; i < rows->num_rows; i++)
        if (*rows->rows[i].kernel && rows->rows[i].measured_ns > 0)
            errors[n++] = fabs(rows->rows[i].predicted_ns / rows->rows[i].measured_ns - 1);
    array_sort(errors, n, sizeof *errors, by_value);
    if (n > 0) median = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
    free(errors);
    return median;
}

// What the manifest says of the level that runs; NULL if nothing.
static const json_t *find_level(const json_t *manifest, const char *level) {
    const json_t *list = json_object_get(manifest, "predicted");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, "level"));
        if (name && str_equal(name, level)) return item;
    }
    return NULL;
}

static void compare_all(Bench *b, const json_t *prediction) {
    const json_t *entries = json_object_get(prediction, "entries");
    const char *target = json_string_value(json_object_get(prediction, "target"));
    snprintf(b->rows->target, sizeof b->rows->target, "%s", target ? target : "");
    for (uint64_t e = 0; e < b->artifact->plan->entries.count; e++) {
        const PlanEntry *entry = &b->artifact->entries[e];
        if (b->model->session && !step_times_fits(b->model, entry, b->depth)) continue;
        const json_t *predicted = json_array_get(entries, e); // listed in the plan's order
        if (predicted) compare_bucket(b, entry, predicted);
    }
    b->rows->median_error = median_error(b->rows);
}

Status bench_predicted(Cli *cli, Model *model, uint64_t depth, PredictedRows *out_rows) {
    *out_rows = (PredictedRows){0};
    arena_init(&out_rows->arena);
    const Artifact *artifact = &model->handle->artifact;
    const uint8_t *text = NULL;
    const SectionEntry *section = artifact_find_section(artifact, SECTION_MANIFEST, 0, &text);
    json_t *manifest = section ? json_loadb((const char *)text, section->len_bytes, 0, NULL) : NULL;
    const json_t *found = find_level(manifest, executor_level_name(model->handle->executor));
    uint32_t threads = model->info.num_threads;
    Bench b = {.cli = cli,
               .model = model,
               .artifact = artifact,
               .rows = out_rows,
               .depth = depth,
               .is_single = threads == 1};
    Status status = STATUS_OK;
    if (found &&
        (threads == 1 || threads == json_integer_value(json_object_get(found, "threads")))) {
        b.best_ns = step_times_create(model);
        for (int round = 0; round < ROUNDS && status == STATUS_OK; round++)
            status = step_times_measure(cli, model, depth, b.best_ns);
        if (status == STATUS_OK) compare_all(&b, found);
    }
    free(b.best_ns);
    json_decref(manifest);
    return status;
}

void bench_predicted_put_json(const PredictedRows *rows, JsonWriter *json) {
    json_begin_object(json, "predicted");
    json_put_string(json, "target", rows->target);
    json_put_real(json, "median_error", rows->median_error);
    json_begin_array(json, "rows");
    for (size_t i = 0; i < rows->num_rows; i++) {
        const PredictedRow *row = &rows->rows[i];
        json_begin_object(json, NULL);
        json_put_string(json, "entry", row->entry);
        json_put_uint(json, "bucket_tokens", row->bucket_tokens);
        json_put_string(json, "kernel", row->kernel);
        json_put_string(json, "class", row->class);
        json_put_real(json, "measured_ns", row->measured_ns);
        json_put_real(json, "predicted_ns", row->predicted_ns);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

void bench_predicted_put_text(const PredictedRows *rows, StrBuf *out) {
    if (rows->num_rows == 0) return;
    strbuf_printf(out, "\npredicted on %s against measured, per call of an entry\n\n",
                  rows->target);
    strbuf_puts(out, "| entry | kernel | measured ms | predicted ms | ratio |\n");
    strbuf_puts(out, "|---|---|---:|---:|---:|\n");
    for (size_t i = 0; i < rows->num_rows; i++) {
        const PredictedRow *row = &rows->rows[i];
        bool is_total = !*row->kernel;
        strbuf_printf(out, "| %s | %s%s%s%s | %.3f | %.3f | %.2f |\n", row->entry,
                      is_total ? "all" : row->kernel, is_total ? "" : " (", row->class,
                      is_total ? "" : ")", row->measured_ns * 1e-6, row->predicted_ns * 1e-6,
                      row->measured_ns > 0 ? row->predicted_ns / row->measured_ns : 0.0);
    }
    strbuf_printf(out, "\nmedian error of the kernels: %.1f %%\n", rows->median_error * 100);
}

void bench_predicted_deinit(PredictedRows *rows) {
    free(rows->rows);
    arena_deinit(&rows->arena);
    *rows = (PredictedRows){0};
}
