// What decodes each operation; the table in interp_decode.c says which one.
#ifndef INGOT_IR_INTERP_DECODERS_H
#define INGOT_IR_INTERP_DECODERS_H

#include "ir/interp_internal.h"

// interp_affine.c
bool interp_decode_affine_apply(InterpDecoder *d, const IrOp *op);
// interp_scalar.c
bool interp_decode_elementwise(InterpDecoder *d, const IrOp *op);
bool interp_decode_cast(InterpDecoder *d, const IrOp *op);
bool interp_decode_cmp(InterpDecoder *d, const IrOp *op);
bool interp_decode_select(InterpDecoder *d, const IrOp *op);
bool interp_emit_cast(InterpDecoder *d, const IrOp *op, const IrType *from, const IrType *to,
                      bool is_unsigned, uint32_t src, uint32_t dst);
// interp_tensor.c
bool interp_decode_tensor_empty(InterpDecoder *d, const IrOp *op);
bool interp_decode_dim(InterpDecoder *d, const IrOp *op); // memref.dim too
bool interp_decode_tensor_cast(InterpDecoder *d, const IrOp *op);
bool interp_decode_tensor_reshape(InterpDecoder *d, const IrOp *op);
bool interp_decode_extract(InterpDecoder *d, const IrOp *op);
bool interp_decode_insert(InterpDecoder *d, const IrOp *op);
bool interp_decode_extract_slice(InterpDecoder *d, const IrOp *op);
bool interp_decode_insert_slice(InterpDecoder *d, const IrOp *op);
bool interp_decode_parallel_insert(InterpDecoder *d, const IrOp *op, uint32_t dst);
bool interp_decode_pad(InterpDecoder *d, const IrOp *op);
// interp_memref.c
bool interp_decode_alloc(InterpDecoder *d, const IrOp *op);
bool interp_decode_dealloc(InterpDecoder *d, const IrOp *op);
bool interp_decode_view(InterpDecoder *d, const IrOp *op);
bool interp_decode_subview(InterpDecoder *d, const IrOp *op);
bool interp_decode_reinterpret_cast(InterpDecoder *d, const IrOp *op);
bool interp_decode_memref_cast(InterpDecoder *d, const IrOp *op);
bool interp_decode_memref_reshape(InterpDecoder *d, const IrOp *op);
bool interp_decode_load(InterpDecoder *d, const IrOp *op);
bool interp_decode_store(InterpDecoder *d, const IrOp *op);
bool interp_decode_memref_copy(InterpDecoder *d, const IrOp *op);
bool interp_decode_get_global(InterpDecoder *d, const IrOp *op);
bool interp_decode_to_tensor(InterpDecoder *d, const IrOp *op);
bool interp_decode_to_buffer(InterpDecoder *d, const IrOp *op);
// interp_linalg.c
bool interp_decode_structured(InterpDecoder *d, const IrOp *op);
bool interp_decode_linalg_index(InterpDecoder *d, const IrOp *op);
bool interp_decode_softmax(InterpDecoder *d, const IrOp *op);
// interp_pack.c
bool interp_decode_pack(InterpDecoder *d, const IrOp *op);
// interp_control.c
bool interp_decode_for(InterpDecoder *d, const IrOp *op);
bool interp_decode_if(InterpDecoder *d, const IrOp *op);
bool interp_decode_forall(InterpDecoder *d, const IrOp *op);
bool interp_decode_parallel(InterpDecoder *d, const IrOp *op);
bool interp_decode_affine_for(InterpDecoder *d, const IrOp *op);
bool interp_decode_affine_parallel(InterpDecoder *d, const IrOp *op);
bool interp_decode_parallel_end(InterpDecoder *d, const IrOp *op); // in_parallel, scf.reduce
bool interp_decode_assert(InterpDecoder *d, const IrOp *op);
bool interp_decode_call(InterpDecoder *d, const IrOp *op);
// interp_vector_mem.c
bool interp_decode_vector_load(InterpDecoder *d, const IrOp *op);
bool interp_decode_vector_store(InterpDecoder *d, const IrOp *op);
bool interp_decode_transfer(InterpDecoder *d, const IrOp *op);
// interp_vector.c
bool interp_decode_vector(InterpDecoder *d, const IrOp *op);
bool interp_decode_call_intrinsic(InterpDecoder *d, const IrOp *op);
// interp_print.c: the print calls of the test driver; false through *out_found if it is none.
bool interp_decode_print(InterpDecoder *d, const IrOp *op, bool *out_found);

#endif
