// The layout of the maps between convolutions, by predicted cost. Maps that an op reads and writes
// in one layout are one class; convolutions end a class, since they read one layout and write
// another at no cost. For each class both layouts are weighed:
//
//   channels-last  what its convolutions fetch more than they use from beyond the second cache,
//                  because the channels of one block are lines apart (cost_map_*, cost.h)
//   blocked        what is fetched in vain because more blocks are read side by side than the
//                  prefetcher follows; and a copy of every map that comes from or goes to something
//                  that needs channels-last
//
// What does not leave the second cache costs nothing in either, so that nothing is copied there.
#include <string.h>

#include "passes/contraction.h"
#include "passes/conv.h"
#include "passes/fusion.h"
#include "passes/map_layout.h"
#include "target/cost.h"

// Of its convolutions' own time, what a layout must save to be taken: less is lost in what the
// model does not know.
static const double least_saving = 0.01;

typedef struct Class {
    double conv_clocks; // of the convolutions that read or write it, at the peak
    double write_extra, read_extra, stream_extra, copies, largest; // bytes
    double last_clocks, blocked_clocks;
    CostLevel home; // farthest of what is fetched in vain
    uint32_t num_maps, num_copies, streams;
    int64_t piece, pitch; // bytes: what a convolution writes of a pixel at once, and all of it
    const char *why_not;  // be blocked; NULL: it can be
    const IrOp *conv;     // the first that reads or writes it
    bool is_read, is_blocked;
} Class;

typedef struct Choice {
    IrModule *m;
    IrOp *func;
    const Target *target;
    MapSet set;
    Class *classes; // by root
} Choice;

static Class *class_of(Choice *c, const IrValue *map) {
    return &c->classes[map_set_root(&c->set, map)];
}

// ---- costs

static void refuse(Class *k, const char *why) {
    if (!k->why_not) k->why_not = why;
}

static void add_extra(Choice *c, Class *k, double bytes, CostLevel level, double *to) {
    *to += bytes;
    if (bytes > 0) k->home = MAX(k->home, level);
    (to == &k->stream_extra ? &k->blocked_clocks : &k->last_clocks)[0] +=
        cost_far_clocks(c->target, level, bytes);
}

static double bytes_of(const IrValue *v) {
    return (double)ir_type_num_elems(v->type) * ir_type_bytes(v->type->elem);
}

static double conv_clocks(const Choice *c, const IrOp *op, const ConvShape *s) {
    double ops = 2 * (double)ir_type_num_elems(op->results[0].type) * (double)s->r * (double)s->s *
                 (double)(s->blocks * s->block);
    return ops / target_number_or(c->target, TARGET_OPS_F32, 1);
}

static void note_conv(Class *k, const IrOp *op, double clocks, bool is_read) {
    k->conv_clocks += clocks;
    if (!k->conv) k->is_read = is_read;
    if (!k->conv) k->conv = op;
}

static void weigh_conv(Choice *c, const IrOp *op) {
    IrModule *m = c->m;
    ConvShape s;
    conv_read_raised(m, op, c->target, &s);
    const IrValue *x = ir_op_operand(op, 0), *y = &op->results[0];
    Class *in = class_of(c, x), *out = class_of(c, y);
    double clocks = conv_clocks(c, op, &s);
    int64_t inputs = s.blocks * s.block, outputs = y->type->shape[3];
    if (!map_can_be_blocked(x) || s.block != MAP_BLOCK)
        refuse(in, arena_printf(&m->arena, "%lld channels%s are no whole blocks of %d",
                                (long long)inputs, s.parts > 1 ? " of a group" : "", MAP_BLOCK));
    if (!map_can_be_blocked(y) || s.tile % MAP_BLOCK)
        refuse(out, arena_printf(&m->arena, "%lld channels%s are no whole blocks of %d",
                                 (long long)(outputs / s.parts), s.parts > 1 ? " of a group" : "",
                                 MAP_BLOCK));
    note_conv(in, op, clocks, true);
    note_conv(out, op, clocks, false);
    CostMapUse use = {.bytes = bytes_of(x),
                      .passes = (double)s.groups / (double)s.parts,
                      .piece_bytes = (double)s.block * 4,
                      .pitch_bytes = (double)x->type->shape[3] * 4,
                      .streams = (double)s.blocks};
    CostLevel level = cost_fit(c->target, 2 * use.bytes, 1);
    add_extra(c, in, cost_map_read_extra(&use), level, &in->read_extra);
    add_extra(c, in, cost_map_stream_extra(c->target, &use), level, &in->stream_extra);
    in->streams = MAX(in->streams, (uint32_t)s.blocks);
    use = (CostMapUse){.bytes = bytes_of(y),
                       .passes = 1,
                       .piece_bytes = (double)s.tile * 4,
                       .pitch_bytes = (double)outputs * 4};
    out->piece = s.tile * 4;
    out->pitch = outputs * 4;
    level = cost_fit(c->target, 2 * use.bytes, 1);
    add_extra(c, out, cost_map_write_extra(&use), level, &out->write_extra);
}

