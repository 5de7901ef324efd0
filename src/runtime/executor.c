// Executor; see executor.h. At open each step is resolved to a code address, operand pointers per
// worker and a place for its scalars; a run then is one walk over the steps by every worker.
#include "runtime/executor.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "abi/kernel_abi.h"
#include "runtime/memory.h"
#include "runtime/workers.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// A step ready to run; PLAN_BOUND_STEP_BYTES each.
typedef struct BoundStep {
    KernelFn run;
    const int64_t *scalars;
    uint64_t first_buffer;
    int64_t tiles_value; // of a constant tile count
    int64_t tiles_mul, tiles_div;
    uint32_t tiles_kind; // PlanScalarKind
    uint32_t needs_barrier, every_worker;
    _Atomic uint32_t num_claimed; // pieces of the run under way
} BoundStep;
_Static_assert(sizeof(BoundStep) == PLAN_BOUND_STEP_BYTES, "the planner counts this size");

// Of a worker's fault record, beside what kernels write.
enum { FIRST_CHECK = KERNEL_FAULT_OWN, FIRST_VALUE, FIRST_STEP, FIRST_TILE };

struct Executor {
    const Artifact *artifact;
    uint32_t level; // index in artifact->levels
    uint32_t num_threads;
    Workers *workers;
    Mapping weights, kv, arena, scratch, io, bindings;
    uint8_t *code;
    uint64_t code_bytes;
    // In bindings:
    BoundStep *steps;
    int64_t *scalars;       // a value per plan scalar; those of a call are set before it
    uint32_t *call_scalars; // indices of scalars that depend on the call
    uint64_t num_call_scalars;
    void **operands;         // [worker][plan buffer]
    uint64_t operand_stride; // pointers per worker
    int32_t *free_pages;
    uint32_t num_free_pages;
    int64_t *result_dims;       // of a call whose sizes vary
    int64_t *faults;            // [worker][KERNEL_FAULT_WORDS]
    _Atomic uint32_t last_step; // the first step with a fault: those behind it are left out
    const ExecutorCall *call;   // the run under way
    bool shares_steps;          // it claims pieces
    uint64_t *step_ns, *wait_ns;
};

static Status pick_threads(const Artifact *artifact, uint32_t wanted, DiagSink *sink,
                           uint32_t *out) {
    uint32_t max_threads = artifact->plan->max_threads;
    if (wanted > max_threads) {
        diag_report(sink, DIAG_ERROR, DIAG_X0009, (DiagSpan){.file = artifact->path},
                    "%u threads asked for; the artifact is planned for at most %u", wanted,
                    max_threads);
        const char *set_by = artifact_set_by(artifact, "run time");
        if (*set_by) diag_evidence(sink, "set by %s", set_by);
        diag_write(sink, "--threads %u", max_threads);
        return STATUS_LIMIT;
    }
    *out = wanted ? wanted : MIN(max_threads, cpu_usable_threads());
    return STATUS_OK;
}

static Status check_memory(const Executor *executor, DiagSink *sink) {
    PlanMemory memory = executor_memory(executor);
    uint64_t available = memory_available_bytes();
    if (memory.total_bytes <= available) return STATUS_OK;
    Status status =
        diag_error(sink, DIAG_X0010, (DiagSpan){.file = executor->artifact->path},
                   "the plan takes %llu bytes, this process may take %llu more",
                   (unsigned long long)memory.total_bytes, (unsigned long long)available);
    (void)status;
    diag_evidence(sink, "MemAvailable of /proc/meminfo and the memory limit of the control group");
    return STATUS_LIMIT;
}

