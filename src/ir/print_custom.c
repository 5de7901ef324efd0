// Hand-written syntax of modules, functions, linalg, memref.global, vector and llvm ops.
#include <string.h>

#include "ir/printer.h"

static void put_module(Printer *p, const IrOp *op) {
    const char *name = ir_symbol_name(op);
    if (name) {
        strbuf_putc(p->out, ' ');
        put_symbol(p, name);
    }
    put_attr_dict_after(p, op, "sym_name", "attributes");
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_BARE);
}

// ---------------------------------------------------------------- functions

static void put_annotations(Printer *p, const IrAttr *list, uint32_t i) {
    if (!list || list->kind != IR_ATTR_ARRAY || i >= list->num_elems) return;
    const IrAttr *dict = list->elems[i];
    if (dict->kind != IR_ATTR_DICT || dict->num_entries == 0) return;
    strbuf_putc(p->out, ' ');
    put_attr(p, dict);
}

static void put_signature(Printer *p, const IrOp *op, uint32_t num_results) {
    const IrType *type = ir_func_type(op);
    const IrBlock *entry = ir_func_body(op);
    const IrAttr *arg_attrs = ir_op_attr(op, "arg_attrs"), *res_attrs = ir_op_attr(op, "res_attrs");
    strbuf_putc(p->out, ' ');
    put_symbol(p, ir_symbol_name(op) ? ir_symbol_name(op) : "");
    strbuf_putc(p->out, '(');
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        if (i) strbuf_puts(p->out, ", ");
        if (entry) {
            put_value(p, i < entry->num_args ? entry->args[i] : NULL);
            strbuf_puts(p->out, ": ");
        }
        put_type(p, type->inputs[i]);
        put_annotations(p, arg_attrs, i);
    }
    strbuf_putc(p->out, ')');
    if (!num_results) return;
    bool is_plain = num_results == 1 && !res_attrs && type->results[0]->kind != IR_TYPE_FUNCTION;
    strbuf_puts(p->out, is_plain ? " -> " : " -> (");
    for (uint32_t i = 0; i < num_results; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_type(p, type->results[i]);
        put_annotations(p, res_attrs, i);
    }
    if (!is_plain) strbuf_putc(p->out, ')');
}

static void put_func_body(Printer *p, const IrOp *op) {
    if (!ir_func_body(op)) return;
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_BARE);
}

static void put_func(Printer *p, const IrOp *op) {
    const IrAttr *visibility = ir_op_attr(op, "sym_visibility");
    if (visibility && str_equal(visibility->str, "private")) strbuf_puts(p->out, " private");
    put_signature(p, op, ir_func_type(op)->num_results);
    put_attr_dict_after(p, op, "sym_name function_type sym_visibility arg_attrs res_attrs",
                        "attributes");
    put_func_body(p, op);
}

static void put_linkage(Printer *p, const IrOp *op) {
    const IrAttr *linkage = ir_op_attr(op, "linkage");
    if (linkage && !str_equal(linkage->str, "external")) strbuf_printf(p->out, " %s", linkage->str);
}

static void put_llvm_func(Printer *p, const IrOp *op) {
    put_linkage(p, op);
    put_signature(p, op, ir_func_type(op)->results[0]->kind == IR_TYPE_VOID ? 0 : 1);
    put_attr_dict_after(p, op, "sym_name function_type linkage arg_attrs res_attrs", "attributes");
    put_func_body(p, op);
}

// ---------------------------------------------------------------- linalg

static void put_group(Printer *p, const IrOp *op, const char *word, uint32_t segment) {
    if (!op->segments[segment]) return;
    uint32_t start = ir_op_segment_start(op, segment);
    strbuf_printf(p->out, " %s(", word);
    put_segment(p, op, segment);
    strbuf_puts(p->out, " : ");
    put_operand_types(p, op, start, op->segments[segment]);
    strbuf_putc(p->out, ')');
}

static void put_arrow(Printer *p, const IrOp *op) {
    if (!op->num_results) return;
    strbuf_puts(p->out, " -> ");
    put_result_types(p, op);
}

static void put_structured(Printer *p, const IrOp *op) {
    const IrAttr *maps = ir_op_attr(op, "indexing_maps");
    if (maps && !ir_linalg_has_default_maps(op)) {
        strbuf_puts(p->out, " indexing_maps = ");
        put_attr(p, maps);
    }
    put_attr_dict(p, op, "indexing_maps");
    put_group(p, op, "ins", 0);
    put_group(p, op, "outs", 1);
    put_arrow(p, op);
}

