// lower-linalg: kernels of the classes "rows", "whole" and "init" from linalg on buffers to loops
// and vectors. The pass is pass_lower_linalg; the rest is shared by its files.
//
// An item is one structured op (or one loop over rows) with its loops, some of them already open.
// Items that follow each other share a loop where every buffer one writes and the other touches is
// indexed by that loop in the same dimension ("pins"). A value stored and loaded again under the
// same indices is taken from the register; a buffer that nobody loads disappears.
#ifndef INGOT_PASSES_LOWER_LINALG_H
#define INGOT_PASSES_LOWER_LINALG_H

#include "passes/build.h"

// Lowers every kernel of those three classes; others are left alone. Level 2 before and after.
//   rows        one loop over [tile_begin, tile_end), one row per tile; everything in the kernel
//               works row by row, intermediates shrink to one row. P0043 if an op does not.
//   whole, init like rows if the kernel has as many tiles as rows and splits; else tile 0 does all.
// Exact but for float sums over the innermost dimension: lane l of a vector sums the elements l,
// l + 16, ... (up to four such vectors in turn, added pairwise), lanes are added by halves, then
// the start value, then the rest of 8, 4 and single elements in order.
Status pass_lower_linalg(IrModule *m, DiagSink *sink) MUST_USE;

enum { LL_MAX_LOOPS = 12, LL_MAX_OPERANDS = 48, LL_MAX_RANK = 16, LL_MAX_OUTS = 8 };

// In this access, dimension dim of space (a root buffer, or a view if the view cuts the root's
// dimensions) is indexed by exactly loop.
typedef struct LlPin {
    const IrValue *space;
    uint32_t dim, loop;
} LlPin;

typedef struct LlAccess {
    const IrValue *root;
    bool writes;
    uint32_t num_pins;
    LlPin pins[2 * LL_MAX_RANK];
} LlAccess;

typedef enum LlClass {
    LL_UNIFORM, // same for all lanes of all steps
    LL_STEP,    // same for all lanes of a step: a multiple of the lanes divided by a multiple of 16
    LL_UNIT,    // index: base + lane; represented by its base
    LL_ALIGNED, // LL_UNIT whose base is a multiple of the lanes
    LL_VARYING,
    LL_ACC, // result of the op that accumulates
} LlClass;

// How an operand of an item lies in the lanes.
typedef struct LlOperand {
    LlClass cls;
    bool is_flat;             // addressed through a view whose last two dimensions are one
    bool is_shuffled;         // loads a window and shuffles it
    int64_t step, inner_step; // element offset per iteration of the vector loop, of the packed loop
} LlOperand;

typedef struct LlItem {
    IrOp *op;     // linalg.generic, or scf.for over rows
    bool is_loop; // scf.for: one loop, then the body
    uint32_t num_loops, bound;
    int64_t ranges[LL_MAX_LOOPS]; // IR_DYNAMIC for the rows of a loop
    bool is_parallel[LL_MAX_LOOPS];
    IrValue *ivs[LL_MAX_LOOPS];
    LlAccess *accesses;
    uint32_t num_accesses;
    // while its innermost loop is emitted
    bool is_vector;             // lanes can run in parallel
    uint32_t vector_loop, pack; // pack: trip count of the loop inside that shares the lanes, else 1
    LlOperand operands[LL_MAX_OPERANDS];
    const IrOp *combiner[LL_MAX_OUTS]; // of a reduction over vector_loop
    bool folds_bits[LL_MAX_OUTS];      // the largest magnitude, found among the bit patterns
    IrValue *acc[LL_MAX_OUTS], *start[LL_MAX_OUTS];
} LlItem;

// A value known to be what a load would give (memref != NULL) or what affine.apply would (map !=
// NULL).
typedef struct LlKnown {
    const IrValue *root;
    IrValue *memref;
    const IrAffineMap *map;
    uint32_t num_indices, lanes;
    IrValue *indices[LL_MAX_RANK];
    IrValue *value;
    bool is_dead;
} LlKnown;

typedef struct LlConstant {
    const IrAttr *attr;
    IrValue *value;
} LlConstant;

