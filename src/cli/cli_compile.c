// `ingot compile`: a recipe and a model file become an artifact. What was decided is printed with
// --dry-run or --json.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/plan_size.h"
#include "base/names.h"
#include "cli/bucket_use.h"
#include "cli/compile_time.h"
#include "cli/compiler_verbs.h"
#include "cli/disable_cost.h"
#include "cli/memory_table.h"
#include "cli/size_use.h"
#include "cli/plan_view.h"
#include "compiler/compile.h"

static const char *const phase_names[NUM_COMPILE_PHASES] = {"import", "passes", "weights"};
static const char *const phase_units[NUM_COMPILE_PHASES] = {"tensors", "passes", "bytes"};

// ---------------------------------------------------------------- options

static Status parse_levels(Cli *cli, uint32_t *out_levels) {
    const char *text = args_text(&cli->args, OPT_CPU, NULL);
    char name[32];
    const char *names[NUM_CPU_LEVELS];
    for (int i = 0; i < NUM_CPU_LEVELS; i++) names[i] = cpu_level_info((CpuLevel)i)->name;
    *out_levels = 0;
    if (text) TRY(names_check("cpu", text, &cli->sink));
    while (text && names_next(&text, name, sizeof name)) {
        CpuLevel level;
        if (!cpu_level_find(name, &level)) {
            Status status = usage_error(&cli->sink, DIAG_U0004, "there is no CPU level %s", name);
            const char *nearest = str_nearest(name, names, NUM_CPU_LEVELS);
            if (nearest)
                diag_write(&cli->sink, "--cpu=%s", nearest);
            else
                diag_evidence(&cli->sink, "levels: x86-64-v3, v3-vnni, x86-64-v4, v4-vnni, native");
            return status;
        }
        *out_levels |= 1u << level;
    }
    return STATUS_OK;
}

static Status check_dump_options(Cli *cli) {
    const Args *args = &cli->args;
    bool has_dump = args_has(args, OPT_DUMP_BEFORE) || args_has(args, OPT_DUMP_AFTER);
    if (has_dump && !args_has(args, OPT_DUMP_DIR))
        return usage_error(&cli->sink, DIAG_U0005,
                           "a dump needs --dump-dir=DIR to be written into");
    if (!has_dump && !args_has(args, OPT_VERIFY_EACH) && args_has(args, OPT_DUMP_DIR))
        return usage_error(&cli->sink, DIAG_U0005,
                           "--dump-dir needs --dump-ir-before, --dump-ir-after or --verify-each");
    bool writes = !args_has(args, OPT_DRY_RUN) && !args_has(args, OPT_EMIT_IR);
    if (writes && !args_has(args, OPT_OUTPUT))
        return usage_error(&cli->sink, DIAG_U0005,
                           "`ingot compile` needs -o FILE.ingot, or --dry-run, or --emit-ir");
    return STATUS_OK;
}

// ---------------------------------------------------------------- progress

// The phases follow one another: the end of one is the beginning of the next.
static void on_progress(CompilePhase phase, uint64_t done, uint64_t total, bool is_finished,
                        void *ctx) {
    (void)ctx;
    if (!is_finished) {
        progress_update(done, total, phase_units[phase]);
        return;
    }
    progress_end();
    if (phase + 1 < NUM_COMPILE_PHASES) progress_begin(phase_names[phase + 1]);
}

// ---------------------------------------------------------------- the report

static MemoryTable memory_of(const CompileReport *report) {
    MemoryTable table = {.total_bytes = report->total_bytes,
                         .kv_bytes = report->kv_bytes,
                         .page_len_tokens = report->page_len_tokens,
                         .max_pages = report->max_pages,
                         .num_pages = report->num_pages,
                         .max_sequences = report->max_sequences};
    for (size_t i = 0; i < report->num_parts; i++) {
        const CompilePart *part = &report->parts[i];
        table.lines[table.num_lines++] =
            (MemoryLine){part->name, part->set_by, part->bytes, part->is_outside};
    }
    return table;
}

