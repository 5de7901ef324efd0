// Binds the sizes of entries to names and ranges; see module_ranges.h.
#include "compiler/module_ranges.h"

#include <string.h>

#include "abi/plan.h"
#include "compiler/module_text.h"
#include "passes/entry.h"
#include "passes/sizes.h"

typedef struct Bind {
    IrModule *m;
    IrOp *func;
    const Recipe *recipe;
    DiagSink *sink;
    const char *names[SIZES_MAX_NAMES]; // of the entry's sizes, as they are met
    uint32_t num_names;
} Bind;

static DiagSpan place(const Bind *b) {
    return ir_loc_span(b->func->loc);
}

static const char *place_text(Bind *b, DiagSpan span) {
    const char *file = span.file ? span.file : "", *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    if (b->recipe && str_equal(file, b->recipe->path)) name = RECIPE_NEUTRAL_NAME;
    return arena_printf(&b->m->arena, "%s:%u", name, span.line);
}

static const RecipeSize *recipe_size(const Recipe *recipe, const char *name) {
    for (uint32_t i = 0; recipe && i < recipe->num_sizes; i++)
        if (str_equal(recipe->sizes[i].name, name)) return &recipe->sizes[i];
    return NULL;
}

static const IrAttr *author_range(const Bind *b, const char *name) {
    const IrAttr *ranges = ir_op_attr(b->func, "ingot.ranges");
    return ranges ? ir_attr_dict_find(ranges, name) : NULL;
}

// ---- names

static Status refuse_dims(Bind *b, uint32_t arg, const char *why) {
    Status status =
        diag_error(b->sink, DIAG_P0011, place(b), "@%s: ingot.dims of argument %s %s",
                   ir_symbol_name(b->func), module_text_argument_name(b->m, b->func, arg), why);
    diag_write(b->sink, "a name for every '?' and the empty text for every number: [\"n\", \"\"]");
    return status;
}

// The names an author gave the dimensions of an argument.
static Status check_dims(Bind *b, uint32_t arg, const IrAttr *dims) {
    const IrType *type = ir_func_body(b->func)->args[arg]->type;
    uint32_t rank = type->kind == IR_TYPE_TENSOR ? type->rank : 0;
    if (dims->kind != IR_ATTR_ARRAY || dims->num_elems != rank)
        return refuse_dims(b, arg, "is no list of as many names as there are dimensions");
    for (uint32_t d = 0; d < rank; d++) {
        if (dims->elems[d]->kind != IR_ATTR_STRING)
            return refuse_dims(b, arg, "holds something other than names");
        if (*dims->elems[d]->str && type->shape[d] != IR_DYNAMIC)
            return refuse_dims(b, arg, "names a dimension that is a number");
    }
    return STATUS_OK;
}

static bool is_bounded(const Bind *b, const char *name) {
    return author_range(b, name) || recipe_size(b->recipe, name);
}

static Status refuse_unbounded(Bind *b, uint32_t arg, uint32_t dim, const char *name) {
    const char *argument = module_text_argument_name(b->m, b->func, arg);
    bool has_own = !str_has_prefix(name, arena_printf(&b->m->arena, "%s.", argument));
    Status status =
        diag_error(b->sink, DIAG_P0004, place(b), "@%s: nothing bounds dimension %u of argument %s",
                   ir_symbol_name(b->func), dim, argument);
    if (has_own)
        diag_evidence(b->sink, "it has the name %s, which has no range", name);
    else
        diag_evidence(b->sink, "unknown is not the same as any");
    if (has_own)
        diag_write(b->sink, "ingot.ranges = {%s = {min = 1, max = 512, step = 64}} on the function",
                   name);
    else
        diag_write(b->sink,
                   "ingot.dims on the argument with a name for it, \"n\", and ingot.ranges = {n = "
                   "{min = 1, max = 512, step = 64}} on the function; or in a recipe "
                   "input_constraints: {%s: {min: 1, max: 512, step: 64}}",
                   name);
    return status;
}

