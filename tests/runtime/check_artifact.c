// Checks of a running artifact through the public interface, one line each: the same logits to the
// bit for every number of threads and every cut of the prompt, memory as planned at open, and no
// growth over many conversations. Usage: check_artifact FILE PROMPT_TOKENS CONVERSATIONS STEPS
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sanitized.h"
#include "ingot.h"

static bool has_failed;

static void report(bool is_good, const char *name, const char *detail) {
    printf(is_good ? "ok %s (%s)\n" : "not ok %s: %s\n", name, detail);
    if (!is_good) has_failed = true;
}

static void must(IngotStatus status, IngotError *error) {
    if (status == INGOT_OK) return;
    fputs(ingot_error_text(error), stderr);
    exit((int)status);
}

static IngotModel *open_model(const char *path, uint32_t num_threads) {
    IngotModel *model = NULL;
    IngotError *error = NULL;
    IngotOptions options = {.num_threads = num_threads};
    must(ingot_model_open(path, &options, &model, &error), error);
    return model;
}

static IngotSession *open_session(IngotModel *model) {
    IngotSession *session = NULL;
    IngotError *error = NULL;
    must(ingot_session_create(model, &session, &error), error);
    return session;
}

// A line of /proc/self/status in bytes.
static uint64_t status_bytes(const char *key) {
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    char line[256];
    uint64_t kib = 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) sscanf(line + strlen(key), ": %" SCNu64, &kib);
    fclose(file);
    return kib * 1024;
}

static int32_t token(uint32_t i, uint32_t vocab_size) {
    return (int32_t)((i * 377 + 11) % vocab_size);
}

// Prefill in chunks, then one token more; the logits must equal *reference, or become it.
static bool logits_equal(IngotModel *model, uint32_t num_tokens, uint32_t chunk,
                         float **reference) {
    IngotModelInfo info = ingot_model_info(model);
    IngotError *error = NULL;
    IngotSession *session = open_session(model);
    size_t bytes = info.vocab_size * sizeof(float);
    int32_t *ids = malloc(num_tokens * sizeof *ids);
    if (!ids) exit(INGOT_LIMIT);
    for (uint32_t i = 0; i < num_tokens; i++) ids[i] = token(i, info.vocab_size);
    must(ingot_session_set_chunk(session, chunk, &error), error);
    must(ingot_prefill(session, ids, num_tokens - 1, &error), error);
    must(ingot_decode(session, ids[num_tokens - 1], &error), error);
    free(ids);
    if (!*reference) {
        *reference = malloc(bytes);
        if (!*reference) exit(INGOT_LIMIT);
        memcpy(*reference, ingot_logits(session), bytes);
    }
    bool is_equal = memcmp(*reference, ingot_logits(session), bytes) == 0;
    ingot_session_destroy(session);
    return is_equal;
}

static void check_bits(const char *path, uint32_t num_tokens) {
    float *reference = NULL;
    unsigned num_runs = 0;
    char detail[128];
    IngotModel *model = open_model(path, 1);
    uint32_t max_threads = ingot_model_info(model).max_threads;
    ingot_model_close(model);
    for (uint32_t threads = 1; threads <= max_threads; threads++) {
        model = open_model(path, threads);
        uint32_t largest = ingot_model_info(model).chunk_tokens;
        const uint32_t chunks[] = {largest, 1, 2, 3, 7, 16, 31, 33, 100};
        for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
            if (chunks[i] > largest) continue;
            num_runs++;
            if (logits_equal(model, num_tokens, chunks[i], &reference)) continue;
            snprintf(detail, sizeof detail, "%u threads, chunks of %u differ", threads, chunks[i]);
            report(false, "logits are the same to the bit", detail);
            exit(1);
        }
        ingot_model_close(model);
    }
    free(reference);
    snprintf(detail, sizeof detail, "%u runs, 1 to %u threads", num_runs, max_threads);
    report(true, "logits are the same to the bit", detail);
}

typedef struct Rows {
    float *logits; // of all tokens
    uint32_t vocab_size;
    bool is_filled, differs;
} Rows;

static void take_row(void *context, size_t index, const float *logits) {
    Rows *rows = context;
    float *row = rows->logits + index * rows->vocab_size;
    size_t bytes = rows->vocab_size * sizeof *row;
    if (!rows->is_filled)
        memcpy(row, logits, bytes);
    else if (memcmp(row, logits, bytes) != 0)
        rows->differs = true;
}

