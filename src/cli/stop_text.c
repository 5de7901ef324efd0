// Finds stop texts in a stream; see stop_text.h.
#include "cli/stop_text.h"

#include <string.h>

// Position of the first stop text in the held bytes, or their length.
static size_t find_first(const StopText *stop) {
    size_t first = stop->held.len;
    for (size_t s = 0; s < stop->num_stops; s++) {
        const char *at =
            memmem(stop->held.data, stop->held.len, stop->stops[s], strlen(stop->stops[s]));
        if (at) first = MIN(first, (size_t)(at - stop->held.data));
    }
    return first;
}

// Longest end of the held bytes that is the beginning of a stop text.
static size_t num_undecided(const StopText *stop) {
    size_t longest = 0;
    for (size_t s = 0; s < stop->num_stops; s++) {
        size_t len = MIN(strlen(stop->stops[s]) - 1, stop->held.len);
        while (len > longest &&
               memcmp(stop->held.data + stop->held.len - len, stop->stops[s], len) != 0)
            len--;
        longest = MAX(longest, len);
    }
    return longest;
}

bool stop_text_push(StopText *stop, const char *bytes, size_t len, StrBuf *out) {
    if (len == 0) return false;
    strbuf_append(&stop->held, bytes, len);
    size_t found = find_first(stop);
    if (found < stop->held.len) {
        strbuf_append(out, stop->held.data, found);
        strbuf_clear(&stop->held);
        return true;
    }
    size_t keep = num_undecided(stop), give = stop->held.len - keep;
    strbuf_append(out, stop->held.data, give);
    memmove(stop->held.data, stop->held.data + give, keep);
    stop->held.len = keep;
    return false;
}

void stop_text_finish(StopText *stop, StrBuf *out) {
    if (stop->held.len) strbuf_append(out, stop->held.data, stop->held.len);
    strbuf_clear(&stop->held);
}

void stop_text_deinit(StopText *stop) {
    strbuf_deinit(&stop->held);
}
