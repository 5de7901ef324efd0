// Calls the module tests/chain/modules_sized/reductions.mlir again and again in one process: after
// a call of the largest size whose tensors are all NaN and -1, every other size must give to the
// bit what it gives in a model just opened. What such a call leaves in arguments, results and the
// arena is the padding of the next. Usage: call_in_turn FILE SIZE...; the first size is the
// largest.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingot.h"

enum { ROWS = 4, NUM_RESULTS = 7, MAX_SIZE = 64 };

static void must(IngotStatus status, IngotError *error) {
    if (status == INGOT_OK) return;
    fputs(ingot_error_text(error), stderr);
    exit((int)status);
}

static IngotModel *open_model(const char *path) {
    IngotModel *model = NULL;
    IngotError *error = NULL;
    must(ingot_model_open(path, NULL, &model, &error), error);
    return model;
}

static void call(IngotModel *model, int64_t size, bool is_nan, IngotTensor *results) {
    static float x[ROWS * MAX_SIZE];
    static int32_t k[MAX_SIZE];
    for (int64_t i = 0; i < ROWS * size; i++)
        x[i] = is_nan ? NAN : (float)(i * 7 % 11) / 16 - 0.25f;
    for (int64_t i = 0; i < size; i++) k[i] = is_nan ? -1 : (int32_t)(i * 5 % 13 + 8);
    const int64_t x_dims[] = {ROWS, size}, k_dims[] = {size};
    const IngotTensor arguments[] = {
        {.name = "x", .type = "f32", .rank = 2, .dims = x_dims, .data = x},
        {.name = "k", .type = "i32", .rank = 1, .dims = k_dims, .data = k}};
    IngotTensor given[] = {arguments[0], arguments[1]};
    given[0].len_bytes = (size_t)(ROWS * size) * sizeof *x;
    given[1].len_bytes = (size_t)size * sizeof *k;
    IngotError *error = NULL;
    must(ingot_call(model, NULL, given, 2, results, NUM_RESULTS, &error), error);
}

int main(int argc, char **argv) {
    int num_wrong = 0;
    if (argc < 3) return 2;
    IngotModel *model = open_model(argv[1]);
    for (int i = 2; i < argc; i++) {
        IngotTensor results[NUM_RESULTS], wanted[NUM_RESULTS];
        IngotModel *fresh = open_model(argv[1]);
        call(fresh, atoll(argv[i]), false, wanted);
        call(model, atoll(argv[2]), true, results);
        call(model, atoll(argv[i]), false, results);
        for (int r = 0; r < NUM_RESULTS; r++) {
            bool is_same = results[r].len_bytes == wanted[r].len_bytes &&
                           memcmp(results[r].data, wanted[r].data, wanted[r].len_bytes) == 0;
            if (is_same) continue;
            printf("result %s of size %s is another after a call of NaN\n", wanted[r].name,
                   argv[i]);
            num_wrong++;
        }
        ingot_model_close(fresh);
    }
    ingot_model_close(model);
    return num_wrong > 0;
}
