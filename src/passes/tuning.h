// Measured schedules of kernels, on the module as ingot.tuning: what a tuning lock said
// (compiler/tuning.h), for loop-schedule to take instead of its own choice.
//
//   ingot.tuning = [{col_tile = 1, key = "6f0c...", lanes = 16, level = "v4-vnni",
//                    measured_ns = 81234, row_tile = 12}, ...]
//
// A kernel is known by its key, a hash of its text before it has a schedule, whatever its name.
#ifndef INGOT_PASSES_TUNING_H
#define INGOT_PASSES_TUNING_H

#include "passes/vectorize.h"

enum { TUNING_KEY_CHARS = 16 };

// Hex digits of the kernel's text with its name and schedule left out, and a NUL.
void tuning_key(IrModule *m, IrOp *kernel, char out_key[TUNING_KEY_CHARS + 1]);

typedef struct TuningEntry {
    const char *key;
    CpuLevel level;
    Schedule schedule;
    int64_t measured_ns; // of the kernel's steps of all buckets, one call each
} TuningEntry;

// Appends to the module's list.
void tuning_add(IrModule *m, const TuningEntry *entry);
// False if there is none for this kernel and level, or a dump was edited to something that is none.
bool tuning_find(const IrModule *m, const char *key, CpuLevel level, TuningEntry *out_entry);

#endif
