// Attributes and locations in IR text.
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

// ---------------------------------------------------------------- numbers

static Status parse_number(Parser *p, const IrType *hint, const IrAttr **out_attr) {
    bool is_negative = eat_char(p, '-');
    Token token = p->tok;
    if (token.kind != TOKEN_INT && token.kind != TOKEN_FLOAT)
        return parse_error(p, DIAG_I0001, &token, "expected a number");
    advance(p);
    const IrType *type = hint;
    Token type_token = p->tok;
    if (eat_char(p, ':')) {
        type_token = p->tok;
        TRY(parse_type(p, &type));
    }
    if (!type)
        type = token.kind == TOKEN_INT ? ir_type_int(p->m, 64) : ir_type_float(p->m, IR_TYPE_F64);
    if (ir_type_is_float(type)) {
        uint64_t bits;
        TRY(float_from_token(p, &token, is_negative, type, &bits));
        *out_attr = ir_attr_float_bits(p->m, bits, type);
        return STATUS_OK;
    }
    if (!ir_type_is_int_or_index(type))
        return parse_error(p, DIAG_I0014, &type_token, "a number has an integer or a float type");
    int64_t value;
    TRY(int_from_token(p, &token, is_negative, type, &value));
    *out_attr = ir_attr_int(p->m, value, type);
    return STATUS_OK;
}

Status parse_int_list(Parser *p, const IrType *elem, const IrAttr **out_attr) {
    TRY(expect_char(p, '['));
    int64_t *values = NULL;
    size_t count = 0, capacity = 0;
    Status status = STATUS_OK;
    while (status == STATUS_OK && !at_char(p, ']')) {
        if (count) status = expect_char(p, ',');
        ARRAY_RESERVE(values, count, capacity);
        if (status == STATUS_OK) status = parse_int(p, &values[count++]);
    }
    if (status == STATUS_OK) {
        advance(p);
        *out_attr = ir_attr_dense_array(p->m, elem, count, values);
    }
    free(values);
    return status;
}

// array<i64: 1, 2>, after the word "array".
static Status parse_dense_array(Parser *p, const IrAttr **out_attr) {
    TRY(expect_char(p, '<'));
    Token at = p->tok;
    const IrType *elem;
    TRY(parse_type(p, &elem));
    if (elem->kind != IR_TYPE_INT)
        return parse_error(p, DIAG_I0016, &at, "array<...> attributes hold integers only");
    int64_t *values = NULL;
    size_t count = 0, capacity = 0;
    Status status = STATUS_OK;
    if (eat_char(p, ':')) {
        do {
            ARRAY_RESERVE(values, count, capacity);
            bool is_negative = eat_char(p, '-');
            Token token = p->tok;
            status = int_from_token(p, &token, is_negative, elem, &values[count++]);
            advance(p);
        } while (status == STATUS_OK && eat_char(p, ','));
    }
    if (status == STATUS_OK) status = expect_char(p, '>');
    if (status == STATUS_OK) *out_attr = ir_attr_dense_array(p->m, elem, count, values);
    free(values);
    return status;
}

// ---------------------------------------------------------------- dense

typedef struct DenseShape {
    int64_t dims[MAX_RANK];
    uint32_t rank;
    bool is_known[MAX_RANK];
} DenseShape;

static Status parse_dense_item(Parser *p) {
    DenseItem item = {.is_negative = eat_char(p, '-')};
    item.token = p->tok;
    bool is_bool = at_word(p, "true") || at_word(p, "false");
    if (item.token.kind != TOKEN_INT && item.token.kind != TOKEN_FLOAT && !is_bool)
        return parse_error(p, DIAG_I0001, &item.token, "expected a number");
    advance(p);
    ARRAY_RESERVE(p->dense, p->num_dense, p->dense_capacity);
    p->dense[p->num_dense++] = item;
    return STATUS_OK;
}

