// The tokenizer on vocabularies made for the test: what is refused, what control tokens may do,
// byte fallback, spaces, end tokens, and damaged tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/tokenizer_blob.h"
#include "tokenizer_fixture.h"

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

// ---------------------------------------------------------------- vocabularies

// Byte-level BPE: a few letters, merges, control and user-defined tokens, two tokens of one text.
#define SPACE "\xC4\xA0" // of the byte alphabet
#define LINE  "\xC4\x8A"
static const char *const BPE_TOKENS[] = {"a",      "b",          "c",   SPACE,  "ab",
                                         "abc",    (SPACE "ab"), "<s>", "</s>", "<|x|>",
                                         "<tool>", "ab",         "1",   LINE,   "<|x|>y"};
static const int32_t BPE_TYPES[] = {1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 4, 1, 1, 1, 3};
static const char *const BPE_MERGES[] = {"a b", "ab c", (SPACE " ab")};
enum { A, B, C, SP, AB, ABC, SP_AB, BOS, EOS, X, TOOL, AB2, ONE, NEWLINE, XY, NUM_BPE };

// SentencePiece: bytes first, then pieces with scores.
enum { UNK, SPM_BOS, SPM_EOS, BYTE0, MARK = BYTE0 + 256, H, I_, HI, MARK_HI, USER, NUM_SPM };

typedef struct Options {
    const char *model, *pre, *name, *chat_template;
    uint32_t bos, eos;
    size_t num_types;
    int32_t bad_type;
    const char *bad_merge;
    bool without_bos;
} Options;

static char *make_bpe(const Options *options) {
    GgufMaker maker;
    int32_t types[NUM_BPE];
    const char *merges[ARRAY_LEN(BPE_MERGES)];
    memcpy(types, BPE_TYPES, sizeof types);
    memcpy(merges, BPE_MERGES, sizeof merges);
    if (options->bad_type) types[2] = options->bad_type;
    if (options->bad_merge) merges[1] = options->bad_merge;
    maker_begin(&maker);
    if (options->name) maker_put_string(&maker, "general.name", options->name);
    maker_put_string(&maker, "tokenizer.ggml.model", options->model ? options->model : "gpt2");
    if (!options->pre || *options->pre)
        maker_put_string(&maker, "tokenizer.ggml.pre", options->pre ? options->pre : "gpt-2");
    maker_put_strings(&maker, "tokenizer.ggml.tokens", BPE_TOKENS, NUM_BPE);
    maker_put_i32s(&maker, "tokenizer.ggml.token_type", types,
                   options->num_types ? options->num_types : NUM_BPE);
    maker_put_strings(&maker, "tokenizer.ggml.merges", merges, ARRAY_LEN(merges));
    if (options->chat_template)
        maker_put_string(&maker, "tokenizer.chat_template", options->chat_template);
    if (!options->without_bos)
        maker_put_u32(&maker, "tokenizer.ggml.bos_token_id", options->bos ? options->bos : BOS);
    maker_put_u32(&maker, "tokenizer.ggml.eos_token_id", options->eos ? options->eos : EOS);
    return maker_end(&maker);
}

static char *make_spm(bool adds_space, bool has_bytes) {
    static char bytes[256][8];
    const char *tokens[NUM_SPM] = {
        [UNK] = "<unk>", [SPM_BOS] = "<s>", [SPM_EOS] = "</s>", [MARK] = "\xE2\x96\x81",
        [H] = "h",       [I_] = "i",        [HI] = "hi",        [MARK_HI] = "\xE2\x96\x81hi",
        [USER] = "<u>"};
    int32_t types[NUM_SPM] = {[UNK] = 2, [SPM_BOS] = 3, [SPM_EOS] = 3, [USER] = 4};
    float scores[NUM_SPM] = {[HI] = -2, [MARK_HI] = -1, [MARK] = -10, [H] = -11, [I_] = -12};
    for (size_t i = 0; i < 256; i++) {
        snprintf(bytes[i], sizeof bytes[i], "<0x%02X>", (unsigned)i);
        tokens[BYTE0 + i] = bytes[i];
        types[BYTE0 + i] = has_bytes ? 6 : 5;
    }
    for (size_t i = MARK; i < USER; i++) types[i] = 1;
    GgufMaker maker;
    maker_begin(&maker);
    maker_put_string(&maker, "tokenizer.ggml.model", "llama");
    maker_put_strings(&maker, "tokenizer.ggml.tokens", tokens, NUM_SPM);
    maker_put_i32s(&maker, "tokenizer.ggml.token_type", types, NUM_SPM);
    maker_put_f32s(&maker, "tokenizer.ggml.scores", scores, NUM_SPM);
    maker_put_bool(&maker, "tokenizer.ggml.add_space_prefix", adds_space);
    return maker_end(&maker);
}

