// Lists what a compile was told; see settings.h. The recipe's document is walked as it is: a key
// is in the list because it is in the text or has a default in recipe.def.
#include "compiler/settings.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/manifest.h"
#include "text/doc.h"

enum { LONGEST_VALUE = 200 }; // bytes; beyond, and for several lines, the hash

typedef struct Settings {
    const Recipe *recipe;
    StrBuf *out;
    bool is_first;
    bool is_seen[NUM_RECIPE_KEYS];
} Settings;

static void put_setting(Settings *s, const char *key, const char *value, size_t len, uint32_t line,
                        const char *origin) {
    strbuf_puts(s->out, s->is_first ? "{\"key\":" : ",{\"key\":");
    s->is_first = false;
    strbuf_put_json_string(s->out, key, strlen(key));
    strbuf_puts(s->out, ",\"value\":");
    if (len > LONGEST_VALUE || memchr(value, '\n', len))
        manifest_put_sha256((const uint8_t *)value, len, s->out);
    else
        strbuf_put_json_string(s->out, value, len);
    if (line)
        strbuf_printf(s->out, ",\"at\":\"" RECIPE_NEUTRAL_NAME ":%u\"}", line);
    else
        strbuf_printf(s->out, ",\"at\":\"%s\"}", origin);
}

// ---------------------------------------------------------------- the recipe's document

// Is this the path of a key, or the beginning of one?
static bool leads_to_key(const char *pattern) {
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const char *path = recipe_key_info((RecipeKey)i)->path;
        if (str_has_prefix(path, pattern) && strchr(".[", path[strlen(pattern)])) return true;
    }
    return false;
}

static bool is_key_of(const Settings *s, const RecipeKeyInfo *info) {
    RecipeScope unused = recipe_is_subgraph(s->recipe) ? RECIPE_OF_MODEL : RECIPE_OF_SUBGRAPH;
    return info->scope != unused;
}

static void put_scalar(Settings *s, const char *key, const char *pattern, const DocNode *node) {
    const char *text = node->text;
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        if (!str_equal(recipe_key_info((RecipeKey)i)->path, pattern)) continue;
        s->is_seen[i] = true;
        // Files are inputs, known by their contents.
        const char *slash = i == RECIPE_MODEL || i == RECIPE_SUBGRAPH_FILE ? strrchr(text, '/') : 0;
        if (slash) text = slash + 1;
    }
    put_setting(s, key, text, node->text_len - (size_t)(text - node->text), node->span.line, "");
}

// "[a, b]": a list of scalars is one value.
static void put_scalar_list(Settings *s, const char *key, const char *pattern,
                            const DocNode *node) {
    StrBuf text = {0};
    strbuf_putc(&text, '[');
    FOR_EACH_DOC(child, node) {
        if (child != node->first) strbuf_puts(&text, ", ");
        strbuf_append(&text, child->text, child->text_len);
    }
    strbuf_putc(&text, ']');
    const DocNode joined = {.text = text.data, .text_len = text.len, .span = node->span};
    put_scalar(s, key, pattern, &joined);
    strbuf_deinit(&text);
}

// The defaults of what an element of a list, or of the sizes of a subgraph, leaves out.
static void put_element_defaults(Settings *s, const char *key, const char *pattern,
                                 const DocNode *node) {
    size_t len = strlen(pattern);
    for (int i = 0; i < NUM_RECIPE_KEYS && str_has_suffix(pattern, "[]"); i++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        const char *value = info->default_text;
        if (!str_has_prefix(info->path, pattern) || info->path[len] != '.') continue;
        if (!value || !*value || doc_find(node, info->path + len + 1)) continue;
        StrBuf path = {0};
        strbuf_printf(&path, "%s%s", key, info->path + len);
        put_setting(s, path.data, value, strlen(value), 0, "default");
        strbuf_deinit(&path);
    }
}

static void put_node(Settings *s, const char *key, const char *pattern, const DocNode *node);

