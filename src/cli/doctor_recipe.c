// What is wrong with a recipe: its diagnostics by symptom, for each of its targets; then what is
// compiled of it for this machine. See doctor.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "compiler/compile.h"
#include "compiler/module_text.h"
#include "compiler/overflow_probe.h"
#include "recipe/recipe.h"

typedef struct Patient {
    Doctor *d;
    const char *path, *model;
    DiagSink said;             // by all looks; kept until they are told
    uint32_t num_planned_only; // targets that no backend makes code for
    bool is_compiled;          // for this machine
    bool has_weights;
} Patient;

static bool names_code(const char *codes, const char *code) {
    for (const char *at = codes; (at = strstr(at, code)) != NULL; at++)
        if (at == codes || at[-1] == ' ') return true;
    return false;
}

// The symptom a diagnostic is a fault of; NUM_SYMPTOMS: none.
static int symptom_of(const char *code) {
    int i = 0;
    while (i < NUM_SYMPTOMS && !names_code(symptom_info((SymptomId)i)->code, code)) i++;
    return i;
}

static void tell(Doctor *d, SymptomId id, const Diag *diag) {
    Arena *arena = &d->cli->sink.arena;
    Finding *finding = &d->findings[id];
    FindingState state = diag->severity == DIAG_ERROR ? FINDING_FAIL : FINDING_WARN;
    if (!d->wanted[id] || finding->state >= state) return;
    doctor_find(d, id, state, 1, "diagnostics", diag->evidence ? diag->evidence : "ingot verify",
                "%s", diag->message);
    finding->code = diag_info(diag->code)->code;
    if (diag->span.file && diag->span.line)
        finding->recipe = arena_printf(arena, "%s:%u", diag->span.file, diag->span.line);
    else if (diag->span.file)
        finding->recipe = arena_strdup(arena, diag->span.file);
    if (diag->write) finding->change = arena_strdup(arena, diag->write);
}

static void copy_diag(DiagSink *to, const Diag *diag) {
    diag_report(to, diag->severity, diag->code, diag->span, "%s", diag->message);
    to->diags[to->num_diags - 1].span.source = NULL; // quotes a text that is about to go
    if (diag->evidence) diag_evidence(to, "%s", diag->evidence);
    if (diag->write) diag_write(to, "%s", diag->write);
}

// Tells what was said; an error that is no symptom is given on, for it hides the rest.
static Status tell_all(Patient *p, Status status) {
    bool is_explained = false;
    for (size_t i = 0; i < p->said.num_diags; i++) {
        const Diag *diag = &p->said.diags[i];
        int id = symptom_of(diag_info(diag->code)->code);
        is_explained |= id < NUM_SYMPTOMS && diag->severity == DIAG_ERROR;
        if (id < NUM_SYMPTOMS) tell(p->d, (SymptomId)id, diag);
    }
    if (status == STATUS_OK || is_explained) return STATUS_OK;
    for (size_t i = 0; i < p->said.num_diags; i++) copy_diag(&p->d->cli->sink, &p->said.diags[i]);
    return status;
}

static void look_at_report(Doctor *d, const CompileReport *report) {
    uint32_t *buckets = base_alloc(MAX(report->num_entries, (size_t)1), sizeof *buckets);
    size_t num = 0;
    for (size_t i = 0; i < report->num_entries; i++)
        if (report->entries[i].bucket_tokens && !report->entries[i].is_batch)
            buckets[num++] = report->entries[i].bucket_tokens;
    doctor_find_buckets(d, buckets, num);
    free(buckets);
}

// Is there a symptom that only an artifact shows?
static bool wants_artifact(const Doctor *d) {
    for (int i = 0; i < NUM_SYMPTOMS; i++)
        if (d->wanted[i] && d->findings[i].state == FINDING_NONE &&
            symptom_info((SymptomId)i)->inputs & SEEN_IN_ARTIFACT)
            return true;
    return false;
}

