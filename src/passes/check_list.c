// The list of checks on a module; see check_faults.h.
#include <stdlib.h>
#include <string.h>

#include "passes/check_faults.h"

const char *checks_op_name(const IrOp *op) {
    const IrAttr *written = ir_op_attr(op, "ingot.written");
    return written && written->kind == IR_ATTR_STRING ? written->str : ir_op_info(op->kind)->name;
}

enum { MAX_LOOPS = 16 };

// ---------------------------------------------------------------- how often

static uint64_t rounds_of(IrModule *m, const IrOp *op) {
    int64_t lo, hi, step, loops[MAX_LOOPS];
    if (op->kind == IR_SCF_FOR) {
        bool is_known = ir_value_constant_int(ir_op_operand(op, 0), &lo) &&
                        ir_value_constant_int(ir_op_operand(op, 1), &hi) &&
                        ir_value_constant_int(ir_op_operand(op, 2), &step) && step > 0 && lo >= 0;
        return !is_known ? 0
               : hi > lo ? ((uint64_t)(hi - lo) + (uint64_t)step - 1) / (uint64_t)step
                         : 0;
    }
    if (!(ir_op_info(op->kind)->traits & IR_LINALG)) return 1;
    if (ir_linalg_num_loops(op) > MAX_LOOPS) return 0;
    uint64_t times = 1;
    ir_linalg_loop_ranges(m, op, loops);
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (loops[i] < 0 || !size_mul(times, (uint64_t)loops[i], &times)) return 0;
    return times;
}

static uint64_t times_of(IrModule *m, const IrOp *op) {
    uint64_t times = 1;
    for (const IrOp *at = ir_op_parent(op); at && at->kind != IR_FUNC_FUNC; at = ir_op_parent(at))
        if (!size_mul(times, rounds_of(m, at), &times)) return 0;
    return times;
}

// ---------------------------------------------------------------- entries

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static const IrAttr *make_entry(Checks *c, const IrOp *op, const Fault *fault, const char *why) {
    IrModule *m = c->m;
    DiagSpan span = ir_loc_span(op->loc);
    const IrAttr *numbers =
        ir_attr_dense_array(m, ir_type_int(m, 64), FAULT_NUM_NUMBERS, fault->numbers);
    IrNamedAttr entries[] = {
        {ir_intern(m, "col"), ir_attr_i64(m, span.col)},
        {ir_intern(m, "file"), ir_attr_string(m, base_name(span.file))},
        {ir_intern(m, "kind"), ir_attr_string(m, fault_name(fault->kind))},
        {ir_intern(m, "line"), ir_attr_i64(m, span.line)},
        {ir_intern(m, "numbers"), numbers},
        {ir_intern(m, "op"), ir_attr_string(m, checks_op_name(op))},
        {ir_intern(m, "proof"), ir_attr_string(m, why ? why : "")},
        {ir_intern(m, "text"), ir_attr_string(m, fault->text ? fault->text : "")},
        {ir_intern(m, "times"), ir_attr_i64(m, (int64_t)MIN(times_of(m, op), (uint64_t)INT64_MAX))},
    };
    return ir_attr_dict(m, ARRAY_LEN(entries), entries);
}

static uint32_t slot_of(const Checks *c, const IrAttr *entry) {
    uint64_t hash = (uint64_t)(uintptr_t)entry * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t slot = (uint32_t)(hash >> 32) & (c->num_slots - 1);
    while (c->slots[slot] && c->entries[c->slots[slot] - 1] != entry)
        slot = (slot + 1) & (c->num_slots - 1);
    return slot;
}

static void grow_slots(Checks *c) {
    if (2 * (c->num + 1) <= c->num_slots) return;
    free(c->slots);
    c->num_slots = c->num_slots ? 2 * c->num_slots : 64;
    c->slots = base_alloc(c->num_slots, sizeof *c->slots);
    for (uint32_t i = 0; i < c->num; i++) c->slots[slot_of(c, c->entries[i])] = i + 1;
}

// The entry's place in the list. Equal entries are one: of copies of one function.
static uint32_t add(Checks *c, const IrAttr *entry, bool is_checked) {
    grow_slots(c);
    uint32_t slot = slot_of(c, entry);
    if (c->slots[slot]) return c->slots[slot] - 1;
    ARRAY_RESERVE(c->entries, c->num, c->capacity);
    ARRAY_RESERVE(c->numbers, c->num, c->numbers_capacity);
    c->numbers[c->num] = is_checked ? c->num_checked++ : UINT32_MAX;
    c->entries[c->num++] = entry;
    c->slots[slot] = c->num;
    return c->num - 1;
}

void checks_proven(Checks *c, const IrOp *op, const Fault *fault, ValueRange range) {
    const char *why = range.min == range.max
                          ? arena_printf(&c->m->arena, "%lld", (long long)range.min)
                          : arena_printf(&c->m->arena, "%lld to %lld", (long long)range.min,
                                         (long long)range.max);
    add(c, make_entry(c, op, fault, why), false);
}

