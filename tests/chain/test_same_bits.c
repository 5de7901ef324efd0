// The same inputs give the same bits: artifacts whatever the folder and the number of compile
// threads; logits whatever the number of run threads, the CPU level, and the way a prompt is cut
// into chunks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chain_run.h"

enum { NUM_IDS = 23, NUM_DECODED = 3, MAX_VOCAB = 512 };
static const int32_t ids[NUM_IDS] = {5, 17, 39, 0,  21, 5, 12, 200, 271, 90, 91, 92,
                                     1, 2,  3,  77, 8,  9, 10, 64,  31,  7,  25};

typedef float Logits[1 + NUM_DECODED][MAX_VOCAB];

static void answer(ChainFolder *folder, uint32_t threads, const char *level, uint32_t chunk,
                   Logits out) {
    ChainArtifact a;
    chain_artifact_open(&a, folder, threads, level);
    tiny_chain_expect_ok(folder->chain, session_set_chunk(a.session, chunk, &folder->chain->sink));
    memset(out, 0, sizeof(Logits));
    chain_artifact_feed(&a, ids, NUM_IDS, out[0]);
    for (int i = 0; i < NUM_DECODED; i++) chain_artifact_feed(&a, ids + i, 1, out[1 + i]);
    chain_artifact_close(&a);
}

static void check_answers(ChainFolder *folder) {
    static const uint32_t chunks[] = {16, 1, 3, 7}; // 16, the bucket: all at once as far as it goes
    static Logits first, other;
    uint32_t num = 0;
    for (int level = 0; level < NUM_CPU_LEVELS; level++) {
        const CpuLevelInfo *info = cpu_level_info((CpuLevel)level);
        if (!cpu_level_runs(cpu_host_features(), info)) continue;
        for (uint32_t threads = 1; threads <= 3; threads++)
            for (size_t c = 0; c < ARRAY_LEN(chunks); c++) {
                answer(folder, threads, info->name, chunks[c], num ? other : first);
                if (num++ == 0) continue;
                if (memcmp(first, other, sizeof first) != 0)
                    fail_msg("%s, %u threads, chunks of %u: other bits", info->name, threads,
                             chunks[c]);
            }
    }
    assert_true(first[0][0] != 0.0f && memcmp(first[0], first[1], sizeof first[0]) != 0);
    print_message("%u ways, the same bits\n", num);
}

static void check_artifacts(TinyChain *chain, ChainFolder *folder) {
    size_t len;
    char *bytes = chain_read_file(folder->artifact, &len);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        ChainFolder other;
        chain_folder_open(&other, chain);
        chain_folder_compile(&other, &(CompileOptions){.compile_threads = threads});
        size_t other_len;
        char *other_bytes = chain_read_file(other.artifact, &other_len);
        if (len != other_len || memcmp(bytes, other_bytes, len) != 0)
            fail_msg("%u compile threads in another folder: another artifact", threads);
        free(other_bytes);
        chain_folder_close(&other);
    }
    free(bytes);
}

static void check_model(TinyChain *chain, bool checks_artifacts) {
    chain->model.num_layers = 1;
    chain->model.num_heads = 4;
    chain->model.embd = 64;
    chain->model.ffn = 96;
    chain->context = 64;
    tiny_chain_open(chain);
    ChainFolder folder;
    chain_folder_open(&folder, chain);
    chain_folder_compile(&folder, NULL);
    check_answers(&folder);
    if (checks_artifacts) check_artifacts(chain, &folder);
    chain_folder_close(&folder);
    tiny_chain_close(chain);
}

static void test_int8(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_Q4_1, .num_kv_heads = 2},
                       .activations = "int8",
                       .kv = "f16"};
    check_model(&chain, true);
}

static void test_f32(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_F32, .num_kv_heads = 1}};
    check_model(&chain, false);
}

static void test_bf16(void **state) {
    (void)state;
    TinyChain chain = {.model = {.matrix_format = QUANT_BF16, .num_kv_heads = 4},
                       .activations = "bf16"};
    check_model(&chain, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_int8), cmocka_unit_test(test_f32),
                                       cmocka_unit_test(test_bf16)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
