// Layouts of a recipe against the model; see model_layouts.h. An entry of `layouts` names a tensor
// ({as: wq}), whose shape and format are the model's, or says type and shape itself. Sizes are
// expressions, behind a | the words that a recipe may use for them; batch_size, seq_len and
// kv_cache_seq_len are bounded by the constraint of that name.
#include "recipe/model_layouts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct Bound {
    const char *name;
    RecipeKey max;
} Bound;

static const Bound bounds[] = {{"batch_size", RECIPE_BATCH_MAX},
                               {"seq_len", RECIPE_SEQ_MAX},
                               {"kv_cache_seq_len", RECIPE_KV_MAX}};

typedef struct Dim {
    int64_t size;
    const Bound *bound; // NULL: the size is the model's
    const char *words;  // "|heads|kv_heads"
} Dim;

typedef struct Known {
    const char *dtype;
    Dim dims[RECIPE_MAX_RANK];
    uint32_t rank;
} Known;

static int64_t bound_of(const Recipe *recipe, const Bound *bound) {
    return bound->max == RECIPE_BATCH_MAX ? recipe->batch_size.max
           : bound->max == RECIPE_SEQ_MAX ? recipe->seq_len.max
                                          : recipe->kv_len_tokens;
}

// ---- what is known of a name

static Status find_dims(const Model *model, const DocNode *shape, Known *out) {
    FOR_EACH_DOC(item, shape) {
        if (out->rank == RECIPE_MAX_RANK)
            return diag_error(model->sink, DIAG_R0013, shape->span, "a shape of at most %d sizes",
                              RECIPE_MAX_RANK);
        Dim *dim = &out->dims[out->rank++];
        size_t len = strcspn(item->text, "|");
        const char *name = arena_strndup(model->arena, item->text, len);
        dim->words = item->text + len;
        for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
            if (str_equal(bounds[i].name, name)) dim->bound = &bounds[i];
        if (dim->bound)
            dim->size = bound_of(model->recipe, dim->bound);
        else
            TRY(expr_eval_int(&model->scope, name, 1, INT32_MAX, item->span, model->sink,
                              &dim->size));
    }
    return STATUS_OK;
}

static Status find_known(const Model *model, const DocNode *entry, Known *out) {
    const DocNode *as = doc_find(entry, "as"), *dtype = doc_find(entry, "dtype"), *shape = NULL;
    if (!as) {
        TRY(model_child(model, entry, "dtype", DOC_SCALAR, &dtype));
        TRY(model_child(model, entry, "shape", DOC_LIST, &shape));
        out->dtype = str_equal(dtype->text, "kv_cache") ? model->recipe->kv : dtype->text;
        return find_dims(model, shape, out);
    }
    const GgufTensor *tensor = model_find_tensor(model, as->text, 0);
    if (!tensor) tensor = model_find_tensor(model, as->text, -1);
    if (!tensor)
        return diag_error(model->sink, DIAG_R0013, as->span, "no tensor is called %.40s", as->text);
    out->dtype = quant_info(tensor->format)->name;
    out->rank = tensor->num_dims;
    for (uint32_t i = 0; i < out->rank; i++) // the file's first dimension is the fastest
        out->dims[i] = (Dim){.size = (int64_t)tensor->dims[out->rank - 1 - i], .words = ""};
    return STATUS_OK;
}

// ---- what is said of it

static void put_known(const Known *known, StrBuf *out) {
    strbuf_printf(out, "%s [", known->dtype);
    for (uint32_t i = 0; i < known->rank; i++) {
        const Dim *dim = &known->dims[i];
        strbuf_printf(out, "%s%" PRId64, i ? ", " : "", dim->size);
        if (dim->bound) strbuf_printf(out, " (at most, %s)", dim->bound->name);
    }
    strbuf_putc(out, ']');
}

static Status refuse_size(const Model *model, const RecipeLayout *layout, const Known *known,
                          uint32_t d) {
    StrBuf text = {0};
    put_known(known, &text);
    Status status = diag_error(model->sink, DIAG_R0011, layout->shape.spans[d],
                               "%s: dimension %" PRIu32 " is %s, the model has %" PRId64,
                               layout->name, d, layout->shape.dims[d], known->dims[d].size);
    diag_evidence(model->sink, "%s is %s", layout->name, text.data);
    if (known->dims[d].bound)
        diag_write(model->sink, "-1, or %" PRId64, known->dims[d].size);
    else
        diag_write(model->sink, "%" PRId64, known->dims[d].size);
    strbuf_deinit(&text);
    return status;
}

