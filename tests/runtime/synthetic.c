// Builds the synthetic artifact; see synthetic.h.
#include "synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/cpu.h"
#include "abi/kernel_abi.h"
#include "abi/plan_size.h"

// Kernels lie in a section of their own, so their bytes can be copied. They call nothing, have no
// constants outside their code, and are not instrumented.
#if defined(__clang__)
#define KERNEL                                                                                     \
    __attribute__((section("test_kernels"), used, noinline, no_builtin,                            \
                   no_sanitize("address", "undefined", "thread"),                                  \
                   disable_sanitizer_instrumentation))
#else
#define KERNEL                                                                                     \
    __attribute__((section("test_kernels"), used, noinline, noclone,                               \
                   no_sanitize("address", "undefined", "thread"),                                  \
                   optimize("O1", "no-tree-loop-distribute-patterns", "no-jump-tables")))
#endif
extern const uint8_t __start_test_kernels[], __stop_test_kernels[];

// The weights do not fill their last page: padding follows them.
enum { WIDTH = SYNTHETIC_WIDTH, NUM_WEIGHTS = 4000 };

// x[t] = row of weights for the token. Tiles: tokens.
KERNEL static void embed(void *const *buffers, const int64_t *scalars, int64_t begin, int64_t end,
                         int64_t *fault) {
    (void)fault;
    const int32_t *tokens = buffers[0];
    const uint32_t *weights = buffers[1];
    uint32_t *x = buffers[2];
    (void)scalars;
    for (int64_t t = begin; t < end; t++)
        for (int64_t d = 0; d < WIDTH; d++)
            x[t * WIDTH + d] = weights[((int64_t)tokens[t] * 7 + d) % NUM_WEIGHTS];
}

// sums[t] = sum of x[t], into the worker's scratch. Scalars: valid tokens. Tiles: one, on every
// worker.
KERNEL static void sum_rows(void *const *buffers, const int64_t *scalars, int64_t begin,
                            int64_t end, int64_t *fault) {
    (void)fault;
    const uint32_t *x = buffers[0];
    uint32_t *sums = buffers[1];
    for (int64_t tile = begin; tile < end; tile++)
        for (int64_t t = 0; t < scalars[0]; t++) {
            uint32_t sum = 0;
            for (int64_t d = 0; d < WIDTH; d++) sum += x[t * WIDTH + d];
            sums[t] = sum;
        }
}

// kv[page of the token] = x[t] * sums[t] + position. Scalars: start, page length. Tiles: tokens.
KERNEL static void append(void *const *buffers, const int64_t *scalars, int64_t begin, int64_t end,
                          int64_t *fault) {
    (void)fault;
    const uint32_t *x = buffers[0], *sums = buffers[1];
    const int32_t *pages = buffers[2];
    uint32_t *kv = buffers[3];
    for (int64_t t = begin; t < end; t++) {
        int64_t position = scalars[0] + t;
        int64_t row = pages[position / scalars[1]] * scalars[1] + position % scalars[1];
        for (int64_t d = 0; d < WIDTH; d++)
            kv[row * WIDTH + d] = x[t * WIDTH + d] * sums[t] + (uint32_t)position;
    }
}

// y[t] = hash of all rows up to the token's, in order. Scalars: start, page length. Tiles: tokens *
// width.
KERNEL static void attend(void *const *buffers, const int64_t *scalars, int64_t begin, int64_t end,
                          int64_t *fault) {
    (void)fault;
    const int32_t *pages = buffers[0];
    const uint32_t *kv = buffers[1], *weights = buffers[2];
    uint32_t *y = buffers[3];
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t t = tile / WIDTH, d = tile % WIDTH;
        uint32_t hash = weights[d];
        for (int64_t position = 0; position <= scalars[0] + t; position++) {
            int64_t row = pages[position / scalars[1]] * scalars[1] + position % scalars[1];
            hash = hash * 31 + kv[row * WIDTH + d];
        }
        y[tile] = hash;
    }
}

