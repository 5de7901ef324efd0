// Modules, ops, blocks, values and their use lists: creation and editing.
#include <stdlib.h>
#include <string.h>

#include "ir/intern.h"

IrModule *ir_module_create(void) {
    IrModule *m = base_alloc(1, sizeof *m);
    arena_init(&m->arena);
    m->interner = ARENA_NEW(&m->arena, IrInterner);
    m->op = ir_op_create(m, &(IrOpSpec){.kind = IR_BUILTIN_MODULE, .num_regions = 1});
    ir_region_add_block(m, &m->op->regions[0]);
    return m;
}

void ir_module_destroy(IrModule *m) {
    if (!m) return;
    IrInterner *interner = m->interner;
    intern_table_deinit(&interner->strings);
    intern_table_deinit(&interner->types);
    intern_table_deinit(&interner->attrs);
    intern_table_deinit(&interner->locs);
    intern_table_deinit(&interner->exprs);
    intern_table_deinit(&interner->maps);
    arena_deinit(&m->arena);
    free(m);
}

IrBlock *ir_module_body(IrModule *m) {
    return m->op->regions[0].first;
}

// ---------------------------------------------------------------- use lists

static void link_use(IrOperand *use, IrValue *value) {
    use->value = value;
    use->next_use = value->first_use;
    use->prev_use = &value->first_use;
    if (value->first_use) value->first_use->prev_use = &use->next_use;
    value->first_use = use;
}

static void unlink_use(IrOperand *use) {
    if (!use->value) return;
    *use->prev_use = use->next_use;
    if (use->next_use) use->next_use->prev_use = use->prev_use;
    use->value = NULL;
    use->next_use = NULL;
    use->prev_use = NULL;
}

// After operands moved in memory: their neighbours point at the new place.
static void relink_moved(IrOperand *use) {
    if (!use->value) return;
    *use->prev_use = use;
    if (use->next_use) use->next_use->prev_use = &use->next_use;
}

void ir_op_set_operand(IrOp *op, uint32_t i, IrValue *value) {
    BUG_IF(i >= op->num_operands, "%s has %u operands, not %u", ir_op_info(op->kind)->name,
           op->num_operands, i + 1);
    unlink_use(&op->operands[i]);
    link_use(&op->operands[i], value);
}

void ir_value_replace_all(IrValue *value, IrValue *by) {
    if (value == by) return;
    while (value->first_use) {
        IrOperand *use = value->first_use;
        unlink_use(use);
        link_use(use, by);
    }
}

bool ir_value_has_one_use(const IrValue *value) {
    return value->first_use && !value->first_use->next_use;
}

// ---------------------------------------------------------------- attributes of an op

static IrNamedAttr *find_attr(const IrOp *op, const char *name, uint32_t *out_at) {
    uint32_t i = 0;
    for (; i < op->num_attrs; i++) {
        if (op->attrs[i].name == name) return &op->attrs[i];
        int order = (int)(unsigned char)op->attrs[i].name[0] - (int)(unsigned char)name[0];
        if (order == 0) order = strcmp(op->attrs[i].name, name);
        if (order == 0) return &op->attrs[i];
        if (order > 0) break;
    }
    if (out_at) *out_at = i;
    return NULL;
}

const IrAttr *ir_op_attr(const IrOp *op, const char *name) {
    const IrNamedAttr *found = find_attr(op, name, NULL);
    return found ? found->attr : NULL;
}

void ir_op_set_attr(IrModule *m, IrOp *op, const char *name, const IrAttr *attr) {
    uint32_t at = 0;
    IrNamedAttr *found = find_attr(op, name, &at);
    if (str_equal(name, "sym_name")) ir_symbol_note_name(m, op, found ? found->attr : NULL, attr);
    if (found && attr) {
        found->attr = attr;
    } else if (found) {
        uint32_t i = (uint32_t)(found - op->attrs);
        op->num_attrs--;
        memmove(found, found + 1, (op->num_attrs - i) * sizeof *found);
    } else if (attr) {
        if (op->num_attrs == op->attrs_capacity) {
            uint32_t capacity = op->attrs_capacity ? op->attrs_capacity * 2 : 4;
            IrNamedAttr *grown = ARENA_ARRAY(&m->arena, IrNamedAttr, capacity);
            if (op->num_attrs) memcpy(grown, op->attrs, op->num_attrs * sizeof *grown);
            op->attrs = grown;
            op->attrs_capacity = capacity;
        }
        memmove(op->attrs + at + 1, op->attrs + at, (op->num_attrs - at) * sizeof *op->attrs);
        op->attrs[at] = (IrNamedAttr){ir_intern(m, name), attr};
        op->num_attrs++;
    }
}

// ---------------------------------------------------------------- creation

