// Text to IR. Accepts what ir_print prints and what mlir-opt 22 prints for the same ops (its value
// names, location aliases, generic form). Input is hostile: depth, counts and sizes are bounded.
#ifndef INGOT_IR_PARSE_H
#define INGOT_IR_PARSE_H

#include "ir/ir.h"

// Parses one module (a bare list of top-level ops is wrapped in a module). Errors: codes I....,
// with line and column, STATUS_INVALID; *out_module is untouched then. file is used in locations
// and diagnostics; text must stay valid until the sink is rendered.
Status ir_parse(const char *text, size_t len, const char *file, DiagSink *sink,
                IrModule **out_module) MUST_USE;

typedef struct IrParseOptions {
    // Arguments of public functions keep the name they have in the text, as ingot.name.
    bool keeps_argument_names;
} IrParseOptions;
Status ir_parse_with(const char *text, size_t len, const char *file, const IrParseOptions *options,
                     DiagSink *sink, IrModule **out_module) MUST_USE;

const IrType *ir_parse_type(IrModule *m, const char *text, DiagSink *sink); // NULL on error

#endif
