// Reads arbitrary bytes as a .npy file. What is accepted is written again and must read back the
// same; its data lie in the file.
#include <stdlib.h>
#include <string.h>

#include "runtime/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    diag_sink_init(&sink);
    NpyTensor tensor, again;
    Status status = npy_parse(data, len, "f.npy", &sink, &tensor);
    if ((status == STATUS_OK) != (sink.num_errors == 0)) abort();
    if (status == STATUS_OK) {
        if (tensor.data < data || tensor.data + tensor.len_bytes != data + len) abort();
        StrBuf file = {0};
        npy_put_header(tensor.dtype, tensor.rank, tensor.dims, &file);
        if (tensor.len_bytes) strbuf_append(&file, (const char *)tensor.data, tensor.len_bytes);
        if (npy_parse((const uint8_t *)file.data, file.len, "g.npy", &sink, &again) != STATUS_OK ||
            again.rank != tensor.rank || again.len_bytes != tensor.len_bytes ||
            memcmp(again.dims, tensor.dims, sizeof tensor.dims) != 0)
            abort();
        strbuf_deinit(&file);
    }
    diag_sink_deinit(&sink);
    return 0;
}
