// How a loop body fits the vector registers; see kernel_count.h. Operations are taken in their
// order; a value that is needed and not in a register is loaded, and if there is no room the one
// whose next use is furthest gives way, stored first unless memory has it.
#include <math.h>
#include <stdlib.h>

#include "passes/kernel_count.h"

typedef struct Use {
    uint32_t position, next; // of the op; the value's next use, UINT32_MAX if none
} Use;

typedef struct Held {
    const IrValue *value;
    uint32_t use; // its next
    double size;  // machine vectors
    bool is_saved;
} Held;

typedef struct Registers {
    const KernelCount *c;
    const IrBlock *block;
    Use *uses;
    uint32_t num_uses;
    uint32_t *first; // by value number: its next use, plus 1
    Held *held;
    size_t num_held, capacity;
    double room, taken;
    CostBlock *out;
} Registers;

static bool is_zero(const IrAttr *value) {
    if (value->kind != IR_ATTR_DENSE || !value->is_splat) return false;
    for (size_t i = 0; i < value->len_bytes; i++)
        if (value->data[i]) return false;
    return true;
}

static const IrOp *constant_of(const IrValue *v) {
    return v->def_op && v->def_op->kind == IR_ARITH_CONSTANT ? v->def_op : NULL;
}

// Values that no register holds: scalars; zeros, which cost nothing; loads and views of them with
// one user, which takes them from memory itself, and broadcasts where it can take those.
static bool is_held(const Registers *r, const IrValue *v) {
    if (v->type->kind != IR_TYPE_VECTOR) return false;
    const IrOp *op = v->def_op;
    if (!op) return true;
    if (op->kind == IR_ARITH_CONSTANT) return !is_zero(ir_op_attr(op, "value"));
    bool takes_one = r->c->target->numbers[TARGET_ISSUE_BROADCAST] <= 0;
    return !(ir_value_has_one_use(v) &&
             ((op->kind == IR_VECTOR_BROADCAST && takes_one) || op->kind == IR_VECTOR_LOAD ||
              op->kind == IR_VECTOR_BITCAST));
}

// Equal constants of a block are one value: its first.
static const IrValue *identity(const Registers *r, const IrValue *v) {
    const IrOp *op = constant_of(v);
    if (!op || op->block != r->block) return v;
    const IrAttr *value = ir_op_attr(op, "value");
    for (const IrOp *at = r->block->first; at != op; at = at->next)
        if (at->kind == IR_ARITH_CONSTANT && ir_op_attr(at, "value") == value)
            return &at->results[0];
    return v;
}

static double size_of(const Registers *r, const IrValue *v) {
    double bits = (double)ir_type_num_elems(v->type) * (double)ir_type_bits(v->type->elem);
    return ceil(bits / 8 / target_number_or(r->c->target, TARGET_VECTOR_BYTES, 16));
}

static void list_uses(Registers *r) {
    uint32_t num_ops = 0, max_uses = 0;
    FOR_EACH_OP(op, r->block) {
        num_ops++;
        max_uses += op->num_operands;
    }
    r->uses = base_alloc(MAX(max_uses, 1u), sizeof *r->uses);
    uint32_t position = num_ops;
    for (const IrOp *op = r->block->last; op; op = op->prev, position--)
        for (uint32_t i = op->num_operands; i-- > 0;) {
            if (!is_held(r, ir_op_operand(op, i))) continue;
            const IrValue *v = identity(r, ir_op_operand(op, i));
            r->uses[r->num_uses] = (Use){position, r->first[kernel_value_place(r->c, v)] - 1};
            r->first[kernel_value_place(r->c, v)] = ++r->num_uses;
        }
}

static uint32_t next_position(const Registers *r, const Held *h) {
    return h->use == UINT32_MAX ? UINT32_MAX : r->uses[h->use].position;
}

static void drop(Registers *r, size_t i) {
    r->taken -= r->held[i].size;
    r->held[i] = r->held[--r->num_held];
}

