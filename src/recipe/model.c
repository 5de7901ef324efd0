// Reads the numbers and finds the tensors of a model; see model.h.
#include "recipe/model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "recipe/family.h"

enum { MAX_LAYERS = 4096 };

// Where a number of the description is read for: the model (layer -1), or one of its layers.
typedef struct Reader {
    Model *model;
    ExprScope *scope; // names known so far; gets the new one
    int64_t layer;
} Reader;

static DiagSpan file_span(const Model *model, uint64_t byte_offset) {
    if (gguf_is_outline(model->gguf)) return model->outline;
    return (DiagSpan){.file = gguf_path(model->gguf), .byte_offset = byte_offset};
}

static DiagSpan tensor_span(const Model *model, const GgufTensor *tensor) {
    return file_span(model, tensor ? tensor->file_offset : 0);
}

Status model_child(const Model *model, const DocNode *node, const char *key, DocKind kind,
                   const DocNode **out) {
    const DocNode *child = doc_find(node, key);
    if (!child) return diag_error(model->sink, DIAG_R0013, node->span, "%s is missing here", key);
    TRY(doc_want_kind(child, key, kind, model->sink));
    *out = child;
    return STATUS_OK;
}

static Status child_text(const Model *model, const DocNode *node, const char *key,
                         const char **out) {
    const DocNode *child = NULL;
    TRY(model_child(model, node, key, DOC_SCALAR, &child));
    return doc_get_string(child, key, model->sink, out);
}

// ---------------------------------------------------------------- the description

static Status load_outline_arch(Model *model) {
    const Recipe *recipe = model->recipe;
    DiagSpan span = recipe->spans[RECIPE_DIMS_ARCH];
    model->arch_name = recipe->dims.architecture;
    if (!model->arch_name) {
        Status status =
            diag_error(model->sink, DIAG_R0009, model->outline, "dims.architecture is missing");
        diag_write(model->sink, "dims: {architecture: ..., layers: ..., ...}");
        return status;
    }
    return family_load(model->arch_name, strlen(model->arch_name),
                       span.line ? span : model->outline, model->sink, &model->arch);
}

static Status check_arch(const Model *model) {
    const Recipe *recipe = model->recipe;
    DiagSpan span = recipe->spans[RECIPE_DIMS_ARCH];
    if (!span.line || str_equal(recipe->dims.architecture, model->arch_name)) return STATUS_OK;
    Status status = diag_error(model->sink, DIAG_R0011, span,
                               "dims.architecture is %.60s, the model file says %.60s",
                               recipe->dims.architecture, model->arch_name);
    diag_write(model->sink, "architecture: %.60s", model->arch_name);
    return status;
}

static Status load_arch(Model *model) {
    GgufString name = {0};
    if (gguf_is_outline(model->gguf)) return load_outline_arch(model);
    if (!gguf_get_string(model->gguf, "general.architecture", &name))
        return diag_error(model->sink, DIAG_F0015, file_span(model, 0),
                          "the file does not say what it is: general.architecture is missing");
    model->arch_name = arena_strndup(model->arena, name.data, MIN(name.len, (uint64_t)128));
    TRY(check_arch(model));
    return family_load(model->arch_name, name.len,
                       gguf_key_span(model->gguf, "general.architecture"), model->sink,
                       &model->arch);
}

// {arch} at the start of a key stands for the architecture's name.
static const char *full_key(const Model *model, const char *key) {
    static const char start[] = "{arch}";
    if (!str_has_prefix(key, start)) return key;
    return arena_printf(model->arena, "%s%s", model->arch_name, key + sizeof start - 1);
}

// ---------------------------------------------------------------- numbers

static Status wrong_key_type(const Model *model, const char *key, const char *want) {
    return diag_error(model->sink, DIAG_F0015, gguf_key_span(model->gguf, key), "%s must be %s",
                      key, want);
}

static bool int_type(GgufType type) {
    return type <= GGUF_I32 || type == GGUF_U64 || type == GGUF_I64;
}

