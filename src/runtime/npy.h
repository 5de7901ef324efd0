// Tensors in files of numpy's .npy format (versions 1 to 3, row-major).
#ifndef INGOT_RUNTIME_NPY_H
#define INGOT_RUNTIME_NPY_H

#include "abi/dtype.h"
#include "abi/plan.h"
#include "base/diag.h"

// A tensor in the bytes of a file; data is borrowed from them.
typedef struct NpyTensor {
    Dtype dtype;
    bool is_unsigned; // the file says u where the element type's code says i
    uint32_t rank;
    int64_t dims[PLAN_MAX_RANK];
    const uint8_t *data;
    uint64_t len_bytes;
} NpyTensor;

// The bytes are from outside: everything about them is checked. path: for diagnostics. Failure:
// X0019, STATUS_INVALID.
Status npy_parse(const uint8_t *bytes, uint64_t len_bytes, const char *path, DiagSink *sink,
                 NpyTensor *out_tensor) MUST_USE;

// Appends the file's header; the data follow it.
void npy_put_header(Dtype dtype, uint32_t rank, const int64_t *dims, StrBuf *out);

#endif
