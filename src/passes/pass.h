// Passes and their driver. A pass transforms a module in place and declares which facts it needs,
// establishes and destroys; the driver refuses an order that breaks a declaration, verifies after
// every pass, and records on the module (`ingot.passes`) what has run, so that a dump can be
// resumed.
#ifndef INGOT_PASSES_PASS_H
#define INGOT_PASSES_PASS_H

#include "abi/cpu.h"
#include "abi/op_precision.h"
#include "base/diag.h"
#include "ir/ir.h"
#include "target/target.h"

typedef enum PassFact {
#define FACT(id, name, meaning) FACT_##id,
#include "passes/facts.def"
#undef FACT
    NUM_PASS_FACTS
} PassFact;

// How results compare before and after a pass.
typedef enum PassCompare {
#define COMPARE(id, name, meaning) COMPARE_##id,
#include "passes/compare.def"
#undef COMPARE
    NUM_PASS_COMPARES
} PassCompare;

typedef enum PassId {
#define PASS(id, name, level, needs, establishes, destroys, results, doc) PASS_##id,
#include "passes/passes.def"
#undef PASS
    NUM_PASSES
} PassId;

typedef Status (*PassFn)(IrModule *m, DiagSink *sink);

typedef struct PassInfo {
    const char *name, *doc;
    uint32_t level;                        // of the module afterwards
    uint32_t needs, establishes, destroys; // bits 1 << PassFact
    PassCompare results;
    PassFn run;
} PassInfo;

const PassInfo *pass_info(PassId id);
bool pass_find(const char *name, PassId *out_id);
const char *pass_fact_name(PassFact fact);
const char *pass_fact_meaning(PassFact fact);
const char *pass_compare_name(PassCompare compare);

// The most operations a pass may make of a module's functions: what is counted before it is made,
// so that no text takes memory out of proportion. A language model of 1000 layers has a tenth.
// And the most kernels before equal ones are merged: some times grow with their square.
enum { PASS_MAX_OPS = 1 << 20, PASS_MAX_KERNELS = 4096 };

// Called around every pass; is_before is true before it ran.
typedef Status (*PassHook)(const IrModule *m, PassId id, bool is_before, void *ctx, DiagSink *sink);

typedef struct PassPipeline {
    const PassId *ids; // in order
    size_t num_ids;
    PassHook hook; // may be NULL
    void *hook_ctx;
} PassPipeline;

// Checks the order against the declarations (facts already on the module count), then runs and
// verifies each. A broken declaration names both passes (P0001); a verifier error after a pass is a
// BUG of that pass unless the module came from text, so it is reported with the pass's name.
Status pass_pipeline_run(IrModule *m, const PassPipeline *pipeline, DiagSink *sink) MUST_USE;

// Are the annotations (annotations.def) known, of the right kind, and do they fit what they stand
// on? P0011 for the first that does not. The pipeline checks before its first pass.
Status pass_annotations_check(IrModule *m, DiagSink *sink) MUST_USE;
// The same for a module that is compiled from text: only what its author may write, no traces of a
// pass.
Status pass_annotations_check_author(IrModule *m, DiagSink *sink) MUST_USE;

// Passes to leave out, named with commas: bits 1 << PassId. P0008 for an unknown one.
Status pass_disable_parse(const char *text, DiagSink *sink, uint64_t *out_disabled) MUST_USE;
// Can the others of these passes, and code generation if it follows, run without the disabled ones,
// on a module of these facts? P0062 names the disabled pass and all that becomes impossible: what
// needs a fact that is missing then, and what needs that in turn.
Status pass_disable_check(uint32_t facts, const PassId *ids, size_t num_ids, uint64_t disabled,
                          bool makes_code, DiagSink *sink) MUST_USE;
// Facts that these passes establish and that none of those left does: bits 1 << PassFact.
uint32_t pass_disable_lost(const PassId *ids, size_t num_ids, uint64_t disabled);

// Facts that hold on the module, from `ingot.passes`.
uint32_t pass_facts(const IrModule *m);
// The pass to go on with after a dump: the one following the last recorded pass of the standard
// pipeline; NUM_PASSES if all have run.
PassId pass_next(const IrModule *m);

// ---- settings, from the module attribute `ingot.config`

typedef struct PassConfig {
    const char *activations; // "int8", "bf16", "f32"
    const char *kv;          // "f16", "f32"
    OpPrecision op_precisions[NUM_OP_CLASSES];
    uint32_t threads;
    int64_t max_scratch_bytes; // of a kernel's intermediates, per worker; 0: no bound was asked for
    int64_t page_len_tokens, max_pages; // of a sequence; 0 without a language model
    int64_t num_pages;                  // of all sequences of the largest batch
    bool is_sync;                       // a barrier after every step
    int64_t buckets[32];
    uint32_t num_buckets; // 0 without a language model
    int64_t batches[32];  // sequences of entries that are marked ingot.batch
    uint32_t num_batches;
    bool pack_qkv, pack_gate_up; // fusion rules, true unless switched off
} PassConfig;

// Reads and checks; P0002 with the faulty entry.
Status pass_config_read(const IrModule *m, DiagSink *sink, PassConfig *out_config) MUST_USE;

// CPU level a module is being compiled for: module attribute `ingot.target` = level name.
Status pass_target_read(const IrModule *m, DiagSink *sink, CpuLevel *out_level) MUST_USE;

// The machine it is compiled for: module attribute `ingot.machine`, its numbers by path. Without
// it, the least machine of the level.
Status pass_machine_read(const IrModule *m, CpuLevel level, DiagSink *sink,
                         Target *out_target) MUST_USE;
void pass_machine_write(IrModule *m, const Target *target);

#define PASS(id, name, level, needs, establishes, destroys, results, doc)                          \
    Status pass_##id(IrModule *m, DiagSink *sink) MUST_USE;
#include "passes/passes.def"
#undef PASS

// What a function may keep on the stack: kernels run on the stacks of workers, functions that make
// weights on those that the compiler gives them.
enum { INIT_MAX_STACK_BYTES = 64 << 20 };
uint64_t kernel_max_stack_bytes(const IrOp *func);

#endif
