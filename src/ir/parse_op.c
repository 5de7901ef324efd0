// One op of the text: its names, its attributes, resolving operands and inferring types.
#include <limits.h>
#include <string.h>

#include "ir/parser.h"

void op_state_init(Parser *p, OpState *s, IrOpKind kind, const Token *token) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->token = *token;
    s->first_attr = p->num_attrs;
    s->results.start = p->num_types;
    syntax_of(kind, &s->syntax);
}

static uint32_t slot_index(const OpState *s, char slot) {
    return (uint32_t)(syntax_slot(&s->syntax, slot) - s->syntax.slots);
}

Slice *slot_uses(OpState *s, char slot) {
    return &s->uses[slot_index(s, slot)];
}

void set_slot_types(OpState *s, char slot, Slice types) {
    uint32_t i = slot_index(s, slot);
    s->types[i] = types;
    s->has_types[i] = true;
}

// ---------------------------------------------------------------- attributes

const IrAttr *get_attr(const Parser *p, const OpState *s, const char *name) {
    for (uint32_t i = s->first_attr; i < p->num_attrs; i++)
        if (str_equal(p->attrs[i].name, name)) return p->attrs[i].attr;
    return NULL;
}

bool has_attr(const Parser *p, const OpState *s, const char *name) {
    return get_attr(p, s, name) != NULL;
}

static Status unknown_attr(Parser *p, const OpState *s, const Token *at, const char *name) {
    Status status =
        parse_error(p, DIAG_I0004, at, "%s has no attribute %s", ir_op_info(s->kind)->name, name);
    char words[16][MAX_SYNTAX_WORD];
    const char *candidates[16];
    size_t n = 0;
    for (const char *w = ir_op_info(s->kind)->attrs; *w && n < ARRAY_LEN(words);) {
        size_t len = strcspn(w, " ");
        if (len < MAX_SYNTAX_WORD) {
            memcpy(words[n], w, len);
            words[n][len] = 0;
            candidates[n] = words[n];
            n++;
        }
        w += len + strspn(w + len, " ");
    }
    const char *nearest = str_nearest(name, candidates, n);
    if (nearest)
        diag_write(p->sink, "%s", nearest);
    else
        diag_write(p->sink, "ingot.%s for an annotation", name);
    return status;
}

// "#arith.fastmath<a,b>" -> "a,b" if the prefix is the attribute's.
static const IrAttr *strip_prefix(Parser *p, const IrAttr *attr, const char *prefix) {
    size_t len = strlen(prefix);
    if (attr->kind != IR_ATTR_OPAQUE_ENUM || attr->str_len < len + 3) return attr;
    if (strncmp(attr->str + 1, prefix, len) != 0 || attr->str[len + 1] != '<') return attr;
    return ir_attr_string_n(p->m, attr->str + len + 2, attr->str_len - len - 3);
}

static const IrAttr *strip_enum(Parser *p, const IrAttr *attr, const char *prefix) {
    if (attr->kind != IR_ATTR_ARRAY) return strip_prefix(p, attr, prefix);
    const IrAttr **elems = ARENA_ARRAY(&p->m->arena, const IrAttr *, attr->num_elems + 1);
    for (size_t i = 0; i < attr->num_elems; i++) elems[i] = strip_prefix(p, attr->elems[i], prefix);
    return ir_attr_array(p->m, attr->num_elems, elems);
}

static Status wrong_keyword(Parser *p, const OpState *s, const Token *at, const char *name,
                            const char *keyword) {
    Status status = parse_error(p, DIAG_I0014, at, "%s: %s cannot be '%.40s'",
                                ir_op_info(s->kind)->name, name, keyword);
    const char *const *keywords = syntax_enum_keywords(s->kind, name);
    size_t n = 0;
    while (keywords && keywords[n]) n++;
    const char *nearest = keywords ? str_nearest(keyword, keywords, n) : NULL;
    if (nearest) diag_write(p->sink, "%s", nearest);
    return status;
}

