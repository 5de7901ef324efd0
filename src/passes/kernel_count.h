// Shared by the files that count a kernel; see kernel_cost.h.
#ifndef INGOT_PASSES_KERNEL_COUNT_H
#define INGOT_PASSES_KERNEL_COUNT_H

#include "passes/kernel_eval.h"

// What is known of a block whatever the call: of one run of it.
typedef struct BlockProfile {
    bool is_known;
    CostBlock cost;
} BlockProfile;

typedef struct Accesses Accesses; // kernel_bytes.c

struct KernelCount {
    IrModule *m;
    const IrOp *kernel;
    const Target *target;
    Places ops, values;
    // Regions have numbers too: those of an op follow each other. By number of a region the first
    // op inside that has regions, by place of one the next of its block.
    uint32_t *first_region; // by place of an op with regions
    uint32_t num_regions;
    const IrOp **first_inside, **next_beside;
    // Index arithmetic that steers a loop or branch: by number of the region of a loop (or of the
    // kernel) the first such op inside that is in no loop further in, by place of one the next.
    const IrOp **first_step, **next_step;
    BlockProfile *blocks; // by number of a region
    uint8_t *steered;     // of a loop: 1 no loop inside depends on it, 2 one does, 3 none is inside
    double *way;          // by place of a value, scratch
    const IrValue **leader; // by place: the equal value computed before; NULL: none
    Accesses *accesses;
    uint64_t streamed; // arguments of the call before, and the streams they are read in
    double streams;
    // of the call at hand
    const IrOp *called; // the types of its arguments count
    CostWork *work;
    Eval eval;
    double *times, *entries; // by number of a region: its runs; of a loop: those of the loop
    uint32_t num_visits;
};

// Fills in leader for a block's own ops: pure ones, and loads with no write between, that have the
// kind, attributes and (equal) operands of an earlier one. Compilers compute such once.
void kernel_find_equal(KernelCount *c, const IrBlock *block);

static inline uint32_t kernel_op_place(const KernelCount *c, const IrOp *op) {
    return places_find(&c->ops, op->index);
}
static inline uint32_t kernel_value_place(const KernelCount *c, const IrValue *value) {
    return places_find(&c->values, value->index);
}

uint32_t kernel_region_place(const KernelCount *c, const IrOp *op, uint32_t region);
uint32_t kernel_block_place(const KernelCount *c, const IrBlock *block); // of its region
// How often a block runs in one call.
double kernel_block_times(const KernelCount *c, const IrBlock *block);
bool kernel_value_depends(const IrValue *v, const IrValue *on);
// Gives the values of a block without regions to the machine's vector registers, the one used last
// giving way: most in use at once, and what has to be loaded and stored for want of room.
void kernel_count_registers(const KernelCount *c, const IrBlock *block, CostBlock *out_block);
// What the kernel reads and writes, listed once.
Accesses *kernel_accesses_create(const KernelCount *c);
void kernel_accesses_destroy(Accesses *accesses);
// Bytes by the level they come from: what is used for the first time comes from where the buffer
// lies, what a loop uses again from the nearest level that holds all that its body touches.
void kernel_count_bytes(KernelCount *c, const KernelUse *use, const KernelUses *uses);

#endif
