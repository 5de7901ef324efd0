// Parses the expressions of templates, by the grammar of Jinja 3.1's parser.
#include <string.h>

#include "text/template_internal.h"

static const Token *current(const Parser *parser) {
    return &parser->tokens[parser->pos];
}

static bool at_operator(const Parser *parser, const char *text) {
    return template_at(parser, TOKEN_OPERATOR, text);
}

static bool skip_operator(Parser *parser, const char *text) {
    return template_skip(parser, TOKEN_OPERATOR, text);
}

// Takes over the height of a child; too high an expression is refused.
static Status adopt(Parser *parser, Node *node, const Node *child) {
    if (child && child->height + 1 > node->height) node->height = child->height + 1;
    if (node->height <= TEMPLATE_MAX_DEPTH) return STATUS_OK;
    return template_error(parser->parsed, parser->sink, DIAG_T0022, node->line, node->col,
                          "this expression is nested more than %d deep", TEMPLATE_MAX_DEPTH);
}

static Status make_node(Parser *parser, NodeKind kind, const Token *at, Node *a, Node *b,
                        Node **out) {
    Node *node = template_node(parser, kind, at);
    node->a = a;
    node->b = b;
    TRY(adopt(parser, node, a));
    TRY(adopt(parser, node, b));
    *out = node;
    return STATUS_OK;
}

// Appends to a list of which *tail is the last link.
static Status append(Parser *parser, Node *node, Node ***tail, Node *item) {
    TRY(adopt(parser, node, item));
    **tail = item;
    *tail = &item->next;
    return STATUS_OK;
}

// ---------------------------------------------------------------- literals

// The items of a list up to `closing`, which is behind them.
static Status parse_items(Parser *parser, Node *node, const char *closing, bool is_dict) {
    Node **tail = &node->list;
    for (bool is_first = true; !at_operator(parser, closing); is_first = false) {
        if (!is_first) TRY(template_expect(parser, TOKEN_OPERATOR, ","));
        if (at_operator(parser, closing)) break;
        Node *item;
        TRY(template_parse_expression(parser, true, &item));
        TRY(append(parser, node, &tail, item));
        if (!is_dict) continue;
        TRY(template_expect(parser, TOKEN_OPERATOR, ":"));
        TRY(template_parse_expression(parser, true, &item));
        TRY(append(parser, node, &tail, item));
    }
    return template_expect(parser, TOKEN_OPERATOR, closing);
}

static Status parse_string(Parser *parser, Node *node) {
    StrBuf text = {0};
    while (current(parser)->kind == TOKEN_STRING) {
        strbuf_append(&text, current(parser)->text, current(parser)->len);
        parser->pos++;
    }
    node->value = template_string(&parser->parsed->arena, text.data, text.len, false);
    strbuf_deinit(&text);
    return STATUS_OK;
}

static bool parse_word(Node *node, const char *word) {
    if (str_equal(word, "true") || str_equal(word, "True"))
        node->value = value_bool(true);
    else if (str_equal(word, "false") || str_equal(word, "False"))
        node->value = value_bool(false);
    else if (str_equal(word, "none") || str_equal(word, "None"))
        node->value = value_none();
    else
        return false;
    return true;
}

static Status parse_name(Parser *parser, Node *node) {
    const Token *token = current(parser);
    parser->pos++;
    if (parse_word(node, token->text)) return STATUS_OK;
    if (parser->macro_depth &&
        (str_equal(token->text, "varargs") || str_equal(token->text, "kwargs")))
        return template_error(parser->parsed, parser->sink, DIAG_T0021, token->line, token->col,
                              "\"%s\" in a macro is not supported", token->text);
    node->kind = NODE_NAME;
    node->name = template_intern(parser->parsed, token->text, token->len);
    return STATUS_OK;
}

static Status parse_primary(Parser *parser, Node **out) {
    const Token *token = current(parser);
    Node *node = template_node(parser, NODE_CONST, token);
    *out = node;
    switch (token->kind) {
    case TOKEN_NAME: return parse_name(parser, node);
    case TOKEN_STRING: return parse_string(parser, node);
    case TOKEN_INTEGER:
        parser->pos++;
        node->value = value_int(token->i);
        return STATUS_OK;
    case TOKEN_REAL:
        parser->pos++;
        node->value = value_float(token->f);
        return STATUS_OK;
    default: break;
    }
    if (skip_operator(parser, "(")) {
        if (skip_operator(parser, ")")) {
            node->kind = NODE_TUPLE;
            return STATUS_OK;
        }
        TRY(template_parse_tuple(parser, true, NULL, out));
        return template_expect(parser, TOKEN_OPERATOR, ")");
    }
    bool is_dict = at_operator(parser, "{");
    if (skip_operator(parser, "[") || skip_operator(parser, "{")) {
        node->kind = is_dict ? NODE_DICT : NODE_LIST;
        return parse_items(parser, node, is_dict ? "}" : "]", is_dict);
    }
    return template_syntax(parser, token, "an expression is expected here");
}

