// Latency against length; see bench_plot.h.
#include "cli/bench_plot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/svg.h"
#include "runtime/api.h"

enum { MAX_BORDERS = 32, NUM_BETWEEN = 24 };

typedef struct Curve {
    const char *name, *across, *border;
    SvgPoint *points; // x: tokens, y: milliseconds
    size_t num_points;
    double *borders; // the last length before each
    size_t num_borders;
} Curve;

typedef struct Plot {
    Cli *cli;
    Model *model;
    int32_t *ids; // of a whole context
    uint64_t num_runs, context;
} Plot;

static int by_x(const void *a, const void *b) {
    const SvgPoint *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x;
}

static void add_length(Curve *c, uint64_t length, uint64_t first, uint64_t last) {
    if (length < first || length > last) return;
    for (size_t i = 0; i < c->num_points; i++)
        if (c->points[i].x == (double)length) return;
    c->points[c->num_points++] = (SvgPoint){(double)length, 0};
}

// A border, the length behind it, and whatever length fills as much as that one does.
static void add_border(Curve *c, uint64_t border, uint64_t filled, uint64_t first, uint64_t last) {
    if (c->num_borders == MAX_BORDERS || border < first || border + 1 > last) return;
    c->borders[c->num_borders++] = (double)border;
    add_length(c, border, first, last);
    add_length(c, border + 1, first, last);
    add_length(c, MIN(filled, last), first, last);
}

static void curve_init(Curve *c) {
    c->points = base_alloc(3 * MAX_BORDERS + NUM_BETWEEN + 2, sizeof *c->points);
    c->borders = base_alloc(MAX_BORDERS, sizeof *c->borders);
}

static void curve_deinit(Curve *c) {
    free(c->points);
    free(c->borders);
}

static void add_between(Curve *c, uint64_t first, uint64_t last) {
    for (uint64_t i = 0; i <= NUM_BETWEEN; i++)
        add_length(c, first + (last - first) * i / NUM_BETWEEN, first, last);
    array_sort(c->points, c->num_points, sizeof *c->points, by_x);
}

// The longest prompt that is computed by the same entries: whole chunks, and a bucket for the rest.
static uint64_t prompt_filled(const Artifact *artifact, uint64_t length) {
    uint64_t chunk = artifact_largest_bucket(artifact), rest = (length - 1) % chunk + 1;
    for (uint64_t e = 0; e < artifact->plan->entries.count; e++)
        if (!artifact->entries[e].is_batch && artifact->entries[e].bucket_tokens >= rest)
            return length - rest + artifact->entries[e].bucket_tokens;
    return length;
}

static void list_prompts(const Plot *p, Curve *c) {
    const Artifact *artifact = &p->model->handle->artifact;
    uint64_t chunk = artifact_largest_bucket(artifact);
    for (uint64_t start = 0; start < p->context; start += chunk)
        for (uint64_t e = 0; e < artifact->plan->entries.count; e++) {
            const PlanEntry *entry = &artifact->entries[e];
            uint64_t border = start + entry->bucket_tokens;
            if (!entry->is_batch)
                add_border(c, border, prompt_filled(artifact, border + 1), 1, p->context);
        }
    add_between(c, 1, p->context);
}

// A token behind n others has position n: it is the first of a page where n is whole pages.
static void list_positions(const Plot *p, Curve *c) {
    uint64_t page = p->model->info.page_tokens, last = p->context - 1;
    uint64_t every = ((last / page) / MAX_BORDERS + 1) * page;
    for (uint64_t end = every; end <= last; end += every)
        add_border(c, end - 1, end + page - 1, 0, last);
    add_between(c, 0, last);
}

static Status time_prompts(Plot *p, Curve *c) {
    for (size_t i = 0; i < c->num_points; i++) {
        uint64_t best = UINT64_MAX;
        for (uint64_t run = 0; run < p->num_runs; run++) {
            ingot_session_reset(p->model->session);
            uint64_t begin = clock_ns();
            TRY(model_prefill(p->cli, p->model, p->ids, (size_t)c->points[i].x));
            best = MIN(best, clock_ns() - begin);
        }
        c->points[i].y = (double)best * 1e-6;
        progress_update(i + 1, c->num_points, "prompt lengths");
    }
    return STATUS_OK;
}

static Status time_positions(Plot *p, Curve *c) {
    IngotSession *session = p->model->session;
    ingot_session_reset(session);
    for (size_t i = 0; i < c->num_points; i++) {
        uint32_t at = ingot_session_num_tokens(session), depth = (uint32_t)c->points[i].x;
        if (depth > at) TRY(model_prefill(p->cli, p->model, p->ids + at, depth - at));
        uint64_t best = UINT64_MAX;
        for (uint64_t run = 0; run < 3 * p->num_runs; run++) {
            uint64_t begin = clock_ns();
            TRY(model_decode(p->cli, p->model, p->ids[depth]));
            best = MIN(best, clock_ns() - begin);
            ingot_session_truncate(session, depth);
        }
        c->points[i].y = (double)best * 1e-6;
        progress_update(i + 1, c->num_points, "positions");
    }
    return STATUS_OK;
}

// ---- what is printed

