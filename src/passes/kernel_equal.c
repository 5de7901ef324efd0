// Which ops of a block compute the same; see kernel_count.h.
#include <stdlib.h>
#include <string.h>

#include "passes/kernel_count.h"

typedef struct EqualOps {
    const KernelCount *c;
    const IrOp **slots; // open addressing
    size_t num_slots;   // a power of two
    uint32_t *epochs;   // of the op in that slot
    uint32_t epoch;     // counts what may write memory: loads before and after differ
} EqualOps;

// What stands for a value: its constant, or the first value that is equal.
static const void *identity(const KernelCount *c, const IrValue *v) {
    const IrAttr *constant = ir_value_constant(v);
    if (constant) return constant;
    return c->leader[kernel_value_place(c, v)] ? c->leader[kernel_value_place(c, v)] : v;
}

static bool is_load(const IrOp *op) {
    return op->kind == IR_MEMREF_LOAD || op->kind == IR_VECTOR_LOAD;
}

static bool are_equal(const EqualOps *e, const IrOp *a, const IrOp *b) {
    if (a->kind != b->kind || a->num_operands != b->num_operands || a->num_attrs != b->num_attrs ||
        a->results[0].type != b->results[0].type)
        return false;
    for (uint32_t i = 0; i < a->num_operands; i++)
        if (identity(e->c, ir_op_operand(a, i)) != identity(e->c, ir_op_operand(b, i)))
            return false;
    for (uint32_t i = 0; i < a->num_attrs; i++)
        if (a->attrs[i].attr != ir_op_attr(b, a->attrs[i].name)) return false;
    return true;
}

static size_t hash_of(const EqualOps *e, const IrOp *op) {
    uint64_t hash = (uint64_t)op->kind;
    for (uint32_t i = 0; i < op->num_operands; i++)
        hash = (hash ^ (uintptr_t)identity(e->c, ir_op_operand(op, i))) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (e->num_slots - 1);
}

// True if an earlier op of the block does the same; else the op is noted.
static bool is_again(EqualOps *e, const IrOp *op) {
    for (size_t i = hash_of(e, op);; i = (i + 1) & (e->num_slots - 1)) {
        if (!e->slots[i]) {
            e->slots[i] = op;
            e->epochs[i] = e->epoch;
            return false;
        }
        if (!are_equal(e, e->slots[i], op) || (is_load(op) && e->epochs[i] != e->epoch)) continue;
        e->c->leader[kernel_value_place(e->c, &op->results[0])] = &e->slots[i]->results[0];
        return true;
    }
}

void kernel_find_equal(KernelCount *c, const IrBlock *block) {
    size_t num = 0;
    FOR_EACH_OP(op, block) num++;
    EqualOps e = {.c = c, .num_slots = 8};
    while (e.num_slots < 2 * num) e.num_slots *= 2;
    e.slots = base_alloc(e.num_slots, sizeof *e.slots);
    e.epochs = base_alloc(e.num_slots, sizeof *e.epochs);
    FOR_EACH_OP(op, block) {
        bool is_pure = ir_op_info(op->kind)->traits & IR_PURE;
        if (!is_pure && !is_load(op)) e.epoch++;
        if (op->num_results == 1 && !op->num_regions && (is_pure || is_load(op)))
            (void)is_again(&e, op);
    }
    free(e.slots);
    free(e.epochs);
}
