// Models to level-1 IR: the interface of the module, sharing of layer functions, computed tables,
// and the refusal of models that do not fit their family or the recipe.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "recipe/import.h"
#include "tiny_model.h"

static DiagSink sink;
static Recipe *recipe;

static const char recipe_text[] =
    "version: 1\nmodel_name: tiny\nprecision: {activations: f32, kv_cache: f16}\n"
    "input_constraints: {seq_len: {max: 8}, kv_cache_seq_len: {max: 64}}\n"
    "memory_optimization: {kv_cache_page_size: 16}\n";

static int setup(void **state) {
    (void)state;
    diag_sink_init(&sink);
    return (int)recipe_parse(recipe_text, sizeof recipe_text - 1, "r.yaml", &sink, &recipe);
}

static int teardown(void **state) {
    (void)state;
    recipe_destroy(recipe);
    diag_sink_deinit(&sink);
    return 0;
}

static Gguf *open_built(GgufBuilder *b) {
    StrBuf bytes = {0};
    Gguf *gguf = NULL;
    gguf_builder_finish(b, &bytes);
    gguf_builder_deinit(b);
    assert_int_equal(gguf_builder_open(bytes.data, bytes.len, &sink, &gguf), STATUS_OK);
    strbuf_deinit(&bytes);
    return gguf;
}

static IrModule *import(Gguf *gguf) {
    IrModule *module = NULL;
    if (import_model(recipe, gguf, &sink, &module) != STATUS_OK) {
        StrBuf text = {0};
        diag_render(&sink, &text);
        fail_msg("refused: %s", text.data);
    }
    return module;
}

static IrModule *import_tiny(const TinyModel *model, Gguf **out_gguf) {
    GgufBuilder b = {0};
    tiny_model_build(model, &b);
    *out_gguf = open_built(&b);
    return import(*out_gguf);
}

static void refuse(GgufBuilder *b, DiagCode code) {
    Gguf *gguf = open_built(b);
    IrModule *module = NULL;
    size_t before = sink.num_errors;
    assert_int_equal(import_model(recipe, gguf, &sink, &module), STATUS_INVALID);
    assert_null(module);
    assert_int_equal(sink.num_errors, before + 1);
    assert_string_equal(diag_info(sink.diags[sink.num_diags - 1].code)->code,
                        diag_info(code)->code);
    gguf_close(gguf);
}

// What is wrong with a key is said with the byte at which the key stands.
static void test_wrong_key_has_its_place(void **state) {
    (void)state;
    GgufBuilder b = {0};
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_u32(&b, "llama.rope.dimension_count", 1); // at least 2
    Gguf *gguf = open_built(&b);
    IrModule *module = NULL;
    assert_int_equal(import_model(recipe, gguf, &sink, &module), STATUS_INVALID);
    const Diag *diag = &sink.diags[sink.num_diags - 1];
    assert_int_equal(diag->code, DIAG_F0016);
    uint64_t place = diag->span.byte_offset;
    assert_true(place > 0 && place + 64 < gguf_len_bytes(gguf));
    const char *key = "llama.rope.dimension_count"; // behind its length, 8 bytes
    assert_memory_equal(gguf_bytes(gguf) + place + 8, key, strlen(key));
    gguf_close(gguf);
}

static uint32_t count_functions(const IrModule *m, const char *prefix) {
    uint32_t n = 0;
    FOR_EACH_OP(op, ir_module_body((IrModule *)(uintptr_t)m))
    if (op->kind == IR_FUNC_FUNC && str_has_prefix(ir_symbol_name(op), prefix)) n++;
    return n;
}

static void check_config(const IrModule *m) {
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    assert_non_null(config);
    assert_string_equal(ir_attr_dict_find(config, "activations")->str, "f32");
    assert_string_equal(ir_attr_dict_find(config, "kv")->str, "f16");
    assert_int_equal(ir_attr_dict_find(config, "page_len")->i, 16);
    assert_int_equal(ir_attr_dict_find(config, "max_pages")->i, 4);
    assert_int_equal(ir_attr_dict_find(config, "threads")->i, 2);
    assert_int_equal(ir_attr_dict_find(config, "buckets")->num_elems, 2);
    assert_int_equal(ir_attr_dict_find(config, "buckets")->elems[1]->i, 8);
    assert_int_equal(ir_op_attr(m->op, "ingot.level")->i, 1);
    assert_int_equal(ir_op_attr(m->op, "ingot.version")->i, 1);
}

