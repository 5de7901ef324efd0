// Reads the file of a recipe; see recipe.h.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "abi/plan.h"
#include "base/file.h"
#include "recipe/recipe.h"
#include "text/doc.h"

// A model, an artifact or a folder where the recipe should stand is named as what it is: the reader
// of texts could only say that it is too large or holds strange bytes.
static Status refuse_other_kinds(const char *path, DiagSink *sink) {
    struct stat info;
    const char *what = NULL, *remedy = "a recipe is a text in YAML; docs/recipe.md lists its keys";
    if (stat(path, &info) != 0) return STATUS_OK;
    if (S_ISDIR(info.st_mode)) {
        what = "a folder";
    } else if (S_ISREG(info.st_mode) && info.st_size >= 8) { // a pipe could not be read again
        FileMap map;
        TRY(file_map_open(path, sink, &map));
        if (memcmp(map.data, "GGUF", 4) == 0) {
            what = "a GGUF model file";
            remedy = "ingot compile RECIPE.yaml --model FILE.gguf -o FILE.ingot";
        } else if (memcmp(map.data, ARTIFACT_MAGIC, 8) == 0) {
            what = "an artifact, which is compiled already";
            remedy = "ingot run FILE.ingot -p PROMPT";
        }
        file_map_close(&map);
    }
    if (!what) return STATUS_OK;
    Status status = diag_error(sink, DIAG_R0014, (DiagSpan){.file = path},
                               "this is %s where a recipe is expected", what);
    diag_write(sink, "%s", remedy);
    return status;
}

Status recipe_load(const char *path, DiagSink *sink, Recipe **out_recipe) {
    char *text = NULL;
    uint64_t len = 0;
    TRY(refuse_other_kinds(path, sink));
    TRY(file_read(path, DOC_MAX_BYTES, sink, &text, &len));
    Status status = recipe_parse(text, len, path, sink, out_recipe);
    free(text);
    return status;
}
