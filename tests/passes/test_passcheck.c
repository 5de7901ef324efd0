// Random modules through the whole pipeline, every pass validated (passes/validate.h): the
// interpreter after each pass agrees with before, machine code with the interpreter. A module a
// pass refuses says so with P0005, is named and counted: no more than three of a hundred. A quick
// run here; INGOT_PASSCHECK_GRAPHS=N for N modules, from INGOT_TEST_SEED on (which alone runs that
// one and prints it if it fails). What once failed lies in found/.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/cpu.h"
#include "base/file.h"
#include "compiler/validate_native.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "passcheck.h"
#include "passes/validate.h"

enum { QUICK_GRAPHS = 24 };

typedef struct Totals {
    uint32_t num_clean, num_refused, num_compared, num_runs, num_failed;
    uint32_t num_skipped[NUM_VALIDATE_SKIPS];
} Totals;

static void run_passes(IrModule *m, uint64_t seed, DiagSink *sink, Status *out_status,
                       ValidateReport *out_report) {
    CpuLevel level;
    const char *name = cpu_host_level(&level) ? cpu_level_info(level)->name : "x86-64-v3";
    ir_op_set_attr(m, m->op, "ingot.target", ir_attr_string(m, name));
    PassId ids[NUM_PASSES];
    for (int i = 0; i < NUM_PASSES; i++) ids[i] = (PassId)i;
    NativeCode native = {.num_threads = 1};
    ValidateOptions options = {.seed = seed,
                               .native = native_call,
                               .native_ctx = &native,
                               .dump_dir = getenv("INGOT_PASSCHECK_DUMP")};
    Validator *v = validate_create(&options);
    PassPipeline pipeline = {
        .ids = ids, .num_ids = NUM_PASSES, .hook = validate_hook, .hook_ctx = v};
    *out_status = pass_pipeline_run(m, &pipeline, sink);
    *out_report = validate_report(v);
    validate_destroy(v);
    native_deinit(&native);
}

static void check_text(const char *label, uint64_t seed, const char *text, size_t len,
                       Totals *totals, bool is_verbose) {
    StrBuf said = {0};
    DiagSink sink;
    diag_sink_init(&sink);
    IrModule *m = NULL;
    const IrVerifyOptions verify = {.level = 1};
    Status status = ir_parse(text, len, label, &sink, &m);
    if (status == STATUS_OK) status = ir_verify(m, &verify, &sink);
    bool is_valid = status == STATUS_OK;
    ValidateReport report = {0};
    if (is_valid) run_passes(m, seed, &sink, &status, &report);
    bool is_refused = is_valid && status == STATUS_INVALID && sink.diags[0].code == DIAG_P0005;
    totals->num_clean += status == STATUS_OK;
    totals->num_refused += is_refused;
    totals->num_compared += report.num_compared;
    totals->num_runs += report.num_runs;
    for (int i = 0; i < NUM_VALIDATE_SKIPS; i++) totals->num_skipped[i] += report.num_skipped[i];
    diag_render(&sink, &said);
    if (is_refused) print_message("%s is refused: %s\n", label, sink.diags[0].message);
    if (status != STATUS_OK && !is_refused) {
        totals->num_failed++;
        print_error("%s:\n%s\n", label, said.data);
        if (is_verbose) fprintf(stderr, "%s\n", text); // longer than cmocka prints
    }
    if (m) ir_module_destroy(m);
    diag_sink_deinit(&sink);
    strbuf_deinit(&said);
}

static void check_graph(uint64_t seed, Totals *totals, bool is_verbose) {
    char label[32];
    StrBuf text = {0};
    snprintf(label, sizeof label, "seed %llu", (unsigned long long)seed);
    passcheck_module(seed, &text);
    check_text(label, seed, text.data, text.len, totals, is_verbose);
    strbuf_deinit(&text);
}

// Modules that a pass once got wrong, each named after the fault: NAME.mlir or, where the inputs
// matter, NAME.SEED.mlir.
static void test_found(void **state) {
    (void)state;
    const char *folder = INGOT_SOURCE_DIR "/tests/passes/found";
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    Totals totals = {0};
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        DiagSink sink;
        char *text = NULL;
        uint64_t len = 0;
        diag_sink_init(&sink);
        assert_int_equal(file_read(path, 1 << 20, &sink, &text, &len), STATUS_OK);
        const char *dot = strchr(entry->d_name, '.');
        uint64_t seed = dot ? strtoull(dot + 1, NULL, 10) : 0;
        check_text(entry->d_name, seed ? seed : 1, text, len, &totals, false);
        free(text);
        diag_sink_deinit(&sink);
    }
    closedir(dir);
    assert_true(totals.num_clean > 0);
    if (totals.num_failed) fail_msg("%u modules fail", totals.num_failed);
}

static void test_random_modules(void **state) {
    (void)state;
    const char *seed = getenv("INGOT_TEST_SEED"), *graphs = getenv("INGOT_PASSCHECK_GRAPHS");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 0;
    uint64_t num = graphs ? strtoull(graphs, NULL, 10) : seed ? 1 : QUICK_GRAPHS;
    Totals totals = {0};
    for (uint64_t i = 0; i < num; i++) check_graph(first + i, &totals, seed && !graphs);
    print_message("%llu modules from seed %llu: %u clean, %u refused; %u functions compared in %u "
                  "runs",
                  (unsigned long long)num, (unsigned long long)first, totals.num_clean,
                  totals.num_refused, totals.num_compared, totals.num_runs);
    for (int i = 0; i < NUM_VALIDATE_SKIPS; i++)
        if (totals.num_skipped[i])
            print_message(", %u skipped: %s", totals.num_skipped[i],
                          validate_skip_reason((ValidateSkip)i));
    print_message("\n");
    if (totals.num_failed) fail_msg("%u modules fail", totals.num_failed);
    if (num >= QUICK_GRAPHS) assert_true(totals.num_refused * 100 <= num * 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found),
                                       cmocka_unit_test(test_random_modules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
