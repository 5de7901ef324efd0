// The generic form of an op, "dialect.op"(%a)[^b] <{properties}> ({regions}) {attributes} : (T) ->
// T, and the checks that make every op, however it was written, safe to print and to work on.
#include <stdlib.h>
#include <string.h>

#include "ir/parser.h"

// ---------------------------------------------------------------- what an op must have

typedef enum Shape { // of an attribute's value
    OF_INT,
    OF_BOOL,
    OF_STRING,
    OF_TYPE,
    OF_UNIT,
    OF_SYMBOL,
    OF_MAP,
    OF_MAPS,
    OF_STRINGS,
    OF_NUMBERS,
    OF_DENSE,
    OF_DICTS,
    OF_GROUPS,
    OF_BOOLS,
    OF_INTS,
    OF_ANY,
} Shape;

static const struct {
    const char *name;
    Shape shape;
} attr_shapes[] = {
    {"alignment", OF_INT},
    {"nontemporal", OF_ANY},
    {"fastmath", OF_STRING},
    {"predicate", OF_STRING},
    {"overflowFlags", OF_STRING},
    {"isExact", OF_UNIT},
    {"roundingmode", OF_STRING},
    {"value", OF_ANY},
    {"callee", OF_SYMBOL},
    {"sym_name", OF_STRING},
    {"sym_visibility", OF_STRING},
    {"function_type", OF_TYPE},
    {"arg_attrs", OF_DICTS},
    {"res_attrs", OF_DICTS},
    {"no_inline", OF_UNIT},
    {"static_offsets", OF_NUMBERS},
    {"static_sizes", OF_NUMBERS},
    {"static_strides", OF_NUMBERS},
    {"static_output_shape", OF_NUMBERS},
    {"static_low", OF_NUMBERS},
    {"static_high", OF_NUMBERS},
    {"static_position", OF_NUMBERS},
    {"static_inner_tiles", OF_NUMBERS},
    {"inner_dims_pos", OF_NUMBERS},
    {"outer_dims_perm", OF_NUMBERS},
    {"staticLowerBound", OF_NUMBERS},
    {"staticUpperBound", OF_NUMBERS},
    {"staticStep", OF_NUMBERS},
    {"mask", OF_NUMBERS},
    {"position", OF_NUMBERS},
    {"permutation", OF_NUMBERS},
    {"dimensions", OF_NUMBERS},
    {"rawConstantIndices", OF_NUMBERS},
    {"reassociation", OF_GROUPS},
    {"nofold", OF_UNIT},
    {"indexing_maps", OF_MAPS},
    {"iterator_types", OF_STRINGS},
    {"doc", OF_STRING},
    {"library_call", OF_STRING},
    {"dim", OF_INT},
    {"dimension", OF_INT},
    {"cast", OF_STRING},
    {"strides", OF_DENSE},
    {"dilations", OF_DENSE},
    {"mapping", OF_ANY},
    {"map", OF_MAP},
    {"lowerBoundMap", OF_MAP},
    {"upperBoundMap", OF_MAP},
    {"lowerBoundsMap", OF_MAP},
    {"upperBoundsMap", OF_MAP},
    {"lowerBoundsGroups", OF_DENSE},
    {"upperBoundsGroups", OF_DENSE},
    {"step", OF_INT},
    {"steps", OF_INTS},
    {"reductions", OF_INTS},
    {"type", OF_TYPE},
    {"initial_value", OF_ANY},
    {"constant", OF_UNIT},
    {"name", OF_SYMBOL},
    {"isWrite", OF_BOOL},
    {"localityHint", OF_INT},
    {"isDataCache", OF_BOOL},
    {"permutation_map", OF_MAP},
    {"in_bounds", OF_BOOLS},
    {"kind", OF_STRING},
    {"msg", OF_STRING},
    {"restrict", OF_UNIT},
    {"writable", OF_UNIT},
    {"read_only", OF_UNIT},
    {"intrin", OF_STRING},
    {"fastmathFlags", OF_STRING},
    {"linkage", OF_STRING},
    {"passthrough", OF_ANY},
    {"target_cpu", OF_STRING},
    {"target_features", OF_ANY},
    {"global_type", OF_TYPE},
    {"addr_space", OF_INT},
    {"global_name", OF_SYMBOL},
    {"elem_type", OF_TYPE},
    {"noWrapFlags", OF_STRING},
    {"invariant", OF_UNIT},
    {"loop_annotation", OF_ANY},
    {"isDisjoint", OF_UNIT},
    {"nonNeg", OF_UNIT},
    {"rw", OF_INT},
    {"hint", OF_INT},
    {"cache", OF_INT},
    {"unsignedCmp", OF_UNIT},
};

