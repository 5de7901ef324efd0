// One llvm.func to an LLVM module, op by op, through the C API; no op is dropped, merged or
// reordered here. Blocks are visited in reverse postorder, so that values are known before their
// uses.
#include "abi/kernel_abi.h"
#include "codegen/codegen_internal.h"

#include <llvm-c/Analysis.h>
#include <stdlib.h>
#include <string.h>

typedef struct Translation {
    const IrModule *m;
    const IrOp *func;
    CpuLevel level;
    DiagSink *sink;
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMValueRef *values;   // by dense index of the IR value
    const IrBlock **blocks; // in the region's order
    LLVMBasicBlockRef *basic_blocks;
    uint32_t num_blocks;
} Translation;

static Status refuse(const Translation *t, const IrOp *op, const char *what) {
    return diag_error(t->sink, DIAG_B0003, ir_loc_span(op->loc), "%s: %s",
                      ir_op_info(op->kind)->name, what);
}

static LLVMValueRef operand(const Translation *t, const IrOp *op, uint32_t i) {
    LLVMValueRef value = t->values[ir_op_operand(op, i)->index];
    BUG_IF(!value, "%s uses a value that is not translated yet", ir_op_info(op->kind)->name);
    return value;
}

static Status set_result(Translation *t, const IrOp *op, LLVMValueRef value) {
    const IrValue *result = ir_op_result(op, 0);
    if (LLVMTypeOf(value) != codegen_type(t->ctx, result->type))
        return refuse(t, op, "its result has another type than it says");
    t->values[result->index] = value;
    return STATUS_OK;
}

static int64_t int_attr(const IrOp *op, const char *name, int64_t absent) {
    const IrAttr *attr = ir_op_attr(op, name);
    return attr && (attr->kind == IR_ATTR_INT || attr->kind == IR_ATTR_BOOL) ? attr->i : absent;
}

static uint32_t block_number(const Translation *t, const IrBlock *block) {
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        if (t->blocks[i] == block) return i;
    }
    BUG("a branch to a block of another function");
}

// ---------------------------------------------------------------- arithmetic

typedef LLVMValueRef (*BuildBinary)(LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *);
typedef LLVMValueRef (*BuildCast)(LLVMBuilderRef, LLVMValueRef, LLVMTypeRef, const char *);

static BuildBinary binary_builder(IrOpKind kind) {
    switch (kind) {
    case IR_LLVM_ADD: return LLVMBuildAdd;
    case IR_LLVM_SUB: return LLVMBuildSub;
    case IR_LLVM_MUL: return LLVMBuildMul;
    case IR_LLVM_SDIV: return LLVMBuildSDiv;
    case IR_LLVM_UDIV: return LLVMBuildUDiv;
    case IR_LLVM_SREM: return LLVMBuildSRem;
    case IR_LLVM_UREM: return LLVMBuildURem;
    case IR_LLVM_AND: return LLVMBuildAnd;
    case IR_LLVM_OR: return LLVMBuildOr;
    case IR_LLVM_XOR: return LLVMBuildXor;
    case IR_LLVM_SHL: return LLVMBuildShl;
    case IR_LLVM_ASHR: return LLVMBuildAShr;
    case IR_LLVM_LSHR: return LLVMBuildLShr;
    case IR_LLVM_FADD: return LLVMBuildFAdd;
    case IR_LLVM_FSUB: return LLVMBuildFSub;
    case IR_LLVM_FMUL: return LLVMBuildFMul;
    case IR_LLVM_FDIV: return LLVMBuildFDiv;
    case IR_LLVM_EXTRACTELEMENT: return LLVMBuildExtractElement;
    default: return NULL;
    }
}

