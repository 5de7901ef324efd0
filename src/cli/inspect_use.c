// Which keys and tensors of a model file the compiler uses; see inspect.h.
#include <string.h>

#include "cli/inspect.h"
#include "recipe/model.h"
#include "weights/tokenizer_import.h"

// Asks for as little as a recipe can, so that only the model can be at fault.
static const char smallest[] =
    "version: 1\nmodel_name: inspected\n"
    "input_constraints: {seq_len: {max: 1}, kv_cache_seq_len: {max: 1}}\n";

void inspect_use(Gguf *gguf, DiagSink *sink, GgufUse *out_use) {
    *out_use = (GgufUse){0};
    Recipe *recipe;
    Model model;
    StrBuf blob = {0};
    Status parsed = recipe_parse(smallest, sizeof smallest - 1, "recipe", sink, &recipe);
    BUG_IF(parsed != STATUS_OK, "the smallest recipe is refused");
    Status status = model_init(&model, recipe, gguf, sink);
    // A tensor without a place is refused last, when all that has one is marked.
    bool is_whole = status == STATUS_OK || sink->diags[sink->num_diags - 1].code == DIAG_F0020;
    if (status == STATUS_OK) status = tokenizer_import(gguf, sink, &blob);
    if (status == STATUS_OK) status = tokenizer_check_chat_template(gguf, sink);
    out_use->is_known = is_whole;
    out_use->is_tensor_used = model.is_tensor_used;
    if (status != STATUS_OK) {
        const Diag *last = &sink->diags[sink->num_diags - 1];
        out_use->refusal_code = diag_info(last->code)->code;
        out_use->refusal = last->message;
    }
    strbuf_deinit(&blob);
    recipe_destroy(recipe);
}
