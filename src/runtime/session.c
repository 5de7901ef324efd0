// Sessions; see session.h.
#include "runtime/session.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/buckets.h"
#include "runtime/relations.h"

struct Session {
    Executor *executor;
    uint32_t num_tokens, chunk_tokens;
    uint32_t num_pages; // assigned; the rest of the page table is 0
    bool has_logits;
    uint32_t row;         // its logits' in the last call
    int32_t page_table[]; // max_pages
};

static const PlanHeader *plan_of(const Session *session) {
    return executor_artifact(session->executor)->plan;
}

Session *session_create(Executor *executor) {
    const Artifact *artifact = executor_artifact(executor);
    uint64_t table_bytes = (uint64_t)artifact->plan->max_pages * sizeof(int32_t);
    Session *session = base_alloc(1, sizeof *session + table_bytes);
    session->executor = executor;
    session->chunk_tokens = artifact_largest_bucket(artifact);
    return session;
}

// Pages go back in the opposite order of taking: the next sequence gets the same ones.
static void forget(Session *session, uint32_t num_tokens) {
    uint64_t page_len = plan_of(session)->page_len_tokens;
    while (session->num_pages * page_len >= num_tokens + page_len) {
        int32_t *slot = &session->page_table[--session->num_pages];
        executor_give_page(session->executor, *slot);
        *slot = 0;
    }
    session->num_tokens = num_tokens;
    session->has_logits = false;
}

void session_reset(Session *session) {
    forget(session, 0);
}

void session_truncate(Session *session, uint32_t num_tokens) {
    if (num_tokens < session->num_tokens) forget(session, num_tokens);
}

void session_destroy(Session *session) {
    if (!session) return;
    session_reset(session);
    free(session);
}

// The lines of the recipe that decide how many tokens and sequences there are.
static void say_what_sets_pages(const Artifact *artifact, DiagSink *sink) {
    const char *set_by = artifact_set_by(artifact, "kv pages");
    if (*set_by) diag_evidence(sink, "set by %s", set_by);
}

// Tokens of the next chunk of num_ids behind `used` others: the relations may allow fewer than the
// largest bucket.
static uint32_t chunk_of(const Session *session, uint64_t used, uint64_t num_ids) {
    const Artifact *artifact = executor_artifact(session->executor);
    const CallDims call = {1, MIN(num_ids, (uint64_t)session->chunk_tokens), used};
    uint32_t chunk = relations_chunk(artifact, &call);
    return chunk < call.seq_len ? bucket_below(artifact, false, chunk) : chunk;
}

// Are all chunks of a request sizes that the recipe wants computed?
static Status check_chunks(const Session *session, uint64_t num_ids, DiagSink *sink) {
    const Artifact *artifact = executor_artifact(session->executor);
    uint64_t used = session->num_tokens;
    if (artifact->num_sizes == 0) return STATUS_OK;
    while (num_ids > 0) {
        uint32_t chunk = chunk_of(session, used, num_ids);
        if (bucket_is_refused(artifact, false, chunk))
            return bucket_refuse(artifact, false, chunk, sink);
        used += chunk;
        num_ids -= chunk;
    }
    return STATUS_OK;
}

// Refuses what cannot be computed, before anything is.
static Status check_request(const Session *session, const int32_t *ids, uint64_t num_ids,
                            DiagSink *sink) {
    const Artifact *artifact = executor_artifact(session->executor);
    const PlanHeader *plan = artifact->plan;
    const DiagSpan span = {.file = artifact->path};
    uint32_t room = plan->context_len_tokens - session->num_tokens;
    if (num_ids > room) {
        Status status =
            diag_error(sink, DIAG_X0011, span,
                       "the context holds %u tokens: %u are used, %llu more do not fit",
                       plan->context_len_tokens, session->num_tokens, (unsigned long long)num_ids);
        (void)status;
        say_what_sets_pages(artifact, sink);
        if (num_ids < UINT32_MAX)
            diag_write(sink, "input_constraints: {kv_cache_seq_len: {max: %llu}}, compiled anew",
                       (unsigned long long)(session->num_tokens + num_ids));
        return STATUS_LIMIT;
    }
    uint64_t page_len = plan->page_len_tokens;
    uint64_t needed = (session->num_tokens + num_ids + page_len - 1) / page_len;
    uint32_t num_free = executor_num_free_pages(session->executor);
    if (needed > (uint64_t)session->num_pages + num_free) {
        Status status = diag_error(
            sink, DIAG_X0015, span, "%llu more KV pages are needed, %u of %u are free",
            (unsigned long long)(needed - session->num_pages), num_free, plan->num_pages);
        (void)status;
        return STATUS_LIMIT;
    }
    if (num_ids > 0) {
        const CallDims least = {1, 1, session->num_tokens + num_ids}; // in chunks of one token
        TRY(relations_check(artifact, &least, sink));
        TRY(check_chunks(session, num_ids, sink));
    }
    for (uint64_t i = 0; i < num_ids; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= plan->vocab_size)
            return diag_error(sink, DIAG_X0012, span,
                              "token %llu of the request is %d; ids are 0 to %u",
                              (unsigned long long)i, ids[i], plan->vocab_size - 1);
    return STATUS_OK;
}

