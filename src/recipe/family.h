// Descriptions of model families: data/arch/NAME.yaml, joined with the one it builds on (key
// `uses`, data/arch/parts/). docs/model_families.md says what stands in them.
#ifndef INGOT_RECIPE_FAMILY_H
#define INGOT_RECIPE_FAMILY_H

#include "text/doc.h"

// The description of the family called name (name_len bytes in the model file, which may be more
// than the text holds); lives as long as the sink. Errors: F0014 at span if there is none, R0013
// and those of doc_parse if it is faulty.
Status family_load(const char *name, uint64_t name_len, DiagSpan span, DiagSink *sink,
                   const DocNode **out_family) MUST_USE;

#endif