static Status note_name(Bind *b, const char *name) {
    for (uint32_t i = 0; i < b->num_names; i++)
        if (str_equal(b->names[i], name)) return STATUS_OK;
    if (b->num_names == SIZES_MAX_NAMES)
        return diag_error(b->sink, DIAG_P0016, place(b), "@%s has more than %d unknown sizes",
                          ir_symbol_name(b->func), SIZES_MAX_NAMES);
    b->names[b->num_names++] = name;
    return STATUS_OK;
}

static Status name_argument(Bind *b, uint32_t arg) {
    IrModule *m = b->m;
    const IrType *type = ir_func_body(b->func)->args[arg]->type;
    const IrAttr *dims = ir_func_arg_attr(b->func, arg, "ingot.dims");
    if (dims) TRY(check_dims(b, arg, dims));
    if (!ir_type_is_shaped(type) || ir_type_is_static(type)) return STATUS_OK;
    if (type->rank > SIZES_MAX_RANK) return refuse_dims(b, arg, "is about more than 12 dimensions");
    const IrAttr *names[SIZES_MAX_RANK];
    for (uint32_t d = 0; d < type->rank; d++) {
        const char *name = dims ? dims->elems[d]->str : "";
        if (type->shape[d] == IR_DYNAMIC) {
            if (!*name)
                name =
                    arena_printf(&m->arena, "%s.%u", module_text_argument_name(m, b->func, arg), d);
            if (!is_bounded(b, name)) return refuse_unbounded(b, arg, d, name);
            TRY(note_name(b, name));
        }
        names[d] = ir_attr_string(m, name);
    }
    ir_func_set_arg_attr(m, b->func, arg, "ingot.dims", ir_attr_array(m, type->rank, names));
    return STATUS_OK;
}

// ---- ranges

typedef struct Range {
    BucketRange is;
    const char *at;
} Range;

static Status refuse_range(Bind *b, const char *name) {
    Status status = diag_error(b->sink, DIAG_P0011, place(b), "@%s: ingot.ranges of %s is no range",
                               ir_symbol_name(b->func), name);
    diag_evidence(
        b->sink,
        "min (1 if left out), max and step (max if left out) are whole numbers "
        "from 1 to %d, hot is an ascending list of them from min to max, off_step is "
        "\"pad\" or \"reject\", and with \"pad\" out_of_range \"reject\" or \"next_bucket\"",
        SIZES_MAX_SIZE);
    diag_write(b->sink, "%s = {min = 1, max = 512, step = 64}", name);
    return status;
}

static bool read_size(const IrAttr *value, int64_t *out) {
    bool fits = value->kind == IR_ATTR_INT && value->i >= 1 && value->i <= SIZES_MAX_SIZE;
    if (fits) *out = value->i;
    return fits;
}

static bool read_hot(const IrAttr *list, BucketRange *out) {
    bool fits = list->kind == IR_ATTR_ARRAY && list->num_elems <= BUCKET_RANGE_MAX_HOT;
    for (size_t i = 0; fits && i < list->num_elems; i++) {
        int64_t size = 0;
        fits = read_size(list->elems[i], &size);
        out->hot[out->num_hot++] = (int32_t)size;
    }
    return fits;
}

static bool read_word(const IrAttr *value, const char *no, const char *yes, bool *out) {
    if (value->kind != IR_ATTR_STRING) return false;
    *out = str_equal(value->str, yes);
    return *out || str_equal(value->str, no);
}

// What follows from the others; whether the first bucket serves what is less than min too.
static void complete(BucketRange *range, bool serves_below) {
    if (!range->step) range->step = range->max;
    range->first = bucket_range_first(range, range->min);
    if (serves_below) range->min = 1;
}

