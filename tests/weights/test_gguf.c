// The GGUF reader: what it reads from right files, and the refusal of every known kind of wrong
// one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gguf_builder.h"

static const uint64_t row32[] = {32}, mat[] = {32, 3}, one[] = {1};

// Entries of every type, and three tensors.
static void build_sample(GgufBuilder *b) {
    gguf_builder_string(b, "general.architecture", "test");
    gguf_builder_u32(b, "a.u32", 4000000000u);
    gguf_builder_f32(b, "a.f32", 0.5f);
    gguf_builder_entry(b, "a.u8", GGUF_U8);
    strbuf_putc(&b->entries, (char)200);
    gguf_builder_entry(b, "a.i8", GGUF_I8);
    strbuf_putc(&b->entries, (char)-3);
    gguf_builder_entry(b, "a.i16", GGUF_I16);
    gguf_builder_bytes(&b->entries, "\xfe\xff", 2);
    gguf_builder_entry(b, "a.u64", GGUF_U64);
    gguf_builder_put_u64(&b->entries, 1ull << 40);
    gguf_builder_entry(b, "a.i64", GGUF_I64);
    gguf_builder_put_u64(&b->entries, (uint64_t)-5);
    gguf_builder_entry(b, "a.f64", GGUF_F64);
    double quarter = 0.25;
    gguf_builder_bytes(&b->entries, &quarter, 8);
    gguf_builder_entry(b, "a.bool", GGUF_BOOL);
    strbuf_putc(&b->entries, 1);
    gguf_builder_entry(b, "a.ints", GGUF_ARRAY);
    gguf_builder_put_u32(&b->entries, GGUF_I32);
    gguf_builder_put_u64(&b->entries, 3);
    for (int i = -1; i < 2; i++) gguf_builder_put_u32(&b->entries, (uint32_t)i);
    gguf_builder_entry(b, "a.strings", GGUF_ARRAY);
    gguf_builder_put_u32(&b->entries, GGUF_STRING);
    gguf_builder_put_u64(&b->entries, 2);
    gguf_builder_put_string(&b->entries, "same");
    gguf_builder_put_string(&b->entries, "same"); // equal token texts must load
    gguf_builder_tensor(b, "plain", QUANT_F32, 1, row32);
    gguf_builder_tensor(b, "blocks", QUANT_Q4_0, 2, mat);
    gguf_builder_tensor(b, "half", QUANT_F16, 2, mat);
}

static void check_scalars(const Gguf *gguf) {
    uint64_t u = 0;
    double f = 0;
    bool truth = false;
    GgufString text = {0};
    assert_true(gguf_get_u64(gguf, "a.u32", &u) && u == 4000000000u);
    assert_true(gguf_get_u64(gguf, "a.u8", &u) && u == 200);
    assert_true(gguf_get_u64(gguf, "a.u64", &u) && u == 1ull << 40);
    assert_false(gguf_get_u64(gguf, "a.i8", &u)); // negative
    assert_false(gguf_get_u64(gguf, "a.f32", &u));
    assert_false(gguf_get_u64(gguf, "absent", &u));
    assert_int_equal(gguf_find(gguf, "a.i8")->i, -3);
    assert_int_equal(gguf_find(gguf, "a.i16")->i, -2);
    assert_int_equal(gguf_find(gguf, "a.i64")->i, -5);
    assert_true(gguf_get_f64(gguf, "a.f32", &f) && f == 0.5);
    assert_true(gguf_get_f64(gguf, "a.f64", &f) && f == 0.25);
    assert_true(gguf_get_bool(gguf, "a.bool", &truth) && truth);
    assert_true(gguf_get_string(gguf, "general.architecture", &text));
    assert_int_equal(text.len, 4);
    assert_memory_equal(text.data, "test", 4);
}

