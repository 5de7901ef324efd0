// The sizes a call may have of what varies, and those that versions are compiled for: its buckets.
// One arithmetic for passes, planner, reports and run time.
#ifndef INGOT_ABI_BUCKET_RANGE_H
#define INGOT_ABI_BUCKET_RANGE_H

#include "base/base.h"

enum { BUCKET_RANGE_MAX_HOT = 32 };

// Buckets are the multiples of step from `first` on, the hot sizes, and max.
typedef struct BucketRange {
    int64_t min, max, step;    // of a call
    int64_t first;             // the least multiple of step that is a bucket, or max
    uint32_t rejects_off_step; // 1: sizes that are no bucket's are refused instead of padded
    uint32_t num_hot;
    int32_t hot[BUCKET_RANGE_MAX_HOT]; // ascending, from min to max; 0 from num_hot on
} BucketRange;

// The first multiple of step that is at least `from`, or max.
int64_t bucket_range_first(const BucketRange *range, int64_t from);
bool bucket_range_is_valid(const BucketRange *range);
// The bucket that computes `size`, which is at most max.
int64_t bucket_range_above(const BucketRange *range, int64_t size);
// The largest bucket that is less than `size`, which is at most max; 0: there is none.
int64_t bucket_range_below(const BucketRange *range, int64_t size);
// The smallest size of a call that a version for `bucket` serves.
int64_t bucket_range_least(const BucketRange *range, int64_t bucket);
int64_t bucket_range_count(const BucketRange *range);

#endif
