// Sizes of a call; see call_sizes.h.
#include "runtime/call_sizes.h"

#include <string.h>

#include "abi/dtype.h"

int64_t call_size(const CallSizes *sizes, uint32_t name) {
    for (uint32_t i = 0; i < sizes->num; i++)
        if (sizes->known[i]->name == name) return sizes->of[i];
    return -1;
}

// ---- guards

static DiagSpan place(const Artifact *artifact) {
    return (DiagSpan){.file = artifact->path};
}

// "1 to 512, computed in the next of 64, 128, ..., 512 (mlp.mlir:3)"
static void put_evidence(const Artifact *artifact, const PlanSize *size, DiagSink *sink) {
    enum { MAX_SHOWN = 6 };
    const BucketRange *range = &size->range;
    StrBuf buckets = {0};
    int64_t bucket = 0;
    for (uint32_t i = 0; i < MAX_SHOWN && bucket < range->max; i++) {
        bucket = bucket_range_above(range, bucket + 1);
        strbuf_printf(&buckets, "%s%lld", i ? ", " : "", (long long)bucket);
    }
    if (bucket < range->max) strbuf_printf(&buckets, ", ..., %lld", (long long)range->max);
    diag_evidence(sink, "%s is %lld to %lld%s %s (%s)", artifact_string(artifact, size->name),
                  (long long)range->min, (long long)range->max,
                  range->rejects_off_step ? ", and one of" : ", computed in the next of",
                  buckets.data, artifact_string(artifact, size->at));
    strbuf_deinit(&buckets);
}

// The allowed sizes on both sides of one; equal if it is allowed.
static void neighbours(const BucketRange *range, int64_t given, int64_t *out_below,
                       int64_t *out_above) {
    *out_below = *out_above = MAX(range->min, MIN(given, range->max));
    if (!range->rejects_off_step) return;
    *out_above = bucket_range_above(range, *out_above);
    if (given != *out_above) *out_below = bucket_range_below(range, *out_below);
    if (*out_below == 0 || given >= *out_above) *out_below = *out_above;
}

static Status refuse(const Artifact *artifact, const PlanEntry *entry, const PlanPort *port,
                     uint32_t d, const PlanSize *size, int64_t given, DiagSink *sink) {
    int64_t below, above;
    neighbours(&size->range, given, &below, &above);
    const char *why = given < size->range.min   ? "less than its smallest"
                      : given > size->range.max ? "more than its largest"
                                                : "none of its steps";
    Status status =
        diag_error(sink, DIAG_X0021, place(artifact),
                   "@%s: dimension %u of argument %s, the size %s, is %lld, %s",
                   artifact_string(artifact, entry->name), d, artifact_string(artifact, port->name),
                   artifact_string(artifact, size->name), (long long)given, why);
    put_evidence(artifact, size, sink);
    if (below == above)
        diag_write(sink, "%lld", (long long)below);
    else
        diag_write(sink, "%lld or %lld", (long long)below, (long long)above);
    return status;
}

static const PlanSize *find_size(const Artifact *artifact, const PlanEntry *entry, uint32_t name) {
    for (uint32_t i = 0; i < artifact->num_sizes; i++)
        if (artifact->sizes[i].entry == entry->name && artifact->sizes[i].name == name)
            return &artifact->sizes[i];
    BUG("a size without a range was not refused");
}

