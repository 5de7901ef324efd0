// Types in IR text.
#include <string.h>

#include "ir/parser.h"

// Largest number of elements (or bytes) of a type: keeps every size computation far from overflow.
static const int64_t max_elems = (int64_t)1 << 48;

static const char *const known_types[] = {"i1",  "i4",     "i8",     "i16",    "i32",
                                          "i64", "index",  "f16",    "bf16",   "f32",
                                          "f64", "tensor", "memref", "vector", "none"};
// What MLIR has and the subset leaves out.
static const char *const foreign_types[] = {"f8E4M3FN", "f8E5M2",     "f8E8M0FNU",  "f4E2M1FN",
                                            "f8E4M3",   "f8E4M3FNUZ", "f8E5M2FNUZ", "f6E2M3FN",
                                            "f6E3M2FN", "f80",        "f128",       "tf32",
                                            "complex",  "tuple",      "opaque"};

static Status unknown_type(Parser *p, const Token *token) {
    char name[64];
    size_t len = MIN((size_t)token->len, sizeof name - 1);
    memcpy(name, token->text, len);
    name[len] = 0;
    for (size_t i = 0; i < ARRAY_LEN(foreign_types); i++)
        if (str_equal(foreign_types[i], name))
            return parse_error(p, DIAG_I0013, token, "type %s is not used", name);
    Status status = parse_error(p, DIAG_I0005, token, "unknown type %s", name);
    const char *nearest = str_nearest(name, known_types, ARRAY_LEN(known_types));
    if (nearest) diag_write(p->sink, "%s", nearest);
    return status;
}

// i32 and the like; also refuses si32, ui8 and odd widths. False if it is no such name.
static bool integer_name(const Token *token, uint32_t *out_width, bool *out_signed) {
    const char *at = token->text, *end = at + token->len;
    *out_signed = end - at > 1 && (*at == 's' || *at == 'u') && at[1] == 'i';
    if (*out_signed) at++;
    if (*at++ != 'i' || at == end || end - at > 8) return false;
    uint32_t width = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') return false;
        width = width * 10 + (uint32_t)(*at - '0');
    }
    *out_width = width;
    return true;
}

static Status parse_scalar(Parser *p, const IrType **out_type) {
    Token token = p->tok;
    uint32_t width;
    bool is_signed;
    if (integer_name(&token, &width, &is_signed)) {
        bool usable =
            width == 1 || width == 4 || width == 8 || width == 16 || width == 32 || width == 64;
        if (is_signed)
            return parse_error(p, DIAG_I0013, &token,
                               "type %.*s is not used: integers are signless, write i%u, the sign "
                               "is in the operation",
                               (int)token.len, token.start, width);
        if (!usable) return parse_error(p, DIAG_I0013, &token, "type i%u is not used", width);
        *out_type = ir_type_int(p->m, width);
    } else if (token_is(&token, "index")) {
        *out_type = ir_type_index(p->m);
    } else if (token_is(&token, "f16")) {
        *out_type = ir_type_float(p->m, IR_TYPE_F16);
    } else if (token_is(&token, "bf16")) {
        *out_type = ir_type_float(p->m, IR_TYPE_BF16);
    } else if (token_is(&token, "f32")) {
        *out_type = ir_type_f32(p->m);
    } else if (token_is(&token, "f64")) {
        *out_type = ir_type_float(p->m, IR_TYPE_F64);
    } else if (token_is(&token, "none")) {
        *out_type = ir_type_none(p->m);
    } else {
        return unknown_type(p, &token);
    }
    advance(p);
    return STATUS_OK;
}

// ---------------------------------------------------------------- dimensions

typedef struct Dims {
    int64_t shape[MAX_RANK];
    uint32_t rank;
    bool is_unranked;
} Dims;

static Status size_error(Parser *p, const Token *at) {
    return parse_error(p, DIAG_I0011, at, "type with more than 2^48 elements");
}

// Cuts one dimension "12x", "12 x" or "?x" off the characters; false at anything else.
static Status cut_dim(Parser *p, Dims *dims, bool *out_more) {
    Lexer *lexer = &p->lexer;
    lexer_rewind(lexer, &p->tok);
    const char *at = lexer->at, *end = lexer->end;
    int64_t size = 0;
    if (at < end && *at == '?') {
        size = IR_DYNAMIC;
        at++;
    } else {
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            if (size > max_elems) return size_error(p, &p->tok);
            size = size * 10 + (*at - '0');
        }
    }
    bool is_size = at > lexer->at;
    while (is_size && at < end && strchr(" \t\r\n", *at) && *at) at++;
    *out_more = is_size && at < end && *at == 'x';
    if (!*out_more) {
        advance(p);
        return STATUS_OK;
    }
    if (dims->rank == MAX_RANK)
        return parse_error(p, DIAG_I0011, &p->tok, "more than %d dimensions", (int)MAX_RANK);
    dims->shape[dims->rank++] = size;
    lexer->at = at + 1;
    advance(p);
    return STATUS_OK;
}

