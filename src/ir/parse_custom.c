// Hand-written syntax of modules, functions, linalg, memref.global and vector ops.
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

static Status set_attr(Parser *p, const OpState *s, const char *name, const IrAttr *attr) {
    return add_op_attr(p, s, &s->token, name, strlen(name), attr);
}

// ---------------------------------------------------------------- module

static Status parse_module(Parser *p, OpState *s) {
    if (p->tok.kind == TOKEN_SYMBOL) {
        const char *name;
        TRY(parse_symbol_name(p, &name));
        TRY(set_attr(p, s, "sym_name", ir_attr_string(p->m, name)));
    }
    if (eat_word(p, "attributes")) TRY(parse_op_attrs(p, s));
    s->num_regions = 1;
    TRY(parse_region(p, &s->regions[0], &(RegionSpec){.is_isolated = true}));
    if (!s->regions[0].first) ir_region_add_block(p->m, &s->regions[0]);
    return STATUS_OK;
}

// ---------------------------------------------------------------- functions

void signature_deinit(Signature *sig) {
    free(sig->names);
    free(sig->arg_attrs);
    free(sig->result_attrs);
}

static Status parse_optional_dict(Parser *p, const IrAttr **out_dict, bool *any) {
    if (!at_char(p, '{')) {
        *out_dict = ir_attr_dict(p->m, 0, NULL);
        return STATUS_OK;
    }
    TRY(parse_dict_attr(p, out_dict));
    *any |= (*out_dict)->num_entries > 0;
    return STATUS_OK;
}

Status check_annotations(Parser *p, const Token *at, const IrAttr *dict) {
    for (size_t i = 0; i < dict->num_entries; i++) {
        const char *dot = strchr(dict->entries[i].name, '.');
        if (!dot || dot == dict->entries[i].name)
            return parse_error(p, DIAG_I0004, at,
                               "attribute %s: an argument's attribute has a dialect prefix",
                               dict->entries[i].name);
    }
    return STATUS_OK;
}

static Status parse_argument(Parser *p, Signature *sig) {
    bool has_name = p->tok.kind == TOKEN_VALUE;
    if (sig->num_args && has_name != sig->has_names)
        return parse_error(p, DIAG_I0001, &p->tok, "either all arguments have names or none");
    sig->has_names = has_name;
    ARRAY_RESERVE(sig->names, sig->num_args, sig->names_capacity);
    sig->names[sig->num_args] = p->tok;
    if (has_name) {
        advance(p);
        TRY(expect_char(p, ':'));
    }
    const IrType *type;
    TRY(parse_type(p, &type));
    push_type(p, type);
    ARRAY_RESERVE(sig->arg_attrs, sig->num_args, sig->attrs_capacity);
    Token at = p->tok;
    const IrAttr *dict;
    TRY(parse_optional_dict(p, &dict, &sig->any_arg_attrs));
    TRY(check_annotations(p, &at, dict));
    sig->arg_attrs[sig->num_args++] = dict;
    if (!eat_word(p, "loc")) return STATUS_OK;
    const IrLoc *loc;
    Token alias;
    return parse_loc(p, &loc, &alias);
}

static Status parse_result(Parser *p, Signature *sig, bool may_have_attrs) {
    const IrType *type;
    TRY(parse_type(p, &type));
    push_type(p, type);
    ARRAY_RESERVE(sig->result_attrs, sig->num_results, sig->results_capacity);
    Token at = p->tok;
    const IrAttr *dict = ir_attr_dict(p->m, 0, NULL);
    // Without parentheses a brace opens the body.
    if (may_have_attrs) TRY(parse_optional_dict(p, &dict, &sig->any_result_attrs));
    TRY(check_annotations(p, &at, dict));
    sig->result_attrs[sig->num_results++] = dict;
    return STATUS_OK;
}

