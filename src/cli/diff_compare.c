// Compares two documents by the table diff.def; see diff.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff.h"

typedef enum TopicId {
#define DIFF_TOPIC(id, name) TOPIC_##id,
#include "cli/diff.def"
    NUM_TOPICS
} TopicId;

static const char *const topic_names[NUM_TOPICS] = {
#define DIFF_TOPIC(id, name) name,
#include "cli/diff.def"
};

typedef enum FactRole { ROLE_CAUSE, ROLE_DERIVED, ROLE_RESULT } FactRole;
typedef enum FactScope { SCOPE_KNOWN, SCOPE_OPTIONAL, SCOPE_NOT_RECIPES, SCOPE_MATCHED } FactScope;

typedef struct Fact {
    TopicId topic;
    FactRole role;
    FactScope scope;
    const char *label, *path, *alias, *fields, *unit, *bearing;
} Fact;

static const Fact facts[] = {
#define DIFF_FACT(topic, role, scope, label, path, alias, fields, unit, bearing)                   \
    {TOPIC_##topic, ROLE_##role, SCOPE_##scope, label, path, alias, fields, unit, bearing},
#include "cli/diff.def"
};

// Something one side has under a path: the document's value, and its name among those of the fact.
typedef struct Element {
    char *name;
    const json_t *value;
    bool is_matched;
} Element;

typedef struct ElementList {
    Element *items;
    size_t num, capacity;
    json_t *by_name; // numbers
    bool is_known;   // the document has the path, be it empty
} ElementList;

typedef struct Comparison {
    const DiffSide *a, *b;
    bool shows_equal;
    json_t *topics[NUM_TOPICS]; // lists of differences
    size_t num_compared[NUM_TOPICS], num_different[NUM_TOPICS];
    json_t *settings, *inputs, *others; // causes by name, in order
    json_t *first_cause;                // the difference, NULL: none
    json_t *not_compared;
} Comparison;

// ---------------------------------------------------------------- documents

// "a.b.0": members and elements, NULL if there is none.
static const json_t *find(const json_t *node, const char *path, size_t len) {
    while (node && len) {
        char name[64] = {0};
        size_t part = 0;
        while (part < len && path[part] != '.') part++;
        memcpy(name, path, MIN(part, sizeof name - 1));
        node = json_is_array(node) ? json_array_get(node, strtoul(name, NULL, 10))
                                   : json_object_get(node, name);
        path += part + (part < len);
        len -= part + (part < len);
    }
    return node;
}

static void put_value(const json_t *value, StrBuf *out) {
    if (json_is_string(value)) {
        strbuf_append(out, json_string_value(value), json_string_length(value));
        return;
    }
    char *dump = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    if (dump) strbuf_puts(out, dump);
    free(dump);
}

// The part of a list up to `end`; *rest is what follows.
static size_t next_part(const char *list, char separator, const char **rest) {
    size_t len = 0;
    while (list[len] && list[len] != separator) len++;
    *rest = list + len + (list[len] != 0);
    return len;
}

// ---------------------------------------------------------------- elements

static void add_element(ElementList *list, const char *label, const json_t *value) {
    StrBuf name = {0};
    strbuf_printf(&name, "%s", label);
    for (unsigned n = 2; json_object_get(list->by_name, name.data); n++) {
        strbuf_clear(&name);
        strbuf_printf(&name, "%s #%u", label, n);
    }
    json_object_set_new(list->by_name, name.data, json_integer((json_int_t)list->num));
    ARRAY_RESERVE(list->items, list->num, list->capacity);
    list->items[list->num++] = (Element){.name = strbuf_take(&name), .value = value};
}

// Follows a path of the table, whose lists fork.
static void collect(ElementList *list, const json_t *node, const char *path, const char *label) {
    if (!node) return;
    if (!*path) {
        list->is_known = true;
        add_element(list, label, node);
        return;
    }
    size_t len = strcspn(path, ".[");
    const json_t *child = find(node, path, len);
    if (path[len] != '[') {
        collect(list, child, path + len + (path[len] == '.'), label);
        return;
    }
    list->is_known = list->is_known || json_is_array(child);
    const char *keys = path + len + 1, *rest = strchr(keys, ']') + 1;
    rest += *rest == '.';
    size_t i;
    const json_t *element;
    json_array_foreach(child, i, element) {
        StrBuf name = {0};
        strbuf_puts(&name, label);
        for (const char *key = keys; *key != ']';) {
            size_t part = strcspn(key, ",]");
            const json_t *value = find(element, key, part);
            if (name.len && value) strbuf_puts(&name, ", ");
            put_value(value, &name);
            key += part + (key[part] == ',');
        }
        collect(list, element, rest, name.data);
        strbuf_deinit(&name);
    }
}

static ElementList collect_side(const DiffSide *side, const Fact *fact) {
    ElementList list = {.by_name = json_object()};
    collect(&list, side->doc, fact->path, "");
    return list;
}

static void drop(ElementList *list) {
    for (size_t i = 0; i < list->num; i++) free(list->items[i].name);
    free(list->items);
    json_decref(list->by_name);
}

// ---------------------------------------------------------------- fields

static void add_field(json_t *leaves, const char *name, size_t len, const json_t *value) {
    if (value) json_object_setn(leaves, name, len, (json_t *)value);
}

// "a.*": every member; "": of the element itself.
static void add_members(json_t *leaves, const char *base, size_t len, const json_t *value) {
    StrBuf name = {0};
    const char *key;
    json_t *member;
    size_t i;
    json_array_foreach(value, i, member) {
        strbuf_clear(&name);
        strbuf_printf(&name, "%.*s%s%zu", (int)len, base, len ? "." : "", i);
        add_field(leaves, name.data, name.len, member);
    }
    json_object_foreach((json_t *)value, key, member) {
        strbuf_clear(&name);
        strbuf_printf(&name, "%.*s%s%s", (int)len, base, len ? "." : "", key);
        add_field(leaves, name.data, name.len, member);
    }
    strbuf_deinit(&name);
}

// "a:b+c": "b 1, c 2"
static void add_group(json_t *leaves, const json_t *value, const char *members) {
    StrBuf out = {0};
    for (const char *rest; *members && *members != ','; members = rest) {
        size_t len = strcspn(members, "+,");
        rest = members + len + (members[len] == '+');
        strbuf_printf(&out, "%s%.*s ", out.len ? ", " : "", (int)len, members);
        put_value(find(value, members, len), &out);
    }
    if (value) json_object_set_new(leaves, "", json_stringn(out.data, out.len));
    strbuf_deinit(&out);
}

// What is compared of an element, by the name of the field.
static json_t *leaves_of(const json_t *value, const char *fields) {
    json_t *leaves = json_object();
    if (!*fields) json_object_set(leaves, "", (json_t *)value);
    for (const char *rest; *fields; fields = rest) {
        size_t len = next_part(fields, ',', &rest), plain = strcspn(fields, ":,*");
        size_t base = plain && fields[plain - 1] == '.' ? plain - 1 : plain;
        if (plain == len)
            add_field(leaves, fields, len, find(value, fields, len));
        else if (fields[plain] == '*')
            add_members(leaves, fields, base, find(value, fields, base));
        else
            add_group(leaves, find(value, fields, plain), fields + plain + 1);
    }
    return leaves;
}

// ---------------------------------------------------------------- causes

// The place of the recipe, or what else its document says of where an element comes from.
static const char *origin(const Element *element) {
    static const char *const members[] = {"at", "set_by", "recipe"};
    for (size_t i = 0; element && i < ARRAY_LEN(members); i++) {
        const json_t *value = json_object_get(element->value, members[i]);
        if (json_string_length(value)) return json_string_value(value);
    }
    return "";
}

static bool bears_on(const Fact *fact, const Element *x, const Element *y, const char *setting) {
    if (str_equal(fact->bearing, "@"))
        return strstr(origin(x), setting) || strstr(origin(y), setting);
    for (const char *at = fact->bearing, *rest; *at; at = rest) {
        size_t len = next_part(at, ',', &rest);
        if (strncmp(setting, at, len) == 0) return true;
    }
    return !*fact->bearing;
}

static void append_names(json_t *list, const json_t *causes) {
    const char *name;
    json_t *unused;
    json_object_foreach((json_t *)causes, name, unused)
        json_array_append_new(list, json_string(name));
}

// The causes that can have made a result differ: inputs, and the settings that bear on it, or all
// of them if none does. Build and text only where there is nothing else.
static json_t *set_by(const Comparison *c, const Fact *fact, const Element *x, const Element *y) {
    json_t *list = json_array();
    if (fact->role != ROLE_RESULT) return list;
    const char *name;
    json_t *unused;
    json_object_foreach(c->settings, name, unused) if (bears_on(fact, x, y, name))
        json_array_append_new(list, json_string(name));
    if (json_array_size(list) == 0) append_names(list, c->settings);
    append_names(list, c->inputs);
    if (json_array_size(list) == 0) append_names(list, c->others);
    return list;
}

static void note_cause(Comparison *c, const Fact *fact, const char *what, json_t *difference) {
    if (fact->role == ROLE_RESULT || (fact->role == ROLE_DERIVED && c->first_cause)) return;
    json_t *into = fact->topic == TOPIC_SETTINGS                             ? c->settings
                   : fact->topic == TOPIC_INPUTS && fact->role == ROLE_CAUSE ? c->inputs
                                                                             : c->others;
    json_object_set_new(into, what, json_true());
    if (c->first_cause) return;
    c->first_cause = json_object();
    json_object_set_new(c->first_cause, "topic", json_string(topic_names[fact->topic]));
    json_object_update(c->first_cause, difference);
    json_object_del(c->first_cause, "set_by");
}

// ---------------------------------------------------------------- differences

static void put_delta(json_t *out, const json_t *a, const json_t *b) {
    if (!json_is_number(a) || !json_is_number(b)) return;
    double x = json_number_value(a), y = json_number_value(b);
    json_int_t delta;
    bool is_whole = json_is_integer(a) && json_is_integer(b);
    if (!is_whole)
        json_object_set_new(out, "delta", json_real(y - x));
    else if (!__builtin_sub_overflow(json_integer_value(b), json_integer_value(a), &delta))
        json_object_set_new(out, "delta", json_integer(delta));
    if (x > 0) json_object_set_new(out, "percent", json_real((y - x) / x * 100));
}

static char *what_of(const Fact *fact, const Element *x, const Element *y) {
    StrBuf what = {0};
    const char *name = x ? x->name : y->name;
    strbuf_printf(&what, "%s%s%s", fact->label, *fact->label && *name ? " " : "", name);
    if (x && y && !str_equal(x->name, y->name)) strbuf_printf(&what, ", now %s", y->name);
    return strbuf_take(&what);
}

// A fact of which at least one side has something; a or b NULL: that side has not.
static void put_fact(Comparison *c, const Fact *fact, const Element *x, const Element *y,
                     const char *field, json_t *a, json_t *b) {
    bool is_equal = a && b && json_equal(a, b);
    c->num_compared[fact->topic]++;
    c->num_different[fact->topic] += !is_equal;
    if (is_equal && !c->shows_equal) return;
    json_t *out = json_object();
    char *what = what_of(fact, x, y);
    json_object_set_new(out, "what", json_string(what));
    json_object_set_new(out, "field", json_string(field));
    const char *change = is_equal ? "equal" : !a ? "added" : !b ? "removed" : "changed";
    json_object_set_new(out, "change", json_string(change));
    json_object_set(out, "a", a ? a : json_null());
    json_object_set(out, "b", b ? b : json_null());
    if (!is_equal) put_delta(out, a, b);
    if (*fact->unit) json_object_set_new(out, "unit", json_string(fact->unit));
    if (*origin(x)) json_object_set_new(out, "a_at", json_string(origin(x)));
    if (*origin(y)) json_object_set_new(out, "b_at", json_string(origin(y)));
    json_object_set_new(out, "set_by", is_equal ? json_array() : set_by(c, fact, x, y));
    json_array_append(c->topics[fact->topic], out);
    if (!is_equal) note_cause(c, fact, what, out);
    json_decref(out);
    free(what);
}

static void compare_matched(Comparison *c, const Fact *fact, const Element *x, const Element *y) {
    json_t *a = leaves_of(x->value, fact->fields), *b = leaves_of(y->value, fact->fields), *value;
    bool is_alike = c->a->is_artifact == c->b->is_artifact || fact->scope == SCOPE_OPTIONAL;
    const char *field;
    json_object_foreach(a, field, value) {
        json_t *other = json_object_get(b, field);
        if (other || is_alike) put_fact(c, fact, x, y, field, value, other);
    }
    json_object_foreach(b, field, value) if (!json_object_get(a, field) && is_alike)
        put_fact(c, fact, x, y, field, NULL, value);
    json_decref(a);
    json_decref(b);
}

// An element of one side alone: its only field, or all of them.
static void put_alone(Comparison *c, const Fact *fact, const Element *x, const Element *y) {
    json_t *leaves = leaves_of((x ? x : y)->value, fact->fields);
    void *only = json_object_size(leaves) == 1 ? json_object_iter(leaves) : NULL;
    json_t *value = only ? json_object_iter_value(only) : leaves;
    put_fact(c, fact, x, y, only ? json_object_iter_key(only) : "", x ? value : NULL,
             y ? value : NULL);
    json_decref(leaves);
}

static Element *match_by_name(const Element *x, ElementList *b) {
    const json_t *number = json_object_get(b->by_name, x->name);
    return number ? &b->items[json_integer_value(number)] : NULL;
}

// The first one left over that says the same of this member. A kind seldom has more than a few.
static Element *match_by_alias(const Fact *fact, const Element *x, ElementList *b) {
    if (!*fact->alias) return NULL;
    const json_t *wanted = json_object_get(x->value, fact->alias);
    for (size_t j = 0; j < b->num && wanted; j++) {
        const json_t *alias = json_object_get(b->items[j].value, fact->alias);
        if (!b->items[j].is_matched && json_equal(alias, wanted)) return &b->items[j];
    }
    return NULL;
}

static void compare_lists(Comparison *c, const Fact *fact, ElementList *a, ElementList *b) {
    Element **partners = base_alloc(a->num + 1, sizeof *partners);
    for (int by_alias = 0; by_alias < 2; by_alias++)
        for (size_t i = 0; i < a->num; i++) {
            if (partners[i]) continue;
            partners[i] =
                by_alias ? match_by_alias(fact, &a->items[i], b) : match_by_name(&a->items[i], b);
            if (partners[i]) partners[i]->is_matched = true;
        }
    bool reports_alone = fact->scope != SCOPE_MATCHED;
    for (size_t i = 0; i < a->num; i++) {
        if (partners[i])
            compare_matched(c, fact, &a->items[i], partners[i]);
        else if (reports_alone)
            put_alone(c, fact, &a->items[i], NULL);
    }
    for (size_t j = 0; j < b->num && reports_alone; j++)
        if (!b->items[j].is_matched) put_alone(c, fact, NULL, &b->items[j]);
    free(partners);
}

static void compare_fact(Comparison *c, const Fact *fact) {
    if (fact->scope == SCOPE_NOT_RECIPES && !c->a->is_artifact && !c->b->is_artifact) return;
    ElementList a = collect_side(c->a, fact), b = collect_side(c->b, fact);
    bool knows_both = (a.is_known && b.is_known) || fact->scope == SCOPE_OPTIONAL;
    if (knows_both)
        compare_lists(c, fact, &a, &b);
    else if (a.is_known || b.is_known)
        json_array_append_new(c->not_compared, json_string(fact->path));
    drop(&a);
    drop(&b);
}

// ---------------------------------------------------------------- the document

static json_t *side_json(const DiffSide *side) {
    json_t *out = json_object();
    json_object_set_new(out, "file", json_string(side->path));
    json_object_set_new(out, "kind", json_string(side->is_artifact ? "artifact" : "recipe"));
    return out;
}

json_t *diff_compare(const DiffSide *a, const DiffSide *b, bool shows_equal) {
    Comparison c = {.a = a,
                    .b = b,
                    .shows_equal = shows_equal,
                    .settings = json_object(),
                    .inputs = json_object(),
                    .others = json_object(),
                    .not_compared = json_array()};
    for (int t = 0; t < NUM_TOPICS; t++) c.topics[t] = json_array();
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) compare_fact(&c, &facts[i]);
    size_t num_compared = 0, num_different = 0;
    json_t *topics = json_array();
    for (int t = 0; t < NUM_TOPICS; t++) {
        json_t *topic = json_object();
        num_compared += c.num_compared[t];
        num_different += c.num_different[t];
        json_object_set_new(topic, "name", json_string(topic_names[t]));
        json_object_set_new(topic, "num_compared", json_integer((json_int_t)c.num_compared[t]));
        json_object_set_new(topic, "num_different", json_integer((json_int_t)c.num_different[t]));
        json_object_set_new(topic, "facts", c.topics[t]);
        json_array_append_new(topics, topic);
    }
    json_t *out = json_object();
    json_object_set_new(out, "schema", json_string("ingot-diff"));
    json_object_set_new(out, "schema_version", json_integer(1));
    json_object_set_new(out, "a", side_json(a));
    json_object_set_new(out, "b", side_json(b));
    json_object_set_new(out, "equal", json_boolean(num_different == 0));
    json_object_set_new(out, "num_compared", json_integer((json_int_t)num_compared));
    json_object_set_new(out, "num_different", json_integer((json_int_t)num_different));
    json_object_set_new(out, "first_cause", c.first_cause ? c.first_cause : json_null());
    json_object_set_new(out, "topics", topics);
    json_object_set_new(out, "not_compared", c.not_compared);
    json_decref(c.settings);
    json_decref(c.inputs);
    json_decref(c.others);
    return out;
}
