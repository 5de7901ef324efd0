// Matches a call's tensors with an entry's ports; see tensor_call.h.
#include "runtime/tensor_call.h"

#include <string.h>

#include "abi/dtype.h"
#include "abi/fault.h"
#include "runtime/call_sizes.h"
#include "runtime/relations.h"

IngotTensor tensor_of_port(const Artifact *artifact, const PlanPort *port) {
    return (IngotTensor){.name = artifact_string(artifact, port->name),
                         .type = dtype_info((Dtype)port->dtype)->name,
                         .rank = port->rank,
                         .dims = port->dims,
                         .len_bytes = port->len_bytes};
}

uint32_t entry_num_ports(const PlanEntry *entry, const Artifact *artifact, PlanPortKind kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < entry->num_ports; i++)
        n += artifact->ports[entry->first_port + i].kind == kind;
    return n;
}

const PlanPort *entry_port(const PlanEntry *entry, const Artifact *artifact, PlanPortKind kind,
                           uint32_t number) {
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &artifact->ports[entry->first_port + i];
        if (port->kind == (uint32_t)kind && number-- == 0) return port;
    }
    return NULL;
}

typedef struct Call {
    const Artifact *artifact;
    const char *entry; // name
    const IngotTensor *arguments;
    size_t num_arguments;
    DiagSink *sink;
    CallSizes sizes; // those that vary
} Call;

static DiagSpan place(const Call *call) {
    return (DiagSpan){.file = call->artifact->path};
}

static void put_shape(StrBuf *out, uint32_t rank, const int64_t *dims, const char *type) {
    for (uint32_t d = 0; d < rank; d++) strbuf_printf(out, "%lldx", (long long)dims[d]);
    strbuf_puts(out, type);
}

// A size that varies is '?', as in the module.
static void put_port_shape(StrBuf *out, const Artifact *artifact, const PlanPort *port) {
    for (uint32_t d = 0; d < port->rank; d++)
        if (*artifact_string(artifact, port->dim_names[d]))
            strbuf_puts(out, "?x");
        else
            strbuf_printf(out, "%lldx", (long long)port->dims[d]);
    strbuf_puts(out, dtype_info((Dtype)port->dtype)->name);
}

// "x: 8x16xf32, w: 16x32xf32"
static void put_signature(StrBuf *out, const Artifact *artifact, const PlanEntry *entry) {
    bool any = false;
    for (uint32_t i = 0; i < entry->num_ports; i++) {
        const PlanPort *port = &artifact->ports[entry->first_port + i];
        if (port->kind != PORT_ARGUMENT) continue;
        strbuf_printf(out, "%s%s: ", any ? ", " : "", artifact_string(artifact, port->name));
        put_port_shape(out, artifact, port);
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
        for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_ARGUMENT); k++) {
            const PlanPort *port = entry_port(entry, artifact, PORT_ARGUMENT, k);
            const char *name = artifact_string(artifact, port->name);
            is_known = is_known || str_equal(name, call->arguments[i].name);
            if (num < ARRAY_LEN(names)) names[num++] = name;
        }
        if (is_known) continue;
        Status status = diag_error(call->sink, DIAG_X0020, place(call), "@%s has no argument %s",
                                   call->entry, call->arguments[i].name);
        const char *nearest = str_nearest(call->arguments[i].name, names, num);
        StrBuf all = {0};
        for (size_t k = 0; k < num; k++) strbuf_printf(&all, "%s%s", k ? ", " : "", names[k]);
        if (num) diag_evidence(call->sink, "its arguments are %s", all.data);
        strbuf_deinit(&all);
        if (nearest) diag_write(call->sink, "%s", nearest);
        return status;
    }
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, artifact, PORT_ARGUMENT, k);
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

static bool varies(const Call *call, const PlanPort *port, uint32_t d) {
    return *artifact_string(call->artifact, port->dim_names[d]) != 0;
}

// Does the port hold the tensor? Fixed sizes are equal, others not smaller.
static bool holds(const Call *call, const PlanPort *port, const IngotTensor *given) {
    if (given->rank != port->rank) return false;
    for (uint32_t d = 0; d < port->rank; d++)
        if (varies(call, port, d) ? given->dims[d] > port->dims[d]
                                  : given->dims[d] != port->dims[d])
            return false;
    return true;
}

static bool has_sizes(const Call *call, const PlanEntry *entry) {
    for (uint32_t k = 0; k < entry_num_ports(entry, call->artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, call->artifact, PORT_ARGUMENT, k);
        const IngotTensor *given = find_argument(call, artifact_string(call->artifact, port->name));
        if (!holds(call, port, given)) return false;
    }
    return true;
}

// No version fits: the sizes of one that comes as near as any.
static Status refuse_sizes(const Call *call, const PlanEntry *entry) {
    for (uint32_t k = 0; k < entry_num_ports(entry, call->artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, call->artifact, PORT_ARGUMENT, k);
        const char *name = artifact_string(call->artifact, port->name);
        const IngotTensor *given = find_argument(call, name);
        if (holds(call, port, given)) continue;
        StrBuf is = {0}, wanted = {0};
        put_shape(&is, given->rank, given->dims, given->type);
        put_port_shape(&wanted, call->artifact, port);
        Status status =
            diag_error(call->sink, DIAG_X0020, place(call), "@%s: argument %s is %s, it takes %s",
                       call->entry, name, is.data, wanted.data);
        strbuf_deinit(&is);
        strbuf_deinit(&wanted);
        return status;
    }
    BUG("an entry that fits was refused");
}

