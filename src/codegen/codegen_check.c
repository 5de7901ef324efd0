// Which intrinsics a CPU level has. LLVM aborts the process on an intrinsic without its feature and
// turns a misspelt one into an undefined symbol, so both are refused here, before selection.
#include "codegen/codegen_internal.h"
#include "ir/intrinsics.h"

#include <stdlib.h>
#include <string.h>

static Status unknown_intrinsic(const IrOp *op, const char *name, DiagSink *sink) {
    Status status = diag_error(sink, DIAG_B0004, ir_loc_span(op->loc),
                               "\"%s\" is no machine instruction that kernels may use", name);
    size_t count = ir_intrinsic_count();
    const char **names = base_alloc(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = ir_intrinsic_at(i)->name;
    const char *nearest = str_nearest(name, names, count);
    if (nearest) diag_write(sink, "\"%s\"", nearest);
    free(names);
    return status;
}

static bool types_match(const IrOp *op, const IrIntrinsic *intrinsic) {
    uint32_t n = ir_intrinsic_num_operands(intrinsic);
    if (op->num_operands != n || op->num_results != 1) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!ir_intrinsic_type_matches(intrinsic->operands[i], ir_op_operand(op, i)->type))
            return false;
    }
    return ir_intrinsic_type_matches(intrinsic->result, ir_op_result(op, 0)->type);
}

Status codegen_check_intrinsic(const IrOp *op, CpuLevel level, DiagSink *sink) {
    const IrAttr *attr = ir_op_attr(op, "intrin");
    const char *name = attr && attr->kind == IR_ATTR_STRING ? attr->str : "";
    const IrIntrinsic *intrinsic = ir_intrinsic_find(name);
    if (!intrinsic || LLVMLookupIntrinsicID(name, strlen(name)) == 0)
        return unknown_intrinsic(op, name, sink);
    const CpuLevelInfo *info = cpu_level_info(level);
    if (!ir_intrinsic_is_available(intrinsic, info->required)) {
        return diag_error(sink, DIAG_B0005, ir_loc_span(op->loc),
                          "CPU level %s does not have \"%s\"", info->name, name);
    }
    if (!types_match(op, intrinsic)) {
        return diag_error(sink, DIAG_B0003, ir_loc_span(op->loc), "\"%s\" has other operand types",
                          name);
    }
    return STATUS_OK;
}