static uint32_t read_sizes(const CompileEntry *entry, SizeUse *out) {
    for (uint32_t i = 0; i < entry->num_sizes; i++) {
        const CompileSize *size = &entry->sizes[i];
        out[i] = (SizeUse){.name = size->name,
                           .set_by = size->set_by,
                           .least = bucket_range_least(&size->range, size->bucket),
                           .bucket = size->bucket,
                           .largest = size->range.max,
                           .range = size->range};
    }
    return entry->num_sizes;
}

static void put_kernels_json(JsonWriter *json, const CompileReport *report) {
    json_begin_array(json, "entries");
    for (size_t i = 0; i < report->num_entries; i++) {
        json_begin_object(json, NULL);
        json_put_string(json, "name", report->entries[i].name);
        json_put_uint(json, "bucket_tokens", report->entries[i].bucket_tokens);
        if (report->entries[i].is_batch)
            json_put_uint(json, "sequences", report->entries[i].bucket_tokens);
        json_put_uint(json, "num_steps", report->entries[i].num_steps);
        json_put_uint(json, "num_barriers", report->entries[i].num_barriers);
        SizeUse sizes[PLAN_MAX_SIZES];
        size_use_put_json(sizes, read_sizes(&report->entries[i], sizes), json);
        bucket_use_put_json(&report->entries[i], json);
        json_end_object(json);
    }
    json_end_array(json);
    bucket_use_put_total_json(report, json);
    json_put_uint(json, "num_kernels", report->num_kernels);
    json_begin_array(json, "kernels");
    for (size_t i = 0; i < report->num_kernels; i++) {
        json_begin_object(json, NULL);
        json_put_string(json, "name", report->kernels[i].name);
        json_put_string(json, "kind", report->kernels[i].kind);
        json_put_uint(json, "code_bytes", report->kernels[i].code_bytes);
        json_put_uint(json, "scratch_bytes", report->kernels[i].scratch_bytes);
        json_end_object(json);
    }
    json_end_array(json);
}

void compile_put_json(const CompileReport *report, bool is_verbose, StrBuf *out) {
    JsonWriter json = {.out = out};
    json_begin_document(&json, "ingot-compile");
    json_put_string(&json, "model_name", report->model_name);
    json_put_uint(&json, "context_len_tokens", report->context_len_tokens);
    json_put_uint(&json, "max_threads", report->threads);
    json_begin_array(&json, "cpu_levels");
    for (size_t i = 0; i < report->num_levels; i++)
        json_put_string(&json, NULL, cpu_level_info(report->levels[i])->name);
    json_end_array(&json);
    json_put_string(&json, "target", report->target);
    MemoryTable memory = memory_of(report);
    memory_table_put_json(&memory, &json);
    json_put_raw(&json, "predicted", report->predicted);
    put_kernels_json(&json, report);
    if (is_verbose) plan_view_put_json(report, &json);
    json_put_uint(&json, "num_pinned_kernels", report->num_pinned);
    json_put_uint(&json, "artifact_bytes", report->artifact_bytes);
    if (report->cost.names) put_disable_cost_json(&json, "disabled", &report->cost);
    if (report->is_validated) put_validation_json(&json, "verify_each", &report->validation);
    json_begin_object(&json, "phase_ns");
    for (int i = 0; i < NUM_COMPILE_PHASES; i++)
        json_put_uint(&json, phase_names[i], report->phase_ns[i]);
    json_end_object(&json);
    compile_time_put_json(report, &json);
    json_end_object(&json);
}

static void put_json(const CompileReport *report, bool is_verbose) {
    StrBuf out = {0};
    compile_put_json(report, is_verbose, &out);
    put_document(&out);
}

// Times at an empty and a full context; one where there is no context.
static void put_times(const CompileReport *report, const double *ns, StrBuf *out) {
    strbuf_printf(out, "%.3f", ns[0] * 1e-6);
    if (report->context_len_tokens) strbuf_printf(out, " to %.3f", ns[1] * 1e-6);
    strbuf_puts(out, " ms");
}

