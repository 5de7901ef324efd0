// JSON as values of templates, for tests: strings under the key "messages" come from the user.
#ifndef INGOT_TESTS_TEMPLATE_JSON_H
#define INGOT_TESTS_TEMPLATE_JSON_H

#include <jansson.h>

#include "text/template.h"

static inline TemplateValue template_from_json(Arena *arena, const json_t *json, bool is_user) {
    TemplateValue out = {.kind = TEMPLATE_NONE};
    const char *key;
    json_t *item;
    size_t i;
    switch (json_typeof(json)) {
    case JSON_NULL: break;
    case JSON_TRUE:
    case JSON_FALSE: return (TemplateValue){.kind = TEMPLATE_BOOL, .b = json_is_true(json)};
    case JSON_INTEGER: return (TemplateValue){.kind = TEMPLATE_INT, .i = json_integer_value(json)};
    case JSON_REAL: return (TemplateValue){.kind = TEMPLATE_FLOAT, .f = json_real_value(json)};
    case JSON_STRING:
        return template_string(arena, json_string_value(json), json_string_length(json), is_user);
    case JSON_ARRAY:
        out = template_list(arena);
        json_array_foreach(json, i, item)
            template_list_add(arena, out, template_from_json(arena, item, is_user));
        break;
    case JSON_OBJECT:
        out = template_dict(arena);
        json_object_foreach((json_t *)(uintptr_t)json, key, item) {
            TemplateValue name = template_string(arena, key, __builtin_strlen(key), is_user);
            bool is_inside = is_user || str_equal(key, "messages");
            template_dict_set(arena, out, name, template_from_json(arena, item, is_inside));
        }
        break;
    }
    return out;
}

#endif
