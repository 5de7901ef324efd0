// Reads entries as plans; see plan_build.h.
#include "compiler/plan_build.h"

#include <stdlib.h>
#include <string.h>

#include "abi/dtype.h"
#include "abi/kernel_abi.h"
#include "abi/plan_size.h"
#include "compiler/check_table.h"
#include "ir/print.h"
#include "passes/entry.h"
#include "passes/primitive.h"
#include "passes/sizes.h"

#define PUSH(array, count, capacity, value)                                                        \
    do {                                                                                           \
        ARRAY_RESERVE(array, count, capacity);                                                     \
        (array)[(count)++] = (value);                                                              \
    } while (0)

typedef struct Reader {
    PlanBuild *build;
    IrModule *m;
    const WeightsImage *image;
    DiagSink *sink;
    bool is_sync;
    IrOp *entry;
    IrValue *start, *num_valid; // index arguments
    PlanKernel *kernels;
    const char **names, **kinds;
    size_t num_kernels, kernels_capacity, names_capacity, kinds_capacity, num_names, num_kinds;
    PlanEntry *entries;
    size_t num_entries, entries_capacity;
    PlanStep *steps;
    size_t num_steps, steps_capacity;
    PlanBuffer *buffers;
    size_t num_buffers, buffers_capacity;
    PlanScalar *scalars;
    size_t num_scalars, scalars_capacity;
    PlanPort *ports;
    size_t num_ports, ports_capacity;
    PlanSize *sizes;
    size_t num_sizes, sizes_capacity;
    uint32_t first_port; // of the entry at hand
    SizeRanges ranges;   // of the entry at hand
    SizeVersions versions;
    uint64_t kv_bytes, kv_cache_bytes, arena_bytes, ports_bytes; // kv_cache_bytes: of one cache
} Reader;

uint32_t plan_build_string(PlanBuild *build, const char *text) {
    size_t len = strlen(text);
    for (size_t at = 0; at < build->strings.len; at += strlen(build->strings.data + at) + 1)
        if (str_equal(build->strings.data + at, text)) return (uint32_t)at;
    uint32_t offset = (uint32_t)build->strings.len;
    strbuf_append(&build->strings, text, len + 1);
    return offset;
}

static Status refuse(Reader *r, const IrOp *op, const char *what) {
    return diag_error(r->sink, DIAG_P0007, ir_loc_span(op->loc), "@%s: %s in %s",
                      ir_symbol_name(r->entry), what, ir_op_info(op->kind)->name);
}

static uint64_t type_bytes(const IrType *t) {
    return (uint64_t)ir_type_num_elems(t) * ir_type_bytes(t->elem);
}

// ---- buffers

static bool is_kv(const Reader *r, uint32_t arg) {
    return ir_func_arg_attr(r->entry, arg, "ingot.kv") != NULL;
}

// Caches lie one after another in the order of the entry's arguments, the same for all entries.
static uint64_t kv_offset(const Reader *r, uint32_t arg) {
    uint64_t offset = 0;
    IrBlock *body = ir_func_body(r->entry);
    for (uint32_t i = 0; i < arg; i++)
        if (is_kv(r, i))
            offset += align_up(type_bytes(body->args[i]->type), PLAN_BUFFER_ALIGN_BYTES);
    return offset;
}

// An entry without buckets of tokens takes and gives tensors.
static bool is_general(const IrOp *entry) {
    return !ir_op_attr(entry, "ingot.bucket");
}

// The argument is the entry's own business: a weight, a constant, the arena.
static bool is_internal(const Reader *r, uint32_t arg) {
    return weights_image_find(r->image, r->entry, arg) ||
           ir_func_arg_attr(r->entry, arg, "ingot.arena");
}

// Ports are listed in the order of the arguments.
static PlanBuffer port_buffer(const Reader *r, uint32_t arg) {
    size_t port = r->first_port;
    for (uint32_t i = 0; i < arg; i++) port += !is_internal(r, i);
    return (PlanBuffer){.space = SPACE_PORTS,
                        .offset = r->ports[port].offset,
                        .len_bytes = r->ports[port].len_bytes};
}