// name: what an element of a list is called by, which its path says already.
static void put_map(Settings *s, const char *key, const char *pattern, const DocNode *node,
                    const DocNode *name) {
    FOR_EACH_DOC(child, node) {
        if (child == name && node->num_children > 1) continue;
        StrBuf path = {0}, general = {0};
        const char *dot = *key ? "." : "";
        strbuf_printf(&path, "%s%s%s", key, dot, child->key);
        strbuf_printf(&general, "%s%s%s", pattern, dot, child->key);
        if (!leads_to_key(general.data)) { // a name of the user's
            strbuf_clear(&general);
            strbuf_printf(&general, "%s[]", pattern);
        }
        put_node(s, path.data, general.data, child);
        strbuf_deinit(&path);
        strbuf_deinit(&general);
    }
    if (!name) put_element_defaults(s, key, pattern, node);
}

static void put_list(Settings *s, const char *key, const char *pattern, const DocNode *node) {
    uint32_t number = 0;
    FOR_EACH_DOC(child, node) {
        StrBuf path = {0}, general = {0};
        const DocNode *name = child->kind == DOC_MAP ? doc_find(child, "pattern") : NULL;
        if (name)
            strbuf_printf(&path, "%s[%s]", key, name->text);
        else
            strbuf_printf(&path, "%s[%u]", key, number);
        strbuf_printf(&general, "%s[]", pattern);
        if (name)
            put_map(s, path.data, general.data, child, name);
        else
            put_node(s, path.data, general.data, child);
        strbuf_deinit(&path);
        strbuf_deinit(&general);
        number++;
    }
}

// Depth is bounded by doc_parse.
static void put_node(Settings *s, const char *key, const char *pattern, const DocNode *node) {
    bool holds_scalars = node->first && node->first->kind == DOC_SCALAR;
    if (node->kind == DOC_SCALAR)
        put_scalar(s, key, pattern, node);
    else if (node->kind == DOC_MAP)
        put_map(s, key, pattern, node, NULL);
    else if (holds_scalars)
        put_scalar_list(s, key, pattern, node);
    else
        put_list(s, key, pattern, node);
}

static void put_defaults(Settings *s) {
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        const char *value = info->default_text;
        if (s->is_seen[i] || !value || !*value || strchr(info->path, '[')) continue;
        if (is_key_of(s, info)) put_setting(s, info->path, value, strlen(value), 0, "default");
    }
}

// ---------------------------------------------------------------- options

static void put_option(Settings *s, const char *name, const char *value) {
    if (value) put_setting(s, name, value, strlen(value), 0, "option");
}

static void put_options(Settings *s, const CompileOptions *o) {
    StrBuf threads = {0}, levels = {0};
    if (o->threads) strbuf_printf(&threads, "%u", o->threads);
    for (int i = 0; i < NUM_CPU_LEVELS; i++)
        if (o->levels >> i & 1)
            strbuf_printf(&levels, "%s%s", levels.len ? "," : "",
                          cpu_level_info((CpuLevel)i)->name);
    put_option(s, "--threads", threads.data);
    put_option(s, "--cpu", levels.data);
    put_option(s, "--target", o->target);
    put_option(s, "--disable-pass", o->disabled);
    strbuf_deinit(&threads);
    strbuf_deinit(&levels);
}

Status settings_put(const CompileOptions *options, const Recipe *recipe, DiagSink *sink,
                    StrBuf *out) {
    Settings s = {.recipe = recipe, .out = out, .is_first = true};
    const DocNode *root = NULL;
    if (recipe)
        TRY(doc_parse(recipe->text, recipe->text_len, recipe->path,
                      str_has_suffix(recipe->path, ".json") ? DOC_JSON : DOC_YAML, sink, &root));
    strbuf_putc(out, '[');
    if (root) {
        put_node(&s, "", "", root);
        put_defaults(&s);
    }
    put_options(&s, options);
    strbuf_putc(out, ']');
    return STATUS_OK;
}
