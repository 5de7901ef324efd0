// Tokens of the IR's text. Private to the parser.
#ifndef INGOT_IR_LEXER_H
#define INGOT_IR_LEXER_H

#include "ir/ir.h"

typedef enum TokenKind {
    TOKEN_EOF,
    TOKEN_BAD,    // no token: an unknown character or an unclosed string
    TOKEN_WORD,   // name or keyword: [A-Za-z_][A-Za-z0-9_$.]*
    TOKEN_VALUE,  // %name, text without the %
    TOKEN_BLOCK,  // ^name
    TOKEN_SYMBOL, // @name, @"name"
    TOKEN_HASH,   // #name
    TOKEN_BANG,   // !name
    TOKEN_INT,    // 12, 0x1F
    TOKEN_FLOAT,  // 1.5e3
    TOKEN_STRING, // text with the quotes
    TOKEN_ARROW,  // ->
    TOKEN_COLON2, // ::
    TOKEN_CHAR,   // any of ( ) { } [ ] < > , : = + - * ? / |, in ch
} TokenKind;

typedef struct Token {
    TokenKind kind;
    char ch;
    const char *text; // without the sigil
    uint32_t len;
    const char *start, *line_start;
    uint32_t line;
} Token;

typedef struct Lexer {
    const char *at, *end, *line_start;
    uint32_t line;
} Lexer;

void lexer_init(Lexer *lexer, const char *text, size_t len);
void lexer_next(Lexer *lexer, Token *out_token);
// Goes back to the start of a token.
void lexer_rewind(Lexer *lexer, const Token *token);

#endif