static Status open_made(TokenizerFixture *fixture, char *path) {
    Status status = fixture_open(fixture, path);
    unlink(path);
    free(path);
    return status;
}

static void assert_ids(TokenizerFixture *fixture, const char *text, uint32_t flags,
                       const int32_t *wanted, size_t count) {
    TokenIds ids = {0};
    assert_int_equal(
        tokenizer_encode(fixture->tokenizer, text, strlen(text), flags, &fixture->sink, &ids),
        STATUS_OK);
    assert_int_equal(ids.count, count);
    for (size_t i = 0; i < count; i++) assert_int_equal(ids.ids[i], wanted[i]);
    token_ids_deinit(&ids);
}
#define ASSERT_IDS(fixture, text, flags, ...)                                                      \
    assert_ids(fixture, text, flags, (const int32_t[]){__VA_ARGS__},                               \
               ARRAY_LEN(((const int32_t[]){__VA_ARGS__})))

// ---------------------------------------------------------------- encoding

static void test_bpe(void **state) {
    (void)state;
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_bpe(&(Options){0})), STATUS_OK);
    ASSERT_IDS(&f, "abc", 0, ABC);
    ASSERT_IDS(&f, "abab", 0, AB, AB); // of two tokens with one text the first
    ASSERT_IDS(&f, "ab ab", 0, AB, SP_AB);
    ASSERT_IDS(&f, "a  ab", 0, A, SP, SP_AB);
    ASSERT_IDS(&f, "ab", TOKENIZE_ADD_BOS, BOS, AB);
    // A control token is one only where that is asked for; a user-defined token always.
    ASSERT_IDS(&f, "a</s>b", TOKENIZE_PARSE_SPECIAL, A, EOS, B);
    ASSERT_IDS(&f, "<|x|>y<|x|>", TOKENIZE_PARSE_SPECIAL, XY, X); // the longest
    ASSERT_IDS(&f, "a<tool>b", 0, A, TOOL, B);
    assert_int_equal(f.sink.num_errors, 0);
    // Bytes without a token are left out, with a warning.
    size_t num_diags = f.sink.num_diags;
    ASSERT_IDS(&f,
               "a\xC3\xA4"
               "b",
               0, A, B);
    assert_int_equal(f.sink.num_diags, num_diags + 1);
    assert_int_equal(f.sink.diags[num_diags].code, DIAG_T0010);
    assert_int_equal(f.sink.diags[num_diags].severity, DIAG_WARNING);
    assert_int_equal(tokenizer_find(f.tokenizer, "abc", 3), ABC);
    assert_int_equal(tokenizer_find(f.tokenizer, "</s>", 4), EOS);
    assert_int_equal(tokenizer_find(f.tokenizer, "zzz", 3), -1);
    assert_int_equal(tokenizer_vocab_size(f.tokenizer), NUM_BPE);
    const char *bytes;
    size_t len;
    assert_true(tokenizer_decode_token(f.tokenizer, SP_AB, &bytes, &len));
    assert_true(len == 3 && memcmp(bytes, " ab", 3) == 0);
    assert_false(tokenizer_decode_token(f.tokenizer, NUM_BPE, &bytes, &len));
    assert_false(tokenizer_decode_token(f.tokenizer, -1, &bytes, &len));
    fixture_close(&f);
}

