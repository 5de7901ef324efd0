// `ingot doctor`: the table of symptoms, and how findings are told; see doctor.h.
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "cli/inspect.h"

enum { MAX_WORD_CHARS = 32 };

#define HOST     SEEN_IN_HOST
#define RECIPE   SEEN_IN_RECIPE
#define ARTIFACT SEEN_IN_ARTIFACT
static const SymptomInfo symptoms[NUM_SYMPTOMS] = {
#define SYMPTOM(id, name, inputs, code, key, title, words, change)                                 \
    {name, inputs, code, key, title, words, change},
#include "cli/doctor.def"
};
#undef HOST
#undef RECIPE
#undef ARTIFACT

const SymptomInfo *symptom_info(SymptomId id) {
    return &symptoms[id];
}

static const char *first_code(Arena *arena, const char *codes) {
    return arena_strndup(arena, codes, strcspn(codes, " "));
}

static const char *formatted(Doctor *d, const char *before, const char *fmt, va_list args) {
    StrBuf text = {0};
    strbuf_puts(&text, before);
    strbuf_vprintf(&text, fmt, args);
    const char *copy = arena_strdup(&d->cli->sink.arena, text.data ? text.data : "");
    strbuf_deinit(&text);
    return copy;
}

void doctor_find(Doctor *d, SymptomId id, FindingState state, double value, const char *unit,
                 const char *source, const char *fmt, ...) {
    Finding *finding = &d->findings[id];
    if (!d->wanted[id] || finding->state >= state) return;
    va_list args;
    va_start(args, fmt);
    const char *evidence = formatted(d, "", fmt, args);
    va_end(args);
    Arena *arena = &d->cli->sink.arena;
    const char *recipe = finding->recipe;
    *finding = (Finding){.state = state,
                         .code = first_code(arena, symptoms[id].code),
                         .evidence = evidence,
                         .source = arena_strdup(arena, source),
                         .recipe = recipe,
                         .value = value,
                         .unit = unit};
}

void doctor_change(Doctor *d, SymptomId id, const char *fmt, ...) {
    if (!d->wanted[id]) return;
    va_list args;
    va_start(args, fmt);
    d->findings[id].change = formatted(d, "", fmt, args);
    va_end(args);
}

void doctor_evidence(Doctor *d, SymptomId id, const char *fmt, ...) {
    if (!d->findings[id].evidence) return;
    va_list args;
    va_start(args, fmt);
    d->findings[id].evidence = formatted(d, d->findings[id].evidence, fmt, args);
    va_end(args);
}

// ---------------------------------------------------------------- which symptoms

// Words of a text, in small letters, one after another; false at the end.
static bool next_word(const char **text, char word[MAX_WORD_CHARS]) {
    const char *at = *text;
    while (*at && !isalnum((unsigned char)*at)) at++;
    size_t len = 0;
    for (; isalnum((unsigned char)*at) || *at == '_'; at++)
        if (len + 1 < MAX_WORD_CHARS) word[len++] = (char)tolower((unsigned char)*at);
    word[len] = 0;
    *text = at;
    return len > 0;
}

static bool has_word(const char *text, const char *wanted) {
    char word[MAX_WORD_CHARS];
    while (next_word(&text, word))
        if (str_equal(word, wanted)) return true;
    return false;
}

// How many words of what was asked the symptom has in its name, title and words.
static uint32_t score(const SymptomInfo *info, const char *asked) {
    char word[MAX_WORD_CHARS];
    uint32_t points = 0;
    while (next_word(&asked, word)) {
        if (strlen(word) < 3) continue;
        points += has_word(info->name, word) || has_word(info->words, word) ? 2
                  : has_word(info->title, word)                             ? 1
                                                                            : 0;
    }
    return points;
}

// By name; else those that have the most of the words.
static Status want_symptom(Doctor *d, const char *asked) {
    const char *names[NUM_SYMPTOMS];
    uint32_t most = 1;
    for (int i = 0; i < NUM_SYMPTOMS; i++) {
        names[i] = symptoms[i].name;
        if (str_equal(names[i], asked)) {
            d->wanted[i] = true;
            return STATUS_OK;
        }
        most = MAX(most, score(&symptoms[i], asked));
    }
    bool is_found = false;
    for (int i = 0; i < NUM_SYMPTOMS; i++) {
        d->wanted[i] = score(&symptoms[i], asked) == most;
        is_found |= d->wanted[i];
    }
    if (is_found) return STATUS_OK;
    Status status =
        usage_error(&d->cli->sink, DIAG_U0004, "no symptom is called or described by %.80s", asked);
    StrBuf all = {0};
    for (int i = 0; i < NUM_SYMPTOMS; i++) strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    const char *nearest = str_nearest(asked, names, NUM_SYMPTOMS);
    diag_write(&d->cli->sink, "--symptom=%s", nearest ? nearest : all.data);
    strbuf_deinit(&all);
    return status;
}

