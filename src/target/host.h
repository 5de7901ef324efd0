// The machine this program runs on, as numbers for reports and defaults. Nothing in generated code
// depends on them: a compile is reproducible on any machine.
#ifndef INGOT_TARGET_HOST_H
#define INGOT_TARGET_HOST_H

#include "base/base.h"

typedef struct HostInfo {
    uint32_t num_usable_threads;                // affinity and control group respected
    uint64_t l1_data_bytes, l2_bytes, l3_bytes; // of one core; 0: unknown
    uint64_t memory_bytes;                      // physical; 0: unknown
    uint64_t page_bytes;
} HostInfo;

void host_info_get(HostInfo *out_info);

#endif
