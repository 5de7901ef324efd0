// How far the versions of an entry whose sizes vary are filled by the calls they serve.
#ifndef INGOT_CLI_SIZE_USE_H
#define INGOT_CLI_SIZE_USE_H

#include "abi/plan.h"
#include "base/str.h"
#include "cli/json_writer.h"

// One size in one version.
typedef struct SizeUse {
    const char *name, *set_by;
    int64_t least, bucket; // calls from least to bucket come here
    int64_t largest;       // bucket of all versions
    BucketRange range;
} SizeUse;

// Shares of a version's elements that are padding, calls of all sizes being equally frequent, and
// for the smallest call; and what the mean would be in the largest version.
typedef struct PaddingUse {
    double mean, most, mean_in_largest;
} PaddingUse;
PaddingUse size_use_padding(const SizeUse *uses, uint32_t num);

// ", n 17 to 32; padding 23 % on average, 47 % at most (49 % if there were the largest version
// alone)"; nothing for no size.
void size_use_put_text(const SizeUse *uses, uint32_t num, StrBuf *out);
// "sizes": [...], "padding": {...}, into the object at hand; nothing for no size.
void size_use_put_json(const SizeUse *uses, uint32_t num, JsonWriter *json);

#endif
