// The recipe: each key changes what is loaded, each key misspelt is refused with the right one
// named, and contradictions are found.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "recipe/recipe.h"

static DiagSink sink;

static int setup(void **state) {
    (void)state;
    diag_sink_init(&sink);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    diag_sink_deinit(&sink);
    return 0;
}

#define HEAD "version: 1\nmodel_name: m\n"

static Recipe *load(const char *text) {
    Recipe *recipe = NULL;
    Status status = recipe_parse(text, strlen(text), "dir/r.yaml", &sink, &recipe);
    if (status != STATUS_OK) fail_msg("refused: %s", sink.diags[0].message);
    return recipe;
}

// Refused with exactly one error, of the code; returns it.
static const Diag *refuse(const char *text, DiagCode code) {
    Recipe *recipe = NULL;
    size_t before = sink.num_errors;
    assert_int_equal(recipe_parse(text, strlen(text), "r.yaml", &sink, &recipe), STATUS_INVALID);
    assert_null(recipe);
    const Diag *diag = &sink.diags[sink.num_diags - 1];
    if (sink.num_errors != before + 1)
        fail_msg("%zu errors, the last: %s", sink.num_errors - before, diag->message);
    assert_string_equal(diag_info(diag->code)->code, diag_info(code)->code);
    return diag;
}

static void test_defaults(void **state) {
    (void)state;
    Recipe *r = load(HEAD);
    assert_string_equal(r->model_name, "m");
    assert_null(r->model_path);
    assert_string_equal(r->activations, "int8");
    assert_string_equal(r->kv, "f16");
    assert_int_equal(r->num_buckets, 2);
    assert_int_equal(r->buckets[0], 1);
    assert_int_equal(r->buckets[1], 512);
    assert_int_equal(r->page_len_tokens, 64);
    assert_int_equal(r->max_pages, 32);
    assert_int_equal(r->target.threads, 2);
    assert_int_equal(r->target.levels, (1u << NUM_CPU_LEVELS) - 1);
    assert_true(r->is_qkv_packed && r->is_gate_up_packed);
    assert_int_equal(r->spans[RECIPE_ACTIVATIONS].line, 0);
    assert_int_equal(r->spans[RECIPE_VERSION].line, 1);
    recipe_destroy(r);
}

static void test_every_value_arrives(void **state) {
    (void)state;
    Recipe *r = load(HEAD "model: w/x.gguf\n"
                          "precision: {weights: as_stored, activations: f32, kv_cache: f32}\n"
                          "input_constraints:\n"
                          "  batch_size: {min: 3, max: 9, step: 4}\n"
                          "  seq_len: {min: 4, max: 30, step: 8}\n"
                          "  kv_cache_seq_len: {max: 100}\n"
                          "input_layouts: {qkv_packed: false}\n"
                          "targets: [{arch: x86_64, cpu: [v4-vnni, x86-64-v3], threads: 7}]\n"
                          "memory_optimization: {enable_paged_kv_cache: true, "
                          "kv_cache_page_size: 16, max_pages_per_sequence: 7}\n"
                          "fusion_rules:\n  - {pattern: mlp_gate_up, enabled: false}\n"
                          "  - pattern: qkv_proj\n    enabled: false\n");
    static const int64_t buckets[] = {1, 8, 16, 24, 30}, batches[] = {4, 8, 9};
    assert_string_equal(r->model_path, "dir/w/x.gguf");
    assert_string_equal(r->activations, "f32");
    assert_string_equal(r->kv, "f32");
    assert_int_equal(r->num_buckets, ARRAY_LEN(buckets));
    assert_memory_equal(r->buckets, buckets, sizeof buckets);
    assert_int_equal(r->page_len_tokens, 16);
    assert_int_equal(r->num_batches, ARRAY_LEN(batches));
    assert_memory_equal(r->batches, batches, sizeof batches);
    assert_int_equal(r->max_pages, 7);
    assert_int_equal(r->num_pages, 9 * 7);
    assert_int_equal(r->target.threads, 7);
    assert_int_equal(r->target.levels, 1u << CPU_LEVEL_V4_VNNI | 1u << CPU_LEVEL_V3);
    assert_false(r->is_qkv_packed || r->is_gate_up_packed);
    assert_int_equal(r->num_rules, 2);
    assert_int_equal(r->spans[RECIPE_KV_CACHE].line, 4);
    recipe_destroy(r);
}

