// The tuning lock: which schedule of each kernel was measured to be the quickest, a YAML file that
// `ingot tune` writes and `ingot compile --tuning` takes as an input.
//
//   version: 1
//   kernels:
//     - name: kernel_matmul_q4_1_3
//       key: 6f0c3a5e91b24d77
//       level: v4-vnni
//       candidates:
//         - {lanes: 16, row_tile: 12, col_tile: 1, unroll: 1, measured_ns: 81234}
//         - {lanes: 16, row_tile: 10, col_tile: 1, unroll: 1, measured_ns: 84790}
//
// The first candidate is taken; the others are what it was compared with. A kernel is known by its
// key (passes/tuning.h); its name is for people.
#ifndef INGOT_COMPILER_TUNING_LOCK_H
#define INGOT_COMPILER_TUNING_LOCK_H

#include "passes/tuning.h"

// Reads a lock onto the module, for loop-schedule. Errors: P0071, R0001 to R0007 with the place;
// two entries for one key and level are refused.
Status tuning_lock_load(const char *path, IrModule *m, DiagSink *sink) MUST_USE;
// The same of text; path names it in messages.
Status tuning_lock_parse(const char *text, size_t len, const char *path, IrModule *m,
                         DiagSink *sink) MUST_USE;

// After loop-schedule for that level: warns (P0072) of the lock's entries that no kernel answers
// to. Returns how many kernels took theirs.
uint32_t tuning_lock_check(const IrModule *m, CpuLevel level, const char *path, DiagSink *sink);

typedef struct TuningCandidate {
    Schedule s;
    double measured_ns;
} TuningCandidate;

typedef struct TuningKernel {
    const char *name, *key, *level;
    TuningCandidate *candidates; // the quickest first
    size_t num_candidates;
} TuningKernel;

// The file's text.
void tuning_lock_put(const TuningKernel *kernels, size_t num_kernels, StrBuf *out);

#endif
