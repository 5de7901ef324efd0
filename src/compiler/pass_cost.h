// What leaving passes out costs: the same counts and predicted times of a module that all passes
// have seen and of one without the disabled ones.
#ifndef INGOT_COMPILER_PASS_COST_H
#define INGOT_COMPILER_PASS_COST_H

#include "compiler/explain.h"
#include "compiler/predict.h"

// All of one call of every entry.
typedef struct PassCost {
    ExplainCost counts;
    const PredictEntry *calls; // predicted, one per entry
    size_t num_calls;
    bool has_context;        // times at a full context differ from those at an empty one
    const char *unpredicted; // why there are no times; NULL: there are
} PassCost;

typedef struct DisabledCost {
    const char *names; // as they were given; NULL: no pass is disabled
    uint32_t lost;     // facts that hold with all passes alone: bits 1 << PassFact
    PassCost all, without;
} DisabledCost;

// Adds up one call of every entry, all threads, at an empty context.
double pass_cost_ns(const PassCost *cost);

void pass_cost_take(const Prediction *prediction, const PassConfig *config, PassCost *cost);
// Predicts a planned module, as a compile does. Names live in arena.
Status pass_cost_predict(IrModule *m, const Target *target, const PassConfig *config, Arena *arena,
                         DiagSink *sink, PassCost *cost) MUST_USE;

// Runs any pipeline on both sides, of IR text, whose modules may lack what a prediction needs: then
// `unpredicted` says what. Names live in the sink's arena.
Status pass_cost_of_pipeline(const IrModule *m, const PassPipeline *with_all, uint64_t disabled,
                             DiagSink *sink, DisabledCost *out_cost) MUST_USE;

#endif