// Flag lists in canonical order; *attr NULL for the default, no flag.
static Status normal_flags(Parser *p, const OpState *s, const Token *at, const char *name,
                           const IrAttr **attr) {
    bool is_overflow = str_equal(name, "overflowFlags");
    char buf[96];
    if ((*attr)->kind != IR_ATTR_STRING ||
        !syntax_flags(is_overflow ? syntax_overflow_flags : syntax_fastmath_flags, (*attr)->str,
                      str_equal(name, "fastmath") ? "," : ", ", buf, sizeof buf))
        return wrong_keyword(p, s, at, name,
                             (*attr)->kind == IR_ATTR_STRING ? (*attr)->str : "this");
    *attr = buf[0] ? ir_attr_string(p->m, buf) : NULL;
    return STATUS_OK;
}

static Status check_keywords(Parser *p, const OpState *s, const Token *at, const char *name,
                             const IrAttr *attr) {
    if (attr->kind == IR_ATTR_STRING && !syntax_enum_known(s->kind, name, attr->str))
        return wrong_keyword(p, s, at, name, attr->str);
    if (attr->kind != IR_ATTR_ARRAY || !syntax_enum_keywords(s->kind, name)) return STATUS_OK;
    for (size_t i = 0; i < attr->num_elems; i++)
        if (attr->elems[i]->kind == IR_ATTR_STRING &&
            !syntax_enum_known(s->kind, name, attr->elems[i]->str))
            return wrong_keyword(p, s, at, name, attr->elems[i]->str);
    return STATUS_OK;
}

Status add_op_attr(Parser *p, const OpState *s, const Token *at, const char *name, size_t len,
                   const IrAttr *attr) {
    const char *text = ir_intern_n(p->m, name, len);
    if (memchr(name, 0, len) || len == 0)
        return parse_error(p, DIAG_I0004, at, "attribute name empty or with a NUL");
    if (p->num_attrs - s->first_attr >= MAX_OP_ATTRS)
        return parse_error(p, DIAG_I0011, at, "more than %d attributes", (int)MAX_OP_ATTRS);
    if (has_attr(p, s, text))
        return parse_error(p, DIAG_I0008, at, "attribute %s is given twice", text);
    if (!ir_op_attr_is_inherent(s->kind, text)) {
        const char *dot = strchr(text, '.');
        if (!dot) return unknown_attr(p, s, at, text);
        size_t dialect_len = (size_t)(dot - text);
        static const char *const others[] = {"ingot", "gpu",    "nvvm", "rocdl",
                                             "spirv", "aicore", "dlti"};
        bool known = ir_dialect_known(text, dialect_len);
        for (size_t i = 0; i < ARRAY_LEN(others) && !known; i++)
            known = strlen(others[i]) == dialect_len && strncmp(others[i], text, dialect_len) == 0;
        if (!known)
            return parse_error(p, DIAG_I0003, at, "attribute %s: unknown dialect %.*s", text,
                               (int)dialect_len, text);
        push_attr(p, text, attr);
        return STATUS_OK;
    }
    const char *prefix = syntax_enum_prefix(s->kind, text);
    if (prefix) attr = strip_enum(p, attr, prefix);
    if (attr->kind == IR_ATTR_INT) {
        const char *keyword = syntax_enum_keyword(s->kind, text, attr->i);
        if (keyword) attr = ir_attr_string(p->m, keyword);
    }
    if (str_equal(text, "noWrapFlags") && attr->kind == IR_ATTR_STRING &&
        str_equal(attr->str, "none"))
        return STATUS_OK;
    if (str_has_prefix(text, "fastmath") || str_equal(text, "overflowFlags"))
        TRY(normal_flags(p, s, at, text, &attr));
    else
        TRY(check_keywords(p, s, at, text, attr));
    if (attr) push_attr(p, text, attr);
    return STATUS_OK;
}

