// A model file's tokenizer as the tables of abi/tokenizer_blob.h, and its chat template.
#ifndef INGOT_WEIGHTS_TOKENIZER_IMPORT_H
#define INGOT_WEIGHTS_TOKENIZER_IMPORT_H

#include "weights/gguf.h"

// Appends the tables to out_blob (empty at the call). Errors T0001 to T0006, STATUS_INVALID;
// nothing is appended then.
Status tokenizer_import(const Gguf *gguf, DiagSink *sink, StrBuf *out_blob) MUST_USE;

// The chat template of the file, borrowed from the mapping; false if it has none.
bool tokenizer_chat_template(const Gguf *gguf, GgufString *out_text);
// Can the run time render that template? Without one: yes. Errors T0020 to T0022 with the place in
// the template, STATUS_INVALID.
Status tokenizer_check_chat_template(const Gguf *gguf, DiagSink *sink) MUST_USE;

#endif
