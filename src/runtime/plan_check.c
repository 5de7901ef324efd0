// Checks a plan against its tables, its spaces and the other sections, so that the executor may
// index without checking: nothing in a plan that passes points outside. Part of artifact_open.
#include <string.h>

#include "abi/dtype.h"
#include "abi/fault.h"
#include "abi/kernel_abi.h"
#include "runtime/artifact.h"

enum {
    MAX_TILES_FACTOR = 1 << 30,
    MAX_KERNEL_OPERANDS = 4096,
    MAX_KERNELS = 1 << 16,
    MAX_ENTRY_PORTS = 4096,
    ALL_CPU_FEATURES = (1 << NUM_CPU_FEATURES) - 1,
};
#define MAX_TILES ((int64_t)1 << 40)

// A place in the plan section.
static DiagSpan plan_at(const Artifact *artifact, uint64_t offset) {
    return (DiagSpan){.file = artifact->path,
                      .byte_offset = artifact->sections[artifact->plan_section].offset + offset};
}

// The place of element i of a table.
static DiagSpan elem_at(const Artifact *artifact, PlanTable table, uint64_t i,
                        uint64_t elem_bytes) {
    return plan_at(artifact, table.offset + i * elem_bytes);
}

static bool is_range(uint64_t first, uint64_t count, uint64_t limit) {
    return first <= limit && count <= limit - first;
}

static bool is_string(const Artifact *artifact, uint32_t offset) {
    uint64_t len = artifact->sections[artifact->strings_section].len_bytes;
    if (offset >= len) return false;
    const char *text = (const char *)artifact->data[artifact->strings_section] + offset;
    return strnlen(text, PLAN_MAX_NAME_BYTES + 1) <= PLAN_MAX_NAME_BYTES;
}

static Status check_strings(const Artifact *artifact, DiagSink *sink) {
    const SectionEntry *entry = &artifact->sections[artifact->strings_section];
    if (entry->len_bytes == 0 ||
        artifact->data[artifact->strings_section][entry->len_bytes - 1] != 0)
        return diag_error(sink, DIAG_X0005,
                          (DiagSpan){.file = artifact->path, .byte_offset = entry->offset},
                          "the strings do not end with a NUL");
    return STATUS_OK;
}

// Checks that a table lies in the section and returns its elements; NULL if it does not.
static const void *table_elems(const Artifact *artifact, const PlanTable *table,
                               uint64_t elem_bytes) {
    const SectionEntry *entry = &artifact->sections[artifact->plan_section];
    uint64_t bytes;
    if (table->offset % 8 != 0 || table->offset < sizeof(PlanHeader) ||
        !size_mul(table->count, elem_bytes, &bytes) ||
        !is_range(table->offset, bytes, entry->len_bytes) || table->count > UINT32_MAX)
        return NULL;
    return artifact->data[artifact->plan_section] + table->offset;
}

static Status find_tables(Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    artifact->levels = table_elems(artifact, &plan->levels, sizeof(PlanLevel));
    artifact->kernels = table_elems(artifact, &plan->kernels, sizeof(PlanKernel));
    artifact->kernel_code = table_elems(artifact, &plan->kernel_code, sizeof(PlanKernelCode));
    artifact->entries = table_elems(artifact, &plan->entries, sizeof(PlanEntry));
    artifact->steps = table_elems(artifact, &plan->steps, sizeof(PlanStep));
    artifact->buffers = table_elems(artifact, &plan->buffers, sizeof(PlanBuffer));
    artifact->scalars = table_elems(artifact, &plan->scalars, sizeof(PlanScalar));
    artifact->memory = table_elems(artifact, &plan->memory, sizeof(PlanMemoryPart));
    artifact->ports = table_elems(artifact, &plan->ports, sizeof(PlanPort));
    artifact->checks = table_elems(artifact, &plan->checks, sizeof(PlanCheck));
    if (!artifact->levels || !artifact->kernels || !artifact->kernel_code || !artifact->entries ||
        !artifact->steps || !artifact->buffers || !artifact->scalars || !artifact->memory ||
        !artifact->ports || !artifact->checks)
        return diag_error(sink, DIAG_X0006, plan_at(artifact, offsetof(PlanHeader, levels)),
                          "a table does not lie in the plan");
    if (plan->levels.count == 0 || plan->entries.count == 0 ||
        (plan->vocab_size && plan->kernels.count == 0) || plan->levels.count > NUM_CPU_LEVELS ||
        plan->kernels.count > MAX_KERNELS || plan->memory.count > PLAN_MAX_MEMORY_LINES ||
        plan->kernel_code.count != plan->levels.count * plan->kernels.count)
        return diag_error(sink, DIAG_X0006, plan_at(artifact, offsetof(PlanHeader, levels)),
                          "the tables' lengths do not fit each other");
    return STATUS_OK;
}