// ids, start, pages; 2 layers of K and V; cos, sin; embedding, 2 x 9 weights, final norm.
static void test_interface(void **state) {
    (void)state;
    for (int is_untied = 0; is_untied < 2; is_untied++) {
        Gguf *gguf = NULL;
        IrModule *m = import_tiny(&(TinyModel){.is_untied = is_untied}, &gguf);
        check_config(m);
        const IrOp *forward = ir_symbol_find(m, "forward");
        assert_non_null(forward);
        assert_null(ir_op_attr(forward, "sym_visibility"));
        const IrType *type = ir_func_type(forward);
        assert_int_equal(type->num_inputs, 3 + 4 + 2 + 1 + 18 + 1 + is_untied);
        assert_int_equal(type->num_results, 5);
        assert_int_equal(type->results[0]->shape[1], 40);
        for (uint32_t i = 0; i < 4; i++) {
            assert_ptr_equal(type->inputs[3 + i], type->results[1 + i]);
            assert_string_equal(ir_func_arg_attr(forward, 3 + i, "ingot.kv")->str,
                                i % 2 ? "v" : "k");
            assert_int_equal(ir_func_arg_attr(forward, 3 + i, "ingot.layer")->i, i / 2);
        }
        for (uint32_t i = 7; i < type->num_inputs; i++)
            assert_non_null(ir_func_arg_attr(forward, i, "ingot.param"));
        assert_int_equal(type->inputs[7]->shape[0], 64 + 8); // context and one bucket
        assert_int_equal(count_functions(m, "layer"), 1);
        ir_module_destroy(m);
        gguf_close(gguf);
    }
}

// The printed module is read back to the same text and verifies.
static void test_text_round_trip(void **state) {
    (void)state;
    static const QuantFormat formats[] = {QUANT_F32, QUANT_F16, QUANT_BF16, QUANT_Q4_0, QUANT_Q5_1};
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        Gguf *gguf = NULL;
        IrModule *again = NULL;
        StrBuf first = {0}, second = {0};
        IrModule *m = import_tiny(&(TinyModel){.matrix_format = formats[i]}, &gguf);
        ir_print(m, NULL, &first);
        assert_int_equal(ir_parse(first.data, first.len, "again.mlir", &sink, &again), STATUS_OK);
        assert_int_equal(ir_verify(again, &(IrVerifyOptions){.level = 1}, &sink), STATUS_OK);
        ir_print(again, NULL, &second);
        assert_string_equal(first.data, second.data);
        strbuf_deinit(&first);
        strbuf_deinit(&second);
        ir_module_destroy(again);
        ir_module_destroy(m);
        gguf_close(gguf);
    }
}

// Layers share a function exactly if their weight formats are equal.
static void test_layer_functions(void **state) {
    (void)state;
    Gguf *gguf = NULL;
    TinyModel model = {.num_layers = 4, .matrix_format = QUANT_Q4_0};
    IrModule *m = import_tiny(&model, &gguf);
    assert_int_equal(count_functions(m, "layer"), 1);
    ir_module_destroy(m);
    gguf_close(gguf);
    model.second_down_format = QUANT_Q8_0;
    m = import_tiny(&model, &gguf);
    assert_int_equal(count_functions(m, "layer"), 2);
    const IrOp *layer = ir_symbol_find(m, "layer_1");
    assert_non_null(layer);
    uint32_t last = ir_func_type(layer)->num_inputs - 1;
    assert_string_equal(ir_func_arg_attr(layer, last, "ingot.quant")->str, "q8_0");
    assert_string_equal(ir_func_arg_attr(layer, last - 1, "ingot.quant")->str, "q4_0");
    ir_module_destroy(m);
    gguf_close(gguf);
}

