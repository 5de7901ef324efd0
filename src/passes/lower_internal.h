// What the files of lower-target share: the state of one kernel's lowering, the builder for level-3
// ops, descriptors of memrefs, and indices kept as value + constant so that constants end up in
// addresses. Private to lower_*.c.
#ifndef INGOT_PASSES_LOWER_INTERNAL_H
#define INGOT_PASSES_LOWER_INTERNAL_H

#include "base/arena.h"
#include "base/diag.h"
#include "ir/ir.h"

enum {
    LOWER_BUFFER_ALIGN_BYTES = 64, // kernel buffers and stack buffers
    LOWER_MAX_RANK = 16,
    LOWER_MAX_LANES = 4096, // of one vector value
};

// value + constant. value (i64) may be NULL = 0; it is a multiple of `multiple` (0: value is NULL).
typedef struct LowIndex {
    IrValue *value;
    int64_t constant;
    uint64_t multiple;
} LowIndex;

// A memref at level 3. Element address = base + (offset + sum of index * stride) elements.
typedef struct MemDesc {
    IrValue *base;       // !llvm.ptr
    uint64_t base_align; // bytes, a power of two
    LowIndex offset;     // elements
    const IrType *elem;  // the level-2 element type
    uint32_t rank;
    LowIndex *sizes, *strides;
} MemDesc;

typedef struct LowConst {
    const IrAttr *attr;
    IrValue *value;
} LowConst;

typedef struct Lowering {
    IrModule *m;
    DiagSink *sink;
    IrBlock *entry, *block; // of the llvm.func; ops are appended to block
    IrRegion *region;
    const IrLoc *loc; // of the op being lowered
    // By dense index of the level-2 value: what it became. memrefs[] for memrefs, indices[] for
    // values of type index, values[] for the rest.
    IrValue **values;
    LowIndex *indices;
    MemDesc **memrefs;
    LowConst *consts;
    size_t num_consts, consts_capacity;
    IrOp *last_const; // constants stand at the head of the entry block
    uint64_t stack_bytes;
    uint32_t depth; // of nested regions
    Arena arena;
    const IrType *i1, *i8, *i16, *i32, *i64, *f32, *f64, *ptr;
} Lowering;

typedef Status (*LowerFn)(Lowering *lo, IrOp *op);

// ---- lower_build.c: types, constants, ops

// A diagnostic at the op: B0001 names the op. Always STATUS_INVALID.
Status low_refuse(Lowering *lo, const IrOp *op, const char *fmt, ...) PRINTF_LIKE(3, 4) MUST_USE;

// The level-3 type: index -> i64, bf16 -> i16, vectors flattened to one dimension; NULL: no such
// type.
const IrType *low_type(Lowering *lo, const IrType *type);
int64_t low_lanes(const IrType *lowered);                               // 0 for a scalar
const IrType *low_vec(Lowering *lo, int64_t lanes, const IrType *elem); // the scalar if lanes is 0
const IrType *low_like(Lowering *lo, const IrType *shape_of, const IrType *elem);
static inline bool low_is_small_float(const IrType *t) {
    return t->kind == IR_TYPE_F16 || t->kind == IR_TYPE_BF16;
}

IrOp *low_op(Lowering *lo, IrOpKind kind, const IrType *result, uint32_t num_operands,
             IrValue *const *operands, uint32_t num_attrs, const IrNamedAttr *attrs);
IrValue *low_1(Lowering *lo, IrOpKind kind, const IrType *result, IrValue *a);
IrValue *low_2(Lowering *lo, IrOpKind kind, IrValue *a, IrValue *b); // result of a's type
IrValue *low_fma(Lowering *lo, IrValue *a, IrValue *b, IrValue *c);
IrValue *low_cmp(Lowering *lo, IrOpKind kind, const char *predicate, IrValue *a, IrValue *b);
IrValue *low_select(Lowering *lo, IrValue *cond, IrValue *a, IrValue *b);
IrValue *low_const_attr(Lowering *lo, const IrAttr *attr);
IrValue *low_const_int(Lowering *lo, const IrType *type, int64_t value);  // splat for vectors
IrValue *low_const_float(Lowering *lo, const IrType *type, double value); // splat for vectors
IrValue *low_splat(Lowering *lo, int64_t lanes, IrValue *scalar);
// Lanes of a and b (b NULL: a alone) picked by number; -1 leaves a lane undefined.
IrValue *low_shuffle(Lowering *lo, IrValue *a, IrValue *b, int64_t n, const int64_t *lanes);
IrValue *low_lane(Lowering *lo, IrValue *vector, int64_t lane);
IrValue *low_set_lane(Lowering *lo, IrValue *vector, IrValue *scalar, int64_t lane);
IrValue *low_poison(Lowering *lo, const IrType *type);

