// An artifact opened for running or inspection: the file's structure checked once, so that
// everything behind may index without checking again. Layout: abi/plan.h, docs/artifact.md.
//
// artifact_open reads and checks all sections but the weights: their checksums, every index, offset
// and count. Cost: one pass over them (a few MB, 0.1 ms per MB and less). The weights cost a pass
// over the whole file and are checked by artifact_verify_weights only.
//
// What is checked at open holds while the file is not written to. Ingot replaces files, it never
// rewrites them. An artifact holds machine code: open only files you would run as a program.
#ifndef INGOT_RUNTIME_ARTIFACT_H
#define INGOT_RUNTIME_ARTIFACT_H

#include "abi/cpu.h"
#include "abi/plan.h"
#include "abi/plan_size.h"
#include "abi/relation.h"
#include "base/diag.h"

// Read-only after open: may be used from any thread. Pointers live until artifact_close.
typedef struct Artifact {
    char *path;
    int fd; // for reading the weights and mapping code
    uint64_t file_len_bytes;
    uint32_t num_sections;
    SectionEntry sections[ARTIFACT_MAX_SECTIONS];
    const uint8_t *data[ARTIFACT_MAX_SECTIONS]; // each section's bytes; NULL: empty, or the weights
    uint32_t strings_section, plan_section, weights_section; // indices of those there must be
    // The plan and its tables, counts in plan->levels.count and so on.
    const PlanHeader *plan;
    const PlanLevel *levels;
    const PlanKernel *kernels;
    const PlanKernelCode *kernel_code; // [level * plan->kernels.count + kernel]
    const PlanEntry *entries;
    const PlanStep *steps;
    const PlanBuffer *buffers;
    const PlanScalar *scalars;
    const PlanMemoryPart *memory;
    const PlanPort *ports;
    const PlanSize *sizes; // of entries that vary
    uint32_t num_sizes;
    const PlanRelation *relations;
    Relation parsed_relations[RELATION_MAX]; // the same
    uint32_t num_relations;
    const PlanCheck *checks;
    PlanIoLayout io;
} Artifact;

// Failures: STATUS_IO (U0002), STATUS_INVALID (X0001 X0003 X0004 X0005 X0006), STATUS_ENVIRONMENT
// (X0002: another version).
Status artifact_open(const char *path, DiagSink *sink, Artifact *out_artifact) MUST_USE;
void artifact_close(Artifact *artifact);

// Reads all weights and compares their checksum. STATUS_INVALID (X0013), STATUS_IO.
Status artifact_verify_weights(const Artifact *artifact, DiagSink *sink) MUST_USE;

// The first section of a kind (and for SECTION_CODE of a tag), NULL if there is none.
const SectionEntry *artifact_find_section(const Artifact *artifact, SectionKind kind, uint32_t tag,
                                          const uint8_t **out_data);
// A string of the plan by its offset; NUL-terminated.
const char *artifact_string(const Artifact *artifact, uint32_t offset);
// What sets a line of the memory table ("recipe:6 input_constraints.kv_cache_seq_len.max, ..."); ""
// if there is none of this name.
const char *artifact_set_by(const Artifact *artifact, const char *line);
uint32_t artifact_largest_bucket(const Artifact *artifact);
// What the arguments of an entry have where a size has this name; -1: none has it.
int64_t artifact_bucket(const Artifact *artifact, const PlanEntry *entry, uint32_t name);
// Resident memory of an executor of this artifact.
PlanMemory artifact_memory(const Artifact *artifact);

// Chooses an element of artifact->levels for a host with the given CPU_HAS_* bits: the best it
// runs, or the one named (NULL or "native": the best). STATUS_ENVIRONMENT (X0007, names what is
// missing), STATUS_INVALID (X0008: not in this artifact), STATUS_USAGE (U0004: no such level).
Status artifact_pick_level(const Artifact *artifact, const char *name, uint32_t host_features,
                           DiagSink *sink, uint32_t *out_level) MUST_USE;

// Part of artifact_open: checks the plan section against the others and sets the plan's fields.
// (runtime/plan_check.c)
Status artifact_check_plan(Artifact *artifact, DiagSink *sink) MUST_USE;

#endif
