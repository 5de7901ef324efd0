// Times loops of known instructions; see probe.h. Every figure is the best of several rounds: what
// disturbs a measurement only makes it slower.
#include "target/probe.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "target/host.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { ROUNDS = 7, INNER = 200000, MAX_STREAMS = 8, MAX_THREADS = 256 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---------------------------------------------------------------- instructions

// Twelve registers of their own hide the latency; assembly keeps the compiler from copying them.
#define TWELVE(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define CLOBBERS                                                                                   \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12"
#define LOOP(name, features, op)                                                                   \
    __attribute__((target(features))) static void name(const char *at) {                           \
        for (int i = 0; i < INNER; i++) __asm__ volatile(TWELVE(op) : : "r"(at) : CLOBBERS);       \
    }
#define DOT_512(i) "vpdpbusd %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define DOT_256(i)                                                                                 \
    "vpmaddubsw %%ymm14, %%ymm15, %%ymm12\n\tvpaddw %%ymm12, %%ymm" #i ", %%ymm" #i "\n\t"
#define FMA_512(i)  "vfmadd231ps %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define FMA_256(i)  "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define BF16_512(i) "vdpbf16ps %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define ADD_512(i)  "vpaddd %%zmm14, %%zmm15, %%zmm" #i "\n\t"
#define ADD_256(i)  "vpaddd %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define LOAD_512(i) "vmovups 64*" #i "(%0), %%zmm" #i "\n\t"
#define LOAD_256(i) "vmovups 32*" #i "(%0), %%ymm" #i "\n\t"
#define ONE_256(i)  "vbroadcastss 256*" #i "(%0), %%ymm" #i "\n\t"
#define STEP(i)     "imul %%rax, %%rax\n\t"
LOOP(dot_512, "avx512f,avx512vnni", DOT_512)
LOOP(dot_256, "avx2", DOT_256)
LOOP(fma_512, "avx512f", FMA_512)
LOOP(fma_256, "avx2,fma", FMA_256)
LOOP(bf16_512, "avx512f,avx512bf16", BF16_512)
LOOP(add_512, "avx512f", ADD_512)
LOOP(add_256, "avx2", ADD_256)
LOOP(load_512, "avx512f", LOAD_512)
LOOP(load_256, "avx2", LOAD_256)
LOOP(one_256, "avx2", ONE_256)

// A chain of multiplications, three clocks each on every processor with AVX2 (a chain of additions
// may be shortened before it is executed).
enum { CHAIN_CLOCKS = 3 };
static void step_clock(const char *at) {
    (void)at;
    for (int i = 0; i < INNER; i++) __asm__ volatile(TWELVE(STEP) : : : "rax");
}

// Instructions per second.
static double rate_of(void (*loop)(const char *), const char *at) {
    double best = 0;
    loop(at);
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        loop(at);
        best = MAX(best, 12.0 * (double)INNER / (seconds() - start));
    }
    return best;
}

// ---------------------------------------------------------------- reading

// Reads len bytes in streams, as kernels do: nothing is asked for early but by the hardware.
__attribute__((target("avx2"))) static void read_once(const char *bytes, size_t len,
                                                      size_t streams) {
    __m256i sum[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                      _mm256_setzero_si256()};
    size_t part = len / streams / 128 * 128;
    for (size_t i = 0; i < part; i += 128)
        for (size_t s = 0; s < streams; s++) {
            const char *at = bytes + s * part + i;
            for (int k = 0; k < 4; k++)
                sum[k] = _mm256_xor_si256(
                    sum[k], _mm256_load_si256((const __m256i *)(const void *)(at + 32 * k)));
        }
    for (int k = 0; k < 4; k++) __asm__ volatile("" : : "x"(sum[k]));
}

// Bytes per second of reading len bytes again and again.
static double read_rate(const char *bytes, size_t len, size_t streams) {
    size_t times = MAX((size_t)1, ((size_t)64 << 20) / len);
    double best = 0;
    read_once(bytes, len, streams);
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (size_t i = 0; i < times; i++) read_once(bytes, len, streams);
        best = MAX(best, (double)(len * times) / (seconds() - start));
    }
    return best;
}

typedef struct Worker {
    pthread_t thread;
    pthread_barrier_t *barrier;
    const char *bytes;
    size_t len, streams;
    double rate;
} Worker;

static void *read_worker(void *ctx) {
    Worker *w = ctx;
    pthread_barrier_wait(w->barrier);
    w->rate = read_rate(w->bytes, w->len, w->streams);
    return NULL;
}

// All threads at once, each its part.
static double read_rate_all(const char *bytes, size_t len, size_t streams, uint32_t threads) {
    static Worker workers[MAX_THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, threads);
    double sum = 0;
    size_t part = len / threads / 4096 * 4096;
    uint32_t started = 0;
    for (; started < threads; started++) {
        workers[started] = (Worker){
            .barrier = &barrier, .bytes = bytes + started * part, .len = part, .streams = streams};
        if (pthread_create(&workers[started].thread, NULL, read_worker, &workers[started])) break;
    }
    BUG_IF(started < threads, "threads cannot be started");
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].rate;
    }
    pthread_barrier_destroy(&barrier);
    return sum;
}

