// Bug reports and allocation that cannot fail; see base.h.
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

void base_bug(const char *file, int line, const char *fmt, ...) {
    va_list args;
    fprintf(stderr, "ingot: bug at %s:%d: ", file, line);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputs("\nThis is a fault of Ingot, not of your input. Please report it with the command line "
          "and `ingot --version --json`.\n",
          stderr);
    abort();
}

// Nothing here may allocate: the diagnostic is written in its final form, not through a sink.
void base_out_of_memory(size_t count, size_t elem_size) {
    fprintf(stderr,
            "ingot: error[U0010]: memory is exhausted: cannot allocate %zu x %zu bytes\n"
            "  more:     ingot explain U0010\n",
            count, elem_size);
    file_writer_cleanup();
    _exit(STATUS_LIMIT);
}

#ifndef NDEBUG
static _Thread_local unsigned forbid_depth;
void base_forbid_alloc(void) {
    forbid_depth++;
}
void base_allow_alloc(void) {
    forbid_depth--;
}
static void check_may_alloc(void) {
    BUG_IF(forbid_depth > 0, "allocation on the token path");
}
#else
void base_forbid_alloc(void) {}
void base_allow_alloc(void) {}
static void check_may_alloc(void) {}
#endif

void *base_alloc(size_t count, size_t elem_size) {
    check_may_alloc();
    void *ptr = calloc(count ? count : 1, elem_size ? elem_size : 1);
    if (!ptr) base_out_of_memory(count, elem_size);
    return ptr;
}

void *base_realloc(void *ptr, size_t count, size_t elem_size) {
    check_may_alloc();
    uint64_t bytes;
    if (!size_mul(count, elem_size, &bytes)) base_out_of_memory(count, elem_size);
    void *grown = realloc(ptr, bytes ? bytes : 1);
    if (!grown) base_out_of_memory(count, elem_size);
    return grown;
}

void array_sort(void *items, size_t count, size_t size,
                int (*compare)(const void *, const void *)) {
    if (count > 1) qsort(items, count, size, compare);
}
