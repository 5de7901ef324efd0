// Inside of the chat templates: tokens, the tree, values, and the functions shared by the files
// template_*.c.
#ifndef INGOT_TEXT_TEMPLATE_INTERNAL_H
#define INGOT_TEXT_TEMPLATE_INTERNAL_H

#include "base/utf8.h"
#include "text/template.h"

// ---------------------------------------------------------------- tokens

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_DATA,
    TOKEN_VARIABLE_BEGIN,
    TOKEN_VARIABLE_END,
    TOKEN_BLOCK_BEGIN,
    TOKEN_BLOCK_END,
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_INTEGER,
    TOKEN_REAL,
    TOKEN_OPERATOR,
} TokenKind;

typedef struct Token {
    TokenKind kind;
    uint32_t line, col;
    const char *text; // NUL-terminated: data, name, operator, decoded string
    size_t len;
    int64_t i;
    double f;
} Token;

typedef struct TokenList {
    Token *tokens; // the last is TOKEN_END
    size_t count, capacity;
} TokenList;

// ---------------------------------------------------------------- the tree

typedef enum NodeKind {
    // expressions
    NODE_CONST,   // value
    NODE_NAME,    // name
    NODE_LIST,    // list
    NODE_TUPLE,   // list
    NODE_DICT,    // list: keys and values by turns
    NODE_NEGATE,  // a
    NODE_PLUS,    // a
    NODE_NOT,     // a
    NODE_AND,     // a b
    NODE_OR,      // a b
    NODE_BINARY,  // a op b
    NODE_COMPARE, // a, list of operands with op
    NODE_CONCAT,  // list
    NODE_CHOICE,  // a if b else c (c may be NULL)
    NODE_ATTR,    // a.name
    NODE_ITEM,    // a[b]
    NODE_SLICE,   // a[b:c:d], each may be NULL; a NODE_ITEM's b
    NODE_CALL,    // a(list)
    NODE_FILTER,  // a | op(list)
    NODE_TEST,    // a is op(list)
    // statements
    NODE_TEXT,         // value
    NODE_PRINT,        // a
    NODE_IF,           // list of NODE_BRANCH
    NODE_BRANCH,       // a (NULL: else), list
    NODE_FOR,          // target a, iterable b, condition c (or NULL), list, other: else
    NODE_SET,          // target a = b
    NODE_SET_BLOCK,    // target a, filter b (around a NODE_CONST placeholder, or NULL), list
    NODE_MACRO,        // name, other: parameters (NODE_NAME, default in a), list
    NODE_CALL_BLOCK,   // call a, other: parameters, list
    NODE_FILTER_BLOCK, // filter b, list
    NODE_SCOPE,        // list: generation
    NODE_WITH,         // other: targets with value in a, list
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_ATTR_TARGET, // namespace name, attribute attr: target of NODE_SET
} NodeKind;

typedef enum Operator {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_FLOORDIV,
    OP_MOD,
    OP_POW,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_IN,
    OP_NOT_IN,
} Operator;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    uint32_t line, col;
    int op;              // Operator, or number of a filter or test
    uint32_t height;     // of the expression below, bounded by TEMPLATE_MAX_DEPTH
    const char *name;    // interned: equal names are one pointer
    const char *attr;    // interned
    const char *keyword; // of an argument given by name, interned, else NULL
    TemplateValue value;
    Node *a, *b, *c, *d;
    Node *list, *other;
    Node *next; // in the list it is part of
};

typedef struct TemplateName {
    const char *text; // NULL: a free slot
    bool is_bound;    // the template gives it a value somewhere
} TemplateName;

struct Template {
    Arena arena; // the tree and all names
    const char *name, *source;
    TemplateName *names; // hash of all names, a power of two of slots
    size_t num_names, names_capacity;
    Node *body;
};

// A name as the one pointer that stands for it.
const char *template_intern(Template *parsed, const char *text, size_t len);

// A diagnostic at a place of the template.
Status template_error(const Template *parsed, DiagSink *sink, DiagCode code, uint32_t line,
                      uint32_t col, const char *fmt, ...) PRINTF_LIKE(6, 7) MUST_USE;

Status template_lex(Template *parsed, DiagSink *sink, TokenList *tokens) MUST_USE;

typedef struct Parser {
    Template *parsed;
    DiagSink *sink;
    const Token *tokens;
    size_t pos, depth, loop_depth, macro_depth;
    Node *calls; // NODE_NAME of called names, to be checked at the end
} Parser;

// template_expr.c
Status template_parse_expression(Parser *parser, bool with_choice, Node **out) MUST_USE;
// One or more expressions with commas: a NODE_TUPLE if there is a comma.
Status template_parse_tuple(Parser *parser, bool with_choice, const char *end_name,
                            Node **out) MUST_USE;
