// merge-equal: what is computed twice is computed once. Two ops of a block that do the same on the
// same operands become one; so a weight that two products and a table read is decoded once.
//
//   %a = linalg.generic ins(%x) outs(%e0) { exp }
//   %b = linalg.generic ins(%x) outs(%e1) { exp }    ->   %a = ...
//   use(%a, %b)                                           use(%a, %a)
//
// An output that is only written to does not count: it says no more than its type. Two results of a
// function stay two: one is a copy of the other.
// Needs: canonical.  Keeps: all.  Exact.
#include <stdlib.h>

#include "passes/build.h"
#include "passes/dce.h"
#include "passes/mutate.h"
#include "passes/pass.h"

// Maps values of the second op's regions to those of the first they stand for.
typedef IrValueMap Pairs;

// Is the fill's destination, or a generic's output whose old value its body does not read, empty?
static bool is_only_written(const IrOp *op, uint32_t i) {
    if (!(ir_op_info(op->kind)->traits & IR_LINALG) || i < op->segments[0]) return false;
    const IrOp *init = ir_op_operand(op, i)->def_op;
    if (!init || init->kind != IR_TENSOR_EMPTY) return false;
    return op->kind == IR_LINALG_FILL ||
           (op->kind == IR_LINALG_GENERIC && ir_value_is_unused(ir_op_block(op, 0)->args[i]));
}

static bool is_equal(Pairs *p, IrOp *x, IrOp *y);

// Constants and filled tensors are made anew wherever they are needed; they are not merged.
static bool is_made_anew(const IrValue *value) {
    return value->def_op &&
           (value->def_op->kind == IR_ARITH_CONSTANT || value->def_op->kind == IR_LINALG_FILL);
}

static bool is_pair(Pairs *p, IrValue *x, IrValue *y) {
    if (ir_value_map_get(p, y) == x) return true;
    return is_made_anew(x) && is_made_anew(y) && is_equal(p, x->def_op, y->def_op);
}

static bool is_equal_block(Pairs *p, const IrBlock *x, const IrBlock *y) {
    if (x->num_args != y->num_args) return false;
    for (uint32_t i = 0; i < x->num_args; i++) {
        if (x->args[i]->type != y->args[i]->type) return false;
        ir_value_map_set(p, y->args[i], x->args[i]);
    }
    IrOp *a = x->first, *b = y->first;
    for (; a && b; a = a->next, b = b->next) {
        if (!is_equal(p, a, b)) return false;
        for (uint32_t r = 0; r < a->num_results; r++)
            ir_value_map_set(p, ir_op_result(b, r), ir_op_result(a, r));
    }
    return !a && !b;
}

static bool is_equal(Pairs *p, IrOp *x, IrOp *y) {
    if (x->kind != y->kind || x->num_operands != y->num_operands ||
        x->num_results != y->num_results || x->num_attrs != y->num_attrs ||
        x->num_regions != y->num_regions)
        return false;
    for (uint32_t s = 0; s < IR_MAX_SEGMENTS; s++)
        if (x->segments[s] != y->segments[s]) return false;
    for (uint32_t i = 0; i < x->num_attrs; i++)
        if (x->attrs[i].name != y->attrs[i].name ||
            (x->attrs[i].attr != y->attrs[i].attr && !MUTATED(MERGE_ATTRIBUTES)))
            return false;
    for (uint32_t i = 0; i < x->num_results; i++)
        if (x->results[i].type != y->results[i].type) return false;
    for (uint32_t i = 0; i < x->num_operands; i++) {
        bool is_same = is_pair(p, ir_op_operand(x, i), ir_op_operand(y, i)) ||
                       (is_only_written(x, i) && is_only_written(y, i) &&
                        is_equal(p, ir_op_operand(x, i)->def_op, ir_op_operand(y, i)->def_op));
        if (!is_same) return false;
    }
    for (uint32_t r = 0; r < x->num_regions; r++) {
        const IrBlock *a = x->regions[r].first, *b = y->regions[r].first;
        for (; a && b; a = a->next, b = b->next)
            if (!is_equal_block(p, a, b)) return false;
        if (a || b) return false;
    }
    return true;
}

static bool may_merge(const IrOp *op) {
    return op->num_operands > 0 && op->num_results > 0 && op->kind != IR_TENSOR_EMPTY &&
           op->kind != IR_LINALG_FILL && dce_is_removable(op);
}

static bool is_returned(const IrValue *value) {
    FOR_EACH_USE(use, value)
    if (use->owner->kind == IR_FUNC_RETURN) return true;
    return false;
}

