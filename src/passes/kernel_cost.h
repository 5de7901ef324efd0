// Counts what kernels do, from their own loops and vectors: the numbers behind every schedule
// decision and every predicted time. Any kernel that is loops over scalars and vectors can be
// counted, whatever schedule made it.
#ifndef INGOT_PASSES_KERNEL_COST_H
#define INGOT_PASSES_KERNEL_COST_H

#include "ir/ir.h"
#include "target/cost.h"

enum { KERNEL_MAX_ARGS = 64 };

// How an entry calls a kernel: its scalars, and what its buffers hold.
typedef struct KernelUse {
    const IrOp *entry;
    const char *kernel;               // symbol
    int64_t scalars[KERNEL_MAX_ARGS]; // by argument; INT64_MIN: a buffer, or unknown
    uint64_t streamed;                // bit i: argument i is a weight or cache, read once per call
    uint32_t num_calls;               // of this kernel with these scalars, in the entry
} KernelUse;

typedef struct KernelUses {
    KernelUse *uses; // in the order of first calls
    size_t num_uses, capacity;
    double streamed_bytes; // weights and caches that the largest entry passes over
} KernelUses;

// Can the calls of a module be followed? Not if they are very many, or go round: text that no pass
// has inlined may say so.
bool kernel_uses_bounded(const IrModule *m);
// Follows the calls of all entries of a bufferised module for a full bucket whose first token has
// position `start`.
void kernel_uses_collect(IrModule *m, int64_t start, KernelUses *out_uses);
void kernel_uses_deinit(KernelUses *uses);
// The first use of a kernel; NULL if no entry calls it.
const KernelUse *kernel_uses_find(const KernelUses *uses, const char *kernel);

// A vectorised kernel, counted for any call: what a run of each block costs is found once, how
// often it runs for every call. The kernel must not change meanwhile.
typedef struct KernelCount KernelCount;
KernelCount *kernel_count_create(IrModule *m, const IrOp *kernel, const Target *target);
void kernel_count_destroy(KernelCount *c);
// Counts one call of `called`: the kernel itself, or one that is equal but for the sizes of its
// arguments. Loops whose bounds depend on an outer loop are followed iteration by iteration, the
// others are multiplied.
void kernel_count_call(KernelCount *c, const IrOp *called, const KernelUse *use,
                       const KernelUses *uses, CostWork *out_work);

// The same from structured ops, for machines no code is made for: contractions as operations of a
// matrix unit, everything else as vector operations, every buffer read once.
void kernel_work_estimate(IrModule *m, const IrOp *kernel, const KernelUse *use,
                          const KernelUses *uses, const Target *target, CostWork *out_work);

#endif