// What a level-2 value became (an index is materialised at the insertion point).
IrValue *low_value(Lowering *lo, const IrValue *old);
void low_set_value(Lowering *lo, const IrValue *old, IrValue *value);         // also for type index
Status low_set_result(Lowering *lo, const IrOp *op, IrValue *value) MUST_USE; // checks the type

// Blocks.
IrBlock *low_add_block(Lowering *lo);
void low_br(Lowering *lo, IrBlock *from, IrBlock *to, uint32_t num_args, IrValue *const *args);
void low_cond_br(Lowering *lo, IrBlock *from, IrValue *cond, IrBlock *yes, uint32_t num_yes,
                 IrValue *const *yes_args, IrBlock *no, uint32_t num_no, IrValue *const *no_args);

// ---- lower_index.c: index arithmetic, affine maps

LowIndex low_index(Lowering *lo, const IrValue *old);
void low_set_index(Lowering *lo, const IrValue *old, LowIndex index);
LowIndex low_index_const(int64_t value);
LowIndex low_index_of(IrValue *value, uint64_t multiple);
LowIndex low_index_add(Lowering *lo, LowIndex a, LowIndex b);
LowIndex low_index_sub(Lowering *lo, LowIndex a, LowIndex b);
LowIndex low_index_mul(Lowering *lo, LowIndex a, LowIndex b);
IrValue *low_index_value(Lowering *lo, LowIndex index); // materialised, i64
uint64_t low_index_multiple(LowIndex index);            // of value + constant; 0 for the constant 0
// Result r of a map whose operands (dims, then symbols) start at operand `first` of op.
LowIndex low_affine(Lowering *lo, const IrAffineMap *map, uint32_t r, const IrOp *op,
                    uint32_t first);
Status low_affine_apply(Lowering *lo, IrOp *op);
Status low_affine_minmax(Lowering *lo, IrOp *op);
// Smallest (or largest) of all results of the map.
LowIndex low_affine_bound(Lowering *lo, const IrAffineMap *map, const IrOp *op, uint32_t first,
                          bool is_max);
bool low_index_arith(Lowering *lo, IrOp *op); // addi, subi, muli on index; false: not one of those

// ---- lower_memref.c: descriptors, addresses, accesses

Status low_memref(Lowering *lo, const IrOp *user, const IrValue *old, MemDesc **out_desc) MUST_USE;
void low_set_memref(Lowering *lo, const IrValue *old, MemDesc *desc);
// Descriptor of a whole static buffer.
Status low_memref_whole(Lowering *lo, const IrOp *user, const IrType *type, IrValue *base,
                        MemDesc **out_desc) MUST_USE;
IrValue *low_address(Lowering *lo, const MemDesc *desc, const LowIndex *indices,
                     int64_t *out_align);
IrValue *low_load(Lowering *lo, const IrType *type, IrValue *ptr, int64_t align);
void low_store(Lowering *lo, IrValue *value, IrValue *ptr, int64_t align);
uint32_t low_bytes(const IrType *elem); // in memory
Status low_memref_op(Lowering *lo, IrOp *op);
Status low_view_op(Lowering *lo, IrOp *op); // view, subview, casts, shapes

// ---- lower_flow.c, lower_arith.c, lower_math.c, lower_vector.c, lower_contract.c,
// lower_transfer.c

Status low_block(Lowering *lo, IrBlock *block); // all ops but the terminator
Status low_for(Lowering *lo, IrOp *op);
Status low_if(Lowering *lo, IrOp *op);
// A loop from lb to ub (step > 0) around what the caller emits between begin and end.
typedef struct LowLoop {
    IrBlock *before, *body;
    IrValue *lb, *ub, *step, *guard;
    IrValue *iv;
    bool runs_once_at_least;
} LowLoop;
Status low_loop_begin(Lowering *lo, LowIndex lb, LowIndex ub, LowIndex step, uint32_t num_iter,
                      IrValue *const *init, LowLoop *out_loop) MUST_USE;
// Values of the iteration arguments in the next round; results are those after the loop.
void low_loop_end(Lowering *lo, const LowLoop *loop, uint32_t num_iter, IrValue *const *init,
                  IrValue *const *next, IrValue **out_results);
Status low_arith(Lowering *lo, IrOp *op);
Status low_math(Lowering *lo, IrOp *op);
// f16, bf16 (as i16) to f32 and back, scalar or vector; type: the level-2 element type.
IrValue *low_to_f32(Lowering *lo, const IrType *elem, IrValue *value);
IrValue *low_from_f32(Lowering *lo, const IrType *elem, IrValue *value);
IrValue *low_max_min(Lowering *lo, IrOpKind arith_kind, IrValue *a, IrValue *b);
Status low_vector(Lowering *lo, IrOp *op);
Status low_contract(Lowering *lo, IrOp *op);
Status low_vector_access(Lowering *lo, IrOp *op);
Status low_intrinsic(Lowering *lo, IrOp *op);

#endif