static void test_json_is_the_same(void **state) {
    (void)state;
    static const char text[] = "{\"version\": 1, \"model_name\": \"m\", \"model\": \"/a/b.gguf\",\n"
                               " \"targets\": [{\"threads\": 3, \"cpu\": \"all\"}]}";
    Recipe *r = NULL;
    assert_int_equal(recipe_parse(text, sizeof text - 1, "r.json", &sink, &r), STATUS_OK);
    assert_string_equal(r->model_path, "/a/b.gguf");
    assert_int_equal(r->target.threads, 3);
    assert_int_equal(r->spans[RECIPE_TARGET_THREADS].line, 2);
    recipe_destroy(r);
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *seq;
        uint32_t num;
        int64_t first, last;
    } cases[] = {
        {"{max: 1}", 1, 1, 1},
        {"{max: 2}", 2, 1, 2},
        {"{max: 31, step: 1}", 31, 1, 31},
        {"{min: 128, max: 2048, step: 128}", 17, 1, 2048},
        {"{min: 100, max: 100}", 2, 1, 100},
        {"{min: 1, max: 512, step: 512}", 2, 1, 512},
        {"{min: 1, max: 5, step: 9}", 2, 1, 5},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "input_constraints: {seq_len: %s}\n", cases[i].seq);
        Recipe *r = load(text);
        assert_int_equal(r->num_buckets, cases[i].num);
        assert_int_equal(r->buckets[0], cases[i].first);
        assert_int_equal(r->buckets[r->num_buckets - 1], cases[i].last);
        for (uint32_t b = 1; b < r->num_buckets; b++)
            assert_true(r->buckets[b] > r->buckets[b - 1]);
        recipe_destroy(r);
    }
    const Diag *diag =
        refuse(HEAD "input_constraints: {seq_len: {max: 2048, step: 1}}\n", DIAG_R0005);
    assert_string_equal(diag->write, "step: 67");
}

// Numbers of a machine: those of the table are taken, others refused with the right figure.
static void test_targets(void **state) {
    (void)state;
    const Diag *diag = refuse(HEAD "targets: [{name: l40s, sm_count: 184}]\n", DIAG_H0005);
    assert_string_equal(diag->write, "sm_count: 142");
    assert_non_null(strstr(diag->evidence, "units of l40s"));
    diag = refuse(HEAD "targets: [{name: a100, l2_cache_mb: 20}]\n", DIAG_H0005);
    assert_string_equal(diag->write, "l2_cache_mb: 40");
    diag = refuse(HEAD "targets: [{arch: ascend910b, core_count: 128}]\n", DIAG_H0005);
    diag = refuse(HEAD "targets: [{name: a100-smx-40gb}]\n", DIAG_H0004);
    assert_string_equal(diag->write, "a100-sxm-40gb");
    diag = refuse(HEAD "targets: [{arch: amdgpu}]\n", DIAG_H0008);
    assert_non_null(strstr(diag->write, "gfx_arch: gfx"));
    refuse(HEAD "targets: [{arch: sm_80, gfx_arch: gfx90a}]\n", DIAG_H0009);
    refuse(HEAD "targets: [{arch: x86_64, sm_count: 4}]\n", DIAG_H0009);
    diag = refuse(HEAD "targets: [{name: mi300x, gfx_arch: gfx90a}]\n", DIAG_H0005);
    assert_string_equal(diag->write, "gfx_arch: gfx942");
}

