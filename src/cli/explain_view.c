// The record of a compile as text; see explain_view.h.
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain_view.h"

typedef struct View {
    const Cli *cli;
    StrBuf out;
    const char *op, *kernel; // filters; NULL: all
} View;

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static uint64_t number(const json_t *object, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

// ---- filters

// "@rows_0:7" is meant by itself, by @rows_0, by rows_0, by the op's name, by its place in the
// model.
static bool names_op(const json_t *op, const char *wanted) {
    const char *ref = text(op, "op");
    size_t len = strlen(wanted);
    const char *bare = *ref == '@' && *wanted != '@' ? ref + 1 : ref;
    bool is_ref = strncmp(bare, wanted, len) == 0 && (bare[len] == 0 || bare[len] == ':');
    return is_ref || str_equal(text(op, "name"), wanted) || str_equal(text(op, "loc"), wanted);
}

static bool in_kernel(const json_t *op, const char *kernel) {
    if (!kernel) return true;
    const char *ref = text(op, "op");
    size_t len = strlen(kernel);
    const char *bare = *ref == '@' && *kernel != '@' ? ref + 1 : ref;
    return strncmp(bare, kernel, len) == 0 && (bare[len] == 0 || bare[len] == ':');
}

static bool edge_is_wanted(const View *v, const json_t *edge) {
    const json_t *from = json_object_get(edge, "producer"), *to = json_object_get(edge, "consumer");
    bool op = !v->op || names_op(from, v->op) || names_op(to, v->op);
    return op && (in_kernel(from, v->kernel) || in_kernel(to, v->kernel));
}

static bool access_is_wanted(const View *v, const json_t *access) {
    const json_t *at = json_object_get(access, "at");
    bool is_op = !v->op || names_op(at, v->op) || str_equal(text(access, "name"), v->op);
    return is_op && in_kernel(at, v->kernel);
}

static bool kernel_is_wanted(const View *v, const json_t *kernel) {
    const char *wanted = v->kernel;
    if (!wanted) return !v->op;
    return str_equal(text(kernel, "name"), *wanted == '@' ? wanted + 1 : wanted);
}

static bool is_fallback(const json_t *kernel) {
    return *text(kernel, "fallback") || json_array_size(json_object_get(kernel, "scalar_loops"));
}

// ---- parts

static void put_op(StrBuf *out, const json_t *op) {
    const char *loc = text(op, "loc");
    strbuf_printf(out, "%s %s%s%s%s", text(op, "op"), text(op, "name"), *loc ? " (" : "", loc,
                  *loc ? ")" : "");
}

static void put_edge(View *v, const json_t *edge) {
    StrBuf *out = &v->out;
    bool is_applied = json_is_true(json_object_get(edge, "applied"));
    strbuf_printf(out, "edge %" PRIu64 " ", number(edge, "id"));
    put_op(out, json_object_get(edge, "producer"));
    strbuf_puts(out, " -> ");
    put_op(out, json_object_get(edge, "consumer"));
    strbuf_printf(out, "\n  %s", is_applied ? "joined" : "apart: ");
    if (!is_applied) strbuf_puts(out, text(edge, "reason"));
    if (*text(edge, "pattern")) strbuf_printf(out, ", %s", text(edge, "pattern"));
    if (*text(edge, "recipe")) strbuf_printf(out, ", rule at %s", text(edge, "recipe"));
    strbuf_printf(out, ", %s %" PRIu64 " bytes, %.1f us, %" PRIu64 " times\n",
                  is_applied ? "saves" : "moves", number(edge, "bytes"),
                  (double)number(edge, "predicted_ns") / 1000, number(edge, "count"));
    size_t i;
    const json_t *reason;
    json_array_foreach(json_object_get(edge, "reasons"), i, reason)
        strbuf_printf(out, "    %s: %s\n      %s\n      write: %s\n", text(reason, "reason"),
                      text(reason, "detail"), text(reason, "meaning"), text(reason, "write"));
}

static void put_list(StrBuf *out, const json_t *numbers) {
    size_t i;
    const json_t *value;
    strbuf_putc(out, '[');
    json_array_foreach(numbers, i, value) {
        if (i) strbuf_puts(out, ", ");
        if (json_is_null(value))
            strbuf_putc(out, '?');
        else
            strbuf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    }
    strbuf_putc(out, ']');
}

static void put_access(View *v, const json_t *a) {
    const json_t *at = json_object_get(a, "at");
    strbuf_printf(&v->out,
                  "access %s op=\"%s\" loc=%s operand=%" PRIu64 "%s map=affine_map<%s> strides=",
                  text(at, "op"), text(a, "name"), text(at, "loc"), number(a, "operand"),
                  json_is_true(json_object_get(a, "writes")) ? " write" : "", text(a, "map"));
    put_list(&v->out, json_object_get(a, "strides"));
    strbuf_printf(&v->out, " inner=%s used=%" PRIu64 "%% align=%" PRIu64 "%s\n", text(a, "inner"),
                  number(a, "used_percent"), number(a, "align_bytes"),
                  json_is_true(json_object_get(a, "flagged")) ? " !" : "");
    if (*text(a, "write")) strbuf_printf(&v->out, "  write: %s\n", text(a, "write"));
}

static void put_kernel(View *v, const json_t *kernel) {
    strbuf_printf(&v->out, "  %-20s %-10s wanted %-10s got %s", text(kernel, "name"),
                  text(kernel, "kind"), text(kernel, "wanted"), text(kernel, "got"));
    if (number(kernel, "scratch_bytes"))
        strbuf_printf(&v->out, "; %" PRIu64 " bytes of scratch per worker",
                      number(kernel, "scratch_bytes"));
    if (*text(kernel, "fallback"))
        strbuf_printf(&v->out, "; fallback: %s", text(kernel, "fallback"));
    const json_t *loops = json_object_get(kernel, "scalar_loops");
    if (json_array_size(loops))
        strbuf_printf(&v->out, "; %zu scalar loops:", json_array_size(loops));
    size_t i;
    const json_t *why;
    json_array_foreach(loops, i, why) strbuf_printf(&v->out, " %s", json_string_value(why));
    strbuf_putc(&v->out, '\n');
}

// ---- schedules

// Takes from every level of the prediction what was weighed: [{level, target, kernels}].
static json_t *schedules_of(const json_t *predicted) {
    json_t *levels = json_array();
    size_t i;
    const json_t *level;
    json_array_foreach(predicted, i, level) {
        json_t *kernels = json_object_get(level, "schedules");
        if (json_array_size(kernels) == 0) continue;
        json_array_append_new(levels,
                              json_pack("{s:s, s:s, s:O}", "level", text(level, "level"), "target",
                                        text(level, "target"), "kernels", kernels));
    }
    return levels;
}

static void put_candidate(StrBuf *out, const json_t *c, bool is_chosen) {
    char clocks[32], bytes[32];
    strbuf_printf(out, "    %-7s lanes %2" PRIu64 ", row_tile %2" PRIu64 ", col_tile %2" PRIu64,
                  is_chosen ? "chosen" : "", number(c, "lanes"), number(c, "row_tile"),
                  number(c, "col_tile"));
    if (number(c, "unroll") > 1) strbuf_printf(out, ", unroll %2" PRIu64, number(c, "unroll"));
    if (number(c, "by_image")) strbuf_puts(out, ", by image");
    if (number(c, "band")) strbuf_printf(out, ", bands of %" PRIu64 " tiles", number(c, "band"));
    strbuf_printf(out,
                  ": %s clocks, %s bytes beyond the first cache, %" PRIu64
                  " registers, what is used again fits %s, bound by %s",
                  grouped(number(c, "clocks"), clocks), grouped(number(c, "bytes"), bytes),
                  number(c, "registers"), text(c, "fits"), text(c, "bound"));
    if (number(c, "measured_ns"))
        strbuf_printf(out, "; measured %.3f ms", (double)number(c, "measured_ns") * 1e-6);
    strbuf_putc(out, '\n');
}

static bool schedule_is_wanted(const View *v, const json_t *schedule) {
    const char *wanted = v->kernel;
    return !wanted || str_equal(text(schedule, "kernel"), *wanted == '@' ? wanted + 1 : wanted);
}

static void put_schedules(View *v, const json_t *levels) {
    size_t i, k, n;
    const json_t *level, *schedule, *candidate;
    json_array_foreach(levels, i, level) {
        strbuf_printf(&v->out, "schedules for %s, on the numbers of %s\n", text(level, "level"),
                      text(level, "target"));
        json_array_foreach(json_object_get(level, "kernels"), k, schedule) {
            if (!schedule_is_wanted(v, schedule)) continue;
            strbuf_printf(&v->out, "  %s\n", text(schedule, "kernel"));
            json_array_foreach(json_object_get(schedule, "candidates"), n, candidate)
                put_candidate(&v->out, candidate, n == 0);
        }
    }
}

static void filter_schedules(const View *v, json_t *levels) {
    size_t i;
    json_t *level;
    json_array_foreach(levels, i, level) {
        json_t *kernels = json_object_get(level, "kernels");
        for (size_t k = json_array_size(kernels); k-- > 0;)
            if (!schedule_is_wanted(v, json_array_get(kernels, k))) json_array_remove(kernels, k);
    }
}

// ---- the summary

static void put_rules(View *v, const json_t *record) {
    size_t i, k;
    const json_t *rule, *place;
    strbuf_printf(&v->out, "\n%-18s %-8s %-16s %8s %6s  %s\n", "fusion rule", "mode", "outcome",
                  "joined", "apart", "recipe");
    json_array_foreach(json_object_get(record, "rules"), i, rule) {
        strbuf_printf(&v->out, "  %-16s %-8s %-16s %8" PRIu64 " %6" PRIu64 "  %s\n",
                      text(rule, "pattern"), text(rule, "mode"), text(rule, "outcome"),
                      number(rule, "num_applied"), number(rule, "num_apart"), text(rule, "recipe"));
        json_array_foreach(json_object_get(rule, "places"), k, place) {
            if (json_is_true(json_object_get(place, "applied"))) continue;
            strbuf_printf(&v->out, "      apart in @%s: %s: %s, %s\n", text(place, "where"),
                          text(place, "what"), text(place, "reason"), text(place, "detail"));
            break; // one says what kind; --edges lists all
        }
    }
}

static void put_why_apart(View *v, const json_t *record) {
    const char *names[32];
    uint64_t counts[32] = {0}, bytes[32] = {0};
    size_t num = 0, i;
    const json_t *edge;
    json_array_foreach(json_object_get(record, "edges"), i, edge) {
        if (json_is_true(json_object_get(edge, "applied"))) continue;
        size_t k = 0;
        while (k < num && !str_equal(names[k], text(edge, "reason"))) k++;
        if (k == ARRAY_LEN(names)) continue;
        if (k == num) names[num++] = text(edge, "reason");
        counts[k]++;
        bytes[k] += number(edge, "bytes") * number(edge, "count");
    }
    char grouping[32];
    strbuf_printf(&v->out, "\n%-18s %8s %18s\n", "edges apart, why", "edges", "bytes moved");
    for (size_t k = 0; k < num; k++)
        strbuf_printf(&v->out, "  %-16s %8" PRIu64 " %18s\n", names[k], counts[k],
                      grouped(bytes[k], grouping));
}

// One line per layout: how many convolutions took it, and what the others would have cost them.
// What a module checks while it runs; a language model has no such list.
static void put_checks(View *v, const json_t *record) {
    enum { MAX_SHOWN = 4 };
    size_t i, num_checked = 0;
    const json_t *check, *checks = json_object_get(record, "checks");
    json_array_foreach(checks, i, check) num_checked +=
        !json_is_true(json_object_get(check, "proven"));
    if (!json_array_size(checks)) return;
    strbuf_printf(&v->out, "faults: %zu proven to be none, %zu checked at run time\n",
                  json_array_size(checks) - num_checked, num_checked);
    num_checked = 0;
    json_array_foreach(checks, i, check) {
        if (json_is_true(json_object_get(check, "proven"))) continue;
        if (num_checked++ == MAX_SHOWN) {
            strbuf_puts(&v->out, "  and more (--json)\n");
            return;
        }
        strbuf_printf(&v->out, "  %s of %s at %s, %" PRIu64 " times\n", text(check, "what"),
                      text(check, "op"), text(check, "at"), number(check, "times"));
    }
}

static void put_layouts(View *v, const json_t *record) {
    size_t i, k;
    const json_t *note, *other;
    const json_t *layouts = json_object_get(record, "layouts");
    char a[32], c[32];
    if (json_array_size(layouts))
        strbuf_printf(&v->out, "\n%-18s %-16s %12s %12s  %s\n", "layout of maps",
                      "chosen, (instead)", "clocks", "bytes copied", "why");
    json_array_foreach(layouts, i, note) {
        const json_t *chosen = json_object_get(note, "chosen");
        strbuf_printf(&v->out, "  %-16s %-16s %12s %12s  %s\n", text(note, "what"),
                      text(chosen, "layout"), grouped(number(chosen, "clocks"), c),
                      grouped(number(chosen, "bytes"), a), text(chosen, "reason"));
        json_array_foreach(json_object_get(note, "alternatives"), k, other) strbuf_printf(
            &v->out, "  %-16s (%s)%*s %12s %12s  %s\n", "", text(other, "layout"),
            (int)(14 - strlen(text(other, "layout"))), "", grouped(number(other, "clocks"), c),
            grouped(number(other, "bytes"), a), text(other, "reason"));
        if (i == 3 && json_array_size(layouts) > 4) {
            strbuf_printf(&v->out, "  and %zu more (--json)\n", json_array_size(layouts) - 4);
            break;
        }
    }
}

// The buckets of entries whose sizes vary.
static void put_versions(View *v, const json_t *record) {
    size_t i, k;
    const json_t *version, *size;
    json_array_foreach(json_object_get(record, "versions"), i, version) {
        strbuf_printf(&v->out, "%s  @%s of %s:", i ? "" : "\nversions\n", text(version, "func"),
                      text(version, "entry"));
        json_array_foreach(json_object_get(version, "sizes"), k, size)
            strbuf_printf(&v->out, " %s %" PRIu64 " to %" PRIu64 " (%s),", text(size, "name"),
                          number(size, "least"), number(size, "bucket"), text(size, "set_by"));
        strbuf_printf(&v->out, " padding %" PRIu64 " %% on average, %" PRIu64 " %% at most\n",
                      number(version, "padding_mean_percent"),
                      number(version, "padding_most_percent"));
    }
}

static void put_summary(View *v, const json_t *record) {
    const json_t *s = json_object_get(record, "summary");
    char a[32], b[32];
    strbuf_printf(&v->out,
                  "%" PRIu64 " kernels for %s, %" PRIu64
                  " fell back from the primitive they wanted "
                  "(--fallbacks)\n",
                  number(s, "num_kernels"), text(s, "cpu_level"), number(s, "num_fallbacks"));
    strbuf_printf(
        &v->out, "%" PRIu64 " edges, %" PRIu64 " joined; the others move %s bytes (--edges)\n",
        number(s, "num_edges"), number(s, "num_applied"), grouped(number(s, "stake_bytes"), a));
    strbuf_printf(&v->out,
                  "%" PRIu64 " buffers between kernels, %s bytes; %" PRIu64 " copies, %s bytes\n",
                  number(s, "num_buffers"), grouped(number(s, "buffer_bytes"), a),
                  number(s, "num_copies"), grouped(number(s, "copy_bytes"), b));
    strbuf_printf(&v->out,
                  "%" PRIu64 " operands, %" PRIu64 " not walked element by element (--access)\n",
                  number(s, "num_operands"), number(s, "num_flagged"));
    size_t num_scheduled = 0, i;
    const json_t *level;
    json_array_foreach(json_object_get(record, "schedules"), i, level) num_scheduled =
        MAX(num_scheduled, json_array_size(json_object_get(level, "kernels")));
    if (num_scheduled)
        strbuf_printf(&v->out, "%zu kernels with a choice of schedules (--schedules)\n",
                      num_scheduled);
    put_versions(v, record);
    put_rules(v, record);
    put_layouts(v, record);
    put_checks(v, record);
    put_why_apart(v, record);
}

static void put_parts(View *v, const json_t *record) {
    const Args *args = &v->cli->args;
    bool filters = v->op || v->kernel;
    bool edges = args_has(args, OPT_EDGES), access = args_has(args, OPT_ACCESS);
    bool fallbacks = args_has(args, OPT_FALLBACKS), schedules = args_has(args, OPT_SCHEDULES);
    bool any = edges || access || fallbacks || schedules;
    size_t i;
    const json_t *item;
    if (!any && !filters) put_summary(v, record);
    if (fallbacks || (filters && !any))
        json_array_foreach(json_object_get(record, "kernels"), i,
                           item) if (kernel_is_wanted(v, item) && (!fallbacks || is_fallback(item)))
            put_kernel(v, item);
    if (edges || (filters && !any))
        json_array_foreach(json_object_get(record, "edges"), i, item) if (edge_is_wanted(v, item))
            put_edge(v, item);
    if (access || (filters && !any))
        json_array_foreach(json_object_get(record, "access"), i,
                           item) if (access_is_wanted(v, item)) put_access(v, item);
    if (schedules || (v->kernel && !any)) put_schedules(v, json_object_get(record, "schedules"));
}

// Takes what is not asked for out of the record.
static void filter_json(const View *v, json_t *record) {
    const Args *args = &v->cli->args;
    static const struct {
        const char *array;
        bool (*is_wanted)(const View *, const json_t *);
    } filters[] = {
        {"edges", edge_is_wanted}, {"access", access_is_wanted}, {"kernels", kernel_is_wanted}};
    bool is_narrow = args_has(args, OPT_EDGES) || args_has(args, OPT_ACCESS) ||
                     args_has(args, OPT_FALLBACKS) || args_has(args, OPT_SCHEDULES);
    json_t *levels = json_object_get(record, "schedules");
    if (v->op || (is_narrow && !args_has(args, OPT_SCHEDULES))) json_array_clear(levels);
    filter_schedules(v, levels);
    for (size_t f = 0; f < ARRAY_LEN(filters); f++) {
        json_t *array = json_object_get(record, filters[f].array);
        bool is_asked = (f == 0 && args_has(args, OPT_EDGES)) ||
                        (f == 1 && args_has(args, OPT_ACCESS)) ||
                        (f == 2 && args_has(args, OPT_FALLBACKS));
        for (size_t i = json_array_size(array); i-- > 0;) {
            const json_t *item = json_array_get(array, i);
            bool keep = filters[f].is_wanted(v, item) && (!is_narrow || is_asked);
            if (f == 2 && args_has(args, OPT_FALLBACKS)) keep = keep && is_fallback(item);
            if (!keep) json_array_remove(array, i);
        }
    }
}

static bool show(const Cli *cli, json_t *record, const json_t *predicted) {
    if (!record || !str_equal(text(record, "schema"), "ingot-explain-compile")) return false;
    json_object_set_new(record, "schedules", schedules_of(predicted));
    View v = {.cli = cli,
              .op = args_text(&cli->args, OPT_OP, NULL),
              .kernel = args_text(&cli->args, OPT_KERNEL, NULL)};
    if (cli->is_json) {
        filter_json(&v, record);
        char *pretty = json_dumps(record, JSON_INDENT(2));
        strbuf_printf(&v.out, "%s\n", pretty);
        free(pretty);
    } else {
        put_parts(&v, record);
    }
    put_document(&v.out);
    return true;
}

bool explain_show(const Cli *cli, const char *json, size_t len_bytes, const char *predicted) {
    json_t *record = json_loadb(json, len_bytes, 0, NULL);
    json_t *levels = predicted ? json_loads(predicted, 0, NULL) : NULL;
    bool is_shown = show(cli, record, levels);
    json_decref(levels);
    json_decref(record);
    return is_shown;
}

bool explain_show_manifest(const Cli *cli, const char *json, size_t len_bytes) {
    json_t *manifest = json_loadb(json, len_bytes, 0, NULL);
    bool is_shown =
        show(cli, json_object_get(manifest, "explain"), json_object_get(manifest, "predicted"));
    json_decref(manifest);
    return is_shown;
}