static bool array_of(const IrAttr *attr, IrAttrKind kind) {
    if (attr->kind != IR_ATTR_ARRAY) return false;
    for (size_t i = 0; i < attr->num_elems; i++)
        if (attr->elems[i]->kind != kind) return false;
    return true;
}

static bool has_shape(const IrAttr *attr, Shape shape) {
    switch (shape) {
    case OF_INT: return attr->kind == IR_ATTR_INT;
    case OF_BOOL: return attr->kind == IR_ATTR_BOOL;
    case OF_STRING: return attr->kind == IR_ATTR_STRING;
    case OF_TYPE: return attr->kind == IR_ATTR_TYPE;
    case OF_UNIT: return attr->kind == IR_ATTR_UNIT;
    case OF_SYMBOL: return attr->kind == IR_ATTR_SYMBOL;
    case OF_MAP: return attr->kind == IR_ATTR_MAP;
    case OF_MAPS: return array_of(attr, IR_ATTR_MAP);
    case OF_STRINGS: return array_of(attr, IR_ATTR_STRING);
    case OF_NUMBERS: return attr->kind == IR_ATTR_DENSE_ARRAY;
    case OF_DENSE: return attr->kind == IR_ATTR_DENSE && !ir_type_is_float(attr->type->elem);
    case OF_DICTS: return array_of(attr, IR_ATTR_DICT);
    case OF_BOOLS: return array_of(attr, IR_ATTR_BOOL);
    case OF_INTS: return array_of(attr, IR_ATTR_INT);
    case OF_GROUPS:
        if (!array_of(attr, IR_ATTR_ARRAY)) return false;
        for (size_t i = 0; i < attr->num_elems; i++)
            if (!array_of(attr->elems[i], IR_ATTR_INT)) return false;
        return true;
    case OF_ANY: return true;
    }
    BUG("attribute shape %d", (int)shape);
}

bool syntax_attr_fits(const char *name, const IrAttr *attr) {
    for (size_t k = 0; k < ARRAY_LEN(attr_shapes); k++)
        if (str_equal(attr_shapes[k].name, name)) return has_shape(attr, attr_shapes[k].shape);
    return true;
}

static Status check_attr_shapes(Parser *p, const Token *at, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        const char *name = op->attrs[i].name;
        if (!ir_op_attr_is_inherent(op->kind, name) || syntax_attr_fits(name, op->attrs[i].attr))
            continue;
        return parse_error(p, DIAG_I0014, at, "%s: attribute %s has a value of the wrong kind",
                           ir_op_info(op->kind)->name, name);
    }
    return STATUS_OK;
}

