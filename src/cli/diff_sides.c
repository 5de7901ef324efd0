// Artifacts as sides of `ingot diff`: the document of `ingot inspect`, and of two files where their
// bytes differ.
#include "cli/diff.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "cli/inspect.h"

// ---------------------------------------------------------------- labels

static const char *text(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

// "forward_s8", "main rows=8 cols=16"
static json_t *label_of(const json_t *entry) {
    StrBuf out = {0};
    size_t i;
    const json_t *size;
    strbuf_puts(&out, text(entry, "name"));
    json_array_foreach(json_object_get(entry, "sizes"), i, size)
        strbuf_printf(&out, " %s=%" JSON_INTEGER_FORMAT, text(size, "name"),
                      json_integer_value(json_object_get(size, "bucket")));
    json_t *label = json_stringn(out.data, out.len);
    strbuf_deinit(&out);
    return label;
}

// [at an empty context, at a full one], by name; a module has none.
static void name_times(json_t *entry, const char *key, bool has_context) {
    const json_t *times = json_object_get(entry, key);
    json_t *named = json_object();
    json_object_set(named, has_context ? "empty_context" : "call", json_array_get(times, 0));
    if (has_context) json_object_set(named, "full_context", json_array_get(times, 1));
    json_object_set_new(entry, key, named);
}

// Predictions list the plan's entries in its order.
static void label_predictions(const json_t *predicted, const json_t *entries, bool has_context) {
    size_t p, e;
    json_t *level, *entry;
    json_array_foreach(predicted, p, level) {
        json_array_foreach(json_object_get(level, "entries"), e, entry) {
            json_object_set(entry, "label", json_object_get(json_array_get(entries, e), "label"));
            name_times(entry, "one_thread_ns", has_context);
            name_times(entry, "all_threads_ns", has_context);
        }
    }
}

// "line 12" for "model.gguf.mlir:12": text of equal content may have another name.
static void name_line(json_t *end) {
    const char *loc = text(end, "loc"), *suffix = strstr(loc, ".mlir:");
    if (!suffix) return;
    char line[32];
    snprintf(line, sizeof line, "line %.20s", suffix + strlen(".mlir:"));
    json_object_set_new(end, "loc", json_string(line));
}

void diff_label(json_t *doc) {
    json_t *entries = json_object_get(doc, "entries"), *entry;
    size_t i;
    json_array_foreach(entries, i, entry) json_object_set_new(entry, "label", label_of(entry));
    const json_t *manifest = json_object_get(doc, "manifest");
    bool has_context = json_integer_value(json_object_get(doc, "context_len_tokens")) > 0;
    label_predictions(json_object_get(manifest, "predicted"), entries, has_context);
    const json_t *edges = json_object_get(json_object_get(manifest, "explain"), "edges"), *edge;
    json_array_foreach(edges, i, edge) {
        name_line(json_object_get(edge, "producer"));
        name_line(json_object_get(edge, "consumer"));
    }
}

Status diff_open_artifact(Cli *cli, const char *path, Artifact *out_artifact, DiffSide *out_side) {
    TRY(artifact_open(path, &cli->sink, out_artifact));
    StrBuf out = {0};
    inspect_put_json(out_artifact, false, &out);
    json_t *doc = json_loadb(out.data, out.len, 0, NULL);
    strbuf_deinit(&out);
    if (!doc) { // numbers beyond 63 bits, a manifest of thousands of lists in lists
        artifact_close(out_artifact);
        return diag_error(&cli->sink, DIAG_X0006, (DiagSpan){.file = path},
                          "what the artifact says of itself cannot be compared");
    }
    diff_label(doc);
    *out_side = (DiffSide){.path = path, .is_artifact = true, .doc = doc};
    return STATUS_OK;
}

// ---------------------------------------------------------------- bytes

typedef struct File {
    const Artifact *artifact;
    FileMap map;
    json_t *doc;
} File;

typedef struct Bytes {
    const uint8_t *data;
    uint64_t len;
} Bytes;

static Bytes section_bytes(const File *file, const SectionEntry *section) {
    uint64_t end = file->map.len_bytes, at = MIN(section->offset, end);
    return (Bytes){(const uint8_t *)file->map.data + at, MIN(section->len_bytes, end - at)};
}

static uint64_t first_difference(Bytes a, Bytes b) {
    uint64_t len = MIN(a.len, b.len), at = 0;
    enum { BLOCK = 1 << 16 };
    while (len - at >= BLOCK && memcmp(a.data + at, b.data + at, BLOCK) == 0) at += BLOCK;
    while (at < len && a.data[at] == b.data[at]) at++;
    return at;
}

static json_t *byte_at(Bytes bytes, uint64_t at) {
    char out[64];
    if (at < bytes.len)
        snprintf(out, sizeof out, "byte %" PRIu64 " is %02x", at, bytes.data[at]);
    else
        snprintf(out, sizeof out, "ends at byte %" PRIu64, at);
    return json_string(out);
}

// `content` under this name in both, if the bytes differ.
static void put_content(Bytes a, Bytes b, json_t *into_a, json_t *into_b, const char *name) {
    uint64_t at = first_difference(a, b);
    if (at == a.len && at == b.len) return;
    json_object_set_new(into_a, name, byte_at(a, at));
    json_object_set_new(into_b, name, byte_at(b, at));
}

static const char *section_name(const SectionEntry *section, char out[48]) {
    static const char *const names[] = {
        [SECTION_MANIFEST] = "manifest",   [SECTION_STRINGS] = "strings",
        [SECTION_TOKENIZER] = "tokenizer", [SECTION_TEMPLATE] = "chat template",
        [SECTION_PLAN] = "plan",           [SECTION_CODE] = "code",
        [SECTION_WEIGHTS] = "weights",     [SECTION_SIZES] = "sizes",
        [SECTION_RELATIONS] = "relations"};
    bool is_known = section->kind < ARRAY_LEN(names) && names[section->kind];
    const char *name = is_known ? names[section->kind] : "section";
    bool is_code = section->kind == SECTION_CODE && section->tag < NUM_CPU_LEVELS;
    snprintf(out, 48, "%s%s%s", name, is_code ? " " : "",
             is_code ? cpu_level_info((CpuLevel)section->tag)->name : "");
    return out;
}

static void list_sections(const File *file) {
    json_t *list = json_array(), *vocabulary = json_object();
    for (uint32_t i = 0; i < file->artifact->num_sections; i++) {
        const SectionEntry *section = &file->artifact->sections[i];
        char name[48], checksum[24];
        snprintf(checksum, sizeof checksum, "%016" PRIx64, section->checksum);
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(section_name(section, name)));
        json_object_set_new(object, "bytes", json_integer((json_int_t)section->len_bytes));
        json_object_set_new(object, "checksum", json_string(checksum));
        json_array_append_new(list, object);
        if (section->kind == SECTION_TOKENIZER || section->kind == SECTION_TEMPLATE)
            json_object_set_new(vocabulary, name, json_string(checksum));
    }
    json_object_set_new(file->doc, "sections", list);
    json_object_set_new(file->doc, "vocabulary", vocabulary);
}