static Status check_header(Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    DiagSpan span = plan_at(artifact, 0);
    if (plan->max_threads == 0 || plan->max_threads > PLAN_MAX_THREADS || plan->reserved != 0)
        return diag_error(sink, DIAG_X0006, span, "%u worker threads", plan->max_threads);
    if (plan->vocab_size > INT32_MAX)
        return diag_error(sink, DIAG_X0006, span, "a vocabulary of %u tokens", plan->vocab_size);
    bool has_context = plan->page_len_tokens != 0 && plan->max_pages != 0;
    if (has_context != (plan->vocab_size != 0) || plan->context_len_tokens > INT32_MAX ||
        (uint64_t)plan->page_len_tokens * plan->max_pages != plan->context_len_tokens)
        return diag_error(sink, DIAG_X0006, span, "%u pages of %u tokens are not a context of %u",
                          plan->max_pages, plan->page_len_tokens, plan->context_len_tokens);
    if (plan->max_sequences > PLAN_MAX_SEQUENCES || has_context != (plan->max_sequences != 0) ||
        plan->num_pages < plan->max_pages ||
        plan->num_pages > (uint64_t)plan->max_pages * plan->max_sequences)
        return diag_error(sink, DIAG_X0006, span, "%u pages for %u sequences", plan->num_pages,
                          plan->max_sequences);
    const uint64_t sizes[] = {plan->weights_bytes, plan->arena_bytes,  plan->kv_bytes,
                              plan->scratch_bytes, plan->io_bytes,     plan->runtime_bytes,
                              plan->ports_bytes,   plan->reserve_bytes};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (sizes[i] > PLAN_MAX_SPACE_BYTES)
            return diag_error(sink, DIAG_X0006, span, "a memory space of %llu bytes",
                              (unsigned long long)sizes[i]);
    if (plan->weights_bytes != artifact->sections[artifact->weights_section].len_bytes)
        return diag_error(sink, DIAG_X0006, span, "the plan counts other weights than there are");
    if (!is_string(artifact, plan->model_name))
        return diag_error(sink, DIAG_X0006, span, "the model's name lies outside the strings");
    return STATUS_OK;
}

static Status check_levels(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t i = 0; i < plan->levels.count; i++) {
        const PlanLevel *level = &artifact->levels[i];
        DiagSpan span = elem_at(artifact, plan->levels, i, sizeof *level);
        if (level->cpu_level >= NUM_CPU_LEVELS ||
            (i > 0 && level->cpu_level <= artifact->levels[i - 1].cpu_level))
            return diag_error(sink, DIAG_X0006, span, "CPU levels are unknown or out of order");
        uint32_t needs = cpu_level_info((CpuLevel)level->cpu_level)->required;
        if ((level->required_features & ~(uint32_t)ALL_CPU_FEATURES) != 0 ||
            (level->required_features & needs) != needs)
            return diag_error(sink, DIAG_X0006, span, "a CPU level does not name what it requires");
        if (level->section >= artifact->num_sections ||
            artifact->sections[level->section].kind != SECTION_CODE ||
            artifact->sections[level->section].tag != level->cpu_level)
            return diag_error(sink, DIAG_X0006, span, "a CPU level's code is not there");
        if (!is_string(artifact, level->name))
            return diag_error(sink, DIAG_X0006, span,
                              "a CPU level's name lies outside the strings");
    }
    return STATUS_OK;
}

