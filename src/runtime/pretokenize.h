// Cuts text into the words within which a byte-level BPE vocabulary merges (abi/pretokenizers.def).
#ifndef INGOT_RUNTIME_PRETOKENIZE_H
#define INGOT_RUNTIME_PRETOKENIZE_H

#include "base/diag.h"

typedef struct Pretokenizer Pretokenizer;

// Compiles the patterns of that name; false if the table has no such name.
bool pretokenizer_open(const char *name, Pretokenizer **out_pretokenizer);
void pretokenizer_close(Pretokenizer *pretokenizer); // NULL is fine

// Where words end, in bytes from the beginning of the text. Zero-initialise; reusable.
typedef struct WordEnds {
    size_t *ends;
    size_t count, capacity;
} WordEnds;
void word_ends_deinit(WordEnds *words);

// Cuts text (valid UTF-8). Time is bounded by limits on each match: T0009, STATUS_INVALID.
Status pretokenizer_split(const Pretokenizer *pretokenizer, const char *text, size_t len,
                          DiagSink *sink, WordEnds *words) MUST_USE;

#endif