// Makes room for size vectors, keeping what the op at `position` uses.
static void make_room(Registers *r, double size, uint32_t position) {
    while (r->taken + size > r->room) {
        size_t furthest = r->num_held;
        for (size_t i = 0; i < r->num_held; i++) {
            if (next_position(r, &r->held[i]) == position) continue;
            if (furthest == r->num_held ||
                next_position(r, &r->held[i]) > next_position(r, &r->held[furthest]))
                furthest = i;
        }
        if (furthest == r->num_held) return;
        if (!r->held[furthest].is_saved) r->out->spill_stores += r->held[furthest].size;
        drop(r, furthest);
    }
}

static void hold(Registers *r, const IrValue *v, bool is_saved) {
    if (r->num_held == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->held = base_realloc(r->held, r->capacity, sizeof *r->held);
    }
    double size = size_of(r, v);
    r->held[r->num_held++] = (Held){.value = v,
                                    .use = r->first[kernel_value_place(r->c, v)] - 1,
                                    .size = size,
                                    .is_saved = is_saved};
    r->taken += size;
}

static Held *find(Registers *r, const IrValue *v) {
    for (size_t i = 0; i < r->num_held; i++)
        if (r->held[i].value == v) return &r->held[i];
    return NULL;
}

// All values of the op are in registers; then those used for the last time are free.
static void take_operands(Registers *r, const IrOp *op, uint32_t position) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (!is_held(r, ir_op_operand(op, i))) continue;
        const IrValue *v = identity(r, ir_op_operand(op, i));
        Held *held = find(r, v);
        if (!held) {
            make_room(r, size_of(r, v), position);
            hold(r, v, true);
            r->out->spill_loads += size_of(r, v);
            held = find(r, v);
        }
        while (held->use != UINT32_MAX && r->uses[held->use].position <= position)
            held->use = r->uses[held->use].next;
        r->first[kernel_value_place(r->c, v)] = held->use + 1;
    }
}

static bool comes_from_outside(const Registers *r, const IrValue *v) {
    return constant_of(v) || (v->def_op ? v->def_op->block != r->block : true);
}

static void run(Registers *r) {
    uint32_t position = 1;
    double live = 0;          // without a limit
    FOR_EACH_OP(op, r->block) // at the start: what comes from outside, soonest used first
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (!is_held(r, ir_op_operand(op, i))) continue;
        const IrValue *v = identity(r, ir_op_operand(op, i));
        if (!comes_from_outside(r, v) || find(r, v)) continue;
        live += size_of(r, v);
        if (r->taken + size_of(r, v) <= r->room) hold(r, v, v->def_op != NULL);
    }
    r->out->live_vectors = live;
    FOR_EACH_OP(op, r->block) {
        take_operands(r, op, position);
        bool is_end = op == r->block->last;
        for (size_t i = 0; i < r->num_held && !is_end;) {
            bool is_kept = r->held[i].use != UINT32_MAX ||
                           (r->held[i].value->def_op && comes_from_outside(r, r->held[i].value));
            if (!is_kept)
                drop(r, i);
            else
                i++;
        }
        for (uint32_t i = 0; i < op->num_results; i++) {
            const IrValue *v = &op->results[i];
            if (op->kind == IR_ARITH_CONSTANT || !is_held(r, v) ||
                r->first[kernel_value_place(r->c, v)] == 0)
                continue;
            make_room(r, size_of(r, v), position);
            hold(r, v, false);
        }
        r->out->live_vectors = MAX(r->out->live_vectors, r->taken);
        position++;
    }
}

void kernel_count_registers(const KernelCount *c, const IrBlock *block, CostBlock *out_block) {
    Registers r = {.c = c,
                   .block = block,
                   .room = target_number_or(c->target, TARGET_REGISTERS, 16),
                   .out = out_block};
    r.first = base_alloc(c->values.count, sizeof *r.first);
    list_uses(&r);
    run(&r);
    free(r.first);
    free(r.uses);
    free(r.held);
}
