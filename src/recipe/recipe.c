// Walks a document against the table of keys, fills the Recipe, then derives and cross-checks. All
// independent faults are reported in one go. See recipe.h.
#include "recipe/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipe/known_model.h"
#include "recipe/recipe_list.h"
#include "recipe/recipe_refuse.h"
#include "recipe/recipe_relation.h"
#include "recipe/size.h"
#include "text/doc.h"

static const char fusion_patterns[] =
#define FUSION_PATTERN(id, name, meaning) name " "
#include "abi/fusion_patterns.def"
    ;

static const char weight_formats[] = "as_stored"
#define QUANT(id, ...) " " #id
#include "abi/quant.def"
#undef QUANT
    ;

static const char op_precisions[] =
#define PRECISION(id, name, storage, compute, accumulate, meaning) name " "
#include "abi/precision.def"
#undef PRECISION
    ;

// Sums of products with weights are fp32 whatever is asked for.
static const char product_precisions[] = "fp32 fp16_storage bf16_storage";

static const RecipeKeyInfo keys[NUM_RECIPE_KEYS] = {
#define KEY(scope_, path_, type_, owner, field, min_, max_, choices_, default_, doc_, effect_)     \
    {.path = (path_),                                                                              \
     .scope = RECIPE_OF_##scope_,                                                                  \
     .type = RECIPE_TYPE_##type_,                                                                  \
     .min = (min_),                                                                                \
     .max = (max_),                                                                                \
     .choices = (choices_),                                                                        \
     .default_text = (default_),                                                                   \
     .doc = (doc_),                                                                                \
     .effect = (effect_),                                                                          \
     .offset = offsetof(owner, field)},
#define RECIPE_KEY(id, ...)          KEY(ANY, __VA_ARGS__)
#define RECIPE_MODEL_KEY(id, ...)    KEY(MODEL, __VA_ARGS__)
#define RECIPE_SUBGRAPH_KEY(id, ...) KEY(SUBGRAPH, __VA_ARGS__)
#include "recipe/recipe.def"
#undef RECIPE_KEY
#undef KEY
};

const RecipeKeyInfo *recipe_key_info(RecipeKey key) {
    return &keys[key];
}

enum { MAX_PATH_CHARS = 128, MAX_CHOICES = 32 };

typedef struct Reader {
    Recipe *recipe;
    DiagSink *sink;
    bool is_given[NUM_RECIPE_KEYS]; // in the element at hand, for keys in lists
    bool is_subgraph;
    size_t num_errors_before; // a missing key is reported only where it is the one fault: it may be
                              // misspelt
} Reader;

static void *field_of(void *base, const RecipeKeyInfo *info) {
    return (char *)base + info->offset;
}

// Keeps the error in the sink and goes on, so that one run shows all faults.
static void note_error(Status status) {
    (void)status;
}

// ---------------------------------------------------------------- values

// Splits "a b c" into out; returns how many.
static size_t split_words(Arena *arena, const char *text, const char **out) {
    size_t n = 0;
    while (*text && n < MAX_CHOICES) {
        size_t len = strcspn(text, " ");
        out[n++] = arena_strndup(arena, text, len);
        text += len + (text[len] == ' ');
    }
    return n;
}

// Reports that a word is none of the choices: the nearest if it looks misspelt, else all.
static Status refuse_word(Reader *r, const DocNode *node, const char *what,
                          const char *const *choices, size_t num_choices) {
    Status status =
        diag_error(r->sink, DIAG_R0010, node->span, "%s cannot be %.60s", what, node->text);
    const char *nearest = str_nearest(node->text, choices, num_choices);
    StrBuf all = {0};
    for (size_t i = 0; i < num_choices; i++)
        strbuf_printf(&all, "%s%s", i ? " | " : "", choices[i]);
    if (nearest && num_choices > 1) diag_evidence(r->sink, "it is one of %s", all.data);
    const char *key = strrchr(what, '.') ? strrchr(what, '.') + 1 : what;
    diag_write(r->sink, "%s: %s", key, nearest ? nearest : all.data);
    if (nearest) diag_fix(r->sink, "%s", nearest);
    strbuf_deinit(&all);
    return status;
}

static Status read_word(Reader *r, const DocNode *node, const RecipeKeyInfo *info,
                        const char **out) {
    const char *text = NULL, *choices[MAX_CHOICES];
    TRY(doc_get_string(node, info->path, r->sink, &text));
    size_t num_choices = split_words(&r->recipe->arena, info->choices, choices);
    for (size_t i = 0; i < num_choices; i++) {
        if (!str_equal(text, choices[i])) continue;
        *out = choices[i];
        return STATUS_OK;
    }
    return refuse_word(r, node, info->path, choices, num_choices);
}

