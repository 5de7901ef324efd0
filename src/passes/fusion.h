// Fusion rules, and what became of every edge from one op to another. A rule of the recipe lies on
// the module (ingot.rules); passes that join ops ask it, and note what they did or why not
// (ingot.fusion). Edges are read from the outlined module: inside a kernel two ops are joined,
// between two kernels a value is stored, for reasons computed from both sides.
#ifndef INGOT_PASSES_FUSION_H
#define INGOT_PASSES_FUSION_H

#include "ir/ir.h"

typedef enum FusionPattern {
#define FUSION_PATTERN(id, name, meaning) FUSION_##id,
#include "abi/fusion_patterns.def"
    NUM_FUSION_PATTERNS // also: none
} FusionPattern;

typedef enum FusionReason {
#define FUSION_REASON(id, name, meaning, remedy) REASON_##id,
#include "passes/fusion_reasons.def"
    NUM_FUSION_REASONS
} FusionReason;

const char *fusion_pattern_name(FusionPattern pattern);
bool fusion_pattern_find(const char *name, FusionPattern *out_pattern);
const char *fusion_reason_name(FusionReason reason);
const char *fusion_reason_meaning(FusionReason reason);
const char *fusion_reason_remedy(FusionReason reason);

enum {
    FUSION_MAX_SCRATCH_BYTES = 256 << 10, // what a kernel may keep per worker at the most
    FUSION_MAX_ROW_BYTES = 64 << 10,      // of rows of intermediates, where no bound was asked for
};

typedef enum FusionMode {
    FUSION_ALLOW,
    FUSION_FORBID,
    FUSION_REQUIRE,
    NUM_FUSION_MODES
} FusionMode;
const char *fusion_mode_name(FusionMode mode);

typedef enum FusionFlash { FUSION_FLASH_UNSAID, FUSION_FLASH_NO, FUSION_FLASH_YES } FusionFlash;

typedef struct FusionRule {
    FusionMode mode;
    FusionFlash flash; // attention with an online softmax
    bool is_atomic;    // required, and nothing in between is stored
    const char *at;    // "recipe:31"; NULL: the recipe has no rule for it
} FusionRule;

// The rule for a pattern: FUSION_ALLOW without one.
FusionRule fusion_rule(const IrModule *m, FusionPattern pattern);

// What joining consumer to producer is an instance of; NUM_FUSION_PATTERNS: of no pattern.
FusionPattern fusion_pattern_of(IrModule *m, const IrOp *producer, const IrOp *consumer);
// Behind ops that copy in the same order, who reads what they make: of several the first.
const IrOp *fusion_uncopied_reader(IrModule *m, const IrOp *op);
// Does it add what has fewer dimensions than its result, or had when it was written (ingot.bias)?
bool fusion_adds_bias(const IrOp *op);
// Does a rule keep them apart?
bool fusion_forbids(IrModule *m, const IrOp *producer, const IrOp *consumer);
// Does a rule part these, products of one input?
bool fusion_parts(IrModule *m, const IrOp *op, const IrOp *other);
// Is func the attention of a language model, whose scores are to be stored?
bool fusion_keeps_scores(const IrModule *m, const IrOp *func);
// The product, in one function with it, whose results a softmax is over; NULL: none.
const IrOp *fusion_scores_of(const IrOp *softmax);
bool fusion_is_view(const IrOp *op); // a reshape, slice or cast
// The op behind reshapes and slices that makes value; NULL for arguments.
const IrOp *fusion_maker(const IrValue *value);

// What a pass that joins ops did with one candidate; kept on the module.
typedef struct FusionNote {
    FusionPattern pattern;
    bool is_applied;
    const char *where;           // function
    const char *what;            // the ops, by location
    const char *reason, *detail; // where applied no reason, and a detail if there was a choice
} FusionNote;

void fusion_note_add(IrModule *m, const FusionNote *note);
size_t fusion_num_notes(const IrModule *m);
FusionNote fusion_note_get(const IrModule *m, size_t i);

typedef struct FusionEdge {
    const IrOp *func;                          // where both sides meet: a kernel if joined
    const IrOp *producer_func, *consumer_func; // kernels that hold the ops
    const IrOp *producer, *consumer;           // a composite kernel stands for its ops
    const IrOp *copy;                          // the kernel between that copies a part, or NULL
    FusionPattern pattern;                     // NUM_FUSION_PATTERNS: none
    bool is_applied;
    bool offers_rows; // a product that a rule could have as sums over rows, joined with what reads
                      // it
    uint32_t reasons; // bits 1 << FusionReason, 0 if applied
    const char *details[NUM_FUSION_REASONS];
    uint64_t moved; // bytes: apart, the value is written and read, by kernels that copy it too
    uint64_t count; // how often, in one call of every entry
} FusionEdge;

typedef struct FusionEdges {
    FusionEdge *items;
    size_t num_items, capacity;
} FusionEdges;

// All edges of an outlined module, in its order. Texts live in the module.
void fusion_edges_collect(IrModule *m, FusionEdges *out_edges);
void fusion_edges_deinit(FusionEdges *edges);
// The reason that counts, and its text; NUM_FUSION_REASONS if applied.
FusionReason fusion_edge_reason(const FusionEdge *edge);
// What would take the reason away.
const char *fusion_edge_remedy(IrModule *m, const FusionEdge *edge, FusionReason reason);
// Place of an op among those of its function, from 0.
uint32_t fusion_op_number(const IrOp *op);
// How often each function runs in one call of every entry, by op index; to be freed.
uint64_t *fusion_func_counts(const IrModule *m) MUST_USE;
// Name of the weight or line that an op comes from; "" if unknown.
const char *fusion_loc_text(IrModule *m, const IrLoc *loc);

#endif