// The value of an array of one element per layer: a layer's own, or the one on which all agree.
static Status array_number(const Reader *r, const char *key, const GgufValue *value, double *out) {
    const Model *model = r->model;
    if (value->array.count == 0 ||
        (!int_type(value->array.elem_type) && value->array.elem_type != GGUF_BOOL))
        return wrong_key_type(model, key, "a whole number, or one per layer");
    if (r->layer >= 0) {
        if (value->array.count != (uint64_t)model->num_layers)
            return diag_error(model->sink, DIAG_F0016, gguf_key_span(model->gguf, key),
                              "%s has %" PRIu64 " elements for %" PRId64 " layers", key,
                              value->array.count, model->num_layers);
        *out = (double)gguf_array_int(value, (uint64_t)r->layer);
        return STATUS_OK;
    }
    for (uint64_t i = 1; i < value->array.count; i++)
        if (gguf_array_int(value, i) != gguf_array_int(value, 0))
            return diag_error(model->sink, DIAG_F0017, gguf_key_span(model->gguf, key),
                              "%s differs between layers, which is not supported", key);
    *out = (double)gguf_array_int(value, 0);
    return STATUS_OK;
}

static Status key_number(const Reader *r, const char *key, const GgufValue *value, bool want_float,
                         double *out) {
    const char *want = want_float ? "a number" : "a whole number";
    bool is_float = value->type == GGUF_F32 || value->type == GGUF_F64;
    bool is_negative_type = value->type == GGUF_I8 || value->type == GGUF_I16 ||
                            value->type == GGUF_I32 || value->type == GGUF_I64;
    if (is_float && want_float) {
        *out = value->f;
    } else if (int_type(value->type)) {
        *out = is_negative_type ? (double)value->i : (double)value->u;
    } else if (value->type == GGUF_ARRAY && !want_float) {
        TRY(array_number(r, key, value, out));
    } else {
        return wrong_key_type(r->model, key, want);
    }
    return isfinite(*out) ? STATUS_OK : wrong_key_type(r->model, key, "a finite number");
}

// A word that stands for a number.
static Status key_word(const Model *model, const char *key, const GgufValue *value,
                       const DocNode *words, double *out) {
    if (value->type != GGUF_STRING) return wrong_key_type(model, key, "a text");
    const char *text = arena_strndup(model->arena, value->str.data, MIN(value->str.len, 64u));
    const DocNode *word = doc_find(words, text);
    if (!word)
        return diag_error(model->sink, DIAG_F0017, gguf_key_span(model->gguf, key),
                          "%s = %s is not supported", key, text);
    return doc_get_float(word, key, model->sink, out);
}

static Status number_from_key(const Reader *r, const DocNode *entry, const char *key, double *out) {
    const Model *model = r->model;
    const DocNode *words = doc_find(entry, "words"), *type = doc_find(entry, "type");
    const DocNode *fallback = doc_find(entry, "default");
    const GgufValue *value = gguf_find(model->gguf, key);
    if (!value && !fallback)
        return diag_error(model->sink, DIAG_F0015, file_span(model, 0),
                          "metadata key %s is missing", key);
    if (!value) return expr_eval(r->scope, fallback->text, fallback->span, model->sink, out);
    if (words) return key_word(model, key, value, words, out);
    return key_number(r, key, value, type && str_equal(type->text, "float"), out);
}

static Status number_from_tensor(const Model *model, const DocNode *entry, const char *name,
                                 double *out) {
    const DocNode *dim = NULL;
    int64_t d = 0;
    TRY(model_child(model, entry, "dim", DOC_SCALAR, &dim));
    TRY(doc_get_int(dim, "dim", 0, GGUF_MAX_DIMS - 1, model->sink, &d));
    const GgufTensor *tensor = gguf_find_tensor(model->gguf, name);
    if (!tensor)
        return diag_error(model->sink, DIAG_F0018, file_span(model, 0), "tensor %s is missing",
                          name);
    *out = (double)tensor->dims[d];
    return STATUS_OK;
}

// The length of an array; without the key, the default.
static Status number_from_count(const Reader *r, const DocNode *entry, const char *key,
                                double *out) {
    const Model *model = r->model;
    const DocNode *fallback = NULL;
    const GgufValue *value = gguf_find(model->gguf, key);
    if (value && value->type == GGUF_ARRAY) {
        *out = (double)value->array.count;
        return STATUS_OK;
    }
    if (value) return wrong_key_type(model, key, "an array");
    TRY(model_child(model, entry, "default", DOC_SCALAR, &fallback));
    return expr_eval(r->scope, fallback->text, fallback->span, model->sink, out);
}

