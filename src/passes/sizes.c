// Classes of equal sizes; see sizes.h. Every unknown dimension and every index value is a node; ops
// unite what they need to be equal. A class that holds a name has that size.
#include "passes/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "abi/plan.h"
#include "passes/bufferize.h"

// ---- ranges

static bool read_number(const IrAttr *range, const char *key, int64_t *out) {
    const IrAttr *attr = ir_attr_dict_find(range, key);
    if (!attr || attr->kind != IR_ATTR_INT || attr->i < 1 || attr->i > SIZES_MAX_SIZE) return false;
    *out = attr->i;
    return true;
}

static bool read_hot(const IrAttr *range, BucketRange *out) {
    const IrAttr *hot = ir_attr_dict_find(range, "hot");
    if (!hot) return true;
    if (hot->kind != IR_ATTR_ARRAY || hot->num_elems > BUCKET_RANGE_MAX_HOT) return false;
    for (size_t i = 0; i < hot->num_elems; i++) {
        const IrAttr *size = hot->elems[i];
        if (size->kind != IR_ATTR_INT || size->i < 1 || size->i > SIZES_MAX_SIZE) return false;
        out->hot[out->num_hot++] = (int32_t)size->i;
    }
    return true;
}

static bool read_range(const IrNamedAttr *entry, SizeRange *out) {
    const IrAttr *range = entry->attr;
    if (range->kind != IR_ATTR_DICT) return false;
    const IrAttr *at = ir_attr_dict_find(range, "at"), *off = ir_attr_dict_find(range, "off_step");
    if (!at || at->kind != IR_ATTR_STRING || (off && off->kind != IR_ATTR_STRING)) return false;
    *out = (SizeRange){.name = entry->name,
                       .at = at->str,
                       .is.rejects_off_step = off && str_equal(off->str, "reject")};
    BucketRange *is = &out->is;
    bool fits = read_number(range, "min", &is->min) && read_number(range, "max", &is->max) &&
                read_number(range, "step", &is->step) && read_hot(range, is);
    if (!fits) return false;
    is->first = bucket_range_first(is, is->min);
    bool has_first = ir_attr_dict_find(range, "first") != NULL;
    if (has_first && !read_number(range, "first", &is->first)) return false;
    return bucket_range_is_valid(is);
}

static bool read_relations(const IrOp *func, SizeRanges *out) {
    const IrAttr *list = ir_op_attr(func, "ingot.relations");
    if (!list) return true;
    if (list->kind != IR_ATTR_ARRAY || list->num_elems > RELATION_MAX) return false;
    for (size_t i = 0; i < list->num_elems; i++) {
        const char *wrong;
        if (list->elems[i]->kind != IR_ATTR_STRING ||
            !relation_parse(list->elems[i]->str, &out->relations[out->num_relations++], &wrong))
            return false;
    }
    return true;
}

Status size_ranges_read(const IrOp *func, DiagSink *sink, SizeRanges *out_ranges) {
    const IrAttr *attr = ir_op_attr(func, "ingot.ranges");
    *out_ranges = (SizeRanges){0};
    if (!attr) return STATUS_OK;
    bool fits = attr->kind == IR_ATTR_DICT && attr->num_entries <= SIZES_MAX_NAMES;
    for (size_t i = 0; fits && i < attr->num_entries; i++)
        fits = read_range(&attr->entries[i], &out_ranges->of[out_ranges->num++]);
    fits = fits && read_relations(func, out_ranges);
    SizeVersions versions;
    if (fits && size_ranges_versions(out_ranges, &versions) && versions.num > 0) return STATUS_OK;
    return diag_error(sink, DIAG_P0011, ir_loc_span(func->loc),
                      "@%s: ingot.ranges is no list of ranges", ir_symbol_name(func));
}

