// The buckets of a language model: the entry that serves a call, and which calls the recipe wants
// refused instead of padded.
#ifndef INGOT_RUNTIME_BUCKETS_H
#define INGOT_RUNTIME_BUCKETS_H

#include "runtime/artifact.h"

// Index of the smallest entry that holds so many tokens, or sequences.
uint32_t bucket_entry(const Artifact *artifact, bool is_batch, uint32_t num);
// Is it refused as no bucket's, or as less than the least? One is always a bucket.
bool bucket_is_refused(const Artifact *artifact, bool is_batch, uint32_t num);
// X0021 for such a number, with the nearest ones: STATUS_INVALID.
Status bucket_refuse(const Artifact *artifact, bool is_batch, uint32_t num,
                     DiagSink *sink) MUST_USE;
// The largest number up to num that is not refused.
uint32_t bucket_below(const Artifact *artifact, bool is_batch, uint32_t num);

#endif
