// Rules, patterns and notes of fusion; see fusion.h. Edges are in fusion_edges.c.
#include "passes/fusion.h"

#include <string.h>

#include "passes/contraction.h"
#include "passes/entry.h"

static const char *const pattern_names[NUM_FUSION_PATTERNS] = {
#define FUSION_PATTERN(id, name, meaning) name,
#include "abi/fusion_patterns.def"
};

static const struct {
    const char *name, *meaning, *remedy;
} reasons[NUM_FUSION_REASONS] = {
#define FUSION_REASON(id, name, meaning, remedy) {name, meaning, remedy},
#include "passes/fusion_reasons.def"
};

static const char *const mode_names[NUM_FUSION_MODES] = {"allow", "forbid", "require"};

const char *fusion_pattern_name(FusionPattern pattern) {
    return pattern < NUM_FUSION_PATTERNS ? pattern_names[pattern] : "";
}
const char *fusion_reason_name(FusionReason reason) {
    return reason < NUM_FUSION_REASONS ? reasons[reason].name : "";
}
const char *fusion_reason_meaning(FusionReason reason) {
    return reasons[reason].meaning;
}
const char *fusion_reason_remedy(FusionReason reason) {
    return reasons[reason].remedy;
}
const char *fusion_mode_name(FusionMode mode) {
    return mode_names[mode];
}

bool fusion_pattern_find(const char *name, FusionPattern *out_pattern) {
    for (int i = 0; i < NUM_FUSION_PATTERNS; i++) {
        if (!str_equal(pattern_names[i], name)) continue;
        *out_pattern = (FusionPattern)i;
        return true;
    }
    return false;
}

// ---- rules

static const char *text_of(const IrAttr *dict, const char *key) {
    const IrAttr *attr = dict->kind == IR_ATTR_DICT ? ir_attr_dict_find(dict, key) : NULL;
    return attr && attr->kind == IR_ATTR_STRING ? attr->str : "";
}

FusionRule fusion_rule(const IrModule *m, FusionPattern pattern) {
    const IrAttr *rules = ir_op_attr(m->op, "ingot.rules");
    FusionRule rule = {.mode = FUSION_ALLOW};
    for (size_t i = 0; rules && rules->kind == IR_ATTR_ARRAY && i < rules->num_elems; i++) {
        if (!str_equal(text_of(rules->elems[i], "pattern"), pattern_names[pattern])) continue;
        const IrAttr *atomic = ir_attr_dict_find(rules->elems[i], "atomic");
        rule.is_atomic = atomic && atomic->kind == IR_ATTR_BOOL && atomic->i != 0;
        const IrAttr *flash = ir_attr_dict_find(rules->elems[i], "flash");
        if (flash && flash->kind == IR_ATTR_BOOL)
            rule.flash = flash->i ? FUSION_FLASH_YES : FUSION_FLASH_NO;
        rule.at = text_of(rules->elems[i], "at");
        for (int k = 0; k < NUM_FUSION_MODES; k++)
            if (str_equal(text_of(rules->elems[i], "mode"), mode_names[k]))
                rule.mode = (FusionMode)k;
    }
    return rule;
}

// ---- patterns

bool fusion_is_view(const IrOp *op) {
    return op->kind == IR_TENSOR_COLLAPSE_SHAPE || op->kind == IR_TENSOR_EXPAND_SHAPE ||
           op->kind == IR_TENSOR_EXTRACT_SLICE || op->kind == IR_TENSOR_CAST;
}

const IrOp *fusion_maker(const IrValue *value) {
    const IrOp *op = value->def_op;
    while (op && fusion_is_view(op)) op = ir_op_operand(op, 0)->def_op;
    return op;
}

static bool is_structured(const IrOp *op) {
    return (ir_op_info(op->kind)->traits & IR_LINALG) && op->num_operands > 0;
}

// Does it add up, or take the largest, onto what is filled in first? A sum of one term still does
// when its loop is gone.
static bool goes_onto_fill(const IrOp *op) {
    if (op->kind != IR_LINALG_GENERIC) return false;
    for (uint32_t i = op->segments[0]; i < op->num_operands; i++) {
        const IrOp *start = ir_op_operand(op, i)->def_op;
        if (start && start->kind == IR_LINALG_FILL && ir_op_block(op, 0)->args[i]->first_use)
            return true;
    }
    return false;
}

