// Short ways to create ops at an insertion point; used by every pass that writes new IR.
#ifndef INGOT_PASSES_BUILD_H
#define INGOT_PASSES_BUILD_H

#include "ir/ir.h"

// New ops go before `before`, or to the end of `block` if it is NULL, with location `loc`.
typedef struct Builder {
    IrModule *m;
    IrBlock *block;
    IrOp *before;
    const IrLoc *loc;
} Builder;

Builder build_before(IrModule *m, IrOp *op); // location of op
Builder build_after(IrModule *m, IrOp *op);
Builder build_at_end(IrModule *m, IrBlock *block, const IrLoc *loc);

// One op of any kind with up to one result (result_type NULL: none). Returns the result or NULL.
IrValue *build_op(Builder *b, IrOpKind kind, uint32_t num_operands, IrValue *const *operands,
                  const IrType *result_type);
// The same with attributes and segments; returns the op.
IrOp *build_op_full(Builder *b, const IrOpSpec *spec);

IrValue *build_binary(Builder *b, IrOpKind kind, IrValue *lhs, IrValue *rhs); // type of lhs
IrValue *build_unary(Builder *b, IrOpKind kind, IrValue *operand);            // same type
IrValue *build_cast(Builder *b, IrOpKind kind, IrValue *operand, const IrType *type);
IrValue *build_cmpi(Builder *b, const char *predicate, IrValue *lhs, IrValue *rhs);
IrValue *build_cmpf(Builder *b, const char *predicate, IrValue *lhs, IrValue *rhs);
IrValue *build_select(Builder *b, IrValue *cond, IrValue *yes, IrValue *no);
IrValue *build_fma(Builder *b, IrValue *x, IrValue *y, IrValue *acc); // math.fma or vector.fma

IrValue *build_index(Builder *b, int64_t value);
IrValue *build_loop_index(Builder *b, uint32_t loop); // linalg.index, in a body
IrValue *build_int(Builder *b, int64_t value, const IrType *type);
IrValue *build_float(Builder *b, double value, const IrType *type);
IrValue *build_splat(Builder *b, IrValue *scalar, const IrType *vector_type); // vector.broadcast
IrValue *build_zero(Builder *b, const IrType *type); // scalar or vector of numbers

// tensor.empty / linalg.fill of a static tensor type.
IrValue *build_empty(Builder *b, const IrType *tensor);
IrValue *build_fill(Builder *b, IrValue *scalar, IrValue *out); // out: a tensor
IrValue *build_filled(Builder *b, const IrType *tensor, double value);
IrValue *build_copy(Builder *b, IrValue *tensor); // linalg.copy into an empty one

// linalg.generic on tensors (outs give the result types) or memrefs. maps: one per operand, ins
// first. iterators: one letter per loop, 'p' or 'r'. *out_body is a builder inside the region,
// whose block arguments are the elements; end it with build_yield.
IrOp *build_generic(Builder *b, uint32_t num_ins, IrValue *const *ins, uint32_t num_outs,
                    IrValue *const *outs, const IrAffineMap *const *maps, const char *iterators,
                    Builder *out_body);
void build_yield(Builder *body, IrOpKind yield_kind, uint32_t num_values, IrValue *const *values);

// Reshapes; groups[i] = number of dims of the expanded shape in group i.
IrValue *build_collapse(Builder *b, IrValue *tensor, uint32_t num_groups, const uint32_t *groups);
IrValue *build_expand(Builder *b, IrValue *tensor, const IrType *to, uint32_t num_groups,
                      const uint32_t *groups);

// scf.for from lo to hi step `step` with iter values; *out_body is inside, its block's arguments
// are the induction variable and the carried values; end it with build_yield(IR_SCF_YIELD).
IrOp *build_for(Builder *b, IrValue *lo, IrValue *hi, IrValue *step, uint32_t num_iters,
                IrValue *const *iters, Builder *out_body);

// memref and vector access.
IrValue *build_load(Builder *b, IrValue *memref, uint32_t rank, IrValue *const *indices);
void build_store(Builder *b, IrValue *value, IrValue *memref, uint32_t rank,
                 IrValue *const *indices);
IrValue *build_vector_load(Builder *b, const IrType *vector, IrValue *memref, uint32_t rank,
                           IrValue *const *indices);
void build_vector_store(Builder *b, IrValue *value, IrValue *memref, uint32_t rank,
                        IrValue *const *indices);
// base + offset, folded when offset is 0 or base is constant.
IrValue *build_add_index(Builder *b, IrValue *base, int64_t offset);
IrValue *build_mul_index(Builder *b, IrValue *base, int64_t factor);

// Copies a function of another module into m, types and attributes included; the copy is unlinked
// and has the source's locations.
IrOp *build_import_func(IrModule *m, const IrOp *func);

// Affine map from text-like shorthand: each result is one dim number.
const IrAffineMap *build_dims_map(IrModule *m, uint32_t num_dims, uint32_t num_results, ...);

#endif
