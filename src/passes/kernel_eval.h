// Whole numbers of a function: what index arithmetic gives once some values are known. Part of
// kernel_cost.h.
#ifndef INGOT_PASSES_KERNEL_EVAL_H
#define INGOT_PASSES_KERNEL_EVAL_H

#include "passes/kernel_cost.h"

// Places 0, 1, ... for the ops or values of a function, whose numbers in the module may lie far
// apart: tables by place are as large as the function.
typedef struct Places {
    uint32_t first, num_pages, count;
    uint32_t **pages; // of PLACES_PAGE numbers each: place + 1, 0: none; NULL: none in the page
} Places;

enum { PLACES_PAGE = 256 };

// For numbers first to last.
void places_init(Places *places, uint32_t first, uint32_t last);
void places_deinit(Places *places);
void places_add(Places *places, uint32_t number);
// UINT32_MAX: it has none.
static inline uint32_t places_find(const Places *places, uint32_t number) {
    uint32_t at = number - places->first; // wraps for a smaller one
    const uint32_t *page =
        at / PLACES_PAGE < places->num_pages ? places->pages[at / PLACES_PAGE] : NULL;
    return page ? page[at % PLACES_PAGE] - 1 : UINT32_MAX;
}

typedef struct Eval {
    const Places *places; // NULL: a value's number is its place
    int64_t *values;      // by place
    bool *is_set;
    uint32_t len;
} Eval;

// For the values that have places, or without those for numbers below num_values; others are not
// known.
void eval_init(Eval *eval, const Places *places, uint32_t num_values);
void eval_deinit(Eval *eval);
// The value of an integer or index; of a buffer: that of all its elements.
void eval_set(Eval *eval, const IrValue *v, int64_t value);
void eval_forget(Eval *eval, const IrValue *v);
// Sets the result of an op of index arithmetic to what its operands give now, or forgets it.
void eval_refresh(Eval *eval, const IrOp *op);
// False if the value depends on one that is not known, or on memory.
bool eval_value(const Eval *eval, const IrValue *v, int64_t *out);

#endif
