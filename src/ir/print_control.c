// Hand-written syntax of structured control flow: scf and affine loops.
#include <string.h>

#include "ir/printer.h"

static void put_region_args(Printer *p, const IrOp *op, uint32_t first, uint32_t count) {
    const IrBlock *block = ir_op_block(op, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_value(p, block && first + i < block->num_args ? block->args[first + i] : NULL);
    }
}

// (%arg1 = %0, %arg2 = %1) -> (T, T)
static void put_assignments(Printer *p, const IrOp *op, const char *word, uint32_t segment,
                            uint32_t first_arg) {
    if (!op->segments[segment]) return;
    uint32_t start = ir_op_segment_start(op, segment);
    strbuf_printf(p->out, " %s(", word);
    for (uint32_t i = 0; i < op->segments[segment]; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_region_args(p, op, first_arg + i, 1);
        strbuf_puts(p->out, " = ");
        put_operand(p, op, start + i);
    }
    strbuf_puts(p->out, ") -> (");
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (i) strbuf_puts(p->out, ", ");
        put_type(p, op->results[i].type);
    }
    strbuf_putc(p->out, ')');
}

static void put_body(Printer *p, const IrOp *op, const char *skip) {
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_NO_TERMINATOR);
    put_attr_dict(p, op, skip);
}

static void put_for(Printer *p, const IrOp *op) {
    if (ir_op_attr(op, "unsignedCmp")) strbuf_puts(p->out, " unsigned");
    strbuf_putc(p->out, ' ');
    put_region_args(p, op, 0, 1);
    strbuf_puts(p->out, " = ");
    put_operand(p, op, 0);
    strbuf_puts(p->out, " to ");
    put_operand(p, op, 1);
    strbuf_puts(p->out, " step ");
    put_operand(p, op, 2);
    put_assignments(p, op, "iter_args", 1, 1);
    const IrType *type =
        op->num_operands && op->operands[0].value ? op->operands[0].value->type : NULL;
    if (type && type->kind != IR_TYPE_INDEX) {
        strbuf_puts(p->out, " : ");
        put_type(p, type);
    }
    put_body(p, op, "unsignedCmp");
}

static void put_if(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_operand(p, op, 0);
    if (op->num_results) {
        strbuf_puts(p->out, " -> (");
        for (uint32_t i = 0; i < op->num_results; i++) {
            if (i) strbuf_puts(p->out, ", ");
            put_type(p, op->results[i].type);
        }
        strbuf_putc(p->out, ')');
    }
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_NO_TERMINATOR);
    if (op->num_regions > 1 && op->regions[1].first) {
        strbuf_puts(p->out, " else ");
        put_region(p, &op->regions[1], REGION_NO_TERMINATOR);
    }
    put_attr_dict(p, op, "");
}

// ---------------------------------------------------------------- scf.forall, scf.parallel

// (8, %n)
static void put_mixed(Printer *p, const IrOp *op, const char *name, uint32_t segment) {
    const IrAttr *list = ir_op_attr(op, name);
    uint32_t operand = ir_op_segment_start(op, segment);
    strbuf_putc(p->out, '(');
    for (size_t i = 0; list && list->kind == IR_ATTR_DENSE_ARRAY && i < list->num_values; i++) {
        if (i) strbuf_puts(p->out, ", ");
        if (list->values[i] == IR_DYNAMIC)
            put_operand(p, op, operand++);
        else
            strbuf_printf(p->out, "%lld", (long long)list->values[i]);
    }
    strbuf_putc(p->out, ')');
}

// Are all numbers of a list, and the constants that stand for its operands, `value`?
static bool all_equal(const IrOp *op, const char *name, uint32_t segment, int64_t value) {
    const IrAttr *list = ir_op_attr(op, name);
    uint32_t operand = ir_op_segment_start(op, segment);
    for (size_t i = 0; list && list->kind == IR_ATTR_DENSE_ARRAY && i < list->num_values; i++) {
        int64_t constant = list->values[i];
        if (constant == IR_DYNAMIC &&
            !ir_value_constant_int(ir_op_operand(op, operand++), &constant))
            return false;
        if (constant != value) return false;
    }
    return true;
}

