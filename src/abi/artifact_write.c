// Artifact writer; see artifact_write.h. Header and section table get their place first and their
// content last, so nothing needs to be known in advance and nothing large is held in memory.
#define XXH_INLINE_ALL
#include "abi/artifact_write.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const uint8_t zeros[ARTIFACT_PAGE_BYTES];

Status artifact_writer_open(const char *path, const char *const *inputs, DiagSink *sink,
                            ArtifactWriter *out_writer) {
    ArtifactWriter writer = {0};
    TRY(file_writer_open(path, inputs, sink, &writer.file));
    writer.file.len_bytes = sizeof(ArtifactHeader) + ARTIFACT_MAX_SECTIONS * sizeof(SectionEntry);
    XXH3_state_t *hash = NULL;
    if (posix_memalign((void **)&hash, 64, sizeof *hash) != 0) base_out_of_memory(1, sizeof *hash);
    writer.hash = hash;
    *out_writer = writer;
    return STATUS_OK;
}

// Writes zeros up to the end of the page.
static Status pad_file(FileWriter *file, DiagSink *sink) {
    uint64_t len = align_up(file->len_bytes, ARTIFACT_PAGE_BYTES) - file->len_bytes;
    return file_writer_write(file, zeros, len, sink);
}

Status artifact_writer_begin(ArtifactWriter *writer, SectionKind kind, uint32_t tag,
                             DiagSink *sink) {
    BUG_IF(writer->is_section_open, "a section is still open");
    BUG_IF(writer->num_sections == ARTIFACT_MAX_SECTIONS, "too many sections");
    BUG_IF(writer->num_sections > 0 &&
               writer->sections[writer->num_sections - 1].kind == SECTION_WEIGHTS,
           "a section after the weights");
    TRY(pad_file(&writer->file, sink));
    writer->sections[writer->num_sections++] =
        (SectionEntry){.kind = kind, .tag = tag, .offset = writer->file.len_bytes};
    writer->is_section_open = true;
    BUG_IF(XXH3_64bits_reset(writer->hash) != XXH_OK, "hash state");
    return STATUS_OK;
}

Status artifact_writer_append(ArtifactWriter *writer, const void *bytes, uint64_t len_bytes,
                              DiagSink *sink) {
    BUG_IF(!writer->is_section_open, "no section is open");
    if (len_bytes == 0) return STATUS_OK;
    BUG_IF(XXH3_64bits_update(writer->hash, bytes, len_bytes) != XXH_OK, "hash state");
    return file_writer_write(&writer->file, bytes, len_bytes, sink);
}

uint64_t artifact_writer_section_bytes(const ArtifactWriter *writer) {
    BUG_IF(!writer->is_section_open, "no section is open");
    return writer->file.len_bytes - writer->sections[writer->num_sections - 1].offset;
}

Status artifact_writer_pad(ArtifactWriter *writer, uint64_t alignment, DiagSink *sink) {
    uint64_t bytes = artifact_writer_section_bytes(writer);
    for (uint64_t left = align_up(bytes, alignment) - bytes; left > 0;) {
        uint64_t len = MIN(left, sizeof zeros);
        TRY(artifact_writer_append(writer, zeros, len, sink));
        left -= len;
    }
    return STATUS_OK;
}

void artifact_writer_end(ArtifactWriter *writer) {
    if (!writer->is_section_open) return;
    SectionEntry *entry = &writer->sections[writer->num_sections - 1];
    entry->len_bytes = artifact_writer_section_bytes(writer);
    entry->checksum = XXH3_64bits_digest(writer->hash);
    writer->is_section_open = false;
}

Status artifact_writer_section(ArtifactWriter *writer, SectionKind kind, uint32_t tag,
                               const void *bytes, uint64_t len_bytes, DiagSink *sink) {
    TRY(artifact_writer_begin(writer, kind, tag, sink));
    TRY(artifact_writer_append(writer, bytes, len_bytes, sink));
    artifact_writer_end(writer);
    return STATUS_OK;
}

