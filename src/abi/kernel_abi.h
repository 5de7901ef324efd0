// The interface of a compiled kernel, version 2. A kernel is one function of position-independent
// code without calls, globals or allocation. It may be called at once by several workers with
// disjoint tile ranges; what it computes for a tile depends on nothing but the buffers and scalars.
#ifndef INGOT_ABI_KERNEL_ABI_H
#define INGOT_ABI_KERNEL_ABI_H

#include <stdint.h>

enum {
    KERNEL_ABI_VERSION = 2,
    KERNEL_NUM_PARAMS = 4, // of code without checks; other code takes the fault record too
    // Of a fault record, a cache line that belongs to one worker.
    KERNEL_FAULT_CHECK = 0, // 1 + number of the first check that failed, 0: none did
    KERNEL_FAULT_VALUE = 1, // what it found, see PlanCheck
    KERNEL_FAULT_OWN = 4,   // from here on the caller's
    KERNEL_FAULT_WORDS = 8,
};

// buffers: addresses in the order of the kernel's memref parameters, each aligned to 64 bytes.
// scalars: its index parameters other than the last two. Tiles [tile_begin, tile_end) are computed.
// fault: the record of the calling worker; a kernel without checks does not touch it.
typedef void (*KernelFn)(void *const *buffers, const int64_t *scalars, int64_t tile_begin,
                         int64_t tile_end, int64_t *fault);

#endif
