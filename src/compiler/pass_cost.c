// Counts and predicted times with all passes and without some; see pass_cost.h.
#include "compiler/pass_cost.h"

#include "compiler/plan_build.h"

double pass_cost_ns(const PassCost *cost) {
    double ns = 0;
    for (size_t i = 0; i < cost->num_calls; i++) ns += cost->calls[i].all_ns[PREDICT_EMPTY];
    return ns;
}

void pass_cost_take(const Prediction *prediction, const PassConfig *config, PassCost *cost) {
    cost->calls = prediction->entries;
    cost->num_calls = prediction->num_entries;
    cost->has_context = config->max_pages > 0;
    cost->unpredicted = cost->num_calls ? NULL : "no entry calls a kernel";
}

Status pass_cost_predict(IrModule *m, const Target *target, const PassConfig *config, Arena *arena,
                         DiagSink *sink, PassCost *cost) {
    WeightsImage image;
    PlanBuild plan;
    TRY(weights_image_layout(m, sink, &image));
    Status status = plan_build(m, &image, config, sink, &plan);
    if (status == STATUS_OK) {
        Prediction prediction;
        predict_module(m, target, config, &plan, arena, &prediction);
        pass_cost_take(&prediction, config, cost);
        plan_build_deinit(&plan);
    }
    weights_image_deinit(&image);
    return status;
}

// ---- pipelines on IR text

typedef struct Side {
    IrModule *m;
    Explain e;
    Target machine;
} Side;

static size_t place_of(const PassPipeline *pipeline, PassId id) {
    size_t at = 0;
    while (at < pipeline->num_ids && pipeline->ids[at] != id) at++;
    return at;
}

// Edges are those of tensors, buffers those before they have a place. What lowering makes is not
// counted: a kernel is counted as vectors.
static Status run_side(Side *s, const PassPipeline *pipeline, DiagSink *sink) {
    size_t end = place_of(pipeline, PASS_lower_target), at = place_of(pipeline, PASS_bufferize);
    bool is_buffers = pass_facts(s->m) >> FACT_BUFFERIZED & 1;
    at = is_buffers ? 0 : MIN(at, end);
    size_t num[3] = {at, at < end && !is_buffers, 0};
    num[2] = end - num[0] - num[1];
    const PassId *ids = pipeline->ids;
    for (int i = 0; i < 3; i++) {
        PassPipeline part = {.ids = ids, .num_ids = num[i]};
        TRY(pass_pipeline_run(s->m, &part, sink));
        ids += num[i];
        if (i == 0) explain_tensors(s->m, &s->e);
        if (i == 1) explain_buffers(s->m, &s->e);
    }
    return STATUS_OK;
}

// Threads and context of the module; IR text may name neither.
static void read_config(const IrModule *m, PassConfig *out) {
    DiagSink quiet;
    diag_sink_init(&quiet);
    if (pass_config_read(m, &quiet, out) != STATUS_OK) *out = (PassConfig){.threads = 1};
    diag_sink_deinit(&quiet);
}

static bool has_fact(const Side *s, PassFact fact) {
    return pass_facts(s->m) >> fact & 1;
}

// Which of the disabled passes would have established a fact.
static const char *maker_of(uint64_t disabled, PassFact fact) {
    for (int i = 0; i < NUM_PASSES; i++)
        if (disabled >> i & 1 && pass_info((PassId)i)->establishes >> fact & 1)
            return pass_info((PassId)i)->name;
    return "?";
}

// fact: what is predicted from, vectors or buffers.
static void predict_side(Side *s, PassFact fact, uint64_t disabled, DiagSink *sink,
                         PassCost *cost) {
    if (!has_fact(s, FACT_BUFFERIZED) && fact == FACT_BUFFERIZED && !disabled) {
        cost->unpredicted = "the pipeline ends before pass bufferize, and tensors tell no time";
        return;
    }
    if (!has_fact(s, fact)) {
        cost->unpredicted = arena_printf(&sink->arena, "without pass %s nothing is %s: %s",
                                         maker_of(disabled, fact), pass_fact_name(fact),
                                         pass_fact_meaning(fact));
        return;
    }
    PassConfig config;
    Prediction prediction;
    read_config(s->m, &config);
    if (predict_buffers(s->m, &s->machine, &config, fact == FACT_VECTORIZED, &sink->arena,
                        &prediction))
        pass_cost_take(&prediction, &config, cost);
    else
        cost->unpredicted = "the calls of its functions are too many to follow";
}

static Status open_side(Side *s, const IrModule *m, const PassPipeline *pipeline, DiagSink *sink,
                        PassCost *cost) {
    TRY(explain_init_module(&s->e, m, sink, &s->machine));
    s->m = ir_module_clone(m);
    TRY(run_side(s, pipeline, sink));
    cost->counts = explain_cost(&s->e);
    return STATUS_OK;
}

Status pass_cost_of_pipeline(const IrModule *m, const PassPipeline *with_all, uint64_t disabled,
                             DiagSink *sink, DisabledCost *out) {
    Side all = {0}, without = {0};
    PassPipeline left = {.ids = arena_alloc(&sink->arena, with_all->num_ids + 1, sizeof(PassId))};
    PassId *ids = (PassId *)left.ids;
    for (size_t i = 0; i < with_all->num_ids; i++)
        if (!(disabled >> with_all->ids[i] & 1)) ids[left.num_ids++] = with_all->ids[i];
    PassPipeline whole = {.ids = with_all->ids, .num_ids = with_all->num_ids};
    out->lost = pass_disable_lost(with_all->ids, with_all->num_ids, disabled);
    Status status = open_side(&all, m, &whole, sink, &out->all);
    if (status == STATUS_OK) status = open_side(&without, m, &left, sink, &out->without);
    if (status == STATUS_OK) {
        PassFact fact = has_fact(&all, FACT_VECTORIZED) ? FACT_VECTORIZED : FACT_BUFFERIZED;
        predict_side(&all, fact, 0, sink, &out->all);
        if (out->all.unpredicted)
            out->without.unpredicted = out->all.unpredicted;
        else
            predict_side(&without, fact, disabled, sink, &out->without);
    }
    explain_deinit(&all.e);
    explain_deinit(&without.e);
    if (all.m) ir_module_destroy(all.m);
    if (without.m) ir_module_destroy(without.m);
    return status;
}
