// What a bucket of tokens or sequences costs and how much of it is padding, for the report of a
// compile. Lengths of calls are taken as equally likely.
#ifndef INGOT_CLI_BUCKET_USE_H
#define INGOT_CLI_BUCKET_USE_H

#include "cli/json_writer.h"
#include "compiler/compile.h"

// Of one entry: the calls it serves, padding, bytes. Nothing of padding for entries that take
// tensors (size_use.h).
void bucket_use_put_json(const CompileEntry *entry, JsonWriter *json);
void bucket_use_put_text(const CompileEntry *entry, StrBuf *out);
// Of all buckets of tokens, and all of sequences: variants, the share of rows that are no padding,
// and what it would be with the largest bucket alone.
void bucket_use_put_total_json(const CompileReport *report, JsonWriter *json);
void bucket_use_put_total_text(const CompileReport *report, StrBuf *out);

#endif