static BuildCast cast_builder(IrOpKind kind) {
    switch (kind) {
    case IR_LLVM_SEXT: return LLVMBuildSExt;
    case IR_LLVM_ZEXT: return LLVMBuildZExt;
    case IR_LLVM_TRUNC: return LLVMBuildTrunc;
    case IR_LLVM_FPEXT: return LLVMBuildFPExt;
    case IR_LLVM_FPTRUNC: return LLVMBuildFPTrunc;
    case IR_LLVM_SITOFP: return LLVMBuildSIToFP;
    case IR_LLVM_UITOFP: return LLVMBuildUIToFP;
    case IR_LLVM_FPTOSI: return LLVMBuildFPToSI;
    case IR_LLVM_FPTOUI: return LLVMBuildFPToUI;
    case IR_LLVM_BITCAST: return LLVMBuildBitCast;
    case IR_LLVM_PTRTOINT: return LLVMBuildPtrToInt;
    case IR_LLVM_INTTOPTR: return LLVMBuildIntToPtr;
    default: return NULL;
    }
}

typedef struct Predicate {
    const char *name;
    int value;
} Predicate;

static const Predicate int_predicates[] = {
    {"eq", LLVMIntEQ},   {"ne", LLVMIntNE},   {"slt", LLVMIntSLT}, {"sle", LLVMIntSLE},
    {"sgt", LLVMIntSGT}, {"sge", LLVMIntSGE}, {"ult", LLVMIntULT}, {"ule", LLVMIntULE},
    {"ugt", LLVMIntUGT}, {"uge", LLVMIntUGE}, {NULL, 0},
};
static const Predicate real_predicates[] = {
    {"_false", LLVMRealPredicateFalse},
    {"oeq", LLVMRealOEQ},
    {"ogt", LLVMRealOGT},
    {"oge", LLVMRealOGE},
    {"olt", LLVMRealOLT},
    {"ole", LLVMRealOLE},
    {"one", LLVMRealONE},
    {"ord", LLVMRealORD},
    {"ueq", LLVMRealUEQ},
    {"ugt", LLVMRealUGT},
    {"uge", LLVMRealUGE},
    {"ult", LLVMRealULT},
    {"ule", LLVMRealULE},
    {"une", LLVMRealUNE},
    {"uno", LLVMRealUNO},
    {"_true", LLVMRealPredicateTrue},
    {NULL, 0},
};

static Status translate_compare(Translation *t, const IrOp *op) {
    const IrAttr *attr = ir_op_attr(op, "predicate");
    bool is_int = op->kind == IR_LLVM_ICMP;
    const Predicate *p = is_int ? int_predicates : real_predicates;
    while (p->name && !(attr && attr->kind == IR_ATTR_STRING && str_equal(p->name, attr->str))) p++;
    if (!p->name) return refuse(t, op, "unknown predicate");
    LLVMValueRef a = operand(t, op, 0), b = operand(t, op, 1);
    return set_result(t, op,
                      is_int ? LLVMBuildICmp(t->builder, (LLVMIntPredicate)p->value, a, b, "")
                             : LLVMBuildFCmp(t->builder, (LLVMRealPredicate)p->value, a, b, ""));
}

static Status translate_shuffle(Translation *t, const IrOp *op) {
    const IrAttr *mask = ir_op_attr(op, "mask");
    if (!mask || mask->kind != IR_ATTR_DENSE_ARRAY || mask->num_values == 0)
        return refuse(t, op, "no mask");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(t->ctx);
    LLVMValueRef a = operand(t, op, 0), b = operand(t, op, 1);
    int64_t num_lanes = 2 * (int64_t)LLVMGetVectorSize(LLVMTypeOf(a));
    LLVMValueRef *lanes = base_alloc(mask->num_values, sizeof *lanes);
    for (size_t i = 0; i < mask->num_values; i++) {
        int64_t lane = mask->values[i];
        lanes[i] = lane < 0 || lane >= num_lanes ? LLVMGetPoison(i32)
                                                 : LLVMConstInt(i32, (uint64_t)lane, false);
    }
    LLVMValueRef vector = LLVMConstVector(lanes, (unsigned)mask->num_values);
    free(lanes);
    return set_result(t, op, LLVMBuildShuffleVector(t->builder, a, b, vector, ""));
}

// ---------------------------------------------------------------- intrinsics