Status parse_signature(Parser *p, Signature *sig) {
    sig->types = p->num_types;
    TRY(expect_char(p, '('));
    while (!eat_char(p, ')')) {
        if (sig->num_args) TRY(expect_char(p, ','));
        TRY(parse_argument(p, sig));
    }
    if (p->tok.kind != TOKEN_ARROW) return STATUS_OK;
    advance(p);
    if (!eat_char(p, '(')) return parse_result(p, sig, false);
    while (!eat_char(p, ')')) {
        if (sig->num_results) TRY(expect_char(p, ','));
        TRY(parse_result(p, sig, true));
    }
    return STATUS_OK;
}

// Adds ingot.name to the attributes of arguments that have none.
static void keep_names(Parser *p, const Signature *sig) {
    const char *key = ir_intern(p->m, "ingot.name");
    for (uint32_t i = 0; i < sig->num_args; i++) {
        const IrAttr *dict = sig->arg_attrs[i];
        const Token *name = &sig->names[i];
        bool is_number = name->len > 0 && name->text[0] >= '0' && name->text[0] <= '9';
        if (is_number || name->len == 0 || ir_attr_dict_find(dict, key)) continue;
        size_t n = dict->num_entries;
        IrNamedAttr *entries = ARENA_ARRAY(&p->m->arena, IrNamedAttr, n + 1);
        for (size_t e = 0; e < n; e++) entries[e] = dict->entries[e];
        char *text = arena_strndup(&p->m->arena, name->text, name->len);
        entries[n] = (IrNamedAttr){key, ir_attr_string(p->m, text)};
        sig->arg_attrs[i] = ir_attr_dict(p->m, n + 1, entries);
    }
}

Status finish_function(Parser *p, OpState *s, const Signature *sig) {
    bool is_named = p->keeps_argument_names && sig->has_names && s->kind == IR_FUNC_FUNC &&
                    !has_attr(p, s, "sym_visibility");
    if (is_named) keep_names(p, sig);
    if (sig->any_arg_attrs || (is_named && sig->num_args))
        TRY(set_attr(p, s, "arg_attrs", ir_attr_array(p->m, sig->num_args, sig->arg_attrs)));
    if (sig->any_result_attrs)
        TRY(set_attr(p, s, "res_attrs", ir_attr_array(p->m, sig->num_results, sig->result_attrs)));
    if (eat_word(p, "attributes")) TRY(parse_op_attrs(p, s));
    s->num_regions = 1;
    if (!at_char(p, '{')) return STATUS_OK;
    if (sig->num_args && !sig->has_names)
        return parse_error(p, DIAG_I0001, &p->tok, "func.func with a body names its arguments");
    Token open = p->tok;
    const IrType **types =
        arena_memdup(&p->m->arena, p->types + sig->types, sig->num_args, sizeof *types);
    RegionSpec spec = {.arg_names = sig->names,
                       .arg_types = types,
                       .num_args = sig->num_args,
                       .is_isolated = true};
    TRY(parse_region(p, &s->regions[0], &spec));
    if (!s->regions[0].first || !s->regions[0].last->last)
        return parse_error(p, DIAG_I0001, &open, "a function's body ends with a return");
    return STATUS_OK;
}

static Status parse_func_parts(Parser *p, OpState *s, Signature *sig) {
    if (at_word(p, "private")) {
        advance(p);
        TRY(set_attr(p, s, "sym_visibility", ir_attr_string(p->m, "private")));
    } else if (at_word(p, "nested")) {
        return parse_error(p, DIAG_I0016, &p->tok, "nested visibility is not used");
    } else {
        eat_word(p, "public");
    }
    const char *name;
    TRY(parse_symbol_name(p, &name));
    TRY(set_attr(p, s, "sym_name", ir_attr_string(p->m, name)));
    TRY(parse_signature(p, sig));
    const IrType **types = p->types + sig->types;
    const IrType *type =
        ir_type_function(p->m, sig->num_args, types, sig->num_results, types + sig->num_args);
    TRY(set_attr(p, s, "function_type", ir_attr_type(p->m, type)));
    return finish_function(p, s, sig);
}

