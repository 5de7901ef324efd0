// Relations between the sizes of a recipe; see recipe_relation.h.
#include "recipe/recipe_relation.h"

#include <inttypes.h>
#include <stdio.h>

static Status refuse(const DocNode *item, const char *why, DiagSink *sink) {
    Status status = diag_error(sink, DIAG_R0015, item->span, "%.80s is no relation: %s",
                               item->text_len ? item->text : "nothing", why);
    diag_write(sink, "\"batch_size * kv_cache_seq_len <= 16384\"");
    return status;
}

Status recipe_read_relations(const DocNode *node, const char *what, Arena *arena, DiagSink *sink,
                             RecipeRelations *out) {
    TRY(doc_want_kind(node, what, DOC_LIST, sink));
    if (node->num_children > RELATION_MAX)
        return diag_error(sink, DIAG_R0012, node->span, "%zu relations, at most %d can be",
                          node->num_children, RELATION_MAX);
    FOR_EACH_DOC(item, node) {
        const char *text, *why;
        RecipeRelation relation = {.span = item->span};
        TRY(doc_get_string(item, what, sink, &text));
        if (!relation_parse(text, &relation.is, &why)) return refuse(item, why, sink);
        StrBuf form = {0};
        relation_put(&relation.is, &form);
        relation.text = arena_strdup(arena, form.data);
        strbuf_deinit(&form);
        BUG_IF(!relation_parse(relation.text, &relation.is, &why), "%s: %s", relation.text, why);
        out->of[out->num++] = relation;
    }
    return STATUS_OK;
}

typedef struct Maximum {
    RelationSize size;
    const char *key; // what to write of another one
} Maximum;

// The relation with the nearest name in place of name i; without one the names there are.
static void write_with(const RecipeRelation *relation, uint32_t i, const char *nearest,
                       DiagSink *sink) {
    const char *name = relation->is.names[i]; // within the text
    if (nearest)
        diag_write(sink, "\"%.*s%s%s\"", (int)(name - relation->text), relation->text, nearest,
                   name + relation->is.lens[i]);
    else
        diag_write(sink, "batch_size | seq_len | kv_cache_seq_len");
}

// One that names nothing that is not a size of a model.
static Status check_names(const RecipeRelation *relation, const Maximum *maxima, uint32_t num,
                          DiagSink *sink) {
    const char *known[4];
    for (uint32_t k = 0; k < num; k++) known[k] = maxima[k].size.name;
    for (uint32_t i = 0; i < relation->is.num_names; i++) {
        char name[RELATION_MAX_CHARS + 1];
        snprintf(name, sizeof name, "%.*s", (int)relation->is.lens[i], relation->is.names[i]);
        bool is_known = false;
        for (uint32_t k = 0; k < num; k++) is_known |= str_equal(name, known[k]);
        if (is_known) continue;
        Status status =
            diag_error(sink, DIAG_R0015, relation->span, "the relation %s: no size is called %.60s",
                       relation->text, name);
        const char *nearest = str_nearest(name, known, num);
        write_with(relation, i, nearest, sink);
        return status;
    }
    return STATUS_OK;
}

// The largest value of a size, up to its maximum, with the others at their least: a sequence is at
// least as long as the tokens that a call takes of it.
static uint64_t most_of(const Relation *relation, const RelationSize *size) {
    uint64_t low = 0, high = size->value;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        const RelationSize sizes[] = {{size->name, middle}, {"kv_cache_seq_len", middle}};
        uint32_t num = str_equal(size->name, "seq_len") ? 2 : 1;
        if (relation_product(relation, sizes, num) <= relation->bound)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

Status recipe_check_relations(const Recipe *recipe, DiagSink *sink) {
    const Maximum maxima[] = {
        {{"batch_size", (uint64_t)recipe->batch_size.max}, "batch_size: {max"},
        {{"seq_len", (uint64_t)recipe->seq_len.max}, "seq_len: {max"},
        {{"kv_cache_seq_len", (uint64_t)recipe->kv_len_tokens}, "kv_cache_seq_len: {max"},
    };
    for (uint32_t i = 0; i < recipe->relations.num; i++) {
        const RecipeRelation *relation = &recipe->relations.of[i];
        TRY(check_names(relation, maxima, ARRAY_LEN(maxima), sink));
        for (uint32_t k = 0; k < ARRAY_LEN(maxima); k++) {
            const RelationSize *size = &maxima[k].size;
            uint64_t most = most_of(&relation->is, size);
            if (most == size->value) continue;
            Status status = diag_error(sink, DIAG_R0011, relation->span,
                                       "no call can have the %s.max of %" PRIu64
                                       ": the relation %s allows %" PRIu64,
                                       size->name, size->value, relation->text, most);
            diag_write(sink, "%s: %" PRIu64 "}, or a larger bound", maxima[k].key, MAX(most, 1u));
            return status;
        }
    }
    return STATUS_OK;
}

int64_t recipe_count_pages(const Recipe *recipe) {
    int64_t page_len = recipe->page_len_tokens, most = recipe->max_pages;
    for (int64_t batch = 1; batch <= recipe->batch_size.max; batch++) {
        const RelationSize sizes[] = {{"batch_size", (uint64_t)batch}, {"kv_cache_seq_len", 1}};
        uint64_t tokens = (uint64_t)(recipe->max_pages * page_len);
        for (uint32_t i = 0; i < recipe->relations.num; i++)
            tokens = relation_most(&recipe->relations.of[i].is, sizes, 2, 1, tokens);
        int64_t pages = batch * (((int64_t)tokens + page_len - 1) / page_len);
        most = MAX(most, pages);
    }
    return most;
}