static Status open_memory(Executor *executor, DiagSink *sink) {
    const PlanHeader *plan = executor->artifact->plan;
    TRY(mapping_open(plan_space_bytes(plan, SPACE_WEIGHTS), "the weights", sink,
                     &executor->weights));
    TRY(mapping_open(plan_space_bytes(plan, SPACE_KV), "the KV pages", sink, &executor->kv));
    TRY(mapping_open(plan_space_bytes(plan, SPACE_ARENA), "the arena", sink, &executor->arena));
    TRY(mapping_open(plan_space_bytes(plan, SPACE_SCRATCH), "the scratch", sink,
                     &executor->scratch));
    TRY(mapping_open(plan_space_bytes(plan, SPACE_TOKENS), "input and output", sink,
                     &executor->io));
    // Of the planned run-time bytes this is the executor's part; tokenizer and sampler take the
    // rest.
    return mapping_open(align_up(plan_executor_bytes(plan), ARTIFACT_PAGE_BYTES), "run-time state",
                        sink, &executor->bindings);
}

// Copies code into memory that becomes executable afterwards, for files on a file system that
// forbids execution. NULL with errno if that is forbidden too.
static uint8_t *copy_code(const Artifact *artifact, const SectionEntry *entry, uint64_t bytes) {
    uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) return NULL;
    const uint8_t *data = artifact->data[entry - artifact->sections];
    memcpy(code, data, entry->len_bytes);
    (void)madvise((void *)data, bytes, MADV_DONTNEED);
    if (mprotect(code, bytes, PROT_READ | PROT_EXEC) == 0) return code;
    int error = errno;
    munmap(code, bytes);
    errno = error;
    return NULL;
}

// The code of the chosen level, executable and not writable; all its pages are touched.
static Status open_code(Executor *executor, DiagSink *sink) {
    const Artifact *artifact = executor->artifact;
    const SectionEntry *entry = &artifact->sections[artifact->levels[executor->level].section];
    uint64_t bytes = align_up(entry->len_bytes, ARTIFACT_PAGE_BYTES);
    if (bytes == 0) return STATUS_OK; // of a module that computes nothing
    uint8_t *code =
        mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, artifact->fd, (off_t)entry->offset);
    if (code == MAP_FAILED) code = copy_code(artifact, entry, bytes);
    if (!code) {
        DiagSpan span = {.file = artifact->path, .byte_offset = entry->offset};
        Status status = diag_error(sink, DIAG_U0002, span, "cannot map code for execution: %s",
                                   strerror(errno));
        (void)status;
        return STATUS_IO;
    }
    executor->code = code;
    executor->code_bytes = bytes;
    for (uint64_t i = 0; i < bytes; i += ARTIFACT_PAGE_BYTES) (void)*(volatile uint8_t *)(code + i);
    return STATUS_OK;
}

static uint8_t *buffer_address(const Executor *executor, const PlanBuffer *buffer,
                               uint32_t worker) {
    const Artifact *artifact = executor->artifact;
    const PlanIoLayout *io = &artifact->io;
    uint64_t offset = buffer->offset;
    switch ((PlanSpace)buffer->space) {
    case SPACE_WEIGHTS: return executor->weights.base + offset;
    case SPACE_ARENA: return executor->arena.base + offset;
    case SPACE_KV: return executor->kv.base + offset;
    case SPACE_SCRATCH:
        return executor->scratch.base + worker * plan_scratch_stride_bytes(artifact->plan) + offset;
    case SPACE_TOKENS: return executor->io.base + io->tokens_offset + offset;
    case SPACE_STARTS: return executor->io.base + io->starts_offset + offset;
    case SPACE_PAGES: return executor->io.base + io->pages_offset + offset;
    case SPACE_LOGITS: return executor->io.base + io->logits_offset + offset;
    case SPACE_PORTS: return executor->io.base + io->ports_offset + offset;
    case NUM_PLAN_SPACES: break;
    }
    BUG("memory space %u was not checked", buffer->space);
}

// Cuts the bindings mapping into its arrays: the sizes of plan_executor_bytes.
static void place_bindings(Executor *executor) {
    const PlanHeader *plan = executor->artifact->plan;
    uint8_t *next = executor->bindings.base;
    executor->steps = (BoundStep *)next;
    next += plan->steps.count * sizeof(BoundStep);
    executor->operands = (void **)next;
    uint64_t worker_bytes = align_up(plan->buffers.count * sizeof(void *), PLAN_BUFFER_ALIGN_BYTES);
    executor->operand_stride = worker_bytes / sizeof(void *);
    next += worker_bytes * plan->max_threads;
    executor->faults = (int64_t *)next;
    next += plan->max_threads * KERNEL_FAULT_WORDS * sizeof(int64_t);
    executor->scalars = (int64_t *)next;
    next += plan->scalars.count * sizeof(int64_t);
    executor->call_scalars = (uint32_t *)next;
}

