// The cost of disabled passes as text and JSON; see disable_cost.h.
#include "cli/disable_cost.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct Line {
    const char *text, *key;
    uint64_t with_all, without;
} Line;

enum { NUM_LINES = 7 };

static void lines_of(const ExplainCost *a, const ExplainCost *b, Line out[NUM_LINES]) {
    const Line lines[NUM_LINES] = {
        {"kernels", "num_kernels", a->num_kernels, b->num_kernels},
        {"kernel calls", "num_calls", a->num_calls, b->num_calls},
        {"allocations", "num_buffers", a->num_buffers, b->num_buffers},
        {"bytes allocated", "buffer_bytes", a->buffer_bytes, b->buffer_bytes},
        {"copies", "num_copies", a->num_copies, b->num_copies},
        {"bytes copied", "copy_bytes", a->copy_bytes, b->copy_bytes},
        {"bytes moved", "moved_bytes", a->moved_bytes, b->moved_bytes},
    };
    for (int i = 0; i < NUM_LINES; i++) out[i] = lines[i];
}

// ---- predicted times of whole calls

// The same entry of the other side: versions of one name follow each other.
static const PredictEntry *same_entry(const PassCost *from, size_t at, const PassCost *in) {
    uint32_t number = 0;
    for (size_t i = 0; i < at; i++) number += str_equal(from->calls[i].name, from->calls[at].name);
    for (size_t i = 0; i < in->num_calls; i++)
        if (str_equal(in->calls[i].name, from->calls[at].name) && number-- == 0)
            return &in->calls[i];
    return NULL;
}

// "name   12   34   +22"; a side that has no such entry is "-".
static void put_times(StrBuf *out, const char *name, const double *with_all,
                      const double *without) {
    char a[32], b[32], d[32];
    strbuf_printf(out, "  %-22s %18s %18s", name,
                  with_all ? grouped((uint64_t)llround(*with_all), a) : "-",
                  without ? grouped((uint64_t)llround(*without), b) : "-");
    if (with_all && without) {
        int64_t more = llround(*without) - llround(*with_all);
        uint64_t size = more < 0 ? 0 - (uint64_t)more : (uint64_t)more;
        strbuf_printf(out, " %17s%s", more < 0 ? "-" : "+", grouped(size, d));
    }
    strbuf_putc(out, '\n');
}

static void put_calls(StrBuf *out, const PassCost *all, const PassCost *without, int at) {
    for (size_t i = 0; i < all->num_calls; i++) {
        const PredictEntry *other = same_entry(all, i, without);
        put_times(out, all->calls[i].name, &all->calls[i].all_ns[at],
                  other ? &other->all_ns[at] : NULL);
    }
    for (size_t i = 0; i < without->num_calls; i++)
        if (!same_entry(without, i, all))
            put_times(out, without->calls[i].name, NULL, &without->calls[i].all_ns[at]);
}

static void put_predicted(StrBuf *out, const DisabledCost *cost) {
    static const char *const contexts[NUM_PREDICT_POSITIONS] = {", empty context",
                                                                ", full context"};
    const PassCost *sides[] = {&cost->all, &cost->without};
    int num = cost->all.has_context ? NUM_PREDICT_POSITIONS : 1;
    if (cost->all.unpredicted) num = 0;
    for (int at = 0; at < num; at++) {
        strbuf_printf(out, "predicted ns of a call%s\n",
                      cost->all.has_context ? contexts[at] : "");
        put_calls(out, &cost->all, &cost->without, at);
    }
    for (int side = 0; side < 2; side++)
        if (sides[side]->unpredicted && (side || !cost->all.unpredicted))
            strbuf_printf(out, "  not predicted: %s\n", sides[side]->unpredicted);
}