static Status check_range(const Model *model, const DocNode *entry, const char *origin,
                          DiagSpan span, double value) {
    const DocNode *min_node = doc_find(entry, "min"), *max_node = doc_find(entry, "max");
    if (!min_node || !max_node) return STATUS_OK;
    int64_t min = 0, max = 0;
    TRY(doc_get_int(min_node, "min", 0, INT64_MAX, model->sink, &min));
    TRY(doc_get_int(max_node, "max", 0, INT64_MAX, model->sink, &max));
    if (value >= (double)min && value <= (double)max && value == floor(value)) return STATUS_OK;
    return diag_error(model->sink, DIAG_F0016, span,
                      "%s is %.17g, not a whole number from %" PRId64 " to %" PRId64, origin, value,
                      min, max);
}

typedef struct Number {
    double value;
    const char *origin; // NULL: derived
    DiagSpan span;
    const DocNode *fallback; // that was taken
} Number;

static Status number_from_file(const Reader *r, const DocNode *entry, Number *out) {
    const Model *model = r->model;
    const DocNode *tensor = doc_find(entry, "tensor"), *count = doc_find(entry, "count");
    const char *key = NULL;
    if (tensor) {
        out->origin = arena_printf(model->arena, "shape of %s", tensor->text);
        TRY(number_from_tensor(model, entry, tensor->text, &out->value));
        out->span = tensor_span(model, gguf_find_tensor(model->gguf, tensor->text));
        return STATUS_OK;
    }
    if (count) {
        out->origin = arena_printf(model->arena, "length of %s", count->text);
        TRY(number_from_count(r, entry, count->text, &out->value));
        out->span = gguf_key_span(model->gguf, count->text);
        return STATUS_OK;
    }
    TRY(child_text(model, entry, "key", &key));
    out->origin = key = full_key(model, key);
    TRY(number_from_key(r, entry, key, &out->value));
    out->span = gguf_key_span(model->gguf, key);
    if (gguf_find(model->gguf, key)) return STATUS_OK;
    out->fallback = doc_find(entry, "default");
    out->origin = arena_printf(model->arena, "%s (by default %s)", key, out->fallback->text);
    if (!doc_find(entry, "assumed")) return STATUS_OK;
    diag_report(model->sink, DIAG_WARNING, DIAG_F0023, file_span(model, 0),
                "metadata key %s is missing: %s is assumed", key, out->fallback->text);
    diag_evidence(model->sink, "%s", doc_find(entry, "assumed")->text);
    return STATUS_OK;
}

// Of a model without a file.
static Status number_from_dims(const Reader *r, const DocNode *entry, Number *out) {
    const Model *model = r->model;
    const DocNode *dim = doc_find(entry, "recipe");
    RecipeKey key;
    out->fallback = doc_find(entry, "default");
    if (dim) {
        if (!recipe_dim(model->recipe, dim->text, &key, &out->value))
            return diag_error(model->sink, DIAG_R0013, dim->span, "dims has no %.40s", dim->text);
        out->origin = arena_printf(model->arena, "dims.%s", dim->text);
        if (model->recipe->spans[key].line) out->span = model->recipe->spans[key];
        if (out->value != 0) return STATUS_OK;
    }
    if (out->fallback) {
        if (dim)
            out->origin =
                arena_printf(model->arena, "%s (by default %s)", out->origin, out->fallback->text);
        return expr_eval(r->scope, out->fallback->text, out->fallback->span, model->sink,
                         &out->value);
    }
    Status status;
    if (dim) {
        status = diag_error(model->sink, DIAG_R0009, out->span, "dims.%s is missing", dim->text);
        diag_write(model->sink, "dims: {%s: ...}", dim->text);
    } else {
        status = diag_error(model->sink, DIAG_R0012, out->span,
                            "a model of the architecture %s needs %s, which only a model file says",
                            model->arch_name, entry->key);
        diag_write(model->sink, "model: FILE.gguf, or --model FILE.gguf");
    }
    return status;
}

