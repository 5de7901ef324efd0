// bufferize: tensors become buffers, in every function of the module.
//
//   func @k(%x: tensor<8x32xf32>, %n: index) -> tensor<8x32xf32> attributes {ingot.kernel = ...} {
//     %e = tensor.empty() ...  %r = linalg.generic ins(%x) outs(%e) ...  return %r }
// becomes
//   func @k(%x: memref<8x32xf32>, %r: memref<8x32xf32>, %n: index, %tile_begin: index,
//           %tile_end: index) { linalg.generic ins(%x) outs(%r) ...  return }
//
// Results are computed where they have to be; values are updated in place where nothing reads the
// old contents later; else a copy is made and says why (`ingot.copy`). An allocation says why the
// value is stored at all (`ingot.boundary`). Kernels that prepare weights ("init") keep nothing of
// a weight's size: their elementwise ops are computed where they are read (bufferize_inline.c).
// Needs: static shapes, one block per region. Keeps: the order of ops. Exact: yes.
#include "passes/bufferize.h"

#include <stdlib.h>

#include "passes/pass.h"

// ---------------------------------------------------------------- arguments

static void set_arg_attrs(Bufferizer *bz, IrOp *func, uint32_t num, const IrAttr *const *dicts) {
    bool any = false;
    for (uint32_t i = 0; i < num; i++) any |= dicts[i]->num_entries > 0;
    ir_op_set_attr(bz->m, func, "arg_attrs", any ? ir_attr_array(bz->m, num, dicts) : NULL);
    ir_op_set_attr(bz->m, func, "res_attrs", NULL);
}

// Appends the new arguments behind the old ones, which stay until the body is rewritten.
static void make_arguments(Bufferizer *bz, uint32_t *out_num_new) {
    IrModule *m = bz->m;
    const BufSignature *sig = bz->sig;
    IrBlock *body = bz->body;
    uint32_t num_old = sig->num_args, num = 0;
    const IrAttr **dicts =
        ARENA_ARRAY(&bz->scratch, const IrAttr *, num_old + sig->num_results + 2);
    const IrAttr *old = ir_op_attr(sig->func, "arg_attrs"), *none = ir_attr_dict(m, 0, NULL);
    const IrAttr *old_results = ir_op_attr(sig->func, "res_attrs");
    for (uint32_t i = 0; i < num_old; i++) {
        const IrType *type = sig->arg_types[i];
        if (ir_type_is_scalar(type)) continue;
        bool was_tensor = type->kind == IR_TYPE_TENSOR;
        IrValue *arg = ir_block_add_arg(m, body, was_tensor ? buf_memref_type(m, type) : type);
        dicts[num++] = old ? old->elems[i] : none;
        if (!was_tensor) {
            ir_value_map_set(&bz->map, body->args[i], arg);
            continue;
        }
        Buf buf = {.memref = arg,
                   .root = buf_new_root(bz, sig->tied_result[i] >= 0, arg->type),
                   .is_all = true,
                   .window = buf_whole(arg->type)};
        buf_set(bz, body->args[i], &buf);
        if (sig->tied_result[i] >= 0) bz->result_dest[sig->tied_result[i]] = buf;
    }
    for (uint32_t i = 0; i < sig->num_results; i++) {
        const IrType *type = sig->result_types[i];
        if (type->kind != IR_TYPE_TENSOR || sig->tied_arg[i] >= 0) continue;
        IrValue *arg = ir_block_add_arg(m, body, buf_memref_type(m, type));
        static const char *const kept[] = {"ingot.name", "ingot.dims"};
        IrNamedAttr entries[3] = {{ir_intern(m, "ingot.result"), ir_attr_i64(m, i)}};
        size_t num_entries = 1;
        for (size_t k = 0; old_results && k < ARRAY_LEN(kept); k++) {
            const IrAttr *attr = ir_attr_dict_find(old_results->elems[i], kept[k]);
            if (attr) entries[num_entries++] = (IrNamedAttr){ir_intern(m, kept[k]), attr};
        }
        dicts[num++] = ir_attr_dict(m, num_entries, entries);
        bz->result_dest[i] = (Buf){.memref = arg,
                                   .root = buf_new_root(bz, true, arg->type),
                                   .is_all = true,
                                   .window = buf_whole(arg->type)};
    }
    for (uint32_t i = 0; i < num_old; i++) {
        if (!ir_type_is_scalar(sig->arg_types[i])) continue;
        ir_value_map_set(&bz->map, body->args[i], ir_block_add_arg(m, body, sig->arg_types[i]));
        dicts[num++] = old ? old->elems[i] : none;
    }
    for (int i = 0; i < 2 && sig->is_kernel; i++) {
        ir_block_add_arg(m, body, ir_type_index(m));
        dicts[num++] = none;
    }
    set_arg_attrs(bz, sig->func, num, dicts);
    *out_num_new = num;
}

