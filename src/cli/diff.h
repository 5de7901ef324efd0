// `ingot diff`: two documents about compiles, fact by fact. Each side is what `ingot inspect` says
// of an artifact, or `ingot compile --dry-run` of a recipe, with its manifest.
#ifndef INGOT_CLI_DIFF_H
#define INGOT_CLI_DIFF_H

#include <jansson.h>

#include "cli/cli.h"
#include "runtime/artifact.h"

typedef struct DiffSide {
    const char *path;
    bool is_artifact;
    json_t *doc;
} DiffSide;

// The document of an artifact (diff_sides.c) and of a recipe or module, which is planned
// (diff_recipe.c, in the program with the compiler). The caller owns a reference to out_side->doc.
Status diff_open_artifact(Cli *cli, const char *path, Artifact *out_artifact,
                          DiffSide *out_side) MUST_USE;
Status diff_open_recipe(Cli *cli, const char *path, DiffSide *out_side) MUST_USE;
// The parts that two artifacts' files have, and where their bytes first differ: adds `sections`,
// `vocabulary` and the `content` of kernels to both documents.
Status diff_add_bytes(Cli *cli, const Artifact *a, const Artifact *b, DiffSide *side_a,
                      DiffSide *side_b) MUST_USE;
// What tells the elements of a document's lists apart: a member `label` of entries and of their
// predictions, times by name, places without the name of a file.
void diff_label(json_t *doc);

// The document "ingot-diff" (diff_compare.c). shows_equal: facts that do not differ are listed too.
// The caller owns it.
json_t *diff_compare(const DiffSide *a, const DiffSide *b, bool shows_equal);

// The same as text (diff_view.c). is_whole: however long.
void diff_put_text(const json_t *diff, bool is_whole, StrBuf *out);

#endif
