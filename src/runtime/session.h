// A session: one sequence of tokens on an executor, with its pages of the KV cache. Several
// sessions may share an executor, used in turn by the one thread that owns it.
#ifndef INGOT_RUNTIME_SESSION_H
#define INGOT_RUNTIME_SESSION_H

#include "runtime/executor.h"

typedef struct Session Session;

// The executor is borrowed and must outlive the session. All memory is taken here.
Session *session_create(Executor *executor) MUST_USE;
void session_destroy(Session *session); // gives its pages back; NULL is allowed
// Forgets all tokens and gives the pages back; nothing else changes.
void session_reset(Session *session);

// Forgets all but the first num_tokens tokens, if there are more: what follows is computed as if
// they had never been. The logits are gone until the next prefill or decode.
void session_truncate(Session *session, uint32_t num_tokens);

// Appends tokens to the sequence and computes the logits after the last one. The prompt is cut into
// chunks of at most session_chunk tokens, fewer where the relations of the recipe want it, each run
// by the smallest entry that holds it; the logits do not depend on the cut. num_ids 0: nothing
// happens. Failures, all before anything is computed or changed: X0011 context full (STATUS_LIMIT,
// with both numbers), X0015 no page free (STATUS_LIMIT), X0023 a relation (STATUS_LIMIT), X0021 a
// chunk of a size that the recipe refuses, X0012 bad id (STATUS_INVALID).
Status session_prefill(Session *session, const int32_t *ids, uint64_t num_ids,
                       DiagSink *sink) MUST_USE;
// The same, with the logits after each token on the way: they are given to `each` in order, index 0
// for the first, and are those that the tokens one by one would give, to the bit. A chunk runs the
// layers once for all its tokens. `each` must not use the session.
typedef void (*SessionLogitsFn)(void *context, uint64_t index, const float *logits);
Status session_prefill_each(Session *session, const int32_t *ids, uint64_t num_ids,
                            SessionLogitsFn each, void *context, DiagSink *sink) MUST_USE;
// Appends one token: a prefill of one.
Status session_decode(Session *session, int32_t id, DiagSink *sink) MUST_USE;

// Appends a token to each of several sequences of one executor, all different, in one call: their
// logits are those that session_decode would give each. num 0: nothing happens. Failures, all
// before anything is computed or changed: those of session_prefill, and X0022: more sequences than
// the artifact is planned for (STATUS_LIMIT), one of them twice (STATUS_INVALID).
Status session_decode_batch(Session *const *sessions, const int32_t *ids, uint32_t num,
                            DiagSink *sink) MUST_USE;

// f32[vocab_size] after the last token; valid until the next prefill or decode of any session on
// the executor. NULL before the first one.
const float *session_logits(const Session *session);
uint32_t session_num_tokens(const Session *session); // so far; the position of the next one

// Tokens per chunk, 1 to the largest bucket (the default).
Status session_set_chunk(Session *session, uint32_t chunk_tokens, DiagSink *sink) MUST_USE;
uint32_t session_chunk(const Session *session);

#endif