static void init_segments(IrOp *op, const IrOpSpec *spec) {
    uint32_t sum = 0;
    for (int s = 0; s < IR_MAX_SEGMENTS; s++) {
        op->segments[s] = spec->segments[s];
        sum += spec->segments[s];
    }
    if (sum == 0)
        op->segments[0] = spec->num_operands;
    else
        BUG_IF(sum != spec->num_operands, "%s: segments hold %u operands of %u",
               ir_op_info(spec->kind)->name, sum, spec->num_operands);
}

IrOp *ir_op_create(IrModule *m, const IrOpSpec *spec) {
    IrOp *op = ARENA_NEW(&m->arena, IrOp);
    op->kind = spec->kind;
    op->index = m->num_ops++;
    op->loc = spec->loc ? spec->loc : ir_loc_unknown(m);
    op->num_operands = op->operands_capacity = spec->num_operands;
    if (spec->num_operands) op->operands = ARENA_ARRAY(&m->arena, IrOperand, spec->num_operands);
    for (uint32_t i = 0; i < spec->num_operands; i++) {
        op->operands[i].owner = op;
        if (spec->operands[i]) link_use(&op->operands[i], spec->operands[i]);
    }
    op->num_results = spec->num_results;
    if (spec->num_results) op->results = ARENA_ARRAY(&m->arena, IrValue, spec->num_results);
    for (uint32_t i = 0; i < spec->num_results; i++) {
        op->results[i] = (IrValue){
            .type = spec->result_types[i], .def_op = op, .number = i, .index = m->num_values++};
    }
    op->num_regions = spec->num_regions;
    if (spec->num_regions) op->regions = ARENA_ARRAY(&m->arena, IrRegion, spec->num_regions);
    for (uint32_t i = 0; i < spec->num_regions; i++) op->regions[i].parent = op;
    for (uint32_t i = 0; i < spec->num_attrs; i++)
        ir_op_set_attr(m, op, spec->attrs[i].name, spec->attrs[i].attr);
    init_segments(op, spec);
    return op;
}

// ---------------------------------------------------------------- places

static void insert_between(IrBlock *block, IrOp *prev, IrOp *op, IrOp *next) {
    BUG_IF(op->block, "%s is already in a block", ir_op_info(op->kind)->name);
    op->block = block;
    op->prev = prev;
    op->next = next;
    if (prev)
        prev->next = op;
    else
        block->first = op;
    if (next)
        next->prev = op;
    else
        block->last = op;
}

void ir_op_insert_before(IrOp *op, IrOp *before) {
    insert_between(before->block, before->prev, op, before);
}
void ir_op_insert_after(IrOp *op, IrOp *after) {
    insert_between(after->block, after, op, after->next);
}
void ir_block_append(IrBlock *block, IrOp *op) {
    insert_between(block, block->last, op, NULL);
}

void ir_op_unlink(IrOp *op) {
    if (!op->block) return;
    if (op->prev)
        op->prev->next = op->next;
    else
        op->block->first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    else
        op->block->last = op->prev;
    op->block = NULL;
    op->prev = op->next = NULL;
}

// Takes every operand in and under op off the use lists, so that it can go in any order.
static void drop_uses(IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) unlink_use(&op->operands[i]);
    for (uint32_t i = 0; i < op->num_regions; i++) {
        FOR_EACH_BLOCK(block, &op->regions[i]) {
            FOR_EACH_OP(inner, block) drop_uses(inner);
        }
    }
}

// The memory stays in the module's arena.
void ir_op_erase(IrModule *m, IrOp *op) {
    drop_uses(op);
    if (ir_op_info(op->kind)->traits & IR_SYMBOL) m->interner->num_symbols_gone++;
    for (uint32_t i = 0; i < op->num_results; i++)
        BUG_IF(op->results[i].first_use, "%s is erased but its result %u is used",
               ir_op_info(op->kind)->name, i);
    ir_op_unlink(op);
    op->num_operands = 0;
    op->num_regions = 0;
    for (int s = 0; s < IR_MAX_SEGMENTS; s++) op->segments[s] = 0;
}

// ---------------------------------------------------------------- operand lists

uint32_t ir_op_segment_start(const IrOp *op, uint32_t s) {
    uint32_t start = 0;
    for (uint32_t i = 0; i < s; i++) start += op->segments[i];
    return start;
}

static void grow_operands(IrModule *m, IrOp *op) {
    uint32_t capacity = op->operands_capacity ? op->operands_capacity * 2 : 4;
    IrOperand *grown = ARENA_ARRAY(&m->arena, IrOperand, capacity);
    // One after the other: a neighbour in the use list may lie in this array too, moved or not.
    for (uint32_t i = 0; i < op->num_operands; i++) {
        grown[i] = op->operands[i];
        relink_moved(&grown[i]);
    }
    op->operands = grown;
    op->operands_capacity = capacity;
}

