// Reads arbitrary text as IR. What is accepted must print, read back and copy to the same text, and
// every op of it must print alone; the verifier must survive it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

typedef struct Walk {
    const IrModule *m;
    uint32_t budget; // ops still to be printed alone: each needs a numbering of its function
} Walk;

static void print_alone(IrOp *op, void *ctx) {
    Walk *walk = ctx;
    if (!walk->budget) return;
    walk->budget--;
    StrBuf text = {0};
    ir_print_op(walk->m, op, &text);
    strbuf_deinit(&text);
}

static void same_or_abort(const StrBuf *a, const StrBuf *b, const char *what) {
    if (a->len == b->len && memcmp(a->data, b->data, a->len) == 0) return;
    fprintf(stderr, "%s differs:\n%s\n----\n%s\n", what, a->data, b->data);
    abort();
}

static void check_module(IrModule *m) {
    DiagSink sink;
    StrBuf text = {0}, again = {0}, copied = {0};
    IrModule *second = NULL;
    diag_sink_init(&sink);
    ir_print(m, &(IrPrintOptions){.print_locs = true}, &again);
    strbuf_clear(&again);
    ir_print(m, NULL, &text);
    if (ir_parse(text.data, text.len, "printed", &sink, &second) != STATUS_OK) {
        diag_render(&sink, &again);
        fprintf(stderr, "what was printed is refused:\n%s\n%s", text.data, again.data);
        abort();
    }
    ir_print(second, NULL, &again);
    same_or_abort(&text, &again, "text read back");
    IrModule *copy = ir_module_clone(m);
    ir_print(copy, NULL, &copied);
    same_or_abort(&text, &copied, "copy");
    ir_walk(m->op, print_alone, &(Walk){m, 64});
    Status ignored = ir_verify(copy, &(IrVerifyOptions){.allow_test_ops = true}, &sink);
    (void)ignored;
    ir_module_destroy(copy);
    ir_module_destroy(second);
    strbuf_deinit(&text);
    strbuf_deinit(&again);
    strbuf_deinit(&copied);
    diag_sink_deinit(&sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    DiagSink sink;
    StrBuf text = {0};
    IrModule *m = NULL;
    diag_sink_init(&sink);
    Status status = ir_parse((const char *)data, len, "f", &sink, &m);
    if ((status == STATUS_OK) != (sink.num_errors == 0) || (status == STATUS_OK) != (m != NULL))
        abort();
    diag_render(&sink, &text);
    if (m) check_module(m);
    ir_module_destroy(m);
    strbuf_deinit(&text);
    diag_sink_deinit(&sink);
    return 0;
}
