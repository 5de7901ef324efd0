// What the files of outline-kernels share: the groups of a function's ops that become kernels.
#ifndef INGOT_PASSES_OUTLINE_H
#define INGOT_PASSES_OUTLINE_H

#include "passes/build.h"

enum { OUTLINE_MAX_GROUP_OPS = 128, OUTLINE_MAX_EPILOGUES = 8 };

typedef struct Group {
    const char *kind; // ingot.kernel of its function
    IrOp *ops[OUTLINE_MAX_GROUP_OPS];
    uint32_t num_ops;
    const char *composite; // ingot.composite of it; NULL: its ops count one by one
    int64_t rows;        // leading size
    int64_t tiles;       // units of parallel work, where they are not the rows
    int64_t split_bytes; // what a row would have to keep if this group were part of the one before
} Group;

typedef struct Outline {
    IrModule *m;
    DiagSink *sink;
    IrOp *func;
    bool is_text; // of a module compiled from text: see outline_text.c
    IrValue *n;   // valid tokens, the last index argument
    int64_t bucket;
    int32_t *group_of; // by op index: group number or -1
    uint32_t *seen;    // by op index: the walk that came by last, see num_walks
    uint32_t num_op_slots, num_walks;
    uint64_t num_copies; // free ops in kernels so far
    uint32_t num_kernels;
    Group *groups;
    uint32_t num_groups, groups_capacity;
} Outline;

// Views, constants, empty tensors and scalar arithmetic cost nothing: every group that reads them
// gets its own copy.
bool outline_is_view(const IrOp *op);
bool outline_is_free(const Outline *o, const IrOp *op);
int32_t outline_group_of(const Outline *o, const IrOp *op);
Group *outline_new_group(Outline *o, const char *kind, int64_t rows);
bool outline_add_op(Outline *o, Group *g, IrOp *op); // false: the group is full

// Is every reader of value, through views, the one op `reader`?
bool outline_read_only_by(const IrValue *value, const IrOp *reader);
// Does a rule forbid op in one kernel with something it reads there?
bool outline_is_kept_apart(const Outline *o, const Group *open, const IrOp *op);
IrOp *outline_first_reader(const IrValue *value); // through views; NULL: none
bool outline_comes_before(const IrOp *op, const IrOp *other); // in one block

// ---- outline_matmul.c

// A matrix product with what it allows behind it. False: the group is full.
bool outline_start_matmul(Outline *o, IrOp *op);

// ---- outline_conv.c

bool outline_is_conv(const IrOp *op);
// Padding that becomes bounds of the convolution that reads it.
bool outline_is_conv_pad(const IrOp *op);
// Marks the ops that may run on the convolution's result while it is in registers: their loops stay
// those of the result.
void outline_mark_epilogues(IrModule *m, IrOp *conv);
// The convolution as a group of its own; without a group if its shape has no kernel.
bool outline_start_conv(Outline *o, IrOp *op);

// ---- outline_text.c: functions of modules compiled from text

bool outline_text_is_free(const IrOp *op);
Status outline_text_groups(Outline *o) MUST_USE;

#endif