static void bind_steps(Executor *executor) {
    const Artifact *artifact = executor->artifact;
    const PlanHeader *plan = artifact->plan;
    const PlanKernelCode *level_code =
        artifact->kernel_code + executor->level * plan->kernels.count;
    for (uint64_t i = 0; i < plan->steps.count; i++) {
        const PlanStep *step = &artifact->steps[i];
        uintptr_t address = (uintptr_t)executor->code + level_code[step->kernel].offset;
        executor->steps[i] = (BoundStep){
            .run = (KernelFn)address,
            .scalars = executor->scalars + step->first_scalar,
            .first_buffer = step->first_buffer,
            .tiles_value = step->tiles_of.value,
            .tiles_mul = step->tiles_mul,
            .tiles_div = step->tiles_div,
            .tiles_kind = step->tiles_of.kind,
            .needs_barrier = step->needs_barrier,
            .every_worker = step->every_worker,
        };
    }
    for (uint32_t worker = 0; worker < plan->max_threads; worker++)
        for (uint64_t i = 0; i < plan->buffers.count; i++)
            executor->operands[worker * executor->operand_stride + i] =
                buffer_address(executor, &artifact->buffers[i], worker);
    for (uint64_t i = 0; i < plan->scalars.count; i++) {
        executor->scalars[i] = artifact->scalars[i].value;
        if (artifact->scalars[i].kind != SCALAR_CONST)
            executor->call_scalars[executor->num_call_scalars++] = (uint32_t)i;
    }
}

// The most results that an artifact with sizes that vary gives.
static uint32_t num_varying_results(const Artifact *artifact) {
    uint32_t most = 0;
    for (uint64_t e = 0; artifact->num_sizes && e < artifact->plan->entries.count; e++)
        most = MAX(most, artifact->entries[e].num_ports);
    return most;
}

static Status open_parts(Executor *executor, const ExecutorOptions *options, DiagSink *sink) {
    const Artifact *artifact = executor->artifact;
    TRY(artifact_pick_level(artifact, options->cpu_level, cpu_host_features(), sink,
                            &executor->level));
    TRY(pick_threads(artifact, options->num_threads, sink, &executor->num_threads));
    TRY(check_memory(executor, sink));
    TRY(workers_create(executor->num_threads, sink, &executor->workers));
    TRY(open_memory(executor, sink));
    TRY(open_code(executor, sink));
    const SectionEntry *weights = &artifact->sections[artifact->weights_section];
    TRY(mapping_read(&executor->weights, executor->workers, artifact->fd, artifact->path,
                     weights->offset, weights->len_bytes, sink));
    const Mapping *mappings[] = {&executor->kv, &executor->arena, &executor->scratch, &executor->io,
                                 &executor->bindings};
    for (size_t i = 0; i < ARRAY_LEN(mappings); i++) mapping_touch(mappings[i], executor->workers);
    // The weights' last huge page may not be full: its rest counts in the plan like the others.
    if (executor->weights.bytes > weights->len_bytes)
        memset(executor->weights.base + weights->len_bytes, 0,
               executor->weights.bytes - weights->len_bytes);
    place_bindings(executor);
    bind_steps(executor);
    uint32_t num_pages = artifact->plan->num_pages;
    executor->free_pages = base_alloc(num_pages, sizeof *executor->free_pages);
    for (uint32_t i = 0; i < num_pages; i++) executor->free_pages[i] = (int32_t)(num_pages - 1 - i);
    executor->num_free_pages = num_pages;
    executor->result_dims = base_alloc(num_varying_results(artifact) + 1,
                                       PLAN_MAX_RANK * sizeof *executor->result_dims);
    return STATUS_OK;
}

