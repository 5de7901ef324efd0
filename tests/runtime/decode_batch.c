// Generates with several sequences at once: after every step of a batch each sequence must have, to
// the bit, the logits it has when it generates alone. The batches are of every size, in changing
// order, the sequences of different lengths, so that they cross page borders at different steps;
// requests that are refused in between must change nothing. Usage: decode_batch FILE THREADS STEPS.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingot.h"

enum { MAX_SEQUENCES = 16 };

typedef struct Test {
    IngotModel *model;
    IngotModelInfo info;
    uint32_t num, steps;
    int num_wrong;
} Test;

static void must(IngotStatus status, IngotError *error) {
    if (status == INGOT_OK) return;
    fputs(ingot_error_text(error), stderr);
    exit((int)status);
}

static IngotSession *open_session(const Test *test) {
    IngotSession *session = NULL;
    IngotError *error = NULL;
    must(ingot_session_create(test->model, &session, &error), error);
    return session;
}

static int32_t token(const Test *test, uint32_t sequence, uint32_t place) {
    return (int32_t)((sequence * 131 + place * 37 + 5) % test->info.vocab_size);
}

static void start(const Test *test, IngotSession *session, uint32_t sequence) {
    int32_t ids[64];
    size_t num = 1 + sequence * 5 % 31;
    IngotError *error = NULL;
    for (uint32_t i = 0; i < num; i++) ids[i] = token(test, sequence, i + 1000);
    must(ingot_prefill(session, ids, num, &error), error);
}

// [step, vocabulary] of a sequence that generates alone.
static float *generate_alone(const Test *test, uint32_t sequence) {
    size_t row = test->info.vocab_size;
    float *logits = calloc(test->steps * row, sizeof *logits);
    IngotSession *session = open_session(test);
    if (!logits) abort();
    start(test, session, sequence);
    for (uint32_t step = 0; step < test->steps; step++) {
        IngotError *error = NULL;
        must(ingot_decode(session, token(test, sequence, step), &error), error);
        memcpy(logits + step * row, ingot_logits(session), row * sizeof *logits);
    }
    ingot_session_destroy(session);
    return logits;
}

static void expect_refusal(Test *test, IngotStatus status, IngotError *error, IngotStatus wanted,
                           const char *code) {
    if (status != wanted || !strstr(ingot_error_text(error), code)) {
        printf("status %d instead of %d with %s\n", (int)status, (int)wanted, code);
        test->num_wrong++;
    }
    ingot_error_free(error);
}

static void try_refusals(Test *test, IngotSession **sessions) {
    IngotSession *many[MAX_SEQUENCES + 1];
    int32_t ids[MAX_SEQUENCES + 1] = {0};
    IngotError *error = NULL;
    for (uint32_t i = 0; i <= test->num; i++) many[i] = sessions[i % test->num];
    IngotStatus status = ingot_decode_batch(many, ids, test->num + 1, &error);
    expect_refusal(test, status, error, INGOT_LIMIT, "X0022");
    many[1] = many[0];
    status = ingot_decode_batch(many, ids, 2, &error);
    expect_refusal(test, status, error, INGOT_INVALID, "X0022");
    ids[test->num - 1] = (int32_t)test->info.vocab_size;
    status = ingot_decode_batch(sessions, ids, test->num, &error);
    expect_refusal(test, status, error, INGOT_INVALID, "X0012");
    must(ingot_decode_batch(sessions, ids, 0, &error), error);
}

static void generate_together(Test *test, IngotSession **sessions, float *const *alone) {
    uint32_t done[MAX_SEQUENCES] = {0}, turn = 0;
    for (bool is_over = false; !is_over; turn++) {
        IngotSession *batch[MAX_SEQUENCES];
        uint32_t of[MAX_SEQUENCES], num = 0, most = 1 + turn % test->num;
        int32_t ids[MAX_SEQUENCES];
        for (uint32_t i = 0; i < test->num && num < most; i++) {
            uint32_t k = (turn * 7 + test->num - i) % test->num;
            if (done[k] == test->steps) continue;
            of[num] = k;
            batch[num] = sessions[k];
            ids[num++] = token(test, k, done[k]);
        }
        IngotError *error = NULL;
        must(ingot_decode_batch(batch, ids, num, &error), error);
        for (uint32_t i = 0; i < num; i++) {
            size_t row = test->info.vocab_size;
            const float *wanted = alone[of[i]] + done[of[i]]++ * row;
            if (memcmp(ingot_logits(batch[i]), wanted, row * sizeof *wanted) == 0) continue;
            printf("turn %u: sequence %u of %u differs at step %u\n", turn, of[i], num,
                   done[of[i]] - 1);
            test->num_wrong++;
        }
        is_over = true;
        for (uint32_t k = 0; k < test->num; k++) is_over = is_over && done[k] == test->steps;
    }
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    Test test = {.steps = (uint32_t)atoi(argv[3])};
    IngotOptions options = {.num_threads = (uint32_t)atoi(argv[2])};
    IngotError *error = NULL;
    must(ingot_model_open(argv[1], &options, &test.model, &error), error);
    test.info = ingot_model_info(test.model);
    test.num = test.info.max_sequences;
    if (test.num < 2 || test.num > MAX_SEQUENCES) return 2;
    IngotSession *sessions[MAX_SEQUENCES];
    float *alone[MAX_SEQUENCES];
    for (uint32_t k = 0; k < test.num; k++) alone[k] = generate_alone(&test, k);
    for (uint32_t k = 0; k < test.num; k++) {
        sessions[k] = open_session(&test);
        start(&test, sessions[k], k);
    }
    try_refusals(&test, sessions);
    generate_together(&test, sessions, alone);
    for (uint32_t k = 0; k < test.num; k++) {
        ingot_session_destroy(sessions[k]);
        free(alone[k]);
    }
    ingot_model_close(test.model);
    return test.num_wrong > 0;
}
