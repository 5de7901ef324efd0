// What stands behind the opaque types of include/ingot.h, for the rest of Ingot: the command line
// uses the public interface and looks inside where it prints diagnostics or profiles.
#ifndef INGOT_RUNTIME_API_H
#define INGOT_RUNTIME_API_H

#include "ingot.h"
#include "runtime/session.h"
#include "runtime/tokenizer.h"

struct IngotError {
    DiagSink sink;
    StrBuf text; // rendered on first use
};

struct IngotModel {
    Artifact artifact;
    Executor *executor;
    Tokenizer *tokenizer; // NULL: none in the artifact
};

struct IngotSession {
    IngotModel *model;
    Session *session;
};

// Makes the error of a failed call out of the sink's diagnostics, or drops them where none is
// wanted. Ends the use of the sink. Returns the status as the public one.
IngotStatus api_finish(Status status, DiagSink *sink, IngotError **out_error) MUST_USE;

#endif