static void put_forall(Printer *p, const IrOp *op) {
    const IrAttr *upper = ir_op_attr(op, "staticUpperBound");
    uint32_t num_loops =
        upper && upper->kind == IR_ATTR_DENSE_ARRAY ? (uint32_t)upper->num_values : 0;
    strbuf_puts(p->out, " (");
    put_region_args(p, op, 0, num_loops);
    strbuf_putc(p->out, ')');
    if (all_equal(op, "staticLowerBound", 0, 0) && all_equal(op, "staticStep", 2, 1)) {
        strbuf_puts(p->out, " in ");
        put_mixed(p, op, "staticUpperBound", 1);
    } else {
        strbuf_puts(p->out, " = ");
        put_mixed(p, op, "staticLowerBound", 0);
        strbuf_puts(p->out, " to ");
        put_mixed(p, op, "staticUpperBound", 1);
        strbuf_puts(p->out, " step ");
        put_mixed(p, op, "staticStep", 2);
    }
    put_assignments(p, op, "shared_outs", 3, num_loops);
    put_body(p, op, "staticLowerBound staticUpperBound staticStep");
}

static void put_in_parallel(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_region(p, &op->regions[0], REGION_BARE);
    put_attr_dict(p, op, "");
}

static void put_parallel(Printer *p, const IrOp *op) {
    static const char *const words[] = {" = (", ") to (", ") step ("};
    strbuf_puts(p->out, " (");
    put_region_args(p, op, 0, op->segments[0]);
    strbuf_putc(p->out, ')');
    for (uint32_t i = 0; i < 3; i++) {
        strbuf_puts(p->out, words[i]);
        put_segment(p, op, i);
    }
    strbuf_putc(p->out, ')');
    if (op->segments[3]) {
        strbuf_puts(p->out, " init (");
        put_segment(p, op, 3);
        strbuf_puts(p->out, ") -> ");
        put_result_types(p, op);
    }
    put_body(p, op, "");
}

static void put_scf_reduce(Printer *p, const IrOp *op) {
    if (op->num_operands) {
        strbuf_putc(p->out, '(');
        put_operands(p, op, 0, op->num_operands);
        strbuf_puts(p->out, " : ");
        put_operand_types(p, op, 0, op->num_operands);
        strbuf_putc(p->out, ')');
    }
    for (uint32_t i = 0; i < op->num_regions; i++) {
        strbuf_puts(p->out, i ? ", " : " ");
        put_region(p, &op->regions[i], REGION_HEADER);
    }
    put_attr_dict(p, op, "");
}

// ---------------------------------------------------------------- affine

static void put_bound(Printer *p, const IrOp *op, const char *name, uint32_t segment) {
    const IrAttr *attr = ir_op_attr(op, name);
    if (!attr || attr->kind != IR_ATTR_MAP) return;
    const IrAffineMap *map = attr->map;
    uint32_t first = ir_op_segment_start(op, segment);
    bool is_one = map->num_results == 1;
    if (is_one && map->num_dims + map->num_symbols == 0 &&
        map->results[0]->kind == IR_AFFINE_CONST) {
        strbuf_printf(p->out, "%lld", (long long)map->results[0]->value);
        return;
    }
    if (is_one && map->num_dims == 0 && map->num_symbols == 1 &&
        map->results[0]->kind == IR_AFFINE_SYMBOL) {
        put_operand(p, op, first);
        return;
    }
    if (!is_one) strbuf_puts(p->out, segment == 0 ? "max " : "min ");
    put_map(p, map);
    strbuf_putc(p->out, '(');
    put_operands(p, op, first, map->num_dims);
    strbuf_putc(p->out, ')');
    if (!map->num_symbols) return;
    strbuf_putc(p->out, '[');
    put_operands(p, op, first + map->num_dims, map->num_symbols);
    strbuf_putc(p->out, ']');
}

static void put_affine_for(Printer *p, const IrOp *op) {
    strbuf_putc(p->out, ' ');
    put_region_args(p, op, 0, 1);
    strbuf_puts(p->out, " = ");
    put_bound(p, op, "lowerBoundMap", 0);
    strbuf_puts(p->out, " to ");
    put_bound(p, op, "upperBoundMap", 1);
    const IrAttr *step = ir_op_attr(op, "step");
    if (step && step->i != 1) strbuf_printf(p->out, " step %lld", (long long)step->i);
    put_assignments(p, op, "iter_args", 2, 1);
    put_body(p, op, "lowerBoundMap upperBoundMap step");
}

