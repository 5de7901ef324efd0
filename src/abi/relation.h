// Relations between sizes, as a recipe states them: "batch_size * kv_cache_seq_len <= 16384". A
// product of named sizes and whole numbers, and the most it may be. One grammar for the reader of
// recipes, the planner and the run time, which holds every call against them.
#ifndef INGOT_ABI_RELATION_H
#define INGOT_ABI_RELATION_H

#include "base/base.h"
#include "base/str.h"

enum {
    RELATION_MAX_NAMES = 4, // of one relation
    RELATION_MAX = 8,       // of a recipe
    RELATION_MAX_CHARS = 200,
};

typedef struct Relation {
    const char *names[RELATION_MAX_NAMES]; // not terminated; in the text that was parsed
    uint32_t lens[RELATION_MAX_NAMES];
    uint32_t num_names; // at least 1; a name may stand several times
    uint64_t factor;    // the product of its numbers
    uint64_t bound;     // 1 to 2^48
} Relation;

// A size of a call, or the most or least of its range.
typedef struct RelationSize {
    const char *name;
    uint64_t value;
} RelationSize;

// The names point into the text. False: it is no relation, and *out_wrong says what it lacks.
bool relation_parse(const char *text, Relation *out, const char **out_wrong);
bool relation_has(const Relation *relation, const char *name);
// Does every name of it stand among the sizes?
bool relation_is_about(const Relation *relation, const RelationSize *sizes, uint32_t num);
// The left side; UINT64_MAX if it is more than that. Sizes that are not given count as 1.
uint64_t relation_product(const Relation *relation, const RelationSize *sizes, uint32_t num);
// The largest value of sizes[which] under which the relation holds, the others as they are; at most
// `limit`, 0: none.
uint64_t relation_most(const Relation *relation, const RelationSize *sizes, uint32_t num,
                       uint32_t which, uint64_t limit);
// In one form, whatever blanks the text has.
void relation_put(const Relation *relation, StrBuf *out);

#endif
