// The imported module, run by the reference interpreter, against a double-precision evaluation of
// the published model definition: one prompt at once and in chunks, grouped-query attention of 1, 2
// and 4, tied and untied heads.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp.h"
#include "recipe/import.h"
#include "tiny_model.h"

enum {
    EMBD = 32,
    FFN = 64,
    HEADS = 4,
    HEAD_DIM = EMBD / HEADS,
    VOCAB = 40,
    LAYERS = 2,
    NUM_IDS = 7
};

static const char recipe_text[] =
    "version: 1\nmodel_name: tiny\nprecision: {activations: f32, kv_cache: f32}\n"
    "input_constraints: {seq_len: {max: 8}, kv_cache_seq_len: {max: 32}}\n"
    "memory_optimization: {kv_cache_page_size: 16}\n";
static const int32_t ids[NUM_IDS] = {5, 17, 39, 0, 21, 5, 12};

// ---------------------------------------------------------------- the definition, in double
// precision

static const float *weights(const Gguf *gguf, int layer, const char *name) {
    char full[64];
    if (layer < 0)
        snprintf(full, sizeof full, "%s.weight", name);
    else
        snprintf(full, sizeof full, "blk.%d.%s.weight", layer, name);
    const GgufTensor *tensor = gguf_find_tensor(gguf, full);
    return tensor ? (const float *)(const void *)tensor->data : NULL;
}

static void norm(const double *x, const float *w, double *out) {
    double sum = 0;
    for (int i = 0; i < EMBD; i++) sum += x[i] * x[i];
    for (int i = 0; i < EMBD; i++)
        out[i] = x[i] / sqrt(sum / (double)EMBD + (double)1e-5f) * (double)w[i];
}

static void multiply(const float *w, int rows, int cols, const double *x, double *out, bool add) {
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < cols; c++) sum += (double)w[r * cols + c] * x[c];
        out[r] = add ? out[r] + sum : sum;
    }
}

static void rotate(double *x, int num_heads, int position, bool is_halves) {
    for (int h = 0; h < num_heads; h++)
        for (int i = 0; i < HEAD_DIM / 2; i++) {
            double angle = position * pow(1000.0, -2.0 * i / (double)HEAD_DIM);
            double *a = &x[h * HEAD_DIM + (is_halves ? i : 2 * i)];
            double *b = a + (is_halves ? HEAD_DIM / 2 : 1), a0 = *a, b0 = *b;
            *a = a0 * cos(angle) - b0 * sin(angle);
            *b = b0 * cos(angle) + a0 * sin(angle);
        }
}

static void attend(const double *q, const double (*k)[EMBD], const double (*v)[EMBD], int kv_heads,
                   int num_keys, double *out) {
    for (int h = 0; h < HEADS; h++) {
        int at = h / (HEADS / kv_heads) * HEAD_DIM;
        double scores[NUM_IDS], max = -INFINITY, sum = 0;
        for (int n = 0; n < num_keys; n++) {
            scores[n] = 0;
            for (int d = 0; d < HEAD_DIM; d++) scores[n] += q[h * HEAD_DIM + d] * k[n][at + d];
            scores[n] /= sqrt((double)HEAD_DIM);
            max = fmax(max, scores[n]);
        }
        for (int n = 0; n < num_keys; n++) sum += scores[n] = exp(scores[n] - max);
        for (int d = 0; d < HEAD_DIM; d++) {
            out[h * HEAD_DIM + d] = 0;
            for (int n = 0; n < num_keys; n++)
                out[h * HEAD_DIM + d] += scores[n] / sum * v[n][at + d];
        }
    }
}

