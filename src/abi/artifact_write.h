// Writes an artifact (abi/plan.h): sections one after another, large ones piece by piece, checksums
// on the way. The bytes depend on the content only: gaps are zero, no clock, no address. The file
// appears under its name at commit, complete, or never. One owner thread.
#ifndef INGOT_ABI_ARTIFACT_WRITE_H
#define INGOT_ABI_ARTIFACT_WRITE_H

#include "abi/plan.h"
#include "base/file.h"

typedef struct ArtifactWriter {
    FileWriter file;
    SectionEntry sections[ARTIFACT_MAX_SECTIONS];
    uint32_t num_sections;
    bool is_section_open;
    void *hash; // XXH3_state_t of the open section
} ArtifactWriter;

// Failure (of any function here): U0003, STATUS_IO. After a failure call artifact_writer_abort.
// inputs: as for file_writer_open.
Status artifact_writer_open(const char *path, const char *const *inputs, DiagSink *sink,
                            ArtifactWriter *out_writer) MUST_USE;
// Starts a section on the next page. SECTION_WEIGHTS must be the last one begun.
Status artifact_writer_begin(ArtifactWriter *writer, SectionKind kind, uint32_t tag,
                             DiagSink *sink) MUST_USE;
Status artifact_writer_append(ArtifactWriter *writer, const void *bytes, uint64_t len_bytes,
                              DiagSink *sink) MUST_USE;
// Appends zeros up to a multiple of alignment, counted from the section's start.
Status artifact_writer_pad(ArtifactWriter *writer, uint64_t alignment, DiagSink *sink) MUST_USE;
// Bytes of the open section so far: the offset of what is appended next.
uint64_t artifact_writer_section_bytes(const ArtifactWriter *writer);
// Ends the open section; does nothing if none is open (its begin failed).
void artifact_writer_end(ArtifactWriter *writer);
// begin, append, end.
Status artifact_writer_section(ArtifactWriter *writer, SectionKind kind, uint32_t tag,
                               const void *bytes, uint64_t len_bytes, DiagSink *sink) MUST_USE;
// Both end the use of the writer. The length of the file, padding included, is known only now.
Status artifact_writer_commit(ArtifactWriter *writer, DiagSink *sink,
                              uint64_t *out_file_bytes) MUST_USE;
void artifact_writer_abort(ArtifactWriter *writer);

// The tables of a plan in memory, as the compiler fills them.
typedef struct PlanTables {
    PlanHeader header; // its PlanTable fields are set by plan_tables_write
    const PlanLevel *levels;
    const PlanKernel *kernels;
    const PlanKernelCode *kernel_code; // num_levels * num_kernels
    const PlanEntry *entries;
    const PlanStep *steps;
    const PlanBuffer *buffers;
    const PlanScalar *scalars;
    const PlanMemoryPart *memory;
    const PlanPort *ports;
    const PlanCheck *checks;
    uint64_t num_levels, num_kernels, num_entries, num_steps, num_buffers, num_scalars, num_memory,
        num_ports, num_checks;
} PlanTables;

// Sets the offsets and counts of header's tables. Returns the bytes of the whole section.
uint64_t plan_tables_layout(PlanTables *tables);
// plan_tables_layout, then appends the bytes of SECTION_PLAN to out.
void plan_tables_write(PlanTables *tables, StrBuf *out);

#endif
