// Runs every version of an artifact once, whole: code, tables and weights are then in memory and in
// the caches that hold them, and no later call is the first of its kind.
#ifndef INGOT_RUNTIME_WARM_UP_H
#define INGOT_RUNTIME_WARM_UP_H

#include "runtime/executor.h"

// Of a language model: every bucket with as many tokens as it holds, or the context, and every
// batch; the pages that takes are given back. X0015: sessions hold too many (STATUS_LIMIT); what
// they hold stays. Of any other: every entry on arguments of zeros, whose results, faults among
// them, are dropped.
Status warm_up(Executor *executor, DiagSink *sink) MUST_USE;

#endif
