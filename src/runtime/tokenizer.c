// Encoding and decoding; see tokenizer.h. Text goes through three steps: clean UTF-8 with a mark
// for what is template text; cut at control and user-defined tokens; each run between them prepared
// (spaces), cut into words, merged.
#include "runtime/tokenizer_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define SPACE_MARK "\xE2\x96\x81"        // U+2581, stands for a space
enum { MAX_TEXT_BYTES = INT32_MAX / 4 }; // spaces grow to three bytes, part numbers are 31 bits

void token_ids_push(TokenIds *ids, int32_t id) {
    ARRAY_RESERVE(ids->ids, ids->count, ids->capacity);
    ids->ids[ids->count++] = id;
}

void token_ids_deinit(TokenIds *ids) {
    free(ids->ids);
    *ids = (TokenIds){0};
}

Status tokenizer_open(const void *blob, uint64_t len_bytes, DiagSink *sink,
                      Tokenizer **out_tokenizer) {
    Tokenizer *tokenizer = base_alloc(1, sizeof *tokenizer);
    Status status = tokenizer_check(blob, len_bytes, sink, tokenizer);
    if (status == STATUS_OK)
        *out_tokenizer = tokenizer;
    else
        tokenizer_close(tokenizer);
    return status;
}

void tokenizer_close(Tokenizer *tokenizer) {
    if (!tokenizer) return;
    pretokenizer_close(tokenizer->pretokenizer);
    free(tokenizer);
}

// ---------------------------------------------------------------- texts of tokens

static const char *match_text(const Tokenizer *tokenizer, uint32_t symbol, size_t *out_len) {
    uint32_t start = tokenizer->match_ends[symbol];
    *out_len = tokenizer->match_ends[symbol + 1] - start;
    return tokenizer->match_bytes + start;
}

uint32_t tokenizer_lookup(const Tokenizer *tokenizer, const char *bytes, size_t len) {
    if (len > tokenizer->header->max_symbol_bytes) return TOKENIZER_NONE;
    size_t i = tokenizer_hash_text(bytes, len) & tokenizer->slots_mask;
    for (uint32_t probe = 0; probe < tokenizer->header->text_probe; probe++) {
        uint32_t symbol = tokenizer->slots[i];
        if (symbol == TOKENIZER_NONE) break;
        size_t other_len;
        const char *other = match_text(tokenizer, symbol, &other_len);
        if (other_len == len && memcmp(other, bytes, len) == 0) return symbol;
        i = (i + 1) & tokenizer->slots_mask;
    }
    return TOKENIZER_NONE;
}

bool tokenizer_decode_token(const Tokenizer *tokenizer, int32_t id, const char **out_bytes,
                            size_t *out_len) {
    if (id < 0 || (uint32_t)id >= tokenizer->header->vocab_size) return false;
    uint32_t start = tokenizer->print_ends[id];
    *out_bytes = tokenizer->print_bytes + start;
    *out_len = tokenizer->print_ends[id + 1] - start;
    return true;
}

uint32_t tokenizer_vocab_size(const Tokenizer *tokenizer) {
    return tokenizer->header->vocab_size;
}

static int32_t id_or_minus_one(uint32_t id) {
    return id == TOKENIZER_NONE ? -1 : (int32_t)id;
}

int32_t tokenizer_bos(const Tokenizer *tokenizer) {
    return id_or_minus_one(tokenizer->header->bos_id);
}

int32_t tokenizer_eos(const Tokenizer *tokenizer) {
    return id_or_minus_one(tokenizer->header->eos_id);
}

int32_t tokenizer_unknown(const Tokenizer *tokenizer) {
    return id_or_minus_one(tokenizer->header->unknown_id);
}

bool tokenizer_is_control(const Tokenizer *tokenizer, int32_t id) {
    if (id < 0 || (uint32_t)id >= tokenizer->header->vocab_size) return false;
    uint8_t type = tokenizer->types[id] & (uint8_t)~TOKEN_STRIPS_AFTER;
    return type == TOKEN_CONTROL || type == TOKEN_UNKNOWN;
}

bool tokenizer_is_end(const Tokenizer *tokenizer, int32_t id) {
    for (size_t i = 0; i < tokenizer->num_end_tokens; i++)
        if ((int32_t)tokenizer->end_tokens[i] == id) return true;
    return false;
}

const uint32_t *tokenizer_end_tokens(const Tokenizer *tokenizer, size_t *out_count) {
    *out_count = tokenizer->num_end_tokens;
    return tokenizer->end_tokens;
}

bool tokenizer_adds_bos(const Tokenizer *tokenizer) {
    return tokenizer->header->flags & TOKENIZER_ADDS_BOS;
}

bool tokenizer_adds_space(const Tokenizer *tokenizer) {
    return tokenizer->header->flags & TOKENIZER_SPACE_PREFIX;
}

// ---------------------------------------------------------------- encoding