static Status check_kernels(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t k = 0; k < plan->kernels.count; k++) {
        const PlanKernel *kernel = &artifact->kernels[k];
        DiagSpan span = elem_at(artifact, plan->kernels, k, sizeof *kernel);
        if (!is_string(artifact, kernel->name) || !is_string(artifact, kernel->kind))
            return diag_error(sink, DIAG_X0006, span, "a kernel's name lies outside the strings");
        if (kernel->num_buffers > MAX_KERNEL_OPERANDS || kernel->num_scalars > MAX_KERNEL_OPERANDS)
            return diag_error(sink, DIAG_X0006, span, "a kernel of %u buffers and %u scalars",
                              kernel->num_buffers, kernel->num_scalars);
        for (uint64_t i = 0; i < plan->levels.count; i++) {
            const PlanKernelCode *code = &artifact->kernel_code[i * plan->kernels.count + k];
            uint64_t limit = artifact->sections[artifact->levels[i].section].len_bytes;
            if (code->len_bytes == 0 || !is_range(code->offset, code->len_bytes, limit))
                return diag_error(sink, DIAG_X0006, span,
                                  "a kernel's code lies outside its section");
        }
    }
    return STATUS_OK;
}

static Status check_entries(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t i = 0; i < plan->entries.count; i++) {
        const PlanEntry *entry = &artifact->entries[i];
        DiagSpan span = elem_at(artifact, plan->entries, i, sizeof *entry);
        const PlanEntry *before = i > 0 ? &artifact->entries[i - 1] : NULL;
        bool is_model = plan->vocab_size != 0;
        uint32_t most = entry->is_batch ? plan->max_sequences : plan->context_len_tokens;
        if (is_model != (entry->bucket_tokens != 0) || entry->bucket_tokens > most ||
            (is_model && before && before->is_batch == entry->is_batch &&
             entry->bucket_tokens <= before->bucket_tokens))
            return diag_error(sink, DIAG_X0006, span,
                              "buckets are out of order or beyond the context");
        if (entry->is_batch > 1 || (entry->is_batch && (!is_model || !before)) ||
            (before && before->is_batch > entry->is_batch))
            return diag_error(sink, DIAG_X0006, span, "entries of batches are not the last");
        uint32_t largest = entry->is_batch ? entry->bucket_tokens : 1; // of the last entry
        if (is_model && i + 1 == plan->entries.count && largest != plan->max_sequences)
            return diag_error(sink, DIAG_X0006, span, "no entry takes %u sequences",
                              plan->max_sequences);
        if (!is_range(entry->first_port, entry->num_ports, plan->ports.count) ||
            (is_model && entry->num_ports != 0))
            return diag_error(sink, DIAG_X0006, span, "an entry's ports lie outside their table");
        if ((is_model && entry->num_steps == 0) || entry->num_head_steps > entry->num_steps ||
            entry->repeats_head > (entry->num_head_steps > 0) ||
            !is_range(entry->first_step, entry->num_steps, plan->steps.count))
            return diag_error(sink, DIAG_X0006, span, "an entry's steps lie outside their table");
        if (!is_string(artifact, entry->name))
            return diag_error(sink, DIAG_X0006, span, "an entry's name lies outside the strings");
    }
    return STATUS_OK;
}

static bool is_scalar(const PlanScalar *scalar) {
    return scalar->kind <= SCALAR_START && scalar->reserved == 0;
}

// Largest value a scalar takes in any call; constants are their own.
static int64_t scalar_limit(const Artifact *artifact, const PlanScalar *scalar) {
    if (scalar->kind == SCALAR_CONST) return scalar->value;
    const PlanHeader *plan = artifact->plan;
    return scalar->kind == SCALAR_NUM_VALID
               ? (int64_t)MAX(artifact_largest_bucket(artifact), plan->max_sequences)
               : (int64_t)plan->context_len_tokens;
}

