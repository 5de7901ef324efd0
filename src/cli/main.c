// Entry of `ingot` and `ingot-compiler`: finds the verb, parses its options, runs it, prints the
// diagnostics, and turns the status into the exit code.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAS_ADDRESS_SANITIZER
#endif

enum {
    EXIT_BUG = 70,
    EXIT_SIGNAL = 128, // plus the signal's number
};

// ---------------------------------------------------------------- signals

// Everything here is async-signal-safe. The answer on stdout is written token by token, so nothing
// of it is lost.
static void on_signal(int number) {
    file_writer_cleanup();
    progress_clear();
    _exit(EXIT_SIGNAL + number);
}

static void on_fault(int number) {
    static const char text[] =
        "ingot: stopped by a fault of its own. Please report the command line and the output of "
        "`ingot --version --json`.\n";
    static const char cut[] =
        "ingot: a mapped file was cut or its disk failed while it was in use\n";
    file_writer_cleanup();
    progress_clear();
    bool is_mapping = number == SIGBUS;
    ssize_t ignored = 0;
    if (is_mapping)
        ignored = write(STDERR_FILENO, cut, sizeof cut - 1);
    else if (number != SIGABRT)
        ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(is_mapping ? STATUS_IO : EXIT_BUG);
}

static void install_handlers(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        sigaction(ends[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    signal(SIGXFSZ, SIG_IGN); // a file size limit is a failed write
    sigaction(SIGABRT, &(struct sigaction){.sa_handler = on_fault}, NULL);
#ifndef HAS_ADDRESS_SANITIZER // its own report is worth more
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        sigaction(faults[i], &(struct sigaction){.sa_handler = on_fault}, NULL);
#endif
}

// A closed standard stream would give its number to the next file opened.
static void open_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
            exit(STATUS_IO);
}

// ---------------------------------------------------------------- shared by the verbs

Status check_positional(Cli *cli, size_t min, size_t max, const char *what) {
    size_t given = cli->args.num_positional;
    const VerbInfo *info = verb_info(cli->args.verb);
    if (given >= min && given <= max) return STATUS_OK;
    Status status;
    if (given < min)
        status = usage_error(&cli->sink, DIAG_U0005, "`ingot %s` needs %s", info->name, what);
    else
        status = usage_error(&cli->sink, DIAG_U0005, "`ingot %s` cannot use the argument %s",
                             info->name, cli->args.positional[max]);
    diag_write(&cli->sink, "ingot %s %s", info->name, info->arguments);
    return status;
}

Status get_threads(Cli *cli, uint32_t *out_threads) {
    const char *variable = getenv("INGOT_THREADS");
    *out_threads = cpu_usable_threads();
    if (args_has(&cli->args, OPT_THREADS)) {
        *out_threads = (uint32_t)args_count(&cli->args, OPT_THREADS, 1);
    } else if (variable && *variable) {
        OptionValue value;
        TRY(option_parse(option_info(OPT_THREADS), "INGOT_THREADS", variable, &cli->sink, &value));
        *out_threads = (uint32_t)value.count;
    }
    return STATUS_OK;
}

Status make_temp_folder(Cli *cli, const char *name, char out_path[TEMP_FOLDER_CHARS]) {
    const char *base = getenv("TMPDIR");
    int len = snprintf(out_path, TEMP_FOLDER_CHARS, "%s/ingot-%s-XXXXXX",
                       base && *base ? base : "/tmp", name);
    if (len < TEMP_FOLDER_CHARS && mkdtemp(out_path)) return STATUS_OK;
    diag_report(&cli->sink, DIAG_ERROR, DIAG_U0003,
                (DiagSpan){.file = arena_strdup(&cli->sink.arena, out_path)},
                "cannot make a folder for `ingot %s`: %s", name, strerror(errno));
    out_path[0] = 0;
    return STATUS_IO;
}

// Documents quote what files say: names, paths, text.
void put_document(StrBuf *text) {
    strbuf_escape_controls(text, 0);
    output_write(text->data, text->len);
    strbuf_deinit(text);
}

const char *grouped(uint64_t value, char out[32]) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, value), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) out[at++] = ' ';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