static void test_reads_everything(void **state) {
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        GgufBuilder b = {.version = version};
        StrBuf bytes = {0};
        DiagSink sink;
        Gguf *gguf = NULL;
        build_sample(&b);
        gguf_builder_finish(&b, &bytes);
        diag_sink_init(&sink);
        assert_int_equal(gguf_builder_open(bytes.data, bytes.len, &sink, &gguf), STATUS_OK);
        assert_int_equal(gguf_version(gguf), version);
        assert_int_equal(gguf_num_entries(gguf), b.num_entries);
        assert_int_equal(gguf_len_bytes(gguf), bytes.len);
        for (size_t i = 0; i < gguf_num_entries(gguf); i++) { // used once it is asked for
            assert_false(gguf_is_used(gguf, i));
            assert_non_null(gguf_find(gguf, gguf_entry(gguf, i)->key));
            assert_true(gguf_is_used(gguf, i));
        }
        check_scalars(gguf);
        const GgufValue *ints = gguf_find(gguf, "a.ints"), *strings = gguf_find(gguf, "a.strings");
        assert_int_equal(ints->array.count, 3);
        for (int i = 0; i < 3; i++) assert_int_equal(gguf_array_int(ints, (uint64_t)i), i - 1);
        assert_true(gguf_array_float(ints, 0) == -1.0);
        assert_int_equal(strings->array.strings[1].len, 4);
        assert_int_equal(gguf_num_tensors(gguf), 3);
        const GgufTensor *blocks = gguf_find_tensor(gguf, "blocks");
        assert_int_equal(blocks->index, 1);
        assert_int_equal(blocks->format, QUANT_Q4_0);
        assert_int_equal(blocks->len_bytes, 3 * 18);
        assert_int_equal(blocks->file_offset % 32, 0);
        assert_ptr_equal(blocks->data, gguf_bytes(gguf) + blocks->file_offset);
        assert_null(gguf_find_tensor(gguf, "absent"));
        gguf_close(gguf);
        diag_sink_deinit(&sink);
        strbuf_deinit(&bytes);
        gguf_builder_deinit(&b);
    }
}

// Opens bytes that must be refused with the code.
static void refuse(const void *bytes, size_t len, DiagCode code) {
    DiagSink sink;
    Gguf *gguf = NULL;
    diag_sink_init(&sink);
    assert_int_equal(gguf_builder_open(bytes, len, &sink, &gguf), STATUS_INVALID);
    assert_null(gguf);
    assert_int_equal(sink.num_errors, 1);
    assert_string_equal(diag_info(sink.diags[0].code)->code, diag_info(code)->code);
    diag_sink_deinit(&sink);
}

static void refuse_built(GgufBuilder *b, DiagCode code) {
    StrBuf bytes = {0};
    gguf_builder_finish(b, &bytes);
    refuse(bytes.data, bytes.len, code);
    strbuf_deinit(&bytes);
    gguf_builder_deinit(b);
}

static void test_refuses_foreign_files(void **state) {
    (void)state;
    refuse("", 0, DIAG_F0001);
    refuse("GGU", 3, DIAG_F0001);
    refuse("<html>", 6, DIAG_F0001);
    refuse("PK\x03\x04....", 8, DIAG_F0001);
    refuse("version https://git-lfs.github.com/spec/v1\n", 43, DIAG_F0001);
    refuse("FUGG\0\0\0\3", 8, DIAG_F0003);
    refuse("GGUF\0\0\0\3", 8, DIAG_F0003); // a big-endian 3
    refuse("GGUF\3\0", 6, DIAG_F0004);
    for (uint32_t version = 0; version < 6; version++)
        if (version < 2 || version > 3) {
            GgufBuilder b = {0};
            build_sample(&b);
            StrBuf bytes = {0};
            gguf_builder_finish(&b, &bytes);
            memcpy(bytes.data + 4, &version, 4);
            refuse(bytes.data, bytes.len, DIAG_F0002);
            strbuf_deinit(&bytes);
            gguf_builder_deinit(&b);
        }
}