static Status check_steps(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t i = 0; i < plan->steps.count; i++) {
        const PlanStep *step = &artifact->steps[i];
        DiagSpan span = elem_at(artifact, plan->steps, i, sizeof *step);
        if (step->kernel >= plan->kernels.count)
            return diag_error(sink, DIAG_X0006, span, "a step names kernel %u of %llu",
                              step->kernel, (unsigned long long)plan->kernels.count);
        const PlanKernel *kernel = &artifact->kernels[step->kernel];
        if (!is_range(step->first_buffer, kernel->num_buffers, plan->buffers.count) ||
            !is_range(step->first_scalar, kernel->num_scalars, plan->scalars.count))
            return diag_error(sink, DIAG_X0006, span, "a step's operands lie outside their tables");
        if (step->needs_barrier > 1 || step->every_worker > 1 || step->reserved != 0)
            return diag_error(sink, DIAG_X0006, span, "a step's marks are neither 0 nor 1");
        if (!is_scalar(&step->tiles_of) || step->tiles_div < 1 ||
            step->tiles_div > MAX_TILES_FACTOR || step->tiles_mul < 0 ||
            step->tiles_mul > MAX_TILES_FACTOR)
            return diag_error(sink, DIAG_X0006, span, "a step's tile count is malformed");
        int64_t limit = scalar_limit(artifact, &step->tiles_of);
        if (limit < 0 || limit > PLAN_MAX_TILES ||
            step->tiles_mul * ((limit + step->tiles_div - 1) / step->tiles_div) > MAX_TILES)
            return diag_error(sink, DIAG_X0006, span, "a step has too many tiles");
    }
    return STATUS_OK;
}

static uint64_t space_limit(const Artifact *artifact, uint32_t space) {
    const PlanHeader *plan = artifact->plan;
    switch ((PlanSpace)space) {
    case SPACE_WEIGHTS: return plan->weights_bytes;
    case SPACE_ARENA: return plan->arena_bytes;
    case SPACE_KV: return plan->kv_bytes;
    case SPACE_SCRATCH: return plan->scratch_bytes;
    case SPACE_TOKENS: return artifact->io.tokens_bytes;
    case SPACE_STARTS: return artifact->io.starts_bytes;
    case SPACE_PAGES: return artifact->io.pages_bytes;
    case SPACE_LOGITS: return artifact->io.logits_bytes;
    case SPACE_PORTS: return artifact->io.ports_bytes;
    case NUM_PLAN_SPACES: break;
    }
    return 0;
}

static Status check_operands(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t i = 0; i < plan->buffers.count; i++) {
        const PlanBuffer *buffer = &artifact->buffers[i];
        DiagSpan span = elem_at(artifact, plan->buffers, i, sizeof *buffer);
        if (buffer->space >= NUM_PLAN_SPACES || buffer->reserved != 0)
            return diag_error(sink, DIAG_X0006, span, "a buffer is in memory space %u",
                              buffer->space);
        if (buffer->offset % PLAN_BUFFER_ALIGN_BYTES != 0)
            return diag_error(sink, DIAG_X0006, span, "a buffer at offset %llu is not aligned",
                              (unsigned long long)buffer->offset);
        if (!is_range(buffer->offset, buffer->len_bytes, space_limit(artifact, buffer->space)))
            return diag_error(sink, DIAG_X0006, span, "a buffer reaches beyond memory space %u",
                              buffer->space);
        // Any page that is free may be used, of every cache.
        if (buffer->space == SPACE_KV &&
            (plan->kv_page_bytes == 0 ||
             buffer->len_bytes / plan->kv_page_bytes != plan->num_pages ||
             buffer->len_bytes % plan->kv_page_bytes != 0))
            return diag_error(sink, DIAG_X0006, span, "a KV cache that is not of %u pages",
                              plan->num_pages);
    }
    for (uint64_t i = 0; i < plan->scalars.count; i++)
        if (!is_scalar(&artifact->scalars[i]))
            return diag_error(sink, DIAG_X0006,
                              elem_at(artifact, plan->scalars, i, sizeof(PlanScalar)),
                              "a scalar is of unknown kind");
    return STATUS_OK;
}

