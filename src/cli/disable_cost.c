// The cost of disabled passes as text and JSON; see disable_cost.h.
#include "cli/disable_cost.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Line {
    const char *text, *key;
    uint64_t with_all, without;
} Line;

enum { NUM_LINES = 8 };

static void lines_of(const ExplainCost *a, const ExplainCost *b, Line out[NUM_LINES]) {
    const Line lines[NUM_LINES] = {
        {"kernels", "num_kernels", a->num_kernels, b->num_kernels},
        {"kernel calls", "num_calls", a->num_calls, b->num_calls},
        {"allocations", "num_buffers", a->num_buffers, b->num_buffers},
        {"bytes allocated", "buffer_bytes", a->buffer_bytes, b->buffer_bytes},
        {"copies", "num_copies", a->num_copies, b->num_copies},
        {"bytes copied", "copy_bytes", a->copy_bytes, b->copy_bytes},
        {"bytes moved", "moved_bytes", a->moved_bytes, b->moved_bytes},
        {"predicted ns", "predicted_ns", a->predicted_ns, b->predicted_ns},
    };
    for (int i = 0; i < NUM_LINES; i++) out[i] = lines[i];
}

void put_disable_cost(StrBuf *out, const char *disabled, const ExplainCost *with_all,
                      const ExplainCost *without) {
    Line lines[NUM_LINES];
    char a[32], b[32];
    lines_of(with_all, without, lines);
    strbuf_printf(out, "\n%-24s %18s %18s\n", "between kernels", "all passes", "without");
    for (int i = 0; i < NUM_LINES; i++)
        strbuf_printf(out, "  %-22s %18s %18s\n", lines[i].text, grouped(lines[i].with_all, a),
                      grouped(lines[i].without, b));
    strbuf_printf(out, "  disabled: %s\n", disabled);
}

void put_disable_cost_json(JsonWriter *json, const char *disabled, const ExplainCost *with_all,
                           const ExplainCost *without) {
    Line lines[NUM_LINES];
    lines_of(with_all, without, lines);
    json_begin_object(json, "disabled");
    json_put_string(json, "passes", disabled);
    for (int side = 0; side < 2; side++) {
        json_begin_object(json, side ? "without" : "all_passes");
        for (int i = 0; i < NUM_LINES; i++)
            json_put_uint(json, lines[i].key, side ? lines[i].without : lines[i].with_all);
        json_end_object(json);
    }
    json_end_object(json);
}

// ---- pipelines on IR text

static Status measure(const IrModule *m, const PassPipeline *pipeline, DiagSink *sink,
                      ExplainCost *out_cost) {
    Explain e;
    TRY(explain_init_module(&e, m, sink));
    IrModule *copy = ir_module_clone(m);
    PassPipeline quiet = {.ids = pipeline->ids, .num_ids = pipeline->num_ids};
    Status status = pass_pipeline_run(copy, &quiet, sink);
    if (status == STATUS_OK) {
        explain_tensors(copy, &e);
        explain_buffers(copy, &e);
        *out_cost = explain_cost(&e);
    }
    explain_deinit(&e);
    ir_module_destroy(copy);
    return status;
}

Status disable_in_pipeline(Cli *cli, const IrModule *m, const PassPipeline *pipeline,
                           PassId *out_ids, PassPipeline *out_pipeline) {
    const char *names = args_text(&cli->args, OPT_DISABLE_PASS, NULL);
    uint64_t disabled;
    ExplainCost all, without;
    TRY(pass_disable_parse(names, &cli->sink, &disabled));
    *out_pipeline = *pipeline;
    if (!disabled) return STATUS_OK;
    TRY(pass_disable_check(pass_facts(m), pipeline->ids, pipeline->num_ids, disabled, false,
                           &cli->sink));
    out_pipeline->ids = out_ids;
    out_pipeline->num_ids = 0;
    for (size_t i = 0; i < pipeline->num_ids; i++)
        if (!(disabled >> pipeline->ids[i] & 1))
            out_ids[out_pipeline->num_ids++] = pipeline->ids[i];
    TRY(measure(m, pipeline, &cli->sink, &all));
    TRY(measure(m, out_pipeline, &cli->sink, &without));
    StrBuf text = {0};
    put_disable_cost(&text, names, &all, &without);
    if (!cli->is_quiet && !cli->is_json) fputs(text.data, stderr);
    strbuf_deinit(&text);
    return STATUS_OK;
}
