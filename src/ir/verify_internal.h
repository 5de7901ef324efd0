// What the files of the verifier share. A check returns false after it has reported a fault; an
// op's checks end at its first fault, the verifier goes on with the next op.
#ifndef INGOT_IR_VERIFY_INTERNAL_H
#define INGOT_IR_VERIFY_INTERNAL_H

#include "ir/syntax.h"
#include "ir/verify.h"

enum { VERIFY_MAX_RANK = 32, VERIFY_MAX_LOOPS = 32 };

typedef struct VerifyItem {
    SyntaxItem item;
    struct VerifyItem *next;
} VerifyItem;

typedef struct Verifier {
    IrModule *m;
    IrVerifyOptions options;
    DiagSink *sink;
    Arena arena;                        // texts of types
    uint32_t *position;                 // by op index: place in its block
    Syntax *syntax[NUM_IR_OP_KINDS];    // read on first use
    VerifyItem *items[NUM_IR_OP_KINDS]; // with it: what it says of attributes
    // Of the region with several blocks being checked, see verify_number_region.
    uint32_t *block_number;
    uint64_t *dominators;
    size_t dominator_words;
    size_t num_faults;
} Verifier;

typedef bool (*VerifyCheck)(Verifier *v, const IrOp *op);

// Reports "'name' op text" at op; returns false.
bool verify_fail(Verifier *v, DiagCode code, const IrOp *op, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
const char *verify_type(Verifier *v, const IrType *type); // its text, lives with the verifier
const char *verify_map(Verifier *v, const IrAffineMap *map);

#define FAIL_TYPE(...)   return verify_fail(v, DIAG_I0104, op, __VA_ARGS__)
#define FAIL_ATTR(...)   return verify_fail(v, DIAG_I0105, op, __VA_ARGS__)
#define FAIL_REGION(...) return verify_fail(v, DIAG_I0101, op, __VA_ARGS__)

// The extra checks of an op beyond the tables, NULL if there are none (verify_rules.c).
VerifyCheck verify_check_of(IrOpKind kind);
bool verify_rules(Verifier *v, const IrOp *op); // operand groups, type classes, type equalities

// ---- structure: dominance, terminators (verify_structure.c)
bool verify_dominance(Verifier *v, const IrOp *op);
bool verify_regions(Verifier *v, const IrOp *op);
// Enters places of ops; to be called for a region before its ops are checked.
void verify_number_region(Verifier *v, const IrRegion *region);

// ---- helpers
const IrAttr *verify_attr(const IrOp *op, const char *name,
                          IrAttrKind kind); // NULL: absent or other
bool verify_same_shape(const IrType *a, const IrType *b);
// Sizes equal, or one of them dynamic.
bool verify_sizes_fit(int64_t a, int64_t b);
// Operand i of the terminator of op's region r must have these types.
bool verify_yields(Verifier *v, const IrOp *op, uint32_t r, uint32_t num,
                   const IrType *const *types, const char *what);
static inline const IrType *verify_operand_type(const IrOp *op, uint32_t i) {
    return ir_op_operand(op, i)->type;
}
// The constant value of an index operand, if it is one.
static inline bool verify_constant(const IrOp *op, uint32_t i, int64_t *out) {
    return ir_value_constant_int(ir_op_operand(op, i), out);
}
// V2: constant indices of operand `base` are in range; a vector, if there is one, fits in its row.
bool verify_indices(Verifier *v, const IrOp *op, uint32_t base, uint32_t first, uint32_t num,
                    const IrType *vector);

bool verify_out_of_range(Verifier *v, const IrOp *op, int64_t index, int64_t width, uint32_t dim,
                         int64_t size);

// ---- checks by file
// verify_arith.c
bool verify_arith_constant(Verifier *v, const IrOp *op);
bool verify_cmp(Verifier *v, const IrOp *op);
bool verify_select(Verifier *v, const IrOp *op);
bool verify_cast(Verifier *v, const IrOp *op);
bool verify_shift(Verifier *v, const IrOp *op);
bool verify_fma(Verifier *v, const IrOp *op);
bool verify_poison(Verifier *v, const IrOp *op);
// verify_control.c
bool verify_module(Verifier *v, const IrOp *op);
bool verify_func(Verifier *v, const IrOp *op);
bool verify_return(Verifier *v, const IrOp *op);
bool verify_call(Verifier *v, const IrOp *op);
bool verify_for(Verifier *v, const IrOp *op);
bool verify_if(Verifier *v, const IrOp *op);
bool verify_forall(Verifier *v, const IrOp *op);
bool verify_in_parallel(Verifier *v, const IrOp *op);
bool verify_parallel(Verifier *v, const IrOp *op);
bool verify_scf_reduce(Verifier *v, const IrOp *op);
bool verify_affine_apply(Verifier *v, const IrOp *op);
bool verify_affine_for(Verifier *v, const IrOp *op);
bool verify_affine_parallel(Verifier *v, const IrOp *op);
bool verify_affine_access(Verifier *v, const IrOp *op);
// verify_tensor.c
bool verify_tensor_empty(Verifier *v, const IrOp *op);
bool verify_shaped_cast(Verifier *v, const IrOp *op);
bool verify_tensor_access(Verifier *v, const IrOp *op);
bool verify_extract_slice(Verifier *v, const IrOp *op);
bool verify_insert_slice(Verifier *v, const IrOp *op);
bool verify_reshape(Verifier *v, const IrOp *op);
bool verify_pad(Verifier *v, const IrOp *op);
bool verify_dim(Verifier *v, const IrOp *op);
bool verify_slice_numbers(Verifier *v, const IrOp *op, const IrType *type);
bool verify_reassociation(Verifier *v, const IrOp *op, const IrType *expanded,
                          const IrType *collapsed);
bool verify_reduces_rank(const int64_t *sizes, uint32_t rank, const IrType *reduced, bool *keep);
// verify_memref.c
bool verify_alloc(Verifier *v, const IrOp *op);
bool verify_view(Verifier *v, const IrOp *op);
bool verify_subview(Verifier *v, const IrOp *op);
bool verify_reinterpret_cast(Verifier *v, const IrOp *op);
bool verify_memref_access(Verifier *v, const IrOp *op);
bool verify_memref_copy(Verifier *v, const IrOp *op);
bool verify_assume_alignment(Verifier *v, const IrOp *op);
bool verify_global(Verifier *v, const IrOp *op);
bool verify_get_global(Verifier *v, const IrOp *op);
bool verify_bridge(Verifier *v, const IrOp *op);
bool verify_arena_overlap(Verifier *v, const IrOp *func); // V8
// Where a memref lies: follows casts and views with constant offsets back to the first buffer. The
// ops on the way must be sound.
typedef struct VerifyExtent {
    const IrValue *root;
    int64_t begin, end; // bytes in root, -1: unknown
} VerifyExtent;
VerifyExtent verify_extent(const IrValue *memref);
// verify_linalg.c
bool verify_structured(Verifier *v, const IrOp *op);
bool verify_linalg_index(Verifier *v, const IrOp *op);
bool verify_softmax(Verifier *v, const IrOp *op);
bool verify_pack(Verifier *v, const IrOp *op);
// verify_vector.c
bool verify_vector_access(Verifier *v, const IrOp *op);
bool verify_transfer(Verifier *v, const IrOp *op);
bool verify_vector_move(Verifier *v, const IrOp *op);
bool verify_reduction(Verifier *v, const IrOp *op);
bool verify_contract(Verifier *v, const IrOp *op);
// verify_llvm.c
bool verify_call_intrinsic(Verifier *v, const IrOp *op);
bool verify_llvm_func(Verifier *v, const IrOp *op);
bool verify_llvm_return(Verifier *v, const IrOp *op);
bool verify_llvm_branch(Verifier *v, const IrOp *op);
bool verify_llvm_symbol(Verifier *v, const IrOp *op);
bool verify_llvm_aggregate(Verifier *v, const IrOp *op);
bool verify_llvm_call(Verifier *v, const IrOp *op);

#endif
