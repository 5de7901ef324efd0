// See tiny_chain.h.
#include "tiny_chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void tiny_chain_expect_ok(TinyChain *chain, Status status) {
    if (status == STATUS_OK) return;
    StrBuf text = {0};
    diag_render(&chain->sink, &text);
    fail_msg("%s", text.data ? text.data : "failed without a diagnostic");
}

// ---- the model file: byte-level tokens, so that it makes a whole artifact

static void put_text(StrBuf *out, const uint32_t *codepoints, uint32_t n) {
    char text[16];
    size_t len = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = codepoints[i];
        if (c < 128)
            text[len++] = (char)c;
        else {
            text[len++] = (char)(0xc0 | c >> 6);
            text[len++] = (char)(0x80 | (c & 63));
        }
    }
    text[len] = 0;
    gguf_builder_put_string(out, text);
}

static void start_array(GgufBuilder *b, const char *key, GgufType elem, uint64_t count) {
    gguf_builder_entry(b, key, GGUF_ARRAY);
    gguf_builder_put_u32(&b->entries, (uint32_t)elem);
    gguf_builder_put_u64(&b->entries, count);
}

// How byte-level vocabularies write a byte (GPT-2): printable ones as they are, the others from
// 256.
static void put_byte_tokens(StrBuf *out) {
    uint32_t next = 256;
    for (uint32_t byte = 0; byte < 256; byte++) {
        bool is_plain = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        uint32_t letter = is_plain ? byte : next++;
        put_text(out, &letter, 1);
    }
}

static void add_tokenizer(GgufBuilder *b, uint32_t vocab) {
    enum { NUM_CONTROLS = 3 };
    static const char *const controls[NUM_CONTROLS] = {"<|endoftext|>", "<|im_start|>",
                                                       "<|im_end|>"};
    gguf_builder_string(b, "tokenizer.ggml.model", "gpt2");
    gguf_builder_string(b, "tokenizer.ggml.pre", "smollm");
    start_array(b, "tokenizer.ggml.tokens", GGUF_STRING, vocab);
    for (uint32_t i = 0; i < NUM_CONTROLS; i++) gguf_builder_put_string(&b->entries, controls[i]);
    put_byte_tokens(&b->entries);
    for (uint32_t i = NUM_CONTROLS + 256; i < vocab; i++) {
        char text[32];
        snprintf(text, sizeof text, "<pad%u>", i);
        gguf_builder_put_string(&b->entries, text);
    }
    start_array(b, "tokenizer.ggml.token_type", GGUF_I32, vocab);
    for (uint32_t i = 0; i < vocab; i++) {
        uint32_t type = i < NUM_CONTROLS ? 3 : i < NUM_CONTROLS + 256 ? 1 : 5;
        gguf_builder_put_u32(&b->entries, type);
    }
    start_array(b, "tokenizer.ggml.merges", GGUF_STRING, 0);
    gguf_builder_u32(b, "tokenizer.ggml.bos_token_id", 1);
    gguf_builder_u32(b, "tokenizer.ggml.eos_token_id", 2);
    gguf_builder_u32(b, "tokenizer.ggml.unknown_token_id", 0);
}

void tiny_chain_open(TinyChain *c) {
    diag_sink_init(&c->sink);
    if (!c->model.vocab) c->model.vocab = TINY_VOCAB;
    GgufBuilder b = {0};
    tiny_model_build(&c->model, &b);
    if (c->is_halves) gguf_builder_string(&b, "llama.rope.pairing", "halves");
    if (c->model.vocab >= 259) add_tokenizer(&b, c->model.vocab);
    gguf_builder_finish(&b, &c->bytes);
    gguf_builder_deinit(&b);
    tiny_chain_expect_ok(c, gguf_builder_open(c->bytes.data, c->bytes.len, &c->sink, &c->gguf));
    uint32_t bucket = c->bucket ? c->bucket : 16, context = c->context ? c->context : 64;
    strbuf_printf(
        &c->recipe_text,
        "version: 1\nmodel_name: tiny\nprecision: {activations: %s, kv_cache: %s%s}\n"
        "input_constraints: {seq_len: {min: 1, max: %u, step: %u}, kv_cache_seq_len: {max: %u}}\n"
        "targets:\n  - {arch: x86_64, cpu: all, threads: 3}\n"
        "memory_optimization: {kv_cache_page_size: %u}\n%s",
        c->activations ? c->activations : "f32", c->kv ? c->kv : "f32",
        c->precision ? c->precision : "", bucket, bucket, context, (unsigned)TINY_PAGE_LEN,
        c->more ? c->more : "");
    tiny_chain_expect_ok(c, recipe_parse(c->recipe_text.data, c->recipe_text.len, "tiny.yaml",
                                         &c->sink, &c->recipe));
    tiny_chain_expect_ok(c, import_model(c->recipe, c->gguf, &c->sink, &c->imported));
}

void tiny_chain_close(TinyChain *c) {
    ir_module_destroy(c->imported);
    recipe_destroy(c->recipe);
    gguf_close(c->gguf);
    strbuf_deinit(&c->bytes);
    strbuf_deinit(&c->recipe_text);
    diag_sink_deinit(&c->sink);
}

// ---- the pipeline

void tiny_chain_advance(TinyChain *c, IrModule *m, PassId end) {
    PassId ids[NUM_PASSES];
    size_t num = 0;
    for (PassId id = pass_next(m); id < end; id = (PassId)(id + 1)) ids[num++] = id;
    tiny_chain_expect_ok(
        c, pass_pipeline_run(m, &(PassPipeline){.ids = ids, .num_ids = num}, &c->sink));
}

void tiny_chain_set_target(IrModule *m, const char *level) {
    ir_op_set_attr(m, m->op, "ingot.target", ir_attr_string(m, level));
}

IrModule *tiny_chain_module(TinyChain *c, PassId end, const char *level) {
    IrModule *m = ir_module_clone(c->imported);
    if (level) tiny_chain_set_target(m, level);
    tiny_chain_advance(c, m, end);
    return m;
}