static void take_pages(Session *session, uint32_t num_tokens) {
    uint64_t page_len = plan_of(session)->page_len_tokens;
    while (session->num_pages * page_len < num_tokens) {
        int32_t *slot = &session->page_table[session->num_pages++];
        BUG_IF(!executor_take_page(session->executor, slot), "no page was free");
    }
}

// The call that was made; its head can be run again where the entry allows it.
static ExecutorCall run_chunk(Session *session, const int32_t *ids, uint32_t num_tokens,
                              ExecutorPart part) {
    const PlanHeader *plan = plan_of(session);
    ExecutorIo io = executor_io(session->executor);
    uint32_t end = session->num_tokens + num_tokens;
    take_pages(session, end);
    memcpy(io.tokens, ids, num_tokens * sizeof *ids);
    memcpy(io.page_table, session->page_table, plan->max_pages * sizeof *io.page_table);
    const ExecutorCall call = {
        .entry = bucket_entry(executor_artifact(session->executor), false, num_tokens),
        .num_valid = num_tokens,
        .start = session->num_tokens,
        .part = part,
    };
    (void)executor_run(session->executor, &call); // a language model has no checks
    session->num_tokens = end;
    session->row = 0;
    return call;
}

Status session_prefill(Session *session, const int32_t *ids, uint64_t num_ids, DiagSink *sink) {
    TRY(check_request(session, ids, num_ids, sink));
    while (num_ids > 0) {
        uint32_t num_tokens = chunk_of(session, session->num_tokens, num_ids);
        (void)run_chunk(session, ids, num_tokens,
                        num_tokens == num_ids ? EXECUTOR_ALL : EXECUTOR_BODY);
        session->has_logits = true;
        ids += num_tokens;
        num_ids -= num_tokens;
    }
    return STATUS_OK;
}

// A chunk's layers once, then its head for each row.
static void run_chunk_each(Session *session, const int32_t *ids, uint32_t num_tokens,
                           SessionLogitsFn each, void *context, uint64_t first_index) {
    const float *logits = executor_io(session->executor).logits;
    ExecutorCall call = run_chunk(session, ids, num_tokens, EXECUTOR_BODY);
    call.part = EXECUTOR_HEAD;
    for (uint32_t row = 0; row < num_tokens; row++) {
        call.num_valid = row + 1;
        (void)executor_run(session->executor, &call); // a language model has no checks
        each(context, first_index + row, logits);
    }
}

Status session_prefill_each(Session *session, const int32_t *ids, uint64_t num_ids,
                            SessionLogitsFn each, void *context, DiagSink *sink) {
    TRY(check_request(session, ids, num_ids, sink));
    const Artifact *artifact = executor_artifact(session->executor);
    for (uint64_t done = 0; done < num_ids;) {
        uint32_t num_tokens = chunk_of(session, session->num_tokens, num_ids - done);
        bool repeats = artifact->entries[bucket_entry(artifact, false, num_tokens)].repeats_head;
        session->has_logits = true;
        if (repeats && num_tokens > 1) { // else the tokens one by one: the same numbers, later
            run_chunk_each(session, ids + done, num_tokens, each, context, done);
        } else {
            num_tokens = 1;
            (void)run_chunk(session, ids + done, 1, EXECUTOR_ALL);
            each(context, done, executor_io(session->executor).logits);
        }
        done += num_tokens;
    }
    return STATUS_OK;
}

