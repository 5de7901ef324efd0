// Opens arbitrary bytes as an artifact. Inputs whose first byte is not the magic's have their
// checksums made right first (and that byte restored), so that what lies behind them is reached.
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "abi/fault.h"
#include "base/str.h"
#include "runtime/artifact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void repair(uint8_t *bytes, size_t len) {
    ArtifactHeader header;
    SectionEntry sections[ARTIFACT_MAX_SECTIONS];
    bytes[0] = (uint8_t)ARTIFACT_MAGIC[0];
    memcpy(&header, bytes, sizeof header);
    memcpy(sections, bytes + sizeof header, sizeof sections);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (sections[i].kind && sections[i].offset <= len &&
            sections[i].len_bytes <= len - sections[i].offset)
            sections[i].checksum = XXH3_64bits(bytes + sections[i].offset, sections[i].len_bytes);
    header.checksum = XXH3_64bits(sections, sizeof sections);
    header.file_len_bytes = len;
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, sections, sizeof sections);
}

// Reads what an inspection would show.
static uint64_t walk(const Artifact *artifact) {
    uint64_t sum = artifact_memory(artifact).total_bytes;
    for (uint64_t i = 0; i < artifact->plan->kernels.count; i++)
        sum += strlen(artifact_string(artifact, artifact->kernels[i].name));
    for (uint64_t i = 0; i < artifact->plan->steps.count; i++) {
        const PlanStep *step = &artifact->steps[i];
        const PlanKernel *kernel = &artifact->kernels[step->kernel];
        for (uint32_t k = 0; k < kernel->num_buffers; k++)
            sum += artifact->buffers[step->first_buffer + k].len_bytes;
        for (uint32_t k = 0; k < kernel->num_scalars; k++)
            sum += (uint64_t)artifact->scalars[step->first_scalar + k].value;
    }
    for (uint64_t i = 0; i < artifact->plan->checks.count; i++) {
        const PlanCheck *check = &artifact->checks[i];
        StrBuf text = {0};
        fault_put(&text, (FaultKind)check->kind, artifact_string(artifact, check->op), 1,
                  check->numbers, artifact_string(artifact, check->text));
        sum += text.len + strlen(artifact_string(artifact, check->file));
        strbuf_deinit(&text);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    static int fd = -1;
    if (fd < 0) fd = memfd_create("artifact", 0);
    if (fd < 0) abort();
    uint8_t *bytes = malloc(len + 1);
    if (!bytes) abort();
    if (len) memcpy(bytes, data, len);
    if (len >= ARTIFACT_PAGE_BYTES && bytes[0] != ARTIFACT_MAGIC[0]) repair(bytes, len);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, len, 0) != (ssize_t)len) abort();
    free(bytes);

    DiagSink sink;
    StrBuf path = {0}, text = {0};
    Artifact artifact;
    uint32_t level;
    diag_sink_init(&sink);
    strbuf_printf(&path, "/proc/self/fd/%d", fd);
    if (artifact_open(path.data, &sink, &artifact) == STATUS_OK) {
        if (walk(&artifact) == 1) abort(); // a total of one byte: no page was counted
        (void)!artifact_verify_weights(&artifact, &sink);
        (void)!artifact_pick_level(&artifact, NULL, UINT32_MAX, &sink, &level);
        (void)!artifact_pick_level(&artifact, "x86-64-v4", 0, &sink, &level);
        artifact_close(&artifact);
    } else if (sink.num_errors == 0) {
        abort(); // refused without a reason
    }
    diag_render(&sink, &text);
    strbuf_deinit(&text);
    strbuf_deinit(&path);
    diag_sink_deinit(&sink);
    return 0;
}