static void run_layer(const Gguf *gguf, int layer, int kv_heads, bool is_halves,
                      double (*x)[EMBD]) {
    double q[NUM_IDS][EMBD], k[NUM_IDS][EMBD], v[NUM_IDS][EMBD], h[EMBD], gate[FFN], up[FFN];
    for (int s = 0; s < NUM_IDS; s++) {
        norm(x[s], weights(gguf, layer, "attn_norm"), h);
        multiply(weights(gguf, layer, "attn_q"), EMBD, EMBD, h, q[s], false);
        multiply(weights(gguf, layer, "attn_k"), kv_heads * HEAD_DIM, EMBD, h, k[s], false);
        multiply(weights(gguf, layer, "attn_v"), kv_heads * HEAD_DIM, EMBD, h, v[s], false);
        rotate(q[s], HEADS, s, is_halves);
        rotate(k[s], kv_heads, s, is_halves);
    }
    for (int s = 0; s < NUM_IDS; s++) {
        attend(q[s], (const double(*)[EMBD])k, (const double(*)[EMBD])v, kv_heads, s + 1, h);
        multiply(weights(gguf, layer, "attn_output"), EMBD, EMBD, h, x[s], true);
        norm(x[s], weights(gguf, layer, "ffn_norm"), h);
        multiply(weights(gguf, layer, "ffn_gate"), FFN, EMBD, h, gate, false);
        multiply(weights(gguf, layer, "ffn_up"), FFN, EMBD, h, up, false);
        for (int i = 0; i < FFN; i++) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
        multiply(weights(gguf, layer, "ffn_down"), EMBD, FFN, gate, x[s], true);
    }
}

static void run_definition(const Gguf *gguf, int kv_heads, bool is_halves, double *logits) {
    double x[NUM_IDS][EMBD], h[EMBD];
    const float *embedding = weights(gguf, -1, "token_embd"), *head = weights(gguf, -1, "output");
    for (int s = 0; s < NUM_IDS; s++)
        for (int i = 0; i < EMBD; i++) x[s][i] = (double)embedding[ids[s] * EMBD + i];
    for (int layer = 0; layer < LAYERS; layer++) run_layer(gguf, layer, kv_heads, is_halves, x);
    norm(x[NUM_IDS - 1], weights(gguf, -1, "output_norm"), h);
    multiply(head ? head : embedding, VOCAB, EMBD, h, logits, false);
}

// ---------------------------------------------------------------- the module, interpreted

typedef struct Run {
    const Gguf *gguf;
    IrModule *module;
    DiagSink *sink;
    IrInterpValue args[64], caches[2 * LAYERS];
    uint32_t num_args;
    bool has_caches;
    ImportParam params[64];
} Run;

static int32_t page_table[2] = {1, 0};

static void bind_argument(Run *run, const IrOp *forward, uint32_t i, const int32_t *chunk, int len,
                          int start) {
    const IrType *type = ir_func_type(forward)->inputs[i];
    const IrAttr *param = ir_func_arg_attr(forward, i, "ingot.param");
    IrInterpValue *arg = &run->args[i];
    *arg = (IrInterpValue){.type = type};
    if (i == 0) {
        int64_t shape[] = {len};
        arg->type = ir_type_tensor(run->module, 1, shape, type->elem);
        arg->data = (void *)(uintptr_t)chunk;
        arg->len_bytes = (uint64_t)len * sizeof *chunk;
    } else if (i == 1) {
        arg->bits = (uint64_t)start;
    } else if (i == 2) {
        arg->data = page_table;
        arg->len_bytes = sizeof page_table;
    } else if (!param) {
        *arg = run->caches[i - 3];
    } else {
        ImportParam *data = &run->params[i];
        if (!data->data)
            assert_int_equal(import_param_data(run->module, run->gguf, param->str, run->sink, data),
                             STATUS_OK);
        arg->data = (void *)(uintptr_t)data->data;
        arg->len_bytes = data->len_bytes;
    }
}

static void start_caches(Run *run, const IrOp *forward) {
    for (uint32_t i = 0; i < 2 * LAYERS; i++) {
        const IrType *type = ir_func_type(forward)->inputs[3 + i];
        uint64_t len = (uint64_t)ir_type_num_elems(type) * 4;
        run->caches[i] = (IrInterpValue){.type = type, .data = calloc(len, 1), .len_bytes = len};
        assert_non_null(run->caches[i].data);
    }
}

static void drop_caches(Run *run) {
    for (uint32_t i = 0; i < 2 * LAYERS; i++)
        if (run->has_caches)
            ir_interp_result_deinit(&run->caches[i]);
        else
            free(run->caches[i].data);
}

