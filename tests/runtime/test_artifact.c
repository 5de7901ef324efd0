// Artifacts: what is written is read back the same; whatever is damaged is refused with a code and
// a place, never a crash.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/artifact.h"
#include "synthetic.h"

typedef struct Fixture {
    char *path;       // the intact artifact
    int damaged_fd;   // where damaged copies are written
    char damaged[64]; // its name
    uint8_t *bytes;   // of the intact artifact
    uint64_t len_bytes;
    SectionEntry sections[ARTIFACT_MAX_SECTIONS];
} Fixture;

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int set_up(void **state) {
    Fixture *fixture = base_alloc(1, sizeof *fixture);
    fixture->path = synthetic_path("artifact");
    fixture->damaged_fd = memfd_create("damaged", MFD_CLOEXEC);
    assert_true(fixture->damaged_fd >= 0);
    snprintf(fixture->damaged, sizeof fixture->damaged, "/proc/self/fd/%d", fixture->damaged_fd);
    synthetic_write(fixture->path, &(SyntheticOptions){0});
    DiagSink sink;
    diag_sink_init(&sink);
    char *data;
    assert_int_equal(file_read(fixture->path, 1 << 30, &sink, &data, &fixture->len_bytes),
                     STATUS_OK);
    fixture->bytes = (uint8_t *)data;
    memcpy(fixture->sections, data + sizeof(ArtifactHeader), sizeof fixture->sections);
    diag_sink_deinit(&sink);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    unlink(fixture->path);
    close(fixture->damaged_fd);
    free(fixture->path);
    free(fixture->bytes);
    free(fixture);
    return 0;
}

// Damaged copies are files in memory, rewritten thousands of times.
static void write_damaged(const Fixture *fixture, const uint8_t *bytes, uint64_t len_bytes) {
    assert_int_equal(ftruncate(fixture->damaged_fd, 0), 0);
    assert_int_equal(pwrite(fixture->damaged_fd, bytes, len_bytes, 0), len_bytes);
}

// Opens a file of these bytes. Not OK: there is a diagnostic, and *out_code is its code.
static Status try_open(const Fixture *fixture, const uint8_t *bytes, uint64_t len_bytes,
                       DiagCode *out_code) {
    write_damaged(fixture, bytes, len_bytes);
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    Status status = artifact_open(fixture->damaged, &sink, &artifact);
    if (status == STATUS_OK) {
        assert_int_equal(sink.num_errors, 0);
        artifact_close(&artifact);
    } else {
        assert_int_equal(sink.num_errors, 1);
        assert_non_null(sink.diags[0].span.file);
        *out_code = sink.diags[0].code;
    }
    diag_sink_deinit(&sink);
    return status;
}

static void test_round_trip(void **state) {
    const Fixture *fixture = *state;
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    assert_int_equal(artifact_open(fixture->path, &sink, &artifact), STATUS_OK);
    assert_int_equal(artifact_verify_weights(&artifact, &sink), STATUS_OK);
    assert_string_equal(artifact_string(&artifact, artifact.plan->model_name), "synthetic");
    assert_int_equal(artifact_largest_bucket(&artifact), SYNTHETIC_LARGEST_BUCKET);
    const uint8_t *data;
    const SectionEntry *manifest = artifact_find_section(&artifact, SECTION_MANIFEST, 0, &data);
    assert_non_null(manifest);
    assert_memory_equal(data, "{\"made_by\":\"a test\"}", manifest->len_bytes);
    assert_null(artifact_find_section(&artifact, SECTION_TEMPLATE, 0, &data));
    assert_non_null(artifact_find_section(&artifact, SECTION_CODE, CPU_LEVEL_V4_VNNI, &data));
    assert_null(artifact_find_section(&artifact, SECTION_CODE, CPU_LEVEL_V4, &data));
    PlanMemory memory = artifact_memory(&artifact);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < artifact.plan->memory.count; i++)
        if (!artifact.memory[i].is_outside) sum += artifact.memory[i].bytes;
    assert_int_equal(sum, memory.total_bytes);
    artifact_close(&artifact);
    assert_int_equal(sink.num_diags, 0);
    diag_sink_deinit(&sink);
}

