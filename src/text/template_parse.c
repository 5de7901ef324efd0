// Parses the statements of templates and checks the names they call; see template.h.
#include <stdlib.h>
#include <string.h>

#include "text/template_internal.h"

// ---------------------------------------------------------------- tools of the parser

// The slot of a name in the hash: its own, or the free one where it belongs.
static TemplateName *name_slot(Template *parsed, const char *text, size_t len) {
    uint64_t hash = 0xCBF29CE484222325u; // FNV-1a
    for (size_t i = 0; i < len; i++) hash = (hash ^ (uint8_t)text[i]) * 0x100000001B3u;
    size_t mask = parsed->names_capacity - 1, i = (size_t)(hash ^ hash >> 32) & mask;
    for (; parsed->names[i].text; i = (i + 1) & mask)
        if (strlen(parsed->names[i].text) == len && memcmp(parsed->names[i].text, text, len) == 0)
            break;
    return &parsed->names[i];
}

static void grow_names(Template *parsed) {
    if ((parsed->num_names + 1) * 2 <= parsed->names_capacity) return;
    TemplateName *old = parsed->names;
    size_t old_capacity = parsed->names_capacity;
    parsed->names_capacity = old_capacity ? old_capacity * 2 : 64;
    parsed->names = base_alloc(parsed->names_capacity, sizeof *parsed->names);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].text) *name_slot(parsed, old[i].text, strlen(old[i].text)) = old[i];
    free(old);
}

const char *template_intern(Template *parsed, const char *text, size_t len) {
    grow_names(parsed);
    TemplateName *slot = name_slot(parsed, text, len);
    if (!slot->text) {
        slot->text = arena_strndup(&parsed->arena, text, len);
        parsed->num_names++;
    }
    return slot->text;
}

Status template_error(const Template *parsed, DiagSink *sink, DiagCode code, uint32_t line,
                      uint32_t col, const char *fmt, ...) {
    StrBuf message = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&message, fmt, args);
    va_end(args);
    // The template may be gone when the diagnostic is shown.
    DiagSpan span = {.file = parsed->name,
                     .line = line,
                     .col = col,
                     .source = arena_strdup(&sink->arena, parsed->source)};
    Status status = diag_error(sink, code, span, "%s", message.data);
    strbuf_deinit(&message);
    return status;
}

Status template_syntax(Parser *parser, const Token *at, const char *fmt, ...) {
    StrBuf message = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&message, fmt, args);
    va_end(args);
    Status status = template_error(parser->parsed, parser->sink, DIAG_T0020, at->line, at->col,
                                   "%s", message.data);
    strbuf_deinit(&message);
    return status;
}

Node *template_node(Parser *parser, NodeKind kind, const Token *at) {
    Node *node = ARENA_NEW(&parser->parsed->arena, Node);
    node->kind = kind;
    node->line = at->line;
    node->col = at->col;
    return node;
}

static const Token *current(const Parser *parser) {
    return &parser->tokens[parser->pos];
}

bool template_at(const Parser *parser, TokenKind kind, const char *text) {
    return current(parser)->kind == kind && (!text || str_equal(current(parser)->text, text));
}

bool template_skip(Parser *parser, TokenKind kind, const char *text) {
    if (!template_at(parser, kind, text)) return false;
    parser->pos++;
    return true;
}

Status template_expect(Parser *parser, TokenKind kind, const char *text) {
    if (template_skip(parser, kind, text)) return STATUS_OK;
    const char *wanted = text                         ? text
                         : kind == TOKEN_BLOCK_END    ? "%}"
                         : kind == TOKEN_VARIABLE_END ? "}}"
                                                      : "a name";
    return template_syntax(parser, current(parser), "%s is expected here", wanted);
}

void template_bind(Parser *parser, const char *name) {
    name_slot(parser->parsed, name, strlen(name))->is_bound = true;
}

static Status expect_name(Parser *parser, const char **out_name) {
    const Token *token = current(parser);
    TRY(template_expect(parser, TOKEN_NAME, NULL));
    *out_name = template_intern(parser->parsed, token->text, token->len);
    return STATUS_OK;
}

// ---------------------------------------------------------------- bodies

static Status parse_body(Parser *parser, const char *const *end_names, Node **out);

// The end of the opening tag, the body, and the whole tag `end_name` behind it.
static Status parse_block(Parser *parser, const char *end_name, Node **out) {
    TRY(template_expect(parser, TOKEN_BLOCK_END, NULL));
    TRY(parse_body(parser, (const char *const[]){end_name, NULL}, out));
    parser->pos++; // end_name
    return STATUS_OK;
}

