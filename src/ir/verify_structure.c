// Regions, terminators, dominance.
#include <stdlib.h>
#include <string.h>

#include "ir/verify_internal.h"

// ---------------------------------------------------------------- regions and terminators

// What the regions of an op must look like: their number (max_regions allows more), and the
// terminators a block may end with; NUM_IR_OP_KINDS: no terminator.
typedef struct RegionRule {
    IrOpKind kind;
    uint8_t min_regions, max_regions;
    bool may_be_empty; // a region without a block
    IrOpKind terminator;
} RegionRule;

static const RegionRule region_rules[] = {
    {IR_BUILTIN_MODULE, 1, 1, false, NUM_IR_OP_KINDS},
    {IR_FUNC_FUNC, 1, 1, true, IR_FUNC_RETURN},
    {IR_TENSOR_PAD, 1, 1, false, IR_TENSOR_YIELD},
    {IR_LINALG_GENERIC, 1, 1, false, IR_LINALG_YIELD},
    {IR_LINALG_REDUCE, 1, 1, false, IR_LINALG_YIELD},
    {IR_SCF_FOR, 1, 1, false, IR_SCF_YIELD},
    {IR_SCF_IF, 1, 2, true, IR_SCF_YIELD},
    {IR_SCF_FORALL, 1, 1, false, IR_SCF_FORALL_IN_PARALLEL},
    {IR_SCF_FORALL_IN_PARALLEL, 0, 1, true, NUM_IR_OP_KINDS},
    {IR_SCF_PARALLEL, 1, 1, false, IR_SCF_REDUCE},
    {IR_SCF_REDUCE, 0, 255, false, IR_SCF_REDUCE_RETURN},
    {IR_AFFINE_FOR, 1, 1, false, IR_AFFINE_YIELD},
    {IR_AFFINE_PARALLEL, 1, 1, false, IR_AFFINE_YIELD},
    {IR_LLVM_FUNC, 1, 1, true, IR_LLVM_RETURN},
    {IR_LLVM_MLIR_GLOBAL, 0, 1, true, IR_LLVM_RETURN},
};

static const RegionRule *region_rule(IrOpKind kind) {
    for (size_t i = 0; i < ARRAY_LEN(region_rules); i++) {
        if (region_rules[i].kind == kind) return &region_rules[i];
    }
    return NULL;
}

static bool is_llvm_terminator(IrOpKind kind) {
    return kind == IR_LLVM_RETURN || kind == IR_LLVM_BR || kind == IR_LLVM_COND_BR ||
           kind == IR_LLVM_UNREACHABLE;
}

static bool check_block(Verifier *v, const IrOp *op, const RegionRule *rule, const IrBlock *block) {
    bool needs_terminator = rule->terminator != NUM_IR_OP_KINDS;
    FOR_EACH_OP(inner, block) {
        bool is_terminator = ir_op_info(inner->kind)->traits & IR_TERMINATOR;
        if (!is_terminator) continue;
        if (inner != block->last || !needs_terminator) {
            return verify_fail(v, DIAG_I0101, inner,
                               "must be the last operation in the parent block");
        }
        bool fits = op->kind == IR_LLVM_FUNC ? is_llvm_terminator(inner->kind)
                                             : inner->kind == rule->terminator;
        if (!fits) {
            return verify_fail(v, DIAG_I0101, inner, "cannot end a block of '%s'; expected '%s'",
                               ir_op_info(op->kind)->name, ir_op_info(rule->terminator)->name);
        }
    }
    bool is_open = needs_terminator &&
                   (!block->last || !(ir_op_info(block->last->kind)->traits & IR_TERMINATOR));
    if (is_open)
        FAIL_REGION("expects a block that ends with '%s'", ir_op_info(rule->terminator)->name);
    return true;
}

