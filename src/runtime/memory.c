// Mappings and memory limits; see memory.h.
#include "runtime/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/cgroup.h"
#include "abi/plan.h"

Status mapping_open(uint64_t bytes, const char *what, DiagSink *sink, Mapping *out_mapping) {
    *out_mapping = (Mapping){0};
    if (bytes == 0) return STATUS_OK;
    bool is_huge = bytes % ARTIFACT_HUGE_PAGE_BYTES == 0;
    uint64_t slack = is_huge ? ARTIFACT_HUGE_PAGE_BYTES : 0;
    uint8_t *base = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        Status status =
            diag_error(sink, DIAG_X0010, (DiagSpan){0}, "cannot map %llu bytes for %s: %s",
                       (unsigned long long)bytes, what, strerror(errno));
        (void)status;
        return STATUS_LIMIT;
    }
    uint64_t head = is_huge ? align_up((uintptr_t)base, slack) - (uintptr_t)base : 0;
    if (head > 0) munmap(base, head);
    if (slack > head) munmap(base + head + bytes, slack - head);
    *out_mapping = (Mapping){.base = base + head, .bytes = bytes};
    // Refused where huge pages are off: everything works the same in small pages.
    if (is_huge) (void)madvise(out_mapping->base, bytes, MADV_HUGEPAGE);
    return STATUS_OK;
}

void mapping_close(Mapping *mapping) {
    if (mapping->base) munmap(mapping->base, mapping->bytes);
    *mapping = (Mapping){0};
}

// Worker w's share of bytes, cut at huge pages so that no two workers fault in the same one.
static void share_of(uint64_t bytes, uint32_t worker, uint32_t num_workers, uint64_t *out_begin,
                     uint64_t *out_end) {
    uint64_t units = align_up(bytes, ARTIFACT_HUGE_PAGE_BYTES) / ARTIFACT_HUGE_PAGE_BYTES;
    *out_begin = MIN(units * worker / num_workers * ARTIFACT_HUGE_PAGE_BYTES, bytes);
    *out_end = MIN(units * (worker + 1) / num_workers * ARTIFACT_HUGE_PAGE_BYTES, bytes);
}

static void touch_share(void *context, uint32_t worker, uint32_t num_workers) {
    const Mapping *mapping = context;
    uint64_t begin, end;
    share_of(mapping->bytes, worker, num_workers, &begin, &end);
    for (uint64_t i = begin; i < end; i += ARTIFACT_PAGE_BYTES)
        *(volatile uint8_t *)(mapping->base + i) = 0;
}

void mapping_touch(const Mapping *mapping, Workers *workers) {
    if (mapping->bytes > 0) workers_run(workers, touch_share, (void *)mapping);
}

typedef struct ReadJob {
    const Mapping *mapping;
    int fd;
    uint64_t offset, len_bytes;
    atomic_int error; // errno of a failed read, -1: the file ended
} ReadJob;

static void read_share(void *context, uint32_t worker, uint32_t num_workers) {
    enum { BLOCK_BYTES = 4 << 20 };
    ReadJob *job = context;
    uint64_t begin, end;
    share_of(job->len_bytes, worker, num_workers, &begin, &end);
    while (begin < end && atomic_load(&job->error) == 0) {
        ssize_t got = pread(job->fd, job->mapping->base + begin,
                            MIN(end - begin, (uint64_t)BLOCK_BYTES), (off_t)(job->offset + begin));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            atomic_store(&job->error, got == 0 ? -1 : errno);
        else
            begin += (uint64_t)got;
    }
}

Status mapping_read(const Mapping *mapping, Workers *workers, int fd, const char *path,
                    uint64_t offset, uint64_t len_bytes, DiagSink *sink) {
    BUG_IF(len_bytes > mapping->bytes, "%llu bytes into a mapping of %llu",
           (unsigned long long)len_bytes, (unsigned long long)mapping->bytes);
    if (len_bytes == 0) return STATUS_OK;
    // Each worker reads a range of its own in order; the kernel may fetch all of them ahead.
    (void)posix_fadvise(fd, (off_t)offset, (off_t)len_bytes, POSIX_FADV_WILLNEED);
    ReadJob job = {.mapping = mapping, .fd = fd, .offset = offset, .len_bytes = len_bytes};
    workers_run(workers, read_share, &job);
    int error = atomic_load(&job.error);
    if (error == 0) return STATUS_OK;
    DiagSpan span = {.file = path, .byte_offset = offset};
    if (error < 0)
        return diag_error(sink, DIAG_X0003, span, "the file became shorter while it was read");
    Status status = diag_error(sink, DIAG_U0002, span, "cannot read: %s", strerror(error));
    (void)status;
    return STATUS_IO;
}

// MemAvailable of /proc/meminfo (proc(5)): an estimate that counts caches which can be dropped.
static uint64_t machine_available_bytes(void) {
    char text[4096];
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return UINT64_MAX;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    if (len <= 0) return UINT64_MAX;
    text[len] = '\0';
    unsigned long long kib;
    const char *line = strstr(text, "MemAvailable:");
    return line && sscanf(line, "MemAvailable: %llu kB", &kib) == 1 ? kib * 1024 : UINT64_MAX;
}

uint64_t memory_available_bytes(void) {
    return MIN(machine_available_bytes(), cgroup_memory_left_bytes(""));
}
