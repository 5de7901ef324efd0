// What this machine can do at most, measured: int8 and f32 multiply-adds in registers and reading
// memory.
// usage: peak THREADS MEGABYTES; prints one JSON object. The yardstick of `./dev bench`.
#include <immintrin.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 256, ROUNDS = 5 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Independent accumulators hide the latency; assembly keeps the compiler from copying them. A
// multiply and an add count as two operations.
enum { INNER = 1 << 21 };
#define DOT_512(i) "vpdpbusd %%zmm30, %%zmm31, %%zmm" #i "\n\t"
#define DOT_256(i)                                                                                 \
    "vpmaddubsw %%ymm14, %%ymm15, %%ymm12\n\tvpaddw %%ymm12, %%ymm" #i ", %%ymm" #i "\n\t"
#define FMA_512(i) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #i "\n\t"
#define FMA_256(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n\t"
#define TWELVE(DOT)                                                                                \
    DOT(0) DOT(1) DOT(2) DOT(3) DOT(4) DOT(5) DOT(6) DOT(7) DOT(8) DOT(9) DOT(10) DOT(11)

#define ROUND(OP)                                                                                  \
    __asm__ volatile(TWELVE(OP)                                                                    \
                     :                                                                             \
                     :                                                                             \
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",     \
                       "xmm9", "xmm10", "xmm11", "xmm12")

__attribute__((target("avx512f,avx512vnni"))) static double dot_avx512(void) {
    for (int i = 0; i < INNER; i++) ROUND(DOT_512);
    return (double)INNER * 12 * 64 * 2;
}
__attribute__((target("avx2"))) static double dot_avx2(void) {
    for (int i = 0; i < INNER; i++) ROUND(DOT_256);
    return (double)INNER * 12 * 32 * 2;
}
__attribute__((target("avx512f"))) static double fma_avx512(void) {
    for (int i = 0; i < INNER; i++) ROUND(FMA_512);
    return (double)INNER * 12 * 16 * 2;
}
__attribute__((target("avx2,fma"))) static double fma_avx2(void) {
    for (int i = 0; i < INNER; i++) ROUND(FMA_256);
    return (double)INNER * 12 * 8 * 2;
}

// Reads in several streams, each with its next lines asked for early: how many a core keeps in
// flight decides how fast it reads, and which number is best differs by processor.
enum { MAX_STREAMS = 8, AHEAD_BYTES = 2048 };

__attribute__((target("avx2"))) static double read_memory(const char *bytes, size_t len,
                                                          size_t num_streams) {
    __m256i sum[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                      _mm256_setzero_si256()};
    size_t part = len / num_streams / 128 * 128;
    for (size_t i = 0; i < part; i += 128)
        for (size_t stream = 0; stream < num_streams; stream++) {
            const char *at = bytes + stream * part + i;
            _mm_prefetch(at + AHEAD_BYTES, _MM_HINT_T0);
            _mm_prefetch(at + AHEAD_BYTES + 64, _MM_HINT_T0);
            for (int k = 0; k < 4; k++)
                sum[k] = _mm256_xor_si256(
                    sum[k], _mm256_load_si256((const __m256i *)(const void *)(at + 32 * k)));
        }
    for (int k = 0; k < 4; k++) __asm__ volatile("" : : "x"(sum[k]));
    return (double)(part * num_streams);
}

typedef struct Worker {
    pthread_t thread;
    pthread_barrier_t *barrier;
    double (*arithmetic)(void); // NULL: reading
    const char *bytes;
    size_t len, num_streams;
    double best_rate;
} Worker;

static double work(const Worker *worker) {
    if (worker->arithmetic) return worker->arithmetic();
    return read_memory(worker->bytes, worker->len, worker->num_streams);
}

static void *run(void *context) {
    Worker *worker = context;
    work(worker);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(worker->barrier);
        double start = seconds(), done = work(worker), rate = done / (seconds() - start);
        if (rate > worker->best_rate) worker->best_rate = rate;
    }
    return NULL;
}

static double measure(int num_threads, double (*arithmetic)(void), const char *bytes, size_t len,
                      size_t num_streams) {
    static Worker workers[MAX_THREADS];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)num_threads);
    size_t part = len / (size_t)num_threads / 4096 * 4096;
    double sum = 0;
    for (int i = 0; i < num_threads; i++) {
        workers[i] = (Worker){
            .barrier = &barrier, .arithmetic = arithmetic, .len = part, .num_streams = num_streams};
        if (bytes) workers[i].bytes = bytes + (size_t)i * part;
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i])) exit(1);
    }
    for (int i = 0; i < num_threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].best_rate;
    }
    pthread_barrier_destroy(&barrier);
    return sum;
}

int main(int argc, char **argv) {
    int num_threads = argc > 1 ? atoi(argv[1]) : 1;
    size_t megabytes = argc > 2 ? (size_t)atoi(argv[2]) : 256;
    if (num_threads < 1 || num_threads > MAX_THREADS || megabytes < 1 || megabytes > 1 << 16)
        return 2;
    size_t len = megabytes << 20; // and room behind it for what is asked for early
    char *bytes = aligned_alloc(1 << 21, (len + (1 << 21) - 1) / (1 << 21) * (1 << 21));
    if (!bytes) return 1;
    for (size_t i = 0; i < len; i += 64) bytes[i] = (char)i;
    double ops = measure(num_threads, __builtin_cpu_supports("avx512vnni") ? dot_avx512 : dot_avx2,
                         NULL, 0, 0);
    double flops =
        measure(num_threads, __builtin_cpu_supports("avx512f") ? fma_avx512 : fma_avx2, NULL, 0, 0);
    double rate = 0;
    for (size_t num_streams = 1; num_streams <= MAX_STREAMS; num_streams *= 2) {
        double streamed = measure(num_threads, NULL, bytes, len, num_streams);
        if (streamed > rate) rate = streamed;
    }
    printf("{\"threads\": %d, \"int8_ops_per_s\": %.4g, \"f32_ops_per_s\": %.4g, "
           "\"read_bytes_per_s\": %.4g, \"megabytes\": %zu}\n",
           num_threads, ops, flops, rate, megabytes);
    free(bytes);
    return 0;
}
