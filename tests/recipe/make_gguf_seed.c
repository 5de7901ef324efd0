// Writes seeds for the model file fuzzer (tests/fuzz/seeds/gguf) into the folder given.
#include <stdio.h>

#include "base/file.h"
#include "tiny_model.h"

static Status write_seed(const char *folder, const char *name, const TinyModel *model,
                         DiagSink *sink) {
    StrBuf bytes = {0}, path = {0};
    FileWriter writer;
    strbuf_printf(&path, "%s/%s.gguf", folder, name);
    tiny_model_write(model, &bytes);
    Status status = file_writer_open(path.data, NULL, sink, &writer);
    if (status == STATUS_OK) status = file_writer_write(&writer, bytes.data, bytes.len, sink);
    if (status == STATUS_OK) status = file_writer_commit(&writer, sink);
    strbuf_deinit(&bytes);
    strbuf_deinit(&path);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: make_gguf_seed FOLDER\n", stderr);
        return STATUS_USAGE;
    }
    DiagSink sink;
    diag_sink_init(&sink);
    TinyModel plain = {.num_layers = 1,
                       .embd = 4,
                       .ffn = 4,
                       .num_heads = 2,
                       .num_kv_heads = 1,
                       .vocab = 3,
                       .is_untied = true,
                       .has_rope_factors = true};
    TinyModel blocks = {.num_layers = 1, .vocab = 3, .matrix_format = QUANT_Q4_0};
    Status status = write_seed(argv[1], "plain", &plain, &sink);
    if (status == STATUS_OK) status = write_seed(argv[1], "blocks", &blocks, &sink);
    diag_sink_deinit(&sink);
    return (int)status;
}
