// The compiler from end to end: read, import, run the passes, generate code, pack weights, write.
#include "compiler/compile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/plan_size.h"
#include "codegen/codegen.h"
#include "compiler/budget.h"
#include "compiler/demands.h"
#include "compiler/explain.h"
#include "compiler/manifest.h"
#include "compiler/module_text.h"
#include "compiler/pipeline.h"
#include "compiler/plan_build.h"
#include "compiler/plan_log.h"
#include "compiler/predict.h"
#include "compiler/report_fill.h"
#include "compiler/resume.h"
#include "compiler/set_by.h"
#include "compiler/settings.h"
#include "compiler/tuning_lock.h"
#include "compiler/validate_native.h"
#include "compiler/weights_image.h"
#include "ir/print.h"
#include "recipe/import.h"
#include "recipe/recipe.h"
#include "weights/tokenizer_import.h"

typedef struct Compilation {
    const CompileOptions *options;
    DiagSink *sink;
    CompileReport *report;
    Recipe *recipe;
    Gguf *gguf;
    PassConfig config;
    Pipeline pipeline;
    WeightsImage image;
    PlanBuild plan;
    bool has_plan;
    CodegenImage inits, code[NUM_CPU_LEVELS];
    ModuleSource source;             // of IR text: of a file, what was read
    CpuLevel levels[NUM_CPU_LEVELS]; // that passes run for
    uint32_t num_levels;
    CpuLevel planned[NUM_CPU_LEVELS]; // that the artifact would have code for
    uint32_t num_planned;
    Target machine; // of the target file, or of the recipe's target
    bool has_machine;
    StrBuf tokenizer, manifest, predicted, settings;
    Explain explain;
} Compilation;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void progress(const Compilation *c, CompilePhase phase, uint64_t done, uint64_t total,
                     bool end) {
    if (c->options->progress)
        c->options->progress(phase, done, total, end, c->options->progress_ctx);
}

static bool writes_artifact(const Compilation *c) {
    return c->options->out_path && !c->options->is_dry_run;
}

// ---- inputs

// Is IR text compiled, its own file or the subgraph of a recipe?
static bool is_text(const Compilation *c) {
    return !c->recipe || recipe_is_subgraph(c->recipe);
}

// Without a model file what does not need weights is done from the numbers in dims, or from those
// of a known model.
static Status open_outline(Compilation *c) {
    const CompileOptions *o = c->options;
    bool has_dims = c->recipe->known_model != NULL;
    for (int i = RECIPE_DIMS_ARCH; i <= RECIPE_DIMS_TIED; i++)
        has_dims = has_dims || c->recipe->spans[i].line;
    if (has_dims && !writes_artifact(c)) {
        if (o->out_path) TRY(file_check_output(o->out_path, c->pipeline.inputs, c->sink));
        c->gguf = gguf_outline_create(o->recipe_path);
        return STATUS_OK;
    }
    Status status = diag_error(c->sink, DIAG_P0009, (DiagSpan){.file = o->recipe_path},
                               has_dims ? "the recipe names no model file, and an artifact holds "
                                          "its weights"
                                        : "the recipe names no model file");
    if (!has_dims)
        diag_evidence(c->sink, "no model of data/models is called %.60s, and there are no dims",
                      c->recipe->model_name);
    diag_write(c->sink, "model: FILE.gguf, or --model FILE.gguf%s",
               has_dims ? "; or --dry-run, which plans without" : "");
    return status;
}

static Status open_inputs(Compilation *c) {
    const CompileOptions *o = c->options;
    const char **inputs = c->pipeline.inputs, *model = o->model_path;
    *inputs++ = o->recipe_path;
    if (o->resume_from) *inputs++ = o->resume_from;
    if (o->target_file) *inputs++ = o->target_file;
    if (o->tuning_path) *inputs++ = o->tuning_path;
    if (!module_text_is(o->recipe_path)) {
        TRY(recipe_load(o->recipe_path, c->sink, &c->recipe));
        if (c->recipe->subgraph_path) *inputs++ = c->recipe->subgraph_path;
        if (!model) model = c->recipe->model_path;
    }
    if (!model && !is_text(c)) return open_outline(c);
    if (model) *inputs++ = model;
    if (o->out_path) TRY(file_check_output(o->out_path, c->pipeline.inputs, c->sink));
    return model ? gguf_open(model, c->sink, &c->gguf) : STATUS_OK;
}

// A model without a file has no weights to pack and no vocabulary: it is planned, not compiled.
static bool is_outline(const Compilation *c) {
    return c->gguf && gguf_is_outline(c->gguf);
}

static bool makes_code(const Compilation *c) {
    return !is_outline(c) && !c->options->is_check;
}

static bool has_vocabulary(const Compilation *c) {
    return !is_text(c) && !is_outline(c);
}

// Machines no code is made for are planned, not compiled.
static bool has_backend(const Compilation *c) {
    return !c->has_machine || c->machine.has_cpu_level;
}