void checks_mark(Checks *c, IrOp *assertion, const IrOp *op, const Fault *fault) {
    uint32_t at = add(c, make_entry(c, op, fault, NULL), true);
    ir_op_set_attr(c->m, assertion, "ingot.check", ir_attr_i64(c->m, c->numbers[at]));
}

// What the assertion says where its value is not known.
static const IrAttr *message(Checks *c, const IrOp *op, const Fault *fault) {
    StrBuf text = {0};
    strbuf_printf(&text, "%s of %s at", fault_name(fault->kind), checks_op_name(op));
    DiagSpan span = ir_loc_span(op->loc);
    strbuf_printf(&text, " %s:%u:%u", base_name(span.file), span.line, span.col);
    const IrAttr *attr = ir_attr_string(c->m, text.data);
    strbuf_deinit(&text);
    return attr;
}

void checks_assert(Checks *c, Builder *b, const IrOp *op, const Fault *fault, IrValue *ok) {
    IrNamedAttr msg = {ir_intern(c->m, "msg"), message(c, op, fault)};
    IrOp *assertion = build_op_full(b, &(IrOpSpec){.kind = IR_CF_ASSERT,
                                                   .loc = op->loc,
                                                   .num_operands = 1,
                                                   .operands = &ok,
                                                   .num_attrs = 1,
                                                   .attrs = &msg});
    checks_mark(c, assertion, op, fault);
}

void checks_finish(Checks *c) {
    IrModule *m = c->m;
    const IrAttr **list = ARENA_ARRAY(&m->arena, const IrAttr *, MAX(c->num, 1u));
    for (uint32_t i = 0; i < c->num; i++) {
        size_t num = c->entries[i]->num_entries;
        IrNamedAttr *entries = ARENA_ARRAY(&m->arena, IrNamedAttr, num + 1);
        memcpy(entries, c->entries[i]->entries, num * sizeof *entries);
        int64_t number = c->numbers[i] == UINT32_MAX ? -1 : (int64_t)c->numbers[i];
        entries[num] = (IrNamedAttr){ir_intern(m, "number"), ir_attr_i64(m, number)};
        list[i] = ir_attr_dict(m, num + 1, entries);
    }
    ir_op_set_attr(m, m->op, "ingot.checks", ir_attr_array(m, c->num, list));
    free(c->entries);
    free(c->numbers);
    free(c->slots);
}

// ---------------------------------------------------------------- reading

static const IrAttr *list_of(const IrModule *m) {
    const IrAttr *list = ir_op_attr(m->op, "ingot.checks");
    return list && list->kind == IR_ATTR_ARRAY ? list : NULL;
}

size_t check_entries(const IrModule *m) {
    const IrAttr *list = list_of(m);
    return list ? list->num_elems : 0;
}

static bool get_int(const IrAttr *dict, const char *name, int64_t min, int64_t max, int64_t *out) {
    const IrAttr *attr = ir_attr_dict_find(dict, name);
    if (!attr || attr->kind != IR_ATTR_INT || attr->i < min || attr->i > max) return false;
    *out = attr->i;
    return true;
}

static bool get_text(const IrAttr *dict, const char *name, const char **out) {
    const IrAttr *attr = ir_attr_dict_find(dict, name);
    if (!attr || attr->kind != IR_ATTR_STRING) return false;
    *out = attr->str;
    return true;
}

bool check_entry(const IrModule *m, size_t i, CheckEntry *out_entry) {
    const IrAttr *dict = list_of(m)->elems[i];
    CheckEntry e = {0};
    int64_t line, col, times, number;
    const char *kind;
    if (dict->kind != IR_ATTR_DICT || !get_int(dict, "line", 0, UINT32_MAX, &line) ||
        !get_int(dict, "col", 0, UINT32_MAX, &col) ||
        !get_int(dict, "times", 0, INT64_MAX, &times) ||
        !get_int(dict, "number", -1, INT32_MAX, &number) || !get_text(dict, "kind", &kind) ||
        !fault_find(kind, &e.fault.kind) || !get_text(dict, "op", &e.op) ||
        !get_text(dict, "file", &e.file) || !get_text(dict, "text", &e.fault.text) ||
        !get_text(dict, "proof", &e.why))
        return false;
    const IrAttr *numbers = ir_attr_dict_find(dict, "numbers");
    if (!numbers || numbers->kind != IR_ATTR_DENSE_ARRAY ||
        numbers->num_values != FAULT_NUM_NUMBERS)
        return false;
    memcpy(e.fault.numbers, numbers->values, sizeof e.fault.numbers);
    e.line = (uint32_t)line;
    e.col = (uint32_t)col;
    e.times = (uint64_t)times;
    e.is_checked = number >= 0;
    e.number = e.is_checked ? (uint32_t)number : 0;
    *out_entry = e;
    return true;
}