// ---------------------------------------------------------------- what follows a primary

static Status parse_args(Parser *parser, Node *node) {
    TRY(template_expect(parser, TOKEN_OPERATOR, "("));
    Node **tail = &node->list;
    bool has_keyword = false;
    for (bool is_first = true; !at_operator(parser, ")"); is_first = false) {
        if (!is_first) TRY(template_expect(parser, TOKEN_OPERATOR, ","));
        if (at_operator(parser, ")")) break;
        const Token *token = current(parser);
        if (at_operator(parser, "*") || at_operator(parser, "**"))
            return template_error(parser->parsed, parser->sink, DIAG_T0021, token->line, token->col,
                                  "arguments from a list or dict are not supported");
        const char *keyword = NULL;
        if (token->kind == TOKEN_NAME && parser->tokens[parser->pos + 1].kind == TOKEN_OPERATOR &&
            str_equal(parser->tokens[parser->pos + 1].text, "=")) {
            keyword = template_intern(parser->parsed, token->text, token->len);
            parser->pos += 2;
            has_keyword = true;
        } else if (has_keyword) {
            return template_syntax(parser, token, "an argument without a name follows one with");
        }
        Node *arg;
        TRY(template_parse_expression(parser, true, &arg));
        arg->keyword = keyword;
        TRY(append(parser, node, &tail, arg));
    }
    return template_expect(parser, TOKEN_OPERATOR, ")");
}

// A method or a name that is called must exist.
static Status check_callee(Parser *parser, const Node *callee) {
    if (callee->kind == NODE_NAME) {
        Node *call =
            template_node(parser, NODE_NAME, &(Token){.line = callee->line, .col = callee->col});
        call->name = callee->name;
        call->next = parser->calls;
        parser->calls = call;
        return STATUS_OK;
    }
    if (callee->kind != NODE_ATTR || template_find_method(callee->name) >= 0) return STATUS_OK;
    if (template_is_changer(callee->name))
        return template_error(parser->parsed, parser->sink, DIAG_T0021, callee->line, callee->col,
                              "the method \"%s\" would change a value, which a template may not",
                              callee->name);
    Status status = template_error(parser->parsed, parser->sink, DIAG_T0021, callee->line,
                                   callee->col, "there is no method \"%s\"", callee->name);
    const char *nearest = template_nearest_method(callee->name);
    if (nearest) diag_write(parser->sink, "%s", nearest);
    return status;
}

static Status parse_call(Parser *parser, Node **node) {
    const Token *at = current(parser);
    TRY(check_callee(parser, *node));
    TRY(make_node(parser, NODE_CALL, at, *node, NULL, node));
    return parse_args(parser, *node);
}

// One part of a slice: missing before a colon or the bracket.
static Status parse_slice_part(Parser *parser, Node *slice, Node **out) {
    *out = NULL;
    if (at_operator(parser, ":") || at_operator(parser, "]")) return STATUS_OK;
    TRY(template_parse_expression(parser, true, out));
    return adopt(parser, slice, *out);
}

static Status parse_index(Parser *parser, Node **out) {
    const Token *at = current(parser);
    Node *first = NULL;
    if (!at_operator(parser, ":")) TRY(template_parse_expression(parser, true, &first));
    if (!at_operator(parser, ":")) {
        *out = first;
        if (at_operator(parser, ","))
            return template_error(parser->parsed, parser->sink, DIAG_T0021, at->line, at->col,
                                  "more than one index is not supported");
        return STATUS_OK;
    }
    Node *slice;
    TRY(make_node(parser, NODE_SLICE, at, NULL, first, &slice));
    (void)skip_operator(parser, ":");
    TRY(parse_slice_part(parser, slice, &slice->c));
    if (skip_operator(parser, ":")) TRY(parse_slice_part(parser, slice, &slice->d));
    *out = slice;
    return STATUS_OK;
}