static Status read_level(Reader *r, const DocNode *node, const char *what, uint32_t *levels) {
    const char *text = NULL, *names[NUM_CPU_LEVELS + 1];
    TRY(doc_get_string(node, what, r->sink, &text));
    names[NUM_CPU_LEVELS] = "all";
    for (int i = 0; i < NUM_CPU_LEVELS; i++) names[i] = cpu_level_info((CpuLevel)i)->name;
    if (str_equal(text, "all")) {
        *levels = (1u << NUM_CPU_LEVELS) - 1;
        return STATUS_OK;
    }
    for (int i = 0; i < NUM_CPU_LEVELS; i++) {
        if (!str_equal(text, names[i])) continue;
        if (*levels >> i & 1)
            return diag_error(r->sink, DIAG_R0011, node->span, "%s names %s twice", what, text);
        *levels |= 1u << i;
        return STATUS_OK;
    }
    return refuse_word(r, node, what, names, ARRAY_LEN(names));
}

static Status read_levels(Reader *r, const DocNode *node, const RecipeKeyInfo *info,
                          uint32_t *out) {
    uint32_t levels = 0;
    if (node->kind != DOC_LIST) {
        TRY(read_level(r, node, info->path, &levels));
    } else {
        FOR_EACH_DOC(child, node) TRY(read_level(r, child, info->path, &levels));
        if (!levels)
            return diag_error(r->sink, DIAG_R0004, node->span, "%s names no level", info->path);
    }
    *out = levels;
    return STATUS_OK;
}

static Status read_real(Reader *r, const DocNode *node, const RecipeKeyInfo *info, double *out) {
    double value = 0;
    TRY(doc_get_float(node, info->path, r->sink, &value));
    if (!(value > (double)info->min) || !(value <= (double)info->max))
        return diag_error(r->sink, DIAG_R0005, node->span,
                          "%s must be above %" PRId64 " and at most %" PRId64 ", not %.40s",
                          info->path, info->min, info->max, node->text);
    *out = value;
    return STATUS_OK;
}

static Status read_value(Reader *r, const DocNode *node, RecipeKey key, void *base) {
    const RecipeKeyInfo *info = &keys[key];
    void *field = field_of(base, info);
    const char *text = NULL;
    switch (info->type) {
    case RECIPE_TYPE_INT:
        return doc_get_int(node, info->path, info->min, info->max, r->sink, field);
    case RECIPE_TYPE_REAL: return read_real(r, node, info, field);
    case RECIPE_TYPE_BOOL: return doc_get_bool(node, info->path, r->sink, field);
    case RECIPE_TYPE_WORD: return read_word(r, node, info, field);
    case RECIPE_TYPE_SIZE: return recipe_read_size(node, info->path, r->sink, field);
    case RECIPE_TYPE_LEVELS: return read_levels(r, node, info, field);
    case RECIPE_TYPE_INTS: return recipe_read_ints(node, info, r->sink, field);
    case RECIPE_TYPE_SHAPE: return recipe_read_shape(node, info, &r->recipe->arena, r->sink, field);
    case RECIPE_TYPE_OPS: return recipe_read_ops(node, info, r->sink, field);
    case RECIPE_TYPE_RELATIONS:
        return recipe_read_relations(node, info->path, &r->recipe->arena, r->sink, field);
    case RECIPE_TYPE_TEXT:
        TRY(doc_get_string(node, info->path, r->sink, &text));
        *(const char **)field = arena_strdup(&r->recipe->arena, text);
        return STATUS_OK;
    }
    BUG("recipe key %s has no type", info->path);
}

static void set_default(Recipe *recipe, RecipeKey key, void *base) {
    const RecipeKeyInfo *info = &keys[key];
    void *field = field_of(base, info);
    const char *text = info->default_text;
    switch (info->type) {
    case RECIPE_TYPE_INT:
    case RECIPE_TYPE_SIZE: *(int64_t *)field = strtoll(text, NULL, 10); return;
    case RECIPE_TYPE_REAL: *(double *)field = strtod(text, NULL); return;
    case RECIPE_TYPE_BOOL: *(bool *)field = str_equal(text, "true"); return;
    case RECIPE_TYPE_INTS:
    case RECIPE_TYPE_OPS:
    case RECIPE_TYPE_SHAPE:
    case RECIPE_TYPE_RELATIONS: return; // none
    case RECIPE_TYPE_LEVELS: *(uint32_t *)field = (1u << NUM_CPU_LEVELS) - 1; return;
    case RECIPE_TYPE_WORD:
    case RECIPE_TYPE_TEXT:
        *(const char **)field = *text ? arena_strdup(&recipe->arena, text) : NULL;
        return;
    }
}