// ---------------------------------------------------------------- cloning what has no tensor
// results

IrValue *buf_mapped(Bufferizer *bz, IrValue *value) {
    if (buf_is_tensor(value)) return buf_of(bz, value)->memref;
    return ir_value_map_get(&bz->map, value);
}

// tensor.extract inside a cloned region reads a buffer now.
static void extracts_to_loads(Bufferizer *bz, IrBlock *block) {
    FOR_EACH_OP_SAFE(op, block) {
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) extracts_to_loads(bz, inner);
        if (op->kind != IR_TENSOR_EXTRACT) continue;
        IrValue *indices[BUF_MAX_RANK];
        uint32_t rank = op->num_operands - 1;
        for (uint32_t i = 0; i < rank; i++) indices[i] = ir_op_operand(op, i + 1);
        Builder b = build_before(bz->m, op);
        IrValue *loaded = build_load(&b, ir_op_operand(op, 0), rank, indices);
        ir_value_replace_all(ir_op_result(op, 0), loaded);
        ir_op_erase(bz->m, op);
    }
}

static Status check_region(Bufferizer *bz, const IrBlock *block) {
    FOR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->num_operands; i++) {
            const IrValue *value = ir_op_operand(op, i);
            if (!buf_is_tensor(value)) continue;
            if (op->kind != IR_TENSOR_EXTRACT || value->index >= bz->num_bufs ||
                !buf_of(bz, value)->is_set)
                return buf_refuse(bz, op,
                                  "only tensor.extract may use a tensor inside an op's body");
            if (!buf_of(bz, value)->memref)
                return buf_refuse(bz, op, "reads a tensor whose contents are undefined");
        }
        for (uint32_t r = 0; r < op->num_regions; r++)
            for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                TRY(check_region(bz, inner));
    }
    return STATUS_OK;
}

static void map_tensors_in(Bufferizer *bz, const IrBlock *block) {
    FOR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->num_operands; i++)
            if (buf_is_tensor(ir_op_operand(op, i)))
                ir_value_map_set(&bz->map, ir_op_operand(op, i),
                                 buf_mapped(bz, ir_op_operand(op, i)));
        for (uint32_t r = 0; r < op->num_regions; r++)
            for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                map_tensors_in(bz, inner);
    }
}

static Status clone_scalar_op(Bufferizer *bz, Builder *b, IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (buf_is_tensor(ir_op_operand(op, i))) return buf_refuse(bz, op, "has a tensor operand");
    for (uint32_t r = 0; r < op->num_regions; r++)
        for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
            TRY(check_region(bz, inner));
    for (uint32_t r = 0; r < op->num_regions; r++)
        for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
            map_tensors_in(bz, inner);
    IrOp *clone = ir_op_clone(bz->m, op, &bz->map);
    if (b->before)
        ir_op_insert_before(clone, b->before);
    else
        ir_block_append(b->block, clone);
    for (uint32_t r = 0; r < clone->num_regions; r++)
        FOR_EACH_BLOCK(inner, &clone->regions[r]) extracts_to_loads(bz, inner);
    return STATUS_OK;
}

// ---------------------------------------------------------------- linalg

// Does the op read the old value of output i?
static bool reads_out(const IrOp *op, uint32_t i) {
    if (op->kind == IR_LINALG_FILL || op->kind == IR_LINALG_TRANSPOSE ||
        op->kind == IR_LINALG_BROADCAST || op->kind == IR_LINALG_COPY)
        return false;
    if (op->kind != IR_LINALG_GENERIC) return true;
    const IrBlock *body = ir_op_block(op, 0);
    return !ir_value_is_unused(body->args[op->segments[0] + i]);
}

