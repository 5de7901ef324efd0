// Checks of the llvm operations of level 3, and of llvm.call_intrinsic at every level.
#include "ir/intrinsics.h"
#include "ir/verify_internal.h"

// Intrinsics of machines must stand in the table: a name that LLVM does not know becomes an
// undefined symbol, one whose CPU feature is missing aborts the code generator.
bool verify_call_intrinsic(Verifier *v, const IrOp *op) {
    const IrAttr *name = verify_attr(op, "intrin", IR_ATTR_STRING);
    if (!name) FAIL_ATTR("requires attribute 'intrin'");
    const IrIntrinsic *intrinsic = ir_intrinsic_find(name->str);
    if (!intrinsic) {
        if (v->options.level != 2 && !str_has_prefix(name->str, "llvm.x86.")) return true;
        const char **names = ARENA_ARRAY(&v->arena, const char *, ir_intrinsic_count());
        for (size_t i = 0; i < ir_intrinsic_count(); i++) names[i] = ir_intrinsic_at(i)->name;
        const char *nearest = str_nearest(name->str, names, ir_intrinsic_count());
        FAIL_ATTR("names the intrinsic '%s', which is not in the table%s%s%s", name->str,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    }
    uint32_t num = ir_intrinsic_num_operands(intrinsic);
    bool fits = op->num_operands == num && op->num_results == 1 &&
                ir_intrinsic_type_matches(intrinsic->result, op->results[0].type);
    for (uint32_t i = 0; fits && i < num; i++) {
        fits = ir_intrinsic_type_matches(intrinsic->operands[i], verify_operand_type(op, i));
    }
    if (!fits) FAIL_TYPE("has other types than the intrinsic '%s'", name->str);
    for (uint32_t i = 0; i < num; i++) { // scalar operands are encoded in the instruction
        const IrOp *def = ir_op_operand(op, i)->def_op;
        bool is_constant =
            ir_value_constant(ir_op_operand(op, i)) || (def && def->kind == IR_LLVM_MLIR_CONSTANT);
        if (!intrinsic->operands[i].lanes && !is_constant)
            FAIL_TYPE("operand #%u must be a constant", i);
    }
    return true;
}

static const IrType *llvm_func_type(const IrOp *func) {
    const IrAttr *attr = func ? verify_attr(func, "function_type", IR_ATTR_TYPE) : NULL;
    bool is_good = attr && func->kind == IR_LLVM_FUNC &&
                   attr->type->kind == IR_TYPE_LLVM_FUNCTION && attr->type->num_results == 1;
    return is_good ? attr->type : NULL;
}

bool verify_llvm_func(Verifier *v, const IrOp *op) {
    const IrType *type = llvm_func_type(op);
    const IrBlock *body = op->regions[0].first;
    const IrAttr *linkage = ir_op_attr(op, "linkage");
    if (!type) FAIL_ATTR("requires attribute 'function_type' of LLVM function type");
    if (!ir_symbol_name(op)) FAIL_ATTR("requires attribute 'sym_name'");
    if (linkage && !syntax_enum_known(op->kind, "linkage", linkage->str)) {
        FAIL_ATTR("has the unknown linkage '%s'", linkage->str);
    }
    if (!op->block || ir_block_parent(op->block) != v->m->op)
        FAIL_REGION("must be a child of the module");
    if (!body) return true;
    if (body->num_args != type->num_inputs) {
        FAIL_REGION("entry block must have %u arguments to match function signature",
                    type->num_inputs);
    }
    for (uint32_t i = 0; i < body->num_args; i++) {
        if (body->args[i]->type == type->inputs[i]) continue;
        FAIL_TYPE(
            "entry block argument #%u('%s') must match the type of the corresponding argument in "
            "function signature('%s')",
            i, verify_type(v, body->args[i]->type), verify_type(v, type->inputs[i]));
    }
    return true;
}

bool verify_llvm_return(Verifier *v, const IrOp *op) {
    const IrOp *parent = ir_op_parent(op);
    if (parent && parent->kind == IR_LLVM_MLIR_GLOBAL) return true;
    const IrType *type = llvm_func_type(parent);
    if (!type) FAIL_REGION("expects parent op 'llvm.func'");
    bool is_void = type->results[0]->kind == IR_TYPE_VOID;
    if (op->num_operands != !is_void) {
        FAIL_TYPE(is_void ? "expected no operands" : "expected 1 operand");
    }
    if (!is_void && verify_operand_type(op, 0) != type->results[0]) {
        FAIL_TYPE("mismatching result types: '%s' and '%s'",
                  verify_type(v, verify_operand_type(op, 0)), verify_type(v, type->results[0]));
    }
    return true;
}

// Operands first .. first + num go to the arguments of block.
static bool check_successor(Verifier *v, const IrOp *op, uint32_t s, uint32_t segment) {
    const IrBlock *block = op->successors[s];
    uint32_t first = ir_op_segment_start(op, segment), num = op->segments[segment];
    if (!block || block->region != op->block->region)
        FAIL_REGION("has a successor of another region");
    if (block == block->region->first)
        FAIL_REGION("entry block of region may not have predecessors");
    if (block->num_args != num) {
        FAIL_TYPE("branch has %u operands for successor #%u, but target block has %u", num, s,
                  block->num_args);
    }
    for (uint32_t i = 0; i < num; i++) {
        if (verify_operand_type(op, first + i) == block->args[i]->type) continue;
        FAIL_TYPE("type mismatch for bb argument #%u of successor #%u", i, s);
    }
    return true;
}

// llvm.br {arguments}, llvm.cond_br {condition, true arguments, false arguments}
bool verify_llvm_branch(Verifier *v, const IrOp *op) {
    bool is_conditional = op->kind == IR_LLVM_COND_BR;
    if (op->num_successors != (is_conditional ? 2 : 1))
        FAIL_REGION("has a wrong number of successors");
    if (!is_conditional) return check_successor(v, op, 0, 0);
    return check_successor(v, op, 0, 1) && check_successor(v, op, 1, 2);
}

// llvm.mlir.global, llvm.mlir.addressof
bool verify_llvm_symbol(Verifier *v, const IrOp *op) {
    if (op->kind == IR_LLVM_MLIR_GLOBAL) {
        if (!verify_attr(op, "global_type", IR_ATTR_TYPE))
            FAIL_ATTR("requires attribute 'global_type'");
        return true;
    }
    const IrAttr *name = verify_attr(op, "global_name", IR_ATTR_SYMBOL);
    const IrOp *target = name ? ir_symbol_find(v->m, name->str) : NULL;
    if (!target || (target->kind != IR_LLVM_MLIR_GLOBAL && target->kind != IR_LLVM_FUNC)) {
        return verify_fail(v, DIAG_I0103, op,
                           "must reference a global defined by 'llvm.mlir.global' or "
                           "'llvm.func'");
    }
    return true;
}

bool verify_llvm_call(Verifier *v, const IrOp *op) {
    const IrAttr *callee = verify_attr(op, "callee", IR_ATTR_SYMBOL);
    const IrOp *func = callee ? ir_symbol_find(v->m, callee->str) : NULL;
    const IrType *type = llvm_func_type(func);
    if (!type) {
        return verify_fail(v, DIAG_I0103, op,
                           "'%s' does not reference a symbol in the current scope",
                           callee ? callee->str : "");
    }
    bool is_void = type->results[0]->kind == IR_TYPE_VOID;
    if (op->num_operands != type->num_inputs) {
        FAIL_TYPE("incorrect number of operands (%u) for callee (expecting: %u)", op->num_operands,
                  type->num_inputs);
    }
    if (op->num_results != !is_void || (!is_void && op->results[0].type != type->results[0])) {
        FAIL_TYPE("result type does not match the function result type");
    }
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (verify_operand_type(op, i) != type->inputs[i])
            FAIL_TYPE("operand type mismatch for operand %u", i);
    }
    return true;
}

