// The weight image of an artifact: every parameter of the entries, as stored or made by its init
// function, each at a multiple of 64 bytes in the order the entries name them.
#ifndef INGOT_COMPILER_WEIGHTS_IMAGE_H
#define INGOT_COMPILER_WEIGHTS_IMAGE_H

#include "abi/artifact_write.h"
#include "codegen/codegen.h"
#include "ir/ir.h"
#include "weights/gguf.h"

typedef struct ImageItem {
    const IrAttr *value;     // the constant itself; NULL: one of the following
    const IrAttr *param;     // name, or array of names stacked by rows; NULL with init
    const IrAttr *plane;     // of the parameter's blocks; NULL: as stored
    const IrAttr *init;      // symbol of the init function, NULL without
    const IrAttr *init_args; // array of {param, plane}
    uint64_t offset, len_bytes;
} ImageItem;

typedef struct WeightsImage {
    ImageItem *items;
    size_t num_items, capacity;
    uint64_t len_bytes;
} WeightsImage;

// Lists the parameters of all entries of a level-2 module and gives each its offset. Attributes
// stay borrowed from m.
Status weights_image_layout(IrModule *m, DiagSink *sink, WeightsImage *out_image) MUST_USE;
// The item behind an entry argument; NULL if the argument is no parameter.
const ImageItem *weights_image_find(const WeightsImage *image, const IrOp *entry, uint32_t arg);
void weights_image_deinit(WeightsImage *image);

// Computes and appends the image to the open section. inits: code of the init functions, mapped at
// base (callable on this host).
typedef struct WeightsSource {
    IrModule *m; // names resolve here
    const Gguf *gguf;
    const CodegenImage *inits;
    void *inits_base;
    uint32_t num_threads;
    void (*progress)(uint64_t done_bytes, uint64_t total_bytes, void *ctx); // may be NULL
    void *progress_ctx;
} WeightsSource;
Status weights_image_write(const WeightsImage *image, const WeightsSource *source,
                           ArtifactWriter *writer, DiagSink *sink) MUST_USE;
// The image of a level-1 module, which has no init functions yet, to out of len_bytes. Of the
// source only m and gguf are used.
Status weights_image_fill(const WeightsImage *image, const WeightsSource *source, uint8_t *out,
                          DiagSink *sink) MUST_USE;

#endif