static void put_entries(const CompileReport *report, StrBuf *out) {
    strbuf_printf(out, "\nentries, with the time predicted on %s%s\n", report->target,
                  report->context_len_tokens ? ", empty to full context" : "");
    for (size_t i = 0; i < report->num_entries; i++) {
        const CompileEntry *e = &report->entries[i];
        strbuf_printf(out, "  %-22s ", e->name);
        if (e->bucket_tokens)
            strbuf_printf(out, "up to %u %s, ", e->bucket_tokens,
                          e->is_batch ? "sequences" : "tokens");
        strbuf_printf(out, "%u steps, %u barriers: ", e->num_steps, e->num_barriers);
        put_times(report, e->all_ns, out);
        if (report->threads > 1 && report->num_levels) {
            strbuf_puts(out, " (one thread ");
            put_times(report, e->one_ns, out);
            strbuf_putc(out, ')');
        }
        SizeUse sizes[PLAN_MAX_SIZES];
        size_use_put_text(sizes, read_sizes(e, sizes), out);
        bucket_use_put_text(e, out);
        strbuf_putc(out, '\n');
    }
    bucket_use_put_total_text(report, out);
}

static void put_text(const CompileReport *report) {
    StrBuf out = {0};
    strbuf_printf(&out, "%s: target %s, ", report->model_name, report->target);
    if (report->context_len_tokens)
        strbuf_printf(&out, "context %u tokens, ", report->context_len_tokens);
    strbuf_printf(&out, "up to %u threads", report->threads);
    if (report->num_levels) strbuf_puts(&out, ", cpu");
    for (size_t i = 0; i < report->num_levels; i++)
        strbuf_printf(&out, " %s", cpu_level_info(report->levels[i])->name);
    strbuf_putc(&out, '\n');
    MemoryTable memory = memory_of(report);
    memory_table_put_text(&memory, &out);
    put_entries(report, &out);
    strbuf_printf(&out, "\nkernels: %zu\n", report->num_kernels);
    for (size_t i = 0; i < report->num_kernels; i++) {
        const CompileKernel *kernel = &report->kernels[i];
        strbuf_printf(&out, "  %-40s %-28s %8" PRIu64 " bytes of code", kernel->name, kernel->kind,
                      kernel->code_bytes);
        if (kernel->scratch_bytes)
            strbuf_printf(&out, ", %" PRIu64 " of scratch per worker", kernel->scratch_bytes);
        strbuf_putc(&out, '\n');
    }
    put_document(&out);
}

static void put_summary(const CompileReport *report, const char *path) {
    char artifact[32], memory[32];
    uint64_t ns = 0;
    for (int i = 0; i < NUM_COMPILE_PHASES; i++) ns += report->phase_ns[i];
    fprintf(stderr, "%s: %s bytes, %zu kernels, memory at run time %s bytes, compiled in %.1f s\n",
            path, grouped(report->artifact_bytes, artifact), report->num_kernels,
            grouped(report->total_bytes, memory), (double)ns * 1e-9);
    if (report->num_pinned)
        fprintf(stderr, "schedules of %u kernels from the tuning lock\n", report->num_pinned);
}

// ---------------------------------------------------------------- the verb

static void put_cost(const Cli *cli, const CompileReport *report) {
    if (!report->cost.names || cli->is_json || cli->is_quiet) return;
    StrBuf text = {0};
    put_disable_cost(&text, &report->cost);
    fputs(text.data, stderr);
    strbuf_deinit(&text);
}

// Where the entries are listed, but not among them: what goes to stdout has no clock in it.
static void put_time(const Cli *cli, const CompileReport *report) {
    bool has_list = args_has(&cli->args, OPT_DRY_RUN) || args_has(&cli->args, OPT_VERBOSE);
    if (!has_list || cli->is_json || cli->is_quiet || args_has(&cli->args, OPT_EMIT_IR)) return;
    StrBuf text = {0};
    compile_time_put_text(report, &text);
    fputs(text.data, stderr);
    strbuf_deinit(&text);
}

