// Names of ops that survive edits elsewhere: made of what the op itself says (kind, types,
// attributes, what its regions hold), not of its place or of what feeds it. Inserting, removing or
// changing an op leaves the names of the others as they were; equal ops of a function are told
// apart by their order.
#ifndef INGOT_IR_STABLE_ID_H
#define INGOT_IR_STABLE_ID_H

#include "ir/ir.h"

// By op index: "addf_3fa9c1", "addf_3fa9c1_2"; NULL for the module and functions. Lives in arena.
const char **ir_stable_ids(const IrModule *m, Arena *arena);

#endif
