// Reads arbitrary text as a tuning lock; what is accepted lands on the module.
#include <stdlib.h>

#include "compiler/tuning_lock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    StrBuf text = {0};
    diag_sink_init(&sink);
    IrModule *m = ir_module_create();
    Status status = tuning_lock_parse((const char *)data, len, "lock.yaml", m, &sink);
    if ((status == STATUS_OK) != (sink.num_errors == 0)) abort();
    const IrAttr *list = ir_op_attr(m->op, "ingot.tuning");
    for (size_t i = 0; status == STATUS_OK && list && i < list->num_elems; i++) {
        TuningEntry entry;
        const IrAttr *key = ir_attr_dict_find(list->elems[i], "key");
        const IrAttr *level = ir_attr_dict_find(list->elems[i], "level");
        CpuLevel known;
        if (!cpu_level_find(level->str, &known) || !tuning_find(m, key->str, known, &entry))
            abort();
    }
    for (int i = 0; i < NUM_CPU_LEVELS; i++)
        if (tuning_lock_check(m, (CpuLevel)i, "lock.yaml", &sink) != 0) abort(); // no kernels
    diag_render(&sink, &text);
    strbuf_deinit(&text);
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
    return 0;
}
