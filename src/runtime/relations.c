// Relations between the sizes of a call; see relations.h.
#include "runtime/relations.h"

enum { NUM_DIMS = 3 };

typedef struct Dims {
    RelationSize of[NUM_DIMS];
} Dims;

static Dims dims_of(const CallDims *call) {
    return (Dims){{{"batch_size", call->batch_size},
                   {"seq_len", call->seq_len},
                   {"kv_cache_seq_len", call->kv_cache_seq_len}}};
}

static Status refuse(const Artifact *artifact, uint32_t number, const Dims *dims, DiagSink *sink) {
    const Relation *relation = &artifact->parsed_relations[number];
    const PlanRelation *stated = &artifact->relations[number];
    StrBuf sizes = {0}, could_be = {0};
    for (uint32_t i = 0; i < NUM_DIMS; i++) {
        const RelationSize *size = &dims->of[i];
        if (!relation_has(relation, size->name)) continue;
        strbuf_printf(&sizes, "%s%s %llu", sizes.len ? " and " : "", size->name,
                      (unsigned long long)size->value);
        uint64_t most = relation_most(relation, dims->of, NUM_DIMS, i, size->value);
        if (most)
            strbuf_printf(&could_be, "%s%s %llu", could_be.len ? ", or " : "", size->name,
                          (unsigned long long)most);
    }
    Status status = diag_error(sink, DIAG_X0023, (DiagSpan){.file = artifact->path},
                               "%s: the artifact allows %s", sizes.data,
                               artifact_string(artifact, stated->text));
    (void)status;
    diag_evidence(sink, "%llu is more than %llu (%s)",
                  (unsigned long long)relation_product(relation, dims->of, NUM_DIMS),
                  (unsigned long long)relation->bound, artifact_string(artifact, stated->at));
    if (could_be.len) diag_write(sink, "%s", could_be.data);
    strbuf_deinit(&sizes);
    strbuf_deinit(&could_be);
    return STATUS_LIMIT;
}

static bool holds(const Artifact *artifact, uint32_t number, const Dims *dims) {
    const Relation *relation = &artifact->parsed_relations[number];
    return relation_product(relation, dims->of, NUM_DIMS) <= relation->bound;
}

Status relations_check(const Artifact *artifact, const CallDims *call, DiagSink *sink) {
    const Dims dims = dims_of(call);
    for (uint32_t i = 0; i < artifact->num_relations; i++)
        if (!holds(artifact, i, &dims)) return refuse(artifact, i, &dims, sink);
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