// The type at a position of nested structs and arrays, NULL if there is none.
static const IrType *field_type(const IrType *type, const IrAttr *position) {
    for (size_t i = 0; type && i < position->num_values; i++) {
        int64_t at = position->values[i];
        if (type->kind == IR_TYPE_STRUCT) {
            type = at >= 0 && at < (int64_t)type->num_inputs ? type->inputs[at] : NULL;
        } else if (type->kind == IR_TYPE_ARRAY) {
            type = at >= 0 && at < type->shape[0] ? type->elem : NULL;
        } else {
            return NULL;
        }
    }
    return type;
}

// llvm.extractvalue, llvm.insertvalue, llvm.shufflevector
bool verify_llvm_aggregate(Verifier *v, const IrOp *op) {
    if (op->kind == IR_LLVM_SHUFFLEVECTOR) {
        const IrAttr *mask = verify_attr(op, "mask", IR_ATTR_DENSE_ARRAY);
        const IrType *a = verify_operand_type(op, 0), *result = op->results[0].type;
        if (!mask || a->rank != 1 || result->rank != 1 || verify_operand_type(op, 1) != a ||
            result->elem != a->elem || (size_t)result->shape[0] != mask->num_values) {
            FAIL_TYPE("needs two vectors of one type and a mask of the result's length");
        }
        for (size_t i = 0; i < mask->num_values; i++) {
            if (mask->values[i] >= 2 * a->shape[0] || mask->values[i] < -1)
                FAIL_ATTR("mask out of range");
        }
        return true;
    }
    const IrAttr *position = verify_attr(op, "position", IR_ATTR_DENSE_ARRAY);
    // insertvalue's operands stand as container, value.
    const IrType *container =
        op->kind == IR_LLVM_EXTRACTVALUE ? verify_operand_type(op, 0) : op->results[0].type;
    const IrType *field = position ? field_type(container, position) : NULL;
    if (!field)
        FAIL_ATTR("has a position that its aggregate '%s' lacks", verify_type(v, container));
    if (op->kind == IR_LLVM_EXTRACTVALUE && op->results[0].type != field) {
        FAIL_TYPE("type mismatch: extracting from '%s' should produce '%s'",
                  verify_type(v, container), verify_type(v, field));
    }
    return true;
}
