// The tables: operand groups and type equalities come from the op's syntax (formats.def); here
// stand the class of type each operand and result must have, and the further check of an op.
#include <string.h>

#include "ir/verify_internal.h"

// Classes of types, one letter for each operand slot of the syntax, in its order:
//   F float, I integer or index, J integer, S any scalar; all of these also as vectors
//   f float, e scalar, x index, b i1: scalars only     B i1 or vector of i1
//   T tensor, M memref, G either, V vector of rank 1 or more, W vector of integers, Z vector of
//   floats E tensor or scalar or memref (input of a structured op) P pointer, L anything of level
//   3, A anything
// Results: one letter each; "*" any number, "?" one or none.
typedef struct OpRule {
    const char *operands, *results;
    VerifyCheck check;
} OpRule;

#define BINARY_I                                                                                   \
    { "II", "I", NULL }
#define SHIFT                                                                                      \
    { "II", "I", verify_shift }
#define LLVM_CAST                                                                                  \
    { "L", "L", NULL }
#define LLVM_BINARY                                                                                \
    { "LL", "L", NULL }
#define LLVM_UNARY                                                                                 \
    { "L", "L", NULL }
#define INTRINSIC                                                                                  \
    { "L", "?", NULL }

// Ops without a line here have the rule of their kind, see rule_of.
static const OpRule rules[NUM_IR_OP_KINDS] = {
    [IR_BUILTIN_MODULE] = {"", "", verify_module},
    [IR_FUNC_FUNC] = {"", "", verify_func},
    [IR_FUNC_RETURN] = {"A", "", verify_return},
    [IR_FUNC_CALL] = {"A", "*", verify_call},

    [IR_ARITH_CONSTANT] = {"", "A", verify_arith_constant},
    [IR_ARITH_CMPF] = {"FF", "B", verify_cmp},
    [IR_ARITH_CMPI] = {"II", "B", verify_cmp},
    [IR_ARITH_SELECT] = {"BAA", "A", verify_select},
    [IR_ARITH_EXTF] = {"F", "F", verify_cast},
    [IR_ARITH_TRUNCF] = {"F", "F", verify_cast},
    [IR_ARITH_SITOFP] = {"J", "F", verify_cast},
    [IR_ARITH_UITOFP] = {"J", "F", verify_cast},
    [IR_ARITH_FPTOSI] = {"F", "J", verify_cast},
    [IR_ARITH_FPTOUI] = {"F", "J", verify_cast},
    [IR_ARITH_ADDI] = BINARY_I,
    [IR_ARITH_SUBI] = BINARY_I,
    [IR_ARITH_MULI] = BINARY_I,
    [IR_ARITH_DIVSI] = BINARY_I,
    [IR_ARITH_DIVUI] = BINARY_I,
    [IR_ARITH_REMSI] = BINARY_I,
    [IR_ARITH_REMUI] = BINARY_I,
    [IR_ARITH_ANDI] = BINARY_I,
    [IR_ARITH_ORI] = BINARY_I,
    [IR_ARITH_XORI] = BINARY_I,
    [IR_ARITH_SHLI] = SHIFT,
    [IR_ARITH_SHRSI] = SHIFT,
    [IR_ARITH_SHRUI] = SHIFT,
    [IR_ARITH_MINSI] = BINARY_I,
    [IR_ARITH_MAXSI] = BINARY_I,
    [IR_ARITH_MINUI] = BINARY_I,
    [IR_ARITH_MAXUI] = BINARY_I,
    [IR_ARITH_EXTSI] = {"J", "J", verify_cast},
    [IR_ARITH_EXTUI] = {"J", "J", verify_cast},
    [IR_ARITH_TRUNCI] = {"J", "J", verify_cast},
    [IR_ARITH_BITCAST] = {"S", "S", verify_cast},
    [IR_ARITH_INDEX_CAST] = {"I", "I", verify_cast},
    [IR_ARITH_INDEX_CASTUI] = {"I", "I", verify_cast},

    [IR_MATH_FMA] = {"FFF", "F", verify_fma},

    [IR_TENSOR_EMPTY] = {"x", "T", verify_tensor_empty},
    [IR_TENSOR_DIM] = {"Tx", "x", verify_dim},
    [IR_TENSOR_CAST] = {"A", "A", verify_shaped_cast},
    [IR_TENSOR_EXTRACT] = {"Tx", "e", verify_tensor_access},
    [IR_TENSOR_INSERT] = {"eTx", "T", verify_tensor_access},
    [IR_TENSOR_EXTRACT_SLICE] = {"Txxx", "T", verify_extract_slice},
    [IR_TENSOR_INSERT_SLICE] = {"TTxxx", "T", verify_insert_slice},
    [IR_TENSOR_EXPAND_SHAPE] = {"Tx", "T", verify_reshape},
    [IR_TENSOR_COLLAPSE_SHAPE] = {"T", "T", verify_reshape},
    [IR_TENSOR_PAD] = {"Txx", "T", verify_pad},
    [IR_TENSOR_YIELD] = {"A", "", NULL},
    [IR_TENSOR_PARALLEL_INSERT_SLICE] = {"TTxxx", "", verify_insert_slice},

    [IR_LINALG_INDEX] = {"", "x", verify_linalg_index},
    [IR_LINALG_YIELD] = {"A", "", NULL},
    [IR_LINALG_SOFTMAX] = {"TT", "T", verify_softmax},
    [IR_LINALG_TRANSPOSE] = {"GG", "*", verify_structured},
    [IR_LINALG_BROADCAST] = {"GG", "*", verify_structured},
    [IR_LINALG_PACK] = {"TTex", "T", verify_pack},
    [IR_LINALG_UNPACK] = {"TTx", "T", verify_pack},

    [IR_SCF_FOR] = {"IIIA", "*", verify_for},
    [IR_SCF_IF] = {"b", "*", verify_if},
    [IR_SCF_YIELD] = {"A", "", NULL},
    [IR_SCF_FORALL] = {"xxxT", "*", verify_forall},
    [IR_SCF_FORALL_IN_PARALLEL] = {"", "", verify_in_parallel},
    [IR_SCF_PARALLEL] = {"xxxe", "*", verify_parallel},
    [IR_SCF_REDUCE] = {"e", "", verify_scf_reduce},
    [IR_SCF_REDUCE_RETURN] = {"A", "", NULL},

    [IR_AFFINE_APPLY] = {"x", "x", verify_affine_apply},
    [IR_AFFINE_MIN] = {"x", "x", verify_affine_apply},
    [IR_AFFINE_MAX] = {"x", "x", verify_affine_apply},
    [IR_AFFINE_FOR] = {"xxA", "*", verify_affine_for},
    [IR_AFFINE_PARALLEL] = {"xx", "", verify_affine_parallel},
    [IR_AFFINE_YIELD] = {"A", "", NULL},
    [IR_AFFINE_LOAD] = {"Mx", "e", verify_affine_access},
    [IR_AFFINE_STORE] = {"eMx", "", verify_affine_access},
    [IR_AFFINE_VECTOR_LOAD] = {"Mx", "V", verify_affine_access},
    [IR_AFFINE_VECTOR_STORE] = {"VMx", "", verify_affine_access},

    [IR_MEMREF_ALLOC] = {"x", "M", verify_alloc},
    [IR_MEMREF_ALLOCA] = {"x", "M", verify_alloc},
    [IR_MEMREF_DEALLOC] = {"M", "", NULL},
    [IR_MEMREF_VIEW] = {"Mxx", "M", verify_view},
    [IR_MEMREF_SUBVIEW] = {"Mxxx", "M", verify_subview},
    [IR_MEMREF_REINTERPRET_CAST] = {"Mxxx", "M", verify_reinterpret_cast},
    [IR_MEMREF_CAST] = {"A", "A", verify_shaped_cast},
    [IR_MEMREF_EXPAND_SHAPE] = {"Mx", "M", verify_reshape},
    [IR_MEMREF_COLLAPSE_SHAPE] = {"M", "M", verify_reshape},
    [IR_MEMREF_LOAD] = {"Mx", "e", verify_memref_access},
    [IR_MEMREF_STORE] = {"eMx", "", verify_memref_access},
    [IR_MEMREF_COPY] = {"MM", "", verify_memref_copy},
    [IR_MEMREF_DIM] = {"Mx", "x", verify_dim},
    [IR_MEMREF_ASSUME_ALIGNMENT] = {"M", "?", verify_assume_alignment},
    [IR_MEMREF_GLOBAL] = {"", "", verify_global},
    [IR_MEMREF_GET_GLOBAL] = {"", "M", verify_get_global},
    [IR_MEMREF_PREFETCH] = {"Mx", "", verify_memref_access},

    [IR_VECTOR_LOAD] = {"Mx", "V", verify_vector_access},
    [IR_VECTOR_STORE] = {"VMx", "", verify_vector_access},
    [IR_VECTOR_TRANSFER_READ] = {"MxeV", "V", verify_transfer},
    [IR_VECTOR_TRANSFER_WRITE] = {"VMxV", "", verify_transfer},
    [IR_VECTOR_MASKEDLOAD] = {"MxBV", "V", verify_vector_access},
    [IR_VECTOR_MASKEDSTORE] = {"MxBV", "", verify_vector_access},
    [IR_VECTOR_CREATE_MASK] = {"x", "V", verify_vector_move},
    [IR_VECTOR_BROADCAST] = {"S", "V", verify_vector_move},
    [IR_VECTOR_FMA] = {"ZZZ", "Z", verify_fma},
    [IR_VECTOR_REDUCTION] = {"Ve", "e", verify_reduction},
    [IR_VECTOR_CONTRACT] = {"VVS", "S", verify_contract},
    [IR_VECTOR_EXTRACT] = {"Vx", "S", verify_vector_move},
    [IR_VECTOR_INSERT] = {"SVx", "V", verify_vector_move},
    [IR_VECTOR_SHAPE_CAST] = {"V", "V", verify_vector_move},
    [IR_VECTOR_FROM_ELEMENTS] = {"e", "V", verify_vector_move},
    [IR_VECTOR_TO_ELEMENTS] = {"V", "*", verify_vector_move},
    [IR_VECTOR_BITCAST] = {"V", "V", verify_vector_move},
    [IR_VECTOR_SHUFFLE] = {"VV", "V", verify_vector_move},
    [IR_VECTOR_INTERLEAVE] = {"VV", "V", verify_vector_move},
    [IR_VECTOR_DEINTERLEAVE] = {"V", "VV", verify_vector_move},
    [IR_VECTOR_STEP] = {"", "V", verify_vector_move},

    [IR_UB_POISON] = {"", "A", verify_poison},
    [IR_CF_ASSERT] = {"b", "", NULL},
    [IR_BUFFERIZATION_TO_TENSOR] = {"M", "T", verify_bridge},
    [IR_BUFFERIZATION_TO_BUFFER] = {"T", "M", verify_bridge},

    [IR_LLVM_CALL_INTRINSIC] = {"A", "?", verify_call_intrinsic},
    [IR_LLVM_FUNC] = {"", "", verify_llvm_func},
    [IR_LLVM_RETURN] = {"L", "", verify_llvm_return},
    [IR_LLVM_CALL] = {"L", "?", verify_llvm_call},
    [IR_LLVM_MLIR_GLOBAL] = {"", "", verify_llvm_symbol},
    [IR_LLVM_MLIR_ADDRESSOF] = {"", "P", verify_llvm_symbol},
    [IR_LLVM_MLIR_CONSTANT] = {"", "L", NULL},
    [IR_LLVM_MLIR_POISON] = {"", "L", NULL},
    [IR_LLVM_MLIR_UNDEF] = {"", "L", NULL},
    [IR_LLVM_MLIR_ZERO] = {"", "L", NULL},
    [IR_LLVM_GETELEMENTPTR] = {"LL", "L", NULL},
    [IR_LLVM_LOAD] = {"P", "L", NULL},
    [IR_LLVM_STORE] = {"LP", "", NULL},
    [IR_LLVM_ALLOCA] = {"J", "P", NULL},
    [IR_LLVM_BR] = {"L", "", verify_llvm_branch},
    [IR_LLVM_COND_BR] = {"bLL", "", verify_llvm_branch},
    [IR_LLVM_UNREACHABLE] = {"", "", NULL},
    [IR_LLVM_ADD] = LLVM_BINARY,
    [IR_LLVM_SUB] = LLVM_BINARY,
    [IR_LLVM_MUL] = LLVM_BINARY,
    [IR_LLVM_SDIV] = LLVM_BINARY,
    [IR_LLVM_UDIV] = LLVM_BINARY,
    [IR_LLVM_SREM] = LLVM_BINARY,
    [IR_LLVM_UREM] = LLVM_BINARY,
    [IR_LLVM_AND] = LLVM_BINARY,
    [IR_LLVM_OR] = LLVM_BINARY,
    [IR_LLVM_XOR] = LLVM_BINARY,
    [IR_LLVM_SHL] = LLVM_BINARY,
    [IR_LLVM_ASHR] = LLVM_BINARY,
    [IR_LLVM_LSHR] = LLVM_BINARY,
    [IR_LLVM_FADD] = LLVM_BINARY,
    [IR_LLVM_FSUB] = LLVM_BINARY,
    [IR_LLVM_FMUL] = LLVM_BINARY,
    [IR_LLVM_FDIV] = LLVM_BINARY,
    [IR_LLVM_FNEG] = LLVM_UNARY,
    [IR_LLVM_ICMP] = {"LL", "B", NULL},
    [IR_LLVM_FCMP] = {"FF", "B", NULL},
    [IR_LLVM_SELECT] = {"BLL", "L", NULL},
    [IR_LLVM_SEXT] = LLVM_CAST,
    [IR_LLVM_ZEXT] = LLVM_CAST,
    [IR_LLVM_TRUNC] = LLVM_CAST,
    [IR_LLVM_FPEXT] = LLVM_CAST,
    [IR_LLVM_FPTRUNC] = LLVM_CAST,
    [IR_LLVM_SITOFP] = LLVM_CAST,
    [IR_LLVM_UITOFP] = LLVM_CAST,
    [IR_LLVM_FPTOSI] = LLVM_CAST,
    [IR_LLVM_FPTOUI] = LLVM_CAST,
    [IR_LLVM_BITCAST] = LLVM_CAST,
    [IR_LLVM_PTRTOINT] = LLVM_CAST,
    [IR_LLVM_INTTOPTR] = LLVM_CAST,
    [IR_LLVM_EXTRACTELEMENT] = {"VI", "L", NULL},
    [IR_LLVM_INSERTELEMENT] = {"VLI", "V", NULL},
    [IR_LLVM_SHUFFLEVECTOR] = {"VV", "V", verify_llvm_aggregate},
    [IR_LLVM_EXTRACTVALUE] = {"L", "L", verify_llvm_aggregate},
    [IR_LLVM_INSERTVALUE] = {"LL", "L", verify_llvm_aggregate},
    [IR_LLVM_INTR_FMA] = INTRINSIC,
    [IR_LLVM_INTR_FMULADD] = INTRINSIC,
    [IR_LLVM_INTR_SQRT] = INTRINSIC,
    [IR_LLVM_INTR_FABS] = INTRINSIC,
    [IR_LLVM_INTR_FLOOR] = INTRINSIC,
    [IR_LLVM_INTR_CEIL] = INTRINSIC,
    [IR_LLVM_INTR_ROUNDEVEN] = INTRINSIC,
    [IR_LLVM_INTR_TRUNC] = INTRINSIC,
    [IR_LLVM_INTR_MAXIMUM] = INTRINSIC,
    [IR_LLVM_INTR_MINIMUM] = INTRINSIC,
    [IR_LLVM_INTR_MAXNUM] = INTRINSIC,
    [IR_LLVM_INTR_MINNUM] = INTRINSIC,
    [IR_LLVM_INTR_SMAX] = INTRINSIC,
    [IR_LLVM_INTR_SMIN] = INTRINSIC,
    [IR_LLVM_INTR_UMAX] = INTRINSIC,
    [IR_LLVM_INTR_UMIN] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_ADD] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_MUL] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_AND] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_OR] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_XOR] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_SMAX] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_SMIN] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_UMAX] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_UMIN] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_FADD] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_FMUL] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_FMAX] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_FMIN] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_FMAXIMUM] = INTRINSIC,
    [IR_LLVM_INTR_VECTOR_REDUCE_FMINIMUM] = INTRINSIC,
    [IR_LLVM_INTR_MASKED_LOAD] = {"A", "?", NULL},
    [IR_LLVM_INTR_MASKED_STORE] = {"LPL", "", NULL},
    [IR_LLVM_INTR_PREFETCH] = {"A", "", NULL},
    [IR_LLVM_INTR_ASSUME] = {"A", "", NULL},
};

