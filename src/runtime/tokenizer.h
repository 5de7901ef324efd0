// Text to token ids and back, from the tables of abi/tokenizer_blob.h. A Tokenizer never changes
// after it is opened: any number of threads may use it at once.
//
// Encoding: control and user-defined tokens are found first (leftmost, then longest); each run of
// text between two of them is tokenised as a whole. Invalid UTF-8 is read as U+FFFD.
#ifndef INGOT_RUNTIME_TOKENIZER_H
#define INGOT_RUNTIME_TOKENIZER_H

#include "base/diag.h"

typedef struct Tokenizer Tokenizer;

// Token ids, growable. Zero-initialise; token_ids_deinit frees.
typedef struct TokenIds {
    int32_t *ids;
    size_t count, capacity;
} TokenIds;

void token_ids_push(TokenIds *ids, int32_t id);
void token_ids_deinit(TokenIds *ids);

// A stretch of text of one origin. Only template text may yield control tokens.
typedef struct TextPiece {
    const char *text;
    size_t len;
    bool is_template;
} TextPiece;

enum {
    TOKENIZE_PARSE_SPECIAL = 1, // the text of a control token is that token
    TOKENIZE_ADD_BOS = 2,       // the beginning-of-text token first; T0008 if there is none
};

// Checks the tables and borrows them: blob must stay mapped until tokenizer_close, at an address
// that is a multiple of 8. Failure: T0007, STATUS_INVALID.
Status tokenizer_open(const void *blob, uint64_t len_bytes, DiagSink *sink,
                      Tokenizer **out_tokenizer) MUST_USE;
void tokenizer_close(Tokenizer *tokenizer); // NULL is fine

// Appends the ids of text. flags: TOKENIZE_*. A byte that the vocabulary cannot express is left out
// and reported as a warning (T0010). Failure: T0008, T0009, STATUS_INVALID; nothing is appended.
Status tokenizer_encode(const Tokenizer *tokenizer, const char *text, size_t len, uint32_t flags,
                        DiagSink *sink, TokenIds *ids) MUST_USE;
// The same for pieces, as one text: a run of text may cross from one piece into the next, a control
// token is found only where all of it is template text.
Status tokenizer_encode_pieces(const Tokenizer *tokenizer, const TextPiece *pieces,
                               size_t num_pieces, uint32_t flags, DiagSink *sink,
                               TokenIds *ids) MUST_USE;

// The bytes a token prints as, borrowed from the tables; control tokens too have a text (see
// tokenizer_is_control). May be part of a UTF-8 character: see utf8_stream.h. False if there is no
// such token. Allocates nothing.
bool tokenizer_decode_token(const Tokenizer *tokenizer, int32_t id, const char **out_bytes,
                            size_t *out_len);

uint32_t tokenizer_vocab_size(const Tokenizer *tokenizer);
// -1 if there is none.
int32_t tokenizer_bos(const Tokenizer *tokenizer);
int32_t tokenizer_eos(const Tokenizer *tokenizer);
int32_t tokenizer_unknown(const Tokenizer *tokenizer);
int32_t tokenizer_find(const Tokenizer *tokenizer, const char *text, size_t len);
bool tokenizer_is_control(const Tokenizer *tokenizer, int32_t id);
// True for every token that ends an answer: eos, eot, eom and those known by their text.
bool tokenizer_is_end(const Tokenizer *tokenizer, int32_t id);
const uint32_t *tokenizer_end_tokens(const Tokenizer *tokenizer, size_t *out_count);
// True if a plain prompt begins with bos (a chat template writes its own).
bool tokenizer_adds_bos(const Tokenizer *tokenizer);
// True if a space is put before text: a whole reply may then begin with one space of no meaning.
bool tokenizer_adds_space(const Tokenizer *tokenizer);

#endif