// Attributes an op cannot be without, besides those its template prints.
static const struct {
    IrOpKind kind;
    const char *names;
} required_attrs[] = {
    {IR_FUNC_FUNC, "sym_name function_type"},
    {IR_LINALG_GENERIC, "indexing_maps iterator_types"},
    {IR_LINALG_CONTRACT, "indexing_maps"},
    {IR_LINALG_REDUCE, "dimensions"},
    {IR_SCF_FORALL, "staticLowerBound staticUpperBound staticStep"},
    {IR_AFFINE_FOR, "lowerBoundMap upperBoundMap step"},
    {IR_AFFINE_PARALLEL,
     "lowerBoundsMap upperBoundsMap lowerBoundsGroups upperBoundsGroups steps reductions"},
    {IR_MEMREF_GLOBAL, "sym_name type"},
    {IR_VECTOR_TRANSFER_READ, "permutation_map in_bounds"},
    {IR_VECTOR_TRANSFER_WRITE, "permutation_map in_bounds"},
    {IR_VECTOR_CONTRACT, "indexing_maps iterator_types"},
    {IR_LLVM_FUNC, "sym_name function_type"},
    {IR_LLVM_MLIR_GLOBAL, "sym_name global_type"},
    {IR_LLVM_GETELEMENTPTR, "elem_type rawConstantIndices"},
    {IR_LLVM_INTR_PREFETCH, "rw hint cache"},
};

static Status need_attr(Parser *p, const Token *at, const IrOp *op, const char *name) {
    if (ir_op_attr(op, name)) return STATUS_OK;
    return parse_error(p, DIAG_I0014, at, "%s lacks its attribute %s", ir_op_info(op->kind)->name,
                       name);
}

