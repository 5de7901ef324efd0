// The verifier: upstream's rules for the subset, and the stricter V1..V15 (docs/ir.md).
#ifndef INGOT_IR_VERIFY_H
#define INGOT_IR_VERIFY_H

#include "ir/ir.h"

typedef struct IrVerifyOptions {
    uint32_t level;      // 1..3: level discipline (V14); 0: any mix
    bool is_planned;     // memref.alloc is refused (after the memory planner)
    bool allow_test_ops; // external functions and unranked types in front of print calls
} IrVerifyOptions;

// All faults found go to the sink (codes I....). options may be NULL (level 0).
Status ir_verify(IrModule *m, const IrVerifyOptions *options, DiagSink *sink) MUST_USE;

#endif
