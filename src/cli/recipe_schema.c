// The JSON Schema of recipes, from the table of keys: what an editor or another program needs to
// know before a compile. What keys say of each other is left to the compiler.
#include <stdio.h>
#include <string.h>

#include "cli/recipe_schema.h"
#include "recipe/recipe.h"

// Sizes of a subgraph are a mapping by name; any other [] is a list.
static const char sizes_prefix[] = "input_constraints[].";

static void put_choices(JsonWriter *json, const char *choices) {
    json_begin_array(json, "enum");
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, " ");
        if (len) json_put_string_n(json, NULL, at, len);
        at += len + (at[len] == ' ');
    }
    json_end_array(json);
}

static void put_level_names(JsonWriter *json) {
    json_begin_array(json, "enum");
    for (int i = 0; i < NUM_CPU_LEVELS; i++)
        json_put_string(json, NULL, cpu_level_info((CpuLevel)i)->name);
    json_put_string(json, NULL, "all");
    json_end_array(json);
}

static void put_levels(JsonWriter *json) {
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    put_level_names(json);
    json_end_object(json);
    json_begin_object(json, NULL);
    json_put_string(json, "type", "array");
    json_put_uint(json, "minItems", 1);
    json_put_bool(json, "uniqueItems", true);
    json_begin_object(json, "items");
    put_level_names(json);
    json_end_object(json);
    json_end_object(json);
    json_end_array(json);
}

static void put_size(JsonWriter *json) {
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    json_put_string(json, "type", "number");
    json_put_int(json, "exclusiveMinimum", 0);
    json_end_object(json);
    json_begin_object(json, NULL);
    json_put_string(json, "type", "string");
    json_put_string(json, "pattern", "^[0-9]");
    json_end_object(json);
    json_end_array(json);
}

static void put_relations(JsonWriter *json) {
    json_put_string(json, "type", "array");
    json_put_uint(json, "maxItems", RELATION_MAX);
    json_begin_object(json, "items");
    json_put_string(json, "type", "string");
    json_put_uint(json, "maxLength", RELATION_MAX_CHARS);
    json_put_string(json, "pattern",
                    "^ *[A-Za-z0-9_.]+( *[*] *[A-Za-z0-9_.]+)* *<= *[0-9]{1,15} *$");
    json_end_object(json);
}

static void put_shape(JsonWriter *json) {
    json_put_string(json, "type", "array");
    json_put_uint(json, "minItems", 1);
    json_put_uint(json, "maxItems", RECIPE_MAX_RANK);
    json_begin_object(json, "items");
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    json_put_string(json, "type", "integer");
    json_put_int(json, "minimum", -1);
    json_end_object(json);
    json_begin_object(json, NULL);
    json_put_string(json, "type", "string");
    json_put_string(json, "pattern", "^[a-z_]+$");
    json_end_object(json);
    json_end_array(json);
    json_end_object(json);
}

static void put_list(JsonWriter *json, const RecipeKeyInfo *info) {
    json_put_string(json, "type", "array");
    json_put_uint(json, "maxItems", RECIPE_MAX_LIST);
    json_begin_object(json, "items");
    if (info->type == RECIPE_TYPE_INTS) {
        json_put_string(json, "type", "integer");
        json_put_int(json, "minimum", info->min);
        json_put_int(json, "maximum", info->max);
    } else {
        json_put_string(json, "type", "string");
        json_put_string(json, "pattern", "^[a-z0-9_]+[.][a-z0-9_.]+$");
    }
    json_end_object(json);
}

static void put_default(JsonWriter *json, const RecipeKeyInfo *info) {
    const char *text = info->default_text;
    if (!text || !*text) return;
    bool is_plain = info->type == RECIPE_TYPE_INT || info->type == RECIPE_TYPE_REAL ||
                    info->type == RECIPE_TYPE_BOOL;
    if (is_plain)
        json_put_raw(json, "default", text);
    else
        json_put_string(json, "default", text);
}

static void put_type(JsonWriter *json, const RecipeKeyInfo *info) {
    switch (info->type) {
    case RECIPE_TYPE_INT:
        json_put_string(json, "type", "integer");
        json_put_int(json, "minimum", info->min);
        json_put_int(json, "maximum", info->max);
        break;
    case RECIPE_TYPE_REAL:
        json_put_string(json, "type", "number");
        json_put_int(json, "exclusiveMinimum", info->min);
        json_put_int(json, "maximum", info->max);
        break;
    case RECIPE_TYPE_BOOL: json_put_string(json, "type", "boolean"); break;
    case RECIPE_TYPE_TEXT: // a number without quotes is its text
        json_begin_array(json, "type");
        json_put_string(json, NULL, "string");
        json_put_string(json, NULL, "number");
        json_end_array(json);
        break;
    case RECIPE_TYPE_WORD: put_choices(json, info->choices); break;
    case RECIPE_TYPE_SIZE: put_size(json); break;
    case RECIPE_TYPE_LEVELS: put_levels(json); break;
    case RECIPE_TYPE_RELATIONS: put_relations(json); break;
    case RECIPE_TYPE_INTS:
    case RECIPE_TYPE_OPS: put_list(json, info); break;
    case RECIPE_TYPE_SHAPE: put_shape(json); break;
    }
}