static Status check_required(Parser *p, const Token *at, const IrOp *op) {
    Syntax syntax;
    syntax_of(op->kind, &syntax);
    SyntaxItem item;
    for (const char *text = syntax.pattern; syntax_next(&text, &item);) {
        switch (item.kind) {
        case SYNTAX_ENUM:
        case SYNTAX_QUOTED_ENUM:
        case SYNTAX_WORD:
        case SYNTAX_INT:
        case SYNTAX_STRING:
        case SYNTAX_SYMBOL:
        case SYNTAX_TYPE_ATTR:
        case SYNTAX_ATTR:
        case SYNTAX_INTS:
        case SYNTAX_REASSOCIATION:
        case SYNTAX_CALL:
        case SYNTAX_MAP: TRY(need_attr(p, at, op, item.words[0])); break;
        case SYNTAX_DYNAMIC: TRY(need_attr(p, at, op, item.words[1])); break;
        default: break;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(required_attrs); i++) {
        if (required_attrs[i].kind != op->kind) continue;
        for (const char *names = required_attrs[i].names; *names;) {
            char name[MAX_SYNTAX_WORD];
            size_t len = strcspn(names, " ");
            memcpy(name, names, len);
            name[len] = 0;
            TRY(need_attr(p, at, op, name));
            names += len + strspn(names + len, " ");
        }
    }
    return STATUS_OK;
}

static uint32_t num_regions_of(const IrOp *op) {
    switch (op->kind) {
    case IR_SCF_IF: return 2;
    case IR_SCF_REDUCE: return op->num_operands;
    case IR_BUILTIN_MODULE:
    case IR_FUNC_FUNC:
    case IR_LLVM_FUNC:
    case IR_LLVM_MLIR_GLOBAL:
    case IR_TENSOR_PAD:
    case IR_LINALG_GENERIC:
    case IR_LINALG_REDUCE:
    case IR_SCF_FOR:
    case IR_SCF_FORALL:
    case IR_SCF_FORALL_IN_PARALLEL:
    case IR_SCF_PARALLEL:
    case IR_AFFINE_FOR:
    case IR_AFFINE_PARALLEL: return 1;
    default: return 0;
    }
}

// Regions that are one block with the loop's or body's arguments: how many arguments at least.
static Status check_regions(Parser *p, const Token *at, const IrOp *op) {
    if (op->num_regions != num_regions_of(op))
        return parse_error(p, DIAG_I0001, at, "%s has %u regions, not %u",
                           ir_op_info(op->kind)->name, num_regions_of(op), op->num_regions);
    bool may_be_empty = op->kind == IR_FUNC_FUNC || op->kind == IR_LLVM_FUNC ||
                        op->kind == IR_SCF_IF || op->kind == IR_LLVM_MLIR_GLOBAL;
    bool is_function = op->kind == IR_FUNC_FUNC || op->kind == IR_LLVM_FUNC;
    for (uint32_t i = 0; i < op->num_regions; i++) {
        const IrRegion *region = &op->regions[i];
        if (!region->first && !(may_be_empty && (op->kind != IR_SCF_IF || i == 1)))
            return parse_error(p, DIAG_I0001, at, "%s has an empty region",
                               ir_op_info(op->kind)->name);
        if (region->first != region->last && !is_function)
            return parse_error(p, DIAG_I0001, at, "a region of %s has more than one block",
                               ir_op_info(op->kind)->name);
    }
    return STATUS_OK;
}

static bool static_list_fits(const IrOp *op, const char *name, uint32_t segment) {
    const IrAttr *list = ir_op_attr(op, name);
    if (!list || list->kind != IR_ATTR_DENSE_ARRAY) return true;
    uint32_t dynamic = 0;
    for (size_t i = 0; i < list->num_values; i++) dynamic += list->values[i] == IR_DYNAMIC;
    return dynamic == op->segments[segment];
}

static Status check_dynamic_lists(Parser *p, const Token *at, const IrOp *op) {
    Syntax syntax;
    syntax_of(op->kind, &syntax);
    SyntaxItem item;
    bool fits = true;
    for (const char *text = syntax.pattern; syntax_next(&text, &item);) {
        if (item.kind != SYNTAX_DYNAMIC) continue;
        fits &=
            static_list_fits(op, item.words[1], syntax_slot(&syntax, item.words[0][0])->segment);
    }
    if (op->kind == IR_SCF_FORALL)
        fits = static_list_fits(op, "staticLowerBound", 0) &&
               static_list_fits(op, "staticUpperBound", 1) && static_list_fits(op, "staticStep", 2);
    if (fits) return STATUS_OK;
    return parse_error(p, DIAG_I0015, at, "%s: dynamic entries and operands differ in number",
                       ir_op_info(op->kind)->name);
}

static Status check_map_operands(Parser *p, const Token *at, const IrOp *op) {
    const IrAttr *map = ir_op_attr(op, "map");
    uint32_t last = 0;
    for (uint32_t s = 0; s < IR_MAX_SEGMENTS; s++)
        if (op->segments[s]) last = s;
    if (op->kind == IR_AFFINE_LOAD || op->kind == IR_AFFINE_VECTOR_LOAD) last = 1;
    if (op->kind == IR_AFFINE_STORE || op->kind == IR_AFFINE_VECTOR_STORE) last = 2;
    if (map && op->segments[last] != map->map->num_dims + map->map->num_symbols)
        return parse_error(p, DIAG_I0015, at,
                           "%s: %u operands for a map of %u dimensions and %u symbols",
                           ir_op_info(op->kind)->name, op->segments[last], map->map->num_dims,
                           map->map->num_symbols);
    static const char *const bounds[][2] = {{"lowerBoundMap", "upperBoundMap"},
                                            {"lowerBoundsMap", "upperBoundsMap"}};
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const IrAttr *bound = ir_op_attr(op, bounds[i][k]);
            if (!bound || bound->kind != IR_ATTR_MAP ||
                !ir_op_attr_is_inherent(op->kind, bounds[i][k]))
                continue;
            if (op->segments[k] != bound->map->num_dims + bound->map->num_symbols)
                return parse_error(p, DIAG_I0015, at, "%s: operands and bounds differ in number",
                                   ir_op_info(op->kind)->name);
        }
    }
    return STATUS_OK;
}

