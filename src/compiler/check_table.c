// Checks of a module; see check_table.h.
#include "compiler/check_table.h"

#include <inttypes.h>
#include <string.h>

#include "abi/kernel_abi.h"
#include "passes/check_faults.h"

// Of one evaluation on a scalar: compare, clamp, branch. Vectors do so for all lanes at once.
enum { OPS_PER_CHECK = 3 };

typedef struct Numbers {
    uint64_t num;
    bool is_bad;
} Numbers;

static void look_at_assertion(IrOp *op, void *ctx) {
    Numbers *n = ctx;
    const IrAttr *check = op->kind == IR_CF_ASSERT ? ir_op_attr(op, "ingot.check") : NULL;
    if (check) n->is_bad |= check->kind != IR_ATTR_INT || (uint64_t)check->i >= n->num;
}

static Status refuse_list(DiagSink *sink) {
    Status status = diag_error(sink, DIAG_P0011, (DiagSpan){0},
                               "ingot.checks does not fit the module's assertions");
    diag_evidence(sink, "check-faults writes both; a dump in which they differ was edited");
    return status;
}

Status check_table_build(IrModule *m, PlanBuild *build, DiagSink *sink) {
    Numbers numbers = {0};
    size_t num_entries = check_entries(m);
    CheckEntry e;
    for (size_t i = 0; i < num_entries; i++) {
        if (!check_entry(m, i, &e) || (e.is_checked && e.number != numbers.num))
            return refuse_list(sink);
        numbers.num += e.is_checked;
    }
    ir_walk(m->op, look_at_assertion, &numbers);
    if (numbers.is_bad) return refuse_list(sink);
    PlanCheck *checks = ARENA_ARRAY(&build->arena, PlanCheck, MAX(numbers.num, 1u));
    for (size_t i = 0; i < num_entries; i++) {
        if (!check_entry(m, i, &e) || !e.is_checked) continue;
        PlanCheck *check = &checks[e.number];
        *check = (PlanCheck){.kind = e.fault.kind,
                             .op = plan_build_string(build, e.op),
                             .text = plan_build_string(build, e.fault.text),
                             .file = plan_build_string(build, e.file),
                             .line = e.line,
                             .col = e.col};
        memcpy(check->numbers, e.fault.numbers, sizeof check->numbers);
    }
    build->tables.checks = checks;
    build->tables.num_checks = numbers.num;
    return STATUS_OK;
}

Status check_table_refuse(const IrModule *m, const int64_t *record, DiagSink *sink) {
    CheckEntry e;
    for (size_t i = 0; i < check_entries(m); i++) {
        if (!check_entry(m, i, &e) || !e.is_checked ||
            (int64_t)e.number + 1 != record[KERNEL_FAULT_CHECK])
            continue;
        StrBuf text = {0};
        fault_put(&text, e.fault.kind, e.op, record[KERNEL_FAULT_VALUE], e.fault.numbers,
                  e.fault.text);
        DiagSpan span = {.file = e.file, .line = e.line, .col = e.col};
        Status status = diag_error(sink, DIAG_I0301, span, "%s", text.data);
        diag_evidence(sink, "of parameters alone, and so computed at compile time");
        strbuf_deinit(&text);
        return status;
    }
    return refuse_list(sink);
}

static void put_string(StrBuf *out, const char *key, const char *value) {
    strbuf_printf(out, ",\"%s\":", key);
    strbuf_put_json_string(out, value, strlen(value));
}

void check_table_put_json(const IrModule *m, StrBuf *out, uint64_t *num_checked) {
    CheckEntry e;
    for (size_t i = 0; i < check_entries(m); i++) {
        if (!check_entry(m, i, &e)) continue;
        strbuf_printf(out, "%s{\"proven\":%s", out->len ? "," : "",
                      e.is_checked ? "false" : "true");
        put_string(out, "op", e.op);
        put_string(out, "what", fault_name(e.fault.kind));
        strbuf_puts(out, ",\"at\":");
        StrBuf at = {0};
        strbuf_printf(&at, "%s:%" PRIu32 ":%" PRIu32, e.file, e.line, e.col);
        strbuf_put_json_string(out, at.data, at.len);
        strbuf_deinit(&at);
        strbuf_printf(out, ",\"numbers\":[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                      e.fault.numbers[0], e.fault.numbers[1], e.fault.numbers[2],
                      e.fault.numbers[3]);
        if (e.is_checked) {
            strbuf_printf(out, ",\"times\":%" PRIu64 ",\"operations\":%" PRIu64, e.times,
                          e.times * OPS_PER_CHECK);
            ++*num_checked;
        } else {
            put_string(out, "range", e.why);
        }
        strbuf_putc(out, '}');
    }
}