static bool arg_buffer(Reader *r, const IrValue *arg, PlanBuffer *out) {
    uint32_t i = arg->number;
    const IrType *t = arg->type;
    const ImageItem *item = weights_image_find(r->image, r->entry, i);
    *out = (PlanBuffer){.len_bytes = type_bytes(t)};
    if (item) {
        out->space = SPACE_WEIGHTS;
        out->offset = item->offset;
    } else if (ir_func_arg_attr(r->entry, i, "ingot.arena"))
        out->space = SPACE_ARENA;
    else if (is_kv(r, i)) {
        out->space = SPACE_KV;
        out->offset = kv_offset(r, i);
    } else if (is_general(r->entry)) {
        *out = port_buffer(r, i);
    } else if (ir_func_arg_attr(r->entry, i, "ingot.result"))
        out->space = SPACE_LOGITS;
    else if (i == 0)
        out->space = SPACE_TOKENS;
    else if (entry_is_batch(r->entry) && t->rank == 1 && t->elem->kind == IR_TYPE_INT)
        out->space = SPACE_STARTS;
    else if (t->rank <= 2 && t->elem->kind == IR_TYPE_INT)
        out->space = SPACE_PAGES;
    else
        return false;
    return true;
}

// The place of a memref: an argument, or a view with constant offset of one.
static Status resolve(Reader *r, const IrValue *memref, PlanBuffer *out) {
    const IrOp *op = memref->def_op;
    if (!op)
        return arg_buffer(r, memref, out) ? STATUS_OK
                                          : refuse(r, r->entry, "an argument of unknown role");
    int64_t offset = 0;
    switch (op->kind) {
    case IR_MEMREF_VIEW:
        if (!ir_value_constant_int(ir_op_operand(op, 1), &offset))
            return refuse(r, op, "an offset that varies");
        TRY(resolve(r, ir_op_operand(op, 0), out));
        out->offset += (uint64_t)offset;
        out->len_bytes = type_bytes(memref->type);
        return STATUS_OK;
    case IR_MEMREF_COLLAPSE_SHAPE:
    case IR_MEMREF_EXPAND_SHAPE:
    case IR_MEMREF_CAST:
    case IR_MEMREF_ASSUME_ALIGNMENT: return resolve(r, ir_op_operand(op, 0), out);
    default: return refuse(r, op, "a buffer made");
    }
}

static bool is_written(const IrOp *kernel, uint32_t arg) {
    return ir_func_arg_attr(kernel, arg, "ingot.result") ||
           ir_func_arg_attr(kernel, arg, "ingot.inout");
}

// ---- kernels

static uint32_t kernel_number(Reader *r, const IrOp *kernel) {
    const char *name = ir_symbol_name(kernel);
    for (size_t i = 0; i < r->num_kernels; i++)
        if (str_equal(r->names[i], name)) return (uint32_t)i;
    const IrAttr *kind = ir_op_attr(kernel, "ingot.kernel");
    PlanKernel k = {.name = plan_build_string(r->build, name),
                    .kind = plan_build_string(r->build, kind->str)};
    IrBlock *body = ir_func_body(kernel);
    for (uint32_t i = 0; i < body->num_args; i++) {
        if (body->args[i]->type->kind == IR_TYPE_MEMREF)
            k.num_buffers++;
        else
            k.num_scalars++;
    }
    k.num_scalars -= 2; // the tile range
    PUSH(r->kernels, r->num_kernels, r->kernels_capacity, k);
    PUSH(r->names, r->num_names, r->names_capacity, arena_strdup(&r->build->arena, name));
    PUSH(r->kinds, r->num_kinds, r->kinds_capacity, arena_strdup(&r->build->arena, kind->str));
    return (uint32_t)(r->num_kernels - 1);
}

// ---- scalars and tiles

static bool read_scalar(const Reader *r, const IrValue *v, PlanScalar *out) {
    int64_t value;
    if (v == r->start)
        *out = (PlanScalar){.kind = SCALAR_START};
    else if (v == r->num_valid)
        *out = (PlanScalar){.kind = SCALAR_NUM_VALID};
    else if (ir_value_constant_int(v, &value))
        *out = (PlanScalar){.kind = SCALAR_CONST, .value = value};
    else
        return false;
    return true;
}

