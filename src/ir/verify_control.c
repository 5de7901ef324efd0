// Checks of module, functions, calls, scf and affine.
#include "ir/verify_internal.h"

// ---------------------------------------------------------------- module, functions

static bool check_unique_symbols(Verifier *v, const IrOp *op) {
    bool is_good = true;
    FOR_EACH_OP(inner, ir_op_block(op, 0)) {
        if (!(ir_op_info(inner->kind)->traits & IR_SYMBOL)) continue;
        const char *name = ir_symbol_name(inner);
        if (!name) {
            is_good = verify_fail(v, DIAG_I0103, inner, "requires a string attribute 'sym_name'");
            continue;
        }
        // One of a name is found: the others are redefinitions.
        if (ir_symbol_find(v->m, name) != inner) {
            is_good = verify_fail(v, DIAG_I0103, inner, "redefinition of symbol named '%s'", name);
        }
    }
    return is_good;
}

bool verify_module(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_attrs; i++) {
        const char *name = op->attrs[i].name;
        if (ir_op_attr_is_inherent(op->kind, name) || __builtin_strchr(name, '.')) continue;
        FAIL_ATTR("can only contain attributes with dialect-prefixed names, found: '%s'", name);
    }
    if (op != v->m->op) FAIL_REGION("cannot be nested");
    FOR_EACH_OP(inner, ir_op_block(op, 0)) {
        IrOpKind kind = inner->kind;
        if (kind == IR_FUNC_FUNC || kind == IR_MEMREF_GLOBAL || kind == IR_LLVM_FUNC ||
            kind == IR_LLVM_MLIR_GLOBAL) {
            continue;
        }
        return verify_fail(v, DIAG_I0101, inner, "cannot stand at the top of a module");
    }
    return check_unique_symbols(v, op);
}

bool verify_func(Verifier *v, const IrOp *op) {
    const IrAttr *type_attr = verify_attr(op, "function_type", IR_ATTR_TYPE);
    const IrAttr *visibility = ir_op_attr(op, "sym_visibility");
    if (!type_attr || type_attr->type->kind != IR_TYPE_FUNCTION) {
        FAIL_ATTR("requires a function type in 'function_type'");
    }
    if (!op->block || ir_block_parent(op->block) != v->m->op)
        FAIL_REGION("must be a child of the module");
    const IrType *type = type_attr->type;
    const IrAttr *arg_attrs = ir_op_attr(op, "arg_attrs"), *res_attrs = ir_op_attr(op, "res_attrs");
    if (arg_attrs &&
        (arg_attrs->kind != IR_ATTR_ARRAY || arg_attrs->num_elems != type->num_inputs)) {
        FAIL_ATTR(
            "expects argument attribute array to have the same number of elements as the number of "
            "function arguments");
    }
    if (res_attrs &&
        (res_attrs->kind != IR_ATTR_ARRAY || res_attrs->num_elems != type->num_results)) {
        FAIL_ATTR(
            "expects result attribute array to have the same number of elements as the number of "
            "function results");
    }
    bool is_private =
        visibility && visibility->kind == IR_ATTR_STRING && str_equal(visibility->str, "private");
    const IrBlock *body = op->regions[0].first;
    if (!body) {
        if (!is_private) FAIL_REGION("symbol declaration cannot have public visibility");
        if (!v->options.allow_test_ops) {
            return verify_fail(v, DIAG_I0103, op,
                               "'%s' has no body; only a test driver may use functions "
                               "of elsewhere",
                               ir_symbol_name(op) ? ir_symbol_name(op) : "");
        }
        return true;
    }
    if (body->num_args != type->num_inputs) {
        FAIL_REGION("entry block must have %u arguments to match function signature",
                    type->num_inputs);
    }
    for (uint32_t i = 0; i < body->num_args; i++) {
        if (body->args[i]->type == type->inputs[i]) continue;
        FAIL_TYPE("type of entry block argument #%u('%s') must match the type of the corresponding "
                  "argument "
                  "in function signature('%s')",
                  i, verify_type(v, body->args[i]->type), verify_type(v, type->inputs[i]));
    }
    return true;
}

bool verify_return(Verifier *v, const IrOp *op) {
    const IrOp *func = ir_op_parent(op);
    const IrAttr *attr = func ? verify_attr(func, "function_type", IR_ATTR_TYPE) : NULL;
    if (!attr || func->kind != IR_FUNC_FUNC || attr->type->kind != IR_TYPE_FUNCTION) {
        FAIL_REGION("expects parent op 'func.func'");
    }
    const char *name = ir_symbol_name(func) ? ir_symbol_name(func) : "";
    if (op->num_operands != attr->type->num_results) {
        FAIL_TYPE("has %u operands, but enclosing function (@%s) returns %u", op->num_operands,
                  name, attr->type->num_results);
    }
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (verify_operand_type(op, i) == attr->type->results[i]) continue;
        FAIL_TYPE("type of return operand %u ('%s') doesn't match function result type ('%s') in "
                  "function "
                  "@%s",
                  i, verify_type(v, verify_operand_type(op, i)),
                  verify_type(v, attr->type->results[i]), name);
    }
    return true;
}