static Status choose_recipe_target(Compilation *c) {
    const CompileOptions *o = c->options;
    Recipe *recipe = c->recipe;
    if (o->target) {
        TRY(recipe_select_target(recipe, o->target, c->sink));
    } else if (recipe->num_targets > 1) {
        bool is_plan = !writes_artifact(c) && !o->emit_ir_level;
        diag_report(c->sink, is_plan ? DIAG_WARNING : DIAG_ERROR, DIAG_H0012,
                    (DiagSpan){.file = recipe->path}, "the recipe lists %u targets; %s",
                    recipe->num_targets,
                    is_plan ? "the first is planned" : "an artifact is made for one");
        StrBuf names = {0};
        for (uint32_t i = 0; i < recipe->num_targets; i++)
            strbuf_printf(&names, "%s%s", i ? ", " : "", recipe_target_name(&recipe->targets[i]));
        diag_write(c->sink, "--target=NAME with one of %s", names.data);
        strbuf_deinit(&names);
        if (!is_plan) return STATUS_INVALID;
    }
    c->has_machine = recipe->target.has_machine;
    c->machine = recipe->target.machine;
    return STATUS_OK;
}

// IR text names no targets: it is compiled for this machine, or for the levels asked for.
static Status check_text_target(Compilation *c) {
    const CompileOptions *o = c->options;
    if (!o->target || (str_equal(o->target, "host") && !o->levels)) return STATUS_OK;
    Status status = diag_error(c->sink, DIAG_H0012, (DiagSpan){.file = o->recipe_path},
                               "a module of IR text is compiled for `host` or for CPU levels, not "
                               "for %.60s%s",
                               o->target, o->levels ? " and levels" : "");
    diag_write(c->sink, "--target=host, or --cpu=LEVEL");
    return status;
}

static Status choose_target(Compilation *c) {
    const CompileOptions *o = c->options;
    TRY(c->recipe ? choose_recipe_target(c) : check_text_target(c));
    if (o->target_file) {
        TRY(target_load(o->target_file, c->sink, &c->machine));
        c->has_machine = true;
    }
    // The tensor-level module is the same for every machine.
    if (has_backend(c) || (!writes_artifact(c) && o->emit_ir_level <= 1)) return STATUS_OK;
    DiagSpan span = c->recipe ? c->recipe->target.span : (DiagSpan){.file = o->target_file};
    Status status = diag_error(c->sink, DIAG_H0007, span, "no backend makes code for %s (%s)",
                               c->machine.name, c->machine.title);
    (void)status;
    diag_write(c->sink, "--dry-run, which plans and predicts, or a target with a CPU level");
    return STATUS_ENVIRONMENT;
}

static Status refuse_host(Compilation *c) {
    Status status =
        diag_error(c->sink, DIAG_P0010, (DiagSpan){0},
                   "this processor lacks AVX2, FMA or F16C, which compiling for it needs");
    (void)status;
    return STATUS_ENVIRONMENT;
}

static Status choose_levels(Compilation *c) {
    if (!has_backend(c)) return STATUS_OK;
    uint32_t mask = c->options->levels;
    CpuLevel host;
    if (!mask && c->recipe) mask = c->recipe->target.levels;
    if (!mask) {
        if (!cpu_host_level(&host)) return refuse_host(c);
        mask = 1u << host;
    }
    for (int i = 0; i < NUM_CPU_LEVELS; i++)
        if (mask >> i & 1) c->levels[c->num_levels++] = (CpuLevel)i;
    memcpy(c->planned, c->levels, sizeof c->levels);
    c->num_planned = c->num_levels;
    // Where no code is made, the best level tells all that the plan says.
    if (!makes_code(c)) {
        c->levels[0] = c->levels[c->num_levels - 1];
        c->num_levels = 1;
    }
    CpuLevel only; // a dump made for one level goes on for that level
    DiagSink quiet;
    diag_sink_init(&quiet);
    if (pass_target_read(c->pipeline.m, &quiet, &only) == STATUS_OK) {
        c->planned[0] = c->levels[0] = only;
        c->num_planned = c->num_levels = 1;
    }
    diag_sink_deinit(&quiet);
    BUG_IF(c->num_levels == 0, "a recipe without CPU levels passed its checks");
    return STATUS_OK;
}

// --threads: fewer than the recipe's maximum only. Without a recipe as many as this machine runs.
static Status choose_threads(Compilation *c) {
    if (c->options->threads == 0) return STATUS_OK;
    if (!c->recipe) {
        pipeline_set_config(c->pipeline.m, "threads",
                            MIN(c->options->threads, (uint32_t)PLAN_MAX_THREADS));
        return STATUS_OK;
    }
    if (c->options->threads > (uint32_t)c->recipe->target.threads) {
        diag_report(c->sink, DIAG_ERROR, DIAG_P0009, (DiagSpan){.file = c->options->recipe_path},
                    "%u threads: the recipe plans for at most %lld", c->options->threads,
                    (long long)c->recipe->target.threads);
        diag_write(c->sink, "--threads=%lld, or a larger number in the recipe",
                   (long long)c->recipe->target.threads);
        return STATUS_LIMIT;
    }
    pipeline_set_config(c->pipeline.m, "threads", c->options->threads);
    return STATUS_OK;
}

