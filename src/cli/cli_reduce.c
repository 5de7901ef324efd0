// `ingot reduce`: shrinks a module that makes a pipeline or a command fail (passes/reduce.h). Each
// candidate is tried in a process of its own, so that what aborts can be shrunk too.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/compiler_verbs.h"
#include "compiler/validate_native.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/reduce.h"

enum { MAX_TESTS = 20000, DEFAULT_SECONDS = 60, MAX_SIGNATURE = 160 };
#define MAX_IR_BYTES ((uint64_t)1 << 32)

typedef struct Reduction {
    Cli *cli;
    PassPipeline pipeline;
    const char *command; // NULL: the pipeline
    const char *folder;  // where the command's file lies
    uint32_t seconds;    // a test that takes longer is over
    char wanted[MAX_SIGNATURE];
    bool has_failed; // the machinery, not a candidate
} Reduction;

// ---------------------------------------------------------------- what a candidate does

// In the child: how the pipeline ends, as text: "", or the code and the first words of the first
// diagnostic, which name the pass.
static void run_pipeline_in_child(Reduction *r, const IrModule *m, int out) {
    IrModule *copy = ir_module_clone(m);
    DiagSink sink;
    diag_sink_init(&sink);
    ValidateOptions options;
    NativeCode native = {.num_threads = 1};
    PassPipeline pipeline = r->pipeline;
    if (get_validation(r->cli, &options)) {
        options.dump_dir = NULL;
        options.native = native_call;
        options.native_ctx = &native;
        pipeline.hook_ctx = validate_create(&options);
        pipeline.hook = validate_hook;
    }
    char text[MAX_SIGNATURE] = {0};
    if (pass_pipeline_run(copy, &pipeline, &sink) != STATUS_OK && sink.num_diags) {
        const Diag *diag = &sink.diags[0];
        int words = 0; // "pass NAME changes" and the like; names of functions and values may go
        size_t len = 0;
        while (diag->message[len] && (diag->message[len] != ' ' || ++words < 3)) len++;
        snprintf(text, sizeof text, "%s %.*s", diag_info(diag->code)->code, (int)MIN(len, 100u),
                 diag->message);
    }
    if (write(out, text, strlen(text) + 1) < 0) _exit(STATUS_IO);
    _exit(0); // what is open belongs to the parent
}

static bool write_candidate(Reduction *r, const IrModule *m, const char *path) {
    StrBuf text = {0};
    ir_print(m, NULL, &text);
    FILE *file = fopen(path, "w");
    bool is_good = file && fwrite(text.data, 1, text.len, file) == text.len;
    if (file && fclose(file) != 0) is_good = false;
    if (!is_good)
        diag_report(&r->cli->sink, DIAG_ERROR, DIAG_U0003, (DiagSpan){.file = path},
                    "cannot write a candidate: %s", strerror(errno));
    strbuf_deinit(&text);
    return is_good;
}

static void run_command_in_child(const Reduction *r, const char *path) {
    int quiet = open("/dev/null", O_RDWR);
    if (quiet < 0) _exit(127);
    dup2(quiet, STDOUT_FILENO);
    dup2(quiet, STDERR_FILENO);
    StrBuf line = {0};
    strbuf_printf(&line, "%s '%s'", r->command, path);
    execl("/bin/sh", "sh", "-c", line.data, (char *)NULL);
    _exit(127);
}

// How the candidate ends; false: it could not be tried.
static bool signature(Reduction *r, const IrModule *m, char out[MAX_SIGNATURE]) {
    char path[512];
    int ends[2];
    snprintf(path, sizeof path, "%s/candidate.mlir", r->folder ? r->folder : ".");
    if (r->command && !write_candidate(r, m, path)) return false;
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(r->seconds);
        close(ends[0]);
        if (!r->command) {
            int quiet = open("/dev/null", O_RDWR);
            if (quiet >= 0) dup2(quiet, STDERR_FILENO); // what a fault of ours prints
            run_pipeline_in_child(r, m, ends[1]);
        }
        run_command_in_child(r, path);
    }
    close(ends[1]);
    memset(out, 0, MAX_SIGNATURE);
    ssize_t len = child < 0 ? -1 : read(ends[0], out, MAX_SIGNATURE - 1);
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (len > 0 && out[0]) return true;
    if (WIFSIGNALED(status))
        snprintf(out, MAX_SIGNATURE, "signal %d", WTERMSIG(status));
    else
        snprintf(out, MAX_SIGNATURE, "exit %d", WEXITSTATUS(status));
    return true;
}

