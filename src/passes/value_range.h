// What a value can be, whatever a program's inputs hold: an interval, found from constants, loops,
// affine maps, remainders, minima, maxima, choices and the branches around its use.
#ifndef INGOT_PASSES_VALUE_RANGE_H
#define INGOT_PASSES_VALUE_RANGE_H

#include "ir/ir.h"

// Of an integer or index, as signed: min <= value <= max.
typedef struct ValueRange {
    int64_t min, max;
} ValueRange;

// Of a float; infinities are values.
typedef struct FloatRange {
    double min, max;
    bool may_be_nan;
} FloatRange;

// Where user reads the value: the conditions of the scf.if ops around it hold.
ValueRange value_range_at(IrModule *m, const IrValue *value, const IrOp *user);
FloatRange value_range_float(IrModule *m, const IrValue *value);
ValueRange value_range_of_type(const IrType *scalar);

#endif
