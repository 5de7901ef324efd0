// Reads primitives off vectorised kernels; see primitive.h.
#include "passes/primitive.h"

#include <string.h>

#include "abi/plan.h"
#include "ir/access.h"

typedef struct Scan {
    IrModule *m;
    const char *intrinsic;    // instruction that multiplies and adds
    int64_t lanes, max_lanes; // of the loop at hand, of the kernel
    bool has_fma, has_vectors, has_loops, has_memory;
} Scan;

// The instruction behind an intrinsic that multiplies and adds pairs or fours; NULL for others.
static const char *dot_of(const char *intrinsic) {
    static const char *const dots[] = {"vpdpbusd", "dpbf16ps", "pmaddubs",
                                       "pmadd.ub", "pmaddw",   "pmadd.wd"};
    static const char *const names[] = {"vpdpbusd",   "vdpbf16ps", "vpmaddubsw",
                                        "vpmaddubsw", "vpmaddwd",  "vpmaddwd"};
    for (size_t i = 0; i < ARRAY_LEN(dots); i++)
        if (strstr(intrinsic, dots[i])) return names[i];
    return NULL;
}

static void scan_op(IrOp *op, void *ctx) {
    Scan *s = ctx;
    if (op->kind == IR_SCF_FOR) s->has_loops = true;
    if (op->kind == IR_LLVM_CALL_INTRINSIC) {
        const IrAttr *name = ir_op_attr(op, "intrin");
        const char *dot = name && name->kind == IR_ATTR_STRING ? dot_of(name->str) : NULL;
        if (dot && !s->intrinsic) s->intrinsic = dot;
    }
    if (op->kind == IR_VECTOR_FMA) s->has_fma = true;
    bool is_access = op->kind == IR_MEMREF_LOAD || op->kind == IR_MEMREF_STORE;
    s->has_memory |= is_access;
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrType *type = op->results[i].type;
        if (type->kind != IR_TYPE_VECTOR || type->rank == 0) continue;
        s->has_vectors = true;
        if (ir_type_is_float(type->elem)) s->max_lanes = MAX(s->max_lanes, type->shape[0]);
    }
    if (op->kind == IR_VECTOR_STORE || op->kind == IR_VECTOR_TRANSFER_WRITE) s->has_vectors = true;
}

static Scan scan_inside(IrModule *m, IrOp *op) {
    Scan s = {.m = m};
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    FOR_EACH_OP(inner, block) ir_walk(inner, scan_op, &s);
    return s;
}

const char *primitive_wanted(const IrOp *kernel) {
    const IrBlock *body = ir_func_body(kernel);
    const IrAttr *kind = ir_op_attr(kernel, "ingot.kernel");
    const IrType *type = body->num_args ? body->args[0]->type : NULL;
    bool multiplies = kind && kind->kind == IR_ATTR_STRING && str_equal(kind->str, "matmul");
    if (!multiplies || !type || !ir_type_is_shaped(type)) return "vectors";
    if (type->elem->kind == IR_TYPE_INT && type->elem->width == 8) return "vpdpbusd";
    return type->elem->kind == IR_TYPE_BF16 ? "vdpbf16ps" : "vectors";
}

// ---- scalar loops

typedef struct Loops {
    IrModule *m;
    int64_t lanes;     // of the level
    const char *first; // reason of the first scalar loop
} Loops;

static int64_t trip_count(const IrOp *loop) {
    int64_t lo, hi, step;
    bool known = ir_value_constant_int(ir_op_operand(loop, 0), &lo) &&
                 ir_value_constant_int(ir_op_operand(loop, 1), &hi) &&
                 ir_value_constant_int(ir_op_operand(loop, 2), &step);
    return known && step > 0 && hi > lo ? (hi - lo + step - 1) / step : known ? 0 : IR_DYNAMIC;
}

// Did the same loop run before, some lanes at a time, and leave the rest?
static bool follows_vectors(IrModule *m, const IrOp *loop) {
    for (IrOp *op = loop->prev; op; op = op->prev)
        if (op->kind == IR_SCF_FOR) return scan_inside(m, op).has_vectors;
    return false;
}

