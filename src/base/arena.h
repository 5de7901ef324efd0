// Arena: bump allocation with one lifetime. Nothing is freed singly; arena_deinit frees all.
// One owner thread. Memory is zero-filled and aligned to 16 bytes.
#ifndef INGOT_BASE_ARENA_H
#define INGOT_BASE_ARENA_H

#include "base/base.h"

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    ArenaChunk *head;
    size_t used_bytes; // sum of all requests, for reports
} Arena;

void arena_init(Arena *arena);
void arena_deinit(Arena *arena);
void *arena_alloc(Arena *arena, size_t count, size_t elem_size) MUST_USE;
char *arena_strdup(Arena *arena, const char *str) MUST_USE;
char *arena_strndup(Arena *arena, const char *str, size_t len) MUST_USE;
char *arena_printf(Arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_USE;
void *arena_memdup(Arena *arena, const void *src, size_t count, size_t elem_size) MUST_USE;

#define ARENA_NEW(arena, T)      ((T *)arena_alloc((arena), 1, sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc((arena), (n), sizeof(T)))

#endif