static LLVMValueRef call_by_id(Translation *t, const char *name, uint32_t num_types,
                               LLVMTypeRef *types, uint32_t num_args, LLVMValueRef *args) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    BUG_IF(id == 0, "no intrinsic %s", name);
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(t->module, id, types, num_types);
    LLVMTypeRef type = LLVMIntrinsicGetType(t->ctx, id, types, num_types);
    return LLVMBuildCall2(t->builder, type, callee, args, num_args, "");
}

// llvm.intr.X is llvm.X, overloaded on its first operand's type.
static Status translate_intr(Translation *t, const IrOp *op) {
    char name[64] = "llvm.";
    const char *tail = ir_op_info(op->kind)->name + strlen("llvm.intr.");
    strncat(name, tail, sizeof name - strlen(name) - 1);
    LLVMValueRef args[3];
    if (op->num_operands > 3) return refuse(t, op, "too many operands");
    for (uint32_t i = 0; i < op->num_operands; i++) args[i] = operand(t, op, i);
    bool has_start =
        op->kind == IR_LLVM_INTR_VECTOR_REDUCE_FADD || op->kind == IR_LLVM_INTR_VECTOR_REDUCE_FMUL;
    LLVMTypeRef overload = LLVMTypeOf(args[has_start ? 1 : 0]);
    return set_result(t, op, call_by_id(t, name, 1, &overload, op->num_operands, args));
}

static void set_param_align(Translation *t, LLVMValueRef call, unsigned param, int64_t align) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(call, param + 1,
                             LLVMCreateEnumAttribute(t->ctx, kind, (uint64_t)align));
}

static bool good_align(int64_t align) {
    return align > 0 && align <= 4096 && (align & (align - 1)) == 0;
}

static Status translate_masked(Translation *t, const IrOp *op) {
    bool is_load = op->kind == IR_LLVM_INTR_MASKED_LOAD;
    int64_t align = int_attr(op, "alignment", 1);
    if (op->num_operands != 3) return refuse(t, op, "it needs a pass-through value");
    if (!good_align(align)) return refuse(t, op, "bad alignment");
    LLVMValueRef args[] = {operand(t, op, 0), operand(t, op, 1), operand(t, op, 2)};
    LLVMTypeRef types[] = {LLVMTypeOf(args[is_load ? 2 : 0]), LLVMTypeOf(args[is_load ? 0 : 1])};
    LLVMValueRef call =
        call_by_id(t, is_load ? "llvm.masked.load" : "llvm.masked.store", 2, types, 3, args);
    set_param_align(t, call, is_load ? 0 : 1, align);
    return is_load ? set_result(t, op, call) : STATUS_OK;
}

static Status translate_prefetch(Translation *t, const IrOp *op) {
    int64_t rw = int_attr(op, "rw", 0), hint = int_attr(op, "hint", 3),
            cache = int_attr(op, "cache", 1);
    if (rw < 0 || rw > 1 || hint < 0 || hint > 3 || cache < 0 || cache > 1)
        return refuse(t, op, "bad hint");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(t->ctx);
    LLVMValueRef args[] = {operand(t, op, 0), LLVMConstInt(i32, (uint64_t)rw, false),
                           LLVMConstInt(i32, (uint64_t)hint, false),
                           LLVMConstInt(i32, (uint64_t)cache, false)};
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    call_by_id(t, "llvm.prefetch", 1, &type, 4, args);
    return STATUS_OK;
}

static Status translate_call_intrinsic(Translation *t, const IrOp *op) {
    TRY(codegen_check_intrinsic(op, t->level, t->sink));
    const char *name = ir_op_attr(op, "intrin")->str;
    LLVMValueRef *args = base_alloc(op->num_operands + 1, sizeof *args);
    LLVMTypeRef *types = base_alloc(op->num_operands + 1, sizeof *types);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        args[i] = operand(t, op, i);
        types[i] = LLVMTypeOf(args[i]);
    }
    LLVMTypeRef result = op->num_results ? codegen_type(t->ctx, ir_op_result(op, 0)->type)
                                         : LLVMVoidTypeInContext(t->ctx);
    LLVMValueRef call = NULL;
    if (result) {
        LLVMTypeRef type = LLVMFunctionType(result, types, op->num_operands, false);
        LLVMValueRef callee = LLVMGetNamedFunction(t->module, name);
        if (!callee) callee = LLVMAddFunction(t->module, name, type);
        if (LLVMGlobalGetValueType(callee) == type)
            call = LLVMBuildCall2(t->builder, type, callee, args, op->num_operands, "");
    }
    free(args);
    free(types);
    if (!call) return refuse(t, op, "two uses of the intrinsic differ in their types");
    return op->num_results ? set_result(t, op, call) : STATUS_OK;
}