static Status check_maps_per_operand(Parser *p, const Token *at, const IrOp *op) {
    const IrAttr *maps = ir_op_attr(op, "indexing_maps");
    uint32_t traits = ir_op_info(op->kind)->traits;
    uint32_t wanted = op->num_operands;
    if (maps && maps->num_elems != wanted)
        return parse_error(p, DIAG_I0015, at, "%s has %u operands but %zu indexing maps",
                           ir_op_info(op->kind)->name, wanted, maps->num_elems);
    bool fits = wanted > 0;
    for (size_t i = 1; fits && maps && i < maps->num_elems; i++)
        fits = maps->elems[i]->map->num_dims == maps->elems[0]->map->num_dims;
    const IrAttr *types = ir_op_attr(op, "iterator_types");
    if (fits && maps && types) fits = types->num_elems == maps->elems[0]->map->num_dims;
    if ((traits & IR_LINALG) && fits) {
        fits = op->segments[1] > 0;
        if (op->kind != IR_LINALG_GENERIC && op->kind != IR_LINALG_REDUCE)
            fits = op->segments[1] == 1 &&
                   op->segments[0] == (traits & (IR_CONTRACTION | IR_POOLING) ? 2u : 1u);
    }
    if (fits) return STATUS_OK;
    return parse_error(p, DIAG_I0015, at, "%s: operands, maps and loops do not fit together",
                       ir_op_info(op->kind)->name);
}

static Status check_function(Parser *p, const Token *at, const IrOp *op) {
    const IrType *type = ir_op_attr(op, "function_type")->type;
    if (type->kind != (op->kind == IR_FUNC_FUNC ? IR_TYPE_FUNCTION : IR_TYPE_LLVM_FUNCTION))
        return parse_error(p, DIAG_I0014, at, "%s needs a function type",
                           ir_op_info(op->kind)->name);
    for (const IrBlock *block = op->regions[0].first; block; block = block->next)
        if (!block->last)
            return parse_error(p, DIAG_I0001, at,
                               "every block of a function ends with a terminator");
    const IrBlock *entry = op->regions[0].first;
    bool fits = !entry || entry->num_args == type->num_inputs;
    for (uint32_t i = 0; entry && fits && i < type->num_inputs; i++)
        fits = entry->args[i]->type == type->inputs[i];
    const IrAttr *args = ir_op_attr(op, "arg_attrs"), *results = ir_op_attr(op, "res_attrs");
    for (size_t i = 0; args && i < args->num_elems; i++)
        TRY(check_annotations(p, at, args->elems[i]));
    for (size_t i = 0; results && i < results->num_elems; i++)
        TRY(check_annotations(p, at, results->elems[i]));
    if (args) fits &= args->num_elems == type->num_inputs;
    if (results) fits &= results->num_elems == type->num_results;
    if (fits) return STATUS_OK;
    return parse_error(p, DIAG_I0015, at,
                       "the entry block or the attributes do not fit the function's type");
}

static Status check_global_value(Parser *p, const Token *at, const IrOp *op) {
    const char *name = op->kind == IR_MEMREF_GLOBAL ? "initial_value" : "value";
    const IrAttr *value = ir_op_attr(op, name);
    bool fits = !value || value->kind == IR_ATTR_DENSE || value->kind == IR_ATTR_UNIT ||
                value->kind == IR_ATTR_STRING || value->kind == IR_ATTR_INT ||
                value->kind == IR_ATTR_FLOAT || value->kind == IR_ATTR_BOOL;
    if (op->kind != IR_MEMREF_GLOBAL && op->kind != IR_LLVM_MLIR_GLOBAL)
        fits = value && (value->kind == IR_ATTR_DENSE || value->kind == IR_ATTR_INT ||
                         value->kind == IR_ATTR_FLOAT || value->kind == IR_ATTR_BOOL);
    if (op->kind == IR_MEMREF_GLOBAL) fits &= ir_op_attr(op, "type")->type->kind == IR_TYPE_MEMREF;
    if (op->kind == IR_ARITH_CONSTANT)
        fits &= op->num_results == 1 && value->type == op->results[0].type;
    if (fits) return STATUS_OK;
    return parse_error(p, DIAG_I0014, at, "%s: not a value of this type",
                       ir_op_info(op->kind)->name);
}