// mul * ceil(d0 / div) as an affine expression.
static bool read_tiles_expr(const IrAffineExpr *e, int64_t *mul, int64_t *div) {
    *mul = *div = 1;
    if (e->kind == IR_AFFINE_MUL && e->rhs->kind == IR_AFFINE_CONST) {
        *mul = e->rhs->value;
        e = e->lhs;
    }
    if (e->kind == IR_AFFINE_CEILDIV && e->rhs->kind == IR_AFFINE_CONST) {
        *div = e->rhs->value;
        e = e->lhs;
    }
    return e->kind == IR_AFFINE_DIM && *mul >= 0 && *div >= 1;
}

static bool read_tiles(const Reader *r, const IrValue *v, PlanStep *step) {
    step->tiles_mul = step->tiles_div = 1;
    if (read_scalar(r, v, &step->tiles_of)) return true;
    const IrOp *op = v->def_op;
    if (!op || op->kind != IR_AFFINE_APPLY || op->num_operands != 1) return false;
    return read_scalar(r, ir_op_operand(op, 0), &step->tiles_of) &&
           read_tiles_expr(ir_op_attr(op, "map")->map->results[0], &step->tiles_mul,
                           &step->tiles_div);
}

static Status read_call(Reader *r, const IrOp *call) {
    const IrOp *kernel = ir_call_callee(r->m, call);
    int64_t begin;
    if (!kernel || !ir_op_attr(kernel, "ingot.kernel") || call->num_operands < 2 ||
        !ir_value_constant_int(ir_op_operand(call, call->num_operands - 2), &begin) || begin != 0)
        return refuse(r, call, "a call that is no kernel");
    PlanStep step = {.kernel = kernel_number(r, kernel),
                     .first_buffer = (uint32_t)r->num_buffers,
                     .first_scalar = (uint32_t)r->num_scalars,
                     .needs_barrier = 1};
    for (uint32_t i = 0; i + 2 < call->num_operands; i++) {
        const IrValue *v = ir_op_operand(call, i);
        if (v->type->kind == IR_TYPE_MEMREF) {
            PlanBuffer buffer;
            TRY(resolve(r, v, &buffer));
            PUSH(r->buffers, r->num_buffers, r->buffers_capacity, buffer);
        } else {
            PlanScalar scalar;
            if (!read_scalar(r, v, &scalar))
                return refuse(r, call, "a scalar that is neither given nor constant");
            PUSH(r->scalars, r->num_scalars, r->scalars_capacity, scalar);
        }
    }
    if (!read_tiles(r, ir_op_operand(call, call->num_operands - 1), &step))
        return refuse(r, call, "a tile count of another form");
    if (step.tiles_of.kind == SCALAR_CONST && step.tiles_of.value > PLAN_MAX_TILES) {
        Status status = refuse(r, call, "more pieces of work than a step can have,");
        diag_evidence(r->sink, "%lld pieces; the most is %d", (long long)step.tiles_of.value,
                      (int)PLAN_MAX_TILES);
        diag_write(r->sink, "tensors with a smaller first size");
        return status;
    }
    PUSH(r->steps, r->num_steps, r->steps_capacity, step);
    return STATUS_OK;
}

// ---- buffers and steps

static bool overlap(const PlanBuffer *a, const PlanBuffer *b) {
    return a->space == b->space && a->offset < b->offset + b->len_bytes &&
           b->offset < a->offset + a->len_bytes;
}

static bool contains(const PlanBuffer *a, const PlanBuffer *b) {
    return a->space == b->space && a->offset <= b->offset &&
           b->offset + b->len_bytes <= a->offset + a->len_bytes;
}

static const IrOp *kernel_of(const Reader *r, uint32_t step) {
    return ir_symbol_find(r->m, r->names[r->steps[step].kernel]);
}

static PlanBuffer *buffer_of(const Reader *r, uint32_t step, uint32_t b) {
    return &r->buffers[r->steps[step].first_buffer + b];
}

