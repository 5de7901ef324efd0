// Text to IR: tokens, stacks, errors, aliases, the entry point. See parse.h.
#include "ir/parse.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

// ---------------------------------------------------------------- errors and tokens

Status parse_error(Parser *p, DiagCode code, const Token *at, const char *fmt, ...) {
    StrBuf message = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&message, fmt, args);
    va_end(args);
    uint32_t col = (uint32_t)(at->start - at->line_start + 1);
    uint32_t width = at->kind == TOKEN_EOF ? 0 : (uint32_t)(at->text + at->len - at->start);
    // The text need not end with a NUL; the quoted copy does.
    DiagSpan span = {.file = p->file,
                     .line = at->line,
                     .col = col,
                     .end_col = col + width,
                     .source = arena_strndup(&p->sink->arena, p->text, p->len)};
    Status status = diag_error(p->sink, code, span, "%s", message.data);
    strbuf_deinit(&message);
    return status;
}

void advance(Parser *p) {
    lexer_next(&p->lexer, &p->tok);
}

bool token_is(const Token *token, const char *word) {
    return strlen(word) == token->len && memcmp(token->text, word, token->len) == 0;
}

bool eat_char(Parser *p, char c) {
    if (!at_char(p, c)) return false;
    advance(p);
    return true;
}

bool eat_word(Parser *p, const char *word) {
    if (!at_word(p, word)) return false;
    advance(p);
    return true;
}

static Status expected(Parser *p, const char *what) {
    if (p->tok.kind == TOKEN_EOF)
        return parse_error(p, DIAG_I0001, &p->tok, "expected %s, but the text ends", what);
    int len = (int)MIN(p->tok.text + p->tok.len - p->tok.start, 40);
    return parse_error(p, DIAG_I0001, &p->tok, "expected %s, not '%.*s'", what, len, p->tok.start);
}

Status expect_char(Parser *p, char c) {
    char what[] = {'\'', c, '\'', 0};
    return eat_char(p, c) ? STATUS_OK : expected(p, what);
}

Status expect_word(Parser *p, const char *word) {
    return eat_word(p, word) ? STATUS_OK : expected(p, word);
}

Status expect_arrow(Parser *p) {
    if (p->tok.kind != TOKEN_ARROW) return expected(p, "'->'");
    advance(p);
    return STATUS_OK;
}

Status enter(Parser *p) {
    if (p->depth == MAX_DEPTH)
        return parse_error(p, DIAG_I0011, &p->tok, "nesting deeper than %d", (int)MAX_DEPTH);
    p->depth++;
    p->deepest = MAX(p->deepest, p->depth);
    return STATUS_OK;
}

// So that aliases of aliases cannot stand for more than memory holds, what they stand for is
// bounded by the length of the text.
Status add_alias(Parser *p, const NameEntry *alias) {
    p->weight += alias->weight;
    p->expanded += alias->weight;
    p->deepest = MAX(p->deepest, p->depth + alias->depth);
    if (p->deepest > MAX_DEPTH)
        return parse_error(p, DIAG_I0011, &p->tok, "nesting deeper than %d", (int)MAX_DEPTH);
    if (p->expanded > MIN((uint64_t)p->len * 16 + (64 << 10), (uint64_t)MAX_EXPANDED))
        return parse_error(p, DIAG_I0011, &p->tok, "aliases stand for too many elements");
    return STATUS_OK;
}