static void put_value(JsonWriter *json, const char *name, size_t len, const RecipeKeyInfo *info) {
    char key[64] = {0};
    memcpy(key, name, MIN(len, sizeof key - 1));
    StrBuf text = {0};
    strbuf_printf(&text, "%s Effect: %s.", info->doc, info->effect);
    json_begin_object(json, key);
    json_put_string(json, "description", text.data);
    put_type(json, info);
    put_default(json, info);
    json_end_object(json);
    strbuf_deinit(&text);
}

static bool is_of(const RecipeKeyInfo *info, RecipeScope scope) {
    return info->scope == RECIPE_OF_ANY || info->scope == scope;
}

// Does a key before number `end` begin with the same components?
static bool is_seen(RecipeScope scope, const char *path, size_t len, int end) {
    for (int i = 0; i < end; i++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        if (is_of(info, scope) && strncmp(info->path, path, len) == 0 &&
            strchr(".[", info->path[len]))
            return true;
    }
    return false;
}

static void put_keys(JsonWriter *json, RecipeScope scope, const char *prefix);

// A mapping that may be a list as well: of elements with keys of their own, or of such mappings.
static bool put_either(JsonWriter *json, RecipeScope scope, const char *prefix, const char *key) {
    char list[128];
    snprintf(list, sizeof list, "%.*s[].", (int)strlen(prefix) - 1, prefix);
    bool is_both = false;
    for (int i = 0; i < NUM_RECIPE_KEYS; i++)
        is_both |= is_of(recipe_key_info((RecipeKey)i), scope) &&
                   str_has_prefix(recipe_key_info((RecipeKey)i)->path, list);
    if (!is_both || str_equal(list, sizes_prefix)) return false;
    json_begin_object(json, key);
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    put_keys(json, scope, prefix);
    json_end_object(json);
    json_begin_object(json, NULL);
    json_put_string(json, "type", "array");
    json_begin_object(json, "items");
    json_begin_array(json, "anyOf");
    json_begin_object(json, NULL);
    put_keys(json, scope, prefix);
    json_end_object(json);
    json_begin_object(json, NULL);
    put_keys(json, scope, list);
    json_end_object(json);
    json_end_array(json);
    json_end_object(json);
    json_end_object(json);
    json_end_array(json);
    json_end_object(json);
    return true;
}

// A component with keys inside: a mapping, a list of mappings, or a mapping by any name.
static void put_inner(JsonWriter *json, RecipeScope scope, const char *path, size_t prefix_len) {
    char prefix[128], key[64] = {0};
    size_t name = strcspn(path + prefix_len, ".[");
    bool is_many = path[prefix_len + name] == '[';
    size_t len = prefix_len + name + (is_many ? 3 : 1);
    memcpy(prefix, path, len);
    prefix[len] = 0;
    memcpy(key, path + prefix_len, MIN(name, sizeof key - 1));
    if (!is_many && put_either(json, scope, prefix, key)) return;
    json_begin_object(json, key);
    if (is_many) {
        bool is_map = str_equal(prefix, sizes_prefix);
        json_put_string(json, "type", is_map ? "object" : "array");
        json_begin_object(json, is_map ? "additionalProperties" : "items");
    }
    put_keys(json, scope, prefix);
    if (is_many) json_end_object(json);
    json_end_object(json);
}

// What a mapping holds whose keys begin with prefix.
static void put_keys(JsonWriter *json, RecipeScope scope, const char *prefix) {
    size_t len = strlen(prefix);
    json_put_string(json, "type", "object");
    json_put_bool(json, "additionalProperties", false);
    json_begin_object(json, "properties");
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        const char *name = info->path + len;
        if (!is_of(info, scope) || !str_has_prefix(info->path, prefix)) continue;
        size_t name_len = strcspn(name, ".[");
        if (is_seen(scope, info->path, len + name_len, i)) continue;
        if (name[name_len])
            put_inner(json, scope, info->path, len);
        else
            put_value(json, name, name_len, info);
    }
    json_end_object(json);
    json_begin_array(json, "required");
    for (int i = 0; i < NUM_RECIPE_KEYS; i++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)i);
        bool is_here = is_of(info, scope) && str_has_prefix(info->path, prefix) &&
                       !strpbrk(info->path + len, ".[");
        if (is_here && !info->default_text) json_put_string(json, NULL, info->path + len);
    }
    json_end_array(json);
}

static void put_kind(JsonWriter *json, const char *name, RecipeScope scope) {
    json_begin_object(json, name);
    put_keys(json, scope, "");
    json_end_object(json);
}

static void put_reference(JsonWriter *json, const char *key, const char *to) {
    json_begin_object(json, key);
    json_put_string(json, "$ref", to);
    json_end_object(json);
}

void recipe_schema_put(StrBuf *out) {
    JsonWriter json = {.out = out};
    json_begin_object(&json, NULL);
    json_put_string(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_string(&json, "title", "Ingot recipe, version 1");
    json_begin_object(&json, "if");
    json_begin_array(&json, "required");
    json_put_string(&json, NULL, "subgraph");
    json_end_array(&json);
    json_end_object(&json);
    put_reference(&json, "then", "#/$defs/subgraph");
    put_reference(&json, "else", "#/$defs/model");
    json_begin_object(&json, "$defs");
    put_kind(&json, "model", RECIPE_OF_MODEL);
    put_kind(&json, "subgraph", RECIPE_OF_SUBGRAPH);
    json_end_object(&json);
    json_end_object(&json);
}