// Up to `end` the text is of one origin.
typedef struct Stretch {
    size_t end;
    bool is_template;
} Stretch;

typedef struct Encoder {
    const Tokenizer *tokenizer;
    DiagSink *sink;
    TokenIds *ids;
    bool parses_control;
    StrBuf text; // clean UTF-8
    Stretch *stretches;
    size_t num_stretches, stretches_capacity;
    StrBuf prepared; // one run, spaces replaced
    WordEnds words;
    MergeWork work;
} Encoder;

static Status add_piece(Encoder *encoder, TextPiece piece) {
    if (piece.len > MAX_TEXT_BYTES)
        return diag_error(encoder->sink, DIAG_T0009, (DiagSpan){0},
                          "a text of %zu bytes is too long to tokenise", piece.len);
    for (size_t pos = 0; pos < piece.len;) {
        size_t valid = pos;
        Utf8Step step = {0};
        while (valid < piece.len) {
            step = utf8_step(piece.text + valid, piece.len - valid);
            if (step.kind != UTF8_CHAR) break;
            valid += step.num_bytes;
        }
        strbuf_append(&encoder->text, piece.text + pos, valid - pos);
        pos = valid;
        if (pos < piece.len) {
            strbuf_puts(&encoder->text, UTF8_REPLACEMENT);
            pos += step.num_bytes;
        }
    }
    if (encoder->text.len > MAX_TEXT_BYTES)
        return diag_error(encoder->sink, DIAG_T0009, (DiagSpan){0},
                          "a text of more than %d bytes is too long to tokenise", MAX_TEXT_BYTES);
    Stretch stretch = {encoder->text.len, piece.is_template};
    size_t last = encoder->num_stretches;
    if (last && encoder->stretches[last - 1].is_template == stretch.is_template) {
        encoder->stretches[last - 1].end = stretch.end;
        return STATUS_OK;
    }
    ARRAY_RESERVE(encoder->stretches, encoder->num_stretches, encoder->stretches_capacity);
    encoder->stretches[encoder->num_stretches++] = stretch;
    return STATUS_OK;
}

// Appends text with U+2581 for every space, and one before it where has_prefix.
static void prepare_spaces(StrBuf *out, const char *text, size_t len, bool has_prefix) {
    strbuf_clear(out);
    if (has_prefix) strbuf_puts(out, SPACE_MARK);
    for (size_t i = 0; i < len;) {
        const char *space = memchr(text + i, ' ', len - i);
        size_t part = space ? (size_t)(space - text) - i : len - i;
        strbuf_append(out, text + i, part);
        i += part;
        if (space) {
            strbuf_puts(out, SPACE_MARK);
            i++;
        }
    }
}

// A run of text without control or user-defined tokens.
static Status encode_run(Encoder *encoder, const char *text, size_t len, bool follows_special) {
    const Tokenizer *tokenizer = encoder->tokenizer;
    if (len == 0) return STATUS_OK;
    if (tokenizer->header->kind != TOKENIZER_BPE_BYTES) {
        bool has_prefix = follows_special && tokenizer_adds_space(tokenizer);
        prepare_spaces(&encoder->prepared, text, len, has_prefix);
        text = encoder->prepared.data;
        len = encoder->prepared.len;
    }
    if (!tokenizer->pretokenizer) {
        tokenizer_merge(tokenizer, &encoder->work, text, len, encoder->ids);
        return STATUS_OK;
    }
    TRY(pretokenizer_split(tokenizer->pretokenizer, text, len, encoder->sink, &encoder->words));
    size_t start = 0;
    for (size_t i = 0; i < encoder->words.count; i++) {
        size_t end = encoder->words.ends[i];
        tokenizer_merge(tokenizer, &encoder->work, text + start, end - start, encoder->ids);
        start = end;
    }
    return STATUS_OK;
}

// Of specials [*lo, *hi), which agree with the text in their first `depth` bytes and are longer,
// those that have `byte` next.
static void narrow(const Tokenizer *tokenizer, uint32_t *lo, uint32_t *hi, size_t depth,
                   uint8_t byte) {
    uint32_t bounds[2];
    for (unsigned side = 0; side < 2; side++) { // first with at least byte, first with more
        uint32_t from = *lo, to = *hi;
        while (from < to) {
            uint32_t mid = from + (to - from) / 2;
            uint32_t start = tokenizer->match_ends[tokenizer->specials[mid]];
            uint8_t other = (uint8_t)tokenizer->match_bytes[start + depth];
            if (other < byte + side)
                from = mid + 1;
            else
                to = mid;
        }
        bounds[side] = from;
    }
    *lo = bounds[0];
    *hi = bounds[1];
}

