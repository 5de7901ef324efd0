// Executor and sessions on the synthetic artifact: the same logits, to the bit, for every thread
// count, chunk size, CPU level and page order; refusals before anything changes; memory as planned.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/sampler.h"
#include "runtime/session.h"
#include "runtime/warm_up.h"
#include "../sanitized.h"
#include "synthetic.h"

typedef struct Fixture {
    char *path;
    Artifact artifact;
    DiagSink sink;
    int32_t ids[SYNTHETIC_CONTEXT];
    float expected[SYNTHETIC_CONTEXT + 1][SYNTHETIC_VOCAB]; // after so many tokens
} Fixture;

static int set_up(void **state) {
    Fixture *fixture = base_alloc(1, sizeof *fixture);
    fixture->path = synthetic_path("executor");
    synthetic_write(fixture->path, &(SyntheticOptions){0});
    diag_sink_init(&fixture->sink);
    assert_int_equal(artifact_open(fixture->path, &fixture->sink, &fixture->artifact), STATUS_OK);
    for (int32_t i = 0; i < SYNTHETIC_CONTEXT; i++)
        fixture->ids[i] = (i * 37 + 5) % SYNTHETIC_VOCAB;
    for (uint32_t n = 1; n <= SYNTHETIC_CONTEXT; n++)
        synthetic_reference(fixture->ids, n, fixture->expected[n]);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    artifact_close(&fixture->artifact);
    diag_sink_deinit(&fixture->sink);
    unlink(fixture->path);
    free(fixture->path);
    free(fixture);
    return 0;
}

static Executor *open_executor(Fixture *fixture, uint32_t num_threads) {
    Executor *executor = NULL;
    // The kernels of the test are plain code: they run at every level the processor has.
    const ExecutorOptions options = {.num_threads = num_threads};
    assert_int_equal(executor_open(&fixture->artifact, &options, &fixture->sink, &executor),
                     STATUS_OK);
    assert_int_equal(executor_num_threads(executor), num_threads);
    return executor;
}

static void assert_logits(const Fixture *fixture, const Session *session) {
    uint32_t n = session_num_tokens(session);
    assert_memory_equal(session_logits(session), fixture->expected[n], sizeof fixture->expected[n]);
}

static void test_bit_identical(void **state) {
    Fixture *fixture = *state;
    const uint32_t chunks[] = {1, 2, 3, 5, 8, 9, 13, 31, 32},
                   lengths[] = {1, 2, 7, 8, 9, 33, 64, 95};
    for (uint32_t threads = 1; threads <= SYNTHETIC_MAX_THREADS; threads++) {
        Executor *executor = open_executor(fixture, threads);
        Session *session = session_create(executor);
        for (size_t c = 0; c < ARRAY_LEN(chunks); c++)
            for (size_t n = 0; n < ARRAY_LEN(lengths); n++) {
                assert_int_equal(session_set_chunk(session, chunks[c], &fixture->sink), STATUS_OK);
                assert_null(session_logits(session));
                assert_int_equal(session_prefill(session, fixture->ids, lengths[n], &fixture->sink),
                                 STATUS_OK);
                assert_logits(fixture, session);
                assert_int_equal(session_decode(session, fixture->ids[lengths[n]], &fixture->sink),
                                 STATUS_OK);
                assert_logits(fixture, session);
                session_reset(session);
            }
        session_destroy(session);
        executor_close(executor);
    }
}

typedef struct EachRow {
    const Fixture *fixture;
    uint64_t num_rows;
} EachRow;

static void assert_row(void *context, uint64_t index, const float *logits) {
    EachRow *rows = context;
    assert_int_equal(index, rows->num_rows++);
    assert_memory_equal(logits, rows->fixture->expected[index + 1],
                        sizeof rows->fixture->expected[0]);
}

// The logits after every token, by entries whose head can run again and by one whose cannot.
static void test_each_row(void **state) {
    Fixture *fixture = *state;
    const uint32_t chunks[] = {1, 3, 8, 9, 31, 32}, lengths[] = {1, 8, 33, 95};
    for (uint32_t threads = 1; threads <= SYNTHETIC_MAX_THREADS; threads++) {
        Executor *executor = open_executor(fixture, threads);
        Session *session = session_create(executor);
        for (size_t c = 0; c < ARRAY_LEN(chunks); c++)
            for (size_t n = 0; n < ARRAY_LEN(lengths); n++) {
                EachRow rows = {fixture, 0};
                assert_int_equal(session_set_chunk(session, chunks[c], &fixture->sink), STATUS_OK);
                assert_int_equal(session_prefill_each(session, fixture->ids, lengths[n], assert_row,
                                                      &rows, &fixture->sink),
                                 STATUS_OK);
                assert_int_equal(rows.num_rows, lengths[n]);
                assert_logits(fixture, session);
                assert_int_equal(session_decode(session, fixture->ids[lengths[n]], &fixture->sink),
                                 STATUS_OK);
                assert_logits(fixture, session);
                session_reset(session);
            }
        session_destroy(session);
        executor_close(executor);
    }
}