static Status parse_func(Parser *p, OpState *s) {
    Signature sig = {0};
    Status status = parse_func_parts(p, s, &sig);
    signature_deinit(&sig);
    s->results = (Slice){p->num_types, 0};
    return status;
}

// ---------------------------------------------------------------- linalg

// ins(%a, %b : T, T) or outs(...)
static Status parse_group(Parser *p, OpState *s, const char *word, char slot) {
    Slice types = {p->num_types, 0};
    Slice *uses = slot_uses(s, slot);
    *uses = (Slice){p->num_uses, 0};
    if (eat_word(p, word)) {
        TRY(expect_char(p, '('));
        TRY(parse_uses(p, uses));
        if (uses->count) {
            TRY(expect_char(p, ':'));
            TRY(parse_types(p, &types));
        }
        TRY(expect_char(p, ')'));
    }
    set_slot_types(s, slot, types);
    return STATUS_OK;
}

static Status parse_arrow_results(Parser *p, OpState *s) {
    s->results = (Slice){p->num_types, 0};
    if (p->tok.kind != TOKEN_ARROW) return STATUS_OK;
    advance(p);
    return parse_result_types(p, &s->results);
}

static Status need_outs(Parser *p, OpState *s) {
    if (slot_uses(s, 'b')->count) return STATUS_OK;
    return parse_error(p, DIAG_I0015, &p->tok, "%s needs outs(...)", ir_op_info(s->kind)->name);
}

static Status parse_structured(Parser *p, OpState *s) {
    Token at = p->tok;
    if (ir_op_attr_is_inherent(s->kind, "indexing_maps") && eat_word(p, "indexing_maps")) {
        TRY(expect_char(p, '='));
        const IrAttr *maps;
        TRY(parse_attr(p, NULL, &maps));
        TRY(add_op_attr(p, s, &at, "indexing_maps", strlen("indexing_maps"), maps));
    }
    TRY(parse_op_attrs(p, s));
    TRY(parse_group(p, s, "ins", 'a'));
    TRY(parse_group(p, s, "outs", 'b'));
    TRY(parse_arrow_results(p, s));
    return need_outs(p, s);
}

static Status parse_generic(Parser *p, OpState *s) {
    TRY(parse_op_attrs(p, s));
    TRY(parse_group(p, s, "ins", 'a'));
    TRY(parse_group(p, s, "outs", 'b'));
    if (eat_word(p, "attrs")) {
        TRY(expect_char(p, '='));
        TRY(parse_op_attrs(p, s));
    }
    TRY(need_outs(p, s));
    s->num_regions = 1;
    TRY(parse_region(p, &s->regions[0], &(RegionSpec){0}));
    return parse_arrow_results(p, s);
}

// What stands in the braces of the short form { arith.addf {...} }.
typedef struct ShortForm {
    IrOpKind kind;
    Token at;
    const IrNamedAttr *attrs;
    uint32_t num_attrs;
} ShortForm;

static Status parse_short_form(Parser *p, ShortForm *form) {
    form->at = p->tok;
    if (p->tok.kind != TOKEN_WORD)
        return parse_error(p, DIAG_I0001, &p->tok, "expected an operation");
    TRY(find_op_kind(p, &p->tok, p->tok.text, p->tok.len, &form->kind));
    OpState inner;
    op_state_init(p, &inner, form->kind, &form->at);
    bool is_binary = str_has_prefix(inner.syntax.key, "binary") &&
                     str_has_prefix(ir_op_info(form->kind)->name, "arith.");
    if (!is_binary)
        return parse_error(p, DIAG_I0001, &p->tok,
                           "the short form takes an operation of two operands");
    advance(p);
    TRY(parse_op_attrs(p, &inner));
    form->num_attrs = p->num_attrs - inner.first_attr;
    form->attrs =
        arena_memdup(&p->m->arena, p->attrs + inner.first_attr, form->num_attrs, sizeof *p->attrs);
    p->num_attrs = inner.first_attr;
    return expect_char(p, '}');
}

