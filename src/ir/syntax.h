// Reading the templates of formats.def. Private to printer and parser.
#ifndef INGOT_IR_SYNTAX_H
#define INGOT_IR_SYNTAX_H

#include "ir/ir.h"

typedef enum SyntaxKind {
    SYNTAX_END,
    SYNTAX_TEXT,    // text as it stands
    SYNTAX_OPERAND, // slot, mode
    // directives, in the order of the comment in formats.def
    SYNTAX_DICT,
    SYNTAX_TYPE,
    SYNTAX_RESULT,
    SYNTAX_FUNCTION,
    SYNTAX_ARROW,
    SYNTAX_VALUES,
    SYNTAX_SELECT,
    SYNTAX_FASTMATH,
    SYNTAX_OVERFLOW,
    SYNTAX_FLAG,
    SYNTAX_ENUM,
    SYNTAX_QUOTED_ENUM,
    SYNTAX_OPTIONAL_ENUM,
    SYNTAX_WORD,
    SYNTAX_INT,
    SYNTAX_STRING,
    SYNTAX_SYMBOL,
    SYNTAX_TYPE_ATTR,
    SYNTAX_ATTR,
    SYNTAX_INTS,
    SYNTAX_OPTIONAL_INTS,
    SYNTAX_DYNAMIC,
    SYNTAX_REASSOCIATION,
    SYNTAX_REGION,
    SYNTAX_PADDING,
    SYNTAX_CALL,
    SYNTAX_MAP,
} SyntaxKind;

enum { MAX_SYNTAX_WORDS = 4, MAX_SYNTAX_WORD = 24, MAX_SLOTS = 8 };

typedef struct SyntaxItem {
    SyntaxKind kind;
    const char *text; // TEXT
    size_t len;
    char slot;                                     // OPERAND, TYPE
    char mode;                                     // of the slot as written here: 0, '*' or '?'
    char words[MAX_SYNTAX_WORDS][MAX_SYNTAX_WORD]; // the words after the directive's name
} SyntaxItem;

// The next item of the template; advances *at. False at the end.
bool syntax_next(const char **at, SyntaxItem *out_item);

typedef struct SyntaxSlot {
    char name;
    char mode;               // 0 one operand, '*' list, '?' optional
    uint32_t segment, place; // place: number of single operands before it in the segment
} SyntaxSlot;

typedef struct Syntax {
    const char *key, *pattern, *rules;
    SyntaxSlot slots[MAX_SLOTS];
    uint32_t num_slots;
    bool is_custom; // no template: hand-written
} Syntax;

void syntax_of(IrOpKind kind, Syntax *out_syntax);
const SyntaxSlot *syntax_slot(const Syntax *syntax, char name);
// Does the template print this attribute itself (so that the dictionary leaves it out)?
bool syntax_prints_attr(const Syntax *syntax, const char *attr_name);

// Enum attributes whose keyword the generic form (or a dictionary) spells #dialect.name<keyword>;
// NULL if the attribute is none.
const char *syntax_enum_prefix(IrOpKind kind, const char *attr_name);
// Enums that the generic form writes as a number: the keyword of a number and back (-1 if unknown).
const char *syntax_enum_keyword(IrOpKind kind, const char *attr_name, int64_t number);
int64_t syntax_enum_number(IrOpKind kind, const char *attr_name, const char *keyword);
// Is keyword one that the attribute knows? True for attributes that are no enums.
bool syntax_enum_known(IrOpKind kind, const char *attr_name, const char *keyword);
// All keywords of an enum attribute, NULL-terminated; NULL if it is no enum with a fixed list.
const char *const *syntax_enum_keywords(IrOpKind kind, const char *attr_name);

// The name of a reduction of affine.parallel ("addf") by its number, NULL if unknown.
const char *affine_reduction_name(int64_t number);

// Has the value of an inherent attribute the kind that its name calls for (maps, numbers, ...)?
bool syntax_attr_fits(const char *name, const IrAttr *attr);

// Flag lists ("reassoc,contract"): brought into canonical order, joined by separator, into buf;
// false for an unknown flag. "none" gives "".
bool syntax_flags(const char *const *flags, const char *text, const char *separator, char *buf,
                  size_t buf_len);
extern const char *const syntax_fastmath_flags[];
extern const char *const syntax_overflow_flags[];

#endif