static Status import_or_resume(Compilation *c) {
    const char *dump = c->options->resume_from;
    if (dump) {
        TRY(pipeline_read_dump(dump, c->sink, &c->pipeline.m));
        TRY(resume_check(c->pipeline.m, dump, is_text(c) ? NULL : c->recipe, c->gguf, c->sink));
        const char *text = c->recipe ? c->recipe->subgraph_path : c->options->recipe_path;
        if (is_text(c) && text) TRY(module_text_read(text, c->sink, &c->source));
    } else if (is_text(c)) {
        TRY(c->recipe
                ? module_text_of_recipe(c->recipe, c->sink, &c->source, &c->pipeline.m)
                : module_text_load(c->options->recipe_path, c->sink, &c->source, &c->pipeline.m));
        TRY(module_text_check_parameters(c->pipeline.m, c->gguf, c->sink));
        if (!c->recipe)
            pipeline_set_config(c->pipeline.m, "threads",
                                MIN(cpu_usable_threads(), (uint32_t)PLAN_MAX_THREADS));
    } else {
        TRY(import_model(c->recipe, c->gguf, c->sink, &c->pipeline.m));
        resume_mark(c->pipeline.m, c->recipe, c->gguf);
    }
    if (c->options->tuning_path) {
        ir_op_set_attr(c->pipeline.m, c->pipeline.m->op, "ingot.tuning", NULL);
        TRY(tuning_lock_load(c->options->tuning_path, c->pipeline.m, c->sink));
    }
    TRY(choose_threads(c));
    TRY(choose_levels(c));
    return pass_config_read(c->pipeline.m, c->sink, &c->config);
}

// ---- code

// Machine code of the init functions, for this host.
static Status compile_inits(Compilation *c) {
    IrModule *m = ir_module_clone(c->pipeline.m);
    CpuLevel level;
    Status status = STATUS_OK;
    if (!cpu_host_level(&level)) status = refuse_host(c);
    DiagSink quiet;
    diag_sink_init(&quiet);
    CpuLevel made_for; // a resumed dump may be past the choice of a level
    if (pass_target_read(m, &quiet, &made_for) == STATUS_OK) level = made_for;
    diag_sink_deinit(&quiet);
    if (status == STATUS_OK) status = pipeline_inits_only(m, level, c->sink);
    if (status == STATUS_OK)
        status = codegen_compile(m, level, c->pipeline.num_threads, c->sink, &c->inits);
    ir_module_destroy(m);
    return status;
}

static bool is_init(const Compilation *c, const char *name) {
    for (size_t i = 0; i < c->inits.num_functions; i++)
        if (str_equal(c->inits.functions[i].name, name)) return true;
    return false;
}

// What the recipe says of a machine that has no name of its own.
static void apply_numbers(const RecipeTarget *t, Target *target) {
    if (t->has_machine) return;
    if (t->core_count) target->numbers[TARGET_UNITS] = (double)t->core_count;
    if (t->l2_cache_mb) target->numbers[TARGET_L2_BYTES] = (double)t->l2_cache_mb * (1 << 20);
    if (t->mem_bandwidth_gbps) target->numbers[TARGET_MEM_RATE] = (double)t->mem_bandwidth_gbps;
}

static void predict(Compilation *c, IrModule *m, const Target *target, bool is_shown) {
    Prediction p;
    predict_module(m, target, &c->config, &c->plan, &c->report->arena, &p);
    strbuf_putc(&c->predicted, c->predicted.len ? ',' : '[');
    predict_put_json(&p, &c->predicted);
    if (!is_shown) return;
    c->report->target = p.target;
    pass_cost_take(&p, &c->config, &c->report->cost.without);
    c->report->entries = ARENA_ARRAY(&c->report->arena, CompileEntry, p.num_entries);
    for (size_t e = 0; e < p.num_entries; e++) {
        memcpy(c->report->entries[e].one_ns, p.entries[e].one_ns, sizeof p.entries[e].one_ns);
        memcpy(c->report->entries[e].all_ns, p.entries[e].all_ns, sizeof p.entries[e].all_ns);
    }
}

