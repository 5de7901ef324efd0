// The list of what can fail in a module while it runs, made by check-faults: each entry says what
// it is about, where it stands, and whether it is proven or checked.
#ifndef INGOT_PASSES_CHECK_FAULTS_H
#define INGOT_PASSES_CHECK_FAULTS_H

#include "abi/fault.h"
#include "passes/build.h"
#include "passes/value_range.h"

typedef struct Fault {
    FaultKind kind;
    int64_t numbers[FAULT_NUM_NUMBERS];
    const char *text; // of an assertion; NULL: none
} Fault;

typedef struct Checks {
    IrModule *m;
    DiagSink *sink;
    const IrAttr **entries; // dictionaries, interned; those of ops that are alike are one
    uint32_t *numbers;      // of a check; UINT32_MAX: proven
    uint32_t *slots;        // open addressing: entry + 1
    uint32_t num, capacity, numbers_capacity, num_slots, num_checked;
} Checks;

// The op cannot fail in this way: what it reads is in the range.
void checks_proven(Checks *c, const IrOp *op, const Fault *fault, ValueRange range);
// ok is false where the op would fail; the first operand of its comparison is the value at fault.
void checks_assert(Checks *c, Builder *b, const IrOp *op, const Fault *fault, IrValue *ok);
// Gives the assertion the number of its check, which is about op.
void checks_mark(Checks *c, IrOp *assertion, const IrOp *op, const Fault *fault);
// affine.apply, affine.min or affine.max: one that divides by a value becomes checked arithmetic
// (check_map.c).
void check_map(Checks *c, IrOp *op);
// What the source calls the op: an op that stands for another is spoken of as that one.
const char *checks_op_name(const IrOp *op);
// Writes ingot.checks on the module and frees.
void checks_finish(Checks *c);

// ---- reading ingot.checks

typedef struct CheckEntry {
    bool is_checked;
    uint32_t number; // of the check
    Fault fault;
    const char *op, *file; // file: without its folder, "" if unknown
    uint32_t line, col;
    const char *why; // a proof's range
    uint64_t times;  // evaluations per call of the function it stands in; 0: not known
} CheckEntry;

size_t check_entries(const IrModule *m);
// False if the entry is malformed: a dump may have been edited.
bool check_entry(const IrModule *m, size_t i, CheckEntry *out_entry);

#endif
