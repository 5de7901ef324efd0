// Cuts a template into tokens: text between the tags, with Jinja's rules for blanks around them,
// and the tokens inside. Follows the lexer of Jinja 3.1 with trim_blocks and lstrip_blocks.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/template_internal.h"

typedef struct Lexer {
    Template *parsed;
    DiagSink *sink;
    TokenList *tokens;
    const char *text; // newlines normalised, no final newline
    size_t len, pos;
    size_t line_pos; // where line_number was counted to
    uint32_t line, line_start_pos;
} Lexer;

// An empty token with line and column of a position. Counts on from the last position asked for.
static Token token_at(Lexer *lexer, TokenKind kind, size_t pos) {
    if (pos < lexer->line_pos) {
        lexer->line_pos = lexer->line_start_pos = 0;
        lexer->line = 1;
    }
    for (; lexer->line_pos < pos; lexer->line_pos++) {
        if (lexer->text[lexer->line_pos] != '\n') continue;
        lexer->line++;
        lexer->line_start_pos = (uint32_t)lexer->line_pos + 1;
    }
    return (Token){.kind = kind,
                   .line = lexer->line,
                   .col = (uint32_t)pos - lexer->line_start_pos + 1,
                   .text = ""};
}

static void push(Lexer *lexer, Token token) {
    TokenList *list = lexer->tokens;
    ARRAY_RESERVE(list->tokens, list->count, list->capacity);
    list->tokens[list->count++] = token;
}

static void push_text(Lexer *lexer, TokenKind kind, size_t start, size_t len) {
    Token token = token_at(lexer, kind, start);
    token.text = arena_strndup(&lexer->parsed->arena, lexer->text + start, len);
    token.len = len;
    push(lexer, token);
}

static Status fail(Lexer *lexer, size_t pos, const char *message) {
    Token at = token_at(lexer, TOKEN_END, pos);
    return template_error(lexer->parsed, lexer->sink, DIAG_T0020, at.line, at.col, "%s", message);
}

static bool starts_with(const Lexer *lexer, size_t pos, const char *text) {
    size_t len = strlen(text);
    return lexer->len - pos >= len && memcmp(lexer->text + pos, text, len) == 0;
}

// Length of the blank character at pos, 0 if there is none.
static size_t blank_len(const Lexer *lexer, size_t pos) {
    if (pos >= lexer->len) return 0;
    Utf8Step step = utf8_step(lexer->text + pos, lexer->len - pos);
    return step.kind == UTF8_CHAR && char_is_space(step.code_point) ? step.num_bytes : 0;
}

static size_t skip_blanks(const Lexer *lexer, size_t pos) {
    for (size_t len; (len = blank_len(lexer, pos)); pos += len) {
    }
    return pos;
}

// The end of text[start, end) without blanks at its end.
static size_t without_blanks(const Lexer *lexer, size_t start, size_t end) {
    while (end > start) {
        size_t pos = end - 1;
        while (pos > start && ((uint8_t)lexer->text[pos] & 0xC0) == 0x80) pos--;
        size_t len = blank_len(lexer, pos);
        if (!len || pos + len != end) break;
        end = pos;
    }
    return end;
}

// ---------------------------------------------------------------- text and tags

// Where text[start, end) ends, given the tag behind it and the sign in the tag's opening.
static size_t strip_before_tag(const Lexer *lexer, size_t start, size_t end, char sign,
                               bool is_variable) {
    if (sign == '-') return without_blanks(lexer, start, end);
    if (sign == '+' || is_variable) return end;
    size_t line = end;
    while (line > start && lexer->text[line - 1] != '\n') line--;
    bool starts_line = line > start || start == 0 || lexer->text[start - 1] == '\n';
    return starts_line && skip_blanks(lexer, line) >= end ? line : end;
}

// Behind the end of a tag: the blanks after `-%}`, one newline after `%}`.
static size_t skip_after_tag(const Lexer *lexer, size_t pos, char sign, bool trims_newline) {
    if (sign == '-') return skip_blanks(lexer, pos);
    if (sign != '+' && trims_newline && pos < lexer->len && lexer->text[pos] == '\n')
        return pos + 1;
    return pos;
}