Status template_parse_target(Parser *parser, Node **out) MUST_USE;
// `| name(args) | ...` around `inner`; starts_inline: without the first bar.
Status template_parse_filters(Parser *parser, Node *inner, bool starts_inline, Node **out) MUST_USE;
// template_parse.c
Node *template_node(Parser *parser, NodeKind kind, const Token *at);
Status template_expect(Parser *parser, TokenKind kind, const char *text) MUST_USE;
bool template_at(const Parser *parser, TokenKind kind, const char *text);
bool template_skip(Parser *parser, TokenKind kind, const char *text);
Status template_syntax(Parser *parser, const Token *at, const char *fmt, ...)
    PRINTF_LIKE(3, 4) MUST_USE;
void template_bind(Parser *parser, const char *name);

// ---------------------------------------------------------------- values

struct TemplateString {
    const char *text;
    const uint8_t *marks; // per byte: 1 from the user, 0 from the template; NULL: all 0
    size_t len;
    bool
        is_safe; // result of the filter `safe`: + escapes for HTML what is added to it, as in Jinja
};

struct TemplateList {
    TemplateValue *items;
    size_t count, capacity;
};

typedef struct TemplateEntry {
    TemplateValue key, value;
} TemplateEntry;

struct TemplateDict {
    TemplateEntry *entries;
    size_t count, capacity;
};

typedef struct Variable {
    const char *name; // interned
    TemplateValue value;
} Variable;

typedef struct Scope {
    struct Scope *parent;
    Variable *variables;
    size_t count, capacity;
} Scope;

typedef struct TemplateLoop {
    const TemplateList *items;
    size_t index;
    TemplateValue changed; // last value given to loop.changed()
    bool has_changed;
} TemplateLoop;

typedef struct TemplateMacro {
    const Node *node; // NODE_MACRO or NODE_CALL_BLOCK
    Scope *scope;     // where it was defined
} TemplateMacro;

typedef struct TemplateMethod {
    TemplateValue self;
    int index; // number in template.def
} TemplateMethod;

// Text under construction, with marks.
typedef struct TextBuilder {
    StrBuf text, marks;
} TextBuilder;

typedef struct Render {
    const Template *parsed;
    DiagSink *sink;
    Arena arena;
    const struct tm *now;
    const Node *at;                      // what is being done, for messages
    const char *loop_name, *caller_name; // interned
    TextBuilder *output;
    uint64_t num_steps;
    size_t depth;
    bool is_breaking, is_continuing;
} Render;

// Arguments of a call; names[i] is NULL for those given by position, which come first.
typedef struct Args {
    TemplateValue *values;
    const char **names;
    size_t count;
} Args;

