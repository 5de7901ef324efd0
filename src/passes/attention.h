// Attention in modules that are compiled from text: a softmax of scores that are a product, and the
// sum of values it weighs, written as structured ops. Part of raise-patterns.
#ifndef INGOT_PASSES_ATTENTION_H
#define INGOT_PASSES_ATTENTION_H

#include "passes/build.h"
#include "passes/fusion.h"

enum { ATTENTION_MAX_RANK = 8, ATTENTION_MAX_CHAIN = 8, ATTENTION_MAX_LOOPS = 12 };

// Dimensions of the scores: one is the keys the softmax runs along, one the rows of queries that
// are taken together, the others (batch, heads) number independent problems.
typedef struct AttentionMatch {
    IrOp *scores;                     // the product
    IrOp *chain[ATTENTION_MAX_CHAIN]; // elementwise ops behind it: scale, masks
    uint32_t num_chain;
    IrOp *guard;         // NULL, or weights that are zeros where it does not hold, as padding
    IrOp *sum;           // the weighted sum
    uint32_t weights_at; // its operand that holds the weights
    uint32_t rank, row, key;
    int64_t shape[ATTENTION_MAX_RANK];
} AttentionMatch;

typedef enum AttentionFound {
    ATTENTION_NONE,    // no softmax in front of this op
    ATTENTION_BLOCKED, // one that has no form with an online softmax, for a reason
    ATTENTION_FOUND,
} AttentionFound;

// Is sum the weighted sum of an attention? *out_reason and *out_detail say why not, if blocked.
AttentionFound attention_match(IrModule *m, IrOp *sum, AttentionMatch *out,
                               FusionReason *out_reason, const char **out_detail);

// What a loop of one of its ops walks: a dimension of the scores, or -1: it is walked whole.
// Loops of the product are read from its result, those of the weighted sum from the weights.
void attention_loop_dims(IrModule *m, const AttentionMatch *a, const IrOp *op, int32_t *out_dims);

// Replaces the weighted sum by a loop over blocks of `rows` rows, in each of which the keys are
// taken `keys` at a time with an online softmax.
void attention_make_flash(IrModule *m, const AttentionMatch *a, int64_t rows, int64_t keys);

// Every attention of an entry in the form that its rule asks for, or the one that costs less.
Status raise_attention(IrModule *m, IrOp *func, DiagSink *sink) MUST_USE;

#endif
