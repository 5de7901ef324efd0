// What the cost model says of a compiled module: time per entry and kernel, and the schedules that
// were weighed. Kept as data; the report, the manifest and `ingot bench` are views of it.
#ifndef INGOT_COMPILER_PREDICT_H
#define INGOT_COMPILER_PREDICT_H

#include "compiler/plan_build.h"
#include "passes/kernel_cost.h"
#include "passes/pass.h"

// Positions a prediction is made for: an empty context, and a full one.
enum { PREDICT_EMPTY, PREDICT_FULL, NUM_PREDICT_POSITIONS };

typedef struct PredictKernel {
    const char *name;
    CostWork work; // at an empty context
    uint32_t num_calls;
    double one_ns[NUM_PREDICT_POSITIONS],
        all_ns[NUM_PREDICT_POSITIONS]; // of a call; 1 and all threads
    const char *bound;
} PredictKernel;

typedef struct PredictEntry {
    const char *name;
    uint32_t bucket_tokens;
    bool is_batch; // one token each of so many sequences
    double one_ns[NUM_PREDICT_POSITIONS], all_ns[NUM_PREDICT_POSITIONS]; // barriers included
    PredictKernel *kernels;
    size_t num_kernels;
} PredictEntry;

typedef struct Prediction {
    const char *target; // name of the machine
    const char *level;  // NULL: the machine has none
    uint32_t threads;
    PredictEntry *entries; // in the order of the plan
    size_t num_entries;
    const IrModule *m; // whose kernels carry ingot.candidates; borrowed
} Prediction;

// Predicts a planned and vectorised module. Everything lives in arena.
void predict_module(IrModule *m, const Target *target, const PassConfig *config,
                    const PlanBuild *build, Arena *arena, Prediction *out_prediction);
// The same of a bufferised module without a plan: a barrier after every call. is_counted: it is
// vectorised, and its vectors are counted; else kernels are estimated from their structured ops.
// false: its calls are too many to follow, or call themselves.
bool predict_buffers(IrModule *m, const Target *target, const PassConfig *config, bool is_counted,
                     Arena *arena, Prediction *out_prediction) MUST_USE;
// Appends one JSON object.
void predict_put_json(const Prediction *prediction, StrBuf *out);

#endif
