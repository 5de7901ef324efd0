// Machine code of this process: for tests and for running kernels at compile time.
#include <string.h>
#include <sys/mman.h>

#include "codegen/codegen.h"

Status codegen_image_map(const CodegenImage *image, DiagSink *sink, void **out_base) {
    uint64_t len = image->len_bytes ? image->len_bytes : 1;
    void *base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        diag_report(sink, DIAG_ERROR, DIAG_B0009, (DiagSpan){0}, "no memory for %llu bytes of code",
                    (unsigned long long)len);
        return STATUS_ENVIRONMENT;
    }
    if (image->len_bytes) memcpy(base, image->bytes, image->len_bytes);
    if (mprotect(base, len, PROT_READ | PROT_EXEC) != 0) {
        munmap(base, len);
        diag_report(sink, DIAG_ERROR, DIAG_B0009, (DiagSpan){0},
                    "this system forbids generated code");
        return STATUS_ENVIRONMENT;
    }
    *out_base = base;
    return STATUS_OK;
}

void codegen_image_unmap(void *base, uint64_t len_bytes) {
    if (base) munmap(base, len_bytes ? len_bytes : 1);
}