// Inherent attributes stand in the first dictionary, the others in attrs = {...}.
static void put_generic(Printer *p, const IrOp *op) {
    char others[512] = "";
    size_t used = 0;
    bool fits = true;
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        const char *name = op->attrs[i].name;
        if (ir_op_attr_is_inherent(op->kind, name)) continue;
        size_t len = strlen(name);
        if (used + len + 2 > sizeof others) fits = false;
        if (!fits) continue;
        memcpy(others + used, name, len);
        used += len;
        others[used++] = ' ';
        others[used] = 0;
    }
    // Very many annotations all go into the first dictionary, which reads the same.
    put_attr_dict(p, op, fits ? others : "");
    put_group(p, op, "ins", 0);
    put_group(p, op, "outs", 1);
    if (fits)
        put_attr_dict_after(p, op, "indexing_maps iterator_types doc library_call", "attrs =");
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_HEADER);
    put_arrow(p, op);
}

// The region's arguments stand in front of it.
static void put_reduce(Printer *p, const IrOp *op) {
    put_group(p, op, "ins", 0);
    put_group(p, op, "outs", 1);
    const IrAttr *dimensions = ir_op_attr(op, "dimensions");
    strbuf_puts(p->out, " dimensions = [");
    for (size_t i = 0; dimensions && i < dimensions->num_values; i++)
        strbuf_printf(p->out, "%s%lld", i ? ", " : "", (long long)dimensions->values[i]);
    strbuf_putc(p->out, ']');
    put_attr_dict(p, op, "dimensions");
    p->indent++;
    put_newline(p);
    strbuf_putc(p->out, '(');
    const IrBlock *block = ir_op_block(op, 0);
    for (uint32_t i = 0; block && i < block->num_args; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_value(p, block->args[i]);
        strbuf_puts(p->out, ": ");
        put_type(p, block->args[i]->type);
    }
    strbuf_puts(p->out, ") ");
    put_region(p, &op->regions[0], REGION_BARE);
    p->indent--;
}

// ---------------------------------------------------------------- memref.global, vector

static void put_global(Printer *p, const IrOp *op) {
    const IrAttr *visibility = ir_op_attr(op, "sym_visibility"), *type = ir_op_attr(op, "type");
    const IrAttr *value = ir_op_attr(op, "initial_value");
    if (visibility) {
        strbuf_putc(p->out, ' ');
        put_attr(p, visibility);
    }
    if (ir_op_attr(op, "constant")) strbuf_puts(p->out, " constant");
    strbuf_putc(p->out, ' ');
    put_symbol(p, ir_symbol_name(op) ? ir_symbol_name(op) : "");
    strbuf_puts(p->out, " : ");
    if (type) put_type(p, type->type);
    if (value && value->kind == IR_ATTR_UNIT) {
        strbuf_puts(p->out, " = uninitialized");
    } else if (value && value->kind == IR_ATTR_DENSE) {
        strbuf_puts(p->out, " = ");
        put_dense_body(p, value);
    }
    put_attr_dict(p, op, "sym_name sym_visibility type initial_value constant");
}

static bool all_false(const IrAttr *flags) {
    for (size_t i = 0; flags && flags->kind == IR_ATTR_ARRAY && i < flags->num_elems; i++)
        if (flags->elems[i]->i) return false;
    return true;
}

// The map of the last dimensions, which needs no saying.
static bool is_minor_identity(const IrAttr *attr, const IrType *vector) {
    if (!attr || attr->kind != IR_ATTR_MAP || vector->kind != IR_TYPE_VECTOR) return false;
    const IrAffineMap *map = attr->map;
    if (map->num_symbols || map->num_results != vector->rank || map->num_results > map->num_dims)
        return false;
    for (uint32_t i = 0; i < map->num_results; i++) {
        uint32_t dim;
        if (!ir_affine_is_dim(map->results[i], &dim)) return false;
        if (dim != map->num_dims - map->num_results + i) return false;
    }
    return true;
}

static void put_transfer_attrs(Printer *p, const IrOp *op, const IrType *vector) {
    bool no_bounds = all_false(ir_op_attr(op, "in_bounds"));
    bool no_map = is_minor_identity(ir_op_attr(op, "permutation_map"), vector);
    put_attr_dict(p, op,
                  no_bounds && no_map ? "in_bounds permutation_map"
                  : no_bounds         ? "in_bounds"
                  : no_map            ? "permutation_map"
                                      : "");
}

static void put_mask(Printer *p, const IrOp *op) {
    if (!op->segments[3]) return;
    strbuf_puts(p->out, ", ");
    put_segment(p, op, 3);
}

static void put_transfer_read(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_segment(p, op, 0);
    strbuf_putc(p->out, '[');
    put_segment(p, op, 1);
    strbuf_puts(p->out, "], ");
    put_segment(p, op, 2);
    put_mask(p, op);
    if (op->num_results) put_transfer_attrs(p, op, op->results[0].type);
    strbuf_puts(p->out, " : ");
    put_operand_types(p, op, 0, 1);
    strbuf_puts(p->out, ", ");
    if (op->num_results) put_type(p, op->results[0].type);
}

