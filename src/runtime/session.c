// Sessions; see session.h.
#include "runtime/session.h"

#include <stdlib.h>
#include <string.h>

struct Session {
    Executor *executor;
    uint32_t num_tokens, chunk_tokens;
    uint32_t num_pages; // assigned; the rest of the page table is 0
    bool has_logits;
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
        return STATUS_LIMIT;
    }
    uint64_t page_len = plan->page_len_tokens;
    uint64_t needed = (session->num_tokens + num_ids + page_len - 1) / page_len;
    uint32_t num_free = executor_num_free_pages(session->executor);
    if (needed > (uint64_t)session->num_pages + num_free) {
        Status status = diag_error(
            sink, DIAG_X0015, span, "%llu more KV pages are needed, %u of %u are free",
            (unsigned long long)(needed - session->num_pages), num_free, plan->max_pages);
        (void)status;
        return STATUS_LIMIT;
    }
    for (uint64_t i = 0; i < num_ids; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= plan->vocab_size)
            return diag_error(sink, DIAG_X0012, span,
                              "token %llu of the request is %d; ids are 0 to %u",
                              (unsigned long long)i, ids[i], plan->vocab_size - 1);
    return STATUS_OK;
}

// Index of the smallest entry that holds num_tokens.
static uint32_t pick_entry(const Artifact *artifact, uint32_t num_tokens) {
    for (uint32_t i = 0; i < artifact->plan->entries.count; i++)
        if (artifact->entries[i].bucket_tokens >= num_tokens) return i;
    BUG("no bucket holds %u tokens", num_tokens);
}

// The call that was made; its head can be run again where the entry allows it.
static ExecutorCall run_chunk(Session *session, const int32_t *ids, uint32_t num_tokens,
                              ExecutorPart part) {
    const PlanHeader *plan = plan_of(session);
    ExecutorIo io = executor_io(session->executor);
    uint32_t end = session->num_tokens + num_tokens;
    while ((uint64_t)session->num_pages * plan->page_len_tokens < end) {
        int32_t *slot = &session->page_table[session->num_pages++];
        BUG_IF(!executor_take_page(session->executor, slot), "no page was free");
    }
    memcpy(io.tokens, ids, num_tokens * sizeof *ids);
    memcpy(io.page_table, session->page_table, plan->max_pages * sizeof *io.page_table);
    const ExecutorCall call = {
        .entry = pick_entry(executor_artifact(session->executor), num_tokens),
        .num_valid = num_tokens,
        .start = session->num_tokens,
        .part = part,
    };
    (void)executor_run(session->executor, &call); // a language model has no checks
    session->num_tokens = end;
    return call;
}

Status session_prefill(Session *session, const int32_t *ids, uint64_t num_ids, DiagSink *sink) {
    TRY(check_request(session, ids, num_ids, sink));
    while (num_ids > 0) {
        uint32_t num_tokens = (uint32_t)MIN(num_ids, (uint64_t)session->chunk_tokens);
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
        uint32_t num_tokens = (uint32_t)MIN(num_ids - done, (uint64_t)session->chunk_tokens);
        bool repeats = artifact->entries[pick_entry(artifact, num_tokens)].repeats_head;
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

const float *session_logits(const Session *session) {
    return session->has_logits ? executor_io(session->executor).logits : NULL;
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
