// Shapes of models that are known by name: data/models/NAME.yaml, with the keys of `dims`.
#ifndef INGOT_RECIPE_KNOWN_MODEL_H
#define INGOT_RECIPE_KNOWN_MODEL_H

#include "text/doc.h"

// The description of the model called name, whatever its capitals, blanks, dots and dashes;
// *out_node stays NULL if there is none. *out_name is its name as the file spells it; both live as
// long as the sink. Errors: those of doc_parse.
Status known_model_load(const char *name, DiagSink *sink, const DocNode **out_node,
                        const char **out_name) MUST_USE;

#endif
