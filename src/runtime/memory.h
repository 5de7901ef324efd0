// Memory of an executor: anonymous mappings of exactly the planned size, in 2 MiB pages where they
// are large, and what this process may still take.
#ifndef INGOT_RUNTIME_MEMORY_H
#define INGOT_RUNTIME_MEMORY_H

#include "base/diag.h"
#include "runtime/workers.h"

typedef struct Mapping {
    uint8_t *base; // NULL: nothing is mapped (zero bytes)
    uint64_t bytes;
} Mapping;

// Zero-filled, read-write, nothing resident yet. bytes is a multiple of the page size; a multiple
// of 2 MiB is aligned to it and advised to lie in huge pages. Failure: X0010, STATUS_LIMIT.
Status mapping_open(uint64_t bytes, const char *what, DiagSink *sink,
                    Mapping *out_mapping) MUST_USE;
void mapping_close(Mapping *mapping);
// Makes every page resident, the workers sharing the work.
void mapping_touch(const Mapping *mapping, Workers *workers);
// Reads len_bytes at offset of a file into the mapping, the workers sharing the work. The file's
// pages are not mapped: the bytes exist once in this process. Failure: U0002 (STATUS_IO), X0003.
Status mapping_read(const Mapping *mapping, Workers *workers, int fd, const char *path,
                    uint64_t offset, uint64_t len_bytes, DiagSink *sink) MUST_USE;

// Bytes that this process may take without being killed: what the machine has available and what
// its control groups leave. UINT64_MAX if neither is known.
uint64_t memory_available_bytes(void);

#endif
