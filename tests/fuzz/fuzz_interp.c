// Interprets arbitrary IR that the verifier lets through: every function without arguments, within
// tight bounds of steps and memory. Whatever the program asks for, the call ends soon, with results
// or with a diagnostic, and takes no more memory than it may.
#include <stdlib.h>

#include "ir/interp.h"
#include "ir/parse.h"
#include "ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MAX_STEPS = 200000, MAX_BYTES = 8 << 20, MAX_RESULTS = 8, MAX_FUNCTIONS = 16 };

static void call(IrModule *m, const IrOp *func, uint32_t order) {
    const IrType *type = ir_func_type(func);
    if (type->num_inputs || type->num_results > MAX_RESULTS) return;
    DiagSink sink;
    StrBuf printed = {0};
    IrInterpValue results[MAX_RESULTS];
    diag_sink_init(&sink);
    const IrInterpOptions options = {.max_ops = MAX_STEPS,
                                     .max_bytes = MAX_BYTES,
                                     .print_output = &printed,
                                     .parallel_order = order};
    Status status = ir_interp_call(m, ir_symbol_name(func), 0, NULL, type->num_results, results,
                                   &options, &sink);
    if ((status == STATUS_OK) != (sink.num_errors == 0)) abort();
    if (status == STATUS_LIMIT && sink.diags[0].code != DIAG_I0303) abort();
    uint64_t result_bytes = 0;
    for (uint32_t i = 0; i < type->num_results; i++) {
        if (status == STATUS_OK) result_bytes += results[i].len_bytes;
        ir_interp_result_deinit(&results[i]);
    }
    if (result_bytes > MAX_BYTES || printed.len > MAX_BYTES + 4096) abort();
    strbuf_deinit(&printed);
    diag_sink_deinit(&sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    IrModule *m = NULL;
    diag_sink_init(&sink);
    bool is_good = ir_parse((const char *)data, len, "f", &sink, &m) == STATUS_OK &&
                   ir_verify(m, &(IrVerifyOptions){.allow_test_ops = true}, &sink) == STATUS_OK;
    uint32_t num_functions = 0;
    if (is_good) {
        FOR_EACH_OP(op, ir_module_body(m)) {
            if (op->kind != IR_FUNC_FUNC || !ir_func_body(op) || num_functions++ == MAX_FUNCTIONS)
                continue;
            call(m, op, 0);
            call(m, op, 7);
        }
    }
    ir_module_destroy(m);
    diag_sink_deinit(&sink);
    return 0;
}