static double time_at(const Curve *c, double length) {
    for (size_t i = 0; i < c->num_points; i++)
        if (c->points[i].x >= length) return c->points[i].y;
    return c->num_points ? c->points[c->num_points - 1].y : 0;
}

static double filled_at(const Plot *p, const Curve *c, double behind) {
    const PlanHeader *plan = p->model->handle->artifact.plan;
    uint64_t n = (uint64_t)behind, page = plan->page_len_tokens;
    bool is_prompt = c->points[0].x > 0;
    uint64_t filled =
        is_prompt ? prompt_filled(&p->model->handle->artifact, n) : n / page * page + page - 1;
    return (double)MIN(filled, is_prompt ? p->context : p->context - 1);
}

static void put_steps(const Plot *p, const Curve *c, StrBuf *out) {
    strbuf_printf(out, "\n| %s | ms | behind it | filled up | ms | ratio |\n", c->border);
    strbuf_puts(out, "|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < c->num_borders; i++) {
        double filled = filled_at(p, c, c->borders[i] + 1), most = time_at(c, filled);
        double behind = time_at(c, c->borders[i] + 1);
        strbuf_printf(out, "| %.0f | %.3f | %.3f | %.0f | %.3f | %.2f |\n", c->borders[i],
                      time_at(c, c->borders[i]), behind, filled, most,
                      most > 0 ? behind / most : 0);
    }
}

static void put_curve_json(const Plot *p, const Curve *c, JsonWriter *json) {
    json_begin_object(json, c->name);
    json_begin_array(json, "points");
    for (size_t i = 0; i < c->num_points; i++) {
        json_begin_object(json, NULL);
        json_put_uint(json, "tokens", (uint64_t)c->points[i].x);
        json_put_real(json, "ms", c->points[i].y);
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "borders");
    for (size_t i = 0; i < c->num_borders; i++) {
        double filled = filled_at(p, c, c->borders[i] + 1);
        json_begin_object(json, NULL);
        json_put_uint(json, "tokens", (uint64_t)c->borders[i]);
        json_put_real(json, "ms", time_at(c, c->borders[i]));
        json_put_real(json, "behind_ms", time_at(c, c->borders[i] + 1));
        json_put_uint(json, "filled_tokens", (uint64_t)filled);
        json_put_real(json, "filled_ms", time_at(c, filled));
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void put_document_of(const Plot *p, const Curve *curves, size_t num) {
    StrBuf out = {0};
    if (p->cli->is_json) {
        JsonWriter json = {.out = &out};
        json_begin_document(&json, "ingot-bench-plot");
        json_put_uint(&json, "threads", p->model->info.num_threads);
        json_put_uint(&json, "context_tokens", p->context);
        for (size_t i = 0; i < num; i++) put_curve_json(p, &curves[i], &json);
        json_end_object(&json);
    } else {
        strbuf_printf(&out, "%s, %u threads, best of %" PRIu64 " runs\n", p->model->path,
                      p->model->info.num_threads, p->num_runs);
        for (size_t i = 0; i < num; i++) put_steps(p, &curves[i], &out);
    }
    put_document(&out);
}

static Status write_picture(const Plot *p, const Curve *curves, size_t num, const char *path) {
    StrBuf text = {0};
    svg_begin(&text, num);
    for (size_t i = 0; i < num; i++)
        svg_panel(&text, i,
                  &(SvgPanel){.title = curves[i].name,
                              .across = curves[i].across,
                              .up = "milliseconds",
                              .points = curves[i].points,
                              .num_points = curves[i].num_points,
                              .marks = curves[i].borders,
                              .num_marks = curves[i].num_borders});
    svg_end(&text);
    const char *inputs[] = {p->model->path, NULL};
    Status status = file_write(path, inputs, text.data, text.len, &p->cli->sink);
    strbuf_deinit(&text);
    return status;
}

Status bench_plot(Cli *cli, Model *model, const char *path, uint64_t num_runs) {
    const char *inputs[] = {model->path, NULL};
    TRY(file_check_output(path, inputs, &cli->sink));
    Plot p = {.cli = cli, .model = model, .num_runs = num_runs};
    p.context = model->info.context_tokens;
    p.ids = base_alloc(p.context + 1, sizeof *p.ids);
    for (uint64_t i = 0; i <= p.context; i++)
        p.ids[i] = (int32_t)((17 + 13 * i) % model->info.vocab_size);
    Curve curves[] = {
        {.name = "prefill", .across = "tokens of the prompt", .border = "end of a bucket"},
        {.name = "decode", .across = "tokens before it", .border = "last of a page"}};
    for (size_t i = 0; i < ARRAY_LEN(curves); i++) curve_init(&curves[i]);
    list_prompts(&p, &curves[0]);
    list_positions(&p, &curves[1]);
    progress_begin("bench");
    Status status = model_warm_up(cli, model);
    if (status == STATUS_OK) status = time_prompts(&p, &curves[0]);
    if (status == STATUS_OK) status = time_positions(&p, &curves[1]);
    progress_end();
    if (status == STATUS_OK) status = write_picture(&p, curves, ARRAY_LEN(curves), path);
    if (status == STATUS_OK) put_document_of(&p, curves, ARRAY_LEN(curves));
    for (size_t i = 0; i < ARRAY_LEN(curves); i++) curve_deinit(&curves[i]);
    free(p.ids);
    return status;
}