static bool has_reduction(const IrOp *op) {
    return is_structured(op) && op->kind != IR_LINALG_SOFTMAX &&
           (ir_linalg_has_reduction(op) || goes_onto_fill(op));
}

static bool body_has(const IrOp *op, IrOpKind kind) {
    if (op->num_regions == 0 || !ir_op_block(op, 0)) return false;
    FOR_EACH_OP(inner, ir_op_block(op, 0))
    if (inner->kind == kind) return true;
    return false;
}

// Sums of products over windows: an input is read at a place that a loop of the result and one of
// the sum give together.
static bool is_windowed(const IrOp *op) {
    bool adds = op->kind == IR_LINALG_GENERIC && op->segments[0] >= 2 &&
                (body_has(op, IR_ARITH_ADDF) || body_has(op, IR_MATH_FMA));
    if (!adds) return false;
    for (uint32_t i = 0; i < op->segments[0]; i++) {
        const IrAffineMap *map = ir_op_attr(op, "indexing_maps")->elems[i]->map;
        for (uint32_t r = 0; r < map->num_results; r++) {
            bool uses[2] = {false, false}; // loops of the result, of the sum
            for (uint32_t d = 0; d < map->num_dims; d++)
                if (ir_affine_uses_dim(map->results[r], d))
                    uses[ir_linalg_iterator(op, d) == IR_REDUCTION] = true;
            if (uses[0] && uses[1]) return true;
        }
    }
    return false;
}

static bool is_conv(const IrOp *op) {
    const IrAttr *form = ir_op_attr(op, "ingot.contract");
    bool is_pool = op->num_operands > 1 && ir_op_operand(op, 1)->type->rank < 3;
    bool is_marked = form && form->kind == IR_ATTR_STRING && !is_pool &&
                     (str_equal(form->str, "conv") || str_equal(form->str, "window"));
    return is_marked || strstr(ir_op_info(op->kind)->name, "conv_2d") != NULL ||
           (!form && is_windowed(op));
}

// A sum of products: two factors multiplied and added up over a loop.
static bool is_product(const IrOp *op) {
    if (!is_structured(op) || is_conv(op)) return false;
    if (ir_op_attr(op, "ingot.contract") || (ir_op_info(op->kind)->traits & IR_CONTRACTION))
        return true;
    if (op->kind == IR_LINALG_CONTRACT) return true;
    bool multiplies = body_has(op, IR_ARITH_MULF) && body_has(op, IR_ARITH_ADDF);
    return op->segments[0] >= 2 && has_reduction(op) &&
           (multiplies || body_has(op, IR_MATH_FMA) || body_has(op, IR_ARITH_MULI));
}

static bool is_elementwise(const IrOp *op) {
    if (!is_structured(op) || has_reduction(op) || op->kind == IR_LINALG_FILL) return false;
    if (op->kind != IR_LINALG_GENERIC) return op->kind != IR_LINALG_SOFTMAX;
    FOR_EACH_OP(inner, ir_op_block(op, 0))
    if (!(ir_op_info(inner->kind)->traits & (IR_ELEMENTWISE | IR_TERMINATOR | IR_PURE)))
        return false;
    return true;
}

// Into another order or layout.
static bool is_copy(const IrOp *op) {
    return op->kind != IR_LINALG_GENERIC || ir_op_block(op, 0)->first->kind == IR_LINALG_YIELD;
}

// Each element as it is, or a constant, by where it lies: what makes padding invisible, or the
// tokens behind the present one. For a rule it is not there.
static bool is_mask(const IrOp *op) {
    if (op->kind != IR_LINALG_GENERIC || op->segments[0] != 1 || has_reduction(op)) return false;
    const IrBlock *body = ir_op_block(op, 0);
    const IrOp *choice = ir_op_operand(body->last, 0)->def_op;
    if (!choice || choice->kind != IR_ARITH_SELECT) return false;
    const IrValue *yes = ir_op_operand(choice, 1), *no = ir_op_operand(choice, 2);
    if ((yes == body->args[0]) == (no == body->args[0])) return false;
    FOR_EACH_OP(inner, body) {
        bool is_of_places = inner->kind == IR_LINALG_INDEX || inner->kind == IR_ARITH_CMPI ||
                            inner->kind == IR_ARITH_ANDI || inner->kind == IR_ARITH_CONSTANT ||
                            inner->kind == IR_AFFINE_APPLY;
        if (inner != choice && inner != body->last && !is_of_places) return false;
    }
    return true;
}

