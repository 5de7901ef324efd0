// The reference token ids of a real model: 3,000 texts in both readings of control tokens, and the
// prompts. INGOT_MODEL is the GGUF file, INGOT_GOLDEN_DIR the folder that holds smollm2-135m.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "runtime/chat.h"
#include "tokenizer_fixture.h"

static TokenizerFixture fixture;
static const char *golden_dir;

static int set_up(void **state) {
    (void)state;
    const char *model = getenv("INGOT_MODEL");
    golden_dir = getenv("INGOT_GOLDEN_DIR");
    if (!model || !golden_dir) {
        golden_dir = NULL;
        return 0;
    }
    Status status = fixture_open(&fixture, model);
    fixture_print_diags(&fixture);
    return status == STATUS_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    if (golden_dir) fixture_close(&fixture);
    return 0;
}

static void skip_without_model(void) {
    if (golden_dir) return;
    fprintf(stderr, "SKIPPED: INGOT_MODEL or INGOT_GOLDEN_DIR is not set\n");
    skip();
}

static char *golden_path(const char *name) {
    StrBuf path = {0};
    strbuf_printf(&path, "%s/smollm2-135m/%s", golden_dir, name);
    return strbuf_take(&path);
}

static bool encodes_to(const json_t *text, const json_t *wanted, uint32_t flags) {
    TokenIds ids = {0};
    assert_int_equal(tokenizer_encode(fixture.tokenizer, json_string_value(text),
                                      json_string_length(text), flags, &fixture.sink, &ids),
                     STATUS_OK);
    bool is_equal = ids.count == json_array_size(wanted);
    for (size_t i = 0; is_equal && i < ids.count; i++)
        is_equal = ids.ids[i] == json_integer_value(json_array_get(wanted, i));
    // What was encoded prints as the text again.
    StrBuf back = {0};
    for (size_t i = 0; i < ids.count; i++) {
        const char *bytes;
        size_t len;
        assert_true(tokenizer_decode_token(fixture.tokenizer, ids.ids[i], &bytes, &len));
        strbuf_append(&back, bytes, len);
    }
    is_equal &= back.len == json_string_length(text) &&
                (back.len == 0 || memcmp(back.data, json_string_value(text), back.len) == 0);
    strbuf_deinit(&back);
    token_ids_deinit(&ids);
    return is_equal;
}

static void test_texts(void **state) {
    (void)state;
    skip_without_model();
    char *path = golden_path("tokenizer.jsonl");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0, num_all = 0, num_plain = 0, num_special = 0;
    while (getline(&line, &capacity, file) > 0) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        const json_t *text = json_object_get(row, "text");
        num_plain += encodes_to(text, json_object_get(row, "ids"), 0);
        num_special +=
            encodes_to(text, json_object_get(row, "ids_special"), TOKENIZE_PARSE_SPECIAL);
        num_all++;
        json_decref(row);
    }
    fprintf(stderr, "plain: %zu of %zu equal; with control tokens: %zu of %zu equal\n", num_plain,
            num_all, num_special, num_all);
    assert_true(num_all >= 3000);
    assert_int_equal(num_plain, num_all);
    assert_int_equal(num_special, num_all);
    free(line);
    fclose(file);
    free(path);
}

static void test_prompts(void **state) {
    (void)state;
    skip_without_model();
    char *path = golden_path("prompts.json");
    json_t *prompts = json_load_file(path, 0, NULL);
    assert_non_null(prompts);
    size_t index, num_texts = 0, num_chats = 0;
    json_t *prompt;
    json_array_foreach(prompts, index, prompt) {
        const json_t *text = json_object_get(prompt, "text");
        if (text) {
            assert_true(encodes_to(text, json_object_get(prompt, "ids"), 0));
            num_texts++;
        } else {
            assert_true(encodes_to(json_object_get(prompt, "rendered"),
                                   json_object_get(prompt, "ids_whole"), TOKENIZE_PARSE_SPECIAL));
            num_chats++;
        }
    }
    fprintf(stderr, "%zu texts and %zu chats equal\n", num_texts, num_chats);
    assert_int_equal(num_texts + num_chats, json_array_size(prompts));
    assert_true(num_chats > 0);
    json_decref(prompts);
    free(path);
}