static const OpRule *rule_of(IrOpKind kind) {
    static const OpRule structured = {"EG", "*", verify_structured}, unary = {"F", "F", NULL},
                        binary = {"FF", "F", NULL};
    const IrOpInfo *info = ir_op_info(kind);
    if (rules[kind].operands) return &rules[kind];
    if (info->traits & IR_LINALG) return &structured;
    if (str_equal(info->format, "unary_fm")) return &unary;
    if (str_equal(info->format, "binary_fm")) return &binary;
    BUG("%s has no rule", info->name);
}

VerifyCheck verify_check_of(IrOpKind kind) {
    return rule_of(kind)->check;
}

// ---------------------------------------------------------------- classes

static bool is_level3(const IrType *type) {
    return type->kind == IR_TYPE_PTR || type->kind == IR_TYPE_STRUCT ||
           type->kind == IR_TYPE_ARRAY || ir_type_is_scalar(type) || type->kind == IR_TYPE_VECTOR;
}

static bool is_class(char class, const IrType *type) {
    bool is_vector = type->kind == IR_TYPE_VECTOR, is_scalar = ir_type_is_scalar(type);
    const IrType *elem = is_vector ? type->elem : type;
    switch (class) {
    case 'F': return (is_scalar || is_vector) && ir_type_is_float(elem);
    case 'I': return (is_scalar || is_vector) && ir_type_is_int_or_index(elem);
    case 'J': return (is_scalar || is_vector) && elem->kind == IR_TYPE_INT;
    case 'S': return is_scalar || is_vector;
    case 'f': return is_scalar && ir_type_is_float(type);
    case 'e': return is_scalar;
    case 'x': return type->kind == IR_TYPE_INDEX;
    case 'b': return type->kind == IR_TYPE_INT && type->width == 1;
    case 'B': return (is_scalar || is_vector) && elem->kind == IR_TYPE_INT && elem->width == 1;
    case 'T': return type->kind == IR_TYPE_TENSOR;
    case 'M': return type->kind == IR_TYPE_MEMREF;
    case 'G': return type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_MEMREF;
    case 'V': return is_vector;
    case 'W': return is_vector && elem->kind == IR_TYPE_INT;
    case 'Z': return is_vector && ir_type_is_float(elem);
    case 'E': return is_scalar || type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_MEMREF;
    case 'P': return type->kind == IR_TYPE_PTR;
    case 'L': return is_level3(type);
    default: return true;
    }
}

