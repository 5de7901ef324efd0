// Shared by the files that count a kernel; see kernel_cost.h.
#ifndef INGOT_PASSES_KERNEL_COUNT_H
#define INGOT_PASSES_KERNEL_COUNT_H

#include "passes/kernel_eval.h"

typedef struct KernelCount {
    IrModule *m;
    const IrOp *kernel;
    const Target *target;
    CostWork *work;
    Eval eval;
    // Numbers of ops and values in the kernel: a module has many more.
    uint32_t first_op, num_ops, first_value, num_values;
    double *times, *entries; // by place of a loop op: runs of its body, of the loop
    double *branch_times;    // by twice the place of an scf.if, plus the branch
    uint8_t *steered; // of a loop: 1 no loop inside depends on it, 2 one does, 3 none is inside
    double *way;      // by place of a value, scratch
    const IrValue **leader; // by place: the equal value computed before; NULL: none
    uint32_t num_visits;
} KernelCount;

// Fills in leader for a block's own ops: pure ones, and loads with no write between, that have the
// kind, attributes and (equal) operands of an earlier one. Compilers compute such once.
void kernel_find_equal(KernelCount *c, const IrBlock *block);

// Places in tables of num_ops and num_values entries.
static inline uint32_t kernel_op_place(const KernelCount *c, const IrOp *op) {
    return op->index - c->first_op;
}
static inline uint32_t kernel_value_place(const KernelCount *c, const IrValue *value) {
    return value->index - c->first_value;
}

// How often a block runs in one call.
double kernel_block_times(const KernelCount *c, const IrBlock *block);
bool kernel_value_depends(const IrValue *v, const IrValue *on);
// Gives the values of a block without regions to the machine's vector registers, the one used last
// giving way: most in use at once, and what has to be loaded and stored for want of room.
void kernel_count_registers(const KernelCount *c, const IrBlock *block, CostBlock *out_block);
// Bytes by the level they come from: what is used for the first time comes from where the buffer
// lies, what a loop uses again from the nearest level that holds all that the loop touches.
void kernel_count_bytes(KernelCount *c, const KernelUse *use, const KernelUses *uses);

#endif