// Plans for a machine no code is made for.
static Status plan_only(Compilation *c) {
    IrModule *m = c->pipeline.m;
    if (c->recipe) TRY(demands_check_planned(c->recipe, c->sink));
    TRY(pipeline_run_until(&c->pipeline, PASS_vectorize, c->sink));
    c->pipeline.planned = ir_module_clone(m);
    explain_scratch(m, &c->explain);
    plan_log_fill(m, c->report);
    TRY(weights_image_layout(c->pipeline.planned, c->sink, &c->image));
    TRY(plan_build(c->pipeline.planned, &c->image, &c->config, c->sink, &c->plan));
    c->has_plan = true;
    predict(c, c->pipeline.planned, &c->machine, true);
    return STATUS_OK;
}

// The machine as the code of a level sees it; the recipe's own without a backend.
static Status level_target(const Compilation *c, uint32_t i, Target *out) {
    if (c->num_levels == 0) {
        *out = c->machine;
        return STATUS_OK;
    }
    TRY(target_for_level(c->has_machine ? &c->machine : NULL, c->levels[i], c->sink, out));
    out->cpu_level = c->levels[i];
    if (c->recipe) apply_numbers(&c->recipe->target, out);
    return STATUS_OK;
}

// Says on the module which level its code is for, and on which machine.
static Status put_level(const Compilation *c, IrModule *m, uint32_t i, Target *out) {
    // A resumed dump of this stage has the machine of its level, an earlier one that of the least.
    bool has_machine = ir_op_attr(m->op, "ingot.target") && ir_op_attr(m->op, "ingot.machine");
    ir_op_set_attr(m, m->op, "ingot.target", ir_attr_string(m, cpu_level_info(c->levels[i])->name));
    if (has_machine) return pass_machine_read(m, c->levels[i], c->sink, out);
    TRY(level_target(c, i, out));
    pass_machine_write(m, out);
    return STATUS_OK;
}

static Status compile_level(Compilation *c, uint32_t i) {
    IrModule *m = ir_module_clone(c->pipeline.m);
    Pipeline one = c->pipeline;
    one.m = m;
    one.level_name = c->num_levels > 1 ? cpu_level_info(c->levels[i])->name : NULL;
    Target target = {0};
    Status status = put_level(c, m, i, &target);
    if (status == STATUS_OK) status = pipeline_run_until(&one, PASS_lower_target, c->sink);
    if (status == STATUS_OK && c->options->tuning_path)
        c->report->num_pinned +=
            tuning_lock_check(m, c->levels[i], c->options->tuning_path, c->sink);
    if (status == STATUS_OK && i == 0)
        explain_kernels(m, cpu_level_info(c->levels[i])->name, &c->explain);
    if (status == STATUS_OK && c->recipe)
        status = demands_check_kernels(m, c->levels[i], c->recipe, c->sink);
    if (status == STATUS_OK && i == 0) plan_log_fill(m, c->report);
    bool want_2 = c->options->emit_ir_level == 2, want_3 = c->options->emit_ir_level == 3;
    if (status == STATUS_OK && i == 0 && want_2) ir_print(m, NULL, c->options->out_ir);
    if (status == STATUS_OK && i == 0 && !want_2) {
        status = weights_image_layout(m, c->sink, &c->image);
        if (status == STATUS_OK) status = plan_build(m, &c->image, &c->config, c->sink, &c->plan);
        c->has_plan = status == STATUS_OK;
    }
    if (status == STATUS_OK && !want_2 && !c->options->emit_ir_level)
        predict(c, m, &target, i + 1 == c->num_levels);
    bool is_lowered = want_3 || (!want_2 && makes_code(c));
    if (status == STATUS_OK && is_lowered) status = pipeline_run_until(&one, NUM_PASSES, c->sink);
    if (status == STATUS_OK && i == 0 && want_3) ir_print(m, NULL, c->options->out_ir);
    if (status == STATUS_OK && !c->options->emit_ir_level && makes_code(c)) {
        FOR_EACH_OP_SAFE(op, ir_module_body(m))
        if (op->kind == IR_LLVM_FUNC && is_init(c, ir_symbol_name(op))) ir_op_erase(m, op);
        status = codegen_compile(m, c->levels[i], c->pipeline.num_threads, c->sink, &c->code[i]);
    }
    c->pipeline.num_run = one.num_run;
    // The image's attributes live in the module that was planned: it is kept until the end.
    if (i == 0)
        c->pipeline.planned = m;
    else
        ir_module_destroy(m);
    return status;
}

static Status run_to_buffers(Pipeline *p, DiagSink *sink, Explain *e) {
    TRY(pipeline_run_until(p, PASS_bufferize, sink));
    if (pass_next(p->m) <= PASS_bufferize) explain_tensors(p->m, e);
    TRY(pipeline_run_until(p, PASS_loop_schedule, sink));
    if (pass_next(p->m) <= PASS_plan_memory) explain_buffers(p->m, e);
    return STATUS_OK;
}