// ---------------------------------------------------------------- keys

// The part of a key's path after prefix up to the next separator; NULL if the key is not below
// prefix.
static const char *component(RecipeKey key, const char *prefix, size_t *out_len) {
    size_t len = strlen(prefix);
    const char *rest = keys[key].path;
    if (strncmp(rest, prefix, len) != 0) return NULL;
    rest += len;
    *out_len = strcspn(rest, ".[");
    return rest;
}

static void refuse_key(Reader *r, const DocNode *node, const char *prefix) {
    const char *near_here[NUM_RECIPE_KEYS], *nearest, *elsewhere = NULL;
    size_t num_here = 0, len = 0;
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const char *part = component((RecipeKey)i, prefix, &len);
        if (part) near_here[num_here++] = arena_strndup(&r->recipe->arena, part, len);
        const char *last = strrchr(keys[i].path, '.');
        if (!elsewhere && str_equal(last ? last + 1 : keys[i].path, node->key))
            elsewhere = keys[i].path;
    }
    int place_len = (int)strlen(prefix);
    while (place_len && strchr(".[]", prefix[place_len - 1])) place_len--;
    note_error(diag_error(r->sink, DIAG_R0008, node->key_span, "unknown key %.60s%s%.*s", node->key,
                          place_len ? " in " : "", place_len, prefix));
    nearest = str_nearest(node->key, near_here, num_here);
    if (nearest) {
        diag_write(r->sink, "%s:", nearest);
        diag_fix(r->sink, "%s", nearest);
        return;
    }
    if (elsewhere) {
        diag_write(r->sink, "%s:", elsewhere);
        return;
    }
    StrBuf all = {0};
    for (size_t i = 0; i < num_here; i++)
        if (i == 0 || !str_equal(near_here[i], near_here[i - 1]))
            strbuf_printf(&all, "%s%s", all.len ? " | " : "", near_here[i]);
    if (all.data) diag_write(r->sink, "one of %s", all.data);
    strbuf_deinit(&all);
}

static void check_missing(Reader *r, const char *prefix, DiagSpan span, void *base) {
    size_t len = 0;
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const char *rest = component((RecipeKey)i, prefix, &len);
        if (!rest || strchr(rest, '[') || r->is_given[i]) continue;
        if (keys[i].default_text) {
            set_default(r->recipe, (RecipeKey)i, base);
        } else if (r->sink->num_errors == r->num_errors_before) {
            note_error(diag_error(r->sink, DIAG_R0009, span, "%s is missing", keys[i].path));
            diag_write(r->sink, "%s: ...", rest);
            r->num_errors_before = r->sink->num_errors;
        }
    }
}

static void read_map(Reader *r, const DocNode *map, const char *prefix, void *base);

// enabled, atomic and mode say the same thing in three ways; they must not say two things.
static void derive_mode(Reader *r, RecipeRule *rule) {
    bool says_mode = r->is_given[RECIPE_RULE_MODE], says_enabled = r->is_given[RECIPE_RULE_ENABLED];
    if (!says_mode)
        rule->mode = !rule->is_enabled ? "forbid" : rule->is_atomic ? "require" : "allow";
    bool is_forbidden = str_equal(rule->mode, "forbid"),
         is_required = str_equal(rule->mode, "require");
    bool agree = (!says_enabled || rule->is_enabled == !is_forbidden) &&
                 (!r->is_given[RECIPE_RULE_ATOMIC] || rule->is_atomic == is_required);
    if (!agree) {
        note_error(diag_error(r->sink, DIAG_R0011, rule->span,
                              "the rule %s says mode: %s, enabled: %s, atomic: %s", rule->pattern,
                              rule->mode, rule->is_enabled ? "true" : "false",
                              rule->is_atomic ? "true" : "false"));
        diag_write(r->sink, "mode: %s", is_forbidden ? "allow" : rule->mode);
    }
    rule->is_enabled = !is_forbidden;
    rule->says_flash = r->is_given[RECIPE_RULE_FLASH] || rule->flash_version;
    if (is_forbidden && rule->says_flash && rule->is_flash) {
        note_error(diag_error(r->sink, DIAG_R0011, rule->span,
                              "the rule %s is forbidden and says use_flash_attention: true",
                              rule->pattern));
        diag_write(r->sink, "mode: require");
    }
    if (rule->says_flash && !str_equal(rule->pattern, "attn_softmax"))
        note_error(
            diag_error(r->sink, DIAG_R0012, rule->span, "%s belongs to the rule attn_softmax",
                       rule->flash_version ? "flash_attention_version" : "use_flash_attention"));
}