int64_t size_bucket_of(const IrOp *version, const char *name) {
    IrBlock *body = ir_func_body(version);
    for (uint32_t i = 0; i < body->num_args; i++) {
        const IrAttr *dims = ir_func_arg_attr(version, i, "ingot.dims");
        const IrType *type = body->args[i]->type;
        if (!dims || dims->kind != IR_ATTR_ARRAY || !ir_type_is_shaped(type)) continue;
        for (uint32_t d = 0; d < type->rank && d < dims->num_elems; d++)
            if (dims->elems[d]->kind == IR_ATTR_STRING && str_equal(dims->elems[d]->str, name))
                return type->shape[d];
    }
    return 0;
}

bool size_ranges_hold(const SizeRanges *ranges, const int64_t *sizes) {
    RelationSize named[SIZES_MAX_NAMES];
    for (uint32_t i = 0; i < ranges->num; i++)
        named[i] = (RelationSize){ranges->of[i].name, (uint64_t)sizes[i]};
    for (uint32_t i = 0; i < ranges->num_relations; i++) {
        const Relation *relation = &ranges->relations[i];
        if (relation_product(relation, named, ranges->num) > relation->bound) return false;
    }
    return true;
}

// Versions in which the names before number `name` have the buckets chosen; least: the smallest
// call of these, the other names at theirs. A product grows with each size: what is beyond a
// relation stays so.
static bool add_versions(const SizeRanges *ranges, uint32_t name, int64_t *chosen, int64_t *least,
                         SizeVersions *out) {
    if (name == ranges->num) {
        if (out->num == SIZES_MAX_VERSIONS) return false;
        memcpy(out->of[out->num++], chosen, ranges->num * sizeof *chosen);
        return true;
    }
    const BucketRange *range = &ranges->of[name].is;
    int64_t smallest = least[name];
    bool fits = true;
    for (int64_t bucket = 0; fits && bucket < range->max;) {
        chosen[name] = bucket = bucket_range_above(range, bucket + 1);
        least[name] = bucket_range_least(range, bucket);
        if (!size_ranges_hold(ranges, least)) break;
        fits = add_versions(ranges, name + 1, chosen, least, out);
    }
    least[name] = smallest;
    return fits;
}

bool size_ranges_versions(const SizeRanges *ranges, SizeVersions *out) {
    int64_t chosen[SIZES_MAX_NAMES], least[SIZES_MAX_NAMES];
    for (uint32_t i = 0; i < ranges->num; i++) {
        const BucketRange *range = &ranges->of[i].is;
        least[i] = bucket_range_least(range, bucket_range_above(range, 1));
    }
    *out = (SizeVersions){0};
    return add_versions(ranges, 0, chosen, least, out);
}

// ---- classes

typedef struct SizeNode {
    uint32_t parent;
    int32_t name;   // of a root; -1: none
    int64_t number; // of a root; -1: none
} SizeNode;

typedef struct Prover {
    Sizes *s;
    IrModule *m;
    DiagSink *sink;
    Status status;
    SizeVersions versions;
} Prover;

static uint32_t root_of(const Sizes *s, uint32_t node) {
    for (SizeNode *n = s->nodes; n[node].parent != node; node = n[node].parent)
        n[node].parent = n[n[node].parent].parent;
    return node;
}

static bool is_unknown(const IrType *type) {
    return ir_type_is_shaped(type) && !ir_type_is_static(type);
}

static void number_value(Sizes *s, const IrValue *value) {
    uint32_t num = value->type->kind == IR_TYPE_INDEX ? 1
                   : is_unknown(value->type)          ? value->type->rank
                                                      : 0;
    if (num == 0) return;
    s->first_node[value->index] = s->num_nodes;
    s->num_nodes += num;
}

static void number_op(IrOp *op, void *ctx) {
    for (uint32_t i = 0; i < op->num_results; i++) number_value(ctx, &op->results[i]);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++) number_value(ctx, block->args[i]);
}

// A size on its way into a class: a number, or a node.
typedef struct Term {
    uint32_t node; // 0: a number
    int64_t number;
} Term;

static Term dim_term(const Sizes *s, const IrValue *value, uint32_t dim) {
    int64_t size = value->type->shape[dim];
    if (size != IR_DYNAMIC) return (Term){.number = size};
    return (Term){.node = s->first_node[value->index] + dim};
}