static Status parse_if(Parser *parser, Node *node) {
    Node **tail = &node->list;
    bool is_last = false;
    while (true) {
        Node *branch = template_node(parser, NODE_BRANCH, current(parser));
        if (!is_last) TRY(template_parse_tuple(parser, false, NULL, &branch->a));
        TRY(template_expect(parser, TOKEN_BLOCK_END, NULL));
        static const char *const ends[] = {"elif", "else", "endif", NULL}, *const last[] = {"endif",
                                                                                            NULL};
        TRY(parse_body(parser, is_last ? last : ends, &branch->list));
        *tail = branch;
        tail = &branch->next;
        if (template_skip(parser, TOKEN_NAME, "endif")) return STATUS_OK;
        is_last = template_at(parser, TOKEN_NAME, "else");
        parser->pos++;
    }
}

static Status parse_for(Parser *parser, Node *node) {
    TRY(template_parse_target(parser, &node->a));
    TRY(template_expect(parser, TOKEN_NAME, "in"));
    TRY(template_parse_tuple(parser, false, "recursive", &node->b));
    if (template_skip(parser, TOKEN_NAME, "if"))
        TRY(template_parse_expression(parser, true, &node->c));
    const Token *token = current(parser);
    if (template_at(parser, TOKEN_NAME, "recursive"))
        return template_error(parser->parsed, parser->sink, DIAG_T0021, token->line, token->col,
                              "recursive loops are not supported");
    TRY(template_expect(parser, TOKEN_BLOCK_END, NULL));
    parser->loop_depth++;
    static const char *const ends[] = {"endfor", "else", NULL};
    TRY(parse_body(parser, ends, &node->list));
    parser->loop_depth--;
    if (template_skip(parser, TOKEN_NAME, "endfor")) return STATUS_OK;
    parser->pos++; // else
    return parse_block(parser, "endfor", &node->other);
}

static Status parse_set(Parser *parser, Node *node) {
    const Token *token = current(parser);
    if (token->kind == TOKEN_NAME && token[1].kind == TOKEN_OPERATOR &&
        str_equal(token[1].text, ".")) {
        Node *target = template_node(parser, NODE_ATTR_TARGET, token);
        TRY(expect_name(parser, &target->name));
        parser->pos++; // the dot
        TRY(expect_name(parser, &target->attr));
        node->a = target;
    } else {
        TRY(template_parse_target(parser, &node->a));
    }
    if (template_skip(parser, TOKEN_OPERATOR, "="))
        return template_parse_tuple(parser, true, NULL, &node->b);
    node->kind = NODE_SET_BLOCK;
    if (template_at(parser, TOKEN_OPERATOR, "|")) {
        Node *placeholder = template_node(parser, NODE_CONST, token);
        TRY(template_parse_filters(parser, placeholder, false, &node->b));
        node->c = placeholder;
    }
    return parse_block(parser, "endset", &node->list);
}

// `(a, b=1)` of a macro or call block.
static Status parse_parameters(Parser *parser, Node *node) {
    TRY(template_expect(parser, TOKEN_OPERATOR, "("));
    Node **tail = &node->other;
    bool has_default = false;
    while (!template_at(parser, TOKEN_OPERATOR, ")")) {
        if (node->other) TRY(template_expect(parser, TOKEN_OPERATOR, ","));
        if (template_at(parser, TOKEN_OPERATOR, ")")) break;
        Node *parameter = template_node(parser, NODE_NAME, current(parser));
        TRY(expect_name(parser, &parameter->name));
        template_bind(parser, parameter->name);
        if (template_skip(parser, TOKEN_OPERATOR, "=")) {
            TRY(template_parse_expression(parser, true, &parameter->a));
            has_default = true;
        } else if (has_default) {
            return template_syntax(parser, current(parser),
                                   "a parameter without a default follows one with");
        }
        *tail = parameter;
        tail = &parameter->next;
    }
    return template_expect(parser, TOKEN_OPERATOR, ")");
}

// Loops around the definition are not loops of the body: break and continue end at its border.
static Status parse_function_body(Parser *parser, Node *node, const char *end_name) {
    size_t loop_depth = parser->loop_depth;
    parser->loop_depth = 0;
    parser->macro_depth++;
    TRY(parse_block(parser, end_name, &node->list));
    parser->macro_depth--;
    parser->loop_depth = loop_depth;
    return STATUS_OK;
}

