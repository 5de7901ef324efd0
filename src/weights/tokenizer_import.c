// Reads the tokenizer.ggml keys of a model file, checks them, and fills the tables of
// tokenizer_tables.h. Meaning of the keys: github.com/ggml-org/ggml, docs/gguf.md.
#include "weights/tokenizer_import.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "text/template.h"
#include "weights/tokenizer_tables.h"

enum {
    MAX_TEXT_BYTES = 1 << 30, // all tokens and merges together: offsets stay in 32 bits
    BYTE_TOKEN_LEN = 6,       // "<0x0A>"
};
#define SPACE_MARK "\xE2\x96\x81" // U+2581, stands for a space in SentencePiece texts

typedef struct Import {
    const Gguf *gguf;
    DiagSink *sink;
    TokenizerTables tables;
    const GgufString *texts; // of the tokens
    size_t vocab_size;
    TokenizerKind kind;
    const char *pretokenizer; // "" for TOKENIZER_SPM
    uint32_t default_flags;
    uint16_t bytes_of_chars[512]; // code point of the byte alphabet -> byte + 1, 0 if none
} Import;

static DiagSpan key_span(const Import *import, const char *key) {
    return gguf_key_span(import->gguf, key);
}

typedef enum ElemKind { ELEM_STRING, ELEM_INT, ELEM_NUMBER } ElemKind; // a number: int or float

static bool is_elem_of(GgufType type, ElemKind kind) {
    bool is_float = type == GGUF_F32 || type == GGUF_F64;
    if (kind == ELEM_STRING) return type == GGUF_STRING;
    return type != GGUF_STRING && type != GGUF_ARRAY && (kind == ELEM_NUMBER || !is_float);
}

// An array of num_elems elements of the kind asked for; with *out_array NULL if it may be absent.
static Status find_array(Import *import, const char *key, ElemKind kind, bool is_required,
                         size_t num_elems, const GgufValue **out_array) {
    const GgufValue *value = gguf_find(import->gguf, key);
    *out_array = NULL;
    if (!value && !is_required) return STATUS_OK;
    if (!value)
        return diag_error(import->sink, DIAG_T0001, key_span(import, key), "%s is missing", key);
    static const char *const kinds[] = {"strings", "whole numbers", "numbers"};
    if (value->type != GGUF_ARRAY || !is_elem_of(value->array.elem_type, kind))
        return diag_error(import->sink, DIAG_T0001, key_span(import, key),
                          "%s is not an array of %s", key, kinds[kind]);
    if (num_elems && value->array.count != num_elems)
        return diag_error(import->sink, DIAG_T0001, key_span(import, key),
                          "%s has %" PRIu64 " elements for %zu tokens", key, value->array.count,
                          num_elems);
    *out_array = value;
    return STATUS_OK;
}

// ---------------------------------------------------------------- which tokenizer

static const struct {
    const char *name;
    TokenizerKind kind;
    const char *pretokenizer;
} MODELS[] = {
#define TOKENIZER_MODEL(name, kind, pretokenizer) {name, kind, pretokenizer},
#include "abi/tokenizer_models.def"
#undef TOKENIZER_MODEL
};

static const struct {
    const char *name;
    uint32_t flags;
} PRETOKENIZERS[] = {
#define PRETOKENIZER(name, flags, ...) {name, flags},
#include "abi/pretokenizers.def"
#undef PRETOKENIZER
};

// A NUL-terminated copy in the sink's arena, for messages and comparison.
static const char *copy_string(Import *import, GgufString str) {
    return arena_strndup(&import->sink->arena, str.data, (size_t)MIN(str.len, (uint64_t)200));
}