static void read_rules(Reader *r, const DocNode *list, const char *prefix) {
    FOR_EACH_DOC(item, list) {
        RecipeRule rule = {.span = item->span};
        size_t errors = r->sink->num_errors;
        r->num_errors_before = errors;
        for (int i = RECIPE_RULE_PATTERN; i <= RECIPE_RULE_ORDER; i++) r->is_given[i] = false;
        if (doc_want_kind(item, "an element of fusion_rules", DOC_MAP, r->sink) != STATUS_OK)
            continue;
        read_map(r, item, prefix, &rule);
        check_missing(r, prefix, item->span, &rule);
        if (r->sink->num_errors != errors) continue;
        derive_mode(r, &rule);
        for (uint32_t i = 0; i < r->recipe->num_rules; i++) {
            if (!str_equal(r->recipe->rules[i].pattern, rule.pattern)) continue;
            note_error(diag_error(r->sink, DIAG_R0011, item->span, "a second rule for %s",
                                  rule.pattern));
            diag_evidence(r->sink, "the first is in line %" PRIu32,
                          r->recipe->rules[i].span.line);
            diag_write(r->sink, "one rule for %s, with what both say", rule.pattern);
        }
        // Patterns are few and no two rules share one, so the table cannot overflow.
        if (r->sink->num_errors == errors) r->recipe->rules[r->recipe->num_rules++] = rule;
    }
}

static bool is_target_key(int key) {
    return str_has_prefix(keys[key].path, "targets[].");
}

static void read_target(Reader *r, const DocNode *item, const char *prefix, DiagSpan span) {
    Recipe *recipe = r->recipe;
    RecipeTarget *target = &recipe->targets[recipe->num_targets];
    size_t errors = r->sink->num_errors;
    for (int i = 0; i < NUM_RECIPE_KEYS; i++)
        if (is_target_key(i)) {
            r->is_given[i] = false;
            recipe->spans[i] = (DiagSpan){0};
        }
    *target = (RecipeTarget){.span = span};
    if (item && doc_want_kind(item, "an element of targets", DOC_MAP, r->sink) == STATUS_OK)
        read_map(r, item, prefix, target);
    check_missing(r, prefix, span, target);
    if (r->sink->num_errors != errors) return;
    note_error(recipe_check_target(recipe, recipe->spans, target, r->sink));
    if (r->sink->num_errors != errors) return;
    for (uint32_t i = 0; i < recipe->num_targets; i++)
        if (str_equal(recipe_target_name(&recipe->targets[i]), recipe_target_name(target)))
            note_error(diag_error(r->sink, DIAG_R0011, span, "a second target is called %s",
                                  recipe_target_name(target)));
    if (recipe->num_targets == 0) recipe->target = *target;
    recipe->num_targets++;
}

static void read_targets(Reader *r, const DocNode *list, const char *prefix) {
    if (list->num_children < 1 || list->num_children > RECIPE_MAX_TARGETS) {
        note_error(diag_error(r->sink, DIAG_R0012, list->span,
                              "%zu targets are listed, 1 to %d can be", list->num_children,
                              RECIPE_MAX_TARGETS));
        return;
    }
    FOR_EACH_DOC(item, list) read_target(r, item, prefix, item->span);
}

// Elements are about a tensor each, or say qkv_packed.
static void read_layouts(Reader *r, const DocNode *list, const char *prefix) {
    Recipe *recipe = r->recipe;
    FOR_EACH_DOC(item, list) {
        RecipeLayout layout = {.span = item->span};
        size_t errors = r->sink->num_errors;
        r->num_errors_before = errors;
        for (int i = RECIPE_LAYOUT_NAME; i <= RECIPE_LAYOUT_BLOCK; i++) r->is_given[i] = false;
        if (doc_want_kind(item, "an element of input_layouts", DOC_MAP, r->sink) != STATUS_OK)
            continue;
        const DocNode *packed = doc_find(item, "qkv_packed");
        if (packed && item->num_children == 1) {
            read_map(r, item, "input_layouts.", recipe);
            continue;
        }
        read_map(r, item, prefix, &layout);
        check_missing(r, prefix, item->span, &layout);
        if (r->sink->num_errors != errors) continue;
        if (recipe->num_layouts == RECIPE_MAX_LAYOUTS)
            note_error(diag_error(r->sink, DIAG_R0012, item->span, "more than %d layouts",
                                  RECIPE_MAX_LAYOUTS));
        else
            recipe->layouts[recipe->num_layouts++] = layout;
    }
}

static void read_list(Reader *r, const DocNode *node, const char *path) {
    const char *prefix = arena_printf(&r->recipe->arena, "%s[].", path);
    if (doc_want_kind(node, path, DOC_LIST, r->sink) != STATUS_OK) return;
    if (str_equal(path, "targets"))
        read_targets(r, node, prefix);
    else if (str_equal(path, "input_layouts"))
        read_layouts(r, node, prefix);
    else
        read_rules(r, node, prefix);
}

