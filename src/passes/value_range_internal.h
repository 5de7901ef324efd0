// Shared by value_range*.c.
#ifndef INGOT_PASSES_VALUE_RANGE_INTERNAL_H
#define INGOT_PASSES_VALUE_RANGE_INTERNAL_H

#include "passes/value_range.h"

typedef struct Ranges {
    IrModule *m;
    int32_t visits; // left: operands are shared, and a walk of all ways may not end
} Ranges;

ValueRange ranges_of(Ranges *r, const IrValue *value);
FloatRange ranges_of_float(Ranges *r, const IrValue *value);

#endif