// The region a short form stands for: op(accumulator, element), yielded.
static Status short_reduction(Parser *p, OpState *s, const ShortForm *form) {
    Slice ins = s->types[0], outs = s->types[1];
    if (ins.count != 1 || outs.count != 1)
        return parse_error(p, DIAG_I0015, &form->at, "the short form reduces one value");
    const IrType *elem = ir_type_elem(p->types[outs.start]);
    if (ir_type_elem(p->types[ins.start]) != elem)
        return parse_error(p, DIAG_I0009, &form->at, "the short form needs one element type");
    IrBlock *block = ir_region_add_block(p->m, &s->regions[0]);
    IrValue *in = ir_block_add_arg(p->m, block, elem), *acc = ir_block_add_arg(p->m, block, elem);
    uint32_t col = (uint32_t)(form->at.start - form->at.line_start + 1);
    const IrLoc *loc = ir_loc_file(p->m, p->file, form->at.line, col);
    IrValue *operands[] = {acc, in};
    IrOp *op = ir_op_create(p->m, &(IrOpSpec){.kind = form->kind,
                                              .loc = loc,
                                              .num_operands = 2,
                                              .operands = operands,
                                              .num_results = 1,
                                              .result_types = &elem,
                                              .num_attrs = form->num_attrs,
                                              .attrs = form->attrs});
    ir_block_append(block, op);
    IrValue *result = ir_op_result(op, 0);
    IrOp *yield = ir_op_create(
        p->m,
        &(IrOpSpec){.kind = IR_LINALG_YIELD, .loc = loc, .num_operands = 1, .operands = &result});
    ir_block_append(block, yield);
    return STATUS_OK;
}

// (%in: f32, %acc: f32) { ... }
static Status parse_reduce_region(Parser *p, OpState *s, Signature *sig) {
    TRY(parse_signature(p, sig));
    if (!sig->has_names || sig->num_results)
        return parse_error(p, DIAG_I0001, &p->tok, "expected (%%in: type, %%acc: type)");
    const IrType **types =
        arena_memdup(&p->m->arena, p->types + sig->types, sig->num_args, sizeof *types);
    RegionSpec spec = {.arg_names = sig->names, .arg_types = types, .num_args = sig->num_args};
    return parse_region(p, &s->regions[0], &spec);
}

