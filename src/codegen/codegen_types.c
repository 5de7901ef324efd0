// Types and constants of level 3 in LLVM.
#include "codegen/codegen_internal.h"

#include <stdlib.h>

LLVMTypeRef codegen_type(LLVMContextRef ctx, const IrType *type) {
    switch (type->kind) {
    case IR_TYPE_INT: return LLVMIntTypeInContext(ctx, type->width);
    case IR_TYPE_F16: return LLVMHalfTypeInContext(ctx);
    case IR_TYPE_BF16: return LLVMBFloatTypeInContext(ctx);
    case IR_TYPE_F32: return LLVMFloatTypeInContext(ctx);
    case IR_TYPE_F64: return LLVMDoubleTypeInContext(ctx);
    case IR_TYPE_PTR: return type->width ? NULL : LLVMPointerTypeInContext(ctx, 0);
    case IR_TYPE_VOID: return LLVMVoidTypeInContext(ctx);
    case IR_TYPE_VECTOR: {
        LLVMTypeRef elem = codegen_type(ctx, type->elem);
        bool fits = elem && type->rank == 1 && type->shape[0] > 0 && type->shape[0] <= 4096;
        return fits ? LLVMVectorType(elem, (unsigned)type->shape[0]) : NULL;
    }
    case IR_TYPE_ARRAY: {
        LLVMTypeRef elem = codegen_type(ctx, type->elem);
        return elem && type->shape[0] >= 0 ? LLVMArrayType2(elem, (uint64_t)type->shape[0]) : NULL;
    }
    default: return NULL;
    }
}

// A scalar from its bits, exactly (NaN payloads too).
static LLVMValueRef scalar_of_bits(LLVMContextRef ctx, uint64_t bits, LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: return LLVMConstInt(type, bits, true);
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return LLVMConstBitCast(LLVMConstInt(LLVMInt16TypeInContext(ctx), bits, false), type);
    case LLVMFloatTypeKind:
        return LLVMConstBitCast(LLVMConstInt(LLVMInt32TypeInContext(ctx), bits, false), type);
    case LLVMDoubleTypeKind:
        return LLVMConstBitCast(LLVMConstInt(LLVMInt64TypeInContext(ctx), bits, false), type);
    default: return NULL;
    }
}

static LLVMValueRef dense_constant(LLVMContextRef ctx, const IrAttr *attr, LLVMTypeRef type) {
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    if (!is_vector && LLVMGetTypeKind(type) != LLVMArrayTypeKind) return NULL;
    uint64_t n = is_vector ? LLVMGetVectorSize(type) : LLVMGetArrayLength2(type);
    LLVMTypeRef elem = LLVMGetElementType(type);
    if ((int64_t)n != ir_type_num_elems(attr->type) || n == 0) return NULL;
    LLVMValueRef *values = base_alloc(n, sizeof *values), result = NULL;
    for (uint64_t i = 0; i < n; i++) {
        bool is_copy = attr->is_splat && i > 0;
        values[i] =
            is_copy ? values[0] : scalar_of_bits(ctx, ir_attr_dense_elem(attr, (int64_t)i), elem);
        if (!values[i]) goto done;
    }
    result = is_vector ? LLVMConstVector(values, (unsigned)n) : LLVMConstArray2(elem, values, n);
done:
    free(values);
    return result;
}

LLVMValueRef codegen_constant(LLVMContextRef ctx, const IrAttr *attr, LLVMTypeRef type) {
    switch (attr->kind) {
    case IR_ATTR_BOOL:
    case IR_ATTR_INT: return scalar_of_bits(ctx, (uint64_t)attr->i, type);
    case IR_ATTR_FLOAT: return scalar_of_bits(ctx, attr->bits, type);
    case IR_ATTR_DENSE: return dense_constant(ctx, attr, type);
    default: return NULL;
    }
}