static Term index_term(const Sizes *s, const IrValue *value) {
    int64_t number;
    if (ir_value_constant_int(value, &number)) return (Term){.number = number};
    return (Term){.node = s->first_node[value->index]};
}

static Size size_of_term(const Sizes *s, Term term) {
    if (!term.node) return (Size){-1, term.number};
    const SizeNode *root = &s->nodes[root_of(s, term.node)];
    return root->name >= 0 ? (Size){root->name, -1} : (Size){-1, root->number};
}

static const char *name_of(const Sizes *s, Size size) {
    return s->ranges->of[size.name].name;
}

static void refuse(Prover *p, const IrOp *op, const char *evidence, const char *write) {
    if (p->status != STATUS_OK) return;
    p->status = diag_error(p->sink, DIAG_P0015, ir_loc_span(op->loc),
                           "@%s: %s cannot take a tensor whose unknown size is padded",
                           ir_symbol_name(p->s->func), ir_op_info(op->kind)->name);
    diag_evidence(p->sink, "%s", evidence);
    if (write) diag_write(p->sink, "%s", write);
}

static void refuse_unequal(Prover *p, const IrOp *op, Size a, Size b) {
    if (p->status != STATUS_OK) return;
    const char *name = name_of(p->s, a.name >= 0 ? a : b);
    Size other = a.name >= 0 ? b : a;
    if (other.name >= 0) {
        p->status =
            diag_error(p->sink, DIAG_P0015, ir_loc_span(op->loc),
                       "@%s: %s needs the sizes %s and %s to be equal", ir_symbol_name(p->s->func),
                       ir_op_info(op->kind)->name, name, name_of(p->s, other));
        diag_write(p->sink, "one name for both in ingot.dims");
        return;
    }
    p->status = diag_error(p->sink, DIAG_P0015, ir_loc_span(op->loc),
                           "@%s: %s needs the size %s to be %lld", ir_symbol_name(p->s->func),
                           ir_op_info(op->kind)->name, name, (long long)other.number);
    diag_write(p->sink, "%lld for the '?' of %s", (long long)other.number, name);
}

static void unite(Prover *p, const IrOp *op, Term a, Term b) {
    Size x = size_of_term(p->s, a), y = size_of_term(p->s, b);
    bool is_known = (x.name >= 0 || x.number >= 0) && (y.name >= 0 || y.number >= 0);
    if (is_known && (x.name != y.name || (x.name < 0 && x.number != y.number))) {
        if (x.name >= 0 || y.name >= 0) refuse_unequal(p, op, x, y);
        return; // two numbers: the verifier's or the author's business
    }
    if (!a.node && !b.node) return;
    if (!a.node) {
        Term swap = a;
        a = b;
        b = swap;
    }
    SizeNode *root = &p->s->nodes[root_of(p->s, a.node)];
    if (!b.node) {
        root->number = b.number;
        return;
    }
    SizeNode *into = &p->s->nodes[root_of(p->s, b.node)];
    if (root == into) return;
    if (into->name < 0) into->name = root->name;
    if (into->number < 0) into->number = root->number;
    root->parent = (uint32_t)(into - p->s->nodes);
}

static void unite_dims(Prover *p, const IrOp *op, const IrValue *a, const IrValue *b) {
    if (!ir_type_is_shaped(a->type) || !ir_type_is_shaped(b->type)) return;
    for (uint32_t d = 0; d < a->type->rank && d < b->type->rank; d++)
        unite(p, op, dim_term(p->s, a, d), dim_term(p->s, b, d));
}

// ---- what ops need to be equal