// The op that made a value, masks left out.
static const IrOp *unmasked_maker(const IrValue *value) {
    const IrOp *op = fusion_maker(value);
    while (op && is_mask(op)) op = fusion_maker(ir_op_operand(op, 0));
    return op;
}

// Who reads a value, masks left out: of several the first.
static const IrOp *unmasked_reader(const IrOp *op) {
    while (is_mask(op) && op->results[0].first_use) {
        const IrOp *reader = op->results[0].first_use->owner;
        if (!is_structured(reader)) return op;
        op = reader;
    }
    return op;
}

// The x of exp(x - m), where m is one number for a row of x: a softmax begins so. NULL: op is no
// such exponential.
static const IrValue *exponent_of(IrModule *m, const IrOp *op) {
    if (op->kind != IR_LINALG_GENERIC) return NULL;
    const IrBlock *body = ir_op_block(op, 0);
    FOR_EACH_OP(inner, body) {
        const IrOp *sub = inner->kind == IR_MATH_EXP ? ir_op_operand(inner, 0)->def_op : NULL;
        if (!sub || sub->kind != IR_ARITH_SUBF) continue;
        const IrValue *x = ir_op_operand(sub, 0), *most = ir_op_operand(sub, 1);
        if (most->def_block != body || x->def_block != body) continue;
        const IrAffineMap *map = ir_linalg_map(m, op, most->number);
        const IrOp *maker = fusion_maker(ir_op_operand(op, most->number));
        bool is_of_row = map->num_results < map->num_dims || (maker && has_reduction(maker));
        if (is_of_row) return ir_op_operand(op, x->number);
    }
    return NULL;
}

// A row's maximum on the way to a softmax, or its exponentials; a maximum of magnitudes belongs to
// a quantisation.
static bool is_softmax(IrModule *m, const IrOp *op) {
    if (op->kind == IR_LINALG_SOFTMAX || exponent_of(m, op)) return true;
    bool is_max = body_has(op, IR_ARITH_MAXIMUMF) || body_has(op, IR_ARITH_MAXNUMF);
    return has_reduction(op) && is_max && !body_has(op, IR_MATH_ABSF);
}

static bool is_quantisation(const IrOp *op) {
    bool is_amax = has_reduction(op) && body_has(op, IR_MATH_ABSF);
    return is_structured(op) && (is_amax || body_has(op, IR_ARITH_FPTOSI));
}

static bool is_norm(const IrOp *op) {
    bool is_root =
        body_has(op, IR_MATH_RSQRT) || (body_has(op, IR_MATH_SQRT) && body_has(op, IR_ARITH_DIVF));
    return is_elementwise(op) && is_root;
}

bool fusion_adds_bias(const IrOp *op) {
    if (!body_has(op, IR_ARITH_ADDF)) return false;
    if (ir_op_attr(op, "ingot.bias")) return true;
    for (uint32_t i = 0; i < op->segments[0]; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (ir_type_is_shaped(type) && type->rank < op->results[0].type->rank) return true;
    }
    return false;
}

// What an elementwise reader does to a product: the operands beside the product tell a bias from a
// residual.
static FusionPattern epilogue_of(const IrOp *consumer) {
    static const IrOpKind activations[] = {IR_MATH_EXP,       IR_MATH_TANH,     IR_MATH_ERF,
                                           IR_ARITH_MAXIMUMF, IR_ARITH_MAXNUMF, IR_ARITH_CMPF};
    for (size_t i = 0; i < ARRAY_LEN(activations); i++)
        if (body_has(consumer, activations[i])) return FUSION_MATMUL_ACTIVATION;
    if (fusion_adds_bias(consumer)) return FUSION_MATMUL_BIAS;
    if (body_has(consumer, IR_ARITH_ADDF)) return FUSION_MATMUL_RESIDUAL;
    bool scales = body_has(consumer, IR_ARITH_MULF) || body_has(consumer, IR_ARITH_DIVF);
    return scales ? FUSION_MATMUL_SCALE : NUM_FUSION_PATTERNS;
}

// Does the consumer read every whole operand once, at its own place?
static bool reads_in_place(IrModule *m, const IrOp *consumer) {
    for (uint32_t i = 0; i < consumer->segments[0]; i++) {
        const IrAffineMap *map = ir_linalg_map(m, consumer, i);
        if (map->num_results == map->num_dims && !ir_affine_is_permutation(map)) return false;
    }
    return true;
}

