// `ingot bench`: tokens per second of reading a prompt and of generating, measured separately, each
// from a context of --depth tokens; the artifact is opened anew for every run, which gives the time
// to start.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench_plot.h"
#include "cli/bench_predicted.h"
#include "cli/bench_tensors.h"
#include "cli/sequences.h"

typedef struct BenchRun {
    uint64_t start_ns, prefill_ns, decode_ns;
} BenchRun;

typedef struct BenchPlan {
    uint64_t prefill, decode, depth, num_runs;
    uint32_t batch; // sequences that generate at once
} BenchPlan;

// Any tokens do; these are the same on every run.
static int32_t *make_tokens(uint64_t count, uint32_t vocab_size) {
    int32_t *ids = base_alloc(count, sizeof *ids);
    for (uint64_t i = 0; i < count; i++)
        ids[i] = (int32_t)(((17 + 13 * i) % 1000 + 100) % vocab_size);
    return ids;
}

static Status measure(Cli *cli, const char *path, const BenchPlan *plan, BenchRun *out_run) {
    Model model;
    TRY(model_open(cli, path, &model));
    out_run->start_ns = model.open_ns;
    uint64_t count = MAX(MAX(plan->prefill, plan->decode), plan->depth);
    int32_t *ids = make_tokens(count, model.info.vocab_size);
    Status status = STATUS_OK;
    if (plan->prefill) {
        status = model_prefill(cli, &model, ids, plan->depth);
        uint64_t begin = clock_ns();
        if (status == STATUS_OK) status = model_prefill(cli, &model, ids, plan->prefill);
        out_run->prefill_ns = clock_ns() - begin;
        ingot_session_reset(model.session);
    }
    if (plan->decode && status == STATUS_OK) {
        Sequences sequences;
        status = sequences_open(cli, &model, plan->batch, ids, plan->depth, &sequences);
        uint64_t begin = clock_ns();
        for (uint64_t i = 0; i < plan->decode && status == STATUS_OK; i++)
            status = sequences_decode(cli, &sequences, ids[i]);
        out_run->decode_ns = clock_ns() - begin;
        sequences_close(&sequences);
    }
    free(ids);
    model_close(&model);
    return status;
}

typedef struct Spread {
    double median, min, max;
} Spread;

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Of units per second for each run, or of the plain nanoseconds if units is 0.
static Spread spread_of(const BenchRun *runs, size_t num_runs, size_t field_offset,
                        uint64_t units) {
    double *values = base_alloc(num_runs, sizeof *values);
    for (size_t i = 0; i < num_runs; i++) {
        uint64_t ns = *(const uint64_t *)(const void *)((const char *)&runs[i] + field_offset);
        values[i] = units ? (double)units * 1e9 / (double)MAX(ns, (uint64_t)1) : (double)ns;
    }
    array_sort(values, num_runs, sizeof *values, compare_doubles);
    Spread spread = {.min = values[0], .max = values[num_runs - 1]};
    spread.median =
        num_runs % 2 ? values[num_runs / 2] : (values[num_runs / 2 - 1] + values[num_runs / 2]) / 2;
    free(values);
    return spread;
}

static double load_average(void) {
    double load = 0;
    FILE *file = fopen("/proc/loadavg", "re");
    if (!file) return 0;
    if (fscanf(file, "%lf", &load) != 1) load = 0;
    fclose(file);
    return load;
}

static void put_speed_json(JsonWriter *json, const char *key, Spread spread) {
    char name[64];
    json_put_real(json, key, spread.median);
    snprintf(name, sizeof name, "%s_min", key);
    json_put_real(json, name, spread.min);
    snprintf(name, sizeof name, "%s_max", key);
    json_put_real(json, name, spread.max);
}

static void put_json(const BenchPlan *plan, const BenchRun *runs, uint32_t threads, double load,
                     const PredictedRows *predicted) {
    size_t n = plan->num_runs;
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_document(&json, "ingot-bench");
    json_put_uint(&json, "prefill_tokens", plan->prefill);
    json_put_uint(&json, "decode_tokens", plan->decode);
    json_put_uint(&json, "depth_tokens", plan->depth);
    json_put_uint(&json, "batch_sequences", plan->batch);
    json_put_uint(&json, "threads", threads);
    json_put_real(&json, "load_average_before", load);
    if (plan->prefill)
        put_speed_json(&json, "prefill_tokens_per_s",
                       spread_of(runs, n, offsetof(BenchRun, prefill_ns), plan->prefill));
    if (plan->decode)
        put_speed_json(
            &json, "decode_tokens_per_s",
            spread_of(runs, n, offsetof(BenchRun, decode_ns), plan->decode * plan->batch));
    json_put_uint(&json, "peak_rss_bytes", peak_rss_bytes());
    json_put_uint(&json, "start_ns",
                  (uint64_t)spread_of(runs, n, offsetof(BenchRun, start_ns), 0).median);
    json_begin_array(&json, "runs");
    for (size_t i = 0; i < n; i++) {
        json_begin_object(&json, NULL);
        json_put_uint(&json, "start_ns", runs[i].start_ns);
        if (plan->prefill) json_put_uint(&json, "prefill_ns", runs[i].prefill_ns);
        if (plan->decode) json_put_uint(&json, "decode_ns", runs[i].decode_ns);
        json_end_object(&json);
    }
    json_end_array(&json);
    bench_predicted_put_json(predicted, &json);
    json_end_object(&json);
    put_document(&out);
}

