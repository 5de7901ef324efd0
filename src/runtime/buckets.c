// Buckets of a language model; see buckets.h.
#include "runtime/buckets.h"

uint32_t bucket_entry(const Artifact *artifact, bool is_batch, uint32_t num) {
    for (uint32_t i = 0; i < artifact->plan->entries.count; i++)
        if (!artifact->entries[i].is_batch == !is_batch &&
            artifact->entries[i].bucket_tokens >= num)
            return i;
    BUG("no bucket holds %u", num);
}

static const PlanSize *find_size(const Artifact *artifact, bool is_batch) {
    const char *name = is_batch ? "batch_size" : "seq_len";
    for (uint32_t i = 0; i < artifact->num_sizes; i++)
        if (str_equal(artifact_string(artifact, artifact->sizes[i].name), name))
            return &artifact->sizes[i];
    return NULL;
}

bool bucket_is_refused(const Artifact *artifact, bool is_batch, uint32_t num) {
    const PlanSize *size = find_size(artifact, is_batch);
    if (!size || num <= 1) return false;
    uint32_t bucket = artifact->entries[bucket_entry(artifact, is_batch, num)].bucket_tokens;
    return num < size->range.min || (size->range.rejects_off_step && bucket != num);
}

uint32_t bucket_below(const Artifact *artifact, bool is_batch, uint32_t num) {
    while (bucket_is_refused(artifact, is_batch, num)) num--; // one is not
    return num;
}

Status bucket_refuse(const Artifact *artifact, bool is_batch, uint32_t num, DiagSink *sink) {
    const PlanSize *size = find_size(artifact, is_batch);
    uint32_t above = num, bucket;
    bucket = artifact->entries[bucket_entry(artifact, is_batch, num)].bucket_tokens;
    while (above < bucket && bucket_is_refused(artifact, is_batch, above)) above++;
    Status status =
        diag_error(sink, DIAG_X0021, (DiagSpan){.file = artifact->path}, "%s is %u, %s",
                   is_batch ? "batch_size" : "seq_len", num,
                   num < size->range.min ? "less than its smallest" : "no bucket's size");
    diag_evidence(sink, "%s (%s)%s",
                  size->range.rejects_off_step ? "a size between buckets is refused"
                                               : "a size below the smallest is refused",
                  artifact_string(artifact, size->at),
                  is_batch ? "" : "; of a prompt, it is what its last chunk has");
    diag_write(sink, "%u or %u", bucket_below(artifact, is_batch, num), above);
    return status;
}