static void test_pieces(void **state) {
    (void)state;
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_bpe(&(Options){0})), STATUS_OK);
    static const struct {
        TextPiece pieces[4];
        size_t num_pieces;
        int32_t ids[8];
        size_t num_ids;
    } cases[] = {
        // All template: found, also across pieces. Any byte from the user: not found.
        {{{"<|x", 3, true}, {"|>a", 3, true}}, 2, {X, A}, 2},
        {{{"<s>", 3, true}, {"ab", 2, false}, {"</s>", 4, true}}, 3, {BOS, AB, EOS}, 3},
        {{{"a", 1, true}, {"b</s>", 5, false}, {"c", 1, true}}, 3, {AB, C}, 2},
        {{{"<|x|", 4, true}, {">", 1, false}}, 2, {0}, 0},
        {{{"<|x|>", 5, true}, {"y", 1, false}}, 2, {X}, 1}, // the shorter one, all template
        {{{"a", 1, false}, {"bc", 2, true}}, 2, {ABC}, 1},  // a run crosses the border
        {{{"a<to", 4, false}, {"ol>", 3, true}}, 2, {A, TOOL}, 2},
        {{{"", 0, true}, {"", 0, false}}, 2, {0}, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        TokenIds ids = {0};
        assert_int_equal(tokenizer_encode_pieces(f.tokenizer, cases[i].pieces, cases[i].num_pieces,
                                                 TOKENIZE_PARSE_SPECIAL, &f.sink, &ids),
                         STATUS_OK);
        assert_int_equal(ids.count, cases[i].num_ids);
        for (size_t k = 0; k < ids.count; k++) assert_int_equal(ids.ids[k], cases[i].ids[k]);
        token_ids_deinit(&ids);
    }
    fixture_close(&f);
}

// A model whose published tokenizer gives the blanks after special tokens to them.
static void test_strips_after(void **state) {
    (void)state;
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_bpe(&(Options){.name = "Some PHI-3 mini"})), STATUS_OK);
    ASSERT_IDS(&f, "<|x|>\n\xE2\x80\x83 a b", TOKENIZE_PARSE_SPECIAL, X, A, SP, B);
    ASSERT_IDS(&f, "<s> a<tool>\n", TOKENIZE_PARSE_SPECIAL, BOS, SP, A,
               TOOL); // <s> is an exception
    assert_true(tokenizer_is_control(f.tokenizer, X));
    fixture_close(&f);
    assert_int_equal(open_made(&f, make_bpe(&(Options){.name = "Some other"})), STATUS_OK);
    ASSERT_IDS(&f, "<|x|>\na", TOKENIZE_PARSE_SPECIAL, X, NEWLINE, A);
    fixture_close(&f);
}

static void test_spm(void **state) {
    (void)state;
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_spm(true, true)), STATUS_OK);
    ASSERT_IDS(&f, "hi", 0, MARK_HI);
    ASSERT_IDS(&f, "hihi", 0, MARK_HI, HI);
    ASSERT_IDS(&f, "\xE2\x96\x81hi", 0, MARK, MARK_HI); // a literal mark is a space
    ASSERT_IDS(&f, "h\xC3\xA4", 0, MARK, H, BYTE0 + 0xC3, BYTE0 + 0xA4);
    ASSERT_IDS(&f, "<s>hi<s>", TOKENIZE_PARSE_SPECIAL, SPM_BOS, MARK_HI, SPM_BOS);
    ASSERT_IDS(&f, "<s>", 0, MARK, BYTE0 + '<', BYTE0 + 's', BYTE0 + '>'); // no control by merging
    ASSERT_IDS(&f, "h<u>i", 0, MARK, H, USER, MARK, I_);
    assert_true(tokenizer_adds_bos(f.tokenizer));
    assert_true(tokenizer_adds_space(f.tokenizer));
    const char *bytes;
    size_t len;
    assert_true(tokenizer_decode_token(f.tokenizer, MARK_HI, &bytes, &len));
    assert_true(len == 3 && memcmp(bytes, " hi", 3) == 0);
    assert_true(tokenizer_decode_token(f.tokenizer, BYTE0 + 0xC3, &bytes, &len));
    assert_true(len == 1 && (uint8_t)bytes[0] == 0xC3);
    assert_int_equal(tokenizer_eos(f.tokenizer), SPM_EOS);
    fixture_close(&f);
    assert_int_equal(open_made(&f, make_spm(false, false)), STATUS_OK);
    ASSERT_IDS(&f, "hi hi", 0, HI, MARK_HI);
    ASSERT_IDS(&f, "h\xC3\xA4", 0, H, UNK); // no byte tokens: one unknown per character
    fixture_close(&f);
}