static void read_structured(Prover *p, IrOp *op) {
    uint32_t num_loops = ir_linalg_num_loops(op);
    Term loops[64];
    bool is_set[64] = {0};
    if (num_loops > ARRAY_LEN(loops)) {
        refuse(p, op, "it has more than 64 loops", NULL);
        return;
    }
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        if (!ir_type_is_shaped(value->type)) continue;
        const IrAffineMap *map = ir_linalg_map(p->m, op, i);
        uint32_t dim;
        for (uint32_t r = 0; r < map->num_results && r < value->type->rank; r++) {
            if (!ir_affine_is_dim(map->results[r], &dim)) continue;
            Term term = dim_term(p->s, value, r);
            if (is_set[dim]) unite(p, op, loops[dim], term);
            loops[dim] = term;
            is_set[dim] = true;
        }
    }
    for (uint32_t i = 0; i < op->num_results; i++)
        unite_dims(p, op, &op->results[i], ir_op_operand(op, op->segments[0] + i));
}

// Terms of the sizes of a slice, and which of its dimensions the smaller tensor keeps.
static void slice_terms(const Sizes *s, const IrOp *op, const IrType *part, Term *out_sizes,
                        bool *out_kept) {
    const IrAttr *sizes = ir_op_attr(op, "static_sizes");
    uint32_t next = ir_op_segment_start(op, 2);
    for (uint32_t d = 0; d < sizes->num_values; d++)
        out_sizes[d] = sizes->values[d] == IR_DYNAMIC ? index_term(s, ir_op_operand(op, next++))
                                                      : (Term){.number = sizes->values[d]};
    buf_kept_dims(sizes->values, (uint32_t)sizes->num_values, part, out_kept);
}

static void read_slice(Prover *p, IrOp *op) {
    bool is_insert = op->kind != IR_TENSOR_EXTRACT_SLICE, kept[PLAN_MAX_RANK];
    const IrValue *part = is_insert ? ir_op_operand(op, 0) : &op->results[0];
    Term sizes[PLAN_MAX_RANK];
    if (ir_op_attr(op, "static_sizes")->num_values > PLAN_MAX_RANK) {
        refuse(p, op, "it has more than 16 dimensions", NULL);
        return;
    }
    slice_terms(p->s, op, part->type, sizes, kept);
    uint32_t at = 0;
    for (uint32_t d = 0; d < ir_op_attr(op, "static_sizes")->num_values; d++)
        if (kept[d] && at < part->type->rank) unite(p, op, dim_term(p->s, part, at++), sizes[d]);
    if (op->kind == IR_TENSOR_INSERT_SLICE)
        unite_dims(p, op, &op->results[0], ir_op_operand(op, 1));
}

// The unknown size of a group is that of the other side, where all others in the group are 1.
static void read_reshape(Prover *p, IrOp *op) {
    bool expands = op->kind == IR_TENSOR_EXPAND_SHAPE;
    const IrValue *from = ir_op_operand(op, 0), *to = &op->results[0];
    const IrValue *wide = expands ? to : from, *narrow = expands ? from : to;
    const IrAttr *groups = ir_op_attr(op, "reassociation");
    for (uint32_t g = 0; g < groups->num_elems; g++) {
        int64_t others = 1, unknown = -1, num_unknown = 0;
        for (uint32_t i = 0; i < groups->elems[g]->num_elems; i++) {
            int64_t dim = groups->elems[g]->elems[i]->i;
            if (wide->type->shape[dim] == IR_DYNAMIC)
                unknown = dim, num_unknown++;
            else
                others *= wide->type->shape[dim];
        }
        if (num_unknown == 1 && others == 1)
            unite(p, op, dim_term(p->s, narrow, g), dim_term(p->s, wide, (uint32_t)unknown));
        else if (num_unknown > 0 || narrow->type->shape[g] == IR_DYNAMIC)
            refuse(p, op, "it splits or joins a dimension of unknown size",
                   "the unknown size as a dimension of its own");
    }
    const IrAttr *shape = expands ? ir_op_attr(op, "static_output_shape") : NULL;
    for (uint32_t d = 0, next = 1; shape && d < shape->num_values; d++)
        if (shape->values[d] == IR_DYNAMIC)
            unite(p, op, dim_term(p->s, to, d), index_term(p->s, ir_op_operand(op, next++)));
}