// What a disabled pass costs is the difference to a module that all passes have seen: counted as
// far as buffers, predicted as the report shows it, for the last level.
static Status measure_all_passes(Compilation *c, const Target *target) {
    PassId ids[NUM_PASSES];
    size_t num = 0;
    DisabledCost *cost = &c->report->cost;
    if (!c->pipeline.disabled) return STATUS_OK;
    for (PassId id = pass_next(c->pipeline.m); id < NUM_PASSES; id = (PassId)(id + 1))
        ids[num++] = id;
    TRY(pass_disable_check(pass_facts(c->pipeline.m), ids, num, c->pipeline.disabled,
                           has_backend(c) && makes_code(c), c->sink));
    cost->names = c->options->disabled;
    cost->lost = pass_disable_lost(ids, num, c->pipeline.disabled);
    Pipeline all = {.m = ir_module_clone(c->pipeline.m)};
    Explain explain;
    Target shown = c->machine;
    explain_init(&explain, target);
    Status status = run_to_buffers(&all, c->sink, &explain);
    cost->all.counts = explain_cost(&explain);
    explain_deinit(&explain);
    if (status == STATUS_OK && has_backend(c))
        status = put_level(c, all.m, c->num_levels - 1, &shown);
    if (status == STATUS_OK)
        status = pipeline_run_until(&all, has_backend(c) ? PASS_lower_target : PASS_vectorize,
                                    c->sink);
    if (status == STATUS_OK)
        status = pass_cost_predict(all.m, &shown, &c->config, &c->report->arena, c->sink,
                                   &cost->all);
    ir_module_destroy(all.m);
    return status;
}

static Status run_passes(Compilation *c) {
    Target target = {0}, best = {0};
    TRY(level_target(c, 0, &target));
    TRY(level_target(c, MAX(c->num_levels, 1) - 1, &best));
    // Layouts are chosen once for all levels, by the machine as the least of them sees it, but for
    // the widest vectors: narrow ones can use what is laid out for these.
    Target shared = target;
    shared.numbers[TARGET_VECTOR_BYTES] = best.numbers[TARGET_VECTOR_BYTES];
    if (!ir_op_attr(c->pipeline.m->op, "ingot.machine")) pass_machine_write(c->pipeline.m, &shared);
    explain_init(&c->explain, &target);
    TRY(measure_all_passes(c, &target));
    TRY(run_to_buffers(&c->pipeline, c->sink, &c->explain));
    c->report->cost.without.counts = explain_cost(&c->explain);
    if (!has_backend(c)) return plan_only(c);
    if (!c->options->emit_ir_level && makes_code(c)) TRY(compile_inits(c));
    uint32_t num = c->options->emit_ir_level ? 1 : c->num_levels;
    for (uint32_t i = 0; i < num; i++) TRY(compile_level(c, i));
    return STATUS_OK;
}

// ---- the artifact

static Status match_code(Compilation *c) {
    PlanTables *t = &c->plan.tables;
    c->plan.kernel_ns = ARENA_ARRAY(&c->plan.arena, uint64_t, t->num_kernels);
    PlanKernelCode *code =
        ARENA_ARRAY(&c->plan.arena, PlanKernelCode, c->num_planned * t->num_kernels);
    for (uint32_t l = 0; l < c->num_levels; l++)
        for (uint64_t k = 0; k < t->num_kernels; k++) {
            PlanKernelCode *entry = &code[l * t->num_kernels + k];
            for (size_t f = 0; f < c->code[l].num_functions; f++) {
                const CodegenFunction *made = &c->code[l].functions[f];
                if (!str_equal(made->name, c->plan.kernel_names[k])) continue;
                *entry = (PlanKernelCode){made->offset, made->len_bytes};
                c->plan.kernel_ns[k] += made->ns;
            }
            BUG_IF(entry->len_bytes == 0 && makes_code(c), "kernel @%s has no code",
                   c->plan.kernel_names[k]);
        }
    t->kernel_code = code;
    return STATUS_OK;
}

typedef struct Section {
    SectionKind kind;
    uint32_t tag;
    const void *bytes;
    uint64_t len_bytes;
} Section;

static uint32_t add_section(Section *sections, uint32_t n, SectionKind kind, uint32_t tag,
                            const void *bytes, uint64_t len_bytes) {
    sections[n] = (Section){kind, tag, bytes, len_bytes};
    return n + 1;
}