static void put_planner_log(const CompileReport *report) {
    StrBuf text = {0};
    plan_view_put_text(report, &text);
    fputs(text.len ? text.data : "", stderr);
    strbuf_deinit(&text);
}

static void put_ir_of(const Cli *cli, const CompileReport *report, const StrBuf *ir) {
    IrReports reports = {0};
    JsonWriter json = {.out = &reports.verified, .is_compact = true};
    if (report->is_validated) put_validation_json(&json, NULL, &report->validation);
    put_ir(cli, "ingot-compile-ir", ir, &reports);
    ir_reports_deinit(&reports);
}

static void put_outcome(const Cli *cli, const CompileReport *report, const StrBuf *ir) {
    if (args_has(&cli->args, OPT_EMIT_IR))
        put_ir_of(cli, report, ir);
    else if (cli->is_json)
        put_json(report, args_has(&cli->args, OPT_VERBOSE));
    else if (args_has(&cli->args, OPT_DRY_RUN))
        put_text(report);
    else if (!cli->is_quiet)
        put_summary(report, args_text(&cli->args, OPT_OUTPUT, ""));
}

Status verb_COMPILE(Cli *cli) {
    const Args *args = &cli->args;
    bool is_list;
    TRY(put_lists(cli, &is_list));
    if (is_list) return STATUS_OK;
    if (args_has(args, OPT_VERIFY_RECIPE)) return verb_VERIFY(cli);
    const char *recipe = args_text(args, OPT_RECIPE, NULL);
    TRY(check_positional(cli, recipe ? 0 : 1, recipe ? 0 : 1, "a recipe"));
    if (!recipe) recipe = args->positional[0];
    TRY(check_dump_options(cli));
    TRY(make_dump_dir(cli, args_text(args, OPT_DUMP_DIR, NULL)));
    StrBuf ir = {0};
    CompileOptions options = {
        .recipe_path = recipe,
        .target = args_text(args, OPT_TARGET, NULL),
        .target_file = args_text(args, OPT_TARGET_FILE, NULL),
        .tuning_path = args_text(args, OPT_TUNING, NULL),
        .model_path = args_text(args, OPT_MODEL, NULL),
        .out_path = args_text(args, OPT_OUTPUT, NULL),
        .is_dry_run = args_has(args, OPT_DRY_RUN),
        .threads = (uint32_t)args_count(args, OPT_THREADS, 0),
        .dump_before = args_text(args, OPT_DUMP_BEFORE, NULL),
        .dump_after = args_text(args, OPT_DUMP_AFTER, NULL),
        .dump_dir = args_text(args, OPT_DUMP_DIR, NULL),
        .disabled = args_text(args, OPT_DISABLE_PASS, NULL),
        .resume_from = args_text(args, OPT_RESUME_FROM, NULL),
        .build = build_json(),
        .emit_ir_level = (uint32_t)args_count(args, OPT_EMIT_IR, 0),
        .out_ir = &ir,
        .progress = on_progress,
    };
    ValidateOptions validate;
    if (get_validation(cli, &validate)) options.validate = &validate;
    TRY(parse_levels(cli, &options.levels));
    CompileReport report;
    progress_begin(phase_names[COMPILE_IMPORT]);
    Status status = compile_run(&options, &cli->sink, &report);
    progress_clear();
    if (report.is_validated) put_validation(cli, &report.validation);
    if (status == STATUS_OK && args_has(args, OPT_VERBOSE) && !cli->is_json)
        put_planner_log(&report);
    if (status == STATUS_OK) put_outcome(cli, &report, &ir);
    if (status == STATUS_OK) put_time(cli, &report);
    if (status == STATUS_OK) put_cost(cli, &report);
    compile_report_deinit(&report);
    strbuf_deinit(&ir);
    return status;
}