// Does the op read input i? The window of a pooling gives its sizes alone.
static bool reads_in(const IrOp *op, uint32_t i) {
    if (ir_op_info(op->kind)->traits & IR_POOLING) return i == 0;
    return op->kind != IR_LINALG_GENERIC || !ir_value_is_unused(ir_op_block(op, 0)->args[i]);
}

static Status lower_linalg_op(Bufferizer *bz, Builder *b, IrOp *op) {
    IrModule *m = bz->m;
    if (op->num_operands > BUF_MAX_OPERANDS) return buf_refuse(bz, op, "has too many operands");
    for (uint32_t r = 0; r < op->num_regions; r++)
        for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
            TRY(check_region(bz, inner));
    IrValue *operands[BUF_MAX_OPERANDS];
    uint32_t num_ins = op->segments[0];
    for (uint32_t i = 0; i < num_ins; i++) {
        operands[i] = buf_mapped(bz, ir_op_operand(op, i));
        if (operands[i]) continue;
        if (reads_in(op, i))
            return buf_refuse(bz, op, "reads a tensor whose contents are undefined");
        operands[i] = buf_alloc(bz, ir_op_operand(op, i)->type, "shape").memref;
    }
    for (uint32_t i = num_ins; i < op->num_operands; i++) {
        IrValue *init = ir_op_operand(op, i), *result = ir_op_result(op, i - num_ins);
        if (!buf_is_tensor(init)) return buf_refuse(bz, op, "has an output that is no tensor");
        bool reads = reads_out(op, i - num_ins);
        if (reads && !buf_of(bz, init)->memref)
            return buf_refuse(bz, op, "accumulates onto undefined contents");
        Buf out;
        buf_choose(bz, b, op, init, result, reads, false, &out);
        buf_set(bz, result, &out);
        operands[i] = out.memref;
    }
    IrOp *lowered = build_op_full(b, &(IrOpSpec){.kind = op->kind,
                                                 .loc = op->loc,
                                                 .num_operands = op->num_operands,
                                                 .operands = operands,
                                                 .num_attrs = op->num_attrs,
                                                 .attrs = op->attrs,
                                                 .num_regions = op->num_regions,
                                                 .segments = {num_ins, op->segments[1]}});
    for (uint32_t r = 0; r < op->num_regions; r++) {
        if (!op->regions[r].first) continue;
        const IrBlock *from = op->regions[r].first;
        map_tensors_in(bz, from);
        IrBlock *to = ir_region_add_block(m, &lowered->regions[r]);
        for (uint32_t i = 0; i < from->num_args; i++)
            ir_value_map_set(&bz->map, from->args[i], ir_block_add_arg(m, to, from->args[i]->type));
        FOR_EACH_OP(inner, from) ir_block_append(to, ir_op_clone(m, inner, &bz->map));
        extracts_to_loads(bz, to);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- tensor ops

static Status lower_slice(Bufferizer *bz, Builder *b, IrOp *op) {
    const Buf *source = buf_of(bz, ir_op_operand(op, 0));
    IrValue *result = ir_op_result(op, 0);
    if (!ir_type_is_static(result->type)) return buf_refuse(bz, op, "unknown size");
    Buf buf = {.root = BUF_NO_ROOT};
    if (source->memref) {
        buf = *source;
        buf.placed_for = NULL;
        buf.is_all = false;
        buf.window = buf_slice_window(bz, source, op);
        buf.memref = buf_subview(bz, b, source->memref, op, result->type);
    }
    buf_set(bz, result, &buf);
    return STATUS_OK;
}

static Status lower_reshape(Bufferizer *bz, Builder *b, IrOp *op) {
    const Buf *source = buf_of(bz, ir_op_operand(op, 0));
    IrValue *result = ir_op_result(op, 0);
    if (!ir_type_is_static(result->type)) return buf_refuse(bz, op, "unknown size");
    const IrAttr *reassociation = ir_op_attr(op, "reassociation");
    Buf buf = {.root = BUF_NO_ROOT};
    if (source->memref && op->kind == IR_TENSOR_EXPAND_SHAPE) {
        buf = *source;
        buf.memref =
            buf_expand(b, source->memref, reassociation, result->type->rank, result->type->shape);
    } else if (source->memref) {
        buf = *source;
        buf.memref = buf_collapse(b, source->memref, reassociation);
        if (!buf.memref) { // rows of a wider matrix: no view, a copy
            buf = buf_alloc(bz, ir_op_operand(op, 0)->type, "reshape");
            buf_copy(b, source->memref, buf.memref, "reshape");
            buf.memref = buf_collapse(b, buf.memref, reassociation);
        }
    }
    buf_set(bz, result, &buf);
    return STATUS_OK;
}

static Status lower_insert_slice(Bufferizer *bz, Builder *b, IrOp *op) {
    IrValue *source = ir_op_operand(op, 0), *dest = ir_op_operand(op, 1);
    const Buf *from = buf_of(bz, source);
    Buf out;
    buf_choose(bz, b, op, dest, ir_op_result(op, 0), true, false, &out);
    bool is_there = from->placed_for == op && from->placed_base == out.memref;
    if (from->memref && !is_there)
        buf_copy(b, from->memref, buf_subview(bz, b, out.memref, op, source->type), "insert");
    buf_set(bz, ir_op_result(op, 0), &out);
    return STATUS_OK;
}

static Status lower_element(Bufferizer *bz, Builder *b, IrOp *op) {
    bool is_insert = op->kind == IR_TENSOR_INSERT;
    uint32_t first = is_insert ? 2 : 1, rank = op->num_operands - first;
    IrValue *indices[BUF_MAX_RANK], *tensor = ir_op_operand(op, first - 1);
    if (rank > BUF_MAX_RANK) return buf_refuse(bz, op, "rank too large");
    for (uint32_t i = 0; i < rank; i++) indices[i] = buf_mapped(bz, ir_op_operand(op, first + i));
    if (!is_insert) {
        if (!buf_of(bz, tensor)->memref)
            return buf_refuse(bz, op, "reads a tensor whose contents are undefined");
        ir_value_map_set(&bz->map, ir_op_result(op, 0),
                         build_load(b, buf_of(bz, tensor)->memref, rank, indices));
        return STATUS_OK;
    }
    Buf out;
    buf_choose(bz, b, op, tensor, ir_op_result(op, 0), true, false, &out);
    build_store(b, buf_mapped(bz, ir_op_operand(op, 0)), out.memref, rank, indices);
    buf_set(bz, ir_op_result(op, 0), &out);
    return STATUS_OK;
}

enum { MAX_CONSTANT_ELEMS = 1024 };

// A constant tensor: filled, or stored element by element; larger tables are arguments.
static Status lower_constant(Bufferizer *bz, Builder *b, IrOp *op) {
    IrModule *m = bz->m;
    IrValue *result = ir_op_result(op, 0);
    const IrType *type = result->type;
    const IrAttr *value = ir_op_attr(op, "value");
    int64_t num = ir_type_num_elems(type);
    if (value->kind != IR_ATTR_DENSE || (!value->is_splat && num > MAX_CONSTANT_ELEMS))
        return buf_refuse(bz, op, "a table this large has to be an argument");
    Buf out;
    buf_choose(bz, b, op, NULL, result, false, false, &out);
    buf_set(bz, result, &out);
    for (int64_t i = 0; i < (value->is_splat ? MIN(num, 1) : num); i++) {
        uint64_t bits = ir_attr_dense_elem(value, i);
        const IrAttr *elem = ir_type_is_float(type->elem)
                                 ? ir_attr_float_bits(m, bits, type->elem)
                                 : ir_attr_int(m, (int64_t)bits, type->elem);
        IrNamedAttr attr = {ir_intern(m, "value"), elem};
        IrValue *scalar = ir_op_result(build_op_full(b, &(IrOpSpec){.kind = IR_ARITH_CONSTANT,
                                                                    .num_results = 1,
                                                                    .result_types = &type->elem,
                                                                    .num_attrs = 1,
                                                                    .attrs = &attr}),
                                       0);
        if (value->is_splat) {
            buf_fill(b, scalar, out.memref);
            return STATUS_OK;
        }
        IrValue *indices[BUF_MAX_RANK];
        int64_t rest = i;
        for (uint32_t d = type->rank; d-- > 0; rest /= type->shape[d])
            indices[d] = build_index(b, rest % type->shape[d]);
        build_store(b, scalar, out.memref, type->rank, indices);
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- control flow

static Status lower_block(Bufferizer *bz, Builder *b, IrBlock *block);

static bool is_there(const Buf *from, const Buf *target) {
    if (!target->memref || !from->memref || from->memref == target->memref) return true;
    return from->root == target->root && from->is_all && target->is_all;
}

// At the end of a region: values that are not yet where the op's results live are copied there;
// through a buffer of their own if another copy overwrites where they come from.
static void move_to(Bufferizer *bz, Builder *b, const IrOp *yield, uint32_t num,
                    const Buf *targets) {
    IrValue **sources = ARENA_ARRAY(&bz->scratch, IrValue *, num);
    for (uint32_t i = 0; i < num; i++) {
        if (!targets[i].memref) continue;
        const Buf *from = buf_of(bz, ir_op_operand(yield, i));
        if (is_there(from, &targets[i])) continue;
        sources[i] = from->memref;
        for (uint32_t j = 0; j < num; j++) {
            bool is_overwritten = targets[j].memref && from->root == targets[j].root &&
                                  !is_there(buf_of(bz, ir_op_operand(yield, j)), &targets[j]);
            if (!is_overwritten) continue;
            sources[i] = buf_alloc(bz, ir_op_operand(yield, i)->type, "loop-carried").memref;
            buf_copy(b, from->memref, sources[i], "exchange");
            break;
        }
    }
    for (uint32_t i = 0; i < num; i++)
        if (sources[i]) buf_copy(b, sources[i], targets[i].memref, "yield");
}

static Status lower_for(Bufferizer *bz, Builder *b, IrOp *op) {
    uint32_t num = op->num_results, num_scalars = 0;
    Buf *targets = ARENA_ARRAY(&bz->scratch, Buf, num);
    IrValue **scalars = ARENA_ARRAY(&bz->scratch, IrValue *, num);
    IrBlock *body = ir_op_block(op, 0);
    for (uint32_t i = 0; i < num; i++) {
        IrValue *init = ir_op_operand(op, 3 + i);
        if (!buf_is_tensor(init)) {
            scalars[num_scalars++] = buf_mapped(bz, init);
            continue;
        }
        buf_choose(bz, b, op, init, ir_op_result(op, i), true, false, &targets[i]);
        targets[i].placed_for = NULL;
        buf_set(bz, body->args[1 + i], &targets[i]);
    }
    Builder inner;
    IrOp *loop =
        build_for(b, buf_mapped(bz, ir_op_operand(op, 0)), buf_mapped(bz, ir_op_operand(op, 1)),
                  buf_mapped(bz, ir_op_operand(op, 2)), num_scalars, scalars, &inner);
    loop->loc = op->loc;
    IrOp *outside = bz->alloc_before;
    if (loop->block == bz->body) bz->alloc_before = loop;
    IrBlock *new_body = ir_op_block(loop, 0);
    ir_value_map_set(&bz->map, body->args[0], new_body->args[0]);
    for (uint32_t i = 0, next = 0; i < num; i++) {
        if (targets[i].memref) continue;
        ir_value_map_set(&bz->map, body->args[1 + i], new_body->args[1 + next]);
        ir_value_map_set(&bz->map, ir_op_result(op, i), ir_op_result(loop, next++));
    }
    TRY(lower_block(bz, &inner, body));
    const IrOp *yield = ir_block_terminator(body);
    move_to(bz, &inner, yield, num, targets);
    bz->alloc_before = outside;
    for (uint32_t i = 0, next = 0; i < num; i++)
        if (!targets[i].memref) scalars[next++] = buf_mapped(bz, ir_op_operand(yield, i));
    inner.loc = yield->loc;
    build_yield(&inner, IR_SCF_YIELD, num_scalars, scalars);
    for (uint32_t i = 0; i < num; i++)
        if (targets[i].memref) buf_set(bz, ir_op_result(op, i), &targets[i]);
    return STATUS_OK;
}

static Status lower_if(Bufferizer *bz, Builder *b, IrOp *op) {
    uint32_t num = op->num_results, num_scalars = 0;
    Buf *targets = ARENA_ARRAY(&bz->scratch, Buf, num);
    const IrType **types = ARENA_ARRAY(&bz->scratch, const IrType *, num);
    IrValue **scalars = ARENA_ARRAY(&bz->scratch, IrValue *, num);
    for (uint32_t i = 0; i < num; i++) {
        IrValue *result = ir_op_result(op, i);
        if (!buf_is_tensor(result)) {
            types[num_scalars++] = result->type;
            continue;
        }
        buf_choose(bz, b, op, NULL, result, false, false, &targets[i]);
        targets[i].placed_for = NULL;
        *buf_of(bz, result) = targets[i]; // enters the root's list when it has a value
    }
    IrValue *cond = buf_mapped(bz, ir_op_operand(op, 0));
    IrOp *branch = build_op_full(b, &(IrOpSpec){.kind = IR_SCF_IF,
                                                .loc = op->loc,
                                                .num_operands = 1,
                                                .operands = &cond,
                                                .num_results = num_scalars,
                                                .result_types = types,
                                                .num_regions = op->num_regions,
                                                .segments = {1}});
    IrOp *outside = bz->alloc_before;
    if (branch->block == bz->body) bz->alloc_before = branch;
    for (uint32_t r = 0; r < op->num_regions; r++) {
        if (!op->regions[r].first) continue;
        IrBlock *to = ir_region_add_block(bz->m, &branch->regions[r]);
        Builder inner = build_at_end(bz->m, to, op->loc);
        TRY(lower_block(bz, &inner, op->regions[r].first));
        const IrOp *yield = ir_block_terminator(op->regions[r].first);
        move_to(bz, &inner, yield, num, targets);
        for (uint32_t i = 0, next = 0; i < num; i++)
            if (!targets[i].memref) scalars[next++] = buf_mapped(bz, ir_op_operand(yield, i));
        build_yield(&inner, IR_SCF_YIELD, num_scalars, scalars);
    }
    bz->alloc_before = outside;
    for (uint32_t i = 0, next = 0; i < num; i++) {
        if (targets[i].memref)
            buf_set(bz, ir_op_result(op, i), &targets[i]);
        else
            ir_value_map_set(&bz->map, ir_op_result(op, i), ir_op_result(branch, next++));
    }
    return STATUS_OK;
}

static Status lower_return(Bufferizer *bz, Builder *b, IrOp *op) {
    move_to(bz, b, op, op->num_operands, bz->result_dest);
    IrValue **scalars = ARENA_ARRAY(&bz->scratch, IrValue *, op->num_operands);
    uint32_t num = 0;
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (!buf_is_tensor(ir_op_operand(op, i)))
            scalars[num++] = buf_mapped(bz, ir_op_operand(op, i));
    build_op(b, IR_FUNC_RETURN, num, scalars, NULL);
    return STATUS_OK;
}

static Status lower_op(Bufferizer *bz, Builder *b, IrOp *op) {
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrType *type = op->results[i].type;
        if (type->kind == IR_TYPE_TENSOR && (!ir_type_is_static(type) || type->rank > BUF_MAX_RANK))
            return buf_refuse(bz, op, "its result has an unknown size");
    }
    switch (op->kind) {
    case IR_TENSOR_EMPTY:
        buf_set(bz, ir_op_result(op, 0), &(Buf){.root = BUF_NO_ROOT});
        return STATUS_OK;
    case IR_TENSOR_DIM: {
        int64_t dim;
        const IrType *type = ir_op_operand(op, 0)->type;
        if (!ir_value_constant_int(ir_op_operand(op, 1), &dim) || dim < 0 || dim >= type->rank)
            return buf_refuse(bz, op, "of a dimension that is no constant");
        ir_value_map_set(&bz->map, ir_op_result(op, 0), build_index(b, type->shape[dim]));
        return STATUS_OK;
    }
    case IR_TENSOR_CAST: {
        if (ir_op_operand(op, 0)->type != ir_op_result(op, 0)->type)
            return buf_refuse(bz, op, "between different types");
        Buf same = *buf_of(bz, ir_op_operand(op, 0));
        buf_set(bz, ir_op_result(op, 0), &same);
        return STATUS_OK;
    }
    case IR_TENSOR_EXTRACT_SLICE: return lower_slice(bz, b, op);
    case IR_TENSOR_EXPAND_SHAPE:
    case IR_TENSOR_COLLAPSE_SHAPE: return lower_reshape(bz, b, op);
    case IR_TENSOR_INSERT_SLICE: return lower_insert_slice(bz, b, op);
    case IR_TENSOR_EXTRACT:
    case IR_TENSOR_INSERT: return lower_element(bz, b, op);
    case IR_SCF_FOR: return lower_for(bz, b, op);
    case IR_SCF_IF: return lower_if(bz, b, op);
    case IR_FUNC_CALL: return buf_lower_call(bz, b, op);
    case IR_FUNC_RETURN: return lower_return(bz, b, op);
    case IR_ARITH_CONSTANT:
        if (buf_is_tensor(ir_op_result(op, 0))) return lower_constant(bz, b, op);
        return clone_scalar_op(bz, b, op);
    default: break;
    }
    if (ir_op_info(op->kind)->traits & IR_LINALG) {
        if (op->num_results == 0) return clone_scalar_op(bz, b, op); // on buffers already
        return lower_linalg_op(bz, b, op);
    }
    for (uint32_t i = 0; i < op->num_results; i++)
        if (buf_is_tensor(ir_op_result(op, i)))
            return buf_refuse(bz, op, "no buffer form is known");
    return clone_scalar_op(bz, b, op);
}

static Status lower_block(Bufferizer *bz, Builder *b, IrBlock *block) {
    FOR_EACH_OP(op, block) {
        if (op->kind == IR_SCF_YIELD) return STATUS_OK;
        b->loc = op->loc;
        TRY(lower_op(bz, b, op));
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- functions

static void number_ops(Bufferizer *bz, const IrBlock *block, uint32_t *next) {
    FOR_EACH_OP(op, block) {
        bz->order[op->index] = (*next)++;
        for (uint32_t r = 0; r < op->num_regions; r++)
            for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                number_ops(bz, inner, next);
    }
}

static bool has_tensor(const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++)
        if (buf_is_tensor(ir_op_operand(op, i))) return true;
    for (uint32_t i = 0; i < op->num_results; i++)
        if (op->results[i].type->kind == IR_TYPE_TENSOR) return true;
    for (uint32_t r = 0; r < op->num_regions; r++)
        for (const IrBlock *block = op->regions[r].first; block; block = block->next)
            FOR_EACH_OP(inner, block) if (has_tensor(inner)) return true;
    return false;
}

// A kernel of nothing but checks has no tensor, and takes its tiles all the same. In a module that
// has buffers already it has them.
static bool needs_work(const IrModule *m, const BufSignature *sig) {
    const IrAttr *level = ir_op_attr(m->op, "ingot.level");
    bool has_buffers = level && level->kind == IR_ATTR_INT && level->i >= 2;
    for (uint32_t i = 0; i < sig->num_args; i++)
        has_buffers = has_buffers || sig->arg_types[i]->kind == IR_TYPE_MEMREF;
    if (sig->is_kernel && !has_buffers) return true;
    for (uint32_t i = 0; i < sig->num_args; i++)
        if (sig->arg_types[i]->kind == IR_TYPE_TENSOR) return true;
    return has_tensor(sig->func);
}

// Views made for a place that was not taken in the end, and views nothing reads.
static void erase_unused_views(IrModule *m, IrBlock *block) {
    for (IrOp *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        for (uint32_t r = 0; r < op->num_regions; r++)
            FOR_EACH_BLOCK(inner, &op->regions[r]) erase_unused_views(m, inner);
        bool is_view = op->kind == IR_MEMREF_SUBVIEW || op->kind == IR_MEMREF_EXPAND_SHAPE ||
                       op->kind == IR_MEMREF_COLLAPSE_SHAPE;
        if (is_view && ir_value_is_unused(ir_op_result(op, 0))) ir_op_erase(m, op);
    }
}

static Status rewrite_body(Bufferizer *bz) {
    IrOp *first_old = bz->body->first, *last_old = bz->body->last;
    Builder b = build_before(bz->m, first_old);
    for (IrOp *op = first_old;; op = op->next) {
        bz->alloc_before = op;
        b.before = op;
        b.loc = op->loc;
        TRY(lower_op(bz, &b, op));
        if (op == last_old) break;
    }
    // The old ops, interleaved with the new: users before what they use.
    uint32_t num_old_ops = bz->num_order;
    for (IrOp *op = bz->body->last, *prev; op; op = prev) {
        prev = op->prev;
        if (op->index < num_old_ops) ir_op_erase(bz->m, op);
    }
    erase_unused_views(bz->m, bz->body);
    return STATUS_OK;
}

static Status bufferize_function(Bufferizer *bz, const BufSignature *sig) {
    IrModule *m = bz->m;
    IrOp *func = sig->func;
    bz->sig = sig;
    bz->body = ir_func_body(func);
    if (func->regions[0].first != func->regions[0].last)
        return diag_error(bz->sink, DIAG_P0005, ir_loc_span(func->loc),
                          "bufferize: @%s has more than one block", ir_symbol_name(func));
    bz->num_roots = 0;
    bz->result_dest = ARENA_ARRAY(&bz->scratch, Buf, sig->num_results);
    ir_value_map_init(&bz->map);
    uint32_t next = 0, num_new;
    number_ops(bz, bz->body, &next);
    bz->order[func->index] = 0;
    make_arguments(bz, &num_new);
    Status status = rewrite_body(bz);
    if (status == STATUS_OK) {
        ir_block_remove_first_args(bz->body, sig->num_args);
        BUG_IF(bz->body->num_args != num_new, "arguments went astray");
        ir_func_update_type(m, func);
    }
    ir_value_map_deinit(&bz->map);
    return status;
}

Status pass_bufferize(IrModule *m, DiagSink *sink) {
    Bufferizer bz = {.m = m, .sink = sink};
    FOR_EACH_OP(op, ir_module_body(m)) {
        const IrAttr *kernel = op->kind == IR_FUNC_FUNC ? ir_op_attr(op, "ingot.kernel") : NULL;
        if (kernel && kernel->kind == IR_ATTR_STRING && str_equal(kernel->str, "init") &&
            ir_func_body(op))
            buf_inline_producers(m, op);
    }
    arena_init(&bz.scratch);
    // Indices are the module's: one table serves all functions, each of which rewrites itself
    // alone.
    bz.num_bufs = m->num_values;
    bz.bufs = base_alloc((size_t)bz.num_bufs + 1, sizeof *bz.bufs);
    bz.num_order = m->num_ops;
    bz.order = base_alloc((size_t)bz.num_order + 1, sizeof *bz.order);
    uint32_t num_funcs = 0;
    FOR_EACH_OP(op, ir_module_body(m)) num_funcs += op->kind == IR_FUNC_FUNC && ir_func_body(op);
    bz.signatures = ARENA_ARRAY(&bz.scratch, BufSignature, num_funcs);
    Status status = STATUS_OK;
    FOR_EACH_OP(op, ir_module_body(m)) {
        if (op->kind != IR_FUNC_FUNC || !ir_func_body(op)) continue;
        BufSignature *sig = &bz.signatures[bz.num_signatures++];
        status = buf_read_signature(&bz, op, sig);
        if (status != STATUS_OK) goto done;
    }
    for (uint32_t i = 0; i < bz.num_signatures; i++) {
        if (!needs_work(m, &bz.signatures[i])) continue;
        status = bufferize_function(&bz, &bz.signatures[i]);
        if (status != STATUS_OK) goto done;
    }
    ir_op_set_attr(m, m->op, "ingot.level", ir_attr_i64(m, 2));
done:
    free(bz.roots);
    free(bz.bufs);
    free(bz.order);
    arena_deinit(&bz.scratch);
    return status;
}
