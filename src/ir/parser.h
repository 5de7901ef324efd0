// The parser's inner parts, shared by parse*.c only.
#ifndef INGOT_IR_PARSER_H
#define INGOT_IR_PARSER_H

#include "ir/intern.h"
#include "ir/lexer.h"
#include "ir/parse.h"
#include "ir/syntax.h"

enum {
    MAX_DEPTH = 128,         // nesting of regions, types, attributes, expressions, locations
    MAX_RANK = 16,           // dimensions of a shaped type
    MAX_AFFINE_NODES = 512,  // operators in one affine expression
    MAX_AFFINE_DIMS = 64,    // dims or symbols of one map
    MAX_FORWARD_USES = 1024, // results of one op that are used before it
    MAX_OP_ATTRS = 128,      // attributes of one op
    MAX_EXPANDED = 16 << 20, // nodes that uses of aliases may stand for, see add_alias
};

// A part of one of the parser's stacks.
typedef struct Slice {
    uint32_t start, count;
} Slice;

// A use of a value: %name or %name#number.
typedef struct OperandUse {
    Token token;
    uint32_t number;
} OperandUse;

typedef struct ForwardUse {
    struct ForwardUse *next;
    IrValue *placeholder;
    OperandUse use;
} ForwardUse;

typedef struct NameEntry {
    const char *name;
    uint32_t len;
    uint64_t hash;
    bool is_defined;
    IrValue *values; // results of one op, side by side; or one block argument
    uint32_t num_values;
    ForwardUse *forwards;
    uint32_t num_forwards;
    IrBlock *block; // of a block label
    Token token;    // first mention
    // of an alias
    const IrAttr *attr;
    const IrType *type;
    const IrLoc *loc;
    uint64_t weight;
    uint32_t depth;
} NameEntry;

typedef struct NameTable {
    NameEntry *entries;
    uint32_t count, capacity;
    uint32_t *slots; // entry + 1, 0 = free
    uint32_t num_slots;
} NameTable;

NameEntry *name_find(NameTable *table, const char *name, size_t len);
NameEntry *name_get(NameTable *table, const char *name, size_t len); // adds if absent
void name_table_deinit(NameTable *table);

// Values visible inside one isolated op.
typedef struct Scope {
    struct Scope *outer;
    NameTable names;
    uint32_t *defined; // entries in order of definition; a region's end drops its own
    uint32_t num_defined, defined_capacity;
    uint32_t num_forwards;
} Scope;

typedef struct PendingLoc {
    IrOp *op;
    Token alias;
} PendingLoc;

// A number of a dense list, converted once its type is known.
typedef struct DenseItem {
    Token token;
    bool is_negative;
} DenseItem;

typedef struct Parser {
    IrModule *m;
    DiagSink *sink;
    const char *file, *text;
    size_t len;
    Lexer lexer;
    Token tok; // the next token
    uint32_t depth, deepest;
    uint64_t weight;   // types, attributes, locations so far, aliases written out
    uint64_t expanded; // the part of it that aliases stood for
    Scope *scope;
    NameTable blocks; // labels of the region being parsed; see parse_region
    NameTable attr_aliases, type_aliases;
    // Stacks: an op's part is popped when it is done.
    OperandUse *uses;
    uint32_t num_uses, uses_capacity;
    const IrType **types;
    uint32_t num_types, types_capacity;
    IrNamedAttr *attrs;
    uint32_t num_attrs, attrs_capacity;
    IrValue **values;
    uint32_t num_values, values_capacity;
    DenseItem *dense;
    uint32_t num_dense, dense_capacity;
    PendingLoc *pending_locs;
    uint32_t num_pending_locs, pending_locs_capacity;
    bool keeps_argument_names; // IrParseOptions
    bool in_llvm_type;         // inside !llvm.<...>: ptr, struct, array without their prefix
} Parser;

