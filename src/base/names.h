// Lists of names with commas, as options take them: one rule for all of them.
#ifndef INGOT_BASE_NAMES_H
#define INGOT_BASE_NAMES_H

#include "base/diag.h"

// Is there a name before, between and behind the commas? U0004 with the place of the first that is
// empty and the list without it. `text` is borrowed until the sink is rendered.
Status names_check(const char *option, const char *text, DiagSink *sink) MUST_USE;
// Takes the next name off the list, cut to `size` bytes with the zero; false: none is left.
bool names_next(const char **text, char *name, size_t size);

#endif
