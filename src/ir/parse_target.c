// Hand-written syntax of the llvm dialect: functions, globals, branches, address arithmetic.
#include <string.h>

#include "ir/parser.h"

static Status set_attr(Parser *p, const OpState *s, const char *name, const IrAttr *attr) {
    return add_op_attr(p, s, &s->token, name, strlen(name), attr);
}

static Status parse_linkage(Parser *p, OpState *s) {
    if (p->tok.kind != TOKEN_WORD) return STATUS_OK;
    if (eat_word(p, "external")) return STATUS_OK; // the default
    const IrAttr *linkage = ir_attr_string_n(p->m, p->tok.text, p->tok.len);
    TRY(add_op_attr(p, s, &p->tok, "linkage", strlen("linkage"), linkage));
    advance(p);
    return STATUS_OK;
}

static Status parse_llvm_func_parts(Parser *p, OpState *s, Signature *sig) {
    TRY(parse_linkage(p, s));
    const char *name;
    TRY(parse_symbol_name(p, &name));
    TRY(set_attr(p, s, "sym_name", ir_attr_string(p->m, name)));
    Token at = p->tok;
    TRY(parse_signature(p, sig));
    if (sig->num_results > 1)
        return parse_error(p, DIAG_I0015, &at, "llvm.func has at most one result");
    const IrType **types = p->types + sig->types;
    const IrType *result = sig->num_results ? types[sig->num_args] : ir_type_void(p->m);
    const IrType *type = ir_type_llvm_function(p->m, result, sig->num_args, types);
    TRY(set_attr(p, s, "function_type", ir_attr_type(p->m, type)));
    return finish_function(p, s, sig);
}

static Status parse_llvm_func(Parser *p, OpState *s) {
    Signature sig = {0};
    Status status = parse_llvm_func_parts(p, s, &sig);
    signature_deinit(&sig);
    s->results = (Slice){p->num_types, 0};
    return status;
}

// private constant @tab(dense<...> : tensor<4xi32>) {alignment = 64 : i64} : !llvm.array<4 x i32>
static Status parse_llvm_global(Parser *p, OpState *s) {
    if (!at_word(p, "constant")) TRY(parse_linkage(p, s));
    if (eat_word(p, "constant")) TRY(set_attr(p, s, "constant", ir_attr_unit(p->m)));
    const char *name;
    TRY(parse_symbol_name(p, &name));
    TRY(set_attr(p, s, "sym_name", ir_attr_string(p->m, name)));
    TRY(expect_char(p, '('));
    if (!at_char(p, ')')) {
        const IrAttr *value;
        TRY(parse_attr(p, NULL, &value));
        TRY(set_attr(p, s, "value", value));
    }
    TRY(expect_char(p, ')'));
    TRY(parse_op_attrs(p, s));
    if (!has_attr(p, s, "addr_space"))
        TRY(set_attr(p, s, "addr_space", ir_attr_int(p->m, 0, ir_type_int(p->m, 32))));
    TRY(expect_char(p, ':'));
    const IrType *type;
    TRY(parse_type(p, &type));
    TRY(set_attr(p, s, "global_type", ir_attr_type(p->m, type)));
    s->num_regions = 1;
    if (!at_char(p, '{')) return STATUS_OK;
    return parse_region(p, &s->regions[0], &(RegionSpec){.is_isolated = true});
}

// ---------------------------------------------------------------- getelementptr

// Where an operand stands among the constant indices.
static const int64_t gep_dynamic = INT32_MIN;