// The logits after every token of a chunk are those of the tokens one by one.
static void check_rows(const char *path, uint32_t num_tokens) {
    char detail[128];
    unsigned num_runs = 0;
    Rows rows = {0};
    IngotError *error = NULL;
    for (uint32_t threads = 0; threads < 3; threads++) { // 0: one by one, into the rows
        IngotModel *model = open_model(path, threads ? threads : 1);
        IngotModelInfo info = ingot_model_info(model);
        IngotSession *session = open_session(model);
        int32_t *ids = malloc(num_tokens * sizeof *ids);
        if (!rows.logits)
            rows.logits = malloc((size_t)num_tokens * info.vocab_size * sizeof(float));
        if (!ids || !rows.logits) exit(INGOT_LIMIT);
        rows.vocab_size = info.vocab_size;
        for (uint32_t i = 0; i < num_tokens; i++) ids[i] = token(i, info.vocab_size);
        for (uint32_t i = 0; i < num_tokens && !rows.is_filled; i++) {
            must(ingot_decode(session, ids[i], &error), error);
            take_row(&rows, i, ingot_logits(session));
        }
        rows.is_filled = true;
        const uint32_t chunks[] = {info.chunk_tokens, 1, 7, 33};
        for (size_t i = 0; i < sizeof chunks / sizeof chunks[0] && threads; i++) {
            ingot_session_reset(session);
            must(ingot_session_set_chunk(session, chunks[i], &error), error);
            must(ingot_prefill_each(session, ids, num_tokens, take_row, &rows, &error), error);
            num_runs++;
            if (!rows.differs) continue;
            snprintf(detail, sizeof detail, "%u threads, chunks of %u", threads, chunks[i]);
            report(false, "the logits of every token are those of single steps", detail);
            exit(1);
        }
        free(ids);
        ingot_session_destroy(session);
        ingot_model_close(model);
    }
    free(rows.logits);
    snprintf(detail, sizeof detail, "%u runs of %u tokens", num_runs, num_tokens);
    report(true, "the logits of every token are those of single steps", detail);
}

static void check_memory(const char *path, uint32_t num_conversations, uint32_t num_steps) {
    enum { OUTSIDE_BYTES = 16 << 20, GROWTH_BYTES = 64 << 10 };
    char detail[192];
    IngotModel *model = open_model(path, 0);
    IngotModelInfo info = ingot_model_info(model);
    uint64_t peak = status_bytes("VmHWM"), planned = info.memory_bytes, second = 0;
    snprintf(detail, sizeof detail, "planned %" PRIu64 ", VmHWM after open %" PRIu64, planned,
             peak);
    report(peak >= planned - planned / 100 && peak <= planned + planned / 100 + OUTSIDE_BYTES,
           "memory is the plan's", detail);

    IngotSession *session = open_session(model);
    IngotError *error = NULL;
    for (uint32_t i = 0; i < num_conversations; i++) {
        ingot_session_reset(session);
        for (uint32_t k = 0; k < num_steps && k < info.context_tokens; k++)
            must(ingot_decode(session, token(k + i, info.vocab_size), &error), error);
        if (i == 1) second = status_bytes("VmRSS");
    }
    uint64_t last = status_bytes("VmRSS");
    snprintf(detail, sizeof detail,
             "VmRSS %" PRIu64 " after the second, %" PRIu64 " after the last%s", second, last,
             IS_SANITIZED ? "; skipped under a sanitizer" : "");
    report(IS_SANITIZED || last <= second + GROWTH_BYTES, "conversations leave nothing behind",
           detail);
    snprintf(detail, sizeof detail, "VmHWM %" PRIu64 " after open, %" PRIu64 " at the end", peak,
             status_bytes("VmHWM"));
    report(IS_SANITIZED || status_bytes("VmHWM") <= peak + (1 << 20), "nothing is taken after open",
           detail);
    ingot_session_destroy(session);
    ingot_model_close(model);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s FILE PROMPT_TOKENS CONVERSATIONS STEPS\n", argv[0]);
        return INGOT_USAGE;
    }
    // Memory first: the peak must be that of one model.
    check_memory(argv[1], (uint32_t)strtoul(argv[3], NULL, 10),
                 (uint32_t)strtoul(argv[4], NULL, 10));
    check_bits(argv[1], (uint32_t)strtoul(argv[2], NULL, 10));
    check_rows(argv[1], (uint32_t)strtoul(argv[2], NULL, 10));
    return has_failed ? 1 : 0;
}
