// Copies a function from one module into another: every type, attribute, map and location is
// rebuilt in the target's interner. See build.h.
#include "passes/build.h"

static const IrAttr *import_attr(IrModule *m, const IrAttr *attr);

static const IrType *import_type(IrModule *m, const IrType *t) {
    if (!t) return NULL;
    switch (t->kind) {
    case IR_TYPE_INT: return ir_type_int(m, t->width);
    case IR_TYPE_INDEX: return ir_type_index(m);
    case IR_TYPE_F16:
    case IR_TYPE_BF16:
    case IR_TYPE_F32:
    case IR_TYPE_F64: return ir_type_float(m, t->kind);
    case IR_TYPE_TENSOR: return ir_type_tensor(m, t->rank, t->shape, import_type(m, t->elem));
    case IR_TYPE_VECTOR: return ir_type_vector(m, t->rank, t->shape, import_type(m, t->elem));
    case IR_TYPE_FUNCTION: {
        const IrType *inputs[64], *results[64];
        BUG_IF(t->num_inputs > 64 || t->num_results > 64, "function type too large to import");
        for (uint32_t i = 0; i < t->num_inputs; i++) inputs[i] = import_type(m, t->inputs[i]);
        for (uint32_t i = 0; i < t->num_results; i++) results[i] = import_type(m, t->results[i]);
        return ir_type_function(m, t->num_inputs, inputs, t->num_results, results);
    }
    default: BUG("type kind %d does not occur at level 1", (int)t->kind);
    }
}

static const IrAffineExpr *import_expr(IrModule *m, const IrAffineExpr *e) {
    switch (e->kind) {
    case IR_AFFINE_CONST: return ir_affine_const(m, e->value);
    case IR_AFFINE_DIM: return ir_affine_dim(m, (uint32_t)e->value);
    case IR_AFFINE_SYMBOL: return ir_affine_symbol(m, (uint32_t)e->value);
    default: return ir_affine_binary(m, e->kind, import_expr(m, e->lhs), import_expr(m, e->rhs));
    }
}

static const IrAffineMap *import_map(IrModule *m, const IrAffineMap *map) {
    const IrAffineExpr **results = ARENA_ARRAY(&m->arena, const IrAffineExpr *, map->num_results);
    for (uint32_t i = 0; i < map->num_results; i++) results[i] = import_expr(m, map->results[i]);
    return ir_affine_map(m, map->num_dims, map->num_symbols, map->num_results, results);
}

static const IrAttr *import_attr(IrModule *m, const IrAttr *a) {
    switch (a->kind) {
    case IR_ATTR_INT: return ir_attr_int(m, a->i, import_type(m, a->type));
    case IR_ATTR_BOOL: return ir_attr_bool(m, a->i != 0);
    case IR_ATTR_FLOAT: return ir_attr_float_bits(m, a->bits, import_type(m, a->type));
    case IR_ATTR_STRING: return ir_attr_string_n(m, a->str, a->str_len);
    case IR_ATTR_TYPE: return ir_attr_type(m, import_type(m, a->type));
    case IR_ATTR_ARRAY: {
        const IrAttr **elems = ARENA_ARRAY(&m->arena, const IrAttr *, a->num_elems);
        for (size_t i = 0; i < a->num_elems; i++) elems[i] = import_attr(m, a->elems[i]);
        return ir_attr_array(m, a->num_elems, elems);
    }
    case IR_ATTR_DICT: {
        IrNamedAttr *entries = ARENA_ARRAY(&m->arena, IrNamedAttr, a->num_entries);
        for (size_t i = 0; i < a->num_entries; i++)
            entries[i] =
                (IrNamedAttr){ir_intern(m, a->entries[i].name), import_attr(m, a->entries[i].attr)};
        return ir_attr_dict(m, a->num_entries, entries);
    }
    case IR_ATTR_UNIT: return ir_attr_unit(m);
    case IR_ATTR_SYMBOL: return ir_attr_symbol(m, a->str);
    case IR_ATTR_MAP: return ir_attr_map(m, import_map(m, a->map));
    case IR_ATTR_DENSE:
        return ir_attr_dense(m, import_type(m, a->type), a->data, a->len_bytes, a->is_splat);
    case IR_ATTR_DENSE_ARRAY:
        return ir_attr_dense_array(m, import_type(m, a->type), a->num_values, a->values);
    case IR_ATTR_OPAQUE_ENUM: return ir_attr_opaque_enum(m, a->str);
    }
    BUG("attribute kind %d", (int)a->kind);
}

static const IrLoc *import_loc(IrModule *m, const IrLoc *loc) {
    if (loc->kind == IR_LOC_FILE) return ir_loc_file(m, loc->str, loc->line, loc->col);
    if (loc->kind == IR_LOC_NAME)
        return ir_loc_name(m, loc->str, loc->num_children ? import_loc(m, loc->children[0]) : NULL);
    return ir_loc_unknown(m);
}

static IrOp *import_op(IrModule *m, const IrOp *op, IrValueMap *map) {
    IrValue **operands = ARENA_ARRAY(&m->arena, IrValue *, op->num_operands);
    const IrType **types = ARENA_ARRAY(&m->arena, const IrType *, op->num_results);
    IrNamedAttr *attrs = ARENA_ARRAY(&m->arena, IrNamedAttr, op->num_attrs);
    for (uint32_t i = 0; i < op->num_operands; i++)
        operands[i] = ir_value_map_get(map, ir_op_operand(op, i));
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = import_type(m, op->results[i].type);
    for (uint32_t i = 0; i < op->num_attrs; i++)
        attrs[i] =
            (IrNamedAttr){ir_intern(m, op->attrs[i].name), import_attr(m, op->attrs[i].attr)};
    IrOpSpec spec = {.kind = op->kind,
                     .loc = import_loc(m, op->loc),
                     .num_operands = op->num_operands,
                     .operands = operands,
                     .num_results = op->num_results,
                     .result_types = types,
                     .num_attrs = op->num_attrs,
                     .attrs = attrs,
                     .num_regions = op->num_regions};
    for (int s = 0; s < IR_MAX_SEGMENTS; s++) spec.segments[s] = op->segments[s];
    IrOp *copy = ir_op_create(m, &spec);
    for (uint32_t i = 0; i < op->num_results; i++)
        ir_value_map_set(map, &op->results[i], &copy->results[i]);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r]) {
            IrBlock *to = ir_region_add_block(m, &copy->regions[r]);
            for (uint32_t i = 0; i < block->num_args; i++)
                ir_value_map_set(map, block->args[i],
                                 ir_block_add_arg(m, to, import_type(m, block->args[i]->type)));
            FOR_EACH_OP(inner, block) ir_block_append(to, import_op(m, inner, map));
        }
    return copy;
}

IrOp *build_import_func(IrModule *m, const IrOp *func) {
    IrValueMap map;
    ir_value_map_init(&map);
    IrOp *copy = import_op(m, func, &map);
    ir_value_map_deinit(&map);
    return copy;
}
