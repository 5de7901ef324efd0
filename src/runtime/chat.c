// Messages -> template -> pieces -> token ids; see chat.h.
#include "runtime/chat.h"

#include <stdlib.h>
#include <string.h>

static TemplateValue text_value(Arena *arena, const char *text) {
    return template_string(arena, text, strlen(text), false);
}

static void set(Arena *arena, TemplateValue dict, const char *key, TemplateValue value) {
    template_dict_set(arena, dict, text_value(arena, key), value);
}

static bool is_known_role(const char *role) {
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (str_equal(role, roles[i])) return true;
    return false;
}

static TemplateValue message_value(Arena *arena, const ChatMessage *message) {
    TemplateValue value = template_dict(arena);
    set(arena, value, "role",
        template_string(arena, message->role, strlen(message->role),
                        !is_known_role(message->role)));
    set(arena, value, "content",
        template_string(arena, message->content, message->content_len, true));
    return value;
}

// The text of a special token, "" if the model has none.
static TemplateValue token_value(Arena *arena, const Tokenizer *tokenizer, int32_t id) {
    const char *bytes = "";
    size_t len = 0;
    if (id >= 0) (void)tokenizer_decode_token(tokenizer, id, &bytes, &len);
    return template_string(arena, bytes, len, false);
}

static TemplateValue make_variables(Arena *arena, const Tokenizer *tokenizer,
                                    const ChatMessage *messages, size_t num_messages,
                                    ChatOptions options) {
    TemplateValue variables = template_dict(arena), list = template_list(arena);
    for (size_t i = 0; i < num_messages; i++)
        template_list_add(arena, list, message_value(arena, &messages[i]));
    set(arena, variables, "messages", list);
    set(arena, variables, "add_generation_prompt",
        (TemplateValue){.kind = TEMPLATE_BOOL, .b = !options.without_reply});
    set(arena, variables, "bos_token", token_value(arena, tokenizer, tokenizer_bos(tokenizer)));
    set(arena, variables, "eos_token", token_value(arena, tokenizer, tokenizer_eos(tokenizer)));
    set(arena, variables, "unk_token", token_value(arena, tokenizer, tokenizer_unknown(tokenizer)));
    set(arena, variables, "pad_token", token_value(arena, tokenizer, -1));
    return variables;
}

Status chat_render(const Template *parsed, const Tokenizer *tokenizer, const ChatMessage *messages,
                   size_t num_messages, ChatOptions options, DiagSink *sink,
                   TemplateOutput *out_text) {
    Arena arena;
    arena_init(&arena);
    TemplateValue variables = make_variables(&arena, tokenizer, messages, num_messages, options);
    Status status = template_render(parsed, variables, options.now, sink, out_text);
    arena_deinit(&arena);
    return status;
}

Status chat_encode(const Tokenizer *tokenizer, const TemplateOutput *text, DiagSink *sink,
                   TokenIds *ids) {
    TextPiece *pieces = base_alloc(text->num_pieces, sizeof *pieces);
    for (size_t i = 0; i < text->num_pieces; i++)
        pieces[i] = (TextPiece){.text = text->text.data + text->pieces[i].offset,
                                .len = text->pieces[i].len,
                                .is_template = !text->pieces[i].is_user};
    Status status = tokenizer_encode_pieces(tokenizer, pieces, text->num_pieces,
                                            TOKENIZE_PARSE_SPECIAL, sink, ids);
    free(pieces);
    return status;
}