// Plans for a target; then makes code of it, if that was done for no other yet. Without a model
// file there is nothing to compile; the plan is all that can be looked at.
static Status look_at_target(Patient *p, const char *target, const char *out_path) {
    CompileOptions options = {.recipe_path = p->path,
                              .model_path = p->model,
                              .target = target,
                              .build = build_json(),
                              .is_dry_run = true,
                              .is_check = true};
    CompileReport report;
    Status status = compile_run(&options, &p->said, &report);
    if (status == STATUS_OK) look_at_report(p->d, &report);
    compile_report_deinit(&report);
    if (status != STATUS_OK || p->is_compiled || !p->has_weights || !wants_artifact(p->d))
        return status;
    options.is_dry_run = options.is_check = false;
    options.out_path = out_path;
    DiagSink made;
    diag_sink_init(&made);
    Status compiled = compile_run(&options, &made, &report);
    p->is_compiled = compiled == STATUS_OK;
    compile_report_deinit(&report);
    for (size_t i = 0; i < made.num_diags && !p->is_compiled; i++)
        if (made.diags[i].code != DIAG_H0007) copy_diag(&p->said, &made.diags[i]);
    bool is_planned_only =
        made.num_errors == 1 && made.diags[made.num_diags - 1].code == DIAG_H0007;
    diag_sink_deinit(&made);
    return p->is_compiled || is_planned_only ? STATUS_OK : compiled;
}

static Status look_at_targets(Patient *p, const char *out_path, uint32_t *out_num) {
    const char *wanted = args_text(&p->d->cli->args, OPT_TARGET, NULL);
    *out_num = 1;
    p->has_weights = true;
    if (module_text_is(p->path)) return look_at_target(p, wanted ? wanted : "host", out_path);
    Recipe *recipe = NULL;
    TRY(recipe_load(p->path, &p->said, &recipe));
    Status status = STATUS_OK;
    *out_num = wanted ? 1 : recipe->num_targets;
    p->has_weights = p->model || recipe->model_path || recipe_is_subgraph(recipe);
    for (uint32_t i = 0; i < recipe->num_targets; i++) {
        bool is_meant = !wanted || str_equal(wanted, recipe_target_name(&recipe->targets[i]));
        const RecipeTarget *target = &recipe->targets[i];
        p->num_planned_only += is_meant && target->has_machine && !target->machine.has_cpu_level;
    }
    for (uint32_t i = 0; i < *out_num && status == STATUS_OK; i++)
        status =
            look_at_target(p, wanted ? wanted : recipe_target_name(&recipe->targets[i]), out_path);
    recipe_destroy(recipe);
    return status;
}

// What would have been said, and was not.
static void pass_the_rest(const Patient *p, uint32_t num_targets) {
    static const SymptomId of_recipe[] = {SYMPTOM_NUMBER, SYMPTOM_GFX_ARCH, SYMPTOM_CUBE_ONLY};
    for (size_t i = 0; i < ARRAY_LEN(of_recipe); i++)
        doctor_find(p->d, of_recipe[i], FINDING_PASS, 0, "targets", "hardware table",
                    "0 of %u targets", num_targets);
    doctor_find(p->d, SYMPTOM_UNKNOWN_OP, FINDING_PASS, 0, "ops", "table of ops",
                "every op is known");
    FindingState state = !p->num_planned_only                ? FINDING_PASS
                         : p->num_planned_only < num_targets ? FINDING_WARN
                                                             : FINDING_FAIL;
    doctor_find(p->d, SYMPTOM_ARCH, state, p->num_planned_only, "targets", "backends of this build",
                "%u of %u targets can be planned and predicted, and not run here",
                p->num_planned_only, num_targets);
}

// ---------------------------------------------------------------- logits that are no number

// Of the weights as the interpreter keeps them: a probe is for models it can run in minutes.
#define MAX_PROBED_BYTES (UINT64_C(4) << 30)

static void show_progress(uint64_t done, uint64_t total, void *ctx) {
    (void)ctx;
    progress_update(done, total, "tokens");
}

