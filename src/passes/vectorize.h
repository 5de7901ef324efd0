// Shared by the files of the vectorize pass: reading a bufferised kernel and the numbers of the
// schedule.
#ifndef INGOT_PASSES_VECTORIZE_H
#define INGOT_PASSES_VECTORIZE_H

#include "abi/cpu.h"
#include "passes/build.h"
#include "passes/fusion.h"
#include "target/target.h"

// loop-schedule's choice, kept on the kernel as ingot.schedule.
typedef struct Schedule {
    int64_t lanes;    // f32 lanes of a vector
    int64_t row_tile; // rows of the left operand (matmul), queries (attention) or columns of the
                      // result (conv) taken at once
    int64_t col_tile; // tiles of the weight (matmul) or vectors of channels (conv) taken at once;
                      // 1 if not given
    int64_t unroll;   // conv: input channels of a round of the innermost loop; 1 if not given
    int64_t by_image; // conv: 1: all channel groups of an image before the next image; 0 or not
                      // given: all images of a group before the next group
    int64_t band;     // conv: tiles whose sums stay in memory while one block of input channels
                      // after the other is added to all; 0 or not given: sums in registers alone
} Schedule;

enum {
    SCHEDULE_MAX_SUMS = 32, // row_tile * col_tile
    SCHEDULE_MAX_BAND = 64,
};

void schedule_write(IrModule *m, IrOp *kernel, const Schedule *s);
bool schedule_read(const IrOp *kernel, Schedule *out_s);
bool schedule_is_valid(const Schedule *s); // are these numbers that code can be made of?
bool schedule_from(const IrAttr *dict, Schedule *out_s); // its entries; others are left alone

typedef struct Vectorizer {
    IrModule *m;
    DiagSink *sink;
    CpuLevel level;
    uint32_t features; // CPU_HAS_* bits the code may use
    IrOp *kernel;
    Schedule s;
    Builder b; // where ops go
    const IrType *f32, *i32, *i8, *index;
    const IrType *vf32, *vi32; // one vector of s.lanes
} Vectorizer;

// The argument or allocation behind views of it.
IrValue *vec_root(IrValue *memref);
// Copies the elementwise ops of a scalar body as vector ops of v->s.lanes lanes. map gives the
// vectors of the body's arguments (and of results already known, which are not computed again).
// Returns the value yielded. NULL, with a diagnostic, if an op is not elementwise.
IrValue *vec_clone_body(Vectorizer *v, IrBlock *body, IrValueMap *map);
const IrType *vec_type(Vectorizer *v, const IrType *elem);
// memref.expand_shape of a static memref to this type: groups[i] lists the dimensions that i
// becomes.
IrValue *vec_expand_shape(Vectorizer *v, IrValue *memref, const IrType *type,
                          const IrAttr *const *groups);
IrValue *vec_splat(Vectorizer *v, IrValue *scalar); // to v->s.lanes
// Memory of this type on the kernel's stack, and why it is no register.
IrValue *vec_alloca(Vectorizer *v, const IrType *type, FusionReason why);
Status vec_refuse(Vectorizer *v, const char *what) MUST_USE;
// The tile range, the last two arguments of a kernel.
IrValue *vec_tile_begin(const Vectorizer *v);
IrValue *vec_tile_end(const Vectorizer *v);
// Number of valid rows: the index argument named by position from the last before the tile range.
IrValue *vec_num_valid(const Vectorizer *v);

// Turns one kernel with an ingot.schedule into loops and vectors: what the pass does to each, and
// loop-schedule to a copy for every candidate.
Status vectorize_kernel(IrModule *m, IrOp *kernel, CpuLevel level, DiagSink *sink) MUST_USE;
Status vectorize_matmul(Vectorizer *v) MUST_USE;
Status vectorize_attention(Vectorizer *v) MUST_USE;
// Tokens that a tile of an attention kernel takes together, at most: rows of one sequence share its
// keys; in a batch every row has a sequence of its own.
int64_t attention_block_tokens(const IrOp *kernel);
Status vectorize_conv(Vectorizer *v) MUST_USE;
// Erases everything before the ops just made, but for views they read.
void vec_erase_old(Vectorizer *v, IrOp *last_old);

// The schedules worth weighing for a convolution kernel, the largest tiles first: how many.
size_t schedule_list_conv(IrModule *m, const IrOp *kernel, const Target *target, Schedule *out,
                          size_t max);

#endif
