// The document "ingot-diff" as text; see diff.h.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff.h"

enum { MOST_LINES = 20, LONGEST_TEXT = 72, MOST_CAUSES = 3 };

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static void put_shortened(StrBuf *out, const char *value, bool is_whole) {
    size_t len = strlen(value), shown = len;
    if (!is_whole && len > LONGEST_TEXT) {
        shown = LONGEST_TEXT;
        while (shown && ((unsigned char)value[shown] & 0xc0) == 0x80) shown--;
    }
    strbuf_append(out, value, shown);
    if (shown < len) strbuf_puts(out, "...");
}

static void put_number(StrBuf *out, const json_t *value) {
    char digits[32];
    if (json_is_real(value)) {
        strbuf_printf(out, "%.6g", json_real_value(value));
        return;
    }
    json_int_t number = json_integer_value(value);
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    strbuf_printf(out, "%s%s", number < 0 ? "-" : "", grouped(size, digits));
}

static void put_value(StrBuf *out, const json_t *value, bool is_whole) {
    if (json_is_number(value)) {
        put_number(out, value);
    } else if (json_is_string(value)) {
        put_shortened(out, json_string_length(value) ? json_string_value(value) : "(none)",
                      is_whole);
    } else if (json_is_object(value)) {
        const char *key;
        const json_t *member;
        bool is_first = true;
        json_object_foreach((json_t *)value, key, member) {
            bool is_true = json_is_true(member);
            if (!json_is_number(member) && !json_string_length(member) && !is_true) continue;
            strbuf_printf(out, "%s%s%s", is_first ? "" : ", ", key, is_true ? "" : " ");
            if (!is_true) put_value(out, member, is_whole);
            is_first = false;
        }
    } else {
        char *dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        put_shortened(out, dump ? dump : "", is_whole);
        free(dump);
    }
}

static void put_change(StrBuf *out, const json_t *fact, bool is_whole) {
    const char *change = text(fact, "change");
    const json_t *a = json_object_get(fact, "a"), *b = json_object_get(fact, "b");
    bool is_added = str_equal(change, "added"), is_removed = str_equal(change, "removed");
    if (is_added || is_removed) {
        strbuf_printf(out, "%s: ", change);
        put_value(out, is_added ? b : a, is_whole);
        return;
    }
    put_value(out, a, is_whole);
    if (str_equal(change, "equal")) {
        strbuf_puts(out, ", in both");
        return;
    }
    strbuf_puts(out, " -> ");
    put_value(out, b, is_whole);
    if (*text(fact, "unit")) strbuf_printf(out, " %s", text(fact, "unit"));
    const json_t *delta = json_object_get(fact, "delta");
    const json_t *percent = json_object_get(fact, "percent");
    if (!delta) return;
    strbuf_printf(out, " (%s", json_number_value(delta) > 0 ? "+" : "");
    put_number(out, delta);
    if (percent) strbuf_printf(out, ", %+.1f %%", json_real_value(percent));
    strbuf_putc(out, ')');
}

// "[recipe:9]", "[recipe:9 -> recipe:10]"; long ones, which list many places, are left to --json.
static void put_places(StrBuf *out, const json_t *fact) {
    const char *a = text(fact, "a_at"), *b = text(fact, "b_at");
    if ((!*a && !*b) || strchr(a, ',') || strchr(b, ',')) return;
    if (*a && *b && !str_equal(a, b))
        strbuf_printf(out, "  [%s -> %s]", a, b);
    else
        strbuf_printf(out, "  [%s]", *a ? a : b);
}

static void put_causes(StrBuf *out, const json_t *fact) {
    const json_t *list = json_object_get(fact, "set_by");
    size_t num = json_array_size(list);
    for (size_t i = 0; i < MIN(num, (size_t)MOST_CAUSES); i++)
        strbuf_printf(out, "%s%s", i ? ", " : "set by ",
                      json_string_value(json_array_get(list, i)));
    if (num > MOST_CAUSES) strbuf_printf(out, ", %zu more", num - MOST_CAUSES);
}

static void put_fact(StrBuf *out, const json_t *fact, bool is_whole) {
    const char *field = text(fact, "field");
    if (str_equal(field, "value")) field = ""; // of a setting
    const char *what = text(fact, "what");
    strbuf_printf(out, "%s%s%s: ", what, *what && *field ? ", " : "", field);
    put_change(out, fact, is_whole);
    put_places(out, fact);
}

// Do all facts of a topic come from the same? Then its heading says it.
static bool share_causes(const json_t *facts) {
    const json_t *first = json_object_get(json_array_get(facts, 0), "set_by"), *fact;
    size_t i;
    json_array_foreach(facts, i,
                       fact) if (!json_equal(json_object_get(fact, "set_by"), first)) return false;
    return json_array_size(first) > 0;
}

static void put_topic(StrBuf *out, const json_t *topic, bool is_whole) {
    const json_t *facts = json_object_get(topic, "facts"), *fact;
    size_t i, num = json_array_size(facts);
    if (num == 0) return;
    bool is_shared = share_causes(facts);
    strbuf_printf(out, "\n%s%s", text(topic, "name"), is_shared ? ", " : "");
    if (is_shared) put_causes(out, json_array_get(facts, 0));
    strbuf_putc(out, '\n');
    json_array_foreach(facts, i, fact) {
        if (i == MOST_LINES && !is_whole) {
            strbuf_printf(out, "  and %zu more; --all or --json lists them\n", num - i);
            return;
        }
        strbuf_puts(out, "  ");
        put_fact(out, fact, is_whole);
        if (!is_shared && json_array_size(json_object_get(fact, "set_by"))) {
            strbuf_puts(out, "  ");
            put_causes(out, fact);
        }
        strbuf_putc(out, '\n');
    }
}

void diff_put_text(const json_t *diff, bool is_whole, StrBuf *out) {
    const json_t *a = json_object_get(diff, "a"), *b = json_object_get(diff, "b"), *topic, *path;
    const json_t *cause = json_object_get(diff, "first_cause");
    bool are_artifacts =
        str_equal(text(a, "kind"), "artifact") && str_equal(text(b, "kind"), "artifact");
    strbuf_printf(out, "%s -> %s: ", text(a, "file"), text(b, "file"));
    json_int_t compared = json_integer_value(json_object_get(diff, "num_compared"));
    json_int_t different = json_integer_value(json_object_get(diff, "num_different"));
    if (different == 0)
        strbuf_printf(out, "equal, %s\n", are_artifacts ? "byte by byte" : "in all that both say");
    else
        strbuf_printf(out, "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " facts differ\n",
                      different, compared);
    if (json_is_object(cause)) {
        strbuf_printf(out, "first cause: %s: ", text(cause, "topic"));
        put_fact(out, cause, is_whole);
        strbuf_putc(out, '\n');
    } else if (different) {
        strbuf_puts(out, "no cause is known: inputs, settings and build are equal as far as both "
                         "say them; an edited dump (--resume-from) is in no manifest\n");
    }
    size_t i;
    json_array_foreach(json_object_get(diff, "topics"), i, topic) put_topic(out, topic, is_whole);
    const json_t *unknown = json_object_get(diff, "not_compared");
    if (json_array_size(unknown)) strbuf_puts(out, "\nnot compared, known of one side only\n");
    json_array_foreach(unknown, i, path) strbuf_printf(out, "  %s\n", json_string_value(path));
}
