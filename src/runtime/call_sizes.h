// The sizes of a call of an entry whose sizes vary: held against their ranges, found a version that
// is large enough, and tensors moved between their own sizes and those of the version.
#ifndef INGOT_RUNTIME_CALL_SIZES_H
#define INGOT_RUNTIME_CALL_SIZES_H

#include "ingot.h"
#include "runtime/artifact.h"

// What the sizes of one call are; of[i] is of known[i], first seen in a dimension of a port.
typedef struct CallSizes {
    const PlanSize *known[PLAN_MAX_SIZES];
    const PlanPort *ports[PLAN_MAX_SIZES];
    uint32_t dims[PLAN_MAX_SIZES];
    int64_t of[PLAN_MAX_SIZES];
    uint32_t num;
} CallSizes;

// The size's number of valid elements in this call; -1: the entry has no size of that name.
int64_t call_size(const CallSizes *sizes, uint32_t name);
// Takes in dimension d of an argument, called so, which has that name in the port. X0021: outside
// its range, or of another size than an argument before it.
Status call_sizes_add(CallSizes *sizes, const Artifact *artifact, const PlanEntry *entry,
                      const PlanPort *port, uint32_t d, int64_t given, DiagSink *sink) MUST_USE;

// The dimensions that the port's tensor has in this call, and its bytes.
uint64_t call_sizes_dims(const CallSizes *sizes, const Artifact *artifact, const PlanPort *port,
                         int64_t *out_dims);
// Moves a dense tensor of these dimensions into its port and fills the rest with zeros; the two may
// begin at the same address.
void call_sizes_spread(const PlanPort *port, const int64_t *dims, const void *tensor,
                       uint8_t *place);
// Makes what stands in the port a dense tensor of these dimensions, in its place.
void call_sizes_gather(const PlanPort *port, const int64_t *dims, uint8_t *place);

#endif
