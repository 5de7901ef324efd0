// The memory planner's log; see plan_view.h.
#include "cli/plan_view.h"

#include <inttypes.h>

#include "cli/cli.h"

// Buffers are numbered within their entry.
static uint32_t number_of(const CompileReport *report, size_t i) {
    size_t first = i;
    while (first > 0 && str_equal(report->buffers[first - 1].entry, report->buffers[i].entry))
        first--;
    return (uint32_t)(i - first);
}

void plan_view_put_text(const CompileReport *report, StrBuf *out) {
    for (size_t i = 0; i < report->num_buffers; i++) {
        const CompileBuffer *b = &report->buffers[i];
        uint32_t number = number_of(report, i);
        char bytes[32], offset[32];
        if (number == 0)
            strbuf_printf(out, "%sarena of %s\n  %6s %14s %14s  %s\n", i ? "\n" : "", b->entry,
                          "buffer", "bytes", "offset", "lives");
        strbuf_printf(out, "  %6" PRIu32 " %14s %14s  step %" PRIu32 " @%s to %" PRIu32 " @%s",
                      number, grouped(b->bytes, bytes), grouped(b->offset, offset), b->first_step,
                      b->first_kernel, b->last_step, b->last_kernel);
        for (uint32_t k = 0; k < b->num_shares; k++)
            strbuf_printf(out, "%s%" PRIu32, k ? ", " : "; shares bytes with ", b->shares[k]);
        strbuf_putc(out, '\n');
    }
}

void plan_view_put_json(const CompileReport *report, JsonWriter *json) {
    json_begin_array(json, "buffers");
    for (size_t i = 0; i < report->num_buffers; i++) {
        const CompileBuffer *b = &report->buffers[i];
        json_begin_object(json, NULL);
        json_put_string(json, "entry", b->entry);
        json_put_uint(json, "number", number_of(report, i));
        json_put_uint(json, "bytes", b->bytes);
        json_put_uint(json, "offset", b->offset);
        json_put_uint(json, "first_step", b->first_step);
        json_put_uint(json, "last_step", b->last_step);
        json_put_string(json, "first_kernel", b->first_kernel);
        json_put_string(json, "last_kernel", b->last_kernel);
        json_begin_array(json, "shares");
        for (uint32_t k = 0; k < b->num_shares; k++) json_put_uint(json, NULL, b->shares[k]);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}
