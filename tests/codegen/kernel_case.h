// One kernel in text, run by the interpreter and as machine code on the same buffers.
#ifndef INGOT_TESTS_CODEGEN_KERNEL_CASE_H
#define INGOT_TESTS_CODEGEN_KERNEL_CASE_H

#include "abi/cpu.h"
#include "base/diag.h"
#include "codegen/codegen.h"
#include "ir/ir.h"

enum { KERNEL_CASE_MAX_BUFFERS = 16, KERNEL_CASE_GUARD_BYTES = 256 };

// A buffer of a kernel: bytes between two guards of 0xa5, aligned to 64.
typedef struct CaseBuffer {
    const IrType *type;
    uint8_t *block, *bytes;
    uint64_t len_bytes;
} CaseBuffer;

typedef struct KernelCase {
    IrModule *module; // level 2, as parsed
    IrOp *kernel;     // its first function with ingot.kernel
    CaseBuffer buffers[KERNEL_CASE_MAX_BUFFERS];
    uint32_t num_buffers;
    int64_t scalars[KERNEL_CASE_MAX_BUFFERS];
    uint32_t num_scalars;
    int64_t tile_begin, tile_end;
    uint32_t max_ulp; // 0: floats must have equal bits
    uint32_t levels;  // bits 1 << CpuLevel that have its instructions
} KernelCase;

// Parses; buffers are filled with numbers of their type from `seed`. Directives in comments set the
// rest: "// scalars: 3 7", "// tiles: 0 4", "// ulp: 2", "// levels: v3-vnni v4-vnni". Fails the
// test on any error.
void kernel_case_init(KernelCase *c, const char *text, size_t len, const char *name, uint32_t seed);
void kernel_case_deinit(KernelCase *c);
void kernel_case_fill(KernelCase *c, uint32_t seed);

// Runs the interpreter in place.
void kernel_case_interpret(KernelCase *c);
// Machine code of the kernel in this process.
typedef struct CaseCode {
    CodegenImage image;
    void *base;
} CaseCode;
void kernel_case_compile(const KernelCase *c, CpuLevel level, CaseCode *out_code);
void kernel_case_call(KernelCase *c, const CaseCode *code); // in place; guards are checked
void kernel_case_free_code(CaseCode *code);
// All three.
void kernel_case_run(KernelCase *c, CpuLevel level);
// Saves all buffers; compares the present contents with a saved state within max_ulp.
uint8_t *kernel_case_save(const KernelCase *c);
void kernel_case_restore(KernelCase *c, const uint8_t *saved);
bool kernel_case_equal(const KernelCase *c, const uint8_t *saved);
void kernel_case_expect(const KernelCase *c, const uint8_t *expected, const char *what);

// Renders and fails if the status is not OK.
void expect_ok(Status status, const DiagSink *sink);
// Fails if mlir-opt-22 or mlir-translate-22 refuses the level-3 text; false if they are not
// installed.
bool stock_mlir_accepts(const StrBuf *text);
// Level 3 of a module's copy; the caller destroys it.
IrModule *kernel_case_lower(const IrModule *module);

#endif
