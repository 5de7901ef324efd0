// Runs every version of an artifact once; see warm_up.h.
#include "runtime/warm_up.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/session.h"
#include "runtime/tensor_call.h"

static Status run_bucket(Session *session, uint32_t num_tokens, const int32_t *ids,
                         DiagSink *sink) {
    Status status = session_prefill(session, ids, num_tokens, sink);
    session_reset(session);
    return status;
}

static Status run_batch(Session *const *sessions, uint32_t num, const int32_t *ids,
                        DiagSink *sink) {
    Status status = session_decode_batch(sessions, ids, num, sink);
    for (uint32_t i = 0; i < num; i++) session_reset(sessions[i]);
    return status;
}

static Status run_tokens(Executor *executor, DiagSink *sink) {
    const Artifact *artifact = executor_artifact(executor);
    const PlanHeader *plan = artifact->plan;
    uint32_t num = plan->max_sequences, largest = artifact_largest_bucket(artifact);
    int32_t *ids = base_alloc(MAX(largest, num), sizeof *ids); // token 0, whatever it is
    Session **sessions = base_alloc(num, sizeof *sessions);
    for (uint32_t i = 0; i < num; i++) sessions[i] = session_create(executor);
    Status status = STATUS_OK;
    for (uint64_t e = 0; e < plan->entries.count && status == STATUS_OK; e++) {
        const PlanEntry *entry = &artifact->entries[e];
        uint32_t tokens = MIN(entry->bucket_tokens, plan->context_len_tokens);
        status = entry->is_batch ? run_batch(sessions, entry->bucket_tokens, ids, sink)
                                 : run_bucket(sessions[0], tokens, ids, sink);
    }
    for (uint32_t i = 0; i < num; i++) session_destroy(sessions[i]);
    free(sessions);
    free(ids);
    return status;
}

// What the arguments of the entry have where a size is called so.
static int64_t size_called(const Artifact *artifact, const PlanEntry *entry, uint32_t name) {
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, artifact, PORT_ARGUMENT, k);
        for (uint32_t d = 0; d < port->rank; d++)
            if (port->dim_names[d] == name) return port->dims[d];
    }
    return 0;
}

static void run_tensors(Executor *executor, uint32_t number) {
    const Artifact *artifact = executor_artifact(executor);
    const PlanEntry *entry = &artifact->entries[number];
    uint8_t *ports = executor_io(executor).ports;
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, artifact, PORT_ARGUMENT, k);
        if (port->len_bytes) memset(ports + port->offset, 0, port->len_bytes);
    }
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_COUNT); k++) {
        const PlanPort *port = entry_port(entry, artifact, PORT_COUNT, k);
        int64_t count = size_called(artifact, entry, port->name);
        memcpy(ports + port->offset, &count, sizeof count);
    }
    (void)executor_run(executor, &(ExecutorCall){.entry = number, .part = EXECUTOR_ALL});
}

Status warm_up(Executor *executor, DiagSink *sink) {
    const PlanHeader *plan = executor_artifact(executor)->plan;
    if (plan->vocab_size) return run_tokens(executor, sink);
    for (uint64_t e = 0; e < plan->entries.count; e++) run_tensors(executor, (uint32_t)e);
    return STATUS_OK;
}
