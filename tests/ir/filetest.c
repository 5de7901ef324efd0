// Tests as files of IR; see filetest.h.
#include "filetest.h"

#include <glob.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/file.h"

static void add_chunk(FiletestFile *file, char *begin, char *end, uint32_t line) {
    ARRAY_RESERVE(file->chunks, file->num_chunks, file->capacity);
    FiletestChunk *chunk = &file->chunks[file->num_chunks++];
    *chunk = (FiletestChunk){.file = file->path, .line = line, .len = (size_t)(end - begin)};
    chunk->text = strndup(begin, chunk->len);
    const char *comment = strstr(chunk->text, "// ");
    chunk->name = comment ? comment + 3 : "";
}

static void split(FiletestFile *file) {
    uint32_t line = 1, begin_line = 1;
    char *begin = file->data;
    for (char *at = file->data; *at; line++) {
        char *end = strchr(at, '\n');
        char *next = end ? end + 1 : at + strlen(at);
        if (!strncmp(at, "// -----", 8)) {
            if (at > begin) add_chunk(file, begin, at, begin_line);
            begin = next;
            begin_line = line + 1;
        }
        at = next;
    }
    if (*begin) add_chunk(file, begin, begin + strlen(begin), begin_line);
}

FiletestFile *filetest_load(const char *folder, size_t *out_num_files) {
    char pattern[512];
    const char *root = getenv("INGOT_SOURCE_DIR");
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/tests/ir/%s/*.mlir", root ? root : ".", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    FiletestFile *files = calloc(found.gl_pathc, sizeof *files);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        DiagSink sink;
        uint64_t len;
        diag_sink_init(&sink);
        files[i].path = strdup(found.gl_pathv[i]);
        assert_int_equal(file_read(files[i].path, 1 << 24, &sink, &files[i].data, &len), STATUS_OK);
        diag_sink_deinit(&sink);
        split(&files[i]);
    }
    *out_num_files = found.gl_pathc;
    globfree(&found);
    return files;
}

void filetest_unload(FiletestFile *files, size_t num_files) {
    for (size_t i = 0; i < num_files; i++) {
        for (size_t c = 0; c < files[i].num_chunks; c++) free(files[i].chunks[c].text);
        free(files[i].chunks);
        free(files[i].data);
        free(files[i].path);
    }
    free(files);
}

bool filetest_expects_errors(const FiletestChunk *chunk) {
    return strstr(chunk->text, "// expected-error@") != NULL;
}

static bool has_error(const DiagSink *sink, uint32_t line, const char *text, size_t len) {
    for (size_t i = 0; i < sink->num_diags; i++) {
        const Diag *diag = &sink->diags[i];
        if (diag->severity != DIAG_ERROR || diag->span.line != line) continue;
        if (memmem(diag->message, strlen(diag->message), text, len)) return true;
    }
    return false;
}

static void complain(const FiletestChunk *chunk, uint32_t line, const char *what, const char *text,
                     size_t len) {
    fprintf(stderr, "%s:%u: %s: %.*s\n", chunk->file, chunk->line + line - 1, what, (int)len, text);
}

bool filetest_check_errors(const FiletestChunk *chunk, const DiagSink *sink) {
    size_t num_expected = 0;
    bool is_good = true;
    uint32_t line = 1;
    for (const char *at = chunk->text; at && *at; line++) {
        const char *end = strchr(at, '\n');
        const char *mark = strstr(at, "// expected-error@");
        if (mark && (!end || mark < end)) {
            const char *open = strstr(mark, "{{"), *close = open ? strstr(open, "}}") : NULL;
            assert_non_null(close);
            uint32_t want = (uint32_t)((long)line + strtol(mark + 18, NULL, 10));
            size_t len = (size_t)(close - open - 2);
            num_expected++;
            if (!has_error(sink, want, open + 2, len)) {
                complain(chunk, want, "expected error not reported", open + 2, len);
                is_good = false;
            }
        }
        at = end ? end + 1 : NULL;
    }
    if (num_expected != sink->num_errors) is_good = false;
    if (!is_good || !num_expected) {
        for (size_t i = 0; i < sink->num_diags; i++) {
            const Diag *diag = &sink->diags[i];
            complain(chunk, diag->span.line, "reported", diag->message, strlen(diag->message));
        }
    }
    return is_good;
}

bool filetest_check_output(const FiletestChunk *chunk, const char *text) {
    uint32_t line = 1;
    for (const char *at = chunk->text; at && *at; line++) {
        const char *end = strchr(at, '\n');
        size_t len = end ? (size_t)(end - at) : strlen(at);
        if (len >= 8 && !strncmp(at, "// out: ", 8)) {
            size_t have = strcspn(text, "\n"), trimmed = have;
            while (trimmed && text[trimmed - 1] == ' ') trimmed--;
            if (trimmed != len - 8 || strncmp(text, at + 8, trimmed) != 0) {
                complain(chunk, line, "expected output", at + 8, len - 8);
                complain(chunk, line, "printed", text, have);
                return false;
            }
            text += have + (text[have] == '\n');
        }
        at = end ? end + 1 : NULL;
    }
    if (*text) complain(chunk, line, "more output than expected", text, strcspn(text, "\n"));
    return !*text;
}
