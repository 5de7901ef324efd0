// The worker team: barriers order what is written, nothing depends on how many processors there
// are, an idle team uses none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "runtime/workers.h"

enum { MAX_TEAM = 9, NUM_ROUNDS = 300 };

// Each round every worker adds its neighbour's last value to its own: wrong as soon as one barrier
// lets somebody through early. Plain memory, so that the thread sanitizer sees a missing edge.
typedef struct Ring {
    Workers *workers;
    uint64_t values[2][MAX_TEAM];
} Ring;

static void walk_ring(void *context, uint32_t worker, uint32_t num_workers) {
    Ring *ring = context;
    for (unsigned round = 0; round < NUM_ROUNDS; round++) {
        uint64_t *from = ring->values[round % 2], *to = ring->values[(round + 1) % 2];
        to[worker] = from[worker] * 3 + from[(worker + 1) % num_workers];
        workers_barrier(ring->workers);
    }
}

static void expect_ring(uint64_t *out, uint32_t num_workers) {
    uint64_t values[2][MAX_TEAM];
    for (uint32_t i = 0; i < num_workers; i++) values[0][i] = i + 1;
    for (unsigned round = 0; round < NUM_ROUNDS; round++)
        for (uint32_t i = 0; i < num_workers; i++)
            values[(round + 1) % 2][i] =
                values[round % 2][i] * 3 + values[round % 2][(i + 1) % num_workers];
    for (uint32_t i = 0; i < num_workers; i++) out[i] = values[NUM_ROUNDS % 2][i];
}

static void test_barriers(void **state) {
    (void)state;
    DiagSink sink;
    diag_sink_init(&sink);
    for (uint32_t num_workers = 1; num_workers <= MAX_TEAM; num_workers++) {
        Ring ring = {0};
        assert_int_equal(workers_create(num_workers, &sink, &ring.workers), STATUS_OK);
        assert_int_equal(workers_count(ring.workers), num_workers);
        for (unsigned run = 0; run < 10; run++) {
            for (uint32_t i = 0; i < num_workers; i++) ring.values[0][i] = i + 1;
            workers_run(ring.workers, walk_ring, &ring);
            uint64_t expected[MAX_TEAM];
            expect_ring(expected, num_workers);
            assert_memory_equal(ring.values[NUM_ROUNDS % 2], expected,
                                num_workers * sizeof expected[0]);
        }
        workers_destroy(ring.workers);
    }
    assert_int_equal(sink.num_diags, 0);
    diag_sink_deinit(&sink);
}

static void count_one(void *context, uint32_t worker, uint32_t num_workers) {
    uint64_t *counts = context;
    (void)num_workers;
    counts[worker * 8]++;
}

// Many short runs, some after a pause long enough for the helpers to fall asleep.
static void test_runs_after_sleep(void **state) {
    (void)state;
    DiagSink sink;
    Workers *workers;
    diag_sink_init(&sink);
    assert_int_equal(workers_create(4, &sink, &workers), STATUS_OK);
    uint64_t counts[4 * 8] = {0};
    for (unsigned run = 1; run <= 2000; run++) {
        workers_run(workers, count_one, counts);
        for (unsigned i = 0; i < 4; i++) assert_int_equal(counts[i * 8], run);
        if (run % 100 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    workers_destroy(workers);
    diag_sink_deinit(&sink);
}

static uint64_t cpu_time_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void test_idle_uses_no_processor(void **state) {
    (void)state;
    DiagSink sink;
    Workers *workers;
    diag_sink_init(&sink);
    assert_int_equal(workers_create(3, &sink, &workers), STATUS_OK);
    uint64_t counts[3 * 8] = {0};
    workers_run(workers, count_one, counts);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    uint64_t before_ns = cpu_time_ns();
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    uint64_t used_ns = cpu_time_ns() - before_ns;
    assert_true(used_ns < 5000000);
    workers_destroy(workers);
    diag_sink_deinit(&sink);
}

static void test_create_and_destroy(void **state) {
    (void)state;
    DiagSink sink;
    diag_sink_init(&sink);
    for (unsigned i = 0; i < 50; i++) {
        Workers *workers;
        assert_int_equal(workers_create(1 + i % 5, &sink, &workers), STATUS_OK);
        workers_destroy(workers);
    }
    workers_destroy(NULL);
    diag_sink_deinit(&sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_runs_after_sleep),
        cmocka_unit_test(test_idle_uses_no_processor),
        cmocka_unit_test(test_create_and_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
