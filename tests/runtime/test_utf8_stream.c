// Any cut of any bytes gives the same text: whole characters, one U+FFFD per invalid sequence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/utf8_stream.h"

#define R UTF8_REPLACEMENT

static const struct {
    const char *bytes, *text;
} CASES[] = {
    {"plain", "plain"},
    {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\xA6\x99", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\xA6\x99"},
    {"a\x80"
     "b",
     "a" R "b"},
    {"\xC3", R},
    {"\xC3"
     "a",
     R "a"},
    {"\xE2\x82"
     "a",
     R "a"}, // a cut character is one error
    {"\xF0\x9F\xA6\xC3\xA4", R "\xC3\xA4"},
    {"\xC0\x80", R R}, // overlong: no beginning at all
    {"\xE0\x9F\xBF", R R R},
    {"\xED\xA0\x80", R R R},       // surrogate
    {"\xF4\x90\x80\x80", R R R R}, // above U+10FFFF
    {"\xF0\x9F\xA6", R},
    {"\xFF\xFE", R R},
    {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
};

static void test_every_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        size_t len = strlen(CASES[i].bytes);
        for (unsigned cuts = 0; cuts < 1u << (len - 1) && cuts < 1u << 8; cuts++) {
            Utf8Stream stream = {0};
            StrBuf out = {0};
            size_t start = 0;
            for (size_t pos = 1; pos <= len; pos++) {
                if (pos < len && !(cuts >> (pos - 1) & 1)) continue;
                utf8_stream_push(&stream, CASES[i].bytes + start, pos - start, &out);
                // Nothing but whole characters is ever out.
                for (size_t k = 0; k < out.len;) {
                    Utf8Step step = utf8_step(out.data + k, out.len - k);
                    assert_int_equal(step.kind, UTF8_CHAR);
                    k += step.num_bytes;
                }
                start = pos;
            }
            utf8_stream_finish(&stream, &out);
            assert_int_equal(out.len, strlen(CASES[i].text));
            assert_memory_equal(out.data, CASES[i].text, out.len);
            utf8_stream_finish(&stream, &out); // nothing is left
            assert_int_equal(out.len, strlen(CASES[i].text));
            strbuf_deinit(&out);
        }
    }
}

static void test_encode_all(void **state) {
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c < 0xE000) continue;
        char bytes[UTF8_MAX_CHAR_BYTES];
        uint32_t len = utf8_encode(c, bytes);
        Utf8Step step = utf8_step(bytes, len);
        assert_true(step.kind == UTF8_CHAR && step.num_bytes == len && step.code_point == c);
        if (len > 1) assert_true(utf8_step(bytes, len - 1).kind == UTF8_PARTIAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_cut),
                                       cmocka_unit_test(test_encode_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