static Status parse_macro(Parser *parser, Node *node) {
    TRY(expect_name(parser, &node->name));
    template_bind(parser, node->name);
    TRY(parse_parameters(parser, node));
    return parse_function_body(parser, node, "endmacro");
}

static Status parse_call_block(Parser *parser, Node *node) {
    if (template_at(parser, TOKEN_OPERATOR, "(")) TRY(parse_parameters(parser, node));
    const Token *at = current(parser);
    TRY(template_parse_expression(parser, true, &node->a));
    if (node->a->kind != NODE_CALL) return template_syntax(parser, at, "a call is expected here");
    return parse_function_body(parser, node, "endcall");
}

static Status parse_filter_block(Parser *parser, Node *node) {
    node->c = template_node(parser, NODE_CONST, current(parser));
    TRY(template_parse_filters(parser, node->c, true, &node->b));
    return parse_block(parser, "endfilter", &node->list);
}

static Status parse_with(Parser *parser, Node *node) {
    Node **tail = &node->other;
    while (!template_at(parser, TOKEN_BLOCK_END, NULL)) {
        if (node->other) TRY(template_expect(parser, TOKEN_OPERATOR, ","));
        Node *target = template_node(parser, NODE_NAME, current(parser));
        TRY(expect_name(parser, &target->name));
        template_bind(parser, target->name);
        TRY(template_expect(parser, TOKEN_OPERATOR, "="));
        TRY(template_parse_expression(parser, true, &target->a));
        *tail = target;
        tail = &target->next;
    }
    return parse_block(parser, "endwith", &node->list);
}

static Status parse_generation(Parser *parser, Node *node) {
    return parse_block(parser, "endgeneration", &node->list);
}

static Status parse_jump(Parser *parser, Node *node) {
    if (parser->loop_depth) return STATUS_OK;
    return template_syntax(parser, &(Token){.line = node->line, .col = node->col},
                           "this stands outside of a loop");
}

static const struct {
    const char *name;
    NodeKind kind;
    Status (*parse)(Parser *parser, Node *node);
} STATEMENTS[] = {
    {"if", NODE_IF, parse_if},
    {"for", NODE_FOR, parse_for},
    {"set", NODE_SET, parse_set},
    {"macro", NODE_MACRO, parse_macro},
    {"call", NODE_CALL_BLOCK, parse_call_block},
    {"filter", NODE_FILTER_BLOCK, parse_filter_block},
    {"with", NODE_WITH, parse_with},
    {"generation", NODE_SCOPE, parse_generation},
    {"break", NODE_BREAK, parse_jump},
    {"continue", NODE_CONTINUE, parse_jump},
};

static Status unknown_statement(Parser *parser, const Token *name) {
    static const char *const ends[] = {"elif",    "else",         "endif",   "endfor",
                                       "endset",  "endmacro",     "endcall", "endfilter",
                                       "endwith", "endgeneration"};
    const char *names[ARRAY_LEN(STATEMENTS)];
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_equal(ends[i], name->text))
            return template_syntax(parser, name, "\"%s\" ends nothing here", name->text);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) names[i] = STATEMENTS[i].name;
    Status status = template_error(parser->parsed, parser->sink, DIAG_T0021, name->line, name->col,
                                   "there is no statement \"%s\"", name->text);
    const char *nearest = str_nearest(name->text, names, ARRAY_LEN(names));
    if (nearest) diag_write(parser->sink, "%s", nearest);
    return status;
}

static Status parse_statement(Parser *parser, Node **out) {
    const Token *name = current(parser);
    TRY(template_expect(parser, TOKEN_NAME, NULL));
    for (size_t i = 0; i < ARRAY_LEN(STATEMENTS); i++) {
        if (!str_equal(STATEMENTS[i].name, name->text)) continue;
        if (++parser->depth > TEMPLATE_MAX_DEPTH)
            return template_error(parser->parsed, parser->sink, DIAG_T0022, name->line, name->col,
                                  "statements are nested more than %d deep", TEMPLATE_MAX_DEPTH);
        *out = template_node(parser, STATEMENTS[i].kind, name);
        TRY(STATEMENTS[i].parse(parser, *out));
        parser->depth--;
        return template_expect(parser, TOKEN_BLOCK_END, NULL);
    }
    return unknown_statement(parser, name);
}

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (str_equal(name, *names)) return true;
    return false;
}

