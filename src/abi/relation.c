// Relations between sizes; see relation.h.
#include "abi/relation.h"

#include <string.h>

static const uint64_t MAX_BOUND = (uint64_t)1 << 48;
static const char digits[] = "0123456789";
static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.0123456789";

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " ");
}

// A whole number from 1 to MAX_BOUND; false: it is none.
static bool read_number(const char **at, uint64_t *out) {
    size_t len = strspn(*at, digits);
    uint64_t value = 0;
    if (len == 0 || len > 15) return false;
    for (size_t i = 0; i < len; i++) value = value * 10 + (uint64_t)((*at)[i] - '0');
    *at += len;
    *out = value;
    return value >= 1 && value <= MAX_BOUND && !strchr(name_chars, **at ? **at : ' ');
}

static const char *read_factor(const char **at, Relation *out) {
    size_t len = strspn(*at, name_chars);
    if (len == 0) return "the name of a size, or a number, must stand on both sides of each *";
    if (strchr(digits, **at)) {
        uint64_t number;
        bool fits = read_number(at, &number) && size_mul(out->factor, number, &out->factor) &&
                    out->factor <= MAX_BOUND;
        return fits ? NULL : "a factor is a whole number from 1 to 2^48";
    }
    if (out->num_names == RELATION_MAX_NAMES) return "it has more than 4 sizes";
    out->names[out->num_names] = *at;
    out->lens[out->num_names++] = (uint32_t)len;
    *at += len;
    return NULL;
}

bool relation_parse(const char *text, Relation *out, const char **out_wrong) {
    const char *at = skip_blanks(text), *wrong = NULL;
    *out = (Relation){.factor = 1};
    if (strlen(text) > RELATION_MAX_CHARS) wrong = "it is too long";
    while (!wrong && !(wrong = read_factor(&at, out))) {
        at = skip_blanks(at);
        if (*at != '*') break;
        at = skip_blanks(at + 1);
    }
    if (!wrong && strncmp(at, "<=", 2) != 0) wrong = "<= must follow the product";
    if (!wrong) at = skip_blanks(at + 2);
    if (!wrong && !read_number(&at, &out->bound))
        wrong = "what follows <= is a whole number from 1 to 2^48";
    if (!wrong && *skip_blanks(at)) wrong = "nothing follows the number";
    if (!wrong && out->num_names == 0) wrong = "it names no size";
    *out_wrong = wrong;
    return !wrong;
}

static bool is_name(const Relation *relation, uint32_t i, const char *name) {
    return strlen(name) == relation->lens[i] &&
           memcmp(name, relation->names[i], relation->lens[i]) == 0;
}

bool relation_has(const Relation *relation, const char *name) {
    for (uint32_t i = 0; i < relation->num_names; i++)
        if (is_name(relation, i, name)) return true;
    return false;
}

bool relation_is_about(const Relation *relation, const RelationSize *sizes, uint32_t num) {
    for (uint32_t i = 0; i < relation->num_names; i++) {
        bool is_there = false;
        for (uint32_t k = 0; k < num; k++) is_there |= is_name(relation, i, sizes[k].name);
        if (!is_there) return false;
    }
    return true;
}

uint64_t relation_product(const Relation *relation, const RelationSize *sizes, uint32_t num) {
    uint64_t product = relation->factor;
    for (uint32_t i = 0; i < relation->num_names; i++)
        for (uint32_t k = 0; k < num; k++)
            if (is_name(relation, i, sizes[k].name) && !size_mul(product, sizes[k].value, &product))
                return UINT64_MAX;
    return product;
}

uint64_t relation_most(const Relation *relation, const RelationSize *sizes, uint32_t num,
                       uint32_t which, uint64_t limit) {
    uint64_t low = 0, high = limit;
    while (low < high) { // a product grows with each of its sizes
        uint64_t middle = low + (high - low + 1) / 2;
        uint64_t product = relation->factor;
        bool fits = true;
        for (uint32_t i = 0; i < relation->num_names && fits; i++)
            for (uint32_t k = 0; k < num && fits; k++)
                if (is_name(relation, i, sizes[k].name))
                    fits = size_mul(product, k == which ? middle : sizes[k].value, &product);
        if (fits && product <= relation->bound)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void relation_put(const Relation *relation, StrBuf *out) {
    if (relation->factor != 1) strbuf_printf(out, "%llu * ", (unsigned long long)relation->factor);
    for (uint32_t i = 0; i < relation->num_names; i++)
        strbuf_printf(out, "%s%.*s", i ? " * " : "", (int)relation->lens[i], relation->names[i]);
    strbuf_printf(out, " <= %llu", (unsigned long long)relation->bound);
}
