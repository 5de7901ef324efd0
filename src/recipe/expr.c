// Recursive descent over the text, evaluating as it reads; see expr.h.
#include "recipe/expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct Parser {
    const ExprScope *scope;
    const char *at;
    unsigned depth;
    DiagSpan span;
    DiagSink *sink;
} Parser;

void expr_define(ExprScope *scope, const char *name, double value, const char *origin) {
    if (scope->num_names == scope->capacity) {
        size_t capacity = scope->capacity ? scope->capacity * 2 : 32;
        ExprName *names = ARENA_ARRAY(scope->arena, ExprName, capacity);
        if (scope->num_names) memcpy(names, scope->names, scope->num_names * sizeof *names);
        scope->names = names;
        scope->capacity = capacity;
    }
    scope->names[scope->num_names++] =
        (ExprName){.name = arena_strdup(scope->arena, name), .value = value, .origin = origin};
}

const ExprName *expr_find(const ExprScope *scope, const char *name, size_t len) {
    for (; scope; scope = scope->parent)
        for (size_t i = scope->num_names; i-- > 0;) {
            const ExprName *found = &scope->names[i];
            if (strncmp(found->name, name, len) == 0 && found->name[len] == 0) return found;
        }
    return NULL;
}

static bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_';
}

static size_t name_len(const char *text) {
    size_t len = 0;
    while (isalnum((unsigned char)text[len]) || text[len] == '_') len++;
    return len;
}

static void skip_blanks(Parser *p) {
    while (*p->at == ' ' || *p->at == '\n') p->at++;
}

// Takes token if it is next; a word only if it ends there.
static bool take(Parser *p, const char *token) {
    skip_blanks(p);
    size_t len = strlen(token);
    if (strncmp(p->at, token, len) != 0) return false;
    if (is_name_start(token[0]) && name_len(p->at) != len) return false;
    p->at += len;
    return true;
}

static Status fault(Parser *p, const char *what) {
    return diag_error(p->sink, DIAG_R0013, p->span, "%s at '%.20s'", what, p->at);
}

static Status parse_or(Parser *p, double *out);

static Status parse_atom(Parser *p, double *out) {
    skip_blanks(p);
    if (take(p, "(")) {
        TRY(parse_or(p, out));
        return take(p, ")") ? STATUS_OK : fault(p, "a ) is missing");
    }
    if (isdigit((unsigned char)*p->at)) {
        char *end = NULL;
        *out = strtod(p->at, &end);
        p->at = end;
        return STATUS_OK;
    }
    size_t len = name_len(p->at);
    if (!is_name_start(*p->at)) return fault(p, "a number or a name is missing");
    if (take(p, "sqrt")) {
        if (!take(p, "(")) return fault(p, "a ( is missing");
        double x = 0;
        TRY(parse_or(p, &x));
        if (!take(p, ")")) return fault(p, "a ) is missing");
        if (x < 0) return fault(p, "the root of a negative number");
        *out = sqrt(x);
        return STATUS_OK;
    }
    const ExprName *name = expr_find(p->scope, p->at, len);
    if (!name) return fault(p, "an unknown name");
    *out = name->value;
    p->at += len;
    return STATUS_OK;
}

static Status parse_unary(Parser *p, double *out) {
    if (++p->depth > MAX_DEPTH) return fault(p, "the expression is nested too deep");
    bool is_negative = take(p, "-");
    TRY(is_negative ? parse_unary(p, out) : parse_atom(p, out));
    if (is_negative) *out = -*out;
    p->depth--;
    return STATUS_OK;
}

static Status parse_product(Parser *p, double *out) {
    double a = 0, b = 0;
    TRY(parse_unary(p, &a));
    for (;;) {
        char op = take(p, "*") ? '*' : take(p, "/") ? '/' : take(p, "%") ? '%' : 0;
        if (!op) break;
        TRY(parse_unary(p, &b));
        if (op != '*' && b == 0) return fault(p, "a division by zero");
        a = op == '*' ? a * b : op == '/' ? a / b : fmod(a, b);
    }
    *out = a;
    return STATUS_OK;
}

static Status parse_sum(Parser *p, double *out) {
    double a = 0, b = 0;
    TRY(parse_product(p, &a));
    for (;;) {
        char op = take(p, "+") ? '+' : take(p, "-") ? '-' : 0;
        if (!op) break;
        TRY(parse_product(p, &b));
        a = op == '+' ? a + b : a - b;
    }
    *out = a;
    return STATUS_OK;
}

static Status parse_comparison(Parser *p, double *out) {
    double a = 0, b = 0;
    TRY(parse_sum(p, &a));
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">"};
    size_t op = 0;
    while (op < ARRAY_LEN(ops) && !take(p, ops[op])) op++;
    if (op == ARRAY_LEN(ops)) {
        *out = a;
        return STATUS_OK;
    }
    TRY(parse_sum(p, &b));
    const bool truths[] = {a == b, a != b, a <= b, a >= b, a<b, a> b};
    *out = truths[op];
    return STATUS_OK;
}

static Status parse_and(Parser *p, double *out) {
    double a = 0, b = 0;
    TRY(parse_comparison(p, &a));
    while (take(p, "and")) {
        TRY(parse_comparison(p, &b));
        a = a != 0 && b != 0;
    }
    *out = a;
    return STATUS_OK;
}

static Status parse_or(Parser *p, double *out) {
    double a = 0, b = 0;
    if (++p->depth > MAX_DEPTH) return fault(p, "the expression is nested too deep");
    TRY(parse_and(p, &a));
    while (take(p, "or")) {
        TRY(parse_and(p, &b));
        a = a != 0 || b != 0;
    }
    p->depth--;
    *out = a;
    return STATUS_OK;
}

Status expr_eval(const ExprScope *scope, const char *text, DiagSpan span, DiagSink *sink,
                 double *out) {
    Parser p = {.scope = scope, .at = text, .span = span, .sink = sink};
    double value = 0;
    TRY(parse_or(&p, &value));
    skip_blanks(&p);
    if (*p.at) return fault(&p, "the expression does not end");
    if (!isfinite(value))
        return diag_error(sink, DIAG_R0013, span, "%.60s is not a finite number", text);
    *out = value;
    return STATUS_OK;
}

Status expr_eval_int(const ExprScope *scope, const char *text, int64_t min, int64_t max,
                     DiagSpan span, DiagSink *sink, int64_t *out) {
    double value = 0;
    TRY(expr_eval(scope, text, span, sink, &value));
    if (value != floor(value) || value < (double)min || value > (double)max) {
        Status status =
            diag_error(sink, DIAG_F0016, span,
                       "%.60s is %.17g, not a whole number from %" PRId64 " to %" PRId64, text,
                       value, min, max);
        StrBuf evidence = {0};
        expr_describe(scope, text, &evidence);
        if (evidence.data) diag_evidence(sink, "%s", evidence.data);
        strbuf_deinit(&evidence);
        return status;
    }
    *out = (int64_t)value;
    return STATUS_OK;
}

void expr_describe(const ExprScope *scope, const char *text, StrBuf *out) {
    for (const char *at = text; *at;) {
        size_t len = name_len(at);
        const ExprName *name = is_name_start(*at) ? expr_find(scope, at, len) : NULL;
        if (name) {
            strbuf_printf(out, "%s%s = %.17g", out->len ? ", " : "", name->name, name->value);
            if (name->origin) strbuf_printf(out, " (%s)", name->origin);
        }
        at += len ? len : 1;
    }
}
