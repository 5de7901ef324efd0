// Stop texts that come in pieces, overlap, or never come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "cli/stop_text.h"

// Feeds text in pieces of the given size; returns whether it was stopped.
static bool feed(const char *const *stops, size_t num_stops, const char *text, size_t piece,
                 StrBuf *out) {
    StopText stop = {.stops = stops, .num_stops = num_stops};
    bool is_stopped = false;
    for (size_t at = 0; text[at] && !is_stopped;) {
        size_t len = strnlen(text + at, piece);
        is_stopped = stop_text_push(&stop, text + at, len, out);
        at += len;
    }
    if (!is_stopped) stop_text_finish(&stop, out);
    stop_text_deinit(&stop);
    return is_stopped;
}

static void expect(const char *const *stops, size_t num_stops, const char *text,
                   const char *expected, bool is_stopped) {
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        StrBuf out = {0};
        assert_int_equal(feed(stops, num_stops, text, piece, &out), is_stopped);
        assert_string_equal(out.data ? out.data : "", expected);
        strbuf_deinit(&out);
    }
}

static void test_no_stops(void **state) {
    (void)state;
    expect(NULL, 0, "one two", "one two", false);
}

static void test_stop_in_pieces(void **state) {
    (void)state;
    const char *const stops[] = {"END"};
    expect(stops, 1, "the EN, the END and more", "the EN, the ", true);
    expect(stops, 1, "ends with EN", "ends with EN", false);
    expect(stops, 1, "EEND", "E", true);
    expect(stops, 1, "END", "", true);
}

static void test_self_overlap(void **state) {
    (void)state;
    const char *const stops[] = {"abab"};
    expect(stops, 1, "abaabab!", "aba", true);
    expect(stops, 1, "abaabaaba", "abaabaaba", false);
}

static void test_several_stops(void **state) {
    (void)state;
    // One is the beginning of the other: the shorter one decides.
    const char *const stops[] = {"\n\nUser:", "\n\n", "Z"};
    expect(stops, 3, "a\nb\n\nUser: c", "a\nb", true);
    expect(stops, 3, "no stop\n", "no stop\n", false);
    expect(stops, 3, "xZ", "x", true);
}

// Nothing that a stop text cannot begin with is held back.
static void test_shows_at_once(void **state) {
    (void)state;
    const char *const stops[] = {"<stop>"};
    StopText stop = {.stops = stops, .num_stops = 1};
    StrBuf out = {0};
    assert_false(stop_text_push(&stop, "plain", 5, &out));
    assert_string_equal(out.data, "plain");
    assert_false(stop_text_push(&stop, " text<st", 8, &out));
    assert_string_equal(out.data, "plain text");
    assert_false(stop_text_push(&stop, "x", 1, &out));
    assert_string_equal(out.data, "plain text<stx");
    strbuf_deinit(&out);
    stop_text_deinit(&stop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_stops),      cmocka_unit_test(test_stop_in_pieces),
        cmocka_unit_test(test_self_overlap),  cmocka_unit_test(test_several_stops),
        cmocka_unit_test(test_shows_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
