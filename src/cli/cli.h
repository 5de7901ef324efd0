// What the verbs share: the parsed command line, the diagnostics, and the two streams. stdout
// carries the answer or the document asked for and nothing else; everything else goes to stderr.
#ifndef INGOT_CLI_CLI_H
#define INGOT_CLI_CLI_H

#include "abi/cpu.h"
#include "cli/args.h"
#include "cli/json_writer.h"

typedef struct Cli {
    Args args;
    DiagSink sink;
    bool is_json;
    bool is_quiet;
    char **argv; // of the process
} Cli;

// One function per verb, in cli_<verb>.c. What they return is the exit code; diagnostics in the
// sink are printed by main.
#define VERB(id, name, needs_compiler, arguments, purpose, examples)                               \
    Status verb_##id(Cli *cli) MUST_USE;
#include "cli/options.def"

// ---- stdout (output.c). A closed pipe ends the program quietly; a full disk is U0003 at
// output_end.
void output_write(const char *bytes, size_t len_bytes);
void output_puts(const char *text);
void output_flush(void);
bool output_has_failed(void); // work for nobody can stop
Status output_end(DiagSink *sink) MUST_USE;

// ---- the terminal (terminal.c)
void terminal_init(const Args *args); // colour and progress by flag, environment, terminal
bool terminal_color_stderr(void);
bool terminal_color_stdout(void);
uint32_t terminal_width(void);
// A phase of work. On a terminal a line that is redrawn at most ten times a second, and only if the
// phase lasts over half a second; else one line per finished phase. total 0: unknown.
void progress_begin(const char *phase);
void progress_update(uint64_t done, uint64_t total, const char *unit);
void progress_end(void);
// Takes the progress line off the screen; async-signal-safe.
void progress_clear(void);

// ---- help (help.c)
void help_overview(void);
void help_verb(Verb verb);
Status help_search(const char *word);
void help_json(void);

// ---- small things several verbs need (main.c)
// The number of positional arguments must lie in [min, max], else STATUS_USAGE.
Status check_positional(Cli *cli, size_t min, size_t max, const char *what) MUST_USE;
// --threads, else INGOT_THREADS, else what affinity and cgroup allow.
Status get_threads(Cli *cli, uint32_t *out_threads) MUST_USE;
// What this program is: a JSON object for manifests.
const char *build_json(void);
// Replaces this process by the program that has the compiler linked in. Returns only on failure:
// U0007, STATUS_ENVIRONMENT.
Status hand_over(Cli *cli, DiagSink *sink) MUST_USE;
enum { TEMP_FOLDER_CHARS = 256 };
// Makes a folder ingot-NAME-XXXXXX in $TMPDIR (/tmp). Failure: U0003, out_path empty.
Status make_temp_folder(Cli *cli, const char *name, char out_path[TEMP_FOLDER_CHARS]) MUST_USE;
// Puts a finished JSON document on stdout.
void put_document(StrBuf *text);
// Bytes with groups of three digits: "4 081 004 544".
const char *grouped(uint64_t value, char out[32]);
uint64_t peak_rss_bytes(void); // VmHWM of this process
uint64_t clock_ns(void);       // monotonic

#endif
