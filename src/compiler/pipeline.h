// The standard pipeline: runs it in stretches, writes dumps, reads them back.
#ifndef INGOT_COMPILER_PIPELINE_H
#define INGOT_COMPILER_PIPELINE_H

#include "passes/validate.h"

typedef struct Pipeline {
    IrModule *m;
    IrModule *planned; // the first level's module, kept for its attributes
    const char *dump_before, *dump_after, *dump_dir; // see CompileOptions
    const char *level_name; // appended to the names of dumps where several levels are compiled
    uint32_t num_run;       // passes run so far: the number of the next dump
    uint32_t num_threads;
    uint64_t disabled;     // bits 1 << PassId
    const char *inputs[7]; // files read, ended by NULL: never overwritten by a dump or the artifact
    Validator *validator;  // NULL: passes are not validated
} Pipeline;

// Are the passes of dump_before and dump_after known, and is there a directory to write to?
Status pipeline_check_dumps(const Pipeline *p, DiagSink *sink) MUST_USE;
// Runs the passes from where the module stands up to, not including, `end` (NUM_PASSES: all).
Status pipeline_run_until(Pipeline *p, PassId end, DiagSink *sink) MUST_USE;
// Drops everything but the init functions and lowers them for level; nothing is dumped.
Status pipeline_inits_only(IrModule *m, CpuLevel level, DiagSink *sink) MUST_USE;
// Reads and verifies a dump.
Status pipeline_read_dump(const char *path, DiagSink *sink, IrModule **out_module) MUST_USE;
// Sets an integer entry of ingot.config.
void pipeline_set_config(IrModule *m, const char *key, int64_t value);

#endif
