// Reads arbitrary text as a target file; what is accepted keeps to its ranges and can be printed.
#include <stdlib.h>

#include "target/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    StrBuf text = {0};
    Target target;
    diag_sink_init(&sink);
    Status status = target_parse((const char *)data, len, "t.yaml", &sink, &target);
    if ((status == STATUS_OK) != (sink.num_errors == 0)) abort();
    for (int i = 0; status == STATUS_OK && i < NUM_TARGET_NUMBERS; i++) {
        const TargetNumberInfo *info = target_number_info((TargetNumber)i);
        double value = target.numbers[i];
        if (value != 0 && !(value >= info->min && value <= info->max && target.sources[i])) abort();
    }
    if (status == STATUS_OK) target_print(&target, &text);
    strbuf_deinit(&text);
    diag_render(&sink, &text);
    strbuf_deinit(&text);
    diag_sink_deinit(&sink);
    return 0;
}