static Status parse_piece(Parser *parser, Node **out) {
    const Token *token = current(parser);
    parser->pos++;
    switch (token->kind) {
    case TOKEN_DATA:
        *out = template_node(parser, NODE_TEXT, token);
        (*out)->value = template_string(&parser->parsed->arena, token->text, token->len, false);
        return STATUS_OK;
    case TOKEN_VARIABLE_BEGIN:
        *out = template_node(parser, NODE_PRINT, token);
        TRY(template_parse_tuple(parser, true, NULL, &(*out)->a));
        return template_expect(parser, TOKEN_VARIABLE_END, NULL);
    default: return parse_statement(parser, out);
    }
}

// Everything up to a tag that begins with one of end_names, which is then the current token; up to
// the end of the template if end_names is NULL.
static Status parse_body(Parser *parser, const char *const *end_names, Node **out) {
    Node **tail = out;
    *out = NULL;
    while (true) {
        const Token *token = current(parser);
        if (token->kind == TOKEN_END) {
            if (!end_names) return STATUS_OK;
            return template_syntax(parser, token, "the template ends before {%% %s %%}",
                                   *end_names);
        }
        bool is_end = end_names && token->kind == TOKEN_BLOCK_BEGIN &&
                      token[1].kind == TOKEN_NAME && is_one_of(token[1].text, end_names);
        if (is_end) {
            parser->pos++;
            return STATUS_OK;
        }
        TRY(parse_piece(parser, tail));
        tail = &(*tail)->next;
    }
}

// ---------------------------------------------------------------- the whole

// Every name that is called is a function of ours or is given a value by the template.
static Status check_calls(Parser *parser) {
    Status status = STATUS_OK;
    for (const Node *call = parser->calls; call; call = call->next) {
        const TemplateName *slot = name_slot(parser->parsed, call->name, strlen(call->name));
        if (template_find_function(call->name) >= 0 || slot->is_bound ||
            str_equal(call->name, "caller"))
            continue;
        status = template_error(parser->parsed, parser->sink, DIAG_T0021, call->line, call->col,
                                "there is no function \"%s\"", call->name);
    }
    return status;
}

static Status parse_whole(Template *parsed, DiagSink *sink) {
    TokenList tokens = {0};
    Status status = template_lex(parsed, sink, &tokens);
    if (status == STATUS_OK) {
        Parser parser = {.parsed = parsed, .sink = sink, .tokens = tokens.tokens};
        status = parse_body(&parser, NULL, &parsed->body);
        if (status == STATUS_OK) status = check_calls(&parser);
    }
    free(tokens.tokens);
    return status;
}

// As Jinja reads a template: every kind of newline is one \n, the last one is dropped.
static char *normalise_newlines(Arena *arena, const char *text, size_t len) {
    char *out = ARENA_ARRAY(arena, char, len + 1);
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        bool is_pair = text[i] == '\r' && i + 1 < len && text[i + 1] == '\n';
        if (!is_pair) out[count++] = text[i] == '\r' ? '\n' : text[i];
    }
    if (count && out[count - 1] == '\n') count--;
    out[count] = '\0';
    return out;
}

static Status check_text(const char *text, size_t len, const char *name, DiagSink *sink) {
    DiagSpan span = {.file = name};
    if (len > TEMPLATE_MAX_BYTES)
        return diag_error(sink, DIAG_T0022, span,
                          "the template has %zu bytes; at most %d are allowed", len,
                          TEMPLATE_MAX_BYTES);
    for (size_t i = 0; i < len;) {
        Utf8Step step = utf8_step(text + i, len - i);
        if (step.kind != UTF8_CHAR || step.code_point == 0) {
            span.byte_offset = i;
            return diag_error(sink, DIAG_T0020, span, "the template is not UTF-8 text at byte %zu",
                              i);
        }
        i += step.num_bytes;
    }
    return STATUS_OK;
}

Status template_parse(const char *text, size_t len, const char *name, DiagSink *sink,
                      Template **out_template) {
    TRY(check_text(text, len, name, sink));
    Template *parsed = base_alloc(1, sizeof *parsed);
    arena_init(&parsed->arena);
    parsed->name = arena_strdup(&parsed->arena, name);
    parsed->source = normalise_newlines(&parsed->arena, text, len);
    Status status = parse_whole(parsed, sink);
    if (status == STATUS_OK)
        *out_template = parsed;
    else
        template_destroy(parsed);
    return status;
}

void template_destroy(Template *parsed) {
    if (!parsed) return;
    arena_deinit(&parsed->arena);
    free(parsed->names);
    free(parsed);
}
