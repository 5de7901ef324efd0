// Chat templates: the cases of template_cases.json, whose answers come from Jinja itself; the marks
// of user text through every operation; limits; places of errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "template_json.h"

#ifndef INGOT_SOURCE_DIR
#define INGOT_SOURCE_DIR "."
#endif

typedef struct Rendering {
    DiagSink sink;
    Status parse_status, render_status;
    TemplateOutput output;
} Rendering;

static void render(Rendering *rendering, const char *text, const json_t *variables) {
    *rendering = (Rendering){0};
    diag_sink_init(&rendering->sink);
    Template *parsed = NULL;
    Arena arena;
    arena_init(&arena);
    rendering->parse_status =
        template_parse(text, strlen(text), "chat.jinja", &rendering->sink, &parsed);
    struct tm now = {.tm_year = 126, .tm_mon = 6, .tm_mday = 4, .tm_wday = 6};
    if (rendering->parse_status == STATUS_OK)
        rendering->render_status =
            template_render(parsed, template_from_json(&arena, variables, false), &now,
                            &rendering->sink, &rendering->output);
    template_destroy(parsed);
    arena_deinit(&arena);
}

static void rendering_deinit(Rendering *rendering) {
    template_output_deinit(&rendering->output);
    diag_sink_deinit(&rendering->sink);
}

static const char *text_of(const Rendering *rendering) {
    return rendering->output.text.data ? rendering->output.text.data : "";
}

// Pieces cover the text and alternate.
static void check_pieces(const TemplateOutput *output) {
    size_t offset = 0;
    for (size_t i = 0; i < output->num_pieces; i++) {
        assert_int_equal(output->pieces[i].offset, offset);
        assert_true(output->pieces[i].len > 0);
        if (i) assert_true(output->pieces[i].is_user != output->pieces[i - 1].is_user);
        offset += output->pieces[i].len;
    }
    assert_int_equal(offset, output->text.len);
}

static bool check_case(const json_t *test, const json_t *variables) {
    const char *text = json_string_value(json_object_get(test, "template"));
    const char *refused = json_string_value(json_object_get(test, "refused"));
    const json_t *wanted = json_object_get(test, "output");
    Rendering got;
    render(&got, text, variables);
    bool is_equal;
    if (!refused) {
        is_equal = got.parse_status == STATUS_OK && got.render_status == STATUS_OK &&
                   got.output.text.len == json_string_length(wanted) &&
                   memcmp(text_of(&got), json_string_value(wanted), got.output.text.len) == 0;
    } else { // what Jinja refuses when rendering may be refused earlier
        is_equal = got.parse_status == STATUS_INVALID ||
                   (str_equal(refused, "render") && got.render_status == STATUS_INVALID);
        if (is_equal) assert_true(got.sink.num_errors > 0 && got.sink.diags[0].span.line > 0);
    }
    check_pieces(&got.output);
    if (!is_equal) {
        StrBuf message = {0};
        diag_render(&got.sink, &message);
        fprintf(stderr, "differs: %s\n  wanted: %s\n  got:    %s\n%s", text,
                refused ? refused : json_string_value(wanted), text_of(&got),
                message.data ? message.data : "");
        strbuf_deinit(&message);
    }
    rendering_deinit(&got);
    return is_equal;
}

static void test_cases(void **state) {
    (void)state;
    json_t *file =
        json_load_file(INGOT_SOURCE_DIR "/tests/text/template_cases.json", JSON_ALLOW_NUL, NULL);
    assert_non_null(file);
    json_t *variables = json_object_get(file, "variables"), *test;
    size_t index, num_equal = 0;
    json_array_foreach(json_object_get(file, "cases"), index, test) num_equal +=
        check_case(test, variables);
    size_t num_all = json_array_size(json_object_get(file, "cases"));
    fprintf(stderr, "%zu of %zu as in Jinja\n", num_equal, num_all);
    assert_true(num_all > 350);
    assert_int_equal(num_equal, num_all);
    json_decref(file);
}

// ---------------------------------------------------------------- marks