static char sign_at(const Lexer *lexer, size_t pos) {
    char c = pos < lexer->len ? lexer->text[pos] : '\0';
    return c == '-' || c == '+' ? c : '\0';
}

// After `{%` at pos (sign skipped): `name` and the end of the tag; 0 if it is not that tag.
static size_t match_bare_tag(const Lexer *lexer, size_t pos, const char *name, bool trims_newline) {
    if (sign_at(lexer, pos)) pos++;
    pos = skip_blanks(lexer, pos);
    if (!starts_with(lexer, pos, name)) return 0;
    pos = skip_blanks(lexer, pos + strlen(name));
    char sign = sign_at(lexer, pos);
    if (!starts_with(lexer, pos + (sign ? 1 : 0), "%}")) return 0;
    return skip_after_tag(lexer, pos + (sign ? 3 : 2), sign, trims_newline);
}

// `{% raw %}` with its text up to `{% endraw %}`; body is where the text begins.
static Status lex_raw(Lexer *lexer, size_t body) {
    for (size_t pos = body; pos + 1 < lexer->len; pos++) {
        if (!starts_with(lexer, pos, "{%")) continue;
        size_t after = match_bare_tag(lexer, pos + 2, "endraw", true);
        if (!after) continue;
        size_t end = strip_before_tag(lexer, body, pos, sign_at(lexer, pos + 2), false);
        if (end > body) push_text(lexer, TOKEN_DATA, body, end - body);
        lexer->pos = after;
        return STATUS_OK;
    }
    return fail(lexer, body, "this raw text is not closed with {% endraw %}");
}

static Status lex_comment(Lexer *lexer, size_t start) {
    const char *end = memmem(lexer->text + start, lexer->len - start, "#}", 2);
    if (!end) return fail(lexer, start - 2, "this comment is not closed with #}");
    size_t pos = (size_t)(end - lexer->text);
    char sign = pos > start ? sign_at(lexer, pos - 1) : '\0';
    lexer->pos = skip_after_tag(lexer, pos + 2, sign, true);
    return STATUS_OK;
}

// ---------------------------------------------------------------- inside of tags

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

// Reads up to max_digits digits of the base; returns how many there were.
static size_t read_digits(const char *text, size_t len, int base, size_t max_digits,
                          uint32_t *out_value) {
    size_t count = 0;
    *out_value = 0;
    while (count < len && count < max_digits && digit_value(text[count]) < base)
        *out_value = *out_value * (uint32_t)base + (uint32_t)digit_value(text[count++]);
    return count;
}