// Sections in file order, the weights last and without bytes. The plan is laid out but not yet
// final.
static uint32_t list_sections(Compilation *c, Section *sections, uint32_t *out_plan,
                              uint32_t *out_first_code) {
    GgufString template_text = {0};
    uint32_t n = 0;
    n = add_section(sections, n, SECTION_MANIFEST, 0, c->manifest.data, c->manifest.len);
    n = add_section(sections, n, SECTION_STRINGS, 0, c->plan.strings.data, c->plan.strings.len);
    if (has_vocabulary(c))
        n = add_section(sections, n, SECTION_TOKENIZER, 0, c->tokenizer.data, c->tokenizer.len);
    if (has_vocabulary(c) && tokenizer_chat_template(c->gguf, &template_text))
        n = add_section(sections, n, SECTION_TEMPLATE, 0, template_text.data, template_text.len);
    *out_plan = n;
    n = add_section(sections, n, SECTION_PLAN, 0, NULL, plan_tables_layout(&c->plan.tables));
    if (c->plan.num_sizes)
        n = add_section(sections, n, SECTION_SIZES, 0, c->plan.sizes,
                        c->plan.num_sizes * sizeof *c->plan.sizes);
    if (c->plan.num_relations)
        n = add_section(sections, n, SECTION_RELATIONS, 0, c->plan.relations,
                        c->plan.num_relations * sizeof *c->plan.relations);
    *out_first_code = n;
    for (uint32_t i = 0; i < c->num_levels; i++)
        n = add_section(sections, n, SECTION_CODE, c->levels[i], c->code[i].bytes,
                        c->code[i].len_bytes);
    return add_section(sections, n, SECTION_WEIGHTS, 0, NULL, c->image.len_bytes);
}

// What a process that answers takes beside the plan; 1.5 to 3 MB were measured on Debian 12.
enum { PROCESS_BYTES = 4 << 20 };

// What says the shapes of a model without a file.
static const char *model_origin(const Compilation *c) {
    const Recipe *recipe = c->recipe;
    if (!recipe->known_model) return "dims";
    return arena_printf(&c->report->arena, "known model %s", recipe->known_model);
}

static PlanMemoryPart memory_line(Compilation *c, const char *name, uint64_t bytes,
                                  bool is_outside) {
    const SetByInputs inputs = {.recipe = c->recipe,
                                .is_text = is_text(c),
                                .recipe_path = c->options->recipe_path,
                                .model_path = is_outline(c) ? model_origin(c)
                                              : c->gguf     ? "model file"
                                                            : NULL,
                                .has_threads_option = c->options->threads != 0,
                                .has_cpu_option = c->options->levels != 0};
    StrBuf reason = {0};
    set_by_put(&inputs, name, &reason);
    CompileReport *report = c->report;
    const char *kept = arena_strdup(&report->arena, reason.data);
    strbuf_deinit(&reason);
    report->parts[report->num_parts++] =
        (CompilePart){.name = name, .set_by = kept, .bytes = bytes, .is_outside = is_outside};
    return (PlanMemoryPart){.name = plan_build_string(&c->plan, name),
                            .set_by = plan_build_string(&c->plan, kept),
                            .bytes = bytes,
                            .is_outside = is_outside};
}

static CompilePart unknown_part(const Compilation *c) {
    bool has_code = c->num_levels > 0;
    return (CompilePart){.name = !is_outline(c) ? "code"
                                 : has_code     ? "code, vocabulary"
                                                : "vocabulary",
                         .set_by = is_outline(c) ? "unknown without a model file" : "not made",
                         .is_outside = true};
}

static void fill_memory(Compilation *c, const Section *sections, uint32_t num_sections,
                        PlanMemoryPart *parts) {
    SectionEntry entries[ARTIFACT_MAX_SECTIONS];
    for (uint32_t i = 0; i < num_sections; i++)
        entries[i] = (SectionEntry){
            .kind = sections[i].kind, .tag = sections[i].tag, .len_bytes = sections[i].len_bytes};
    PlanMemory memory = plan_memory(&c->plan.tables.header, entries, num_sections);
    CompileReport *report = c->report;
    report->parts = ARENA_ARRAY(&report->arena, CompilePart, PLAN_NUM_PARTS + 2);
    report->num_parts = 0;
    for (unsigned i = 0; i < PLAN_NUM_PARTS; i++) {
        uint64_t bytes;
        const char *name = plan_memory_part(&memory, i, &bytes);
        parts[i] = memory_line(c, name, bytes, false);
    }
    parts[PLAN_NUM_PARTS] = memory_line(c, SET_BY_PROCESS, PROCESS_BYTES, true);
    // Not in the plan, which would be the artifact's.
    if (!makes_code(c)) report->parts[report->num_parts++] = unknown_part(c);
    report->total_bytes = memory.total_bytes;
}

