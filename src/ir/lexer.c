// Cuts IR text into tokens; see lexer.h. Reads no byte outside [text, text + len).
#include "ir/lexer.h"

void lexer_init(Lexer *lexer, const char *text, size_t len) {
    *lexer = (Lexer){.at = text, .end = text + len, .line_start = text, .line = 1};
}

void lexer_rewind(Lexer *lexer, const Token *token) {
    lexer->at = token->start;
    lexer->line_start = token->line_start;
    lexer->line = token->line;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static bool is_word(char c) {
    return is_letter(c) || is_digit(c) || c == '$' || c == '.';
}
static bool is_suffix(char c) {
    return is_word(c) || c == '-';
}
static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void skip_blanks(Lexer *lexer) {
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '\n') {
            lexer->at++;
            lexer->line++;
            lexer->line_start = lexer->at;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->at++;
        } else if (c == '/' && lexer->end - lexer->at > 1 && lexer->at[1] == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n') lexer->at++;
        } else {
            return;
        }
    }
}

static void take_while(Lexer *lexer, bool (*accepts)(char)) {
    while (lexer->at < lexer->end && accepts(*lexer->at)) lexer->at++;
}

static char peek(const Lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : 0;
}

static void finish(const Lexer *lexer, Token *token, TokenKind kind, const char *text) {
    token->kind = kind;
    token->text = text;
    token->len = (uint32_t)(lexer->at - text);
}

static bool take_string(Lexer *lexer) {
    for (lexer->at++; lexer->at < lexer->end && *lexer->at != '\n'; lexer->at++) {
        if (*lexer->at == '"') {
            lexer->at++;
            return true;
        }
        if (*lexer->at == '\\' && peek(lexer, 1) && peek(lexer, 1) != '\n') lexer->at++;
    }
    return false;
}

static void take_number(Lexer *lexer, Token *token) {
    const char *text = lexer->at;
    if (*text == '0' && peek(lexer, 1) == 'x' && is_hex(peek(lexer, 2))) {
        lexer->at += 2;
        take_while(lexer, is_hex);
        finish(lexer, token, TOKEN_INT, text);
        return;
    }
    take_while(lexer, is_digit);
    if (peek(lexer, 0) != '.') {
        finish(lexer, token, TOKEN_INT, text);
        return;
    }
    lexer->at++;
    take_while(lexer, is_digit);
    char e = peek(lexer, 0), sign = peek(lexer, 1);
    if (e == 'e' || e == 'E') {
        size_t skip = sign == '+' || sign == '-' ? 2 : 1;
        if (is_digit(peek(lexer, skip))) {
            lexer->at += skip;
            take_while(lexer, is_digit);
        }
    }
    finish(lexer, token, TOKEN_FLOAT, text);
}

// %name, ^name, #name, !name, @name: a sigil, then digits only or a name.
static void take_sigil(Lexer *lexer, Token *token, TokenKind kind, bool (*accepts)(char)) {
    const char *text = ++lexer->at;
    char c = peek(lexer, 0);
    if (is_digit(c))
        take_while(lexer, is_digit);
    else if (is_letter(c) || (accepts == is_suffix && (c == '$' || c == '.' || c == '-')))
        take_while(lexer, accepts);
    finish(lexer, token, lexer->at > text ? kind : TOKEN_BAD, text);
}

static void take_symbol(Lexer *lexer, Token *token) {
    if (peek(lexer, 1) != '"') {
        take_sigil(lexer, token, TOKEN_SYMBOL, is_word);
        return;
    }
    const char *text = ++lexer->at;
    bool closed = take_string(lexer);
    finish(lexer, token, closed ? TOKEN_SYMBOL : TOKEN_BAD, text);
}

void lexer_next(Lexer *lexer, Token *out_token) {
    skip_blanks(lexer);
    *out_token = (Token){.start = lexer->at, .line_start = lexer->line_start, .line = lexer->line};
    if (lexer->at == lexer->end) {
        out_token->text = lexer->at;
        return;
    }
    const char *text = lexer->at;
    char c = *text;
    if (is_letter(c)) {
        take_while(lexer, is_word);
        finish(lexer, out_token, TOKEN_WORD, text);
    } else if (is_digit(c)) {
        take_number(lexer, out_token);
    } else if (c == '%') {
        take_sigil(lexer, out_token, TOKEN_VALUE, is_suffix);
    } else if (c == '^') {
        take_sigil(lexer, out_token, TOKEN_BLOCK, is_suffix);
    } else if (c == '#') {
        take_sigil(lexer, out_token, TOKEN_HASH, is_suffix);
    } else if (c == '!') {
        take_sigil(lexer, out_token, TOKEN_BANG, is_suffix);
    } else if (c == '@') {
        take_symbol(lexer, out_token);
    } else if (c == '"') {
        bool closed = take_string(lexer);
        finish(lexer, out_token, closed ? TOKEN_STRING : TOKEN_BAD, text);
    } else if (c == '-' && peek(lexer, 1) == '>') {
        lexer->at += 2;
        finish(lexer, out_token, TOKEN_ARROW, text);
    } else if (c == ':' && peek(lexer, 1) == ':') {
        lexer->at += 2;
        finish(lexer, out_token, TOKEN_COLON2, text);
    } else {
        lexer->at++;
        bool known = c && __builtin_strchr("(){}[]<>,:=+-*?/|", c);
        finish(lexer, out_token, known ? TOKEN_CHAR : TOKEN_BAD, text);
        out_token->ch = c;
    }
}