void ir_op_add_operand(IrModule *m, IrOp *op, uint32_t segment, IrValue *value) {
    BUG_IF(segment >= IR_MAX_SEGMENTS, "segment %u", segment);
    if (op->num_operands == op->operands_capacity) grow_operands(m, op);
    uint32_t at = ir_op_segment_start(op, segment) + op->segments[segment];
    for (uint32_t i = op->num_operands; i > at; i--) {
        op->operands[i] = op->operands[i - 1];
        relink_moved(&op->operands[i]);
    }
    op->operands[at] = (IrOperand){.owner = op};
    link_use(&op->operands[at], value);
    op->num_operands++;
    op->segments[segment]++;
}

void ir_op_remove_operand(IrOp *op, uint32_t i) {
    BUG_IF(i >= op->num_operands, "%s has no operand %u", ir_op_info(op->kind)->name, i);
    uint32_t segment = 0, end = op->segments[0];
    while (i >= end) end += op->segments[++segment];
    unlink_use(&op->operands[i]);
    for (uint32_t k = i + 1; k < op->num_operands; k++) {
        op->operands[k - 1] = op->operands[k];
        relink_moved(&op->operands[k - 1]);
    }
    op->num_operands--;
    op->operands[op->num_operands] = (IrOperand){0};
    op->segments[segment]--;
}

// ---------------------------------------------------------------- blocks

IrBlock *ir_region_add_block(IrModule *m, IrRegion *region) {
    IrBlock *block = ARENA_NEW(&m->arena, IrBlock);
    block->region = region;
    block->prev = region->last;
    if (region->last)
        region->last->next = block;
    else
        region->first = block;
    region->last = block;
    return block;
}

static void insert_arg(IrModule *m, IrBlock *block, uint32_t at, IrValue *arg) {
    if (block->num_args == block->args_capacity) {
        uint32_t capacity = block->args_capacity ? block->args_capacity * 2 : 4;
        IrValue **grown = ARENA_ARRAY(&m->arena, IrValue *, capacity);
        if (block->num_args) memcpy(grown, block->args, block->num_args * sizeof *grown);
        block->args = grown;
        block->args_capacity = capacity;
    }
    memmove(block->args + at + 1, block->args + at, (block->num_args - at) * sizeof *block->args);
    block->args[at] = arg;
    block->num_args++;
    for (uint32_t i = at; i < block->num_args; i++) block->args[i]->number = i;
}

IrValue *ir_block_insert_arg(IrModule *m, IrBlock *block, uint32_t at, const IrType *type) {
    BUG_IF(at > block->num_args, "block argument %u of %u", at, block->num_args);
    IrValue *arg = ARENA_NEW(&m->arena, IrValue);
    *arg = (IrValue){.type = type, .def_block = block, .index = m->num_values++};
    insert_arg(m, block, at, arg);
    return arg;
}

IrValue *ir_block_add_arg(IrModule *m, IrBlock *block, const IrType *type) {
    return ir_block_insert_arg(m, block, block->num_args, type);
}

void ir_block_remove_arg(IrBlock *block, uint32_t i) {
    BUG_IF(i >= block->num_args || block->args[i]->first_use, "block argument %u is used or absent",
           i);
    block->num_args--;
    memmove(block->args + i, block->args + i + 1, (block->num_args - i) * sizeof *block->args);
    for (uint32_t k = i; k < block->num_args; k++) block->args[k]->number = k;
}

void ir_block_remove_first_args(IrBlock *block, uint32_t num) {
    for (uint32_t i = 0; i < num; i++)
        BUG_IF(i >= block->num_args || block->args[i]->first_use,
               "block argument %u is used or absent", i);
    block->num_args -= num;
    for (uint32_t i = 0; i < block->num_args; i++) {
        block->args[i] = block->args[i + num];
        block->args[i]->number = i;
    }
}

// ---------------------------------------------------------------- helpers

IrOp *ir_op_parent(const IrOp *op) {
    return op->block ? op->block->region->parent : NULL;
}

const IrAttr *ir_value_constant(const IrValue *value) {
    if (!value->def_op) return NULL;
    IrOpKind kind = value->def_op->kind;
    return kind == IR_ARITH_CONSTANT || kind == IR_LLVM_MLIR_CONSTANT
               ? ir_op_attr(value->def_op, "value")
               : NULL;
}

bool ir_value_constant_int(const IrValue *value, int64_t *out) {
    const IrAttr *attr = ir_value_constant(value);
    if (!attr || (attr->kind != IR_ATTR_INT && attr->kind != IR_ATTR_BOOL)) return false;
    *out = attr->i;
    return true;
}

void ir_walk(IrOp *op, IrVisit visit, void *ctx) {
    visit(op, ctx);
    for (uint32_t i = 0; i < op->num_regions; i++) {
        FOR_EACH_BLOCK(block, &op->regions[i]) {
            FOR_EACH_OP_SAFE(inner, block) ir_walk(inner, visit, ctx);
        }
    }
}