static void test_end_tokens(void **state) {
    (void)state;
    static const char *const tokens[] = {"a",          "<|im_end|>", "<|end|>", "<|call|>",
                                         "<|return|>", "<PAD>",      "[PAD]",   "x"};
    static const int32_t types[] = {1, 1, 3, 3, 3, 3, 1, 1};
    GgufMaker maker;
    maker_begin(&maker);
    maker_put_string(&maker, "tokenizer.ggml.model", "gpt2");
    maker_put_string(&maker, "tokenizer.ggml.pre", "qwen2");
    maker_put_strings(&maker, "tokenizer.ggml.tokens", tokens, ARRAY_LEN(tokens));
    maker_put_i32s(&maker, "tokenizer.ggml.token_type", types, ARRAY_LEN(types));
    maker_put_strings(&maker, "tokenizer.ggml.merges", NULL, 0);
    maker_put_u32(&maker, "tokenizer.ggml.eot_token_id", 7);
    TokenizerFixture f;
    assert_int_equal(open_made(&f, maker_end(&maker)), STATUS_OK);
    static const bool wanted[] = {false, true, false, true, true, true, false, true};
    for (int32_t i = 0; i < (int32_t)ARRAY_LEN(wanted); i++)
        assert_int_equal(tokenizer_is_end(f.tokenizer, i), wanted[i]);
    assert_true(tokenizer_is_control(f.tokenizer, 1)); // whatever the file calls it
    assert_false(tokenizer_is_end(f.tokenizer, -1));
    fixture_close(&f);
}

// ---------------------------------------------------------------- refusals

static char *make_long_token(size_t len) {
    const char *tokens[] = {"a", NULL};
    StrBuf text = {0};
    for (size_t i = 0; i < len; i++) strbuf_putc(&text, 'a');
    tokens[1] = text.data;
    GgufMaker maker;
    maker_begin(&maker);
    maker_put_string(&maker, "tokenizer.ggml.model", "gpt2");
    maker_put_string(&maker, "tokenizer.ggml.pre", "gpt-2");
    maker_put_strings(&maker, "tokenizer.ggml.tokens", tokens, ARRAY_LEN(tokens));
    maker_put_strings(&maker, "tokenizer.ggml.merges", NULL, 0);
    strbuf_deinit(&text);
    return maker_end(&maker);
}

static void test_long_token(void **state) {
    (void)state;
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_long_token(TOKENIZER_MAX_SYMBOL_BYTES)), STATUS_OK);
    fixture_close(&f);
    assert_int_equal(open_made(&f, make_long_token(TOKENIZER_MAX_SYMBOL_BYTES + 1)),
                     STATUS_INVALID);
    assert_int_equal(f.sink.diags[0].code, DIAG_T0004);
    fixture_close(&f);
}

static void assert_refused(const Options *options, DiagCode code) {
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_bpe(options)), STATUS_INVALID);
    assert_int_equal(f.sink.diags[0].code, code);
    assert_int_equal(f.blob.len, 0);
    fixture_close(&f);
}

static void test_refusals(void **state) {
    (void)state;
    assert_refused(&(Options){.model = "bert"}, DIAG_T0002);
    assert_refused(&(Options){.model = "t5"}, DIAG_T0002);
    assert_refused(&(Options){.pre = "gtp-2"}, DIAG_T0003);
    assert_refused(&(Options){.pre = ""}, DIAG_T0003);
    assert_refused(&(Options){.num_types = 3}, DIAG_T0001);
    assert_refused(&(Options){.bad_type = 9}, DIAG_T0004);
    assert_refused(&(Options){.bad_type = TOKEN_BYTE}, DIAG_T0004);
    assert_refused(&(Options){.bad_merge = "ab"}, DIAG_T0005);
    assert_refused(&(Options){.bad_merge = ""}, DIAG_T0005);
    assert_refused(&(Options){.bos = NUM_BPE}, DIAG_T0006);
    assert_refused(&(Options){.eos = UINT32_MAX}, DIAG_T0006);
    assert_refused(&(Options){.model = "llama"}, DIAG_T0001); // no scores
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_bpe(&(Options){.pre = "gtp-2"})), STATUS_INVALID);
    assert_non_null(strstr(f.sink.diags[0].evidence, "gpt-2"));
    fixture_close(&f);
}