// ---------------------------------------------------------------- memory

static Status translate_gep(Translation *t, const IrOp *op) {
    const IrAttr *elem = ir_op_attr(op, "elem_type"), *raw = ir_op_attr(op, "rawConstantIndices");
    LLVMTypeRef type = elem && elem->kind == IR_ATTR_TYPE ? codegen_type(t->ctx, elem->type) : NULL;
    if (!type || !raw || raw->kind != IR_ATTR_DENSE_ARRAY || raw->num_values > 8)
        return refuse(t, op, "no element type, or too many indices");
    LLVMValueRef indices[8];
    uint32_t next = 1;
    for (size_t i = 0; i < raw->num_values; i++) {
        bool is_dynamic = raw->values[i] == INT32_MIN;
        if (is_dynamic && next >= op->num_operands) return refuse(t, op, "an index is missing");
        indices[i] = is_dynamic ? operand(t, op, next++)
                                : LLVMConstInt(LLVMInt32TypeInContext(t->ctx),
                                               (uint64_t)raw->values[i], true);
    }
    return set_result(
        t, op,
        LLVMBuildGEP2(t->builder, type, operand(t, op, 0), indices, (unsigned)raw->num_values, ""));
}

static Status translate_load(Translation *t, const IrOp *op) {
    LLVMTypeRef type = codegen_type(t->ctx, ir_op_result(op, 0)->type);
    int64_t align = int_attr(op, "alignment", 0);
    if (!type || (align && !good_align(align))) return refuse(t, op, "bad type or alignment");
    LLVMValueRef load = LLVMBuildLoad2(t->builder, type, operand(t, op, 0), "");
    if (align) LLVMSetAlignment(load, (unsigned)align);
    // What was never written is any one value, so that a check and what it guards see the same.
    bool is_checked = LLVMCountParams(t->function) > KERNEL_NUM_PARAMS;
    return set_result(t, op, is_checked ? LLVMBuildFreeze(t->builder, load, "") : load);
}

static Status translate_store(Translation *t, const IrOp *op) {
    int64_t align = int_attr(op, "alignment", 0);
    if (align && !good_align(align)) return refuse(t, op, "bad alignment");
    LLVMValueRef store = LLVMBuildStore(t->builder, operand(t, op, 0), operand(t, op, 1));
    if (align) LLVMSetAlignment(store, (unsigned)align);
    return STATUS_OK;
}

static Status translate_alloca(Translation *t, const IrOp *op) {
    const IrAttr *elem = ir_op_attr(op, "elem_type");
    LLVMTypeRef type = elem && elem->kind == IR_ATTR_TYPE ? codegen_type(t->ctx, elem->type) : NULL;
    int64_t align = int_attr(op, "alignment", 0);
    LLVMValueRef count = operand(t, op, 0);
    if (!type || !LLVMIsConstant(count) || (align && !good_align(align)))
        return refuse(t, op, "a kernel's stack has a static size");
    LLVMValueRef made = LLVMBuildArrayAlloca(t->builder, type, count, "");
    if (align) LLVMSetAlignment(made, (unsigned)align);
    return set_result(t, op, made);
}