// The model's own chat template over the messages: text, and ids in which no message becomes a
// control token.
static void check_chat(const Template *parsed, const json_t *prompt) {
    enum { MAX_MESSAGES = 8 };
    ChatMessage messages[MAX_MESSAGES];
    const json_t *list = json_object_get(prompt, "messages");
    size_t count = json_array_size(list);
    assert_in_range(count, 1, MAX_MESSAGES);
    for (size_t i = 0; i < count; i++) {
        const json_t *message = json_array_get(list, i),
                     *content = json_object_get(message, "content");
        messages[i] = (ChatMessage){json_string_value(json_object_get(message, "role")),
                                    json_string_value(content), json_string_length(content)};
    }
    TemplateOutput text = {0};
    TokenIds ids = {0};
    assert_int_equal(chat_render(parsed, fixture.tokenizer, messages, count, (ChatOptions){0},
                                 &fixture.sink, &text),
                     STATUS_OK);
    assert_string_equal(text.text.data, json_string_value(json_object_get(prompt, "rendered")));
    assert_int_equal(chat_encode(fixture.tokenizer, &text, &fixture.sink, &ids), STATUS_OK);
    const json_t *wanted = json_object_get(prompt, "ids");
    assert_int_equal(ids.count, json_array_size(wanted));
    for (size_t i = 0; i < ids.count; i++)
        assert_int_equal(ids.ids[i], json_integer_value(json_array_get(wanted, i)));
    token_ids_deinit(&ids);
    template_output_deinit(&text);
}

static void test_chats(void **state) {
    (void)state;
    skip_without_model();
    GgufString source;
    Template *parsed = NULL;
    assert_true(tokenizer_chat_template(fixture.gguf, &source));
    assert_int_equal(
        template_parse(source.data, source.len, "chat template", &fixture.sink, &parsed),
        STATUS_OK);
    char *path = golden_path("prompts.json");
    json_t *prompts = json_load_file(path, 0, NULL), *prompt;
    assert_non_null(prompts);
    size_t index, num_chats = 0;
    json_array_foreach(prompts, index, prompt) {
        if (!json_object_get(prompt, "messages")) continue;
        check_chat(parsed, prompt);
        num_chats++;
    }
    fprintf(stderr, "%zu conversations equal\n", num_chats);
    assert_true(num_chats >= 5);
    json_decref(prompts);
    template_destroy(parsed);
    free(path);
}

// 100 KB each: time may grow only a little faster than the text.
static void test_long_texts(void **state) {
    (void)state;
    skip_without_model();
    static const char *const units[] = {"a", " ",    "\n", "'", "ab ", "\xF0\x9F\xA6\x99",
                                        "1", "<|im_"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        StrBuf text = {0};
        while (text.len < 100000) strbuf_puts(&text, units[i]);
        TokenIds ids = {0};
        struct timespec start, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        assert_int_equal(tokenizer_encode(fixture.tokenizer, text.data, text.len,
                                          TOKENIZE_PARSE_SPECIAL, &fixture.sink, &ids),
                         STATUS_OK);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double ms = (double)(end.tv_sec - start.tv_sec) * 1e3 +
                    (double)(end.tv_nsec - start.tv_nsec) * 1e-6;
        fprintf(stderr, "100 KB of \"%s\": %zu tokens in %.1f ms\n", units[i], ids.count, ms);
        assert_true(ids.count > 0);
        assert_true(ms < 2000); // quadratic merging takes minutes
        token_ids_deinit(&ids);
        strbuf_deinit(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_prompts),
        cmocka_unit_test(test_chats),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
