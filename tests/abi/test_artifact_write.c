// The writer and the arithmetic of memory: bytes and sizes against values worked out by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/artifact_write.h"
#include "abi/plan_size.h"

static char *temp_path(const char *name) {
    const char *folder = getenv("TMPDIR");
    StrBuf path = {0};
    strbuf_printf(&path, "%s/ingot-%s-%ld", folder && *folder ? folder : "/tmp", name,
                  (long)getpid());
    return strbuf_take(&path);
}

// Writes three sections, the last in pieces of the given size; the file's bytes.
static char *write_in_pieces(uint64_t piece_bytes, uint64_t *out_len) {
    char *path = temp_path("pieces"), *data;
    uint8_t content[10000];
    for (size_t i = 0; i < sizeof content; i++) content[i] = (uint8_t)(i * 7 + i / 256);
    DiagSink sink;
    ArtifactWriter writer;
    diag_sink_init(&sink);
    assert_int_equal(artifact_writer_open(path, NULL, &sink, &writer), STATUS_OK);
    assert_int_equal(artifact_writer_section(&writer, SECTION_STRINGS, 0, "ab", 3, &sink),
                     STATUS_OK);
    assert_int_equal(artifact_writer_section(&writer, SECTION_TEMPLATE, 0, NULL, 0, &sink),
                     STATUS_OK);
    assert_int_equal(artifact_writer_begin(&writer, SECTION_WEIGHTS, 0, &sink), STATUS_OK);
    for (uint64_t done = 0; done < sizeof content; done += piece_bytes) {
        assert_int_equal(artifact_writer_section_bytes(&writer), done);
        uint64_t len = MIN(piece_bytes, sizeof content - done);
        assert_int_equal(artifact_writer_append(&writer, content + done, len, &sink), STATUS_OK);
    }
    assert_int_equal(artifact_writer_pad(&writer, 64, &sink), STATUS_OK);
    assert_int_equal(artifact_writer_section_bytes(&writer), 10048);
    artifact_writer_end(&writer);
    uint64_t file_bytes = 0;
    assert_int_equal(artifact_writer_commit(&writer, &sink, &file_bytes), STATUS_OK);
    assert_int_equal(file_read(path, 1 << 20, &sink, &data, out_len), STATUS_OK);
    assert_int_equal(file_bytes, *out_len);
    const SectionEntry *sections = (const SectionEntry *)(data + sizeof(ArtifactHeader));
    assert_int_equal(sections[0].offset, 4096);
    assert_int_equal(sections[1].offset, 8192);
    assert_int_equal(sections[1].len_bytes, 0);
    assert_int_equal(sections[2].offset, 8192);
    assert_memory_equal(data + 8192, content, sizeof content);
    assert_int_equal(*out_len, 8192 + 12288);
    unlink(path);
    free(path);
    diag_sink_deinit(&sink);
    return data;
}

static void test_pieces(void **state) {
    (void)state;
    uint64_t len, other_len;
    char *whole = write_in_pieces(10000, &len);
    for (uint64_t piece = 1; piece < 5000; piece = piece * 3 + 1) {
        char *other = write_in_pieces(piece, &other_len);
        assert_int_equal(other_len, len);
        assert_memory_equal(other, whole, len);
        free(other);
    }
    free(whole);
}

static void test_cannot_write(void **state) {
    (void)state;
    DiagSink sink;
    ArtifactWriter writer;
    diag_sink_init(&sink);
    assert_int_equal(artifact_writer_open("/nonexistent/x.ingot", NULL, &sink, &writer), STATUS_IO);
    assert_int_equal(sink.diags[0].code, DIAG_U0003);
    diag_sink_deinit(&sink);
}