static Status choose(Doctor *d) {
    const char *asked = args_text(&d->cli->args, OPT_SYMPTOM, NULL);
    for (int i = 0; i < NUM_SYMPTOMS && !asked; i++) d->wanted[i] = true;
    if (asked) TRY(want_symptom(d, asked));
    const char *level = args_text(&d->cli->args, OPT_AS_CPU, NULL);
    d->host_features = cpu_host_features();
    d->host_name = "this processor";
    CpuLevel named;
    if (!level) return STATUS_OK;
    if (!cpu_level_find(level, &named))
        return usage_error(&d->cli->sink, DIAG_U0004, "there is no CPU level %.40s", level);
    d->host_features = cpu_level_info(named)->required;
    d->host_name =
        arena_printf(&d->cli->sink.arena, "a processor of level %s", cpu_level_info(named)->name);
    return STATUS_OK;
}

// ---------------------------------------------------------------- what is told

static const char *const state_names[] = {[FINDING_NONE] = "not seen here",
                                          [FINDING_PASS] = "pass",
                                          [FINDING_WARN] = "warn",
                                          [FINDING_FAIL] = "fail"};

static const char *change_of(const Doctor *d, int i) {
    if (d->findings[i].state <= FINDING_PASS) return NULL;
    return d->findings[i].change ? d->findings[i].change : symptoms[i].change;
}

static void put_optional(JsonWriter *json, const char *key, const char *text) {
    if (text && *text)
        json_put_string(json, key, text);
    else
        json_put_null(json, key);
}

static void put_json(const Doctor *d, bool holds) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_document(&json, "ingot-doctor");
    put_optional(&json, "file", d->path);
    json_put_bool(&json, "healthy", holds);
    json_begin_array(&json, "findings");
    for (int i = 0; i < NUM_SYMPTOMS; i++) {
        const Finding *finding = &d->findings[i];
        if (!d->wanted[i]) continue;
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", symptoms[i].name);
        json_put_string(&json, "title", symptoms[i].title);
        json_put_string(&json, "state", state_names[finding->state]);
        put_optional(&json, "code", finding->state > FINDING_PASS ? finding->code : NULL);
        put_optional(&json, "evidence", finding->evidence);
        if (finding->state)
            json_put_real(&json, "value", finding->value);
        else
            json_put_null(&json, "value");
        put_optional(&json, "unit", finding->unit);
        put_optional(&json, "source", finding->source);
        put_optional(&json, "recipe", finding->recipe);
        put_optional(&json, "change", change_of(d, i));
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    put_document(&out);
}

static void put_text(const Doctor *d) {
    StrBuf out = {0};
    uint32_t counts[4] = {0};
    for (int i = 0; i < NUM_SYMPTOMS; i++) {
        const Finding *finding = &d->findings[i];
        if (!d->wanted[i]) continue;
        counts[finding->state]++;
        bool is_asked = args_has(&d->cli->args, OPT_SYMPTOM);
        if (finding->state == FINDING_NONE && !is_asked) continue;
        strbuf_printf(&out, "%-4s  %-15s %s\n", finding->state ? state_names[finding->state] : "-",
                      symptoms[i].name, symptoms[i].title);
        if (finding->state == FINDING_NONE) {
            strbuf_printf(&out, "      %s\n",
                          symptoms[i].inputs & d->inputs ? "could not be looked at here"
                          : symptoms[i].inputs & SEEN_IN_ARTIFACT
                              ? "is seen in an artifact: ingot doctor FILE.ingot"
                              : "is seen in a recipe: ingot doctor RECIPE");
            continue;
        }
        strbuf_printf(&out, "      evidence: %s\n      source:   %s\n", finding->evidence,
                      finding->source);
        if (finding->recipe) strbuf_printf(&out, "      recipe:   %s\n", finding->recipe);
        const char *change = change_of(d, i);
        if (change) strbuf_printf(&out, "      change:   %s\n", change);
        if (change && *finding->code)
            strbuf_printf(&out, "      more:     ingot explain %s\n", finding->code);
    }
    strbuf_printf(&out, "%u failed, %u warned, %u passed\n", counts[FINDING_FAIL],
                  counts[FINDING_WARN], counts[FINDING_PASS]);
    put_document(&out);
}

// ---------------------------------------------------------------- the verb

static Status look(Doctor *d) {
    d->inputs = SEEN_IN_HOST;
    doctor_check_host(d);
    if (!d->path) return STATUS_OK;
    FileKind kind;
    TRY(file_kind(d->path, &d->cli->sink, &kind));
    if (kind == FILE_KIND_ARTIFACT || str_has_suffix(d->path, ".ingot")) {
        d->inputs |= SEEN_IN_ARTIFACT;
        return doctor_check_artifact(d, d->path);
    }
#ifdef INGOT_HAS_COMPILER
    d->inputs |= SEEN_IN_RECIPE;
    return doctor_check_recipe(d, d->path);
#else
    return hand_over(d->cli, &d->cli->sink);
#endif
}

Status verb_DOCTOR(Cli *cli) {
    TRY(check_positional(cli, 0, 1, "a recipe or an artifact"));
    Doctor d = {.cli = cli, .path = cli->args.num_positional ? cli->args.positional[0] : NULL};
    TRY(choose(&d));
    TRY(look(&d));
    bool holds = true;
    for (int i = 0; i < NUM_SYMPTOMS; i++) holds = holds && d.findings[i].state != FINDING_FAIL;
    if (cli->is_json)
        put_json(&d, holds);
    else
        put_text(&d);
    return holds ? STATUS_OK : STATUS_NO;
}