static void test_refuses_counts(void **state) {
    (void)state;
    static const uint64_t counts[] = {1ull << 63, UINT64_MAX, 1ull << 32, 1ull << 60, 1000};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        GgufBuilder b = {.num_entries = counts[i]}; // of entries
        refuse_built(&b, DIAG_F0004);
        b = (GgufBuilder){.num_tensors = counts[i]};
        refuse_built(&b, DIAG_F0004);
        b = (GgufBuilder){0}; // of bytes in a key
        gguf_builder_put_u64(&b.entries, counts[i]);
        gguf_builder_bytes(&b.entries, "0123456789abcdef", 16);
        b.num_entries = 1;
        refuse_built(&b, DIAG_F0004);
        b = (GgufBuilder){0}; // of elements, of numbers and of strings
        for (int type = GGUF_F32; type <= GGUF_STRING; type += GGUF_STRING - GGUF_F32) {
            gguf_builder_entry(&b, "key", GGUF_ARRAY);
            gguf_builder_put_u32(&b.entries, (uint32_t)type);
            gguf_builder_put_u64(&b.entries, counts[i]);
            refuse_built(&b, DIAG_F0004);
        }
    }
}

static void test_refuses_keys(void **state) {
    (void)state;
    GgufBuilder b = {0};
    gguf_builder_u32(&b, "twice", 1);
    gguf_builder_u32(&b, "twice", 2);
    refuse_built(&b, DIAG_F0005);
    gguf_builder_u32(&b, "", 1);
    gguf_builder_u32(&b, "k", 1);
    refuse_built(&b, DIAG_F0005);
    gguf_builder_u32(&b, "bell\a", 1);
    refuse_built(&b, DIAG_F0005);
}

static void test_refuses_values(void **state) {
    (void)state;
    GgufBuilder b = {0};
    gguf_builder_entry(&b, "nested", GGUF_ARRAY);
    gguf_builder_put_u32(&b.entries, GGUF_ARRAY);
    gguf_builder_put_u64(&b.entries, 0);
    refuse_built(&b, DIAG_F0006);
    gguf_builder_entry(&b, "type", (GgufType)13);
    gguf_builder_put_u32(&b.entries, 0);
    refuse_built(&b, DIAG_F0006);
    gguf_builder_entry(&b, "bool", GGUF_BOOL);
    strbuf_putc(&b.entries, 2);
    refuse_built(&b, DIAG_F0006);
    gguf_builder_entry(&b, "general.alignment", GGUF_I32);
    gguf_builder_put_u32(&b.entries, 32);
    refuse_built(&b, DIAG_F0007);
    static const uint32_t alignments[] = {0, 3, 48, UINT32_MAX};
    for (size_t i = 0; i < ARRAY_LEN(alignments); i++) {
        gguf_builder_u32(&b, "general.alignment", alignments[i]);
        refuse_built(&b, DIAG_F0007);
    }
}

static void test_refuses_tensors(void **state) {
    (void)state;
    GgufBuilder b = {0};
    gguf_builder_tensor(&b, "twice", QUANT_F32, 1, row32);
    gguf_builder_tensor(&b, "twice", QUANT_F32, 1, row32);
    refuse_built(&b, DIAG_F0008);
    char name[80] = "";
    memset(name, 'n', 65);
    gguf_builder_tensor(&b, name, QUANT_F32, 1, row32);
    refuse_built(&b, DIAG_F0008);
    gguf_builder_tensor(&b, "", QUANT_F32, 2, mat);
    refuse_built(&b, DIAG_F0008);
    static const uint64_t shapes[][2] = {
        {0, 1}, {1ull << 32, 1ull << 32}, {1ull << 63, 2}, {33, 1}};
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        gguf_builder_tensor_info(&b, "t", 2, 2, shapes[i], 0);
        refuse_built(&b, DIAG_F0009);
    }
    static const uint64_t dims[] = {1, 1, 1, 1, 1};
    gguf_builder_tensor_info(&b, "t", 0, 5, dims, 0);
    refuse_built(&b, DIAG_F0009);
    gguf_builder_tensor_info(&b, "no dimensions", 0, 0, dims, 0);
    gguf_builder_bytes(&b.data, dims, sizeof dims);
    refuse_built(&b, DIAG_F0009);
    gguf_builder_tensor_info(&b, "t", 4, 1, row32, 0); // a format that was removed
    refuse_built(&b, DIAG_F0010);
}