Status session_decode(Session *session, int32_t id, DiagSink *sink) {
    return session_prefill(session, &id, 1, sink);
}

// Refuses a batch that cannot be computed, before anything is.
static Status check_batch(Session *const *sessions, const int32_t *ids, uint32_t num,
                          DiagSink *sink) {
    const Artifact *artifact = executor_artifact(sessions[0]->executor);
    const DiagSpan span = {.file = artifact->path};
    uint64_t page_len = artifact->plan->page_len_tokens, num_pages = 0;
    CallDims call = {num, 1, 0};
    if (num > artifact->plan->max_sequences) {
        Status status = diag_error(sink, DIAG_X0022, span,
                                   "%u sequences at once; the artifact is planned for at most %u",
                                   num, artifact->plan->max_sequences);
        (void)status;
        say_what_sets_pages(artifact, sink);
        diag_write(sink, "input_constraints: {batch_size: {max: %u}}, compiled anew", num);
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < num; i++) {
        BUG_IF(sessions[i]->executor != sessions[0]->executor, "sessions of two executors");
        for (uint32_t k = 0; k < i; k++)
            if (sessions[k] == sessions[i])
                return diag_error(sink, DIAG_X0022, span, "sequences %u and %u are the same one", k,
                                  i);
        TRY(check_request(sessions[i], &ids[i], 1, sink));
        num_pages += sessions[i]->num_pages * page_len == sessions[i]->num_tokens;
        call.kv_cache_seq_len = MAX(call.kv_cache_seq_len, sessions[i]->num_tokens + (uint64_t)1);
    }
    TRY(relations_check(artifact, &call, sink));
    if (bucket_is_refused(artifact, true, num)) return bucket_refuse(artifact, true, num, sink);
    uint32_t num_free = executor_num_free_pages(sessions[0]->executor);
    if (num_pages <= num_free) return STATUS_OK;
    Status status =
        diag_error(sink, DIAG_X0015, span, "%llu more KV pages are needed, %u of %u are free",
                   (unsigned long long)num_pages, num_free, artifact->plan->num_pages);
    (void)status;
    return STATUS_LIMIT;
}

Status session_decode_batch(Session *const *sessions, const int32_t *ids, uint32_t num,
                            DiagSink *sink) {
    if (num == 0) return STATUS_OK;
    if (num == 1) return session_decode(sessions[0], ids[0], sink);
    TRY(check_batch(sessions, ids, num, sink));
    Executor *executor = sessions[0]->executor;
    const Artifact *artifact = executor_artifact(executor);
    uint32_t max_pages = artifact->plan->max_pages, entry = bucket_entry(artifact, true, num);
    ExecutorIo io = executor_io(executor);
    memset(io.starts, 0, artifact->io.starts_bytes);
    for (uint32_t i = 0; i < num; i++) {
        Session *session = sessions[i];
        take_pages(session, session->num_tokens + 1);
        io.tokens[i] = ids[i];
        io.starts[i] = (int32_t)session->num_tokens++;
        memcpy(io.page_table + (uint64_t)i * max_pages, session->page_table,
               max_pages * sizeof *io.page_table);
        session->has_logits = true;
        session->row = i;
    }
    const ExecutorCall call = {.entry = entry, .num_valid = num};
    (void)executor_run(executor, &call); // a language model has no checks
    return STATUS_OK;
}

const float *session_logits(const Session *session) {
    if (!session->has_logits) return NULL;
    return executor_io(session->executor).logits +
           (uint64_t)session->row * plan_of(session)->vocab_size;
}

uint32_t session_num_tokens(const Session *session) {
    return session->num_tokens;
}

Status session_set_chunk(Session *session, uint32_t chunk_tokens, DiagSink *sink) {
    uint32_t largest = artifact_largest_bucket(executor_artifact(session->executor));
    if (chunk_tokens == 0 || chunk_tokens > largest)
        return diag_error(sink, DIAG_X0016, (DiagSpan){0},
                          "chunks of %u tokens; 1 to %u are possible", chunk_tokens, largest);
    session->chunk_tokens = chunk_tokens;
    return STATUS_OK;
}

uint32_t session_chunk(const Session *session) {
    return session->chunk_tokens;
}
