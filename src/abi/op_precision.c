// The tables of op_precision.h.
#include "abi/op_precision.h"

#include "base/str.h"

static const OpClassInfo classes[] = {
#define OP_CLASS(id, name, is_product, meaning) {name, is_product},
#include "abi/op_class.def"
#undef OP_CLASS
};

static const OpPrecisionInfo precisions[] = {
#define PRECISION(id, name, storage, compute, accumulate, meaning)                                 \
    {name, DTYPE_##storage, DTYPE_##compute, DTYPE_##accumulate},
#include "abi/precision.def"
#undef PRECISION
};

const OpClassInfo *op_class_info(OpClass id) {
    return &classes[id];
}

bool op_class_find(const char *name, OpClass *out_id) {
    for (int i = 0; i < NUM_OP_CLASSES; i++) {
        if (!str_equal(name, classes[i].name)) continue;
        *out_id = (OpClass)i;
        return true;
    }
    return false;
}

const OpPrecisionInfo *op_precision_info(OpPrecision id) {
    return &precisions[id];
}

bool op_precision_find(const char *name, OpPrecision *out_id) {
    for (int i = 0; i < NUM_PRECISIONS; i++) {
        if (!str_equal(name, precisions[i].name)) continue;
        *out_id = (OpPrecision)i;
        return true;
    }
    return false;
}
