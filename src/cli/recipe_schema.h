// The JSON Schema of recipes (draft 2020-12).
#ifndef INGOT_CLI_RECIPE_SCHEMA_H
#define INGOT_CLI_RECIPE_SCHEMA_H

#include "cli/json_writer.h"

void recipe_schema_put(StrBuf *out);

#endif