static uint32_t num_buffers_of(const Reader *r, uint32_t step) {
    return r->kernels[r->steps[step].kernel].num_buffers;
}

static bool is_result_only(const IrOp *kernel, uint32_t b) {
    return ir_func_arg_attr(kernel, b, "ingot.result") &&
           !ir_func_arg_attr(kernel, b, "ingot.inout");
}

// Is all of `buffer` written by a step of [first, end)?
static bool is_rewritten(const Reader *r, uint32_t first, uint32_t end, const PlanBuffer *buffer) {
    for (uint32_t i = first; i < end; i++)
        for (uint32_t b = 0; b < num_buffers_of(r, i); b++)
            if (is_result_only(kernel_of(r, i), b) && contains(buffer_of(r, i, b), buffer))
                return true;
    return false;
}

// ---- barriers: none between steps that touch nothing in common that one of them writes, unless
// the recipe wants one after every step

static bool conflict(const Reader *r, const PlanStep *a, const PlanStep *b) {
    const IrOp *ka = ir_symbol_find(r->m, r->names[a->kernel]),
               *kb = ir_symbol_find(r->m, r->names[b->kernel]);
    for (uint32_t i = 0; i < r->kernels[a->kernel].num_buffers; i++)
        for (uint32_t j = 0; j < r->kernels[b->kernel].num_buffers; j++)
            if ((is_written(ka, i) || is_written(kb, j)) &&
                overlap(&r->buffers[a->first_buffer + i], &r->buffers[b->first_buffer + j]))
                return true;
    return false;
}

static void place_barriers(Reader *r, uint32_t first, uint32_t num) {
    uint32_t since = first; // first step after the last barrier
    for (uint32_t i = first; i + 1 < first + num; i++) {
        bool is_needed = r->is_sync;
        for (uint32_t j = since; j <= i && !is_needed; j++)
            is_needed = conflict(r, &r->steps[j], &r->steps[i + 1]);
        r->steps[i].needs_barrier = is_needed;
        if (is_needed) since = i + 1;
    }
}

// Steps behind the last one that writes the cache serve the logits only.
static uint32_t head_steps(const Reader *r, uint32_t first, uint32_t num) {
    for (uint32_t i = num; i-- > 0;) {
        const PlanStep *step = &r->steps[first + i];
        const IrOp *kernel = ir_symbol_find(r->m, r->names[step->kernel]);
        for (uint32_t b = 0; b < r->kernels[step->kernel].num_buffers; b++)
            if (is_written(kernel, b) && r->buffers[step->first_buffer + b].space == SPACE_KV)
                return num - 1 - i;
    }
    return 0;
}

// May the steps [first, end) run again? What they read is made by one of them before, or is written
// by none of them.
static bool head_repeats(const Reader *r, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++)
        for (uint32_t b = 0; b < num_buffers_of(r, i); b++) {
            const PlanBuffer *read = buffer_of(r, i, b);
            if (is_result_only(kernel_of(r, i), b) || is_rewritten(r, first, i, read)) continue;
            for (uint32_t j = first; j < end; j++)
                for (uint32_t k = 0; k < num_buffers_of(r, j); k++)
                    if (is_written(kernel_of(r, j), k) && overlap(read, buffer_of(r, j, k)))
                        return false;
        }
    return first < end;
}

static Status read_steps(Reader *r, PlanEntry *e) {
    FOR_EACH_OP(op, ir_func_body(r->entry)) {
        switch (op->kind) {
        case IR_FUNC_CALL: TRY(read_call(r, op)); break;
        case IR_ARITH_CONSTANT:
        case IR_AFFINE_APPLY:
        case IR_MEMREF_VIEW:
        case IR_MEMREF_COLLAPSE_SHAPE:
        case IR_MEMREF_EXPAND_SHAPE:
        case IR_MEMREF_CAST:
        case IR_MEMREF_ASSUME_ALIGNMENT:
        case IR_FUNC_RETURN: break;
        default: return refuse(r, op, "an op that is no step");
        }
    }
    e->num_steps = (uint32_t)r->num_steps - e->first_step;
    place_barriers(r, e->first_step, e->num_steps);
    return STATUS_OK;
}

