// Index values as affine expressions of the loops around an op; private to the access analysis.
#ifndef INGOT_IR_ACCESS_INDEX_H
#define INGOT_IR_ACCESS_INDEX_H

#include "ir/access.h"

typedef struct AccessLoops {
    IrModule *m;
    uint32_t num;
    // A loop is an induction variable, or loop `dim` of a structured op.
    struct {
        const IrValue *iv;
        const IrOp *structured;
        uint32_t dim;
        int64_t trip, step;
    } loops[IR_ACCESS_MAX_LOOPS];
    uint32_t num_symbols;
} AccessLoops;

// What an index may be beside affine.
typedef struct AccessIndex {
    const IrAffineExpr *expr;
    uint32_t gather_loops; // bits: loops it depends on through memory
    bool is_gather, is_unknown;
} AccessIndex;

bool access_loops_collect(IrModule *m, const IrOp *op, AccessLoops *out_loops);
AccessIndex access_index(AccessLoops *loops, const IrValue *value, uint32_t depth);
// An affine expression over operands, as affine.load has it.
AccessIndex access_apply(AccessLoops *loops, const IrAffineMap *map, uint32_t result,
                         const IrOp *op, uint32_t first_operand, uint32_t depth);

#endif