static json_t *content_of(json_t *kernel) {
    json_t *content = json_object_get(kernel, "content");
    if (content) return content;
    json_object_set_new(kernel, "content", json_object());
    return json_object_get(kernel, "content");
}

static Bytes kernel_bytes(const Artifact *artifact, uint64_t level, uint64_t kernel) {
    uint64_t num = artifact->plan->kernels.count;
    const PlanKernelCode *code = &artifact->kernel_code[level * num + kernel];
    const uint8_t *section = artifact->data[artifact->levels[level].section];
    return (Bytes){section ? section + code->offset : NULL, section ? code->len_bytes : 0};
}

// Kernels of one name, at each level that both have code for.
static void compare_kernel(const File *a, const File *b, uint64_t i, uint64_t j) {
    json_t *x = json_array_get(json_object_get(a->doc, "kernels"), i);
    json_t *y = json_array_get(json_object_get(b->doc, "kernels"), j);
    for (uint64_t l = 0; l < a->artifact->plan->levels.count; l++)
        for (uint64_t m = 0; m < b->artifact->plan->levels.count; m++) {
            const PlanLevel *level = &a->artifact->levels[l];
            if (level->cpu_level != b->artifact->levels[m].cpu_level) continue;
            Bytes s = kernel_bytes(a->artifact, l, i), t = kernel_bytes(b->artifact, m, j);
            if (s.len == t.len) // else that says it
                put_content(s, t, content_of(x), content_of(y),
                            artifact_string(a->artifact, level->name));
        }
}

static void compare_kernels(const File *a, const File *b) {
    json_t *by_name = json_object();
    const Artifact *x = a->artifact, *y = b->artifact;
    for (uint64_t j = 0; j < y->plan->kernels.count; j++)
        json_object_set_new(by_name, artifact_string(y, y->kernels[j].name),
                            json_integer((json_int_t)j));
    for (uint64_t i = 0; i < x->plan->kernels.count; i++) {
        const json_t *j = json_object_get(by_name, artifact_string(x, x->kernels[i].name));
        if (j) compare_kernel(a, b, i, (uint64_t)json_integer_value(j));
    }
    json_decref(by_name);
}

static void compare_sections(const File *a, const File *b) {
    const Artifact *x = a->artifact, *y = b->artifact;
    for (uint32_t i = 0; i < x->num_sections; i++)
        for (uint32_t j = 0; j < y->num_sections; j++) {
            const SectionEntry *s = &x->sections[i], *t = &y->sections[j];
            if (s->kind != t->kind || s->tag != t->tag) continue;
            put_content(section_bytes(a, s), section_bytes(b, t),
                        json_array_get(json_object_get(a->doc, "sections"), i),
                        json_array_get(json_object_get(b->doc, "sections"), j), "content");
        }
}

Status diff_add_bytes(Cli *cli, const Artifact *a, const Artifact *b, DiffSide *side_a,
                      DiffSide *side_b) {
    File x = {.artifact = a, .doc = side_a->doc}, y = {.artifact = b, .doc = side_b->doc};
    TRY(file_map_open(side_a->path, &cli->sink, &x.map));
    Status status = file_map_open(side_b->path, &cli->sink, &y.map);
    if (status == STATUS_OK) {
        list_sections(&x);
        list_sections(&y);
        compare_sections(&x, &y);
        compare_kernels(&x, &y);
        file_map_close(&y.map);
    }
    file_map_close(&x.map);
    return status;
}