static bool read_author(const IrAttr *range, BucketRange *out) {
    if (range->kind != IR_ATTR_DICT) return false;
    bool fits = true, rejects = false, serves_below = false;
    for (size_t i = 0; fits && i < range->num_entries; i++) {
        const char *key = range->entries[i].name;
        const IrAttr *value = range->entries[i].attr;
        fits = str_equal(key, "off_step") ? read_word(value, "pad", "reject", &rejects)
               : str_equal(key, "out_of_range")
                   ? read_word(value, "reject", "next_bucket", &serves_below)
               : str_equal(key, "hot") ? read_hot(value, out)
               : str_equal(key, "min") ? read_size(value, &out->min)
               : str_equal(key, "max") ? read_size(value, &out->max)
                                       : str_equal(key, "step") && read_size(value, &out->step);
    }
    out->rejects_off_step = rejects;
    bool has_hot_below = out->num_hot > 0 && out->hot[0] < out->min;
    if (!fits || out->min > out->max || has_hot_below || (rejects && serves_below)) return false;
    complete(out, serves_below);
    return bucket_range_is_valid(out);
}

static void read_recipe(const RecipeRange *range, BucketRange *out) {
    out->min = range->min;
    out->max = range->max;
    out->step = range->step;
    out->rejects_off_step = str_equal(range->off_step, "reject");
    out->num_hot = range->hot.num;
    for (uint32_t i = 0; i < range->hot.num; i++) out->hot[i] = (int32_t)range->hot.of[i];
    complete(out, str_equal(range->out_of_range, "next_bucket"));
}

