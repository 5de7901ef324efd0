// Predicted against measured time, per bucket and kernel, for `ingot bench`.
#ifndef INGOT_CLI_BENCH_PREDICTED_H
#define INGOT_CLI_BENCH_PREDICTED_H

#include "cli/loaded_model.h"

typedef struct PredictedRow {
    uint32_t bucket_tokens; // 0: the entry takes tensors
    const char *entry;
    const char *kernel, *class;       // "" and "" for a bucket as a whole
    double measured_ns, predicted_ns; // of one call of the bucket
} PredictedRow;

typedef struct PredictedRows {
    Arena arena;
    char target[64];
    PredictedRow *rows; // a bucket's total, then its kernels
    size_t num_rows, capacity;
    double median_error; // of the kernels' rows, |predicted / measured - 1|
} PredictedRows;

// Runs each bucket that fits the context behind `depth` tokens and compares with what the manifest
// predicts for this CPU level. No rows where the artifact predicts nothing for it, or not for this
// number of threads (1 and the most are predicted).
Status bench_predicted(Cli *cli, Model *model, uint64_t depth, PredictedRows *out_rows) MUST_USE;
void bench_predicted_put_json(const PredictedRows *rows, JsonWriter *json);
void bench_predicted_put_text(const PredictedRows *rows, StrBuf *out);
void bench_predicted_deinit(PredictedRows *rows);

#endif