// (0, max(%a + 1, 4)): one entry per loop, of as many results as its group has.
static void put_bounds(Printer *p, const IrOp *op, const char *name, const char *groups_name,
                       uint32_t segment) {
    const IrAttr *attr = ir_op_attr(op, name), *groups = ir_op_attr(op, groups_name);
    strbuf_putc(p->out, '(');
    if (attr && attr->kind == IR_ATTR_MAP && groups && groups->kind == IR_ATTR_DENSE) {
        AffineOperands operands = {op, ir_op_segment_start(op, segment), attr->map->num_dims};
        int64_t num_groups = ir_type_num_elems(groups->type);
        uint32_t result = 0;
        for (int64_t g = 0; g < num_groups; g++) {
            int64_t size = (int64_t)ir_attr_dense_elem(groups, g);
            if (g) strbuf_puts(p->out, ", ");
            if (size != 1) strbuf_puts(p->out, segment == 0 ? "max(" : "min(");
            for (int64_t i = 0; i < size && result < attr->map->num_results; i++, result++) {
                if (i) strbuf_puts(p->out, ", ");
                put_affine_expr(p, attr->map->results[result], &operands);
            }
            if (size != 1) strbuf_putc(p->out, ')');
        }
    }
    strbuf_putc(p->out, ')');
}

static void put_reductions(Printer *p, const IrOp *op) {
    const IrAttr *kinds = ir_op_attr(op, "reductions");
    if (!kinds || kinds->kind != IR_ATTR_ARRAY || !kinds->num_elems) return;
    strbuf_puts(p->out, " reduce (");
    for (size_t i = 0; i < kinds->num_elems; i++) {
        const char *name = affine_reduction_name(kinds->elems[i]->i);
        strbuf_printf(p->out, "%s\"%s\"", i ? ", " : "", name ? name : "unknown");
    }
    strbuf_putc(p->out, ')');
}

static void put_affine_parallel(Printer *p, const IrOp *op) {
    const IrAttr *steps = ir_op_attr(op, "steps");
    bool has_steps = false;
    for (size_t i = 0; steps && i < steps->num_elems; i++) has_steps |= steps->elems[i]->i != 1;
    strbuf_puts(p->out, " (");
    const IrBlock *block = ir_op_block(op, 0);
    put_region_args(p, op, 0, block ? block->num_args : 0);
    strbuf_puts(p->out, ") = ");
    put_bounds(p, op, "lowerBoundsMap", "lowerBoundsGroups", 0);
    strbuf_puts(p->out, " to ");
    put_bounds(p, op, "upperBoundsMap", "upperBoundsGroups", 1);
    if (has_steps) {
        strbuf_puts(p->out, " step (");
        for (size_t i = 0; i < steps->num_elems; i++)
            strbuf_printf(p->out, "%s%lld", i ? ", " : "", (long long)steps->elems[i]->i);
        strbuf_putc(p->out, ')');
    }
    put_reductions(p, op);
    if (op->num_results) {
        strbuf_puts(p->out, " -> (");
        for (uint32_t i = 0; i < op->num_results; i++) {
            if (i) strbuf_puts(p->out, ", ");
            put_type(p, op->results[i].type);
        }
        strbuf_putc(p->out, ')');
    }
    put_body(p, op,
             "lowerBoundsMap upperBoundsMap lowerBoundsGroups upperBoundsGroups steps reductions");
}

static const struct {
    const char *key;
    void (*put)(Printer *p, const IrOp *op);
} printers[] = {
    {"custom for", put_for},
    {"custom if", put_if},
    {"custom forall", put_forall},
    {"custom in_parallel", put_in_parallel},
    {"custom parallel", put_parallel},
    {"custom scf_reduce", put_scf_reduce},
    {"custom affine_for", put_affine_for},
    {"custom affine_parallel", put_affine_parallel},
};

bool put_control(Printer *p, const IrOp *op, const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(printers); i++) {
        if (!str_equal(printers[i].key, key)) continue;
        printers[i].put(p, op);
        return true;
    }
    return false;
}