// logits of the last token. Scalars: valid tokens, vocabulary. Tiles: groups of 16 logits.
KERNEL static void head(void *const *buffers, const int64_t *scalars, int64_t begin, int64_t end,
                        int64_t *fault) {
    (void)fault;
    const uint32_t *x = buffers[0], *weights = buffers[1];
    float *logits = buffers[2];
    int64_t last = (scalars[0] - 1) * WIDTH;
    for (int64_t v = begin * 16; v < end * 16 && v < scalars[1]; v++) {
        uint32_t sum = 0;
        for (int64_t d = 0; d < WIDTH; d++) sum += x[last + d] * weights[(v * 3 + d) % NUM_WEIGHTS];
        logits[v] = (float)(int32_t)(sum >> 12);
    }
}

static uint32_t weight(uint32_t i) {
    return (i + 1) * 2654435761u;
}

void synthetic_reference(const int32_t *ids, uint32_t num_ids, float *out_logits) {
    uint32_t(*x)[WIDTH] = base_alloc(num_ids, sizeof *x),
    (*kv)[WIDTH] = base_alloc(num_ids, sizeof *kv);
    for (uint32_t t = 0; t < num_ids; t++)
        for (uint32_t d = 0; d < WIDTH; d++)
            x[t][d] = weight(((uint32_t)ids[t] * 7 + d) % NUM_WEIGHTS);
    for (uint32_t layer = 0; layer < SYNTHETIC_LAYERS; layer++) {
        for (uint32_t t = 0; t < num_ids; t++) {
            uint32_t sum = 0;
            for (uint32_t d = 0; d < WIDTH; d++) sum += x[t][d];
            for (uint32_t d = 0; d < WIDTH; d++) kv[t][d] = x[t][d] * sum + t;
        }
        for (uint32_t d = 0; d < WIDTH; d++) {
            uint32_t hash = weight(d);
            for (uint32_t t = 0; t < num_ids; t++) x[t][d] = hash = hash * 31 + kv[t][d];
        }
    }
    for (uint32_t v = 0; v < SYNTHETIC_VOCAB; v++) {
        uint32_t sum = 0;
        for (uint32_t d = 0; d < WIDTH; d++)
            sum += x[num_ids - 1][d] * weight((v * 3 + d) % NUM_WEIGHTS);
        out_logits[v] = (float)(int32_t)(sum >> 12);
    }
    free(x);
    free(kv);
}

// ---- the plan

typedef struct Builder {
    StrBuf strings;
    PlanStep steps[64];
    PlanBuffer buffers[256];
    PlanScalar scalars[256];
    PlanEntry entries[3];
    uint32_t num_steps, num_buffers, num_scalars, num_entries;
} Builder;

typedef enum KernelId { EMBED, SUM_ROWS, APPEND, ATTEND, HEAD, NUM_KERNELS } KernelId;

static const struct {
    const char *name;
    KernelFn function;
    uint32_t num_buffers, num_scalars;
} kernels[NUM_KERNELS] = {
    {"embed", embed, 3, 0},   {"sum_rows", sum_rows, 2, 1}, {"append", append, 4, 2},
    {"attend", attend, 4, 2}, {"head", head, 3, 2},
};

enum {
    KV_LAYER_BYTES = SYNTHETIC_CONTEXT * WIDTH * 4,
    ROWS_BYTES = SYNTHETIC_LARGEST_BUCKET * WIDTH * 4
};

static uint32_t add_string(Builder *builder, const char *text) {
    uint32_t offset = (uint32_t)builder->strings.len;
    strbuf_append(&builder->strings, text, strlen(text) + 1);
    return offset;
}

static void add_buffer(Builder *builder, PlanSpace space, uint64_t offset, uint64_t len_bytes) {
    builder->buffers[builder->num_buffers++] =
        (PlanBuffer){.space = space, .offset = offset, .len_bytes = len_bytes};
}

static void add_scalar(Builder *builder, PlanScalarKind kind, int64_t value) {
    builder->scalars[builder->num_scalars++] = (PlanScalar){.kind = kind, .value = value};
}

static PlanStep *add_step(Builder *builder, KernelId kernel, PlanScalarKind tiles_of) {
    PlanStep *step = &builder->steps[builder->num_steps++];
    *step = (PlanStep){.kernel = kernel,
                       .first_buffer = builder->num_buffers,
                       .first_scalar = builder->num_scalars,
                       .needs_barrier = 1,
                       .tiles_of = {.kind = tiles_of, .value = tiles_of == SCALAR_CONST},
                       .tiles_mul = 1,
                       .tiles_div = 1};
    return step;
}