static const char *why_scalar(const Loops *l, const IrOp *loop) {
    if (follows_vectors(l->m, loop)) return "shape";
    int64_t trips = trip_count(loop);
    FOR_EACH_OP(op, ir_op_block(loop, 0)) {
        IrAccess access;
        bool is_store = op->kind == IR_MEMREF_STORE;
        if (op->kind != IR_MEMREF_LOAD && !is_store) continue;
        if (!ir_access(l->m, op, is_store, IR_ACCESS_LINE_BYTES, &access)) continue;
        if (access.inner == IR_ACCESS_GATHER || access.inner == IR_ACCESS_UNKNOWN)
            return "not-affine";
        if (access.inner == IR_ACCESS_STRIDED || access.inner == IR_ACCESS_STRIDE_K)
            return "layout";
    }
    return trips != IR_DYNAMIC && trips < l->lanes ? "size-too-small" : "shape";
}

static void mark_loop(IrOp *op, void *ctx) {
    Loops *l = ctx;
    if (op->kind != IR_SCF_FOR) return;
    Scan s = scan_inside(l->m, op);
    if (s.has_loops || s.has_vectors || !s.has_memory) return;
    const char *why = why_scalar(l, op);
    if (!l->first) l->first = why;
    ir_op_set_attr(l->m, op, "ingot.fallback", ir_attr_string(l->m, why));
}

// ---- kernels

static void mark_kernel(IrModule *m, IrOp *kernel, CpuLevel level) {
    Scan s = scan_inside(m, kernel);
    const char *wanted = primitive_wanted(kernel);
    const char *got = "scalar";
    if (s.max_lanes > 1)
        got = arena_printf(&m->arena, "vector<%lldxf32>%s", (long long)s.max_lanes,
                           s.has_fma ? " fma" : "");
    else if (s.has_vectors)
        got = "vectors";
    if (s.intrinsic)
        got = s.max_lanes > 1 ? arena_printf(&m->arena, "%s, %s", s.intrinsic, got) : s.intrinsic;
    ir_op_set_attr(m, kernel, "ingot.primitive", ir_attr_string(m, got));
    bool has_it = str_equal(wanted, "vectors") ? s.has_vectors : strstr(got, wanted) != NULL;
    uint32_t features = cpu_level_info(level)->required;
    bool lacks =
        (str_equal(wanted, "vpdpbusd") && !(features & (CPU_HAS_AVX512VNNI | CPU_HAS_AVXVNNI))) ||
        (str_equal(wanted, "vdpbf16ps") && !(features & CPU_HAS_AVX512BF16));
    Loops loops = {.m = m, .lanes = features & CPU_HAS_AVX512 ? 16 : 8};
    FOR_EACH_BLOCK(block, &kernel->regions[0])
    FOR_EACH_OP(op, block) ir_walk(op, mark_loop, &loops);
    const char *why = lacks                           ? "target-lacks"
                      : s.has_vectors || !loops.first ? "dtype"
                                                      : loops.first;
    ir_op_set_attr(m, kernel, "ingot.fallback", has_it ? NULL : ir_attr_string(m, why));
}

void primitive_mark(IrModule *m, CpuLevel level) {
    FOR_EACH_OP(func, ir_module_body(m)) {
        const IrAttr *kind = func->kind == IR_FUNC_FUNC ? ir_op_attr(func, "ingot.kernel") : NULL;
        if (kind && ir_func_body(func)) mark_kernel(m, func, level);
    }
}

uint64_t kernel_scratch_bytes(const IrOp *kernel) {
    uint64_t bytes = 0;
    const IrBlock *body = ir_func_body(kernel); // lowering gathers all intermediates at its head
    FOR_EACH_OP(op, body) {
        if (op->kind != IR_MEMREF_ALLOCA) continue;
        const IrType *type = op->results[0].type;
        bytes += align_up((uint64_t)(ir_type_num_elems(type) * ir_type_bytes(type->elem)),
                          PLAN_BUFFER_ALIGN_BYTES);
    }
    return bytes;
}