static void test_target_choice(void **state) {
    (void)state;
    Recipe *r = NULL;
    static const char text[] = HEAD "targets:\n"
                                    "  - {name: a100, mem_bandwidth_gbps: 1935}\n"
                                    "  - {name: a100}\n"
                                    "  - {arch: amdgpu, gfx_arch: gfx942}\n"
                                    "  - {arch: x86_64, threads: 8}\n";
    diag_sink_deinit(&sink);
    diag_sink_init(&sink);
    assert_int_equal(recipe_parse(text, sizeof text - 1, "r.yaml", &sink, &r), STATUS_INVALID);
    assert_int_equal(sink.diags[sink.num_diags - 1].code, DIAG_R0011); // two are called a100
    static const char good[] = HEAD "targets:\n"
                                    "  - {arch: sm_80, mem_bandwidth_gbps: 1935}\n"
                                    "  - {name: a100}\n"
                                    "  - {arch: amdgpu, gfx_arch: gfx942}\n"
                                    "  - {arch: x86_64, threads: 8}\n";
    diag_sink_deinit(&sink);
    diag_sink_init(&sink);
    assert_int_equal(recipe_parse(good, sizeof good - 1, "r.yaml", &sink, &r), STATUS_OK);
    assert_int_equal(r->num_targets, 4);
    assert_string_equal(r->target.machine.name, "a100-pcie-80gb"); // the bandwidth tells
    const Target *several = &r->targets[1].machine;                // and this takes the least
    assert_true(several->numbers[TARGET_MEM_RATE] == 1555);
    assert_int_equal(sink.num_diags, 1);
    assert_int_equal(sink.diags[0].code, DIAG_H0006);
    assert_non_null(strstr(sink.diags[0].write, "a100-sxm-80gb"));
    assert_int_equal(recipe_select_target(r, "mi300x", &sink), STATUS_OK);
    assert_true(r->target.machine.numbers[TARGET_UNITS] == 304);
    assert_int_equal(recipe_select_target(r, "x86_64", &sink), STATUS_OK);
    assert_int_equal(r->target.threads, 8);
    assert_false(r->target.has_machine);
    assert_int_equal(recipe_select_target(r, "l40s", &sink), STATUS_INVALID);
    recipe_destroy(r);
}

// Appends the mappings and lists that lead to a key, one opening bracket each: "targets: [{". Sizes
// of a subgraph have names of their own.
static void put_way_to(const char *path, StrBuf *out, StrBuf *closing) {
    if (str_has_prefix(path, "input_constraints[]")) {
        strbuf_puts(out, "subgraph: {text: a}\ninput_constraints: {n: {");
        strbuf_puts(closing, "}}");
        return;
    }
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        int len = (int)strcspn(path, ".[");
        bool is_list = path[len] == '[';
        strbuf_printf(out, "%.*s: %s", len, path, is_list ? "[{" : "{");
        strbuf_puts(closing, is_list ? "]}" : "}"); // read backwards
    }
}

// Each key of the table with its first letter doubled, at its place: refused, and the key proposed.
static void test_every_key_misspelt(void **state) {
    (void)state;
    for (int k = 0; k < NUM_RECIPE_KEYS; k++) {
        const char *path = recipe_key_info((RecipeKey)k)->path;
        const char *name = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
        StrBuf text = {0}, closing = {0};
        strbuf_puts(&text, HEAD);
        put_way_to(path, &text, &closing);
        strbuf_printf(&text, "%c%s: 1", name[0], name);
        for (size_t i = closing.len; i-- > 0;) strbuf_putc(&text, closing.data[i]);
        strbuf_putc(&text, '\n');
        const Diag *diag = refuse(text.data, DIAG_R0008);
        assert_string_equal(diag->write, arena_printf(&sink.arena, "%s:", name));
        strbuf_deinit(&text);
        strbuf_deinit(&closing);
    }
}

static void test_unknown_keys(void **state) {
    (void)state;
    const Diag *diag = refuse(HEAD "kv_cache_page_size: 64\n", DIAG_R0008);
    assert_string_equal(diag->write, "memory_optimization.kv_cache_page_size:");
    assert_int_equal(diag->span.line, 3);
    refuse(HEAD "something_else: 1\n", DIAG_R0008);
    refuse(HEAD "precision: {softmax: f16}\n", DIAG_R0008);
    refuse(HEAD "targets: [{arch: x86_64, sm_counts: 4}]\n", DIAG_R0008);
    refuse(HEAD "\"model[]\": 4\n", DIAG_R0008);
    refuse(HEAD "targets[]: 4\n", DIAG_R0008);
    refuse(HEAD "precision.kv_cache: f32\n", DIAG_R0008);
}

