// Files written: they appear under their name only when complete, never replace what is no regular
// file or what they are made of, and leave nothing behind when a write fails.
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/file.h"

static char folder[] = "/tmp/ingot-test-file-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    return chdir(folder);
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"result", "input", "link", "dangling",
                                        "hard",   "pipe",  "sub"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) remove(names[i]);
    return chdir("/") || rmdir(folder);
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void expect_content(const char *path, const char *text) {
    DiagSink sink;
    diag_sink_init(&sink);
    char *data;
    uint64_t len;
    assert_int_equal(file_read(path, 100, &sink, &data, &len), STATUS_OK);
    assert_string_equal(data, text);
    free(data);
    diag_sink_deinit(&sink);
}

static Status write_text(const char *path, const char *const *inputs, const char *text,
                         DiagCode *out_code) {
    DiagSink sink;
    diag_sink_init(&sink);
    FileWriter writer;
    Status status = file_writer_open(path, inputs, &sink, &writer);
    if (status == STATUS_OK) {
        status = file_writer_write(&writer, text, strlen(text), &sink);
        if (status == STATUS_OK)
            status = file_writer_commit(&writer, &sink);
        else
            file_writer_abort(&writer);
    }
    assert_int_equal(sink.num_diags, status != STATUS_OK);
    if (sink.num_diags) *out_code = sink.diags[0].code;
    diag_sink_deinit(&sink);
    return status;
}

static void test_a_regular_file_is_replaced(void **state) {
    (void)state;
    DiagCode code;
    assert_int_equal(write_text("result", NULL, "one", &code), STATUS_OK);
    expect_content("result", "one");
    assert_int_equal(write_text("result", NULL, "two", &code), STATUS_OK);
    expect_content("result", "two");
}

static void test_other_kinds_are_never_replaced(void **state) {
    (void)state;
    put("input", "kept");
    assert_int_equal(symlink("input", "link"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(mkdir("sub", 0700), 0);
    static const char *const paths[] = {"link", "dangling", "pipe", "sub", "/dev/null"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct stat before, after;
        DiagCode code = NUM_DIAG_CODES;
        assert_int_equal(lstat(paths[i], &before), 0);
        if (write_text(paths[i], NULL, "x", &code) != STATUS_IO) fail_msg("%s", paths[i]);
        assert_int_equal(code, DIAG_U0003);
        assert_int_equal(lstat(paths[i], &after), 0);
        assert_int_equal(before.st_ino, after.st_ino);
        assert_int_equal(before.st_mode, after.st_mode);
    }
    expect_content("input", "kept");
}

static void test_an_input_is_never_replaced(void **state) {
    (void)state;
    put("input", "kept");
    assert_int_equal(link("input", "hard"), 0);
    const char *const inputs[] = {"absent", "input", NULL};
    static const char *const names[] = {"input", "./input", "hard"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        DiagCode code = NUM_DIAG_CODES;
        assert_int_equal(write_text(names[i], inputs, "x", &code), STATUS_USAGE);
        assert_int_equal(code, DIAG_U0005);
        expect_content("input", "kept");
    }
}

static void test_a_failed_write_leaves_nothing(void **state) {
    (void)state;
    remove("result");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit, small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small.rlim_max = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char text[6000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    DiagCode code = NUM_DIAG_CODES;
    Status status = write_text("result", NULL, text, &code);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, STATUS_IO);
    assert_int_equal(code, DIAG_U0003);
    assert_int_not_equal(access("result", F_OK), 0);
    char temporary[64];
    snprintf(temporary, sizeof temporary, "result.tmp-%ld", (long)getpid());
    assert_int_not_equal(access(temporary, F_OK), 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_regular_file_is_replaced),
        cmocka_unit_test(test_other_kinds_are_never_replaced),
        cmocka_unit_test(test_an_input_is_never_replaced),
        cmocka_unit_test(test_a_failed_write_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