static Status check_indices(Parser *p, const Token *at, const IrOp *op) {
    const IrAttr *indices = ir_op_attr(op, "rawConstantIndices");
    uint32_t dynamic = 0;
    for (size_t i = 0; i < indices->num_values; i++) dynamic += indices->values[i] == INT32_MIN;
    if (dynamic == op->segments[1]) return STATUS_OK;
    return parse_error(p, DIAG_I0015, at, "dynamic indices and operands differ in number");
}

static Status check_successors(Parser *p, const Token *at, const IrOp *op) {
    uint32_t wanted = op->kind == IR_LLVM_BR ? 1 : op->kind == IR_LLVM_COND_BR ? 2 : 0;
    if (op->num_successors == wanted) return STATUS_OK;
    return parse_error(p, DIAG_I0015, at, "%s has %u successors, not %u",
                       ir_op_info(op->kind)->name, wanted, op->num_successors);
}

static Status check_kind(Parser *p, const Token *at, const IrOp *op) {
    switch (op->kind) {
    case IR_LLVM_GETELEMENTPTR: return check_indices(p, at, op);
    case IR_FUNC_FUNC:
    case IR_LLVM_FUNC: return check_function(p, at, op);
    case IR_ARITH_CONSTANT:
    case IR_LLVM_MLIR_CONSTANT:
    case IR_MEMREF_GLOBAL:
    case IR_LLVM_MLIR_GLOBAL: return check_global_value(p, at, op);
    case IR_AFFINE_APPLY:
    case IR_AFFINE_MIN:
    case IR_AFFINE_MAX:
    case IR_AFFINE_LOAD:
    case IR_AFFINE_STORE:
    case IR_AFFINE_VECTOR_LOAD:
    case IR_AFFINE_VECTOR_STORE:
    case IR_AFFINE_FOR:
    case IR_AFFINE_PARALLEL: return check_map_operands(p, at, op);
    case IR_VECTOR_CONTRACT: return check_maps_per_operand(p, at, op);
    default: break;
    }
    if (ir_op_info(op->kind)->traits & IR_LINALG) return check_maps_per_operand(p, at, op);
    return STATUS_OK;
}

Status check_op(Parser *p, const Token *at, IrOp *op) {
    TRY(check_attr_shapes(p, at, op));
    TRY(check_required(p, at, op));
    TRY(check_regions(p, at, op));
    TRY(check_dynamic_lists(p, at, op));
    TRY(check_successors(p, at, op));
    return check_kind(p, at, op);
}

// ---------------------------------------------------------------- the form

// Attributes of the generic form that say nothing here: defaults, and sizes the op has in itself.
static bool is_redundant(const char *name) {
    static const char *const names[] = {"op_bundle_sizes",
                                        "CConv",
                                        "visibility_",
                                        "unnamed_addr",
                                        "TailCallKind",
                                        "ordering",
                                        "dso_local",
                                        "resultSegmentSizes",
                                        "tail_call_kind",
                                        "thread_local_",
                                        "linalg.memoized_indexing_maps"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(names[i], name)) return true;
    return false;
}

static bool is_poison_value(const OpState *s, const char *name, const IrAttr *attr) {
    return s->kind == IR_UB_POISON && str_equal(name, "value") && attr->kind == IR_ATTR_OPAQUE_ENUM;
}

typedef struct GenericForm {
    OpState state;
    Slice operands;
    const IrAttr *segment_sizes;
} GenericForm;