const char *token_text(Parser *p, const Token *token) {
    return ir_intern_n(p->m, token->text, token->len);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "..." with \" \\ \n \t and \hh.
static Status decode_string(Parser *p, const Token *token, const char **out_bytes,
                            size_t *out_len) {
    char *bytes = arena_alloc(&p->m->arena, token->len, 1);
    size_t len = 0;
    for (const char *at = token->text + 1, *end = token->text + token->len - 1; at < end; at++) {
        if (*at != '\\') {
            bytes[len++] = *at;
            continue;
        }
        char c = *++at;
        int high = hex_digit(c), low = end - at > 1 ? hex_digit(at[1]) : -1;
        if (c == '"' || c == '\\')
            bytes[len++] = c;
        else if (c == 'n')
            bytes[len++] = '\n';
        else if (c == 't')
            bytes[len++] = '\t';
        else if (high >= 0 && low >= 0) {
            bytes[len++] = (char)(high * 16 + low);
            at++;
        } else {
            return parse_error(p, DIAG_I0001, token, "unknown escape in a string: \\%c", c);
        }
    }
    bytes[len] = 0;
    *out_bytes = bytes;
    *out_len = len;
    return STATUS_OK;
}

Status parse_string_token(Parser *p, const char **out_bytes, size_t *out_len) {
    if (p->tok.kind != TOKEN_STRING) return expected(p, "a string");
    TRY(decode_string(p, &p->tok, out_bytes, out_len));
    advance(p);
    return STATUS_OK;
}

Status parse_symbol_name(Parser *p, const char **out_name) {
    if (p->tok.kind != TOKEN_SYMBOL) return expected(p, "a symbol, @name");
    Token token = p->tok;
    const char *name = token.text;
    size_t len = token.len;
    if (name[0] == '"') TRY(decode_string(p, &token, &name, &len));
    if (memchr(name, 0, len) || len == 0)
        return parse_error(p, DIAG_I0001, &token, "a symbol is empty or contains a NUL");
    *out_name = ir_intern_n(p->m, name, len);
    advance(p);
    if (p->tok.kind == TOKEN_COLON2)
        return parse_error(p, DIAG_I0016, &p->tok, "nested symbol references are not used");
    return STATUS_OK;
}

// ---------------------------------------------------------------- numbers

static Status uint_from_token(Parser *p, const Token *token, uint64_t *out) {
    uint64_t value = 0;
    bool is_hex = token->len > 2 && token->text[1] == 'x';
    for (uint32_t i = is_hex ? 2 : 0; i < token->len; i++) {
        uint64_t digit = (uint64_t)hex_digit(token->text[i]);
        if (!size_mul(value, is_hex ? 16 : 10, &value) || !size_add(value, digit, &value))
            return parse_error(p, DIAG_I0010, token, "number needs more than 64 bits");
    }
    *out = value;
    return STATUS_OK;
}

Status parse_uint(Parser *p, uint64_t max, uint64_t *out) {
    if (p->tok.kind != TOKEN_INT) return expected(p, "a number");
    Token token = p->tok;
    TRY(uint_from_token(p, &token, out));
    if (*out > max)
        return parse_error(p, DIAG_I0010, &token, "number larger than %llu",
                           (unsigned long long)max);
    advance(p);
    return STATUS_OK;
}

Status parse_int(Parser *p, int64_t *out) {
    bool is_negative = eat_char(p, '-');
    uint64_t value;
    TRY(parse_uint(p, is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, &value));
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return STATUS_OK;
}

Status int_from_token(Parser *p, const Token *token, bool is_negative, const IrType *type,
                      int64_t *out) {
    if (token->kind == TOKEN_WORD && type->kind == IR_TYPE_INT && type->width == 1 &&
        !is_negative && (token_is(token, "true") || token_is(token, "false"))) {
        *out = token_is(token, "true");
        return STATUS_OK;
    }
    if (token->kind != TOKEN_INT)
        return parse_error(p, DIAG_I0014, token, "expected an integer for an integer type");
    uint64_t value;
    TRY(uint_from_token(p, token, &value));
    uint32_t width = type->kind == IR_TYPE_INDEX ? 64 : type->width;
    uint64_t half = (uint64_t)1 << (width - 1);
    uint64_t limit = is_negative ? half : half - 1 + half; // -2^(w-1) or 2^w - 1
    if (type->kind == IR_TYPE_INDEX && !is_negative) limit = INT64_MAX;
    if (value > limit)
        return parse_error(p, DIAG_I0010, token, "%s%.*s does not fit in %s%u bits",
                           is_negative ? "-" : "", (int)token->len, token->text,
                           type->kind == IR_TYPE_INDEX ? "an index of " : "", width);
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return STATUS_OK;
}

static Status decimal_from_token(Parser *p, const Token *token, double *out) {
    char buf[512]; // more digits than any printer of doubles writes; longer ones are refused
    if (token->len >= sizeof buf)
        return parse_error(p, DIAG_I0010, token, "float literal of more than %zu characters",
                           sizeof buf);
    memcpy(buf, token->text, token->len);
    buf[token->len] = 0;
    *out = strtod(buf, NULL);
    return STATUS_OK;
}

Status float_from_token(Parser *p, const Token *token, bool is_negative, const IrType *type,
                        uint64_t *out_bits) {
    uint32_t width = ir_type_bits(type);
    if (token->kind == TOKEN_INT && token->len > 2 && token->text[1] == 'x') {
        if (is_negative) return parse_error(p, DIAG_I0014, token, "bit patterns have no sign");
        TRY(uint_from_token(p, token, out_bits));
        if (width < 64 && *out_bits >> width)
            return parse_error(p, DIAG_I0010, token, "bit pattern needs more than %u bits", width);
        return STATUS_OK;
    }
    if (token->kind != TOKEN_FLOAT)
        return parse_error(p, DIAG_I0014, token,
                           "expected a float such as 1.0 or a bit pattern for a float type");
    double value;
    TRY(decimal_from_token(p, token, &value));
    // As MLIR does it: to f64 first, then to the type.
    const IrAttr *attr = ir_attr_float(p->m, is_negative ? -value : value, type);
    double rounded = ir_attr_float_value(attr);
    if (rounded - rounded != 0)
        return parse_error(p, DIAG_I0010, token, "%.*s is infinite in this type; write it as 0x...",
                           (int)token->len, token->text);
    *out_bits = attr->bits;
    return STATUS_OK;
}

// ---------------------------------------------------------------- stacks

void push_type(Parser *p, const IrType *type) {
    ARRAY_RESERVE(p->types, p->num_types, p->types_capacity);
    p->types[p->num_types++] = type;
}

void push_attr(Parser *p, const char *name, const IrAttr *attr) {
    ARRAY_RESERVE(p->attrs, p->num_attrs, p->attrs_capacity);
    p->attrs[p->num_attrs++] = (IrNamedAttr){name, attr};
}

Status parse_use(Parser *p) {
    if (p->tok.kind != TOKEN_VALUE) return expected(p, "a value, %name");
    OperandUse use = {.token = p->tok};
    advance(p);
    const char *end = use.token.text + use.token.len;
    // %name#2 without a blank
    if (p->tok.kind == TOKEN_HASH && p->tok.start == end) {
        Token number = p->tok;
        for (uint32_t i = 0; i < number.len; i++) {
            char c = number.text[i];
            if (c < '0' || c > '9' || number.len > 6)
                return expected(p, "a result number after '#'");
            use.number = use.number * 10 + (uint32_t)(c - '0');
        }
        advance(p);
    }
    ARRAY_RESERVE(p->uses, p->num_uses, p->uses_capacity);
    p->uses[p->num_uses++] = use;
    return STATUS_OK;
}

Status parse_uses(Parser *p, Slice *out_uses) {
    out_uses->start = p->num_uses;
    if (p->tok.kind == TOKEN_VALUE) {
        do TRY(parse_use(p));
        while (eat_char(p, ','));
    }
    out_uses->count = p->num_uses - out_uses->start;
    return STATUS_OK;
}

Status parse_types(Parser *p, Slice *out_types) {
    out_types->start = p->num_types;
    do {
        const IrType *type;
        TRY(parse_type(p, &type));
        push_type(p, type);
    } while (eat_char(p, ','));
    out_types->count = p->num_types - out_types->start;
    return STATUS_OK;
}

// ---------------------------------------------------------------- aliases and top level

static Status parse_alias(Parser *p) {
    Token name = p->tok;
    bool is_type = name.kind == TOKEN_BANG;
    advance(p);
    TRY(expect_char(p, '='));
    uint64_t weight = p->weight;
    p->deepest = p->depth;
    const IrAttr *attr = NULL;
    const IrType *type = NULL;
    const IrLoc *loc = NULL;
    if (is_type) {
        TRY(parse_type(p, &type));
    } else if (eat_word(p, "loc")) {
        Token alias;
        TRY(parse_loc(p, &loc, &alias));
        if (!loc)
            return parse_error(p, DIAG_I0012, &alias, "location alias used before its definition");
    } else {
        TRY(parse_attr(p, NULL, &attr));
    }
    NameEntry *entry = name_get(is_type ? &p->type_aliases : &p->attr_aliases, name.text, name.len);
    if (entry->is_defined)
        return parse_error(p, DIAG_I0008, &name, "alias %.*s is defined twice", (int)name.len,
                           name.text);
    entry->is_defined = true;
    entry->attr = attr;
    entry->type = type;
    entry->loc = loc;
    entry->weight = p->weight - weight + 1;
    entry->depth = p->deepest - p->depth;
    return STATUS_OK;
}

static Status parse_top_level(Parser *p, IrBlock *body) {
    while (p->tok.kind != TOKEN_EOF) {
        if (p->tok.kind == TOKEN_HASH || p->tok.kind == TOKEN_BANG) {
            TRY(parse_alias(p));
            continue;
        }
        if (at_char(p, '{'))
            return parse_error(p, DIAG_I0016, &p->tok, "resources ({-# ... #-}) are not used");
        TRY(parse_op(p, body));
    }
    return STATUS_OK;
}

static Status settle_locs(Parser *p) {
    for (uint32_t i = 0; i < p->num_pending_locs; i++) {
        const PendingLoc *pending = &p->pending_locs[i];
        const NameEntry *entry =
            name_find(&p->attr_aliases, pending->alias.text, pending->alias.len);
        if (!entry || !entry->loc)
            return parse_error(p, DIAG_I0012, &pending->alias,
                               "location alias #%.*s is not defined", (int)pending->alias.len,
                               pending->alias.text);
        TRY(add_alias(p, entry));
        pending->op->loc = entry->loc;
    }
    return STATUS_OK;
}

// A text that is one module op is that module, not a module in a module.
static void unwrap_module(IrModule *m, IrBlock *body) {
    IrOp *only = body->first;
    if (!only || only->next || only->kind != IR_BUILTIN_MODULE) return;
    ir_op_unlink(only);
    m->op = only;
}

static void parser_deinit(Parser *p) {
    while (p->scope) {
        Scope *scope = p->scope;
        p->scope = scope->outer;
        name_table_deinit(&scope->names);
        free(scope->defined);
        free(scope);
    }
    name_table_deinit(&p->blocks);
    name_table_deinit(&p->attr_aliases);
    name_table_deinit(&p->type_aliases);
    free(p->uses);
    free(p->types);
    free(p->attrs);
    free(p->values);
    free(p->dense);
    free(p->pending_locs);
}

static void parser_init(Parser *p, IrModule *m, const char *text, size_t len, const char *file,
                        DiagSink *sink) {
    *p = (Parser){.m = m, .sink = sink, .file = file ? file : "<text>", .text = text, .len = len};
    lexer_init(&p->lexer, text, len);
    advance(p);
    scope_push(p);
}

Status ir_parse(const char *text, size_t len, const char *file, DiagSink *sink,
                IrModule **out_module) {
    return ir_parse_with(text, len, file, &(IrParseOptions){0}, sink, out_module);
}

Status ir_parse_with(const char *text, size_t len, const char *file, const IrParseOptions *options,
                     DiagSink *sink, IrModule **out_module) {
    enum { MAX_TEXT_BYTES = 1 << 30 };
    Parser p;
    IrModule *m = ir_module_create();
    parser_init(&p, m, text, MIN(len, (size_t)MAX_TEXT_BYTES), file, sink);
    p.keeps_argument_names = options->keeps_argument_names;
    Status status;
    if (len > MAX_TEXT_BYTES) {
        p.len = 0;
        status = parse_error(&p, DIAG_I0011, &p.tok, "text of more than %d bytes", MAX_TEXT_BYTES);
    } else {
        status = parse_top_level(&p, ir_module_body(m));
        if (status == STATUS_OK) status = settle_locs(&p);
        if (status == STATUS_OK) status = scope_pop(&p);
    }
    parser_deinit(&p);
    if (status != STATUS_OK) {
        ir_module_destroy(m);
        return status;
    }
    unwrap_module(m, ir_module_body(m));
    *out_module = m;
    return STATUS_OK;
}

const IrType *ir_parse_type(IrModule *m, const char *text, DiagSink *sink) {
    Parser p;
    parser_init(&p, m, text, strlen(text), NULL, sink);
    const IrType *type = NULL;
    Status status = parse_type(&p, &type);
    if (status == STATUS_OK && p.tok.kind != TOKEN_EOF)
        status = expected(&p, "the end of the type");
    parser_deinit(&p);
    return status == STATUS_OK ? type : NULL;
}
