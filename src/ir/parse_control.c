// Hand-written syntax of structured control flow: scf and affine loops.
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

static Status set_attr(Parser *p, const OpState *s, const char *name, const IrAttr *attr) {
    return add_op_attr(p, s, &s->token, name, strlen(name), attr);
}

static void set_types(Parser *p, OpState *s, char slot, const IrType *type) {
    Slice types = {p->num_types, slot_uses(s, slot)->count};
    for (uint32_t i = 0; i < types.count; i++) push_type(p, type);
    set_slot_types(s, slot, types);
}

// Names and types of the block arguments a loop's header gives.
typedef struct Header {
    Token *names;
    const IrType **types;
    uint32_t count, names_capacity, types_capacity;
} Header;

static void header_add(Header *header, const Token *name, const IrType *type) {
    uint32_t count = header->count;
    ARRAY_RESERVE(header->names, count, header->names_capacity);
    ARRAY_RESERVE(header->types, count, header->types_capacity);
    header->names[count] = *name;
    header->types[count] = type;
    header->count++;
}

static void header_deinit(Header *header) {
    free(header->names);
    free(header->types);
}

static Status parse_header_name(Parser *p, Header *header, const IrType *type) {
    if (p->tok.kind != TOKEN_VALUE)
        return parse_error(p, DIAG_I0001, &p->tok, "expected a name, %%name");
    header_add(header, &p->tok, type);
    advance(p);
    if (!eat_word(p, "loc")) return STATUS_OK;
    const IrLoc *loc;
    Token alias;
    return parse_loc(p, &loc, &alias);
}

// (%i, %j) with the type given.
static Status parse_header_names(Parser *p, Header *header, const IrType *type) {
    TRY(expect_char(p, '('));
    uint32_t first = header->count;
    while (!eat_char(p, ')')) {
        if (header->count > first) TRY(expect_char(p, ','));
        TRY(parse_header_name(p, header, type));
    }
    return STATUS_OK;
}

// (%a = %x, %b = %y) -> (T, T): names into the header, values into the slot, types are the results.
static Status parse_assignments(Parser *p, OpState *s, char slot, Header *header) {
    uint32_t first = header->count;
    Slice *uses = slot_uses(s, slot);
    *uses = (Slice){p->num_uses, 0};
    TRY(expect_char(p, '('));
    while (!eat_char(p, ')')) {
        if (uses->count) TRY(expect_char(p, ','));
        TRY(parse_header_name(p, header, NULL));
        TRY(expect_char(p, '='));
        TRY(parse_use(p));
        uses->count++;
    }
    TRY(expect_arrow(p));
    Token at = p->tok;
    TRY(parse_result_types(p, &s->results));
    if (s->results.count != uses->count)
        return parse_error(p, DIAG_I0015, &at, "%u values but %u types", uses->count,
                           s->results.count);
    for (uint32_t i = 0; i < uses->count; i++)
        header->types[first + i] = p->types[s->results.start + i];
    set_slot_types(s, slot, s->results);
    return STATUS_OK;
}

static void no_uses(Parser *p, OpState *s, char slot) {
    *slot_uses(s, slot) = (Slice){p->num_uses, 0};
    set_slot_types(s, slot, (Slice){p->num_types, 0});
}

static Status parse_body(Parser *p, OpState *s, const Header *header, IrOpKind terminator) {
    RegionSpec spec = {.arg_names = header->names,
                       .arg_types = header->types,
                       .num_args = header->count,
                       .has_terminator = true,
                       .terminator = terminator};
    s->num_regions = 1;
    TRY(parse_region(p, &s->regions[0], &spec));
    return parse_op_attrs(p, s);
}

// ---------------------------------------------------------------- scf.for, scf.if