// What the recipe says of a number must be what the file says of it, or takes its place where the
// recipe says so. Files keep reals as 32 bits.
static Status check_dim(const Model *model, const DocNode *entry, Number *number) {
    const DocNode *dim = doc_find(entry, "recipe");
    const Recipe *recipe = model->recipe;
    RecipeKey key;
    double said = 0;
    if (!dim || gguf_is_outline(model->gguf)) return STATUS_OK;
    if (!recipe_dim(recipe, dim->text, &key, &said))
        return diag_error(model->sink, DIAG_R0013, dim->span, "dims has no %.40s", dim->text);
    if (!recipe->spans[key].line || (float)said == (float)number->value) return STATUS_OK;
    if (key == RECIPE_DIMS_ROPE_BASE && recipe->is_rope_custom) {
        number->value = said;
        number->origin = "dims.rope_base (enable_custom_rope)";
        return STATUS_OK;
    }
    Status status =
        diag_error(model->sink, DIAG_R0011, recipe->spans[key],
                   "dims.%s is %.9g, the model file has %.9g", dim->text, said, number->value);
    diag_evidence(model->sink, "%s in %s", number->origin, model->file_name);
    diag_write(model->sink, "%s: %.9g", dim->text, number->value);
    return status;
}

static Status read_number(const Reader *r, const DocNode *entry) {
    const Model *model = r->model;
    TRY(doc_want_kind(entry, entry->key, DOC_MAP, model->sink));
    const DocNode *value_node = doc_find(entry, "value");
    Number number = {.span = file_span(model, 0)};
    if (value_node)
        TRY(expr_eval(r->scope, value_node->text, value_node->span, model->sink, &number.value));
    else if (gguf_is_outline(model->gguf))
        TRY(number_from_dims(r, entry, &number));
    else
        TRY(number_from_file(r, entry, &number));
    Status status = check_range(model, entry, number.origin ? number.origin : entry->key,
                                number.span, number.value);
    if (status != STATUS_OK) {
        StrBuf evidence = {0};
        if (number.fallback) expr_describe(r->scope, number.fallback->text, &evidence);
        if (evidence.data) diag_evidence(model->sink, "%s", evidence.data);
        strbuf_deinit(&evidence);
        return status;
    }
    TRY(check_dim(model, entry, &number));
    expr_define(r->scope, entry->key, number.value, number.origin);
    return STATUS_OK;
}

// A number of `dims` that the family does not ask for would be ignored.
static Status refuse_other_dims(const Model *model, const DocNode *config) {
    const Recipe *recipe = model->recipe;
    for (int i = RECIPE_DIMS_LAYERS; i <= RECIPE_DIMS_NORM_EPS; i++) {
        const char *name = recipe_key_info((RecipeKey)i)->path + strlen("dims.");
        bool is_asked = false;
        FOR_EACH_DOC(entry, config) {
            const DocNode *dim = doc_find(entry, "recipe");
            is_asked = is_asked || (dim && str_equal(dim->text, name));
        }
        if (is_asked || !recipe->spans[i].line) continue;
        return diag_error(model->sink, DIAG_R0012, recipe->spans[i],
                          "dims.%s means nothing in the architecture %s", name, model->arch_name);
    }
    return STATUS_OK;
}

static bool same_numbers(const ExprScope *a, const ExprScope *b) {
    for (size_t i = 1; i < a->num_names; i++) // 0: LAYER
        if (a->names[i].value != b->names[i].value) return false;
    return true;
}

// The numbers of each layer; layers whose numbers are equal are of one kind.
static Status read_layers(Model *model) {
    const DocNode *config = NULL;
    TRY(model_child(model, model->arch, "layer_config", DOC_MAP, &config));
    TRY(expr_eval_int(&model->scope, "LAYERS", 1, MAX_LAYERS, model->arch->span, model->sink,
                      &model->num_layers));
    size_t num_layers = (size_t)model->num_layers;
    model->layers = ARENA_ARRAY(model->arena, ModelLayer, num_layers);
    model->kind_layers = ARENA_ARRAY(model->arena, int64_t, num_layers);
    for (size_t i = 0; i < num_layers; i++) {
        ModelLayer *layer = &model->layers[i];
        layer->scope = (ExprScope){.parent = &model->scope, .arena = model->arena};
        const Reader reader = {model, &layer->scope, (int64_t)i};
        expr_define(&layer->scope, "LAYER", (double)i, NULL);
        FOR_EACH_DOC(entry, config) TRY(read_number(&reader, entry));
        while (layer->kind < model->num_kinds &&
               !same_numbers(&layer->scope, &model->layers[model->kind_layers[layer->kind]].scope))
            layer->kind++;
        if (layer->kind == model->num_kinds) model->kind_layers[model->num_kinds++] = (int64_t)i;
    }
    return STATUS_OK;
}

