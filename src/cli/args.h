// The command line as the table in options.def describes it: parsed, checked, typed.
#ifndef INGOT_CLI_ARGS_H
#define INGOT_CLI_ARGS_H

#include "base/diag.h"

typedef enum Verb {
#define VERB(id, name, needs_compiler, arguments, purpose, examples) VERB_##id,
#include "cli/options.def"
    NUM_VERBS
} Verb;

typedef struct VerbInfo {
    const char *name;
    bool needs_compiler;
    const char *arguments, *purpose, *examples;
} VerbInfo;

typedef enum OptionId {
#define OPTION(id, verbs, name, letter, kind, metavar, min, max, group, help) OPT_##id,
#include "cli/options.def"
    NUM_OPTIONS
} OptionId;

typedef enum OptionKind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_TEXTS, // the one kind of value that may be given several times
    OPTION_COUNT,
    OPTION_REAL,
    OPTION_REAL_ABOVE,  // min itself is excluded
    OPTION_MAYBE_TEXT,  // a value only as --name=VALUE
    OPTION_MAYBE_COUNT, // the same; without one: min
} OptionKind;

typedef struct OptionInfo {
    uint32_t verbs; // bit 1 << Verb
    const char *name;
    char letter; // 0: none
    OptionKind kind;
    const char *metavar;
    double min, max;
    const char *group, *help;
} OptionInfo;

const VerbInfo *verb_info(Verb verb);
bool verb_find(const char *name, Verb *out_verb);
const OptionInfo *option_info(OptionId id);
static inline bool option_in_verb(const OptionInfo *info, Verb verb) {
    return info->verbs >> verb & 1;
}

// One option as given: the last value, and all of them in order for those that may be repeated.
typedef struct OptionValue {
    bool is_set;
    const char *text; // NULL for a flag
    uint64_t count;   // OPTION_COUNT
    double real;      // OPTION_REAL, OPTION_REAL_ABOVE
    const char **all;
    size_t num_all, capacity;
} OptionValue;

typedef struct Args {
    Verb verb;
    OptionValue options[NUM_OPTIONS];
    const char **positional;
    size_t num_positional, capacity;
} Args;

// Parses what follows the verb (argv[0] is the first argument after it). Unknown options and bad
// values: U0001, U0004, STATUS_USAGE. Strings are borrowed from argv.
Status args_parse(Verb verb, int argc, char *const *argv, DiagSink *sink, Args *out_args) MUST_USE;
void args_deinit(Args *args);

static inline bool args_has(const Args *args, OptionId id) {
    return args->options[id].is_set;
}
static inline const char *args_text(const Args *args, OptionId id, const char *otherwise) {
    return args->options[id].is_set ? args->options[id].text : otherwise;
}
static inline uint64_t args_count(const Args *args, OptionId id, uint64_t otherwise) {
    return args->options[id].is_set ? args->options[id].count : otherwise;
}
static inline double args_real(const Args *args, OptionId id, double otherwise) {
    return args->options[id].is_set ? args->options[id].real : otherwise;
}

// Is text a value of the option? A number is decimal digits with nothing around them, finite and in
// range; *out_value gets it. name: what the message calls the option.
Status option_parse(const OptionInfo *info, const char *name, const char *text, DiagSink *sink,
                    OptionValue *out_value) MUST_USE;

// Holds the options given to the rules of options.def: which exclude each other, which need another
// one. U0005, STATUS_USAGE.
Status args_check_rules(const Args *args, DiagSink *sink) MUST_USE;

// Reports a usage fault and returns STATUS_USAGE.
Status usage_error(DiagSink *sink, DiagCode code, const char *fmt, ...) PRINTF_LIKE(3, 4) MUST_USE;

#endif