static Status refuse_unbounded(const Model *model, const RecipeLayout *layout, const Dim *dim,
                               uint32_t d) {
    Status status = diag_error(model->sink, DIAG_R0016, layout->shape.spans[d],
                               "%s: nothing bounds dimension %" PRIu32, layout->name, d);
    diag_evidence(model->sink,
                  dim->bound ? "it is %s, which input_constraints does not give"
                             : "it does not vary: it is %s of the model",
                  dim->bound ? dim->bound->name : "a number");
    if (dim->bound)
        diag_write(model->sink, "input_constraints: {%s: {max: %" PRId64 "}}", dim->bound->name,
                   dim->size);
    else
        diag_write(model->sink, "%" PRId64, dim->size);
    return status;
}

static bool is_word(const Dim *dim, const char *word) {
    size_t len = strlen(word);
    for (const char *at = dim->words; *at == '|';) {
        size_t next = strcspn(at + 1, "|");
        if (next == len && memcmp(at + 1, word, len) == 0) return true;
        at += 1 + next;
    }
    return false;
}

static Status check_shape(const Model *model, const RecipeLayout *layout, const Known *known) {
    const RecipeShape *shape = &layout->shape;
    if (shape->rank == 0) return STATUS_OK;
    if (shape->rank != known->rank) {
        StrBuf text = {0};
        put_known(known, &text);
        Status status = diag_error(model->sink, DIAG_R0011, shape->span,
                                   "%s has %" PRIu32 " dimensions here, the model's has %" PRIu32,
                                   layout->name, shape->rank, known->rank);
        diag_evidence(model->sink, "%s is %s", layout->name, text.data);
        strbuf_deinit(&text);
        return status;
    }
    for (uint32_t d = 0; d < shape->rank; d++) {
        const Dim *dim = &known->dims[d];
        const char *said = shape->dims[d];
        if (str_equal(said, "-1")) {
            if (!dim->bound || !model->recipe->spans[dim->bound->max].line)
                return refuse_unbounded(model, layout, dim, d);
        } else if (is_word(dim, said)) {
            continue;
        } else if (strtoll(said, NULL, 10) != dim->size) { // 0 for other words
            return refuse_size(model, layout, known, d);
        }
    }
    return STATUS_OK;
}

static Status check_format(const Model *model, const RecipeLayout *layout) {
    bool is_plain = str_equal(layout->format, "row_major");
    if (is_plain && (layout->tile_size || layout->block_size))
        return diag_error(model->sink, DIAG_R0011, layout->span, "%s: row_major has no %s",
                          layout->name, layout->tile_size ? "tile_size" : "block_size");
    if (is_plain) return STATUS_OK;
    Status status =
        diag_error(model->sink, DIAG_R0012, layout->span, "%s: %s is not taken for %s",
                   layout->name, layout->format, recipe_target_name(&model->recipe->target));
    diag_evidence(model->sink, "files and callers give tensors row by row; the tiles that kernels "
                               "read are packed from that at compile time");
    diag_write(model->sink, "format: row_major");
    return status;
}

static Status check_layout(const Model *model, const DocNode *list, const RecipeLayout *layout) {
    const DocNode *entry = doc_find(list, layout->name);
    Known known = {0};
    if (!entry) {
        const char *names[64];
        size_t num = 0;
        FOR_EACH_DOC(item, list) if (num < ARRAY_LEN(names)) names[num++] = item->key;
        Status status = diag_error(model->sink, DIAG_R0010, layout->span,
                                   "no input, cache or weight is called %.60s", layout->name);
        const char *nearest = str_nearest(layout->name, names, num);
        diag_write(model->sink, "name: %s", nearest ? nearest : "q_proj_weight");
        return status;
    }
    TRY(find_known(model, entry, &known));
    TRY(check_format(model, layout));
    if (layout->dtype && strcasecmp(layout->dtype, known.dtype) != 0) {
        Status status = diag_error(model->sink, DIAG_R0011, layout->span,
                                   "%s: dtype is %.40s, the model has %s", layout->name,
                                   layout->dtype, known.dtype);
        StrBuf text = {0};
        put_known(&known, &text);
        diag_evidence(model->sink, "%s is %s", layout->name, text.data);
        strbuf_deinit(&text);
        diag_write(model->sink, "dtype: %s", known.dtype);
        (void)check_shape(model, layout, &known); // both are said, each in its place
        return status;
    }
    return check_shape(model, layout, &known);
}

Status model_check_layouts(const Model *model) {
    const DocNode *list = NULL;
    if (model->recipe->num_layouts == 0) return STATUS_OK;
    TRY(model_child(model, model->arch, "layouts", DOC_MAP, &list));
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < model->recipe->num_layouts; i++) {
        Status one = check_layout(model, list, &model->recipe->layouts[i]);
        if (one != STATUS_OK) status = one;
    }
    return status;
}
