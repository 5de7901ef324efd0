// The few things every file of Ingot uses: status codes, must-use results, bug reports,
// overflow-checked sizes.
#ifndef INGOT_BASE_BASE_H
#define INGOT_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_USE               __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NO_RETURN              __attribute__((noreturn))
#define ARRAY_LEN(a)           (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)              ((a) < (b) ? (a) : (b))
#define MAX(a, b)              ((a) > (b) ? (a) : (b))

// What a fallible function answers. Everything but STATUS_OK has left a diagnostic in the sink
// the function was given; the enumerators are the exit codes of the command line.
typedef enum Status {
    STATUS_OK = 0,
    STATUS_NO = 1,          // the check ran and the answer is "no"
    STATUS_USAGE = 2,       // wrong usage
    STATUS_INVALID = 3,     // recipe, model or request refused as invalid
    STATUS_LIMIT = 4,       // does not fit: memory bound, device limit
    STATUS_ENVIRONMENT = 5, // device missing, CPU lacks a feature
    STATUS_IO = 6,          // reading or writing failed
    STATUS_FAULT = 70,      // a check of ours found a fault of ours
} Status;

// Returns from the calling function unless the expression is STATUS_OK.
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        Status try_status_ = (expr);                                                               \
        if (try_status_ != STATUS_OK) return try_status_;                                          \
    } while (0)

// A fault of ours: prints the place and the message, then aborts. Bytes from outside must never
// reach a BUG: check them first and report a diagnostic.
#define BUG(...) base_bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_IF(cond, ...)                                                                          \
    do {                                                                                           \
        if (cond) BUG(__VA_ARGS__);                                                                \
    } while (0)
NO_RETURN void base_bug(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

// malloc/realloc that end the program (exit 4, U0010 on stderr, no temporary file left) when memory
// is exhausted.
// size is the product count * elem_size; an overflow of the product counts as exhaustion.
NO_RETURN void base_out_of_memory(size_t count, size_t elem_size);
void *base_alloc(size_t count, size_t elem_size) MUST_USE; // zero-filled
void *base_realloc(void *ptr, size_t count, size_t elem_size) MUST_USE;

// Between forbid and allow on a thread, base_alloc and base_realloc called on it are a BUG (not in
// builds with NDEBUG). Keeps allocation off the token path. Nestable.
void base_forbid_alloc(void);
void base_allow_alloc(void);

// *out = a * b, a + b; false on overflow.
static inline bool size_mul(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool size_add(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

// Makes room for one more element in a growable array {ptr, count, capacity}.
#define ARRAY_RESERVE(ptr, count, capacity)                                                        \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) ? (capacity)*2 : 8;                                            \
            (ptr) = base_realloc((ptr), (capacity), sizeof *(ptr));                                \
        }                                                                                          \
    } while (0)

// Sorts `count` items of `size` bytes in place, in the order of `compare` (as qsort, which unlike
// this must not be given the null pointer of an empty array).
void array_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
