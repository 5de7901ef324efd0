// Ingot's run time as a C library: an artifact made by `ingot compile` answers token by token, or,
// compiled from a module, is called with tensors. No compiler is needed where it runs.
//
// Use: open a model, create a session, prefill a prompt, then sample and decode in turn; or open a
// model and call its entries.
//
// Errors. A function that can fail returns an IngotStatus and takes an IngotError ** as its last
// argument (NULL: not wanted). On failure *out_error is a new error that the caller frees with
// ingot_error_free, and every other result is left as it was; on success *out_error is not touched.
// An exhausted heap ends the program with a message, as does a fault of the library itself.
//
// Ownership. What a function creates, the caller destroys with the function named there; destroying
// NULL is allowed. Sessions, samplers and texts must be destroyed before their model is closed. All
// other pointers returned are borrowed and live as long as their model, unless said otherwise.
//
// Threads. One thread at a time may use a model and its sessions; different models are independent.
// The functions that only read a model (marked *any thread*) may be called at any time while it is
// open. Each model runs its kernels on worker threads of its own, which sleep between calls.
//
// Results are the same to the bit for every number of threads and every way a prompt is cut.
//
// An artifact holds machine code: open only files that you would run as a program.
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

typedef enum IngotStatus {
    INGOT_OK = 0,
    INGOT_USAGE = 2,       // an option has no meaning
    INGOT_INVALID = 3,     // the file or the request is refused as invalid
    INGOT_LIMIT = 4,       // does not fit: memory, context, threads
    INGOT_ENVIRONMENT = 5, // the processor lacks a feature, the file is of another version
    INGOT_IO = 6,          // reading failed
} IngotStatus;

typedef struct IngotError IngotError;
typedef struct IngotModel IngotModel;
typedef struct IngotSession IngotSession;
typedef struct IngotSampler IngotSampler;
typedef struct IngotText IngotText;

// "0.1.0"
INGOT_API const char *ingot_version(void);

// ---- errors

// The code of the catalogue ("X0011"; `ingot explain X0011` says more), one sentence, and the whole
// text as the command line prints it. Live until the error is freed; NULL gives "".
INGOT_API const char *ingot_error_code(const IngotError *error);
INGOT_API const char *ingot_error_message(const IngotError *error);
INGOT_API const char *ingot_error_text(const IngotError *error);
INGOT_API void ingot_error_free(IngotError *error);

// ---- models

typedef struct IngotOptions {
    uint32_t num_threads;  // 0: what the artifact, the affinity mask and the control group allow
    const char *cpu_level; // NULL: the best this processor runs; else a lesser one, by name
} IngotOptions;

// Opens an artifact, checks it, and takes all memory it will ever use. options NULL: all defaults.
INGOT_API IngotStatus ingot_model_open(const char *path, const IngotOptions *options,
                                       IngotModel **out_model, IngotError **out_error);
INGOT_API void ingot_model_close(IngotModel *model);

typedef struct IngotModelInfo {
    const char *name;      // of the model
    const char *cpu_level; // of the code in use
    uint32_t num_threads, max_threads;
    uint32_t vocab_size;
    uint32_t context_tokens; // a sequence can have
    uint32_t page_tokens;    // per page of the KV cache
    uint32_t chunk_tokens;   // the most of one sequence that one pass over the weights takes
    uint32_t max_sequences;  // the most that one pass takes a token each of; 1: no batches
    bool has_tokenizer, has_chat_template;
    uint64_t memory_bytes; // resident, planned; the sum of the parts
} IngotModelInfo;
INGOT_API IngotModelInfo ingot_model_info(const IngotModel *model); // any thread

typedef struct IngotMemoryPart {
    const char *name, *set_by; // what it is, and what decides its size
    uint64_t bytes;
    bool is_outside; // listed, but not of the plan: not counted in memory_bytes
} IngotMemoryPart;
// Number of lines of the memory table, and line i. Any thread.
INGOT_API uint32_t ingot_model_num_memory_parts(const IngotModel *model);
INGOT_API IngotMemoryPart ingot_model_memory_part(const IngotModel *model, uint32_t i);