// A template that the run time cannot render is refused when compiling, with its place.
static void test_chat_template(void **state) {
    (void)state;
    static const struct {
        const char *text;
        Status status;
        DiagCode code;
    } cases[] = {{NULL, STATUS_OK, 0},
                 {"{{ messages[0].content | trim }}", STATUS_OK, 0},
                 {"{% for m in messages %}", STATUS_INVALID, DIAG_T0020},
                 {"\n{{ messages | from_json }}", STATUS_INVALID, DIAG_T0021}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        TokenizerFixture f;
        assert_int_equal(open_made(&f, make_bpe(&(Options){.chat_template = cases[i].text})),
                         STATUS_OK);
        assert_int_equal(tokenizer_check_chat_template(f.gguf, &f.sink), cases[i].status);
        if (cases[i].status != STATUS_OK) {
            assert_int_equal(f.sink.diags[0].code, cases[i].code);
            assert_true(f.sink.diags[0].span.line > 0);
        }
        fixture_close(&f);
    }
}

static void test_no_bos(void **state) {
    (void)state;
    TokenizerFixture f;
    TokenIds ids = {0};
    assert_int_equal(open_made(&f, make_bpe(&(Options){.without_bos = true})), STATUS_OK);
    assert_int_equal(tokenizer_encode(f.tokenizer, "a", 1, TOKENIZE_ADD_BOS, &f.sink, &ids),
                     STATUS_INVALID);
    assert_int_equal(ids.count, 0);
    assert_int_equal(f.sink.diags[0].code, DIAG_T0008);
    token_ids_deinit(&ids);
    fixture_close(&f);
}

// ---------------------------------------------------------------- damaged tables

// Opens a damaged copy; if it still opens, every operation must stay inside of it.
static void try_blob(const uint8_t *blob, size_t len) {
    DiagSink sink;
    diag_sink_init(&sink);
    uint8_t *copy = malloc(MAX(len, 1)); // exactly sized: AddressSanitizer sees reads past the end
    assert_non_null(copy);
    if (len) memcpy(copy, blob, len);
    Tokenizer *tokenizer = NULL;
    if (tokenizer_open(copy, len, &sink, &tokenizer) == STATUS_OK) {
        static const char text[] = "abc ab\xC3\xA4<|x|>y</s> hi\xE2\x96\x81hi 123\n\n";
        TokenIds ids = {0};
        (void)!tokenizer_encode(tokenizer, text, sizeof text, TOKENIZE_PARSE_SPECIAL, &sink, &ids);
        for (size_t i = 0; i < ids.count; i++) {
            const char *bytes;
            size_t bytes_len;
            assert_true(tokenizer_decode_token(tokenizer, ids.ids[i], &bytes, &bytes_len));
            for (size_t k = 0; k < bytes_len; k++) (void)*(const volatile char *)(bytes + k);
        }
        token_ids_deinit(&ids);
        tokenizer_close(tokenizer);
    } else {
        assert_true(sink.num_errors > 0);
    }
    free(copy);
    diag_sink_deinit(&sink);
}

static void damage(TokenizerFixture *f) {
    size_t len = f->blob.len;
    uint8_t *blob = malloc(len);
    assert_non_null(blob);
    for (size_t cut = 0; cut < len; cut += 1 + cut / 16)
        try_blob((const uint8_t *)f->blob.data, cut);
    for (size_t i = 0; i < 20000; i++) {
        memcpy(blob, f->blob.data, len);
        for (size_t n = 1 + next_random() % 3; n-- > 0;) {
            size_t at = next_random() % (i % 2 ? len : MIN(len, sizeof(TokenizerHeader)));
            uint64_t random = next_random();
            blob[at] = (uint8_t)(i % 4 < 2 ? blob[at] ^ 1u << random % 8 : random);
        }
        try_blob(blob, len);
    }
    free(blob);
}

static void test_damaged(void **state) {
    (void)state;
    TokenizerFixture f;
    assert_int_equal(open_made(&f, make_bpe(&(Options){0})), STATUS_OK);
    damage(&f);
    fixture_close(&f);
    assert_int_equal(open_made(&f, make_spm(true, true)), STATUS_OK);
    damage(&f);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpe),           cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_spm),           cmocka_unit_test(test_strips_after),
        cmocka_unit_test(test_end_tokens),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_token),    cmocka_unit_test(test_no_bos),
        cmocka_unit_test(test_chat_template), cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
