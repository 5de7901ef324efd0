// Sizes as people write them.
#ifndef INGOT_RECIPE_SIZE_H
#define INGOT_RECIPE_SIZE_H

#include "text/doc.h"

// Bytes: a plain number in units of 2^30, or a number with a unit (B, kB, MB, GB, TB, KiB, MiB,
// GiB, TiB), from 1 to 2^46. A lone k, M or G is refused with both of its readings. `what` names
// the value in messages. Errors: R0004 to R0006.
Status recipe_read_size(const DocNode *node, const char *what, DiagSink *sink,
                        int64_t *out_bytes) MUST_USE;

#endif