Status artifact_writer_commit(ArtifactWriter *writer, DiagSink *sink, uint64_t *out_file_bytes) {
    BUG_IF(writer->is_section_open, "a section is still open");
    ArtifactHeader header = {
        .version = ARTIFACT_VERSION,
        .num_sections = writer->num_sections,
        .sections_offset = sizeof header,
    };
    memcpy(header.magic, ARTIFACT_MAGIC, sizeof header.magic);
    // The file ends on a page: whole pages of every section can be mapped.
    Status status = pad_file(&writer->file, sink);
    header.file_len_bytes = writer->file.len_bytes;
    header.checksum = XXH3_64bits(writer->sections, sizeof writer->sections);
    if (status == STATUS_OK)
        status = file_writer_write_at(&writer->file, 0, &header, sizeof header, sink);
    if (status == STATUS_OK)
        status = file_writer_write_at(&writer->file, sizeof header, writer->sections,
                                      sizeof writer->sections, sink);
    if (status != STATUS_OK) {
        artifact_writer_abort(writer);
        return status;
    }
    status = file_writer_commit(&writer->file, sink);
    if (status == STATUS_OK) *out_file_bytes = header.file_len_bytes;
    free(writer->hash);
    *writer = (ArtifactWriter){0};
    return status;
}

void artifact_writer_abort(ArtifactWriter *writer) {
    file_writer_abort(&writer->file);
    free(writer->hash);
    *writer = (ArtifactWriter){0};
}

static uint64_t place(PlanTable *table, uint64_t count, uint64_t elem_bytes, uint64_t end) {
    *table = (PlanTable){.offset = align_up(end, PLAN_BUFFER_ALIGN_BYTES), .count = count};
    return table->offset + count * elem_bytes;
}

uint64_t plan_tables_layout(PlanTables *tables) {
    PlanHeader *header = &tables->header;
    uint64_t end = sizeof *header;
    end = place(&header->levels, tables->num_levels, sizeof(PlanLevel), end);
    end = place(&header->kernels, tables->num_kernels, sizeof(PlanKernel), end);
    end = place(&header->kernel_code, tables->num_levels * tables->num_kernels,
                sizeof(PlanKernelCode), end);
    end = place(&header->entries, tables->num_entries, sizeof(PlanEntry), end);
    end = place(&header->steps, tables->num_steps, sizeof(PlanStep), end);
    end = place(&header->buffers, tables->num_buffers, sizeof(PlanBuffer), end);
    end = place(&header->scalars, tables->num_scalars, sizeof(PlanScalar), end);
    end = place(&header->memory, tables->num_memory, sizeof(PlanMemoryPart), end);
    end = place(&header->ports, tables->num_ports, sizeof(PlanPort), end);
    end = place(&header->checks, tables->num_checks, sizeof(PlanCheck), end);
    return end;
}

static void put(StrBuf *out, size_t start, PlanTable table, const void *elems, size_t elem_bytes) {
    while (out->len - start < table.offset) strbuf_putc(out, '\0');
    strbuf_append(out, elems, table.count * elem_bytes);
}

void plan_tables_write(PlanTables *tables, StrBuf *out) {
    size_t start = out->len;
    (void)plan_tables_layout(tables);
    const PlanHeader *header = &tables->header;
    strbuf_append(out, (const char *)header, sizeof *header);
    put(out, start, header->levels, tables->levels, sizeof(PlanLevel));
    put(out, start, header->kernels, tables->kernels, sizeof(PlanKernel));
    put(out, start, header->kernel_code, tables->kernel_code, sizeof(PlanKernelCode));
    put(out, start, header->entries, tables->entries, sizeof(PlanEntry));
    put(out, start, header->steps, tables->steps, sizeof(PlanStep));
    put(out, start, header->buffers, tables->buffers, sizeof(PlanBuffer));
    put(out, start, header->scalars, tables->scalars, sizeof(PlanScalar));
    put(out, start, header->memory, tables->memory, sizeof(PlanMemoryPart));
    put(out, start, header->ports, tables->ports, sizeof(PlanPort));
    put(out, start, header->checks, tables->checks, sizeof(PlanCheck));
}