// A value where a mapping belongs. A lone number is most likely meant for the key `max`.
static void refuse_no_map(Reader *r, const DocNode *node, const char *prefix) {
    StrBuf inside = {0};
    size_t len = 0;
    const char *last = "";
    char max_path[MAX_PATH_CHARS + 4];
    bool has_max = false;
    snprintf(max_path, sizeof max_path, "%smax", prefix);
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const char *part = component((RecipeKey)i, prefix, &len);
        if (!part || strncmp(part, last, len) == 0) continue;
        strbuf_printf(&inside, "%s%.*s: ...", inside.len ? ", " : "", (int)len, part);
        has_max |= str_equal(keys[i].path, max_path);
        last = part;
    }
    note_error(diag_error(r->sink, DIAG_R0004, node->span, "%.*s must be a mapping, not %s",
                          (int)strlen(prefix) - 1, prefix,
                          node->kind == DOC_LIST ? "a list" : "a single value"));
    bool is_number = node->kind == DOC_SCALAR && node->text_len &&
                     strspn(node->text, "0123456789") == node->text_len;
    if (is_number && has_max) {
        diag_write(r->sink, "%s: {max: %.20s}", node->key, node->text);
        diag_fix(r->sink, "{max: %.20s}", node->text);
    } else {
        diag_write(r->sink, "%s: {%s}", node->key, inside.data);
    }
    strbuf_deinit(&inside);
}

// Of a subgraph: any name, each with a range.
static void read_sizes(Reader *r, const DocNode *map) {
    static const char prefix[] = "input_constraints[].";
    FOR_EACH_DOC(item, map) {
        RecipeSize size = {.name = arena_strdup(&r->recipe->arena, item->key),
                           .span = item->key_span};
        size_t errors = r->sink->num_errors;
        r->num_errors_before = errors;
        for (int i = RECIPE_SIZE_MIN; i <= RECIPE_SIZE_BELOW; i++) r->is_given[i] = false;
        if (doc_want_kind(item, item->key, DOC_MAP, r->sink) != STATUS_OK) continue;
        read_map(r, item, prefix, &size);
        check_missing(r, prefix, item->key_span, &size);
        if (r->sink->num_errors != errors) continue;
        if (!r->is_given[RECIPE_SIZE_STEP]) size.range.step = size.range.max;
        note_error(recipe_check_size(&size, item->span, r->recipe->spans, r->sink));
        if (r->sink->num_errors != errors) continue;
        if (r->recipe->num_sizes == RECIPE_MAX_SIZES)
            note_error(diag_error(r->sink, DIAG_R0012, item->span, "more than %d sizes",
                                  RECIPE_MAX_SIZES));
        else
            r->recipe->sizes[r->recipe->num_sizes++] = size;
    }
}

// One entry: a value, or a mapping or list whose keys are in the table.
static void read_entry(Reader *r, const DocNode *node, const char *prefix, void *base) {
    char path[MAX_PATH_CHARS];
    int len = snprintf(path, sizeof path, "%s%s", prefix, node->key);
    // A key that holds a separator must not be taken for a path.
    if (len < 0 || len >= MAX_PATH_CHARS - 4 || strpbrk(node->key, ".[]")) {
        refuse_key(r, node, prefix);
        return;
    }
    if (r->is_subgraph && node->kind == DOC_MAP && str_equal(path, "input_constraints")) {
        read_sizes(r, node);
        return;
    }
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        if (strncmp(keys[i].path, path, (size_t)len) != 0) continue;
        char next = keys[i].path[len];
        if (next == 0) {
            r->is_given[i] = true;
            r->recipe->spans[i] = node->span;
            note_error(read_value(r, node, (RecipeKey)i, base));
            return;
        }
        bool is_both = next == '.' && node->kind == DOC_LIST && str_equal(path, "input_layouts");
        if (next == '[' || is_both) {
            read_list(r, node, path);
            return;
        }
        if (next == '.') {
            path[len] = '.';
            path[len + 1] = 0;
            if (node->kind == DOC_MAP)
                read_map(r, node, path, base);
            else
                refuse_no_map(r, node, path);
            return;
        }
    }
    refuse_key(r, node, prefix);
}

static void read_map(Reader *r, const DocNode *map, const char *prefix, void *base) {
    FOR_EACH_DOC(child, map) read_entry(r, child, prefix, base);
}

// ---------------------------------------------------------------- what follows, and what must
// agree

static DiagSpan span_or_root(const Reader *r, RecipeKey key) {
    const DiagSpan *span = &r->recipe->spans[key];
    return span->line ? *span : (DiagSpan){.file = r->recipe->path};
}

