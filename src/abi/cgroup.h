// Limits that Linux control groups (versions 1 and 2, nested, also seen from inside a container)
// set on this process. Reads files under /proc and /sys only; any thread.
#ifndef INGOT_ABI_CGROUP_H
#define INGOT_ABI_CGROUP_H

#include "base/base.h"

#define CGROUP_NO_LIMIT UINT64_MAX

// root is prepended to every path read ("" for the running system; tests give a folder).
// CPU time per second of wall time, in thousandths of a processor.
uint64_t cgroup_cpu_limit_millis(const char *root);
// Bytes of memory the group may still take: its limit minus its present use without the page cache
// it could drop.
uint64_t cgroup_memory_left_bytes(const char *root);

#endif