static Status parse_properties(Parser *p, GenericForm *form) {
    OpState *s = &form->state;
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
        const char *key = ir_intern_n(p->m, text, len);
        if (str_equal(key, "operandSegmentSizes")) {
            if (attr->kind != IR_ATTR_DENSE_ARRAY)
                return parse_error(p, DIAG_I0014, &name,
                                   "operandSegmentSizes is an array<i32: ...>");
            form->segment_sizes = attr;
            continue;
        }
        if (is_redundant(key) || is_poison_value(s, key, attr)) continue;
        if (str_equal(key, "linkage") && attr->kind == IR_ATTR_OPAQUE_ENUM &&
            str_equal(attr->str, "#llvm.linkage<external>"))
            continue;
        bool is_no_fastmath =
            attr->kind == IR_ATTR_OPAQUE_ENUM && str_equal(attr->str, "#llvm.fastmath<none>");
        if (is_no_fastmath && str_equal(key, "fastmathFlags")) continue;
        TRY(add_op_attr(p, s, &name, text, len, attr));
    }
    return STATUS_OK;
}

static Status parse_successors(Parser *p, OpState *s) {
    if (!eat_char(p, '[')) return STATUS_OK;
    while (!eat_char(p, ']')) {
        if (s->num_successors) TRY(expect_char(p, ','));
        if (p->tok.kind != TOKEN_BLOCK || s->num_successors == ARRAY_LEN(s->successors))
            return parse_error(p, DIAG_I0001, &p->tok, "expected at most two blocks, ^name");
        TRY(find_block(p, &p->tok, &s->successors[s->num_successors++]));
        advance(p);
    }
    return STATUS_OK;
}

static Status parse_regions(Parser *p, OpState *s) {
    if (!eat_char(p, '(')) return STATUS_OK;
    uint32_t capacity = 4;
    s->many_regions = ARENA_ARRAY(&p->m->arena, IrRegion, capacity);
    RegionSpec spec = {.is_isolated = (ir_op_info(s->kind)->traits & IR_ISOLATED) != 0};
    do {
        if (s->num_regions == capacity) {
            IrRegion *grown = ARENA_ARRAY(&p->m->arena, IrRegion, capacity * 2);
            memcpy(grown, s->many_regions, capacity * sizeof *grown);
            s->many_regions = grown;
            capacity *= 2;
        }
        TRY(parse_region(p, &s->many_regions[s->num_regions++], &spec));
    } while (eat_char(p, ','));
    return expect_char(p, ')');
}

static Status wrong_operands(Parser *p, const OpState *s) {
    return parse_error(p, DIAG_I0015, &s->token, "%s has a wrong number of operands",
                       ir_op_info(s->kind)->name);
}

// The sizes of the slots' operand groups: as told, or what the fixed ones leave to the only list.
static Status slot_sizes(Parser *p, GenericForm *form, uint32_t *sizes) {
    OpState *s = &form->state;
    uint32_t n = s->syntax.num_slots, total = form->operands.count;
    if (form->segment_sizes) {
        for (size_t i = 0; i < form->segment_sizes->num_values; i++) {
            int64_t size = form->segment_sizes->values[i];
            if (size < 0 || size > total || (i >= n && size != 0)) return wrong_operands(p, s);
            if (i < n) sizes[i] = (uint32_t)size;
        }
        return STATUS_OK;
    }
    if (s->kind == IR_LINALG_REDUCE) {
        sizes[0] = sizes[1] = total / 2;
        return STATUS_OK;
    }
    if (s->kind == IR_AFFINE_PARALLEL) {
        const IrAttr *lower = get_attr(p, s, "lowerBoundsMap");
        uint32_t lower_count = lower && lower->kind == IR_ATTR_MAP
                                   ? lower->map->num_dims + lower->map->num_symbols
                                   : 0;
        sizes[0] = MIN(lower_count, total);
        sizes[1] = total - sizes[0];
        return STATUS_OK;
    }
    uint32_t fixed = 0, num_lists = 0, list = 0;
    for (uint32_t i = 0; i < n; i++) {
        sizes[i] = s->syntax.slots[i].mode ? 0 : 1;
        fixed += sizes[i];
        if (s->syntax.slots[i].mode) {
            list = i;
            num_lists++;
        }
    }
    if (fixed > total || (num_lists != 1 && fixed != total)) return wrong_operands(p, s);
    if (num_lists == 1) sizes[list] = total - fixed;
    return STATUS_OK;
}