static Status parse_dims(Parser *p, Dims *dims, bool may_be_unranked) {
    *dims = (Dims){0};
    Token first = p->tok;
    if (may_be_unranked && at_char(p, '*')) {
        dims->is_unranked = true;
        p->lexer.at = p->tok.start + 1;
        if (p->lexer.at == p->lexer.end || *p->lexer.at != 'x')
            return parse_error(p, DIAG_I0001, &p->tok, "expected *x");
        p->lexer.at++;
        advance(p);
        return STATUS_OK;
    }
    for (bool more = true; more;) TRY(cut_dim(p, dims, &more));
    int64_t total = 1;
    for (uint32_t i = 0; i < dims->rank; i++) {
        int64_t size = dims->shape[i];
        if (size == IR_DYNAMIC || size == 0) continue;
        if (__builtin_mul_overflow(total, size, &total) || total > max_elems)
            return size_error(p, &first);
    }
    return STATUS_OK;
}

static Status parse_elem(Parser *p, bool may_be_ptr, const IrType **out_type) {
    Token at = p->tok;
    TRY(parse_type(p, out_type));
    if (ir_type_is_scalar(*out_type) || (may_be_ptr && (*out_type)->kind == IR_TYPE_PTR))
        return STATUS_OK;
    return parse_error(p, DIAG_I0013, &at,
                       "elements of '%.*s' are not used: integers, indices or floats", (int)at.len,
                       at.text);
}

// ---------------------------------------------------------------- memref

static Status parse_stride(Parser *p, int64_t *out) {
    if (eat_char(p, '?')) {
        *out = IR_DYNAMIC;
        return STATUS_OK;
    }
    Token at = p->tok;
    TRY(parse_int(p, out));
    if (*out < -max_elems || *out > max_elems) return size_error(p, &at);
    return STATUS_OK;
}

// strided<[4, ?], offset: 16>
static Status parse_strided(Parser *p, const Dims *dims, int64_t *strides, int64_t *out_offset) {
    Token at = p->tok;
    advance(p);
    TRY(expect_char(p, '<'));
    TRY(expect_char(p, '['));
    uint32_t n = 0;
    while (!eat_char(p, ']')) {
        if (n) TRY(expect_char(p, ','));
        if (n == dims->rank)
            return parse_error(p, DIAG_I0001, &at, "more strides than the %u dimensions",
                               dims->rank);
        TRY(parse_stride(p, &strides[n++]));
    }
    if (n != dims->rank)
        return parse_error(p, DIAG_I0001, &at, "%u strides for %u dimensions", n, dims->rank);
    *out_offset = 0;
    if (eat_char(p, ',')) {
        TRY(expect_word(p, "offset"));
        TRY(expect_char(p, ':'));
        TRY(parse_stride(p, out_offset));
    }
    return expect_char(p, '>');
}

static Status parse_space(Parser *p, const IrAttr **out_space) {
    Token at = p->tok;
    if (at_word(p, "affine_map") || p->tok.kind == TOKEN_WORD)
        return parse_error(p, DIAG_I0013, &at,
                           "layout %.*s of a memref is not used, only strided<[...], offset: ...>",
                           (int)at.len, at.text);
    TRY(parse_attr(p, NULL, out_space));
    IrAttrKind kind = (*out_space)->kind;
    if (kind == IR_ATTR_INT && (*out_space)->i == 0)
        *out_space = NULL; // the default space
    else if (kind != IR_ATTR_INT && kind != IR_ATTR_STRING && kind != IR_ATTR_OPAQUE_ENUM)
        return parse_error(p, DIAG_I0013, &at,
                           "'%.*s' of a memref is not used: a layout is strided<[...], offset: "
                           "...>, a memory space is a number, a string or #gpu.address_space",
                           (int)at.len, at.text);
    return STATUS_OK;
}

