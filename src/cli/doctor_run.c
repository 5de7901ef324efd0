// What shows only while an artifact runs: it is run briefly, from tokens that do not matter; see
// doctor.h. Times of a step are the least of several rounds, so that other programs do not count.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/loaded_model.h"
#include "cli/sequences.h"
#include "runtime/api.h"

enum {
    ROUNDS = 3,
    MAX_STEPS = 192, // generated tokens of a round
    NEIGHBOURS = 3,  // steps before a page that its first one is compared with
    GROWTH_BYTES = 1 << 20,
};

typedef struct Watch {
    Doctor *d;
    Model *model;
    const Artifact *artifact;
    uint32_t num_steps;
    int32_t ids[MAX_STEPS];
    uint64_t best_ns[MAX_STEPS]; // of the step at this position
    uint64_t num_bad;            // logits that are no number
    uint32_t bad_position;
    uint64_t rss_before, rss_after;
    // Of all measured steps: wall time, time inside kernels, and of that waiting at barriers.
    double wall_ns, kernel_ns, wait_ns;
} Watch;

static uint64_t rss_bytes(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void look_at_logits(Watch *w, uint32_t position) {
    const float *logits = ingot_logits(w->model->session);
    for (uint32_t i = 0; i < w->model->info.vocab_size; i++) {
        if (isfinite(logits[i])) continue;
        if (w->num_bad++ == 0) w->bad_position = position;
    }
}

static Status run_round(Watch *w, bool counts) {
    ingot_session_reset(w->model->session);
    for (uint32_t i = 0; i < w->num_steps; i++) {
        uint64_t begin = clock_ns();
        TRY(model_decode(w->d->cli, w->model, w->ids[i]));
        uint64_t ns = clock_ns() - begin;
        if (!counts) continue;
        w->best_ns[i] = MIN(w->best_ns[i], ns);
        look_at_logits(w, i);
    }
    return STATUS_OK;
}

// A round with the executor's clock in every step; the quickest of them is kept.
static Status run_profiled(Watch *w, uint64_t num, uint64_t *step_ns, uint64_t *wait_ns) {
    memset(step_ns, 0, num * sizeof *step_ns);
    memset(wait_ns, 0, num * sizeof *wait_ns);
    executor_set_profile(w->model->handle->executor, step_ns, wait_ns);
    uint64_t begin = clock_ns();
    Status status = run_round(w, false);
    double wall_ns = (double)(clock_ns() - begin);
    executor_set_profile(w->model->handle->executor, NULL, NULL);
    if (w->wall_ns > 0 && wall_ns >= w->wall_ns) return status;
    w->wall_ns = wall_ns;
    w->kernel_ns = w->wait_ns = 0;
    for (uint64_t i = 0; i < num; i++) {
        w->kernel_ns += (double)step_ns[i];
        w->wait_ns += (double)wait_ns[i];
    }
    return status;
}

static Status profile(Watch *w) {
    uint64_t num = MAX(w->artifact->plan->steps.count, (uint64_t)1);
    uint64_t *step_ns = base_alloc(num, sizeof *step_ns),
             *wait_ns = base_alloc(num, sizeof *wait_ns);
    Status status = STATUS_OK;
    for (int round = 0; round < ROUNDS && status == STATUS_OK; round++)
        status = run_profiled(w, num, step_ns, wait_ns);
    free(step_ns);
    free(wait_ns);
    return status;
}

// ---------------------------------------------------------------- findings

// The step that takes a new page, against those before it.
static void find_pages(const Watch *w) {
    double first = 0, before = 0;
    uint32_t page = w->model->info.page_tokens, num = 0;
    for (uint32_t at = page; page > NEIGHBOURS && at < w->num_steps; at += page) {
        first += (double)w->best_ns[at];
        for (uint32_t i = 1; i <= NEIGHBOURS; i++)
            before += (double)w->best_ns[at - i] / (double)NEIGHBOURS;
        num++;
    }
    if (!num || before <= 0) return;
    double ratio = first / before;
    doctor_find(
        w->d, SYMPTOM_PAGES, ratio > 1.5 ? FINDING_WARN : FINDING_PASS, ratio,
        "times the step before", "measured: least of 3 rounds at each position",
        "the first token of a page takes %.0f us, those before it %.0f us: %.2f times, of %u "
        "pages of %u tokens",
        first / num * 1e-3, before / num * 1e-3, ratio, num, page);
}

static void find_growth(const Watch *w) {
    uint64_t grown = w->rss_after > w->rss_before ? w->rss_after - w->rss_before : 0;
    char text[32];
    doctor_find(w->d, SYMPTOM_MEMORY_GROWS, grown > GROWTH_BYTES ? FINDING_FAIL : FINDING_PASS,
                (double)grown, "bytes", "measured: /proc/self/statm before and after",
                "%u tokens grew the process by %s bytes", w->num_steps * ROUNDS,
                grouped(grown, text));
}

static void find_bad_logits(const Watch *w) {
    doctor_find(
        w->d, SYMPTOM_NAN, w->num_bad ? FINDING_FAIL : FINDING_PASS, (double)w->num_bad, "logits",
        "measured: every logit of every step",
        w->num_bad ? "%llu of %llu logits are infinite or no number, the first after token %u"
                   : "%llu of %llu logits are infinite or no number",
        (unsigned long long)w->num_bad,
        (unsigned long long)w->num_steps * ROUNDS * w->model->info.vocab_size, w->bad_position + 1);
    if (!w->num_bad) return;
    w->d->num_bad_tokens = w->bad_position + 1;
    w->d->vocab_size = w->model->info.vocab_size;
    doctor_change(w->d, SYMPTOM_NAN,
                  "ingot doctor RECIPE --model FILE names the op, and the precision that cures it");
}

static void find_gaps(const Watch *w) {
    if (w->wall_ns <= 0) return;
    double gap = 100 * MAX(1 - w->kernel_ns / w->wall_ns, 0.0);
    double wait = 100 * w->wait_ns / w->wall_ns;
    const PlanEntry *entry = &w->artifact->entries[0];
    uint32_t barriers = 0;
    for (uint32_t s = 0; s < entry->num_steps; s++)
        barriers += w->artifact->steps[entry->first_step + s].needs_barrier != 0;
    doctor_find(
        w->d, SYMPTOM_HOST_BOUND, gap > 25 ? FINDING_WARN : FINDING_PASS, gap,
        "percent of the time",
        "measured: executor's clock in each step, against the whole, in the quickest of 3 rounds",
        "%.1f percent of the time lies between the kernels of %u steps a token", gap,
        entry->num_steps);
    doctor_find(w->d, SYMPTOM_BARRIERS, wait > 25 ? FINDING_WARN : FINDING_PASS, wait,
                "percent of the time", "steps of the plan; waiting measured on the first worker",
                "%u barriers a token; %.1f percent of the time is waiting for other workers, of %u",
                barriers, wait, w->model->info.num_threads);
}

// ---------------------------------------------------------------- first calls

static Status call_size(Doctor *d, Model *model, const PlanEntry *entry, const int32_t *ids,
                        uint64_t *out_ns) {
    if (entry->is_batch) {
        Sequences sequences;
        Status status = sequences_open(d->cli, model, entry->bucket_tokens, ids, 0, &sequences);
        uint64_t begin = clock_ns();
        if (status == STATUS_OK) status = sequences_decode(d->cli, &sequences, ids[0]);
        *out_ns = clock_ns() - begin;
        sequences_close(&sequences);
        return status;
    }
    ingot_session_reset(model->session);
    uint64_t begin = clock_ns();
    Status status = model_prefill(d->cli, model, ids, entry->bucket_tokens);
    *out_ns = clock_ns() - begin;
    return status;
}

// Every size right after opening, and again: how much longer the first call takes.
static Status find_cold_calls(Watch *w) {
    uint32_t context = w->model->info.context_tokens, worst_size = 0, num = 0;
    int32_t *ids = base_alloc(context, sizeof *ids);
    for (uint32_t i = 0; i < context; i++) ids[i] = (int32_t)(i % w->model->info.vocab_size);
    double worst = 0, worst_first = 0;
    Status status = STATUS_OK;
    for (uint64_t e = 0; e < w->artifact->plan->entries.count && status == STATUS_OK; e++) {
        const PlanEntry *entry = &w->artifact->entries[e];
        uint64_t first = 0, second = 0;
        if (!entry->is_batch && entry->bucket_tokens > context) continue;
        status = call_size(w->d, w->model, entry, ids, &first);
        if (status == STATUS_OK) status = call_size(w->d, w->model, entry, ids, &second);
        double ratio = (double)first / (double)MAX(second, (uint64_t)1);
        num++;
        if (ratio <= worst) continue;
        worst = ratio;
        worst_first = (double)first;
        worst_size = entry->bucket_tokens;
    }
    free(ids);
    bool is_slow = worst > 3 && worst_first - worst_first / worst > 1e6; // and by a millisecond
    if (status == STATUS_OK && num)
        doctor_find(
            w->d, SYMPTOM_BATCH, is_slow ? FINDING_WARN : FINDING_PASS, worst,
            "times the second call", "measured: the first two calls of every size",
            "of %u sizes the first call takes at most %.2f times the second: %.0f us at size %u",
            num, worst, worst_first * 1e-3, worst_size);
    return status;
}

// ---------------------------------------------------------------- all of it

static bool wants_any(const Doctor *d) {
    static const SymptomId of_runs[] = {SYMPTOM_NAN,   SYMPTOM_MEMORY_GROWS, SYMPTOM_PAGES,
                                        SYMPTOM_BATCH, SYMPTOM_HOST_BOUND,   SYMPTOM_BARRIERS};
    for (size_t i = 0; i < ARRAY_LEN(of_runs); i++)
        if (doctor_wants(d, of_runs[i])) return true;
    return false;
}

static Status watch(Watch *w) {
    for (uint32_t i = 0; i < MAX_STEPS; i++) {
        w->ids[i] = doctor_token(i, w->model->info.vocab_size);
        w->best_ns[i] = UINT64_MAX;
    }
    TRY(find_cold_calls(w));
    TRY(run_round(w, false)); // warm
    w->rss_before = rss_bytes();
    for (int round = 0; round < ROUNDS; round++) TRY(run_round(w, true));
    w->rss_after = rss_bytes();
    TRY(profile(w));
    find_pages(w);
    find_growth(w);
    find_bad_logits(w);
    find_gaps(w);
    return STATUS_OK;
}

Status doctor_check_runs(Doctor *d, const char *path) {
    if (!wants_any(d)) return STATUS_OK;
    Model model;
    TRY(model_open_any(d->cli, path, &model));
    Watch w = {.d = d, .model = &model, .artifact = &model.handle->artifact};
    uint32_t page = model.info.page_tokens;
    w.num_steps =
        MIN(model.info.context_tokens, MIN(2 * page + 2 * NEIGHBOURS, (uint32_t)MAX_STEPS));
    Status status = model.session && w.num_steps ? watch(&w) : STATUS_OK;
    model_close(&model);
    return status;
}