static void test_wrong_values(void **state) {
    (void)state;
    refuse("model_name: m\n", DIAG_R0009);
    refuse("version: 1\n", DIAG_R0009);
    refuse("version: 2\nmodel_name: m\n", DIAG_R0005);
    refuse("[1]", DIAG_R0004);
    refuse(HEAD "precision: f32\n", DIAG_R0004);
    refuse(HEAD "precision: {activations: fp32}\n", DIAG_R0010);
    refuse(HEAD "precision: {weights: f16}\n", DIAG_R0010);
    refuse(HEAD "input_constraints: {batch_size: {max: 257}}\n", DIAG_R0005);
    refuse(HEAD "input_constraints: {batch_size: {max: 100, step: 2}}\n", DIAG_R0005);
    refuse(HEAD "input_constraints: {batch_size: {min: 9, max: 8}}\n", DIAG_R0011);
    refuse(HEAD "input_constraints: {seq_len: {min: 9, max: 8}}\n", DIAG_R0011);
    refuse(HEAD "input_constraints: {seq_len: {max: 4096}}\n", DIAG_R0011);
    refuse(HEAD "memory_optimization: {kv_cache_page_size: 40}\n", DIAG_R0005);
    refuse(HEAD "memory_optimization: {enable_paged_kv_cache: false}\n", DIAG_R0012);
    refuse(HEAD "memory_optimization: {enable_paged_kv_cache: no}\n", DIAG_R0004);
    refuse(HEAD "targets: []\n", DIAG_R0012);
    refuse(HEAD "memory_optimization: {max_scratch_bytes: 4096}\n", DIAG_R0012); // of a subgraph
    refuse(HEAD "subgraph: {text: a}\nmemory_optimization: {kv_cache_page_size: 64}\n", DIAG_R0012);
    refuse(HEAD "subgraph: {text: a, file: b}\n", DIAG_R0011);
    refuse(HEAD "subgraph: {text: a}\ninput_constraints: {n: {min: 1}}\n", DIAG_R0009);
    refuse(HEAD "subgraph: {text: a}\ninput_constraints: {n: {max: 8, min: 9}}\n", DIAG_R0011);
    refuse(HEAD "subgraph: {text: a}\ninput_constraints: {n: 8}\n", DIAG_R0004);
    refuse(HEAD "subgraph: {text: a}\ninput_constraints: {n: {max: 8, off_step: cut}}\n",
           DIAG_R0010);
    refuse(HEAD "input_constraints: {n: {max: 8}}\n", DIAG_R0008);  // a language model has its own
    refuse(HEAD "targets: [{cpu: all}, {cpu: all}]\n", DIAG_R0011); // two of a name
    refuse(HEAD "targets: {cpu: all}\n", DIAG_R0004);
    refuse(HEAD "targets: [{cpu: []}]\n", DIAG_R0004);
    refuse(HEAD "targets: [{cpu: native}]\n", DIAG_R0010);
    refuse(HEAD "targets: [{cpu: [v3-vnni, v3-vnni]}]\n", DIAG_R0011);
    refuse(HEAD "fusion_rules: [{enabled: true}]\n", DIAG_R0009);
    refuse(HEAD "fusion_rules: [{pattern: qkv_proj}, {pattern: qkv_proj}]\n", DIAG_R0011);
    refuse(HEAD "input_layouts: {qkv_packed: true}\n"
                "fusion_rules: [{pattern: qkv_proj, enabled: false}]\n",
           DIAG_R0011);
    const Diag *diag = refuse(HEAD "input_constraints: {kv_cache_seq_len: {max: 1000}}\n"
                                   "memory_optimization: {max_pages_per_sequence: 10}\n",
                              DIAG_R0011);
    assert_string_equal(diag->write, "max_pages_per_sequence: 16");
}