Status executor_open(const Artifact *artifact, const ExecutorOptions *options, DiagSink *sink,
                     Executor **out_executor) {
    Executor *executor = base_alloc(1, sizeof *executor);
    executor->artifact = artifact;
    Status status = open_parts(executor, options, sink);
    if (status == STATUS_OK)
        *out_executor = executor;
    else
        executor_close(executor);
    return status;
}

int64_t *executor_result_dims(Executor *executor, uint32_t result) {
    return executor->result_dims +
           (executor->artifact->num_sizes ? (uint64_t)result * PLAN_MAX_RANK : 0);
}

void executor_close(Executor *executor) {
    if (!executor) return;
    workers_destroy(executor->workers);
    if (executor->code) munmap(executor->code, executor->code_bytes);
    mapping_close(&executor->weights);
    mapping_close(&executor->kv);
    mapping_close(&executor->arena);
    mapping_close(&executor->scratch);
    mapping_close(&executor->io);
    mapping_close(&executor->bindings);
    free(executor->free_pages);
    free(executor->result_dims);
    free(executor);
}

static int64_t num_tiles(const BoundStep *step, const ExecutorCall *call) {
    int64_t of = step->tiles_value;
    if (step->tiles_kind == SCALAR_NUM_VALID)
        of = call->num_valid;
    else if (step->tiles_kind == SCALAR_START)
        of = call->start;
    int64_t units = step->tiles_div == 1 ? of : (of + step->tiles_div - 1) / step->tiles_div;
    return step->tiles_mul * units;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Generated code carries no mark of its type before its entry, which clang's check of calls through
// pointers would read.
#if defined(__clang__)
#define CALLS_GENERATED_CODE __attribute__((no_sanitize("function")))
#else
#define CALLS_GENERATED_CODE
#endif

// Is there a fault in `a`, and none before it in `b`?
static bool is_earlier(const int64_t *a, const int64_t *b) {
    if (!a[FIRST_CHECK] || !b[FIRST_CHECK]) return a[FIRST_CHECK];
    return a[FIRST_STEP] != b[FIRST_STEP] ? a[FIRST_STEP] < b[FIRST_STEP]
                                          : a[FIRST_TILE] < b[FIRST_TILE];
}

// Keeps a worker's first fault, by step and tile: the piece that begins at this tile has one. Every
// step up to the first that has one is run by all workers, so that the fault found does not depend
// on who was quicker.
static void note_fault(_Atomic uint32_t *last_step, int64_t *fault, uint32_t step, int64_t tile) {
    const int64_t found[KERNEL_FAULT_WORDS] = {[FIRST_CHECK] = fault[KERNEL_FAULT_CHECK],
                                               [FIRST_VALUE] = fault[KERNEL_FAULT_VALUE],
                                               [FIRST_STEP] = step,
                                               [FIRST_TILE] = tile};
    if (is_earlier(found, fault)) memcpy(fault, found, sizeof found);
    fault[KERNEL_FAULT_CHECK] = 0;
    uint32_t last = atomic_load_explicit(last_step, memory_order_relaxed);
    while (step < last && !atomic_compare_exchange_weak_explicit(
                              last_step, &last, step, memory_order_relaxed, memory_order_relaxed)) {
    }
}

typedef struct Walk {
    Executor *executor;
    void *const *operands;
    int64_t *fault;
    uint32_t worker, num_workers;
} Walk;

CALLS_GENERATED_CODE static void run_piece(const Walk *walk, BoundStep *step, uint32_t number,
                                           int64_t begin, int64_t end) {
    if (begin >= end) return;
    step->run(walk->operands + step->first_buffer, step->scalars, begin, end, walk->fault);
    if (walk->fault[KERNEL_FAULT_CHECK])
        note_fault(&walk->executor->last_step, walk->fault, number, begin);
}

// Each worker has a share of its own. In a run that shares steps its second half is cut into ever
// smaller pieces that go to whoever is free: a worker that the machine holds up holds up the others
// by a piece, not by its share.
static void run_step(const Walk *walk, BoundStep *step, uint32_t number, int64_t tiles,
                     bool is_shared) {
    static const int64_t cuts[] = {16, 24, 28, 30, 31, 32}; // 32nds of a share
    const int64_t num = walk->num_workers;
    int64_t begin = tiles * walk->worker / num, end = tiles * (walk->worker + 1) / num;
    if (step->every_worker) return run_piece(walk, step, number, 0, tiles);
    if (!is_shared) return run_piece(walk, step, number, begin, end);
    run_piece(walk, step, number, begin, begin + (end - begin) * cuts[0] / 32);
    for (;;) {
        int64_t piece = atomic_fetch_add_explicit(&step->num_claimed, 1, memory_order_relaxed);
        int64_t round = piece / num, owner = piece % num;
        if (round + 1 >= (int64_t)ARRAY_LEN(cuts)) return;
        begin = tiles * owner / num;
        int64_t len = tiles * (owner + 1) / num - begin;
        run_piece(walk, step, number, begin + len * cuts[round] / 32,
                  begin + len * cuts[round + 1] / 32);
    }
}

// Walks the steps of a call on one worker. The end of the run is itself a barrier, so the last step
// needs none.
static void walk_steps(Executor *executor, uint32_t worker, uint32_t num_workers) {
    const ExecutorCall *call = executor->call;
    const PlanEntry *entry = &executor->artifact->entries[call->entry];
    const uint32_t num_body = entry->num_steps - entry->num_head_steps;
    const uint32_t first_step = entry->first_step + (call->part == EXECUTOR_HEAD ? num_body : 0);
    const uint32_t num_steps = call->part == EXECUTOR_ALL    ? entry->num_steps
                               : call->part == EXECUTOR_BODY ? num_body
                                                             : entry->num_head_steps;
    BoundStep *steps = executor->steps + first_step;
    const Walk walk = {.executor = executor,
                       .operands = executor->operands + worker * executor->operand_stride,
                       .fault = executor->faults + worker * KERNEL_FAULT_WORDS,
                       .worker = worker,
                       .num_workers = num_workers};
    const bool is_shared = executor->shares_steps;
    uint64_t *step_ns = worker == 0 ? executor->step_ns : NULL, begin_ns = 0, end_ns = 0;
    if (step_ns) begin_ns = now_ns();
    for (uint32_t i = 0; i < num_steps; i++) {
        BoundStep *step = &steps[i];
        // Behind a fault nothing is worth computing: what a step would read is not complete.
        if (i <= atomic_load_explicit(&executor->last_step, memory_order_relaxed))
            run_step(&walk, step, i, num_tiles(step, call), is_shared);
        if (step_ns) {
            end_ns = now_ns();
            step_ns[first_step + i] += end_ns - begin_ns;
            begin_ns = end_ns;
        }
        if (!step->needs_barrier || i + 1 == num_steps) continue;
        workers_barrier(executor->workers);
        if (step_ns) {
            begin_ns = now_ns();
            executor->wait_ns[first_step + i] += begin_ns - end_ns;
        }
    }
}

// Kernels round to nearest and keep denormal numbers on every worker, whatever the calling program
// has set on its thread.
static void run_on_worker(void *context, uint32_t worker, uint32_t num_workers) {
#if defined(__x86_64__)
    enum { MXCSR_DEFAULT = 0x1f80 };
    unsigned saved = _mm_getcsr();
    _mm_setcsr(MXCSR_DEFAULT);
    walk_steps(context, worker, num_workers);
    _mm_setcsr(saved);
#else
    walk_steps(context, worker, num_workers);
#endif
}

static ExecutorFault first_fault(const Executor *executor) {
    const Artifact *artifact = executor->artifact;
    const int64_t none[KERNEL_FAULT_WORDS] = {0}, *first = none;
    for (uint32_t w = 0; w < executor->num_threads; w++) {
        const int64_t *fault = executor->faults + w * KERNEL_FAULT_WORDS;
        if (is_earlier(fault, first)) first = fault;
    }
    if (!first[FIRST_CHECK]) return (ExecutorFault){0};
    uint64_t number = (uint64_t)first[FIRST_CHECK] - 1;
    BUG_IF(number >= artifact->plan->checks.count, "code names check %llu",
           (unsigned long long)number);
    return (ExecutorFault){&artifact->checks[number], first[FIRST_VALUE]};
}

ExecutorFault executor_run(Executor *executor, const ExecutorCall *call) {
    const Artifact *artifact = executor->artifact;
    BUG_IF(call->entry >= artifact->plan->entries.count, "entry %u", call->entry);
    const PlanEntry *entry = &artifact->entries[call->entry];
    uint32_t bucket = entry->bucket_tokens;
    uint64_t end = (uint64_t)call->start + (entry->is_batch ? 0 : call->num_valid);
    BUG_IF(call->num_valid > bucket || (call->num_valid == 0 && bucket > 0) ||
               end > artifact->plan->context_len_tokens,
           "%u tokens at %u in entry %u", call->num_valid, call->start, call->entry);
    BUG_IF(call->part == EXECUTOR_HEAD && !artifact->entries[call->entry].repeats_head,
           "the head of entry %u cannot run alone", call->entry);
    base_forbid_alloc();
    for (uint64_t i = 0; i < executor->num_call_scalars; i++) {
        uint32_t scalar = executor->call_scalars[i];
        bool is_count = artifact->scalars[scalar].kind == SCALAR_NUM_VALID;
        executor->scalars[scalar] = is_count ? call->num_valid : call->start;
    }
    memset(executor->faults, 0, executor->num_threads * KERNEL_FAULT_WORDS * sizeof(int64_t));
    atomic_store_explicit(&executor->last_step, UINT32_MAX, memory_order_relaxed);
    // A step of one token is over before a piece of it would be worth asking for.
    executor->shares_steps = executor->num_threads > 1 && bucket != 1 && !entry->is_batch;
    for (uint32_t i = 0; executor->shares_steps && i < entry->num_steps; i++)
        atomic_store_explicit(&executor->steps[entry->first_step + i].num_claimed, 0,
                              memory_order_relaxed);
    executor->call = call;
    workers_run(executor->workers, run_on_worker, executor);
    executor->call = NULL;
    base_allow_alloc();
    return first_fault(executor);
}

ExecutorIo executor_io(Executor *executor) {
    const PlanIoLayout *io = &executor->artifact->io;
    uint8_t *base = executor->io.base;
    return (ExecutorIo){.tokens = (int32_t *)(base + io->tokens_offset),
                        .starts = (int32_t *)(base + io->starts_offset),
                        .page_table = (int32_t *)(base + io->pages_offset),
                        .logits = (float *)(base + io->logits_offset),
                        .ports = base + io->ports_offset};
}

bool executor_take_page(Executor *executor, int32_t *out_page) {
    if (executor->num_free_pages == 0) return false;
    *out_page = executor->free_pages[--executor->num_free_pages];
    return true;
}

void executor_give_page(Executor *executor, int32_t page) {
    BUG_IF(executor->num_free_pages == executor->artifact->plan->num_pages, "page %d given twice",
           page);
    executor->free_pages[executor->num_free_pages++] = page;
}

uint32_t executor_num_free_pages(const Executor *executor) {
    return executor->num_free_pages;
}
const Artifact *executor_artifact(const Executor *executor) {
    return executor->artifact;
}
uint32_t executor_num_threads(const Executor *executor) {
    return executor->num_threads;
}

const char *executor_level_name(const Executor *executor) {
    return artifact_string(executor->artifact, executor->artifact->levels[executor->level].name);
}

PlanMemory executor_memory(const Executor *executor) {
    return artifact_memory(executor->artifact);
}

void executor_set_profile(Executor *executor, uint64_t *step_ns, uint64_t *wait_ns) {
    executor->step_ns = step_ns;
    executor->wait_ns = wait_ns;
}
