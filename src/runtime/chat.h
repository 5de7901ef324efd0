// A conversation as the prompt the model was trained on: the model's own chat template rendered
// over the messages, and the token ids of the result. Nothing is added that the template does not
// write.
#ifndef INGOT_RUNTIME_CHAT_H
#define INGOT_RUNTIME_CHAT_H

#include "runtime/tokenizer.h"
#include "text/template.h"

typedef struct ChatMessage {
    const char
        *role; // "system", "user", "assistant", "tool": text of ours; others count as user text
    const char *content;
    size_t content_len;
} ChatMessage;

typedef struct ChatOptions {
    bool without_reply;   // leaves out the beginning of the assistant's turn
    const struct tm *now; // what the template may say as today's date; NULL: it may not ask
} ChatOptions;

// Renders the messages. The template sees messages, add_generation_prompt, and bos_token,
// eos_token, unk_token, pad_token (empty where the model has none). out_text is appended to; its
// pieces say what is template text. Errors: T0022 to T0024, STATUS_INVALID.
Status chat_render(const Template *parsed, const Tokenizer *tokenizer, const ChatMessage *messages,
                   size_t num_messages, ChatOptions options, DiagSink *sink,
                   TemplateOutput *out_text) MUST_USE;

// Appends the ids of rendered text: control tokens only from template text. Errors: T0009.
Status chat_encode(const Tokenizer *tokenizer, const TemplateOutput *text, DiagSink *sink,
                   TokenIds *ids) MUST_USE;

#endif