static Status parse_dense_list(Parser *p, uint32_t level, DenseShape *shape) {
    if (!at_char(p, '[')) {
        if (level < shape->rank)
            return parse_error(p, DIAG_I0001, &p->tok, "expected '[': lists differ in depth");
        return parse_dense_item(p);
    }
    if (level == MAX_RANK)
        return parse_error(p, DIAG_I0011, &p->tok, "more than %d dimensions", (int)MAX_RANK);
    Token at = p->tok;
    if (level == shape->rank) {
        if (p->num_dense) return parse_error(p, DIAG_I0001, &at, "lists differ in depth");
        shape->rank++;
    }
    advance(p);
    int64_t count = 0;
    while (!eat_char(p, ']')) {
        if (count++) TRY(expect_char(p, ','));
        TRY(parse_dense_list(p, level + 1, shape));
    }
    if (shape->is_known[level] && shape->dims[level] != count)
        return parse_error(p, DIAG_I0001, &at, "list of %lld elements where the others have %lld",
                           (long long)count, (long long)shape->dims[level]);
    shape->is_known[level] = true;
    shape->dims[level] = count;
    return STATUS_OK;
}

static Status dense_type(Parser *p, const IrType *hint, const IrType **out_type) {
    Token at = p->tok;
    if (eat_char(p, ':')) {
        at = p->tok;
        TRY(parse_type(p, &hint));
    }
    if (!hint) return parse_error(p, DIAG_I0001, &at, "expected ': type' after dense<...>");
    bool fits = hint->kind == IR_TYPE_TENSOR || hint->kind == IR_TYPE_VECTOR;
    if (!fits || !ir_type_is_static(hint) || !ir_type_is_scalar(hint->elem))
        return parse_error(p, DIAG_I0014, &at, "dense<...> needs a static tensor or vector type");
    *out_type = hint;
    return STATUS_OK;
}

static Status check_dense_shape(Parser *p, const Token *at, const DenseShape *shape,
                                const IrType *type) {
    bool is_splat = shape->rank == 0 && p->num_dense == 1;
    bool is_empty = shape->rank == 0 && p->num_dense == 0 && ir_type_num_elems(type) == 0;
    bool fits = shape->rank == type->rank;
    for (uint32_t i = 0; fits && i < type->rank; i++)
        fits = shape->dims[i] == type->shape[i] || (!shape->is_known[i] && type->shape[i] == 0);
    if (is_splat || is_empty || fits) return STATUS_OK;
    return parse_error(p, DIAG_I0014, at, "the elements do not have the shape of the type");
}

static Status store_dense_item(Parser *p, const DenseItem *item, const IrType *elem, uint8_t *out) {
    uint64_t bits;
    if (ir_type_is_float(elem)) {
        TRY(float_from_token(p, &item->token, item->is_negative, elem, &bits));
    } else {
        int64_t value;
        TRY(int_from_token(p, &item->token, item->is_negative, elem, &value));
        uint32_t width = elem->kind == IR_TYPE_INT ? elem->width : 64;
        bits = (uint64_t)value;
        if (width < 8) bits &= ((uint64_t)1 << width) - 1;
    }
    memcpy(out, &bits, ir_type_bytes(elem));
    return STATUS_OK;
}

static Status finish_dense(Parser *p, const Token *at, const DenseShape *shape, const IrType *type,
                           const IrAttr **out_attr) {
    TRY(check_dense_shape(p, at, shape, type));
    size_t elem_bytes = ir_type_bytes(type->elem), count = p->num_dense;
    bool is_splat = shape->rank == 0 && count == 1 && ir_type_num_elems(type) > 0;
    // A splat of an empty tensor has no elements left.
    if (ir_type_num_elems(type) == 0) count = 0;
    uint8_t *data = base_alloc(MAX(count, (size_t)1), elem_bytes);
    Status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = store_dense_item(p, &p->dense[i], type->elem, data + i * elem_bytes);
    if (status == STATUS_OK)
        *out_attr = ir_attr_dense(p->m, type, data, count * elem_bytes, is_splat);
    free(data);
    return status;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// One bit per element, eight to a byte, to one byte per element.
static void spread_bits(const uint8_t *packed, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) out[i] = packed[i / 8] >> (i % 8) & 1;
}

