// An artifact as `ingot inspect` shows it: what was compiled, memory to the byte, entries, kernels.
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "abi/dtype.h"
#include "cli/inspect.h"
#include "cli/memory_table.h"
#include "cli/tensor_files.h"
#include "cli/size_use.h"
#include "runtime/tensor_call.h"

static uint64_t code_bytes(const Artifact *artifact, uint64_t level, uint64_t kernel) {
    return artifact->kernel_code[level * artifact->plan->kernels.count + kernel].len_bytes;
}

// The lines as the compiler wrote them: opening has compared them with what will be taken.
static MemoryTable memory_of(const Artifact *artifact) {
    const PlanHeader *plan = artifact->plan;
    MemoryTable table = {.total_bytes = artifact_memory(artifact).total_bytes,
                         .kv_bytes = plan->kv_bytes,
                         .page_len_tokens = plan->page_len_tokens,
                         .max_pages = plan->max_pages,
                         .num_pages = plan->num_pages,
                         .max_sequences = plan->max_sequences};
    for (uint64_t i = 0; i < plan->memory.count; i++) {
        const PlanMemoryPart *part = &artifact->memory[i];
        table.lines[table.num_lines++] =
            (MemoryLine){.name = artifact_string(artifact, part->name),
                         .set_by = artifact_string(artifact, part->set_by),
                         .bytes = part->bytes,
                         .is_outside = part->is_outside != 0};
    }
    return table;
}

static void put_levels_json(JsonWriter *json, const Artifact *artifact) {
    json_begin_array(json, "cpu_levels");
    for (uint64_t i = 0; i < artifact->plan->levels.count; i++) {
        const PlanLevel *level = &artifact->levels[i];
        json_begin_object(json, NULL);
        json_put_string(json, "name", artifact_string(artifact, level->name));
        json_put_uint(json, "code_bytes", artifact->sections[level->section].len_bytes);
        json_put_bool(json, "runs_here",
                      (cpu_host_features() & level->required_features) == level->required_features);
        json_end_object(json);
    }
    json_end_array(json);
}

static bool varies(const Artifact *artifact, const PlanPort *port) {
    bool any = false;
    for (uint32_t d = 0; d < port->rank; d++)
        any |= *artifact_string(artifact, port->dim_names[d]) != 0;
    return any;
}