// ---- entries that take tensors

static Status refuse_port(Reader *r, uint32_t arg, const char *what) {
    return diag_error(r->sink, DIAG_P0007, ir_loc_span(r->entry->loc), "@%s: argument %u %s",
                      ir_symbol_name(r->entry), arg, what);
}

// Bytes of a port in one version; false: more than can be counted. names: numbers of its sizes
// among the ranges, -1: the dimension is a number.
static bool version_bytes(const Reader *r, const PlanPort *port, const int32_t *names,
                          uint32_t version, uint64_t *out) {
    *out = dtype_info((Dtype)port->dtype)->bytes;
    for (uint32_t d = 0; d < port->rank; d++) {
        int64_t size = names[d] < 0 ? port->dims[d] : r->versions.of[version][names[d]];
        if (!size_mul(*out, (uint64_t)size, out)) return false;
    }
    return true;
}

// The names of the dimensions of an argument, and the most bytes it has in a version of the entry:
// versions have their ports at the same places.
static Status name_dims(Reader *r, uint32_t arg, PlanPort *port, uint64_t *out_most_bytes) {
    const IrAttr *dims = ir_func_arg_attr(r->entry, arg, "ingot.dims");
    int32_t names[PLAN_MAX_RANK];
    if (dims && (dims->kind != IR_ATTR_ARRAY || dims->num_elems != port->rank))
        return refuse_port(r, arg, "has other dimensions than ingot.dims says");
    for (uint32_t d = 0; d < port->rank; d++) {
        names[d] = -1;
        if (dims && dims->elems[d]->kind != IR_ATTR_STRING)
            return refuse_port(r, arg, "has dimensions without names");
        for (uint32_t i = 0; dims && i < r->ranges.num; i++)
            if (str_equal(r->ranges.of[i].name, dims->elems[d]->str)) {
                port->dim_names[d] = plan_build_string(r->build, dims->elems[d]->str);
                names[d] = (int32_t)i;
            }
    }
    *out_most_bytes = 0;
    for (uint32_t v = 0; v < r->versions.num; v++) {
        uint64_t bytes;
        if (!version_bytes(r, port, names, v, &bytes))
            return refuse_port(r, arg, "is too large in the largest version");
        *out_most_bytes = MAX(*out_most_bytes, bytes);
    }
    return STATUS_OK;
}

static const char *port_name(const Reader *r, uint32_t arg, PlanPortKind *out_kind) {
    const IrAttr *count = ir_func_arg_attr(r->entry, arg, "ingot.count");
    const IrAttr *name = count ? count : ir_func_arg_attr(r->entry, arg, "ingot.name");
    *out_kind = count                                             ? PORT_COUNT
                : ir_func_arg_attr(r->entry, arg, "ingot.result") ? PORT_RESULT
                                                                  : PORT_ARGUMENT;
    return name && name->kind == IR_ATTR_STRING ? name->str : NULL;
}