bool verify_call(Verifier *v, const IrOp *op) {
    const IrAttr *callee = verify_attr(op, "callee", IR_ATTR_SYMBOL);
    if (!callee)
        return verify_fail(v, DIAG_I0103, op, "requires a 'callee' symbol reference attribute");
    const IrOp *func = ir_symbol_find(v->m, callee->str);
    const IrAttr *attr = func ? verify_attr(func, "function_type", IR_ATTR_TYPE) : NULL;
    if (!func || func->kind != IR_FUNC_FUNC || !attr || attr->type->kind != IR_TYPE_FUNCTION) {
        return verify_fail(v, DIAG_I0103, op, "'%s' does not reference a valid function",
                           callee->str);
    }
    const IrType *type = attr->type;
    if (op->num_operands != type->num_inputs) FAIL_TYPE("incorrect number of operands for callee");
    if (op->num_results != type->num_results) FAIL_TYPE("incorrect number of results for callee");
    for (uint32_t i = 0; i < op->num_operands; i++) {
        if (verify_operand_type(op, i) == type->inputs[i]) continue;
        FAIL_TYPE("operand type mismatch: expected operand type '%s', but provided '%s' for "
                  "operand number "
                  "%u",
                  verify_type(v, type->inputs[i]), verify_type(v, verify_operand_type(op, i)), i);
    }
    for (uint32_t i = 0; i < op->num_results; i++) {
        if (op->results[i].type == type->results[i]) continue;
        FAIL_TYPE(
            "result type mismatch at index %u: op result type '%s', function result type '%s'", i,
            verify_type(v, op->results[i].type), verify_type(v, type->results[i]));
    }
    return true;
}

// ---------------------------------------------------------------- loops

// Values carried around a loop: initial values, region arguments and results of equal types, and
// yields.
static bool check_carried(Verifier *v, const IrOp *op, uint32_t first_init, uint32_t first_arg) {
    const IrBlock *block = ir_op_block(op, 0);
    uint32_t num = op->num_results;
    if (op->num_operands - first_init != num) {
        FAIL_TYPE("mismatch in number of loop-carried values and defined values");
    }
    if (block->num_args != first_arg + num) {
        FAIL_REGION("expected %u region arguments, but found %u", first_arg + num, block->num_args);
    }
    const IrType **types = ARENA_ARRAY(&v->arena, const IrType *, num + 1);
    for (uint32_t i = 0; i < num; i++) {
        types[i] = op->results[i].type;
        if (verify_operand_type(op, first_init + i) != types[i] ||
            block->args[first_arg + i]->type != types[i]) {
            FAIL_TYPE("types mismatch between %uth iter operand, region argument and defined value",
                      i);
        }
    }
    return verify_yields(v, op, 0, num, types, "results");
}

bool verify_for(Verifier *v, const IrOp *op) {
    const IrBlock *block = ir_op_block(op, 0);
    const IrType *type = verify_operand_type(op, 0);
    int64_t step;
    if (!ir_type_is_scalar(type) || verify_operand_type(op, 1) != type ||
        verify_operand_type(op, 2) != type) {
        FAIL_TYPE("failed to verify that all of {lowerBound, upperBound, step} have same type");
    }
    if (!block->num_args || block->args[0]->type != type) {
        FAIL_TYPE("expected induction variable to be same type as bounds and step");
    }
    if (verify_constant(op, 2, &step) && step <= 0)
        FAIL_ATTR("constant step operand must be positive");
    return check_carried(v, op, 3, 1);
}

