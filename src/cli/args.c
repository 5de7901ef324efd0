// Parses the command line by the table in options.def; see args.h.
#include "cli/args.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IN(verb)  (1u << VERB_##verb)
#define ALL_VERBS ((1u << NUM_VERBS) - 1)

static const VerbInfo verbs[NUM_VERBS] = {
#define VERB(id, name, needs_compiler, arguments, purpose, examples)                               \
    {name, needs_compiler, arguments, purpose, examples},
#include "cli/options.def"
};

static const OptionInfo options[NUM_OPTIONS] = {
#define OPTION(id, verbs, name, letter, kind, metavar, min, max, group, help)                      \
    {verbs, name, letter, OPTION_##kind, metavar, min, max, group, help},
#include "cli/options.def"
};

const VerbInfo *verb_info(Verb verb) {
    return &verbs[verb];
}
const OptionInfo *option_info(OptionId id) {
    return &options[id];
}

bool verb_find(const char *name, Verb *out_verb) {
    for (int i = 0; i < NUM_VERBS; i++) {
        if (!str_equal(verbs[i].name, name)) continue;
        *out_verb = (Verb)i;
        return true;
    }
    return false;
}

Status usage_error(DiagSink *sink, DiagCode code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    StrBuf text = {0};
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    diag_report(sink, DIAG_ERROR, code, (DiagSpan){0}, "%s", text.data);
    strbuf_deinit(&text);
    return STATUS_USAGE;
}

static bool find_long(Verb verb, const char *name, size_t len, OptionId *out_id) {
    for (int i = 0; i < NUM_OPTIONS; i++) {
        if (!option_in_verb(&options[i], verb)) continue;
        if (strlen(options[i].name) != len || memcmp(options[i].name, name, len) != 0) continue;
        *out_id = (OptionId)i;
        return true;
    }
    return false;
}

static bool find_letter(Verb verb, char letter, OptionId *out_id) {
    for (int i = 0; i < NUM_OPTIONS; i++) {
        if (!option_in_verb(&options[i], verb) || options[i].letter != letter) continue;
        *out_id = (OptionId)i;
        return true;
    }
    return false;
}

// The verb's own names first; if none is near, an option of another verb, to say where it belongs.
static Status unknown_option(Verb verb, const char *given, size_t len, DiagSink *sink) {
    char name[64] = {0};
    memcpy(name, given, MIN(len, sizeof name - 1));
    Status status = usage_error(sink, DIAG_U0001, "unknown option --%.*s of `ingot %s`", (int)len,
                                given, verbs[verb].name);
    const char *names[NUM_OPTIONS];
    size_t num_names = 0;
    for (int i = 0; i < NUM_OPTIONS; i++)
        if (option_in_verb(&options[i], verb)) names[num_names++] = options[i].name;
    const char *nearest = str_nearest(name, names, num_names);
    if (nearest) {
        diag_write(sink, "--%s", nearest);
        return status;
    }
    for (int v = 0; v < NUM_VERBS; v++) {
        OptionId id;
        if (!find_long((Verb)v, name, strlen(name), &id)) continue;
        diag_evidence(sink, "--%s is an option of `ingot %s`", name, verbs[v].name);
        return status;
    }
    diag_evidence(sink, "`ingot %s --help` lists the options", verbs[verb].name);
    return status;
}

static Status bad_value(const OptionInfo *info, const char *name, const char *text,
                        DiagSink *sink) {
    Status status =
        usage_error(sink, DIAG_U0004, "%s cannot be %.60s", name, *text ? text : "empty");
    if (info->kind == OPTION_COUNT || info->kind == OPTION_MAYBE_COUNT)
        diag_evidence(sink, "a whole number from %.0f to %.0f is expected", info->min, info->max);
    else if (info->kind == OPTION_REAL_ABOVE)
        diag_evidence(sink, "a number above %g and at most %g is expected", info->min, info->max);
    else
        diag_evidence(sink, "a number from %g to %g is expected", info->min, info->max);
    return status;
}

// strtod would also take blanks, hexadecimal, inf and nan.
static bool is_decimal(const char *text, const char *letters) {
    return *text && text[strspn(text, letters)] == 0;
}

Status option_parse(const OptionInfo *info, const char *name, const char *text, DiagSink *sink,
                    OptionValue *out_value) {
    char *end = NULL;
    bool is_good = true;
    errno = 0;
    if (info->kind == OPTION_COUNT || info->kind == OPTION_MAYBE_COUNT) {
        uint64_t count = strtoull(text, &end, 10);
        is_good = is_decimal(text, "0123456789") && !errno && count <= INT64_MAX &&
                  (double)count >= info->min && (double)count <= info->max;
        if (is_good) out_value->count = count;
    } else if (info->kind == OPTION_REAL || info->kind == OPTION_REAL_ABOVE) {
        double real = strtod(text, &end);
        is_good = is_decimal(text, "0123456789.+-eE") && *end == 0 && !errno && isfinite(real) &&
                  real >= info->min && real <= info->max &&
                  (info->kind == OPTION_REAL || real > info->min);
        if (is_good) out_value->real = real;
    }
    return is_good ? STATUS_OK : bad_value(info, name, text, sink);
}

static Status parse_value(const OptionInfo *info, OptionValue *value, DiagSink *sink) {
    StrBuf name = {0};
    strbuf_printf(&name, "--%s", info->name);
    Status status = option_parse(info, name.data, value->text, sink, value);
    strbuf_deinit(&name);
    return status;
}

static Status set_option(OptionId id, const char *text, DiagSink *sink, Args *args) {
    OptionValue *value = &args->options[id];
    if (value->is_set && text && options[id].kind != OPTION_TEXTS)
        return usage_error(sink, DIAG_U0005, "--%s is given twice", options[id].name);
    value->is_set = true;
    value->text = text;
    if (!text && options[id].kind == OPTION_MAYBE_COUNT) value->count = (uint64_t)options[id].min;
    ARRAY_RESERVE(value->all, value->num_all, value->capacity);
    value->all[value->num_all++] = text;
    return text ? parse_value(&options[id], value, sink) : STATUS_OK;
}

// Takes the option at argv[i]; *inout_i moves to the last word used.
static Status take_option(Verb verb, int argc, char *const *argv, int *inout_i, DiagSink *sink,
                          Args *args) {
    const char *word = argv[*inout_i];
    bool is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : word + 1;
    size_t len = is_long ? strcspn(name, "=") : 1;
    OptionId id;
    bool found = is_long ? find_long(verb, name, len, &id) : find_letter(verb, *name, &id);
    if (!found && is_long) return unknown_option(verb, name, len, sink);
    if (!found) {
        Status status = usage_error(sink, DIAG_U0001, "unknown option %s of `ingot %s`", word,
                                    verbs[verb].name);
        diag_evidence(sink, "`ingot %s --help` lists the options", verbs[verb].name);
        return status;
    }
    const OptionInfo *info = &options[id];
    const char *attached = NULL;
    if (is_long && name[len] == '=') attached = name + len + 1;
    if (!is_long && name[1]) attached = name[1] == '=' ? name + 2 : name + 1;
    if (info->kind == OPTION_FLAG) {
        if (attached) return usage_error(sink, DIAG_U0004, "--%s takes no value", info->name);
        return set_option(id, NULL, sink, args);
    }
    if (!attached && info->kind != OPTION_MAYBE_TEXT && info->kind != OPTION_MAYBE_COUNT) {
        if (*inout_i + 1 >= argc)
            return usage_error(sink, DIAG_U0004, "--%s needs a value: --%s %s", info->name,
                               info->name, info->metavar);
        attached = argv[++*inout_i];
    }
    return set_option(id, attached, sink, args);
}

Status args_parse(Verb verb, int argc, char *const *argv, DiagSink *sink, Args *out_args) {
    *out_args = (Args){.verb = verb};
    bool only_positional = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_positional && str_equal(word, "--")) {
            only_positional = true;
        } else if (!only_positional && word[0] == '-' && word[1]) {
            TRY(take_option(verb, argc, argv, &i, sink, out_args));
        } else {
            ARRAY_RESERVE(out_args->positional, out_args->num_positional, out_args->capacity);
            out_args->positional[out_args->num_positional++] = word;
        }
    }
    return STATUS_OK;
}

typedef struct OptionRule {
    uint32_t verbs;
    OptionId option, other;
    bool is_needed; // the other must be given too; else it must not be
} OptionRule;

Status args_check_rules(const Args *args, DiagSink *sink) {
    static const OptionRule rules[] = {
#define EXCLUDES(verbs, option, other) {verbs, OPT_##option, OPT_##other, false},
#define NEEDS(verbs, option, other)    {verbs, OPT_##option, OPT_##other, true},
#include "cli/options.def"
    };
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        const OptionRule *rule = &rules[i];
        if (!(rule->verbs >> args->verb & 1) || !args_has(args, rule->option) ||
            args_has(args, rule->other) == rule->is_needed)
            continue;
        const char *name = options[rule->option].name, *other = options[rule->other].name;
        if (rule->is_needed)
            return usage_error(sink, DIAG_U0005, "--%s means nothing without --%s", name, other);
        return usage_error(sink, DIAG_U0005, "--%s and --%s exclude each other", name, other);
    }
    return STATUS_OK;
}

void args_deinit(Args *args) {
    for (int i = 0; i < NUM_OPTIONS; i++) free(args->options[i].all);
    free(args->positional);
    *args = (Args){0};
}
