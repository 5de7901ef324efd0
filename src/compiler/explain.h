// The record of a compile: what became of every fusion rule and edge, how every operand is walked,
// why every buffer and copy is there, which primitive every kernel got. One JSON object, the same
// in `ingot explain` and in the manifest of an artifact (docs/explain.md); no addresses, no clocks.
#ifndef INGOT_COMPILER_EXPLAIN_H
#define INGOT_COMPILER_EXPLAIN_H

#include "base/diag.h"
#include "ir/ir.h"
#include "target/target.h"

typedef struct Explain {
    StrBuf versions, rules, layouts, checks, edges, access, buffers, copies, kernels; // of arrays
    uint64_t num_edges, num_applied, num_flagged, num_fallbacks;
    uint64_t buffer_bytes, copy_bytes, stake_bytes;
    uint64_t num_buffers, num_copies, num_kernels, num_access;
    uint64_t num_checked;              // of checks: those made at run time
    uint64_t num_functions, num_calls; // kernels as outlined, and how often they run
    const char *level;                 // of kernels
    double bytes_per_ns, barrier_ns;   // of the machine
} Explain;

// Predicted times are for `target`: its memory as fast as code reaches it, and a barrier.
void explain_init(Explain *e, const Target *target);
// The same for a module by itself: the machine it names, or the least of its CPU level, of the
// lowest level if it names none.
Status explain_init_module(Explain *e, const IrModule *m, DiagSink *sink,
                           Target *out_target) MUST_USE;

// At three moments: kernels are outlined and still tensors; buffers, of which those between kernels
// are final; vectors of one CPU level.
void explain_tensors(IrModule *m, Explain *e);
void explain_buffers(IrModule *m, Explain *e);
// What kernels keep for themselves, part of explain_kernels: loops that are fused have left out the
// buffers whose values stay in registers. By itself for a module that no vectors are made of, where
// it is what they keep at most.
void explain_scratch(IrModule *m, Explain *e);
void explain_kernels(IrModule *m, const char *level, Explain *e);
// The object; "" parts are empty arrays.
void explain_write(const Explain *e, StrBuf *out);

// What passes change of it: all of one call of every entry.
typedef struct ExplainCost {
    uint64_t num_kernels, num_calls;    // of kernels
    uint64_t num_buffers, buffer_bytes; // between kernels
    uint64_t num_copies, copy_bytes;
    uint64_t moved_bytes; // written and read between kernels, and copied
} ExplainCost;
ExplainCost explain_cost(const Explain *e);
void explain_deinit(Explain *e);

#endif
