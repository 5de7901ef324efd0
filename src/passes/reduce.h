// Shrinks a module that shows a fault to a small one that still shows it: edits that make it
// simpler are tried one by one on a copy, and kept where the copy is valid and the fault is still
// there, until none is left that can be kept. The same module and test give the same outcome.
#ifndef INGOT_PASSES_REDUCE_H
#define INGOT_PASSES_REDUCE_H

#include "ir/ir.h"

// Does the module still show the fault? It has passed the verifier; the test must not change it.
typedef bool (*ReduceTest)(const IrModule *m, void *ctx);
// After every edit that was kept.
typedef void (*ReduceProgress)(const IrModule *m, uint32_t num_tried, uint32_t num_kept, void *ctx);

typedef struct ReduceReport {
    uint32_t num_tried, num_kept;
    uint32_t ops_before, ops_after;
} ReduceReport;

// A new module; m itself is not changed. progress may be NULL. max_tests bounds the work.
IrModule *reduce_module(const IrModule *m, ReduceTest test, ReduceProgress progress, void *ctx,
                        uint32_t max_tests, ReduceReport *out_report);

#endif
