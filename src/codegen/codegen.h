// Level-3 IR to machine code through the LLVM C API; the only folder that includes llvm-c/.
#ifndef INGOT_CODEGEN_CODEGEN_H
#define INGOT_CODEGEN_CODEGEN_H

#include "abi/cpu.h"
#include "base/diag.h"
#include "ir/ir.h"

typedef struct CodegenFunction {
    const char *name;           // the llvm.func's symbol (owned by the image)
    uint64_t offset, len_bytes; // in the image
    uint64_t ns; // of the time codegen_compile took, by its share of what the workers computed
} CodegenFunction;

// Position-independent code: copy or map at any 64-byte aligned (4096 in files) read-execute
// address and call base + offset. No external symbols, no relocations left.
typedef struct CodegenImage {
    uint8_t *bytes;
    uint64_t len_bytes;
    CodegenFunction *functions;
    size_t num_functions;
} CodegenImage;

// Compiles every llvm.func with a body of a level-3 module for a CPU level. The bytes depend on
// nothing but the IR and the level. Undefined symbols, unknown intrinsics and intrinsics the level
// lacks are refused (codes B....). num_threads workers share the functions, each with its own LLVM
// context.
Status codegen_compile(const IrModule *m, CpuLevel level, uint32_t num_threads, DiagSink *sink,
                       CodegenImage *out_image) MUST_USE;
void codegen_image_deinit(CodegenImage *image);

// The LLVM version linked, e.g. "22.1.8".
const char *codegen_llvm_version(void);

// Maps an image into executable memory of this process (compile-time evaluation, tests).
Status codegen_image_map(const CodegenImage *image, DiagSink *sink, void **out_base) MUST_USE;
void codegen_image_unmap(void *base, uint64_t len_bytes);

#endif