// A full disk: refused, and nothing under the final name.
static void test_full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    DiagSink sink;
    ArtifactWriter writer;
    diag_sink_init(&sink);
    char *path = temp_path("full");
    assert_int_equal(artifact_writer_open(path, NULL, &sink, &writer), STATUS_OK);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_true(dup2(fileno(full), writer.file.fd) >= 0);
    uint8_t block[4096] = {1};
    assert_int_equal(
        artifact_writer_section(&writer, SECTION_STRINGS, 0, block, sizeof block, &sink),
        STATUS_IO);
    assert_int_equal(sink.diags[0].code, DIAG_U0003);
    artifact_writer_abort(&writer);
    assert_int_not_equal(access(path, F_OK), 0);
    fclose(full);
    free(path);
    diag_sink_deinit(&sink);
}

static void test_sizes(void **state) {
    (void)state;
    const uint64_t mib = 1 << 20;
    assert_int_equal(plan_resident_bytes(0), 0);
    assert_int_equal(plan_resident_bytes(1), 4096);
    assert_int_equal(plan_resident_bytes(4 * mib - 1), 4 * mib);
    assert_int_equal(plan_resident_bytes(4 * mib + 1), 6 * mib);
    PlanHeader plan = {.max_threads = 3,
                       .vocab_size = 100,
                       .max_pages = 5,
                       .num_pages = 5,
                       .max_sequences = 1,
                       .page_len_tokens = 16,
                       .context_len_tokens = 80,
                       .weights_bytes = 5 * mib,
                       .arena_bytes = 5000,
                       .kv_bytes = 100 * mib,
                       .scratch_bytes = 5000};
    plan.buffers.count = 10;
    plan.scalars.count = 3;
    plan.steps.count = 4;
    PlanIoLayout io = plan_io_layout(&plan, 33);
    assert_int_equal(io.tokens_bytes, 132);
    assert_int_equal(io.pages_offset, 192);
    assert_int_equal(io.logits_offset, 256);
    assert_int_equal(io.io_bytes, 256 + 448);
    plan.io_bytes = io.io_bytes;
    plan.max_sequences = 40; // 40 tokens, 40 positions, 40 tables of 5 pages, 40 rows of logits
    io = plan_io_layout(&plan, 33);
    assert_int_equal(io.tokens_bytes, 160);
    assert_int_equal(io.starts_offset, 192);
    assert_int_equal(io.pages_offset, 192 + 192);
    assert_int_equal(io.logits_offset, 384 + 832);
    assert_int_equal(io.io_bytes, 1216 + 16000);
    plan.max_sequences = 1;
    // 3 workers of 10 pointers (80 -> 128 bytes) and a fault record of 64, 3 scalars of 12
    // (36 -> 64), 4 steps of 64.
    assert_int_equal(plan_executor_bytes(&plan), 3 * (128 + 64) + 64 + 256);
    plan.runtime_bytes = 5000;
    const SectionEntry sections[] = {
        {.kind = SECTION_MANIFEST, .len_bytes = 99999}, {.kind = SECTION_STRINGS, .len_bytes = 1},
        {.kind = SECTION_TOKENIZER, .len_bytes = 4097}, {.kind = SECTION_PLAN, .len_bytes = 4096},
        {.kind = SECTION_CODE, .len_bytes = 5000},      {.kind = SECTION_CODE, .len_bytes = 9000},
        {.kind = SECTION_WEIGHTS, .len_bytes = 5 * mib}};
    PlanMemory memory = plan_memory(&plan, sections, ARRAY_LEN(sections));
    assert_int_equal(memory.weights_bytes, 6 * mib);
    assert_int_equal(memory.kv_bytes, 100 * mib);
    assert_int_equal(memory.arena_bytes, 8192);
    assert_int_equal(memory.scratch_bytes, 3 * 8192);
    assert_int_equal(memory.io_bytes, 4096);
    assert_int_equal(memory.code_bytes, 12288);
    assert_int_equal(memory.tables_bytes, 4096 + 8192 + 4096);
    assert_int_equal(memory.runtime_bytes, 8192);
    assert_int_equal(memory.total_bytes, 106 * mib + 8192 + 24576 + 4096 + 12288 + 16384 + 8192);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_cannot_write),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