// Gives the ports of the entry their places, one after another.
static Status read_ports(Reader *r, PlanEntry *e) {
    IrBlock *body = ir_func_body(r->entry);
    uint64_t end = 0, most_bytes;
    for (uint32_t i = 0; i < body->num_args; i++) {
        const IrType *type = body->args[i]->type;
        if (ir_func_arg_attr(r->entry, i, "ingot.arena"))
            r->arena_bytes = MAX(r->arena_bytes, type_bytes(type));
        if (is_internal(r, i)) continue;
        if (type->kind != IR_TYPE_MEMREF || !ir_type_is_static(type))
            return refuse_port(r, i, "is no tensor of known size");
        if (type->rank > PLAN_MAX_RANK) return refuse_port(r, i, "has more than 16 dimensions");
        StrBuf elem = {0};
        ir_print_type(type->elem, &elem);
        Dtype dtype = DTYPE_F32;
        bool is_known = dtype_find(elem.data, &dtype);
        strbuf_deinit(&elem);
        if (!is_known) return refuse_port(r, i, "has an element type that no file can hold");
        PlanPortKind kind;
        const char *name = port_name(r, i, &kind);
        if (!name) return refuse_port(r, i, "has no name (ingot.name)");
        if (kind == PORT_COUNT && (type->rank != 0 || type->elem->kind != IR_TYPE_INDEX))
            return refuse_port(r, i, "counts elements and is no index");
        PlanPort port = {.name = plan_build_string(r->build, name),
                         .dtype = dtype,
                         .rank = type->rank,
                         .kind = kind,
                         .offset = end,
                         .len_bytes = type_bytes(type)};
        if (type->rank) memcpy(port.dims, type->shape, type->rank * sizeof *type->shape);
        TRY(name_dims(r, i, &port, &most_bytes));
        end = align_up(end + MAX(most_bytes, port.len_bytes), PLAN_BUFFER_ALIGN_BYTES);
        PUSH(r->ports, r->num_ports, r->ports_capacity, port);
        e->num_ports++;
    }
    r->ports_bytes = MAX(r->ports_bytes, end);
    return STATUS_OK;
}

// The sizes of an entry, once for all its versions.
static void read_sizes(Reader *r, const PlanEntry *e) {
    for (size_t i = 0; i < r->num_sizes; i++)
        if (r->sizes[i].entry == e->name) return;
    for (uint32_t i = 0; i < r->ranges.num; i++) {
        const SizeRange *range = &r->ranges.of[i];
        PlanSize size = {.entry = e->name,
                         .name = plan_build_string(r->build, range->name),
                         .at = plan_build_string(r->build, range->at),
                         .range = range->is};
        PUSH(r->sizes, r->num_sizes, r->sizes_capacity, size);
    }
}

static Status read_general_entry(Reader *r) {
    r->first_port = (uint32_t)r->num_ports;
    const IrAttr *name = ir_op_attr(r->entry, "ingot.entry");
    const char *called =
        name && name->kind == IR_ATTR_STRING ? name->str : ir_symbol_name(r->entry);
    PlanEntry e = {.first_step = (uint32_t)r->num_steps,
                   .first_port = r->first_port,
                   .name = plan_build_string(r->build, called)};
    TRY(size_ranges_read(r->entry, r->sink, &r->ranges));
    BUG_IF(!size_ranges_versions(&r->ranges, &r->versions), "more versions than were read");
    TRY(read_ports(r, &e));
    TRY(read_steps(r, &e));
    read_sizes(r, &e);
    PUSH(r->entries, r->num_entries, r->entries_capacity, e);
    return STATUS_OK;
}

static Status read_entry(Reader *r, IrOp *entry) {
    r->entry = entry;
    r->start = r->num_valid = NULL;
    IrBlock *body = ir_func_body(entry);
    if (is_general(entry)) return read_general_entry(r);
    for (uint32_t i = 0; i < body->num_args; i++) {
        IrValue *arg = body->args[i];
        if (arg->type->kind == IR_TYPE_INDEX) {
            if (!r->start)
                r->start = arg;
            else
                r->num_valid = arg;
        }
        if (ir_func_arg_attr(entry, i, "ingot.arena"))
            r->arena_bytes = MAX(r->arena_bytes, type_bytes(arg->type));
    }
    bool is_batch = entry_is_batch(entry); // positions are a tensor, the count is the only index
    if (is_batch && !r->num_valid) {
        r->num_valid = r->start;
        r->start = NULL;
    }
    if (!r->num_valid || is_batch == (r->start != NULL))
        return refuse(r, entry, "no position and token count");
    r->kv_bytes = kv_offset(r, body->num_args);
    for (uint32_t i = 0; i < body->num_args; i++) {
        uint64_t bytes = is_kv(r, i) ? type_bytes(body->args[i]->type) : 0;
        if (bytes && r->kv_cache_bytes && bytes != r->kv_cache_bytes)
            return refuse(r, entry, "caches of several sizes");
        if (bytes) r->kv_cache_bytes = bytes;
    }
    const IrAttr *bucket = ir_op_attr(entry, "ingot.bucket");
    if (bucket->kind != IR_ATTR_INT) return refuse(r, entry, "no bucket");
    PlanEntry e = {.bucket_tokens = (uint32_t)bucket->i,
                   .first_step = (uint32_t)r->num_steps,
                   .name = plan_build_string(r->build, ir_symbol_name(entry)),
                   .is_batch = is_batch};
    TRY(read_steps(r, &e));
    if (!is_batch) { // every call of a batch wants its logits
        e.num_head_steps = head_steps(r, e.first_step, e.num_steps);
        uint32_t end = e.first_step + e.num_steps;
        e.repeats_head = head_repeats(r, end - e.num_head_steps, end);
    }
    PUSH(r->entries, r->num_entries, r->entries_capacity, e);
    return STATUS_OK;
}