static void read_pad(Prover *p, IrOp *op) {
    const IrValue *from = ir_op_operand(op, 0), *to = &op->results[0];
    const IrAttr *low = ir_op_attr(op, "static_low"), *high = ir_op_attr(op, "static_high");
    for (uint32_t d = 0; d < from->type->rank; d++) {
        if (from->type->shape[d] != IR_DYNAMIC && to->type->shape[d] != IR_DYNAMIC) continue;
        if (low->values[d] == 0 && high->values[d] == 0)
            unite(p, op, dim_term(p->s, from, d), dim_term(p->s, to, d));
        else
            refuse(p, op, "it makes an unknown size larger", "low[0] and high[0] there");
    }
}

static void read_empty(Prover *p, IrOp *op) {
    const IrValue *result = &op->results[0];
    for (uint32_t d = 0, next = 0; d < result->type->rank; d++)
        if (result->type->shape[d] == IR_DYNAMIC)
            unite(p, op, dim_term(p->s, result, d), index_term(p->s, ir_op_operand(op, next++)));
}

static void read_dim(Prover *p, IrOp *op) {
    const IrValue *value = ir_op_operand(op, 0);
    int64_t dim;
    if (!ir_value_constant_int(ir_op_operand(op, 1), &dim) || dim < 0 || dim >= value->type->rank)
        refuse(p, op, "its dimension is computed", "a constant for the dimension");
    else
        unite(p, op, index_term(p->s, &op->results[0]), dim_term(p->s, value, (uint32_t)dim));
}

static void read_loop(Prover *p, IrOp *op, uint32_t first_init) {
    IrBlock *body = ir_op_block(op, 0);
    uint32_t first_arg = body->num_args - op->num_results;
    const IrOp *end = ir_block_terminator(body);
    for (uint32_t i = 0; i < op->num_results; i++) {
        const IrValue *init = ir_op_operand(op, first_init + i), *arg = body->args[first_arg + i];
        unite_dims(p, op, init, &op->results[i]);
        unite_dims(p, op, init, arg);
        if (op->kind == IR_SCF_FOR) unite_dims(p, op, init, ir_op_operand(end, i));
    }
}

static void read_if(Prover *p, IrOp *op) {
    for (uint32_t r = 0; r < op->num_regions; r++) {
        if (!op->regions[r].first) continue;
        const IrOp *end = ir_block_terminator(op->regions[r].first);
        for (uint32_t i = 0; i < op->num_results; i++)
            unite_dims(p, op, &op->results[i], ir_op_operand(end, i));
    }
}

static bool has_unknown(const IrOp *op) {
    bool any = false;
    for (uint32_t i = 0; i < op->num_operands; i++) any |= is_unknown(ir_op_operand(op, i)->type);
    for (uint32_t i = 0; i < op->num_results; i++) any |= is_unknown(op->results[i].type);
    return any;
}

static void read_op(IrOp *op, void *ctx) {
    Prover *p = ctx;
    if (op == p->s->func || p->status != STATUS_OK || !has_unknown(op)) return;
    if (ir_op_info(op->kind)->traits & IR_LINALG) {
        read_structured(p, op);
        return;
    }
    switch (op->kind) {
    case IR_LINALG_SOFTMAX:
        unite_dims(p, op, ir_op_operand(op, 0), ir_op_operand(op, 1));
        unite_dims(p, op, ir_op_operand(op, 0), &op->results[0]);
        break;
    case IR_TENSOR_EMPTY: read_empty(p, op); break;
    case IR_TENSOR_DIM: read_dim(p, op); break;
    case IR_TENSOR_CAST: unite_dims(p, op, ir_op_operand(op, 0), &op->results[0]); break;
    case IR_TENSOR_INSERT: unite_dims(p, op, ir_op_operand(op, 1), &op->results[0]); break;
    case IR_TENSOR_EXTRACT_SLICE:
    case IR_TENSOR_PARALLEL_INSERT_SLICE:
    case IR_TENSOR_INSERT_SLICE: read_slice(p, op); break;
    case IR_TENSOR_EXPAND_SHAPE:
    case IR_TENSOR_COLLAPSE_SHAPE: read_reshape(p, op); break;
    case IR_TENSOR_PAD: read_pad(p, op); break;
    case IR_SCF_FOR: read_loop(p, op, 3); break;
    case IR_SCF_FORALL: read_loop(p, op, op->num_operands - op->num_results); break;
    case IR_SCF_IF: read_if(p, op); break;
    case IR_ARITH_SELECT:
        unite_dims(p, op, ir_op_operand(op, 1), &op->results[0]);
        unite_dims(p, op, ir_op_operand(op, 2), &op->results[0]);
        break;
    case IR_FUNC_CALL: refuse(p, op, "the call cannot be replaced by what it calls", NULL); break;
    case IR_TENSOR_EXTRACT:
    case IR_SCF_YIELD:
    case IR_FUNC_RETURN: break;
    default: refuse(p, op, "it has no rule for sizes that vary", NULL); break;
    }
}