// The output with every stretch of user text in square brackets.
static void assert_marked(const char *text, const char *wanted) {
    json_t *variables =
        json_loads("{\"messages\": [{\"role\": \"user\", \"content\": \" Hi <|x|> y \","
                   "\"args\": {\"k\": [\"v\", 1]}}], \"bos\": \"<s>\"}",
                   0, NULL);
    Rendering got;
    StrBuf marked = {0};
    render(&got, text, variables);
    assert_int_equal(got.parse_status, STATUS_OK);
    assert_int_equal(got.render_status, STATUS_OK);
    check_pieces(&got.output);
    for (size_t i = 0; i < got.output.num_pieces; i++) {
        TemplatePiece piece = got.output.pieces[i];
        if (piece.is_user) strbuf_putc(&marked, '[');
        strbuf_append(&marked, got.output.text.data + piece.offset, piece.len);
        if (piece.is_user) strbuf_putc(&marked, ']');
    }
    assert_string_equal(marked.data, wanted);
    strbuf_deinit(&marked);
    rendering_deinit(&got);
    json_decref(variables);
}

#define C "messages[0].content"

static void test_marks(void **state) {
    (void)state;
    assert_marked("<|a|>{{ " C " }}<|b|>", "<|a|>[ Hi <|x|> y ]<|b|>");
    assert_marked("{{ '<|' + " C " + '|>' }}", "<|[ Hi <|x|> y ]|>");
    assert_marked("{{ bos ~ " C " | trim ~ bos }}", "<s>[Hi <|x|> y]<s>");
    assert_marked("{{ " C ".strip() }}", "[Hi <|x|> y]");
    assert_marked("{{ " C " | replace('<|x|>', '<|z|>') }}", "[ Hi ]<|z|>[ y ]");
    assert_marked("{{ 'a-b' | replace('-', " C ") }}", "a[ Hi <|x|> y ]b");
    assert_marked("{{ " C ".replace('Hi', '') }}", "[  <|x|> y ]");
    assert_marked("{{ " C " | upper }}|{{ " C ".title() }}", "[ HI <|X|> Y ]|[ Hi <|X|> Y ]");
    assert_marked("{{ " C "[4:9] }}{{ " C "[::-1] }}{{ " C "[1] }}", "[<|x|> y >|x|< iH H]");
    assert_marked("{{ " C ".split('<') | join('<') }}", "[ Hi ]<[|x|> y ]");
    assert_marked("{{ [" C ", 'b'] | join(" C ") }}", "[ Hi <|x|> y  Hi <|x|> y ]b");
    assert_marked("{{ messages[0].args | tojson }}", "{\"[k]\": [\"[v]\", 1]}");
    assert_marked("{{ messages[0].args }}", "{'[k]': ['[v]', 1]}");
    assert_marked("{% set x %}<a>{{ " C " }}{% endset %}{{ x | upper }}", "<A>[ HI <|X|> Y ]");
    assert_marked("{% macro m(x) %}<m>{{ x }}{% endmacro %}{{ m(" C ") ~ '!' }}",
                  "<m>[ Hi <|x|> y ]!");
    assert_marked("{% filter upper %}a{{ " C " }}{% endfilter %}", "A[ HI <|X|> Y ]");
    assert_marked("{{ '{} <|e|>'.format(" C ") }}", "[ Hi <|x|> y ] <|e|>");
    assert_marked("{{ " C " | indent(2, true) }}", "  [ Hi <|x|> y ]");
    assert_marked("{{ (" C " * 2)[:6] }}", "[ Hi <|]");
    assert_marked("{{ " C " | list | first }}{{ " C " | last }}.", "[  ].");
    assert_marked("{% set ns = namespace(x='') %}{% for m in messages %}{% set ns.x = ns.x + '<b>' "
                  "+ m.content"
                  "%}{% endfor %}{{ ns.x }}",
                  "<b>[ Hi <|x|> y ]");
    assert_marked("{{ [" C "] | map('trim') | join }}", "[Hi <|x|> y]");
    assert_marked("{% for c in " C " %}{{ c }}{% endfor %}", "[ Hi <|x|> y ]");
    assert_marked("{{ " C " | length }} {{ 'Hi' in " C " }}", "12 True");
    assert_marked("{{ {" C ": 1} | tojson }}{{ dict(a=" C ")['a'] }}",
                  "{\"[ Hi <|x|> y ]\": 1}[ Hi <|x|> y ]");
    assert_marked("{{ [" C "] | string }}", "['[ Hi <|x|> y ]']");
    assert_marked("{{ " C " | string }}{{ " C " | safe }}", "[ Hi <|x|> y  Hi <|x|> y ]");
}

// ---------------------------------------------------------------- refusals

