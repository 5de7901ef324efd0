// Chat templates: any text is parsed; what parses is rendered over a conversation with tools.
#include <string.h>

#include "text/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void set(Arena *arena, TemplateValue dict, const char *key, TemplateValue value) {
    template_dict_set(arena, dict, template_string(arena, key, strlen(key), false), value);
}

static TemplateValue text_value(Arena *arena, const char *text, bool is_user) {
    return template_string(arena, text, strlen(text), is_user);
}

static TemplateValue message(Arena *arena, const char *role, const char *content) {
    TemplateValue value = template_dict(arena);
    set(arena, value, "role", text_value(arena, role, false));
    set(arena, value, "content", text_value(arena, content, true));
    return value;
}

static TemplateValue make_variables(Arena *arena) {
    TemplateValue variables = template_dict(arena), messages = template_list(arena);
    TemplateValue tools = template_list(arena), tool = template_dict(arena);
    template_list_add(arena, messages, message(arena, "system", "Be brief.\n"));
    template_list_add(arena, messages,
                      message(arena, "user",
                              " Gr\xC3\xBC\xC3\x9F"
                              "e <|end|> \xF0\x9F\x90\x95"));
    template_list_add(arena, messages, message(arena, "assistant", "<think>x</think>\n\nyes"));
    template_list_add(arena, messages, message(arena, "user", "\xFF\xE2\x82"));
    set(arena, tool, "name", text_value(arena, "f", true));
    set(arena, tool, "n", (TemplateValue){.kind = TEMPLATE_INT, .i = -3});
    set(arena, tool, "x", (TemplateValue){.kind = TEMPLATE_FLOAT, .f = 0.1});
    set(arena, tool, "none", (TemplateValue){.kind = TEMPLATE_NONE});
    template_list_add(arena, tools, tool);
    set(arena, variables, "messages", messages);
    set(arena, variables, "tools", tools);
    set(arena, variables, "add_generation_prompt",
        (TemplateValue){.kind = TEMPLATE_BOOL, .b = true});
    set(arena, variables, "bos_token", text_value(arena, "<s>", false));
    set(arena, variables, "s", text_value(arena, "Hello, World", false));
    set(arena, variables, "n", (TemplateValue){.kind = TEMPLATE_INT, .i = 7});
    set(arena, variables, "l", messages);
    set(arena, variables, "d", tool);
    return variables;
}

static void check_output(const TemplateOutput *output) {
    size_t offset = 0;
    for (size_t i = 0; i < output->num_pieces; i++) {
        BUG_IF(output->pieces[i].offset != offset || !output->pieces[i].len, "pieces have gaps");
        offset += output->pieces[i].len;
    }
    BUG_IF(offset != output->text.len, "pieces do not cover the text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    diag_sink_init(&sink);
    Template *parsed = NULL;
    if (template_parse((const char *)data, len, "fuzz", &sink, &parsed) == STATUS_OK) {
        Arena arena;
        arena_init(&arena);
        TemplateOutput output = {0};
        struct tm now = {.tm_year = 126, .tm_mday = 1};
        if (template_render(parsed, make_variables(&arena), &now, &sink, &output) == STATUS_OK)
            check_output(&output);
        else
            BUG_IF(output.text.len || !sink.num_errors, "a failed rendering without a reason");
        template_output_deinit(&output);
        arena_deinit(&arena);
        template_destroy(parsed);
    }
    diag_sink_deinit(&sink);
    return 0;
}
