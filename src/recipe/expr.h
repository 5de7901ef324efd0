// Small arithmetic for model family files: numbers, names, + - * / %, comparisons, and, or, sqrt, (
// ). All values are doubles; whole numbers are exact up to 2^53. Truth is 1 and 0.
#ifndef INGOT_RECIPE_EXPR_H
#define INGOT_RECIPE_EXPR_H

#include "base/diag.h"

typedef struct ExprName {
    const char *name;
    double value;
    const char *origin; // where the value comes from, for messages; NULL = derived
} ExprName;

// Names known to an expression; a scope sees its parents' names behind its own.
typedef struct ExprScope {
    const struct ExprScope *parent;
    Arena *arena;
    ExprName *names;
    size_t num_names, capacity;
} ExprScope;

void expr_define(ExprScope *scope, const char *name, double value, const char *origin);
const ExprName *expr_find(const ExprScope *scope, const char *name, size_t len); // NULL if unknown

// Errors (R0013, at span): bad syntax, unknown name, division by zero, a result that is not finite.
Status expr_eval(const ExprScope *scope, const char *text, DiagSpan span, DiagSink *sink,
                 double *out) MUST_USE;
// The same, for a result that must be a whole number from min to max.
Status expr_eval_int(const ExprScope *scope, const char *text, int64_t min, int64_t max,
                     DiagSpan span, DiagSink *sink, int64_t *out) MUST_USE;
// Appends "HEADS = 9 (llama.attention.head_count), ..." for the names in text.
void expr_describe(const ExprScope *scope, const char *text, StrBuf *out);

#endif