static void put_calls_json(JsonWriter *json, const PassCost *cost) {
    if (cost->unpredicted) {
        json_put_string(json, "not_predicted", cost->unpredicted);
        return;
    }
    json_put_uint(json, "predicted_ns", (uint64_t)llround(pass_cost_ns(cost)));
    json_begin_array(json, "calls");
    for (size_t i = 0; i < cost->num_calls; i++) {
        json_begin_object(json, NULL);
        json_put_string(json, "entry", cost->calls[i].name);
        json_begin_array(json, "predicted_ns");
        for (int at = 0; at < (cost->has_context ? NUM_PREDICT_POSITIONS : 1); at++)
            json_put_uint(json, NULL, (uint64_t)llround(cost->calls[i].all_ns[at]));
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

// ---- the whole

void put_disable_cost(StrBuf *out, const DisabledCost *cost) {
    Line lines[NUM_LINES];
    char a[32], b[32];
    lines_of(&cost->all.counts, &cost->without.counts, lines);
    strbuf_printf(out, "\n%-24s %18s %18s %18s\n", "between kernels", "all passes", "without",
                  "difference");
    for (int i = 0; i < NUM_LINES; i++)
        strbuf_printf(out, "  %-22s %18s %18s\n", lines[i].text, grouped(lines[i].with_all, a),
                      grouped(lines[i].without, b));
    put_predicted(out, cost);
    strbuf_printf(out, "  disabled: %s\n", cost->names);
    for (int i = 0; i < NUM_PASS_FACTS; i++)
        if (cost->lost >> i & 1)
            strbuf_printf(out, "  no longer %s: %s\n", pass_fact_name((PassFact)i),
                          pass_fact_meaning((PassFact)i));
}

void put_disable_cost_json(JsonWriter *json, const char *key, const DisabledCost *cost) {
    Line lines[NUM_LINES];
    lines_of(&cost->all.counts, &cost->without.counts, lines);
    json_begin_object(json, key);
    json_put_string(json, "passes", cost->names);
    json_begin_array(json, "lost");
    for (int i = 0; i < NUM_PASS_FACTS; i++)
        if (cost->lost >> i & 1) json_put_string(json, NULL, pass_fact_name((PassFact)i));
    json_end_array(json);
    for (int side = 0; side < 2; side++) {
        json_begin_object(json, side ? "without" : "all_passes");
        for (int i = 0; i < NUM_LINES; i++)
            json_put_uint(json, lines[i].key, side ? lines[i].without : lines[i].with_all);
        put_calls_json(json, side ? &cost->without : &cost->all);
        json_end_object(json);
    }
    json_end_object(json);
}

// ---- pipelines on IR text

Status disable_in_pipeline(Cli *cli, const IrModule *m, const PassPipeline *pipeline,
                           IrReports *reports, PassId *out_ids, PassPipeline *out_pipeline) {
    DisabledCost cost = {.names = args_text(&cli->args, OPT_DISABLE_PASS, NULL)};
    uint64_t disabled;
    TRY(pass_disable_parse(cost.names, &cli->sink, &disabled));
    *out_pipeline = *pipeline;
    if (!disabled) return STATUS_OK;
    TRY(pass_disable_check(pass_facts(m), pipeline->ids, pipeline->num_ids, disabled, false,
                           &cli->sink));
    out_pipeline->ids = out_ids;
    out_pipeline->num_ids = 0;
    for (size_t i = 0; i < pipeline->num_ids; i++)
        if (!(disabled >> pipeline->ids[i] & 1))
            out_ids[out_pipeline->num_ids++] = pipeline->ids[i];
    TRY(pass_cost_of_pipeline(m, pipeline, disabled, &cli->sink, &cost));
    if (cli->is_json) {
        JsonWriter json = {.out = &reports->disabled, .is_compact = true};
        if (reports->disabled.len) strbuf_putc(&reports->disabled, ',');
        put_disable_cost_json(&json, NULL, &cost);
    } else if (!cli->is_quiet) {
        StrBuf text = {0};
        put_disable_cost(&text, &cost);
        fputs(text.data, stderr);
        strbuf_deinit(&text);
    }
    return STATUS_OK;
}
