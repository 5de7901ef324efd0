// Machine code for the validator: runs functions of a lowered module in this process.
#ifndef INGOT_COMPILER_VALIDATE_NATIVE_H
#define INGOT_COMPILER_VALIDATE_NATIVE_H

#include "codegen/codegen.h"
#include "passes/validate.h"

// The code of the module asked for last.
typedef struct NativeCode {
    const IrModule *m;
    uint32_t num_ops; // of m when it was compiled: another module may come to lie at its address
    CodegenImage image;
    void *base; // NULL: it cannot run here
    uint32_t num_threads;
} NativeCode;

// A ValidateNative; ctx is a NativeCode.
bool native_call(void *ctx, const IrModule *m, const char *function, void *const *buffers,
                 const int64_t *scalars, int64_t tile_begin, int64_t tile_end);
void native_deinit(NativeCode *code);

#endif
