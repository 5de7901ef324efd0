// Finds a model by its name; see known_model.h.
#include "recipe/known_model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"

// Texts of data/models/*.yaml, made into strings by the build.
extern const EmbeddedFile model_files[];

// Letters and digits, in small letters.
static bool is_same_name(const char *a, size_t a_len, const char *b) {
    const char *end = a + a_len;
    for (;;) {
        while (a < end && !isalnum((unsigned char)*a)) a++;
        while (*b && !isalnum((unsigned char)*b)) b++;
        if (a == end || !*b) return a == end && !*b;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++)) return false;
    }
}

Status known_model_load(const char *name, DiagSink *sink, const DocNode **out_node,
                        const char **out_name) {
    const char *folder = getenv("INGOT_DATA_DIR");
    for (const EmbeddedFile *file = model_files; file->name; file++) {
        size_t len = strlen(file->name) - strlen(".yaml");
        if (!is_same_name(file->name, len, name)) continue;
        const DocNode *node = NULL;
        if (folder && *folder)
            TRY(doc_load(arena_printf(&sink->arena, "%s/models/%s", folder, file->name), sink,
                         &node));
        else
            TRY(doc_parse(file->text, file->len, file->name, DOC_YAML, sink, &node));
        TRY(doc_want_kind(node, "the description of a model", DOC_MAP, sink));
        *out_name = arena_strndup(&sink->arena, file->name, len);
        *out_node = node;
        return STATUS_OK;
    }
    return STATUS_OK;
}
