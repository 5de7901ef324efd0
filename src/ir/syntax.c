// Templates, slots and enum keywords of the op syntax; see syntax.h and formats.def.
#include "ir/syntax.h"

#include <stdio.h>
#include <string.h>

typedef struct Format {
    const char *key, *pattern, *slots, *rules;
} Format;

static const Format formats[] = {
#define FORMAT(key, pattern, slots, rules) {key, pattern, slots, rules},
#include "ir/formats.def"
#undef FORMAT
};

static const struct {
    const char *name;
    SyntaxKind kind;
} directives[] = {
    {"fn", SYNTAX_FUNCTION},       {"arrow", SYNTAX_ARROW},
    {"vals", SYNTAX_VALUES},       {"sel", SYNTAX_SELECT},
    {"fm", SYNTAX_FASTMATH},       {"ovf", SYNTAX_OVERFLOW},
    {"flag", SYNTAX_FLAG},         {"enum", SYNTAX_ENUM},
    {"qenum", SYNTAX_QUOTED_ENUM}, {"opt", SYNTAX_OPTIONAL_ENUM},
    {"word", SYNTAX_WORD},         {"int", SYNTAX_INT},
    {"str", SYNTAX_STRING},        {"sym", SYNTAX_SYMBOL},
    {"type", SYNTAX_TYPE_ATTR},    {"attr", SYNTAX_ATTR},
    {"ints", SYNTAX_INTS},         {"optints", SYNTAX_OPTIONAL_INTS},
    {"dyn", SYNTAX_DYNAMIC},       {"reassoc", SYNTAX_REASSOCIATION},
    {"region", SYNTAX_REGION},     {"padding", SYNTAX_PADDING},
    {"call", SYNTAX_CALL},         {"map", SYNTAX_MAP},
    {"r", SYNTAX_RESULT},
};

static size_t read_word(const char *at, char *out_word) {
    size_t len = strcspn(at, " }");
    BUG_IF(len >= MAX_SYNTAX_WORD, "long word in a format: %s", at);
    memcpy(out_word, at, len);
    out_word[len] = 0;
    return len;
}

static void read_directive(const char **at, SyntaxItem *item) {
    char name[MAX_SYNTAX_WORD];
    *at += read_word(*at, name);
    for (int i = 0; **at == ' '; i++) {
        (*at)++;
        BUG_IF(i == MAX_SYNTAX_WORDS, "too many words in a format");
        *at += read_word(*at, item->words[i]);
    }
    (*at)++; // }
    if (name[0] == 0) {
        item->kind = SYNTAX_DICT;
        return;
    }
    if (name[0] == 't' && (name[2] == 0 || name[2] == '*') && name[1]) {
        item->kind = SYNTAX_TYPE;
        item->slot = name[1];
        item->mode = name[2];
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(directives); i++) {
        if (!str_equal(directives[i].name, name)) continue;
        item->kind = directives[i].kind;
        return;
    }
    BUG("unknown directive %s", name);
}

bool syntax_next(const char **at, SyntaxItem *out_item) {
    memset(out_item, 0, sizeof *out_item);
    const char *p = *at;
    if (*p == 0) return false;
    if (*p == '%') {
        out_item->kind = SYNTAX_OPERAND;
        out_item->slot = p[1];
        if (p[2] == '*' || p[2] == '?') out_item->mode = p[2];
        *at = p + (out_item->mode ? 3 : 2);
    } else if (p[0] == '$' && p[1] == '{') {
        *at = p + 2;
        read_directive(at, out_item);
    } else {
        out_item->kind = SYNTAX_TEXT;
        out_item->text = p;
        while (*p && *p != '%' && !(p[0] == '$' && p[1] == '{')) p++;
        out_item->len = (size_t)(p - out_item->text);
        *at = p;
    }
    return true;
}