// The rest of a softmax over a product: the sum of its exponentials, and the division by it.
static bool ends_softmax(IrModule *m, const IrOp *producer, const IrOp *consumer) {
    const IrValue *x = exponent_of(m, producer);
    const IrOp *maker = x ? unmasked_maker(x) : NULL;
    return maker && is_product(maker) &&
           (has_reduction(consumer) || body_has(consumer, IR_ARITH_DIVF));
}

// The weights of an attention: a softmax, or the quotient that ends one.
static bool is_whole_softmax(IrModule *m, const IrOp *op) {
    if (op->kind == IR_LINALG_SOFTMAX) return true;
    if (!is_elementwise(op) || !body_has(op, IR_ARITH_DIVF)) return false;
    for (uint32_t i = 0; i < op->segments[0]; i++) {
        const IrOp *maker = unmasked_maker(ir_op_operand(op, i));
        if (maker && exponent_of(m, maker)) return true;
    }
    return false;
}

bool fusion_keeps_scores(const IrModule *m, const IrOp *func) {
    FusionRule rule = fusion_rule(m, FUSION_ATTN_SOFTMAX);
    return ir_op_attr(func, "ingot.composite") && !module_is_text(m) &&
           (rule.flash == FUSION_FLASH_NO || rule.mode == FUSION_FORBID ||
            ir_op_attr(func, "ingot.op_class"));
}

const IrOp *fusion_scores_of(const IrOp *softmax) {
    const IrOp *todo[32] = {softmax};
    for (uint32_t n = 1, i = 0; i < n; i++) {
        if (i > 0 && is_product(todo[i])) return todo[i];
        for (uint32_t k = 0; is_structured(todo[i]) && k < todo[i]->segments[0]; k++) {
            const IrOp *maker = fusion_maker(ir_op_operand(todo[i], k));
            if (maker && n < ARRAY_LEN(todo)) todo[n++] = maker;
        }
    }
    return NULL;
}

const IrOp *fusion_uncopied_reader(IrModule *m, const IrOp *op) {
    for (int i = 0; i < 4 && op->kind == IR_LINALG_GENERIC && is_copy(op); i++) {
        const IrValue *value = &op->results[0];
        if (op->segments[0] != 1 || !ir_affine_is_identity(ir_linalg_map(m, op, 0))) break;
        const IrOp *reader = value->first_use ? value->first_use->owner : op;
        while (fusion_is_view(reader) && reader->results[0].first_use)
            reader = reader->results[0].first_use->owner;
        if (!is_structured(reader)) break;
        op = reader;
    }
    return op;
}

static FusionPattern pattern_of(IrModule *m, const IrOp *producer, const IrOp *consumer) {
    if (ir_op_attr(producer, "ingot.composite") || ir_op_attr(consumer, "ingot.composite"))
        return NUM_FUSION_PATTERNS;
    if (is_product(producer)) {
        if (contraction_is(producer, "dot")) return NUM_FUSION_PATTERNS; // half of a product
        const IrOp *reader = fusion_uncopied_reader(m, consumer);
        if (is_softmax(m, reader)) return FUSION_MATMUL_SOFTMAX;
        bool is_epilogue = is_elementwise(reader) && reads_in_place(m, reader);
        return is_epilogue ? epilogue_of(reader) : NUM_FUSION_PATTERNS;
    }
    if (is_conv(producer)) {
        const IrOp *reader = fusion_uncopied_reader(m, consumer);
        return is_elementwise(reader) && !is_copy(reader) ? FUSION_CONV_RELU_BN
                                                          : NUM_FUSION_PATTERNS;
    }
    if (is_norm(producer) && is_quantisation(consumer)) return FUSION_NORM_QUANTIZE;
    if (is_product(consumer) && is_whole_softmax(m, producer)) return FUSION_ATTN_SOFTMAX;
    if (ends_softmax(m, producer, consumer)) return FUSION_MATMUL_SOFTMAX;
    bool are_elementwise = is_elementwise(producer) && is_elementwise(consumer);
    return are_elementwise ? FUSION_ELEMENTWISE : NUM_FUSION_PATTERNS;
}