static void put_transfer_write(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_segment(p, op, 0);
    strbuf_puts(p->out, ", ");
    put_segment(p, op, 1);
    strbuf_putc(p->out, '[');
    put_segment(p, op, 2);
    strbuf_putc(p->out, ']');
    put_mask(p, op);
    if (op->num_operands) put_transfer_attrs(p, op, op->operands[0].value->type);
    strbuf_puts(p->out, " : ");
    put_operand_types(p, op, 0, 2);
}

static void put_contract(Printer *p, const IrOp *op) {
    put_attr_dict(p, op, "");
    strbuf_putc(p->out, ' ');
    put_operands(p, op, 0, 3);
    strbuf_puts(p->out, " : ");
    put_operand_types(p, op, 0, 2);
    strbuf_puts(p->out, " into ");
    put_operand_types(p, op, 2, 1);
}

// ---------------------------------------------------------------- llvm

static void put_llvm_global(Printer *p, const IrOp *op) {
    const IrAttr *value = ir_op_attr(op, "value"), *type = ir_op_attr(op, "global_type");
    put_linkage(p, op);
    if (ir_op_attr(op, "constant")) strbuf_puts(p->out, " constant");
    strbuf_putc(p->out, ' ');
    put_symbol(p, ir_symbol_name(op) ? ir_symbol_name(op) : "");
    strbuf_putc(p->out, '(');
    if (value) put_attr(p, value);
    strbuf_putc(p->out, ')');
    put_attr_dict(p, op, "sym_name global_type linkage constant value");
    strbuf_puts(p->out, " : ");
    if (type) put_type(p, type->type);
    if (!op->num_regions || !op->regions[0].first) return;
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_BARE);
}

static void put_gep(Printer *p, const IrOp *op) {
    const IrAttr *flags = ir_op_attr(op, "noWrapFlags"), *elem = ir_op_attr(op, "elem_type");
    const IrAttr *indices = ir_op_attr(op, "rawConstantIndices");
    if (flags && flags->kind == IR_ATTR_STRING) strbuf_printf(p->out, " %s", flags->str);
    strbuf_putc(p->out, ' ');
    put_operand(p, op, 0);
    strbuf_putc(p->out, '[');
    uint32_t operand = 1;
    for (size_t i = 0; indices && i < indices->num_values; i++) {
        if (i) strbuf_puts(p->out, ", ");
        if (indices->values[i] == INT32_MIN)
            put_operand(p, op, operand++);
        else
            strbuf_printf(p->out, "%lld", (long long)indices->values[i]);
    }
    strbuf_putc(p->out, ']');
    put_attr_dict(p, op, "noWrapFlags elem_type rawConstantIndices");
    strbuf_puts(p->out, " : (");
    put_operand_types(p, op, 0, op->num_operands);
    strbuf_puts(p->out, ") -> ");
    put_result_types(p, op);
    strbuf_puts(p->out, ", ");
    if (elem) put_type(p, elem->type);
}

static void put_successor(Printer *p, const IrOp *op, uint32_t i, uint32_t segment) {
    if (i < op->num_successors) strbuf_printf(p->out, "^bb%u", op->successors[i]->number);
    if (!op->segments[segment]) return;
    uint32_t start = ir_op_segment_start(op, segment);
    strbuf_putc(p->out, '(');
    put_segment(p, op, segment);
    strbuf_puts(p->out, " : ");
    put_operand_types(p, op, start, op->segments[segment]);
    strbuf_putc(p->out, ')');
}

static void put_br(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_successor(p, op, 0, 0);
    put_attr_dict(p, op, "");
}

static void put_cond_br(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_operand(p, op, 0);
    strbuf_puts(p->out, ", ");
    put_successor(p, op, 0, 1);
    strbuf_puts(p->out, ", ");
    put_successor(p, op, 1, 2);
    put_attr_dict(p, op, "");
}

static const struct {
    const char *key;
    void (*put)(Printer *p, const IrOp *op);
} printers[] = {
    {"custom module", put_module},
    {"custom func", put_func},
    {"structured", put_structured},
    {"custom generic", put_generic},
    {"custom reduce", put_reduce},
    {"custom global", put_global},
    {"custom transfer_read", put_transfer_read},
    {"custom transfer_write", put_transfer_write},
    {"custom contract", put_contract},
    {"custom llvm_func", put_llvm_func},
    {"custom llvm_global", put_llvm_global},
    {"custom gep", put_gep},
    {"custom br", put_br},
    {"custom cond_br", put_cond_br},
};

bool put_custom(Printer *p, const IrOp *op, const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(printers); i++) {
        if (!str_equal(printers[i].key, key)) continue;
        printers[i].put(p, op);
        return true;
    }
    return false;
}