static const char *class_name(char class) {
    switch (class) {
    case 'F': return "floating-point-like";
    case 'I': return "signless-integer-like";
    case 'J': return "signless-fixed-width-integer-like";
    case 'S': return "a scalar or vector";
    case 'f': return "floating-point";
    case 'e': return "a scalar";
    case 'x': return "index";
    case 'b': return "1-bit signless integer";
    case 'B': return "bool-like";
    case 'T': return "ranked tensor of any type values";
    case 'M': return "memref of any type values";
    case 'G': return "tensor or memref";
    case 'V': return "vector of any type values";
    case 'W': return "vector of integer values";
    case 'Z': return "vector of floating-point values";
    case 'E': return "scalar, tensor or memref";
    case 'P': return "LLVM pointer type";
    case 'L': return "LLVM dialect-compatible type";
    default: return "any type";
    }
}

// ---------------------------------------------------------------- operand groups

// How many operands each segment must have: single ones, and whether a list or an optional one is
// in it.
static bool check_groups(Verifier *v, const IrOp *op, const Syntax *syntax) {
    uint32_t singles[IR_MAX_SEGMENTS] = {0}, total = 0;
    char open[IR_MAX_SEGMENTS] = {0};
    for (uint32_t i = 0; i < syntax->num_slots; i++) {
        const SyntaxSlot *slot = &syntax->slots[i];
        if (slot->mode)
            open[slot->segment] = slot->mode;
        else
            singles[slot->segment]++;
    }
    for (uint32_t s = 0; s < IR_MAX_SEGMENTS; s++) {
        uint32_t have = op->segments[s], most = singles[s] + (open[s] == '?');
        total += have;
        if (have < singles[s] || (open[s] != '*' && have > most)) {
            return verify_fail(v, DIAG_I0104, op, "expected %u operands in group %u, but found %u",
                               singles[s], s, have);
        }
    }
    if (total != op->num_operands) {
        return verify_fail(v, DIAG_I0104, op, "expected %u operands, but found %u", total,
                           op->num_operands);
    }
    return true;
}

