// .npy files: what numpy writes is read, everything else about the bytes is refused with a place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/npy.h"

// A file of version 1 with this dictionary and as many bytes of data.
static size_t make(uint8_t *out, const char *dictionary, size_t data_bytes) {
    size_t len = strlen(dictionary);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (uint8_t)len;
    out[9] = (uint8_t)(len >> 8);
    memcpy(out + 10, dictionary, len);
    for (size_t i = 0; i < data_bytes; i++) out[10 + len + i] = (uint8_t)(i % 2);
    return 10 + len + data_bytes;
}

static Status parse(const char *dictionary, size_t data_bytes, NpyTensor *out) {
    static uint8_t file[4096]; // the tensor points into it
    DiagSink sink;
    diag_sink_init(&sink);
    size_t len = make(file, dictionary, data_bytes);
    Status status = npy_parse(file, len, "x.npy", &sink, out);
    if (status != STATUS_OK) {
        assert_int_equal(status, STATUS_INVALID);
        assert_int_equal(sink.num_diags, 1);
        assert_int_equal(sink.diags[0].code, DIAG_X0019);
        assert_true(sink.diags[0].span.byte_offset <= len);
    }
    diag_sink_deinit(&sink);
    return status;
}

static void test_what_numpy_writes(void **state) {
    (void)state;
    NpyTensor t;
    assert_int_equal(
        parse("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n", 24, &t),
        STATUS_OK);
    assert_int_equal(t.dtype, DTYPE_F32);
    assert_int_equal(t.rank, 2);
    assert_int_equal(t.dims[0], 2);
    assert_int_equal(t.dims[1], 3);
    assert_int_equal(t.len_bytes, 24);
    assert_int_equal(parse("{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }", 5, &t),
                     STATUS_OK);
    assert_int_equal(t.dtype, DTYPE_I8);
    assert_true(t.is_unsigned);
    assert_int_equal(parse("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8, &t),
                     STATUS_OK);
    assert_int_equal(t.rank, 0);
    assert_int_equal(parse("{'descr': '|b1', 'fortran_order': False, 'shape': (4, 0, 7), }", 0, &t),
                     STATUS_OK);
    assert_int_equal(t.len_bytes, 0);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *dictionary;
        size_t data_bytes;
    } CASES[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 16},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 16},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}", 16},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)}",
         4},
        {"{'descr': '<f4', 'fortran_order': False}", 4},
        {"{'descr': '<f4', 'shape': (1,)}", 4},
        {"{'fortran_order': False, 'shape': (1,)}", 4},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4},
        {"{'descr': '<f4", 4},
        {"", 4},
        {"[1]", 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        NpyTensor t;
        assert_int_equal(parse(CASES[i].dictionary, CASES[i].data_bytes, &t), STATUS_INVALID);
    }
}

// Every cut of a good file, and a truth value that is none.
static void test_cut(void **state) {
    (void)state;
    uint8_t file[256];
    size_t len = make(file, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", 3);
    for (size_t cut = 0; cut < len; cut++) {
        DiagSink sink;
        NpyTensor t;
        diag_sink_init(&sink);
        uint8_t *exact = malloc(cut + 1); // so that a sanitizer sees a read beyond the end
        memcpy(exact, file, cut);
        assert_int_equal(npy_parse(exact, cut, "x.npy", &sink, &t), STATUS_INVALID);
        free(exact);
        diag_sink_deinit(&sink);
    }
    DiagSink sink;
    NpyTensor t;
    diag_sink_init(&sink);
    file[len - 1] = 2;
    assert_int_equal(npy_parse(file, len, "x.npy", &sink, &t), STATUS_INVALID);
    assert_int_equal(sink.diags[0].span.byte_offset, len - 1);
    diag_sink_deinit(&sink);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int dtype = 0; dtype < NUM_DTYPES; dtype++)
        for (uint32_t rank = 0; rank <= 4; rank++) {
            const int64_t dims[] = {2, 1, 3, 2};
            uint64_t bytes = dtype_info((Dtype)dtype)->bytes;
            for (uint32_t d = 0; d < rank; d++) bytes *= (uint64_t)dims[d];
            StrBuf file = {0};
            npy_put_header((Dtype)dtype, rank, dims, &file);
            assert_int_equal(file.len % 64, 0);
            for (uint64_t i = 0; i < bytes; i++) strbuf_putc(&file, (char)(i % 2));
            DiagSink sink;
            NpyTensor t;
            diag_sink_init(&sink);
            assert_int_equal(npy_parse((const uint8_t *)file.data, file.len, "x.npy", &sink, &t),
                             STATUS_OK);
            bool same = t.dtype == (Dtype)dtype || (dtype == DTYPE_INDEX && t.dtype == DTYPE_I64);
            assert_true(same);
            assert_int_equal(t.rank, rank);
            assert_int_equal(t.len_bytes, bytes);
            diag_sink_deinit(&sink);
            strbuf_deinit(&file);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_numpy_writes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