static void test_decode_to_the_end(void **state) {
    Fixture *fixture = *state;
    Executor *executor = open_executor(fixture, 2);
    Session *session = session_create(executor);
    for (uint32_t i = 0; i < SYNTHETIC_CONTEXT; i++) {
        assert_int_equal(session_decode(session, fixture->ids[i], &fixture->sink), STATUS_OK);
        assert_logits(fixture, session);
    }
    // Full: refused with both numbers, and nothing has changed.
    size_t before = fixture->sink.num_diags;
    assert_int_equal(session_decode(session, 1, &fixture->sink), STATUS_LIMIT);
    assert_int_equal(fixture->sink.diags[before].code, DIAG_X0011);
    assert_non_null(strstr(fixture->sink.diags[before].message, "96"));
    assert_int_equal(session_num_tokens(session), SYNTHETIC_CONTEXT);
    assert_logits(fixture, session);
    session_destroy(session);
    executor_close(executor);
}

// Sessions in turn, pages taken in a mixed order, two sharing the slab.
static void test_pages(void **state) {
    Fixture *fixture = *state;
    Executor *executor = open_executor(fixture, 2);
    Session *one = session_create(executor), *two = session_create(executor);
    assert_int_equal(executor_num_free_pages(executor), SYNTHETIC_PAGES);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(session_decode(one, fixture->ids[i], &fixture->sink), STATUS_OK);
        assert_logits(fixture, one);
        assert_int_equal(session_decode(two, fixture->ids[i], &fixture->sink), STATUS_OK);
        assert_logits(fixture, two);
    }
    assert_int_equal(executor_num_free_pages(executor), SYNTHETIC_PAGES - 20);
    // Both cannot grow to the whole context.
    size_t before = fixture->sink.num_diags;
    assert_int_equal(session_prefill(one, fixture->ids + 40, 40, &fixture->sink), STATUS_LIMIT);
    assert_int_equal(fixture->sink.diags[before].code, DIAG_X0015);
    assert_int_equal(session_num_tokens(one), 40);
    session_reset(two);
    assert_int_equal(session_prefill(one, fixture->ids + 40, 56, &fixture->sink), STATUS_OK);
    assert_logits(fixture, one);
    session_destroy(one);
    assert_int_equal(executor_num_free_pages(executor), SYNTHETIC_PAGES);
    assert_int_equal(session_prefill(two, fixture->ids, 50, &fixture->sink), STATUS_OK);
    assert_logits(fixture, two);
    session_destroy(two);
    executor_close(executor);
}

// What was forgotten leaves no trace: not in the results, nor in the pages held.
static void test_truncate(void **state) {
    Fixture *fixture = *state;
    Executor *executor = open_executor(fixture, 2);
    Session *session = session_create(executor);
    static const uint32_t kept[] = {0, 1, 15, 16, 17, 31, 32};
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        session_reset(session);
        if (kept[i])
            assert_int_equal(session_prefill(session, fixture->ids, kept[i], &fixture->sink),
                             STATUS_OK);
        uint32_t free_before = executor_num_free_pages(executor);
        for (int32_t other = 1; other < 40; other++)
            assert_int_equal(session_decode(session, other, &fixture->sink), STATUS_OK);
        session_truncate(session, 1000); // more than there are
        assert_int_equal(session_num_tokens(session), kept[i] + 39);
        assert_non_null(session_logits(session));
        session_truncate(session, kept[i]);
        assert_int_equal(session_num_tokens(session), kept[i]);
        assert_null(session_logits(session));
        assert_int_equal(executor_num_free_pages(executor), free_before);
        assert_int_equal(
            session_prefill(session, fixture->ids + kept[i], 48 - kept[i], &fixture->sink),
            STATUS_OK);
        assert_logits(fixture, session);
    }
    session_destroy(session);
    assert_int_equal(executor_num_free_pages(executor), SYNTHETIC_PAGES);
    executor_close(executor);
}