static void define_recipe_numbers(Model *model) {
    const Recipe *recipe = model->recipe;
    int64_t context = recipe->page_len_tokens * recipe->max_pages;
    int64_t largest = recipe->buckets[recipe->num_buckets - 1];
    expr_define(&model->scope, "PAGE_LEN", (double)recipe->page_len_tokens, "recipe");
    expr_define(&model->scope, "PAGES", (double)recipe->max_pages, "recipe");
    expr_define(&model->scope, "CONTEXT", (double)context, "recipe: page size * pages");
    // Rotary tables go on for one bucket, so that a slice that starts at the last position stays
    // inside.
    expr_define(&model->scope, "TABLE_LEN", (double)(context + largest), NULL);
    expr_define(&model->scope, "KV_IS_F16", str_equal(recipe->kv, "f16"), NULL);
}

// What a key of the recipe must be for a check to hold: marks its line, if it has one.
static void propose(Model *model, const DocNode *check) {
    const DocNode *path = doc_find(check, "recipe"), *name = doc_find(check, "write");
    double value = 0;
    if (!path || !name ||
        expr_eval(&model->scope, name->text, name->span, model->sink, &value) != STATUS_OK)
        return;
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        if (!str_equal(recipe_key_info((RecipeKey)i)->path, path->text)) continue;
        DiagSpan span = model->recipe->spans[i];
        if (span.line) model->sink->diags[model->sink->num_diags - 1].span = span;
    }
    diag_write(model->sink, "%s: %.0f", strrchr(path->text, '.') + 1, value);
}

static Status run_check(Model *model, const DocNode *check) {
    const char *that = NULL, *say = NULL;
    double truth = 0;
    TRY(child_text(model, check, "that", &that));
    TRY(child_text(model, check, "say", &say));
    TRY(expr_eval(&model->scope, that, check->span, model->sink, &truth));
    if (truth != 0) return STATUS_OK;
    Status status =
        diag_error(model->sink, DIAG_F0016, file_span(model, 0), "%s: %s does not hold", say, that);
    StrBuf evidence = {0};
    expr_describe(&model->scope, that, &evidence);
    if (evidence.data) diag_evidence(model->sink, "%s", evidence.data);
    strbuf_deinit(&evidence);
    propose(model, check);
    return status;
}

// ---------------------------------------------------------------- keys that are not honoured

// Does the value say "off"? Only numbers and truth values can.
static bool value_is(const GgufValue *value, double neutral) {
    switch (value->type) {
    case GGUF_F32:
    case GGUF_F64: return value->f == neutral;
    case GGUF_STRING: return false;
    case GGUF_ARRAY:
        if (!int_type(value->array.elem_type)) return false;
        for (uint64_t i = 0; i < value->array.count; i++)
            if ((double)gguf_array_int(value, i) != neutral) return false;
        return true;
    case GGUF_I8:
    case GGUF_I16:
    case GGUF_I32:
    case GGUF_I64: return (double)value->i == neutral;
    case GGUF_U8:
    case GGUF_U16:
    case GGUF_U32:
    case GGUF_U64:
    case GGUF_BOOL: break;
    }
    return (double)value->u == neutral;
}

static Status check_key(Model *model, const GgufEntry *entry, const DocNode *refuse,
                        const DocNode *ignore) {
    const char *rest = entry->key + strlen(model->arch_name) + 1;
    FOR_EACH_DOC(known, ignore)
    if (str_equal(known->text, rest)) return STATUS_OK;
    FOR_EACH_DOC(rule, refuse) {
        const char *contains = NULL;
        const DocNode *unless = doc_find(rule, "unless");
        double neutral = 0;
        TRY(child_text(model, rule, "contains", &contains));
        if (unless) TRY(doc_get_float(unless, "unless", model->sink, &neutral));
        if (!strstr(rest, contains)) continue;
        if (unless && value_is(&entry->value, neutral)) return STATUS_OK;
        return diag_error(model->sink, DIAG_F0017, file_span(model, entry->file_offset),
                          "%s changes what the model computes and is not supported", entry->key);
    }
    diag_report(model->sink, DIAG_WARNING, DIAG_F0021, file_span(model, entry->file_offset),
                "%s is not known and not used", entry->key);
    return STATUS_OK;
}