// Feeds a chunk; logits of its last token.
static void feed(Run *run, const int32_t *chunk, int len, int start, float *logits) {
    const IrOp *forward = ir_symbol_find(run->module, "forward");
    IrInterpValue results[1 + 2 * LAYERS];
    run->num_args = ir_func_type(forward)->num_inputs;
    if (start == 0) start_caches(run, forward);
    for (uint32_t i = 0; i < run->num_args; i++) bind_argument(run, forward, i, chunk, len, start);
    Status status = ir_interp_call(run->module, "forward", run->num_args, run->args,
                                   ARRAY_LEN(results), results, NULL, run->sink);
    if (status != STATUS_OK) fail_msg("interpreter: %s", run->sink->diags[0].message);
    assert_int_equal(results[0].len_bytes, VOCAB * sizeof *logits);
    memcpy(logits, results[0].data, VOCAB * sizeof *logits);
    ir_interp_result_deinit(&results[0]);
    drop_caches(run);
    memcpy(run->caches, results + 1, sizeof run->caches);
    run->has_caches = true;
}

static void check_model(uint32_t kv_heads, bool is_untied, bool is_halves) {
    DiagSink sink;
    Recipe *recipe = NULL;
    Gguf *gguf = NULL;
    StrBuf bytes = {0};
    GgufBuilder b = {0};
    Run run = {.sink = &sink};
    float whole[VOCAB], cut[VOCAB];
    double want[VOCAB], largest = 0, error = 0;
    diag_sink_init(&sink);
    TinyModel model = {.num_layers = LAYERS,
                       .embd = EMBD,
                       .ffn = FFN,
                       .num_heads = HEADS,
                       .num_kv_heads = kv_heads,
                       .vocab = VOCAB,
                       .is_untied = is_untied};
    tiny_model_build(&model, &b);
    if (is_halves) gguf_builder_string(&b, "llama.rope.pairing", "halves");
    gguf_builder_finish(&b, &bytes);
    gguf_builder_deinit(&b);
    assert_int_equal(gguf_builder_open(bytes.data, bytes.len, &sink, &gguf), STATUS_OK);
    assert_int_equal(recipe_parse(recipe_text, sizeof recipe_text - 1, "r.yaml", &sink, &recipe),
                     STATUS_OK);
    assert_int_equal(import_model(recipe, gguf, &sink, &run.module), STATUS_OK);
    run.gguf = gguf;

    feed(&run, ids, NUM_IDS, 0, whole);
    drop_caches(&run);
    run.has_caches = false;
    feed(&run, ids, 4, 0, cut);
    feed(&run, ids + 4, 1, 4, cut);
    feed(&run, ids + 5, 2, 5, cut);
    drop_caches(&run);
    assert_memory_equal(whole, cut, sizeof whole);

    run_definition(gguf, (int)kv_heads, is_halves, want);
    for (int i = 0; i < VOCAB; i++) {
        largest = fmax(largest, fabs(want[i]));
        error = fmax(error, fabs(want[i] - (double)whole[i]));
    }
    print_message("kv heads %u: largest logit %g, largest error %g\n", kv_heads, largest, error);
    // A chain of about 10 products of at most 64 terms per layer, each within 2 * 64 * 2^-24 of its
    // absolute sum: 2 * 10 * 2 * 64 * 2^-24 = 1.5e-4 of the largest number.
    assert_true(largest > 0.1 && error <= 1.5e-4 * largest);

    for (uint32_t i = 0; i < run.num_args; i++) import_param_deinit(&run.params[i]);
    ir_module_destroy(run.module);
    recipe_destroy(recipe);
    gguf_close(gguf);
    strbuf_deinit(&bytes);
    diag_sink_deinit(&sink);
}

static void test_grouped_heads(void **state) {
    (void)state;
    for (uint32_t kv_heads = 1; kv_heads <= 4; kv_heads *= 2) check_model(kv_heads, false, false);
}

static void test_untied_head(void **state) {
    (void)state;
    check_model(2, true, false);
}

static void test_halves_turn_together(void **state) {
    (void)state;
    check_model(2, false, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grouped_heads),
                                       cmocka_unit_test(test_halves_turn_together),
                                       cmocka_unit_test(test_untied_head)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