static void test_same_bytes_twice(void **state) {
    const Fixture *fixture = *state;
    char *path = synthetic_path("again");
    synthetic_write(path, &(SyntheticOptions){0});
    DiagSink sink;
    diag_sink_init(&sink);
    char *data;
    uint64_t len_bytes;
    assert_int_equal(file_read(path, 1 << 30, &sink, &data, &len_bytes), STATUS_OK);
    assert_int_equal(len_bytes, fixture->len_bytes);
    assert_memory_equal(data, fixture->bytes, len_bytes);
    unlink(path);
    free(data);
    free(path);
    diag_sink_deinit(&sink);
}

static void test_abort_leaves_nothing(void **state) {
    (void)state;
    char *path = synthetic_path("aborted");
    DiagSink sink;
    ArtifactWriter writer;
    diag_sink_init(&sink);
    assert_int_equal(artifact_writer_open(path, NULL, &sink, &writer), STATUS_OK);
    assert_int_equal(artifact_writer_section(&writer, SECTION_STRINGS, 0, "x", 1, &sink),
                     STATUS_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    artifact_writer_abort(&writer);
    assert_int_not_equal(access(path, F_OK), 0);
    free(path);
    diag_sink_deinit(&sink);
}

static void test_cut_anywhere(void **state) {
    const Fixture *fixture = *state;
    DiagCode code = NUM_DIAG_CODES;
    for (uint64_t i = 0; i < 400; i++) {
        uint64_t len = i < 100   ? i
                       : i < 140 ? fixture->len_bytes - (i - 99)
                                 : next_random() % fixture->len_bytes;
        assert_int_equal(try_open(fixture, fixture->bytes, len, &code), STATUS_INVALID);
        assert_int_equal(code, len < 8 ? DIAG_X0001 : DIAG_X0003);
    }
}

static void test_grown(void **state) {
    const Fixture *fixture = *state;
    uint8_t *bytes = base_alloc(fixture->len_bytes + ARTIFACT_PAGE_BYTES, 1);
    memcpy(bytes, fixture->bytes, fixture->len_bytes);
    DiagCode code = NUM_DIAG_CODES;
    assert_int_equal(try_open(fixture, bytes, fixture->len_bytes + 1, &code), STATUS_INVALID);
    assert_int_equal(code, DIAG_X0003);
    assert_int_equal(try_open(fixture, bytes, fixture->len_bytes + ARTIFACT_PAGE_BYTES, &code),
                     STATUS_INVALID);
    assert_int_equal(code, DIAG_X0003);
    free(bytes);
}

static void test_other_files(void **state) {
    const Fixture *fixture = *state;
    DiagCode code = NUM_DIAG_CODES;
    const char *others[] = {"", "GGUF\3\0\0\0 and so on", "version: 1\n", "INGOT\r\n",
                            "INGOT\n\n\n\n\n"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        assert_int_equal(try_open(fixture, (const uint8_t *)others[i], strlen(others[i]), &code),
                         STATUS_INVALID);
        assert_int_equal(code, DIAG_X0001);
    }
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    assert_int_equal(artifact_open("/nonexistent.ingot", &sink, &artifact), STATUS_IO);
    assert_int_equal(artifact_open("/", &sink, &artifact), STATUS_IO);
    assert_int_equal(artifact_open("/dev/null", &sink, &artifact), STATUS_IO);
    assert_int_equal(sink.num_errors, 3);
    diag_sink_deinit(&sink);
}

static void test_other_version(void **state) {
    const Fixture *fixture = *state;
    DiagCode code = NUM_DIAG_CODES;
    uint8_t *bytes = base_alloc(fixture->len_bytes, 1);
    memcpy(bytes, fixture->bytes, fixture->len_bytes);
    bytes[offsetof(ArtifactHeader, version)] = ARTIFACT_VERSION + 1;
    assert_int_equal(try_open(fixture, bytes, fixture->len_bytes, &code), STATUS_ENVIRONMENT);
    assert_int_equal(code, DIAG_X0002);
    free(bytes);

    char *path = synthetic_path("abi");
    synthetic_write(path, &(SyntheticOptions){.kernel_abi_version = 77});
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    assert_int_equal(artifact_open(path, &sink, &artifact), STATUS_ENVIRONMENT);
    assert_int_equal(sink.diags[0].code, DIAG_X0002);
    diag_sink_deinit(&sink);
    unlink(path);
    free(path);
}

// Whether a file of these bytes is noticed to be damaged: at open, or, which is allowed for the
// weights alone, when they are verified.
static bool is_noticed(const Fixture *fixture, const uint8_t *bytes, bool is_weight) {
    DiagCode code = NUM_DIAG_CODES;
    Status status = try_open(fixture, bytes, fixture->len_bytes, &code);
    if (status != STATUS_OK || !is_weight) return status != STATUS_OK && !is_weight;
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    assert_int_equal(artifact_open(fixture->damaged, &sink, &artifact), STATUS_OK);
    status = artifact_verify_weights(&artifact, &sink);
    bool is_x0013 = status == STATUS_INVALID && sink.diags[0].code == DIAG_X0013;
    artifact_close(&artifact);
    diag_sink_deinit(&sink);
    return is_x0013;
}

// Every byte of the file is covered: a flipped bit anywhere outside the weights (header, section
// table, sections, what fills their pages, what fills the last one) is noticed at open, one inside
// of them on verification.
static void test_flips(void **state) {
    const Fixture *fixture = *state;
    uint32_t num_sections;
    memcpy(&num_sections, fixture->bytes + offsetof(ArtifactHeader, num_sections),
           sizeof num_sections);
    const SectionEntry *weights = &fixture->sections[num_sections - 1];
    assert_int_equal(weights->kind, SECTION_WEIGHTS);
    uint64_t end = weights->offset + weights->len_bytes;
    assert_true(end < fixture->len_bytes); // there is padding to be flipped
    uint8_t *bytes = base_alloc(fixture->len_bytes, 1);
    memcpy(bytes, fixture->bytes, fixture->len_bytes);
    for (uint64_t place = 0; place < fixture->len_bytes; place++) {
        bool is_weight = place >= weights->offset && place < end;
        if (is_weight && next_random() % 16 != 0) continue;
        uint8_t mask = (uint8_t)(1u << next_random() % 8);
        bytes[place] ^= mask;
        if (!is_noticed(fixture, bytes, is_weight))
            fail_msg("a flip at byte %llu of %llu is not noticed as it should be",
                     (unsigned long long)place, (unsigned long long)fixture->len_bytes);
        bytes[place] ^= mask;
    }
    free(bytes);
}

// Makes the checksums of damaged bytes right again, as somebody who means harm would.
static void repair_checksums(const Fixture *fixture, uint8_t *bytes) {
    SectionEntry sections[ARTIFACT_MAX_SECTIONS];
    memcpy(sections, bytes + sizeof(ArtifactHeader), sizeof sections);
    for (uint32_t i = 0; i < ARTIFACT_MAX_SECTIONS; i++) {
        SectionEntry *entry = &sections[i];
        if (entry->offset > fixture->len_bytes ||
            entry->len_bytes > fixture->len_bytes - entry->offset)
            continue;
        if (entry->kind) entry->checksum = XXH3_64bits(bytes + entry->offset, entry->len_bytes);
    }
    memcpy(bytes + sizeof(ArtifactHeader), sections, sizeof sections);
    uint64_t checksum = XXH3_64bits(sections, sizeof sections);
    memcpy(bytes + offsetof(ArtifactHeader, checksum), &checksum, sizeof checksum);
}

static const SectionEntry *section_of_kind(const Fixture *fixture, SectionKind kind) {
    for (uint32_t i = 0; i < ARTIFACT_MAX_SECTIONS; i++)
        if (fixture->sections[i].kind == kind) return &fixture->sections[i];
    fail();
    return NULL;
}

// Random values at random places of section table and plan, checksums repaired: refused, or opened
// and then every reference is in range (the sanitizers watch the walk).
static void test_hostile_values(void **state) {
    const Fixture *fixture = *state;
    const SectionEntry *plan = section_of_kind(fixture, SECTION_PLAN);
    const uint64_t values[] = {0,
                               1,
                               2,
                               7,
                               63,
                               64,
                               4095,
                               4096,
                               UINT32_MAX,
                               (uint64_t)1 << 31,
                               (uint64_t)1 << 32,
                               (uint64_t)1 << 62,
                               (uint64_t)1 << 63,
                               UINT64_MAX};
    uint8_t *bytes = base_alloc(fixture->len_bytes, 1);
    unsigned num_refused = 0;
    for (unsigned i = 0; i < 4000; i++) {
        memcpy(bytes, fixture->bytes, fixture->len_bytes);
        for (uint64_t k = 0; k <= next_random() % 3; k++) {
            bool is_header = next_random() % 2;
            uint64_t base = i % 8 == 0 ? 0 : plan->offset;
            uint64_t span = i % 8 == 0  ? sizeof(ArtifactHeader) + 8 * sizeof(SectionEntry)
                            : is_header ? sizeof(PlanHeader)
                                        : plan->len_bytes;
            uint64_t place = base + next_random() % (span - 8) / 4 * 4;
            uint64_t value = values[next_random() % ARRAY_LEN(values)];
            if (next_random() % 4 == 0) value = next_random();
            memcpy(bytes + place, &value, next_random() % 2 ? 4 : 8);
        }
        repair_checksums(fixture, bytes);
        DiagCode code = NUM_DIAG_CODES;
        if (try_open(fixture, bytes, fixture->len_bytes, &code) != STATUS_OK) num_refused++;
    }
    assert_true(num_refused > 2000);
    free(bytes);
}

// One wrong field at a time, each refused as the plan's fault.
static void test_plan_faults(void **state) {
    const Fixture *fixture = *state;
    const SectionEntry *entry = section_of_kind(fixture, SECTION_PLAN);
    uint8_t *bytes = base_alloc(fixture->len_bytes, 1);
    PlanHeader *plan = (PlanHeader *)(bytes + entry->offset);
    const PlanHeader *good = (const PlanHeader *)(fixture->bytes + entry->offset);
#define TABLE(T, name) ((T *)(bytes + entry->offset + good->name.offset))
#define FAULT(statement)                                                                           \
    do {                                                                                           \
        memcpy(bytes, fixture->bytes, fixture->len_bytes);                                         \
        statement;                                                                                 \
        repair_checksums(fixture, bytes);                                                          \
        DiagCode code = NUM_DIAG_CODES;                                                            \
        Status status = try_open(fixture, bytes, fixture->len_bytes, &code);                       \
        if (status != STATUS_INVALID || code != DIAG_X0006) fail_msg("accepted: %s", #statement);  \
    } while (0)
    FAULT(plan->max_threads = 0);
    FAULT(plan->max_threads = PLAN_MAX_THREADS + 1);
    FAULT(plan->vocab_size = 0);
    FAULT(plan->vocab_size += 16); // input and output grow
    FAULT(plan->context_len_tokens++);
    FAULT(plan->max_pages = 0);
    FAULT(plan->num_pages--);
    FAULT(plan->kv_page_bytes = 0);
    FAULT(plan->kv_page_bytes += 64);
    FAULT(plan->num_pages++); // more than one sequence can hold
    FAULT(plan->max_sequences = 0);
    FAULT(plan->max_sequences = 2); // page tables and logits grow
    FAULT(plan->max_sequences = PLAN_MAX_SEQUENCES + 1);
    FAULT(plan->weights_bytes += 64);
    FAULT(plan->arena_bytes = (uint64_t)1 << 60);
    FAULT(plan->kv_bytes -= 64);
    FAULT(plan->scratch_bytes = 64);
    FAULT(plan->io_bytes += 64);
    FAULT(plan->runtime_bytes = 0);
    FAULT(plan->runtime_bytes += 1 << 20); // the memory table no longer adds up
    FAULT(plan->model_name = UINT32_MAX);
    FAULT(plan->levels.count = 0);
    FAULT(plan->entries.count = 0);
    FAULT(plan->kernel_code.count--);
    FAULT(plan->steps.count = UINT64_MAX / sizeof(PlanStep));
    FAULT(plan->buffers.offset = entry->len_bytes);
    FAULT(plan->scalars.offset += 4);
    FAULT(TABLE(PlanLevel, levels)[0].cpu_level = NUM_CPU_LEVELS);
    FAULT(TABLE(PlanLevel, levels)[1].cpu_level = 0);
    FAULT(TABLE(PlanLevel, levels)[0].required_features = 0);
    FAULT(TABLE(PlanLevel, levels)[0].required_features |= 1u << 31);
    FAULT(TABLE(PlanLevel, levels)[0].section = 0);
    FAULT(TABLE(PlanKernel, kernels)[1].num_buffers = 300);
    FAULT(TABLE(PlanKernel, kernels)[1].name = UINT32_MAX);
    FAULT(TABLE(PlanKernelCode, kernel_code)[3].offset = 1 << 20);
    FAULT(TABLE(PlanKernelCode, kernel_code)[3].len_bytes = UINT64_MAX);
    FAULT(TABLE(PlanKernelCode, kernel_code)[3].len_bytes = 0);
    FAULT(TABLE(PlanEntry, entries)[1].bucket_tokens = 1);
    FAULT(TABLE(PlanEntry, entries)[2].bucket_tokens = SYNTHETIC_CONTEXT + 1);
    FAULT(TABLE(PlanEntry, entries)[0].is_batch = 1);
    FAULT(TABLE(PlanEntry, entries)[1].is_batch = 1); // the one behind it is none
    FAULT(TABLE(PlanEntry, entries)[2].is_batch = 1); // of more sequences than are planned
    FAULT(TABLE(PlanEntry, entries)[2].is_batch = 2);
    FAULT(TABLE(PlanEntry, entries)[0].num_steps = 0);
    FAULT(TABLE(PlanEntry, entries)[0].num_head_steps = 100);
    FAULT(TABLE(PlanEntry, entries)[0].repeats_head = 2);
    FAULT(TABLE(PlanEntry, entries)[0].num_head_steps = 0); // but its head repeats
    FAULT(TABLE(PlanEntry, entries)[2].num_steps++);
    FAULT(TABLE(PlanStep, steps)[4].kernel = 5);
    FAULT(TABLE(PlanStep, steps)[4].first_buffer = (uint32_t)good->buffers.count);
    FAULT(TABLE(PlanStep, steps)[4].first_scalar = UINT32_MAX);
    FAULT(TABLE(PlanStep, steps)[4].needs_barrier = 2);
    FAULT(TABLE(PlanStep, steps)[4].tiles_div = 0);
    FAULT(TABLE(PlanStep, steps)[4].tiles_mul = -1);
    FAULT(TABLE(PlanStep, steps)[4].tiles_mul = INT64_MAX);
    FAULT(TABLE(PlanStep, steps)[4].tiles_of.kind = 3);
    FAULT(TABLE(PlanStep, steps)[1].tiles_of.value = -1);
    FAULT(TABLE(PlanStep, steps)[1].tiles_of.value = INT64_MAX);
    FAULT(TABLE(PlanBuffer, buffers)[0].space = NUM_PLAN_SPACES);
    FAULT(TABLE(PlanBuffer, buffers)[0].offset = 4);
    FAULT(TABLE(PlanBuffer, buffers)[0].offset = UINT64_MAX - 63);
    FAULT(TABLE(PlanBuffer, buffers)[0].len_bytes = SYNTHETIC_LARGEST_BUCKET * 4 + 1);
    FAULT(TABLE(PlanScalar, scalars)[0].kind = 17);
    FAULT(TABLE(PlanMemoryPart, memory)[0].bytes++);
    FAULT(TABLE(PlanMemoryPart, memory)[0].name = UINT32_MAX);
#undef FAULT
#undef TABLE
    free(bytes);
}

static void test_section_faults(void **state) {
    const Fixture *fixture = *state;
    uint8_t *bytes = base_alloc(fixture->len_bytes, 1);
    ArtifactHeader *header = (ArtifactHeader *)bytes;
    SectionEntry *sections = (SectionEntry *)(bytes + sizeof *header);
    const uint32_t num_sections = ((const ArtifactHeader *)fixture->bytes)->num_sections;
#define FAULT(statement)                                                                           \
    do {                                                                                           \
        memcpy(bytes, fixture->bytes, fixture->len_bytes);                                         \
        statement;                                                                                 \
        repair_checksums(fixture, bytes);                                                          \
        DiagCode code = NUM_DIAG_CODES;                                                            \
        Status status = try_open(fixture, bytes, fixture->len_bytes, &code);                       \
        if (status != STATUS_INVALID) fail_msg("accepted: %s", #statement);                        \
        assert_true(code == DIAG_X0004 || code == DIAG_X0005);                                     \
    } while (0)
    FAULT(header->num_sections = 0);
    FAULT(header->num_sections = ARTIFACT_MAX_SECTIONS + 1);
    FAULT(header->num_sections--);
    FAULT(header->num_sections++);
    FAULT(header->sections_offset = 0);
    FAULT(sections[0].kind = 0);
    FAULT(sections[0].kind = 99);
    FAULT(sections[0].kind = SECTION_STRINGS);
    FAULT(sections[1].kind = SECTION_TEMPLATE);
    FAULT(sections[1].tag = 1);
    FAULT(sections[1].offset += 64);
    // A free page in front of a section would be covered by nothing.
    FAULT(sections[num_sections - 1].offset += ARTIFACT_PAGE_BYTES;
          sections[num_sections - 1].len_bytes -= ARTIFACT_PAGE_BYTES);
    FAULT(sections[1].offset = sections[0].offset);
    FAULT(sections[1].offset = UINT64_MAX - 4095);
    FAULT(sections[1].len_bytes = UINT64_MAX);
    FAULT(sections[5].kind = SECTION_CODE);
    FAULT(sections[6].tag = 1);
    FAULT(bytes[sections[1].offset + sections[1].len_bytes - 1] = 'x'); // strings without an end
#undef FAULT
    free(bytes);
}

static void test_pick_level(void **state) {
    const Fixture *fixture = *state;
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    assert_int_equal(artifact_open(fixture->path, &sink, &artifact), STATUS_OK);
    const uint32_t all = UINT32_MAX, v3 = cpu_level_info(CPU_LEVEL_V3)->required;
    uint32_t level = 99;
    assert_int_equal(artifact_pick_level(&artifact, NULL, all, &sink, &level), STATUS_OK);
    assert_int_equal(level, 1);
    assert_int_equal(artifact_pick_level(&artifact, NULL, v3, &sink, &level), STATUS_OK);
    assert_int_equal(level, 0);
    assert_int_equal(artifact_pick_level(&artifact, "native", all, &sink, &level), STATUS_OK);
    assert_int_equal(level, 1);
    assert_int_equal(artifact_pick_level(&artifact, "x86-64-v3", all, &sink, &level), STATUS_OK);
    assert_int_equal(level, 0);
    assert_int_equal(sink.num_diags, 0);
    // More than the processor can: the first missing features are named.
    assert_int_equal(artifact_pick_level(&artifact, "v4-vnni", v3, &sink, &level),
                     STATUS_ENVIRONMENT);
    assert_int_equal(sink.diags[0].code, DIAG_X0007);
    assert_non_null(strstr(sink.diags[0].message, "avx512vnni"));
    assert_null(strstr(sink.diags[0].message, "avx2"));
    // A processor below all levels.
    uint32_t no_fma = v3 & ~(uint32_t)CPU_HAS_FMA;
    assert_int_equal(artifact_pick_level(&artifact, NULL, no_fma, &sink, &level),
                     STATUS_ENVIRONMENT);
    assert_int_equal(sink.diags[1].code, DIAG_X0007);
    assert_non_null(strstr(sink.diags[1].message, "lacks fma"));
    // Known but not in this artifact, and unknown.
    assert_int_equal(artifact_pick_level(&artifact, "x86-64-v4", all, &sink, &level),
                     STATUS_INVALID);
    assert_int_equal(sink.diags[2].code, DIAG_X0008);
    assert_int_equal(artifact_pick_level(&artifact, "x86-64-v5", all, &sink, &level), STATUS_USAGE);
    assert_int_equal(sink.diags[3].code, DIAG_U0004);
    artifact_close(&artifact);
    diag_sink_deinit(&sink);
}

// The seed that the fuzzer starts from opens; `make_artifact_seed` writes it anew after a change of
// the format.
static void test_seed_is_valid(void **state) {
    (void)state;
    const char *root = getenv("INGOT_SOURCE_DIR");
    StrBuf path = {0};
    strbuf_printf(&path, "%s/tests/fuzz/seeds/artifact/valid.ingot", root ? root : ".");
    DiagSink sink;
    Artifact artifact;
    diag_sink_init(&sink);
    assert_int_equal(artifact_open(path.data, &sink, &artifact), STATUS_OK);
    artifact_close(&artifact);
    diag_sink_deinit(&sink);
    strbuf_deinit(&path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_bytes_twice),
        cmocka_unit_test(test_abort_leaves_nothing),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_grown),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_hostile_values),
        cmocka_unit_test(test_plan_faults),
        cmocka_unit_test(test_section_faults),
        cmocka_unit_test(test_pick_level),
        cmocka_unit_test(test_seed_is_valid),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