// The first operand of a slot and how many it has.
static uint32_t slot_operands(const IrOp *op, const Syntax *syntax, uint32_t i,
                              uint32_t *out_first) {
    const SyntaxSlot *slot = &syntax->slots[i];
    *out_first = ir_op_segment_start(op, slot->segment) + slot->place;
    return slot->mode ? op->segments[slot->segment] - slot->place : 1;
}

static bool check_operand_classes(Verifier *v, const IrOp *op, const Syntax *syntax,
                                  const OpRule *rule) {
    for (uint32_t i = 0; i < syntax->num_slots && rule->operands[i]; i++) {
        uint32_t first, num = slot_operands(op, syntax, i, &first);
        for (uint32_t o = first; o < first + num; o++) {
            const IrType *type = verify_operand_type(op, o);
            if (is_class(rule->operands[i], type)) continue;
            FAIL_TYPE("operand #%u must be %s, but got '%s'", o, class_name(rule->operands[i]),
                      verify_type(v, type));
        }
    }
    return true;
}

static bool check_result_classes(Verifier *v, const IrOp *op, const OpRule *rule) {
    if (rule->results[0] == '*') return true;
    uint32_t most = (uint32_t)strlen(rule->results);
    bool is_optional = rule->results[0] == '?';
    if (op->num_results > most || (!is_optional && op->num_results != most)) {
        FAIL_TYPE("has %u results, expected %u", op->num_results, most);
    }
    for (uint32_t i = 0; !is_optional && i < op->num_results; i++) {
        if (is_class(rule->results[i], op->results[i].type)) continue;
        FAIL_TYPE("result #%u must be %s, but got '%s'", i, class_name(rule->results[i]),
                  verify_type(v, op->results[i].type));
    }
    return true;
}