// An op while it is read.
typedef struct OpState {
    IrOpKind kind;
    Token token; // the op's name
    Syntax syntax;
    Slice uses[MAX_SLOTS];  // by position of the slot
    Slice types[MAX_SLOTS]; // empty: by rule
    bool has_types[MAX_SLOTS];
    Slice results; // types
    uint32_t first_attr;
    IrRegion regions[2];
    IrRegion *many_regions; // instead of regions, if not NULL
    uint32_t num_regions;
    IrBlock *successors[2];
    uint32_t num_successors;
} OpState;

// ---- errors and tokens (parse.c)
Status parse_error(Parser *p, DiagCode code, const Token *at, const char *fmt, ...)
    PRINTF_LIKE(4, 5) MUST_USE;
void advance(Parser *p);
static inline bool at_char(const Parser *p, char c) {
    return p->tok.kind == TOKEN_CHAR && p->tok.ch == c;
}
bool token_is(const Token *token, const char *word);
static inline bool at_word(const Parser *p, const char *word) {
    return p->tok.kind == TOKEN_WORD && token_is(&p->tok, word);
}
bool eat_char(Parser *p, char c);
bool eat_word(Parser *p, const char *word);
Status expect_char(Parser *p, char c) MUST_USE;
Status expect_word(Parser *p, const char *word) MUST_USE;
Status expect_arrow(Parser *p) MUST_USE;
Status enter(Parser *p) MUST_USE; // one level deeper; leave() on success paths
static inline void leave(Parser *p) {
    p->depth--;
}
// A use of an alias: it counts as what it stands for, in size and in depth.
Status add_alias(Parser *p, const NameEntry *alias) MUST_USE;
const char *token_text(Parser *p, const Token *token); // interned
Status parse_string_token(Parser *p, const char **out_bytes, size_t *out_len) MUST_USE;
Status parse_symbol_name(Parser *p, const char **out_name) MUST_USE; // @name
Status parse_uint(Parser *p, uint64_t max, uint64_t *out) MUST_USE;
Status parse_int(Parser *p, int64_t *out) MUST_USE; // with sign

// ---- stacks
void push_type(Parser *p, const IrType *type);
void push_attr(Parser *p, const char *name, const IrAttr *attr);
Status parse_use(Parser *p) MUST_USE;                   // %a, pushed
Status parse_uses(Parser *p, Slice *out_uses) MUST_USE; // %a, %b, ...; may be empty
Status parse_types(Parser *p, Slice *out_types) MUST_USE;
Status parse_result_types(Parser *p, Slice *out_types) MUST_USE; // T or (T, T)

// ---- types, attributes, affine maps, locations
Status parse_type(Parser *p, const IrType **out_type) MUST_USE;
Status parse_function_type(Parser *p, Slice *out_inputs, Slice *out_results) MUST_USE; // (T) -> T
// hint: the type of a literal without one of its own, or NULL.
Status parse_attr(Parser *p, const IrType *hint, const IrAttr **out_attr) MUST_USE;
Status parse_dense(Parser *p, const IrType *hint,
                   const IrAttr **out_attr) MUST_USE; // after "dense"
Status int_from_token(Parser *p, const Token *token, bool is_negative, const IrType *type,
                      int64_t *out) MUST_USE;
Status float_from_token(Parser *p, const Token *token, bool is_negative, const IrType *type,
                        uint64_t *out_bits) MUST_USE;
Status parse_dict_attr(Parser *p, const IrAttr **out_attr) MUST_USE; // {a = 1, b}
Status parse_int_list(Parser *p, const IrType *elem, const IrAttr **out_attr) MUST_USE; // [1, 2]
Status parse_affine_map(Parser *p, const IrAffineMap **out_map) MUST_USE; // (d0) -> (d0)
// [%i + 1, symbol(%n)]'s inside, up to the bracket: the map, and its operands pushed, dims first.
Status parse_affine_of_values(Parser *p, const IrAffineMap **out_map, Slice *out_uses) MUST_USE;
// Operands of affine bounds mixed with numbers: (0, %a + 1, min(%b, 4)); groups holds the number of
// results of each entry.
Status parse_affine_bounds(Parser *p, bool is_lower, const IrAffineMap **out_map, Slice *out_uses,
                           const IrAttr **out_groups) MUST_USE;
