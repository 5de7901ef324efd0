// Deep copies: of an op inside its module, and of a whole module into an arena of its own.
#include <stdlib.h>
#include <string.h>

#include "ir/intern.h"

typedef struct IrValueMapSlot {
    uint32_t key; // index + 1; 0: free
    IrValue *to;
} IrValueMapSlot;

void ir_value_map_init(IrValueMap *map) {
    *map = (IrValueMap){0};
}

void ir_value_map_deinit(IrValueMap *map) {
    free(map->slots);
    *map = (IrValueMap){0};
}

// The slot of a key, or the free one where it would go. Indices are mostly consecutive, so their
// low bits spread them well.
static IrValueMapSlot *find_slot(const IrValueMap *map, uint32_t key) {
    uint32_t at = key & (map->capacity - 1);
    while (map->slots[at].key && map->slots[at].key != key) at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static void grow(IrValueMap *map) {
    IrValueMap larger = {.count = map->count, .capacity = MAX(map->capacity * 2, 16u)};
    larger.slots = base_alloc(larger.capacity, sizeof *larger.slots);
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key) *find_slot(&larger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = larger;
}

void ir_value_map_set(IrValueMap *map, const IrValue *from, IrValue *to) {
    if (map->count >= map->capacity / 2) grow(map);
    IrValueMapSlot *slot = find_slot(map, from->index + 1);
    if (!slot->key) map->count++;
    *slot = (IrValueMapSlot){.key = from->index + 1, .to = to};
}

static IrValue *find_value(const IrValueMap *map, const IrValue *from) {
    return map->capacity ? find_slot(map, from->index + 1)->to : NULL;
}

IrValue *ir_value_map_get(const IrValueMap *map, IrValue *from) {
    IrValue *to = find_value(map, from);
    return to ? to : from;
}

// An operand whose value had not been copied yet: it lies outside, or further down in the text.
typedef struct LateOperand {
    IrOp *op;
    uint32_t number;
    IrValue *value; // of the original
} LateOperand;

typedef struct Cloner {
    IrModule *m;
    bool is_import; // into another module: types, attributes and locations are interned anew
    IrValueMap *values;
    LateOperand *late;
    size_t num_late, late_capacity;
} Cloner;

static const IrType *clone_type(Cloner *c, const IrType *type) {
    return c->is_import ? ir_type_import(c->m, type) : type;
}

static IrOp *clone_op(Cloner *c, const IrOp *op, IrBlock *const *new_blocks);

static void clone_region(Cloner *c, const IrRegion *from, IrRegion *to) {
    uint32_t num_blocks = 0;
    FOR_EACH_BLOCK(block, (IrRegion *)from) block->number = num_blocks++;
    IrBlock **new_blocks = base_alloc(num_blocks ? num_blocks : 1, sizeof *new_blocks);
    FOR_EACH_BLOCK(block, (IrRegion *)from) {
        IrBlock *copy = ir_region_add_block(c->m, to);
        new_blocks[block->number] = copy;
        for (uint32_t i = 0; i < block->num_args; i++) {
            IrValue *arg = ir_block_add_arg(c->m, copy, clone_type(c, block->args[i]->type));
            ir_value_map_set(c->values, block->args[i], arg);
        }
    }
    FOR_EACH_BLOCK(block, (IrRegion *)from) {
        FOR_EACH_OP(inner, block)
        ir_block_append(new_blocks[block->number], clone_op(c, inner, new_blocks));
    }
    free(new_blocks);
}

static IrOp *clone_op(Cloner *c, const IrOp *op, IrBlock *const *new_blocks) {
    IrOpSpec spec = {.kind = op->kind,
                     .loc = c->is_import ? ir_loc_import(c->m, op->loc) : op->loc,
                     .num_operands = op->num_operands,
                     .num_results = op->num_results,
                     .num_regions = op->num_regions};
    memcpy(spec.segments, op->segments, sizeof spec.segments);
    IrValue **operands = base_alloc(op->num_operands + 1, sizeof *operands);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = op->operands[i].value;
        operands[i] = find_value(c->values, value);
    }
    const IrType **types = base_alloc(op->num_results + 1, sizeof *types);
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = clone_type(c, op->results[i].type);
    spec.operands = operands;
    spec.result_types = types;
    IrOp *copy = ir_op_create(c->m, &spec);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (operands[i]) continue;
        ARRAY_RESERVE(c->late, c->num_late, c->late_capacity);
        c->late[c->num_late++] = (LateOperand){copy, i, op->operands[i].value};
    }
    free(operands);
    free(types);
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        const IrAttr *attr = op->attrs[i].attr;
        ir_op_set_attr(c->m, copy, op->attrs[i].name,
                       c->is_import ? ir_attr_import(c->m, attr) : attr);
    }
    copy->num_successors = op->num_successors;
    for (uint32_t i = 0; i < op->num_successors; i++)
        copy->successors[i] =
            new_blocks ? new_blocks[op->successors[i]->number] : op->successors[i];
    for (uint32_t i = 0; i < op->num_results; i++)
        ir_value_map_set(c->values, &op->results[i], &copy->results[i]);
    for (uint32_t i = 0; i < op->num_regions; i++)
        clone_region(c, &op->regions[i], &copy->regions[i]);
    return copy;
}

static IrOp *clone_tree(Cloner *c, const IrOp *op) {
    IrOp *copy = clone_op(c, op, NULL);
    for (size_t i = 0; i < c->num_late; i++) {
        const LateOperand *late = &c->late[i];
        ir_op_set_operand(late->op, late->number, ir_value_map_get(c->values, late->value));
    }
    free(c->late);
    return copy;
}

IrOp *ir_op_clone(IrModule *m, const IrOp *op, IrValueMap *map) {
    return clone_tree(&(Cloner){.m = m, .values = map}, op);
}

IrModule *ir_module_clone(const IrModule *from) {
    IrModule *m = ir_module_create();
    IrValueMap values;
    ir_value_map_init(&values);
    m->op = clone_tree(&(Cloner){.m = m, .is_import = true, .values = &values}, from->op);
    ir_value_map_deinit(&values);
    return m;
}