static int by_bucket(const void *a, const void *b) {
    const PlanEntry *x = a, *y = b;
    if (x->is_batch != y->is_batch) return x->is_batch ? 1 : -1;
    if (x->bucket_tokens != y->bucket_tokens) return x->bucket_tokens < y->bucket_tokens ? -1 : 1;
    return x->first_step < y->first_step ? -1 : x->first_step > y->first_step;
}

#define KEEP(field, array, number)                                                                 \
    build->tables.field = arena_memdup(&build->arena, array, number, sizeof *(array));             \
    build->tables.num_##field = number

static void keep_tables(Reader *r) {
    PlanBuild *build = r->build;
    KEEP(kernels, r->kernels, r->num_kernels);
    KEEP(entries, r->entries, r->num_entries);
    KEEP(steps, r->steps, r->num_steps);
    KEEP(buffers, r->buffers, r->num_buffers);
    KEEP(scalars, r->scalars, r->num_scalars);
    KEEP(ports, r->ports, r->num_ports);
    build->sizes = arena_memdup(&build->arena, r->sizes, r->num_sizes, sizeof *r->sizes);
    build->num_sizes = r->num_sizes;
    build->kernel_names = arena_memdup(&build->arena, r->names, r->num_kernels, sizeof *r->names);
    build->kernel_kinds = arena_memdup(&build->arena, r->kinds, r->num_kernels, sizeof *r->kinds);
    build->kernel_scratch_bytes = ARENA_ARRAY(&build->arena, uint64_t, r->num_kernels);
    for (size_t k = 0; k < r->num_kernels; k++)
        build->kernel_scratch_bytes[k] = kernel_scratch_bytes(ir_symbol_find(r->m, r->names[k]));
}

static uint32_t largest_bucket(const Reader *r) {
    uint32_t most = 0;
    for (size_t i = 0; i < r->num_entries; i++) most = MAX(most, r->entries[i].bucket_tokens);
    return most;
}

static uint32_t vocabulary(IrModule *m) {
    FOR_EACH_OP(entry, ir_module_body(m)) {
        if (entry->kind != IR_FUNC_FUNC || ir_op_attr(entry, "sym_visibility") ||
            is_general(entry) || entry_is_batch(entry))
            continue;
        IrBlock *body = ir_func_body(entry);
        for (uint32_t i = 0; i < body->num_args; i++)
            if (ir_func_arg_attr(entry, i, "ingot.result") &&
                !ir_func_arg_attr(entry, i, "ingot.kv"))
                return (uint32_t)ir_type_num_elems(body->args[i]->type);
    }
    return 0;
}

