// The worker team; see workers.h. Both meeting places work alike: a word that changes when waiting
// is over, and a count of those who went to sleep on it. A waiter counts itself, then looks at the
// word again; a waker changes the word, then looks at the count: one of the two sees the other.
#include "runtime/workers.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/cpu.h"

enum {
    CACHE_LINE_BYTES = 64,
    STACK_BYTES = 1 << 20, // address space; only what kernels use becomes resident
    SPINS_PER_CLOCK = 64,  // looks between two readings of the clock
    // A barrier waits for workers that are at work; a run's wake-up also covers the caller's work
    // between two calls (sampling). Teams larger than the processors spin only as long as a barrier
    // takes when nobody is late.
    BARRIER_SPIN_NS = 20000,
    RUN_SPIN_NS = 100000,
    CROWDED_SPIN_NS = 1000,
};

// A word that waiters watch, alone on its cache line.
typedef struct WaitWord {
    _Alignas(CACHE_LINE_BYTES) atomic_uint value;
    atomic_uint num_sleepers;
} WaitWord;

struct Workers {
    WaitWord run;                                       // counts runs begun
    WaitWord barrier;                                   // counts barriers passed
    _Alignas(CACHE_LINE_BYTES) atomic_uint num_arrived; // at the barrier
    _Alignas(CACHE_LINE_BYTES) WorkersFn fn;            // NULL: the helpers end
    void *context;
    uint32_t num_workers, num_helpers; // num_helpers: threads that exist
    int64_t run_spin_ns, barrier_spin_ns;
    struct Helper {
        pthread_t thread;
        Workers *workers;
        uint32_t index;
    } helpers[];
};

static void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void futex(atomic_uint *word, int operation, unsigned value) {
    (void)syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

// Returns when word->value differs from old: at once, after spinning, or after sleeping.
static void wait_for_change(WaitWord *word, unsigned old, int64_t spin_ns) {
    int64_t begin_ns = 0;
    for (unsigned spins = 0;; spins++) {
        if (atomic_load_explicit(&word->value, memory_order_acquire) != old) return;
        pause_briefly();
        if (spins % SPINS_PER_CLOCK != SPINS_PER_CLOCK - 1) continue;
        int64_t ns = now_ns();
        if (begin_ns == 0)
            begin_ns = ns;
        else if (ns - begin_ns > spin_ns)
            break;
    }
    atomic_fetch_add(&word->num_sleepers, 1);
    while (atomic_load(&word->value) == old) futex(&word->value, FUTEX_WAIT, old);
    atomic_fetch_sub(&word->num_sleepers, 1);
}

static void change(WaitWord *word) {
    atomic_fetch_add(&word->value, 1);
    if (atomic_load(&word->num_sleepers) > 0) futex(&word->value, FUTEX_WAKE, INT32_MAX);
}

void workers_barrier(Workers *workers) {
    if (workers->num_workers == 1) return;
    unsigned passed = atomic_load_explicit(&workers->barrier.value, memory_order_relaxed);
    unsigned arrived =
        atomic_fetch_add_explicit(&workers->num_arrived, 1, memory_order_acq_rel) + 1;
    if (arrived < workers->num_workers) {
        wait_for_change(&workers->barrier, passed, workers->barrier_spin_ns);
        return;
    }
    atomic_store_explicit(&workers->num_arrived, 0, memory_order_relaxed);
    change(&workers->barrier);
}

static void *helper_main(void *argument) {
    struct Helper *helper = argument;
    Workers *workers = helper->workers;
    for (unsigned num_runs = 0;; num_runs++) {
        wait_for_change(&workers->run, num_runs, workers->run_spin_ns);
        if (!workers->fn) return NULL;
        workers->fn(workers->context, helper->index, workers->num_workers);
        workers_barrier(workers);
    }
}

void workers_run(Workers *workers, WorkersFn fn, void *context) {
    workers->fn = fn;
    workers->context = context;
    if (workers->num_workers > 1) change(&workers->run);
    fn(context, 0, workers->num_workers);
    workers_barrier(workers);
}

static int start_helper(struct Helper *helper) {
    pthread_attr_t attr;
    sigset_t all, old;
    int error = pthread_attr_init(&attr);
    if (error != 0) return error;
    error = pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (error == 0) error = pthread_create(&helper->thread, &attr, helper_main, helper);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return error;
}

Status workers_create(uint32_t num_workers, DiagSink *sink, Workers **out_workers) {
    BUG_IF(num_workers == 0, "a team of no workers");
    Workers *workers = NULL;
    size_t bytes = align_up(sizeof *workers + (num_workers - 1) * sizeof workers->helpers[0],
                            CACHE_LINE_BYTES);
    if (posix_memalign((void **)&workers, CACHE_LINE_BYTES, bytes) != 0)
        base_out_of_memory(bytes, 1);
    memset((void *)workers, 0, bytes);
    bool is_crowded = num_workers > cpu_usable_threads();
    workers->num_workers = num_workers;
    workers->run_spin_ns = is_crowded ? CROWDED_SPIN_NS : RUN_SPIN_NS;
    workers->barrier_spin_ns = is_crowded ? CROWDED_SPIN_NS : BARRIER_SPIN_NS;
    for (uint32_t i = 0; i + 1 < num_workers; i++) {
        workers->helpers[i].workers = workers;
        workers->helpers[i].index = i + 1;
        int error = start_helper(&workers->helpers[i]);
        if (error != 0) {
            Status status = diag_error(sink, DIAG_X0014, (DiagSpan){0}, "thread %u of %u: %s",
                                       i + 2, num_workers, strerror(error));
            (void)status;
            workers_destroy(workers);
            return STATUS_LIMIT;
        }
        workers->num_helpers++;
    }
    *out_workers = workers;
    return STATUS_OK;
}

void workers_destroy(Workers *workers) {
    if (!workers) return;
    workers->fn = NULL;
    change(&workers->run);
    for (uint32_t i = 0; i < workers->num_helpers; i++)
        pthread_join(workers->helpers[i].thread, NULL);
    free(workers);
}

uint32_t workers_count(const Workers *workers) {
    return workers->num_workers;
}