static void check_table(const IrModule *m, const Gguf *gguf, double scale, const float *factors) {
    for (int is_sin = 0; is_sin < 2; is_sin++) {
        ImportParam table;
        const char *name = is_sin ? "rope.sin" : "rope.cos";
        assert_int_equal(import_param_data(m, gguf, name, &sink, &table), STATUS_OK);
        assert_int_equal(table.format, QUANT_F32);
        assert_int_equal(table.dims[0], 4);
        assert_int_equal(table.dims[1], 72);
        assert_int_equal(table.len_bytes, 4 * 72 * 4);
        for (uint64_t p = 0; p < 72; p++)
            for (uint64_t i = 0; i < 4; i++) {
                double angle = (double)p * scale * pow(1000.0, -(double)i / 4);
                if (factors) angle /= (double)factors[i];
                double want = is_sin ? sin(angle) : cos(angle);
                double have = (double)((const float *)table.data)[p * 4 + i];
                assert_true(fabs(want - have) <= 6e-8);
            }
        import_param_deinit(&table);
    }
}

static void test_rotary_tables(void **state) {
    (void)state;
    Gguf *gguf = NULL;
    IrModule *m = import_tiny(&(TinyModel){0}, &gguf);
    check_table(m, gguf, 1, NULL);
    ImportParam embedding;
    assert_int_equal(import_param_data(m, gguf, "token_embd.weight", &sink, &embedding), STATUS_OK);
    assert_ptr_equal(embedding.data, gguf_find_tensor(gguf, "token_embd.weight")->data);
    import_param_deinit(&embedding);
    assert_int_equal(import_param_data(m, gguf, "nothing", &sink, &embedding), STATUS_INVALID);
    ir_module_destroy(m);
    gguf_close(gguf);

    m = import_tiny(&(TinyModel){.has_rope_factors = true}, &gguf);
    check_table(m, gguf, 1,
                (const float *)(const void *)gguf_find_tensor(gguf, "rope_freqs.weight")->data);
    ir_module_destroy(m);
    gguf_close(gguf);

    GgufBuilder b = {0};
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_string(&b, "llama.rope.scaling.type", "linear");
    gguf_builder_f32(&b, "llama.rope.scaling.factor", 4.0f);
    gguf = open_built(&b);
    m = import(gguf);
    check_table(m, gguf, 0.25, NULL);
    ir_module_destroy(m);
    gguf_close(gguf);
}

static void test_refuses_tensors(void **state) {
    (void)state;
    GgufBuilder b = {0};
    tiny_model_build(&(TinyModel){.skip_tensor = "blk.1.ffn_up.weight"}, &b);
    refuse(&b, DIAG_F0018);
    tiny_model_build(&(TinyModel){.skip_tensor = "token_embd.weight"}, &b);
    refuse(&b, DIAG_F0018);
    tiny_model_build(&(TinyModel){.transpose_tensor = "blk.1.ffn_up.weight"}, &b);
    refuse(&b, DIAG_F0019);
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_tensor(&b, "blk.0.attn_q.bias", QUANT_F32, 1, (const uint64_t[]){32});
    refuse(&b, DIAG_F0020);
    tiny_model_build(&(TinyModel){.skip_tensor = "output_norm.weight"}, &b);
    gguf_builder_tensor(&b, "output_norm.weight", QUANT_F16, 1, (const uint64_t[]){32});
    refuse(&b, DIAG_F0019);
}

static void test_refuses_numbers(void **state) {
    (void)state;
    static const struct {
        TinyModel model;
        DiagCode code;
    } cases[] = {
        {{.num_heads = 4, .num_kv_heads = 3}, DIAG_F0016},   // not shared evenly
        {{.num_heads = 32, .num_kv_heads = 32}, DIAG_F0016}, // heads of one element
        {{.context = 63}, DIAG_F0016},                       // shorter than the recipe's
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        GgufBuilder b = {0};
        tiny_model_build(&cases[i].model, &b);
        refuse(&b, cases[i].code);
    }
}

static void test_refuses_other_vocabulary(void **state) {
    (void)state;
    GgufBuilder b = {0};
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_entry(&b, "tokenizer.ggml.tokens", GGUF_ARRAY);
    gguf_builder_put_u32(&b.entries, GGUF_STRING);
    gguf_builder_put_u64(&b.entries, 1);
    gguf_builder_put_string(&b.entries, "a");
    refuse(&b, DIAG_F0016);
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_u32(&b, "llama.vocab_size", 41);
    refuse(&b, DIAG_F0016);
}