// The unit that the median is rounded to: as coarse as the spread allows without leaving it, so
// that a median of 1234 that varies by 50 is 1230.
static double unit_of(Spread spread) {
    double finest = pow(10, floor(log10(fmax(spread.median, 1e-6))) - 3); // four digits at most
    double width = spread.max - spread.min;
    double unit = width > 0 ? pow(10, floor(log10(width / 2))) : finest;
    for (; unit > finest; unit /= 10) {
        double value = round(spread.median / unit) * unit;
        if (value >= spread.min && value <= spread.max) break;
    }
    return fmax(unit, finest);
}

// In plain digits: rounding all three to one unit keeps the median inside the range.
static void put_row(StrBuf *out, const char *what, uint64_t tokens, uint64_t depth, Spread spread) {
    double unit = unit_of(spread);
    int decimals = (int)fmax(0, -floor(log10(unit) + 0.5));
    strbuf_printf(out, "| %s %" PRIu64 " | %" PRIu64 " | %.*f | %.*f to %.*f |\n", what, tokens,
                  depth, decimals, round(spread.median / unit) * unit, decimals,
                  round(spread.min / unit) * unit, decimals, round(spread.max / unit) * unit);
}

static const char *decode_name(const BenchPlan *plan, char name[32]) {
    snprintf(name, 32, plan->batch > 1 ? "decode %u x" : "decode", plan->batch);
    return name;
}

static void put_markdown(const char *path, const BenchPlan *plan, const BenchRun *runs,
                         uint32_t threads, const PredictedRows *predicted) {
    StrBuf out = {0};
    size_t n = plan->num_runs;
    char text[32], name[32];
    strbuf_printf(&out, "%s, %u threads, %zu runs after a warm-up\n\n", path, threads, n);
    strbuf_puts(&out, "| test | depth | tokens/s, median | range |\n|---|---:|---:|---:|\n");
    if (plan->prefill)
        put_row(&out, "prefill", plan->prefill, plan->depth,
                spread_of(runs, n, offsetof(BenchRun, prefill_ns), plan->prefill));
    if (plan->decode)
        put_row(&out, decode_name(plan, name), plan->decode, plan->depth,
                spread_of(runs, n, offsetof(BenchRun, decode_ns), plan->decode * plan->batch));
    Spread start = spread_of(runs, n, offsetof(BenchRun, start_ns), 0);
    strbuf_printf(&out, "\nstart %.0f ms (from open to ready), peak memory %s bytes\n",
                  start.median * 1e-6, grouped(peak_rss_bytes(), text));
    bench_predicted_put_text(predicted, &out);
    put_document(&out);
}

static Status measure_all(Cli *cli, const char *path, const BenchPlan *plan, BenchRun *runs) {
    progress_begin("bench");
    Status status = STATUS_OK;
    for (uint64_t i = 0; i <= plan->num_runs && status == STATUS_OK; i++) {
        BenchRun warm_up = {0};
        status = measure(cli, path, plan, i ? &runs[i - 1] : &warm_up);
        progress_update(i, plan->num_runs, "runs");
    }
    progress_end();
    return status;
}

static Status plot(Cli *cli, const char *path) {
    Model model;
    TRY(model_open(cli, path, &model));
    Status status = bench_plot(cli, &model, args_text(&cli->args, OPT_PLOT, NULL),
                               args_count(&cli->args, OPT_RUNS, 3));
    model_close(&model);
    return status;
}

Status verb_BENCH(Cli *cli) {
    TRY(check_positional(cli, 1, 1, "an artifact"));
    const char *path = cli->args.positional[0];
    BenchPlan plan = {
        .prefill = args_count(&cli->args, OPT_PREFILL, 512),
        .decode = args_count(&cli->args, OPT_DECODE, 64),
        .depth = args_count(&cli->args, OPT_DEPTH, 0),
        .num_runs = args_count(&cli->args, OPT_RUNS, 5),
        .batch = (uint32_t)args_count(&cli->args, OPT_BATCH, 1),
    };
    if (!plan.prefill && !plan.decode)
        return usage_error(&cli->sink, DIAG_U0005,
                           "--prefill 0 and --decode 0 leave nothing to measure");
    double load = load_average();
    if (load > 0.5 && !cli->is_quiet)
        fprintf(stderr, "ingot: note: other programs are running (load average %.2f)\n", load);
    if (args_has(&cli->args, OPT_PLOT)) return plot(cli, path);
    Model first;
    TRY(model_open_any(cli, path, &first));
    bool is_of_tensors = !first.session;
    Status done = is_of_tensors ? bench_tensors(cli, &first, plan.num_runs) : STATUS_OK;
    model_close(&first);
    if (is_of_tensors) return done;
    BenchRun *runs = base_alloc(plan.num_runs, sizeof *runs);
    PredictedRows predicted = {0};
    Status status = measure_all(cli, path, &plan, runs);
    Model model;
    if (status == STATUS_OK) status = model_open(cli, path, &model);
    if (status == STATUS_OK) {
        uint32_t threads = model.info.num_threads;
        status = bench_predicted(cli, &model, plan.depth, &predicted);
        model_close(&model);
        if (status == STATUS_OK && cli->is_json) put_json(&plan, runs, threads, load, &predicted);
        if (status == STATUS_OK && !cli->is_json)
            put_markdown(path, &plan, runs, threads, &predicted);
        bench_predicted_deinit(&predicted);
    }
    free(runs);
    return status;
}