// ---------------------------------------------------------------- type equalities of the syntax

// The type a rule's right side stands for; NULL: none (the slot is empty, or a rule of the parser
// only).
static const IrType *rule_type(Verifier *v, const IrOp *op, const Syntax *syntax, const char *text,
                               size_t len) {
    bool is_call = len > 3 && text[len - 1] == ')';
    char slot = is_call ? text[len - 2] : text[0];
    if (len == 5 && !memcmp(text, "index", 5)) return ir_type_index(v->m);
    if (len == 2 && !memcmp(text, "i1", 2)) return ir_type_int(v->m, 1);
    if (len == 3 && !memcmp(text, "i64", 3)) return ir_type_int(v->m, 64);
    if (len != 1 && !(is_call && (!memcmp(text, "elem(", 5) || !memcmp(text, "bool(", 5))))
        return NULL;
    const IrType *type = NULL;
    if (slot == 'r') {
        type = op->num_results ? op->results[0].type : NULL;
    } else {
        for (uint32_t i = 0; i < syntax->num_slots; i++) {
            uint32_t first, num = slot_operands(op, syntax, i, &first);
            if (syntax->slots[i].name == slot && num) type = verify_operand_type(op, first);
        }
    }
    if (!type || len == 1) return type;
    if (text[0] == 'e') {
        return ir_type_is_shaped(type) ? type->elem : NULL;
    }
    const IrType *i1 = ir_type_int(v->m, 1);
    return type->kind == IR_TYPE_VECTOR ? ir_type_vector(v->m, type->rank, type->shape, i1) : i1;
}