static void test_refuses_places(void **state) {
    (void)state;
    GgufBuilder b = {0};
    gguf_builder_tensor_info(&b, "t", 0, 1, one, 16); // not aligned
    refuse_built(&b, DIAG_F0011);
    gguf_builder_tensor_info(&b, "t", 0, 1, one, 1ull << 63);
    refuse_built(&b, DIAG_F0004);
    gguf_builder_tensor_info(&b, "t", 0, 1, one, UINT64_MAX - 31);
    refuse_built(&b, DIAG_F0004);
    gguf_builder_tensor_info(&b, "t", 0, 1, one, 0); // no data
    refuse_built(&b, DIAG_F0004);
    gguf_builder_tensor(&b, "a", QUANT_F32, 2, mat);
    gguf_builder_tensor_info(&b, "b", 0, 1, one, 32);
    refuse_built(&b, DIAG_F0011);
}

static void test_refuses_parts(void **state) {
    (void)state;
    GgufBuilder b = {0};
    build_sample(&b);
    gguf_builder_entry(&b, "split.count", GGUF_U16);
    gguf_builder_bytes(&b.entries, "\x03", 2);
    gguf_builder_entry(&b, "split.no", GGUF_U16);
    gguf_builder_bytes(&b.entries, "\x01", 2);
    refuse_built(&b, DIAG_F0012);
    build_sample(&b);
    StrBuf bytes = {0};
    gguf_builder_finish(&b, &bytes);
    gguf_builder_bytes(&bytes, "GGUF", 4);
    gguf_builder_bytes(&bytes, "\3\0\0\0\0\0\0\0\0\0\0\0", 12);
    refuse(bytes.data, bytes.len, DIAG_F0013);
    strbuf_deinit(&bytes);
    gguf_builder_deinit(&b);
}

// No prefix of a file is taken for a file.
static void test_refuses_every_cut(void **state) {
    (void)state;
    GgufBuilder b = {0};
    StrBuf bytes = {0};
    build_sample(&b);
    gguf_builder_finish(&b, &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        DiagSink sink;
        Gguf *gguf = NULL;
        diag_sink_init(&sink);
        assert_int_equal(gguf_builder_open(bytes.data, len, &sink, &gguf), STATUS_INVALID);
        assert_int_equal(sink.num_errors, 1);
        diag_sink_deinit(&sink);
    }
    strbuf_deinit(&bytes);
    gguf_builder_deinit(&b);
}

// A changed byte gives another valid file or a diagnostic, never anything else.
static void test_survives_changed_bytes(void **state) {
    (void)state;
    GgufBuilder b = {0};
    StrBuf bytes = {0};
    build_sample(&b);
    gguf_builder_finish(&b, &bytes);
    static const uint8_t masks[] = {0x01, 0x80, 0xff, 0x10};
    for (size_t at = 0; at < bytes.len; at++)
        for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
            DiagSink sink;
            Gguf *gguf = NULL;
            diag_sink_init(&sink);
            bytes.data[at] = (char)(bytes.data[at] ^ masks[m]);
            Status status = gguf_builder_open(bytes.data, bytes.len, &sink, &gguf);
            bytes.data[at] = (char)(bytes.data[at] ^ masks[m]);
            assert_int_equal(status == STATUS_OK, sink.num_errors == 0);
            assert_int_equal(status == STATUS_OK, gguf != NULL);
            gguf_close(gguf);
            diag_sink_deinit(&sink);
        }
    strbuf_deinit(&bytes);
    gguf_builder_deinit(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_everything),  cmocka_unit_test(test_refuses_foreign_files),
        cmocka_unit_test(test_refuses_counts),    cmocka_unit_test(test_refuses_keys),
        cmocka_unit_test(test_refuses_values),    cmocka_unit_test(test_refuses_tensors),
        cmocka_unit_test(test_refuses_places),    cmocka_unit_test(test_refuses_parts),
        cmocka_unit_test(test_refuses_every_cut), cmocka_unit_test(test_survives_changed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