typedef struct RangeKeys {
    const char *name;
    RecipeKey min, step, hot;
} RangeKeys;

// Puts the sizes that are to have a variant of their own among the others.
static uint32_t add_hot(Reader *r, const RecipeRange *range, const RangeKeys *of, uint32_t num,
                        int64_t sizes[RECIPE_MAX_BUCKETS]) {
    DiagSpan span = r->recipe->spans[of->hot];
    if (recipe_check_hot(range, of->name, span, r->sink) != STATUS_OK) return 0;
    for (uint32_t i = 0; i < range->hot.num; i++) {
        int64_t hot = range->hot.of[i];
        uint32_t at = 0;
        while (at < num && sizes[at] < hot) at++;
        if (at < num && sizes[at] == hot) continue;
        if (num == RECIPE_MAX_BUCKETS) {
            note_error(diag_error(r->sink, DIAG_R0005, span_or_root(r, of->hot),
                                  "%s gives more than %d buckets with its hot ones", of->name,
                                  RECIPE_MAX_BUCKETS));
            diag_write(r->sink, "a larger step, or fewer hot sizes");
            return 0;
        }
        memmove(sizes + at + 1, sizes + at, (num++ - at) * sizeof *sizes);
        sizes[at] = hot;
    }
    return num;
}

// The multiples of step from min to max, max, and the hot ones, behind the size 1. Reports what is
// wrong.
static uint32_t list_sizes(Reader *r, RecipeRange *range, const RangeKeys *of,
                           int64_t sizes[RECIPE_MAX_BUCKETS]) {
    if (!r->is_given[of->step]) range->step = range->max;
    if (range->min > range->max) {
        note_error(diag_error(r->sink, DIAG_R0011, span_or_root(r, of->min),
                              "%s.min %" PRId64 " is above %s.max %" PRId64, of->name, range->min,
                              of->name, range->max));
        diag_write(r->sink, "min: at most %" PRId64 ", or max: at least %" PRId64, range->max,
                   range->min);
        return 0;
    }
    int64_t first = (range->min + range->step - 1) / range->step * range->step;
    int64_t count = first < range->max ? (range->max - 1 - first) / range->step + 1 : 0;
    count += 1 + (first > 1 && range->max > 1); // the maximum, and the size 1
    if (count > RECIPE_MAX_BUCKETS) {
        note_error(diag_error(r->sink, DIAG_R0005, span_or_root(r, of->step),
                              "%s gives %" PRId64 " buckets, at most %d are compiled", of->name,
                              count, RECIPE_MAX_BUCKETS));
        diag_write(r->sink, "step: %" PRId64, (range->max + 30) / 31);
        if (r->is_given[of->step]) diag_fix(r->sink, "%" PRId64, (range->max + 30) / 31);
        return 0;
    }
    uint32_t num = 0;
    sizes[num++] = 1;
    for (int64_t size = first; size < range->max; size += range->step)
        if (size > 1) sizes[num++] = size;
    if (range->max > 1) sizes[num++] = range->max;
    return add_hot(r, range, of, num, sizes);
}

static void derive_buckets(Reader *r) {
    static const RangeKeys seq = {"seq_len", RECIPE_SEQ_MIN, RECIPE_SEQ_STEP, RECIPE_SEQ_HOT},
                           batch = {"batch_size", RECIPE_BATCH_MIN, RECIPE_BATCH_STEP,
                                    RECIPE_BATCH_HOT};
    Recipe *recipe = r->recipe;
    recipe->num_buckets = list_sizes(r, &recipe->seq_len, &seq, recipe->buckets);
    int64_t sizes[RECIPE_MAX_BUCKETS];
    uint32_t num = list_sizes(r, &recipe->batch_size, &batch, sizes);
    recipe->num_batches = num ? num - 1 : 0; // one sequence: the bucket of one token
    memcpy(recipe->batches, sizes + 1, recipe->num_batches * sizeof *sizes);
}