static Status translate_addressof(Translation *t, const IrOp *op) {
    const IrAttr *name = ir_op_attr(op, "global_name");
    const IrOp *global = name ? ir_symbol_find(t->m, name->str) : NULL;
    if (!global || global->kind != IR_LLVM_MLIR_GLOBAL) return refuse(t, op, "no such constant");
    LLVMValueRef made = LLVMGetNamedGlobal(t->module, name->str);
    if (!made) {
        const IrAttr *type_attr = ir_op_attr(global, "global_type"),
                     *value = ir_op_attr(global, "value");
        LLVMTypeRef type = type_attr ? codegen_type(t->ctx, type_attr->type) : NULL;
        LLVMValueRef init = type && value ? codegen_constant(t->ctx, value, type) : NULL;
        int64_t align = int_attr(global, "alignment", 1);
        if (!init || !ir_op_attr(global, "constant") || !good_align(align) ||
            align > CODEGEN_ALIGN_BYTES)
            return refuse(t, global, "kernels know constants with a value only");
        made = LLVMAddGlobal(t->module, type, name->str);
        LLVMSetInitializer(made, init);
        LLVMSetGlobalConstant(made, true);
        LLVMSetLinkage(made, LLVMPrivateLinkage); // anything else needs a GOT
        LLVMSetAlignment(made, (unsigned)align);
    }
    return set_result(t, op, made);
}

// ---------------------------------------------------------------- control

static void add_phi_values(Translation *t, const IrOp *op, uint32_t first, uint32_t n,
                           const IrBlock *to, LLVMBasicBlockRef from) {
    BUG_IF(n != to->num_args, "branch with %u values to a block of %u", n, to->num_args);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef value = operand(t, op, first + i);
        LLVMAddIncoming(t->values[to->args[i]->index], &value, &from, 1);
    }
}

static Status translate_branch(Translation *t, const IrOp *op) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(t->builder);
    LLVMBasicBlockRef to = t->basic_blocks[block_number(t, op->successors[0])];
    if (op->kind == IR_LLVM_BR) {
        add_phi_values(t, op, 0, op->num_operands, op->successors[0], from);
        LLVMBuildBr(t->builder, to);
        return STATUS_OK;
    }
    LLVMBasicBlockRef other = t->basic_blocks[block_number(t, op->successors[1])];
    if (to == other && op->num_operands > 1) return refuse(t, op, "both ways lead to one block");
    add_phi_values(t, op, ir_op_segment_start(op, 1), op->segments[1], op->successors[0], from);
    add_phi_values(t, op, ir_op_segment_start(op, 2), op->segments[2], op->successors[1], from);
    LLVMBuildCondBr(t->builder, operand(t, op, 0), to, other);
    return STATUS_OK;
}

static Status translate_constant(Translation *t, const IrOp *op) {
    LLVMTypeRef type = codegen_type(t->ctx, ir_op_result(op, 0)->type);
    const IrAttr *attr = ir_op_attr(op, "value");
    LLVMValueRef value = type && attr ? codegen_constant(t->ctx, attr, type) : NULL;
    if (!value) return refuse(t, op, "its value does not fit its type");
    return set_result(t, op, value);
}

// Flags that would license a different result are not part of what Ingot generates.
static bool has_fast_math(const IrOp *op) {
    const IrAttr *flags = ir_op_attr(op, "fastmathFlags");
    return flags && !(flags->kind == IR_ATTR_STRING && str_equal(flags->str, "none"));
}