// An error at the place being rendered: T0023.
Status render_error(Render *render, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_USE;
// Counts work; T0022 if there was too much of it, or of memory.
Status render_step(Render *render, size_t work) MUST_USE;

static inline TemplateValue value_undefined(const char *name) {
    return (TemplateValue){.kind = TEMPLATE_UNDEFINED, .name = name};
}
static inline TemplateValue value_none(void) {
    return (TemplateValue){.kind = TEMPLATE_NONE};
}
static inline TemplateValue value_bool(bool b) {
    return (TemplateValue){.kind = TEMPLATE_BOOL, .b = b};
}
static inline TemplateValue value_int(int64_t i) {
    return (TemplateValue){.kind = TEMPLATE_INT, .i = i};
}
static inline TemplateValue value_float(double f) {
    return (TemplateValue){.kind = TEMPLATE_FLOAT, .f = f};
}

// template_value.c
TemplateValue value_slice_text(Arena *arena, const TemplateString *str, size_t start, size_t len);
TemplateValue value_text(Arena *arena, const char *text); // of the template
TemplateValue value_with_safety(Arena *arena, TemplateValue string, bool is_safe);
bool value_is_list(TemplateValue value); // list or tuple
bool value_is_true(TemplateValue value);
bool value_is_number(TemplateValue value, double *out);   // bool, int, float
bool value_is_integer(TemplateValue value, int64_t *out); // bool, int
bool value_equal(TemplateValue a, TemplateValue b, size_t depth);
bool value_order(TemplateValue a, TemplateValue b, int *out_order); // false: cannot be compared
const char *value_kind_name(TemplateValue value);
const TemplateValue *dict_find(const TemplateDict *dict, TemplateValue key);
const TemplateValue *dict_find_text(const TemplateDict *dict, const char *key);
bool string_is(const TemplateString *str, const char *text);
void builder_put(TextBuilder *builder, const char *text, size_t len, uint8_t mark);
void builder_put_string(TextBuilder *builder, const TemplateString *str, size_t start, size_t len);
TemplateValue builder_take(Arena *arena, TextBuilder *builder); // and empties it
void builder_deinit(TextBuilder *builder);
// str(value) and repr(value) of Python.
Status value_print(Render *render, TemplateValue value, TextBuilder *builder) MUST_USE;
Status value_to_string(Render *render, TemplateValue value, const TemplateString **out) MUST_USE;
void float_repr(double f, StrBuf *out);
// The elements to loop over: a list's items, a dict's keys, a string's characters.
Status value_elements(Render *render, TemplateValue value, TemplateList **out) MUST_USE;
TemplateList *list_create(Render *render);
Status list_push(Render *render, TemplateList *list, TemplateValue item) MUST_USE;
static inline TemplateValue value_list(TemplateList *list) {
    return (TemplateValue){.kind = TEMPLATE_LIST, .list = list};
}

// template_eval.c
Status template_eval(Render *render, Scope *scope, const Node *node, TemplateValue *out) MUST_USE;
Status template_call(Render *render, TemplateValue callee, const Args *args,
                     TemplateValue *out) MUST_USE;
TemplateValue value_attr(Render *render, TemplateValue object, const char *name);
Status value_item(Render *render, TemplateValue object, TemplateValue key,
                  TemplateValue *out) MUST_USE;
Status value_compare(Render *render, Operator op, TemplateValue a, TemplateValue b,
                     bool *out) MUST_USE;
Status eval_args(Render *render, Scope *scope, const Node *list, Args *out) MUST_USE;
// template_exec.c
Status template_exec(Render *render, Scope *scope, const Node *list) MUST_USE;
Status template_call_macro(Render *render, const TemplateMacro *macro, const Args *args,
                           TemplateValue *out) MUST_USE;
Scope *scope_create(Render *render, Scope *parent);
void scope_set(Render *render, Scope *scope, const char *name, TemplateValue value);
Status template_assign(Render *render, Scope *scope, const Node *target,
                       TemplateValue value) MUST_USE;

// The tables of template.def.
typedef Status TemplateFilter(Render *render, TemplateValue value, const Args *args,
                              TemplateValue *out);
typedef Status TemplateTest(Render *render, TemplateValue value, const Args *args, bool *out);
int template_find_filter(const char *name); // -1 if there is none
int template_find_test(const char *name);
int template_find_method(const char *name);
int template_find_function(const char *name);
bool template_is_changer(const char *name);
const char *template_nearest_filter(const char *name);
const char *template_nearest_test(const char *name);
const char *template_nearest_method(const char *name);
bool template_method_fits(int method, TemplateKind kind);
Status template_apply_filter(Render *render, int filter, TemplateValue value, const Args *args,
                             TemplateValue *out) MUST_USE;
Status template_apply_test(Render *render, int test, TemplateValue value, const Args *args,
                           bool *out) MUST_USE;
Status template_apply_method(Render *render, const TemplateMethod *method, const Args *args,
                             TemplateValue *out) MUST_USE;
Status template_apply_function(Render *render, int function, const Args *args,
                               TemplateValue *out) MUST_USE;

// template_args.c: argument `index`, also known by name; *out is left as it is if it was not given.
Status args_check(Render *render, const Args *args, const char *what, size_t min, size_t max,
                  const char *const *names) MUST_USE;
bool args_find(const Args *args, size_t index, const char *name, TemplateValue *out);
Status args_string(Render *render, const Args *args, size_t index, const char *name,
                   const TemplateString **out) MUST_USE;
Status args_int(Render *render, const Args *args, size_t index, const char *name,
                int64_t *out) MUST_USE;

// template_string.c: operations on strings that keep the marks.
typedef enum StripSide { STRIP_LEFT = 1, STRIP_RIGHT = 2, STRIP_BOTH = 3 } StripSide;
bool char_is_space(uint32_t code_point); // as Python's str.isspace
TemplateValue string_strip(Render *render, const TemplateString *str, const TemplateString *chars,
                           StripSide side);
Status string_replace(Render *render, const TemplateString *str, const TemplateString *old,
                      const TemplateString *new_text, int64_t limit, TemplateValue *out) MUST_USE;
Status string_split(Render *render, const TemplateString *str, const TemplateString *separator,
                    int64_t limit, bool from_right, TemplateList **out) MUST_USE;
typedef enum CaseChange { CASE_UPPER, CASE_LOWER, CASE_CAPITALIZE, CASE_TITLE } CaseChange;
TemplateValue string_change_case(Render *render, const TemplateString *str, CaseChange change);
// Byte offset of the first occurrence at or after start, or SIZE_MAX.
size_t string_find(const TemplateString *str, const TemplateString *part, size_t start);
size_t string_num_chars(const TemplateString *str);
Status value_to_json(Render *render, TemplateValue value, const Args *args,
                     TemplateValue *out) MUST_USE;

#endif