// "0x...": the bytes as they lie in memory; one element's worth of bytes is a splat.
static Status dense_from_hex(Parser *p, const Token *at, const char *hex, size_t len,
                             const IrType *type, const IrAttr **out_attr) {
    if (len < 2 || hex[0] != '0' || hex[1] != 'x' || len % 2)
        return parse_error(p, DIAG_I0014, at, "expected \"0x...\" with two digits per byte");
    size_t num_bytes = len / 2 - 1, elem_bytes = ir_type_bytes(type->elem);
    size_t count = (size_t)ir_type_num_elems(type);
    bool is_bits = type->elem->kind == IR_TYPE_INT && type->elem->width == 1;
    size_t wanted = is_bits ? (count + 7) / 8 : count * elem_bytes;
    bool is_splat = !is_bits && num_bytes == elem_bytes && count > 0;
    if (num_bytes != wanted && !is_splat)
        return parse_error(p, DIAG_I0014, at, "%zu bytes where the type needs %zu", num_bytes,
                           wanted);
    uint8_t *bytes = base_alloc(MAX(num_bytes, (size_t)1), 1);
    Status status = STATUS_OK;
    for (size_t i = 0; i < num_bytes && status == STATUS_OK; i++) {
        int high = hex_value(hex[2 + 2 * i]), low = hex_value(hex[3 + 2 * i]);
        if (high < 0 || low < 0)
            status = parse_error(p, DIAG_I0014, at, "not a hexadecimal digit");
        else
            bytes[i] = (uint8_t)(high * 16 + low);
    }
    if (status == STATUS_OK && is_bits) {
        uint8_t *spread = base_alloc(MAX(count, (size_t)1), 1);
        spread_bits(bytes, count, spread);
        *out_attr = ir_attr_dense(p->m, type, spread, count, false);
        free(spread);
    } else if (status == STATUS_OK) {
        *out_attr = ir_attr_dense(p->m, type, bytes, num_bytes, is_splat);
    }
    free(bytes);
    return status;
}

Status parse_dense(Parser *p, const IrType *hint, const IrAttr **out_attr) {
    TRY(expect_char(p, '<'));
    Token at = p->tok;
    const IrType *type;
    if (at.kind == TOKEN_STRING) {
        const char *hex;
        size_t len;
        TRY(parse_string_token(p, &hex, &len));
        TRY(expect_char(p, '>'));
        TRY(dense_type(p, hint, &type));
        return dense_from_hex(p, &at, hex, len, type, out_attr);
    }
    DenseShape shape = {0};
    p->num_dense = 0;
    if (!at_char(p, '>')) TRY(parse_dense_list(p, 0, &shape));
    TRY(expect_char(p, '>'));
    TRY(dense_type(p, hint, &type));
    return finish_dense(p, &at, &shape, type, out_attr);
}

// ---------------------------------------------------------------- arrays, dictionaries, enums

static Status parse_array(Parser *p, const IrAttr **out_attr) {
    advance(p);
    const IrAttr **elems = NULL;
    size_t count = 0, capacity = 0;
    Status status = STATUS_OK;
    while (status == STATUS_OK && !at_char(p, ']')) {
        if (count) status = expect_char(p, ',');
        ARRAY_RESERVE(elems, count, capacity);
        if (status == STATUS_OK) status = parse_attr(p, NULL, &elems[count++]);
    }
    if (status == STATUS_OK) {
        advance(p);
        *out_attr = ir_attr_array(p->m, count, elems);
    }
    free(elems);
    return status;
}

Status parse_dict_attr(Parser *p, const IrAttr **out_attr) {
    TRY(expect_char(p, '{'));
    uint32_t mark = p->num_attrs;
    Token open = p->tok;
    while (!eat_char(p, '}')) {
        if (p->num_attrs > mark) TRY(expect_char(p, ','));
        Token name = p->tok;
        const char *text = NULL;
        size_t len;
        if (name.kind == TOKEN_STRING) {
            TRY(parse_string_token(p, &text, &len));
            if (memchr(text, 0, len) || len == 0)
                return parse_error(p, DIAG_I0004, &name, "attribute name empty or with a NUL");
            text = ir_intern_n(p->m, text, len);
        } else if (name.kind == TOKEN_WORD) {
            text = token_text(p, &name);
            advance(p);
        } else {
            return parse_error(p, DIAG_I0001, &name, "expected the name of an attribute");
        }
        const IrAttr *attr = ir_attr_unit(p->m);
        if (eat_char(p, '=')) TRY(parse_attr(p, NULL, &attr));
        push_attr(p, text, attr);
    }
    *out_attr = ir_attr_dict(p->m, p->num_attrs - mark, p->attrs + mark);
    p->num_attrs = mark;
    for (size_t i = 1; i < (*out_attr)->num_entries; i++)
        if ((*out_attr)->entries[i].name == (*out_attr)->entries[i - 1].name)
            return parse_error(p, DIAG_I0008, &open, "attribute %s is given twice",
                               (*out_attr)->entries[i].name);
    return STATUS_OK;
}