static bool is_port_shape(const Artifact *artifact, const PlanPort *port) {
    if (port->rank > PLAN_MAX_RANK || port->dtype >= NUM_DTYPES) return false;
    uint64_t bytes = dtype_info((Dtype)port->dtype)->bytes;
    for (uint32_t d = 0; d < PLAN_MAX_RANK; d++) {
        if (!is_string(artifact, port->dim_names[d])) return false;
        if (d >= port->rank && port->dims[d] != 0) return false;
        if (d < port->rank &&
            (port->dims[d] < 0 || !size_mul(bytes, (uint64_t)port->dims[d], &bytes)))
            return false;
    }
    return bytes == port->len_bytes;
}

// A count is one index.
static bool is_count_shape(const PlanPort *port) {
    return port->kind != PORT_COUNT || (port->rank == 0 && port->len_bytes == sizeof(int64_t));
}

// The size of this name of an entry; NULL: there is none.
static const PlanSize *find_size(const Artifact *artifact, const PlanEntry *entry, uint32_t name) {
    for (uint32_t i = 0; i < artifact->num_sizes; i++)
        if (artifact->sizes[i].entry == entry->name && artifact->sizes[i].name == name)
            return &artifact->sizes[i];
    return NULL;
}

static Status check_sizes(Artifact *artifact, DiagSink *sink) {
    const uint8_t *data;
    const SectionEntry *section = artifact_find_section(artifact, SECTION_SIZES, 0, &data);
    if (!section || section->len_bytes == 0) return STATUS_OK;
    DiagSpan span = {.file = artifact->path, .byte_offset = section->offset};
    bool is_model = artifact->plan->vocab_size != 0;
    if (section->len_bytes % sizeof(PlanSize) != 0 || section->len_bytes > 1 << 18)
        return diag_error(sink, DIAG_X0006, span, "the sizes of entries are no table");
    artifact->sizes = (const PlanSize *)data;
    artifact->num_sizes = (uint32_t)(section->len_bytes / sizeof(PlanSize));
    for (uint32_t i = 0; i < artifact->num_sizes; i++) {
        const PlanSize *size = &artifact->sizes[i];
        if (!is_string(artifact, size->entry) || !is_string(artifact, size->name) ||
            !is_string(artifact, size->at) || size->reserved != 0 ||
            !bucket_range_is_valid(&size->range))
            return diag_error(sink, DIAG_X0006, span, "size %u of an entry is malformed", i);
        if (is_model && *artifact_string(artifact, size->entry))
            return diag_error(sink, DIAG_X0006, span, "size %u is of an entry of its own", i);
        uint32_t num = 0;
        for (uint32_t k = 0; k <= i; k++) num += artifact->sizes[k].entry == size->entry;
        if (num > PLAN_MAX_SIZES)
            return diag_error(sink, DIAG_X0006, span, "an entry has more than %d sizes",
                              PLAN_MAX_SIZES);
    }
    return STATUS_OK;
}

// Has an entry all sizes of relation `number`?
static bool is_of_an_entry(const Artifact *artifact, uint32_t number) {
    for (uint32_t i = 0; i < artifact->num_sizes; i++) {
        RelationSize names[PLAN_MAX_SIZES];
        uint32_t num = 0;
        for (uint32_t k = 0; k < artifact->num_sizes; k++)
            if (artifact->sizes[k].entry == artifact->sizes[i].entry)
                names[num++] =
                    (RelationSize){artifact_string(artifact, artifact->sizes[k].name), 1};
        if (relation_is_about(&artifact->parsed_relations[number], names, num)) return true;
    }
    return false;
}