static void test_refusals(void **state) {
    Fixture *fixture = *state;
    DiagSink *sink = &fixture->sink;
    Executor *executor = open_executor(fixture, 1);
    Session *session = session_create(executor);
    const int32_t below[] = {3, -1}, above[] = {3, SYNTHETIC_VOCAB};
    size_t before = sink->num_diags;
    assert_int_equal(session_prefill(session, below, 2, sink), STATUS_INVALID);
    assert_int_equal(session_prefill(session, above, 2, sink), STATUS_INVALID);
    assert_int_equal(session_decode(session, INT32_MIN, sink), STATUS_INVALID);
    for (size_t i = before; i < before + 3; i++) assert_int_equal(sink->diags[i].code, DIAG_X0012);
    assert_int_equal(session_prefill(session, fixture->ids, SYNTHETIC_CONTEXT + 1, sink),
                     STATUS_LIMIT);
    assert_int_equal(session_set_chunk(session, 0, sink), STATUS_INVALID);
    assert_int_equal(session_set_chunk(session, SYNTHETIC_LARGEST_BUCKET + 1, sink),
                     STATUS_INVALID);
    assert_int_equal(session_chunk(session), SYNTHETIC_LARGEST_BUCKET);
    assert_int_equal(session_prefill(session, NULL, 0, sink), STATUS_OK);
    assert_int_equal(session_num_tokens(session), 0);
    assert_null(session_logits(session));
    session_destroy(session);
    executor_close(executor);
}

static void test_options(void **state) {
    Fixture *fixture = *state;
    DiagSink *sink = &fixture->sink;
    Executor *executor = NULL;
    ExecutorOptions options = {.num_threads = SYNTHETIC_MAX_THREADS + 1};
    size_t before = sink->num_diags;
    assert_int_equal(executor_open(&fixture->artifact, &options, sink, &executor), STATUS_LIMIT);
    assert_int_equal(sink->diags[before].code, DIAG_X0009);
    options = (ExecutorOptions){.cpu_level = "x86-64-v3"};
    assert_int_equal(executor_open(&fixture->artifact, &options, sink, &executor), STATUS_OK);
    assert_string_equal(executor_level_name(executor), "x86-64-v3");
    assert_true(executor_num_threads(executor) >= 1);
    assert_true(executor_num_threads(executor) <= cpu_usable_threads());
    executor_close(executor);
    options = (ExecutorOptions){.cpu_level = "x86-64-v4"};
    assert_int_equal(executor_open(&fixture->artifact, &options, sink, &executor), STATUS_INVALID);
    executor_close(NULL);
}

static void test_profile(void **state) {
    Fixture *fixture = *state;
    uint64_t num_steps = fixture->artifact.plan->steps.count;
    uint64_t *step_ns = base_alloc(num_steps, sizeof *step_ns);
    uint64_t *wait_ns = base_alloc(num_steps, sizeof *wait_ns);
    Executor *executor = open_executor(fixture, 2);
    Session *session = session_create(executor);
    executor_set_profile(executor, step_ns, wait_ns);
    assert_int_equal(session_prefill(session, fixture->ids, 32, &fixture->sink), STATUS_OK);
    assert_logits(fixture, session);
    const PlanEntry *largest = &fixture->artifact.entries[2];
    uint64_t sum_ns = 0;
    for (uint32_t i = 0; i < largest->num_steps; i++) sum_ns += step_ns[largest->first_step + i];
    assert_true(sum_ns > 0);
    assert_int_equal(step_ns[0], 0); // the other entries have not run
    executor_set_profile(executor, NULL, NULL);
    session_destroy(session);
    executor_close(executor);
    free(step_ns);
    free(wait_ns);
}

// A line of /proc/self/status in bytes.
static uint64_t status_bytes(const char *key) {
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    char line[256];
    unsigned long long kib = 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) sscanf(line + strlen(key), ": %llu", &kib);
    fclose(file);
    return kib * 1024;
}

// Every step of every version has run, nothing is held or forgotten, and what is refused runs
// nothing more.
static void test_warm_up(void **state) {
    Fixture *fixture = *state;
    Executor *executor = open_executor(fixture, 2);
    uint64_t num_steps = fixture->artifact.plan->steps.count;
    uint64_t *step_ns = base_alloc(num_steps, sizeof *step_ns);
    uint64_t *wait_ns = base_alloc(num_steps, sizeof *wait_ns);
    Session *session = session_create(executor);
    executor_set_profile(executor, step_ns, wait_ns);
    assert_int_equal(session_prefill(session, fixture->ids, 3, &fixture->sink), STATUS_OK);
    uint64_t num_run = 0;
    for (uint64_t i = 0; i < num_steps; i++) num_run += step_ns[i] > 0;
    assert_true(num_run > 0 && num_run < num_steps); // a call runs one version
    assert_int_equal(warm_up(executor, &fixture->sink), STATUS_OK);
    for (uint64_t i = 0; i < num_steps; i++) assert_true(step_ns[i] > 0);
    executor_set_profile(executor, NULL, NULL);
    assert_int_equal(session_decode(session, fixture->ids[3], &fixture->sink), STATUS_OK);
    assert_logits(fixture, session);
    assert_int_equal(executor_num_free_pages(executor), SYNTHETIC_PAGES - 1);
    uint32_t most = SYNTHETIC_CONTEXT - SYNTHETIC_PAGE_TOKENS, num = session_num_tokens(session);
    assert_int_equal(session_prefill(session, fixture->ids + num, most - num, &fixture->sink),
                     STATUS_OK);
    assert_int_equal(warm_up(executor, &fixture->sink), STATUS_LIMIT);
    assert_int_equal(executor_num_free_pages(executor), 1);
    assert_int_equal(session_decode(session, fixture->ids[most], &fixture->sink), STATUS_OK);
    assert_logits(fixture, session);
    session_destroy(session);
    executor_close(executor);
    free(step_ns);
    free(wait_ns);
}

