// Answers a prompt with an artifact, through Ingot's C library:
//
//     cc generate.c $(pkg-config --cflags --libs ingot) -o generate
//     ./generate model.ingot "The capital of France is" 32
#include <ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int report(IngotStatus status, IngotError *error) {
    fputs(ingot_error_text(error), stderr);
    ingot_error_free(error);
    return (int)status;
}

// Prints up to max_tokens tokens after the prompt, the most likely one each time.
static int generate(IngotModel *model, const char *prompt, long max_tokens) {
    IngotError *error = NULL;
    IngotSession *session = NULL;
    IngotSampler *sampler = NULL;
    IngotText *text = ingot_text_create(model);
    int32_t *ids = NULL, id = 0;
    size_t num_ids = 0;
    uint32_t flags = ingot_adds_bos(model) ? INGOT_TOKENIZE_BOS : 0;
    IngotStatus status =
        ingot_tokenize(model, prompt, strlen(prompt), flags, &ids, &num_ids, &error);
    if (status == INGOT_OK) status = ingot_session_create(model, &session, &error);
    if (status == INGOT_OK) status = ingot_sampler_create(model, NULL, &sampler, &error);
    if (status == INGOT_OK) status = ingot_prefill(session, ids, num_ids, &error);
    for (long i = 0; i < max_tokens && status == INGOT_OK; i++) {
        status = ingot_sample(sampler, session, &id, &error);
        if (status != INGOT_OK || ingot_token_is_end(model, id)) break;
        fputs(ingot_text_push(text, id), stdout);
        fflush(stdout);
        status = ingot_decode(session, id, &error);
    }
    puts(ingot_text_finish(text));
    ingot_ids_free(ids);
    ingot_sampler_destroy(sampler);
    ingot_session_destroy(session);
    ingot_text_destroy(text);
    return status == INGOT_OK ? 0 : report(status, error);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s FILE.ingot PROMPT TOKENS\n", argv[0]);
        return INGOT_USAGE;
    }
    IngotModel *model = NULL;
    IngotError *error = NULL;
    IngotStatus status = ingot_model_open(argv[1], NULL, &model, &error);
    if (status != INGOT_OK) return report(status, error);
    int result = generate(model, argv[2], strtol(argv[3], NULL, 10));
    ingot_model_close(model);
    return result;
}