// A map in blocks is copied once for all that need it channels-last.
static void add_copy(Class *k, const IrValue *map) {
    k->copies += 2 * bytes_of(map);
    k->num_copies++;
    k->largest = MAX(k->largest, 2 * bytes_of(map));
}

// The copies come from where the maps of the class lie.
static void weigh_copies(const Choice *c, Class *k) {
    const Target *t = c->target;
    double vectors = k->copies / target_number_or(t, TARGET_VECTOR_BYTES, 16);
    CostBlock copy = {.times = vectors / 2, .ops = {[COST_LOAD] = 1, [COST_STORE] = 1}};
    CostLevel level = MAX(k->home, cost_fit(t, k->largest, 1));
    double step = t->numbers[TARGET_STEP_NS] * t->numbers[TARGET_CLOCK_MHZ] * 1e-3;
    k->blocked_clocks +=
        cost_block_clocks(t, &copy) + cost_far_clocks(t, level, k->copies) + k->num_copies * step;
}

// Does op read or make the map in the layout of its class?
static bool takes_layout(Choice *c, IrOp *op, const IrValue *map, const char **why) {
    while (op && op->block != c->set.body) op = ir_op_parent(op);
    if (!op) return false;
    if (conv_is_raised(op)) return ir_op_operand(op, 0) == map || ir_op_result(op, 0) == map;
    MapOp r = map_op_read(c->m, op, map);
    if (r.why) *why = r.why;
    return r.kind != MAP_OP_NONE;
}

static void weigh_edges(Choice *c, IrValue *map) {
    Class *k = class_of(c, map);
    const char *why = NULL;
    bool is_used = false, needs_last = false;
    FOR_EACH_USE(use, map) {
        bool takes = takes_layout(c, use->owner, map, &why);
        is_used |= takes;
        needs_last |= !takes;
    }
    k->num_maps++;
    bool is_made = map->def_op && takes_layout(c, map->def_op, map, &why);
    if (why) refuse(k, why);
    if (is_made ? needs_last : is_used) add_copy(k, map);
}

// ---- reasons

static const char *amount(IrModule *m, double bytes) {
    return bytes < 1e6 ? arena_printf(&m->arena, "%.1f KB", bytes * 1e-3)
                       : arena_printf(&m->arena, "%.1f MB", bytes * 1e-6);
}

static const char *last_reason(IrModule *m, const Class *k) {
    if (k->write_extra + k->read_extra == 0)
        return "the convolutions read and write it a whole pixel after the other";
    if (cost_level_is_near(k->home))
        return "the maps stay in the second cache, where no layout is quicker; nothing is copied";
    const char *read = k->read_extra > 0
                           ? arena_printf(&m->arena, "lines of one block read alone bring %s more",
                                          amount(m, k->read_extra))
                           : "";
    const char *write =
        k->write_extra > 0
            ? arena_printf(&m->arena, "%lld of %lld bytes of a pixel written at once bring %s more",
                           (long long)k->piece, (long long)k->pitch, amount(m, k->write_extra))
            : "";
    return arena_printf(&m->arena, "%s%s%s from %s", read, *read && *write ? ", " : "", write,
                        cost_level_name(k->home));
}

static const char *blocked_reason(IrModule *m, const Class *k) {
    if (k->why_not) return arena_printf(&m->arena, "not possible: %s", k->why_not);
    const char *copies = k->num_copies
                             ? arena_printf(&m->arena, "%u %s at its edges", k->num_copies,
                                            k->num_copies == 1 ? "copy" : "copies")
                             : "no copy at its edges";
    if (k->streams == 0) return arena_printf(&m->arena, "rows of a block lie together; %s", copies);
    return arena_printf(&m->arena,
                        "rows of a block lie together, read in %u streams, which bring %s more; %s",
                        k->streams, amount(m, k->stream_extra), copies);
}

static const IrAttr *candidate(IrModule *m, const char *name, double bytes, double clocks,
                               const char *why) {
    IrNamedAttr entries[] = {{ir_intern(m, "bytes"), ir_attr_i64(m, (int64_t)bytes)},
                             {ir_intern(m, "clocks"), ir_attr_i64(m, (int64_t)clocks)},
                             {ir_intern(m, "layout"), ir_attr_string(m, name)},
                             {ir_intern(m, "reason"), ir_attr_string(m, why)}};
    return ir_attr_dict(m, ARRAY_LEN(entries), entries);
}

