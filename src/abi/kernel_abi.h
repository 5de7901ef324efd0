// The interface of a compiled kernel, version 1. A kernel is one function of position-independent
// code without calls, globals or allocation. It may be called at once by several workers with
// disjoint tile ranges; what it computes for a tile depends on nothing but the buffers and scalars.
#ifndef INGOT_ABI_KERNEL_ABI_H
#define INGOT_ABI_KERNEL_ABI_H

#include <stdint.h>

enum { KERNEL_ABI_VERSION = 1 };

// buffers: addresses in the order of the kernel's memref parameters, each aligned to 64 bytes.
// scalars: its index parameters other than the last two. Tiles [tile_begin, tile_end) are computed.
typedef void (*KernelFn)(void *const *buffers, const int64_t *scalars, int64_t tile_begin,
                         int64_t tile_end);

#endif
