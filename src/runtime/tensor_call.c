// Matches a call's tensors with an entry's ports; see tensor_call.h.
#include "runtime/tensor_call.h"

#include <string.h>

#include "abi/dtype.h"

IngotTensor tensor_of_port(const Artifact *artifact, const PlanPort *port) {
    return (IngotTensor){.name = artifact_string(artifact, port->name),
                         .type = dtype_info((Dtype)port->dtype)->name,
                         .rank = port->rank,
                         .dims = port->dims,
                         .len_bytes = port->len_bytes};
}

uint32_t entry_num_ports(const PlanEntry *entry, const Artifact *artifact, bool is_result) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < entry->num_ports; i++)
        n += artifact->ports[entry->first_port + i].is_result == is_result;
    return n;
}

const PlanPort *entry_port(const PlanEntry *entry, const Artifact *artifact, bool is_result,
                           uint32_t number) {
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &artifact->ports[entry->first_port + i];
        if (port->is_result == is_result && number-- == 0) return port;
    }
    return NULL;
}

typedef struct Call {
    const Artifact *artifact;
    const char *entry; // name
    const IngotTensor *arguments;
    size_t num_arguments;
    DiagSink *sink;
} Call;

static DiagSpan place(const Call *call) {
    return (DiagSpan){.file = call->artifact->path};
}

static void put_shape(StrBuf *out, uint32_t rank, const int64_t *dims, const char *type) {
    for (uint32_t d = 0; d < rank; d++) strbuf_printf(out, "%lldx", (long long)dims[d]);
    strbuf_puts(out, type);
}

// "x: 8x16xf32, w: 16x32xf32"
static void put_signature(StrBuf *out, const Artifact *artifact, const PlanEntry *entry) {
    bool any = false;
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &artifact->ports[entry->first_port + i];
        if (port->is_result) continue;
        strbuf_printf(out, "%s%s: ", any ? ", " : "", artifact_string(artifact, port->name));
        put_shape(out, port->rank, port->dims, dtype_info((Dtype)port->dtype)->name);
        any = true;
    }
}

static bool has_name(const Call *call, const PlanEntry *entry) {
    return str_equal(artifact_string(call->artifact, entry->name), call->entry);
}

static const IngotTensor *find_argument(const Call *call, const char *name) {
    for (size_t i = 0; i < call->num_arguments; i++)
        if (str_equal(call->arguments[i].name, name)) return &call->arguments[i];
    return NULL;
}

static Status resolve_entry(Call *call) {
    const Artifact *artifact = call->artifact;
    const char *names[32];
    size_t num = 0;
    for (uint64_t i = 0; i < artifact->plan->entries.count; i++) {
        const char *name = artifact_string(artifact, artifact->entries[i].name);
        if (call->entry && str_equal(name, call->entry)) return STATUS_OK;
        bool is_known = false;
        for (size_t k = 0; k < num; k++) is_known = is_known || str_equal(names[k], name);
        if (!is_known && num < ARRAY_LEN(names)) names[num++] = name;
    }
    if (!call->entry && num == 1) {
        call->entry = names[0];
        return STATUS_OK;
    }
    StrBuf list = {0};
    for (size_t i = 0; i < num; i++) strbuf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    Status status = call->entry
                        ? diag_error(call->sink, DIAG_X0020, place(call),
                                     "the artifact has no entry %s", call->entry)
                        : diag_error(call->sink, DIAG_X0020, place(call),
                                     "the artifact has several entries, and none was named");
    diag_evidence(call->sink, "entries: %s", list.data);
    strbuf_deinit(&list);
    return status;
}

// Files have no type of their own for index: it is i64.
static bool is_same_type(const char *given, const char *wanted) {
    return str_equal(given, wanted) || (str_equal(given, "i64") && str_equal(wanted, "index"));
}

// Every argument is given, by the right name and type, and nothing else is.
static Status check_names(const Call *call, const PlanEntry *entry) {
    const Artifact *artifact = call->artifact;
    for (size_t i = 0; i < call->num_arguments; i++) {
        const char *names[64];
        size_t num = 0;
        bool is_known = false;
        for (uint32_t k = 0; k < entry_num_ports(entry, artifact, false); k++) {
            const PlanPort *port = entry_port(entry, artifact, false, k);
            const char *name = artifact_string(artifact, port->name);
            is_known = is_known || str_equal(name, call->arguments[i].name);
            if (num < ARRAY_LEN(names)) names[num++] = name;
        }
        if (is_known) continue;
        Status status = diag_error(call->sink, DIAG_X0020, place(call), "@%s has no argument %s",
                                   call->entry, call->arguments[i].name);
        const char *nearest = str_nearest(call->arguments[i].name, names, num);
        if (nearest) diag_write(call->sink, "%s", nearest);
        return status;
    }
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, false); k++) {
        const PlanPort *port = entry_port(entry, artifact, false, k);
        const char *name = artifact_string(artifact, port->name);
        const IngotTensor *argument = find_argument(call, name);
        const char *type = dtype_info((Dtype)port->dtype)->name;
        if (!argument) {
            StrBuf wanted = {0};
            put_signature(&wanted, artifact, entry);
            Status status = diag_error(call->sink, DIAG_X0020, place(call),
                                       "@%s: argument %s is not given", call->entry, name);
            diag_evidence(call->sink, "it takes %s", wanted.data);
            strbuf_deinit(&wanted);
            return status;
        }
        if (!is_same_type(argument->type, type))
            return diag_error(call->sink, DIAG_X0020, place(call),
                              "@%s: argument %s is of %s, given is %s", call->entry, name, type,
                              argument->type);
    }
    return STATUS_OK;
}