static bool check_equality(Verifier *v, const IrOp *op, const Syntax *syntax, char slot,
                           const IrType *want) {
    if (slot == 'r') {
        if (!op->num_results || op->results[0].type == want) return true;
        FAIL_TYPE("result #0 must have type '%s', but has '%s'", verify_type(v, want),
                  verify_type(v, op->results[0].type));
    }
    for (uint32_t i = 0; i < syntax->num_slots; i++) {
        if (syntax->slots[i].name != slot) continue;
        uint32_t first, num = slot_operands(op, syntax, i, &first);
        for (uint32_t o = first; o < first + num; o++) {
            if (verify_operand_type(op, o) == want) continue;
            FAIL_TYPE("operand #%u must have type '%s', but has '%s'", o, verify_type(v, want),
                      verify_type(v, verify_operand_type(op, o)));
        }
    }
    return true;
}

static bool check_equalities(Verifier *v, const IrOp *op, const Syntax *syntax) {
    const char *at = syntax->rules ? syntax->rules : "";
    while (*at) {
        while (*at == ' ') at++;
        const char *end = at;
        while (*end && *end != ' ') end++;
        if (end - at > 2 && at[1] == '=') {
            const IrType *want = rule_type(v, op, syntax, at + 2, (size_t)(end - at - 2));
            if (want && !check_equality(v, op, syntax, at[0], want)) return false;
        }
        at = end;
    }
    return true;
}

