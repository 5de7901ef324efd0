// The tokenizer as flat tables: made from a model file's metadata when compiling, mapped and
// checked by the run time. Little-endian, without pointers, every table at a multiple of 8.
//
// A *symbol* is a byte string that merging can meet: every token (symbol number = token id), then
// strings that occur only between merges. Merging works on symbol numbers alone.
#ifndef INGOT_ABI_TOKENIZER_BLOB_H
#define INGOT_ABI_TOKENIZER_BLOB_H

#include <stddef.h>
#include <stdint.h>

#define TOKENIZER_MAGIC "INGTOK\x1a\n"
#define TOKENIZER_NONE  UINT32_MAX // no such token or symbol

enum {
    TOKENIZER_VERSION = 1,
    TOKENIZER_MAX_SYMBOLS = 1 << 24,
    TOKENIZER_MAX_PROBE = 512,          // longest search in a hash table
    TOKENIZER_MAX_SYMBOL_BYTES = 4096,  // longest text that merging can make
    TOKENIZER_MAX_SPECIAL_BYTES = 1024, // longest text of a control or user-defined token
};

typedef enum TokenizerKind {
    TOKENIZER_BPE_BYTES = 1, // byte-level BPE (GPT-2 and after): merges of bytes, by rank
    TOKENIZER_BPE_CHARS,     // BPE over characters, spaces as U+2581, byte fallback
    TOKENIZER_SPM,           // SentencePiece BPE: merges by score, spaces as U+2581, byte fallback
    NUM_TOKENIZER_KINDS
} TokenizerKind;

// Numbers of the GGUF key tokenizer.ggml.token_type.
typedef enum TokenType {
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN,
    TOKEN_CONTROL,      // found only in template text
    TOKEN_USER_DEFINED, // found in any text, before everything else
    TOKEN_UNUSED,
    TOKEN_BYTE, // prints as one byte
    NUM_TOKEN_TYPES
} TokenType;

enum { TOKEN_STRIPS_AFTER = 0x80 }; // bit beside the type: blanks after the token belong to it

enum {
    TOKENIZER_ADDS_BOS = 1,      // plain prompts begin with bos
    TOKENIZER_SPACE_PREFIX = 2,  // a space is put before text (SPM)
    TOKENIZER_IGNORE_MERGES = 4, // a word that is a token stays whole
    TOKENIZER_ALL_FLAGS = 7,
};

typedef struct TokenizerTable {
    uint64_t offset, count; // byte offset in the blob; elements
} TokenizerTable;

typedef struct TokenizerMerge {
    uint32_t left, right, result; // symbols; the table is in the order of rank
} TokenizerMerge;

typedef struct TokenizerHeader {
    uint8_t magic[8];
    uint32_t version;
    uint32_t kind; // TokenizerKind
    uint32_t vocab_size, num_symbols;
    uint32_t bos_id, eos_id, unknown_id; // token or TOKENIZER_NONE
    uint32_t flags;
    uint32_t max_symbol_bytes;       // longest entry of `slots`
    uint32_t text_probe, pair_probe; // longest search in `slots`, `pair_slots`
    uint32_t reserved;
    char pretokenizer[32];       // name in pretokenizers.def, NUL-padded; empty for TOKENIZER_SPM
    TokenizerTable match_ends;   // u32[num_symbols + 1]: offsets in match_bytes
    TokenizerTable match_bytes;  // what a symbol is made of in prepared text
    TokenizerTable print_ends;   // u32[vocab_size + 1]: offsets in print_bytes
    TokenizerTable print_bytes;  // what a token prints as
    TokenizerTable types;        // u8[vocab_size], TokenType and TOKEN_STRIPS_AFTER
    TokenizerTable scores;       // f32[vocab_size] for TOKENIZER_SPM, else empty
    TokenizerTable byte_symbols; // u32[256]: symbol or token of one byte, or TOKENIZER_NONE
    TokenizerTable slots;        // u32[2^n]: open hash of match text -> symbol
    TokenizerTable merges;       // TokenizerMerge[]
    TokenizerTable pair_slots;   // u32[2^n]: open hash of (left, right) -> merge
    TokenizerTable specials;     // u32[]: control, unknown, user-defined tokens, sorted by text
    TokenizerTable end_tokens;   // u32[]: tokens that end an answer, ascending
} TokenizerHeader;

// FNV-1a, 64 bit (Fowler, Noll, Vo), folded.
static inline uint32_t tokenizer_hash_text(const char *bytes, size_t len) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < len; i++) hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001B3u;
    return (uint32_t)(hash ^ hash >> 32);
}

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
static inline uint32_t tokenizer_hash_pair(uint32_t left, uint32_t right) {
    uint64_t x = (uint64_t)left << 32 | right;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(x ^ x >> 31);
}

#endif
