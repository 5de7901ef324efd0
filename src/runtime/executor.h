// The executor: an artifact's plan bound to memory, threads and the code of one CPU level.
// Everything is taken and touched at open, exactly as large as abi/plan_size.h says; running a step
// allocates nothing.
//
// One thread at a time owns an executor (and its sessions). Results do not depend on the number of
// workers: a tile's result depends on its buffers and scalars only, whoever computes it.
#ifndef INGOT_RUNTIME_EXECUTOR_H
#define INGOT_RUNTIME_EXECUTOR_H

#include "runtime/artifact.h"

typedef struct Executor Executor;

typedef struct ExecutorOptions {
    uint32_t num_threads; // 0: as many as the plan allows and this process may use
    const char
        *cpu_level; // NULL or "native": the best this processor runs; else a lesser one by name
} ExecutorOptions;

// The artifact is borrowed and must outlive the executor.
// Failures: X0007 (STATUS_ENVIRONMENT), X0008 X0009 (STATUS_INVALID), X0010 X0014 (STATUS_LIMIT),
// U0002 (STATUS_IO), U0004 (STATUS_USAGE).
Status executor_open(const Artifact *artifact, const ExecutorOptions *options, DiagSink *sink,
                     Executor **out_executor) MUST_USE;
void executor_close(Executor *executor); // NULL is allowed

// Where a call's input is written and its result read; owned by the executor.
typedef struct ExecutorIo {
    int32_t *tokens;     // of the call, at most artifact_largest_bucket, or a batch's
    int32_t *starts;     // of a batch: a position per sequence, 0 from num_valid on
    int32_t *page_table; // max_pages physical page numbers of each sequence
    float *logits;       // vocab_size of each sequence
    uint8_t *ports;      // ports_bytes: arguments and results of the entry at hand
} ExecutorIo;
ExecutorIo executor_io(Executor *executor);
// Room for the dimensions of a result of a call, PLAN_MAX_RANK of them; one result's where no size
// varies.
int64_t *executor_result_dims(Executor *executor, uint32_t result);

typedef enum ExecutorPart {
    EXECUTOR_ALL,  // the logits of the last token
    EXECUTOR_BODY, // the entry's head steps are left out
    // The head steps alone, behind a call of the same entry and nothing since, for the logits of
    // token num_valid - 1 of that call; only where the entry's repeats_head is set.
    EXECUTOR_HEAD,
} ExecutorPart;

typedef struct ExecutorCall {
    uint32_t entry;     // index in artifact->entries
    uint32_t num_valid; // 1 <= num_valid <= its bucket_tokens; 0 if the entry takes tensors
    uint32_t start;     // position of the first token; start + num_valid <= context; of a batch: 0
    ExecutorPart part;
} ExecutorCall;
// What a check of the compiled code found. What has been written until then is of no use.
typedef struct ExecutorFault {
    const PlanCheck *check; // NULL: nothing was wrong
    int64_t value;
} ExecutorFault;

// Runs an entry on executor_io's tokens and page table; a call out of range is a BUG. The fault
// does not depend on the number of workers: it is the first of the first step that has any.
ExecutorFault executor_run(Executor *executor, const ExecutorCall *call);

// Pages of the KV slab that no session holds: a stack, lowest number on top after open.
bool executor_take_page(Executor *executor, int32_t *out_page);
void executor_give_page(Executor *executor, int32_t page);
uint32_t executor_num_free_pages(const Executor *executor);

const Artifact *executor_artifact(const Executor *executor);
uint32_t executor_num_threads(const Executor *executor);
const char *executor_level_name(const Executor *executor);
PlanMemory executor_memory(const Executor *executor);

// Measures each step on worker 0, barrier wait included: step_ns[i] and wait_ns[i] grow with every
// run of step i. Arrays of plan->steps.count, borrowed until unset with NULL.
void executor_set_profile(Executor *executor, uint64_t *step_ns, uint64_t *wait_ns);

#endif
