// The memory planner's log as `ingot compile --verbose` prints it.
#ifndef INGOT_CLI_PLAN_VIEW_H
#define INGOT_CLI_PLAN_VIEW_H

#include "cli/json_writer.h"
#include "compiler/compile.h"

void plan_view_put_text(const CompileReport *report, StrBuf *out);
void plan_view_put_json(const CompileReport *report, JsonWriter *json);

#endif