// Runs every compiled version once - each bucket of tokens and of sequences, or each entry on
// arguments of zeros - so that no later call is the first of its kind. Takes as long as that; the
// logits of all sessions are gone, the memory of arguments is overwritten, nothing else changes.
// Refused if sessions hold the KV pages that it needs (X0015).
INGOT_API IngotStatus ingot_model_warm_up(IngotModel *model, IngotError **out_error);

// ---- sessions: one sequence of tokens each. Those of a model share its KV pages.

INGOT_API IngotStatus ingot_session_create(IngotModel *model, IngotSession **out_session,
                                           IngotError **out_error);
INGOT_API void ingot_session_destroy(IngotSession *session);
// Forgets all tokens.
INGOT_API void ingot_session_reset(IngotSession *session);
// Forgets all but the first num_tokens tokens, if there are more; the logits are gone until the
// next prefill or decode. For a conversation that goes on from a common beginning.
INGOT_API void ingot_session_truncate(IngotSession *session, uint32_t num_tokens);

// Appends tokens and computes the logits after the last one. Refused before anything is computed or
// changed: more tokens than the context holds (X0011), an id outside the vocabulary (X0012), pages
// held by other sessions (X0015). num_ids 0: nothing happens.
INGOT_API IngotStatus ingot_prefill(IngotSession *session, const int32_t *ids, size_t num_ids,
                                    IngotError **out_error);
// The same, with the logits after every token: `each` gets them in order, index 0 for the first id,
// and they are to the bit those that ingot_decode of one token after the other would give, in a
// fraction of the time. They live until `each` returns; `each` must not use the session.
typedef void (*IngotLogitsFn)(void *context, size_t index, const float *logits);
INGOT_API IngotStatus ingot_prefill_each(IngotSession *session, const int32_t *ids, size_t num_ids,
                                         IngotLogitsFn each, void *context, IngotError **out_error);
// ingot_prefill for one token.
INGOT_API IngotStatus ingot_decode(IngotSession *session, int32_t id, IngotError **out_error);
// ids[i] for sessions[i], all different and of one model, in one pass over the weights: each gets
// to the bit the logits that ingot_decode would give it. At most max_sequences of the model
// (X0022); else refused like ingot_prefill. num 0: nothing happens.
INGOT_API IngotStatus ingot_decode_batch(IngotSession *const *sessions, const int32_t *ids,
                                         size_t num, IngotError **out_error);

// float[vocab_size] after the last token: natural, not normalised. Valid until the next prefill or
// decode on any session of the model. NULL before the first.
INGOT_API const float *ingot_logits(const IngotSession *session);
INGOT_API uint32_t ingot_session_num_tokens(const IngotSession *session);
// Cuts prompts into chunks of at most this many tokens, 1 to chunk_tokens of the model.
INGOT_API IngotStatus ingot_session_set_chunk(IngotSession *session, uint32_t chunk_tokens,
                                              IngotError **out_error);

// ---- tensors: what an artifact compiled from a module (`ingot compile model.mlir`) takes and
// gives

typedef struct IngotTensor {
    const char *name;
    const char *type;    // of the elements, as in the module: "f32", "i8", "index", ...
    uint32_t rank;       // at most 16
    const int64_t *dims; // rank of them
    void *data;          // row-major; bf16 as its two bytes, i1 as a byte 0 or 1, index as i64
    size_t len_bytes;
} IngotTensor;

// Entries by number, and their arguments and results. An entry that was compiled for several sizes
// has one number for each, under one name. 0 entries: a language model. Any thread. The data of a
// result is NULL; that of an argument is where a call reads it, and lives as long as the model: an
// argument that is written there and passed as it is, is not copied. Entries share this memory.
INGOT_API uint32_t ingot_model_num_entries(const IngotModel *model);
INGOT_API const char *ingot_entry_name(const IngotModel *model, uint32_t entry);
INGOT_API uint32_t ingot_entry_num_arguments(const IngotModel *model, uint32_t entry);
INGOT_API uint32_t ingot_entry_num_results(const IngotModel *model, uint32_t entry);
INGOT_API IngotTensor ingot_entry_argument(const IngotModel *model, uint32_t entry, uint32_t i);
INGOT_API IngotTensor ingot_entry_result(const IngotModel *model, uint32_t entry, uint32_t i);

