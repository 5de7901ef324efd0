// Ends an answer before any of several texts, also where a text comes in pieces: what could still
// become a stop text is held back.
#ifndef INGOT_CLI_STOP_TEXT_H
#define INGOT_CLI_STOP_TEXT_H

#include "base/str.h"

typedef struct StopText {
    const char *const *stops; // none of them empty
    size_t num_stops;
    StrBuf held; // not yet given out
} StopText;

// Takes a piece of the answer and appends to out what is safe to show. True: a stop text has come;
// nothing may follow.
bool stop_text_push(StopText *stop, const char *bytes, size_t len, StrBuf *out) MUST_USE;
// The answer has ended otherwise: what was held back is part of it.
void stop_text_finish(StopText *stop, StrBuf *out);
void stop_text_deinit(StopText *stop);

#endif
