// A machine as numbers, each with its source: what the cost model and the planner know of it. One
// file per machine (data/targets/*.yaml), read and checked alike whether it came with the program
// or was measured (`ingot tune --probe`). No machine is named in C.
#ifndef INGOT_TARGET_TARGET_H
#define INGOT_TARGET_TARGET_H

#include "abi/cpu.h"
#include "base/diag.h"

typedef enum TargetNumber {
#define TARGET_NUMBER(id, path, unit, min, max, sense, meaning) TARGET_##id,
#include "target/target.def"
    NUM_TARGET_NUMBERS
} TargetNumber;

// Which of two values is the careful one where a name may mean several machines.
typedef enum TargetSense { TARGET_LESS, TARGET_MORE, TARGET_SAME } TargetSense;

typedef struct TargetNumberInfo {
    const char *path, *unit, *meaning;
    double min, max;
    TargetSense sense;
} TargetNumberInfo;

const TargetNumberInfo *target_number_info(TargetNumber number);

typedef enum TargetKind { TARGET_CPU, TARGET_GPU, TARGET_NPU, NUM_TARGET_KINDS } TargetKind;
const char *target_kind_name(TargetKind kind);

enum { TARGET_MAX_WORDS = 8 };

typedef struct Target {
    const char *name, *title;
    TargetKind kind;
    // How recipes may call it. arch: instruction set or micro-architecture; brand: what is sold;
    // gfx, ai_core: the code object's architecture and the kind of core, where there are any.
    const char *arch[TARGET_MAX_WORDS], *brands[TARGET_MAX_WORDS];
    uint32_t num_archs, num_brands;
    const char *gfx_arch, *compute_capability, *ai_core_type; // NULL: it has none
    bool has_cpu_level; // machine code of cpu_level can be made for it
    CpuLevel cpu_level;
    double numbers[NUM_TARGET_NUMBERS];      // 0: unknown
    const char *sources[NUM_TARGET_NUMBERS]; // in full; NULL with unknown
} Target;

static inline double target_number(const Target *target, TargetNumber number) {
    return target->numbers[number];
}
// The number, or `otherwise` if the file leaves it out.
static inline double target_number_or(const Target *target, TargetNumber number, double otherwise) {
    return target->numbers[number] > 0 ? target->numbers[number] : otherwise;
}

// Reads and checks one file's text: known keys, a source for each number, ranges, and that numbers
// that follow from others agree (units x clock x operations per clock is the stated peak, bus width
// x wire rate the bandwidth). Codes H..., STATUS_INVALID. What it points to lives in the sink.
Status target_parse(const char *text, size_t len, const char *path, DiagSink *sink,
                    Target *out_target) MUST_USE;
Status target_load(const char *path, DiagSink *sink, Target *out_target) MUST_USE;

// One machine of the table by its name; H0004 with the nearest name if there is none.
Status target_open(const char *name, DiagSpan span, DiagSink *sink, Target *out_target) MUST_USE;

// The table: all machines that came with the program (or lie in $INGOT_DATA_DIR/targets), in the
// order of their names. Read once per sink.
typedef struct TargetTable {
    Target *targets;
    size_t num_targets;
} TargetTable;
Status target_table_load(DiagSink *sink, TargetTable *out_table) MUST_USE;
// By name; NULL if there is none.
const Target *target_find(const TargetTable *table, const char *name);
// Reports that no machine is called so, with the nearest name (H0004, STATUS_INVALID).
Status target_unknown(const TargetTable *table, const char *name, DiagSpan span,
                      DiagSink *sink) MUST_USE;

// The machine code of a level sees a machine through: its own, or that of the least machine that
// runs the level, whose name is the level's. Numbers of the level (vectors, registers, operations
// per clock) are those of the level where the machine could do more. machine may be NULL.
Status target_for_level(const Target *machine, CpuLevel level, DiagSink *sink,
                        Target *out_target) MUST_USE;

// Appends all numbers with their sources, as text.
void target_print(const Target *target, StrBuf *out);

#endif