static void tell_place(Doctor *d, const ProbePlace *place) {
    char layer[32] = "outside the layers";
    if (place->layer >= 0) snprintf(layer, sizeof layer, "in layer %lld", (long long)place->layer);
    doctor_evidence(d, SYMPTOM_NAN, "; the first %s is made at token %u %s by %s of @%s%s%s",
                    place->is_nan ? "NaN" : "infinity", place->token + 1, layer, place->op,
                    place->function, place->weights ? ", behind " : "",
                    place->weights ? place->weights : "");
}

static void tell_probe(Doctor *d, const ProbeReport *report) {
    d->findings[SYMPTOM_NAN].source =
        "measured: every logit of every step; the level-1 module interpreted on the model's "
        "weights, each op's operands and results";
    if (report->first.is_found) tell_place(d, &report->first);
    if (report->bad_param) {
        doctor_evidence(d, SYMPTOM_NAN, "; %s holds a value that is infinite or no number",
                        report->bad_param);
        doctor_change(d, SYMPTOM_NAN, "a model file whose %s is finite", report->bad_param);
    } else if (report->cure) {
        doctor_evidence(d, SYMPTOM_NAN, "; with the change every op is finite up to token %u",
                        d->num_bad_tokens);
        doctor_change(d, SYMPTOM_NAN, "precision: {%s}", report->cure);
    } else if (report->first.is_found) {
        doctor_change(d, SYMPTOM_NAN, "other weights: fp32 everywhere does not hold these numbers");
    } else {
        doctor_change(d, SYMPTOM_NAN,
                      "report it: the interpreter keeps %u tokens finite, the code does not",
                      d->num_bad_tokens);
    }
}

// What an artifact's run has shown is looked for op by op.
static Status probe_logits(Patient *p) {
    Doctor *d = p->d;
    if (!d->num_bad_tokens || !doctor_wants(d, SYMPTOM_NAN)) return STATUS_OK;
    int32_t *ids = base_alloc(d->num_bad_tokens, sizeof *ids);
    for (uint32_t i = 0; i < d->num_bad_tokens; i++) ids[i] = doctor_token(i, d->vocab_size);
    ProbeOptions options = {.recipe_path = p->path,
                            .model_path = p->model,
                            .ids = ids,
                            .num_ids = d->num_bad_tokens,
                            .max_bytes = MAX_PROBED_BYTES,
                            .progress = show_progress};
    ProbeReport report;
    progress_begin("probing");
    Status status = probe_run(&options, &d->cli->sink, &d->cli->sink.arena, &report);
    progress_end();
    free(ids);
    if (status == STATUS_LIMIT && d->cli->sink.num_errors == 0) {
        doctor_evidence(d, SYMPTOM_NAN, "; not probed: the weights take more than 4 GiB");
        return STATUS_OK;
    }
    if (status == STATUS_OK) tell_probe(d, &report);
    return status;
}

Status doctor_check_recipe(Doctor *d, const char *path) {
    char folder[TEMP_FOLDER_CHARS];
    TRY(make_temp_folder(d->cli, "doctor", folder));
    Patient p = {.d = d, .path = path, .model = args_text(&d->cli->args, OPT_MODEL, NULL)};
    diag_sink_init(&p.said);
    const char *artifact = arena_printf(&d->cli->sink.arena, "%s/doctor.ingot", folder);
    uint32_t num_targets = 0;
    Status status = look_at_targets(&p, artifact, &num_targets);
    bool holds = status == STATUS_OK;
    status = tell_all(&p, status);
    diag_sink_deinit(&p.said);
    if (status == STATUS_OK && holds) pass_the_rest(&p, num_targets);
    if (status == STATUS_OK && p.is_compiled) {
        d->inputs |= SEEN_IN_ARTIFACT;
        status = doctor_check_artifact(d, artifact);
        if (status == STATUS_OK) status = probe_logits(&p);
    }
    unlink(artifact);
    rmdir(folder);
    return status;
}
