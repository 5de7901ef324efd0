// Named sizes of modules compiled from text: an entry states a range for each name (ingot.ranges),
// its arguments say which of their dimensions have it (ingot.dims), and every '?' behind them is
// proven to be one of the names or a number. Shared by refine-shapes, which proves, and
// split-buckets, which makes a version of the entry per bucket.
#ifndef INGOT_PASSES_SIZES_H
#define INGOT_PASSES_SIZES_H

#include "abi/bucket_range.h"
#include "abi/relation.h"
#include "base/diag.h"
#include "ir/ir.h"

enum {
    SIZES_MAX_NAMES = 8,     // of an entry
    SIZES_MAX_VERSIONS = 32, // of an entry: the product of its names' buckets
    SIZES_MAX_SIZE = 1 << 24,
    SIZES_MAX_RANK = 12, // of a tensor of unknown size
};

typedef struct SizeRange {
    const char *name;
    const char *at; // file and line that state it
    BucketRange is;
} SizeRange;

typedef struct SizeRanges {
    SizeRange of[SIZES_MAX_NAMES]; // sorted by name
    uint32_t num;
    Relation relations[RELATION_MAX]; // that every call keeps to
    uint32_t num_relations;
} SizeRanges;

// The buckets of every name in every version of an entry: all combinations in which a call can be
// that keeps to the relations. The last name's run fastest.
typedef struct SizeVersions {
    int64_t of[SIZES_MAX_VERSIONS][SIZES_MAX_NAMES];
    uint32_t num;
} SizeVersions;

// The ranges of an entry, none if it has no ingot.ranges, and its relations (ingot.relations);
// P0011 if they are malformed.
Status size_ranges_read(const IrOp *func, DiagSink *sink, SizeRanges *out_ranges) MUST_USE;
// What the arguments of a version have where a size has this name; 0: none has it.
int64_t size_bucket_of(const IrOp *version, const char *name);
// False: there are more than SIZES_MAX_VERSIONS.
bool size_ranges_versions(const SizeRanges *ranges, SizeVersions *out);
// Do sizes, in the order of the ranges, keep to the relations?
bool size_ranges_hold(const SizeRanges *ranges, const int64_t *sizes);

// What a dimension is: a name (number in the ranges), or a number (name -1).
typedef struct Size {
    int32_t name;
    int64_t number;
} Size;

typedef struct Sizes {
    IrOp *func;
    const SizeRanges *ranges;
    struct SizeNode *nodes; // classes of equal sizes
    uint32_t *first_node;   // by value index; 0: the value has none
    uint32_t num_nodes, num_values;
} Sizes;

// Proves every unknown size of a function without calls, and that padding up to a bucket changes no
// valid element of what its ops compute, given the guards split-buckets adds. P0004: nothing
// bounds a size; P0015: an op that cannot be padded. sizes_deinit in either case.
Status sizes_prove(IrModule *m, IrOp *func, const SizeRanges *ranges, DiagSink *sink,
                   Sizes *out_sizes) MUST_USE;
void sizes_deinit(Sizes *sizes);
Size sizes_of_dim(const Sizes *sizes, const IrValue *value, uint32_t dim);
Size sizes_of_index(const Sizes *sizes, const IrValue *value); // number -1: neither
// Of a structured op: the size of its loop.
Size sizes_of_loop(IrModule *m, const Sizes *sizes, const IrOp *op, uint32_t loop);

// Has an argument of the function, or a value in it, an unknown size? Without names all of them are
// numbers that follow from others.
bool sizes_are_unknown(const IrOp *func);

// ---- split_sizes.c: of split-buckets

// Replaces an entry of named sizes by its versions.
Status split_sizes(IrModule *m, IrOp *func, DiagSink *sink) MUST_USE;

#endif