static Status parse_for_parts(Parser *p, OpState *s, Header *header) {
    if (eat_word(p, "unsigned")) TRY(set_attr(p, s, "unsignedCmp", ir_attr_unit(p->m)));
    TRY(parse_header_name(p, header, ir_type_index(p->m)));
    static const char *const words[] = {NULL, "to", "step"};
    TRY(expect_char(p, '='));
    for (uint32_t i = 0; i < 3; i++) {
        if (words[i]) TRY(expect_word(p, words[i]));
        *slot_uses(s, (char)('a' + i)) = (Slice){p->num_uses, 1};
        TRY(parse_use(p));
    }
    no_uses(p, s, 'd');
    s->results = (Slice){p->num_types, 0};
    if (eat_word(p, "iter_args")) TRY(parse_assignments(p, s, 'd', header));
    const IrType *type = ir_type_index(p->m);
    if (eat_char(p, ':')) TRY(parse_type(p, &type));
    header->types[0] = type;
    for (uint32_t i = 0; i < 3; i++) set_types(p, s, (char)('a' + i), type);
    return parse_body(p, s, header, IR_SCF_YIELD);
}

static Status parse_for(Parser *p, OpState *s) {
    Header header = {0};
    Status status = parse_for_parts(p, s, &header);
    header_deinit(&header);
    return status;
}

static Status parse_if(Parser *p, OpState *s) {
    *slot_uses(s, 'a') = (Slice){p->num_uses, 1};
    TRY(parse_use(p));
    set_types(p, s, 'a', ir_type_int(p->m, 1));
    s->results = (Slice){p->num_types, 0};
    if (p->tok.kind == TOKEN_ARROW) {
        advance(p);
        TRY(parse_result_types(p, &s->results));
    }
    RegionSpec spec = {.has_terminator = true, .terminator = IR_SCF_YIELD};
    s->num_regions = 2;
    TRY(parse_region(p, &s->regions[0], &spec));
    if (eat_word(p, "else")) TRY(parse_region(p, &s->regions[1], &spec));
    return parse_op_attrs(p, s);
}

// ---------------------------------------------------------------- scf.forall

enum { MAX_FORALL_DIMS = 16 };

// (8, %n): numbers, with IR_DYNAMIC for each value.
static Status parse_mixed(Parser *p, OpState *s, char slot, const char *attr, uint32_t *out_count) {
    int64_t values[MAX_FORALL_DIMS];
    uint32_t count = 0;
    Slice *uses = slot_uses(s, slot);
    *uses = (Slice){p->num_uses, 0};
    TRY(expect_char(p, '('));
    while (!eat_char(p, ')')) {
        if (count) TRY(expect_char(p, ','));
        if (count == MAX_FORALL_DIMS)
            return parse_error(p, DIAG_I0011, &p->tok, "more than %d loops", (int)MAX_FORALL_DIMS);
        if (p->tok.kind == TOKEN_VALUE) {
            TRY(parse_use(p));
            uses->count++;
            values[count++] = IR_DYNAMIC;
        } else {
            TRY(parse_int(p, &values[count++]));
        }
    }
    *out_count = count;
    return set_attr(p, s, attr, ir_attr_dense_array(p->m, ir_type_int(p->m, 64), count, values));
}

static Status set_constant_list(Parser *p, OpState *s, char slot, const char *attr, uint32_t count,
                                int64_t value) {
    int64_t values[MAX_FORALL_DIMS];
    for (uint32_t i = 0; i < count; i++) values[i] = value;
    no_uses(p, s, slot);
    return set_attr(p, s, attr, ir_attr_dense_array(p->m, ir_type_int(p->m, 64), count, values));
}

static Status parse_forall_bounds(Parser *p, OpState *s, uint32_t num_loops) {
    uint32_t counts[3] = {num_loops, num_loops, num_loops};
    Token at = p->tok;
    if (num_loops > MAX_FORALL_DIMS)
        return parse_error(p, DIAG_I0011, &at, "more than %d loops", (int)MAX_FORALL_DIMS);
    if (eat_word(p, "in")) {
        TRY(set_constant_list(p, s, 'a', "staticLowerBound", num_loops, 0));
        TRY(parse_mixed(p, s, 'b', "staticUpperBound", &counts[1]));
        TRY(set_constant_list(p, s, 'c', "staticStep", num_loops, 1));
    } else {
        TRY(expect_char(p, '='));
        TRY(parse_mixed(p, s, 'a', "staticLowerBound", &counts[0]));
        TRY(expect_word(p, "to"));
        TRY(parse_mixed(p, s, 'b', "staticUpperBound", &counts[1]));
        TRY(expect_word(p, "step"));
        TRY(parse_mixed(p, s, 'c', "staticStep", &counts[2]));
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (counts[i] != num_loops)
            return parse_error(p, DIAG_I0015, &at, "%u loops but %u bounds", num_loops, counts[i]);
        set_types(p, s, (char)('a' + i), ir_type_index(p->m));
    }
    return STATUS_OK;
}