uint64_t peak_rss_bytes(void) {
    FILE *file = fopen("/proc/self/status", "re");
    if (!file) return 0;
    char line[256];
    uint64_t kib = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1) break;
    fclose(file);
    return kib * 1024;
}

uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---------------------------------------------------------------- dispatch

typedef Status (*VerbFn)(Cli *cli);

#ifdef INGOT_HAS_COMPILER
#define COMPILER_VERB_true(id) verb_##id
#else
#define COMPILER_VERB_true(id) NULL
#endif
#define COMPILER_VERB_false(id) verb_##id
static const VerbFn functions[NUM_VERBS] = {
#define VERB(id, name, needs_compiler, arguments, purpose, examples)                               \
    COMPILER_VERB_##needs_compiler(id),
#include "cli/options.def"
};

extern char **environ;

// A misspelt variable would be ignored in silence: say so.
static void check_environment(DiagSink *sink) {
    static const char *const known[] = {
#define ENVIRONMENT(name, for_tests, help) name,
#include "cli/options.def"
    };
    for (char **entry = environ; *entry; entry++) {
        if (!str_has_prefix(*entry, "INGOT_")) continue;
        char name[80] = {0};
        memcpy(name, *entry, MIN(strcspn(*entry, "="), sizeof name - 1));
        bool is_known = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++) is_known |= str_equal(known[i], name);
        if (is_known) continue;
        diag_report(sink, DIAG_WARNING, DIAG_U0006, (DiagSpan){0},
                    "the environment variable %s means nothing to ingot", name);
        const char *nearest = str_nearest(name, known, ARRAY_LEN(known));
        if (nearest) diag_write(sink, "%s", nearest);
    }
}

Status hand_over(Cli *cli, DiagSink *sink) {
    static const char *const places[] = {"ingot-compiler", "../libexec/ingot/ingot-compiler"};
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len > 0) {
        self[len] = 0;
        char *slash = strrchr(self, '/');
        for (size_t i = 0; slash && i < ARRAY_LEN(places); i++) {
            StrBuf path = {0};
            strbuf_printf(&path, "%.*s/%s", (int)(slash - self), self, places[i]);
            execv(path.data, cli->argv);
            strbuf_deinit(&path);
        }
    }
    diag_report(sink, DIAG_ERROR, DIAG_U0007, (DiagSpan){0},
                "the compiler program ingot-compiler cannot be started: %s", strerror(errno));
    return STATUS_ENVIRONMENT;
}

