// Faults of a running program, said in the same words by the interpreter and by compiled code: the
// kinds of fault.def and their texts. Compiled code leaves the number of a check and a value; what
// the check is about stands in the plan (PlanCheck).
#ifndef INGOT_ABI_FAULT_H
#define INGOT_ABI_FAULT_H

#include "base/str.h"

typedef enum FaultKind {
#define FAULT(id, name, text) FAULT_##id,
#include "abi/fault.def"
#undef FAULT
    NUM_FAULT_KINDS
} FaultKind;

enum { FAULT_NUM_NUMBERS = 4 };

const char *fault_name(FaultKind kind);
bool fault_find(const char *name, FaultKind *out_kind);
// Appends "'op' op index 9 is out of range for ...". numbers: {a} to {d}; text: {t}. A float value
// is given as the bits of its f64.
void fault_put(StrBuf *out, FaultKind kind, const char *op, int64_t value, const int64_t *numbers,
               const char *text);

#endif