static void add_layer(Builder *builder, uint32_t layer) {
    uint64_t in = layer % 2 * ROWS_BYTES, out = (layer + 1) % 2 * ROWS_BYTES;
    // Every worker sums all rows for itself: no barrier before the sums are used.
    PlanStep *sums = add_step(builder, SUM_ROWS, SCALAR_CONST);
    sums->every_worker = 1;
    sums->needs_barrier = 0;
    add_buffer(builder, SPACE_ARENA, in, ROWS_BYTES);
    add_buffer(builder, SPACE_SCRATCH, 64, SYNTHETIC_LARGEST_BUCKET * 4);
    add_scalar(builder, SCALAR_NUM_VALID, 0);

    add_step(builder, APPEND, SCALAR_NUM_VALID);
    add_buffer(builder, SPACE_ARENA, in, ROWS_BYTES);
    add_buffer(builder, SPACE_SCRATCH, 64, SYNTHETIC_LARGEST_BUCKET * 4);
    add_buffer(builder, SPACE_PAGES, 0, SYNTHETIC_PAGES * 4);
    add_buffer(builder, SPACE_KV, (uint64_t)layer * KV_LAYER_BYTES, KV_LAYER_BYTES);
    add_scalar(builder, SCALAR_START, 0);
    add_scalar(builder, SCALAR_CONST, SYNTHETIC_PAGE_TOKENS);

    add_step(builder, ATTEND, SCALAR_NUM_VALID)->tiles_mul = WIDTH;
    add_buffer(builder, SPACE_PAGES, 0, SYNTHETIC_PAGES * 4);
    add_buffer(builder, SPACE_KV, (uint64_t)layer * KV_LAYER_BYTES, KV_LAYER_BYTES);
    add_buffer(builder, SPACE_WEIGHTS, 0, NUM_WEIGHTS * 4);
    add_buffer(builder, SPACE_ARENA, out, ROWS_BYTES);
    add_scalar(builder, SCALAR_START, 0);
    add_scalar(builder, SCALAR_CONST, SYNTHETIC_PAGE_TOKENS);
}

static void add_entry(Builder *builder, uint32_t bucket_tokens) {
    PlanEntry *entry = &builder->entries[builder->num_entries++];
    *entry = (PlanEntry){.bucket_tokens = bucket_tokens,
                         .first_step = builder->num_steps,
                         .name = add_string(builder, "entry"),
                         .num_head_steps = 1,
                         // One of the entries takes its tokens one by one.
                         .repeats_head = bucket_tokens != SYNTHETIC_MIDDLE_BUCKET};
    add_step(builder, EMBED, SCALAR_NUM_VALID);
    add_buffer(builder, SPACE_TOKENS, 0, bucket_tokens * 4);
    add_buffer(builder, SPACE_WEIGHTS, 0, NUM_WEIGHTS * 4);
    add_buffer(builder, SPACE_ARENA, 0, ROWS_BYTES);
    for (uint32_t layer = 0; layer < SYNTHETIC_LAYERS; layer++) add_layer(builder, layer);
    PlanStep *step = add_step(builder, HEAD, SCALAR_CONST);
    step->tiles_of.value = SYNTHETIC_VOCAB;
    step->tiles_div = 16;
    add_buffer(builder, SPACE_ARENA, SYNTHETIC_LAYERS % 2 * ROWS_BYTES, ROWS_BYTES);
    add_buffer(builder, SPACE_WEIGHTS, 0, NUM_WEIGHTS * 4);
    add_buffer(builder, SPACE_LOGITS, 0, SYNTHETIC_VOCAB * 4);
    add_scalar(builder, SCALAR_NUM_VALID, 0);
    add_scalar(builder, SCALAR_CONST, SYNTHETIC_VOCAB);
    entry->num_steps = builder->num_steps - entry->first_step;
}

static void must(Status status, const DiagSink *sink) {
    if (status == STATUS_OK) return;
    StrBuf text = {0};
    diag_render(sink, &text);
    fputs(text.data ? text.data : "", stderr);
    abort();
}

