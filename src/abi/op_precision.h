// Types per class of ops: the tables op_class.def and precision.def.
#ifndef INGOT_ABI_OP_PRECISION_H
#define INGOT_ABI_OP_PRECISION_H

#include "abi/dtype.h"

typedef enum OpClass {
#define OP_CLASS(id, name, is_product, meaning) OP_CLASS_##id,
#include "abi/op_class.def"
#undef OP_CLASS
    NUM_OP_CLASSES
} OpClass;

typedef enum OpPrecision {
#define PRECISION(id, name, storage, compute, accumulate, meaning) PRECISION_##id,
#include "abi/precision.def"
#undef PRECISION
    NUM_PRECISIONS
} OpPrecision;

typedef struct OpClassInfo {
    const char *name;
    bool is_product;
} OpClassInfo;

typedef struct OpPrecisionInfo {
    const char *name;
    Dtype storage, compute, accumulate;
} OpPrecisionInfo;

const OpClassInfo *op_class_info(OpClass id);
bool op_class_find(const char *name, OpClass *out_id);
const OpPrecisionInfo *op_precision_info(OpPrecision id);
bool op_precision_find(const char *name, OpPrecision *out_id);

#endif
