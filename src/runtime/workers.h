// A fixed team of threads that run one function together: the caller is worker 0, num_workers - 1
// helpers are the others. One wake-up per run; inside a run the workers meet at barriers.
//
// Waiting spins for a short time, then sleeps on a futex, so an idle team uses no processor, and a
// team larger than the processors it may use makes progress. Helpers block all signals. Only one
// thread at a time may call workers_run. Nothing here allocates after create.
#ifndef INGOT_RUNTIME_WORKERS_H
#define INGOT_RUNTIME_WORKERS_H

#include "base/diag.h"

typedef struct Workers Workers;
typedef void (*WorkersFn)(void *context, uint32_t worker, uint32_t num_workers);

// Failure: X0014, STATUS_LIMIT. num_workers is at least 1.
Status workers_create(uint32_t num_workers, DiagSink *sink, Workers **out_workers) MUST_USE;
void workers_destroy(Workers *workers); // NULL is allowed; no run may be under way

// Calls fn(context, worker, num_workers) on every worker; returns when all have returned. What a
// worker wrote is visible to the caller afterwards.
void workers_run(Workers *workers, WorkersFn fn, void *context);
// To be called by every worker of a run, equally often. What any of them wrote before is visible to
// all afterwards.
void workers_barrier(Workers *workers);
uint32_t workers_count(const Workers *workers);

#endif