// name: the pre-tokenizer of this kind of vocabulary, "" if the metadata says it.
static Status read_pretokenizer(Import *import, const char *name) {
    GgufString str;
    if (!*name) {
        if (!gguf_get_string(import->gguf, "tokenizer.ggml.pre", &str))
            return diag_error(import->sink, DIAG_T0003, key_span(import, "tokenizer.ggml.pre"),
                              "tokenizer.ggml.pre is missing: how this vocabulary cuts text into "
                              "words is not known");
        name = copy_string(import, str);
    }
    const char *names[ARRAY_LEN(PRETOKENIZERS)];
    for (size_t i = 0; i < ARRAY_LEN(PRETOKENIZERS); i++) {
        names[i] = PRETOKENIZERS[i].name;
        if (!str_equal(name, PRETOKENIZERS[i].name)) continue;
        import->pretokenizer = PRETOKENIZERS[i].name;
        import->default_flags = PRETOKENIZERS[i].flags;
        return STATUS_OK;
    }
    Status status = diag_error(import->sink, DIAG_T0003, key_span(import, "tokenizer.ggml.pre"),
                               "tokenizer.ggml.pre is \"%s\", which is not known", name);
    const char *nearest = str_nearest(name, names, ARRAY_LEN(names));
    if (nearest) diag_evidence(import->sink, "the nearest known name is \"%s\"", nearest);
    return status;
}

static Status read_kind(Import *import) {
    GgufString str;
    if (!gguf_get_string(import->gguf, "tokenizer.ggml.model", &str))
        return diag_error(import->sink, DIAG_T0001, key_span(import, "tokenizer.ggml.model"),
                          "tokenizer.ggml.model is missing");
    const char *model = copy_string(import, str);
    StrBuf known = {0};
    size_t found = 0;
    while (found < ARRAY_LEN(MODELS) && !str_equal(MODELS[found].name, model))
        strbuf_printf(&known, "%s%s", found ? ", " : "", MODELS[found].name), found++;
    Status status = STATUS_OK;
    if (found == ARRAY_LEN(MODELS))
        status = diag_error(import->sink, DIAG_T0002, key_span(import, "tokenizer.ggml.model"),
                            "tokenizer.ggml.model is \"%s\"; supported: %s", model, known.data);
    strbuf_deinit(&known);
    TRY(status);
    import->kind = MODELS[found].kind;
    import->tables.header.kind = import->kind;
    if (import->kind != TOKENIZER_SPM) return read_pretokenizer(import, MODELS[found].pretokenizer);
    import->pretokenizer = "";
    import->default_flags = TOKENIZER_ADDS_BOS | TOKENIZER_SPACE_PREFIX;
    return STATUS_OK;
}

// ---------------------------------------------------------------- tokens

static Status read_texts(Import *import) {
    const GgufValue *array;
    TRY(find_array(import, "tokenizer.ggml.tokens", ELEM_STRING, true, 0, &array));
    if (array->array.count == 0 || array->array.count > TOKENIZER_MAX_SYMBOLS)
        return diag_error(import->sink, DIAG_T0004, key_span(import, "tokenizer.ggml.tokens"),
                          "tokenizer.ggml.tokens has %" PRIu64 " elements; 1 to %d are supported",
                          array->array.count, TOKENIZER_MAX_SYMBOLS);
    import->texts = array->array.strings;
    import->vocab_size = (size_t)array->array.count;
    import->tables.header.vocab_size = (uint32_t)import->vocab_size;
    uint64_t total = 0;
    for (size_t i = 0; i < import->vocab_size; i++) total += import->texts[i].len;
    if (total > MAX_TEXT_BYTES)
        return diag_error(import->sink, DIAG_T0004, key_span(import, "tokenizer.ggml.tokens"),
                          "the token texts take %" PRIu64 " bytes; at most 1 GiB is supported",
                          total);
    return STATUS_OK;
}

