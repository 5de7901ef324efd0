// Where the time of an artifact goes, by kernel: runs a prefill, then decodes, and prints what each
// kernel took on worker 0 and how long that worker then waited at the barrier.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/session.h"
#include "runtime/tensor_call.h"

typedef struct Row {
    uint32_t kernel;
    uint64_t num_steps, step_ns, wait_ns;
} Row;

typedef struct Profile {
    const Artifact *artifact;
    Session *session;
    DiagSink sink;
    uint64_t *step_ns, *wait_ns;
} Profile;

static uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int by_time(const void *a, const void *b) {
    const Row *x = a, *y = b;
    uint64_t x_ns = x->step_ns + x->wait_ns, y_ns = y->step_ns + y->wait_ns;
    return x_ns > y_ns ? -1 : x_ns < y_ns;
}

static void print_kernels(const Profile *profile, uint64_t wall_ns) {
    const Artifact *artifact = profile->artifact;
    uint64_t num_kernels = artifact->plan->kernels.count;
    Row *rows = base_alloc(num_kernels, sizeof *rows);
    for (uint64_t i = 0; i < artifact->plan->steps.count; i++) {
        if (profile->step_ns[i] == 0) continue;
        Row *row = &rows[artifact->steps[i].kernel];
        row->kernel = artifact->steps[i].kernel;
        row->num_steps++;
        row->step_ns += profile->step_ns[i];
        row->wait_ns += profile->wait_ns[i];
    }
    qsort(rows, num_kernels, sizeof *rows, by_time);
    printf("%8s %10s %10s %7s  %s\n", "steps", "run ms", "wait ms", "share", "kernel");
    for (uint64_t i = 0; i < num_kernels && rows[i].num_steps; i++) {
        const PlanKernel *kernel = &artifact->kernels[rows[i].kernel];
        printf("%8llu %10.3f %10.3f %6.1f%%  %s (%s)\n", (unsigned long long)rows[i].num_steps,
               (double)rows[i].step_ns * 1e-6, (double)rows[i].wait_ns * 1e-6,
               100.0 * (double)(rows[i].step_ns + rows[i].wait_ns) / (double)wall_ns,
               artifact_string(artifact, kernel->kind), artifact_string(artifact, kernel->name));
    }
    free(rows);
}

// Feeds tokens in one call, or one by one; three passes, the last is profiled.
static Status measure(Profile *profile, const char *title, uint32_t depth, uint32_t num_tokens,
                      bool one_by_one) {
    uint64_t num_steps = profile->artifact->plan->steps.count, wall_ns = 0;
    int32_t *ids = base_alloc(depth + num_tokens, sizeof *ids);
    for (uint32_t i = 0; i < depth + num_tokens; i++)
        ids[i] = (int32_t)(i * 37 % profile->artifact->plan->vocab_size);
    Status status = STATUS_OK;
    for (unsigned pass = 0; pass < 3 && status == STATUS_OK; pass++) {
        session_reset(profile->session);
        status = session_prefill(profile->session, ids, depth, &profile->sink);
        memset(profile->step_ns, 0, num_steps * sizeof *profile->step_ns);
        memset(profile->wait_ns, 0, num_steps * sizeof *profile->wait_ns);
        uint64_t begin_ns = clock_ns();
        for (uint32_t i = 0; i < num_tokens && status == STATUS_OK;
             i += one_by_one ? 1 : num_tokens)
            status = session_prefill(profile->session, ids + depth + i, one_by_one ? 1 : num_tokens,
                                     &profile->sink);
        wall_ns = clock_ns() - begin_ns;
    }
    free(ids);
    if (status != STATUS_OK || num_tokens == 0) return status;
    printf("\n%s: %u tokens after %u, %.2f ms, %.1f tokens/s\n", title, num_tokens, depth,
           (double)wall_ns * 1e-6, num_tokens * 1e9 / (double)wall_ns);
    print_kernels(profile, wall_ns);
    return STATUS_OK;
}