Status call_sizes_add(CallSizes *sizes, const Artifact *artifact, const PlanEntry *entry,
                      const PlanPort *port, uint32_t d, int64_t given, DiagSink *sink) {
    const PlanSize *size = find_size(artifact, entry, port->dim_names[d]);
    int64_t known = call_size(sizes, size->name), below, above;
    neighbours(&size->range, given, &below, &above);
    if (given != below && given != above)
        return refuse(artifact, entry, port, d, size, given, sink);
    if (known >= 0 && known != given) {
        Status status = diag_error(
            sink, DIAG_X0021, place(artifact),
            "@%s: dimension %u of argument %s, the size %s, is %lld; an argument before "
            "it has %lld",
            artifact_string(artifact, entry->name), d, artifact_string(artifact, port->name),
            artifact_string(artifact, size->name), (long long)given, (long long)known);
        put_evidence(artifact, size, sink);
        return status;
    }
    if (known >= 0) return STATUS_OK;
    BUG_IF(sizes->num == PLAN_MAX_SIZES, "more sizes than were checked");
    sizes->known[sizes->num] = size;
    sizes->ports[sizes->num] = port;
    sizes->dims[sizes->num] = d;
    sizes->of[sizes->num++] = given;
    return STATUS_OK;
}

// ---- moving

uint64_t call_sizes_dims(const CallSizes *sizes, const Artifact *artifact, const PlanPort *port,
                         int64_t *out_dims) {
    uint64_t bytes = dtype_info((Dtype)port->dtype)->bytes;
    for (uint32_t d = 0; d < port->rank; d++) {
        bool is_named = *artifact_string(artifact, port->dim_names[d]) != 0;
        out_dims[d] = is_named ? call_size(sizes, port->dim_names[d]) : port->dims[d];
        bytes *= (uint64_t)out_dims[d];
    }
    return bytes;
}

// The port as rows of equal length, each beginning with a run of the tensor; inner dimensions of
// equal sizes are part of the run.
typedef struct Rows {
    uint32_t num_outer;
    uint64_t num, run_bytes, row_bytes;
} Rows;

static Rows rows_of(const PlanPort *port, const int64_t *dims) {
    Rows rows = {.num_outer = port->rank, .num = 1};
    rows.run_bytes = rows.row_bytes = dtype_info((Dtype)port->dtype)->bytes;
    bool is_equal = true;
    while (rows.num_outer > 0 && is_equal) {
        uint32_t d = --rows.num_outer;
        rows.run_bytes *= (uint64_t)dims[d];
        rows.row_bytes *= (uint64_t)port->dims[d];
        is_equal = dims[d] == port->dims[d];
    }
    for (uint32_t d = 0; d < rows.num_outer; d++) rows.num *= (uint64_t)port->dims[d];
    return rows;
}

// The number of a row of the port among the tensor's; -1: it is padding.
static int64_t row_in_tensor(const PlanPort *port, const int64_t *dims, const Rows *rows,
                             uint64_t row) {
    int64_t number = 0, scale = 1;
    for (uint32_t d = rows->num_outer; d-- > 0;) {
        int64_t at = (int64_t)(row % (uint64_t)port->dims[d]);
        row /= (uint64_t)port->dims[d];
        if (at >= dims[d]) return -1;
        number += at * scale;
        scale *= dims[d];
    }
    return number;
}

// From the last row on: a row never lies before its place in the dense tensor.
void call_sizes_spread(const PlanPort *port, const int64_t *dims, const void *tensor,
                       uint8_t *place) {
    if (port->len_bytes == 0) return;
    Rows rows = rows_of(port, dims);
    for (uint64_t row = rows.num; row-- > 0;) {
        int64_t from = row_in_tensor(port, dims, &rows, row);
        uint8_t *to = place + row * rows.row_bytes;
        uint64_t run = from < 0 ? 0 : rows.run_bytes;
        if (run) memmove(to, (const uint8_t *)tensor + (uint64_t)from * rows.run_bytes, run);
        if (rows.row_bytes > run) memset(to + run, 0, rows.row_bytes - run);
    }
}

void call_sizes_gather(const PlanPort *port, const int64_t *dims, uint8_t *place) {
    if (port->len_bytes == 0) return;
    Rows rows = rows_of(port, dims);
    for (uint64_t row = 0; row < rows.num; row++) {
        int64_t to = row_in_tensor(port, dims, &rows, row);
        if (to >= 0 && rows.run_bytes)
            memmove(place + (uint64_t)to * rows.run_bytes, place + row * rows.row_bytes,
                    rows.run_bytes);
    }
}