// ---------------------------------------------------------------- barrier

enum { PASSES = 20000 };
static atomic_uint turn;

static void *pass_turn(void *ctx) {
    (void)ctx;
    for (unsigned i = 0; i < PASSES; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * i + 1) _mm_pause();
        atomic_store_explicit(&turn, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

// A word that goes to another core and comes back: what a barrier of two costs.
static double barrier_ns(void) {
    double best = 1e9;
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        atomic_store(&turn, 0);
        if (pthread_create(&thread, NULL, pass_turn, NULL)) return 0;
        double start = seconds();
        for (unsigned i = 0; i < PASSES; i++) {
            atomic_store_explicit(&turn, 2 * i + 1, memory_order_release);
            while (atomic_load_explicit(&turn, memory_order_acquire) != 2 * i + 2) _mm_pause();
        }
        best = MIN(best, (seconds() - start) * 1e9 / (double)PASSES);
        pthread_join(thread, NULL);
    }
    return best;
}

// ---------------------------------------------------------------- all of it

static void set(Target *t, TargetNumber number, double value) {
    const TargetNumberInfo *info = target_number_info(number);
    if (!(value >= info->min)) return;               // not measured: the least machine's stays
    double scale = pow(10, 3 - floor(log10(value))); // four digits: more would be noise
    bool is_size = str_equal(info->unit, "B");
    t->numbers[number] = MIN(is_size ? value : round(value * scale) / scale, info->max);
    t->sources[number] = "measured on this machine by ingot tune --probe";
}

static void probe_instructions(Target *t, uint32_t features) {
    static _Alignas(64) char line[12 * 256];
    bool is_wide = features & CPU_HAS_AVX512;
    double clock = rate_of(step_clock, line) * (double)CHAIN_CLOCKS, lanes = is_wide ? 16 : 8;
    set(t, TARGET_CLOCK_MHZ, clock * 1e-6);
    set(t, TARGET_OPS_F32, rate_of(is_wide ? fma_512 : fma_256, line) / clock * lanes * 2);
    if (features & CPU_HAS_AVX512VNNI)
        set(t, TARGET_OPS_INT8, rate_of(dot_512, line) / clock * 128);
    else if (!is_wide)
        set(t, TARGET_OPS_INT8, rate_of(dot_256, line) / clock * 64);
    if (features & CPU_HAS_AVX512BF16)
        set(t, TARGET_OPS_BF16, rate_of(bf16_512, line) / clock * 64);
    set(t, TARGET_ISSUE_VECTOR, rate_of(is_wide ? add_512 : add_256, line) / clock);
    double loads = rate_of(is_wide ? load_512 : load_256, line) / clock;
    set(t, TARGET_ISSUE_LOAD, loads);
    set(t, TARGET_L1_RATE, loads * lanes * 4);
    if (!is_wide) set(t, TARGET_ISSUE_BROADCAST, rate_of(one_256, line) / clock);
}

static double best_rate(const char *bytes, size_t len, uint32_t threads) {
    double best = 0;
    for (size_t streams = 1; streams <= MAX_STREAMS; streams *= 2)
        best = MAX(best, threads == 1 ? read_rate(bytes, len, streams)
                                      : read_rate_all(bytes, len, streams, threads));
    return best;
}

// A third cache may be shared with programs that cannot be seen from here: as large as reading it
// again and again in one stream stays three quarters as fast as a small part of it.
static size_t reached_cache(const char *bytes, size_t small, size_t most, double *out_rate) {
    double rate = read_rate(bytes, small, 1);
    size_t len = small;
    while (2 * len <= most && read_rate(bytes, 2 * len, 1) >= 0.75 * rate) len *= 2;
    *out_rate = rate;
    return len;
}

static void probe_memory(Target *t, const HostInfo *host, const char *bytes, size_t len,
                         uint32_t threads) {
    double clock = t->numbers[TARGET_CLOCK_MHZ] * 1e6;
    size_t l2 = host->l2_bytes ? host->l2_bytes : (size_t)1 << 20;
    size_t middle = MAX(4 * l2, MIN((size_t)host->l3_bytes / 4, (size_t)32 << 20));
    set(t, TARGET_L1_BYTES, (double)host->l1_data_bytes);
    set(t, TARGET_L2_BYTES, (double)l2);
    set(t, TARGET_L2_RATE, best_rate(bytes, l2 / 2, 1) / clock);
    if (host->l3_bytes >= 2 * middle) {
        double rate;
        set(t, TARGET_L3_BYTES,
            (double)reached_cache(bytes, middle, MIN((size_t)host->l3_bytes, len), &rate));
        set(t, TARGET_L3_RATE, rate / clock);
    } else {
        set(t, TARGET_L3_BYTES, (double)host->l3_bytes);
    }
    set(t, TARGET_L3_SHARED, threads);
    set(t, TARGET_MEM_UNIT_RATE, best_rate(bytes, len, 1) * 1e-9);
    set(t, TARGET_MEM_STREAM_RATE, read_rate(bytes, len, 1) * 1e-9);
    set(t, TARGET_MEM_RATE,
        threads > 1 ? best_rate(bytes, len, threads) * 1e-9 : t->numbers[TARGET_MEM_UNIT_RATE]);
    set(t, TARGET_MEM_BYTES, (double)host->memory_bytes);
    set(t, TARGET_REACHED_MEM, 1); // measured is what is reached
}

Status probe_host(const ProbeOptions *options, DiagSink *sink, Target *out_target) {
    CpuLevel level;
    Target t;
    HostInfo host;
    host_info_get(&host);
    if (!cpu_host_level(&level)) {
        Status status =
            diag_error(sink, DIAG_H0011, (DiagSpan){0}, "this processor lacks AVX2, FMA or F16C");
        (void)status;
        return STATUS_ENVIRONMENT;
    }
    TRY(target_open(cpu_level_info(level)->name, (DiagSpan){0}, sink, &t));
    uint32_t threads = options->num_threads ? options->num_threads : host.num_usable_threads;
    threads = MIN(threads, (uint32_t)MAX_THREADS);
    // Far beyond what a guest may find of a shared third cache, within half of the free memory.
    size_t len = options->memory_bytes ? options->memory_bytes : (size_t)512 << 20;
    len = MAX(len / 4096 * 4096, (size_t)64 << 20);
    char *bytes =
        mmap(NULL, len + (1 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        Status status =
            diag_error(sink, DIAG_H0011, (DiagSpan){0}, "%zu bytes to read are not there", len);
        (void)status;
        return STATUS_ENVIRONMENT;
    }
    madvise(bytes, len, MADV_HUGEPAGE); // weights lie in large pages
    memset(bytes, 1, len);
    t.name = "probed";
    t.title = "this machine, measured";
    t.num_brands = 0;
    t.has_cpu_level = true;
    t.cpu_level = level;
    set(&t, TARGET_UNITS, threads);
    probe_instructions(&t, cpu_host_features());
    probe_memory(&t, &host, bytes, len, threads);
    if (host.num_usable_threads > 1) set(&t, TARGET_BARRIER_NS, barrier_ns());
    munmap(bytes, len + (1 << 20));
    *out_target = t;
    return STATUS_OK;
}
#else
Status probe_host(const ProbeOptions *options, DiagSink *sink, Target *out_target) {
    (void)options;
    (void)out_target;
    Status status =
        diag_error(sink, DIAG_H0011, (DiagSpan){0}, "only x86-64 processors can be measured");
    (void)status;
    return STATUS_ENVIRONMENT;
}
#endif

// ---------------------------------------------------------------- the file

static uint32_t source_number(const Target *t, int number) {
    uint32_t n = 0;
    for (int i = 0; i < number; i++) {
        bool is_new = t->numbers[i] > 0;
        for (int k = 0; k < i && is_new; k++)
            is_new = !(t->numbers[k] > 0 && str_equal(t->sources[k], t->sources[i]));
        if (t->numbers[i] > 0 && str_equal(t->sources[i], t->sources[number])) return n;
        n += is_new;
    }
    return n;
}

void target_write(const Target *t, StrBuf *out) {
    strbuf_puts(out, "# A machine as numbers; docs/targets.md says what they mean.\n");
    strbuf_printf(out, "target: %s\ntitle: %s\nkind: %s\narch: [", t->name, t->title,
                  target_kind_name(t->kind));
    for (uint32_t i = 0; i < t->num_archs; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", t->arch[i]);
    strbuf_puts(out, "]\n");
    if (t->has_cpu_level) strbuf_printf(out, "cpu_level: %s\n", cpu_level_info(t->cpu_level)->name);
    strbuf_puts(out, "sources:\n");
    uint32_t num = 0;
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++) {
        if (t->numbers[i] <= 0 || source_number(t, i) != num) continue;
        strbuf_printf(out, "  S%u: ", num++);
        strbuf_put_json_string(out, t->sources[i], strlen(t->sources[i]));
        strbuf_putc(out, '\n');
    }
    strbuf_puts(out, "numbers:\n");
    char open[32] = "";
    for (int i = 0; i < NUM_TARGET_NUMBERS; i++) {
        if (t->numbers[i] <= 0) continue;
        const char *path = target_number_info((TargetNumber)i)->path, *dot = strchr(path, '.');
        size_t len = dot ? (size_t)(dot - path) : 0;
        bool is_open = dot && strlen(open) == len && strncmp(open, path, len) == 0;
        if (dot && !is_open) strbuf_printf(out, "  %.*s:\n", (int)len, path);
        memcpy(open, path, MIN(len, sizeof open - 1));
        open[MIN(len, sizeof open - 1)] = 0;
        strbuf_printf(out, "%s%s: [%.10g, S%u]\n", dot ? "    " : "  ", dot ? dot + 1 : path,
                      t->numbers[i], source_number(t, i));
    }
}