static Status parse_subscript(Parser *parser, Node **node) {
    const Token *at = current(parser);
    if (skip_operator(parser, ".")) {
        const Token *name = current(parser);
        parser->pos++;
        if (name->kind == TOKEN_INTEGER) {
            Node *index = template_node(parser, NODE_CONST, name);
            index->value = value_int(name->i);
            return make_node(parser, NODE_ITEM, at, *node, index, node);
        }
        if (name->kind != TOKEN_NAME)
            return template_syntax(parser, name, "a name is expected after the dot");
        TRY(make_node(parser, NODE_ATTR, name, *node, NULL, node));
        (*node)->name = template_intern(parser->parsed, name->text, name->len);
        return STATUS_OK;
    }
    (void)skip_operator(parser, "[");
    if (at_operator(parser, "]")) return template_syntax(parser, at, "an index is missing");
    Node *index;
    TRY(parse_index(parser, &index));
    TRY(make_node(parser, NODE_ITEM, at, *node, index, node));
    return template_expect(parser, TOKEN_OPERATOR, "]");
}

static Status parse_postfix(Parser *parser, Node **node) {
    while (true) {
        if (at_operator(parser, ".") || at_operator(parser, "["))
            TRY(parse_subscript(parser, node));
        else if (at_operator(parser, "("))
            TRY(parse_call(parser, node));
        else
            return STATUS_OK;
    }
}

static Status unknown(Parser *parser, const char *what, const Token *at, const char *nearest) {
    Status status = template_error(parser->parsed, parser->sink, DIAG_T0021, at->line, at->col,
                                   "there is no %s \"%s\"", what, at->text);
    if (nearest) diag_write(parser->sink, "%s", nearest);
    return status;
}

Status template_parse_filters(Parser *parser, Node *inner, bool starts_inline, Node **out) {
    *out = inner;
    while (starts_inline || at_operator(parser, "|")) {
        if (!starts_inline) parser->pos++;
        starts_inline = false;
        const Token *name = current(parser);
        if (name->kind != TOKEN_NAME)
            return template_syntax(parser, name, "the name of a filter is expected here");
        parser->pos++;
        int filter = template_find_filter(name->text);
        if (filter < 0) return unknown(parser, "filter", name, template_nearest_filter(name->text));
        TRY(make_node(parser, NODE_FILTER, name, *out, NULL, out));
        (*out)->op = filter;
        if (at_operator(parser, "(")) TRY(parse_args(parser, *out));
    }
    return STATUS_OK;
}

// The argument of a test without parentheses: `x is divisibleby 3`.
static bool begins_test_arg(const Parser *parser) {
    const Token *token = current(parser);
    if (token->kind == TOKEN_NAME)
        return !str_equal(token->text, "else") && !str_equal(token->text, "or") &&
               !str_equal(token->text, "and") && !str_equal(token->text, "if") &&
               !str_equal(token->text, "is");
    return token->kind == TOKEN_STRING || token->kind == TOKEN_INTEGER ||
           token->kind == TOKEN_REAL || at_operator(parser, "[") || at_operator(parser, "{");
}

static Status parse_test(Parser *parser, Node **node) {
    const Token *is = current(parser);
    parser->pos++;
    bool is_negated = template_skip(parser, TOKEN_NAME, "not");
    const Token *name = current(parser);
    if (name->kind != TOKEN_NAME)
        return template_syntax(parser, name, "the name of a test is expected here");
    parser->pos++;
    int test = template_find_test(name->text);
    if (test < 0) return unknown(parser, "test", name, template_nearest_test(name->text));
    TRY(make_node(parser, NODE_TEST, name, *node, NULL, node));
    (*node)->op = test;
    if (at_operator(parser, "(")) {
        TRY(parse_args(parser, *node));
    } else if (begins_test_arg(parser)) {
        Node *arg;
        TRY(parse_primary(parser, &arg));
        TRY(parse_postfix(parser, &arg));
        Node **tail = &(*node)->list;
        TRY(append(parser, *node, &tail, arg));
    }
    return is_negated ? make_node(parser, NODE_NOT, is, *node, NULL, node) : STATUS_OK;
}

static Status parse_filter_expr(Parser *parser, Node **node) {
    while (true) {
        if (at_operator(parser, "|"))
            TRY(template_parse_filters(parser, *node, false, node));
        else if (template_at(parser, TOKEN_NAME, "is"))
            TRY(parse_test(parser, node));
        else if (at_operator(parser, "("))
            TRY(parse_call(parser, node));
        else
            return STATUS_OK;
    }
}

// ---------------------------------------------------------------- operators