Status plan_build(IrModule *m, const WeightsImage *image, const PassConfig *config, DiagSink *sink,
                  PlanBuild *out_build) {
    PlanBuild build = {0};
    arena_init(&build.arena);
    strbuf_append(&build.strings, "", 1); // offset 0: the empty text
    Reader r = {.build = &build, .m = m, .image = image, .sink = sink, .is_sync = config->is_sync};
    Status status = STATUS_OK;
    FOR_EACH_OP(op, ir_module_body(m)) {
        bool is_entry =
            op->kind == IR_FUNC_FUNC && ir_func_body(op) && !ir_op_attr(op, "sym_visibility");
        if (is_entry && status == STATUS_OK) status = read_entry(&r, op);
    }
    if (status == STATUS_OK && r.num_entries == 0) {
        r.entry = m->op;
        status = diag_error(sink, DIAG_P0007, (DiagSpan){0}, "the module has no entry function");
    }
    if (status == STATUS_OK) {
        array_sort(r.entries, r.num_entries, sizeof *r.entries, by_bucket);
        keep_tables(&r);
        status = check_table_build(m, &build, sink);
    }
    if (status == STATUS_OK) {
        PlanHeader *h = &build.tables.header;
        h->kernel_abi_version = KERNEL_ABI_VERSION;
        h->max_threads = config->threads;
        h->vocab_size = vocabulary(m);
        h->page_len_tokens = (uint32_t)config->page_len_tokens; // 0 without a language model
        h->max_pages = (uint32_t)config->max_pages;
        h->num_pages = (uint32_t)config->num_pages;
        h->max_sequences = h->max_pages == 0 ? 0
                           : config->num_batches > 0
                               ? (uint32_t)config->batches[config->num_batches - 1]
                               : 1;
        h->ports_bytes = r.ports_bytes;
        h->context_len_tokens = h->page_len_tokens * h->max_pages;
        h->weights_bytes = image->len_bytes;
        h->arena_bytes = r.arena_bytes;
        h->kv_bytes = r.kv_bytes;
        h->kv_page_bytes = r.kv_cache_bytes / MAX(h->num_pages, 1u);
        h->io_bytes = plan_io_layout(h, largest_bucket(&r)).io_bytes;
    }
    free(r.kernels);
    free(r.names);
    free(r.kinds);
    free(r.entries);
    free(r.steps);
    free(r.buffers);
    free(r.scalars);
    free(r.ports);
    free(r.sizes);
    if (status != STATUS_OK) {
        plan_build_deinit(&build);
        return status;
    }
    *out_build = build;
    return STATUS_OK;
}

// A range is in the plan where the recipe refuses what would be padded otherwise.
static void add_range(PlanBuild *build, const char *name, const RecipeRange *range,
                      const Recipe *recipe, RecipeKey off_step, RecipeKey below) {
    bool rejects = str_equal(range->off_step, "reject"),
         rejects_below = str_equal(range->out_of_range, "reject");
    if (!rejects && !rejects_below) return;
    uint32_t line = recipe->spans[rejects ? off_step : below].line;
    const char *at = arena_printf(&build->arena, RECIPE_NEUTRAL_NAME ":%u", line);
    BucketRange is = {.min = rejects_below ? range->min : 1,
                      .max = range->max,
                      .step = range->step,
                      .rejects_off_step = rejects};
    is.first = bucket_range_first(&is, range->min);
    build->sizes[build->num_sizes++] = (PlanSize){
        .name = plan_build_string(build, name), .at = plan_build_string(build, at), .range = is};
}

void plan_build_guards(PlanBuild *build, const Recipe *recipe) {
    if (!recipe_is_subgraph(recipe)) {
        build->sizes = ARENA_ARRAY(&build->arena, PlanSize, 2);
        build->num_sizes = 0;
        add_range(build, "batch_size", &recipe->batch_size, recipe, RECIPE_BATCH_OFF_STEP,
                  RECIPE_BATCH_BELOW);
        add_range(build, "seq_len", &recipe->seq_len, recipe, RECIPE_SEQ_OFF_STEP,
                  RECIPE_SEQ_BELOW);
    }
    uint32_t num = recipe->relations.num;
    build->relations = ARENA_ARRAY(&build->arena, PlanRelation, num);
    build->num_relations = num;
    for (uint32_t i = 0; i < num; i++) {
        const RecipeRelation *relation = &recipe->relations.of[i];
        const char *at =
            arena_printf(&build->arena, RECIPE_NEUTRAL_NAME ":%u", relation->span.line);
        build->relations[i] = (PlanRelation){.text = plan_build_string(build, relation->text),
                                             .at = plan_build_string(build, at)};
    }
}

void plan_build_deinit(PlanBuild *build) {
    arena_deinit(&build->arena);
    strbuf_deinit(&build->strings);
    *build = (PlanBuild){0};
}
