// Element types of the tensors an artifact takes and gives; the table is dtype.def.
#ifndef INGOT_ABI_DTYPE_H
#define INGOT_ABI_DTYPE_H

#include "base/base.h"

typedef enum Dtype {
#define DTYPE(id, name, bytes, npy) DTYPE_##id,
#include "abi/dtype.def"
#undef DTYPE
    NUM_DTYPES
} Dtype;

typedef struct DtypeInfo {
    const char *name; // as in IR text
    uint32_t bytes;   // of one element in memory
    const char *npy;  // descr of a .npy file
} DtypeInfo;

const DtypeInfo *dtype_info(Dtype dtype);
bool dtype_find(const char *name, Dtype *out_dtype);

#endif