static bool check_same_type(Verifier *v, const IrOp *op) {
    if (!(ir_op_info(op->kind)->traits & IR_SAME_TYPE) || !op->num_results) return true;
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (verify_operand_type(op, i) == op->results[0].type) continue;
        FAIL_TYPE("requires the same type for all operands and results");
    }
    return true;
}

// ---------------------------------------------------------------- attributes of the syntax

// Must the op have the attribute that a directive prints?
static bool is_required(SyntaxKind kind) {
    return kind == SYNTAX_ENUM || kind == SYNTAX_QUOTED_ENUM || kind == SYNTAX_STRING ||
           kind == SYNTAX_WORD || kind == SYNTAX_INT || kind == SYNTAX_SYMBOL ||
           kind == SYNTAX_TYPE_ATTR || kind == SYNTAX_INTS || kind == SYNTAX_CALL ||
           kind == SYNTAX_MAP;
}

static bool check_keyword(Verifier *v, const IrOp *op, const SyntaxItem *item, const IrAttr *attr) {
    char flags[128];
    bool is_known = true;
    if (attr->kind != IR_ATTR_STRING) return true;
    if (item->kind == SYNTAX_FASTMATH) {
        is_known = syntax_flags(syntax_fastmath_flags, attr->str, ",", flags, sizeof flags);
    } else if (item->kind == SYNTAX_OVERFLOW) {
        is_known = syntax_flags(syntax_overflow_flags, attr->str, ", ", flags, sizeof flags);
    } else if (item->kind == SYNTAX_ENUM || item->kind == SYNTAX_QUOTED_ENUM ||
               item->kind == SYNTAX_OPTIONAL_ENUM) {
        is_known = syntax_enum_known(op->kind, item->words[0], attr->str);
    }
    if (!is_known) FAIL_ATTR("has the unknown %s '%s'", item->words[0], attr->str);
    return true;
}

// Inherent attributes have the kind their name calls for, those that the text prints are there, and
// keywords are known.
static bool check_attributes(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        const char *name = op->attrs[i].name;
        if (!ir_op_attr_is_inherent(op->kind, name)) continue;
        if (!syntax_attr_fits(name, op->attrs[i].attr)) FAIL_ATTR("has a wrong kind of '%s'", name);
    }
    for (const VerifyItem *at = v->items[op->kind]; at; at = at->next) {
        const IrAttr *attr = ir_op_attr(op, at->item.words[0]);
        if (!attr && is_required(at->item.kind))
            FAIL_ATTR("requires attribute '%s'", at->item.words[0]);
        if (attr && !check_keyword(v, op, &at->item, attr)) return false;
    }
    return true;
}

// The directives of the template that are about attributes, in order.
static VerifyItem *list_items(Verifier *v, const Syntax *syntax) {
    VerifyItem *first = NULL, **link = &first;
    SyntaxItem item;
    for (const char *at = syntax->pattern; syntax_next(&at, &item);) {
        if (item.kind < SYNTAX_FASTMATH) continue;
        *link = ARENA_NEW(&v->arena, VerifyItem);
        (*link)->item = item;
        link = &(*link)->next;
    }
    return first;
}

static const Syntax *syntax_of_kind(Verifier *v, IrOpKind kind) {
    if (!v->syntax[kind]) {
        v->syntax[kind] = ARENA_NEW(&v->arena, Syntax);
        syntax_of(kind, v->syntax[kind]);
        v->items[kind] = list_items(v, v->syntax[kind]);
    }
    return v->syntax[kind];
}

bool verify_rules(Verifier *v, const IrOp *op) {
    const OpRule *rule = rule_of(op->kind);
    const Syntax *syntax = syntax_of_kind(v, op->kind);
    if (!rule->operands) FAIL_TYPE("has no rules");
    return check_groups(v, op, syntax) && check_operand_classes(v, op, syntax, rule) &&
           check_result_classes(v, op, rule) && check_same_type(v, op) &&
           check_equalities(v, op, syntax) && check_attributes(v, op);
}