static Status parse_memref(Parser *p, const IrType **out_type) {
    Dims dims;
    const IrType *elem;
    TRY(parse_dims(p, &dims, true));
    TRY(parse_elem(p, false, &elem));
    if (dims.is_unranked) {
        *out_type = ir_type_unranked(p->m, IR_TYPE_UNRANKED_MEMREF, elem);
        return expect_char(p, '>');
    }
    int64_t strides[MAX_RANK] = {0}, offset = 0;
    bool has_layout = false;
    const IrAttr *space = NULL;
    while (eat_char(p, ',')) {
        if (at_word(p, "strided") && !has_layout && !space) {
            has_layout = true;
            TRY(parse_strided(p, &dims, strides, &offset));
        } else {
            TRY(parse_space(p, &space));
        }
    }
    *out_type = ir_type_memref_strided(p->m, dims.rank, dims.shape, elem,
                                       has_layout ? strides : NULL, offset, space);
    return expect_char(p, '>');
}

// ---------------------------------------------------------------- tensor, vector, function

static Status parse_tensor(Parser *p, const IrType **out_type) {
    Dims dims;
    const IrType *elem;
    TRY(parse_dims(p, &dims, true));
    TRY(parse_elem(p, false, &elem));
    if (at_char(p, ',')) {
        TRY(expect_char(p, ','));
        return parse_error(p, DIAG_I0013, &p->tok, "encoding '%.*s' of a tensor is not used",
                           (int)p->tok.len, p->tok.text);
    }
    *out_type = dims.is_unranked ? ir_type_unranked(p->m, IR_TYPE_UNRANKED_TENSOR, elem)
                                 : ir_type_tensor(p->m, dims.rank, dims.shape, elem);
    return expect_char(p, '>');
}

static Status parse_vector(Parser *p, const IrType **out_type) {
    Dims dims;
    const IrType *elem;
    Token at = p->tok;
    if (at_char(p, '['))
        return parse_error(p, DIAG_I0013, &at, "type vector<[...]> of scalable size is not used");
    TRY(parse_dims(p, &dims, false));
    if (at_char(p, '['))
        return parse_error(p, DIAG_I0013, &p->tok,
                           "type vector<[...]> of scalable size is not used");
    for (uint32_t i = 0; i < dims.rank; i++)
        if (dims.shape[i] <= 0)
            return parse_error(p, DIAG_I0013, &at, "vector sizes are positive constants");
    TRY(parse_elem(p, true, &elem));
    *out_type = ir_type_vector(p->m, dims.rank, dims.shape, elem);
    return expect_char(p, '>');
}

Status parse_result_types(Parser *p, Slice *out_types) {
    out_types->start = p->num_types;
    out_types->count = 0;
    if (!at_char(p, '(')) {
        const IrType *type;
        TRY(parse_type(p, &type));
        push_type(p, type);
        out_types->count = 1;
        return STATUS_OK;
    }
    advance(p);
    if (eat_char(p, ')')) return STATUS_OK;
    TRY(parse_types(p, out_types));
    return expect_char(p, ')');
}

Status parse_function_type(Parser *p, Slice *out_inputs, Slice *out_results) {
    TRY(expect_char(p, '('));
    out_inputs->start = p->num_types;
    out_inputs->count = 0;
    if (!at_char(p, ')')) TRY(parse_types(p, out_inputs));
    TRY(expect_char(p, ')'));
    TRY(expect_arrow(p));
    return parse_result_types(p, out_results);
}

static Status parse_function(Parser *p, const IrType **out_type) {
    uint32_t mark = p->num_types;
    Slice inputs, results;
    TRY(parse_function_type(p, &inputs, &results));
    *out_type = ir_type_function(p->m, inputs.count, p->types + inputs.start, results.count,
                                 p->types + results.start);
    p->num_types = mark;
    return STATUS_OK;
}

// ---------------------------------------------------------------- llvm

static Status parse_llvm_list(Parser *p, char close, Slice *out_types) {
    out_types->start = p->num_types;
    out_types->count = 0;
    if (!at_char(p, close)) TRY(parse_types(p, out_types));
    return expect_char(p, close);
}

static Status parse_llvm_struct(Parser *p, const IrType **out_type) {
    uint32_t mark = p->num_types;
    Slice elems;
    Token at = p->tok;
    if (at_word(p, "packed") || at_word(p, "opaque") || at.kind == TOKEN_STRING)
        return parse_error(p, DIAG_I0013, &at, "only literal, unpacked structures are used");
    TRY(expect_char(p, '('));
    TRY(parse_llvm_list(p, ')', &elems));
    *out_type = ir_type_struct(p->m, elems.count, p->types + elems.start);
    p->num_types = mark;
    return expect_char(p, '>');
}

static Status parse_llvm_function(Parser *p, const IrType **out_type) {
    uint32_t mark = p->num_types;
    const IrType *result;
    Slice inputs;
    TRY(parse_type(p, &result));
    TRY(expect_char(p, '('));
    TRY(parse_llvm_list(p, ')', &inputs));
    *out_type = ir_type_llvm_function(p->m, result, inputs.count, p->types + inputs.start);
    p->num_types = mark;
    return expect_char(p, '>');
}