static Status parse_reduce(Parser *p, OpState *s) {
    bool is_short = eat_char(p, '{');
    ShortForm form;
    if (is_short) TRY(parse_short_form(p, &form));
    TRY(parse_group(p, s, "ins", 'a'));
    TRY(parse_group(p, s, "outs", 'b'));
    TRY(need_outs(p, s));
    TRY(expect_word(p, "dimensions"));
    TRY(expect_char(p, '='));
    const IrAttr *dimensions;
    TRY(parse_int_list(p, ir_type_int(p->m, 64), &dimensions));
    TRY(set_attr(p, s, "dimensions", dimensions));
    TRY(parse_op_attrs(p, s));
    s->num_regions = 1;
    if (is_short) {
        TRY(short_reduction(p, s, &form));
    } else {
        Signature sig = {0};
        Status status = parse_reduce_region(p, s, &sig);
        signature_deinit(&sig);
        TRY(status);
    }
    // One result for each tensor among the outs.
    Slice outs = s->types[1];
    s->results = (Slice){p->num_types, 0};
    for (uint32_t i = 0; i < outs.count; i++) {
        if (p->types[outs.start + i]->kind != IR_TYPE_TENSOR) continue;
        push_type(p, p->types[outs.start + i]);
        s->results.count++;
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- memref.global

static Status parse_initial_value(Parser *p, OpState *s, const IrType *type) {
    if (eat_word(p, "uninitialized")) return set_attr(p, s, "initial_value", ir_attr_unit(p->m));
    const IrType *hint = ir_type_tensor(p->m, type->rank, type->shape, type->elem);
    const IrAttr *value;
    TRY(parse_attr(p, hint, &value));
    return set_attr(p, s, "initial_value", value);
}

static Status parse_global(Parser *p, OpState *s) {
    if (p->tok.kind == TOKEN_STRING) {
        const char *bytes;
        size_t len;
        TRY(parse_string_token(p, &bytes, &len));
        TRY(set_attr(p, s, "sym_visibility", ir_attr_string_n(p->m, bytes, len)));
    }
    if (eat_word(p, "constant")) TRY(set_attr(p, s, "constant", ir_attr_unit(p->m)));
    const char *name;
    TRY(parse_symbol_name(p, &name));
    TRY(set_attr(p, s, "sym_name", ir_attr_string(p->m, name)));
    TRY(expect_char(p, ':'));
    Token at = p->tok;
    const IrType *type;
    TRY(parse_type(p, &type));
    if (type->kind != IR_TYPE_MEMREF || !ir_type_is_static(type))
        return parse_error(p, DIAG_I0014, &at, "a global has a static memref type");
    TRY(set_attr(p, s, "type", ir_attr_type(p->m, type)));
    if (eat_char(p, '=')) TRY(parse_initial_value(p, s, type));
    return parse_op_attrs(p, s);
}

// ---------------------------------------------------------------- vector

const IrAffineMap *minor_identity(IrModule *m, uint32_t num_dims, uint32_t vector_rank) {
    uint32_t dims[MAX_RANK];
    uint32_t n = MIN(vector_rank, num_dims);
    for (uint32_t i = 0; i < n; i++) dims[i] = num_dims - n + i;
    return ir_affine_select(m, num_dims, n, dims);
}

static Status default_transfer_attrs(Parser *p, OpState *s, const IrType *memory,
                                     const IrType *vector) {
    if (!ir_type_is_shaped(memory) || vector->kind != IR_TYPE_VECTOR || vector->rank > memory->rank)
        return parse_error(p, DIAG_I0009, &s->token, "%s moves a vector from or to a shaped value",
                           ir_op_info(s->kind)->name);
    if (!has_attr(p, s, "permutation_map"))
        TRY(set_attr(p, s, "permutation_map",
                     ir_attr_map(p->m, minor_identity(p->m, memory->rank, vector->rank))));
    if (has_attr(p, s, "in_bounds")) return STATUS_OK;
    const IrAttr *flags[MAX_RANK];
    for (uint32_t i = 0; i < vector->rank; i++) flags[i] = ir_attr_bool(p->m, false);
    return set_attr(p, s, "in_bounds", ir_attr_array(p->m, vector->rank, flags));
}

static Status parse_indices(Parser *p, OpState *s, char slot) {
    TRY(expect_char(p, '['));
    TRY(parse_uses(p, slot_uses(s, slot)));
    Slice types = {p->num_types, slot_uses(s, slot)->count};
    for (uint32_t i = 0; i < types.count; i++) push_type(p, ir_type_index(p->m));
    set_slot_types(s, slot, types);
    return expect_char(p, ']');
}

static Status parse_single(Parser *p, OpState *s, char slot) {
    *slot_uses(s, slot) = (Slice){p->num_uses, 1};
    return parse_use(p);
}

// The two types of a transfer.
static Status parse_transfer_types(Parser *p, OpState *s, const IrType **out_first,
                                   const IrType **out_second) {
    TRY(parse_op_attrs(p, s));
    TRY(expect_char(p, ':'));
    TRY(parse_type(p, out_first));
    TRY(expect_char(p, ','));
    return parse_type(p, out_second);
}

static void set_one_type(Parser *p, OpState *s, char slot, const IrType *type) {
    set_slot_types(s, slot, (Slice){p->num_types, 1});
    push_type(p, type);
}

static void set_mask_type(Parser *p, OpState *s, const IrType *vector) {
    if (slot_uses(s, 'd')->count == 0) {
        set_slot_types(s, 'd', (Slice){p->num_types, 0});
        return;
    }
    // A mask has the order of the memory's dimensions, those the vector does not have left out.
    const IrAttr *map = get_attr(p, s, "permutation_map");
    int64_t shape[16];
    uint32_t rank = 0;
    bool has_map = map && map->kind == IR_ATTR_MAP && map->map->num_dims <= 16 &&
                   map->map->num_results == vector->rank;
    for (uint32_t d = 0; has_map && d < map->map->num_dims; d++)
        for (uint32_t r = 0, dim; r < vector->rank; r++)
            if (rank < 16 && ir_affine_is_dim(map->map->results[r], &dim) && dim == d)
                shape[rank++] = vector->shape[r];
    const IrType *i1 = ir_type_int(p->m, 1);
    const IrType *type = has_map ? ir_type_vector(p->m, rank, shape, i1)
                                 : ir_type_vector(p->m, vector->rank, vector->shape, i1);
    set_one_type(p, s, 'd', type);
}

static Status parse_mask(Parser *p, OpState *s) {
    *slot_uses(s, 'd') = (Slice){p->num_uses, 0};
    return eat_char(p, ',') ? parse_single(p, s, 'd') : STATUS_OK;
}

static Status parse_transfer_read(Parser *p, OpState *s) {
    TRY(parse_single(p, s, 'a'));
    TRY(parse_indices(p, s, 'b'));
    TRY(expect_char(p, ','));
    TRY(parse_single(p, s, 'c'));
    TRY(parse_mask(p, s));
    const IrType *memory, *vector;
    TRY(parse_transfer_types(p, s, &memory, &vector));
    TRY(default_transfer_attrs(p, s, memory, vector));
    set_one_type(p, s, 'a', memory);
    set_one_type(p, s, 'c', memory->elem);
    set_mask_type(p, s, vector);
    s->results = (Slice){p->num_types, 1};
    push_type(p, vector);
    return STATUS_OK;
}

static Status parse_transfer_write(Parser *p, OpState *s) {
    TRY(parse_single(p, s, 'a'));
    TRY(expect_char(p, ','));
    TRY(parse_single(p, s, 'b'));
    TRY(parse_indices(p, s, 'c'));
    TRY(parse_mask(p, s));
    const IrType *vector, *memory;
    TRY(parse_transfer_types(p, s, &vector, &memory));
    TRY(default_transfer_attrs(p, s, memory, vector));
    set_one_type(p, s, 'a', vector);
    set_one_type(p, s, 'b', memory);
    set_mask_type(p, s, vector);
    s->results = (Slice){p->num_types, 0};
    if (memory->kind != IR_TYPE_TENSOR) return STATUS_OK;
    push_type(p, memory);
    s->results.count = 1;
    return STATUS_OK;
}

static Status parse_contract(Parser *p, OpState *s) {
    TRY(parse_op_attrs(p, s));
    if (!has_attr(p, s, "kind")) TRY(set_attr(p, s, "kind", ir_attr_string(p->m, "add")));
    TRY(parse_single(p, s, 'a'));
    TRY(expect_char(p, ','));
    TRY(parse_single(p, s, 'b'));
    TRY(expect_char(p, ','));
    TRY(parse_single(p, s, 'c'));
    TRY(expect_char(p, ':'));
    const IrType *a, *b, *c;
    TRY(parse_type(p, &a));
    TRY(expect_char(p, ','));
    TRY(parse_type(p, &b));
    TRY(expect_word(p, "into"));
    TRY(parse_type(p, &c));
    set_one_type(p, s, 'a', a);
    set_one_type(p, s, 'b', b);
    set_one_type(p, s, 'c', c);
    s->results = (Slice){p->num_types, 1};
    push_type(p, c);
    return STATUS_OK;
}

static const struct {
    const char *key;
    CustomParser parse;
} parsers[] = {
    {"custom module", parse_module},
    {"custom func", parse_func},
    {"structured", parse_structured},
    {"custom generic", parse_generic},
    {"custom reduce", parse_reduce},
    {"custom global", parse_global},
    {"custom transfer_read", parse_transfer_read},
    {"custom transfer_write", parse_transfer_write},
    {"custom contract", parse_contract},
};

CustomParser find_custom_parser(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
        if (str_equal(parsers[i].key, key)) return parsers[i].parse;
    return NULL;
}