static void derive_pages(Reader *r) {
    Recipe *recipe = r->recipe;
    if (recipe->page_len_tokens % 16) {
        note_error(diag_error(r->sink, DIAG_R0005, span_or_root(r, RECIPE_PAGE_LEN),
                              "kv_cache_page_size must be a multiple of 16"));
        uint64_t next = align_up((uint64_t)recipe->page_len_tokens, 16);
        diag_write(r->sink, "kv_cache_page_size: %" PRIu64, next);
        diag_fix(r->sink, "%" PRIu64, next);
        return;
    }
    int64_t pages = (recipe->kv_len_tokens + recipe->page_len_tokens - 1) / recipe->page_len_tokens;
    if (r->is_given[RECIPE_MAX_PAGES] && !r->is_given[RECIPE_KV_MAX]) {
        recipe->kv_len_tokens = recipe->max_pages * recipe->page_len_tokens;
    } else if (r->is_given[RECIPE_MAX_PAGES] && recipe->max_pages != pages) {
        note_error(diag_error(r->sink, DIAG_R0011, span_or_root(r, RECIPE_MAX_PAGES),
                              "%" PRId64 " pages of %" PRId64 " tokens do not fit "
                              "kv_cache_seq_len.max %" PRId64,
                              recipe->max_pages, recipe->page_len_tokens, recipe->kv_len_tokens));
        diag_write(r->sink, "max_pages_per_sequence: %" PRId64, pages);
        diag_fix(r->sink, "%" PRId64, pages);
    } else {
        recipe->max_pages = pages;
    }
    recipe->num_pages = recipe_count_pages(recipe);
    if (recipe->seq_len.max > recipe->page_len_tokens * recipe->max_pages)
        note_error(diag_error(r->sink, DIAG_R0011, span_or_root(r, RECIPE_SEQ_MAX),
                              "seq_len.max %" PRId64 " is longer than the context, %" PRId64
                              " tokens",
                              recipe->seq_len.max, recipe->page_len_tokens * recipe->max_pages));
}

static void derive_packing(Reader *r) {
    Recipe *recipe = r->recipe;
    const RecipeRule *qkv = NULL;
    recipe->is_gate_up_packed = true;
    for (uint32_t i = 0; i < recipe->num_rules; i++) {
        const RecipeRule *rule = &recipe->rules[i];
        if (str_equal(rule->pattern, "qkv_proj")) qkv = rule;
        if (str_equal(rule->pattern, "mlp_gate_up")) recipe->is_gate_up_packed = rule->is_enabled;
    }
    if (!r->is_given[RECIPE_QKV_PACKED]) {
        recipe->is_qkv_packed = !qkv || qkv->is_enabled;
    } else if (qkv && qkv->is_enabled != recipe->is_qkv_packed) {
        note_error(diag_error(r->sink, DIAG_R0011, qkv->span,
                              "the rule qkv_proj says %s, input_layouts.qkv_packed says %s",
                              qkv->is_enabled ? "true" : "false",
                              recipe->is_qkv_packed ? "true" : "false"));
        diag_write(r->sink, "enabled: %s", recipe->is_qkv_packed ? "true" : "false");
    }
}

static const char dims_prefix[] = "dims.";

// What the recipe leaves open of a model whose name is known.
static void derive_dims(Reader *r) {
    Recipe *recipe = r->recipe;
    const DocNode *known = NULL;
    if (known_model_load(recipe->model_name, r->sink, &known, &recipe->known_model) != STATUS_OK)
        return;
    for (int i = 0; known && i < NUM_RECIPE_KEYS; i++) {
        if (!str_has_prefix(keys[i].path, dims_prefix) || r->is_given[i]) continue;
        const DocNode *node = doc_find(known, keys[i].path + strlen(dims_prefix));
        if (node) note_error(read_value(r, node, (RecipeKey)i, recipe));
    }
}

bool recipe_dim(const Recipe *recipe, const char *name, RecipeKey *out_key, double *out_value) {
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const RecipeKeyInfo *info = &keys[i];
        if (!str_has_prefix(info->path, dims_prefix) ||
            !str_equal(info->path + strlen(dims_prefix), name))
            continue;
        const void *field = (const char *)recipe + info->offset;
        if (info->type != RECIPE_TYPE_INT && info->type != RECIPE_TYPE_REAL) return false;
        *out_key = (RecipeKey)i;
        *out_value = info->type == RECIPE_TYPE_INT ? (double)*(const int64_t *)field
                                                   : *(const double *)field;
        return true;
    }
    return false;
}

// The choices are as_stored and the formats in the order of their enumerators.
static void derive_format(Recipe *recipe) {
    static const char *const names[] = {
#define QUANT(id, ...) #id,
#include "abi/quant.def"
#undef QUANT
    };
    int format = 0;
    while (format < NUM_QUANT_FORMATS && !str_equal(recipe->weights, names[format])) format++;
    recipe->weight_format = (QuantFormat)format;
}

// Relative paths start at the recipe's folder.
static void resolve_path(Recipe *recipe, const char **path) {
    const char *slash = strrchr(recipe->path, '/');
    if (!*path || **path == '/' || !slash) return;
    *path =
        arena_printf(&recipe->arena, "%.*s/%s", (int)(slash - recipe->path), recipe->path, *path);
}