static Status parse_unary(Parser *parser, bool with_filter, Node **out) {
    const Token *at = current(parser);
    if (at_operator(parser, "-") || at_operator(parser, "+")) {
        NodeKind kind = at_operator(parser, "-") ? NODE_NEGATE : NODE_PLUS;
        parser->pos++;
        Node *operand;
        if (++parser->depth > TEMPLATE_MAX_DEPTH)
            return template_error(parser->parsed, parser->sink, DIAG_T0022, at->line, at->col,
                                  "this expression is nested more than %d deep",
                                  TEMPLATE_MAX_DEPTH);
        TRY(parse_unary(parser, false, &operand));
        parser->depth--;
        TRY(make_node(parser, kind, at, operand, NULL, out));
    } else {
        TRY(parse_primary(parser, out));
    }
    TRY(parse_postfix(parser, out));
    return with_filter ? parse_filter_expr(parser, out) : STATUS_OK;
}

// Binary operators by level, weakest first; within a level from left to right.
static const struct {
    const char *text;
    Operator op;
} SUMS[] = {{"+", OP_ADD}, {"-", OP_SUB}},
  PRODUCTS[] = {{"*", OP_MUL}, {"/", OP_DIV}, {"//", OP_FLOORDIV}, {"%", OP_MOD}},
  COMPARISONS[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE},
                   {">=", OP_GE}, {"<", OP_LT},  {">", OP_GT}};

static Status parse_power(Parser *parser, Node **out) {
    TRY(parse_unary(parser, true, out));
    while (at_operator(parser, "**")) {
        const Token *at = current(parser);
        parser->pos++;
        Node *right;
        TRY(parse_unary(parser, true, &right));
        TRY(make_node(parser, NODE_BINARY, at, *out, right, out));
        (*out)->op = OP_POW;
    }
    return STATUS_OK;
}

static Status parse_product(Parser *parser, Node **out) {
    TRY(parse_power(parser, out));
    for (size_t i = 0; i < ARRAY_LEN(PRODUCTS);) {
        if (!at_operator(parser, PRODUCTS[i].text)) {
            i++;
            continue;
        }
        const Token *at = current(parser);
        parser->pos++;
        Node *right;
        TRY(parse_power(parser, &right));
        TRY(make_node(parser, NODE_BINARY, at, *out, right, out));
        (*out)->op = (int)PRODUCTS[i].op;
        i = 0;
    }
    return STATUS_OK;
}

static Status parse_concat(Parser *parser, Node **out) {
    Node *first;
    TRY(parse_product(parser, &first));
    *out = first;
    if (!at_operator(parser, "~")) return STATUS_OK;
    Node *node = template_node(parser, NODE_CONCAT, current(parser));
    Node **tail = &node->list;
    TRY(append(parser, node, &tail, first));
    while (skip_operator(parser, "~")) {
        Node *item;
        TRY(parse_product(parser, &item));
        TRY(append(parser, node, &tail, item));
    }
    *out = node;
    return STATUS_OK;
}

static Status parse_sum(Parser *parser, Node **out) {
    TRY(parse_concat(parser, out));
    for (size_t i = 0; i < ARRAY_LEN(SUMS);) {
        if (!at_operator(parser, SUMS[i].text)) {
            i++;
            continue;
        }
        const Token *at = current(parser);
        parser->pos++;
        Node *right;
        TRY(parse_concat(parser, &right));
        TRY(make_node(parser, NODE_BINARY, at, *out, right, out));
        (*out)->op = (int)SUMS[i].op;
        i = 0;
    }
    return STATUS_OK;
}

// The comparison at the current token, skipped; false if there is none.
static bool take_comparison(Parser *parser, Operator *out_op) {
    for (size_t i = 0; i < ARRAY_LEN(COMPARISONS); i++) {
        if (!skip_operator(parser, COMPARISONS[i].text)) continue;
        *out_op = COMPARISONS[i].op;
        return true;
    }
    if (template_skip(parser, TOKEN_NAME, "in")) {
        *out_op = OP_IN;
        return true;
    }
    const Token *next = current(parser)->kind == TOKEN_NAME ? current(parser) + 1 : NULL;
    if (template_at(parser, TOKEN_NAME, "not") && next->kind == TOKEN_NAME &&
        str_equal(next->text, "in")) {
        parser->pos += 2;
        *out_op = OP_NOT_IN;
        return true;
    }
    return false;
}

static Status parse_compare(Parser *parser, Node **out) {
    TRY(parse_sum(parser, out));
    const Token *at = current(parser);
    Operator op;
    if (!take_comparison(parser, &op)) return STATUS_OK;
    Node *node;
    TRY(make_node(parser, NODE_COMPARE, at, *out, NULL, &node));
    Node **tail = &node->list;
    do {
        Node *operand;
        TRY(parse_sum(parser, &operand));
        // The operator is kept beside the operand, whose own op may be in use.
        Node *link;
        TRY(make_node(parser, NODE_COMPARE, at, operand, NULL, &link));
        link->op = (int)op;
        TRY(append(parser, node, &tail, link));
    } while (take_comparison(parser, &op));
    *out = node;
    return STATUS_OK;
}