static Status parse_forall_parts(Parser *p, OpState *s, Header *header) {
    TRY(parse_header_names(p, header, ir_type_index(p->m)));
    TRY(parse_forall_bounds(p, s, header->count));
    no_uses(p, s, 'd');
    s->results = (Slice){p->num_types, 0};
    if (eat_word(p, "shared_outs")) TRY(parse_assignments(p, s, 'd', header));
    return parse_body(p, s, header, IR_SCF_FORALL_IN_PARALLEL);
}

static Status parse_forall(Parser *p, OpState *s) {
    Header header = {0};
    Status status = parse_forall_parts(p, s, &header);
    header_deinit(&header);
    return status;
}

static Status parse_in_parallel(Parser *p, OpState *s) {
    s->num_regions = 1;
    TRY(parse_region(p, &s->regions[0], &(RegionSpec){0}));
    if (!s->regions[0].first) ir_region_add_block(p->m, &s->regions[0]);
    return parse_op_attrs(p, s);
}

// ---------------------------------------------------------------- scf.parallel

static Status parse_value_list(Parser *p, OpState *s, char slot, uint32_t count) {
    Token at = p->tok;
    TRY(expect_char(p, '('));
    TRY(parse_uses(p, slot_uses(s, slot)));
    if (slot_uses(s, slot)->count != count)
        return parse_error(p, DIAG_I0015, &at, "%u loops but %u values", count,
                           slot_uses(s, slot)->count);
    set_types(p, s, slot, ir_type_index(p->m));
    return expect_char(p, ')');
}

static Status parse_parallel_parts(Parser *p, OpState *s, Header *header) {
    TRY(parse_header_names(p, header, ir_type_index(p->m)));
    TRY(expect_char(p, '='));
    TRY(parse_value_list(p, s, 'a', header->count));
    TRY(expect_word(p, "to"));
    TRY(parse_value_list(p, s, 'b', header->count));
    TRY(expect_word(p, "step"));
    TRY(parse_value_list(p, s, 'c', header->count));
    no_uses(p, s, 'd');
    s->results = (Slice){p->num_types, 0};
    if (eat_word(p, "init")) {
        Token at = p->tok;
        TRY(expect_char(p, '('));
        TRY(parse_uses(p, slot_uses(s, 'd')));
        TRY(expect_char(p, ')'));
        TRY(expect_arrow(p));
        TRY(parse_result_types(p, &s->results));
        if (s->results.count != slot_uses(s, 'd')->count)
            return parse_error(p, DIAG_I0015, &at, "%u values but %u types",
                               slot_uses(s, 'd')->count, s->results.count);
        set_slot_types(s, 'd', s->results);
    }
    return parse_body(p, s, header, IR_SCF_REDUCE);
}

static Status parse_parallel(Parser *p, OpState *s) {
    Header header = {0};
    Status status = parse_parallel_parts(p, s, &header);
    header_deinit(&header);
    return status;
}

static Status parse_scf_reduce(Parser *p, OpState *s) {
    no_uses(p, s, 'a');
    if (eat_char(p, '(')) {
        Slice types = {0};
        TRY(parse_uses(p, slot_uses(s, 'a')));
        TRY(expect_char(p, ':'));
        TRY(parse_types(p, &types));
        set_slot_types(s, 'a', types);
        TRY(expect_char(p, ')'));
    }
    s->num_regions = slot_uses(s, 'a')->count;
    s->many_regions = ARENA_ARRAY(&p->m->arena, IrRegion, s->num_regions + 1);
    for (uint32_t i = 0; i < s->num_regions; i++) {
        if (i) TRY(expect_char(p, ','));
        TRY(parse_region(p, &s->many_regions[i], &(RegionSpec){0}));
    }
    return parse_op_attrs(p, s);
}

// ---------------------------------------------------------------- affine

