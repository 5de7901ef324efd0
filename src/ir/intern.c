// Open-addressing hash tables for interning; see intern.h. Nothing iterates over them, so the order
// of slots never reaches an output.
#include "ir/intern.h"

#include <stdlib.h>
#include <string.h>

const void *intern_find(const InternTable *table, uint64_t hash, InternEqual equal,
                        const void *key) {
    if (!table->capacity) return NULL;
    size_t mask = table->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        const InternSlot *slot = &table->slots[i];
        if (!slot->object) return NULL;
        if (slot->hash == hash && equal(slot->object, key)) return slot->object;
    }
}

static void place(InternTable *table, uint64_t hash, const void *object) {
    size_t mask = table->capacity - 1, i = hash & mask;
    while (table->slots[i].object) i = (i + 1) & mask;
    table->slots[i] = (InternSlot){hash, object};
}

void intern_add(InternTable *table, uint64_t hash, const void *object) {
    if (table->count * 4 >= table->capacity * 3) {
        InternTable grown = {.capacity = table->capacity ? table->capacity * 2 : 64};
        grown.slots = base_alloc(grown.capacity, sizeof *grown.slots);
        grown.count = table->count;
        for (size_t i = 0; i < table->capacity; i++) {
            const InternSlot *slot = &table->slots[i];
            if (slot->object) place(&grown, slot->hash, slot->object);
        }
        free(table->slots);
        *table = grown;
    }
    place(table, hash, object);
    table->count++;
}

void intern_table_deinit(InternTable *table) {
    free(table->slots);
    *table = (InternTable){0};
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len) {
    const unsigned char *p = bytes;
    hash = hash_mix(hash, len);
    for (; len >= 8; len -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = hash_mix(hash, word);
    }
    uint64_t tail = 0;
    if (len) memcpy(&tail, p, len);
    return hash_mix(hash, tail);
}

uint64_t hash_ptrs(uint64_t hash, size_t n, const void *const *ptrs) {
    hash = hash_mix(hash, n);
    for (size_t i = 0; i < n; i++) hash = hash_ptr(hash, ptrs[i]);
    return hash;
}

bool same_ptrs(size_t n, const void *const *a, const void *const *b) {
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

typedef struct StringKey {
    const char *bytes;
    size_t len;
} StringKey;

static bool string_equal(const void *object, const void *key) {
    const InternedString *string = object;
    const StringKey *wanted = key;
    return string->len == wanted->len && memcmp(string->bytes, wanted->bytes, wanted->len) == 0;
}

const char *ir_intern_n(IrModule *m, const char *bytes, size_t len) {
    StringKey key = {bytes ? bytes : "", len};
    uint64_t hash = hash_bytes(1, key.bytes, len);
    const InternedString *found = intern_find(&m->interner->strings, hash, string_equal, &key);
    if (found) return found->bytes;
    InternedString *string = arena_alloc(&m->arena, sizeof *string + len + 1, 1); // zeroed
    string->len = len;
    memcpy(string->bytes, key.bytes, len);
    intern_add(&m->interner->strings, hash, string);
    return string->bytes;
}

const char *ir_interned(const IrModule *m, const char *str) {
    StringKey key = {str, strlen(str)};
    const InternedString *found =
        intern_find(&m->interner->strings, hash_bytes(1, str, key.len), string_equal, &key);
    return found ? found->bytes : NULL;
}

InternedString *ir_interned_header(const char *interned) {
    return (InternedString *)(void *)(uintptr_t)(interned - offsetof(InternedString, bytes));
}

const char *ir_intern(IrModule *m, const char *str) {
    return ir_intern_n(m, str, strlen(str));
}