static Status distribute_operands(Parser *p, GenericForm *form, Slice types) {
    OpState *s = &form->state;
    uint32_t sizes[MAX_SLOTS] = {0}, at = 0;
    TRY(slot_sizes(p, form, sizes));
    for (uint32_t i = 0; i < s->syntax.num_slots; i++) {
        if (sizes[i] > form->operands.count - at) return wrong_operands(p, s);
        s->uses[i] = (Slice){form->operands.start + at, sizes[i]};
        s->types[i] = (Slice){types.start + at, sizes[i]};
        s->has_types[i] = true;
        at += sizes[i];
    }
    return at == form->operands.count ? STATUS_OK : wrong_operands(p, s);
}

static Status parse_generic_parts(Parser *p, GenericForm *form) {
    OpState *s = &form->state;
    TRY(expect_char(p, '('));
    TRY(parse_uses(p, &form->operands));
    TRY(expect_char(p, ')'));
    TRY(parse_successors(p, s));
    if (eat_char(p, '<')) {
        TRY(expect_char(p, '{'));
        TRY(parse_properties(p, form));
        TRY(expect_char(p, '>'));
    }
    TRY(parse_regions(p, s));
    if (eat_char(p, '{')) TRY(parse_properties(p, form));
    TRY(expect_char(p, ':'));
    Slice inputs, results;
    TRY(parse_function_type(p, &inputs, &results));
    if (inputs.count != form->operands.count)
        return parse_error(p, DIAG_I0015, &s->token, "%u operands but %u types",
                           form->operands.count, inputs.count);
    TRY(distribute_operands(p, form, inputs));
    s->results = results;
    return STATUS_OK;
}

// The results the op would have in its own syntax, to hold the given ones against.
static Status check_results(Parser *p, const OpState *s) {
    SyntaxItem item;
    bool any = false;
    uint32_t wanted = 0;
    for (const char *at = s->syntax.pattern; syntax_next(&at, &item);) {
        if (item.kind == SYNTAX_FUNCTION || item.kind == SYNTAX_ARROW) any = true;
        if (item.kind == SYNTAX_RESULT) wanted = 1;
    }
    const char *rule = strstr(s->syntax.rules, "r=");
    if (rule) {
        any |= str_has_prefix(rule, "r=elems(") || str_has_prefix(rule, "r=tensor(");
        wanted = str_has_prefix(rule, "r=twin") ? 2 : 1;
    }
    any |= s->syntax.is_custom || str_equal(s->syntax.key, "generic_form");
    if (any || s->results.count == wanted) return STATUS_OK;
    return parse_error(p, DIAG_I0015, &s->token, "%s has %u results, not %u",
                       ir_op_info(s->kind)->name, wanted, s->results.count);
}

Status parse_generic_form(Parser *p, const Token *token, IrOp **out_op) {
    const char *name = token->text + 1;
    IrOpKind kind;
    TRY(find_op_kind(p, token, name, token->len - 2, &kind));
    GenericForm form = {0};
    op_state_init(p, &form.state, kind, token);
    TRY(parse_generic_parts(p, &form));
    TRY(check_results(p, &form.state));
    OpState *s = &form.state;
    s->syntax.rules = ""; // all types are given
    // The region of a named linalg op follows from its name.
    bool is_named = (ir_op_info(kind)->traits & IR_LINALG) && kind != IR_LINALG_GENERIC &&
                    kind != IR_LINALG_REDUCE;
    if (is_named && s->num_regions == 1) s->num_regions = 0;
    // Regions that may stay empty get their one block here, as the parser of the op's own syntax
    // does.
    if (kind == IR_BUILTIN_MODULE && s->num_regions == 1 && !s->many_regions[0].first)
        ir_region_add_block(p->m, &s->many_regions[0]);
    return make_op(p, s, out_op);
}
