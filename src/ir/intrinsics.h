// The machine instructions the IR may name (llvm.call_intrinsic): one table that the verifier, the
// interpreter and the code generator share. See intrinsics.def for exact meanings.
#ifndef INGOT_IR_INTRINSICS_H
#define INGOT_IR_INTRINSICS_H

#include "ir/ir.h"

enum { IR_INTRINSIC_MAX_OPERANDS = 3 };

typedef struct IrIntrinsicType {
    uint32_t lanes; // 0: a scalar
    uint32_t width; // bits of the integer element, 0: no such operand
} IrIntrinsicType;

// Words are lanes: integers sign-extended to 64 bits.
typedef void (*IrIntrinsicRun)(uint64_t *result, uint32_t lanes, const uint64_t *a,
                               const uint64_t *b, const uint64_t *c);

typedef struct IrIntrinsic {
    const char *name; // "llvm.x86.avx512.vpdpbusd.512"
    // CPU_HAS_* bits (abi/cpu.h): a CPU has the instruction if it has all of features, or, where
    // or_features is not 0, all of those.
    uint32_t features, or_features;
    IrIntrinsicType result, operands[IR_INTRINSIC_MAX_OPERANDS];
    IrIntrinsicRun run;
} IrIntrinsic;

const IrIntrinsic *ir_intrinsic_find(const char *name); // NULL if unknown
size_t ir_intrinsic_count(void);
const IrIntrinsic *ir_intrinsic_at(size_t i);
uint32_t ir_intrinsic_num_operands(const IrIntrinsic *intrinsic);
bool ir_intrinsic_type_matches(IrIntrinsicType want, const IrType *type);

static inline bool ir_intrinsic_is_available(const IrIntrinsic *intrinsic, uint32_t cpu_features) {
    return (cpu_features & intrinsic->features) == intrinsic->features ||
           (intrinsic->or_features &&
            (cpu_features & intrinsic->or_features) == intrinsic->or_features);
}

#endif
