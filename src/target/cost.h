// The cost model: what a kernel does, counted, and what that takes on a machine. All numbers of the
// machine come from its Target; nothing here knows one. See docs/targets.md for the formulas.
#ifndef INGOT_TARGET_COST_H
#define INGOT_TARGET_COST_H

#include "target/target.h"

typedef enum CostOp {
#define COST_OP(id, name, meaning) COST_##id,
#include "target/cost.def"
    NUM_COST_OPS
} CostOp;
const char *cost_op_name(CostOp op);

typedef enum CostLevel { COST_L1, COST_L2, COST_L3, COST_MEMORY, NUM_COST_LEVELS } CostLevel;
const char *cost_level_name(CostLevel level);

// What runs as often as each other: the operations of one pass through a loop body, or a stretch of
// straight code.
typedef struct CostBlock {
    double times;             // how often it runs, all units together
    double ops[NUM_COST_OPS]; // of one run
    double chain_clocks;      // until a sum of this run can be used by the next; 0: none waits
    double live_vectors;      // machine vectors in use at once
    double spill_loads, spill_stores; // of one run, for want of registers
} CostBlock;

// Clocks of all runs on one unit: the busiest of its parts, or the chain, and what is spilled on
// top: a sum that is kept in memory waits for its own store.
double cost_block_clocks(const Target *target, const CostBlock *block);

// The nearest level whose share of one unit holds so many bytes that are used again and again.
CostLevel cost_fit(const Target *target, double bytes, double units);

// Bytes that a loop nest fetches from beyond the second cache, in clocks of one unit: none where
// that cache holds them, which keeps up beside the arithmetic.
double cost_far_clocks(const Target *target, CostLevel level, double bytes);
bool cost_level_is_near(CostLevel level); // first or second cache

// How a convolution goes through a map: `passes` times, each time in pieces of so many bytes of
// every pixel, whose pixels are pitch_bytes apart where channels are last. Streams: pieces of a
// pixel that lie apart where the map is in blocks.
typedef struct CostMapUse {
    double bytes, passes, piece_bytes, pitch_bytes, streams;
} CostMapUse;

// Bytes brought in vain, that is, fetched once more: where pieces of a channels-last map are read
// or written alone; and where a map in blocks is read in more streams than the prefetcher follows.
double cost_map_read_extra(const CostMapUse *use);
double cost_map_write_extra(const CostMapUse *use);
double cost_map_stream_extra(const Target *target, const CostMapUse *use);

typedef enum CostClass { COST_MATMUL, COST_ATTENTION, COST_ROWS, NUM_COST_CLASSES } CostClass;
const char *cost_class_name(CostClass class);

typedef struct CostWork {
    CostClass class;
    double ops[NUM_COST_OPS];      // times x ops of all blocks
    double compute_clocks;         // sum of cost_block_clocks
    double live_vectors;           // most of any block
    double bytes[NUM_COST_LEVELS]; // that come from each level; L1: all that is loaded
    double working_bytes;          // used again by the innermost loop that uses anything again
    TargetNumber matrix;           // matrix units: type of operation, and how many
    double matrix_ops;             // (targets without a CPU level)
    double streams;                // places that far memory is read at in turn; 0: one
    double max_units;              // units that have something to do; 0: any number
} CostWork;

typedef struct Cost {
    double clocks, ns;
    double compute_clocks, level_clocks[NUM_COST_LEVELS];
    const char *bound; // what takes longest: "compute" or a level's name
} Cost;

// The second cache keeps up beside the arithmetic; what comes from further away adds to it. So
// measured: a loop asks for its next lines only shortly before it needs them.
Cost cost_predict(const Target *target, const CostWork *work, double units);

#endif
