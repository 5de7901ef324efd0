// Work of a kernel from its structured ops; see kernel_cost.h.
#include "passes/contraction.h"
#include "passes/kernel_eval.h"
#include "passes/vectorize.h"

typedef struct Estimate {
    IrModule *m;
    const KernelUse *use;
    const KernelUses *uses;
    const Target *target;
    CostWork *work;
    double read[KERNEL_MAX_ARGS]; // bytes of each argument
    double vector_ops;
} Estimate;

static double iterations_of(IrModule *m, const IrOp *op) {
    int64_t ranges[16];
    uint32_t num = ir_linalg_num_loops(op);
    double all = 1;
    if (num > ARRAY_LEN(ranges)) return 0;
    ir_linalg_loop_ranges(m, op, ranges);
    for (uint32_t i = 0; i < num; i++) all *= ranges[i] > 0 ? (double)ranges[i] : 1;
    return all;
}

static void add_read(Estimate *e, IrValue *buffer, double bytes) {
    const IrValue *root = vec_root(buffer);
    if (!root->def_op && root->number < KERNEL_MAX_ARGS) {
        const IrType *t = root->type;
        double most =
            ir_type_is_static(t) ? (double)ir_type_num_elems(t) * ir_type_bytes(t->elem) : bytes;
        e->read[root->number] = MIN(MAX(e->read[root->number], bytes), most);
    }
}

static TargetNumber matrix_type(const Estimate *e, const IrType *elem) {
    TargetNumber type = elem->kind == IR_TYPE_INT    ? TARGET_OPS_INT8
                        : elem->kind == IR_TYPE_F16  ? TARGET_OPS_F16
                        : elem->kind == IR_TYPE_BF16 ? TARGET_OPS_BF16
                                                     : TARGET_OPS_F32;
    return e->target->numbers[type] > 0 ? type : TARGET_OPS_F32;
}

static void estimate_body(Estimate *e, const IrOp *op, double times) {
    if (op->num_regions == 0 || !ir_op_block(op, 0)) return;
    FOR_EACH_OP(inner, ir_op_block(op, 0)) {
        if (inner->kind == IR_MEMREF_LOAD)
            add_read(e, ir_op_operand(inner, 0), times * ir_type_bytes(inner->results[0].type));
        bool counts = ir_op_info(inner->kind)->traits & IR_ELEMENTWISE &&
                      inner->kind != IR_ARITH_CONSTANT &&
                      inner->results[0].type->kind != IR_TYPE_INDEX;
        e->vector_ops += counts ? times : 0;
    }
}

static bool is_matrix(const IrOp *op) {
    return ir_op_info(op->kind)->traits & IR_CONTRACTION || contraction_is(op, "dot") ||
           contraction_is(op, "weights") || contraction_is(op, "float");
}

static void estimate_op(Estimate *e, const IrOp *op) {
    if (!(ir_op_info(op->kind)->traits & IR_LINALG)) return;
    double times = iterations_of(e->m, op);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *t = ir_op_operand(op, i)->type;
        if (t->kind == IR_TYPE_MEMREF && ir_type_is_static(t))
            add_read(e, ir_op_operand(op, i),
                     (double)ir_type_num_elems(t) * ir_type_bytes(t->elem));
    }
    if (!is_matrix(op)) {
        estimate_body(e, op, times);
        return;
    }
    e->work->matrix = matrix_type(e, ir_op_operand(op, 0)->type->elem);
    e->work->matrix_ops += 2 * times;
}

static CostClass class_of(const IrOp *kernel) {
    const IrAttr *kind = ir_op_attr(kernel, "ingot.kernel");
    bool is_text = kind && kind->kind == IR_ATTR_STRING;
    for (int c = 0; c < NUM_COST_CLASSES; c++)
        if (is_text && str_equal(kind->str, cost_class_name((CostClass)c))) return (CostClass)c;
    return COST_ROWS;
}

void kernel_work_estimate(IrModule *m, const IrOp *kernel, const KernelUse *use,
                          const KernelUses *uses, const Target *target, CostWork *out_work) {
    *out_work = (CostWork){.class = class_of(kernel)};
    Estimate e = {.m = m, .use = use, .uses = uses, .target = target, .work = out_work};
    FOR_EACH_OP(op, ir_func_body(kernel)) estimate_op(&e, op);
    out_work->ops[COST_FLOAT] = e.vector_ops;
    out_work->compute_clocks = e.vector_ops / target_number_or(target, TARGET_OPS_F32, 1);
    for (uint32_t i = 0; i < KERNEL_MAX_ARGS; i++) {
        if (e.read[i] <= 0) continue;
        bool is_streamed = use->streamed >> i & 1;
        CostLevel home = cost_fit(target, is_streamed ? uses->streamed_bytes : e.read[i], 1);
        out_work->bytes[MAX(home, COST_L2)] += e.read[i];
    }
}
