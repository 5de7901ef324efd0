// `ingot doctor`: what is wrong with a machine, a recipe or an artifact, each answer with a number,
// where the number comes from, the recipe's line, and the change that mends it.
#ifndef INGOT_CLI_DOCTOR_H
#define INGOT_CLI_DOCTOR_H

#include <jansson.h>

#include "cli/cli.h"
#include "runtime/artifact.h"

typedef enum SymptomId {
#define SYMPTOM(id, name, inputs, code, key, title, words, change) SYMPTOM_##id,
#include "cli/doctor.def"
    NUM_SYMPTOMS
} SymptomId;

enum { SEEN_IN_HOST = 1, SEEN_IN_RECIPE = 2, SEEN_IN_ARTIFACT = 4 };

typedef struct SymptomInfo {
    const char *name;
    uint32_t inputs; // SEEN_IN_ bits
    const char *code, *key, *title, *words, *change;
} SymptomInfo;

const SymptomInfo *symptom_info(SymptomId id);

typedef enum FindingState { FINDING_NONE, FINDING_PASS, FINDING_WARN, FINDING_FAIL } FindingState;

// What a check found. Texts live in the sink's arena.
typedef struct Finding {
    FindingState state; // NONE: not looked at
    const char *code;
    const char *evidence; // with its number
    const char *source;   // measured how, or derived from what
    const char *recipe;   // FILE:LINE or recipe:LINE, NULL: no line is behind it
    const char *change;   // NULL: that of the table
    double value;         // the number that decided it
    const char *unit;     // of the value
} Finding;

typedef struct Doctor {
    Cli *cli;
    const char *path;
    uint32_t inputs; // what is looked at
    bool wanted[NUM_SYMPTOMS];
    Finding findings[NUM_SYMPTOMS];
    uint32_t host_features; // of this processor, or of the one named with --cpu
    const char *host_name;
    uint32_t num_bad_tokens; // fed until a logit was no number; 0: none was
    uint32_t vocab_size;     // of the model they were fed to
} Doctor;

// Records a finding where the symptom is wanted and nothing as bad is known of it. evidence:
// printf.
void doctor_find(Doctor *d, SymptomId id, FindingState state, double value, const char *unit,
                 const char *source, const char *fmt, ...) PRINTF_LIKE(7, 8);
void doctor_change(Doctor *d, SymptomId id, const char *fmt, ...) PRINTF_LIKE(3, 4);
void doctor_evidence(Doctor *d, SymptomId id, const char *fmt, ...) PRINTF_LIKE(3, 4); // appends
// The token fed at a position to see how an artifact runs: any will do.
static inline int32_t doctor_token(uint32_t position, uint32_t vocab_size) {
    return (int32_t)((17 + 13 * position) % vocab_size);
}
static inline bool doctor_wants(const Doctor *d, SymptomId id) {
    return d->wanted[id];
}

void doctor_check_host(Doctor *d);
// Of an artifact: from its plan and the record of its compile; then by running it briefly.
// Failures: those of opening it.
Status doctor_check_artifact(Doctor *d, const char *path) MUST_USE;
// The plan's memory, its largest part and what sets that; tokens of each bucket, ascending.
void doctor_find_memory(Doctor *d, uint64_t total_bytes, const char *most, const char *set_by,
                        uint64_t most_bytes);
void doctor_find_buckets(Doctor *d, const uint32_t *buckets, size_t num);
void doctor_check_plan(Doctor *d, const Artifact *artifact, const json_t *manifest);
Status doctor_check_runs(Doctor *d, const char *path) MUST_USE;
// In the program with the compiler: the recipe for each of its targets, then what is compiled of it
// for this machine. Failures: a recipe with a fault that is none of the table's.
Status doctor_check_recipe(Doctor *d, const char *path) MUST_USE;

#endif
