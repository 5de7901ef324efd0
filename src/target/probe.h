// Measures this machine into a target description: peaks, issue rates, cache and memory bandwidth,
// barrier. A measurement is an input like any other: it is written to a file once, and a compile
// that is given the file gives the same bytes everywhere.
#ifndef INGOT_TARGET_PROBE_H
#define INGOT_TARGET_PROBE_H

#include "target/target.h"

typedef struct ProbeOptions {
    uint32_t num_threads;  // that share the memory; 0: what the process may use
    uint64_t memory_bytes; // read to measure main memory; 0: chosen by the third cache
} ProbeOptions;

// Takes some seconds. H0011, STATUS_ENVIRONMENT where the processor or the memory is missing.
// Numbers that are not measured (cost.exp, reached.*) are those of the least machine of the level.
Status probe_host(const ProbeOptions *options, DiagSink *sink, Target *out_target) MUST_USE;
// Appends the target as a file that target_parse reads.
void target_write(const Target *target, StrBuf *out);

#endif