// What is planned is what the process grows by, at once at open, and it grows no more.
static void test_memory_is_the_plan(void **state) {
    Fixture *fixture = *state;
    if (IS_SANITIZED) {
        print_message("skipped: a sanitizer's shadow memory counts as this process's\n");
        skip();
    }
    char *path = synthetic_path("memory");
    synthetic_write(path, &(SyntheticOptions){.extra_weight_bytes = 37 << 20,
                                              .extra_arena_bytes = 5 << 20,
                                              .extra_kv_bytes = 21 << 20});
    const uint64_t base_bytes = status_bytes("VmRSS");
    DiagSink *sink = &fixture->sink;
    Artifact artifact;
    Executor *executor;
    assert_int_equal(artifact_open(path, sink, &artifact), STATUS_OK);
    assert_int_equal(
        executor_open(&artifact, &(ExecutorOptions){.num_threads = 2}, sink, &executor), STATUS_OK);
    const uint64_t planned_bytes = executor_memory(executor).total_bytes;
    const uint64_t open_bytes = status_bytes("VmRSS");
    const uint64_t other_bytes = 512 << 10; // threads, heap, pages of the program itself
    const uint64_t grown_bytes = open_bytes - base_bytes;
    print_message("planned %llu, grown by %llu bytes\n", (unsigned long long)planned_bytes,
                  (unsigned long long)grown_bytes);
    assert_true(planned_bytes > 60 << 20);
    assert_in_range(grown_bytes, planned_bytes - planned_bytes / 100,
                    planned_bytes + planned_bytes / 100 + other_bytes);
    assert_in_range(status_bytes("VmHWM"), open_bytes, open_bytes + other_bytes);
    uint64_t second_bytes = 0;
    for (unsigned conversation = 0; conversation < 20; conversation++) {
        Session *session = session_create(executor);
        for (uint32_t i = 0; i < SYNTHETIC_CONTEXT; i++)
            assert_int_equal(session_decode(session, fixture->ids[i], sink), STATUS_OK);
        assert_logits(fixture, session);
        session_destroy(session);
        if (conversation == 1) second_bytes = status_bytes("VmRSS");
    }
    assert_in_range(status_bytes("VmRSS"), second_bytes - (64 << 10), second_bytes + (64 << 10));
    assert_in_range(status_bytes("VmHWM"), open_bytes, open_bytes + other_bytes);
    executor_close(executor);
    artifact_close(&artifact);
    unlink(path);
    free(path);
}

// A plan larger than the machine is refused in words, not by the kernel's killer.
// The planner cannot ask the sampler how much it takes; it is told right.
static void test_sampler_fits_its_plan(void **state) {
    Fixture *fixture = *state;
    PlanHeader plan = *fixture->artifact.plan;
    const uint32_t vocab_sizes[] = {1, 301, 49152, 262144};
    for (size_t i = 0; i < ARRAY_LEN(vocab_sizes); i++) {
        plan.vocab_size = vocab_sizes[i];
        uint64_t room = plan_runtime_bytes(&plan) - plan_executor_bytes(&plan);
        assert_true(sampler_size_bytes(vocab_sizes[i]) + (64 << 10) <= room);
        assert_true(sampler_size_bytes(vocab_sizes[i]) + (128 << 10) >= room - (64 << 10));
    }
}

static void test_too_much_memory(void **state) {
    Fixture *fixture = *state;
    char *path = synthetic_path("huge");
    synthetic_write(path, &(SyntheticOptions){.extra_kv_bytes = (uint64_t)1 << 45});
    Artifact artifact;
    Executor *executor;
    assert_int_equal(artifact_open(path, &fixture->sink, &artifact), STATUS_OK);
    size_t before = fixture->sink.num_diags;
    assert_int_equal(
        executor_open(&artifact, &(ExecutorOptions){.num_threads = 1}, &fixture->sink, &executor),
        STATUS_LIMIT);
    assert_int_equal(fixture->sink.diags[before].code, DIAG_X0010);
    artifact_close(&artifact);
    unlink(path);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bit_identical),
        cmocka_unit_test(test_each_row),
        cmocka_unit_test(test_decode_to_the_end),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_warm_up),
        cmocka_unit_test(test_memory_is_the_plan),
        cmocka_unit_test(test_too_much_memory),
        cmocka_unit_test(test_sampler_fits_its_plan),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