static Status check_relations(Artifact *artifact, DiagSink *sink) {
    const uint8_t *data;
    const SectionEntry *section = artifact_find_section(artifact, SECTION_RELATIONS, 0, &data);
    if (!section || section->len_bytes == 0) return STATUS_OK;
    DiagSpan span = {.file = artifact->path, .byte_offset = section->offset};
    uint64_t num = section->len_bytes / sizeof(PlanRelation);
    if (section->len_bytes % sizeof(PlanRelation) != 0 || num > RELATION_MAX)
        return diag_error(sink, DIAG_X0006, span, "the relations between sizes are no table");
    artifact->relations = (const PlanRelation *)data;
    artifact->num_relations = (uint32_t)num;
    for (uint32_t i = 0; i < num; i++) {
        const PlanRelation *relation = &artifact->relations[i];
        const char *why = "its text is not there";
        if (!is_string(artifact, relation->text) || !is_string(artifact, relation->at) ||
            !relation_parse(artifact_string(artifact, relation->text),
                            &artifact->parsed_relations[i], &why))
            return diag_error(sink, DIAG_X0006, span, "relation %u is malformed: %s", i, why);
        if (!artifact->plan->vocab_size && !is_of_an_entry(artifact, i))
            return diag_error(sink, DIAG_X0006, span, "relation %u is about no entry", i);
    }
    return STATUS_OK;
}

// Names of dimensions and counts are sizes of the entry, and everywhere the same bucket.
static bool has_known_names(const Artifact *artifact, const PlanEntry *entry,
                            const PlanPort *port) {
    for (uint32_t d = 0; d < port->rank; d++)
        if (*artifact_string(artifact, port->dim_names[d]) &&
            (!find_size(artifact, entry, port->dim_names[d]) ||
             artifact_bucket(artifact, entry, port->dim_names[d]) != port->dims[d]))
            return false;
    return port->kind != PORT_COUNT || (find_size(artifact, entry, port->name) &&
                                        artifact_bucket(artifact, entry, port->name) >= 0);
}

// Two arguments, or two results, must not be called alike: a name finds one port.
static bool is_name_taken(const Artifact *artifact, const PlanEntry *entry, uint32_t number) {
    const PlanPort *ports = artifact->ports + entry->first_port;
    for (uint32_t i = 0; i < number; i++)
        if (ports[i].kind == ports[number].kind &&
            strcmp(artifact_string(artifact, ports[i].name),
                   artifact_string(artifact, ports[number].name)) == 0)
            return true;
    return false;
}

static Status check_ports(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t i = 0; i < plan->ports.count; i++) {
        const PlanPort *port = &artifact->ports[i];
        DiagSpan span = elem_at(artifact, plan->ports, i, sizeof *port);
        if (!is_string(artifact, port->name) || port->kind >= NUM_PORT_KINDS ||
            !is_port_shape(artifact, port) || !is_count_shape(port))
            return diag_error(sink, DIAG_X0006, span, "a port is malformed");
        if (port->offset % PLAN_BUFFER_ALIGN_BYTES != 0 ||
            !is_range(port->offset, port->len_bytes, plan->ports_bytes))
            return diag_error(sink, DIAG_X0006, span, "a port reaches beyond its space");
    }
    for (uint64_t e = 0; e < plan->entries.count; e++) {
        const PlanEntry *entry = &artifact->entries[e];
        if (entry->num_ports > MAX_ENTRY_PORTS)
            return diag_error(sink, DIAG_X0006, elem_at(artifact, plan->entries, e, sizeof *entry),
                              "an entry has %u ports", entry->num_ports);
        for (uint32_t i = 0; i < entry->num_ports; i++)
            if (is_name_taken(artifact, entry, i) ||
                !has_known_names(artifact, entry, &artifact->ports[entry->first_port + i]))
                return diag_error(sink, DIAG_X0006,
                                  elem_at(artifact, plan->entries, e, sizeof *entry),
                                  "two ports of an entry have one name, or a size has none");
    }
    return STATUS_OK;
}