static Status parse_llvm_array(Parser *p, const IrType **out_type) {
    Token at = p->tok;
    uint64_t count;
    Dims dims = {0};
    bool more;
    // "4 x f32", also "4xf32"
    TRY(cut_dim(p, &dims, &more));
    if (more) {
        count = (uint64_t)dims.shape[0];
    } else {
        TRY(parse_uint(p, (uint64_t)max_elems, &count));
        TRY(expect_word(p, "x"));
    }
    if ((int64_t)count < 0 || (int64_t)count > max_elems) return size_error(p, &at);
    const IrType *elem;
    TRY(parse_type(p, &elem));
    *out_type = ir_type_array(p->m, (int64_t)count, elem);
    return expect_char(p, '>');
}

// The name after "!llvm." (or without it inside such a type); the token is the next one.
static Status parse_llvm_named(Parser *p, const char *name, size_t len, const Token *at,
                               const IrType **out_type) {
    bool outer = p->in_llvm_type;
    p->in_llvm_type = true;
    Status status;
    if (len == 3 && memcmp(name, "ptr", 3) == 0) {
        uint64_t space = 0;
        status = STATUS_OK;
        if (eat_char(p, '<')) {
            status = parse_uint(p, 1 << 20, &space);
            if (status == STATUS_OK) status = expect_char(p, '>');
        }
        *out_type = ir_type_ptr_in(p->m, (uint32_t)space);
    } else if (len == 4 && memcmp(name, "void", 4) == 0) {
        *out_type = ir_type_void(p->m);
        status = STATUS_OK;
    } else if (len == 6 && memcmp(name, "struct", 6) == 0) {
        status = expect_char(p, '<');
        if (status == STATUS_OK) status = parse_llvm_struct(p, out_type);
    } else if (len == 5 && memcmp(name, "array", 5) == 0) {
        status = expect_char(p, '<');
        if (status == STATUS_OK) status = parse_llvm_array(p, out_type);
    } else if (len == 4 && memcmp(name, "func", 4) == 0) {
        status = expect_char(p, '<');
        if (status == STATUS_OK) status = parse_llvm_function(p, out_type);
    } else {
        status = parse_error(p, DIAG_I0005, at, "unknown type !llvm.%.*s", (int)MIN(len, 40), name);
    }
    p->in_llvm_type = outer;
    return status;
}

static Status parse_bang(Parser *p, const IrType **out_type) {
    Token token = p->tok;
    advance(p);
    const NameEntry *alias = name_find(&p->type_aliases, token.text, token.len);
    if (alias) {
        *out_type = alias->type;
        return add_alias(p, alias);
    }
    if (token.len > 5 && memcmp(token.text, "llvm.", 5) == 0)
        return parse_llvm_named(p, token.text + 5, token.len - 5, &token, out_type);
    const char *dot = memchr(token.text, '.', token.len);
    if (!dot)
        return parse_error(p, DIAG_I0012, &token, "type alias !%.*s is not defined", (int)token.len,
                           token.text);
    return parse_error(p, DIAG_I0005, &token, "unknown type !%.*s", (int)token.len, token.text);
}

Status parse_type(Parser *p, const IrType **out_type) {
    TRY(enter(p));
    p->weight++;
    Token token = p->tok;
    Status status;
    if (token.kind == TOKEN_BANG) {
        status = parse_bang(p, out_type);
    } else if (at_char(p, '(')) {
        status = parse_function(p, out_type);
    } else if (token.kind != TOKEN_WORD) {
        status = parse_error(p, DIAG_I0001, &token, "expected a type in front of '%.*s'",
                             (int)MIN(token.len, 40u), token.text);
    } else if (token_is(&token, "tensor") || token_is(&token, "memref") ||
               token_is(&token, "vector")) {
        advance(p);
        TRY(expect_char(p, '<'));
        if (token.text[0] == 't')
            status = parse_tensor(p, out_type);
        else
            status = token.text[0] == 'm' ? parse_memref(p, out_type) : parse_vector(p, out_type);
    } else if (p->in_llvm_type &&
               (token_is(&token, "ptr") || token_is(&token, "void") || token_is(&token, "struct") ||
                token_is(&token, "array") || token_is(&token, "func"))) {
        advance(p);
        status = parse_llvm_named(p, token.text, token.len, &token, out_type);
    } else {
        status = parse_scalar(p, out_type);
    }
    leave(p);
    return status;
}