void recipe_name_places(const char *path, DiagSink *sink) {
    static const char neutral[] = RECIPE_NEUTRAL_NAME;
    for (size_t i = 0; i < sink->num_diags; i++) {
        DiagSpan *span = &sink->diags[i].span;
        if (!span->file || !span->line || !str_has_prefix(span->file, neutral)) continue;
        const char *rest = span->file + strlen(neutral);
        if (*rest == 0 || *rest == ':') span->file = arena_printf(&sink->arena, "%s%s", path, rest);
    }
}

void recipe_name_model_places(const char *path, DiagSink *sink) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sink->num_diags; i++) {
        DiagSpan *span = &sink->diags[i].span;
        if (span->file && str_equal(span->file, MODEL_NEUTRAL_NAME))
            span->file = arena_strdup(&sink->arena, name);
        else if (span->file && str_equal(span->file, MODEL_NEUTRAL_NAME ".mlir"))
            span->file = arena_printf(&sink->arena, "%s.mlir", name);
    }
}

bool recipe_is_subgraph(const Recipe *recipe) {
    return recipe->subgraph_text || recipe->subgraph_path;
}

// Keys that say nothing about what the recipe describes are refused, not ignored.
static void check_scope(Reader *r) {
    const Recipe *recipe = r->recipe;
    bool is_subgraph = recipe_is_subgraph(recipe);
    if (recipe->subgraph_text && recipe->subgraph_path)
        note_error(diag_error(r->sink, DIAG_R0011, recipe->spans[RECIPE_SUBGRAPH_FILE],
                              "the subgraph is given twice, as text and as a file"));
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        bool fits = keys[i].scope != (is_subgraph ? RECIPE_OF_MODEL : RECIPE_OF_SUBGRAPH);
        if (fits || !r->is_given[i]) continue;
        note_error(diag_error(
            r->sink, DIAG_R0012, recipe->spans[i], "%s is of use to %s only", keys[i].path,
            is_subgraph ? "recipes of a language model" : "recipes of a subgraph"));
        diag_write(r->sink, is_subgraph ? "the recipe without this key" : "subgraph: {text: ...}");
    }
}

// Follow-on faults are not reported: what is derived is looked at only if all values are good.
static Status read_document(Reader *r, const DocNode *root) {
    size_t errors = r->sink->num_errors;
    TRY(doc_want_kind(root, "the recipe", DOC_MAP, r->sink));
    r->is_subgraph = doc_find(root, "subgraph") != NULL;
    read_map(r, root, "", r->recipe);
    DiagSpan whole = {.file = r->recipe->path};
    r->num_errors_before = errors;
    check_missing(r, "", whole, r->recipe);
    if (!doc_find(root, "targets")) read_target(r, NULL, "targets[].", whole);
    if (r->sink->num_errors != errors) return STATUS_INVALID;
    check_scope(r);
    note_error(recipe_derive_rules(r->recipe, r->sink));
    note_error(recipe_refuse_unmade(r->recipe, r->sink));
    note_error(recipe_derive_sync(r->recipe, r->sink));
    derive_dims(r);
    derive_format(r->recipe);
    recipe_derive_precisions(r->recipe, r->sink);
    derive_packing(r);
    derive_buckets(r);
    derive_pages(r);
    if (r->sink->num_errors == errors && !recipe_is_subgraph(r->recipe))
        note_error(recipe_check_relations(r->recipe, r->sink));
    resolve_path(r->recipe, &r->recipe->model_path);
    resolve_path(r->recipe, &r->recipe->subgraph_path);
    return r->sink->num_errors == errors ? STATUS_OK : STATUS_INVALID;
}

static Status read_root(const DocNode *root, const char *path, DiagSink *sink,
                        Recipe **out_recipe) {
    Recipe *recipe = base_alloc(1, sizeof *recipe);
    arena_init(&recipe->arena);
    recipe->path = arena_strdup(&recipe->arena, path);
    Reader reader = {.recipe = recipe, .sink = sink};
    Status status = read_document(&reader, root);
    if (status == STATUS_OK)
        *out_recipe = recipe;
    else
        recipe_destroy(recipe);
    return status;
}

Status recipe_parse(const char *text, size_t len, const char *path, DiagSink *sink,
                    Recipe **out_recipe) {
    const DocNode *root = NULL;
    TRY(doc_parse(text, len, path, str_has_suffix(path, ".json") ? DOC_JSON : DOC_YAML, sink,
                  &root));
    TRY(read_root(root, path, sink, out_recipe));
    (*out_recipe)->text = arena_strndup(&(*out_recipe)->arena, text, len);
    (*out_recipe)->text_len = len;
    return STATUS_OK;
}

void recipe_destroy(Recipe *recipe) {
    if (!recipe) return;
    arena_deinit(&recipe->arena);
    free(recipe);
}