static const char *const known_enums[] = {"gpu.address_space",
                                          "gpu.block",
                                          "gpu.thread",
                                          "gpu.warp",
                                          "linalg.type_fn",
                                          "linalg.iterator_type",
                                          "arith.fastmath",
                                          "arith.overflow",
                                          "vector.kind",
                                          "vector.iterator_type",
                                          "llvm.fastmath",
                                          "llvm.linkage",
                                          "llvm.cconv",
                                          "llvm.tailcallkind",
                                          "llvm.loop_annotation",
                                          "llvm.target_features",
                                          "llvm.framePointerKind",
                                          "llvm.loop_unroll",
                                          "llvm.loop_vectorize",
                                          "ub.poison"};

enum { MAX_ENUM_DEPTH = 16 };

static bool closes(char open, char close) {
    return (open == '<' && close == '>') || (open == '[' && close == ']') ||
           (open == '(' && close == ')') || (open == '{' && close == '}');
}

// #dialect.name<...>: kept as text. Stops after the matching '>'.
static Status parse_dialect_attr(Parser *p, const Token *name, const IrAttr **out_attr) {
    const char *end = name->text + name->len;
    if (at_char(p, '<') && p->tok.start == end) {
        char open[MAX_ENUM_DEPTH];
        uint32_t depth = 0;
        do {
            char c = p->tok.kind == TOKEN_CHAR ? p->tok.ch : 0;
            bool is_open = c == '<' || c == '[' || c == '(' || c == '{';
            bool is_close = c == '>' || c == ']' || c == ')' || c == '}';
            if (p->tok.kind == TOKEN_EOF || p->tok.kind == TOKEN_BAD ||
                (is_open && depth == MAX_ENUM_DEPTH) || (is_close && !closes(open[depth - 1], c)))
                return parse_error(p, DIAG_I0001, &p->tok, "expected '>'");
            if (is_open) open[depth++] = c;
            if (is_close) depth--;
            end = p->tok.text + p->tok.len;
            advance(p);
        } while (depth);
    }
    StrBuf text = {0};
    strbuf_append(&text, name->start, (size_t)(end - name->start));
    bool has_break = memchr(text.data, '\n', text.len) || memchr(text.data, 0, text.len);
    Status status = STATUS_OK;
    if (has_break)
        status = parse_error(p, DIAG_I0001, name, "attribute runs over a line's end");
    else
        *out_attr = ir_attr_opaque_enum(p->m, text.data);
    strbuf_deinit(&text);
    return status;
}

static Status parse_hash(Parser *p, const IrAttr **out_attr) {
    Token name = p->tok;
    advance(p);
    const NameEntry *alias = name_find(&p->attr_aliases, name.text, name.len);
    if (alias && alias->attr) {
        *out_attr = alias->attr;
        return add_alias(p, alias);
    }
    const char *dot = memchr(name.text, '.', name.len);
    if (!dot)
        return parse_error(p, DIAG_I0012, &name, "attribute alias #%.*s is not defined",
                           (int)name.len, name.text);
    char text[64];
    size_t len = MIN((size_t)name.len, sizeof text - 1);
    memcpy(text, name.text, len);
    text[len] = 0;
    for (size_t i = 0; i < ARRAY_LEN(known_enums); i++)
        if (str_equal(known_enums[i], text)) return parse_dialect_attr(p, &name, out_attr);
    size_t dialect_len = (size_t)(dot - name.text);
    bool known = ir_dialect_known(name.text, dialect_len);
    Status status = known ? parse_error(p, DIAG_I0004, &name, "unknown attribute #%s", text)
                          : parse_error(p, DIAG_I0003, &name, "unknown dialect %.*s",
                                        (int)dialect_len, name.text);
    const char *nearest = str_nearest(text, known_enums, ARRAY_LEN(known_enums));
    if (nearest) diag_write(p->sink, "#%s", nearest);
    return status;
}