static Status check_keys(Model *model) {
    const DocNode *refuse = NULL, *ignore = NULL;
    TRY(model_child(model, model->arch, "refuse", DOC_LIST, &refuse));
    TRY(model_child(model, model->arch, "ignore", DOC_LIST, &ignore));
    const char *prefix = arena_printf(model->arena, "%s.", model->arch_name);
    for (size_t i = 0; i < gguf_num_entries(model->gguf); i++) {
        const GgufEntry *entry = gguf_entry(model->gguf, i);
        if (str_has_prefix(entry->key, prefix) && !gguf_is_used(model->gguf, i))
            TRY(check_key(model, entry, refuse, ignore));
    }
    return STATUS_OK;
}

// ---------------------------------------------------------------- tensors

const char *model_tensor_elem(const GgufTensor *tensor) {
    const QuantInfo *info = quant_info(tensor->format);
    return quant_is_block(info) ? "f32" : info->planes[0].elem;
}

static void put_shape(StrBuf *out, const uint64_t *dims, uint32_t num_dims) {
    for (uint32_t i = num_dims; i-- > 0;)
        strbuf_printf(out, "%s%" PRIu64, i + 1 == num_dims ? "" : " x ", dims[i]);
}

static Status wrong_shape(const Model *model, const ExprScope *scope, const DocNode *spec,
                          const GgufTensor *tensor, const uint64_t *want, uint32_t num_dims) {
    StrBuf have_text = {0}, want_text = {0}, evidence = {0};
    put_shape(&have_text, tensor->dims, tensor->num_dims);
    put_shape(&want_text, want, num_dims);
    Status status =
        diag_error(model->sink, DIAG_F0019, tensor_span(model, tensor), "%s is %s, wanted is %s",
                   tensor->name, have_text.data, want_text.data);
    FOR_EACH_DOC(dim, doc_find(spec, "shape")) expr_describe(scope, dim->text, &evidence);
    if (evidence.data)
        diag_evidence(model->sink, "%s; %s is tensor %" PRIu32 " of the file", evidence.data,
                      tensor->name, tensor->index);
    strbuf_deinit(&have_text);
    strbuf_deinit(&want_text);
    strbuf_deinit(&evidence);
    return status;
}

static Status tensor_shape(const Model *model, const ExprScope *scope, const DocNode *spec,
                           uint64_t want[GGUF_MAX_DIMS], uint32_t *out_num_dims) {
    const DocNode *shape = NULL;
    TRY(model_child(model, spec, "shape", DOC_LIST, &shape));
    uint32_t num_dims = (uint32_t)shape->num_children, i = num_dims;
    if (num_dims < 1 || num_dims > 2)
        return diag_error(model->sink, DIAG_R0013, shape->span, "a shape of one or two dimensions");
    FOR_EACH_DOC(dim, shape) {
        int64_t size = 0;
        TRY(expr_eval_int(scope, dim->text, 1, INT32_MAX, dim->span, model->sink, &size));
        want[--i] = (uint64_t)size;
    }
    *out_num_dims = num_dims;
    return STATUS_OK;
}

static Status check_tensor(const Model *model, const ExprScope *scope, const DocNode *spec,
                           const GgufTensor *tensor) {
    const DocNode *types = doc_find(spec, "types");
    const Recipe *recipe = model->recipe;
    uint32_t num_dims = 0;
    uint64_t want[GGUF_MAX_DIMS] = {0};
    TRY(tensor_shape(model, scope, spec, want, &num_dims));
    bool is_equal = true;
    for (uint32_t i = 0; i < GGUF_MAX_DIMS; i++)
        is_equal = is_equal && tensor->dims[i] == (i < num_dims ? want[i] : 1);
    if (!is_equal) return wrong_shape(model, scope, spec, tensor, want, num_dims);
    const char *format = quant_info(tensor->format)->name;
    if (types && !str_equal(types->text, format))
        return diag_error(model->sink, DIAG_F0019, tensor_span(model, tensor),
                          "%s is stored as %s, only %s is supported", tensor->name, format,
                          types->text);
    if (types || num_dims < 2 || recipe->weight_format == NUM_QUANT_FORMATS ||
        recipe->weight_format == tensor->format)
        return STATUS_OK;
    Status status = diag_error(model->sink, DIAG_R0011, recipe->spans[RECIPE_WEIGHTS],
                               "precision.weights is %s, but %s is stored as %s", recipe->weights,
                               tensor->name, format);
    diag_write(model->sink, "weights: as_stored");
    return status;
}

