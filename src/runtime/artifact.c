// Opens an artifact and checks its structure; see artifact.h. Every section is a mapping of its
// own, so that reading one never makes pages of another resident, the weights' least of all.
#define XXH_INLINE_ALL
#include "runtime/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

// The first page of the file.
typedef union FirstPage {
    uint8_t bytes[ARTIFACT_PAGE_BYTES];
    struct {
        ArtifactHeader header;
        SectionEntry sections[ARTIFACT_MAX_SECTIONS];
    } parts;
} FirstPage;
_Static_assert(sizeof(FirstPage) == ARTIFACT_PAGE_BYTES,
               "the section table must fit the first page");

static DiagSpan at(const Artifact *artifact, uint64_t byte_offset) {
    return (DiagSpan){.file = artifact->path, .byte_offset = byte_offset};
}

static Status io_error(const Artifact *artifact, const char *what, DiagSink *sink) {
    Status status = diag_error(sink, DIAG_U0002, at(artifact, 0), "%s: %s", what, strerror(errno));
    (void)status;
    return STATUS_IO;
}

static Status read_at(const Artifact *artifact, void *out, uint64_t offset, uint64_t len_bytes,
                      DiagSink *sink) {
    for (uint64_t done = 0; done < len_bytes;) {
        ssize_t got =
            pread(artifact->fd, (uint8_t *)out + done, len_bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return io_error(artifact, "cannot read", sink);
        if (got == 0)
            return diag_error(sink, DIAG_X0003, at(artifact, offset + done), "the file ends here");
        done += (uint64_t)got;
    }
    return STATUS_OK;
}

static Status check_header(const Artifact *artifact, const FirstPage *page, uint64_t file_len,
                           DiagSink *sink) {
    const ArtifactHeader *header = &page->parts.header;
    if (header->version != ARTIFACT_VERSION) {
        Status status =
            diag_error(sink, DIAG_X0002, at(artifact, offsetof(ArtifactHeader, version)),
                       "artifact format %u; this Ingot reads format %u", header->version,
                       (unsigned)ARTIFACT_VERSION);
        (void)status;
        diag_write(sink, "ingot compile RECIPE -o %s", artifact->path);
        return STATUS_ENVIRONMENT;
    }
    if (header->file_len_bytes != file_len)
        return diag_error(sink, DIAG_X0003, at(artifact, MIN(file_len, header->file_len_bytes)),
                          "the file has %llu bytes and was written with %llu",
                          (unsigned long long)file_len, (unsigned long long)header->file_len_bytes);
    if (header->num_sections == 0 || header->num_sections > ARTIFACT_MAX_SECTIONS ||
        header->sections_offset != sizeof *header)
        return diag_error(sink, DIAG_X0004, at(artifact, offsetof(ArtifactHeader, num_sections)),
                          "the header is damaged");
    if (XXH3_64bits(page->parts.sections, sizeof page->parts.sections) != header->checksum)
        return diag_error(sink, DIAG_X0004, at(artifact, sizeof *header),
                          "the section table is damaged");
    for (size_t i = sizeof page->parts; i < sizeof page->bytes; i++)
        if (page->bytes[i] != 0)
            return diag_error(sink, DIAG_X0004, at(artifact, i),
                              "a gap between sections is not zero");
    return STATUS_OK;
}

static Status read_header(Artifact *artifact, uint64_t file_len, DiagSink *sink) {
    FirstPage page = {0};
    TRY(read_at(artifact, page.bytes, 0, MIN(file_len, sizeof page.bytes), sink));
    if (file_len < sizeof page.parts.header.magic ||
        memcmp(page.bytes, ARTIFACT_MAGIC, sizeof page.parts.header.magic) != 0) {
        bool is_gguf = file_len >= 4 && memcmp(page.bytes, "GGUF", 4) == 0;
        Status status = diag_error(sink, DIAG_X0001, at(artifact, 0), "this is %s",
                                   is_gguf ? "a GGUF model file, not an Ingot artifact"
                                           : "not an Ingot artifact");
        if (is_gguf)
            diag_write(sink, "ingot compile RECIPE --model %s -o FILE.ingot, then run that file",
                       artifact->path);
        return status;
    }
    if (file_len < sizeof page.bytes)
        return diag_error(sink, DIAG_X0003, at(artifact, file_len),
                          "the file has only %llu bytes, less than a header and section table",
                          (unsigned long long)file_len);
    TRY(check_header(artifact, &page, file_len, sink));
    artifact->num_sections = page.parts.header.num_sections;
    memcpy(artifact->sections, page.parts.sections, sizeof artifact->sections);
    return STATUS_OK;
}

// Sections are known, one behind the other on the next page, inside the file; those that must exist
// do, once.
static Status check_sections(Artifact *artifact, uint64_t file_len, DiagSink *sink) {
    uint32_t num_of_kind[NUM_SECTION_KINDS] = {0};
    uint64_t end = ARTIFACT_PAGE_BYTES;
    for (uint32_t i = 0; i < ARTIFACT_MAX_SECTIONS; i++) {
        const SectionEntry *entry = &artifact->sections[i];
        DiagSpan span = at(artifact, sizeof(ArtifactHeader) + i * sizeof *entry);
        if (i >= artifact->num_sections) {
            if (entry->kind || entry->tag || entry->offset || entry->len_bytes || entry->checksum)
                return diag_error(sink, DIAG_X0005, span, "an unused section slot is not zero");
            continue;
        }
        if (entry->kind < SECTION_MANIFEST || entry->kind >= NUM_SECTION_KINDS)
            return diag_error(sink, DIAG_X0005, span, "section %u is of unknown kind %u", i,
                              entry->kind);
        if (entry->kind != SECTION_CODE && entry->tag != 0)
            return diag_error(sink, DIAG_X0005, span, "section %u has a tag", i);
        if (entry->offset != end || entry->offset > file_len ||
            entry->len_bytes > file_len - entry->offset)
            return diag_error(sink, DIAG_X0005, span, "section %u does not lie where it may", i);
        end = align_up(entry->offset + entry->len_bytes, ARTIFACT_PAGE_BYTES);
        if (++num_of_kind[entry->kind] > 1 && entry->kind != SECTION_CODE)
            return diag_error(sink, DIAG_X0005, span, "section kind %u occurs twice", entry->kind);
        if (entry->kind == SECTION_STRINGS) artifact->strings_section = i;
        if (entry->kind == SECTION_PLAN) artifact->plan_section = i;
        if (entry->kind == SECTION_WEIGHTS) artifact->weights_section = i;
    }
    const SectionKind needed[] = {SECTION_STRINGS, SECTION_PLAN, SECTION_CODE, SECTION_WEIGHTS};
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (num_of_kind[needed[i]] == 0)
            return diag_error(sink, DIAG_X0005, at(artifact, sizeof(ArtifactHeader)),
                              "there is no section of kind %u", (unsigned)needed[i]);
    if (artifact->weights_section != artifact->num_sections - 1)
        return diag_error(sink, DIAG_X0005, at(artifact, sizeof(ArtifactHeader)),
                          "the weights are not the last section");
    if (end != file_len)
        return diag_error(sink, DIAG_X0005, at(artifact, MIN(end, file_len)),
                          "the file does not end with its last section");
    return STATUS_OK;
}

// Maps a section and compares its checksum; pages that only serve inspection are given back.
static Status map_section(Artifact *artifact, uint32_t i, DiagSink *sink) {
    const SectionEntry *entry = &artifact->sections[i];
    if (entry->len_bytes == 0) return STATUS_OK;
    uint64_t mapped_bytes = align_up(entry->len_bytes, ARTIFACT_PAGE_BYTES);
    void *data =
        mmap(NULL, mapped_bytes, PROT_READ, MAP_PRIVATE, artifact->fd, (off_t)entry->offset);
    if (data == MAP_FAILED) return io_error(artifact, "cannot map", sink);
    artifact->data[i] = data;
    if (XXH3_64bits(data, entry->len_bytes) != entry->checksum)
        return diag_error(sink, DIAG_X0004, at(artifact, entry->offset),
                          "section %u (%llu bytes) is damaged", i,
                          (unsigned long long)entry->len_bytes);
    for (uint64_t k = entry->len_bytes; k < mapped_bytes; k++)
        if (artifact->data[i][k] != 0)
            return diag_error(sink, DIAG_X0004, at(artifact, entry->offset + k),
                              "a gap between sections is not zero");
    if (entry->kind == SECTION_CODE || entry->kind == SECTION_MANIFEST)
        (void)madvise(data, mapped_bytes, MADV_DONTNEED);
    return STATUS_OK;
}

// The rest of the weights' last page belongs to no section: zeros, like that of the others.
static Status check_tail(const Artifact *artifact, DiagSink *sink) {
    const SectionEntry *entry = &artifact->sections[artifact->weights_section];
    uint8_t tail[ARTIFACT_PAGE_BYTES];
    uint64_t end = entry->offset + entry->len_bytes, len = artifact->file_len_bytes - end;
    TRY(read_at(artifact, tail, end, len, sink));
    for (uint64_t i = 0; i < len; i++)
        if (tail[i] != 0)
            return diag_error(sink, DIAG_X0004, at(artifact, end + i),
                              "the padding behind the weights is not zero");
    return STATUS_OK;
}

static Status open_checked(Artifact *artifact, DiagSink *sink) {
    artifact->fd = open(artifact->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (artifact->fd < 0) return io_error(artifact, "cannot open", sink);
    struct stat st;
    if (fstat(artifact->fd, &st) != 0) return io_error(artifact, "cannot stat", sink);
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return io_error(artifact, "not a regular file", sink);
    }
    artifact->file_len_bytes = (uint64_t)st.st_size;
    TRY(read_header(artifact, artifact->file_len_bytes, sink));
    TRY(check_sections(artifact, artifact->file_len_bytes, sink));
    TRY(check_tail(artifact, sink));
    for (uint32_t i = 0; i < artifact->num_sections; i++)
        if (i != artifact->weights_section) TRY(map_section(artifact, i, sink));
    return artifact_check_plan(artifact, sink);
}

Status artifact_open(const char *path, DiagSink *sink, Artifact *out_artifact) {
    Artifact artifact = {.fd = -1, .path = strdup(path)};
    if (!artifact.path) base_out_of_memory(strlen(path) + 1, 1);
    Status status = open_checked(&artifact, sink);
    if (status == STATUS_OK)
        *out_artifact = artifact;
    else
        artifact_close(&artifact);
    return status;
}

void artifact_close(Artifact *artifact) {
    for (uint32_t i = 0; i < artifact->num_sections; i++)
        if (artifact->data[i])
            munmap((void *)artifact->data[i],
                   align_up(artifact->sections[i].len_bytes, ARTIFACT_PAGE_BYTES));
    if (artifact->fd >= 0) close(artifact->fd);
    free(artifact->path);
    *artifact = (Artifact){.fd = -1};
}

Status artifact_verify_weights(const Artifact *artifact, DiagSink *sink) {
    enum { BLOCK_BYTES = 4 << 20 };
    const SectionEntry *entry = &artifact->sections[artifact->weights_section];
    uint8_t *block = base_alloc(BLOCK_BYTES, 1);
    XXH3_state_t *state = NULL;
    if (posix_memalign((void **)&state, 64, sizeof *state) != 0)
        base_out_of_memory(1, sizeof *state);
    BUG_IF(XXH3_64bits_reset(state) != XXH_OK, "hash state");
    Status status = STATUS_OK;
    for (uint64_t done = 0; done < entry->len_bytes && status == STATUS_OK;) {
        uint64_t len = MIN(entry->len_bytes - done, (uint64_t)BLOCK_BYTES);
        status = read_at(artifact, block, entry->offset + done, len, sink);
        if (status == STATUS_OK)
            BUG_IF(XXH3_64bits_update(state, block, len) != XXH_OK, "hash state");
        done += len;
    }
    if (status == STATUS_OK && XXH3_64bits_digest(state) != entry->checksum)
        status = diag_error(sink, DIAG_X0013, at(artifact, entry->offset),
                            "the weights (%llu bytes) are damaged",
                            (unsigned long long)entry->len_bytes);
    free(state);
    free(block);
    return status;
}

const SectionEntry *artifact_find_section(const Artifact *artifact, SectionKind kind, uint32_t tag,
                                          const uint8_t **out_data) {
    for (uint32_t i = 0; i < artifact->num_sections; i++) {
        if (artifact->sections[i].kind != kind || artifact->sections[i].tag != tag) continue;
        *out_data = artifact->data[i];
        return &artifact->sections[i];
    }
    return NULL;
}

const char *artifact_string(const Artifact *artifact, uint32_t offset) {
    BUG_IF(offset >= artifact->sections[artifact->strings_section].len_bytes,
           "string offset %u was not checked", offset);
    return (const char *)artifact->data[artifact->strings_section] + offset;
}

const char *artifact_set_by(const Artifact *artifact, const char *line) {
    for (uint64_t i = 0; i < artifact->plan->memory.count; i++)
        if (str_equal(artifact_string(artifact, artifact->memory[i].name), line))
            return artifact_string(artifact, artifact->memory[i].set_by);
    return "";
}

uint32_t artifact_largest_bucket(const Artifact *artifact) {
    uint64_t last = artifact->plan->entries.count - 1;
    while (artifact->entries[last].is_batch) last--; // the first one is none
    return artifact->entries[last].bucket_tokens;
}

int64_t artifact_bucket(const Artifact *artifact, const PlanEntry *entry, uint32_t name) {
    const PlanPort *ports = artifact->ports + entry->first_port;
    for (uint32_t i = 0; i < entry->num_ports; i++)
        for (uint32_t d = 0; ports[i].kind == PORT_ARGUMENT && d < ports[i].rank; d++)
            if (ports[i].dim_names[d] == name) return ports[i].dims[d];
    return -1;
}

PlanMemory artifact_memory(const Artifact *artifact) {
    return plan_memory(artifact->plan, artifact->sections, artifact->num_sections);
}

// Appends the features of required that the host lacks.
static void list_missing(StrBuf *out, uint32_t required, uint32_t host_features) {
    for (unsigned i = 0; i < NUM_CPU_FEATURES; i++)
        if ((required & ~host_features) >> i & 1)
            strbuf_printf(out, "%s%s", out->len ? " " : "", cpu_feature_name((CpuFeature)i));
}

static Status lacks_feature(const Artifact *artifact, const PlanLevel *level, bool is_least,
                            uint32_t host_features, DiagSink *sink) {
    StrBuf missing = {0};
    list_missing(&missing, level->required_features, host_features);
    Status status = diag_error(sink, DIAG_X0007, at(artifact, 0),
                               "this processor cannot run the artifact's %s %s: it lacks %s",
                               is_least ? "least CPU level" : "CPU level",
                               artifact_string(artifact, level->name), missing.data);
    (void)status;
    strbuf_deinit(&missing);
    return STATUS_ENVIRONMENT;
}

Status artifact_pick_level(const Artifact *artifact, const char *name, uint32_t host_features,
                           DiagSink *sink, uint32_t *out_level) {
    uint64_t num_levels = artifact->plan->levels.count;
    CpuLevel wanted = CPU_LEVEL_V3;
    bool is_forced = name && !str_equal(name, "native");
    if (is_forced && !cpu_level_find(name, &wanted)) {
        const char *names[NUM_CPU_LEVELS];
        for (unsigned i = 0; i < NUM_CPU_LEVELS; i++) names[i] = cpu_level_info((CpuLevel)i)->name;
        const char *nearest = str_nearest(name, names, NUM_CPU_LEVELS);
        Status status =
            diag_error(sink, DIAG_U0004, (DiagSpan){0}, "no CPU level is called '%s'", name);
        (void)status;
        if (nearest) diag_write(sink, "%s", nearest);
        return STATUS_USAGE;
    }
    StrBuf known = {0};
    for (uint64_t i = num_levels; i-- > 0;) {
        const PlanLevel *level = &artifact->levels[i];
        strbuf_printf(&known, "%s%s", known.len ? ", " : "",
                      artifact_string(artifact, level->name));
        if (is_forced && level->cpu_level != (uint32_t)wanted) continue;
        bool runs = (host_features & level->required_features) == level->required_features;
        if (!runs && !is_forced && i > 0) continue;
        strbuf_deinit(&known);
        if (!runs) return lacks_feature(artifact, level, !is_forced, host_features, sink);
        *out_level = (uint32_t)i;
        return STATUS_OK;
    }
    Status status = diag_error(sink, DIAG_X0008, at(artifact, 0),
                               "the artifact has no code for CPU level %s", name);
    diag_evidence(sink, "its levels, best first: %s", known.data);
    strbuf_deinit(&known);
    return status;
}