// Holds what varies against its range, where an argument has as many dimensions as it should.
static Status check_ranges(Call *call, const PlanEntry *entry) {
    for (uint32_t k = 0; k < entry_num_ports(entry, call->artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, call->artifact, PORT_ARGUMENT, k);
        const IngotTensor *given = find_argument(call, artifact_string(call->artifact, port->name));
        if (given->rank != port->rank) continue;
        for (uint32_t d = 0; d < port->rank; d++)
            if (varies(call, port, d))
                TRY(call_sizes_add(&call->sizes, call->artifact, entry, port, d, given->dims[d],
                                   call->sink));
    }
    return STATUS_OK;
}

static uint64_t argument_bytes(const Call *call, const PlanEntry *entry) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < entry_num_ports(entry, call->artifact, PORT_ARGUMENT); k++)
        bytes += entry_port(entry, call->artifact, PORT_ARGUMENT, k)->len_bytes;
    return bytes;
}

// The smallest version that holds the arguments.
static Status pick_version(Call *call, uint32_t *out_entry) {
    const PlanEntry *first = NULL, *best = NULL;
    for (uint32_t i = 0; i < call->artifact->plan->entries.count; i++) {
        const PlanEntry *entry = &call->artifact->entries[i];
        if (!has_name(call, entry)) continue;
        if (!first) { // versions differ in sizes alone
            TRY(check_names(call, entry));
            TRY(check_ranges(call, entry));
            TRY(relations_check_sizes(call->artifact, entry, &call->sizes, call->sink));
            first = entry;
        }
        if (!has_sizes(call, entry)) continue;
        if (best && argument_bytes(call, entry) >= argument_bytes(call, best)) continue;
        best = entry;
        *out_entry = i;
    }
    return best ? STATUS_OK : refuse_sizes(call, first);
}

static Status put_arguments(const Call *call, const PlanEntry *entry, uint8_t *ports) {
    const Artifact *artifact = call->artifact;
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_ARGUMENT); k++) {
        const PlanPort *port = entry_port(entry, artifact, PORT_ARGUMENT, k);
        const IngotTensor *given = find_argument(call, artifact_string(artifact, port->name));
        int64_t dims[PLAN_MAX_RANK];
        uint64_t bytes = call_sizes_dims(&call->sizes, artifact, port, dims);
        if (given->len_bytes != bytes)
            return diag_error(call->sink, DIAG_X0020, place(call), "@%s: argument %s has %zu bytes",
                              call->entry, given->name, given->len_bytes);
        if (bytes < port->len_bytes)
            call_sizes_spread(port, dims, given->data, ports + port->offset);
        else if (bytes && given->data != ports + port->offset)
            memmove(ports + port->offset, given->data, bytes);
    }
    for (uint32_t k = 0; k < entry_num_ports(entry, artifact, PORT_COUNT); k++) {
        const PlanPort *port = entry_port(entry, artifact, PORT_COUNT, k);
        int64_t count = call_size(&call->sizes, port->name);
        memcpy(ports + port->offset, &count, sizeof count);
    }
    return STATUS_OK;
}

static void take_result(const Call *call, const PlanPort *port, uint8_t *ports, int64_t *dims,
                        IngotTensor *out) {
    *out = tensor_of_port(call->artifact, port);
    out->data = ports + port->offset;
    if (!call->sizes.num) return;
    out->len_bytes = call_sizes_dims(&call->sizes, call->artifact, port, dims);
    out->dims = dims;
    if (out->len_bytes < port->len_bytes) call_sizes_gather(port, dims, out->data);
}

// The place is that of the module's text, in the words of the interpreter.
static Status refuse_fault(const Call *call, const ExecutorFault *fault) {
    const Artifact *artifact = call->artifact;
    const PlanCheck *check = fault->check;
    const char *file = artifact_string(artifact, check->file);
    DiagSpan span =
        *file ? (DiagSpan){.file = file, .line = check->line, .col = check->col} : place(call);
    StrBuf text = {0};
    fault_put(&text, (FaultKind)check->kind, artifact_string(artifact, check->op), fault->value,
              check->numbers, artifact_string(artifact, check->text));
    Status status = diag_error(call->sink, DIAG_I0301, span, "%s", text.data);
    diag_evidence(call->sink, "found while @%s of %s ran; its results are not given", call->entry,
                  artifact->path);
    strbuf_deinit(&text);
    return status;
}

Status tensor_call(Executor *executor, const char *entry_name, const IngotTensor *arguments,
                   size_t num_arguments, IngotTensor *out_results, size_t num_results,
                   DiagSink *sink) {
    const Artifact *artifact = executor_artifact(executor);
    Call call = {artifact, entry_name, arguments, num_arguments, sink, {.num = 0}};
    if (artifact->plan->vocab_size != 0)
        return diag_error(sink, DIAG_X0018, place(&call),
                          "this artifact is a language model: it takes tokens, not tensors");
    uint32_t number;
    TRY(resolve_entry(&call));
    TRY(pick_version(&call, &number));
    const PlanEntry *entry = &artifact->entries[number];
    if (num_results > entry_num_ports(entry, artifact, PORT_RESULT))
        return diag_error(sink, DIAG_X0020, place(&call), "@%s gives %u results, %zu are asked for",
                          call.entry, entry_num_ports(entry, artifact, PORT_RESULT), num_results);
    uint8_t *ports = executor_io(executor).ports;
    TRY(put_arguments(&call, entry, ports));
    ExecutorFault fault =
        executor_run(executor, &(ExecutorCall){.entry = number, .part = EXECUTOR_ALL});
    if (fault.check) return refuse_fault(&call, &fault);
    for (uint32_t r = 0; r < num_results; r++)
        take_result(&call, entry_port(entry, artifact, PORT_RESULT, r), ports,
                    executor_result_dims(executor, r), &out_results[r]);
    return STATUS_OK;
}