// The tensor that a file of the model would have: matrices in the recipe's format, vectors as f32.
static Status add_tensor(const Model *model, const ExprScope *scope, const DocNode *spec,
                         const char *name, const GgufTensor **out) {
    const DocNode *types = doc_find(spec, "types");
    uint64_t dims[GGUF_MAX_DIMS] = {0};
    uint32_t num_dims = 0;
    QuantFormat format = model->recipe->weight_format;
    TRY(tensor_shape(model, scope, spec, dims, &num_dims));
    if (num_dims == 1) format = QUANT_F32;
    if (types && !quant_find(types->text, &format))
        return diag_error(model->sink, DIAG_R0013, types->span, "no format is called %.40s",
                          types->text);
    const QuantInfo *info = quant_info(format);
    if (dims[0] % info->block_elems)
        return diag_error(model->sink, DIAG_R0011, model->recipe->spans[RECIPE_WEIGHTS],
                          "%s has rows of %" PRIu64 " elements, %s keeps blocks of %" PRIu32, name,
                          dims[0], info->name, info->block_elems);
    uint64_t elems = dims[0];
    if (num_dims == 2 && (!size_mul(elems, dims[1], &elems) || elems > (uint64_t)1 << 40))
        return diag_error(model->sink, DIAG_R0005, model->outline,
                          "%s would have %" PRIu64 " x %" PRIu64 " elements", name, dims[1],
                          dims[0]);
    *out = gguf_outline_add(model->gguf, name, dims, num_dims, format);
    model->is_tensor_used[(*out)->index] = true;
    return STATUS_OK;
}

// Finds and checks the tensor of one line; name is its name in the file.
static Status find_tensor(Model *model, const ExprScope *scope, const DocNode *spec,
                          const char *name, ModelTensor *out) {
    const DocNode *when = doc_find(spec, "when"), *is_optional = doc_find(spec, "optional"),
                  *stand_in = doc_find(spec, "or");
    TRY(doc_want_kind(spec, spec->key, DOC_MAP, model->sink));
    TRY(child_text(model, spec, "as", &out->as));
    double is_wanted = 1;
    if (when) TRY(expr_eval(scope, when->text, when->span, model->sink, &is_wanted));
    if (is_wanted == 0) return STATUS_OK;
    bool is_left_out = is_optional && str_equal(is_optional->text, "true");
    bool is_tied = model->recipe->dims.is_tied;
    if (gguf_is_outline(model->gguf)) {
        if (stand_in && is_tied) out->tensor = model_find_tensor(model, stand_in->text, -1);
        if (out->tensor || is_left_out) return STATUS_OK;
        return add_tensor(model, scope, spec, name, &out->tensor);
    }
    const GgufTensor *tensor = gguf_find_tensor(model->gguf, name);
    if (stand_in && model->recipe->spans[RECIPE_DIMS_TIED].line && is_tied == (tensor != NULL))
        return diag_error(model->sink, DIAG_R0011, model->recipe->spans[RECIPE_DIMS_TIED],
                          "dims.tied_embeddings is %s, but the model file has %s%s",
                          is_tied ? "true" : "false", tensor ? "" : "no ", name);
    if (tensor) {
        model->is_tensor_used[tensor->index] = true;
        out->tensor = tensor;
        return check_tensor(model, scope, spec, tensor);
    }
    if (stand_in) out->tensor = model_find_tensor(model, stand_in->text, -1);
    if (out->tensor || is_left_out) return STATUS_OK;
    return diag_error(model->sink, DIAG_F0018, file_span(model, 0), "tensor %s is missing", name);
}

