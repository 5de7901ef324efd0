// Bump allocation in chunks that grow with use; see arena.h.
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct ArenaChunk {
    ArenaChunk *next;
    size_t used_bytes, capacity_bytes;
    _Alignas(16) unsigned char data[];
};

enum {
    FIRST_CHUNK_BYTES = 16 * 1024,
    HUGE_PAGE_BYTES = 2 * 1024 * 1024,
    LARGEST_CHUNK_BYTES = 8 * 1024 * 1024
};

// One fault for 2 MiB instead of 512, where the system has such pages; of no effect elsewhere.
static void ask_for_huge_pages(ArenaChunk *chunk) {
    uintptr_t from = align_up((uintptr_t)chunk, HUGE_PAGE_BYTES);
    uintptr_t to =
        (uintptr_t)(chunk->data + chunk->capacity_bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if (from < to) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void arena_init(Arena *arena) {
    *arena = (Arena){0};
}

void arena_deinit(Arena *arena) {
    for (ArenaChunk *chunk = arena->head, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (Arena){0};
}

void *arena_alloc(Arena *arena, size_t count, size_t elem_size) {
    uint64_t bytes;
    if (!size_mul(count, elem_size, &bytes) || bytes > SIZE_MAX / 2) bytes = SIZE_MAX / 2;
    bytes = align_up(MAX(bytes, 1), 16);
    ArenaChunk *chunk = arena->head;
    if (!chunk || chunk->capacity_bytes - chunk->used_bytes < bytes) {
        size_t capacity = chunk ? MIN(chunk->capacity_bytes * 2, (size_t)LARGEST_CHUNK_BYTES)
                                : (size_t)FIRST_CHUNK_BYTES;
        capacity = MAX(capacity, bytes);
        chunk = base_alloc(1, sizeof *chunk + capacity);
        chunk->capacity_bytes = capacity;
        if (capacity >= HUGE_PAGE_BYTES) ask_for_huge_pages(chunk);
        chunk->next = arena->head;
        arena->head = chunk;
    }
    void *result = chunk->data + chunk->used_bytes;
    chunk->used_bytes += bytes;
    arena->used_bytes += bytes;
    return result;
}

void *arena_memdup(Arena *arena, const void *src, size_t count, size_t elem_size) {
    void *copy = arena_alloc(arena, count, elem_size);
    if (count) memcpy(copy, src, count * elem_size);
    return copy;
}

char *arena_strndup(Arena *arena, const char *str, size_t len) {
    char *copy = arena_alloc(arena, len + 1, 1);
    memcpy(copy, str, len);
    return copy;
}

char *arena_strdup(Arena *arena, const char *str) {
    return arena_strndup(arena, str, strlen(str));
}

char *arena_printf(Arena *arena, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    BUG_IF(len < 0, "bad format %s", fmt);
    char *text = arena_alloc(arena, (size_t)len + 1, 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}