static bool still_fails(const IrModule *m, void *ctx) {
    Reduction *r = ctx;
    char now[MAX_SIGNATURE];
    if (r->has_failed) return false;
    if (!signature(r, m, now)) {
        r->has_failed = true;
        return false;
    }
    return str_equal(now, r->wanted);
}

static void on_kept(const IrModule *m, uint32_t num_tried, uint32_t num_kept, void *ctx) {
    (void)m;
    (void)ctx;
    progress_update(num_kept, num_tried, "edits");
}

// ---------------------------------------------------------------- the verb

static void remove_folder(const char *path) {
    char file[TEMP_FOLDER_CHARS + 32];
    snprintf(file, sizeof file, "%s/candidate.mlir", path);
    unlink(file);
    rmdir(path);
}

// A pipeline whose order breaks a declaration is refused as `ingot opt` refuses it: less of the
// module would not change that.
static Status refuse_order(const Reduction *r, const IrModule *m) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%s ", diag_info(DIAG_P0001)->code);
    if (r->command || !str_has_prefix(r->wanted, prefix)) return STATUS_OK;
    IrModule *copy = ir_module_clone(m);
    Status status = pass_pipeline_run(copy, &r->pipeline, &r->cli->sink);
    ir_module_destroy(copy);
    return status;
}

static Status reduce(Reduction *r, const IrModule *m, StrBuf *out) {
    if (!signature(r, m, r->wanted)) return STATUS_IO;
    TRY(refuse_order(r, m));
    if (!r->command && str_equal(r->wanted, "exit 0")) {
        diag_report(&r->cli->sink, DIAG_ERROR, DIAG_P0051, (DiagSpan){0},
                    "the pipeline does not fail on this module: there is nothing to reduce");
        return STATUS_NO;
    }
    progress_begin("reduce");
    ReduceReport report;
    IrModule *small = reduce_module(m, still_fails, on_kept, r, MAX_TESTS, &report);
    progress_end();
    if (!r->cli->is_quiet)
        fprintf(stderr, "reduce: %s: %u ops became %u, %u of %u edits kept\n", r->wanted,
                report.ops_before, report.ops_after, report.num_kept, report.num_tried);
    ir_print(small, NULL, out);
    ir_module_destroy(small);
    return r->has_failed ? STATUS_IO : STATUS_OK;
}

Status verb_REDUCE(Cli *cli) {
    const Args *args = &cli->args;
    TRY(check_positional(cli, 1, 1, "a module"));
    Reduction r = {.cli = cli,
                   .command = args_text(args, OPT_TEST, NULL),
                   .seconds = (uint32_t)args_count(args, OPT_TEST_SECONDS, DEFAULT_SECONDS)};
    if (!r.command == !args_has(args, OPT_PIPELINE))
        return usage_error(&cli->sink, DIAG_U0005,
                           "`ingot reduce` needs either --pipeline or --test: what fails");
    PassId ids[MAX_PIPELINE];
    r.pipeline.ids = ids;
    TRY(parse_pipeline(cli, args_text(args, OPT_PIPELINE, NULL), ids, &r.pipeline.num_ids));
    char *text;
    uint64_t len;
    TRY(file_read(args->positional[0], MAX_IR_BYTES, &cli->sink, &text, &len));
    IrModule *m = NULL;
    char folder[TEMP_FOLDER_CHARS] = {0};
    StrBuf out = {0};
    Status status = ir_parse(text, len, args->positional[0], &cli->sink, &m);
    const IrVerifyOptions verify = {.allow_test_ops = true};
    if (status == STATUS_OK) status = ir_verify(m, &verify, &cli->sink);
    if (status == STATUS_OK && r.command) status = make_temp_folder(cli, "reduce", folder);
    r.folder = folder;
    if (status == STATUS_OK) status = reduce(&r, m, &out);
    if (folder[0]) remove_folder(folder);
    if (status == STATUS_OK) status = put_output(cli, "ingot-reduce", &out, &(IrReports){0});
    if (m) ir_module_destroy(m);
    strbuf_deinit(&out);
    free(text);
    return status;
}