static void assert_refused(const char *text, DiagCode code, uint32_t line, uint32_t col) {
    json_t *variables = json_object();
    Rendering got;
    render(&got, text, variables);
    assert_true(got.parse_status == STATUS_INVALID || got.render_status == STATUS_INVALID);
    assert_int_equal(got.sink.diags[0].code, code);
    if (line) {
        assert_int_equal(got.sink.diags[0].span.line, line);
        assert_int_equal(got.sink.diags[0].span.col, col);
    }
    assert_int_equal(got.output.text.len, 0);
    rendering_deinit(&got);
    json_decref(variables);
}

static void test_places(void **state) {
    (void)state;
    assert_refused("a\n{{ x | trom }}", DIAG_T0021, 2, 8);
    assert_refused("{% include 'x' %}", DIAG_T0021, 1, 4);
    assert_refused("{% for i in x recursive %}{% endfor %}", DIAG_T0021, 1, 15);
    assert_refused("{{ x is strng }}", DIAG_T0021, 1, 9);
    assert_refused("{{ x.append(1) }}", DIAG_T0021, 1, 6);
    assert_refused("\n\n{{ nothing(1) }}", DIAG_T0021, 3, 4);
    assert_refused("{{ f(*x) }}", DIAG_T0021, 1, 6);
    assert_refused("{% if x %}\n\n{% endfor %}", DIAG_T0020, 3, 4);
    assert_refused("a\nb {{ 1", DIAG_T0020, 2, 3);
    assert_refused("\n  {{ 1 + 'a' }}", DIAG_T0023, 2, 8);
    assert_refused("\n{{ raise_exception('no') }}", DIAG_T0024, 2, 19);
    assert_refused("{{ x.y.z }}", DIAG_T0023, 1, 6);
}

static void repeat(StrBuf *text, const char *part, size_t count) {
    for (size_t i = 0; i < count; i++) strbuf_puts(text, part);
}

static void test_limits(void **state) {
    (void)state;
    StrBuf text = {0};
    strbuf_puts(&text, "{{ ");
    repeat(&text, "(", 5000);
    repeat(&text, ")", 5000);
    strbuf_puts(&text, " }}");
    assert_refused(text.data, DIAG_T0022, 0, 0);
    strbuf_clear(&text);
    strbuf_puts(&text, "{{ 1");
    repeat(&text, " + 1", 5000);
    strbuf_puts(&text, " }}");
    assert_refused(text.data, DIAG_T0022, 0, 0);
    strbuf_clear(&text);
    strbuf_puts(&text, "{{ ");
    repeat(&text, "- ", 5000);
    strbuf_puts(&text, "1 }}");
    assert_refused(text.data, DIAG_T0022, 0, 0);
    strbuf_clear(&text);
    repeat(&text, "{% if 1 %}", 5000);
    assert_refused(text.data, DIAG_T0022, 0, 0);
    assert_refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", DIAG_T0022, 0, 0);
    assert_refused(
        "{% for i in range(100000) %}{% for k in range(100000) %}{% endfor %}{% endfor %}",
        DIAG_T0022, 0, 0);
    assert_refused("{{ 'x' * 100000000 }}", DIAG_T0022, 0, 0);
    assert_refused("{{ range(1000000000) | list }}", DIAG_T0022, 0, 0);
    assert_refused(
        "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}"
        "{% endfor %}",
        DIAG_T0022, 0, 0);
    assert_refused("{% set ns = namespace(x=[]) %}{% for i in range(100) %}{% set ns.x = [ns.x] %}"
                   "{% endfor %}{{ ns.x }}",
                   DIAG_T0023, 0, 0);
    strbuf_deinit(&text);
}

static void test_not_text(void **state) {
    (void)state;
    DiagSink sink;
    diag_sink_init(&sink);
    Template *parsed = NULL;
    assert_int_equal(template_parse("a\0b", 3, "t", &sink, &parsed), STATUS_INVALID);
    assert_int_equal(template_parse("a\xFF", 2, "t", &sink, &parsed), STATUS_INVALID);
    assert_null(parsed);
    diag_sink_deinit(&sink);
}

static void test_date(void **state) {
    (void)state;
    assert_marked("{{ strftime_now('%d %b %Y, %A') }}", "04 Jul 2026, Saturday");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),    cmocka_unit_test(test_marks),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_not_text), cmocka_unit_test(test_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