Status parse_op_attrs(Parser *p, const OpState *s) {
    if (!eat_char(p, '{')) return STATUS_OK;
    bool is_first = true;
    while (!eat_char(p, '}')) {
        if (!is_first) TRY(expect_char(p, ','));
        is_first = false;
        Token name = p->tok;
        const char *text = name.text;
        size_t len = name.len;
        if (name.kind == TOKEN_STRING)
            TRY(parse_string_token(p, &text, &len));
        else if (name.kind == TOKEN_WORD)
            advance(p);
        else
            return parse_error(p, DIAG_I0001, &name, "expected the name of an attribute");
        const IrAttr *attr = ir_attr_unit(p->m);
        if (eat_char(p, '=')) TRY(parse_attr(p, NULL, &attr));
        TRY(add_op_attr(p, s, &name, text, len, attr));
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- inferred types

static Status cannot_infer(Parser *p, const OpState *s) {
    return parse_error(p, DIAG_I0009, &s->token, "%s: a type does not fit this operation",
                       ir_op_info(s->kind)->name);
}

static const IrType *like_shape(Parser *p, const IrType *shape, const IrType *elem) {
    if (shape->kind == IR_TYPE_VECTOR) return ir_type_vector(p->m, shape->rank, shape->shape, elem);
    if (shape->kind == IR_TYPE_TENSOR) return ir_type_tensor(p->m, shape->rank, shape->shape, elem);
    return elem;
}

// Follows positions into structures and arrays.
static const IrType *field_type(const IrType *type, const IrAttr *position) {
    if (!position || position->kind != IR_ATTR_DENSE_ARRAY) return NULL;
    for (size_t i = 0; i < position->num_values && type; i++) {
        int64_t at = position->values[i];
        if (type->kind == IR_TYPE_STRUCT)
            type = at >= 0 && at < type->num_inputs ? type->inputs[at] : NULL;
        else if (type->kind == IR_TYPE_ARRAY)
            type = at >= 0 && at < type->shape[0] ? type->elem : NULL;
        else
            type = NULL;
    }
    return type;
}

// mask elements of a's element type, after a's leading dimensions but the first.
static const IrType *shuffled_type(Parser *p, const OpState *s, const IrType *a) {
    const IrAttr *mask = get_attr(p, s, "mask");
    if (a->kind != IR_TYPE_VECTOR || a->rank < 1 || !mask || mask->kind != IR_ATTR_DENSE_ARRAY ||
        mask->num_values == 0 || mask->num_values > 1 << 20)
        return NULL;
    int64_t shape[MAX_RANK];
    memcpy(shape, a->shape, a->rank * sizeof *shape);
    shape[0] = (int64_t)mask->num_values;
    return ir_type_vector(p->m, a->rank, shape, a->elem);
}

// The type known so far of a slot (its first), or of the result for 'r'.
static const IrType *known_type(const Parser *p, const OpState *s, char name) {
    Slice slice = name == 'r' ? s->results : s->types[slot_index(s, name)];
    return slice.count ? p->types[slice.start] : NULL;
}

static Status infer_one(Parser *p, OpState *s, const char *rule, const IrType **out_type) {
    const IrType *type = NULL;
    if (str_has_prefix(rule, "index"))
        type = ir_type_index(p->m);
    else if (str_has_prefix(rule, "i1"))
        type = ir_type_int(p->m, 1);
    else if (str_has_prefix(rule, "i64"))
        type = ir_type_int(p->m, 64);
    else if (str_has_prefix(rule, "value")) {
        const IrAttr *value = get_attr(p, s, "value");
        if (value) type = value->type;
    } else {
        const char *paren = strchr(rule, '(');
        const char *space = strchr(rule, ' ');
        bool has_arg = paren && (!space || paren < space);
        bool is_shuffle = str_has_prefix(rule, "shuffle"), is_field = str_has_prefix(rule, "field");
        char source = has_arg ? paren[1] : is_shuffle || is_field ? 'a' : rule[0];
        const IrType *base = known_type(p, s, source);
        if (!base) return cannot_infer(p, s);
        if (is_shuffle)
            type = shuffled_type(p, s, base);
        else if (is_field)
            type = field_type(base, get_attr(p, s, "position"));
        else if (str_has_prefix(rule, "elem("))
            type = ir_type_is_shaped(base) ? base->elem : NULL;
        else if (str_has_prefix(rule, "bool("))
            type = like_shape(p, base, ir_type_int(p->m, 1));
        else
            type = base;
    }
    if (!type) return cannot_infer(p, s);
    *out_type = type;
    return STATUS_OK;
}

static Status infer_result(Parser *p, OpState *s, const char *rule) {
    enum { MAX_ELEMENTS = 1 << 16 };
    uint32_t count = 1;
    const IrType *type = NULL;
    if (str_has_prefix(rule, "twin")) { // a second result like the first
        type = known_type(p, s, 'r');
        count = 2;
    } else if (str_has_prefix(rule, "tensor(")) {
        type = known_type(p, s, rule[7]);
        if (type && type->kind != IR_TYPE_TENSOR) return STATUS_OK;
    } else if (str_has_prefix(rule, "elems(")) {
        const IrType *vector = known_type(p, s, rule[6]);
        if (!vector || vector->kind != IR_TYPE_VECTOR) return cannot_infer(p, s);
        if (ir_type_num_elems(vector) > MAX_ELEMENTS)
            return parse_error(p, DIAG_I0011, &s->token, "more than %d results", (int)MAX_ELEMENTS);
        count = (uint32_t)ir_type_num_elems(vector);
        type = vector->elem;
    } else {
        TRY(infer_one(p, s, rule, &type));
    }
    if (!type) return cannot_infer(p, s);
    s->results = (Slice){p->num_types, count};
    for (uint32_t i = 0; i < count; i++) push_type(p, type);
    return STATUS_OK;
}

static Status apply_rules(Parser *p, OpState *s) {
    for (const char *at = s->syntax.rules; *at;) {
        char target = at[0];
        const char *rule = at + 2;
        if (target == 'r') {
            TRY(infer_result(p, s, rule));
        } else {
            uint32_t i = slot_index(s, target);
            const IrType *type = NULL;
            if (s->uses[i].count) TRY(infer_one(p, s, rule, &type));
            s->types[i] = (Slice){p->num_types, s->uses[i].count};
            s->has_types[i] = true;
            for (uint32_t k = 0; k < s->uses[i].count; k++) push_type(p, type);
        }
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- building

static Status check_count(Parser *p, const OpState *s, const SyntaxSlot *slot, uint32_t count) {
    bool fits = slot->mode == '*' || (slot->mode == '?' ? count <= 1 : count == 1);
    if (fits) return STATUS_OK;
    return parse_error(p, DIAG_I0015, &s->token, "%s has a wrong number of operands",
                       ir_op_info(s->kind)->name);
}

static Status resolve_slot(Parser *p, OpState *s, uint32_t i, IrOpSpec *spec) {
    const SyntaxSlot *slot = &s->syntax.slots[i];
    Slice uses = s->uses[i], types = s->types[i];
    TRY(check_count(p, s, slot, uses.count));
    if (s->has_types[i] && types.count != uses.count)
        return parse_error(p, DIAG_I0015, &s->token, "%u operands but %u types", uses.count,
                           types.count);
    for (uint32_t k = 0; k < uses.count; k++) {
        IrValue *value;
        const IrType *type = s->has_types[i] ? p->types[types.start + k] : NULL;
        OperandUse use = p->uses[uses.start + k];
        TRY(resolve_use(p, &use, type, &value));
        ARRAY_RESERVE(p->values, p->num_values, p->values_capacity);
        p->values[p->num_values++] = value;
    }
    spec->segments[slot->segment] += uses.count;
    return STATUS_OK;
}

static void move_region(IrOp *op, uint32_t number, IrRegion *from) {
    IrRegion *to = &op->regions[number];
    to->first = from->first;
    to->last = from->last;
    FOR_EACH_BLOCK(block, to) block->region = to;
}

Status make_op(Parser *p, OpState *s, IrOp **out_op) {
    TRY(apply_rules(p, s));
    uint32_t first_value = p->num_values;
    uint32_t col = (uint32_t)(s->token.start - s->token.line_start + 1);
    IrOpSpec spec = {.kind = s->kind, .loc = ir_loc_file(p->m, p->file, s->token.line, col)};
    for (uint32_t i = 0; i < s->syntax.num_slots; i++) TRY(resolve_slot(p, s, i, &spec));
    spec.num_operands = p->num_values - first_value;
    spec.operands = p->values + first_value;
    spec.num_results = s->results.count;
    spec.result_types = p->types + s->results.start;
    spec.num_attrs = p->num_attrs - s->first_attr;
    spec.attrs = p->attrs + s->first_attr;
    spec.num_regions = s->num_regions;
    IrOp *op = ir_op_create(p->m, &spec);
    IrRegion *regions = s->many_regions ? s->many_regions : s->regions;
    for (uint32_t i = 0; i < s->num_regions; i++) move_region(op, i, &regions[i]);
    op->num_successors = s->num_successors;
    for (uint32_t i = 0; i < s->num_successors; i++) op->successors[i] = s->successors[i];
    p->num_values = first_value;
    *out_op = op;
    TRY(check_op(p, &s->token, op));
    if (ir_linalg_has_default_maps(op)) ir_op_set_attr(p->m, op, "indexing_maps", NULL);
    return STATUS_OK;
}

// ---------------------------------------------------------------- names of ops

static const struct {
    const char *name, *instead;
} foreign_ops[] = {
    {"linalg.map", "linalg.generic"},
    {"linalg.elementwise", "linalg.generic"},
    {"linalg.quantized_matmul", "linalg.matmul on i8 with i32 outs"},
    {"linalg.matvec", "linalg.contract"},
    {"linalg.vecmat", "linalg.contract"},
    {"linalg.dot", "linalg.contract"},
    {"linalg.batch_matvec", "linalg.contract"},
    {"linalg.batch_vecmat", "linalg.contract"},
    {"linalg.batch_reduce_matmul", "linalg.contract"},
    {"linalg.batch_mmt4d", "linalg.contract"},
    {"linalg.quantized_batch_matmul", "linalg.batch_matmul on i8 with i32 outs"},
    {"linalg.pooling_nwc_max_unsigned", "linalg.generic with arith.maxui"},
    {"linalg.pooling_nwc_min_unsigned", "linalg.generic with arith.minui"},
    {"linalg.pooling_nhwc_max_unsigned", "linalg.generic with arith.maxui"},
    {"linalg.pooling_nhwc_min_unsigned", "linalg.generic with arith.minui"},
    {"linalg.winograd_filter_transform", "the convolution itself"},
    {"linalg.winograd_input_transform", "the convolution itself"},
    {"linalg.winograd_output_transform", "the convolution itself"},
    {"tensor.from_elements", "tensor.insert for each element"},
    {"tensor.generate", "linalg.generic"},
    {"tensor.splat", "linalg.fill"},
    {"tensor.gather", "linalg.generic with tensor.extract"},
    {"tensor.concat", "tensor.insert_slice for each part"},
    {"tensor.bitcast", "linalg.generic with arith.bitcast"},
    {"scf.while", "scf.for"},
    {"scf.execute_region", "a private func.func with ingot.composite"},
    {"arith.scaling_extf", "arith.extf and arith.mulf"},
    {"affine.delinearize_index", "affine.apply with floordiv and mod"},
    {"affine.linearize_index", "affine.apply"},
    {"affine.if", "scf.if"},
    {"memref.atomic_rmw", "a reduction in a fixed order"},
    {"cf.br", "scf.for and scf.if"},
    {"cf.cond_br", "scf.for and scf.if"},
};
static const char *const foreign_linalg[] = {
    "add",
    "sub",
    "mul",
    "div",
    "div_unsigned",
    "max",
    "min",
    "exp",
    "log",
    "abs",
    "ceil",
    "floor",
    "negf",
    "reciprocal",
    "round",
    "sqrt",
    "rsqrt",
    "square",
    "tanh",
    "erf",
    "powf",
    "select",
    "fill_rng_2d",
    "conv_2d_nhwc_hwcf_q",
    "conv_2d_nhwc_fhwc_q",
    "conv_2d_nchw_fchw_q",
    "conv_2d_ngchw_gfchw_q",
    "conv_2d_nhwgc_gfhwc_q",
    "conv_3d_ndhwc_dhwcf_q",
    "depthwise_conv_2d_nhwc_hwc_q",
    "depthwise_conv_2d_nhwc_hwcm_q",
};
static const char *const foreign_dialects[] = {
    "ml_program", "quant", "gpu",           "nvgpu",    "nvvm",  "rocdl",  "spirv",
    "transform",  "irdl",  "sparse_tensor", "tosa",     "shape", "index",  "async",
    "omp",        "amx",   "x86vector",     "arm_neon", "pdl",   "complex"};

static Status unknown_dialect(Parser *p, const Token *at, const char *name, size_t dialect_len) {
    const char *dialects[16];
    char words[16][MAX_SYNTAX_WORD];
    size_t n = 0;
    for (int k = 0; k < NUM_IR_OP_KINDS; k++) {
        const char *op = ir_op_info((IrOpKind)k)->name;
        size_t len = strcspn(op, ".");
        if (n && strlen(words[n - 1]) == len && strncmp(words[n - 1], op, len) == 0) continue;
        BUG_IF(n == ARRAY_LEN(words) || len >= MAX_SYNTAX_WORD, "more dialects than expected");
        memcpy(words[n], op, len);
        words[n][len] = 0;
        dialects[n] = words[n];
        n++;
    }
    char dialect[MAX_SYNTAX_WORD * 2];
    dialect_len = MIN(dialect_len, sizeof dialect - 1);
    memcpy(dialect, name, dialect_len);
    dialect[dialect_len] = 0;
    Status status = STATUS_OK;
    for (size_t i = 0; i < ARRAY_LEN(foreign_dialects); i++)
        if (str_equal(foreign_dialects[i], dialect))
            status = parse_error(p, DIAG_I0006, at, "operation %.60s: dialect %s is not used here",
                                 name, dialect);
    const char *nearest = status == STATUS_OK ? str_nearest(dialect, dialects, n) : NULL;
    if (status == STATUS_OK)
        status =
            parse_error(p, DIAG_I0003, at, "operation %.60s: unknown dialect %s", name, dialect);
    if (nearest)
        diag_write(p->sink, "%s.%s", nearest, name + MIN(strlen(name), dialect_len + 1));
    else
        diag_write(p->sink, "operations of the dialects that `ingot compile --list-dialects` "
                            "lists");
    return status;
}

// How many words of `all` are left when those of `words` are struck out in this order; UINT_MAX if
// one of them is not there. Words end at an underscore or a point.
static unsigned num_words_beyond(const char *all, const char *words) {
    unsigned num = 0;
    while (*all) {
        size_t len = strcspn(all, "_."), wanted = strcspn(words, "_.");
        bool is_struck = *words && len == wanted && memcmp(all, words, len) == 0;
        if (is_struck) words += wanted + (words[wanted] != 0);
        num += !is_struck;
        all += len + (all[len] != 0);
    }
    return *words ? UINT_MAX : num;
}

// How unlike an op the name is: by letters if it is near enough to be a misspelling, or by whole
// words. A word too many counts more than a missing one: conv_2d_nhwc is an unfinished
// conv_2d_nhwc_hwcf, and no conv_2d with something added.
static unsigned unlikeness(const char *name, const char *op) {
    unsigned letters = str_distance(name, op);
    unsigned lacking = num_words_beyond(op, name), further = num_words_beyond(name, op);
    unsigned words = MIN(lacking, further < UINT_MAX ? 2 * further : UINT_MAX);
    return letters <= MAX(strlen(name) / 3, (size_t)1) ? MIN(letters, words) : words;
}

static unsigned dialect_levels(const char *name, size_t dialect_len) {
    unsigned levels = 0;
    for (int k = 0; k < NUM_IR_OP_KINDS; k++) {
        const IrOpInfo *info = ir_op_info((IrOpKind)k);
        if (strncmp(info->name, name, dialect_len + 1) == 0) levels |= info->levels;
    }
    return levels;
}

// The op of the same dialect that is most like the name, else one that another dialect of the same
// levels calls so.
static const char *nearest_op(const char *name) {
    size_t dialect_len = strcspn(name, ".");
    const char *rest = name[dialect_len] ? name + dialect_len + 1 : name, *nearest = NULL;
    unsigned best = UINT_MAX;
    unsigned levels = rest > name ? dialect_levels(name, dialect_len) : UINT_MAX;
    for (int k = 0; k < NUM_IR_OP_KINDS && *rest; k++) {
        const IrOpInfo *info = ir_op_info((IrOpKind)k);
        const char *op = info->name, *op_rest = strchr(op, '.') + 1;
        bool is_same_dialect = rest > name && strncmp(op, name, dialect_len + 1) == 0;
        unsigned differs = UINT_MAX;
        if (is_same_dialect)
            differs = unlikeness(rest, op_rest);
        else if ((info->levels & levels) && str_equal(rest, op_rest))
            differs = UINT_MAX - 1;
        if (differs >= best) continue;
        best = differs;
        nearest = op;
    }
    return nearest;
}

static Status unknown_op(Parser *p, const Token *at, const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(foreign_ops); i++) {
        if (!str_equal(foreign_ops[i].name, name)) continue;
        Status status = parse_error(p, DIAG_I0006, at, "operation %s is not used", name);
        diag_write(p->sink, "%s", foreign_ops[i].instead);
        return status;
    }
    for (size_t i = 0; i < ARRAY_LEN(foreign_linalg); i++) {
        if (!str_has_prefix(name, "linalg.") || !str_equal(name + 7, foreign_linalg[i])) continue;
        Status status = parse_error(p, DIAG_I0006, at, "operation %s is not used", name);
        diag_write(p->sink, "linalg.generic");
        return status;
    }
    size_t dialect_len = strcspn(name, ".");
    if (name[dialect_len] && !ir_dialect_known(name, dialect_len))
        return unknown_dialect(p, at, name, dialect_len);
    Status status = parse_error(p, DIAG_I0002, at, "unknown operation %.60s", name);
    const char *nearest = nearest_op(name);
    diag_write(p->sink, "%s",
               nearest ? nearest : "an operation that `ingot compile --list-dialects` lists");
    return status;
}

Status find_op_kind(Parser *p, const Token *at, const char *name, size_t len, IrOpKind *out_kind) {
    static const struct {
        const char *name;
        IrOpKind kind;
    } short_names[] = {
        {"return", IR_FUNC_RETURN}, {"call", IR_FUNC_CALL}, {"module", IR_BUILTIN_MODULE}};
    for (size_t i = 0; i < ARRAY_LEN(short_names); i++) {
        if (strlen(short_names[i].name) != len || memcmp(name, short_names[i].name, len) != 0)
            continue;
        *out_kind = short_names[i].kind;
        return STATUS_OK;
    }
    if (len && ir_op_find(name, len, out_kind)) return STATUS_OK;
    return unknown_op(p, at, ir_intern_n(p->m, name, len));
}

// ---------------------------------------------------------------- an op of the text

enum { MAX_RESULT_NAMES = 1 << 16 };

// %a, %b:2 = ; the names are pushed on the stack of uses, number is the count.
static Status parse_result_names(Parser *p, Slice *out_names) {
    out_names->start = p->num_uses;
    out_names->count = 0;
    if (p->tok.kind != TOKEN_VALUE) return STATUS_OK;
    do {
        if (p->tok.kind != TOKEN_VALUE)
            return parse_error(p, DIAG_I0001, &p->tok, "expected a result name, %%name");
        OperandUse name = {.token = p->tok, .number = 1};
        advance(p);
        if (eat_char(p, ':')) {
            uint64_t count;
            TRY(parse_uint(p, MAX_RESULT_NAMES, &count));
            name.number = (uint32_t)count;
        }
        ARRAY_RESERVE(p->uses, p->num_uses, p->uses_capacity);
        p->uses[p->num_uses++] = name;
    } while (eat_char(p, ','));
    out_names->count = p->num_uses - out_names->start;
    return expect_char(p, '=');
}

static Status define_results(Parser *p, Slice names, IrOp *op, const Token *at) {
    if (names.count == 0) return STATUS_OK;
    uint64_t total = 0;
    for (uint32_t i = 0; i < names.count; i++) total += p->uses[names.start + i].number;
    if (total != op->num_results)
        return parse_error(p, DIAG_I0015, at, "%s has %u results, not %llu",
                           ir_op_info(op->kind)->name, op->num_results, (unsigned long long)total);
    IrValue *value = op->results;
    for (uint32_t i = 0; i < names.count; i++) {
        OperandUse name = p->uses[names.start + i];
        if (name.number == 0)
            return parse_error(p, DIAG_I0015, &name.token, "a name for no result");
        TRY(define_values(p, &name.token, value, name.number));
        value += name.number;
    }
    return STATUS_OK;
}

static Status parse_trailing_loc(Parser *p, IrOp *op) {
    if (!eat_word(p, "loc")) return STATUS_OK;
    const IrLoc *loc;
    Token alias;
    TRY(parse_loc(p, &loc, &alias));
    if (loc) {
        op->loc = loc;
        return STATUS_OK;
    }
    ARRAY_RESERVE(p->pending_locs, p->num_pending_locs, p->pending_locs_capacity);
    p->pending_locs[p->num_pending_locs++] = (PendingLoc){op, alias};
    return STATUS_OK;
}

static Status parse_custom_form(Parser *p, const Token *token, IrOp **out_op) {
    IrOpKind kind;
    TRY(find_op_kind(p, token, token->text, token->len, &kind));
    OpState s;
    op_state_init(p, &s, kind, token);
    if (str_equal(s.syntax.key, "generic_form"))
        return parse_error(p, DIAG_I0001, token, "%s is written in the generic form, \"%s\"(...)",
                           ir_op_info(kind)->name, ir_op_info(kind)->name);
    if (!s.syntax.is_custom) {
        TRY(parse_template(p, &s));
    } else {
        CustomParser parse = find_custom_parser(s.syntax.key);
        if (!parse) parse = find_control_parser(s.syntax.key);
        if (!parse) parse = find_target_parser(s.syntax.key);
        BUG_IF(!parse, "no parser for format %s", s.syntax.key);
        TRY(parse(p, &s));
    }
    return make_op(p, &s, out_op);
}

Status parse_op(Parser *p, IrBlock *block) {
    uint32_t uses = p->num_uses, types = p->num_types, attrs = p->num_attrs;
    Slice names;
    TRY(parse_result_names(p, &names));
    Token token = p->tok;
    IrOp *op = NULL;
    if (token.kind == TOKEN_STRING) {
        advance(p);
        TRY(parse_generic_form(p, &token, &op));
    } else if (token.kind == TOKEN_WORD) {
        advance(p);
        TRY(parse_custom_form(p, &token, &op));
    } else {
        return parse_error(p, DIAG_I0001, &token, "expected an operation");
    }
    TRY(define_results(p, names, op, &token));
    TRY(parse_trailing_loc(p, op));
    ir_block_append(block, op);
    p->num_uses = uses;
    p->num_types = types;
    p->num_attrs = attrs;
    return STATUS_OK;
}