// ---- what padding would change

// A window of fixed size over an unknown size mixes valid and padded elements.
static void check_structured(Prover *p, IrOp *op) {
    if (op->num_results > PLAN_MAX_RANK) refuse(p, op, "it has more than 16 results", NULL);
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrType *type = ir_op_operand(op, i)->type;
        if (!is_unknown(type)) continue;
        const IrAffineMap *map = ir_linalg_map(p->m, op, i);
        uint32_t dim;
        for (uint32_t r = 0; r < map->num_results && r < type->rank; r++) {
            const IrAffineExpr *e = map->results[r];
            bool is_first = e->kind == IR_AFFINE_CONST && e->value == 0;
            if (type->shape[r] == IR_DYNAMIC && !ir_affine_is_dim(e, &dim) && !is_first)
                refuse(p, op, "a window moves over the unknown size",
                       "a number for the size that the window moves over");
        }
    }
    if (op->kind == IR_LINALG_GENERIC || op->kind == IR_LINALG_REDUCE) return;
    for (uint32_t i = 0; i < ir_linalg_num_loops(op); i++)
        if (ir_linalg_num_windows(op->kind) && ir_linalg_iterator(op, i) == IR_REDUCTION &&
            sizes_of_loop(p->m, p->s, op, i).name >= 0)
            refuse(p, op, "the window or what it sums has an unknown size", NULL);
}

static int64_t min_of(const Sizes *s, Size size) {
    return size.name >= 0 ? s->ranges->of[size.name].is.min : size.number;
}

#define MAX_ELEMENTS ((int64_t)1 << 48) // of a type, as in text

static int64_t max_of(const Sizes *s, Size size) {
    return size.name >= 0 ? s->ranges->of[size.name].is.max : size.number;
}

// Is a slice in one dimension the same for every size, padded or not? What is cut out of an unknown
// size must be there for the smallest one, and no padding may be taken for valid elements.
static const char *slice_fault(const Prover *p, bool is_insert, Size whole, Size part,
                               int64_t offset, int64_t stride) {
    bool is_same = part.name == whole.name && offset == 0 && stride == 1;
    int64_t last = 0; // the index of the last element that is cut out
    if (part.name < 0 && whole.name < 0) return NULL;
    if (part.name >= 0 && whole.name >= 0)
        return is_same ? NULL : "it moves elements along a dimension of unknown size";
    if (part.name >= 0) { // of a dimension with a number
        if (is_insert) return "the padding behind the inserted part would overwrite elements";
        if (offset == IR_DYNAMIC || stride == IR_DYNAMIC)
            return "a part of unknown size begins where the call says";
        return !__builtin_mul_overflow(max_of(p->s, part) - 1, stride, &last) &&
                       !__builtin_add_overflow(last, offset, &last) && last < whole.number
                   ? NULL
                   : "the largest size reaches beyond the tensor it is cut out of";
    }
    if (stride == IR_DYNAMIC) return "its stride is known at run time only";
    if (offset == IR_DYNAMIC) return NULL; // split-buckets bounds it by the size of the call
    return !__builtin_mul_overflow(part.number - 1, stride, &last) &&
                   !__builtin_add_overflow(last, offset, &last) && last < min_of(p->s, whole)
               ? NULL
               : "the part is not there for the smallest size";
}