// Colours the word error or warning of each first line; the text itself stays the same.
static void put_diagnostics(const Cli *cli) {
    StrBuf text = {0};
    if (cli->is_json)
        diag_render_json(&cli->sink, &text);
    else
        diag_render(&cli->sink, &text);
    const char *at = text.data ? text.data : "";
    while (*at) {
        size_t len = strcspn(at, "\n");
        const char *mark = NULL;
        bool is_error = false;
        if (terminal_color_stderr() && !cli->is_json && *at != ' ') {
            const char *error = strstr(at, " error["), *warning = strstr(at, " warning[");
            is_error = error && error < at + len;
            mark = is_error ? error : warning && warning < at + len ? warning : NULL;
        }
        const char *close = mark ? strchr(mark, ']') : NULL;
        if (close && close < at + len)
            fprintf(stderr, "%.*s\x1b[1;%dm%.*s\x1b[0m%.*s\n", (int)(mark - at), at,
                    is_error ? 31 : 35, (int)(close + 1 - mark), mark, (int)(at + len - close - 1),
                    close + 1);
        else
            fprintf(stderr, "%.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    strbuf_deinit(&text);
}

// Of an option and of the variable that stands in for it; an empty variable counts as not set.
static Status check_choice(Cli *cli, OptionId id, const char *variable, const char *const *choices,
                           size_t num_choices) {
    const char *given = args_text(&cli->args, id, NULL), *dashes = given ? "--" : "";
    const OptionInfo *info = option_info(id);
    const char *name = given ? info->name : variable;
    if (!given) given = getenv(variable);
    if (!given || (!*given && !*dashes)) return STATUS_OK;
    for (size_t i = 0; i < num_choices; i++)
        if (str_equal(choices[i], given)) return STATUS_OK;
    Status status = usage_error(&cli->sink, DIAG_U0004, "%s%s cannot be %.60s", dashes, name,
                                *given ? given : "empty");
    diag_evidence(&cli->sink, "--%s is %s", info->name, info->help);
    const char *nearest = str_nearest(given, choices, num_choices);
    if (nearest) diag_write(&cli->sink, "%s%s=%s", dashes, name, nearest);
    return status;
}

static Status run_verb(Cli *cli) {
    static const char *const when[] = {"auto", "always", "never"};
    static const char *const how[] = {"auto", "none", "json"};
    const Args *args = &cli->args;
    if (args_has(args, OPT_HELP)) {
        const char *word = args_text(args, OPT_HELP, NULL);
        if (cli->is_json)
            help_json();
        else if (word)
            return help_search(word);
        else
            help_verb(args->verb);
        return STATUS_OK;
    }
    if (args_has(args, OPT_PRINT_VERSION)) return verb_VERSION(cli);
    TRY(check_choice(cli, OPT_COLOR, "INGOT_COLOR", when, ARRAY_LEN(when)));
    TRY(check_choice(cli, OPT_PROGRESS, "INGOT_PROGRESS", how, ARRAY_LEN(how)));
    TRY(args_check_rules(args, &cli->sink));
    check_environment(&cli->sink);
    if (!functions[args->verb]) return hand_over(cli, &cli->sink);
    return functions[args->verb](cli);
}

static Status unknown_verb(Cli *cli, const char *word) {
    const char *names[NUM_VERBS];
    for (int v = 0; v < NUM_VERBS; v++) names[v] = verb_info((Verb)v)->name;
    Status status = usage_error(&cli->sink, DIAG_U0001, "unknown verb %s", word);
    const char *nearest = str_nearest(word, names, NUM_VERBS);
    if (nearest)
        diag_write(&cli->sink, "ingot %s", nearest);
    else
        diag_evidence(&cli->sink, "`ingot` alone lists the verbs");
    return status;
}

// `ingot`, `ingot --help`, `ingot --version --json`, `ingot VERB ...`
static Status dispatch(Cli *cli, int argc, char **argv) {
    Verb verb = VERB_VERSION; // its options are the ones every verb has
    bool has_verb = argc > 1 && argv[1][0] != '-';
    if (has_verb && str_equal(argv[1], "help"))
        has_verb = argc > 2;
    else if (has_verb && !verb_find(argv[1], &verb))
        return unknown_verb(cli, argv[1]);
    if (argc == 1 || (argc == 2 && str_equal(argv[1], "help"))) {
        help_overview();
        return STATUS_OK;
    }
    if (str_equal(argv[1], "help")) {
        if (!verb_find(argv[2], &verb)) return unknown_verb(cli, argv[2]);
        help_verb(verb);
        return STATUS_OK;
    }
    int first = has_verb ? 2 : 1;
    Status status = args_parse(verb, argc - first, argv + first, &cli->sink, &cli->args);
    cli->is_json = args_has(&cli->args, OPT_JSON);
    cli->is_quiet = args_has(&cli->args, OPT_QUIET);
    terminal_init(&cli->args);
    if (status != STATUS_OK) return status;
    bool is_overview = !has_verb && args_has(&cli->args, OPT_HELP) &&
                       !args_text(&cli->args, OPT_HELP, NULL) && !cli->is_json;
    if (is_overview) {
        help_overview();
        return STATUS_OK;
    }
    return run_verb(cli);
}

int main(int argc, char **argv) {
    open_standard_streams();
    install_handlers();
    Cli cli = {.argv = argv};
    diag_sink_init(&cli.sink);
    terminal_init(&cli.args);
    Status status = dispatch(&cli, argc, argv);
    progress_clear();
    Status output_status = output_end(&cli.sink);
    if (status == STATUS_OK) status = output_status;
    if (cli.sink.num_diags) put_diagnostics(&cli);
    args_deinit(&cli.args);
    diag_sink_deinit(&cli.sink);
    return (int)status;
}