static Status check_checks(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    for (uint64_t i = 0; i < plan->checks.count; i++) {
        const PlanCheck *check = &artifact->checks[i];
        if (check->kind < NUM_FAULT_KINDS && is_string(artifact, check->op) &&
            is_string(artifact, check->text) && is_string(artifact, check->file))
            continue;
        return diag_error(sink, DIAG_X0006, elem_at(artifact, plan->checks, i, sizeof *check),
                          "a check is of unknown kind, or its texts lie outside the strings");
    }
    return STATUS_OK;
}

// The memory table is what the user was told: its lines must be what will be taken, part by part.
static Status check_memory(const Artifact *artifact, DiagSink *sink) {
    const PlanHeader *plan = artifact->plan;
    PlanMemory memory = artifact_memory(artifact);
    uint64_t num_inside = 0;
    for (uint64_t i = 0; i < plan->memory.count; i++) {
        const PlanMemoryPart *part = &artifact->memory[i];
        if (!is_string(artifact, part->name) || !is_string(artifact, part->set_by) ||
            part->is_outside > 1 || part->reserved != 0 || part->bytes > PLAN_MAX_SPACE_BYTES)
            return diag_error(sink, DIAG_X0006, elem_at(artifact, plan->memory, i, sizeof *part),
                              "a line of the memory table is malformed");
        if (part->is_outside) continue;
        uint64_t bytes = 0;
        const char *name = num_inside < PLAN_NUM_PARTS
                               ? plan_memory_part(&memory, (unsigned)num_inside, &bytes)
                               : "";
        num_inside++;
        if (!str_equal(artifact_string(artifact, part->name), name) || part->bytes != bytes)
            return diag_error(sink, DIAG_X0006, elem_at(artifact, plan->memory, i, sizeof *part),
                              "the memory table says %llu bytes where the plan takes %llu",
                              (unsigned long long)part->bytes, (unsigned long long)bytes);
    }
    if (num_inside != PLAN_NUM_PARTS)
        return diag_error(sink, DIAG_X0006, plan_at(artifact, plan->memory.offset),
                          "the memory table has %llu lines instead of %d",
                          (unsigned long long)num_inside, PLAN_NUM_PARTS);
    return STATUS_OK;
}

Status artifact_check_plan(Artifact *artifact, DiagSink *sink) {
    const SectionEntry *entry = &artifact->sections[artifact->plan_section];
    TRY(check_strings(artifact, sink));
    if (entry->len_bytes < sizeof(PlanHeader))
        return diag_error(sink, DIAG_X0005, plan_at(artifact, 0),
                          "the plan is shorter than its header");
    const PlanHeader *plan = artifact->plan =
        (const PlanHeader *)artifact->data[artifact->plan_section];
    if (plan->kernel_abi_version != KERNEL_ABI_VERSION) {
        Status status = diag_error(sink, DIAG_X0002, plan_at(artifact, 0),
                                   "kernel interface %u; this Ingot calls interface %u",
                                   plan->kernel_abi_version, (unsigned)KERNEL_ABI_VERSION);
        (void)status;
        return STATUS_ENVIRONMENT;
    }
    TRY(find_tables(artifact, sink));
    TRY(check_header(artifact, sink));
    TRY(check_levels(artifact, sink));
    TRY(check_kernels(artifact, sink));
    TRY(check_entries(artifact, sink));
    artifact->io = plan_io_layout(plan, artifact_largest_bucket(artifact));
    if (plan->io_bytes != artifact->io.io_bytes || plan->runtime_bytes < plan_executor_bytes(plan))
        return diag_error(sink, DIAG_X0006, plan_at(artifact, 0),
                          "input, output or run-time state are not planned as large as they are");
    TRY(check_steps(artifact, sink));
    TRY(check_operands(artifact, sink));
    TRY(check_sizes(artifact, sink));
    TRY(check_relations(artifact, sink));
    TRY(check_ports(artifact, sink));
    TRY(check_checks(artifact, sink));
    return check_memory(artifact, sink);
}
