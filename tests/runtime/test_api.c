// The public interface, used as a program outside of Ingot would: only ingot.h is included, apart
// from what makes the artifact.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingot.h"
#include "synthetic.h"

static char *artifact_path;

static int set_up(void **state) {
    artifact_path = synthetic_path("api");
    synthetic_write(artifact_path, &(SyntheticOptions){0});
    IngotModel *model = NULL;
    IngotOptions options = {.num_threads = 2};
    assert_int_equal(ingot_model_open(artifact_path, &options, &model, NULL), INGOT_OK);
    *state = model;
    return 0;
}

static int tear_down(void **state) {
    ingot_model_close(*state);
    unlink(artifact_path);
    free(artifact_path);
    return 0;
}

static void test_info(void **state) {
    const IngotModel *model = *state;
    IngotModelInfo info = ingot_model_info(model);
    assert_string_equal(info.name, "synthetic");
    assert_int_equal(info.num_threads, 2);
    assert_int_equal(info.max_threads, SYNTHETIC_MAX_THREADS);
    assert_int_equal(info.vocab_size, SYNTHETIC_VOCAB);
    assert_int_equal(info.context_tokens, SYNTHETIC_CONTEXT);
    assert_int_equal(info.page_tokens, SYNTHETIC_PAGE_TOKENS);
    assert_int_equal(info.chunk_tokens, SYNTHETIC_LARGEST_BUCKET);
    assert_false(info.has_tokenizer);
    assert_true(strlen(ingot_version()) >= 5);
    uint64_t sum = 0;
    bool has_outside = false;
    for (uint32_t i = 0; i < ingot_model_num_memory_parts(model); i++) {
        IngotMemoryPart part = ingot_model_memory_part(model, i);
        if (part.is_outside)
            has_outside = true;
        else
            sum += part.bytes;
    }
    assert_int_equal(sum, info.memory_bytes);
    assert_true(has_outside);
    assert_string_equal(ingot_model_memory_part(model, 1000).name, "");
}

static void test_generate(void **state) {
    IngotModel *model = *state;
    IngotSession *session = NULL;
    IngotSampler *sampler = NULL;
    IngotError *error = NULL;
    int32_t ids[SYNTHETIC_CONTEXT] = {5, 17, 300, 0, 9}, id = -1;
    float expected[SYNTHETIC_VOCAB];
    uint32_t num_ids = 5;
    assert_int_equal(ingot_session_create(model, &session, &error), INGOT_OK);
    assert_int_equal(ingot_sampler_create(model, NULL, &sampler, &error), INGOT_OK);
    assert_null(ingot_logits(session));
    assert_int_equal(ingot_sample(sampler, session, &id, &error), INGOT_INVALID);
    assert_string_equal(ingot_error_code(error), "X0016");
    ingot_error_free(error);
    error = NULL;
    assert_int_equal(ingot_session_set_chunk(session, 3, &error), INGOT_OK);
    assert_int_equal(ingot_prefill(session, ids, num_ids, &error), INGOT_OK);
    while (num_ids < 40) {
        synthetic_reference(ids, num_ids, expected);
        assert_memory_equal(ingot_logits(session), expected, sizeof expected);
        assert_int_equal(ingot_sample(sampler, session, &id, &error), INGOT_OK);
        for (int32_t v = 0; v < SYNTHETIC_VOCAB; v++) assert_true(expected[v] <= expected[id]);
        ids[num_ids++] = id;
        assert_int_equal(ingot_decode(session, id, &error), INGOT_OK);
        assert_int_equal(ingot_session_num_tokens(session), num_ids);
    }
    assert_null(error);
    ingot_session_reset(session);
    assert_int_equal(ingot_session_num_tokens(session), 0);
    assert_null(ingot_logits(session));
    ingot_sampler_destroy(sampler);
    ingot_session_destroy(session);
}

static void test_errors(void **state) {
    IngotModel *model = *state, *other = NULL;
    IngotSession *session = NULL;
    IngotSampler *sampler = NULL;
    IngotError *error = NULL;
    assert_int_equal(ingot_model_open("/nonexistent.ingot", NULL, &other, &error), INGOT_IO);
    assert_string_equal(ingot_error_code(error), "U0002");
    assert_non_null(strstr(ingot_error_text(error), "/nonexistent.ingot"));
    assert_non_null(strstr(ingot_error_text(error), ingot_error_message(error)));
    ingot_error_free(error);
    assert_null(other);
    IngotOptions options = {.num_threads = 1000};
    assert_int_equal(ingot_model_open(artifact_path, &options, &other, &error), INGOT_LIMIT);
    assert_string_equal(ingot_error_code(error), "X0009");
    ingot_error_free(error);
    options = (IngotOptions){.cpu_level = "pentium"};
    assert_int_equal(ingot_model_open(artifact_path, &options, &other, NULL), INGOT_USAGE);

    assert_int_equal(ingot_session_create(model, &session, NULL), INGOT_OK);
    assert_int_equal(ingot_decode(session, -1, &error), INGOT_INVALID);
    assert_string_equal(ingot_error_code(error), "X0012");
    ingot_error_free(error);
    int32_t ids[SYNTHETIC_CONTEXT + 1] = {0};
    assert_int_equal(ingot_prefill(session, ids, SYNTHETIC_CONTEXT + 1, &error), INGOT_LIMIT);
    assert_string_equal(ingot_error_code(error), "X0011");
    ingot_error_free(error);
    assert_int_equal(ingot_session_set_chunk(session, 0, NULL), INGOT_INVALID);
    ingot_session_destroy(session);

    IngotSampling sampling = {.temperature = 1, .top_p = -3};
    assert_int_equal(ingot_sampler_create(model, &sampling, &sampler, &error), INGOT_INVALID);
    assert_null(sampler);
    ingot_error_free(error);
    assert_string_equal(ingot_error_code(NULL), "");
    assert_string_equal(ingot_error_text(NULL), "");
    ingot_error_free(NULL);
}

static void test_without_tokenizer(void **state) {
    const IngotModel *model = *state;
    IngotError *error = NULL;
    int32_t *ids = NULL;
    size_t num_ids = 99, len;
    const char *bytes;
    assert_int_equal(ingot_tokenize(model, "x", 1, 0, &ids, &num_ids, &error), INGOT_INVALID);
    assert_string_equal(ingot_error_code(error), "X0017");
    assert_null(ids);
    assert_int_equal(num_ids, 99);
    ingot_error_free(error);
    IngotMessage message = {"user", "hi", 2};
    assert_int_equal(ingot_chat_prompt(model, &message, 1, NULL, &ids, &num_ids, &error),
                     INGOT_INVALID);
    assert_string_equal(ingot_error_code(error), "X0017");
    assert_false(ingot_model_info(model).has_chat_template);
    ingot_error_free(error);
    assert_false(ingot_token_bytes(model, 0, &bytes, &len));
    assert_false(ingot_token_is_end(model, 0));
    assert_false(ingot_adds_bos(model));
    IngotText *text = ingot_text_create(model);
    assert_string_equal(ingot_text_push(text, 3), "");
    assert_string_equal(ingot_text_finish(text), "");
    ingot_text_destroy(text);
    ingot_text_destroy(NULL);
    ingot_session_destroy(NULL);
    ingot_sampler_destroy(NULL);
    ingot_model_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_generate),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_without_tokenizer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