static Status finish_plan(Compilation *c, Section *sections, uint32_t *out_num,
                          uint32_t *out_plan) {
    PlanTables *t = &c->plan.tables;
    TRY(match_code(c));
    if (c->recipe) plan_build_guards(&c->plan, c->recipe);
    if (c->recipe) t->header.reserve_bytes = (uint64_t)c->recipe->reserve_bytes;
    PlanLevel *levels = ARENA_ARRAY(&c->plan.arena, PlanLevel, c->num_planned);
    PlanMemoryPart *parts = ARENA_ARRAY(&c->plan.arena, PlanMemoryPart, PLAN_NUM_PARTS + 1);
    for (uint32_t i = 0; i < c->num_planned; i++) {
        const CpuLevelInfo *info = cpu_level_info(c->planned[i]);
        levels[i] = (PlanLevel){.cpu_level = c->planned[i],
                                .required_features = info->required,
                                .name = plan_build_string(&c->plan, info->name)};
    }
    t->levels = levels;
    t->num_levels = c->num_planned;
    t->memory = parts;
    t->num_memory = PLAN_NUM_PARTS + 1;
    t->header.model_name = plan_build_string(&c->plan, c->report->model_name);
    uint32_t num, plan_at, first_code;
    list_sections(c, sections, &plan_at, &first_code); // table counts for the run-time's bytes
    t->header.runtime_bytes = plan_runtime_bytes(&t->header);
    num = list_sections(c, sections, &plan_at, &first_code);
    fill_memory(c, sections, num, parts); // adds the names of the parts to the strings
    num = list_sections(c, sections, &plan_at, &first_code);
    for (uint32_t i = 0; i < c->num_levels; i++) levels[i].section = first_code + i;
    fill_memory(c, sections, num, parts); // strings are complete: the sizes are final
    *out_num = num;
    *out_plan = plan_at;
    return STATUS_OK;
}

static void weights_progress(uint64_t done, uint64_t total, void *ctx) {
    progress(ctx, COMPILE_WEIGHTS, done, total, done == total);
}

static Status write_weights(Compilation *c, ArtifactWriter *writer) {
    WeightsSource source = {.m = c->pipeline.planned,
                            .gguf = c->gguf,
                            .inits = &c->inits,
                            .num_threads = c->pipeline.num_threads,
                            .progress = weights_progress,
                            .progress_ctx = c};
    bool has_code = c->inits.num_functions > 0;
    if (has_code) TRY(codegen_image_map(&c->inits, c->sink, &source.inits_base));
    Status status = artifact_writer_begin(writer, SECTION_WEIGHTS, 0, c->sink);
    if (status == STATUS_OK) status = weights_image_write(&c->image, &source, writer, c->sink);
    artifact_writer_end(writer);
    if (has_code) codegen_image_unmap(source.inits_base, c->inits.len_bytes);
    return status;
}

static Status write_artifact(Compilation *c, const Section *sections, uint32_t num,
                             uint32_t plan_at) {
    ArtifactWriter writer;
    StrBuf plan = {0};
    plan_tables_write(&c->plan.tables, &plan);
    TRY(artifact_writer_open(c->options->out_path, c->pipeline.inputs, c->sink, &writer));
    Status status = STATUS_OK;
    for (uint32_t i = 0; i + 1 < num && status == STATUS_OK; i++) {
        const Section *s = &sections[i];
        const void *bytes = i == plan_at ? plan.data : s->bytes;
        if (s->kind == SECTION_CODE) {
            status = artifact_writer_begin(&writer, s->kind, s->tag, c->sink);
            if (status == STATUS_OK)
                status = artifact_writer_append(&writer, bytes, s->len_bytes, c->sink);
            artifact_writer_end(&writer);
        } else
            status =
                artifact_writer_section(&writer, s->kind, s->tag, bytes, s->len_bytes, c->sink);
    }
    if (status == STATUS_OK) status = write_weights(c, &writer);
    strbuf_deinit(&plan);
    if (status != STATUS_OK) {
        artifact_writer_abort(&writer);
        return status;
    }
    return artifact_writer_commit(&writer, c->sink, &c->report->artifact_bytes);
}

// The recipe's, or the module's file name without its ending.
static const char *model_name(const Compilation *c) {
    if (c->recipe) return c->recipe->model_name;
    const char *slash = strrchr(c->options->recipe_path, '/');
    const char *name = slash ? slash + 1 : c->options->recipe_path;
    return arena_strndup(&c->report->arena, name, strlen(name) - strlen(".mlir"));
}