// Appends what the escape at text (behind the backslash) means and returns its length; 0 if it is
// malformed. As in Python: unknown escapes stay as they are.
static size_t put_escape(const char *text, size_t len, StrBuf *out) {
    static const char FROM[] = "abfnrtv\\'\"", TO[] = "\a\b\f\n\r\t\v\\'\"";
    char c = text[0];
    const char *simple = strchr(FROM, c);
    if (c && simple) {
        strbuf_putc(out, TO[simple - FROM]);
        return 1;
    }
    if (c == '\n') return 1;
    size_t prefix = c == 'x' || c == 'u' || c == 'U' ? 1 : 0;
    size_t wanted = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 3;
    if (!prefix && digit_value(c) >= 8) {
        strbuf_putc(out, '\\');
        strbuf_putc(out, c);
        return 1;
    }
    uint32_t value;
    size_t count = read_digits(text + prefix, len - prefix, prefix ? 16 : 8, wanted, &value);
    if ((prefix && count != wanted) || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
        return 0;
    char bytes[UTF8_MAX_CHAR_BYTES];
    strbuf_append(out, bytes, utf8_encode(value, bytes));
    return prefix + count;
}

static Status lex_string(Lexer *lexer) {
    size_t start = lexer->pos, pos = start + 1;
    char quote = lexer->text[start];
    StrBuf out = {0};
    strbuf_puts(&out, "");
    Status status = STATUS_OK;
    while (status == STATUS_OK && pos < lexer->len && lexer->text[pos] != quote) {
        if (lexer->text[pos] == '\\' && pos + 1 < lexer->len) {
            size_t len = put_escape(lexer->text + pos + 1, lexer->len - pos - 1, &out);
            if (!len) status = fail(lexer, pos, "malformed escape in a string");
            pos += 1 + len;
        } else {
            strbuf_putc(&out, lexer->text[pos++]);
        }
    }
    if (status == STATUS_OK && pos >= lexer->len)
        status = fail(lexer, start, "this string is not closed");
    if (status == STATUS_OK) {
        Token token = token_at(lexer, TOKEN_STRING, start);
        token.text = arena_memdup(&lexer->parsed->arena, out.data, out.len + 1, 1);
        token.len = out.len;
        push(lexer, token);
        lexer->pos = pos + 1;
    }
    strbuf_deinit(&out);
    return status;
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Copies digits without underscores; underscores only between digits.
static size_t copy_digits(const Lexer *lexer, size_t pos, StrBuf *out) {
    while (pos < lexer->len) {
        char c = lexer->text[pos];
        bool is_gap = c == '_' && out->len && pos + 1 < lexer->len &&
                      digit_value(lexer->text[pos + 1]) < 10 &&
                      digit_value(lexer->text[pos - 1]) < 10;
        if (digit_value(c) >= 10 && !is_gap) break;
        if (!is_gap) strbuf_putc(out, c);
        pos++;
    }
    return pos;
}

static Status put_number(Lexer *lexer, size_t start, size_t end, const char *digits, bool is_real) {
    Token token = token_at(lexer, is_real ? TOKEN_REAL : TOKEN_INTEGER, start);
    errno = 0;
    if (is_real)
        token.f = strtod(digits, NULL);
    else
        token.i = strtoll(digits, NULL, 10);
    if (!is_real && errno) return fail(lexer, start, "this number does not fit in 64 bits");
    if (end < lexer->len && is_name_char(lexer->text[end]))
        return fail(lexer, start, "this number is malformed");
    token.text = arena_strndup(&lexer->parsed->arena, lexer->text + start, end - start);
    push(lexer, token);
    lexer->pos = end;
    return STATUS_OK;
}

static Status lex_number(Lexer *lexer) {
    StrBuf digits = {0};
    size_t start = lexer->pos, pos = copy_digits(lexer, start, &digits), whole_len = digits.len;
    bool is_real = false, is_attr = start > 0 && lexer->text[start - 1] == '.';
    if (!is_attr && pos + 1 < lexer->len && lexer->text[pos] == '.' &&
        digit_value(lexer->text[pos + 1]) < 10) {
        strbuf_putc(&digits, '.');
        pos = copy_digits(lexer, pos + 1, &digits);
        is_real = true;
    }
    size_t exponent = pos + 1;
    if (pos < lexer->len && (lexer->text[pos] | 0x20) == 'e') {
        if (sign_at(lexer, exponent)) exponent++;
        if (exponent < lexer->len && digit_value(lexer->text[exponent]) < 10) {
            strbuf_append(&digits, lexer->text + pos, exponent - pos);
            pos = copy_digits(lexer, exponent, &digits);
            is_real = true;
        }
    }
    bool has_leading_zero = !is_real && whole_len > 1 && digits.data[0] == '0' &&
                            strspn(digits.data, "0") != digits.len;
    Status status = has_leading_zero ? fail(lexer, start, "this number is malformed")
                                     : put_number(lexer, start, pos, digits.data, is_real);
    strbuf_deinit(&digits);
    return status;
}

static const char *const OPERATORS[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "*",
                                        "/",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                        ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

// The operator at pos; brackets are checked against each other with the stack of open ones.
static Status lex_operator(Lexer *lexer, StrBuf *open) {
    for (size_t i = 0; i < ARRAY_LEN(OPERATORS); i++) {
        const char *op = OPERATORS[i];
        if (!starts_with(lexer, lexer->pos, op)) continue;
        if (strchr("([{", op[0])) strbuf_putc(open, op[0] == '(' ? ')' : op[0] == '[' ? ']' : '}');
        if (strchr(")]}", op[0])) {
            if (!open->len || open->data[open->len - 1] != op[0])
                return fail(lexer, lexer->pos, "this bracket closes nothing");
            open->len--;
        }
        Token token = token_at(lexer, TOKEN_OPERATOR, lexer->pos);
        token.text = op;
        push(lexer, token);
        lexer->pos += strlen(op);
        return STATUS_OK;
    }
    return fail(lexer, lexer->pos, "this character has no meaning here");
}

// One token of a tag, blanks skipped.
static Status lex_in_tag(Lexer *lexer, StrBuf *open) {
    char c = lexer->text[lexer->pos];
    if (c == '"' || c == '\'') return lex_string(lexer);
    if (digit_value(c) < 10) return lex_number(lexer);
    if (!is_name_char(c)) return lex_operator(lexer, open);
    size_t end = lexer->pos;
    while (end < lexer->len && is_name_char(lexer->text[end])) end++;
    push_text(lexer, TOKEN_NAME, lexer->pos, end - lexer->pos);
    lexer->pos = end;
    return STATUS_OK;
}

// From behind the opening of a tag to behind its end.
static Status lex_tag(Lexer *lexer, size_t opening, bool is_variable) {
    const char *closing = is_variable ? "}}" : "%}";
    StrBuf open = {0};
    Status status = STATUS_OK;
    push(lexer, token_at(lexer, is_variable ? TOKEN_VARIABLE_BEGIN : TOKEN_BLOCK_BEGIN, opening));
    while (status == STATUS_OK) {
        lexer->pos = skip_blanks(lexer, lexer->pos);
        if (lexer->pos >= lexer->len) {
            status = fail(lexer, opening,
                          is_variable ? "this tag is not closed with }}"
                                      : "this tag is not closed with %}");
            break;
        }
        char sign = sign_at(lexer, lexer->pos);
        if (sign == '+' && is_variable) sign = '\0';
        if (!open.len && starts_with(lexer, lexer->pos + (sign ? 1 : 0), closing)) {
            push(lexer,
                 token_at(lexer, is_variable ? TOKEN_VARIABLE_END : TOKEN_BLOCK_END, lexer->pos));
            lexer->pos = skip_after_tag(lexer, lexer->pos + (sign ? 3 : 2), sign, !is_variable);
            break;
        }
        status = lex_in_tag(lexer, &open);
    }
    strbuf_deinit(&open);
    return status;
}

// Text up to the next tag, and that tag.
static Status lex_next(Lexer *lexer) {
    size_t start = lexer->pos, pos = start;
    while (pos < lexer->len && !(lexer->text[pos] == '{' && pos + 1 < lexer->len &&
                                 strchr("{%#", lexer->text[pos + 1]) && lexer->text[pos + 1]))
        pos++;
    if (pos >= lexer->len) {
        push_text(lexer, TOKEN_DATA, start, lexer->len - start);
        lexer->pos = lexer->len;
        return STATUS_OK;
    }
    char kind = lexer->text[pos + 1], sign = sign_at(lexer, pos + 2);
    size_t end = strip_before_tag(lexer, start, pos, sign, kind == '{');
    if (end > start) push_text(lexer, TOKEN_DATA, start, end - start);
    size_t raw = kind == '%' ? match_bare_tag(lexer, pos + 2, "raw", false) : 0;
    if (raw) return lex_raw(lexer, raw);
    lexer->pos = pos + 2 + (sign ? 1 : 0);
    if (kind == '#') return lex_comment(lexer, lexer->pos);
    return lex_tag(lexer, pos, kind == '{');
}

Status template_lex(Template *parsed, DiagSink *sink, TokenList *tokens) {
    Lexer lexer = {.parsed = parsed,
                   .sink = sink,
                   .tokens = tokens,
                   .text = parsed->source,
                   .len = strlen(parsed->source),
                   .line = 1};
    while (lexer.pos < lexer.len) TRY(lex_next(&lexer));
    push(&lexer, token_at(&lexer, TOKEN_END, lexer.len));
    return STATUS_OK;
}
