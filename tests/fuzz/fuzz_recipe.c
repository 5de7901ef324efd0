// Reads arbitrary text as a recipe; a first byte of '{' makes it JSON.
#include <stdlib.h>

#include "recipe/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    StrBuf text = {0};
    Recipe *recipe = NULL;
    diag_sink_init(&sink);
    const char *path = len && data[0] == '{' ? "r.json" : "r.yaml";
    Status status = recipe_parse((const char *)data, len, path, &sink, &recipe);
    if ((status == STATUS_OK) != (sink.num_errors == 0)) abort();
    if (status == STATUS_OK && (recipe->num_buckets == 0 || recipe->buckets[0] != 1)) abort();
    recipe_destroy(recipe);
    diag_render(&sink, &text);
    diag_render_json(&sink, &text);
    strbuf_deinit(&text);
    diag_sink_deinit(&sink);
    return 0;
}
