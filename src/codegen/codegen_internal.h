// Shared by the files of src/codegen; private to it.
#ifndef INGOT_CODEGEN_CODEGEN_INTERNAL_H
#define INGOT_CODEGEN_CODEGEN_INTERNAL_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen.h"

enum { CODEGEN_ALIGN_BYTES = 64 }; // of a function's image

// One function's machine code with its constants behind it; position-independent.
typedef struct CodegenBlob {
    uint8_t *bytes;
    uint64_t len_bytes;
} CodegenBlob;

// ---- codegen_check.c

// Does a call of this intrinsic select to an instruction at the level? A diagnostic if not:
// B0004 unknown, B0005 not at this level. LLVM itself would abort.
Status codegen_check_intrinsic(const IrOp *op, CpuLevel level, DiagSink *sink) MUST_USE;

// ---- codegen_translate.c

// The LLVM module of one llvm.func, in ctx. Diagnostics: B0003 (no translation), B0004, B0005.
Status codegen_translate(const IrModule *m, const IrOp *func, CpuLevel level, LLVMContextRef ctx,
                         DiagSink *sink, LLVMModuleRef *out_module) MUST_USE;

// ---- codegen_types.c

LLVMTypeRef codegen_type(LLVMContextRef ctx, const IrType *type); // NULL: no such type
// The constant of an attribute, of the LLVM type; NULL if it has none.
LLVMValueRef codegen_constant(LLVMContextRef ctx, const IrAttr *attr, LLVMTypeRef type);

// ---- codegen_object.c

// Lays out .text and read-only data of an ELF object with one function and applies its relocations.
// B0006: an undefined symbol; B0007: an object we do not understand.
Status codegen_object_link(const uint8_t *object, uint64_t len_bytes, const char *function,
                           DiagSink *sink, CodegenBlob *out_blob) MUST_USE;

#endif
