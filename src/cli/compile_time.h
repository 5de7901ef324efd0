// Where the time of a compile went: code of kernels that one entry alone calls is that entry's;
// all else is done once for all of them. The parts add up to the phases, to the nanosecond.
#ifndef INGOT_CLI_COMPILE_TIME_H
#define INGOT_CLI_COMPILE_TIME_H

#include "cli/json_writer.h"
#include "compiler/compile.h"

// `compile_ns`: all that has a clock in it, apart from what is the same every time.
void compile_time_put_json(const CompileReport *report, JsonWriter *json);
// Seconds, a line for each entry and one for what is shared.
void compile_time_put_text(const CompileReport *report, StrBuf *out);

#endif