static Status parse_not(Parser *parser, Node **out) {
    const Token *at = current(parser);
    size_t num_nots = 0;
    while (template_skip(parser, TOKEN_NAME, "not")) num_nots++;
    TRY(parse_compare(parser, out));
    for (size_t i = 0; i < num_nots; i++) TRY(make_node(parser, NODE_NOT, at, *out, NULL, out));
    return STATUS_OK;
}

static Status parse_and(Parser *parser, Node **out) {
    TRY(parse_not(parser, out));
    while (template_at(parser, TOKEN_NAME, "and")) {
        const Token *at = current(parser);
        parser->pos++;
        Node *right;
        TRY(parse_not(parser, &right));
        TRY(make_node(parser, NODE_AND, at, *out, right, out));
    }
    return STATUS_OK;
}

static Status parse_or(Parser *parser, Node **out) {
    TRY(parse_and(parser, out));
    while (template_at(parser, TOKEN_NAME, "or")) {
        const Token *at = current(parser);
        parser->pos++;
        Node *right;
        TRY(parse_and(parser, &right));
        TRY(make_node(parser, NODE_OR, at, *out, right, out));
    }
    return STATUS_OK;
}

static Status parse_choice(Parser *parser, Node **out) {
    TRY(parse_or(parser, out));
    while (template_at(parser, TOKEN_NAME, "if")) {
        const Token *at = current(parser);
        parser->pos++;
        Node *condition, *node;
        TRY(parse_or(parser, &condition));
        TRY(make_node(parser, NODE_CHOICE, at, *out, condition, &node));
        if (template_skip(parser, TOKEN_NAME, "else")) {
            TRY(template_parse_expression(parser, true, &node->c));
            TRY(adopt(parser, node, node->c));
        }
        *out = node;
    }
    return STATUS_OK;
}

Status template_parse_expression(Parser *parser, bool with_choice, Node **out) {
    const Token *at = current(parser);
    if (++parser->depth > TEMPLATE_MAX_DEPTH)
        return template_error(parser->parsed, parser->sink, DIAG_T0022, at->line, at->col,
                              "this expression is nested more than %d deep", TEMPLATE_MAX_DEPTH);
    TRY(with_choice ? parse_choice(parser, out) : parse_or(parser, out));
    parser->depth--;
    return STATUS_OK;
}

Status template_parse_tuple(Parser *parser, bool with_choice, const char *end_name, Node **out) {
    const Token *at = current(parser);
    TRY(template_parse_expression(parser, with_choice, out));
    if (!at_operator(parser, ",")) return STATUS_OK;
    Node *node = template_node(parser, NODE_TUPLE, at);
    Node **tail = &node->list;
    TRY(append(parser, node, &tail, *out));
    while (skip_operator(parser, ",")) {
        TokenKind kind = current(parser)->kind;
        if (kind == TOKEN_VARIABLE_END || kind == TOKEN_BLOCK_END || at_operator(parser, ")") ||
            (end_name && template_at(parser, TOKEN_NAME, end_name)))
            break;
        Node *item;
        TRY(template_parse_expression(parser, with_choice, &item));
        TRY(append(parser, node, &tail, item));
    }
    *out = node;
    return STATUS_OK;
}

Status template_parse_target(Parser *parser, Node **out) {
    const Token *at = current(parser);
    Node *tuple = NULL, **tail = NULL;
    bool has_bracket = skip_operator(parser, "(");
    do {
        const Token *token = current(parser);
        if (tuple && (template_at(parser, TOKEN_NAME, "in") || at_operator(parser, ")") ||
                      at_operator(parser, "=")))
            break;
        Node *name = template_node(parser, NODE_NAME, token);
        if (token->kind != TOKEN_NAME || parse_word(name, token->text))
            return template_syntax(parser, token, "a name to set is expected here");
        parser->pos++;
        name->name = template_intern(parser->parsed, token->text, token->len);
        template_bind(parser, name->name);
        *out = name;
        if (!tuple && at_operator(parser, ",")) {
            tuple = template_node(parser, NODE_TUPLE, at);
            tail = &tuple->list;
        }
        if (tuple) TRY(append(parser, tuple, &tail, name));
    } while (skip_operator(parser, ","));
    if (tuple) *out = tuple;
    return has_bracket ? template_expect(parser, TOKEN_OPERATOR, ")") : STATUS_OK;
}