// What to write is said where a value stands for a mapping.
static void test_values_for_mappings(void **state) {
    (void)state;
    const Diag *diag = refuse(HEAD "input_constraints: {seq_len: 64}\n", DIAG_R0004);
    assert_string_equal(diag->message,
                        "input_constraints.seq_len must be a mapping, not a single value");
    assert_string_equal(diag->write, "seq_len: {max: 64}");
    diag = refuse(HEAD "input_constraints: {seq_len: [1, 64]}\n", DIAG_R0004);
    assert_string_equal(diag->write,
                        "seq_len: {min: ..., max: ..., step: ..., hot: ..., off_step: ..., "
                        "out_of_range: ...}");
    diag = refuse(HEAD "precision: f32\n", DIAG_R0004);
    assert_string_equal(diag->message, "precision must be a mapping, not a single value");
    assert_string_equal(diag->write,
                        "precision: {weights: ..., activations: ..., kv_cache: ..., "
                        "default: ..., embedding_precision: ..., layernorm_precision: ..., "
                        "rope_precision: ..., softmax_precision: ..., activation_precision: ..., "
                        "residual_precision: ..., matmul_precision: ..., logits_precision: ...}");
    diag = refuse(HEAD "input_constraints: 7\n", DIAG_R0004);
    assert_string_equal(
        diag->write, "input_constraints: {batch_size: ..., seq_len: ..., kv_cache_seq_len: ...}");
}

// Independent faults come together.
static void test_all_faults_at_once(void **state) {
    (void)state;
    Recipe *r = NULL;
    static const char text[] = HEAD "precision: {activations: x, kv_cache: y}\nfoo: 1\n"
                                    "targets: [{threads: 0}]\n";
    assert_int_equal(recipe_parse(text, sizeof text - 1, "r.yaml", &sink, &r), STATUS_INVALID);
    assert_int_equal(sink.num_errors, 4);
}

static void test_ready_recipes(void **state) {
    (void)state;
    static const char *const names[] = {"smollm2-135m", "llama-7b", "matmul-softmax"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[512];
        Recipe *r = NULL;
        snprintf(path, sizeof path, "%s/data/recipes/%s.yaml", INGOT_SOURCE_DIR, names[i]);
        assert_int_equal(recipe_load(path, &sink, &r), STATUS_OK);
        assert_string_equal(r->model_name, names[i]);
        recipe_destroy(r);
    }
    Recipe *r = NULL;
    assert_int_equal(recipe_load("/nonexistent.yaml", &sink, &r), STATUS_IO);
}

static void test_table_is_documented(void **state) {
    (void)state;
    char *manual = NULL;
    uint64_t len = 0;
    assert_int_equal(file_read(INGOT_SOURCE_DIR "/docs/recipe.md", 1 << 20, &sink, &manual, &len),
                     STATUS_OK);
    for (int k = 0; k < NUM_RECIPE_KEYS; k++) {
        const RecipeKeyInfo *info = recipe_key_info((RecipeKey)k);
        assert_true(info->doc[0] && info->effect[0]);
        const char *last = strrchr(info->path, '.') ? strrchr(info->path, '.') : info->path;
        if (!strstr(manual, arena_printf(&sink.arena, "`%s`", info->path)) &&
            !strstr(manual, arena_printf(&sink.arena, "`%s`", last)))
            fail_msg("docs/recipe.md does not list %s", info->path);
        assert_true(info->type != RECIPE_TYPE_INT || info->min <= info->max);
    }
    free(manual);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_defaults),
        TEST(test_every_value_arrives),
        TEST(test_json_is_the_same),
        TEST(test_sizes),
        TEST(test_every_key_misspelt),
        TEST(test_targets),
        TEST(test_target_choice),
        TEST(test_unknown_keys),
        TEST(test_wrong_values),
        TEST(test_values_for_mappings),
        TEST(test_all_faults_at_once),
        TEST(test_ready_recipes),
        TEST(test_table_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