// Sections in the order of the file; the weights are streamed in pieces.
static void write_sections(ArtifactWriter *writer, const Builder *builder, PlanTables *plan,
                           const SyntheticOptions *options, const SectionEntry *lengths,
                           DiagSink *sink) {
    StrBuf text = {0};
    plan_tables_write(plan, &text);
    const uint64_t code_bytes = (uint64_t)(__stop_test_kernels - __start_test_kernels);
    const char manifest[] = "{\"made_by\":\"a test\"}";
    must(artifact_writer_section(writer, SECTION_MANIFEST, 0, manifest, sizeof manifest - 1, sink),
         sink);
    must(artifact_writer_section(writer, SECTION_STRINGS, 0, builder->strings.data,
                                 builder->strings.len, sink),
         sink);
    must(artifact_writer_section(writer, SECTION_PLAN, 0, text.data, text.len, sink), sink);
    for (uint64_t i = 0; i < plan->num_levels; i++)
        must(artifact_writer_section(writer, SECTION_CODE, plan->levels[i].cpu_level,
                                     __start_test_kernels, code_bytes, sink),
             sink);
    if (options->tokenizer)
        must(artifact_writer_section(writer, SECTION_TOKENIZER, 0, options->tokenizer,
                                     options->tokenizer_bytes, sink),
             sink);
    if (options->chat_template)
        must(artifact_writer_section(writer, SECTION_TEMPLATE, 0, options->chat_template,
                                     strlen(options->chat_template), sink),
             sink);
    must(artifact_writer_begin(writer, SECTION_WEIGHTS, 0, sink), sink);
    for (uint32_t i = 0; i < NUM_WEIGHTS; i++) {
        uint32_t value = weight(i);
        must(artifact_writer_append(writer, &value, sizeof value, sink), sink);
    }
    static const uint8_t zeros[ARTIFACT_PAGE_BYTES];
    for (uint64_t left = options->extra_weight_bytes; left > 0;) {
        uint64_t len = MIN(left, sizeof zeros);
        must(artifact_writer_append(writer, zeros, len, sink), sink);
        left -= len;
    }
    artifact_writer_end(writer);
    for (uint32_t i = 0; i < writer->num_sections; i++)
        BUG_IF(writer->sections[i].len_bytes != lengths[i].len_bytes, "section %u", i);
    strbuf_deinit(&text);
}

static void fill_header(PlanHeader *header, Builder *builder, const SyntheticOptions *options) {
    *header = (PlanHeader){
        .kernel_abi_version =
            options->kernel_abi_version ? options->kernel_abi_version : KERNEL_ABI_VERSION,
        .max_threads = SYNTHETIC_MAX_THREADS,
        .vocab_size = SYNTHETIC_VOCAB,
        .context_len_tokens = SYNTHETIC_CONTEXT,
        .page_len_tokens = SYNTHETIC_PAGE_TOKENS,
        .max_pages = SYNTHETIC_PAGES,
        .num_pages = SYNTHETIC_PAGES,
        .max_sequences = 1,
        .model_name = add_string(builder, "synthetic"),
        .weights_bytes = NUM_WEIGHTS * 4 + options->extra_weight_bytes,
        .arena_bytes = 2 * ROWS_BYTES + options->extra_arena_bytes,
        .kv_page_bytes = KV_LAYER_BYTES / SYNTHETIC_PAGES,
        .kv_bytes = SYNTHETIC_LAYERS * KV_LAYER_BYTES + options->extra_kv_bytes,
        .scratch_bytes = 64 + SYNTHETIC_LARGEST_BUCKET * 4,
    };
    header->io_bytes = plan_io_layout(header, SYNTHETIC_LARGEST_BUCKET).io_bytes;
}