// Calls an entry (NULL: the only one) with all its arguments, in any order. out_results: room for
// the first num_results results; their data and dimensions belong to the model and live until the
// next call on it. An argument that is missing, unknown, or of another type or size: X0020; one
// whose size varies and lies outside its range: X0021; nothing has run then. Where sizes vary the
// smallest version that holds them is run, and results have the sizes of the call: an argument is
// given, and a result stands, without gaps.
INGOT_API IngotStatus ingot_call(IngotModel *model, const char *entry, const IngotTensor *arguments,
                                 size_t num_arguments, IngotTensor *out_results, size_t num_results,
                                 IngotError **out_error);

// ---- text (any thread). Without a tokenizer in the artifact: X0017.

enum {
    INGOT_TOKENIZE_SPECIAL = 1, // the text of a control token is that token; for templates, never
                                // for text of strangers
    INGOT_TOKENIZE_BOS = 2,     // the beginning-of-text token first
};
// The ids of a text of len bytes; bytes that the vocabulary cannot express are left out.
// The caller frees *out_ids with ingot_ids_free.
INGOT_API IngotStatus ingot_tokenize(const IngotModel *model, const char *text, size_t len,
                                     uint32_t flags, int32_t **out_ids, size_t *out_num_ids,
                                     IngotError **out_error);
INGOT_API void ingot_ids_free(int32_t *ids);
// True if a plain prompt of this model begins with the beginning-of-text token.
INGOT_API bool ingot_adds_bos(const IngotModel *model);
// True for every token that ends an answer.
INGOT_API bool ingot_token_is_end(const IngotModel *model, int32_t id);
// The bytes of one token: borrowed, not NUL-terminated, perhaps a part of a character. False if
// there is no such token.
INGOT_API bool ingot_token_bytes(const IngotModel *model, int32_t id, const char **out_bytes,
                                 size_t *out_len);

// Tokens as a stream of whole characters; one owner thread.
INGOT_API IngotText *ingot_text_create(const IngotModel *model);
INGOT_API void ingot_text_destroy(IngotText *text);
// The characters that a token completes, NUL-terminated, often none; valid until the next call.
INGOT_API const char *ingot_text_push(IngotText *text, int32_t id);
// What an unfinished character leaves at the end (U+FFFD or nothing); the stream starts anew.
INGOT_API const char *ingot_text_finish(IngotText *text);

typedef struct IngotMessage {
    const char *role;    // NUL-terminated: "system", "user", "assistant", "tool"
    const char *content; // UTF-8, content_len bytes
    size_t content_len;
} IngotMessage;
// Renders the model's own chat template over a conversation, the beginning of the reply included,
// and tokenises it: only text of the template becomes control tokens, never text of a message. now:
// the date that a template may write; NULL: it may not ask. The caller frees *out_ids with
// ingot_ids_free. Without a template in the artifact: X0017; what a template cannot do: T0020 to
// T0024.
INGOT_API IngotStatus ingot_chat_prompt(const IngotModel *model, const IngotMessage *messages,
                                        size_t num_messages, const struct tm *now,
                                        int32_t **out_ids, size_t *out_num_ids,
                                        IngotError **out_error);

// ---- sampling; one owner thread per sampler

typedef struct IngotSampling {
    double temperature; // 0: the most likely token, the rest is ignored
    int32_t top_k;      // 0: off
    double top_p;       // 1: off
    double min_p;       // 0: off
    uint64_t seed;
} IngotSampling;
// sampling NULL: the most likely token.
INGOT_API IngotStatus ingot_sampler_create(const IngotModel *model, const IngotSampling *sampling,
                                           IngotSampler **out_sampler, IngotError **out_error);
INGOT_API void ingot_sampler_destroy(IngotSampler *sampler);
// Chooses a token from the session's logits. Before the first prefill: X0016.
INGOT_API IngotStatus ingot_sample(IngotSampler *sampler, const IngotSession *session,
                                   int32_t *out_id, IngotError **out_error);

#ifdef __cplusplus
}
#endif
#endif