Status parse_loc(Parser *p, const IrLoc **out_loc, Token *out_alias) MUST_USE; // after "loc"

// ---- values and blocks
Scope *scope_push(Parser *p);
Status scope_pop(Parser *p) MUST_USE; // complains about undeclared values
Status define_values(Parser *p, const Token *name, IrValue *values, uint32_t count) MUST_USE;
Status resolve_use(Parser *p, const OperandUse *use, const IrType *type,
                   IrValue **out_value) MUST_USE;
// The type of a value already defined, else NULL.
const IrType *type_of_use(Parser *p, const OperandUse *use);
Status find_block(Parser *p, const Token *label, IrBlock **out_block) MUST_USE;

typedef struct RegionSpec {
    const Token *arg_names; // of the entry block, given before the region
    const IrType *const *arg_types;
    uint32_t num_args;
    bool has_terminator; // an absent one is made:
    IrOpKind terminator;
    bool is_isolated;
} RegionSpec;
Status parse_region(Parser *p, IrRegion *region, const RegionSpec *spec) MUST_USE;

// ---- ops
Status parse_op(Parser *p, IrBlock *block) MUST_USE;
// The op of this name; an unknown one is refused with the nearest known name.
Status find_op_kind(Parser *p, const Token *at, const char *name, size_t len,
                    IrOpKind *out_kind) MUST_USE;
void op_state_init(Parser *p, OpState *s, IrOpKind kind, const Token *token);
// The dictionary of an op, if there is one; attributes are pushed.
Status parse_op_attrs(Parser *p, const OpState *s) MUST_USE;
// One attribute of an op: checked, brought into the form kept in memory, pushed.
Status add_op_attr(Parser *p, const OpState *s, const Token *at, const char *name, size_t len,
                   const IrAttr *attr) MUST_USE;
bool has_attr(const Parser *p, const OpState *s, const char *name);
const IrAttr *get_attr(const Parser *p, const OpState *s, const char *name);
Slice *slot_uses(OpState *s, char slot);
void set_slot_types(OpState *s, char slot, Slice types);
// Resolves operands by the slots' types and rules and makes the op.
Status make_op(Parser *p, OpState *s, IrOp **out_op) MUST_USE;
Status check_op(Parser *p, const Token *at, IrOp *op) MUST_USE;
Status parse_template(Parser *p, OpState *s) MUST_USE;
Status parse_generic_form(Parser *p, const Token *token, IrOp **out_op) MUST_USE;

// The arguments and results of a function, as written.
typedef struct Signature {
    Token *names;
    const IrAttr **arg_attrs, **result_attrs; // one dictionary each
    uint32_t num_args, names_capacity, attrs_capacity, num_results, results_capacity;
    uint32_t types; // start on the stack: arguments, then results
    bool has_names, any_arg_attrs, any_result_attrs;
} Signature;
Status parse_signature(Parser *p, Signature *sig) MUST_USE; // (%a: T {..}, ...) -> (T {..}, ...)
Status finish_function(Parser *p, OpState *s, const Signature *sig) MUST_USE; // attributes, body
void signature_deinit(Signature *sig);
// Annotations of arguments and results carry a dialect prefix, as those of ops do.
Status check_annotations(Parser *p, const Token *at, const IrAttr *dict) MUST_USE;
// (d0, d1, d2) -> (d1, d2): the last vector_rank dimensions of the memory.
const IrAffineMap *minor_identity(IrModule *m, uint32_t num_dims, uint32_t vector_rank);

// Hand-written syntax, by key; each fills the state, make_op follows.
typedef Status (*CustomParser)(Parser *p, OpState *s);
CustomParser find_custom_parser(const char *key);
CustomParser find_control_parser(const char *key); // scf, affine
CustomParser find_target_parser(const char *key);  // llvm

#endif