// Calls an entry that takes tensors, all zero; the first calls are not profiled.
static Status measure_calls(Profile *profile, Executor *executor, uint32_t num_calls) {
    const Artifact *artifact = profile->artifact;
    const PlanEntry *entry = &artifact->entries[0];
    uint32_t num = entry_num_ports(entry, artifact, PORT_ARGUMENT);
    uint64_t num_steps = artifact->plan->steps.count, begin_ns = 0;
    IngotTensor *arguments = base_alloc(num + 1, sizeof *arguments);
    for (uint32_t i = 0; i < num; i++) {
        arguments[i] = tensor_of_port(artifact, entry_port(entry, artifact, PORT_ARGUMENT, i));
        arguments[i].data = base_alloc(arguments[i].len_bytes + 1, 1);
    }
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < 3 + num_calls && status == STATUS_OK; i++) {
        if (i == 3) {
            memset(profile->step_ns, 0, num_steps * sizeof *profile->step_ns);
            memset(profile->wait_ns, 0, num_steps * sizeof *profile->wait_ns);
            begin_ns = clock_ns();
        }
        status = tensor_call(executor, NULL, arguments, num, NULL, 0, &profile->sink);
    }
    uint64_t wall_ns = clock_ns() - begin_ns;
    for (uint32_t i = 0; i < num; i++) free(arguments[i].data);
    free(arguments);
    if (status != STATUS_OK) return status;
    printf("\n%u calls, %.3f ms each\n", num_calls, (double)wall_ns * 1e-6 / num_calls);
    print_kernels(profile, wall_ns);
    return STATUS_OK;
}

static Status profile_file(Profile *profile, char **argv) {
    Artifact artifact;
    TRY(artifact_open(argv[1], &profile->sink, &artifact));
    Executor *executor = NULL;
    const ExecutorOptions options = {.num_threads = (uint32_t)strtoul(argv[2], NULL, 10)};
    Status status = executor_open(&artifact, &options, &profile->sink, &executor);
    if (status == STATUS_OK) {
        profile->artifact = &artifact;
        bool has_calls = artifact.plan->vocab_size == 0;
        if (!has_calls) profile->session = session_create(executor);
        profile->step_ns = base_alloc(artifact.plan->steps.count, sizeof *profile->step_ns);
        profile->wait_ns = base_alloc(artifact.plan->steps.count, sizeof *profile->wait_ns);
        executor_set_profile(executor, profile->step_ns, profile->wait_ns);
        uint32_t num_prefill = (uint32_t)strtoul(argv[3], NULL, 10);
        uint32_t num_decode = (uint32_t)strtoul(argv[4], NULL, 10);
        printf("%s, %u threads\n", executor_level_name(executor), executor_num_threads(executor));
        if (has_calls)
            status = measure_calls(profile, executor, num_prefill);
        else
            status = measure(profile, "prefill", 0, num_prefill, false);
        if (status == STATUS_OK && !has_calls)
            status = measure(profile, "decode", 0, num_decode, true);
        if (status == STATUS_OK && !has_calls)
            status = measure(profile, "decode at depth", num_prefill, num_decode, true);
        if (!has_calls) session_destroy(profile->session);
        free(profile->step_ns);
        free(profile->wait_ns);
        executor_close(executor);
    }
    artifact_close(&artifact);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s FILE.ingot THREADS PREFILL_TOKENS|CALLS DECODE_TOKENS\n",
                argv[0]);
        return STATUS_USAGE;
    }
    Profile profile = {0};
    diag_sink_init(&profile.sink);
    Status status = profile_file(&profile, argv);
    StrBuf text = {0};
    diag_render(&profile.sink, &text);
    fputs(text.data ? text.data : "", stderr);
    strbuf_deinit(&text);
    diag_sink_deinit(&profile.sink);
    return (int)status;
}