static Status parse_string_attr(Parser *p, const IrAttr **out_attr) {
    const char *bytes;
    size_t len;
    TRY(parse_string_token(p, &bytes, &len));
    *out_attr = ir_attr_string_n(p->m, bytes, len);
    return STATUS_OK;
}

static Status parse_word_attr(Parser *p, const IrType *hint, const IrAttr **out_attr) {
    static const char *const foreign[] = {"dense_resource", "sparse", "affine_set", "distinct",
                                          "strided",        "opaque", "dense_typed"};
    Token word = p->tok;
    if (token_is(&word, "true") || token_is(&word, "false")) {
        advance(p);
        *out_attr = ir_attr_bool(p->m, token_is(&word, "true"));
        if (!at_char(p, ':')) return STATUS_OK;
        advance(p);
        const IrType *type;
        return parse_type(p, &type);
    }
    if (token_is(&word, "unit")) {
        advance(p);
        *out_attr = ir_attr_unit(p->m);
        return STATUS_OK;
    }
    if (token_is(&word, "affine_map")) {
        advance(p);
        TRY(expect_char(p, '<'));
        const IrAffineMap *map;
        TRY(parse_affine_map(p, &map));
        *out_attr = ir_attr_map(p->m, map);
        return expect_char(p, '>');
    }
    if (token_is(&word, "dense")) {
        advance(p);
        return parse_dense(p, hint, out_attr);
    }
    if (token_is(&word, "array")) {
        advance(p);
        return parse_dense_array(p, out_attr);
    }
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        if (token_is(&word, foreign[i]))
            return parse_error(p, DIAG_I0016, &word, "attribute %s is not used", foreign[i]);
    const IrType *type;
    TRY(parse_type(p, &type));
    *out_attr = ir_attr_type(p->m, type);
    return STATUS_OK;
}

static Status parse_type_attr(Parser *p, const IrAttr **out_attr) {
    const IrType *type;
    TRY(parse_type(p, &type));
    *out_attr = ir_attr_type(p->m, type);
    return STATUS_OK;
}

Status parse_attr(Parser *p, const IrType *hint, const IrAttr **out_attr) {
    TRY(enter(p));
    p->weight++;
    Status status;
    if (p->tok.kind == TOKEN_STRING) {
        status = parse_string_attr(p, out_attr);
    } else if (p->tok.kind == TOKEN_INT || p->tok.kind == TOKEN_FLOAT || at_char(p, '-')) {
        status = parse_number(p, hint, out_attr);
    } else if (p->tok.kind == TOKEN_HASH) {
        status = parse_hash(p, out_attr);
    } else if (p->tok.kind == TOKEN_SYMBOL) {
        const char *name;
        status = parse_symbol_name(p, &name);
        if (status == STATUS_OK) *out_attr = ir_attr_symbol(p->m, name);
    } else if (at_char(p, '[')) {
        status = parse_array(p, out_attr);
    } else if (at_char(p, '{')) {
        status = parse_dict_attr(p, out_attr);
    } else if (p->tok.kind == TOKEN_BANG || at_char(p, '(')) {
        status = parse_type_attr(p, out_attr);
    } else if (p->tok.kind == TOKEN_WORD) {
        status = parse_word_attr(p, hint, out_attr);
    } else {
        status = parse_error(p, DIAG_I0001, &p->tok, "expected an attribute");
    }
    leave(p);
    return status;
}

// ---------------------------------------------------------------- locations

static Status parse_loc_inside(Parser *p, const IrLoc **out_loc);

