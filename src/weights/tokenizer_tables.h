// Builds the tables of abi/tokenizer_blob.h: symbols with their hash, merges with theirs, and the
// final blob.
#ifndef INGOT_WEIGHTS_TOKENIZER_TABLES_H
#define INGOT_WEIGHTS_TOKENIZER_TABLES_H

#include "base/diag.h"
#include "abi/tokenizer_blob.h"

// Strings numbered from 0, ends[i] .. ends[i + 1] being string i.
typedef struct StringTable {
    StrBuf bytes;
    uint32_t *ends;
    size_t num_strings, capacity; // capacity of ends, which has one element more than strings
} StringTable;

// Linear probing; slots hold element numbers, TOKENIZER_NONE where free; at most half full.
typedef struct HashSlots {
    uint32_t *slots;
    size_t num_slots, num_used; // num_slots is a power of two
    uint32_t longest_probe;
} HashSlots;

typedef struct TokenizerTables {
    TokenizerHeader header;   // scalar fields; the table offsets are filled in by tables_write
    StringTable match, print; // print stays empty for TOKENIZER_BPE_BYTES: same as match
    HashSlots symbols, pairs;
    TokenizerMerge *merges;
    size_t num_merges, merges_capacity;
    uint8_t *types; // TokenType per token
    float *scores;  // per token, NULL unless TOKENIZER_SPM
    uint32_t byte_symbols[256];
    uint32_t *specials, *end_tokens;
    size_t num_specials, num_end_tokens;
} TokenizerTables;

void tables_init(TokenizerTables *tables);
void tables_deinit(TokenizerTables *tables);

// Appends a string and returns its number.
uint32_t string_table_add(StringTable *table, const char *bytes, size_t len);
const char *string_table_get(const StringTable *table, uint32_t index, size_t *out_len);

// The symbol with this text, TOKENIZER_NONE if none is in the hash.
uint32_t tables_find(const TokenizerTables *tables, const char *bytes, size_t len);
// Enters symbol `symbol` of match into the hash; false if a symbol of the same text is there.
bool tables_enter(TokenizerTables *tables, uint32_t symbol);
// The symbol with this text, made if there is none.
uint32_t tables_intern(TokenizerTables *tables, const char *bytes, size_t len);
// Appends a merge unless its pair already has one.
void tables_add_merge(TokenizerTables *tables, TokenizerMerge merge);

// Appends the blob. Failure: T0004 if a table outgrows the format.
Status tables_write(TokenizerTables *tables, const char *path, DiagSink *sink,
                    StrBuf *out_blob) MUST_USE;

#endif