void syntax_of(IrOpKind kind, Syntax *out_syntax) {
    const char *key = ir_op_info(kind)->format;
    const Format *format = NULL;
    for (size_t i = 0; i < ARRAY_LEN(formats) && !format; i++)
        if (str_equal(formats[i].key, key)) format = &formats[i];
    BUG_IF(!format, "no format %s", key);
    *out_syntax = (Syntax){.key = key, .pattern = format->pattern, .rules = format->rules};
    out_syntax->is_custom = format->pattern[0] == 0 && !str_equal(key, "generic_form");
    uint32_t segment = 0, place = 0;
    for (const char *at = format->slots; *at; at++) {
        if (*at == '|') {
            segment++;
            place = 0;
            continue;
        }
        SyntaxSlot *slot = &out_syntax->slots[out_syntax->num_slots++];
        *slot = (SyntaxSlot){.name = *at, .segment = segment, .place = place++};
        if (at[1] == '*' || at[1] == '?') slot->mode = *++at;
    }
}

const SyntaxSlot *syntax_slot(const Syntax *syntax, char name) {
    for (uint32_t i = 0; i < syntax->num_slots; i++)
        if (syntax->slots[i].name == name) return &syntax->slots[i];
    BUG("format %s has no slot %c", syntax->key, name);
}

bool syntax_prints_attr(const Syntax *syntax, const char *attr_name) {
    SyntaxItem item;
    for (const char *at = syntax->pattern; syntax_next(&at, &item);) {
        if (item.kind < SYNTAX_FASTMATH) continue;
        bool slot_first = item.kind == SYNTAX_DYNAMIC;
        if (str_equal(item.words[slot_first ? 1 : 0], attr_name)) return true;
    }
    return false;
}

// ---------------------------------------------------------------- enums

static const char *const int_predicates[] = {"eq",  "ne",  "slt", "sle", "sgt", "sge",
                                             "ult", "ule", "ugt", "uge", NULL};
static const char *const float_predicates[] = {"false", "oeq", "ogt", "oge",  "olt", "ole",
                                               "one",   "ord", "ueq", "ugt",  "uge", "ult",
                                               "ule",   "une", "uno", "true", NULL};
static const char *const llvm_float_predicates[] = {"_false", "oeq", "ogt", "oge",   "olt", "ole",
                                                    "one",    "ord", "ueq", "ugt",   "uge", "ult",
                                                    "ule",    "une", "uno", "_true", NULL};
static const char *const combining_kinds[] = {"add",   "mul",      "minui",    "minsi", "minnumf",
                                              "maxui", "maxsi",    "maxnumf",  "and",   "or",
                                              "xor",   "maximumf", "minimumf", NULL};
static const char *const iterator_names[] = {"parallel", "reduction", NULL};
static const char *const type_functions[] = {"cast_signed", "cast_unsigned", NULL};
static const char *const linkages[] = {"external", "internal", "private", NULL};
static const char *const visibilities[] = {"public", "private", NULL};
static const char *const rounding_modes[] = {"to_nearest_even", NULL};
// Numbers 0 to 7 are the bits inboundsFlag, nusw (inbounds has both), nuw.
static const char *const gep_flags[] = {"none", "inboundsFlag", "nusw",         "inbounds", "nuw",
                                        "",     "nusw|nuw",     "inbounds|nuw", NULL};
static const char *const overflow_numbers[] = {"none", "nsw", "nuw", "nsw, nuw", NULL};

typedef struct EnumInfo {
    const char *attr, *dialect; // dialect of the op, "" = any
    const char *prefix;         // #prefix<keyword> in a dictionary, NULL if plain
    const char *const *keywords;
    bool is_numbered; // the generic form writes the position in keywords
} EnumInfo;

static const EnumInfo enums[] = {
    {"predicate", "arith.cmpi", NULL, int_predicates, true},
    {"predicate", "arith.cmpf", NULL, float_predicates, true},
    {"predicate", "llvm.icmp", NULL, int_predicates, true},
    {"predicate", "llvm.fcmp", NULL, llvm_float_predicates, true},
    {"overflowFlags", "llvm.", NULL, overflow_numbers, true},
    {"noWrapFlags", "llvm.", NULL, gep_flags, true},
    {"fastmath", "", "arith.fastmath", NULL, false},
    {"fastmathFlags", "llvm.", "llvm.fastmath", NULL, false},
    {"overflowFlags", "arith.", "arith.overflow", NULL, false},
    {"kind", "vector.", "vector.kind", combining_kinds, false},
    {"cast", "linalg.", "linalg.type_fn", type_functions, false},
    {"iterator_types", "linalg.", "linalg.iterator_type", iterator_names, false},
    {"iterator_types", "vector.", "vector.iterator_type", iterator_names, false},
    {"linkage", "llvm.", "llvm.linkage", linkages, false},
    {"sym_visibility", "", NULL, visibilities, false},
    {"roundingmode", "arith.", NULL, rounding_modes, true},
};

