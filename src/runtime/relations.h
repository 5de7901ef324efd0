// The relations between the sizes of a call that a recipe states (abi/relation.h), held against the
// calls of a language model, and of entries whose sizes vary.
#ifndef INGOT_RUNTIME_RELATIONS_H
#define INGOT_RUNTIME_RELATIONS_H

#include "runtime/artifact.h"
#include "runtime/call_sizes.h"

typedef struct CallDims {
    uint64_t batch_size;       // sequences
    uint64_t seq_len;          // tokens of each
    uint64_t kv_cache_seq_len; // of the longest of them, afterwards
} CallDims;

// X0023 with the sizes, the relation, its place and what each size could be: STATUS_LIMIT.
Status relations_check(const Artifact *artifact, const CallDims *call, DiagSink *sink) MUST_USE;
// The same of a call of an entry, for the relations that are about its sizes.
Status relations_check_sizes(const Artifact *artifact, const PlanEntry *entry,
                             const CallSizes *sizes, DiagSink *sink) MUST_USE;
// Of seq_len tokens behind kv_cache_seq_len others, how many one call can take: at least one, which
// relations_check has allowed.
uint32_t relations_chunk(const Artifact *artifact, const CallDims *call);

#endif
