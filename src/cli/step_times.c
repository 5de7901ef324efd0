// Runs buckets with the profiler on; see step_times.h.
#include "cli/step_times.h"

#include <stdlib.h>
#include <string.h>

#include "cli/bench_tensors.h"
#include "cli/sequences.h"
#include "runtime/api.h"

typedef struct StepClock {
    Cli *cli;
    Model *model;
    uint64_t depth;
    int32_t *ids;                // of the whole context
    uint64_t *step_ns, *wait_ns; // by step
} StepClock;

uint64_t *step_times_create(const Model *model) {
    uint64_t num = MAX(model->handle->artifact.plan->steps.count, (uint64_t)1);
    uint64_t *best_ns = base_alloc(num, sizeof *best_ns);
    for (uint64_t i = 0; i < num; i++) best_ns[i] = UINT64_MAX;
    return best_ns;
}

// One call of the bucket; its steps' times are in step_ns.
static Status run_bucket(StepClock *c, uint32_t tokens) {
    Executor *executor = c->model->handle->executor;
    ingot_session_reset(c->model->session);
    if (c->depth) TRY(model_prefill(c->cli, c->model, c->ids, c->depth));
    executor_set_profile(executor, c->step_ns, c->wait_ns);
    Status status = model_prefill(c->cli, c->model, c->ids + c->depth, tokens);
    executor_set_profile(executor, NULL, NULL);
    return status;
}

// One step of so many sequences.
static Status run_batch(StepClock *c, uint32_t num) {
    Executor *executor = c->model->handle->executor;
    Sequences sequences;
    Status status = sequences_open(c->cli, c->model, num, c->ids, c->depth, &sequences);
    executor_set_profile(executor, c->step_ns, c->wait_ns);
    if (status == STATUS_OK) status = sequences_decode(c->cli, &sequences, c->ids[c->depth]);
    executor_set_profile(executor, NULL, NULL);
    sequences_close(&sequences);
    return status;
}

// One call of an entry that takes tensors.
static Status run_entry(StepClock *c, uint32_t e) {
    TensorCall call = tensor_call_prepare(c->model, e);
    executor_set_profile(c->model->handle->executor, c->step_ns, c->wait_ns);
    Status status = tensor_call_run(c->cli, c->model, &call);
    executor_set_profile(c->model->handle->executor, NULL, NULL);
    tensor_call_deinit(&call);
    return status;
}

bool step_times_fits(const Model *model, const PlanEntry *entry, uint64_t depth) {
    return depth + (entry->is_batch ? 1 : entry->bucket_tokens) <= model->info.context_tokens;
}

Status step_times_measure(Cli *cli, Model *model, uint64_t depth, uint64_t *best_ns) {
    const Artifact *artifact = &model->handle->artifact;
    uint64_t num_steps = MAX(artifact->plan->steps.count, (uint64_t)1);
    uint64_t context = model->info.context_tokens;
    StepClock c = {.cli = cli, .model = model, .depth = depth};
    c.ids = base_alloc(MAX(context, (uint64_t)1), sizeof *c.ids);
    c.step_ns = base_alloc(num_steps, sizeof *c.step_ns);
    c.wait_ns = base_alloc(num_steps, sizeof *c.wait_ns);
    for (uint64_t i = 0; i < context; i++)
        c.ids[i] = (int32_t)((17 + 13 * i) % model->info.vocab_size);
    Status status = STATUS_OK;
    for (uint64_t e = 0; e < artifact->plan->entries.count && status == STATUS_OK; e++) {
        const PlanEntry *entry = &artifact->entries[e];
        if (model->session && !step_times_fits(model, entry, depth)) continue;
        memset(c.step_ns, 0, num_steps * sizeof *c.step_ns);
        status = !model->session   ? run_entry(&c, (uint32_t)e)
                 : entry->is_batch ? run_batch(&c, entry->bucket_tokens)
                                   : run_bucket(&c, entry->bucket_tokens);
        for (uint32_t s = entry->first_step; s < entry->first_step + entry->num_steps; s++)
            best_ns[s] = MIN(best_ns[s], c.step_ns[s]);
    }
    free(c.ids);
    free(c.step_ns);
    free(c.wait_ns);
    return status;
}
