// Relations between the sizes of a call; see relations.h.
#include "runtime/relations.h"

enum { MAX_DIMS = PLAN_MAX_SIZES };

typedef struct Dims {
    RelationSize of[MAX_DIMS];
    const BucketRange *ranges[MAX_DIMS]; // NULL: any size can be
    uint32_t num;
} Dims;

static Dims dims_of(const CallDims *call) {
    return (Dims){.of = {{"batch_size", call->batch_size},
                         {"seq_len", call->seq_len},
                         {"kv_cache_seq_len", call->kv_cache_seq_len}},
                  .num = 3};
}

static Dims dims_of_sizes(const Artifact *artifact, const CallSizes *sizes) {
    Dims dims = {.num = sizes->num};
    for (uint32_t i = 0; i < sizes->num; i++) {
        const char *name = artifact_string(artifact, sizes->known[i]->name);
        dims.of[i] = (RelationSize){name, (uint64_t)sizes->of[i]};
        dims.ranges[i] = &sizes->known[i]->range;
    }
    return dims;
}

// The largest size with which the call would do, the others as they are; 0: none.
static uint64_t could_be(const Relation *relation, const Dims *dims, uint32_t i) {
    uint64_t most = relation_most(relation, dims->of, dims->num, i, dims->of[i].value);
    const BucketRange *range = dims->ranges[i];
    if (!range) return most;
    if (range->rejects_off_step) return (uint64_t)bucket_range_below(range, (int64_t)most + 1);
    return most < (uint64_t)range->min ? 0 : most;
}

// said: the sizes of the call that the relation is about.
static Status refuse(const Artifact *artifact, uint32_t number, const Dims *dims, const char *said,
                     DiagSink *sink) {
    const Relation *relation = &artifact->parsed_relations[number];
    const PlanRelation *stated = &artifact->relations[number];
    StrBuf others = {0};
    for (uint32_t i = 0; i < dims->num; i++) {
        if (!relation_has(relation, dims->of[i].name)) continue;
        uint64_t most = could_be(relation, dims, i);
        if (most)
            strbuf_printf(&others, "%s%s %llu", others.len ? ", or " : "", dims->of[i].name,
                          (unsigned long long)most);
    }
    Status status =
        diag_error(sink, DIAG_X0023, (DiagSpan){.file = artifact->path},
                   "%s: the artifact allows %s", said, artifact_string(artifact, stated->text));
    (void)status;
    diag_evidence(sink, "%llu is more than %llu (%s)",
                  (unsigned long long)relation_product(relation, dims->of, dims->num),
                  (unsigned long long)relation->bound, artifact_string(artifact, stated->at));
    if (others.len) diag_write(sink, "%s", others.data);
    strbuf_deinit(&others);
    return STATUS_LIMIT;
}

static bool holds(const Artifact *artifact, uint32_t number, const Dims *dims) {
    const Relation *relation = &artifact->parsed_relations[number];
    return relation_product(relation, dims->of, dims->num) <= relation->bound;
}

Status relations_check(const Artifact *artifact, const CallDims *call, DiagSink *sink) {
    const Dims dims = dims_of(call);
    for (uint32_t i = 0; i < artifact->num_relations; i++) {
        if (holds(artifact, i, &dims)) continue;
        StrBuf said = {0};
        for (uint32_t k = 0; k < dims.num; k++)
            if (relation_has(&artifact->parsed_relations[i], dims.of[k].name))
                strbuf_printf(&said, "%s%s %llu", said.len ? " and " : "", dims.of[k].name,
                              (unsigned long long)dims.of[k].value);
        Status status = refuse(artifact, i, &dims, said.data, sink);
        strbuf_deinit(&said);
        return status;
    }
    return STATUS_OK;
}

static void put_size(const Artifact *artifact, const CallSizes *sizes, uint32_t i, StrBuf *out) {
    strbuf_printf(out, "dimension %u of argument %s, the size %s, is %lld", sizes->dims[i],
                  artifact_string(artifact, sizes->ports[i]->name),
                  artifact_string(artifact, sizes->known[i]->name), (long long)sizes->of[i]);
}

Status relations_check_sizes(const Artifact *artifact, const PlanEntry *entry,
                             const CallSizes *sizes, DiagSink *sink) {
    const Dims dims = dims_of_sizes(artifact, sizes);
    for (uint32_t i = 0; i < artifact->num_relations; i++) {
        const Relation *relation = &artifact->parsed_relations[i];
        if (!relation_is_about(relation, dims.of, dims.num) || holds(artifact, i, &dims)) continue;
        StrBuf said = {0};
        bool is_first = true;
        strbuf_printf(&said, "@%s: ", artifact_string(artifact, entry->name));
        for (uint32_t k = 0; k < dims.num; k++) {
            if (!relation_has(relation, dims.of[k].name)) continue;
            strbuf_puts(&said, is_first ? "" : ", and ");
            put_size(artifact, sizes, k, &said);
            is_first = false;
        }
        Status status = refuse(artifact, i, &dims, said.data, sink);
        strbuf_deinit(&said);
        return status;
    }
    return STATUS_OK;
}

// Both the tokens and the length they lead to grow.
uint32_t relations_chunk(const Artifact *artifact, const CallDims *call) {
    uint64_t low = 1, high = call->seq_len;
    for (uint32_t i = 0; i < artifact->num_relations; i++, low = 1)
        while (low < high) {
            uint64_t middle = low + (high - low + 1) / 2;
            const Dims dims =
                dims_of(&(CallDims){call->batch_size, middle, call->kv_cache_seq_len + middle});
            if (holds(artifact, i, &dims))
                low = middle;
            else
                high = middle - 1;
        }
    return (uint32_t)high;
}
