// Checks the tokenizer's tables before anything trusts them: every offset, number and order that
// the encoder relies on. One pass over the blob.
#include <string.h>

#include "runtime/tokenizer_internal.h"

typedef struct Check {
    const char *bytes;
    uint64_t len;
    DiagSink *sink;
    const TokenizerHeader *header;
} Check;

static Status damaged(const Check *check, uint64_t offset, const char *what) {
    return diag_error(check->sink, DIAG_T0007, (DiagSpan){.byte_offset = offset},
                      "tokenizer tables: %s", what);
}

// The elements of a table of exactly num_elems elements, or of any number for UINT64_MAX.
static Status check_table(const Check *check, TokenizerTable table, uint64_t elem_size,
                          uint64_t num_elems, const void **out_elems) {
    uint64_t len_bytes, end;
    if (table.offset % 8 || !size_mul(table.count, elem_size, &len_bytes) ||
        !size_add(table.offset, len_bytes, &end) || end > check->len)
        return damaged(check, table.offset, "a table lies outside");
    if (num_elems != UINT64_MAX && table.count != num_elems)
        return damaged(check, table.offset, "a table has the wrong length");
    *out_elems = check->bytes + table.offset;
    return STATUS_OK;
}

static Status check_ends(const Check *check, TokenizerTable table, uint64_t num_strings,
                         uint64_t num_bytes, const uint32_t **out_ends) {
    const void *elems = NULL;
    TRY(check_table(check, table, sizeof **out_ends, num_strings + 1, &elems));
    const uint32_t *ends = elems;
    bool is_ok = ends[0] == 0 && ends[num_strings] <= num_bytes;
    for (uint64_t i = 0; i < num_strings; i++) is_ok &= ends[i] <= ends[i + 1];
    if (!is_ok) return damaged(check, table.offset, "text offsets are out of order");
    *out_ends = ends;
    return STATUS_OK;
}

// A table of numbers below limit, TOKENIZER_NONE allowed where may_be_none.
static Status check_numbers(const Check *check, TokenizerTable table, uint64_t num_elems,
                            uint64_t limit, bool may_be_none, const uint32_t **out_numbers) {
    const void *elems = NULL;
    TRY(check_table(check, table, sizeof **out_numbers, num_elems, &elems));
    const uint32_t *numbers = elems;
    bool is_ok = true;
    for (uint64_t i = 0; i < table.count; i++)
        is_ok &= numbers[i] < limit || (may_be_none && numbers[i] == TOKENIZER_NONE);
    if (!is_ok) return damaged(check, table.offset, "a number is out of range");
    *out_numbers = numbers;
    return STATUS_OK;
}

static Status check_slots(const Check *check, TokenizerTable table, uint64_t limit, uint32_t probe,
                          const uint32_t **out_slots, size_t *out_mask) {
    TRY(check_numbers(check, table, UINT64_MAX, limit, true, out_slots));
    if (table.count == 0 || (table.count & (table.count - 1)) || probe > TOKENIZER_MAX_PROBE)
        return damaged(check, table.offset, "a hash table has an impossible size");
    *out_mask = (size_t)table.count - 1;
    return STATUS_OK;
}

static Status check_header(const Check *check) {
    const TokenizerHeader *header = check->header;
    if (memcmp(header->magic, TOKENIZER_MAGIC, sizeof header->magic) != 0)
        return damaged(check, 0, "they do not begin as tokenizer tables do");
    if (header->version != TOKENIZER_VERSION)
        return damaged(check, 8, "they are of another version");
    uint32_t vocab_size = header->vocab_size;
    bool is_ok = header->kind >= TOKENIZER_BPE_BYTES && header->kind < NUM_TOKENIZER_KINDS &&
                 vocab_size > 0 && vocab_size <= header->num_symbols &&
                 header->num_symbols <= TOKENIZER_MAX_SYMBOLS &&
                 header->max_symbol_bytes <= TOKENIZER_MAX_SYMBOL_BYTES &&
                 !(header->flags & ~(uint32_t)TOKENIZER_ALL_FLAGS) &&
                 memchr(header->pretokenizer, '\0', sizeof header->pretokenizer);
    const uint32_t ids[] = {header->bos_id, header->eos_id, header->unknown_id};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        is_ok &= ids[i] < vocab_size || ids[i] == TOKENIZER_NONE;
    return is_ok ? STATUS_OK : damaged(check, 0, "the header is damaged");
}