static Status find_range(Bind *b, const char *name, Range *out) {
    const IrAttr *author = author_range(b, name);
    const RecipeSize *size = recipe_size(b->recipe, name);
    if (author && size) {
        Status status =
            diag_error(b->sink, DIAG_R0011, size->span, "the module bounds the size %s too", name);
        diag_evidence(b->sink, "@%s, %s", ir_symbol_name(b->func), place_text(b, place(b)));
        diag_write(b->sink, "the range in one place");
        return status;
    }
    *out = (Range){.is.min = 1, .at = place_text(b, size ? size->span : place(b))};
    if (!size) return read_author(author, &out->is) ? STATUS_OK : refuse_range(b, name);
    read_recipe(&size->range, &out->is);
    return STATUS_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The relation as it bounds each size, the others at the least that a call can have.
static Status check_relation(Bind *b, const RecipeRelation *relation, const SizeRanges *ranges) {
    RelationSize sizes[SIZES_MAX_NAMES];
    for (uint32_t i = 0; i < ranges->num; i++) {
        const BucketRange *range = &ranges->of[i].is;
        int64_t least = bucket_range_least(range, bucket_range_above(range, 1));
        sizes[i] = (RelationSize){ranges->of[i].name, (uint64_t)least};
    }
    for (uint32_t i = 0; i < ranges->num; i++) {
        uint64_t max = (uint64_t)ranges->of[i].is.max, most;
        if (!relation_has(&relation->is, ranges->of[i].name)) continue;
        most = relation_most(&relation->is, sizes, ranges->num, i, max);
        if (most == max) continue;
        Status status = diag_error(b->sink, DIAG_R0011, relation->span,
                                   "no call can have the %s.max of %llu: the relation %s allows "
                                   "%llu",
                                   ranges->of[i].name, (unsigned long long)max, relation->text,
                                   (unsigned long long)most);
        diag_evidence(b->sink, "max is stated at %s", ranges->of[i].at);
        diag_write(b->sink, "%s: {max: %llu}, or a larger bound", ranges->of[i].name,
                   (unsigned long long)MAX(most, 1u));
        return status;
    }
    return STATUS_OK;
}

// Those of the recipe whose sizes the entry has.
static Status bind_relations(Bind *b, SizeRanges *ranges) {
    RelationSize names[SIZES_MAX_NAMES];
    const IrAttr *texts[RELATION_MAX];
    for (uint32_t i = 0; i < ranges->num; i++) names[i] = (RelationSize){ranges->of[i].name, 1};
    for (uint32_t i = 0; b->recipe && i < b->recipe->relations.num; i++) {
        const RecipeRelation *relation = &b->recipe->relations.of[i];
        if (!relation_is_about(&relation->is, names, ranges->num)) continue;
        TRY(check_relation(b, relation, ranges));
        texts[ranges->num_relations] = ir_attr_string(b->m, relation->text);
        ranges->relations[ranges->num_relations++] = relation->is;
    }
    if (ranges->num_relations)
        ir_op_set_attr(b->m, b->func, "ingot.relations",
                       ir_attr_array(b->m, ranges->num_relations, texts));
    return STATUS_OK;
}

static Status check_versions(Bind *b, const SizeRanges *ranges) {
    SizeVersions versions;
    if (size_ranges_versions(ranges, &versions)) return STATUS_OK;
    StrBuf buckets = {0};
    const SizeRange *most = &ranges->of[0];
    for (uint32_t i = 0; i < ranges->num; i++) {
        const SizeRange *r = &ranges->of[i];
        if (bucket_range_count(&r->is) > bucket_range_count(&most->is)) most = r;
        strbuf_printf(&buckets, "%s%s: %lld (%s)", i ? ", " : "", r->name,
                      (long long)bucket_range_count(&r->is), r->at);
    }
    Status status = diag_error(b->sink, DIAG_P0016, place(b),
                               "@%s would be compiled more than %d times, once for every "
                               "combination of buckets",
                               ir_symbol_name(b->func), SIZES_MAX_VERSIONS);
    (void)status;
    diag_evidence(b->sink, "buckets of %s", buckets.data);
    strbuf_deinit(&buckets);
    diag_write(b->sink, "a larger step for %s", most->name);
    return STATUS_LIMIT;
}

// In the form that passes read.
static const IrAttr *range_attr(IrModule *m, const Range *range) {
    const BucketRange *is = &range->is;
    IrNamedAttr entries[7] = {{"at", ir_attr_string(m, range->at)},
                              {"max", ir_attr_i64(m, is->max)},
                              {"min", ir_attr_i64(m, is->min)},
                              {"step", ir_attr_i64(m, is->step)}};
    size_t num = 4;
    if (is->rejects_off_step)
        entries[num++] = (IrNamedAttr){"off_step", ir_attr_string(m, "reject")};
    if (is->first != bucket_range_first(is, is->min))
        entries[num++] = (IrNamedAttr){"first", ir_attr_i64(m, is->first)};
    const IrAttr *hot[BUCKET_RANGE_MAX_HOT];
    for (uint32_t i = 0; i < is->num_hot; i++) hot[i] = ir_attr_i64(m, is->hot[i]);
    if (is->num_hot) entries[num++] = (IrNamedAttr){"hot", ir_attr_array(m, is->num_hot, hot)};
    return ir_attr_dict(m, num, entries);
}

static Status set_ranges(Bind *b) {
    IrModule *m = b->m;
    IrNamedAttr of[SIZES_MAX_NAMES];
    SizeRanges ranges = {.num = b->num_names};
    array_sort(b->names, b->num_names, sizeof *b->names, by_name);
    for (uint32_t i = 0; i < b->num_names; i++) {
        Range range;
        TRY(find_range(b, b->names[i], &range));
        of[i] = (IrNamedAttr){b->names[i], range_attr(m, &range)};
        ranges.of[i] = (SizeRange){.name = b->names[i], .at = range.at, .is = range.is};
    }
    ir_op_set_attr(m, b->func, "ingot.ranges",
                   b->num_names ? ir_attr_dict(m, b->num_names, of) : NULL);
    if (!b->num_names) return STATUS_OK;
    TRY(bind_relations(b, &ranges));
    return check_versions(b, &ranges);
}

static Status check_used(Bind *b) {
    const IrAttr *ranges = ir_op_attr(b->func, "ingot.ranges");
    if (ranges && ranges->kind != IR_ATTR_DICT) return refuse_range(b, "n");
    for (size_t i = 0; ranges && i < ranges->num_entries; i++) {
        const char *name = ranges->entries[i].name;
        bool is_used = false;
        for (uint32_t k = 0; k < b->num_names; k++) is_used |= str_equal(b->names[k], name);
        if (is_used) continue;
        Status status = diag_error(b->sink, DIAG_P0011, place(b),
                                   "@%s: no dimension of an argument is called %s",
                                   ir_symbol_name(b->func), name);
        const char *nearest = str_nearest(name, b->names, b->num_names);
        if (nearest) diag_write(b->sink, "%s", nearest);
        return status;
    }
    return STATUS_OK;
}

Status module_ranges_bind(IrModule *m, IrOp *func, const Recipe *recipe, DiagSink *sink) {
    Bind b = {.m = m, .func = func, .recipe = recipe, .sink = sink};
    const IrAttr *ranges = ir_op_attr(func, "ingot.ranges");
    if (ranges && ranges->kind != IR_ATTR_DICT) return refuse_range(&b, "n");
    for (uint32_t i = 0; i < ir_func_body(func)->num_args; i++) TRY(name_argument(&b, i));
    TRY(check_used(&b));
    return set_ranges(&b);
}

// The names of an entry's sizes, none if it has no ranges. What an author wrote on other functions
// was not read, and means nothing.
static uint32_t entry_names(const IrOp *func, RelationSize out[SIZES_MAX_NAMES]) {
    const IrAttr *ranges = is_public_func(func) ? ir_op_attr(func, "ingot.ranges") : NULL;
    uint32_t num = ranges ? (uint32_t)ranges->num_entries : 0;
    for (uint32_t i = 0; i < num; i++) out[i] = (RelationSize){ranges->entries[i].name, 1};
    return num;
}

static Status refuse_relation(IrModule *m, const RecipeRelation *relation, DiagSink *sink) {
    const char *known[64];
    size_t num_known = 0;
    FOR_EACH_OP(func, ir_module_body(m)) {
        RelationSize names[SIZES_MAX_NAMES];
        uint32_t num = entry_names(func, names);
        for (uint32_t i = 0; i < num && num_known < ARRAY_LEN(known); i++)
            known[num_known++] = names[i].name;
    }
    for (uint32_t i = 0; i < relation->is.num_names; i++) {
        const char *name = arena_strndup(&m->arena, relation->is.names[i], relation->is.lens[i]);
        bool is_known = false;
        for (size_t k = 0; k < num_known; k++) is_known |= str_equal(known[k], name);
        if (is_known) continue;
        Status status =
            diag_error(sink, DIAG_R0015, relation->span,
                       "the relation %s: the module has no size called %s", relation->text, name);
        const char *nearest = str_nearest(name, known, num_known);
        diag_write(sink, "%s", nearest ? nearest : "a name that ingot.dims gives");
        return status;
    }
    return diag_error(sink, DIAG_R0015, relation->span,
                      "the relation %s: no entry of the module has all of these sizes",
                      relation->text);
}

// Every relation is about an entry.
static Status check_relations(IrModule *m, const Recipe *recipe, DiagSink *sink) {
    for (uint32_t i = 0; i < recipe->relations.num; i++) {
        bool is_used = false;
        FOR_EACH_OP(func, ir_module_body(m)) {
            RelationSize names[SIZES_MAX_NAMES];
            uint32_t num = entry_names(func, names);
            is_used |= relation_is_about(&recipe->relations.of[i].is, names, num);
        }
        if (!is_used) return refuse_relation(m, &recipe->relations.of[i], sink);
    }
    return STATUS_OK;
}

Status module_ranges_check_recipe(IrModule *m, const Recipe *recipe, DiagSink *sink) {
    TRY(check_relations(m, recipe, sink));
    for (uint32_t i = 0; i < recipe->num_sizes; i++) {
        const char *names[64];
        size_t num = 0;
        bool is_used = false;
        FOR_EACH_OP(func, ir_module_body(m)) {
            const IrAttr *ranges = ir_op_attr(func, "ingot.ranges");
            for (size_t k = 0; ranges && k < ranges->num_entries; k++) {
                is_used |= str_equal(ranges->entries[k].name, recipe->sizes[i].name);
                if (num < ARRAY_LEN(names)) names[num++] = ranges->entries[k].name;
            }
        }
        if (is_used) continue;
        Status status = diag_error(sink, DIAG_R0012, recipe->sizes[i].span,
                                   "the module has no size called %s", recipe->sizes[i].name);
        const char *nearest = str_nearest(recipe->sizes[i].name, names, num);
        if (nearest)
            diag_write(sink, "%s:", nearest);
        else
            diag_write(sink, "ingot.dims on the arguments, with this name for a '?'");
        return status;
    }
    return STATUS_OK;
}