// Results of a function have a buffer each: one value that would be two of them is copied. What has
// no size yet stays computed twice.
static bool needs_copy(const IrOp *first, const IrOp *op, uint32_t r) {
    return is_returned(&first->results[r]) && is_returned(&op->results[r]);
}

static bool can_replace(const IrOp *first, const IrOp *op) {
    for (uint32_t r = 0; r < op->num_results; r++)
        if (needs_copy(first, op, r) && !ir_type_is_static(op->results[r].type)) return false;
    return true;
}

static void replace(IrModule *m, IrOp *first, IrOp *op) {
    for (uint32_t r = 0; r < op->num_results; r++) {
        IrValue *result = ir_op_result(op, r), *same = ir_op_result(first, r);
        bool is_copied = needs_copy(first, op, r);
        Builder b = build_before(m, op);
        FOR_EACH_USE_SAFE(use, result)
        if (is_copied && use->owner->kind == IR_FUNC_RETURN)
            ir_op_set_operand(use->owner, (uint32_t)(use - use->owner->operands),
                              build_copy(&b, same));
        ir_value_replace_all(result, same);
    }
    ir_op_erase(m, op);
}

// ---- finding equal ops: equal ones have one hash

typedef struct Slot {
    uint64_t hash;
    IrOp *op; // NULL: free
} Slot;

typedef struct Table {
    Slot *slots;
    size_t count, capacity; // a power of two
} Table;

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u; // 2^64 / golden ratio, Knuth 6.4
    return hash ^ hash >> 32;
}

static uint64_t mix_ptr(uint64_t hash, const void *ptr) {
    return mix(hash, (uint64_t)(uintptr_t)ptr);
}

static uint64_t hash_shape(uint64_t hash, const IrOp *op) {
    hash = mix(mix(hash, op->kind), op->num_operands);
    for (uint32_t i = 0; i < op->num_results; i++) hash = mix_ptr(hash, op->results[i].type);
    for (uint32_t i = 0; i < op->num_attrs && !MUTATED(MERGE_ATTRIBUTES); i++)
        hash = mix_ptr(hash, op->attrs[i].attr);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) hash = hash_shape(hash, inner);
    return hash;
}

// Operands that may differ between equal ops count by their type.
static uint64_t hash_op(const IrOp *op) {
    uint64_t hash = hash_shape(0, op);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        bool may_differ = is_made_anew(value) || is_only_written(op, i);
        hash = mix_ptr(hash, may_differ ? (const void *)value->type : (const void *)value);
    }
    return hash;
}

static void put(Table *table, uint64_t hash, IrOp *op) {
    size_t mask = table->capacity - 1, i = hash & mask;
    while (table->slots[i].op) i = (i + 1) & mask;
    table->slots[i] = (Slot){hash, op};
    table->count++;
}

static void add(Table *table, uint64_t hash, IrOp *op) {
    if (table->count * 2 >= table->capacity) {
        Table grown = {.capacity = MAX(table->capacity * 2, (size_t)64)};
        grown.slots = base_alloc(grown.capacity, sizeof *grown.slots);
        for (size_t i = 0; i < table->capacity; i++)
            if (table->slots[i].op) put(&grown, table->slots[i].hash, table->slots[i].op);
        free(table->slots);
        *table = grown;
    }
    put(table, hash, op);
}

// An op before it that does the same.
static IrOp *find_equal(const Table *table, uint64_t hash, IrOp *op) {
    if (!table->capacity) return NULL;
    size_t mask = table->capacity - 1;
    for (size_t i = hash & mask; table->slots[i].op; i = (i + 1) & mask) {
        if (table->slots[i].hash != hash) continue;
        Pairs pairs;
        ir_value_map_init(&pairs);
        bool equal = is_equal(&pairs, table->slots[i].op, op);
        ir_value_map_deinit(&pairs);
        if (equal) return table->slots[i].op;
    }
    return NULL;
}

static void merge_block(IrModule *m, IrBlock *block) {
    Table table = {0};
    FOR_EACH_OP_SAFE(op, block) {
        if (!may_merge(op)) continue;
        uint64_t hash = hash_op(op);
        IrOp *first = find_equal(&table, hash, op);
        if (!first)
            add(&table, hash, op);
        else if (can_replace(first, op))
            replace(m, first, op);
    }
    free(table.slots);
}

Status pass_merge_equal(IrModule *m, DiagSink *sink) {
    (void)sink; // nothing to refuse
    FOR_EACH_OP(func, ir_module_body(m)) {
        IrBlock *body = func->kind == IR_FUNC_FUNC ? ir_func_body(func) : NULL;
        if (body && !ir_op_attr(func, "ingot.composite")) merge_block(m, body);
    }
    dce_module(m);
    return STATUS_OK;
}
