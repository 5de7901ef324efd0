// Counts into clocks; see cost.h.
#include "target/cost.h"

static const char *const op_names[NUM_COST_OPS] = {
#define COST_OP(id, name, meaning) [COST_##id] = (name),
#include "target/cost.def"
};

const char *cost_op_name(CostOp op) {
    return op_names[op];
}

const char *cost_level_name(CostLevel level) {
    static const char *const names[NUM_COST_LEVELS] = {"l1", "l2", "l3", "memory"};
    return names[level];
}

const char *cost_class_name(CostClass class) {
    static const char *const names[NUM_COST_CLASSES] = {"matmul", "attention", "rows"};
    return names[class];
}

// Vector instructions per clock that do `ops` operations on elements of elem_bytes.
static double rate_of(const Target *t, TargetNumber ops, double per_vector) {
    double issue = target_number_or(t, TARGET_ISSUE_VECTOR, 1);
    double rate = t->numbers[ops] / per_vector;
    return rate > 0 ? rate : issue;
}

// Two things done at the same time.
static double beside(const Target *t, double a, double b) {
    return MAX(a, b) + MIN(a, b) * t->numbers[TARGET_ISSUE_LOST];
}

double cost_block_clocks(const Target *t, const CostBlock *b) {
    double bytes = target_number_or(t, TARGET_VECTOR_BYTES, 16);
    double issue = target_number_or(t, TARGET_ISSUE_VECTOR, 1);
    // A vector of f32 multiply-adds is bytes / 4 x 2 operations, one of int8 dot products bytes
    // x 2.
    double arithmetic = b->ops[COST_FLOAT] / rate_of(t, TARGET_OPS_F32, bytes / 2) +
                        b->ops[COST_DOT] / rate_of(t, TARGET_OPS_INT8, bytes * 2) +
                        b->ops[COST_VECTOR] / issue +
                        b->ops[COST_DIVIDE] * target_number_or(t, TARGET_COST_DIVIDE, 1);
    double load_rate = target_number_or(t, TARGET_ISSUE_LOAD, 1);
    double store_rate = target_number_or(t, TARGET_ISSUE_STORE, 1);
    double loads = b->ops[COST_LOAD] / load_rate, stores = b->ops[COST_STORE] / store_rate;
    double broadcasts = b->ops[COST_BROADCAST] / target_number_or(t, TARGET_ISSUE_BROADCAST, 1);
    double scalars = b->ops[COST_SCALAR] / target_number_or(t, TARGET_ISSUE_SCALAR, 1);
    double clocks = MAX(beside(t, arithmetic, MAX(loads, broadcasts)), MAX(stores, scalars));
    return b->times * (MAX(clocks, b->chain_clocks) + b->spill_loads / load_rate +
                       b->spill_stores / store_rate);
}

CostLevel cost_fit(const Target *t, double bytes, double units) {
    static const TargetNumber sizes[] = {TARGET_L1_BYTES, TARGET_L2_BYTES, TARGET_L3_BYTES};
    static const TargetNumber shared[] = {TARGET_UNITS, TARGET_L2_SHARED, TARGET_L3_SHARED};
    for (int level = COST_L1; level < COST_MEMORY; level++) {
        double sharing = level == COST_L1 ? 1 : target_number_or(t, shared[level], units);
        double share = t->numbers[sizes[level]] / MAX(MIN(sharing, units), 1);
        if (share > 0 && bytes <= share) return (CostLevel)level;
    }
    return COST_MEMORY;
}

// Bytes per clock that one of `units` busy units reads from a level.
static double level_rate(const Target *t, CostLevel level, double units, double streams) {
    double ghz = t->numbers[TARGET_CLOCK_MHZ] * 1e-3;
    double all = t->numbers[TARGET_MEM_RATE] * target_number_or(t, TARGET_REACHED_MEM, 1) / ghz;
    double alone = target_number_or(t, TARGET_MEM_UNIT_RATE, 1e6) / ghz;
    double stream = target_number_or(t, TARGET_MEM_STREAM_RATE, alone * ghz) / ghz;
    double memory = MIN(MIN(alone, stream * MAX(streams, 1)), all / units);
    if (level == COST_MEMORY) return memory;
    double l3 = target_number_or(t, TARGET_L3_RATE, memory);
    if (level == COST_L3) return MAX(l3, memory);
    return MAX(target_number_or(t, TARGET_L2_RATE, l3), l3);
}

bool cost_level_is_near(CostLevel level) {
    return level <= COST_L2;
}

double cost_far_clocks(const Target *t, CostLevel level, double bytes) {
    return cost_level_is_near(level) ? 0 : bytes / level_rate(t, level, 1, 0);
}

// Measured on an Emerald Rapids guest, one thread, a kernel whose addresses alone differ, 32 shapes
// (docs/decisions/0005): of a line that is read alone, its neighbours a pixel away, 0.3 to 0.8
// more is waited for than of one in a row; half is taken.
static const double read_alone = 0.5;
// There too: lines come in pairs and the pair after it. Of a map that is written in pieces, each
// piece brings that much of its neighbours, which is gone before they are written: 0.9 to 1.6 of
// the map for pieces of 128 bytes.
static const double pair_bytes = 128;
// Streams that a second cache's prefetcher follows where the target file does not say: one per page
// of memory, 32 pages (Intel's optimization reference manual, the streamer of its processors).
static const double usual_streams = 32;

double cost_map_read_extra(const CostMapUse *use) {
    return use->pitch_bytes > use->piece_bytes ? use->passes * use->bytes * read_alone : 0;
}

double cost_map_write_extra(const CostMapUse *use) {
    return use->pitch_bytes > use->piece_bytes ? use->bytes * pair_bytes / use->piece_bytes : 0;
}

double cost_map_stream_extra(const Target *t, const CostMapUse *use) {
    double followed = target_number_or(t, TARGET_STREAMS, usual_streams);
    return use->streams > 1 ? use->passes * use->bytes * read_alone * use->streams / followed : 0;
}

static double matrix_clocks(const Target *t, const CostWork *w) {
    return w->matrix_ops > 0 ? w->matrix_ops / target_number_or(t, w->matrix, 1) : 0;
}

Cost cost_predict(const Target *t, const CostWork *w, double units) {
    static const TargetNumber reached[NUM_COST_CLASSES] = {
        [COST_MATMUL] = TARGET_REACHED_MATMUL,
        [COST_ATTENTION] = TARGET_REACHED_ATTENTION,
        [COST_ROWS] = TARGET_REACHED_ROWS,
    };
    if (w->max_units > 0) units = MIN(units, w->max_units);
    Cost cost = {.bound = "compute"};
    double share = target_number_or(t, reached[w->class], 1) * units;
    cost.compute_clocks = (w->compute_clocks + matrix_clocks(t, w)) / share;
    cost.clocks = cost.compute_clocks;
    double longest = cost.compute_clocks;
    for (int level = COST_L2; level < NUM_COST_LEVELS; level++) {
        double clocks =
            w->bytes[level] / units / level_rate(t, (CostLevel)level, units, w->streams);
        cost.level_clocks[level] = clocks;
        cost.clocks = level == COST_L2 ? MAX(cost.clocks, clocks) : cost.clocks + clocks;
        if (clocks > longest) {
            longest = clocks;
            cost.bound = cost_level_name((CostLevel)level);
        }
    }
    cost.ns = cost.clocks * 1e3 / t->numbers[TARGET_CLOCK_MHZ] + t->numbers[TARGET_STEP_NS];
    return cost;
}
