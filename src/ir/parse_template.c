// Reads an op whose syntax is a template of formats.def.
#include <string.h>

#include "ir/parser.h"

static Status push_op_attr(Parser *p, const OpState *s, const char *name, const IrAttr *attr) {
    return add_op_attr(p, s, &p->tok, name, strlen(name), attr);
}

// ---------------------------------------------------------------- plain text

// Expects the words and signs of a stretch of template text.
static Status match_text(Parser *p, const char *text, size_t len) {
    for (size_t i = 0; i < len;) {
        if (text[i] == ' ') {
            i++;
        } else if (text[i] == '-' && i + 1 < len && text[i + 1] == '>') {
            TRY(expect_arrow(p));
            i += 2;
        } else if ((text[i] >= 'a' && text[i] <= 'z') || text[i] == '_') {
            char word[MAX_SYNTAX_WORD];
            size_t n = 0;
            while (i < len && ((text[i] >= 'a' && text[i] <= 'z') || text[i] == '_'))
                word[n++] = text[i++];
            word[n] = 0;
            TRY(expect_word(p, word));
        } else {
            TRY(expect_char(p, text[i++]));
        }
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- operands and types

static Status match_operand(Parser *p, OpState *s, const SyntaxItem *item) {
    Slice *uses = slot_uses(s, item->slot);
    if (item->mode == '*') return parse_uses(p, uses);
    *uses = (Slice){p->num_uses, 0};
    if (item->mode == '?' && !eat_char(p, ',')) return STATUS_OK;
    TRY(parse_use(p));
    uses->count = 1;
    return STATUS_OK;
}

static Status match_type(Parser *p, OpState *s, const SyntaxItem *item) {
    Slice types = {p->num_types, 0};
    Slice uses = *slot_uses(s, item->slot);
    if (item->mode == '*' && uses.count == 0) {
        set_slot_types(s, item->slot, types);
        return STATUS_OK;
    }
    if (item->mode == '*') {
        TRY(parse_types(p, &types));
    } else {
        const IrType *type;
        TRY(parse_type(p, &type));
        push_type(p, type);
        types.count = 1;
    }
    set_slot_types(s, item->slot, types);
    return STATUS_OK;
}

static Status match_result(Parser *p, OpState *s) {
    const IrType *type;
    TRY(parse_type(p, &type));
    s->results = (Slice){p->num_types, 1};
    push_type(p, type);
    return STATUS_OK;
}

static Status match_function(Parser *p, OpState *s, const SyntaxItem *item) {
    Slice inputs;
    TRY(parse_function_type(p, &inputs, &s->results));
    set_slot_types(s, item->words[0][0], inputs);
    return STATUS_OK;
}

// " %a, %b : t, t", or nothing
static Status match_values(Parser *p, OpState *s, const SyntaxItem *item) {
    Slice types = {p->num_types, 0};
    Slice *uses = slot_uses(s, item->words[0][0]);
    TRY(parse_uses(p, uses));
    if (uses->count) {
        TRY(parse_op_attrs(p, s));
        TRY(expect_char(p, ':'));
        TRY(parse_types(p, &types));
    }
    set_slot_types(s, item->words[0][0], types);
    return STATUS_OK;
}

// The types of a select: condition (left out if it is i1) and values.
static Status match_select(Parser *p, OpState *s, const SyntaxItem *item) {
    Slice types;
    TRY(parse_types(p, &types));
    if (types.count == 1) {
        push_type(p, ir_type_int(p->m, 1));
        set_slot_types(s, item->words[0][0], (Slice){p->num_types - 1, 1});
        set_slot_types(s, item->words[1][0], types);
        return STATUS_OK;
    }
    set_slot_types(s, item->words[0][0], (Slice){types.start, 1});
    set_slot_types(s, item->words[1][0], (Slice){types.start + 1, types.count - 1});
    return STATUS_OK;
}

// " padding_value(%c : f32)", or nothing
static Status match_padding(Parser *p, OpState *s, const SyntaxItem *item) {
    char slot = item->words[0][0];
    *slot_uses(s, slot) = (Slice){p->num_uses, 0};
    set_slot_types(s, slot, (Slice){p->num_types, 0});
    if (!eat_word(p, "padding_value")) return STATUS_OK;
    TRY(expect_char(p, '('));
    TRY(parse_use(p));
    TRY(expect_char(p, ':'));
    const IrType *type;
    TRY(parse_type(p, &type));
    push_type(p, type);
    slot_uses(s, slot)->count = 1;
    set_slot_types(s, slot, (Slice){p->num_types - 1, 1});
    return expect_char(p, ')');
}

// [%a, 2]: IR_DYNAMIC in the static list for each operand
static Status match_dynamic(Parser *p, OpState *s, const SyntaxItem *item) {
    int64_t values[1 << 8];
    uint32_t count = 0;
    Slice *uses = slot_uses(s, item->words[0][0]);
    *uses = (Slice){p->num_uses, 0};
    TRY(expect_char(p, '['));
    while (!eat_char(p, ']')) {
        if (count) TRY(expect_char(p, ','));
        if (count == ARRAY_LEN(values))
            return parse_error(p, DIAG_I0011, &p->tok, "more than %zu elements", ARRAY_LEN(values));
        if (p->tok.kind == TOKEN_VALUE) {
            TRY(parse_use(p));
            uses->count++;
            values[count++] = IR_DYNAMIC;
        } else {
            TRY(parse_int(p, &values[count++]));
        }
    }
    return push_op_attr(p, s, item->words[1],
                        ir_attr_dense_array(p->m, ir_type_int(p->m, 64), count, values));
}

// ---------------------------------------------------------------- attributes

// word<flag, flag>, or nothing
static Status match_flags(Parser *p, OpState *s, const char *word, const char *attr) {
    if (!at_word(p, word)) return STATUS_OK;
    Token at = p->tok;
    advance(p);
    TRY(expect_char(p, '<'));
    StrBuf text = {0};
    Status status = STATUS_OK;
    while (status == STATUS_OK && !at_char(p, '>')) {
        if (text.len) status = expect_char(p, ',');
        if (text.len) strbuf_putc(&text, ',');
        if (status == STATUS_OK && p->tok.kind != TOKEN_WORD)
            status = parse_error(p, DIAG_I0001, &p->tok, "expected a flag");
        strbuf_append(&text, p->tok.text, p->tok.len);
        if (status == STATUS_OK) advance(p);
    }
    if (status == STATUS_OK) {
        advance(p);
        status = add_op_attr(p, s, &at, attr, strlen(attr),
                             ir_attr_string_n(p->m, text.data ? text.data : "", text.len));
    }
    strbuf_deinit(&text);
    return status;
}

static Status match_flag(Parser *p, OpState *s, const SyntaxItem *item) {
    if (!eat_word(p, item->words[1])) return STATUS_OK;
    return push_op_attr(p, s, item->words[0], ir_attr_unit(p->m));
}

static Status match_enum(Parser *p, OpState *s, const SyntaxItem *item) {
    Token token = p->tok;
    const char *text = token.text;
    size_t len = token.len;
    if (item->kind == SYNTAX_OPTIONAL_ENUM && token.kind != TOKEN_WORD) return STATUS_OK;
    if (item->kind == SYNTAX_OPTIONAL_ENUM && token_is(&token, "fastmath")) return STATUS_OK;
    if (item->kind == SYNTAX_QUOTED_ENUM || token.kind == TOKEN_STRING)
        TRY(parse_string_token(p, &text, &len));
    else if (token.kind == TOKEN_WORD)
        advance(p);
    else
        return parse_error(p, DIAG_I0001, &token, "expected the keyword of '%s'", item->words[0]);
    const IrAttr *attr = ir_attr_string_n(p->m, text, len);
    return add_op_attr(p, s, &token, item->words[0], strlen(item->words[0]), attr);
}

static Status match_word(Parser *p, OpState *s, const SyntaxItem *item) {
    bool is_yes = eat_word(p, item->words[1]);
    if (!is_yes) TRY(expect_word(p, item->words[2]));
    return push_op_attr(p, s, item->words[0], ir_attr_bool(p->m, is_yes));
}

static Status match_int(Parser *p, OpState *s, const SyntaxItem *item) {
    const IrType *type = ir_type_int(p->m, str_equal(item->words[1], "i32") ? 32 : 64);
    bool is_negative = eat_char(p, '-');
    Token token = p->tok;
    int64_t value;
    TRY(int_from_token(p, &token, is_negative, type, &value));
    advance(p);
    return push_op_attr(p, s, item->words[0], ir_attr_int(p->m, value, type));
}

static Status match_attr(Parser *p, OpState *s, const SyntaxItem *item) {
    const IrAttr *attr;
    if (item->kind == SYNTAX_SYMBOL) {
        const char *name;
        TRY(parse_symbol_name(p, &name));
        attr = ir_attr_symbol(p->m, name);
    } else if (item->kind == SYNTAX_STRING) {
        const char *bytes;
        size_t len;
        TRY(parse_string_token(p, &bytes, &len));
        attr = ir_attr_string_n(p->m, bytes, len);
    } else if (item->kind == SYNTAX_TYPE_ATTR) {
        const IrType *type;
        TRY(parse_type(p, &type));
        attr = ir_attr_type(p->m, type);
    } else {
        TRY(parse_attr(p, NULL, &attr));
    }
    return push_op_attr(p, s, item->words[0], attr);
}

static Status match_ints(Parser *p, OpState *s, const SyntaxItem *item) {
    if (item->kind == SYNTAX_OPTIONAL_INTS) {
        if (!eat_word(p, item->words[0])) return STATUS_OK;
        TRY(expect_char(p, '='));
    }
    bool is_narrow = str_equal(s->syntax.key, "shufflevector");
    const IrAttr *attr;
    TRY(parse_int_list(p, ir_type_int(p->m, is_narrow ? 32 : 64), &attr));
    return push_op_attr(p, s, item->words[0], attr);
}

// [[0, 1], [2]]: an array of arrays of i64, as the generic form has it
static Status match_reassociation(Parser *p, OpState *s, const SyntaxItem *item) {
    Token at = p->tok;
    const IrAttr *attr;
    TRY(parse_attr(p, NULL, &attr));
    bool fits = attr->kind == IR_ATTR_ARRAY;
    for (size_t i = 0; fits && i < attr->num_elems; i++)
        fits = attr->elems[i]->kind == IR_ATTR_ARRAY;
    if (!fits)
        return parse_error(p, DIAG_I0001, &at, "expected groups of dimensions, [[0, 1], [2]]");
    return add_op_attr(p, s, &at, item->words[0], strlen(item->words[0]), attr);
}

// #map(%a)[%b]
static Status match_call(Parser *p, OpState *s, const SyntaxItem *item) {
    Token at = p->tok;
    const IrAttr *map;
    TRY(parse_attr(p, NULL, &map));
    if (map->kind != IR_ATTR_MAP) return parse_error(p, DIAG_I0014, &at, "expected an affine map");
    Slice dims, symbols = {0};
    TRY(expect_char(p, '('));
    TRY(parse_uses(p, &dims));
    TRY(expect_char(p, ')'));
    if (eat_char(p, '[')) {
        TRY(parse_uses(p, &symbols));
        TRY(expect_char(p, ']'));
    }
    if (dims.count != map->map->num_dims || symbols.count != map->map->num_symbols)
        return parse_error(p, DIAG_I0015, &at, "the map takes %u dimensions and %u symbols",
                           map->map->num_dims, map->map->num_symbols);
    *slot_uses(s, item->words[1][0]) = (Slice){dims.start, dims.count + symbols.count};
    return add_op_attr(p, s, &at, item->words[0], strlen(item->words[0]), map);
}

static Status match_map(Parser *p, OpState *s, const SyntaxItem *item) {
    const IrAffineMap *map;
    TRY(parse_affine_of_values(p, &map, slot_uses(s, item->words[1][0])));
    return push_op_attr(p, s, item->words[0], ir_attr_map(p->m, map));
}

static Status match_region(Parser *p, OpState *s) {
    s->num_regions = 1;
    return parse_region(p, &s->regions[0], &(RegionSpec){0});
}

static Status match_arrow(Parser *p, OpState *s) {
    s->results = (Slice){p->num_types, 0};
    if (p->tok.kind != TOKEN_ARROW) return STATUS_OK;
    advance(p);
    return parse_result_types(p, &s->results);
}

static Status match_item(Parser *p, OpState *s, const SyntaxItem *item) {
    switch (item->kind) {
    case SYNTAX_END: return STATUS_OK;
    case SYNTAX_TEXT: return match_text(p, item->text, item->len);
    case SYNTAX_OPERAND: return match_operand(p, s, item);
    case SYNTAX_DICT: return parse_op_attrs(p, s);
    case SYNTAX_TYPE: return match_type(p, s, item);
    case SYNTAX_RESULT: return match_result(p, s);
    case SYNTAX_FUNCTION: return match_function(p, s, item);
    case SYNTAX_ARROW: return match_arrow(p, s);
    case SYNTAX_VALUES: return match_values(p, s, item);
    case SYNTAX_SELECT: return match_select(p, s, item);
    case SYNTAX_FASTMATH: return match_flags(p, s, "fastmath", item->words[0]);
    case SYNTAX_OVERFLOW: return match_flags(p, s, "overflow", item->words[0]);
    case SYNTAX_FLAG: return match_flag(p, s, item);
    case SYNTAX_ENUM:
    case SYNTAX_QUOTED_ENUM:
    case SYNTAX_OPTIONAL_ENUM: return match_enum(p, s, item);
    case SYNTAX_WORD: return match_word(p, s, item);
    case SYNTAX_INT: return match_int(p, s, item);
    case SYNTAX_STRING:
    case SYNTAX_SYMBOL:
    case SYNTAX_TYPE_ATTR:
    case SYNTAX_ATTR: return match_attr(p, s, item);
    case SYNTAX_INTS:
    case SYNTAX_OPTIONAL_INTS: return match_ints(p, s, item);
    case SYNTAX_DYNAMIC: return match_dynamic(p, s, item);
    case SYNTAX_REASSOCIATION: return match_reassociation(p, s, item);
    case SYNTAX_REGION: return match_region(p, s);
    case SYNTAX_PADDING: return match_padding(p, s, item);
    case SYNTAX_CALL: return match_call(p, s, item);
    case SYNTAX_MAP: return match_map(p, s, item);
    }
    BUG("syntax item %d", (int)item->kind);
}

Status parse_template(Parser *p, OpState *s) {
    SyntaxItem item;
    for (const char *at = s->syntax.pattern; syntax_next(&at, &item);) TRY(match_item(p, s, &item));
    return STATUS_OK;
}