static Status compile_all(Compilation *c) {
    uint64_t started = now_ns(), ended;
    TRY(open_inputs(c));
    TRY(choose_target(c));
    TRY(import_or_resume(c));
    if (c->recipe) TRY(demands_check_ops(c->pipeline.m, c->recipe, c->sink));
    c->report->model_name = arena_strdup(&c->report->arena, model_name(c));
    if (has_vocabulary(c)) {
        TRY(tokenizer_import(c->gguf, c->sink, &c->tokenizer));
        TRY(tokenizer_check_chat_template(c->gguf, c->sink));
    }
    c->report->phase_ns[COMPILE_IMPORT] = (ended = now_ns()) - started;
    progress(c, COMPILE_IMPORT, 1, 1, true);
    started = ended;
    if (c->options->emit_ir_level == 1) {
        ir_print(c->pipeline.m, NULL, c->options->out_ir);
        return STATUS_OK;
    }
    TRY(run_passes(c));
    c->report->phase_ns[COMPILE_PASSES] = (ended = now_ns()) - started;
    progress(c, COMPILE_PASSES, 1, 1, true);
    started = ended;
    if (c->options->emit_ir_level) return STATUS_OK;
    StrBuf explain = {0};
    explain_write(&c->explain, &explain);
    c->report->explain = arena_strndup(&c->report->arena, explain.data, explain.len);
    strbuf_deinit(&explain);
    strbuf_putc(&c->predicted, ']');
    c->report->predicted = arena_strdup(&c->report->arena, c->predicted.data);
    ManifestInputs inputs = {.model_name = c->report->model_name,
                             .explain = c->report->explain,
                             .text = c->recipe ? c->recipe->text : c->source.text,
                             .text_len = c->recipe ? c->recipe->text_len : c->source.len,
                             .subgraph_path = c->recipe ? c->recipe->subgraph_path : NULL,
                             .subgraph_text = c->source.text,
                             .subgraph_len = c->source.len,
                             .gguf = c->gguf,
                             .config = &c->config,
                             .levels = c->levels,
                             .num_levels = c->num_levels,
                             .num_kernels = c->plan.tables.num_kernels,
                             .target_file = c->options->target_file,
                             .tuning_path = c->options->tuning_path,
                             .build = c->options->build,
                             .predicted = &c->predicted,
                             .settings = &c->settings,
                             .hashes_model = writes_artifact(c) || c->options->hashes_model};
    TRY(settings_put(c->options, c->recipe, c->sink, &c->settings));
    TRY(manifest_build(&inputs, c->sink, &c->manifest));
    c->report->manifest = arena_strdup(&c->report->arena, c->manifest.data);
    Section sections[ARTIFACT_MAX_SECTIONS];
    uint32_t num, plan_at;
    TRY(finish_plan(c, sections, &num, &plan_at));
    TRY(budget_check(c->recipe, c->pipeline.m, &c->plan.tables.header, c->report, c->sink));
    memcpy(c->report->levels, c->levels, sizeof c->levels);
    c->report->num_levels = c->num_levels;
    c->report->threads = c->config.threads;
    report_fill(&c->plan, c->report);
    if (writes_artifact(c)) TRY(write_artifact(c, sections, num, plan_at));
    c->report->phase_ns[COMPILE_WEIGHTS] = now_ns() - started;
    return STATUS_OK;
}

// compile_all with every pass validated.
static Status compile_validated(Compilation *c) {
    NativeCode native = {.num_threads = c->pipeline.num_threads};
    ValidateOptions options = *c->options->validate;
    options.native = native_call;
    options.native_ctx = &native;
    options.dump_dir = c->options->dump_dir;
    c->pipeline.validator = validate_create(&options);
    Status status = compile_all(c);
    c->report->is_validated = true;
    c->report->validation = validate_report(c->pipeline.validator);
    if (c->report->validation.worst_function)
        c->report->validation.worst_function =
            arena_strdup(&c->report->arena, c->report->validation.worst_function);
    validate_destroy(c->pipeline.validator);
    native_deinit(&native);
    return status;
}

Status compile_run(const CompileOptions *options, DiagSink *sink, CompileReport *out_report) {
    *out_report = (CompileReport){0};
    arena_init(&out_report->arena);
    Compilation *c = base_alloc(1, sizeof *c);
    c->options = options;
    c->sink = sink;
    c->report = out_report;
    c->pipeline = (Pipeline){.dump_before = options->dump_before,
                             .dump_after = options->dump_after,
                             .dump_dir = options->dump_dir,
                             .num_threads = options->compile_threads ? options->compile_threads
                                                                     : cpu_usable_threads()};
    Status status = pipeline_check_dumps(&c->pipeline, sink);
    if (status == STATUS_OK)
        status = pass_disable_parse(options->disabled, sink, &c->pipeline.disabled);
    if (status == STATUS_OK) status = options->validate ? compile_validated(c) : compile_all(c);
    recipe_name_places(options->recipe_path, sink);
    if (c->gguf) recipe_name_model_places(gguf_path(c->gguf), sink);
    if (c->has_plan) plan_build_deinit(&c->plan);
    weights_image_deinit(&c->image);
    if (c->inits.bytes) codegen_image_deinit(&c->inits);
    for (uint32_t i = 0; i < NUM_CPU_LEVELS; i++)
        if (c->code[i].bytes) codegen_image_deinit(&c->code[i]);
    if (c->pipeline.planned) ir_module_destroy(c->pipeline.planned);
    if (c->pipeline.m) ir_module_destroy(c->pipeline.m);
    if (c->gguf) gguf_close(c->gguf);
    if (c->recipe) recipe_destroy(c->recipe);
    strbuf_deinit(&c->tokenizer);
    strbuf_deinit(&c->manifest);
    strbuf_deinit(&c->settings);
    explain_deinit(&c->explain);
    strbuf_deinit(&c->predicted);
    free(c);
    return status;
}

void compile_report_deinit(CompileReport *report) {
    arena_deinit(&report->arena);
    *report = (CompileReport){0};
}
