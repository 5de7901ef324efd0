// Help pages from the option table; see cli.h.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_GROUPS = 16 };

// Column of the explanations; a narrow terminal has them on the line below.
static size_t help_indent(void) {
    return terminal_width() < 60 ? 10 : 28;
}

// Appends text from column `column` on, broken between words to fit the terminal.
static void put_wrapped(StrBuf *out, const char *text, size_t indent, size_t column) {
    size_t width = terminal_width();
    bool is_first = true;
    while (*text) {
        size_t len = strcspn(text, " ");
        if (!is_first && column + 1 + len > width) {
            strbuf_putc(out, '\n');
            for (column = 0; column < indent; column++) strbuf_putc(out, ' ');
        } else if (!is_first) {
            strbuf_putc(out, ' ');
            column++;
        }
        strbuf_append(out, text, len);
        column += len;
        text += len;
        text += strspn(text, " ");
        is_first = false;
    }
    strbuf_putc(out, '\n');
}

static void put_heading(StrBuf *out, const char *text) {
    strbuf_printf(out, terminal_color_stdout() ? "\n\x1b[1m%s\x1b[0m\n" : "\n%s\n", text);
}

static void put_examples(StrBuf *out, const char *examples, size_t max) {
    for (size_t i = 0; *examples && i < max; i++) {
        size_t len = strcspn(examples, "\n");
        strbuf_printf(out, "  %.*s\n", (int)len, examples);
        examples += len + (examples[len] == '\n');
    }
}

// A name and its explanation beside it, or below where the name is long or the terminal narrow.
static void put_entry(StrBuf *out, const char *name, const char *help) {
    size_t indent = help_indent(), column = strlen(name);
    strbuf_puts(out, name);
    if (column + 2 > indent) {
        strbuf_putc(out, '\n');
        column = 0;
    }
    for (; column < indent; column++) strbuf_putc(out, ' ');
    put_wrapped(out, help, indent, indent);
}

static void put_option(StrBuf *out, const OptionInfo *info) {
    StrBuf name = {0};
    if (info->letter)
        strbuf_printf(&name, "  -%c, ", info->letter);
    else
        strbuf_puts(&name, "      ");
    strbuf_printf(&name, "--%s", info->name);
    if (info->kind == OPTION_MAYBE_TEXT || info->kind == OPTION_MAYBE_COUNT)
        strbuf_printf(&name, "[=%s]", info->metavar);
    else if (info->kind != OPTION_FLAG)
        strbuf_printf(&name, " %s", info->metavar);
    put_entry(out, name.data, info->help);
    strbuf_deinit(&name);
}

static void finish(StrBuf *out) {
    output_write(out->data, out->len);
    strbuf_deinit(out);
}

void help_overview(void) {
    StrBuf out = {0};
    strbuf_puts(&out,
                "ingot compiles a recipe and a model file into one artifact and answers prompts "
                "with it.\n");
    put_heading(&out, "Verbs");
    for (int v = 0; v < NUM_VERBS; v++) {
        strbuf_printf(&out, "  %-10s", verb_info((Verb)v)->name);
        put_wrapped(&out, verb_info((Verb)v)->purpose, 12, 12);
    }
    put_heading(&out, "Examples");
    put_examples(&out, verb_info(VERB_COMPILE)->examples, 1);
    put_examples(&out, verb_info(VERB_RUN)->examples, 1);
    strbuf_puts(&out, "\n`ingot VERB --help` explains a verb, `ingot --help=WORD` searches all of "
                      "them.\n");
    finish(&out);
}

static void put_exit_codes(StrBuf *out) {
    put_heading(out, "Exit codes");
    strbuf_puts(out,
                "  0 done, or yes     1 the check's answer is no   2 wrong usage\n"
                "  3 input refused    4 does not fit               5 machine lacks something\n"
                "  6 reading or writing failed   70 a fault of ingot   128+n ended by signal n\n");
}

static void put_environment(StrBuf *out) {
    static const struct {
        const char *name;
        bool is_for_tests;
        const char *help;
    } variables[] = {
#define ENVIRONMENT(name, for_tests, help) {name, for_tests, help},
#include "cli/options.def"
    };
    put_heading(out, "Environment");
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        if (variables[i].is_for_tests) continue;
        StrBuf name = {0};
        strbuf_printf(&name, "  %s", variables[i].name);
        put_entry(out, name.data, variables[i].help);
        strbuf_deinit(&name);
    }
}