static void put_ports_json(JsonWriter *json, const Artifact *artifact, const PlanEntry *entry,
                           bool is_result) {
    const PlanPortKind kind = is_result ? PORT_RESULT : PORT_ARGUMENT;
    json_begin_array(json, is_result ? "results" : "arguments");
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &artifact->ports[entry->first_port + i];
        if (port->kind != (uint32_t)kind) continue;
        json_begin_object(json, NULL);
        json_put_string(json, "name", artifact_string(artifact, port->name));
        json_put_string(json, "type", dtype_info((Dtype)port->dtype)->name);
        json_begin_array(json, "shape");
        for (uint32_t d = 0; d < port->rank; d++) json_put_int(json, NULL, port->dims[d]);
        json_end_array(json);
        if (varies(artifact, port)) {
            json_begin_array(json, "dims");
            for (uint32_t d = 0; d < port->rank; d++)
                json_put_string(json, NULL, artifact_string(artifact, port->dim_names[d]));
            json_end_array(json);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

// What each size of an entry is there, at most PLAN_MAX_SIZES.
static uint32_t read_sizes(const Artifact *artifact, const PlanEntry *entry, SizeUse *out) {
    uint32_t num = 0;
    for (uint32_t i = 0; i < artifact->num_sizes; i++) {
        const PlanSize *size = &artifact->sizes[i];
        if (size->entry != entry->name) continue;
        int64_t bucket = artifact_bucket(artifact, entry, size->name);
        if (bucket < 0) continue;
        out[num++] = (SizeUse){.name = artifact_string(artifact, size->name),
                               .set_by = artifact_string(artifact, size->at),
                               .least = bucket_range_least(&size->range, bucket),
                               .bucket = bucket,
                               .largest = size->range.max,
                               .range = size->range};
    }
    return num;
}

static void put_entries_json(JsonWriter *json, const Artifact *artifact) {
    json_begin_array(json, "entries");
    for (uint64_t i = 0; i < artifact->plan->entries.count; i++) {
        const PlanEntry *entry = &artifact->entries[i];
        json_begin_object(json, NULL);
        json_put_string(json, "name", artifact_string(artifact, entry->name));
        json_put_uint(json, "bucket_tokens", entry->bucket_tokens);
        if (entry->is_batch) json_put_uint(json, "sequences", entry->bucket_tokens);
        json_put_uint(json, "num_steps", entry->num_steps);
        if (artifact->plan->vocab_size == 0) {
            put_ports_json(json, artifact, entry, false);
            put_ports_json(json, artifact, entry, true);
            SizeUse sizes[PLAN_MAX_SIZES];
            size_use_put_json(sizes, read_sizes(artifact, entry, sizes), json);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_kernels_json(JsonWriter *json, const Artifact *artifact) {
    json_begin_array(json, "kernels");
    for (uint64_t k = 0; k < artifact->plan->kernels.count; k++) {
        const PlanKernel *kernel = &artifact->kernels[k];
        json_begin_object(json, NULL);
        json_put_string(json, "name", artifact_string(artifact, kernel->name));
        json_put_string(json, "kind", artifact_string(artifact, kernel->kind));
        json_put_uint(json, "num_buffers", kernel->num_buffers);
        json_put_uint(json, "num_scalars", kernel->num_scalars);
        uint64_t num_steps = 0;
        for (uint64_t s = 0; s < artifact->plan->steps.count; s++)
            num_steps += artifact->steps[s].kernel == k;
        json_put_uint(json, "num_steps", num_steps);
        json_begin_object(json, "code_bytes");
        for (uint64_t level = 0; level < artifact->plan->levels.count; level++)
            json_put_uint(json, artifact_string(artifact, artifact->levels[level].name),
                          code_bytes(artifact, level, k));
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
}

// What the compiler wrote about its work: an object, put in as it is.
static void put_manifest(JsonWriter *json, const Artifact *artifact) {
    const uint8_t *text;
    const SectionEntry *section = artifact_find_section(artifact, SECTION_MANIFEST, 0, &text);
    if (!section) return;
    json_t *manifest = json_loadb((const char *)text, section->len_bytes, 0, NULL);
    char *compact = manifest ? json_dumps(manifest, JSON_COMPACT) : NULL;
    if (compact)
        json_put_raw(json, "manifest", compact);
    else
        json_put_null(json, "manifest");
    free(compact);
    json_decref(manifest);
}

void inspect_put_json(const Artifact *artifact, bool is_verified, StrBuf *out) {
    const PlanHeader *plan = artifact->plan;
    JsonWriter json = {.out = out};
    json_begin_document(&json, "ingot-inspect-artifact");
    json_put_string(&json, "model_name", artifact_string(artifact, plan->model_name));
    json_put_uint(&json, "artifact_version", ARTIFACT_VERSION);
    json_put_uint(&json, "file_bytes", artifact->file_len_bytes);
    json_put_bool(&json, "weights_verified", is_verified);
    json_put_uint(&json, "vocab_size", plan->vocab_size);
    json_put_uint(&json, "context_len_tokens", plan->context_len_tokens);
    json_put_uint(&json, "page_len_tokens", plan->page_len_tokens);
    json_put_uint(&json, "max_pages", plan->max_pages);
    json_put_uint(&json, "max_threads", plan->max_threads);
    MemoryTable memory = memory_of(artifact);
    memory_table_put_json(&memory, &json);
    put_levels_json(&json, artifact);
    put_entries_json(&json, artifact);
    json_put_uint(&json, "num_kernels", plan->kernels.count);
    put_kernels_json(&json, artifact);
    put_manifest(&json, artifact);
    json_end_object(&json);
}

static void put_as_json(const Artifact *artifact, bool is_verified) {
    StrBuf out = {0};
    inspect_put_json(artifact, is_verified, &out);
    put_document(&out);
}

static void put_ports(StrBuf *out, const Artifact *artifact, const PlanEntry *entry,
                      bool is_result) {
    const PlanPortKind kind = is_result ? PORT_RESULT : PORT_ARGUMENT;
    bool any = false;
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &artifact->ports[entry->first_port + i];
        if (port->kind != (uint32_t)kind) continue;
        IngotTensor tensor = tensor_of_port(artifact, port);
        strbuf_printf(out, "%s%s: ", any ? ", " : "", tensor.name);
        put_tensor_type(out, &tensor);
        any = true;
    }
}

// "main(x: 8x16xf32) -> (result0: 8x32xf32), 3 steps"
static void put_entry(StrBuf *out, const Artifact *artifact, uint64_t number) {
    const PlanEntry *entry = &artifact->entries[number];
    if (artifact->plan->vocab_size) {
        strbuf_printf(out, "  %-18s up to %4u %s, %u steps\n",
                      artifact_string(artifact, entry->name), entry->bucket_tokens,
                      entry->is_batch ? "sequences" : "tokens", entry->num_steps);
        return;
    }
    strbuf_printf(out, "  %s(", artifact_string(artifact, entry->name));
    put_ports(out, artifact, entry, false);
    strbuf_puts(out, ") -> (");
    put_ports(out, artifact, entry, true);
    strbuf_printf(out, "), %u steps", entry->num_steps);
    SizeUse sizes[PLAN_MAX_SIZES];
    size_use_put_text(sizes, read_sizes(artifact, entry, sizes), out);
    strbuf_putc(out, '\n');
}

static void put_as_text(const Cli *cli, const Artifact *artifact, bool is_verified) {
    const PlanHeader *plan = artifact->plan;
    StrBuf out = {0};
    char text[32];
    strbuf_printf(&out, "%s: %s, %s bytes%s\n", artifact->path,
                  artifact_string(artifact, plan->model_name),
                  grouped(artifact->file_len_bytes, text), is_verified ? ", weights verified" : "");
    if (plan->vocab_size)
        strbuf_printf(&out, "context %u tokens in %u pages of %u, vocabulary %u, ",
                      plan->context_len_tokens, plan->max_pages, plan->page_len_tokens,
                      plan->vocab_size);
    strbuf_printf(&out, "up to %u threads\n", plan->max_threads);
    MemoryTable memory = memory_of(artifact);
    memory_table_put_text(&memory, &out);
    strbuf_puts(&out, "\ncpu levels\n");
    for (uint64_t i = 0; i < plan->levels.count; i++) {
        const PlanLevel *level = &artifact->levels[i];
        bool runs = (cpu_host_features() & level->required_features) == level->required_features;
        strbuf_printf(&out, "  %-14s %14s bytes of code%s\n",
                      artifact_string(artifact, level->name),
                      grouped(artifact->sections[level->section].len_bytes, text),
                      runs ? "" : "  (not on this machine)");
    }
    strbuf_puts(&out, "\nentries\n");
    for (uint64_t i = 0; i < plan->entries.count; i++) put_entry(&out, artifact, i);
    strbuf_printf(&out, "\nkernels: %" PRIu64 "\n", plan->kernels.count);
    for (uint64_t k = 0; k < plan->kernels.count && args_has(&cli->args, OPT_ALL); k++) {
        strbuf_printf(&out, "  %-40s %-28s", artifact_string(artifact, artifact->kernels[k].name),
                      artifact_string(artifact, artifact->kernels[k].kind));
        for (uint64_t level = 0; level < plan->levels.count; level++)
            strbuf_printf(&out, " %7" PRIu64, code_bytes(artifact, level, k));
        strbuf_putc(&out, '\n');
    }
    put_document(&out);
}

Status inspect_artifact(Cli *cli, const char *path) {
    Artifact artifact;
    TRY(artifact_open(path, &cli->sink, &artifact));
    Status status = STATUS_OK;
    bool is_verified = args_has(&cli->args, OPT_VERIFY);
    if (is_verified) status = artifact_verify_weights(&artifact, &cli->sink);
    if (status == STATUS_OK) {
        if (cli->is_json)
            put_as_json(&artifact, is_verified);
        else
            put_as_text(cli, &artifact, is_verified);
    }
    artifact_close(&artifact);
    return status;
}