// The longest special token at the beginning of text, of which the first num_template bytes are
// template text.
static bool find_special(const Encoder *encoder, const char *text, size_t len, size_t num_template,
                         uint32_t *out_id, size_t *out_len) {
    const Tokenizer *tokenizer = encoder->tokenizer;
    uint8_t first = (uint8_t)text[0];
    uint32_t lo = tokenizer->first_special[first], hi = tokenizer->first_special[first + 1];
    bool is_found = false;
    for (size_t depth = 1; lo < hi; depth++) {
        uint32_t id = tokenizer->specials[lo];
        size_t id_len;
        match_text(tokenizer, id, &id_len);
        if (id_len == depth) { // sorted: the shortest comes first
            bool is_control = tokenizer_is_control(tokenizer, (int32_t)id);
            if (!is_control || (encoder->parses_control && depth <= num_template)) {
                *out_id = id;
                *out_len = depth;
                is_found = true;
            }
            lo++;
        }
        if (depth >= len) break;
        narrow(tokenizer, &lo, &hi, depth, (uint8_t)text[depth]);
    }
    return is_found;
}

// Bytes of the blanks at the beginning of text.
static size_t count_blanks(const char *text, size_t len) {
    for (size_t pos = 0; pos < len;) {
        Utf8Step step = utf8_step(text + pos, len - pos);
        if (!utf8_is_space(step.code_point)) return pos;
        pos += step.num_bytes;
    }
    return len;
}

static Status encode_text(Encoder *encoder) {
    const char *text = encoder->text.data;
    size_t len = encoder->text.len, run_start = 0, stretch = 0;
    bool follows_special = true;
    for (size_t pos = 0; pos < len;) {
        uint32_t id;
        size_t id_len;
        while (encoder->stretches[stretch].end <= pos) stretch++;
        Stretch here = encoder->stretches[stretch];
        if (!find_special(encoder, text + pos, len - pos, here.is_template ? here.end - pos : 0,
                          &id, &id_len)) {
            pos++;
            continue;
        }
        TRY(encode_run(encoder, text + run_start, pos - run_start, follows_special));
        token_ids_push(encoder->ids, (int32_t)id);
        follows_special = true;
        pos += id_len;
        if (encoder->tokenizer->types[id] & TOKEN_STRIPS_AFTER)
            pos += count_blanks(text + pos, len - pos);
        run_start = pos;
    }
    return encode_run(encoder, text + run_start, len - run_start, follows_special);
}

static Status encode_pieces(Encoder *encoder, const TextPiece *pieces, size_t num_pieces,
                            bool adds_bos) {
    int32_t bos = tokenizer_bos(encoder->tokenizer);
    if (adds_bos && bos < 0)
        return diag_error(encoder->sink, DIAG_T0008, (DiagSpan){0},
                          "this model has no beginning-of-text token");
    if (adds_bos) token_ids_push(encoder->ids, bos);
    for (size_t i = 0; i < num_pieces; i++) TRY(add_piece(encoder, pieces[i]));
    if (encoder->text.len) TRY(encode_text(encoder));
    if (encoder->work.num_dropped)
        diag_report(encoder->sink, DIAG_WARNING, DIAG_T0010, (DiagSpan){0},
                    "%" PRIu64 " bytes of the text have no token in this vocabulary and were left "
                    "out",
                    encoder->work.num_dropped);
    return STATUS_OK;
}

Status tokenizer_encode_pieces(const Tokenizer *tokenizer, const TextPiece *pieces,
                               size_t num_pieces, uint32_t flags, DiagSink *sink, TokenIds *ids) {
    Encoder encoder = {.tokenizer = tokenizer,
                       .sink = sink,
                       .ids = ids,
                       .parses_control = flags & TOKENIZE_PARSE_SPECIAL};
    size_t old_count = ids->count;
    Status status = encode_pieces(&encoder, pieces, num_pieces, flags & TOKENIZE_ADD_BOS);
    if (status != STATUS_OK) ids->count = old_count;
    strbuf_deinit(&encoder.text);
    strbuf_deinit(&encoder.prepared);
    free(encoder.stretches);
    word_ends_deinit(&encoder.words);
    merge_work_deinit(&encoder.work);
    return status;
}

Status tokenizer_encode(const Tokenizer *tokenizer, const char *text, size_t len, uint32_t flags,
                        DiagSink *sink, TokenIds *ids) {
    TextPiece piece = {text, len, true};
    return tokenizer_encode_pieces(tokenizer, &piece, 1, flags, sink, ids);
}

int32_t tokenizer_find(const Tokenizer *tokenizer, const char *text, size_t len) {
    uint32_t id = len ? tokenizer_lookup(tokenizer, text, len) : TOKENIZER_NONE;
    if (id < tokenizer->header->vocab_size) return (int32_t)id;
    Encoder encoder = {.tokenizer = tokenizer, .parses_control = true};
    size_t id_len;
    if (len && find_special(&encoder, text, len, len, &id, &id_len) && id_len == len)
        return (int32_t)id;
    return -1;
}