static void check_slice(Prover *p, IrOp *op) {
    bool is_insert = op->kind != IR_TENSOR_EXTRACT_SLICE, kept[PLAN_MAX_RANK];
    const IrValue *part = is_insert ? ir_op_operand(op, 0) : &op->results[0];
    const IrValue *whole = ir_op_operand(op, is_insert ? 1 : 0);
    Term sizes[PLAN_MAX_RANK];
    slice_terms(p->s, op, part->type, sizes, kept);
    const IrAttr *offsets = ir_op_attr(op, "static_offsets");
    const IrAttr *strides = ir_op_attr(op, "static_strides");
    for (uint32_t d = 0; d < whole->type->rank; d++) {
        const char *fault =
            slice_fault(p, is_insert, sizes_of_dim(p->s, whole, d), size_of_term(p->s, sizes[d]),
                        offsets->values[d], strides->values[d]);
        if (fault) refuse(p, op, fault, NULL);
    }
}

static void check_known(Prover *p, const IrOp *op, const IrValue *value) {
    if (is_unknown(value->type) && value->type->rank > SIZES_MAX_RANK)
        refuse(p, op, "it has more than 12 dimensions", NULL);
    for (uint32_t d = 0; is_unknown(value->type) && d < value->type->rank; d++) {
        Size size = sizes_of_dim(p->s, value, d);
        if (size.name >= 0 || size.number >= 0 || p->status != STATUS_OK) continue;
        p->status = diag_error(p->sink, DIAG_P0004, ir_loc_span(op->loc),
                               "@%s: dimension %u of what %s gives is neither a number nor a size "
                               "that ingot.dims names",
                               ir_symbol_name(p->s->func), d, ir_op_info(op->kind)->name);
        diag_evidence(p->sink, "sizes are those of arguments; none is computed from others");
        diag_write(p->sink, "tensor.dim of an argument for the size");
    }
}

// A type of the largest version must be one that could be written.
static bool is_writable(const Prover *p, const IrValue *value, const int64_t *version) {
    int64_t total = 1;
    for (uint32_t d = 0; is_unknown(value->type) && d < value->type->rank; d++) {
        Size size = sizes_of_dim(p->s, value, d);
        int64_t most = size.name >= 0 ? version[size.name] : size.number;
        if (most > 0 && __builtin_mul_overflow(total, most, &total)) return false;
    }
    return total <= MAX_ELEMENTS;
}

static void check_elements(Prover *p, const IrOp *op, const IrValue *value) {
    bool fits = true;
    for (uint32_t i = 0; i < p->versions.num; i++)
        fits = fits && is_writable(p, value, p->versions.of[i]);
    if (fits || p->status != STATUS_OK) return;
    p->status = diag_error(p->sink, DIAG_P0016, ir_loc_span(op->loc),
                           "@%s: at the largest sizes a tensor has more than 2^48 elements",
                           ir_symbol_name(p->s->func));
    diag_write(p->sink, "a smaller max");
}

static void check_op(IrOp *op, void *ctx) {
    Prover *p = ctx;
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++) check_elements(p, op, block->args[i]);
    for (uint32_t i = 0; i < op->num_results; i++) check_elements(p, op, &op->results[i]);
    if (op == p->s->func) return;
    for (uint32_t i = 0; i < op->num_results; i++) check_known(p, op, &op->results[i]);
    for (uint32_t r = 0; r < op->num_regions; r++) FOR_EACH_BLOCK(block, &op->regions[r])
    for (uint32_t i = 0; i < block->num_args; i++) check_known(p, op, block->args[i]);
    if (p->status != STATUS_OK || !has_unknown(op)) return;
    if (ir_op_info(op->kind)->traits & IR_LINALG) check_structured(p, op);
    if (op->kind == IR_TENSOR_EXTRACT_SLICE || op->kind == IR_TENSOR_INSERT_SLICE ||
        op->kind == IR_TENSOR_PARALLEL_INSERT_SLICE)
        check_slice(p, op);
}

// ---- the arguments