bool verify_if(Verifier *v, const IrOp *op) {
    const IrType **types = ARENA_ARRAY(&v->arena, const IrType *, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = op->results[i].type;
    bool has_else = op->num_regions > 1 && op->regions[1].first;
    if (op->num_results && !has_else) FAIL_REGION("must have an else block if defining values");
    for (uint32_t r = 0; r < 1u + has_else; r++) {
        if (ir_op_block(op, r)->num_args) FAIL_REGION("region #%u must have no arguments", r);
        if (!verify_yields(v, op, r, op->num_results, types, "results")) return false;
    }
    return true;
}

// A static_* array whose dynamic entries are as many as the operands of a segment.
static const IrAttr *mixed_numbers(const IrOp *op, const char *name, uint32_t segment) {
    const IrAttr *attr = verify_attr(op, name, IR_ATTR_DENSE_ARRAY);
    uint32_t num_dynamic = 0;
    for (size_t i = 0; attr && i < attr->num_values; i++)
        num_dynamic += attr->values[i] == IR_DYNAMIC;
    return attr && num_dynamic == op->segments[segment] ? attr : NULL;
}

bool verify_forall(Verifier *v, const IrOp *op) {
    const IrAttr *lower = mixed_numbers(op, "staticLowerBound", 0);
    const IrAttr *upper = mixed_numbers(op, "staticUpperBound", 1);
    const IrAttr *step = mixed_numbers(op, "staticStep", 2);
    const IrBlock *block = ir_op_block(op, 0);
    if (!lower || !upper || !step || lower->num_values != upper->num_values ||
        step->num_values != upper->num_values || !lower->num_values) {
        FAIL_ATTR("has bounds that do not fit its operands");
    }
    uint32_t num_loops = (uint32_t)lower->num_values;
    for (uint32_t i = 0; i < num_loops; i++) {
        if (step->values[i] != IR_DYNAMIC && step->values[i] <= 0)
            FAIL_ATTR("has a step that is not positive");
    }
    if (op->segments[3] != op->num_results || block->num_args != num_loops + op->num_results) {
        FAIL_REGION("has %u region arguments for %u loops and %u shared outputs", block->num_args,
                    num_loops, op->segments[3]);
    }
    for (uint32_t i = 0; i < block->num_args; i++) {
        const IrType *type = block->args[i]->type;
        uint32_t shared = i - num_loops;
        bool fits = i < num_loops
                        ? type->kind == IR_TYPE_INDEX
                        : type == op->results[shared].type &&
                              type == verify_operand_type(op, ir_op_segment_start(op, 3) + shared);
        if (!fits)
            FAIL_TYPE("type mismatch between region argument #%u and its output or index", i);
    }
    return true;
}

bool verify_in_parallel(Verifier *v, const IrOp *op) {
    const IrBlock *block = op->num_regions ? ir_op_block(op, 0) : NULL;
    for (const IrOp *inner = block ? block->first : NULL; inner; inner = inner->next) {
        if (inner->kind == IR_TENSOR_PARALLEL_INSERT_SLICE) continue;
        return verify_fail(v, DIAG_I0101, inner,
                           "cannot stand here: expected only "
                           "tensor.parallel_insert_slice ops");
    }
    return true;
}

bool verify_parallel(Verifier *v, const IrOp *op) {
    const IrBlock *block = ir_op_block(op, 0);
    uint32_t num_loops = op->segments[0];
    int64_t step;
    if (!num_loops || op->segments[1] != num_loops || op->segments[2] != num_loops) {
        FAIL_TYPE("needs as many lower bounds as upper bounds and steps, at least one");
    }
    if (block->num_args != num_loops)
        FAIL_REGION("expects the same number of induction variables as bounds");
    for (uint32_t i = 0; i < num_loops; i++) {
        if (block->args[i]->type->kind != IR_TYPE_INDEX) {
            FAIL_TYPE("expects arguments for the induction variable to be of index type");
        }
        if (verify_constant(op, ir_op_segment_start(op, 2) + i, &step) && step <= 0) {
            FAIL_ATTR("constant step operand must be positive");
        }
    }
    const IrOp *reduce = ir_block_terminator(block);
    if (op->segments[3] != op->num_results || reduce->num_operands != op->num_results) {
        FAIL_TYPE(
            "expects number of results: %u to be the same as number of reductions: %u and initial "
            "values: %u",
            op->num_results, reduce->num_operands, op->segments[3]);
    }
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrType *type = op->results[i].type;
        if (verify_operand_type(op, ir_op_segment_start(op, 3) + i) != type ||
            verify_operand_type(reduce, i) != type) {
            FAIL_TYPE("result #%u, its initial value and its reduction have different types", i);
        }
    }
    return true;
}

bool verify_scf_reduce(Verifier *v, const IrOp *op) {
    if (op->num_regions != op->num_operands) {
        FAIL_REGION(
            "expects number of reduction regions: %u to be the same as number of operands: %u",
            op->num_regions, op->num_operands);
    }
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = verify_operand_type(op, i);
        const IrBlock *block = ir_op_block(op, i);
        if (block->num_args != 2 || block->args[0]->type != type || block->args[1]->type != type) {
            FAIL_TYPE("region #%u expects two arguments of type '%s'", i, verify_type(v, type));
        }
        if (!verify_yields(v, op, i, 1, &type, "reduced value")) return false;
    }
    return true;
}

// ---------------------------------------------------------------- affine