// 0, %n, #map(%a)[%b], max #map(%a), min #map(%a)
static Status parse_bound(Parser *p, OpState *s, char slot, bool is_lower,
                          const IrAffineMap **out_map) {
    Slice *uses = slot_uses(s, slot);
    *uses = (Slice){p->num_uses, 0};
    if (p->tok.kind == TOKEN_VALUE) {
        TRY(parse_use(p));
        uses->count = 1;
        const IrAffineExpr *symbol = ir_affine_symbol(p->m, 0);
        *out_map = ir_affine_map(p->m, 0, 1, 1, &symbol);
        return STATUS_OK;
    }
    if (p->tok.kind == TOKEN_INT || at_char(p, '-')) {
        int64_t value;
        TRY(parse_int(p, &value));
        const IrAffineExpr *constant = ir_affine_const(p->m, value);
        *out_map = ir_affine_map(p->m, 0, 0, 1, &constant);
        return STATUS_OK;
    }
    bool is_many = eat_word(p, is_lower ? "max" : "min");
    Token at = p->tok;
    const IrAttr *map;
    TRY(parse_attr(p, NULL, &map));
    if (map->kind != IR_ATTR_MAP) return parse_error(p, DIAG_I0014, &at, "expected an affine map");
    if (!is_many && map->map->num_results != 1)
        return parse_error(p, DIAG_I0001, &at, "a bound of several results is written with %s",
                           is_lower ? "max" : "min");
    Slice symbols = {0};
    TRY(expect_char(p, '('));
    TRY(parse_uses(p, uses));
    TRY(expect_char(p, ')'));
    uint32_t num_dims = uses->count;
    if (eat_char(p, '[')) {
        TRY(parse_uses(p, &symbols));
        TRY(expect_char(p, ']'));
    }
    uses->count += symbols.count;
    if (num_dims != map->map->num_dims || symbols.count != map->map->num_symbols)
        return parse_error(p, DIAG_I0015, &at, "the map takes %u dimensions and %u symbols",
                           map->map->num_dims, map->map->num_symbols);
    *out_map = map->map;
    return STATUS_OK;
}

static Status parse_affine_for_parts(Parser *p, OpState *s, Header *header) {
    const IrAffineMap *lower, *upper;
    TRY(parse_header_name(p, header, ir_type_index(p->m)));
    TRY(expect_char(p, '='));
    TRY(parse_bound(p, s, 'a', true, &lower));
    TRY(expect_word(p, "to"));
    TRY(parse_bound(p, s, 'b', false, &upper));
    uint64_t step = 1;
    Token at = p->tok;
    if (eat_word(p, "step")) TRY(parse_uint(p, INT64_MAX, &step));
    if (step == 0) return parse_error(p, DIAG_I0010, &at, "a step is at least 1");
    TRY(set_attr(p, s, "lowerBoundMap", ir_attr_map(p->m, lower)));
    TRY(set_attr(p, s, "upperBoundMap", ir_attr_map(p->m, upper)));
    TRY(set_attr(p, s, "step", ir_attr_index(p->m, (int64_t)step)));
    set_types(p, s, 'a', ir_type_index(p->m));
    set_types(p, s, 'b', ir_type_index(p->m));
    no_uses(p, s, 'c');
    s->results = (Slice){p->num_types, 0};
    if (eat_word(p, "iter_args")) TRY(parse_assignments(p, s, 'c', header));
    return parse_body(p, s, header, IR_AFFINE_YIELD);
}

static Status parse_affine_for(Parser *p, OpState *s) {
    Header header = {0};
    Status status = parse_affine_for_parts(p, s, &header);
    header_deinit(&header);
    return status;
}

// The numbers MLIR's AtomicRMWKind has; the generic form of affine.parallel writes them.
static const char *const reduction_names[] = {
    "addf", "addi", "assign", "maximumf", "maxs", "maxu",    "minimumf", "mins",
    "minu", "mulf", "muli",   "ori",      "andi", "maxnumf", "minnumf",  "xori"};

const char *affine_reduction_name(int64_t number) {
    return number >= 0 && number < (int64_t)ARRAY_LEN(reduction_names) ? reduction_names[number]
                                                                       : NULL;
}