bool verify_regions(Verifier *v, const IrOp *op) {
    const RegionRule *rule = region_rule(op->kind);
    if (!rule) { // others have none, or an empty one
        for (uint32_t r = 0; r < op->num_regions; r++) {
            if (op->regions[r].first) FAIL_REGION("cannot have a region");
        }
        return true;
    }
    if (op->num_regions < rule->min_regions || op->num_regions > rule->max_regions) {
        FAIL_REGION("requires %u region(s), has %u", rule->min_regions, op->num_regions);
    }
    for (uint32_t r = 0; r < op->num_regions; r++) {
        const IrRegion *region = &op->regions[r];
        if (!region->first && (!rule->may_be_empty || (op->kind == IR_SCF_IF && r == 0))) {
            FAIL_REGION("region #%u expects a block", r);
        }
        if (region->first != region->last && op->kind != IR_LLVM_FUNC) {
            FAIL_REGION("region #%u expects one block; branches exist at level 3 only", r);
        }
        FOR_EACH_BLOCK(block, region) {
            if (!check_block(v, op, rule, block)) return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------- dominance

// Block number of the block that starts with this op.
static uint32_t *block_number(const Verifier *v, const IrBlock *block) {
    return &v->block_number[block->first->index];
}

// dominators[b] is the set of blocks that are on every path from the entry to block b: the largest
// solution of dominators[b] = {b} + intersection over b's predecessors. Unreachable blocks have
// all.
static void find_dominators(Verifier *v, const IrRegion *region) {
    uint32_t num = 0;
    FOR_EACH_BLOCK(block, region) {
        if (block->first) *block_number(v, block) = num;
        num++;
    }
    size_t words = (num + 63) / 64;
    uint64_t *sets = base_alloc(num * words + 1, sizeof *sets);
    memset(sets, 0xFF, num * words * sizeof *sets);
    for (size_t w = 0; w < words; w++) sets[w] = w == 0;
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        uint32_t b = 0;
        FOR_EACH_BLOCK(block, region) {
            const uint64_t *own = sets + b++ * words;
            for (uint32_t s = 0; block->last && s < block->last->num_successors; s++) {
                const IrBlock *to = block->last->successors[s];
                if (!to || to->region != region || !to->first) continue;
                uint32_t number = *block_number(v, to);
                uint64_t *set = sets + number * words;
                for (size_t w = 0; w < words; w++) {
                    uint64_t self = w == number / 64 ? UINT64_C(1) << number % 64 : 0;
                    uint64_t merged = set[w] & (own[w] | self);
                    is_changed = is_changed || merged != set[w];
                    set[w] = merged;
                }
            }
        }
    }
    free(v->dominators);
    v->dominators = sets;
    v->dominator_words = words;
}

void verify_number_region(Verifier *v, const IrRegion *region) {
    FOR_EACH_BLOCK(block, region) {
        uint32_t place = 0;
        FOR_EACH_OP(op, block) v->position[op->index] = place++;
    }
    // Only the bodies of llvm.func have several blocks, and their ops have no regions.
    if (region->first != region->last) find_dominators(v, region);
}

static bool block_dominates(const Verifier *v, const IrBlock *a, const IrBlock *b) {
    if (a == b || !b->first || a == b->region->first) return true;
    if (!a->first || !v->dominators) return false;
    uint32_t bit = *block_number(v, a);
    const uint64_t *set = v->dominators + *block_number(v, b) * v->dominator_words;
    return set[bit / 64] >> bit % 64 & 1;
}

static bool is_visible(const Verifier *v, const IrOp *user, const IrValue *value) {
    const IrBlock *home = value->def_op ? value->def_op->block : value->def_block;
    if (!home || !home->region) return false;
    const IrOp *at = user;
    while (at->block && at->block->region != home->region) {
        at = ir_block_parent(at->block);
        if (!at || ir_op_info(at->kind)->traits & IR_ISOLATED) return false;
    }
    if (!at->block) return false;
    if (at->block != home) return block_dominates(v, home, at->block);
    return !value->def_op || v->position[value->def_op->index] < v->position[at->index];
}

bool verify_dominance(Verifier *v, const IrOp *op) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        if (!value || !is_visible(v, op, value)) {
            return verify_fail(v, DIAG_I0102, op, "operand #%u does not dominate this use", i);
        }
    }
    return true;
}

bool verify_yields(Verifier *v, const IrOp *op, uint32_t r, uint32_t num,
                   const IrType *const *types, const char *what) {
    const IrOp *yield = ir_block_terminator(ir_op_block(op, r));
    if (yield->num_operands != num) {
        return verify_fail(v, DIAG_I0104, yield, "has %u operands, but its parent has %u %s",
                           yield->num_operands, num, what);
    }
    for (uint32_t i = 0; i < num; i++) {
        if (verify_operand_type(yield, i) == types[i]) continue;
        return verify_fail(
            v, DIAG_I0104, yield, "operand #%u has type '%s', but the parent's %s have '%s'", i,
            verify_type(v, verify_operand_type(yield, i)), what, verify_type(v, types[i]));
    }
    return true;
}