static void note(Choice *c, const Class *k, const char *asked) {
    IrModule *m = c->m;
    const char *why_last = last_reason(m, k), *why_blocked = blocked_reason(m, k);
    const char *mark = asked ? " (asked for by ingot.map_layout)" : "";
    if (k->is_blocked)
        why_blocked = arena_printf(&m->arena, "%s%s", why_blocked, mark);
    else
        why_last = arena_printf(&m->arena, "%s%s", why_last, mark);
    const IrAttr *blocked = candidate(m, "blocked", k->copies, k->blocked_clocks, why_blocked);
    const IrAttr *last = candidate(m, "channels-last", 0, k->last_clocks, why_last);
    const IrAttr *other = k->is_blocked ? last : blocked;
    const char *what = arena_printf(&m->arena, "%s %s", k->is_read ? "into" : "from",
                                    fusion_loc_text(m, k->conv->loc));
    IrNamedAttr entries[] = {{ir_intern(m, "alternatives"), ir_attr_array(m, 1, &other)},
                             {ir_intern(m, "chosen"), k->is_blocked ? blocked : last},
                             {ir_intern(m, "conv_clocks"), ir_attr_i64(m, (int64_t)k->conv_clocks)},
                             {ir_intern(m, "func"), ir_attr_string(m, ir_symbol_name(c->func))},
                             {ir_intern(m, "maps"), ir_attr_i64(m, k->num_maps)},
                             {ir_intern(m, "what"), ir_attr_string(m, what)}};
    const IrAttr *old = ir_op_attr(m->op, "ingot.layouts");
    size_t n = old && old->kind == IR_ATTR_ARRAY ? old->num_elems : 0;
    const IrAttr **elems = ARENA_ARRAY(&m->arena, const IrAttr *, n + 1);
    for (size_t i = 0; i < n; i++) elems[i] = old->elems[i];
    elems[n] = ir_attr_dict(m, ARRAY_LEN(entries), entries);
    ir_op_set_attr(m, m->op, "ingot.layouts", ir_attr_array(m, n + 1, elems));
}

// ---- the choice

static void choose(Choice *c, Class *k, const char *asked) {
    weigh_copies(c, k);
    bool is_better = k->blocked_clocks + least_saving * k->conv_clocks < k->last_clocks;
    k->is_blocked = !k->why_not && (asked ? str_equal(asked, "blocked") : is_better);
    note(c, k, asked);
}

static void find_classes(Choice *c) {
    IrBlock *body = c->set.body;
    FOR_EACH_OP(op, body) {
        if (!conv_is_raised(op)) continue;
        map_set_add(&c->set, ir_op_operand(op, 0));
        map_set_add(&c->set, ir_op_result(op, 0));
    }
    FOR_EACH_OP(op, body) {
        if (conv_is_raised(op)) weigh_conv(c, op);
        for (uint32_t i = 0; i < op->num_results; i++)
            if (map_set_has(&c->set, &op->results[i])) weigh_edges(c, &op->results[i]);
    }
    for (uint32_t i = 0; i < body->num_args; i++)
        if (map_set_has(&c->set, body->args[i])) weigh_edges(c, body->args[i]);
}

static Status read_asked(IrModule *m, DiagSink *sink, const char **out_asked) {
    const IrAttr *attr = ir_op_attr(m->op, "ingot.map_layout");
    *out_asked = attr ? attr->str : NULL;
    if (!attr || str_equal(attr->str, "blocked") || str_equal(attr->str, "channels-last"))
        return STATUS_OK;
    Status status =
        diag_error(sink, DIAG_P0011, ir_loc_span(m->op->loc),
                   "module attribute ingot.map_layout: '%.60s' is no layout of maps", attr->str);
    diag_write(sink, "ingot.map_layout = \"blocked\", or \"channels-last\"");
    return status;
}

bool map_is_blocked(const MapLayouts *layouts, const IrValue *value) {
    return value->index < layouts->num && layouts->is_blocked[value->index];
}

Status map_layouts_choose(IrModule *m, IrOp *func, const Target *target, DiagSink *sink,
                          MapLayouts *out_layouts) {
    const char *asked;
    bool any = false;
    *out_layouts = (MapLayouts){0};
    TRY(read_asked(m, sink, &asked));
    FOR_EACH_OP(op, ir_func_body(func)) any |= conv_is_raised(op);
    if (!any) return STATUS_OK;
    Choice c = {.m = m, .func = func, .target = target};
    map_set_init(m, func, &c.set);
    uint32_t num = c.set.num;
    c.classes = ARENA_ARRAY(&m->arena, Class, num);
    find_classes(&c);
    for (uint32_t i = 0; i < num; i++)
        if (c.classes[i].conv) choose(&c, &c.classes[i], asked);
    *out_layouts = (MapLayouts){num, ARENA_ARRAY(&m->arena, bool, num)};
    IrBlock *body = c.set.body;
    for (uint32_t i = 0; i < body->num_args; i++)
        if (map_set_has(&c.set, body->args[i]))
            out_layouts->is_blocked[body->args[i]->index] = class_of(&c, body->args[i])->is_blocked;
    FOR_EACH_OP(op, body)
    for (uint32_t i = 0; i < op->num_results; i++)
        if (map_set_has(&c.set, &op->results[i]))
            out_layouts->is_blocked[op->results[i].index] =
                class_of(&c, &op->results[i])->is_blocked;
    return STATUS_OK;
}
