// Inside of the tokenizer: the checked tables as pointers, and the merging of one word.
#ifndef INGOT_RUNTIME_TOKENIZER_INTERNAL_H
#define INGOT_RUNTIME_TOKENIZER_INTERNAL_H

#include "abi/tokenizer_blob.h"
#include "runtime/pretokenize.h"
#include "runtime/tokenizer.h"

struct Tokenizer {
    const TokenizerHeader *header;
    const uint32_t *match_ends, *print_ends;
    const char *match_bytes, *print_bytes;
    const uint8_t *types;
    const float *scores;
    const uint32_t *byte_symbols;
    const uint32_t *slots, *pair_slots;
    size_t slots_mask, pairs_mask;
    const TokenizerMerge *merges;
    const uint32_t *specials, *end_tokens;
    size_t num_specials, num_end_tokens;
    // specials with the first byte b are first_special[b] .. first_special[b + 1]
    uint32_t first_special[257];
    Pretokenizer *pretokenizer; // NULL for TOKENIZER_SPM
};

// Fills in the pointers after checking everything they reach. Failure: T0007.
Status tokenizer_check(const void *blob, uint64_t len_bytes, DiagSink *sink,
                       Tokenizer *tokenizer) MUST_USE;

// The symbol with this text, TOKENIZER_NONE if there is none.
uint32_t tokenizer_lookup(const Tokenizer *tokenizer, const char *bytes, size_t len);

// A part of the word: at first a byte or a character, then what merging made of it.
typedef struct MergeNode {
    uint32_t start, len; // bytes of the word; len 0: merged into its left neighbour
    uint32_t symbol;     // or TOKENIZER_NONE
    int32_t prev, next;  // nodes, -1 at the ends
} MergeNode;

// A possible merge. Smaller keys go first: priority in the upper half, left node in the lower.
typedef struct MergeCandidate {
    uint64_t key;
    uint32_t right, len; // right node; bytes of both (another sum: a node has changed since)
    uint32_t result;     // symbol
} MergeCandidate;

// Memory of merging, reused from word to word. Zero-initialise.
typedef struct MergeWork {
    MergeNode *nodes;
    MergeCandidate *heap;
    size_t num_nodes, nodes_capacity, num_candidates, heap_capacity;
    uint64_t num_dropped; // bytes without a token
} MergeWork;
void merge_work_deinit(MergeWork *work);

// Appends the tokens of one word of prepared text (UTF-8, below 2 GiB). O(n log n).
void tokenizer_merge(const Tokenizer *tokenizer, MergeWork *work, const char *word, size_t len,
                     TokenIds *ids);

#endif