void help_verb(Verb verb) {
    const VerbInfo *info = verb_info(verb);
    StrBuf out = {0};
    strbuf_printf(&out, "ingot %s - ", info->name);
    put_wrapped(&out, info->purpose, 2, strlen(info->name) + 9);
    strbuf_printf(&out, "\nusage: ingot %s %s [options]\n", info->name, info->arguments);
    put_heading(&out, "Examples");
    put_examples(&out, info->examples, SIZE_MAX);
    const char *groups[MAX_GROUPS] = {"Most used"};
    size_t num_groups = 1;
    for (int i = 0; i < NUM_OPTIONS; i++) {
        const OptionInfo *option = option_info((OptionId)i);
        if (!option_in_verb(option, verb)) continue;
        size_t g = 0;
        while (g < num_groups && !str_equal(groups[g], option->group)) g++;
        if (g == num_groups && num_groups < MAX_GROUPS) groups[num_groups++] = option->group;
    }
    for (size_t g = 0; g < num_groups; g++) {
        bool has_heading = false;
        for (int i = 0; i < NUM_OPTIONS; i++) {
            const OptionInfo *option = option_info((OptionId)i);
            if (!option_in_verb(option, verb) || !str_equal(option->group, groups[g])) continue;
            if (!has_heading) put_heading(&out, groups[g]);
            has_heading = true;
            put_option(&out, option);
        }
    }
    put_exit_codes(&out);
    put_environment(&out);
    finish(&out);
}

static bool contains(const char *text, const char *word) {
    size_t len = strlen(word);
    for (; strlen(text) >= len; text++)
        if (strncasecmp(text, word, len) == 0) return true;
    return false;
}

Status help_search(const char *word) {
    StrBuf out = {0};
    for (int v = 0; v < NUM_VERBS; v++) {
        const VerbInfo *info = verb_info((Verb)v);
        bool has_heading = contains(info->name, word) || contains(info->purpose, word);
        if (has_heading) strbuf_printf(&out, "ingot %s - %s\n", info->name, info->purpose);
        for (int i = 0; i < NUM_OPTIONS; i++) {
            const OptionInfo *option = option_info((OptionId)i);
            if (!option_in_verb(option, (Verb)v)) continue;
            if (!contains(option->name, word) && !contains(option->help, word)) continue;
            if (!has_heading) strbuf_printf(&out, "ingot %s\n", info->name);
            has_heading = true;
            put_option(&out, option);
        }
    }
    bool found = out.len > 0;
    if (!found) strbuf_printf(&out, "nothing in the help holds the word %s\n", word);
    finish(&out);
    return found ? STATUS_OK : STATUS_NO;
}

static void put_option_json(JsonWriter *json, const OptionInfo *option) {
    static const char *const kinds[] = {
        [OPTION_FLAG] = "flag",
        [OPTION_TEXT] = "text",
        [OPTION_TEXTS] = "texts",
        [OPTION_COUNT] = "count",
        [OPTION_REAL] = "real",
        [OPTION_REAL_ABOVE] = "real above",
        [OPTION_MAYBE_TEXT] = "optional text",
        [OPTION_MAYBE_COUNT] = "optional count",
    };
    char letter[2] = {option->letter, 0};
    json_begin_object(json, NULL);
    json_put_string(json, "name", option->name);
    json_put_string(json, "letter", letter);
    json_put_string(json, "kind", kinds[option->kind]);
    json_put_string(json, "metavar", option->metavar);
    if (option->max > 0) {
        json_put_real(json, "min", option->min);
        json_put_real(json, "max", option->max);
    }
    json_put_string(json, "group", option->group);
    json_put_string(json, "help", option->help);
    json_end_object(json);
}

void help_json(void) {
    StrBuf out = {0};
    JsonWriter json = {.out = &out};
    json_begin_document(&json, "ingot-help");
    json_begin_array(&json, "verbs");
    for (int v = 0; v < NUM_VERBS; v++) {
        const VerbInfo *info = verb_info((Verb)v);
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", info->name);
        json_put_string(&json, "arguments", info->arguments);
        json_put_string(&json, "purpose", info->purpose);
        json_begin_array(&json, "options");
        for (int i = 0; i < NUM_OPTIONS; i++)
            if (option_in_verb(option_info((OptionId)i), (Verb)v))
                put_option_json(&json, option_info((OptionId)i));
        json_end_array(&json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    finish(&out);
}