static Status check_tokens(const Check *check, Tokenizer *tokenizer) {
    const TokenizerHeader *header = check->header;
    const void *elems = NULL;
    uint32_t vocab_size = header->vocab_size;
    TRY(check_table(check, header->match_bytes, 1, UINT64_MAX, &elems));
    tokenizer->match_bytes = elems;
    TRY(check_table(check, header->print_bytes, 1, UINT64_MAX, &elems));
    tokenizer->print_bytes = elems;
    TRY(check_ends(check, header->match_ends, header->num_symbols, header->match_bytes.count,
                   &tokenizer->match_ends));
    TRY(check_ends(check, header->print_ends, vocab_size, header->print_bytes.count,
                   &tokenizer->print_ends));
    TRY(check_table(check, header->types, 1, vocab_size, &elems));
    tokenizer->types = elems;
    bool is_ok = true;
    for (uint32_t i = 0; i < vocab_size; i++) {
        uint8_t type = tokenizer->types[i] & (uint8_t)~TOKEN_STRIPS_AFTER;
        is_ok &= type >= TOKEN_NORMAL && type < NUM_TOKEN_TYPES;
    }
    if (!is_ok) return damaged(check, header->types.offset, "a token has no known type");
    TRY(check_table(check, header->scores, 4, header->kind == TOKENIZER_SPM ? vocab_size : 0,
                    &elems));
    tokenizer->scores = elems;
    return check_numbers(check, header->byte_symbols, 256, header->num_symbols, true,
                         &tokenizer->byte_symbols);
}

static Status check_merges(const Check *check, Tokenizer *tokenizer) {
    const TokenizerHeader *header = check->header;
    const void *elems = NULL;
    TRY(check_slots(check, header->slots, header->num_symbols, header->text_probe,
                    &tokenizer->slots, &tokenizer->slots_mask));
    TRY(check_table(check, header->merges, sizeof(TokenizerMerge), UINT64_MAX, &elems));
    tokenizer->merges = elems;
    bool is_ok = header->merges.count <= TOKENIZER_MAX_SYMBOLS;
    for (uint64_t i = 0; is_ok && i < header->merges.count; i++) {
        TokenizerMerge merge = tokenizer->merges[i];
        is_ok = merge.left < header->num_symbols && merge.right < header->num_symbols &&
                merge.result < header->num_symbols;
    }
    if (!is_ok) return damaged(check, header->merges.offset, "a merge names no symbol");
    return check_slots(check, header->pair_slots, header->merges.count, header->pair_probe,
                       &tokenizer->pair_slots, &tokenizer->pairs_mask);
}

// -1, 0, 1 as the match text of a sorts before, with, after that of b.
static int compare_texts(const Tokenizer *tokenizer, uint32_t a, uint32_t b) {
    const uint32_t *ends = tokenizer->match_ends;
    uint32_t a_len = ends[a + 1] - ends[a], b_len = ends[b + 1] - ends[b];
    int order = memcmp(tokenizer->match_bytes + ends[a], tokenizer->match_bytes + ends[b],
                       MIN(a_len, b_len));
    if (order) return order;
    return a_len < b_len ? -1 : a_len > b_len;
}

static Status check_specials(const Check *check, Tokenizer *tokenizer) {
    const TokenizerHeader *header = check->header;
    TRY(check_numbers(check, header->specials, UINT64_MAX, header->vocab_size, false,
                      &tokenizer->specials));
    tokenizer->num_specials = (size_t)header->specials.count;
    for (size_t i = 0; i < tokenizer->num_specials; i++) {
        uint32_t id = tokenizer->specials[i], start = tokenizer->match_ends[id];
        uint32_t len = tokenizer->match_ends[id + 1] - start;
        bool is_ok = len > 0 && len <= TOKENIZER_MAX_SPECIAL_BYTES &&
                     (i == 0 || compare_texts(tokenizer, tokenizer->specials[i - 1], id) < 0);
        if (!is_ok) return damaged(check, header->specials.offset, "special tokens are unsorted");
        tokenizer->first_special[(uint8_t)tokenizer->match_bytes[start] + 1] = (uint32_t)i + 1;
    }
    for (size_t byte = 1; byte < ARRAY_LEN(tokenizer->first_special); byte++)
        tokenizer->first_special[byte] =
            MAX(tokenizer->first_special[byte], tokenizer->first_special[byte - 1]);
    TRY(check_numbers(check, header->end_tokens, UINT64_MAX, header->vocab_size, false,
                      &tokenizer->end_tokens));
    tokenizer->num_end_tokens = (size_t)header->end_tokens.count;
    for (size_t i = 1; i < tokenizer->num_end_tokens; i++)
        if (tokenizer->end_tokens[i - 1] >= tokenizer->end_tokens[i])
            return damaged(check, header->end_tokens.offset, "end tokens are unsorted");
    return STATUS_OK;
}

Status tokenizer_check(const void *blob, uint64_t len_bytes, DiagSink *sink, Tokenizer *tokenizer) {
    Check check = {.bytes = blob, .len = len_bytes, .sink = sink, .header = blob};
    if (len_bytes < sizeof *check.header || (uintptr_t)blob % 8)
        return damaged(&check, 0, "they are cut");
    TRY(check_header(&check));
    tokenizer->header = check.header;
    TRY(check_tokens(&check, tokenizer));
    TRY(check_merges(&check, tokenizer));
    TRY(check_specials(&check, tokenizer));
    const char *name = check.header->pretokenizer;
    if (check.header->kind != TOKENIZER_SPM && !pretokenizer_open(name, &tokenizer->pretokenizer))
        return diag_error(sink, DIAG_T0003, (DiagSpan){0},
                          "the tokenizer tables name the pre-tokenizer \"%s\", which is not known",
                          name);
    return STATUS_OK;
}