static Status read_types(Import *import) {
    const GgufValue *array;
    TRY(find_array(import, "tokenizer.ggml.token_type", ELEM_INT, false, import->vocab_size,
                   &array));
    import->tables.types = base_alloc(import->vocab_size, 1);
    memset(import->tables.types, TOKEN_NORMAL, import->vocab_size);
    for (size_t i = 0; array && i < import->vocab_size; i++) {
        int64_t type = gguf_array_int(array, i);
        if (type < TOKEN_NORMAL || type >= NUM_TOKEN_TYPES)
            return diag_error(import->sink, DIAG_T0004,
                              key_span(import, "tokenizer.ggml.token_type"),
                              "token %zu has the unknown type %" PRId64, i, type);
        import->tables.types[i] = (uint8_t)type;
    }
    return STATUS_OK;
}

static Status read_scores(Import *import) {
    if (import->kind != TOKENIZER_SPM) return STATUS_OK;
    const GgufValue *array;
    TRY(find_array(import, "tokenizer.ggml.scores", ELEM_NUMBER, true, import->vocab_size, &array));
    import->tables.scores = base_alloc(import->vocab_size, sizeof *import->tables.scores);
    for (size_t i = 0; i < import->vocab_size; i++) {
        float score = (float)gguf_array_float(array, i);
        if (isnan(score))
            return diag_error(import->sink, DIAG_T0004, key_span(import, "tokenizer.ggml.scores"),
                              "the score of token %zu is not a number", i);
        import->tables.scores[i] = score;
    }
    return STATUS_OK;
}

static bool is_special(uint8_t type) {
    return type == TOKEN_CONTROL || type == TOKEN_UNKNOWN || type == TOKEN_USER_DEFINED;
}