typedef struct LowerLinalg {
    IrModule *m;
    DiagSink *sink;
    Arena scratch;
    IrOp *func;
    IrBlock *body;
    Builder b;
    IrOp *prologue;    // last of the constants and stack buffers that open the function
    IrValueMap map;    // old values to new
    IrValueMap splats; // old uniform values to vectors of splat_lanes
    uint32_t splat_lanes;
    uint8_t *classes;    // LlClass by index of the old value
    uint32_t num_values; // old ones
    bool *is_shrunk;     // by index of the old buffer or view: it has lost its row dimension
    LlKnown *known;
    uint32_t num_known, known_capacity;
    LlConstant *constants;
    uint32_t num_constants, constants_capacity;
    IrValue *tile_begin, *tile_end;
    LlItem *pending; // structured ops collected, not yet emitted
    uint32_t num_pending, pending_capacity;
} LowerLinalg;

// ---- lower_linalg_emit.c: values, addresses, loads and stores

IrOp *ll_prologue_op(LowerLinalg *ll, const IrOpSpec *spec);
IrValue *ll_constant(LowerLinalg *ll, const IrAttr *attr, const IrType *type);
IrValue *ll_index(LowerLinalg *ll, int64_t value);
const IrType *ll_type(LowerLinalg *ll, const IrType *elem, uint32_t lanes); // lanes 1: the scalar
IrValue *ll_apply(LowerLinalg *ll, const IrAffineExpr *expr, IrValue *const *dims,
                  uint32_t num_dims);
IrValue *ll_splat(LowerLinalg *ll, IrValue *scalar, uint32_t lanes);
IrValue *ll_index_vector(LowerLinalg *ll, IrValue *base, uint32_t lanes, uint32_t pack, bool inner);
IrValue *ll_shuffle(LowerLinalg *ll, IrValue *vector, uint32_t lanes, const int64_t *mask);
// The root buffer of a view: an argument or an allocation.
const IrValue *ll_root(const IrValue *memref);
IrValue *ll_memref(LowerLinalg *ll, IrValue *old_view);
// indices are those of the old view.
IrValue *ll_load(LowerLinalg *ll, IrValue *old_view, IrValue *const *indices, uint32_t lanes);
void ll_store(LowerLinalg *ll, IrValue *value, IrValue *old_view, IrValue *const *indices,
              uint32_t lanes);
// The same through the last two dimensions as one: one index less.
IrValue *ll_load_flat(LowerLinalg *ll, IrValue *old_view, IrValue *const *indices, uint32_t lanes);
void ll_store_flat(LowerLinalg *ll, IrValue *value, IrValue *old_view, IrValue *const *indices,
                   uint32_t lanes);
// Everything known about the buffer is forgotten.
void ll_kill(LowerLinalg *ll, const IrValue *root);
// A loop or branch: what is learnt inside is forgotten outside.
uint32_t ll_enter(LowerLinalg *ll);
void ll_leave(LowerLinalg *ll, uint32_t mark);
// scf.for with constant or SSA bounds around what the caller emits; move into it with *out_loop's
// block.
IrOp *ll_open_loop(LowerLinalg *ll, IrValue *lo, IrValue *hi, int64_t step, uint32_t num_iters,
                   IrValue *const *iters, Builder *out_outer);

// ---- lower_linalg_access.c: who touches what

Status ll_make_item(LowerLinalg *ll, IrOp *op, LlItem *out_item);
// Do two items touch a common buffer that one of them writes?
bool ll_depend(const LlItem *a, const LlItem *b);
// May they share their next loop? What one writes and the other touches is then only what belongs
// to the iteration at hand. Holds for reductions too: their iterations keep their order.
bool ll_share_loop(const LlItem *a, const LlItem *b);
bool ll_view_dims(const IrValue *view, const IrValue **out_root, int32_t *out_root_dims);
bool ll_is_view(const IrOp *op);

// ---- lower_linalg_body.c: one op's body for some lanes

// Decides how the item's innermost loops run (is_vector and what goes with it). pack > 1 asks for
// the two innermost loops together.
bool ll_classify(LowerLinalg *ll, LlItem *item, uint32_t vector_loop, uint32_t pack);
void ll_emit_uniform(LowerLinalg *ll, LlItem *item, uint32_t lanes); // before the loop
void ll_emit_lanes(LowerLinalg *ll, LlItem *item, IrValue *base, uint32_t lanes);
void ll_kill_outputs(LowerLinalg *ll, const LlItem *item);

// ---- lower_linalg_inner.c: innermost loops

void ll_emit_inner(LowerLinalg *ll, LlItem **items, uint32_t num_items);

// ---- lower_linalg_nest.c: loops around

Status ll_emit_items(LowerLinalg *ll, LlItem **items, uint32_t num_items);

// ---- lower_linalg.c

Status ll_emit_block(LowerLinalg *ll, IrBlock *block);
Status ll_flush(LowerLinalg *ll);

#endif
