// Asks the C library; see host.h.
#include "target/host.h"

#include <unistd.h>

#include "abi/cpu.h"

static uint64_t system_value(int name) {
    long value = sysconf(name);
    return value > 0 ? (uint64_t)value : 0;
}

void host_info_get(HostInfo *out_info) {
    uint64_t page_bytes = system_value(_SC_PAGESIZE), memory_bytes = 0;
    if (!size_mul(system_value(_SC_PHYS_PAGES), page_bytes, &memory_bytes)) memory_bytes = 0;
    *out_info = (HostInfo){.num_usable_threads = cpu_usable_threads(),
                           .l1_data_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE),
                           .l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE),
                           .l3_bytes = system_value(_SC_LEVEL3_CACHE_SIZE),
                           .memory_bytes = memory_bytes,
                           .page_bytes = page_bytes};
}