static const IrAffineMap *map_of(const IrOp *op, const char *name, uint32_t num_inputs) {
    const IrAttr *attr = verify_attr(op, name, IR_ATTR_MAP);
    if (!attr || attr->map->num_dims + attr->map->num_symbols != num_inputs) return NULL;
    return attr->map;
}

bool verify_affine_apply(Verifier *v, const IrOp *op) {
    const IrAffineMap *map = map_of(op, "map", op->num_operands);
    if (!map) FAIL_ATTR("operand count and affine map dimension and symbol count must match");
    if (op->kind == IR_AFFINE_APPLY && map->num_results != 1)
        FAIL_ATTR("mapping must produce one value");
    if (!map->num_results) FAIL_ATTR("affine map expects at least one result");
    return true;
}

bool verify_affine_for(Verifier *v, const IrOp *op) {
    const IrAffineMap *lower = map_of(op, "lowerBoundMap", op->segments[0]);
    const IrAffineMap *upper = map_of(op, "upperBoundMap", op->segments[1]);
    const IrAttr *step = verify_attr(op, "step", IR_ATTR_INT);
    const IrBlock *block = ir_op_block(op, 0);
    if (!lower || !upper)
        FAIL_ATTR("operand count must match with affine map dimension and symbol count");
    if (!lower->num_results) FAIL_ATTR("expected lower bound to have at least one result");
    if (!upper->num_results) FAIL_ATTR("expected upper bound to have at least one result");
    if (!step || step->i <= 0) FAIL_ATTR("expected step to be a positive integer");
    if (!block->num_args || block->args[0]->type->kind != IR_TYPE_INDEX) {
        FAIL_TYPE("expected body to have a single index argument for the induction variable");
    }
    return check_carried(v, op, ir_op_segment_start(op, 2), 1);
}

bool verify_affine_parallel(Verifier *v, const IrOp *op) {
    const IrAffineMap *lower = map_of(op, "lowerBoundsMap", op->segments[0]);
    const IrAffineMap *upper = map_of(op, "upperBoundsMap", op->segments[1]);
    const IrAttr *steps = verify_attr(op, "steps", IR_ATTR_ARRAY);
    const IrBlock *block = ir_op_block(op, 0);
    if (!lower || !upper)
        FAIL_ATTR("operand count must match with affine map dimension and symbol count");
    if (!steps || steps->num_elems != block->num_args) {
        FAIL_ATTR("the number of region arguments (%u) and the number of map groups for steps do "
                  "not match",
                  block->num_args);
    }
    if (lower->num_results < block->num_args || upper->num_results < block->num_args) {
        FAIL_ATTR("has fewer bounds than induction variables");
    }
    for (uint32_t i = 0; i < block->num_args; i++) {
        if (block->args[i]->type->kind != IR_TYPE_INDEX)
            FAIL_TYPE("induction variables must be of index type");
        if (steps->elems[i]->kind != IR_ATTR_INT || steps->elems[i]->i <= 0) {
            FAIL_ATTR("has a step that is not positive");
        }
    }
    return verify_yields(v, op, 0, 0, NULL, "results");
}

bool verify_affine_access(Verifier *v, const IrOp *op) {
    bool is_store = op->kind == IR_AFFINE_STORE || op->kind == IR_AFFINE_VECTOR_STORE;
    uint32_t base = is_store ? 1 : 0;
    const IrType *memref = verify_operand_type(op, base);
    const IrType *value = is_store ? verify_operand_type(op, 0) : op->results[0].type;
    const IrAffineMap *map = map_of(op, "map", op->num_operands - base - 1);
    if (!map) FAIL_ATTR("expects as many subscripts as affine map inputs");
    if (map->num_results != memref->rank)
        FAIL_ATTR("affine map num results must equal memref rank");
    if (ir_type_elem(value) != memref->elem) {
        FAIL_TYPE("value to access must have the same element type as memref, '%s' vs '%s'",
                  verify_type(v, value), verify_type(v, memref));
    }
    bool is_vector = value->kind == IR_TYPE_VECTOR;
    if (is_vector && value->rank > memref->rank)
        FAIL_TYPE("has a vector of higher rank than its memref");
    for (uint32_t r = 0; r < map->num_results; r++) { // V2
        int64_t width = 1;
        uint32_t first = is_vector ? memref->rank - value->rank : memref->rank;
        if (r >= first) width = value->shape[r - first];
        if (memref->shape[r] == IR_DYNAMIC) continue;
        bool is_constant = map->results[r]->kind == IR_AFFINE_CONST;
        int64_t index = is_constant ? map->results[r]->value : 0;
        if (index >= 0 && index <= memref->shape[r] - width) continue;
        return verify_out_of_range(v, op, index, width, r, memref->shape[r]);
    }
    return true;
}