static Status find_tensors(Model *model) {
    const DocNode *tensors = NULL, *layer_tensors = NULL;
    TRY(model_child(model, model->arch, "tensors", DOC_MAP, &tensors));
    TRY(model_child(model, model->arch, "layer_tensors", DOC_MAP, &layer_tensors));
    size_t max_tensors = gguf_num_tensors(model->gguf);
    if (gguf_is_outline(model->gguf)) {
        max_tensors =
            tensors->num_children + layer_tensors->num_children * (size_t)model->num_layers;
        gguf_outline_reserve(model->gguf, max_tensors);
    }
    model->is_tensor_used = ARENA_ARRAY(model->arena, bool, max_tensors);
    model->tensors = ARENA_ARRAY(model->arena, ModelTensor, tensors->num_children);
    FOR_EACH_DOC(spec, tensors) {
        ModelTensor found = {0};
        TRY(find_tensor(model, &model->scope, spec, spec->key, &found));
        model->tensors[model->num_tensors++] = found;
    }
    size_t per_layer = layer_tensors->num_children, at = 0;
    model->num_layer_tensors = per_layer;
    model->layer_tensors =
        ARENA_ARRAY(model->arena, ModelTensor, per_layer * (size_t)model->num_layers);
    for (int64_t layer = 0; layer < model->num_layers; layer++) FOR_EACH_DOC(spec, layer_tensors) {
            const char *name = arena_printf(model->arena, "blk.%" PRId64 ".%s", layer, spec->key);
            TRY(find_tensor(model, &model->layers[layer].scope, spec, name,
                            &model->layer_tensors[at++]));
        }
    return STATUS_OK;
}

static Status refuse_other_tensors(const Model *model) {
    for (size_t i = 0; i < gguf_num_tensors(model->gguf); i++) {
        if (model->is_tensor_used[i]) continue;
        const GgufTensor *tensor = gguf_tensor(model->gguf, i);
        return diag_error(model->sink, DIAG_F0020, tensor_span(model, tensor),
                          "tensor %s has no place in architecture %s", tensor->name,
                          model->arch_name);
    }
    return STATUS_OK;
}

const GgufTensor *model_find_tensor(const Model *model, const char *as, int64_t layer) {
    const ModelTensor *tensors = model->tensors;
    size_t num_tensors = model->num_tensors;
    if (layer >= 0) {
        tensors = model->layer_tensors + (size_t)layer * model->num_layer_tensors;
        num_tensors = model->num_layer_tensors;
    }
    for (size_t i = 0; i < num_tensors; i++)
        if (tensors[i].as && str_equal(tensors[i].as, as)) return tensors[i].tensor;
    return NULL;
}

// Where a model without a file is named, and that its weights have a format.
static Status start_outline(Model *model) {
    const Recipe *recipe = model->recipe;
    model->outline = recipe->spans[RECIPE_MODEL_NAME];
    for (int i = RECIPE_DIMS_TIED; i >= RECIPE_DIMS_ARCH; i--)
        if (recipe->spans[i].line) model->outline = recipe->spans[i];
    if (!gguf_is_outline(model->gguf) || recipe->weight_format != NUM_QUANT_FORMATS)
        return STATUS_OK;
    DiagSpan span = recipe->spans[RECIPE_WEIGHTS];
    Status status = diag_error(model->sink, DIAG_R0009, span.line ? span : model->outline,
                               "without a model file precision.weights must name a format");
    diag_write(model->sink, "weights: Q4_0, or --model FILE.gguf");
    return status;
}

Status model_init(Model *model, const Recipe *recipe, Gguf *gguf, DiagSink *sink) {
    *model = (Model){.recipe = recipe, .gguf = gguf, .sink = sink, .arena = &sink->arena};
    model->scope.arena = model->arena;
    const char *slash = strrchr(gguf_path(gguf), '/');
    model->file_name = slash ? slash + 1 : gguf_path(gguf);
    const DocNode *config = NULL, *checks = NULL;
    TRY(start_outline(model));
    TRY(load_arch(model));
    TRY(doc_want_kind(model->arch, "the model family file", DOC_MAP, sink));
    define_recipe_numbers(model);
    TRY(model_child(model, model->arch, "config", DOC_MAP, &config));
    TRY(model_child(model, model->arch, "checks", DOC_LIST, &checks));
    const Reader reader = {model, &model->scope, -1};
    FOR_EACH_DOC(entry, config) TRY(read_number(&reader, entry));
    TRY(refuse_other_dims(model, config));
    TRY(read_layers(model));
    TRY(check_keys(model));
    FOR_EACH_DOC(check, checks) TRY(run_check(model, check));
    TRY(find_tensors(model));
    return refuse_other_tensors(model);
}
