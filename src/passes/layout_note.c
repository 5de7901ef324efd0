// Layouts weighed for a convolution; see layout_note.h.
//
// A copy into another layout reads and writes the map. Channels-last costs one where the network
// itself is channels-first: its input and its result are turned. Blocks of channels cost one where
// a map comes from or goes to something that is no convolution or pool. Channels-first needs none
// in a channels-first network, but its vectors lie along the columns, of which small maps have few.
#include "passes/layout_note.h"

#include "passes/build.h"
#include "passes/contraction.h"
#include "passes/fusion.h"

enum { LANES = 16, MAX_STEPS = 16 };

static int64_t type_bytes(const IrType *t) {
    return ir_type_num_elems(t) * ir_type_bytes(t->elem);
}

static bool is_map_op(const IrOp *op) {
    return contraction_is(op, "conv") || contraction_is(op, "window");
}

// Copies its operand in another order of dimensions.
static bool is_turning(IrModule *m, const IrOp *op) {
    if (op->kind == IR_LINALG_TRANSPOSE) return true;
    if (op->kind != IR_LINALG_GENERIC || op->segments[0] != 1 || op->segments[1] != 1) return false;
    const IrBlock *body = ir_op_block(op, 0);
    return ir_op_operand(ir_block_terminator(body), 0) == body->args[0] &&
           ir_linalg_map(m, op, 0) != ir_linalg_map(m, op, 1);
}

static bool is_elementwise(IrModule *m, const IrOp *op) {
    return op->kind == IR_LINALG_GENERIC && !is_map_op(op) && op->num_results == 1 &&
           ir_linalg_num_loops(op) == op->results[0].type->rank && !is_turning(m, op);
}

// Hands the map on, in whatever layout it has.
static bool is_passed(IrModule *m, const IrOp *op) {
    return op->kind == IR_TENSOR_INSERT_SLICE || op->kind == IR_TENSOR_EXTRACT_SLICE ||
           op->kind == IR_TENSOR_EXPAND_SHAPE || op->kind == IR_TENSOR_COLLAPSE_SHAPE ||
           is_elementwise(m, op);
}

// What makes the map, behind padding and elementwise ops; NULL: an argument.
static const IrOp *maker_of(IrModule *m, const IrValue *value) {
    const IrOp *op = value->def_op;
    for (uint32_t i = 0; op && i < MAX_STEPS && op->num_operands && is_passed(m, op); i++)
        op = ir_op_operand(op, 0)->def_op;
    return op;
}

// What reads the map, behind elementwise ops and padding.
static const IrOp *reader_of(IrModule *m, const IrValue *value) {
    const IrOp *op = NULL;
    for (uint32_t i = 0; i < MAX_STEPS && value->first_use; i++) {
        op = value->first_use->owner;
        if (!is_passed(m, op)) break;
        value = &op->results[0];
    }
    return op;
}

static const IrAttr *layout_of(IrModule *m, const char *name, int64_t bytes, const char *why) {
    IrNamedAttr entries[] = {{ir_intern(m, "bytes"), ir_attr_i64(m, bytes)},
                             {ir_intern(m, "layout"), ir_attr_string(m, name)},
                             {ir_intern(m, "reason"), ir_attr_string(m, why)}};
    return ir_attr_dict(m, ARRAY_LEN(entries), entries);
}

static void add(IrModule *m, const IrAttr *note) {
    const IrAttr *old = ir_op_attr(m->op, "ingot.layouts");
    size_t n = old && old->kind == IR_ATTR_ARRAY ? old->num_elems : 0;
    const IrAttr **elems = ARENA_ARRAY(&m->arena, const IrAttr *, n + 1);
    for (size_t i = 0; i < n; i++) elems[i] = old->elems[i];
    elems[n] = note;
    ir_op_set_attr(m, m->op, "ingot.layouts", ir_attr_array(m, n + 1, elems));
}

void layout_note_conv(IrModule *m, const IrOp *func, const IrOp *conv, int64_t tile,
                      int64_t block) {
    const IrOp *maker = maker_of(m, ir_op_operand(conv, 0));
    const IrOp *reader = reader_of(m, &conv->results[0]);
    const IrType *x = ir_op_operand(conv, 0)->type, *y = conv->results[0].type;
    bool turns_in = maker && is_turning(m, maker), turns_out = reader && is_turning(m, reader);
    bool edge_in = !maker || !is_map_op(maker), edge_out = !reader || !is_map_op(reader);
    int64_t in = 2 * type_bytes(x), out = 2 * type_bytes(y), columns = y->shape[2];
    int64_t lanes = (columns + LANES - 1) / LANES * LANES;
    int64_t last = (turns_in ? in : 0) + (turns_out ? out : 0);
    int64_t first = (edge_in && !turns_in ? in : 0) + (edge_out && !turns_out ? out : 0);
    int64_t blocked = (edge_in ? in : 0) + (edge_out ? out : 0);
    const IrAttr *others[] = {
        layout_of(m, "channels-blocked", blocked,
                  arena_printf(&m->arena,
                               "a broadcast does not care where the next column lies: "
                               "blocks of %d channels would save no load",
                               LANES)),
        layout_of(m, "channels-first", first,
                  arena_printf(&m->arena,
                               "vectors along %lld columns use %lld %% of their lanes, "
                               "and padding and strides break them",
                               (long long)columns, (long long)(100 * columns / lanes)))};
    const IrAttr *chosen =
        layout_of(m, "channels-last", last,
                  arena_printf(&m->arena,
                               "%lld output channels are vectors, every input element is "
                               "broadcast from where it lies, %lld channels at a time",
                               (long long)tile, (long long)block));
    IrNamedAttr entries[] = {
        {ir_intern(m, "alternatives"), ir_attr_array(m, ARRAY_LEN(others), others)},
        {ir_intern(m, "chosen"), chosen},
        {ir_intern(m, "func"), ir_attr_string(m, ir_symbol_name(func))},
        {ir_intern(m, "what"), ir_attr_string(m, fusion_loc_text(m, conv->loc))}};
    add(m, ir_attr_dict(m, ARRAY_LEN(entries), entries));
}
