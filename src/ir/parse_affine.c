// Affine maps in IR text: affine_map<(d0)[s0] -> (d0 + s0)>, and expressions over values in the
// subscripts and bounds of the affine ops.
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

// What names stand for: dims and symbols of a map, or values (then operands are collected).
typedef struct AffineNames {
    Token dims[MAX_AFFINE_DIMS], symbols[MAX_AFFINE_DIMS];
    uint32_t num_dims, num_symbols;
    bool of_values;
    // of_values: the operands; numbers of the uses with the same name
    uint32_t dim_numbers[MAX_AFFINE_DIMS], symbol_numbers[MAX_AFFINE_DIMS];
    uint32_t num_nodes; // operators so far in this expression
} AffineNames;

static bool same_text(const Token *a, const Token *b) {
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static Status parse_sum(Parser *p, AffineNames *names, const IrAffineExpr **out_expr);

static Status too_many(Parser *p, const Token *at) {
    return parse_error(p, DIAG_I0011, at, "more than %d dimensions or symbols",
                       (int)MAX_AFFINE_DIMS);
}

static Status use_of_value(Parser *p, AffineNames *names, bool is_symbol,
                           const IrAffineExpr **out_expr) {
    uint32_t mark = p->num_uses;
    TRY(parse_use(p));
    OperandUse use = p->uses[mark];
    p->num_uses = mark;
    Token *list = is_symbol ? names->symbols : names->dims;
    uint32_t *numbers = is_symbol ? names->symbol_numbers : names->dim_numbers;
    uint32_t *count = is_symbol ? &names->num_symbols : &names->num_dims, i = 0;
    while (i < *count && !(same_text(&list[i], &use.token) && numbers[i] == use.number)) i++;
    if (i == *count) {
        if (i == MAX_AFFINE_DIMS) return too_many(p, &use.token);
        list[i] = use.token;
        numbers[i] = use.number;
        (*count)++;
    }
    *out_expr = is_symbol ? ir_affine_symbol(p->m, i) : ir_affine_dim(p->m, i);
    return STATUS_OK;
}

static Status parse_name(Parser *p, AffineNames *names, const IrAffineExpr **out_expr) {
    Token name = p->tok;
    if (names->of_values) {
        if (!eat_word(p, "symbol"))
            return parse_error(p, DIAG_I0001, &name,
                               "expected a value, a number or symbol(%%value)");
        TRY(expect_char(p, '('));
        TRY(use_of_value(p, names, true, out_expr));
        return expect_char(p, ')');
    }
    advance(p);
    for (uint32_t i = 0; i < names->num_dims; i++) {
        if (!same_text(&names->dims[i], &name)) continue;
        *out_expr = ir_affine_dim(p->m, i);
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < names->num_symbols; i++) {
        if (!same_text(&names->symbols[i], &name)) continue;
        *out_expr = ir_affine_symbol(p->m, i);
        return STATUS_OK;
    }
    return parse_error(p, DIAG_I0001, &name, "%.*s is no dimension or symbol of this map",
                       (int)name.len, name.text);
}

static Status parse_factor(Parser *p, AffineNames *names, const IrAffineExpr **out_expr) {
    TRY(enter(p));
    if (++names->num_nodes > MAX_AFFINE_NODES)
        return parse_error(p, DIAG_I0011, &p->tok, "affine expression of more than %d operators",
                           (int)MAX_AFFINE_NODES);
    if (eat_char(p, '-')) {
        const IrAffineExpr *inner;
        TRY(parse_factor(p, names, &inner));
        *out_expr = ir_affine_binary(p->m, IR_AFFINE_MUL, inner, ir_affine_const(p->m, -1));
    } else if (eat_char(p, '(')) {
        TRY(parse_sum(p, names, out_expr));
        TRY(expect_char(p, ')'));
    } else if (p->tok.kind == TOKEN_INT) {
        int64_t value;
        TRY(parse_int(p, &value));
        *out_expr = ir_affine_const(p->m, value);
    } else if (p->tok.kind == TOKEN_VALUE && names->of_values) {
        TRY(use_of_value(p, names, false, out_expr));
    } else if (p->tok.kind == TOKEN_WORD) {
        TRY(parse_name(p, names, out_expr));
    } else {
        return parse_error(p, DIAG_I0001, &p->tok, "expected an affine expression");
    }
    leave(p);
    return STATUS_OK;
}

static bool eat_operator(Parser *p, IrAffineKind *out_kind) {
    if (eat_char(p, '*'))
        *out_kind = IR_AFFINE_MUL;
    else if (eat_word(p, "mod"))
        *out_kind = IR_AFFINE_MOD;
    else if (eat_word(p, "floordiv"))
        *out_kind = IR_AFFINE_FLOORDIV;
    else if (eat_word(p, "ceildiv"))
        *out_kind = IR_AFFINE_CEILDIV;
    else
        return false;
    return true;
}

static Status parse_product(Parser *p, AffineNames *names, const IrAffineExpr **out_expr) {
    TRY(parse_factor(p, names, out_expr));
    IrAffineKind kind;
    for (Token at = p->tok; eat_operator(p, &kind); at = p->tok) {
        Token right = p->tok;
        const IrAffineExpr *rhs;
        TRY(parse_factor(p, names, &rhs));
        bool left_is_symbolic = kind == IR_AFFINE_MUL && ir_affine_is_symbolic(*out_expr);
        if (!left_is_symbolic && !ir_affine_is_symbolic(rhs))
            return parse_error(
                p, DIAG_I0001, &at,
                "not affine: one side of a product, and every divisor, is without dimensions");
        if (kind != IR_AFFINE_MUL && rhs->kind == IR_AFFINE_CONST && rhs->value < 1)
            return parse_error(p, DIAG_I0001, &right, "divisors are at least 1");
        *out_expr = ir_affine_binary(p->m, kind, *out_expr, rhs);
    }
    return STATUS_OK;
}

static Status parse_sum(Parser *p, AffineNames *names, const IrAffineExpr **out_expr) {
    TRY(parse_product(p, names, out_expr));
    while (at_char(p, '+') || at_char(p, '-')) {
        bool is_minus = at_char(p, '-');
        advance(p);
        const IrAffineExpr *rhs;
        TRY(parse_product(p, names, &rhs));
        if (is_minus) rhs = ir_affine_binary(p->m, IR_AFFINE_MUL, rhs, ir_affine_const(p->m, -1));
        *out_expr = ir_affine_binary(p->m, IR_AFFINE_ADD, *out_expr, rhs);
    }
    return STATUS_OK;
}

static Status parse_expr(Parser *p, AffineNames *names, const IrAffineExpr **out_expr) {
    names->num_nodes = 0;
    return parse_sum(p, names, out_expr);
}

// (a, b, c): the names, into list.
static Status parse_names(Parser *p, char close, Token *list, uint32_t *out_count) {
    advance(p);
    while (!eat_char(p, close)) {
        if (*out_count) TRY(expect_char(p, ','));
        if (p->tok.kind != TOKEN_WORD)
            return parse_error(p, DIAG_I0001, &p->tok, "expected a name");
        if (*out_count == MAX_AFFINE_DIMS) return too_many(p, &p->tok);
        list[(*out_count)++] = p->tok;
        advance(p);
    }
    return STATUS_OK;
}

typedef struct ExprList {
    const IrAffineExpr **items;
    uint32_t count, capacity;
} ExprList;

static void push_expr(ExprList *list, const IrAffineExpr *expr) {
    ARRAY_RESERVE(list->items, list->count, list->capacity);
    list->items[list->count++] = expr;
}

// a, b, c up to close, which is not eaten.
static Status parse_exprs(Parser *p, AffineNames *names, char close, ExprList *list) {
    while (!at_char(p, close)) {
        if (list->count) TRY(expect_char(p, ','));
        const IrAffineExpr *expr;
        TRY(parse_expr(p, names, &expr));
        push_expr(list, expr);
    }
    return STATUS_OK;
}

static Status check_names(Parser *p, const AffineNames *names) {
    for (uint32_t i = 0; i < names->num_dims + names->num_symbols; i++) {
        const Token *a =
            i < names->num_dims ? &names->dims[i] : &names->symbols[i - names->num_dims];
        for (uint32_t k = 0; k < i; k++) {
            const Token *b =
                k < names->num_dims ? &names->dims[k] : &names->symbols[k - names->num_dims];
            if (same_text(a, b))
                return parse_error(p, DIAG_I0008, a, "name given twice in an affine map");
        }
    }
    return STATUS_OK;
}

Status parse_affine_map(Parser *p, const IrAffineMap **out_map) {
    AffineNames names;
    memset(&names, 0, sizeof names);
    if (!at_char(p, '('))
        return parse_error(p, DIAG_I0001, &p->tok, "expected '(' of an affine map");
    TRY(parse_names(p, ')', names.dims, &names.num_dims));
    if (at_char(p, '[')) TRY(parse_names(p, ']', names.symbols, &names.num_symbols));
    TRY(check_names(p, &names));
    TRY(expect_arrow(p));
    TRY(expect_char(p, '('));
    ExprList list = {0};
    Status status = parse_exprs(p, &names, ')', &list);
    if (status == STATUS_OK) {
        advance(p);
        *out_map = ir_affine_map(p->m, names.num_dims, names.num_symbols, list.count, list.items);
    }
    free(list.items);
    return status;
}

// Pushes the operands the expressions name, dims first.
static void push_operands(Parser *p, const AffineNames *names, Slice *out_uses) {
    out_uses->start = p->num_uses;
    out_uses->count = names->num_dims + names->num_symbols;
    for (uint32_t i = 0; i < out_uses->count; i++) {
        bool is_dim = i < names->num_dims;
        uint32_t k = is_dim ? i : i - names->num_dims;
        ARRAY_RESERVE(p->uses, p->num_uses, p->uses_capacity);
        p->uses[p->num_uses++] =
            (OperandUse){.token = is_dim ? names->dims[k] : names->symbols[k],
                         .number = is_dim ? names->dim_numbers[k] : names->symbol_numbers[k]};
    }
}

Status parse_affine_of_values(Parser *p, const IrAffineMap **out_map, Slice *out_uses) {
    AffineNames names;
    memset(&names, 0, sizeof names);
    names.of_values = true;
    ExprList list = {0};
    Status status = parse_exprs(p, &names, ']', &list);
    if (status == STATUS_OK) {
        *out_map = ir_affine_map(p->m, names.num_dims, names.num_symbols, list.count, list.items);
        push_operands(p, &names, out_uses);
    }
    free(list.items);
    return status;
}

static Status parse_bound_list(Parser *p, bool is_lower, AffineNames *names, ExprList *list,
                               ExprList *groups) {
    while (!eat_char(p, ')')) {
        if (groups->count) TRY(expect_char(p, ','));
        uint32_t before = list->count;
        if (eat_word(p, is_lower ? "max" : "min")) {
            TRY(expect_char(p, '('));
            while (!eat_char(p, ')')) {
                if (list->count > before) TRY(expect_char(p, ','));
                const IrAffineExpr *expr;
                TRY(parse_expr(p, names, &expr));
                push_expr(list, expr);
            }
        } else {
            const IrAffineExpr *expr;
            TRY(parse_expr(p, names, &expr));
            push_expr(list, expr);
        }
        push_expr(groups, ir_affine_const(p->m, list->count - before));
    }
    return STATUS_OK;
}

Status parse_affine_bounds(Parser *p, bool is_lower, const IrAffineMap **out_map, Slice *out_uses,
                           const IrAttr **out_groups) {
    AffineNames names;
    memset(&names, 0, sizeof names);
    names.of_values = true;
    ExprList list = {0}, groups = {0};
    TRY(expect_char(p, '('));
    Status status = parse_bound_list(p, is_lower, &names, &list, &groups);
    if (status == STATUS_OK) {
        *out_map = ir_affine_map(p->m, names.num_dims, names.num_symbols, list.count, list.items);
        push_operands(p, &names, out_uses);
        int32_t *sizes = base_alloc(groups.count + 1, sizeof *sizes);
        for (uint32_t i = 0; i < groups.count; i++) sizes[i] = (int32_t)groups.items[i]->value;
        const IrType *i32 = ir_type_int(p->m, 32);
        int64_t count = groups.count;
        *out_groups = ir_attr_dense(p->m, ir_type_tensor(p->m, 1, &count, i32), sizes,
                                    groups.count * 4, false);
        free(sizes);
    }
    free(list.items);
    free(groups.items);
    return status;
}
