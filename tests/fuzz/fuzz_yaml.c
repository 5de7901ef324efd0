// Reads arbitrary text as a YAML document and asks every value for every type.
#include <stdlib.h>

#include "text/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void walk(const DocNode *node, DiagSink *sink) {
    int64_t number;
    double real;
    bool truth;
    const char *text;
    Status ignored = doc_get_int(node, "value", -1000, 1000, sink, &number);
    ignored = doc_get_float(node, "value", sink, &real);
    ignored = doc_get_bool(node, "value", sink, &truth);
    ignored = doc_get_string(node, "value", sink, &text);
    (void)ignored;
    FOR_EACH_DOC(child, node) {
        if (child->key && doc_find(node, child->key) != child) abort();
        walk(child, sink);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    StrBuf text = {0};
    const DocNode *root = NULL;
    diag_sink_init(&sink);
    Status status = doc_parse((const char *)data, len, "f", DOC_YAML, &sink, &root);
    if ((status == STATUS_OK) != (sink.num_errors == 0)) abort();
    if (status == STATUS_OK) walk(root, &sink);
    diag_render(&sink, &text);
    strbuf_deinit(&text);
    diag_sink_deinit(&sink);
    return 0;
}