static const EnumInfo *find_enum(IrOpKind kind, const char *attr_name) {
    for (size_t i = 0; i < ARRAY_LEN(enums); i++) {
        if (str_equal(enums[i].attr, attr_name) &&
            str_has_prefix(ir_op_info(kind)->name, enums[i].dialect))
            return &enums[i];
    }
    return NULL;
}

const char *syntax_enum_prefix(IrOpKind kind, const char *attr_name) {
    const EnumInfo *info = find_enum(kind, attr_name);
    return info ? info->prefix : NULL;
}

const char *syntax_enum_keyword(IrOpKind kind, const char *attr_name, int64_t number) {
    const EnumInfo *info = find_enum(kind, attr_name);
    if (!info || !info->is_numbered || number < 0) return NULL;
    for (int64_t i = 0; info->keywords[i]; i++)
        if (i == number) return info->keywords[i];
    return NULL;
}

int64_t syntax_enum_number(IrOpKind kind, const char *attr_name, const char *keyword) {
    const EnumInfo *info = find_enum(kind, attr_name);
    if (!info || !info->is_numbered) return -1;
    for (int64_t i = 0; info->keywords[i]; i++)
        if (str_equal(info->keywords[i], keyword)) return i;
    return -1;
}

const char *const *syntax_enum_keywords(IrOpKind kind, const char *attr_name) {
    const EnumInfo *info = find_enum(kind, attr_name);
    return info ? info->keywords : NULL;
}

bool syntax_enum_known(IrOpKind kind, const char *attr_name, const char *keyword) {
    const EnumInfo *info = find_enum(kind, attr_name);
    if (!info || !info->keywords) return true;
    for (size_t i = 0; info->keywords[i]; i++)
        if (info->keywords[i][0] && str_equal(info->keywords[i], keyword)) return true;
    return false;
}

const char *const syntax_fastmath_flags[] = {"reassoc", "nnan",     "ninf", "nsz",
                                             "arcp",    "contract", "afn",  NULL};
const char *const syntax_overflow_flags[] = {"nsw", "nuw", NULL};

static size_t count_flags(const char *const *flags) {
    size_t n = 0;
    while (flags[n]) n++;
    return n;
}

static bool parse_flags(const char *const *flags, const char *text, unsigned *out_bits) {
    unsigned all = (1u << count_flags(flags)) - 1, bits = 0;
    while (*text) {
        text += strspn(text, " ,");
        size_t len = strcspn(text, " ,");
        if (len == 0) break;
        bool known = len == 4 && strncmp(text, "none", 4) == 0;
        if (len == 4 && strncmp(text, "fast", 4) == 0 && flags == syntax_fastmath_flags) {
            bits = all;
            known = true;
        }
        for (size_t i = 0; flags[i] && !known; i++) {
            if (strlen(flags[i]) != len || strncmp(flags[i], text, len) != 0) continue;
            bits |= 1u << i;
            known = true;
        }
        if (!known) return false;
        text += len;
    }
    *out_bits = bits;
    return true;
}

bool syntax_flags(const char *const *flags, const char *text, const char *separator, char *buf,
                  size_t buf_len) {
    unsigned bits;
    if (!parse_flags(flags, text, &bits)) return false;
    if (flags == syntax_fastmath_flags && bits == (1u << count_flags(flags)) - 1) {
        snprintf(buf, buf_len, "fast");
        return true;
    }
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; flags[i]; i++) {
        if (!(bits >> i & 1)) continue;
        int n = snprintf(buf + used, buf_len - used, "%s%s", used ? separator : "", flags[i]);
        BUG_IF(n < 0 || (size_t)n >= buf_len - used, "flag list too long");
        used += (size_t)n;
    }
    return true;
}