static bool find_name(const SizeRanges *ranges, const char *name, int32_t *out) {
    for (uint32_t i = 0; i < ranges->num; i++)
        if (str_equal(ranges->of[i].name, name)) {
            *out = (int32_t)i;
            return true;
        }
    return false;
}

static Status name_arguments(Prover *p) {
    IrBlock *body = ir_func_body(p->s->func);
    for (uint32_t i = 0; i < body->num_args; i++) {
        const IrValue *arg = body->args[i];
        if (!is_unknown(arg->type)) continue;
        const IrAttr *dims = ir_func_arg_attr(p->s->func, i, "ingot.dims");
        for (uint32_t d = 0; d < arg->type->rank; d++) {
            if (arg->type->shape[d] != IR_DYNAMIC) continue;
            int32_t name;
            bool is_named = dims && dims->kind == IR_ATTR_ARRAY && d < dims->num_elems &&
                            dims->elems[d]->kind == IR_ATTR_STRING &&
                            find_name(p->s->ranges, dims->elems[d]->str, &name);
            if (!is_named)
                return diag_error(p->sink, DIAG_P0004, ir_loc_span(p->s->func->loc),
                                  "@%s: nothing bounds dimension %u of argument %u",
                                  ir_symbol_name(p->s->func), d, i);
            p->s->nodes[p->s->first_node[arg->index] + d].name = name;
        }
    }
    return STATUS_OK;
}

// ---- outside

static bool block_has_unknown(const IrBlock *block) {
    for (uint32_t i = 0; i < block->num_args; i++)
        if (is_unknown(block->args[i]->type)) return true;
    FOR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->num_results; i++)
            if (is_unknown(op->results[i].type)) return true;
        for (uint32_t r = 0; r < op->num_regions; r++)
            for (const IrBlock *inner = op->regions[r].first; inner; inner = inner->next)
                if (block_has_unknown(inner)) return true;
    }
    return false;
}

bool sizes_are_unknown(const IrOp *func) {
    return block_has_unknown(ir_func_body(func));
}

Status sizes_prove(IrModule *m, IrOp *func, const SizeRanges *ranges, DiagSink *sink,
                   Sizes *out_sizes) {
    Sizes *s = out_sizes;
    *s = (Sizes){.func = func, .ranges = ranges, .num_nodes = 1, .num_values = m->num_values};
    s->first_node = base_alloc((size_t)m->num_values + 1, sizeof *s->first_node);
    ir_walk(func, number_op, s);
    s->nodes = base_alloc(s->num_nodes, sizeof *s->nodes);
    for (uint32_t i = 0; i < s->num_nodes; i++) s->nodes[i] = (SizeNode){i, -1, -1};
    Prover p = {.s = s, .m = m, .sink = sink};
    BUG_IF(!size_ranges_versions(ranges, &p.versions), "more versions than were read");
    TRY(name_arguments(&p));
    ir_walk(func, read_op, &p);
    if (p.status == STATUS_OK) ir_walk(func, check_op, &p);
    return p.status;
}

void sizes_deinit(Sizes *sizes) {
    free(sizes->nodes);
    free(sizes->first_node);
    *sizes = (Sizes){0};
}

Size sizes_of_dim(const Sizes *sizes, const IrValue *value, uint32_t dim) {
    return size_of_term(sizes, dim_term(sizes, value, dim));
}

Size sizes_of_index(const Sizes *sizes, const IrValue *value) {
    return size_of_term(sizes, index_term(sizes, value));
}

Size sizes_of_loop(IrModule *m, const Sizes *sizes, const IrOp *op, uint32_t loop) {
    for (uint32_t i = 0; i < op->num_operands; i++) {
        const IrValue *value = ir_op_operand(op, i);
        if (!ir_type_is_shaped(value->type)) continue;
        const IrAffineMap *map = ir_linalg_map(m, op, i);
        uint32_t dim;
        for (uint32_t r = 0; r < map->num_results && r < value->type->rank; r++)
            if (ir_affine_is_dim(map->results[r], &dim) && dim == loop)
                return sizes_of_dim(sizes, value, r);
    }
    return (Size){-1, -1};
}