static Status parse_reductions(Parser *p, const IrAttr **out_attr) {
    const IrAttr *kinds[64];
    size_t count = 0;
    if (eat_word(p, "reduce")) {
        TRY(expect_char(p, '('));
        while (!eat_char(p, ')')) {
            if (count) TRY(expect_char(p, ','));
            Token at = p->tok;
            const char *name;
            size_t len, i = 0;
            TRY(parse_string_token(p, &name, &len));
            while (i < ARRAY_LEN(reduction_names) && !str_equal(reduction_names[i], name)) i++;
            if (i == ARRAY_LEN(reduction_names) || count == ARRAY_LEN(kinds))
                return parse_error(p, DIAG_I0014, &at, "unknown reduction");
            kinds[count++] = ir_attr_i64(p->m, (int64_t)i);
        }
    }
    *out_attr = ir_attr_array(p->m, count, kinds);
    return STATUS_OK;
}

static Status parse_steps(Parser *p, uint32_t num_loops, const IrAttr **out_attr) {
    const IrAttr **steps = ARENA_ARRAY(&p->m->arena, const IrAttr *, num_loops + 1);
    for (uint32_t i = 0; i < num_loops; i++) steps[i] = ir_attr_i64(p->m, 1);
    Token at = p->tok;
    if (eat_word(p, "step")) {
        TRY(expect_char(p, '('));
        for (uint32_t i = 0; i < num_loops; i++) {
            uint64_t step;
            if (i) TRY(expect_char(p, ','));
            TRY(parse_uint(p, INT64_MAX, &step));
            if (step == 0) return parse_error(p, DIAG_I0010, &at, "a step is at least 1");
            steps[i] = ir_attr_i64(p->m, (int64_t)step);
        }
        TRY(expect_char(p, ')'));
    }
    *out_attr = ir_attr_array(p->m, num_loops, steps);
    return STATUS_OK;
}

static Status parse_affine_parallel_parts(Parser *p, OpState *s, Header *header) {
    const IrAffineMap *lower, *upper;
    const IrAttr *lower_groups, *upper_groups, *steps, *reductions;
    Token at = p->tok;
    TRY(parse_header_names(p, header, ir_type_index(p->m)));
    TRY(expect_char(p, '='));
    TRY(parse_affine_bounds(p, true, &lower, slot_uses(s, 'a'), &lower_groups));
    TRY(expect_word(p, "to"));
    TRY(parse_affine_bounds(p, false, &upper, slot_uses(s, 'b'), &upper_groups));
    TRY(parse_steps(p, header->count, &steps));
    TRY(parse_reductions(p, &reductions));
    if (lower_groups->type->shape[0] != header->count ||
        upper_groups->type->shape[0] != header->count)
        return parse_error(p, DIAG_I0015, &at, "bounds and loops differ in number");
    TRY(set_attr(p, s, "lowerBoundsMap", ir_attr_map(p->m, lower)));
    TRY(set_attr(p, s, "upperBoundsMap", ir_attr_map(p->m, upper)));
    TRY(set_attr(p, s, "lowerBoundsGroups", lower_groups));
    TRY(set_attr(p, s, "upperBoundsGroups", upper_groups));
    TRY(set_attr(p, s, "steps", steps));
    TRY(set_attr(p, s, "reductions", reductions));
    set_types(p, s, 'a', ir_type_index(p->m));
    set_types(p, s, 'b', ir_type_index(p->m));
    s->results = (Slice){p->num_types, 0};
    if (p->tok.kind == TOKEN_ARROW) {
        advance(p);
        TRY(parse_result_types(p, &s->results));
    }
    return parse_body(p, s, header, IR_AFFINE_YIELD);
}

static Status parse_affine_parallel(Parser *p, OpState *s) {
    Header header = {0};
    Status status = parse_affine_parallel_parts(p, s, &header);
    header_deinit(&header);
    return status;
}

static const struct {
    const char *key;
    CustomParser parse;
} parsers[] = {
    {"custom for", parse_for},
    {"custom if", parse_if},
    {"custom forall", parse_forall},
    {"custom in_parallel", parse_in_parallel},
    {"custom parallel", parse_parallel},
    {"custom scf_reduce", parse_scf_reduce},
    {"custom affine_for", parse_affine_for},
    {"custom affine_parallel", parse_affine_parallel},
};

CustomParser find_control_parser(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
        if (str_equal(parsers[i].key, key)) return parsers[i].parse;
    return NULL;
}