void synthetic_write(const char *path, const SyntheticOptions *options) {
    Builder *builder = base_alloc(1, sizeof *builder);
    const CpuLevel used[] = {CPU_LEVEL_V3, CPU_LEVEL_V4_VNNI};
    enum { NUM_LEVELS = ARRAY_LEN(used), FIRST_CODE = 3 };
    const uint64_t code_bytes = (uint64_t)(__stop_test_kernels - __start_test_kernels);
    add_string(builder, "");
    add_entry(builder, 1);
    add_entry(builder, SYNTHETIC_MIDDLE_BUCKET);
    add_entry(builder, SYNTHETIC_LARGEST_BUCKET);
    PlanLevel levels[NUM_LEVELS];
    PlanKernel plan_kernels[NUM_KERNELS];
    PlanKernelCode code[NUM_LEVELS * NUM_KERNELS];
    for (uint32_t i = 0; i < NUM_LEVELS; i++) {
        const CpuLevelInfo *info = cpu_level_info(used[i]);
        levels[i] = (PlanLevel){.cpu_level = used[i],
                                .required_features = info->required,
                                .section = FIRST_CODE + i,
                                .name = add_string(builder, info->name)};
        for (uint32_t k = 0; k < NUM_KERNELS; k++) {
            uint64_t offset =
                (uint64_t)((const uint8_t *)(uintptr_t)kernels[k].function - __start_test_kernels);
            code[i * NUM_KERNELS + k] = (PlanKernelCode){offset, code_bytes - offset};
        }
    }
    for (uint32_t k = 0; k < NUM_KERNELS; k++) {
        uint32_t name = add_string(builder, kernels[k].name);
        plan_kernels[k] = (PlanKernel){.name = name,
                                       .kind = name,
                                       .num_buffers = kernels[k].num_buffers,
                                       .num_scalars = kernels[k].num_scalars};
    }
    PlanMemoryPart parts[PLAN_NUM_PARTS + 1] = {0};
    for (unsigned i = 0; i < PLAN_NUM_PARTS; i++) {
        uint64_t bytes;
        parts[i].name = add_string(builder, plan_memory_part(&(PlanMemory){0}, i, &bytes));
    }
    parts[PLAN_NUM_PARTS] = (PlanMemoryPart){.bytes = 123456, .is_outside = 1};

    PlanTables plan = {
        .levels = levels,
        .kernels = plan_kernels,
        .kernel_code = code,
        .entries = builder->entries,
        .steps = builder->steps,
        .buffers = builder->buffers,
        .scalars = builder->scalars,
        .memory = parts,
        .num_levels = NUM_LEVELS,
        .num_kernels = NUM_KERNELS,
        .num_entries = builder->num_entries,
        .num_steps = builder->num_steps,
        .num_buffers = builder->num_buffers,
        .num_scalars = builder->num_scalars,
        .num_memory = ARRAY_LEN(parts),
    };
    fill_header(&plan.header, builder, options);
    SectionEntry lengths[FIRST_CODE + NUM_LEVELS + 3] = {
        {.kind = SECTION_MANIFEST, .len_bytes = strlen("{\"made_by\":\"a test\"}")},
        {.kind = SECTION_STRINGS, .len_bytes = builder->strings.len},
        {.kind = SECTION_PLAN, .len_bytes = plan_tables_layout(&plan)},
        {.kind = SECTION_CODE, .len_bytes = code_bytes},
        {.kind = SECTION_CODE, .len_bytes = code_bytes},
    };
    uint32_t num_sections = FIRST_CODE + NUM_LEVELS;
    if (options->tokenizer)
        lengths[num_sections++] =
            (SectionEntry){.kind = SECTION_TOKENIZER, .len_bytes = options->tokenizer_bytes};
    if (options->chat_template)
        lengths[num_sections++] =
            (SectionEntry){.kind = SECTION_TEMPLATE, .len_bytes = strlen(options->chat_template)};
    lengths[num_sections++] =
        (SectionEntry){.kind = SECTION_WEIGHTS, .len_bytes = plan.header.weights_bytes};
    plan.header.runtime_bytes = plan_runtime_bytes(&plan.header);
    PlanMemory memory = plan_memory(&plan.header, lengths, num_sections);
    for (unsigned i = 0; i < PLAN_NUM_PARTS; i++)
        (void)plan_memory_part(&memory, i, &parts[i].bytes);

    DiagSink sink;
    ArtifactWriter writer;
    uint64_t file_bytes;
    diag_sink_init(&sink);
    must(artifact_writer_open(path, NULL, &sink, &writer), &sink);
    write_sections(&writer, builder, &plan, options, lengths, &sink);
    must(artifact_writer_commit(&writer, &sink, &file_bytes), &sink);
    diag_sink_deinit(&sink);
    strbuf_deinit(&builder->strings);
    free(builder);
}

char *synthetic_path(const char *name) {
    const char *folder = getenv("TMPDIR");
    StrBuf path = {0};
    strbuf_printf(&path, "%s/ingot-%s-%ld.ingot", folder && *folder ? folder : "/tmp", name,
                  (long)getpid());
    return strbuf_take(&path);
}
