// Values of recipe keys that are lists; see recipe_list.h.
#include "recipe/recipe_list.h"

#include <inttypes.h>
#include <string.h>

static Status check_len(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink) {
    TRY(doc_want_kind(node, info->path, DOC_LIST, sink));
    if (node->num_children <= RECIPE_MAX_LIST) return STATUS_OK;
    return diag_error(sink, DIAG_R0012, node->span, "%s has %zu elements, at most %d can be",
                      info->path, node->num_children, RECIPE_MAX_LIST);
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

Status recipe_read_ints(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink,
                        RecipeInts *out) {
    TRY(check_len(node, info, sink));
    FOR_EACH_DOC(item, node) {
        int64_t value = 0;
        TRY(doc_get_int(item, info->path, info->min, info->max, sink, &value));
        for (uint32_t i = 0; i < out->num; i++)
            if (out->of[i] == value)
                return diag_error(sink, DIAG_R0011, item->span, "%s names %" PRId64 " twice",
                                  info->path, value);
        out->of[out->num++] = value;
    }
    array_sort(out->of, out->num, sizeof *out->of, ascending);
    return STATUS_OK;
}

Status recipe_check_hot(const RecipeRange *range, const char *name, DiagSpan span, DiagSink *sink) {
    for (uint32_t i = 0; i < range->hot.num; i++)
        if (range->hot.of[i] < range->min || range->hot.of[i] > range->max)
            return diag_error(sink, DIAG_R0011, span,
                              "%.60s.hot %" PRId64 " lies outside min %" PRId64 " to max %" PRId64,
                              name, range->hot.of[i], range->min, range->max);
    return STATUS_OK;
}

Status recipe_check_size(const RecipeSize *size, DiagSpan span, const DiagSpan *spans,
                         DiagSink *sink) {
    const RecipeRange *range = &size->range;
    if (range->min > range->max) {
        Status status = diag_error(sink, DIAG_R0011, span,
                                   "%.60s.min %" PRId64 " is above %.60s.max %" PRId64, size->name,
                                   range->min, size->name, range->max);
        diag_write(sink, "min: at most %" PRId64 ", or max: at least %" PRId64, range->max,
                   range->min);
        return status;
    }
    if (str_equal(range->off_step, "reject") && str_equal(range->out_of_range, "next_bucket")) {
        Status status = diag_error(sink, DIAG_R0011, spans[RECIPE_SIZE_BELOW],
                                   "%.60s.out_of_range next_bucket contradicts off_step reject: "
                                   "what is less than min is no version's size either",
                                   size->name);
        diag_write(sink, "off_step: pad, or out_of_range: reject");
        return status;
    }
    return recipe_check_hot(range, size->name, spans[RECIPE_SIZE_HOT], sink);
}

static Status refuse_op(const DocNode *item, const RecipeKeyInfo *info, DiagSink *sink) {
    const char *names[NUM_IR_OP_KINDS];
    for (int i = 0; i < NUM_IR_OP_KINDS; i++) names[i] = ir_op_info((IrOpKind)i)->name;
    Status status = diag_error(sink, DIAG_R0010, item->span, "%s: there is no op %.60s", info->path,
                               item->text);
    const char *nearest = str_nearest(item->text, names, NUM_IR_OP_KINDS);
    if (nearest)
        diag_write(sink, "%s", nearest);
    else
        diag_write(sink, "an op that `ingot compile --list-dialects` lists");
    return status;
}

Status recipe_read_ops(const DocNode *node, const RecipeKeyInfo *info, DiagSink *sink,
                       RecipeOps *out) {
    TRY(check_len(node, info, sink));
    FOR_EACH_DOC(item, node) {
        const char *name = NULL;
        TRY(doc_get_string(item, info->path, sink, &name));
        if (!ir_op_find(name, item->text_len, &out->of[out->num]))
            return refuse_op(item, info, sink);
        out->spans[out->num++] = item->span;
    }
    return STATUS_OK;
}

Status recipe_read_shape(const DocNode *node, const RecipeKeyInfo *info, Arena *arena,
                         DiagSink *sink, RecipeShape *out) {
    TRY(doc_want_kind(node, info->path, DOC_LIST, sink));
    if (node->num_children < 1 || node->num_children > RECIPE_MAX_RANK)
        return diag_error(sink, DIAG_R0005, node->span, "%s has %zu dimensions, 1 to %d can be",
                          info->path, node->num_children, RECIPE_MAX_RANK);
    out->span = node->span;
    FOR_EACH_DOC(item, node) {
        const char *text = item->text;
        TRY(doc_want_kind(item, info->path, DOC_SCALAR, sink));
        size_t digits = strspn(text, "0123456789"),
               word = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
        bool is_size = digits && digits == item->text_len && *text != '0' && digits < 10;
        if (!is_size && !str_equal(text, "-1") && (!word || word != item->text_len)) {
            Status status = diag_error(sink, DIAG_R0004, item->span,
                                       "a size of %s is a number from 1, a word or -1, not %.40s",
                                       info->path, item->text_len ? text : "nothing");
            diag_write(sink, "shape: [batch, -1]");
            return status;
        }
        out->dims[out->rank] = arena_strdup(arena, text);
        out->spans[out->rank++] = item->span;
    }
    return STATUS_OK;
}
