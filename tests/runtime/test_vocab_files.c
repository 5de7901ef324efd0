// Every published vocabulary file with its list of texts (.inp) and token ids (.out), as llama.cpp
// ships them, read from the folder INGOT_VOCAB_DIR. Control tokens are plain text there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "tokenizer_fixture.h"

#define SEPARATOR "\n__ggml_vocab_test__\n"

static char *read_text(const char *path, const char *suffix, DiagSink *sink) {
    StrBuf name = {0};
    strbuf_printf(&name, "%s%s", path, suffix);
    char *text = NULL;
    uint64_t len;
    if (access(name.data, R_OK) == 0)
        assert_int_equal(file_read(name.data, 1 << 30, sink, &text, &len), STATUS_OK);
    strbuf_deinit(&name);
    return text;
}

// True if the ids equal the numbers of one line.
static bool equals_line(const TokenIds *ids, const char *line, const char *line_end) {
    size_t count = 0;
    for (const char *p = line; p < line_end;) {
        char *after;
        long id = strtol(p, &after, 10);
        if (after == p || after > line_end) break;
        if (count >= ids->count || ids->ids[count] != id) return false;
        count++;
        p = after;
    }
    return count == ids->count;
}

static void check_list(TokenizerFixture *fixture, const char *path, size_t *num_equal,
                       size_t *num_all) {
    char *texts = read_text(path, ".inp", &fixture->sink);
    char *lines = read_text(path, ".out", &fixture->sink);
    assert_non_null(texts);
    assert_non_null(lines);
    const char *line = lines;
    TokenIds ids = {0};
    for (const char *text = texts; text;) {
        const char *end = strstr(text, SEPARATOR);
        const char *line_end = strchrnul(line, '\n');
        size_t len = end ? (size_t)(end - text) : strlen(text);
        ids.count = 0;
        assert_int_equal(tokenizer_encode(fixture->tokenizer, text, len, 0, &fixture->sink, &ids),
                         STATUS_OK);
        bool is_equal = equals_line(&ids, line, line_end);
        if (!is_equal) {
            fprintf(stderr, "%s: text %zu \"%.*s\" differs\n  wanted: %.*s\n  got:   ", path,
                    *num_all, (int)len, text, (int)(line_end - line), line);
            for (size_t i = 0; i < ids.count; i++) fprintf(stderr, " %d", ids.ids[i]);
            fprintf(stderr, "\n");
        }
        *num_equal += is_equal;
        (*num_all)++;
        text = end ? end + strlen(SEPARATOR) : NULL;
        line = *line_end ? line_end + 1 : line_end;
    }
    token_ids_deinit(&ids);
    free(texts);
    free(lines);
}

static bool is_outside(const Gguf *gguf) {
    GgufString model;
    assert_true(gguf_get_string(gguf, "tokenizer.ggml.model", &model));
    return (model.len == 4 && memcmp(model.data, "bert", 4) == 0) ||
           (model.len == 2 && memcmp(model.data, "t5", 2) == 0);
}

static void test_lists(void **state) {
    (void)state;
    const char *folder = getenv("INGOT_VOCAB_DIR");
    if (!folder) {
        fprintf(stderr, "SKIPPED: INGOT_VOCAB_DIR is not set\n");
        skip();
    }
    StrBuf pattern = {0};
    strbuf_printf(&pattern, "%s/ggml-vocab-*.gguf", folder);
    glob_t files;
    assert_int_equal(glob(pattern.data, 0, NULL, &files), 0);
    size_t num_equal = 0, num_all = 0, num_lists = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        TokenizerFixture fixture;
        Status status = fixture_open(&fixture, path);
        StrBuf list = {0};
        strbuf_printf(&list, "%s.inp", path);
        bool has_list = access(list.data, R_OK) == 0;
        if (is_outside(fixture.gguf)) {
            assert_int_equal(status, STATUS_INVALID);
            assert_int_equal(fixture.sink.diags[0].code, DIAG_T0002);
        } else if (!gguf_find(fixture.gguf, "tokenizer.ggml.pre") && !has_list) {
            // SentencePiece needs none; byte-level BPE without one is refused.
            if (status != STATUS_OK) assert_int_equal(fixture.sink.diags[0].code, DIAG_T0003);
        } else {
            if (status != STATUS_OK) fixture_print_diags(&fixture);
            assert_int_equal(status, STATUS_OK);
            if (has_list) check_list(&fixture, path, &num_equal, &num_all), num_lists++;
        }
        strbuf_deinit(&list);
        fixture_close(&fixture);
    }
    fprintf(stderr, "%zu vocabularies: %zu of %zu equal\n", num_lists, num_equal, num_all);
    assert_int_equal(num_equal, num_all);
    assert_true(num_lists >= 14);
    globfree(&files);
    strbuf_deinit(&pattern);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