static Status translate_value(Translation *t, const IrOp *op) {
    LLVMTypeRef type = codegen_type(t->ctx, ir_op_result(op, 0)->type);
    if (!type) return refuse(t, op, "no such type in LLVM");
    switch (op->kind) {
    case IR_LLVM_MLIR_CONSTANT: return translate_constant(t, op);
    case IR_LLVM_MLIR_POISON: return set_result(t, op, LLVMGetPoison(type));
    case IR_LLVM_MLIR_UNDEF: return set_result(t, op, LLVMGetUndef(type));
    case IR_LLVM_MLIR_ZERO: return set_result(t, op, LLVMConstNull(type));
    case IR_LLVM_MLIR_ADDRESSOF: return translate_addressof(t, op);
    case IR_LLVM_GETELEMENTPTR: return translate_gep(t, op);
    case IR_LLVM_LOAD: return translate_load(t, op);
    case IR_LLVM_ALLOCA: return translate_alloca(t, op);
    case IR_LLVM_ICMP:
    case IR_LLVM_FCMP: return translate_compare(t, op);
    case IR_LLVM_FNEG: return set_result(t, op, LLVMBuildFNeg(t->builder, operand(t, op, 0), ""));
    case IR_LLVM_SELECT:
        return set_result(t, op,
                          LLVMBuildSelect(t->builder, operand(t, op, 0), operand(t, op, 1),
                                          operand(t, op, 2), ""));
    case IR_LLVM_INSERTELEMENT:
        return set_result(t, op,
                          LLVMBuildInsertElement(t->builder, operand(t, op, 0), operand(t, op, 1),
                                                 operand(t, op, 2), ""));
    case IR_LLVM_SHUFFLEVECTOR: return translate_shuffle(t, op);
    case IR_LLVM_INTR_MASKED_LOAD: return translate_masked(t, op);
    default: break;
    }
    BuildBinary binary = binary_builder(op->kind);
    if (binary)
        return set_result(t, op, binary(t->builder, operand(t, op, 0), operand(t, op, 1), ""));
    BuildCast cast = cast_builder(op->kind);
    if (cast) return set_result(t, op, cast(t->builder, operand(t, op, 0), type, ""));
    if (op->kind >= IR_LLVM_INTR_FMA && op->kind <= IR_LLVM_INTR_VECTOR_REDUCE_FMINIMUM)
        return translate_intr(t, op);
    return refuse(t, op, "no translation");
}

static Status translate_op(Translation *t, const IrOp *op) {
    if (has_fast_math(op)) return refuse(t, op, "fast-math flags change results");
    switch (op->kind) {
    case IR_LLVM_RETURN:
        if (op->num_operands) return refuse(t, op, "kernels return nothing");
        LLVMBuildRetVoid(t->builder);
        return STATUS_OK;
    case IR_LLVM_UNREACHABLE: LLVMBuildUnreachable(t->builder); return STATUS_OK;
    case IR_LLVM_BR:
    case IR_LLVM_COND_BR: return translate_branch(t, op);
    case IR_LLVM_STORE: return translate_store(t, op);
    case IR_LLVM_INTR_MASKED_STORE: return translate_masked(t, op);
    case IR_LLVM_INTR_PREFETCH: return translate_prefetch(t, op);
    case IR_LLVM_INTR_ASSUME: return STATUS_OK; // a hint
    case IR_LLVM_CALL_INTRINSIC: return translate_call_intrinsic(t, op);
    default: break;
    }
    if (op->num_results != 1) return refuse(t, op, "no translation");
    return translate_value(t, op);
}

// ---------------------------------------------------------------- blocks and function

// Numbers of the blocks in reverse postorder from the entry; returns how many are reachable.
static uint32_t reverse_postorder(const Translation *t, uint32_t *order) {
    bool *seen = base_alloc(t->num_blocks, sizeof *seen);
    uint32_t *stack = base_alloc(t->num_blocks, sizeof *stack);
    uint32_t *next = base_alloc(t->num_blocks, sizeof *next);
    uint32_t depth = 1, at = t->num_blocks;
    stack[0] = 0;
    seen[0] = true;
    while (depth > 0) {
        uint32_t block = stack[depth - 1];
        const IrOp *end = ir_block_terminator(t->blocks[block]);
        if (end && next[block] < end->num_successors) {
            uint32_t to = block_number(t, end->successors[next[block]++]);
            if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        } else {
            order[--at] = block;
            depth--;
        }
    }
    uint32_t count = t->num_blocks - at;
    memmove(order, order + at, count * sizeof *order);
    free(seen);
    free(stack);
    free(next);
    return count;
}

static Status make_blocks(Translation *t, const uint32_t *order, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        t->basic_blocks[order[i]] = LLVMAppendBasicBlockInContext(t->ctx, t->function, "");
    for (uint32_t i = 0; i < count; i++) {
        const IrBlock *block = t->blocks[order[i]];
        LLVMPositionBuilderAtEnd(t->builder, t->basic_blocks[order[i]]);
        for (uint32_t a = 0; a < block->num_args; a++) {
            LLVMTypeRef type = codegen_type(t->ctx, block->args[a]->type);
            if (!type) return refuse(t, t->func, "a block argument of no LLVM type");
            t->values[block->args[a]->index] =
                order[i] == 0 ? LLVMGetParam(t->function, a) : LLVMBuildPhi(t->builder, type, "");
        }
    }
    return STATUS_OK;
}