static bool has_sizes(const Call *call, const PlanEntry *entry) {
    for (uint32_t k = 0; k < entry_num_ports(entry, call->artifact, false); k++) {
        const PlanPort *port = entry_port(entry, call->artifact, false, k);
        const IngotTensor *given = find_argument(call, artifact_string(call->artifact, port->name));
        if (given->rank != port->rank) return false;
        for (uint32_t d = 0; d < port->rank; d++)
            if (given->dims[d] != port->dims[d]) return false;
    }
    return true;
}

// No version fits: the sizes of one that comes as near as any.
static Status refuse_sizes(const Call *call, const PlanEntry *entry) {
    for (uint32_t k = 0; k < entry_num_ports(entry, call->artifact, false); k++) {
        const PlanPort *port = entry_port(entry, call->artifact, false, k);
        const char *name = artifact_string(call->artifact, port->name);
        const IngotTensor *given = find_argument(call, name);
        bool fits = given->rank == port->rank;
        for (uint32_t d = 0; fits && d < port->rank; d++) fits = given->dims[d] == port->dims[d];
        if (fits) continue;
        StrBuf is = {0}, wanted = {0};
        put_shape(&is, given->rank, given->dims, given->type);
        put_shape(&wanted, port->rank, port->dims, dtype_info((Dtype)port->dtype)->name);
        Status status =
            diag_error(call->sink, DIAG_X0020, place(call), "@%s: argument %s is %s, it takes %s",
                       call->entry, name, is.data, wanted.data);
        strbuf_deinit(&is);
        strbuf_deinit(&wanted);
        return status;
    }
    BUG("an entry that fits was refused");
}

static Status pick_version(const Call *call, uint32_t *out_entry) {
    const PlanEntry *first = NULL;
    for (uint32_t i = 0; i < call->artifact->plan->entries.count; i++) {
        const PlanEntry *entry = &call->artifact->entries[i];
        if (!has_name(call, entry)) continue;
        if (!first) TRY(check_names(call, entry)); // versions differ in sizes alone
        if (!first) first = entry;
        if (!has_sizes(call, entry)) continue;
        *out_entry = i;
        return STATUS_OK;
    }
    return refuse_sizes(call, first);
}

Status tensor_call(Executor *executor, const char *entry_name, const IngotTensor *arguments,
                   size_t num_arguments, IngotTensor *out_results, size_t num_results,
                   DiagSink *sink) {
    const Artifact *artifact = executor_artifact(executor);
    Call call = {artifact, entry_name, arguments, num_arguments, sink};
    if (artifact->plan->vocab_size != 0)
        return diag_error(sink, DIAG_X0018, place(&call),
                          "this artifact is a language model: it takes tokens, not tensors");
    uint32_t number;
    TRY(resolve_entry(&call));
    TRY(pick_version(&call, &number));
    const PlanEntry *entry = &artifact->entries[number];
    if (num_results > entry_num_ports(entry, artifact, true))
        return diag_error(sink, DIAG_X0020, place(&call), "@%s gives %u results, %zu are asked for",
                          call.entry, entry_num_ports(entry, artifact, true), num_results);
    uint8_t *ports = executor_io(executor).ports;
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, false); k++) {
        const PlanPort *port = entry_port(entry, artifact, false, k);
        const IngotTensor *given = find_argument(&call, artifact_string(artifact, port->name));
        if (given->len_bytes != port->len_bytes)
            return diag_error(sink, DIAG_X0020, place(&call), "@%s: argument %s has %zu bytes",
                              call.entry, given->name, given->len_bytes);
        if (port->len_bytes && given->data != ports + port->offset)
            memmove(ports + port->offset, given->data, port->len_bytes);
    }
    executor_run(executor, &(ExecutorCall){.entry = number, .part = EXECUTOR_ALL});
    for (uint32_t r = 0; r < num_results; r++) {
        const PlanPort *port = entry_port(entry, artifact, true, r);
        out_results[r] = tensor_of_port(artifact, port);
        out_results[r].data = ports + port->offset;
    }
    return STATUS_OK;
}