FusionPattern fusion_pattern_of(IrModule *m, const IrOp *producer, const IrOp *consumer) {
    const IrOp *made = is_mask(producer) ? unmasked_maker(&producer->results[0]) : producer;
    const IrOp *read = unmasked_reader(consumer);
    if (made && (made != producer || read != consumer)) {
        FusionPattern whole = pattern_of(m, made, read);
        bool is_about_masks = whole == FUSION_MATMUL_SOFTMAX || whole == FUSION_ATTN_SOFTMAX;
        if (is_about_masks) return whole;
    }
    return pattern_of(m, producer, consumer);
}

bool fusion_forbids(IrModule *m, const IrOp *producer, const IrOp *consumer) {
    if (!ir_op_attr(m->op, "ingot.rules")) return false;
    FusionPattern pattern = fusion_pattern_of(m, producer, consumer);
    // The rule parts the product from the softmax, not the softmax.
    if (pattern == FUSION_MATMUL_SOFTMAX && !is_product(producer)) return false;
    return pattern < NUM_FUSION_PATTERNS && fusion_rule(m, pattern).mode == FUSION_FORBID;
}

// Two products of one input, as in a gated unit if one elementwise op reads both.
static FusionPattern siblings(const IrOp *a, const IrOp *b) {
    if (!is_product(a) || !is_product(b) || ir_op_operand(a, 0) != ir_op_operand(b, 0))
        return NUM_FUSION_PATTERNS;
    const IrValue *x = &a->results[0], *y = &b->results[0];
    bool meet = ir_value_has_one_use(x) && ir_value_has_one_use(y) &&
                x->first_use->owner == y->first_use->owner && is_elementwise(x->first_use->owner);
    return meet ? FUSION_MLP_GATE_UP : FUSION_QKV_PROJ;
}

bool fusion_parts(IrModule *m, const IrOp *op, const IrOp *other) {
    if (!ir_op_attr(m->op, "ingot.rules")) return false;
    FusionPattern pattern = siblings(op, other);
    return pattern < NUM_FUSION_PATTERNS && fusion_rule(m, pattern).mode == FUSION_FORBID;
}

// ---- notes

void fusion_note_add(IrModule *m, const FusionNote *note) {
    IrNamedAttr entries[] = {
        {ir_intern(m, "applied"), ir_attr_bool(m, note->is_applied)},
        {ir_intern(m, "detail"), ir_attr_string(m, note->detail ? note->detail : "")},
        {ir_intern(m, "pattern"), ir_attr_string(m, pattern_names[note->pattern])},
        {ir_intern(m, "reason"), ir_attr_string(m, note->reason ? note->reason : "")},
        {ir_intern(m, "what"), ir_attr_string(m, note->what)},
        {ir_intern(m, "where"), ir_attr_string(m, note->where)},
    };
    const IrAttr *dict = ir_attr_dict(m, ARRAY_LEN(entries), entries);
    const IrAttr *notes = ir_op_attr(m->op, "ingot.fusion");
    size_t n = notes && notes->kind == IR_ATTR_ARRAY ? notes->num_elems : 0;
    for (size_t i = 0; i < n; i++)
        if (notes->elems[i] == dict) return; // said before
    const IrAttr **elems = ARENA_ARRAY(&m->arena, const IrAttr *, n + 1);
    for (size_t i = 0; i < n; i++) elems[i] = notes->elems[i];
    elems[n] = dict;
    ir_op_set_attr(m, m->op, "ingot.fusion", ir_attr_array(m, n + 1, elems));
}

size_t fusion_num_notes(const IrModule *m) {
    const IrAttr *notes = ir_op_attr(m->op, "ingot.fusion");
    return notes && notes->kind == IR_ATTR_ARRAY ? notes->num_elems : 0;
}

FusionNote fusion_note_get(const IrModule *m, size_t i) {
    const IrAttr *dict = ir_op_attr(m->op, "ingot.fusion")->elems[i];
    const IrAttr *applied = dict->kind == IR_ATTR_DICT ? ir_attr_dict_find(dict, "applied") : NULL;
    FusionNote note = {.pattern = NUM_FUSION_PATTERNS,
                       .is_applied = applied && applied->kind == IR_ATTR_BOOL && applied->i,
                       .where = text_of(dict, "where"),
                       .what = text_of(dict, "what"),
                       .reason = text_of(dict, "reason"),
                       .detail = text_of(dict, "detail")};
    if (!fusion_pattern_find(text_of(dict, "pattern"), &note.pattern))
        note.pattern = NUM_FUSION_PATTERNS;
    return note;
}
