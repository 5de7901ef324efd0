// Runs the standard pipeline; see pipeline.h.
#include "compiler/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

static Status check_pass_name(const char *name, DiagSink *sink) {
    PassId id;
    if (!name || str_equal(name, "all") || pass_find(name, &id)) return STATUS_OK;
    const char *names[NUM_PASSES];
    for (int i = 0; i < NUM_PASSES; i++) names[i] = pass_info((PassId)i)->name;
    const char *nearest = str_nearest(name, names, NUM_PASSES);
    Status status = diag_error(sink, DIAG_P0008, (DiagSpan){0}, "there is no pass '%s'", name);
    (void)status;
    diag_write(sink, "%s", nearest ? nearest : "a pass that `ingot compile --list-passes` lists");
    return STATUS_USAGE;
}

Status pipeline_check_dumps(const Pipeline *p, DiagSink *sink) {
    TRY(check_pass_name(p->dump_before, sink));
    TRY(check_pass_name(p->dump_after, sink));
    if ((p->dump_before || p->dump_after) && !p->dump_dir) {
        Status status = diag_error(sink, DIAG_P0008, (DiagSpan){0}, "dumps need a directory");
        (void)status;
        diag_write(sink, "--dump-dir=DIR");
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

static Status write_dump(const Pipeline *p, const IrModule *m, PassId id, bool is_before,
                         DiagSink *sink) {
    StrBuf path = {0}, text = {0};
    strbuf_printf(&path, "%s/%02u-%s%s%s%s.mlir", p->dump_dir, p->num_run, pass_info(id)->name,
                  is_before ? "-before" : "", p->level_name ? "-" : "",
                  p->level_name ? p->level_name : "");
    ir_print(m, &(IrPrintOptions){.print_locs = true}, &text);
    Status status = file_write(path.data, p->inputs, text.data, text.len, sink);
    strbuf_deinit(&path);
    strbuf_deinit(&text);
    return status;
}

static bool is_wanted(const char *choice, PassId id) {
    return choice && (str_equal(choice, "all") || str_equal(choice, pass_info(id)->name));
}

static Status hook(const IrModule *m, PassId id, bool is_before, void *ctx, DiagSink *sink) {
    Pipeline *p = ctx;
    if (is_before) p->num_run++;
    if (p->validator) validate_pass_ended(p->validator);
    if (is_wanted(is_before ? p->dump_before : p->dump_after, id))
        TRY(write_dump(p, m, id, is_before, sink));
    return p->validator ? validate_hook(m, id, is_before, p->validator, sink) : STATUS_OK;
}

Status pipeline_run_until(Pipeline *p, PassId end, DiagSink *sink) {
    PassId ids[NUM_PASSES];
    size_t num = 0;
    for (PassId id = pass_next(p->m); id < end; id = (PassId)(id + 1))
        if (!(p->disabled >> id & 1)) ids[num++] = id;
    PassPipeline pipeline = {.ids = ids, .num_ids = num, .hook = hook, .hook_ctx = p};
    return pass_pipeline_run(p->m, &pipeline, sink);
}

static bool is_init(const IrOp *func) {
    const IrAttr *kind = ir_op_attr(func, "ingot.kernel");
    return kind && kind->kind == IR_ATTR_STRING && str_equal(kind->str, "init");
}

Status pipeline_inits_only(IrModule *m, CpuLevel level, DiagSink *sink) {
    FOR_EACH_OP_SAFE(op, ir_module_body(m)) {
        if (op->kind != IR_FUNC_FUNC) continue;
        if (is_init(op))
            ir_op_set_attr(m, op, "sym_visibility", NULL); // nothing names it any more: keep it
        else
            ir_op_erase(m, op);
    }
    ir_op_set_attr(m, m->op, "ingot.target", ir_attr_string(m, cpu_level_info(level)->name));
    Pipeline quiet = {.m = m};
    return pipeline_run_until(&quiet, NUM_PASSES, sink);
}

Status pipeline_read_dump(const char *path, DiagSink *sink, IrModule **out_module) {
    enum { MAX_DUMP_BYTES = 256 << 20 };
    char *text;
    uint64_t len;
    TRY(file_read(path, MAX_DUMP_BYTES, sink, &text, &len));
    // Locations and diagnostics quote the text: it is kept with the sink.
    char *kept = arena_strndup(&sink->arena, text, len);
    free(text);
    IrModule *m;
    TRY(ir_parse(kept, len, path, sink, &m));
    Status status = ir_verify(m, NULL, sink);
    if (status == STATUS_OK && !ir_op_attr(m->op, "ingot.config")) {
        status = diag_error(
            sink, DIAG_P0008, (DiagSpan){.file = path},
            "the module carries no settings (ingot.config): it is not a dump of a compile");
    } else if (status == STATUS_OK && pass_next(m) > PASS_lower_target) {
        status = diag_error(sink, DIAG_P0008, (DiagSpan){.file = path},
                            "a lowered module holds kernels only, the entries are gone");
        diag_write(sink, "a dump of an earlier pass");
    }
    if (status != STATUS_OK)
        ir_module_destroy(m);
    else
        *out_module = m;
    return status;
}

void pipeline_set_config(IrModule *m, const char *key, int64_t value) {
    const IrAttr *config = ir_op_attr(m->op, "ingot.config");
    size_t num_old = config ? config->num_entries : 0, n = 0;
    IrNamedAttr *entries = ARENA_ARRAY(&m->arena, IrNamedAttr, num_old + 1);
    for (size_t i = 0; i < num_old; i++)
        if (!str_equal(config->entries[i].name, key)) entries[n++] = config->entries[i];
    entries[n++] = (IrNamedAttr){ir_intern(m, key), ir_attr_i64(m, value)};
    ir_op_set_attr(m, m->op, "ingot.config", ir_attr_dict(m, n, entries));
}
