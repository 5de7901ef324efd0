// template_tool TEMPLATE CONTEXT.json: renders a template file, for comparing with another engine.
// Exit codes: 0 rendered, 1 refused when parsed, 2 failed when rendered.
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "template_json.h"

int main(int argc, char **argv) {
    BUG_IF(argc != 3, "usage: template_tool TEMPLATE CONTEXT.json");
    DiagSink sink;
    diag_sink_init(&sink);
    char *text = NULL;
    uint64_t len = 0;
    json_t *context = json_load_file(argv[2], JSON_ALLOW_NUL, NULL);
    BUG_IF(!context || file_read(argv[1], 1 << 24, &sink, &text, &len) != STATUS_OK, "cannot read");
    Template *parsed = NULL;
    TemplateOutput output = {0};
    struct tm now = {.tm_year = 126, .tm_mon = 6, .tm_mday = 4, .tm_wday = 6, .tm_yday = 184};
    int rc = template_parse(text, len, argv[1], &sink, &parsed) == STATUS_OK ? 0 : 1;
    Arena arena;
    arena_init(&arena);
    if (rc == 0 && template_render(parsed, template_from_json(&arena, context, false), &now, &sink,
                                   &output) != STATUS_OK)
        rc = 2;
    if (rc == 0) fwrite(output.text.data, 1, output.text.len, stdout);
    StrBuf message = {0};
    diag_render(&sink, &message);
    if (message.len) fprintf(stderr, "%s", message.data);
    strbuf_deinit(&message);
    arena_deinit(&arena);
    template_output_deinit(&output);
    template_destroy(parsed);
    free(text);
    json_decref(context);
    diag_sink_deinit(&sink);
    return rc;
}
