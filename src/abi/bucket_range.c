// Buckets of a size that varies; see bucket_range.h.
#include "abi/bucket_range.h"

int64_t bucket_range_first(const BucketRange *range, int64_t from) {
    return MIN((from + range->step - 1) / range->step * range->step, range->max);
}

bool bucket_range_is_valid(const BucketRange *range) {
    bool fits = range->min >= 1 && range->min <= range->max && range->step >= 1 &&
                range->max <= INT32_MAX && range->step <= INT32_MAX && range->first >= range->min &&
                range->first <= range->max &&
                (range->first == range->max || range->first % range->step == 0) &&
                range->rejects_off_step <= 1 && range->num_hot <= BUCKET_RANGE_MAX_HOT;
    for (uint32_t i = 0; fits && i < range->num_hot; i++)
        fits = range->hot[i] >= range->min && range->hot[i] <= range->max &&
               (i == 0 || range->hot[i] > range->hot[i - 1]);
    return fits;
}

int64_t bucket_range_above(const BucketRange *range, int64_t size) {
    int64_t bucket = bucket_range_first(range, MAX(size, range->first));
    for (uint32_t i = 0; i < range->num_hot; i++)
        if (range->hot[i] >= size) return MIN(bucket, range->hot[i]);
    return bucket;
}

int64_t bucket_range_below(const BucketRange *range, int64_t size) {
    int64_t bucket = (size - 1) / range->step * range->step;
    if (bucket < range->first) bucket = 0;
    for (uint32_t i = range->num_hot; i-- > 0;)
        if (range->hot[i] < size) return MAX(bucket, range->hot[i]);
    return bucket;
}

int64_t bucket_range_least(const BucketRange *range, int64_t bucket) {
    int64_t below = bucket_range_below(range, bucket);
    if (range->rejects_off_step) return bucket;
    return below ? below + 1 : range->min;
}

int64_t bucket_range_count(const BucketRange *range) {
    int64_t num = 1; // max
    if (range->first < range->max) num += (range->max - 1 - range->first) / range->step + 1;
    for (uint32_t i = 0; i < range->num_hot; i++) {
        bool is_multiple = range->hot[i] % range->step == 0 && range->hot[i] >= range->first;
        num += range->hot[i] != range->max && !is_multiple;
    }
    return num;
}
