// The table of element types; see dtype.h.
#include "abi/dtype.h"

#include "base/str.h"

static const DtypeInfo dtypes[NUM_DTYPES] = {
#define DTYPE(id, name, bytes, npy) {name, bytes, npy},
#include "abi/dtype.def"
#undef DTYPE
};

const DtypeInfo *dtype_info(Dtype dtype) {
    BUG_IF(dtype >= NUM_DTYPES, "element type %d does not exist", (int)dtype);
    return &dtypes[dtype];
}

bool dtype_find(const char *name, Dtype *out_dtype) {
    for (int i = 0; i < NUM_DTYPES; i++) {
        if (!str_equal(dtypes[i].name, name)) continue;
        *out_dtype = (Dtype)i;
        return true;
    }
    return false;
}