static Status translate_body(Translation *t) {
    FOR_EACH_BLOCK(block, &t->func->regions[0]) t->num_blocks++;
    t->blocks = base_alloc(t->num_blocks, sizeof *t->blocks);
    t->basic_blocks = base_alloc(t->num_blocks, sizeof *t->basic_blocks);
    uint32_t *order = base_alloc(t->num_blocks, sizeof *order), n = 0;
    FOR_EACH_BLOCK(block, &t->func->regions[0]) t->blocks[n++] = block;
    uint32_t count = reverse_postorder(t, order);
    Status status = make_blocks(t, order, count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        LLVMPositionBuilderAtEnd(t->builder, t->basic_blocks[order[i]]);
        FOR_EACH_OP(op, t->blocks[order[i]]) {
            status = translate_op(t, op);
            if (status != STATUS_OK) break;
        }
    }
    free(order);
    return status;
}

static void add_attribute(Translation *t, const char *name, const char *value) {
    LLVMAttributeRef attr = LLVMCreateStringAttribute(t->ctx, name, (unsigned)strlen(name), value,
                                                      (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(t->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attr);
}

static void add_attributes(Translation *t) {
    const CpuLevelInfo *info = cpu_level_info(t->level);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(t->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(t->ctx, nounwind, 0));
    add_attribute(t, "no-builtins", ""); // a loop must not become memcpy
    add_attribute(t, "no-jump-tables", "true");
    add_attribute(t, "target-cpu", info->llvm_cpu);
    if (info->llvm_features[0]) add_attribute(t, "target-features", info->llvm_features);
    if (info->required & CPU_HAS_AVX512) add_attribute(t, "prefer-vector-width", "512");
}

static Status make_function(Translation *t) {
    const IrAttr *attr = ir_op_attr(t->func, "function_type");
    const IrType *type = attr ? attr->type : NULL;
    bool is_void = type && type->kind == IR_TYPE_LLVM_FUNCTION &&
                   type->results[0]->kind == IR_TYPE_VOID && type->num_inputs <= 16;
    if (!is_void) return refuse(t, t->func, "it must return !llvm.void");
    LLVMTypeRef params[16];
    for (uint32_t i = 0; i < type->num_inputs; i++) {
        params[i] = codegen_type(t->ctx, type->inputs[i]);
        if (!params[i]) return refuse(t, t->func, "a parameter of no LLVM type");
    }
    LLVMTypeRef signature =
        LLVMFunctionType(LLVMVoidTypeInContext(t->ctx), params, type->num_inputs, false);
    t->function = LLVMAddFunction(t->module, ir_symbol_name(t->func), signature);
    add_attributes(t);
    return STATUS_OK;
}

Status codegen_translate(const IrModule *m, const IrOp *func, CpuLevel level, LLVMContextRef ctx,
                         DiagSink *sink, LLVMModuleRef *out_module) {
    Translation t = {.m = m, .func = func, .level = level, .sink = sink, .ctx = ctx};
    char *message = NULL;
    t.module = LLVMModuleCreateWithNameInContext("kernel", ctx);
    t.builder = LLVMCreateBuilderInContext(ctx);
    t.values = base_alloc(m->num_values, sizeof *t.values);
    Status status = make_function(&t);
    if (status == STATUS_OK) status = translate_body(&t);
    if (status == STATUS_OK && LLVMVerifyModule(t.module, LLVMReturnStatusAction, &message))
        status = refuse(&t, func, message);
    if (status == STATUS_OK)
        *out_module = t.module;
    else
        LLVMDisposeModule(t.module);
    LLVMDisposeMessage(message);
    LLVMDisposeBuilder(t.builder);
    free(t.values);
    free(t.blocks);
    free(t.basic_blocks);
    return status;
}