static Status parse_gep_indices(Parser *p, OpState *s) {
    enum { MAX_INDICES = 32 };
    int64_t indices[MAX_INDICES];
    size_t count = 0;
    Slice *uses = slot_uses(s, 'b');
    *uses = (Slice){p->num_uses, 0};
    TRY(expect_char(p, '['));
    while (!eat_char(p, ']')) {
        if (count) TRY(expect_char(p, ','));
        if (count == MAX_INDICES) return parse_error(p, DIAG_I0011, &p->tok, "too many indices");
        if (p->tok.kind == TOKEN_VALUE) {
            TRY(parse_use(p));
            uses->count++;
            indices[count++] = gep_dynamic;
            continue;
        }
        Token at = p->tok;
        TRY(parse_int(p, &indices[count]));
        if (indices[count] <= INT32_MIN || indices[count] > INT32_MAX)
            return parse_error(p, DIAG_I0010, &at, "constant indices have 32 bits");
        count++;
    }
    return set_attr(p, s, "rawConstantIndices",
                    ir_attr_dense_array(p->m, ir_type_int(p->m, 32), count, indices));
}

static Status parse_gep(Parser *p, OpState *s) {
    if (p->tok.kind == TOKEN_WORD) {
        StrBuf flags = {0};
        do {
            if (flags.len) strbuf_putc(&flags, '|');
            strbuf_append(&flags, p->tok.text, p->tok.len);
            advance(p);
        } while (eat_char(p, '|') && p->tok.kind == TOKEN_WORD);
        Status status =
            set_attr(p, s, "noWrapFlags", ir_attr_string_n(p->m, flags.data, flags.len));
        strbuf_deinit(&flags);
        TRY(status);
    }
    *slot_uses(s, 'a') = (Slice){p->num_uses, 1};
    TRY(parse_use(p));
    TRY(parse_gep_indices(p, s));
    TRY(parse_op_attrs(p, s));
    TRY(expect_char(p, ':'));
    Slice inputs;
    Token at = p->tok;
    TRY(parse_function_type(p, &inputs, &s->results));
    if (inputs.count != 1 + slot_uses(s, 'b')->count || s->results.count != 1)
        return parse_error(p, DIAG_I0015, &at, "operands and types differ in number");
    set_slot_types(s, 'a', (Slice){inputs.start, 1});
    set_slot_types(s, 'b', (Slice){inputs.start + 1, inputs.count - 1});
    TRY(expect_char(p, ','));
    const IrType *elem;
    TRY(parse_type(p, &elem));
    return set_attr(p, s, "elem_type", ir_attr_type(p->m, elem));
}

// ---------------------------------------------------------------- branches

// ^bb1(%a, %b : T, T)
static Status parse_successor(Parser *p, OpState *s, char slot) {
    if (p->tok.kind != TOKEN_BLOCK)
        return parse_error(p, DIAG_I0001, &p->tok, "expected a block, ^name");
    TRY(find_block(p, &p->tok, &s->successors[s->num_successors++]));
    advance(p);
    Slice types = {p->num_types, 0};
    *slot_uses(s, slot) = (Slice){p->num_uses, 0};
    if (eat_char(p, '(')) {
        TRY(parse_uses(p, slot_uses(s, slot)));
        TRY(expect_char(p, ':'));
        TRY(parse_types(p, &types));
        TRY(expect_char(p, ')'));
    }
    set_slot_types(s, slot, types);
    return STATUS_OK;
}

static Status parse_br(Parser *p, OpState *s) {
    TRY(parse_successor(p, s, 'a'));
    return parse_op_attrs(p, s);
}

static Status parse_cond_br(Parser *p, OpState *s) {
    *slot_uses(s, 'a') = (Slice){p->num_uses, 1};
    TRY(parse_use(p));
    push_type(p, ir_type_int(p->m, 1));
    set_slot_types(s, 'a', (Slice){p->num_types - 1, 1});
    TRY(expect_char(p, ','));
    TRY(parse_successor(p, s, 'b'));
    TRY(expect_char(p, ','));
    TRY(parse_successor(p, s, 'c'));
    return parse_op_attrs(p, s);
}

static const struct {
    const char *key;
    CustomParser parse;
} parsers[] = {
    {"custom llvm_func", parse_llvm_func},
    {"custom llvm_global", parse_llvm_global},
    {"custom gep", parse_gep},
    {"custom br", parse_br},
    {"custom cond_br", parse_cond_br},
};

CustomParser find_target_parser(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
        if (str_equal(parsers[i].key, key)) return parsers[i].parse;
    return NULL;
}
