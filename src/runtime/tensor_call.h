// Calls of entries that take and give tensors by name; behind ingot_call.
#ifndef INGOT_RUNTIME_TENSOR_CALL_H
#define INGOT_RUNTIME_TENSOR_CALL_H

#include "ingot.h"
#include "runtime/executor.h"

// A port as a tensor without data.
IngotTensor tensor_of_port(const Artifact *artifact, const PlanPort *port);
// Number of ports of a kind that an entry has; port i of them.
uint32_t entry_num_ports(const PlanEntry *entry, const Artifact *artifact, PlanPortKind kind);
const PlanPort *entry_port(const PlanEntry *entry, const Artifact *artifact, PlanPortKind kind,
                           uint32_t i);

// Finds the smallest version of the entry (NULL: the only one) that holds the arguments' sizes,
// copies the arguments in, runs, and points the results at what was computed. Failures: X0018,
// X0020, X0021, STATUS_INVALID; nothing has run then.
Status tensor_call(Executor *executor, const char *entry, const IngotTensor *arguments,
                   size_t num_arguments, IngotTensor *out_results, size_t num_results,
                   DiagSink *sink) MUST_USE;

#endif
