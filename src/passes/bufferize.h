// Shared by the files of the bufferize pass; the pass itself is pass_bufferize of pass.h.
//
// Calling convention it establishes, for every function with a body:
//   arguments: all buffers (the tensor arguments in order, then one for each result that is not
//   tied, attribute `ingot.result` = its number), then the scalars in order; kernels (attribute
//   `ingot.kernel`) end with two index arguments, the tile range [begin, end).
//   An argument with `ingot.inout` = r is updated in place and stands for result r.
// A call passes the tile range 0 and ingot.tiles applied to its ingot.tiles_arg-th scalar (counted
// from 0; the map has no dims where that attribute is absent).
#ifndef INGOT_PASSES_BUFFERIZE_H
#define INGOT_PASSES_BUFFERIZE_H

#include "passes/build.h"

enum { BUF_MAX_RANK = 16, BUF_NO_ROOT = -1, BUF_MAX_OPERANDS = 64 };

// A part of a root buffer: a box in the root's own shape, if it is known.
typedef struct BufWindow {
    bool is_known;
    uint32_t rank;
    int64_t lo[BUF_MAX_RANK], hi[BUF_MAX_RANK];
} BufWindow;

// Where a tensor value lives. memref NULL: contents undefined, no buffer chosen yet.
typedef struct Buf {
    bool is_set;
    IrValue *memref;
    int32_t root;
    bool is_all; // all elements of the root in their order, if perhaps in another shape
    BufWindow window;
    const IrOp *placed_for; // the insert_slice whose destination slice this value was computed in
    const IrValue *placed_base;  // the destination's buffer then
    const IrValue *next_in_root; // list of the tensor values of a root
} Buf;

// Memory that does not overlap with any other root.
typedef struct BufRoot {
    bool is_writable;
    const IrType *type;
    const IrValue *first; // tensor values living in it
} BufRoot;

// A function's tensor signature, taken before anything is rewritten.
typedef struct BufSignature {
    IrOp *func;
    bool is_kernel;
    uint32_t num_args, num_results;
    const IrType **arg_types, **result_types;
    int32_t *tied_result; // per argument, -1 if none
    int32_t *tied_arg;    // per result, -1 if none
} BufSignature;

typedef struct Bufferizer {
    IrModule *m;
    DiagSink *sink;
    Arena scratch;
    BufSignature *signatures;
    uint32_t num_signatures;
    // of the function at hand
    const BufSignature *sig;
    IrBlock *body;      // its entry block
    IrOp *alloc_before; // in the entry block, where new buffers go
    Buf *bufs;          // by index of the tensor value
    uint32_t num_bufs;
    uint32_t *order; // by op index: position in a walk, parents first
    uint32_t num_order;
    BufRoot *roots;
    uint32_t num_roots, roots_capacity;
    IrValueMap map;   // scalars and buffers, old to new
    Buf *result_dest; // per result of the function: where it has to be
} Bufferizer;

static inline bool buf_is_tensor(const IrValue *value) {
    return value->type->kind == IR_TYPE_TENSOR;
}

// ---- bufferize.c

// The buffer of a tensor (NULL if its contents are undefined), the new value of anything else.
IrValue *buf_mapped(Bufferizer *bz, IrValue *value);

// ---- bufferize_call.c

Status buf_refuse(Bufferizer *bz, const IrOp *op, const char *why) MUST_USE; // P0005
Status buf_read_signature(Bufferizer *bz, IrOp *func, BufSignature *out_sig) MUST_USE;
Status buf_lower_call(Bufferizer *bz, Builder *b, IrOp *op) MUST_USE;

// ---- bufferize_place.c: which memory a value gets

Buf *buf_of(const Bufferizer *bz, const IrValue *tensor);
void buf_set(Bufferizer *bz, const IrValue *tensor, const Buf *buf);
int32_t buf_new_root(Bufferizer *bz, bool is_writable, const IrType *memref);
BufWindow buf_whole(const IrType *memref);
// The static unit-stride slice of window, unknown where it cannot be told.
BufWindow buf_slice_window(const Bufferizer *bz, const Buf *base, const IrOp *slice);
// Would op, writing the place, destroy something that is read later? `consumed` is the tensor the
// write replaces (NULL: none). writes_all: the whole place; else an insert_slice leaves the rest of
// it alone.
bool buf_conflicts(const Bufferizer *bz, const Buf *place, const IrOp *op, const IrValue *consumed,
                   bool writes_all);
// Looks for a place that the value has to end up in anyway. May emit views at b.
bool buf_find_dest(Bufferizer *bz, Builder *b, const IrValue *value, const IrOp *at,
                   Buf *out_place);
// A fresh buffer of the tensor's shape.
Buf buf_alloc(Bufferizer *bz, const IrType *tensor, const char *reason);
// The buffer op writes a result to. init (may be NULL) is the value it replaces; where op reads it
// and it cannot be replaced in place, it is copied. needs_identity: row-major from offset 0 only.
void buf_choose(Bufferizer *bz, Builder *b, const IrOp *op, const IrValue *init,
                const IrValue *result, bool reads_init, bool needs_identity, Buf *out);

// ---- bufferize_view.c: memref ops

const IrType *buf_memref_type(IrModule *m, const IrType *tensor);
bool buf_is_identity(const IrType *memref);
IrValue *buf_expand(Builder *b, IrValue *memref, const IrAttr *reassociation, uint32_t rank,
                    const int64_t *shape);
// NULL if the layout of a group is not contiguous.
IrValue *buf_collapse(Builder *b, IrValue *memref, const IrAttr *reassociation);
// Which of the sizes of a slice are dimensions of its result: dimensions of size 1 may be dropped.
// Where several fit, the first are kept.
void buf_kept_dims(const int64_t *sizes, uint32_t rank, const IrType *to, bool *out_kept);
// The memref.subview of a tensor slice op; operands of the op go through the map.
IrValue *buf_subview(Bufferizer *bz, Builder *b, IrValue *base, const IrOp *slice,
                     const IrType *tensor);
void buf_copy(Builder *b, IrValue *from, IrValue *to, const char *reason);
void buf_fill(Builder *b, IrValue *scalar, IrValue *memref);
const char *buf_boundary_reason(const IrValue *tensor);

// ---- bufferize_inline.c

// Moves elementwise producers into their readers, for kernels whose values are too large to keep.
void buf_inline_producers(IrModule *m, IrOp *func);

#endif
