// Merging: the parts of a word are joined, best pair first, until no known pair is left.
// BPE takes the pair with the lowest rank, SentencePiece the one whose result has the highest
// score; among equals the leftmost. A heap of candidates over a linked list of parts: every merge
// removes a part and adds at most two candidates, so n parts take O(n log n).
#include "runtime/tokenizer_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void merge_work_deinit(MergeWork *work) {
    free(work->nodes);
    free(work->heap);
    *work = (MergeWork){0};
}

// ---------------------------------------------------------------- the heap

static void heap_push(MergeWork *work, MergeCandidate candidate) {
    ARRAY_RESERVE(work->heap, work->num_candidates, work->heap_capacity);
    size_t i = work->num_candidates++;
    while (i > 0 && candidate.key < work->heap[(i - 1) / 2].key) {
        work->heap[i] = work->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    work->heap[i] = candidate;
}

static MergeCandidate heap_pop(MergeWork *work) {
    MergeCandidate *heap = work->heap, top = heap[0], last = heap[--work->num_candidates];
    size_t i = 0, count = work->num_candidates;
    for (size_t child = 1; child < count; child = 2 * i + 1) {
        if (child + 1 < count && heap[child + 1].key < heap[child].key) child++;
        if (last.key <= heap[child].key) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

// ---------------------------------------------------------------- candidates

// Descending order of floats as ascending order of integers.
static uint32_t score_priority(float score) {
    uint32_t bits;
    score += 0.0f; // -0 becomes 0
    memcpy(&bits, &score, sizeof bits);
    return ~(bits & 0x80000000u ? ~bits : bits | 0x80000000u);
}

static bool find_pair(const Tokenizer *tokenizer, uint32_t left, uint32_t right,
                      uint32_t *out_priority, uint32_t *out_result) {
    if (left == TOKENIZER_NONE || right == TOKENIZER_NONE) return false;
    size_t i = tokenizer_hash_pair(left, right) & tokenizer->pairs_mask;
    for (uint32_t probe = 0; probe < tokenizer->header->pair_probe; probe++) {
        uint32_t rank = tokenizer->pair_slots[i];
        if (rank == TOKENIZER_NONE) return false;
        TokenizerMerge merge = tokenizer->merges[rank];
        if (merge.left == left && merge.right == right) {
            *out_priority = rank;
            *out_result = merge.result;
            return true;
        }
        i = (i + 1) & tokenizer->pairs_mask;
    }
    return false;
}

// Offers the pair (left, next of left) to the heap if it can merge.
static void offer(const Tokenizer *tokenizer, MergeWork *work, const char *word, int32_t left) {
    if (left < 0 || work->nodes[left].next < 0) return;
    MergeNode a = work->nodes[left], b = work->nodes[a.next];
    MergeCandidate candidate = {.right = (uint32_t)a.next, .len = a.len + b.len};
    uint32_t priority;
    if (tokenizer->header->kind == TOKENIZER_SPM) {
        candidate.result = tokenizer_lookup(tokenizer, word + a.start, candidate.len);
        if (candidate.result >= tokenizer->header->vocab_size) return;
        priority = score_priority(tokenizer->scores[candidate.result]);
    } else if (!find_pair(tokenizer, a.symbol, b.symbol, &priority, &candidate.result)) {
        return;
    }
    candidate.key = (uint64_t)priority << 32 | (uint32_t)left;
    heap_push(work, candidate);
}

static void make_nodes(const Tokenizer *tokenizer, MergeWork *work, const char *word, size_t len) {
    bool is_bytes = tokenizer->header->kind == TOKENIZER_BPE_BYTES;
    work->num_nodes = work->num_candidates = 0;
    for (size_t i = 0; i < len;) {
        size_t part = is_bytes ? 1 : utf8_step(word + i, len - i).num_bytes;
        ARRAY_RESERVE(work->nodes, work->num_nodes, work->nodes_capacity);
        int32_t index = (int32_t)work->num_nodes++;
        work->nodes[index] = (MergeNode){
            .start = (uint32_t)i,
            .len = (uint32_t)part,
            .symbol = is_bytes ? tokenizer->byte_symbols[(uint8_t)word[i]]
                               : tokenizer_lookup(tokenizer, word + i, part),
            .prev = index - 1,
            .next = i + part < len ? index + 1 : -1,
        };
        i += part;
    }
}

// ---------------------------------------------------------------- tokens

// A part that is no token: its bytes, as far as they are.
static void put_bytes(const Tokenizer *tokenizer, MergeWork *work, const char *bytes, size_t len,
                      TokenIds *ids) {
    uint32_t vocab_size = tokenizer->header->vocab_size, unknown = tokenizer->header->unknown_id;
    size_t num_known = 0;
    for (size_t i = 0; i < len; i++)
        num_known += tokenizer->byte_symbols[(uint8_t)bytes[i]] < vocab_size;
    if (num_known < len && tokenizer->header->kind != TOKENIZER_BPE_BYTES &&
        unknown != TOKENIZER_NONE) {
        token_ids_push(ids, (int32_t)unknown);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        uint32_t token = tokenizer->byte_symbols[(uint8_t)bytes[i]];
        if (token < vocab_size) token_ids_push(ids, (int32_t)token);
    }
    work->num_dropped += len - num_known;
}

// Words that stay whole without merging.
static bool put_whole_word(const Tokenizer *tokenizer, const char *word, size_t len,
                           TokenIds *ids) {
    bool is_whole = tokenizer->header->flags & TOKENIZER_IGNORE_MERGES;
    if (tokenizer->header->kind == TOKENIZER_BPE_CHARS) { // a run of newlines that is a token
        is_whole = true;
        for (size_t i = 0; i < len; i++) is_whole &= word[i] == '\n';
    }
    if (!is_whole) return false;
    uint32_t token = tokenizer_lookup(tokenizer, word, len);
    if (token >= tokenizer->header->vocab_size) return false;
    token_ids_push(ids, (int32_t)token);
    return true;
}

void tokenizer_merge(const Tokenizer *tokenizer, MergeWork *work, const char *word, size_t len,
                     TokenIds *ids) {
    if (len == 0 || put_whole_word(tokenizer, word, len, ids)) return;
    make_nodes(tokenizer, work, word, len);
    for (size_t i = 0; i + 1 < work->num_nodes; i++) offer(tokenizer, work, word, (int32_t)i);
    MergeNode *nodes = work->nodes;
    while (work->num_candidates) {
        MergeCandidate candidate = heap_pop(work);
        int32_t left = (int32_t)(uint32_t)candidate.key;
        MergeNode *a = &nodes[left], *b = &nodes[candidate.right];
        if (!a->len || !b->len || a->len + b->len != candidate.len) continue;
        a->len = candidate.len;
        a->symbol = candidate.result;
        a->next = b->next;
        b->len = 0;
        if (b->next >= 0) nodes[b->next].prev = left;
        offer(tokenizer, work, word, a->prev);
        offer(tokenizer, work, word, left);
    }
    for (int32_t i = 0; i >= 0; i = nodes[i].next) {
        if (nodes[i].symbol < tokenizer->header->vocab_size)
            token_ids_push(ids, (int32_t)nodes[i].symbol);
        else
            put_bytes(tokenizer, work, word + nodes[i].start, nodes[i].len, ids);
    }
}