// Keys that change the result and are not implemented; the same keys saying "off" pass.
static void test_refuses_keys(void **state) {
    (void)state;
    static const struct {
        const char *key;
        float on, off;
    } floats[] = {{"llama.attn_logit_softcapping", 50, 0},
                  {"llama.logit_scale", 2, 1},
                  {"llama.rope.scaling.yarn_log_multiplier", 0.1f, 0},
                  {"llama.rope.scaling.attn_factor", 2, 1},
                  {"llama.attention.scale", 2, 0}};
    static const char *const ints[] = {"llama.expert_count", "llama.attention.sliding_window"};
    for (size_t i = 0; i < ARRAY_LEN(floats); i++)
        for (int is_off = 0; is_off < 2; is_off++) {
            GgufBuilder b = {0};
            tiny_model_build(&(TinyModel){0}, &b);
            gguf_builder_f32(&b, floats[i].key, is_off ? floats[i].off : floats[i].on);
            if (!is_off) {
                refuse(&b, DIAG_F0017);
                continue;
            }
            Gguf *gguf = open_built(&b);
            ir_module_destroy(import(gguf));
            gguf_close(gguf);
        }
    for (size_t i = 0; i < ARRAY_LEN(ints); i++) {
        GgufBuilder b = {0};
        tiny_model_build(&(TinyModel){0}, &b);
        gguf_builder_u32(&b, ints[i], 8);
        refuse(&b, DIAG_F0017);
    }
}

static void test_refuses_rotary_settings(void **state) {
    (void)state;
    GgufBuilder b = {0};
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_string(&b, "llama.rope.scaling.type", "yarn");
    refuse(&b, DIAG_F0017);
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_f32(&b, "llama.rope.scaling.factor", 4); // of no type
    refuse(&b, DIAG_F0016);
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_u32(&b, "llama.rope.dimension_count", 4); // half of a head
    refuse(&b, DIAG_F0016);
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_string(&b, "llama.rope.dimension_count", "8");
    refuse(&b, DIAG_F0015);
}

static void test_refuses_architectures(void **state) {
    (void)state;
    static const char *const names[] = {"no_such", "", "../llama", "llama/../llama"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        GgufBuilder b = {0};
        gguf_builder_string(&b, "general.architecture", names[i]);
        refuse(&b, DIAG_F0014);
    }
    GgufBuilder b = {0};
    refuse(&b, DIAG_F0015);
}

// A value per layer is taken if all layers agree; a key the family does not know is warned about.
static void test_other_spellings(void **state) {
    (void)state;
    GgufBuilder b = {0};
    tiny_model_build(&(TinyModel){0}, &b);
    gguf_builder_u32(&b, "llama.novelty", 1);
    Gguf *gguf = open_built(&b);
    size_t before = sink.num_diags;
    ir_module_destroy(import(gguf));
    gguf_close(gguf);
    assert_int_equal(sink.num_diags, before + 1);
    assert_int_equal(sink.diags[before].severity, DIAG_WARNING);
    assert_int_equal(sink.diags[before].code, DIAG_F0021);
    for (uint32_t second = 32; second <= 33; second++) {
        tiny_model_build(&(TinyModel){0}, &b);
        gguf_builder_entry(&b, "llama.attention.key_length", GGUF_ARRAY);
        gguf_builder_put_u32(&b.entries, GGUF_U32);
        gguf_builder_put_u64(&b.entries, 2);
        gguf_builder_put_u32(&b.entries, 8);
        gguf_builder_put_u32(&b.entries, second == 32 ? 8 : 9);
        if (second == 33) {
            refuse(&b, DIAG_F0017);
            continue;
        }
        gguf = open_built(&b);
        ir_module_destroy(import(gguf));
        gguf_close(gguf);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_interface),
        TEST(test_text_round_trip),
        TEST(test_layer_functions),
        TEST(test_rotary_tables),
        TEST(test_refuses_tensors),
        TEST(test_refuses_numbers),
        TEST(test_wrong_key_has_its_place),
        TEST(test_refuses_keys),
        TEST(test_refuses_other_vocabulary),
        TEST(test_refuses_rotary_settings),
        TEST(test_refuses_architectures),
        TEST(test_other_spellings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