// The byte that "<0xNN>" names, -1 if text is not of that form.
static int byte_of_text(GgufString text) {
    if (text.len != BYTE_TOKEN_LEN || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>')
        return -1;
    int value = 0;
    for (size_t i = 3; i < 5; i++) {
        char c = text.data[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

// The byte alphabet of GPT-2: printable Latin-1 bytes stand for themselves, the other 68 are
// numbered upward from U+0100 (Radford et al. 2019, bytes_to_unicode).
static void init_byte_alphabet(Import *import) {
    uint32_t next = 256;
    for (uint32_t byte = 0; byte < 256; byte++) {
        bool is_itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        import->bytes_of_chars[is_itself ? byte : next++] = (uint16_t)(byte + 1);
    }
}

// Appends the bytes that text of the byte alphabet stands for; false if it has another character.
static bool decode_byte_alphabet(const Import *import, const char *text, size_t len, StrBuf *out) {
    for (size_t i = 0; i < len;) {
        Utf8Step step = utf8_step(text + i, len - i);
        if (step.kind != UTF8_CHAR || step.code_point >= ARRAY_LEN(import->bytes_of_chars) ||
            !import->bytes_of_chars[step.code_point])
            return false;
        strbuf_putc(out, (char)(import->bytes_of_chars[step.code_point] - 1));
        i += step.num_bytes;
    }
    return true;
}

// Appends text with every U+2581 as a space.
static void put_with_spaces(const char *text, size_t len, StrBuf *out) {
    size_t mark_len = strlen(SPACE_MARK);
    for (size_t i = 0; i < len;) {
        bool is_mark = len - i >= mark_len && memcmp(text + i, SPACE_MARK, mark_len) == 0;
        strbuf_append(out, is_mark ? " " : text + i, 1);
        i += is_mark ? mark_len : 1;
    }
}

// Enters one token into the tables match and print, and into the hash if merging can make it.
static Status add_token(Import *import, size_t id, StrBuf *scratch) {
    TokenizerTables *tables = &import->tables;
    GgufString text = import->texts[id];
    uint8_t type = tables->types[id];
    bool is_bytes = import->kind == TOKENIZER_BPE_BYTES, is_entered = !is_special(type);
    int byte = type == TOKEN_BYTE ? byte_of_text(text) : -1;
    strbuf_clear(scratch);
    if (type == TOKEN_BYTE) {
        if (byte < 0)
            return diag_error(import->sink, DIAG_T0004, key_span(import, "tokenizer.ggml.tokens"),
                              "byte token %zu is not written as <0x00> to <0xFF>", id);
        strbuf_putc(scratch, (char)byte);
        is_entered = false;
        if (!is_bytes && tables->byte_symbols[byte] == TOKENIZER_NONE)
            tables->byte_symbols[byte] = (uint32_t)id;
    } else if (is_special(type)) {
        strbuf_append(scratch, text.data, (size_t)text.len);
    } else if (!is_bytes) {
        put_with_spaces(text.data, (size_t)text.len, scratch);
    } else if (!decode_byte_alphabet(import, text.data, (size_t)text.len, scratch)) {
        strbuf_clear(scratch);
        strbuf_append(scratch, text.data, (size_t)text.len);
        is_entered = false;
    }
    if (is_bytes) {
        string_table_add(&tables->match, scratch->data, scratch->len);
    } else {
        string_table_add(&tables->match, text.data, (size_t)text.len);
        string_table_add(&tables->print, scratch->data, scratch->len);
        is_entered |= type == TOKEN_USER_DEFINED;
    }
    // Of tokens with equal texts the first is the one that encoding finds.
    if (is_entered && text.len) (void)tables_enter(tables, (uint32_t)id);
    return STATUS_OK;
}

static Status add_tokens(Import *import) {
    StrBuf scratch = {0};
    Status status = STATUS_OK;
    strbuf_puts(&scratch, "");
    for (size_t i = 0; status == STATUS_OK && i < import->vocab_size; i++)
        status = add_token(import, i, &scratch);
    strbuf_deinit(&scratch);
    return status;
}

// ---------------------------------------------------------------- merges

static Status add_merge(Import *import, size_t index, GgufString text, StrBuf *scratch) {
    TokenizerTables *tables = &import->tables;
    // A space inside a text is possible only as its first character.
    const char *space = text.len > 2 ? memchr(text.data + 1, ' ', (size_t)text.len - 2) : NULL;
    if (!space)
        return diag_error(import->sink, DIAG_T0005, key_span(import, "tokenizer.ggml.merges"),
                          "merge %zu is not two texts with a space between", index);
    size_t left_len = (size_t)(space - text.data), right_len = (size_t)text.len - left_len - 1;
    strbuf_clear(scratch);
    size_t split = left_len;
    if (import->kind == TOKENIZER_BPE_BYTES) {
        if (!decode_byte_alphabet(import, text.data, left_len, scratch)) return STATUS_OK;
        split = scratch->len;
        if (!decode_byte_alphabet(import, space + 1, right_len, scratch)) return STATUS_OK;
    } else {
        strbuf_append(scratch, text.data, left_len);
        strbuf_append(scratch, space + 1, right_len);
    }
    uint32_t left = tables_intern(tables, scratch->data, split);
    uint32_t right = tables_intern(tables, scratch->data + split, scratch->len - split);
    uint32_t result = tables_intern(tables, scratch->data, scratch->len);
    tables_add_merge(tables, (TokenizerMerge){left, right, result});
    return STATUS_OK;
}

static Status read_merges(Import *import) {
    if (import->kind == TOKENIZER_SPM) return STATUS_OK;
    const GgufValue *array;
    TRY(find_array(import, "tokenizer.ggml.merges", ELEM_STRING, true, 0, &array));
    uint64_t total = 0;
    for (uint64_t i = 0; i < array->array.count; i++) total += array->array.strings[i].len;
    if (total > MAX_TEXT_BYTES || array->array.count > TOKENIZER_MAX_SYMBOLS)
        return diag_error(import->sink, DIAG_T0005, key_span(import, "tokenizer.ggml.merges"),
                          "tokenizer.ggml.merges has %" PRIu64 " entries of %" PRIu64 " bytes; at "
                          "most %d and 1 GiB are supported",
                          array->array.count, total, TOKENIZER_MAX_SYMBOLS);
    StrBuf scratch = {0};
    Status status = STATUS_OK;
    for (uint64_t i = 0; status == STATUS_OK && i < array->array.count; i++)
        status = add_merge(import, (size_t)i, array->array.strings[i], &scratch);
    strbuf_deinit(&scratch);
    if (import->kind == TOKENIZER_BPE_BYTES)
        for (uint32_t byte = 0; byte < 256; byte++)
            import->tables.byte_symbols[byte] =
                tables_find(&import->tables, &(char){(char)byte}, 1);
    return status;
}

// ---------------------------------------------------------------- special tokens

static Status read_id(Import *import, const char *key, uint32_t default_id, uint32_t *out_id) {
    uint64_t id;
    *out_id = default_id < import->vocab_size ? default_id : TOKENIZER_NONE;
    if (!gguf_find(import->gguf, key)) return STATUS_OK;
    if (!gguf_get_u64(import->gguf, key, &id) || id >= import->vocab_size)
        return diag_error(import->sink, DIAG_T0006, key_span(import, key),
                          "%s is not the number of one of the %zu tokens", key, import->vocab_size);
    *out_id = (uint32_t)id;
    return STATUS_OK;
}

static bool read_flag(const Import *import, const char *key, bool default_value) {
    bool value;
    return gguf_get_bool(import->gguf, key, &value) ? value : default_value;
}

static Status read_specials(Import *import) {
    TokenizerHeader *header = &import->tables.header;
    bool is_spm =
        import->kind == TOKENIZER_SPM; // SentencePiece's own defaults: 0 <unk> 1 <s> 2 </s>
    TRY(read_id(import, "tokenizer.ggml.bos_token_id", is_spm ? 1 : TOKENIZER_NONE,
                &header->bos_id));
    TRY(read_id(import, "tokenizer.ggml.eos_token_id", is_spm ? 2 : TOKENIZER_NONE,
                &header->eos_id));
    TRY(read_id(import, "tokenizer.ggml.unknown_token_id", is_spm ? 0 : TOKENIZER_NONE,
                &header->unknown_id));
    uint32_t flags = import->default_flags;
    bool adds_bos = read_flag(import, "tokenizer.ggml.add_bos_token", flags & TOKENIZER_ADDS_BOS);
    // Files of this kind exist that say no, while the model answers only with it.
    if (import->kind == TOKENIZER_BPE_CHARS) adds_bos = true;
    bool adds_space = is_spm && read_flag(import, "tokenizer.ggml.add_space_prefix", true);
    header->flags = (flags & TOKENIZER_IGNORE_MERGES) |
                    (adds_bos && header->bos_id != TOKENIZER_NONE ? TOKENIZER_ADDS_BOS : 0) |
                    (adds_space ? TOKENIZER_SPACE_PREFIX : 0);
    BUG_IF(strlen(import->pretokenizer) >= sizeof header->pretokenizer, "name too long");
    memcpy(header->pretokenizer, import->pretokenizer, strlen(import->pretokenizer));
    return STATUS_OK;
}

// Texts of tokens that end an answer, in vocabularies whose metadata names only one of several.
static const char *const END_TEXTS[] = {"<|eot_id|>",
                                        "<|im_end|>",
                                        "<|end|>",
                                        "<|return|>",
                                        "<|call|>",
                                        "<|flush|>",
                                        "<|calls|>",
                                        "<end_of_turn>",
                                        "<|endoftext|>",
                                        "</s>",
                                        "<|eom_id|>",
                                        "<EOT>",
                                        "_<EOT>",
                                        "[EOT]",
                                        "[EOS]",
                                        "<|end_of_text|>",
                                        "<end_of_utterance>",
                                        "<eos>",
                                        "<turn|>",
                                        "<|tool_response>",
                                        "<｜end▁of▁sentence｜>",
                                        "[e~["};
// Padding and separators of infilling: an answer is over there, too, if the token is a special one.
static const char *const INFILL_END_TEXTS[] = {
    "<|fim_pad|>",   "<fim-pad>",  "<fim_pad>", "<PAD>",      "[PAD]",       "<|fim_repo|>",
    "<|repo_name|>", "<fim-repo>", "<REPO>",    "<reponame>", "<|file_sep|>"};

static bool has_text(const Import *import, size_t id, const char *text) {
    GgufString str = import->texts[id];
    return str.len == strlen(text) && memcmp(str.data, text, (size_t)str.len) == 0;
}

static bool is_listed(const Import *import, size_t id, const char *const *texts, size_t num_texts) {
    for (size_t i = 0; i < num_texts; i++)
        if (has_text(import, id, texts[i])) return true;
    return false;
}

// Takes a token with this text out of the end tokens and gives it the type.
static void unmark_end(Import *import, bool *is_end, const char *text, TokenType type) {
    for (size_t i = 0; i < import->vocab_size; i++) {
        if (!is_end[i] || !has_text(import, i, text)) continue;
        is_end[i] = false;
        import->tables.types[i] = (uint8_t)type;
    }
}

static bool has_end(const Import *import, const bool *is_end, const char *text) {
    for (size_t i = 0; i < import->vocab_size; i++)
        if (is_end[i] && has_text(import, i, text)) return true;
    return false;
}

static Status mark_end_tokens(Import *import, bool *is_end) {
    static const char *const KEYS[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    uint8_t *types = import->tables.types;
    for (size_t i = 0; i < import->vocab_size; i++) {
        if (is_listed(import, i, END_TEXTS, ARRAY_LEN(END_TEXTS))) {
            is_end[i] = true;
            types[i] = TOKEN_CONTROL; // some files call them normal text
        } else if (is_special(types[i])) {
            is_end[i] = is_listed(import, i, INFILL_END_TEXTS, ARRAY_LEN(INFILL_END_TEXTS));
        }
    }
    // Where both of these end a call or an answer, <|end|> only ends a message.
    bool has_calls = has_end(import, is_end, "<|call|>") || has_end(import, is_end, "<|calls|>");
    if (has_calls &&
        (has_end(import, is_end, "<|return|>") || has_end(import, is_end, "<|flush|>")))
        unmark_end(import, is_end, "<|end|>", TOKEN_USER_DEFINED);
    // Vocabularies with this token have </s> as a tag of HTML.
    if (has_end(import, is_end, "<|tool_response>"))
        unmark_end(import, is_end, "</s>", TOKEN_NORMAL);
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
        uint32_t id;
        TRY(read_id(import, KEYS[i], TOKENIZER_NONE, &id));
        if (id != TOKENIZER_NONE) is_end[id] = true;
    }
    if (import->tables.header.eos_id != TOKENIZER_NONE) is_end[import->tables.header.eos_id] = true;
    return STATUS_OK;
}

static Status collect_end_tokens(Import *import) {
    TokenizerTables *tables = &import->tables;
    bool *is_end = base_alloc(import->vocab_size, sizeof *is_end);
    Status status = mark_end_tokens(import, is_end);
    size_t num_ends = 0;
    for (size_t i = 0; i < import->vocab_size; i++) num_ends += is_end[i];
    tables->end_tokens = base_alloc(num_ends, sizeof *tables->end_tokens);
    for (size_t i = 0; i < import->vocab_size; i++)
        if (is_end[i]) tables->end_tokens[tables->num_end_tokens++] = (uint32_t)i;
    free(is_end);
    return status;
}

static int compare_special(const void *a, const void *b, void *context) {
    const Import *import = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    GgufString left = import->texts[i], right = import->texts[k];
    int order = memcmp(left.data, right.data, (size_t)MIN(left.len, right.len));
    if (order) return order;
    if (left.len != right.len) return left.len < right.len ? -1 : 1;
    return i < k ? -1 : i > k;
}

// Control, unknown and user-defined tokens, sorted by text; of equal texts the first token.
static Status collect_specials(Import *import) {
    TokenizerTables *tables = &import->tables;
    uint32_t *specials = base_alloc(import->vocab_size, sizeof *specials);
    tables->specials = specials;
    size_t count = 0, num_kept = 0;
    for (size_t i = 0; i < import->vocab_size; i++) {
        if (!is_special(tables->types[i]) || !import->texts[i].len) continue;
        if (import->texts[i].len > TOKENIZER_MAX_SPECIAL_BYTES)
            return diag_error(import->sink, DIAG_T0004, key_span(import, "tokenizer.ggml.tokens"),
                              "special token %zu is longer than %d bytes", i,
                              TOKENIZER_MAX_SPECIAL_BYTES);
        specials[count++] = (uint32_t)i;
    }
    qsort_r(specials, count, sizeof *specials, compare_special, import);
    for (size_t i = 0; i < count; i++) {
        GgufString text = import->texts[specials[i]];
        GgufString last = num_kept ? import->texts[specials[num_kept - 1]] : (GgufString){0};
        bool is_same =
            num_kept && text.len == last.len && memcmp(text.data, last.data, (size_t)text.len) == 0;
        if (!is_same) specials[num_kept++] = specials[i];
    }
    tables->num_specials = num_kept;
    return STATUS_OK;
}

// ---------------------------------------------------------------- rules by the model's name

static const struct {
    const char *part;
    const char *except[4];
} STRIP_RULES[] = {
#define TOKENIZER_STRIPS_AFTER(part, ...) {part, {__VA_ARGS__}},
#include "abi/tokenizer_rules.def"
#undef TOKENIZER_STRIPS_AFTER
};

static bool name_contains(const Import *import, const char *part) {
    GgufString name;
    size_t len = strlen(part);
    if (!gguf_get_string(import->gguf, "general.name", &name)) return false;
    for (uint64_t i = 0; i + len <= name.len; i++)
        if (strncasecmp(name.data + i, part, len) == 0) return true;
    return false;
}

// Marks the special tokens to which the blanks behind them belong.
static void mark_strips(Import *import) {
    TokenizerTables *tables = &import->tables;
    for (size_t rule = 0; rule < ARRAY_LEN(STRIP_RULES); rule++) {
        if (!name_contains(import, STRIP_RULES[rule].part)) continue;
        const char *const *except = STRIP_RULES[rule].except;
        size_t num_except = 0;
        while (num_except < ARRAY_LEN(STRIP_RULES[rule].except) && except[num_except]) num_except++;
        for (size_t i = 0; i < tables->num_specials; i++) {
            uint32_t id = tables->specials[i];
            if (!is_listed(import, id, except, num_except)) tables->types[id] |= TOKEN_STRIPS_AFTER;
        }
    }
}

// ---------------------------------------------------------------- the whole

static Status run_import(Import *import, StrBuf *out_blob) {
    TRY(read_kind(import));
    TRY(read_texts(import));
    TRY(read_types(import));
    TRY(read_scores(import));
    TRY(read_specials(import));
    TRY(collect_end_tokens(import));
    TRY(collect_specials(import));
    TRY(add_tokens(import));
    TRY(read_merges(import));
    mark_strips(import);
    return tables_write(&import->tables, gguf_path(import->gguf), import->sink, out_blob);
}

Status tokenizer_import(const Gguf *gguf, DiagSink *sink, StrBuf *out_blob) {
    Import import = {.gguf = gguf, .sink = sink};
    tables_init(&import.tables);
    init_byte_alphabet(&import);
    Status status = run_import(&import, out_blob);
    tables_deinit(&import.tables);
    return status;
}

bool tokenizer_chat_template(const Gguf *gguf, GgufString *out_text) {
    return gguf_get_string(gguf, "tokenizer.chat_template", out_text) && out_text->len > 0;
}

Status tokenizer_check_chat_template(const Gguf *gguf, DiagSink *sink) {
    GgufString text;
    Template *parsed = NULL;
    if (!tokenizer_chat_template(gguf, &text)) return STATUS_OK;
    TRY(template_parse(text.data, (size_t)text.len, "tokenizer.chat_template", sink, &parsed));
    template_destroy(parsed);
    return STATUS_OK;
}