static Status parse_loc_list(Parser *p, const IrLoc ***out_locs, size_t *out_count) {
    size_t capacity = 0;
    TRY(expect_char(p, '['));
    while (!eat_char(p, ']')) {
        if (*out_count) TRY(expect_char(p, ','));
        ARRAY_RESERVE(*out_locs, *out_count, capacity);
        TRY(parse_loc_inside(p, &(*out_locs)[*out_count]));
        (*out_count)++;
    }
    return STATUS_OK;
}

static Status parse_fused(Parser *p, const IrLoc **out_loc) {
    const char *pass = NULL;
    if (eat_char(p, '<')) {
        Token at = p->tok;
        const IrAttr *metadata;
        TRY(parse_attr(p, NULL, &metadata));
        if (metadata->kind != IR_ATTR_STRING)
            return parse_error(p, DIAG_I0016, &at, "the metadata of a fused location is a string");
        pass = metadata->str;
        TRY(expect_char(p, '>'));
    }
    const IrLoc **locs = NULL;
    size_t count = 0;
    Status status = parse_loc_list(p, &locs, &count);
    if (status == STATUS_OK) *out_loc = ir_loc_fused_exact(p->m, pass, (uint32_t)count, locs);
    free(locs);
    return status;
}

// "file":line:col, "name", "name"(child)
static Status parse_named_loc(Parser *p, const IrLoc **out_loc) {
    const char *bytes;
    size_t len;
    TRY(parse_string_token(p, &bytes, &len));
    const char *name = ir_intern_n(p->m, bytes, len);
    if (eat_char(p, ':')) {
        uint64_t line, col;
        TRY(parse_uint(p, UINT32_MAX, &line));
        TRY(expect_char(p, ':'));
        TRY(parse_uint(p, UINT32_MAX, &col));
        if (at_word(p, "to"))
            return parse_error(p, DIAG_I0016, &p->tok, "location ranges are not used");
        *out_loc = ir_loc_file(p->m, name, (uint32_t)line, (uint32_t)col);
        return STATUS_OK;
    }
    const IrLoc *child = NULL;
    if (eat_char(p, '(')) {
        TRY(parse_loc_inside(p, &child));
        TRY(expect_char(p, ')'));
    }
    *out_loc = ir_loc_name(p->m, name, child);
    return STATUS_OK;
}

static Status parse_callsite(Parser *p, const IrLoc **out_loc) {
    const IrLoc *callee, *caller;
    TRY(expect_char(p, '('));
    TRY(parse_loc_inside(p, &callee));
    TRY(expect_word(p, "at"));
    TRY(parse_loc_inside(p, &caller));
    *out_loc = ir_loc_callsite(p->m, callee, caller);
    return expect_char(p, ')');
}

static Status parse_loc_inside(Parser *p, const IrLoc **out_loc) {
    TRY(enter(p));
    p->weight++;
    Token token = p->tok;
    if (eat_word(p, "unknown")) {
        *out_loc = ir_loc_unknown(p->m);
    } else if (token.kind == TOKEN_STRING) {
        TRY(parse_named_loc(p, out_loc));
    } else if (eat_word(p, "fused")) {
        TRY(parse_fused(p, out_loc));
    } else if (eat_word(p, "callsite")) {
        TRY(parse_callsite(p, out_loc));
    } else if (token.kind == TOKEN_HASH) {
        const NameEntry *alias = name_find(&p->attr_aliases, token.text, token.len);
        if (!alias || !alias->loc)
            return parse_error(p, DIAG_I0012, &token, "location alias #%.*s is not defined",
                               (int)token.len, token.text);
        TRY(add_alias(p, alias));
        *out_loc = alias->loc;
        advance(p);
    } else {
        return parse_error(p, DIAG_I0001, &token, "expected a location");
    }
    leave(p);
    return STATUS_OK;
}

// An alias that is not defined yet comes back in out_alias, with *out_loc NULL.
Status parse_loc(Parser *p, const IrLoc **out_loc, Token *out_alias) {
    TRY(expect_char(p, '('));
    *out_loc = NULL;
    *out_alias = p->tok;
    if (p->tok.kind == TOKEN_HASH && !name_find(&p->attr_aliases, p->tok.text, p->tok.len))
        advance(p);
    else
        TRY(parse_loc_inside(p, out_loc));
    return expect_char(p, ')');
}
